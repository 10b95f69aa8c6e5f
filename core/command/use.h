/*
 * Whether submitted commands still use an object.
 *
 * Objects that commands name (queries) hold one of these. Each submission counts as long as it has
 * not ended; a recorded list that waits to be executed does not. Lists hold one for themselves.
 */
#ifndef ZETA_CORE_COMMAND_USE_H
#define ZETA_CORE_COMMAND_USE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct zeta_use {
    _Atomic uint32_t in_flight; /**< commands of submissions that have not ended */
    _Atomic uint32_t over;      /**< how many of these have run and miss but the report */
    struct zeta_use *whole;     /**< of what the object is a part of, NULL: of nothing */
};

/** Counts one command more (begin), or one less. Any thread, lock-free. */
static inline void zeta_use_count(struct zeta_use *use, bool begin)
{
    for (; use; use = use->whole) {
        if (begin)
            atomic_fetch_add_explicit(&use->in_flight, 1, memory_order_relaxed);
        else
            atomic_fetch_sub_explicit(&use->in_flight, 1, memory_order_release);
    }
}

/** Notes that one of the counted commands is over but for the report (begin), or was reported. */
static inline void zeta_use_note_over(struct zeta_use *use, bool begin)
{
    for (; use; use = use->whole) {
        if (begin)
            atomic_fetch_add(&use->over, 1);
        else
            atomic_fetch_sub(&use->over, 1);
    }
}

/** True while a submission uses the object. Any thread, lock-free. */
static inline bool zeta_use_is(const struct zeta_use *use)
{
    return atomic_load_explicit(&use->in_flight, memory_order_acquire) > 0;
}

/**
 * How often, and how far apart, somebody looks whether work ends of which nobody said that it is
 * over. Looks are counted and no time, so that a host which stands still uses none of them up.
 */
#define ZETA_USE_LOOKS 500u
#define ZETA_USE_LOOK_NS UINT64_C(1000000)

/**
 * Waits until nothing uses the object: as long as it takes for the reports of work that is over,
 * and a little for other work. False if something still does.
 */
bool zeta_use_wait(const struct zeta_use *use);

#endif
