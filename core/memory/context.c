#include <stdlib.h>
#include <string.h>

#include "core/device/device.h"
#include "core/device/init.h"
#include "core/memory/memory.h"
#include "core/util/cleanup.h"
#include "core/util/error.h"
#include "zeta_impl.h"

ze_result_t zeta_context_check_device(const struct zeta_context *context,
                                      const struct zeta_device *device)
{
    bool has = device->driver == context->driver && context->device_count == 0;

    for (uint32_t i = 0; i < context->device_count && !has; i++)
        has = context->devices[i] == device || context->devices[i] == device->parent;
    if (has)
        return ZE_RESULT_SUCCESS;
    return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                      "device %s (driver %s) is not one of the devices that the context of driver "
                      "%s was created for",
                      device->name, device->driver->name, context->driver->name);
}

static ze_result_t create_context(struct zeta_driver *driver, uint32_t count,
                                  ze_device_handle_t *devices, struct zeta_context **out_context)
{
    ZETA_CLEANUP(zeta_freep) struct zeta_device **copy = calloc(count + 1, sizeof(*copy));
    struct zeta_memory_table *memory = zeta_memory_table_create();
    struct zeta_virtual_table *virtual_memory = zeta_virtual_table_create();
    void *object = NULL;
    ze_result_t result = ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;

    if (!copy || !memory || !virtual_memory)
        result = zeta_error(result, "no memory for a context");
    else
        result = zeta_object_create(ZETA_KIND_CONTEXT, sizeof(struct zeta_context), &object);
    if (result != ZE_RESULT_SUCCESS) {
        zeta_memory_table_destroy(memory);
        zeta_virtual_table_destroy(virtual_memory);
        return result;
    }
    struct zeta_context *context = object;
    for (uint32_t i = 0; i < count; i++)
        copy[i] = (struct zeta_device *)devices[i];
    context->driver = driver;
    (void)pthread_mutex_init(&context->queues_lock, NULL);
    context->devices = ZETA_TAKE(copy);
    context->device_count = count;
    context->memory = memory;
    context->virtual_memory = virtual_memory;
    *out_context = context;
    return ZE_RESULT_SUCCESS;
}

static void finish_context(void *object)
{
    struct zeta_context *context = object;

    zeta_virtual_table_destroy(context->virtual_memory);
    zeta_memory_table_destroy(context->memory);
    (void)pthread_mutex_destroy(&context->queues_lock);
    free(context->devices);
}

ZETA_OBJECT_FINISHER(ZETA_KIND_CONTEXT, finish_context)

ze_result_t ZE_APICALL impl_zeContextCreateEx(ze_driver_handle_t hDriver,
                                              const ze_context_desc_t *desc ZETA_UNUSED,
                                              uint32_t numDevices, ze_device_handle_t *phDevices,
                                              ze_context_handle_t *phContext)
{
    struct zeta_driver *driver = (struct zeta_driver *)hDriver;
    struct zeta_context *context = NULL;
    uint32_t count = phDevices ? numDevices : 0;

    for (uint32_t i = 0; i < count; i++) {
        const struct zeta_device *device = (const struct zeta_device *)phDevices[i];

        if (device->driver != driver)
            return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                              "phDevices[%u] is %s of driver %s; the context is for driver %s", i,
                              device->name, device->driver->name, driver->name);
    }
    ze_result_t result = create_context(driver, count, phDevices, &context);
    if (result == ZE_RESULT_SUCCESS)
        *phContext = (ze_context_handle_t)context;
    return result;
}

ze_result_t ZE_APICALL impl_zeContextCreate(ze_driver_handle_t hDriver,
                                            const ze_context_desc_t *desc,
                                            ze_context_handle_t *phContext)
{
    return impl_zeContextCreateEx(hDriver, desc, 0, NULL, phContext);
}

ze_context_handle_t ZE_APICALL impl_zeDriverGetDefaultContext(ze_driver_handle_t hDriver)
{
    struct zeta_driver *driver = (struct zeta_driver *)hDriver;
    struct zeta_context *present = atomic_load(&driver->default_context);
    struct zeta_context *made = NULL;

    if (present)
        return (ze_context_handle_t)present;
    if (create_context(driver, 0, NULL, &made) != ZE_RESULT_SUCCESS)
        return NULL;
    if (atomic_compare_exchange_strong(&driver->default_context, &present, made))
        return (ze_context_handle_t)made;
    zeta_object_discard(made);
    return (ze_context_handle_t)present;
}

ze_context_handle_t ZE_APICALL impl_zerGetDefaultContext(void)
{
    return impl_zeDriverGetDefaultContext((ze_driver_handle_t)zeta_core_drivers()->drivers[0]);
}

ze_result_t ZE_APICALL impl_zeContextDestroy(ze_context_handle_t hContext)
{
    struct zeta_context *context = (struct zeta_context *)hContext;

    if (atomic_load(&context->driver->default_context) == context)
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "the default context belongs to driver %s and is never destroyed",
                          context->driver->name);
    return zeta_object_destroy(context, ZETA_KIND_CONTEXT, "zeContextDestroy", "hContext");
}

ze_result_t ZE_APICALL impl_zeContextGetStatus(ze_context_handle_t hContext)
{
    const struct zeta_context *context = (const struct zeta_context *)hContext;
    bool all = context->device_count == 0;
    uint32_t count = all ? context->driver->device_count : context->device_count;
    struct zeta_device **devices = all ? context->driver->devices : context->devices;

    for (uint32_t i = 0; i < count; i++) {
        ze_result_t result = zeta_device_status(devices[i]);

        if (result != ZE_RESULT_SUCCESS)
            return result;
    }
    return ZE_RESULT_SUCCESS;
}

/* Device and host memory are coherent with every backend there is, so nothing has to be done. */
ze_result_t ZE_APICALL impl_zeContextSystemBarrier(ze_context_handle_t hContext,
                                                   ze_device_handle_t hDevice)
{
    return zeta_context_check_device((const struct zeta_context *)hContext,
                                     (const struct zeta_device *)hDevice);
}

ze_result_t ZE_APICALL impl_zeContextMakeMemoryResident(ze_context_handle_t hContext,
                                                        ze_device_handle_t hDevice, void *ptr,
                                                        size_t size)
{
    struct zeta_context *context = (struct zeta_context *)hContext;
    void *base = NULL;
    size_t size_bytes = 0;
    ze_result_t result = zeta_context_check_device(context, (const struct zeta_device *)hDevice);

    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (impl_zeMemGetAddressRange(hContext, ptr, &base, &size_bytes) != ZE_RESULT_SUCCESS)
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "%p is not inside an allocation of this context", ptr);
    if (size > size_bytes - (size_t)((char *)ptr - (char *)base))
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "%zu bytes at %p reach beyond the end of the allocation", size, ptr);
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL impl_zeContextEvictMemory(ze_context_handle_t hContext,
                                                 ze_device_handle_t hDevice, void *ptr ZETA_UNUSED,
                                                 size_t size ZETA_UNUSED)
{
    return zeta_context_check_device((const struct zeta_context *)hContext,
                                     (const struct zeta_device *)hDevice);
}
