/*
 * The inside of containers: bytes, which are little-endian wherever they are read, checksums and
 * problems.
 */
#ifndef ZETA_SDK_CONTAINER_PRIV_H
#define ZETA_SDK_CONTAINER_PRIV_H

#include <stddef.h>
#include <stdint.h>

#include <zeta/container.h>

/** First bytes of every container; text tools and transfers as text damage them visibly. */
#define CONTAINER_MAGIC_BYTES 8u
extern const unsigned char zeta_container_magic[CONTAINER_MAGIC_BYTES];

/** First number of every chunk: "CHNK". */
#define CHUNK_MARK UINT32_C(0x4b4e4843)

/** Payload of the end chunk: chunks before it, bytes before it, checksum of their headers. */
#define END_PAYLOAD_BYTES 24u

/** Chunks begin at multiples of this. */
#define CHUNK_ALIGNMENT 8u

static inline void put_u16(unsigned char *at, uint16_t value)
{
    at[0] = (unsigned char)value;
    at[1] = (unsigned char)(value >> 8);
}

static inline void put_u32(unsigned char *at, uint32_t value)
{
    put_u16(at, (uint16_t)value);
    put_u16(at + 2, (uint16_t)(value >> 16));
}

static inline void put_u64(unsigned char *at, uint64_t value)
{
    put_u32(at, (uint32_t)value);
    put_u32(at + 4, (uint32_t)(value >> 32));
}

static inline uint16_t get_u16(const unsigned char *at)
{
    return (uint16_t)(at[0] | at[1] << 8);
}

static inline uint32_t get_u32(const unsigned char *at)
{
    return get_u16(at) | (uint32_t)get_u16(at + 2) << 16;
}

static inline uint64_t get_u64(const unsigned char *at)
{
    return get_u32(at) | (uint64_t)get_u32(at + 4) << 32;
}

/** Zero bytes behind a payload of this length. */
static inline uint32_t padding_of(uint64_t payload_bytes)
{
    return (uint32_t)(-payload_bytes & (CHUNK_ALIGNMENT - 1));
}

/** Leaves a sentence and gives the result. */
enum zeta_container_result zeta_container_fail(struct zeta_container_problem *out_problem,
                                               enum zeta_container_result result,
                                               const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* What analyses a file alone cannot see what it returns. */
#ifdef __clang_analyzer__
#define zeta_container_fail(problem, result, ...)                                                  \
    ((void)zeta_container_fail(problem, result, __VA_ARGS__), (result))
#endif

/**
 * Updates a CRC-32C without the inversions before and after, with tables, on any processor. Where
 * there is SSE 4.2, zeta_crc32c() uses its instruction instead.
 */
uint32_t zeta_crc32c_tables(uint32_t state, const unsigned char *bytes, size_t count);

#endif
