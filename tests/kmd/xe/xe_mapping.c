/*
 * The ring of an OA stream in memory of the program: a file that the driver's looks fill with what
 * the hardware would have written there, at the places where it would have.
 */

#include "xe_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/kmd/interpose/real.h"

enum { CHUNK_REPORTS = 256, ID_AND_TIME_BYTES = 16 };

static int open_ring(const struct kmd_stream *stream)
{
    char path[PATH_MAX];
    (void)snprintf(path, sizeof(path), "%s/ring-%llu", kmd_root(),
                   (unsigned long long)stream->serial);
    return kmd_real()->open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
}

/* Bytes before the hardware begins anew: on Xe2 a ring of graphics holds whole reports only. */
static uint64_t wrap_bytes(const struct kmd_gpu *gpu, const struct kmd_unit *unit)
{
    const struct kmd_stream *stream = &unit->stream;
    if (kmd_gpu_platform(gpu)->graphics < 2000 || unit->kind != KMD_UNIT_OAG)
        return stream->ring_bytes;
    return stream->ring_bytes / stream->report_bytes * stream->report_bytes;
}

/* Writes where report number n is, in two parts when it crosses the end. */
static void write_at(int fd, uint64_t wrap, uint64_t at, const uint8_t *data, size_t bytes)
{
    at %= wrap;
    size_t first = bytes < wrap - at ? bytes : (size_t)(wrap - at);
    if (pwrite(fd, data, first, (off_t)at) != (ssize_t)first)
        return; /* a full disk: the program sees no new reports */
    if (first < bytes && pwrite(fd, data + first, bytes - first, 0) < 0)
        return;
}

void kmd_xe_mapping_update(struct kmd_gpu *gpu, struct kmd_unit *unit)
{
    struct kmd_stream *stream = &unit->stream;
    uint64_t *words = stream->driver;
    if (!words[KMD_XE_OA_IS_MAPPED])
        return;
    if (words[KMD_XE_OA_MAPPED_TICK] > stream->tail_tick) /* a reset: time began anew */
        kmd_xe_mapping_restart(unit);
    int fd = open_ring(stream);
    uint8_t *chunk = malloc((size_t)CHUNK_REPORTS * stream->report_bytes);
    if (fd >= 0 && chunk) {
        uint64_t head_tick = stream->head_tick;
        stream->head_tick = words[KMD_XE_OA_MAPPED_TICK];
        uint64_t made = 0;
        for (uint32_t n = 1; n; made += n) {
            n = kmd_ring_take(gpu, unit, chunk, stream->report_bytes, CHUNK_REPORTS);
            for (uint32_t i = 0; i < n; i++)
                write_at(fd, wrap_bytes(gpu, unit),
                         words[KMD_XE_OA_MAPPED_COUNT]++ * stream->report_bytes,
                         chunk + (size_t)i * stream->report_bytes, stream->report_bytes);
        }
        words[KMD_XE_OA_MAPPED_TICK] = stream->head_tick;
        stream->head_tick = head_tick;
        kmd_count(gpu, KMD_STAT_REPORTS_MADE, 0 - made); /* they count when they are read */
    }
    free(chunk);
    if (fd >= 0)
        (void)close(fd);
}

void kmd_xe_mapping_taken(struct kmd_gpu *gpu, struct kmd_unit *unit, uint64_t count)
{
    static const uint8_t zero[ID_AND_TIME_BYTES];
    struct kmd_stream *stream = &unit->stream;
    uint64_t *words = stream->driver;
    const struct kmd_format *format = kmd_stream_format(stream);
    size_t bytes = format->header == KMD_HEADER_64 ? sizeof(zero) : sizeof(zero) / 2;
    if (words[KMD_XE_OA_IS_MAPPED]) {
        kmd_xe_mapping_update(gpu, unit);
        int fd = open_ring(stream);
        for (uint64_t i = 0; fd >= 0 && i < count; i++)
            write_at(fd, wrap_bytes(gpu, unit), (words[KMD_XE_OA_TAKEN] + i) * stream->report_bytes,
                     zero, bytes);
        if (fd >= 0)
            (void)close(fd);
    }
    words[KMD_XE_OA_TAKEN] += count;
}

void kmd_xe_mapping_restart(struct kmd_unit *unit)
{
    struct kmd_stream *stream = &unit->stream;
    uint64_t *words = stream->driver;
    words[KMD_XE_OA_TAKEN] = words[KMD_XE_OA_MAPPED_COUNT] = 0;
    words[KMD_XE_OA_MAPPED_TICK] = stream->head_tick;
    if (!words[KMD_XE_OA_IS_MAPPED])
        return;
    int fd = open_ring(stream);
    if (fd < 0)
        return;
    (void)fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, (off_t)stream->ring_bytes);
    (void)close(fd);
}

int kmd_xe_oa_mmap(struct kmd_call *call, void *address, size_t bytes, int protection, int flags,
                   int64_t offset, void **out_address)
{
    struct kmd_stream *stream = &call->unit->stream;
    if (!kmd_may_observe(call->gpu))
        return -EACCES;
    if (bytes != stream->ring_bytes || offset != 0)
        return -EINVAL;
    if (protection & (PROT_WRITE | PROT_EXEC) || !(flags & MAP_PRIVATE))
        return -EINVAL;

    int fd = open_ring(stream);
    if (fd < 0)
        return -ENOMEM;
    void *mapped = MAP_FAILED;
    if (ftruncate(fd, (off_t)stream->ring_bytes) == 0)
        mapped = kmd_real()->mmap(address, bytes, protection, flags, fd, 0);
    (void)close(fd);
    if (mapped == MAP_FAILED)
        return -ENOMEM;
    if (!stream->driver[KMD_XE_OA_IS_MAPPED]) {
        stream->driver[KMD_XE_OA_IS_MAPPED] = 1;
        stream->driver[KMD_XE_OA_MAPPED_COUNT] = stream->driver[KMD_XE_OA_TAKEN];
        stream->driver[KMD_XE_OA_MAPPED_TICK] = stream->head_tick;
    }
    kmd_xe_mapping_update(call->gpu, call->unit);
    *out_address = mapped;
    return 0;
}
