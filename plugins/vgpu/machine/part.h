#ifndef ZETA_PLUGINS_VGPU_MACHINE_PART_H
#define ZETA_PLUGINS_VGPU_MACHINE_PART_H

/* Parts of counts: what of them belongs to a time that is over. */

#include <stdint.h>

/** So much is taken, of so much; all of it where that is not less. */
struct zeta_vgpu_part {
    uint64_t taken, of;
};

/** A part of a value, rounded down. */
static inline uint64_t zeta_vgpu_part_of(uint64_t value, struct zeta_vgpu_part part)
{
    __extension__ typedef unsigned __int128 uint128;

    return part.taken >= part.of ? value : (uint64_t)((uint128)value * part.taken / part.of);
}

#endif
