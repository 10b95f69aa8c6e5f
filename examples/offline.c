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

enum { MATRIX_SIZE = 128, MOST_SHOWN = 4 };

/* What --calculate shall print: the other machine does not have the group, so not its names. */
struct columns {
    uint32_t row_length; /* metrics of the group */
    uint32_t count;
    uint32_t places[MOST_SHOWN];
    char names[MOST_SHOWN][ZET_MAX_METRIC_NAME];
};

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

/* Two files: the exported data, and beside it the columns. */
static void export_data(zet_metric_group_handle_t group, const uint8_t *raw, size_t raw_bytes,
                        const char *path)
{
    struct columns columns = {0};
    const char *names[MOST_SHOWN] = {NULL};
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
    example_check(zetMetricGet(group, &columns.row_length, NULL), "zetMetricGet");
    columns.count = example_choose_metrics(group, MOST_SHOWN, names);
    for (uint32_t i = 0; i < columns.count; i++) {
        columns.places[i] = example_find_metric(group, names[i]);
        (void)snprintf(columns.names[i], sizeof(columns.names[i]), "%s", names[i]);
    }
    (void)snprintf(columns_path, sizeof(columns_path), "%s.columns", path);
    write_file(columns_path, &columns, sizeof(columns));
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

static struct columns *read_columns(const char *path)
{
    char columns_path[4096];
    size_t size = 0;
    struct columns *columns = NULL;

    (void)snprintf(columns_path, sizeof(columns_path), "%s.columns", path);
    columns = (struct columns *)(void *)example_read_file(columns_path, &size);
    if (size != sizeof(*columns) || columns->row_length == 0 || columns->count > MOST_SHOWN)
        example_fail("%s is not what --export wrote", columns_path);
    return columns;
}

static uint32_t calculate(const char *path)
{
    const zet_metric_group_calculation_type_t type =
        ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES;
    zet_metric_calculate_exp_desc_t description = {
        .stype = ZET_STRUCTURE_TYPE_METRIC_CALCULATE_EXP_DESC,
    };
    ze_driver_handle_t driver = find_driver();
    size_t size = 0;
    uint8_t *exported = example_read_file(path, &size);
    struct columns *columns = read_columns(path);
    uint32_t set_count = 0;
    uint32_t value_count = 0;
    uint32_t rows = 0;
    zet_typed_value_t *values = NULL;
    const struct zeta_metric_sum_desc sum = {
        .struct_size = sizeof(sum), .data = exported, .data_size = size};
    ze_result_t (*get_info)(size_t, const uint8_t *, struct zeta_export_info *) = NULL;
    struct zeta_export_info info = {.struct_size = sizeof(info)};

    example_check(zetMetricGroupCalculateMetricExportDataExp(driver, type, size, exported,
                                                             &description, &set_count, &value_count,
                                                             NULL, NULL),
                  "zetMetricGroupCalculateMetricExportDataExp");
    values = calloc((size_t)value_count + 1, sizeof(*values));
    if (!values)
        example_fail("no memory for %" PRIu32 " values", value_count);
    example_check(zetMetricGroupCalculateMetricExportDataExp(driver, type, size, exported,
                                                             &description, &set_count, &value_count,
                                                             NULL, values),
                  "zetMetricGroupCalculateMetricExportDataExp");
    for (uint32_t i = 0; i < columns->count; i++)
        (void)printf("%20s", columns->names[i]);
    (void)putchar('\n');
    rows = value_count / columns->row_length;
    example_print_columns(values, rows, columns->row_length, columns->places, columns->count);
    (void)printf("Over all %" PRIu32 " rows:\n", rows);
    if (example_find_function(driver, "zetaExportDataGetInfo", &get_info))
        example_check(get_info(size, exported, &info), "zetaExportDataGetInfo");
    example_print_over_all(driver, &sum, info.raw, (size_t)info.raw_bytes, columns->places,
                           columns->count);
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
