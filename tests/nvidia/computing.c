#include "tests/nvidia/computing.h"

#include <stdio.h>
#include <stdlib.h>

struct computing computing_open(const char *kernels)
{
    return computing_open_on(bed_device(), kernels);
}

struct computing computing_open_on(ze_device_handle_t device, const char *kernels)
{
    struct computing c = {.device = device, .context = make_context(device)};
    char path[4096];

    (void)snprintf(path, sizeof(path), "%s/tests/cuda/kernels/%s", ZETA_SOURCE_DIR, kernels);
    c.module = make_module(c.context, device, path);
    c.list = computing_list(&c, ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
    return c;
}

void computing_close(const struct computing *c)
{
    EXPECT_OK(zeCommandListDestroy(c->list));
    EXPECT_OK(zeModuleDestroy(c->module));
    EXPECT_OK(zeContextDestroy(c->context));
}

uint8_t *computing_read_file(const char *path, size_t *out_size)
{
    FILE *file = fopen(path, "rb");
    uint8_t *bytes = malloc(1 << 20);

    if (!file)
        fail_msg("%s cannot be read", path);
    assert_non_null(bytes);
    *out_size = fread(bytes, 1, 1 << 20, file);
    (void)fclose(file);
    return bytes;
}

void computing_log(ze_module_build_log_handle_t log, char out_log[COMPUTING_LOG_BYTES])
{
    size_t bytes = COMPUTING_LOG_BYTES;

    out_log[0] = '\0';
    EXPECT_OK(zeModuleBuildLogGetString(log, &bytes, out_log));
    EXPECT_OK(zeModuleBuildLogDestroy(log));
}

ze_result_t computing_build(const struct computing *c, ze_module_format_t format,
                            const uint8_t *image, size_t size, ze_module_handle_t *out_module,
                            char out_log[COMPUTING_LOG_BYTES])
{
    const ze_module_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                                   .format = format,
                                   .inputSize = size,
                                   .pInputModule = image};
    ze_module_build_log_handle_t log = NULL;
    const ze_result_t result = zeModuleCreate(c->context, c->device, &desc, out_module, &log);

    computing_log(log, out_log);
    return result;
}

ze_command_list_handle_t computing_list(const struct computing *c, ze_command_queue_mode_t mode)
{
    return make_immediate(c->context, c->device, mode);
}

ze_kernel_handle_t computing_kernel(const struct computing *c, const char *name)
{
    const ze_kernel_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC, .pKernelName = name};
    ze_kernel_handle_t kernel = NULL;

    EXPECT_OK(zeKernelCreate(c->module, &desc, &kernel));
    EXPECT_OK(zeKernelSetGroupSize(kernel, 1, 1, 1));
    return kernel;
}

void *computing_memory(const struct computing *c, ze_memory_type_t type, size_t bytes,
                       size_t align_bytes)
{
    const ze_device_mem_alloc_desc_t device = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
    const ze_host_mem_alloc_desc_t host = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
    void *memory = NULL;

    if (type == ZE_MEMORY_TYPE_DEVICE)
        EXPECT_OK(zeMemAllocDevice(c->context, &device, bytes, align_bytes, c->device, &memory));
    else if (type == ZE_MEMORY_TYPE_HOST)
        EXPECT_OK(zeMemAllocHost(c->context, &host, bytes, align_bytes, &memory));
    else
        EXPECT_OK(
            zeMemAllocShared(c->context, &device, &host, bytes, align_bytes, c->device, &memory));
    return memory;
}

void computing_launch(const struct computing *c, const char *name, uint32_t groups, void *target,
                      uint64_t value)
{
    ze_kernel_handle_t kernel = computing_kernel(c, name);
    const ze_group_count_t count = {groups, 1, 1};

    EXPECT_OK(zeKernelSetArgumentValue(kernel, 0, sizeof(target), &target));
    EXPECT_OK(zeKernelSetArgumentValue(kernel, 1, sizeof(value), &value));
    EXPECT_OK(zeCommandListAppendLaunchKernel(c->list, kernel, &count, NULL, 0, NULL));
    EXPECT_OK(zeKernelDestroy(kernel));
}

uint64_t computing_read(const struct computing *c, const void *source)
{
    uint64_t *copy = computing_memory(c, ZE_MEMORY_TYPE_SHARED, sizeof(*copy), 0), value;

    computing_launch(c, "load", 1, (void *)(uintptr_t)source, (uintptr_t)copy);
    value = *copy;
    EXPECT_OK(zeMemFree(c->context, copy));
    return value;
}
