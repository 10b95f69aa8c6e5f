/* zeMemAlloc..., zeMemFree...: making and ending allocations. */
#include "core/memory/memory.h"

#include <stdlib.h>

#include "core/device/device.h"
#include "core/memory/memory_request.h"
#include "core/plugin/host.h"
#include "core/settings/settings.h"
#include "core/util/cleanup.h"
#include "core/util/error.h"
#include "zeta_impl.h"

#define CACHE_LINE 64u

/* What is to be allocated. */
struct wanted {
    struct zeta_context *context;
    struct zeta_device *device; /* NULL: none in particular */
    ze_memory_type_t type;
    uint32_t ordinal;
    size_t size;
    size_t alignment;
    struct zeta_memory_request request;
};

struct zeta_device *zeta_memory_device(const struct zeta_context *context,
                                       struct zeta_device *device)
{
    if (device)
        return device;
    if (context->device_count > 0)
        return context->devices[0];
    return context->driver->device_count > 0 ? context->driver->devices[0] : NULL;
}

static ze_result_t check_alignment(const struct wanted *wanted)
{
    if (wanted->alignment & (wanted->alignment - 1))
        return zeta_error(ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT, "alignment %zu is no power of two",
                          wanted->alignment);
    return ZE_RESULT_SUCCESS;
}

/* Without compute there is memory of the host alone, where queues put time stamps. */
static ze_result_t check_host_only(const struct wanted *wanted)
{
    const struct zeta_driver *driver = wanted->context->driver;
    const struct zeta_memory_request *request = &wanted->request;

    if (driver->queue_backend_count == 0)
        return zeta_error(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
                          "no plugin computes on the devices of driver %s, so it has no memory to "
                          "allocate",
                          driver->name);
    if (wanted->type != ZE_MEMORY_TYPE_HOST || request->has_import || request->system_memory ||
        request->export_types)
        return zeta_error(
            ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
            "no plugin computes on the devices of driver %s, so it only has memory of "
            "the host and of this process (zeMemAllocHost), for time stamps",
            driver->name);
    return check_alignment(wanted);
}

static ze_result_t check(const struct wanted *wanted)
{
    const struct zeta_context *context = wanted->context;
    const struct zeta_device *limits = zeta_memory_device(context, wanted->device);

    if (!context->driver->compute || !limits)
        return check_host_only(wanted);
    const struct zeta_plugin_device_properties *p = &limits->backend->properties;
    ze_result_t result = check_alignment(wanted);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (wanted->size > p->max_allocation_bytes && !wanted->request.relaxed)
        return zeta_error(ZE_RESULT_ERROR_UNSUPPORTED_SIZE,
                          "%zu bytes are more than the %llu that %s allocates at most",
                          wanted->size, (unsigned long long)p->max_allocation_bytes, limits->name);
    if (wanted->device && wanted->ordinal >= p->memories.count)
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "memory ordinal %u: %s has %llu memories", wanted->ordinal,
                          wanted->device->name, (unsigned long long)p->memories.count);
    if (wanted->request.has_import && wanted->request.system_memory)
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "an allocation is either imported or memory of the application");
    return wanted->device ? zeta_context_check_device(context, wanted->device) : ZE_RESULT_SUCCESS;
}

static struct zeta_plugin_device *backend_device(const struct zeta_device *device)
{
    return device ? device->backend->providers[ZETA_GROUP_COMPUTE].device : NULL;
}

/* Memory that another process, or this one, exported. */
static ze_result_t import(const struct wanted *wanted, struct zeta_allocation *allocation)
{
    const struct zeta_backend *backend = wanted->context->driver->compute;
    struct zeta_plugin_share share = {.struct_size = sizeof(share),
                                      .descriptor = wanted->request.import_fd};
    uint32_t code = backend->compute.memory_import(backend->self, backend_device(wanted->device),
                                                   &share, &allocation->base);

    if (code != ZETA_PLUGIN_SUCCESS)
        return zeta_backend_result(backend, code, "importing memory");
    allocation->origin = ZETA_MEMORY_IMPORTED;
    if (wanted->size <= share.size_bytes)
        return ZE_RESULT_SUCCESS;
    (void)backend->compute.memory_free(backend->self, allocation->base);
    return zeta_error(ZE_RESULT_ERROR_UNSUPPORTED_SIZE,
                      "descriptor %d is memory of %llu bytes, fewer than the %zu asked for",
                      wanted->request.import_fd, (unsigned long long)share.size_bytes,
                      wanted->size);
}

/* Memory that the application got elsewhere. */
static ze_result_t adopt(const struct wanted *wanted, struct zeta_allocation *allocation)
{
    const struct zeta_backend *backend = wanted->context->driver->compute;
    const struct zeta_memory_request *request = &wanted->request;
    uint32_t access = request->read_only ? ZETA_PLUGIN_ACCESS_READ : ZETA_PLUGIN_ACCESS_READ_WRITE;

    if (request->system_size_bytes != wanted->size)
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "size is %zu, but the system memory to map has %llu bytes", wanted->size,
                          (unsigned long long)request->system_size_bytes);
    uint32_t code =
        backend->compute.memory_adopt(backend->self, request->system_memory, wanted->size, access);
    allocation->base = request->system_memory;
    allocation->origin = ZETA_MEMORY_ADOPTED;
    allocation->type = ZE_MEMORY_TYPE_HOST_IMPORTED;
    return zeta_backend_result(backend, code, "mapping memory of the application");
}

/* Where new memory lies. Shared memory of no device in particular can be forced onto one. */
static struct zeta_plugin_device *place_of(const struct wanted *wanted)
{
    if (wanted->type == ZE_MEMORY_TYPE_SHARED && !wanted->device &&
        zeta_settings_switch("ZE_SHARED_FORCE_DEVICE_ALLOC"))
        return backend_device(zeta_memory_device(wanted->context, NULL));
    return backend_device(wanted->device);
}

/* Memory of ours, for queues of devices that nobody computes on. */
static ze_result_t allocate_host(const struct wanted *wanted, struct zeta_allocation *allocation)
{
    size_t alignment = wanted->alignment < CACHE_LINE ? CACHE_LINE : wanted->alignment;

    if (posix_memalign(&allocation->base, alignment, wanted->size) == 0)
        return ZE_RESULT_SUCCESS;
    return zeta_error(ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY,
                      "the host has no %zu bytes, aligned to %zu", wanted->size, alignment);
}

static ze_result_t allocate_new(const struct wanted *wanted, struct zeta_allocation *allocation)
{
    const struct zeta_backend *backend = wanted->context->driver->compute;
    struct zeta_plugin_memory_desc desc = {.struct_size = sizeof(desc),
                                           .kind = (uint32_t)wanted->type,
                                           .ordinal = wanted->ordinal,
                                           .size_bytes = wanted->size,
                                           .align_bytes = wanted->alignment,
                                           .access = wanted->request.read_only
                                                         ? ZETA_PLUGIN_ACCESS_READ
                                                         : ZETA_PLUGIN_ACCESS_READ_WRITE};

    return zeta_backend_result(
        backend,
        backend->compute.memory_allocate(backend->self, place_of(wanted), &desc, &allocation->base),
        "allocating memory");
}

static ze_result_t get_bytes(const struct wanted *wanted, struct zeta_allocation *allocation)
{
    if (wanted->request.has_import)
        return import(wanted, allocation);
    if (wanted->request.system_memory)
        return adopt(wanted, allocation);
    return allocation->backend ? allocate_new(wanted, allocation)
                               : allocate_host(wanted, allocation);
}

static ze_result_t allocate(const struct wanted *wanted, void **out_address)
{
    struct zeta_memory_table *table = wanted->context->memory;
    struct zeta_backend *backend = wanted->context->driver->compute;
    ze_result_t result = check(wanted);

    if (result != ZE_RESULT_SUCCESS)
        return result;
    ZETA_CLEANUP(zeta_freep) struct zeta_allocation *allocation = calloc(1, sizeof(*allocation));
    if (!allocation)
        return zeta_error(ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, "no memory to note an allocation");
    allocation->size_bytes = wanted->size;
    allocation->type = wanted->type;
    allocation->device = wanted->device;
    allocation->backend = backend;
    allocation->export_types = wanted->request.export_types;

    zeta_memory_defer(table, NULL);
    result = get_bytes(wanted, allocation);
    if (zeta_memory_is_short(wanted->context, result))
        result = get_bytes(wanted, allocation);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    void *base = allocation->base;
    if (!zeta_memory_insert(table, allocation)) {
        (void)zeta_memory_give_back(backend, base);
        return zeta_error(ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, "no memory to note an allocation");
    }
    (void)ZETA_TAKE(allocation);
    *out_address = base;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL impl_zeMemAllocDevice(ze_context_handle_t hContext,
                                             const ze_device_mem_alloc_desc_t *device_desc,
                                             size_t size, size_t alignment,
                                             ze_device_handle_t hDevice, void **pptr)
{
    struct wanted wanted = {.context = (struct zeta_context *)hContext,
                            .device = (struct zeta_device *)hDevice,
                            .type = ZE_MEMORY_TYPE_DEVICE,
                            .ordinal = device_desc->ordinal,
                            .size = size,
                            .alignment = alignment};
    ze_result_t result = zeta_memory_request_read(device_desc->pNext, &wanted.request);

    if (result == ZE_RESULT_SUCCESS && wanted.request.system_memory)
        result = zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                            "system memory is mapped with zeMemAllocHost, not as device memory");
    return result == ZE_RESULT_SUCCESS ? allocate(&wanted, pptr) : result;
}

ze_result_t ZE_APICALL impl_zeMemAllocHost(ze_context_handle_t hContext,
                                           const ze_host_mem_alloc_desc_t *host_desc, size_t size,
                                           size_t alignment, void **pptr)
{
    const ze_host_mem_alloc_flags_t both =
        ZE_HOST_MEM_ALLOC_FLAG_MEM_READ_ONLY | ZE_HOST_MEM_ALLOC_FLAG_BIAS_WRITE_COMBINED;
    struct wanted wanted = {.context = (struct zeta_context *)hContext,
                            .type = ZE_MEMORY_TYPE_HOST,
                            .size = size,
                            .alignment = alignment};
    ze_result_t result = zeta_memory_request_read(host_desc->pNext, &wanted.request);

    if (result != ZE_RESULT_SUCCESS)
        return result;
    if ((host_desc->flags & both) == both)
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "host_desc->flags asks for memory that is read-only for devices and "
                          "write-combined; it can be one of them");
    wanted.request.read_only = (host_desc->flags & ZE_HOST_MEM_ALLOC_FLAG_MEM_READ_ONLY) != 0;
    return allocate(&wanted, pptr);
}

ze_result_t ZE_APICALL impl_zeMemAllocShared(ze_context_handle_t hContext,
                                             const ze_device_mem_alloc_desc_t *device_desc,
                                             const ze_host_mem_alloc_desc_t *host_desc, size_t size,
                                             size_t alignment, ze_device_handle_t hDevice,
                                             void **pptr)
{
    struct wanted wanted = {.context = (struct zeta_context *)hContext,
                            .device = (struct zeta_device *)hDevice,
                            .type = ZE_MEMORY_TYPE_SHARED,
                            .ordinal = device_desc->ordinal,
                            .size = size,
                            .alignment = alignment};
    ze_result_t result = zeta_memory_request_read(device_desc->pNext, &wanted.request);

    if (result == ZE_RESULT_SUCCESS)
        result = zeta_memory_request_read(host_desc->pNext, &wanted.request);
    if (result == ZE_RESULT_SUCCESS &&
        (wanted.request.has_import || wanted.request.export_types || wanted.request.system_memory))
        result = zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                            "external memory belongs to device or host allocations, not to shared "
                            "ones");
    return result == ZE_RESULT_SUCCESS ? allocate(&wanted, pptr) : result;
}

/* Without a check whether it is used. */
static ze_result_t free_at_once(struct zeta_context *context, void *ptr)
{
    struct zeta_allocation *taken = NULL;
    ze_result_t result = zeta_memory_take(context->memory, ptr, false, &taken);

    if (result != ZE_RESULT_SUCCESS)
        return result;
    zeta_memory_defer(context->memory, NULL);
    return zeta_memory_release(taken);
}

/* The marks come first: a call that fails for lack of them has not freed the memory. */
static ze_result_t free_when_unused(struct zeta_context *context, void *ptr)
{
    struct zeta_allocation *taken = NULL;
    struct zeta_queue_marks *marks = NULL;
    ze_result_t result = zeta_memory_queues.mark(context, &marks);

    if (result == ZE_RESULT_SUCCESS)
        result = zeta_memory_take(context->memory, ptr, false, &taken);
    if (result != ZE_RESULT_SUCCESS) {
        free(marks);
        return result;
    }
    taken->marks = marks;
    if (!zeta_memory_queues.passed(marks)) {
        zeta_memory_defer(context->memory, taken);
        return ZE_RESULT_SUCCESS;
    }
    zeta_memory_defer(context->memory, NULL);
    return zeta_memory_release(taken);
}

/* A kernel that uses freed memory faults if the setting asks for that; else it is harmless. */
static ze_result_t free_by_default(struct zeta_context *context, void *ptr)
{
    return zeta_settings_bool("memory.fault_after_free", false) ? free_at_once(context, ptr)
                                                                : free_when_unused(context, ptr);
}

static ze_result_t free_by_policy(struct zeta_context *context,
                                  ze_driver_memory_free_policy_ext_flags_t policy, void *ptr)
{
    struct zeta_allocation found;

    switch (policy) {
    case 0:
        return free_by_default(context, ptr);
    case ZE_DRIVER_MEMORY_FREE_POLICY_EXT_FLAG_BLOCKING_FREE:
        /* A kernel may reach memory by any path, so all work of the context has to end. A device
         * that is lost will not touch it any more. */
        if (zeta_memory_find(context->memory, ptr, &found))
            (void)zeta_memory_queues.drain(context, NULL);
        return free_at_once(context, ptr);
    case ZE_DRIVER_MEMORY_FREE_POLICY_EXT_FLAG_DEFER_FREE:
        return free_when_unused(context, ptr);
    default:
        return zeta_error(ZE_RESULT_ERROR_INVALID_ENUMERATION,
                          "free policy 0x%x: it is one policy, or 0 for that of zeMemFree", policy);
    }
}

static ze_result_t free_memory(struct zeta_context *context,
                               ze_driver_memory_free_policy_ext_flags_t policy, void *ptr)
{
    struct zeta_context *other = zeta_memory_pin_other(context, ptr);
    ze_result_t result = free_by_policy(other ? other : context, policy, ptr);

    if (other)
        zeta_object_unpin(other);
    return result;
}

ze_result_t ZE_APICALL impl_zeMemFree(ze_context_handle_t hContext, void *ptr)
{
    return free_memory((struct zeta_context *)hContext, 0, ptr);
}

ze_result_t ZE_APICALL impl_zeMemFreeExt(ze_context_handle_t hContext,
                                         const ze_memory_free_ext_desc_t *pMemFreeDesc, void *ptr)
{
    return free_memory((struct zeta_context *)hContext, pMemFreeDesc->freePolicy, ptr);
}
