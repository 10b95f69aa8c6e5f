/*
 * Whether submitted commands still use an object.
 *
 * Objects that commands name (queries) hold one of these. Each submission counts as long as it has
 * not ended; a recorded list that waits to be executed does not.
 */
#ifndef ZETA_CORE_COMMAND_USE_H
#define ZETA_CORE_COMMAND_USE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct zeta_use {
    _Atomic uint32_t in_flight; /**< commands of submissions that have not ended */
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

/** True while a submission uses the object. Any thread, lock-free. */
static inline bool zeta_use_is(const struct zeta_use *use)
{
    return atomic_load_explicit(&use->in_flight, memory_order_acquire) > 0;
}

/**
 * Waits a little until nothing uses the object: work whose last event is signalled is over but for
 * the report. False if something still does.
 */
bool zeta_use_wait(const struct zeta_use *use);

#endif
