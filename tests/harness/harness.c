#include "harness.h"
#include "tests/harness/control.h"

#include <stdio.h>
#include <time.h>

#include <zeta/clock.h>

void harness_expect(ze_result_t wanted, ze_result_t result, const char *call, const char *file,
                    int line)
{
    ze_driver_handle_t driver = NULL;
    uint32_t count = 1;
    const char *sentence = "";

    if (result == wanted)
        return;
    if (zeDriverGet(&count, &driver) == ZE_RESULT_SUCCESS && count > 0)
        (void)zeDriverGetLastErrorDescription(driver, &sentence);
    print_error("%s\n    gave 0x%x instead of 0x%x: %s\n", call, result, wanted, sentence);
    _fail(file, line);
}

int harness_setup(void **state)
{
    static const char image[] = FAKE_IMAGE;
    const ze_context_desc_t context = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    const ze_module_desc_t module = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                                     .format = ZE_MODULE_FORMAT_NATIVE,
                                     .inputSize = sizeof(image) - 1,
                                     .pInputModule = (const uint8_t *)image};
    struct harness *h = calloc(1, sizeof(*h));
    uint32_t count = 1;

    assert_success(zeInit(0));
    assert_success(zeDriverGet(&count, &h->driver));
    count = 1;
    assert_success(zeDeviceGet(h->driver, &count, &h->device));
    assert_int_equal(count, 1);
    count = 2;
    assert_success(zeDeviceGetSubDevices(h->device, &count, h->tiles));
    assert_int_equal(count, 2);
    assert_success(zeContextCreate(h->driver, &context, &h->context));
    assert_success(zeModuleCreate(h->context, h->device, &module, &h->module, NULL));
    h->control = harness_control("compute_control");
    *state = h;
    return 0;
}

int harness_teardown(void **state)
{
    struct harness *h = *state;

    h->control->release();
    assert_success(zeModuleDestroy(h->module));
    assert_success(zeContextDestroy(h->context));
    free(h);
    return 0;
}

ze_kernel_handle_t harness_kernel(const struct harness *h, const char *name)
{
    const ze_kernel_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC, .pKernelName = name};
    ze_kernel_handle_t kernel = NULL;

    assert_success(zeKernelCreate(h->module, &desc, &kernel));
    return kernel;
}

ze_kernel_handle_t harness_add_kernel(const struct harness *h, uint64_t *target, uint64_t value)
{
    ze_kernel_handle_t kernel = harness_kernel(h, "add");

    assert_success(zeKernelSetGroupSize(kernel, 1, 1, 1));
    assert_success(zeKernelSetArgumentValue(kernel, 0, sizeof(target), &target));
    assert_success(zeKernelSetArgumentValue(kernel, 1, sizeof(value), &value));
    return kernel;
}

ze_command_queue_handle_t harness_queue(const struct harness *h, ze_command_queue_mode_t mode)
{
    const ze_command_queue_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                          .mode = mode};
    ze_command_queue_handle_t queue = NULL;

    assert_success(zeCommandQueueCreate(h->context, h->device, &desc, &queue));
    return queue;
}

ze_command_list_handle_t harness_list(const struct harness *h)
{
    const ze_command_list_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC};
    ze_command_list_handle_t list = NULL;

    assert_success(zeCommandListCreate(h->context, h->device, &desc, &list));
    return list;
}

ze_command_list_handle_t harness_immediate(const struct harness *h, ze_command_queue_mode_t mode)
{
    const ze_command_queue_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                          .mode = mode};
    ze_command_list_handle_t list = NULL;

    assert_success(zeCommandListCreateImmediate(h->context, h->device, &desc, &list));
    return list;
}

ze_command_list_handle_t harness_in_order(const struct harness *h)
{
    const ze_command_queue_desc_t desc = {.flags = ZE_COMMAND_QUEUE_FLAG_IN_ORDER};
    ze_command_list_handle_t list = NULL;

    assert_success(zeCommandListCreateImmediate(h->context, h->device, &desc, &list));
    return list;
}

ze_event_pool_handle_t harness_pool(const struct harness *h, ze_event_pool_flags_t flags,
                                    uint32_t count)
{
    const ze_event_pool_desc_t desc = {
        .stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, .flags = flags, .count = count};
    ze_event_pool_handle_t pool = NULL;

    assert_success(zeEventPoolCreate(h->context, &desc, 0, NULL, &pool));
    return pool;
}

ze_event_handle_t harness_event(ze_event_pool_handle_t pool, uint32_t index)
{
    const ze_event_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_DESC,
                                  .index = index,
                                  .signal = ZE_EVENT_SCOPE_FLAG_HOST,
                                  .wait = ZE_EVENT_SCOPE_FLAG_DEVICE};
    ze_event_handle_t event = NULL;

    assert_success(zeEventCreate(pool, &desc, &event));
    return event;
}

void *harness_memory(const struct harness *h, size_t bytes)
{
    const ze_device_mem_alloc_desc_t device = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
    const ze_host_mem_alloc_desc_t host = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
    void *memory = NULL;

    assert_success(zeMemAllocShared(h->context, &device, &host, bytes, 0, h->device, &memory));
    memset(memory, 0, bytes);
    return memory;
}

ze_result_t harness_launch(ze_command_list_handle_t list, ze_kernel_handle_t kernel,
                           ze_event_handle_t signal, uint32_t wait_count, ze_event_handle_t *waits)
{
    const ze_group_count_t one = {1, 1, 1};

    return zeCommandListAppendLaunchKernel(list, kernel, &one, signal, wait_count, waits);
}

void harness_execute(ze_command_queue_handle_t queue, ze_command_list_handle_t list,
                     ze_fence_handle_t fence)
{
    assert_success(zeCommandListClose(list));
    assert_success(zeCommandQueueExecuteCommandLists(queue, 1, &list, fence));
}

void harness_wait_holding(const struct harness *h, uint32_t count)
{
    const struct timespec step = {.tv_nsec = 1000000};

    for (int i = 0; i < 20000 && h->control->holding() < count; i++)
        nanosleep(&step, NULL);
    assert_int_equal(h->control->holding(), count);
}

const char *harness_sentence(const struct harness *h)
{
    const char *sentence = NULL;

    assert_int_equal(zeDriverGetLastErrorDescription(h->driver, &sentence), ZE_RESULT_SUCCESS);
    return sentence;
}

uint64_t harness_now_ns(void)
{
    return zeta_monotonic_ns();
}
