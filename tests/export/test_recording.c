/* Recordings through zeta.h: what is written is read back and calculated; every answer. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/export/support.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"
#include "zeta/container.h"
#include "zeta/zeta.h"

#define SLOTS 30u
#define PIECES 8u

struct bed {
    char folder[64];
    char path[96];
    struct source sources[2];
    uint8_t raw[2][PIECES][SLOTS * 4096];
    size_t raw_bytes[2][PIECES];
};

static int set_up(void **state)
{
    struct bed *bed = calloc(1, sizeof(*bed));

    if (!bed || zeInit(0) != ZE_RESULT_SUCCESS)
        return -1;
    (void)snprintf(bed->folder, sizeof(bed->folder), "/tmp/zeta-recording-XXXXXX");
    if (!mkdtemp(bed->folder))
        return -1;
    (void)snprintf(bed->path, sizeof(bed->path), "%s/file", bed->folder);
    bed->sources[0] = find_source("fake0", "Basic", TIME_BASED);
    bed->sources[1] = find_source("fake1", "Samples", TIME_BASED);
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

static struct zeta_recording *create(const struct bed *bed)
{
    const struct zeta_recording_desc desc = {.struct_size = sizeof(desc), .path = bed->path};
    struct zeta_recording *recording = NULL;

    EXPECT_OK(zetaRecordingCreate(&desc, &recording));
    return recording;
}

static uint32_t add_stream(struct zeta_recording *recording, const struct source *source)
{
    const struct zeta_recording_stream_desc desc = {
        .struct_size = sizeof(desc), .group = source->group, .period_ns = 1000};
    uint32_t stream = 0;

    EXPECT_OK(zetaRecordingAddStream(recording, &desc, &stream));
    return stream;
}

/** Two streams with pieces in turn. */
static void write_recording(struct bed *bed)
{
    struct zeta_recording *recording = create(bed);
    uint32_t streams[2];

    for (uint32_t s = 0; s < 2; s++) {
        streams[s] = add_stream(recording, &bed->sources[s]);
        assert_int_equal(streams[s], s + 1);
    }
    for (uint32_t piece = 0; piece < PIECES; piece++) {
        for (uint32_t s = 0; s < 2; s++) {
            bed->raw_bytes[s][piece] =
                make_raw(&bed->sources[s], 100 * s + piece + 1, SLOTS, bed->raw[s][piece]);
            EXPECT_OK(zetaRecordingAppend(recording, ZETA_CHUNK_DATA, streams[s],
                                          bed->raw[s][piece], bed->raw_bytes[s][piece]));
        }
    }
    EXPECT_OK(zetaRecordingFlush(recording));
    EXPECT_OK(zetaRecordingFinish(recording));
}

/** Calculates the chunk that was read, and compares it with the piece that was written. */
static void check_piece(struct bed *bed, struct zeta_recording_reader *reader, uint32_t s,
                        uint32_t piece)
{
    struct outcome in_place = outcome_make();
    struct outcome offline = outcome_make();
    size_t size = 0;
    size_t wrong;
    uint8_t *data;

    EXPECT_OK(zetaRecordingGetExportData(reader, &size, NULL));
    data = malloc(size);
    assert_non_null(data);
    wrong = size - 1;
    EXPECT_RESULT(zetaRecordingGetExportData(reader, &wrong, data), ZE_RESULT_ERROR_INVALID_SIZE);
    assert_int_equal(wrong, size);
    EXPECT_OK(zetaRecordingGetExportData(reader, &size, data));
    calculate_in_place(&bed->sources[s], VALUES, bed->raw[s][piece], bed->raw_bytes[s][piece],
                       &in_place);
    calculate_offline(bed->sources[s].driver, VALUES, data, size, 0, &offline);
    expect_same(&in_place, &offline, "a piece of a recording");
    free(data);
    outcome_free(&in_place);
    outcome_free(&offline);
}

/** Reads everything; the result that ends it. */
static ze_result_t read_recording(struct bed *bed, uint32_t *out_pieces, uint32_t *out_devices)
{
    struct zeta_recording_chunk chunk = {.struct_size = sizeof(chunk)};
    struct zeta_recording_reader *reader = NULL;
    uint32_t pieces[2] = {0, 0};
    ze_result_t result;

    *out_devices = 0;
    EXPECT_OK(zetaRecordingOpen(bed->path, &reader));
    while ((result = zetaRecordingNext(reader, &chunk)) == ZE_RESULT_SUCCESS &&
           chunk.type != ZETA_CHUNK_END) {
        const uint32_t s = chunk.number - 1;

        *out_devices += chunk.type == ZETA_CHUNK_DEVICE;
        if (chunk.type != ZETA_CHUNK_DATA) {
            size_t size = 0;

            EXPECT_RESULT(zetaRecordingGetExportData(reader, &size, NULL),
                          ZE_RESULT_ERROR_INVALID_ARGUMENT);
            continue;
        }
        assert_cmp(s, <, 2);
        assert_int_equal(chunk.payload_bytes, bed->raw_bytes[s][pieces[s]]);
        assert_memory_equal(chunk.payload, bed->raw[s][pieces[s]], (size_t)chunk.payload_bytes);
        check_piece(bed, reader, s, pieces[s]++);
    }
    zetaRecordingClose(reader);
    *out_pieces = pieces[0] + pieces[1];
    return result;
}

/* Rule 16.19. */
static void record__two_streams__come_back_and_calculate(void **state)
{
    struct bed *bed = *state;
    uint32_t pieces = 0;
    uint32_t devices = 0;

    write_recording(bed);
    EXPECT_OK(read_recording(bed, &pieces, &devices));
    assert_int_equal(pieces, 2 * PIECES);
    assert_int_equal(devices, 4); /* fake0, and fake1 with its two tiles */
}

/* Rule 16.13. */
static void record__without_an_end__is_read_up_to_there(void **state)
{
    struct bed *bed = *state;
    struct stat status;
    uint32_t pieces = 0;
    uint32_t devices = 0;

    write_recording(bed);
    assert_int_equal(stat(bed->path, &status), 0);
    assert_int_equal(truncate(bed->path, status.st_size - 1), 0);
    EXPECT_RESULT(read_recording(bed, &pieces, &devices), ZE_RESULT_NOT_READY);
    assert_int_equal(pieces, 2 * PIECES);
}

static void record__devices__say_who_they_are(void **state)
{
    struct bed *bed = *state;
    struct zeta_recording *recording = create(bed);
    struct zeta_recording_chunk chunk = {.struct_size = sizeof(chunk)};
    struct zeta_recording_reader *reader = NULL;
    struct zeta_recording_info info = {.struct_size = sizeof(info)};
    uint32_t number = 0;
    uint32_t again = 0;
    char value[64] = "";

    EXPECT_OK(zetaRecordingAddDevice(recording, find_device("fake1.1"), &number));
    EXPECT_OK(zetaRecordingAddDevice(recording, find_device("fake1.1"), &again));
    assert_int_equal(number, 3);
    assert_int_equal(again, number);
    EXPECT_OK(zetaRecordingGetInfo(recording, &info));
    assert_cmp(info.bytes, >, 64);
    assert_int_equal(info.lost_chunks, 0);
    EXPECT_OK(zetaRecordingFinish(recording));
    EXPECT_OK(zetaRecordingOpen(bed->path, &reader));
    for (uint32_t i = 1; i <= 3; i++) {
        EXPECT_OK(zetaRecordingNext(reader, &chunk));
        assert_int_equal(chunk.type, ZETA_CHUNK_DEVICE);
        assert_int_equal(chunk.number, i);
    }
    assert_true(zeta_lines_find(chunk.payload, (size_t)chunk.payload_bytes, "name", 0, value,
                                sizeof(value)));
    assert_string_equal(value, "fake1.1");
    assert_int_equal(zeta_lines_find_u64(chunk.payload, (size_t)chunk.payload_bytes, "parent", 0),
                     1);
    assert_int_equal(zeta_lines_find_u64(chunk.payload, (size_t)chunk.payload_bytes, "tile", 9), 1);
    zetaRecordingClose(reader);
}

static void describe__exported_data__group_and_metrics(void **state)
{
    struct bed *bed = *state;
    const struct source *source = &bed->sources[0];
    struct zeta_export_info info = {.struct_size = sizeof(info)};
    struct zeta_exported_metric metrics[64];
    zet_metric_handle_t handles[64];
    uint32_t count = 0;
    size_t size = 0;
    uint8_t *data;

    (void)make_raw(source, 3, 4, bed->raw[0][0]);
    data = export_raw(source, bed->raw[0][0], 4 * (size_t)source->record_bytes, &size);
    EXPECT_OK(zetaExportDataGetInfo(size, data, &info));
    assert_string_equal(info.properties.name, source->properties.name);
    assert_string_equal(info.properties.description, source->properties.description);
    assert_int_equal(info.properties.samplingType, source->properties.samplingType);
    assert_int_equal(info.properties.domain, source->properties.domain);
    assert_int_equal(info.properties.metricCount, source->properties.metricCount);
    assert_int_equal(info.record_bytes, source->record_bytes);
    assert_int_equal(info.raw_bytes, 4 * (size_t)source->record_bytes);
    assert_int_equal(info.tile_count, 1);

    EXPECT_OK(zetaExportDataGetMetrics(size, data, &count, NULL));
    assert_int_equal(count, source->properties.metricCount);
    for (uint32_t i = 0; i < count; i++)
        metrics[i] = (struct zeta_exported_metric){.struct_size = sizeof(metrics[i])};
    EXPECT_OK(zetaExportDataGetMetrics(size, data, &count, metrics));
    EXPECT_OK(zetMetricGet(source->group, &count, handles));
    for (uint32_t i = 0; i < count; i++) {
        zet_metric_properties_t expected = {.stype = ZET_STRUCTURE_TYPE_METRIC_PROPERTIES};

        EXPECT_OK(zetMetricGetProperties(handles[i], &expected));
        assert_string_equal(metrics[i].properties.name, expected.name);
        assert_string_equal(metrics[i].properties.description, expected.description);
        assert_string_equal(metrics[i].properties.component, expected.component);
        assert_string_equal(metrics[i].properties.resultUnits, expected.resultUnits);
        assert_int_equal(metrics[i].properties.tierNumber, expected.tierNumber);
        assert_int_equal(metrics[i].properties.metricType, expected.metricType);
        assert_int_equal(metrics[i].properties.resultType, expected.resultType);
    }
    assert_int_equal(metrics[1].metric_class, ZETA_METRIC_CLASS_MODELLED);
    data[size / 2] ^= 1;
    EXPECT_RESULT(zetaExportDataGetInfo(size, data, &info), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    EXPECT_RESULT(zetaExportDataGetMetrics(size, data, &count, NULL),
                  ZE_RESULT_ERROR_INVALID_ARGUMENT);
    EXPECT_RESULT(zetaExportDataGetInfo(size, NULL, &info), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    EXPECT_RESULT(zetaExportDataGetInfo(size, data, NULL), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    info.struct_size = 0;
    EXPECT_RESULT(zetaExportDataGetInfo(size, data, &info), ZE_RESULT_ERROR_INVALID_SIZE);
    free(data);
}

static void write__bad_arguments__are_refused(void **state)
{
    struct bed *bed = *state;
    struct zeta_recording_desc desc = {.struct_size = sizeof(desc), .path = bed->path};
    struct zeta_recording_stream_desc stream_desc = {.struct_size = sizeof(stream_desc)};
    struct zeta_recording *second = NULL;
    struct zeta_recording *recording = create(bed);
    uint32_t number = 0;

    EXPECT_RESULT(zetaRecordingCreate(&desc, &second), ZE_RESULT_ERROR_NOT_AVAILABLE);
    expect_sentence("exists");
    desc.limit_bytes = 1;
    EXPECT_RESULT(zetaRecordingCreate(&desc, &second), ZE_RESULT_ERROR_INVALID_SIZE);
    desc.path = NULL;
    EXPECT_RESULT(zetaRecordingCreate(&desc, &second), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    desc.struct_size = 1;
    EXPECT_RESULT(zetaRecordingCreate(&desc, &second), ZE_RESULT_ERROR_INVALID_SIZE);
    EXPECT_RESULT(zetaRecordingCreate(NULL, &second), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    EXPECT_RESULT(zetaRecordingAddStream(recording, &stream_desc, &number),
                  ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    stream_desc.group = bed->sources[0].group;
    EXPECT_RESULT(zetaRecordingAddStream(recording, &stream_desc, NULL),
                  ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    EXPECT_RESULT(zetaRecordingAddStream(NULL, &stream_desc, &number),
                  ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    EXPECT_RESULT(zetaRecordingAddDevice(recording, NULL, &number),
                  ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    EXPECT_RESULT(zetaRecordingAppend(recording, ZETA_CHUNK_DATA, 1, "x", 1),
                  ZE_RESULT_ERROR_INVALID_ARGUMENT);
    EXPECT_RESULT(zetaRecordingAppend(recording, ZETA_CHUNK_END, 0, "x", 1),
                  ZE_RESULT_ERROR_INVALID_ARGUMENT);
    EXPECT_RESULT(zetaRecordingAppend(recording, ZETA_CHUNK_META, 0, NULL, 1),
                  ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    EXPECT_RESULT(zetaRecordingAppend(NULL, ZETA_CHUNK_META, 0, "x", 1),
                  ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    EXPECT_OK(zetaRecordingAppend(recording, ZETA_CHUNK_META, 0, "x", 1));
    EXPECT_RESULT(
        zetaRecordingAppend(recording, ZETA_CHUNK_TRACE, 0, bed->raw, ZETA_CHUNK_PIECE_BYTES + 1),
        ZE_RESULT_ERROR_INVALID_SIZE);
    EXPECT_RESULT(zetaRecordingFlush(NULL), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    EXPECT_RESULT(zetaRecordingGetInfo(recording, NULL), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    EXPECT_OK(zetaRecordingFinish(recording));
    EXPECT_OK(zetaRecordingFinish(NULL));
}

static void read__bad_arguments__are_refused(void **state)
{
    struct bed *bed = *state;
    struct zeta_recording_reader *reader = NULL;
    struct zeta_recording_chunk chunk = {.struct_size = sizeof(chunk)};
    size_t size = 0;
    FILE *file;

    EXPECT_RESULT(zetaRecordingOpen(bed->path, &reader), ZE_RESULT_ERROR_NOT_AVAILABLE);
    EXPECT_RESULT(zetaRecordingOpen(NULL, &reader), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    EXPECT_RESULT(zetaRecordingOpen(bed->path, NULL), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    file = fopen(bed->path, "w");
    assert_non_null(file);
    (void)fputs("no recording at all, but long enough for a header of sixty-four bytes", file);
    assert_int_equal(fclose(file), 0);
    EXPECT_RESULT(zetaRecordingOpen(bed->path, &reader), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    expect_sentence("neither exported metric data nor a recording");
    assert_null(reader);
    EXPECT_RESULT(zetaRecordingNext(NULL, &chunk), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    EXPECT_RESULT(zetaRecordingGetExportData(NULL, &size, NULL),
                  ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    zetaRecordingClose(NULL);
}

#define CASE(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

SUITE(recording)
{
    const struct CMUnitTest tests[] = {
        CASE(record__two_streams__come_back_and_calculate),
        CASE(record__without_an_end__is_read_up_to_there),
        CASE(record__devices__say_who_they_are),
        CASE(describe__exported_data__group_and_metrics),
        CASE(write__bad_arguments__are_refused),
        CASE(read__bad_arguments__are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
