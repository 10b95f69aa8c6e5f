#include "core/capture/ring.h"

#include <stdlib.h>
#include <string.h>

#include "core/formula/record/layout.h"

struct zeta_ring *zeta_ring_create(uint32_t record_bytes, uint32_t capacity)
{
    struct zeta_ring *ring = calloc(1, sizeof(*ring));

    if (!ring)
        return NULL;
    ring->record_bytes = record_bytes;
    ring->capacity = capacity;
    ring->records = malloc((size_t)record_bytes * capacity);
    ring->breaks = calloc(capacity, sizeof(*ring->breaks));
    if (!ring->records || !ring->breaks) {
        zeta_ring_destroy(ring);
        return NULL;
    }
    return ring;
}

void zeta_ring_destroy(struct zeta_ring *ring)
{
    if (!ring)
        return;
    free(ring->records);
    free(ring->breaks);
    free(ring);
}

/* One break in the place of two: the later reason is kept, losses add up. */
void zeta_ring_break(struct zeta_ring *ring, const struct zeta_break *gap)
{
    if (gap->reason == 0)
        return;
    ring->pending.reason = gap->reason;
    ring->pending.lost_records += gap->lost_records;
}

static uint32_t place(const struct zeta_ring *ring, uint32_t index)
{
    uint64_t at = (uint64_t)ring->head + index;

    return (uint32_t)(at >= ring->capacity ? at - ring->capacity : at);
}

static void set_count(struct zeta_ring *ring, uint32_t count)
{
    atomic_store_explicit(&ring->count, count, memory_order_release);
}

/** Removes the oldest records; what is left starts with a break that counts them. */
static void drop_oldest(struct zeta_ring *ring, uint32_t count)
{
    struct zeta_break gap = {.reason = ZETA_BREAK_OVERFLOW, .lost_records = count};
    uint32_t left = zeta_ring_count(ring) - count;

    for (uint32_t i = 0; i < count; i++)
        gap.lost_records += ring->breaks[place(ring, i)].lost_records;
    ring->head = place(ring, count);
    if (left > 0) {
        struct zeta_break *first = &ring->breaks[ring->head];

        gap.lost_records += first->lost_records;
        *first = gap;
    } else {
        gap.lost_records += ring->pending.lost_records;
        ring->pending = gap;
    }
    set_count(ring, left);
}

/** Adds what fits without dropping; count <= free room. */
static void append(struct zeta_ring *ring, const uint8_t *records, uint32_t count)
{
    uint32_t used = zeta_ring_count(ring);
    uint32_t at = place(ring, used);
    uint32_t first = count <= ring->capacity - at ? count : ring->capacity - at;

    memcpy(ring->records + (size_t)at * ring->record_bytes, records,
           (size_t)first * ring->record_bytes);
    memcpy(ring->records, records + (size_t)first * ring->record_bytes,
           (size_t)(count - first) * ring->record_bytes);
    for (uint32_t i = 0; i < count; i++)
        ring->breaks[place(ring, used + i)] = (struct zeta_break){0};
    ring->breaks[at] = ring->pending;
    ring->pending = (struct zeta_break){0};
    set_count(ring, used + count);
}

void zeta_ring_push(struct zeta_ring *ring, const void *records, uint32_t count)
{
    const uint8_t *from = records;

    while (count > 0) {
        uint32_t chunk = count < ring->capacity ? count : ring->capacity;
        uint32_t room = ring->capacity - zeta_ring_count(ring);

        if (chunk > room)
            drop_oldest(ring, chunk - room);
        append(ring, from, chunk);
        from += (size_t)chunk * ring->record_bytes;
        count -= chunk;
    }
}

struct zeta_break zeta_ring_first_break(const struct zeta_ring *ring)
{
    if (zeta_ring_count(ring) == 0)
        return (struct zeta_break){0};
    return ring->breaks[ring->head];
}

uint32_t zeta_ring_run(const struct zeta_ring *ring, uint32_t limit)
{
    uint32_t count = zeta_ring_count(ring);
    uint32_t run = 1;

    if (limit < count)
        count = limit;
    if (count == 0)
        return 0;
    while (run < count && ring->breaks[place(ring, run)].reason == 0)
        run++;
    return run;
}

const void *zeta_ring_record(const struct zeta_ring *ring, uint32_t index)
{
    return ring->records + (size_t)place(ring, index) * ring->record_bytes;
}

void zeta_ring_pop(struct zeta_ring *ring, void *target, uint32_t count)
{
    uint32_t used = zeta_ring_count(ring);
    uint32_t first;

    if (count > used)
        count = used;
    first = count <= ring->capacity - ring->head ? count : ring->capacity - ring->head;
    memcpy(target, zeta_ring_record(ring, 0), (size_t)first * ring->record_bytes);
    memcpy((uint8_t *)target + (size_t)first * ring->record_bytes, ring->records,
           (size_t)(count - first) * ring->record_bytes);
    ring->head = place(ring, count);
    set_count(ring, used - count);
}
