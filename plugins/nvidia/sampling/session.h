#ifndef ZETA_PLUGINS_NVIDIA_SAMPLING_SESSION_H
#define ZETA_PLUGINS_NVIDIA_SAMPLING_SESSION_H

/*
 * A session of PM sampling: the GPU counts in intervals, and decodes turn what its hardware buffer
 * holds into samples in an image of ours.
 *
 *     hardware buffer --decode--> image:  | handed out |  completed  | open | free slots |
 *                                         0         handed       completed populated   capacity
 *
 * Under load a decode ends with the newest sample open. Initialising the image throws that one
 * away: its rest comes back as a whole sample. So the image is initialised
 *
 *     1  never after each decode, but
 *     2  when nothing is open and more than a quarter is full: nothing is lost;
 *     3  when more than three quarters are full all the same: the first completed sample of the
 *        next decode is the rest of the open one. It is dropped, and the next is behind a loss;
 *     4  before a decode that might fill the image, because a full one loses samples silently. If
 *        an empty one might be filled, the session is begun anew.
 *
 * Initialising takes 0.3 ms per MB of the whole image, a third of what a light set costs. In case 2
 * the samples' part of it is brought back to what it was instead (slots.h), where that can be shown
 * to be the same.
 *
 * The hardware buffer keeps the oldest. Once it is full the session is over, and a new one begins
 * behind a break. (The other way to run it can kill the process inside the vendor's library.)
 *
 * Measured on an H100 with CUPTI 13.0: sums over all samples so decoded were exact.
 */

#include "plugins/nvidia/sampling/config.h"

/** What a session counts, and how. */
struct nvidia_session_options {
    struct nvidia_asked asked;    /**< for messages */
    const char *set;              /**< name, for messages */
    size_t device;                /**< CUDA ordinal */
    struct nvidia_config *config; /**< of one pass; it lives longer */
    uint64_t period_ns;           /**< 64 to 2^32 - 1 */
    uint64_t interval;     /**< of a chip that cannot count time: the period in system clock cycles;
                                0: the chip can */
    uint64_t image_bytes;  /**< of the image, about */
    uint64_t buffer_bytes; /**< of the hardware buffer */
    uint64_t (*now_ns)(void); /**< a clock that never goes back */
};

/** A sample whose numbers are whole. */
struct nvidia_sample {
    uint64_t start_ns, end_ns; /**< clock of the timestamp callback */
    const double *values;      /**< in the order of the names; while it is handed out */
    bool is_behind_loss;       /**< one or more before it were lost */
    bool is_behind_overflow;   /**< they were, because a session had to be begun anew */
};

struct nvidia_session;

/**
 * Starts sampling. Result of CUPTI. Threads: calls for one session one at a time.
 */
int nvidia_session_open(const struct nvidia_session_options *options,
                        struct nvidia_session **out_session);

/**
 * How often nvidia_session_fetch() has to be called, or the image is too small for what comes.
 *
 * @wanted  samples that somebody waits for; 0: nobody does, they may come late
 */
uint64_t nvidia_session_fetch_ns(const struct nvidia_session *session, uint32_t wanted);

/** What gets the samples of a session, one by one. */
struct nvidia_taker {
    void (*take)(void *context, const struct nvidia_sample *sample);
    void *context;
};

/**
 * Decodes once and hands out what is new. The first sample of a session, which is never right, is
 * not handed out.
 *
 * SUCCESS also where the session had to be begun anew. Else, with a result of CUPTI, it is over:
 * the GPU's counters are given up, and nothing will come any more.
 */
int nvidia_session_fetch(struct nvidia_session *session, const struct nvidia_taker *taker);

/** Stops sampling, hands out what is left, and gives up the GPU's counters. */
void nvidia_session_stop(struct nvidia_session *session, const struct nvidia_taker *taker);

/** Frees a session, stopped or not. NULL is allowed. */
void nvidia_session_close(struct nvidia_session *session);

/** What became of a session so far. */
struct nvidia_session_counts {
    uint64_t samples;     /**< handed out */
    uint64_t initialised; /**< times that the image was */
    uint64_t forced;      /**< of them those that cost a sample */
    uint64_t begun_anew;
};

struct nvidia_session_counts nvidia_session_counts(const struct nvidia_session *session);

#endif
