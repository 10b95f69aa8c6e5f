#include "sdk/tools/zeta/program/environment.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <zeta/zeta.h>

#include "sdk/tools/zeta/output/message.h"
#include <zeta/clock.h>

#define INSTANCE_VARIABLE "ZETA_VGPU_INSTANCE"
#define DRIVERS_VARIABLE "ZE_ENABLE_ALT_DRIVERS"
#define MODULES_VARIABLE "ZETA_MODULE_DUMP"

static size_t count_variables(char **variables)
{
    size_t count = 0;

    while (variables[count])
        count++;
    return count;
}

int zeta_environment_init(struct zeta_environment *environment, bool is_shared)
{
    const size_t count = count_variables(environ);

    *environment = (struct zeta_environment){0};
    environment->before = calloc(count + 1, sizeof(*environment->before));
    if (!environment->before)
        return zeta_print_failure("no memory for the environment of the program");
    memcpy(environment->before, environ, count * sizeof(*environment->before));
    if (is_shared)
        return ZETA_EXIT_OK;

    /* The time too: a process id comes back. */
    if (asprintf(&environment->instance, INSTANCE_VARIABLE "=stat-%ld-%" PRIx64, (long)getpid(),
                 zeta_clock_ns(CLOCK_REALTIME)) < 0) {
        environment->instance = NULL;
        return zeta_print_failure("no memory for the name of a virtual device instance");
    }
    if (setenv(INSTANCE_VARIABLE, strchr(environment->instance, '=') + 1, 1) != 0)
        return zeta_print_failure("cannot set " INSTANCE_VARIABLE ": %s", strerror(errno));
    return ZETA_EXIT_OK;
}

bool zeta_environment_can_name(const char *library_path)
{
    return strpbrk(library_path, ", \t\n") == NULL;
}

/* Makes "ZE_ENABLE_ALT_DRIVERS=<this libzeta>". */
static int name_driver(struct zeta_environment *environment)
{
    Dl_info info = {0};
    char *path = NULL;
    int status = ZETA_EXIT_OK;

    if (dladdr((const void *)(uintptr_t)&zetaGetVersion, &info) == 0 || !info.dli_fname)
        return zeta_print_failure("cannot find out where libzeta was loaded from");
    path = realpath(info.dli_fname, NULL);
    if (!path)
        return zeta_print_failure("cannot resolve the path of libzeta, %s: %s", info.dli_fname,
                                  strerror(errno));
    if (!zeta_environment_can_name(path)) {
        status = zeta_print_failure(
            "cannot point the program at this driver, because the loader's "
            "variable " DRIVERS_VARIABLE
            " separates paths with commas and this one has a comma or a blank: '%s'. Install Zeta "
            "at a path without them, or set the variable yourself",
            path);
    } else if (asprintf(&environment->drivers, DRIVERS_VARIABLE "=%s", path) < 0) {
        environment->drivers = NULL;
        status = zeta_print_failure("no memory for the environment of the program");
    }
    free(path);
    return status;
}

static bool is_variable(const char *text, const char *name)
{
    const size_t length = strlen(name);

    return strncmp(text, name, length) == 0 && text[length] == '=';
}

int zeta_environment_build(struct zeta_environment *environment, bool is_ours)
{
    const size_t count = count_variables(environment->before);
    const char *drivers_before = NULL;
    char **end = calloc(count + 4, sizeof(*end));

    environment->variables = end;
    if (!end)
        return zeta_print_failure("no memory for the environment of the program");
    /* Which instance this process has is not read from its variables then: both would differ. */
    if (is_ours && environment->instance && getauxval(AT_SECURE) != 0)
        return zeta_print_failure("this zeta has more rights than its user (setcap, setuid), so a "
                                  "program that it starts cannot share its virtual GPU; use a zeta "
                                  "without these rights, which the virtual GPU does not need");
    for (size_t i = 0; i < count; i++) {
        char *variable = environment->before[i];

        if (is_ours && environment->instance && is_variable(variable, INSTANCE_VARIABLE))
            continue;
        if (is_ours && environment->modules && is_variable(variable, MODULES_VARIABLE))
            continue;
        if (is_variable(variable, DRIVERS_VARIABLE))
            drivers_before = strchr(variable, '=') + 1;
        *end++ = variable;
    }
    if (!is_ours)
        return ZETA_EXIT_OK;

    if (environment->instance)
        *end++ = environment->instance;
    if (environment->modules)
        *end++ = environment->modules;
    if (drivers_before) {
        zeta_print_note(DRIVERS_VARIABLE " is set to '%s' and left alone; a program that uses the "
                                         "loader gets that driver",
                        drivers_before);
        return ZETA_EXIT_OK;
    }
    if (name_driver(environment) != ZETA_EXIT_OK)
        return ZETA_EXIT_FAILED;
    *end = environment->drivers;
    return ZETA_EXIT_OK;
}

int zeta_environment_want_modules(struct zeta_environment *environment, bool has_program)
{
    const char *named = getenv(MODULES_VARIABLE);

    if (!named || !*named) {
        if (!has_program)
            return ZETA_EXIT_OK;
        if (zeta_run_folder_make(&environment->folder, zeta_run_folder_place(), "stat") !=
            ZETA_EXIT_OK)
            return ZETA_EXIT_FAILED;
        named = environment->folder.path;
    }
    if (asprintf(&environment->modules, MODULES_VARIABLE "=%s", named) >= 0)
        return ZETA_EXIT_OK;
    environment->modules = NULL;
    return zeta_print_failure("no memory for the name of a folder");
}

const char *zeta_environment_modules(const struct zeta_environment *environment)
{
    return environment->modules ? strchr(environment->modules, '=') + 1 : NULL;
}

void zeta_environment_finish(struct zeta_environment *environment)
{
    free(environment->before);
    free(environment->variables);
    free(environment->instance);
    free(environment->drivers);
    zeta_run_folder_remove(&environment->folder);
    free(environment->modules);
    *environment = (struct zeta_environment){0};
}
