/*
 * list_metrics: every metric group of the first device, and the metrics in it.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <level_zero/zet_api.h>

#include "example.h"

static const char *sampling_name(zet_metric_group_sampling_type_flags_t type)
{
    if (type & ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_TIME_BASED)
        return "sampled over time";
    if (type & ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EVENT_BASED)
        return "measured around commands";
    return "traced";
}

static void list_group(zet_metric_group_handle_t group)
{
    zet_metric_group_properties_t properties = {
        .stype = ZET_STRUCTURE_TYPE_METRIC_GROUP_PROPERTIES,
    };
    zet_metric_handle_t *metrics = NULL;
    uint32_t count = 0;

    example_check(zetMetricGroupGetProperties(group, &properties), "zetMetricGroupGetProperties");
    (void)printf("%s: domain %" PRIu32 ", %s, %" PRIu32 " metrics\n", properties.name,
                 properties.domain, sampling_name(properties.samplingType), properties.metricCount);

    count = properties.metricCount;
    metrics = calloc(count + 1, sizeof(zet_metric_handle_t));
    if (!metrics)
        example_fail("no memory for %" PRIu32 " metrics", count);
    example_check(zetMetricGet(group, &count, metrics), "zetMetricGet");
    for (uint32_t i = 0; i < count; i++) {
        zet_metric_properties_t metric = {.stype = ZET_STRUCTURE_TYPE_METRIC_PROPERTIES};

        example_check(zetMetricGetProperties(metrics[i], &metric), "zetMetricGetProperties");
        (void)printf("    %-24s %-12s %s\n", metric.name, metric.resultUnits, metric.description);
    }
    free(metrics);
}

int main(void)
{
    ze_driver_handle_t driver = NULL;
    ze_device_handle_t device = NULL;
    zet_metric_group_handle_t *groups = NULL;
    uint32_t count = 0;

    example_find_device(&driver, &device);
    /* Does at run time what ZET_ENABLE_METRICS=1 does before the start. */
    example_check(zetDeviceEnableMetricsExp(device), "zetDeviceEnableMetricsExp");
    example_check(zetMetricGroupGet(device, &count, NULL), "zetMetricGroupGet");
    groups = calloc(count + 1, sizeof(zet_metric_group_handle_t));
    if (!groups)
        example_fail("no memory for %" PRIu32 " groups", count);
    example_check(zetMetricGroupGet(device, &count, groups), "zetMetricGroupGet");
    for (uint32_t i = 0; i < count; i++)
        list_group(groups[i]);
    free(groups);
    return count > 0 ? 0 : 1;
}
