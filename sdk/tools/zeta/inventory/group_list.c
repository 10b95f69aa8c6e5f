#include "sdk/tools/zeta/inventory/group_list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sdk/tools/zeta/output/message.h"

const char *zeta_metric_type_name(zet_metric_type_t type)
{
    switch ((uint32_t)type) {
    case ZET_METRIC_TYPE_DURATION:
        return "duration";
    case ZET_METRIC_TYPE_EVENT:
        return "event";
    case ZET_METRIC_TYPE_EVENT_WITH_RANGE:
        return "event_with_range";
    case ZET_METRIC_TYPE_THROUGHPUT:
        return "throughput";
    case ZET_METRIC_TYPE_TIMESTAMP:
        return "timestamp";
    case ZET_METRIC_TYPE_FLAG:
        return "flag";
    case ZET_METRIC_TYPE_RATIO:
        return "ratio";
    case ZET_METRIC_TYPE_RAW:
        return "raw";
    case ZET_METRIC_TYPE_IP:
        return "ip";
    default:
        return "other";
    }
}

const char *zeta_metric_class_name(uint32_t metric_class)
{
    switch (metric_class) {
    case ZETA_METRIC_CLASS_EXACT:
        return "exact";
    case ZETA_METRIC_CLASS_SIMULATED:
        return "simulated";
    case ZETA_METRIC_CLASS_MODELLED:
        return "modelled";
    case ZETA_METRIC_CLASS_MEASURED:
        return "measured";
    default:
        return "unknown";
    }
}

const char *zeta_sampling_name(zet_metric_group_sampling_type_flags_t sampling)
{
    if (sampling & ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_TIME_BASED)
        return "time";
    if (sampling & ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EVENT_BASED)
        return "event";
    if (sampling & ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EXP_TRACER_BASED)
        return "tracer";
    return "none";
}

static int load_group(zet_metric_group_handle_t group, struct zeta_group_entry *entry)
{
    ze_result_t result = ZE_RESULT_SUCCESS;

    entry->group = group;
    entry->clock.stype = ZET_STRUCTURE_TYPE_METRIC_GLOBAL_TIMESTAMPS_RESOLUTION_EXP;
    entry->properties.stype = ZET_STRUCTURE_TYPE_METRIC_GROUP_PROPERTIES;
    entry->properties.pNext = &entry->clock;
    entry->info.struct_size = sizeof(entry->info);
    result = zetMetricGroupGetProperties(group, &entry->properties);
    entry->properties.pNext = NULL;
    if (result != ZE_RESULT_SUCCESS)
        return zeta_print_refusal(result, "cannot read the properties of a metric group");
    result = zetaMetricGroupGetInfo(group, &entry->info);
    if (result != ZE_RESULT_SUCCESS)
        return zeta_print_refusal(result, "cannot read where group %s comes from",
                                  entry->properties.name);
    return ZETA_EXIT_OK;
}

int zeta_group_list_init(ze_device_handle_t device, struct zeta_group_list *out_list)
{
    zet_metric_group_handle_t *groups = NULL;
    uint32_t count = 0;
    int status = ZETA_EXIT_OK;
    ze_result_t result = ZE_RESULT_SUCCESS;

    *out_list = (struct zeta_group_list){0};
    result = zetDeviceEnableMetricsExp(device);
    if (result != ZE_RESULT_SUCCESS)
        return zeta_print_refusal(result, "cannot turn on the metrics of the device");
    result = zetMetricGroupGet(device, &count, NULL);
    if (result != ZE_RESULT_SUCCESS)
        return zeta_print_refusal(result, "cannot list metric groups");
    if (count == 0)
        return ZETA_EXIT_OK;
    groups = calloc(count, sizeof(zet_metric_group_handle_t));
    out_list->entries = calloc(count, sizeof(*out_list->entries));
    if (!groups || !out_list->entries) {
        free(groups);
        return zeta_print_failure("no memory for a list of %u metric groups", count);
    }

    result = zetMetricGroupGet(device, &count, groups);
    if (result != ZE_RESULT_SUCCESS)
        status = zeta_print_refusal(result, "cannot list metric groups");
    for (uint32_t i = 0; i < count && status == ZETA_EXIT_OK; i++) {
        status = load_group(groups[i], &out_list->entries[i]);
        out_list->count = i + 1;
    }
    free(groups);
    return status;
}

void zeta_group_list_finish(struct zeta_group_list *list)
{
    for (uint32_t i = 0; i < list->count; i++)
        free(list->entries[i].metrics);
    free(list->entries);
    *list = (struct zeta_group_list){0};
}

static int load_metric(zet_metric_handle_t metric, const char *group_name,
                       struct zeta_metric_entry *entry)
{
    ze_result_t result = ZE_RESULT_SUCCESS;

    entry->metric = metric;
    entry->properties.stype = ZET_STRUCTURE_TYPE_METRIC_PROPERTIES;
    entry->info.struct_size = sizeof(entry->info);
    result = zetMetricGetProperties(metric, &entry->properties);
    if (result != ZE_RESULT_SUCCESS)
        return zeta_print_refusal(result, "cannot read a metric of %s", group_name);
    result = zetaMetricGetInfo(metric, &entry->info);
    if (result != ZE_RESULT_SUCCESS)
        return zeta_print_refusal(result, "cannot read the class of %s.%s", group_name,
                                  entry->properties.name);
    return ZETA_EXIT_OK;
}

int zeta_group_entry_load_metrics(struct zeta_group_entry *entry)
{
    const char *name = entry->properties.name;
    uint32_t count = entry->properties.metricCount;
    zet_metric_handle_t *metrics = calloc(count, sizeof(zet_metric_handle_t));
    int status = ZETA_EXIT_OK;
    ze_result_t result = ZE_RESULT_SUCCESS;

    entry->metrics = calloc(count, sizeof(*entry->metrics));
    if (!metrics || !entry->metrics) {
        free(metrics);
        return zeta_print_failure("no memory for the %u metrics of %s", count, name);
    }
    result = zetMetricGet(entry->group, &count, metrics);
    if (result != ZE_RESULT_SUCCESS)
        status = zeta_print_refusal(result, "cannot list the metrics of %s", name);
    for (uint32_t i = 0; i < count && status == ZETA_EXIT_OK; i++)
        status = load_metric(metrics[i], name, &entry->metrics[i]);
    free(metrics);
    return status;
}

struct zeta_group_entry *zeta_group_list_find(const struct zeta_group_list *list, const char *name,
                                              zet_metric_group_sampling_type_flags_t sampling)
{
    for (uint32_t i = 0; i < list->count; i++) {
        struct zeta_group_entry *entry = &list->entries[i];

        if (entry->properties.samplingType & sampling && strcmp(entry->properties.name, name) == 0)
            return entry;
    }
    return NULL;
}

static int refuse_unknown(const struct zeta_group_list *list,
                          const struct zeta_device_entry *device, const char *name)
{
    if (zeta_group_list_find(list, name, ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EXP_TRACER_BASED))
        return zeta_print_failure("group '%s' is of events, which are not sampled over time; "
                                  "'zeta record -e %s' keeps them",
                                  name, name);
    if (list->count == 0)
        return zeta_print_failure("%s has no metric groups; 'zeta doctor' shows why",
                                  device->properties.name);
    (void)zeta_print_failure("%s has no group '%s' that can be sampled over time; it has:",
                             device->properties.name, name);
    for (uint32_t i = 0; i < list->count; i++) {
        const zet_metric_group_properties_t *group = &list->entries[i].properties;

        if (group->samplingType & ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_TIME_BASED)
            (void)fprintf(stderr, "  %s (domain %u)\n", group->name, group->domain);
    }
    return ZETA_EXIT_FAILED;
}

/* Groups of one domain need the same counters of the device, so only one of them can be counted. */
static int check_domains(struct zeta_group_entry *const *groups, uint32_t count,
                         const struct zeta_group_entry *group)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct zeta_group_entry *other = groups[i];

        if (other->properties.domain == group->properties.domain)
            return zeta_print_failure(
                "%s and %s are both of domain %u and use the same counters, so "
                "they cannot be sampled together; sample them in two runs, or "
                "choose groups of different domains ('zeta groups' lists them)",
                other->properties.name, group->properties.name, group->properties.domain);
    }
    return ZETA_EXIT_OK;
}

int zeta_group_choose_any(const struct zeta_group_list *list,
                          const struct zeta_device_entry *device, const char *const *names,
                          uint32_t count, struct zeta_group_entry **out_groups)
{
    int status = ZETA_EXIT_OK;

    for (uint32_t i = 0; i < count && status == ZETA_EXIT_OK; i++) {
        out_groups[i] =
            zeta_group_list_find(list, names[i], ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_TIME_BASED);
        if (!out_groups[i])
            return refuse_unknown(list, device, names[i]);
        status = zeta_group_entry_load_metrics(out_groups[i]);
    }
    return status;
}

int zeta_group_choose(const struct zeta_group_list *list, const struct zeta_device_entry *device,
                      const char *const *names, uint32_t count,
                      struct zeta_group_entry **out_groups)
{
    int status = zeta_group_choose_any(list, device, names, count, out_groups);

    for (uint32_t i = 0; i < count && status == ZETA_EXIT_OK; i++)
        status = check_domains(out_groups, i, out_groups[i]);
    return status;
}
