/* Functions without a handle, in intercept mode: they concern every driver. */
#include <stdlib.h>

#include "standin_priv.h"

static bool in_use(const struct standin_driver *driver)
{
    return driver->library && driver->failure == ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL intercept_zeInit(ze_init_flags_t flags)
{
    ze_result_t answer = ZE_RESULT_ERROR_UNINITIALIZED;

    for (uint32_t i = 0; i < standin_driver_count; i++) {
        if (!in_use(standin_order[i]))
            continue;
        STANDIN_COUNT(inits_forwarded);
        standin_order[i]->failure = standin_order[i]->tables.ze.Global.pfnInit(flags);
        if (standin_order[i]->failure == ZE_RESULT_SUCCESS)
            answer = ZE_RESULT_SUCCESS;
    }
    return answer;
}

/* How drivers are listed: by zeInitDrivers when there is a description, else by zeDriverGet. */
static ze_result_t list_of(struct standin_driver *driver, uint32_t *count,
                           ze_driver_handle_t *handles, ze_init_driver_type_desc_t *desc)
{
    if (!desc)
        return driver->tables.ze.Driver.pfnGet ? driver->tables.ze.Driver.pfnGet(count, handles)
                                               : ZE_RESULT_ERROR_UNINITIALIZED;
    if (!driver->tables.ze.Global.pfnInitDrivers)
        return ZE_RESULT_ERROR_UNINITIALIZED;
    STANDIN_COUNT(init_drivers_forwarded);
    return driver->tables.ze.Global.pfnInitDrivers(count, handles, desc);
}

/* Appends the handles of one driver as far as there is room; always counts them. */
static ze_result_t append(struct standin_driver *driver, uint32_t room, uint32_t *total,
                          ze_driver_handle_t *out, ze_init_driver_type_desc_t *desc)
{
    ze_driver_handle_t *handles = NULL;
    uint32_t count = 0;
    ze_result_t result = list_of(driver, &count, NULL, desc);

    if (result != ZE_RESULT_SUCCESS || count == 0)
        return result;
    handles = calloc(count, sizeof(ze_driver_handle_t));
    if (!handles)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    result = list_of(driver, &count, handles, desc);
    for (uint32_t i = 0; result == ZE_RESULT_SUCCESS && i < count; i++, ++*total) {
        if (out && *total < room)
            out[*total] = standin_wrap(STANDIN_DRIVER, driver, handles[i]);
    }
    free(handles);
    return result;
}

static ze_result_t list_all(uint32_t *count, ze_driver_handle_t *handles,
                            ze_init_driver_type_desc_t *desc)
{
    ze_result_t answer = ZE_RESULT_ERROR_UNINITIALIZED;
    uint32_t room = *count;
    uint32_t total = 0;

    for (uint32_t i = 0; i < standin_driver_count; i++) {
        if (in_use(standin_order[i]) &&
            append(standin_order[i], room, &total, handles, desc) == ZE_RESULT_SUCCESS)
            answer = ZE_RESULT_SUCCESS;
    }
    if (answer == ZE_RESULT_SUCCESS)
        *count = handles && room > 0 && room < total ? room : total;
    return answer;
}

ze_result_t ZE_APICALL intercept_zeInitDrivers(uint32_t *pCount, ze_driver_handle_t *phDrivers,
                                               ze_init_driver_type_desc_t *desc)
{
    if (!pCount || !desc)
        return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    if (desc->flags == 0)
        return ZE_RESULT_ERROR_INVALID_ENUMERATION;
    standin_sort(true);
    return list_all(pCount, phDrivers, desc);
}

ze_result_t ZE_APICALL intercept_zeDriverGet(uint32_t *pCount, ze_driver_handle_t *phDrivers)
{
    if (!pCount)
        return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    standin_sort(false);
    return list_all(pCount, phDrivers, NULL);
}

/* The default driver is the first one in use; NULL if it has no runtime API. */
static struct standin_driver *default_driver(void)
{
    for (uint32_t i = 0; i < standin_driver_count; i++) {
        if (in_use(standin_order[i]))
            return standin_order[i]->tables.zer.Global.pfnGetDefaultContext ? standin_order[i]
                                                                            : NULL;
    }
    return NULL;
}

ze_result_t ZE_APICALL intercept_zerGetLastErrorDescription(const char **ppString)
{
    const struct standin_driver *driver = default_driver();

    return driver ? driver->tables.zer.Global.pfnGetLastErrorDescription(ppString)
                  : ZE_RESULT_ERROR_UNINITIALIZED;
}

uint32_t ZE_APICALL intercept_zerTranslateDeviceHandleToIdentifier(ze_device_handle_t hDevice)
{
    const struct standin_object *object = (const struct standin_object *)(const void *)hDevice;

    if (!object)
        return UINT32_MAX;
    const zer_dditable_driver_t *set = object->prefix.runtime;
    if (!set)
        return object->driver->tables.zer.Global.pfnTranslateDeviceHandleToIdentifier(
            (ze_device_handle_t)standin_unwrap(object));
    if (standin_check_set((const struct standin_set *)(const void *)set, ZE_MAKE_VERSION(1, 14)) !=
        ZE_RESULT_SUCCESS)
        return UINT32_MAX;
    STANDIN_COUNT(calls_by_handle);
    return set->Global->pfnTranslateDeviceHandleToIdentifier(hDevice);
}

ze_device_handle_t ZE_APICALL intercept_zerTranslateIdentifierToDeviceHandle(uint32_t identifier)
{
    struct standin_driver *driver = default_driver();

    if (!driver)
        return NULL;
    return standin_wrap(STANDIN_DEVICE, driver,
                        driver->tables.zer.Global.pfnTranslateIdentifierToDeviceHandle(identifier));
}

ze_context_handle_t ZE_APICALL intercept_zerGetDefaultContext(void)
{
    struct standin_driver *driver = default_driver();

    return driver ? standin_wrap(STANDIN_CONTEXT, driver,
                                 driver->tables.zer.Global.pfnGetDefaultContext())
                  : NULL;
}
