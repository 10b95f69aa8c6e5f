/* zeta-probe: opens a loader or a driver and says what it finds; see README.md. */
#include <dlfcn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <zeta/c_locale.h>

#include <level_zero/ze_api.h>
#include <level_zero/ze_ddi.h>

#define LOADER "libze_loader.so.1"

/* The version up to which tables are asked for: all that is called is that old. */
#define TABLE_VERSION ZE_API_VERSION_1_0

enum { MOST_DRIVERS = 64, MOST_DEVICES = 256, MOST_COMPONENTS = 32 };

/* What is called. */
struct calls {
    ze_pfnInit_t init;
    ze_pfnDriverGet_t driver_get;
    ze_pfnDeviceGet_t device_get;
    ze_pfnDeviceGetProperties_t device_get_properties;
};

/* A version that a loader reports, for itself and its layers; names end with a zero. */
struct component {
    char name[64];
    ze_api_version_t api;
    int major;
    int minor;
    int patch;
};

static FILE *answers;

/* A line at once: the next step may be the last one. */
static void answer(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void answer(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    (void)zeta_c_vfprintf(answers, format, arguments);
    va_end(arguments);
    (void)fputc('\n', answers);
    (void)fflush(answers);
}

static bool fail(const char *sentence)
{
    answer("error %s", sentence ? sentence : "no reason was given");
    return false;
}

/* Of any type of pointer to a function; the types of both sides have the same size. */
static bool find(void *library, const char *name, void *out_function, size_t size)
{
    void *symbol = dlsym(library, name);

    memcpy(out_function, &symbol, size);
    return symbol != NULL;
}

#define FIND(library, name, member) find(library, name, &(member), sizeof(member))

static void answer_path(void *symbol)
{
    Dl_info info;
    char *path = NULL;

    if (symbol && dladdr(symbol, &info) != 0 && info.dli_fname)
        path = realpath(info.dli_fname, NULL);
    if (path)
        answer("library %s", path);
    free(path);
}

static void answer_loader_version(void *library)
{
    ze_result_t (*get_versions)(size_t * count, struct component * components) = NULL;
    static struct component components[MOST_COMPONENTS];
    size_t count = 0;

    if (!FIND(library, "zelLoaderGetVersions", get_versions))
        return;
    if (get_versions(&count, NULL) != ZE_RESULT_SUCCESS || count > MOST_COMPONENTS)
        return;
    if (get_versions(&count, components) != ZE_RESULT_SUCCESS)
        return;
    for (size_t i = 0; i < count && i < MOST_COMPONENTS; i++) {
        if (strncmp(components[i].name, "loader", sizeof(components[i].name)) == 0)
            answer("version %d.%d.%d", components[i].major, components[i].minor,
                   components[i].patch);
    }
}

static bool open_loader(struct calls *calls, void **out_library)
{
    void *library;

    answer("step opening " LOADER);
    library = dlopen(LOADER, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return fail(dlerror());
    answer_path(dlsym(library, "zeInit"));
    *out_library = library;
    if (FIND(library, "zeInit", calls->init) && FIND(library, "zeDriverGet", calls->driver_get) &&
        FIND(library, "zeDeviceGet", calls->device_get) &&
        FIND(library, "zeDeviceGetProperties", calls->device_get_properties))
        return true;
    return fail("it lacks functions of the API");
}

static bool open_driver(const char *path, struct calls *calls)
{
    ze_pfnGetGlobalProcAddrTable_t get_global = NULL;
    ze_pfnGetDriverProcAddrTable_t get_driver = NULL;
    ze_pfnGetDeviceProcAddrTable_t get_device = NULL;
    const char *(*get_version)(void) = NULL;
    static ze_global_dditable_t global;
    static ze_driver_dditable_t driver;
    static ze_device_dditable_t device;
    void *library;

    answer("step opening it");
    library = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
    if (!library)
        return fail(dlerror());
    answer_path(dlsym(library, "zeGetGlobalProcAddrTable"));
    if (!FIND(library, "zeGetGlobalProcAddrTable", get_global) ||
        !FIND(library, "zeGetDriverProcAddrTable", get_driver) ||
        !FIND(library, "zeGetDeviceProcAddrTable", get_device))
        return fail("it is no driver: it lacks the functions that give a loader its tables");
    if (FIND(library, "zetaGetVersion", get_version))
        answer("zeta %s", get_version());
    answer("step asking for its tables");
    if (get_global(TABLE_VERSION, &global) != ZE_RESULT_SUCCESS ||
        get_driver(TABLE_VERSION, &driver) != ZE_RESULT_SUCCESS ||
        get_device(TABLE_VERSION, &device) != ZE_RESULT_SUCCESS || !global.pfnInit ||
        !driver.pfnGet || !device.pfnGet || !device.pfnGetProperties)
        return fail("it gives no tables of version 1");
    *calls = (struct calls){global.pfnInit, driver.pfnGet, device.pfnGet, device.pfnGetProperties};
    return true;
}

static bool answer_devices(const struct calls *calls, uint32_t index, ze_driver_handle_t driver)
{
    static ze_device_handle_t devices[MOST_DEVICES];
    uint32_t count = MOST_DEVICES;

    answer("step zeDeviceGet");
    if (calls->device_get(driver, &count, devices) != ZE_RESULT_SUCCESS)
        return fail("zeDeviceGet failed");
    for (uint32_t i = 0; i < count; i++) {
        ze_device_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES};

        answer("step zeDeviceGetProperties");
        if (calls->device_get_properties(devices[i], &properties) != ZE_RESULT_SUCCESS)
            return fail("zeDeviceGetProperties failed");
        answer("device %u %.*s", index, (int)sizeof(properties.name), properties.name);
    }
    return true;
}

static bool use(const struct calls *calls, void *loader)
{
    static ze_driver_handle_t drivers[MOST_DRIVERS];
    uint32_t count = MOST_DRIVERS;
    ze_result_t result;

    answer("step zeInit");
    result = calls->init(0);
    /* A loader that found no driver knows its own version all the same. */
    if (loader)
        answer_loader_version(loader);
    answer("init %x", (unsigned)result);
    if (result != ZE_RESULT_SUCCESS)
        return true;
    answer("step zeDriverGet");
    if (calls->driver_get(&count, drivers) != ZE_RESULT_SUCCESS)
        return fail("zeDriverGet failed");
    for (uint32_t i = 0; i < count; i++) {
        answer("driver %u", i);
        if (!answer_devices(calls, i, drivers[i]))
            return false;
    }
    return true;
}

int main(int count, char **arguments)
{
    struct calls calls = {0};
    void *loader = NULL;
    const bool is_driver = count == 3 && strcmp(arguments[1], "driver") == 0;
    const int fd = dup(STDOUT_FILENO);

    if (!is_driver && !(count == 2 && strcmp(arguments[1], "loader") == 0)) {
        (void)fputs("usage: zeta-probe loader | zeta-probe driver PATH\n", stderr);
        return 2;
    }
    answers = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (!answers || dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
        return 1;
    if (!(is_driver ? open_driver(arguments[2], &calls) : open_loader(&calls, &loader)))
        return 1;
    if (!use(&calls, loader))
        return 1;
    answer("end");
    /* Nothing of what was opened is closed: programs that end while they use it do no more. */
    return 0;
}
