#include "ring.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Reports copied with the lock held: at most 64 KiB, some microseconds. */
#define CHUNK_REPORTS 256u

#define CAPACITY_MIN 64u

/* A break: reason in the upper bits, number of lost reports below, which sticks at its maximum. */
#define LOST_BITS 30u
#define LOST_MAX ((1u << LOST_BITS) - 1)

static uint32_t make_break(uint32_t reason, uint64_t lost)
{
    return reason << LOST_BITS | (lost < LOST_MAX ? (uint32_t)lost : LOST_MAX);
}

static uint32_t lost_of(uint32_t interruption)
{
    return interruption & LOST_MAX;
}

uint32_t zeta_vgpu_ring_capacity(uint64_t wanted, uint64_t notify, uint32_t most,
                                 uint64_t full_ring)
{
    uint64_t capacity = wanted;

    if (capacity < notify)
        capacity = notify;
    if (capacity < CAPACITY_MIN)
        capacity = CAPACITY_MIN;
    if (capacity > most)
        capacity = most;
    if (full_ring != 0 && capacity > full_ring)
        capacity = full_ring < 2 ? 2 : full_ring;
    return (uint32_t)capacity;
}

bool zeta_vgpu_ring_init(struct zeta_vgpu_ring *ring, uint32_t capacity, uint32_t report_bytes,
                         uint64_t notify_records)
{
    void *reports;

    memset(ring, 0, sizeof(*ring));
    ring->notify.descriptor = -1;
    /* Pages come with use, so a large ring that is read in time stays small. */
    reports = mmap(NULL, (size_t)capacity * report_bytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (reports == MAP_FAILED)
        return false;
    ring->breaks = calloc(capacity, sizeof(*ring->breaks));
    if (!ring->breaks || zeta_notify_init(&ring->notify) != 0) {
        free(ring->breaks);
        munmap(reports, (size_t)capacity * report_bytes);
        return false;
    }
    ring->reports = reports;
    ring->capacity = capacity;
    ring->report_bytes = report_bytes;
    ring->notify_records = notify_records;
    pthread_mutex_init(&ring->lock, NULL);
    return true;
}

void zeta_vgpu_ring_finish(struct zeta_vgpu_ring *ring)
{
    if (!ring->reports)
        return;
    zeta_notify_finish(&ring->notify);
    pthread_mutex_destroy(&ring->lock);
    munmap(ring->reports, (size_t)ring->capacity * ring->report_bytes);
    free(ring->breaks);
    ring->reports = NULL;
}

uint64_t zeta_vgpu_ring_pending(const struct zeta_vgpu_ring *ring)
{
    /* Head first: it never passes the tail that is read after it. */
    uint64_t head = atomic_load(&ring->head);

    return atomic_load(&ring->tail) - head;
}

static void update_level_locked(struct zeta_vgpu_ring *ring)
{
    if (ring->notify_records != 0)
        zeta_notify_set(&ring->notify, zeta_vgpu_ring_pending(ring) >= ring->notify_records);
}

/* Gives up the oldest report; its break and itself move in front of the next one. */
static void drop_oldest_locked(struct zeta_vgpu_ring *ring)
{
    const uint64_t head = atomic_load(&ring->head);
    uint32_t *oldest = &ring->breaks[head % ring->capacity];
    uint32_t *next = &ring->breaks[(head + 1) % ring->capacity];

    if (*next == 0)
        ring->break_count++;
    if (*oldest != 0)
        ring->break_count--;
    *next = make_break(ZETA_PLUGIN_BREAK_OVERFLOW, (uint64_t)lost_of(*oldest) + lost_of(*next) + 1);
    *oldest = 0;
    atomic_store(&ring->head, head + 1);
}

uint64_t zeta_vgpu_ring_push(struct zeta_vgpu_ring *ring, const void *reports, uint32_t count)
{
    uint64_t dropped = 0;

    pthread_mutex_lock(&ring->lock);
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);
        const uint64_t slot = tail % ring->capacity;

        if (tail - atomic_load(&ring->head) == ring->capacity) {
            drop_oldest_locked(ring);
            dropped++;
        }
        memcpy(ring->reports + slot * ring->report_bytes,
               (const uint8_t *)reports + (size_t)i * ring->report_bytes, ring->report_bytes);
        ring->breaks[slot] = ring->pending_break;
        if (ring->pending_break != 0)
            ring->break_count++;
        ring->pending_break = 0;
        atomic_store_explicit(&ring->tail, tail + 1, memory_order_release);
    }
    update_level_locked(ring);
    pthread_mutex_unlock(&ring->lock);
    return dropped;
}

void zeta_vgpu_ring_lose(struct zeta_vgpu_ring *ring, uint32_t reason, uint64_t count)
{
    pthread_mutex_lock(&ring->lock);
    ring->pending_break = make_break(reason, (uint64_t)lost_of(ring->pending_break) + count);
    pthread_mutex_unlock(&ring->lock);
}

/*
 * Copies reports that are one behind the other in memory and have no break between them; false when
 * there is none, or a break precedes it and data was read.
 */
static bool read_span_locked(struct zeta_vgpu_ring *ring, uint8_t *target, uint64_t room,
                             struct zeta_plugin_read *out_read)
{
    const uint64_t head = atomic_load(&ring->head);
    const uint64_t slot = head % ring->capacity;
    uint64_t count = atomic_load(&ring->tail) - head;

    if (count > ring->capacity - slot)
        count = ring->capacity - slot;
    if (count > room)
        count = room;
    if (count > CHUNK_REPORTS)
        count = CHUNK_REPORTS;
    for (uint64_t i = 1; ring->break_count > 0 && i < count; i++) {
        if (ring->breaks[slot + i] != 0)
            count = i;
    }
    if (count == 0 || (ring->breaks[slot] != 0 && out_read->bytes > 0))
        return false;
    if (ring->breaks[slot] != 0) {
        out_read->broken = 1;
        out_read->lost = lost_of(ring->breaks[slot]);
        out_read->reason = ring->breaks[slot] >> LOST_BITS;
        ring->breaks[slot] = 0;
        ring->break_count--;
    }
    memcpy(target, ring->reports + slot * ring->report_bytes, (size_t)count * ring->report_bytes);
    atomic_store(&ring->head, head + count);
    out_read->bytes += count * ring->report_bytes;
    return true;
}

void zeta_vgpu_ring_read(struct zeta_vgpu_ring *ring, void *buffer, uint64_t capacity_bytes,
                         struct zeta_plugin_read *out_read)
{
    bool more = true;

    out_read->bytes = 0;
    out_read->lost = 0;
    out_read->broken = 0;
    out_read->reason = ZETA_PLUGIN_BREAK_NONE;
    while (more) {
        const uint64_t room = (capacity_bytes - out_read->bytes) / ring->report_bytes;

        /* Taken for each span, so that the writer is never held up for long. */
        pthread_mutex_lock(&ring->lock);
        more = read_span_locked(ring, (uint8_t *)buffer + out_read->bytes, room, out_read);
        if (!more)
            update_level_locked(ring);
        pthread_mutex_unlock(&ring->lock);
    }
}
