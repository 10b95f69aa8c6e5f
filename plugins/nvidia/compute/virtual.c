/*
 * Virtual memory. The driver maps and unmaps a physical allocation as a whole, Level Zero any pages
 * of it: so each page is an allocation of the driver.
 */
#include "compute.h"

#include <stdio.h>
#include <stdlib.h>

struct zeta_plugin_physical {
    struct zeta_plugin_device *device;
    uint64_t page_bytes;
    size_t count;
    uint64_t pages[]; /* handles of the driver */
};

/* CUmemAllocationProp: memory of a device, pinned. */
struct properties {
    int32_t type, handle_types;
    int32_t location_type, location_id;
    void *windows;
    uint8_t flags[8];
};

/* CUmemAccessDesc. */
struct access {
    int32_t location_type, location_id;
    int32_t flags; /* 0 none, 1 read, 3 read and write */
};

enum { TYPE_PINNED = 1, LOCATION_DEVICE = 1 };

static struct properties properties_of(const struct zeta_plugin_device *device)
{
    return (struct properties){
        .type = TYPE_PINNED, .location_type = LOCATION_DEVICE, .location_id = device->cuda};
}

uint64_t nvidia_virtual_page(struct zeta_plugin *self, struct zeta_plugin_device *device,
                             uint64_t size_bytes)
{
    const struct nvidia_driver *driver = &self->nvidia->driver;
    struct properties properties;
    struct nvidia_entered entered;
    size_t bytes = 0;

    (void)size_bytes;
    if (nvidia_enter(self, device, &entered) != ZETA_PLUGIN_SUCCESS)
        return 0;
    properties = properties_of(device);
    if (driver->cuMemGetAllocationGranularity(&bytes, &properties, 0) != NVIDIA_CUDA_SUCCESS)
        bytes = 0;
    nvidia_leave(self, &entered);
    return bytes;
}

uint32_t nvidia_virtual_reserve(struct zeta_plugin *self, void *wanted, uint64_t size_bytes,
                                void **out_address)
{
    struct nvidia_entered entered;
    uint32_t result = nvidia_enter_any(self, &entered);
    uint64_t address = 0;
    char what[100];
    int cuda;

    if (result != ZETA_PLUGIN_SUCCESS)
        return result;
    cuda = self->nvidia->driver.cuMemAddressReserve(&address, (size_t)size_bytes, 0,
                                                    (uintptr_t)wanted, 0);
    nvidia_leave(self, &entered);
    if (cuda != NVIDIA_CUDA_SUCCESS) {
        (void)snprintf(what, sizeof(what), "reserving %llu bytes of addresses",
                       (unsigned long long)size_bytes);
        result = nvidia_fail(self, NULL, cuda, what);
        return result == ZETA_PLUGIN_OUT_OF_DEVICE_MEMORY ? ZETA_PLUGIN_OUT_OF_HOST_MEMORY : result;
    }
    *out_address = (void *)(uintptr_t)address;
    return ZETA_PLUGIN_SUCCESS;
}

uint32_t nvidia_virtual_free(struct zeta_plugin *self, void *address, uint64_t size_bytes)
{
    struct nvidia_entered entered;
    uint32_t result = nvidia_enter_any(self, &entered);
    int cuda;

    if (result != ZETA_PLUGIN_SUCCESS)
        return result;
    cuda = self->nvidia->driver.cuMemAddressFree((uintptr_t)address, (size_t)size_bytes);
    nvidia_leave(self, &entered);
    return cuda == NVIDIA_CUDA_SUCCESS ? ZETA_PLUGIN_SUCCESS
                                       : nvidia_fail(self, NULL, cuda, "giving addresses back");
}

/* The context is current. */
static void release_pages(struct zeta_plugin *self, struct zeta_plugin_physical *physical)
{
    while (physical->count > 0)
        (void)self->nvidia->driver.cuMemRelease(physical->pages[--physical->count]);
}

uint32_t nvidia_physical_create(struct zeta_plugin *self, struct zeta_plugin_device *device,
                                uint32_t kind, uint64_t size_bytes,
                                struct zeta_plugin_physical **out_physical)
{
    const uint64_t page =
        kind == ZETA_PLUGIN_MEMORY_DEVICE ? nvidia_virtual_page(self, device, size_bytes) : 0;
    struct zeta_plugin_physical *physical;
    struct properties properties;
    struct nvidia_entered entered;
    uint32_t result;
    char what[100];
    int cuda = NVIDIA_CUDA_SUCCESS;

    if (page == 0)
        return zeta_host_fail(&self->host, ZETA_PLUGIN_UNSUPPORTED_FEATURE,
                              "physical memory of the host is not offered on NVIDIA's devices; map "
                              "memory of the device, or allocate memory of the host");
    physical = calloc(1, sizeof(*physical) + (size_t)(size_bytes / page) * sizeof(uint64_t));
    if (!physical)
        return ZETA_PLUGIN_OUT_OF_HOST_MEMORY;
    physical->device = device;
    physical->page_bytes = page;
    result = nvidia_enter(self, device, &entered);
    if (result != ZETA_PLUGIN_SUCCESS) {
        free(physical);
        return result;
    }
    properties = properties_of(device);
    while (cuda == NVIDIA_CUDA_SUCCESS && physical->count < size_bytes / page) {
        cuda = self->nvidia->driver.cuMemCreate(&physical->pages[physical->count], (size_t)page,
                                                &properties, 0);
        physical->count += cuda == NVIDIA_CUDA_SUCCESS;
    }
    if (cuda != NVIDIA_CUDA_SUCCESS) {
        release_pages(self, physical);
        free(physical);
        (void)snprintf(what, sizeof(what), "making %llu bytes of physical memory",
                       (unsigned long long)size_bytes);
        result = nvidia_fail(self, device, cuda, what);
    } else {
        *out_physical = physical;
    }
    nvidia_leave(self, &entered);
    return result;
}

void nvidia_physical_destroy(struct zeta_plugin *self, struct zeta_plugin_physical *physical)
{
    struct nvidia_entered entered;

    if (nvidia_enter(self, physical->device, &entered) == ZETA_PLUGIN_SUCCESS) {
        release_pages(self, physical);
        nvidia_leave(self, &entered);
    }
    free(physical);
}

/* The context of the device is current. */
static int set_access(struct zeta_plugin *self, const struct zeta_plugin_device *device,
                      void *address, uint64_t size_bytes, uint32_t access)
{
    static const int32_t flags[] = {[ZETA_PLUGIN_ACCESS_NONE] = 0,
                                    [ZETA_PLUGIN_ACCESS_READ_WRITE] = 3,
                                    [ZETA_PLUGIN_ACCESS_READ] = 1};
    const struct access desc = {
        .location_type = LOCATION_DEVICE, .location_id = device->cuda, .flags = flags[access]};

    return self->nvidia->driver.cuMemSetAccess((uintptr_t)address, (size_t)size_bytes, &desc, 1);
}

uint32_t nvidia_virtual_unmap(struct zeta_plugin *self, void *address, uint64_t size_bytes)
{
    const uint64_t page = nvidia_virtual_page(self, &self->nvidia->devices[0], size_bytes);
    struct nvidia_entered entered;
    uint32_t result = nvidia_enter_any(self, &entered);

    if (result != ZETA_PLUGIN_SUCCESS)
        return result;
    /* Pages without a mapping are no failure. */
    for (uint64_t done = 0; page > 0 && done < size_bytes; done += page)
        (void)self->nvidia->driver.cuMemUnmap((uintptr_t)address + done, (size_t)page);
    nvidia_leave(self, &entered);
    return ZETA_PLUGIN_SUCCESS;
}

uint32_t nvidia_virtual_map(struct zeta_plugin *self, void *address, uint64_t size_bytes,
                            struct zeta_plugin_physical *physical, uint64_t offset_bytes,
                            uint32_t access)
{
    const uint64_t page = physical->page_bytes;
    struct zeta_plugin_device *device = physical->device;
    struct nvidia_entered entered;
    uint32_t result = nvidia_enter(self, device, &entered);
    uint64_t done = 0;
    int cuda = NVIDIA_CUDA_SUCCESS;

    if (result != ZETA_PLUGIN_SUCCESS)
        return result;
    for (; cuda == NVIDIA_CUDA_SUCCESS && done < size_bytes; done += page)
        cuda = self->nvidia->driver.cuMemMap((uintptr_t)address + done, (size_t)page, 0,
                                             physical->pages[(offset_bytes + done) / page], 0);
    if (cuda == NVIDIA_CUDA_SUCCESS && access != ZETA_PLUGIN_ACCESS_NONE)
        cuda = set_access(self, device, address, size_bytes, access);
    if (cuda != NVIDIA_CUDA_SUCCESS)
        result = nvidia_fail(self, device, cuda, "mapping memory");
    nvidia_leave(self, &entered);
    if (result != ZETA_PLUGIN_SUCCESS)
        (void)nvidia_virtual_unmap(self, address, done);
    return result;
}

/* Whose memory is mapped there. */
static struct zeta_plugin_device *owner(struct zeta_plugin *self, const void *address)
{
    enum { DEVICE_ORDINAL = 9 };
    struct nvidia *nvidia = self->nvidia;
    int ordinal = -1;

    if (nvidia->driver.cuPointerGetAttribute(&ordinal, DEVICE_ORDINAL, (uintptr_t)address) !=
        NVIDIA_CUDA_SUCCESS)
        return NULL;
    for (uint32_t i = 0; i < nvidia->device_count; i++) {
        if (nvidia->devices[i].ordinal == ordinal)
            return &nvidia->devices[i];
    }
    return NULL;
}

uint32_t nvidia_virtual_access(struct zeta_plugin *self, void *address, uint64_t size_bytes,
                               uint32_t access)
{
    const struct zeta_plugin_device *device;
    struct nvidia_entered entered;
    uint32_t result = nvidia_enter_any(self, &entered);
    int cuda;

    if (result != ZETA_PLUGIN_SUCCESS)
        return result;
    device = owner(self, address);
    cuda = device ? set_access(self, device, address, size_bytes, access) : 1;
    nvidia_leave(self, &entered);
    return cuda == NVIDIA_CUDA_SUCCESS
               ? ZETA_PLUGIN_SUCCESS
               : nvidia_fail(self, NULL, cuda, "changing the access to mapped memory");
}
