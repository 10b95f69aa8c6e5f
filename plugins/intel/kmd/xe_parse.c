#include "plugins/intel/kmd/xe.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zeta/c_locale.h>

/* Subslices that the mask of a slice holds. */
enum { SLICE_BITS = 32 };

static bool say(struct zeta_xe_problem *problem, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static bool say(struct zeta_xe_problem *problem, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    (void)zeta_c_vsnprintf(problem->text, sizeof(problem->text), format, arguments);
    va_end(arguments);
    return false;
}

/* Copies bytes of an answer; false if it is shorter. */
static bool take(struct zeta_xe_answer answer, size_t offset, void *out, size_t bytes)
{
    if (offset > answer.bytes || bytes > answer.bytes - offset)
        return false;
    memcpy(out, (const char *)answer.data + offset, bytes);
    return true;
}

/* ---- lists of elements of one size ---------------------------------------------------------- */

/* Copies the elements of a list, as many as there is room for. */
static bool read_list(struct zeta_xe_answer answer, const char *name, void *out_items,
                      size_t item_bytes, uint32_t room, uint32_t *out_count,
                      struct zeta_xe_problem *problem)
{
    struct zeta_xe_list head;

    *out_count = 0;
    if (!take(answer, 0, &head, sizeof(head)))
        return say(problem, "the answer %s has %zu bytes", name, answer.bytes);
    if (head.count > (answer.bytes - sizeof(head)) / item_bytes)
        return say(problem, "the answer %s reports %u elements and has %zu bytes", name, head.count,
                   answer.bytes);
    *out_count = head.count < room ? head.count : room;
    return take(answer, sizeof(head), out_items, *out_count * item_bytes);
}

bool zeta_xe_parse_revision(struct zeta_xe_answer answer, uint32_t *out_revision,
                            struct zeta_xe_problem *problem)
{
    uint64_t values[ZETA_XE_CONFIG_REV_AND_DEVICE_ID + 1];
    uint32_t count;

    if (!read_list(answer, "CONFIG", values, sizeof(values[0]),
                   ZETA_XE_CONFIG_REV_AND_DEVICE_ID + 1, &count, problem))
        return false;
    if (count <= ZETA_XE_CONFIG_REV_AND_DEVICE_ID)
        return say(problem, "the answer CONFIG has no device id and revision");
    *out_revision = (uint32_t)(values[ZETA_XE_CONFIG_REV_AND_DEVICE_ID] >> 16) & 0xffff;
    return true;
}

bool zeta_xe_parse_engines(struct zeta_xe_answer answer, struct zeta_xe_engine_list *out_engines,
                           struct zeta_xe_problem *problem)
{
    return read_list(answer, "ENGINES", out_engines->items, sizeof(out_engines->items[0]),
                     ZETA_XE_ENGINES, &out_engines->count, problem);
}

bool zeta_xe_parse_regions(struct zeta_xe_answer answer, struct zeta_xe_region_list *out_regions,
                           struct zeta_xe_problem *problem)
{
    return read_list(answer, "MEM_REGIONS", out_regions->items, sizeof(out_regions->items[0]),
                     ZETA_XE_REGIONS, &out_regions->count, problem);
}

bool zeta_xe_parse_gts(struct zeta_xe_answer answer, struct zeta_xe_gt_list *out_gts,
                       struct zeta_xe_problem *problem)
{
    if (!read_list(answer, "GT_LIST", out_gts->items, sizeof(out_gts->items[0]), ZETA_XE_GTS,
                   &out_gts->count, problem))
        return false;
    if (out_gts->count == 0)
        return say(problem, "the answer GT_LIST is empty");
    for (uint32_t i = 0; i < out_gts->count; i++) {
        const struct zeta_xe_gt *gt = &out_gts->items[i];

        if (gt->tile_id >= ZETA_INTEL_TILES)
            return say(problem, "the answer GT_LIST reports tile %u, and no GPU has more than %d",
                       gt->tile_id, ZETA_INTEL_TILES);
        for (uint32_t k = 0; k < i; k++) {
            if (out_gts->items[k].gt_id == gt->gt_id)
                return say(problem, "the answer GT_LIST lists GT %u twice", gt->gt_id);
        }
    }
    return true;
}

/* ---- topology ------------------------------------------------------------------------------- */

bool zeta_xe_parse_masks(struct zeta_xe_answer answer, uint32_t gt_id,
                         struct zeta_xe_masks *out_masks, struct zeta_xe_problem *problem)
{
    struct zeta_xe_topology_mask head;

    *out_masks = (struct zeta_xe_masks){0};
    for (size_t at = 0; at < answer.bytes; at += head.num_bytes) {
        if (!take(answer, at, &head, sizeof(head)))
            return say(problem, "the answer GT_TOPOLOGY ends within a mask");
        at += sizeof(head);
        if (head.num_bytes > answer.bytes - at)
            return say(problem, "the answer GT_TOPOLOGY ends within a mask of %u bytes",
                       head.num_bytes);
        if (head.gt_id == gt_id && head.type <= ZETA_XE_TOPO_SIMD16_EU_PER_DSS) {
            struct zeta_xe_mask *mask = &out_masks->types[head.type];

            *mask = (struct zeta_xe_mask){.is_there = true};
            (void)take(answer, at, mask->bytes,
                       head.num_bytes < sizeof(mask->bytes) ? head.num_bytes : sizeof(mask->bytes));
        }
    }
    return true;
}

/* Set bits of a mask. */
static uint32_t count_bits(const struct zeta_xe_mask *mask)
{
    uint32_t count = 0;

    for (size_t i = 0; i < sizeof(mask->bytes); i++) {
        for (uint32_t bits = mask->bytes[i]; bits != 0; bits &= bits - 1)
            count++;
    }
    return count;
}

bool zeta_xe_topology_make(const struct zeta_xe_masks *masks, const struct zeta_xe_shape *shape,
                           struct zeta_intel_topology *out_topology,
                           struct zeta_xe_problem *problem)
{
    const struct zeta_xe_mask *types = masks->types;
    const uint32_t per_slice =
        shape->subslices_per_slice == 0 || shape->subslices_per_slice > SLICE_BITS
            ? SLICE_BITS
            : shape->subslices_per_slice;
    struct zeta_intel_topology topology = {.max_subslices = per_slice};
    uint32_t highest = 0;

    for (uint32_t bit = 0; bit < ZETA_XE_MASK_BITS; bit++) {
        const uint32_t both = types[ZETA_XE_TOPO_DSS_GEOMETRY].bytes[bit / 8] |
                              types[ZETA_XE_TOPO_DSS_COMPUTE].bytes[bit / 8];
        const uint32_t slice = bit / per_slice;

        if ((both >> (bit % 8) & 1) == 0)
            continue;
        if (slice >= ZETA_INTEL_SLICES)
            return say(problem,
                       "the answer GT_TOPOLOGY reports subslice %u, which is slice %u of %d", bit,
                       slice, ZETA_INTEL_SLICES);
        topology.slices += topology.subslice_mask[slice] == 0;
        topology.subslice_mask[slice] |= 1u << (bit % per_slice);
        topology.subslices++;
        topology.max_slices = slice + 1;
        highest = bit;
    }
    if (topology.subslices == 0)
        return say(problem, "the answer GT_TOPOLOGY reports no subslice");
    if (shape->subslices_per_slice == 0 && topology.max_slices == 1)
        topology.max_subslices = highest + 1;
    /*
     * From Xe2 on the kernel reports EUs as 16 lanes wide; its first releases reported each as two.
     * It has never done so for a generation after Xe2, so the version is no matter of data.
     */
    if (types[ZETA_XE_TOPO_SIMD16_EU_PER_DSS].is_there)
        topology.max_eus = count_bits(&types[ZETA_XE_TOPO_SIMD16_EU_PER_DSS]);
    else
        topology.max_eus =
            count_bits(&types[ZETA_XE_TOPO_EU_PER_DSS]) / (shape->graphics >= 2000 ? 2 : 1);
    if (topology.max_eus == 0)
        return say(problem, "the answer GT_TOPOLOGY reports no EU");
    topology.eus = topology.subslices * topology.max_eus;
    topology.l3_banks = count_bits(&types[ZETA_XE_TOPO_L3_BANK]);
    memcpy(topology.engines, out_topology->engines, sizeof(topology.engines));
    *out_topology = topology;
    return true;
}

/* ---- counting units ------------------------------------------------------------------------- */

bool zeta_xe_parse_units(struct zeta_xe_answer answer, struct zeta_xe_unit_list *out_units,
                         struct zeta_xe_problem *problem)
{
    struct zeta_xe_oa_units head;
    size_t at = sizeof(head);

    *out_units = (struct zeta_xe_unit_list){0};
    if (!take(answer, 0, &head, sizeof(head)))
        return say(problem, "the answer OA_UNITS has %zu bytes", answer.bytes);
    for (uint32_t i = 0; i < head.num_oa_units && i < ZETA_INTEL_UNITS; i++) {
        struct zeta_xe_unit *unit = &out_units->items[i];

        if (!take(answer, at, &unit->head, sizeof(unit->head)))
            return say(problem, "the answer OA_UNITS reports %u units and ends within unit %u",
                       head.num_oa_units, i);
        at += sizeof(unit->head);
        if (unit->head.num_engines > (answer.bytes - at) / sizeof(unit->engine))
            return say(problem, "the answer OA_UNITS ends within the engines of unit %u", i);
        unit->has_engine =
            unit->head.num_engines > 0 && take(answer, at, &unit->engine, sizeof(unit->engine));
        at += (size_t)unit->head.num_engines * sizeof(unit->engine);
        out_units->count++;
    }
    return true;
}

static int compare_rates(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

bool zeta_xe_parse_eu_stall(struct zeta_xe_answer answer, struct zeta_intel_unit *out_unit,
                            uint64_t *out_buffer_bytes, struct zeta_xe_problem *problem)
{
    const size_t room = sizeof(out_unit->rates) / sizeof(out_unit->rates[0]);
    struct zeta_xe_eu_stall head;
    size_t used = 0;

    if (!take(answer, 0, &head, sizeof(head)))
        return say(problem, "the answer EU_STALL has %zu bytes", answer.bytes);
    if (head.num_sampling_rates > (answer.bytes - sizeof(head)) / sizeof(uint64_t))
        return say(problem, "the answer EU_STALL ends within its rates");
    if (head.record_size == 0 || head.record_size > 4096)
        return say(problem, "the answer EU_STALL reports records of %llu bytes",
                   (unsigned long long)head.record_size);
    if ((head.capabilities & ZETA_XE_EU_STALL_CAPS_BASE) == 0)
        return say(problem, "the answer EU_STALL reports no capability");
    memset(out_unit->rates, 0, sizeof(out_unit->rates));
    for (uint64_t i = 0; i < head.num_sampling_rates && used < room; i++) {
        uint64_t rate = 0;
        bool is_known = false;

        (void)take(answer, sizeof(head) + (size_t)i * sizeof(rate), &rate, sizeof(rate));
        for (size_t k = 0; k < used; k++)
            is_known = is_known || out_unit->rates[k] == rate;
        if (rate != 0 && rate <= UINT32_MAX && !is_known)
            out_unit->rates[used++] = rate;
    }
    if (used == 0)
        return say(problem, "the answer EU_STALL reports no rate");
    qsort(out_unit->rates, used, sizeof(out_unit->rates[0]), compare_rates);
    out_unit->record_bytes = (uint32_t)head.record_size;
    *out_buffer_bytes = head.per_xecore_buf_size;
    return true;
}
