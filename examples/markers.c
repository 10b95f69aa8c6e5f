/*
 * markers: finds one kernel in a stream of samples.
 *
 * A marker is a command that leaves a value in the stream. With one marker before the kernel and
 * one behind it, the rows between the two are those of the kernel: the row in which StreamMarker
 * shows the second value ends exactly where the kernel ended.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "example.h"
#include "matrix.h"
#include "metrics.h"

enum { MATRIX_SIZE = 64, BEFORE = 1001, BEHIND = 1002, PERIOD_NS = 1000000 };

static void append_marker(ze_command_list_handle_t list, zet_metric_streamer_handle_t streamer,
                          uint32_t value)
{
    example_check(zetCommandListAppendMetricStreamerMarker(list, streamer, value),
                  "zetCommandListAppendMetricStreamerMarker");
}

static void run(struct matrix_work *work, zet_metric_streamer_handle_t streamer)
{
    static float a[MATRIX_SIZE * MATRIX_SIZE];
    static float b[MATRIX_SIZE * MATRIX_SIZE];
    static float c[MATRIX_SIZE * MATRIX_SIZE];
    ze_command_list_handle_t list = matrix_work_create_list(work);

    matrix_fill(a, MATRIX_SIZE, 1);
    matrix_fill(b, MATRIX_SIZE, 5);
    matrix_work_append_input(work, list, a, b);
    matrix_work_append_launch(work, list); /* not between the markers */
    append_marker(list, streamer, BEFORE);
    matrix_work_append_launch(work, list);
    append_marker(list, streamer, BEHIND);
    matrix_work_append_output(work, list, c);
    matrix_work_execute(work, list);
    example_check(zeCommandListDestroy(list), "zeCommandListDestroy");
    if (matrix_count_wrong(a, b, c, MATRIX_SIZE) > 0)
        example_fail("the product is wrong");
}

static uint8_t *sample(ze_context_handle_t context, ze_device_handle_t device,
                       zet_metric_group_handle_t group, size_t *out_bytes)
{
    zet_metric_streamer_desc_t description = {
        .stype = ZET_STRUCTURE_TYPE_METRIC_STREAMER_DESC,
        .samplingPeriod = PERIOD_NS,
    };
    char *kernel = example_kernel_path(device, "matmul");
    struct matrix_work work;
    zet_metric_streamer_handle_t streamer = NULL;
    uint8_t *raw = NULL;

    matrix_work_create(&work, context, device, kernel, MATRIX_SIZE);
    example_check(zetContextActivateMetricGroups(context, device, 1, &group),
                  "zetContextActivateMetricGroups");
    /* Markers belong to a streamer, so it is open before they are appended. */
    example_check(zetMetricStreamerOpen(context, device, group, &description, NULL, &streamer),
                  "zetMetricStreamerOpen");
    run(&work, streamer);
    (void)nanosleep(&(struct timespec){.tv_nsec = 20 * PERIOD_NS}, NULL);
    raw = example_read_reports(streamer, out_bytes);
    example_check(zetMetricStreamerClose(streamer), "zetMetricStreamerClose");
    example_check(zetContextActivateMetricGroups(context, device, 0, NULL),
                  "zetContextActivateMetricGroups");
    matrix_work_destroy(&work);
    free(kernel);
    return raw;
}

/* Adds up a metric over the rows behind the first marker, up to the second. */
static uint64_t sum_between(zet_metric_group_handle_t group, const uint8_t *raw, size_t bytes,
                            const char *name)
{
    const uint32_t marker = example_find_metric(group, "StreamMarker");
    const uint32_t place = example_find_metric(group, name);
    uint32_t row_length = 0;
    uint32_t count = 0;
    uint32_t value_count = 0;
    zet_typed_value_t *values = NULL;
    uint64_t sum = 0;
    int inside = 0;

    example_check(zetMetricGet(group, &row_length, NULL), "zetMetricGet");
    example_check(
        zetMetricGroupCalculateMetricValues(group, ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES,
                                            bytes, raw, &count, NULL),
        "zetMetricGroupCalculateMetricValues");
    values = calloc((size_t)count + 1, sizeof(*values));
    if (!values)
        example_fail("no memory for %" PRIu32 " values", count);
    value_count = count;
    example_check(
        zetMetricGroupCalculateMetricValues(group, ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES,
                                            bytes, raw, &value_count, values),
        "zetMetricGroupCalculateMetricValues");
    for (uint32_t row = 0; row < value_count / row_length; row++) {
        const zet_typed_value_t *first = &values[(size_t)row * row_length];

        if (inside)
            sum += first[place].value.ui64;
        if (first[marker].value.ui64 == BEFORE || first[marker].value.ui64 == BEHIND)
            inside = first[marker].value.ui64 == BEFORE;
    }
    free(values);
    return sum;
}

int main(void)
{
    const ze_context_desc_t description = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    const uint64_t expected = UINT64_C(2) * MATRIX_SIZE * MATRIX_SIZE * MATRIX_SIZE;
    ze_driver_handle_t driver = NULL;
    ze_device_handle_t device = NULL;
    ze_context_handle_t context = NULL;
    zet_metric_group_handle_t group = NULL;
    uint8_t *raw = NULL;
    size_t bytes = 0;
    uint64_t operations = 0;

    example_find_computing_device(&driver, &device);
    example_check(zetDeviceEnableMetricsExp(device), "zetDeviceEnableMetricsExp");
    example_check(zeContextCreate(driver, &description, &context), "zeContextCreate");
    group =
        example_find_group(device, "ComputeBasic", ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_TIME_BASED);
    raw = sample(context, device, group, &bytes);
    operations = sum_between(group, raw, bytes, "FpOps");
    (void)printf("FpOps between the markers %d and %d: %" PRIu64 "\n", BEFORE, BEHIND, operations);
    (void)printf("2 x %d^3 operations of one product:  %" PRIu64 "\n", MATRIX_SIZE, expected);
    free(raw);
    example_check(zeContextDestroy(context), "zeContextDestroy");
    return operations == expected ? 0 : 1;
}
