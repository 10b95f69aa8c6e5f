/*
 * What the kernel reports of a GPU: tiles, topology, memory, clocks, counting units. Nothing here
 * fails: a GPU of which something is not known has no metrics, with the reason, and takes no other
 * GPU with it.
 */
#include <errno.h>
#include <stdio.h>

#include "plugins/intel/kmd/kernel.h"
#include "plugins/intel/kmd/xe.h"

/* Of the clock of engines on nearly all GPUs, for those that report none. */
#define REFERENCE_HZ 19200000u
/* No core clock is as fast. */
#define MHZ_MAX 18000u
/* Of that clock, if the kernel does not say: no GPU has fewer. */
#define LEAST_CLOCK_BITS 36u

/* The answers before they are sorted into tiles. */
struct survey {
    struct zeta_intel_gpu *gpu;
    struct zeta_xe_gt_list gts;
    struct zeta_xe_engine_list engines;
    struct zeta_xe_region_list regions;
    struct zeta_xe_unit_list units;
    uint32_t logged; /**< kinds of units of which one was left out with a message */
};

/* Asks a question that must have an answer; without one there are no metrics. */
static bool ask(struct zeta_intel_gpu *gpu, uint32_t query, const char *name,
                struct zeta_xe_answer *out_answer)
{
    const int result = zeta_xe_query(gpu, query, out_answer);

    if (result < 0)
        zeta_intel_no_metrics(gpu, "The xe driver failed the query %s: %s.", name,
                              zeta_intel_errno(-result).text);
    return result >= 0;
}

/* Frees an answer that was read; one that cannot be leaves no metrics. */
static bool answered(struct zeta_intel_gpu *gpu, struct zeta_xe_answer *answer, bool is_sound,
                     const struct zeta_xe_problem *problem)
{
    zeta_xe_answer_free(answer);
    if (!is_sound)
        zeta_intel_no_metrics(gpu,
                              "The xe driver answered what cannot be: %s. A newer kernel than this "
                              "version understands, or a fault of the kernel.",
                              problem->text);
    return is_sound;
}

/* What belongs to the whole GPU. */
static void ask_gpu(struct survey *survey)
{
    struct zeta_intel_gpu *gpu = survey->gpu;
    struct zeta_xe_problem problem = {""};
    struct zeta_xe_answer answer;
    int result;

    if (ask(gpu, ZETA_XE_QUERY_CONFIG, "CONFIG", &answer))
        (void)answered(gpu, &answer, zeta_xe_parse_revision(answer, &gpu->revision, &problem),
                       &problem);
    gpu->tile_count = 1;
    if (ask(gpu, ZETA_XE_QUERY_GT_LIST, "GT_LIST", &answer) &&
        !answered(gpu, &answer, zeta_xe_parse_gts(answer, &survey->gts, &problem), &problem))
        survey->gts.count = 0;
    for (uint32_t i = 0; i < survey->gts.count; i++) {
        if (survey->gts.items[i].tile_id >= gpu->tile_count)
            gpu->tile_count = survey->gts.items[i].tile_id + 1u;
    }
    if (ask(gpu, ZETA_XE_QUERY_ENGINES, "ENGINES", &answer))
        (void)answered(gpu, &answer, zeta_xe_parse_engines(answer, &survey->engines, &problem),
                       &problem);

    /* Metrics need no memory sizes, so that what is wrong here is only logged. */
    result = zeta_xe_query(gpu, ZETA_XE_QUERY_MEM_REGIONS, &answer);
    problem.text[0] = '\0';
    if (result < 0) {
        (void)snprintf(problem.text, sizeof(problem.text), "%s", zeta_intel_errno(-result).text);
    } else {
        (void)zeta_xe_parse_regions(answer, &survey->regions, &problem);
        zeta_xe_answer_free(&answer);
    }
    if (problem.text[0] != '\0')
        zeta_host_log(gpu->host, ZETA_PLUGIN_LOG_WARN,
                      "%s: the sizes of its memories are not known: %s", gpu->id, problem.text);
}

/* ---- tiles ---------------------------------------------------------------------------------- */

static const struct zeta_xe_gt *gt_find(const struct survey *survey, uint32_t gt_id)
{
    for (uint32_t i = 0; i < survey->gts.count; i++) {
        if (survey->gts.items[i].gt_id == gt_id)
            return &survey->gts.items[i];
    }
    return NULL;
}

/* Counts the engines of a tile, and chooses the one whose clock is read: best one that renders. */
static void sort_engines(const struct survey *survey, uint32_t tile_index)
{
    static const uint32_t order[ZETA_INTEL_ENGINE_CLASSES] = {
        ZETA_XE_ENGINE_RENDER, ZETA_XE_ENGINE_COMPUTE, ZETA_XE_ENGINE_COPY,
        ZETA_XE_ENGINE_VIDEO_DECODE, ZETA_XE_ENGINE_VIDEO_ENHANCE};
    struct zeta_intel_tile *tile = &survey->gpu->tiles[tile_index];
    uint32_t best = ZETA_INTEL_ENGINE_CLASSES;

    for (uint32_t i = 0; i < survey->engines.count; i++) {
        const struct zeta_xe_engine_class_instance *engine = &survey->engines.items[i].instance;
        const struct zeta_xe_gt *gt = gt_find(survey, engine->gt_id);

        if (!gt || gt->tile_id != tile_index || engine->engine_class >= ZETA_INTEL_ENGINE_CLASSES)
            continue;
        tile->topology.engines[engine->engine_class]++;
        for (uint32_t rank = 0; engine->gt_id == tile->gt && rank < best; rank++) {
            if (order[rank] == engine->engine_class) {
                best = rank;
                tile->clock_gt = engine->gt_id;
                tile->clock_class = engine->engine_class;
                tile->clock_instance = engine->engine_instance;
            }
        }
    }
}

/* Memory near to a GT; where the kernel does not say which, the one with the tile's number. */
static uint64_t near_memory(const struct survey *survey, const struct zeta_xe_gt *gt)
{
    uint64_t near_bytes = 0, nth_bytes = 0;
    uint32_t n = 0;

    for (uint32_t i = 0; i < survey->regions.count; i++) {
        const struct zeta_xe_mem_region *region = &survey->regions.items[i];

        if (region->mem_class != ZETA_XE_MEM_VRAM)
            continue;
        if (region->instance < 64 && (gt->near_mem_regions >> region->instance & 1) != 0)
            near_bytes += region->total_size;
        if (n++ == gt->tile_id)
            nth_bytes = region->total_size;
    }
    return near_bytes != 0 ? near_bytes : nth_bytes;
}

static uint64_t read_frequency(const struct survey *survey, const struct zeta_xe_gt *gt,
                               const char *name)
{
    char path[192];
    uint64_t mhz;

    (void)snprintf(path, sizeof(path), "%s/device/tile%u/gt%u/freq0/%s", survey->gpu->card,
                   gt->tile_id, gt->gt_id, name);
    return zeta_intel_file_read_u64(path, &mhz) && mhz < MHZ_MAX ? mhz * 1000000 : 0;
}

/* The limit can be set, also above what the hardware says. */
static uint64_t read_fastest(const struct survey *survey, const struct zeta_xe_gt *gt)
{
    const uint64_t of_hardware = read_frequency(survey, gt, "rp0_freq");
    const uint64_t limit = read_frequency(survey, gt, "max_freq");

    return limit > of_hardware ? limit : of_hardware;
}

static void ask_tile(struct survey *survey, uint32_t index)
{
    struct zeta_intel_gpu *gpu = survey->gpu;
    struct zeta_intel_tile *tile = &gpu->tiles[index];
    const struct zeta_xe_shape shape = {gpu->platform->graphics,
                                        gpu->platform->subslices_per_slice};
    const struct zeta_xe_gt *main_gt = NULL; /* of its render and compute engines */
    struct zeta_xe_engine_cycles cycles;
    struct zeta_xe_problem problem;
    struct zeta_xe_answer answer;
    struct zeta_xe_masks masks;

    tile->cs_timestamp_hz = REFERENCE_HZ;
    tile->cs_timestamp_bits = LEAST_CLOCK_BITS;
    for (uint32_t i = 0; i < survey->gts.count; i++) {
        const struct zeta_xe_gt *gt = &survey->gts.items[i];

        if (gt->tile_id != index)
            continue;
        if (gt->type != ZETA_XE_GT_MAIN) {
            const uint64_t hz = read_fastest(survey, gt);

            tile->fastest_media_hz = hz > tile->fastest_media_hz ? hz : tile->fastest_media_hz;
        } else if (!main_gt) {
            main_gt = gt;
        }
    }
    if (!main_gt) {
        zeta_intel_no_metrics(
            gpu, "The xe driver reports no GT with render or compute engines on tile %u.", index);
        return;
    }
    tile->gt = main_gt->gt_id;
    tile->memory_bytes = near_memory(survey, main_gt);
    if (ask(gpu, ZETA_XE_QUERY_GT_TOPOLOGY, "GT_TOPOLOGY", &answer))
        (void)answered(gpu, &answer,
                       zeta_xe_parse_masks(answer, main_gt->gt_id, &masks, &problem) &&
                           zeta_xe_topology_make(&masks, &shape, &tile->topology, &problem),
                       &problem);
    sort_engines(survey, index);
    /* Tiles have one time, and some kernels read it on the first one only. */
    if (index > 0) {
        tile->clock_gt = gpu->tiles[0].clock_gt;
        tile->clock_class = gpu->tiles[0].clock_class;
        tile->clock_instance = gpu->tiles[0].clock_instance;
    }
    tile->min_hz = read_frequency(survey, main_gt, "min_freq");
    tile->max_hz = read_frequency(survey, main_gt, "max_freq");
    if (tile->max_hz == 0)
        tile->max_hz = read_frequency(survey, main_gt, "rp0_freq");
    tile->fastest_hz = read_fastest(survey, main_gt);
    if (main_gt->reference_clock != 0)
        tile->cs_timestamp_hz = main_gt->reference_clock;
    if (zeta_xe_cycles(gpu, tile, &cycles) == 0 && cycles.width > 0 && cycles.width <= 64)
        tile->cs_timestamp_bits = cycles.width;
}

/* ---- counting units ------------------------------------------------------------------------- */

/*
 * The GT that a unit counts on. Older kernels do not say it, but which engines it counts; and for
 * a unit that lists none, the n-th of the GTs of its type.
 */
static const struct zeta_xe_gt *unit_gt(const struct survey *survey, uint32_t index)
{
    const struct zeta_xe_unit *unit = &survey->units.items[index];
    const bool is_main = unit->head.oa_unit_type == ZETA_XE_OA_UNIT_OAG;
    uint32_t n = 0;

    if ((unit->head.capabilities & ZETA_XE_OA_CAPS_OA_UNIT_GT_ID) != 0)
        return gt_find(survey, unit->head.gt_id);
    if (unit->has_engine)
        return gt_find(survey, unit->engine.gt_id);
    for (uint32_t i = 0; i < index; i++) {
        if ((survey->units.items[i].head.oa_unit_type == ZETA_XE_OA_UNIT_OAG) == is_main)
            n++;
    }
    for (uint32_t i = 0; i < survey->gts.count; i++) {
        const struct zeta_xe_gt *gt = &survey->gts.items[i];

        if ((gt->type == ZETA_XE_GT_MAIN) == is_main && n-- == 0)
            return gt;
    }
    return NULL;
}

/* Names a unit as set files do; false: a second one where there can be one only. */
static bool name_unit(const struct zeta_intel_gpu *gpu, struct zeta_intel_unit *unit)
{
    static const char *const names[] = {"oa", "oam", "oam-sag", "mert", "eu-stall"};
    uint32_t number = 0;

    for (uint32_t i = 0; i < gpu->unit_count; i++)
        number += gpu->units[i].kind == unit->kind && gpu->units[i].tile == unit->tile;
    (void)snprintf(unit->name, sizeof(unit->name), unit->kind == ZETA_INTEL_OAM ? "%s%u" : "%s",
                   names[unit->kind], number);
    return unit->kind == ZETA_INTEL_OAM || number == 0;
}

/* Why a unit that the kernel lists cannot be used; NULL: it can. */
static const char *unit_problem(const struct zeta_xe_oa_unit *head, const struct zeta_xe_gt *gt)
{
    const bool is_media =
        head->oa_unit_type == ZETA_XE_OA_UNIT_OAM || head->oa_unit_type == ZETA_XE_OA_UNIT_OAM_SAG;

    if (head->oa_unit_type > ZETA_XE_OA_UNIT_MERT)
        return "its kind is not known";
    if ((head->capabilities & ZETA_XE_OA_CAPS_BASE) == 0)
        return "it has no capabilities";
    if (is_media && (head->capabilities & ZETA_XE_OA_CAPS_OAM) == 0)
        return "this kernel cannot use media units yet";
    if (head->oa_timestamp_freq == 0 || head->oa_timestamp_freq > 1000000000)
        return "the frequency of its clock is invalid";
    return gt ? NULL : "its GT does not exist";
}

static void add_oa_unit(struct survey *survey, uint32_t index)
{
    static const enum zeta_intel_unit_kind kinds[] = {ZETA_INTEL_OAG, ZETA_INTEL_OAM,
                                                      ZETA_INTEL_OAM_SAG, ZETA_INTEL_MERT};
    const struct zeta_xe_oa_unit *head = &survey->units.items[index].head;
    const struct zeta_xe_gt *gt = unit_gt(survey, index);
    const char *problem = unit_problem(head, gt);
    const uint32_t bit = UINT32_C(1) << (head->oa_unit_type < 31 ? head->oa_unit_type : 31);
    struct zeta_intel_gpu *gpu = survey->gpu;
    struct zeta_intel_unit *unit = &gpu->units[gpu->unit_count];

    if (!problem) {
        *unit = (struct zeta_intel_unit){
            .kind = kinds[head->oa_unit_type],
            .tile = gt->tile_id,
            .gt = gt->gt_id,
            .kernel_id = head->oa_unit_id,
            .timestamp_hz = head->oa_timestamp_freq,
            .can_size_buffer = (head->capabilities & ZETA_XE_OA_CAPS_OA_BUFFER_SIZE) != 0,
            .can_wait_for_reports = (head->capabilities & ZETA_XE_OA_CAPS_WAIT_NUM_REPORTS) != 0,
        };
        if (!name_unit(gpu, unit))
            problem = "its tile has one of its kind already";
    }
    if (!problem)
        gpu->unit_count++;
    else if ((survey->logged & bit) == 0)
        /* Of the first unit of a kind only: of others like it the same holds. */
        zeta_host_log(gpu->host, ZETA_PLUGIN_LOG_WARN,
                      "%s: the OA unit %u (kind %u) of the kernel is left out: %s; its groups are "
                      "not listed",
                      gpu->id, head->oa_unit_id, head->oa_unit_type, problem);
    if (problem)
        survey->logged |= bit;
}

static void ask_units(struct survey *survey)
{
    struct zeta_intel_gpu *gpu = survey->gpu;
    struct zeta_intel_unit stalls = {.kind = ZETA_INTEL_EU_STALL, .can_wait_for_reports = true};
    struct zeta_xe_problem problem;
    struct zeta_xe_answer answer;
    uint64_t unused;
    int result;

    if (!zeta_intel_sysctl_read(zeta_intel_xe.sysctl, &unused)) {
        zeta_intel_no_metrics(
            gpu,
            "This kernel's xe driver cannot observe: there is no sysctl %s. It came with "
            "Linux 6.11.",
            zeta_intel_xe.sysctl);
        return;
    }
    result = zeta_xe_query(gpu, ZETA_XE_QUERY_OA_UNITS, &answer);
    if (result >= 0) {
        if (answered(gpu, &answer, zeta_xe_parse_units(answer, &survey->units, &problem), &problem))
            for (uint32_t i = 0; i < survey->units.count; i++)
                add_oa_unit(survey, i);
    } else if (result != -ENODEV && result != -EOPNOTSUPP) {
        zeta_intel_no_metrics(gpu, "The xe driver failed the query OA_UNITS: %s.",
                              zeta_intel_errno(-result).text);
    }

    /* One unit for the main GT of each tile. Kernels and GPUs without the sampler answer an error.
     */
    if (zeta_xe_query(gpu, ZETA_XE_QUERY_EU_STALL, &answer) >= 0) {
        if (zeta_xe_parse_eu_stall(answer, &stalls, &unused, &problem)) {
            for (uint32_t i = 0; i < gpu->tile_count && gpu->unit_count < ZETA_INTEL_UNITS; i++) {
                stalls.tile = i;
                stalls.gt = stalls.kernel_id = gpu->tiles[i].gt;
                stalls.timestamp_hz = gpu->tiles[i].max_hz;
                if (name_unit(gpu, &stalls))
                    gpu->units[gpu->unit_count++] = stalls;
            }
        } else {
            zeta_host_log(gpu->host, ZETA_PLUGIN_LOG_WARN, "%s: EU stalls cannot be sampled: %s",
                          gpu->id, problem.text);
        }
        zeta_xe_answer_free(&answer);
    }
    if (gpu->unit_count == 0)
        zeta_intel_no_metrics(
            gpu, "The xe driver reports no counting unit that can be used: it has none for virtual "
                 "functions of a shared GPU (sample on the host), and none when the firmware GuC "
                 "is off (see dmesg).");
}

uint32_t zeta_xe_probe(struct zeta_intel_gpu *gpu)
{
    struct survey survey = {.gpu = gpu};
    const uint64_t nothing = UINT64_MAX;

    gpu->unit_count = 0;
    ask_gpu(&survey);
    for (uint32_t i = 0; i < gpu->tile_count; i++)
        ask_tile(&survey, i);
    ask_units(&survey);
    if (gpu->no_metrics[0] != '\0')
        gpu->unit_count = 0;
    /* There is no configuration with that number to remove, but permission is checked first. */
    else if (zeta_xe_observe(gpu, ZETA_XE_OBSERVATION_OA, ZETA_XE_OP_REMOVE_CONFIG, &nothing) ==
             -EACCES)
        zeta_intel_note_permission(gpu);
    return ZETA_PLUGIN_SUCCESS;
}
