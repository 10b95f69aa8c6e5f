#include "core/formula/record/layout.h"
#include "core/metric/stream/stream_priv.h"

/*
 * What a root gives is calculated per tile and then compared or added, so a read gives all tiles up
 * to the same instant:
 *
 *   tile 0   | r r r r r r|r r            T is the earliest of the tiles' newest records that
 *   tile 1   | r r r r r r|               fit; what is later stays in the rings.
 *                         T
 */

/** Room that always suffices for one record: TILE, BREAK or baseline, record. */
#define SLOTS_OF_ONE_RECORD 3u

/** Tile slot and baseline or BREAK of a tile's part. */
#define OVERHEAD_SLOTS 2u

static uint64_t clock_mask(const struct zeta_field *clock)
{
    uint32_t bits = clock->low_width + clock->high_width;

    return bits >= 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
}

/** True if a is before b on a clock that wraps. */
static bool is_before(const struct zeta_field *clock, uint64_t a, uint64_t b)
{
    uint64_t mask = clock_mask(clock);

    return a != b && ((a - b) & mask) > mask / 2;
}

/** Records of a tile that its share of the room takes. */
static uint32_t share_of(const struct zeta_stream *stream, const struct zeta_cursor *cursor)
{
    uint64_t slots = cursor->slots_left / stream->source_count;
    uint64_t records = cursor->new_left / stream->source_count;

    slots = slots > OVERHEAD_SLOTS ? slots - OVERHEAD_SLOTS : 1;
    if (records < slots)
        slots = records > 0 ? records : 1;
    return slots > UINT32_MAX ? UINT32_MAX : (uint32_t)slots;
}

/** True if waiting for the slowest tile would lose records of the others, or has no end. */
static bool must_not_wait(const struct zeta_stream *stream)
{
    if (atomic_load(&stream->stopped))
        return true;
    for (uint32_t i = 0; i < stream->source_count; i++) {
        const struct zeta_source *source = &stream->sources[i];

        if (atomic_load(&source->error) != 0 ||
            zeta_ring_count(source->ring) > source->ring->capacity / 2)
            return true;
    }
    return false;
}

/** Finds the instant; false if there is none and every tile gives its share. */
static bool find_instant(const struct zeta_stream *stream, uint32_t share, uint64_t *out_instant)
{
    bool found = false;
    bool wait = !must_not_wait(stream);

    for (uint32_t i = 0; i < stream->source_count; i++) {
        const struct zeta_source *source = &stream->sources[i];
        uint32_t count = zeta_ring_count(source->ring);
        const void *record = NULL;
        uint64_t value;

        if (count > 0)
            record = zeta_ring_record(source->ring, (count < share ? count : share) - 1);
        else if (wait && source->has_last && !zeta_source_ended(source))
            record = source->last;
        if (!record)
            continue;
        value = zeta_field_read(stream->clock, record);
        if (!found || is_before(stream->clock, value, *out_instant))
            *out_instant = value;
        found = true;
    }
    return found;
}

/** Reads one tile into its part of the room and adds that up. */
static void read_one(struct zeta_source *source, struct zeta_cursor *cursor, uint64_t records,
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

void zeta_stream_read_tiles(struct zeta_stream *stream, struct zeta_cursor *cursor)
{
    uint32_t share = share_of(stream, cursor);
    uint32_t begin = stream->first_source;
    uint64_t instant = 0;
    bool bounded = stream->clock && find_instant(stream, share, &instant);

    for (uint32_t i = 0; i < stream->source_count; i++) {
        struct zeta_source *source = &stream->sources[(begin + i) % stream->source_count];
        uint64_t slots = cursor->slots_left / (stream->source_count - i);
        uint32_t count = zeta_ring_count(source->ring);

        if (slots < SLOTS_OF_ONE_RECORD)
            slots =
                cursor->slots_left < SLOTS_OF_ONE_RECORD ? cursor->slots_left : SLOTS_OF_ONE_RECORD;
        if (count > share)
            count = share;
        if (bounded)
            count = zeta_source_count_until(source, stream->clock, instant, count);
        if (count > cursor->new_left)
            count = (uint32_t)cursor->new_left;
        if (count > 0)
            read_one(source, cursor, count, slots);
    }
    /* With little room the tiles take turns in being first. */
    stream->first_source = (begin + 1) % stream->source_count;
}
