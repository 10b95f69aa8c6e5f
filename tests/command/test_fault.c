/* Work that fails: results, sentences, events that never come, and the way back. */
#include "harness.h"
#include "tests/support/suite.h"

#include <pthread.h>

static void fault__asynchronous_queue__is_reported_with_the_sentence(void **state)
{
    const struct harness *h = *state;
    ze_kernel_handle_t kernel = harness_kernel(h, "fault");
    ze_command_queue_handle_t queue = harness_queue(h, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
    ze_command_list_handle_t list = harness_list(h);
    ze_event_pool_handle_t pool = harness_pool(h, ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP, 1);
    ze_event_handle_t event = harness_event(pool, 0);
    const ze_fence_desc_t fence_desc = {.stype = ZE_STRUCTURE_TYPE_FENCE_DESC};
    ze_kernel_timestamp_result_t times;
    ze_fence_handle_t fence = NULL;

    assert_success(zeFenceCreate(queue, &fence_desc, &fence));
    assert_success(harness_launch(list, kernel, event, 0, NULL));
    harness_execute(queue, list, fence);
    assert_result(ZE_RESULT_ERROR_DEVICE_LOST, zeCommandQueueSynchronize(queue, UINT64_MAX));
    assert_non_null(strstr(harness_sentence(h), FAKE_FAULT_SENTENCE));
    assert_result(ZE_RESULT_ERROR_DEVICE_LOST, zeCommandQueueSynchronize(queue, 0));
    assert_result(ZE_RESULT_ERROR_DEVICE_LOST, zeEventHostSynchronize(event, UINT64_MAX));
    assert_non_null(strstr(harness_sentence(h), FAKE_FAULT_SENTENCE));
    assert_result(ZE_RESULT_ERROR_DEVICE_LOST, zeEventQueryStatus(event));
    assert_result(ZE_RESULT_ERROR_DEVICE_LOST, zeEventQueryKernelTimestamp(event, &times));
    assert_result(ZE_RESULT_ERROR_DEVICE_LOST, zeFenceHostSynchronize(fence, UINT64_MAX));
    assert_result(ZE_RESULT_ERROR_DEVICE_LOST, zeDeviceGetStatus(h->device));
    assert_result(ZE_RESULT_ERROR_DEVICE_LOST, zeContextGetStatus(h->context));
    assert_result(ZE_RESULT_ERROR_DEVICE_LOST,
                  zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL));

    /* The way back: the queue goes, the rest is as before. */
    assert_success(zeFenceDestroy(fence));
    assert_success(zeCommandQueueDestroy(queue));
    assert_success(zeDeviceGetStatus(h->device));
    assert_success(zeContextGetStatus(h->context));
    assert_success(zeEventHostReset(event));
    assert_result(ZE_RESULT_NOT_READY, zeEventQueryStatus(event));
    queue = harness_queue(h, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
    assert_success(zeCommandListReset(list));
    assert_success(zeCommandListAppendBarrier(list, event, 0, NULL));
    harness_execute(queue, list, NULL);
    assert_success(zeCommandQueueSynchronize(queue, UINT64_MAX));
    assert_success(zeEventQueryStatus(event));
    assert_success(zeCommandQueueDestroy(queue));
    assert_success(zeCommandListDestroy(list));
    assert_success(zeEventDestroy(event));
    assert_success(zeEventPoolDestroy(pool));
    assert_success(zeKernelDestroy(kernel));
}

static void fault__synchronous_immediate_list__fails_the_append(void **state)
{
    const struct harness *h = *state;
    ze_kernel_handle_t kernel = harness_kernel(h, "fault");
    ze_command_list_handle_t list = harness_immediate(h, ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);

    assert_result(ZE_RESULT_ERROR_DEVICE_LOST, harness_launch(list, kernel, NULL, 0, NULL));
    assert_non_null(strstr(harness_sentence(h), FAKE_FAULT_SENTENCE));
    assert_result(ZE_RESULT_ERROR_DEVICE_LOST, zeCommandListAppendBarrier(list, NULL, 0, NULL));
    assert_result(ZE_RESULT_ERROR_DEVICE_LOST, zeCommandListHostSynchronize(list, UINT64_MAX));
    assert_result(ZE_RESULT_ERROR_DEVICE_LOST, zeDeviceSynchronize(h->device));
    assert_success(zeCommandListDestroy(list));
    assert_success(zeDeviceSynchronize(h->device));
    assert_success(zeKernelDestroy(kernel));
}

static void failure__that_spares_the_device__is_reported_once(void **state)
{
    const struct harness *h = *state;
    ze_kernel_handle_t kernel = harness_kernel(h, "refuse");
    ze_command_list_handle_t list = harness_immediate(h, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);

    assert_success(harness_launch(list, kernel, NULL, 0, NULL));
    assert_result(ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY,
                  zeCommandListHostSynchronize(list, UINT64_MAX));
    assert_non_null(strstr(harness_sentence(h), "kernel refuse"));
    assert_success(zeCommandListHostSynchronize(list, UINT64_MAX));
    assert_success(zeCommandListAppendBarrier(list, NULL, 0, NULL));
    assert_success(zeCommandListHostSynchronize(list, UINT64_MAX));
    assert_success(zeDeviceGetStatus(h->device));
    assert_success(zeCommandListDestroy(list));
    assert_success(zeKernelDestroy(kernel));
}

static void *wait_for_event(void *event)
{
    return (void *)(uintptr_t)zeEventHostSynchronize(event, UINT64_MAX);
}

/* Rule 7.17. */
static void fault__others_wait_for_its_event__all_come_back(void **state)
{
    const struct harness *h = *state;
    ze_kernel_handle_t kernel = harness_kernel(h, "fault");
    ze_command_list_handle_t faulty = harness_immediate(h, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
    ze_command_list_handle_t waiting = harness_immediate(h, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
    ze_event_pool_handle_t pool = harness_pool(h, 0, 2);
    ze_event_handle_t start = harness_event(pool, 0);
    ze_event_handle_t event = harness_event(pool, 1);
    pthread_t thread;
    void *result = NULL;

    assert_success(zeCommandListAppendWaitOnEvents(faulty, 1, &start));
    assert_success(harness_launch(faulty, kernel, event, 0, NULL));
    assert_success(zeCommandListAppendBarrier(waiting, NULL, 1, &event));
    assert_int_equal(pthread_create(&thread, NULL, wait_for_event, event), 0);
    assert_success(zeEventHostSignal(start));
    assert_int_equal(pthread_join(thread, &result), 0);
    assert_int_equal((uintptr_t)result, ZE_RESULT_ERROR_DEVICE_LOST);
    assert_result(ZE_RESULT_ERROR_DEVICE_LOST, zeCommandListHostSynchronize(faulty, UINT64_MAX));
    assert_result(ZE_RESULT_ERROR_DEVICE_LOST, zeCommandListHostSynchronize(waiting, UINT64_MAX));

    /* What waits for lost work would wait for ever, so it can be destroyed, in any order. */
    assert_success(zeCommandListDestroy(faulty));
    assert_success(zeCommandListDestroy(waiting));
    assert_success(zeDeviceGetStatus(h->device));
    assert_success(zeEventDestroy(start));
    assert_success(zeEventDestroy(event));
    assert_success(zeEventPoolDestroy(pool));
    assert_success(zeKernelDestroy(kernel));
}

/* Rule 7.17. */
static void destroy_queue__after_a_fault__abandons_what_is_behind(void **state)
{
    const struct harness *h = *state;
    uint64_t *sum = harness_memory(h, 8);
    ze_kernel_handle_t fault = harness_kernel(h, "fault");
    ze_kernel_handle_t add = harness_add_kernel(h, sum, 1);
    ze_command_list_handle_t list = harness_immediate(h, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
    ze_event_pool_handle_t pool = harness_pool(h, 0, 2);
    ze_event_handle_t start = harness_event(pool, 0);
    ze_event_handle_t end = harness_event(pool, 1);

    assert_success(zeCommandListAppendWaitOnEvents(list, 1, &start));
    assert_success(harness_launch(list, fault, NULL, 0, NULL));
    assert_success(harness_launch(list, add, end, 0, NULL));
    assert_success(zeEventHostSignal(start));
    assert_result(ZE_RESULT_ERROR_DEVICE_LOST, zeEventHostSynchronize(end, UINT64_MAX));
    assert_int_equal(*sum, 0);
    assert_success(zeCommandListDestroy(list));
    assert_success(zeEventDestroy(start));
    assert_success(zeEventDestroy(end));
    assert_success(zeEventPoolDestroy(pool));
    assert_success(zeKernelDestroy(fault));
    assert_success(zeKernelDestroy(add));
    assert_success(zeMemFree(h->context, sum));
    assert_int_equal(h->control->live_kernels(), 0);
}

SUITE(fault)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fault__asynchronous_queue__is_reported_with_the_sentence),
        cmocka_unit_test(fault__synchronous_immediate_list__fails_the_append),
        cmocka_unit_test(failure__that_spares_the_device__is_reported_once),
        cmocka_unit_test(fault__others_wait_for_its_event__all_come_back),
        cmocka_unit_test(destroy_queue__after_a_fault__abandons_what_is_behind),
    };

    return cmocka_run_group_tests(tests, harness_setup, harness_teardown);
}
