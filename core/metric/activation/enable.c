/* Enabling and disabling metrics of one device. */
#include "core/device/device.h"
#include "core/metric/activation/active.h"
#include "core/metric/activation/client.h"
#include "core/metric/device/device_metrics.h"
#include "core/plugin/host.h"
#include "core/util/error.h"
#include "zeta_impl.h"

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
    if (result == ZE_RESULT_SUCCESS && zeta_metrics_any_active_locked(metrics))
        result = zeta_error(ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE,
                            "groups of device %s are active; deactivate them with "
                            "zetContextActivateMetricGroups and count 0",
                            (root->active_count > 0 ? root->device : device)->backend->id);
    if (result == ZE_RESULT_SUCCESS)
        set_enabled(metrics, false);
    (void)pthread_mutex_unlock(&root->lock);
    return result;
}
