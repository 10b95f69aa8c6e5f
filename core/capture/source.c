#include "core/capture/source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/formula/record/layout.h"
#include "core/formula/record/slot.h"
#include "core/plugin/host.h"
#include "core/util/error.h"

/** Records that one call to the backend gives when a ring is filled. */
#define FILL_RECORDS 64u

/** A piece below this part of what a read gave already is a trickle. */
#define TRICKLE 64u

/** What one call to the backend gave. */
struct piece {
    uint32_t records;
    struct zeta_break gap; /**< before the first record */
};

static bool is_open(const struct zeta_source *source)
{
    return source->stream || source->tracer;
}

static uint32_t feed_read(struct zeta_source *source, void *buffer, uint64_t capacity_bytes,
                          struct zeta_plugin_read *out_read)
{
    struct zeta_backend *backend = source->backend;

    if (source->tracer)
        return backend->tracer.read(backend->self, source->tracer, buffer, capacity_bytes,
                                    out_read);
    return backend->metric.stream_read(backend->self, source->stream, buffer, capacity_bytes,
                                       out_read);
}

/** Records that the backend holds. */
static uint64_t feed_pending(const struct zeta_source *source)
{
    const struct zeta_backend *backend = source->backend;

    if (source->tracer)
        return backend->tracer.pending(backend->self, source->tracer) / source->record_bytes;
    return backend->metric.stream_pending(backend->self, source->stream);
}

static void feed_close(struct zeta_source *source)
{
    struct zeta_backend *backend = source->backend;

    if (source->tracer)
        backend->tracer.close(backend->self, source->tracer);
    else if (source->stream)
        backend->metric.stream_close(backend->self, source->stream);
    source->tracer = NULL;
    source->stream = NULL;
}

/**
 * Reads from the backend. An error is kept and ends the stream: what is in our hands stays
 * readable, then reads report it.
 */
static struct piece read_backend(struct zeta_source *source, void *buffer, uint64_t records)
{
    struct zeta_plugin_read got = {.struct_size = sizeof(got)};
    struct piece piece = {0};
    uint32_t result;

    if (!is_open(source) || records == 0 || atomic_load(&source->error) != 0)
        return piece;
    result = feed_read(source, buffer, records * source->record_bytes, &got);
    if (result != ZETA_PLUGIN_SUCCESS && result != ZETA_PLUGIN_NOT_READY) {
        atomic_store(&source->error, result);
        return piece;
    }
    if (got.bytes > records * source->record_bytes || got.bytes % source->record_bytes != 0) {
        atomic_store(&source->error, ZE_RESULT_ERROR_UNKNOWN);
        return piece;
    }
    piece.records = (uint32_t)(got.bytes / source->record_bytes);
    if (got.broken) {
        source->gap.reason = got.reason != 0 ? got.reason : ZETA_BREAK_LOST;
        source->gap.lost_records += got.lost;
    }
    if (piece.records > 0) {
        piece.gap = source->gap;
        source->gap = (struct zeta_break){0};
    }
    return piece;
}

/** Keeps the record in held for a read, behind a BREAK: something was lost before it. */
static void keep_behind_break(struct zeta_source *source, const struct zeta_break *gap)
{
    if (source->ring) {
        zeta_ring_break(source->ring, gap);
        zeta_ring_push(source->ring, source->held, 1);
        return;
    }
    source->held_break = *gap;
    atomic_store_explicit(&source->has_held, true, memory_order_release);
}

/**
 * Takes the record that only starts the first row, once it is there. One before which records were
 * lost is no baseline but the first to be read, or nobody would hear of the loss.
 */
static bool take_baseline(struct zeta_source *source)
{
    if (atomic_load(&source->started))
        return true;
    if (source->delta) {
        struct piece piece = read_backend(source, source->held, 1);

        if (piece.records == 0)
            return false;
        if (piece.gap.reason != 0) {
            keep_behind_break(source, &piece.gap);
        } else {
            memcpy(source->last, source->held, source->record_bytes);
            source->has_last = true;
        }
    }
    atomic_store(&source->started, true);
    return true;
}

/** A refusal because of another process always names it, whatever the plugin said. */
static ze_result_t open_error(const struct zeta_source *source, struct zeta_plugin_device *device,
                              const struct zeta_plugin_stream_desc *desc, uint32_t result)
{
    const struct zeta_plugin_metric_ops *metric = &source->backend->metric;
    char what[320];
    uint32_t pid = 0;

    if (result == ZETA_PLUGIN_NOT_AVAILABLE &&
        metric->holder(source->backend->self, device, desc->unit, &pid) == ZETA_PLUGIN_SUCCESS &&
        pid != 0)
        return zeta_error(
            ZE_RESULT_ERROR_NOT_AVAILABLE,
            "plugin %s: the counting unit %.*s that %s needs is in use by process %u; "
            "end that process or its stream first",
            source->backend->id, (int)desc->unit.size, desc->unit.data, source->label, pid);
    (void)snprintf(what, sizeof(what), "opening a stream of %s", source->label);
    return zeta_backend_result(source->backend, result, what);
}

/** Memory for single records; false, with nothing left behind, if there is none. */
static bool allocate(struct zeta_source *source, uint32_t record_bytes)
{
    source->record_bytes = record_bytes;
    source->last = malloc(record_bytes);
    source->held = malloc(record_bytes);
    if (source->last && source->held)
        return true;
    zeta_source_close(source);
    return false;
}

static uint32_t clip_ring(uint64_t records)
{
    return records > UINT32_MAX ? UINT32_MAX : records == 0 ? 1 : (uint32_t)records;
}

ze_result_t zeta_source_open(struct zeta_source *source, struct zeta_plugin_device *device,
                             struct zeta_plugin_stream_desc *desc)
{
    const struct zeta_plugin_metric_ops *metric = &source->backend->metric;
    uint32_t result;

    if (!allocate(source, desc->record_bytes))
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    result = metric->stream_open(source->backend->self, device, desc, &source->stream);
    if (result == ZETA_PLUGIN_SUCCESS && !source->stream)
        result = ZETA_PLUGIN_UNKNOWN;
    if (result != ZETA_PLUGIN_SUCCESS) {
        ze_result_t failure = open_error(source, device, desc, result);

        source->stream = NULL;
        zeta_source_close(source);
        return failure;
    }
    source->backend_ring = clip_ring(desc->ring_records);
    source->watches_pending = source->backend->has_stream_pending;
    source->backend_keeps = desc->keeps != 0;
    (void)take_baseline(source);
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeta_source_open_tracer(struct zeta_source *source, struct zeta_plugin_device *device,
                                    struct zeta_plugin_tracer_desc *desc)
{
    struct zeta_backend *backend = source->backend;
    char what[320];
    uint32_t result;

    if (!allocate(source, desc->record_bytes))
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    result = backend->tracer.open(backend->self, device, desc, &source->tracer);
    if (result == ZETA_PLUGIN_SUCCESS && !source->tracer)
        result = ZETA_PLUGIN_UNKNOWN;
    if (result != ZETA_PLUGIN_SUCCESS) {
        source->tracer = NULL;
        zeta_source_close(source);
        (void)snprintf(what, sizeof(what), "opening a tracer of %s", source->label);
        return zeta_backend_result(backend, result, what);
    }
    source->backend_ring = clip_ring(desc->ring_bytes / desc->record_bytes);
    source->watches_pending = true;
    source->backend_keeps = desc->keeps != 0;
    atomic_store(&source->started, true);
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeta_source_add_ring(struct zeta_source *source, uint32_t records)
{
    struct zeta_ring *ring = zeta_ring_create(source->record_bytes, records);
    uint8_t *scratch = malloc((size_t)FILL_RECORDS * source->record_bytes);

    if (!ring || !scratch) {
        zeta_ring_destroy(ring);
        free(scratch);
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    if (atomic_load(&source->has_held)) {
        zeta_ring_break(ring, &source->held_break);
        zeta_ring_push(ring, source->held, 1);
        atomic_store(&source->has_held, false);
    }
    source->ring = ring;
    source->scratch = scratch;
    return ZE_RESULT_SUCCESS;
}

/** Records to take from the backend next; none when that would push out what it could keep. */
static uint64_t fill_room(const struct zeta_source *source)
{
    uint64_t room = FILL_RECORDS;

    if (source->backend_keeps) {
        uint64_t free_records = source->ring->capacity - zeta_ring_count(source->ring);

        room = free_records < room ? free_records : room;
    }
    return room;
}

bool zeta_source_fill(struct zeta_source *source)
{
    uint64_t limit = source->backend_ring;
    bool any = false;

    if (!source->ring || !take_baseline(source))
        return false;
    /* A backend that produces faster than this copies must not keep us here for ever. */
    for (uint64_t moved = 0; moved <= limit;) {
        struct piece piece = read_backend(source, source->scratch, fill_room(source));

        if (piece.records == 0)
            break;
        zeta_ring_break(source->ring, &piece.gap);
        zeta_ring_push(source->ring, source->scratch, piece.records);
        moved += piece.records;
        any = true;
    }
    return any;
}

uint64_t zeta_source_unread(const struct zeta_source *source)
{
    uint64_t count = source->ring ? zeta_ring_count(source->ring) : 0;
    uint64_t pending;

    if (atomic_load_explicit(&source->has_held, memory_order_acquire))
        count++;
    if (!source->watches_pending || !is_open(source))
        return count;
    pending = feed_pending(source);
    /* The first record of the stream counts as read. */
    if (source->delta && pending > 0 &&
        !atomic_load_explicit(&source->started, memory_order_acquire))
        pending--;
    return count + pending;
}

bool zeta_source_ended(const struct zeta_source *source)
{
    const struct zeta_backend *backend = source->backend;

    if (source->tracer)
        return backend->tracer.ended(backend->self, source->tracer) != 0;
    return source->stream && backend->metric.stream_ended(backend->self, source->stream) != 0;
}

static void *slot_at(const struct zeta_cursor *cursor, uint64_t index)
{
    return cursor->at + index * cursor->record_bytes;
}

static void advance(struct zeta_cursor *cursor, uint64_t slots)
{
    cursor->at += slots * cursor->record_bytes;
    cursor->slots_left -= slots;
}

static void give_control(struct zeta_cursor *cursor, enum zeta_slot_kind kind, uint32_t value,
                         uint64_t lost_records)
{
    struct zeta_slot_control control = {.kind = kind, .value = value, .lost_records = lost_records};

    zeta_slot_write(&control, cursor->at, cursor->record_bytes);
    advance(cursor, 1);
}

static void give_break(struct zeta_cursor *cursor, const struct zeta_break *gap)
{
    give_control(cursor, ZETA_SLOT_BREAK, gap->reason, gap->lost_records);
    cursor->breaks++;
    cursor->lost_records += gap->lost_records;
}

/** Counts records that were written at the cursor. */
static void give_records(struct zeta_cursor *cursor, uint64_t records)
{
    advance(cursor, records);
    cursor->new_left -= records;
    cursor->new_records += records;
}

/** Keeps the record just given as the baseline of the next read. */
static void keep_last(struct zeta_source *source, const struct zeta_cursor *cursor)
{
    if (!source->delta)
        return;
    memcpy(source->last, cursor->at - cursor->record_bytes, cursor->record_bytes);
    source->has_last = true;
}

/**
 * Writes what stands before the first record of a read. False if it and one record do not fit;
 * the baseline is left out before anything else.
 */
static bool give_prefix(struct zeta_source *source, struct zeta_cursor *cursor, bool name_tile,
                        const struct zeta_break *gap)
{
    uint64_t needed = 1u + (name_tile ? 1u : 0u) + (gap->reason != 0 ? 1u : 0u);

    if (cursor->slots_left < needed) {
        if (cursor->new_records == 0)
            cursor->needed_slots = needed;
        return false;
    }
    if (name_tile)
        give_control(cursor, ZETA_SLOT_TILE, source->tile, 0);
    if (gap->reason != 0) {
        give_break(cursor, gap);
    } else if (source->has_last && source->delta && cursor->slots_left >= 2) {
        memcpy(cursor->at, source->last, cursor->record_bytes);
        advance(cursor, 1);
    }
    return true;
}

static void read_ring(struct zeta_source *source, struct zeta_cursor *cursor, bool name_tile)
{
    bool first = true;

    while (cursor->new_left > 0 && cursor->slots_left > 0 && zeta_ring_count(source->ring) > 0) {
        struct zeta_break gap = zeta_ring_first_break(source->ring);
        uint64_t room;
        uint32_t run;

        if (first && !give_prefix(source, cursor, name_tile, &gap))
            return;
        if (!first && cursor->slots_left < 2)
            return;
        if (!first)
            give_break(cursor, &gap);
        first = false;
        room = cursor->slots_left < cursor->new_left ? cursor->slots_left : cursor->new_left;
        run = zeta_ring_run(source->ring, room > UINT32_MAX ? UINT32_MAX : (uint32_t)room);
        zeta_ring_pop(source->ring, cursor->at, run);
        give_records(cursor, run);
        keep_last(source, cursor);
    }
}

/** Gives the held record; false if it has to wait for a larger buffer. */
static bool give_held(struct zeta_source *source, struct zeta_cursor *cursor, bool first)
{
    static const struct zeta_break none;
    const struct zeta_break *gap = &source->held_break;

    if (first && !give_prefix(source, cursor, false, gap))
        return false;
    if (!first && gap->reason != 0) {
        if (cursor->slots_left < 2)
            return false;
        give_break(cursor, gap);
    }
    memcpy(cursor->at, source->held, cursor->record_bytes);
    give_records(cursor, 1);
    keep_last(source, cursor);
    source->held_break = none;
    atomic_store_explicit(&source->has_held, false, memory_order_release);
    return true;
}

/** Takes one record out of the backend, because the slot that is left may have to be a BREAK. */
static bool hold_one(struct zeta_source *source)
{
    struct piece piece = read_backend(source, source->held, 1);

    if (piece.records == 0)
        return false;
    source->held_break = piece.gap;
    atomic_store_explicit(&source->has_held, true, memory_order_release);
    return true;
}

/**
 * Whether a piece is so small beside what the read gave that it came while the read ran: going on
 * would follow a fast device record by record, until the application's memory is full.
 */
static bool is_trickle(uint32_t records, uint64_t given)
{
    return records < given / TRICKLE;
}

/**
 * Reads straight to the application's memory, one slot further if the baseline or a BREAK will
 * stand before it. False when the backend has nothing more, or only what came meanwhile.
 */
static bool read_through(struct zeta_source *source, struct zeta_cursor *cursor, bool first)
{
    uint64_t ahead = first && source->delta && source->has_last ? 1 : 0;
    uint64_t room = cursor->slots_left - 1; /* one for a BREAK, should it come */
    struct piece piece;

    if (room > cursor->new_left)
        room = cursor->new_left;
    piece = read_backend(source, slot_at(cursor, ahead), room);
    if (piece.records == 0)
        return false;
    if (piece.gap.reason != 0) {
        if (ahead == 0)
            memmove(slot_at(cursor, 1), cursor->at, (size_t)piece.records * cursor->record_bytes);
        give_break(cursor, &piece.gap);
    } else if (ahead == 1) {
        memcpy(cursor->at, source->last, cursor->record_bytes);
        advance(cursor, 1);
    }
    give_records(cursor, piece.records);
    keep_last(source, cursor);
    return piece.records == room || !is_trickle(piece.records, cursor->new_records);
}

static void read_direct(struct zeta_source *source, struct zeta_cursor *cursor)
{
    if (!take_baseline(source))
        return;
    while (cursor->new_left > 0 && cursor->slots_left > 0) {
        bool first = cursor->new_records == 0;

        if (atomic_load(&source->has_held)) {
            if (!give_held(source, cursor, first))
                return;
        } else if (cursor->slots_left == 1) {
            if (!hold_one(source))
                return;
        } else if (!read_through(source, cursor, first)) {
            return;
        }
    }
}

void zeta_source_read(struct zeta_source *source, struct zeta_cursor *cursor, bool name_tile)
{
    if (source->ring)
        read_ring(source, cursor, name_tile);
    else
        read_direct(source, cursor);
}

uint32_t zeta_source_count_until(const struct zeta_source *source, const struct zeta_field *field,
                                 uint64_t instant, uint32_t limit)
{
    uint32_t bits = field->low_width + field->high_width;
    uint64_t mask = bits >= 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
    uint32_t count = zeta_ring_count(source->ring);

    if (limit < count)
        count = limit;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t ahead =
            (instant - zeta_field_read(field, zeta_ring_record(source->ring, i))) & mask;

        if (ahead > mask / 2)
            return i;
    }
    return count;
}

bool zeta_source_stop_closes(const struct zeta_source *source)
{
    return source->tracer || (source->stream && !source->backend->has_stream_stop);
}

ze_result_t zeta_source_stop(struct zeta_source *source)
{
    const struct zeta_plugin_metric_ops *metric = &source->backend->metric;
    ze_result_t result = ZE_RESULT_SUCCESS;

    if (!is_open(source))
        return ZE_RESULT_SUCCESS;
    if (!zeta_source_stop_closes(source)) {
        metric->stream_stop(source->backend->self, source->stream);
        return ZE_RESULT_SUCCESS;
    }
    if (!source->ring)
        result = zeta_source_add_ring(source, source->backend_ring);
    (void)zeta_source_fill(source);
    feed_close(source);
    return result;
}

void zeta_source_close(struct zeta_source *source)
{
    feed_close(source);
    zeta_ring_destroy(source->ring);
    source->ring = NULL;
    free(source->scratch);
    free(source->last);
    free(source->held);
    source->scratch = NULL;
    source->last = NULL;
    source->held = NULL;
}
