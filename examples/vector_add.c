/*
 * vector_add: the shortest whole program with a kernel in SPIR-V. It builds the module, shows the
 * build log if that fails, lets the driver choose the size of groups, and adds two vectors in
 * memory that host and device share.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "example.h"

enum { COUNT = 100000 };

static ze_context_handle_t create_context(ze_driver_handle_t driver)
{
    const ze_context_desc_t description = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    ze_context_handle_t context = NULL;

    example_check(zeContextCreate(driver, &description, &context), "zeContextCreate");
    return context;
}

static float *allocate(ze_context_handle_t context, ze_device_handle_t device)
{
    const ze_device_mem_alloc_desc_t on_device = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
    const ze_host_mem_alloc_desc_t on_host = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
    void *vector = NULL;

    example_check(
        zeMemAllocShared(context, &on_device, &on_host, COUNT * sizeof(float), 64, device, &vector),
        "zeMemAllocShared");
    return vector;
}

static ze_kernel_handle_t create_kernel(ze_module_handle_t module, float *vectors[3])
{
    const ze_kernel_desc_t description = {
        .stype = ZE_STRUCTURE_TYPE_KERNEL_DESC,
        .pKernelName = "vector_add",
    };
    const uint32_t count = COUNT;
    ze_kernel_handle_t kernel = NULL;

    example_check(zeKernelCreate(module, &description, &kernel), "zeKernelCreate");
    for (uint32_t i = 0; i < 3; i++)
        example_check(zeKernelSetArgumentValue(kernel, i, sizeof(vectors[i]), &vectors[i]),
                      "zeKernelSetArgumentValue");
    example_check(zeKernelSetArgumentValue(kernel, 3, sizeof(count), &count),
                  "zeKernelSetArgumentValue");
    return kernel;
}

static void run(ze_context_handle_t context, ze_device_handle_t device, ze_kernel_handle_t kernel)
{
    const ze_command_queue_desc_t description = {
        .stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
        .mode = ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS,
    };
    ze_command_list_handle_t list = NULL;
    ze_group_count_t groups = {1, 1, 1};
    uint32_t x = 0;
    uint32_t y = 0;
    uint32_t z = 0;

    example_check(zeKernelSuggestGroupSize(kernel, COUNT, 1, 1, &x, &y, &z),
                  "zeKernelSuggestGroupSize");
    example_check(zeKernelSetGroupSize(kernel, x, y, z), "zeKernelSetGroupSize");
    groups.groupCountX = (COUNT + x - 1) / x;
    example_check(zeCommandListCreateImmediate(context, device, &description, &list),
                  "zeCommandListCreateImmediate");
    example_check(zeCommandListAppendLaunchKernel(list, kernel, &groups, NULL, 0, NULL),
                  "zeCommandListAppendLaunchKernel");
    example_check(zeCommandListDestroy(list), "zeCommandListDestroy");
    (void)printf("%" PRIu32 " groups of %" PRIu32 " work-items, ", groups.groupCountX, x);
}

int main(int count, char **words)
{
    ze_driver_handle_t driver = NULL;
    ze_device_handle_t device = NULL;
    char *path = example_data_path("kernels/vector_add.spv");
    float *vectors[3] = {NULL};
    uint32_t wrong = 0;

    example_find_computing_device(&driver, &device);
    ze_context_handle_t context = create_context(driver);
    for (int i = 0; i < 3; i++)
        vectors[i] = allocate(context, device);
    for (uint32_t i = 0; i < COUNT; i++) {
        vectors[0][i] = (float)i;
        vectors[1][i] = (float)(2 * i);
    }

    ze_module_handle_t module = example_load_module(context, device, count > 1 ? words[1] : path);
    ze_kernel_handle_t kernel = create_kernel(module, vectors);
    run(context, device, kernel);
    for (uint32_t i = 0; i < COUNT; i++)
        wrong += vectors[2][i] != (float)i + (float)(2 * i);
    (void)printf("sum of %d elements %s\n", COUNT, wrong ? "WRONG" : "right");

    example_check(zeKernelDestroy(kernel), "zeKernelDestroy");
    example_check(zeModuleDestroy(module), "zeModuleDestroy");
    for (int i = 0; i < 3; i++)
        example_check(zeMemFree(context, vectors[i]), "zeMemFree");
    example_check(zeContextDestroy(context), "zeContextDestroy");
    free(path);
    return wrong ? 1 : 0;
}
