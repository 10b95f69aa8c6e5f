/*
 * The operations of compute: modules and kernels on top of the engine's images, and queues.
 */
#include "queue.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zeta/compiler/compiler.h>

#include "plugins/vgpu/debug/core.h"
#include "plugins/vgpu/debug/target.h"
#include "plugins/vgpu/device/vgpu.h"
#include "plugins/vgpu/instance/instance.h"
#include "plugins/vgpu/memory/memory.h"
#include "plugins/vgpu/sampling/sampling.h"
#include "plugins/vgpu/tile/tile.h"

/* ---- modules and kernels -------------------------------------------------------------------- */

struct zeta_plugin_module {
    struct zeta_vgpu_image *image;
    struct zeta_plugin_string *names;   /* of kernels */
    struct zeta_plugin_string *symbols; /* what was asked for last; room for all */
    uint8_t uuid[16];
    struct zeta_vgpu_target_module debugged;
};

struct zeta_plugin_kernel {
    struct zeta_plugin_module *module;
    const struct zeta_vgpu_kernel *kernel;  /* of the image */
    struct zeta_plugin_argument *arguments; /* kernel->argument_count of them */
    uint8_t uuid[16];
};

/* Two FNV-1a hashes with different bases: enough to distinguish modules, no promise beyond. */
static void hash_bytes(uint8_t uuid[16], const void *bytes, size_t size)
{
    const uint8_t *at = bytes;
    uint64_t halves[2];

    memcpy(halves, uuid, 16);
    for (size_t i = 0; i < size; i++) {
        halves[0] = (halves[0] ^ at[i]) * UINT64_C(0x100000001b3);
        halves[1] = (halves[1] ^ at[i] ^ (halves[0] >> 32)) * UINT64_C(0x100000001b3);
    }
    memcpy(uuid, halves, 16);
}

static const uint8_t hash_base[16] = {0x25, 0x23, 0x22, 0x84, 0xe4, 0x9c, 0xf2, 0xcb,
                                      'z',  'e',  't',  'a',  'v',  'g',  'p',  'u'};

static void write_log(const struct zeta_plugin_log_sink *log, const char *text, size_t size)
{
    const struct zeta_plugin_string string = {text, size};

    if (log && log->write && size > 0)
        log->write(log->context, string);
}

static uint32_t refuse(const struct zeta_plugin *self, const struct zeta_plugin_log_sink *log,
                       uint32_t result, const char *text)
{
    write_log(log, text, strlen(text));
    write_log(log, "\n", 1);
    return zeta_host_fail(&self->host, result, "%s: %s", self->vgpu->description.id, text);
}

static void module_destroy(struct zeta_plugin *self, struct zeta_plugin_module *module)
{
    if (!module)
        return;
    zeta_vgpu_target_module_unloaded(self->vgpu->target, &module->debugged);
    zeta_vgpu_image_destroy(module->image);
    free(module->names);
    free(module->symbols);
    free(module);
}

/* Makes a module of an ELF file. */
static uint32_t load_module(struct zeta_plugin *self, const uint8_t *file, size_t size,
                            const struct zeta_plugin_log_sink *log,
                            struct zeta_plugin_module **out_module)
{
    struct zeta_plugin_module *module = calloc(1, sizeof(*module));
    struct zeta_vgpu_message message;
    enum zeta_vgpu_result result;
    uint32_t imports, exports, count;

    if (!module)
        return ZETA_PLUGIN_OUT_OF_HOST_MEMORY;
    result = zeta_vgpu_image_create(self->vgpu->space, file, size, &message, &module->image);
    if (result != ZETA_VGPU_OK) {
        free(module);
        return refuse(self, log,
                      result == ZETA_VGPU_OUT_OF_MEMORY      ? ZETA_PLUGIN_OUT_OF_HOST_MEMORY
                      : result == ZETA_VGPU_INVALID_ARGUMENT ? ZETA_PLUGIN_INVALID_ARGUMENT
                                                             : ZETA_PLUGIN_INVALID_NATIVE_BINARY,
                      message.text);
    }
    (void)zeta_vgpu_image_imports(module->image, &imports);
    (void)zeta_vgpu_image_exports(module->image, &exports);
    count = zeta_vgpu_image_kernel_count(module->image);
    module->symbols = calloc((imports > exports ? imports : exports) + 1, sizeof(*module->symbols));
    module->names = calloc(count ? count : 1, sizeof(*module->names));
    if (!module->names || !module->symbols) {
        module_destroy(self, module);
        return ZETA_PLUGIN_OUT_OF_HOST_MEMORY;
    }
    for (uint32_t i = 0; i < count; i++)
        module->names[i] = zeta_string(zeta_vgpu_image_kernel(module->image, i)->name);
    memcpy(module->uuid, hash_base, sizeof(module->uuid));
    hash_bytes(module->uuid, file, size);
    zeta_vgpu_target_module_loaded(self->vgpu->target, &module->debugged, module->image);
    *out_module = module;
    return ZETA_PLUGIN_SUCCESS;
}

static uint32_t build_module(struct zeta_plugin *self, const struct zeta_plugin_module_desc *desc,
                             const struct zeta_plugin_log_sink *log,
                             struct zeta_plugin_module **out_module)
{
    struct zeta_compiled built;
    uint32_t result;

    zeta_compile(self->vgpu->compiler, "", desc, &built);
    write_log(log, built.log, built.log_bytes);
    if (built.image) {
        result = load_module(self, built.image, built.image_bytes, log, out_module);
        if (result == ZETA_PLUGIN_INVALID_NATIVE_BINARY)
            result = ZETA_PLUGIN_MODULE_BUILD_FAILURE;
    } else {
        /* The sentence has the first line of the log. */
        const char *end = built.log_bytes > 0 ? memchr(built.log, '\n', built.log_bytes) : NULL;
        const size_t length = end ? (size_t)(end - built.log) : built.log_bytes;

        result =
            zeta_host_fail(&self->host, ZETA_PLUGIN_MODULE_BUILD_FAILURE,
                           "%s: the SPIR-V module was not built: %.*s", self->vgpu->description.id,
                           length < 400 ? (int)length : 400, built.log);
    }
    zeta_compiled_free(&built);
    return result;
}

static uint32_t module_create(struct zeta_plugin *self, struct zeta_plugin_device *device,
                              const struct zeta_plugin_module_desc *desc,
                              const struct zeta_plugin_log_sink *log,
                              struct zeta_plugin_module **out_module)
{
    (void)device; /* every tile runs every image */
    if (desc->format == ZETA_PLUGIN_MODULE_IL_SPIRV)
        return build_module(self, desc, log, out_module);
    if (desc->format != ZETA_PLUGIN_MODULE_NATIVE)
        return refuse(self, log, ZETA_PLUGIN_INVALID_ARGUMENT,
                      "the format of the module is unknown; SPIR-V and native RV64 ELF files are "
                      "taken");
    if (ZETA_PLUGIN_HAS(desc, parts) && desc->parts.count > 0)
        return refuse(self, log, ZETA_PLUGIN_MODULE_BUILD_FAILURE,
                      "native images are linked already, several do not make one program: create a "
                      "module of each, and connect them with zeModuleDynamicLink");
    return load_module(self, desc->image, (size_t)desc->image_bytes, log, out_module);
}

static uint32_t module_kernel_names(struct zeta_plugin *self, struct zeta_plugin_module *module,
                                    struct zeta_plugin_array *out_names)
{
    (void)self;
    *out_names = (struct zeta_plugin_array){
        module->names, zeta_vgpu_image_kernel_count(module->image), sizeof(*module->names)};
    return ZETA_PLUGIN_SUCCESS;
}

static uint32_t module_native_image(struct zeta_plugin *self, struct zeta_plugin_module *module,
                                    struct zeta_plugin_array *out_bytes)
{
    size_t size;
    const void *file = zeta_vgpu_image_file(module->image, &size);

    (void)self;
    *out_bytes = (struct zeta_plugin_array){file, size, 1};
    return ZETA_PLUGIN_SUCCESS;
}

/* Finds data or code by name; false without memory, or when there is none. */
static bool find_symbol(const struct zeta_plugin_module *module, struct zeta_plugin_string name,
                        bool function, struct zeta_vgpu_symbol *out_symbol)
{
    char *text = strndup(name.data ? name.data : "", name.size);
    bool found = text && zeta_vgpu_image_find_symbol(module->image, text, out_symbol) &&
                 out_symbol->function == function;

    free(text);
    return found;
}

static uint32_t module_global(struct zeta_plugin *self, struct zeta_plugin_module *module,
                              struct zeta_plugin_string name, void **out_address,
                              uint64_t *out_bytes)
{
    struct zeta_vgpu_symbol symbol;

    if (!find_symbol(module, name, false, &symbol))
        return zeta_host_fail(&self->host, ZETA_PLUGIN_INVALID_GLOBAL_NAME,
                              "the module has no global variable '%.*s'", zeta_string_shown(name),
                              name.data);
    *out_address = (void *)(uintptr_t)symbol.address;
    *out_bytes = symbol.size_bytes;
    return ZETA_PLUGIN_SUCCESS;
}

static uint32_t module_function(struct zeta_plugin *self, struct zeta_plugin_module *module,
                                struct zeta_plugin_string name, void **out_address)
{
    struct zeta_vgpu_symbol symbol;

    if (!find_symbol(module, name, true, &symbol))
        return zeta_host_fail(&self->host, ZETA_PLUGIN_INVALID_FUNCTION_NAME,
                              "the module has no function '%.*s' that others can call",
                              zeta_string_shown(name), name.data);
    *out_address = (void *)(uintptr_t)symbol.address;
    return ZETA_PLUGIN_SUCCESS;
}

static uint32_t module_symbols(struct zeta_plugin *self, struct zeta_plugin_module *module,
                               uint32_t kind, struct zeta_plugin_array *out_names)
{
    const struct zeta_vgpu_symbol *exports;
    const char *const *imports;
    uint32_t import_count, export_count, n = 0;

    (void)self;
    imports = zeta_vgpu_image_imports(module->image, &import_count);
    exports = zeta_vgpu_image_exports(module->image, &export_count);
    for (uint32_t i = 0; kind == ZETA_PLUGIN_SYMBOL_IMPORT && i < import_count; i++)
        module->symbols[n++] = zeta_string(imports[i]);
    for (uint32_t i = 0; kind != ZETA_PLUGIN_SYMBOL_IMPORT && i < export_count; i++) {
        if (kind == ZETA_PLUGIN_SYMBOL_EXPORT || exports[i].function)
            module->symbols[n++] = zeta_string(exports[i].name);
    }
    *out_names = (struct zeta_plugin_array){module->symbols, n, sizeof(*module->symbols)};
    return ZETA_PLUGIN_SUCCESS;
}

/* What a link complains about goes to the log, and the first of it into the sentence. */
struct link_report {
    const struct zeta_plugin_log_sink *log;
    char first[400];
};

static void on_link_problem(void *user, const char *text)
{
    struct link_report *report = user;

    if (report->first[0] == '\0')
        (void)snprintf(report->first, sizeof(report->first), "%s", text);
    write_log(report->log, text, strlen(text));
    write_log(report->log, "\n", 1);
}

static uint32_t module_link(struct zeta_plugin *self, const struct zeta_plugin_array *modules,
                            const struct zeta_plugin_log_sink *log)
{
    struct zeta_vgpu_image **images =
        calloc((size_t)modules->count + 1, sizeof(struct zeta_vgpu_image *));
    struct link_report report = {.log = log};
    enum zeta_vgpu_result result;

    if (!images)
        return ZETA_PLUGIN_OUT_OF_HOST_MEMORY;
    for (uint64_t i = 0; i < modules->count; i++) {
        struct zeta_plugin_module *module;

        memcpy(&module, (const char *)modules->data + i * modules->stride,
               sizeof(struct zeta_plugin_module *));
        images[i] = module->image;
    }
    result = zeta_vgpu_image_link(images, (uint32_t)modules->count, on_link_problem, &report);
    free((void *)images);
    if (result == ZETA_VGPU_OK)
        return ZETA_PLUGIN_SUCCESS;
    if (result == ZETA_VGPU_OUT_OF_MEMORY)
        return ZETA_PLUGIN_OUT_OF_HOST_MEMORY;
    return zeta_host_fail(&self->host, ZETA_PLUGIN_MODULE_LINK_FAILURE,
                          "%s: the modules cannot be linked: %s", self->vgpu->description.id,
                          report.first);
}

static uint32_t module_code(struct zeta_plugin *self, struct zeta_plugin_module *module,
                            uint64_t *out_begin, uint64_t *out_end)
{
    (void)self;
    zeta_vgpu_image_text(module->image, out_begin, out_end);
    return ZETA_PLUGIN_SUCCESS;
}

static uint32_t kernel_code(struct zeta_plugin *self, struct zeta_plugin_kernel *kernel,
                            uint64_t *out_begin)
{
    (void)self;
    *out_begin = kernel->kernel->code_begin;
    return ZETA_PLUGIN_SUCCESS;
}

static uint32_t kernel_image(struct zeta_plugin *self, struct zeta_plugin_kernel *kernel,
                             struct zeta_plugin_array *out_bytes)
{
    const uint64_t begin = kernel->kernel->code_begin;

    (void)self;
    *out_bytes = (struct zeta_plugin_array){(const void *)(uintptr_t)begin,
                                            kernel->kernel->code_end - begin, 1};
    return ZETA_PLUGIN_SUCCESS;
}

/* The register file: x0 to x31, then f0 to f31, of 8 bytes each. */
static uint32_t kernel_profile(struct zeta_plugin *self, struct zeta_plugin_kernel *kernel,
                               uint32_t *count, struct zeta_plugin_register_range *ranges)
{
    const uint32_t room = *count;
    uint32_t found = 0;
    uint64_t used;

    (void)self;
    if (!zeta_vgpu_image_used_registers(kernel->module->image, kernel->kernel, &used))
        return ZETA_PLUGIN_OUT_OF_HOST_MEMORY;
    for (uint32_t first = 0, last; first < 64; first = last + 1) {
        for (last = first; last < 64 && !(used >> last & 1);)
            last++;
        if (last == first)
            continue;
        if (found < room)
            ranges[found] = (struct zeta_plugin_register_range){.begin_bytes = first * 8,
                                                                .size_bytes = (last - first) * 8};
        found++;
    }
    *count = found;
    return ZETA_PLUGIN_SUCCESS;
}

static uint32_t kernel_create(struct zeta_plugin *self, struct zeta_plugin_module *module,
                              struct zeta_plugin_string name,
                              struct zeta_plugin_kernel **out_kernel)
{
    static const uint32_t kinds[] = {[VGPU_ARGUMENT_VALUE] = ZETA_PLUGIN_ARG_VALUE,
                                     [VGPU_ARGUMENT_GLOBAL] = ZETA_PLUGIN_ARG_GLOBAL,
                                     [VGPU_ARGUMENT_LOCAL] = ZETA_PLUGIN_ARG_LOCAL};
    struct zeta_plugin_kernel *kernel = calloc(1, sizeof(*kernel));
    char *text = strndup(name.data ? name.data : "", name.size);
    uint32_t result = ZETA_PLUGIN_OUT_OF_HOST_MEMORY, count;

    if (!kernel || !text)
        goto fail;
    kernel->module = module;
    kernel->kernel = zeta_vgpu_image_find_kernel(module->image, text);
    if (!kernel->kernel) {
        result = zeta_host_fail(&self->host, ZETA_PLUGIN_INVALID_KERNEL_NAME,
                                "the module has no kernel '%.200s'", text);
        goto fail;
    }
    count = kernel->kernel->argument_count;
    kernel->arguments = calloc(count ? count : 1, sizeof(*kernel->arguments));
    if (!kernel->arguments)
        goto fail;
    for (uint32_t i = 0; i < count; i++) {
        const struct vgpu_argument_info *from = &kernel->kernel->arguments[i];

        kernel->arguments[i] =
            (struct zeta_plugin_argument){.struct_size = sizeof(struct zeta_plugin_argument),
                                          .kind = kinds[from->kind],
                                          .size_bytes = from->size_bytes,
                                          .offset_bytes = from->offset_bytes};
    }
    memcpy(kernel->uuid, module->uuid, sizeof(kernel->uuid));
    hash_bytes(kernel->uuid, text, strlen(text));
    free(text);
    *out_kernel = kernel;
    return ZETA_PLUGIN_SUCCESS;

fail:
    free(text);
    free(kernel);
    return result;
}

static void kernel_destroy(struct zeta_plugin *self, struct zeta_plugin_kernel *kernel)
{
    (void)self;
    if (!kernel)
        return;
    free(kernel->arguments);
    free(kernel);
}

static uint32_t kernel_properties(struct zeta_plugin *self, struct zeta_plugin_kernel *kernel,
                                  struct zeta_plugin_kernel_properties *out_properties)
{
    const uint32_t limit = zeta_vgpu_topology_group_limit(&self->vgpu->description.topology);
    const uint64_t room = out_properties->struct_size;
    struct zeta_plugin_kernel_properties p = {
        .struct_size = room,
        .name = zeta_string(kernel->kernel->name),
        .arguments = {kernel->arguments, kernel->kernel->argument_count,
                      sizeof(*kernel->arguments)},
        .block_bytes = kernel->kernel->argument_block_bytes,
        .max_group_size = limit,
        .max_subgroup_size = 1,
        .max_subgroups = limit,
        .local_bytes = kernel->kernel->slm_bytes,
        .private_bytes = kernel->kernel->private_bytes,
        .spill_bytes = kernel->kernel->spill_bytes,
        .attributes = zeta_string(kernel->kernel->attributes),
    };

    memcpy(p.required_group_size, kernel->kernel->required_group_size,
           sizeof(p.required_group_size));
    memcpy(p.uuid, kernel->uuid, sizeof(p.uuid));
    memcpy(p.module_uuid, kernel->module->uuid, sizeof(p.module_uuid));
    memcpy(out_properties, &p, room < sizeof(p) ? room : sizeof(p));
    return ZETA_PLUGIN_SUCCESS;
}

/* ---- queues --------------------------------------------------------------------------------- */

struct zeta_plugin_queue {
    struct zeta_vgpu *vgpu;
    struct zeta_vgpu_tile *tile;
    struct zeta_softqueue *queue;
    uint32_t ordinal;
    uint32_t context;                 /* id in reports */
    enum zeta_vgpu_priority priority; /* of its launches */
    atomic_bool interrupt;            /* set once, when the queue is destroyed */
    struct zeta_vgpu_usage *usage;    /* NULL before the first query; of who executes */
    LIST_ENTRY(zeta_plugin_queue) entry;

    pthread_mutex_t lock; /* guards the rest; a leaf */
    bool lost;
    struct zeta_vgpu_message loss; /* why */
};

/* Marks the queue as lost, with the reason that everybody gets who asks. */
static uint32_t lose(struct zeta_plugin_queue *queue, const char *reason)
{
    const char *id = queue->vgpu->description.id;

    pthread_mutex_lock(&queue->lock);
    queue->lost = true;
    snprintf(queue->loss.text, sizeof(queue->loss.text),
             "a queue of %s is lost: %.380s; destroy the queue to use the device again", id,
             reason);
    pthread_mutex_unlock(&queue->lock);
    zeta_vgpu_usage_end(queue->usage);
    atomic_fetch_add(&queue->tile->lost_queues, 1);
    zeta_host_log(&queue->vgpu->self->host, ZETA_PLUGIN_LOG_ERROR, "%s", queue->loss.text);
    return ZETA_PLUGIN_DEVICE_LOST;
}

/* What an engine's or copy's result means for the queue. */
static uint32_t conclude(struct zeta_plugin_queue *queue, enum zeta_vgpu_result result,
                         const char *reason)
{
    switch (result) {
    case ZETA_VGPU_OK:
        return ZETA_PLUGIN_SUCCESS;
    case ZETA_VGPU_FAULT:
        return lose(queue, reason);
    case ZETA_VGPU_INTERRUPTED: /* only by destroying the queue */
        return ZETA_PLUGIN_DEVICE_LOST;
    case ZETA_VGPU_OUT_OF_MEMORY:
        return zeta_host_fail(&queue->vgpu->self->host, ZETA_PLUGIN_OUT_OF_HOST_MEMORY,
                              "%s: no memory for a command, or no thread to run it; raise the "
                              "limit of processes (ulimit -u) or free memory",
                              queue->vgpu->description.id);
    default:
        return zeta_host_fail(&queue->vgpu->self->host, ZETA_PLUGIN_INVALID_ARGUMENT, "%s: %s",
                              queue->vgpu->description.id, reason);
    }
}

static struct zeta_vgpu_copy copy_of(struct zeta_plugin_queue *queue)
{
    return (struct zeta_vgpu_copy){.space = queue->vgpu->space, .interrupt = &queue->interrupt};
}

/* Sizes of local memory arguments: the block holds them where the pointers go. */
static uint32_t *local_sizes(const struct zeta_plugin_kernel *kernel, const void *block)
{
    const uint32_t count = kernel->kernel->argument_count;
    uint32_t *sizes = calloc(count ? count : 1, sizeof(*sizes));

    for (uint32_t i = 0; sizes && i < count; i++) {
        uint64_t bytes;

        if (kernel->arguments[i].kind != ZETA_PLUGIN_ARG_LOCAL)
            continue;
        memcpy(&bytes, (const char *)block + kernel->arguments[i].offset_bytes, sizeof(bytes));
        /* Too large stays too large; the engine refuses it. */
        sizes[i] = bytes < UINT32_MAX ? (uint32_t)bytes : UINT32_MAX;
    }
    return sizes;
}

static uint32_t kernel_resident_groups(struct zeta_plugin *self, struct zeta_plugin_kernel *kernel,
                                       const uint32_t group_size[3], const void *arguments,
                                       uint64_t *out_groups)
{
    const uint64_t items = (uint64_t)group_size[0] * group_size[1] * group_size[2];
    uint32_t *locals = local_sizes(kernel, arguments);

    if (!locals)
        return ZETA_PLUGIN_OUT_OF_HOST_MEMORY;
    *out_groups =
        items == 0
            ? 0
            : zeta_vgpu_topology_resident_groups(&self->vgpu->description.topology, items,
                                                 zeta_vgpu_group_slm_bytes(kernel->kernel, locals));
    free(locals);
    return ZETA_PLUGIN_SUCCESS;
}

/* A launch, for what is called when it has faulted. */
struct faulting {
    struct zeta_vgpu_tile *tile;
    const struct zeta_vgpu_launch *launch;
};

static void on_fault(void *user, const struct zeta_vgpu_fault *fault)
{
    const struct faulting *faulting = user;

    zeta_vgpu_core_dump(faulting->tile, faulting->launch, fault);
}

static uint32_t execute_launch(struct zeta_plugin_queue *queue,
                               const struct zeta_plugin_command *command)
{
    const uint64_t lost_at = queue->vgpu->description.faults.device_lost;
    const struct zeta_plugin_launch *from = &command->u.launch;
    struct zeta_vgpu_launch launch = {
        .image = from->kernel->module->image,
        .kernel = from->kernel->kernel,
        .arguments = from->arguments,
        .interrupt = &queue->interrupt,
        .cooperative = (command->flags & ZETA_PLUGIN_COMMAND_COOPERATIVE) != 0,
        .faulted = on_fault,
    };
    struct faulting faulting = {queue->tile, &launch};
    struct zeta_vgpu_fault fault = {.reason = ZETA_VGPU_FAULT_NONE};
    enum zeta_vgpu_result result = ZETA_VGPU_OK;
    uint32_t *locals;

    if (queue->ordinal != ZETA_VGPU_QUEUES_COMPUTE)
        return conclude(queue, ZETA_VGPU_INVALID_ARGUMENT, "copy queues launch no kernels");
    if (lost_at != 0 && atomic_fetch_add(&queue->vgpu->launches, 1) + 1 >= lost_at) {
        atomic_store(&queue->vgpu->lost, true);
        return lose(queue, "the setting fault.device_lost asked for it");
    }
    memcpy(launch.group_count, from->group_count, sizeof(launch.group_count));
    memcpy(launch.group_size, from->group_size, sizeof(launch.group_size));
    memcpy(launch.global_offset, from->global_offset, sizeof(launch.global_offset));
    if (command->flags & ZETA_PLUGIN_COMMAND_INDIRECT) {
        struct zeta_vgpu_copy copy = copy_of(queue);

        result = zeta_vgpu_copy_bytes(&copy, launch.group_count, from->indirect_counts,
                                      sizeof(launch.group_count));
        if (result != ZETA_VGPU_OK)
            return conclude(queue, result, copy.message.text);
    }
    locals = local_sizes(from->kernel, from->arguments);
    if (!locals)
        return conclude(queue, ZETA_VGPU_OUT_OF_MEMORY, "");
    launch.local_bytes = locals;
    launch.user = &faulting;
    result = zeta_vgpu_tile_launch(queue->tile, &launch, queue->context, queue->priority,
                                   zeta_vgpu_usage_counting(queue->usage), &fault);
    free(locals);
    return conclude(queue, result, fault.message.text);
}

static void copy_moved(void *user, uint64_t read_bytes, uint64_t written_bytes)
{
    zeta_vgpu_tile_copy_moved(user, read_bytes, written_bytes);
}

static uint32_t execute_copy(struct zeta_plugin_queue *queue,
                             const struct zeta_plugin_command *command)
{
    const struct zeta_plugin_copy *plain =
        command->flags & ZETA_PLUGIN_COMMAND_INDIRECT ? command->u.copy.indirect : &command->u.copy;
    struct zeta_vgpu_copy copy = copy_of(queue);
    struct zeta_vgpu_tile_copy counted;
    enum zeta_vgpu_result result;

    if (command->type == ZETA_PLUGIN_COMMAND_FILL && command->u.fill.pattern_bytes == 0)
        return conclude(queue, ZETA_VGPU_INVALID_ARGUMENT, "the pattern of a fill is empty");

    copy.moved = copy_moved;
    copy.user = &counted;
    zeta_vgpu_tile_copy_begin(queue->tile, queue->context, zeta_vgpu_usage_counting(queue->usage),
                              &counted);
    zeta_vgpu_trace_copy(&queue->tile->trace, ZETA_VGPU_EVENT_TYPE_COPY_BEGIN, queue->context,
                         command, plain, 0);
    if (command->type == ZETA_PLUGIN_COMMAND_COPY)
        result = zeta_vgpu_copy_bytes(&copy, plain->target, plain->source, plain->size_bytes);
    else if (command->type == ZETA_PLUGIN_COMMAND_COPY_REGION)
        result = zeta_vgpu_copy_region(&copy, &command->u.region);
    else
        result = zeta_vgpu_copy_fill(&copy, &command->u.fill);
    copy_moved(&counted, copy.read_bytes, copy.written_bytes);
    zeta_vgpu_tile_copy_end(&counted);
    if (result == ZETA_VGPU_FAULT)
        zeta_vgpu_trace_copy_fault(&queue->tile->trace, queue->context, copy.fault_address);
    zeta_vgpu_trace_copy(&queue->tile->trace, ZETA_VGPU_EVENT_TYPE_COPY_END, queue->context,
                         command, plain, copy.written_bytes);
    return conclude(queue, result, copy.message.text);
}

static uint64_t queue_ticks(void *context)
{
    const struct zeta_plugin_queue *queue = context;

    return zeta_vgpu_ticks(queue->vgpu, queue->tile->index);
}

static uint32_t execute_marker(struct zeta_plugin_queue *queue,
                               const struct zeta_plugin_marker *marker)
{
    struct zeta_vgpu *vgpu = queue->vgpu;
    const struct zeta_plugin_device *device = marker->device;
    uint32_t unit;
    uint32_t result = zeta_vgpu_oa_find_unit(vgpu->self, marker->unit, &unit);
    const bool counts = result == ZETA_PLUGIN_SUCCESS && unit < ZETA_VGPU_MARKER_UNITS;

    if (result != ZETA_PLUGIN_SUCCESS)
        return result;
    if (counts ? marker->value > UINT32_MAX : unit != ZETA_VGPU_UNIT_TRACE_DEVICE)
        return zeta_host_fail(&vgpu->self->host, ZETA_PLUGIN_INVALID_ARGUMENT,
                              "unit %.*s of %s cannot show the marker %llu: only oa and dispatch "
                              "take markers, of 32 bits, and trace-device, of 64",
                              (int)marker->unit.size, marker->unit.data, device->id,
                              (unsigned long long)marker->value);
    for (uint32_t t = 0; t < device->tile_count; t++) {
        struct zeta_vgpu_tile *tile = &vgpu->tiles[device->first_tile + t];

        if (counts)
            zeta_vgpu_tile_mark(tile, unit, marker->value, marker->stream_token, &queue->interrupt);
        zeta_vgpu_trace_marker(&tile->trace, queue->context, marker->value, marker->stream_token);
    }
    return ZETA_PLUGIN_SUCCESS;
}

static uint32_t queue_execute(void *context, const struct zeta_plugin_command *command)
{
    struct zeta_plugin_queue *queue = context;
    struct zeta_vgpu_copy copy = copy_of(queue);
    enum zeta_vgpu_result copied;
    uint64_t ticks;

    if (atomic_load(&queue->interrupt))
        return ZETA_PLUGIN_DEVICE_LOST;
    if (atomic_load(&queue->vgpu->lost))
        return lose(queue, "the device is lost (setting fault.device_lost)");
    switch (command->type) {
    case ZETA_PLUGIN_COMMAND_LAUNCH:
        return execute_launch(queue, command);
    case ZETA_PLUGIN_COMMAND_TIMESTAMP:
        /* As the device clock is read elsewhere, so that programs can compare without a mask. */
        ticks = queue_ticks(queue) & ZETA_VGPU_TIMESTAMP_MASK;
        copied = zeta_vgpu_copy_bytes(&copy, command->u.timestamp, &ticks, sizeof(ticks));
        return conclude(queue, copied, copy.message.text);
    case ZETA_PLUGIN_COMMAND_COPY:
    case ZETA_PLUGIN_COMMAND_COPY_REGION:
    case ZETA_PLUGIN_COMMAND_FILL:
        return execute_copy(queue, command);
    case ZETA_PLUGIN_COMMAND_QUERY_BEGIN:
        if (!queue->usage)
            queue->usage = zeta_vgpu_usage_create(queue->tile);
        if (!queue->usage)
            return conclude(queue, ZETA_VGPU_OUT_OF_MEMORY, "");
        return zeta_vgpu_query_begin(&command->u.query, queue->usage);
    case ZETA_PLUGIN_COMMAND_QUERY_END:
        return zeta_vgpu_query_end(&command->u.query, queue->usage, queue->context);
    case ZETA_PLUGIN_COMMAND_MARKER:
        return execute_marker(queue, &command->u.marker);
    default:
        return ZETA_PLUGIN_UNSUPPORTED_FEATURE;
    }
}

static void queue_interrupt(void *context)
{
    struct zeta_plugin_queue *queue = context;

    atomic_store(&queue->interrupt, true);
    zeta_vgpu_tile_wake(queue->tile);
}

static uint32_t queue_create(struct zeta_plugin *self, struct zeta_plugin_device *device,
                             const struct zeta_plugin_queue_desc *desc,
                             struct zeta_plugin_queue **out_queue)
{
    struct zeta_vgpu *vgpu = self->vgpu;
    struct zeta_vgpu_tile *tile = &vgpu->tiles[device->first_tile];
    struct zeta_softqueue_backend backend = {
        .ticks = queue_ticks, .execute = queue_execute, .interrupt = queue_interrupt};
    const uint32_t queues = desc->ordinal == ZETA_VGPU_QUEUES_COMPUTE ? ZETA_VGPU_COMPUTE_QUEUES
                                                                      : ZETA_VGPU_COPY_QUEUES;
    struct zeta_plugin_queue *queue;
    uint32_t result;

    if (desc->ordinal >= ZETA_VGPU_QUEUES_COUNT)
        return zeta_host_fail(&self->host, ZETA_PLUGIN_INVALID_ARGUMENT,
                              "%s has %u queue groups, so there is no ordinal %u",
                              vgpu->description.id, (unsigned)ZETA_VGPU_QUEUES_COUNT,
                              desc->ordinal);
    if (desc->index >= queues)
        return zeta_host_fail(&self->host, ZETA_PLUGIN_INVALID_ARGUMENT,
                              "queue group %u of %s has %u queues, so there is no index %u",
                              desc->ordinal, vgpu->description.id, queues, desc->index);
    result = zeta_vgpu_tile_prepare(tile);
    if (result != ZETA_PLUGIN_SUCCESS)
        return result;
    queue = calloc(1, sizeof(*queue));
    if (!queue)
        return ZETA_PLUGIN_OUT_OF_HOST_MEMORY;
    queue->vgpu = vgpu;
    queue->tile = tile;
    queue->ordinal = desc->ordinal;
    /* The numbers of ze_command_queue_priority_t. */
    queue->priority = desc->priority == 1   ? ZETA_VGPU_PRIORITY_LOW
                      : desc->priority == 2 ? ZETA_VGPU_PRIORITY_HIGH
                                            : ZETA_VGPU_PRIORITY_NORMAL;
    /* Ids are never 0 and contain the slot, so they differ between processes. */
    queue->context = zeta_vgpu_instance_slot(atomic_load(&vgpu->instance)) << 16 |
                     (atomic_fetch_add(&vgpu->queues_made, 1) & 0xffff);
    pthread_mutex_init(&queue->lock, NULL);
    backend.context = queue;
    result = zeta_softqueue_create(vgpu->queues, &backend, "vgpu-queue", &queue->queue);
    if (result != ZETA_PLUGIN_SUCCESS) {
        pthread_mutex_destroy(&queue->lock);
        free(queue);
        return result;
    }
    pthread_mutex_lock(&vgpu->objects_lock);
    LIST_INSERT_HEAD(&vgpu->open_queues, queue, entry);
    pthread_mutex_unlock(&vgpu->objects_lock);
    zeta_vgpu_target_queue_created(vgpu->target);
    *out_queue = queue;
    return ZETA_PLUGIN_SUCCESS;
}

static void queue_destroy(struct zeta_plugin *self, struct zeta_plugin_queue *queue)
{
    (void)self;
    if (!queue)
        return;
    pthread_mutex_lock(&queue->vgpu->objects_lock);
    LIST_REMOVE(queue, entry);
    pthread_mutex_unlock(&queue->vgpu->objects_lock);
    zeta_softqueue_destroy(queue->queue);
    zeta_vgpu_usage_end(queue->usage);
    zeta_vgpu_usage_unref(queue->usage);
    if (queue->lost)
        atomic_fetch_sub(&queue->tile->lost_queues, 1);
    zeta_vgpu_target_queue_destroyed(queue->vgpu->target);
    pthread_mutex_destroy(&queue->lock);
    free(queue);
}

void zeta_vgpu_queues_abandon(struct zeta_vgpu *vgpu)
{
    while (!LIST_EMPTY(&vgpu->open_queues))
        queue_destroy(vgpu->self, LIST_FIRST(&vgpu->open_queues));
}

static uint32_t queue_status(struct zeta_plugin *self, struct zeta_plugin_queue *queue)
{
    struct zeta_vgpu_message loss;

    if (zeta_softqueue_status(queue->queue) == ZETA_PLUGIN_SUCCESS)
        return ZETA_PLUGIN_SUCCESS;
    pthread_mutex_lock(&queue->lock);
    loss = queue->loss;
    pthread_mutex_unlock(&queue->lock);
    return zeta_host_fail(&self->host, ZETA_PLUGIN_DEVICE_LOST, "%s", loss.text);
}

static uint32_t queue_submit(struct zeta_plugin *self, struct zeta_plugin_queue *queue,
                             const struct zeta_plugin_array *commands, void *cookie)
{
    uint32_t result = zeta_softqueue_submit(queue->queue, commands, cookie);

    return result == ZETA_PLUGIN_DEVICE_LOST ? queue_status(self, queue) : result;
}

static uint32_t queue_submit_here(struct zeta_plugin *self, struct zeta_plugin_queue *queue,
                                  const struct zeta_plugin_array *commands, void *cookie)
{
    uint32_t result = zeta_softqueue_submit_here(queue->queue, commands, cookie);

    return result == ZETA_PLUGIN_DEVICE_LOST ? queue_status(self, queue) : result;
}

static void queue_wake(struct zeta_plugin *self)
{
    if (self->vgpu)
        zeta_softqueue_pool_wake(self->vgpu->queues);
}

const struct zeta_plugin_compute_ops zeta_vgpu_compute_ops = {
    .struct_size = sizeof(struct zeta_plugin_compute_ops),
    .memory_allocate = zeta_vgpu_memory_allocate,
    .memory_free = zeta_vgpu_memory_free,
    .module_create = module_create,
    .module_destroy = module_destroy,
    .module_kernel_names = module_kernel_names,
    .module_native_image = module_native_image,
    .module_global = module_global,
    .kernel_create = kernel_create,
    .kernel_destroy = kernel_destroy,
    .kernel_properties = kernel_properties,
    .kernel_resident_groups = kernel_resident_groups,
    .queue_create = queue_create,
    .queue_destroy = queue_destroy,
    .submit = queue_submit,
    .submit_here = queue_submit_here,
    .wake = queue_wake,
    .queue_status = queue_status,
    .module_function = module_function,
    .module_symbols = module_symbols,
    .module_link = module_link,
    .memory_export = zeta_vgpu_memory_export,
    .memory_import = zeta_vgpu_memory_import,
    .virtual_page_bytes = zeta_vgpu_virtual_page_bytes,
    .virtual_reserve = zeta_vgpu_virtual_reserve,
    .virtual_free = zeta_vgpu_virtual_free,
    .physical_create = zeta_vgpu_physical_create,
    .physical_destroy = zeta_vgpu_physical_destroy,
    .virtual_map = zeta_vgpu_virtual_map,
    .virtual_unmap = zeta_vgpu_virtual_unmap,
    .virtual_access = zeta_vgpu_virtual_access,
    .physical_export = zeta_vgpu_physical_export,
    .physical_import = zeta_vgpu_physical_import,
    .memory_adopt = zeta_vgpu_memory_adopt,
    .memory_unused = zeta_vgpu_memory_unused,
    .module_code = module_code,
    .kernel_code = kernel_code,
    .kernel_image = kernel_image,
    .kernel_profile = kernel_profile,
};
