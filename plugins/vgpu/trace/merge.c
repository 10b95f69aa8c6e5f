#include "merge.h"

#include <string.h>
#include <unistd.h>

#include <zeta/thread.h>

#include "plugins/vgpu/device/vgpu.h"

/* How long others wait for a process that stopped in the middle of an event, at most. */
#define PATIENCE_NS UINT64_C(500000000)

/* How long such a process writes an event before the merger checks that it is alive. */
#define ALIVE_NS UINT64_C(2000000)

/* Events taken from a ring before the room is given back to its writer. */
#define RELEASE_EVENTS 1024u

static bool is_virtual(const struct zeta_vgpu_merge *merge)
{
    return merge->vgpu->description.clock == ZETA_VGPU_CLOCK_VIRTUAL;
}

/* Notes that events of a place were lost, before the next one that is put. */
static void lose(struct zeta_vgpu_merge *merge, struct zeta_vgpu_merge_place *place, uint64_t count)
{
    if (count == 0 || !merge->keeping)
        return;
    zeta_vgpu_merge_flush(merge);
    zeta_vgpu_ring_lose(&merge->ring, count);
    place->counts.written += count;
    place->counts.lost += count;
}

static void put(struct zeta_vgpu_merge *merge, struct zeta_vgpu_merge_place *place,
                const struct zeta_vgpu_event *event)
{
    if (merge->batch_count == ZETA_VGPU_MERGE_BATCH)
        zeta_vgpu_merge_flush(merge);
    merge->batch[merge->batch_count++] = *event;
    merge->batch_place = place;
    place->counts.written++;
}

void zeta_vgpu_merge_flush(struct zeta_vgpu_merge *merge)
{
    /* When the ring is full its oldest go; they are on the account of who needed the room. */
    if (merge->batch_count > 0)
        merge->batch_place->counts.lost += zeta_vgpu_ring_push_many(
            &merge->ring, (const uint8_t *)merge->batch, merge->batch_count);
    merge->batch_count = 0;
    for (uint32_t i = 0; i < merge->place_count; i++) {
        struct zeta_vgpu_merge_place *place = &merge->places[i];

        place->counts.waiting = zeta_vgpu_ring_pending(&merge->ring);
        place->counts.capacity = merge->ring.capacity;
        zeta_vgpu_instance_count_events(merge->instance, place->tile, place->source,
                                        &place->counts);
        place->counts.written = 0;
        place->counts.lost = 0;
    }
}

void zeta_vgpu_merge_put(struct zeta_vgpu_merge *merge, uint32_t tile,
                         enum zeta_vgpu_event_type type, uint64_t ticks)
{
    const struct zeta_vgpu_event event = {.type = (uint16_t)type,
                                          .tile = (uint8_t)tile,
                                          .subslice = 255,
                                          .ticks = ticks,
                                          .process = (uint32_t)getpid()};

    for (uint32_t i = 0; i < merge->place_count; i++) {
        if (merge->places[i].tile == tile) {
            put(merge, &merge->places[i], &event);
            return;
        }
    }
}

/* Lanes are in the order of places and slots, which decides when times are equal. */
static void add_lane(struct zeta_vgpu_merge *merge, uint32_t place, uint32_t slot)
{
    uint32_t at = merge->lane_count++;

    for (; at > 0; at--) {
        const struct zeta_vgpu_lane *before = &merge->lanes[at - 1];

        if (before->place < place || (before->place == place && before->slot < slot))
            break;
        merge->lanes[at] = *before;
    }
    merge->lanes[at] = (struct zeta_vgpu_lane){
        .ring = zeta_vgpu_trace_file_ring(&merge->file, place, slot),
        .place = place,
        .slot = slot,
    };
}

/* Rings whose writers appeared since last time. */
static void find_lanes(struct zeta_vgpu_merge *merge, uint32_t index)
{
    struct zeta_vgpu_merge_place *place = &merge->places[index];
    const uint64_t writers =
        zeta_vgpu_instance_trace_writers(merge->instance, place->tile, place->source);
    const uint32_t own = zeta_vgpu_instance_slot(merge->instance);

    for (uint32_t slot = 0; slot < ZETA_VGPU_SLOTS && (writers & ~place->lanes) != 0; slot++) {
        const uint64_t bit = UINT64_C(1) << slot;

        /* Virtual time is of one process. */
        if ((writers & ~place->lanes & bit) == 0 || (is_virtual(merge) && slot + 1 != own))
            continue;
        place->lanes |= bit;
        add_lane(merge, index, slot);
    }
}

static const struct zeta_vgpu_event *event_at(const struct zeta_vgpu_lane *lane, uint64_t position)
{
    return &lane->ring->events[position % ZETA_VGPU_TRACE_RING_EVENTS];
}

/* Reads how many events wait, and returns until when more can come that are older than now. */
static uint64_t poll_lane(struct zeta_vgpu_merge *merge, struct zeta_vgpu_lane *lane,
                          uint64_t now_ticks)
{
    /* In this order: an event that comes after the claim was seen as 0 is younger than now. */
    const bool claimed = atomic_load(&lane->ring->claim) != 0;
    const uint64_t tail = atomic_load(&lane->ring->tail);
    uint64_t now;

    if (tail - lane->head > ZETA_VGPU_TRACE_RING_EVENTS) {
        lane->damaged = true;
        lane->tail = lane->head;
        return now_ticks;
    }
    if (tail != lane->tail) {
        if (lane->tail == lane->head)
            lane->next_ticks = event_at(lane, lane->head)->ticks;
        lane->last_ticks = event_at(lane, tail - 1)->ticks;
        lane->tail = tail;
        lane->claim_ns = 0;
        lane->stalled = false;
    }
    if (!claimed) {
        lane->claim_ns = 0;
        lane->stalled = false;
        return now_ticks;
    }
    now = zeta_monotonic_ns();
    if (lane->claim_ns == 0)
        lane->claim_ns = now;
    if (!lane->stalled && now - lane->claim_ns > ALIVE_NS)
        lane->stalled = now - lane->claim_ns > PATIENCE_NS ||
                        !zeta_vgpu_instance_slot_alive(merge->instance, lane->slot);
    return lane->stalled || lane->last_ticks > now_ticks ? now_ticks : lane->last_ticks;
}

uint64_t zeta_vgpu_merge_poll(struct zeta_vgpu_merge *merge, uint64_t now_ticks)
{
    uint64_t until = is_virtual(merge) ? UINT64_MAX : now_ticks;

    for (uint32_t i = 0; i < merge->place_count; i++)
        find_lanes(merge, i);
    for (uint32_t i = 0; i < merge->lane_count; i++) {
        struct zeta_vgpu_lane *lane = &merge->lanes[i];
        const uint64_t limit = lane->damaged ? until : poll_lane(merge, lane, until);

        if (limit < until)
            until = limit;
    }
    return until;
}

bool zeta_vgpu_merge_is_behind(const struct zeta_vgpu_merge *merge)
{
    for (uint32_t i = 0; i < merge->lane_count; i++) {
        const struct zeta_vgpu_lane *lane = &merge->lanes[i];

        if (!lane->damaged &&
            atomic_load_explicit(&lane->ring->tail, memory_order_relaxed) - lane->head >
                ZETA_VGPU_TRACE_RING_EVENTS / 8)
            return true;
    }
    return false;
}

/* Types that a source has. */
static bool has_type(enum zeta_vgpu_source source, uint32_t type)
{
    if (source == ZETA_VGPU_SOURCE_WORK)
        return type >= ZETA_VGPU_EVENT_TYPE_KERNEL_BEGIN && type <= ZETA_VGPU_EVENT_TYPE_GROUP_END;
    return type >= ZETA_VGPU_EVENT_TYPE_BARRIER && type <= ZETA_VGPU_EVENT_TYPE_FAULT;
}

/* Losses up to a count of the writer, which may be cut to 32 bits and may be nonsense. */
static void lose_until(struct zeta_vgpu_merge *merge, struct zeta_vgpu_lane *lane, uint32_t lost)
{
    const uint32_t more = lost - (uint32_t)lane->lost;

    if (more == 0 || more > INT32_MAX)
        return;
    lane->lost += more;
    lose(merge, &merge->places[lane->place], more);
}

static bool lost_on_purpose(struct zeta_vgpu_merge *merge)
{
    const uint64_t every = merge->vgpu->description.faults.lost_reports;

    return every != 0 && ++merge->number % every == 0;
}

/* Takes the oldest event of a ring. */
static void take_one(struct zeta_vgpu_merge *merge, struct zeta_vgpu_lane *lane, uint64_t limit)
{
    struct zeta_vgpu_merge_place *place = &merge->places[lane->place];
    struct zeta_vgpu_event event = *event_at(lane, lane->head);

    lane->head++;
    if (lane->head != lane->tail)
        lane->next_ticks = event_at(lane, lane->head)->ticks;
    if (lane->head % RELEASE_EVENTS == 0)
        atomic_store_explicit(&lane->ring->head, lane->head, memory_order_release);
    lose_until(merge, lane, event.lost);
    if (!merge->keeping)
        return;
    /* Too late is one for which nobody could wait any longer. The rest is damage. */
    if (event.ticks < place->last_ticks || event.ticks > limit ||
        !has_type(place->source, event.type) || lost_on_purpose(merge)) {
        lose(merge, place, 1);
        return;
    }
    place->last_ticks = event.ticks;
    event.lost = 0;
    event.tile = (uint8_t)place->tile;
    put(merge, place, &event);
}

/* The ring with the oldest event among those within their limits, and when the next one is. */
static struct zeta_vgpu_lane *find_oldest(struct zeta_vgpu_merge *merge, const uint64_t *limits,
                                          bool inclusive, uint64_t *out_next_ticks)
{
    struct zeta_vgpu_lane *oldest = NULL;

    *out_next_ticks = UINT64_MAX;
    for (uint32_t i = 0; i < merge->lane_count; i++) {
        struct zeta_vgpu_lane *lane = &merge->lanes[i];
        const uint64_t limit = limits[merge->places[lane->place].tile];

        if (lane->head == lane->tail || lane->next_ticks > limit ||
            (!inclusive && lane->next_ticks == limit))
            continue;
        if (!oldest || lane->next_ticks < oldest->next_ticks) {
            *out_next_ticks = oldest ? oldest->next_ticks : UINT64_MAX;
            oldest = lane;
        } else if (lane->next_ticks < *out_next_ticks) {
            *out_next_ticks = lane->next_ticks;
        }
    }
    return oldest;
}

void zeta_vgpu_merge_take(struct zeta_vgpu_merge *merge, const uint64_t *limits, bool inclusive)
{
    struct zeta_vgpu_lane *lane;
    uint64_t next_ticks;

    while ((lane = find_oldest(merge, limits, inclusive, &next_ticks)) != NULL) {
        const uint64_t limit = limits[merge->places[lane->place].tile];

        do
            take_one(merge, lane, limit);
        while (lane->head != lane->tail && lane->next_ticks < next_ticks &&
               (lane->next_ticks < limit || (inclusive && lane->next_ticks == limit)));
        atomic_store_explicit(&lane->ring->head, lane->head, memory_order_release);
    }
}

void zeta_vgpu_merge_losses(struct zeta_vgpu_merge *merge)
{
    for (uint32_t i = 0; i < merge->lane_count; i++) {
        struct zeta_vgpu_lane *lane = &merge->lanes[i];

        if (!lane->damaged)
            lose_until(merge, lane, (uint32_t)atomic_load(&lane->ring->lost));
    }
    for (uint32_t i = 0; i < merge->place_count; i++) {
        struct zeta_vgpu_merge_place *place = &merge->places[i];
        const uint64_t missed =
            zeta_vgpu_instance_missed_events(merge->instance, place->tile, place->source);

        if (missed > place->missed)
            lose(merge, place, missed - place->missed);
        place->missed = missed;
    }
}
