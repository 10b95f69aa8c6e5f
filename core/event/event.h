/*
 * Events: one bit that device or host sets, with the time of the work that set it.
 *
 * The state is one atomic: reading it takes no lock, waiting sleeps on it (futex). What is special
 * about an event is in one atomic too, so that plain ones pay a single load for it:
 *
 *   bound    shows a level, a condition of another object, at the time of each query or wait
 *   shared   its state is in memory of several processes (share.h)
 *   counted  counter based: shows the newest work that signals it (counter.h), or for memory
 *            of the application (store.c)
 *
 * An event pins its pool and its context. Command lists and running submissions pin the events they
 * name, so zeEventDestroy never fails and never pulls memory away from a device.
 */
#ifndef ZETA_CORE_EVENT_EVENT_H
#define ZETA_CORE_EVENT_EVENT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <level_zero/ze_api.h>

#include "core/event/share.h"
#include "core/event/signal.h"
#include "core/object/object.h"

struct zeta_context;
struct zeta_counter;
struct zeta_device;
struct zeta_event;
struct zeta_event_store;
struct zeta_graph;

/** Events of one kind for a context. */
struct zeta_event_pool {
    struct zeta_object object;
    struct zeta_context *context; /**< pinned */
    struct zeta_device *device;   /**< the first one, NULL if the driver has no device */
    ze_event_pool_flags_t flags;
    uint32_t count;           /**< indices of its events are below */
    bool is_counted;          /**< its events are counter based */
    struct zeta_share *share; /**< of a pool with the IPC flag, else NULL */
};

/** Whether a condition is true. Called without a lock by any thread, millions of times. */
typedef bool (*zeta_event_level_fn)(void *context);

/** Values of a zeta_plugin_event that are no values of a counter. */
#define ZETA_VALUE_NONE 0u
#define ZETA_VALUE_STORE UINT64_MAX /**< the state of memory of the application */

/** What a command has of an event: the event, and of a counter based one the value it is about. */
struct zeta_plugin_event {
    struct zeta_event *event;
    uint64_t value;
};

/** What is special about an event. */
enum {
    ZETA_EVENT_BOUND = 1u << 0,
    ZETA_EVENT_SHARED = 1u << 1,
    ZETA_EVENT_COUNTED = 1u << 2,
    ZETA_EVENT_STORED = 1u << 3,  /**< counted, and shows memory of the application now */
    ZETA_EVENT_CAPTURED = 1u << 4 /**< signalled by commands of a graph that is being recorded */
};

/** An event. Members are for core/event and core/list; others use the functions below. */
struct zeta_event {
    struct zeta_object object;
    _Atomic uint32_t special; /**< ZETA_EVENT_* */
    uint32_t index;
    struct zeta_event_cell own;
    struct zeta_event_cell *cell;             /**< own, or in shared memory */
    struct zeta_counter *counter;             /**< of a counter based event, else NULL */
    _Atomic(struct zeta_event_store *) store; /**< memory that shows the counter; NULL: none */
    struct zeta_share *share;                 /**< of a counter based event that is shared, owned */
    _Atomic(zeta_event_level_fn) level;       /**< NULL: not bound */
    void *level_context;
    _Atomic uint32_t level_users; /**< threads inside level() */
    _Atomic uint32_t binding;     /**< 1 while a thread binds or unbinds */
    ze_event_scope_flags_t signal_scope;
    ze_event_scope_flags_t wait_scope;
    ze_event_counter_based_flags_t counter_flags; /**< 0: made from a pool */
    bool has_times;
    bool has_host_times;
    struct zeta_event_pool *pool;         /**< pinned; NULL: made without a pool */
    struct zeta_context *context;         /**< pinned by the pool, or by the event itself */
    _Atomic(struct zeta_device *) device; /**< whose timer the ticks are of; may be NULL */
    struct zeta_plugin_event plain;       /**< the event without a value */
    _Atomic(struct zeta_graph *) capture; /**< with CAPTURED */
    _Atomic uint64_t next_poll_ns;        /**< when to check again that the signaller runs */
    _Atomic(void *) signaller; /**< what has the queue that got a command with it last, not pinned;
                                    NULL: none did */
};

/**
 * Has the backend report on this thread what has ended on a queue, without waiting. False: nothing
 * is to come that way. what is the signaller of an event. core/queue puts the function in when the
 * library is loaded.
 */
extern ZETA_HIDDEN bool (*zeta_event_look)(void *what);

/* ---- Memory that shows the progress of a counter based event (store.c) ---- */

/**
 * Reads what is chained to the descriptor of a counter based event and makes a store of it.
 * *out_store is NULL when nothing is chained. Errors: INVALID_ARGUMENT for addresses that are not
 * aligned or not of the context, and for two stores; UNSUPPORTED_FEATURE; OUT_OF_HOST_MEMORY.
 */
ze_result_t zeta_store_from_chain(const struct zeta_context *context,
                                  const struct zeta_device *device, const void *next,
                                  struct zeta_event_store **out_store);

/** True if work that signals the event adds to the store, instead of taking its place. */
bool zeta_store_adds(const struct zeta_event_store *store);

/**
 * Whether the memory shows that the event is complete; LOST when it is not there any more. device:
 * read at the device's address.
 */
enum zeta_signal_state zeta_store_state(const struct zeta_event_store *store, bool device);

/** Work that signals the event is complete: adds to the memory. False if it is not there any more.
 */
bool zeta_store_add(struct zeta_event_store *store);

/**
 * Address and value that mean completion of an event; makes memory for its counter when there
 * is none yet. Errors: UNSUPPORTED_FEATURE for a shared event; OUT_OF_HOST_MEMORY.
 */
ze_result_t zeta_store_address(struct zeta_event *event, uint64_t *out_value,
                               uint64_t *out_address);

/** Values of the counter were reached: brings our memory up to date. Any thread. */
void zeta_store_advance(struct zeta_event_store *store, const struct zeta_counter *counter);

/** Frees a store. NULL is allowed. */
void zeta_store_destroy(struct zeta_event_store *store);

/* ---- Events ---- */

/** State of an event about which something is special. */
uint32_t zeta_event_special_state(struct zeta_event *event);

/**
 * The result of a query, enum zeta_signal_state. Lock-free, and short: programs call it about a
 * million times a second.
 */
static inline uint32_t zeta_event_state(struct zeta_event *event)
{
    if (atomic_load_explicit(&event->special, memory_order_relaxed))
        return zeta_event_special_state(event);
    return atomic_load_explicit(&event->own.signal.state, memory_order_acquire);
}

/** True if the host is promised to see it: by its pool, its flags, or its own scope. */
static inline bool zeta_event_is_host_visible(const struct zeta_event *event)
{
    if (event->wait_scope & ZE_EVENT_SCOPE_FLAG_HOST)
        return true;
    if (!event->pool)
        return (event->counter_flags & ZE_EVENT_COUNTER_BASED_FLAG_HOST_VISIBLE) != 0;
    return (event->pool->flags & ZE_EVENT_POOL_FLAG_HOST_VISIBLE) != 0;
}

/** True if what would signal the event is known to be lost. Calls no plugin, lock-free. */
bool zeta_plugin_event_is_lost(const struct zeta_plugin_event *event);

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

/** Wakes threads that wait for a bound event, because its level may have risen. Any thread, cheap.
 */
void zeta_event_notify(struct zeta_event *event);

/**
 * Signals an event for which nothing was timed: the times, if it has any, are now. Wakes waiters
 * and backends. Any thread. The event is pinned.
 */
void zeta_event_signal_now(const struct zeta_plugin_event *event);

/** Notes that what would signal the event is lost. One that is signalled already stays so. */
void zeta_event_lose(const struct zeta_plugin_event *event);

/** True if any event of this process was ever lost; false spares searches. Any thread. */
bool zeta_event_any_lost(void);

/** Makes an event unsignalled. */
void zeta_event_reset(struct zeta_event *event);

/**
 * Waits until the event is signalled or timeout_ns are over (UINT64_MAX: no limit, 0: only polls).
 * Errors: NOT_READY when the time is over; DEVICE_LOST. The caller holds a pin.
 */
ze_result_t zeta_event_wait(struct zeta_event *event, uint64_t timeout_ns);

/**
 * Gives the times of a signalled event in masked ticks of its device. value: as in struct
 * zeta_plugin_event; ZETA_VALUE_NONE is the newest work.
 * Errors: INVALID_SYNCHRONIZATION_OBJECT if the event has no times, NOT_READY, DEVICE_LOST.
 */
ze_result_t zeta_event_times(struct zeta_event *event, uint64_t value,
                             ze_kernel_timestamp_result_t *out_times);

/** The same as it is noted, also for other processes; stays as long as the event. */
ze_result_t zeta_event_work(struct zeta_event *event, uint64_t value,
                            struct zeta_work_times **out_times);

/**
 * A counter based event of the library's own, which its creator retires. Errors:
 * OUT_OF_HOST_MEMORY, INVALID_NULL_HANDLE.
 */
ze_result_t zeta_event_create_own(struct zeta_context *context, struct zeta_event **out_event);

/** Notes that work was submitted which will signal a shared event, for other processes. */
void zeta_event_claim(const struct zeta_plugin_event *event);

#endif
