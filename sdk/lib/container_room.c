/*
 * Room in files of bounded size.
 *
 * The new file is written beside the old one and takes its name in one step, so that a kill at any
 * moment leaves a file that can be read. Each byte is copied once at most for each time that half
 * of the room was filled, so the cost grows with what is recorded, not with its square.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "container_priv.h"

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
            result = zeta_container_put_chunk(target, &chunk, &whole, 1);
        if (result != ZETA_CONTAINER_OK)
            return result;
    }
    if (result != ZETA_CONTAINER_AT_CUT)
        return result;
    zeta_chunk_cut_write(&plan->cut, numbers);
    result = zeta_container_put_chunk(target, &cut, &part, 1);
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

enum zeta_container_result zeta_container_make_room(struct zeta_container_writer *writer,
                                                    uint64_t needed)
{
    const size_t path_bytes = strlen(writer->path) + sizeof(".XXXXXX");
    char *path = malloc(path_bytes);
    struct zeta_container_writer *target = NULL;
    struct zeta_container_reader *reader = NULL;
    enum zeta_container_result result;
    int descriptor;

    if (!path)
        return ZETA_CONTAINER_NO_MEMORY;
    (void)snprintf(path, path_bytes, "%s.XXXXXX", writer->path);
    descriptor = mkostemp(path, O_CLOEXEC);
    if (descriptor < 0) {
        result =
            zeta_container_fail(&writer->problem, ZETA_CONTAINER_IO,
                                "no file can be made beside %s: %s", writer->path, strerror(errno));
        free(path);
        return result;
    }
    result = zeta_container_writer_new(descriptor, path, writer->kind, &target);
    if (result != ZETA_CONTAINER_OK)
        (void)close(descriptor);
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
