#include "core/device/device.h"

#include <stdio.h>
#include <string.h>

#include <zeta/clock.h>
#include <zeta/zeta.h>

#include "core/api/chain.h"
#include "core/api/check.h"
#include "core/plugin/host.h"
#include "core/util/cleanup.h"
#include "core/util/error.h"
#include "zeta_impl.h"

enum { CLOCK_TRIES = 16, CLOCK_NARROW_NS = 200 };

ze_result_t zeta_device_clock(struct zeta_device *device, uint64_t *out_ticks,
                              uint64_t *out_host_ns)
{
    const struct zeta_provider *who = &zeta_device_worker(device)->identity;
    struct zeta_plugin_clock clock = {.struct_size = sizeof(clock)};
    uint32_t result = who->backend->device.clock(who->backend->self, who->device, &clock);

    if (result != ZETA_PLUGIN_SUCCESS)
        return zeta_backend_result(who->backend, result, "reading the clocks of a device");
    *out_ticks = clock.device_ticks;
    *out_host_ns = clock.host_ns;
    /*
     * CLOCK_MONOTONIC_RAW minus CLOCK_MONOTONIC: the narrowest of some tries, because whoever loses
     * the CPU between two reads would get a time that others have seen pass.
     */
    uint64_t best_ns = clock.raw ? 0 : UINT64_MAX;
    for (int i = 0; i < CLOCK_TRIES && best_ns > CLOCK_NARROW_NS; i++) {
        uint64_t before_ns = zeta_clock_raw_ns();
        uint64_t between_ns = zeta_monotonic_ns();
        uint64_t width_ns = zeta_clock_raw_ns() - before_ns;

        if (width_ns >= best_ns)
            continue;
        best_ns = width_ns;
        *out_host_ns = clock.host_ns + before_ns + width_ns / 2 - between_ns;
    }
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeta_device_status(struct zeta_device *device)
{
    const struct zeta_provider *who = &device->backend->identity;
    uint32_t result = who->backend->device.status(who->backend->self, who->device);

    if (result == ZETA_PLUGIN_SUCCESS || result == ZETA_PLUGIN_UNSUPPORTED_FEATURE)
        return ZE_RESULT_SUCCESS;
    if (result == ZETA_PLUGIN_DEVICE_LOST)
        return zeta_device_fault(device, ZE_RESULT_ERROR_DEVICE_LOST);
    return zeta_backend_result(who->backend, result, "reading the state of a device");
}

void zeta_device_note_fault(struct zeta_device *device, const char *sentence)
{
    struct zeta_device_fault *fault = device->last_fault;

    (void)pthread_mutex_lock(&fault->lock);
    (void)snprintf(fault->sentence, sizeof(fault->sentence), "%s", sentence);
    (void)pthread_mutex_unlock(&fault->lock);
}

ze_result_t zeta_device_fault(struct zeta_device *device, ze_result_t result)
{
    struct zeta_device_fault *fault = device->last_fault;
    char sentence[sizeof(fault->sentence)];

    (void)pthread_mutex_lock(&fault->lock);
    memcpy(sentence, fault->sentence, sizeof(sentence));
    (void)pthread_mutex_unlock(&fault->lock);
    return zeta_error(result, "work on %s did not complete%s%s", device->name,
                      sentence[0] ? ": " : "", sentence);
}

ze_result_t ZE_APICALL impl_zeDeviceGet(ze_driver_handle_t hDriver, uint32_t *pCount,
                                        ze_device_handle_t *phDevices)
{
    const struct zeta_driver *driver = (const struct zeta_driver *)hDriver;
    uint32_t n = zeta_count_clip(pCount, driver->device_count, phDevices);

    for (uint32_t i = 0; i < n; i++)
        phDevices[i] = (ze_device_handle_t)driver->devices[i];
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL impl_zeDeviceGetSubDevices(ze_device_handle_t hDevice, uint32_t *pCount,
                                                  ze_device_handle_t *phSubdevices)
{
    const struct zeta_device *device = (const struct zeta_device *)hDevice;
    uint32_t n = zeta_count_clip(pCount, device->tile_count, phSubdevices);

    for (uint32_t i = 0; i < n; i++)
        phSubdevices[i] = (ze_device_handle_t)device->tiles[i];
    return ZE_RESULT_SUCCESS;
}

ZETA_GETTER(zeDeviceGetRootDevice, ze_device_handle_t, zeta_device, ze_device_handle_t,
            self->alone ? NULL : self->parent)

ze_result_t ZE_APICALL impl_zeDeviceGetStatus(ze_device_handle_t hDevice)
{
    return zeta_device_status((struct zeta_device *)hDevice);
}

ze_result_t ZE_APICALL impl_zeDeviceGetGlobalTimestamps(ze_device_handle_t hDevice,
                                                        uint64_t *hostTimestamp,
                                                        uint64_t *deviceTimestamp)
{
    struct zeta_device *device = (struct zeta_device *)hDevice;
    uint64_t ticks = 0;
    uint64_t host_ns = 0;
    ze_result_t result = zeta_device_clock(device, &ticks, &host_ns);

    if (result != ZE_RESULT_SUCCESS)
        return result;
    *hostTimestamp = host_ns;
    *deviceTimestamp = ticks & zeta_valid_mask(device->backend->properties.timestamp_valid_bits);
    return ZE_RESULT_SUCCESS;
}

const struct zeta_provider *zeta_device_queue_provider(const struct zeta_device *device)
{
    const struct zeta_provider *providers = zeta_device_worker(device)->providers;

    if (providers[ZETA_GROUP_COMPUTE].backend)
        return &providers[ZETA_GROUP_COMPUTE];
    return &providers[ZETA_GROUP_METRIC_QUERY];
}

/* Devices of one compute provider share memory. */
static bool can_access(ze_device_handle_t hDevice, ze_device_handle_t hPeerDevice)
{
    const struct zeta_device *device = (const struct zeta_device *)hDevice;
    const struct zeta_device *peer = (const struct zeta_device *)hPeerDevice;

    return device == peer || (device->driver == peer->driver && device->driver->compute);
}

ze_result_t ZE_APICALL impl_zeDeviceCanAccessPeer(ze_device_handle_t hDevice,
                                                  ze_device_handle_t hPeerDevice, ze_bool_t *value)
{
    *value = can_access(hDevice, hPeerDevice);
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL impl_zeDeviceGetP2PProperties(ze_device_handle_t hDevice,
                                                     ze_device_handle_t hPeerDevice,
                                                     ze_device_p2p_properties_t *pP2PProperties)
{
    pP2PProperties->flags =
        can_access(hDevice, hPeerDevice)
            ? ZE_DEVICE_P2P_PROPERTY_FLAG_ACCESS | ZE_DEVICE_P2P_PROPERTY_FLAG_ATOMICS
            : 0;
    ze_device_p2p_bandwidth_exp_properties_t *speed =
        zeta_chain_find(pP2PProperties->pNext,
                        ZE_STRUCTURE_TYPE_DEVICE_P2P_BANDWIDTH_EXP_PROPERTIES, sizeof(*speed));
    if (speed) {
        /* The bandwidth is not known; the units report that. */
        speed->logicalBandwidth = 0;
        speed->physicalBandwidth = 0;
        speed->bandwidthUnit = ZE_BANDWIDTH_UNIT_UNKNOWN;
        speed->logicalLatency = 0;
        speed->physicalLatency = 0;
        speed->latencyUnit = ZE_LATENCY_UNIT_UNKNOWN;
    }
    return ZE_RESULT_SUCCESS;
}

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

    const char *note = atomic_load_explicit(&device->metric_note, memory_order_acquire);
    const struct zeta_device_info full = {
        .id = device->backend->id,
        .device_class = zeta_device_class_name(device->backend->identity.backend->device_class),
        .compute = provider(device, ZETA_GROUP_COMPUTE),
        .stream = provider(device, ZETA_GROUP_METRIC_STREAM),
        .query = provider(device, ZETA_GROUP_METRIC_QUERY),
        .tracer = provider(device, ZETA_GROUP_METRIC_TRACER),
        .debug = provider(device, ZETA_GROUP_DEBUG),
        .metric_note = note ? note : "",
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
