/*
 * The counter behind a counter based event.
 *
 * Each work that signals the event gets the next value when it is submitted. What waits for the
 * event captures the newest value at its own submission, so signalling the event again never makes
 * an earlier wait longer, and nothing is ever reset. Values may be reached in any order, because
 * works on several lists may signal one event.
 *
 *   slots    the state of the last few values; a value lives in slot value % 8
 *   overdue  values whose slot a later one took before they were reached. While there are any, no
 *            value that has left its slot counts as reached: late, but never too early.
 *
 * Without locks and without pointers, so it also works in memory of several processes.
 */
#ifndef ZETA_CORE_COMMAND_COUNTER_H
#define ZETA_CORE_COMMAND_COUNTER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/command/signal.h"

#define ZETA_COUNTER_SLOTS 8u

/** The state of one value. */
struct zeta_counter_slot {
    _Atomic uint64_t word; /**< value * 4 + enum zeta_signal_state */
    _Atomic uint64_t begin_ticks;
    _Atomic uint64_t end_ticks;
    _Atomic uint64_t signaller; /**< process whose work will reach the value; see share.h */
};

/** All zero bytes is a counter for which no value was issued. */
struct zeta_counter {
    struct zeta_signal signal; /**< only wakes; its state is not used */
    _Atomic uint64_t issued;   /**< newest value; from 1 */
    _Atomic uint64_t reserved; /**< issued, for the next work that signals; 0: none */
    _Atomic uint32_t overdue;
    struct zeta_counter_slot slots[ZETA_COUNTER_SLOTS];
};

/** Makes sure that there is a value for work that is known, but not submitted yet. */
void zeta_counter_reserve(struct zeta_counter *counter);

/** The value of work that is submitted now: the reserved one, or the next. */
uint64_t zeta_counter_take(struct zeta_counter *counter);

/** What a wait for the value would find. */
enum zeta_signal_state zeta_counter_state(const struct zeta_counter *counter, uint64_t value);

/** The value is reached by work with these times; wakes waiters. */
void zeta_counter_reach(struct zeta_counter *counter, uint64_t value, uint64_t begin_ticks,
                        uint64_t end_ticks);

/** The work that would have reached the value is lost; wakes waiters. */
void zeta_counter_lose(struct zeta_counter *counter, uint64_t value);

/** The slot of a value; NULL when a later value has it. */
struct zeta_counter_slot *zeta_counter_slot_of(struct zeta_counter *counter, uint64_t value);

#endif
