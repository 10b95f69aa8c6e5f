/*
 * The counter behind a counter based event.
 *
 * Each work that signals the event gets the next value when it is submitted. What waits for the
 * event captures the newest value at its own submission, so signalling the event again never makes
 * an earlier wait longer, and nothing is ever reset. Values may be reached in any order, because
 * works on several lists may signal one event; so each has a state of its own, in a table with a
 * slot for value % size. A value loses its slot to a later one after it was reached.
 *
 *   own counter     The table grows before a value that was not reached would lose its slot. Tables
 *                   are replaced under a lock; for readers an old one is as good as the new one.
 *   shared counter  Lies in memory of several processes, so there is no lock and the table keeps
 *                   its size. Once more values than it has slots wait at the same time, no value
 *                   without a slot counts as reached until there are fewer: late, never too early.
 */
#ifndef ZETA_CORE_EVENT_COUNTER_H
#define ZETA_CORE_EVENT_COUNTER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <level_zero/ze_api.h>

#include "core/event/signal.h"

/** Slots of a shared counter; memory is only touched as far as it was used. */
#define ZETA_COUNTER_SHARED_SLOTS 16384u

/** The state of one value. */
struct zeta_counter_slot {
    _Atomic uint64_t word; /**< value * 4 + enum zeta_signal_state */
    struct zeta_work_times times;
    _Atomic uint64_t signaller; /**< process whose work will reach the value; see share.h */
};

/** What all users of a counter share. All zero bytes: no value was issued. */
struct zeta_counter_core {
    struct zeta_signal signal; /**< only wakes; its state is not used */
    _Atomic uint64_t issued;   /**< newest value; from 1 */
    _Atomic uint64_t reserved; /**< issued, for the next work that signals; 0: none */
    _Atomic uint64_t overdue;  /**< values that lost their slot before they were reached */
};

/** Memory of a shared counter. */
struct zeta_counter_memory {
    struct zeta_counter_core core;
    struct zeta_counter_slot slots[ZETA_COUNTER_SHARED_SLOTS];
};

struct zeta_counter_table;

struct zeta_counter {
    struct zeta_counter_core *core;
    _Atomic(struct zeta_counter_table *) table; /**< newest first */
    pthread_mutex_t lock;                       /**< for writers of an own counter; a leaf */
    struct zeta_counter_core own;
};

/**
 * Makes a counter of this process, or one whose state is in shared memory (memory not NULL), which
 * stays valid until the counter is destroyed. Errors: OUT_OF_HOST_MEMORY.
 */
ze_result_t zeta_counter_create(struct zeta_counter_memory *memory,
                                struct zeta_counter **out_counter);

/** Frees a counter, not shared memory. NULL is allowed. */
void zeta_counter_destroy(struct zeta_counter *counter);

/** The newest value, 0 if there is none. */
static inline uint64_t zeta_counter_newest(const struct zeta_counter *counter)
{
    return atomic_load(&counter->core->issued);
}

/** Makes sure that there is a value for work that is known, but not submitted yet. */
void zeta_counter_reserve(struct zeta_counter *counter);

/** The value of work that is submitted now: the reserved one, or the next. */
uint64_t zeta_counter_take(struct zeta_counter *counter);

/** What a wait for the value would find. Lock-free. */
enum zeta_signal_state zeta_counter_state(const struct zeta_counter *counter, uint64_t value);

/** The value is reached by work with these times; wakes waiters. */
void zeta_counter_reach(struct zeta_counter *counter, uint64_t value, uint64_t begin_ticks,
                        uint64_t end_ticks);

/** The work that would have reached the value is lost; wakes waiters. */
void zeta_counter_lose(struct zeta_counter *counter, uint64_t value);

/** Notes which process will reach the value. */
void zeta_counter_claim(struct zeta_counter *counter, uint64_t value, uint64_t process);

/** The slot of a value, to read, but for the host's time; NULL when it has none any more. */
struct zeta_counter_slot *zeta_counter_slot_of(const struct zeta_counter *counter, uint64_t value);

#endif
