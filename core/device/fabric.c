/*
 * The network of devices: there is none. Vertices and edges are found from drivers only, so the
 * functions that take them never get a handle that is valid; they explain it all the same.
 */
#include "core/device/device.h"
#include "core/util/cleanup.h"
#include "core/util/error.h"
#include "zeta_impl.h"

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
