/* What is wrong, and what repairs it. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zeta/c_locale.h>

#include "sdk/tools/zeta/doctor/doctor.h"
#include "sdk/tools/zeta/program/program.h"

/* A virtual GPU with its counters and rings of reports fits into this. */
#define LEAST_FREE_BYTES (UINT64_C(64) << 10)

#define ZETA_COMPUTES "zeta run -- PROGRAM (or: export $(zeta run -n))"

static bool find(struct zeta_doctor *doctor, bool is_problem, const char *repair,
                 const char *format, ...) __attribute__((format(printf, 4, 5)));

static bool find(struct zeta_doctor *doctor, bool is_problem, const char *repair,
                 const char *format, ...)
{
    struct zeta_doctor_finding *findings =
        realloc(doctor->findings, (doctor->finding_count + 1) * sizeof(*findings));
    struct zeta_doctor_finding *finding;
    va_list arguments;
    int length;

    if (!findings)
        return false;
    doctor->findings = findings;
    finding = &findings[doctor->finding_count];
    *finding = (struct zeta_doctor_finding){.is_problem = is_problem};
    va_start(arguments, format);
    length = zeta_c_vasprintf(&finding->what, format, arguments);
    va_end(arguments);
    if (length < 0)
        return false;
    doctor->finding_count++;
    doctor->problem_count += is_problem ? 1 : 0;
    if (repair)
        finding->repair = strdup(repair);
    return !repair || finding->repair;
}

static bool judge_program(struct zeta_doctor *doctor)
{
    const struct zeta_doctor_program *program = &doctor->program;

    if (!program->name)
        return true;
    if (!program->path)
        return find(doctor, true, "give its path, or add its directory to PATH",
                    "cannot find program %s", program->name);
    if (program->link == ZETA_DOCTOR_LINK_FOREIGN)
        return find(doctor, true, "build it for this machine",
                    "%s is no 64-bit program for this machine", program->path);
    if (program->is_privileged)
        return find(
            doctor, true,
            "put the settings into zeta.yaml, and the driver where the loader searches for it",
            "%s runs with more rights than its user, so it ignores variables", program->path);
    return true;
}

/* What differs between this command and programs that were not given more rights. */
static bool judge_rights(struct zeta_doctor *doctor)
{
    return !doctor->is_privileged ||
           find(doctor, false, "put its settings into zeta.yaml of the system",
                "this command has more rights than its user (file capabilities or setuid): it "
                "loads only files of root, and ignores the user's settings and variables, except "
                "ZETA_LOG");
}

/* The library by itself, in a process of its own. */
static bool judge_own(struct zeta_doctor *doctor)
{
    const struct zeta_doctor_probe *own = &doctor->own;

    if (own->outcome == ZETA_DOCTOR_UNTRIED)
        return find(doctor, true, "install Zeta again: cmake --install BUILD", "%s", own->error);
    if (own->outcome != ZETA_DOCTOR_WORKED)
        return find(doctor, true, "zeta plugin check MANIFEST, for those in: zeta plugin path",
                    "cannot use libzeta: %s", own->error);
    if (own->has_init && own->init != ZE_RESULT_SUCCESS)
        return find(doctor, true, "ZETA_LOG=debug zeta devices",
                    "libzeta does not start: zeInit returns 0x%08x", own->init);
    if (strcmp(ZETA_TOOL_VERSION, zetaGetVersion()) != 0)
        return find(doctor, true, "install both from one build, or correct LD_LIBRARY_PATH",
                    "this command has version %s, but %s has version %s", ZETA_TOOL_VERSION,
                    doctor->own_library, zetaGetVersion());
    return true;
}

/* A plugin that works is asked nothing more; the reason of one that runs and fails has what to do.
 */
static bool judge_plugin(struct zeta_doctor *doctor, const struct zeta_plugin_info *plugin)
{
    char *repair = NULL;
    bool is_well;

    if (plugin->state == ZETA_PLUGIN_STATE_FAILED)
        return find(doctor, true, NULL, "plugin %s does not work: %s", zeta_plugin_name(plugin),
                    plugin->reason);
    if (plugin->state != ZETA_PLUGIN_STATE_NOT_LOADABLE &&
        plugin->state != ZETA_PLUGIN_STATE_REFUSED)
        return true;
    if (asprintf(&repair, "zeta plugin check '%s'", plugin->manifest) < 0)
        return false;
    is_well = find(doctor, true, repair, "plugin %s is %s: %s", zeta_plugin_name(plugin),
                   zeta_plugin_state_name(plugin->state), plugin->reason);
    free(repair);
    return is_well;
}

static bool judge_plugins(struct zeta_doctor *doctor)
{
    if (!doctor->is_initialised)
        return true;
    for (uint32_t i = 0; i < doctor->plugins.count; i++) {
        if (!judge_plugin(doctor, &doctor->plugins.plugins[i]))
            return false;
    }
    return true;
}

static bool judge_devices(struct zeta_doctor *doctor)
{
    bool any = false;

    if (!doctor->is_initialised || doctor->devices.count > 0)
        return true;
    if (doctor->plugins.count == 0)
        return find(doctor, true, "zeta plugin path",
                    "Zeta found no plugin, so there is no device");
    for (uint32_t i = 0; i < doctor->plugins.count; i++) {
        const struct zeta_plugin_info *plugin = &doctor->plugins.plugins[i];

        if (plugin->state != ZETA_PLUGIN_STATE_DISABLED)
            continue;
        any = true;
        if (!find(doctor, true,
                  "do what the reason proposes, or remove the setting that disables the plugin",
                  "Zeta found no device; plugin %s is disabled: %s", plugin->id, plugin->reason))
            return false;
    }
    return any || find(doctor, true, "zeta plugin list", "Zeta found no device");
}

static bool judge_sampling(struct zeta_doctor *doctor)
{
    for (uint32_t i = 0; doctor->samplings && i < doctor->devices.count; i++) {
        const struct zeta_doctor_sampling *sampling = &doctor->samplings[i];

        if (sampling->error && !find(doctor, !sampling->is_busy, NULL, "%s cannot be sampled%s: %s",
                                     doctor->devices.entries[i].properties.name,
                                     sampling->is_busy ? " now" : "", sampling->error))
            return false;
    }
    return true;
}

/* Whether programs need a loader; one that is linked to libzeta does not. */
static bool wants_loader(const struct zeta_doctor *doctor)
{
    return doctor->program.link != ZETA_DOCTOR_LINK_ZETA;
}

static bool judge_driver(struct zeta_doctor *doctor, const struct zeta_doctor_driver *driver)
{
    const struct zeta_doctor_probe *probe = &driver->probe;
    const char *repair = doctor->has_chosen_drivers ? "unset ZE_ENABLE_ALT_DRIVERS, or correct it"
                                                    : "install its package again";

    if (!doctor->has_chosen_drivers && probe->outcome == ZETA_DOCTOR_ABSENT)
        return true;
    if (strpbrk(driver->name, " \t"))
        return find(doctor, true, "remove the blanks; only commas separate entries",
                    "ZE_ENABLE_ALT_DRIVERS has the entry '%s' with a blank, which the loader takes "
                    "as part of the name",
                    driver->name);
    if (probe->outcome != ZETA_DOCTOR_WORKED)
        return find(doctor, true, repair, "cannot use driver %s: %s", driver->name, probe->error);
    /* One of the loader's own list finds no device of its kind; a chosen one is meant to. */
    if (doctor->has_chosen_drivers && probe->init != ZE_RESULT_SUCCESS)
        return find(doctor, true, repair, "driver %s does not start: zeInit returns 0x%08x",
                    driver->name, probe->init);
    if (probe->zeta && strcmp(probe->zeta, zetaGetVersion()) != 0)
        return find(doctor, true, "unset ZE_ENABLE_ALT_DRIVERS; " ZETA_COMPUTES,
                    "driver %s is libzeta %s, but this command needs %s", driver->name, probe->zeta,
                    zetaGetVersion());
    return true;
}

static bool judge_drivers(struct zeta_doctor *doctor)
{
    bool has_zeta = false;

    for (size_t i = 0; i < doctor->driver_count; i++) {
        if (!judge_driver(doctor, &doctor->drivers[i]))
            return false;
        has_zeta = has_zeta || doctor->drivers[i].probe.zeta;
    }
    if (has_zeta || !doctor->has_chosen_drivers)
        return true;
    return find(doctor, false, "unset ZE_ENABLE_ALT_DRIVERS; " ZETA_COMPUTES,
                "ZE_ENABLE_ALT_DRIVERS does not name libzeta, so programs that use the loader do "
                "not get Zeta");
}

/* Whether programs can compute on a device of Zeta; true where there is none, which is judged. */
static bool has_compute(const struct zeta_doctor *doctor)
{
    for (uint32_t i = 0; i < doctor->devices.count; i++) {
        if (doctor->devices.entries[i].info.compute[0])
            return true;
    }
    return doctor->devices.count == 0;
}

static bool judge_loader(struct zeta_doctor *doctor)
{
    const struct zeta_doctor_probe *loader = &doctor->loader;
    const size_t before = doctor->problem_count;

    if (!wants_loader(doctor) || loader->outcome == ZETA_DOCTOR_UNTRIED)
        return true;
    if (loader->outcome == ZETA_DOCTOR_ABSENT)
        return find(
            doctor, doctor->program.link == ZETA_DOCTOR_LINK_LOADER, "apt-get install libze1",
            "cannot find the loader (libze_loader.so.1): only programs linked to libzeta work");
    if (!judge_drivers(doctor))
        return false;
    if (!zeta_environment_can_name(doctor->own_library) && !doctor->has_chosen_drivers)
        return find(doctor, true, "install Zeta in a path without commas and blanks",
                    "the loader cannot open '%s', because the path has a comma or a blank",
                    doctor->own_library);
    /* Nothing of Zeta's is a driver for programs: whether another is there is not its business. */
    if (!has_compute(doctor))
        return find(doctor, false,
                    "use the driver of the GPU's vendor, or set ZETA_PLUGINS_SELECT=vgpu",
                    "Zeta measures the devices of this machine, but runs no kernels on them");
    /* What the loader does follows from its drivers, and Zeta's devices from what was judged. */
    if (doctor->problem_count > before || doctor->own.device_count == 0)
        return true;
    if (loader->outcome != ZETA_DOCTOR_WORKED)
        return find(doctor, true, "apt-get install --reinstall libze1", "cannot use the loader: %s",
                    loader->error);
    if (loader->init != ZE_RESULT_SUCCESS)
        return find(doctor, true, ZETA_COMPUTES,
                    "programs that use the loader get no driver: zeInit returns 0x%08x%s",
                    loader->init,
                    doctor->has_chosen_drivers ? "" : ", because no variable names Zeta");
    if (loader->device_count == 0)
        return find(doctor, true, ZETA_COMPUTES, "programs that use the loader get no device");
    if (!doctor->has_chosen_drivers)
        return find(doctor, false, ZETA_COMPUTES,
                    "programs that use the loader get a driver other than Zeta");
    return true;
}

static bool judge_rest(struct zeta_doctor *doctor)
{
    const struct zeta_doctor_place *place = &doctor->place;

    if (doctor->compiler.is_wanted && !doctor->compiler.works &&
        !find(doctor, true,
              "install the package zeta-vgpu-cc; to build it: apt-get install llvm-15-dev clang-15 "
              "lld-15 llvm-spirv-15, then configure again",
              "cannot compile modules from SPIR-V: %s", doctor->compiler.error))
        return false;
    if (place->error &&
        !find(doctor, true, "set XDG_RUNTIME_DIR to a directory that only this user can write",
              "cannot share a virtual GPU in %s: %s", place->path, place->error))
        return false;
    if (!place->error && place->free_bytes < LEAST_FREE_BYTES &&
        !find(doctor, true, "free space there, or set XDG_RUNTIME_DIR to another directory",
              "%s, where processes share a virtual GPU, has only %llu KiB left", place->path,
              (unsigned long long)(place->free_bytes / 1024)))
        return false;
    for (size_t i = 0; i < doctor->variable_count; i++) {
        const struct zeta_doctor_variable *variable = &doctor->variables[i];

        if (!variable->meaning && strncmp(variable->text, "ZETA_", strlen("ZETA_")) == 0 &&
            !find(doctor, false, "see 'zeta doctor -v' for the names of settings",
                  "%.*s is no variable of Zeta", (int)strcspn(variable->text, "="), variable->text))
            return false;
    }
    return true;
}

bool zeta_doctor_judge(struct zeta_doctor *doctor)
{
    return judge_program(doctor) && judge_rights(doctor) && judge_own(doctor) &&
           judge_plugins(doctor) && judge_devices(doctor) && judge_sampling(doctor) &&
           judge_loader(doctor) && judge_rest(doctor);
}
