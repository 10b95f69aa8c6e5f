/*
 * A second driver for the stand-in: something else than a GPU, with next to nothing in it. It lacks
 * most tables, does not offer dispatch through its handles, and knows nothing newer than API 1.0.
 * With OTHER_DRIVER_FAILS one of its getters fails.
 */
#include <stdlib.h>
#include <string.h>

#include <level_zero/ze_ddi.h>

/* Handles are addresses of these. */
static struct {
    int number;
} driver_object = {1}, device_object = {2}, context_object = {3};

static ze_result_t ZE_APICALL init(ze_init_flags_t flags)
{
    (void)flags;
    return ZE_RESULT_SUCCESS;
}

static ze_result_t ZE_APICALL driver_get(uint32_t *count, ze_driver_handle_t *handles)
{
    if (handles && *count > 0)
        handles[0] = (ze_driver_handle_t)&driver_object;
    *count = 1;
    return ZE_RESULT_SUCCESS;
}

static ze_result_t ZE_APICALL driver_properties(ze_driver_handle_t driver,
                                                ze_driver_properties_t *properties)
{
    if ((void *)driver != &driver_object)
        return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    properties->driverVersion = 1;
    return ZE_RESULT_SUCCESS;
}

static ze_result_t ZE_APICALL driver_extensions(ze_driver_handle_t driver, uint32_t *count,
                                                ze_driver_extension_properties_t *properties)
{
    (void)driver;
    (void)properties;
    *count = 0;
    return ZE_RESULT_SUCCESS;
}

static ze_result_t ZE_APICALL device_get(ze_driver_handle_t driver, uint32_t *count,
                                         ze_device_handle_t *handles)
{
    if ((void *)driver != &driver_object)
        return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    if (handles && *count > 0)
        handles[0] = (ze_device_handle_t)&device_object;
    *count = 1;
    return ZE_RESULT_SUCCESS;
}

static ze_result_t ZE_APICALL device_properties(ze_device_handle_t device,
                                                ze_device_properties_t *properties)
{
    if ((void *)device != &device_object)
        return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    properties->type = ZE_DEVICE_TYPE_VPU;
    (void)strcpy(properties->name, "other driver");
    return ZE_RESULT_SUCCESS;
}

static ze_result_t ZE_APICALL context_create(ze_driver_handle_t driver,
                                             const ze_context_desc_t *desc,
                                             ze_context_handle_t *context)
{
    (void)desc;
    if ((void *)driver != &driver_object)
        return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    *context = (ze_context_handle_t)&context_object;
    return ZE_RESULT_SUCCESS;
}

static ze_result_t ZE_APICALL context_destroy(ze_context_handle_t context)
{
    return (void *)context == &context_object ? ZE_RESULT_SUCCESS
                                              : ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
}

ZE_DLLEXPORT ze_result_t ZE_APICALL zeGetGlobalProcAddrTable(ze_api_version_t version,
                                                             ze_global_dditable_t *pDdiTable)
{
    (void)version;
    pDdiTable->pfnInit = init;
    return ZE_RESULT_SUCCESS;
}

ZE_DLLEXPORT ze_result_t ZE_APICALL zeGetDriverProcAddrTable(ze_api_version_t version,
                                                             ze_driver_dditable_t *pDdiTable)
{
    (void)version;
    pDdiTable->pfnGet = driver_get;
    pDdiTable->pfnGetProperties = driver_properties;
    pDdiTable->pfnGetExtensionProperties = driver_extensions;
    return ZE_RESULT_SUCCESS;
}

ZE_DLLEXPORT ze_result_t ZE_APICALL zeGetDeviceProcAddrTable(ze_api_version_t version,
                                                             ze_device_dditable_t *pDdiTable)
{
    (void)version;
    pDdiTable->pfnGet = device_get;
    pDdiTable->pfnGetProperties = device_properties;
    return ZE_RESULT_SUCCESS;
}

ZE_DLLEXPORT ze_result_t ZE_APICALL zeGetContextProcAddrTable(ze_api_version_t version,
                                                              ze_context_dditable_t *pDdiTable)
{
    (void)version;
    if (getenv("OTHER_DRIVER_FAILS"))
        return ZE_RESULT_ERROR_UNSUPPORTED_VERSION;
    pDdiTable->pfnCreate = context_create;
    pDdiTable->pfnDestroy = context_destroy;
    return ZE_RESULT_SUCCESS;
}
