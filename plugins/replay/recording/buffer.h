#ifndef ZETA_PLUGINS_REPLAY_RECORDING_BUFFER_H
#define ZETA_PLUGINS_REPLAY_RECORDING_BUFFER_H

/*
 * A reel: records of a feed that wait to be read, with the time at which each one may be.
 *
 *      feed --->  | r r r | r r r r |  ---> reads
 *                  due     later
 *
 * It is filled ahead, so that it can be told how many records a read would give without looking at
 * the file. At the pace "fast" every record is due at once; at the pace "recorded" each one when
 * as much time has passed since the start as lay between it and the first record of the stream.
 *
 * One thread at a time fills and reads; zeta_replay_reel_pending() and zeta_replay_reel_ended() may
 * be called beside it and take no lock.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <zeta/plugin.h>

#include "plugins/replay/recording/source.h"

/** What is missing before a record. */
struct zeta_replay_gap {
    uint32_t reason; /**< ZETA_PLUGIN_BREAK_*; NONE: nothing */
    uint64_t lost;
};

struct zeta_replay_reel {
    struct zeta_replay_feed *feed;
    uint32_t record_bytes;
    uint32_t capacity;    /**< in records */
    unsigned char *bytes; /**< the records, a ring */
    _Atomic uint64_t *due_ns;
    struct zeta_replay_gap *gaps; /**< before each record */
    _Atomic uint64_t head;        /**< number of the oldest record that waits */
    _Atomic uint64_t tail;        /**< number after the newest one */
    _Atomic bool at_end;          /**< the feed has nothing more */
    struct zeta_replay_gap gap;   /**< before the next record of the feed */

    bool is_paced;
    const struct zeta_replay_field *clock;
    uint64_t hz;        /**< of the clock */
    uint64_t period_ns; /**< between records, where there is no clock */
    bool has_time;
    uint64_t time;        /**< of the last record, as it stands there */
    uint64_t total_ticks; /**< since the first record of the stream */
    uint64_t records;     /**< that the feed gave */

    _Atomic uint64_t start_ns; /**< 0: not started */
    _Atomic uint64_t stop_ns;  /**< 0: not stopped; no record later than that is due */
};

/** Fills a zeroed reel; the feed is the reel's from then on, also after a failure (false). */
bool zeta_replay_reel_init(struct zeta_replay_reel *reel, struct zeta_replay_feed *feed,
                           const struct zeta_replay_set *set, uint32_t capacity);

/** Frees everything. */
void zeta_replay_reel_finish(struct zeta_replay_reel *reel);

/** Time passes from now on (nanoseconds of zeta_replay_now()). Continues after a stop. */
void zeta_replay_reel_start(struct zeta_replay_reel *reel);

/** Nothing more becomes due; what was pending can be read. */
void zeta_replay_reel_stop(struct zeta_replay_reel *reel);

/** As stream_read() of zeta/plugin.h. */
void zeta_replay_reel_read(struct zeta_replay_reel *reel, void *buffer, uint64_t capacity_bytes,
                           struct zeta_plugin_read *out_read);

/** Records that are due. Any thread. */
uint64_t zeta_replay_reel_pending(const struct zeta_replay_reel *reel);

/** True when no record will become due any more. Any thread. */
bool zeta_replay_reel_ended(const struct zeta_replay_reel *reel);

/** CLOCK_MONOTONIC in nanoseconds. */
uint64_t zeta_replay_now(void);

#endif
