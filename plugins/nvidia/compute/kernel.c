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

/*
 * The kind of a parameter: as zeta-nv-cc tells it; else eight bytes may be an address or a number,
 * as neither the driver nor an image says which.
 */
static uint32_t kind_of(const struct zeta_plugin_kernel *kernel, uint32_t index, size_t size)
{
    if (!kernel->is_ours)
        return size == 8 ? ZETA_PLUGIN_ARG_UNKNOWN : ZETA_PLUGIN_ARG_VALUE;
    switch (kernel->entry->letters[index]) {
    case NVIDIA_PARAMETER_ADDRESS:
        return ZETA_PLUGIN_ARG_GLOBAL;
    case NVIDIA_PARAMETER_LOCAL:
        return ZETA_PLUGIN_ARG_LOCAL;
    default:
        return ZETA_PLUGIN_ARG_VALUE;
    }
}

/* One parameter after the other. The offset of a launch and the buffer of printf are no arguments.
 */
static bool add_parameter(struct zeta_plugin_kernel *kernel, size_t offset, size_t size)
{
    const uint32_t index = kernel->parameter_count++;
    const uint32_t end = (uint32_t)(offset + size);

    kernel->parameter_bytes = end > kernel->parameter_bytes ? end : kernel->parameter_bytes;
    if (kernel->is_ours && index >= strlen(kernel->entry->letters))
        return true; /* refused when all are known */
    if (kernel->is_ours && kernel->entry->letters[index] == NVIDIA_PARAMETER_OFFSET) {
        kernel->offset_at = kernel->has_offset ? kernel->offset_at : (uint32_t)offset;
        kernel->has_offset = true;
        return true;
    }
    if (kernel->is_ours && kernel->entry->letters[index] == NVIDIA_PARAMETER_PRINT) {
        kernel->print_at = (uint32_t)offset;
        kernel->prints = true;
        return true;
    }
    return add_argument(kernel, kind_of(kernel, index, size), (uint32_t)offset, (uint32_t)size, 0);
}

/* The arguments, as the driver tells them, else as the image does. */
static uint32_t read_arguments(struct zeta_plugin *self, struct zeta_plugin_kernel *kernel)
{
    const struct nvidia_driver *driver = &self->nvidia->driver;
    const struct nvidia_entry *entry = kernel->entry;
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
    kernel->block_bytes = (kernel->parameter_bytes + 7) / 8 * 8;
    if (kernel->is_ours && strlen(entry->letters) != kernel->parameter_count)
        return zeta_host_fail(&self->host, ZETA_PLUGIN_INVALID_NATIVE_BINARY,
                              "%s: kernel '%.200s' has %u parameters, and the line of zeta-nv-cc "
                              "about it tells %zu; compile it again",
                              kernel->module->device->id, kernel->name, kernel->parameter_count,
                              strlen(entry->letters));
    if (kernel->is_ours)
        return ZETA_PLUGIN_SUCCESS;
    /* Dynamic shared memory is no argument of the kernel but one of its launch: none unless set. */
    kernel->block_bytes += (uint32_t)sizeof(uint64_t);
    return add_argument(kernel, ZETA_PLUGIN_ARG_LOCAL,
                        kernel->block_bytes - (uint32_t)sizeof(uint64_t), sizeof(uint64_t),
                        ZETA_PLUGIN_ARG_OPTIONAL)
               ? ZETA_PLUGIN_SUCCESS
               : ZETA_PLUGIN_OUT_OF_HOST_MEMORY;
}

/* Local memory begins where any type of OpenCL C may. */
#define LOCAL_ALIGNMENT UINT64_C(128)

/* The size of a local argument; 0 for others. */
static uint64_t local_bytes(const struct zeta_plugin_argument *argument, const void *arguments)
{
    uint64_t bytes = 0;

    if (argument->kind == ZETA_PLUGIN_ARG_LOCAL)
        memcpy(&bytes, (const char *)arguments + argument->offset_bytes, sizeof(bytes));
    return bytes;
}

uint64_t nvidia_kernel_shared(const struct zeta_plugin_kernel *kernel, const void *arguments)
{
    uint64_t end = 0;

    for (uint32_t i = 0; i < kernel->argument_count; i++) {
        const uint64_t bytes = local_bytes(&kernel->arguments[i], arguments);

        if (bytes > 0)
            end = (end + LOCAL_ALIGNMENT - 1) / LOCAL_ALIGNMENT * LOCAL_ALIGNMENT + bytes;
    }
    return end;
}

void nvidia_kernel_parameters(const struct zeta_plugin_kernel *kernel,
                              const struct zeta_plugin_launch *launch, uint64_t print,
                              void *out_block)
{
    uint64_t end = 0;

    memcpy(out_block, launch->arguments, kernel->parameter_bytes);
    for (uint32_t i = 0; i < kernel->argument_count && kernel->is_ours; i++) {
        const uint64_t bytes = local_bytes(&kernel->arguments[i], launch->arguments);
        uint64_t begin;

        if (kernel->arguments[i].kind != ZETA_PLUGIN_ARG_LOCAL)
            continue;
        begin = (end + LOCAL_ALIGNMENT - 1) / LOCAL_ALIGNMENT * LOCAL_ALIGNMENT;
        memcpy((char *)out_block + kernel->arguments[i].offset_bytes, &begin, sizeof(begin));
        end = begin + bytes;
    }
    for (uint32_t i = 0; i < 3 && kernel->has_offset; i++) {
        const uint32_t offset = (uint32_t)launch->global_offset[i];

        memcpy((char *)out_block + kernel->offset_at + i * sizeof(offset), &offset, sizeof(offset));
    }
    if (kernel->prints)
        memcpy((char *)out_block + kernel->print_at, &print, sizeof(print));
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
        kernel->entry =
            nvidia_image_find(nvidia_module_loaded(module), kernel->name, strlen(kernel->name));
    kernel->is_ours = kernel->entry && kernel->entry->letters;
    if (kernel->name)
        result = nvidia_enter(self, module->device, &entered);
    if (result != ZETA_PLUGIN_SUCCESS) {
        nvidia_kernel_destroy(self, kernel);
        return result;
    }
    /* What was linked in a circle has the kernels of several modules. */
    if ((module->linked &&
         !nvidia_image_find(module->contents, kernel->name, strlen(kernel->name))) ||
        self->nvidia->driver.cuModuleGetFunction(&kernel->function, nvidia_module_handle(module),
                                                 kernel->name) != NVIDIA_CUDA_SUCCESS)
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
        .attributes = zeta_string(
            kernel->is_ours && kernel->entry->attributes ? kernel->entry->attributes : ""),
        .block_bytes = kernel->block_bytes,
        .max_group_size = (uint32_t)kernel->max_threads,
        .max_subgroup_size = WARP,
        .max_subgroups = ((uint32_t)kernel->max_threads + WARP - 1) / WARP,
        .local_bytes = (uint32_t)kernel->shared_bytes,
        .private_bytes = (uint32_t)kernel->private_bytes,
        /* CUDA has none: zeta-nv-cc passes it to the kernels that ask for it. */
        .flags = kernel->is_ours ? 0u : ZETA_PLUGIN_KERNEL_NO_GLOBAL_OFFSET,
    };

    (void)self;
    if (kernel->is_ours)
        memcpy(p.required_group_size, kernel->entry->group_size, sizeof(p.required_group_size));
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
    const uint64_t shared = nvidia_kernel_shared(kernel, arguments);
    uint32_t result;
    int groups = 0, cuda;

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
