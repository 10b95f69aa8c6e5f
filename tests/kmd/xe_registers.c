/* Registers that xe lets a configuration write, as it lists them for each generation. */

#include "xe_registers.h"

#include <stddef.h>

struct range {
    uint32_t first, last;
};

/* Flexible counters of the EUs: the same everywhere. */
static const struct range flex[] = {
    {0xe458, 0xe458}, {0xe558, 0xe558}, {0xe658, 0xe658}, {0xe758, 0xe758},
    {0xe45c, 0xe45c}, {0xe55c, 0xe55c}, {0xe65c, 0xe65c},
};

static const struct range boolean_gen12[] = {
    {0x2b2c, 0x2b2c}, {0xd900, 0xd91c}, {0xd920, 0xd93c}, {0xd940, 0xd97c},
    {0xdc00, 0xdc3c}, {0xdc40, 0xdc40}, {0xdc44, 0xdc44},
};
static const struct range boolean_xehp[] = {{0xdc48, 0xdc48}, {0xdd00, 0xdd48}};
static const struct range boolean_media[] = {
    {0x393000, 0x39301c}, {0x393020, 0x39303c}, {0x393040, 0x39307c}, {0x393200, 0x39323c}};
static const struct range boolean_xe2[] = {{0x394200, 0x39423c}, {0x394a00, 0x394a3c}};

static const struct range mux_gen12[] = {
    {0x0d00, 0x0d04}, {0x0d0c, 0x0d2c}, {0x9840, 0x9840}, {0x9884, 0x9888}};
static const struct range mux_not_mtl[] = {{0x20cc, 0x20cc}};
static const struct range mux_mtl[] = {{0x38d100, 0x38d114}};
/* Xe2 was wired anew: it has none of the selectors before it. */
static const struct range mux_xe2[] = {
    {0x5194, 0x5194},   {0x8704, 0x8704},   {0xb01c, 0xb01c},     {0xb1bc, 0xb1bc},
    {0xd0e0, 0xd0f4},   {0xe18c, 0xe18c},   {0xe590, 0xe590},     {0x13000, 0x137fc},
    {0x145194, 0x145194}, {0x145340, 0x14537c},
};

/* Generations, as versions x 100 of the graphics IP; last excluded. */
static const struct {
    const struct range *ranges;
    size_t count;
    uint32_t first_graphics, end_graphics;
} lists[] = {
#define LIST(ranges, first, end) {ranges, sizeof(ranges) / sizeof(ranges[0]), first, end}
    LIST(flex, 1200, UINT32_MAX),
    LIST(boolean_gen12, 1200, UINT32_MAX),
    LIST(boolean_xehp, 1255, UINT32_MAX),
    LIST(boolean_media, 1270, UINT32_MAX),
    LIST(boolean_xe2, 2000, UINT32_MAX),
    LIST(mux_gen12, 1200, 2000),
    LIST(mux_not_mtl, 1200, 1270),
    LIST(mux_mtl, 1270, 2000),
    LIST(mux_xe2, 2000, UINT32_MAX),
#undef LIST
};

bool kmd_xe_register_allowed(uint32_t graphics, uint32_t address)
{
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
        if (graphics < lists[i].first_graphics || graphics >= lists[i].end_graphics)
            continue;
        for (size_t r = 0; r < lists[i].count; r++)
            if (address >= lists[i].ranges[r].first && address <= lists[i].ranges[r].last)
                return true;
    }
    return false;
}
