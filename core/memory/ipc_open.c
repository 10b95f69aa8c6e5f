/* zeMemOpenIpcHandle: from a handle to memory of another process. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/device/device.h"
#include "core/memory/ipc.h"
#include "core/memory/memory.h"
#include "core/plugin/host.h"
#include "core/util/cleanup.h"
#include "core/util/descriptor.h"
#include "core/util/error.h"
#include "zeta_impl.h"

static ze_result_t refuse(const struct zeta_ipc_handle *handle, int error)
{
    int pid = handle->pid;

    if (error == EACCES || error == EPERM)
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "this process may not read the descriptors of process %d, which made "
                          "the handle: it belongs to another user, or is protected",
                          pid);
    if (error == ENOENT && kill(pid, 0) != 0 && errno == ESRCH)
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "process %d, which made the handle, has ended", pid);
    if (error == ENOENT || error == ESTALE)
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "process %d has no descriptor %d of that memory any more: it gave the "
                          "handle back, or freed the memory",
                          pid, (int)handle->descriptor);
    return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                      "descriptor %d of process %d cannot be opened: %s", (int)handle->descriptor,
                      pid, strerror(error));
}

/* True for a handle of which only the descriptor is there, as some programs pass them on. */
static bool is_bare(const ze_ipc_mem_handle_t *handle)
{
    for (size_t i = sizeof(int32_t); i < sizeof(handle->data); i++) {
        if (handle->data[i] != 0)
            return false;
    }
    return true;
}

/* Finds the memory of a handle. The descriptor in out_share is the caller's to close. */
static ze_result_t find_memory(const ze_ipc_mem_handle_t *given,
                               struct zeta_plugin_share *out_share)
{
    struct zeta_ipc_handle handle;
    ze_result_t result;

    memcpy(&handle, given, sizeof(handle));
    *out_share = (struct zeta_plugin_share){.struct_size = sizeof(*out_share)};
    if (is_bare(given)) {
        out_share->descriptor = zeta_descriptor_raise(fcntl(handle.descriptor, F_DUPFD_CLOEXEC, 3));
        if (out_share->descriptor >= 0)
            return ZE_RESULT_SUCCESS;
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "the handle has a descriptor and nothing else, and %d is not open",
                          (int)handle.descriptor);
    }
    result = zeta_ipc_handle_read(given, &handle);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    out_share->descriptor =
        zeta_descriptor_open_of(handle.pid, handle.descriptor, handle.device, handle.inode);
    if (out_share->descriptor < 0)
        return refuse(&handle, errno);
    out_share->kind = handle.kind;
    out_share->offset_bytes = handle.offset_bytes;
    out_share->size_bytes = handle.size_bytes;
    out_share->token = handle.token;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL impl_zeMemOpenIpcHandle(ze_context_handle_t hContext,
                                               ze_device_handle_t hDevice,
                                               ze_ipc_mem_handle_t handle,
                                               ze_ipc_memory_flags_t flags ZETA_UNUSED, void **pptr)
{
    struct zeta_context *context = (struct zeta_context *)hContext;
    struct zeta_device *device = (struct zeta_device *)hDevice;
    const struct zeta_provider *who = &device->backend->providers[ZETA_GROUP_COMPUTE];
    struct zeta_plugin_share share;
    ze_result_t result = zeta_context_check_device(context, device);

    if (result == ZE_RESULT_SUCCESS && !who->backend)
        result = zeta_error(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
                            "no plugin computes on %s, so it has no memory", device->name);
    if (result == ZE_RESULT_SUCCESS)
        result = find_memory(&handle, &share);
    if (result != ZE_RESULT_SUCCESS)
        return result;

    ZETA_CLEANUP(zeta_closep) int descriptor = share.descriptor;
    ZETA_CLEANUP(zeta_freep) struct zeta_allocation *allocation = calloc(1, sizeof(*allocation));
    if (!allocation)
        return zeta_error(ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, "no memory to note an allocation");
    share.descriptor = descriptor;
    uint32_t code = who->backend->compute.memory_import(who->backend->self, who->device, &share,
                                                        &allocation->base);
    if (code != ZETA_PLUGIN_SUCCESS)
        return zeta_backend_result(who->backend, code, "opening memory of another process");
    void *base = allocation->base;
    allocation->size_bytes = (size_t)share.size_bytes;
    allocation->type = (ze_memory_type_t)share.kind;
    allocation->origin = ZETA_MEMORY_OPENED;
    allocation->device = share.kind == ZETA_PLUGIN_MEMORY_HOST ? NULL : device;
    allocation->backend = who->backend;
    if (!zeta_memory_insert(context->memory, allocation)) {
        (void)who->backend->compute.memory_free(who->backend->self, base);
        return zeta_error(ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, "no memory to note an allocation");
    }
    (void)ZETA_TAKE(allocation);
    *pptr = base;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL impl_zeMemCloseIpcHandle(ze_context_handle_t hContext, const void *ptr)
{
    struct zeta_context *context = (struct zeta_context *)hContext;
    struct zeta_context *other = zeta_memory_pin_other(context, ptr);
    struct zeta_allocation *taken = NULL;
    ze_result_t result = zeta_memory_take((other ? other : context)->memory, ptr, true, &taken);

    if (result == ZE_RESULT_SUCCESS)
        result = zeta_memory_release(taken);
    if (other)
        zeta_object_unpin(other);
    return result;
}
