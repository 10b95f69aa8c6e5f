#include "core/device/memory.h"

#include <pthread.h>
#include <search.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/command/queue.h"
#include "core/device/device.h"
#include "core/plugin/host.h"
#include "core/util/cleanup.h"
#include "core/util/error.h"
#include "zeta_impl.h"

struct zeta_memory_table {
    pthread_mutex_t lock;
    void *tree; /* of struct zeta_allocation, for tsearch */
};

static _Atomic uint64_t last_id;

/* Ranges that overlap count as equal, so a one-byte range finds the allocation around it. */
static int compare_ranges(const void *left, const void *right)
{
    const struct zeta_allocation *a = left;
    const struct zeta_allocation *b = right;
    uintptr_t a_base = (uintptr_t)a->base;
    uintptr_t b_base = (uintptr_t)b->base;

    if (a_base + a->size_bytes <= b_base)
        return -1;
    if (b_base + b->size_bytes <= a_base)
        return 1;
    return 0;
}

struct zeta_memory_table *zeta_memory_table_create(void)
{
    struct zeta_memory_table *table = calloc(1, sizeof(*table));

    if (table)
        (void)pthread_mutex_init(&table->lock, NULL);
    return table;
}

static uint32_t release(struct zeta_allocation *allocation)
{
    struct zeta_backend *backend = allocation->backend;
    uint32_t result = backend->compute.memory_free(backend->self, allocation->base);

    free(allocation);
    return result;
}

void zeta_memory_table_destroy(struct zeta_memory_table *table)
{
    if (!table)
        return;
    while (table->tree) {
        struct zeta_allocation *first = *(struct zeta_allocation **)table->tree;

        (void)tdelete(first, &table->tree, compare_ranges);
        (void)release(first);
    }
    (void)pthread_mutex_destroy(&table->lock);
    free(table);
}

static struct zeta_allocation *find_locked(struct zeta_memory_table *table, const void *address)
{
    struct zeta_allocation key = {.base = (void *)(uintptr_t)address, .size_bytes = 1};
    void *node = tfind(&key, &table->tree, compare_ranges);

    return node ? *(struct zeta_allocation **)node : NULL;
}

bool zeta_memory_find(struct zeta_memory_table *table, const void *address,
                      struct zeta_allocation *out_allocation)
{
    (void)pthread_mutex_lock(&table->lock);
    const struct zeta_allocation *found = find_locked(table, address);
    if (found)
        *out_allocation = *found;
    (void)pthread_mutex_unlock(&table->lock);
    return found != NULL;
}

static bool insert(struct zeta_memory_table *table, struct zeta_allocation *allocation)
{
    (void)pthread_mutex_lock(&table->lock);
    struct zeta_allocation *const *node = tsearch(allocation, &table->tree, compare_ranges);
    bool inserted = node && *node == allocation;
    (void)pthread_mutex_unlock(&table->lock);
    return inserted;
}

/* The device whose limits count: the given one, else the first of the context. */
static struct zeta_device *limiting_device(const struct zeta_context *context,
                                           struct zeta_device *device)
{
    if (device)
        return device;
    if (context->device_count > 0)
        return context->devices[0];
    return context->driver->device_count > 0 ? context->driver->devices[0] : NULL;
}

static ze_result_t check_request(const struct zeta_context *context, struct zeta_device *device,
                                 uint32_t ordinal, size_t size, size_t alignment)
{
    const struct zeta_device *limits = limiting_device(context, device);

    if (!context->driver->compute || !limits)
        return zeta_error(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
                          "no plugin computes on the devices of driver %s, so it has no memory to "
                          "allocate",
                          context->driver->name);
    const struct zeta_plugin_device_properties *p = &limits->backend->properties;
    if (alignment & (alignment - 1))
        return zeta_error(ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT, "alignment %zu is no power of two",
                          alignment);
    if (size > p->max_allocation_bytes)
        return zeta_error(ZE_RESULT_ERROR_UNSUPPORTED_SIZE,
                          "%zu bytes are more than the %llu that %s allocates at most", size,
                          (unsigned long long)p->max_allocation_bytes, limits->name);
    if (device && ordinal >= p->memories.count)
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "memory ordinal %u: %s has %llu memories", ordinal, device->name,
                          (unsigned long long)p->memories.count);
    return device ? zeta_context_check_device(context, device) : ZE_RESULT_SUCCESS;
}

static ze_result_t allocate(struct zeta_context *context, struct zeta_device *device,
                            ze_memory_type_t type, uint32_t ordinal, size_t size, size_t alignment,
                            void **out_address)
{
    struct zeta_backend *backend = context->driver->compute;
    struct zeta_plugin_memory_desc desc = {.struct_size = sizeof(desc),
                                           .kind = (uint32_t)type,
                                           .ordinal = ordinal,
                                           .size_bytes = size,
                                           .align_bytes = alignment};
    ze_result_t result = check_request(context, device, ordinal, size, alignment);
    struct zeta_plugin_device *target = NULL;
    void *address = NULL;

    if (result != ZE_RESULT_SUCCESS)
        return result;
    ZETA_CLEANUP(zeta_freep) struct zeta_allocation *allocation = calloc(1, sizeof(*allocation));
    if (!allocation)
        return zeta_error(ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, "no memory to note an allocation");
    if (device)
        target = device->backend->providers[ZETA_GROUP_COMPUTE].device;
    uint32_t code = backend->compute.memory_allocate(backend->self, target, &desc, &address);
    if (code != ZETA_PLUGIN_SUCCESS)
        return zeta_backend_result(backend, code, "allocating memory");

    *allocation = (struct zeta_allocation){.base = address,
                                           .size_bytes = size,
                                           .type = type,
                                           .id = atomic_fetch_add(&last_id, 1) + 1,
                                           .device = device,
                                           .backend = backend};
    if (!insert(context->memory, allocation)) {
        (void)backend->compute.memory_free(backend->self, address);
        return zeta_error(ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, "no memory to note an allocation");
    }
    (void)ZETA_TAKE(allocation);
    *out_address = address;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL impl_zeMemAllocDevice(ze_context_handle_t hContext,
                                             const ze_device_mem_alloc_desc_t *device_desc,
                                             size_t size, size_t alignment,
                                             ze_device_handle_t hDevice, void **pptr)
{
    return allocate((struct zeta_context *)hContext, (struct zeta_device *)hDevice,
                    ZE_MEMORY_TYPE_DEVICE, device_desc->ordinal, size, alignment, pptr);
}

ze_result_t ZE_APICALL impl_zeMemAllocHost(ze_context_handle_t hContext,
                                           const ze_host_mem_alloc_desc_t *host_desc ZETA_UNUSED,
                                           size_t size, size_t alignment, void **pptr)
{
    return allocate((struct zeta_context *)hContext, NULL, ZE_MEMORY_TYPE_HOST, 0, size, alignment,
                    pptr);
}

ze_result_t ZE_APICALL impl_zeMemAllocShared(ze_context_handle_t hContext,
                                             const ze_device_mem_alloc_desc_t *device_desc,
                                             const ze_host_mem_alloc_desc_t *host_desc ZETA_UNUSED,
                                             size_t size, size_t alignment,
                                             ze_device_handle_t hDevice, void **pptr)
{
    return allocate((struct zeta_context *)hContext, (struct zeta_device *)hDevice,
                    ZE_MEMORY_TYPE_SHARED, device_desc->ordinal, size, alignment, pptr);
}

ze_result_t ZE_APICALL impl_zeMemFree(ze_context_handle_t hContext, void *ptr)
{
    struct zeta_memory_table *table = ((struct zeta_context *)hContext)->memory;

    (void)pthread_mutex_lock(&table->lock);
    struct zeta_allocation *found = find_locked(table, ptr);
    if (found && found->base == ptr)
        (void)tdelete(found, &table->tree, compare_ranges);
    (void)pthread_mutex_unlock(&table->lock);

    if (!found)
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "%p is not an allocation of this context", ptr);
    if (found->base != ptr)
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "%p points into an allocation; only its start can be freed", ptr);
    struct zeta_backend *backend = found->backend;
    return zeta_backend_result(backend, release(found), "freeing memory");
}

ze_result_t ZE_APICALL impl_zeMemFreeExt(ze_context_handle_t hContext,
                                         const ze_memory_free_ext_desc_t *pMemFreeDesc, void *ptr)
{
    struct zeta_context *context = (struct zeta_context *)hContext;

    if (pMemFreeDesc->freePolicy == ZE_DRIVER_MEMORY_FREE_POLICY_EXT_FLAG_BLOCKING_FREE) {
        struct zeta_allocation found;

        /* A kernel may reach memory by any path, so all work of the context has to end. A device
         * that is lost will not touch it any more. */
        if (zeta_memory_find(context->memory, ptr, &found))
            (void)zeta_queues_drain(context, NULL);
    } else if (pMemFreeDesc->freePolicy != 0) {
        return zeta_error(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
                          "free policy 0x%x: only immediate and blocking free are supported",
                          pMemFreeDesc->freePolicy);
    }
    return impl_zeMemFree(hContext, ptr);
}

ze_result_t ZE_APICALL impl_zeMemGetAllocProperties(
    ze_context_handle_t hContext, const void *ptr,
    ze_memory_allocation_properties_t *pMemAllocProperties, ze_device_handle_t *phDevice)
{
    struct zeta_allocation found = {.type = ZE_MEMORY_TYPE_UNKNOWN};
    bool known = zeta_memory_find(((struct zeta_context *)hContext)->memory, ptr, &found);

    pMemAllocProperties->type = found.type;
    pMemAllocProperties->id = found.id;
    pMemAllocProperties->pageSize = known ? (uint64_t)sysconf(_SC_PAGESIZE) : 0;
    if (phDevice)
        *phDevice = (ze_device_handle_t)found.device;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL impl_zeMemGetAddressRange(ze_context_handle_t hContext, const void *ptr,
                                                 void **pBase, size_t *pSize)
{
    struct zeta_allocation found;

    if (!zeta_memory_find(((struct zeta_context *)hContext)->memory, ptr, &found))
        return zeta_error(ZE_RESULT_ERROR_ADDRESS_NOT_FOUND,
                          "%p is not inside an allocation of this context", ptr);
    if (pBase)
        *pBase = found.base;
    if (pSize)
        *pSize = found.size_bytes;
    return ZE_RESULT_SUCCESS;
}
