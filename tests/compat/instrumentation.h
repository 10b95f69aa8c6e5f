/*
 * The flow of the chapter about program instrumentation, which is the same in the guides of 0.91,
 * of the provisional 1.0, of the time of 1.9, and of today (there with a loader layer in the place
 * of the tracer). Each test makes the tracer in the names of its level. Include it after the header
 * of the level.
 */
#ifndef ZETA_TESTS_COMPAT_INSTRUMENTATION_H
#define ZETA_TESTS_COMPAT_INSTRUMENTATION_H

#include "world.h"

/* The application's module, as the tool made it again, and what of it took another's place. */
struct instrumentation {
    ze_module_handle_t module;
    ze_kernel_handle_t kernel;
    uint32_t *sums; /* what the tool's kernel writes */
    void *function;
    ze_module_desc_t desc; /* the application's, with the flag */
    uint32_t flags, kernels, functions, launches;
};

/* "A tool could use API tracing to inject this build flag on each zeModuleCreate call." */
static void inject_flag(ze_module_create_params_t *params, ze_result_t result, void *user,
                        void **call)
{
    struct instrumentation *tool = (struct instrumentation *)user;

    (void)result;
    (void)call;
    tool->desc = **params->pdesc;
    tool->desc.pBuildFlags = "-zet-profile-flags 0x3";
    *params->pdesc = &tool->desc;
    tool->flags++;
}

/* "Replace a kernel handle with instrumented kernel handle for all call sites." */
static void replace_kernel(ze_kernel_create_params_t *params, ze_result_t result, void *user,
                           void **call)
{
    struct instrumentation *tool = (struct instrumentation *)user;

    (void)call;
    if (result != ZE_RESULT_SUCCESS)
        return;
    assert_success(zeKernelDestroy(**params->pphKernel));
    **params->pphKernel = tool->kernel;
    tool->kernels++;
}

/* "Replace a function pointer with instrumented function pointer for all call sites." */
static void replace_function(ze_module_get_function_pointer_params_t *params, ze_result_t result,
                             void *user, void **call)
{
    struct instrumentation *tool = (struct instrumentation *)user;

    (void)call;
    if (result != ZE_RESULT_SUCCESS)
        return;
    **params->ppfnFunction = tool->function;
    tool->functions++;
}

/* "Replace a kernel handle with instrumented kernel handle at call site." */
static void replace_launch(ze_command_list_append_launch_kernel_params_t *params,
                           ze_result_t result, void *user, void **call)
{
    struct instrumentation *tool = (struct instrumentation *)user;

    (void)result;
    (void)call;
    *params->phKernel = tool->kernel;
    tool->launches++;
}

static void instrumentation_callbacks(zet_core_callbacks_t *enter, zet_core_callbacks_t *leave)
{
    memset(enter, 0, sizeof(*enter));
    memset(leave, 0, sizeof(*leave));
    enter->Module.pfnCreateCb = inject_flag;
    enter->CommandList.pfnAppendLaunchKernelCb = replace_launch;
    leave->Kernel.pfnCreateCb = replace_kernel;
    leave->Module.pfnGetFunctionPointerCb = replace_function;
}

/* A module of a native binary. */
static ze_module_handle_t load_native(const struct world *w, const uint8_t *file, size_t bytes)
{
    ze_module_handle_t module = NULL;
    ze_module_desc_t desc;

    memset(&desc, 0, sizeof(desc));
    desc.stype = ZE_STRUCTURE_TYPE_MODULE_DESC;
    desc.format = ZE_MODULE_FORMAT_NATIVE;
    desc.inputSize = bytes;
    desc.pInputModule = file;
    assert_success(zeModuleCreate(w->context, w->device, &desc, &module, NULL));
    return module;
}

static ze_kernel_handle_t create_work(ze_module_handle_t module)
{
    ze_kernel_handle_t kernel = NULL;
    ze_kernel_desc_t desc;

    memset(&desc, 0, sizeof(desc));
    desc.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC;
    desc.pKernelName = "work";
    assert_success(zeKernelCreate(module, &desc, &kernel));
    return kernel;
}

static uint8_t *native_binary(ze_module_handle_t module, size_t *out_bytes)
{
    uint8_t *file;

    *out_bytes = 0;
    assert_success(zeModuleGetNativeBinary(module, out_bytes, NULL));
    file = (uint8_t *)world_room(*out_bytes);
    assert_success(zeModuleGetNativeBinary(module, out_bytes, file));
    return file;
}

/*
 * "Retrieve the native binary of the application's module, instrument it, then create a new module
 * using the instrumented version." What is inserted is examples/instrument.c's affair.
 */
static void instrumentation_open(const struct world *w, struct instrumentation *tool)
{
    const uint32_t rounds = 7;
    ze_device_mem_alloc_desc_t on_device;
    ze_host_mem_alloc_desc_t on_host;
    size_t bytes = 0;
    uint8_t *file = native_binary(w->module, &bytes);
    void *sums = NULL;

    memset(tool, 0, sizeof(*tool));
    memset(&on_device, 0, sizeof(on_device));
    memset(&on_host, 0, sizeof(on_host));
    on_device.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC;
    on_host.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC;
    tool->module = load_native(w, file, bytes);
    tool->kernel = create_work(tool->module);
    assert_success(zeModuleGetFunctionPointer(tool->module, "work", &tool->function));
    assert_success(zeMemAllocShared(w->context, &on_device, &on_host,
                                    WORLD_GROUPS * 16 * sizeof(uint32_t), 64, w->device, &sums));
    memset(sums, 0, WORLD_GROUPS * 16 * sizeof(uint32_t));
    tool->sums = (uint32_t *)sums;
    assert_success(zeKernelSetGroupSize(tool->kernel, 16, 1, 1));
    assert_success(zeKernelSetArgumentValue(tool->kernel, 0, sizeof(sums), &sums));
    assert_success(zeKernelSetArgumentValue(tool->kernel, 1, sizeof(rounds), &rounds));
    free(file);
}

/* The application, while the tracer is enabled. */
static void instrumentation_work(struct world *w, const struct instrumentation *tool)
{
    size_t bytes = 0;
    uint8_t *file = native_binary(w->module, &bytes);
    ze_module_handle_t module = load_native(w, file, bytes);
    ze_kernel_handle_t kernel = create_work(module);
    void *function = NULL;

    assert_true(kernel == tool->kernel);
    assert_success(zeModuleGetFunctionPointer(module, "work", &function));
    assert_true(function == tool->function);
    assert_success(zeCommandListAppendLaunchKernel(w->list, w->kernel, &w->groups, NULL, 0, NULL));
    world_execute(w);
    assert_success(zeModuleDestroy(module));
    free(file);
}

/* The flag of the module reached it, and every replacement was used. */
static void instrumentation_close(const struct world *w, struct instrumentation *tool)
{
    uint32_t sum = 15;

    for (uint32_t i = 0; i < 7; i++)
        sum = sum * 1664525u + 1013904223u;
    assert_int_equal(tool->sums[15], sum);
    assert_int_equal(tool->flags, 1);
    assert_int_equal(tool->kernels, 1);
    assert_int_equal(tool->functions, 1);
    assert_int_equal(tool->launches, 1);
    assert_success(zeKernelDestroy(tool->kernel));
    assert_success(zeModuleDestroy(tool->module));
    assert_success(zeMemFree(w->context, tool->sums));
}

#endif
