#include "core/event/counter.h"

#include <sched.h>
#include <stdlib.h>

#include "core/util/error.h"

#define FIRST_SLOTS 8u
#define STATE_BITS 2u
#define STATE_MASK UINT64_C(3)

#define RESERVING UINT64_MAX /* another thread is about to reserve a value */
#define RESERVING_LIMIT 1000000u

struct zeta_counter_table {
    struct zeta_counter_table *older; /* kept: other threads may still read it */
    struct zeta_counter_slot *slots;
    uint64_t count; /* a power of two */
    struct zeta_counter_slot own[];
};

static uint64_t make_word(uint64_t value, enum zeta_signal_state state)
{
    return value << STATE_BITS | (uint64_t)state;
}

static uint64_t value_of(uint64_t word)
{
    return word >> STATE_BITS;
}

static bool is_pending(uint64_t word)
{
    return word != 0 && (word & STATE_MASK) == ZETA_SIGNAL_OFF;
}

static bool is_shared(const struct zeta_counter *counter)
{
    return counter->core != &counter->own;
}

static struct zeta_counter_slot *slot_at(const struct zeta_counter *counter, uint64_t value)
{
    const struct zeta_counter_table *table = atomic_load(&counter->table);

    return &table->slots[value & (table->count - 1)];
}

/* ---------------------------------------------------------------- life */

static struct zeta_counter_table *make_table(uint64_t count)
{
    struct zeta_counter_table *table = calloc(1, sizeof(*table) + count * sizeof(table->own[0]));

    if (table) {
        table->slots = table->own;
        table->count = count;
    }
    return table;
}

ze_result_t zeta_counter_create(struct zeta_counter_memory *memory,
                                struct zeta_counter **out_counter)
{
    struct zeta_counter *counter = calloc(1, sizeof(*counter));
    struct zeta_counter_table *table = make_table(memory ? 0 : FIRST_SLOTS);

    if (!counter || !table) {
        free(table);
        free(counter);
        return zeta_error_no_memory("a counter");
    }
    if (memory) {
        table->slots = memory->slots;
        table->count = ZETA_COUNTER_SHARED_SLOTS;
    }
    counter->core = memory ? &memory->core : &counter->own;
    atomic_store(&counter->table, table);
    (void)pthread_mutex_init(&counter->lock, NULL);
    *out_counter = counter;
    return ZE_RESULT_SUCCESS;
}

void zeta_counter_destroy(struct zeta_counter *counter)
{
    if (!counter)
        return;
    struct zeta_counter_table *table = atomic_load(&counter->table);
    while (table) {
        struct zeta_counter_table *older = table->older;

        free(table);
        table = older;
    }
    (void)pthread_mutex_destroy(&counter->lock);
    free(counter);
}

/* ---------------------------------------------------------------- values */

/* Twice as many slots. False without memory. */
static bool grow_locked(struct zeta_counter *counter)
{
    struct zeta_counter_table *old = atomic_load(&counter->table);
    struct zeta_counter_table *table = make_table(old->count * 2);

    if (!table)
        return false;
    for (uint64_t i = 0; i < old->count; i++) {
        const struct zeta_counter_slot *from = &old->slots[i];
        uint64_t word = atomic_load(&from->word);
        struct zeta_counter_slot *to = &table->slots[value_of(word) & (table->count - 1)];

        atomic_store(&to->word, word);
        atomic_store(&to->times.begin_ticks, atomic_load(&from->times.begin_ticks));
        atomic_store(&to->times.end_ticks, atomic_load(&from->times.end_ticks));
        atomic_store(&to->times.host_shift, atomic_load(&from->times.host_shift));
        atomic_store(&to->signaller, atomic_load(&from->signaller));
    }
    table->older = old;
    atomic_store(&counter->table, table);
    return true;
}

/*
 * Gives the slot of the value to it. Of a shared counter a reader may take a reached value for one
 * that is not, for a moment: who waits there polls. An own one, whose lock is held, never shows
 * that, because nobody wakes its waiters afterwards.
 */
static void occupy(struct zeta_counter *counter, uint64_t value)
{
    struct zeta_counter_slot *slot = slot_at(counter, value);
    uint64_t old = atomic_load(&slot->word);
    const bool counts = is_shared(counter) || is_pending(old);

    /* Before the slot changes hands, so that no reader takes its old value for reached. */
    if (counts)
        atomic_fetch_add(&counter->core->overdue, 1);
    while (value_of(old) < value) {
        if (!atomic_compare_exchange_weak(&slot->word, &old, make_word(value, ZETA_SIGNAL_OFF)))
            continue;
        if (counts && !is_pending(old))
            atomic_fetch_sub(&counter->core->overdue, 1);
        atomic_store(&slot->signaller, 0);
        return;
    }
    /* Other processes issued as many values as there are slots: this one has none. */
}

static uint64_t issue(struct zeta_counter *counter)
{
    uint64_t value;

    if (is_shared(counter)) {
        value = atomic_fetch_add(&counter->core->issued, 1) + 1;
        occupy(counter, value);
        return value;
    }
    (void)pthread_mutex_lock(&counter->lock);
    value = atomic_load(&counter->core->issued) + 1;
    while (is_pending(atomic_load(&slot_at(counter, value)->word)) && grow_locked(counter))
        ;
    occupy(counter, value);
    atomic_store(&counter->core->issued, value);
    (void)pthread_mutex_unlock(&counter->lock);
    return value;
}

void zeta_counter_reserve(struct zeta_counter *counter)
{
    uint64_t none = 0;

    if (atomic_compare_exchange_strong(&counter->core->reserved, &none, RESERVING))
        atomic_store(&counter->core->reserved, issue(counter));
}

uint64_t zeta_counter_take(struct zeta_counter *counter)
{
    _Atomic uint64_t *reserved = &counter->core->reserved;
    uint64_t value = atomic_load(reserved);

    /* The limit is for a process that died in the two steps of zeta_counter_reserve(). */
    for (unsigned tries = 0; value != 0; tries++) {
        if (value == RESERVING && tries < RESERVING_LIMIT)
            (void)sched_yield();
        else if (atomic_compare_exchange_strong(reserved, &value, 0))
            break;
        value = atomic_load(reserved);
    }
    return value != 0 && value != RESERVING ? value : issue(counter);
}

enum zeta_signal_state zeta_counter_state(const struct zeta_counter *counter, uint64_t value)
{
    uint64_t word = atomic_load(&slot_at(counter, value)->word);

    if (value_of(word) == value)
        return (enum zeta_signal_state)(word & STATE_MASK);
    /* Of an own counter only values that were reached lose their slot, also while it grows. */
    if (value_of(word) < value && (is_shared(counter) || value > zeta_counter_newest(counter)))
        return ZETA_SIGNAL_OFF;
    return atomic_load(&counter->core->overdue) == 0 ? ZETA_SIGNAL_ON : ZETA_SIGNAL_OFF;
}

static void lock_writer(struct zeta_counter *counter)
{
    if (!is_shared(counter))
        (void)pthread_mutex_lock(&counter->lock);
}

static void unlock_writer(struct zeta_counter *counter)
{
    if (!is_shared(counter))
        (void)pthread_mutex_unlock(&counter->lock);
}

struct zeta_counter_slot *zeta_counter_slot_of(const struct zeta_counter *counter, uint64_t value)
{
    struct zeta_counter_slot *slot = slot_at(counter, value);

    return value_of(atomic_load(&slot->word)) == value ? slot : NULL;
}

static void settle_locked(struct zeta_counter *counter, uint64_t value,
                          enum zeta_signal_state state)
{
    struct zeta_counter_slot *slot = slot_at(counter, value);
    uint64_t pending = make_word(value, ZETA_SIGNAL_OFF);

    if (!atomic_compare_exchange_strong(&slot->word, &pending, make_word(value, state)) &&
        value_of(pending) > value)
        atomic_fetch_sub(&counter->core->overdue, 1);
}

void zeta_counter_reach(struct zeta_counter *counter, uint64_t value, uint64_t begin_ticks,
                        uint64_t end_ticks)
{
    lock_writer(counter);
    struct zeta_counter_slot *slot = zeta_counter_slot_of(counter, value);
    if (slot) {
        zeta_work_times_set(&slot->times, begin_ticks, end_ticks);
        atomic_store_explicit(&slot->signaller, 0, memory_order_relaxed);
    }
    settle_locked(counter, value, ZETA_SIGNAL_ON);
    unlock_writer(counter);
    zeta_signal_poke(&counter->core->signal);
}

void zeta_counter_lose(struct zeta_counter *counter, uint64_t value)
{
    lock_writer(counter);
    settle_locked(counter, value, ZETA_SIGNAL_LOST);
    unlock_writer(counter);
    zeta_signal_poke(&counter->core->signal);
}

void zeta_counter_claim(struct zeta_counter *counter, uint64_t value, uint64_t process)
{
    lock_writer(counter);
    struct zeta_counter_slot *slot = zeta_counter_slot_of(counter, value);
    if (slot)
        atomic_store(&slot->signaller, process);
    unlock_writer(counter);
}
