#ifndef ZETA_PLUGINS_VGPU_INSTANCE_EU_H
#define ZETA_PLUGINS_VGPU_INSTANCE_EU_H

/*
 * Counters of single EUs between processes.
 *
 * Who holds an OA unit says which counters of which EUs it wants; the wish has a number. Processes
 * that execute see it and publish what these counters have become since they saw it, with the
 * number. Nothing is counted for EUs while nobody wants it.
 */

#include <stdbool.h>
#include <stdint.h>

struct zeta_vgpu_instance;

/** Units whose counters can be of EUs: oa and dispatch, the first ones. */
#define ZETA_VGPU_EU_UNITS 2u
/** Counters that can be wanted in a unit. */
#define ZETA_VGPU_EU_WISHES 16u

/** A counter of an EU; of a tile, its EUs subslice by subslice. */
struct zeta_vgpu_eu_wish {
    bool used;
    uint32_t eu;
    uint32_t counter; /**< enum zeta_vgpu_counter */
};

/** Tells what the holder of a unit wants. Returns the number of the wish, 0 if that failed. */
uint64_t zeta_vgpu_instance_want_eus(struct zeta_vgpu_instance *instance, uint32_t tile,
                                     uint32_t unit,
                                     const struct zeta_vgpu_eu_wish wishes[ZETA_VGPU_EU_WISHES]);

/** The holder wants no EUs any more. */
void zeta_vgpu_instance_forget_eus(struct zeta_vgpu_instance *instance, uint32_t tile,
                                   uint32_t unit);

/** Number of the present wish of a unit, 0: none. One load. */
uint64_t zeta_vgpu_instance_eu_wish_number(const struct zeta_vgpu_instance *instance, uint32_t tile,
                                           uint32_t unit);

/**
 * One of the counters that are wanted; false if there is none, or the wish is another one now. What
 * it says must be checked: it comes from shared memory.
 */
bool zeta_vgpu_instance_eu_wish(const struct zeta_vgpu_instance *instance, uint32_t tile,
                                uint32_t unit, uint32_t index, uint64_t number,
                                struct zeta_vgpu_eu_wish *out_wish);

/** Publishes a counter of this process. One thread per counter at a time. */
void zeta_vgpu_instance_publish_eu(struct zeta_vgpu_instance *instance, uint32_t tile,
                                   uint32_t unit, uint32_t index, uint64_t number, uint64_t value);

/**
 * Adds up what all processes counted for a wish, living and dead. False, with out_values undefined,
 * if writers did not let it finish.
 */
bool zeta_vgpu_instance_eu_totals(const struct zeta_vgpu_instance *instance, uint32_t tile,
                                  uint32_t unit, uint64_t number,
                                  uint64_t out_values[ZETA_VGPU_EU_WISHES]);

#endif
