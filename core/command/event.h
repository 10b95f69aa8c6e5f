/*
 * Events: one bit that device or host sets, with the time of the work that set it.
 *
 * The state is one word: reading it takes no lock, waiting sleeps on it (futex). An event can be
 * bound to a level, a condition that somebody else keeps: then its status is that condition at the
 * time of each query or wait, and the bit of its own does not count.
 *
 * An event pins its pool, the pool its context. Command lists and running submissions pin the
 * events they name, so zeEventDestroy never fails and never pulls memory away from a device.
 */
#ifndef ZETA_CORE_COMMAND_EVENT_H
#define ZETA_CORE_COMMAND_EVENT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <level_zero/ze_api.h>

#include "core/command/signal.h"
#include "core/object/object.h"

struct zeta_context;
struct zeta_device;

/** Events of one kind for a context. */
struct zeta_event_pool {
    struct zeta_object object;
    struct zeta_context *context; /**< pinned */
    struct zeta_device *device;   /**< the first one, NULL if the driver has no device */
    ze_event_pool_flags_t flags;
    uint32_t count; /**< indices of its events are below */
};

/** Tells whether a condition holds. Called without a lock by any thread, millions of times. */
typedef bool (*zeta_event_level_fn)(void *context);

/** An event. Members are for core/command; others use the functions below. */
struct zeta_event {
    struct zeta_object object;
    struct zeta_signal signal;
    _Atomic(zeta_event_level_fn) level; /**< NULL: not bound */
    void *level_context;
    _Atomic uint32_t level_users; /**< threads inside level() */
    _Atomic uint32_t binding;     /**< 1 while a thread binds or unbinds */
    uint32_t index;
    ze_event_scope_flags_t signal_scope;
    ze_event_scope_flags_t wait_scope;
    struct zeta_event_pool *pool;         /**< pinned */
    _Atomic(struct zeta_device *) device; /**< whose timer the ticks are of; may be NULL */
    _Atomic uint64_t begin_ticks;         /**< of the work that signalled it, not masked */
    _Atomic uint64_t end_ticks;           /**< > begin_ticks */
};

/** State of a bound event: what its level says. */
uint32_t zeta_event_bound_state(struct zeta_event *event);

/**
 * What a query would say, enum zeta_signal_state. Lock-free, and short: programs call it about a
 * million times a second.
 */
static inline uint32_t zeta_event_state(struct zeta_event *event)
{
    if (atomic_load_explicit(&event->level, memory_order_relaxed))
        return zeta_event_bound_state(event);
    return atomic_load_explicit(&event->signal.state, memory_order_acquire);
}

/** True if a query would say SUCCESS. Lock-free. */
static inline bool zeta_event_is_signalled(struct zeta_event *event)
{
    return zeta_event_state(event) == ZETA_SIGNAL_ON;
}

/**
 * Makes the event show a level from now on, and pins it. One level at a time: a later bind replaces
 * the earlier one (the stream that was opened last notifies).
 * level() may read atomics and call "any time" functions of a plugin; it must not block.
 * False if the event is not a live one (any more); nothing is bound then.
 */
bool zeta_event_bind(struct zeta_event *event, zeta_event_level_fn level, void *context);

/**
 * Ends a binding with this context; a binding that was replaced is left alone. When it returns, no
 * thread is inside level(context) and none will be. Drops the pin of the bind that it pairs with,
 * so call it exactly once per successful bind; the event may be destroyed already.
 * Not from inside level().
 */
void zeta_event_unbind(struct zeta_event *event, const void *context);

/** Wakes who waits for a bound event, because its level may have risen. Any thread, cheap. */
void zeta_event_notify(struct zeta_event *event);

/** Signals an event with times in device ticks; wakes waiters and backends. Any thread. */
void zeta_event_signal(struct zeta_event *event, uint64_t begin_ticks, uint64_t end_ticks);

/** Signals an event for which nothing was timed: the times, if it has any, are now. */
void zeta_event_signal_now(struct zeta_event *event);

/** Notes that what would signal the event is lost. One that is signalled already stays so. */
void zeta_event_lose(struct zeta_event *event);

/** True if any event of this process was ever lost; false spares searches. Any thread. */
bool zeta_event_any_lost(void);

/** Makes an event unsignalled. */
void zeta_event_reset(struct zeta_event *event);

/**
 * Waits until the event is signalled or timeout_ns are over (UINT64_MAX: no limit, 0: only looks).
 * Errors: NOT_READY when the time is over; DEVICE_LOST. The caller holds a pin.
 */
ze_result_t zeta_event_wait(struct zeta_event *event, uint64_t timeout_ns);

/** True if events of the pool carry times. */
static inline bool zeta_event_pool_has_times(const struct zeta_event_pool *pool)
{
    return (pool->flags & (ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP |
                           ZE_EVENT_POOL_FLAG_KERNEL_MAPPED_TIMESTAMP)) != 0;
}

/**
 * Gives the times of a signalled event in masked ticks of its device.
 * Errors: INVALID_SYNCHRONIZATION_OBJECT if its pool has no times, NOT_READY, DEVICE_LOST.
 */
ze_result_t zeta_event_times(struct zeta_event *event, ze_kernel_timestamp_result_t *out_times);

/** Registers the finishers of events and pools. */
void zeta_event_set_finishers(void);

#endif
