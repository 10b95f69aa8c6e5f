/* Presets: what the chips that tests name are like. */

#include <stdio.h>
#include <string.h>

#include "tests/cuda/machine/machine.h"

#define MIB (1024ull * 1024)

static const struct cuda_chip chips[] = {
    {.chip = "GH100",
     .name = "NVIDIA H100 80GB HBM3",
     .pci_id = 0x233010de,
     .cc_major = 9,
     .sms = 132,
     .gpcs = 8,
     .channels = 40,
     .slices = 80,
     .warps_per_sm = 64,
     .groups_per_sm = 32,
     .shared_per_sm = 233472,
     .shared_opt_in = 232448,
     .sm_khz = 1980000,
     .memory_khz = 2619000,
     .system_khz = 1664000,
     .bus_bits = 5120,
     .l2_bytes = 50 * MIB,
     .memory_bytes = 81079 * MIB,
     .copy_engines = 3,
     .has_ecc = 1,
     .has_pm_sampling = 1,
     .has_ns_trigger = 1,
     .has_gpm = 1},
    {.chip = "GA100",
     .name = "NVIDIA A100-SXM4-80GB",
     .pci_id = 0x20b210de,
     .cc_major = 8,
     .sms = 108,
     .gpcs = 7,
     .channels = 40,
     .slices = 80,
     .warps_per_sm = 64,
     .groups_per_sm = 32,
     .shared_per_sm = 167936,
     .shared_opt_in = 166912,
     .sm_khz = 1410000,
     .memory_khz = 1593000,
     .system_khz = 1200000,
     .bus_bits = 5120,
     .l2_bytes = 40 * MIB,
     .memory_bytes = 81154 * MIB,
     .copy_engines = 3,
     .has_ecc = 1,
     .has_pm_sampling = 1},
    {.chip = "AD102",
     .name = "NVIDIA GeForce RTX 4090",
     .pci_id = 0x268410de,
     .cc_major = 8,
     .cc_minor = 9,
     .sms = 128,
     .gpcs = 11,
     .channels = 12,
     .slices = 48,
     .warps_per_sm = 48,
     .groups_per_sm = 24,
     .shared_per_sm = 102400,
     .shared_opt_in = 101376,
     .sm_khz = 2520000,
     .memory_khz = 10501000,
     .system_khz = 2000000,
     .bus_bits = 384,
     .l2_bytes = 72 * MIB,
     .memory_bytes = 24564 * MIB,
     .copy_engines = 2,
     .has_pm_sampling = 1,
     .has_ns_trigger = 1},
    {.chip = "GB202",
     .name = "NVIDIA GeForce RTX 5090",
     .pci_id = 0x2b8510de,
     .cc_major = 12,
     .sms = 170,
     .gpcs = 11,
     .channels = 16,
     .slices = 96,
     .warps_per_sm = 48,
     .groups_per_sm = 24,
     .shared_per_sm = 102400,
     .shared_opt_in = 101376,
     .sm_khz = 2407000,
     .memory_khz = 14001000,
     .system_khz = 2000000,
     .bus_bits = 512,
     .l2_bytes = 96 * MIB,
     .memory_bytes = 32607 * MIB,
     .copy_engines = 2,
     .has_pm_sampling = 1,
     .has_ns_trigger = 1,
     .has_gpm = 1},
    {.chip = "TU102",
     .name = "NVIDIA GeForce RTX 2080 Ti",
     .pci_id = 0x1e0710de,
     .cc_major = 7,
     .cc_minor = 5,
     .sms = 68,
     .gpcs = 6,
     .channels = 11,
     .slices = 44,
     .warps_per_sm = 32,
     .groups_per_sm = 16,
     .shared_per_sm = 65536,
     .shared_opt_in = 65536,
     .sm_khz = 1545000,
     .memory_khz = 7000000,
     .system_khz = 1350000,
     .bus_bits = 352,
     .l2_bytes = 5632 * 1024,
     .memory_bytes = 11264 * MIB,
     .copy_engines = 3,
     .has_pm_sampling = 1},
    {.chip = "GV100",
     .name = "Tesla V100-SXM2-32GB",
     .pci_id = 0x1db510de,
     .cc_major = 7,
     .sms = 80,
     .gpcs = 6,
     .channels = 32,
     .slices = 64,
     .warps_per_sm = 64,
     .groups_per_sm = 32,
     .shared_per_sm = 98304,
     .shared_opt_in = 98304,
     .sm_khz = 1530000,
     .memory_khz = 877000,
     .system_khz = 1200000,
     .bus_bits = 4096,
     .l2_bytes = 6 * MIB,
     .memory_bytes = 32501 * MIB,
     .copy_engines = 6,
     .has_ecc = 1},
};

static const char *const names[] = {"gh100", "ga100", "ad102", "gb202", "tu102", "gv100", NULL};

const char *const *cuda_chip_names(void)
{
    return names;
}

const struct cuda_chip *cuda_chip_find(const char *name)
{
    for (size_t i = 0; i < sizeof(chips) / sizeof(chips[0]); i++) {
        if (strcasecmp(chips[i].chip, name) == 0)
            return &chips[i];
    }
    return NULL;
}

const char *cuda_driver_text(const struct cuda_description *machine)
{
    return machine->driver >= 13000 ? "580.159.04" : "535.104.05";
}
