/* The compiler of kernels, and the place where processes share a virtual GPU. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sdk/tools/zeta/doctor/child.h"
#include "sdk/tools/zeta/doctor/doctor.h"

#define COMPILER_PATH "/libexec/zeta/zeta-vgpu-cc"
#define COMPILER_SETTING "vgpu.compiler"

/* LLVM is large, and a machine may be busy. */
#define PATIENCE_NS UINT64_C(120000000000)

/* SPIR-V 1.0 of an empty kernel named "k". Each instruction begins with its words and number. */
static const uint32_t empty_kernel[] = {
    0x07230203,     0x00010000, 0, 5,   0, /* magic, version, no generator, ids below 5 */
    2u << 16 | 17,  4,                     /* capability Addresses */
    2u << 16 | 17,  6,                     /* capability Kernel */
    3u << 16 | 14,  2,          2,         /* memory model Physical64 OpenCL */
    4u << 16 | 15,  6,          4, 'k',    /* entry point Kernel %4 "k" */
    2u << 16 | 19,  1,                     /* %1 = type void */
    3u << 16 | 33,  2,          1,         /* %2 = type function %1 */
    5u << 16 | 54,  1,          4, 0,   2, /* %4 = function %1 None %2 */
    2u << 16 | 248, 3,                     /* %3 = label */
    1u << 16 | 253,                        /* return */
    1u << 16 | 56,                         /* function end */
};

static bool copy_path(struct zeta_doctor *doctor)
{
    for (uint32_t i = 0; i < doctor->setting_count; i++) {
        const char *name = doctor->settings[i].name;
        const size_t length = strlen(name);
        const size_t wanted = strlen(COMPILER_SETTING);

        if (length >= wanted && strcmp(name + length - wanted, COMPILER_SETTING) == 0 &&
            doctor->settings[i].value[0]) {
            doctor->compiler.path = strdup(doctor->settings[i].value);
            return doctor->compiler.path != NULL;
        }
    }
    if (asprintf(&doctor->compiler.path, "%s" COMPILER_PATH, doctor->root) >= 0)
        return true;
    doctor->compiler.path = NULL;
    return false;
}

/* The input as a file without a name. */
static int make_input(void)
{
    const int fd = memfd_create("zeta-doctor", MFD_CLOEXEC);

    if (fd >= 0 &&
        pwrite(fd, empty_kernel, sizeof(empty_kernel), 0) != (ssize_t)sizeof(empty_kernel)) {
        (void)close(fd);
        return -1;
    }
    return fd;
}

/* What the compiler says of a failure, as one line. */
static void join_lines(char *text)
{
    const size_t length = strlen(text);

    for (size_t i = 0; i < length; i++) {
        if (text[i] == '\n')
            text[i] = i + 1 < length ? ' ' : '\0';
    }
}

static bool explain_failure(struct zeta_doctor_compiler *compiler,
                            struct zeta_doctor_answer *answer)
{
    int length = 0;

    if (answer->start_error == ENOENT)
        length = asprintf(&compiler->error, "there is no program %s", compiler->path);
    else if (answer->start_error)
        length = asprintf(&compiler->error, "%s cannot be run: %s", compiler->path,
                          strerror(answer->start_error));
    else if (answer->hung)
        length = asprintf(&compiler->error, "an empty kernel takes more than two minutes");
    else if (WIFSIGNALED(answer->wait_status))
        length =
            asprintf(&compiler->error, "it crashes (%s)", strsignal(WTERMSIG(answer->wait_status)));
    else if (WEXITSTATUS(answer->wait_status) == 0)
        compiler->works = true;
    else {
        join_lines(answer->output);
        length = asprintf(&compiler->error, "it does not compile an empty kernel: %s",
                          answer->output[0] ? answer->output : "it does not say why");
    }
    if (length >= 0)
        return true;
    compiler->error = NULL;
    return false;
}

bool zeta_doctor_try_compiler(struct zeta_doctor *doctor)
{
    struct zeta_doctor_compiler *compiler = &doctor->compiler;
    struct zeta_doctor_answer answer = {0};
    char language[] = "-x", spirv[] = "spirv", output[] = "-o", standard[] = "-";
    int fd;
    bool is_well;

    for (uint32_t i = 0; i < doctor->plugins.count; i++) {
        if (strcmp(doctor->plugins.plugins[i].id, "vgpu") == 0 &&
            doctor->plugins.plugins[i].state == ZETA_PLUGIN_STATE_ACTIVE)
            compiler->is_wanted = true;
    }
    if (!compiler->is_wanted)
        return true;
    fd = make_input();
    is_well = fd >= 0 && copy_path(doctor);
    if (is_well) {
        char *arguments[] = {compiler->path, language, spirv, standard, output, standard, NULL};

        is_well = zeta_doctor_run(arguments, fd, STDERR_FILENO, PATIENCE_NS, &answer) &&
                  explain_failure(compiler, &answer);
    }
    if (fd >= 0)
        (void)close(fd);
    free(answer.output);
    return is_well;
}

/* ---- the place ------------------------------------------------------------------------------- */

static bool is_ours_alone(const struct stat *status)
{
    return S_ISDIR(status->st_mode) && status->st_uid == geteuid() &&
           (status->st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

/*
 * The rule of the virtual GPU: the folder that is named, if it is nobody else's; one of this user
 * in /dev/shm; if somebody else has that name, one in the user's home. Gives what has to be there.
 */
static const char *choose(struct zeta_doctor_place *place)
{
    static char path[PATH_MAX];
    const char *runtime = secure_getenv("XDG_RUNTIME_DIR");
    const char *home = secure_getenv("HOME");
    struct stat status;

    place->path = path;
    place->origin = !runtime && getenv("XDG_RUNTIME_DIR")
                        ? "XDG_RUNTIME_DIR does not count for this command"
                        : "XDG_RUNTIME_DIR is not set";
    if (runtime && runtime[0] != '\0') {
        place->origin = "XDG_RUNTIME_DIR";
        (void)snprintf(path, sizeof(path), "%s", runtime);
        if (runtime[0] == '/' && stat(runtime, &status) == 0 && is_ours_alone(&status))
            return path;
        place->origin = "XDG_RUNTIME_DIR is no directory of this user alone";
    }
    (void)snprintf(path, sizeof(path), "/dev/shm/zeta-vgpu-%u", (unsigned)geteuid());
    if (lstat(path, &status) != 0)
        return "/dev/shm";
    if (is_ours_alone(&status) || !home || home[0] != '/')
        return path;
    place->origin = "that in /dev/shm is no directory of this user alone";
    (void)snprintf(path, sizeof(path), "%s/.cache/zeta", home);
    return home;
}

bool zeta_doctor_check_place(struct zeta_doctor_place *place)
{
    const char *there = choose(place);
    struct statvfs space;

    if (access(there, W_OK | X_OK) != 0 || statvfs(there, &space) != 0) {
        place->error = strdup(strerror(errno));
        return place->error != NULL;
    }
    place->free_bytes = (uint64_t)space.f_bavail * space.f_frsize;
    return true;
}
