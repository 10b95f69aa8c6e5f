#include "core/metric/device/device_metrics.h"

#include <stdlib.h>
#include <string.h>

#include "core/device/device.h"
#include "core/plugin/host.h"
#include "core/util/error.h"
#include "zeta_impl.h"

/** Everything that was ever made, also before a fork: so nothing counts as leaked. */
static _Atomic(struct zeta_device_metrics *) newest;

struct zeta_device_metrics *zeta_device_metrics_get(struct zeta_device *device)
{
    struct zeta_device_metrics *metrics =
        atomic_load_explicit(&device->metrics, memory_order_acquire);
    struct zeta_device_metrics *parent = NULL;
    struct zeta_device_metrics *made;

    if (metrics)
        return metrics;
    if (device->parent) {
        parent = zeta_device_metrics_get(device->parent);
        if (!parent)
            return NULL;
    }
    made = calloc(1, sizeof(*made));
    if (!made)
        return NULL;
    made->device = device;
    made->parent = parent;
    (void)pthread_mutex_init(&made->load_lock, NULL);
    (void)pthread_mutex_init(&made->lock, NULL);
    (void)pthread_cond_init(&made->changed, NULL);
    if (!atomic_compare_exchange_strong(&device->metrics, &metrics, made)) {
        free(made);
        return metrics;
    }
    made->previous = atomic_load(&newest);
    while (!atomic_compare_exchange_weak(&newest, &made->previous, made))
        ;
    return made;
}

bool zeta_metrics_overlap(const struct zeta_device *a, const struct zeta_device *b)
{
    return a == b || a->parent == b || b->parent == a;
}

uint32_t zeta_metrics_tile_count(const struct zeta_device *device)
{
    return device->tile_count > 0 ? device->tile_count : 1;
}

const struct zeta_device *zeta_metrics_tile(const struct zeta_device *device, uint32_t index)
{
    return device->tile_count > 0 ? device->tiles[index] : device;
}

const struct zeta_device_sets *zeta_metrics_sets(const struct zeta_device_metrics *metrics,
                                                 uint32_t tile)
{
    const struct zeta_device *device = metrics->device;

    return device->tile_count > 0 ? &atomic_load(&device->tiles[tile]->metrics)->sets
                                  : &metrics->sets;
}

ze_result_t zeta_metrics_number_unit(struct zeta_device_metrics *metrics, const char *unit,
                                     uint32_t *out_number)
{
    size_t number = 0;

    while (number < metrics->units.count && strcmp(metrics->units.items[number], unit) != 0)
        number++;
    *out_number = (uint32_t)number;
    if (number == metrics->units.count && !zeta_list_add(&metrics->units, (void *)(uintptr_t)unit))
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    return ZE_RESULT_SUCCESS;
}

/* Enabling ------------------------------------------------------------------------------------- */

static bool was_enabled(struct zeta_device_metrics *metrics)
{
    if (!atomic_load(&metrics->was_enabled) && zeta_core_metrics_wanted())
        atomic_store(&metrics->was_enabled, true);
    return atomic_load(&metrics->was_enabled);
}

ze_result_t zeta_metrics_check_was_enabled(struct zeta_device_metrics *metrics)
{
    if (was_enabled(metrics))
        return ZE_RESULT_SUCCESS;
    return zeta_error(ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE,
                      "metrics of device %s were not enabled: set ZET_ENABLE_METRICS=1 before "
                      "zeInit, or call zetDeviceEnableMetricsExp",
                      metrics->device->backend->id);
}

ze_result_t zeta_metrics_check_enabled(struct zeta_device_metrics *metrics)
{
    const struct zeta_device *device = metrics->device;
    ze_result_t result = ZE_RESULT_SUCCESS;

    if (!was_enabled(metrics) || atomic_load(&metrics->disabled))
        return zeta_error(ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE,
                          "metrics of device %s are disabled; call zetDeviceEnableMetricsExp first",
                          device->backend->id);
    /* What is active on a root is active on its tiles. */
    for (uint32_t i = 0; i < device->tile_count && result == ZE_RESULT_SUCCESS; i++) {
        struct zeta_device_metrics *tile = zeta_device_metrics_get(device->tiles[i]);

        result = tile ? zeta_metrics_check_enabled(tile) : ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    return result;
}
