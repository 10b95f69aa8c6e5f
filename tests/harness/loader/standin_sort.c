/*
 * The order of drivers, as a loader in intercept mode finds it: by the types of their devices.
 * For that it asks every driver for its extensions, properties and devices, right after init.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "standin_priv.h"

#define MANY 16u

/* Places in the order, first to last. */
enum rank { DISCRETE, MIXED_GPU, INTEGRATED, MIXED, OTHER, NPU };

static bool lists_extension(const struct standin_driver *driver, ze_driver_handle_t handle)
{
    ze_driver_extension_properties_t *list;
    uint32_t count = 0;
    bool found = false;

    if (driver->tables.ze.Driver.pfnGetExtensionProperties(handle, &count, NULL) !=
        ZE_RESULT_SUCCESS)
        return false;
    list = calloc(count + 1, sizeof(*list));
    if (list && driver->tables.ze.Driver.pfnGetExtensionProperties(handle, &count, list) ==
                    ZE_RESULT_SUCCESS) {
        for (uint32_t i = 0; i < count; i++)
            found |= strcmp(list[i].name, ZE_DRIVER_DDI_HANDLES_EXT_NAME) == 0;
    }
    free(list);
    return found;
}

static bool wants_no_wrapping(const struct standin_driver *driver, ze_driver_handle_t handle)
{
    ze_driver_ddi_handles_ext_properties_t handles = {
        .stype = ZE_STRUCTURE_TYPE_DRIVER_DDI_HANDLES_EXT_PROPERTIES};
    ze_driver_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_DRIVER_PROPERTIES,
                                         .pNext = &handles};
    const char *allowed = getenv("ZE_ENABLE_LOADER_DRIVER_DDI_PATH");
    bool listed = lists_extension(driver, handle);

    if (driver->tables.ze.Driver.pfnGetProperties(handle, &properties) != ZE_RESULT_SUCCESS)
        return false;
    return listed && (handles.flags & ZE_DRIVER_DDI_HANDLE_EXT_FLAG_DDI_HANDLE_EXT_SUPPORTED) &&
           !(allowed && strcmp(allowed, "0") == 0);
}

static enum rank rank_of(const struct standin_driver *driver, ze_driver_handle_t handle)
{
    ze_device_handle_t devices[MANY];
    uint32_t discrete = 0, integrated = 0, npu = 0, other = 0;
    uint32_t count = 0;

    if (driver->tables.ze.Device.pfnGet(handle, &count, NULL) != ZE_RESULT_SUCCESS)
        return OTHER;
    count = count < MANY ? count : MANY;
    if (count == 0 || driver->tables.ze.Device.pfnGet(handle, &count, devices) != ZE_RESULT_SUCCESS)
        return OTHER;
    for (uint32_t i = 0; i < count; i++) {
        ze_device_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES};

        if (driver->tables.ze.Device.pfnGetProperties(devices[i], &properties) != ZE_RESULT_SUCCESS)
            other++;
        else if (properties.type == ZE_DEVICE_TYPE_VPU)
            npu++;
        else if (properties.type != ZE_DEVICE_TYPE_GPU)
            other++;
        else if (properties.flags & ZE_DEVICE_PROPERTY_FLAG_INTEGRATED)
            integrated++;
        else
            discrete++;
    }
    if (discrete + integrated > 0 && npu + other > 0)
        return MIXED;
    if (discrete > 0)
        return integrated > 0 ? MIXED_GPU : DISCRETE;
    if (integrated > 0)
        return INTEGRATED;
    return npu > 0 && other == 0 ? NPU : OTHER;
}

static ze_result_t list_drivers(const struct standin_driver *driver, bool with_init_drivers,
                                uint32_t *count, ze_driver_handle_t *handles)
{
    /* Every type that may ever exist is wanted. */
    ze_init_driver_type_desc_t all = {.stype = ZE_STRUCTURE_TYPE_INIT_DRIVER_TYPE_DESC,
                                      .flags = UINT32_MAX};

    if (!with_init_drivers)
        return driver->tables.ze.Driver.pfnGet(count, handles);
    if (!driver->tables.ze.Global.pfnInitDrivers)
        return ZE_RESULT_ERROR_UNINITIALIZED;
    STANDIN_COUNT(init_drivers_forwarded);
    return driver->tables.ze.Global.pfnInitDrivers(count, handles, &all);
}

static void examine(struct standin_driver *driver, bool with_init_drivers)
{
    ze_driver_handle_t handles[MANY];
    uint32_t count = 0;

    driver->rank = OTHER;
    if (list_drivers(driver, with_init_drivers, &count, NULL) != ZE_RESULT_SUCCESS)
        return;
    count = count < MANY ? count : MANY;
    if (count == 0 || list_drivers(driver, with_init_drivers, &count, handles) != ZE_RESULT_SUCCESS)
        return;
    driver->ddi = true;
    for (uint32_t i = 0; i < count; i++) {
        enum rank rank;

        driver->ddi = wants_no_wrapping(driver, handles[i]) && driver->ddi;
        rank = rank_of(driver, handles[i]);
        driver->rank = i == 0 || rank < driver->rank ? rank : driver->rank;
    }
    if (driver->ddi)
        (void)atomic_fetch_add(&standin_counters.drivers_ddi, count);
}

static int by_rank(const void *a, const void *b)
{
    const struct standin_driver *const *one = a;
    const struct standin_driver *const *two = b;

    if ((*one)->rank != (*two)->rank)
        return (*one)->rank < (*two)->rank ? -1 : 1;
    return *one < *two ? -1 : *one > *two;
}

void standin_sort(bool with_init_drivers)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static atomic_bool done;
    const char *instrumented = getenv("ZET_ENABLE_PROGRAM_INSTRUMENTATION");

    if (atomic_load(&done))
        return;
    (void)pthread_mutex_lock(&lock);
    if (!atomic_load(&done)) {
        for (uint32_t i = 0; i < standin_driver_count; i++) {
            if (standin_order[i]->library && standin_order[i]->failure == ZE_RESULT_SUCCESS)
                examine(standin_order[i], with_init_drivers);
        }
        if (!(instrumented && strcmp(instrumented, "1") == 0)) {
            qsort(standin_order, standin_driver_count, sizeof(struct standin_driver *), by_rank);
            STANDIN_COUNT(sorts);
        }
        atomic_store(&done, true);
    }
    (void)pthread_mutex_unlock(&lock);
}
