#include "core/memory/memory_request.h"

#include "core/api/chain.h"
#include "core/util/error.h"

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

static ze_result_t read_import(const ze_external_memory_import_fd_t *node,
                               struct zeta_memory_request *request)
{
    request->has_import = true;
    request->import_fd = node->fd;
    if (node->flags == 0)
        return zeta_error(ZE_RESULT_ERROR_INVALID_ENUMERATION,
                          "ze_external_memory_import_fd_t.flags is 0; it names the kind of fd");
    return zeta_memory_check_external("ze_external_memory_import_fd_t", node->flags);
}

static ze_result_t read_system_memory(const ze_external_memmap_sysmem_ext_desc_t *node,
                                      struct zeta_memory_request *request)
{
    if (!node->pSystemMemory)
        return zeta_error(ZE_RESULT_ERROR_INVALID_NULL_POINTER,
                          "ze_external_memmap_sysmem_ext_desc_t.pSystemMemory is null");
    request->system_memory = node->pSystemMemory;
    request->system_size_bytes = node->size;
    return ZE_RESULT_SUCCESS;
}

static ze_result_t read_handle_type(const ze_ipc_mem_handle_type_ext_desc_t *node)
{
    const uint32_t known = ZE_IPC_MEM_HANDLE_TYPE_FLAG_DEFAULT;
    const uint32_t fabric = ZE_IPC_MEM_HANDLE_TYPE_FLAG_FABRIC_ACCESSIBLE;

    if (node->typeFlags & fabric)
        return zeta_error(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
                          "no device of Zeta is on a fabric, so there are no handles of type "
                          "FABRIC_ACCESSIBLE");
    return check_flags("ze_ipc_mem_handle_type_ext_desc_t", node->typeFlags, known);
}

static ze_result_t read_relaxed(const ze_relaxed_allocation_limits_ext_desc_t *node,
                                struct zeta_memory_request *request)
{
    const uint32_t known = ZE_RELAXED_ALLOCATION_LIMITS_EXT_FLAG_MAX_SIZE;

    request->relaxed = (node->flags & known) != 0;
    return check_flags("ze_relaxed_allocation_limits_ext_desc_t", node->flags, known);
}

/* Hints that change nothing here, and structs that do not belong, are passed over. */
static ze_result_t read_node(uint32_t stype, const void *node, struct zeta_memory_request *request)
{
    const ze_external_memory_export_desc_t *export = node;

    switch (stype) {
    case ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_DESC:
        if (!zeta_chain_readable(node, sizeof(*export)))
            return ZE_RESULT_SUCCESS;
        request->export_types = export->flags;
        return zeta_memory_check_external("ze_external_memory_export_desc_t", export->flags);
    case ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMPORT_FD:
        return zeta_chain_readable(node, sizeof(ze_external_memory_import_fd_t))
                   ? read_import(node, request)
                   : ZE_RESULT_SUCCESS;
    case ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMPORT_WIN32:
        return zeta_error(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
                          "a Windows handle cannot be imported on this system");
    case ZE_STRUCTURE_TYPE_EXTERNAL_MEMMAP_SYSMEM_EXT_DESC:
        return zeta_chain_readable(node, sizeof(ze_external_memmap_sysmem_ext_desc_t))
                   ? read_system_memory(node, request)
                   : ZE_RESULT_SUCCESS;
    case ZE_STRUCTURE_TYPE_IPC_MEM_HANDLE_TYPE_EXT_DESC:
        return zeta_chain_readable(node, sizeof(ze_ipc_mem_handle_type_ext_desc_t))
                   ? read_handle_type(node)
                   : ZE_RESULT_SUCCESS;
    case ZE_STRUCTURE_TYPE_RELAXED_ALLOCATION_LIMITS_EXT_DESC:
    case ZE_STRUCTURE_TYPE_RELAXED_ALLOCATION_LIMITS_EXP_DESC:
        return zeta_chain_readable(node, sizeof(ze_relaxed_allocation_limits_ext_desc_t))
                   ? read_relaxed(node, request)
                   : ZE_RESULT_SUCCESS;
    case ZE_STRUCTURE_TYPE_RAYTRACING_MEM_ALLOC_EXT_DESC:
        return zeta_error(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
                          "no device of Zeta traces rays, so there is no memory for it");
    default:
        return ZE_RESULT_SUCCESS;
    }
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
