/* Kernels: their arguments, and what they take of the device. */
#include "compute.h"

#include <stdlib.h>
#include <string.h>

#include "image.h"

/* What cuFuncGetAttribute is asked for; the last one is set, too. */
enum {
    FUNCTION_THREADS = 0,
    FUNCTION_SHARED = 1,
    FUNCTION_LOCAL = 3,
    FUNCTION_REGISTERS = 4,
    FUNCTION_DYNAMIC_LIMIT = 8
};

enum { WARP = 32, NOT_SUPPORTED = 801 };

static bool add_argument(struct zeta_plugin_kernel *kernel, uint32_t kind, uint32_t offset_bytes,
                         uint32_t size_bytes, uint32_t flags)
{
    struct zeta_plugin_argument *grown =
        realloc(kernel->arguments, (kernel->argument_count + (size_t)1) * sizeof(*grown));

    if (!grown)
        return false;
    kernel->arguments = grown;
    grown[kernel->argument_count++] = (struct zeta_plugin_argument){.struct_size = sizeof(*grown),
                                                                    .kind = kind,
                                                                    .size_bytes = size_bytes,
                                                                    .offset_bytes = offset_bytes,
                                                                    .flags = flags};
    return true;
}

/* Eight bytes may be an address or a number: neither the driver nor an image says which. */
static bool add_parameter(struct zeta_plugin_kernel *kernel, size_t offset, size_t size)
{
    const uint32_t end = (uint32_t)(offset + size);

    kernel->parameter_bytes = end > kernel->parameter_bytes ? end : kernel->parameter_bytes;
    return add_argument(kernel, size == 8 ? ZETA_PLUGIN_ARG_UNKNOWN : ZETA_PLUGIN_ARG_VALUE,
                        (uint32_t)offset, (uint32_t)size, 0);
}

/* The arguments, as the driver tells them, else as the image does. */
static uint32_t read_arguments(struct zeta_plugin *self, struct zeta_plugin_kernel *kernel)
{
    const struct nvidia_driver *driver = &self->nvidia->driver;
    const struct nvidia_entry *entry =
        nvidia_image_find(kernel->module->contents, kernel->name, strlen(kernel->name));
    size_t offset = 0, size = 0;
    int cuda = NOT_SUPPORTED;

    if (driver->cuFuncGetParamInfo)
        cuda = driver->cuFuncGetParamInfo(kernel->function, 0, &offset, &size);
    if (cuda != NOT_SUPPORTED) {
        /* Until it fails: there are no more. */
        for (size_t i = 1; cuda == NVIDIA_CUDA_SUCCESS; i++) {
            if (!add_parameter(kernel, offset, size))
                return ZETA_PLUGIN_OUT_OF_HOST_MEMORY;
            cuda = driver->cuFuncGetParamInfo(kernel->function, i, &offset, &size);
        }
    } else if (entry && entry->is_told) {
        for (uint32_t i = 0; i < entry->parameter_count; i++) {
            if (!add_parameter(kernel, entry->parameters[i].offset_bytes,
                               entry->parameters[i].size_bytes))
                return ZETA_PLUGIN_OUT_OF_HOST_MEMORY;
        }
    } else {
        return zeta_host_fail(&self->host, ZETA_PLUGIN_UNSUPPORTED_FEATURE,
                              "%s: the arguments of kernel '%.200s' are unknown: drivers tell them "
                              "from CUDA 12.4 on, and before that PTX and cubins do, but not fat "
                              "binaries",
                              kernel->module->device->id, kernel->name);
    }
    /* Dynamic shared memory is no argument of the kernel but one of its launch: none unless set. */
    kernel->dynamic_at = (kernel->parameter_bytes + 7) / 8 * 8;
    return add_argument(kernel, ZETA_PLUGIN_ARG_LOCAL, kernel->dynamic_at, sizeof(uint64_t),
                        ZETA_PLUGIN_ARG_OPTIONAL)
               ? ZETA_PLUGIN_SUCCESS
               : ZETA_PLUGIN_OUT_OF_HOST_MEMORY;
}

static void read_needs(struct zeta_plugin *self, struct zeta_plugin_kernel *kernel)
{
    const struct nvidia_driver *driver = &self->nvidia->driver;
    const int most = (int)kernel->module->device->group_shared_bytes;

    (void)driver->cuFuncGetAttribute(&kernel->max_threads, FUNCTION_THREADS, kernel->function);
    (void)driver->cuFuncGetAttribute(&kernel->shared_bytes, FUNCTION_SHARED, kernel->function);
    (void)driver->cuFuncGetAttribute(&kernel->private_bytes, FUNCTION_LOCAL, kernel->function);
    (void)driver->cuFuncGetAttribute(&kernel->registers, FUNCTION_REGISTERS, kernel->function);
    /* Without this 48 KiB are the most; it reserves nothing. */
    if (most > kernel->shared_bytes)
        (void)driver->cuFuncSetAttribute(kernel->function, FUNCTION_DYNAMIC_LIMIT,
                                         most - kernel->shared_bytes);
}

uint32_t nvidia_kernel_create(struct zeta_plugin *self, struct zeta_plugin_module *module,
                              struct zeta_plugin_string name,
                              struct zeta_plugin_kernel **out_kernel)
{
    struct zeta_plugin_kernel *kernel = calloc(1, sizeof(*kernel));
    struct nvidia_entered entered;
    uint32_t result = ZETA_PLUGIN_OUT_OF_HOST_MEMORY;

    if (!kernel)
        return result;
    kernel->module = module;
    kernel->name = strndup(name.data ? name.data : "", name.size);
    if (kernel->name)
        result = nvidia_enter(self, module->device, &entered);
    if (result != ZETA_PLUGIN_SUCCESS) {
        nvidia_kernel_destroy(self, kernel);
        return result;
    }
    if (self->nvidia->driver.cuModuleGetFunction(&kernel->function, module->handle, kernel->name) !=
        NVIDIA_CUDA_SUCCESS)
        result = zeta_host_fail(
            &self->host, ZETA_PLUGIN_INVALID_KERNEL_NAME, "the module has no kernel '%.200s'%s",
            kernel->name,
            module->name_count > 0 ? "; names of C++ are mangled unless extern \"C\" is before them"
                                   : "");
    else
        result = read_arguments(self, kernel);
    if (result == ZETA_PLUGIN_SUCCESS)
        read_needs(self, kernel);
    nvidia_leave(self, &entered);
    if (result != ZETA_PLUGIN_SUCCESS) {
        nvidia_kernel_destroy(self, kernel);
        return result;
    }
    memcpy(kernel->uuid, module->uuid, sizeof(kernel->uuid));
    nvidia_hash(kernel->uuid, kernel->name, strlen(kernel->name));
    *out_kernel = kernel;
    return ZETA_PLUGIN_SUCCESS;
}

void nvidia_kernel_destroy(struct zeta_plugin *self, struct zeta_plugin_kernel *kernel)
{
    (void)self;
    if (!kernel)
        return;
    free(kernel->arguments);
    free(kernel->name);
    free(kernel);
}

uint32_t nvidia_kernel_properties(struct zeta_plugin *self, struct zeta_plugin_kernel *kernel,
                                  struct zeta_plugin_kernel_properties *out_properties)
{
    const uint64_t room = out_properties->struct_size;
    struct zeta_plugin_kernel_properties p = {
        .struct_size = room,
        .name = zeta_string(kernel->name),
        .arguments = {kernel->arguments, kernel->argument_count, sizeof(*kernel->arguments)},
        .block_bytes = kernel->dynamic_at + (uint32_t)sizeof(uint64_t),
        .max_group_size = (uint32_t)kernel->max_threads,
        .max_subgroup_size = WARP,
        .max_subgroups = ((uint32_t)kernel->max_threads + WARP - 1) / WARP,
        .local_bytes = (uint32_t)kernel->shared_bytes,
        .private_bytes = (uint32_t)kernel->private_bytes,
    };

    (void)self;
    memcpy(p.uuid, kernel->uuid, sizeof(p.uuid));
    memcpy(p.module_uuid, kernel->module->uuid, sizeof(p.module_uuid));
    memcpy(out_properties, &p, room < sizeof(p) ? room : sizeof(p));
    return ZETA_PLUGIN_SUCCESS;
}

uint32_t nvidia_kernel_resident(struct zeta_plugin *self, struct zeta_plugin_kernel *kernel,
                                const uint32_t group_size[3], const void *arguments,
                                uint64_t *out_groups)
{
    struct zeta_plugin_device *device = kernel->module->device;
    const uint64_t threads = (uint64_t)group_size[0] * group_size[1] * group_size[2];
    struct nvidia_entered entered;
    uint64_t shared;
    uint32_t result;
    int groups = 0, cuda;

    memcpy(&shared, (const char *)arguments + kernel->dynamic_at, sizeof(shared));
    result = nvidia_enter(self, device, &entered);
    if (result != ZETA_PLUGIN_SUCCESS)
        return result;
    cuda = self->nvidia->driver.cuOccupancyMaxActiveBlocksPerMultiprocessor(
        &groups, kernel->function, (int)threads, (size_t)shared);
    nvidia_leave(self, &entered);
    if (cuda != NVIDIA_CUDA_SUCCESS)
        return nvidia_fail(self, device, cuda, "asking how many groups are resident");
    *out_groups = (uint64_t)groups * device->sms;
    return ZETA_PLUGIN_SUCCESS;
}
