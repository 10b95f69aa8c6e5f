#include "metrics.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "example.h"
#include "matrix.h"

enum { PERIOD_NS = 1000000, NOTIFY_REPORTS = 20, MAX_ROWS_SHOWN = 10, MAX_GROUPS = 256 };

/* More than enough for NOTIFY_REPORTS reports; an end when none come. */
static const uint64_t patience_ns = 10000000000;

zet_metric_group_handle_t example_look_for_group(ze_device_handle_t device, const char *name,
                                                 zet_metric_group_sampling_type_flag_t sampling)
{
    zet_metric_group_handle_t groups[MAX_GROUPS] = {NULL};
    uint32_t count = MAX_GROUPS;

    example_check(zetMetricGroupGet(device, &count, groups), "zetMetricGroupGet");
    for (uint32_t i = 0; i < count; i++) {
        zet_metric_group_properties_t properties = {
            .stype = ZET_STRUCTURE_TYPE_METRIC_GROUP_PROPERTIES,
        };

        example_check(zetMetricGroupGetProperties(groups[i], &properties),
                      "zetMetricGroupGetProperties");
        /* Names come twice: once sampled over time, once measured around commands. */
        if ((!name || strcmp(properties.name, name) == 0) && properties.samplingType & sampling)
            return groups[i];
    }
    return NULL;
}

zet_metric_group_handle_t example_find_group(ze_device_handle_t device, const char *name,
                                             zet_metric_group_sampling_type_flag_t sampling)
{
    zet_metric_group_handle_t group = example_look_for_group(device, name, sampling);

    if (group)
        return group;
    example_fail("the device has no group %s that is measured this way", name ? name : "at all");
}

ze_event_handle_t example_create_event(ze_context_handle_t context, ze_device_handle_t device,
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

uint8_t *example_read_reports(zet_metric_streamer_handle_t streamer, size_t *out_bytes)
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

uint8_t *example_get_query_data(zet_metric_query_handle_t query, size_t *out_bytes)
{
    uint8_t *raw = NULL;

    *out_bytes = 0;
    example_check(zetMetricQueryGetData(query, out_bytes, NULL), "zetMetricQueryGetData");
    raw = malloc(*out_bytes);
    if (!raw)
        example_fail("no memory for %zu bytes", *out_bytes);
    example_check(zetMetricQueryGetData(query, out_bytes, raw), "zetMetricQueryGetData");
    return raw;
}

uint8_t *example_sample(ze_context_handle_t context, ze_device_handle_t device,
                        zet_metric_group_handle_t group, example_work_fn work, void *user,
                        size_t *out_bytes)
{
    zet_metric_streamer_desc_t description = {
        .stype = ZET_STRUCTURE_TYPE_METRIC_STREAMER_DESC,
        .notifyEveryNReports = NOTIFY_REPORTS,
        .samplingPeriod = PERIOD_NS,
    };
    zet_metric_streamer_handle_t streamer = NULL;
    ze_event_pool_handle_t pool = NULL;
    ze_event_handle_t event = example_create_event(context, device, &pool);
    uint8_t *raw = NULL;

    example_check(zetContextActivateMetricGroups(context, device, 1, &group),
                  "zetContextActivateMetricGroups");
    example_check(zetMetricStreamerOpen(context, device, group, &description, event, &streamer),
                  "zetMetricStreamerOpen");
    (void)printf("One report every %" PRIu32 " ns, a notification every %" PRIu32 " reports\n",
                 description.samplingPeriod, description.notifyEveryNReports);
    work(user);
    example_check(zeEventHostSynchronize(event, patience_ns), "zeEventHostSynchronize");
    example_check(zeEventHostReset(event), "zeEventHostReset");
    /* Some more reports, so that the end of the work lies between two. */
    (void)nanosleep(&(struct timespec){.tv_nsec = 20 * PERIOD_NS}, NULL);
    raw = example_read_reports(streamer, out_bytes);
    example_check(zetMetricStreamerClose(streamer), "zetMetricStreamerClose");
    example_check(zeEventDestroy(event), "zeEventDestroy");
    example_check(zeEventPoolDestroy(pool), "zeEventPoolDestroy");
    example_check(zetContextActivateMetricGroups(context, device, 0, NULL),
                  "zetContextActivateMetricGroups");
    return raw;
}

double example_to_double(const zet_typed_value_t *value)
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

/* Position of a metric in the rows of its group; UINT32_MAX: the group has none of that name. */
static uint32_t look_for_metric(zet_metric_group_handle_t group, const char *name)
{
    uint32_t count = 0;
    uint32_t place = UINT32_MAX;
    zet_metric_handle_t *metrics = NULL;

    example_check(zetMetricGet(group, &count, NULL), "zetMetricGet");
    metrics = calloc(count + 1, sizeof(zet_metric_handle_t));
    if (!metrics)
        example_fail("no memory for %" PRIu32 " metrics", count);
    example_check(zetMetricGet(group, &count, metrics), "zetMetricGet");
    for (uint32_t i = 0; i < count && place == UINT32_MAX; i++) {
        zet_metric_properties_t metric = {.stype = ZET_STRUCTURE_TYPE_METRIC_PROPERTIES};

        example_check(zetMetricGetProperties(metrics[i], &metric), "zetMetricGetProperties");
        if (strcmp(metric.name, name) == 0)
            place = i;
    }
    free(metrics);
    return place;
}

bool example_has_metric(zet_metric_group_handle_t group, const char *name)
{
    return look_for_metric(group, name) != UINT32_MAX;
}

uint32_t example_find_metric(zet_metric_group_handle_t group, const char *name)
{
    const uint32_t place = look_for_metric(group, name);

    if (place == UINT32_MAX)
        example_fail("the group has no metric %s", name);
    return place;
}

void example_print_columns(const zet_typed_value_t *values, uint32_t row_count, uint32_t row_length,
                           const uint32_t *places, uint32_t place_count)
{
    for (uint32_t row = 0; row < row_count && row < MAX_ROWS_SHOWN; row++) {
        for (uint32_t i = 0; i < place_count; i++)
            (void)printf("%20.0f",
                         example_to_double(&values[(size_t)row * row_length + places[i]]));
        (void)putchar('\n');
    }
}

/* What Zeta's driver has and others may lack, found by name: this runs with any driver. */
struct sum_functions {
    ze_result_t (*create)(const struct zeta_metric_sum_desc *, struct zeta_metric_sum **);
    ze_result_t (*add)(struct zeta_metric_sum *, const struct zeta_metric_data *);
    ze_result_t (*get)(const struct zeta_metric_sum *, uint32_t *, struct zeta_metric_value *);
    void (*destroy)(struct zeta_metric_sum *);
};

bool example_find_function(ze_driver_handle_t driver, const char *name, void *target)
{
    void *address = NULL;

    if (zeDriverGetExtensionFunctionAddress(driver, name, &address) != ZE_RESULT_SUCCESS)
        return false;
    /* Object pointers and function pointers are the same on every POSIX system. */
    memcpy(target, &address, sizeof(address));
    return true;
}

static void print_value(const struct zeta_metric_value *value)
{
    if (!value->has_value)
        (void)printf("%20s", "n/a");
    else
        (void)printf("%20.*f", value->value.type == ZET_VALUE_TYPE_FLOAT64 ? 2 : 0,
                     example_to_double(&value->value));
}

/*
 * A share of many rows is neither their sum nor their mean: it is the formula of the metric over
 * everything that the rows counted, which the library calculates.
 */
void example_print_over_all(ze_driver_handle_t driver, const struct zeta_metric_sum_desc *desc,
                            const uint8_t *raw, size_t bytes, const uint32_t *places,
                            uint32_t place_count)
{
    const struct zeta_metric_data data = {
        .struct_size = sizeof(data), .raw = raw, .raw_size = bytes};
    struct sum_functions sums;
    struct zeta_metric_sum *sum = NULL;
    struct zeta_metric_value *values;
    uint32_t count = 0;

    if (!example_find_function(driver, "zetaMetricSumCreate", &sums.create) ||
        !example_find_function(driver, "zetaMetricSumAdd", &sums.add) ||
        !example_find_function(driver, "zetaMetricSumGetValues", &sums.get) ||
        !example_find_function(driver, "zetaMetricSumDestroy", &sums.destroy)) {
        (void)printf("this driver does not give them\n");
        return;
    }
    example_check(sums.create(desc, &sum), "zetaMetricSumCreate");
    example_check(sums.add(sum, &data), "zetaMetricSumAdd");
    example_check(sums.get(sum, &count, NULL), "zetaMetricSumGetValues");
    values = calloc(count + 1, sizeof(*values));
    if (!values)
        example_fail("no memory for %" PRIu32 " values", count);
    for (uint32_t i = 0; i < count; i++)
        values[i].struct_size = sizeof(values[i]);
    example_check(sums.get(sum, &count, values), "zetaMetricSumGetValues");
    for (uint32_t i = 0; i < place_count; i++)
        print_value(&values[places[i]]);
    (void)putchar('\n');
    free(values);
    sums.destroy(sum);
}

uint32_t example_choose_metrics(zet_metric_group_handle_t group, uint32_t most,
                                const char **out_names)
{
    /* Those of the virtual GPU, of NVIDIA's, of all. */
    static const char *const wanted[] = {"GpuTime",         "InstRetired",  "FpOps",
                                         "BarrierMessages", "Instructions", "GroupsLaunched",
                                         "GpuBusy",         "EuActive",     "GtiReadThroughput"};
    uint32_t count = 0;

    for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
        if (count < most && example_has_metric(group, wanted[i]))
            out_names[count++] = wanted[i];
    }
    return count;
}

uint32_t example_print_rows(ze_driver_handle_t driver, zet_metric_group_handle_t group,
                            const uint8_t *raw, size_t bytes, const char *const *names,
                            uint32_t name_count)
{
    const zet_metric_group_calculation_type_t type =
        ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES;
    const struct zeta_metric_sum_desc desc = {.struct_size = sizeof(desc), .group = group};
    uint32_t metric_count = 0;
    uint32_t value_count = 0;
    uint32_t *places = calloc(name_count + 1, sizeof(*places));
    zet_typed_value_t *values = NULL;

    example_check(zetMetricGet(group, &metric_count, NULL), "zetMetricGet");
    example_check(zetMetricGroupCalculateMetricValues(group, type, bytes, raw, &value_count, NULL),
                  "zetMetricGroupCalculateMetricValues");
    values = calloc((size_t)value_count + 1, sizeof(*values));
    if (!places || !values)
        example_fail("no memory for %" PRIu32 " values", value_count);
    /* The first count is an upper bound; this call says how many values there are. */
    example_check(
        zetMetricGroupCalculateMetricValues(group, type, bytes, raw, &value_count, values),
        "zetMetricGroupCalculateMetricValues");
    for (uint32_t i = 0; i < name_count; i++) {
        places[i] = example_find_metric(group, names[i]);
        (void)printf("%20s", names[i]);
    }
    (void)putchar('\n');
    example_print_columns(values, value_count / metric_count, metric_count, places, name_count);
    (void)printf("Over all %" PRIu32 " rows:\n", value_count / metric_count);
    example_print_over_all(driver, &desc, raw, bytes, places, name_count);
    free(places);
    free(values);
    return value_count / metric_count;
}

uint64_t matrix_work_measure(const struct matrix_work *work, const char *metric)
{
    const zet_metric_query_pool_desc_t description = {
        .stype = ZET_STRUCTURE_TYPE_METRIC_QUERY_POOL_DESC,
        .type = ZET_METRIC_QUERY_POOL_TYPE_PERFORMANCE,
        .count = 1,
    };
    zet_metric_group_handle_t group = NULL;
    zet_metric_query_pool_handle_t pool = NULL;
    zet_metric_query_handle_t query = NULL;
    ze_command_list_handle_t list = matrix_work_create_list(work);
    zet_typed_value_t values[128];
    uint32_t count = sizeof(values) / sizeof(values[0]);
    uint8_t *raw = NULL;
    size_t bytes = 0;

    example_check(zetDeviceEnableMetricsExp(work->device), "zetDeviceEnableMetricsExp");
    group = example_find_group(work->device, "ComputeBasic",
                               ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EVENT_BASED);
    example_check(zetContextActivateMetricGroups(work->context, work->device, 1, &group),
                  "zetContextActivateMetricGroups");
    example_check(zetMetricQueryPoolCreate(work->context, work->device, group, &description, &pool),
                  "zetMetricQueryPoolCreate");
    example_check(zetMetricQueryCreate(pool, 0, &query), "zetMetricQueryCreate");
    example_check(zetCommandListAppendMetricQueryBegin(list, query),
                  "zetCommandListAppendMetricQueryBegin");
    matrix_work_append_launch(work, list);
    example_check(zetCommandListAppendMetricQueryEnd(list, query, NULL, 0, NULL),
                  "zetCommandListAppendMetricQueryEnd");
    matrix_work_execute(work, list);
    raw = example_get_query_data(query, &bytes);
    example_check(
        zetMetricGroupCalculateMetricValues(group, ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES,
                                            bytes, raw, &count, values),
        "zetMetricGroupCalculateMetricValues");
    free(raw);
    example_check(zeCommandListDestroy(list), "zeCommandListDestroy");
    example_check(zetMetricQueryDestroy(query), "zetMetricQueryDestroy");
    example_check(zetMetricQueryPoolDestroy(pool), "zetMetricQueryPoolDestroy");
    example_check(zetContextActivateMetricGroups(work->context, work->device, 0, NULL),
                  "zetContextActivateMetricGroups");
    return values[example_find_metric(group, metric)].value.ui64;
}
