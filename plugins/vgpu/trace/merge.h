#ifndef ZETA_PLUGINS_VGPU_TRACE_MERGE_H
#define ZETA_PLUGINS_VGPU_TRACE_MERGE_H

/*
 * The rings of all processes, tiles and sources of a tracer, put into one in the order of time.
 * Private to this folder. One thread at a time.
 */

#include "file.h"
#include "plugins/vgpu/device/ring.h"
#include "plugins/vgpu/instance/instance.h"

/** Events that are put into the ring at once. */
#define ZETA_VGPU_MERGE_BATCH 256u

/** One ring of the file, as its reader knows it. */
struct zeta_vgpu_lane {
    struct zeta_vgpu_trace_ring *ring;
    uint32_t place;
    uint32_t slot;
    uint64_t head;       /**< next event to take */
    uint64_t tail;       /**< what was there at the last poll */
    uint64_t next_ticks; /**< of the event at head, if there is one */
    uint64_t last_ticks; /**< of the newest event seen */
    uint64_t lost;       /**< losses of the writer that were passed on */
    uint64_t claim_ns;   /**< host time since which a claim has no event; 0: none */
    bool stalled;        /**< the claim is too old: nobody waits for it */
    bool damaged;        /**< overwritten by somebody: never read again */
};

struct zeta_vgpu_merge_place {
    uint32_t tile;
    enum zeta_vgpu_source source;
    uint64_t lanes;                       /**< slots whose ring is known, as bits */
    uint64_t last_ticks;                  /**< of the last event that was taken */
    uint64_t missed;                      /**< as the instance counts, those that were passed on */
    struct zeta_vgpu_event_counts counts; /**< since they were added to those of the instance */
};

struct zeta_vgpu_merge {
    struct zeta_vgpu *vgpu;
    struct zeta_vgpu_instance *instance;
    struct zeta_vgpu_trace_file file;
    uint32_t place_count;
    struct zeta_vgpu_merge_place places[ZETA_VGPU_TRACE_PLACES];
    uint32_t lane_count;
    struct zeta_vgpu_lane lanes[ZETA_VGPU_TRACE_PLACES * ZETA_VGPU_SLOTS];
    struct zeta_vgpu_ring ring; /**< what readers get */
    bool keeping;               /**< events go into the ring; else they are dropped */
    uint64_t number;            /**< of the event, for fault.lost_reports */

    struct zeta_vgpu_event batch[ZETA_VGPU_MERGE_BATCH]; /**< not in the ring yet */
    uint32_t batch_count;
    struct zeta_vgpu_merge_place *batch_place; /**< of the newest in it */
};

/**
 * Polls all rings: what is there, and who writes now. Returns the time up to which nothing more
 * can come, at most @now_ticks; with virtual time, UINT64_MAX unless somebody writes now.
 */
uint64_t zeta_vgpu_merge_poll(struct zeta_vgpu_merge *merge, uint64_t now_ticks);

/**
 * Takes the events that were there at the last poll and are not younger than the limit of their
 * tile (@limits by tile of the device).
 * @inclusive  also those of exactly that time
 */
void zeta_vgpu_merge_take(struct zeta_vgpu_merge *merge, const uint64_t *limits, bool inclusive);

/** Takes over losses that no event carried. Before a tracer is off. */
void zeta_vgpu_merge_losses(struct zeta_vgpu_merge *merge);

/** Puts a record about the tracer into the ring, in the name of a tile's first place. */
void zeta_vgpu_merge_put(struct zeta_vgpu_merge *merge, uint32_t tile,
                         enum zeta_vgpu_event_type type, uint64_t ticks);

/** Moves what was taken into the ring, and adds the counts to those of the instance. */
void zeta_vgpu_merge_flush(struct zeta_vgpu_merge *merge);

/** True when a ring was so full that the next poll should not wait. */
bool zeta_vgpu_merge_is_behind(const struct zeta_vgpu_merge *merge);

#endif
