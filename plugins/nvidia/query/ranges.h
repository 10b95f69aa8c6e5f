#ifndef ZETA_PLUGINS_NVIDIA_QUERY_RANGES_H
#define ZETA_PLUGINS_NVIDIA_QUERY_RANGES_H

/*
 * A session of the range profiler: a context of CUDA counts between two calls of the host, a range,
 * and what it counted is fetched later, for many ranges at once.
 *
 *     open -> begin end begin end ... -> fetch -> begin end ... -> fetch -> close
 *             |- at most so many -|
 *
 * The first begin takes the counters of the GPU, close gives them back. Ranges are one behind the
 * other, and those beyond the number that was configured would vanish without a word, so they are
 * counted here. Each is named by its number, because the data does not say in which order it is.
 */

#include "plugins/nvidia/sampling/config.h"

/** What a session counts. */
struct nvidia_ranges_options {
    const struct nvidia_cupti *cupti;
    void *context; /**< of CUDA; it is current in all calls for the session */
    const char *chip;
    const char **names; /**< of metrics, which one pass counts; they live longer */
    size_t count;
    uint32_t capacity; /**< ranges between two fetches; setting up takes 0.9 ms for each */
};

struct nvidia_ranges;

/**
 * Makes a session that counts nothing yet. Result of CUPTI; NVIDIA_CUPTI_NOT_SUPPORTED if the
 * metrics need several passes. Threads: calls for one session one at a time.
 */
int nvidia_ranges_open(const struct nvidia_ranges_options *options,
                       struct nvidia_ranges **out_ranges);

/** Begun ranges since the last fetch. */
uint32_t nvidia_ranges_count(const struct nvidia_ranges *ranges);

/** Whether a fetch has to come before the next range. */
bool nvidia_ranges_are_full(const struct nvidia_ranges *ranges);

/**
 * Begins the range of the number nvidia_ranges_count(); none is open, and there is room. Result of
 * CUPTI: HARDWARE_BUSY where another process has the counters.
 */
int nvidia_ranges_begin(struct nvidia_ranges *ranges);

/** Ends the range that is open. Result of CUPTI. */
int nvidia_ranges_end(struct nvidia_ranges *ranges);

/** What gets the values of a range, in the order of the names. */
struct nvidia_ranges_taker {
    void (*take)(void *context, uint32_t number, const double *values);
    void *context;
};

/**
 * Hands out the values of all ranges since the last fetch; none is open. Waits for the work of the
 * context. Result of CUPTI; ranges that it did not hand out are lost then.
 */
int nvidia_ranges_fetch(struct nvidia_ranges *ranges, const struct nvidia_ranges_taker *taker);

/** Gives up the counters and frees the session, whatever state it is in. NULL is allowed. */
void nvidia_ranges_close(struct nvidia_ranges *ranges);

#endif
