/*
 * redirect: counts the instructions of a program's kernels, of which the program knows nothing.
 *
 * Inter-function instrumentation, as in the programming guide: tracers stand around the calls of
 * the program. The prologue of zeModuleCreate adds the build flag with which free registers are
 * known. The epilogue of zeKernelCreate makes another module of the program's native binary, with
 * counters in it (rewrite.c), and gives the program that module's kernel in the place of its own.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <level_zero/zet_api.h>

#include "example.h"
#include "matrix.h"
#include "metrics.h"
#include "rewrite.h"

enum { MATRIX_SIZE = 64, PRODUCTS = 3 };

/* What the tool knows: one for the tracer, given to each of its callbacks. */
struct tool {
    ze_context_handle_t context;
    ze_device_handle_t device;
    uint64_t *counter;
    ze_module_handle_t modules[PRODUCTS]; /* that were made here */
    uint32_t redirected;
};

/* The flags of the program and ours, and a descriptor with them, while the call lasts. */
struct creation {
    char flags[1024];
    ze_module_desc_t description;
    const ze_module_desc_t *given;
};

/* Calls that are made here are not traced themselves. */
static void before_module_create(ze_module_create_params_t *params, ze_result_t result,
                                 void *user_data, void **instance_data)
{
    const ze_module_desc_t *given = *params->pdesc;
    struct creation *creation = NULL;

    (void)result; /* the call has none yet */
    (void)user_data;
    if (!given)
        return;
    creation = calloc(1, sizeof(*creation));
    if (!creation)
        example_fail("no memory for build flags");
    (void)snprintf(creation->flags, sizeof(creation->flags), "%s %s",
                   given->pBuildFlags ? given->pBuildFlags : "", REWRITE_BUILD_FLAGS);
    creation->description = *given;
    creation->description.pBuildFlags = creation->flags;
    *params->pdesc = &creation->description;
    *instance_data = creation;
}

static void after_module_create(ze_module_create_params_t *params, ze_result_t result,
                                void *user_data, void **instance_data)
{
    (void)params;
    (void)result;
    (void)user_data;
    free(*instance_data);
}

static void after_kernel_create(ze_kernel_create_params_t *params, ze_result_t result,
                                void *user_data, void **instance_data)
{
    struct tool *tool = user_data;
    ze_kernel_handle_t *handle = *params->pphKernel;
    uint32_t registers[2];
    size_t bytes = 0;
    uint8_t *file = NULL;
    ze_module_handle_t module = NULL;

    (void)instance_data;
    if (result != ZE_RESULT_SUCCESS || tool->redirected == PRODUCTS)
        return;
    file = rewrite_native_binary(*params->phModule, &bytes);
    rewrite_find_registers(*params->phModule, registers);
    (void)rewrite_count_instructions(*params->phModule, file, bytes, registers, tool->counter);
    module = rewrite_load(tool->context, tool->device, file, bytes, NULL);
    free(file);
    /* The program's own kernel would keep its module in use. */
    example_check(zeKernelDestroy(*handle), "zeKernelDestroy");
    example_check(zeKernelCreate(module, *params->pdesc, handle), "zeKernelCreate");
    tool->modules[tool->redirected++] = module;
}

static zet_tracer_exp_handle_t start_tracer(ze_context_handle_t context, struct tool *tool)
{
    const zet_tracer_exp_desc_t description = {
        .stype = ZET_STRUCTURE_TYPE_TRACER_EXP_DESC,
        .pUserData = tool,
    };
    zet_core_callbacks_t prologues = {.Module = {.pfnCreateCb = before_module_create}};
    zet_core_callbacks_t epilogues = {.Module = {.pfnCreateCb = after_module_create},
                                      .Kernel = {.pfnCreateCb = after_kernel_create}};
    zet_tracer_exp_handle_t tracer = NULL;

    example_check(zetTracerExpCreate(context, &description, &tracer), "zetTracerExpCreate");
    example_check(zetTracerExpSetPrologues(tracer, &prologues), "zetTracerExpSetPrologues");
    example_check(zetTracerExpSetEpilogues(tracer, &epilogues), "zetTracerExpSetEpilogues");
    example_check(zetTracerExpSetEnabled(tracer, 1), "zetTracerExpSetEnabled");
    return tracer;
}

/* What one product takes, as the device counts it. */
static uint64_t measure(ze_context_handle_t context, ze_device_handle_t device)
{
    char *path = example_data_path("kernels/matmul.elf");
    struct matrix_work work;
    uint64_t instructions = 0;

    matrix_work_create(&work, context, device, path, MATRIX_SIZE);
    instructions = matrix_work_measure(&work, "InstRetired");
    matrix_work_destroy(&work);
    free(path);
    return instructions;
}

int main(void)
{
    const ze_context_desc_t description = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    struct tool tool = {0};
    ze_driver_handle_t driver = NULL;
    zet_tracer_exp_handle_t tracer = NULL;
    uint64_t measured = 0;
    uint64_t counted = 0;

    example_find_computing_device(&driver, &tool.device);
    rewrite_check_device(tool.device);
    example_check(zeContextCreate(driver, &description, &tool.context), "zeContextCreate");
    tool.counter = matrix_new_counter(tool.context, tool.device);
    measured = measure(tool.context, tool.device);

    /* The program that is redirected: ordinary products of matrices. */
    tracer = start_tracer(tool.context, &tool);
    for (uint32_t i = 0; i < PRODUCTS; i++)
        matrix_multiply_checked(tool.context, tool.device, MATRIX_SIZE);
    example_check(zetTracerExpSetEnabled(tracer, 0), "zetTracerExpSetEnabled");
    example_check(zetTracerExpDestroy(tracer), "zetTracerExpDestroy");

    counted = *tool.counter;
    (void)printf("%" PRIu32 " kernels redirected, which executed %" PRIu64 " instructions; the "
                 "device counted %" PRIu64 " in one of them untouched\n",
                 tool.redirected, counted, measured);
    for (uint32_t i = 0; i < tool.redirected; i++)
        example_check(zeModuleDestroy(tool.modules[i]), "zeModuleDestroy");
    example_check(zeMemFree(tool.context, tool.counter), "zeMemFree");
    example_check(zeContextDestroy(tool.context), "zeContextDestroy");
    return tool.redirected == PRODUCTS && counted == PRODUCTS * measured && measured > 0 ? 0 : 1;
}
