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
#include <sys/stat.h>
#include <unistd.h>

#include <zeta/descriptor.h>

#include "plugins/vgpu/device/vgpu.h"

/* Size of the file; a sparse file costs what was written to. Leaves room for arithmetic. */
#define FILE_BYTES (UINT64_C(1) << 62)

#define HEADER_MAGIC UINT64_C(0x6c6f6f7061746567)

/* Offsets are whole pages, so the kind has room beside them in the position of a description. */
#define KIND_MASK UINT64_C(0xfff)

/* First bytes of the file, by which an import knows it. */
struct header {
    uint64_t magic;
    uint64_t token; /* random, not 0 */
};

struct zeta_vgpu_pool {
    uint64_t device_bytes;
    pthread_mutex_t lock; /* guards the rest; a leaf */
    int descriptor;       /* -1 before the first allocation; constant afterwards, as is token */
    uint64_t token;
    uint64_t free_end; /* everything from the header to here was never handed out */
    uint64_t charged_bytes;
    struct zeta_vgpu_extent *used_elsewhere; /* freed here */
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
    while (pool->used_elsewhere) {
        struct zeta_vgpu_extent *extent = pool->used_elsewhere;

        pool->used_elsewhere = extent->next;
        free(extent);
    }
    zeta_vgpu_pool_abandon(pool);
    pthread_mutex_destroy(&pool->lock);
    free(pool);
}

void zeta_vgpu_pool_abandon(struct zeta_vgpu_pool *pool)
{
    if (pool && pool->descriptor >= 0)
        close(pool->descriptor);
}

static uint32_t fail(const struct zeta_plugin *self, const char *what, const char *step)
{
    return zeta_host_fail(&self->host, ZETA_PLUGIN_OUT_OF_HOST_MEMORY,
                          "the memory of %s, which is a file, cannot be %s: %s: %s",
                          self->vgpu->description.id, what, step, strerror(errno));
}

/*
 * Makes the file. Its size is sealed: a process that got a descriptor and shrank it would kill
 * every process that touches a page behind its end.
 */
static uint32_t open_locked(const struct zeta_plugin *self, struct zeta_vgpu_pool *pool)
{
    struct header header = {.magic = HEADER_MAGIC};
    uint64_t bytes = FILE_BYTES;
    struct rlimit limit;
    uint32_t result;
    int descriptor;

    if (pool->descriptor >= 0)
        return ZETA_PLUGIN_SUCCESS;
    do {
        if (getrandom(&header.token, sizeof(header.token), 0) != (ssize_t)sizeof(header.token))
            return fail(self, "made", "random numbers");
    } while (header.token == 0);
    /* A file that is larger than the limit would end the process with SIGXFSZ. */
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < FILE_BYTES)
        bytes = limit.rlim_cur & ~(zeta_vgpu_page_bytes() - 1);
    descriptor =
        zeta_descriptor_raise(memfd_create("zeta-vgpu-memory", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    if (descriptor < 0)
        return fail(self, "made", "memfd_create");
    if (bytes <= zeta_vgpu_page_bytes() || ftruncate(descriptor, (off_t)bytes) != 0 ||
        pwrite(descriptor, &header, sizeof(header), 0) != (ssize_t)sizeof(header) ||
        fcntl(descriptor, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
        result = fail(self, "made", "size and seals");
        close(descriptor);
        return result;
    }
    pool->descriptor = descriptor;
    pool->token = header.token;
    pool->free_end = bytes;
    return ZETA_PLUGIN_SUCCESS;
}

/* Sets a lock on bytes of a file (F_OFD_SETLK), or finds one of others (F_OFD_GETLK). */
static bool use_lock(int descriptor, int command, short type, uint64_t offset, uint64_t size_bytes,
                     struct flock *out_lock)
{
    *out_lock = (struct flock){
        .l_type = type, .l_whence = SEEK_SET, .l_start = (off_t)offset, .l_len = (off_t)size_bytes};
    return fcntl(descriptor, command, out_lock) == 0;
}

/* True if another open file description has a lock on the part. */
static bool is_used_elsewhere(const struct zeta_vgpu_extent *extent)
{
    struct flock lock;

    return !use_lock(extent->descriptor, F_OFD_GETLK, F_WRLCK, extent->offset, extent->size_bytes,
                     &lock) ||
           lock.l_type != F_UNLCK;
}

static void release_locked(struct zeta_vgpu_pool *pool, struct zeta_vgpu_extent *extent)
{
    (void)fallocate(extent->descriptor, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                    (off_t)extent->offset, (off_t)extent->size_bytes);
    pool->charged_bytes -= extent->charged_bytes;
    free(extent);
}

/* Releases what no other process uses any more. */
static void sweep_locked(struct zeta_vgpu_pool *pool)
{
    struct zeta_vgpu_extent **link = &pool->used_elsewhere;

    while (*link) {
        struct zeta_vgpu_extent *extent = *link;

        if (is_used_elsewhere(extent)) {
            link = &extent->next;
            continue;
        }
        *link = extent->next;
        release_locked(pool, extent);
    }
}

static uint32_t take_locked(const struct zeta_plugin *self, struct zeta_vgpu_pool *pool,
                            struct zeta_vgpu_extent *extent)
{
    const unsigned long long wanted = extent->size_bytes, device = pool->device_bytes;
    uint32_t result = open_locked(self, pool);

    if (result != ZETA_PLUGIN_SUCCESS)
        return result;
    sweep_locked(pool);
    if (extent->charged_bytes > pool->device_bytes - pool->charged_bytes)
        return zeta_host_fail(&self->host, ZETA_PLUGIN_OUT_OF_DEVICE_MEMORY,
                              "%s cannot allocate %llu bytes: it has %llu bytes of memory (setting "
                              "memory_mib), and %llu of them left",
                              self->vgpu->description.id, wanted, device,
                              device - pool->charged_bytes);
    if (extent->size_bytes > pool->free_end - zeta_vgpu_page_bytes())
        return zeta_host_fail(&self->host, ZETA_PLUGIN_OUT_OF_HOST_MEMORY,
                              "%s cannot allocate %llu bytes: its memory is a file, and the limit "
                              "for the size of files (ulimit -f) leaves no room; raise it",
                              self->vgpu->description.id, wanted);
    pool->free_end -= extent->size_bytes;
    pool->charged_bytes += extent->charged_bytes;
    extent->offset = pool->free_end;
    extent->descriptor = pool->descriptor;
    return ZETA_PLUGIN_SUCCESS;
}

uint32_t zeta_vgpu_pool_take(const struct zeta_plugin *self, uint64_t size_bytes, bool charged,
                             struct zeta_vgpu_extent **out_extent)
{
    const uint64_t page = zeta_vgpu_page_bytes();
    struct zeta_vgpu_pool *pool = self->vgpu->pool;
    struct zeta_vgpu_extent *extent = calloc(1, sizeof(*extent));
    uint32_t result;

    if (!extent || size_bytes > FILE_BYTES) {
        free(extent);
        return zeta_host_fail(&self->host, ZETA_PLUGIN_OUT_OF_HOST_MEMORY,
                              "the system has no %llu bytes for %s", (unsigned long long)size_bytes,
                              self->vgpu->description.id);
    }
    extent->size_bytes = (size_bytes + page - 1) & ~(page - 1);
    extent->charged_bytes = charged ? extent->size_bytes : 0;
    pthread_mutex_lock(&pool->lock);
    result = take_locked(self, pool, extent);
    pthread_mutex_unlock(&pool->lock);
    if (result == ZETA_PLUGIN_SUCCESS)
        *out_extent = extent;
    else
        free(extent);
    return result;
}

void zeta_vgpu_pool_give(struct zeta_vgpu_pool *pool, struct zeta_vgpu_extent *extent)
{
    if (!extent)
        return;
    pthread_mutex_lock(&pool->lock);
    sweep_locked(pool);
    if (atomic_load(&extent->shared) && is_used_elsewhere(extent)) {
        extent->next = pool->used_elsewhere;
        pool->used_elsewhere = extent;
    } else {
        release_locked(pool, extent);
    }
    pthread_mutex_unlock(&pool->lock);
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

/* Opens the file of a descriptor once more, which is another open file description. -1: errno. */
static int open_again(int descriptor)
{
    char path[40];

    snprintf(path, sizeof(path), "/proc/self/fd/%d", descriptor);
    return zeta_descriptor_raise(open(path, O_RDWR | O_CLOEXEC));
}

/* The extent around the offset, by the lock of another description; false if there is none. */
static bool find_extent(int descriptor, uint64_t offset, uint64_t *out_begin, uint64_t *out_end)
{
    struct flock lock;

    if (!use_lock(descriptor, F_OFD_GETLK, F_WRLCK, offset, 1, &lock) || lock.l_type == F_UNLCK)
        return false;
    *out_begin = (uint64_t)lock.l_start;
    *out_end = (uint64_t)(lock.l_start + lock.l_len);
    return true;
}

uint32_t zeta_vgpu_pool_export(const struct zeta_plugin *self, struct zeta_vgpu_extent *extent,
                               uint64_t start_bytes, uint32_t kind,
                               struct zeta_plugin_share *out_share)
{
    const uint64_t offset = extent->offset + start_bytes;
    int descriptor = open_again(extent->descriptor);
    struct flock lock;
    uint32_t result;

    if (descriptor < 0)
        return fail(self, "shared", "opening it again by way of /proc");
    atomic_store(&extent->shared, true);
    if (!use_lock(descriptor, F_OFD_SETLK, F_RDLCK, extent->offset, extent->size_bytes, &lock) ||
        lseek(descriptor, (off_t)(offset | kind), SEEK_SET) < 0) {
        result = fail(self, "shared", "locking a part of it");
        close(descriptor);
        return result;
    }
    out_share->descriptor = descriptor;
    out_share->kind = kind;
    out_share->offset_bytes = offset;
    out_share->size_bytes = extent->size_bytes - start_bytes;
    out_share->token = self->vgpu->pool->token;
    return ZETA_PLUGIN_SUCCESS;
}

static uint32_t refuse(const struct zeta_plugin *self, const char *reason)
{
    return zeta_host_fail(&self->host, ZETA_PLUGIN_INVALID_ARGUMENT, "%s", reason);
}

uint32_t zeta_vgpu_pool_import(const struct zeta_plugin *self, struct zeta_plugin_share *share,
                               int *out_descriptor)
{
    const uint64_t page = zeta_vgpu_page_bytes();
    const int seals = fcntl(share->descriptor, F_GET_SEALS);
    uint64_t begin, end, begin_now, end_now;
    struct zeta_plugin_share part = *share;
    struct header header;
    struct flock lock;
    struct stat status;
    uint32_t result;
    int descriptor;

    if (fstat(share->descriptor, &status) != 0)
        return refuse(self, "the descriptor of the memory is not open");
    if (!S_ISREG(status.st_mode) || status.st_uid != geteuid() || seals < 0 ||
        (seals & F_SEAL_SHRINK) == 0 ||
        pread(share->descriptor, &header, sizeof(header), 0) != (ssize_t)sizeof(header) ||
        header.magic != HEADER_MAGIC)
        return refuse(self, "the descriptor is not one of a virtual GPU's memory");
    if (share->token != 0 && header.token != share->token)
        return refuse(self, "the descriptor is one of another virtual GPU's memory than the handle "
                            "was made for; its process has ended");
    descriptor = open_again(share->descriptor);
    if (descriptor < 0)
        return fail(self, "shared", "opening it again by way of /proc");

    if (part.size_bytes == 0) {
        const off_t position = lseek(share->descriptor, 0, SEEK_CUR);
        const uint64_t kind = (uint64_t)position & KIND_MASK;

        if (position < 0 || kind < ZETA_PLUGIN_MEMORY_HOST || kind > ZETA_PLUGIN_MEMORY_SHARED) {
            result = refuse(self, "the descriptor names no allocation; take the one that "
                                  "zeMemGetFileDescriptorFromIpcHandleExp gives");
            goto close_it;
        }
        part.kind = (uint32_t)kind;
        part.offset_bytes = (uint64_t)position & ~KIND_MASK;
        if (!find_extent(descriptor, part.offset_bytes, &begin, &end)) {
            result = refuse(self, "the allocation of the descriptor was freed");
            goto close_it;
        }
        part.size_bytes = end - part.offset_bytes;
        part.token = header.token;
    }
    if (part.offset_bytes == 0 || part.offset_bytes % page != 0 || part.size_bytes % page != 0 ||
        part.offset_bytes > INT64_MAX || part.size_bytes > INT64_MAX - part.offset_bytes) {
        result = refuse(self, "the handle names bytes that no allocation can have");
        goto close_it;
    }
    /*
     * The lock comes first and the check for others second, and the owner does it the other way
     * round (drops its own, then checks): so either we see that the memory goes, or it stays.
     */
    if (!find_extent(descriptor, part.offset_bytes, &begin, &end) ||
        end != part.offset_bytes + part.size_bytes) {
        result = refuse(self, "the allocation was freed, or its handle was given back");
        goto close_it;
    }
    if (!use_lock(descriptor, F_OFD_SETLK, F_RDLCK, begin, end - begin, &lock)) {
        result = fail(self, "shared", "locking a part of it");
        goto close_it;
    }
    if (!find_extent(descriptor, part.offset_bytes, &begin_now, &end_now) || begin_now != begin ||
        end_now != end) {
        result = refuse(self, "the allocation was freed, or its handle was given back");
        goto close_it;
    }
    *share = part;
    *out_descriptor = descriptor;
    return ZETA_PLUGIN_SUCCESS;

close_it:
    close(descriptor);
    return result;
}
