/* What the API shows of groups and metrics. */
#include <string.h>

#include "core/api/chain.h"
#include "core/device/device.h"
#include "core/metric/device/device_metrics.h"
#include "core/metric/group/group.h"
#include "core/metric/group/load.h"
#include "core/plugin/host.h"
#include "core/util/error.h"
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
        if (zeta_metric_group_takes_markers(group))
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
