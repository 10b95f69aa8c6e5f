#include "queue.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <zeta/descriptor.h>

#include "plugins/vgpu/machine/space.h"

/*
 * Bytes between two checks of the interrupt flag, and between two reports of progress: as many as
 * are moved within half of a short period of who samples.
 */
#define CHUNK_BYTES (UINT64_C(128) << 10)

/* Size of the block that fills repeat. */
#define FILL_BYTES (UINT64_C(64) << 10)

/* What is known about an address range. */
enum knowledge { RANGE_GOOD, RANGE_BAD, RANGE_UNKNOWN };

static enum knowledge look_up(struct zeta_vgpu_space *space, const void *pointer, uint64_t bytes,
                              enum zeta_vgpu_access access)
{
    const uint64_t address = (uint64_t)(uintptr_t)pointer;
    struct zeta_vgpu_range range;

    if (zeta_vgpu_space_covers(space, address, bytes, access))
        return RANGE_GOOD;
    /* Begins in memory of the device, but leaves it or may not be written. */
    if (zeta_vgpu_space_find(space, address, &range))
        return RANGE_BAD;
    return RANGE_UNKNOWN;
}

static enum zeta_vgpu_result fault(struct zeta_vgpu_copy *copy, const char *what,
                                   const void *address, uint64_t bytes)
{
    snprintf(copy->message.text, sizeof(copy->message.text),
             "a copy of %llu bytes %s address %p, which is not there or not allowed",
             (unsigned long long)bytes, what, address);
    copy->fault_address = address;
    return ZETA_VGPU_FAULT;
}

/*
 * One transfer through the kernel; both addresses may be invalid. Bytes moved, or -1 and errno.
 * Raw system calls: tools that replace the library's functions check the local side first, and
 * that it may be invalid is the point.
 */
static int64_t transfer(void *target, const void *source, uint64_t bytes)
{
    struct iovec to = {target, bytes};
    struct iovec from = {(void *)(uintptr_t)source, bytes};
    int64_t moved = syscall(SYS_process_vm_readv, getpid(), &to, 1UL, &from, 1UL, 0UL);
    int file, error;

    if (moved >= 0 || errno == EFAULT)
        return moved;
    /* By way of a file, where a sandbox forbids the call above. */
    file = zeta_descriptor_raise(memfd_create("zeta-vgpu-copy", MFD_CLOEXEC));
    if (file < 0)
        return -1;
    moved = syscall(SYS_pwrite64, file, source, bytes, 0L);
    if (moved > 0)
        moved = syscall(SYS_pread64, file, target, (uint64_t)moved, 0L);
    error = errno;
    close(file);
    errno = error;
    return moved;
}

static enum zeta_vgpu_result copy_guarded(struct zeta_vgpu_copy *copy, char *target,
                                          const char *source, uint64_t bytes)
{
    for (uint64_t done = 0; done < bytes;) {
        int64_t moved = transfer(target + done, source + done, bytes - done);
        char probe;

        if (moved > 0) {
            done += (uint64_t)moved;
            continue;
        }
        if (transfer(&probe, source + done, 1) != 1)
            return fault(copy, "reads", source + done, bytes);
        return fault(copy, "writes", target + done, bytes);
    }
    return ZETA_VGPU_OK;
}

static enum zeta_vgpu_result copy_chunk(struct zeta_vgpu_copy *copy, char *target,
                                        const char *source, uint64_t bytes, bool source_trusted)
{
    const enum knowledge to = look_up(copy->space, target, bytes, ZETA_VGPU_ACCESS_WRITE);
    const enum knowledge from =
        source_trusted ? RANGE_GOOD : look_up(copy->space, source, bytes, ZETA_VGPU_ACCESS_READ);

    if (from == RANGE_BAD)
        return fault(copy, "reads", source, bytes);
    if (to == RANGE_BAD)
        return fault(copy, "writes", target, bytes);
    if (from == RANGE_UNKNOWN || to == RANGE_UNKNOWN)
        return copy_guarded(copy, target, source, bytes);
    memmove(target, source, bytes);
    return ZETA_VGPU_OK;
}

static void count(struct zeta_vgpu_copy *copy, uint64_t read_bytes, uint64_t written_bytes)
{
    copy->read_bytes += read_bytes;
    copy->written_bytes += written_bytes;
    if (!copy->moved || copy->written_bytes - copy->reported_bytes < CHUNK_BYTES)
        return;
    copy->reported_bytes = copy->written_bytes;
    copy->moved(copy->user, copy->read_bytes, copy->written_bytes);
}

enum zeta_vgpu_result zeta_vgpu_copy_bytes(struct zeta_vgpu_copy *copy, void *target,
                                           const void *source, uint64_t size_bytes)
{
    for (uint64_t done = 0; done < size_bytes;) {
        const uint64_t left = size_bytes - done;
        const uint64_t bytes = left < CHUNK_BYTES ? left : CHUNK_BYTES;
        enum zeta_vgpu_result result;

        if (atomic_load(copy->interrupt))
            return ZETA_VGPU_INTERRUPTED;
        result = copy_chunk(copy, (char *)target + done, (const char *)source + done, bytes, false);
        if (result != ZETA_VGPU_OK)
            return result;
        count(copy, bytes, bytes);
        done += bytes;
    }
    return ZETA_VGPU_OK;
}

enum zeta_vgpu_result zeta_vgpu_copy_region(struct zeta_vgpu_copy *copy,
                                            const struct zeta_plugin_copy_region *region)
{
    const uint64_t *size = region->size;
    const uint64_t to_pitch = region->target_pitch_bytes ? region->target_pitch_bytes : size[0];
    const uint64_t from_pitch = region->source_pitch_bytes ? region->source_pitch_bytes : size[0];
    const uint64_t to_slice =
        region->target_slice_bytes ? region->target_slice_bytes : to_pitch * size[1];
    const uint64_t from_slice =
        region->source_slice_bytes ? region->source_slice_bytes : from_pitch * size[1];
    char *target = (char *)region->target + region->target_origin[0] +
                   region->target_origin[1] * to_pitch + region->target_origin[2] * to_slice;
    const char *source = (const char *)region->source + region->source_origin[0] +
                         region->source_origin[1] * from_pitch +
                         region->source_origin[2] * from_slice;

    for (uint64_t z = 0; z < size[2]; z++) {
        for (uint64_t y = 0; y < size[1]; y++) {
            enum zeta_vgpu_result result =
                zeta_vgpu_copy_bytes(copy, target + z * to_slice + y * to_pitch,
                                     source + z * from_slice + y * from_pitch, size[0]);

            if (result != ZETA_VGPU_OK)
                return result;
        }
    }
    return ZETA_VGPU_OK;
}

enum zeta_vgpu_result zeta_vgpu_copy_fill(struct zeta_vgpu_copy *copy,
                                          const struct zeta_plugin_fill *fill)
{
    const uint64_t period = fill->pattern_bytes;
    const uint64_t block =
        period == 0 || period >= FILL_BYTES ? period : FILL_BYTES / period * period;
    enum zeta_vgpu_result result = ZETA_VGPU_OK;
    char *pattern;

    if (period == 0)
        return ZETA_VGPU_INVALID_ARGUMENT;
    pattern = malloc(block);
    if (!pattern)
        return ZETA_VGPU_OUT_OF_MEMORY;
    for (uint64_t at = 0; at < block; at += period)
        memcpy(pattern + at, fill->pattern, period);

    for (uint64_t done = 0; done < fill->size_bytes && result == ZETA_VGPU_OK;) {
        const uint64_t left = fill->size_bytes - done;
        const uint64_t bytes = left < block ? left : block;

        if (atomic_load(copy->interrupt))
            result = ZETA_VGPU_INTERRUPTED;
        else
            result = copy_chunk(copy, (char *)fill->target + done, pattern, bytes, true);
        if (result == ZETA_VGPU_OK)
            count(copy, 0, bytes);
        done += bytes;
    }
    free(pattern);
    return result;
}
