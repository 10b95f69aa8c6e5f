#include <zeta/record_ring.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <zeta/clock.h>
#include <zeta/notify.h>
#include <zeta/thread.h>

/* Records copied with the lock held: some microseconds. */
#define CHUNK_RECORDS 256u

#define CAPACITY_MIN 64u

struct zeta_record_ring {
    uint32_t capacity; /**< in records, at least 2 */
    uint32_t record_bytes;
    uint8_t *records;
    uint32_t *breaks; /**< per record: reason and number of records lost before it, 0: none */
    uint64_t notify_records; /**< raises the level at so many pending, 0: never */

    pthread_mutex_t lock;   /**< held for at most a chunk of copying */
    _Atomic uint64_t head;  /**< oldest record; positions count up for ever */
    _Atomic uint64_t tail;  /**< behind the newest */
    uint32_t break_count;   /**< records in the ring that have a break before them */
    uint32_t pending_break; /**< for the next record */
    struct zeta_notify notify;
};

/* A break: reason in the upper bits, number of lost records below, which sticks at its maximum. */
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

uint32_t zeta_record_ring_choose(uint64_t wanted, uint64_t notify, uint64_t most)
{
    uint64_t capacity = wanted;

    if (capacity < notify)
        capacity = notify;
    if (capacity < CAPACITY_MIN)
        capacity = CAPACITY_MIN;
    if (capacity > most)
        capacity = most;
    if (capacity < 2)
        capacity = 2;
    return capacity < UINT32_MAX ? (uint32_t)capacity : UINT32_MAX;
}

struct zeta_record_ring *zeta_record_ring_create(uint32_t capacity, uint32_t record_bytes,
                                                 uint64_t notify_records)
{
    struct zeta_record_ring *ring = calloc(1, sizeof(*ring));
    void *records;

    if (!ring)
        return NULL;
    ring->capacity = capacity;
    ring->record_bytes = record_bytes;
    ring->notify_records = notify_records;
    ring->notify.descriptor = -1;
    /* Pages come with use, so a large ring that is read in time stays small. */
    records = mmap(NULL, (size_t)capacity * record_bytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (records == MAP_FAILED)
        goto free_ring;
    ring->breaks = calloc(capacity, sizeof(*ring->breaks));
    if (!ring->breaks || zeta_notify_init(&ring->notify) != 0)
        goto unmap;
    ring->records = records;
    (void)pthread_mutex_init(&ring->lock, NULL);
    return ring;

unmap:
    free(ring->breaks);
    (void)munmap(records, (size_t)capacity * record_bytes);
free_ring:
    free(ring);
    return NULL;
}

void zeta_record_ring_destroy(struct zeta_record_ring *ring)
{
    if (!ring)
        return;
    zeta_notify_finish(&ring->notify);
    (void)pthread_mutex_destroy(&ring->lock);
    (void)munmap(ring->records, (size_t)ring->capacity * ring->record_bytes);
    free(ring->breaks);
    free(ring);
}

uint32_t zeta_record_ring_capacity(const struct zeta_record_ring *ring)
{
    return ring->capacity;
}

int32_t zeta_record_ring_descriptor(const struct zeta_record_ring *ring)
{
    return ring->notify.descriptor;
}

uint64_t zeta_record_ring_pending(const struct zeta_record_ring *ring)
{
    /* Head first: it never passes the tail that is read after it. */
    uint64_t head = atomic_load(&ring->head);

    return atomic_load(&ring->tail) - head;
}

static void update_level_locked(struct zeta_record_ring *ring)
{
    if (ring->notify_records != 0)
        zeta_notify_set(&ring->notify, zeta_record_ring_pending(ring) >= ring->notify_records);
}

/* Gives up the oldest record; its break and itself move in front of the next one. */
static void drop_oldest_locked(struct zeta_record_ring *ring)
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

uint64_t zeta_record_ring_push(struct zeta_record_ring *ring, const void *records, uint32_t count)
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
        memcpy(ring->records + slot * ring->record_bytes,
               (const uint8_t *)records + (size_t)i * ring->record_bytes, ring->record_bytes);
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

void zeta_record_ring_lose(struct zeta_record_ring *ring, uint32_t reason, uint64_t count)
{
    pthread_mutex_lock(&ring->lock);
    ring->pending_break = make_break(reason, (uint64_t)lost_of(ring->pending_break) + count);
    pthread_mutex_unlock(&ring->lock);
}

/*
 * Copies records that are one behind the other in memory and have no break between them; false when
 * there is none, or a break precedes it and data was read.
 */
static bool read_span_locked(struct zeta_record_ring *ring, uint8_t *target, uint64_t room,
                             struct zeta_plugin_read *out_read)
{
    const uint64_t head = atomic_load(&ring->head);
    const uint64_t slot = head % ring->capacity;
    uint64_t count = atomic_load(&ring->tail) - head;

    if (count > ring->capacity - slot)
        count = ring->capacity - slot;
    if (count > room)
        count = room;
    if (count > CHUNK_RECORDS)
        count = CHUNK_RECORDS;
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
    memcpy(target, ring->records + slot * ring->record_bytes, (size_t)count * ring->record_bytes);
    atomic_store(&ring->head, head + count);
    out_read->bytes += count * ring->record_bytes;
    return true;
}

void zeta_record_ring_read(struct zeta_record_ring *ring, void *buffer, uint64_t capacity_bytes,
                           struct zeta_plugin_read *out_read)
{
    bool more = true;

    out_read->bytes = 0;
    out_read->lost = 0;
    out_read->broken = 0;
    out_read->reason = ZETA_PLUGIN_BREAK_NONE;
    while (more) {
        const uint64_t room = (capacity_bytes - out_read->bytes) / ring->record_bytes;

        /* Taken for each span, so that the writer is never held up for long. */
        pthread_mutex_lock(&ring->lock);
        more = read_span_locked(ring, (uint8_t *)buffer + out_read->bytes, room, out_read);
        if (!more)
            update_level_locked(ring);
        pthread_mutex_unlock(&ring->lock);
    }
}

/* ---- the thread that fills it --------------------------------------------------------------- */

struct zeta_record_pump {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    uint64_t period_ns;
    bool is_asked, is_ending; /**< guarded by the lock */
    void (*fetch)(void *context);
    void *context;
};

static void *run_pump(void *argument)
{
    struct zeta_record_pump *pump = argument;
    uint64_t next_ns = zeta_monotonic_ns();
    bool is_last;

    (void)pthread_mutex_lock(&pump->lock);
    do {
        is_last = pump->is_ending;
        pump->is_asked = false;
        (void)pthread_mutex_unlock(&pump->lock);
        pump->fetch(pump->context);
        /* Whoever is late does not catch up. */
        next_ns += pump->period_ns;
        if (next_ns < zeta_monotonic_ns())
            next_ns = zeta_monotonic_ns();
        const struct timespec until = zeta_clock_timespec(next_ns);

        (void)pthread_mutex_lock(&pump->lock);
        while (!pump->is_asked && !pump->is_ending &&
               pthread_cond_timedwait(&pump->changed, &pump->lock, &until) == 0)
            continue;
    } while (!is_last);
    (void)pthread_mutex_unlock(&pump->lock);
    return NULL;
}

struct zeta_record_pump *zeta_record_pump_create(uint64_t period_ns, void (*fetch)(void *context),
                                                 void *context, const char *name)
{
    struct zeta_record_pump *pump = calloc(1, sizeof(*pump));

    if (!pump)
        return NULL;
    pump->period_ns = period_ns;
    pump->fetch = fetch;
    pump->context = context;
    (void)pthread_mutex_init(&pump->lock, NULL);
    zeta_condition_init(&pump->changed);
    if (zeta_thread_start(&pump->thread, run_pump, pump, name) == 0)
        return pump;
    (void)pthread_cond_destroy(&pump->changed);
    (void)pthread_mutex_destroy(&pump->lock);
    free(pump);
    return NULL;
}

void zeta_record_pump_wake(struct zeta_record_pump *pump)
{
    (void)pthread_mutex_lock(&pump->lock);
    pump->is_asked = true;
    (void)pthread_cond_signal(&pump->changed);
    (void)pthread_mutex_unlock(&pump->lock);
}

void zeta_record_pump_destroy(struct zeta_record_pump *pump)
{
    if (!pump)
        return;
    (void)pthread_mutex_lock(&pump->lock);
    pump->is_ending = true;
    (void)pthread_cond_signal(&pump->changed);
    (void)pthread_mutex_unlock(&pump->lock);
    (void)pthread_join(pump->thread, NULL);
    (void)pthread_cond_destroy(&pump->changed);
    (void)pthread_mutex_destroy(&pump->lock);
    free(pump);
}
