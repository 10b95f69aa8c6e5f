/*
 * stream: samples a metric group while this program works, and prints the rows.
 *
 * The order of the calls is the one that time-based sampling asks for: find a group, activate it,
 * open a streamer with an event, work, wait for reports, read, close, deactivate, calculate. They
 * stand in example_sample() and example_print_rows() of metrics.c. A device that runs no kernels
 * here, such as a recording (ZETA_REPLAY=FILE) or an Intel GPU, is sampled without work of ours.
 */
#include <stdio.h>
#include <stdlib.h>

#include "example.h"
#include "matrix.h"
#include "metrics.h"

enum { MATRIX_SIZE = 128, MOST_SHOWN = 4 };

struct program {
    ze_context_handle_t context;
    ze_device_handle_t device;
};

static void work(void *user)
{
    const struct program *program = user;

    if (example_find_compute_ordinal(program->device) == UINT32_MAX) {
        (void)printf("The device runs no kernels here; it is sampled as it is.\n");
        return;
    }
    matrix_multiply_checked(program->context, program->device, MATRIX_SIZE);
}

int main(void)
{
    const ze_context_desc_t description = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    struct program program = {.device = NULL};
    ze_driver_handle_t driver = NULL;
    zet_metric_group_handle_t group = NULL;
    uint8_t *raw = NULL;
    size_t bytes = 0;
    const char *names[MOST_SHOWN] = {NULL};
    uint32_t rows = 0;

    example_find_device(&driver, &program.device);
    example_check(zetDeviceEnableMetricsExp(program.device), "zetDeviceEnableMetricsExp");
    example_check(zeContextCreate(driver, &description, &program.context), "zeContextCreate");
    group = example_find_group(program.device, "ComputeBasic",
                               ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_TIME_BASED);
    raw = example_sample(program.context, program.device, group, work, &program, &bytes);
    example_check(zeContextDestroy(program.context), "zeContextDestroy");
    rows = example_print_rows(driver, group, raw, bytes, names,
                              example_choose_metrics(group, MOST_SHOWN, names));
    free(raw);
    return rows > 0 ? 0 : 1;
}
