/* Activation: which groups of a device are collected. */
#include <stdlib.h>

#include "core/device/device.h"
#include "core/metric/activation/client.h"
#include "core/metric/device/device_metrics.h"
#include "core/metric/group/group.h"
#include "core/plugin/host.h"
#include "core/settings/settings.h"
#include "core/util/cleanup.h"
#include "core/util/error.h"
#include "core/util/log.h"
#include "zeta_impl.h"

/** Metrics of a tile, NULL while nobody has used them. */
static struct zeta_device_metrics *tile_metrics(const struct zeta_device *root, uint32_t tile)
{
    return atomic_load_explicit(&root->tiles[tile]->metrics, memory_order_acquire);
}

/** Replaces the active groups of a device with malloc'ed ones, and ends those of its tiles. */
static void set_active_locked(struct zeta_device_metrics *metrics, uint32_t count,
                              struct zeta_metric_group **groups)
{
    const struct zeta_device *device = metrics->device;

    free(metrics->active);
    metrics->active = groups;
    metrics->active_count = count;
    for (uint32_t i = 0; i < device->tile_count; i++) {
        struct zeta_device_metrics *tile = tile_metrics(device, i);

        if (tile)
            set_active_locked(tile, 0, NULL);
    }
}

/**
 * Which of the given groups are to be active: all, if they are of this device and one per domain;
 * the last of each domain where a setting asks for it, as another driver does. kept has room for
 * all.
 */
static ze_result_t choose_groups(const struct zeta_device *device, uint32_t count,
                                 struct zeta_metric_group *const *groups,
                                 struct zeta_metric_group **kept, uint32_t *out_kept)
{
    const bool last_wins = zeta_settings_bool("metric.last_of_domain", false);

    *out_kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        ze_result_t result = zeta_metric_group_check_device(groups[i], device);

        if (result != ZE_RESULT_SUCCESS)
            return result;
    }
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t domain = groups[i]->properties->domain;
        uint32_t later = i + 1;

        while (later < count && groups[later]->properties->domain != domain)
            later++;
        if (later == count) {
            kept[(*out_kept)++] = groups[i];
            continue;
        }
        if (!last_wins)
            return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                              "groups %s and %s share domain %u, so only one of them can be "
                              "active; measure them one after the other",
                              groups[i]->properties->name, groups[later]->properties->name, domain);
        zeta_log_once(ZETA_LOG_WARN, "metric",
                      "groups %s and %s share domain %u and were activated together: the last one "
                      "is active (setting metric.last_of_domain)",
                      groups[i]->properties->name, groups[later]->properties->name, domain);
    }
    return ZE_RESULT_SUCCESS;
}

/** What is active on the root is active on its tiles, so a tile cannot have another group there. */
static ze_result_t check_root_locked(const struct zeta_device_metrics *metrics, uint32_t count,
                                     struct zeta_metric_group *const *groups)
{
    const struct zeta_device_metrics *parent = metrics->parent;

    if (!parent)
        return ZE_RESULT_SUCCESS;
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t j = 0; j < parent->active_count; j++) {
            const struct zeta_metric_group *other = parent->active[j];

            if (other->properties->domain != groups[i]->properties->domain ||
                zeta_metric_group_same(other, groups[i]))
                continue;
            return zeta_error(ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE,
                              "group %s is active on the root device in domain %u; deactivate it "
                              "there before %s is activated on a tile",
                              other->properties->name, other->properties->domain,
                              groups[i]->properties->name);
        }
    }
    return ZE_RESULT_SUCCESS;
}

/** As the entry point; the groups are pinned. */
static ze_result_t activate(const struct zeta_context *context, struct zeta_device *device,
                            uint32_t count, struct zeta_metric_group *const *groups)
{
    ZETA_CLEANUP(zeta_freep)
    struct zeta_metric_group **kept = calloc(count, sizeof(struct zeta_metric_group *));
    struct zeta_device_metrics *metrics, *root;
    uint32_t kept_count = 0;
    ze_result_t result = zeta_context_check_device(context, device);

    if (result == ZE_RESULT_SUCCESS && !kept)
        result = zeta_error(ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, "no memory for %u groups", count);
    if (result == ZE_RESULT_SUCCESS)
        result = choose_groups(device, count, groups, kept, &kept_count);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    metrics = kept[0]->metrics;
    root = zeta_metrics_root(metrics);
    zeta_clients_wait_for_queries(metrics, kept_count, kept);
    (void)pthread_mutex_lock(&root->lock);
    result = zeta_metrics_check_enabled(metrics);
    /* An application can still change a group that it did not close. */
    for (uint32_t i = 0; i < kept_count && result == ZE_RESULT_SUCCESS; i++) {
        if (kept[i]->user && !zeta_object_is(kept[i], ZETA_KIND_METRIC_GROUP))
            result = zeta_error(ZE_RESULT_ERROR_INVALID_NULL_HANDLE,
                                "another thread destroyed the group at position %u", i);
        else if (kept[i]->user && !kept[i]->closed)
            result = ZE_RESULT_NOT_READY;
    }
    if (result == ZE_RESULT_SUCCESS)
        result = check_root_locked(metrics, kept_count, kept);
    if (result == ZE_RESULT_SUCCESS)
        result = zeta_clients_check_kept_locked(metrics, kept_count, kept);
    if (result == ZE_RESULT_SUCCESS)
        set_active_locked(metrics, kept_count, ZETA_TAKE(kept));
    (void)pthread_mutex_unlock(&root->lock);
    return result;
}

ze_result_t ZE_APICALL
impl_zetContextActivateMetricGroups(zet_context_handle_t hContext, zet_device_handle_t hDevice,
                                    uint32_t count, zet_metric_group_handle_t *phMetricGroups)
{
    struct zeta_device *device = (struct zeta_device *)hDevice;
    struct zeta_metric_group *const *groups = (struct zeta_metric_group *const *)phMetricGroups;
    uint32_t pinned = 0;
    ze_result_t result;

    if (count == 0) {
        struct zeta_device_metrics *metrics =
            atomic_load_explicit(&device->metrics, memory_order_acquire);

        if (metrics) { /* else nothing was ever active */
            struct zeta_device_metrics *root = zeta_metrics_root(metrics);

            (void)pthread_mutex_lock(&root->lock);
            set_active_locked(metrics, 0, NULL);
            zeta_clients_stop_inactive_locked(root);
            (void)pthread_mutex_unlock(&root->lock);
        }
        return ZE_RESULT_SUCCESS;
    }
    while (pinned < count && zeta_object_pin(groups[pinned], ZETA_KIND_METRIC_GROUP))
        pinned++;
    if (pinned == count)
        result = activate((const struct zeta_context *)hContext, device, count, groups);
    else
        result = zeta_error(ZE_RESULT_ERROR_INVALID_NULL_HANDLE,
                            "a group was destroyed by another thread");
    while (pinned > 0)
        zeta_object_unpin(groups[--pinned]);
    return result;
}

/* Enabling and disabling metrics --------------------------------------------------------------- */

/** True if any group of the device, of its root or of one of its tiles is active. */
static bool any_active_locked(const struct zeta_device_metrics *metrics)
{
    const struct zeta_device *device = metrics->device;

    if (metrics->active_count > 0 || (metrics->parent && metrics->parent->active_count > 0))
        return true;
    for (uint32_t i = 0; i < device->tile_count; i++) {
        const struct zeta_device_metrics *tile = tile_metrics(device, i);

        if (tile && tile->active_count > 0)
            return true;
    }
    return false;
}

/**
 * Makes what is kept for the tiles, where that may fail, so that a failure leaves the root as it
 * was. NULL without memory.
 */
static struct zeta_device_metrics *get_with_tiles(struct zeta_device *device)
{
    for (uint32_t i = 0; i < device->tile_count; i++) {
        if (!zeta_device_metrics_get(device->tiles[i]))
            return NULL;
    }
    return zeta_device_metrics_get(device);
}

static void set_enabled(struct zeta_device_metrics *metrics, bool enabled)
{
    const struct zeta_device *device = metrics->device;

    for (uint32_t i = 0; i < device->tile_count; i++)
        set_enabled(zeta_device_metrics_get(device->tiles[i]), enabled);
    if (enabled)
        atomic_store(&metrics->was_enabled, true);
    atomic_store(&metrics->disabled, !enabled);
}

ze_result_t ZE_APICALL impl_zetDeviceEnableMetricsExp(zet_device_handle_t hDevice)
{
    struct zeta_device_metrics *metrics = get_with_tiles((struct zeta_device *)hDevice);

    if (!metrics)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    set_enabled(metrics, true);
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL impl_zetDeviceDisableMetricsExp(zet_device_handle_t hDevice)
{
    struct zeta_device *device = (struct zeta_device *)hDevice;
    struct zeta_device_metrics *metrics = get_with_tiles(device);
    struct zeta_device_metrics *root;
    ze_result_t result;

    if (!metrics)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    root = zeta_metrics_root(metrics);
    /* Checked and disabled in one step, so that no activation comes between. */
    (void)pthread_mutex_lock(&root->lock);
    result = zeta_clients_check_none_locked(metrics);
    if (result == ZE_RESULT_SUCCESS && any_active_locked(metrics))
        result = zeta_error(ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE,
                            "groups of device %s are active; deactivate them with "
                            "zetContextActivateMetricGroups and count 0",
                            (root->active_count > 0 ? root->device : device)->backend->id);
    if (result == ZE_RESULT_SUCCESS)
        set_enabled(metrics, false);
    (void)pthread_mutex_unlock(&root->lock);
    return result;
}
