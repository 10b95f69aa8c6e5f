#include "plugins/replay/recording/buffer.h"

#include <stdlib.h>
#include <string.h>

#include <zeta/clock.h>

uint64_t zeta_replay_now(void)
{
    return zeta_monotonic_ns();
}

bool zeta_replay_reel_init(struct zeta_replay_reel *reel, struct zeta_replay_feed *feed,
                           const struct zeta_replay_set *set, uint32_t capacity)
{
    reel->feed = feed;
    reel->record_bytes = set->record_bytes;
    reel->capacity = capacity;
    reel->clock = &set->clock;
    reel->bytes = malloc((size_t)capacity * set->record_bytes);
    reel->due_ns = calloc(capacity, sizeof(*reel->due_ns));
    reel->gaps = calloc(capacity, sizeof(*reel->gaps));
    if (reel->bytes && reel->due_ns && reel->gaps)
        return true;
    zeta_replay_reel_finish(reel);
    return false;
}

void zeta_replay_reel_finish(struct zeta_replay_reel *reel)
{
    zeta_replay_feed_close(reel->feed);
    free(reel->bytes);
    free(reel->due_ns);
    free(reel->gaps);
    reel->feed = NULL;
    reel->bytes = NULL;
    reel->due_ns = NULL;
    reel->gaps = NULL;
}

/* ---- time --------------------------------------------------------------------------------- */

/*
 * Ticks from one clock value to a later one. What lies a little before counts as the same time: the
 * tiles of a device are not sampled at the very same tick.
 */
static uint64_t advance(const struct zeta_replay_reel *reel, uint64_t from, uint64_t to)
{
    const uint64_t mask = zeta_replay_field_mask(reel->clock);
    const uint64_t ticks = (to - from) & mask;

    return ticks > mask - mask / 16 ? 0 : ticks;
}

static uint64_t ticks_to_ns(uint64_t ticks, uint64_t hz)
{
    return ticks / hz * 1000000000u + ticks % hz * 1000000000u / hz;
}

/* How long after the first record of the stream a record was written. */
static uint64_t due_of(struct zeta_replay_reel *reel, const unsigned char *record)
{
    uint64_t time;

    if (!reel->is_paced)
        return 0;
    if (!reel->clock->present || reel->hz == 0)
        return reel->records * reel->period_ns;
    time = zeta_replay_field_read(reel->clock, record);
    if (!reel->has_time) {
        /* The first record may be one of another tile. */
        const unsigned char *first = zeta_replay_feed_first(reel->feed);

        reel->time = first ? zeta_replay_field_read(reel->clock, first) : time;
        reel->has_time = true;
    }
    reel->total_ticks += advance(reel, reel->time, time);
    reel->time = time;
    return ticks_to_ns(reel->total_ticks, reel->hz);
}

/* Time that has passed for the reel; everything is due at the pace "fast". */
static uint64_t elapsed(const struct zeta_replay_reel *reel)
{
    uint64_t start, stop, now;

    if (!reel->is_paced)
        return UINT64_MAX;
    start = atomic_load(&reel->start_ns);
    stop = atomic_load(&reel->stop_ns);
    now = stop != 0 ? stop : zeta_replay_now();
    return start == 0 || now < start ? 0 : now - start;
}

/* ---- filling ------------------------------------------------------------------------------ */

static void push(struct zeta_replay_reel *reel, const unsigned char *record)
{
    const uint64_t tail = atomic_load_explicit(&reel->tail, memory_order_relaxed);
    const uint64_t at = tail % reel->capacity;

    memcpy(reel->bytes + at * reel->record_bytes, record, reel->record_bytes);
    reel->gaps[at] = reel->gap;
    reel->gap = (struct zeta_replay_gap){ZETA_PLUGIN_BREAK_NONE, 0};
    atomic_store_explicit(&reel->due_ns[at], due_of(reel, record), memory_order_relaxed);
    reel->records++;
    atomic_store_explicit(&reel->tail, tail + 1, memory_order_release);
}

static void fill(struct zeta_replay_reel *reel)
{
    struct zeta_replay_item item;

    while (!atomic_load(&reel->at_end) && atomic_load(&reel->stop_ns) == 0 &&
           atomic_load(&reel->tail) - atomic_load(&reel->head) < reel->capacity) {
        zeta_replay_feed_next(reel->feed, &item);
        if (item.kind == ZETA_REPLAY_ITEM_END) {
            atomic_store(&reel->at_end, true);
        } else if (item.kind == ZETA_REPLAY_ITEM_BREAK) {
            reel->gap.reason = item.reason;
            reel->gap.lost += item.lost;
        } else {
            push(reel, item.record);
        }
    }
}

void zeta_replay_reel_start(struct zeta_replay_reel *reel)
{
    const uint64_t start = atomic_load(&reel->start_ns);
    const uint64_t stop = atomic_load(&reel->stop_ns);
    const uint64_t now = zeta_replay_now();

    /* What was not seen while it stood still goes on where it stopped. */
    atomic_store(&reel->start_ns, start == 0 ? now : start + (stop != 0 ? now - stop : 0));
    atomic_store(&reel->stop_ns, 0);
    fill(reel);
}

void zeta_replay_reel_stop(struct zeta_replay_reel *reel)
{
    uint64_t running = 0;

    (void)atomic_compare_exchange_strong(&reel->stop_ns, &running, zeta_replay_now());
}

/* ---- reading ------------------------------------------------------------------------------ */

/* Records from head on that are due and have nothing missing before them, but for the first. */
static uint64_t run_length(const struct zeta_replay_reel *reel, uint64_t head, uint64_t limit)
{
    const uint64_t passed = elapsed(reel);
    const uint64_t waiting = atomic_load(&reel->tail) - head;
    uint64_t count = 0;

    if (limit > waiting)
        limit = waiting;
    while (count < limit) {
        const uint64_t at = (head + count) % reel->capacity;

        if (atomic_load_explicit(&reel->due_ns[at], memory_order_relaxed) > passed ||
            (count > 0 && reel->gaps[at].reason != ZETA_PLUGIN_BREAK_NONE))
            break;
        count++;
    }
    return count;
}

static void copy_out(const struct zeta_replay_reel *reel, uint64_t head, uint64_t count,
                     unsigned char *target)
{
    const uint64_t at = head % reel->capacity;
    const uint64_t first = reel->capacity - at < count ? reel->capacity - at : count;

    memcpy(target, reel->bytes + at * reel->record_bytes, (size_t)(first * reel->record_bytes));
    memcpy(target + first * reel->record_bytes, reel->bytes,
           (size_t)((count - first) * reel->record_bytes));
}

void zeta_replay_reel_read(struct zeta_replay_reel *reel, void *buffer, uint64_t capacity_bytes,
                           struct zeta_plugin_read *out_read)
{
    const uint64_t head = atomic_load(&reel->head);
    const struct zeta_replay_gap *gap = &reel->gaps[head % reel->capacity];
    const uint64_t count = run_length(reel, head, capacity_bytes / reel->record_bytes);

    out_read->bytes = count * reel->record_bytes;
    out_read->broken = 0;
    out_read->lost = 0;
    out_read->reason = ZETA_PLUGIN_BREAK_NONE;
    if (count == 0)
        return;
    if (gap->reason != ZETA_PLUGIN_BREAK_NONE) {
        out_read->broken = 1;
        out_read->lost = gap->lost;
        out_read->reason = gap->reason;
    }
    copy_out(reel, head, count, buffer);
    atomic_store_explicit(&reel->head, head + count, memory_order_release);
    fill(reel);
}

/* Records of [head, tail) that are due; due times never fall, so halving finds the border. */
static uint64_t count_due(const struct zeta_replay_reel *reel, uint64_t head, uint64_t tail,
                          uint64_t passed)
{
    uint64_t low = head, high = tail;

    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        const uint64_t due =
            atomic_load_explicit(&reel->due_ns[middle % reel->capacity], memory_order_relaxed);

        if (due <= passed)
            low = middle + 1;
        else
            high = middle;
    }
    return low - head;
}

uint64_t zeta_replay_reel_pending(const struct zeta_replay_reel *reel)
{
    uint64_t head, count;

    /* A read between makes room that is filled at once; then the count may be of both times. */
    do {
        head = atomic_load_explicit(&reel->head, memory_order_acquire);
        const uint64_t tail = atomic_load_explicit(&reel->tail, memory_order_acquire);

        count = count_due(reel, head, tail, elapsed(reel));
        atomic_thread_fence(memory_order_acquire);
    } while (atomic_load_explicit(&reel->head, memory_order_relaxed) != head);
    return count;
}

bool zeta_replay_reel_ended(const struct zeta_replay_reel *reel)
{
    const uint64_t tail = atomic_load(&reel->tail);

    if (!atomic_load(&reel->at_end))
        return false;
    if (tail == 0)
        return true;
    return atomic_load_explicit(&reel->due_ns[(tail - 1) % reel->capacity], memory_order_relaxed) <=
           elapsed(reel);
}
