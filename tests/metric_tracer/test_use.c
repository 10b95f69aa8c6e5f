/* Enabling and disabling, and what activation and metric tracers do to each other. */
#include <pthread.h>
#include <string.h>

#include "tests/metric_tracer/trace_bed.h"
#include "tests/support/suite.h"

static int set_up(void **state)
{
    (void)state;
    return zeInit(0) == ZE_RESULT_SUCCESS ? 0 : -1;
}

/* Rule 13.12. */
static void use__enabled_tracer__cannot_be_destroyed(void **state)
{
    struct trace_bed bed = bed_make("trace0");

    (void)state;
    bed_start(&bed);
    EXPECT_RESULT(zetMetricTracerDestroyExp(bed.tracer), ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    expect_sentence("zetMetricTracerDisableExp");
    assert_true(bed.control->is_held("trace0", "kernels"));
    bed.control->push("trace0", "kernels", TRACE_BEGIN, 2);
    assert_int_equal(bed_read(&bed, 1024, ZE_RESULT_SUCCESS), bytes_of(3));
    EXPECT_OK(zetMetricTracerDisableExp(bed.tracer, 1));
    bed_free(&bed);
}

/* Rule 13.12. */
static void use__asynchronous_disable__may_be_destroyed_at_once(void **state)
{
    struct trace_bed bed = bed_make("trace0");

    (void)state;
    bed.control->hold("trace0", true);
    bed_start(&bed);
    EXPECT_OK(zetMetricTracerDisableExp(bed.tracer, 0));
    assert_int_equal(bed.control->counts("trace0").last_synchronous, 0);
    EXPECT_OK(zetMetricTracerDestroyExp(bed.tracer));
    bed.tracer = NULL;
    assert_false(bed.control->is_held("trace0", "kernels"));
    bed_free(&bed);
}

/* Rule 13.6. */
static void use__enable_during_pending_disable__goes_on(void **state)
{
    struct trace_bed bed = bed_make("trace0");

    (void)state;
    bed.control->hold("trace0", true);
    bed_start(&bed);
    EXPECT_OK(zetMetricTracerDisableExp(bed.tracer, 0));
    EXPECT_OK(zetMetricTracerEnableExp(bed.tracer, 0));
    bed.control->hold("trace0", false);
    bed.control->push("trace0", "kernels", TRACE_BEGIN, 1);
    assert_int_equal(bed_read(&bed, 1024, ZE_RESULT_SUCCESS), bytes_of(3));
    assert_int_equal(bed_record(&bed, 2).type, TRACE_BEGIN);
    EXPECT_RESULT(zetMetricTracerDestroyExp(bed.tracer), ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    EXPECT_OK(zetMetricTracerDisableExp(bed.tracer, 1));
    bed_free(&bed);
}

/* Rule 13.6. */
static void use__enabled_and_disabled_again__records_stand_between(void **state)
{
    static const uint16_t types[] = {TRACE_ENABLED, TRACE_BEGIN, TRACE_DISABLED, TRACE_ENABLED,
                                     TRACE_END,     TRACE_END,   TRACE_DISABLED};
    struct trace_bed bed = bed_make("trace0");

    (void)state;
    bed_start(&bed);
    bed.control->push("trace0", "kernels", TRACE_BEGIN, 1);
    EXPECT_OK(zetMetricTracerEnableExp(bed.tracer, 1)); /* is on already */
    EXPECT_OK(zetMetricTracerDisableExp(bed.tracer, 1));
    EXPECT_OK(zetMetricTracerDisableExp(bed.tracer, 1)); /* is off already */
    bed.control->push("trace0", "kernels", TRACE_BEGIN, 5);
    EXPECT_OK(zetMetricTracerEnableExp(bed.tracer, 1));
    bed.control->push("trace0", "kernels", TRACE_END, 2);
    EXPECT_OK(zetMetricTracerDisableExp(bed.tracer, 1));
    assert_int_equal(bed_read(&bed, 4096, ZE_RESULT_SUCCESS), bytes_of(7));
    for (size_t i = 0; i < 7; i++)
        assert_int_equal(bed_record(&bed, i).type, types[i]);
    bed_free(&bed);
}

static void use__backend_cannot_enable__tracer_stays_off(void **state)
{
    struct trace_bed bed = bed_make("trace0");

    (void)state;
    bed_activate(&bed, "KernelEvents", NULL);
    (void)bed_create(&bed, 0, NULL);
    bed.control->refuse_switch("trace0", ZE_RESULT_ERROR_DEVICE_LOST);
    EXPECT_RESULT(zetMetricTracerEnableExp(bed.tracer, 1), ZE_RESULT_ERROR_DEVICE_LOST);
    EXPECT_OK(zetMetricTracerDestroyExp(bed.tracer));
    bed.tracer = NULL;
    bed_free(&bed);
}

/* Rule 13.13. */
static void use__deactivated__stops_and_what_was_collected_stays(void **state)
{
    struct trace_bed bed = bed_make("trace0");

    (void)state;
    bed_start(&bed);
    bed.control->push("trace0", "kernels", TRACE_BEGIN, 4);
    EXPECT_OK(zetContextActivateMetricGroups(bed.context, bed.device, 0, NULL));
    assert_false(bed.control->is_held("trace0", "kernels"));
    /* Its end is told as a disable is. */
    assert_int_equal(bed_read(&bed, bytes_of(2), ZE_RESULT_SUCCESS), bytes_of(2));
    assert_int_equal(bed_read(&bed, 1024, ZE_RESULT_SUCCESS), bytes_of(4));
    assert_int_equal(bed_record(&bed, 5).type, TRACE_DISABLED);
    assert_int_equal(bed_read(&bed, 1024, ZE_RESULT_NOT_READY), 0);
    EXPECT_RESULT(zetMetricTracerEnableExp(bed.tracer, 1), ZE_RESULT_NOT_READY);
    expect_sentence("deactivated");
    EXPECT_OK(zetMetricTracerDisableExp(bed.tracer, 1));
    bed_free(&bed); /* destroys it, although it was enabled last */
}

/* Rule 13.13. */
static void use__deactivated__unit_is_free_for_the_next(void **state)
{
    struct trace_bed bed = bed_make("trace0");
    zet_metric_tracer_exp_handle_t first;

    (void)state;
    bed_start(&bed);
    first = bed.tracer;
    EXPECT_OK(zetContextActivateMetricGroups(bed.context, bed.device, 0, NULL));
    bed_start(&bed);
    EXPECT_OK(zetMetricTracerDestroyExp(first));
    EXPECT_OK(zetMetricTracerDisableExp(bed.tracer, 1));
    bed_free(&bed);
}

/* Rule 13.13. */
static void use__other_groups_activated__refused_while_a_tracer_lives(void **state)
{
    struct trace_bed bed = bed_make("trace0");
    zet_metric_group_handle_t groups[2];

    (void)state;
    bed_activate(&bed, "KernelEvents", NULL);
    (void)bed_create(&bed, 0, NULL);
    groups[0] = find_group(bed.device, "CopyEvents", TRACER_BASED, NULL);
    groups[1] = bed.groups[0];
    EXPECT_RESULT(zetContextActivateMetricGroups(bed.context, bed.device, 1, groups),
                  ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    expect_sentence("a tracer of KernelEvents");
    EXPECT_OK(zetContextActivateMetricGroups(bed.context, bed.device, 2, groups));
    EXPECT_OK(zetMetricTracerEnableExp(bed.tracer, 1));
    EXPECT_OK(zetMetricTracerDisableExp(bed.tracer, 1));
    EXPECT_OK(zetMetricTracerDestroyExp(bed.tracer));
    bed.tracer = NULL;
    EXPECT_OK(zetContextActivateMetricGroups(bed.context, bed.device, 1, groups));
    bed_free(&bed);
}

/* Rule 13.13. */
static void use__metrics_disabled__refused_while_a_tracer_lives(void **state)
{
    struct trace_bed bed = bed_make("trace0");

    (void)state;
    bed_activate(&bed, "KernelEvents", NULL);
    (void)bed_create(&bed, 0, NULL);
    EXPECT_OK(zetContextActivateMetricGroups(bed.context, bed.device, 0, NULL));
    EXPECT_RESULT(zetDeviceDisableMetricsExp(bed.device), ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    expect_sentence("tracer of KernelEvents");
    EXPECT_OK(zetMetricTracerDestroyExp(bed.tracer));
    bed.tracer = NULL;
    EXPECT_OK(zetDeviceDisableMetricsExp(bed.device));
    EXPECT_OK(zetDeviceEnableMetricsExp(bed.device));
    bed_free(&bed);
}

static void use__context_destroyed__tracer_goes_on(void **state)
{
    struct trace_bed bed = bed_make("trace0");

    (void)state;
    bed_start(&bed);
    EXPECT_OK(zeContextDestroy(bed.context));
    bed.context = make_context(bed.device);
    bed.control->push("trace0", "kernels", TRACE_BEGIN, 1);
    assert_int_equal(bed_read(&bed, 1024, ZE_RESULT_SUCCESS), bytes_of(2));
    EXPECT_OK(zetMetricTracerDisableExp(bed.tracer, 1));
    bed_free(&bed);
}

/* Rule 13.21. */
static void use__calculation_of_a_traced_group__is_refused(void **state)
{
    struct trace_bed bed = bed_make("trace0");
    uint8_t raw[64] = {3};
    uint32_t count = 0;
    uint32_t sets = 0;

    (void)state;
    bed_activate(&bed, "KernelEvents", NULL);
    EXPECT_RESULT(zetMetricGroupCalculateMetricValues(
                      bed.groups[0], ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES, sizeof(raw),
                      raw, &count, NULL),
                  ZE_RESULT_ERROR_INVALID_ARGUMENT);
    expect_sentence("zetMetricTracerDecodeExp");
    EXPECT_RESULT(zetMetricGroupCalculateMultipleMetricValuesExp(
                      bed.groups[0], ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES, sizeof(raw),
                      raw, &sets, &count, NULL, NULL),
                  ZE_RESULT_ERROR_INVALID_ARGUMENT);
    bed_free(&bed);
}

SUITE(use)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(use__enabled_tracer__cannot_be_destroyed),
        cmocka_unit_test(use__asynchronous_disable__may_be_destroyed_at_once),
        cmocka_unit_test(use__enable_during_pending_disable__goes_on),
        cmocka_unit_test(use__enabled_and_disabled_again__records_stand_between),
        cmocka_unit_test(use__backend_cannot_enable__tracer_stays_off),
        cmocka_unit_test(use__deactivated__stops_and_what_was_collected_stays),
        cmocka_unit_test(use__deactivated__unit_is_free_for_the_next),
        cmocka_unit_test(use__other_groups_activated__refused_while_a_tracer_lives),
        cmocka_unit_test(use__metrics_disabled__refused_while_a_tracer_lives),
        cmocka_unit_test(use__context_destroyed__tracer_goes_on),
        cmocka_unit_test(use__calculation_of_a_traced_group__is_refused),
    };

    return cmocka_run_group_tests(tests, set_up, NULL);
}
