/* Activation: which groups of a device are collected. */
#include <stdlib.h>
#include <string.h>

#include "core/device/device.h"
#include "core/metric/activation/active.h"
#include "core/metric/activation/client.h"
#include "core/metric/device/device_metrics.h"
#include "core/metric/group/group.h"
#include "core/plugin/host.h"
#include "core/settings/settings.h"
#include "core/util/cleanup.h"
#include "core/util/error.h"
#include "core/util/log.h"
#include "zeta_impl.h"

static ze_result_t deactivate(struct zeta_device *device)
{
    struct zeta_device_metrics *metrics =
        atomic_load_explicit(&device->metrics, memory_order_acquire);
    struct zeta_device_metrics *root;

    if (!metrics)
        return ZE_RESULT_SUCCESS; /* nothing was ever active */
    root = zeta_metrics_root(metrics);
    (void)pthread_mutex_lock(&root->lock);
    zeta_metrics_set_active_locked(metrics, 0, NULL);
    zeta_clients_stop_inactive_locked(root);
    (void)pthread_mutex_unlock(&root->lock);
    return ZE_RESULT_SUCCESS;
}

/** A group of the same domain behind position i; NULL if there is none. */
static const struct zeta_metric_group *
later_of_domain(uint32_t count, struct zeta_metric_group *const *groups, uint32_t i)
{
    for (uint32_t j = i + 1; j < count; j++) {
        if (groups[j]->properties->domain == groups[i]->properties->domain)
            return groups[j];
    }
    return NULL;
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
    bool last_wins = zeta_settings_bool("metric.last_of_domain", false);

    *out_kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (groups[i]->device != device)
            return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                              "group %s at position %u belongs to device %s, not to %s",
                              zeta_metric_group_name(groups[i]), i, groups[i]->device->backend->id,
                              device->backend->id);
    }
    for (uint32_t i = 0; i < count; i++) {
        const struct zeta_metric_group *later = later_of_domain(count, groups, i);

        if (!later) {
            kept[(*out_kept)++] = groups[i];
            continue;
        }
        if (!last_wins)
            return zeta_error(
                ZE_RESULT_ERROR_INVALID_ARGUMENT,
                "groups %s and %s share domain %u, so only one of them can be active; "
                "measure them one after the other",
                zeta_metric_group_name(groups[i]), zeta_metric_group_name(later),
                groups[i]->properties->domain);
        zeta_log_once(ZETA_LOG_WARN, "metric",
                      "groups %s and %s share domain %u and were activated together: the last one "
                      "is active (setting metric.last_of_domain)",
                      zeta_metric_group_name(groups[i]), zeta_metric_group_name(later),
                      groups[i]->properties->domain);
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
                              zeta_metric_group_name(other), other->properties->domain,
                              zeta_metric_group_name(groups[i]));
        }
    }
    return ZE_RESULT_SUCCESS;
}

static ze_result_t replace_locked(struct zeta_device_metrics *metrics, uint32_t count,
                                  struct zeta_metric_group *const *groups)
{
    struct zeta_metric_group **active;
    ze_result_t result = zeta_metrics_check_enabled(metrics);

    if (result == ZE_RESULT_SUCCESS)
        result = zeta_groups_check_closed_locked(groups, count);
    if (result == ZE_RESULT_SUCCESS)
        result = check_root_locked(metrics, count, groups);
    if (result == ZE_RESULT_SUCCESS)
        result = zeta_clients_check_kept_locked(metrics, count, groups);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    active = malloc(count * sizeof(struct zeta_metric_group *));
    if (!active)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    memcpy(active, groups, count * sizeof(struct zeta_metric_group *));
    zeta_metrics_set_active_locked(metrics, count, active);
    return ZE_RESULT_SUCCESS;
}

/** As the entry point; the groups are pinned. */
static ze_result_t activate(const struct zeta_context *context, struct zeta_device *device,
                            uint32_t count, struct zeta_metric_group *const *groups)
{
    ZETA_CLEANUP(zeta_freep)
    struct zeta_metric_group **kept = calloc(count, sizeof(struct zeta_metric_group *));
    struct zeta_device_metrics *root;
    uint32_t kept_count = 0;
    ze_result_t result = zeta_context_check_device(context, device);

    if (result == ZE_RESULT_SUCCESS && !kept)
        result = zeta_error(ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, "no memory for %u groups", count);
    if (result == ZE_RESULT_SUCCESS)
        result = choose_groups(device, count, groups, kept, &kept_count);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    root = zeta_metrics_root(kept[0]->metrics);
    zeta_clients_wait_for_queries(kept[0]->metrics, kept_count, kept);
    (void)pthread_mutex_lock(&root->lock);
    result = replace_locked(kept[0]->metrics, kept_count, kept);
    (void)pthread_mutex_unlock(&root->lock);
    return result;
}

ze_result_t ZE_APICALL
impl_zetContextActivateMetricGroups(zet_context_handle_t hContext, zet_device_handle_t hDevice,
                                    uint32_t count, zet_metric_group_handle_t *phMetricGroups)
{
    struct zeta_device *device = (struct zeta_device *)hDevice;
    struct zeta_metric_group *const *groups = (struct zeta_metric_group *const *)phMetricGroups;
    ze_result_t result;

    if (count == 0)
        return deactivate(device);
    if (!zeta_groups_pin(groups, count))
        return zeta_error(ZE_RESULT_ERROR_INVALID_NULL_HANDLE,
                          "a group was destroyed by another thread");
    result = activate((const struct zeta_context *)hContext, device, count, groups);
    zeta_groups_unpin(groups, count);
    return result;
}
