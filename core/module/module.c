#include "core/module/module.h"

#include <stdlib.h>
#include <string.h>

#include "core/device/device.h"
#include "core/plugin/host.h"
#include "core/util/cleanup.h"
#include "core/util/error.h"
#include "zeta_impl.h"

#define LOG_BYTES_MAX ((size_t)1 << 20)

/** Text that building or linking left. */
struct zeta_module_build_log {
    struct zeta_object object;
    char *text; /* terminated */
};

static void free_names(char **names, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        free(names[i]);
    free((void *)names);
}

static void finish_module(void *object)
{
    struct zeta_module *module = object;

    zeta_module_dump_end(module);
    zeta_module_release(module);
    free_names(module->kernel_names, module->kernel_count);
    free_names(module->imports, module->import_count);
    zeta_object_unpin(module->context);
}

ZETA_OBJECT_FINISHER(ZETA_KIND_MODULE, finish_module)

/* Copies, because programs expect terminated strings that live as the module does. */
static ze_result_t copy_names(const struct zeta_plugin_array *names, char ***out_names,
                              uint32_t *out_count)
{
    char **copies = calloc((size_t)names->count + 1, sizeof(*copies));
    uint32_t count = 0;

    for (uint64_t i = 0; copies && i < names->count; i++) {
        const struct zeta_plugin_string *name = zeta_array_at(names, i);

        copies[count] = strndup(name->data, (size_t)name->size);
        if (!copies[count])
            break;
        count++;
    }
    /* What was copied is the module's in any case, and goes with it. */
    *out_names = copies;
    *out_count = count;
    if (!copies || count < names->count)
        return zeta_error_no_memory("names of a module");
    return ZE_RESULT_SUCCESS;
}

static ze_result_t build(struct zeta_module *module, const struct zeta_module_input *input,
                         struct zeta_text *log)
{
    const struct zeta_provider *who = &module->device->backend->providers[ZETA_GROUP_COMPUTE];
    const struct zeta_plugin_log_sink sink = {.context = log, .write = zeta_module_log_write};
    uint32_t code = who->backend->compute.module_create(
        who->backend->self, who->device, &input->desc, &sink, &module->plugin_module);

    if (code != ZETA_PLUGIN_SUCCESS) {
        module->plugin_module = NULL;
        if (input->desc.format != ZETA_PLUGIN_MODULE_IL_SPIRV ||
            module->device->backend->properties.spirv_version != 0)
            return zeta_backend_result(who->backend, code, "creating a module");
        /* The plugin was asked all the same: it knows what is missing, and how to get it. */
        if (log->length > 0 && log->data[log->length - 1] != '\n')
            zeta_text_add(log, "\n");
        zeta_text_add(log,
                      "SPIR-V cannot be built for this device: plugin \"%s\" has no compiler here. "
                      "Or compile the kernel to a native image ahead of time and create the module "
                      "with ZE_MODULE_FORMAT_NATIVE.\n",
                      who->backend->id);
        return zeta_error(
            ZE_RESULT_ERROR_MODULE_BUILD_FAILURE,
            "%s takes native modules only: plugin \"%s\" has no SPIR-V compiler here; "
            "see the build log",
            module->device->name, who->backend->id);
    }
    module->profile_flags = input->profile_flags;

    struct zeta_backend *backend = module->backend;
    struct zeta_plugin_array kernels = {0};
    struct zeta_plugin_array imports = {0};
    code = backend->compute.module_kernel_names(backend->self, module->plugin_module, &kernels);
    if (code != ZETA_PLUGIN_SUCCESS)
        return zeta_backend_result(backend, code, "listing the kernels of a module");
    code = backend->compute.module_symbols(backend->self, module->plugin_module,
                                           ZETA_PLUGIN_SYMBOL_IMPORT, &imports);
    if (code != ZETA_PLUGIN_SUCCESS)
        return zeta_backend_result(backend, code, "listing the imports of a module");
    ze_result_t result = copy_names(&kernels, &module->kernel_names, &module->kernel_count);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    return copy_names(&imports, &module->imports, &module->import_count);
}

static ze_result_t create_module(struct zeta_context *context, struct zeta_device *device,
                                 const ze_module_desc_t *desc, struct zeta_text *log,
                                 struct zeta_module **out_module)
{
    ZETA_CLEANUP(zeta_module_input_finishp) struct zeta_module_input input = {0};
    void *object = NULL;
    ze_result_t result = zeta_context_check_device(context, device);

    if (result == ZE_RESULT_SUCCESS && !device->driver->compute)
        result = zeta_error(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
                            "no plugin computes on %s, so it takes no modules", device->name);
    if (result == ZE_RESULT_SUCCESS)
        result = zeta_module_input_read(desc, &input);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    result = zeta_object_create_in(context, ZETA_KIND_CONTEXT, ZETA_KIND_MODULE,
                                   sizeof(struct zeta_module), &object);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    struct zeta_module *module = object;
    module->context = context;
    module->device = device;
    module->backend = device->driver->compute;
    result = build(module, &input, log);
    if (result != ZE_RESULT_SUCCESS) {
        zeta_object_discard(module);
        return result;
    }
    *out_module = module;
    zeta_module_dump(module);
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL impl_zeModuleCreate(ze_context_handle_t hContext, ze_device_handle_t hDevice,
                                           const ze_module_desc_t *desc,
                                           ze_module_handle_t *phModule,
                                           ze_module_build_log_handle_t *phBuildLog)
{
    ZETA_CLEANUP(zeta_text_finish) struct zeta_text log = {0};
    struct zeta_module *module = NULL;
    ze_module_build_log_handle_t log_handle = NULL;
    ze_result_t result = create_module((struct zeta_context *)hContext,
                                       (struct zeta_device *)hDevice, desc, &log, &module);

    /* A failed build has its log too: that is where it is needed most. */
    if (phBuildLog) {
        if (result != ZE_RESULT_SUCCESS && log.length == 0)
            zeta_text_add(&log, "%s", zeta_error_describe());
        ze_result_t log_result = zeta_module_log_create(&log, &log_handle);

        if (log_result == ZE_RESULT_SUCCESS)
            *phBuildLog = log_handle;
        else if (result == ZE_RESULT_SUCCESS) {
            zeta_object_discard(module);
            result = log_result;
        }
    }
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
    return zeta_object_destroy(module, ZETA_KIND_MODULE, "zeModuleDestroy", "hModule");
}

static ze_result_t copy_image(const struct zeta_module *module, const char *what, size_t *size,
                              uint8_t *buffer)
{
    struct zeta_plugin_array image = {0};
    uint32_t code = module->backend->compute.module_native_image(module->backend->self,
                                                                 module->plugin_module, &image);

    if (code != ZETA_PLUGIN_SUCCESS)
        return zeta_backend_result(module->backend, code, "reading the image of a module");
    return zeta_blob_copy(what, image.data, (size_t)image.count, size, buffer);
}

ze_result_t ZE_APICALL impl_zeModuleGetNativeBinary(ze_module_handle_t hModule, size_t *pSize,
                                                    uint8_t *pModuleNativeBinary)
{
    return copy_image((const struct zeta_module *)hModule, "image", pSize, pModuleNativeBinary);
}

/* The image is the file that debuggers read: an ELF file, with DWARF if it was built with it. */
ze_result_t ZE_APICALL impl_zetModuleGetDebugInfo(zet_module_handle_t hModule,
                                                  zet_module_debug_info_format_t format ZETA_UNUSED,
                                                  size_t *pSize, uint8_t *pDebugInfo)
{
    return copy_image((const struct zeta_module *)hModule, "debug information", pSize, pDebugInfo);
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

ze_result_t ZE_APICALL impl_zeModuleGetProperties(ze_module_handle_t hModule,
                                                  ze_module_properties_t *pModuleProperties)
{
    const struct zeta_module *module = (const struct zeta_module *)hModule;

    pModuleProperties->flags = module->import_count > 0 ? ZE_MODULE_PROPERTY_FLAG_IMPORTS : 0;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL impl_zeModuleGetFunctionPointer(ze_module_handle_t hModule,
                                                       const char *pFunctionName,
                                                       void **pfnFunction)
{
    const struct zeta_module *module = (const struct zeta_module *)hModule;
    struct zeta_plugin_string name = {.data = pFunctionName, .size = strlen(pFunctionName)};
    void *address = NULL;
    uint32_t code = module->backend->compute.module_function(module->backend->self,
                                                             module->plugin_module, name, &address);

    if (code == ZETA_PLUGIN_INVALID_FUNCTION_NAME)
        return zeta_error(ZE_RESULT_ERROR_INVALID_FUNCTION_NAME,
                          "the module has no function \"%s\" that can be called from outside",
                          pFunctionName);
    if (code != ZETA_PLUGIN_SUCCESS)
        return zeta_backend_result(module->backend, code, "looking up a function");
    *pfnFunction = address;
    return ZE_RESULT_SUCCESS;
}

/* ---- build logs ---- */

void zeta_module_log_write(void *context, struct zeta_plugin_string piece)
{
    struct zeta_text *text = context;
    size_t room = LOG_BYTES_MAX > text->length ? LOG_BYTES_MAX - text->length : 0;

    zeta_text_append(text, piece.data, piece.size < room ? (size_t)piece.size : room);
}

ze_result_t zeta_module_log_create(struct zeta_text *text, ze_module_build_log_handle_t *out_log)
{
    void *object = NULL;
    ze_result_t result;

    zeta_text_append(text, "", 0);
    if (!text->data)
        return zeta_error_no_memory("a build log");
    result = zeta_object_create(ZETA_KIND_MODULE_BUILD_LOG, sizeof(struct zeta_module_build_log),
                                &object);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    ((struct zeta_module_build_log *)object)->text = ZETA_TAKE(text->data);
    *text = (struct zeta_text){0};
    *out_log = object;
    return ZE_RESULT_SUCCESS;
}

static void finish_log(void *object)
{
    free(((struct zeta_module_build_log *)object)->text);
}

ZETA_OBJECT_FINISHER(ZETA_KIND_MODULE_BUILD_LOG, finish_log)

ze_result_t zeta_blob_copy(const char *what, const void *data, size_t bytes, size_t *size,
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

    return zeta_blob_copy("build log", text, strlen(text) + 1, pSize, pBuildLog);
}

ze_result_t ZE_APICALL impl_zeModuleBuildLogDestroy(ze_module_build_log_handle_t hModuleBuildLog)
{
    return zeta_object_destroy(hModuleBuildLog, ZETA_KIND_MODULE_BUILD_LOG,
                               "zeModuleBuildLogDestroy", "hModuleBuildLog");
}
