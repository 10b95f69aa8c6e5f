/*
 * Hazard pointers: each thread names the list that its call reads, so that writers know what may be
 * freed. No thread writes to a cache line of another one, and none waits.
 *
 *   a call                                    a writer
 *     hazard = list                             pointer = new list
 *     still the pointer's value?                barrier on every processor (zeta_hazard_barrier)
 *     yes: uses the list                        free old lists that no hazard pointer names
 *     hazard = null
 *
 * Either the call sees the new pointer and tries again, or the writer sees the hazard pointer.
 *
 * A thread keeps its hazard pointer until it ends; nothing runs then (the library has no
 * destructors of thread-local storage). Hazard pointers remember the thread's id, and new threads
 * get those of threads that have ended. There are never many more than threads were alive at a
 * time.
 */
#ifndef ZETA_CORE_TRACE_HAZARD_H
#define ZETA_CORE_TRACE_HAZARD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/util/cleanup.h"

/** The hazard pointer of a thread; alone on its cache line and never freed. */
struct zeta_hazard {
    _Atomic(const void *) value; /**< what a call reads, or null; the owner writes it */
    _Atomic uint64_t claim;      /**< 0: free; else thread id | number of the claim << 32 */
    struct zeta_hazard *next;    /**< of all; never changes */
    void **more;                 /**< room that the owner's calls use, or null */
    uint32_t more_count;         /**< pointers in more */
};

/** True if calls order their accesses themselves; otherwise zeta_hazard_barrier() does it. */
extern ZETA_HIDDEN _Atomic bool zeta_hazard_fenced;

/** Takes a free hazard pointer for this thread, or makes one; null without memory. No lock. */
struct zeta_hazard *zeta_hazard_claim(void);

/** Gives back a hazard pointer that names nothing. */
void zeta_hazard_release(struct zeta_hazard *hazard);

/**
 * Reads a pointer and protects what it points to until zeta_hazard_clear(); null if it is null.
 * Only for the owner of the hazard pointer.
 */
static inline const void *zeta_hazard_acquire(struct zeta_hazard *hazard,
                                              const void *_Atomic *pointer)
{
    const void *value = atomic_load_explicit(pointer, memory_order_acquire);

    while (value) {
        const void *again;

        if (atomic_load_explicit(&zeta_hazard_fenced, memory_order_relaxed)) {
            atomic_store(&hazard->value, value);
            again = atomic_load(pointer);
        } else {
            atomic_store_explicit(&hazard->value, value, memory_order_release);
            atomic_signal_fence(memory_order_seq_cst);
            again = atomic_load_explicit(pointer, memory_order_acquire);
        }
        if (again == value)
            return value;
        value = again;
    }
    atomic_store_explicit(&hazard->value, NULL, memory_order_release);
    return NULL;
}

/** Ends what zeta_hazard_acquire() began. */
static inline void zeta_hazard_clear(struct zeta_hazard *hazard)
{
    atomic_store_explicit(&hazard->value, NULL, memory_order_release);
}

/**
 * Chooses how calls and writers are ordered: by a system call of the writers where the kernel has
 * it, by fences in every call otherwise. Before the first pointer is published. Writers only.
 */
void zeta_hazard_barrier_init(void);

/**
 * Afterwards no call can begin to use what pointers led to before, unless zeta_hazard_protects() is
 * true of it. Writers only.
 */
void zeta_hazard_barrier(void);

/** True if a thread that is alive reads the value; asked after zeta_hazard_barrier(). */
bool zeta_hazard_protects(const void *value);

/**
 * Frees all hazard pointers: for a child of fork(), in which their threads are gone.
 * Async-signal-safe. The calling thread must claim a new one.
 */
void zeta_hazards_forget(void);

#endif
