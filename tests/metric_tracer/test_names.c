/* Names of ids in the entries of a tracer, and in a recording of them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/metric_tracer/trace_bed.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"
#include "zeta/container.h"
#include "zeta/zeta.h"

static int set_up(void **state)
{
    (void)state;
    return zeInit(0) == ZE_RESULT_SUCCESS ? 0 : -1;
}

static void expect_name(zet_metric_tracer_exp_handle_t tracer, uint64_t id, const char *wanted)
{
    char name[64];
    size_t size = sizeof(name);

    EXPECT_OK(zetaMetricTracerGetName(tracer, id, &size, name));
    assert_string_equal(name, wanted);
    assert_int_equal(size, strlen(wanted) + 1);
}

/* Rule 13.22. */
static void name__ids_of_entries__those_of_the_backend(void **state)
{
    static const char *const devices[] = {"trace0", "trace1"};

    (void)state;
    for (int d = 0; d < 2; d++) {
        struct trace_bed bed = bed_make(devices[d]);
        struct trace_decoder decoder;
        struct trace_entries got;
        zet_metric_properties_t properties = {.stype = ZET_STRUCTURE_TYPE_METRIC_PROPERTIES};
        const char *tile = d ? "trace1.1" : "trace0";
        size_t size = 64;

        bed_start(&bed);
        bed.control->push(tile, "kernels", TRACE_BEGIN, 2);
        (void)bed_read(&bed, BED_MAX_BYTES, ZE_RESULT_SUCCESS);
        decoder = bed_decoder(&bed);
        EXPECT_OK(zetMetricGetProperties(decoder.metrics[decoder_metric(&decoder, "KernelBegin")],
                                         &properties));
        assert_string_equal(properties.resultUnits, ZETA_NAME_UNIT);
        got = decode_some(&decoder, bed.raw, bed.raw_bytes, 256);
        for (uint32_t i = 0; i < got.count; i++) {
            const uint64_t id = got.entries[i].value.ui64;
            char wanted[64];

            if (got.entries[i].metricIndex != decoder_metric(&decoder, "KernelBegin"))
                continue;
            (void)snprintf(wanted, sizeof(wanted), TRACE_NAME, (unsigned)(id / 100));
            if (id % 200 == 0)
                expect_name(bed.tracer, id, wanted);
            else
                EXPECT_RESULT(zetaMetricTracerGetName(bed.tracer, id, &size, NULL),
                              ZE_RESULT_ERROR_NOT_AVAILABLE);
        }
        EXPECT_OK(zetMetricDecoderDestroyExp(decoder.handle));
        EXPECT_OK(zetMetricTracerDisableExp(bed.tracer, 1));
        expect_name(bed.tracer, 400, "kernel <4>"); /* as long as the tracer */
        bed_free(&bed);
    }
}

static void name__bad_arguments_and_sizes__documented_results(void **state)
{
    struct trace_bed bed = bed_make("trace0");
    zet_metric_tracer_exp_handle_t tracer;
    char name[16] = "untouched";
    size_t size = 0;

    (void)state;
    bed_start(&bed);
    tracer = bed.tracer;
    EXPECT_RESULT(zetaMetricTracerGetName(tracer, 200, NULL, name),
                  ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    EXPECT_RESULT(zetaMetricTracerGetName(NULL, 200, &size, name),
                  ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    EXPECT_OK(zetaMetricTracerGetName(tracer, 200, &size, name));
    assert_int_equal(size, sizeof("kernel <2>"));
    assert_string_equal(name, "untouched");
    size--;
    EXPECT_RESULT(zetaMetricTracerGetName(tracer, 200, &size, name), ZE_RESULT_ERROR_INVALID_SIZE);
    assert_int_equal(size, sizeof("kernel <2>"));
    assert_string_equal(name, "untouched");
    size = 3;
    EXPECT_RESULT(zetaMetricTracerGetName(tracer, 100, &size, name), ZE_RESULT_ERROR_NOT_AVAILABLE);
    expect_sentence("has no name for 100");
    assert_int_equal(size, 3);
    EXPECT_OK(zetMetricTracerDisableExp(tracer, 1));
    bed_free(&bed);
    EXPECT_RESULT(zetaMetricTracerGetName(tracer, 200, &size, NULL),
                  ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
}

static void append_name(struct zeta_recording *recording, uint32_t stream, uint64_t id,
                        const char *text, uint32_t bytes)
{
    unsigned char payload[64];
    const struct zeta_chunk_name name = {.id = id, .bytes = bytes};

    zeta_chunk_name_write(&name, payload);
    memcpy(payload + ZETA_CHUNK_NAME_BYTES, text, bytes);
    EXPECT_OK(zetaRecordingAppend(recording, ZETA_CHUNK_NAMES, stream, payload,
                                  ZETA_CHUNK_NAME_BYTES + bytes));
}

/* Rule 16.29. */
static void recording__names_before_data__found_by_stream_and_id(void **state)
{
    struct trace_bed bed = bed_make("trace0");
    char path[] = "/tmp/zeta-names-XXXXXX";
    const int file = mkstemp(path);
    const struct zeta_recording_desc desc = {.struct_size = sizeof(desc), .path = path};
    struct zeta_recording_stream_desc stream_desc = {.struct_size = sizeof(stream_desc)};
    struct zeta_recording_chunk chunk = {.struct_size = sizeof(chunk)};
    struct zeta_recording *recording = NULL;
    struct zeta_recording_reader *reader = NULL;
    uint32_t streams[2] = {0};
    char name[64];
    size_t size = sizeof(name);

    (void)state;
    assert_cmp(file, >=, 0);
    bed_start(&bed);
    bed.control->push("trace0", "kernels", TRACE_BEGIN, 1);
    (void)bed_read(&bed, BED_MAX_BYTES, ZE_RESULT_SUCCESS);
    stream_desc.group = find_group(bed.device, "KernelEvents", TRACER_BASED, NULL);
    EXPECT_OK(zetaRecordingCreate(&desc, &recording));
    for (int i = 0; i < 2; i++)
        EXPECT_OK(zetaRecordingAddStream(recording, &stream_desc, &streams[i]));
    EXPECT_RESULT(zetaRecordingAppend(recording, ZETA_CHUNK_NAMES, 3, name, 0),
                  ZE_RESULT_ERROR_INVALID_ARGUMENT);
    append_name(recording, streams[0], 200, "first", 5);
    append_name(recording, streams[0], 200, "second", 6); /* the first counts */
    append_name(recording, streams[0], 0, "", 0);
    append_name(recording, streams[0], 5, "with\0zero", 9);
    append_name(recording, streams[1], 300, "of another stream", 17);
    EXPECT_OK(zetaRecordingAppend(recording, ZETA_CHUNK_DATA, streams[0], bed.raw, bed.raw_bytes));
    append_name(recording, streams[0], 400, "late", 4);
    EXPECT_OK(zetaRecordingFinish(recording));

    EXPECT_OK(zetaRecordingOpen(path, &reader));
    EXPECT_RESULT(zetaRecordingGetEventName(reader, 200, &size, name),
                  ZE_RESULT_ERROR_INVALID_ARGUMENT); /* no data yet */
    do
        EXPECT_OK(zetaRecordingNext(reader, &chunk));
    while (chunk.type != ZETA_CHUNK_DATA);
    EXPECT_OK(zetaRecordingGetEventName(reader, 200, &size, name));
    assert_string_equal(name, "first");
    assert_int_equal(size, 6);
    EXPECT_RESULT(zetaRecordingGetEventName(reader, 200, (size = 5, &size), name),
                  ZE_RESULT_ERROR_INVALID_SIZE);
    EXPECT_OK(zetaRecordingGetEventName(reader, 0, (size = 1, &size), name));
    assert_string_equal(name, "");
    EXPECT_OK(zetaRecordingGetEventName(reader, 5, (size = 64, &size), name));
    assert_string_equal(name, "with");
    EXPECT_RESULT(zetaRecordingGetEventName(reader, 300, &size, name),
                  ZE_RESULT_ERROR_NOT_AVAILABLE);
    EXPECT_RESULT(zetaRecordingGetEventName(reader, 400, &size, name),
                  ZE_RESULT_ERROR_NOT_AVAILABLE);
    EXPECT_RESULT(zetaRecordingGetEventName(reader, 200, NULL, name),
                  ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    EXPECT_RESULT(zetaRecordingGetEventName(NULL, 200, &size, name),
                  ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    zetaRecordingClose(reader);
    (void)close(file);
    (void)unlink(path);
    EXPECT_OK(zetMetricTracerDisableExp(bed.tracer, 1));
    bed_free(&bed);
}

SUITE(names)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(name__ids_of_entries__those_of_the_backend),
        cmocka_unit_test(name__bad_arguments_and_sizes__documented_results),
        cmocka_unit_test(recording__names_before_data__found_by_stream_and_id),
    };

    return cmocka_run_group_tests_name("metric_tracer.names", tests, set_up, NULL);
}
