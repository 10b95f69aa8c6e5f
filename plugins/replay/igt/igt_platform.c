/*
 * Platforms by PCI id, and the report formats of their counting units.
 */
#include "plugins/replay/igt/igt.h"

/* The runs of B and C that most formats have. */
#define B8_AT(at)                                                                                  \
    {                                                                                              \
        'B', 8, at, 4, 32, 0                                                                       \
    }
#define C8_AT(at)                                                                                  \
    {                                                                                              \
        'C', 8, at, 4, 32, 0                                                                       \
    }

/* All formats whose layout is certain. Bytes and bits are those of the hardware's reports. */
static const struct zeta_igt_format formats[] = {
    {1, true, 12, 64, "a13", {{'A', 13, 12, 4, 32, 0}}},
    {2, true, 12, 128, "a29", {{'A', 29, 12, 4, 32, 0}}},
    {3, true, 12, 128, "a13-b8-c8", {{'A', 13, 12, 4, 32, 0}, B8_AT(64), C8_AT(96)}},
    {4, true, 12, 64, "b4-c8", {{'B', 4, 16, 4, 32, 0}, {'C', 8, 32, 4, 32, 0}}},
    {5, true, 12, 256, "a45-b8-c8", {{'A', 45, 12, 4, 32, 0}, B8_AT(192), C8_AT(224)}},
    {7, false, 16, 64, "c4-b8", {{'B', 8, 32, 4, 32, 0}, {'C', 4, 16, 4, 32, 0}}},
    {10,
     false,
     16,
     256,
     "a32u40-a4u32-b8-c8",
     {{'A', 32, 16, 4, 32, 160}, {'A', 4, 144, 4, 32, 0}, B8_AT(192), C8_AT(224)}},
    {11,
     false,
     16,
     256,
     "oar-a32u40-a4u32-b8-c8",
     {{'A', 32, 16, 4, 32, 160}, {'A', 4, 144, 4, 32, 0}, B8_AT(192), C8_AT(224)}},
    {12,
     false,
     16,
     256,
     "a24u40-a14u32-b8-c8",
     {{'A', 4, 16, 4, 32, 0},
      {'A', 20, 32, 4, 32, 164},
      {'A', 4, 112, 4, 32, 0},
      {'A', 4, 128, 4, 32, 188},
      {'A', 4, 144, 4, 32, 0},
      {'A', 2, 160, 24, 32, 0},
      B8_AT(192),
      C8_AT(224)}},
    {13, false, 32, 192, "mpec8u64-b8-c8", {{'A', 8, 32, 8, 64, 0}, B8_AT(96), C8_AT(128)}},
    {14, false, 32, 128, "mpec8u32-b8-c8", {{'A', 8, 32, 4, 32, 0}, B8_AT(64), C8_AT(96)}},
};

const struct zeta_igt_format *zeta_igt_format_find(uint32_t id, bool is_haswell)
{
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
        if (formats[i].id == id && formats[i].is_haswell == is_haswell)
            return &formats[i];
    }
    return NULL;
}

static const struct zeta_igt_platform haswell = {"Haswell", 75, 7, 0, 0};
static const struct zeta_igt_platform broadwell = {"Broadwell", 80, 7, 6, 25};
static const struct zeta_igt_platform cherryview = {"Cherryview", 80, 7, 6, 25};
static const struct zeta_igt_platform skylake = {"Skylake", 90, 7, 6, 16};
static const struct zeta_igt_platform broxton = {"Broxton", 90, 6, 6, 16};
static const struct zeta_igt_platform geminilake = {"Geminilake", 90, 6, 6, 16};
static const struct zeta_igt_platform kabylake = {"Kaby Lake", 95, 7, 6, 16};
static const struct zeta_igt_platform coffeelake = {"Coffee Lake", 95, 7, 6, 16};
static const struct zeta_igt_platform cannonlake = {"Cannon Lake", 100, 7, 6, 16};
static const struct zeta_igt_platform icelake = {"Ice Lake", 110, 7, 6, 16};
static const struct zeta_igt_platform elkhartlake = {"Elkhart Lake", 110, 7, 6, 16};
static const struct zeta_igt_platform tigerlake = {"Tiger Lake", 1200, 7, 6, 16};
static const struct zeta_igt_platform rocketlake = {"Rocket Lake", 1200, 7, 6, 16};
static const struct zeta_igt_platform dg1 = {"DG1", 1210, 7, 6, 16};
static const struct zeta_igt_platform alderlake = {"Alder Lake", 1200, 7, 6, 16};
static const struct zeta_igt_platform alchemist = {"Alchemist", 1255, 8, 7, 16};
static const struct zeta_igt_platform meteorlake = {"Meteor Lake", 1270, 8, 7, 16};

/* PCI ids of a platform. Ids of one family share their upper bytes, so ranges suffice. */
static const struct {
    uint32_t first, last;
    const struct zeta_igt_platform *platform;
} ranges[] = {
    {0x0402, 0x042e, &haswell},    {0x0a02, 0x0a2e, &haswell},     {0x0c02, 0x0c2e, &haswell},
    {0x0d02, 0x0d2e, &haswell},    {0x0a84, 0x0a84, &broxton},     {0x1602, 0x163e, &broadwell},
    {0x1902, 0x193d, &skylake},    {0x1a84, 0x1a85, &broxton},     {0x22b0, 0x22b3, &cherryview},
    {0x3184, 0x3185, &geminilake}, {0x3e90, 0x3eaf, &coffeelake},  {0x4541, 0x4571, &elkhartlake},
    {0x4626, 0x4628, &alderlake},  {0x4680, 0x46d2, &alderlake},   {0x4905, 0x4909, &dg1},
    {0x4c8a, 0x4c9a, &rocketlake}, {0x4e51, 0x4e71, &elkhartlake}, {0x5690, 0x5697, &alchemist},
    {0x56a0, 0x56c1, &alchemist},  {0x5902, 0x593b, &kabylake},    {0x5a40, 0x5a54, &cannonlake},
    {0x5a84, 0x5a85, &broxton},    {0x7d40, 0x7dd5, &meteorlake},  {0x8a50, 0x8a5c, &icelake},
    {0x9a40, 0x9af8, &tigerlake},  {0x9b21, 0x9bf6, &coffeelake},  {0xa720, 0xa721, &alderlake},
    {0xa780, 0xa78b, &alderlake},  {0xa7a0, 0xa7ad, &alderlake},
};

const struct zeta_igt_platform *zeta_igt_platform_find(uint32_t pci_id)
{
    for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
        if (pci_id >= ranges[i].first && pci_id <= ranges[i].last)
            return ranges[i].platform;
    }
    return NULL;
}
