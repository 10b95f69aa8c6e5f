#ifndef ZETA_PLUGINS_VGPU_EU_WATCH_H
#define ZETA_PLUGINS_VGPU_EU_WATCH_H

/*
 * Counters of EUs that others want of this process: looks for wishes, lets the engine count, and
 * publishes.
 */

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "instance_eu.h"

struct zeta_vgpu_tile;

/** What a tile has published for which wish. */
struct zeta_vgpu_eu_watch {
    atomic_bool counts;   /**< the engine counts for us */
    pthread_mutex_t lock; /**< guards the rest, and orders what is published; a leaf */
    struct {
        uint64_t number; /**< of the wish */
        uint64_t base;   /**< what the engine had counted when it was seen */
    } seen[ZETA_VGPU_EU_UNITS][ZETA_VGPU_EU_WISHES];
};

void zeta_vgpu_eu_watch_init(struct zeta_vgpu_eu_watch *watch);
void zeta_vgpu_eu_watch_finish(struct zeta_vgpu_eu_watch *watch);

/** Every subslice, exact and modelled. */
#define ZETA_VGPU_EU_WATCH_ALL UINT32_MAX
/** What follows from the model, of every subslice. */
#define ZETA_VGPU_EU_WATCH_MODELLED (UINT32_MAX - 1)

/**
 * Publishes the exact counters of a subslice, or those above: in the callback of the engine that
 * tells of them, and all of them while no launch runs.
 */
void zeta_vgpu_eu_watch_publish(struct zeta_vgpu_tile *tile, uint32_t subslice);

/** Before a launch: what it does counts for the wishes of now. */
void zeta_vgpu_eu_watch_begin(struct zeta_vgpu_tile *tile);

#endif
