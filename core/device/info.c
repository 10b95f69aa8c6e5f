/* The plugins that provide a device (zetaDeviceGetInfo), and its place in a network. */
#include <zeta/zeta.h>

#include "core/device/device.h"
#include "core/plugin/host.h"
#include "core/util/cleanup.h"
#include "core/util/error.h"
#include "core/util/own_struct.h"
#include "zeta_impl.h"

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
    ze_result_t result = zeta_own_struct_check("zetaDeviceGetInfo", info);
    if (result != ZE_RESULT_SUCCESS)
        return result;

    const struct zeta_device_info full = {
        .id = device->backend->id,
        .device_class = zeta_device_class_name(device->backend->identity.backend->device_class),
        .compute = provider(device, ZETA_GROUP_COMPUTE),
        .stream = provider(device, ZETA_GROUP_METRIC_STREAM),
        .query = provider(device, ZETA_GROUP_METRIC_QUERY),
        .tracer = provider(device, ZETA_GROUP_METRIC_TRACER),
        .debug = provider(device, ZETA_GROUP_DEBUG),
    };
    zeta_own_struct_copy(info, info->struct_size, &full, sizeof(full));
    return ZE_RESULT_SUCCESS;
}

/*
 * The network of devices: there is none. Vertices and edges are found from drivers only, so the
 * functions that take them never get a handle that is valid; they explain it all the same.
 */
ze_result_t ZE_APICALL impl_zeFabricVertexGetExp(ze_driver_handle_t hDriver ZETA_UNUSED,
                                                 uint32_t *pCount,
                                                 ze_fabric_vertex_handle_t *phVertices ZETA_UNUSED)
{
    *pCount = 0;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL impl_zeDeviceGetFabricVertexExp(
    ze_device_handle_t hDevice, ze_fabric_vertex_handle_t *phVertex ZETA_UNUSED)
{
    return zeta_error(ZE_RESULT_EXP_ERROR_DEVICE_IS_NOT_VERTEX, "%s is not part of a fabric",
                      ((const struct zeta_device *)hDevice)->name);
}
