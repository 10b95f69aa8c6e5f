/*
 * stream: samples a metric group while this program works, and prints the rows.
 *
 * The order of the calls is the one that time-based sampling asks for: find a group, activate it,
 * open a streamer with an event, work, wait for reports, read, close, deactivate, calculate.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <level_zero/zet_api.h>

#include "example.h"
#include "matrix.h"

enum { MATRIX_SIZE = 128, PERIOD_NS = 1000000, NOTIFY_REPORTS = 20, MAX_ROWS_SHOWN = 10 };

/* More than enough for NOTIFY_REPORTS reports; an end when none come. */
static const uint64_t patience_ns = 10000000000;

static const char *const shown_metrics[] = {"GpuTime", "InstRetired", "FpOps", "BarrierMessages"};
enum { SHOWN_COUNT = 4 };

static zet_metric_group_handle_t find_group(ze_device_handle_t device, const char *name)
{
    zet_metric_group_handle_t groups[128] = {NULL};
    uint32_t count = sizeof(groups) / sizeof(groups[0]);

    example_check(zetMetricGroupGet(device, &count, groups), "zetMetricGroupGet");
    for (uint32_t i = 0; i < count; i++) {
        zet_metric_group_properties_t properties = {
            .stype = ZET_STRUCTURE_TYPE_METRIC_GROUP_PROPERTIES,
        };

        example_check(zetMetricGroupGetProperties(groups[i], &properties),
                      "zetMetricGroupGetProperties");
        /* Names come twice: once sampled over time, once measured around commands. */
        if (strcmp(properties.name, name) == 0 &&
            properties.samplingType & ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_TIME_BASED)
            return groups[i];
    }
    example_fail("the device has no group %s that is sampled over time", name);
}

static void work(ze_context_handle_t context, ze_device_handle_t device)
{
    char *kernel = example_data_path("kernels/matmul.elf");
    float *matrices = calloc((size_t)3 * MATRIX_SIZE * MATRIX_SIZE, sizeof(*matrices));
    float *a = matrices;
    float *b = a + (size_t)MATRIX_SIZE * MATRIX_SIZE;
    float *c = b + (size_t)MATRIX_SIZE * MATRIX_SIZE;

    if (!matrices)
        example_fail("no memory for matrices");
    matrix_fill(a, MATRIX_SIZE, 1);
    matrix_fill(b, MATRIX_SIZE, 5);
    matrix_multiply(context, device, kernel, a, b, c, MATRIX_SIZE);
    if (matrix_count_wrong(a, b, c, MATRIX_SIZE) > 0)
        example_fail("the product is wrong");
    free(matrices);
    free(kernel);
}

static ze_event_handle_t create_event(ze_context_handle_t context, ze_device_handle_t device,
                                      ze_event_pool_handle_t *out_pool)
{
    const ze_event_pool_desc_t pool_description = {
        .stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC,
        .flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE,
        .count = 1,
    };
    const ze_event_desc_t description = {
        .stype = ZE_STRUCTURE_TYPE_EVENT_DESC,
        .signal = ZE_EVENT_SCOPE_FLAG_HOST,
        .wait = ZE_EVENT_SCOPE_FLAG_HOST,
    };
    ze_event_handle_t event = NULL;

    example_check(zeEventPoolCreate(context, &pool_description, 1, &device, out_pool),
                  "zeEventPoolCreate");
    example_check(zeEventCreate(*out_pool, &description, &event), "zeEventCreate");
    return event;
}

/* Reads all that is there. The caller frees what it gets. */
static uint8_t *read_reports(zet_metric_streamer_handle_t streamer, size_t *out_bytes)
{
    uint8_t *raw = NULL;

    *out_bytes = 0;
    example_check(zetMetricStreamerReadData(streamer, UINT32_MAX, out_bytes, NULL),
                  "zetMetricStreamerReadData");
    raw = malloc(*out_bytes);
    if (!raw)
        example_fail("no memory for %zu bytes of reports", *out_bytes);
    example_check(zetMetricStreamerReadData(streamer, UINT32_MAX, out_bytes, raw),
                  "zetMetricStreamerReadData");
    return raw;
}

/* Opens a streamer, works, and gives the raw reports of the time in between. */
static uint8_t *sample(ze_context_handle_t context, ze_device_handle_t device,
                       zet_metric_group_handle_t group, size_t *out_bytes)
{
    zet_metric_streamer_desc_t description = {
        .stype = ZET_STRUCTURE_TYPE_METRIC_STREAMER_DESC,
        .notifyEveryNReports = NOTIFY_REPORTS,
        .samplingPeriod = PERIOD_NS,
    };
    zet_metric_streamer_handle_t streamer = NULL;
    ze_event_pool_handle_t pool = NULL;
    ze_event_handle_t event = create_event(context, device, &pool);
    uint8_t *raw = NULL;

    example_check(zetContextActivateMetricGroups(context, device, 1, &group),
                  "zetContextActivateMetricGroups");
    example_check(zetMetricStreamerOpen(context, device, group, &description, event, &streamer),
                  "zetMetricStreamerOpen");
    (void)printf("One report every %" PRIu32 " ns, a notification every %" PRIu32 " reports\n",
                 description.samplingPeriod, description.notifyEveryNReports);
    work(context, device);
    example_check(zeEventHostSynchronize(event, patience_ns), "zeEventHostSynchronize");
    example_check(zeEventHostReset(event), "zeEventHostReset");
    /* Some more reports, so that the end of the work lies between two. */
    (void)nanosleep(&(struct timespec){.tv_nsec = 20 * PERIOD_NS}, NULL);
    raw = read_reports(streamer, out_bytes);
    example_check(zetMetricStreamerClose(streamer), "zetMetricStreamerClose");
    example_check(zeEventDestroy(event), "zeEventDestroy");
    example_check(zeEventPoolDestroy(pool), "zeEventPoolDestroy");
    example_check(zetContextActivateMetricGroups(context, device, 0, NULL),
                  "zetContextActivateMetricGroups");
    return raw;
}

static double to_double(const zet_typed_value_t *value)
{
    switch ((int)value->type) {
    case ZET_VALUE_TYPE_UINT32:
        return value->value.ui32;
    case ZET_VALUE_TYPE_UINT64:
        return (double)value->value.ui64;
    case ZET_VALUE_TYPE_FLOAT32:
        return value->value.fp32;
    case ZET_VALUE_TYPE_FLOAT64:
        return value->value.fp64;
    default:
        return value->value.b8;
    }
}

/* Where the metrics to show are in a row of the group. */
static void find_metrics(const zet_metric_handle_t *metrics, uint32_t count, uint32_t *out_places)
{
    for (uint32_t shown = 0; shown < SHOWN_COUNT; shown++) {
        bool is_found = false;

        for (uint32_t i = 0; i < count && !is_found; i++) {
            zet_metric_properties_t metric = {.stype = ZET_STRUCTURE_TYPE_METRIC_PROPERTIES};

            example_check(zetMetricGetProperties(metrics[i], &metric), "zetMetricGetProperties");
            is_found = strcmp(metric.name, shown_metrics[shown]) == 0;
            out_places[shown] = i;
        }
        if (!is_found)
            example_fail("the group has no metric %s", shown_metrics[shown]);
        (void)printf("%20s", shown_metrics[shown]);
    }
    (void)putchar('\n');
}

static void print_rows(const zet_typed_value_t *values, uint32_t row_count, uint32_t row_length,
                       const uint32_t *places)
{
    double totals[SHOWN_COUNT] = {0};

    for (uint32_t row = 0; row < row_count; row++) {
        for (uint32_t i = 0; i < SHOWN_COUNT; i++) {
            const double value = to_double(&values[(size_t)row * row_length + places[i]]);

            totals[i] += value;
            if (row < MAX_ROWS_SHOWN)
                (void)printf("%20.0f", value);
        }
        if (row < MAX_ROWS_SHOWN)
            (void)putchar('\n');
    }
    (void)printf("Sum of all %" PRIu32 " rows:\n", row_count);
    for (uint32_t i = 0; i < SHOWN_COUNT; i++)
        (void)printf("%20.0f", totals[i]);
    (void)putchar('\n');
}

static uint32_t calculate(zet_metric_group_handle_t group, const uint8_t *raw, size_t bytes)
{
    const zet_metric_group_calculation_type_t type =
        ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES;
    uint32_t metric_count = 0;
    uint32_t value_count = 0;
    uint32_t places[SHOWN_COUNT] = {0};
    zet_metric_handle_t *metrics = NULL;
    zet_typed_value_t *values = NULL;

    example_check(zetMetricGet(group, &metric_count, NULL), "zetMetricGet");
    example_check(zetMetricGroupCalculateMetricValues(group, type, bytes, raw, &value_count, NULL),
                  "zetMetricGroupCalculateMetricValues");
    metrics = calloc(metric_count + 1, sizeof(zet_metric_handle_t));
    values = calloc(value_count + 1, sizeof(*values));
    if (!metrics || !values)
        example_fail("no memory for %" PRIu32 " values", value_count);
    example_check(zetMetricGet(group, &metric_count, metrics), "zetMetricGet");
    /* The first count is an upper bound; this call says how many values there are. */
    example_check(
        zetMetricGroupCalculateMetricValues(group, type, bytes, raw, &value_count, values),
        "zetMetricGroupCalculateMetricValues");
    find_metrics(metrics, metric_count, places);
    print_rows(values, value_count / metric_count, metric_count, places);
    free(metrics);
    free(values);
    return value_count / metric_count;
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

    example_find_device(&driver, &device);
    example_check(zetDeviceEnableMetricsExp(device), "zetDeviceEnableMetricsExp");
    example_check(zeContextCreate(driver, &description, &context), "zeContextCreate");
    group = find_group(device, "ComputeBasic");
    raw = sample(context, device, group, &bytes);
    example_check(zeContextDestroy(context), "zeContextDestroy");
    rows = calculate(group, raw, bytes);
    free(raw);
    return rows > 0 ? 0 : 1;
}
