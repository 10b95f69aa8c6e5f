#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "container_priv.h"

struct zeta_container_reader {
    int descriptor;             /**< -1: memory */
    const unsigned char *bytes; /**< memory of the caller */
    uint64_t size;
    uint32_t kind;
    uint32_t minor;

    uint64_t next_offset; /**< of the next chunk */
    uint64_t chunks;      /**< that were seen */
    uint32_t headers_crc;
    bool ended; /**< the end chunk was seen */
    struct zeta_container_chunk chunk;
    uint32_t payload_crc;

    unsigned char *buffer; /**< of a file: the last payload */
    size_t buffer_bytes;
    struct zeta_container_problem problem;
};

/** Copies bytes of the container; less than wanted at its end. */
static enum zeta_container_result fetch(struct zeta_container_reader *reader, uint64_t offset,
                                        void *target, size_t wanted, size_t *out_bytes)
{
    size_t done = 0;

    if (reader->descriptor < 0) {
        if (offset < reader->size)
            done = reader->size - offset < wanted ? (size_t)(reader->size - offset) : wanted;
        if (done > 0)
            memcpy(target, reader->bytes + offset, done);
        *out_bytes = done;
        return ZETA_CONTAINER_OK;
    }
    while (done < wanted) {
        ssize_t count = pread(reader->descriptor, (unsigned char *)target + done, wanted - done,
                              (off_t)(offset + done));

        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return zeta_container_fail(&reader->problem, ZETA_CONTAINER_IO,
                                       "the file cannot be read at byte %llu: %s",
                                       (unsigned long long)offset + done, strerror(errno));
        if (count == 0)
            break;
        done += (size_t)count;
    }
    *out_bytes = done;
    return ZETA_CONTAINER_OK;
}

static enum zeta_container_result check_header(struct zeta_container_reader *reader)
{
    unsigned char header[ZETA_CONTAINER_HEADER_BYTES];
    size_t bytes = 0;
    enum zeta_container_result result = fetch(reader, 0, header, sizeof(header), &bytes);

    if (result != ZETA_CONTAINER_OK)
        return result;
    if (bytes < CONTAINER_MAGIC_BYTES ||
        memcmp(header, zeta_container_magic, CONTAINER_MAGIC_BYTES) != 0)
        return zeta_container_fail(
            &reader->problem, ZETA_CONTAINER_FOREIGN,
            "these %llu bytes are neither exported metric data nor a recording: they do not "
            "begin with the mark of such a file",
            (unsigned long long)reader->size);
    if (bytes < sizeof(header))
        return zeta_container_fail(&reader->problem, ZETA_CONTAINER_DAMAGED,
                                   "the data ends within its header, after %zu of %zu bytes", bytes,
                                   sizeof(header));
    if (get_u32(header + 60) != zeta_crc32c(0, header, 60))
        return zeta_container_fail(&reader->problem, ZETA_CONTAINER_DAMAGED,
                                   "the header is damaged: its checksum is wrong");
    if (get_u16(header + 8) != ZETA_CONTAINER_MAJOR)
        return zeta_container_fail(
            &reader->problem, ZETA_CONTAINER_NEWER,
            "the data has version %u.%u of the format and this library reads version %u; "
            "use a version of Zeta that is as new as the one that wrote it",
            get_u16(header + 8), get_u16(header + 10), ZETA_CONTAINER_MAJOR);
    if (get_u32(header + 12) != sizeof(header) || get_u32(header + 20) != ZETA_CHUNK_HEADER_BYTES)
        return zeta_container_fail(&reader->problem, ZETA_CONTAINER_DAMAGED,
                                   "the header is damaged: sizes of headers are %u and %u",
                                   get_u32(header + 12), get_u32(header + 20));
    reader->minor = get_u16(header + 10);
    reader->kind = get_u32(header + 16);
    return ZETA_CONTAINER_OK;
}

/** A reader of a file, whose descriptor is its own or closed, or of memory. */
static enum zeta_container_result new_reader(int descriptor, const void *bytes, uint64_t size,
                                             struct zeta_container_problem *out_problem,
                                             struct zeta_container_reader **out_reader)
{
    struct zeta_container_reader *reader = calloc(1, sizeof(*reader));
    enum zeta_container_result result;

    if (!reader) {
        if (descriptor >= 0)
            (void)close(descriptor);
        return zeta_container_fail(out_problem, ZETA_CONTAINER_NO_MEMORY, "memory is exhausted");
    }
    reader->descriptor = descriptor;
    reader->bytes = bytes;
    reader->size = size;
    zeta_container_rewind(reader);
    result = check_header(reader);
    if (result != ZETA_CONTAINER_OK) {
        *out_problem = reader->problem;
        zeta_container_reader_destroy(reader);
        return result;
    }
    *out_reader = reader;
    return ZETA_CONTAINER_OK;
}

enum zeta_container_result zeta_container_open_file(const char *path,
                                                    struct zeta_container_problem *out_problem,
                                                    struct zeta_container_reader **out_reader)
{
    /* O_NONBLOCK: opening a pipe must not wait for a writer. */
    const int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat status;

    if (descriptor < 0 || fstat(descriptor, &status) != 0)
        (void)zeta_container_fail(out_problem, ZETA_CONTAINER_IO, "%s cannot be opened: %s", path,
                                  strerror(errno));
    else if (!S_ISREG(status.st_mode))
        (void)zeta_container_fail(out_problem, ZETA_CONTAINER_IO,
                                  "%s is not a regular file; save its contents to a file first",
                                  path);
    else
        return new_reader(descriptor, NULL, (uint64_t)status.st_size, out_problem, out_reader);
    if (descriptor >= 0)
        (void)close(descriptor);
    return ZETA_CONTAINER_IO;
}

enum zeta_container_result zeta_container_open_memory(const void *bytes, size_t size,
                                                      struct zeta_container_problem *out_problem,
                                                      struct zeta_container_reader **out_reader)
{
    return new_reader(-1, bytes, size, out_problem, out_reader);
}

uint32_t zeta_container_reader_kind(const struct zeta_container_reader *reader)
{
    return reader->kind;
}

uint32_t zeta_container_reader_minor(const struct zeta_container_reader *reader)
{
    return reader->minor;
}

/** Compares the totals with what was seen. */
static enum zeta_container_result check_end(struct zeta_container_reader *reader)
{
    const void *payload;
    const unsigned char *totals;
    enum zeta_container_result result;

    if (reader->chunk.payload_bytes < END_PAYLOAD_BYTES)
        return zeta_container_fail(&reader->problem, ZETA_CONTAINER_DAMAGED,
                                   "the end chunk at byte %llu is too short",
                                   (unsigned long long)reader->chunk.offset);
    result = zeta_container_payload(reader, &payload);
    if (result != ZETA_CONTAINER_OK)
        return result;
    totals = payload;
    if (get_u64(totals) != reader->chunks || get_u64(totals + 8) != reader->chunk.offset ||
        get_u32(totals + 16) != reader->headers_crc)
        return zeta_container_fail(
            &reader->problem, ZETA_CONTAINER_DAMAGED,
            "the end chunk counts %llu chunks in %llu bytes, and there are %llu in %llu",
            (unsigned long long)get_u64(totals), (unsigned long long)get_u64(totals + 8),
            (unsigned long long)reader->chunks, (unsigned long long)reader->chunk.offset);
    if (reader->size > reader->next_offset)
        return zeta_container_fail(&reader->problem, ZETA_CONTAINER_DAMAGED,
                                   "%llu bytes follow the end chunk",
                                   (unsigned long long)(reader->size - reader->next_offset));
    reader->ended = true;
    return ZETA_CONTAINER_AT_END;
}

/** Reads the header of the next chunk and checks that the chunk is there as a whole. */
static enum zeta_container_result read_header(struct zeta_container_reader *reader,
                                              unsigned char *header)
{
    const uint64_t offset = reader->next_offset;
    struct stat status;
    size_t bytes = 0;
    enum zeta_container_result result =
        fetch(reader, offset, header, ZETA_CHUNK_HEADER_BYTES, &bytes);
    uint64_t left;

    if (result != ZETA_CONTAINER_OK)
        return result;
    /* The file may be growing. */
    if (reader->descriptor >= 0 && fstat(reader->descriptor, &status) == 0)
        reader->size = (uint64_t)status.st_size;
    if (bytes < ZETA_CHUNK_HEADER_BYTES)
        return zeta_container_fail(&reader->problem, ZETA_CONTAINER_AT_CUT,
                                   "the data is cut at byte %llu: it has no end chunk",
                                   (unsigned long long)reader->size);
    if (get_u32(header) != CHUNK_MARK || get_u32(header + 28) != zeta_crc32c(0, header, 28))
        return zeta_container_fail(&reader->problem, ZETA_CONTAINER_DAMAGED,
                                   "the data is damaged at byte %llu: no chunk begins there",
                                   (unsigned long long)offset);
    left = reader->size > offset + ZETA_CHUNK_HEADER_BYTES
               ? reader->size - offset - ZETA_CHUNK_HEADER_BYTES
               : 0;
    if (get_u64(header + 16) > left ||
        left - get_u64(header + 16) < padding_of(get_u64(header + 16)))
        return zeta_container_fail(
            &reader->problem, ZETA_CONTAINER_AT_CUT,
            "the data is cut at byte %llu, within the chunk that begins at byte %llu",
            (unsigned long long)reader->size, (unsigned long long)offset);
    return ZETA_CONTAINER_OK;
}

enum zeta_container_result zeta_container_next(struct zeta_container_reader *reader,
                                               struct zeta_container_chunk *out_chunk)
{
    unsigned char header[ZETA_CHUNK_HEADER_BYTES];
    enum zeta_container_result result;

    if (reader->ended)
        return ZETA_CONTAINER_AT_END;
    result = read_header(reader, header);
    if (result != ZETA_CONTAINER_OK)
        return result;
    reader->chunk.type = get_u32(header + 4);
    reader->chunk.stream = get_u32(header + 8);
    reader->chunk.flags = get_u32(header + 12);
    reader->chunk.payload_bytes = get_u64(header + 16);
    reader->chunk.offset = reader->next_offset;
    reader->payload_crc = get_u32(header + 24);
    reader->next_offset += ZETA_CHUNK_HEADER_BYTES + reader->chunk.payload_bytes +
                           padding_of(reader->chunk.payload_bytes);
    if (reader->chunk.type == ZETA_CHUNK_END)
        return check_end(reader);
    reader->chunks++;
    reader->headers_crc = zeta_crc32c(reader->headers_crc, header, sizeof(header));
    *out_chunk = reader->chunk;
    return ZETA_CONTAINER_OK;
}

enum zeta_container_result zeta_container_payload(struct zeta_container_reader *reader,
                                                  const void **out_payload)
{
    const struct zeta_container_chunk *chunk = &reader->chunk;
    const uint64_t bytes = chunk->payload_bytes;
    const uint64_t offset = chunk->offset + ZETA_CHUNK_HEADER_BYTES;
    const unsigned char *payload = reader->buffer;
    size_t done = 0;

    if (reader->descriptor < 0) {
        payload = reader->bytes + offset;
    } else {
        enum zeta_container_result result;

        if (bytes > reader->buffer_bytes) {
            unsigned char *buffer = bytes <= SIZE_MAX ? malloc((size_t)bytes) : NULL;

            if (!buffer)
                return zeta_container_fail(
                    &reader->problem, ZETA_CONTAINER_NO_MEMORY,
                    "there is no memory for the %llu bytes of the chunk at byte %llu",
                    (unsigned long long)bytes, (unsigned long long)chunk->offset);
            free(reader->buffer);
            payload = reader->buffer = buffer;
            reader->buffer_bytes = (size_t)bytes;
        }
        result = fetch(reader, offset, reader->buffer, (size_t)bytes, &done);
        if (result != ZETA_CONTAINER_OK)
            return result;
        if (done < bytes)
            return zeta_container_fail(&reader->problem, ZETA_CONTAINER_DAMAGED,
                                       "the file became shorter while it was read");
    }
    if (zeta_crc32c(0, payload, (size_t)bytes) != reader->payload_crc)
        return zeta_container_fail(&reader->problem, ZETA_CONTAINER_DAMAGED,
                                   "the chunk at byte %llu is damaged: its checksum is wrong",
                                   (unsigned long long)chunk->offset);
    *out_payload = payload;
    return ZETA_CONTAINER_OK;
}

void zeta_container_rewind(struct zeta_container_reader *reader)
{
    reader->next_offset = ZETA_CONTAINER_HEADER_BYTES;
    reader->chunks = 0;
    reader->headers_crc = 0;
    reader->ended = false;
}

const char *zeta_container_reader_problem(const struct zeta_container_reader *reader)
{
    return reader->problem.text;
}

void zeta_container_reader_destroy(struct zeta_container_reader *reader)
{
    if (!reader)
        return;
    if (reader->descriptor >= 0)
        (void)close(reader->descriptor);
    free(reader->buffer);
    free(reader);
}
