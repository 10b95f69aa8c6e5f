#include "share.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <zeta/descriptor.h>

/* Offsets are whole pages, so the kind has room beside them in the position of a description. */
#define KIND_MASK UINT64_C(0xfff)

static enum zeta_vgpu_result fail(struct zeta_vgpu_message *out_message, const char *what)
{
    return zeta_vgpu_fail(out_message, ZETA_VGPU_OUT_OF_MEMORY,
                          "memory of the device cannot be shared: %s: %s", what, strerror(errno));
}

/* Opens the file of a descriptor once more, which is another open file description. -1: errno. */
static int open_again(int descriptor)
{
    char path[40];

    snprintf(path, sizeof(path), "/proc/self/fd/%d", descriptor);
    return zeta_descriptor_raise(open(path, O_RDWR | O_CLOEXEC));
}

static int lock_part(int descriptor, uint64_t offset, uint64_t size_bytes)
{
    struct flock lock = {.l_type = F_RDLCK,
                         .l_whence = SEEK_SET,
                         .l_start = (off_t)offset,
                         .l_len = (off_t)size_bytes};

    return fcntl(descriptor, F_OFD_SETLK, &lock);
}

/* The extent that holds the offset, by the lock of somebody else; false if nobody has it. */
static bool find_extent(int descriptor, uint64_t offset, uint64_t *out_begin, uint64_t *out_end)
{
    struct flock lock = {
        .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = (off_t)offset, .l_len = 1};

    if (fcntl(descriptor, F_OFD_GETLK, &lock) != 0 || lock.l_type == F_UNLCK)
        return false;
    *out_begin = (uint64_t)lock.l_start;
    *out_end = (uint64_t)(lock.l_start + lock.l_len);
    return true;
}

enum zeta_vgpu_result zeta_vgpu_share_export(struct zeta_vgpu_pool *pool,
                                             struct zeta_vgpu_extent *extent, uint64_t start_bytes,
                                             uint32_t kind, struct zeta_vgpu_message *out_message,
                                             struct zeta_plugin_share *out_share)
{
    const uint64_t offset = extent->offset + start_bytes;
    int descriptor = open_again(zeta_vgpu_pool_descriptor(pool));

    if (descriptor < 0)
        return fail(out_message, "opening its file again by way of /proc");
    atomic_store(&extent->shared, true);
    if (lock_part(descriptor, extent->offset, extent->size_bytes) != 0 ||
        lseek(descriptor, (off_t)(offset | kind), SEEK_SET) < 0) {
        enum zeta_vgpu_result result = fail(out_message, "locking a part of its file");

        close(descriptor);
        return result;
    }
    out_share->descriptor = descriptor;
    out_share->kind = kind;
    out_share->offset_bytes = offset;
    out_share->size_bytes = extent->size_bytes - start_bytes;
    out_share->token = zeta_vgpu_pool_token(pool);
    return ZETA_VGPU_OK;
}

/* Refuses everything that is not the file of a pool of this user. */
static enum zeta_vgpu_result check_file(int descriptor, uint64_t token,
                                        struct zeta_vgpu_message *out_message)
{
    struct zeta_vgpu_pool_header header;
    struct stat status;
    const int seals = fcntl(descriptor, F_GET_SEALS);

    if (fstat(descriptor, &status) != 0)
        return zeta_vgpu_fail(out_message, ZETA_VGPU_INVALID_ARGUMENT,
                              "the descriptor of the memory is not open");
    if (!S_ISREG(status.st_mode) || status.st_uid != geteuid() || seals < 0 ||
        (seals & F_SEAL_SHRINK) == 0 ||
        pread(descriptor, &header, sizeof(header), 0) != (ssize_t)sizeof(header) ||
        header.magic != ZETA_VGPU_POOL_MAGIC)
        return zeta_vgpu_fail(out_message, ZETA_VGPU_INVALID_ARGUMENT,
                              "the descriptor is not one of a virtual GPU's memory");
    if (token != 0 && header.token != token)
        return zeta_vgpu_fail(out_message, ZETA_VGPU_INVALID_ARGUMENT,
                              "the descriptor is one of another virtual GPU's memory than the "
                              "handle was made for; its process has ended");
    return ZETA_VGPU_OK;
}

/* The part that the description of a descriptor identifies. */
static enum zeta_vgpu_result read_part(struct zeta_plugin_share *share,
                                       struct zeta_vgpu_message *out_message)
{
    const off_t position = lseek(share->descriptor, 0, SEEK_CUR);
    const uint64_t offset = (uint64_t)position & ~KIND_MASK;
    const uint64_t kind = (uint64_t)position & KIND_MASK;
    struct zeta_vgpu_pool_header header;
    uint64_t begin, end;
    int descriptor;
    bool found;

    if (position < 0 || kind < ZETA_PLUGIN_MEMORY_HOST || kind > ZETA_PLUGIN_MEMORY_SHARED)
        return zeta_vgpu_fail(out_message, ZETA_VGPU_INVALID_ARGUMENT,
                              "the descriptor names no allocation; take the one that "
                              "zeMemGetFileDescriptorFromIpcHandleExp gives");
    descriptor = open_again(share->descriptor);
    if (descriptor < 0)
        return fail(out_message, "opening its file again by way of /proc");
    found = find_extent(descriptor, offset, &begin, &end) &&
            pread(descriptor, &header, sizeof(header), 0) == (ssize_t)sizeof(header);
    close(descriptor);
    if (!found)
        return zeta_vgpu_fail(out_message, ZETA_VGPU_INVALID_ARGUMENT,
                              "the allocation of the descriptor was freed");
    share->kind = (uint32_t)kind;
    share->offset_bytes = offset;
    share->size_bytes = end - offset;
    share->token = header.token;
    return ZETA_VGPU_OK;
}

/*
 * The lock comes first and the check for others second, and the owner does it the other way round
 * (drops its own, then checks): so either we see the memory going, or it stays.
 */
static enum zeta_vgpu_result hold_part(int descriptor, const struct zeta_plugin_share *share,
                                       struct zeta_vgpu_message *out_message)
{
    uint64_t begin, end, begin_now, end_now;
    bool found = find_extent(descriptor, share->offset_bytes, &begin, &end) &&
                 end == share->offset_bytes + share->size_bytes;

    if (found && lock_part(descriptor, begin, end - begin) != 0)
        return fail(out_message, "locking a part of its file");
    found = found && find_extent(descriptor, share->offset_bytes, &begin_now, &end_now) &&
            begin_now == begin && end_now == end;
    if (!found)
        return zeta_vgpu_fail(out_message, ZETA_VGPU_INVALID_ARGUMENT,
                              "the allocation was freed, or its handle was given back");
    return ZETA_VGPU_OK;
}

enum zeta_vgpu_result zeta_vgpu_share_open(struct zeta_plugin_share *share,
                                           struct zeta_vgpu_message *out_message,
                                           int *out_descriptor)
{
    const uint64_t page = zeta_vgpu_page_bytes();
    enum zeta_vgpu_result result = check_file(share->descriptor, share->token, out_message);
    int descriptor;

    if (result == ZETA_VGPU_OK && share->size_bytes == 0)
        result = read_part(share, out_message);
    if (result != ZETA_VGPU_OK)
        return result;
    if (share->offset_bytes == 0 || share->offset_bytes % page != 0 ||
        share->size_bytes % page != 0 || share->offset_bytes > INT64_MAX ||
        share->size_bytes > INT64_MAX - share->offset_bytes)
        return zeta_vgpu_fail(out_message, ZETA_VGPU_INVALID_ARGUMENT,
                              "the handle names bytes that no allocation can have");
    descriptor = open_again(share->descriptor);
    if (descriptor < 0)
        return fail(out_message, "opening its file again by way of /proc");
    result = hold_part(descriptor, share, out_message);
    if (result != ZETA_VGPU_OK) {
        close(descriptor);
        return result;
    }
    *out_descriptor = descriptor;
    return ZETA_VGPU_OK;
}
