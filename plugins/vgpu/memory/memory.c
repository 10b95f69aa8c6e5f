#include "memory.h"

#include <errno.h>
#include <pthread.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "plugins/vgpu/device/vgpu.h"
#include "plugins/vgpu/machine/space.h"
#include "pool.h"

struct allocation {
    uint64_t address; /* key of the tree */
    uint64_t mapped_bytes;
    uint32_t kind;                   /* ZETA_PLUGIN_MEMORY_* */
    bool adopted;                    /* the application's: neither mapped nor unmapped here */
    struct zeta_vgpu_extent *extent; /* NULL: not of our pool */
};

struct zeta_vgpu_memory {
    struct zeta_vgpu_pool *pool;
    struct zeta_vgpu_space *space;
    pthread_mutex_t lock; /* guards the tree; a leaf */
    void *tree;
};

static int compare(const void *left, const void *right)
{
    const struct allocation *a = left, *b = right;

    return (a->address > b->address) - (a->address < b->address);
}

struct zeta_vgpu_memory *zeta_vgpu_memory_create(struct zeta_vgpu_pool *pool,
                                                 struct zeta_vgpu_space *space)
{
    struct zeta_vgpu_memory *memory = calloc(1, sizeof(*memory));

    if (!memory)
        return NULL;
    memory->pool = pool;
    memory->space = space;
    pthread_mutex_init(&memory->lock, NULL);
    return memory;
}

/* Unmaps before the pool checks whether others have the memory: our mapping may be an import. */
static void release(struct zeta_vgpu_memory *memory, struct allocation *allocation)
{
    void *address = (void *)(uintptr_t)allocation->address;

    (void)zeta_vgpu_space_remove(memory->space, address);
    if (!allocation->adopted)
        munmap(address, allocation->mapped_bytes);
    zeta_vgpu_pool_give(memory->pool, allocation->extent);
    free(allocation);
}

void zeta_vgpu_memory_destroy(struct zeta_vgpu_memory *memory)
{
    if (!memory)
        return;
    while (memory->tree) {
        struct allocation *allocation = *(struct allocation **)memory->tree;

        tdelete(allocation, &memory->tree, compare);
        release(memory, allocation);
    }
    pthread_mutex_destroy(&memory->lock);
    free(memory);
}

/* Makes an allocation visible to kernels and enters it into the table. Owns it on success. */
static bool enter(struct zeta_vgpu_memory *memory, struct allocation *allocation,
                  enum zeta_vgpu_access access)
{
    void *address = (void *)(uintptr_t)allocation->address;
    void *entered;

    if (!zeta_vgpu_space_add(memory->space, address, allocation->mapped_bytes, access))
        return false;
    pthread_mutex_lock(&memory->lock);
    entered = tsearch(allocation, &memory->tree, compare);
    pthread_mutex_unlock(&memory->lock);
    if (!entered)
        (void)zeta_vgpu_space_remove(memory->space, address);
    return entered != NULL;
}

/* Maps bytes of a file and enters them. NULL, with nothing changed, when that is not possible. */
static void *map_and_enter(struct zeta_vgpu_memory *memory, const struct allocation *wanted,
                           int descriptor, uint64_t offset, uint64_t align_bytes,
                           enum zeta_vgpu_access access)
{
    struct allocation *allocation = malloc(sizeof(*allocation));
    void *address = NULL;

    if (allocation)
        address = zeta_vgpu_pool_map(descriptor, offset, wanted->mapped_bytes, NULL, align_bytes,
                                     PROT_READ | PROT_WRITE);
    if (address) {
        *allocation = *wanted;
        allocation->address = (uint64_t)(uintptr_t)address;
        if (enter(memory, allocation, access))
            return address;
        munmap(address, wanted->mapped_bytes);
        errno = ENOMEM;
    }
    free(allocation);
    return NULL;
}

static uint32_t fail_system(const struct zeta_plugin *self, const char *what, const void *address,
                            uint64_t size_bytes)
{
    return zeta_host_fail(
        &self->host, ZETA_PLUGIN_OUT_OF_HOST_MEMORY,
        "the system refused to %s %llu bytes at %p for %s: %s%s", what,
        (unsigned long long)size_bytes, address, self->vgpu->description.id, strerror(errno),
        errno == ENOMEM ? " (many mappings may need a larger vm.max_map_count)" : "");
}

uint32_t zeta_vgpu_memory_allocate(struct zeta_plugin *self, struct zeta_plugin_device *device,
                                   const struct zeta_plugin_memory_desc *desc, void **out_address)
{
    const struct zeta_vgpu_description *d = &self->vgpu->description;
    struct zeta_vgpu_memory *memory = self->vgpu->memory;
    const bool on_host = desc->kind == ZETA_PLUGIN_MEMORY_HOST || !device;
    const bool read_only = ZETA_PLUGIN_HAS(desc, access) && desc->access == ZETA_PLUGIN_ACCESS_READ;
    const uint64_t page = zeta_vgpu_page_bytes();
    struct allocation wanted = {.kind = desc->kind};
    uint32_t result;

    if (desc->align_bytes & (desc->align_bytes - 1))
        return zeta_host_fail(&self->host, ZETA_PLUGIN_INVALID_ARGUMENT,
                              "alignment %llu is no power of two",
                              (unsigned long long)desc->align_bytes);
    if (desc->size_bytes == 0 || (!on_host && desc->size_bytes > d->memory_bytes))
        return zeta_host_fail(&self->host, ZETA_PLUGIN_UNSUPPORTED_SIZE,
                              "%s allocates 1 to %llu bytes of its memory at once, not %llu", d->id,
                              (unsigned long long)d->memory_bytes,
                              (unsigned long long)desc->size_bytes);
    result = zeta_vgpu_pool_take(self, desc->size_bytes, !on_host, &wanted.extent);
    if (result != ZETA_PLUGIN_SUCCESS)
        return result;
    wanted.mapped_bytes = wanted.extent->size_bytes;
    *out_address = map_and_enter(memory, &wanted, wanted.extent->descriptor, wanted.extent->offset,
                                 desc->align_bytes > page ? desc->align_bytes : page,
                                 read_only ? ZETA_VGPU_ACCESS_READ : ZETA_VGPU_ACCESS_WRITE);
    if (*out_address)
        return ZETA_PLUGIN_SUCCESS;
    result = fail_system(self, "map", NULL, desc->size_bytes);
    zeta_vgpu_pool_give(self->vgpu->pool, wanted.extent);
    return result;
}

/* The allocation that begins at an address; NULL, with a message, if there is none. */
static struct allocation *find_locked(const struct zeta_plugin *self, void *address)
{
    const struct allocation key = {.address = (uint64_t)(uintptr_t)address};
    void *found = tfind(&key, &self->vgpu->memory->tree, compare);

    if (!found)
        (void)zeta_host_fail(&self->host, ZETA_PLUGIN_INVALID_ARGUMENT, "%p is no allocation of %s",
                             address, self->vgpu->description.id);
    return found ? *(struct allocation **)found : NULL;
}

bool zeta_vgpu_memory_find_data(struct zeta_vgpu_memory *memory, uint64_t base, uint64_t begin,
                                uint64_t end, uint64_t *out_begin, uint64_t *out_end)
{
    const struct allocation key = {.address = base};
    const struct zeta_vgpu_extent *extent = NULL;
    void *found;

    *out_begin = begin;
    *out_end = end;
    pthread_mutex_lock(&memory->lock);
    found = tfind(&key, &memory->tree, compare);
    if (found)
        extent = (*(struct allocation **)found)->extent;
    if (extent) {
        const uint64_t delta = extent->offset - base; /* from addresses to places in the file */
        const off_t data = lseek(extent->descriptor, (off_t)(begin + delta), SEEK_DATA);
        const off_t hole = data < 0 ? -1 : lseek(extent->descriptor, data, SEEK_HOLE);

        *out_begin = data < 0 ? end : (uint64_t)data - delta;
        if (hole >= 0 && (uint64_t)hole - delta < end)
            *out_end = (uint64_t)hole - delta;
    }
    pthread_mutex_unlock(&memory->lock);
    return *out_begin < *out_end;
}

uint32_t zeta_vgpu_memory_free(struct zeta_plugin *self, void *address)
{
    struct zeta_vgpu_memory *memory = self->vgpu->memory;
    struct allocation *allocation;

    pthread_mutex_lock(&memory->lock);
    allocation = find_locked(self, address);
    if (allocation)
        tdelete(allocation, &memory->tree, compare);
    pthread_mutex_unlock(&memory->lock);
    if (!allocation)
        return ZETA_PLUGIN_INVALID_ARGUMENT;
    release(memory, allocation);
    return ZETA_PLUGIN_SUCCESS;
}

uint32_t zeta_vgpu_memory_export(struct zeta_plugin *self, void *base,
                                 struct zeta_plugin_share *out_share)
{
    struct zeta_vgpu_memory *memory = self->vgpu->memory;
    struct allocation *allocation;

    pthread_mutex_lock(&memory->lock);
    allocation = find_locked(self, base);
    pthread_mutex_unlock(&memory->lock);
    if (!allocation)
        return ZETA_PLUGIN_INVALID_ARGUMENT;
    if (!allocation->extent)
        return zeta_host_fail(&self->host, ZETA_PLUGIN_UNSUPPORTED_FEATURE,
                              "%p is memory of %s; only memory that %s allocated in this process "
                              "can be exported",
                              base, allocation->adopted ? "the application" : "another process",
                              self->vgpu->description.id);
    return zeta_vgpu_pool_export(self, allocation->extent, 0, allocation->kind, out_share);
}

uint32_t zeta_vgpu_memory_import(struct zeta_plugin *self,
                                 struct zeta_plugin_device *device __attribute__((unused)),
                                 struct zeta_plugin_share *share, void **out_address)
{
    struct allocation wanted = {0};
    int descriptor = -1;
    uint32_t result = zeta_vgpu_pool_import(self, share, &descriptor);

    if (result != ZETA_PLUGIN_SUCCESS)
        return result;
    wanted.kind = share->kind;
    wanted.mapped_bytes = share->size_bytes;
    *out_address = map_and_enter(self->vgpu->memory, &wanted, descriptor, share->offset_bytes, 0,
                                 ZETA_VGPU_ACCESS_WRITE);
    if (!*out_address)
        result = fail_system(self, "map", NULL, share->size_bytes);
    /* The mapping keeps the description, and with it the lock that shows that we have the memory.
     */
    close(descriptor);
    return result;
}

uint32_t zeta_vgpu_memory_adopt(struct zeta_plugin *self, void *address, uint64_t size_bytes,
                                uint32_t access)
{
    struct zeta_vgpu_memory *memory = self->vgpu->memory;
    const bool writable = access == ZETA_PLUGIN_ACCESS_READ_WRITE;
    struct allocation *allocation = calloc(1, sizeof(*allocation));

    if (!allocation)
        return ZETA_PLUGIN_OUT_OF_HOST_MEMORY;
    allocation->address = (uint64_t)(uintptr_t)address;
    allocation->mapped_bytes = size_bytes;
    allocation->kind = ZETA_PLUGIN_MEMORY_HOST;
    allocation->adopted = true;
    if (enter(memory, allocation, writable ? ZETA_VGPU_ACCESS_WRITE : ZETA_VGPU_ACCESS_READ))
        return ZETA_PLUGIN_SUCCESS;
    free(allocation);
    return zeta_host_fail(&self->host, ZETA_PLUGIN_INVALID_ARGUMENT,
                          "the %llu bytes at %p overlap memory that %s uses already",
                          (unsigned long long)size_bytes, address, self->vgpu->description.id);
}

uint32_t zeta_vgpu_memory_unused(struct zeta_plugin *self,
                                 struct zeta_plugin_device *device __attribute__((unused)),
                                 uint64_t *out_bytes)
{
    *out_bytes = zeta_vgpu_pool_unused(self->vgpu->pool);
    return ZETA_PLUGIN_SUCCESS;
}

/* ---------------------------------------------------------------- virtual memory */

struct zeta_plugin_physical {
    uint32_t kind;                   /* ZETA_PLUGIN_MEMORY_* */
    struct zeta_vgpu_extent *extent; /* NULL: another process owns it */
    int descriptor;                  /* of its file; ours to close only without extent */
    uint64_t offset;
};

static int protection(uint32_t access)
{
    return access == ZETA_PLUGIN_ACCESS_READ_WRITE ? PROT_READ | PROT_WRITE
           : access == ZETA_PLUGIN_ACCESS_READ     ? PROT_READ
                                                   : PROT_NONE;
}

static enum zeta_vgpu_access rights(uint32_t access)
{
    return access == ZETA_PLUGIN_ACCESS_READ_WRITE ? ZETA_VGPU_ACCESS_WRITE
           : access == ZETA_PLUGIN_ACCESS_READ     ? ZETA_VGPU_ACCESS_READ
                                                   : ZETA_VGPU_ACCESS_NONE;
}

uint64_t zeta_vgpu_virtual_page_bytes(struct zeta_plugin *self __attribute__((unused)),
                                      struct zeta_plugin_device *device __attribute__((unused)),
                                      uint64_t size_bytes __attribute__((unused)))
{
    return zeta_vgpu_page_bytes();
}

/* Addresses with nothing behind them; MAP_FIXED when something was there before. */
static void *map_nothing(void *address, uint64_t size_bytes, int fixed)
{
    void *mapped = mmap(address, size_bytes, PROT_NONE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | fixed, -1, 0);

    return mapped == MAP_FAILED ? NULL : mapped;
}

uint32_t zeta_vgpu_virtual_reserve(struct zeta_plugin *self, void *wanted, uint64_t size_bytes,
                                   void **out_address)
{
    void *address = map_nothing(wanted, size_bytes, 0);

    if (!address)
        return fail_system(self, "reserve", wanted, size_bytes);
    *out_address = address;
    return ZETA_PLUGIN_SUCCESS;
}

uint32_t zeta_vgpu_virtual_free(struct zeta_plugin *self, void *address, uint64_t size_bytes)
{
    if (!zeta_vgpu_space_clear(self->vgpu->space, address, size_bytes) ||
        munmap(address, size_bytes) != 0)
        return fail_system(self, "free", address, size_bytes);
    return ZETA_PLUGIN_SUCCESS;
}

uint32_t zeta_vgpu_virtual_map(struct zeta_plugin *self, void *address, uint64_t size_bytes,
                               struct zeta_plugin_physical *physical, uint64_t offset_bytes,
                               uint32_t access)
{
    struct zeta_vgpu_space *space = self->vgpu->space;

    if (!zeta_vgpu_pool_map(physical->descriptor, physical->offset + offset_bytes, size_bytes,
                            address, 0, protection(access)))
        return fail_system(self, "map", address, size_bytes);
    if (zeta_vgpu_space_add(space, address, size_bytes, rights(access)))
        return ZETA_PLUGIN_SUCCESS;
    (void)map_nothing(address, size_bytes, MAP_FIXED);
    errno = ENOMEM;
    return fail_system(self, "map", address, size_bytes);
}

uint32_t zeta_vgpu_virtual_unmap(struct zeta_plugin *self, void *address, uint64_t size_bytes)
{
    if (!zeta_vgpu_space_clear(self->vgpu->space, address, size_bytes) ||
        !map_nothing(address, size_bytes, MAP_FIXED))
        return fail_system(self, "unmap", address, size_bytes);
    return ZETA_PLUGIN_SUCCESS;
}

/* Kernels are kept out while the system changes its side, so none of them meets a signal. */
uint32_t zeta_vgpu_virtual_access(struct zeta_plugin *self, void *address, uint64_t size_bytes,
                                  uint32_t access)
{
    struct zeta_vgpu_space *space = self->vgpu->space;

    if (!zeta_vgpu_space_protect(space, address, size_bytes, ZETA_VGPU_ACCESS_NONE) ||
        mprotect(address, size_bytes, protection(access)) != 0 ||
        !zeta_vgpu_space_protect(space, address, size_bytes, rights(access)))
        return fail_system(self, "protect", address, size_bytes);
    return ZETA_PLUGIN_SUCCESS;
}

uint32_t zeta_vgpu_physical_create(struct zeta_plugin *self,
                                   struct zeta_plugin_device *device __attribute__((unused)),
                                   uint32_t kind, uint64_t size_bytes,
                                   struct zeta_plugin_physical **out_physical)
{
    struct zeta_plugin_physical *physical = calloc(1, sizeof(*physical));
    uint32_t result;

    if (!physical)
        return ZETA_PLUGIN_OUT_OF_HOST_MEMORY;
    result =
        zeta_vgpu_pool_take(self, size_bytes, kind == ZETA_PLUGIN_MEMORY_DEVICE, &physical->extent);
    if (result != ZETA_PLUGIN_SUCCESS) {
        free(physical);
        return result;
    }
    physical->kind = kind;
    physical->descriptor = physical->extent->descriptor;
    physical->offset = physical->extent->offset;
    *out_physical = physical;
    return ZETA_PLUGIN_SUCCESS;
}

void zeta_vgpu_physical_destroy(struct zeta_plugin *self, struct zeta_plugin_physical *physical)
{
    if (!physical)
        return;
    if (!physical->extent)
        close(physical->descriptor);
    zeta_vgpu_pool_give(self->vgpu->pool, physical->extent);
    free(physical);
}

uint32_t zeta_vgpu_physical_export(struct zeta_plugin *self, struct zeta_plugin_physical *physical,
                                   struct zeta_plugin_share *share)
{
    if (!physical->extent)
        return zeta_host_fail(&self->host, ZETA_PLUGIN_UNSUPPORTED_FEATURE,
                              "only physical memory that %s made in this process can be exported",
                              self->vgpu->description.id);
    return zeta_vgpu_pool_export(self, physical->extent, share->offset_bytes, physical->kind,
                                 share);
}

uint32_t zeta_vgpu_physical_import(struct zeta_plugin *self,
                                   struct zeta_plugin_device *device __attribute__((unused)),
                                   struct zeta_plugin_share *share,
                                   struct zeta_plugin_physical **out_physical)
{
    struct zeta_plugin_physical *physical = calloc(1, sizeof(*physical));
    uint32_t result;

    if (!physical)
        return ZETA_PLUGIN_OUT_OF_HOST_MEMORY;
    result = zeta_vgpu_pool_import(self, share, &physical->descriptor);
    if (result != ZETA_PLUGIN_SUCCESS) {
        free(physical);
        return result;
    }
    physical->kind = share->kind;
    physical->offset = share->offset_bytes;
    *out_physical = physical;
    return ZETA_PLUGIN_SUCCESS;
}
