/* Memory of devices, of the host, shared by both, and of the application. */
#include "compute.h"

#include <search.h>
#include <stdio.h>
#include <stdlib.h>

/* What the driver aligns its memory to, at least. */
#define DRIVER_ALIGN_BYTES 256u

enum { KIND_ADOPTED = 0 }; /* beside ZETA_PLUGIN_MEMORY_* */

/* An allocation, or memory of the application that kernels can use. */
struct nvidia_allocation {
    uintptr_t address; /* as the application knows it */
    uintptr_t base;    /* as the driver does */
    uint32_t kind;
    struct zeta_plugin_device *device; /* NULL: of none */
};

static int compare(const void *left, const void *right)
{
    const struct nvidia_allocation *a = left, *b = right;

    return (a->address > b->address) - (a->address < b->address);
}

static int give_back(const struct nvidia_driver *driver, const struct nvidia_allocation *allocation)
{
    switch (allocation->kind) {
    case ZETA_PLUGIN_MEMORY_HOST:
        return driver->cuMemFreeHost((void *)allocation->base);
    case KIND_ADOPTED:
        return driver->cuMemHostUnregister((void *)allocation->base);
    default:
        return driver->cuMemFree_v2(allocation->base);
    }
}

/* Makes an allocation known; without memory for that it is given back. A context is current. */
static uint32_t enter(struct zeta_plugin *self, struct nvidia_allocation *allocation)
{
    struct nvidia_compute *compute = self->nvidia->compute;
    const void *node;

    (void)pthread_mutex_lock(&compute->lock);
    node = tsearch(allocation, &compute->allocations, compare);
    (void)pthread_mutex_unlock(&compute->lock);
    if (node)
        return ZETA_PLUGIN_SUCCESS;
    (void)give_back(&self->nvidia->driver, allocation);
    return ZETA_PLUGIN_OUT_OF_HOST_MEMORY;
}

/* Managed memory beyond what is free would make the driver swap it with the host's for ever. */
static bool fits(struct zeta_plugin *self, struct zeta_plugin_device *device, uint64_t bytes)
{
    uint64_t unused = 0;

    return nvidia_memory_unused(self, device, &unused) != ZETA_PLUGIN_SUCCESS || bytes <= unused;
}

static void describe(char text[100], const struct nvidia_allocation *allocation, uint64_t bytes)
{
    static const char *const kinds[] = {[ZETA_PLUGIN_MEMORY_HOST] = "of the host",
                                        [ZETA_PLUGIN_MEMORY_DEVICE] = "of the device",
                                        [ZETA_PLUGIN_MEMORY_SHARED] = "shared with the host"};

    (void)snprintf(text, 100, "an allocation of %llu bytes %s", (unsigned long long)bytes,
                   kinds[allocation->kind]);
}

uint32_t nvidia_memory_allocate(struct zeta_plugin *self, struct zeta_plugin_device *device,
                                const struct zeta_plugin_memory_desc *desc, void **out_address)
{
    const struct nvidia_driver *driver = &self->nvidia->driver;
    const uint64_t align = desc->align_bytes > DRIVER_ALIGN_BYTES ? desc->align_bytes : 1;
    const uint64_t bytes = desc->size_bytes + align - 1;
    struct nvidia_allocation *allocation = calloc(1, sizeof(*allocation));
    struct nvidia_entered entered;
    uint32_t result;
    uint64_t address = 0;
    void *host = NULL;
    int cuda;
    char what[100];

    if (!allocation)
        return ZETA_PLUGIN_OUT_OF_HOST_MEMORY;
    /* What is shared but belongs to no device is memory of the host, which all of them reach. */
    allocation->kind = device ? desc->kind : ZETA_PLUGIN_MEMORY_HOST;
    allocation->device = device;
    result = device ? nvidia_enter(self, device, &entered) : nvidia_enter_any(self, &entered);
    if (result != ZETA_PLUGIN_SUCCESS)
        goto no_context;
    describe(what, allocation, desc->size_bytes);
    if (bytes < desc->size_bytes) {
        cuda = NVIDIA_CUDA_OUT_OF_MEMORY;
    } else if (allocation->kind == ZETA_PLUGIN_MEMORY_HOST) {
        cuda = driver->cuMemHostAlloc(&host, (size_t)bytes, 1 | 2); /* portable, mapped */
        address = (uintptr_t)host;
    } else if (allocation->kind == ZETA_PLUGIN_MEMORY_SHARED) {
        cuda = fits(self, device, bytes) ? driver->cuMemAllocManaged(&address, (size_t)bytes, 1)
                                         : NVIDIA_CUDA_OUT_OF_MEMORY;
    } else {
        cuda = driver->cuMemAlloc_v2(&address, (size_t)bytes);
    }
    allocation->base = (uintptr_t)address;
    allocation->address = (uintptr_t)((address + align - 1) / align * align);
    if (cuda == NVIDIA_CUDA_SUCCESS)
        result = enter(self, allocation);
    nvidia_leave(self, &entered);
    if (cuda != NVIDIA_CUDA_SUCCESS) {
        result = nvidia_fail(self, device, cuda, what);
        if (result == ZETA_PLUGIN_OUT_OF_DEVICE_MEMORY &&
            allocation->kind == ZETA_PLUGIN_MEMORY_HOST)
            result = ZETA_PLUGIN_OUT_OF_HOST_MEMORY;
        goto no_context;
    }
    if (result != ZETA_PLUGIN_SUCCESS)
        goto no_context;
    *out_address = (void *)allocation->address;
    return ZETA_PLUGIN_SUCCESS;

no_context:
    free(allocation);
    return result;
}

uint32_t nvidia_memory_free(struct zeta_plugin *self, void *address)
{
    struct nvidia_compute *compute = self->nvidia->compute;
    const struct nvidia_allocation key = {.address = (uintptr_t)address};
    struct nvidia_allocation *const *node, *allocation;
    struct nvidia_entered entered;
    uint32_t result;
    int cuda;

    (void)pthread_mutex_lock(&compute->lock);
    node = tfind(&key, &compute->allocations, compare);
    allocation = node ? *node : NULL;
    if (allocation)
        (void)tdelete(&key, &compute->allocations, compare);
    (void)pthread_mutex_unlock(&compute->lock);
    if (!allocation)
        return zeta_host_fail(&self->host, ZETA_PLUGIN_INVALID_ARGUMENT,
                              "%p is not the begin of an allocation", address);
    result = allocation->device ? nvidia_enter(self, allocation->device, &entered)
                                : nvidia_enter_any(self, &entered);
    /* The memory of a device that is lost goes when the process ends. */
    if (result == ZETA_PLUGIN_SUCCESS) {
        cuda = give_back(&self->nvidia->driver, allocation);
        nvidia_leave(self, &entered);
        if (cuda != NVIDIA_CUDA_SUCCESS)
            result = nvidia_fail(self, allocation->device, cuda, "freeing memory");
    }
    free(allocation);
    return result == ZETA_PLUGIN_DEVICE_LOST ? ZETA_PLUGIN_SUCCESS : result;
}

uint32_t nvidia_memory_adopt(struct zeta_plugin *self, void *address, uint64_t size_bytes,
                             uint32_t access)
{
    struct nvidia_allocation *allocation = calloc(1, sizeof(*allocation));
    struct nvidia_entered entered;
    uint32_t result;
    char what[100];
    int cuda;

    if (!allocation)
        return ZETA_PLUGIN_OUT_OF_HOST_MEMORY;
    *allocation = (struct nvidia_allocation){
        .address = (uintptr_t)address, .base = (uintptr_t)address, .kind = KIND_ADOPTED};
    result = nvidia_enter_any(self, &entered);
    if (result != ZETA_PLUGIN_SUCCESS)
        goto fail;
    /* Portable, mapped, and read only. */
    cuda = self->nvidia->driver.cuMemHostRegister_v2(
        address, (size_t)size_bytes, 1 | 2 | (access == ZETA_PLUGIN_ACCESS_READ ? 8 : 0));
    if (cuda == NVIDIA_CUDA_SUCCESS)
        result = enter(self, allocation);
    nvidia_leave(self, &entered);
    if (cuda != NVIDIA_CUDA_SUCCESS) {
        (void)snprintf(what, sizeof(what), "pinning %llu bytes of the application at %p",
                       (unsigned long long)size_bytes, address);
        result = nvidia_fail(self, NULL, cuda, what);
        goto fail;
    }
    if (result == ZETA_PLUGIN_SUCCESS)
        return ZETA_PLUGIN_SUCCESS;

fail:
    free(allocation);
    return result;
}

uint32_t nvidia_memory_unused(struct zeta_plugin *self, struct zeta_plugin_device *device,
                              uint64_t *out_bytes)
{
    struct nvidia_entered entered;
    uint32_t result = nvidia_enter(self, device, &entered);
    size_t unused = 0, total = 0;
    int cuda;

    if (result != ZETA_PLUGIN_SUCCESS)
        return result;
    cuda = self->nvidia->driver.cuMemGetInfo_v2(&unused, &total);
    nvidia_leave(self, &entered);
    if (cuda != NVIDIA_CUDA_SUCCESS)
        return nvidia_fail(self, device, cuda, "asking for free memory");
    *out_bytes = unused;
    return ZETA_PLUGIN_SUCCESS;
}

void nvidia_memory_finish(struct nvidia_compute *compute)
{
    tdestroy(compute->allocations, free);
    compute->allocations = NULL;
}
