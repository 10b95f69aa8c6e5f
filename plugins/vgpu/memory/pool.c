#include "pool.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <unistd.h>

#include <zeta/descriptor.h>

/* Size of the file; a sparse file costs what was written to. Leaves room for arithmetic. */
#define FILE_BYTES (UINT64_C(1) << 62)

struct zeta_vgpu_pool {
    uint64_t device_bytes;
    pthread_mutex_t lock; /* guards the rest; a leaf */
    int descriptor;       /* -1 before the first allocation */
    uint64_t token;
    uint64_t free_end; /* everything from the header to here was never handed out */
    uint64_t charged_bytes;
    struct zeta_vgpu_extent *held; /* given back, and held by others */
};

uint64_t zeta_vgpu_page_bytes(void)
{
    return (uint64_t)sysconf(_SC_PAGESIZE);
}

struct zeta_vgpu_pool *zeta_vgpu_pool_create(uint64_t device_bytes)
{
    struct zeta_vgpu_pool *pool = calloc(1, sizeof(*pool));

    if (!pool)
        return NULL;
    pool->device_bytes = device_bytes;
    pool->descriptor = -1;
    pthread_mutex_init(&pool->lock, NULL);
    return pool;
}

void zeta_vgpu_pool_destroy(struct zeta_vgpu_pool *pool)
{
    if (!pool)
        return;
    while (pool->held) {
        struct zeta_vgpu_extent *extent = pool->held;

        pool->held = extent->next;
        free(extent);
    }
    if (pool->descriptor >= 0)
        close(pool->descriptor);
    pthread_mutex_destroy(&pool->lock);
    free(pool);
}

void zeta_vgpu_pool_abandon(struct zeta_vgpu_pool *pool)
{
    if (pool && pool->descriptor >= 0)
        close(pool->descriptor);
}

static enum zeta_vgpu_result fail(struct zeta_vgpu_message *out_message, const char *what)
{
    return zeta_vgpu_fail(out_message, ZETA_VGPU_OUT_OF_MEMORY,
                          "the file that is the device's memory cannot be made: %s: %s", what,
                          strerror(errno));
}

/* Largest file that this process may have; a larger one would end it with SIGXFSZ. */
static uint64_t file_bytes(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < FILE_BYTES)
        return limit.rlim_cur & ~(zeta_vgpu_page_bytes() - 1);
    return FILE_BYTES;
}

static bool make_token(uint64_t *out_token)
{
    do {
        if (getrandom(out_token, sizeof(*out_token), 0) != (ssize_t)sizeof(*out_token))
            return false;
    } while (*out_token == 0);
    return true;
}

/*
 * Makes the file. Nobody who gets a descriptor can shrink it, which would kill whoever touches a
 * page behind its end.
 */
static enum zeta_vgpu_result open_locked(struct zeta_vgpu_pool *pool,
                                         struct zeta_vgpu_message *out_message)
{
    struct zeta_vgpu_pool_header header = {.magic = ZETA_VGPU_POOL_MAGIC};
    const uint64_t bytes = file_bytes();
    int descriptor;

    if (pool->descriptor >= 0)
        return ZETA_VGPU_OK;
    if (!make_token(&header.token))
        return fail(out_message, "random numbers");
    descriptor =
        zeta_descriptor_raise(memfd_create("zeta-vgpu-memory", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    if (descriptor < 0)
        return fail(out_message, "memfd_create");
    if (bytes <= zeta_vgpu_page_bytes() || ftruncate(descriptor, (off_t)bytes) != 0 ||
        pwrite(descriptor, &header, sizeof(header), 0) != (ssize_t)sizeof(header) ||
        fcntl(descriptor, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
        enum zeta_vgpu_result result = fail(out_message, "size and seals");

        close(descriptor);
        return result;
    }
    pool->descriptor = descriptor;
    pool->token = header.token;
    pool->free_end = bytes;
    return ZETA_VGPU_OK;
}

/* True if another open file description has a lock on the part. */
static bool is_held(int descriptor, const struct zeta_vgpu_extent *extent)
{
    struct flock lock = {.l_type = F_WRLCK,
                         .l_whence = SEEK_SET,
                         .l_start = (off_t)extent->offset,
                         .l_len = (off_t)extent->size_bytes};

    return fcntl(descriptor, F_OFD_GETLK, &lock) != 0 || lock.l_type != F_UNLCK;
}

static void release_locked(struct zeta_vgpu_pool *pool, struct zeta_vgpu_extent *extent)
{
    (void)fallocate(pool->descriptor, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                    (off_t)extent->offset, (off_t)extent->size_bytes);
    pool->charged_bytes -= extent->charged_bytes;
    free(extent);
}

/* Releases what nobody holds any more. */
static void sweep_locked(struct zeta_vgpu_pool *pool)
{
    struct zeta_vgpu_extent **link = &pool->held;

    while (*link) {
        struct zeta_vgpu_extent *extent = *link;

        if (is_held(pool->descriptor, extent)) {
            link = &extent->next;
            continue;
        }
        *link = extent->next;
        release_locked(pool, extent);
    }
}

static enum zeta_vgpu_result take_locked(struct zeta_vgpu_pool *pool,
                                         struct zeta_vgpu_extent *extent,
                                         struct zeta_vgpu_message *out_message)
{
    enum zeta_vgpu_result result = open_locked(pool, out_message);

    if (result != ZETA_VGPU_OK)
        return result;
    sweep_locked(pool);
    if (extent->charged_bytes > pool->device_bytes - pool->charged_bytes)
        return zeta_vgpu_fail(
            out_message, ZETA_VGPU_INVALID_ARGUMENT,
            "the device has %llu bytes of memory (setting memory_mib), and %llu of them left",
            (unsigned long long)pool->device_bytes,
            (unsigned long long)(pool->device_bytes - pool->charged_bytes));
    if (extent->size_bytes > pool->free_end - zeta_vgpu_page_bytes())
        return zeta_vgpu_fail(
            out_message, ZETA_VGPU_OUT_OF_MEMORY,
            "the device's memory is a file, and the limit for the size of files (ulimit -f) "
            "leaves no room for %llu bytes more; raise it",
            (unsigned long long)extent->size_bytes);
    pool->free_end -= extent->size_bytes;
    pool->charged_bytes += extent->charged_bytes;
    extent->offset = pool->free_end;
    return ZETA_VGPU_OK;
}

enum zeta_vgpu_result zeta_vgpu_pool_take(struct zeta_vgpu_pool *pool, uint64_t size_bytes,
                                          bool charged, struct zeta_vgpu_message *out_message,
                                          struct zeta_vgpu_extent **out_extent)
{
    const uint64_t page = zeta_vgpu_page_bytes();
    struct zeta_vgpu_extent *extent = calloc(1, sizeof(*extent));
    enum zeta_vgpu_result result;

    if (!extent || size_bytes > FILE_BYTES) {
        free(extent);
        return zeta_vgpu_fail(out_message, ZETA_VGPU_OUT_OF_MEMORY, "the system has no %llu bytes",
                              (unsigned long long)size_bytes);
    }
    extent->size_bytes = (size_bytes + page - 1) & ~(page - 1);
    extent->charged_bytes = charged ? extent->size_bytes : 0;
    pthread_mutex_lock(&pool->lock);
    result = take_locked(pool, extent, out_message);
    pthread_mutex_unlock(&pool->lock);
    if (result != ZETA_VGPU_OK) {
        free(extent);
        return result;
    }
    *out_extent = extent;
    return ZETA_VGPU_OK;
}

void zeta_vgpu_pool_give(struct zeta_vgpu_pool *pool, struct zeta_vgpu_extent *extent)
{
    if (!extent)
        return;
    pthread_mutex_lock(&pool->lock);
    sweep_locked(pool);
    if (atomic_load(&extent->shared) && is_held(pool->descriptor, extent)) {
        extent->next = pool->held;
        pool->held = extent;
    } else {
        release_locked(pool, extent);
    }
    pthread_mutex_unlock(&pool->lock);
}

int zeta_vgpu_pool_descriptor(struct zeta_vgpu_pool *pool)
{
    int descriptor;

    pthread_mutex_lock(&pool->lock);
    descriptor = pool->descriptor;
    pthread_mutex_unlock(&pool->lock);
    return descriptor;
}

uint64_t zeta_vgpu_pool_token(struct zeta_vgpu_pool *pool)
{
    uint64_t token;

    pthread_mutex_lock(&pool->lock);
    token = pool->token;
    pthread_mutex_unlock(&pool->lock);
    return token;
}

uint64_t zeta_vgpu_pool_unused(struct zeta_vgpu_pool *pool)
{
    uint64_t unused;

    pthread_mutex_lock(&pool->lock);
    sweep_locked(pool);
    unused = pool->device_bytes - pool->charged_bytes;
    pthread_mutex_unlock(&pool->lock);
    return unused;
}

/* A free address that is a multiple of align_bytes, with nothing behind it yet. */
static void *reserve_aligned(uint64_t size_bytes, uint64_t align_bytes)
{
    const uint64_t extra = align_bytes - zeta_vgpu_page_bytes();
    uint64_t head;
    char *address;

    if (size_bytes + extra < size_bytes)
        return NULL;
    address = mmap(NULL, size_bytes + extra, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                   -1, 0);
    if (address == MAP_FAILED)
        return NULL;
    head = (align_bytes - (uint64_t)(uintptr_t)address % align_bytes) % align_bytes;
    if (head > 0)
        munmap(address, head);
    if (extra > head)
        munmap(address + head + size_bytes, extra - head);
    return address + head;
}

void *zeta_vgpu_pool_map(int descriptor, uint64_t offset, uint64_t size_bytes, void *address,
                         uint64_t align_bytes, int protection)
{
    const bool aligned = !address && align_bytes > zeta_vgpu_page_bytes();
    void *reserved = aligned ? reserve_aligned(size_bytes, align_bytes) : address;
    void *mapped;

    if (aligned && !reserved)
        return NULL;
    mapped = mmap(reserved, size_bytes, protection, MAP_SHARED | (reserved ? MAP_FIXED : 0),
                  descriptor, (off_t)offset);
    if (mapped == MAP_FAILED) {
        if (aligned)
            munmap(reserved, size_bytes);
        return NULL;
    }
    /* What the child of a fork writes must not reach the parent; it starts without the device. */
    (void)madvise(mapped, size_bytes, MADV_DONTFORK);
    return mapped;
}
