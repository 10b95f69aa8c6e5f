/* zePhysicalMem...: memory without an address. */
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "core/api/chain.h"
#include "core/device/device.h"
#include "core/memory/ipc.h"
#include "core/memory/memory_request.h"
#include "core/memory/virtual.h"
#include "core/plugin/host.h"
#include "core/util/error.h"
#include "zeta_impl.h"

/* What is to be made. */
struct wanted {
    struct zeta_context *context;
    struct zeta_device *device;
    uint32_t kind; /* ZETA_PLUGIN_MEMORY_* */
    size_t size_bytes;
    struct zeta_memory_request request;
};

static void finish_physical(void *object)
{
    struct zeta_physical *physical = object;

    zeta_memory_exports_finish(&physical->exports);
    if (physical->plugin_physical)
        physical->backend->compute.physical_destroy(physical->backend->self,
                                                    physical->plugin_physical);
}

ZETA_OBJECT_FINISHER(ZETA_KIND_PHYSICAL_MEM, finish_physical)

static ze_result_t read_desc(const ze_physical_mem_desc_t *desc, struct wanted *wanted)
{
    const uint32_t both =
        ZE_PHYSICAL_MEM_FLAG_ALLOCATE_ON_DEVICE | ZE_PHYSICAL_MEM_FLAG_ALLOCATE_ON_HOST;
    bool on_host = (desc->flags & ZE_PHYSICAL_MEM_FLAG_ALLOCATE_ON_HOST) != 0;
    size_t page = 0;
    ze_result_t result = zeta_virtual_page(wanted->context, wanted->device, desc->size, &page);

    if (result != ZE_RESULT_SUCCESS)
        return result;
    if ((desc->flags & both) == both)
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "desc->flags asks for memory of the device and of the host; it can be "
                          "one of them");
    if (!wanted->device && !on_host)
        return zeta_error(ZE_RESULT_ERROR_INVALID_NULL_HANDLE,
                          "hDevice is null; only memory with the flag ALLOCATE_ON_HOST needs no "
                          "device");
    if (desc->size % page != 0)
        return zeta_error(ZE_RESULT_ERROR_UNSUPPORTED_SIZE,
                          "desc->size %zu is not a multiple of the page size %zu", desc->size,
                          page);
    wanted->kind = on_host ? ZETA_PLUGIN_MEMORY_HOST : ZETA_PLUGIN_MEMORY_DEVICE;
    wanted->size_bytes = desc->size;
    if (wanted->device)
        result = zeta_context_check_device(wanted->context, wanted->device);
    if (result == ZE_RESULT_SUCCESS)
        result = zeta_memory_request_read(desc->pNext, &wanted->request);
    return result;
}

/* Calls the backend; on success the memory has the size that was asked for. */
static ze_result_t make(const struct wanted *wanted, struct zeta_plugin_physical **out_physical)
{
    const struct zeta_backend *backend = wanted->context->driver->compute;
    struct zeta_plugin_device *device =
        wanted->device ? wanted->device->backend->providers[ZETA_GROUP_COMPUTE].device : NULL;
    struct zeta_plugin_share share = {.struct_size = sizeof(share),
                                      .descriptor = wanted->request.import_fd};

    if (!wanted->request.has_import)
        return zeta_backend_result(backend,
                                   backend->compute.physical_create(
                                       backend->self,
                                       wanted->kind == ZETA_PLUGIN_MEMORY_HOST ? NULL : device,
                                       wanted->kind, wanted->size_bytes, out_physical),
                                   "allocating physical memory");
    uint32_t code = backend->compute.physical_import(backend->self, device, &share, out_physical);
    if (code != ZETA_PLUGIN_SUCCESS)
        return zeta_backend_result(backend, code, "importing physical memory");
    if (share.size_bytes == wanted->size_bytes)
        return ZE_RESULT_SUCCESS;
    backend->compute.physical_destroy(backend->self, *out_physical);
    return zeta_error(
        ZE_RESULT_ERROR_UNSUPPORTED_SIZE, "descriptor %d is memory of %llu bytes, not of %zu",
        wanted->request.import_fd, (unsigned long long)share.size_bytes, wanted->size_bytes);
}

ze_result_t ZE_APICALL impl_zePhysicalMemCreate(ze_context_handle_t hContext,
                                                ze_device_handle_t hDevice,
                                                ze_physical_mem_desc_t *desc,
                                                ze_physical_mem_handle_t *phPhysicalMemory)
{
    struct wanted wanted = {.context = (struct zeta_context *)hContext,
                            .device = (struct zeta_device *)hDevice};
    struct zeta_backend *backend = wanted.context->driver->compute;
    struct zeta_plugin_physical *made = NULL;
    void *object = NULL;
    ze_result_t result = read_desc(desc, &wanted);

    if (result == ZE_RESULT_SUCCESS)
        result = make(&wanted, &made);
    if (zeta_memory_is_short(wanted.context, result))
        result = make(&wanted, &made);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    result = zeta_object_create(ZETA_KIND_PHYSICAL_MEM, sizeof(struct zeta_physical), &object);
    if (result != ZE_RESULT_SUCCESS) {
        backend->compute.physical_destroy(backend->self, made);
        return result;
    }
    struct zeta_physical *physical = object;
    physical->context = wanted.context;
    physical->device = wanted.kind == ZETA_PLUGIN_MEMORY_HOST ? NULL : wanted.device;
    physical->backend = backend;
    physical->plugin_physical = made;
    physical->id = zeta_memory_next_id();
    physical->size_bytes = wanted.size_bytes;
    physical->type = (ze_memory_type_t)wanted.kind;
    physical->export_types = wanted.request.export_types;
    zeta_virtual_link(wanted.context->virtual_memory, physical);
    *phPhysicalMemory = (ze_physical_mem_handle_t)physical;
    return ZE_RESULT_SUCCESS;
}

static ze_result_t check_owner(const struct zeta_physical *physical, ze_context_handle_t hContext)
{
    if (physical->context == (struct zeta_context *)hContext)
        return ZE_RESULT_SUCCESS;
    return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                      "the physical memory belongs to another context");
}

ze_result_t ZE_APICALL impl_zePhysicalMemDestroy(ze_context_handle_t hContext,
                                                 ze_physical_mem_handle_t hPhysicalMemory)
{
    struct zeta_physical *physical = (struct zeta_physical *)hPhysicalMemory;
    ze_result_t result = check_owner(physical, hContext);

    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (atomic_load(&physical->mappings) != 0)
        return zeta_error(ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE,
                          "the physical memory is mapped in %u pieces; unmap it first",
                          atomic_load(&physical->mappings));
    if (!zeta_object_retire(physical))
        return zeta_object_explain(hPhysicalMemory, ZETA_KIND_PHYSICAL_MEM, "zePhysicalMemDestroy",
                                   "hPhysicalMemory");
    zeta_virtual_unlink(physical->context->virtual_memory, physical);
    zeta_object_unpin(physical);
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL impl_zePhysicalMemGetProperties(ze_context_handle_t hContext,
                                                       ze_physical_mem_handle_t hPhysicalMem,
                                                       ze_physical_mem_properties_t *pMemProperties)
{
    const struct zeta_physical *physical = (const struct zeta_physical *)hPhysicalMem;
    ze_result_t result = check_owner(physical, hContext);

    if (result == ZE_RESULT_SUCCESS)
        result = zeta_memory_export_chain(pMemProperties->pNext, physical->export_types,
                                          hPhysicalMem, physical->context);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    pMemProperties->id = physical->id;
    pMemProperties->size = physical->size_bytes;
    return ZE_RESULT_SUCCESS;
}
