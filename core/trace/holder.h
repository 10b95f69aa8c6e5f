/*
 * Who holds what: one place for each thread that says which list its call is reading, so that
 * writers know what may be freed. No thread writes to a cache line of another one, and none waits.
 *
 *   a call                                    a writer
 *     held = list                               pointer = new list
 *     still the pointer's value?                barrier on every processor (zeta_trace_barrier)
 *     yes: uses the list                        free old lists that nobody holds
 *     held = null
 *
 * Either the call sees the new pointer and tries again, or the writer sees what it holds.
 *
 * A thread keeps its holder until it ends; nothing runs then (the library has no destructors of
 * thread-local storage). Holders remember the thread's id, and those of threads that are no more
 * are given to new ones. There are never many more than threads were alive at a time.
 */
#ifndef ZETA_CORE_TRACE_HOLDER_H
#define ZETA_CORE_TRACE_HOLDER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/util/cleanup.h"

/** The place of a thread; alone on its cache line and never freed. */
struct zeta_trace_holder {
    _Atomic(const void *) held;     /**< what a call reads, or null; written by the owner */
    _Atomic uint64_t claim;         /**< 0: free; else thread id | number of the claim << 32 */
    struct zeta_trace_holder *next; /**< all holders; never changes */
    void **more;                    /**< room that the owner's calls use, or null */
    uint32_t more_count;            /**< pointers in more */
};

/** True if calls order their accesses themselves; otherwise zeta_trace_barrier() does it. */
extern ZETA_HIDDEN _Atomic bool zeta_trace_fenced;

/**
 * Takes a free holder for this thread, or makes one. Null: out of memory.
 * Any thread; takes no lock. The caller gives it back, or keeps it for the life of the thread.
 */
struct zeta_trace_holder *zeta_trace_holder_claim(void);

/** Gives back a holder that holds nothing. */
void zeta_trace_holder_release(struct zeta_trace_holder *holder);

/**
 * Reads a pointer and holds what it points to until zeta_trace_drop(); null if it is null.
 * Owner of the holder only.
 */
static inline const void *zeta_trace_hold(struct zeta_trace_holder *holder,
                                          const void *_Atomic *pointer)
{
    const void *value = atomic_load_explicit(pointer, memory_order_acquire);

    while (value) {
        const void *again;

        if (atomic_load_explicit(&zeta_trace_fenced, memory_order_relaxed)) {
            atomic_store(&holder->held, value);
            again = atomic_load(pointer);
        } else {
            atomic_store_explicit(&holder->held, value, memory_order_release);
            atomic_signal_fence(memory_order_seq_cst);
            again = atomic_load_explicit(pointer, memory_order_acquire);
        }
        if (again == value)
            return value;
        value = again;
    }
    atomic_store_explicit(&holder->held, NULL, memory_order_release);
    return NULL;
}

/** Ends what zeta_trace_hold() began. */
static inline void zeta_trace_drop(struct zeta_trace_holder *holder)
{
    atomic_store_explicit(&holder->held, NULL, memory_order_release);
}

/**
 * Chooses how calls and writers are ordered: by a system call of the writers where the kernel has
 * it, by fences in every call otherwise. Before the first pointer is published. Writers only.
 */
void zeta_trace_barrier_init(void);

/**
 * Afterwards no call can begin to use what pointers led to before, unless zeta_trace_is_held()
 * tells. Writers only.
 */
void zeta_trace_barrier(void);

/** True if a live thread holds the value; asked after zeta_trace_barrier(). Any thread. */
bool zeta_trace_is_held(const void *value);

/**
 * Frees all holders: for a child of fork(), in which their threads are gone. Async-signal-safe.
 * The calling thread must claim a new one.
 */
void zeta_trace_holders_forget(void);

#endif
