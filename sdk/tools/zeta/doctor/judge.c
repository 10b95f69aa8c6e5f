/* What is wrong, and what repairs it. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zeta/c_locale.h>

#include "sdk/tools/zeta/doctor/doctor.h"
#include "sdk/tools/zeta/output/message.h"
#include "sdk/tools/zeta/program/program.h"

/* A virtual GPU with its counters and rings of reports fits into this. */
#define LEAST_FREE_BYTES (UINT64_C(64) << 10)

#define ZETA_COMPUTES "zeta run -- PROGRAM (or: export $(zeta run -n))"

enum kind { NOTE, PROBLEM };

static void __attribute__((format(printf, 4, 5)))
find(struct zeta_doctor *doctor, enum kind kind, const char *repair, const char *format, ...)
{
    struct zeta_doctor_finding *finding;
    va_list arguments;

    doctor->findings =
        zeta_reallocate(doctor->findings, doctor->finding_count + 1, sizeof(*doctor->findings));
    finding = &doctor->findings[doctor->finding_count++];
    *finding = (struct zeta_doctor_finding){.is_problem = kind == PROBLEM};
    doctor->problem_count += kind == PROBLEM;
    if (repair)
        finding->repair = zeta_format("%s", repair);
    va_start(arguments, format);
    zeta_need_memory(zeta_c_vasprintf(&finding->what, format, arguments) >= 0);
    va_end(arguments);
}

static void judge_driver(struct zeta_doctor *doctor, const struct zeta_doctor_driver *driver)
{
    const struct zeta_doctor_probe *probe = &driver->probe;
    const char *repair = doctor->has_chosen_drivers ? "unset ZE_ENABLE_ALT_DRIVERS, or correct it"
                                                    : "install its package again";

    if (!doctor->has_chosen_drivers && probe->outcome == ZETA_DOCTOR_ABSENT)
        return;
    if (strpbrk(driver->name, " \t"))
        find(doctor, PROBLEM, "remove the blanks; only commas separate entries",
             "ZE_ENABLE_ALT_DRIVERS has the entry '%s' with a blank, which the loader takes as "
             "part of the name",
             driver->name);
    else if (probe->outcome != ZETA_DOCTOR_WORKED)
        find(doctor, PROBLEM, repair, "cannot use driver %s: %s", driver->name, probe->error);
    /* One of the loader's own list finds no device of its kind; a chosen one is meant to. */
    else if (doctor->has_chosen_drivers && probe->init != ZE_RESULT_SUCCESS)
        find(doctor, PROBLEM, repair, "driver %s does not start: zeInit returns 0x%08x",
             driver->name, probe->init);
    else if (probe->zeta && strcmp(probe->zeta, zetaGetVersion()) != 0)
        find(doctor, PROBLEM, "unset ZE_ENABLE_ALT_DRIVERS; " ZETA_COMPUTES,
             "driver %s is libzeta %s, but this command needs %s", driver->name, probe->zeta,
             zetaGetVersion());
}

static void judge_loader(struct zeta_doctor *doctor)
{
    const struct zeta_doctor_probe *loader = &doctor->loader;
    const size_t before = doctor->problem_count;
    /* Where there is no device, that is judged. */
    bool has_compute = doctor->devices.count == 0;
    bool has_zeta = false;

    /* A program that is linked to libzeta needs no loader. */
    if (doctor->program.link == ZETA_DOCTOR_LINK_ZETA || loader->outcome == ZETA_DOCTOR_UNTRIED)
        return;
    if (loader->outcome == ZETA_DOCTOR_ABSENT) {
        find(doctor, doctor->program.link == ZETA_DOCTOR_LINK_LOADER ? PROBLEM : NOTE,
             "apt-get install libze1",
             "cannot find the loader (libze_loader.so.1): only programs linked to libzeta work");
        return;
    }
    for (uint32_t i = 0; i < doctor->devices.count; i++)
        has_compute |= doctor->devices.entries[i].info.compute[0] != 0;
    for (size_t i = 0; i < doctor->driver_count; i++) {
        judge_driver(doctor, &doctor->drivers[i]);
        has_zeta = has_zeta || doctor->drivers[i].probe.zeta;
    }
    if (!has_zeta && doctor->has_chosen_drivers)
        find(doctor, NOTE, "unset ZE_ENABLE_ALT_DRIVERS; " ZETA_COMPUTES,
             "ZE_ENABLE_ALT_DRIVERS does not name libzeta, so programs that use the loader do not "
             "get Zeta");
    /* Where none of Zeta's devices computes, programs need another driver, which is not judged.
     * What the loader does follows from its drivers, and Zeta's devices from what was judged. */
    if (!zeta_environment_can_name(doctor->own_library) && !doctor->has_chosen_drivers)
        find(doctor, PROBLEM, "install Zeta in a path without commas and blanks",
             "the loader cannot open '%s', because the path has a comma or a blank",
             doctor->own_library);
    else if (!has_compute)
        find(doctor, NOTE, "use the driver of the GPU's vendor, or set ZETA_PLUGINS_SELECT=vgpu",
             "Zeta measures the devices of this machine, but runs no kernels on them");
    else if (doctor->problem_count > before || doctor->own.device_count == 0)
        return;
    else if (loader->outcome != ZETA_DOCTOR_WORKED)
        find(doctor, PROBLEM, "apt-get install --reinstall libze1", "cannot use the loader: %s",
             loader->error);
    else if (loader->init != ZE_RESULT_SUCCESS)
        find(doctor, PROBLEM, ZETA_COMPUTES,
             "programs that use the loader get no driver: zeInit returns 0x%08x%s", loader->init,
             doctor->has_chosen_drivers ? "" : ", because no variable names Zeta");
    else if (loader->device_count == 0)
        find(doctor, PROBLEM, ZETA_COMPUTES, "programs that use the loader get no device");
    else if (!doctor->has_chosen_drivers)
        find(doctor, NOTE, ZETA_COMPUTES,
             "programs that use the loader get a driver other than Zeta");
}

/* Devices and plugins of this process. */
static void judge_devices(struct zeta_doctor *doctor)
{
    bool any_disabled = false;

    for (uint32_t i = 0; i < doctor->plugins.count; i++) {
        const struct zeta_plugin_info *plugin = &doctor->plugins.plugins[i];
        const char *name = zeta_plugin_name(plugin);

        /* The reason of a plugin that runs and fails has what to do. */
        if (plugin->state == ZETA_PLUGIN_STATE_NO_DEVICE && !zeta_plugin_is_absent(plugin)) {
            find(doctor, NOTE, NULL, "plugin %s finds no device: %s", name, plugin->reason);
        } else if (plugin->state == ZETA_PLUGIN_STATE_FAILED) {
            find(doctor, PROBLEM, NULL, "plugin %s does not work: %s", name, plugin->reason);
        } else if (zeta_plugin_is_in_trouble(plugin)) {
            char *repair = zeta_format("zeta plugin check '%s'", plugin->manifest);

            find(doctor, PROBLEM, repair, "plugin %s is %s: %s", name,
                 zeta_plugin_state_name(plugin->state), plugin->reason);
            free(repair);
        }
    }
    for (uint32_t i = 0; i < doctor->devices.count; i++) {
        const struct zeta_doctor_sampling *sampling = &doctor->samplings[i];

        if (sampling->error)
            find(doctor, sampling->is_busy ? NOTE : PROBLEM, NULL, "%s cannot be sampled%s: %s",
                 doctor->devices.entries[i].properties.name, sampling->is_busy ? " now" : "",
                 sampling->error);
        if (sampling->note)
            find(doctor, NOTE, NULL, "%s lacks metrics that it could have: %s",
                 doctor->devices.entries[i].properties.name, sampling->note);
    }
    if (doctor->devices.count > 0)
        return;
    if (doctor->plugins.count == 0) {
        find(doctor, PROBLEM, "zeta plugin path", "Zeta found no plugin, so there is no device");
        return;
    }
    for (uint32_t i = 0; i < doctor->plugins.count; i++) {
        const struct zeta_plugin_info *plugin = &doctor->plugins.plugins[i];

        if (plugin->state != ZETA_PLUGIN_STATE_DISABLED)
            continue;
        any_disabled = true;
        find(doctor, PROBLEM,
             "do what the reason proposes, or remove the setting that disables the plugin",
             "Zeta found no device; plugin %s is disabled: %s", plugin->id, plugin->reason);
    }
    if (!any_disabled)
        find(doctor, PROBLEM, "zeta plugin list", "Zeta found no device");
}

/* A process that somebody asks about: attaching to it on one device is enough. */
static void judge_process(struct zeta_doctor *doctor)
{
    for (uint32_t i = 0; i < doctor->devices.count; i++) {
        if (!doctor->debugging.devices[i].error && !doctor->debugging.devices[i].process_error)
            return;
    }
    find(doctor, PROBLEM, "do what the reasons under 'debugging' say",
         "a debugger cannot attach to process %u", doctor->debugging.pid);
}

void zeta_doctor_judge(struct zeta_doctor *doctor)
{
    const struct zeta_doctor_compiler *vgpu = &doctor->compilers[ZETA_DOCTOR_VGPU_COMPILER];
    const struct zeta_doctor_compiler *nvidia = &doctor->compilers[ZETA_DOCTOR_NVIDIA_COMPILER];
    const struct zeta_doctor_program *program = &doctor->program;
    const struct zeta_doctor_probe *own = &doctor->own;
    const struct zeta_doctor_place *place = &doctor->place;

    if (program->name && !program->path)
        find(doctor, PROBLEM, "give its path, or add its directory to PATH",
             "cannot find program %s", program->name);
    else if (program->link == ZETA_DOCTOR_LINK_FOREIGN)
        find(doctor, PROBLEM, "build it for this machine",
             "%s is no 64-bit program for this machine", program->path);
    else if (program->is_privileged)
        find(doctor, PROBLEM,
             "put the settings into zeta.yaml, and the driver where the loader searches for it",
             "%s runs with more rights than its user, so it ignores variables", program->path);
    /* What differs between this command and programs that were not given more rights. */
    if (doctor->is_privileged)
        find(doctor, NOTE, "put its settings into zeta.yaml of the system",
             "this command has more rights than its user (file capabilities or setuid): it "
             "loads only files of root, and ignores the user's settings and variables, except "
             "ZETA_LOG");
    /* The library by itself, in a process of its own. */
    if (own->outcome == ZETA_DOCTOR_UNTRIED)
        find(doctor, PROBLEM, "install Zeta again: cmake --install BUILD", "%s", own->error);
    else if (own->outcome != ZETA_DOCTOR_WORKED)
        find(doctor, PROBLEM, "zeta plugin check MANIFEST, for those in: zeta plugin path",
             "cannot use libzeta: %s", own->error);
    else if (own->has_init && own->init != ZE_RESULT_SUCCESS)
        find(doctor, PROBLEM, "ZETA_LOG=debug zeta devices",
             "libzeta does not start: zeInit returns 0x%08x", own->init);
    else if (strcmp(ZETA_TOOL_VERSION, zetaGetVersion()) != 0)
        find(doctor, PROBLEM, "install both from one build, or correct LD_LIBRARY_PATH",
             "this command has version %s, but %s has version %s", ZETA_TOOL_VERSION,
             doctor->own_library, zetaGetVersion());
    if (doctor->is_initialised)
        judge_devices(doctor);
    if (doctor->debugging.has_pid)
        judge_process(doctor);
    judge_loader(doctor);
    if (vgpu->error)
        find(doctor, PROBLEM,
             "install the package zeta-vgpu-cc; to build it: apt-get install llvm-15-dev clang-15 "
             "lld-15 llvm-spirv-15, then configure again",
             "cannot compile modules from SPIR-V: %s", vgpu->error);
    /* Their counters do not need it, nor do native kernels. */
    if (nvidia->error)
        find(
            doctor, NOTE,
            "install the package zeta-nv-cc and what it needs (libllvm15, llvm-spirv-15); to build "
            "it: apt-get install llvm-15-dev clang-15 llvm-spirv-15 libclc-15, then configure "
            "again",
            "programs with kernels in SPIR-V do not run on NVIDIA GPUs: %s", nvidia->error);
    if (doctor->debugging.core_error)
        find(doctor, PROBLEM, "make the folder, or set ZETA_PLUGIN_VGPU_CORE_DIR to another one",
             "core dumps of kernels cannot be written to %s: %s", doctor->debugging.core_dir,
             doctor->debugging.core_error);
    if (place->error)
        find(doctor, PROBLEM, "set XDG_RUNTIME_DIR to a directory that only this user can write",
             "cannot share a virtual GPU in %s: %s", place->path, place->error);
    else if (place->free_bytes < LEAST_FREE_BYTES)
        find(doctor, PROBLEM, "free space there, or set XDG_RUNTIME_DIR to another directory",
             "%s, where processes share a virtual GPU, has only %llu KiB left", place->path,
             (unsigned long long)(place->free_bytes / 1024));
    for (size_t i = 0; i < doctor->variable_count; i++) {
        const struct zeta_doctor_variable *variable = &doctor->variables[i];

        if (!variable->meaning && strncmp(variable->text, "ZETA_", strlen("ZETA_")) == 0)
            find(doctor, NOTE, "see 'zeta doctor -v' for the names of settings",
                 "%.*s is no variable of Zeta", (int)strcspn(variable->text, "="), variable->text);
    }
}
