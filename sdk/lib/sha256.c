#include "zeta/sha256.h"

#include <string.h>

enum { BLOCK_BYTES = 64, LENGTH_BYTES = 8 };

/* First 32 bits of the fractional parts of the cube roots of the first 64 primes. */
static const uint32_t round_constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t rotate(uint32_t word, unsigned bits)
{
    return word >> bits | word << (32 - bits);
}

static uint32_t read_word(const uint8_t *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static void write_word(uint8_t *at, uint32_t word)
{
    for (unsigned i = 0; i < 4; i++)
        at[i] = (uint8_t)(word >> (24 - 8 * i));
}

static void schedule(const uint8_t *block, uint32_t words[64])
{
    for (unsigned i = 0; i < 16; i++)
        words[i] = read_word(block + (size_t)i * 4);
    for (unsigned i = 16; i < 64; i++) {
        uint32_t early = words[i - 15];
        uint32_t late = words[i - 2];

        words[i] = words[i - 16] + (rotate(early, 7) ^ rotate(early, 18) ^ early >> 3) +
                   words[i - 7] + (rotate(late, 17) ^ rotate(late, 19) ^ late >> 10);
    }
}

static void digest_block(uint32_t state[8], const uint8_t *block)
{
    uint32_t words[64];
    uint32_t s[8];

    schedule(block, words);
    memcpy(s, state, sizeof(s));
    for (unsigned i = 0; i < 64; i++) {
        uint32_t chosen = (s[4] & s[5]) ^ (~s[4] & s[6]);
        uint32_t majority = (s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]);
        uint32_t first = s[7] + (rotate(s[4], 6) ^ rotate(s[4], 11) ^ rotate(s[4], 25)) + chosen +
                         round_constants[i] + words[i];
        uint32_t second = (rotate(s[0], 2) ^ rotate(s[0], 13) ^ rotate(s[0], 22)) + majority;

        memmove(s + 1, s, 7 * sizeof(s[0]));
        s[0] = first + second;
        s[4] += first;
    }
    for (unsigned i = 0; i < 8; i++)
        state[i] += s[i];
}

void zeta_sha256_begin(struct zeta_sha256 *digest)
{
    static const uint32_t first_state[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                            0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

    memcpy(digest->state, first_state, sizeof(first_state));
    digest->size_bytes = 0;
}

void zeta_sha256_add(struct zeta_sha256 *digest, const void *bytes, size_t size)
{
    const uint8_t *at = bytes;

    while (size > 0) {
        size_t used = digest->size_bytes % BLOCK_BYTES;
        size_t part = BLOCK_BYTES - used < size ? BLOCK_BYTES - used : size;

        memcpy(digest->block + used, at, part);
        digest->size_bytes += part;
        at += part;
        size -= part;
        if (used + part == BLOCK_BYTES)
            digest_block(digest->state, digest->block);
    }
}

void zeta_sha256_end(struct zeta_sha256 *digest, uint8_t out_digest[32])
{
    static const uint8_t padding[BLOCK_BYTES] = {0x80};
    uint64_t bits = digest->size_bytes * 8;
    size_t used = digest->size_bytes % BLOCK_BYTES;
    size_t room = used < BLOCK_BYTES - LENGTH_BYTES ? BLOCK_BYTES - LENGTH_BYTES
                                                    : 2 * BLOCK_BYTES - LENGTH_BYTES;
    uint8_t length[LENGTH_BYTES];

    write_word(length, (uint32_t)(bits >> 32));
    write_word(length + 4, (uint32_t)bits);
    zeta_sha256_add(digest, padding, room - used);
    zeta_sha256_add(digest, length, sizeof(length));
    for (size_t i = 0; i < 8; i++)
        write_word(out_digest + i * 4, digest->state[i]);
}
