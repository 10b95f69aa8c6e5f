#ifndef ZETA_PLUGINS_INTEL_PLATFORM_H
#define ZETA_PLUGINS_INTEL_PLATFORM_H

/*
 * Platforms: what is known of a GPU by its PCI id alone and cannot be asked. Data, read from
 * platforms.yaml in the data directory of the manifest (config/schema/platforms.yaml):
 *
 *     format: 1
 *     platforms:
 *       - name: Tiger Lake GT2           # for people
 *         id: tgl-gt2                    # for messages and tests
 *         graphics: 12.0                 # version of the graphics IP
 *         pci: [0x9a40, 0x9a49]
 *         integrated: true
 *         drivers: [i915, xe]            # kernel drivers that can count on it
 *         threads_per_eu: 7
 *         simd_width: 8                  # lanes of an EU; 0 or missing: 8
 *         subslices_per_slice: 6         # xe tells one flat mask; 0 or missing: one slice
 *         subslice_bits: 8               # of a slice in masks; 0 or missing: as many as it has
 *         l3_banks_per_node: 4           # missing: it has no nodes
 *         sets: [tgl-gt2.yaml]           # set files in the data directory
 *         more: [tgl-gt2-sampler.yaml]   # those that only the setting `sets: all` reads;
 *                                        # intel/NAME is what generations share
 *         units:                         # report formats of counting units, by kind
 *           oag: {i915: 10, xe: 0x500, record: 256, clock_bits: 0xfe0007ff}
 *         symbols: {SqidiTotalCount: 2}  # further symbols; they win over those that are computed
 */

#include <stdbool.h>
#include <stdint.h>

#include "kmd.h"

/** Reports of one kind of unit. */
struct zeta_intel_format {
    uint32_t i915;         /**< id of the format; 0: i915 does not count with this unit */
    uint32_t xe;           /**< format word */
    bool has_xe;           /**< xe counts with this unit (0 is a format word) */
    uint32_t record_bytes; /**< 0: the platform does not have the unit */
    bool is_wide;          /**< id and time in the header have 64 bits, else 32 */
    uint32_t clock_bits;   /**< of the id: they change with the core clock; 0: none does */
};

struct zeta_intel_platform_symbol {
    char name[64];
    uint64_t value;
};

struct zeta_intel_platform {
    char name[64];
    char id[32];
    uint32_t graphics; /**< version x 100 of the graphics IP: 1200, 1255, 2004 */
    uint32_t *pci;
    uint32_t pci_count;
    bool integrated;
    bool has_i915, has_xe;
    uint32_t threads_per_eu;
    uint32_t simd_width;          /**< lanes of an EU; 0: 8 */
    uint32_t subslices_per_slice; /**< 0: one slice */
    uint32_t subslice_bits;       /**< that a slice takes in masks of all; 0: as many as it has */
    uint32_t l3_banks_per_node;   /**< 0: no nodes */
    char **sets;
    uint32_t set_count;
    char **more; /**< set files that are read on demand */
    uint32_t more_count;
    struct zeta_intel_format formats[ZETA_INTEL_EU_STALL]; /**< by kind of unit */
    struct zeta_intel_platform_symbol *symbols;
    uint32_t symbol_count;
};

struct zeta_intel_platforms {
    struct zeta_intel_platform *items;
    uint32_t count;
};

/**
 * Reads a platform file. False with a sentence (file, line, what, what to do) in out_problem.
 * Freed with zeta_intel_platforms_free(), also after a failure.
 */
bool zeta_intel_platforms_read(const char *path, struct zeta_intel_platforms *out_platforms,
                               char *out_problem, uint32_t problem_bytes);
void zeta_intel_platforms_free(struct zeta_intel_platforms *platforms);

/** The platform of a PCI id; NULL if the generation does not have it. */
const struct zeta_intel_platform *
zeta_intel_platform_find(const struct zeta_intel_platforms *platforms, uint32_t device_id);

#endif
