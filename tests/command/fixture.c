#include "fixture.h"

#include <stdlib.h>
#include <string.h>

#include "tests/support/kernels.h"

int fixture_setup(void **state)
{
    static struct fixture f;
    const ze_context_desc_t context = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    const ze_event_pool_desc_t pool = {.flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE |
                                                ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP,
                                       .count = 16};
    const ze_module_desc_t module = test_kernels(TEST_KERNELS);
    uint32_t count = 1;

    assert_success(zeInit(ZE_INIT_FLAG_GPU_ONLY));
    assert_success(zeDriverGet(&count, &f.driver));
    count = 1;
    assert_success(zeDeviceGet(f.driver, &count, &f.device));
    assert_int_equal(count, 1);
    assert_success(zeContextCreate(f.driver, &context, &f.context));
    assert_success(zeModuleCreate(f.context, f.device, &module, &f.module, NULL));
    free((void *)module.pInputModule);
    assert_success(zeEventPoolCreate(f.context, &pool, 0, NULL, &f.pool));
    *state = &f;
    return 0;
}

int fixture_teardown(void **state)
{
    struct fixture *f = *state;

    assert_success(zeEventPoolDestroy(f->pool));
    assert_success(zeModuleDestroy(f->module));
    assert_success(zeContextDestroy(f->context));
    return 0;
}

ze_kernel_handle_t fixture_kernel(const struct fixture *f, const char *name)
{
    const ze_kernel_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC, .pKernelName = name};
    ze_kernel_handle_t kernel = NULL;

    assert_success(zeKernelCreate(f->module, &desc, &kernel));
    return kernel;
}

ze_event_handle_t fixture_event(const struct fixture *f, uint32_t index)
{
    const ze_event_desc_t desc = {.index = index, .signal = ZE_EVENT_SCOPE_FLAG_HOST};
    ze_event_handle_t event = NULL;

    assert_success(zeEventCreate(f->pool, &desc, &event));
    return event;
}

ze_command_list_handle_t fixture_list(const struct fixture *f, ze_command_queue_mode_t mode)
{
    const ze_command_queue_desc_t desc = {.mode = mode};
    ze_command_list_handle_t list = NULL;

    assert_success(zeCommandListCreateImmediate(f->context, f->device, &desc, &list));
    return list;
}

void *fixture_memory(const struct fixture *f, size_t bytes)
{
    const ze_device_mem_alloc_desc_t device = {.ordinal = 0};
    const ze_host_mem_alloc_desc_t host = {.flags = 0};
    void *memory = NULL;

    assert_success(zeMemAllocShared(f->context, &device, &host, bytes, 64, f->device, &memory));
    memset(memory, 0, bytes);
    return memory;
}
