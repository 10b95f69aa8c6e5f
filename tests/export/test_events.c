/* Recorded events, decoded without a device: what a decoder gives, of any records, in any pieces.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/export/support.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"
#include "zeta/container.h"
#include "zeta/zeta.h"

#define TRACER ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EXP_TRACER_BASED
#define RECORD_BYTES 64u
#define RECORDS 1000u
#define ROOM (RECORDS * 16u)

struct bed {
    char folder[64];
    char path[96];
    ze_device_handle_t device;
    zet_metric_group_handle_t group;
    uint8_t raw[RECORDS * RECORD_BYTES];
};

/** Events of every type and some of none, on both tiles, with any content. */
static void fill_records(struct bed *bed)
{
    uint64_t seed = 99;

    for (size_t i = 0; i < sizeof(bed->raw); i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        bed->raw[i] = (uint8_t)(seed >> 56);
    }
    for (uint32_t i = 0; i < RECORDS; i++) {
        const uint16_t type = (uint16_t)(i % 14);
        const uint64_t ticks = 1000 + 7 * (uint64_t)i;

        memcpy(&bed->raw[(size_t)i * RECORD_BYTES], &type, sizeof(type));
        bed->raw[(size_t)i * RECORD_BYTES + 2] = (uint8_t)(i % 3);
        memcpy(&bed->raw[(size_t)i * RECORD_BYTES + 8], &ticks, sizeof(ticks));
    }
}

static int set_up(void **state)
{
    struct bed *bed = calloc(1, sizeof(*bed));

    if (!bed || zeInit(0) != ZE_RESULT_SUCCESS)
        return -1;
    (void)snprintf(bed->folder, sizeof(bed->folder), "/tmp/zeta-events-XXXXXX");
    if (!mkdtemp(bed->folder))
        return -1;
    (void)snprintf(bed->path, sizeof(bed->path), "%s/file", bed->folder);
    bed->device = find_device("Zeta Virtual GPU");
    bed->group = find_group(bed->device, "KernelEvents", TRACER, NULL);
    fill_records(bed);
    *state = bed;
    return 0;
}

static int tear_down(void **state)
{
    struct bed *bed = *state;
    int result;

    (void)unlink(bed->path);
    result = rmdir(bed->folder);
    free(bed);
    return result;
}

static void write_recording(const struct bed *bed, size_t bytes)
{
    const struct zeta_recording_desc desc = {.struct_size = sizeof(desc), .path = bed->path};
    const struct zeta_recording_stream_desc stream_desc = {.struct_size = sizeof(stream_desc),
                                                           .group = bed->group};
    struct zeta_recording *recording = NULL;
    uint32_t stream = 0;

    EXPECT_OK(zetaRecordingCreate(&desc, &recording));
    EXPECT_OK(zetaRecordingAddStream(recording, &stream_desc, &stream));
    EXPECT_OK(zetaRecordingAppend(recording, ZETA_CHUNK_DATA, stream, bed->raw, bytes));
    EXPECT_OK(zetaRecordingFinish(recording));
}

/** Opens the recording and goes to its data. */
static struct zeta_recording_reader *open_data(const struct bed *bed)
{
    struct zeta_recording_chunk chunk = {.struct_size = sizeof(chunk)};
    struct zeta_recording_reader *reader = NULL;

    EXPECT_OK(zetaRecordingOpen(bed->path, &reader));
    do
        EXPECT_OK(zetaRecordingNext(reader, &chunk));
    while (chunk.type != ZETA_CHUNK_DATA && chunk.type != ZETA_CHUNK_END);
    assert_int_equal(chunk.type, ZETA_CHUNK_DATA);
    return reader;
}

/** What a decoder of the device gives. */
static uint32_t decode_there(const struct bed *bed, size_t bytes, uint32_t *counts, uint32_t *sets,
                             zet_metric_entry_exp_t *entries)
{
    zet_metric_tracer_exp_desc_t desc = {.stype = ZET_STRUCTURE_TYPE_METRIC_TRACER_EXP_DESC,
                                         .notifyEveryNBytes = 4096};
    zet_metric_group_handle_t group = bed->group;
    zet_metric_tracer_exp_handle_t tracer = NULL;
    zet_metric_decoder_exp_handle_t decoder = NULL;
    zet_metric_handle_t metrics[64];
    uint32_t metric_count = 64, entry_count = ROOM;
    ze_context_handle_t context = make_context(bed->device);
    uint8_t *raw = malloc(bytes);

    assert_non_null(raw);
    memcpy(raw, bed->raw, bytes);
    EXPECT_OK(zetContextActivateMetricGroups(context, bed->device, 1, &group));
    EXPECT_OK(zetMetricTracerCreateExp(context, bed->device, 1, &group, &desc, NULL, &tracer));
    EXPECT_OK(zetMetricDecoderCreateExp(tracer, &decoder));
    EXPECT_OK(zetMetricDecoderGetDecodableMetricsExp(decoder, &metric_count, metrics));
    EXPECT_OK(zetMetricTracerDecodeExp(decoder, &bytes, raw, metric_count, metrics, sets, counts,
                                       &entry_count, entries));
    EXPECT_OK(zetMetricDecoderDestroyExp(decoder));
    EXPECT_OK(zetMetricTracerDestroyExp(tracer));
    EXPECT_OK(zetContextActivateMetricGroups(context, bed->device, 0, NULL));
    EXPECT_OK(zeContextDestroy(context));
    free(raw);
    return entry_count;
}

static void expect_same_entries(const struct bed *bed, size_t bytes)
{
    zet_metric_entry_exp_t *there = calloc(ROOM, sizeof(*there));
    zet_metric_entry_exp_t *here = calloc(ROOM, sizeof(*here));
    struct zeta_recording_reader *reader = open_data(bed);
    uint32_t there_counts[MAX_TILES] = {0}, here_counts[MAX_TILES] = {0};
    uint32_t there_sets = MAX_TILES, here_sets = MAX_TILES, count = 0;
    const uint32_t wanted = decode_there(bed, bytes, there_counts, &there_sets, there);

    assert_non_null(there);
    assert_non_null(here);
    EXPECT_OK(zetaRecordingDecodeEvents(reader, &here_sets, here_counts, &count, NULL));
    assert_int_equal(count, wanted);
    assert_int_equal(here_sets, there_sets);
    EXPECT_OK(zetaRecordingDecodeEvents(reader, &here_sets, here_counts, &count, here));
    assert_int_equal(count, wanted);
    assert_memory_equal(here_counts, there_counts, sizeof(here_counts));
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(here[i].timeStamp, there[i].timeStamp);
        assert_int_equal(here[i].metricIndex, there[i].metricIndex);
        assert_int_equal(here[i].value.ui64, there[i].value.ui64);
    }
    zetaRecordingClose(reader);
    free(there);
    free(here);
}

/* Rule 16.21. */
static void decode__any_records__gives_what_the_decoder_gives(void **state)
{
    const struct bed *bed = *state;

    write_recording(bed, sizeof(bed->raw));
    expect_same_entries(bed, sizeof(bed->raw));
}

/* Rule 16.21. */
static void decode__last_record_is_cut__leaves_it_alone(void **state)
{
    const struct bed *bed = *state;

    write_recording(bed, 10 * RECORD_BYTES + 40);
    expect_same_entries(bed, 10 * RECORD_BYTES + 40);
}

/* Rule 16.21. */
static void metrics__of_a_tracer__are_those_of_its_group(void **state)
{
    const struct bed *bed = *state;
    struct zeta_exported_metric metrics[64];
    zet_metric_handle_t handles[64];
    struct zeta_recording_reader *reader;
    uint32_t count = 0, group_count = 64;

    write_recording(bed, sizeof(bed->raw));
    reader = open_data(bed);
    EXPECT_OK(zetaRecordingGetEventMetrics(reader, &count, NULL));
    EXPECT_OK(zetMetricGet(bed->group, &group_count, handles));
    assert_int_equal(count, group_count);
    for (uint32_t i = 0; i < 64; i++)
        metrics[i].struct_size = sizeof(metrics[i]);
    count = 64;
    EXPECT_OK(zetaRecordingGetEventMetrics(reader, &count, metrics));
    assert_int_equal(count, group_count);
    for (uint32_t i = 0; i < count; i++) {
        zet_metric_properties_t properties = {.stype = ZET_STRUCTURE_TYPE_METRIC_PROPERTIES};

        EXPECT_OK(zetMetricGetProperties(handles[i], &properties));
        assert_string_equal(metrics[i].properties.name, properties.name);
        assert_int_equal(metrics[i].properties.resultType, properties.resultType);
        assert_string_equal(metrics[i].properties.description, properties.description);
    }
    zetaRecordingClose(reader);
}

/* Rule 16.21. */
static void decode__bad_arguments__are_refused(void **state)
{
    const struct bed *bed = *state;
    struct zeta_recording_chunk chunk = {.struct_size = sizeof(chunk)};
    struct zeta_exported_metric metric = {.struct_size = 0};
    struct zeta_recording_reader *reader;
    zet_metric_entry_exp_t entry = {0};
    uint32_t sets = 0, count = 1, none = 0;

    write_recording(bed, sizeof(bed->raw));
    reader = open_data(bed);
    EXPECT_RESULT(zetaRecordingDecodeEvents(NULL, &sets, NULL, &count, NULL),
                  ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    EXPECT_RESULT(zetaRecordingDecodeEvents(reader, NULL, NULL, &count, NULL),
                  ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    EXPECT_RESULT(zetaRecordingDecodeEvents(reader, &sets, NULL, NULL, NULL),
                  ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    EXPECT_RESULT(zetaRecordingDecodeEvents(reader, &sets, NULL, &count, &entry),
                  ZE_RESULT_ERROR_INVALID_SIZE);
    assert_cmp(count, >, 1);
    EXPECT_RESULT(zetaRecordingGetEventMetrics(NULL, &none, NULL),
                  ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    EXPECT_RESULT(zetaRecordingGetEventMetrics(reader, NULL, NULL),
                  ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    count = 1;
    assert_int_not_equal(zetaRecordingGetEventMetrics(reader, &count, &metric), ZE_RESULT_SUCCESS);
    EXPECT_OK(zetaRecordingNext(reader, &chunk));
    EXPECT_RESULT(zetaRecordingDecodeEvents(reader, &sets, NULL, &count, NULL),
                  ZE_RESULT_ERROR_INVALID_ARGUMENT);
    expect_sentence("no data");
    zetaRecordingClose(reader);
}

/* Rule 16.21. */
static void decode__stream_of_values__is_refused(void **state)
{
    struct bed *bed = *state;
    struct zeta_recording_reader *reader;
    uint32_t sets = 0, count = 0;

    bed->group = find_group(bed->device, "ComputeBasic", TIME_BASED, NULL);
    write_recording(bed, 256);
    reader = open_data(bed);
    EXPECT_RESULT(zetaRecordingDecodeEvents(reader, &sets, NULL, &count, NULL),
                  ZE_RESULT_ERROR_INVALID_ARGUMENT);
    expect_sentence("of no tracer");
    zetaRecordingClose(reader);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

SUITE(events)
{
    const struct CMUnitTest tests[] = {
        CASE(decode__any_records__gives_what_the_decoder_gives),
        CASE(decode__last_record_is_cut__leaves_it_alone),
        CASE(metrics__of_a_tracer__are_those_of_its_group),
        CASE(decode__bad_arguments__are_refused),
        CASE(decode__stream_of_values__is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
