/* What can be asked about a kernel. */
#include <string.h>

#include <level_zero/zet_api.h>

#include "core/api/chain.h"
#include "core/device/device.h"
#include "core/memory/memory.h"
#include "core/module/kernel.h"
#include "core/module/module_log.h"
#include "core/plugin/host.h"
#include "core/util/cleanup.h"
#include "core/util/error.h"
#include "zeta_impl.h"

ze_result_t ZE_APICALL impl_zeKernelGetSourceAttributes(ze_kernel_handle_t hKernel, uint32_t *pSize,
                                                        char **pString)
{
    const char *text = ((const struct zeta_kernel *)hKernel)->state->attributes;
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

static void fill_chained(const struct zeta_kernel *kernel, const void *next)
{
    const struct zeta_plugin_kernel_properties *p = &kernel->state->properties;
    const struct zeta_plugin_device_properties *device =
        &kernel->module->device->backend->properties;
    struct zeta_chain chain = zeta_chain_begin(next);
    uint32_t stype;
    void *node;

    while ((node = zeta_chain_next(&chain, &stype)) != NULL) {
        if (stype == ZE_STRUCTURE_TYPE_KERNEL_PREFERRED_GROUP_SIZE_PROPERTIES &&
            zeta_chain_readable(node, sizeof(ze_kernel_preferred_group_size_properties_t))) {
            ((ze_kernel_preferred_group_size_properties_t *)node)->preferredMultiple =
                p->max_subgroup_size ? p->max_subgroup_size : 1;
        } else if (stype == ZE_STRUCTURE_TYPE_KERNEL_MAX_GROUP_SIZE_EXT_PROPERTIES &&
                   zeta_chain_readable(node, sizeof(ze_kernel_max_group_size_properties_ext_t))) {
            ((ze_kernel_max_group_size_properties_ext_t *)node)->maxGroupSize =
                p->max_group_size ? p->max_group_size : device->max_group_size;
        }
    }
}

ze_result_t ZE_APICALL impl_zeKernelGetProperties(ze_kernel_handle_t hKernel,
                                                  ze_kernel_properties_t *pKernelProperties)
{
    const struct zeta_kernel *kernel = (const struct zeta_kernel *)hKernel;
    const struct zeta_plugin_kernel_properties *p = &kernel->state->properties;
    ze_kernel_properties_t *out = pKernelProperties;

    out->numKernelArgs = kernel->state->argument_count;
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
    fill_chained(kernel, out->pNext);
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL impl_zeKernelGetName(ze_kernel_handle_t hKernel, size_t *pSize, char *pName)
{
    const char *name = ((const struct zeta_kernel *)hKernel)->state->name;
    size_t bytes = strlen(name) + 1;
    size_t room = *pSize;

    *pSize = bytes;
    if (!pName)
        return ZE_RESULT_SUCCESS;
    if (room < bytes)
        return zeta_error(ZE_RESULT_ERROR_INVALID_SIZE,
                          "the name of kernel \"%s\" has %zu bytes and the buffer only %zu", name,
                          bytes, room);
    memcpy(pName, name, bytes);
    return ZE_RESULT_SUCCESS;
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

/* The allocation that argument @index points into, if it is a pointer to memory of the context. */
static bool find_allocation(const struct zeta_kernel *kernel, uint32_t index,
                            struct zeta_allocation *out_allocation)
{
    const struct zeta_kernel_argument *argument = &kernel->state->arguments[index];
    const void *address = NULL;

    if (argument->kind != ZETA_PLUGIN_ARG_GLOBAL || !argument->is_set)
        return false;
    memcpy(&address, kernel->state->block + argument->offset_bytes, sizeof(address));
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

    for (uint32_t i = 0; i < kernel->state->argument_count; i++)
        available += find_allocation(kernel, i, &allocation);
    uint32_t n = zeta_count_clip(pCount, available, pAllocationProperties);
    for (uint32_t i = 0; i < kernel->state->argument_count && written < n; i++) {
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

/*
 * The flags that the module was built with. Lists of unused registers would lie behind the struct,
 * for which a caller that does not know their number cannot have made room: there are none.
 */
ze_result_t ZE_APICALL impl_zetKernelGetProfileInfo(zet_kernel_handle_t hKernel,
                                                    zet_profile_properties_t *pProfileProperties)
{
    pProfileProperties->flags = ((const struct zeta_kernel *)hKernel)->module->profile_flags;
    pProfileProperties->numTokens = 0;
    return ZE_RESULT_SUCCESS;
}
