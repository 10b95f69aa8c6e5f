/*
 * Records of a source that has no descriptor: a ring between who fetches them and who reads, and a
 * thread that fetches. Static helper: linked into the plugin, no part of the plugin interface.
 *
 *   hardware, library --fetch(), on the pump's thread--> push --> | ring | --> read (stream_read)
 *                                                                     '------> descriptor (poll)
 *
 * When the ring is full the oldest record goes, and the reader learns how many went where.
 */
#ifndef ZETA_RECORD_RING_H
#define ZETA_RECORD_RING_H

#include <stdint.h>

#include <zeta/plugin_base.h>
#include <zeta/plugin_metric.h>

#ifdef __cplusplus
extern "C" {
#endif

/** One thread at a time writes, one at a time reads. */
struct zeta_record_ring;

/** Capacity in records: as wanted, with room for a notification, from 64 to most, at least 2. */
uint32_t zeta_record_ring_choose(uint64_t wanted, uint64_t notify, uint64_t most);

/**
 * Makes an empty ring of records of one size. NULL without memory or descriptors.
 *
 * @capacity        in records, at least 2
 * @notify_records  the descriptor polls readable with so many pending; 0: never
 */
struct zeta_record_ring *zeta_record_ring_create(uint32_t capacity, uint32_t record_bytes,
                                                 uint64_t notify_records);

/** Frees it. NULL is allowed. */
void zeta_record_ring_destroy(struct zeta_record_ring *ring);

/** In records. */
uint32_t zeta_record_ring_capacity(const struct zeta_record_ring *ring);

/** The descriptor of the level, for stream_descriptor(); it stays the ring's. */
int32_t zeta_record_ring_descriptor(const struct zeta_record_ring *ring);

/** Appends records that are one behind the other; returns how many old ones had to go. */
uint64_t zeta_record_ring_push(struct zeta_record_ring *ring, const void *records, uint32_t count);

/**
 * Notes that records were lost before they got here, for the break before the next one; 0: it is
 * unknown how many.
 *
 * @reason  ZETA_PLUGIN_BREAK_*
 */
void zeta_record_ring_lose(struct zeta_record_ring *ring, uint32_t reason, uint64_t count);

/** Reads as stream_read() of struct zeta_plugin_metric_ops does. */
void zeta_record_ring_read(struct zeta_record_ring *ring, void *buffer, uint64_t capacity_bytes,
                           struct zeta_plugin_read *out_read);

/** Records that wait, for stream_pending(). Any thread. Lock-free. */
uint64_t zeta_record_ring_pending(const struct zeta_record_ring *ring);

/** A thread that fetches. */
struct zeta_record_pump;

/**
 * Starts a thread that calls fetch(context) at once and then in each period. A call that takes
 * longer than that delays the next ones. NULL without memory or threads.
 *
 * @name  of the thread, at most 15 characters
 */
struct zeta_record_pump *zeta_record_pump_create(uint64_t period_ns, void (*fetch)(void *context),
                                                 void *context, const char *name);

/** Lets a call of fetch() begin soon that sees what was there before. Any thread. */
void zeta_record_pump_wake(struct zeta_record_pump *pump);

/**
 * Ends the thread after a last call of fetch() that begins now, so nothing that was there is left.
 * Not from fetch(). NULL is allowed.
 */
void zeta_record_pump_destroy(struct zeta_record_pump *pump);

#ifdef __cplusplus
}
#endif

#endif
