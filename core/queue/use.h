/*
 * Whether submitted commands still use an object.
 *
 * Objects that commands name (queries) hold one of these. Each submission counts as long as it has
 * not ended; a recorded list that waits to be executed does not. Lists hold one for themselves.
 */
#ifndef ZETA_CORE_QUEUE_USE_H
#define ZETA_CORE_QUEUE_USE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct zeta_use {
    _Atomic uint64_t commands; /**< of submissions that have not ended; in the upper half, how many
                                    of these have run and miss but the report */
    struct zeta_use *whole;    /**< of what the object is a part of, NULL: of nothing */
};

/** One command in the upper half. */
#define ZETA_USE_OVER (UINT64_C(1) << 32)

/** Counts one command more. Any thread, lock-free, as the others. */
static inline void zeta_use_begin(struct zeta_use *use)
{
    for (; use; use = use->whole)
        atomic_fetch_add_explicit(&use->commands, 1, memory_order_relaxed);
}

/** Notes that one of the counted commands is over but for the report. */
static inline void zeta_use_note_over(struct zeta_use *use)
{
    for (; use; use = use->whole)
        atomic_fetch_add(&use->commands, ZETA_USE_OVER);
}

/** Counts one command less, in one step, so that nobody sees it run again meanwhile. */
static inline void zeta_use_end(struct zeta_use *use, bool was_over)
{
    while (use) {
        struct zeta_use *whole = use->whole;

        atomic_fetch_sub_explicit(&use->commands, was_over ? ZETA_USE_OVER + 1 : 1,
                                  memory_order_release);
        use = whole;
    }
}

/** True while a submission uses the object. */
static inline bool zeta_use_is(const struct zeta_use *use)
{
    return (uint32_t)atomic_load_explicit(&use->commands, memory_order_acquire) > 0;
}

/**
 * How often, and how far apart, a thread polls for the end of work that was not reported as over.
 * Polls are counted, not time, so that a suspended host uses none of them up.
 */
#define ZETA_USE_POLLS 500u
#define ZETA_USE_POLL_NS UINT64_C(1000000)

/**
 * Waits until nothing uses the object: as long as it takes for the reports of work that is over,
 * and a little for other work. False if something still does.
 */
bool zeta_use_wait(const struct zeta_use *use);

#endif
