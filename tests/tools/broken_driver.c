/* A driver that goes wrong in zeInit, as BROKEN_DRIVER says: crash, hang, or an error. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <level_zero/ze_ddi.h>

static ze_result_t ZE_APICALL init(ze_init_flags_t flags)
{
    const char *way = getenv("BROKEN_DRIVER");

    (void)flags;
    if (way && strcmp(way, "crash") == 0)
        abort();
    while (way && strcmp(way, "hang") == 0)
        (void)pause();
    return ZE_RESULT_ERROR_DEVICE_LOST;
}

static ze_result_t ZE_APICALL driver_get(uint32_t *count, ze_driver_handle_t *drivers)
{
    (void)count;
    (void)drivers;
    return ZE_RESULT_ERROR_UNINITIALIZED;
}

static ze_result_t ZE_APICALL device_get(ze_driver_handle_t driver, uint32_t *count,
                                         ze_device_handle_t *devices)
{
    (void)driver;
    (void)count;
    (void)devices;
    return ZE_RESULT_ERROR_UNINITIALIZED;
}

static ze_result_t ZE_APICALL get_properties(ze_device_handle_t device,
                                             ze_device_properties_t *properties)
{
    (void)device;
    (void)properties;
    return ZE_RESULT_ERROR_UNINITIALIZED;
}

ze_result_t ZE_APICALL zeGetGlobalProcAddrTable(ze_api_version_t version,
                                                ze_global_dditable_t *table)
{
    (void)version;
    table->pfnInit = init;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeGetDriverProcAddrTable(ze_api_version_t version,
                                                ze_driver_dditable_t *table)
{
    (void)version;
    table->pfnGet = driver_get;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeGetDeviceProcAddrTable(ze_api_version_t version,
                                                ze_device_dditable_t *table)
{
    (void)version;
    table->pfnGet = device_get;
    table->pfnGetProperties = get_properties;
    return ZE_RESULT_SUCCESS;
}
