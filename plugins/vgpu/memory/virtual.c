#include "memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "plugins/vgpu/device/vgpu.h"
#include "plugins/vgpu/machine/space.h"
#include "pool.h"
#include "share.h"

struct zeta_plugin_physical {
    uint32_t kind;                   /* ZETA_PLUGIN_MEMORY_* */
    struct zeta_vgpu_extent *extent; /* NULL: another process owns it */
    int descriptor;                  /* of its file; ours to close only without extent */
    uint64_t offset;
    uint64_t size_bytes;
};

static int protection(uint32_t access)
{
    switch (access) {
    case ZETA_PLUGIN_ACCESS_READ_WRITE:
        return PROT_READ | PROT_WRITE;
    case ZETA_PLUGIN_ACCESS_READ:
        return PROT_READ;
    default:
        return PROT_NONE;
    }
}

static enum zeta_vgpu_access rights(uint32_t access)
{
    switch (access) {
    case ZETA_PLUGIN_ACCESS_READ_WRITE:
        return ZETA_VGPU_ACCESS_WRITE;
    case ZETA_PLUGIN_ACCESS_READ:
        return ZETA_VGPU_ACCESS_READ;
    default:
        return ZETA_VGPU_ACCESS_NONE;
    }
}

static uint32_t fail_system(const struct zeta_plugin *self, const char *what, const void *address,
                            uint64_t size_bytes)
{
    return zeta_host_fail(&self->host, ZETA_PLUGIN_OUT_OF_HOST_MEMORY,
                          "the system refused to %s %llu bytes at %p for %s: %s", what,
                          (unsigned long long)size_bytes, address, self->vgpu->description.id,
                          strerror(errno));
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
    struct zeta_vgpu_pool *pool = self->vgpu->pool;
    struct zeta_plugin_physical *physical = calloc(1, sizeof(*physical));
    struct zeta_vgpu_message message;
    enum zeta_vgpu_result result;

    if (!physical)
        return ZETA_PLUGIN_OUT_OF_HOST_MEMORY;
    result = zeta_vgpu_pool_take(pool, size_bytes, kind == ZETA_PLUGIN_MEMORY_DEVICE, &message,
                                 &physical->extent);
    if (result != ZETA_VGPU_OK) {
        free(physical);
        return zeta_host_fail(&self->host,
                              result == ZETA_VGPU_OUT_OF_MEMORY ? ZETA_PLUGIN_OUT_OF_HOST_MEMORY
                                                                : ZETA_PLUGIN_OUT_OF_DEVICE_MEMORY,
                              "%s: no %llu bytes of physical memory: %s",
                              self->vgpu->description.id, (unsigned long long)size_bytes,
                              message.text);
    }
    physical->kind = kind;
    physical->descriptor = zeta_vgpu_pool_descriptor(pool);
    physical->offset = physical->extent->offset;
    physical->size_bytes = physical->extent->size_bytes;
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
    struct zeta_vgpu_message message;

    if (!physical->extent)
        return zeta_host_fail(&self->host, ZETA_PLUGIN_UNSUPPORTED_FEATURE,
                              "only physical memory that %s made in this process can be exported",
                              self->vgpu->description.id);
    if (zeta_vgpu_share_export(self->vgpu->pool, physical->extent, share->offset_bytes,
                               physical->kind, &message, share) == ZETA_VGPU_OK)
        return ZETA_PLUGIN_SUCCESS;
    return zeta_host_fail(&self->host, ZETA_PLUGIN_OUT_OF_HOST_MEMORY, "%s", message.text);
}

uint32_t zeta_vgpu_physical_import(struct zeta_plugin *self,
                                   struct zeta_plugin_device *device __attribute__((unused)),
                                   struct zeta_plugin_share *share,
                                   struct zeta_plugin_physical **out_physical)
{
    struct zeta_plugin_physical *physical = calloc(1, sizeof(*physical));
    struct zeta_vgpu_message message;
    enum zeta_vgpu_result result;

    if (!physical)
        return ZETA_PLUGIN_OUT_OF_HOST_MEMORY;
    result = zeta_vgpu_share_open(share, &message, &physical->descriptor);
    if (result != ZETA_VGPU_OK) {
        free(physical);
        return zeta_host_fail(&self->host,
                              result == ZETA_VGPU_OUT_OF_MEMORY ? ZETA_PLUGIN_OUT_OF_HOST_MEMORY
                                                                : ZETA_PLUGIN_INVALID_ARGUMENT,
                              "%s", message.text);
    }
    physical->kind = share->kind;
    physical->offset = share->offset_bytes;
    physical->size_bytes = share->size_bytes;
    *out_physical = physical;
    return ZETA_PLUGIN_SUCCESS;
}
