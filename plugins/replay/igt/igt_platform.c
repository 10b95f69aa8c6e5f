/*
 * Platforms by PCI id, and the report formats of their counting units.
 */
#include "plugins/replay/igt/igt.h"

#include <stddef.h>

/* Runs that several formats have: A of the whole GPU and of contexts, B and C. */
#define A32U40_A4U32                                                                               \
    {'A', 32, 16, 4, 32, 160},                                                                     \
    {                                                                                              \
        'A', 4, 144, 4, 32, 0                                                                      \
    }
#define B8_C8_AT(at)                                                                               \
    {'B', 8, at, 4, 32, 0},                                                                        \
    {                                                                                              \
        'C', 8, (at) + 32, 4, 32, 0                                                                \
    }

/*
 * All formats whose layout is certain. Bytes and bits are those of the hardware's reports; those
 * with a header of 12 bytes are of Haswell.
 */
static const struct zeta_igt_format formats[] = {
    {1, 12, 64, "a13", {{'A', 13, 12, 4, 32, 0}}},
    {2, 12, 128, "a29", {{'A', 29, 12, 4, 32, 0}}},
    {3, 12, 128, "a13-b8-c8", {{'A', 13, 12, 4, 32, 0}, B8_C8_AT(64)}},
    {4, 12, 64, "b4-c8", {{'B', 4, 16, 4, 32, 0}, {'C', 8, 32, 4, 32, 0}}},
    {5, 12, 256, "a45-b8-c8", {{'A', 45, 12, 4, 32, 0}, B8_C8_AT(192)}},
    {7, 16, 64, "c4-b8", {{'B', 8, 32, 4, 32, 0}, {'C', 4, 16, 4, 32, 0}}},
    {10, 16, 256, "a32u40-a4u32-b8-c8", {A32U40_A4U32, B8_C8_AT(192)}},
    {11, 16, 256, "oar-a32u40-a4u32-b8-c8", {A32U40_A4U32, B8_C8_AT(192)}},
    {12,
     16,
     256,
     "a24u40-a14u32-b8-c8",
     {{'A', 4, 16, 4, 32, 0},
      {'A', 20, 32, 4, 32, 164},
      {'A', 4, 112, 4, 32, 0},
      {'A', 4, 128, 4, 32, 188},
      {'A', 4, 144, 4, 32, 0},
      {'A', 2, 160, 24, 32, 0},
      B8_C8_AT(192)}},
    {13, 32, 192, "mpec8u64-b8-c8", {{'A', 8, 32, 8, 64, 0}, B8_C8_AT(96)}},
    {14, 32, 128, "mpec8u32-b8-c8", {{'A', 8, 32, 4, 32, 0}, B8_C8_AT(64)}},
};

const struct zeta_igt_format *zeta_igt_format_find(uint32_t id, bool is_haswell)
{
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
        if (formats[i].id == id && (formats[i].header_bytes == 12) == is_haswell)
            return &formats[i];
    }
    return NULL;
}

static const struct zeta_igt_platform platforms[] = {
    {"Haswell", 75, 7, 0, 0, {{0x0402, 0x042e}, {0x0a02, 0x0a2e}, {0x0c02, 0x0c2e}}},
    {"Haswell", 75, 7, 0, 0, {{0x0d02, 0x0d2e}}},
    {"Broadwell", 80, 7, 6, 25, {{0x1602, 0x163e}}},
    {"Cherryview", 80, 7, 6, 25, {{0x22b0, 0x22b3}}},
    {"Skylake", 90, 7, 6, 16, {{0x1902, 0x193d}}},
    {"Broxton", 90, 6, 6, 16, {{0x0a84, 0x0a84}, {0x1a84, 0x1a85}, {0x5a84, 0x5a85}}},
    {"Geminilake", 90, 6, 6, 16, {{0x3184, 0x3185}}},
    {"Kaby Lake", 95, 7, 6, 16, {{0x5902, 0x593b}}},
    {"Coffee Lake", 95, 7, 6, 16, {{0x3e90, 0x3eaf}, {0x9b21, 0x9bf6}}},
    {"Cannon Lake", 100, 7, 6, 16, {{0x5a40, 0x5a54}}},
    {"Ice Lake", 110, 7, 6, 16, {{0x8a50, 0x8a5c}}},
    {"Elkhart Lake", 110, 7, 6, 16, {{0x4541, 0x4571}, {0x4e51, 0x4e71}}},
    {"Tiger Lake", 1200, 7, 6, 16, {{0x9a40, 0x9af8}}},
    {"Rocket Lake", 1200, 7, 6, 16, {{0x4c8a, 0x4c9a}}},
    {"DG1", 1210, 7, 6, 16, {{0x4905, 0x4909}}},
    {"Alder Lake", 1200, 7, 6, 16, {{0x4626, 0x4628}, {0x4680, 0x46d2}}},
    {"Alder Lake", 1200, 7, 6, 16, {{0xa720, 0xa721}, {0xa780, 0xa78b}, {0xa7a0, 0xa7ad}}},
    {"Alchemist", 1255, 8, 7, 16, {{0x5690, 0x5697}, {0x56a0, 0x56c1}}},
    {"Meteor Lake", 1270, 8, 7, 16, {{0x7d40, 0x7dd5}}},
};

const struct zeta_igt_platform *zeta_igt_platform_find(uint32_t pci_id)
{
    for (size_t i = 0; i < sizeof(platforms) / sizeof(platforms[0]); i++) {
        for (const struct zeta_igt_ids *ids = platforms[i].ids; ids->last != 0; ids++) {
            if (pci_id >= ids->first && pci_id <= ids->last)
                return &platforms[i];
        }
    }
    return NULL;
}
