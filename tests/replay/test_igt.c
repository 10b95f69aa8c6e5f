/*
 * Files of intel-gpu-tools through the API: two processes for each kind of device, one with the
 * data of the plugin for Intel GPUs and one without.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/forked.h"
#include "tests/metric_api/harness.h"
#include "tests/replay/igt_tape.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"
#include "zeta/zeta.h"

#define REPORTS 300u
/** Reports 100 to 149 are lost one by one, 200 to 209 with the buffer. */
#define IS_LOST(k) (((k) >= 100 && (k) < 150) || ((k) >= 200 && (k) < 210))
#define ROWS (REPORTS - 60 - 3)

/** A plugin path with the manifest of the plugin alone. */
#define ALONE ZETA_BUILD_DIR "/tests/replay-alone"

static const struct igt_kind *kind;
static bool has_data;
static char path[256];

static void write_file(void)
{
    struct tape_data file = {0};
    FILE *out;

    igt_put_head(&file, kind);
    for (uint32_t k = 0; k < REPORTS; k++) {
        if (k == 100)
            igt_put_loss(&file, 2);
        if (k == 200)
            igt_put_loss(&file, 3);
        if (k == 250)
            igt_put_correlation(&file, kind, k);
        if (!IS_LOST(k))
            igt_put_report(&file, kind, k);
    }
    igt_put_correlation(&file, kind, REPORTS);
    (void)snprintf(path, sizeof(path), ZETA_BUILD_DIR "/replay-igt-%d", (int)getpid());
    out = fopen(path, "w");
    assert_non_null(out);
    assert_int_equal(fwrite(file.bytes, 1, file.size, out), file.size);
    assert_int_equal(fclose(out), 0);
    tape_data_finish(&file);
}

static ze_device_handle_t only_device(void)
{
    ze_driver_handle_t driver = NULL;
    ze_device_handle_t device = NULL;
    uint32_t count = 1;

    EXPECT_OK(zeDriverGet(&count, &driver));
    count = 1;
    EXPECT_OK(zeDeviceGet(driver, &count, &device));
    assert_non_null(device);
    return device;
}

static void device__of_the_file__is_described(void **state)
{
    ze_device_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES};
    uint64_t host = 0, ticks = 0;
    char words[64];

    (void)state;
    EXPECT_OK(zeDeviceGetProperties(only_device(), &properties));
    (void)snprintf(words, sizeof(words), "Intel %s 0x%04" PRIx32 " (recording)",
                   has_data ? kind->full : kind->name, kind->pci_id);
    assert_string_equal(properties.name, words);
    assert_int_equal(properties.vendorId, 0x8086);
    assert_int_equal(properties.deviceId, kind->pci_id);
    assert_int_equal(properties.coreClockRate, 1300);
    assert_int_equal(properties.numSlices, kind->slices);
    assert_int_equal(properties.numSubslicesPerSlice, kind->subslices);
    assert_int_equal(properties.numEUsPerSubslice, kind->eus);
    assert_int_equal(properties.timestampValidBits, kind->format >= 13 ? 56 : 32);
    /* The clock of the unit, also where that of the command streamer is slower. */
    EXPECT_OK(zeDeviceGetGlobalTimestamps(only_device(), &host, &ticks));
    if (kind->format >= 13)
        assert_in_range(ticks, UINT64_C(0x7fffff0000), UINT64_C(0x7fffff0000) + 600 * kind->oa_hz);
    else
        assert_cmp((uint32_t)(ticks - 0xffff0000u), <, 60 * kind->oa_hz);
}

static bool is_odd(void)
{
    return kind->set && strcmp(kind->set, IGT_ODD_SET) == 0;
}

/** The name of the recorded set as groups have it: in letters that every text allows. */
static const char *set_name(void)
{
    return is_odd() ? "L3___bank___3_____-_x" : "RenderBasic";
}

static zet_metric_group_handle_t raw_counters(void)
{
    return find_group(only_device(), "RawCounters", TIME_BASED, NULL);
}

/* Rule 17.12. */
static void group__raw_counters__says_what_was_recorded(void **state)
{
    zet_metric_group_properties_t properties = {.stype =
                                                    ZET_STRUCTURE_TYPE_METRIC_GROUP_PROPERTIES};
    struct zeta_group_info info = {.struct_size = sizeof(info)};

    (void)state;
    EXPECT_OK(zetMetricGroupGetProperties(raw_counters(), &properties));
    assert_non_null(strstr(properties.description, set_name()));
    assert_non_null(strstr(properties.description,
                           kind->uuid ? kind->uuid : "12345678-9abc-def0-1234-56789abcdef0"));
    EXPECT_OK(zetaMetricGroupGetInfo(raw_counters(), &info));
    assert_int_equal(info.record_bytes, kind->report_bytes);
    assert_int_equal(info.min_period_ns,
                     (uint64_t)ceil(IGT_PERIOD_TICKS * 1e9 / (double)kind->oa_hz));
}

/** Reads everything; returns the bytes. */
static size_t read_all(zet_metric_group_handle_t group, unsigned char *buffer, size_t bytes)
{
    zet_metric_streamer_desc_t desc = {.stype = ZET_STRUCTURE_TYPE_METRIC_STREAMER_DESC,
                                       .samplingPeriod = 1000};
    ze_device_handle_t device = only_device();
    ze_context_handle_t context = make_context(device);
    zet_metric_streamer_handle_t streamer = NULL;
    size_t size = bytes;

    EXPECT_OK(zetContextActivateMetricGroups(context, device, 1, &group));
    EXPECT_OK(zetMetricStreamerOpen(context, device, group, &desc, NULL, &streamer));
    EXPECT_RESULT(zetMetricStreamerReadData(streamer, UINT32_MAX, &size, buffer),
                  ZE_RESULT_WARNING_DROPPED_DATA);
    EXPECT_OK(zetMetricStreamerClose(streamer));
    EXPECT_OK(zetContextActivateMetricGroups(context, device, 0, NULL));
    EXPECT_OK(zeContextDestroy(context));
    return size;
}

static uint64_t wanted_value(const char *name)
{
    if (strcmp(name, "GpuTime") == 0)
        return UINT64_C(1000000000) * IGT_PERIOD_TICKS / kind->oa_hz;
    if (strcmp(name, "GpuCoreClocks") == 0)
        return IGT_CLOCKS;
    return igt_step(name[0], (uint32_t)atoi(name + 1));
}

/** Compares one column; true if it was a counter. */
static bool check_column(zet_metric_group_handle_t group, uint32_t index, uint32_t metric_count,
                         const zet_typed_value_t *values, char *out_bank)
{
    zet_metric_properties_t properties = {.stype = ZET_STRUCTURE_TYPE_METRIC_PROPERTIES};
    zet_metric_handle_t metrics[128];
    uint32_t count = 128;

    EXPECT_OK(zetMetricGet(group, &count, metrics));
    EXPECT_OK(zetMetricGetProperties(metrics[index], &properties));
    *out_bank = properties.name[0];
    if (strcmp(properties.name, "GpuTime") != 0 && strcmp(properties.name, "GpuCoreClocks") != 0 &&
        (properties.name[1] < '0' || properties.name[1] > '9'))
        return false;
    for (uint32_t row = 0; row < ROWS; row++) {
        const uint64_t value = values[(size_t)row * metric_count + index].value.ui64;

        if (value != wanted_value(properties.name))
            fail_msg("%s in row %u is %" PRIu64 " instead of %" PRIu64, properties.name, row, value,
                     wanted_value(properties.name));
    }
    return properties.name[1] >= '0' && properties.name[1] <= '9';
}

/* Rule 17.12. */
static void values__of_every_counter__are_the_differences(void **state)
{
    const zet_metric_group_calculation_type_t type =
        ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES;
    const size_t bytes = (size_t)(REPORTS + 8) * kind->report_bytes;
    unsigned char *raw = malloc(bytes);
    zet_metric_group_handle_t group = raw_counters();
    uint32_t value_count = 0, metric_count = 0, counters[3] = {0};
    zet_typed_value_t *values;
    size_t size;

    (void)state;
    assert_non_null(raw);
    size = read_all(group, raw, bytes);
    EXPECT_OK(zetMetricGet(group, &metric_count, NULL));
    EXPECT_OK(zetMetricGroupCalculateMetricValues(group, type, size, raw, &value_count, NULL));
    values = calloc(value_count, sizeof(*values));
    assert_non_null(values);
    EXPECT_RESULT(zetMetricGroupCalculateMetricValues(group, type, size, raw, &value_count, values),
                  ZE_RESULT_WARNING_DROPPED_DATA);
    assert_int_equal(value_count, ROWS * metric_count);
    for (uint32_t m = 0; m < metric_count; m++) {
        char bank;

        if (check_column(group, m, metric_count, values, &bank))
            counters[bank - 'A']++;
    }
    assert_int_equal(counters[0], kind->a_count);
    assert_int_equal(counters[1], kind->b_count);
    assert_int_equal(counters[2], kind->c_count);
    free(values);
    free(raw);
}

/* Whether the set that was recorded is a group. */
static bool is_named(void)
{
    return has_data && kind->uuid && kind->format == 10;
}

/* Rule 17.12. */
static void groups__of_the_file__are_the_recorded_set_and_raw_counters(void **state)
{
    zet_metric_group_properties_t properties = {.stype =
                                                    ZET_STRUCTURE_TYPE_METRIC_GROUP_PROPERTIES};
    zet_metric_group_handle_t groups[8];
    uint32_t count = 8;

    (void)state;
    EXPECT_OK(zetMetricGroupGet(only_device(), &count, groups));
    assert_int_equal(count, is_named() ? 2 : 1);
    EXPECT_OK(zetMetricGroupGetProperties(groups[0], &properties));
    assert_string_equal(properties.name, is_named() ? set_name() : "RawCounters");
}

static uint32_t index_of(zet_metric_group_handle_t group, const char *name)
{
    zet_metric_handle_t metrics[128];
    uint32_t count = 128;

    EXPECT_OK(zetMetricGet(group, &count, metrics));
    for (uint32_t i = 0; i < count; i++) {
        zet_metric_properties_t properties = {.stype = ZET_STRUCTURE_TYPE_METRIC_PROPERTIES};

        EXPECT_OK(zetMetricGetProperties(metrics[i], &properties));
        if (strcmp(properties.name, name) == 0)
            return i;
    }
    fail_msg("there is no %s", name);
    return 0;
}

/* Its equations, with numbers of the file: A7 to A10 count clocks of busy EUs, of which it has 6
 * x 16. Rule 17.12. */
static void values__of_the_recorded_set__are_those_of_its_equations(void **state)
{
    const zet_metric_group_calculation_type_t type =
        ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES;
    const size_t bytes = (size_t)(REPORTS + 8) * kind->report_bytes;
    zet_metric_group_handle_t group;
    uint32_t value_count = 0, metric_count = 0;
    zet_typed_value_t *row;
    uint64_t busy = 0, percent;
    unsigned char *raw;
    size_t size;

    (void)state;
    if (!is_named() || is_odd())
        return;
    group = find_group(only_device(), "RenderBasic", TIME_BASED, NULL);
    raw = malloc(bytes);
    assert_non_null(raw);
    size = read_all(group, raw, bytes);
    EXPECT_OK(zetMetricGet(group, &metric_count, NULL));
    EXPECT_OK(zetMetricGroupCalculateMetricValues(group, type, size, raw, &value_count, NULL));
    row = calloc(value_count, sizeof(*row));
    assert_non_null(row);
    EXPECT_RESULT(zetMetricGroupCalculateMetricValues(group, type, size, raw, &value_count, row),
                  ZE_RESULT_WARNING_DROPPED_DATA);
    assert_int_equal(value_count, ROWS * metric_count);
    assert_int_equal(row[index_of(group, "GpuTime")].value.ui64,
                     UINT64_C(1000000000) * IGT_PERIOD_TICKS / kind->oa_hz);
    for (uint32_t i = 7; i <= 10; i++)
        busy += igt_step('A', i);
    percent = busy / (6 * 16) * 100; /* in whole numbers, as the equation has it */
    assert_int_equal(row[index_of(group, "VsThreads")].value.ui64, igt_step('A', 1));
    assert_float_equal(row[index_of(group, "EuActive")].value.fp32, (double)percent / IGT_CLOCKS,
                       1e-4);
    free(row);
    free(raw);
}

static int set_up(void **state)
{
    (void)state;
    write_file();
    (void)setenv("ZETA_REPLAY", path, 1);
    return zeInit(0) == ZE_RESULT_SUCCESS ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    (void)unlink(path);
    return 0;
}

static int run_kind(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(device__of_the_file__is_described),
        cmocka_unit_test(groups__of_the_file__are_the_recorded_set_and_raw_counters),
        cmocka_unit_test(group__raw_counters__says_what_was_recorded),
        cmocka_unit_test(values__of_the_recorded_set__are_those_of_its_equations),
        cmocka_unit_test(values__of_every_counter__are_the_differences),
    };

    return cmocka_run_group_tests_name(kind->name, tests, set_up, tear_down);
}

SUITE(igt)
{
    int failures = 0;

    for (uint32_t i = 0; i < 2 * igt_kind_count; i++) {
        pid_t child;
        int status = -1;

        kind = &igt_kinds[i / 2];
        has_data = i % 2 == 0;
        child = fork_runner();
        if (child == 0 && !has_data)
            (void)setenv("ZETA_PLUGIN_PATH", ALONE, 1);
        if (child == 0)
            exit(run_kind() == 0 ? 0 : 1);
        if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
            failures++;
    }
    return failures;
}
