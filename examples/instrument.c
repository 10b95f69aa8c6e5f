/*
 * instrument: counts the instructions of a kernel by code that it inserts into the kernel.
 *
 * Intra-function instrumentation, in the order of the programming guide: build the module with
 * -zet-profile-flags, ask which registers are free, take the native binary, rewrite it (rewrite.c),
 * load the result as another module, and run that one. The device counts instructions too, so the
 * two numbers can be compared.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <level_zero/zet_api.h>

#include "example.h"
#include "matrix.h"
#include "metrics.h"
#include "rewrite.h"

enum { MATRIX_SIZE = 64 };

/* The module again, with counters in it. */
static ze_module_handle_t instrument(ze_context_handle_t context, ze_device_handle_t device,
                                     ze_module_handle_t module, const uint64_t *counter)
{
    uint32_t registers[2];
    size_t bytes = 0;
    uint8_t *file = rewrite_native_binary(module, &bytes);
    ze_module_handle_t instrumented = NULL;

    rewrite_find_registers(module, registers);
    const uint32_t blocks = rewrite_count_instructions(module, file, bytes, registers, counter);
    (void)printf("%" PRIu32 " blocks are counted with registers x%" PRIu32 " and x%" PRIu32 "\n",
                 blocks, registers[0], registers[1]);
    instrumented = rewrite_load(context, device, file, bytes, NULL);
    free(file);
    return instrumented;
}

int main(int count, char **words)
{
    const ze_context_desc_t description = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    char *installed = example_data_path("kernels/matmul.elf");
    ze_driver_handle_t driver = NULL;
    ze_device_handle_t device = NULL;
    ze_context_handle_t context = NULL;
    struct matrix_work work;
    uint64_t *counter = NULL;
    uint64_t measured = 0;
    uint64_t counted = 0;

    example_find_computing_device(&driver, &device);
    rewrite_check_device(device);
    example_check(zeContextCreate(driver, &description, &context), "zeContextCreate");
    counter = matrix_new_counter(context, device);

    /* The kernel as it is, and what the device counts. */
    size_t bytes = 0;
    uint8_t *file = example_read_file(count > 1 ? words[1] : installed, &bytes);
    ze_module_handle_t module = rewrite_load(context, device, file, bytes, REWRITE_BUILD_FLAGS);
    ze_module_handle_t instrumented = instrument(context, device, module, counter);
    matrix_work_create_of(&work, context, device, module, MATRIX_SIZE);
    measured = matrix_work_measure(&work, "InstRetired");
    matrix_work_destroy(&work);

    /* The kernel with counters in it, and what they count. */
    matrix_work_create_of(&work, context, device, instrumented, MATRIX_SIZE);
    matrix_work_run_checked(&work);
    matrix_work_destroy(&work);
    counted = *counter;

    (void)printf("instructions: the device counted %" PRIu64 ", the kernel %" PRIu64 ", %s\n",
                 measured, counted, measured == counted ? "which agrees" : "which DIFFERS");
    example_check(zeMemFree(context, counter), "zeMemFree");
    example_check(zeContextDestroy(context), "zeContextDestroy");
    free(file);
    free(installed);
    return measured == counted && counted > 0 ? 0 : 1;
}
