#ifndef ZETA_TESTS_KMD_XE_GPU_H
#define ZETA_TESTS_KMD_XE_GPU_H

/*
 * A GPU as xe sees it: tiles with GTs, engines, counting units and Xe cores. Made from a few numbers
 * of a platform; everything that DEVICE_QUERY answers follows from it, without any state.
 */

#include <stdbool.h>
#include <stdint.h>

#include "xe_uapi.h"

enum {
    KMD_XE_GTS = 8,
    KMD_XE_ENGINES = 64,
    KMD_XE_UNITS = 8,
    KMD_XE_MASK_BYTES = 16,            /**< of Xe cores, in GT_TOPOLOGY */
    KMD_XE_STALL_RATES = 7,            /**< multiples of KMD_XE_STALL_CYCLES */
    KMD_XE_STALL_CYCLES = 251,         /**< of the core clock */
    KMD_XE_STALL_RECORD_BYTES = 64,    /**< one record */
    KMD_XE_STALL_BUFFER_BYTES = 524288 /**< of each Xe core */
};

/** What is needed to make one. Versions are x 100 of the graphics IP: 1200, 1255, 1260, 1270, 2004. */
struct kmd_xe_shape {
    uint32_t pci_id, revision;
    uint32_t graphics;
    uint32_t tiles;
    uint32_t slices;          /**< that are there, from the first on */
    uint32_t cores_per_slice; /**< places for Xe cores (or dual subslices) in each */
    uint32_t cores;           /**< that are there, in the first places of each slice */
    uint32_t eus_per_core;
    uint32_t l3_banks;
    uint64_t cs_hz, oa_hz;
    uint64_t memory_bytes; /**< of each tile's own; 0: an integrated GPU */
    uint64_t capabilities; /**< of OA units: how new the driver is */
    bool has_no_oa;        /**< a guest, or without its firmware */
    bool has_no_eu_stall;
};

struct kmd_xe_gt_info {
    uint16_t type, tile, id;
    uint32_t ip;                        /**< version x 100 */
    uint8_t cores[KMD_XE_MASK_BYTES];   /**< bit slice x cores_per_slice + n */
};

struct kmd_xe_unit_info {
    uint32_t id, type;
    uint16_t gt;
    uint32_t engine_count;
    struct kmd_xe_engine engines[KMD_XE_ENGINES];
};

struct kmd_xe_gpu {
    struct kmd_xe_shape shape;
    uint32_t gt_count, engine_count, unit_count;
    struct kmd_xe_gt_info gts[KMD_XE_GTS];
    struct kmd_xe_engine engines[KMD_XE_ENGINES];
    struct kmd_xe_unit_info units[KMD_XE_UNITS];
};

/** Fills *out_gpu from a shape. */
void kmd_xe_gpu_make(const struct kmd_xe_shape *shape, struct kmd_xe_gpu *out_gpu);

/** The GT with this id; NULL if there is none. */
const struct kmd_xe_gt_info *kmd_xe_gpu_gt(const struct kmd_xe_gpu *gpu, uint64_t id);
/** The unit with this id; NULL if there is none. */
const struct kmd_xe_unit_info *kmd_xe_gpu_unit(const struct kmd_xe_gpu *gpu, uint64_t id);
/** Whether there is such an engine. */
bool kmd_xe_gpu_has_engine(const struct kmd_xe_gpu *gpu, const struct kmd_xe_engine *engine);
/** Xe cores of a GT. */
uint32_t kmd_xe_gt_cores(const struct kmd_xe_gt_info *gt);
/** Whether EU stalls can be sampled. */
bool kmd_xe_gpu_samples_stalls(const struct kmd_xe_gpu *gpu);

/** Bytes of a report with this format word of OA; 0 if the GPU does not have the format. */
uint32_t kmd_xe_format_bytes(const struct kmd_xe_gpu *gpu, uint64_t format);
/** Whether a unit of a type (KMD_XE_OAG ...) makes reports of a format. */
bool kmd_xe_format_fits(uint64_t format, uint32_t unit_type);

/** Room for the longest answer of DEVICE_QUERY. */
struct kmd_xe_answer {
    uint32_t bytes;
    uint64_t data[2048];
};

/**
 * What DEVICE_QUERY answers, but for ENGINE_CYCLES. Returns 0 or an errno: EINVAL for what is
 * unknown, ENODEV for what this GPU lacks.
 */
int kmd_xe_query(const struct kmd_xe_gpu *gpu, uint32_t query, struct kmd_xe_answer *out_answer);

/** Bits of the clock of the command streamer. */
uint32_t kmd_xe_cycles_width(const struct kmd_xe_gpu *gpu);

#endif
