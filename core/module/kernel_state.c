/* What a kernel remembers between calls: facts from the backend, arguments, group size. */
#include <stdlib.h>
#include <string.h>

#include "core/device/device.h"
#include "core/module/kernel.h"
#include "core/plugin/host.h"
#include "core/util/cleanup.h"
#include "core/util/error.h"

void zeta_kernel_state_destroy(struct zeta_kernel_state *state)
{
    if (!state)
        return;
    free(state->name);
    free(state->attributes);
    free(state->arguments);
    free(state->block);
    free(state);
}

static void state_destroyp(struct zeta_kernel_state **state)
{
    zeta_kernel_state_destroy(*state);
}

static ze_result_t read_arguments(const struct zeta_module *module, struct zeta_kernel_state *state)
{
    const struct zeta_plugin_array *given = &state->properties.arguments;

    state->argument_count = (uint32_t)given->count;
    state->arguments = calloc((size_t)given->count + 1, sizeof(*state->arguments));
    if (!state->arguments)
        return zeta_error_no_memory("the state of a kernel");
    for (uint32_t i = 0; i < state->argument_count; i++) {
        const struct zeta_plugin_argument *argument = zeta_array_at(given, i);
        uint64_t bytes = argument->kind == ZETA_PLUGIN_ARG_VALUE ? argument->size_bytes : 8;

        if (argument->offset_bytes + bytes > state->properties.block_bytes)
            return zeta_error(ZE_RESULT_ERROR_UNKNOWN,
                              "plugin \"%s\" placed argument %u of kernel \"%s\" outside its "
                              "argument block of %u bytes",
                              module->backend->id, i, state->name, state->properties.block_bytes);
        state->arguments[i] = (struct zeta_kernel_argument){.kind = argument->kind,
                                                            .size_bytes = (uint32_t)bytes,
                                                            .offset_bytes = argument->offset_bytes};
    }
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeta_kernel_state_create(const struct zeta_module *module,
                                     struct zeta_plugin_kernel *kernel,
                                     struct zeta_kernel_state **out_state)
{
    ZETA_CLEANUP(state_destroyp) struct zeta_kernel_state *state = calloc(1, sizeof(*state));
    struct zeta_backend *backend = module->backend;

    if (!state)
        return zeta_error_no_memory("the state of a kernel");
    state->properties.struct_size = sizeof(state->properties);
    uint32_t code = backend->compute.kernel_properties(backend->self, kernel, &state->properties);
    if (code != ZETA_PLUGIN_SUCCESS)
        return zeta_backend_result(backend, code, "reading the properties of a kernel");

    const struct zeta_plugin_kernel_properties *p = &state->properties;
    state->name = strndup(p->name.data ? p->name.data : "", (size_t)p->name.size);
    state->attributes =
        strndup(p->attributes.data ? p->attributes.data : "", (size_t)p->attributes.size);
    state->block = calloc(1, (size_t)p->block_bytes + 1);
    if (!state->name || !state->attributes || !state->block)
        return zeta_error_no_memory("the state of a kernel");
    ze_result_t result = read_arguments(module, state);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    for (int i = 0; i < 3; i++)
        state->group_size[i] = p->required_group_size[i] ? p->required_group_size[i] : 1;
    *out_state = ZETA_TAKE(state);
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeta_kernel_check_group_size(const struct zeta_kernel *kernel, const uint32_t size[3])
{
    const struct zeta_plugin_device_properties *device =
        &kernel->module->device->backend->properties;
    const struct zeta_plugin_kernel_properties *p = &kernel->state->properties;
    uint32_t limit = p->max_group_size ? p->max_group_size : device->max_group_size;
    uint64_t items = (uint64_t)size[0] * size[1];

    for (int i = 0; i < 3; i++) {
        if (size[i] == 0 || size[i] > device->max_group_size_xyz[i])
            return zeta_error(ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION,
                              "group size %u x %u x %u: dimension %d has to be 1 to %u", size[0],
                              size[1], size[2], i, device->max_group_size_xyz[i]);
        if (p->required_group_size[i] && size[i] != p->required_group_size[i])
            return zeta_error(ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION,
                              "kernel \"%s\" was compiled for groups of %u x %u x %u",
                              kernel->state->name, p->required_group_size[0],
                              p->required_group_size[1], p->required_group_size[2]);
    }
    if (items > limit || items * size[2] > limit)
        return zeta_error(ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION,
                          "group size %u x %u x %u has more than the %u work-items that kernel "
                          "\"%s\" can have",
                          size[0], size[1], size[2], limit, kernel->state->name);
    return ZE_RESULT_SUCCESS;
}

static uint64_t dynamic_local_bytes(const struct zeta_kernel_state *state,
                                    const unsigned char *block)
{
    uint64_t total = 0;

    for (uint32_t i = 0; i < state->argument_count; i++) {
        uint64_t bytes = 0;

        if (state->arguments[i].kind != ZETA_PLUGIN_ARG_LOCAL)
            continue;
        memcpy(&bytes, block + state->arguments[i].offset_bytes, sizeof(bytes));
        total += bytes;
    }
    return total;
}

ze_result_t zeta_kernel_launch_state(const struct zeta_kernel *kernel,
                                     struct zeta_launch_state *out_state)
{
    const struct zeta_kernel_state *state = kernel->state;
    uint32_t most = kernel->module->device->backend->properties.max_shared_local_bytes;

    for (uint32_t i = 0; i < state->argument_count; i++) {
        if (!state->arguments[i].is_set)
            return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                              "argument %u of kernel \"%s\" was not set", i, state->name);
    }
    uint64_t local_bytes = state->properties.local_bytes + dynamic_local_bytes(state, state->block);
    if (local_bytes > most)
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "kernel \"%s\" needs %llu bytes of local memory for a group, the device "
                          "has %u",
                          state->name, (unsigned long long)local_bytes, most);
    out_state->block = state->block;
    out_state->block_bytes = state->properties.block_bytes;
    memcpy(out_state->group_size, state->group_size, sizeof(out_state->group_size));
    memcpy(out_state->global_offset, state->global_offset, sizeof(out_state->global_offset));
    out_state->local_bytes = (uint32_t)local_bytes;
    return ZE_RESULT_SUCCESS;
}

const char *zeta_kernel_name(const struct zeta_kernel *kernel)
{
    return kernel->state->name;
}

/* The properties of the device, where the backend does not know better. */
static uint64_t computed_groups(const struct zeta_kernel *kernel, const uint32_t size[3],
                                const void *block)
{
    const struct zeta_plugin_device_properties *device =
        &kernel->module->device->backend->properties;
    const struct zeta_kernel_state *state = kernel->state;
    uint64_t items = (uint64_t)size[0] * size[1] * size[2];
    uint64_t lanes = device->simd_width ? device->simd_width : 1;
    uint64_t threads = (items + lanes - 1) / lanes;
    uint64_t local_bytes = state->properties.local_bytes + dynamic_local_bytes(state, block);
    /* A group runs inside one subslice, whose threads and local memory its groups share. */
    uint64_t groups = (uint64_t)device->eus_per_subslice * device->threads_per_eu / threads;

    if (local_bytes > 0 && device->max_shared_local_bytes / local_bytes < groups)
        groups = device->max_shared_local_bytes / local_bytes;
    return groups * device->slices * device->subslices_per_slice;
}

uint64_t zeta_kernel_resident_groups(const struct zeta_kernel *kernel, const uint32_t size[3],
                                     const void *block)
{
    struct zeta_backend *backend = kernel->module->backend;
    uint64_t groups = 0;

    if (!zeta_device_is_cooperative(kernel->module->device))
        return 0;
    if (backend->compute.kernel_resident_groups(backend->self, kernel->plugin_kernel, size, block,
                                                &groups) != ZETA_PLUGIN_SUCCESS)
        groups = computed_groups(kernel, size, block);
    return groups;
}

uint32_t zeta_kernel_max_cooperative_groups(const struct zeta_kernel *kernel)
{
    const struct zeta_kernel_state *state = kernel->state;
    uint64_t groups = zeta_kernel_resident_groups(kernel, state->group_size, state->block);

    return groups < UINT32_MAX ? (uint32_t)groups : UINT32_MAX;
}
