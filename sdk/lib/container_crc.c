#include "container_priv.h"

#include <pthread.h>
#include <string.h>
#if defined(__x86_64__)
#include <nmmintrin.h>
#endif

/** The polynomial 0x1EDC6F41 with its bits in reverse order. */
#define POLYNOMIAL UINT32_C(0x82f63b78)
/** Bytes that are taken together. */
#define SLICES 8u

static uint32_t tables[SLICES][256];
static pthread_once_t tables_once = PTHREAD_ONCE_INIT;

/** tables[k][b]: what byte b does to the checksum when k bytes follow it. */
static void make_tables(void)
{
    for (uint32_t byte = 0; byte < 256; byte++) {
        uint32_t state = byte;

        for (int bit = 0; bit < 8; bit++)
            state = state >> 1 ^ (state & 1 ? POLYNOMIAL : 0);
        tables[0][byte] = state;
    }
    for (uint32_t slice = 1; slice < SLICES; slice++) {
        for (uint32_t byte = 0; byte < 256; byte++) {
            uint32_t before = tables[slice - 1][byte];

            tables[slice][byte] = before >> 8 ^ tables[0][before & 0xff];
        }
    }
}

uint32_t zeta_crc32c_tables(uint32_t state, const unsigned char *bytes, size_t count)
{
    (void)pthread_once(&tables_once, make_tables);
    for (; count >= SLICES; count -= SLICES, bytes += SLICES) {
        const uint32_t low = state ^ get_u32(bytes);
        const uint32_t high = get_u32(bytes + 4);

        state = tables[7][low & 0xff] ^ tables[6][low >> 8 & 0xff] ^ tables[5][low >> 16 & 0xff] ^
                tables[4][low >> 24] ^ tables[3][high & 0xff] ^ tables[2][high >> 8 & 0xff] ^
                tables[1][high >> 16 & 0xff] ^ tables[0][high >> 24];
    }
    for (; count > 0; count--, bytes++)
        state = state >> 8 ^ tables[0][(state ^ *bytes) & 0xff];
    return state;
}

#if defined(__x86_64__)
/* The same with the instruction. */
__attribute__((target("sse4.2"))) static uint32_t
with_sse42(uint32_t state, const unsigned char *bytes, size_t count)
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
#endif

uint32_t zeta_crc32c(uint32_t crc, const void *data, size_t bytes)
{
    if (bytes == 0)
        return crc;
#if defined(__x86_64__)
    if (__builtin_cpu_supports("sse4.2"))
        return ~with_sse42(~crc, data, bytes);
#endif
    return ~zeta_crc32c_tables(~crc, data, bytes);
}
