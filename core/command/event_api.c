/* The event functions of the API. */
#include <string.h>

#include "core/command/event.h"
#include "core/device/device.h"
#include "core/plugin/host.h"
#include "core/util/cleanup.h"
#include "core/util/clock.h"
#include "core/util/error.h"
#include "zeta_impl.h"

static void finish_event(void *object)
{
    zeta_object_unpin(((struct zeta_event *)object)->pool);
}

static void finish_pool(void *object)
{
    zeta_object_unpin(((struct zeta_event_pool *)object)->context);
}

void zeta_event_set_finishers(void)
{
    zeta_object_set_finisher(ZETA_KIND_EVENT, finish_event);
    zeta_object_set_finisher(ZETA_KIND_EVENT_POOL, finish_pool);
}

static ze_result_t check_pool(const struct zeta_context *context, const ze_event_pool_desc_t *desc,
                              uint32_t count, ze_device_handle_t *devices)
{
    if (desc->flags & ZE_EVENT_POOL_FLAG_IPC)
        return zeta_error(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
                          "event pools cannot be shared between processes "
                          "(ZE_EVENT_POOL_FLAG_IPC); zeDriverGetIpcProperties says so");
    for (uint32_t i = 0; devices && i < count; i++) {
        ze_result_t result =
            zeta_context_check_device(context, (const struct zeta_device *)devices[i]);

        if (result != ZE_RESULT_SUCCESS)
            return result;
    }
    return ZE_RESULT_SUCCESS;
}

static struct zeta_device *first_device(const struct zeta_context *context, uint32_t count,
                                        ze_device_handle_t *devices)
{
    if (devices && count > 0)
        return (struct zeta_device *)devices[0];
    if (context->device_count > 0)
        return context->devices[0];
    return context->driver->device_count > 0 ? context->driver->devices[0] : NULL;
}

ze_result_t ZE_APICALL impl_zeEventPoolCreate(ze_context_handle_t hContext,
                                              const ze_event_pool_desc_t *desc, uint32_t numDevices,
                                              ze_device_handle_t *phDevices,
                                              ze_event_pool_handle_t *phEventPool)
{
    struct zeta_context *context = (struct zeta_context *)hContext;
    void *object = NULL;
    ze_result_t result = check_pool(context, desc, numDevices, phDevices);

    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (!zeta_object_pin(context, ZETA_KIND_CONTEXT))
        return zeta_object_explain(hContext, ZETA_KIND_CONTEXT, "zeEventPoolCreate", "hContext");
    result = zeta_object_create(ZETA_KIND_EVENT_POOL, sizeof(struct zeta_event_pool), &object);
    if (result != ZE_RESULT_SUCCESS) {
        zeta_object_unpin(context);
        return result;
    }
    struct zeta_event_pool *pool = object;
    pool->context = context;
    pool->device = first_device(context, numDevices, phDevices);
    pool->flags = desc->flags;
    pool->count = desc->count;
    *phEventPool = (ze_event_pool_handle_t)pool;
    return ZE_RESULT_SUCCESS;
}

static ze_result_t destroy(void *handle, enum zeta_kind kind, const char *function,
                           const char *parameter)
{
    if (!zeta_object_retire(handle))
        return zeta_object_explain(handle, kind, function, parameter);
    zeta_object_unpin(handle);
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL impl_zeEventPoolDestroy(ze_event_pool_handle_t hEventPool)
{
    return destroy(hEventPool, ZETA_KIND_EVENT_POOL, "zeEventPoolDestroy", "hEventPool");
}

ze_result_t ZE_APICALL impl_zeEventPoolGetContextHandle(ze_event_pool_handle_t hEventPool,
                                                        ze_context_handle_t *phContext)
{
    *phContext = (ze_context_handle_t)((const struct zeta_event_pool *)hEventPool)->context;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL impl_zeEventPoolGetFlags(ze_event_pool_handle_t hEventPool,
                                                ze_event_pool_flags_t *pFlags)
{
    *pFlags = ((const struct zeta_event_pool *)hEventPool)->flags;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL impl_zeEventCreate(ze_event_pool_handle_t hEventPool,
                                          const ze_event_desc_t *desc, ze_event_handle_t *phEvent)
{
    struct zeta_event_pool *pool = (struct zeta_event_pool *)hEventPool;
    void *object = NULL;

    if (desc->index >= pool->count)
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "event index %u: the pool has room for %u events", desc->index,
                          pool->count);
    if (!zeta_object_pin(pool, ZETA_KIND_EVENT_POOL))
        return zeta_object_explain(hEventPool, ZETA_KIND_EVENT_POOL, "zeEventCreate", "hEventPool");
    ze_result_t result = zeta_object_create(ZETA_KIND_EVENT, sizeof(struct zeta_event), &object);
    if (result != ZE_RESULT_SUCCESS) {
        zeta_object_unpin(pool);
        return result;
    }
    struct zeta_event *event = object;
    event->pool = pool;
    event->index = desc->index;
    event->signal_scope = desc->signal;
    event->wait_scope = desc->wait;
    atomic_store(&event->device, pool->device);
    *phEvent = (ze_event_handle_t)event;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL impl_zeEventDestroy(ze_event_handle_t hEvent)
{
    return destroy(hEvent, ZETA_KIND_EVENT, "zeEventDestroy", "hEvent");
}

ze_result_t ZE_APICALL impl_zeEventHostSignal(ze_event_handle_t hEvent)
{
    /* Signalling looks at the pool and the context, which a pin keeps there. */
    if (!zeta_object_pin(hEvent, ZETA_KIND_EVENT))
        return zeta_object_explain(hEvent, ZETA_KIND_EVENT, "zeEventHostSignal", "hEvent");
    zeta_event_signal_now((struct zeta_event *)hEvent);
    zeta_object_unpin(hEvent);
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL impl_zeEventHostReset(ze_event_handle_t hEvent)
{
    zeta_event_reset((struct zeta_event *)hEvent);
    return ZE_RESULT_SUCCESS;
}

/* Polled about a million times a second by some programs: no lock and no system call. */
ze_result_t ZE_APICALL impl_zeEventQueryStatus(ze_event_handle_t hEvent)
{
    uint32_t state = zeta_event_state((struct zeta_event *)hEvent);

    if (state == ZETA_SIGNAL_OFF)
        return ZE_RESULT_NOT_READY;
    if (state == ZETA_SIGNAL_ON)
        return ZE_RESULT_SUCCESS;
    return zeta_event_wait((struct zeta_event *)hEvent, 0);
}

ze_result_t ZE_APICALL impl_zeEventHostSynchronize(ze_event_handle_t hEvent, uint64_t timeout)
{
    struct zeta_event *event = (struct zeta_event *)hEvent;

    if (!zeta_object_pin(event, ZETA_KIND_EVENT))
        return zeta_object_explain(hEvent, ZETA_KIND_EVENT, "zeEventHostSynchronize", "hEvent");
    ze_result_t result = zeta_event_wait(event, timeout);
    zeta_object_unpin(event);
    return result;
}

ze_result_t ZE_APICALL impl_zeEventGetEventPool(ze_event_handle_t hEvent,
                                                ze_event_pool_handle_t *phEventPool)
{
    *phEventPool = (ze_event_pool_handle_t)((const struct zeta_event *)hEvent)->pool;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL impl_zeEventGetSignalScope(ze_event_handle_t hEvent,
                                                  ze_event_scope_flags_t *pSignalScope)
{
    *pSignalScope = ((const struct zeta_event *)hEvent)->signal_scope;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL impl_zeEventGetWaitScope(ze_event_handle_t hEvent,
                                                ze_event_scope_flags_t *pWaitScope)
{
    *pWaitScope = ((const struct zeta_event *)hEvent)->wait_scope;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL impl_zeEventGetCounterBasedFlags(ze_event_handle_t hEvent ZETA_UNUSED,
                                                        ze_event_counter_based_flags_t *pFlags)
{
    *pFlags = 0;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL impl_zeEventQueryKernelTimestamp(ze_event_handle_t hEvent,
                                                        ze_kernel_timestamp_result_t *dstptr)
{
    return zeta_event_times((struct zeta_event *)hEvent, dstptr);
}

static ze_result_t check_pair(const struct zeta_event *event, const struct zeta_device *device)
{
    return zeta_context_check_device(event->pool->context, device);
}

ze_result_t ZE_APICALL impl_zeEventQueryTimestampsExp(ze_event_handle_t hEvent,
                                                      ze_device_handle_t hDevice, uint32_t *pCount,
                                                      ze_kernel_timestamp_result_t *pTimestamps)
{
    struct zeta_event *event = (struct zeta_event *)hEvent;
    ze_kernel_timestamp_result_t times;
    ze_result_t result = check_pair(event, (const struct zeta_device *)hDevice);

    if (result == ZE_RESULT_SUCCESS)
        result = zeta_event_times(event, &times);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (zeta_count_clip(pCount, 1, pTimestamps) == 1)
        *pTimestamps = times;
    return ZE_RESULT_SUCCESS;
}

/* Ticks of the device as nanoseconds of the host's raw clock, by the distance from now. */
static ze_result_t synchronized_times(struct zeta_event *event,
                                      ze_synchronized_timestamp_result_ext_t *out)
{
    struct zeta_device *device = atomic_load(&event->device);
    double ns_per_tick = (double)ZETA_NS_PER_S / (double)device->backend->properties.timer_hz;
    uint64_t begin = atomic_load(&event->begin_ticks);
    uint64_t end = atomic_load(&event->end_ticks);
    uint64_t ticks = 0;
    uint64_t host_ns = 0;
    ze_result_t result = zeta_device_clock(device, &ticks, &host_ns);

    if (result != ZE_RESULT_SUCCESS)
        return result;
    uint64_t length_ns = (uint64_t)((double)(end - begin) * ns_per_tick);
    int64_t age_ns = (int64_t)((double)(int64_t)(ticks - begin) * ns_per_tick);
    out->global.kernelStart = host_ns - (uint64_t)age_ns;
    out->global.kernelEnd = out->global.kernelStart + (length_ns > 0 ? length_ns : 1);
    out->context = out->global;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL impl_zeEventQueryKernelTimestampsExt(
    ze_event_handle_t hEvent, ze_device_handle_t hDevice, uint32_t *pCount,
    ze_event_query_kernel_timestamps_results_ext_properties_t *pResults)
{
    struct zeta_event *event = (struct zeta_event *)hEvent;
    ze_kernel_timestamp_result_t times;
    ze_result_t result = check_pair(event, (const struct zeta_device *)hDevice);

    if (result == ZE_RESULT_SUCCESS)
        result = zeta_event_times(event, &times);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (zeta_count_clip(pCount, 1, pResults) == 0)
        return ZE_RESULT_SUCCESS;
    if (pResults->pSynchronizedTimestampsBuffer) {
        if ((event->pool->flags & ZE_EVENT_POOL_FLAG_KERNEL_MAPPED_TIMESTAMP) == 0)
            return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                              "host times need a pool that was created with "
                              "ZE_EVENT_POOL_FLAG_KERNEL_MAPPED_TIMESTAMP");
        result = synchronized_times(event, pResults->pSynchronizedTimestampsBuffer);
    }
    if (result == ZE_RESULT_SUCCESS && pResults->pKernelTimestampsBuffer)
        *pResults->pKernelTimestampsBuffer = times;
    return result;
}
