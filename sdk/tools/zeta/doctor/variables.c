/* The variables of the environment that decide what a program gets. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sdk/tools/zeta/doctor/doctor.h"

/* Names that end with * are beginnings; the first that fits counts. */
static const struct {
    const char *name;
    const char *meaning;
} known[] = {
    {"LD_LIBRARY_PATH", "searched for the loader, libzeta and drivers before other places"},
    {"LD_PRELOAD", "loaded before everything else, and can take the place of the loader"},
    {"ZE_ENABLE_ALT_DRIVERS", "the loader opens these drivers, and none of its own list"},
    {"ZE_ENABLE_NULL_DRIVER", "the loader opens a driver without devices too"},
    {"ZE_ENABLE_VALIDATION_LAYER", "the loader puts its checks in front of the driver"},
    {"ZE_ENABLE_PARAMETER_VALIDATION", "these check arguments"},
    {"ZE_ENABLE_HANDLE_LIFETIME", "these check handles"},
    {"ZE_ENABLE_TRACING_LAYER", "the loader can trace calls of the core API"},
    {"ZE_ENABLE_LOADER_INTERCEPT", "the loader goes between program and driver"},
    {"ZE_ENABLE_LOADER_DRIVER_DDI_PATH", "0: a newer loader wraps handles"},
    {"ZE_ENABLE_LOADER_DEBUG_TRACE", "a newer loader says what it opens"},
    {"ZE_AFFINITY_MASK", "only these devices and tiles are shown"},
    {"ZE_FLAT_DEVICE_HIERARCHY", "whether tiles are shown as devices"},
    {"ZE_ENABLE_PCI_ID_DEVICE_ORDER", "devices are in the order of their PCI addresses"},
    {"ZE_SHARED_FORCE_DEVICE_ALLOC", "where shared memory is placed"},
    {"ZET_ENABLE_METRICS", "the program can measure"},
    {"ZET_ENABLE_PROGRAM_INSTRUMENTATION", "accepted; instrumentation works without it"},
    {"ZET_ENABLE_PROGRAM_DEBUGGING", "the program can be debugged"},
    {"ZET_ENABLE_API_TRACING_EXP", "not needed; a newer loader complains about it"},
    {"ZES_ENABLE_SYSMAN", "sysman works on handles of the core API; with Zeta always"},
    {"ZEL_*", "a setting of a newer loader"},
    {"ZETA_CONFIG", "the file of settings, or none"},
    {"ZETA_METRIC_TRACER_GROUPS", "whether groups of events are listed"},
    {"ZETA_MODULE_DUMP", "where images of modules are written, for profilers"},
    {"ZETA_LOG_FILE", "where messages go"},
    {"ZETA_LOG_PLUGINS", "whether plugins that do not work are warned of"},
    {"ZETA_LOG", "which messages are written"},
    {"ZETA_PLUGIN_PATH", "where plugins are looked for, and nowhere else"},
    {"ZETA_ADD_PLUGIN_PATH", "where plugins are looked for first"},
    {"ZETA_PLUGINS_SELECT", "the only plugins that are used"},
    {"ZETA_PLUGINS_DISABLE", "plugins that are not used"},
    {"ZETA_PLUGIN_*", "a setting of a plugin"},
    {"ZETA_REPLAY", "a recording that is shown as a device, instead of the virtual GPU"},
    {"ZETA_TRACE", "processes record their calls"},
    {"ZETA_TRACE_FILTER", "which calls are recorded"},
    {"ZETA_TRACE_LIMIT", "how much is recorded"},
    {"ZETA_VGPU_INSTANCE", "processes with the same name share a virtual GPU"},
};

static bool fits(const char *name, const char *variable)
{
    const size_t length = strlen(name);

    if (name[length - 1] == '*')
        return strncmp(variable, name, length - 1) == 0;
    return strncmp(variable, name, length) == 0 && variable[length] == '=';
}

static const char *meaning_of(const char *variable)
{
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (fits(known[i].name, variable))
            return known[i].meaning;
    }
    return NULL;
}

static bool matters(const char *variable)
{
    static const char *const beginnings[] = {"ZE_", "ZET_", "ZES_", "ZEL_", "ZETA_"};

    for (size_t i = 0; i < sizeof(beginnings) / sizeof(beginnings[0]); i++) {
        if (strncmp(variable, beginnings[i], strlen(beginnings[i])) == 0)
            return true;
    }
    return meaning_of(variable) != NULL;
}

/* What libzeta leaves alone in a process with more rights than its user: all but messages. */
static bool is_guarded(const char *variable)
{
    if (fits("ZETA_LOG", variable) || fits("ZETA_LOG_PLUGINS", variable))
        return false;
    return fits("ZETA_*", variable) || fits("ZE_AFFINITY_MASK", variable) ||
           fits("ZE_FLAT_DEVICE_HIERARCHY", variable);
}

static int compare(const void *left, const void *right)
{
    return strcmp(((const struct zeta_doctor_variable *)left)->text,
                  ((const struct zeta_doctor_variable *)right)->text);
}

bool zeta_doctor_list_variables(struct zeta_doctor *doctor)
{
    size_t count = 0;

    while (environ[count])
        count++;
    doctor->variables = calloc(count + 1, sizeof(*doctor->variables));
    if (!doctor->variables)
        return false;
    for (size_t i = 0; i < count; i++) {
        if (matters(environ[i]))
            doctor->variables[doctor->variable_count++] =
                (struct zeta_doctor_variable){environ[i], meaning_of(environ[i]),
                                              doctor->is_privileged && is_guarded(environ[i])};
    }
    qsort(doctor->variables, doctor->variable_count, sizeof(*doctor->variables), compare);
    return true;
}
