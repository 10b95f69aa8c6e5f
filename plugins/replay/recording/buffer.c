#include "plugins/replay/recording/buffer.h"

#include <stdlib.h>
#include <string.h>

#include <zeta/clock.h>

bool zeta_replay_buffer_init(struct zeta_replay_buffer *buffer, struct zeta_replay_source *source,
                             const struct zeta_replay_set *set, uint32_t capacity)
{
    buffer->source = source;
    buffer->record_bytes = set->record_bytes;
    buffer->capacity = capacity;
    buffer->clock = &set->clock;
    buffer->bytes = malloc((size_t)capacity * set->record_bytes);
    buffer->due_ns = calloc(capacity, sizeof(*buffer->due_ns));
    buffer->gaps = calloc(capacity, sizeof(*buffer->gaps));
    if (buffer->bytes && buffer->due_ns && buffer->gaps)
        return true;
    zeta_replay_buffer_finish(buffer);
    return false;
}

void zeta_replay_buffer_finish(struct zeta_replay_buffer *buffer)
{
    zeta_replay_source_close(buffer->source);
    free(buffer->bytes);
    free(buffer->due_ns);
    free(buffer->gaps);
}

/* ---- time ----------------------------------------------------------------------------------- */

/* How long after the first record of the stream record number n was written. */
static uint64_t due_of(struct zeta_replay_buffer *buffer, uint64_t n, const unsigned char *record)
{
    const uint64_t mask = zeta_replay_field_mask(buffer->clock);
    const uint64_t hz = buffer->hz;
    uint64_t time, ticks;

    if (!buffer->is_paced)
        return 0;
    if (!buffer->clock->present || hz == 0)
        return n * buffer->period_ns;
    time = zeta_replay_field_read(buffer->clock, record);
    if (!buffer->has_time) {
        /* The first record may be one of another tile. */
        const unsigned char *first = zeta_replay_source_first(buffer->source);

        buffer->time = first ? zeta_replay_field_read(buffer->clock, first) : time;
        buffer->has_time = true;
    }
    /* A little earlier counts as the same time: tiles are not sampled at the very same tick. */
    ticks = (time - buffer->time) & mask;
    if (ticks <= mask - mask / 16)
        buffer->total_ticks += ticks;
    buffer->time = time;
    return buffer->total_ticks / hz * 1000000000u + buffer->total_ticks % hz * 1000000000u / hz;
}

/* Nanoseconds since the start, without stops; everything is due at the pace "fast". */
static uint64_t elapsed(const struct zeta_replay_buffer *buffer)
{
    uint64_t start, stop, now;

    if (!buffer->is_paced)
        return UINT64_MAX;
    start = atomic_load(&buffer->start_ns);
    stop = atomic_load(&buffer->stop_ns);
    now = stop != 0 ? stop : zeta_monotonic_ns();
    return start == 0 || now < start ? 0 : now - start;
}

/* ---- filling -------------------------------------------------------------------------------- */

static void fill(struct zeta_replay_buffer *buffer)
{
    while (!atomic_load(&buffer->at_end) && atomic_load(&buffer->stop_ns) == 0 &&
           atomic_load(&buffer->tail) - atomic_load(&buffer->head) < buffer->capacity) {
        const uint64_t tail = atomic_load_explicit(&buffer->tail, memory_order_relaxed);
        const uint64_t at = tail % buffer->capacity;
        struct zeta_replay_gap gap;
        const unsigned char *record = zeta_replay_source_next(buffer->source, &gap);

        if (!record) {
            atomic_store(&buffer->at_end, true);
            return;
        }
        memcpy(buffer->bytes + at * buffer->record_bytes, record, buffer->record_bytes);
        buffer->gaps[at] = gap;
        atomic_store_explicit(&buffer->due_ns[at], due_of(buffer, tail, record),
                              memory_order_relaxed);
        atomic_store_explicit(&buffer->tail, tail + 1, memory_order_release);
    }
}

void zeta_replay_buffer_start(struct zeta_replay_buffer *buffer)
{
    const uint64_t start = atomic_load(&buffer->start_ns);
    const uint64_t stop = atomic_load(&buffer->stop_ns);
    const uint64_t now = zeta_monotonic_ns();

    /* The clock was stopped until this start: what was not due then is due later by as much. */
    atomic_store(&buffer->start_ns, start == 0 ? now : start + (stop != 0 ? now - stop : 0));
    atomic_store(&buffer->stop_ns, 0);
    fill(buffer);
}

void zeta_replay_buffer_stop(struct zeta_replay_buffer *buffer)
{
    uint64_t running = 0;

    (void)atomic_compare_exchange_strong(&buffer->stop_ns, &running, zeta_monotonic_ns());
}

/* ---- reading -------------------------------------------------------------------------------- */

/* Number of records from head on that one read may give: all are due, and only the first may
 * have a gap before it. */
static uint64_t run_length(const struct zeta_replay_buffer *buffer, uint64_t head, uint64_t limit)
{
    const uint64_t passed = elapsed(buffer);
    const uint64_t waiting = atomic_load(&buffer->tail) - head;
    uint64_t count = 0;

    if (limit > waiting)
        limit = waiting;
    while (count < limit) {
        const uint64_t at = (head + count) % buffer->capacity;

        if (atomic_load_explicit(&buffer->due_ns[at], memory_order_relaxed) > passed ||
            (count > 0 && buffer->gaps[at].reason != ZETA_PLUGIN_BREAK_NONE))
            break;
        count++;
    }
    return count;
}

void zeta_replay_buffer_read(struct zeta_replay_buffer *buffer, void *target,
                             uint64_t capacity_bytes, struct zeta_plugin_read *out_read)
{
    const uint64_t head = atomic_load(&buffer->head);
    const uint64_t at = head % buffer->capacity;
    const struct zeta_replay_gap *gap = &buffer->gaps[at];
    const uint64_t count = run_length(buffer, head, capacity_bytes / buffer->record_bytes);
    const uint64_t first = buffer->capacity - at < count ? buffer->capacity - at : count;

    out_read->bytes = count * buffer->record_bytes;
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
    memcpy(target, buffer->bytes + at * buffer->record_bytes,
           (size_t)(first * buffer->record_bytes));
    memcpy((char *)target + first * buffer->record_bytes, buffer->bytes,
           (size_t)((count - first) * buffer->record_bytes));
    atomic_store_explicit(&buffer->head, head + count, memory_order_release);
    fill(buffer);
}

uint64_t zeta_replay_buffer_pending(const struct zeta_replay_buffer *buffer)
{
    uint64_t head, low, high;

    /* A read in between moves head and fills the space: count again then. */
    do {
        const uint64_t passed = elapsed(buffer);

        low = head = atomic_load_explicit(&buffer->head, memory_order_acquire);
        high = atomic_load_explicit(&buffer->tail, memory_order_acquire);
        /* Due times never fall, so halving finds the border. */
        while (low < high) {
            const uint64_t middle = low + (high - low) / 2;

            if (atomic_load_explicit(&buffer->due_ns[middle % buffer->capacity],
                                     memory_order_relaxed) <= passed)
                low = middle + 1;
            else
                high = middle;
        }
        atomic_thread_fence(memory_order_acquire);
    } while (atomic_load_explicit(&buffer->head, memory_order_relaxed) != head);
    return low - head;
}

bool zeta_replay_buffer_ended(const struct zeta_replay_buffer *buffer)
{
    const uint64_t tail = atomic_load(&buffer->tail);

    if (!atomic_load(&buffer->at_end))
        return false;
    return tail == 0 || atomic_load_explicit(&buffer->due_ns[(tail - 1) % buffer->capacity],
                                             memory_order_relaxed) <= elapsed(buffer);
}
