/* Presets of platforms: what a part of each family tells about itself. */

#include <string.h>

#include "tests/kmd/machine/kmd_priv.h"

/* Formats of i915 by generation: bit n is format id n. */
enum { HASWELL = 0xfe, GEN8 = 0x780, XEHP = 0x1800, METEOR = 0x7800 };

#define MIB (1ull << 20)

/*
 * Lines of each: which it is; shape as the kernel reports it and what is fused; clocks and formats;
 * tiles and what is in them (engines: render, copy, video, video enhance, compute). From Ponte
 * Vecchio on xe keeps the last copy engine for itself and shows it to nobody.
 */
/* clang-format off */
const struct kmd_platform kmd_platform_table[] = {
    {.name = "hsw-gt1", .driver = "i915", .graphics = 750, .pci_id = 0x0402, .revision = 6,
     .max_slices = 1, .max_subslices = 1, .max_eus = 10, .slices = 1, .subslices = 1, .eus = 10,
     .min_mhz = 200, .max_mhz = 1100, .oa_hz = 12500000, .cs_hz = 12500000,
     .i915_formats = HASWELL,
     .tiles = 1, .engines = {1, 1, 1, 1, 0}},
    {.name = "hsw-gt2", .driver = "i915", .graphics = 750, .pci_id = 0x0412, .revision = 6,
     .max_slices = 1, .max_subslices = 2, .max_eus = 10, .slices = 1, .subslices = 2, .eus = 10,
     .min_mhz = 200, .max_mhz = 1200, .oa_hz = 12500000, .cs_hz = 12500000,
     .i915_formats = HASWELL,
     .tiles = 1, .engines = {1, 1, 1, 1, 0}},
    {.name = "hsw-gt3", .driver = "i915", .graphics = 750, .pci_id = 0x0d26, .revision = 8,
     .max_slices = 2, .max_subslices = 2, .max_eus = 10, .slices = 2, .subslices = 2, .eus = 10,
     .min_mhz = 200, .max_mhz = 1300, .oa_hz = 12500000, .cs_hz = 12500000,
     .i915_formats = HASWELL,
     .tiles = 1, .engines = {1, 1, 1, 1, 0}},
    {.name = "bdw", .driver = "i915", .graphics = 800, .pci_id = 0x1616, .revision = 9,
     .max_slices = 3, .max_subslices = 3, .max_eus = 8, .slices = 1, .subslices = 3, .eus = 8,
     .min_mhz = 300, .max_mhz = 900, .oa_hz = 12500000, .cs_hz = 12500000, .i915_formats = GEN8,
     .tiles = 1, .engines = {1, 1, 1, 1, 0}},
    {.name = "chv", .driver = "i915", .graphics = 800, .pci_id = 0x22b1, .revision = 33,
     .max_slices = 1, .max_subslices = 2, .max_eus = 8, .slices = 1, .subslices = 2, .eus = 8,
     .min_mhz = 200, .max_mhz = 600, .oa_hz = 12500000, .cs_hz = 12500000, .i915_formats = GEN8,
     .tiles = 1, .engines = {1, 1, 1, 1, 0}},
    {.name = "skl-gt2", .driver = "i915", .graphics = 900, .pci_id = 0x1916, .revision = 7,
     .max_slices = 3, .max_subslices = 4, .max_eus = 8, .slices = 1, .subslices = 3, .eus = 8,
     .min_mhz = 300, .max_mhz = 1050, .oa_hz = 12000000, .cs_hz = 12000000, .i915_formats = GEN8,
     .tiles = 1, .engines = {1, 1, 1, 1, 0}},
    {.name = "skl-gt3", .driver = "i915", .graphics = 900, .pci_id = 0x1926, .revision = 10,
     .max_slices = 3, .max_subslices = 4, .max_eus = 8, .slices = 2, .subslices = 3, .eus = 8,
     .min_mhz = 300, .max_mhz = 1050, .oa_hz = 12000000, .cs_hz = 12000000, .i915_formats = GEN8,
     .tiles = 1, .engines = {1, 1, 2, 1, 0}},
    {.name = "skl-gt4", .driver = "i915", .graphics = 900, .pci_id = 0x193b, .revision = 9,
     .max_slices = 3, .max_subslices = 4, .max_eus = 8, .slices = 3, .subslices = 3, .eus = 8,
     .min_mhz = 350, .max_mhz = 1050, .oa_hz = 12000000, .cs_hz = 12000000, .i915_formats = GEN8,
     .tiles = 1, .engines = {1, 1, 2, 1, 0}},
    {.name = "bxt", .driver = "i915", .graphics = 900, .pci_id = 0x5a84, .revision = 11,
     .max_slices = 1, .max_subslices = 3, .max_eus = 8, .slices = 1, .subslices = 3, .eus = 6,
     .min_mhz = 100, .max_mhz = 750, .oa_hz = 19200000, .cs_hz = 19200000, .i915_formats = GEN8,
     .tiles = 1, .engines = {1, 1, 1, 1, 0}},
    {.name = "glk", .driver = "i915", .graphics = 900, .pci_id = 0x3184, .revision = 3,
     .max_slices = 1, .max_subslices = 3, .max_eus = 8, .slices = 1, .subslices = 3, .eus = 6,
     .min_mhz = 100, .max_mhz = 750, .oa_hz = 19200000, .cs_hz = 19200000, .i915_formats = GEN8,
     .tiles = 1, .engines = {1, 1, 1, 1, 0}},
    {.name = "kbl-gt2", .driver = "i915", .graphics = 900, .pci_id = 0x5916, .revision = 2,
     .max_slices = 3, .max_subslices = 4, .max_eus = 8, .slices = 1, .subslices = 3, .eus = 8,
     .min_mhz = 300, .max_mhz = 1100, .oa_hz = 12000000, .cs_hz = 12000000, .i915_formats = GEN8,
     .tiles = 1, .engines = {1, 1, 1, 1, 0}},
    {.name = "kbl-gt3", .driver = "i915", .graphics = 900, .pci_id = 0x5926, .revision = 6,
     .max_slices = 3, .max_subslices = 4, .max_eus = 8, .slices = 2, .subslices = 3, .eus = 8,
     .min_mhz = 300, .max_mhz = 1050, .oa_hz = 12000000, .cs_hz = 12000000, .i915_formats = GEN8,
     .tiles = 1, .engines = {1, 1, 2, 1, 0}},
    {.name = "cfl-gt2", .driver = "i915", .graphics = 900, .pci_id = 0x3e92,
     .max_slices = 3, .max_subslices = 4, .max_eus = 8, .slices = 1, .subslices = 3, .eus = 8,
     .min_mhz = 350, .max_mhz = 1200, .oa_hz = 12000000, .cs_hz = 12000000, .i915_formats = GEN8,
     .tiles = 1, .engines = {1, 1, 1, 1, 0}},
    {.name = "cfl-gt3", .driver = "i915", .graphics = 900, .pci_id = 0x3ea5, .revision = 1,
     .max_slices = 3, .max_subslices = 4, .max_eus = 8, .slices = 2, .subslices = 3, .eus = 8,
     .min_mhz = 300, .max_mhz = 1200, .oa_hz = 12000000, .cs_hz = 12000000, .i915_formats = GEN8,
     .tiles = 1, .engines = {1, 1, 2, 1, 0}},
    {.name = "cnl", .driver = "i915", .graphics = 1000, .pci_id = 0x5a51, .revision = 4,
     .max_slices = 3, .max_subslices = 4, .max_eus = 8, .slices = 2, .subslices = 2, .eus = 8,
     .min_mhz = 300, .max_mhz = 1000, .oa_hz = 19200000, .cs_hz = 19200000, .i915_formats = GEN8,
     .tiles = 1, .engines = {1, 1, 1, 1, 0}},
    {.name = "icl", .driver = "i915", .graphics = 1100, .pci_id = 0x8a52, .revision = 7,
     .max_slices = 1, .max_subslices = 8, .max_eus = 8, .slices = 1, .subslices = 8, .eus = 8,
     .min_mhz = 300, .max_mhz = 1100, .oa_hz = 12000000, .cs_hz = 12000000, .i915_formats = GEN8,
     .tiles = 1, .engines = {1, 1, 2, 1, 0}},
    {.name = "ehl", .driver = "i915", .graphics = 1100, .pci_id = 0x4571, .revision = 1,
     .max_slices = 1, .max_subslices = 4, .max_eus = 8, .slices = 1, .subslices = 4, .eus = 8,
     .min_mhz = 300, .max_mhz = 850, .oa_hz = 19200000, .cs_hz = 19200000, .i915_formats = GEN8,
     .tiles = 1, .engines = {1, 1, 1, 1, 0}},
    {.name = "tgl-gt1", .driver = "i915", .graphics = 1200, .pci_id = 0x9a60, .revision = 1,
     .max_slices = 1, .max_subslices = 6, .max_eus = 16, .slices = 1, .subslices = 2, .eus = 16,
     .min_mhz = 350, .max_mhz = 1450, .oa_hz = 19200000, .cs_hz = 19200000, .i915_formats = GEN8,
     .tiles = 1, .engines = {1, 1, 2, 1, 0}, .l3_banks = 4},
    {.name = "tgl-gt2", .driver = "i915", .graphics = 1200, .pci_id = 0x9a49, .revision = 1,
     .max_slices = 1, .max_subslices = 6, .max_eus = 16, .slices = 1, .subslices = 6, .eus = 16,
     .min_mhz = 100, .max_mhz = 1300, .oa_hz = 19200000, .cs_hz = 19200000, .i915_formats = GEN8,
     .tiles = 1, .engines = {1, 1, 2, 1, 0}, .l3_banks = 8},
    {.name = "rkl", .driver = "i915", .graphics = 1200, .pci_id = 0x4c8a, .revision = 4,
     .max_slices = 1, .max_subslices = 6, .max_eus = 16, .slices = 1, .subslices = 2, .eus = 16,
     .min_mhz = 350, .max_mhz = 1300, .oa_hz = 19200000, .cs_hz = 19200000, .i915_formats = GEN8,
     .tiles = 1, .engines = {1, 1, 2, 1, 0}, .l3_banks = 4},
    {.name = "dg1", .driver = "i915", .graphics = 1210, .pci_id = 0x4905, .revision = 1,
     .max_slices = 1, .max_subslices = 6, .max_eus = 16, .slices = 1, .subslices = 6, .eus = 16,
     .min_mhz = 300, .max_mhz = 1650, .oa_hz = 19200000, .cs_hz = 19200000, .i915_formats = GEN8,
     .tiles = 1, .engines = {1, 1, 2, 1, 0}, .l3_banks = 8, .vram_bytes = 4096 * MIB},
    {.name = "adl", .driver = "i915", .graphics = 1200, .pci_id = 0x46a6, .revision = 12,
     .max_slices = 1, .max_subslices = 6, .max_eus = 16, .slices = 1, .subslices = 6, .eus = 16,
     .min_mhz = 100, .max_mhz = 1400, .oa_hz = 19200000, .cs_hz = 19200000, .i915_formats = GEN8,
     .tiles = 1, .engines = {1, 1, 2, 1, 0}, .l3_banks = 8},
    {.name = "dg2-g10", .driver = "i915", .graphics = 1255, .pci_id = 0x56a0, .revision = 8,
     .max_slices = 1, .max_subslices = 32, .max_eus = 16, .slices = 1, .subslices = 32, .eus = 16,
     .min_mhz = 300, .max_mhz = 2400, .oa_hz = 25000000, .cs_hz = 12500000, .i915_formats = XEHP,
     .tiles = 1, .engines = {1, 1, 2, 2, 4}, .l3_banks = 32, .vram_bytes = 16384 * MIB},
    {.name = "dg2-g11", .driver = "i915", .graphics = 1255, .pci_id = 0x56a5, .revision = 5,
     .max_slices = 1, .max_subslices = 32, .max_eus = 16, .slices = 1, .subslices = 8, .eus = 16,
     .min_mhz = 300, .max_mhz = 2450, .oa_hz = 25000000, .cs_hz = 12500000, .i915_formats = XEHP,
     .tiles = 1, .engines = {1, 1, 2, 2, 4}, .l3_banks = 8, .vram_bytes = 6144 * MIB},
    {.name = "dg2-g12", .driver = "i915", .graphics = 1255, .pci_id = 0x56a3, .revision = 1,
     .max_slices = 1, .max_subslices = 32, .max_eus = 16, .slices = 1, .subslices = 16, .eus = 16,
     .min_mhz = 300, .max_mhz = 2300, .oa_hz = 25000000, .cs_hz = 12500000, .i915_formats = XEHP,
     .tiles = 1, .engines = {1, 1, 2, 2, 4}, .l3_banks = 16, .vram_bytes = 8192 * MIB},
    {.name = "pvc", .driver = "xe", .graphics = 1260, .pci_id = 0x0bd6, .revision = 47,
     .max_slices = 8, .max_subslices = 8, .max_eus = 8, .slices = 8, .subslices = 8, .eus = 8,
     .min_mhz = 900, .max_mhz = 1600, .oa_hz = 25000000, .cs_hz = 12500000, .i915_formats = XEHP,
     .tiles = 2, .engines = {0, 8, 2, 0, 4}, .has_eu_stall = true, .l3_banks = 64,
     .vram_bytes = 65536 * MIB},
    {.name = "mtl-gt2", .driver = "i915", .graphics = 1270, .media = 1300, .pci_id = 0x7d45,
     .revision = 8,
     .max_slices = 1, .max_subslices = 32, .max_eus = 16, .slices = 1, .subslices = 4, .eus = 16,
     .min_mhz = 100, .max_mhz = 1950, .oa_hz = 38400000, .cs_hz = 19200000,
     .i915_formats = METEOR,
     .tiles = 1, .engines = {1, 1, 2, 1, 1}, .oam_units = 1, .l3_banks = 6},
    {.name = "mtl-gt3", .driver = "i915", .graphics = 1271, .media = 1300, .pci_id = 0x7d55,
     .revision = 8,
     .max_slices = 1, .max_subslices = 32, .max_eus = 16, .slices = 1, .subslices = 8, .eus = 16,
     .min_mhz = 100, .max_mhz = 2250, .oa_hz = 38400000, .cs_hz = 19200000,
     .i915_formats = METEOR,
     .tiles = 1, .engines = {1, 1, 2, 1, 1}, .oam_units = 1, .l3_banks = 10},
    {.name = "arl", .driver = "i915", .graphics = 1274, .media = 1300, .pci_id = 0x7d51,
     .revision = 4,
     .max_slices = 1, .max_subslices = 32, .max_eus = 16, .slices = 1, .subslices = 8, .eus = 16,
     .min_mhz = 100, .max_mhz = 2300, .oa_hz = 38400000, .cs_hz = 19200000,
     .i915_formats = METEOR,
     .tiles = 1, .engines = {1, 1, 2, 1, 1}, .oam_units = 1, .l3_banks = 10},
    {.name = "lnl", .driver = "xe", .graphics = 2004, .media = 2000, .pci_id = 0x64a0,
     .revision = 4,
     .max_slices = 2, .max_subslices = 4, .max_eus = 8, .slices = 2, .subslices = 4, .eus = 8,
     .min_mhz = 400, .max_mhz = 1950, .oa_hz = 19200000, .cs_hz = 19200000,
     .tiles = 1, .engines = {1, 1, 1, 1, 1}, .oam_units = 1, .has_sag = true,
     .has_eu_stall = true, .l3_banks = 8},
    {.name = "bmg", .driver = "xe", .graphics = 2001, .media = 1301, .pci_id = 0xe20b,
     .max_slices = 5, .max_subslices = 4, .max_eus = 8, .slices = 5, .subslices = 4, .eus = 8,
     .min_mhz = 400, .max_mhz = 2850, .oa_hz = 19200000, .cs_hz = 19200000,
     .tiles = 1, .engines = {1, 1, 2, 2, 1}, .oam_units = 2, .has_sag = true,
     .has_eu_stall = true, .l3_banks = 18, .vram_bytes = 12288 * MIB},
    {.name = "ptl", .driver = "xe", .graphics = 3000, .media = 3000, .pci_id = 0xb080,
     .max_slices = 2, .max_subslices = 6, .max_eus = 8, .slices = 2, .subslices = 6, .eus = 8,
     .min_mhz = 400, .max_mhz = 2500, .oa_hz = 19200000, .cs_hz = 19200000,
     .tiles = 1, .engines = {1, 1, 2, 2, 1}, .oam_units = 1, .has_sag = true,
     .has_eu_stall = true, .l3_banks = 16},
    {.name = NULL},
};
/* clang-format on */

enum { TABLE = sizeof(kmd_platform_table) / sizeof(kmd_platform_table[0]) };

const struct kmd_platform *kmd_platform_find(const char *name)
{
    for (const struct kmd_platform *platform = kmd_platform_table; platform->name; platform++) {
        if (strcmp(platform->name, name) == 0)
            return platform;
    }
    return NULL;
}

const char *const *kmd_platforms(void)
{
    static const char *names[TABLE];

    for (size_t i = 0; i < TABLE; i++)
        names[i] = kmd_platform_table[i].name;
    return names;
}
