/*
 * A source: one stream or tracer of a backend, and what the core adds to it.
 *
 * The application sees the records of a source as a sequence of slots in which each read can be
 * calculated by itself:
 *
 *   first read      r0 r1 r2 r3        r0, taken when the stream opened, is only the baseline
 *   second read     r3 r4 r5           repeats the last record of the read before
 *   third read      BREAK r9 r10       nothing to repeat: the records between are lost
 *
 * Records wait either in the backend's own ring ("direct": a read copies once, from the backend to
 * the application) or in a ring of the core that is filled ahead of reads.
 *
 * Loss is counted here: what the backend reports becomes a BREAK before the next record, what a
 * ring of the core drops becomes one in ring.c.
 *
 * One thread at a time uses a source, except for zeta_source_unread() and zeta_source_ended(): the
 * lock of its capture sees to that (capture.h).
 */
#ifndef ZETA_CORE_CAPTURE_SOURCE_H
#define ZETA_CORE_CAPTURE_SOURCE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <level_zero/ze_api.h>

#include "core/capture/ring.h"

struct zeta_provider;

struct zeta_source {
    const struct zeta_provider *provider;
    bool is_tracer; /**< of the backend; else a stream */
    void *handle;   /**< the backend's stream or tracer; NULL: not open, or closed */
    uint32_t record_bytes;
    uint32_t tile;
    bool delta;            /**< rows need a baseline; false: each record is a row */
    uint32_t backend_ring; /**< capacity of the backend's ring in records, at least 1 */
    bool knows_pending;    /**< the backend reports how much it has */
    bool keeps;            /**< the backend never loses what was not read yet */
    bool stops;            /**< the backend can stop and stay readable */
    uint64_t token;        /**< names the stream in markers, 0: it takes none */

    struct zeta_ring *ring; /**< NULL: direct */
    uint8_t *scratch;       /**< with a ring: what one call to the backend can give */

    struct zeta_break gap; /**< that the backend reported, before the record that it gives next */
    _Atomic bool started;  /**< the baseline was taken */
    bool has_last;         /**< last is the record before the next one */
    uint8_t *last;
    _Atomic bool has_next; /**< direct: next was taken from the backend and not given yet */
    struct zeta_break next_break;
    uint8_t *next;

    _Atomic uint32_t error; /**< ze_result_t: why no more records will come, 0: they may */
};

/** What a read fills. */
struct zeta_cursor {
    uint8_t *at;
    uint32_t record_bytes;
    uint64_t slots_left;
    uint64_t new_left;    /**< records that may still be given, repeated ones not counted */
    uint64_t new_records; /**< given */
    uint64_t breaks;
    uint64_t lost_records;
    uint64_t needed_slots; /**< set when nothing fitted: room that one record needs */
};

/** Gets the memory for single records. Errors: OUT_OF_HOST_MEMORY. */
ze_result_t zeta_source_prepare(struct zeta_source *source, uint32_t record_bytes);

/**
 * Begins to use what the backend opened and the prepared source owns from now on; takes the
 * baseline, if rows need one and it is there. ring_records: capacity of the backend's ring.
 */
void zeta_source_start(struct zeta_source *source, void *handle, uint64_t ring_records);

/** Puts a ring of the core between backend and reads. OUT_OF_HOST_MEMORY. */
ze_result_t zeta_source_add_ring(struct zeta_source *source, uint32_t records);

/** Moves what the backend has to the ring. Nothing when direct. */
void zeta_source_fill(struct zeta_source *source);

/** New records that a read would find. Any thread, lock-free, not after close. */
uint64_t zeta_source_unread(const struct zeta_source *source);

/** True when the backend will never have a new record again. Any thread, not after close. */
bool zeta_source_ended(const struct zeta_source *source);

/**
 * Gives new records while there are some and room lasts, with the baseline or BREAK before them and
 * a TILE slot if name_tile is set. Never gives control slots only.
 */
void zeta_source_read(struct zeta_source *source, struct zeta_cursor *cursor, bool name_tile);

/** Gives up the unit; what was collected stays readable. OUT_OF_HOST_MEMORY: some of it is lost. */
ze_result_t zeta_source_stop(struct zeta_source *source);

/** Closes the backend's side and frees everything. A source that was never opened is fine. */
void zeta_source_close(struct zeta_source *source);

#endif
