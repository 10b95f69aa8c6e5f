/* Modules from PTX, cubins and fat binaries; and from SPIR-V, of which zeta-nv-cc makes PTX. */
#include "compute.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zeta/compiler/compiler.h>

#include "image.h"

#define LOG_BYTES (64u << 10)

/* Options of builds: their numbers, as the driver takes them. */
enum {
    OPTION_INFO_LOG = 3,
    OPTION_INFO_LOG_BYTES = 4,
    OPTION_ERROR_LOG = 5,
    OPTION_ERROR_LOG_BYTES = 6,
    OPTION_OPTIMISATION = 7,
    OPTION_LINE_INFO = 13,
    OPTIONS = 6
};

enum { INPUT_PTX = 1 };

/* A build: its options, and the logs that the driver writes. */
struct build {
    char *logs; /* LOG_BYTES for information, as many for errors */
    unsigned count;
    int options[OPTIONS];
    void *values[OPTIONS];
};

static void add_option(struct build *build, int option, uintptr_t value)
{
    build->options[build->count] = option;
    build->values[build->count++] = (void *)value;
}

/* Whether a word is among build flags. */
static bool has_flag(struct zeta_plugin_string flags, const char *flag)
{
    const size_t length = strlen(flag);
    const char *at = flags.data, *end = at ? at + flags.size : NULL;

    while (at && at < end) {
        size_t word = 0;

        while (at + word < end && at[word] != ' ')
            word++;
        if (word == length && memcmp(at, flag, length) == 0)
            return true;
        at += word + 1;
    }
    return false;
}

static bool begin_build(struct build *build, struct zeta_plugin_string flags)
{
    build->logs = calloc(2, LOG_BYTES);
    if (!build->logs)
        return false;
    add_option(build, OPTION_INFO_LOG, (uintptr_t)build->logs);
    add_option(build, OPTION_INFO_LOG_BYTES, LOG_BYTES);
    add_option(build, OPTION_ERROR_LOG, (uintptr_t)(build->logs + LOG_BYTES));
    add_option(build, OPTION_ERROR_LOG_BYTES, LOG_BYTES);
    if (has_flag(flags, "-ze-opt-disable"))
        add_option(build, OPTION_OPTIMISATION, 0);
    if (has_flag(flags, "-g"))
        add_option(build, OPTION_LINE_INFO, 1);
    return true;
}

static void write_log(const struct zeta_plugin_log_sink *log, const char *text)
{
    if (log && log->write && *text)
        log->write(log->context, zeta_string(text));
}

/* Gives the logs of a build to the application; they are empty afterwards. */
static void pass_logs(struct build *build, const struct zeta_plugin_log_sink *log)
{
    for (size_t i = 0; i < 2; i++) {
        char *text = build->logs + i * LOG_BYTES;

        text[LOG_BYTES - 1] = '\0';
        write_log(log, text);
    }
    memset(build->logs, 0, LOG_BYTES);
    memset(build->logs + LOG_BYTES, 0, LOG_BYTES);
}

static uint32_t refuse(struct zeta_plugin *self, const struct zeta_plugin_device *device,
                       const struct zeta_plugin_log_sink *log, uint32_t result, const char *text)
{
    write_log(log, text);
    write_log(log, "\n");
    return zeta_host_fail(&self->host, result, "%s: %s", device->id, text);
}

void nvidia_hash(uint8_t uuid[16], const void *bytes, size_t size)
{
    const uint8_t *at = bytes;
    uint64_t halves[2];

    /* Two FNV-1a hashes that differ: enough to tell images apart, no promise beyond. */
    memcpy(halves, uuid, 16);
    for (size_t i = 0; i < size; i++) {
        halves[0] = (halves[0] ^ at[i]) * UINT64_C(0x100000001b3);
        halves[1] = (halves[1] ^ at[i] ^ (halves[0] >> 32)) * UINT64_C(0x100000001b3);
    }
    memcpy(uuid, halves, 16);
}

/* The result for an image that the driver did not take, with a sentence. */
static uint32_t refuse_image(struct zeta_plugin *self, const struct zeta_plugin_device *device,
                             int cuda, const struct build *build,
                             const struct zeta_plugin_log_sink *log)
{
    const struct nvidia_driver_text text = nvidia_driver_text(&self->nvidia->driver, cuda);
    const char *errors = build->logs + LOG_BYTES;
    const int first = (int)strcspn(errors, "\n");
    const char *advice = "";
    uint32_t result = ZETA_PLUGIN_INVALID_NATIVE_BINARY;
    char sentence[ZETA_HOST_TEXT_BYTES];

    switch (cuda) {
    case 200: /* invalid image */
    case 209: /* no binary for this GPU */
        advice = "; compile for the compute capability of the device, or give PTX";
        break;
    case 218: /* invalid PTX */
        result = ZETA_PLUGIN_MODULE_BUILD_FAILURE;
        break;
    case 221: /* no compiler of PTX */
        advice = "; install the driver's libnvidia-ptxjitcompiler, or give a cubin";
        result = ZETA_PLUGIN_MODULE_BUILD_FAILURE;
        break;
    case 222: /* PTX version */
        advice = "; the PTX is of a newer toolkit than the driver: compile to a cubin, or with an "
                 "older .version";
        result = ZETA_PLUGIN_MODULE_BUILD_FAILURE;
        break;
    case NVIDIA_CUDA_OUT_OF_MEMORY:
        result = ZETA_PLUGIN_OUT_OF_DEVICE_MEMORY;
        break;
    default:
        if (nvidia_is_fault(cuda))
            return nvidia_fail(self, (struct zeta_plugin_device *)device, cuda, "loading a module");
        break;
    }
    (void)snprintf(sentence, sizeof(sentence),
                   "the image was not loaded on a device of compute capability %u.%u: %s%s%s%.*s",
                   device->cc_major, device->cc_minor, text.text, advice, first > 0 ? ": " : "",
                   first < 400 ? first : 400, errors);
    return refuse(self, device, log, result, sentence);
}

/*
 * Translates PTX to a cubin, which stays the image of the module. The driver wants a terminator
 * behind the text, which the application need not have given.
 */
static int translate(struct zeta_plugin *self, struct build *build,
                     const struct zeta_plugin_module_desc *desc, struct zeta_plugin_module *module)
{
    const struct nvidia_driver *driver = &self->nvidia->driver;
    const size_t bytes = (size_t)desc->image_bytes;
    const size_t note_bytes = nvidia_image_notes(desc->image, bytes);
    char *text = calloc(bytes + 1, 1);
    void *link = NULL, *cubin = NULL;
    size_t cubin_bytes = 0;
    int cuda = NVIDIA_CUDA_OUT_OF_MEMORY;

    if (!text)
        return cuda;
    memcpy(text, desc->image, bytes);
    cuda = driver->cuLinkCreate_v2(build->count, build->options, build->values, &link);
    if (cuda != NVIDIA_CUDA_SUCCESS)
        goto no_link;
    cuda = driver->cuLinkAddData_v2(link, INPUT_PTX, text, strlen(text) + 1, "module.ptx", 0, NULL,
                                    NULL);
    if (cuda == NVIDIA_CUDA_SUCCESS)
        cuda = driver->cuLinkComplete(link, &cubin, &cubin_bytes);
    if (cuda == NVIDIA_CUDA_SUCCESS) {
        /* Lines about its kernels follow the cubin, which the driver reads by its header. */
        module->image = malloc(cubin_bytes + 1 + note_bytes);
        if (module->image) {
            memcpy(module->image, cubin, cubin_bytes);
            module->image[cubin_bytes] = '\n';
            memcpy(module->image + cubin_bytes + 1, desc->image, note_bytes);
        } else {
            cuda = NVIDIA_CUDA_OUT_OF_MEMORY;
        }
        module->image_bytes = note_bytes > 0 ? cubin_bytes + 1 + note_bytes : cubin_bytes;
    }
    (void)driver->cuLinkDestroy(link);
no_link:
    free(text);
    return cuda;
}

/* Names of the kernels: as the driver tells them, else as the image does. */
static bool read_names(struct zeta_plugin *self, struct zeta_plugin_module *module)
{
    const struct nvidia_driver *driver = &self->nvidia->driver;
    const char *name = NULL;
    void **functions;
    unsigned count = 0;

    if (module->handle && driver->cuModuleGetFunctionCount && driver->cuModuleEnumerateFunctions &&
        driver->cuFuncGetName &&
        driver->cuModuleGetFunctionCount(&count, module->handle) == NVIDIA_CUDA_SUCCESS) {
        functions = calloc(count + (size_t)1, sizeof(void *));
        module->names = calloc(count + (size_t)1, sizeof(*module->names));
        if (functions && module->names &&
            driver->cuModuleEnumerateFunctions(functions, count, module->handle) ==
                NVIDIA_CUDA_SUCCESS) {
            for (unsigned i = 0; i < count; i++) {
                if (driver->cuFuncGetName(&name, functions[i]) == NVIDIA_CUDA_SUCCESS)
                    module->names[module->name_count++] = zeta_string(name);
            }
        }
        free((void *)functions);
        return module->names != NULL;
    }
    module->names = calloc(module->contents->count + (size_t)1, sizeof(*module->names));
    for (uint32_t i = 0; module->names && i < module->contents->count; i++)
        module->names[module->name_count++] = zeta_string(module->contents->entries[i].name);
    return module->names != NULL;
}

static uint32_t load(struct zeta_plugin *self, struct zeta_plugin_device *device,
                     const struct zeta_plugin_module_desc *desc, enum nvidia_image_kind kind,
                     const struct zeta_plugin_log_sink *log, struct zeta_plugin_module *module)
{
    const struct nvidia_driver *driver = &self->nvidia->driver;
    struct build build = {0};
    uint32_t result = ZETA_PLUGIN_SUCCESS;
    int cuda = NVIDIA_CUDA_SUCCESS;

    if (!begin_build(&build, desc->build_flags))
        return ZETA_PLUGIN_OUT_OF_HOST_MEMORY;
    if (kind == NVIDIA_IMAGE_PTX) {
        cuda = translate(self, &build, desc, module);
    } else {
        module->image = malloc((size_t)desc->image_bytes);
        if (!module->image) {
            free(build.logs);
            return ZETA_PLUGIN_OUT_OF_HOST_MEMORY;
        }
        memcpy(module->image, desc->image, (size_t)desc->image_bytes);
        module->image_bytes = (size_t)desc->image_bytes;
    }
    if (cuda == NVIDIA_CUDA_SUCCESS) {
        if (kind == NVIDIA_IMAGE_PTX)
            pass_logs(&build, log);
        cuda = driver->cuModuleLoadDataEx(&module->handle, module->image, build.count,
                                          build.options, build.values);
    }
    if (cuda != NVIDIA_CUDA_SUCCESS)
        result = refuse_image(self, device, cuda, &build, log);
    pass_logs(&build, log);
    free(build.logs);
    return result;
}

/* What has imports is loaded when it is linked: compiled once more, with what defines them. */
static uint32_t keep(struct zeta_plugin *self, const struct zeta_plugin_device *device,
                     const struct zeta_plugin_module_desc *desc,
                     const struct zeta_compiler_source *source,
                     const struct zeta_plugin_log_sink *log, struct zeta_plugin_module *module)
{
    if (!source->bytes)
        return refuse(self, device, log, ZETA_PLUGIN_INVALID_NATIVE_BINARY,
                      "the image has imports and not what it was made of, so it cannot be linked; "
                      "take the native binary of a module made of SPIR-V");
    module->image = malloc((size_t)desc->image_bytes);
    if (!module->image)
        return ZETA_PLUGIN_OUT_OF_HOST_MEMORY;
    memcpy(module->image, desc->image, (size_t)desc->image_bytes);
    module->image_bytes = (size_t)desc->image_bytes;
    return ZETA_PLUGIN_SUCCESS;
}

/* What a module that may be linked was made of; it is the end of its image. False without memory.
 */
static bool add_source(struct zeta_plugin_module *module, const struct zeta_compiler_source *source)
{
    const struct nvidia_image_end end = {.magic = NVIDIA_IMAGE_END,
                                         .source_bytes = source->size,
                                         .source_images = source->image_count};
    uint8_t *grown, *copy;

    if (!source->bytes || module->contents->imports.count + module->contents->exports.count == 0)
        return true;
    copy = malloc(source->size);
    grown = realloc(module->image, module->image_bytes + source->size + sizeof(end));
    if (grown)
        module->image = grown;
    if (!copy || !grown) {
        free(copy);
        return false;
    }
    memcpy(copy, source->bytes, source->size);
    module->source = (struct zeta_compiler_source){copy, source->size, source->image_count};
    memcpy(grown + module->image_bytes, source->bytes, source->size);
    memcpy(grown + module->image_bytes + source->size, &end, sizeof(end));
    module->image_bytes += source->size + sizeof(end);
    return true;
}

static uint32_t create(struct zeta_plugin *self, struct zeta_plugin_device *device,
                       const struct zeta_plugin_module_desc *desc,
                       const struct zeta_compiler_source *source,
                       const struct zeta_plugin_log_sink *log,
                       struct zeta_plugin_module **out_module)
{
    const size_t bytes = (size_t)desc->image_bytes;
    struct zeta_plugin_module *module;
    struct nvidia_entered entered;
    enum nvidia_image_kind kind;
    const char *problem = "";
    uint32_t result;
    char text[300];

    if (ZETA_PLUGIN_HAS(desc, parts) && desc->parts.count > 0)
        return refuse(self, device, log, ZETA_PLUGIN_MODULE_BUILD_FAILURE,
                      "native images are linked already, several do not make one program: link "
                      "them with nvcc, or create a module of each");
    kind = nvidia_image_kind(desc->image, bytes, &problem);
    if (kind == NVIDIA_IMAGE_UNKNOWN) {
        (void)snprintf(text, sizeof(text), "the image of %zu bytes %s", bytes, problem);
        return refuse(self, device, log, ZETA_PLUGIN_INVALID_NATIVE_BINARY, text);
    }
    module = calloc(1, sizeof(*module));
    if (!module)
        return ZETA_PLUGIN_OUT_OF_HOST_MEMORY;
    module->device = device;
    nvidia_hash(module->uuid, "zeta nvidia image", 17);
    nvidia_hash(module->uuid, desc->image, bytes);
    result = nvidia_enter(self, device, &entered);
    if (result != ZETA_PLUGIN_SUCCESS) {
        free(module);
        return result;
    }
    module->contents = nvidia_image_read(kind, desc->image, bytes);
    if (!module->contents)
        result = ZETA_PLUGIN_OUT_OF_HOST_MEMORY;
    if (result == ZETA_PLUGIN_SUCCESS && module->contents->imports.count > 0)
        result = keep(self, device, desc, source, log, module);
    else if (result == ZETA_PLUGIN_SUCCESS)
        result = load(self, device, desc, kind, log, module);
    if (result == ZETA_PLUGIN_SUCCESS && (!read_names(self, module) || !add_source(module, source)))
        result = ZETA_PLUGIN_OUT_OF_HOST_MEMORY;
    nvidia_leave(self, &entered);
    if (result != ZETA_PLUGIN_SUCCESS)
        nvidia_module_destroy(self, module);
    else
        *out_module = module;
    return result;
}

uint32_t nvidia_module_from(struct zeta_plugin *self, struct zeta_plugin_device *device,
                            const struct zeta_compiled *built, struct zeta_plugin_string flags,
                            const struct zeta_plugin_log_sink *log,
                            struct zeta_plugin_module **out_module)
{
    const struct zeta_plugin_module_desc native = {.struct_size = sizeof(native),
                                                   .format = ZETA_PLUGIN_MODULE_NATIVE,
                                                   .image = built->image,
                                                   .image_bytes = built->image_bytes,
                                                   .build_flags = flags};
    uint32_t result;

    if (log && log->write && built->log_bytes > 0)
        log->write(log->context, (struct zeta_plugin_string){built->log, built->log_bytes});
    if (!built->image) {
        /* The sentence has the first line of the log. */
        const char *end = built->log_bytes > 0 ? memchr(built->log, '\n', built->log_bytes) : NULL;
        const size_t length = end ? (size_t)(end - built->log) : built->log_bytes;

        return zeta_host_fail(&self->host, ZETA_PLUGIN_MODULE_BUILD_FAILURE,
                              "%s: the SPIR-V module was not built: %.*s", device->id,
                              length < 400 ? (int)length : 400, built->log);
    }
    result = create(self, device, &native, &built->source, log, out_module);
    return result == ZETA_PLUGIN_INVALID_NATIVE_BINARY ? ZETA_PLUGIN_MODULE_BUILD_FAILURE : result;
}

/* Compiles SPIR-V to PTX, and that as any PTX. */
static uint32_t build(struct zeta_plugin *self, struct zeta_plugin_device *device,
                      const struct zeta_plugin_module_desc *desc,
                      const struct zeta_plugin_log_sink *log,
                      struct zeta_plugin_module **out_module)
{
    struct zeta_compiled built;
    uint32_t result;
    char options[64];

    (void)snprintf(options, sizeof(options), "--gpu sm_%u%u --imports ", device->cc_major,
                   device->cc_minor);
    zeta_compile(self->nvidia->compiler, options, desc, &built);
    result = nvidia_module_from(self, device, &built, desc->build_flags, log, out_module);
    zeta_compiled_free(&built);
    return result;
}

/* Native images that can be linked end with what they were made of. */
static uint32_t create_native(struct zeta_plugin *self, struct zeta_plugin_device *device,
                              const struct zeta_plugin_module_desc *desc,
                              const struct zeta_plugin_log_sink *log,
                              struct zeta_plugin_module **out_module)
{
    struct zeta_plugin_module_desc body = *desc;
    struct zeta_compiler_source source = {0};
    const uint8_t *bytes = NULL;
    struct nvidia_image_end end;

    body.image_bytes = nvidia_image_body(desc->image, (size_t)desc->image_bytes, &bytes, &end);
    if (bytes)
        source = (struct zeta_compiler_source){(uint8_t *)(uintptr_t)bytes,
                                               (size_t)end.source_bytes, end.source_images};
    return create(self, device, &body, &source, log, out_module);
}

uint32_t nvidia_module_create(struct zeta_plugin *self, struct zeta_plugin_device *device,
                              const struct zeta_plugin_module_desc *desc,
                              const struct zeta_plugin_log_sink *log,
                              struct zeta_plugin_module **out_module)
{
    if (desc->format == ZETA_PLUGIN_MODULE_IL_SPIRV)
        return build(self, device, desc, log, out_module);
    if (desc->format != ZETA_PLUGIN_MODULE_NATIVE)
        return refuse(self, device, log, ZETA_PLUGIN_INVALID_ARGUMENT,
                      "the format of the module is unknown; PTX, cubins and fat binaries are taken "
                      "with ZE_MODULE_FORMAT_NATIVE, SPIR-V with ZE_MODULE_FORMAT_IL_SPIRV");
    return create_native(self, device, desc, log, out_module);
}

void nvidia_module_destroy(struct zeta_plugin *self, struct zeta_plugin_module *module)
{
    struct nvidia_entered entered;

    if (!module)
        return;
    if (module->handle && nvidia_enter(self, module->device, &entered) == ZETA_PLUGIN_SUCCESS) {
        (void)self->nvidia->driver.cuModuleUnload(module->handle);
        nvidia_leave(self, &entered);
    }
    nvidia_module_unlink(self, module);
    nvidia_image_free(module->contents);
    free(module->source.bytes);
    free(module->names);
    free(module->image);
    free(module);
}

uint32_t nvidia_module_names(struct zeta_plugin *self, struct zeta_plugin_module *module,
                             struct zeta_plugin_array *out_names)
{
    (void)self;
    *out_names =
        (struct zeta_plugin_array){module->names, module->name_count, sizeof(*module->names)};
    return ZETA_PLUGIN_SUCCESS;
}

uint32_t nvidia_module_image(struct zeta_plugin *self, struct zeta_plugin_module *module,
                             struct zeta_plugin_array *out_bytes)
{
    (void)self;
    *out_bytes = (struct zeta_plugin_array){module->image, module->image_bytes, 1};
    return ZETA_PLUGIN_SUCCESS;
}

uint32_t nvidia_module_symbols(struct zeta_plugin *self, struct zeta_plugin_module *module,
                               uint32_t kind, struct zeta_plugin_array *out_names)
{
    const struct nvidia_names *names =
        kind == ZETA_PLUGIN_SYMBOL_IMPORT ? &module->contents->imports : &module->contents->exports;

    (void)self;
    /* The addresses of functions are not told. */
    *out_names = (struct zeta_plugin_array){
        names->list, kind == ZETA_PLUGIN_SYMBOL_FUNCTION ? 0 : names->count, sizeof(*names->list)};
    return ZETA_PLUGIN_SUCCESS;
}

/* The name of a variable in what was loaded, to be freed; NULL without memory. */
static char *name_of_variable(const struct zeta_plugin_module *module,
                              struct zeta_plugin_string name)
{
    const struct nvidia_variable *variable =
        nvidia_image_variable(nvidia_module_loaded(module), module->unit, name);

    return variable ? strdup(variable->own) : strndup(name.data ? name.data : "", name.size);
}

uint32_t nvidia_module_global(struct zeta_plugin *self, struct zeta_plugin_module *module,
                              struct zeta_plugin_string name, void **out_address,
                              uint64_t *out_bytes)
{
    void *const handle = nvidia_module_handle(module);
    struct nvidia_entered entered;
    uint64_t address = 0;
    uint32_t result;
    size_t bytes = 0;
    char *text;
    int cuda;

    if (!handle)
        return zeta_host_fail(&self->host, ZETA_PLUGIN_INVALID_GLOBAL_NAME,
                              "the module has imports, so its variables are made when it is linked "
                              "(zeModuleDynamicLink)");
    text = name_of_variable(module, name);
    if (!text)
        return ZETA_PLUGIN_OUT_OF_HOST_MEMORY;
    result = nvidia_enter(self, module->device, &entered);
    if (result != ZETA_PLUGIN_SUCCESS) {
        free(text);
        return result;
    }
    cuda = self->nvidia->driver.cuModuleGetGlobal_v2(&address, &bytes, handle, text);
    nvidia_leave(self, &entered);
    free(text);
    if (cuda != NVIDIA_CUDA_SUCCESS)
        return zeta_host_fail(&self->host, ZETA_PLUGIN_INVALID_GLOBAL_NAME,
                              "the module has no global variable '%.*s': %s",
                              zeta_string_shown(name), name.data,
                              nvidia_driver_text(&self->nvidia->driver, cuda).text);
    *out_address = (void *)(uintptr_t)address;
    *out_bytes = bytes;
    return ZETA_PLUGIN_SUCCESS;
}
