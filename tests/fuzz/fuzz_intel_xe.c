/*
 * Answers of the xe driver: the first byte chooses the question, the rest is the answer.
 *
 * Rule 26.22.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "plugins/intel/kmd/xe.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void parse_lists(struct zeta_xe_answer answer)
{
    struct zeta_xe_engine_list engines;
    struct zeta_xe_region_list regions;
    struct zeta_xe_problem problem;
    struct zeta_xe_gt_list gts;
    uint32_t revision;

    (void)zeta_xe_parse_revision(answer, &revision, &problem);
    if (zeta_xe_parse_engines(answer, &engines, &problem) && engines.count > ZETA_XE_ENGINES)
        abort();
    if (zeta_xe_parse_regions(answer, &regions, &problem) && regions.count > ZETA_XE_REGIONS)
        abort();
    if (zeta_xe_parse_gts(answer, &gts, &problem) && (gts.count == 0 || gts.count > ZETA_XE_GTS))
        abort();
}

/* What was made of masks must be consistent, whatever they were. */
static void parse_topology(struct zeta_xe_answer answer, uint32_t graphics, uint32_t per_slice)
{
    const struct zeta_xe_shape shape = {graphics, per_slice};
    struct zeta_intel_topology topology = {0};
    struct zeta_xe_problem problem;
    struct zeta_xe_masks masks;

    if (!zeta_xe_parse_masks(answer, 0, &masks, &problem) ||
        !zeta_xe_topology_make(&masks, &shape, &topology, &problem))
        return;
    if (topology.slices == 0 || topology.slices > topology.max_slices ||
        topology.max_slices > ZETA_INTEL_SLICES || topology.subslices < topology.slices ||
        topology.eus != topology.subslices * topology.max_eus)
        abort();
}

static void parse_units(struct zeta_xe_answer answer)
{
    struct zeta_intel_unit unit = {0};
    struct zeta_xe_unit_list units;
    struct zeta_xe_problem problem;
    uint64_t buffer_bytes;

    if (zeta_xe_parse_units(answer, &units, &problem) && units.count > ZETA_INTEL_UNITS)
        abort();
    if (zeta_xe_parse_eu_stall(answer, &unit, &buffer_bytes, &problem) &&
        (unit.rates[0] == 0 || unit.record_bytes == 0))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct zeta_xe_answer answer;

    if (size == 0)
        return 0;
    answer = (struct zeta_xe_answer){data + 1, size - 1};
    switch (data[0] % 3) {
    case 0:
        parse_lists(answer);
        break;
    case 1:
        parse_topology(answer, (data[0] & 0x80) != 0 ? 2004 : 1255, data[0] >> 3 & 0xf);
        break;
    default:
        parse_units(answer);
        break;
    }
    return 0;
}
