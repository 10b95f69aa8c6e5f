/*
 * What becomes of each call of the provisional 1.0, and of the same call in the form of 1.17, in
 * one source. On a library that notes what it is given (fake.h). C and C++.
 */
#include "fake.h"

#include <zeta/compat/zet_1_0_provisional.h>

#include "calls.h"

static void tracer__garbage_behind_its_type__is_not_passed_on(void **state)
{
    zet_tracer_desc_t desc;
    zet_tracer_handle_t tracer = NULL;
    zet_core_callbacks_t callbacks;
    int user = 0;

    (void)state;
    memset(&callbacks, 0, sizeof(callbacks));
    memset(&desc, 0xa5, sizeof(desc));
    desc.stype = ZET_STRUCTURE_TYPE_TRACER_DESC;
    desc.pUserData = &user;
    expect_call(zetTracerCreate(fake_device(3), &desc, &tracer), "zetTracerExpCreate",
                ZE_RESULT_SUCCESS);
    assert_ptr_equal(seen.context, fake_default_context(0));
    assert_int_equal(seen.stype, ZET_STRUCTURE_TYPE_TRACER_EXP_DESC);
    assert_null(seen.chain);
    assert_ptr_equal(seen.handle, &user);
    assert_ptr_equal(seen.out, &tracer);
    expect_call(zetTracerCreate(fake_driver(1), &desc, &tracer), "zetTracerExpCreate", LOST);
    assert_ptr_equal(seen.context, fake_default_context(1));
    expect_call(zetTracerCreate(fake_driver(1), NULL, &tracer), "zetTracerExpCreate", LOST);
    assert_null(seen.pointer);
    expect_call(zetTracerSetPrologues(TRACER, &callbacks), "zetTracerExpSetPrologues", LOST);
    expect_call(zetTracerSetEpilogues(TRACER, &callbacks), "zetTracerExpSetEpilogues", LOST);
    expect_call(zetTracerSetEnabled(TRACER, 0), "zetTracerExpSetEnabled", LOST);
    expect_call(zetTracerDestroy(TRACER), "zetTracerExpDestroy", LOST);
}

/* Rule 25.4. */
static void properties__garbage_in_front__becomes_type_and_end_of_chain(void **state)
{
    zet_metric_group_properties_t group;
    zet_metric_properties_t metric;
    zet_profile_info_t info[8]; /* room for tokens */

    (void)state;
    memset(&group, 0xa5, sizeof(group));
    expect_call(zetMetricGroupGetProperties(GROUP, &group), "zetMetricGroupGetProperties",
                ZE_RESULT_SUCCESS);
    assert_ptr_equal(seen.pointer, &group);
    assert_int_equal(seen.stype, ZET_STRUCTURE_TYPE_METRIC_GROUP_PROPERTIES);
    assert_null(seen.chain);
    assert_int_equal(group.metricCount, 7);
    memset(&metric, 0xa5, sizeof(metric));
    expect_call(zetMetricGetProperties(METRIC, &metric), "zetMetricGetProperties",
                ZE_RESULT_SUCCESS);
    assert_int_equal(seen.stype, ZET_STRUCTURE_TYPE_METRIC_PROPERTIES);
    assert_null(seen.chain);
    memset(info, 0xa5, sizeof(info));
    expect_call(zetKernelGetProfileInfo(KERNEL, info), "zetKernelGetProfileInfo",
                ZE_RESULT_SUCCESS);
    assert_int_equal(seen.stype, ZET_STRUCTURE_TYPE_PROFILE_PROPERTIES);
    assert_null(seen.chain);
    assert_int_equal(info[0].numTokens, 2);
    expect_call(zetMetricGroupGetProperties(GROUP, NULL), "zetMetricGroupGetProperties", LOST);
    expect_call(zetMetricGetProperties(METRIC, NULL), "zetMetricGetProperties", LOST);
    expect_call(zetKernelGetProfileInfo(KERNEL, NULL), "zetKernelGetProfileInfo", LOST);
}

static void properties__name_in_parentheses__keeps_the_chain(void **state)
{
    zet_metric_group_properties_t group;
    zet_metric_properties_t metric;

    (void)state;
    memset(&group, 0, sizeof(group));
    memset(&metric, 0, sizeof(metric));
    group.pNext = fake_handle(0);
    metric.pNext = fake_handle(0);
    expect_call((zetMetricGroupGetProperties)(GROUP, &group), "zetMetricGroupGetProperties", LOST);
    assert_ptr_equal(seen.chain, fake_handle(0));
    expect_call((zetMetricGetProperties)(METRIC, &metric), "zetMetricGetProperties", LOST);
    assert_ptr_equal(seen.chain, fake_handle(0));
}

static void event_pool__driver_or_context__both_work(void **state)
{
    ze_event_pool_desc_t desc = {ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, NULL,
                                 ZE_EVENT_POOL_FLAG_DEFAULT, 6};
    ze_device_handle_t device = fake_device(0);
    ze_event_pool_handle_t pool = NULL;

    (void)state;
    expect_call(zeEventPoolCreate(fake_driver(0), &desc, 1, &device, &pool), "zeEventPoolCreate",
                ZE_RESULT_SUCCESS);
    assert_ptr_equal(seen.context, fake_default_context(0));
    assert_ptr_equal(seen.pointer, &desc);
    expect_call(zeEventPoolCreate(CONTEXT, &desc, 1, &device, &pool), "zeEventPoolCreate", LOST);
    assert_ptr_equal(seen.context, CONTEXT);
    assert_int_equal(seen.values[0], 0);
    assert_int_equal(seen.values[1], 6);
    assert_ptr_equal(seen.out, &pool);
    /* A driver that the library does not know has no context; the call itself says so. */
    expect_call(zeEventPoolCreate((ze_driver_handle_t)fake_handle(0), &desc, 1, &device, &pool),
                "zeEventPoolCreate", LOST);
    assert_null(seen.context);
}

static void streamer__five_or_six_arguments__both_work(void **state)
{
    zet_metric_streamer_desc_t desc = {ZET_STRUCTURE_TYPE_METRIC_STREAMER_DESC, NULL, 10, 20};
    zet_metric_streamer_handle_t streamer = NULL;

    (void)state;
    expect_call(zetMetricStreamerOpen(fake_device(4), GROUP, &desc, EVENT, &streamer),
                "zetMetricStreamerOpen", ZE_RESULT_SUCCESS);
    assert_ptr_equal(seen.context, fake_default_context(1));
    assert_ptr_equal(seen.handle, fake_device(4));
    assert_ptr_equal(seen.group, GROUP);
    assert_ptr_equal(seen.pointer, &desc);
    assert_ptr_equal(seen.event, EVENT);
    assert_ptr_equal(seen.out, &streamer);
    assert_int_equal(desc.samplingPeriod, 21);
    expect_call(zetMetricStreamerOpen(CONTEXT, fake_device(4), GROUP, &desc, EVENT, &streamer),
                "zetMetricStreamerOpen", LOST);
    assert_ptr_equal(seen.context, CONTEXT);
    fake_reset();
    assert_int_equal(zetMetricStreamerOpen(NULL, GROUP, &desc, EVENT, &streamer),
                     ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    assert_null(seen.function);
}

static void query_pool__four_or_five_arguments__both_work(void **state)
{
    zet_metric_query_pool_desc_t old = {ZET_STRUCTURE_TYPE_METRIC_QUERY_POOL_DESC, NULL,
                                        ZET_METRIC_QUERY_POOL_FLAG_PERFORMANCE, 3};
    struct _zet_metric_query_pool_desc_t now = {ZET_STRUCTURE_TYPE_METRIC_QUERY_POOL_DESC, NULL,
                                                ZET_METRIC_QUERY_POOL_TYPE_EXECUTION, 4};
    zet_metric_query_pool_handle_t pool = NULL;

    (void)state;
    assert_int_equal(sizeof(old), sizeof(now));
    expect_call(zetMetricQueryPoolCreate(fake_device(1), GROUP, &old, &pool),
                "zetMetricQueryPoolCreate", LOST);
    assert_ptr_equal(seen.context, fake_default_context(0));
    assert_ptr_equal(seen.handle, fake_device(1));
    assert_int_equal(seen.stype, ZET_STRUCTURE_TYPE_METRIC_QUERY_POOL_DESC);
    assert_int_equal(seen.values[0], ZET_METRIC_QUERY_POOL_TYPE_PERFORMANCE);
    assert_int_equal(seen.values[1], 3);
    assert_ptr_equal(seen.out, &pool);
    expect_call(zetMetricQueryPoolCreate(CONTEXT, fake_device(1), GROUP, &now, &pool),
                "zetMetricQueryPoolCreate", LOST);
    assert_ptr_equal(seen.context, CONTEXT);
    assert_ptr_equal(seen.pointer, &now);
    expect_call(zetMetricQueryPoolCreate(fake_device(1), GROUP, NULL, &pool),
                "zetMetricQueryPoolCreate", LOST);
    assert_null(seen.pointer);
}

static void activation_and_calculation__old_form__are_those_of_today(void **state)
{
    zet_metric_group_handle_t group = GROUP;
    uint8_t raw[5] = {0};
    uint32_t count = 2;

    (void)state;
    expect_call(zetDeviceActivateMetricGroups(fake_device(2), 1, &group),
                "zetContextActivateMetricGroups", LOST);
    assert_ptr_equal(seen.context, fake_default_context(0));
    assert_ptr_equal(seen.pointer, &group);
    expect_call(zetMetricGroupCalculateMetricValues(GROUP, sizeof(raw), raw, &count, NULL),
                "zetMetricGroupCalculateMetricValues", LOST);
    assert_int_equal(seen.values[0], ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES);
    assert_int_equal(seen.size, 5);
    expect_call(zetMetricGroupCalculateMetricValues(
                    GROUP, ZET_METRIC_GROUP_CALCULATION_TYPE_MAX_METRIC_VALUES, sizeof(raw), raw,
                    &count, NULL),
                "zetMetricGroupCalculateMetricValues", LOST);
    assert_int_equal(seen.values[0], ZET_METRIC_GROUP_CALCULATION_TYPE_MAX_METRIC_VALUES);
}

/* At this level timeouts have 64 bits already. */
static void synchronize__any_timeout__is_passed_on(void **state)
{
    (void)state;
    expect_call(zeEventHostSynchronize(EVENT, UINT32_MAX), "zeEventHostSynchronize", LOST);
    assert_int_equal(seen.size, UINT32_MAX);
}

static void address__of_a_name_that_collides__is_the_function_of_today(void **state)
{
    ze_result_t (*open)(zet_context_handle_t, zet_device_handle_t, zet_metric_group_handle_t,
                        zet_metric_streamer_desc_t *, ze_event_handle_t,
                        zet_metric_streamer_handle_t *) = zetMetricStreamerOpen;
    ze_result_t (*get)(zet_metric_handle_t, zet_metric_properties_t *) = &zetMetricGetProperties;

    (void)state;
    expect_call(open(CONTEXT, fake_device(0), GROUP, NULL, NULL, NULL), "zetMetricStreamerOpen",
                LOST);
    assert_ptr_equal(seen.context, CONTEXT);
    expect_call(get(METRIC, NULL), "zetMetricGetProperties", LOST);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tracer__garbage_behind_its_type__is_not_passed_on),
        cmocka_unit_test(properties__garbage_in_front__becomes_type_and_end_of_chain),
        cmocka_unit_test(properties__name_in_parentheses__keeps_the_chain),
        cmocka_unit_test(event_pool__driver_or_context__both_work),
        cmocka_unit_test(streamer__five_or_six_arguments__both_work),
        cmocka_unit_test(query_pool__four_or_five_arguments__both_work),
        cmocka_unit_test(activation_and_calculation__old_form__are_those_of_today),
        cmocka_unit_test(synchronize__any_timeout__is_passed_on),
        cmocka_unit_test(address__of_a_name_that_collides__is_the_function_of_today),
    };

    return cmocka_run_group_tests_name("calls of the provisional 1.0", tests, NULL, NULL);
}
