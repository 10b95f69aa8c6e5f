/* zeMemAlloc..., zeMemFree..., zeMemGet...: making and ending allocations, and what is known of
 * them. */
#include "core/memory/memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/api/chain.h"
#include "core/device/device.h"
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

/* ---- what descriptors and their chains ask for ---- */

static ze_result_t check_flags(const char *name, uint32_t flags, uint32_t defined)
{
    if ((flags & ~defined) == 0)
        return ZE_RESULT_SUCCESS;
    return zeta_error(ZE_RESULT_ERROR_INVALID_ENUMERATION, "%s.flags 0x%x has bits beyond 0x%x",
                      name, flags, defined);
}

ze_result_t zeta_memory_check_external(const char *what, uint32_t types)
{
    const uint32_t defined = 2 * (uint32_t)ZE_EXTERNAL_MEMORY_TYPE_FLAG_D3D12_RESOURCE - 1;
    ze_result_t result = check_flags(what, types, defined);

    if (result == ZE_RESULT_SUCCESS && (types & ~ZETA_EXTERNAL_MEMORY_TYPES) != 0)
        result = zeta_error(ZE_RESULT_ERROR_UNSUPPORTED_ENUMERATION,
                            "%s.flags 0x%x: memory goes out and comes in as "
                            "ZE_EXTERNAL_MEMORY_TYPE_FLAG_OPAQUE_FD only",
                            what, types);
    return result;
}

/* Hints that change nothing here, and structs that do not belong, are passed over. */
static ze_result_t read_node(uint32_t stype, const void *node, struct zeta_memory_request *request)
{
    union {
        const void *node;
        const ze_external_memory_export_desc_t *exported;
        const ze_external_memory_import_fd_t *imported;
        const ze_external_memmap_sysmem_ext_desc_t *system;
        const ze_ipc_mem_handle_type_ext_desc_t *handle;
        const ze_relaxed_allocation_limits_ext_desc_t *relaxed;
    } u = {node};

    switch (stype) {
    case ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_DESC:
        if (!zeta_chain_readable(node, sizeof(*u.exported)))
            break;
        request->export_types = u.exported->flags;
        return zeta_memory_check_external("ze_external_memory_export_desc_t", u.exported->flags);
    case ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMPORT_FD:
        if (!zeta_chain_readable(node, sizeof(*u.imported)))
            break;
        request->has_import = true;
        request->import_fd = u.imported->fd;
        if (u.imported->flags == 0)
            return zeta_error(ZE_RESULT_ERROR_INVALID_ENUMERATION,
                              "ze_external_memory_import_fd_t.flags is 0; it names the kind of fd");
        return zeta_memory_check_external("ze_external_memory_import_fd_t", u.imported->flags);
    case ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMPORT_WIN32:
        return zeta_error(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
                          "a Windows handle cannot be imported on this system");
    case ZE_STRUCTURE_TYPE_EXTERNAL_MEMMAP_SYSMEM_EXT_DESC:
        if (!zeta_chain_readable(node, sizeof(*u.system)))
            break;
        if (!u.system->pSystemMemory)
            return zeta_error(ZE_RESULT_ERROR_INVALID_NULL_POINTER,
                              "ze_external_memmap_sysmem_ext_desc_t.pSystemMemory is null");
        request->system_memory = u.system->pSystemMemory;
        request->system_size_bytes = u.system->size;
        break;
    case ZE_STRUCTURE_TYPE_IPC_MEM_HANDLE_TYPE_EXT_DESC:
        if (!zeta_chain_readable(node, sizeof(*u.handle)))
            break;
        if (u.handle->typeFlags & ZE_IPC_MEM_HANDLE_TYPE_FLAG_FABRIC_ACCESSIBLE)
            return zeta_error(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
                              "no device of Zeta is on a fabric, so there are no handles of type "
                              "FABRIC_ACCESSIBLE");
        return check_flags("ze_ipc_mem_handle_type_ext_desc_t", u.handle->typeFlags,
                           ZE_IPC_MEM_HANDLE_TYPE_FLAG_DEFAULT);
    case ZE_STRUCTURE_TYPE_RELAXED_ALLOCATION_LIMITS_EXT_DESC:
    case ZE_STRUCTURE_TYPE_RELAXED_ALLOCATION_LIMITS_EXP_DESC:
        if (!zeta_chain_readable(node, sizeof(*u.relaxed)))
            break;
        request->relaxed = (u.relaxed->flags & ZE_RELAXED_ALLOCATION_LIMITS_EXT_FLAG_MAX_SIZE) != 0;
        return check_flags("ze_relaxed_allocation_limits_ext_desc_t", u.relaxed->flags,
                           ZE_RELAXED_ALLOCATION_LIMITS_EXT_FLAG_MAX_SIZE);
    case ZE_STRUCTURE_TYPE_RAYTRACING_MEM_ALLOC_EXT_DESC:
        return zeta_error(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
                          "no device of Zeta traces rays, so there is no memory for it");
    default:
        break;
    }
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeta_memory_request_read(const void *next, struct zeta_memory_request *request)
{
    struct zeta_chain chain = zeta_chain_begin(next);
    uint32_t stype;
    void *node;

    while ((node = zeta_chain_next(&chain, &stype)) != NULL) {
        ze_result_t result = read_node(stype, node, request);

        if (result != ZE_RESULT_SUCCESS)
            return result;
    }
    return ZE_RESULT_SUCCESS;
}

/* ---- making allocations ---- */

struct zeta_device *zeta_memory_device(const struct zeta_context *context,
                                       struct zeta_device *device)
{
    if (device)
        return device;
    if (context->device_count > 0)
        return context->devices[0];
    return context->driver->device_count > 0 ? context->driver->devices[0] : NULL;
}

static ze_result_t check(const struct wanted *wanted)
{
    const struct zeta_context *context = wanted->context;
    const struct zeta_driver *driver = context->driver;
    const struct zeta_memory_request *request = &wanted->request;
    const struct zeta_device *limits = zeta_memory_device(context, wanted->device);
    const bool computes = driver->compute && limits;

    /* Without compute there is memory of the host alone, where queues put time stamps. */
    if (!computes && driver->queue_backend_count == 0)
        return zeta_error(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
                          "no plugin computes on the devices of driver %s, so it has no memory to "
                          "allocate",
                          driver->name);
    if (!computes && (wanted->type != ZE_MEMORY_TYPE_HOST || request->has_import ||
                      request->system_memory || request->export_types))
        return zeta_error(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
                          "no plugin computes on the devices of driver %s, so it only has memory "
                          "of the host and of this process (zeMemAllocHost), for time stamps",
                          driver->name);
    if (wanted->alignment & (wanted->alignment - 1))
        return zeta_error(ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT, "alignment %zu is no power of two",
                          wanted->alignment);
    if (!computes)
        return ZE_RESULT_SUCCESS;
    const struct zeta_plugin_device_properties *p = &limits->backend->properties;
    if (wanted->size > p->max_allocation_bytes && !request->relaxed)
        return zeta_error(ZE_RESULT_ERROR_UNSUPPORTED_SIZE,
                          "%zu bytes are more than the %llu that %s allocates at most",
                          wanted->size, (unsigned long long)p->max_allocation_bytes, limits->name);
    if (wanted->device && wanted->ordinal >= p->memories.count)
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "memory ordinal %u: %s has %llu memories", wanted->ordinal,
                          wanted->device->name, (unsigned long long)p->memories.count);
    if (request->has_import && request->system_memory)
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

/*
 * Why these are not whole pages that this process can read, and write if that is asked for; NULL if
 * they are. The application may still unmap them later. Reads the mappings of the process in order.
 */
static const char *refuse_pages(uint64_t begin, uint64_t size_bytes, bool writable)
{
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), end = begin + size_bytes;
    const char *reason = NULL;
    char line[512];
    bool at_start = true;
    FILE *maps;

    if (begin % page != 0 || size_bytes == 0 || size_bytes % page != 0 || end < begin)
        return "are not whole pages";
    maps = fopen("/proc/self/maps", "re");
    if (!maps)
        return "cannot be checked: /proc/self/maps does not open";

    while (!reason && begin < end && fgets(line, sizeof(line), maps)) {
        const bool whole = strchr(line, '\n') != NULL;
        uint64_t from, to;
        char rights[5];

        if (at_start && sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s", &from, &to, rights) == 3 &&
            to > begin) {
            if (from > begin)
                break;
            if (rights[0] != 'r')
                reason = "cannot be read";
            else if (writable && rights[1] != 'w')
                reason = "are read-only; ask for read-only memory "
                         "(ZE_HOST_MEM_ALLOC_FLAG_MEM_READ_ONLY)";
            begin = to;
        }
        at_start = whole; /* the rest of a long line is no mapping */
    }
    fclose(maps);
    return reason || begin >= end ? reason : "are not all mapped";
}

/* Memory that the application got elsewhere. */
static ze_result_t adopt(const struct wanted *wanted, struct zeta_allocation *allocation)
{
    const struct zeta_backend *backend = wanted->context->driver->compute;
    const struct zeta_memory_request *request = &wanted->request;
    uint32_t access = request->read_only ? ZETA_PLUGIN_ACCESS_READ : ZETA_PLUGIN_ACCESS_READ_WRITE;
    const char *reason;

    if (request->system_size_bytes != wanted->size)
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "size is %zu, but the system memory to map has %llu bytes", wanted->size,
                          (unsigned long long)request->system_size_bytes);
    reason = refuse_pages((uintptr_t)request->system_memory, wanted->size, !request->read_only);
    if (reason)
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT, "%zu bytes at %p %s", wanted->size,
                          request->system_memory, reason);
    uint32_t code =
        backend->compute.memory_adopt(backend->self, request->system_memory, wanted->size, access);
    allocation->base = request->system_memory;
    allocation->origin = ZETA_MEMORY_ADOPTED;
    allocation->type = ZE_MEMORY_TYPE_HOST_IMPORTED;
    return zeta_backend_result(backend, code, "mapping memory of the application");
}

static ze_result_t get_bytes(const struct wanted *wanted, struct zeta_allocation *allocation)
{
    const struct zeta_backend *backend = allocation->backend;
    const struct zeta_device *place = wanted->device;

    if (wanted->request.has_import)
        return import(wanted, allocation);
    if (wanted->request.system_memory)
        return adopt(wanted, allocation);
    if (!backend) {
        /* Memory of ours, for queues of devices that nobody computes on. */
        size_t alignment = wanted->alignment < CACHE_LINE ? CACHE_LINE : wanted->alignment;

        if (posix_memalign(&allocation->base, alignment, wanted->size) == 0)
            return ZE_RESULT_SUCCESS;
        return zeta_error(ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY,
                          "the host has no %zu bytes, aligned to %zu", wanted->size, alignment);
    }
    /* Shared memory of no device in particular can be forced onto one. */
    if (wanted->type == ZE_MEMORY_TYPE_SHARED && !place &&
        zeta_settings_switch("ZE_SHARED_FORCE_DEVICE_ALLOC"))
        place = zeta_memory_device(wanted->context, NULL);
    struct zeta_plugin_memory_desc desc = {.struct_size = sizeof(desc),
                                           .kind = (uint32_t)wanted->type,
                                           .ordinal = wanted->ordinal,
                                           .size_bytes = wanted->size,
                                           .align_bytes = wanted->alignment,
                                           .access = wanted->request.read_only
                                                         ? ZETA_PLUGIN_ACCESS_READ
                                                         : ZETA_PLUGIN_ACCESS_READ_WRITE};
    uint32_t code = backend->compute.memory_allocate(backend->self, backend_device(place), &desc,
                                                     &allocation->base);
    return zeta_backend_result(backend, code, "allocating memory");
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
        return zeta_error_no_memory("an allocation");
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
        return zeta_error_no_memory("an allocation");
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

static ze_result_t free_memory(struct zeta_context *given,
                               ze_driver_memory_free_policy_ext_flags_t policy, void *ptr)
{
    struct zeta_context *other = zeta_memory_pin_other(given, ptr);
    struct zeta_context *context = other ? other : given;
    struct zeta_allocation found;
    ze_result_t result;

    switch (policy) {
    case 0:
        /* A kernel that uses freed memory faults if the setting asks for that; else it is harmless.
         */
        result = zeta_settings_bool("memory.fault_after_free", false)
                     ? free_at_once(context, ptr)
                     : free_when_unused(context, ptr);
        break;
    case ZE_DRIVER_MEMORY_FREE_POLICY_EXT_FLAG_BLOCKING_FREE:
        /* A kernel may reach memory by any path, so all work of the context has to end. A device
         * that is lost will not touch it any more. */
        if (zeta_memory_find(context->memory, ptr, &found))
            (void)zeta_memory_queues.drain(context, NULL);
        result = free_at_once(context, ptr);
        break;
    case ZE_DRIVER_MEMORY_FREE_POLICY_EXT_FLAG_DEFER_FREE:
        result = free_when_unused(context, ptr);
        break;
    default:
        result =
            zeta_error(ZE_RESULT_ERROR_INVALID_ENUMERATION,
                       "free policy 0x%x: it is one policy, or 0 for that of zeMemFree", policy);
        break;
    }
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

/* ---- what is known of an address ---- */

/* An allocation, or what is mapped at the address in the shape of one. */
static bool find(struct zeta_context *context, const void *ptr, struct zeta_allocation *out_found)
{
    struct zeta_virtual_mapping mapping;

    *out_found = (struct zeta_allocation){.type = ZE_MEMORY_TYPE_UNKNOWN};
    if (zeta_memory_find(context->memory, ptr, out_found))
        return true;
    if (!zeta_virtual_find(context->virtual_memory, ptr, &mapping))
        return false;
    *out_found = (struct zeta_allocation){.base = (void *)mapping.base,
                                          .size_bytes = mapping.size_bytes,
                                          .type = mapping.physical->type,
                                          .id = mapping.physical->id,
                                          .device = mapping.physical->device,
                                          .export_types = mapping.physical->export_types};
    return true;
}

ze_result_t ZE_APICALL impl_zeMemGetAllocProperties(
    ze_context_handle_t hContext, const void *ptr,
    ze_memory_allocation_properties_t *pMemAllocProperties, ze_device_handle_t *phDevice)
{
    struct zeta_context *context = (struct zeta_context *)hContext;
    struct zeta_allocation found;
    bool known = find(context, ptr, &found);
    ze_memory_sub_allocations_exp_properties_t *parts =
        zeta_chain_find(pMemAllocProperties->pNext,
                        ZE_STRUCTURE_TYPE_MEMORY_SUB_ALLOCATIONS_EXP_PROPERTIES, sizeof(*parts));
    ze_result_t result = zeta_memory_export_chain(pMemAllocProperties->pNext, found.export_types,
                                                  known ? found.base : ptr, context);

    if (result != ZE_RESULT_SUCCESS)
        return result;
    /* Every allocation is one piece. */
    if (parts && zeta_chain_readable(parts->pCount, sizeof(*parts->pCount)) &&
        zeta_count_clip(parts->pCount, found.base ? 1 : 0, parts->pSubAllocations) != 0 &&
        zeta_chain_readable(parts->pSubAllocations, sizeof(*parts->pSubAllocations)))
        parts->pSubAllocations[0] =
            (ze_sub_allocation_t){.base = found.base, .size = found.size_bytes};
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

    if (!find((struct zeta_context *)hContext, ptr, &found))
        return zeta_error(ZE_RESULT_ERROR_ADDRESS_NOT_FOUND,
                          "%p is not inside an allocation of this context", ptr);
    if (pBase)
        *pBase = found.base;
    if (pSize)
        *pSize = found.size_bytes;
    return ZE_RESULT_SUCCESS;
}

/* Sets, or gets, the attributes of shared memory. */
static ze_result_t use_attributes(ze_context_handle_t hContext, const void *ptr, size_t size,
                                  const ze_memory_atomic_attr_exp_flags_t *given,
                                  ze_memory_atomic_attr_exp_flags_t *out_present)
{
    struct zeta_context *context = (struct zeta_context *)hContext;

    zeta_memory_lock(context->memory);
    struct zeta_allocation *found = zeta_memory_find_locked(context->memory, ptr);
    const bool is_good =
        found && found->type == ZE_MEMORY_TYPE_SHARED && size != 0 &&
        size <= found->size_bytes - (size_t)((const char *)ptr - (const char *)found->base);
    if (is_good && given)
        found->atomic_attributes = *given;
    if (is_good && out_present)
        *out_present = found->atomic_attributes;
    zeta_memory_unlock(context->memory);
    if (is_good)
        return ZE_RESULT_SUCCESS;
    return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                      "%zu bytes at %p are not inside a shared allocation of this context; only "
                      "those have attributes for atomics",
                      size, ptr);
}

/* Every backend with shared memory does all atomics on it, so only contradictions are refused. */
ze_result_t ZE_APICALL impl_zeMemSetAtomicAccessAttributeExp(ze_context_handle_t hContext,
                                                             ze_device_handle_t hDevice,
                                                             const void *ptr, size_t size,
                                                             ze_memory_atomic_attr_exp_flags_t attr)
{
    const ze_memory_atomic_attr_exp_flags_t allowed =
        ZE_MEMORY_ATOMIC_ATTR_EXP_FLAG_HOST_ATOMICS |
        ZE_MEMORY_ATOMIC_ATTR_EXP_FLAG_DEVICE_ATOMICS |
        ZE_MEMORY_ATOMIC_ATTR_EXP_FLAG_SYSTEM_ATOMICS;
    ze_result_t result = zeta_context_check_device((const struct zeta_context *)hContext,
                                                   (const struct zeta_device *)hDevice);

    if (result != ZE_RESULT_SUCCESS)
        return result;
    /* "No host atomics" is the bit before "host atomics", and so on. */
    if (((attr & allowed) >> 1 & attr) != 0 ||
        ((attr & ZE_MEMORY_ATOMIC_ATTR_EXP_FLAG_NO_ATOMICS) != 0 && (attr & allowed) != 0))
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "attr 0x%x allows and forbids the same atomics", attr);
    return use_attributes(hContext, ptr, size, &attr, NULL);
}

ze_result_t ZE_APICALL impl_zeMemGetAtomicAccessAttributeExp(
    ze_context_handle_t hContext, ze_device_handle_t hDevice, const void *ptr, size_t size,
    ze_memory_atomic_attr_exp_flags_t *pAttr)
{
    ze_result_t result = zeta_context_check_device((const struct zeta_context *)hContext,
                                                   (const struct zeta_device *)hDevice);

    return result == ZE_RESULT_SUCCESS ? use_attributes(hContext, ptr, size, NULL, pAttr) : result;
}
