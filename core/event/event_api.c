/* The event functions of the API, but for those about times (event_times.c). */
#include <string.h>

#include "core/api/chain.h"
#include "core/device/device.h"
#include "core/event/event.h"
#include "core/plugin/host.h"
#include "core/util/cleanup.h"
#include "core/util/error.h"
#include "zeta_impl.h"

static ze_result_t check_desc(const struct zeta_event_pool *pool, const ze_event_desc_t *desc)
{
    const ze_event_sync_mode_desc_t *mode = zeta_chain_find(
        desc->pNext, ZE_STRUCTURE_TYPE_EVENT_SYNC_MODE_DESC, sizeof(ze_event_sync_mode_desc_t));

    if (desc->index >= pool->count)
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "event index %u: the pool has room for %u events", desc->index,
                          pool->count);
    /* The other modes ask for a way to wait, and waiting here already sleeps. */
    if (mode && (mode->syncModeFlags & ZE_EVENT_SYNC_MODE_FLAG_EXTERNAL_INTERRUPT_WAIT))
        return zeta_error(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
                          "event %u: there are no external interrupts to wait for", desc->index);
    return ZE_RESULT_SUCCESS;
}

/* The event has a pin on its pool already. */
static void fill_from_pool(struct zeta_event *event, struct zeta_event_pool *pool,
                           const ze_event_desc_t *desc)
{
    const ze_event_pool_flags_t host = ZE_EVENT_POOL_FLAG_KERNEL_MAPPED_TIMESTAMP;

    zeta_event_init(event, pool->context, pool, pool->device);
    event->index = desc->index;
    event->signal_scope = desc->signal;
    event->wait_scope = desc->wait;
    event->has_host_times = (pool->flags & host) != 0;
    event->has_times = event->has_host_times || (pool->flags & ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP);
    if (pool->share) {
        event->cell = zeta_share_cell(pool->share, desc->index);
        atomic_store(&event->special, ZETA_EVENT_SHARED);
    }
}

/* Drops an event that nobody has seen yet. */
static ze_result_t drop(struct zeta_event *event, ze_result_t result)
{
    zeta_object_discard(event);
    return result;
}

ze_result_t ZE_APICALL impl_zeEventCreate(ze_event_pool_handle_t hEventPool,
                                          const ze_event_desc_t *desc, ze_event_handle_t *phEvent)
{
    struct zeta_event_pool *pool = (struct zeta_event_pool *)hEventPool;
    void *object = NULL;
    ze_result_t result = check_desc(pool, desc);

    if (result != ZE_RESULT_SUCCESS)
        return result;
    result = zeta_object_create_in(pool, ZETA_KIND_EVENT_POOL, ZETA_KIND_EVENT,
                                   sizeof(struct zeta_event), &object);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    fill_from_pool(object, pool, desc);
    if (pool->is_counted)
        result = zeta_event_make_counted(object);
    if (result != ZE_RESULT_SUCCESS)
        return drop(object, result);
    *phEvent = object;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL impl_zeEventDestroy(ze_event_handle_t hEvent)
{
    return zeta_object_destroy(hEvent, ZETA_KIND_EVENT, "zeEventDestroy", "hEvent");
}

/* ---------------------------------------------------------------- counter based events */

static ze_result_t check_counted(const struct zeta_context *context,
                                 const struct zeta_device *device,
                                 const ze_event_counter_based_desc_t *desc)
{
    const ze_event_counter_based_flags_t both =
        ZE_EVENT_COUNTER_BASED_FLAG_DEVICE_TIMESTAMP | ZE_EVENT_COUNTER_BASED_FLAG_HOST_TIMESTAMP;

    if ((desc->flags & both) == both)
        return zeta_error(ZE_RESULT_ERROR_INVALID_ENUMERATION,
                          "ZE_EVENT_COUNTER_BASED_FLAG_DEVICE_TIMESTAMP cannot be combined with "
                          "ZE_EVENT_COUNTER_BASED_FLAG_HOST_TIMESTAMP, which includes it");
    return zeta_context_check_device(context, device);
}

static ze_result_t new_counted(struct zeta_context *context, struct zeta_device *device,
                               struct zeta_event **out_event)
{
    void *object = NULL;

    ze_result_t result = zeta_object_create_in(context, ZETA_KIND_CONTEXT, ZETA_KIND_EVENT,
                                               sizeof(struct zeta_event), &object);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    zeta_event_init(object, context, NULL, device);
    *out_event = object;
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeta_event_create_own(struct zeta_context *context, struct zeta_event **out_event)
{
    struct zeta_event *event = NULL;
    ze_result_t result = new_counted(context, NULL, &event);

    if (result != ZE_RESULT_SUCCESS)
        return result;
    result = zeta_event_make_counted(event);
    if (result != ZE_RESULT_SUCCESS)
        return drop(event, result);
    *out_event = event;
    return ZE_RESULT_SUCCESS;
}

static void set_counted_flags(struct zeta_event *event, ze_event_counter_based_flags_t flags)
{
    event->counter_flags = flags;
    event->has_host_times = (flags & ZE_EVENT_COUNTER_BASED_FLAG_HOST_TIMESTAMP) != 0;
    event->has_times =
        event->has_host_times || (flags & ZE_EVENT_COUNTER_BASED_FLAG_DEVICE_TIMESTAMP);
}

static ze_result_t fill_counted(struct zeta_event *event, struct zeta_device *device,
                                const ze_event_counter_based_desc_t *desc)
{
    struct zeta_event_store *store = NULL;
    ze_result_t result = zeta_store_from_chain(event->context, device, desc->pNext, &store);

    if (result != ZE_RESULT_SUCCESS)
        return result;
    atomic_store(&event->store, store);
    event->signal_scope = desc->signal;
    event->wait_scope = desc->wait;
    set_counted_flags(event, desc->flags);
    if (store && (desc->flags & ZE_EVENT_COUNTER_BASED_FLAG_IPC))
        return zeta_error(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
                          "an event with an external counter cannot be shared between processes; "
                          "share its memory instead");
    if (desc->flags & ZE_EVENT_COUNTER_BASED_FLAG_IPC)
        result = zeta_share_create(ZETA_SHARE_COUNTER, 1, desc->flags, &event->share);
    if (result == ZE_RESULT_SUCCESS)
        result = zeta_event_make_counted(event);
    if (result == ZE_RESULT_SUCCESS && store)
        atomic_fetch_or(&event->special, ZETA_EVENT_STORED);
    return result;
}

ze_result_t ZE_APICALL impl_zeEventCounterBasedCreate(ze_context_handle_t hContext,
                                                      ze_device_handle_t hDevice,
                                                      const ze_event_counter_based_desc_t *desc,
                                                      ze_event_handle_t *phEvent)
{
    struct zeta_context *context = (struct zeta_context *)hContext;
    struct zeta_device *device = (struct zeta_device *)hDevice;
    struct zeta_event *event = NULL;
    ze_result_t result = check_counted(context, device, desc);

    if (result == ZE_RESULT_SUCCESS)
        result = new_counted(context, device, &event);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    result = fill_counted(event, device, desc);
    if (result != ZE_RESULT_SUCCESS)
        return drop(event, result);
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
        new_counted(context, driver->device_count > 0 ? driver->devices[0] : NULL, &event);

    if (result != ZE_RESULT_SUCCESS)
        return result;
    result = zeta_share_open(ZETA_SHARE_COUNTER, hIpc.data, &event->share);
    if (result == ZE_RESULT_SUCCESS)
        result = zeta_event_make_counted(event);
    if (result != ZE_RESULT_SUCCESS)
        return drop(event, result);
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
ze_result_t ZE_APICALL impl_zeDeviceGetCounterBasedEventMaxValue(
    ze_device_handle_t hDevice ZETA_UNUSED, uint64_t *maxValue)
{
    *maxValue = UINT64_MAX;
    return ZE_RESULT_SUCCESS;
}

/* One append adds once, because no copy is divided between engines. */
ze_result_t ZE_APICALL impl_zeDeviceGetAggregatedCopyOffloadIncrementValue(
    ze_device_handle_t hDevice ZETA_UNUSED, uint32_t *incrementValue)
{
    *incrementValue = 1;
    return ZE_RESULT_SUCCESS;
}

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

    /* Signalling uses the context, which the reference keeps. */
    if (!zeta_object_pin(event, ZETA_KIND_EVENT))
        return zeta_object_explain(hEvent, ZETA_KIND_EVENT, "zeEventHostSignal", "hEvent");
    ze_result_t result = refuse_counted(event, "signalled by the host");
    if (result == ZE_RESULT_SUCCESS)
        zeta_event_signal_now(&event->plain);
    zeta_object_unpin(event);
    return result;
}

ze_result_t ZE_APICALL impl_zeEventHostReset(ze_event_handle_t hEvent)
{
    struct zeta_event *event = (struct zeta_event *)hEvent;

    if (!zeta_object_pin(event, ZETA_KIND_EVENT))
        return zeta_object_explain(hEvent, ZETA_KIND_EVENT, "zeEventHostReset", "hEvent");
    ze_result_t result = refuse_counted(event, "reset");
    if (result == ZE_RESULT_SUCCESS)
        zeta_event_reset(event);
    zeta_object_unpin(event);
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

static ze_result_t refuse_captured(const struct zeta_event *event)
{
    if (!(atomic_load(&event->special) & ZETA_EVENT_CAPTURED))
        return ZE_RESULT_SUCCESS;
    return zeta_error(
        ZE_RESULT_ERROR_GRAPH_CAPTURE_UNSUPPORTED,
        "the event is signalled by commands that are recorded into a graph and do not "
        "run now");
}

ze_result_t ZE_APICALL impl_zeEventHostSynchronize(ze_event_handle_t hEvent, uint64_t timeout)
{
    struct zeta_event *event = (struct zeta_event *)hEvent;

    if (!zeta_object_pin(event, ZETA_KIND_EVENT))
        return zeta_object_explain(hEvent, ZETA_KIND_EVENT, "zeEventHostSynchronize", "hEvent");
    ze_result_t result = refuse_captured(event);
    if (result == ZE_RESULT_SUCCESS)
        result = zeta_event_wait(event, timeout);
    zeta_object_unpin(event);
    return result;
}

/* ---------------------------------------------------------------- getters */

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

ze_result_t ZE_APICALL impl_zeEventGetCounterBasedFlags(ze_event_handle_t hEvent,
                                                        ze_event_counter_based_flags_t *pFlags)
{
    *pFlags = ((const struct zeta_event *)hEvent)->counter_flags;
    return ZE_RESULT_SUCCESS;
}
