#include "core/command/counter.h"

#include <sched.h>
#include <stddef.h>

#define STATE_BITS 2u
#define STATE_MASK UINT64_C(3)

#define RESERVING UINT64_MAX /* another thread is about to reserve a value */
#define RESERVING_LIMIT 1000000u

static uint64_t make_word(uint64_t value, enum zeta_signal_state state)
{
    return value << STATE_BITS | (uint64_t)state;
}

static bool is_pending(uint64_t word)
{
    return word != 0 && (word & STATE_MASK) == ZETA_SIGNAL_OFF;
}

static struct zeta_counter_slot *slot_at(struct zeta_counter *counter, uint64_t value)
{
    return &counter->slots[value % ZETA_COUNTER_SLOTS];
}

static uint64_t issue(struct zeta_counter *counter)
{
    uint64_t value = atomic_fetch_add(&counter->issued, 1) + 1;
    struct zeta_counter_slot *slot = slot_at(counter, value);
    uint64_t old = atomic_load(&slot->word);

    /* Before the slot changes hands, so that nobody takes the value in it for reached. */
    atomic_fetch_add(&counter->overdue, 1);
    while (old >> STATE_BITS < value) {
        if (!atomic_compare_exchange_weak(&slot->word, &old, make_word(value, ZETA_SIGNAL_OFF)))
            continue;
        if (!is_pending(old))
            atomic_fetch_sub(&counter->overdue, 1);
        return value;
    }
    /* Another thread issued eight more meanwhile: this value is the one without a slot. */
    return value;
}

void zeta_counter_reserve(struct zeta_counter *counter)
{
    uint64_t none = 0;

    if (atomic_compare_exchange_strong(&counter->reserved, &none, RESERVING))
        atomic_store(&counter->reserved, issue(counter));
}

uint64_t zeta_counter_take(struct zeta_counter *counter)
{
    uint64_t value = atomic_load(&counter->reserved);

    /* The limit is for a process that died in the two instructions of zeta_counter_reserve(). */
    for (unsigned tries = 0; value != 0; tries++) {
        if (value == RESERVING && tries < RESERVING_LIMIT)
            (void)sched_yield();
        else if (atomic_compare_exchange_strong(&counter->reserved, &value, 0))
            break;
        value = atomic_load(&counter->reserved);
    }
    return value != 0 && value != RESERVING ? value : issue(counter);
}

enum zeta_signal_state zeta_counter_state(const struct zeta_counter *counter, uint64_t value)
{
    uint64_t word = atomic_load(&counter->slots[value % ZETA_COUNTER_SLOTS].word);

    if (word >> STATE_BITS == value)
        return (enum zeta_signal_state)(word & STATE_MASK);
    if (word >> STATE_BITS < value)
        return ZETA_SIGNAL_OFF;
    return atomic_load(&counter->overdue) == 0 ? ZETA_SIGNAL_ON : ZETA_SIGNAL_OFF;
}

static void settle(struct zeta_counter *counter, uint64_t value, enum zeta_signal_state state)
{
    struct zeta_counter_slot *slot = slot_at(counter, value);
    uint64_t pending = make_word(value, ZETA_SIGNAL_OFF);

    if (!atomic_compare_exchange_strong(&slot->word, &pending, make_word(value, state)) &&
        pending >> STATE_BITS > value)
        atomic_fetch_sub(&counter->overdue, 1);
    zeta_signal_poke(&counter->signal);
}

void zeta_counter_reach(struct zeta_counter *counter, uint64_t value, uint64_t begin_ticks,
                        uint64_t end_ticks)
{
    struct zeta_counter_slot *slot = zeta_counter_slot_of(counter, value);

    if (slot) {
        atomic_store_explicit(&slot->begin_ticks, begin_ticks, memory_order_relaxed);
        atomic_store_explicit(&slot->end_ticks, end_ticks, memory_order_relaxed);
        atomic_store_explicit(&slot->signaller, 0, memory_order_relaxed);
    }
    settle(counter, value, ZETA_SIGNAL_ON);
}

void zeta_counter_lose(struct zeta_counter *counter, uint64_t value)
{
    settle(counter, value, ZETA_SIGNAL_LOST);
}

struct zeta_counter_slot *zeta_counter_slot_of(struct zeta_counter *counter, uint64_t value)
{
    struct zeta_counter_slot *slot = slot_at(counter, value);

    return atomic_load(&slot->word) >> STATE_BITS == value ? slot : NULL;
}
