/*
 * Tracing of API calls: what the generated entries call, and who can listen.
 *
 * Every ze and zet function has a point: one pointer to an immutable list of those who want to hear
 * of its calls, null when nobody does. An entry loads that pointer and pays nothing else:
 *
 *     entry_zeFoo -> point is null:  check_zeFoo
 *                    otherwise:      zeta_trace_begin, check_zeFoo, zeta_trace_end
 *
 * Listeners are API tracers (zetTracerExp..., core/trace/tracer.c) and the recorder of ZETA_TRACE
 * (core/trace/sink.h). Lists are replaced, never changed, and reclaimed when no call can hold one
 * (core/trace/hazard.h). A call never waits and takes no lock.
 */
#ifndef ZETA_CORE_TRACE_TRACE_H
#define ZETA_CORE_TRACE_TRACE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <level_zero/ze_api.h>

#include "core/util/cleanup.h"
#include "zeta_functions.h" /* generated: enum zeta_function, ZETA_FUNCTION_COUNT */

struct zeta_hazard;
struct zeta_trace_thread;

/** Listeners of one function, in the order in which they were added. Never changes. */
struct zeta_trace_list;

/** Who listens to each function (struct zeta_trace_list); null: nobody. */
extern ZETA_HIDDEN const void *_Atomic zeta_trace_points[ZETA_FUNCTION_COUNT];

/** True if somebody listens to the function; one load. */
static ZETA_ALWAYS_INLINE bool zeta_trace_wanted(enum zeta_function function)
{
    return atomic_load_explicit(&zeta_trace_points[function], memory_order_relaxed) != NULL;
}

/** Listeners of a call whose slots are part of struct zeta_trace_call. */
#define ZETA_TRACE_SLOTS 8

/** One call that is listened to; on the stack of its entry. Members are for core/trace/trace.c. */
struct zeta_trace_call {
    const struct zeta_trace_list *list;
    struct zeta_trace_thread *thread;
    struct zeta_hazard *hazard;
    void *arguments;
    enum zeta_function function;
    uint32_t generation;           /**< of the process that began the call */
    void **more;                   /**< slots of further listeners */
    void *slots[ZETA_TRACE_SLOTS]; /**< what listeners keep between begin and end */
};

/**
 * Calls the listeners at the begin of a call, in the order in which they were added.
 *
 * @arguments  address of a struct of pointers to the arguments, in their order: the ..._params_t of
 *             the function where the API has one, an array of void pointers otherwise; null for a
 *             function without arguments. Listeners may change the arguments.
 *
 * False: the call is not traced after all, and zeta_trace_end() must not be called: nobody listens
 * any more, this thread is inside a callback, or there is no memory. No lock is held while
 * listeners run.
 */
bool zeta_trace_begin(struct zeta_trace_call *call, enum zeta_function function, void *arguments);

/** Calls the listeners of zeta_trace_begin() at the end of the call, in the same order. */
void zeta_trace_end(struct zeta_trace_call *call, ze_result_t result);

/**
 * Who listens. begin() and end() run on the thread of the call; calls that they make themselves are
 * not traced. A begin is always followed by its end.
 */
struct zeta_trace_listener {
    /** True if the listener wants calls of the function; asked when it is added. */
    bool (*wants)(const struct zeta_trace_listener *listener, enum zeta_function function);
    /** slot: a place of this listener for this call, null at first, kept for end(). */
    void (*begin)(struct zeta_trace_listener *listener, enum zeta_function function,
                  void *arguments, void **slot);
    void (*end)(struct zeta_trace_listener *listener, enum zeta_function function, void *arguments,
                ze_result_t result, void **slot);
};

/**
 * Adds a listener behind the others. It has to exist until it was removed and is idle.
 * Errors: OUT_OF_HOST_MEMORY. Any thread; wants() runs under the lock of core/trace.
 */
ze_result_t zeta_trace_add(struct zeta_trace_listener *listener);

/** Removes a listener: calls that begin later do not see it. Never waits. Any thread. */
void zeta_trace_remove(struct zeta_trace_listener *listener);

/** True when no call is under way that has called a removed listener. Any thread. */
bool zeta_trace_is_idle(const struct zeta_trace_listener *listener);

/** Waits until a removed listener is idle; not inside a callback, whose own call is one of them. */
void zeta_trace_wait(const struct zeta_trace_listener *listener);

/** True while this thread runs a listener. */
bool zeta_trace_inside(void);

/** Drops all listeners when the library is unloaded; calls under way are not touched. */
void zeta_trace_close(void);

#endif
