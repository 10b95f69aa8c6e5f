/* Begin and end in command lists: what is refused, events, activation, tiles. */
#include "tests/query_api/query_bed.h"
#include "tests/support/suite.h"

struct bed {
    const struct harness *h;
    zet_metric_query_pool_handle_t pool;
    zet_metric_query_handle_t query;
    ze_command_list_handle_t list; /**< immediate, asynchronous */
    ze_event_pool_handle_t events;
    ze_event_handle_t event[2];
    ze_kernel_handle_t hold;
};

static struct bed make_bed(const struct harness *h)
{
    struct bed bed = {.h = h, .pool = query_bed_pool(h, 1)};

    bed.query = query_bed_query(bed.pool, 0);
    bed.list = harness_immediate(h, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
    bed.events = harness_pool(h, ZE_EVENT_POOL_FLAG_HOST_VISIBLE, 2);
    for (uint32_t i = 0; i < 2; i++)
        bed.event[i] = harness_event(bed.events, i);
    bed.hold = harness_kernel(h, "hold");
    return bed;
}

static void drop_bed(struct bed *bed)
{
    assert_success(zeCommandListDestroy(bed->list));
    query_bed_drop(bed->pool, &bed->query, 1);
    for (uint32_t i = 0; i < 2; i++)
        assert_success(zeEventDestroy(bed->event[i]));
    assert_success(zeEventPoolDestroy(bed->events));
    assert_success(zeKernelDestroy(bed->hold));
}

static void synchronize(const struct bed *bed)
{
    assert_success(zeCommandListHostSynchronize(bed->list, UINT64_MAX));
}

/* Refusals --------------------------------------------------------------------------------------
 */

static void append__null__documented_results(void **state)
{
    skip_in(HARNESS_READS_HANDLES, "the loader looks behind handles");
    struct bed bed = make_bed(*state);
    ze_event_handle_t none = NULL;

    assert_result(ZE_RESULT_ERROR_INVALID_NULL_HANDLE,
                  zetCommandListAppendMetricQueryBegin(NULL, bed.query));
    assert_result(ZE_RESULT_ERROR_INVALID_NULL_HANDLE,
                  zetCommandListAppendMetricQueryBegin(bed.list, NULL));
    assert_result(ZE_RESULT_ERROR_INVALID_NULL_HANDLE, query_bed_append_end(NULL, bed.query, NULL));
    assert_result(ZE_RESULT_ERROR_INVALID_NULL_HANDLE, query_bed_append_end(bed.list, NULL, NULL));
    assert_result(ZE_RESULT_ERROR_INVALID_NULL_HANDLE,
                  query_bed_append_end(bed.list, bed.query, (ze_event_handle_t)bed.pool));
    assert_result(ZE_RESULT_ERROR_INVALID_NULL_HANDLE,
                  zetCommandListAppendMetricQueryEnd(bed.list, bed.query, NULL, 1, &none));
    assert_result(ZE_RESULT_ERROR_INVALID_NULL_HANDLE,
                  zetCommandListAppendMetricMemoryBarrier(NULL));
    drop_bed(&bed);
}

static void append_end__waits_without_array__invalid_size(void **state)
{
    skip_in(HARNESS_VALIDATION, "the layer calls that a null pointer");
    struct bed bed = make_bed(*state);

    assert_result(ZE_RESULT_ERROR_INVALID_SIZE,
                  zetCommandListAppendMetricQueryEnd(bed.list, bed.query, NULL, 1, NULL));
    drop_bed(&bed);
}

static void append__closed_list__invalid_argument(void **state)
{
    struct bed bed = make_bed(*state);
    ze_command_list_handle_t list = harness_list(bed.h);

    assert_success(zeCommandListClose(list));
    assert_result(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                  zetCommandListAppendMetricQueryBegin(list, bed.query));
    assert_result(ZE_RESULT_ERROR_INVALID_ARGUMENT, query_bed_append_end(list, bed.query, NULL));
    assert_result(ZE_RESULT_ERROR_INVALID_ARGUMENT, zetCommandListAppendMetricMemoryBarrier(list));
    assert_success(zeCommandListDestroy(list));
    drop_bed(&bed);
}

/* Rule 12.11. */
static void append__list_of_another_device__invalid_argument(void **state)
{
    struct bed bed = make_bed(*state);
    struct harness other = query_bed_other(bed.h);
    struct harness root = query_bed_root(bed.h);
    ze_command_list_handle_t lists[2] = {harness_list(&other), harness_list(&root)};

    for (uint32_t i = 0; i < 2; i++) {
        assert_result(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                      zetCommandListAppendMetricQueryBegin(lists[i], bed.query));
        assert_result(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                      query_bed_append_end(lists[i], bed.query, NULL));
        assert_success(zeCommandListDestroy(lists[i]));
    }
    drop_bed(&bed);
}

/* Rule 12.11. */
static void append__queue_group_without_metrics__unsupported(void **state)
{
    struct bed bed = make_bed(*state);
    const ze_command_list_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC,
                                         .commandQueueGroupOrdinal = 1};
    ze_command_list_handle_t list = NULL;

    assert_success(zeCommandListCreate(bed.h->context, bed.h->device, &desc, &list));
    assert_result(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
                  zetCommandListAppendMetricQueryBegin(list, bed.query));
    assert_result(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, query_bed_append_end(list, bed.query, NULL));
    assert_success(zetCommandListAppendMetricMemoryBarrier(list));
    assert_success(zeCommandListDestroy(list));
    drop_bed(&bed);
}

/* Rule 12.4. */
static void begin__group_not_active__not_ready(void **state)
{
    struct bed bed = make_bed(*state);

    query_bed_activate(bed.h, NULL);
    assert_result(ZE_RESULT_NOT_READY, zetCommandListAppendMetricQueryBegin(bed.list, bed.query));
    query_bed_activate(bed.h, query_bed_group(bed.h, "OtherWork", EVENT_BASED));
    assert_result(ZE_RESULT_NOT_READY, zetCommandListAppendMetricQueryBegin(bed.list, bed.query));
    query_bed_activate(bed.h, query_bed_group(bed.h, "Work", TIME_BASED));
    assert_result(ZE_RESULT_NOT_READY, zetCommandListAppendMetricQueryBegin(bed.list, bed.query));
    query_bed_activate(bed.h, query_bed_group(bed.h, "Work", EVENT_BASED));
    query_bed_append(bed.h, bed.list, bed.query, NULL);
    synchronize(&bed);
    drop_bed(&bed);
}

/* Rule 12.4. */
static void begin__active_by_another_context__works(void **state)
{
    const struct harness *h = *state;
    const ze_context_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    struct harness tool = *h;

    query_bed_activate(h, NULL);
    assert_success(zeContextCreate(h->driver, &desc, &tool.context));
    query_bed_activate(&tool, query_bed_group(&tool, "Work", EVENT_BASED));
    struct bed bed = make_bed(h);
    query_bed_append(h, bed.list, bed.query, NULL);
    synchronize(&bed);
    assert_int_equal(query_bed_value(h, bed.query, "Launches"), 0);
    drop_bed(&bed);
    assert_success(zeContextDestroy(tool.context));
}

/* Events ----------------------------------------------------------------------------------------
 */

/* Rule 12.9. */
static void end__signal_event__on_when_the_work_is_over(void **state)
{
    struct bed bed = make_bed(*state);

    assert_success(zetCommandListAppendMetricQueryBegin(bed.list, bed.query));
    assert_success(harness_launch(bed.list, bed.hold, NULL, 0, NULL));
    assert_success(query_bed_append_end(bed.list, bed.query, bed.event[0]));
    harness_wait_holding(bed.h, 1);
    assert_result(ZE_RESULT_NOT_READY, zeEventQueryStatus(bed.event[0]));
    bed.h->control->release();
    synchronize(&bed);
    assert_success(zeEventQueryStatus(bed.event[0]));
    assert_int_equal(query_bed_value(bed.h, bed.query, "Launches"), 1);
    drop_bed(&bed);
}

/* The result is there when the event is: who waits for the event alone can read it. Rule 12.9. */
static void end__event_waited_for__result_is_there(void **state)
{
    struct bed bed = make_bed(*state);

    bed.h->control->release();
    for (int i = 0; i < 50; i++) {
        assert_success(zetCommandListAppendMetricQueryBegin(bed.list, bed.query));
        assert_success(harness_launch(bed.list, bed.hold, NULL, 0, NULL));
        assert_success(query_bed_append_end(bed.list, bed.query, bed.event[0]));
        assert_success(zeEventHostSynchronize(bed.event[0], UINT64_MAX));
        assert_int_equal(query_bed_value(bed.h, bed.query, "Launches"), 1);
        assert_success(zetMetricQueryReset(bed.query));
        assert_success(zeEventHostReset(bed.event[0]));
    }
    synchronize(&bed);
    drop_bed(&bed);
}

/* Rule 12.9. */
static void end__wait_events__honoured(void **state)
{
    struct bed bed = make_bed(*state);
    uint8_t raw[1024];
    size_t bytes = sizeof(raw);

    assert_success(zetCommandListAppendMetricQueryBegin(bed.list, bed.query));
    assert_success(
        zetCommandListAppendMetricQueryEnd(bed.list, bed.query, bed.event[1], 1, &bed.event[0]));
    assert_result(ZE_RESULT_NOT_READY, zeEventHostSynchronize(bed.event[1], 20000000));
    assert_result(ZE_RESULT_NOT_READY, zetMetricQueryGetData(bed.query, &bytes, raw));
    assert_success(zeEventHostSignal(bed.event[0]));
    assert_success(zeEventHostSynchronize(bed.event[1], UINT64_MAX));
    assert_success(zetMetricQueryGetData(bed.query, &bytes, raw));
    synchronize(&bed);
    drop_bed(&bed);
}

/* Odd orders ------------------------------------------------------------------------------------
 */

/* Rule 12.8. */
static void begin__twice__counts_from_the_second(void **state)
{
    struct bed bed = make_bed(*state);

    bed.h->control->release();
    assert_success(zetCommandListAppendMetricQueryBegin(bed.list, bed.query));
    assert_success(harness_launch(bed.list, bed.hold, NULL, 0, NULL));
    assert_success(harness_launch(bed.list, bed.hold, NULL, 0, NULL));
    query_bed_append(bed.h, bed.list, bed.query, bed.hold);
    synchronize(&bed);
    assert_int_equal(query_bed_value(bed.h, bed.query, "Launches"), 1);
    drop_bed(&bed);
}

/* Rule 12.8. */
static void begin__after_a_result__result_is_gone_until_the_end(void **state)
{
    struct bed bed = make_bed(*state);
    uint8_t raw[1024];
    size_t bytes = sizeof(raw);

    query_bed_append(bed.h, bed.list, bed.query, NULL);
    synchronize(&bed);
    assert_success(zetMetricQueryGetData(bed.query, &bytes, raw));
    assert_success(zetCommandListAppendMetricQueryBegin(bed.list, bed.query));
    synchronize(&bed);
    assert_result(ZE_RESULT_NOT_READY, zetMetricQueryGetData(bed.query, &bytes, raw));
    assert_success(query_bed_append_end(bed.list, bed.query, NULL));
    synchronize(&bed);
    assert_success(zetMetricQueryGetData(bed.query, &bytes, raw));
    drop_bed(&bed);
}

/* Rule 12.8. */
static void end__without_begin__the_work_fails_and_says_why(void **state)
{
    struct bed bed = make_bed(*state);
    uint8_t raw[1024];
    size_t bytes = sizeof(raw);

    assert_success(query_bed_append_end(bed.list, bed.query, NULL));
    assert_result(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                  zeCommandListHostSynchronize(bed.list, UINT64_MAX));
    assert_result(ZE_RESULT_NOT_READY, zetMetricQueryGetData(bed.query, &bytes, raw));
    query_bed_append(bed.h, bed.list, bed.query, NULL);
    synchronize(&bed);
    assert_success(zetMetricQueryGetData(bed.query, &bytes, raw));
    drop_bed(&bed);
}

/* Rule 12.8. */
static void begin__list_never_executed__end_elsewhere_fails(void **state)
{
    struct bed bed = make_bed(*state);
    ze_command_list_handle_t list = harness_list(bed.h);

    assert_success(zetCommandListAppendMetricQueryBegin(list, bed.query));
    assert_success(query_bed_append_end(bed.list, bed.query, NULL));
    assert_result(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                  zeCommandListHostSynchronize(bed.list, UINT64_MAX));
    assert_success(zeCommandListDestroy(list));
    drop_bed(&bed);
}

/* Activation ------------------------------------------------------------------------------------
 */

/* Rule 12.6. */
static void activate__query_in_flight__group_is_kept(void **state)
{
    struct bed bed = make_bed(*state);
    zet_metric_group_handle_t work = query_bed_group(bed.h, "Work", EVENT_BASED);
    zet_metric_group_handle_t groups[2] = {work, query_bed_group(bed.h, "Plain", EVENT_BASED)};

    query_bed_append(bed.h, bed.list, bed.query, bed.hold);
    harness_wait_holding(bed.h, 1);
    assert_result(ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE,
                  zetContextActivateMetricGroups(bed.h->context, bed.h->device, 1, &groups[1]));
    assert_success(zetContextActivateMetricGroups(bed.h->context, bed.h->device, 2, groups));
    assert_success(zetContextActivateMetricGroups(bed.h->context, bed.h->device, 1, &work));
    bed.h->control->release();
    synchronize(&bed);
    assert_success(zetContextActivateMetricGroups(bed.h->context, bed.h->device, 1, &groups[1]));
    assert_int_equal(query_bed_value(bed.h, bed.query, "Launches"), 1);
    drop_bed(&bed);
}

/* The list still counts for the group, although neither query nor pool has a handle. Rule 12.6. */
static void activate__pool_destroyed_but_its_list_runs__group_is_kept(void **state)
{
    struct bed bed = make_bed(*state);
    zet_metric_query_pool_handle_t pool = query_bed_pool(bed.h, 1);
    zet_metric_query_handle_t query = query_bed_query(pool, 0);
    zet_metric_group_handle_t plain = query_bed_group(bed.h, "Plain", EVENT_BASED);
    ze_command_queue_handle_t queue = harness_queue(bed.h, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
    ze_command_list_handle_t list = harness_list(bed.h);

    query_bed_append(bed.h, list, query, bed.hold);
    assert_success(zeCommandListClose(list));
    query_bed_drop(pool, &query, 1);
    assert_success(zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL));
    harness_wait_holding(bed.h, 1);
    assert_result(ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE,
                  zetContextActivateMetricGroups(bed.h->context, bed.h->device, 1, &plain));
    bed.h->control->release();
    assert_success(zeCommandQueueSynchronize(queue, UINT64_MAX));
    query_bed_activate(bed.h, plain);
    assert_success(zeCommandListDestroy(list));
    assert_success(zeCommandQueueDestroy(queue));
    drop_bed(&bed);
}

/* What only a recorded list names is in no one's way. Rule 12.7. */
static void disable__pool_destroyed_but_listed__possible(void **state)
{
    skip_in(HARNESS_LOADER, "the function is newer than the loader's metric handles");
    struct bed bed = make_bed(*state);
    ze_command_list_handle_t list = harness_list(bed.h);

    query_bed_append(bed.h, list, bed.query, NULL);
    assert_success(zeCommandListClose(list));
    drop_bed(&bed);
    query_bed_activate(bed.h, NULL);
    assert_success(zetDeviceDisableMetricsExp(bed.h->device));
    assert_success(zetDeviceEnableMetricsExp(bed.h->device));
    assert_success(zeCommandListDestroy(list));
}

/* Rule 12.6. */
static void activate__only_recorded_or_finished__group_may_go(void **state)
{
    struct bed bed = make_bed(*state);
    ze_command_list_handle_t list = harness_list(bed.h);

    query_bed_append(bed.h, list, bed.query, NULL);
    query_bed_activate(bed.h, query_bed_group(bed.h, "Plain", EVENT_BASED));
    query_bed_run(bed.h, list);
    assert_int_equal(query_bed_value(bed.h, bed.query, "Launches"), 0);
    assert_success(zeCommandListDestroy(list));
    drop_bed(&bed);
}

/* Rule 12.6. */
static void activate__event_on_but_report_late__waits_for_the_report(void **state)
{
    struct bed bed = make_bed(*state);

    bed.h->control->set_late(30);
    assert_success(zetCommandListAppendMetricQueryBegin(bed.list, bed.query));
    assert_success(query_bed_append_end(bed.list, bed.query, bed.event[0]));
    assert_success(zeEventHostSynchronize(bed.event[0], UINT64_MAX));
    query_bed_activate(bed.h, query_bed_group(bed.h, "Plain", EVENT_BASED));
    bed.h->control->set_late(0);
    synchronize(&bed);
    drop_bed(&bed);
}

/* Rule 12.6. */
static void deactivate__query_in_flight__succeeds_and_result_comes(void **state)
{
    struct bed bed = make_bed(*state);

    query_bed_append(bed.h, bed.list, bed.query, bed.hold);
    harness_wait_holding(bed.h, 1);
    query_bed_activate(bed.h, NULL);
    bed.h->control->release();
    synchronize(&bed);
    assert_int_equal(query_bed_value(bed.h, bed.query, "Launches"), 1);
    drop_bed(&bed);
}

/* Rule 12.7. */
static void disable__pool_alive__in_use(void **state)
{
    skip_in(HARNESS_LOADER, "the function is newer than the loader's metric handles");
    struct bed bed = make_bed(*state);
    struct harness root = query_bed_root(bed.h);
    struct harness other = query_bed_other(bed.h);

    query_bed_activate(bed.h, NULL);
    assert_result(ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE, zetDeviceDisableMetricsExp(bed.h->device));
    assert_result(ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE, zetDeviceDisableMetricsExp(root.device));
    assert_success(zetDeviceDisableMetricsExp(other.device));
    assert_success(zetDeviceEnableMetricsExp(other.device));
    drop_bed(&bed);
    assert_success(zetDeviceDisableMetricsExp(root.device));
    assert_success(zetDeviceEnableMetricsExp(root.device));
}

/* Tiles -----------------------------------------------------------------------------------------
 */

/* Rule 12.11. */
static void root__pool_of_it__a_set_for_each_tile(void **state)
{
    const struct harness *h = *state;
    struct harness root = query_bed_root(h);
    zet_metric_group_handle_t group;
    zet_metric_query_pool_handle_t pool;
    zet_metric_query_handle_t query;
    uint64_t *target = harness_memory(h, sizeof(*target));
    ze_kernel_handle_t add = harness_add_kernel(h, target, 3);
    ze_command_list_handle_t list;
    uint8_t raw[2048];
    size_t one = 0;
    size_t bytes = 0;
    uint32_t count = 0;

    query_bed_activate(h, NULL);
    group = query_bed_group(&root, "Work", EVENT_BASED);
    query_bed_activate(&root, group);
    pool = query_bed_pool(&root, 1);
    query = query_bed_query(pool, 0);
    for (uint32_t tile = 0; tile < 2; tile++) {
        struct harness on = tile == 0 ? *h : query_bed_other(h);

        list = harness_immediate(&on, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
        assert_success(zetCommandListAppendMetricQueryBegin(list, query));
        if (tile == 0)
            assert_success(harness_launch(list, add, NULL, 0, NULL));
        assert_success(query_bed_append_end(list, query, NULL));
        assert_success(zeCommandListHostSynchronize(list, UINT64_MAX));
        bytes = 0;
        assert_success(zetMetricQueryGetData(query, &bytes, NULL));
        assert_success(zetMetricQueryGetData(query, &bytes, raw));
        assert_int_equal(query_bed_value_in(group, raw, bytes, 0, "Launches"), tile == 0);
        assert_int_equal(query_bed_value_in(group, raw, bytes, 1, "Launches"), 0);
        assert_success(zeCommandListDestroy(list));
    }
    one = bytes / 2;
    bytes = one + 5;
    assert_success(zetMetricQueryGetData(query, &bytes, raw));
    assert_int_equal(bytes, one);
    assert_result(
        ZE_RESULT_ERROR_INVALID_ARGUMENT,
        zetMetricGroupCalculateMetricValues(group, ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES,
                                            bytes, raw, &count, NULL));
    query_bed_drop(pool, &query, 1);
    assert_success(zeKernelDestroy(add));
    assert_success(zeMemFree(h->context, target));
}

/* Rule 12.11. */
static void root__active__pool_of_a_tile_works(void **state)
{
    const struct harness *h = *state;
    struct harness root = query_bed_root(h);
    struct harness other = query_bed_other(h);
    zet_metric_query_pool_handle_t pool;
    zet_metric_query_handle_t query;
    ze_command_list_handle_t list;

    query_bed_activate(h, NULL);
    query_bed_activate(&root, query_bed_group(&root, "Work", EVENT_BASED));
    pool = query_bed_pool(&other, 1);
    query = query_bed_query(pool, 0);
    list = harness_immediate(&other, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
    query_bed_append(&other, list, query, NULL);
    assert_success(zeCommandListHostSynchronize(list, UINT64_MAX));
    assert_int_equal(query_bed_value(&other, query, "Launches"), 0);
    assert_success(zeCommandListDestroy(list));
    query_bed_drop(pool, &query, 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, query_bed_begin, query_bed_end)

SUITE(query_append)
{
    const struct CMUnitTest tests[] = {
        TEST(append__null__documented_results),
        TEST(append_end__waits_without_array__invalid_size),
        TEST(append__closed_list__invalid_argument),
        TEST(append__list_of_another_device__invalid_argument),
        TEST(append__queue_group_without_metrics__unsupported),
        TEST(begin__group_not_active__not_ready),
        TEST(begin__active_by_another_context__works),
        TEST(end__signal_event__on_when_the_work_is_over),
        TEST(end__event_waited_for__result_is_there),
        TEST(end__wait_events__honoured),
        TEST(begin__twice__counts_from_the_second),
        TEST(begin__after_a_result__result_is_gone_until_the_end),
        TEST(end__without_begin__the_work_fails_and_says_why),
        TEST(begin__list_never_executed__end_elsewhere_fails),
        TEST(activate__query_in_flight__group_is_kept),
        TEST(activate__pool_destroyed_but_its_list_runs__group_is_kept),
        TEST(activate__only_recorded_or_finished__group_may_go),
        TEST(activate__event_on_but_report_late__waits_for_the_report),
        TEST(deactivate__query_in_flight__succeeds_and_result_comes),
        TEST(disable__pool_alive__in_use),
        TEST(disable__pool_destroyed_but_listed__possible),
        TEST(root__pool_of_it__a_set_for_each_tile),
        TEST(root__active__pool_of_a_tile_works),
    };

    return cmocka_run_group_tests(tests, query_bed_setup, query_bed_teardown);
}
