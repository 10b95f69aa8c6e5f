/* zeta doctor: what would a program get, and what is wrong? */
#include "sdk/tools/zeta/doctor/doctor.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "sdk/tools/zeta/command_line/commands.h"
#include "sdk/tools/zeta/command_line/options.h"
#include "sdk/tools/zeta/output/message.h"

/* Loading everything takes milliseconds; a busy machine is given time. */
#define DEFAULT_PATIENCE_NS UINT64_C(30000000000)

/* What loaders look for by themselves, older and newer ones. */
static const char loader_list[] =
    "libze_intel_gpu.so.1,libze_intel_gpu_legacy1.so.1,libze_intel_vpu.so.1,libze_intel_npu.so.1";

static int examine(struct zeta_doctor *doctor, const char *program)
{
    const char *drivers = getenv("ZE_ENABLE_ALT_DRIVERS");
    Dl_info info = {0};
    uint32_t count = 0;

    doctor->is_privileged = getauxval(AT_SECURE) != 0;
    if (dladdr((const void *)(uintptr_t)&zetaGetVersion, &info) != 0 && info.dli_fname)
        doctor->own_library = realpath(info.dli_fname, NULL);
    if (!doctor->own_library)
        return zeta_print_failure("cannot find the path of the loaded libzeta");
    doctor->root = zeta_format("%s", doctor->own_library);
    /* Without the name of the library and that of its folder, lib. */
    for (int i = 0; i < 2 && strrchr(doctor->root, '/'); i++)
        *strrchr(doctor->root, '/') = '\0';
    if (program)
        zeta_doctor_check_program(&doctor->program, program);
    zeta_doctor_list_variables(doctor);
    zeta_doctor_probe_library(doctor, doctor->own_library, &doctor->own);
    zeta_doctor_probe_library(doctor, NULL, &doctor->loader);

    doctor->has_chosen_drivers = drivers && *drivers;
    if (!doctor->has_chosen_drivers)
        drivers = loader_list;
    for (; *drivers; drivers += *drivers == ',') {
        const int length = (int)strcspn(drivers, ",");
        struct zeta_doctor_driver *driver;

        if (length > 0) {
            doctor->drivers = zeta_reallocate(doctor->drivers, doctor->driver_count + 1,
                                              sizeof(*doctor->drivers));
            driver = &doctor->drivers[doctor->driver_count++];
            driver->name = zeta_format("%.*s", length, drivers);
            zeta_doctor_probe_library(doctor, driver->name, &driver->probe);
        }
        drivers += length;
    }

    /* Only after another process did the same and came back. */
    if (doctor->own.outcome == ZETA_DOCTOR_WORKED && doctor->own.init == ZE_RESULT_SUCCESS) {
        (void)unsetenv("ZETA_TRACE");
        if (zeta_device_list_init(&doctor->devices) != ZETA_EXIT_OK ||
            zeta_plugin_list_init(&doctor->plugins) != ZETA_EXIT_OK)
            return ZETA_EXIT_FAILED;
        if (zetaSettingGet(&count, NULL) != ZE_RESULT_SUCCESS)
            count = 0;
        doctor->settings = zeta_allocate(count, sizeof(*doctor->settings));
        for (uint32_t i = 0; i < count; i++)
            doctor->settings[i].struct_size = sizeof(doctor->settings[i]);
        if (count > 0 && zetaSettingGet(&count, doctor->settings) == ZE_RESULT_SUCCESS)
            doctor->setting_count = count;
        doctor->is_initialised = true;
    }
    zeta_doctor_try_sampling(doctor);
    zeta_doctor_check_debugging(doctor);
    zeta_doctor_try_compilers(doctor);
    zeta_doctor_check_place(&doctor->place);
    zeta_doctor_judge(doctor);
    return ZETA_EXIT_OK;
}

static void finish(struct zeta_doctor *doctor)
{
    free(doctor->program.path);
    free(doctor->own_library);
    free(doctor->root);
    zeta_doctor_probe_finish(&doctor->own);
    zeta_doctor_probe_finish(&doctor->loader);
    for (size_t i = 0; i < doctor->driver_count; i++) {
        free(doctor->drivers[i].name);
        zeta_doctor_probe_finish(&doctor->drivers[i].probe);
    }
    free(doctor->drivers);
    free(doctor->variables);
    zeta_plugin_list_finish(&doctor->plugins);
    for (uint32_t i = 0; doctor->samplings && i < doctor->devices.count; i++) {
        free(doctor->samplings[i].error);
        free(doctor->samplings[i].note);
    }
    free(doctor->samplings);
    for (uint32_t i = 0; doctor->debugging.devices && i < doctor->devices.count; i++) {
        free(doctor->debugging.devices[i].error);
        free(doctor->debugging.devices[i].process_error);
    }
    free(doctor->debugging.devices);
    free(doctor->debugging.gdb.path);
    free(doctor->debugging.gdb_version);
    free(doctor->debugging.core_error);
    zeta_device_list_finish(&doctor->devices);
    free(doctor->settings);
    for (size_t i = 0; i < ZETA_DOCTOR_COMPILERS; i++) {
        free(doctor->compilers[i].path);
        free(doctor->compilers[i].error);
    }
    free(doctor->place.error);
    for (size_t i = 0; i < doctor->finding_count; i++) {
        free(doctor->findings[i].what);
        free(doctor->findings[i].repair);
    }
    free(doctor->findings);
}

int zeta_command_doctor(int count, char **arguments)
{
    struct zeta_doctor doctor = {.patience_ns = DEFAULT_PATIENCE_NS};
    struct zeta_json_option json = {0};
    bool is_verbose = false;
    int64_t pid = -1;
    const struct zeta_option table[] = {
        {"verbose", 'v', ZETA_OPTION_FLAG, &is_verbose, NULL},
        {"pid", 0, ZETA_OPTION_NUMBER, &pid, NULL},
        {"wait", 'w', ZETA_OPTION_DURATION, &doctor.patience_ns, NULL},
        {"json", 0, ZETA_OPTION_JSON, &json, NULL},
    };
    int first = 0;
    int status =
        zeta_options_read(table, sizeof(table) / sizeof(table[0]), true, count, arguments, &first);

    if (status != ZETA_EXIT_OK)
        return status;
    doctor.debugging.has_pid = pid >= 0;
    doctor.debugging.pid = (uint32_t)pid;
    status = examine(&doctor, arguments[first]);
    if (status == ZETA_EXIT_OK && json.is_given)
        status = zeta_doctor_put(&doctor, json.path);
    else if (status == ZETA_EXIT_OK)
        zeta_doctor_print(&doctor, is_verbose);
    if (status == ZETA_EXIT_OK && doctor.problem_count > 0)
        status = ZETA_EXIT_FAILED;
    finish(&doctor);
    return status;
}
