#include "rig.h"

#include <stdio.h>

static ze_driver_handle_t the_driver;

const char *rig_sentence(void)
{
    const char *text = "";

    (void)zeDriverGetLastErrorDescription(the_driver, &text);
    return text;
}

void rig_expect(ze_result_t wanted, ze_result_t result, const char *call, const char *file,
                int line)
{
    if (result != wanted) {
        print_error("%s:%d: %s is 0x%x, not 0x%x: %s\n", file, line, call, (unsigned)result,
                    (unsigned)wanted, rig_sentence());
        _fail(file, line);
    }
}

int rig_setup(void **state)
{
    static struct rig rig;
    const ze_context_desc_t context = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    const ze_command_queue_desc_t queue = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                           .mode = ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS};
    uint32_t count = 1;

    assert_success(zeInit(ZE_INIT_FLAG_GPU_ONLY));
    assert_success(zeDriverGet(&count, &rig.driver));
    the_driver = rig.driver;
    count = 1;
    assert_success(zeDeviceGet(rig.driver, &count, &rig.device));
    assert_success(zeContextCreate(rig.driver, &context, &rig.context));
    assert_success(zeCommandListCreateImmediate(rig.context, rig.device, &queue, &rig.list));
    *state = &rig;
    return 0;
}

int rig_teardown(void **state)
{
    const struct rig *rig = *state;

    assert_success(zeCommandListDestroy(rig->list));
    assert_success(zeContextDestroy(rig->context));
    return 0;
}

struct rig_file rig_spirv(const char *name)
{
    struct rig_file file = {.bytes = malloc(1u << 20)};
    char path[1024];
    FILE *stream;

    snprintf(path, sizeof(path), "%s/test-%s.spv", SPIRV_DIR, name);
    stream = fopen(path, "rb");
    if (!stream)
        fail_msg("cannot open %s", path);
    assert_non_null(file.bytes);
    file.size = fread(file.bytes, 1, 1u << 20, stream);
    (void)fclose(stream);
    return file;
}

void rig_file_free(struct rig_file *file)
{
    free(file->bytes);
    *file = (struct rig_file){0};
}

ze_module_desc_t rig_desc(const struct rig_file *file, const char *flags)
{
    return (ze_module_desc_t){.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                              .format = ZE_MODULE_FORMAT_IL_SPIRV,
                              .inputSize = file->size,
                              .pInputModule = file->bytes,
                              .pBuildFlags = flags};
}

char *rig_log(ze_module_build_log_handle_t log)
{
    size_t size = 0;
    char *text;

    assert_success(zeModuleBuildLogGetString(log, &size, NULL));
    text = malloc(size);
    assert_non_null(text);
    assert_success(zeModuleBuildLogGetString(log, &size, text));
    assert_int_equal(strlen(text) + 1, size);
    assert_success(zeModuleBuildLogDestroy(log));
    return text;
}

ze_result_t rig_try(const struct rig *rig, const ze_module_desc_t *desc,
                    ze_module_handle_t *out_module, char **out_log)
{
    ze_module_build_log_handle_t log = NULL;
    ze_result_t result =
        zeModuleCreate(rig->context, rig->device, desc, out_module, out_log ? &log : NULL);

    if (out_log)
        *out_log = log ? rig_log(log) : NULL;
    return result;
}

ze_module_handle_t rig_module(const struct rig *rig, const char *name, const char *flags)
{
    struct rig_file file = rig_spirv(name);
    ze_module_desc_t desc = rig_desc(&file, flags);
    ze_module_handle_t module = NULL;
    char *log = NULL;

    if (rig_try(rig, &desc, &module, &log) != ZE_RESULT_SUCCESS)
        fail_msg("%s: %s\n%s", name, rig_sentence(), log);
    free(log);
    rig_file_free(&file);
    return module;
}

ze_kernel_handle_t rig_kernel(ze_module_handle_t module, const char *name)
{
    const ze_kernel_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC, .pKernelName = name};
    ze_kernel_handle_t kernel = NULL;

    assert_success(zeKernelCreate(module, &desc, &kernel));
    return kernel;
}

void *rig_memory(const struct rig *rig, size_t bytes)
{
    const ze_device_mem_alloc_desc_t device = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
    const ze_host_mem_alloc_desc_t host = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
    void *memory = NULL;

    assert_success(zeMemAllocShared(rig->context, &device, &host, bytes, 64, rig->device, &memory));
    memset(memory, 0, bytes);
    return memory;
}

static void launch(const struct rig *rig, ze_kernel_handle_t kernel, uint32_t x, uint32_t y)
{
    const ze_group_count_t groups = {x, y, 1};

    assert_success(zeCommandListAppendLaunchKernel(rig->list, kernel, &groups, NULL, 0, NULL));
    assert_success(zeCommandListHostSynchronize(rig->list, UINT64_MAX));
}

void rig_run(const struct rig *rig, ze_kernel_handle_t kernel, uint32_t groups, uint32_t items)
{
    assert_success(zeKernelSetGroupSize(kernel, items, 1, 1));
    launch(rig, kernel, groups, 1);
}

void rig_run_2d(const struct rig *rig, ze_kernel_handle_t kernel, uint32_t x, uint32_t y)
{
    launch(rig, kernel, x, y);
}
