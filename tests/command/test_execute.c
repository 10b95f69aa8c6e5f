/* Lists executed by immediate lists, copies of lists, and host functions. */
#include "harness.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

#include <stdatomic.h>

static ze_command_list_handle_t cloneable(const struct harness *h)
{
    const ze_command_list_desc_t desc = {.flags = ZE_COMMAND_LIST_FLAG_EXP_CLONEABLE};
    ze_command_list_handle_t list = NULL;

    assert_success(zeCommandListCreate(h->context, h->device, &desc, &list));
    return list;
}

/* Rule 9.1. */
static void clone__source_reset_and_destroyed__still_runs(void **state)
{
    skip_in(HARNESS_VALIDATION, "the layer is older than the flag");
    const struct harness *h = *state;
    uint64_t *sum = harness_memory(h, 64);
    ze_kernel_handle_t add = harness_add_kernel(h, sum, 3);
    ze_command_queue_handle_t queue = harness_queue(h, ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
    ze_event_pool_handle_t pool = harness_pool(h, ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP, 1);
    ze_event_handle_t event = harness_event(pool, 0);
    ze_command_list_handle_t source = cloneable(h);
    ze_command_list_handle_t copy = NULL;
    ze_command_list_handle_t again = NULL;
    ze_kernel_timestamp_result_t *times = harness_memory(h, sizeof(*times));
    ze_group_count_t *counts = harness_memory(h, sizeof(*counts));
    uint32_t *run = harness_memory(h, sizeof(*run));
    const uint32_t pattern = 0x01020304;
    ze_command_list_flags_t flags = 0;

    /* One of each kind of command that keeps something in the list. */
    *counts = (ze_group_count_t){2, 1, 1};
    *run = 1;
    assert_success(harness_launch(source, add, event, 0, NULL));
    assert_success(zeCommandListAppendMemoryFill(source, sum + 4, &pattern, 4, 8, NULL, 1, &event));
    assert_success(zeCommandListAppendLaunchMultipleKernelsIndirect(source, 1, &add, run, counts,
                                                                    NULL, 0, NULL));
    assert_success(
        zeCommandListAppendQueryKernelTimestamps(source, 1, &event, times, NULL, NULL, 0, NULL));
    assert_success(zeCommandListAppendEventReset(source, event));
    assert_result(ZE_RESULT_ERROR_INVALID_ARGUMENT, zeCommandListCreateCloneExp(source, &copy));
    assert_success(zeCommandListClose(source));
    assert_success(zeCommandListCreateCloneExp(source, &copy));
    assert_success(zeCommandListGetFlags(copy, &flags));
    assert_int_equal(flags, ZE_COMMAND_LIST_FLAG_EXP_CLONEABLE);
    assert_success(zeKernelDestroy(add));
    assert_success(zeEventDestroy(event));
    assert_success(zeCommandListReset(source));
    assert_success(zeCommandListDestroy(source));
    assert_success(zeCommandListCreateCloneExp(copy, &again));
    assert_success(zeCommandQueueExecuteCommandLists(queue, 1, &copy, NULL));
    assert_success(zeCommandListDestroy(copy));
    assert_int_equal(sum[0], 3 + 2 * 3);
    assert_int_equal(sum[4], 0x0102030401020304);
    assert_cmp(times->global.kernelEnd, >, times->global.kernelStart);
    *run = 0;
    assert_success(zeCommandQueueExecuteCommandLists(queue, 1, &again, NULL));
    assert_int_equal(sum[0], 3 + 2 * 3 + 3);
    assert_success(zeCommandListDestroy(again));
    assert_int_equal(h->control->live_kernels(), 0);
    assert_success(zeCommandQueueDestroy(queue));
    assert_success(zeEventPoolDestroy(pool));
    assert_success(zeMemFree(h->context, sum));
    assert_success(zeMemFree(h->context, times));
    assert_success(zeMemFree(h->context, counts));
    assert_success(zeMemFree(h->context, run));
}

static void clone__of_other_lists__is_refused(void **state)
{
    const struct harness *h = *state;
    ze_command_list_handle_t plain = harness_list(h);
    ze_command_list_handle_t immediate = harness_immediate(h, ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
    ze_command_list_handle_t copy = NULL;

    assert_success(zeCommandListClose(plain));
    assert_result(ZE_RESULT_ERROR_INVALID_ARGUMENT, zeCommandListCreateCloneExp(plain, &copy));
    assert_non_null(strstr(harness_sentence(h), "CLONEABLE"));
    assert_result(ZE_RESULT_ERROR_INVALID_ARGUMENT, zeCommandListCreateCloneExp(immediate, &copy));
    assert_result(ZE_RESULT_ERROR_INVALID_NULL_POINTER, zeCommandListCreateCloneExp(plain, NULL));
    assert_null(copy);
    assert_success(zeCommandListDestroy(plain));
    assert_success(zeCommandListDestroy(immediate));
}

/* Rule 7.19. */
static void append_lists__between_events__run_in_the_order_of_the_list(void **state)
{
    const struct harness *h = *state;
    uint64_t *sum = harness_memory(h, 8);
    ze_kernel_handle_t add = harness_add_kernel(h, sum, 1);
    ze_event_pool_handle_t pool = harness_pool(h, 0, 2);
    ze_event_handle_t start = harness_event(pool, 0);
    ze_event_handle_t end = harness_event(pool, 1);
    ze_command_list_handle_t list = harness_immediate(h, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
    ze_command_list_handle_t lists[2] = {harness_list(h), harness_list(h)};

    assert_success(harness_launch(lists[0], add, NULL, 0, NULL));
    assert_success(zeCommandListClose(lists[0]));
    assert_result(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                  zeCommandListImmediateAppendCommandListsExp(list, 2, lists, end, 1, &start));
    assert_success(zeCommandListClose(lists[1]));
    assert_success(zeCommandListImmediateAppendCommandListsExp(list, 2, lists, end, 1, &start));
    assert_result(ZE_RESULT_NOT_READY, zeCommandListHostSynchronize(list, 10000000));
    assert_int_equal(*sum, 0);
    assert_success(zeEventHostSignal(start));
    assert_success(zeEventHostSynchronize(end, UINT64_MAX));
    assert_int_equal(*sum, 1);
    assert_success(zeCommandListHostSynchronize(list, UINT64_MAX));
    assert_success(zeCommandListImmediateAppendCommandListsWithParameters(list, 2, lists, NULL,
                                                                          NULL, 0, NULL));
    assert_success(zeCommandListImmediateAppendCommandListsExp(list, 0, lists, NULL, 0, NULL));
    assert_success(zeCommandListHostSynchronize(list, UINT64_MAX));
    assert_int_equal(*sum, 2);
    assert_success(zeCommandListDestroy(list));

    list = harness_immediate(h, ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
    assert_success(zeCommandListImmediateAppendCommandListsExp(list, 1, lists, NULL, 1, &end));
    assert_int_equal(*sum, 3);
    assert_success(zeCommandListDestroy(list));
    for (int i = 0; i < 2; i++)
        assert_success(zeCommandListDestroy(lists[i]));
    assert_success(zeKernelDestroy(add));
    assert_success(zeEventDestroy(start));
    assert_success(zeEventDestroy(end));
    assert_success(zeEventPoolDestroy(pool));
    assert_success(zeMemFree(h->context, sum));
}

static void append_lists__wrong_lists__are_refused(void **state)
{
    const struct harness *h = *state;
    const ze_command_list_desc_t copies = {.commandQueueGroupOrdinal = 1};
    ze_command_list_handle_t list = harness_immediate(h, ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
    ze_command_list_handle_t regular = harness_list(h);
    ze_command_list_handle_t copy = NULL;
    ze_command_list_append_launch_kernel_param_cooperative_desc_t parameter = {
        .stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_APPEND_PARAM_COOPERATIVE_DESC};

    assert_success(zeCommandListClose(regular));
    assert_result(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                  zeCommandListImmediateAppendCommandListsExp(regular, 1, &regular, NULL, 0, NULL));
    assert_result(ZE_RESULT_ERROR_INVALID_COMMAND_LIST_TYPE,
                  zeCommandListImmediateAppendCommandListsExp(list, 1, &list, NULL, 0, NULL));
    assert_success(zeCommandListCreate(h->context, h->device, &copies, &copy));
    assert_success(zeCommandListClose(copy));
    assert_result(ZE_RESULT_ERROR_INVALID_COMMAND_LIST_TYPE,
                  zeCommandListImmediateAppendCommandListsExp(list, 1, &copy, NULL, 0, NULL));
    assert_result(ZE_RESULT_ERROR_INVALID_SIZE,
                  zeCommandListImmediateAppendCommandListsExp(list, 1, &regular, NULL, 1, NULL));
    assert_result(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
                  zeCommandListImmediateAppendCommandListsWithParameters(
                      list, 1, &regular, &parameter, NULL, 0, NULL));
    assert_success(zeCommandListDestroy(list));
    assert_success(zeCommandListDestroy(regular));
    assert_success(zeCommandListDestroy(copy));
}

/* What a host function sees and leaves. */
struct note {
    const uint64_t *sum;
    uint64_t seen;
    atomic_uint calls;
};

static void ZE_CALLBACK_CONV look(void *context)
{
    struct note *note = context;

    note->seen = *note->sum;
    atomic_fetch_add(&note->calls, 1);
}

/* Rule 7.20. */
static void host_function__between_launches__runs_in_order(void **state)
{
    const struct harness *h = *state;
    uint64_t *sum = harness_memory(h, 8);
    ze_kernel_handle_t add = harness_add_kernel(h, sum, 5);
    ze_event_pool_handle_t pool = harness_pool(h, 0, 2);
    ze_event_handle_t start = harness_event(pool, 0);
    ze_event_handle_t end = harness_event(pool, 1);
    ze_command_queue_handle_t queue = harness_queue(h, ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
    ze_command_list_handle_t list = harness_immediate(h, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
    ze_command_list_handle_t regular = harness_list(h);
    struct note note = {.sum = sum};

    assert_success(harness_launch(list, add, NULL, 0, NULL));
    assert_success(zeCommandListAppendHostFunction(list, look, &note, NULL, end, 1, &start));
    assert_success(harness_launch(list, add, NULL, 0, NULL));
    assert_result(ZE_RESULT_NOT_READY, zeEventHostSynchronize(end, 10000000));
    assert_int_equal(atomic_load(&note.calls), 0);
    assert_success(zeEventHostSignal(start));
    assert_success(zeEventHostSynchronize(end, UINT64_MAX));
    assert_int_equal(note.seen, 5);
    assert_success(zeCommandListHostSynchronize(list, UINT64_MAX));
    assert_int_equal(*sum, 10);
    /* A recorded one runs each time. */
    assert_success(zeCommandListAppendHostFunction(regular, look, &note, NULL, NULL, 0, NULL));
    assert_success(zeCommandListClose(regular));
    for (int i = 0; i < 3; i++)
        assert_success(zeCommandQueueExecuteCommandLists(queue, 1, &regular, NULL));
    assert_int_equal(atomic_load(&note.calls), 4);
    assert_int_equal(note.seen, 10);
    assert_result(ZE_RESULT_ERROR_INVALID_NULL_POINTER,
                  zeCommandListAppendHostFunction(list, NULL, &note, NULL, NULL, 0, NULL));
    assert_success(zeCommandListDestroy(list));
    assert_success(zeCommandListDestroy(regular));
    assert_success(zeCommandQueueDestroy(queue));
    assert_success(zeKernelDestroy(add));
    assert_success(zeEventDestroy(start));
    assert_success(zeEventDestroy(end));
    assert_success(zeEventPoolDestroy(pool));
    assert_success(zeMemFree(h->context, sum));
}

/* A host function may take as long as it likes, and other queues go on meanwhile. */
static void ZE_CALLBACK_CONV wait_for_event(void *context)
{
    while (zeEventQueryStatus(context) != ZE_RESULT_SUCCESS)
        ;
}

/* Rules 7.20, 7.25. */
static void host_function__waits_for_another_queue__does_not_dead_lock(void **state)
{
    const struct harness *h = *state;
    ze_event_pool_handle_t pool = harness_pool(h, 0, 2);
    ze_event_handle_t event = harness_event(pool, 0);
    ze_event_handle_t other = harness_event(pool, 1);
    ze_command_list_handle_t first = harness_immediate(h, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
    ze_command_list_handle_t second = harness_immediate(h, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);

    assert_success(
        zeCommandListAppendHostFunction(first, wait_for_event, event, NULL, other, 0, NULL));
    assert_success(zeCommandListAppendSignalEvent(second, event));
    assert_success(zeCommandListAppendWaitOnEvents(second, 1, &other));
    assert_success(zeCommandListHostSynchronize(second, UINT64_MAX));
    assert_success(zeCommandListHostSynchronize(first, UINT64_MAX));
    assert_success(zeCommandListDestroy(first));
    assert_success(zeCommandListDestroy(second));
    assert_success(zeEventDestroy(event));
    assert_success(zeEventDestroy(other));
    assert_success(zeEventPoolDestroy(pool));
}

/* Two queues wait for each other for ever: time-outs end, and so do the queues. Rule 7.21. */
static void waits__in_a_circle__time_out_and_can_be_destroyed(void **state)
{
    const struct harness *h = *state;
    ze_event_pool_handle_t pool = harness_pool(h, 0, 2);
    ze_event_handle_t events[2] = {harness_event(pool, 0), harness_event(pool, 1)};
    ze_command_queue_handle_t queues[2];
    ze_command_list_handle_t lists[2];
    ze_fence_handle_t fence = NULL;
    const ze_fence_desc_t fence_desc = {0};

    for (int i = 0; i < 2; i++) {
        queues[i] = harness_queue(h, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
        lists[i] = harness_list(h);
        assert_success(zeCommandListAppendBarrier(lists[i], events[i], 1, &events[1 - i]));
        assert_success(zeCommandListClose(lists[i]));
    }
    assert_success(zeFenceCreate(queues[1], &fence_desc, &fence));
    assert_success(zeCommandQueueExecuteCommandLists(queues[0], 1, &lists[0], NULL));
    assert_success(zeCommandQueueExecuteCommandLists(queues[1], 1, &lists[1], fence));
    for (int i = 0; i < 2; i++)
        assert_result(ZE_RESULT_NOT_READY, zeCommandQueueSynchronize(queues[i], 20000000));
    assert_result(ZE_RESULT_NOT_READY, zeFenceHostSynchronize(fence, 1000000));
    assert_result(ZE_RESULT_NOT_READY, zeEventHostSynchronize(events[0], 1000000));
    /* Work that nobody can finish is still work: the host breaks the circle, and all is well. */
    assert_result(ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE, zeCommandQueueDestroy(queues[0]));
    assert_success(zeEventHostSignal(events[0]));
    for (int i = 0; i < 2; i++) {
        assert_success(zeCommandQueueSynchronize(queues[i], UINT64_MAX));
        assert_success(zeCommandQueueDestroy(queues[i]));
        assert_success(zeCommandListDestroy(lists[i]));
        assert_success(zeEventDestroy(events[i]));
    }
    assert_success(zeFenceHostSynchronize(fence, 0));
    assert_success(zeFenceDestroy(fence));
    assert_success(zeEventPoolDestroy(pool));
}

SUITE(execute)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clone__source_reset_and_destroyed__still_runs),
        cmocka_unit_test(clone__of_other_lists__is_refused),
        cmocka_unit_test(append_lists__between_events__run_in_the_order_of_the_list),
        cmocka_unit_test(append_lists__wrong_lists__are_refused),
        cmocka_unit_test(host_function__between_launches__runs_in_order),
        cmocka_unit_test(host_function__waits_for_another_queue__does_not_dead_lock),
        cmocka_unit_test(waits__in_a_circle__time_out_and_can_be_destroyed),
    };

    return cmocka_run_group_tests(tests, harness_setup, harness_teardown);
}
