#include "memory.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "plugins/vgpu/device/vgpu.h"
#include "plugins/vgpu/machine/space.h"
#include "pool.h"
#include "share.h"

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

static uint32_t fail_mapping(const struct zeta_plugin *self, uint64_t size_bytes)
{
    return zeta_host_fail(&self->host, ZETA_PLUGIN_OUT_OF_HOST_MEMORY,
                          "the system has no room to map %llu bytes for %s: %s (many allocations "
                          "may need a larger vm.max_map_count)",
                          (unsigned long long)size_bytes, self->vgpu->description.id,
                          strerror(errno));
}

static uint32_t check(const struct zeta_plugin *self, const struct zeta_plugin_memory_desc *desc,
                      bool on_host)
{
    const struct zeta_vgpu_description *d = &self->vgpu->description;

    if (desc->align_bytes & (desc->align_bytes - 1))
        return zeta_host_fail(&self->host, ZETA_PLUGIN_INVALID_ARGUMENT,
                              "alignment %llu is no power of two",
                              (unsigned long long)desc->align_bytes);
    if (desc->size_bytes == 0 || (!on_host && desc->size_bytes > d->memory_bytes))
        return zeta_host_fail(&self->host, ZETA_PLUGIN_UNSUPPORTED_SIZE,
                              "%s allocates 1 to %llu bytes of its memory at once, not %llu", d->id,
                              (unsigned long long)d->memory_bytes,
                              (unsigned long long)desc->size_bytes);
    return ZETA_PLUGIN_SUCCESS;
}

uint32_t zeta_vgpu_memory_allocate(struct zeta_plugin *self, struct zeta_plugin_device *device,
                                   const struct zeta_plugin_memory_desc *desc, void **out_address)
{
    struct zeta_vgpu_memory *memory = self->vgpu->memory;
    const bool on_host = desc->kind == ZETA_PLUGIN_MEMORY_HOST || !device;
    const bool read_only = ZETA_PLUGIN_HAS(desc, access) && desc->access == ZETA_PLUGIN_ACCESS_READ;
    const uint64_t page = zeta_vgpu_page_bytes();
    struct allocation wanted = {.kind = desc->kind};
    struct zeta_vgpu_message message;
    uint32_t result = check(self, desc, on_host);
    enum zeta_vgpu_result taken;

    if (result != ZETA_PLUGIN_SUCCESS)
        return result;
    taken = zeta_vgpu_pool_take(memory->pool, desc->size_bytes, !on_host, &message, &wanted.extent);
    if (taken != ZETA_VGPU_OK)
        return zeta_host_fail(&self->host,
                              taken == ZETA_VGPU_OUT_OF_MEMORY ? ZETA_PLUGIN_OUT_OF_HOST_MEMORY
                                                               : ZETA_PLUGIN_OUT_OF_DEVICE_MEMORY,
                              "%s: no %llu bytes: %s", self->vgpu->description.id,
                              (unsigned long long)desc->size_bytes, message.text);
    wanted.mapped_bytes = wanted.extent->size_bytes;
    *out_address =
        map_and_enter(memory, &wanted, zeta_vgpu_pool_descriptor(memory->pool),
                      wanted.extent->offset, desc->align_bytes > page ? desc->align_bytes : page,
                      read_only ? ZETA_VGPU_ACCESS_READ : ZETA_VGPU_ACCESS_WRITE);
    if (*out_address)
        return ZETA_PLUGIN_SUCCESS;
    result = fail_mapping(self, desc->size_bytes);
    zeta_vgpu_pool_give(memory->pool, wanted.extent);
    return result;
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
    }
    pthread_mutex_unlock(&memory->lock);
    if (!allocation)
        return zeta_host_fail(&self->host, ZETA_PLUGIN_INVALID_ARGUMENT,
                              "%p is no allocation of %s", address, self->vgpu->description.id);
    release(memory, allocation);
    return ZETA_PLUGIN_SUCCESS;
}

uint32_t zeta_vgpu_memory_export(struct zeta_plugin *self, void *base,
                                 struct zeta_plugin_share *out_share)
{
    struct zeta_vgpu_memory *memory = self->vgpu->memory;
    const struct allocation key = {.address = (uint64_t)(uintptr_t)base};
    struct allocation *allocation = NULL;
    struct zeta_vgpu_message message;
    void *found;

    pthread_mutex_lock(&memory->lock);
    found = tfind(&key, &memory->tree, compare);
    if (found)
        allocation = *(struct allocation **)found;
    pthread_mutex_unlock(&memory->lock);
    if (!allocation)
        return zeta_host_fail(&self->host, ZETA_PLUGIN_INVALID_ARGUMENT,
                              "%p is no allocation of %s", base, self->vgpu->description.id);
    if (!allocation->extent)
        return zeta_host_fail(&self->host, ZETA_PLUGIN_UNSUPPORTED_FEATURE,
                              "%p is memory of %s; only memory that %s allocated in this process "
                              "can be exported",
                              base, allocation->adopted ? "the application" : "another process",
                              self->vgpu->description.id);
    if (zeta_vgpu_share_export(memory->pool, allocation->extent, 0, allocation->kind, &message,
                               out_share) == ZETA_VGPU_OK)
        return ZETA_PLUGIN_SUCCESS;
    return zeta_host_fail(&self->host, ZETA_PLUGIN_OUT_OF_HOST_MEMORY, "%s", message.text);
}

uint32_t zeta_vgpu_memory_import(struct zeta_plugin *self,
                                 struct zeta_plugin_device *device __attribute__((unused)),
                                 struct zeta_plugin_share *share, void **out_address)
{
    struct zeta_vgpu_memory *memory = self->vgpu->memory;
    struct zeta_vgpu_message message;
    int descriptor = -1;
    enum zeta_vgpu_result result = zeta_vgpu_share_open(share, &message, &descriptor);
    struct allocation wanted = {.kind = share->kind, .mapped_bytes = share->size_bytes};

    if (result != ZETA_VGPU_OK)
        return zeta_host_fail(&self->host,
                              result == ZETA_VGPU_OUT_OF_MEMORY ? ZETA_PLUGIN_OUT_OF_HOST_MEMORY
                                                                : ZETA_PLUGIN_INVALID_ARGUMENT,
                              "%s", message.text);
    *out_address =
        map_and_enter(memory, &wanted, descriptor, share->offset_bytes, 0, ZETA_VGPU_ACCESS_WRITE);
    if (!*out_address)
        result = ZETA_VGPU_OUT_OF_MEMORY;
    /* The mapping keeps the description, and with it the lock that shows that we have the memory.
     */
    close(descriptor);
    return result == ZETA_VGPU_OK ? ZETA_PLUGIN_SUCCESS : fail_mapping(self, share->size_bytes);
}

static bool refuse_adoption(struct zeta_vgpu_message *out_message, const void *address,
                            uint64_t size_bytes, const char *reason)
{
    snprintf(out_message->text, sizeof(out_message->text), "%" PRIu64 " bytes at %p %s", size_bytes,
             address, reason);
    return false;
}

/* Reads the mappings of the process, in order, as far as they are needed. */
static bool scan_mappings(FILE *maps, uint64_t begin, uint64_t end, bool writable,
                          const char **out_reason)
{
    char line[512];
    bool at_start = true;

    while (begin < end && fgets(line, sizeof(line), maps)) {
        const bool whole = strchr(line, '\n') != NULL;
        uint64_t from, to;
        char rights[5];

        if (at_start && sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s", &from, &to, rights) == 3 &&
            to > begin) {
            if (from > begin)
                break;
            if (rights[0] != 'r' || (writable && rights[1] != 'w')) {
                *out_reason = rights[0] != 'r' ? "cannot be read"
                                               : "are read-only; ask for read-only memory "
                                                 "(ZE_HOST_MEM_ALLOC_FLAG_MEM_READ_ONLY)";
                return false;
            }
            begin = to;
        }
        at_start = whole; /* the rest of a long line is no mapping */
    }
    *out_reason = "are not all mapped";
    return begin >= end;
}

/*
 * True if these are whole pages that this process can read, and write if that is asked for. They
 * may still be unmapped later: that is up to the application.
 */
static bool check_adoption(const void *address, uint64_t size_bytes, bool writable,
                           struct zeta_vgpu_message *out_message)
{
    const uint64_t begin = (uint64_t)(uintptr_t)address;
    const uint64_t page = zeta_vgpu_page_bytes();
    const char *reason = NULL;
    FILE *maps;
    bool good;

    if (begin % page != 0 || size_bytes == 0 || size_bytes % page != 0 ||
        begin + size_bytes < begin)
        return refuse_adoption(out_message, address, size_bytes, "are not whole pages");
    maps = fopen("/proc/self/maps", "re");
    if (!maps)
        return refuse_adoption(out_message, address, size_bytes,
                               "cannot be checked: /proc/self/maps does not open");
    good = scan_mappings(maps, begin, begin + size_bytes, writable, &reason);
    fclose(maps);
    return good || refuse_adoption(out_message, address, size_bytes, reason);
}

uint32_t zeta_vgpu_memory_adopt(struct zeta_plugin *self, void *address, uint64_t size_bytes,
                                uint32_t access)
{
    struct zeta_vgpu_memory *memory = self->vgpu->memory;
    const bool writable = access == ZETA_PLUGIN_ACCESS_READ_WRITE;
    struct allocation *allocation;
    struct zeta_vgpu_message message;

    if (!check_adoption(address, size_bytes, writable, &message))
        return zeta_host_fail(&self->host, ZETA_PLUGIN_INVALID_ARGUMENT, "%s", message.text);
    allocation = calloc(1, sizeof(*allocation));
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
