/*
 * The inside of a writer, shared with what makes room in bounded files.
 */
#ifndef ZETA_SDK_CONTAINER_WRITER_H
#define ZETA_SDK_CONTAINER_WRITER_H

#include <zeta/container.h>

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

/** Adds a chunk as it stands, without a look at bounds. payload_bytes is the sum of the parts. */
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

#endif
