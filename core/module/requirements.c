/*
 * Runtime requirements: what a module needs of a device, as text that a program can keep and ask
 * about later, in another process or on another machine.
 *
 *   ZETA.vgpu ip=65536 group=64 local=4096 made=0.1.0
 *
 * The first word names the plugin that understands the rest. Numbers are what the device must have
 * at least; "made" is the version that wrote the text, and another one might compile better.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/api/chain.h"
#include "core/device/device.h"
#include "core/module/module.h"
#include "core/plugin/host.h"
#include "core/util/cleanup.h"
#include "core/util/error.h"
#include "zeta_impl.h"

/* What is compared. */
struct needs {
    uint64_t ip_version;
    uint64_t group_size;
    uint64_t local_bytes;
};

/* Takes in what one kernel needs; a kernel that cannot be looked at is the backend's failure. */
static ze_result_t add_kernel(const struct zeta_module *module, const char *name,
                              struct needs *needs)
{
    struct zeta_plugin_kernel_properties p = {.struct_size = sizeof(p)};
    struct zeta_backend *backend = module->backend;
    struct zeta_plugin_kernel *kernel = NULL;
    uint32_t code =
        backend->compute.kernel_create(backend->self, module->plugin_module,
                                       (struct zeta_plugin_string){name, strlen(name)}, &kernel);

    if (code == ZETA_PLUGIN_SUCCESS) {
        code = backend->compute.kernel_properties(backend->self, kernel, &p);
        backend->compute.kernel_destroy(backend->self, kernel);
    }
    if (code != ZETA_PLUGIN_SUCCESS)
        return zeta_backend_result(backend, code, "reading the properties of a kernel");
    uint64_t items = 1;
    for (int i = 0; i < 3; i++)
        items *= p.required_group_size[i] ? p.required_group_size[i] : 1;
    if (items > needs->group_size)
        needs->group_size = items;
    if (p.local_bytes > needs->local_bytes)
        needs->local_bytes = p.local_bytes;
    return ZE_RESULT_SUCCESS;
}

static ze_result_t check_compute(const struct zeta_device *device)
{
    return device->driver->compute
               ? ZE_RESULT_SUCCESS
               : zeta_error(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
                            "no plugin computes on %s, so nothing is required of it", device->name);
}

ze_result_t ZE_APICALL impl_zeDeviceGetRuntimeRequirements(ze_device_handle_t hDevice,
                                                           const void *pObjDesc, size_t *pSize,
                                                           char *pRequirements)
{
    const struct zeta_device *device = (const struct zeta_device *)hDevice;
    struct needs needs = {.ip_version = device->backend->properties.ip_version, .group_size = 1};
    /* Here the structure type decides, so it is read. */
    const ze_runtime_requirements_module_desc_t *desc = zeta_chain_find(
        pObjDesc, ZE_STRUCTURE_TYPE_RUNTIME_REQUIREMENTS_MODULE_DESC, sizeof(*desc));
    char text[256];
    ze_result_t result = check_compute(device);

    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (!desc || desc != pObjDesc)
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "pObjDesc is no ze_runtime_requirements_module_desc_t; requirements are "
                          "known for modules only");
    if (!zeta_object_is(desc->requirementsSrc, ZETA_KIND_MODULE))
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "requirementsSrc %p is not a live module", (void *)desc->requirementsSrc);
    const struct zeta_module *module = (const struct zeta_module *)desc->requirementsSrc;
    for (uint32_t i = 0; result == ZE_RESULT_SUCCESS && i < module->kernel_count; i++)
        result = add_kernel(module, module->kernel_names[i], &needs);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    int length = snprintf(text, sizeof(text),
                          "%s ip=%" PRIu64 " group=%" PRIu64 " local=%" PRIu64 " made=%s",
                          device->driver->requirements_key, needs.ip_version, needs.group_size,
                          needs.local_bytes, ZETA_VERSION);
    if (length < 0 || (size_t)length >= sizeof(text))
        return zeta_error(ZE_RESULT_ERROR_UNKNOWN, "the requirements do not fit %zu bytes",
                          sizeof(text));
    return zeta_blob_copy("requirements", text, (size_t)length + 1, pSize, pRequirements);
}

ze_result_t ZE_APICALL impl_zeDeviceGetRuntimeRequirementsKey(ze_device_handle_t hDevice,
                                                              const char **pKey)
{
    const struct zeta_device *device = (const struct zeta_device *)hDevice;
    ze_result_t result = check_compute(device);

    if (result == ZE_RESULT_SUCCESS)
        *pKey = device->driver->requirements_key;
    return result;
}

/* Reads "name=value" words; false for anything else. The version stays in the text. */
static bool read_needs(const char *text, struct needs *out_needs, const char **out_made)
{
    const struct {
        const char *start;
        uint64_t *value;
    } fields[] = {{"ip=", &out_needs->ip_version},
                  {"group=", &out_needs->group_size},
                  {"local=", &out_needs->local_bytes}};

    while (*text == ' ') {
        size_t i = 0;
        char *end = NULL;

        text++;
        if (strncmp(text, "made=", 5) == 0) {
            *out_made = text + 5;
            text += strcspn(text, " ");
            continue;
        }
        while (i < 3 && strncmp(text, fields[i].start, strlen(fields[i].start)) != 0)
            i++;
        if (i == 3)
            return false;
        text += strlen(fields[i].start);
        *fields[i].value = strtoull(text, &end, 10);
        if (end == text || (*end != ' ' && *end != '\0'))
            return false;
        text = end;
    }
    return *text == '\0';
}

ze_result_t ZE_APICALL
impl_zeDeviceValidateRuntimeRequirements(ze_device_handle_t hDevice, const char *pRequirements,
                                         ze_validate_runtime_requirements_output_t *pOut)
{
    const struct zeta_device *device = (const struct zeta_device *)hDevice;
    const struct zeta_plugin_device_properties *p = &device->backend->properties;
    const char *key = device->driver->requirements_key;
    struct needs needs = {0};
    const char *made = "";
    ze_result_t result = check_compute(device);

    if (result != ZE_RESULT_SUCCESS)
        return result;
    size_t length = strlen(key);
    if (strncmp(pRequirements, key, length) != 0 ||
        (pRequirements[length] != ' ' && pRequirements[length] != '\0')) {
        pOut->result = ZE_VALIDATE_RUNTIME_REQUIREMENTS_RESULT_NOT_APPLICABLE;
        return ZE_RESULT_SUCCESS;
    }
    if (!read_needs(pRequirements + length, &needs, &made))
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "'%.100s' is no text of zeDeviceGetRuntimeRequirements", pRequirements);
    if (needs.ip_version > p->ip_version || needs.group_size > p->max_group_size ||
        needs.local_bytes > p->max_shared_local_bytes)
        pOut->result = ZE_VALIDATE_RUNTIME_REQUIREMENTS_RESULT_REQUIREMENTS_NOT_MET;
    else if (strcmp(made, ZETA_VERSION) != 0)
        pOut->result =
            ZE_VALIDATE_RUNTIME_REQUIREMENTS_RESULT_REQUIREMENTS_MET_RECOMPILATION_ADVISABLE;
    else
        pOut->result = ZE_VALIDATE_RUNTIME_REQUIREMENTS_RESULT_REQUIREMENTS_MET;
    return ZE_RESULT_SUCCESS;
}
