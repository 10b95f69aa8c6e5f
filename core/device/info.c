/* zetaDeviceGetInfo: the plugins that provide a device. */
#include <string.h>

#include <zeta/zeta.h>

#include "core/device/device.h"
#include "core/plugin/host.h"
#include "core/util/error.h"

static const char *provider(const struct zeta_device *device, enum zeta_api_group group)
{
    const struct zeta_backend *backend = device->backend->providers[group].backend;

    return backend ? backend->id : "";
}

ze_result_t zetaDeviceGetInfo(ze_device_handle_t handle, struct zeta_device_info *info)
{
    const struct zeta_device *device = (const struct zeta_device *)handle;

    if (!zeta_object_is(handle, ZETA_KIND_DEVICE))
        return zeta_object_explain(handle, ZETA_KIND_DEVICE, "zetaDeviceGetInfo", "device");
    if (!info)
        return zeta_error(ZE_RESULT_ERROR_INVALID_NULL_POINTER, "zetaDeviceGetInfo: info is null");
    if (info->struct_size < sizeof(info->struct_size))
        return zeta_error(ZE_RESULT_ERROR_INVALID_SIZE,
                          "zetaDeviceGetInfo: info->struct_size is %zu; set it to "
                          "sizeof(struct zeta_device_info)",
                          info->struct_size);

    const struct zeta_device_info full = {
        .struct_size = info->struct_size,
        .id = device->backend->id,
        .device_class = zeta_device_class_name(device->backend->identity.backend->device_class),
        .compute = provider(device, ZETA_GROUP_COMPUTE),
        .stream = provider(device, ZETA_GROUP_METRIC_STREAM),
        .query = provider(device, ZETA_GROUP_METRIC_QUERY),
        .tracer = provider(device, ZETA_GROUP_METRIC_TRACER),
        .debug = provider(device, ZETA_GROUP_DEBUG),
    };
    memcpy(info, &full, info->struct_size < sizeof(full) ? info->struct_size : sizeof(full));
    return ZE_RESULT_SUCCESS;
}
