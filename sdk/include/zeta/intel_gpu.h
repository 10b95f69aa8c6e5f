/*
 * Descriptions of Intel GPUs: platform files, topologies, and the symbols that expressions of set
 * files use. For the backend that drives the GPUs and for readers of files that were recorded on
 * them. Static library zeta_intel_gpu.
 */
#ifndef ZETA_INTEL_GPU_H
#define ZETA_INTEL_GPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <zeta/plugin.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    ZETA_INTEL_SLICES = 32,       /**< of a tile, at most */
    ZETA_INTEL_ENGINE_CLASSES = 5 /**< render, copy, video, video enhance, compute */
};

/** Kinds of counting units, as oa-unit types of xe; EU stall sampling is a unit of its own. */
enum zeta_intel_unit_kind {
    ZETA_INTEL_OAG,
    ZETA_INTEL_OAM,
    ZETA_INTEL_OAM_SAG,
    ZETA_INTEL_MERT,
    ZETA_INTEL_EU_STALL
};

/* ---- platforms -------------------------------------------------------------------------- */

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
 *         sets: [tgl-gt2.yaml]           # set files in the data directory; intel/NAME is what
 *                                        # generations share
 *         units:                         # report formats of counting units, by kind
 *           oag: {i915: 10, xe: 0x500, record: 256, clock_bits: 0xfe0007ff}
 *         symbols: {SqidiTotalCount: 2}  # further symbols; they win over those that are computed
 */

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

/**
 * Reads the text of a platform file, as zeta_intel_platforms_read() does. path is for messages;
 * the text needs no terminator.
 */
bool zeta_intel_platforms_parse(const char *path, const char *text, size_t bytes,
                                struct zeta_intel_platforms *out_platforms, char *out_problem,
                                uint32_t problem_bytes);

/* ---- topology --------------------------------------------------------------------------- */

/** What a tile is made of. */
struct zeta_intel_topology {
    uint32_t max_slices, max_subslices, max_eus; /**< per tile, slice, subslice */
    uint32_t subslice_mask[ZETA_INTEL_SLICES];   /**< bit n: subslice n of the slice is there */
    uint32_t slices, subslices, eus;             /**< that are there */
    uint32_t l3_banks;                           /**< 0: unknown */
    uint32_t engines[ZETA_INTEL_ENGINE_CLASSES]; /**< of each class */
};

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

/* ---- symbols ---------------------------------------------------------------------------- */

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

#ifdef __cplusplus
}
#endif

#endif
