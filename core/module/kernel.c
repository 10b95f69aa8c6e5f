/* Kernels: their arguments, launches, and what can be asked about them. */
#include <stdlib.h>
#include <string.h>

#include <level_zero/zes_api.h>
#include <level_zero/zet_api.h>
#include <zeta/zeta.h>

#include "core/api/chain.h"
#include "core/api/check.h"
#include "core/api/loader.h"
#include "core/device/device.h"
#include "core/memory/memory.h"
#include "core/module/module.h"
#include "core/plugin/host.h"
#include "core/settings/settings.h"
#include "core/util/cleanup.h"
#include "core/util/error.h"
#include "core/util/log.h"
#include "zeta_impl.h"

static void finish_kernel(void *object)
{
    struct zeta_kernel *kernel = object;
    struct zeta_module *module = kernel->module;

    if (kernel->plugin_kernel)
        module->backend->compute.kernel_destroy(module->backend->self, kernel->plugin_kernel);
    free(kernel->properties);
    free(kernel->name);
    free(kernel->attributes);
    free(kernel->arguments);
    free(kernel->block);
    zeta_object_unpin(module);
}

ZETA_OBJECT_FINISHER(ZETA_KIND_KERNEL, finish_kernel)

/* Nothing is set in the beginning; the size of a group is the required one, or 1. */
static ze_result_t fill_kernel(struct zeta_kernel *kernel, const char *name)
{
    const struct zeta_module *module = kernel->module;
    struct zeta_backend *backend = module->backend;
    struct zeta_plugin_kernel_properties *p = calloc(1, sizeof(*p));
    ze_result_t result = zeta_module_check_linked(module);

    kernel->properties = p;
    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (!p)
        return zeta_error_no_memory("a kernel");
    uint32_t code = backend->compute.kernel_create(
        backend->self, module->plugin_module,
        (struct zeta_plugin_string){.data = name, .size = strlen(name)}, &kernel->plugin_kernel);
    if (code == ZETA_PLUGIN_INVALID_KERNEL_NAME)
        return zeta_error(ZE_RESULT_ERROR_INVALID_KERNEL_NAME,
                          "the module has no kernel \"%s\"; it has %u, the first is \"%s\"", name,
                          module->kernel_count,
                          module->kernel_count ? module->kernel_names[0] : "");
    if (code != ZETA_PLUGIN_SUCCESS)
        return zeta_backend_result(backend, code, "creating a kernel");
    p->struct_size = sizeof(*p);
    code = backend->compute.kernel_properties(backend->self, kernel->plugin_kernel, p);
    if (code != ZETA_PLUGIN_SUCCESS)
        return zeta_backend_result(backend, code, "reading the properties of a kernel");

    kernel->name = strndup(p->name.data ? p->name.data : "", (size_t)p->name.size);
    kernel->attributes =
        strndup(p->attributes.data ? p->attributes.data : "", (size_t)p->attributes.size);
    kernel->block = calloc(1, (size_t)p->block_bytes + 1);
    kernel->arguments = calloc((size_t)p->arguments.count + 1, sizeof(*kernel->arguments));
    if (!kernel->name || !kernel->attributes || !kernel->block || !kernel->arguments)
        return zeta_error_no_memory("a kernel");
    kernel->argument_count = (uint32_t)p->arguments.count;
    for (uint32_t i = 0; i < kernel->argument_count; i++) {
        const struct zeta_plugin_argument *argument = zeta_array_at(&p->arguments, i);
        uint64_t bytes = argument->kind == ZETA_PLUGIN_ARG_VALUE ? argument->size_bytes : 8;
        const bool is_optional = (argument->flags & ZETA_PLUGIN_ARG_OPTIONAL) != 0;

        if (argument->offset_bytes + bytes > p->block_bytes)
            return zeta_error(ZE_RESULT_ERROR_UNKNOWN,
                              "plugin \"%s\" placed argument %u of kernel \"%s\" outside its "
                              "argument block of %u bytes",
                              backend->id, i, kernel->name, p->block_bytes);
        kernel->arguments[i] = (struct zeta_kernel_argument){.kind = argument->kind,
                                                             .size_bytes = (uint32_t)bytes,
                                                             .offset_bytes = argument->offset_bytes,
                                                             .is_optional = is_optional,
                                                             .is_set = is_optional};
    }
    for (int i = 0; i < 3; i++)
        kernel->group_size[i] = p->required_group_size[i] ? p->required_group_size[i] : 1;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL impl_zeKernelCreate(ze_module_handle_t hModule, const ze_kernel_desc_t *desc,
                                           ze_kernel_handle_t *phKernel)
{
    struct zeta_module *module = (struct zeta_module *)hModule;
    void *object = NULL;

    ze_result_t result = zeta_object_create_in(module, ZETA_KIND_MODULE, ZETA_KIND_KERNEL,
                                               sizeof(struct zeta_kernel), &object);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    struct zeta_kernel *kernel = object;
    kernel->module = module;
    result = fill_kernel(kernel, desc->pKernelName);
    if (result != ZE_RESULT_SUCCESS) {
        zeta_object_discard(kernel);
        return result;
    }
    atomic_fetch_add(&module->live_kernels, 1);
    *phKernel = (ze_kernel_handle_t)kernel;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL impl_zeKernelDestroy(ze_kernel_handle_t hKernel)
{
    struct zeta_kernel *kernel = (struct zeta_kernel *)hKernel;

    if (!zeta_object_retire(kernel))
        return zeta_object_explain(hKernel, ZETA_KIND_KERNEL, "zeKernelDestroy", "hKernel");
    atomic_fetch_sub(&kernel->module->live_kernels, 1);
    zeta_object_unpin(kernel);
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeta_kernel_check_group_size(const struct zeta_kernel *kernel, const uint32_t size[3])
{
    const struct zeta_plugin_device_properties *device =
        &kernel->module->device->backend->properties;
    const struct zeta_plugin_kernel_properties *p = kernel->properties;
    uint32_t limit = p->max_group_size ? p->max_group_size : device->max_group_size;
    uint64_t items = (uint64_t)size[0] * size[1];

    for (int i = 0; i < 3; i++) {
        if (size[i] == 0 || size[i] > device->max_group_size_xyz[i])
            return zeta_error(ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION,
                              "group size %u x %u x %u: dimension %d has to be 1 to %u", size[0],
                              size[1], size[2], i, device->max_group_size_xyz[i]);
        if (p->required_group_size[i] && size[i] != p->required_group_size[i])
            return zeta_error(ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION,
                              "kernel \"%s\" was compiled for groups of %u x %u x %u", kernel->name,
                              p->required_group_size[0], p->required_group_size[1],
                              p->required_group_size[2]);
    }
    if (items > limit || items * size[2] > limit)
        return zeta_error(ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION,
                          "group size %u x %u x %u has more than the %u work-items that kernel "
                          "\"%s\" can have",
                          size[0], size[1], size[2], limit, kernel->name);
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL impl_zeKernelSetGroupSize(ze_kernel_handle_t hKernel, uint32_t groupSizeX,
                                                 uint32_t groupSizeY, uint32_t groupSizeZ)
{
    struct zeta_kernel *kernel = (struct zeta_kernel *)hKernel;
    const uint32_t size[3] = {groupSizeX, groupSizeY, groupSizeZ};
    ze_result_t result = zeta_kernel_check_group_size(kernel, size);

    if (result == ZE_RESULT_SUCCESS)
        memcpy(kernel->group_size, size, sizeof(size));
    return result;
}

ze_result_t ZE_APICALL impl_zeKernelSuggestGroupSize(ze_kernel_handle_t hKernel,
                                                     uint32_t globalSizeX, uint32_t globalSizeY,
                                                     uint32_t globalSizeZ, uint32_t *groupSizeX,
                                                     uint32_t *groupSizeY, uint32_t *groupSizeZ)
{
    const struct zeta_kernel *kernel = (const struct zeta_kernel *)hKernel;
    const struct zeta_plugin_device_properties *device =
        &kernel->module->device->backend->properties;
    const struct zeta_plugin_kernel_properties *p = kernel->properties;
    const uint32_t global[3] = {globalSizeX, globalSizeY, globalSizeZ};
    uint32_t room = p->max_group_size ? p->max_group_size : device->max_group_size;
    uint32_t size[3];

    for (int i = 0; i < 3; i++) {
        if (global[i] == 0)
            return zeta_error(ZE_RESULT_ERROR_INVALID_GLOBAL_WIDTH_DIMENSION,
                              "global size %u x %u x %u has a zero", global[0], global[1],
                              global[2]);
    }
    /* Divisors only: programs give up when the last group would be smaller than the others. */
    for (int i = 0; i < 3; i++) {
        uint32_t limit =
            device->max_group_size_xyz[i] < room ? device->max_group_size_xyz[i] : room;
        uint32_t items = limit < global[i] ? limit : global[i];

        if (p->required_group_size[i] > 0)
            items = p->required_group_size[i];
        else
            while (items > 1 && global[i] % items != 0)
                items--;
        if (items > 1)
            room = items < room ? room / items : 1;
        size[i] = items > 0 ? items : 1;
    }
    *groupSizeX = size[0];
    *groupSizeY = size[1];
    *groupSizeZ = size[2];
    return ZE_RESULT_SUCCESS;
}

static uint64_t dynamic_local_bytes(const struct zeta_kernel *kernel, const unsigned char *block)
{
    uint64_t total = 0;

    for (uint32_t i = 0; i < kernel->argument_count; i++) {
        uint64_t bytes = 0;

        if (kernel->arguments[i].kind != ZETA_PLUGIN_ARG_LOCAL)
            continue;
        memcpy(&bytes, block + kernel->arguments[i].offset_bytes, sizeof(bytes));
        total += bytes;
    }
    return total;
}

ze_result_t zeta_kernel_launch_state(const struct zeta_kernel *kernel,
                                     struct zeta_launch_state *out_state)
{
    uint32_t most = kernel->module->device->backend->properties.max_shared_local_bytes;

    for (uint32_t i = 0; i < kernel->argument_count; i++) {
        if (!kernel->arguments[i].is_set)
            return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                              "argument %u of kernel \"%s\" was not set", i, kernel->name);
    }
    uint64_t local_bytes =
        kernel->properties->local_bytes + dynamic_local_bytes(kernel, kernel->block);
    if (local_bytes > most)
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "kernel \"%s\" needs %llu bytes of local memory for a group, the device "
                          "has %u",
                          kernel->name, (unsigned long long)local_bytes, most);
    out_state->block = kernel->block;
    out_state->block_bytes = kernel->properties->block_bytes;
    memcpy(out_state->group_size, kernel->group_size, sizeof(out_state->group_size));
    memcpy(out_state->global_offset, kernel->global_offset, sizeof(out_state->global_offset));
    out_state->local_bytes = (uint32_t)local_bytes;
    return ZE_RESULT_SUCCESS;
}

uint64_t zeta_kernel_resident_groups(const struct zeta_kernel *kernel, const uint32_t size[3],
                                     const void *block)
{
    struct zeta_backend *backend = kernel->module->backend;
    const struct zeta_plugin_device_properties *device =
        &kernel->module->device->backend->properties;
    uint64_t groups = 0;

    if (!zeta_device_is_cooperative(kernel->module->device))
        return 0;
    if (backend->compute.kernel_resident_groups(backend->self, kernel->plugin_kernel, size, block,
                                                &groups) == ZETA_PLUGIN_SUCCESS)
        return groups;

    /* The properties of the device, where the backend does not know better. A group runs inside one
     * subslice, whose threads and local memory its groups share. */
    uint64_t items = (uint64_t)size[0] * size[1] * size[2];
    uint64_t lanes = device->simd_width ? device->simd_width : 1;
    uint64_t threads = (items + lanes - 1) / lanes;
    uint64_t local_bytes = kernel->properties->local_bytes + dynamic_local_bytes(kernel, block);
    groups = (uint64_t)device->eus_per_subslice * device->threads_per_eu / threads;
    if (local_bytes > 0 && device->max_shared_local_bytes / local_bytes < groups)
        groups = device->max_shared_local_bytes / local_bytes;
    return groups * device->slices * device->subslices_per_slice;
}

ze_result_t ZE_APICALL impl_zeKernelSuggestMaxCooperativeGroupCount(ze_kernel_handle_t hKernel,
                                                                    uint32_t *totalGroupCount)
{
    const struct zeta_kernel *kernel = (const struct zeta_kernel *)hKernel;
    uint64_t groups = zeta_kernel_resident_groups(kernel, kernel->group_size, kernel->block);

    *totalGroupCount = groups < UINT32_MAX ? (uint32_t)groups : UINT32_MAX;
    return ZE_RESULT_SUCCESS;
}

static ze_result_t wrong_size(const struct zeta_kernel *kernel, uint32_t index, size_t given,
                              uint32_t wanted)
{
    return zeta_error(ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE,
                      "argument %u of kernel \"%s\" has %u bytes, not %zu", index, kernel->name,
                      wanted, given);
}

ze_result_t zeta_kernel_write_argument(const struct zeta_kernel *kernel, unsigned char *block,
                                       uint32_t index, size_t size, const void *value)
{
    uint32_t most = kernel->module->device->backend->properties.max_shared_local_bytes;
    uint64_t local_bytes = size;

    if (index >= kernel->argument_count)
        return zeta_error(ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_INDEX,
                          "kernel \"%s\" has %u arguments, there is no number %u", kernel->name,
                          kernel->argument_count, index);
    struct zeta_kernel_argument *argument = &kernel->arguments[index];
    unsigned char *at = block + argument->offset_bytes;
    if (argument->kind == ZETA_PLUGIN_ARG_LOCAL) {
        if (value)
            return zeta_error(
                ZE_RESULT_ERROR_INVALID_ARGUMENT,
                "argument %u of kernel \"%s\" is local memory: it takes a size and no "
                "value",
                index, kernel->name);
        if (size == 0 || size > most)
            return zeta_error(
                ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE,
                "argument %u of kernel \"%s\": local memory of %zu bytes; 1 to %u are "
                "possible",
                index, kernel->name, size, most);
        memcpy(at, &local_bytes, sizeof(local_bytes));
        return ZE_RESULT_SUCCESS;
    }
    if (size != argument->size_bytes) {
        /*
         * Drivers in the field take plain values of any size: an int for a size_t, or three numbers
         * for a vector of three, which has the size of four. Its author learns of it.
         */
        const bool may_be_value =
            argument->kind == ZETA_PLUGIN_ARG_VALUE || argument->kind == ZETA_PLUGIN_ARG_UNKNOWN;

        if (!may_be_value || size == 0 || zeta_settings_bool("kernel.strict_arguments", false))
            return wrong_size(kernel, index, size, argument->size_bytes);
        if (!atomic_exchange(&argument->is_logged, true))
            zeta_log_once(
                ZETA_LOG_WARN, "kernel",
                "argument %u of kernel \"%s\" has %u bytes and was given %zu: what fits is "
                "used, the rest is zero (setting kernel.strict_arguments refuses it)",
                index, kernel->name, argument->size_bytes, size);
    }
    memset(at, 0, argument->size_bytes);
    if (value)
        memcpy(at, value, size < argument->size_bytes ? size : argument->size_bytes);
    return ZE_RESULT_SUCCESS;
}

static ze_result_t set_argument(struct zeta_kernel *kernel, uint32_t index, size_t size,
                                const void *value)
{
    ze_result_t result = zeta_kernel_write_argument(kernel, kernel->block, index, size, value);

    if (result == ZE_RESULT_SUCCESS)
        kernel->arguments[index].is_set = true;
    return result;
}

ze_result_t zeta_kernel_set_arguments(struct zeta_kernel *kernel, void **arguments)
{
    for (uint32_t i = 0; i < kernel->argument_count; i++) {
        const struct zeta_kernel_argument *argument = &kernel->arguments[i];
        size_t size = argument->size_bytes;

        /* Who passes an array has one value for each argument that the source declares. */
        if (argument->is_optional)
            continue;
        const void *value = arguments[i];
        if (argument->kind == ZETA_PLUGIN_ARG_LOCAL) {
            if (!value)
                return wrong_size(kernel, i, 0, 8);
            memcpy(&size, value, sizeof(size));
            value = NULL;
        }
        ze_result_t result = set_argument(kernel, i, size, value);
        if (result != ZE_RESULT_SUCCESS)
            return result;
    }
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL impl_zeKernelSetArgumentValue(ze_kernel_handle_t hKernel, uint32_t argIndex,
                                                     size_t argSize, const void *pArgValue)
{
    return set_argument((struct zeta_kernel *)hKernel, argIndex, argSize, pArgValue);
}

ze_result_t ZE_APICALL impl_zeKernelSetIndirectAccess(ze_kernel_handle_t hKernel,
                                                      ze_kernel_indirect_access_flags_t flags)
{
    ((struct zeta_kernel *)hKernel)->indirect_access = flags;
    return ZE_RESULT_SUCCESS;
}

ZETA_GETTER(zeKernelGetIndirectAccess, ze_kernel_handle_t, zeta_kernel,
            ze_kernel_indirect_access_flags_t, self->indirect_access)

/* A preference, and no backend can divide its caches in another way than they are. */
ze_result_t ZE_APICALL impl_zeKernelSetCacheConfig(ze_kernel_handle_t hKernel ZETA_UNUSED,
                                                   ze_cache_config_flags_t flags ZETA_UNUSED)
{
    return ZE_RESULT_SUCCESS;
}

/* Hints that a device does not know are ignored, and the properties of every device list none. */
ze_result_t ZE_APICALL impl_zeKernelSchedulingHintExp(
    ze_kernel_handle_t hKernel ZETA_UNUSED, ze_scheduling_hint_exp_desc_t *pHint ZETA_UNUSED)
{
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeta_kernel_check_offset(const struct zeta_kernel *kernel, const uint64_t offset[3])
{
    if ((offset[0] == 0 && offset[1] == 0 && offset[2] == 0) ||
        (kernel->properties->flags & ZETA_PLUGIN_KERNEL_NO_GLOBAL_OFFSET) == 0)
        return ZE_RESULT_SUCCESS;
    return zeta_error(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
                      "launches of kernel %s on device %s have no global offset; pass it to the "
                      "kernel as an argument, or make the module of SPIR-V",
                      kernel->name, kernel->module->device->backend->id);
}

ze_result_t ZE_APICALL impl_zeKernelSetGlobalOffsetExp(ze_kernel_handle_t hKernel, uint32_t offsetX,
                                                       uint32_t offsetY, uint32_t offsetZ)
{
    struct zeta_kernel *kernel = (struct zeta_kernel *)hKernel;
    const uint64_t offset[3] = {offsetX, offsetY, offsetZ};
    ze_result_t result = zeta_kernel_check_offset(kernel, offset);

    if (result == ZE_RESULT_SUCCESS)
        memcpy(kernel->global_offset, offset, sizeof(offset));
    return result;
}

/* ---- what can be asked about a kernel ---- */

ze_result_t ZE_APICALL impl_zeKernelGetSourceAttributes(ze_kernel_handle_t hKernel, uint32_t *pSize,
                                                        char **pString)
{
    const char *text = ((const struct zeta_kernel *)hKernel)->attributes;
    uint32_t bytes = (uint32_t)strlen(text) + 1;
    uint32_t room = *pSize;

    *pSize = bytes;
    if (!pString)
        return ZE_RESULT_SUCCESS;
    if (room < bytes || !*pString)
        return zeta_error(ZE_RESULT_ERROR_INVALID_SIZE,
                          "the source attributes have %u bytes and the buffer only %u", bytes,
                          *pString ? room : 0);
    memcpy(*pString, text, bytes);
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL impl_zeKernelGetProperties(ze_kernel_handle_t hKernel,
                                                  ze_kernel_properties_t *pKernelProperties)
{
    const struct zeta_kernel *kernel = (const struct zeta_kernel *)hKernel;
    const struct zeta_plugin_kernel_properties *p = kernel->properties;
    ze_kernel_properties_t *out = pKernelProperties;

    out->numKernelArgs = kernel->argument_count;
    out->requiredGroupSizeX = p->required_group_size[0];
    out->requiredGroupSizeY = p->required_group_size[1];
    out->requiredGroupSizeZ = p->required_group_size[2];
    out->requiredNumSubGroups = 0;
    out->requiredSubgroupSize = 0;
    out->maxSubgroupSize = p->max_subgroup_size ? p->max_subgroup_size : 1;
    out->maxNumSubgroups = p->max_subgroups;
    out->localMemSize = p->local_bytes;
    out->privateMemSize = p->private_bytes;
    out->spillMemSize = p->spill_bytes;
    memcpy(out->uuid.kid, p->uuid, sizeof(out->uuid.kid));
    memcpy(out->uuid.mid, p->module_uuid, sizeof(out->uuid.mid));

    ze_kernel_preferred_group_size_properties_t *preferred = zeta_chain_find(
        out->pNext, ZE_STRUCTURE_TYPE_KERNEL_PREFERRED_GROUP_SIZE_PROPERTIES, sizeof(*preferred));
    if (preferred)
        preferred->preferredMultiple = out->maxSubgroupSize;
    ze_kernel_max_group_size_properties_ext_t *most = zeta_chain_find(
        out->pNext, ZE_STRUCTURE_TYPE_KERNEL_MAX_GROUP_SIZE_EXT_PROPERTIES, sizeof(*most));
    if (most)
        most->maxGroupSize = p->max_group_size
                                 ? p->max_group_size
                                 : kernel->module->device->backend->properties.max_group_size;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL impl_zeKernelGetName(ze_kernel_handle_t hKernel, size_t *pSize, char *pName)
{
    const char *name = ((const struct zeta_kernel *)hKernel)->name;

    return zeta_blob_copy("name of the kernel", name, strlen(name) + 1, pSize, pName);
}

ze_result_t ZE_APICALL impl_zeKernelGetBinaryExp(ze_kernel_handle_t hKernel, size_t *pSize,
                                                 uint8_t *pKernelBinary)
{
    const struct zeta_kernel *kernel = (const struct zeta_kernel *)hKernel;
    const struct zeta_backend *backend = kernel->module->backend;
    struct zeta_plugin_array image = {0};
    const uint32_t code =
        backend->compute.kernel_image(backend->self, kernel->plugin_kernel, &image);

    if (code != ZETA_PLUGIN_SUCCESS)
        return zeta_backend_result(backend, code, "reading the code of a kernel");
    return zeta_blob_copy("code", image.data, (size_t)image.count, pSize, pKernelBinary);
}

/* The allocation that argument @index points into, if it may be a pointer to memory of the context.
 */
static bool find_allocation(const struct zeta_kernel *kernel, uint32_t index,
                            struct zeta_allocation *out_allocation)
{
    const struct zeta_kernel_argument *argument = &kernel->arguments[index];
    const void *address = NULL;

    if ((argument->kind != ZETA_PLUGIN_ARG_GLOBAL && argument->kind != ZETA_PLUGIN_ARG_UNKNOWN) ||
        !argument->is_set)
        return false;
    memcpy(&address, kernel->block + argument->offset_bytes, sizeof(address));
    return address && zeta_memory_find(kernel->module->context->memory, address, out_allocation);
}

ze_result_t ZE_APICALL impl_zeKernelGetAllocationPropertiesExp(
    ze_kernel_handle_t hKernel, uint32_t *pCount,
    ze_kernel_allocation_exp_properties_t *pAllocationProperties)
{
    const struct zeta_kernel *kernel = (const struct zeta_kernel *)hKernel;
    struct zeta_allocation allocation;
    uint32_t available = 0;
    uint32_t written = 0;

    for (uint32_t i = 0; i < kernel->argument_count; i++)
        available += find_allocation(kernel, i, &allocation);
    uint32_t n = zeta_count_clip(pCount, available, pAllocationProperties);
    for (uint32_t i = 0; i < kernel->argument_count && written < n; i++) {
        if (!find_allocation(kernel, i, &allocation))
            continue;
        ze_kernel_allocation_exp_properties_t *out = &pAllocationProperties[written++];

        out->base = (uintptr_t)allocation.base;
        out->size = allocation.size_bytes;
        out->type = allocation.type;
        out->argIndex = i;
    }
    return ZE_RESULT_SUCCESS;
}

/* ---- what instrumentation asks for ---- */

/* More of them than a register file of 64 can have. */
enum { MAX_FREE_RANGES = 64 };

/*
 * The room that the caller says is behind the struct, or null. Programs that leave pNext as it was
 * on their stack are many, so only that value of stype makes it one.
 */
static struct zeta_profile_room *find_room(const zet_profile_properties_t *properties)
{
    struct zeta_profile_room *given = properties->pNext;
    struct zeta_profile_room copy;

    if (!given || (uintptr_t)given % _Alignof(struct zeta_profile_room) != 0 ||
        !zeta_chain_copy(&copy, given, sizeof(copy)) ||
        copy.stype != ZETA_STRUCTURE_TYPE_PROFILE_ROOM)
        return NULL;
    return given;
}

/* The token about free registers, to be freed; null when nothing is known or there is no memory. */
static zet_profile_free_register_token_t *free_register_token(const struct zeta_kernel *kernel)
{
    struct zeta_backend *backend = kernel->module->backend;
    struct zeta_plugin_register_range ranges[MAX_FREE_RANGES];
    uint32_t count = MAX_FREE_RANGES;
    zet_profile_free_register_token_t *token = NULL;
    zet_profile_register_sequence_t *sequences;

    if (backend->compute.kernel_profile(backend->self, kernel->plugin_kernel, &count, ranges) !=
        ZETA_PLUGIN_SUCCESS)
        return NULL;
    if (count > MAX_FREE_RANGES)
        count = MAX_FREE_RANGES; /* the others are not named */
    token = malloc(sizeof(*token) + count * sizeof(*sequences));
    if (!token)
        return NULL;
    *token = (zet_profile_free_register_token_t){
        .type = ZET_PROFILE_TOKEN_TYPE_FREE_REGISTER,
        .size = (uint32_t)(sizeof(*token) + count * sizeof(*sequences)),
        .count = count};
    sequences = (zet_profile_register_sequence_t *)(token + 1);
    for (uint32_t i = 0; i < count; i++)
        sequences[i] = (zet_profile_register_sequence_t){.start = ranges[i].begin_bytes,
                                                         .count = ranges[i].size_bytes};
    return token;
}

/*
 * The flags that the module was built with, and tokens behind the struct for those who say that
 * there is room: the specification has no way to say it.
 */
ze_result_t ZE_APICALL impl_zetKernelGetProfileInfo(zet_kernel_handle_t hKernel,
                                                    zet_profile_properties_t *pProfileProperties)
{
    const struct zeta_kernel *kernel = (const struct zeta_kernel *)hKernel;
    const uint32_t flags = kernel->module->profile_flags;
    struct zeta_profile_room *room = find_room(pProfileProperties);
    ZETA_CLEANUP(zeta_freep) zet_profile_free_register_token_t *token = NULL;

    if (room && (flags & ZET_PROFILE_FLAG_FREE_REGISTER_INFO))
        token = free_register_token(kernel);
    pProfileProperties->flags = flags;
    pProfileProperties->numTokens = token && token->size <= room->size_bytes ? 1 : 0;
    if (pProfileProperties->numTokens > 0)
        memcpy(pProfileProperties + 1, token, token->size);
    if (room)
        room->size_bytes = token ? token->size : 0;
    return ZE_RESULT_SUCCESS;
}

/*
 * ---- Functions that vendors' drivers have beside the specification, where programs count on them.
 * They are no part of any table and no symbol of the library: zeDriverGetExtensionFunctionAddress
 * is the only way to them. ----
 */

/*
 * The lowest address of a kernel's code on the device, whose size zeKernelGetBinaryExp gives: what
 * instruction pointers are compared with.
 */
static ze_result_t ZE_APICALL kernel_base_address(ze_kernel_handle_t handle, uint64_t *address)
{
    static const char function[] = "zexKernelGetBaseAddress";
    struct zeta_kernel *kernel = (struct zeta_kernel *)handle;
    uint64_t begin = 0;

    if (!zeta_object_is(handle, ZETA_KIND_KERNEL))
        return zeta_object_explain(handle, ZETA_KIND_KERNEL, function, "hKernel");
    if (!address)
        return zeta_error(ZE_RESULT_ERROR_INVALID_NULL_POINTER, "%s: baseAddress is null",
                          function);
    struct zeta_backend *backend = kernel->module->backend;
    uint32_t code = backend->compute.kernel_code(backend->self, kernel->plugin_kernel, &begin);

    if (code != ZETA_PLUGIN_SUCCESS)
        return zeta_backend_result(backend, code, "looking up the address of a kernel");
    *address = begin;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL impl_zeDriverGetExtensionFunctionAddress(
    ze_driver_handle_t hDriver ZETA_UNUSED, const char *name, void **ppFunctionAddress)
{
    ze_result_t(ZE_APICALL *const function)(ze_kernel_handle_t, uint64_t *) = kernel_base_address;

    if (strcmp(name, "zexKernelGetBaseAddress") != 0)
        return zeta_function_address(name, ppFunctionAddress);
    memcpy(ppFunctionAddress, &function, sizeof(*ppFunctionAddress));
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL impl_zesDriverGetExtensionFunctionAddress(zes_driver_handle_t hDriver,
                                                                 const char *name,
                                                                 void **ppFunctionAddress)
{
    return impl_zeDriverGetExtensionFunctionAddress(hDriver, name, ppFunctionAddress);
}
