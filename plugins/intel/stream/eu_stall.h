#ifndef ZETA_PLUGINS_INTEL_STREAM_EU_STALL_H
#define ZETA_PLUGINS_INTEL_STREAM_EU_STALL_H

/*
 * Periods of EU stall sampling. The kernel takes a few fixed distances between two samples, in
 * cycles of the core clock; users say nanoseconds. Both meet at the highest clock of the tile, that
 * of a GPU which is busy: at a lower clock the samples lie further apart.
 */

#include <stdint.h>

#include "plugins/intel/kmd/kmd.h"

/** Clock to reckon with while the kernel tells none. */
#define ZETA_INTEL_STALL_HZ 1000000000u

/**
 * Nanoseconds between two samples at one of the unit's rates, rounded up; 0 if it has no such rate.
 *
 * @max_hz  of the tile's core clock, 0: unknown
 */
uint64_t zeta_intel_stall_period(const struct zeta_intel_unit *unit, uint64_t max_hz,
                                 uint32_t index);

/**
 * Index of the rate whose period is nearest to the wanted one; of two that are as near, the
 * shorter.
 */
uint32_t zeta_intel_stall_nearest(const struct zeta_intel_unit *unit, uint64_t max_hz,
                                  uint64_t period_ns);

/** The shortest and the longest period; both 0 for a unit without rates. */
void zeta_intel_stall_limits(const struct zeta_intel_unit *unit, uint64_t max_hz,
                             uint64_t *out_min_ns, uint64_t *out_max_ns);

#endif
