#ifndef ZETA_PLUGINS_INTEL_KMD_XE_H
#define ZETA_PLUGINS_INTEL_KMD_XE_H

/*
 * What the files of the xe driver's side share. xe_uapi.h is what the kernel takes; xe_parse.c
 * makes its answers readable, without a call.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "plugins/intel/kmd/kmd.h"
#include "plugins/intel/kmd/xe_uapi.h"

/** The bytes of an answer. */
struct zeta_xe_answer {
    const void *data;
    size_t bytes;
};

/* ---- the table's members (xe.c, xe_probe.c, xe_stream.c) ---------------------------------- */

/**
 * Asks a question about the device. 0, or the negative errno; -EPROTO for an answer of an absurd
 * size. The answer is given back with zeta_xe_answer_free().
 */
int zeta_xe_query(const struct zeta_intel_gpu *gpu, uint32_t query,
                  struct zeta_xe_answer *out_answer);
void zeta_xe_answer_free(struct zeta_xe_answer *answer);

/** Reads the clock of a tile's engine, in whatever bits it has. 0, or the negative errno. */
int zeta_xe_cycles(const struct zeta_intel_gpu *gpu, const struct zeta_intel_tile *tile,
                   struct zeta_xe_engine_cycles *out_cycles);

/** An operation of ZETA_XE_OBSERVATION. What the ioctl returns, or the negative errno. */
int zeta_xe_observe(const struct zeta_intel_gpu *gpu, uint32_t type, uint32_t operation,
                    const void *param);

uint32_t zeta_xe_probe(struct zeta_intel_gpu *gpu);
uint32_t zeta_xe_stream_open(struct zeta_intel_gpu *gpu,
                             const struct zeta_intel_stream_request *request,
                             struct zeta_intel_kernel_stream **out_stream);
uint32_t zeta_xe_stream_read(struct zeta_intel_kernel_stream *base, void *buffer,
                             uint64_t capacity_bytes, struct zeta_plugin_read *out_read);
void zeta_xe_stream_close(struct zeta_intel_kernel_stream *base);

/** A chain of properties, in the order in which they were added; it must not move afterwards. */
struct zeta_xe_properties {
    uint32_t count;
    struct zeta_xe_property items[8]; /**< all that a stream has */
};

void zeta_xe_property_add(struct zeta_xe_properties *properties, uint32_t property, uint64_t value);

/**
 * What the bits of a status (ZETA_XE_OA_STATUS_*) mean for the sequence of reports:
 * ZETA_PLUGIN_BREAK_*, NONE when none is missing.
 */
uint32_t zeta_xe_oa_break(uint64_t status);

/** The size of a buffer that the kernel takes and that has so many bytes, if one has. */
uint64_t zeta_xe_buffer_bytes(uint64_t wanted_bytes);

/* ---- answers (xe_parse.c) ------------------------------------------------------------------- */

/*
 * What does not fit into the bytes of an answer is refused with a sentence; of longer lists than
 * there is room for the beginning is taken.
 */

enum {
    ZETA_XE_GTS = 16,      /**< of a GPU, at most */
    ZETA_XE_ENGINES = 128, /**< of a GPU, at most */
    ZETA_XE_REGIONS = 16,  /**< memories of a GPU, at most */
    ZETA_XE_MASK_BITS = 512
};

/** A sentence about an answer that cannot be. */
struct zeta_xe_problem {
    char text[200];
};

struct zeta_xe_engine_list {
    uint32_t count;
    struct zeta_xe_engine items[ZETA_XE_ENGINES];
};

struct zeta_xe_gt_list {
    uint32_t count;
    struct zeta_xe_gt items[ZETA_XE_GTS];
};

struct zeta_xe_region_list {
    uint32_t count;
    struct zeta_xe_mem_region items[ZETA_XE_REGIONS];
};

/** The masks of one GT, bits beyond the last of each are clear. */
struct zeta_xe_masks {
    struct zeta_xe_mask {
        bool is_there;
        uint8_t bytes[ZETA_XE_MASK_BITS / 8];
    } types[ZETA_XE_TOPO_SIMD16_EU_PER_DSS + 1]; /**< by ZETA_XE_TOPO_* */
};

/** OA units as the kernel lists them. */
struct zeta_xe_unit_list {
    uint32_t count;
    struct zeta_xe_unit {
        struct zeta_xe_oa_unit head;
        bool has_engine;
        struct zeta_xe_engine_class_instance engine; /**< the first that it counts */
    } items[ZETA_INTEL_UNITS];
};

/** CONFIG: the revision of the device. */
bool zeta_xe_parse_revision(struct zeta_xe_answer answer, uint32_t *out_revision,
                            struct zeta_xe_problem *problem);
/** ENGINES */
bool zeta_xe_parse_engines(struct zeta_xe_answer answer, struct zeta_xe_engine_list *out_engines,
                           struct zeta_xe_problem *problem);
/** GT_LIST: at least one GT; tiles below ZETA_INTEL_TILES, each id of a GT once. */
bool zeta_xe_parse_gts(struct zeta_xe_answer answer, struct zeta_xe_gt_list *out_gts,
                       struct zeta_xe_problem *problem);
/** MEM_REGIONS */
bool zeta_xe_parse_regions(struct zeta_xe_answer answer, struct zeta_xe_region_list *out_regions,
                           struct zeta_xe_problem *problem);
/** GT_TOPOLOGY: the masks of one GT; those of others and of unknown types are passed over. */
bool zeta_xe_parse_masks(struct zeta_xe_answer answer, uint32_t gt_id,
                         struct zeta_xe_masks *out_masks, struct zeta_xe_problem *problem);
/** OA_UNITS, in the kernel's order. */
bool zeta_xe_parse_units(struct zeta_xe_answer answer, struct zeta_xe_unit_list *out_units,
                         struct zeta_xe_problem *problem);
/** EU_STALL: what holds for all units; rates rise, each once; absurd ones are left out. */
bool zeta_xe_parse_eu_stall(struct zeta_xe_answer answer, struct zeta_intel_unit *out_unit,
                            uint64_t *out_buffer_bytes, struct zeta_xe_problem *problem);

/** How the masks of a GT become slices. */
struct zeta_xe_shape {
    uint32_t graphics;            /**< version x 100 of the graphics IP */
    uint32_t subslices_per_slice; /**< 0: all in one slice, as far as one takes them */
};

/**
 * Fills a topology from the masks of a GT: subslice n is bit n of the union of both DSS masks, and
 * lies in slice n / subslices_per_slice. Engines are left alone. False with a sentence when masks
 * are missing or do not fit.
 */
bool zeta_xe_topology_make(const struct zeta_xe_masks *masks, const struct zeta_xe_shape *shape,
                           struct zeta_intel_topology *out_topology,
                           struct zeta_xe_problem *problem);

#endif
