/* Counter based events: they follow the newest work, need no reset, and are captured by waits. */
#include "harness.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

static ze_event_handle_t counted(const struct harness *h, ze_event_counter_based_flags_t flags)
{
    const ze_event_counter_based_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_COUNTER_BASED_DESC,
                                                .flags = flags};
    ze_event_handle_t event = NULL;

    assert_success(zeEventCounterBasedCreate(h->context, h->device, &desc, &event));
    return event;
}

static ze_command_list_handle_t in_order_regular(const struct harness *h)
{
    const ze_command_list_desc_t desc = {.flags = ZE_COMMAND_LIST_FLAG_IN_ORDER};
    ze_command_list_handle_t list = NULL;

    assert_success(zeCommandListCreate(h->context, h->device, &desc, &list));
    return list;
}

/* Rule 8.1. */
static void event__new__is_not_ready_until_work_signals_it(void **state)
{
    skip_in(HARNESS_VALIDATION, "the layer is older than the flag for lists in order");
    const struct harness *h = *state;
    ze_event_handle_t event = counted(h, ZE_EVENT_COUNTER_BASED_FLAG_IMMEDIATE |
                                             ZE_EVENT_COUNTER_BASED_FLAG_HOST_VISIBLE);
    ze_command_list_handle_t list = harness_in_order(h);
    ze_event_counter_based_flags_t flags = 0;
    ze_event_pool_handle_t pool = (ze_event_pool_handle_t)event;

    assert_result(ZE_RESULT_NOT_READY, zeEventQueryStatus(event));
    assert_result(ZE_RESULT_NOT_READY, zeEventHostSynchronize(event, 1000));
    assert_success(zeEventGetCounterBasedFlags(event, &flags));
    assert_int_equal(flags, ZE_EVENT_COUNTER_BASED_FLAG_IMMEDIATE |
                                ZE_EVENT_COUNTER_BASED_FLAG_HOST_VISIBLE);
    assert_success(zeEventGetEventPool(event, &pool));
    assert_null(pool);
    assert_success(zeCommandListAppendBarrier(list, event, 0, NULL));
    assert_success(zeEventHostSynchronize(event, UINT64_MAX));
    assert_success(zeEventQueryStatus(event));
    assert_success(zeCommandListDestroy(list));
    assert_success(zeEventQueryStatus(event));
    assert_success(zeEventDestroy(event));
}

/* Rule 8.1. */
static void event__appended_again__is_not_ready_until_the_new_work_ends(void **state)
{
    skip_in(HARNESS_VALIDATION, "the layer is older than the flag for lists in order");
    const struct harness *h = *state;
    ze_event_handle_t event = counted(h, 0);
    ze_command_list_handle_t list = harness_in_order(h);
    ze_kernel_handle_t hold = harness_kernel(h, "hold");

    assert_success(zeCommandListAppendBarrier(list, event, 0, NULL));
    assert_success(zeEventHostSynchronize(event, UINT64_MAX));
    assert_success(harness_launch(list, hold, event, 0, NULL));
    assert_result(ZE_RESULT_NOT_READY, zeEventQueryStatus(event));
    harness_wait_holding(h, 1);
    assert_result(ZE_RESULT_NOT_READY, zeEventQueryStatus(event));
    h->control->release();
    assert_success(zeEventHostSynchronize(event, UINT64_MAX));
    h->control->hold();
    assert_success(zeKernelDestroy(hold));
    assert_success(zeCommandListDestroy(list));
    assert_success(zeEventDestroy(event));
}

/* A wait is for the work that was newest then; that the event goes on to others does not matter.
 * Rule 8.2. */
static void wait__event_follows_other_work_later__ends_with_the_captured_one(void **state)
{
    skip_in(HARNESS_VALIDATION, "the layer is older than the flag for lists in order");
    const struct harness *h = *state;
    ze_event_handle_t event = counted(h, 0);
    ze_event_handle_t done = counted(h, 0);
    ze_command_list_handle_t first = harness_in_order(h);
    ze_command_list_handle_t second = harness_in_order(h);
    ze_command_list_handle_t waiter = harness_in_order(h);
    ze_kernel_handle_t hold = harness_kernel(h, "hold");

    assert_success(zeCommandListAppendBarrier(first, event, 0, NULL));
    assert_success(zeCommandListAppendBarrier(waiter, done, 1, &event));
    assert_success(harness_launch(second, hold, event, 0, NULL));
    /* The second work never ends by itself, and the wait does not see it. */
    assert_success(zeEventHostSynchronize(done, UINT64_MAX));
    assert_result(ZE_RESULT_NOT_READY, zeEventQueryStatus(event));

    /* The other way round: the captured work is held, a later one ends at once. */
    assert_success(zeCommandListAppendBarrier(waiter, done, 1, &event));
    assert_success(zeCommandListAppendBarrier(first, event, 0, NULL));
    assert_success(zeEventHostSynchronize(event, UINT64_MAX));
    assert_result(ZE_RESULT_NOT_READY, zeEventHostSynchronize(done, 20000000));
    h->control->release();
    assert_success(zeEventHostSynchronize(done, UINT64_MAX));
    assert_success(zeCommandListHostSynchronize(second, UINT64_MAX));
    h->control->hold();
    assert_success(zeKernelDestroy(hold));
    assert_success(zeCommandListDestroy(first));
    assert_success(zeCommandListDestroy(second));
    assert_success(zeCommandListDestroy(waiter));
    assert_success(zeEventDestroy(event));
    assert_success(zeEventDestroy(done));
}

/* Rule 8.2. */
static void wait__before_any_work__is_for_the_first_one(void **state)
{
    skip_in(HARNESS_VALIDATION, "the layer is older than the flag for lists in order");
    const struct harness *h = *state;
    ze_event_handle_t event = counted(h, 0);
    ze_command_list_handle_t first = harness_in_order(h);
    ze_command_list_handle_t waiter = harness_in_order(h);

    assert_success(zeCommandListAppendWaitOnEvents(waiter, 1, &event));
    assert_result(ZE_RESULT_NOT_READY, zeCommandListHostSynchronize(waiter, 10000000));
    assert_success(zeCommandListAppendSignalEvent(first, event));
    assert_success(zeCommandListHostSynchronize(waiter, UINT64_MAX));
    assert_success(zeCommandListHostSynchronize(first, UINT64_MAX));
    assert_success(zeCommandListDestroy(first));
    assert_success(zeCommandListDestroy(waiter));
    assert_success(zeEventDestroy(event));
}

/* Each execution of a recorded list is new work; nothing is reset in between. Rule 8.1. */
static void regular_list__executed_again__rearms_the_event_each_time(void **state)
{
    skip_in(HARNESS_VALIDATION, "the layer is older than the flag for lists in order");
    const struct harness *h = *state;
    ze_event_handle_t event = counted(h, ZE_EVENT_COUNTER_BASED_FLAG_NON_IMMEDIATE |
                                             ZE_EVENT_COUNTER_BASED_FLAG_DEVICE_TIMESTAMP);
    ze_command_queue_handle_t queue = harness_queue(h, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
    ze_command_queue_handle_t other = harness_queue(h, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
    ze_command_list_handle_t list = in_order_regular(h);
    ze_command_list_handle_t waiter = harness_list(h);
    uint64_t *sum = harness_memory(h, 16);
    ze_kernel_handle_t add = harness_add_kernel(h, sum, 1);
    ze_kernel_timestamp_result_t times = {0};
    uint64_t last = 0;

    assert_success(harness_launch(list, add, event, 0, NULL));
    assert_result(ZE_RESULT_NOT_READY, zeEventQueryStatus(event));
    assert_success(zeCommandListClose(list));
    /* On another queue: copies the sum when the work of its round is done. */
    assert_success(zeCommandListAppendMemoryCopy(waiter, sum + 1, sum, 8, NULL, 1, &event));
    assert_success(zeCommandListClose(waiter));
    for (uint64_t round = 1; round <= 50; round++) {
        assert_success(zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL));
        assert_success(zeCommandQueueExecuteCommandLists(other, 1, &waiter, NULL));
        assert_success(zeEventHostSynchronize(event, UINT64_MAX));
        assert_int_equal(sum[0], round);
        assert_success(zeEventQueryKernelTimestamp(event, &times));
        assert_int_not_equal(times.global.kernelStart, last);
        assert_int_not_equal(times.global.kernelStart, times.global.kernelEnd);
        last = times.global.kernelStart;
        assert_success(zeCommandQueueSynchronize(other, UINT64_MAX));
        assert_int_equal(sum[1], round);
        assert_success(zeCommandQueueSynchronize(queue, UINT64_MAX));
    }
    assert_success(zeCommandListDestroy(list));
    assert_success(zeCommandListDestroy(waiter));
    assert_success(zeCommandQueueDestroy(queue));
    assert_success(zeCommandQueueDestroy(other));
    assert_success(zeKernelDestroy(add));
    assert_success(zeEventDestroy(event));
    assert_success(zeMemFree(h->context, sum));
}

/* The second execution is in the queue behind a wait for the first one: no dead lock. Rule 8.2. */
static void regular_list__waited_for_between_executions__does_not_dead_lock(void **state)
{
    skip_in(HARNESS_VALIDATION, "the layer is older than the flag for lists in order");
    const struct harness *h = *state;
    ze_event_handle_t event = counted(h, ZE_EVENT_COUNTER_BASED_FLAG_NON_IMMEDIATE);
    ze_command_queue_handle_t queue = harness_queue(h, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
    ze_command_list_handle_t signals = in_order_regular(h);
    ze_command_list_handle_t waits = in_order_regular(h);
    ze_command_list_handle_t lists[4] = {signals, waits, signals, waits};

    assert_success(zeCommandListAppendSignalEvent(signals, event));
    assert_success(zeCommandListClose(signals));
    assert_success(zeCommandListAppendWaitOnEvents(waits, 1, &event));
    assert_success(zeCommandListClose(waits));
    for (int i = 0; i < 20; i++)
        assert_success(zeCommandQueueExecuteCommandLists(queue, 4, lists, NULL));
    assert_success(zeCommandQueueSynchronize(queue, UINT64_MAX));
    assert_success(zeCommandListDestroy(signals));
    assert_success(zeCommandListDestroy(waits));
    assert_success(zeCommandQueueDestroy(queue));
    assert_success(zeEventDestroy(event));
}

/* Rule 8.1. */
static void wrong_use__of_host_and_lists__is_refused(void **state)
{
    skip_in(HARNESS_VALIDATION, "the layer is older than the flag for lists in order");
    const struct harness *h = *state;
    ze_event_handle_t event = counted(h, 0);
    ze_event_pool_handle_t pool = harness_pool(h, 0, 1);
    ze_event_handle_t plain = harness_event(pool, 0);
    ze_command_list_handle_t any = harness_immediate(h, ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
    ze_event_counter_based_desc_t desc = {.flags = 0x80};
    ze_event_handle_t none = NULL;
    uint64_t value = 7;
    uint64_t address = 7;

    assert_result(ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT, zeEventHostSignal(event));
    assert_result(ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT, zeEventHostReset(event));
    assert_result(ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT,
                  zeCommandListAppendEventReset(any, event));
    assert_result(ZE_RESULT_ERROR_INVALID_ARGUMENT, zeCommandListAppendSignalEvent(any, event));
    assert_non_null(strstr(harness_sentence(h), "in order"));
    assert_result(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                  zeEventCounterBasedGetDeviceAddress(plain, &value, &address));
    assert_int_equal(value, 7);
    assert_result(ZE_RESULT_ERROR_INVALID_ENUMERATION,
                  zeEventCounterBasedCreate(h->context, h->device, &desc, &none));
    desc.flags =
        ZE_EVENT_COUNTER_BASED_FLAG_DEVICE_TIMESTAMP | ZE_EVENT_COUNTER_BASED_FLAG_HOST_TIMESTAMP;
    assert_result(ZE_RESULT_ERROR_INVALID_ENUMERATION,
                  zeEventCounterBasedCreate(h->context, h->device, &desc, &none));
    assert_result(ZE_RESULT_ERROR_INVALID_NULL_POINTER,
                  zeEventCounterBasedCreate(h->context, h->device, NULL, &none));
    assert_null(none);
    assert_success(zeCommandListDestroy(any));
    assert_success(zeEventDestroy(plain));
    assert_success(zeEventPoolDestroy(pool));
    assert_success(zeEventDestroy(event));
}

static void pool__made_counter_based__has_such_events(void **state)
{
    skip_in(HARNESS_VALIDATION, "the layer is older than the flag for lists in order");
    const struct harness *h = *state;
    const ze_event_pool_counter_based_exp_desc_t counter = {
        .stype = ZE_STRUCTURE_TYPE_COUNTER_BASED_EVENT_POOL_EXP_DESC,
        .flags = ZE_EVENT_POOL_COUNTER_BASED_EXP_FLAG_IMMEDIATE};
    ze_event_pool_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC,
                                 .pNext = &counter,
                                 .flags = ZE_EVENT_POOL_FLAG_KERNEL_MAPPED_TIMESTAMP,
                                 .count = 2};
    ze_event_query_kernel_timestamps_results_ext_properties_t results = {0};
    ze_synchronized_timestamp_result_ext_t host = {0};
    ze_event_pool_handle_t pool = NULL;
    ze_command_list_handle_t list = harness_in_order(h);
    ze_event_counter_based_flags_t flags = 9;
    uint32_t count = 1;

    assert_success(zeEventPoolCreate(h->context, &desc, 0, NULL, &pool));
    ze_event_handle_t event = harness_event(pool, 1);
    assert_success(zeEventGetCounterBasedFlags(event, &flags));
    assert_int_equal(flags, 0);
    assert_result(ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT, zeEventHostSignal(event));
    for (int i = 0; i < 3; i++) {
        assert_success(zeCommandListAppendBarrier(list, event, 0, NULL));
        assert_success(zeEventHostSynchronize(event, UINT64_MAX));
    }
    results.pSynchronizedTimestampsBuffer = &host;
    assert_success(zeEventQueryKernelTimestampsExt(event, h->device, &count, &results));
    assert_cmp(host.global.kernelEnd, >, host.global.kernelStart);
    desc.flags = ZE_EVENT_POOL_FLAG_IPC;
    assert_result(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
                  zeEventPoolCreate(h->context, &desc, 0, NULL, &pool));
    assert_success(zeEventDestroy(event));
    assert_success(zeEventPoolDestroy(pool));
    assert_success(zeCommandListDestroy(list));
}

/* Each query of a loop writes the times of the launch before it, however late it runs. Rule 8.2. */
static void append_query__event_used_again_before_it_runs__has_its_own_times(void **state)
{
    skip_in(HARNESS_VALIDATION, "the layer is older than the flag for lists in order");
    const struct harness *h = *state;
    ze_event_handle_t event = counted(h, ZE_EVENT_COUNTER_BASED_FLAG_DEVICE_TIMESTAMP);
    ze_command_list_handle_t list = harness_in_order(h);
    ze_kernel_handle_t hold = harness_kernel(h, "hold");
    ze_kernel_timestamp_result_t *times = harness_memory(h, 4 * sizeof(*times));

    assert_success(harness_launch(list, hold, NULL, 0, NULL));
    for (int i = 0; i < 4; i++) {
        assert_success(zeCommandListAppendBarrier(list, event, 0, NULL));
        assert_success(zeCommandListAppendQueryKernelTimestamps(list, 1, &event, &times[i], NULL,
                                                                NULL, 0, NULL));
    }
    h->control->release();
    assert_success(zeCommandListHostSynchronize(list, UINT64_MAX));
    h->control->hold();
    for (int i = 0; i < 4; i++) {
        assert_cmp(times[i].global.kernelEnd, >, times[i].global.kernelStart);
        if (i > 0)
            assert_cmp(times[i].global.kernelStart, >=, times[i - 1].global.kernelEnd);
    }
    assert_success(zeKernelDestroy(hold));
    assert_success(zeCommandListDestroy(list));
    assert_success(zeEventDestroy(event));
    assert_success(zeMemFree(h->context, times));
}

static void lost_work__of_a_counted_event__comes_back_as_an_error(void **state)
{
    skip_in(HARNESS_VALIDATION, "the layer is older than the flag for lists in order");
    const struct harness *h = *state;
    ze_event_handle_t event = counted(h, 0);
    ze_command_list_handle_t list = harness_in_order(h);
    ze_command_list_handle_t waiter = harness_in_order(h);
    ze_kernel_handle_t fault = harness_kernel(h, "fault");

    assert_success(harness_launch(list, fault, event, 0, NULL));
    assert_success(zeCommandListAppendWaitOnEvents(waiter, 1, &event));
    assert_result(ZE_RESULT_ERROR_DEVICE_LOST, zeEventHostSynchronize(event, UINT64_MAX));
    assert_result(ZE_RESULT_ERROR_DEVICE_LOST, zeCommandListHostSynchronize(waiter, UINT64_MAX));
    /* Work that is refused now leaves no value behind that nobody reaches. */
    assert_result(ZE_RESULT_ERROR_DEVICE_LOST, zeCommandListAppendBarrier(list, event, 0, NULL));
    assert_success(zeCommandListDestroy(list));
    assert_success(zeCommandListDestroy(waiter));
    list = harness_in_order(h);
    assert_success(zeCommandListAppendBarrier(list, event, 0, NULL));
    assert_success(zeEventHostSynchronize(event, UINT64_MAX));
    assert_success(zeCommandListDestroy(list));
    assert_success(zeKernelDestroy(fault));
    assert_success(zeEventDestroy(event));
}

/* Rules 8.4, 8.5. */
static void external__memory_of_the_application__decides(void **state)
{
    skip_in(HARNESS_VALIDATION, "the layer is older than the flag for lists in order");
    const struct harness *h = *state;
    uint64_t *counter = harness_memory(h, 64);
    ze_event_counter_based_external_sync_allocation_desc_t sync = {
        .stype = ZE_STRUCTURE_TYPE_EVENT_COUNTER_BASED_EXTERNAL_SYNC_ALLOCATION_DESC,
        .deviceAddress = counter,
        .hostAddress = counter,
        .completionValue = 5};
    const ze_event_counter_based_desc_t desc = {.pNext = &sync};
    ze_command_list_handle_t list = harness_in_order(h);
    ze_event_handle_t event = NULL;
    uint64_t value = 0;
    uint64_t address = 0;
    uint64_t most = 0;

    assert_success(zeDeviceGetCounterBasedEventMaxValue(h->device, &most));
    assert_cmp(most, >=, 5);
    assert_success(zeEventCounterBasedCreate(h->context, h->device, &desc, &event));
    assert_result(ZE_RESULT_NOT_READY, zeEventHostSynchronize(event, 2000000));
    assert_success(zeEventCounterBasedGetDeviceAddress(event, &value, &address));
    assert_int_equal(value, 5);
    assert_int_equal(address, (uintptr_t)counter);
    /* A queue sees what the host writes, although nobody tells it. */
    assert_success(zeCommandListAppendWaitOnEvents(list, 1, &event));
    __atomic_store_n(counter, 4, __ATOMIC_SEQ_CST);
    assert_result(ZE_RESULT_NOT_READY, zeCommandListHostSynchronize(list, 5000000));
    __atomic_store_n(counter, 6, __ATOMIC_SEQ_CST);
    assert_success(zeCommandListHostSynchronize(list, UINT64_MAX));
    assert_success(zeEventHostSynchronize(event, UINT64_MAX));
    /* Work that signals the event takes the place of the memory. */
    __atomic_store_n(counter, 0, __ATOMIC_SEQ_CST);
    assert_result(ZE_RESULT_NOT_READY, zeEventQueryStatus(event));
    assert_success(zeCommandListAppendSignalEvent(list, event));
    assert_success(zeEventHostSynchronize(event, UINT64_MAX));
    assert_int_equal(*counter, 0);
    assert_success(zeEventDestroy(event));

    sync.deviceAddress = &value;
    assert_result(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                  zeEventCounterBasedCreate(h->context, h->device, &desc, &event));
    sync.deviceAddress = (uint64_t *)(void *)((char *)counter + 4);
    assert_result(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                  zeEventCounterBasedCreate(h->context, h->device, &desc, &event));
    assert_success(zeCommandListDestroy(list));
    assert_success(zeMemFree(h->context, counter));
}

/* Rule 8.5. */
static void external__aggregate__is_complete_when_enough_was_added(void **state)
{
    skip_in(HARNESS_VALIDATION, "the layer is older than the flag for lists in order");
    const struct harness *h = *state;
    uint64_t *counter = harness_memory(h, 64);
    uint32_t increment = 0;
    ze_event_counter_based_external_aggregate_storage_desc_t aggregate = {
        .stype = ZE_STRUCTURE_TYPE_EVENT_COUNTER_BASED_EXTERNAL_AGGREGATE_STORAGE_DESC,
        .deviceAddress = counter,
        .incrementValue = 2,
        .completionValue = 6};
    const ze_event_counter_based_desc_t desc = {.pNext = &aggregate};
    ze_command_list_handle_t lists[2] = {harness_in_order(h), harness_in_order(h)};
    ze_event_handle_t event = NULL;

    assert_success(zeDeviceGetAggregatedCopyOffloadIncrementValue(h->device, &increment));
    assert_int_equal(increment, 1);
    assert_success(zeEventCounterBasedCreate(h->context, h->device, &desc, &event));
    for (int i = 0; i < 2; i++) {
        assert_success(zeCommandListAppendSignalEvent(lists[i], event));
        assert_success(zeCommandListHostSynchronize(lists[i], UINT64_MAX));
        assert_result(ZE_RESULT_NOT_READY, zeEventQueryStatus(event));
    }
    assert_int_equal(*counter, 4);
    assert_success(zeCommandListAppendWaitOnEvents(lists[1], 1, &event));
    assert_success(zeCommandListAppendSignalEvent(lists[0], event));
    assert_success(zeCommandListHostSynchronize(lists[1], UINT64_MAX));
    assert_success(zeEventHostSynchronize(event, UINT64_MAX));
    assert_int_equal(*counter, 6);
    aggregate.incrementValue = 0;
    assert_result(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                  zeEventCounterBasedCreate(h->context, h->device, &desc, &event));
    assert_success(zeEventDestroy(event));
    assert_success(zeCommandListDestroy(lists[0]));
    assert_success(zeCommandListDestroy(lists[1]));
    assert_success(zeMemFree(h->context, counter));
}

/* Whoever asks gets an answer, and nobody touches what is not there. Rule 8.4. */
static void external__memory_is_freed__the_event_is_lost(void **state)
{
    skip_in(HARNESS_VALIDATION, "the layer is older than the flag for lists in order");
    const struct harness *h = *state;
    uint64_t *counter = harness_memory(h, 64);
    ze_event_counter_based_external_sync_allocation_desc_t sync = {
        .stype = ZE_STRUCTURE_TYPE_EVENT_COUNTER_BASED_EXTERNAL_SYNC_ALLOCATION_DESC,
        .deviceAddress = counter,
        .hostAddress = counter,
        .completionValue = 5};
    ze_event_counter_based_external_aggregate_storage_desc_t aggregate = {
        .stype = ZE_STRUCTURE_TYPE_EVENT_COUNTER_BASED_EXTERNAL_AGGREGATE_STORAGE_DESC,
        .deviceAddress = counter,
        .incrementValue = 2,
        .completionValue = 6};
    const ze_event_counter_based_desc_t descs[2] = {{.pNext = &sync}, {.pNext = &aggregate}};
    ze_command_list_handle_t adds = harness_in_order(h);
    ze_command_list_handle_t waits = harness_in_order(h);
    ze_event_handle_t events[2] = {NULL};

    for (int i = 0; i < 2; i++)
        assert_success(zeEventCounterBasedCreate(h->context, h->device, &descs[i], &events[i]));
    assert_success(zeMemFree(h->context, counter));
    assert_result(ZE_RESULT_ERROR_DEVICE_LOST, zeEventQueryStatus(events[0]));
    assert_non_null(strstr(harness_sentence(h), "was freed"));
    assert_success(zeCommandListAppendSignalEvent(adds, events[1]));
    assert_success(zeCommandListHostSynchronize(adds, UINT64_MAX));
    assert_result(ZE_RESULT_ERROR_DEVICE_LOST, zeEventHostSynchronize(events[1], UINT64_MAX));
    assert_success(zeCommandListAppendWaitOnEvents(waits, 1, &events[1]));
    assert_result(ZE_RESULT_ERROR_DEVICE_LOST, zeCommandListHostSynchronize(waits, UINT64_MAX));
    for (int i = 0; i < 2; i++)
        assert_success(zeEventDestroy(events[i]));
    assert_success(zeCommandListDestroy(adds));
    assert_success(zeCommandListDestroy(waits));
}

SUITE(counted)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(event__new__is_not_ready_until_work_signals_it),
        cmocka_unit_test(event__appended_again__is_not_ready_until_the_new_work_ends),
        cmocka_unit_test(wait__event_follows_other_work_later__ends_with_the_captured_one),
        cmocka_unit_test(wait__before_any_work__is_for_the_first_one),
        cmocka_unit_test(regular_list__executed_again__rearms_the_event_each_time),
        cmocka_unit_test(regular_list__waited_for_between_executions__does_not_dead_lock),
        cmocka_unit_test(wrong_use__of_host_and_lists__is_refused),
        cmocka_unit_test(pool__made_counter_based__has_such_events),
        cmocka_unit_test(append_query__event_used_again_before_it_runs__has_its_own_times),
        cmocka_unit_test(lost_work__of_a_counted_event__comes_back_as_an_error),
        cmocka_unit_test(external__memory_of_the_application__decides),
        cmocka_unit_test(external__aggregate__is_complete_when_enough_was_added),
        cmocka_unit_test(external__memory_is_freed__the_event_is_lost),
    };

    return cmocka_run_group_tests(tests, harness_setup, harness_teardown);
}
