#include "memory.h"

#include <pthread.h>
#include <search.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "plugin.h"
#include "space.h"

struct allocation {
    uint64_t address; /* key of the tree */
    uint64_t mapped_bytes;
    uint64_t charged_bytes; /* to the device's memory */
};

struct zeta_vgpu_memory {
    struct zeta_vgpu_space *space;
    uint64_t device_bytes;
    pthread_mutex_t lock; /* guards the rest; a leaf */
    uint64_t charged_bytes;
    void *tree;
};

static int compare(const void *left, const void *right)
{
    const struct allocation *a = left, *b = right;

    return (a->address > b->address) - (a->address < b->address);
}

struct zeta_vgpu_memory *zeta_vgpu_memory_create(struct zeta_vgpu_space *space,
                                                 uint64_t device_bytes)
{
    struct zeta_vgpu_memory *memory = calloc(1, sizeof(*memory));

    if (!memory)
        return NULL;
    memory->space = space;
    memory->device_bytes = device_bytes;
    pthread_mutex_init(&memory->lock, NULL);
    return memory;
}

static void release(struct zeta_vgpu_memory *memory, struct allocation *allocation)
{
    void *address = (void *)(uintptr_t)allocation->address;

    (void)zeta_vgpu_space_remove(memory->space, address);
    munmap(address, allocation->mapped_bytes);
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

/* Maps size_bytes at a multiple of align_bytes; both are whole pages. NULL without memory. */
static void *map_aligned(uint64_t size_bytes, uint64_t align_bytes, uint64_t page_bytes)
{
    const uint64_t extra = align_bytes > page_bytes ? align_bytes - page_bytes : 0;
    uint64_t head, begin;
    char *address;

    if (size_bytes + extra < size_bytes)
        return NULL;
    address = mmap(NULL, size_bytes + extra, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (address == MAP_FAILED)
        return NULL;
    begin = ((uint64_t)(uintptr_t)address + align_bytes - 1) & ~(align_bytes - 1);
    head = begin - (uint64_t)(uintptr_t)address;
    if (head > 0)
        munmap(address, head);
    if (extra > head)
        munmap(address + head + size_bytes, extra - head);
    return address + head;
}

/* Takes bytes from the device's memory; false when there is not so much left. */
static bool charge(struct zeta_vgpu_memory *memory, uint64_t bytes)
{
    bool good;

    pthread_mutex_lock(&memory->lock);
    good = bytes <= memory->device_bytes - memory->charged_bytes;
    if (good)
        memory->charged_bytes += bytes;
    pthread_mutex_unlock(&memory->lock);
    return good;
}

static void uncharge(struct zeta_vgpu_memory *memory, uint64_t bytes)
{
    pthread_mutex_lock(&memory->lock);
    memory->charged_bytes -= bytes;
    pthread_mutex_unlock(&memory->lock);
}

/* Maps, makes visible to kernels, and enters into the table. */
static void *map_and_enter(struct zeta_vgpu_memory *memory, struct allocation *allocation,
                           uint64_t align_bytes, uint64_t page_bytes)
{
    void *address = map_aligned(allocation->mapped_bytes, align_bytes, page_bytes);
    void *entered;

    if (!address)
        return NULL;
    allocation->address = (uint64_t)(uintptr_t)address;
    if (zeta_vgpu_space_add(memory->space, address, allocation->mapped_bytes,
                            ZETA_VGPU_ACCESS_WRITE)) {
        pthread_mutex_lock(&memory->lock);
        entered = tsearch(allocation, &memory->tree, compare);
        pthread_mutex_unlock(&memory->lock);
        if (entered)
            return address;
        (void)zeta_vgpu_space_remove(memory->space, address);
    }
    munmap(address, allocation->mapped_bytes);
    return NULL;
}

uint32_t zeta_vgpu_memory_allocate(struct zeta_plugin *self, struct zeta_plugin_device *device,
                                   const struct zeta_plugin_memory_desc *desc, void **out_address)
{
    const struct zeta_vgpu *vgpu = self->vgpu;
    struct zeta_vgpu_memory *memory = vgpu->memory;
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    const uint64_t align = desc->align_bytes > page ? desc->align_bytes : page;
    const bool on_host = desc->kind == ZETA_PLUGIN_MEMORY_HOST || !device;
    struct allocation *allocation;

    if (desc->align_bytes & (desc->align_bytes - 1))
        return zeta_vgpu_fail(self, ZETA_PLUGIN_INVALID_ARGUMENT,
                              "alignment %llu is no power of two",
                              (unsigned long long)desc->align_bytes);
    if (desc->size_bytes == 0 || desc->size_bytes > vgpu->description.memory_bytes)
        return zeta_vgpu_fail(
            self, ZETA_PLUGIN_UNSUPPORTED_SIZE, "%s allocates 1 to %llu bytes at once, not %llu",
            vgpu->description.id, (unsigned long long)vgpu->description.memory_bytes,
            (unsigned long long)desc->size_bytes);

    allocation = calloc(1, sizeof(*allocation));
    if (!allocation)
        return ZETA_PLUGIN_OUT_OF_HOST_MEMORY;
    allocation->mapped_bytes = (desc->size_bytes + page - 1) & ~(page - 1);
    allocation->charged_bytes = on_host ? 0 : allocation->mapped_bytes;
    if (!charge(memory, allocation->charged_bytes)) {
        free(allocation);
        return zeta_vgpu_fail(self, ZETA_PLUGIN_OUT_OF_DEVICE_MEMORY,
                              "%s has %llu bytes of memory (setting memory_mib) and not %llu left",
                              vgpu->description.id,
                              (unsigned long long)vgpu->description.memory_bytes,
                              (unsigned long long)desc->size_bytes);
    }
    *out_address = map_and_enter(memory, allocation, align, page);
    if (*out_address)
        return ZETA_PLUGIN_SUCCESS;
    uncharge(memory, allocation->charged_bytes);
    free(allocation);
    return zeta_vgpu_fail(self, ZETA_PLUGIN_OUT_OF_HOST_MEMORY,
                          "the system has no %llu bytes for %s",
                          (unsigned long long)desc->size_bytes, vgpu->description.id);
}

uint32_t zeta_vgpu_memory_free(struct zeta_plugin *self, void *address)
{
    struct zeta_vgpu_memory *memory = self->vgpu->memory;
    const struct allocation key = {.address = (uint64_t)(uintptr_t)address};
    struct allocation *allocation = NULL;
    void *found;

    pthread_mutex_lock(&memory->lock);
    found = tfind(&key, &memory->tree, compare);
    if (found) {
        allocation = *(struct allocation **)found;
        tdelete(&key, &memory->tree, compare);
        memory->charged_bytes -= allocation->charged_bytes;
    }
    pthread_mutex_unlock(&memory->lock);
    if (!allocation)
        return zeta_vgpu_fail(self, ZETA_PLUGIN_INVALID_ARGUMENT, "%p is no allocation of %s",
                              address, self->vgpu->description.id);
    release(memory, allocation);
    return ZETA_PLUGIN_SUCCESS;
}
