/*
 * A ring of records with the places where their sequence is broken.
 *
 * When the ring is full the oldest records are dropped, and a break takes their place: before the
 * oldest record that is left. Not for use by two threads at a time, except zeta_ring_count().
 */
#ifndef ZETA_CORE_CAPTURE_RING_H
#define ZETA_CORE_CAPTURE_RING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** That records are missing before a record. */
struct zeta_break {
    uint32_t reason;       /**< ZETA_BREAK_*, 0: no break */
    uint64_t lost_records; /**< 0 if unknown */
};

struct zeta_ring {
    uint8_t *records;
    struct zeta_break *breaks; /**< break before the record at the same place */
    uint32_t record_bytes;
    uint32_t capacity; /**< in records, above 0 */
    uint32_t head;     /**< place of the oldest record */
    _Atomic uint32_t count;
    struct zeta_break pending; /**< before the record that comes next */
};

/** Makes a ring; NULL when memory is exhausted. Freed with zeta_ring_destroy(). */
struct zeta_ring *zeta_ring_create(uint32_t record_bytes, uint32_t capacity);

/** Frees a ring. NULL is allowed. */
void zeta_ring_destroy(struct zeta_ring *ring);

/** Records in the ring. Any thread. */
static inline uint32_t zeta_ring_count(const struct zeta_ring *ring)
{
    return atomic_load_explicit(&ring->count, memory_order_acquire);
}

/** Notes a break before the record that is pushed next; adds to one that is noted already. */
void zeta_ring_break(struct zeta_ring *ring, const struct zeta_break *gap);

/**
 * Adds records. What does not fit drops the oldest and leaves an OVERFLOW break with their number.
 *
 * @records  count records of the ring's size
 */
void zeta_ring_push(struct zeta_ring *ring, const void *records, uint32_t count);

/** The break before the oldest record; reason 0 if there is none or the ring is empty. */
struct zeta_break zeta_ring_first_break(const struct zeta_ring *ring);

/** Number of oldest records, at most limit, that no break separates from each other. */
uint32_t zeta_ring_run(const struct zeta_ring *ring, uint32_t limit);

/** Address of a record, 0 being the oldest; index is below the count. */
const void *zeta_ring_record(const struct zeta_ring *ring, uint32_t index);

/** Copies the oldest count records (at most all) to target and removes them. */
void zeta_ring_pop(struct zeta_ring *ring, void *target, uint32_t count);

#endif
