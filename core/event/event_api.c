/* The event and event pool functions of the API. */
#include <stdlib.h>
#include <string.h>

#include <zeta/clock.h>

#include "core/api/chain.h"
#include "core/api/check.h"
#include "core/device/device.h"
#include "core/event/event.h"
#include "core/plugin/host.h"
#include "core/util/cleanup.h"
#include "core/util/error.h"
#include "zeta_impl.h"

static void finish_pool(void *object)
{
    struct zeta_event_pool *pool = object;

    zeta_share_destroy(pool->share);
    zeta_object_unpin(pool->context);
}

static void finish_event(void *object)
{
    struct zeta_event *event = object;

    zeta_store_destroy(atomic_load(&event->store));
    zeta_counter_destroy(event->counter);
    zeta_share_destroy(event->share);
    zeta_object_unpin(event->pool ? (void *)event->pool : (void *)event->context);
}

ZETA_OBJECT_FINISHER(ZETA_KIND_EVENT, finish_event)
ZETA_OBJECT_FINISHER(ZETA_KIND_EVENT_POOL, finish_pool)

/* An event of a pool, or without one (NULL). */
static ze_result_t create_event(struct zeta_context *context, struct zeta_event_pool *pool,
                                struct zeta_device *device, struct zeta_event **out_event)
{
    void *object = NULL;
    ze_result_t result = zeta_object_create_in(pool ? (void *)pool : (void *)context,
                                               pool ? ZETA_KIND_EVENT_POOL : ZETA_KIND_CONTEXT,
                                               ZETA_KIND_EVENT, sizeof(struct zeta_event), &object);

    if (result != ZE_RESULT_SUCCESS)
        return result;
    struct zeta_event *event = object;
    event->cell = &event->own;
    event->context = context;
    event->pool = pool;
    event->plain = (struct zeta_plugin_event){.event = event, .value = ZETA_VALUE_NONE};
    atomic_store(&event->device, device);
    *out_event = event;
    return ZE_RESULT_SUCCESS;
}

/* Makes a new event counter based. */
static ze_result_t make_counted(struct zeta_event *event)
{
    struct zeta_counter_memory *memory = event->share ? zeta_share_counter(event->share) : NULL;
    ze_result_t result = zeta_counter_create(memory, &event->counter);

    if (result != ZE_RESULT_SUCCESS)
        return result;
    /* A wait before the first signal waits for that one. */
    if (zeta_counter_newest(event->counter) == 0)
        zeta_counter_reserve(event->counter);
    atomic_fetch_or(&event->special,
                    (uint32_t)ZETA_EVENT_COUNTED | (event->share ? ZETA_EVENT_SHARED : 0u));
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

/* Owns the share from now on, also on failure. */
static ze_result_t make_pool(struct zeta_context *context, const struct zeta_event_pool *wanted,
                             ze_event_pool_handle_t *out_pool)
{
    void *object = NULL;
    ze_result_t result = zeta_object_create_in(context, ZETA_KIND_CONTEXT, ZETA_KIND_EVENT_POOL,
                                               sizeof(struct zeta_event_pool), &object);

    if (result != ZE_RESULT_SUCCESS) {
        zeta_share_destroy(wanted->share);
        return result;
    }
    struct zeta_event_pool *pool = object;
    pool->context = context;
    pool->device = wanted->device;
    pool->flags = wanted->flags;
    pool->count = wanted->count;
    pool->is_counted = wanted->is_counted;
    pool->share = wanted->share;
    *out_pool = (ze_event_pool_handle_t)pool;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL impl_zeEventPoolCreate(ze_context_handle_t hContext,
                                              const ze_event_pool_desc_t *desc, uint32_t numDevices,
                                              ze_device_handle_t *phDevices,
                                              ze_event_pool_handle_t *phEventPool)
{
    struct zeta_context *context = (struct zeta_context *)hContext;
    struct zeta_event_pool wanted = {
        .device = first_device(context, numDevices, phDevices),
        .flags = desc->flags,
        .count = desc->count,
        .is_counted =
            zeta_chain_find(desc->pNext, ZE_STRUCTURE_TYPE_COUNTER_BASED_EVENT_POOL_EXP_DESC,
                            sizeof(ze_event_pool_counter_based_exp_desc_t)) != NULL};
    const ze_event_pool_flags_t both =
        ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP | ZE_EVENT_POOL_FLAG_KERNEL_MAPPED_TIMESTAMP;
    ze_result_t result = ZE_RESULT_SUCCESS;

    if ((desc->flags & both) == both)
        return zeta_error(ZE_RESULT_ERROR_INVALID_ENUMERATION,
                          "ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP cannot be combined with "
                          "ZE_EVENT_POOL_FLAG_KERNEL_MAPPED_TIMESTAMP, which includes it");
    if (wanted.is_counted && (desc->flags & ZE_EVENT_POOL_FLAG_IPC))
        return zeta_error(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
                          "a pool of counter based events cannot be shared between processes; "
                          "zeEventCounterBasedCreate makes single events that can");
    for (uint32_t i = 0; phDevices && i < numDevices && result == ZE_RESULT_SUCCESS; i++)
        result = zeta_context_check_device(context, (const struct zeta_device *)phDevices[i]);
    if (result == ZE_RESULT_SUCCESS && (desc->flags & ZE_EVENT_POOL_FLAG_IPC))
        result = zeta_share_create(ZETA_SHARE_POOL, desc->count, desc->flags, &wanted.share);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    return make_pool(context, &wanted, phEventPool);
}

ze_result_t ZE_APICALL impl_zeEventPoolDestroy(ze_event_pool_handle_t hEventPool)
{
    return zeta_object_destroy(hEventPool, ZETA_KIND_EVENT_POOL, "zeEventPoolDestroy",
                               "hEventPool");
}

ze_result_t ZE_APICALL impl_zeEventPoolGetIpcHandle(ze_event_pool_handle_t hEventPool,
                                                    ze_ipc_event_pool_handle_t *phIpc)
{
    const struct zeta_event_pool *pool = (const struct zeta_event_pool *)hEventPool;

    if (!pool->share)
        return zeta_error(ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT,
                          "the event pool was created without ZE_EVENT_POOL_FLAG_IPC, so no other "
                          "process can use it");
    memcpy(phIpc->data, pool->share->handle, sizeof(phIpc->data));
    return ZE_RESULT_SUCCESS;
}

/* The descriptor in the handle is the pool's own and goes with it. */
ze_result_t ZE_APICALL impl_zeEventPoolPutIpcHandle(ze_context_handle_t hContext ZETA_UNUSED,
                                                    ze_ipc_event_pool_handle_t hIpc)
{
    return zeta_share_check_handle(ZETA_SHARE_POOL, hIpc.data);
}

ze_result_t ZE_APICALL impl_zeEventPoolOpenIpcHandle(ze_context_handle_t hContext,
                                                     ze_ipc_event_pool_handle_t hIpc,
                                                     ze_event_pool_handle_t *phEventPool)
{
    struct zeta_context *context = (struct zeta_context *)hContext;
    struct zeta_event_pool wanted = {.device = first_device(context, 0, NULL)};
    ze_result_t result = zeta_share_open(ZETA_SHARE_POOL, hIpc.data, &wanted.share);

    if (result != ZE_RESULT_SUCCESS)
        return result;
    wanted.flags = wanted.share->flags;
    wanted.count = wanted.share->count;
    return make_pool(context, &wanted, phEventPool);
}

ze_result_t ZE_APICALL impl_zeEventPoolCloseIpcHandle(ze_event_pool_handle_t hEventPool)
{
    const struct zeta_event_pool *pool = (const struct zeta_event_pool *)hEventPool;

    if (!pool->share || !pool->share->is_opened)
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "the event pool was made here and not opened from an IPC handle; "
                          "zeEventPoolDestroy ends it");
    return zeta_object_destroy(hEventPool, ZETA_KIND_EVENT_POOL, "zeEventPoolCloseIpcHandle",
                               "hEventPool");
}

ZETA_GETTER(zeEventPoolGetContextHandle, ze_event_pool_handle_t, zeta_event_pool,
            ze_context_handle_t, self->context)
ZETA_GETTER(zeEventPoolGetFlags, ze_event_pool_handle_t, zeta_event_pool, ze_event_pool_flags_t,
            self->flags)

ze_result_t ZE_APICALL impl_zeEventCreate(ze_event_pool_handle_t hEventPool,
                                          const ze_event_desc_t *desc, ze_event_handle_t *phEvent)
{
    struct zeta_event_pool *pool = (struct zeta_event_pool *)hEventPool;
    const ze_event_sync_mode_desc_t *mode = zeta_chain_find(
        desc->pNext, ZE_STRUCTURE_TYPE_EVENT_SYNC_MODE_DESC, sizeof(ze_event_sync_mode_desc_t));
    struct zeta_event *event = NULL;

    if (desc->index >= pool->count)
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "event index %u: the pool has room for %u events", desc->index,
                          pool->count);
    /* The other modes ask for a way to wait, and waiting here already sleeps. */
    if (mode && (mode->syncModeFlags & ZE_EVENT_SYNC_MODE_FLAG_EXTERNAL_INTERRUPT_WAIT))
        return zeta_error(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
                          "event %u: there are no external interrupts to wait for", desc->index);
    ze_result_t result = create_event(pool->context, pool, pool->device, &event);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    event->index = desc->index;
    event->signal_scope = desc->signal;
    event->wait_scope = desc->wait;
    event->has_host_times = (pool->flags & ZE_EVENT_POOL_FLAG_KERNEL_MAPPED_TIMESTAMP) != 0;
    event->has_times = event->has_host_times || (pool->flags & ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP);
    if (pool->share) {
        event->cell = zeta_share_cell(pool->share, desc->index);
        atomic_store(&event->special, ZETA_EVENT_SHARED);
    }
    if (pool->is_counted)
        result = make_counted(event);
    if (result == ZE_RESULT_SUCCESS)
        *phEvent = (ze_event_handle_t)event;
    else
        zeta_object_discard(event);
    return result;
}

ze_result_t ZE_APICALL impl_zeEventDestroy(ze_event_handle_t hEvent)
{
    return zeta_object_destroy(hEvent, ZETA_KIND_EVENT, "zeEventDestroy", "hEvent");
}

/* ---------------------------------------------------------------- counter based events */

ze_result_t zeta_event_create_own(struct zeta_context *context, struct zeta_event **out_event)
{
    struct zeta_event *event = NULL;
    ze_result_t result = create_event(context, NULL, NULL, &event);

    if (result != ZE_RESULT_SUCCESS)
        return result;
    result = make_counted(event);
    if (result == ZE_RESULT_SUCCESS)
        *out_event = event;
    else
        zeta_object_discard(event);
    return result;
}

static void set_counted_flags(struct zeta_event *event, ze_event_counter_based_flags_t flags)
{
    event->counter_flags = flags;
    event->has_host_times = (flags & ZE_EVENT_COUNTER_BASED_FLAG_HOST_TIMESTAMP) != 0;
    event->has_times =
        event->has_host_times || (flags & ZE_EVENT_COUNTER_BASED_FLAG_DEVICE_TIMESTAMP);
}

ze_result_t ZE_APICALL impl_zeEventCounterBasedCreate(ze_context_handle_t hContext,
                                                      ze_device_handle_t hDevice,
                                                      const ze_event_counter_based_desc_t *desc,
                                                      ze_event_handle_t *phEvent)
{
    struct zeta_context *context = (struct zeta_context *)hContext;
    struct zeta_device *device = (struct zeta_device *)hDevice;
    const ze_event_counter_based_flags_t both =
        ZE_EVENT_COUNTER_BASED_FLAG_DEVICE_TIMESTAMP | ZE_EVENT_COUNTER_BASED_FLAG_HOST_TIMESTAMP;
    struct zeta_event_store *store = NULL;
    struct zeta_event *event = NULL;

    if ((desc->flags & both) == both)
        return zeta_error(ZE_RESULT_ERROR_INVALID_ENUMERATION,
                          "ZE_EVENT_COUNTER_BASED_FLAG_DEVICE_TIMESTAMP cannot be combined with "
                          "ZE_EVENT_COUNTER_BASED_FLAG_HOST_TIMESTAMP, which includes it");
    ze_result_t result = zeta_context_check_device(context, device);
    if (result == ZE_RESULT_SUCCESS)
        result = create_event(context, NULL, device, &event);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    event->signal_scope = desc->signal;
    event->wait_scope = desc->wait;
    set_counted_flags(event, desc->flags);
    result = zeta_store_from_chain(context, device, desc->pNext, &store);
    atomic_store(&event->store, store);
    if (result == ZE_RESULT_SUCCESS && store && (desc->flags & ZE_EVENT_COUNTER_BASED_FLAG_IPC))
        result = zeta_error(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
                            "an event with an external counter cannot be shared between processes; "
                            "share its memory instead");
    if (result == ZE_RESULT_SUCCESS && (desc->flags & ZE_EVENT_COUNTER_BASED_FLAG_IPC))
        result = zeta_share_create(ZETA_SHARE_COUNTER, 1, desc->flags, &event->share);
    if (result == ZE_RESULT_SUCCESS)
        result = make_counted(event);
    if (result != ZE_RESULT_SUCCESS) {
        zeta_object_discard(event);
        return result;
    }
    if (store)
        atomic_fetch_or(&event->special, ZETA_EVENT_STORED);
    *phEvent = (ze_event_handle_t)event;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL impl_zeEventCounterBasedGetIpcHandle(
    ze_event_handle_t hEvent, ze_ipc_event_counter_based_handle_t *phIpc)
{
    const struct zeta_event *event = (const struct zeta_event *)hEvent;

    if (!event->share)
        return zeta_error(ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT,
                          "the event is not a counter based one that was created with "
                          "ZE_EVENT_COUNTER_BASED_FLAG_IPC");
    memcpy(phIpc->data, event->share->handle, sizeof(phIpc->data));
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL impl_zeEventCounterBasedOpenIpcHandle(
    ze_context_handle_t hContext, ze_ipc_event_counter_based_handle_t hIpc,
    ze_event_handle_t *phEvent)
{
    struct zeta_context *context = (struct zeta_context *)hContext;
    const struct zeta_driver *driver = context->driver;
    struct zeta_event *event = NULL;
    ze_result_t result =
        create_event(context, NULL, driver->device_count > 0 ? driver->devices[0] : NULL, &event);

    if (result != ZE_RESULT_SUCCESS)
        return result;
    result = zeta_share_open(ZETA_SHARE_COUNTER, hIpc.data, &event->share);
    if (result == ZE_RESULT_SUCCESS)
        result = make_counted(event);
    if (result != ZE_RESULT_SUCCESS) {
        zeta_object_discard(event);
        return result;
    }
    set_counted_flags(event, event->share->flags);
    *phEvent = (ze_event_handle_t)event;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL impl_zeEventCounterBasedCloseIpcHandle(ze_event_handle_t hEvent)
{
    const struct zeta_event *event = (const struct zeta_event *)hEvent;

    if (!event->share || !event->share->is_opened)
        return zeta_error(ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT,
                          "the event was not opened from an IPC handle; zeEventDestroy ends it");
    return impl_zeEventDestroy(hEvent);
}

ze_result_t ZE_APICALL impl_zeEventCounterBasedGetDeviceAddress(ze_event_handle_t hEvent,
                                                                uint64_t *completionValue,
                                                                uint64_t *deviceAddress)
{
    struct zeta_event *event = (struct zeta_event *)hEvent;

    if (!event->counter)
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT, "the event is not counter based");
    return zeta_store_address(event, completionValue, deviceAddress);
}

/* Any value can be compared with memory that holds 64 bits. */
ZETA_GETTER(zeDeviceGetCounterBasedEventMaxValue, ze_device_handle_t, zeta_device, uint64_t,
            UINT64_MAX)

/* One append adds once, because no copy is divided between engines. */
ZETA_GETTER(zeDeviceGetAggregatedCopyOffloadIncrementValue, ze_device_handle_t, zeta_device,
            uint32_t, 1)

/* ---------------------------------------------------------------- host side */

static ze_result_t refuse_counted(const struct zeta_event *event, const char *what)
{
    if (!event->counter)
        return ZE_RESULT_SUCCESS;
    return zeta_error(ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT,
                      "a counter based event cannot be %s: it follows the newest work that signals "
                      "it",
                      what);
}

ze_result_t ZE_APICALL impl_zeEventHostSignal(ze_event_handle_t hEvent)
{
    struct zeta_event *event = (struct zeta_event *)hEvent;

    ze_result_t result = refuse_counted(event, "signalled by the host");

    if (result == ZE_RESULT_SUCCESS)
        zeta_event_signal_now(&event->plain);
    return result;
}

ze_result_t ZE_APICALL impl_zeEventHostReset(ze_event_handle_t hEvent)
{
    struct zeta_event *event = (struct zeta_event *)hEvent;
    ze_result_t result = refuse_counted(event, "reset");

    if (result == ZE_RESULT_SUCCESS)
        zeta_event_reset(event);
    return result;
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

    if (atomic_load(&event->special) & ZETA_EVENT_CAPTURED)
        return zeta_error(
            ZE_RESULT_ERROR_GRAPH_CAPTURE_UNSUPPORTED,
            "the event is signalled by commands that are recorded into a graph and do "
            "not run now");
    return zeta_event_wait(event, timeout);
}

/* ---------------------------------------------------------------- getters */

ZETA_GETTER(zeEventGetEventPool, ze_event_handle_t, zeta_event, ze_event_pool_handle_t, self->pool)
ZETA_GETTER(zeEventGetSignalScope, ze_event_handle_t, zeta_event, ze_event_scope_flags_t,
            self->signal_scope)
ZETA_GETTER(zeEventGetWaitScope, ze_event_handle_t, zeta_event, ze_event_scope_flags_t,
            self->wait_scope)
ZETA_GETTER(zeEventGetCounterBasedFlags, ze_event_handle_t, zeta_event,
            ze_event_counter_based_flags_t, self->counter_flags)

/* ---------------------------------------------------------------- times */

ze_result_t ZE_APICALL impl_zeEventQueryKernelTimestamp(ze_event_handle_t hEvent,
                                                        ze_kernel_timestamp_result_t *dstptr)
{
    return zeta_event_times((struct zeta_event *)hEvent, ZETA_VALUE_NONE, dstptr);
}

static ze_result_t read_times(struct zeta_event *event, ze_device_handle_t device,
                              ze_kernel_timestamp_result_t *out_times)
{
    ze_result_t result =
        zeta_context_check_device(event->context, (const struct zeta_device *)device);

    return result == ZE_RESULT_SUCCESS ? zeta_event_times(event, ZETA_VALUE_NONE, out_times)
                                       : result;
}

ze_result_t ZE_APICALL impl_zeEventQueryTimestampsExp(ze_event_handle_t hEvent,
                                                      ze_device_handle_t hDevice, uint32_t *pCount,
                                                      ze_kernel_timestamp_result_t *pTimestamps)
{
    ze_kernel_timestamp_result_t times;
    ze_result_t result = read_times((struct zeta_event *)hEvent, hDevice, &times);

    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (zeta_count_clip(pCount, 1, pTimestamps) == 1)
        *pTimestamps = times;
    return ZE_RESULT_SUCCESS;
}

/*
 * What turns nanoseconds of the device's clock into those of the host's raw clock at a time, by the
 * distance from now. The two clocks drift, and reading them takes a while, so the first answer
 * about the work of an event is kept with it: all processes give the same one.
 */
static ze_result_t host_shift(struct zeta_device *device, struct zeta_work_times *work,
                              uint64_t begin_ticks, double ns_per_tick, uint64_t *out_shift)
{
    uint64_t known = atomic_load(&work->host_shift);
    uint64_t ticks = 0;
    uint64_t host_ns = 0;
    ze_result_t result = known ? ZE_RESULT_SUCCESS : zeta_device_clock(device, &ticks, &host_ns);

    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (!known) {
        int64_t age_ns = (int64_t)((double)(int64_t)(ticks - begin_ticks) * ns_per_tick);
        uint64_t shift = host_ns - (uint64_t)age_ns - (uint64_t)((double)begin_ticks * ns_per_tick);

        shift = shift ? shift : 1;
        if (atomic_compare_exchange_strong(&work->host_shift, &known, shift))
            known = shift;
    }
    *out_shift = known;
    return ZE_RESULT_SUCCESS;
}

static ze_result_t synchronized_times(struct zeta_event *event,
                                      ze_synchronized_timestamp_result_ext_t *out)
{
    struct zeta_device *device = atomic_load(&event->device);
    double ns_per_tick = (double)ZETA_NS_PER_S / (double)device->backend->properties.timer_hz;
    struct zeta_work_times *work = NULL;
    uint64_t shift = 0;
    ze_result_t result = zeta_event_work(event, ZETA_VALUE_NONE, &work);

    if (result != ZE_RESULT_SUCCESS)
        return result;
    uint64_t begin = atomic_load(&work->begin_ticks);
    uint64_t end = atomic_load(&work->end_ticks);
    result = host_shift(device, work, begin, ns_per_tick, &shift);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    uint64_t length_ns = (uint64_t)((double)(end - begin) * ns_per_tick);
    out->global.kernelStart = (uint64_t)((double)begin * ns_per_tick) + shift;
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
    ze_result_t result = read_times(event, hDevice, &times);

    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (zeta_count_clip(pCount, 1, pResults) == 0)
        return ZE_RESULT_SUCCESS;
    if (pResults->pSynchronizedTimestampsBuffer) {
        if (!event->has_host_times)
            return zeta_error(
                ZE_RESULT_ERROR_INVALID_ARGUMENT,
                "host times need a pool that was created with "
                "ZE_EVENT_POOL_FLAG_KERNEL_MAPPED_TIMESTAMP, or a counter based event "
                "with ZE_EVENT_COUNTER_BASED_FLAG_HOST_TIMESTAMP");
        result = synchronized_times(event, pResults->pSynchronizedTimestampsBuffer);
    }
    if (result == ZE_RESULT_SUCCESS && pResults->pKernelTimestampsBuffer)
        *pResults->pKernelTimestampsBuffer = times;
    return result;
}
