#include "gpu.h"

#include <dirent.h>
#include <stdio.h>

#include "tests/support/kernels.h"

void gpu_expect(ze_result_t wanted, ze_result_t result, const char *call, const char *file,
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

/* Not an assertion of cmocka: processes that are no test use this too. */
static void must(ze_result_t result, const char *what)
{
    if (result == ZE_RESULT_SUCCESS)
        return;
    fprintf(stderr, "%s gave 0x%x\n", what, result);
    abort();
}

static ze_kernel_handle_t make_kernel(const struct gpu *gpu, const char *name)
{
    const ze_kernel_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC, .pKernelName = name};
    ze_kernel_handle_t kernel = NULL;

    must(zeKernelCreate(gpu->module, &desc, &kernel), name);
    must(zeKernelSetGroupSize(kernel, 1, 1, 1), name);
    return kernel;
}

static void make_list(struct gpu *gpu)
{
    const ze_command_queue_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                          .mode = ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS};

    must(zeCommandListCreateImmediate(gpu->context, gpu->device, &desc, &gpu->list), "list");
}

void gpu_open(struct gpu *gpu)
{
    const ze_context_desc_t context = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    const ze_module_desc_t module = test_kernels(TEST_KERNELS);
    uint32_t count = 1;

    must(zeInit(0), "zeInit");
    must(zeDriverGet(&count, &gpu->driver), "zeDriverGet");
    count = 1;
    must(zeDeviceGet(gpu->driver, &count, &gpu->device), "zeDeviceGet");
    must(zeContextCreate(gpu->driver, &context, &gpu->context), "zeContextCreate");
    must(zeModuleCreate(gpu->context, gpu->device, &module, &gpu->module, NULL), "zeModuleCreate");
    free((void *)module.pInputModule);
    gpu->store = make_kernel(gpu, "store");
    gpu->load = make_kernel(gpu, "load");
    gpu->wait_for = make_kernel(gpu, "wait_for");
    make_list(gpu);
}

void gpu_close(struct gpu *gpu)
{
    must(zeCommandListDestroy(gpu->list), "zeCommandListDestroy");
    must(zeKernelDestroy(gpu->store), "zeKernelDestroy");
    must(zeKernelDestroy(gpu->load), "zeKernelDestroy");
    must(zeKernelDestroy(gpu->wait_for), "zeKernelDestroy");
    must(zeModuleDestroy(gpu->module), "zeModuleDestroy");
    must(zeContextDestroy(gpu->context), "zeContextDestroy");
}

int gpu_setup(void **state)
{
    static struct gpu gpu;

    gpu_open(&gpu);
    *state = &gpu;
    return 0;
}

int gpu_teardown(void **state)
{
    gpu_close(*state);
    return 0;
}

void gpu_renew_list(struct gpu *gpu)
{
    must(zeCommandListDestroy(gpu->list), "zeCommandListDestroy");
    make_list(gpu);
}

static ze_result_t launch(const struct gpu *gpu, ze_kernel_handle_t kernel)
{
    const ze_group_count_t groups = {1, 1, 1};

    return zeCommandListAppendLaunchKernel(gpu->list, kernel, &groups, NULL, 0, NULL);
}

ze_result_t gpu_store(const struct gpu *gpu, void *target, uint64_t value)
{
    must(zeKernelSetArgumentValue(gpu->store, 0, sizeof(target), &target), "argument");
    must(zeKernelSetArgumentValue(gpu->store, 1, sizeof(value), &value), "argument");
    return launch(gpu, gpu->store);
}

ze_result_t gpu_load(const struct gpu *gpu, const void *source, uint64_t *out_value)
{
    uint64_t *copy = gpu_shared_memory(gpu, sizeof(*copy));
    ze_result_t result;

    *copy = UINT64_MAX;
    must(zeKernelSetArgumentValue(gpu->load, 0, sizeof(source), &source), "argument");
    must(zeKernelSetArgumentValue(gpu->load, 1, sizeof(copy), &copy), "argument");
    result = launch(gpu, gpu->load);
    *out_value = *copy;
    must(zeMemFree(gpu->context, copy), "zeMemFree");
    return result;
}

static const ze_device_mem_alloc_desc_t device_desc = {.stype =
                                                           ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
static const ze_host_mem_alloc_desc_t host_desc = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};

void *gpu_device_memory(const struct gpu *gpu, size_t bytes)
{
    void *memory = NULL;

    must(zeMemAllocDevice(gpu->context, &device_desc, bytes, 0, gpu->device, &memory), "memory");
    return memory;
}

void *gpu_host_memory(const struct gpu *gpu, size_t bytes)
{
    void *memory = NULL;

    must(zeMemAllocHost(gpu->context, &host_desc, bytes, 0, &memory), "memory");
    return memory;
}

void *gpu_shared_memory(const struct gpu *gpu, size_t bytes)
{
    void *memory = NULL;

    must(zeMemAllocShared(gpu->context, &device_desc, &host_desc, bytes, 0, gpu->device, &memory),
         "memory");
    return memory;
}

uint64_t gpu_unused(const struct gpu *gpu)
{
    ze_device_usablemem_size_ext_properties_t unused = {
        .stype = ZE_STRUCTURE_TYPE_DEVICE_USABLEMEM_SIZE_EXT_PROPERTIES};
    ze_device_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2,
                                         .pNext = &unused};

    assert_success(zeDeviceGetProperties(gpu->device, &properties));
    return unused.currUsableMemSize;
}

unsigned gpu_descriptors(void)
{
    DIR *directory = opendir("/proc/self/fd");
    unsigned count = 0;

    assert_non_null(directory);
    while (readdir(directory))
        count++;
    closedir(directory);
    return count;
}

const char *gpu_sentence(const struct gpu *gpu)
{
    const char *sentence = NULL;

    assert_success(zeDriverGetLastErrorDescription(gpu->driver, &sentence));
    return sentence;
}
