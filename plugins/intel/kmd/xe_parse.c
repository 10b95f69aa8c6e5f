#include "plugins/intel/kmd/xe_parse.h"

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

/* The count at the begin of a list, of which so many elements are in the answer. */
static bool list_count(struct zeta_xe_answer answer, const char *name, size_t element_bytes,
                       uint32_t *out_count, struct zeta_xe_problem *problem)
{
    struct zeta_xe_list head;

    if (!take(answer, 0, &head, sizeof(head)))
        return say(problem, "the answer %s has %zu bytes", name, answer.bytes);
    if (head.count > (answer.bytes - sizeof(head)) / element_bytes)
        return say(problem, "the answer %s reports %u elements and has %zu bytes", name, head.count,
                   answer.bytes);
    *out_count = head.count;
    return true;
}

bool zeta_xe_parse_revision(struct zeta_xe_answer answer, uint32_t *out_revision,
                            struct zeta_xe_problem *problem)
{
    uint64_t value = 0;
    uint32_t count = 0;

    if (!list_count(answer, "CONFIG", sizeof(value), &count, problem))
        return false;
    if (count <= ZETA_XE_CONFIG_REV_AND_DEVICE_ID)
        return say(problem, "the answer CONFIG has no device id and revision");
    (void)take(answer,
               sizeof(struct zeta_xe_list) + ZETA_XE_CONFIG_REV_AND_DEVICE_ID * sizeof(value),
               &value, sizeof(value));
    *out_revision = (uint32_t)(value >> 16) & 0xffff;
    return true;
}

bool zeta_xe_parse_engines(struct zeta_xe_answer answer, struct zeta_xe_engine_list *out_engines,
                           struct zeta_xe_problem *problem)
{
    uint32_t count = 0;

    *out_engines = (struct zeta_xe_engine_list){0};
    if (!list_count(answer, "ENGINES", sizeof(struct zeta_xe_engine), &count, problem))
        return false;
    for (uint32_t i = 0; i < count && i < ZETA_XE_ENGINES; i++) {
        struct zeta_xe_engine engine = {0};

        (void)take(answer, sizeof(struct zeta_xe_list) + i * sizeof(engine), &engine,
                   sizeof(engine));
        out_engines->items[out_engines->count++] = engine.instance;
    }
    return true;
}

bool zeta_xe_parse_gts(struct zeta_xe_answer answer, struct zeta_xe_gt_list *out_gts,
                       struct zeta_xe_problem *problem)
{
    uint32_t count = 0;

    *out_gts = (struct zeta_xe_gt_list){0};
    if (!list_count(answer, "GT_LIST", sizeof(struct zeta_xe_gt), &count, problem))
        return false;
    if (count == 0)
        return say(problem, "the answer GT_LIST is empty");
    for (uint32_t i = 0; i < count && i < ZETA_XE_GTS; i++) {
        struct zeta_xe_gt gt = {0};

        (void)take(answer, sizeof(struct zeta_xe_list) + i * sizeof(gt), &gt, sizeof(gt));
        if (gt.tile_id >= ZETA_INTEL_TILES)
            return say(problem, "the answer GT_LIST reports tile %u, and no GPU has more than %d",
                       gt.tile_id, ZETA_INTEL_TILES);
        for (uint32_t k = 0; k < out_gts->count; k++) {
            if (out_gts->items[k].gt_id == gt.gt_id)
                return say(problem, "the answer GT_LIST lists GT %u twice", gt.gt_id);
        }
        out_gts->items[out_gts->count++] = gt;
    }
    return true;
}

bool zeta_xe_parse_regions(struct zeta_xe_answer answer, struct zeta_xe_region_list *out_regions,
                           struct zeta_xe_problem *problem)
{
    uint32_t count = 0;

    *out_regions = (struct zeta_xe_region_list){0};
    if (!list_count(answer, "MEM_REGIONS", sizeof(struct zeta_xe_mem_region), &count, problem))
        return false;
    for (uint32_t i = 0; i < count && i < ZETA_XE_REGIONS; i++) {
        (void)take(answer, sizeof(struct zeta_xe_list) + i * sizeof(struct zeta_xe_mem_region),
                   &out_regions->items[i], sizeof(struct zeta_xe_mem_region));
        out_regions->count++;
    }
    return true;
}

/* ---- topology ------------------------------------------------------------------------------- */

static struct zeta_xe_mask *mask_of_type(struct zeta_xe_masks *masks, uint32_t type)
{
    switch (type) {
    case ZETA_XE_TOPO_DSS_GEOMETRY:
        return &masks->geometry;
    case ZETA_XE_TOPO_DSS_COMPUTE:
        return &masks->compute;
    case ZETA_XE_TOPO_L3_BANK:
        return &masks->l3_banks;
    case ZETA_XE_TOPO_EU_PER_DSS:
        return &masks->eus;
    case ZETA_XE_TOPO_SIMD16_EU_PER_DSS:
        return &masks->simd16_eus;
    default:
        return NULL;
    }
}

bool zeta_xe_parse_masks(struct zeta_xe_answer answer, uint32_t gt_id,
                         struct zeta_xe_masks *out_masks, struct zeta_xe_problem *problem)
{
    struct zeta_xe_topology_mask head;
    size_t at = 0;

    *out_masks = (struct zeta_xe_masks){0};
    while (at < answer.bytes) {
        struct zeta_xe_mask *mask;

        if (!take(answer, at, &head, sizeof(head)))
            return say(problem, "the answer GT_TOPOLOGY ends within a mask");
        at += sizeof(head);
        if (head.num_bytes > answer.bytes - at)
            return say(problem, "the answer GT_TOPOLOGY ends within a mask of %u bytes",
                       head.num_bytes);
        mask = head.gt_id == gt_id ? mask_of_type(out_masks, head.type) : NULL;
        if (mask) {
            const uint32_t kept =
                head.num_bytes < sizeof(mask->bytes) ? head.num_bytes : sizeof(mask->bytes);

            mask->is_there = true;
            memset(mask->bytes, 0, sizeof(mask->bytes));
            (void)take(answer, at, mask->bytes, kept);
        }
        at += head.num_bytes;
    }
    return true;
}

uint32_t zeta_xe_mask_count(const struct zeta_xe_mask *mask)
{
    uint32_t count = 0;

    for (size_t i = 0; i < sizeof(mask->bytes); i++) {
        for (uint32_t bits = mask->bytes[i]; bits != 0; bits &= bits - 1)
            count++;
    }
    return count;
}

/*
 * EUs of each subslice. From Xe2 on the kernel tells them as 16 lanes wide; its first releases told
 * each as two. It has never done so for a generation after Xe2, so the version is no matter of
 * data.
 */
static uint32_t count_eus(const struct zeta_xe_masks *masks, uint32_t graphics)
{
    uint32_t count = 0;

    if (masks->simd16_eus.is_there)
        return zeta_xe_mask_count(&masks->simd16_eus);
    count = zeta_xe_mask_count(&masks->eus);
    return graphics >= 2000 ? count / 2 : count;
}

/* Puts subslice number bit into its slice. */
static bool add_subslice(struct zeta_intel_topology *topology, uint32_t bit, uint32_t per_slice,
                         struct zeta_xe_problem *problem)
{
    const uint32_t slice = bit / per_slice;

    if (slice >= ZETA_INTEL_SLICES)
        return say(problem, "the answer GT_TOPOLOGY reports subslice %u, which is slice %u of %d",
                   bit, slice, ZETA_INTEL_SLICES);
    if (topology->subslice_mask[slice] == 0)
        topology->slices++;
    topology->subslice_mask[slice] |= 1u << (bit % per_slice);
    topology->subslices++;
    if (topology->max_slices <= slice)
        topology->max_slices = slice + 1;
    return true;
}

bool zeta_xe_topology_make(const struct zeta_xe_masks *masks, const struct zeta_xe_shape *shape,
                           struct zeta_intel_topology *out_topology,
                           struct zeta_xe_problem *problem)
{
    const uint32_t per_slice =
        shape->subslices_per_slice == 0 || shape->subslices_per_slice > SLICE_BITS
            ? SLICE_BITS
            : shape->subslices_per_slice;
    struct zeta_intel_topology topology = {.max_subslices = per_slice};
    uint32_t highest = 0;

    for (uint32_t bit = 0; bit < ZETA_XE_MASK_BITS; bit++) {
        const uint32_t both = masks->geometry.bytes[bit / 8] | masks->compute.bytes[bit / 8];

        if ((both >> (bit % 8) & 1) == 0)
            continue;
        if (!add_subslice(&topology, bit, per_slice, problem))
            return false;
        highest = bit;
    }
    if (topology.subslices == 0)
        return say(problem, "the answer GT_TOPOLOGY reports no subslice");
    if (shape->subslices_per_slice == 0 && topology.max_slices == 1)
        topology.max_subslices = highest + 1;
    topology.max_eus = count_eus(masks, shape->graphics);
    if (topology.max_eus == 0)
        return say(problem, "the answer GT_TOPOLOGY reports no EU");
    topology.eus = topology.subslices * topology.max_eus;
    topology.l3_banks = zeta_xe_mask_count(&masks->l3_banks);
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

/* Reads the rates, rising and each once, as many as a unit has room for. */
static void take_rates(struct zeta_xe_answer answer, uint64_t count, uint64_t *rates, size_t room)
{
    size_t used = 0;

    memset(rates, 0, room * sizeof(*rates));
    for (uint64_t i = 0; i < count && used < room; i++) {
        uint64_t rate = 0;
        bool is_known = false;

        (void)take(answer, sizeof(struct zeta_xe_eu_stall) + (size_t)i * sizeof(rate), &rate,
                   sizeof(rate));
        for (size_t k = 0; k < used; k++)
            is_known = is_known || rates[k] == rate;
        if (rate != 0 && !is_known)
            rates[used++] = rate;
    }
    qsort(rates, used, sizeof(*rates), compare_rates);
}

bool zeta_xe_parse_eu_stall(struct zeta_xe_answer answer, struct zeta_intel_unit *out_unit,
                            uint64_t *out_buffer_bytes, struct zeta_xe_problem *problem)
{
    struct zeta_xe_eu_stall head;

    if (!take(answer, 0, &head, sizeof(head)))
        return say(problem, "the answer EU_STALL has %zu bytes", answer.bytes);
    if (head.num_sampling_rates > (answer.bytes - sizeof(head)) / sizeof(uint64_t))
        return say(problem, "the answer EU_STALL ends within its rates");
    if (head.record_size == 0 || head.record_size > 4096)
        return say(problem, "the answer EU_STALL reports records of %llu bytes",
                   (unsigned long long)head.record_size);
    if ((head.capabilities & ZETA_XE_EU_STALL_CAPS_BASE) == 0)
        return say(problem, "the answer EU_STALL reports no capability");
    take_rates(answer, head.num_sampling_rates, out_unit->rates,
               sizeof(out_unit->rates) / sizeof(out_unit->rates[0]));
    if (out_unit->rates[0] == 0)
        return say(problem, "the answer EU_STALL reports no rate");
    out_unit->record_bytes = (uint32_t)head.record_size;
    *out_buffer_bytes = head.per_xecore_buf_size;
    return true;
}
