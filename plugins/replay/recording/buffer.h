#ifndef ZETA_PLUGINS_REPLAY_RECORDING_BUFFER_H
#define ZETA_PLUGINS_REPLAY_RECORDING_BUFFER_H

/*
 * A buffer holds records of a source until the host reads them, each with the time at which it is
 * due.
 *
 *      source --->  | r r r r | r r r |  ---> reads
 *                      later     due
 *
 * It is filled ahead, so the number of records that a read would give is known without access to
 * the file. At the pace "fast" every record is due at once. At the pace "recorded" a record is due
 * when as much time has passed since the start as between it and the first record of the stream.
 *
 * One thread at a time fills and reads; zeta_replay_buffer_pending() and zeta_replay_buffer_ended()
 * may be called at the same time from other threads and take no lock.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <zeta/plugin.h>

#include "plugins/replay/recording/source.h"

struct zeta_replay_buffer {
    struct zeta_replay_source *source;
    uint32_t record_bytes;
    uint32_t capacity;    /**< in records */
    unsigned char *bytes; /**< the records, a ring */
    _Atomic uint64_t *due_ns;
    struct zeta_replay_gap *gaps; /**< before each record */
    _Atomic uint64_t head;        /**< number of the oldest record */
    _Atomic uint64_t tail;        /**< number after the newest one */
    _Atomic bool at_end;          /**< the source has nothing more */

    bool is_paced;
    const struct zeta_replay_field *clock;
    uint64_t hz;        /**< of the clock */
    uint64_t period_ns; /**< between records, where there is no clock */
    bool has_time;
    uint64_t time;        /**< of the last record, as recorded */
    uint64_t total_ticks; /**< since the first record of the stream */

    _Atomic uint64_t start_ns; /**< 0: not started */
    _Atomic uint64_t stop_ns;  /**< 0: not stopped; no record later than that is due */
};

/** Prepares a zeroed buffer. It owns the source from then on, also after a failure (false). */
bool zeta_replay_buffer_init(struct zeta_replay_buffer *buffer, struct zeta_replay_source *source,
                             const struct zeta_replay_set *set, uint32_t capacity);

void zeta_replay_buffer_finish(struct zeta_replay_buffer *buffer);

/** Starts the time of the buffer, or continues it after a stop. */
void zeta_replay_buffer_start(struct zeta_replay_buffer *buffer);

/** Stops its time: no further record becomes due; those that are due can be read. */
void zeta_replay_buffer_stop(struct zeta_replay_buffer *buffer);

/** As stream_read() of zeta/plugin.h. */
void zeta_replay_buffer_read(struct zeta_replay_buffer *buffer, void *target,
                             uint64_t capacity_bytes, struct zeta_plugin_read *out_read);

/** Records that are due. Any thread. */
uint64_t zeta_replay_buffer_pending(const struct zeta_replay_buffer *buffer);

/** True when no record will become due any more. Any thread. */
bool zeta_replay_buffer_ended(const struct zeta_replay_buffer *buffer);

#endif
