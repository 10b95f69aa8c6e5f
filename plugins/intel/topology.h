#ifndef ZETA_PLUGINS_INTEL_TOPOLOGY_H
#define ZETA_PLUGINS_INTEL_TOPOLOGY_H

/*
 * What a tile is made of, out of the masks that the kernel gives.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kmd.h"

/**
 * Reads the block of i915's query TOPOLOGY_INFO. False, with the topology untouched, if it is not
 * complete or has more slices or subslices than there is room for.
 *
 * Source: struct drm_i915_query_topology_info of the kernel's i915_drm.h.
 */
bool zeta_intel_topology_read(const void *block, size_t bytes,
                              struct zeta_intel_topology *out_topology);

/**
 * Splits subslices that the kernel gives as one flat list into slices: subslice n is number
 * n % per_slice of slice n / per_slice. A list that is not flat, and 0 per slice, change nothing.
 */
void zeta_intel_topology_split(struct zeta_intel_topology *topology, uint32_t per_slice);

/** Counts slices and subslices that are there. */
void zeta_intel_topology_count(struct zeta_intel_topology *topology);

/** Bit n: slice n has a subslice. */
uint64_t zeta_intel_topology_slice_mask(const struct zeta_intel_topology *topology);

/**
 * All subslices in one number: bit slice * per_slice + subslice. What does not fit is left out.
 */
uint64_t zeta_intel_topology_subslice_mask(const struct zeta_intel_topology *topology,
                                           uint32_t per_slice);

#endif
