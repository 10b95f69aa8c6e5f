/*
 * What becomes of each call of 0.91, and of the same call in the form of 1.17, in one source. On a
 * library that notes what it is given (fake.h). C and C++.
 */
#include "fake.h"

#include <zeta/compat/zet_0_91.h>

#include "calls.h"

static void structs__of_0_91__have_the_layout_of_then(void **state)
{
    (void)state;
    assert_int_equal(sizeof(zet_metric_group_properties_t), 532);
    assert_int_equal(offsetof(zet_metric_group_properties_t, name), 4);
    assert_int_equal(offsetof(zet_metric_group_properties_t, samplingType), 516);
    assert_int_equal(offsetof(zet_metric_group_properties_t, domain), 520);
    assert_int_equal(offsetof(zet_metric_group_properties_t, maxCommandQueueOrdinal), 524);
    assert_int_equal(offsetof(zet_metric_group_properties_t, metricCount), 528);
    assert_int_equal(sizeof(zet_metric_properties_t), 1040);
    assert_int_equal(sizeof(zet_metric_tracer_desc_t), 12);
    assert_int_equal(sizeof(zet_metric_query_pool_desc_t), 12);
    assert_int_equal(sizeof(zet_tracer_desc_t), 16);
    assert_int_equal(sizeof(zet_profile_info_t), 12);
    /* Those of today are still there under their tags. */
    assert_int_equal(sizeof(struct _zet_metric_group_properties_t), 544);
    assert_int_equal(sizeof(struct _zet_metric_properties_t), 1056);
    assert_int_equal(sizeof(struct _zet_metric_query_pool_desc_t), 24);
}

static void init__flags__go_to_ze_init(void **state)
{
    ze_result_t (*init)(uint32_t) = zetInit;

    (void)state;
    expect_call(zetInit(ZE_INIT_FLAG_NONE), "zeInit", ZE_RESULT_SUCCESS);
    assert_int_equal(seen.values[0], 0);
    expect_call(init(ZE_INIT_FLAG_GPU_ONLY), "zeInit", LOST);
    assert_int_equal(seen.values[0], ZE_INIT_FLAG_GPU_ONLY);
}

/* ---------------------------------------------------------------- from devices to contexts */

static void context__of_devices_at_any_depth__is_that_of_their_driver(void **state)
{
    zet_metric_group_handle_t group = GROUP;

    (void)state;
    for (unsigned i = 0; i < 5; i++) {
        expect_call(zetDeviceActivateMetricGroups(fake_device(i), 1, &group),
                    "zetContextActivateMetricGroups", ZE_RESULT_SUCCESS);
        assert_ptr_equal(seen.context, fake_default_context(i == 4));
        assert_ptr_equal(seen.handle, fake_device(i));
        assert_int_equal(seen.values[0], 1);
        assert_ptr_equal(seen.pointer, &group);
    }
    expect_call(zetDeviceActivateMetricGroups(fake_device(0), 0, NULL),
                "zetContextActivateMetricGroups", LOST);
    assert_null(seen.pointer);
    assert_int_equal(fake_contexts_created, 0);
}

/* Rule 25.3. */
static void context__unknown_handle_or_no_drivers__is_an_error(void **state)
{
    zet_metric_tracer_desc_t metric_desc = {ZET_METRIC_TRACER_DESC_VERSION_CURRENT};
    zet_metric_query_pool_desc_t pool_desc = {ZET_METRIC_QUERY_POOL_DESC_VERSION_CURRENT};
    zet_tracer_desc_t tracer_desc = {ZET_TRACER_DESC_VERSION_CURRENT};
    zet_metric_query_pool_handle_t queries = NULL;
    zet_metric_tracer_handle_t metric_tracer = NULL;
    zet_tracer_handle_t tracer = NULL;
    zet_device_handle_t stranger = (zet_device_handle_t)fake_handle(0);
    const ze_result_t null_handle = ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    const ze_result_t too_early = ZE_RESULT_ERROR_UNINITIALIZED;

    (void)state;
    fake_reset();
    expect_no_call(zetDeviceActivateMetricGroups(NULL, 0, NULL), null_handle);
    expect_no_call(zetDeviceActivateMetricGroups(stranger, 0, NULL), null_handle);
    expect_no_call(zetMetricTracerOpen(stranger, GROUP, &metric_desc, NULL, &metric_tracer),
                   null_handle);
    expect_no_call(zetMetricQueryPoolCreate(stranger, GROUP, &pool_desc, &queries), null_handle);
    expect_no_call(zetTracerCreate(stranger, &tracer_desc, &tracer), null_handle);
    expect_no_call(zetTracerCreate(NULL, &tracer_desc, &tracer), null_handle);
    fake_drivers_result = too_early;
    expect_no_call(zetDeviceActivateMetricGroups(fake_device(0), 0, NULL), too_early);
    expect_no_call(zetTracerCreate(fake_driver(0), &tracer_desc, &tracer), too_early);
    assert_null(metric_tracer);
    assert_null(queries);
    assert_null(tracer);
}

/* ---------------------------------------------------------------- events */

static void event_pool__old_and_new_struct_and_handle__all_four_work(void **state)
{
    ze_event_pool_desc_t old = {ZE_EVENT_POOL_DESC_VERSION_CURRENT, ZE_EVENT_POOL_FLAG_TIMESTAMP,
                                9};
    const ze_event_pool_desc_t *constant = &old;
    struct _ze_event_pool_desc_t now = {ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, fake_handle(0),
                                        ZE_EVENT_POOL_FLAG_IPC, 8};
    ze_device_handle_t device = fake_device(4);
    ze_event_pool_handle_t pool = NULL;

    (void)state;
    expect_call(zeEventPoolCreate(fake_driver(1), &old, 1, &device, &pool), "zeEventPoolCreate",
                ZE_RESULT_SUCCESS);
    assert_ptr_equal(seen.context, fake_default_context(1));
    assert_ptr_equal(seen.handle, device);
    assert_int_equal(seen.stype, ZE_STRUCTURE_TYPE_EVENT_POOL_DESC);
    assert_null(seen.chain);
    assert_int_equal(seen.values[0], ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP);
    assert_int_equal(seen.values[1], 9);
    assert_ptr_equal(seen.out, &pool);

    expect_call(zeEventPoolCreate(CONTEXT, constant, 0, NULL, &pool), "zeEventPoolCreate", LOST);
    assert_ptr_equal(seen.context, CONTEXT);
    assert_int_equal(seen.values[1], 9);
    expect_call(zeEventPoolCreate(fake_driver(0), &now, 0, NULL, &pool), "zeEventPoolCreate", LOST);
    assert_ptr_equal(seen.context, fake_default_context(0));
    assert_ptr_equal(seen.pointer, &now);
    expect_call(zeEventPoolCreate(CONTEXT, &now, 0, NULL, &pool), "zeEventPoolCreate", LOST);
    assert_ptr_equal(seen.pointer, &now);
    assert_ptr_equal(seen.chain, fake_handle(0));
}

/* Rule 25.4. */
static void event__old_and_new_struct__both_work(void **state)
{
    ze_event_desc_t old;
    struct _ze_event_desc_t now = {ZE_STRUCTURE_TYPE_EVENT_DESC, fake_handle(0), 1, 2, 4};
    ze_event_handle_t event = NULL;

    (void)state;
    memset(&old, 0xa5, sizeof(old)); /* the version is never looked at */
    old.index = 6;
    old.signal = XE_EVENT_SCOPE_FLAG_HOST;
    old.wait = ZE_EVENT_SCOPE_FLAG_NONE | ZE_EVENT_SCOPE_FLAG_DEVICE;
    expect_call(zeEventCreate(POOL, &old, &event), "zeEventCreate", ZE_RESULT_SUCCESS);
    assert_ptr_equal(seen.handle, POOL);
    assert_int_equal(seen.stype, ZE_STRUCTURE_TYPE_EVENT_DESC);
    assert_null(seen.chain);
    assert_int_equal(seen.values[0], 6);
    assert_int_equal(seen.values[1], ZE_EVENT_SCOPE_FLAG_HOST);
    assert_int_equal(seen.values[2], ZE_EVENT_SCOPE_FLAG_DEVICE);
    expect_call(zeEventCreate(POOL, &now, &event), "zeEventCreate", LOST);
    assert_ptr_equal(seen.pointer, &now);
    assert_ptr_equal(seen.out, &event);
}

/* Rule 25.6. */
static void synchronize__timeout_of_32_bits__waits_for_ever_at_its_greatest(void **state)
{
    const struct {
        uint64_t given;
        uint64_t wanted;
    } cases[] = {{0, 0},
                 {1000, 1000},
                 {UINT32_MAX - 1u, UINT32_MAX - 1u},
                 {UINT32_MAX, UINT64_MAX},
                 {(uint64_t)UINT32_MAX + 1u, (uint64_t)UINT32_MAX + 1u},
                 {UINT64_MAX, UINT64_MAX}};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        expect_call(zeEventHostSynchronize(EVENT, cases[i].given), "zeEventHostSynchronize", LOST);
        assert_int_equal(seen.size, cases[i].wanted);
        assert_ptr_equal(seen.handle, EVENT);
    }
    expect_call((zeEventHostSynchronize)(EVENT, UINT32_MAX), "zeEventHostSynchronize", LOST);
    assert_int_equal(seen.size, UINT32_MAX);
}

/* ---------------------------------------------------------------- tracing and profiling */

/* Rule 25.2. */
static void tracer__driver_or_device__gives_the_context_of_the_driver(void **state)
{
    zet_tracer_desc_t desc;
    zet_tracer_handle_t tracer = NULL;
    zet_core_callbacks_t callbacks;
    int user = 0;

    (void)state;
    memset(&callbacks, 0, sizeof(callbacks));
    memset(&desc, 0xa5, sizeof(desc));
    desc.pUserData = &user;
    expect_call(zetTracerCreate(fake_driver(1), &desc, &tracer), "zetTracerExpCreate",
                ZE_RESULT_SUCCESS);
    assert_ptr_equal(seen.context, fake_default_context(1));
    assert_int_equal(seen.stype, ZET_STRUCTURE_TYPE_TRACER_EXP_DESC);
    assert_null(seen.chain);
    assert_ptr_equal(seen.handle, &user);
    assert_ptr_equal(seen.out, &tracer);
    expect_call(zetTracerCreate(fake_device(3), &desc, &tracer), "zetTracerExpCreate", LOST);
    assert_ptr_equal(seen.context, fake_default_context(0));
    expect_call(zetTracerCreate(fake_device(3), NULL, &tracer), "zetTracerExpCreate", LOST);
    assert_null(seen.pointer);

    expect_call(zetTracerSetPrologues(TRACER, &callbacks), "zetTracerExpSetPrologues", LOST);
    assert_ptr_equal(seen.pointer, &callbacks);
    expect_call(zetTracerSetEpilogues(TRACER, &callbacks), "zetTracerExpSetEpilogues", LOST);
    assert_ptr_equal(seen.pointer, &callbacks);
    expect_call(zetTracerSetEnabled(TRACER, 1), "zetTracerExpSetEnabled", LOST);
    assert_int_equal(seen.values[0], 1);
    expect_call(zetTracerDestroy(TRACER), "zetTracerExpDestroy", LOST);
    assert_ptr_equal(seen.handle, TRACER);
}

static void profile__old_and_new_struct__both_work_and_tokens_stay_behind(void **state)
{
    struct {
        zet_profile_info_t info;
        uint8_t behind[64];
    } old;
    struct {
        zet_profile_properties_t properties;
        uint8_t tokens[64];
    } now;

    (void)state;
    memset(&old, 0xa5, sizeof(old));
    expect_call(zetKernelGetProfileInfo(KERNEL, &old.info), "zetKernelGetProfileInfo",
                ZE_RESULT_SUCCESS);
    assert_ptr_equal(seen.handle, KERNEL);
    assert_int_equal(seen.stype, ZET_STRUCTURE_TYPE_PROFILE_PROPERTIES);
    assert_null(seen.chain);
    assert_int_equal(old.info.flags, 3);
    assert_int_equal(old.info.numTokens, 0);
    for (size_t i = 0; i < sizeof(old.behind); i++)
        assert_int_equal(old.behind[i], 0xa5);
    memset(&now, 0, sizeof(now));
    expect_call(zetKernelGetProfileInfo(KERNEL, &now.properties), "zetKernelGetProfileInfo",
                ZE_RESULT_SUCCESS);
    assert_ptr_equal(seen.pointer, &now.properties);
    assert_int_equal(now.properties.numTokens, 2);
    old.info.flags = 77;
    expect_call(zetKernelGetProfileInfo(KERNEL, &old.info), "zetKernelGetProfileInfo", LOST);
    assert_int_equal(old.info.flags, 77);
}

/* ---------------------------------------------------------------- metrics */

static void group_properties__old_and_new_struct__both_work(void **state)
{
    zet_metric_group_properties_t old;
    struct _zet_metric_group_properties_t now;

    (void)state;
    memset(&old, 0xa5, sizeof(old));
    expect_call(zetMetricGroupGetProperties(GROUP, &old), "zetMetricGroupGetProperties", LOST);
    assert_int_equal(old.domain, 0xa5a5a5a5);
    expect_call(zetMetricGroupGetProperties(GROUP, &old), "zetMetricGroupGetProperties",
                ZE_RESULT_SUCCESS);
    assert_ptr_equal(seen.handle, GROUP);
    assert_int_equal(seen.stype, ZET_STRUCTURE_TYPE_METRIC_GROUP_PROPERTIES);
    assert_null(seen.chain);
    assert_int_equal(old.name[0], 'n');
    assert_int_equal(old.name[sizeof(old.name) - 1], 'n');
    assert_int_equal(old.description[sizeof(old.description) - 1], 'd');
    assert_int_equal(old.samplingType, ZET_METRIC_GROUP_SAMPLING_TYPE_TIME_BASED);
    assert_int_equal(old.domain, 5);
    assert_int_equal(old.maxCommandQueueOrdinal, 0);
    assert_int_equal(old.metricCount, 7);
    now.stype = ZET_STRUCTURE_TYPE_METRIC_GROUP_PROPERTIES;
    now.pNext = fake_handle(0);
    expect_call(zetMetricGroupGetProperties(GROUP, &now), "zetMetricGroupGetProperties",
                ZE_RESULT_SUCCESS);
    assert_ptr_equal(seen.pointer, &now);
    assert_ptr_equal(seen.chain, fake_handle(0));
}

static void metric_properties__old_and_new_struct__both_work(void **state)
{
    zet_metric_properties_t old;
    struct _zet_metric_properties_t now;

    (void)state;
    memset(&old, 0xa5, sizeof(old));
    expect_call(zetMetricGetProperties(METRIC, &old), "zetMetricGetProperties", LOST);
    assert_int_equal(old.tierNumber, 0xa5a5a5a5);
    expect_call(zetMetricGetProperties(METRIC, &old), "zetMetricGetProperties", ZE_RESULT_SUCCESS);
    assert_ptr_equal(seen.handle, METRIC);
    assert_int_equal(seen.stype, ZET_STRUCTURE_TYPE_METRIC_PROPERTIES);
    assert_null(seen.chain);
    assert_int_equal(old.name[sizeof(old.name) - 1], 'n');
    assert_int_equal(old.description[sizeof(old.description) - 1], 'd');
    assert_int_equal(old.component[sizeof(old.component) - 1], 'c');
    assert_int_equal(old.resultUnits[sizeof(old.resultUnits) - 1], 'u');
    assert_int_equal(old.tierNumber, 3);
    assert_int_equal(old.metricType, ZET_METRIC_TYPE_RATIO);
    assert_int_equal(old.resultType, ZET_VALUE_TYPE_FLOAT64);
    now.stype = ZET_STRUCTURE_TYPE_METRIC_PROPERTIES;
    now.pNext = fake_handle(0);
    expect_call(zetMetricGetProperties(METRIC, &now), "zetMetricGetProperties", ZE_RESULT_SUCCESS);
    assert_ptr_equal(seen.pointer, &now);
    assert_ptr_equal(seen.chain, fake_handle(0));
}

static void calculate__five_or_six_arguments__old_ones_mean_values(void **state)
{
    const zet_metric_group_calculation_type_t greatest =
        ZET_METRIC_GROUP_CALCULATION_TYPE_MAX_METRIC_VALUES;
    zet_typed_value_t values[2];
    uint8_t raw[5] = {0};
    uint32_t count = 2;

    (void)state;
    expect_call(zetMetricGroupCalculateMetricValues(GROUP, sizeof(raw), raw, &count, values),
                "zetMetricGroupCalculateMetricValues", LOST);
    assert_ptr_equal(seen.handle, GROUP);
    assert_int_equal(seen.values[0], ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES);
    assert_int_equal(seen.values[1], 2);
    assert_int_equal(seen.size, 5);
    assert_ptr_equal(seen.pointer, raw);
    assert_ptr_equal(seen.out, values);
    expect_call(
        zetMetricGroupCalculateMetricValues(GROUP, greatest, sizeof(raw), raw, &count, values),
        "zetMetricGroupCalculateMetricValues", LOST);
    assert_int_equal(seen.values[0], greatest);
    assert_ptr_equal(seen.out, values);
}

static void metric_tracer__open__is_a_streamer_and_says_what_is_used(void **state)
{
    zet_metric_tracer_desc_t desc;
    zet_metric_tracer_handle_t tracer = NULL;

    (void)state;
    memset(&desc, 0xa5, sizeof(desc));
    desc.notifyEveryNReports = 100;
    desc.samplingPeriod = 2000;
    expect_call(zetMetricTracerOpen(fake_device(4), GROUP, &desc, EVENT, &tracer),
                "zetMetricStreamerOpen", LOST);
    assert_int_equal(desc.notifyEveryNReports, 100);
    assert_int_equal(desc.samplingPeriod, 2000);
    expect_call(zetMetricTracerOpen(fake_device(4), GROUP, &desc, EVENT, &tracer),
                "zetMetricStreamerOpen", ZE_RESULT_SUCCESS);
    assert_ptr_equal(seen.context, fake_default_context(1));
    assert_ptr_equal(seen.handle, fake_device(4));
    assert_ptr_equal(seen.group, GROUP);
    assert_int_equal(seen.stype, ZET_STRUCTURE_TYPE_METRIC_STREAMER_DESC);
    assert_null(seen.chain);
    assert_int_equal(seen.values[0], 100);
    assert_int_equal(seen.values[1], 2000);
    assert_ptr_equal(seen.event, EVENT);
    assert_ptr_equal(seen.out, &tracer);
    assert_int_equal(desc.notifyEveryNReports, 101);
    assert_int_equal(desc.samplingPeriod, 2001);
    expect_call(zetMetricTracerOpen(fake_device(4), GROUP, NULL, EVENT, &tracer),
                "zetMetricStreamerOpen", LOST);
    assert_null(seen.pointer);
}

static void metric_tracer__other_calls__are_those_of_streamers(void **state)
{
    ze_result_t (*read)(zet_metric_streamer_handle_t, uint32_t, size_t *, uint8_t *) =
        zetMetricTracerReadData;
    uint8_t raw[3];
    size_t bytes = sizeof(raw);

    (void)state;
    expect_call(zetMetricTracerReadData(STREAMER, 4, &bytes, raw), "zetMetricStreamerReadData",
                LOST);
    assert_int_equal(seen.values[0], 4);
    assert_int_equal(seen.size, 3);
    assert_ptr_equal(seen.pointer, raw);
    expect_call(read(STREAMER, 5, &bytes, raw), "zetMetricStreamerReadData", LOST);
    expect_call(zetCommandListAppendMetricTracerMarker(LIST, STREAMER, 12),
                "zetCommandListAppendMetricStreamerMarker", LOST);
    assert_ptr_equal(seen.group, STREAMER);
    assert_int_equal(seen.values[0], 12);
    expect_call(zetMetricTracerClose(STREAMER), "zetMetricStreamerClose", LOST);
    assert_ptr_equal(seen.handle, STREAMER);
}

static void query_pool__four_or_five_arguments__both_work(void **state)
{
    zet_metric_query_pool_desc_t old;
    struct _zet_metric_query_pool_desc_t now = {ZET_STRUCTURE_TYPE_METRIC_QUERY_POOL_DESC, NULL,
                                                ZET_METRIC_QUERY_POOL_TYPE_EXECUTION, 4};
    zet_metric_query_pool_handle_t pool = NULL;

    (void)state;
    memset(&old, 0xa5, sizeof(old));
    old.flags = ZET_METRIC_QUERY_POOL_FLAG_SKIP_EXECUTION;
    old.count = 3;
    expect_call(zetMetricQueryPoolCreate(fake_device(1), GROUP, &old, &pool),
                "zetMetricQueryPoolCreate", LOST);
    assert_ptr_equal(seen.context, fake_default_context(0));
    assert_ptr_equal(seen.handle, fake_device(1));
    assert_ptr_equal(seen.group, GROUP);
    assert_int_equal(seen.stype, ZET_STRUCTURE_TYPE_METRIC_QUERY_POOL_DESC);
    assert_null(seen.chain);
    assert_int_equal(seen.values[0], ZET_METRIC_QUERY_POOL_TYPE_EXECUTION);
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

/* Rule 25.5. */
static void query_end__three_or_five_arguments__old_ones_wait_for_nothing(void **state)
{
    ze_event_handle_t waits[2] = {EVENT, EVENT};

    (void)state;
    expect_call(zetCommandListAppendMetricQueryEnd(LIST, QUERY, EVENT),
                "zetCommandListAppendMetricQueryEnd", LOST);
    assert_ptr_equal(seen.handle, LIST);
    assert_ptr_equal(seen.group, QUERY);
    assert_ptr_equal(seen.event, EVENT);
    assert_int_equal(seen.values[0], 0);
    assert_null(seen.pointer);
    expect_call(zetCommandListAppendMetricQueryEnd(LIST, QUERY, NULL, 2, waits),
                "zetCommandListAppendMetricQueryEnd", LOST);
    assert_null(seen.event);
    assert_int_equal(seen.values[0], 2);
    assert_ptr_equal(seen.pointer, waits);
}

/* ---------------------------------------------------------------- names without parentheses */

/* Rule 25.5. */
static void address__of_a_name_that_collides__is_the_function_of_today(void **state)
{
    ze_result_t (*get)(zet_metric_group_handle_t, struct _zet_metric_group_properties_t *) =
        zetMetricGroupGetProperties;
    ze_result_t (*end)(zet_command_list_handle_t, zet_metric_query_handle_t, ze_event_handle_t,
                       uint32_t, ze_event_handle_t *) = zetCommandListAppendMetricQueryEnd;
    ze_result_t (*create)(ze_context_handle_t, const struct _ze_event_pool_desc_t *, uint32_t,
                          ze_device_handle_t *, ze_event_pool_handle_t *) = zeEventPoolCreate;
    ze_result_t (*profile)(zet_kernel_handle_t, zet_profile_properties_t *) =
        &zetKernelGetProfileInfo;

    (void)state;
    expect_call(get(GROUP, NULL), "zetMetricGroupGetProperties", LOST);
    expect_call(end(LIST, QUERY, EVENT, 1, NULL), "zetCommandListAppendMetricQueryEnd", LOST);
    assert_int_equal(seen.values[0], 1);
    expect_call(create(CONTEXT, NULL, 0, NULL, NULL), "zeEventPoolCreate", LOST);
    assert_ptr_equal(seen.context, CONTEXT);
    expect_call(profile(KERNEL, NULL), "zetKernelGetProfileInfo", LOST);
}

/* A call as the argument of a call: macros do not get in each other's way. */
static void calls__inside_each_other__are_all_translated(void **state)
{
    zet_metric_group_properties_t p;

    (void)state;
    memset(&p, 0, sizeof(p));
    expect_call(
        zeEventHostSynchronize(
            EVENT, zetMetricGroupGetProperties(GROUP, &p) == ZE_RESULT_SUCCESS ? UINT32_MAX : 0),
        "zeEventHostSynchronize", ZE_RESULT_SUCCESS);
    assert_int_equal(seen.size, UINT64_MAX);
    assert_int_equal(p.metricCount, 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(structs__of_0_91__have_the_layout_of_then),
        cmocka_unit_test(init__flags__go_to_ze_init),
        cmocka_unit_test(context__of_devices_at_any_depth__is_that_of_their_driver),
        cmocka_unit_test(context__unknown_handle_or_no_drivers__is_an_error),
        cmocka_unit_test(event_pool__old_and_new_struct_and_handle__all_four_work),
        cmocka_unit_test(event__old_and_new_struct__both_work),
        cmocka_unit_test(synchronize__timeout_of_32_bits__waits_for_ever_at_its_greatest),
        cmocka_unit_test(tracer__driver_or_device__gives_the_context_of_the_driver),
        cmocka_unit_test(profile__old_and_new_struct__both_work_and_tokens_stay_behind),
        cmocka_unit_test(group_properties__old_and_new_struct__both_work),
        cmocka_unit_test(metric_properties__old_and_new_struct__both_work),
        cmocka_unit_test(calculate__five_or_six_arguments__old_ones_mean_values),
        cmocka_unit_test(metric_tracer__open__is_a_streamer_and_says_what_is_used),
        cmocka_unit_test(metric_tracer__other_calls__are_those_of_streamers),
        cmocka_unit_test(query_pool__four_or_five_arguments__both_work),
        cmocka_unit_test(query_end__three_or_five_arguments__old_ones_wait_for_nothing),
        cmocka_unit_test(address__of_a_name_that_collides__is_the_function_of_today),
        cmocka_unit_test(calls__inside_each_other__are_all_translated),
    };

    return cmocka_run_group_tests_name("calls of 0.91", tests, NULL, NULL);
}
