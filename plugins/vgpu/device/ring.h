#ifndef ZETA_PLUGINS_VGPU_DEVICE_RING_H
#define ZETA_PLUGINS_VGPU_DEVICE_RING_H

/*
 * The ring of reports of a stream. One thread writes, one reads. When it is full the oldest report
 * goes, and the reader learns how many went where.
 */

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <zeta/notify.h>
#include <zeta/plugin.h>

struct zeta_vgpu_ring {
    uint32_t capacity;     /**< in reports, at least 2 */
    uint32_t report_bytes; /**< of each report */
    uint8_t *reports;
    uint32_t *breaks; /**< per report: reason and number of reports lost before it, 0: none */
    uint64_t notify_records; /**< raises the level at so many pending, 0: never */

    pthread_mutex_t lock;   /**< held for at most a chunk of copying */
    _Atomic uint64_t head;  /**< oldest report; positions count up for ever */
    _Atomic uint64_t tail;  /**< behind the newest */
    uint32_t break_count;   /**< reports in the ring that have a break before them */
    uint32_t pending_break; /**< for the next report */
    struct zeta_notify notify;
};

/** Capacity in records: as wanted, room for a notification at least, within 64 and most; the fault
 * full_ring bounds it further. */
uint32_t zeta_vgpu_ring_capacity(uint64_t wanted, uint64_t notify, uint32_t most,
                                 uint64_t full_ring);

/** Makes an empty ring of reports of one size. False without memory or descriptors. */
bool zeta_vgpu_ring_init(struct zeta_vgpu_ring *ring, uint32_t capacity, uint32_t report_bytes,
                         uint64_t notify_records);

/** Frees it. A ring of zeros is left alone. */
void zeta_vgpu_ring_finish(struct zeta_vgpu_ring *ring);

/** Appends reports that are one behind the other; returns how many old ones had to go. */
uint64_t zeta_vgpu_ring_push(struct zeta_vgpu_ring *ring, const void *reports, uint32_t count);

/**
 * Notes that reports were lost before they got here (BREAK_LOST), or because those behind them need
 * all the room (BREAK_OVERFLOW).
 */
void zeta_vgpu_ring_lose(struct zeta_vgpu_ring *ring, uint32_t reason, uint64_t count);

/** Reads as stream_read of struct zeta_plugin_metric_ops does. */
void zeta_vgpu_ring_read(struct zeta_vgpu_ring *ring, void *buffer, uint64_t capacity_bytes,
                         struct zeta_plugin_read *out_read);

/** Reports that wait. Lock-free. */
uint64_t zeta_vgpu_ring_pending(const struct zeta_vgpu_ring *ring);

#endif
