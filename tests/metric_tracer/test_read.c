/* Reading metric tracers: results in each state, sizes, loss. */
#include <string.h>

#include "core/formula/record/layout.h"
#include "tests/metric_tracer/trace_bed.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

static int set_up(void **state)
{
    (void)state;
    return zeInit(0) == ZE_RESULT_SUCCESS ? 0 : -1;
}

static void read__never_enabled__is_not_ready(void **state)
{
    struct trace_bed bed = bed_make("trace0");

    (void)state;
    bed_activate(&bed, "KernelEvents", NULL);
    (void)bed_create(&bed, 0, NULL);
    assert_int_equal(bed_read(&bed, 1024, ZE_RESULT_NOT_READY), 0);
    bed_free(&bed);
}

/* Rule 13.8. */
static void read__enabled__succeeds_also_with_nothing(void **state)
{
    struct trace_bed bed = bed_make("trace0");

    (void)state;
    bed_start(&bed);
    assert_int_equal(bed_read(&bed, 1024, ZE_RESULT_SUCCESS), bytes_of(1));
    assert_int_equal(bed_record(&bed, 0).type, TRACE_ENABLED);
    assert_int_equal(bed_read(&bed, 1024, ZE_RESULT_SUCCESS), 0);
    bed.control->push("trace0", "kernels", TRACE_BEGIN, 3);
    assert_int_equal(bed_read(&bed, 1024, ZE_RESULT_SUCCESS), bytes_of(3));
    assert_int_equal(bed_read(&bed, 1024, ZE_RESULT_SUCCESS), 0);
    EXPECT_OK(zetMetricTracerDisableExp(bed.tracer, 1));
    bed_free(&bed);
}

/* Rule 13.8. */
static void read__asynchronous_enable__is_not_ready_until_it_takes_effect(void **state)
{
    struct trace_bed bed = bed_make("trace0");

    (void)state;
    bed.control->hold("trace0", true);
    bed_activate(&bed, "KernelEvents", NULL);
    (void)bed_create(&bed, 0, NULL);
    EXPECT_OK(zetMetricTracerEnableExp(bed.tracer, 0));
    assert_int_equal(bed_read(&bed, 1024, ZE_RESULT_NOT_READY), 0);
    bed.control->hold("trace0", false);
    /* What waited is not lost. */
    assert_int_equal(bed_read(&bed, 1024, ZE_RESULT_SUCCESS), bytes_of(1));
    EXPECT_OK(zetMetricTracerDisableExp(bed.tracer, 1));
    bed_free(&bed);
}

/* Rule 13.8. */
static void read__asynchronous_disable__succeeds_until_no_record_can_come(void **state)
{
    struct trace_bed bed = bed_make("trace0");

    (void)state;
    bed.control->hold("trace0", true);
    bed_start(&bed);
    EXPECT_OK(zetMetricTracerDisableExp(bed.tracer, 0));
    assert_int_equal(bed_read(&bed, 1024, ZE_RESULT_SUCCESS), bytes_of(2));
    assert_int_equal(bed_read(&bed, 1024, ZE_RESULT_SUCCESS), 0);
    bed.control->push("trace0", "kernels", TRACE_END, 1);
    bed.control->hold("trace0", false);
    assert_int_equal(bed_read(&bed, 1024, ZE_RESULT_SUCCESS), bytes_of(1));
    assert_int_equal(bed_read(&bed, 1024, ZE_RESULT_NOT_READY), 0);
    bed_free(&bed);
}

/* Rule 13.8. */
static void read__disabled_with_data_left__succeeds_until_drained(void **state)
{
    struct trace_bed bed = bed_make("trace0");

    (void)state;
    bed_start(&bed);
    bed.control->push("trace0", "kernels", TRACE_BEGIN, 5);
    EXPECT_OK(zetMetricTracerDisableExp(bed.tracer, 1));
    assert_int_equal(bed_read(&bed, bytes_of(3) + 31, ZE_RESULT_SUCCESS), bytes_of(3));
    assert_int_equal(bed_read(&bed, bytes_of(3), ZE_RESULT_SUCCESS), bytes_of(3));
    assert_int_equal(bed_read(&bed, bytes_of(3), ZE_RESULT_SUCCESS), bytes_of(1));
    assert_int_equal(bed_record(&bed, 6).type, TRACE_DISABLED);
    for (uint32_t i = 0; i < 7; i++)
        assert_int_equal(bed_record(&bed, i).id, i + 1);
    assert_int_equal(bed_read(&bed, 1024, ZE_RESULT_NOT_READY), 0);
    assert_int_equal(bed_read(&bed, 1024, ZE_RESULT_NOT_READY), 0);
    bed_free(&bed);
}

/* Rule 13.9. */
static void read__size_zero_or_no_buffer__is_no_size_query(void **state)
{
    struct trace_bed bed = bed_make("trace0");
    uint8_t raw[64];
    size_t size = 0;

    (void)state;
    bed_start(&bed);
    EXPECT_RESULT(zetMetricTracerReadDataExp(bed.tracer, &size, raw),
                  ZE_RESULT_ERROR_INVALID_ARGUMENT);
    expect_sentence("no size query");
    EXPECT_RESULT(zetMetricTracerReadDataExp(bed.tracer, &size, NULL),
                  ZE_RESULT_ERROR_INVALID_ARGUMENT);
    size = sizeof(raw);
    EXPECT_RESULT(zetMetricTracerReadDataExp(bed.tracer, &size, NULL),
                  ZE_RESULT_ERROR_INVALID_ARGUMENT);
    assert_int_equal(size, sizeof(raw));
    EXPECT_RESULT(zetMetricTracerReadDataExp(bed.tracer, NULL, raw),
                  ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    EXPECT_RESULT(zetMetricTracerReadDataExp(NULL, &size, raw),
                  ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    EXPECT_OK(zetMetricTracerDisableExp(bed.tracer, 1));
    bed_free(&bed);
}

/* Rule 13.9. */
static void read__buffer_below_a_record__is_invalid_size(void **state)
{
    struct trace_bed bed = bed_make("trace0");
    uint8_t raw[TRACE_RECORD_BYTES];
    size_t size = TRACE_RECORD_BYTES - 1;

    (void)state;
    bed_start(&bed);
    EXPECT_RESULT(zetMetricTracerReadDataExp(bed.tracer, &size, raw), ZE_RESULT_ERROR_INVALID_SIZE);
    assert_int_equal(size, TRACE_RECORD_BYTES);
    EXPECT_OK(zetMetricTracerReadDataExp(bed.tracer, &size, raw));
    assert_int_equal(size, TRACE_RECORD_BYTES);
    EXPECT_OK(zetMetricTracerDisableExp(bed.tracer, 1));
    bed_free(&bed);
}

/** What a BREAK slot at a position says; fails if there is none. */
static uint64_t lost_at(const struct trace_bed *bed, size_t index)
{
    static const uint8_t magic[ZETA_SLOT_MAGIC_BYTES] = {
        0x9e, 'z', 'e', 't', 'a', 0x13, 0xc7, 0x52, 0x1d, 0xe8, 0x40, 0xb6, 0x75, 0xf3, 0x2a, 0x8d};
    uint64_t lost;

    assert_memory_equal(bed->raw + bytes_of(index), magic, sizeof(magic));
    memcpy(&lost, bed->raw + bytes_of(index) + 24, sizeof(lost));
    return lost;
}

/* Rule 13.10. */
static void read__records_lost__warns_with_a_break_and_the_data(void **state)
{
    struct trace_bed bed = bed_make("trace0");

    (void)state;
    bed_start(&bed);
    bed.control->push("trace0", "kernels", TRACE_BEGIN, 2);
    bed.control->lose("trace0", "kernels", 7);
    bed.control->push("trace0", "kernels", TRACE_BEGIN, 2);
    assert_int_equal(bed_read(&bed, 1024, ZE_RESULT_WARNING_DROPPED_DATA), bytes_of(6));
    assert_int_equal(lost_at(&bed, 3), 7);
    assert_int_equal(bed_record(&bed, 2).id, 3);
    assert_int_equal(bed_record(&bed, 4).id, 11);
    assert_int_equal(bed_read(&bed, 1024, ZE_RESULT_SUCCESS), 0);
    EXPECT_OK(zetMetricTracerDisableExp(bed.tracer, 1));
    bed_free(&bed);
}

/* Rule 13.10. */
static void read__ring_overflows__oldest_are_lost_and_counted(void **state)
{
    struct trace_bed bed = bed_make("trace0");

    (void)state;
    bed.control->ring(bytes_of(16));
    bed_start(&bed);
    bed.control->push("trace0", "kernels", TRACE_BEGIN, 40); /* 41 records for 16 places */
    assert_int_equal(bed_read(&bed, 4096, ZE_RESULT_WARNING_DROPPED_DATA), bytes_of(17));
    assert_int_equal(lost_at(&bed, 0), 25);
    assert_int_equal(bed_record(&bed, 1).id, 26);
    assert_int_equal(bed_record(&bed, 16).id, 41);
    EXPECT_OK(zetMetricTracerDisableExp(bed.tracer, 1));
    bed_free(&bed);
}

/* Rule 13.9. */
static void read__room_for_one_slot_at_a_break__asks_for_two(void **state)
{
    struct trace_bed bed = bed_make("trace0");
    uint8_t raw[2 * TRACE_RECORD_BYTES];
    size_t size = TRACE_RECORD_BYTES;

    (void)state;
    bed_start(&bed);
    assert_int_equal(bed_read(&bed, 1024, ZE_RESULT_SUCCESS), bytes_of(1));
    bed.control->lose("trace0", "kernels", 1);
    bed.control->push("trace0", "kernels", TRACE_BEGIN, 1);
    EXPECT_RESULT(zetMetricTracerReadDataExp(bed.tracer, &size, raw), ZE_RESULT_ERROR_INVALID_SIZE);
    assert_int_equal(size, 2 * TRACE_RECORD_BYTES);
    EXPECT_RESULT(zetMetricTracerReadDataExp(bed.tracer, &size, raw),
                  ZE_RESULT_WARNING_DROPPED_DATA);
    assert_int_equal(size, 2 * TRACE_RECORD_BYTES);
    EXPECT_OK(zetMetricTracerDisableExp(bed.tracer, 1));
    bed_free(&bed);
}

static void read__device_lost__data_first_then_the_error(void **state)
{
    struct trace_bed bed = bed_make("trace0");

    (void)state;
    bed_start(&bed);
    bed.control->fail_reads("trace0", ZE_RESULT_ERROR_DEVICE_LOST);
    assert_int_equal(bed_read(&bed, 1024, ZE_RESULT_SUCCESS), bytes_of(1));
    EXPECT_RESULT(zetMetricTracerReadDataExp(bed.tracer, &(size_t){64}, bed.raw),
                  ZE_RESULT_ERROR_DEVICE_LOST);
    EXPECT_OK(zetMetricTracerDisableExp(bed.tracer, 1));
    bed_free(&bed);
}

/** Reads of any size give the same bytes one after the other. */
static void read__any_split__concatenates_to_the_same(void **state)
{
    struct trace_bed bed = bed_make("trace0");
    size_t room = 1;
    uint32_t next = 1;

    (void)state;
    bed_start(&bed);
    bed.control->push("trace0", "kernels", TRACE_BEGIN, 500);
    EXPECT_OK(zetMetricTracerDisableExp(bed.tracer, 1));
    for (;;) {
        size_t size = bytes_of(room);
        ze_result_t result = zetMetricTracerReadDataExp(bed.tracer, &size, bed.raw + bed.raw_bytes);

        if (result == ZE_RESULT_NOT_READY)
            break;
        EXPECT_OK(result);
        assert_cmp(size, >, 0);
        assert_cmp(size, <=, bytes_of(room));
        bed.raw_bytes += size;
        room = room % 7 + 1;
    }
    assert_int_equal(bed.raw_bytes, bytes_of(502));
    for (size_t i = 0; i < 502; i++)
        assert_int_equal(bed_record(&bed, i).id, next++);
    bed_free(&bed);
}

SUITE(read)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(read__never_enabled__is_not_ready),
        cmocka_unit_test(read__enabled__succeeds_also_with_nothing),
        cmocka_unit_test(read__asynchronous_enable__is_not_ready_until_it_takes_effect),
        cmocka_unit_test(read__asynchronous_disable__succeeds_until_no_record_can_come),
        cmocka_unit_test(read__disabled_with_data_left__succeeds_until_drained),
        cmocka_unit_test(read__size_zero_or_no_buffer__is_no_size_query),
        cmocka_unit_test(read__buffer_below_a_record__is_invalid_size),
        cmocka_unit_test(read__records_lost__warns_with_a_break_and_the_data),
        cmocka_unit_test(read__ring_overflows__oldest_are_lost_and_counted),
        cmocka_unit_test(read__room_for_one_slot_at_a_break__asks_for_two),
        cmocka_unit_test(read__device_lost__data_first_then_the_error),
        cmocka_unit_test(read__any_split__concatenates_to_the_same),
    };

    return cmocka_run_group_tests(tests, set_up, NULL);
}
