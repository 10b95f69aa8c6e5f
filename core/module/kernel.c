#include "core/module/kernel.h"

#include <stdlib.h>
#include <string.h>

#include "core/device/device.h"
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
    zeta_kernel_state_destroy(kernel->state);
    zeta_object_unpin(module);
}

ZETA_OBJECT_FINISHER(ZETA_KIND_KERNEL, finish_kernel)

static ze_result_t fill_kernel(struct zeta_kernel *kernel, const char *name)
{
    struct zeta_backend *backend = kernel->module->backend;
    struct zeta_plugin_string text = {.data = name, .size = strlen(name)};
    ze_result_t result = zeta_module_check_linked(kernel->module);

    if (result != ZE_RESULT_SUCCESS)
        return result;
    uint32_t code = backend->compute.kernel_create(backend->self, kernel->module->plugin_module,
                                                   text, &kernel->plugin_kernel);

    if (code == ZETA_PLUGIN_INVALID_KERNEL_NAME)
        return zeta_error(ZE_RESULT_ERROR_INVALID_KERNEL_NAME,
                          "the module has no kernel \"%s\"; it has %u, the first is \"%s\"", name,
                          kernel->module->kernel_count,
                          kernel->module->kernel_count ? kernel->module->kernel_names[0] : "");
    if (code != ZETA_PLUGIN_SUCCESS)
        return zeta_backend_result(backend, code, "creating a kernel");
    return zeta_kernel_state_create(kernel->module, kernel->plugin_kernel, &kernel->state);
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

ze_result_t ZE_APICALL impl_zeKernelSetGroupSize(ze_kernel_handle_t hKernel, uint32_t groupSizeX,
                                                 uint32_t groupSizeY, uint32_t groupSizeZ)
{
    struct zeta_kernel *kernel = (struct zeta_kernel *)hKernel;
    const uint32_t size[3] = {groupSizeX, groupSizeY, groupSizeZ};
    ze_result_t result = zeta_kernel_check_group_size(kernel, size);

    if (result == ZE_RESULT_SUCCESS)
        memcpy(kernel->state->group_size, size, sizeof(size));
    return result;
}

/* The largest divisor of n that is at most limit; limit >= 1. */
static uint32_t largest_divisor(uint32_t n, uint32_t limit)
{
    if (limit >= n)
        return n;
    for (uint32_t d = limit; d > 1; d--) {
        if (n % d == 0)
            return d;
    }
    return 1;
}

ze_result_t ZE_APICALL impl_zeKernelSuggestGroupSize(ze_kernel_handle_t hKernel,
                                                     uint32_t globalSizeX, uint32_t globalSizeY,
                                                     uint32_t globalSizeZ, uint32_t *groupSizeX,
                                                     uint32_t *groupSizeY, uint32_t *groupSizeZ)
{
    const struct zeta_kernel *kernel = (const struct zeta_kernel *)hKernel;
    const struct zeta_plugin_device_properties *device =
        &kernel->module->device->backend->properties;
    const struct zeta_plugin_kernel_properties *p = &kernel->state->properties;
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

        size[i] = p->required_group_size[i] ? p->required_group_size[i]
                                            : largest_divisor(global[i], limit ? limit : 1);
        room = room / size[i] ? room / size[i] : 1;
    }
    *groupSizeX = size[0];
    *groupSizeY = size[1];
    *groupSizeZ = size[2];
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL impl_zeKernelSuggestMaxCooperativeGroupCount(ze_kernel_handle_t hKernel,
                                                                    uint32_t *totalGroupCount)
{
    *totalGroupCount = zeta_kernel_max_cooperative_groups((const struct zeta_kernel *)hKernel);
    return ZE_RESULT_SUCCESS;
}

static ze_result_t wrong_size(const struct zeta_kernel *kernel, uint32_t index, size_t given,
                              uint32_t wanted)
{
    return zeta_error(ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE,
                      "argument %u of kernel \"%s\" has %u bytes, not %zu", index,
                      kernel->state->name, wanted, given);
}

/*
 * Drivers in the field take plain values of any size: an int for a size_t, or three numbers for a
 * vector of three, which has the size of four. Its author learns of it.
 */
static bool tolerate_size(const struct zeta_kernel *kernel, uint32_t index, size_t given)
{
    struct zeta_kernel_argument *argument = &kernel->state->arguments[index];

    if (argument->kind != ZETA_PLUGIN_ARG_VALUE || given == 0 ||
        zeta_settings_bool("kernel.strict_arguments", false))
        return false;
    if (!atomic_exchange(&argument->is_logged, true))
        zeta_log_once(ZETA_LOG_WARN, "kernel",
                      "argument %u of kernel \"%s\" has %u bytes and was given %zu: what fits is "
                      "used, the rest is zero (setting kernel.strict_arguments refuses it)",
                      index, kernel->state->name, argument->size_bytes, given);
    return true;
}

static ze_result_t write_local(const struct zeta_kernel *kernel, unsigned char *at, uint32_t index,
                               size_t size, const void *value)
{
    uint32_t most = kernel->module->device->backend->properties.max_shared_local_bytes;
    uint64_t bytes = size;

    if (value)
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "argument %u of kernel \"%s\" is local memory: it takes a size and no "
                          "value",
                          index, kernel->state->name);
    if (size == 0 || size > most)
        return zeta_error(ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE,
                          "argument %u of kernel \"%s\": local memory of %zu bytes; 1 to %u are "
                          "possible",
                          index, kernel->state->name, size, most);
    memcpy(at, &bytes, sizeof(bytes));
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeta_kernel_write_argument(const struct zeta_kernel *kernel, unsigned char *block,
                                       uint32_t index, size_t size, const void *value)
{
    const struct zeta_kernel_state *state = kernel->state;

    if (index >= state->argument_count)
        return zeta_error(ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_INDEX,
                          "kernel \"%s\" has %u arguments, there is no number %u", state->name,
                          state->argument_count, index);
    const struct zeta_kernel_argument *argument = &state->arguments[index];
    if (argument->kind == ZETA_PLUGIN_ARG_LOCAL)
        return write_local(kernel, block + argument->offset_bytes, index, size, value);
    if (size != argument->size_bytes && !tolerate_size(kernel, index, size))
        return wrong_size(kernel, index, size, argument->size_bytes);
    memset(block + argument->offset_bytes, 0, argument->size_bytes);
    if (value)
        memcpy(block + argument->offset_bytes, value,
               size < argument->size_bytes ? size : argument->size_bytes);
    return ZE_RESULT_SUCCESS;
}

static ze_result_t set_argument(struct zeta_kernel *kernel, uint32_t index, size_t size,
                                const void *value)
{
    ze_result_t result =
        zeta_kernel_write_argument(kernel, kernel->state->block, index, size, value);

    if (result == ZE_RESULT_SUCCESS)
        kernel->state->arguments[index].is_set = true;
    return result;
}

ze_result_t zeta_kernel_set_arguments(struct zeta_kernel *kernel, void **arguments)
{
    for (uint32_t i = 0; i < kernel->state->argument_count; i++) {
        const struct zeta_kernel_argument *argument = &kernel->state->arguments[i];
        size_t size = argument->size_bytes;
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
    ((struct zeta_kernel *)hKernel)->state->indirect_access = flags;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL impl_zeKernelGetIndirectAccess(ze_kernel_handle_t hKernel,
                                                      ze_kernel_indirect_access_flags_t *pFlags)
{
    *pFlags = ((const struct zeta_kernel *)hKernel)->state->indirect_access;
    return ZE_RESULT_SUCCESS;
}

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

ze_result_t ZE_APICALL impl_zeKernelSetGlobalOffsetExp(ze_kernel_handle_t hKernel, uint32_t offsetX,
                                                       uint32_t offsetY, uint32_t offsetZ)
{
    struct zeta_kernel_state *state = ((struct zeta_kernel *)hKernel)->state;

    state->global_offset[0] = offsetX;
    state->global_offset[1] = offsetY;
    state->global_offset[2] = offsetZ;
    return ZE_RESULT_SUCCESS;
}
