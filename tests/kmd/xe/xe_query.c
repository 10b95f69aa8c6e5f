/* Answers of DEVICE_QUERY: functions of the description of a GPU alone. */

#include "xe_priv.h"

#include <errno.h>
#include <string.h>

/* Appends bytes to an answer. */
static void put(struct kmd_xe_answer *answer, const void *data, size_t bytes)
{
    if (answer->bytes + bytes > sizeof(answer->data))
        return;
    memcpy((uint8_t *)answer->data + answer->bytes, data, bytes);
    answer->bytes += (uint32_t)bytes;
}

static void put_count(struct kmd_xe_answer *answer, uint32_t count)
{
    put(answer, &(struct kmd_xe_count){.count = count}, sizeof(struct kmd_xe_count));
}

static struct kmd_xe_engine name_of(const struct kmd_engine *engine)
{
    return (struct kmd_xe_engine){
        .engine_class = engine->class, .instance = engine->instance, .gt_id = engine->gt};
}

static int query_engines(const struct kmd_gpu *gpu, struct kmd_xe_answer *answer)
{
    put_count(answer, gpu->engine_count);
    for (uint32_t i = 0; i < gpu->engine_count; i++) {
        struct kmd_xe_engine_info info = {.engine = name_of(&gpu->engines[i])};
        put(answer, &info, sizeof(info));
    }
    return 0;
}

/* Region 0 is the system's memory, region 1 + n that of tile n. */
static int query_regions(const struct kmd_gpu *gpu, struct kmd_xe_answer *answer)
{
    uint64_t vram_bytes = kmd_gpu_platform(gpu)->vram_bytes;
    uint32_t own = vram_bytes ? gpu->tiles : 0;
    put_count(answer, 1 + own);
    struct kmd_xe_region region = {
        .region_class = 0, .min_page_size = 4096, .total_bytes = UINT64_C(16) << 30};
    put(answer, &region, sizeof(region));
    for (uint32_t i = 0; i < own; i++) {
        region = (struct kmd_xe_region){.region_class = 1,
                                        .instance = (uint16_t)(i + 1),
                                        .min_page_size = 65536,
                                        .total_bytes = vram_bytes,
                                        .visible_bytes = vram_bytes};
        put(answer, &region, sizeof(region));
    }
    return 0;
}

static int query_config(const struct kmd_gpu *gpu, struct kmd_xe_answer *answer)
{
    const struct kmd_platform *platform = kmd_gpu_platform(gpu);
    uint64_t info[KMD_XE_CONFIG_COUNT] = {0};
    info[KMD_XE_CONFIG_DEVICE] = gpu->pci_id | (uint64_t)gpu->revision << 16;
    info[KMD_XE_CONFIG_FLAGS] = platform->vram_bytes ? 1 : 0;
    info[KMD_XE_CONFIG_ALIGNMENT] = platform->vram_bytes ? 65536 : 4096;
    info[KMD_XE_CONFIG_VA_BITS] = platform->graphics == 1260 ? 57 : 48;
    info[KMD_XE_CONFIG_PRIORITY] = 1;
    put_count(answer, KMD_XE_CONFIG_COUNT);
    put(answer, info, sizeof(info));
    return 0;
}

static int query_gts(const struct kmd_gpu *gpu, struct kmd_xe_answer *answer)
{
    bool has_vram = kmd_gpu_platform(gpu)->vram_bytes != 0;
    uint64_t regions = has_vram ? (UINT64_C(1) << (gpu->tiles + 1)) - 1 : 1;
    put_count(answer, kmd_xe_gt_count(gpu));
    struct kmd_xe_gt_info info;
    for (uint32_t id = 0; kmd_xe_gt(gpu, id, &info); id++) {
        uint64_t near = has_vram ? UINT64_C(1) << (info.tile + 1) : 1;
        struct kmd_xe_gt gt = {
            .type = info.type,
            .tile_id = info.tile,
            .gt_id = info.id,
            .reference_clock = (uint32_t)gpu->cs_hz,
            .near_regions = near,
            .far_regions = regions & ~near,
            .ip_major = (uint16_t)(info.ip / 100),
            .ip_minor = (uint16_t)(info.ip % 100),
            .ip_revision = (uint16_t)gpu->revision,
        };
        put(answer, &gt, sizeof(gt));
    }
    return 0;
}

/* Keys of the table that the firmware hands out: places for slices, for Xe cores, for EUs in one.
 */
static int query_hwconfig(const struct kmd_gpu *gpu, struct kmd_xe_answer *answer)
{
    const struct kmd_platform *platform = kmd_gpu_platform(gpu);
    if (platform->graphics < 1255)
        return 0; /* its firmware has none: an empty answer */
    const uint32_t table[] = {1, 1, platform->max_slices,
                              2, 1, platform->max_slices * platform->max_subslices,
                              3, 1, platform->max_eus};
    put(answer, table, sizeof(table));
    return 0;
}

static void put_mask(struct kmd_xe_answer *answer, uint16_t gt, uint16_t type, const void *mask,
                     uint32_t bytes)
{
    struct kmd_xe_topology head = {.gt_id = gt, .type = type, .bytes = bytes};
    put(answer, &head, sizeof(head));
    put(answer, mask, bytes);
}

static uint64_t low_bits(uint32_t count)
{
    return count >= 64 ? UINT64_MAX : (UINT64_C(1) << count) - 1;
}

/* EUs of a core. The first drivers told two bits for each of the wide EUs. */
static void put_eus(const struct kmd_gpu *gpu, struct kmd_xe_answer *answer, uint16_t gt)
{
    uint32_t graphics = kmd_gpu_platform(gpu)->graphics;
    bool is_wide = graphics == 1260 || graphics >= 2000;
    bool is_old = !(kmd_xe_capabilities(gpu) & KMD_XE_CAP_SYNCS);
    uint64_t eus = low_bits(is_wide && is_old ? 2 * gpu->eus : gpu->eus);
    put_mask(answer, gt, is_wide && !is_old ? KMD_XE_SIMD16_EU_PER_DSS : KMD_XE_EU_PER_DSS, &eus,
             sizeof(eus));
}

/* The masks of a media GT are empty. */
static int query_topology(const struct kmd_gpu *gpu, struct kmd_xe_answer *answer)
{
    static const uint8_t none[KMD_XE_CORE_BYTES];
    const struct kmd_platform *platform = kmd_gpu_platform(gpu);
    uint64_t banks = low_bits(platform->l3_banks);
    uint8_t cores[KMD_XE_CORE_BYTES];
    kmd_xe_cores(gpu, cores);
    struct kmd_xe_gt_info gt;
    for (uint32_t id = 0; kmd_xe_gt(gpu, id, &gt); id++) {
        bool is_main = gt.type == KMD_XE_GT_MAIN;
        bool draws = is_main && platform->engines[KMD_XE_RENDER];
        bool computes = is_main && (platform->engines[KMD_XE_COMPUTE] || !draws);
        put_mask(answer, gt.id, KMD_XE_DSS_GEOMETRY, draws ? cores : none, sizeof(none));
        put_mask(answer, gt.id, KMD_XE_DSS_COMPUTE, computes ? cores : none, sizeof(none));
        if (is_main && banks)
            put_mask(answer, gt.id, KMD_XE_L3_BANK, &banks, sizeof(banks));
        if (is_main)
            put_eus(gpu, answer, gt.id);
        else
            put_mask(answer, gt.id, KMD_XE_EU_PER_DSS, none, sizeof(uint64_t));
    }
    return 0;
}

static uint32_t type_of(const struct kmd_unit *unit)
{
    switch (unit->kind) {
    case KMD_UNIT_OAM:
        return KMD_XE_OAM;
    case KMD_UNIT_OAM_SAG:
        return KMD_XE_OAM_SAG;
    case KMD_UNIT_MERT:
        return KMD_XE_MERT;
    default:
        return KMD_XE_OAG;
    }
}

static void put_unit(const struct kmd_gpu *gpu, uint32_t index, struct kmd_xe_answer *answer)
{
    struct kmd_xe_engine engines[KMD_ENGINES];
    uint32_t count = 0;
    for (uint32_t i = 0; i < gpu->engine_count; i++)
        if (gpu->engines[i].unit == index)
            engines[count++] = name_of(&gpu->engines[i]);
    const struct kmd_unit *unit = &gpu->units[index];
    uint32_t capabilities = kmd_xe_capabilities(gpu);
    struct kmd_xe_oa_unit info = {
        .id = unit->id,
        .type = type_of(unit),
        .capabilities = capabilities,
        .timestamp_hz = unit->oa_hz,
        .gt_id = capabilities & KMD_XE_CAP_UNIT_GT_ID ? (uint16_t)unit->gt : 0,
        .num_engines = count,
    };
    put(answer, &info, sizeof(info));
    put(answer, engines, count * sizeof(engines[0]));
}

static int query_units(const struct kmd_gpu *gpu, struct kmd_xe_answer *answer)
{
    struct kmd_xe_oa_units head = {0};
    for (uint32_t i = 0; i < gpu->unit_count; i++)
        head.count += gpu->units[i].kind != KMD_UNIT_EU_STALL;
    put(answer, &head, sizeof(head));
    for (uint32_t i = 0; i < gpu->unit_count; i++)
        if (gpu->units[i].kind != KMD_UNIT_EU_STALL)
            put_unit(gpu, i, answer);
    return 0;
}

static int query_eu_stall(const struct kmd_gpu *gpu, struct kmd_xe_answer *answer)
{
    if (!kmd_xe_samples_stalls(gpu))
        return -ENODEV;
    struct kmd_xe_eu_stall head = {.capabilities = 1,
                                   .record_bytes = KMD_XE_STALL_RECORD_BYTES,
                                   .buffer_bytes = KMD_XE_STALL_BUFFER_BYTES,
                                   .num_rates = KMD_XE_STALL_RATES};
    put(answer, &head, sizeof(head));
    for (uint64_t i = 1; i <= KMD_XE_STALL_RATES; i++)
        put(answer, &(uint64_t){i * KMD_XE_STALL_CYCLES}, sizeof(uint64_t));
    return 0;
}

int kmd_xe_answer(const struct kmd_gpu *gpu, uint32_t query, struct kmd_xe_answer *out_answer)
{
    out_answer->bytes = 0;
    switch (query) {
    case KMD_XE_QUERY_ENGINES:
        return query_engines(gpu, out_answer);
    case KMD_XE_QUERY_MEM_REGIONS:
        return query_regions(gpu, out_answer);
    case KMD_XE_QUERY_CONFIG:
        return query_config(gpu, out_answer);
    case KMD_XE_QUERY_GT_LIST:
        return query_gts(gpu, out_answer);
    case KMD_XE_QUERY_HWCONFIG:
        return query_hwconfig(gpu, out_answer);
    case KMD_XE_QUERY_GT_TOPOLOGY:
        return query_topology(gpu, out_answer);
    case KMD_XE_QUERY_OA_UNITS:
        return query_units(gpu, out_answer);
    case KMD_XE_QUERY_EU_STALL:
        return query_eu_stall(gpu, out_answer);
    default:
        return -EINVAL; /* also versions of firmware and PXP, of which the emulation knows nothing
                         */
    }
}
