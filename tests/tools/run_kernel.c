/*
 * run_kernel FILE KERNEL: runs one work-item of a kernel without arguments and waits for its end.
 */
#include <stdio.h>
#include <stdlib.h>

#include "example.h"

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

    if (count != 3) {
        (void)fputs("usage: run_kernel FILE KERNEL\n", stderr);
        return 2;
    }
    example_find_computing_device(&driver, &device);
    example_check(zeContextCreate(driver, &context_description, &context), "zeContextCreate");
    kernel = load_kernel(context, device, words[1], words[2]);
    example_check(zeCommandListCreateImmediate(context, device, &description, &list),
                  "zeCommandListCreateImmediate");
    example_check(zeCommandListAppendLaunchKernel(list, kernel, &groups, NULL, 0, NULL),
                  "zeCommandListAppendLaunchKernel");
    example_check(zeCommandListHostSynchronize(list, UINT64_MAX), "zeCommandListHostSynchronize");
    return 0;
}
