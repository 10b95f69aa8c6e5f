/* Any bytes given to the reader of platform files, and to that of the kernel's topology. */
#include <stdlib.h>
#include <string.h>

#include <zeta/intel_gpu.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What was read keeps the promises that the plugin relies on. */
static void check_platform(const struct zeta_intel_platform *platform)
{
    if (!*platform->name || !*platform->id || platform->pci_count == 0)
        abort();
    for (uint32_t i = 0; i < platform->set_count; i++) {
        const char *name = platform->sets[i];

        if (strncmp(name, "intel/", 6) == 0)
            name += 6;
        if (strchr(name, '/') || name[0] == '.')
            abort();
    }
    if (platform->simd_width > 64 || platform->subslice_bits > 32)
        abort();
    for (uint32_t kind = 0; kind < ZETA_INTEL_EU_STALL; kind++) {
        if (platform->formats[kind].record_bytes % 64 != 0)
            abort();
    }
}

static void check_topology(const uint8_t *data, size_t size)
{
    struct zeta_intel_topology topology = {0};

    if (!zeta_intel_topology_read(data, size, &topology))
        return;
    if (topology.subslices > topology.max_slices * topology.max_subslices ||
        topology.eus > topology.subslices * topology.max_eus ||
        topology.slices > topology.max_slices)
        abort();
    zeta_intel_topology_split(&topology, 4);
    (void)zeta_intel_topology_subslice_mask(&topology, 8);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct zeta_intel_platforms platforms;
    char problem[300] = "";
    const bool good = zeta_intel_platforms_parse("fuzz", (const char *)data, size, &platforms,
                                                 problem, sizeof(problem));

    if (good == (problem[0] != '\0'))
        abort();
    for (uint32_t i = 0; good && i < platforms.count; i++)
        check_platform(&platforms.items[i]);
    zeta_intel_platforms_free(&platforms);
    check_topology(data, size);
    return 0;
}
