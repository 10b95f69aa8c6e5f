/* FNV-1a, 64 bits: spreads well, and is the same everywhere. */
#ifndef ZETA_CORE_UTIL_HASH_H
#define ZETA_CORE_UTIL_HASH_H

#include <stddef.h>
#include <stdint.h>

#define ZETA_HASH_START UINT64_C(0xcbf29ce484222325)

/** The hash of what was hashed before (ZETA_HASH_START: nothing) and these bytes behind it. */
static inline uint64_t zeta_hash(uint64_t hash, const void *bytes, size_t count)
{
    const unsigned char *at = bytes;

    for (size_t i = 0; i < count; i++)
        hash = (hash ^ at[i]) * UINT64_C(0x100000001b3);
    return hash;
}

#endif
