/*
 * The part of sysman that topology tools ask for. Its handles are those of the core API.
 *
 * What a machine has of power domains, fans, sensors and so on is not known here: the lists of
 * them are empty for every device, which such tools take as "nothing to show".
 */
#include <string.h>

#include <zeta/clock.h>

#include "core/api/check.h"
#include "core/device/device.h"
#include "core/plugin/host.h"
#include "core/util/cleanup.h"
#include "core/util/error.h"
#include "zeta_impl.h"

#define UNKNOWN_SPEED                                                                              \
    (zes_pci_speed_t)                                                                              \
    {                                                                                              \
        .gen = -1, .width = -1, .maxBandwidth = -1                                                 \
    }

ze_result_t ZE_APICALL impl_zesInit(zes_init_flags_t flags ZETA_UNUSED)
{
    return zeta_core_init();
}

ze_result_t ZE_APICALL impl_zesDriverGet(uint32_t *pCount, zes_driver_handle_t *phDrivers)
{
    return impl_zeDriverGet(pCount, phDrivers);
}

ze_result_t ZE_APICALL impl_zesDriverGetExtensionProperties(
    zes_driver_handle_t hDriver ZETA_UNUSED, uint32_t *pCount,
    zes_driver_extension_properties_t *pExtensionProperties ZETA_UNUSED)
{
    *pCount = 0;
    return ZE_RESULT_SUCCESS;
}

static bool has_uuid(const struct zeta_device *device, const zes_uuid_t *uuid)
{
    return memcmp(device->backend->properties.uuid, uuid->id, sizeof(uuid->id)) == 0;
}

ze_result_t ZE_APICALL impl_zesDriverGetDeviceByUuidExp(zes_driver_handle_t hDriver,
                                                        zes_uuid_t uuid,
                                                        zes_device_handle_t *phDevice,
                                                        ze_bool_t *onSubdevice,
                                                        uint32_t *subdeviceId)
{
    const struct zeta_driver *driver = (const struct zeta_driver *)hDriver;

    for (uint32_t i = 0; i < driver->device_count; i++) {
        struct zeta_device *device = driver->devices[i];

        if (has_uuid(device, &uuid)) {
            *phDevice = (zes_device_handle_t)device;
            *onSubdevice = device->parent != NULL;
            *subdeviceId = device->tile;
            return ZE_RESULT_SUCCESS;
        }
        /* A tile is shown as a part of the device that sysman knows. */
        for (uint32_t tile = 0; tile < device->tile_count; tile++) {
            if (has_uuid(device->tiles[tile], &uuid)) {
                *phDevice = (zes_device_handle_t)device;
                *onSubdevice = 1;
                *subdeviceId = device->tiles[tile]->tile;
                return ZE_RESULT_SUCCESS;
            }
        }
    }
    return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                      "zesDriverGetDeviceByUuidExp: no device of driver %s has this uuid",
                      driver->name);
}

ze_result_t ZE_APICALL impl_zesDeviceGet(zes_driver_handle_t hDriver, uint32_t *pCount,
                                         zes_device_handle_t *phDevices)
{
    return impl_zeDeviceGet(hDriver, pCount, phDevices);
}

/* Terminated, and no byte of what was there before stays. */
static void fill_string(char out[ZES_STRING_PROPERTY_SIZE], const char *text)
{
    memset(out, 0, ZES_STRING_PROPERTY_SIZE);
    memcpy(out, text, strnlen(text, ZES_STRING_PROPERTY_SIZE - 1));
}

ze_result_t ZE_APICALL impl_zesDeviceGetProperties(zes_device_handle_t hDevice,
                                                   zes_device_properties_t *pProperties)
{
    const struct zeta_device *device = (const struct zeta_device *)hDevice;
    zes_device_properties_t *out = pProperties;
    const struct zeta_plugin_string vendor = device->backend->properties.vendor;
    /* Programs leave the first members of the inner struct at random. */
    const ze_structure_type_t stype = out->core.stype;
    void *const next = out->core.pNext;

    out->core.pNext = NULL;
    ze_result_t result = impl_zeDeviceGetProperties(hDevice, &out->core);
    out->core.stype = stype;
    out->core.pNext = next;
    if (result != ZE_RESULT_SUCCESS)
        return result;
    out->numSubdevices = device->tile_count;
    fill_string(out->serialNumber, "unknown");
    fill_string(out->boardNumber, "unknown");
    fill_string(out->brandName, "unknown");
    fill_string(out->modelName, device->name);
    if (vendor.size > 0) {
        memset(out->vendorName, 0, sizeof(out->vendorName));
        memcpy(out->vendorName, vendor.data, (size_t)vendor.size);
    } else {
        fill_string(out->vendorName, "unknown");
    }
    fill_string(out->driverVersion, ZETA_VERSION);
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL impl_zesDeviceGetState(zes_device_handle_t hDevice,
                                              zes_device_state_t *pState)
{
    const bool is_lost =
        zeta_device_status((struct zeta_device *)hDevice) == ZE_RESULT_ERROR_DEVICE_LOST;

    pState->reset = is_lost ? ZES_RESET_REASON_FLAG_WEDGED : 0;
    pState->repaired = ZES_REPAIR_STATUS_UNSUPPORTED;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL impl_zesDevicePciGetProperties(zes_device_handle_t hDevice,
                                                      zes_pci_properties_t *pProperties)
{
    ze_pci_ext_properties_t core = {.stype = ZE_STRUCTURE_TYPE_PCI_EXT_PROPERTIES};
    ze_result_t result = impl_zeDevicePciGetPropertiesExt(hDevice, &core);

    if (result != ZE_RESULT_SUCCESS)
        return result;
    pProperties->address = (zes_pci_address_t){.domain = core.address.domain,
                                               .bus = core.address.bus,
                                               .device = core.address.device,
                                               .function = core.address.function};
    pProperties->maxSpeed = UNKNOWN_SPEED;
    pProperties->haveBandwidthCounters = 0;
    pProperties->havePacketCounters = 0;
    pProperties->haveReplayCounters = 0;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL impl_zesDevicePciGetState(zes_device_handle_t hDevice ZETA_UNUSED,
                                                 zes_pci_state_t *pState)
{
    pState->status = ZES_PCI_LINK_STATUS_UNKNOWN;
    pState->qualityIssues = 0;
    pState->stabilityIssues = 0;
    pState->speed = UNKNOWN_SPEED;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL impl_zesDevicePciGetStats(zes_device_handle_t hDevice ZETA_UNUSED,
                                                 zes_pci_stats_t *pStats)
{
    *pStats = (zes_pci_stats_t){.timestamp = zeta_monotonic_ns() / 1000, .speed = UNKNOWN_SPEED};
    return ZE_RESULT_SUCCESS;
}

ZETA_GETTER(zesDeviceEccAvailable, zes_device_handle_t, zeta_device, ze_bool_t, 0)
ZETA_GETTER(zesDeviceEccConfigurable, zes_device_handle_t, zeta_device, ze_bool_t, 0)

/* Lists of what no device has. */
#define EMPTY_LIST(function, type)                                                                 \
    ze_result_t ZE_APICALL impl_##function(zes_device_handle_t hDevice ZETA_UNUSED,                \
                                           uint32_t *pCount, type *out ZETA_UNUSED)                \
    {                                                                                              \
        *pCount = 0;                                                                               \
        return ZE_RESULT_SUCCESS;                                                                  \
    }

EMPTY_LIST(zesDeviceProcessesGetState, zes_process_state_t)
EMPTY_LIST(zesDevicePciGetBars, zes_pci_bar_properties_t)
EMPTY_LIST(zesDeviceEnumDiagnosticTestSuites, zes_diag_handle_t)
EMPTY_LIST(zesDeviceEnumEngineGroups, zes_engine_handle_t)
EMPTY_LIST(zesDeviceEnumFabricPorts, zes_fabric_port_handle_t)
EMPTY_LIST(zesDeviceEnumFans, zes_fan_handle_t)
EMPTY_LIST(zesDeviceEnumFirmwares, zes_firmware_handle_t)
EMPTY_LIST(zesDeviceEnumFrequencyDomains, zes_freq_handle_t)
EMPTY_LIST(zesDeviceEnumLeds, zes_led_handle_t)
EMPTY_LIST(zesDeviceEnumMemoryModules, zes_mem_handle_t)
EMPTY_LIST(zesDeviceEnumPerformanceFactorDomains, zes_perf_handle_t)
EMPTY_LIST(zesDeviceEnumPowerDomains, zes_pwr_handle_t)
EMPTY_LIST(zesDeviceEnumPsus, zes_psu_handle_t)
EMPTY_LIST(zesDeviceEnumRasErrorSets, zes_ras_handle_t)
EMPTY_LIST(zesDeviceEnumSchedulers, zes_sched_handle_t)
EMPTY_LIST(zesDeviceEnumStandbyDomains, zes_standby_handle_t)
EMPTY_LIST(zesDeviceEnumTemperatureSensors, zes_temp_handle_t)
