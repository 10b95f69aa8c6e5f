#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "plugins/replay/igt/igt.h"

/* More than the largest record, whose size has 16 bits. */
#define BUFFER_BYTES ((size_t)1 << 18)

uint64_t zeta_igt_get(const unsigned char *at, unsigned count)
{
    uint64_t value = 0;

    for (unsigned i = 0; i < count; i++)
        value |= (uint64_t)at[i] << (8 * i);
    return value;
}

bool zeta_igt_open(struct zeta_igt_file *file, const char *path, uint64_t offset,
                   struct zeta_replay_problem *problem)
{
    *file = (struct zeta_igt_file){.descriptor =
                                       open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)};
    if (file->descriptor < 0)
        return zeta_replay_fail(problem, "it cannot be opened: %s", strerror(errno));
    file->offset = offset;
    file->buffer = malloc(BUFFER_BYTES);
    if (file->buffer)
        return true;
    zeta_igt_close(file);
    return zeta_replay_fail(problem, "there is no memory to read it");
}

void zeta_igt_close(struct zeta_igt_file *file)
{
    if (file->descriptor >= 0)
        (void)close(file->descriptor);
    free(file->buffer);
    *file = (struct zeta_igt_file){.descriptor = -1};
}

/* Moves the rest to the front and reads more behind it; false if that gave nothing. */
static bool refill(struct zeta_igt_file *file)
{
    const size_t rest = file->filled - file->used;
    ssize_t got;

    memmove(file->buffer, file->buffer + file->used, rest);
    file->offset += file->used;
    file->used = 0;
    file->filled = rest;
    do {
        got = pread(file->descriptor, file->buffer + rest, BUFFER_BYTES - rest,
                    (off_t)(file->offset + rest));
    } while (got < 0 && errno == EINTR);
    if (got <= 0)
        return false;
    file->filled += (size_t)got;
    return true;
}

/* True if so many bytes of the next record are in the buffer. */
static bool have(struct zeta_igt_file *file, size_t bytes)
{
    while (file->filled - file->used < bytes) {
        if (!refill(file))
            return false;
    }
    return true;
}

bool zeta_igt_next(struct zeta_igt_file *file, struct zeta_igt_record *out_record)
{
    const unsigned char *header;
    uint32_t size;

    if (file->damaged || !have(file, ZETA_IGT_HEADER_BYTES))
        return false;
    header = file->buffer + file->used;
    size = (uint32_t)zeta_igt_get(header + 6, 2);
    if (size < ZETA_IGT_HEADER_BYTES) {
        file->damaged = true;
        return false;
    }
    if (!have(file, size))
        return false;
    header = file->buffer + file->used;
    *out_record = (struct zeta_igt_record){
        .type = (uint32_t)zeta_igt_get(header, 4),
        .body_bytes = size - ZETA_IGT_HEADER_BYTES,
        .body = header + ZETA_IGT_HEADER_BYTES,
        .offset = file->offset + file->used,
    };
    file->used += size;
    return true;
}
