#include "queue.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plugins/vgpu/compiler/compiler.h"
#include "plugins/vgpu/device/vgpu.h"

struct zeta_plugin_module {
    struct zeta_vgpu_image *image;
    struct zeta_plugin_string *names;   /* of kernels */
    struct zeta_plugin_string *symbols; /* what was asked for last; room for all */
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

static uint32_t result_of_image(enum zeta_vgpu_result result)
{
    switch (result) {
    case ZETA_VGPU_OUT_OF_MEMORY:
        return ZETA_PLUGIN_OUT_OF_HOST_MEMORY;
    case ZETA_VGPU_INVALID_ARGUMENT:
        return ZETA_PLUGIN_INVALID_ARGUMENT;
    default:
        return ZETA_PLUGIN_INVALID_NATIVE_BINARY;
    }
}

static bool list_names(struct zeta_plugin_module *module)
{
    const uint32_t count = zeta_vgpu_image_kernel_count(module->image);
    uint32_t imports, exports;

    (void)zeta_vgpu_image_imports(module->image, &imports);
    (void)zeta_vgpu_image_exports(module->image, &exports);
    module->symbols = calloc((imports > exports ? imports : exports) + 1, sizeof(*module->symbols));
    module->names = calloc(count ? count : 1, sizeof(*module->names));
    for (uint32_t i = 0; module->names && i < count; i++) {
        const char *name = zeta_vgpu_image_kernel(module->image, i)->name;

        module->names[i].data = name;
        module->names[i].size = strlen(name);
    }
    return module->names && module->symbols;
}

/* Makes a module of an ELF file. */
static uint32_t load_module(struct zeta_plugin *self, const uint8_t *file, size_t size,
                            const struct zeta_plugin_log_sink *log,
                            struct zeta_plugin_module **out_module)
{
    struct zeta_plugin_module *module = calloc(1, sizeof(*module));
    struct zeta_vgpu_message message;
    enum zeta_vgpu_result result;

    if (!module)
        return ZETA_PLUGIN_OUT_OF_HOST_MEMORY;
    result = zeta_vgpu_image_create(self->vgpu->space, file, size, &message, &module->image);
    if (result != ZETA_VGPU_OK) {
        free(module);
        return refuse(self, log, result_of_image(result), message.text);
    }
    memcpy(module->uuid, hash_base, sizeof(module->uuid));
    hash_bytes(module->uuid, file, size);
    if (!list_names(module)) {
        zeta_vgpu_module_destroy(self, module);
        return ZETA_PLUGIN_OUT_OF_HOST_MEMORY;
    }
    *out_module = module;
    return ZETA_PLUGIN_SUCCESS;
}

/* The first line of a log, for the sentence about the failure; the log has all of it. */
static uint32_t build_failed(const struct zeta_plugin *self, const struct zeta_vgpu_compiled *built)
{
    const char *end = built->log_bytes > 0 ? memchr(built->log, '\n', built->log_bytes) : NULL;
    size_t length = end ? (size_t)(end - built->log) : built->log_bytes;

    return zeta_host_fail(&self->host, ZETA_PLUGIN_MODULE_BUILD_FAILURE,
                          "%s: the SPIR-V module was not built: %.*s", self->vgpu->description.id,
                          length < 400 ? (int)length : 400, built->log);
}

static uint32_t build_module(struct zeta_plugin *self, const struct zeta_plugin_module_desc *desc,
                             const struct zeta_plugin_log_sink *log,
                             struct zeta_plugin_module **out_module)
{
    struct zeta_vgpu_compiled built;
    uint32_t result;

    zeta_vgpu_compile(self->vgpu->compiler, desc, &built);
    write_log(log, built.log, built.log_bytes);
    if (!built.image) {
        result = build_failed(self, &built);
    } else {
        result = load_module(self, built.image, built.image_bytes, log, out_module);
        if (result == ZETA_PLUGIN_INVALID_NATIVE_BINARY)
            result = ZETA_PLUGIN_MODULE_BUILD_FAILURE;
    }
    zeta_vgpu_compiled_free(&built);
    return result;
}

uint32_t zeta_vgpu_module_create(struct zeta_plugin *self, struct zeta_plugin_device *device,
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

void zeta_vgpu_module_destroy(struct zeta_plugin *self, struct zeta_plugin_module *module)
{
    (void)self;
    if (!module)
        return;
    zeta_vgpu_image_destroy(module->image);
    free(module->names);
    free(module->symbols);
    free(module);
}

uint32_t zeta_vgpu_module_kernel_names(struct zeta_plugin *self, struct zeta_plugin_module *module,
                                       struct zeta_plugin_array *out_names)
{
    (void)self;
    out_names->data = module->names;
    out_names->count = zeta_vgpu_image_kernel_count(module->image);
    out_names->stride = sizeof(*module->names);
    return ZETA_PLUGIN_SUCCESS;
}

uint32_t zeta_vgpu_module_native_image(struct zeta_plugin *self, struct zeta_plugin_module *module,
                                       struct zeta_plugin_array *out_bytes)
{
    size_t size;

    (void)self;
    out_bytes->data = zeta_vgpu_image_file(module->image, &size);
    out_bytes->count = size;
    out_bytes->stride = 1;
    return ZETA_PLUGIN_SUCCESS;
}

/* A terminated copy, or NULL without memory; a text with NUL inside names nothing. */
static char *terminated(struct zeta_plugin_string text)
{
    return strndup(text.data ? text.data : "", text.size);
}

/* Finds data or code by name; false without memory, or when there is none. */
static bool find_symbol(const struct zeta_plugin_module *module, struct zeta_plugin_string name,
                        bool function, struct zeta_vgpu_symbol *out_symbol)
{
    char *text = terminated(name);
    bool found = text && zeta_vgpu_image_find_symbol(module->image, text, out_symbol) &&
                 out_symbol->function == function;

    free(text);
    return found;
}

uint32_t zeta_vgpu_module_global(struct zeta_plugin *self, struct zeta_plugin_module *module,
                                 struct zeta_plugin_string name, void **out_address,
                                 uint64_t *out_bytes)
{
    struct zeta_vgpu_symbol symbol;

    if (!find_symbol(module, name, false, &symbol))
        return zeta_host_fail(&self->host, ZETA_PLUGIN_INVALID_GLOBAL_NAME,
                              "the module has no global variable '%.*s'",
                              name.size < 200 ? (int)name.size : 200, name.data ? name.data : "");
    *out_address = (void *)(uintptr_t)symbol.address;
    *out_bytes = symbol.size_bytes;
    return ZETA_PLUGIN_SUCCESS;
}

uint32_t zeta_vgpu_module_function(struct zeta_plugin *self, struct zeta_plugin_module *module,
                                   struct zeta_plugin_string name, void **out_address)
{
    struct zeta_vgpu_symbol symbol;

    if (!find_symbol(module, name, true, &symbol))
        return zeta_host_fail(&self->host, ZETA_PLUGIN_INVALID_FUNCTION_NAME,
                              "the module has no function '%.*s' that others can call",
                              name.size < 200 ? (int)name.size : 200, name.data ? name.data : "");
    *out_address = (void *)(uintptr_t)symbol.address;
    return ZETA_PLUGIN_SUCCESS;
}

uint32_t zeta_vgpu_module_symbols(struct zeta_plugin *self, struct zeta_plugin_module *module,
                                  uint32_t kind, struct zeta_plugin_array *out_names)
{
    const struct zeta_vgpu_symbol *exports;
    const char *const *imports;
    uint32_t import_count, export_count, n = 0;

    (void)self;
    imports = zeta_vgpu_image_imports(module->image, &import_count);
    exports = zeta_vgpu_image_exports(module->image, &export_count);
    for (uint32_t i = 0; kind == ZETA_PLUGIN_SYMBOL_IMPORT && i < import_count; i++)
        module->symbols[n++] = (struct zeta_plugin_string){imports[i], strlen(imports[i])};
    for (uint32_t i = 0; kind != ZETA_PLUGIN_SYMBOL_IMPORT && i < export_count; i++) {
        if (kind == ZETA_PLUGIN_SYMBOL_EXPORT || exports[i].function)
            module->symbols[n++] =
                (struct zeta_plugin_string){exports[i].name, strlen(exports[i].name)};
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

uint32_t zeta_vgpu_module_link(struct zeta_plugin *self, const struct zeta_plugin_array *modules,
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

uint32_t zeta_vgpu_module_code(struct zeta_plugin *self, struct zeta_plugin_module *module,
                               uint64_t *out_begin, uint64_t *out_end)
{
    (void)self;
    zeta_vgpu_image_text(module->image, out_begin, out_end);
    return ZETA_PLUGIN_SUCCESS;
}

uint32_t zeta_vgpu_kernel_code(struct zeta_plugin *self, struct zeta_plugin_kernel *kernel,
                               uint64_t *out_begin)
{
    (void)self;
    *out_begin = kernel->kernel->code_begin;
    return ZETA_PLUGIN_SUCCESS;
}

uint32_t zeta_vgpu_kernel_image(struct zeta_plugin *self, struct zeta_plugin_kernel *kernel,
                                struct zeta_plugin_array *out_bytes)
{
    const uint64_t begin = kernel->kernel->code_begin;

    (void)self;
    *out_bytes = (struct zeta_plugin_array){(const void *)(uintptr_t)begin,
                                            kernel->kernel->code_end - begin, 1};
    return ZETA_PLUGIN_SUCCESS;
}

static uint32_t kind_of(enum zeta_vgpu_argument_kind kind)
{
    switch (kind) {
    case ZETA_VGPU_ARGUMENT_GLOBAL:
        return ZETA_PLUGIN_ARG_GLOBAL;
    case ZETA_VGPU_ARGUMENT_LOCAL:
        return ZETA_PLUGIN_ARG_LOCAL;
    default:
        return ZETA_PLUGIN_ARG_VALUE;
    }
}

static bool list_arguments(struct zeta_plugin_kernel *kernel)
{
    const uint32_t count = kernel->kernel->argument_count;

    kernel->arguments = calloc(count ? count : 1, sizeof(*kernel->arguments));
    for (uint32_t i = 0; kernel->arguments && i < count; i++) {
        const struct zeta_vgpu_argument *from = &kernel->kernel->arguments[i];
        struct zeta_plugin_argument *to = &kernel->arguments[i];

        to->struct_size = sizeof(*to);
        to->kind = kind_of(from->kind);
        to->size_bytes = from->size_bytes;
        to->offset_bytes = from->offset_bytes;
    }
    return kernel->arguments != NULL;
}

uint32_t zeta_vgpu_kernel_create(struct zeta_plugin *self, struct zeta_plugin_module *module,
                                 struct zeta_plugin_string name,
                                 struct zeta_plugin_kernel **out_kernel)
{
    struct zeta_plugin_kernel *kernel = calloc(1, sizeof(*kernel));
    char *text = terminated(name);
    uint32_t result = ZETA_PLUGIN_OUT_OF_HOST_MEMORY;

    if (!kernel || !text)
        goto fail;
    kernel->module = module;
    kernel->image = module->image;
    kernel->kernel = zeta_vgpu_image_find_kernel(module->image, text);
    if (!kernel->kernel) {
        result = zeta_host_fail(&self->host, ZETA_PLUGIN_INVALID_KERNEL_NAME,
                                "the module has no kernel '%.200s'", text);
        goto fail;
    }
    if (!list_arguments(kernel))
        goto fail;
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

void zeta_vgpu_kernel_destroy(struct zeta_plugin *self, struct zeta_plugin_kernel *kernel)
{
    (void)self;
    if (!kernel)
        return;
    free(kernel->arguments);
    free(kernel);
}

uint32_t zeta_vgpu_kernel_properties(struct zeta_plugin *self, struct zeta_plugin_kernel *kernel,
                                     struct zeta_plugin_kernel_properties *out_properties)
{
    const uint32_t limit = zeta_vgpu_topology_group_limit(&self->vgpu->description.topology);
    const uint64_t room = out_properties->struct_size;
    struct zeta_plugin_kernel_properties p = {
        .struct_size = room,
        .name = {kernel->kernel->name, strlen(kernel->kernel->name)},
        .arguments = {kernel->arguments, kernel->kernel->argument_count,
                      sizeof(*kernel->arguments)},
        .block_bytes = kernel->kernel->argument_block_bytes,
        .max_group_size = limit,
        .max_subgroup_size = 1,
        .max_subgroups = limit,
        .local_bytes = kernel->kernel->slm_bytes,
        .private_bytes = kernel->kernel->private_bytes,
        .spill_bytes = kernel->kernel->spill_bytes,
        .attributes = {kernel->kernel->attributes, strlen(kernel->kernel->attributes)},
    };

    memcpy(p.required_group_size, kernel->kernel->required_group_size,
           sizeof(p.required_group_size));
    memcpy(p.uuid, kernel->uuid, sizeof(p.uuid));
    memcpy(p.module_uuid, kernel->module->uuid, sizeof(p.module_uuid));
    memcpy(out_properties, &p, room < sizeof(p) ? room : sizeof(p));
    return ZETA_PLUGIN_SUCCESS;
}
