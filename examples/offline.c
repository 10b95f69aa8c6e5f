/*
 * offline: measures here, calculates elsewhere.
 *
 *   offline --export FILE      samples on this device and writes what another machine needs
 *   offline --calculate FILE   calculates from the file; needs a driver, but no device
 *
 * Exported data holds the raw reports and the description of their group: which metrics there are
 * and how they follow from the bytes.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "example.h"
#include "matrix.h"
#include "metrics.h"

enum { MATRIX_SIZE = 128, SHOWN = 3 };

static const char *const shown_metrics[SHOWN] = {"GpuTime", "FpOps", "BarrierMessages"};

struct program {
    ze_context_handle_t context;
    ze_device_handle_t device;
};

static void work(void *user)
{
    const struct program *program = user;

    matrix_multiply_checked(program->context, program->device, MATRIX_SIZE);
}

static void write_file(const char *path, const void *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");

    if (!file || fwrite(bytes, 1, size, file) != size || fclose(file) != 0)
        example_fail("cannot write %s: %s", path, strerror(errno));
}

/*
 * Two files: the exported data, and beside it the columns that --calculate shall print. Names of
 * metrics are properties of the group, which the other machine does not have; rows tell the length.
 */
static void export_data(zet_metric_group_handle_t group, const uint8_t *raw, size_t raw_bytes,
                        const char *path)
{
    uint32_t columns[1 + SHOWN] = {0};
    char columns_path[4096];
    size_t size = 0;
    uint8_t *exported = NULL;

    example_check(zetMetricGroupGetExportDataExp(group, raw, raw_bytes, &size, NULL),
                  "zetMetricGroupGetExportDataExp");
    exported = malloc(size);
    if (!exported)
        example_fail("no memory for %zu bytes", size);
    example_check(zetMetricGroupGetExportDataExp(group, raw, raw_bytes, &size, exported),
                  "zetMetricGroupGetExportDataExp");
    write_file(path, exported, size);
    free(exported);
    example_check(zetMetricGet(group, &columns[0], NULL), "zetMetricGet");
    for (uint32_t i = 0; i < SHOWN; i++)
        columns[1 + i] = example_find_metric(group, shown_metrics[i]);
    (void)snprintf(columns_path, sizeof(columns_path), "%s.columns", path);
    write_file(columns_path, columns, sizeof(columns));
    (void)printf("%zu bytes of reports, %zu bytes exported to %s\n", raw_bytes, size, path);
}

static void sample_and_export(const char *path)
{
    const ze_context_desc_t description = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    struct program program = {.device = NULL};
    ze_driver_handle_t driver = NULL;
    zet_metric_group_handle_t group = NULL;
    uint8_t *raw = NULL;
    size_t bytes = 0;

    example_find_computing_device(&driver, &program.device);
    example_check(zetDeviceEnableMetricsExp(program.device), "zetDeviceEnableMetricsExp");
    example_check(zeContextCreate(driver, &description, &program.context), "zeContextCreate");
    group = example_find_group(program.device, "ComputeBasic",
                               ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_TIME_BASED);
    raw = example_sample(program.context, program.device, group, work, &program, &bytes);
    export_data(group, raw, bytes, path);
    free(raw);
    example_check(zeContextDestroy(program.context), "zeContextDestroy");
}

/* A driver, with or without devices. */
static ze_driver_handle_t find_driver(void)
{
    ze_driver_handle_t driver = NULL;
    uint32_t count = 1;

    example_check(zeInit(0), "zeInit");
    example_check(zeDriverGet(&count, &driver), "zeDriverGet");
    if (count == 0)
        example_fail("there is no driver");
    return driver;
}

static uint32_t calculate(const char *path)
{
    const zet_metric_group_calculation_type_t type =
        ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES;
    zet_metric_calculate_exp_desc_t description = {
        .stype = ZET_STRUCTURE_TYPE_METRIC_CALCULATE_EXP_DESC,
    };
    ze_driver_handle_t driver = find_driver();
    char columns_path[4096];
    size_t size = 0;
    size_t columns_size = 0;
    uint8_t *exported = example_read_file(path, &size);
    uint32_t *columns = NULL;
    uint32_t set_count = 0;
    uint32_t value_count = 0;
    uint32_t rows = 0;
    zet_typed_value_t *values = NULL;
    const struct zeta_metric_sum_desc sum = {
        .struct_size = sizeof(sum), .data = exported, .data_size = size};
    ze_result_t (*get_info)(size_t, const uint8_t *, struct zeta_export_info *) = NULL;
    struct zeta_export_info info = {.struct_size = sizeof(info)};

    (void)snprintf(columns_path, sizeof(columns_path), "%s.columns", path);
    columns = (uint32_t *)(void *)example_read_file(columns_path, &columns_size);
    example_check(zetMetricGroupCalculateMetricExportDataExp(driver, type, size, exported,
                                                             &description, &set_count, &value_count,
                                                             NULL, NULL),
                  "zetMetricGroupCalculateMetricExportDataExp");
    values = calloc((size_t)value_count + 1, sizeof(*values));
    if (!values || columns_size != sizeof(*columns) * (1 + SHOWN) || columns[0] == 0)
        example_fail("no memory, or %s is not what --export wrote", columns_path);
    example_check(zetMetricGroupCalculateMetricExportDataExp(driver, type, size, exported,
                                                             &description, &set_count, &value_count,
                                                             NULL, values),
                  "zetMetricGroupCalculateMetricExportDataExp");
    for (uint32_t i = 0; i < SHOWN; i++)
        (void)printf("%20s", shown_metrics[i]);
    (void)putchar('\n');
    rows = value_count / columns[0];
    example_print_columns(values, rows, columns[0], columns + 1, SHOWN);
    (void)printf("Over all %" PRIu32 " rows:\n", rows);
    if (example_find_function(driver, "zetaExportDataGetInfo", &get_info))
        example_check(get_info(size, exported, &info), "zetaExportDataGetInfo");
    example_print_over_all(driver, &sum, info.raw, (size_t)info.raw_bytes, columns + 1, SHOWN);
    free(values);
    free(columns);
    free(exported);
    return rows;
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "--export") == 0) {
        sample_and_export(argv[2]);
        return 0;
    }
    if (argc == 3 && strcmp(argv[1], "--calculate") == 0)
        return calculate(argv[2]) > 0 ? 0 : 1;
    (void)fprintf(stderr, "usage: offline --export FILE | --calculate FILE\n");
    return 2;
}
