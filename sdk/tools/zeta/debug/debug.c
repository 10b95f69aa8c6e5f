/* zeta debug: GDB, connected to a program's kernels. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sdk/tools/zeta/command_line/commands.h"
#include "sdk/tools/zeta/command_line/options.h"
#include "sdk/tools/zeta/inventory/inventory.h"
#include "sdk/tools/zeta/output/message.h"
#include "sdk/tools/zeta/program/program.h"

struct debug_options {
    const char *device; /* null: the first that can be debugged */
    const char *gdb;
    const char *script; /* null: none */
    int64_t pid;        /* 0: a program is started */
    bool is_batch;
};

/* "<folder of this program>/<name>" if there is such a file, else null. */
static char *find_beside(const char *name)
{
    char self[4096];
    const ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
    char *path;

    if (length <= 0)
        return NULL;
    self[length] = '\0';
    *strrchr(self, '/') = '\0';
    path = zeta_format("%s/%s", self, name);
    if (access(path, R_OK) == 0)
        return path;
    free(path);
    return NULL;
}

/* Writes words as a shell takes them. */
static void put_words(FILE *line, char **words)
{
    for (; *words; words++) {
        (void)fputs(" '", line);
        for (const char *at = *words; *at; at++)
            (void)fputs(*at == '\'' ? "'\\''" : (const char[]){*at, '\0'}, line);
        (void)putc('\'', line);
    }
}

/* GDB's command that starts the server and connects to it. */
static char *make_target(const struct debug_options *options, const char *device, char **program)
{
    char *const server = find_beside("zeta-gdbserver");
    char *const pid = zeta_format("%" PRId64, options->pid);
    char *start[] = {server ? server : (char[]){"zeta-gdbserver"}, (char[]){"-"},
                     (char[]){"--device"}, (char *)(uintptr_t)device, NULL};
    char *attach[] = {(char[]){"--attach"}, pid, NULL};
    char *text = NULL;
    size_t size = 0;
    FILE *const line = open_memstream(&text, &size);

    zeta_need_memory(line != NULL);
    (void)fputs("target remote |", line);
    put_words(line, start);
    if (options->pid > 0) {
        put_words(line, attach);
    } else {
        (void)fputs(" --", line);
        put_words(line, program);
    }
    zeta_need_memory(fclose(line) == 0);
    free(server);
    free(pid);
    return text;
}

/* Replaces this process by GDB; gives an exit code if that fails. */
static int run_gdb(const struct debug_options *options, char *target, char **environment)
{
    char *const commands = find_beside("../share/zeta/zeta-gdb.py");
    const char *const settings[] = {
        "set breakpoint pending on",   /* they wait for the modules that they are in */
        "set print thread-events off", /* of thousands of threads */
        "set sysroot /",               /* files of modules are on this machine */
        target,
        options->pid > 0 ? "sharedlibrary" : NULL, /* of modules that are there already */
    };
    const char *arguments[24] = {options->gdb, "-q"};
    size_t count = 2;

    if (options->is_batch)
        arguments[count++] = "-batch";
    if (commands) {
        arguments[count++] = "-x";
        arguments[count++] = commands;
    }
    for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]) && settings[i]; i++) {
        arguments[count++] = "-ex";
        arguments[count++] = settings[i];
    }
    if (options->script) {
        arguments[count++] = "-x";
        arguments[count++] = options->script;
    }
    (void)execvpe(options->gdb, (char **)(uintptr_t)arguments, environment);
    free(commands);
    if (errno != ENOENT)
        return zeta_child_explain(options->gdb, errno);
    (void)zeta_print_failure("there is no %s; install it (on Debian and Ubuntu the package "
                             "gdb-multiarch), or name a GDB that knows RISC-V with --gdb",
                             options->gdb);
    return ZETA_EXIT_NOT_FOUND;
}

/* The device that is named, or the first that can be debugged. */
static int find_device(struct zeta_device_list *devices, const char *text,
                       const struct zeta_device_entry **out_device)
{
    int status = zeta_device_list_init(devices);

    if (status == ZETA_EXIT_OK && text)
        status = zeta_device_list_find(devices, text, out_device);
    for (uint32_t i = 0; status == ZETA_EXIT_OK && !*out_device && i < devices->count; i++)
        if (devices->entries[i].info.debug[0])
            *out_device = &devices->entries[i];
    if (status == ZETA_EXIT_OK && !*out_device)
        status = zeta_print_failure("no device here can be debugged; 'zeta doctor' says why");
    else if (status == ZETA_EXIT_OK && !(*out_device)->info.debug[0])
        status = zeta_print_failure("%s cannot be debugged; 'zeta doctor' says why",
                                    (*out_device)->info.id);
    return status;
}

int zeta_command_debug(int count, char **arguments)
{
    struct debug_options options = {.gdb = "gdb-multiarch"};
    const struct zeta_option table[] = {
        {"device", 'd', ZETA_OPTION_TEXT, (void *)&options.device, NULL},
        {"pid", 0, ZETA_OPTION_NUMBER, &options.pid, NULL},
        {"gdb", 0, ZETA_OPTION_TEXT, (void *)&options.gdb, NULL},
        {"commands", 'x', ZETA_OPTION_TEXT, (void *)&options.script, NULL},
        {"batch", 0, ZETA_OPTION_FLAG, &options.is_batch, NULL},
    };
    struct zeta_environment environment = {0};
    struct zeta_device_list devices = {0};
    const struct zeta_device_entry *device = NULL;
    int first = 0;
    int status =
        zeta_options_read(table, sizeof(table) / sizeof(table[0]), true, count, arguments, &first);

    if (status != ZETA_EXIT_OK)
        return status;
    if ((first == count) == (options.pid == 0))
        return zeta_print_usage_error("debug needs either a program after --, or --pid PID");
    status = zeta_environment_init(&environment, true);
    /* What the search for the device calls is not what the program does. */
    (void)unsetenv("ZETA_TRACE");
    if (status == ZETA_EXIT_OK)
        status = find_device(&devices, options.device, &device);
    if (status == ZETA_EXIT_OK)
        status = zeta_environment_build(&environment, device->info.compute[0] != '\0');
    if (status == ZETA_EXIT_OK) {
        char *const target = make_target(&options, device->info.id, &arguments[first]);

        status = run_gdb(&options, target, environment.variables);
        free(target);
    }
    zeta_device_list_finish(&devices);
    zeta_environment_finish(&environment);
    return status;
}
