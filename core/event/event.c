#include "core/event/event.h"

#include <sched.h>
#include <stdlib.h>

#include <zeta/clock.h>

#include "core/device/device.h"
#include "core/event/activity.h"
#include "core/plugin/host.h"
#include "core/util/cleanup.h"
#include "core/util/error.h"

/* How often a waiter checks that the process that would signal a shared event still runs. */
#define ALIVE_PERIOD_NS UINT64_C(50000000)

/*
 * How long to sleep before polling memory again that others change without a notification; a long
 * wait sleeps for a part of the time so far, up to a limit.
 */
#define FOREIGN_POLL_NS UINT64_C(200000)
#define FOREIGN_POLL_PART 16u
#define FOREIGN_POLL_MAX_NS UINT64_C(5000000)

/* How long a waiter looks for the end of work itself: some times what it takes to be woken. */
#define LOOK_NS UINT64_C(50000)

bool (*zeta_event_look)(void *what);

static atomic_bool any_lost;

static struct zeta_signal *signal_of(struct zeta_event *event)
{
    return event->counter ? &event->counter->core->signal : &event->cell->signal;
}

/* ---------------------------------------------------------------- state */

/* True if the process that would signal the event has ended. */
static bool is_orphan(struct zeta_event *event, uint64_t signaller)
{
    const struct zeta_share *share = event->share ? event->share : event->pool->share;
    uint64_t now_ns = zeta_monotonic_ns();

    if (now_ns < atomic_load_explicit(&event->next_poll_ns, memory_order_relaxed))
        return false;
    atomic_store_explicit(&event->next_poll_ns, now_ns + ALIVE_PERIOD_NS, memory_order_relaxed);
    if (signaller == zeta_process_self() || (signaller == 0 && !share->is_opened))
        return false;
    return !zeta_process_is_alive(signaller ? signaller : share->maker);
}

static uint32_t counter_state(struct zeta_event *event, uint64_t value)
{
    uint32_t state = zeta_counter_state(event->counter, value);

    if (state != ZETA_SIGNAL_OFF || !event->share)
        return state;
    const struct zeta_counter_slot *slot = zeta_counter_slot_of(event->counter, value);
    if (!slot || !is_orphan(event, atomic_load(&slot->signaller)))
        return state;
    zeta_event_lose(&(struct zeta_plugin_event){event, value});
    return zeta_counter_state(event->counter, value);
}

static uint32_t store_state(struct zeta_event *event, bool device)
{
    if (atomic_load(&event->own.signal.state) == ZETA_SIGNAL_LOST)
        return ZETA_SIGNAL_LOST;
    enum zeta_signal_state state = zeta_store_state(atomic_load(&event->store), device);
    if (state == ZETA_SIGNAL_LOST)
        zeta_event_lose(&(struct zeta_plugin_event){event, ZETA_VALUE_STORE});
    return state;
}

uint32_t zeta_event_special_state(struct zeta_event *event)
{
    uint32_t special = atomic_load(&event->special);
    uint32_t state = ZETA_SIGNAL_OFF;

    /* A bound event shows its level. The count keeps unbind waiting while a thread is inside. */
    if (special & ZETA_EVENT_BOUND) {
        atomic_fetch_add(&event->level_users, 1);
        zeta_event_level_fn level = atomic_load(&event->level);
        if (level && level(event->level_context))
            state = ZETA_SIGNAL_ON;
        atomic_fetch_sub(&event->level_users, 1);
        if (level)
            return state;
    }
    /* Counters and shared memory go with the event; its own memory stays readable. */
    if (!zeta_object_pin(event, ZETA_KIND_EVENT))
        return ZETA_SIGNAL_OFF;
    if (special & ZETA_EVENT_STORED)
        state = store_state(event, false);
    else if (special & ZETA_EVENT_COUNTED)
        state = counter_state(event, zeta_counter_newest(event->counter));
    else
        state = atomic_load(&event->cell->signal.state);
    if (state == ZETA_SIGNAL_OFF && !(special & ZETA_EVENT_COUNTED) && event->cell != &event->own &&
        is_orphan(event, atomic_load(&event->cell->signaller))) {
        zeta_event_lose(&event->plain);
        state = atomic_load(&event->cell->signal.state);
    }
    zeta_object_unpin(event);
    return state;
}

/* The state of an event as a command sees it. The event is pinned. */
static uint32_t command_state(const struct zeta_plugin_event *event)
{
    if (event->value == ZETA_VALUE_NONE)
        return zeta_event_state(event->event);
    if (event->value == ZETA_VALUE_STORE)
        return store_state(event->event, true);
    return counter_state(event->event, event->value);
}

bool zeta_plugin_event_is_lost(const struct zeta_plugin_event *event)
{
    const struct zeta_event *object = event->event;

    if (event->value == ZETA_VALUE_NONE)
        return atomic_load(&object->cell->signal.state) == ZETA_SIGNAL_LOST;
    if (event->value == ZETA_VALUE_STORE)
        return atomic_load(&object->own.signal.state) == ZETA_SIGNAL_LOST;
    return zeta_counter_state(object->counter, event->value) == ZETA_SIGNAL_LOST;
}

/* ---------------------------------------------------------------- levels */

/* Binding is rare; a mutex in each event would make the object larger than its slot should be. */
static void lock_binding(struct zeta_event *event)
{
    while (atomic_exchange(&event->binding, 1) != 0)
        (void)sched_yield();
}

static void clear_level_locked(struct zeta_event *event)
{
    atomic_fetch_and(&event->special, ~(uint32_t)ZETA_EVENT_BOUND);
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
    atomic_fetch_or(&event->special, ZETA_EVENT_BOUND);
    atomic_store(&event->binding, 0);
    zeta_signal_poke(signal_of(event));
    return true;
}

void zeta_event_unbind(struct zeta_event *event, const void *context)
{
    lock_binding(event);
    if (atomic_load(&event->level) && event->level_context == context)
        clear_level_locked(event);
    atomic_store(&event->binding, 0);
    zeta_signal_poke(signal_of(event));
    zeta_object_unpin(event);
}

/* ---------------------------------------------------------------- signals */

void zeta_event_notify(struct zeta_event *event)
{
    zeta_signal_poke(signal_of(event));
    zeta_driver_wake(event->context->driver);
}

/* Signals an event with times in device ticks. */
static void signal_event(const struct zeta_plugin_event *signal, uint64_t begin_ticks,
                         uint64_t end_ticks)
{
    struct zeta_event *event = signal->event;

    /* Programs take equal times for a whole turn of the timer. */
    if (end_ticks <= begin_ticks)
        end_ticks = begin_ticks + 1;
    if (signal->value == ZETA_VALUE_STORE) {
        zeta_work_times_set(&event->own.times, begin_ticks, end_ticks);
        if (!zeta_store_add(atomic_load(&event->store)))
            zeta_event_lose(signal);
        zeta_signal_poke(signal_of(event));
    } else if (signal->value != ZETA_VALUE_NONE) {
        zeta_counter_reach(event->counter, signal->value, begin_ticks, end_ticks);
        zeta_store_advance(atomic_load(&event->store), event->counter);
    } else {
        zeta_work_times_set(&event->cell->times, begin_ticks, end_ticks);
        if (event->cell != &event->own)
            atomic_store_explicit(&event->cell->signaller, 0, memory_order_relaxed);
        zeta_signal_set(&event->cell->signal, ZETA_SIGNAL_ON);
    }
    /* Commands of the same driver may wait for the event. */
    zeta_driver_wake(event->context->driver);
}

void zeta_event_signal_now(const struct zeta_plugin_event *signal)
{
    struct zeta_device *device = atomic_load(&signal->event->device);
    uint64_t ticks = 0;
    uint64_t host_ns = 0;

    if (device && signal->event->has_times)
        (void)zeta_device_clock(device, &ticks, &host_ns);
    signal_event(signal, ticks, ticks + 1);
}

void zeta_event_lose(const struct zeta_plugin_event *signal)
{
    struct zeta_event *event = signal->event;

    atomic_store(&any_lost, true);
    if (signal->value == ZETA_VALUE_NONE)
        zeta_signal_lose(&event->cell->signal);
    else if (signal->value == ZETA_VALUE_STORE)
        zeta_signal_lose(&event->own.signal);
    else
        zeta_counter_lose(event->counter, signal->value);
    zeta_signal_poke(signal_of(event));
}

bool zeta_event_any_lost(void)
{
    return atomic_load(&any_lost);
}

void zeta_event_reset(struct zeta_event *event)
{
    if (event->cell != &event->own)
        atomic_store_explicit(&event->cell->signaller, 0, memory_order_relaxed);
    zeta_signal_set(&event->cell->signal, ZETA_SIGNAL_OFF);
}

void zeta_event_claim(const struct zeta_plugin_event *signal)
{
    struct zeta_event *event = signal->event;

    if ((atomic_load(&event->special) & ZETA_EVENT_SHARED) == 0)
        return;
    if (signal->value == ZETA_VALUE_NONE)
        atomic_store(&event->cell->signaller, zeta_process_self());
    else
        zeta_counter_claim(event->counter, signal->value, zeta_process_self());
}

/* ---------------------------------------------------------------- waiting and times */

static ze_result_t poll(void *object)
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

/* The state after the backend could report on this thread. */
static ze_result_t look(struct zeta_event *event, uint64_t timeout_ns)
{
    const uint64_t end_ns = zeta_clock_deadline(timeout_ns < LOOK_NS ? timeout_ns : LOOK_NS);
    ze_result_t result = poll(event);

    while (result == ZE_RESULT_NOT_READY && zeta_event_look(atomic_load(&event->signaller))) {
        result = poll(event);
        if (zeta_monotonic_ns() >= end_ns)
            break;
        (void)sched_yield(); /* what ends the work may need this processor */
    }
    return result;
}

/* Memory of the application changes without a notification, so it is polled. */
static ze_result_t wait_for_store(struct zeta_event *event, uint64_t timeout_ns)
{
    uint64_t start_ns = zeta_monotonic_ns();
    ze_result_t result = poll(event);

    while (result == ZE_RESULT_NOT_READY) {
        uint64_t waited_ns = zeta_monotonic_ns() - start_ns;

        if (waited_ns >= timeout_ns)
            break;
        uint64_t left_ns = timeout_ns - waited_ns;
        uint64_t step_ns = waited_ns / FOREIGN_POLL_PART;
        if (step_ns < FOREIGN_POLL_NS)
            step_ns = FOREIGN_POLL_NS;
        if (step_ns > FOREIGN_POLL_MAX_NS)
            step_ns = FOREIGN_POLL_MAX_NS;
        result = zeta_signal_wait(signal_of(event), poll, event, atomic_load(&event->device),
                                  left_ns < step_ns ? left_ns : step_ns);
    }
    return result;
}

ze_result_t zeta_event_wait(struct zeta_event *event, uint64_t timeout_ns)
{
    struct zeta_device *device = atomic_load(&event->device);
    uint32_t special = atomic_load(&event->special);
    ze_result_t result = look(event, timeout_ns);

    if (result != ZE_RESULT_NOT_READY && result != ZE_RESULT_ERROR_DEVICE_LOST)
        return result;
    if ((special & (ZETA_EVENT_STORED | ZETA_EVENT_BOUND)) == ZETA_EVENT_STORED)
        result = wait_for_store(event, timeout_ns);
    else /* a level is no work of the device and does not get lost with it */
        result = zeta_signal_wait(signal_of(event), poll, event,
                                  special & ZETA_EVENT_BOUND ? NULL : device, timeout_ns);
    if (result != ZE_RESULT_ERROR_DEVICE_LOST)
        return result;
    if ((special & ZETA_EVENT_STORED) &&
        zeta_store_state(atomic_load(&event->store), false) == ZETA_SIGNAL_LOST)
        return zeta_error(ZE_RESULT_ERROR_DEVICE_LOST,
                          "the memory that counts for the event was freed before the event");
    if (special & ZETA_EVENT_SHARED)
        return zeta_error(ZE_RESULT_ERROR_DEVICE_LOST,
                          "the process that would have signalled event %u has ended, or its device "
                          "was lost",
                          event->index);
    return device ? zeta_device_fault(device, ZE_RESULT_ERROR_DEVICE_LOST) : result;
}

ze_result_t zeta_event_work(struct zeta_event *event, uint64_t value,
                            struct zeta_work_times **out_times)
{
    struct zeta_device *device = atomic_load(&event->device);
    uint32_t special = atomic_load(&event->special);

    if (!event->has_times || !device)
        return zeta_error(ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT,
                          "event %u carries no times: neither it nor its pool was created with a "
                          "flag for timestamps",
                          event->index);
    if (value == ZETA_VALUE_NONE && event->counter)
        value =
            special & ZETA_EVENT_STORED ? ZETA_VALUE_STORE : zeta_counter_newest(event->counter);
    /* Neither a level nor the host's view of memory shows whether a command has run. */
    uint32_t state = event->counter ? command_state(&(struct zeta_plugin_event){event, value})
                                    : atomic_load(&event->cell->signal.state);
    if (state == ZETA_SIGNAL_LOST)
        return zeta_device_fault(device, ZE_RESULT_ERROR_DEVICE_LOST);
    if (state != ZETA_SIGNAL_ON)
        return ZE_RESULT_NOT_READY;
    if (!event->counter || value == ZETA_VALUE_STORE) {
        *out_times = event->counter ? &event->own.times : &event->cell->times;
        return ZE_RESULT_SUCCESS;
    }
    /* A value loses its slot to a later one. */
    struct zeta_counter_slot *slot = zeta_counter_slot_of(event->counter, value);
    if (!slot)
        return ZE_RESULT_NOT_READY;
    *out_times = &slot->times;
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeta_event_times(struct zeta_event *event, uint64_t value,
                             ze_kernel_timestamp_result_t *out_times)
{
    struct zeta_work_times *work = NULL;
    ze_result_t result = zeta_event_work(event, value, &work);

    if (result != ZE_RESULT_SUCCESS)
        return result;
    const struct zeta_device *device = atomic_load(&event->device);
    uint64_t mask = zeta_valid_mask(device->backend->properties.kernel_timestamp_valid_bits);
    out_times->global.kernelStart = atomic_load(&work->begin_ticks) & mask;
    out_times->global.kernelEnd = atomic_load(&work->end_ticks) & mask;
    out_times->context = out_times->global;
    return ZE_RESULT_SUCCESS;
}

/* ---------------------------------------------------------------- services for plugins */

static uint32_t event_query(struct zeta_plugin_host *host ZETA_UNUSED,
                            struct zeta_plugin_event *event)
{
    return command_state(event) == ZETA_SIGNAL_ON ? ZETA_PLUGIN_SUCCESS : ZETA_PLUGIN_NOT_READY;
}

static uint64_t event_look_ns(struct zeta_plugin_host *host ZETA_UNUSED,
                              struct zeta_plugin_event *event)
{
    const uint32_t foreign = ZETA_EVENT_SHARED | ZETA_EVENT_STORED;

    if (event->value == ZETA_VALUE_STORE || (atomic_load(&event->event->special) & foreign) != 0)
        return FOREIGN_POLL_NS;
    return UINT64_MAX;
}

static void event_signal(struct zeta_plugin_host *host ZETA_UNUSED, struct zeta_plugin_event *event,
                         const struct zeta_plugin_times *times)
{
    event = zeta_trace_activity_event(event, times);
    if (!event)
        return;
    if (times)
        signal_event(event, times->begin_ticks, times->end_ticks);
    else
        zeta_event_signal_now(event);
}

static void event_reset(struct zeta_plugin_host *host ZETA_UNUSED, struct zeta_plugin_event *event)
{
    zeta_event_reset(event->event);
}

ZETA_AT_LOAD static void provide_services(void)
{
    zeta_host_services.event_query = event_query;
    zeta_host_services.event_look_ns = event_look_ns;
    zeta_host_services.event_signal = event_signal;
    zeta_host_services.event_reset = event_reset;
}
