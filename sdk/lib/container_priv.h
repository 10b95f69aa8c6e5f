/*
 * The inside of containers: bytes, which are little-endian wherever they are read, writers,
 * checksums and problems.
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

struct zeta_container_writer {
    int descriptor; /**< -1: memory of the caller */
    enum zeta_container_kind kind;
    char *path; /**< NULL for memory */

    unsigned char *buffer; /**< of a file: what is not handed to the system yet */
    bool owns_buffer;      /**< false: it is the caller's memory */
    size_t capacity;
    size_t used;

    uint64_t size; /**< of the whole container */
    uint64_t limit_bytes;
    uint64_t chunks;
    uint32_t headers_crc; /**< of the headers of all chunks, in their order */
    struct zeta_chunk_cut cut;

    bool failed;
    struct zeta_container_problem problem;
};

/** Makes a writer for an open file and writes the header. The descriptor is the writer's then. */
enum zeta_container_result zeta_container_writer_new(int descriptor, const char *path,
                                                     enum zeta_container_kind kind,
                                                     struct zeta_container_writer **out_writer);

/** Adds a chunk as it is, without a check of bounds. payload_bytes is the sum of the parts. */
enum zeta_container_result zeta_container_put_chunk(struct zeta_container_writer *writer,
                                                    const struct zeta_container_chunk *chunk,
                                                    const struct zeta_container_part *parts,
                                                    uint32_t part_count);

/**
 * Writes a file anew without its oldest chunks that may go, and puts it in the place of the old one
 * (container_room.c). Everything was flushed. needed: bytes that have to be free afterwards; FULL,
 * and nothing is done, if not even a file without any of them has that room.
 */
enum zeta_container_result zeta_container_make_room(struct zeta_container_writer *writer,
                                                    uint64_t needed);

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
