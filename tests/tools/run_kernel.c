/*
 * run_kernel FILE KERNEL: runs one work-item of a kernel and waits for its end. A kernel with an
 * argument counts rounds there and has no end: when it has run for a while, whoever started this
 * program is interrupted.
 */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "example.h"

/* Many times of what the device takes between two looks at its counters. */
enum { ROUNDS = 1000000 };

static ze_kernel_handle_t load_kernel(ze_context_handle_t context, ze_device_handle_t device,
                                      const char *path, const char *name)
{
    size_t bytes = 0;
    uint8_t *binary = example_read_file(path, &bytes);
    const ze_module_desc_t module_description = {
        .stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
        .format = ZE_MODULE_FORMAT_NATIVE,
        .inputSize = bytes,
        .pInputModule = binary,
    };
    const ze_kernel_desc_t description = {
        .stype = ZE_STRUCTURE_TYPE_KERNEL_DESC,
        .pKernelName = name,
    };
    ze_module_handle_t module = NULL;
    ze_kernel_handle_t kernel = NULL;

    example_check(zeModuleCreate(context, device, &module_description, &module, NULL),
                  "zeModuleCreate");
    free(binary);
    example_check(zeKernelCreate(module, &description, &kernel), "zeKernelCreate");
    example_check(zeKernelSetGroupSize(kernel, 1, 1, 1), "zeKernelSetGroupSize");
    return kernel;
}

/* The counter of a kernel that has an argument; NULL without one. */
static volatile uint32_t *give_counter(ze_context_handle_t context, ze_device_handle_t device,
                                       ze_kernel_handle_t kernel)
{
    const ze_device_mem_alloc_desc_t of_device = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
    const ze_host_mem_alloc_desc_t of_host = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
    ze_kernel_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_KERNEL_PROPERTIES};
    void *memory = NULL;

    example_check(zeKernelGetProperties(kernel, &properties), "zeKernelGetProperties");
    if (properties.numKernelArgs == 0)
        return NULL;
    example_check(
        zeMemAllocShared(context, &of_device, &of_host, sizeof(uint32_t), 0, device, &memory),
        "zeMemAllocShared");
    *(uint32_t *)memory = 0;
    example_check(zeKernelSetArgumentValue(kernel, 0, sizeof(memory), &memory),
                  "zeKernelSetArgumentValue");
    return memory;
}

static void interrupt_when_it_runs(const volatile uint32_t *rounds)
{
    while (*rounds < ROUNDS)
        (void)usleep(1000);
    (void)kill(getppid(), SIGINT);
}

int main(int count, char **words)
{
    const ze_context_desc_t context_description = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    const ze_command_queue_desc_t description = {
        .stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
        .mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS,
    };
    const ze_group_count_t groups = {1, 1, 1};
    ze_driver_handle_t driver = NULL;
    ze_device_handle_t device = NULL;
    ze_context_handle_t context = NULL;
    ze_command_list_handle_t list = NULL;
    ze_kernel_handle_t kernel = NULL;
    volatile uint32_t *rounds;

    if (count != 3) {
        (void)fputs("usage: run_kernel FILE KERNEL\n", stderr);
        return 2;
    }
    example_find_computing_device(&driver, &device);
    example_check(zeContextCreate(driver, &context_description, &context), "zeContextCreate");
    kernel = load_kernel(context, device, words[1], words[2]);
    rounds = give_counter(context, device, kernel);
    example_check(zeCommandListCreateImmediate(context, device, &description, &list),
                  "zeCommandListCreateImmediate");
    example_check(zeCommandListAppendLaunchKernel(list, kernel, &groups, NULL, 0, NULL),
                  "zeCommandListAppendLaunchKernel");
    if (rounds)
        interrupt_when_it_runs(rounds);
    example_check(zeCommandListHostSynchronize(list, UINT64_MAX), "zeCommandListHostSynchronize");
    return 0;
}
