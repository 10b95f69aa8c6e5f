#include "core/metric/device/enable.h"

#include "core/device/device.h"
#include "core/metric/device/activate.h"
#include "core/metric/device/device_metrics.h"
#include "core/metric/programmable/user_metric.h"
#include "core/metric/query/query.h"
#include "core/metric/stream/stream.h"
#include "core/metric/tracer/tracer.h"
#include "core/plugin/host.h"
#include "core/util/error.h"
#include "zeta_impl.h"

bool zeta_metric_was_enabled(struct zeta_device_metrics *metrics)
{
    if (atomic_load(&metrics->was_enabled))
        return true;
    if (!zeta_core_metrics_wanted())
        return false;
    atomic_store(&metrics->was_enabled, true);
    return true;
}

ze_result_t zeta_metric_check_was_enabled(struct zeta_device_metrics *metrics)
{
    if (zeta_metric_was_enabled(metrics))
        return ZE_RESULT_SUCCESS;
    return zeta_error(ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE,
                      "metrics of device %s were not enabled: set ZET_ENABLE_METRICS=1 before "
                      "zeInit, or call zetDeviceEnableMetricsExp",
                      metrics->device->backend->id);
}

/** DEPENDENCY_UNAVAILABLE with a sentence while the device by itself is disabled. */
static ze_result_t check_one_enabled(struct zeta_device_metrics *metrics)
{
    if (zeta_metric_was_enabled(metrics) && !atomic_load(&metrics->disabled))
        return ZE_RESULT_SUCCESS;
    return zeta_error(ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE,
                      "metrics of device %s are disabled; call zetDeviceEnableMetricsExp first",
                      metrics->device->backend->id);
}

ze_result_t zeta_metric_check_enabled(struct zeta_device_metrics *metrics)
{
    const struct zeta_device *device = metrics->device;
    ze_result_t result = check_one_enabled(metrics);

    /* What is active on a root is active on its tiles. */
    for (uint32_t i = 0; i < device->tile_count && result == ZE_RESULT_SUCCESS; i++) {
        struct zeta_device_metrics *tile = zeta_device_metrics_get(device->tiles[i]);

        result = tile ? check_one_enabled(tile) : ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    return result;
}

static void set_enabled(struct zeta_device_metrics *metrics, bool enabled)
{
    if (enabled)
        atomic_store(&metrics->was_enabled, true);
    atomic_store(&metrics->disabled, !enabled);
}

ze_result_t ZE_APICALL impl_zetDeviceEnableMetricsExp(zet_device_handle_t hDevice)
{
    struct zeta_device *device = (struct zeta_device *)hDevice;
    struct zeta_device_metrics *metrics = zeta_device_metrics_get(device);

    if (!metrics)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    /* Tiles first, so that a failure leaves the root as it was. */
    for (uint32_t i = 0; i < device->tile_count; i++) {
        struct zeta_device_metrics *tile = zeta_device_metrics_get(device->tiles[i]);

        if (!tile)
            return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
        set_enabled(tile, true);
    }
    set_enabled(metrics, true);
    return ZE_RESULT_SUCCESS;
}

/** Says what still uses metrics of the device, of its tiles or, for a tile, of its root. */
static ze_result_t check_unused_locked(const struct zeta_device_metrics *metrics,
                                       const struct zeta_device_metrics *root)
{
    const struct zeta_device *device = metrics->device;
    ze_result_t result;

    for (const struct zeta_stream *stream = root->streams; stream; stream = stream->next) {
        if (zeta_metrics_overlap(stream->device, device))
            return zeta_error(ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE,
                              "a stream of %s is not closed yet", stream->label);
    }
    result = zeta_tracers_check_unused_locked(metrics);
    if (result == ZE_RESULT_SUCCESS)
        result = zeta_user_check_unused_locked(metrics);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (root->active_count > 0 || zeta_metrics_any_active_locked(metrics))
        return zeta_error(ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE,
                          "groups of device %s are active; deactivate them with "
                          "zetContextActivateMetricGroups and count 0",
                          (root->active_count > 0 ? root->device : device)->backend->id);
    return zeta_query_check_unused_locked(metrics);
}

/** In one step with the look at what is used, so that no activation comes between. */
static ze_result_t disable_locked(struct zeta_device_metrics *metrics,
                                  const struct zeta_device_metrics *root)
{
    const struct zeta_device *device = metrics->device;
    ze_result_t result = check_unused_locked(metrics, root);

    if (result != ZE_RESULT_SUCCESS)
        return result;
    for (uint32_t i = 0; i < device->tile_count; i++)
        set_enabled(zeta_device_metrics_get(device->tiles[i]), false);
    set_enabled(metrics, false);
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL impl_zetDeviceDisableMetricsExp(zet_device_handle_t hDevice)
{
    struct zeta_device *device = (struct zeta_device *)hDevice;
    struct zeta_device_metrics *metrics = zeta_device_metrics_get(device);
    struct zeta_device_metrics *root;
    ze_result_t result;

    if (!metrics)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    /* Those of tiles are made here, where that may fail. */
    for (uint32_t i = 0; i < device->tile_count; i++) {
        if (!zeta_device_metrics_get(device->tiles[i]))
            return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    root = zeta_metrics_root(metrics);
    (void)pthread_mutex_lock(&root->lock);
    result = disable_locked(metrics, root);
    (void)pthread_mutex_unlock(&root->lock);
    return result;
}
