/* zeta run: a program with the environment in which it works on a device of Zeta. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sdk/tools/zeta/command_line/commands.h"
#include "sdk/tools/zeta/command_line/options.h"
#include "sdk/tools/zeta/inventory/device_list.h"
#include "sdk/tools/zeta/output/message.h"
#include "sdk/tools/zeta/program/child.h"
#include "sdk/tools/zeta/program/environment.h"

#define METRICS_VARIABLE "ZET_ENABLE_METRICS"

struct options {
    const char *device;
    bool wants_metrics;
    bool only_prints;
    char **program; /* null-terminated, null if there is none */
};

static int read_options(struct options *options, int count, char **arguments)
{
    const struct zeta_option table[] = {
        {"device", 'd', ZETA_OPTION_TEXT, (void *)&options->device, NULL},
        {"metrics", 'm', ZETA_OPTION_FLAG, &options->wants_metrics, NULL},
        {"print", 'n', ZETA_OPTION_FLAG, &options->only_prints, NULL},
    };
    int first = 0;
    int status;

    *options = (struct options){0};
    status =
        zeta_options_read(table, sizeof(table) / sizeof(table[0]), true, count, arguments, &first);
    if (status != ZETA_EXIT_OK)
        return status;
    if (first < count)
        options->program = &arguments[first];
    if (!options->program && !options->only_prints)
        return zeta_print_usage_error(
            "run needs a program, after --; or -n to print the variables that it would set");
    return ZETA_EXIT_OK;
}

/* As it is where a shell takes it as it is, else between quotes, for eval. */
static void print_variable(const char *variable)
{
    const char *value = strchr(variable, '=') + 1;
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "/._-+:@%,";

    (void)printf("%.*s", (int)(value - variable), variable);
    if (value[strspn(value, plain)] == '\0') {
        (void)puts(value);
        return;
    }
    (void)putchar('\'');
    for (; *value; value++) {
        if (*value == '\'')
            (void)fputs("'\\''", stdout);
        else
            (void)putchar(*value);
    }
    (void)puts("'");
}

static void print_variables(const struct options *options,
                            const struct zeta_environment *environment, bool is_ours)
{
    if (options->wants_metrics)
        print_variable(METRICS_VARIABLE "=1");
    if (environment->drivers)
        print_variable(environment->drivers);
    else if (!is_ours)
        zeta_print_note("Zeta does not compute on this device, so its programs need no variable of "
                        "the loader");
}

/* Gives only an exit code: a program that could be started is what this process is then. */
static int become(char **program, char **variables)
{
    if (fflush(stdout) != 0)
        return zeta_print_failure("the standard output cannot be written");
    (void)execvpe(program[0], program, variables);
    return zeta_child_explain(program[0], errno);
}

int zeta_command_run(int count, char **arguments)
{
    struct zeta_environment environment = {0};
    struct options options;
    bool is_ours = false;
    int status = read_options(&options, count, arguments);

    if (status == ZETA_EXIT_OK && options.wants_metrics && setenv(METRICS_VARIABLE, "1", 1) != 0)
        status = zeta_print_failure("cannot set " METRICS_VARIABLE ": %s", strerror(errno));
    if (status == ZETA_EXIT_OK)
        status = zeta_environment_init(&environment, true);
    /* What the search for the device calls is not what the program does. */
    if (status == ZETA_EXIT_OK)
        (void)unsetenv("ZETA_TRACE");
    if (status == ZETA_EXIT_OK)
        status = zeta_device_list_find_compute(options.device, &is_ours);
    if (status == ZETA_EXIT_OK)
        status = zeta_environment_build(&environment, is_ours);
    if (status == ZETA_EXIT_OK && options.only_prints)
        print_variables(&options, &environment, is_ours);
    else if (status == ZETA_EXIT_OK && options.program)
        status = become(options.program, environment.variables);
    zeta_environment_finish(&environment);
    return status;
}
