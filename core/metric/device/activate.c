#include "core/metric/device/activate.h"

#include <stdlib.h>
#include <string.h>

#include "core/device/device.h"
#include "core/metric/device/device_metrics.h"
#include "core/metric/device/enable.h"
#include "core/metric/group/group.h"
#include "core/metric/programmable/user_group.h"
#include "core/metric/query/query.h"
#include "core/metric/stream/stream.h"
#include "core/metric/tracer/tracer.h"
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

static bool is_listed(const struct zeta_metric_group *group,
                      struct zeta_metric_group *const *groups, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (zeta_metric_group_same(groups[i], group))
            return true;
    }
    return false;
}

bool zeta_metric_group_is_active_locked(const struct zeta_metric_group *group)
{
    const struct zeta_device_metrics *metrics = group->metrics;

    if (is_listed(group, metrics->active, metrics->active_count))
        return true;
    return metrics->parent &&
           is_listed(group, metrics->parent->active, metrics->parent->active_count);
}

bool zeta_metrics_any_active_locked(const struct zeta_device_metrics *metrics)
{
    const struct zeta_device *device = metrics->device;

    if (metrics->active_count > 0)
        return true;
    for (uint32_t i = 0; i < device->tile_count; i++) {
        const struct zeta_device_metrics *tile = tile_metrics(device, i);

        if (tile && tile->active_count > 0)
            return true;
    }
    return false;
}

bool zeta_activation_drops_locked(const struct zeta_device_metrics *metrics, uint32_t count,
                                  struct zeta_metric_group *const *groups,
                                  const struct zeta_metric_group *used)
{
    const struct zeta_device_metrics *parent = metrics->parent;

    if (used->device != metrics->device && used->device->parent != metrics->device)
        return false; /* of another tile, or of the root, which keeps its groups */
    return !is_listed(used, groups, count) &&
           !(parent && is_listed(used, parent->active, parent->active_count));
}

static void clear_active_locked(struct zeta_device_metrics *metrics)
{
    free(metrics->active);
    metrics->active = NULL;
    metrics->active_count = 0;
}

/** The device's own set, and on a root those of its tiles. */
static void clear_all_locked(struct zeta_device_metrics *metrics)
{
    const struct zeta_device *device = metrics->device;

    clear_active_locked(metrics);
    for (uint32_t i = 0; i < device->tile_count; i++) {
        struct zeta_device_metrics *tile = tile_metrics(device, i);

        if (tile)
            clear_active_locked(tile);
    }
}

/* Deactivation ----------------------------------------------------------------------------------
 */

/** A stream whose group was deactivated and that still runs; it is borrowed. NULL: none left. */
static struct zeta_stream *borrow_inactive_locked(struct zeta_device_metrics *root)
{
    for (struct zeta_stream *stream = root->streams; stream; stream = stream->next) {
        if (zeta_metric_group_is_active_locked(stream->group))
            continue;
        if (stream->state == ZETA_STREAM_OPENING)
            stream->stop_wanted = true; /* whoever opens it stops it */
        if (stream->state != ZETA_STREAM_OPEN)
            continue;
        stream->state = ZETA_STREAM_STOPPED;
        stream->borrowed++;
        return stream;
    }
    return NULL;
}

/** Stops what ran on groups that are not active any more. Takes the lock away meanwhile. */
static void stop_inactive_locked(struct zeta_device_metrics *root)
{
    struct zeta_stream *stream;

    while ((stream = borrow_inactive_locked(root)) != NULL) {
        (void)pthread_mutex_unlock(&root->lock);
        zeta_stream_stop(stream);
        (void)pthread_mutex_lock(&root->lock);
        stream->borrowed--;
        (void)pthread_cond_broadcast(&root->changed);
    }
}

static ze_result_t deactivate(struct zeta_device *device)
{
    struct zeta_device_metrics *metrics =
        atomic_load_explicit(&device->metrics, memory_order_acquire);
    struct zeta_device_metrics *root;

    if (!metrics)
        return ZE_RESULT_SUCCESS; /* nothing was ever active */
    root = zeta_metrics_root(metrics);
    (void)pthread_mutex_lock(&root->lock);
    clear_all_locked(metrics);
    stop_inactive_locked(root);
    zeta_tracers_stop_inactive_locked(root);
    (void)pthread_mutex_unlock(&root->lock);
    return ZE_RESULT_SUCCESS;
}

/* Activation ------------------------------------------------------------------------------------
 */

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
 * the last of each domain where a setting says so, as another driver does. kept has room for all.
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

/** A stream that would lose its group keeps everything as it is. */
static ze_result_t check_streams_locked(const struct zeta_device_metrics *metrics, uint32_t count,
                                        struct zeta_metric_group *const *groups)
{
    const struct zeta_device_metrics *root = metrics->parent ? metrics->parent : metrics;

    for (const struct zeta_stream *stream = root->streams; stream; stream = stream->next) {
        if (stream->state != ZETA_STREAM_STOPPED &&
            zeta_activation_drops_locked(metrics, count, groups, stream->group))
            return zeta_error(ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE,
                              "a stream of %s is open, and the groups to activate do not contain "
                              "it; close the stream first",
                              stream->label);
    }
    return ZE_RESULT_SUCCESS;
}

/** What is active on the root holds for its tiles, so a tile cannot have another group there. */
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
    ze_result_t result = zeta_metric_check_enabled(metrics);

    if (result == ZE_RESULT_SUCCESS)
        result = zeta_user_groups_check_closed_locked(groups, count);
    if (result == ZE_RESULT_SUCCESS)
        result = check_root_locked(metrics, count, groups);
    if (result == ZE_RESULT_SUCCESS)
        result = check_streams_locked(metrics, count, groups);
    if (result == ZE_RESULT_SUCCESS)
        result = zeta_query_check_kept_locked(metrics, count, groups);
    if (result == ZE_RESULT_SUCCESS)
        result = zeta_tracers_check_kept_locked(metrics, count, groups);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    active = malloc(count * sizeof(struct zeta_metric_group *));
    if (!active)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    memcpy(active, groups, count * sizeof(struct zeta_metric_group *));
    clear_all_locked(metrics);
    metrics->active = active;
    metrics->active_count = count;
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
    zeta_query_settle(kept[0]->metrics, kept_count, kept);
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
