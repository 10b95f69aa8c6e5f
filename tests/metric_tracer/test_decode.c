/* Decoders: their metrics, entries of all kinds, rooms and sizes, data that is none. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/metric_tracer/trace_bed.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

/** What the data of most tests gives: three entries for a begin, four for an end. */
enum { BEGIN_ENTRIES = 3, END_ENTRIES = 4 };

static int set_up(void **state)
{
    (void)state;
    return zeInit(0) == ZE_RESULT_SUCCESS ? 0 : -1;
}

/** enabled (1), begin (2), end (3), begin (4), end (5), ..., disabled; the tracer is off then. */
static struct trace_bed collect(uint32_t pairs)
{
    struct trace_bed bed = bed_make("trace0");

    bed_start(&bed);
    for (uint32_t i = 0; i < pairs; i++) {
        bed.control->push("trace0", "kernels", TRACE_BEGIN, 1);
        bed.control->push("trace0", "kernels", TRACE_END, 1);
    }
    EXPECT_OK(zetMetricTracerDisableExp(bed.tracer, 1));
    (void)bed_read(&bed, bytes_of(2 * pairs + 2), ZE_RESULT_SUCCESS);
    assert_int_equal(bed.raw_bytes, bytes_of(2 * pairs + 2));
    return bed;
}

static void decode__metrics_listed__those_of_the_groups_that_exist(void **state)
{
    static const char *const names[] = {"KernelBegin", "KernelEnd", "Address",  "Ends",
                                        "Half",        "Whole",     "CopyBytes"};
    static const zet_metric_type_t types[] = {ZET_METRIC_TYPE_RAW,       ZET_METRIC_TYPE_EVENT,
                                              ZET_METRIC_TYPE_IP_EXP,    ZET_METRIC_TYPE_FLAG,
                                              ZET_METRIC_TYPE_RATIO,     ZET_METRIC_TYPE_DURATION,
                                              ZET_METRIC_TYPE_THROUGHPUT};
    struct trace_bed bed = bed_make("trace0");
    struct trace_decoder decoder;
    uint32_t count = 0;

    (void)state;
    bed_activate(&bed, "KernelEvents", "CopyEvents");
    (void)bed_create(&bed, 0, NULL);
    decoder = bed_decoder(&bed);
    assert_int_equal(decoder.count, 7);
    for (uint32_t i = 0; i < 7; i++) {
        zet_metric_properties_t properties = {.stype = ZET_STRUCTURE_TYPE_METRIC_PROPERTIES};

        EXPECT_OK(zetMetricGetProperties(decoder.metrics[i], &properties));
        assert_string_equal(properties.name, names[i]);
        assert_int_equal(properties.metricType, types[i]);
    }
    EXPECT_OK(zetMetricDecoderGetDecodableMetricsExp(decoder.handle, &count, NULL));
    assert_int_equal(count, 7);
    count = 3;
    EXPECT_OK(zetMetricDecoderGetDecodableMetricsExp(decoder.handle, &count, decoder.metrics));
    assert_int_equal(count, 3);
    EXPECT_OK(zetMetricDecoderDestroyExp(decoder.handle));
    EXPECT_RESULT(zetMetricDecoderDestroyExp(decoder.handle), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    bed_free(&bed);
}

/* Rule 13.15. */
static void decode__all_events__entries_in_order_with_values_and_times(void **state)
{
    struct trace_bed bed = collect(1);
    struct trace_decoder decoder = bed_decoder(&bed);
    struct trace_entries got = decode_some(&decoder, bed.raw, bed.raw_bytes, 256);
    const zet_metric_entry_exp_t *entry = got.entries;

    (void)state;
    assert_int_equal(got.count, BEGIN_ENTRIES + END_ENTRIES);
    assert_int_equal(got.sets, 1);
    assert_int_equal(got.per_set[0], 7);
    assert_int_equal(got.consumed, bed.raw_bytes);
    for (uint32_t i = 0; i < 7; i++) {
        assert_int_equal(entry[i].timeStamp, time_of_event(i < BEGIN_ENTRIES ? 2 : 3));
        assert_false(entry[i].onSubdevice);
    }
    assert_int_equal(entry[0].metricIndex, decoder_metric(&decoder, "KernelBegin"));
    assert_int_equal(entry[0].value.ui64, 200);
    assert_int_equal(entry[1].metricIndex, decoder_metric(&decoder, "Address"));
    assert_int_equal(entry[1].value.ui64, 1600);
    assert_int_equal(entry[2].metricIndex, decoder_metric(&decoder, "Ends"));
    assert_int_equal(entry[2].value.b8, 0);
    assert_int_equal(entry[3].metricIndex, decoder_metric(&decoder, "KernelEnd"));
    assert_int_equal(entry[3].value.ui32, 3);
    assert_int_equal(entry[4].value.b8, 1);
    assert_cmp(entry[5].value.fp32, ==, 1.5F);
    assert_cmp(entry[6].value.fp64, ==, 3.0);
    EXPECT_OK(zetMetricDecoderDestroyExp(decoder.handle));
    bed_free(&bed);
}

/* Rule 13.17. */
static void decode__counts_asked__nothing_else_is_written(void **state)
{
    struct trace_bed bed = collect(10);
    struct trace_decoder decoder = bed_decoder(&bed);
    uint32_t sets = 0;
    uint32_t per_set[2] = {77, 77};
    uint32_t count = 0;
    size_t size = bed.raw_bytes - 1;

    (void)state;
    EXPECT_OK(zetMetricTracerDecodeExp(decoder.handle, &size, bed.raw, decoder.count,
                                       decoder.metrics, &sets, per_set, &count, NULL));
    assert_int_equal(size, bed.raw_bytes - 1);
    assert_int_equal(sets, 1);
    assert_int_equal(count, 70);
    assert_int_equal(per_set[0], 77); /* there was room for 0 */
    count = 0;
    sets = 2;
    EXPECT_OK(zetMetricTracerDecodeExp(decoder.handle, &size, bed.raw, decoder.count,
                                       decoder.metrics, &sets, per_set, &count, NULL));
    assert_int_equal(sets, 1);
    assert_int_equal(per_set[0], 70);
    assert_int_equal(per_set[1], 77);
    sets = 0;
    EXPECT_OK(zetMetricTracerDecodeExp(decoder.handle, &size, bed.raw, decoder.count,
                                       decoder.metrics, &sets, NULL, NULL, NULL));
    assert_int_equal(sets, 1);
    /* Entries without room for them: the count is a query. */
    count = 1;
    EXPECT_OK(zetMetricTracerDecodeExp(decoder.handle, &size, bed.raw, decoder.count,
                                       decoder.metrics, &sets, NULL, &count, NULL));
    assert_int_equal(count, 70);
    EXPECT_OK(zetMetricDecoderDestroyExp(decoder.handle));
    bed_free(&bed);
}

/** Decoding goes on where it ended: nothing is lost, nothing comes twice, whatever the room.
 * Rule 13.18. */
static void decode__any_room__continues_at_the_bytes_reported(void **state)
{
    struct trace_bed bed = collect(20);
    struct trace_decoder decoder = bed_decoder(&bed);
    struct trace_entries whole = decode_some(&decoder, bed.raw, bed.raw_bytes, 256);

    (void)state;
    assert_int_equal(whole.count, 140);
    for (uint32_t room = END_ENTRIES; room < 60; room++) {
        size_t at = 0;
        uint32_t given = 0;

        while (at < bed.raw_bytes) {
            struct trace_entries part =
                decode_some(&decoder, bed.raw + at, bed.raw_bytes - at, room);

            assert_cmp(part.count, <=, room);
            assert_cmp(part.consumed, >, 0);
            assert_int_equal(part.consumed % TRACE_RECORD_BYTES, 0);
            for (uint32_t i = 0; i < part.count; i++, given++) {
                assert_int_equal(part.entries[i].metricIndex, whole.entries[given].metricIndex);
                assert_int_equal(part.entries[i].timeStamp, whole.entries[given].timeStamp);
            }
            at += part.consumed;
        }
        assert_int_equal(given, whole.count);
    }
    EXPECT_OK(zetMetricDecoderDestroyExp(decoder.handle));
    bed_free(&bed);
}

/* Rule 13.18. */
static void decode__room_below_the_first_event__asks_for_what_it_needs(void **state)
{
    struct trace_bed bed = collect(1);
    struct trace_decoder decoder = bed_decoder(&bed);
    zet_metric_entry_exp_t entries[2];
    uint32_t sets = 1;
    uint32_t count = 2;
    size_t size = bed.raw_bytes;

    (void)state;
    EXPECT_RESULT(zetMetricTracerDecodeExp(decoder.handle, &size, bed.raw, decoder.count,
                                           decoder.metrics, &sets, NULL, &count, entries),
                  ZE_RESULT_ERROR_INVALID_SIZE);
    assert_int_equal(count, BEGIN_ENTRIES);
    assert_int_equal(size, bed.raw_bytes);
    EXPECT_OK(zetMetricDecoderDestroyExp(decoder.handle));
    bed_free(&bed);
}

/* Rule 13.16. */
static void decode__some_metrics__indexes_are_those_of_the_call(void **state)
{
    struct trace_bed bed = collect(3);
    struct trace_decoder decoder = bed_decoder(&bed);
    struct trace_decoder some = decoder;
    struct trace_entries got;

    (void)state;
    some.metrics[0] = decoder.metrics[decoder_metric(&decoder, "Whole")];
    some.metrics[1] = decoder.metrics[decoder_metric(&decoder, "KernelBegin")];
    some.count = 2;
    got = decode_some(&some, bed.raw, bed.raw_bytes, 256);
    assert_int_equal(got.count, 6);
    for (uint32_t i = 0; i < 6; i++) {
        assert_int_equal(got.entries[i].metricIndex, i % 2 == 0 ? 1 : 0);
        if (i % 2 == 0)
            assert_int_equal(got.entries[i].value.ui64, (uint64_t)(i + 2) * 100);
        else
            assert_cmp(got.entries[i].value.fp64, ==, (double)(i + 2));
    }
    EXPECT_OK(zetMetricDecoderDestroyExp(decoder.handle));
    bed_free(&bed);
}

static void decode__no_metrics__gives_no_entries(void **state)
{
    struct trace_bed bed = collect(3);
    struct trace_decoder decoder = bed_decoder(&bed);
    struct trace_decoder none = decoder;
    struct trace_entries got;

    (void)state;
    none.count = 0;
    got = decode_some(&none, bed.raw, bed.raw_bytes, 8);
    assert_int_equal(got.count, 0);
    assert_int_equal(got.consumed, bed.raw_bytes);
    EXPECT_OK(zetMetricDecoderDestroyExp(decoder.handle));
    bed_free(&bed);
}

static void decode__two_groups__each_event_has_its_own_entries(void **state)
{
    struct trace_bed bed = bed_make("trace0");
    struct trace_decoder decoder;
    struct trace_entries got;

    (void)state;
    bed_activate(&bed, "KernelEvents", "CopyEvents");
    (void)bed_create(&bed, 0, NULL);
    decoder = bed_decoder(&bed);
    EXPECT_OK(zetMetricTracerEnableExp(bed.tracer, 1));
    for (int i = 0; i < 20; i++) {
        bed.control->push("trace0", "copies", TRACE_COPY, 1);
        bed.control->push("trace0", "kernels", TRACE_BEGIN, 1);
    }
    EXPECT_OK(zetMetricTracerDisableExp(bed.tracer, 1));
    (void)bed_read(&bed, 4096, ZE_RESULT_SUCCESS);
    got = decode_some(&decoder, bed.raw, bed.raw_bytes, 256);
    assert_int_equal(got.count, 20 * (1 + BEGIN_ENTRIES));
    for (uint32_t i = 0; i < 20; i++) {
        const zet_metric_entry_exp_t *entry = &got.entries[(size_t)i * 4];

        assert_int_equal(entry[0].metricIndex, decoder_metric(&decoder, "CopyBytes"));
        assert_int_equal(entry[0].value.ui64, (uint64_t)(2 * i + 2) * 100);
        assert_int_equal(entry[1].metricIndex, decoder_metric(&decoder, "KernelBegin"));
        assert_int_equal(entry[1].value.ui64, (uint64_t)(2 * i + 3) * 100);
        assert_int_equal(entry[1].timeStamp, time_of_event(2 * i + 3));
    }
    EXPECT_OK(zetMetricDecoderDestroyExp(decoder.handle));
    bed_free(&bed);
}

/* Rule 13.14. */
static void decode__tracer_gone_and_group_inactive__still_decodes(void **state)
{
    struct trace_bed bed = collect(2);
    struct trace_decoder decoder = bed_decoder(&bed);
    struct trace_entries got;
    zet_metric_properties_t properties = {.stype = ZET_STRUCTURE_TYPE_METRIC_PROPERTIES};

    (void)state;
    bed_free(&bed);
    got = decode_some(&decoder, bed.raw, bed.raw_bytes, 256);
    assert_int_equal(got.count, 14);
    EXPECT_OK(zetMetricGetProperties(decoder.metrics[0], &properties));
    EXPECT_OK(zetMetricDecoderDestroyExp(decoder.handle));
    EXPECT_RESULT(zetMetricGetProperties(decoder.metrics[0], &properties),
                  ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
}

/* Rule 13.14. */
static void decode__handles_of_others__are_refused(void **state)
{
    struct trace_bed bed = collect(1);
    struct trace_decoder decoder = bed_decoder(&bed);
    struct trace_decoder other = bed_decoder(&bed);
    zet_metric_handle_t metrics[2];
    uint32_t sets = 0;
    uint32_t count = 1;
    size_t size = bed.raw_bytes;

    (void)state;
    EXPECT_OK(zetMetricGet(bed.groups[0], &count, metrics));
    count = 0;
    EXPECT_RESULT(zetMetricTracerDecodeExp(decoder.handle, &size, bed.raw, 1, metrics, &sets, NULL,
                                           &count, NULL),
                  ZE_RESULT_ERROR_INVALID_ARGUMENT);
    expect_sentence("zetMetricDecoderGetDecodableMetricsExp");
    EXPECT_RESULT(zetMetricTracerDecodeExp(decoder.handle, &size, bed.raw, 1, other.metrics, &sets,
                                           NULL, &count, NULL),
                  ZE_RESULT_ERROR_INVALID_ARGUMENT);
    metrics[0] = metrics[1] = decoder.metrics[0];
    EXPECT_RESULT(zetMetricTracerDecodeExp(decoder.handle, &size, bed.raw, 2, metrics, &sets, NULL,
                                           &count, NULL),
                  ZE_RESULT_ERROR_INVALID_ARGUMENT);
    expect_sentence("positions 0 and 1");
    EXPECT_OK(zetMetricDecoderDestroyExp(other.handle));
    EXPECT_RESULT(zetMetricTracerDecodeExp(decoder.handle, &size, bed.raw, 1, other.metrics, &sets,
                                           NULL, &count, NULL),
                  ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    EXPECT_OK(zetMetricDecoderDestroyExp(decoder.handle));
    bed_free(&bed);
}

/** Decodable metrics have properties and decode; everything else refuses them. Rule 13.14. */
static void decode__metrics_used_elsewhere__are_refused(void **state)
{
    struct trace_bed bed = collect(1);
    struct trace_decoder decoder = bed_decoder(&bed);
    uint32_t count = 0;

    (void)state;
    EXPECT_RESULT(zetMetricDestroyExp(decoder.metrics[0]), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    expect_sentence("belongs to a decoder");
    EXPECT_RESULT(zetMetricGroupAddMetricExp(bed.groups[0], decoder.metrics[0], NULL, NULL),
                  ZE_RESULT_ERROR_INVALID_ARGUMENT);
    expect_sentence("belongs to a decoder");
    EXPECT_RESULT(zetMetricGroupRemoveMetricExp(bed.groups[0], decoder.metrics[0]),
                  ZE_RESULT_ERROR_INVALID_ARGUMENT);
    EXPECT_RESULT(zetDeviceCreateMetricGroupsFromMetricsExp(bed.device, 1, decoder.metrics, "a",
                                                            "b", &count, NULL),
                  ZE_RESULT_ERROR_INVALID_ARGUMENT);
    expect_sentence("belongs to a decoder");
    EXPECT_OK(zetMetricDecoderDestroyExp(decoder.handle));
    bed_free(&bed);
}

static void decode__null_parameters__are_told_apart(void **state)
{
    struct trace_bed bed = collect(1);
    struct trace_decoder decoder = bed_decoder(&bed);
    zet_metric_decoder_exp_handle_t made = NULL;
    uint32_t sets = 0;
    uint32_t count = 0;
    size_t size = bed.raw_bytes;

    (void)state;
    EXPECT_RESULT(zetMetricDecoderCreateExp(NULL, &made), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    EXPECT_RESULT(zetMetricDecoderCreateExp(bed.tracer, NULL),
                  ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    EXPECT_RESULT(zetMetricDecoderDestroyExp(NULL), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    EXPECT_RESULT(zetMetricDecoderGetDecodableMetricsExp(NULL, &count, NULL),
                  ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    EXPECT_RESULT(zetMetricDecoderGetDecodableMetricsExp(decoder.handle, NULL, NULL),
                  ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    EXPECT_RESULT(zetMetricTracerDecodeExp(NULL, &size, bed.raw, 1, decoder.metrics, &sets, NULL,
                                           &count, NULL),
                  ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    EXPECT_RESULT(zetMetricTracerDecodeExp(decoder.handle, NULL, bed.raw, 1, decoder.metrics, &sets,
                                           NULL, &count, NULL),
                  ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    EXPECT_RESULT(zetMetricTracerDecodeExp(decoder.handle, &size, bed.raw, 1, NULL, &sets, NULL,
                                           &count, NULL),
                  ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    EXPECT_RESULT(zetMetricTracerDecodeExp(decoder.handle, &size, bed.raw, 1, decoder.metrics, NULL,
                                           NULL, &count, NULL),
                  ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    EXPECT_RESULT(zetMetricTracerDecodeExp(decoder.handle, &size, NULL, 1, decoder.metrics, &sets,
                                           NULL, &count, NULL),
                  ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    size = 0;
    EXPECT_OK(zetMetricTracerDecodeExp(decoder.handle, &size, NULL, 1, decoder.metrics, &sets, NULL,
                                       &count, NULL));
    assert_int_equal(count, 0);
    EXPECT_OK(zetMetricDecoderDestroyExp(decoder.handle));
    bed_free(&bed);
}

/** Every truncation: whole records are decoded, the rest stays for the next call. Rule 13.19. */
static void decode__truncated_data__leaves_the_last_record(void **state)
{
    struct trace_bed bed = collect(2);
    struct trace_decoder decoder = bed_decoder(&bed);

    (void)state;
    for (size_t size = 0; size <= bed.raw_bytes; size++) {
        static const uint32_t counts[] = {0, 0, 3, 7, 10, 14, 14};
        uint8_t *copy = malloc(size + 1);
        struct trace_entries got;

        assert_non_null(copy);
        memcpy(copy, bed.raw, size);
        got = decode_some(&decoder, copy, size, 256);
        assert_int_equal(got.consumed, size / TRACE_RECORD_BYTES * TRACE_RECORD_BYTES);
        assert_int_equal(got.count, counts[size / TRACE_RECORD_BYTES]);
        free(copy);
    }
    EXPECT_OK(zetMetricDecoderDestroyExp(decoder.handle));
    bed_free(&bed);
}

/** Data from the middle of a record, of noise, of zeros: no crash, no more than there is room for.
 Rule 13.19. */
static void decode__foreign_data__gives_only_what_looks_like_events(void **state)
{
    struct trace_bed bed = collect(50);
    struct trace_decoder decoder = bed_decoder(&bed);
    uint32_t noise = 1;

    (void)state;
    for (size_t shift = 1; shift < TRACE_RECORD_BYTES; shift++) {
        struct trace_entries got =
            decode_some(&decoder, bed.raw + shift, bed.raw_bytes - shift, 256);

        assert_cmp(got.count, <=, 256);
        assert_cmp(got.consumed, <=, bed.raw_bytes - shift);
    }
    for (size_t i = 0; i < sizeof(bed.raw); i++) {
        noise = noise * 1664525 + 1013904223;
        bed.raw[i] = (uint8_t)(noise >> 24);
    }
    for (size_t i = 0; i < 200; i++)
        (void)decode_some(&decoder, bed.raw + 7 * i, 4096 + i, 256);
    memset(bed.raw, 0, sizeof(bed.raw));
    assert_int_equal(decode_some(&decoder, bed.raw, 4096, 256).count, 0);
    EXPECT_OK(zetMetricDecoderDestroyExp(decoder.handle));
    bed_free(&bed);
}

/** A break is no event, and what stands around it decodes. Rule 13.10. */
static void decode__data_with_a_break__goes_on_behind_it(void **state)
{
    struct trace_bed bed = bed_make("trace0");
    struct trace_decoder decoder;
    struct trace_entries got;

    (void)state;
    bed_start(&bed);
    decoder = bed_decoder(&bed);
    bed.control->push("trace0", "kernels", TRACE_BEGIN, 1);
    bed.control->lose("trace0", "kernels", 3);
    bed.control->push("trace0", "kernels", TRACE_BEGIN, 1);
    (void)bed_read(&bed, 1024, ZE_RESULT_WARNING_DROPPED_DATA);
    got = decode_some(&decoder, bed.raw, bed.raw_bytes, 256);
    assert_int_equal(got.count, 2 * BEGIN_ENTRIES);
    assert_int_equal(got.entries[3].timeStamp, time_of_event(6));
    assert_int_equal(got.consumed, bed.raw_bytes);
    EXPECT_OK(zetMetricTracerDisableExp(bed.tracer, 1));
    EXPECT_OK(zetMetricDecoderDestroyExp(decoder.handle));
    bed_free(&bed);
}

SUITE(decode)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decode__metrics_listed__those_of_the_groups_that_exist),
        cmocka_unit_test(decode__all_events__entries_in_order_with_values_and_times),
        cmocka_unit_test(decode__counts_asked__nothing_else_is_written),
        cmocka_unit_test(decode__any_room__continues_at_the_bytes_reported),
        cmocka_unit_test(decode__room_below_the_first_event__asks_for_what_it_needs),
        cmocka_unit_test(decode__some_metrics__indexes_are_those_of_the_call),
        cmocka_unit_test(decode__no_metrics__gives_no_entries),
        cmocka_unit_test(decode__two_groups__each_event_has_its_own_entries),
        cmocka_unit_test(decode__tracer_gone_and_group_inactive__still_decodes),
        cmocka_unit_test(decode__handles_of_others__are_refused),
        cmocka_unit_test(decode__metrics_used_elsewhere__are_refused),
        cmocka_unit_test(decode__null_parameters__are_told_apart),
        cmocka_unit_test(decode__truncated_data__leaves_the_last_record),
        cmocka_unit_test(decode__foreign_data__gives_only_what_looks_like_events),
        cmocka_unit_test(decode__data_with_a_break__goes_on_behind_it),
    };

    return cmocka_run_group_tests(tests, set_up, NULL);
}
