/* What is known about an address: zeMemGet... and the access attributes for atomics. */
#include <unistd.h>

#include "core/api/chain.h"
#include "core/device/device.h"
#include "core/memory/ipc.h"
#include "core/memory/memory.h"
#include "core/memory/virtual.h"
#include "core/util/cleanup.h"
#include "core/util/error.h"
#include "zeta_impl.h"

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

/* Every allocation is one piece. */
static void fill_sub_allocations(ze_memory_sub_allocations_exp_properties_t *node,
                                 const struct zeta_allocation *found)
{
    if (!zeta_chain_readable(node->pCount, sizeof(*node->pCount)))
        return;
    if (zeta_count_clip(node->pCount, found->base ? 1 : 0, node->pSubAllocations) == 0)
        return;
    if (!zeta_chain_readable(node->pSubAllocations, sizeof(*node->pSubAllocations)))
        return;
    node->pSubAllocations[0] =
        (ze_sub_allocation_t){.base = found->base, .size = found->size_bytes};
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
    if (parts)
        fill_sub_allocations(parts, &found);
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

/* Finds shared memory for attributes; the lock is held and stays so. */
static struct zeta_allocation *find_shared_locked(struct zeta_memory_table *table, const void *ptr,
                                                  size_t size)
{
    struct zeta_allocation *found = zeta_memory_find_locked(table, ptr);

    if (!found || found->type != ZE_MEMORY_TYPE_SHARED || size == 0 ||
        size > found->size_bytes - (size_t)((const char *)ptr - (const char *)found->base))
        return NULL;
    return found;
}

static ze_result_t refuse_range(const void *ptr, size_t size)
{
    return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                      "%zu bytes at %p are not inside a shared allocation of this context; only "
                      "those have attributes for atomics",
                      size, ptr);
}

/* Every backend with shared memory does all atomics on it, so only contradictions are refused. */
static ze_result_t check_attributes(ze_memory_atomic_attr_exp_flags_t attributes)
{
    const ze_memory_atomic_attr_exp_flags_t allowed =
        ZE_MEMORY_ATOMIC_ATTR_EXP_FLAG_HOST_ATOMICS |
        ZE_MEMORY_ATOMIC_ATTR_EXP_FLAG_DEVICE_ATOMICS |
        ZE_MEMORY_ATOMIC_ATTR_EXP_FLAG_SYSTEM_ATOMICS;
    /* "No host atomics" is the bit before "host atomics", and so on. */
    bool contradiction = ((attributes & allowed) >> 1 & attributes) != 0 ||
                         ((attributes & ZE_MEMORY_ATOMIC_ATTR_EXP_FLAG_NO_ATOMICS) != 0 &&
                          (attributes & allowed) != 0);

    if (!contradiction)
        return ZE_RESULT_SUCCESS;
    return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                      "attr 0x%x allows and forbids the same atomics", attributes);
}

ze_result_t ZE_APICALL impl_zeMemSetAtomicAccessAttributeExp(ze_context_handle_t hContext,
                                                             ze_device_handle_t hDevice,
                                                             const void *ptr, size_t size,
                                                             ze_memory_atomic_attr_exp_flags_t attr)
{
    struct zeta_context *context = (struct zeta_context *)hContext;
    ze_result_t result = zeta_context_check_device(context, (const struct zeta_device *)hDevice);

    if (result == ZE_RESULT_SUCCESS)
        result = check_attributes(attr);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    zeta_memory_lock(context->memory);
    struct zeta_allocation *found = find_shared_locked(context->memory, ptr, size);
    if (found)
        found->atomic_attributes = attr;
    zeta_memory_unlock(context->memory);
    return found ? ZE_RESULT_SUCCESS : refuse_range(ptr, size);
}

ze_result_t ZE_APICALL impl_zeMemGetAtomicAccessAttributeExp(
    ze_context_handle_t hContext, ze_device_handle_t hDevice, const void *ptr, size_t size,
    ze_memory_atomic_attr_exp_flags_t *pAttr)
{
    struct zeta_context *context = (struct zeta_context *)hContext;
    ze_result_t result = zeta_context_check_device(context, (const struct zeta_device *)hDevice);

    if (result != ZE_RESULT_SUCCESS)
        return result;
    zeta_memory_lock(context->memory);
    const struct zeta_allocation *found = find_shared_locked(context->memory, ptr, size);
    if (found)
        *pAttr = found->atomic_attributes;
    zeta_memory_unlock(context->memory);
    return found ? ZE_RESULT_SUCCESS : refuse_range(ptr, size);
}
