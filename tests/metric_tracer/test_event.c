/* Notification: the event shows whether as many bytes as were asked for can be read. */
#include <string.h>

#include "tests/metric_tracer/trace_bed.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

static int set_up(void **state)
{
    (void)state;
    return zeInit(0) == ZE_RESULT_SUCCESS ? 0 : -1;
}

static void start_with_event(struct trace_bed *bed, const struct test_event *event, uint32_t level)
{
    bed_activate(bed, "KernelEvents", NULL);
    assert_int_equal(bed_create(bed, level, event->event), level);
    EXPECT_OK(zetMetricTracerEnableExp(bed->tracer, 1));
}

static void end_with_event(struct trace_bed *bed, struct test_event *event)
{
    EXPECT_OK(zetMetricTracerDisableExp(bed->tracer, 1));
    EXPECT_OK(zetMetricTracerDestroyExp(bed->tracer));
    bed->tracer = NULL;
    destroy_event(event);
    bed_free(bed);
}

/** Below, at and above the level, and down again by reading. */
static void watch_level(bool descriptors)
{
    struct trace_bed bed = bed_make("trace0");
    struct test_event event = make_event(bed.context);

    bed.control->descriptors(descriptors);
    start_with_event(&bed, &event, 128);
    bed.control->push("trace0", "kernels", TRACE_BEGIN, 2);
    EXPECT_RESULT(zeEventQueryStatus(event.event), ZE_RESULT_NOT_READY);
    bed.control->push("trace0", "kernels", TRACE_BEGIN, 1);
    EXPECT_OK(zeEventHostSynchronize(event.event, UINT64_MAX));
    /* A level: it is there until it is read, whatever the host does. */
    EXPECT_OK(zeEventHostReset(event.event));
    EXPECT_OK(zeEventQueryStatus(event.event));
    assert_int_equal(bed_read(&bed, bytes_of(1), ZE_RESULT_SUCCESS), bytes_of(1));
    EXPECT_RESULT(zeEventQueryStatus(event.event), ZE_RESULT_NOT_READY);
    bed.control->push("trace0", "kernels", TRACE_BEGIN, 1);
    EXPECT_OK(zeEventHostSynchronize(event.event, UINT64_MAX));
    assert_cmp(bed_read(&bed, 1024, ZE_RESULT_SUCCESS), >=, 128);
    EXPECT_RESULT(zeEventQueryStatus(event.event), ZE_RESULT_NOT_READY);
    end_with_event(&bed, &event);
}

/* Rule 13.5. */
static void event__backend_with_descriptor__shows_the_level(void **state)
{
    (void)state;
    watch_level(true);
}

/* Rule 13.5. */
static void event__backend_without_descriptor__shows_the_level(void **state)
{
    (void)state;
    watch_level(false);
}

static void event__nobody_reads__nothing_is_lost_before_the_ring_is_full(void **state)
{
    struct trace_bed bed = bed_make("trace0");
    struct test_event event = make_event(bed.context);

    (void)state;
    start_with_event(&bed, &event, 64);
    for (int i = 0; i < 100; i++)
        bed.control->push("trace0", "kernels", TRACE_BEGIN, 20);
    EXPECT_OK(zeEventHostSynchronize(event.event, UINT64_MAX));
    assert_int_equal(bed_read(&bed, BED_MAX_BYTES, ZE_RESULT_SUCCESS), bytes_of(2001));
    end_with_event(&bed, &event);
}

static void event__destroyed__tracer_goes_on(void **state)
{
    struct trace_bed bed = bed_make("trace0");
    struct test_event event = make_event(bed.context);

    (void)state;
    start_with_event(&bed, &event, 64);
    destroy_event(&event);
    bed.control->push("trace0", "kernels", TRACE_BEGIN, 20);
    assert_int_equal(bed_read(&bed, 4096, ZE_RESULT_SUCCESS), bytes_of(21));
    EXPECT_OK(zetMetricTracerDisableExp(bed.tracer, 1));
    bed_free(&bed);
}

static void event__deactivated__still_shows_what_can_be_read(void **state)
{
    struct trace_bed bed = bed_make("trace0");
    struct test_event event = make_event(bed.context);

    (void)state;
    start_with_event(&bed, &event, 96);
    bed.control->push("trace0", "kernels", TRACE_BEGIN, 1);
    EXPECT_RESULT(zeEventQueryStatus(event.event), ZE_RESULT_NOT_READY);
    EXPECT_OK(zetContextActivateMetricGroups(bed.context, bed.device, 0, NULL));
    EXPECT_OK(zeEventHostSynchronize(event.event, UINT64_MAX));
    assert_int_equal(bed_read(&bed, 1024, ZE_RESULT_SUCCESS), bytes_of(3));
    EXPECT_RESULT(zeEventQueryStatus(event.event), ZE_RESULT_NOT_READY);
    EXPECT_OK(zetMetricTracerDestroyExp(bed.tracer));
    bed.tracer = NULL;
    destroy_event(&event);
    bed_free(&bed);
}

/* Rule 13.5. */
static void event__device_lost__wakes_who_waits(void **state)
{
    struct trace_bed bed = bed_make("trace0");
    struct test_event event = make_event(bed.context);
    uint8_t raw[256];
    size_t size = sizeof(raw);

    (void)state;
    start_with_event(&bed, &event, 512);
    bed.control->fail_reads("trace0", ZE_RESULT_ERROR_DEVICE_LOST);
    assert_int_equal(bed_read(&bed, 1024, ZE_RESULT_SUCCESS), bytes_of(1));
    EXPECT_RESULT(zetMetricTracerReadDataExp(bed.tracer, &size, raw), ZE_RESULT_ERROR_DEVICE_LOST);
    EXPECT_OK(zeEventHostSynchronize(event.event, UINT64_MAX));
    end_with_event(&bed, &event);
}

SUITE(event)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(event__backend_with_descriptor__shows_the_level),
        cmocka_unit_test(event__backend_without_descriptor__shows_the_level),
        cmocka_unit_test(event__nobody_reads__nothing_is_lost_before_the_ring_is_full),
        cmocka_unit_test(event__destroyed__tracer_goes_on),
        cmocka_unit_test(event__deactivated__still_shows_what_can_be_read),
        cmocka_unit_test(event__device_lost__wakes_who_waits),
    };

    return cmocka_run_group_tests(tests, set_up, NULL);
}
