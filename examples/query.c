/*
 * query: measures one kernel, from begin to end, whatever else the device does.
 *
 * A query is a slot of a pool. Its begin and end are commands, so the counters belong to what
 * stands between them: find a group that is measured around commands, activate it, make a pool and
 * a query, append begin, work and end, run, wait for the event of the end, get the data, calculate.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "example.h"
#include "matrix.h"
#include "metrics.h"

enum { MATRIX_SIZE = 64, MAX_SIZE = 8192, COLUMNS = 4 };

/* What to show, from the best to the least: groups that count operations, and one that does not. */
static const struct choice {
    const char *group;
    const char *metrics[COLUMNS];
} choices[] = {
    {"Flops", {"GpuTime", "FpOps32", "Fmul", "Fadd"}},
    {"ComputeBasic", {"GpuTime", "FpOps", "BarrierMessages", "GlobalWriteBytes"}},
    {"ComputeBasic", {"GpuTime", "Instructions", "ThreadInstructions", "GroupsLaunched"}},
};

static const struct choice *choose(ze_device_handle_t device, zet_metric_group_handle_t *out_group)
{
    const size_t last = sizeof(choices) / sizeof(choices[0]) - 1;

    for (size_t i = 0; i < last; i++) {
        *out_group = example_look_for_group(device, choices[i].group,
                                            ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EVENT_BASED);
        if (*out_group && example_has_metric(*out_group, choices[i].metrics[1]))
            return &choices[i];
    }
    *out_group = example_find_group(device, choices[last].group,
                                    ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EVENT_BASED);
    return &choices[last];
}

/* The list of the program: copies around a kernel, and the query around the kernel alone. */
static void run(struct matrix_work *work, zet_metric_query_handle_t query, ze_event_handle_t event)
{
    const size_t elements = (size_t)work->n * work->n;
    float *a = calloc(3 * elements, sizeof(*a));
    float *b = a + elements;
    float *c = b + elements;
    ze_command_list_handle_t list = matrix_work_create_list(work);

    if (!a)
        example_fail("no memory for matrices");
    matrix_fill(a, work->n, 1);
    matrix_fill(b, work->n, 5);
    matrix_work_append_input(work, list, a, b);
    example_check(zetCommandListAppendMetricQueryBegin(list, query),
                  "zetCommandListAppendMetricQueryBegin");
    matrix_work_append_launch(work, list);
    example_check(zetCommandListAppendMetricQueryEnd(list, query, event, 0, NULL),
                  "zetCommandListAppendMetricQueryEnd");
    matrix_work_append_output(work, list, c);
    matrix_work_execute(work, list);
    example_check(zeEventHostSynchronize(event, UINT64_MAX), "zeEventHostSynchronize");
    example_check(zeCommandListDestroy(list), "zeCommandListDestroy");
    if (matrix_count_wrong(a, b, c, work->n) > 0)
        example_fail("the product is wrong");
    free(a);
}

static uint8_t *measure(ze_context_handle_t context, ze_device_handle_t device,
                        zet_metric_group_handle_t group, uint32_t n, size_t *out_bytes)
{
    const zet_metric_query_pool_desc_t description = {
        .stype = ZET_STRUCTURE_TYPE_METRIC_QUERY_POOL_DESC,
        .type = ZET_METRIC_QUERY_POOL_TYPE_PERFORMANCE,
        .count = 1,
    };
    char *kernel = example_kernel_path(device, "matmul");
    struct matrix_work work;
    zet_metric_query_pool_handle_t pool = NULL;
    zet_metric_query_handle_t query = NULL;
    ze_event_pool_handle_t event_pool = NULL;
    ze_event_handle_t event = example_create_event(context, device, &event_pool);
    uint8_t *raw = NULL;

    matrix_work_create(&work, context, device, kernel, n);
    example_check(zetContextActivateMetricGroups(context, device, 1, &group),
                  "zetContextActivateMetricGroups");
    example_check(zetMetricQueryPoolCreate(context, device, group, &description, &pool),
                  "zetMetricQueryPoolCreate");
    example_check(zetMetricQueryCreate(pool, 0, &query), "zetMetricQueryCreate");
    run(&work, query, event);
    raw = example_get_query_data(query, out_bytes);
    example_check(zetMetricQueryDestroy(query), "zetMetricQueryDestroy");
    example_check(zetMetricQueryPoolDestroy(pool), "zetMetricQueryPoolDestroy");
    example_check(zetContextActivateMetricGroups(context, device, 0, NULL),
                  "zetContextActivateMetricGroups");
    example_check(zeEventDestroy(event), "zeEventDestroy");
    example_check(zeEventPoolDestroy(event_pool), "zeEventPoolDestroy");
    matrix_work_destroy(&work);
    free(kernel);
    return raw;
}

static uint32_t parse_size(int count, char **words)
{
    char *end = NULL;
    const long size = count > 1 ? strtol(words[1], &end, 10) : MATRIX_SIZE;

    if (count > 2 || (end && *end) || size <= 0 || size > MAX_SIZE || size % MATRIX_TILE) {
        (void)fprintf(stderr, "usage: query [SIZE]\nSIZE is a multiple of %d up to %d.\n",
                      MATRIX_TILE, MAX_SIZE);
        exit(2);
    }
    return (uint32_t)size;
}

int main(int count, char **words)
{
    const ze_context_desc_t description = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    const uint32_t n = parse_size(count, words);
    const struct choice *choice = NULL;
    ze_driver_handle_t driver = NULL;
    ze_device_handle_t device = NULL;
    ze_context_handle_t context = NULL;
    zet_metric_group_handle_t group = NULL;
    uint8_t *raw = NULL;
    size_t bytes = 0;
    uint32_t rows = 0;

    example_find_computing_device(&driver, &device);
    example_check(zetDeviceEnableMetricsExp(device), "zetDeviceEnableMetricsExp");
    example_check(zeContextCreate(driver, &description, &context), "zeContextCreate");
    choice = choose(device, &group);
    raw = measure(context, device, group, n, &bytes);
    rows = example_print_rows(driver, group, raw, bytes, choice->metrics, COLUMNS);
    (void)printf("A product has %" PRIu64 " operations, 2 N^3 with N = %" PRIu32 ".\n",
                 2 * (uint64_t)n * n * n, n);
    free(raw);
    example_check(zeContextDestroy(context), "zeContextDestroy");
    return rows == 1 ? 0 : 1;
}
