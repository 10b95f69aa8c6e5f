/*
 * Threads of a device: their numbers, the selectors of the API, and masks of them.
 *
 * A selector of the API is ze_device_thread_t, in which UINT32_MAX in a field stands for any value
 * of it. Numbers and masks are those of zeta/plugin_debug.h.
 */
#ifndef ZETA_CORE_DEBUG_THREADS_H
#define ZETA_CORE_DEBUG_THREADS_H

#include <stdbool.h>
#include <stdint.h>

#include <level_zero/ze_api.h>

/** How many of each there are in the level above; all at least 1. */
struct zeta_thread_shape {
    uint32_t slices, subslices, eus, threads;
};

/** What a selector selects. */
enum zeta_thread_scope {
    ZETA_THREAD_NONE, /**< a field is beyond the shape */
    ZETA_THREAD_ONE,
    ZETA_THREAD_SOME, /**< wildcards in some fields */
    ZETA_THREAD_ALL   /**< wildcards in all fields */
};

/** Number of threads; at most UINT32_MAX - 1, else 0. */
uint32_t zeta_thread_count(const struct zeta_thread_shape *shape);

/** Words of a mask of so many threads. */
static inline uint32_t zeta_thread_words(uint32_t count)
{
    return count / 64 + (count % 64 != 0);
}

enum zeta_thread_scope zeta_thread_scope_of(const struct zeta_thread_shape *shape,
                                            ze_device_thread_t selector);

/** Number of a thread that is selected alone. */
uint32_t zeta_thread_number(const struct zeta_thread_shape *shape, ze_device_thread_t thread);

/** The thread of a number. */
ze_device_thread_t zeta_thread_at(const struct zeta_thread_shape *shape, uint32_t number);

/** Fills a mask, which is cleared before, with what a selector other than NONE selects. */
void zeta_thread_select(const struct zeta_thread_shape *shape, ze_device_thread_t selector,
                        uint64_t *out_mask);

static inline bool zeta_thread_in(const uint64_t *mask, uint32_t number)
{
    return mask[number / 64] >> number % 64 & 1;
}

#endif
