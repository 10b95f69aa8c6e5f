/*
 * Numbers that expressions of set files use, under every name that descriptions of Intel's counters
 * have for them.
 *
 * Source of the names: the metric descriptions of igt-gpu-tools; of the rules: how those and the
 * kernel's topology queries are used together.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zeta/c_locale.h>

#include <zeta/intel_gpu.h>

enum {
    NAMED_SLICES = 16,   /* slices that have names of their own */
    NAMED_SUBSLICES = 8, /* subslices of a slice that have */
    NAMED_CORES = 64,    /* cores of the flat list that have */
    NAME_BYTES = 64,
    /* Of a GPU about which the kernel says nothing. */
    MOST_SUBSLICES = 128,
    MOST_EUS = 1024,
    MOST_MEDIA_ENGINES = 16,
    MAX_SYMBOLS = 64 + NAMED_SLICES * (1 + 2 * NAMED_SUBSLICES) + NAMED_CORES + 64
};

/* Hertz of a clock about which the kernel says nothing. */
#define MOST_HZ UINT64_C(3000000000)

/* Everything of one device in one piece of memory. */
struct list {
    struct zeta_plugin_symbol symbols[MAX_SYMBOLS]; /* first: the device's pointer frees the list */
    char names[MAX_SYMBOLS][NAME_BYTES];
    uint32_t count;
    uint32_t chosen; /* the first so many are of the platform file, and win */
};

__attribute__((format(printf, 3, 4))) static void add(struct list *list, uint64_t value,
                                                      const char *format, ...)
{
    char *name = list->names[list->count];
    va_list arguments;

    if (list->count == MAX_SYMBOLS)
        return;
    va_start(arguments, format);
    (void)zeta_c_vsnprintf(name, NAME_BYTES, format, arguments);
    va_end(arguments);
    for (uint32_t i = 0; i < list->chosen; i++) {
        if (strcmp(list->names[i], name) == 0)
            return;
    }
    list->symbols[list->count++] = (struct zeta_plugin_symbol){
        .struct_size = sizeof(struct zeta_plugin_symbol),
        .name = {name, strlen(name)},
        .u64 = value,
    };
}

struct zeta_intel_rates zeta_intel_rates(const struct zeta_intel_topology *topology,
                                         uint64_t fastest_hz, uint64_t fastest_media_hz)
{
    const uint64_t hz = fastest_hz ? fastest_hz : MOST_HZ;
    const uint64_t media_hz = fastest_media_hz ? fastest_media_hz : MOST_HZ;
    const uint32_t media_engines = topology->engines[2] + topology->engines[3];

    return (struct zeta_intel_rates){
        .clock = hz,
        .subslices = hz * (topology->subslices ? topology->subslices : MOST_SUBSLICES),
        .eus = hz * (topology->eus ? topology->eus : MOST_EUS),
        .media = media_hz * (media_engines ? media_engines : MOST_MEDIA_ENGINES),
    };
}

/* Adds a value under each of its names, which blanks separate. */
static void add_names(struct list *list, uint64_t value, const char *names)
{
    for (; *names; names += strcspn(names, " "), names += *names == ' ')
        add(list, value, "%.*s", (int)strcspn(names, " "), names);
}

static void add_masks(struct list *list, const struct zeta_intel_platform *platform,
                      const struct zeta_intel_topology *topology)
{
    const uint64_t slices = zeta_intel_topology_slice_mask(topology);
    const uint32_t bits =
        platform->subslice_bits > 0 ? platform->subslice_bits : topology->max_subslices;
    const uint64_t subslices = zeta_intel_topology_subslice_mask(topology, bits);

    add_names(list, slices, "SliceMask GtSliceMask");
    add_names(list, subslices,
              "SubsliceMask DualSubsliceMask GtDualSubsliceMask XeCoreMask GtXeCoreMask");
    for (uint32_t s = 0; s < NAMED_SLICES; s++) {
        add(list, slices >> s & 1, "GtSlice%u", s);
        for (uint32_t ss = 0; ss < NAMED_SUBSLICES; ss++) {
            const uint64_t is_there = topology->subslice_mask[s] >> ss & 1;

            add(list, is_there, "GtSlice%uXeCore%u", s, ss);
            add(list, is_there, "GtSlice%uDualSubslice%u", s, ss);
        }
    }
    for (uint32_t core = 0; core < NAMED_CORES; core++)
        add(list, subslices >> core & 1, "GtXeCore%u", core);
}

bool zeta_intel_symbols_list(const struct zeta_intel_facts *facts,
                             struct zeta_plugin_symbol **out_symbols, uint32_t *out_count)
{
    const struct zeta_intel_platform *platform = facts->platform;
    const struct zeta_intel_topology *topology = facts->topology;
    const struct zeta_intel_rates rates =
        zeta_intel_rates(topology, facts->fastest_hz, facts->fastest_media_hz);
    /* Nodes of the third cache, and the queues to memory, of which there is one for each node. */
    const uint32_t per_node = platform->l3_banks_per_node;
    const uint32_t nodes = per_node == 0 ? 0 : (topology->l3_banks + per_node - 1) / per_node;
    /* Fixed-function pipes: one for geometry and two for pixels in a slice, unless it is small. */
    const uint32_t pixel_pipes = topology->max_subslices <= 2 ? 1 : topology->slices * 2;
    struct list *list = calloc(1, sizeof(*list));

    if (!list)
        return false;
    for (uint32_t i = 0; i < platform->symbol_count; i++)
        add(list, platform->symbols[i].value, "%s", platform->symbols[i].name);
    list->chosen = list->count;
    add(list, facts->timestamp_hz, "GpuTimestampFrequency");
    add(list, facts->min_hz, "GpuMinFrequency");
    add(list, facts->max_hz, "GpuMaxFrequency");
    add(list, rates.clock, "ClockRateLimit");
    add(list, rates.subslices, "SubsliceRateLimit");
    add(list, rates.eus, "EuRateLimit");
    add(list, rates.media, "MediaRateLimit");
    add_names(list, topology->eus, "EuCoresTotalCount VectorEngineTotalCount");
    add_names(list, topology->slices, "EuSlicesTotalCount SliceTotalCount");
    add_names(list, platform->threads_per_eu, "EuThreadsCount VectorEngineThreadsCount");
    add_names(list, topology->subslices,
              "EuSubslicesTotalCount EuDualSubslicesTotalCount XeCoreTotalCount");
    add_masks(list, platform, topology);
    add(list, topology->l3_banks, "L3BankTotalCount");
    add_names(list, nodes, "L3NodeTotalCount SqidiTotalCount");
    add(list, topology->slices, "GeometryPipeTotalCount");
    add_names(list, pixel_pipes, "ColorPipeTotalCount DepthPipeTotalCount");
    add(list, facts->revision, "SkuRevisionId");
    add(list, 0, "QueryMode"); /* queries count the whole GPU, as streams do */
    add(list, topology->engines[4], "ComputeEngineTotalCount");
    add(list, topology->engines[1], "CopyEngineTotalCount");
    add(list, facts->media_units, "OamUnits");
    add(list, facts->stall_units, "EuStallUnits");
    *out_symbols = list->symbols;
    *out_count = list->count;
    return true;
}
