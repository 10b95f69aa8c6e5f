/*
 * What becomes of the calls of the proposal of metric tracers. On a library that notes what it is
 * given (fake.h). C and C++.
 */
#include "fake.h"

#include <zeta/compat/zet_tracer_proposal.h>

#include "calls.h"

#define METRIC_TRACER ((zet_metric_tracer_exp_handle_t)fake_handle(11))

static void create__either_name__is_the_call_of_today(void **state)
{
    zet_metric_tracer_desc_t desc = {ZET_STRUCTURE_TYPE_METRIC_TRACER_DESC_EXP, NULL, 4096};
    zet_metric_group_handle_t group = GROUP;
    zet_metric_tracer_exp_handle_t tracer = NULL;
    zet_metric_tracer_exp_desc_t *now = &desc;

    (void)state;
    expect_call(zetMetricTracerCreate(CONTEXT, fake_device(0), 1, &group, &desc, EVENT, &tracer),
                "zetMetricTracerCreateExp", LOST);
    assert_ptr_equal(seen.context, CONTEXT);
    assert_ptr_equal(seen.handle, fake_device(0));
    assert_ptr_equal(seen.group, &group);
    assert_int_equal(seen.stype, ZET_STRUCTURE_TYPE_METRIC_TRACER_EXP_DESC);
    assert_int_equal(seen.values[0], 1);
    assert_int_equal(seen.values[1], 4096);
    assert_ptr_equal(seen.event, EVENT);
    assert_ptr_equal(seen.out, &tracer);
    expect_call(zetMetricTracerCreateExp(CONTEXT, fake_device(0), 2, &group, now, EVENT, &tracer),
                "zetMetricTracerCreateExp", ZE_RESULT_SUCCESS);
    assert_int_equal(seen.values[0], 2);
}

/* Rule 25.8. */
static void enable_and_disable__one_argument__wait_until_it_is_so(void **state)
{
    ze_result_t (*enable)(zet_metric_tracer_exp_handle_t, ze_bool_t) = zetMetricTracerEnableExp;

    (void)state;
    expect_call(zetMetricTracerEnableExp(METRIC_TRACER), "zetMetricTracerEnableExp", LOST);
    assert_ptr_equal(seen.handle, METRIC_TRACER);
    assert_int_equal(seen.values[0], 1);
    expect_call(zetMetricTracerEnableExp(METRIC_TRACER, 0), "zetMetricTracerEnableExp", LOST);
    assert_int_equal(seen.values[0], 0);
    expect_call(zetMetricTracerDisableExp(METRIC_TRACER), "zetMetricTracerDisableExp", LOST);
    assert_int_equal(seen.values[0], 1);
    expect_call(zetMetricTracerDisableExp(METRIC_TRACER, 0), "zetMetricTracerDisableExp", LOST);
    assert_int_equal(seen.values[0], 0);
    expect_call(enable(METRIC_TRACER, 0), "zetMetricTracerEnableExp", LOST);
    assert_int_equal(seen.values[0], 0);
}

/* The proposal has a size query, which the call of today refuses as it refuses other things.
 * Rule 25.7. */
static void read__size_asked__is_room_for_many_events(void **state)
{
    uint8_t raw[64];
    size_t size = 0;

    (void)state;
    fake_reset();
    fake_result = ZE_RESULT_ERROR_INVALID_ARGUMENT;
    assert_int_equal(zetMetricTracerReadDataExp(METRIC_TRACER, &size, NULL), ZE_RESULT_SUCCESS);
    assert_int_equal(size, 1 << 20);
    size = 0;
    assert_int_equal(zetMetricTracerReadDataExp(METRIC_TRACER, &size, raw), ZE_RESULT_SUCCESS);
    assert_int_equal(size, 1 << 20);
    size = sizeof(raw);
    assert_int_equal(zetMetricTracerReadDataExp(METRIC_TRACER, &size, raw),
                     ZE_RESULT_ERROR_INVALID_ARGUMENT);
    assert_int_equal(size, sizeof(raw));
    size = 0;
    fake_result = ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    assert_int_equal(zetMetricTracerReadDataExp(METRIC_TRACER, &size, NULL),
                     ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    assert_int_equal(size, 0);
    size = sizeof(raw);
    expect_call(zetMetricTracerReadDataExp(METRIC_TRACER, &size, raw), "zetMetricTracerReadDataExp",
                LOST);
    assert_ptr_equal(seen.handle, METRIC_TRACER);
    assert_int_equal(seen.size, sizeof(raw));
    assert_ptr_equal(seen.pointer, raw);
}

static void values__of_the_proposal__are_those_of_today(void **state)
{
    (void)state;
    assert_int_equal(ZET_METRIC_SAMPLING_TYPE_EXP_FLAG_TRACER_BASED,
                     ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EXP_TRACER_BASED);
    assert_int_equal(ZET_STRUCTURE_TYPE_METRIC_TRACER_DESC_EXP, 0x10008);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(create__either_name__is_the_call_of_today),
        cmocka_unit_test(enable_and_disable__one_argument__wait_until_it_is_so),
        cmocka_unit_test(read__size_asked__is_room_for_many_events),
        cmocka_unit_test(values__of_the_proposal__are_those_of_today),
    };

    return cmocka_run_group_tests_name("calls of the proposal", tests, NULL, NULL);
}
