/*
 * A source: one stream or tracer of a backend and what the core adds to it.
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
 * Only one thread at a time may use a source, except for zeta_source_unread(): the stream that owns
 * it sees to that (core/metric/stream/stream.h). No lock is held during calls of the plugin.
 */
#ifndef ZETA_CORE_CAPTURE_SOURCE_H
#define ZETA_CORE_CAPTURE_SOURCE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <level_zero/ze_api.h>

#include "core/capture/ring.h"

struct zeta_backend;
struct zeta_field;
struct zeta_plugin_device;
struct zeta_plugin_stream;
struct zeta_plugin_stream_desc;
struct zeta_plugin_tracer;
struct zeta_plugin_tracer_desc;

struct zeta_source {
    struct zeta_backend *backend;
    struct zeta_plugin_stream *stream; /**< NULL once closed, and of a tracer */
    struct zeta_plugin_tracer *tracer; /**< NULL once closed, and of a stream */
    const char *label;                 /**< set and device, for messages; the stream's */
    uint32_t record_bytes;
    uint32_t tile;
    bool delta;            /**< rows need a baseline; false: each record is a row */
    uint32_t backend_ring; /**< capacity of the backend's ring in records, at least 1 */
    bool watches_pending;  /**< the backend tells what it holds */
    uint64_t token;        /**< names the stream in markers, 0: it takes none */
    bool backend_keeps;    /**< what is not taken from the backend yet is never lost there */

    struct zeta_ring *ring; /**< NULL: direct */
    uint8_t *scratch;       /**< with a ring: what one call to the backend can give */

    struct zeta_break gap; /**< told by the backend, before the record that it gives next */
    _Atomic bool started;  /**< the baseline of the stream was taken */
    bool has_last;         /**< last holds the record before the next one */
    uint8_t *last;
    _Atomic bool has_held; /**< direct: held was taken from the backend and not given yet */
    struct zeta_break held_break;
    uint8_t *held;

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

/**
 * Opens a stream of a backend. Takes the first record, if it is there, as the baseline.
 *
 * @source  zeroed but for backend, label, tile and delta
 * @desc    in and out as in zeta/plugin.h
 *
 * Errors: those of the backend; NOT_AVAILABLE names the process that holds the unit.
 */
ze_result_t zeta_source_open(struct zeta_source *source, struct zeta_plugin_device *device,
                             struct zeta_plugin_stream_desc *desc);

/**
 * Opens a tracer of a backend, which is off. Its records are rows by themselves.
 *
 * @source  zeroed but for backend, label and tile
 * @desc    in and out as in zeta/plugin.h
 *
 * Errors: those of the backend; OUT_OF_HOST_MEMORY.
 */
ze_result_t zeta_source_open_tracer(struct zeta_source *source, struct zeta_plugin_device *device,
                                    struct zeta_plugin_tracer_desc *desc);

/** Puts a ring of the core between backend and reads. OUT_OF_HOST_MEMORY. */
ze_result_t zeta_source_add_ring(struct zeta_source *source, uint32_t records);

/** Moves what the backend holds to the ring; true if there was anything. Nothing when direct. */
bool zeta_source_fill(struct zeta_source *source);

/** New records that a read would find. Any thread, lock-free, not after close. */
uint64_t zeta_source_unread(const struct zeta_source *source);

/** True when the backend will never have a new record again. Any thread, not after close. */
bool zeta_source_ended(const struct zeta_source *source);

/**
 * Gives new records while there are some and room lasts, with the baseline or BREAK before them and
 * a TILE slot if name_tile is set. Never gives control slots only.
 */
void zeta_source_read(struct zeta_source *source, struct zeta_cursor *cursor, bool name_tile);

/**
 * Number of records in the ring, at most limit, whose field is not later than instant; values wrap
 * at the width of the field. For sources with a ring.
 */
uint32_t zeta_source_count_until(const struct zeta_source *source, const struct zeta_field *field,
                                 uint64_t instant, uint32_t limit);

/** True if stopping closes the backend's side, so that zeta_source_unread() must be out of use. */
bool zeta_source_stop_closes(const struct zeta_source *source);

/** Gives up the unit; what was collected stays readable. OUT_OF_HOST_MEMORY: some of it is lost. */
ze_result_t zeta_source_stop(struct zeta_source *source);

/** Closes the backend's stream and frees everything. A source that was never opened is fine. */
void zeta_source_close(struct zeta_source *source);

#endif
