/*
 * From a driver or a device to a context: what the old names share. Not for programs themselves.
 *
 * Calls of the older guides name a device or a driver where 1.17 wants a context. The context is
 * the driver's default context, so it is the same one in every translation unit and library of a
 * process. Where the library has none (loaders older than specification 1.14), one context for
 * each driver is created at its first use and kept until the process ends.
 *
 * The driver of a device is looked for again in every call. Those are calls that set something up;
 * and a remembered handle would be wrong after a fork, or when a driver was closed.
 */
#ifndef ZETA_COMPAT_CONTEXT_H
#define ZETA_COMPAT_CONTEXT_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include <level_zero/zet_api.h>

/** Drivers of a process that can have a context of ours; there are never more than a few. */
#define ZETA_COMPAT_MAX_DRIVERS 16

/** Contexts of ours, each for a driver in the process that created it. */
struct zeta_compat_contexts {
    pthread_mutex_t lock;
    struct {
        pid_t process;
        ze_driver_handle_t driver;
        ze_context_handle_t context;
    } known[ZETA_COMPAT_MAX_DRIVERS];
};

#if defined(__cplusplus)
extern "C" {
#endif

/* Weak, so that a program can be linked with a loader that does not have it; then it is null. */
#pragma weak zeDriverGetDefaultContext
ZE_APIEXPORT ze_context_handle_t ZE_APICALL zeDriverGetDefaultContext(ze_driver_handle_t hDriver);

/* Weak, so that all translation units of a program have one. */
#pragma weak zeta_compat_own_contexts
extern struct zeta_compat_contexts zeta_compat_own_contexts;
struct zeta_compat_contexts zeta_compat_own_contexts = {PTHREAD_MUTEX_INITIALIZER,
                                                        {{0, NULL, NULL}}};

#if defined(__cplusplus)
} /* extern "C" */
#endif

/** The context of ours for a driver, created if need be; null when that fails. Any thread. */
static inline ze_context_handle_t zeta_compat_own_context(ze_driver_handle_t driver)
{
    struct zeta_compat_contexts *all = &zeta_compat_own_contexts;
    const pid_t process = getpid();
    ze_context_handle_t context = NULL;
    int place = -1;

    (void)pthread_mutex_lock(&all->lock);
    for (int i = 0; i < ZETA_COMPAT_MAX_DRIVERS && !context; i++) {
        if (all->known[i].process == process && all->known[i].driver == driver)
            context = all->known[i].context;
        else if (all->known[i].process != process && place < 0)
            place = i; /* never used, or by the parent of this process */
    }
    if (!context && place >= 0) {
        ze_context_desc_t desc = {ZE_STRUCTURE_TYPE_CONTEXT_DESC, NULL, 0};

        if (zeContextCreate(driver, &desc, &context) == ZE_RESULT_SUCCESS) {
            all->known[place].process = process;
            all->known[place].driver = driver;
            all->known[place].context = context;
        } else {
            context = NULL;
        }
    }
    (void)pthread_mutex_unlock(&all->lock);
    return context;
}

/** The context that stands for a driver; null when the library does not know the driver. */
static inline ze_context_handle_t zeta_compat_driver_context(ze_driver_handle_t driver)
{
    if (zeDriverGetDefaultContext)
        return zeDriverGetDefaultContext(driver);
    return zeta_compat_own_context(driver);
}

/** Not 0 if a device, or a sub-device of it at any depth, has this handle. */
static inline int zeta_compat_is_within(const void *handle, ze_device_handle_t device)
{
    ze_device_handle_t *parts = NULL;
    uint32_t count = 0;
    int found = handle == (const void *)device;

    if (found || zeDeviceGetSubDevices(device, &count, NULL) != ZE_RESULT_SUCCESS || count == 0)
        return found;
    parts = (ze_device_handle_t *)calloc(count, sizeof(*parts));
    if (!parts || zeDeviceGetSubDevices(device, &count, parts) != ZE_RESULT_SUCCESS)
        count = 0;
    for (uint32_t i = 0; i < count && !found; i++)
        found = zeta_compat_is_within(handle, parts[i]);
    free(parts);
    return found;
}

/** Not 0 if a driver, or a device of it, has this handle. */
static inline int zeta_compat_is_of(const void *handle, ze_driver_handle_t driver)
{
    ze_device_handle_t *devices = NULL;
    uint32_t count = 0;
    int found = handle == (const void *)driver;

    if (found || zeDeviceGet(driver, &count, NULL) != ZE_RESULT_SUCCESS || count == 0)
        return found;
    devices = (ze_device_handle_t *)calloc(count, sizeof(*devices));
    if (!devices || zeDeviceGet(driver, &count, devices) != ZE_RESULT_SUCCESS)
        count = 0;
    for (uint32_t i = 0; i < count && !found; i++)
        found = zeta_compat_is_within(handle, devices[i]);
    free(devices);
    return found;
}

/**
 * The driver that a handle is, or whose device or sub-device it is.
 *
 * Errors: INVALID_NULL_HANDLE when no driver knows the handle; what zeDriverGet answers, such as
 * UNINITIALIZED; OUT_OF_HOST_MEMORY.
 */
static inline ze_result_t zeta_compat_find_driver(const void *driver_or_device,
                                                  ze_driver_handle_t *out_driver)
{
    ze_driver_handle_t *drivers = NULL;
    uint32_t count = 0;
    ze_result_t result = zeDriverGet(&count, NULL);

    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (!driver_or_device || count == 0)
        return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    drivers = (ze_driver_handle_t *)calloc(count, sizeof(*drivers));
    if (!drivers)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    result = zeDriverGet(&count, drivers);
    if (result == ZE_RESULT_SUCCESS) {
        result = ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
        for (uint32_t i = 0; i < count && result != ZE_RESULT_SUCCESS; i++) {
            if (zeta_compat_is_of(driver_or_device, drivers[i])) {
                *out_driver = drivers[i];
                result = ZE_RESULT_SUCCESS;
            }
        }
    }
    free(drivers);
    return result;
}

/** The context that stands for a driver, a device or a sub-device. Errors as above. */
static inline ze_result_t zeta_compat_find_context(const void *driver_or_device,
                                                   ze_context_handle_t *out_context)
{
    ze_driver_handle_t driver = NULL;
    ze_result_t result = zeta_compat_find_driver(driver_or_device, &driver);

    if (result != ZE_RESULT_SUCCESS)
        return result;
    *out_context = zeta_compat_driver_context(driver);
    return *out_context ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_UNINITIALIZED;
}

#endif
