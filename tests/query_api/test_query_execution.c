/* Execution queries: what lies between begin and end is not executed. */
#include "tests/query_api/query_bed.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

struct bed {
    const struct harness *h;
    zet_metric_query_pool_handle_t pool;
    zet_metric_query_handle_t query;
    ze_event_pool_handle_t events;
    ze_event_handle_t event[2];
    uint64_t *target;
    ze_kernel_handle_t add;
};

static struct bed make_bed(const struct harness *h)
{
    struct bed bed = {.h = h, .pool = query_bed_pool_of(h, "Work", EXECUTION, 2)};

    bed.query = query_bed_query(bed.pool, 0);
    bed.events = harness_pool(h, ZE_EVENT_POOL_FLAG_HOST_VISIBLE, 2);
    for (uint32_t i = 0; i < 2; i++)
        bed.event[i] = harness_event(bed.events, i);
    bed.target = harness_memory(h, 4 * sizeof(uint64_t));
    bed.add = harness_add_kernel(h, bed.target, 1);
    return bed;
}

static void drop_bed(struct bed *bed)
{
    query_bed_drop(bed->pool, &bed->query, 1);
    for (uint32_t i = 0; i < 2; i++)
        assert_success(zeEventDestroy(bed->event[i]));
    assert_success(zeEventPoolDestroy(bed->events));
    assert_success(zeKernelDestroy(bed->add));
    assert_success(zeMemFree(bed->h->context, bed->target));
}

static void call_back(void *data)
{
    *(uint64_t *)data += 1;
}

/* A word each for a kernel, a copy, a fill and a time stamp. */
static void append_work(const struct bed *bed, ze_command_list_handle_t list,
                        const uint64_t *source)
{
    const uint8_t pattern = 0xff;

    assert_success(harness_launch(list, bed->add, NULL, 0, NULL));
    assert_success(zeCommandListAppendMemoryCopy(list, bed->target + 1, source, sizeof(*source),
                                                 NULL, 0, NULL));
    assert_success(zeCommandListAppendMemoryFill(list, bed->target + 2, &pattern, sizeof(pattern),
                                                 sizeof(uint64_t), NULL, 0, NULL));
    assert_success(zeCommandListAppendWriteGlobalTimestamp(list, bed->target + 3, NULL, 0, NULL));
}

/* Rule 12.12. */
static void between__work_of_every_kind__none_runs(void **state)
{
    struct bed bed = make_bed(*state);
    ze_command_list_handle_t list = harness_list(bed.h);
    uint64_t source = 7;

    assert_success(zetCommandListAppendMetricQueryBegin(list, bed.query));
    append_work(&bed, list, &source);
    assert_success(query_bed_append_end(list, bed.query, NULL));
    query_bed_run(bed.h, list);
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(bed.target[i], 0);
    assert_int_equal(query_bed_value(bed.h, bed.query, "Launches"), 0);
    assert_int_equal(query_bed_value(bed.h, bed.query, "Copies"), 0);
    assert_cmp(query_bed_value(bed.h, bed.query, "GpuTime"), >, 0);
    assert_success(zeCommandListDestroy(list));
    drop_bed(&bed);
}

static void around__before_begin_and_after_end__runs(void **state)
{
    struct bed bed = make_bed(*state);
    ze_command_list_handle_t list = harness_list(bed.h);
    uint64_t source = 7;

    assert_success(harness_launch(list, bed.add, NULL, 0, NULL));
    query_bed_append(bed.h, list, bed.query, bed.add);
    append_work(&bed, list, &source);
    query_bed_run(bed.h, list);
    assert_int_equal(bed.target[0], 2);
    assert_int_equal(bed.target[1], 7);
    assert_int_equal(bed.target[2], UINT64_MAX);
    assert_int_not_equal(bed.target[3], 0);
    assert_success(zeCommandListDestroy(list));
    drop_bed(&bed);
}

static void between__host_function__not_called(void **state)
{
    skip_in(HARNESS_ANY_LOADER, "the function is newer than the loader");
    struct bed bed = make_bed(*state);
    ze_command_list_handle_t list = harness_list(bed.h);
    uint64_t calls = 0;

    assert_success(zetCommandListAppendMetricQueryBegin(list, bed.query));
    assert_success(zeCommandListAppendHostFunction(list, call_back, &calls, NULL, NULL, 0, NULL));
    assert_success(query_bed_append_end(list, bed.query, NULL));
    query_bed_run(bed.h, list);
    assert_int_equal(calls, 0);
    assert_success(zeCommandListDestroy(list));
    drop_bed(&bed);
}

/* Rule 12.12. */
static void between__events__waited_for_and_signalled(void **state)
{
    struct bed bed = make_bed(*state);
    ze_command_list_handle_t list = harness_immediate(bed.h, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);

    assert_success(zetCommandListAppendMetricQueryBegin(list, bed.query));
    assert_success(harness_launch(list, bed.add, bed.event[1], 1, &bed.event[0]));
    assert_success(query_bed_append_end(list, bed.query, NULL));
    assert_result(ZE_RESULT_NOT_READY, zeEventHostSynchronize(bed.event[1], 20000000));
    assert_success(zeEventHostSignal(bed.event[0]));
    assert_success(zeEventHostSynchronize(bed.event[1], UINT64_MAX));
    assert_success(zeCommandListHostSynchronize(list, UINT64_MAX));
    assert_int_equal(bed.target[0], 0);
    assert_success(zeCommandListDestroy(list));
    drop_bed(&bed);
}

/* Rule 12.12. */
static void between__event_reset__done(void **state)
{
    struct bed bed = make_bed(*state);
    ze_command_list_handle_t list = harness_list(bed.h);

    assert_success(zeEventHostSignal(bed.event[0]));
    assert_success(zetCommandListAppendMetricQueryBegin(list, bed.query));
    assert_success(zeCommandListAppendEventReset(list, bed.event[0]));
    assert_success(query_bed_append_end(list, bed.query, NULL));
    query_bed_run(bed.h, list);
    assert_result(ZE_RESULT_NOT_READY, zeEventQueryStatus(bed.event[0]));
    assert_success(zeCommandListDestroy(list));
    drop_bed(&bed);
}

/* Rule 12.12. */
static void between__other_queries__run_and_do_not_end_it(void **state)
{
    struct bed bed = make_bed(*state);
    zet_metric_query_pool_handle_t pool = query_bed_pool(bed.h, 1);
    zet_metric_query_handle_t measured = query_bed_query(pool, 0);
    zet_metric_query_handle_t inner = query_bed_query(bed.pool, 1);
    ze_command_list_handle_t list = harness_list(bed.h);

    assert_success(zetCommandListAppendMetricQueryBegin(list, bed.query));
    query_bed_append(bed.h, list, measured, bed.add);
    query_bed_append(bed.h, list, inner, bed.add);
    assert_success(harness_launch(list, bed.add, NULL, 0, NULL));
    assert_success(query_bed_append_end(list, bed.query, NULL));
    assert_success(harness_launch(list, bed.add, NULL, 0, NULL));
    query_bed_run(bed.h, list);
    assert_int_equal(bed.target[0], 1);
    assert_int_equal(query_bed_value(bed.h, measured, "Launches"), 0);
    assert_int_equal(query_bed_value(bed.h, inner, "Launches"), 0);
    assert_success(zeCommandListDestroy(list));
    assert_success(zetMetricQueryDestroy(inner));
    query_bed_drop(pool, &measured, 1);
    drop_bed(&bed);
}

/* Rule 12.12. */
static void begin__end_in_another_list__rest_of_the_list_is_skipped(void **state)
{
    struct bed bed = make_bed(*state);
    ze_command_queue_handle_t queue = harness_queue(bed.h, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
    ze_command_list_handle_t lists[2] = {harness_list(bed.h), harness_list(bed.h)};

    assert_success(zetCommandListAppendMetricQueryBegin(lists[0], bed.query));
    assert_success(harness_launch(lists[0], bed.add, NULL, 0, NULL));
    assert_success(harness_launch(lists[1], bed.add, NULL, 0, NULL));
    assert_success(query_bed_append_end(lists[1], bed.query, NULL));
    assert_success(zeCommandListClose(lists[0]));
    assert_success(zeCommandListClose(lists[1]));
    assert_success(zeCommandQueueExecuteCommandLists(queue, 2, lists, NULL));
    assert_success(zeCommandQueueSynchronize(queue, UINT64_MAX));
    assert_int_equal(bed.target[0], 1);
    assert_int_equal(query_bed_value(bed.h, bed.query, "Launches"), 1);

    assert_success(zeCommandListReset(lists[0]));
    assert_success(harness_launch(lists[0], bed.add, NULL, 0, NULL));
    query_bed_run(bed.h, lists[0]);
    assert_int_equal(bed.target[0], 2);
    assert_success(zeCommandQueueDestroy(queue));
    for (int i = 0; i < 2; i++)
        assert_success(zeCommandListDestroy(lists[i]));
    drop_bed(&bed);
}

/* Rule 12.12. */
static void between__command_lists_of_an_immediate_list__refused(void **state)
{
    skip_in(HARNESS_LOADER, "the function is newer than the loader");
    struct bed bed = make_bed(*state);
    ze_command_list_handle_t list = harness_list(bed.h);
    ze_command_list_handle_t immediate =
        harness_immediate(bed.h, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);

    assert_success(harness_launch(list, bed.add, NULL, 0, NULL));
    assert_success(zeCommandListClose(list));
    assert_success(zetCommandListAppendMetricQueryBegin(immediate, bed.query));
    assert_result(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
                  zeCommandListImmediateAppendCommandListsExp(immediate, 1, &list, NULL, 0, NULL));
    assert_success(query_bed_append_end(immediate, bed.query, NULL));
    assert_success(zeCommandListImmediateAppendCommandListsExp(immediate, 1, &list, NULL, 0, NULL));
    assert_success(zeCommandListHostSynchronize(immediate, UINT64_MAX));
    assert_int_equal(bed.target[0], 1);
    assert_success(zeCommandListDestroy(immediate));
    assert_success(zeCommandListDestroy(list));
    drop_bed(&bed);
}

/* Rule 12.12. */
static void between__graph__not_executed(void **state)
{
    skip_in(HARNESS_ANY_LOADER, "graphs are newer than the loader");
    struct bed bed = make_bed(*state);
    ze_command_list_handle_t list = harness_immediate(bed.h, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
    ze_graph_handle_t graph = NULL;
    ze_executable_graph_handle_t executable = NULL;

    assert_success(zeCommandListBeginGraphCaptureExt(list, NULL));
    assert_success(harness_launch(list, bed.add, NULL, 0, NULL));
    assert_success(zeCommandListEndGraphCaptureExt(list, NULL, &graph));
    assert_success(zeGraphInstantiateExt(graph, NULL, &executable));
    assert_success(zetCommandListAppendMetricQueryBegin(list, bed.query));
    assert_success(zeCommandListAppendGraphExt(list, executable, NULL, bed.event[0], 0, NULL));
    assert_success(query_bed_append_end(list, bed.query, NULL));
    assert_success(zeEventHostSynchronize(bed.event[0], UINT64_MAX));
    assert_success(zeCommandListHostSynchronize(list, UINT64_MAX));
    assert_int_equal(bed.target[0], 0);
    assert_success(zeCommandListAppendGraphExt(list, executable, NULL, NULL, 0, NULL));
    assert_success(zeCommandListHostSynchronize(list, UINT64_MAX));
    assert_int_equal(bed.target[0], 1);
    assert_success(zeExecutableGraphDestroyExt(executable));
    assert_success(zeGraphDestroyExt(graph));
    assert_success(zeCommandListDestroy(list));
    drop_bed(&bed);
}

/* Rule 12.12. */
static void mutable_list__skipped_launch__cannot_be_changed(void **state)
{
    skip_in(HARNESS_LOADER, "the functions are newer than the loader");
    struct bed bed = make_bed(*state);
    const ze_mutable_command_list_exp_desc_t chained = {
        .stype = ZE_STRUCTURE_TYPE_MUTABLE_COMMAND_LIST_EXP_DESC};
    const ze_command_list_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC,
                                         .pNext = &chained};
    const ze_mutable_command_id_exp_desc_t wanted = {
        .stype = ZE_STRUCTURE_TYPE_MUTABLE_COMMAND_ID_EXP_DESC,
        .flags = ZE_MUTABLE_COMMAND_EXP_FLAG_KERNEL_ARGUMENTS};
    uint64_t value = 9;
    ze_mutable_kernel_argument_exp_desc_t argument = {
        .stype = ZE_STRUCTURE_TYPE_MUTABLE_KERNEL_ARGUMENT_EXP_DESC,
        .argIndex = 1,
        .argSize = sizeof(value),
        .pArgValue = &value};
    const ze_mutable_commands_exp_desc_t change = {
        .stype = ZE_STRUCTURE_TYPE_MUTABLE_COMMANDS_EXP_DESC, .pNext = &argument};
    ze_command_list_handle_t list = NULL;
    uint64_t skipped = 0;
    uint64_t done = 0;

    assert_success(zeCommandListCreate(bed.h->context, bed.h->device, &desc, &list));
    assert_success(zetCommandListAppendMetricQueryBegin(list, bed.query));
    assert_success(zeCommandListGetNextCommandIdExp(list, &wanted, &skipped));
    assert_success(harness_launch(list, bed.add, NULL, 0, NULL));
    assert_success(query_bed_append_end(list, bed.query, NULL));
    assert_success(zeCommandListGetNextCommandIdExp(list, &wanted, &done));
    assert_success(harness_launch(list, bed.add, NULL, 0, NULL));
    assert_success(zeCommandListClose(list));
    argument.commandId = skipped;
    assert_result(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                  zeCommandListUpdateMutableCommandsExp(list, &change));
    argument.commandId = done;
    assert_success(zeCommandListUpdateMutableCommandsExp(list, &change));
    query_bed_run(bed.h, list);
    assert_int_equal(bed.target[0], 9);
    assert_success(zeCommandListDestroy(list));
    drop_bed(&bed);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, query_bed_begin, query_bed_end)

SUITE(query_execution)
{
    const struct CMUnitTest tests[] = {
        TEST(between__work_of_every_kind__none_runs),
        TEST(around__before_begin_and_after_end__runs),
        TEST(between__host_function__not_called),
        TEST(between__events__waited_for_and_signalled),
        TEST(between__event_reset__done),
        TEST(between__other_queries__run_and_do_not_end_it),
        TEST(begin__end_in_another_list__rest_of_the_list_is_skipped),
        TEST(between__command_lists_of_an_immediate_list__refused),
        TEST(between__graph__not_executed),
        TEST(mutable_list__skipped_launch__cannot_be_changed),
    };

    return cmocka_run_group_tests(tests, query_bed_setup, query_bed_teardown);
}
