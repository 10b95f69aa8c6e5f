/* What zeta doctor finds out of program debug: devices, a process, the variable, gdb, core dumps.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sdk/tools/zeta/doctor/doctor.h"
#include "sdk/tools/zeta/output/message.h"

/*
 * Attaches and detaches at once, which the process does not notice. Null: it works. A device that
 * cannot be debugged says so before it looks at the process.
 */
static char *try_attach(ze_device_handle_t device, uint32_t pid)
{
    const zet_debug_config_t config = {.pid = pid};
    zet_debug_session_handle_t session = NULL;

    if (zetDebugAttach(device, &config, &session) != ZE_RESULT_SUCCESS)
        return zeta_format("%s", zetaGetLastError());
    (void)zetDebugDetach(session);
    return NULL;
}

/* The first line of "gdb-multiarch --version"; null: it does not tell. */
static char *read_version(char *path, uint64_t patience_ns)
{
    char option[] = "--version";
    char *arguments[] = {path, option, NULL};
    struct zeta_doctor_answer answer;
    char *version = NULL;

    zeta_doctor_run(arguments, -1, STDOUT_FILENO, patience_ns, &answer);
    if (!answer.start_error && !answer.hung && answer.wait_status == 0)
        version = zeta_format("%.*s", (int)strcspn(answer.output, "\n"), answer.output);
    free(answer.output);
    return version;
}

/* Where the virtual GPU leaves core dumps, and whether it can. */
static void check_cores(const struct zeta_doctor *doctor, struct zeta_doctor_debugging *debugging)
{
    debugging->has_cores = zeta_doctor_has_plugin(doctor, "vgpu");
    debugging->core_dir = zeta_doctor_plugin_setting(doctor, "vgpu.core_dir");
    if (debugging->core_dir && strcmp(debugging->core_dir, "off") == 0)
        debugging->core_dir = NULL;
    if (debugging->core_dir && access(debugging->core_dir, W_OK | X_OK) != 0)
        debugging->core_error = zeta_format("%s", strerror(errno));
}

void zeta_doctor_check_debugging(struct zeta_doctor *doctor)
{
    struct zeta_doctor_debugging *debugging = &doctor->debugging;
    const char *value = getenv("ZET_ENABLE_PROGRAM_DEBUGGING");

    debugging->is_enabled = value && strtoul(value, NULL, 0) != 0;
    debugging->devices = zeta_allocate(doctor->devices.count, sizeof(*debugging->devices));
    for (uint32_t i = 0; i < doctor->devices.count; i++) {
        const struct zeta_device_entry *entry = &doctor->devices.entries[i];
        struct zeta_doctor_debugged *device = &debugging->devices[i];

        if (!entry->info.debug[0])
            device->error = try_attach(entry->device, 0);
        else if (debugging->has_pid)
            device->process_error = try_attach(entry->device, debugging->pid);
    }
    check_cores(doctor, debugging);
    zeta_doctor_check_program(&debugging->gdb, "gdb-multiarch");
    if (debugging->gdb.path)
        debugging->gdb_version = read_version(debugging->gdb.path, doctor->patience_ns);
}
