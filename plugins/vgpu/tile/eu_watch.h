#ifndef ZETA_PLUGINS_VGPU_TILE_EU_WATCH_H
#define ZETA_PLUGINS_VGPU_TILE_EU_WATCH_H

/*
 * Counters of EUs that others want of this process: looks for wishes, lets the engine count, and
 * publishes.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "plugins/vgpu/engine/engine.h"
#include "plugins/vgpu/instance/instance.h"

struct zeta_vgpu_tile;

/** A counter that is wished for. */
struct zeta_vgpu_eu_seen {
    uint64_t number; /**< of the wish */
    uint64_t base;   /**< what the engine had counted when it was seen */
    uint64_t whole;  /**< what it had counted when an epoch was over last */
};

/** What a tile has published for which wish. Of the thread that publishes. */
struct zeta_vgpu_eu_watch {
    atomic_bool counts; /**< the engine counts for us */
    struct zeta_vgpu_eu_seen seen[ZETA_VGPU_EU_UNITS][ZETA_VGPU_EU_WISHES];
};

/**
 * Publishes what is wished for: in the callback of the engine that publishes, and while no launch
 * runs.
 *
 * @part  what of the last epoch is over
 */
void zeta_vgpu_eu_watch_publish(struct zeta_vgpu_tile *tile, struct zeta_vgpu_part part);

/** Before a launch: what it does counts for the wishes of now. */
void zeta_vgpu_eu_watch_begin(struct zeta_vgpu_tile *tile);

#endif
