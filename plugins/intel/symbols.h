#ifndef ZETA_PLUGINS_INTEL_SYMBOLS_H
#define ZETA_PLUGINS_INTEL_SYMBOLS_H

/*
 * Numbers that expressions of set files use, from what is known of one tile of a GPU; for the
 * plugin and for files that were recorded elsewhere.
 */

#include <stdbool.h>
#include <stdint.h>

#include <zeta/plugin.h>

#include "kmd.h"
#include "platform.h"

/** What symbols are reckoned from. */
struct zeta_intel_facts {
    const struct zeta_intel_platform *platform;
    const struct zeta_intel_topology *topology;
    uint64_t timestamp_hz;     /**< ticks per second in reports of the OAG unit */
    uint64_t min_hz, max_hz;   /**< core clock, 0: unknown */
    uint64_t fastest_hz;       /**< that it can ever have, 0: unknown */
    uint64_t fastest_media_hz; /**< likewise, of the clock of media engines */
    uint32_t revision;         /**< of PCI */
    uint32_t media_units;      /**< OAM units of the tile */
    uint32_t stall_units;      /**< units of EU stall sampling */
};

/** How many events in a second there are at most: one in each clock, of each part. */
struct zeta_intel_rates {
    uint64_t clock, subslices, eus, media;
};

/** The rates of a tile, and of any GPU where the kernel says nothing. */
struct zeta_intel_rates zeta_intel_rates(const struct zeta_intel_topology *topology,
                                         uint64_t fastest_hz, uint64_t fastest_media_hz);

/**
 * Makes all symbols, under every name that they have. The list and its names are one piece of
 * memory, freed with free(). False without memory.
 */
bool zeta_intel_symbols_list(const struct zeta_intel_facts *facts,
                             struct zeta_plugin_symbol **out_symbols, uint32_t *out_count);

#endif
