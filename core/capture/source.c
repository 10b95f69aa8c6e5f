#include "core/capture/source.h"

#include <stdlib.h>
#include <string.h>

#include "core/formula/record/layout.h"
#include "core/plugin/host.h"

/** Records that one call to the backend gives when a ring is filled. */
#define FILL_RECORDS 64u

/** A piece below this part of what a read gave already is a trickle. */
#define TRICKLE 64u

/** What one call to the backend gave. */
struct piece {
    uint32_t records;
    struct zeta_break gap; /**< before the first record */
};

/* Taking records from the backend -------------------------------------------------------------- */

/**
 * Reads from the backend. An error is kept and ends the source: what is in our hands stays
 * readable, then reads report it.
 */
static struct piece read_backend(struct zeta_source *source, void *buffer, uint64_t records)
{
    struct zeta_backend *backend = source->provider->backend;
    struct zeta_plugin_read got = {.struct_size = sizeof(got)};
    struct piece piece = {0};
    uint32_t result;

    if (!source->handle || records == 0 || atomic_load(&source->error) != 0)
        return piece;
    if (source->is_tracer)
        result = backend->tracer.read(backend->self, source->handle, buffer,
                                      records * source->record_bytes, &got);
    else
        result = backend->metric.stream_read(backend->self, source->handle, buffer,
                                             records * source->record_bytes, &got);
    if (result == ZETA_PLUGIN_NOT_READY)
        result = ZETA_PLUGIN_SUCCESS;
    if (result == ZETA_PLUGIN_SUCCESS &&
        (got.bytes > records * source->record_bytes || got.bytes % source->record_bytes != 0))
        result = ZETA_PLUGIN_UNKNOWN;
    if (result != ZETA_PLUGIN_SUCCESS) {
        atomic_store(&source->error, result);
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

/** Takes one record out of the backend ahead of a read; false if there is none. */
static bool take_next(struct zeta_source *source)
{
    struct piece piece = read_backend(source, source->next, 1);

    if (piece.records == 0)
        return false;
    source->next_break = piece.gap;
    atomic_store_explicit(&source->has_next, true, memory_order_release);
    return true;
}

/** Moves the record that was taken ahead to the ring. */
static void move_next(struct zeta_source *source)
{
    if (!atomic_load(&source->has_next))
        return;
    zeta_ring_break(source->ring, &source->next_break);
    zeta_ring_push(source->ring, source->next, 1);
    atomic_store(&source->has_next, false);
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
        struct piece piece = read_backend(source, source->next, 1);

        if (piece.records == 0)
            return false;
        if (piece.gap.reason == 0) {
            memcpy(source->last, source->next, source->record_bytes);
            source->has_last = true;
        } else {
            source->next_break = piece.gap;
            atomic_store_explicit(&source->has_next, true, memory_order_release);
            if (source->ring)
                move_next(source);
        }
    }
    atomic_store(&source->started, true);
    return true;
}

ze_result_t zeta_source_prepare(struct zeta_source *source, uint32_t record_bytes)
{
    source->record_bytes = record_bytes;
    source->last = malloc(record_bytes);
    source->next = malloc(record_bytes);
    return source->last && source->next ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
}

void zeta_source_start(struct zeta_source *source, void *handle, uint64_t ring_records)
{
    source->handle = handle;
    source->backend_ring = ring_records > UINT32_MAX ? UINT32_MAX
                           : ring_records == 0       ? 1
                                                     : (uint32_t)ring_records;
    (void)take_baseline(source);
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
    source->ring = ring;
    source->scratch = scratch;
    move_next(source);
    return ZE_RESULT_SUCCESS;
}

void zeta_source_fill(struct zeta_source *source)
{
    if (!source->ring || !take_baseline(source))
        return;
    /* A backend that produces faster than this copies must not keep us here for ever. */
    for (uint64_t moved = 0; moved <= source->backend_ring;) {
        uint64_t room = source->ring->capacity - zeta_ring_count(source->ring);
        struct piece piece;

        /* What the backend keeps is not taken to push older records out of the ring. */
        if (!source->keeps || room > FILL_RECORDS)
            room = FILL_RECORDS;
        piece = read_backend(source, source->scratch, room);
        if (piece.records == 0)
            break;
        zeta_ring_break(source->ring, &piece.gap);
        zeta_ring_push(source->ring, source->scratch, piece.records);
        moved += piece.records;
    }
}

uint64_t zeta_source_unread(const struct zeta_source *source)
{
    struct zeta_backend *backend = source->provider->backend;
    uint64_t count = source->ring ? zeta_ring_count(source->ring) : 0;
    uint64_t pending;

    if (atomic_load_explicit(&source->has_next, memory_order_acquire))
        count++;
    if (!source->knows_pending || !source->handle)
        return count;
    pending = source->is_tracer
                  ? backend->tracer.pending(backend->self, source->handle) / source->record_bytes
                  : backend->metric.stream_pending(backend->self, source->handle);
    /* The first record of a stream is only its baseline. */
    if (source->delta && pending > 0 &&
        !atomic_load_explicit(&source->started, memory_order_acquire))
        pending--;
    return count + pending;
}

bool zeta_source_ended(const struct zeta_source *source)
{
    struct zeta_backend *backend = source->provider->backend;

    if (!source->handle)
        return false;
    return source->is_tracer ? backend->tracer.ended(backend->self, source->handle) != 0
                             : backend->metric.stream_ended(backend->self, source->handle) != 0;
}

/* Giving records to the application ------------------------------------------------------------ */

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

/** Counts records that were written at the cursor; the last one is the next read's baseline. */
static void give_records(struct zeta_source *source, struct zeta_cursor *cursor, uint64_t records)
{
    advance(cursor, records);
    cursor->new_left -= records;
    cursor->new_records += records;
    if (source->delta) {
        memcpy(source->last, cursor->at - cursor->record_bytes, cursor->record_bytes);
        source->has_last = true;
    }
}

/**
 * Writes what comes before the first record of a read. False if it and one record do not fit; the
 * baseline is left out before anything else.
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
    for (bool first = true;
         cursor->new_left > 0 && cursor->slots_left > 0 && zeta_ring_count(source->ring) > 0;
         first = false) {
        struct zeta_break gap = zeta_ring_first_break(source->ring);
        uint64_t room;
        uint32_t run;

        if (first && !give_prefix(source, cursor, name_tile, &gap))
            return;
        if (!first && cursor->slots_left < 2)
            return;
        if (!first)
            give_break(cursor, &gap);
        room = cursor->slots_left < cursor->new_left ? cursor->slots_left : cursor->new_left;
        run = zeta_ring_run(source->ring, room > UINT32_MAX ? UINT32_MAX : (uint32_t)room);
        zeta_ring_pop(source->ring, cursor->at, run);
        give_records(source, cursor, run);
    }
}

/** Gives the record that was taken ahead; false if it has to wait for a larger buffer. */
static bool give_next(struct zeta_source *source, struct zeta_cursor *cursor, bool first)
{
    const struct zeta_break *gap = &source->next_break;

    if (first && !give_prefix(source, cursor, false, gap))
        return false;
    if (!first && gap->reason != 0) {
        if (cursor->slots_left < 2)
            return false;
        give_break(cursor, gap);
    }
    memcpy(cursor->at, source->next, cursor->record_bytes);
    give_records(source, cursor, 1);
    source->next_break = (struct zeta_break){0};
    atomic_store_explicit(&source->has_next, false, memory_order_release);
    return true;
}

/**
 * Reads straight to the application's memory, one slot further if the baseline or a BREAK comes
 * before it. False when the backend has nothing more, or only a piece so small beside what the read
 * gave that it came while the read ran: going on would follow a fast device record by record, until
 * the application's memory is full.
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
    give_records(source, cursor, piece.records);
    return piece.records == room || piece.records >= cursor->new_records / TRICKLE;
}

void zeta_source_read(struct zeta_source *source, struct zeta_cursor *cursor, bool name_tile)
{
    if (source->ring) {
        read_ring(source, cursor, name_tile);
        return;
    }
    bool more = take_baseline(source);
    while (more && cursor->new_left > 0 && cursor->slots_left > 0) {
        const bool first = cursor->new_records == 0;

        if (atomic_load(&source->has_next))
            more = give_next(source, cursor, first);
        else if (cursor->slots_left == 1)
            more = take_next(source); /* the slot that is left may have to be a BREAK */
        else
            more = read_through(source, cursor, first);
    }
}

/* Ending --------------------------------------------------------------------------------------- */

static void close_backend(struct zeta_source *source)
{
    struct zeta_backend *backend = source->provider->backend;

    if (source->handle && source->is_tracer)
        backend->tracer.close(backend->self, source->handle);
    else if (source->handle)
        backend->metric.stream_close(backend->self, source->handle);
    source->handle = NULL;
}

ze_result_t zeta_source_stop(struct zeta_source *source)
{
    ze_result_t result = ZE_RESULT_SUCCESS;

    if (!source->handle)
        return ZE_RESULT_SUCCESS;
    if (source->stops) {
        source->provider->backend->metric.stream_stop(source->provider->backend->self,
                                                      source->handle);
        return ZE_RESULT_SUCCESS;
    }
    if (!source->ring)
        result = zeta_source_add_ring(source, source->backend_ring);
    zeta_source_fill(source);
    close_backend(source);
    return result;
}

void zeta_source_close(struct zeta_source *source)
{
    close_backend(source);
    zeta_ring_destroy(source->ring);
    free(source->scratch);
    free(source->last);
    free(source->next);
    source->ring = NULL;
    source->scratch = NULL;
    source->last = NULL;
    source->next = NULL;
}
