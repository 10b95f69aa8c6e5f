/* The registers that a metric set may program, by class and generation. */

#include "tests/kmd/machine/kmd_priv.h"

enum { MUX, BOOLEAN, FLEX };

struct range {
    uint32_t list;
    uint32_t min_graphics, max_graphics;
    uint32_t first, last;
};

/* Broadwell and Cherryview are both 8.0; here they differ. */
enum { CHERRYVIEW = 801 };

static const struct range ranges[] = {
    {BOOLEAN, 750, 1100, 0x2710, 0x272c},
    {BOOLEAN, 750, 1100, 0x2740, 0x275c},
    {BOOLEAN, 750, 1100, 0x2770, 0x27ac},
    {BOOLEAN, 1200, 3000, 0x2b2c, 0x2b2c},
    {BOOLEAN, 1200, 3000, 0xd900, 0xd91c},
    {BOOLEAN, 1200, 3000, 0xd920, 0xd93c},
    {BOOLEAN, 1200, 3000, 0xd940, 0xd97c},
    {BOOLEAN, 1200, 3000, 0xdc00, 0xdc3c},
    {BOOLEAN, 1200, 3000, 0xdc40, 0xdc44},
    {BOOLEAN, 1255, 3000, 0xdc48, 0xdc48},
    {BOOLEAN, 1255, 3000, 0xdd00, 0xdd48},
    {BOOLEAN, 1270, 3000, 0x393000, 0x39301c},
    {BOOLEAN, 1270, 3000, 0x393020, 0x39303c},
    {BOOLEAN, 1270, 3000, 0x393040, 0x39307c},
    {BOOLEAN, 1270, 3000, 0x393200, 0x39323c},
    {BOOLEAN, 2000, 3000, 0x394200, 0x39423c},
    {BOOLEAN, 2000, 3000, 0x394a00, 0x394a3c},

    {MUX, 750, 1100, 0x91b8, 0x91cc},
    {MUX, 750, 1100, 0x9800, 0x9888},
    {MUX, 750, 1100, 0xe180, 0xe180},
    /* Cherryview has those of Haswell, and some of its own. */
    {MUX, 800, 800, 0x0d00, 0x0d2c},
    {MUX, 800, 800, 0x20cc, 0x20cc},
    {MUX, 900, 1100, 0x0d00, 0x0d2c},
    {MUX, 900, 1100, 0x20cc, 0x20cc},
    {MUX, 1100, 1100, 0x91c8, 0x91dc},
    {MUX, 750, 750, 0x9e80, 0x9ea4},
    {MUX, 750, 750, 0x9ec0, 0x9ec0},
    {MUX, 750, 750, 0x25100, 0x2ff90},
    {MUX, CHERRYVIEW, CHERRYVIEW, 0x182300, 0x1823a4},
    {MUX, 1200, 1274, 0x0d00, 0x0d04},
    {MUX, 1200, 1274, 0x0d0c, 0x0d2c},
    {MUX, 1200, 1274, 0x9840, 0x9840},
    {MUX, 1200, 1274, 0x9884, 0x9888},
    {MUX, 1200, 1260, 0x20cc, 0x20cc},
    {MUX, 1270, 1274, 0x38d100, 0x38d114},
    /* Xe2 was wired anew: none of the selectors before it. */
    {MUX, 2000, 3000, 0x5194, 0x5194},
    {MUX, 2000, 3000, 0x8704, 0x8704},
    {MUX, 2000, 3000, 0xb01c, 0xb01c},
    {MUX, 2000, 3000, 0xb1bc, 0xb1bc},
    {MUX, 2000, 3000, 0xd0e0, 0xd0f4},
    {MUX, 2000, 3000, 0xe18c, 0xe18c},
    {MUX, 2000, 3000, 0xe590, 0xe590},
    {MUX, 2000, 3000, 0x13000, 0x137fc},
    {MUX, 2000, 3000, 0x145194, 0x145194},
    {MUX, 2000, 3000, 0x145340, 0x14537c},

    {FLEX, 800, 3000, 0xe458, 0xe458},
    {FLEX, 800, 3000, 0xe558, 0xe558},
    {FLEX, 800, 3000, 0xe658, 0xe658},
    {FLEX, 800, 3000, 0xe758, 0xe758},
    {FLEX, 800, 3000, 0xe45c, 0xe45c},
    {FLEX, 800, 3000, 0xe55c, 0xe55c},
    {FLEX, 800, 3000, 0xe65c, 0xe65c},
};

static bool is_of(const struct range *range, const struct kmd_platform *platform)
{
    const bool is_cherryview = platform->graphics == 800 && platform->max_slices == 1;
    const uint32_t graphics = is_cherryview ? CHERRYVIEW : platform->graphics;

    return graphics >= range->min_graphics && graphics <= range->max_graphics;
}

bool kmd_register_range(const struct kmd_platform *platform, uint32_t index, uint32_t *out_list,
                        uint32_t *out_first, uint32_t *out_last)
{
    for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
        if (!is_of(&ranges[i], platform) || index-- > 0)
            continue;
        *out_list = ranges[i].list;
        *out_first = ranges[i].first;
        *out_last = ranges[i].last;
        return true;
    }
    return false;
}

bool kmd_register_is_allowed(const struct kmd_gpu *gpu, uint32_t list, uint32_t address)
{
    const struct kmd_platform *platform = kmd_gpu_platform(gpu);

    if (list == MUX && gpu->mux_last != 0 && address >= gpu->mux_first && address <= gpu->mux_last)
        return true;
    for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
        if (ranges[i].list == list && is_of(&ranges[i], platform) && address >= ranges[i].first &&
            address <= ranges[i].last)
            return true;
    }
    return false;
}
