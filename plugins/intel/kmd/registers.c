#include "registers.h"

#include <stdbool.h>
#include <stddef.h>

/* Both ends belong to a range; versions are those of the graphics IP x 100. */
struct range {
    uint32_t first, last;
    uint32_t since, until;
    enum zeta_intel_register_class class;
};

#define MUX ZETA_INTEL_REGISTER_MUX
#define BOOLEAN ZETA_INTEL_REGISTER_BOOLEAN
#define FLEX ZETA_INTEL_REGISTER_FLEX

enum { GEN75 = 750, GEN8 = 800, GEN11 = 1100, GEN12 = 1200, XEHP = 1255, MTL = 1270, XE2 = 2000 };
enum { BEFORE_GEN8 = 799, BEFORE_GEN11 = 1099, BEFORE_GEN12 = 1199, NOW = 9999 };

static const struct range ranges[] = {
    /* The OA unit up to Gen11. */
    {0x2710, 0x272c, GEN75, BEFORE_GEN12, BOOLEAN},
    {0x2740, 0x275c, GEN75, BEFORE_GEN12, BOOLEAN},
    {0x2770, 0x27ac, GEN75, BEFORE_GEN12, BOOLEAN},
    /* The OAG unit since Gen12. */
    {0x2b2c, 0x2b2c, GEN12, NOW, BOOLEAN},
    {0xd900, 0xd91c, GEN12, NOW, BOOLEAN},
    {0xd920, 0xd93c, GEN12, NOW, BOOLEAN},
    {0xd940, 0xd97c, GEN12, NOW, BOOLEAN},
    {0xdc00, 0xdc3c, GEN12, NOW, BOOLEAN},
    {0xdc40, 0xdc44, GEN12, NOW, BOOLEAN},
    {0xdc48, 0xdc48, XEHP, NOW, BOOLEAN},
    {0xdd00, 0xdd48, XEHP, NOW, BOOLEAN},
    /* OAM units of media. */
    {0x393000, 0x39301c, MTL, NOW, BOOLEAN},
    {0x393020, 0x39303c, MTL, NOW, BOOLEAN},
    {0x393040, 0x39307c, MTL, NOW, BOOLEAN},
    {0x393200, 0x39323c, MTL, NOW, BOOLEAN},
    {0x394200, 0x39423c, XE2, NOW, BOOLEAN},
    {0x394a00, 0x394a3c, XE2, NOW, BOOLEAN},
    /* Selections of EU counters. */
    {0xe458, 0xe458, GEN8, NOW, FLEX},
    {0xe558, 0xe558, GEN8, NOW, FLEX},
    {0xe658, 0xe658, GEN8, NOW, FLEX},
    {0xe758, 0xe758, GEN8, NOW, FLEX},
    {0xe45c, 0xe45c, GEN8, NOW, FLEX},
    {0xe55c, 0xe55c, GEN8, NOW, FLEX},
    {0xe65c, 0xe65c, GEN8, NOW, FLEX},
    /* The network between events and counters, up to Gen11. */
    {0x91b8, 0x91cc, GEN75, BEFORE_GEN12, MUX},
    {0x9800, 0x9888, GEN75, BEFORE_GEN12, MUX},
    {0xe180, 0xe180, GEN75, BEFORE_GEN12, MUX},
    {0x9e80, 0x9ea4, GEN75, BEFORE_GEN8, MUX},
    {0x9ec0, 0x9ec0, GEN75, BEFORE_GEN8, MUX},
    {0x25100, 0x2ff90, GEN75, BEFORE_GEN8, MUX},
    {0x0d00, 0x0d2c, GEN8, BEFORE_GEN12, MUX},
    {0x20cc, 0x20cc, GEN8, BEFORE_GEN12, MUX},
    {0x182300, 0x1823a4, GEN8, BEFORE_GEN11, MUX},
    {0x91c8, 0x91dc, GEN11, BEFORE_GEN12, MUX},
    /* The same since Gen12. */
    {0x0d00, 0x0d04, GEN12, NOW, MUX},
    {0x0d0c, 0x0d2c, GEN12, NOW, MUX},
    {0x9840, 0x9840, GEN12, NOW, MUX},
    {0x9884, 0x9888, GEN12, NOW, MUX},
    {0x20cc, 0x20cc, GEN12, NOW, MUX},
    {0x38d100, 0x38d114, MTL, NOW, MUX},
    {0x5194, 0x5194, XE2, NOW, MUX},
    {0x8704, 0x8704, XE2, NOW, MUX},
    {0xb01c, 0xb01c, XE2, NOW, MUX},
    {0xb1bc, 0xb1bc, XE2, NOW, MUX},
    {0xd0e0, 0xd0f4, XE2, NOW, MUX},
    {0xe18c, 0xe18c, XE2, NOW, MUX},
    {0xe590, 0xe590, XE2, NOW, MUX},
    {0x13000, 0x137fc, XE2, NOW, MUX},
    {0x145194, 0x145194, XE2, NOW, MUX},
    {0x145340, 0x14537c, XE2, NOW, MUX},
};

enum zeta_intel_register_class zeta_intel_register_classify(uint32_t graphics, uint32_t address)
{
    if (address % 4 != 0)
        return ZETA_INTEL_REGISTER_REFUSED;
    for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
        const struct range *range = &ranges[i];

        if (graphics >= range->since && graphics <= range->until && address >= range->first &&
            address <= range->last)
            return range->class;
    }
    return ZETA_INTEL_REGISTER_REFUSED;
}
