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
 * (core/trace/sink.h). Lists are replaced, never changed, and reclaimed when no call can hold one.
 */
#ifndef ZETA_CORE_TRACE_TRACE_H
#define ZETA_CORE_TRACE_TRACE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <level_zero/ze_api.h>

#include "zeta_functions.h" /* generated: enum zeta_function, ZETA_FUNCTION_COUNT */

/** Listeners of one function, in the order in which they were enabled. Never changes. */
struct zeta_trace_list;

/** Who listens to each function; null: nobody. */
extern const struct zeta_trace_list *_Atomic zeta_trace_points[ZETA_FUNCTION_COUNT];

/** True if somebody listens to the function; one load. */
static inline bool zeta_trace_wanted(enum zeta_function function)
{
    return atomic_load_explicit(&zeta_trace_points[function], memory_order_relaxed) != NULL;
}

/** One call that is listened to; on the stack of its entry. Members are for core/trace/trace.c. */
struct zeta_trace_call {
    const struct zeta_trace_list *list;
    enum zeta_function function;
    void *arguments;
    void *slots[8]; /**< what listeners keep between begin and end */
    void **more;    /**< slots of further listeners, or null */
};

/**
 * Tells the listeners that a call begins.
 *
 * @arguments  address of a struct of pointers to the arguments, in their order: the ..._params_t of
 *             the function where the API has one, an array of void pointers otherwise. Listeners
 *             may change the arguments.
 * False: the call is not traced after all (nobody listens any more, or this thread is inside a
 * callback), and zeta_trace_end() must not be called. No lock is held while listeners run.
 */
bool zeta_trace_begin(struct zeta_trace_call *call, enum zeta_function function, void *arguments);

/** Tells the listeners of zeta_trace_begin() that the call is over. */
void zeta_trace_end(struct zeta_trace_call *call, ze_result_t result);

/**
 * Who listens. Both functions run on the thread of the call; calls that they make themselves are
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
 * Adds a listener behind those that there are. It lives until zeta_trace_wait() returned after its
 * removal. Errors: OUT_OF_HOST_MEMORY. Any thread; takes a lock of core/trace.
 */
ze_result_t zeta_trace_add(struct zeta_trace_listener *listener);

/** Removes a listener: calls that begin later do not see it. Never waits. Any thread. */
void zeta_trace_remove(struct zeta_trace_listener *listener);

/**
 * Waits until no call is under way that told a removed listener of its begin. Must not be called
 * from inside a callback; zeta_trace_inside() tells.
 */
void zeta_trace_wait(const struct zeta_trace_listener *listener);

/** True while this thread runs a listener. */
bool zeta_trace_inside(void);

/** Drops all listeners without calling or waiting: for a child of fork(). Only async-safe steps. */
void zeta_trace_forget(void);

#endif
