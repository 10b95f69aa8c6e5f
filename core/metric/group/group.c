#include "core/metric/group/group.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/api/chain.h"
#include "core/device/device.h"
#include "core/formula/compile/compile.h"
#include "core/formula/sets/set.h"
#include "core/metric/device/device_metrics.h"
#include "core/metric/stream/marker.h"
#include "core/plugin/host.h"
#include "core/util/error.h"
#include "zeta_impl.h"

/* Making and discarding -------------------------------------------------------------------------
 */

static void copy_text(char *target, size_t size_bytes, const char *text)
{
    (void)snprintf(target, size_bytes, "%s", text ? text : "");
}

void zeta_metric_group_describe(const struct zeta_compiled *compiled,
                                zet_metric_group_sampling_type_flags_t sampling,
                                zet_metric_group_properties_t *out_properties)
{
    const struct zeta_set *set = zeta_compiled_set(compiled);

    copy_text(out_properties->name, sizeof(out_properties->name), set->name);
    copy_text(out_properties->description, sizeof(out_properties->description), set->description);
    out_properties->samplingType = sampling;
    out_properties->domain = set->domain;
    out_properties->metricCount = zeta_compiled_metric_count(compiled);
}

void zeta_metric_describe(const struct zeta_metric *metric, zet_metric_properties_t *out_properties)
{
    copy_text(out_properties->name, sizeof(out_properties->name), metric->name);
    copy_text(out_properties->description, sizeof(out_properties->description),
              metric->description);
    copy_text(out_properties->component, sizeof(out_properties->component), metric->component);
    copy_text(out_properties->resultUnits, sizeof(out_properties->resultUnits), metric->unit);
    out_properties->tierNumber = metric->tier;
    out_properties->metricType = metric->type;
    out_properties->resultType = metric->value_type;
}

static zet_metric_group_properties_t *describe_group(const struct zeta_group_plan *plan)
{
    zet_metric_group_properties_t *properties = calloc(1, sizeof(*properties));

    if (properties)
        zeta_metric_group_describe(plan->compiled[0], plan->sampling, properties);
    return properties;
}

static zet_metric_properties_t *describe_metric(const struct zeta_metric *metric)
{
    zet_metric_properties_t *properties = calloc(1, sizeof(*properties));

    if (properties)
        zeta_metric_describe(metric, properties);
    return properties;
}

static char *describe_origin(const struct zeta_set *set)
{
    size_t size_bytes = strlen(set->file) + sizeof(":4294967295");
    char *origin = malloc(size_bytes);

    if (origin)
        (void)snprintf(origin, size_bytes, "%s:%u", set->file, set->line);
    return origin;
}

void zeta_metric_entry_discard(struct zeta_metric_entry *entry)
{
    if (entry && zeta_object_retire(entry))
        zeta_object_unpin(entry);
}

void zeta_metric_group_discard(struct zeta_metric_group *group)
{
    if (!group)
        return;
    for (uint32_t i = 0; i < group->metric_count; i++)
        zeta_metric_entry_discard(group->entries[i]);
    free(group->entries);
    free((void *)(uintptr_t)group->compiled);
    free((void *)(uintptr_t)group->origin);
    free((void *)(uintptr_t)group->properties);
    if (zeta_object_retire(group))
        zeta_object_unpin(group);
}

ze_result_t zeta_metric_entry_create(const struct zeta_metric *metric,
                                     struct zeta_metric_entry **out_entry)
{
    struct zeta_metric_entry *entry;
    void *made = NULL;
    ze_result_t result = zeta_object_create(ZETA_KIND_METRIC, sizeof(*entry), &made);

    if (result != ZE_RESULT_SUCCESS)
        return result;
    entry = made;
    entry->metric = metric;
    entry->properties = describe_metric(metric);
    if (!entry->properties) {
        zeta_metric_entry_discard(entry);
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    *out_entry = entry;
    return ZE_RESULT_SUCCESS;
}

static ze_result_t add_entries(struct zeta_metric_group *group)
{
    const struct zeta_compiled *compiled = group->compiled[0];
    uint32_t count = zeta_compiled_metric_count(compiled);

    group->entries = calloc(count, sizeof(struct zeta_metric_entry *));
    if (!group->entries)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    for (uint32_t i = 0; i < count; i++) {
        struct zeta_metric_entry *entry = NULL;
        ze_result_t result = zeta_metric_entry_create(zeta_compiled_metric(compiled, i), &entry);

        if (result != ZE_RESULT_SUCCESS)
            return result;
        entry->group = group;
        group->entries[group->metric_count++] = entry;
    }
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeta_metric_group_create(struct zeta_device_metrics *metrics,
                                     const struct zeta_group_plan *plan,
                                     struct zeta_metric_group **out_group)
{
    size_t compiled_bytes = plan->compiled_count * sizeof(struct zeta_compiled *);
    struct zeta_compiled **compiled = malloc(compiled_bytes);
    struct zeta_metric_group *group;
    void *made = NULL;
    ze_result_t result;

    if (!compiled)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    memcpy(compiled, plan->compiled, compiled_bytes);
    result = zeta_object_create(ZETA_KIND_METRIC_GROUP, sizeof(*group), &made);
    if (result != ZE_RESULT_SUCCESS) {
        free(compiled);
        return result;
    }
    group = made;
    group->device = metrics->device;
    group->metrics = metrics;
    group->set = zeta_compiled_set(compiled[0]);
    group->compiled = compiled;
    group->compiled_count = plan->compiled_count;
    group->source_id = plan->source_id;
    group->properties = describe_group(plan);
    group->origin = describe_origin(group->set);
    result = group->properties && group->origin ? add_entries(group)
                                                : ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    if (result != ZE_RESULT_SUCCESS) {
        zeta_metric_group_discard(group);
        return result;
    }
    *out_group = group;
    return ZE_RESULT_SUCCESS;
}

bool zeta_metric_group_same(const struct zeta_metric_group *a, const struct zeta_metric_group *b)
{
    return a == b ||
           (!a->user && !b->user && a->properties->samplingType == b->properties->samplingType &&
            strcmp(a->properties->name, b->properties->name) == 0);
}

ze_result_t zeta_metric_group_check_device(const struct zeta_metric_group *group,
                                           const struct zeta_device *device)
{
    if (group->device == device)
        return ZE_RESULT_SUCCESS;
    return zeta_error(
        ZE_RESULT_ERROR_INVALID_ARGUMENT,
        "group %s belongs to device %s, not to %s; enumerate the groups of the device "
        "that is to be measured",
        zeta_metric_group_name(group), group->device->backend->id, device->backend->id);
}

/* The API ---------------------------------------------------------------------------------------
 */

ze_result_t ZE_APICALL impl_zetMetricGroupGet(zet_device_handle_t hDevice, uint32_t *pCount,
                                              zet_metric_group_handle_t *phMetricGroups)
{
    struct zeta_device_metrics *metrics = NULL;
    ze_result_t result =
        zeta_device_metrics_enumerate((struct zeta_device *)hDevice, pCount, &metrics);
    uint32_t count;

    if (result != ZE_RESULT_SUCCESS)
        return result;
    count = zeta_count_clip(pCount, metrics->group_count, phMetricGroups);
    for (uint32_t i = 0; i < count; i++)
        phMetricGroups[i] = (zet_metric_group_handle_t)metrics->groups[i];
    return ZE_RESULT_SUCCESS;
}

/*
 * What is copied behind stype and pNext. Volatile, because for a constant size the compiler emits a
 * string instruction that takes longer to start than the library's memcpy takes for everything.
 */
static const volatile size_t group_bytes =
    sizeof(zet_metric_group_properties_t) - offsetof(zet_metric_group_properties_t, name);
static const volatile size_t metric_bytes =
    sizeof(zet_metric_properties_t) - offsetof(zet_metric_properties_t, name);

/** Fills one struct that was chained to the properties of a group. */
static void fill_group_node(const struct zeta_metric_group *group, uint32_t stype, void *node)
{
    const struct zeta_plugin_device_properties *device = &group->device->backend->properties;

    if (stype == ZET_STRUCTURE_TYPE_METRIC_GLOBAL_TIMESTAMPS_RESOLUTION_EXP &&
        zeta_chain_readable(node, sizeof(zet_metric_global_timestamps_resolution_exp_t))) {
        zet_metric_global_timestamps_resolution_exp_t *resolution = node;

        resolution->timerResolution = device->timer_hz;
        resolution->timestampValidBits = device->timestamp_valid_bits;
    } else if (stype == ZET_STRUCTURE_TYPE_METRIC_GROUP_TYPE_EXP &&
               zeta_chain_readable(node, sizeof(zet_metric_group_type_exp_t))) {
        zet_metric_group_type_exp_flags_t *type = &((zet_metric_group_type_exp_t *)node)->type;

        *type = group->user ? ZET_METRIC_GROUP_TYPE_EXP_FLAG_USER_CREATED
                            : ZET_METRIC_GROUP_TYPE_EXP_FLAG_OTHER;
        if (zeta_marker_suits(group))
            *type |= ZET_METRIC_GROUP_TYPE_EXP_FLAG_MARKER;
    } else if (stype == ZET_STRUCTURE_TYPE_METRIC_SOURCE_ID_EXP &&
               zeta_chain_readable(node, sizeof(zet_metric_source_id_exp_t))) {
        ((zet_metric_source_id_exp_t *)node)->sourceId = group->source_id;
    }
}

/** Says that there is no memory to import: no descriptor, no bytes. */
static void fill_export_node(uint32_t stype, void *node)
{
    if (stype == ZET_STRUCTURE_TYPE_EXPORT_DMA_EXP_PROPERTIES &&
        zeta_chain_readable(node, sizeof(zet_export_dma_buf_exp_properties_t))) {
        zet_export_dma_buf_exp_properties_t *export = node;

        export->fd = -1;
        export->size = 0;
    }
}

static void fill_group_chain(const struct zeta_metric_group *group, const void *next)
{
    struct zeta_chain chain = zeta_chain_begin(next);
    uint32_t stype;
    void *node;

    while ((node = zeta_chain_next(&chain, &stype)) != NULL) {
        fill_group_node(group, stype, node);
        fill_export_node(stype, node);
    }
}

/**
 * Pins and locks a group that an application made, because another thread may destroy or change it;
 * what is predefined needs neither. False if it is destroyed.
 */
static bool lock_group(struct zeta_metric_group *group)
{
    if (!group->user)
        return true;
    if (!zeta_object_pin(group, ZETA_KIND_METRIC_GROUP))
        return false;
    (void)pthread_mutex_lock(&zeta_metrics_root(group->metrics)->lock);
    return true;
}

static void unlock_group(struct zeta_metric_group *group)
{
    if (!group->user)
        return;
    (void)pthread_mutex_unlock(&zeta_metrics_root(group->metrics)->lock);
    zeta_object_unpin(group);
}

/** True if the handle may end before the process: of an application, its group, or a decoder. */
static bool is_mortal(const struct zeta_metric_entry *entry)
{
    return entry->user || entry->decoder || (entry->group && entry->group->user);
}

ze_result_t ZE_APICALL impl_zetMetricGroupGetProperties(zet_metric_group_handle_t hMetricGroup,
                                                        zet_metric_group_properties_t *pProperties)
{
    struct zeta_metric_group *group = (struct zeta_metric_group *)hMetricGroup;
    const size_t skip = offsetof(zet_metric_group_properties_t, name);

    if (!lock_group(group))
        return zeta_object_explain(group, ZETA_KIND_METRIC_GROUP, "zetMetricGroupGetProperties",
                                   "hMetricGroup");
    memcpy((char *)pProperties + skip, (const char *)group->properties + skip, group_bytes);
    if (pProperties->pNext)
        fill_group_chain(group, pProperties->pNext);
    unlock_group(group);
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL impl_zetMetricGet(zet_metric_group_handle_t hMetricGroup, uint32_t *pCount,
                                         zet_metric_handle_t *phMetrics)
{
    struct zeta_metric_group *group = (struct zeta_metric_group *)hMetricGroup;
    uint32_t count;

    if (!lock_group(group))
        return zeta_object_explain(group, ZETA_KIND_METRIC_GROUP, "zetMetricGet", "hMetricGroup");
    count = zeta_count_clip(pCount, group->metric_count, phMetrics);
    for (uint32_t i = 0; i < count; i++)
        phMetrics[i] = (zet_metric_handle_t)group->entries[i];
    unlock_group(group);
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL impl_zetMetricGetProperties(zet_metric_handle_t hMetric,
                                                   zet_metric_properties_t *pProperties)
{
    struct zeta_metric_entry *entry = (struct zeta_metric_entry *)hMetric;
    const size_t skip = offsetof(zet_metric_properties_t, name);
    const bool mortal = is_mortal(entry);

    if (mortal && !zeta_object_pin(entry, ZETA_KIND_METRIC))
        return zeta_object_explain(entry, ZETA_KIND_METRIC, "zetMetricGetProperties", "hMetric");
    memcpy((char *)pProperties + skip, (const char *)entry->properties + skip, metric_bytes);
    if (pProperties->pNext) {
        struct zeta_chain chain = zeta_chain_begin(pProperties->pNext);
        uint32_t stype;
        void *node;

        while ((node = zeta_chain_next(&chain, &stype)) != NULL)
            fill_export_node(stype, node);
    }
    if (mortal)
        zeta_object_unpin(entry);
    return ZE_RESULT_SUCCESS;
}
