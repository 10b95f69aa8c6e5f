#include "core/command/event.h"

#include <sched.h>

#include "core/command/host_services.h"
#include "core/device/device.h"
#include "core/plugin/host.h"
#include "core/trace/activity.h"
#include "core/util/cleanup.h"
#include "core/util/error.h"

static atomic_bool any_lost;

/* A bound event shows its level. The count keeps unbind waiting while somebody is inside. */
uint32_t zeta_event_bound_state(struct zeta_event *event)
{
    uint32_t state;

    atomic_fetch_add(&event->level_users, 1);
    zeta_event_level_fn level = atomic_load(&event->level);
    if (level)
        state = level(event->level_context) ? ZETA_SIGNAL_ON : ZETA_SIGNAL_OFF;
    else
        state = atomic_load(&event->signal.state);
    atomic_fetch_sub(&event->level_users, 1);
    return state;
}

/* Binding is rare; a mutex in each event would make the object larger than its slot should be. */
static void lock_binding(struct zeta_event *event)
{
    while (atomic_exchange(&event->binding, 1) != 0)
        (void)sched_yield();
}

static void unlock_binding(struct zeta_event *event)
{
    atomic_store(&event->binding, 0);
}

static void clear_level_locked(struct zeta_event *event)
{
    atomic_store(&event->level, NULL);
    while (atomic_load(&event->level_users) != 0)
        (void)sched_yield();
    event->level_context = NULL;
}

bool zeta_event_bind(struct zeta_event *event, zeta_event_level_fn level, void *context)
{
    if (!zeta_object_pin(event, ZETA_KIND_EVENT))
        return false;
    lock_binding(event);
    clear_level_locked(event);
    event->level_context = context;
    atomic_store(&event->level, level);
    unlock_binding(event);
    zeta_signal_poke(&event->signal);
    return true;
}

void zeta_event_unbind(struct zeta_event *event, const void *context)
{
    lock_binding(event);
    if (atomic_load(&event->level) && event->level_context == context)
        clear_level_locked(event);
    unlock_binding(event);
    zeta_signal_poke(&event->signal);
    zeta_object_unpin(event);
}

/* Commands of the same driver may wait for the event. */
static void wake_backend(const struct zeta_event *event)
{
    struct zeta_backend *backend = event->pool->context->driver->compute;

    if (backend)
        backend->compute.wake(backend->self);
}

void zeta_event_notify(struct zeta_event *event)
{
    zeta_signal_poke(&event->signal);
    wake_backend(event);
}

void zeta_event_signal(struct zeta_event *event, uint64_t begin_ticks, uint64_t end_ticks)
{
    atomic_store_explicit(&event->begin_ticks, begin_ticks, memory_order_relaxed);
    /* Programs take equal times for a whole turn of the timer. */
    atomic_store_explicit(&event->end_ticks, end_ticks > begin_ticks ? end_ticks : begin_ticks + 1,
                          memory_order_relaxed);
    zeta_signal_set(&event->signal, ZETA_SIGNAL_ON);
    wake_backend(event);
}

void zeta_event_signal_now(struct zeta_event *event)
{
    struct zeta_device *device = atomic_load(&event->device);
    uint64_t ticks = 0;
    uint64_t host_ns = 0;

    if (device && zeta_event_pool_has_times(event->pool))
        (void)zeta_device_clock(device, &ticks, &host_ns);
    zeta_event_signal(event, ticks, ticks + 1);
}

void zeta_event_lose(struct zeta_event *event)
{
    atomic_store(&any_lost, true);
    zeta_signal_lose(&event->signal);
}

bool zeta_event_any_lost(void)
{
    return atomic_load(&any_lost);
}

void zeta_event_reset(struct zeta_event *event)
{
    zeta_signal_set(&event->signal, ZETA_SIGNAL_OFF);
}

static ze_result_t look(void *object)
{
    struct zeta_event *event = object;

    switch (zeta_event_state(event)) {
    case ZETA_SIGNAL_ON:
        return ZE_RESULT_SUCCESS;
    case ZETA_SIGNAL_LOST:
        return ZE_RESULT_ERROR_DEVICE_LOST;
    default:
        return ZE_RESULT_NOT_READY;
    }
}

ze_result_t zeta_event_wait(struct zeta_event *event, uint64_t timeout_ns)
{
    struct zeta_device *device = atomic_load(&event->device);
    bool bound = atomic_load(&event->level) != NULL;

    /* A level is no work of the device and does not get lost with it. */
    ze_result_t result =
        zeta_signal_wait(&event->signal, look, event, bound ? NULL : device, timeout_ns);
    if (result == ZE_RESULT_ERROR_DEVICE_LOST && device)
        return zeta_device_fault(device, ZE_RESULT_ERROR_DEVICE_LOST);
    return result;
}

ze_result_t zeta_event_times(struct zeta_event *event, ze_kernel_timestamp_result_t *out_times)
{
    struct zeta_device *device = atomic_load(&event->device);
    uint32_t state = atomic_load(&event->signal.state);

    if (!zeta_event_pool_has_times(event->pool) || !device)
        return zeta_error(ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT,
                          "event %u carries no times: its pool was created without "
                          "ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP",
                          event->index);
    if (state == ZETA_SIGNAL_LOST)
        return zeta_device_fault(device, ZE_RESULT_ERROR_DEVICE_LOST);
    if (state != ZETA_SIGNAL_ON)
        return ZE_RESULT_NOT_READY;

    uint64_t mask = zeta_valid_mask(zeta_device_kernel_timestamp_bits(device));
    out_times->global.kernelStart = atomic_load(&event->begin_ticks) & mask;
    out_times->global.kernelEnd = atomic_load(&event->end_ticks) & mask;
    out_times->context = out_times->global;
    return ZE_RESULT_SUCCESS;
}

uint32_t zeta_host_event_query(struct zeta_plugin_host *host ZETA_UNUSED,
                               struct zeta_plugin_event *event)
{
    return zeta_event_is_signalled((struct zeta_event *)event) ? ZETA_PLUGIN_SUCCESS
                                                               : ZETA_PLUGIN_NOT_READY;
}

void zeta_host_event_signal(struct zeta_plugin_host *host ZETA_UNUSED,
                            struct zeta_plugin_event *event, const struct zeta_plugin_times *times)
{
    event = zeta_trace_activity_event(event, times);
    if (!event)
        return;
    if (times)
        zeta_event_signal((struct zeta_event *)event, times->begin_ticks, times->end_ticks);
    else
        zeta_event_signal_now((struct zeta_event *)event);
}

void zeta_host_event_reset(struct zeta_plugin_host *host ZETA_UNUSED,
                           struct zeta_plugin_event *event)
{
    zeta_event_reset((struct zeta_event *)event);
}
