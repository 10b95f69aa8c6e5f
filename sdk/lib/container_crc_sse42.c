#include <nmmintrin.h>
#include <string.h>

#include "container_crc.h"

uint32_t zeta_crc32c_sse42(uint32_t state, const unsigned char *bytes, size_t count)
{
    uint64_t wide = state;

    for (; count >= 8; count -= 8, bytes += 8) {
        uint64_t word;

        memcpy(&word, bytes, sizeof(word));
        wide = _mm_crc32_u64(wide, word);
    }
    state = (uint32_t)wide;
    for (; count > 0; count--, bytes++)
        state = _mm_crc32_u8(state, *bytes);
    return state;
}
