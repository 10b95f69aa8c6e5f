/* A device that stays lost after a fault, until the process ends. */
#include "harness.h"
#include "tests/support/suite.h"

/* Rule 7.17. */
static void fault__device_has_no_way_back__stays_lost(void **state)
{
    const struct harness *h = *state;
    ze_kernel_handle_t kernel = harness_kernel(h, "fault");
    ze_command_list_handle_t list = harness_list(h);
    ze_event_pool_handle_t pool = harness_pool(h, 0, 1);
    ze_event_handle_t event = harness_event(pool, 0);
    void *memory = harness_memory(h, 64);
    ze_command_queue_handle_t queue = harness_queue(h, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);

    assert_success(harness_launch(list, kernel, event, 0, NULL));
    harness_execute(queue, list, NULL);
    assert_result(ZE_RESULT_ERROR_DEVICE_LOST, zeCommandQueueSynchronize(queue, UINT64_MAX));
    assert_success(zeCommandQueueDestroy(queue));
    for (int round = 0; round < 2; round++) {
        assert_result(ZE_RESULT_ERROR_DEVICE_LOST, zeDeviceGetStatus(h->device));
        assert_result(ZE_RESULT_ERROR_DEVICE_LOST, zeContextGetStatus(h->context));
        assert_result(ZE_RESULT_ERROR_DEVICE_LOST, zeEventQueryStatus(event));
        queue = harness_queue(h, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
        assert_success(zeCommandListReset(list));
        assert_success(zeCommandListAppendBarrier(list, NULL, 0, NULL));
        assert_success(zeCommandListClose(list));
        assert_result(ZE_RESULT_ERROR_DEVICE_LOST,
                      zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL));
        assert_non_null(strstr(harness_sentence(h), FAKE_FAULT_SENTENCE));
        assert_success(zeCommandQueueDestroy(queue));
    }
    /* What the application has can still be given back. */
    assert_success(zeEventDestroy(event));
    assert_success(zeEventPoolDestroy(pool));
    assert_success(zeCommandListDestroy(list));
    assert_success(zeKernelDestroy(kernel));
    assert_success(zeMemFree(h->context, memory));
}

SUITE(lost_for_good)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fault__device_has_no_way_back__stays_lost),
    };

    return cmocka_run_group_tests(tests, harness_setup, harness_teardown);
}
