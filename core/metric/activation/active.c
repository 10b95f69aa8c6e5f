#include "core/metric/activation/active.h"

#include <stdlib.h>

#include "core/device/device.h"
#include "core/metric/device/device_metrics.h"
#include "core/metric/group/group.h"

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

bool zeta_group_is_active_locked(const struct zeta_metric_group *group)
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

    if (metrics->active_count > 0 || (metrics->parent && metrics->parent->active_count > 0))
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

void zeta_metrics_set_active_locked(struct zeta_device_metrics *metrics, uint32_t count,
                                    struct zeta_metric_group **groups)
{
    const struct zeta_device *device = metrics->device;

    free(metrics->active);
    metrics->active = groups;
    metrics->active_count = count;
    for (uint32_t i = 0; i < device->tile_count; i++) {
        struct zeta_device_metrics *tile = tile_metrics(device, i);

        if (tile)
            zeta_metrics_set_active_locked(tile, 0, NULL);
    }
}
