/*
 * Events: one bit that device or host sets, with the time of the work that set it.
 *
 * The state is one word: reading it takes no lock, waiting sleeps on it (futex). An event can be
 * bound to a level, a condition that somebody else keeps: then its status is that condition at the
 * time of each query or wait, and the bit of its own does not count.
 *
 * An event pins its pool, the pool its context. Command lists and running submissions pin the events
 * they name, so zeEventDestroy never fails and never pulls memory away from a device.
 */
#ifndef ZETA_CORE_COMMAND_EVENT_H
#define ZETA_CORE_COMMAND_EVENT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <level_zero/ze_api.h>

#include "core/object/object.h"

struct zeta_context;

/** Events of one kind for a context. */
struct zeta_event_pool {
    struct zeta_object object;
    struct zeta_context *context;
    ze_event_pool_flags_t flags;
    uint32_t count;               /**< indices of its events are below */
    uint32_t timestamp_bits;      /**< valid bits of its devices' kernel timestamps, the smallest */
};

/** Tells whether a condition holds. Called without a lock by any thread, millions of times. */
typedef bool (*zeta_event_level_fn)(void *context);

/** An event. Members are for core/command; others use the functions below. */
struct zeta_event {
    struct zeta_object object;
    _Atomic uint32_t signalled;   /**< 1 while signalled */
    _Atomic uint32_t changes;     /**< counts what waiters may want to see; the futex word */
    _Atomic uint32_t sleepers;    /**< threads in the futex of changes */
    _Atomic uint32_t level_users; /**< threads inside level() */
    _Atomic(zeta_event_level_fn) level; /**< NULL: not bound */
    void *level_context;
    struct zeta_event_pool *pool;
    uint32_t index;
    ze_event_scope_flags_t signal_scope;
    ze_event_scope_flags_t wait_scope;
    _Atomic uint64_t begin_ticks; /**< of the work that signalled it, not masked */
    _Atomic uint64_t end_ticks;   /**< > begin_ticks */
};

/** True if a query would say SUCCESS. Lock-free. */
bool zeta_event_is_signalled(struct zeta_event *event);

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
void zeta_event_unbind(struct zeta_event *event, void *context);

/** Wakes who waits for a bound event, because its level may have risen. Any thread, cheap. */
void zeta_event_notify(struct zeta_event *event);

/** Signals an event now, with times in device ticks or without, wakes waiters and backends. */
void zeta_event_signal(struct zeta_event *event, uint64_t begin_ticks, uint64_t end_ticks);

/** Makes an event unsignalled. */
void zeta_event_reset(struct zeta_event *event);

/**
 * Waits until the event is signalled or timeout_ns are over (UINT64_MAX: no limit, 0: only looks).
 * Errors: NOT_READY when the time is over. The caller holds a pin.
 */
ze_result_t zeta_event_wait(struct zeta_event *event, uint64_t timeout_ns);

#endif
