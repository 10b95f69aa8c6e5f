/*
 * query: measures one kernel, from begin to end, whatever else the device does.
 *
 * A query is a slot of a pool. Its begin and end are commands, so the counters belong to what
 * stands between them: find a group that is measured around commands, activate it, make a pool and
 * a query, append begin, work and end, run, wait for the event of the end, get the data, calculate.
 */
#include <stdio.h>
#include <stdlib.h>

#include "example.h"
#include "matrix.h"
#include "metrics.h"

enum { MATRIX_SIZE = 64 };

/* Of a device that counts operations, and of one that does not. */
static const char *const operations[] = {"GpuTime", "FpOps", "BarrierMessages", "GlobalWriteBytes"};
static const char *const instructions[] = {"GpuTime", "Instructions", "ThreadInstructions",
                                           "GroupsLaunched"};

/* The list of the program: copies around a kernel, and the query around the kernel alone. */
static void run(struct matrix_work *work, zet_metric_query_handle_t query, ze_event_handle_t event)
{
    static float a[MATRIX_SIZE * MATRIX_SIZE];
    static float b[MATRIX_SIZE * MATRIX_SIZE];
    static float c[MATRIX_SIZE * MATRIX_SIZE];
    ze_command_list_handle_t list = matrix_work_create_list(work);

    matrix_fill(a, MATRIX_SIZE, 1);
    matrix_fill(b, MATRIX_SIZE, 5);
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
    if (matrix_count_wrong(a, b, c, MATRIX_SIZE) > 0)
        example_fail("the product is wrong");
}

static uint8_t *measure(ze_context_handle_t context, ze_device_handle_t device,
                        zet_metric_group_handle_t group, size_t *out_bytes)
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

    matrix_work_create(&work, context, device, kernel, MATRIX_SIZE);
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

int main(void)
{
    const ze_context_desc_t description = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
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
    group =
        example_find_group(device, "ComputeBasic", ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EVENT_BASED);
    raw = measure(context, device, group, &bytes);
    rows = example_print_rows(driver, group, raw, bytes,
                              example_has_metric(group, "FpOps") ? operations : instructions, 4);
    free(raw);
    example_check(zeContextDestroy(context), "zeContextDestroy");
    return rows == 1 ? 0 : 1;
}
