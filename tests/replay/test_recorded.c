/*
 * What one process records of the virtual GPU, another one replays: the same groups and the same
 * values, which the first one calculated from the data as they came.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/forked.h"
#include "tests/metric_api/harness.h"
#include "tests/replay/tape.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"
#include "zeta/zeta.h"

#define GROUPS 2u
#define ROWS_WANTED 200u
#define EVENT_BYTES 64u

static const char *const group_names[GROUPS] = {"ComputeBasic", "ThreadDispatch"};
static char folder[128];

static const char *file_path(const char *name)
{
    static char path[200];

    (void)snprintf(path, sizeof(path), "%s/%s", folder, name);
    return path;
}

/** A device and streams of both groups. */
struct bed {
    ze_device_handle_t device;
    ze_context_handle_t context;
    zet_metric_group_handle_t groups[GROUPS + 1];
    zet_metric_streamer_handle_t streamers[GROUPS];
    zet_metric_tracer_exp_handle_t tracer; /**< of the last group */
    uint64_t period_ns;
};

static void open_bed(struct bed *bed)
{
    zet_metric_streamer_desc_t desc = {.stype = ZET_STRUCTURE_TYPE_METRIC_STREAMER_DESC,
                                       .samplingPeriod = 200000};
    zet_metric_tracer_exp_desc_t tracer = {.stype = ZET_STRUCTURE_TYPE_METRIC_TRACER_EXP_DESC,
                                           .notifyEveryNBytes = 512};
    ze_driver_handle_t driver = NULL;
    uint32_t count = 1;

    EXPECT_OK(zeDriverGet(&count, &driver));
    count = 1;
    EXPECT_OK(zeDeviceGet(driver, &count, &bed->device));
    bed->context = make_context(bed->device);
    for (uint32_t i = 0; i < GROUPS; i++)
        bed->groups[i] = find_group(bed->device, group_names[i], TIME_BASED, NULL);
    bed->groups[GROUPS] = find_group(bed->device, "KernelEvents",
                                     ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EXP_TRACER_BASED, NULL);
    EXPECT_OK(zetContextActivateMetricGroups(bed->context, bed->device, GROUPS + 1, bed->groups));
    EXPECT_OK(zetMetricTracerCreateExp(bed->context, bed->device, 1, &bed->groups[GROUPS], &tracer,
                                       NULL, &bed->tracer));
    EXPECT_OK(zetMetricTracerEnableExp(bed->tracer, 1));
    for (uint32_t i = 0; i < GROUPS; i++)
        EXPECT_OK(zetMetricStreamerOpen(bed->context, bed->device, bed->groups[i], &desc, NULL,
                                        &bed->streamers[i]));
    bed->period_ns = desc.samplingPeriod;
}

static void close_bed(struct bed *bed)
{
    EXPECT_OK(zetMetricTracerDestroyExp(bed->tracer));
    for (uint32_t i = 0; i < GROUPS; i++)
        EXPECT_OK(zetMetricStreamerClose(bed->streamers[i]));
    EXPECT_OK(zetContextActivateMetricGroups(bed->context, bed->device, 0, NULL));
    EXPECT_OK(zeContextDestroy(bed->context));
}

static uint32_t count_rows(zet_metric_group_handle_t group, const struct tape_data *raw,
                           zet_typed_value_t **out_values, uint32_t *out_count)
{
    const zet_metric_group_calculation_type_t type =
        ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES;
    uint32_t metrics = 0;

    *out_count = 0;
    EXPECT_OK(zetMetricGet(group, &metrics, NULL));
    EXPECT_OK(
        zetMetricGroupCalculateMetricValues(group, type, raw->size, raw->bytes, out_count, NULL));
    *out_values = calloc(*out_count + 1, sizeof(**out_values));
    assert_non_null(*out_values);
    EXPECT_OK(zetMetricGroupCalculateMetricValues(group, type, raw->size, raw->bytes, out_count,
                                                  *out_values));
    return *out_count / metrics;
}

/** Reads once, appends to the data and to the recording. */
static void read_once(zet_metric_streamer_handle_t streamer, struct zeta_recording *recording,
                      uint32_t stream, struct tape_data *raw)
{
    unsigned char buffer[64 * 256];
    size_t size = sizeof(buffer);

    EXPECT_OK(zetMetricStreamerReadData(streamer, UINT32_MAX, &size, buffer));
    if (size == 0)
        return;
    tape_put(raw, buffer, size);
    EXPECT_OK(zetaRecordingAppend(recording, ZETA_CHUNK_DATA, stream, buffer, size));
}

/** What the tracer gave until it was disabled: at least that it was enabled and disabled. */
static size_t read_events(const struct bed *bed, unsigned char *buffer, size_t bytes)
{
    size_t size = bytes;

    EXPECT_OK(zetMetricTracerDisableExp(bed->tracer, 1));
    EXPECT_OK(zetMetricTracerReadDataExp(bed->tracer, &size, buffer));
    assert_cmp(size, >=, 2 * EVENT_BYTES);
    return size;
}

static void record_events(const struct bed *bed, struct zeta_recording *recording, uint32_t stream)
{
    unsigned char buffer[100 * EVENT_BYTES];
    const size_t size = read_events(bed, buffer, sizeof(buffer));
    FILE *file = fopen(file_path("events"), "w");

    EXPECT_OK(zetaRecordingAppend(recording, ZETA_CHUNK_DATA, stream, buffer, size));
    assert_non_null(file);
    assert_int_equal(fwrite(buffer, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static void expect_events(const struct bed *bed)
{
    unsigned char buffer[100 * EVENT_BYTES], wanted[100 * EVENT_BYTES];
    const size_t size = read_events(bed, buffer, sizeof(buffer));
    FILE *file = fopen(file_path("events"), "r");

    assert_non_null(file);
    assert_int_equal(fread(wanted, 1, sizeof(wanted), file), size);
    assert_memory_equal(buffer, wanted, size);
    (void)fclose(file);
}

static void write_values(uint32_t index, zet_metric_group_handle_t group,
                         const struct tape_data *raw)
{
    zet_typed_value_t *values;
    uint32_t count;
    FILE *file = fopen(file_path(group_names[index]), "w");

    assert_non_null(file);
    assert_cmp(count_rows(group, raw, &values, &count), >, ROWS_WANTED / 2);
    assert_int_equal(fwrite(values, sizeof(*values), count, file), count);
    assert_int_equal(fclose(file), 0);
    free(values);
}

static void record__virtual_gpu__for_a_while(void **state)
{
    const struct zeta_recording_desc desc = {.struct_size = sizeof(desc),
                                             .path = file_path("gpu.zrec")};
    struct zeta_recording *recording = NULL;
    struct tape_data raw[GROUPS] = {{0}};
    uint32_t streams[GROUPS + 1];
    struct bed bed;

    (void)state;
    EXPECT_OK(zeInit(0));
    open_bed(&bed);
    EXPECT_OK(zetaRecordingCreate(&desc, &recording));
    for (uint32_t i = 0; i <= GROUPS; i++) {
        const struct zeta_recording_stream_desc stream = {
            .struct_size = sizeof(stream), .group = bed.groups[i], .period_ns = bed.period_ns};

        EXPECT_OK(zetaRecordingAddStream(recording, &stream, &streams[i]));
    }
    while (raw[0].size < ROWS_WANTED * 256 || raw[1].size < ROWS_WANTED * 256) {
        for (uint32_t i = 0; i < GROUPS; i++)
            read_once(bed.streamers[i], recording, streams[i], &raw[i]);
        sleep_ms(1);
    }
    record_events(&bed, recording, streams[GROUPS]);
    EXPECT_OK(zetaRecordingFinish(recording));
    for (uint32_t i = 0; i < GROUPS; i++) {
        write_values(i, bed.groups[i], &raw[i]);
        tape_data_finish(&raw[i]);
    }
    close_bed(&bed);
}

/** Reads everything of a stream whose data are there at once. */
static void read_all(zet_metric_streamer_handle_t streamer, struct tape_data *raw)
{
    static unsigned char buffer[1000 * 256];
    size_t size;

    do {
        size = sizeof(buffer);
        EXPECT_OK(zetMetricStreamerReadData(streamer, UINT32_MAX, &size, buffer));
        tape_put(raw, buffer, size);
    } while (size > 0);
}

static void expect_values(uint32_t index, zet_metric_group_handle_t group,
                          const struct tape_data *raw)
{
    zet_typed_value_t *values, wanted;
    uint32_t count;
    FILE *file = fopen(file_path(group_names[index]), "r");

    assert_non_null(file);
    (void)count_rows(group, raw, &values, &count);
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(fread(&wanted, sizeof(wanted), 1, file), 1);
        assert_int_equal(values[i].type, wanted.type);
        assert_memory_equal(&values[i].value, &wanted.value, sizeof(wanted.value));
    }
    assert_int_equal(fread(&wanted, sizeof(wanted), 1, file), 0);
    (void)fclose(file);
    free(values);
}

/* Rule 17.3. */
static void replay__what_was_recorded__has_the_same_values(void **state)
{
    ze_device_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES};
    struct bed bed;

    (void)state;
    (void)setenv("ZETA_REPLAY", file_path("gpu.zrec"), 1);
    EXPECT_OK(zeInit(0));
    open_bed(&bed);
    EXPECT_OK(zeDeviceGetProperties(bed.device, &properties));
    assert_non_null(strstr(properties.name, "(recording)"));
    for (uint32_t i = 0; i < GROUPS; i++) {
        struct tape_data raw = {0};

        read_all(bed.streamers[i], &raw);
        expect_values(i, bed.groups[i], &raw);
        tape_data_finish(&raw);
    }
    expect_events(&bed);
    close_bed(&bed);
}

/** A program that knows nothing of recordings. */
static void example__stream__prints_rows_of_the_recording(void **state)
{
    char line[200];
    FILE *output;
    bool has_metric = false, has_sum = false;

    (void)state;
    (void)setenv("ZETA_REPLAY", file_path("gpu.zrec"), 1);
    output = popen(ZETA_BUILD_DIR "/bin/stream", "r");
    assert_non_null(output);
    while (fgets(line, sizeof(line), output)) {
        has_metric = has_metric || strstr(line, "InstRetired") != NULL;
        has_sum = has_sum || strstr(line, "Over all") != NULL;
    }
    assert_int_equal(pclose(output), 0);
    assert_true(has_metric);
    assert_true(has_sum);
}

static int run_in_child(const struct CMUnitTest *test)
{
    const struct CMUnitTest tests[] = {*test};
    const pid_t child = fork_runner();
    int status = -1;

    if (child == 0)
        exit(cmocka_run_group_tests(tests, NULL, NULL) == 0 ? 0 : 1);
    return child > 0 && waitpid(child, &status, 0) == child && status == 0 ? 0 : 1;
}

SUITE(recorded)
{
    const struct CMUnitTest record = cmocka_unit_test(record__virtual_gpu__for_a_while);
    const struct CMUnitTest replay =
        cmocka_unit_test(replay__what_was_recorded__has_the_same_values);
    const struct CMUnitTest example =
        cmocka_unit_test(example__stream__prints_rows_of_the_recording);
    int failures;

    (void)snprintf(folder, sizeof(folder), ZETA_BUILD_DIR "/replay-XXXXXX");
    if (!mkdtemp(folder))
        return 1;
    failures = run_in_child(&record);
    if (failures == 0)
        failures = run_in_child(&replay);
    if (failures == 0)
        failures = run_in_child(&example);
    for (uint32_t i = 0; i < GROUPS; i++)
        (void)unlink(file_path(group_names[i]));
    (void)unlink(file_path("events"));
    (void)unlink(file_path("gpu.zrec"));
    (void)rmdir(folder);
    return failures;
}
