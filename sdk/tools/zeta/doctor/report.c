/* The report of zeta doctor for people. */
#include <stdio.h>
#include <string.h>

#include "sdk/tools/zeta/doctor/doctor.h"
#include "sdk/tools/zeta/output/file.h"

/* "linked to the loader" ... */
static const char *const link_names[] = {
    [ZETA_DOCTOR_LINK_UNKNOWN] =
        "linked to neither loader nor libzeta: a library of it may be, or it opens one",
    [ZETA_DOCTOR_LINK_LOADER] = "linked to the loader",
    [ZETA_DOCTOR_LINK_ZETA] = "linked to libzeta, needs no loader",
    [ZETA_DOCTOR_LINK_STATIC] = "static: it can load no driver, unless it starts other programs",
    [ZETA_DOCTOR_LINK_SCRIPT] = "a script: what it starts decides",
    [ZETA_DOCTOR_LINK_FOREIGN] = "no 64-bit program of this machine",
};

static void print_label(const char *label)
{
    (void)printf("%-10s ", label);
}

/* What a program finds behind it, and the end of the line. */
static void print_behind(const struct zeta_doctor_probe *probe)
{
    if (probe->outcome == ZETA_DOCTOR_ABSENT)
        (void)fputs("not installed", stdout);
    else if (probe->outcome != ZETA_DOCTOR_WORKED)
        (void)fputs(probe->error, stdout);
    else if (probe->init != ZE_RESULT_SUCCESS)
        (void)printf("no driver, zeInit returns 0x%08x", probe->init);
    else if (probe->device_count == 0)
        (void)fputs("no device", stdout);
    else {
        for (size_t i = 0; i < probe->device_count; i++)
            (void)printf("%s%s", i > 0 ? ", " : "", probe->devices[i]);
    }
    (void)putchar('\n');
}

/* What a program loads: loader, drivers and libzeta. */
static void print_loading(const struct zeta_doctor *doctor)
{
    const struct zeta_doctor_program *program = &doctor->program;
    const struct zeta_doctor_probe *loader = &doctor->loader;
    bool any = false;

    if (program->name) {
        print_label("program");
        if (!program->path)
            (void)printf("%s: not found\n", program->name);
        else
            (void)printf("%s\n           %s\n", program->path, link_names[program->link]);
    }
    print_label("loader");
    if (loader->library)
        (void)printf("%s, version %s\n           gives programs: ", loader->library,
                     loader->version ? loader->version : "unknown");
    print_behind(loader);
    print_label("drivers");
    (void)fputs(doctor->has_chosen_drivers ? "from ZE_ENABLE_ALT_DRIVERS:" : "that loaders know:",
                stdout);
    for (size_t i = 0; i < doctor->driver_count; i++) {
        const struct zeta_doctor_driver *driver = &doctor->drivers[i];

        if (!doctor->has_chosen_drivers && driver->probe.outcome == ZETA_DOCTOR_ABSENT)
            continue;
        (void)printf("%s           %s: ", any ? "" : "\n", driver->name);
        print_behind(&driver->probe);
        any = true;
    }
    if (!any)
        (void)puts(" none is installed");
    print_label("libzeta");
    (void)printf("%s, version %s\n           gives programs: ", doctor->own_library,
                 zetaGetVersion());
    print_behind(&doctor->own);
}

/* Sentences of plugins stand here or among the findings, not in both. */
static const char *sentence_of(const struct zeta_doctor *doctor,
                               const struct zeta_plugin_info *plugin)
{
    bool is_finding = zeta_plugin_is_in_trouble(plugin) ||
                      plugin->state == ZETA_PLUGIN_STATE_NO_DEVICE ||
                      (plugin->state == ZETA_PLUGIN_STATE_DISABLED && doctor->devices.count == 0);

    /* So is a device that the plugin samples and that cannot be sampled. */
    for (uint32_t i = 0; i < doctor->devices.count; i++)
        is_finding |= doctor->samplings[i].error &&
                      strcmp(doctor->devices.entries[i].info.stream, plugin->id) == 0;
    return is_finding ? "see below" : plugin->reason;
}

static void print_plugins(const struct zeta_doctor *doctor)
{
    const char *label = "plugins";

    for (uint32_t i = 0; i < doctor->plugins.count; i++) {
        const struct zeta_plugin_info *plugin = &doctor->plugins.plugins[i];
        const char *sentence = sentence_of(doctor, plugin);

        if (zeta_plugin_is_absent(plugin))
            continue;
        print_label(label);
        (void)printf("%s: %s%s%s\n", zeta_plugin_name(plugin),
                     zeta_plugin_state_name(plugin->state), sentence[0] ? ", " : "", sentence);
        label = "";
    }
    zeta_plugin_list_print_absent(&doctor->plugins, "           no device of: ", stdout);
    label = "devices";
    for (uint32_t i = 0; i < doctor->devices.count; i++) {
        const struct zeta_device_entry *entry = &doctor->devices.entries[i];
        const struct zeta_doctor_sampling *sampling = &doctor->samplings[i];
        const char *can = sampling->error ? ", cannot be sampled" : ", can be sampled";

        print_label(label);
        (void)printf("%u  %s (%s), id %s, compute by %s%s\n", entry->index, entry->properties.name,
                     entry->info.device_class, entry->info.id,
                     entry->info.compute[0] ? entry->info.compute : "none",
                     sampling->was_tried ? can : "");
        label = "";
    }
}

/* Whom a debugger can attach to, and which one there is. */
static void print_debugging(const struct zeta_doctor *doctor)
{
    const struct zeta_doctor_debugging *debugging = &doctor->debugging;
    const char *label = "debugging";

    for (uint32_t i = 0; i < doctor->devices.count; i++) {
        const struct zeta_device_entry *entry = &doctor->devices.entries[i];
        const struct zeta_doctor_debugged *device = &debugging->devices[i];

        print_label(label);
        if (device->error)
            (void)printf("%u  %s\n", entry->index, device->error);
        else if (device->process_error)
            (void)printf("%u  %s: %s\n", entry->index, entry->properties.name,
                         device->process_error);
        else if (debugging->has_pid)
            (void)printf("%u  %s: process %u can be debugged\n", entry->index,
                         entry->properties.name, debugging->pid);
        else
            (void)printf("%u  %s: programs can be debugged\n", entry->index,
                         entry->properties.name);
        label = "";
    }
    print_label(label);
    (void)puts(debugging->is_enabled
                   ? "programs that are started from here let debuggers attach"
                   : "programs that are started from here let no debugger attach, because "
                     "ZET_ENABLE_PROGRAM_DEBUGGING is not 1");
    if (debugging->has_cores)
        print_label("");
    if (debugging->has_cores && debugging->core_dir)
        (void)printf("kernels that fault leave core dumps in %s%s%s\n", debugging->core_dir,
                     debugging->core_error ? ", which is not possible: " : "",
                     debugging->core_error ? debugging->core_error : "");
    else if (debugging->has_cores)
        (void)puts(
            "kernels that fault leave no core dumps, because ZETA_PLUGIN_VGPU_CORE_DIR names "
            "no folder");
    print_label("");
    if (debugging->gdb.path)
        (void)printf("%s: %s\n", debugging->gdb.path,
                     debugging->gdb_version ? debugging->gdb_version : "does not tell its version");
    else
        (void)puts("gdb-multiarch is not installed: apt-get install gdb-multiarch");
}

/* What else programs find: the compiler, the place to share, variables and settings. */
static void print_surroundings(const struct zeta_doctor *doctor, bool is_verbose)
{
    const struct zeta_doctor_place *place = &doctor->place;
    const char *label = "variables";

    for (size_t i = 0; i < ZETA_DOCTOR_COMPILERS; i++) {
        const struct zeta_doctor_compiler *compiler = &doctor->compilers[i];

        if (!compiler->path)
            continue;
        print_label("compiler");
        (void)printf("%s: %s\n", compiler->path, compiler->error ? "does not work" : "works");
    }
    print_label("sharing");
    if (place->error)
        (void)printf("%s: %s\n", place->path, place->error);
    else
        (void)printf("in %s (%s), %llu MiB free\n", place->path, place->origin,
                     (unsigned long long)(place->free_bytes >> 20));
    for (size_t i = 0; i < doctor->variable_count; i++) {
        const struct zeta_doctor_variable *variable = &doctor->variables[i];

        print_label(label);
        (void)printf("%s\n           %s%s\n", variable->text,
                     variable->meaning ? variable->meaning : "unknown to Zeta",
                     variable->is_dropped ? "; this command ignores it" : "");
        label = "";
    }
    label = "settings";
    for (uint32_t i = 0; i < doctor->setting_count; i++) {
        const struct zeta_setting *setting = &doctor->settings[i];

        if (!is_verbose && strncmp(setting->origin, "default", strlen("default")) == 0)
            continue;
        print_label(label);
        (void)printf("%s = %s (%s)\n", setting->name,
                     setting->value[0] ? setting->value : "nothing", setting->origin);
        label = "";
    }
}

void zeta_doctor_print(const struct zeta_doctor *doctor, bool is_verbose)
{
    print_loading(doctor);
    print_plugins(doctor);
    print_debugging(doctor);
    print_surroundings(doctor, is_verbose);
    if (doctor->finding_count == 0)
        (void)puts("\nNothing is wrong.");
    for (int is_problem = 1; is_problem >= 0; is_problem--) {
        for (size_t i = 0; i < doctor->finding_count; i++) {
            const struct zeta_doctor_finding *finding = &doctor->findings[i];

            if (finding->is_problem != (is_problem == 1))
                continue;
            (void)printf("\n%s: %s\n", finding->is_problem ? "PROBLEM" : "note", finding->what);
            if (finding->repair)
                (void)printf("   try: %s\n", finding->repair);
        }
    }
}

/* ---- JSON ------------------------------------------------------------------------------- */

static void put_known(struct json_object *object, const char *key, const char *text)
{
    if (text)
        zeta_json_put_text(object, key, text);
}

static void put_probe(struct json_object *object, const struct zeta_doctor_probe *probe)
{
    static const char *const outcomes[] = {"works",   "absent", "refused",
                                           "crashed", "hung",   "untried"};
    struct json_object *devices = zeta_json_put_array(object, "devices");

    zeta_json_put_text(object, "outcome", outcomes[probe->outcome]);
    put_known(object, "library", probe->library);
    put_known(object, "version", probe->version);
    put_known(object, "zeta_version", probe->zeta);
    put_known(object, "error", probe->error);
    if (probe->has_init)
        zeta_json_put_u64(object, "init", probe->init);
    for (size_t i = 0; i < probe->device_count; i++)
        zeta_json_append_text(devices, probe->devices[i]);
}

static void put_loading(struct json_object *document, const struct zeta_doctor *doctor)
{
    struct json_object *object;
    struct json_object *array;

    if (doctor->program.name) {
        object = zeta_json_put_object(document, "program");
        zeta_json_put_text(object, "name", doctor->program.name);
        put_known(object, "path", doctor->program.path);
        if (doctor->program.path)
            zeta_json_put_text(object, "link", link_names[doctor->program.link]);
    }
    put_probe(zeta_json_put_object(document, "loader"), &doctor->loader);
    array = zeta_json_put_array(document, "drivers");
    for (size_t i = 0; i < doctor->driver_count; i++) {
        object = zeta_json_append_object(array);
        zeta_json_put_text(object, "name", doctor->drivers[i].name);
        put_probe(object, &doctor->drivers[i].probe);
    }
    object = zeta_json_put_object(document, "libzeta");
    zeta_json_put_text(object, "path", doctor->own_library);
    zeta_json_put_text(object, "command_version", ZETA_TOOL_VERSION);
    put_probe(object, &doctor->own);
}

static void put_plugins(struct json_object *document, const struct zeta_doctor *doctor)
{
    struct json_object *array = zeta_json_put_array(document, "plugins");
    struct json_object *object;

    for (uint32_t i = 0; i < doctor->plugins.count; i++) {
        const struct zeta_plugin_info *plugin = &doctor->plugins.plugins[i];

        object = zeta_json_append_object(array);
        zeta_json_put_text(object, "id", plugin->id);
        zeta_json_put_text(object, "state", zeta_plugin_state_name(plugin->state));
        zeta_json_put_text(object, "reason", plugin->reason);
        zeta_json_put_text(object, "manifest", plugin->manifest);
    }
    array = zeta_json_put_array(document, "devices");
    for (uint32_t i = 0; i < doctor->devices.count; i++) {
        const struct zeta_device_entry *entry = &doctor->devices.entries[i];

        object = zeta_json_append_object(array);
        zeta_json_put_u64(object, "index", entry->index);
        zeta_json_put_text(object, "name", entry->properties.name);
        zeta_json_put_text(object, "id", entry->info.id);
        zeta_json_put_text(object, "class", entry->info.device_class);
        zeta_json_put_text(object, "compute", entry->info.compute);
        if (doctor->samplings[i].was_tried)
            zeta_json_put_bool(object, "can_be_sampled", !doctor->samplings[i].error);
    }
}

static void put_debugging(struct json_object *document, const struct zeta_doctor *doctor)
{
    const struct zeta_doctor_debugging *debugging = &doctor->debugging;
    struct json_object *object = zeta_json_put_object(document, "debugging");
    struct json_object *array = zeta_json_put_array(object, "devices");
    struct json_object *gdb;

    for (uint32_t i = 0; i < doctor->devices.count; i++) {
        const struct zeta_doctor_debugged *device = &debugging->devices[i];
        struct json_object *element = zeta_json_append_object(array);

        zeta_json_put_u64(element, "index", doctor->devices.entries[i].index);
        zeta_json_put_bool(element, "can_be_debugged", !device->error);
        put_known(element, "error", device->error);
        if (debugging->has_pid && !device->error)
            zeta_json_put_bool(element, "can_attach", !device->process_error);
        put_known(element, "process_error", device->process_error);
    }
    if (debugging->has_pid)
        zeta_json_put_u64(object, "pid", debugging->pid);
    zeta_json_put_bool(object, "enabled", debugging->is_enabled);
    put_known(object, "core_dir", debugging->core_dir);
    put_known(object, "core_error", debugging->core_error);
    if (debugging->gdb.path) {
        gdb = zeta_json_put_object(object, "gdb");
        zeta_json_put_text(gdb, "path", debugging->gdb.path);
        put_known(gdb, "version", debugging->gdb_version);
    }
}

static void put_surroundings(struct json_object *document, const struct zeta_doctor *doctor)
{
    struct json_object *object;
    struct json_object *array;

    array = zeta_json_put_array(document, "compilers");
    for (size_t i = 0; i < ZETA_DOCTOR_COMPILERS; i++) {
        const struct zeta_doctor_compiler *compiler = &doctor->compilers[i];

        if (!compiler->path)
            continue;
        object = zeta_json_append_object(array);
        zeta_json_put_text(object, "plugin", compiler->plugin);
        zeta_json_put_text(object, "path", compiler->path);
        zeta_json_put_bool(object, "works", !compiler->error);
        put_known(object, "error", compiler->error);
    }
    object = zeta_json_put_object(document, "sharing");
    zeta_json_put_text(object, "path", doctor->place.path);
    zeta_json_put_text(object, "origin", doctor->place.origin);
    zeta_json_put_u64(object, "free_bytes", doctor->place.free_bytes);
    put_known(object, "error", doctor->place.error);
    array = zeta_json_put_array(document, "variables");
    for (size_t i = 0; i < doctor->variable_count; i++) {
        object = zeta_json_append_object(array);
        zeta_json_put_text(object, "variable", doctor->variables[i].text);
        put_known(object, "meaning", doctor->variables[i].meaning);
        zeta_json_put_bool(object, "dropped", doctor->variables[i].is_dropped);
    }
    array = zeta_json_put_array(document, "settings");
    for (uint32_t i = 0; i < doctor->setting_count; i++) {
        object = zeta_json_append_object(array);
        zeta_json_put_text(object, "name", doctor->settings[i].name);
        zeta_json_put_text(object, "value", doctor->settings[i].value);
        zeta_json_put_text(object, "origin", doctor->settings[i].origin);
    }
    array = zeta_json_put_array(document, "findings");
    for (size_t i = 0; i < doctor->finding_count; i++) {
        object = zeta_json_append_object(array);
        zeta_json_put_bool(object, "problem", doctor->findings[i].is_problem);
        zeta_json_put_text(object, "what", doctor->findings[i].what);
        put_known(object, "repair", doctor->findings[i].repair);
    }
}

int zeta_doctor_put(const struct zeta_doctor *doctor, const char *path)
{
    struct json_object *document = zeta_json_new_document("zeta.doctor/1");

    zeta_json_put_bool(document, "ok", doctor->problem_count == 0);
    put_loading(document, doctor);
    put_plugins(document, doctor);
    put_debugging(document, doctor);
    put_surroundings(document, doctor);
    return zeta_output_put_json(path, document);
}
