#include "example.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The driver in use; explanations are asked of it. */
static ze_driver_handle_t driver_in_use;

static void __attribute__((format(printf, 1, 0))) say(const char *format, va_list arguments)
{
    (void)fprintf(stderr, "%s: ", program_invocation_short_name);
    (void)vfprintf(stderr, format, arguments);
    (void)fputc('\n', stderr);
}

void example_fail(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    say(format, arguments);
    va_end(arguments);
    exit(1);
}

/* What the driver has to say about the last failure; "" if it has nothing to say. */
static const char *explain(void)
{
    /* Looked up, because loaders that were made for older versions do not have it. */
    void *symbol = dlsym(RTLD_DEFAULT, "zeDriverGetLastErrorDescription");
    ze_result_t (*describe)(ze_driver_handle_t, const char **) = NULL;
    const char *text = NULL;

    memcpy(&describe, &symbol, sizeof(describe));
    if (!describe || !driver_in_use || describe(driver_in_use, &text) != ZE_RESULT_SUCCESS)
        return "";
    return text;
}

void example_check(ze_result_t result, const char *call)
{
    const char *reason = "";

    if (result == ZE_RESULT_SUCCESS)
        return;
    reason = explain();
    example_fail("%s failed with code 0x%x%s%s", call, (unsigned)result, reason[0] ? ": " : "",
                 reason);
}

uint32_t example_find_compute_ordinal(ze_device_handle_t device)
{
    ze_command_queue_group_properties_t groups[16] = {0};
    uint32_t count = sizeof(groups) / sizeof(groups[0]);

    for (uint32_t i = 0; i < count; i++)
        groups[i].stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_GROUP_PROPERTIES;
    example_check(zeDeviceGetCommandQueueGroupProperties(device, &count, groups),
                  "zeDeviceGetCommandQueueGroupProperties");
    for (uint32_t i = 0; i < count; i++) {
        if (groups[i].flags & ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COMPUTE)
            return i;
    }
    return UINT32_MAX;
}

/* The first device of a driver that will do; NULL if none does. *out_last: what the last one is. */
static ze_device_handle_t find_in_driver(ze_driver_handle_t driver, bool must_compute,
                                         ze_device_properties_t *out_last)
{
    ze_device_handle_t devices[32];
    uint32_t count = sizeof(devices) / sizeof(devices[0]);

    example_check(zeDeviceGet(driver, &count, devices), "zeDeviceGet");
    for (uint32_t i = 0; i < count; i++) {
        if (!must_compute || example_find_compute_ordinal(devices[i]) != UINT32_MAX)
            return devices[i];
        example_check(zeDeviceGetProperties(devices[i], out_last), "zeDeviceGetProperties");
    }
    return NULL;
}

static void find_device(bool must_compute, ze_driver_handle_t *out_driver,
                        ze_device_handle_t *out_device)
{
    ze_device_properties_t last = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES};
    ze_driver_handle_t drivers[16];
    uint32_t count = sizeof(drivers) / sizeof(drivers[0]);

    example_check(zeInit(ZE_INIT_FLAG_GPU_ONLY), "zeInit");
    example_check(zeDriverGet(&count, drivers), "zeDriverGet");
    for (uint32_t i = 0; i < count; i++) {
        driver_in_use = drivers[i];
        *out_driver = drivers[i];
        *out_device = find_in_driver(drivers[i], must_compute, &last);
        if (*out_device)
            return;
    }
    if (last.name[0])
        example_fail("%s can be measured but runs no kernels here; the virtual GPU of Zeta does: "
                     "set ZETA_PLUGINS_SELECT=vgpu",
                     last.name);
    example_fail("no driver has a device");
}

void example_find_device(ze_driver_handle_t *out_driver, ze_device_handle_t *out_device)
{
    find_device(false, out_driver, out_device);
}

void example_find_computing_device(ze_driver_handle_t *out_driver, ze_device_handle_t *out_device)
{
    find_device(true, out_driver, out_device);
}

char *example_data_path(const char *name)
{
    char program[4096];
    const ssize_t length = readlink("/proc/self/exe", program, sizeof(program) - 1);
    char *path = NULL;

    if (length < 0)
        example_fail("cannot find out where this program is: %s", strerror(errno));
    program[length] = '\0';
    *strrchr(program, '/') = '\0';
    if (asprintf(&path, "%s/../share/zeta/%s", program, name) < 0)
        example_fail("no memory");
    return path;
}

char *example_kernel_path(ze_device_handle_t device, const char *name)
{
    enum { NVIDIA = 0x10de };
    ze_device_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES};
    ze_device_module_properties_t module = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MODULE_PROPERTIES};
    const char *form = "elf";
    char file[256];

    example_check(zeDeviceGetProperties(device, &properties), "zeDeviceGetProperties");
    example_check(zeDeviceGetModuleProperties(device, &module), "zeDeviceGetModuleProperties");
    if (properties.vendorId == NVIDIA)
        form = module.spirvVersionSupported != 0 ? "spv" : "ptx";
    (void)snprintf(file, sizeof(file), "kernels/%s.%s", name, form);
    return example_data_path(file);
}

uint8_t *example_read_file(const char *path, size_t *out_bytes)
{
    FILE *file = fopen(path, "rb");
    uint8_t *bytes = NULL;
    long size = 0;

    if (!file)
        example_fail("cannot open %s: %s", path, strerror(errno));
    if (fseek(file, 0, SEEK_END) != 0 || (size = ftell(file)) < 0)
        example_fail("cannot find the size of %s: %s", path, strerror(errno));
    rewind(file);
    bytes = malloc((size_t)size + 1);
    if (!bytes)
        example_fail("no memory for the %ld bytes of %s", size, path);
    if (fread(bytes, 1, (size_t)size, file) != (size_t)size)
        example_fail("cannot read %s", path);
    (void)fclose(file);
    *out_bytes = (size_t)size;
    return bytes;
}

static bool is_spirv(const uint8_t *bytes, size_t size)
{
    const uint32_t magic = 0x07230203;

    return size >= sizeof(magic) && memcmp(bytes, &magic, sizeof(magic)) == 0;
}

static void show_log(ze_module_build_log_handle_t log)
{
    size_t size = 0;
    char *text = NULL;

    example_check(zeModuleBuildLogGetString(log, &size, NULL), "zeModuleBuildLogGetString");
    text = calloc(1, size + 1);
    if (!text)
        example_fail("no memory");
    example_check(zeModuleBuildLogGetString(log, &size, text), "zeModuleBuildLogGetString");
    (void)fputs(text, stderr);
    free(text);
}

ze_module_handle_t example_load_module(ze_context_handle_t context, ze_device_handle_t device,
                                       const char *path)
{
    size_t size = 0;
    uint8_t *bytes = example_read_file(path, &size);
    const ze_module_desc_t description = {
        .stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
        .format = is_spirv(bytes, size) ? ZE_MODULE_FORMAT_IL_SPIRV : ZE_MODULE_FORMAT_NATIVE,
        .inputSize = size,
        .pInputModule = bytes,
    };
    ze_module_build_log_handle_t log = NULL;
    ze_module_handle_t module = NULL;
    ze_result_t result = zeModuleCreate(context, device, &description, &module, &log);

    if (result != ZE_RESULT_SUCCESS && log)
        show_log(log);
    example_check(result, "zeModuleCreate");
    example_check(zeModuleBuildLogDestroy(log), "zeModuleBuildLogDestroy");
    free(bytes);
    return module;
}
