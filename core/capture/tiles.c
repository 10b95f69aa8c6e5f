/*
 * Reading several tiles. What a root gives of a stream is calculated per tile and then compared or
 * added, so a read gives all tiles up to the same instant:
 *
 *   tile 0   | r r r r r r|r r            T is the earliest of the tiles' newest records that
 *   tile 1   | r r r r r r|               fit; what is later stays in the rings.
 *                         T
 *
 * A tracer's records name their tile, so they are given in the order of time:
 *
 *   tile 0   | 1 2     6 7
 *   tile 1   |     4 5     9         read: 1 2 4 5 6 7 9
 *
 * A tile of a tracer without records may be idle for ever and is not waited for: its next record
 * may be older than the last one of this read, by what the backend needs to deliver it.
 */
#include "core/capture/capture.h"
#include "core/formula/record/layout.h"

/** Room that always suffices for one record: TILE, BREAK or baseline, record. */
#define SLOTS_OF_ONE_RECORD 3u

/** Tile slot and baseline or BREAK of a tile's part. */
#define OVERHEAD_SLOTS 2u

/** Records for which a tile of a stream that is ahead waits, at most; more if N is larger. */
#define AHEAD_RECORDS 2048u

/** True if a is before b on a clock that wraps. */
static bool is_before(const struct zeta_field *clock, uint64_t a, uint64_t b)
{
    uint32_t bits = clock->low_width + clock->high_width;
    uint64_t mask = bits >= 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;

    return a != b && ((a - b) & mask) > mask / 2;
}

static uint64_t time_of(const struct zeta_capture *capture, const struct zeta_source *source,
                        uint32_t index)
{
    return zeta_field_read(capture->clock, zeta_ring_record(source->ring, index));
}

/** Number of records in the ring, at most limit, that are not later than the instant. */
static uint32_t count_until(const struct zeta_capture *capture, const struct zeta_source *source,
                            uint64_t instant, uint32_t limit)
{
    uint32_t count = zeta_ring_count(source->ring);

    if (limit < count)
        count = limit;
    for (uint32_t i = 0; i < count; i++) {
        if (is_before(capture->clock, instant, time_of(capture, source, i)))
            return i;
    }
    return count;
}

/* Streams: up to one instant ------------------------------------------------------------------- */

/** Finds the instant; false if there is none and every tile gives its share. */
static bool find_instant(const struct zeta_capture *capture, uint32_t share, uint64_t *out_instant)
{
    const uint64_t ahead =
        capture->notify_records > AHEAD_RECORDS ? capture->notify_records : AHEAD_RECORDS;
    bool found = false;
    bool wait = !atomic_load(&capture->stopped);

    /* To wait for the slowest tile must not lose records of the others, and must have an end. */
    for (uint32_t i = 0; i < capture->source_count; i++) {
        const struct zeta_source *source = &capture->sources[i];

        wait = wait && atomic_load(&source->error) == 0 && zeta_ring_count(source->ring) <= ahead &&
               zeta_ring_count(source->ring) <= source->ring->capacity / 2;
    }
    for (uint32_t i = 0; i < capture->source_count; i++) {
        const struct zeta_source *source = &capture->sources[i];
        uint32_t count = zeta_ring_count(source->ring);
        uint64_t value;

        if (count > 0)
            value = time_of(capture, source, (count < share ? count : share) - 1);
        else if (wait && source->has_last && !zeta_source_ended(source))
            value = zeta_field_read(capture->clock, source->last);
        else
            continue;
        if (!found || is_before(capture->clock, value, *out_instant))
            *out_instant = value;
        found = true;
    }
    return found;
}

/** Reads one tile into its part of the room and adds that up. */
static void read_part(struct zeta_source *source, struct zeta_cursor *cursor, uint64_t records,
                      uint64_t slots)
{
    struct zeta_cursor part = *cursor;

    part.new_left = records;
    part.slots_left = slots;
    part.new_records = 0;
    zeta_source_read(source, &part, true);
    cursor->slots_left -= (uint64_t)(part.at - cursor->at) / cursor->record_bytes;
    cursor->at = part.at;
    cursor->new_left -= part.new_records;
    cursor->new_records += part.new_records;
    cursor->breaks = part.breaks;
    cursor->lost_records = part.lost_records;
    if (part.needed_slots > cursor->needed_slots)
        cursor->needed_slots = part.needed_slots;
}

void zeta_tiles_read_aligned(struct zeta_capture *capture, struct zeta_cursor *cursor)
{
    uint32_t tiles = capture->source_count;
    uint64_t records = cursor->new_left / tiles;
    uint64_t share = cursor->slots_left / tiles; /* records of a tile that its part has room for */
    uint64_t instant = 0;
    bool bounded;

    share = share > OVERHEAD_SLOTS ? share - OVERHEAD_SLOTS : 1;
    if (records < share)
        share = records > 0 ? records : 1;
    if (share > UINT32_MAX)
        share = UINT32_MAX;
    bounded = capture->clock && find_instant(capture, (uint32_t)share, &instant);
    for (uint32_t i = 0; i < tiles; i++) {
        struct zeta_source *source = &capture->sources[(capture->first_source + i) % tiles];
        uint64_t slots = cursor->slots_left / (tiles - i);
        uint32_t count = zeta_ring_count(source->ring);

        if (slots < SLOTS_OF_ONE_RECORD)
            slots =
                cursor->slots_left < SLOTS_OF_ONE_RECORD ? cursor->slots_left : SLOTS_OF_ONE_RECORD;
        if (count > share)
            count = (uint32_t)share;
        if (bounded)
            count = count_until(capture, source, instant, count);
        if (count > cursor->new_left)
            count = (uint32_t)cursor->new_left;
        if (count > 0)
            read_part(source, cursor, count, slots);
    }
    /* With little room another tile is first each time. */
    capture->first_source = (capture->first_source + 1) % tiles;
}

/* Tracers: in the order of time ---------------------------------------------------------------- */

void zeta_tiles_read_merged(struct zeta_capture *capture, struct zeta_cursor *cursor)
{
    while (cursor->slots_left > 0) {
        const uint64_t before = cursor->new_records;
        struct zeta_source *first = NULL;
        uint32_t run;

        for (uint32_t i = 0; i < capture->source_count; i++) {
            struct zeta_source *source = &capture->sources[i];

            if (zeta_ring_count(source->ring) > 0 &&
                (!first || is_before(capture->clock, time_of(capture, source, 0),
                                     time_of(capture, first, 0))))
                first = source;
        }
        if (!first)
            return;
        /* From its first on, what is not later than the first of any other. */
        run = zeta_ring_count(first->ring);
        for (uint32_t i = 0; i < capture->source_count; i++) {
            const struct zeta_source *other = &capture->sources[i];

            if (other != first && zeta_ring_count(other->ring) > 0)
                run = count_until(capture, first, time_of(capture, other, 0), run);
        }
        cursor->new_left = run > 0 ? run : 1;
        zeta_source_read(first, cursor, false);
        if (cursor->new_records == before)
            return; /* a BREAK and its record do not fit any more */
    }
}
