/* GTs, engines and units of a GPU as xe numbers them. */

#include "xe_priv.h"

#include <string.h>

static bool is_media(uint32_t kind)
{
    return kind == KMD_XE_VIDEO_DECODE || kind == KMD_XE_VIDEO_ENHANCE;
}

static bool has_media_gt(const struct kmd_gpu *gpu)
{
    return kmd_gpu_platform(gpu)->media != 0;
}

static uint32_t gts_per_tile(const struct kmd_gpu *gpu)
{
    return has_media_gt(gpu) ? 2 : 1;
}

uint32_t kmd_xe_gt_count(const struct kmd_gpu *gpu)
{
    return gpu->tiles * gts_per_tile(gpu);
}

bool kmd_xe_gt(const struct kmd_gpu *gpu, uint64_t id, struct kmd_xe_gt_info *out_gt)
{
    if (id >= kmd_xe_gt_count(gpu))
        return false;
    bool media = has_media_gt(gpu) && id % 2 == 1;
    const struct kmd_platform *platform = kmd_gpu_platform(gpu);
    *out_gt = (struct kmd_xe_gt_info){
        .type = media ? KMD_XE_GT_MEDIA : KMD_XE_GT_MAIN,
        .tile = (uint16_t)(id / gts_per_tile(gpu)),
        .id = (uint16_t)id,
        .ip = media ? platform->media : platform->graphics,
    };
    return true;
}

void kmd_xe_cores(const struct kmd_gpu *gpu, uint8_t out_mask[KMD_XE_CORE_BYTES])
{
    memset(out_mask, 0, KMD_XE_CORE_BYTES);
    uint32_t places = kmd_gpu_platform(gpu)->max_subslices;
    for (uint32_t s = 0; s < gpu->slices; s++) {
        for (uint32_t c = 0; c < gpu->subslices; c++) {
            uint32_t bit = s * places + c;
            if (bit < KMD_XE_CORES)
                out_mask[bit / 8] = (uint8_t)(out_mask[bit / 8] | 1U << bit % 8);
        }
    }
}

struct kmd_unit *kmd_xe_unit(struct kmd_gpu *gpu, uint64_t id)
{
    for (uint32_t i = 0; i < gpu->unit_count; i++)
        if (gpu->units[i].kind != KMD_UNIT_EU_STALL && gpu->units[i].id == id)
            return &gpu->units[i];
    return NULL;
}

const struct kmd_engine *kmd_xe_engine(const struct kmd_gpu *gpu, uint64_t class, uint64_t instance,
                                       uint64_t gt)
{
    for (uint32_t i = 0; i < gpu->engine_count; i++)
        if (gpu->engines[i].class == class && gpu->engines[i].instance == instance &&
            gpu->engines[i].gt == gt)
            return &gpu->engines[i];
    return NULL;
}

uint32_t kmd_xe_capabilities(const struct kmd_gpu *gpu)
{
    return gpu->xe_capabilities ? gpu->xe_capabilities : KMD_XE_CAP_ALL;
}

bool kmd_xe_samples_stalls(const struct kmd_gpu *gpu)
{
    return kmd_gpu_platform(gpu)->has_eu_stall && !gpu->has_no_eu_stall && !gpu->has_no_oa;
}

static void add_engines(struct kmd_gpu *gpu, const struct kmd_xe_gt_info *gt)
{
    for (uint32_t kind = 0; kind < KMD_CLASSES; kind++) {
        if (has_media_gt(gpu) && is_media(kind) != (gt->type == KMD_XE_GT_MEDIA))
            continue;
        for (uint32_t i = 0; i < kmd_gpu_platform(gpu)->engines[kind]; i++)
            if (gpu->engine_count < KMD_ENGINES)
                gpu->engines[gpu->engine_count++] = (struct kmd_engine){.class = (uint16_t)kind,
                                                                        .instance = (uint16_t)i,
                                                                        .gt = gt->id,
                                                                        .unit = UINT16_MAX};
    }
}

static uint16_t add_unit(struct kmd_gpu *gpu, enum kmd_unit_kind kind, uint32_t id,
                         const struct kmd_xe_gt_info *gt)
{
    struct kmd_unit *unit = &gpu->units[gpu->unit_count];
    unit->kind = kind;
    unit->id = id;
    unit->gt = gt->id;
    unit->tile = gt->tile;
    unit->oa_hz = gpu->oa_hz;
    return (uint16_t)gpu->unit_count++;
}

/*
 * A standalone media GT has a unit for all of it, to which no engine belongs, and one for each part
 * of its engines: even and odd instances when there are two. Before Xe2, and in drivers without the
 * capability, it is one unit for all engines.
 */
static void add_media_units(struct kmd_gpu *gpu, const struct kmd_xe_gt_info *gt)
{
    const struct kmd_platform *platform = kmd_gpu_platform(gpu);
    bool is_old = !(kmd_xe_capabilities(gpu) & KMD_XE_CAP_OAM);
    uint32_t parts = is_old && platform->oam_units ? 1 : platform->oam_units;
    if (platform->has_sag && !is_old)
        add_unit(gpu, KMD_UNIT_OAM_SAG, gpu->unit_count, gt);
    for (uint32_t part = 0; part < parts; part++) {
        uint16_t unit = add_unit(gpu, KMD_UNIT_OAM, gpu->unit_count, gt);
        for (uint32_t i = 0; i < gpu->engine_count; i++)
            if (gpu->engines[i].gt == gt->id && is_media(gpu->engines[i].class) &&
                gpu->engines[i].instance % parts == part)
                gpu->engines[i].unit = unit;
    }
}

static void add_graphics_unit(struct kmd_gpu *gpu, const struct kmd_xe_gt_info *gt)
{
    uint16_t unit = add_unit(gpu, KMD_UNIT_OAG, gpu->unit_count, gt);
    for (uint32_t i = 0; i < gpu->engine_count; i++)
        if (gpu->engines[i].gt == gt->id &&
            (gpu->engines[i].class == KMD_XE_RENDER || gpu->engines[i].class == KMD_XE_COMPUTE))
            gpu->engines[i].unit = unit;
}

void kmd_xe_start(struct kmd_gpu *gpu)
{
    struct kmd_xe_gt_info gt;
    for (uint32_t id = 0; kmd_xe_gt(gpu, id, &gt); id++)
        add_engines(gpu, &gt);
    if (gpu->has_no_oa)
        return;
    for (uint32_t id = 0; kmd_xe_gt(gpu, id, &gt); id++) {
        if (gt.type == KMD_XE_GT_MEDIA)
            add_media_units(gpu, &gt);
        else
            add_graphics_unit(gpu, &gt);
    }
    for (uint32_t id = 0; kmd_xe_samples_stalls(gpu) && kmd_xe_gt(gpu, id, &gt); id++)
        if (gt.type == KMD_XE_GT_MAIN)
            add_unit(gpu, KMD_UNIT_EU_STALL, gt.id, &gt);
}
