/* What the API shows of groups and metrics. */
#include <string.h>

#include "core/api/chain.h"
#include "core/capture/capture.h"
#include "core/capture/unit_program.h"
#include "core/device/device.h"
#include "core/formula/compile/compile.h"
#include "core/formula/sets/set.h"
#include "core/metric/device/device_metrics.h"
#include "core/metric/group/group.h"
#include "core/metric/group/load.h"
#include "core/plugin/host.h"
#include "core/util/cleanup.h"
#include "core/util/own_struct.h"
#include "zeta/zeta.h"
#include "zeta_impl.h"

ze_result_t ZE_APICALL impl_zetMetricGroupGet(zet_device_handle_t hDevice, uint32_t *pCount,
                                              zet_metric_group_handle_t *phMetricGroups)
{
    struct zeta_device_metrics *metrics = NULL;
    ze_result_t result = zeta_groups_enumerate((struct zeta_device *)hDevice, pCount, &metrics);
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

/** Fills what is chained to the properties of a group, or of a metric: group is NULL then. */
static void fill_chain(const struct zeta_metric_group *group, const void *next)
{
    struct zeta_chain chain = zeta_chain_begin(next);
    uint32_t stype;
    void *node;

    while ((node = zeta_chain_next(&chain, &stype)) != NULL) {
        zet_metric_global_timestamps_resolution_exp_t *resolution = node;
        zet_metric_group_type_exp_t *type = node;
        zet_metric_source_id_exp_t *source = node;
        zet_export_dma_buf_exp_properties_t *export = node;

        if (stype == ZET_STRUCTURE_TYPE_EXPORT_DMA_EXP_PROPERTIES &&
            zeta_chain_readable(node, sizeof(*export))) {
            export->fd = -1; /* there is no memory to import */
            export->size = 0;
        }
        if (!group)
            continue;
        if (stype == ZET_STRUCTURE_TYPE_METRIC_GLOBAL_TIMESTAMPS_RESOLUTION_EXP &&
            zeta_chain_readable(node, sizeof(*resolution))) {
            resolution->timerResolution = group->device->backend->properties.timer_hz;
            resolution->timestampValidBits =
                group->device->backend->properties.timestamp_valid_bits;
        } else if (stype == ZET_STRUCTURE_TYPE_METRIC_GROUP_TYPE_EXP &&
                   zeta_chain_readable(node, sizeof(*type))) {
            type->type = group->user ? ZET_METRIC_GROUP_TYPE_EXP_FLAG_USER_CREATED
                                     : ZET_METRIC_GROUP_TYPE_EXP_FLAG_OTHER;
            if (zeta_metric_group_takes_markers(group))
                type->type |= ZET_METRIC_GROUP_TYPE_EXP_FLAG_MARKER;
        } else if (stype == ZET_STRUCTURE_TYPE_METRIC_SOURCE_ID_EXP &&
                   zeta_chain_readable(node, sizeof(*source))) {
            source->sourceId = group->source_id;
        }
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

ze_result_t ZE_APICALL impl_zetMetricGroupGetProperties(zet_metric_group_handle_t hMetricGroup,
                                                        zet_metric_group_properties_t *pProperties)
{
    struct zeta_metric_group *group = (struct zeta_metric_group *)hMetricGroup;
    const size_t skip = offsetof(zet_metric_group_properties_t, name);

    if (!lock_group(group))
        return zeta_object_explain(group, ZETA_KIND_METRIC_GROUP, "zetMetricGroupGetProperties",
                                   "hMetricGroup");
    memcpy((char *)pProperties + skip, (const char *)group->properties + skip, group_bytes);
    pProperties->metricCount = zeta_metric_group_metric_count(group);
    if (pProperties->pNext)
        fill_chain(group, pProperties->pNext);
    unlock_group(group);
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL impl_zetMetricGet(zet_metric_group_handle_t hMetricGroup, uint32_t *pCount,
                                         zet_metric_handle_t *phMetrics)
{
    struct zeta_metric_group *group = (struct zeta_metric_group *)hMetricGroup;
    struct zeta_metric_entry **entries = NULL;
    ze_result_t result = ZE_RESULT_SUCCESS;
    uint32_t count;

    if (!lock_group(group))
        return zeta_object_explain(group, ZETA_KIND_METRIC_GROUP, "zetMetricGet", "hMetricGroup");
    count = zeta_count_clip(pCount, zeta_metric_group_metric_count(group), phMetrics);
    if (count > 0)
        result = zeta_metric_group_entries(group, &entries);
    for (uint32_t i = 0; entries && i < count; i++)
        phMetrics[i] = (zet_metric_handle_t)entries[i];
    unlock_group(group);
    return result;
}

ze_result_t ZE_APICALL impl_zetMetricGetProperties(zet_metric_handle_t hMetric,
                                                   zet_metric_properties_t *pProperties)
{
    struct zeta_metric_entry *entry = (struct zeta_metric_entry *)hMetric;
    const size_t skip = offsetof(zet_metric_properties_t, name);
    /* The handle may end before the process: of an application, its group, or a decoder. */
    const bool mortal = entry->user || entry->decoder || (entry->group && entry->group->user);

    if (mortal && !zeta_object_pin(entry, ZETA_KIND_METRIC))
        return zeta_object_explain(entry, ZETA_KIND_METRIC, "zetMetricGetProperties", "hMetric");
    memcpy((char *)pProperties + skip, (const char *)entry->properties + skip, metric_bytes);
    if (pProperties->pNext)
        fill_chain(NULL, pProperties->pNext);
    if (mortal)
        zeta_object_unpin(entry);
    return ZE_RESULT_SUCCESS;
}

/* Functions of zeta.h -------------------------------------------------------------------------- */

ze_result_t zetaMetricGroupGetInfo(zet_metric_group_handle_t group, struct zeta_group_info *info)
{
    const char *function = "zetaMetricGroupGetInfo";
    ZETA_CLEANUP(zeta_group_view_release) struct zeta_group_view view = {0};
    struct zeta_group_info found = {0};
    struct zeta_stream_periods periods = {0};
    const struct zeta_metric_group *viewed;
    const struct zeta_provider *provider;
    ze_result_t result;

    if (!zeta_object_is(group, ZETA_KIND_METRIC_GROUP))
        return zeta_object_explain(group, ZETA_KIND_METRIC_GROUP, function, "group");
    if (!info)
        return zeta_own_null_pointer(function, "info");
    result = zeta_group_view_acquire(group, function, "group", &view);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    viewed = view.group;
    provider = &viewed->device->backend->providers[ZETA_GROUP_METRIC_STREAM];
    if (!provider->backend)
        return zeta_error(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, "no plugin samples device %s",
                          viewed->device->backend->id);
    if (viewed->properties->samplingType == ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_TIME_BASED) {
        for (uint32_t i = 0; i < viewed->compiled_count; i++)
            zeta_stream_narrow_periods(
                &zeta_metrics_tile(viewed->device, i)->backend->providers[ZETA_GROUP_METRIC_STREAM],
                viewed->compiled[i], &periods);
    }
    found.plugin = provider->backend->id;
    found.unit = viewed->set->unit->name;
    found.origin = viewed->origin;
    found.record_bytes = zeta_compiled_record_bytes(viewed->compiled[0]);
    found.min_period_ns = periods.min_ns;
    found.max_period_ns = periods.max_ns;
    zeta_query_notes_get(viewed, &found.no_queries, &found.query_note);
    (void)provider->backend->metric.holder(provider->backend->self, provider->device,
                                           zeta_plugin_text(found.unit), &found.holder_pid);
    zeta_own_struct_copy(info, info->struct_size, &found, sizeof(found));
    return ZE_RESULT_SUCCESS;
}

ze_result_t zetaMetricGetInfo(zet_metric_handle_t metric, struct zeta_metric_info *info)
{
    const char *function = "zetaMetricGetInfo";
    struct zeta_metric_entry *entry = (struct zeta_metric_entry *)metric;
    struct zeta_group_view view = {0};
    struct zeta_metric_info found = {0};
    ze_result_t result = ZE_RESULT_SUCCESS;

    if (!zeta_object_pin(entry, ZETA_KIND_METRIC))
        return zeta_object_explain(entry, ZETA_KIND_METRIC, function, "metric");
    if (!info)
        result = zeta_own_null_pointer(function, "info");
    else if (entry->group) /* whose set defines the metric */
        result = zeta_group_view_acquire(entry->group, function, "metric", &view);
    if (result == ZE_RESULT_SUCCESS) {
        found.metric_class = (uint32_t)entry->metric->metric_class;
        zeta_own_struct_copy(info, info->struct_size, &found, sizeof(found));
    }
    zeta_group_view_release(&view);
    zeta_object_unpin(entry);
    return result;
}
