/*
 * Memory of one process in another: handles, descriptors, and how a handle leads to its memory.
 *
 * A handle holds the process, the number of a descriptor in it, what file that is, the plugin's
 * mark of the file, and which bytes of it are meant. The opening process gets the descriptor
 * through /proc/<pid>/fd, or from his own table when it came over a socket, and everything has to
 * match.
 */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/api/chain.h"
#include "core/device/device.h"
#include "core/memory/memory.h"
#include "core/plugin/host.h"
#include "core/util/cleanup.h"
#include "core/util/descriptor.h"
#include "core/util/error.h"
#include "zeta_impl.h"

/** What is in a ze_ipc_mem_handle_t. */
struct handle {
    int32_t descriptor; /**< first, because programs replace it by one that they received */
    uint32_t check;     /**< over everything behind it: nothing but the descriptor may be changed */
    int32_t pid;        /**< process whose descriptor it is */
    uint32_t kind;      /**< ZETA_PLUGIN_MEMORY_* */
    uint64_t base;      /**< address or object in that process; 0: made from a descriptor */
    uint64_t device;
    uint64_t inode;
    uint64_t offset_bytes;
    uint64_t size_bytes;
    uint64_t token;
};

static_assert(sizeof(struct handle) == sizeof(ze_ipc_mem_handle_t),
              "a handle has the size that the API defines");

/* What a handle can be made of: an allocation, or physical memory from some byte on. */
struct target {
    struct zeta_context *context;
    const void *base;               /* of an allocation; NULL: physical memory */
    struct zeta_physical *physical; /* NULL: an allocation */
    uint64_t start_bytes;           /* in the physical memory */
    struct zeta_backend *backend;
};

static ze_result_t refuse_inner(const void *ptr, const void *base)
{
    return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                      "%p points into memory; handles are for all of it, from %p on "
                      "(zeMemGetAddressRange gives the start)",
                      ptr, base);
}

static ze_result_t find_target(struct zeta_context *context, const void *ptr,
                               struct target *out_target)
{
    struct zeta_virtual_mapping mapping;
    struct zeta_allocation found;

    *out_target = (struct target){.context = context, .backend = context->driver->compute};
    if (zeta_object_is(ptr, ZETA_KIND_PHYSICAL_MEM)) {
        out_target->physical = (struct zeta_physical *)(uintptr_t)ptr;
        if (out_target->physical->context == context)
            return ZE_RESULT_SUCCESS;
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "the physical memory belongs to another context");
    }
    if (zeta_virtual_find(context->virtual_memory, ptr, &mapping)) {
        out_target->physical = mapping.physical;
        out_target->start_bytes = mapping.offset_bytes;
        return (uintptr_t)ptr == mapping.base ? ZE_RESULT_SUCCESS
                                              : refuse_inner(ptr, (const void *)mapping.base);
    }
    if (!zeta_memory_find(context->memory, ptr, &found))
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "%p is not an allocation of this context", ptr);
    if (found.base != ptr)
        return refuse_inner(ptr, found.base);
    if (!found.backend)
        return zeta_error(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
                          "no plugin computes on the devices of driver %s, so its memory is for "
                          "this process alone",
                          context->driver->name);
    out_target->base = ptr;
    return ZE_RESULT_SUCCESS;
}

/* A new descriptor from the backend. */
static ze_result_t call_export(const struct target *target, struct zeta_plugin_share *out_share)
{
    const struct zeta_backend *backend = target->backend;
    struct zeta_plugin_share share = {
        .struct_size = sizeof(share), .descriptor = -1, .offset_bytes = target->start_bytes};
    uint32_t code;

    if (target->physical)
        code = backend->compute.physical_export(backend->self, target->physical->plugin_physical,
                                                &share);
    else
        code =
            backend->compute.memory_export(backend->self, (void *)(uintptr_t)target->base, &share);
    if (code != ZETA_PLUGIN_SUCCESS)
        return zeta_backend_result(backend, code, "exporting memory");
    *out_share = share;
    return ZE_RESULT_SUCCESS;
}

/* Where the exports of a target are listed; NULL if the allocation is gone. */
static struct zeta_memory_export **exports_locked(const struct target *target)
{
    if (target->physical)
        return &target->physical->exports;
    struct zeta_allocation *found = zeta_memory_find_locked(target->context->memory, target->base);
    return found && found->base == target->base ? &found->exports : NULL;
}

/* Counts one handle more of an export that there is already. */
static bool share_again_locked(const struct target *target, struct zeta_memory_export *first,
                               struct zeta_plugin_share *out_share)
{
    struct zeta_memory_export *export = first;

    while (export && export->start_bytes != target->start_bytes)
        export = export->next;
    if (!export)
        return false;
    export->handles++;
    *out_share = export->share;
    return true;
}

/* Counts a handle of the target; the first one makes the descriptor that all of them name. */
static ze_result_t share_target(const struct target *target, struct zeta_plugin_share *out_share)
{
    struct zeta_memory_table *table = target->context->memory;

    zeta_memory_lock(table);
    struct zeta_memory_export **list = exports_locked(target);
    bool again = list && share_again_locked(target, *list, out_share);
    zeta_memory_unlock(table);
    if (again)
        return ZE_RESULT_SUCCESS;

    struct zeta_memory_export *made = calloc(1, sizeof(*made));
    if (!made)
        return zeta_error_no_memory("a handle");
    made->start_bytes = target->start_bytes;
    made->handles = 1;
    ze_result_t result = call_export(target, &made->share);
    if (result != ZE_RESULT_SUCCESS) {
        free(made);
        return result;
    }
    /* Another thread may have made one meanwhile, or freed the allocation. */
    zeta_memory_lock(table);
    list = exports_locked(target);
    if (list && !share_again_locked(target, *list, out_share)) {
        *out_share = made->share;
        made->next = *list;
        *list = ZETA_TAKE(made);
    }
    zeta_memory_unlock(table);
    if (made)
        zeta_memory_export_end(&made);
    if (list)
        return ZE_RESULT_SUCCESS;
    return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT, "%p was freed at the same time",
                      target->base);
}

/* FNV-1a over what follows the check, begun with a number for the kind of handle. */
static uint32_t check_of(const struct handle *handle)
{
    unsigned char bytes[sizeof(*handle)];
    uint32_t sum = UINT32_C(0x4d49455a);

    memcpy(bytes, handle, sizeof(bytes));
    for (size_t i = offsetof(struct handle, pid); i < sizeof(bytes); i++)
        sum = (sum ^ bytes[i]) * UINT32_C(16777619);
    return sum;
}

static ze_result_t fill_handle(const struct zeta_plugin_share *share, uint64_t base,
                               ze_ipc_mem_handle_t *out_handle)
{
    struct stat status;

    if (fstat(share->descriptor, &status) != 0)
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT, "descriptor %d is not open",
                          (int)share->descriptor);
    struct handle handle = {.descriptor = share->descriptor,
                            .pid = getpid(),
                            .kind = share->kind,
                            .base = base,
                            .device = (uint64_t)status.st_dev,
                            .inode = (uint64_t)status.st_ino,
                            .offset_bytes = share->offset_bytes,
                            .size_bytes = share->size_bytes,
                            .token = share->token};

    handle.check = check_of(&handle);
    memcpy(out_handle, &handle, sizeof(handle));
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL impl_zeMemGetIpcHandle(ze_context_handle_t hContext, const void *ptr,
                                              ze_ipc_mem_handle_t *pIpcHandle)
{
    struct target target;
    struct zeta_plugin_share share = {.descriptor = -1};
    ze_result_t result = find_target((struct zeta_context *)hContext, ptr, &target);

    if (result == ZE_RESULT_SUCCESS)
        result = share_target(&target, &share);
    if (result == ZE_RESULT_SUCCESS)
        result = fill_handle(
            &share, (uintptr_t)(target.physical ? (const void *)target.physical : target.base),
            pIpcHandle);
    return result;
}

ze_result_t ZE_APICALL impl_zeMemGetIpcHandleWithProperties(ze_context_handle_t hContext,
                                                            const void *ptr, void *pNext,
                                                            ze_ipc_mem_handle_t *pIpcHandle)
{
    struct zeta_memory_request request = {0};
    ze_result_t result = zeta_memory_request_read(pNext, &request);

    return result == ZE_RESULT_SUCCESS ? impl_zeMemGetIpcHandle(hContext, ptr, pIpcHandle) : result;
}

/* Where the export is listed to which a handle of this process belongs; NULL: it was put back. */
static struct zeta_memory_export **find_export_locked(struct zeta_context *context,
                                                      const struct handle *handle)
{
    const void *base = (const void *)(uintptr_t)handle->base;
    struct target target = {.context = context, .base = base};

    if (zeta_object_is(base, ZETA_KIND_PHYSICAL_MEM)) {
        target.physical = (struct zeta_physical *)(uintptr_t)base;
        if (target.physical->context != context)
            return NULL;
    }
    struct zeta_memory_export **link = exports_locked(&target);
    while (link && *link) {
        const struct zeta_plugin_share *share = &(*link)->share;

        if (share->descriptor == handle->descriptor &&
            share->offset_bytes == handle->offset_bytes && share->token == handle->token)
            return link;
        link = &(*link)->next;
    }
    return NULL;
}

/* Fails for what is none, or is changed behind the descriptor. */
static ze_result_t read_handle(const ze_ipc_mem_handle_t *handle, struct handle *out_handle)
{
    memcpy(out_handle, handle, sizeof(*out_handle));
    if (out_handle->check == check_of(out_handle) && out_handle->pid > 0 &&
        out_handle->token != 0 && out_handle->size_bytes != 0)
        return ZE_RESULT_SUCCESS;
    return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                      "these 64 bytes are no memory handle of Zeta; all bytes of what "
                      "zeMemGetIpcHandle gave are needed");
}

ze_result_t ZE_APICALL impl_zeMemPutIpcHandle(ze_context_handle_t hContext,
                                              ze_ipc_mem_handle_t handle)
{
    struct zeta_context *context = (struct zeta_context *)hContext;
    struct handle read;
    ze_result_t result = read_handle(&handle, &read);

    /* A handle of another process, or of a descriptor of the application, keeps nothing here. */
    if (result != ZE_RESULT_SUCCESS || read.pid != getpid() || read.base == 0)
        return result;
    zeta_memory_lock(context->memory);
    struct zeta_memory_export **link = find_export_locked(context, &read);
    if (link && --(*link)->handles == 0)
        zeta_memory_export_end(link);
    zeta_memory_unlock(context->memory);
    if (link)
        return ZE_RESULT_SUCCESS;
    return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                      "the handle was put back already, or its memory was freed, which ends its "
                      "handles");
}

ze_result_t ZE_APICALL impl_zeMemGetFileDescriptorFromIpcHandleExp(ze_context_handle_t hContext,
                                                                   ze_ipc_mem_handle_t ipcHandle,
                                                                   uint64_t *pHandle)
{
    struct zeta_context *context = (struct zeta_context *)hContext;
    struct handle read;
    ze_result_t result = read_handle(&ipcHandle, &read);

    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (read.pid != getpid())
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "the handle was made by process %d, and its descriptor is one of that "
                          "process",
                          (int)read.pid);
    zeta_memory_lock(context->memory);
    bool known = read.base == 0 || find_export_locked(context, &read) != NULL;
    zeta_memory_unlock(context->memory);
    if (!known)
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "the handle was put back, or its memory was freed");
    *pHandle = (uint64_t)read.descriptor;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL impl_zeMemGetIpcHandleFromFileDescriptorExp(ze_context_handle_t hContext,
                                                                   uint64_t handle,
                                                                   ze_ipc_mem_handle_t *pIpcHandle)
{
    const struct zeta_backend *backend = ((struct zeta_context *)hContext)->driver->compute;
    struct zeta_plugin_share share = {.struct_size = sizeof(share), .descriptor = (int)handle};
    void *address = NULL;

    if (handle > INT32_MAX)
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT, "%llu is no file descriptor",
                          (unsigned long long)handle);
    if (!backend)
        return zeta_error(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
                          "no plugin computes on the devices of this driver");
    /* Whether it is memory, and which, is known by who can map it. */
    uint32_t code = backend->compute.memory_import(backend->self, NULL, &share, &address);
    if (code != ZETA_PLUGIN_SUCCESS)
        return zeta_backend_result(backend, code, "reading the properties of a memory descriptor");
    (void)backend->compute.memory_free(backend->self, address);
    return fill_handle(&share, 0, pIpcHandle);
}

static ze_result_t refuse_opening(const struct handle *handle, int error)
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

/* Finds the memory of a handle. The descriptor in out_share is the caller's to close. */
static ze_result_t find_memory(const ze_ipc_mem_handle_t *given,
                               struct zeta_plugin_share *out_share)
{
    struct handle handle, bare = {0};
    ze_result_t result;

    memcpy(&handle, given, sizeof(handle));
    *out_share = (struct zeta_plugin_share){.struct_size = sizeof(*out_share)};
    /* Some programs pass on the descriptor of a handle and nothing else. */
    bare.descriptor = handle.descriptor;
    if (memcmp(&handle, &bare, sizeof(handle)) == 0) {
        out_share->descriptor = zeta_descriptor_raise(fcntl(handle.descriptor, F_DUPFD_CLOEXEC, 3));
        if (out_share->descriptor >= 0)
            return ZE_RESULT_SUCCESS;
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "the handle has a descriptor and nothing else, and %d is not open",
                          (int)handle.descriptor);
    }
    result = read_handle(given, &handle);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    out_share->descriptor =
        zeta_descriptor_open_of(handle.pid, handle.descriptor, handle.device, handle.inode);
    if (out_share->descriptor < 0)
        return refuse_opening(&handle, errno);
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
        return zeta_error_no_memory("an allocation");
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
        return zeta_error_no_memory("an allocation");
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

ze_result_t zeta_memory_export_chain(const void *next, ze_external_memory_type_flags_t types,
                                     const void *ptr, struct zeta_context *context)
{
    struct zeta_chain chain = zeta_chain_begin(next);
    ze_external_memory_export_fd_t *node;
    uint32_t stype;

    while ((node = zeta_chain_next(&chain, &stype)) != NULL) {
        struct zeta_plugin_share share = {.descriptor = -1};
        struct target target;

        if (stype == ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_WIN32)
            return zeta_error(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
                              "there are no Windows handles on this system");
        if (stype != ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_FD ||
            !zeta_chain_readable(node, sizeof(*node)))
            continue;
        ze_result_t result = find_target(context, ptr, &target);
        if (result == ZE_RESULT_SUCCESS)
            result = zeta_memory_check_external("ze_external_memory_export_fd_t", node->flags);
        if (result != ZE_RESULT_SUCCESS)
            return result;
        if ((types & node->flags) == 0 || (node->flags & ~types) != 0)
            return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                              "a descriptor of type 0x%x was asked for, and the memory was "
                              "allocated for types 0x%x (ze_external_memory_export_desc_t)",
                              node->flags, types);
        result = call_export(&target, &share);
        if (result != ZE_RESULT_SUCCESS)
            return result;
        node->fd = share.descriptor;
    }
    return ZE_RESULT_SUCCESS;
}
