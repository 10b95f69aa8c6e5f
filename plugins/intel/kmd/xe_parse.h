#ifndef ZETA_PLUGINS_INTEL_KMD_XE_PARSE_H
#define ZETA_PLUGINS_INTEL_KMD_XE_PARSE_H

/*
 * Answers of the xe driver to questions about the device, as bytes, made into what the plugin
 * knows. Nothing here makes a call. An answer is believed in nothing: what does not fit into its
 * bytes is refused with a sentence, and of longer lists than there is room for the begin is taken.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "plugins/intel/kmd/kmd.h"
#include "plugins/intel/kmd/xe_uapi.h"

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

/** The bytes of an answer. */
struct zeta_xe_answer {
    const void *data;
    size_t bytes;
};

struct zeta_xe_engine_list {
    uint32_t count;
    struct zeta_xe_engine_class_instance items[ZETA_XE_ENGINES];
};

struct zeta_xe_gt_list {
    uint32_t count;
    struct zeta_xe_gt items[ZETA_XE_GTS];
};

struct zeta_xe_region_list {
    uint32_t count;
    struct zeta_xe_mem_region items[ZETA_XE_REGIONS];
};

/** One mask of a GT; bits beyond the last are clear. */
struct zeta_xe_mask {
    bool is_there;
    uint8_t bytes[ZETA_XE_MASK_BITS / 8];
};

/** The masks of one GT. */
struct zeta_xe_masks {
    struct zeta_xe_mask geometry, compute, l3_banks, eus, simd16_eus;
};

/** An OA unit as the kernel lists it. */
struct zeta_xe_unit {
    struct zeta_xe_oa_unit head;
    bool has_engine;
    struct zeta_xe_engine_class_instance engine; /**< the first that it counts */
};

struct zeta_xe_unit_list {
    uint32_t count;
    struct zeta_xe_unit items[ZETA_INTEL_UNITS];
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

/** EU_STALL: what it says of all units; rates rise, doubles and zeros are left out. */
bool zeta_xe_parse_eu_stall(struct zeta_xe_answer answer, struct zeta_intel_unit *out_unit,
                            uint64_t *out_buffer_bytes, struct zeta_xe_problem *problem);

/** Set bits of a mask. */
uint32_t zeta_xe_mask_count(const struct zeta_xe_mask *mask);

/** How the masks of a GT become slices. */
struct zeta_xe_shape {
    uint32_t graphics;            /**< version x 100 of the graphics IP */
    uint32_t subslices_per_slice; /**< 0: all in one slice, as far as one takes them */
};

/**
 * Fills a topology from the masks of a GT: subslice n is bit n of the union of both DSS masks, and
 * lies in slice n / subslices_per_slice. EUs are counted 16 lanes wide from Xe2 on, where an older
 * mask has two bits for each. Engines are left alone. False with a sentence when masks are missing
 * or do not fit.
 */
bool zeta_xe_topology_make(const struct zeta_xe_masks *masks, const struct zeta_xe_shape *shape,
                           struct zeta_intel_topology *out_topology,
                           struct zeta_xe_problem *problem);

#endif
