/* Memory: of the host, with a table of what the GPU may access. */

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/cuda/driver/driver.h"

enum { GRANULE = 2 << 20, HOST = 1, DEVICE = 2, MANAGED = 4, REGISTERED = 8, RESERVED = 16 };

struct allocation {
    struct allocation *next;
    uint64_t address, bytes;
    int kind;
    int ordinal;
    bool is_mapped, is_accessible; /* of virtual memory */
};

/* Memory of cuMemCreate: a file in memory. */
struct physical {
    size_t bytes;
    int fd, ordinal;
};

static struct allocation *allocations;

static struct allocation *find_locked(uint64_t address)
{
    struct allocation *at = allocations;

    while (at && (address < at->address || address - at->address >= at->bytes))
        at = at->next;
    return at;
}

bool memory_is_accessible(uint64_t address, uint64_t bytes)
{
    const struct allocation *at;
    bool is_accessible;

    (void)pthread_mutex_lock(&driver_lock);
    at = find_locked(address);
    is_accessible = at && bytes <= at->address + at->bytes - address &&
                    (at->kind != RESERVED || at->is_accessible);
    (void)pthread_mutex_unlock(&driver_lock);
    return is_accessible;
}

int memory_kind(uint64_t address)
{
    const struct allocation *at;
    int kind = 0;

    (void)pthread_mutex_lock(&driver_lock);
    at = find_locked(address);
    if (at)
        kind = at->kind == RESERVED ? DEVICE : at->kind == REGISTERED ? HOST : at->kind;
    (void)pthread_mutex_unlock(&driver_lock);
    return kind;
}

static int add(uint64_t address, uint64_t bytes, int kind, int ordinal)
{
    struct allocation *allocation = calloc(1, sizeof(*allocation));

    if (!allocation)
        return CU_OUT_OF_MEMORY;
    *allocation =
        (struct allocation){.address = address, .bytes = bytes, .kind = kind, .ordinal = ordinal};
    (void)pthread_mutex_lock(&driver_lock);
    allocation->next = allocations;
    allocations = allocation;
    (void)pthread_mutex_unlock(&driver_lock);
    return CU_OK;
}

/* Takes the one that begins there out of the table; the caller frees it. */
static struct allocation *take(uint64_t address, int kind)
{
    struct allocation **at = &allocations, *found;

    (void)pthread_mutex_lock(&driver_lock);
    while (*at && ((*at)->address != address || ((*at)->kind & kind) == 0))
        at = &(*at)->next;
    found = *at;
    if (found)
        *at = found->next;
    (void)pthread_mutex_unlock(&driver_lock);
    return found;
}

/* Takes bytes of the GPU for all processes; a negative number gives them back. */
static bool charge(int ordinal, int64_t bytes)
{
    struct device *device = driver_device(ordinal);
    struct cuda_gpu *gpu = &cuda_shared()->gpus[device->gpu];
    bool is_free;

    cuda_lock(&gpu->lock);
    is_free = bytes < 0 || gpu->used_bytes + (uint64_t)bytes <= driver_chip(device)->memory_bytes;
    if (is_free)
        gpu->used_bytes += (uint64_t)bytes;
    cuda_unlock(&gpu->lock);
    return is_free;
}

static void *map(size_t bytes)
{
    void *address = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    return address == MAP_FAILED ? NULL : address;
}

static int allocate(struct context *context, size_t bytes, int kind, void **out)
{
    void *address;

    if (!out || bytes == 0)
        return CU_INVALID_VALUE;
    if (kind != HOST && !charge(context->ordinal, (int64_t)bytes))
        return CU_OUT_OF_MEMORY;
    address = map(bytes);
    if (!address || add((uintptr_t)address, bytes, kind, context->ordinal) != CU_OK) {
        if (kind != HOST)
            (void)charge(context->ordinal, -(int64_t)bytes);
        return CU_OUT_OF_MEMORY;
    }
    *out = address;
    return CU_OK;
}

static int release(uint64_t address, int kind)
{
    struct allocation *allocation = take(address, kind);

    if (!allocation)
        return CU_INVALID_VALUE;
    if (allocation->kind != HOST)
        (void)charge(allocation->ordinal, -(int64_t)allocation->bytes);
    (void)munmap((void *)(uintptr_t)allocation->address, allocation->bytes);
    free(allocation);
    return CU_OK;
}

int cuMemGetInfo_v2(size_t *free_bytes, size_t *total)
{
    struct context *context;
    const struct device *device;
    struct cuda_gpu *gpu;

    ENTER_CONTEXT(&context);
    device = driver_device(context->ordinal);
    gpu = &cuda_shared()->gpus[device->gpu];
    cuda_lock(&gpu->lock);
    *total = driver_chip(device)->memory_bytes;
    *free_bytes = *total - gpu->used_bytes;
    cuda_unlock(&gpu->lock);
    return CU_OK;
}

int memory_of_variable(struct context *context, size_t bytes, void **out)
{
    return allocate(context, bytes, DEVICE, out);
}

int cuMemAlloc_v2(uint64_t *out, size_t bytes)
{
    struct context *context;
    void *address;
    int result;

    ENTER_CONTEXT(&context);
    result = allocate(context, bytes, DEVICE, out ? &address : NULL);
    if (result == CU_OK)
        *out = (uintptr_t)address;
    return result;
}

/* It waits for all work of the context. */
int cuMemFree_v2(uint64_t address)
{
    struct context *context;

    ENTER_CONTEXT(&context);
    if (address == 0)
        return CU_OK;
    cuda_context_drain(context);
    return release(address, DEVICE | MANAGED);
}

int cuMemHostAlloc(void **out, size_t bytes, unsigned flags)
{
    struct context *context;

    (void)flags;
    ENTER_CONTEXT(&context);
    return allocate(context, bytes, HOST, out);
}

int cuMemFreeHost(void *address)
{
    struct context *context;

    ENTER_CONTEXT(&context);
    cuda_context_drain(context);
    return release((uintptr_t)address, HOST);
}

int cuMemAllocManaged(uint64_t *out, size_t bytes, unsigned flags)
{
    struct context *context;
    void *address;
    int result;

    ENTER_CONTEXT(&context);
    if (flags != 1 && flags != 2)
        return CU_INVALID_VALUE;
    result = allocate(context, bytes, MANAGED, out ? &address : NULL);
    if (result == CU_OK)
        *out = (uintptr_t)address;
    return result;
}

int cuMemHostRegister_v2(void *address, size_t bytes, unsigned flags)
{
    struct context *context;

    (void)flags;
    ENTER_CONTEXT(&context);
    if (!address || bytes == 0)
        return CU_INVALID_VALUE;
    if (memory_kind((uintptr_t)address) != 0)
        return 712; /* already registered */
    return add((uintptr_t)address, bytes, REGISTERED, context->ordinal);
}

int cuMemHostUnregister(void *address)
{
    struct context *context;
    struct allocation *allocation;

    ENTER_CONTEXT(&context);
    allocation = take((uintptr_t)address, REGISTERED);
    if (!allocation)
        return 713; /* not registered */
    free(allocation);
    return CU_OK;
}

int cuPointerGetAttribute(void *out, int attribute, uint64_t address)
{
    const struct allocation *at;
    int result = CU_OK;

    ENTER();
    (void)pthread_mutex_lock(&driver_lock);
    at = find_locked(address);
    if (!out || !at)
        result = CU_INVALID_VALUE;
    else if (attribute == 2) /* type of memory */
        *(int32_t *)out = at->kind == HOST || at->kind == REGISTERED ? 1 : 2;
    else if (attribute == 8) /* managed; a byte in older headers, an int in newer ones */
        *(int32_t *)out = at->kind == MANAGED;
    else if (attribute == 9)
        *(int32_t *)out = at->ordinal;
    else if (attribute == 11)
        *(uint64_t *)out = at->address;
    else if (attribute == 12)
        *(size_t *)out = at->bytes;
    else
        result = CU_INVALID_VALUE;
    (void)pthread_mutex_unlock(&driver_lock);
    return result;
}

int cuMemGetAddressRange_v2(uint64_t *base, size_t *bytes, uint64_t address)
{
    const struct allocation *at;

    ENTER();
    (void)pthread_mutex_lock(&driver_lock);
    at = find_locked(address);
    if (at && base)
        *base = at->address;
    if (at && bytes)
        *bytes = at->bytes;
    (void)pthread_mutex_unlock(&driver_lock);
    return at ? CU_OK : CU_NOT_FOUND;
}

int cuMemGetAllocationGranularity(size_t *out, const void *properties, int option)
{
    (void)option;
    ENTER();
    if (!out || !properties)
        return CU_INVALID_VALUE;
    *out = GRANULE;
    return CU_OK;
}

int cuMemAddressReserve(uint64_t *out, size_t bytes, size_t alignment, uint64_t hint,
                        uint64_t flags)
{
    struct context *context;
    const size_t step = alignment > GRANULE ? alignment : GRANULE;
    char *address;
    char *begin;

    (void)hint;
    ENTER_CONTEXT(&context);
    if (!out || bytes == 0 || bytes % GRANULE != 0 || flags != 0 || (step & (step - 1)) != 0)
        return CU_INVALID_VALUE;
    address =
        mmap(NULL, bytes + step, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (address == MAP_FAILED)
        return CU_OUT_OF_MEMORY;
    begin = address + (step - (uintptr_t)address % step) % step;
    if (begin > address)
        (void)munmap(address, (size_t)(begin - address));
    (void)munmap(begin + bytes, (size_t)(address + step - begin));
    *out = (uintptr_t)begin;
    return add((uintptr_t)begin, bytes, RESERVED, context->ordinal);
}

int cuMemAddressFree(uint64_t address, size_t bytes)
{
    struct allocation *allocation;
    bool is_free;

    ENTER();
    (void)pthread_mutex_lock(&driver_lock);
    allocation = find_locked(address);
    is_free = allocation && allocation->kind == RESERVED && allocation->address == address &&
              allocation->bytes == bytes && !allocation->is_mapped;
    (void)pthread_mutex_unlock(&driver_lock);
    if (!is_free)
        return CU_INVALID_VALUE;
    allocation = take(address, RESERVED);
    (void)munmap((void *)(uintptr_t)address, bytes);
    free(allocation);
    return CU_OK;
}

int cuMemCreate(uint64_t *out, size_t bytes, const void *properties, uint64_t flags)
{
    struct context *context;
    struct physical *physical;

    ENTER_CONTEXT(&context);
    if (!out || !properties || bytes == 0 || bytes % GRANULE != 0 || flags != 0)
        return CU_INVALID_VALUE;
    if (!charge(context->ordinal, (int64_t)bytes))
        return CU_OUT_OF_MEMORY;
    physical = calloc(1, sizeof(*physical));
    if (!physical)
        goto no_memory;
    *physical = (struct physical){.bytes = bytes,
                                  .fd = memfd_create("cuda-memory", MFD_CLOEXEC),
                                  .ordinal = context->ordinal};
    if (physical->fd < 0 || ftruncate(physical->fd, (off_t)bytes) != 0)
        goto no_file;
    *out = (uintptr_t)physical;
    return CU_OK;

no_file:
    if (physical->fd >= 0)
        (void)close(physical->fd);
    free(physical);
no_memory:
    (void)charge(context->ordinal, -(int64_t)bytes);
    return CU_OUT_OF_MEMORY;
}

int cuMemRelease(uint64_t handle)
{
    struct physical *physical = (struct physical *)(uintptr_t)handle;

    ENTER();
    if (!physical)
        return CU_INVALID_VALUE;
    (void)charge(physical->ordinal, -(int64_t)physical->bytes);
    (void)close(physical->fd);
    free(physical);
    return CU_OK;
}

static int set_mapped(uint64_t address, size_t bytes, bool is_mapped, bool is_accessible)
{
    struct allocation *at;
    int result = CU_INVALID_VALUE;

    (void)pthread_mutex_lock(&driver_lock);
    at = find_locked(address);
    if (at && at->kind == RESERVED && bytes <= at->address + at->bytes - address) {
        at->is_mapped = is_mapped;
        at->is_accessible = is_accessible;
        result = CU_OK;
    }
    (void)pthread_mutex_unlock(&driver_lock);
    return result;
}

int cuMemMap(uint64_t address, size_t bytes, size_t offset, uint64_t handle, uint64_t flags)
{
    const struct physical *physical = (const struct physical *)(uintptr_t)handle;
    int result;

    ENTER();
    if (!physical || offset != 0 || flags != 0 || bytes > physical->bytes)
        return CU_INVALID_VALUE;
    result = set_mapped(address, bytes, true, false);
    if (result == CU_OK && mmap((void *)(uintptr_t)address, bytes, PROT_NONE,
                                MAP_SHARED | MAP_FIXED, physical->fd, 0) == MAP_FAILED)
        return CU_OUT_OF_MEMORY;
    return result;
}

int cuMemUnmap(uint64_t address, size_t bytes)
{
    int result;

    ENTER();
    result = set_mapped(address, bytes, false, false);
    if (result == CU_OK &&
        mmap((void *)(uintptr_t)address, bytes, PROT_NONE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == MAP_FAILED)
        return CU_OUT_OF_MEMORY;
    return result;
}

int cuMemSetAccess(uint64_t address, size_t bytes, const void *descriptors, size_t count)
{
    const uint32_t *flags = descriptors; /* type, id, flags: 3 read and write, 1 read */
    const int protection = count > 0 && flags && flags[2] == 3 ? PROT_READ | PROT_WRITE : PROT_READ;
    int result;

    ENTER();
    if (!flags || count == 0)
        return CU_INVALID_VALUE;
    result = set_mapped(address, bytes, true, true);
    if (result == CU_OK && mprotect((void *)(uintptr_t)address, bytes, protection) != 0)
        return CU_INVALID_VALUE;
    return result;
}

int cuMemExportToShareableHandle(void *out, uint64_t handle, int type, uint64_t flags)
{
    const struct physical *physical = (const struct physical *)(uintptr_t)handle;

    ENTER();
    if (!out || !physical || type != 1 || flags != 0)
        return CU_INVALID_VALUE;
    *(int *)out = fcntl(physical->fd, F_DUPFD_CLOEXEC, 0);
    return *(int *)out < 0 ? CU_OUT_OF_MEMORY : CU_OK;
}

int cuMemImportFromShareableHandle(uint64_t *out, void *os_handle, int type)
{
    struct context *context;
    struct physical *physical;
    off_t bytes;

    ENTER_CONTEXT(&context);
    if (!out || type != 1)
        return CU_INVALID_VALUE;
    bytes = lseek((int)(intptr_t)os_handle, 0, SEEK_END);
    physical = bytes > 0 ? calloc(1, sizeof(*physical)) : NULL;
    if (!physical)
        return bytes > 0 ? CU_OUT_OF_MEMORY : CU_INVALID_VALUE;
    *physical = (struct physical){.bytes = (size_t)bytes,
                                  .fd = fcntl((int)(intptr_t)os_handle, F_DUPFD_CLOEXEC, 0),
                                  .ordinal = context->ordinal};
    *out = (uintptr_t)physical;
    /* Counted once more: each release gives it back. */
    (void)charge(context->ordinal, bytes);
    return CU_OK;
}
