#include "core/formula/record/layout.h"
#include "core/metric/tracer/tracer.h"

/*
 * A root gives the records of its tiles in the order of time. Each record says on which tile it
 * happened, so nothing else has to stand between them:
 *
 *   tile 0   | 1 2     6 7
 *   tile 1   |     4 5     9         read: 1 2 4 5 6 7 9
 *
 * A tile without records may be idle for ever and is not waited for: its next record may be older
 * than the last one of this read, by what the backend needs to deliver it.
 */

/** The source whose first record is the earliest; NULL if all are empty. */
static struct zeta_source *earliest(struct zeta_tracer *tracer, const struct zeta_field *ticks)
{
    struct zeta_source *first = NULL;
    uint64_t first_ticks = 0;

    for (uint32_t i = 0; i < tracer->source_count; i++) {
        struct zeta_source *source = &tracer->sources[i];
        const uint32_t bits = ticks->low_width + ticks->high_width;
        uint64_t mask = bits >= 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
        uint64_t own;

        if (zeta_ring_count(source->ring) == 0)
            continue;
        own = zeta_field_read(ticks, zeta_ring_record(source->ring, 0));
        if (first && ((own - first_ticks) & mask) <= mask / 2)
            continue;
        first = source;
        first_ticks = own;
    }
    return first;
}

/** Number of records of a source, from its first on, that are not later than any other's first. */
static uint32_t count_run(const struct zeta_tracer *tracer, const struct zeta_source *source,
                          const struct zeta_field *ticks)
{
    uint32_t run = zeta_ring_count(source->ring);

    for (uint32_t i = 0; i < tracer->source_count; i++) {
        const struct zeta_source *other = &tracer->sources[i];
        uint32_t count;

        if (other == source || zeta_ring_count(other->ring) == 0)
            continue;
        count = zeta_source_count_until(
            source, ticks, zeta_field_read(ticks, zeta_ring_record(other->ring, 0)), run);
        if (count < run)
            run = count;
    }
    return run > 0 ? run : 1;
}

void zeta_tracer_read_tiles(struct zeta_tracer *tracer, struct zeta_cursor *cursor)
{
    const struct zeta_field *ticks = &tracer->layout->fields[tracer->layout->ticks_field];
    struct zeta_source *source;

    while (cursor->slots_left > 0 && (source = earliest(tracer, ticks)) != NULL) {
        const uint64_t before = cursor->new_records;

        cursor->new_left = count_run(tracer, source, ticks);
        zeta_source_read(source, cursor, false);
        if (cursor->new_records == before)
            return; /* a BREAK and its record do not fit any more */
    }
}
