#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zeta/c_locale.h>

#include "container_priv.h"

/** Bytes that are collected before they are handed to the system. */
#define BUFFER_BYTES (256u * 1024u)
/** No file is bounded to less. */
#define LIMIT_MIN_BYTES (64u * 1024u)
/** Room that a bounded file keeps for its end chunk and the next CUT chunk. */
#define RESERVED_BYTES 128u

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

const unsigned char zeta_container_magic[CONTAINER_MAGIC_BYTES] = {0x89, 'Z',  'E',  'T',
                                                                   'A',  '\r', '\n', 0x1a};

#undef zeta_container_fail
enum zeta_container_result zeta_container_fail(struct zeta_container_problem *out_problem,
                                               enum zeta_container_result result,
                                               const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    (void)zeta_c_vsnprintf(out_problem->text, sizeof(out_problem->text), format, arguments);
    va_end(arguments);
    return result;
}

/** Hands bytes to the system. */
static enum zeta_container_result write_out(struct zeta_container_writer *writer, const void *data,
                                            size_t bytes)
{
    const unsigned char *at = data;

    while (bytes > 0) {
        ssize_t done = write(writer->descriptor, at, bytes);

        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0) {
            writer->failed = true;
            return zeta_container_fail(&writer->problem, ZETA_CONTAINER_IO,
                                       "%s cannot be written: %s", writer->path, strerror(errno));
        }
        at += done;
        bytes -= (size_t)done;
    }
    return ZETA_CONTAINER_OK;
}

enum zeta_container_result zeta_container_flush(struct zeta_container_writer *writer)
{
    size_t bytes = writer->used;

    if (writer->failed)
        return ZETA_CONTAINER_IO;
    if (writer->descriptor < 0)
        return ZETA_CONTAINER_OK;
    writer->used = 0;
    return write_out(writer, writer->buffer, bytes);
}

/** Adds bytes of the container, wherever it goes. */
static enum zeta_container_result put(struct zeta_container_writer *writer, const void *data,
                                      size_t bytes)
{
    enum zeta_container_result result = ZETA_CONTAINER_OK;

    writer->size += bytes;
    if (bytes == 0)
        return ZETA_CONTAINER_OK;
    if (writer->descriptor < 0) {
        if (writer->size <= writer->capacity)
            memcpy(writer->buffer + writer->size - bytes, data, bytes);
        return ZETA_CONTAINER_OK;
    }
    if (bytes > writer->capacity - writer->used)
        result = zeta_container_flush(writer);
    if (result != ZETA_CONTAINER_OK)
        return result;
    if (bytes > writer->capacity)
        return write_out(writer, data, bytes);
    memcpy(writer->buffer + writer->used, data, bytes);
    writer->used += bytes;
    return ZETA_CONTAINER_OK;
}

static enum zeta_container_result put_header(struct zeta_container_writer *writer)
{
    unsigned char header[ZETA_CONTAINER_HEADER_BYTES] = {0};

    memcpy(header, zeta_container_magic, CONTAINER_MAGIC_BYTES);
    put_u16(header + 8, ZETA_CONTAINER_MAJOR);
    put_u16(header + 10, ZETA_CONTAINER_MINOR);
    put_u32(header + 12, ZETA_CONTAINER_HEADER_BYTES);
    put_u32(header + 16, writer->kind);
    put_u32(header + 20, ZETA_CHUNK_HEADER_BYTES);
    put_u32(header + 60, zeta_crc32c(0, header, 60));
    return put(writer, header, sizeof(header));
}

/** Adds a chunk as it is, without a check of bounds. payload_bytes is the sum of the parts. */
static enum zeta_container_result put_chunk(struct zeta_container_writer *writer,
                                            const struct zeta_container_chunk *chunk,
                                            const struct zeta_container_part *parts,
                                            uint32_t part_count)
{
    static const unsigned char zeros[CHUNK_ALIGNMENT] = {0};
    unsigned char header[ZETA_CHUNK_HEADER_BYTES];
    enum zeta_container_result result;
    uint32_t crc = 0;
    /* Of what does not fit into memory only the length counts. */
    const bool is_counted =
        writer->descriptor < 0 && writer->size + chunk->payload_bytes > writer->capacity;

    for (uint32_t i = 0; i < part_count && !is_counted; i++)
        crc = zeta_crc32c(crc, parts[i].data, parts[i].bytes);
    put_u32(header, CHUNK_MARK);
    put_u32(header + 4, chunk->type);
    put_u32(header + 8, chunk->stream);
    put_u32(header + 12, chunk->flags);
    put_u64(header + 16, chunk->payload_bytes);
    put_u32(header + 24, crc);
    put_u32(header + 28, zeta_crc32c(0, header, 28));
    result = put(writer, header, sizeof(header));
    for (uint32_t i = 0; i < part_count && result == ZETA_CONTAINER_OK; i++)
        result = put(writer, parts[i].data, parts[i].bytes);
    if (result == ZETA_CONTAINER_OK)
        result = put(writer, zeros, padding_of(chunk->payload_bytes));
    writer->chunks++;
    writer->headers_crc = zeta_crc32c(writer->headers_crc, header, sizeof(header));
    return result;
}

/** A file with a header that is not written out yet. The descriptor is the writer's, or closed. */
static enum zeta_container_result new_writer(int descriptor, const char *path,
                                             enum zeta_container_kind kind,
                                             struct zeta_container_writer **out_writer)
{
    struct zeta_container_writer *writer = calloc(1, sizeof(*writer));

    if (!writer) {
        (void)close(descriptor);
        return ZETA_CONTAINER_NO_MEMORY;
    }
    *writer = (struct zeta_container_writer){.descriptor = descriptor,
                                             .kind = kind,
                                             .capacity = BUFFER_BYTES,
                                             .buffer = malloc(BUFFER_BYTES),
                                             .owns_buffer = true,
                                             .path = strdup(path)};
    if (!writer->buffer || !writer->path) {
        zeta_container_writer_destroy(writer);
        return ZETA_CONTAINER_NO_MEMORY;
    }
    (void)put_header(writer);
    *out_writer = writer;
    return ZETA_CONTAINER_OK;
}

/* ---- Room in files of bounded size ---- */

/** Bytes of a CUT chunk. */
#define CUT_BYTES (ZETA_CHUNK_HEADER_BYTES + ZETA_CHUNK_NUMBERS_BYTES)

/** What has to go for the others to have room. */
struct plan {
    uint64_t fixed_bytes;  /**< of chunks that stay in any case, with the header */
    uint64_t going_bytes;  /**< of chunks that may go */
    uint64_t target_bytes; /**< to which the latter shrink */
    struct zeta_chunk_cut cut;
};

static uint64_t chunk_bytes(const struct zeta_container_chunk *chunk)
{
    return ZETA_CHUNK_HEADER_BYTES + ((chunk->payload_bytes + 7) & ~UINT64_C(7));
}

static enum zeta_container_result measure(struct zeta_container_reader *reader, uint64_t limit,
                                          uint64_t needed, struct plan *plan)
{
    struct zeta_container_chunk chunk;
    enum zeta_container_result result;
    uint64_t room;

    plan->fixed_bytes = ZETA_CONTAINER_HEADER_BYTES;
    while ((result = zeta_container_next(reader, &chunk)) == ZETA_CONTAINER_OK) {
        if (chunk.flags & ZETA_CHUNK_MAY_GO)
            plan->going_bytes += chunk_bytes(&chunk);
        else if (chunk.type != ZETA_CHUNK_CUT)
            plan->fixed_bytes += chunk_bytes(&chunk);
    }
    room = limit > plan->fixed_bytes + needed ? limit - plan->fixed_bytes - needed : 0;
    plan->target_bytes = room / 2;
    /* A file that is being written ends without an end chunk. */
    return result == ZETA_CONTAINER_AT_CUT ? ZETA_CONTAINER_OK : result;
}

/** Copies the chunks that stay and counts those that go. */
static enum zeta_container_result copy_rest(struct zeta_container_reader *reader, struct plan *plan,
                                            struct zeta_container_writer *target)
{
    const struct zeta_container_chunk cut = {.type = ZETA_CHUNK_CUT,
                                             .payload_bytes = ZETA_CHUNK_NUMBERS_BYTES};
    unsigned char numbers[ZETA_CHUNK_NUMBERS_BYTES];
    const struct zeta_container_part part = {numbers, sizeof(numbers)};
    struct zeta_container_chunk chunk;
    enum zeta_container_result result;

    zeta_container_rewind(reader);
    while ((result = zeta_container_next(reader, &chunk)) == ZETA_CONTAINER_OK) {
        struct zeta_container_part whole = {.bytes = (size_t)chunk.payload_bytes};

        if (chunk.type == ZETA_CHUNK_CUT)
            continue;
        if ((chunk.flags & ZETA_CHUNK_MAY_GO) && plan->going_bytes > plan->target_bytes) {
            plan->going_bytes -= chunk_bytes(&chunk);
            plan->cut.chunks++;
            plan->cut.bytes += chunk.payload_bytes;
            continue;
        }
        result = zeta_container_payload(reader, &whole.data);
        if (result == ZETA_CONTAINER_OK)
            result = put_chunk(target, &chunk, &whole, 1);
        if (result != ZETA_CONTAINER_OK)
            return result;
    }
    if (result != ZETA_CONTAINER_AT_CUT)
        return result;
    zeta_chunk_cut_write(&plan->cut, numbers);
    result = put_chunk(target, &cut, &part, 1);
    return result == ZETA_CONTAINER_OK ? zeta_container_flush(target) : result;
}

static enum zeta_container_result rewrite(struct zeta_container_writer *writer, uint64_t needed,
                                          struct zeta_container_reader *reader,
                                          struct zeta_container_writer *target)
{
    struct plan plan = {.cut = writer->cut};
    enum zeta_container_result result = measure(reader, writer->limit_bytes, needed, &plan);

    /* What has no room even in an empty file does not cost the data that is there. */
    if (result == ZETA_CONTAINER_OK && plan.fixed_bytes + CUT_BYTES + needed > writer->limit_bytes)
        return ZETA_CONTAINER_FULL;
    plan.cut.times++;
    if (result == ZETA_CONTAINER_OK)
        result = copy_rest(reader, &plan, target);
    if (result != ZETA_CONTAINER_OK) {
        return zeta_container_fail(
            &writer->problem, result, "%.120s cannot be made smaller: %.160s", writer->path,
            target->failed ? target->problem.text : zeta_container_reader_problem(reader));
    }
    if (rename(target->path, writer->path) != 0) {
        return zeta_container_fail(&writer->problem, ZETA_CONTAINER_IO,
                                   "%.120s cannot be replaced by %.120s: %s", writer->path,
                                   target->path, strerror(errno));
    }
    /* The writer goes on with the new file; the target keeps nothing of its own but its memory. */
    int descriptor = writer->descriptor;
    writer->descriptor = target->descriptor;
    target->descriptor = descriptor;
    writer->size = target->size;
    writer->chunks = target->chunks;
    writer->headers_crc = target->headers_crc;
    writer->cut = plan.cut;
    return ZETA_CONTAINER_OK;
}

/*
 * Writes a file anew without its oldest chunks that may go, and puts it in the place of the old
 * one. Everything was flushed. needed: bytes that have to be free afterwards; FULL, and nothing is
 * done, if not even a file without any of them has that room.
 *
 * The new file is written beside the old one and takes its name in one step, so that a kill at any
 * moment leaves a file that can be read. Each byte is copied once at most for each time that half
 * of the room was filled, so the cost grows with what is recorded, not with its square.
 */
static enum zeta_container_result make_room(struct zeta_container_writer *writer, uint64_t needed)
{
    struct zeta_container_writer *target = NULL;
    struct zeta_container_reader *reader = NULL;
    enum zeta_container_result result;
    char *path;
    int descriptor;

    if (asprintf(&path, "%s.XXXXXX", writer->path) < 0)
        return ZETA_CONTAINER_NO_MEMORY;
    descriptor = mkostemp(path, O_CLOEXEC);
    if (descriptor < 0) {
        result =
            zeta_container_fail(&writer->problem, ZETA_CONTAINER_IO,
                                "no file can be made beside %s: %s", writer->path, strerror(errno));
        free(path);
        return result;
    }
    result = new_writer(descriptor, path, writer->kind, &target);
    if (result == ZETA_CONTAINER_OK)
        result = zeta_container_open_file(writer->path, &writer->problem, &reader);
    if (result == ZETA_CONTAINER_OK)
        result = rewrite(writer, needed, reader, target);
    if (result != ZETA_CONTAINER_OK)
        (void)unlink(path);
    zeta_container_reader_destroy(reader);
    zeta_container_writer_destroy(target);
    free(path);
    return result;
}

enum zeta_container_result zeta_container_append(struct zeta_container_writer *writer,
                                                 enum zeta_chunk_type type, uint32_t stream,
                                                 const struct zeta_container_part *parts,
                                                 uint32_t part_count)
{
    struct zeta_container_chunk chunk = {.type = (uint32_t)type, .stream = stream};
    enum zeta_container_result result = ZETA_CONTAINER_OK;
    uint64_t needed;

    if (writer->failed)
        return ZETA_CONTAINER_IO;
    if (writer->kind == ZETA_CONTAINER_RECORDING &&
        (type == ZETA_CHUNK_DATA || type == ZETA_CHUNK_TRACE || type == ZETA_CHUNK_CLOCK))
        chunk.flags = ZETA_CHUNK_MAY_GO;
    for (uint32_t i = 0; i < part_count; i++)
        chunk.payload_bytes += parts[i].bytes;
    /* A bounded file becomes smaller if this would take it over its bound. */
    needed = ZETA_CHUNK_HEADER_BYTES + chunk.payload_bytes + CHUNK_ALIGNMENT + RESERVED_BYTES;
    if (writer->limit_bytes != 0 && type != ZETA_CHUNK_END &&
        writer->size + needed > writer->limit_bytes) {
        result = zeta_container_flush(writer);
        if (result == ZETA_CONTAINER_OK)
            result = make_room(writer, needed);
        if (result == ZETA_CONTAINER_FULL)
            return zeta_container_fail(
                &writer->problem, result,
                "%s: a chunk of %llu bytes has no room in the %llu bytes that the file may have; "
                "allow a larger file",
                writer->path, (unsigned long long)chunk.payload_bytes,
                (unsigned long long)writer->limit_bytes);
    }
    return result == ZETA_CONTAINER_OK ? put_chunk(writer, &chunk, parts, part_count) : result;
}

enum zeta_container_result zeta_container_finish(struct zeta_container_writer *writer)
{
    unsigned char payload[END_PAYLOAD_BYTES] = {0};
    const struct zeta_container_part part = {payload, sizeof(payload)};
    enum zeta_container_result result;

    put_u64(payload, writer->chunks);
    put_u64(payload + 8, writer->size);
    put_u32(payload + 16, writer->headers_crc);
    result = zeta_container_append(writer, ZETA_CHUNK_END, 0, &part, 1);
    return result == ZETA_CONTAINER_OK ? zeta_container_flush(writer) : result;
}

enum zeta_container_result zeta_container_create_file(const char *path,
                                                      enum zeta_container_kind kind,
                                                      uint64_t limit_bytes,
                                                      struct zeta_container_problem *out_problem,
                                                      struct zeta_container_writer **out_writer)
{
    const int flags = O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
    struct zeta_container_writer *writer = NULL;
    enum zeta_container_result result;
    struct stat status;
    int descriptor;

    if (limit_bytes != 0 && limit_bytes < LIMIT_MIN_BYTES)
        return zeta_container_fail(
            out_problem, ZETA_CONTAINER_FULL,
            "%s may not be bounded to %llu bytes; the smallest bound is %u bytes", path,
            (unsigned long long)limit_bytes, LIMIT_MIN_BYTES);
    /* A new file, or an empty one of this user that no other process begins to write. The lock
     * decides between two processes that find it empty. Some file systems have none. */
    descriptor = open(path, flags | O_CREAT | O_EXCL, 0600);
    if (descriptor < 0 && errno != EEXIST)
        return zeta_container_fail(out_problem, ZETA_CONTAINER_IO, "%s cannot be created: %s", path,
                                   strerror(errno));
    if (descriptor < 0)
        descriptor = open(path, flags);
    if (descriptor < 0 || (flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) ||
        fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size != 0 ||
        status.st_uid != geteuid()) {
        if (descriptor >= 0)
            (void)close(descriptor);
        if (lstat(path, &status) == 0 && !S_ISREG(status.st_mode))
            return zeta_container_fail(out_problem, ZETA_CONTAINER_IO,
                                       "%s exists already and is a link or not a regular file; "
                                       "choose the name of a new file",
                                       path);
        return zeta_container_fail(out_problem, ZETA_CONTAINER_IO,
                                   "%s exists already; remove it or choose another name", path);
    }
    result = new_writer(descriptor, path, kind, &writer);
    if (result != ZETA_CONTAINER_OK) {
        (void)unlink(path);
        return zeta_container_fail(out_problem, result, "%s: memory is exhausted", path);
    }
    writer->limit_bytes = limit_bytes;
    /* From now on it is not empty. */
    result = zeta_container_flush(writer);
    if (result != ZETA_CONTAINER_OK) {
        *out_problem = writer->problem;
        zeta_container_writer_destroy(writer);
        (void)unlink(path);
        return result;
    }
    *out_writer = writer;
    return ZETA_CONTAINER_OK;
}

enum zeta_container_result zeta_container_create_memory(void *buffer, size_t capacity,
                                                        enum zeta_container_kind kind,
                                                        struct zeta_container_writer **out_writer)
{
    struct zeta_container_writer *writer = calloc(1, sizeof(*writer));

    if (!writer)
        return ZETA_CONTAINER_NO_MEMORY;
    writer->descriptor = -1;
    writer->kind = kind;
    writer->buffer = buffer;
    writer->capacity = capacity;
    (void)put_header(writer);
    *out_writer = writer;
    return ZETA_CONTAINER_OK;
}

uint64_t zeta_container_size(const struct zeta_container_writer *writer)
{
    return writer->size;
}

struct zeta_chunk_cut zeta_container_lost(const struct zeta_container_writer *writer)
{
    return writer->cut;
}

const char *zeta_container_writer_problem(const struct zeta_container_writer *writer)
{
    return writer->problem.text;
}

void zeta_container_writer_destroy(struct zeta_container_writer *writer)
{
    if (!writer)
        return;
    if (writer->descriptor >= 0)
        (void)close(writer->descriptor);
    if (writer->owns_buffer)
        free(writer->buffer);
    free(writer->path);
    free(writer);
}
