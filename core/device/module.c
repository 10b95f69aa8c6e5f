#include "core/device/module.h"

#include <stdlib.h>
#include <string.h>

#include "core/device/device.h"
#include "core/device/kernel.h"
#include "core/plugin/host.h"
#include "core/util/cleanup.h"
#include "core/util/error.h"
#include "zeta_impl.h"

#define LOG_BYTES_MAX ((size_t)1 << 20)

/** Text that building a module left. */
struct zeta_module_build_log {
    struct zeta_object object;
    char *text; /* terminated */
};

/* Text that grows; what does not fit into memory or the limit is dropped. */
struct text {
    char *data;
    size_t size; /* without the terminator */
};

static void append_text(void *context, struct zeta_plugin_string piece)
{
    struct text *text = context;
    size_t room = LOG_BYTES_MAX - text->size;
    size_t size = piece.size < room ? (size_t)piece.size : room;
    char *grown = realloc(text->data, text->size + size + 1);

    if (!grown)
        return;
    if (size > 0)
        memcpy(grown + text->size, piece.data, size);
    text->size += size;
    grown[text->size] = '\0';
    text->data = grown;
}

static void append_sentence(struct text *text, const char *sentence)
{
    append_text(text, (struct zeta_plugin_string){.data = sentence, .size = strlen(sentence)});
}

static ze_result_t create_log(struct text *text, ze_module_build_log_handle_t *out_log)
{
    void *object = NULL;
    ze_result_t result;

    append_sentence(text, "");
    if (!text->data)
        return zeta_error(ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, "no memory for a build log");
    result = zeta_object_create(ZETA_KIND_MODULE_BUILD_LOG, sizeof(struct zeta_module_build_log),
                                &object);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    ((struct zeta_module_build_log *)object)->text = ZETA_TAKE(text->data);
    *out_log = object;
    return ZE_RESULT_SUCCESS;
}

static void finish_log(void *object)
{
    free(((struct zeta_module_build_log *)object)->text);
}

static void free_names(struct zeta_module *module)
{
    for (uint32_t i = 0; i < module->kernel_count; i++)
        free(module->kernel_names[i]);
    free(module->kernel_names);
}

static void finish_module(void *object)
{
    struct zeta_module *module = object;

    if (module->plugin_module)
        module->backend->compute.module_destroy(module->backend->self, module->plugin_module);
    free_names(module);
    zeta_object_unpin(module->context);
}

void zeta_module_set_finishers(void)
{
    zeta_object_set_finisher(ZETA_KIND_MODULE, finish_module);
    zeta_object_set_finisher(ZETA_KIND_MODULE_BUILD_LOG, finish_log);
    zeta_object_set_finisher(ZETA_KIND_KERNEL, zeta_kernel_finish);
}

/* The names are copied, because programs expect terminated strings that live as the module does. */
static ze_result_t copy_names(struct zeta_module *module)
{
    struct zeta_backend *backend = module->backend;
    struct zeta_plugin_array names = {0};
    uint32_t code =
        backend->compute.module_kernel_names(backend->self, module->plugin_module, &names);

    if (code != ZETA_PLUGIN_SUCCESS)
        return zeta_backend_result(backend, code, "listing the kernels of a module");
    module->kernel_names = calloc((size_t)names.count + 1, sizeof(*module->kernel_names));
    for (uint64_t i = 0; module->kernel_names && i < names.count; i++) {
        const struct zeta_plugin_string *name =
            (const void *)((const char *)names.data + i * names.stride);

        module->kernel_names[i] = strndup(name->data, (size_t)name->size);
        if (!module->kernel_names[i])
            break;
        module->kernel_count++;
    }
    if (!module->kernel_names || module->kernel_count < names.count)
        return zeta_error(ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, "no memory for names of kernels");
    return ZE_RESULT_SUCCESS;
}

static ze_result_t check_desc(const struct zeta_context *context, const struct zeta_device *device,
                              const ze_module_desc_t *desc, struct text *log)
{
    ze_result_t result = zeta_context_check_device(context, device);

    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (!device->driver->compute)
        return zeta_error(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
                          "no plugin computes on %s, so it takes no modules", device->name);
    if (desc->format == ZE_MODULE_FORMAT_IL_SPIRV &&
        device->backend->properties.spirv_version == 0) {
        append_sentence(log, "SPIR-V cannot be built for this device: plugin \"");
        append_sentence(log, device->driver->compute->id);
        append_sentence(log, "\" brings no compiler. Compile the kernel to a native image ahead of "
                             "time and create the module with ZE_MODULE_FORMAT_NATIVE.\n");
        return zeta_error(ZE_RESULT_ERROR_MODULE_BUILD_FAILURE,
                          "%s takes native modules only: plugin \"%s\" brings no SPIR-V compiler",
                          device->name, device->driver->compute->id);
    }
    return ZE_RESULT_SUCCESS;
}

static ze_result_t build(struct zeta_module *module, const ze_module_desc_t *desc, struct text *log)
{
    const struct zeta_provider *who = &module->device->backend->providers[ZETA_GROUP_COMPUTE];
    const struct zeta_plugin_log_sink sink = {.context = log, .write = append_text};
    struct zeta_plugin_module_desc wanted = {.struct_size = sizeof(wanted),
                                             .format = desc->format == ZE_MODULE_FORMAT_NATIVE
                                                           ? ZETA_PLUGIN_MODULE_NATIVE
                                                           : ZETA_PLUGIN_MODULE_IL_SPIRV,
                                             .image = desc->pInputModule,
                                             .image_bytes = desc->inputSize};

    if (desc->pBuildFlags)
        wanted.build_flags = (struct zeta_plugin_string){.data = desc->pBuildFlags,
                                                         .size = strlen(desc->pBuildFlags)};
    if (desc->pConstants && desc->format == ZE_MODULE_FORMAT_IL_SPIRV) {
        wanted.constant_ids = (struct zeta_plugin_array){.data = desc->pConstants->pConstantIds,
                                                         .count = desc->pConstants->numConstants,
                                                         .stride = sizeof(uint32_t)};
        wanted.constant_values =
            (struct zeta_plugin_array){.data = (const void *)desc->pConstants->pConstantValues,
                                       .count = desc->pConstants->numConstants,
                                       .stride = sizeof(void *)};
    }
    uint32_t code = who->backend->compute.module_create(who->backend->self, who->device, &wanted,
                                                        &sink, &module->plugin_module);
    if (code != ZETA_PLUGIN_SUCCESS) {
        module->plugin_module = NULL;
        return zeta_backend_result(who->backend, code, "creating a module");
    }
    return copy_names(module);
}

static void discard(void *object)
{
    if (zeta_object_retire(object))
        zeta_object_unpin(object);
}

static ze_result_t create_module(struct zeta_context *context, struct zeta_device *device,
                                 const ze_module_desc_t *desc, struct text *log,
                                 struct zeta_module **out_module)
{
    void *object = NULL;
    ze_result_t result = check_desc(context, device, desc, log);

    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (!zeta_object_pin(context, ZETA_KIND_CONTEXT))
        return zeta_error(ZE_RESULT_ERROR_INVALID_NULL_HANDLE, "the context was just destroyed");
    result = zeta_object_create(ZETA_KIND_MODULE, sizeof(struct zeta_module), &object);
    if (result != ZE_RESULT_SUCCESS) {
        zeta_object_unpin(context);
        return result;
    }
    struct zeta_module *module = object;
    module->context = context;
    module->device = device;
    module->backend = device->driver->compute;
    result = build(module, desc, log);
    if (result != ZE_RESULT_SUCCESS)
        discard(module);
    else
        *out_module = module;
    return result;
}

ze_result_t ZE_APICALL impl_zeModuleCreate(ze_context_handle_t hContext, ze_device_handle_t hDevice,
                                           const ze_module_desc_t *desc,
                                           ze_module_handle_t *phModule,
                                           ze_module_build_log_handle_t *phBuildLog)
{
    struct text log = {0};
    struct zeta_module *module = NULL;
    ze_module_build_log_handle_t log_handle = NULL;
    ze_result_t result = create_module((struct zeta_context *)hContext,
                                       (struct zeta_device *)hDevice, desc, &log, &module);

    /* A failed build has its log too: that is where it is needed most. */
    if (phBuildLog) {
        ze_result_t log_result = create_log(&log, &log_handle);

        if (log_result == ZE_RESULT_SUCCESS)
            *phBuildLog = log_handle;
        else if (result == ZE_RESULT_SUCCESS) {
            discard(module);
            result = log_result;
        }
    }
    free(log.data);
    if (result == ZE_RESULT_SUCCESS)
        *phModule = (ze_module_handle_t)module;
    return result;
}

ze_result_t ZE_APICALL impl_zeModuleDestroy(ze_module_handle_t hModule)
{
    struct zeta_module *module = (struct zeta_module *)hModule;
    uint32_t kernels = atomic_load(&module->live_kernels);

    if (kernels > 0)
        return zeta_error(ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE,
                          "the module has %u kernels; destroy them first", kernels);
    if (!zeta_object_retire(module))
        return zeta_object_explain(hModule, ZETA_KIND_MODULE, "zeModuleDestroy", "hModule");
    zeta_object_unpin(module);
    return ZE_RESULT_SUCCESS;
}

/* The rule of blobs: no buffer asks for the size, a buffer that is too small changes nothing else.
 */
static ze_result_t copy_out(const char *what, const void *data, size_t bytes, size_t *size,
                            void *buffer)
{
    size_t room = *size;

    *size = bytes;
    if (!buffer)
        return ZE_RESULT_SUCCESS;
    if (room < bytes)
        return zeta_error(ZE_RESULT_ERROR_INVALID_SIZE,
                          "the %s has %zu bytes and the buffer only %zu", what, bytes, room);
    memcpy(buffer, data, bytes);
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL impl_zeModuleBuildLogGetString(ze_module_build_log_handle_t hModuleBuildLog,
                                                      size_t *pSize, char *pBuildLog)
{
    const char *text = ((const struct zeta_module_build_log *)hModuleBuildLog)->text;

    return copy_out("build log", text, strlen(text) + 1, pSize, pBuildLog);
}

ze_result_t ZE_APICALL impl_zeModuleBuildLogDestroy(ze_module_build_log_handle_t hModuleBuildLog)
{
    if (!zeta_object_retire(hModuleBuildLog))
        return zeta_object_explain(hModuleBuildLog, ZETA_KIND_MODULE_BUILD_LOG,
                                   "zeModuleBuildLogDestroy", "hModuleBuildLog");
    zeta_object_unpin(hModuleBuildLog);
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL impl_zeModuleGetNativeBinary(ze_module_handle_t hModule, size_t *pSize,
                                                    uint8_t *pModuleNativeBinary)
{
    const struct zeta_module *module = (const struct zeta_module *)hModule;
    struct zeta_plugin_array image = {0};
    uint32_t code = module->backend->compute.module_native_image(module->backend->self,
                                                                 module->plugin_module, &image);

    if (code != ZETA_PLUGIN_SUCCESS)
        return zeta_backend_result(module->backend, code, "reading the image of a module");
    return copy_out("image", image.data, (size_t)image.count, pSize, pModuleNativeBinary);
}

ze_result_t ZE_APICALL impl_zeModuleGetGlobalPointer(ze_module_handle_t hModule,
                                                     const char *pGlobalName, size_t *pSize,
                                                     void **pptr)
{
    const struct zeta_module *module = (const struct zeta_module *)hModule;
    struct zeta_plugin_string name = {.data = pGlobalName, .size = strlen(pGlobalName)};
    void *address = NULL;
    uint64_t bytes = 0;
    uint32_t code = module->backend->compute.module_global(
        module->backend->self, module->plugin_module, name, &address, &bytes);

    if (code == ZETA_PLUGIN_INVALID_GLOBAL_NAME)
        return zeta_error(ZE_RESULT_ERROR_INVALID_GLOBAL_NAME,
                          "the module has no global variable \"%s\"", pGlobalName);
    if (code != ZETA_PLUGIN_SUCCESS)
        return zeta_backend_result(module->backend, code, "looking up a global variable");
    if (pSize)
        *pSize = (size_t)bytes;
    if (pptr)
        *pptr = address;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL impl_zeModuleGetKernelNames(ze_module_handle_t hModule, uint32_t *pCount,
                                                   const char **pNames)
{
    const struct zeta_module *module = (const struct zeta_module *)hModule;
    uint32_t n = zeta_count_clip(pCount, module->kernel_count, (const void *)pNames);

    for (uint32_t i = 0; i < n; i++)
        pNames[i] = module->kernel_names[i];
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL impl_zeModuleGetProperties(ze_module_handle_t hModule ZETA_UNUSED,
                                                  ze_module_properties_t *pModuleProperties)
{
    pModuleProperties->flags = 0; /* native images come linked */
    return ZE_RESULT_SUCCESS;
}

/* Native images come linked, so there is never anything left to resolve. */
ze_result_t ZE_APICALL impl_zeModuleDynamicLink(uint32_t numModules ZETA_UNUSED,
                                                ze_module_handle_t *phModules ZETA_UNUSED,
                                                ze_module_build_log_handle_t *phLinkLog)
{
    struct text log = {0};

    return phLinkLog ? create_log(&log, phLinkLog) : ZE_RESULT_SUCCESS;
}
