/* Freed memory with the setting memory.fault_after_free: a kernel that still uses it is found. */
#include <sched.h>

#include "gpu.h"
#include "tests/support/suite.h"

/* Rule 5.11. */
static void free__while_a_kernel_uses_it__is_a_fault(void **state)
{
    const struct gpu *gpu = *state;
    const ze_command_queue_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                          .mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS};
    const ze_group_count_t groups = {1, 1, 1};
    uint64_t *gate = gpu_shared_memory(gpu, 8);
    volatile uint64_t *target = gpu_shared_memory(gpu, 8);
    ze_command_list_handle_t list = NULL;

    *gate = 0;
    *target = 0;
    assert_success(zeCommandListCreateImmediate(gpu->context, gpu->device, &desc, &list));
    assert_success(zeKernelSetArgumentValue(gpu->wait_for, 0, sizeof(gate), &gate));
    assert_success(zeKernelSetArgumentValue(gpu->wait_for, 1, sizeof(target), &target));
    assert_success(zeCommandListAppendLaunchKernel(list, gpu->wait_for, &groups, NULL, 0, NULL));
    while (*target == 0)
        (void)sched_yield();
    assert_success(zeMemFree(gpu->context, (void *)(uintptr_t)target));
    assert_result(ZE_RESULT_ERROR_DEVICE_LOST, zeCommandListHostSynchronize(list, UINT64_MAX));
    assert_non_null(strstr(gpu_sentence(gpu), "wait_for"));
    assert_success(zeCommandListDestroy(list));
    assert_success(zeMemFree(gpu->context, gate));
}

SUITE(gpu_freed)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(free__while_a_kernel_uses_it__is_a_fault),
    };

    return cmocka_run_group_tests(tests, gpu_setup, gpu_teardown);
}
