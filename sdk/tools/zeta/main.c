/*
 * zeta: looks at GPUs through the Level Zero Tools API.
 */
#include <fcntl.h>
#include <locale.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <zeta/zeta.h>

#include "calc.h"
#include "commands.h"
#include "record.h"
#include "report.h"
#include "say.h"
#include "stat.h"
#include "trace.h"

static const char usage[] =
    "usage: zeta COMMAND\n"
    "\n"
    "  devices                     every device, and the plugin behind each part of it\n"
    "  groups [-d DEVICE] [-v]     metric groups of a device; -v: their metrics too\n"
    "  run [OPTIONS] -- PROGRAM    run a program on a device of Zeta, also through the loader\n"
    "  stat [OPTIONS] -- PROGRAM   run a program and show what the device did meanwhile\n"
    "  stat [OPTIONS] -a           show what the device does, whoever uses it, until Ctrl-C\n"
    "  trace [OPTIONS] -- PROGRAM  run a program and show which functions it called\n"
    "  record [OPTIONS] -o FILE -- PROGRAM\n"
    "                              run a program and keep everything for later\n"
    "  report [OPTIONS] FILE       what a recording holds, also of one that was killed\n"
    "  calc [OPTIONS] FILE         metric values of exported data or of a recording, without a\n"
    "                              device\n"
    "  plugin list                 every plugin found and what became of it\n"
    "  plugin show ID              everything about one plugin\n"
    "  plugin check MANIFEST       try a plugin in a process of its own\n"
    "  plugin path                 where manifests are looked for\n"
    "  doctor [OPTIONS] [-- PROGRAM]\n"
    "                              what a program would get, what is wrong, and what repairs it;\n"
    "                              exits with 1 when something keeps programs from working\n"
    "  help, --version\n"
    "\n"
    "Commands that list something take --json, or --json=FILE, to print JSON.\n"
    "\n";

/* Apart, because a string of C has its limits. */
static const char usage_of_options[] =
    "Options of calc:\n"
    "  --csv            every row instead of a table\n"
    "  --max            the greatest possible values instead of the measured ones\n"
    "  --skip N         without the first N reports of each stream\n"
    "  --tile N         only rows of this tile\n"
    "\n"
    "Options of doctor:\n"
    "  -v               every setting, not only those that somebody set\n"
    "  --wait TIME      for a driver that hangs; default: 30s\n"
    "\n"
    "Options of record, beside -d, -g, -p, --shared, -a and --for of stat:\n"
    "  -o FILE          that does not exist; what was recorded is in it at most a second later\n"
    "  -e GROUP         also the events of a group of this kind; can be repeated\n"
    "  --no-trace       without the calls of the program and its kernels\n"
    "  --max-size SIZE  of the file, such as 64M; the oldest data goes\n"
    "\n"
    "Options of report:\n"
    "  --per-kernel     what the device did while each kernel ran, and nothing else\n"
    "  --from TIME, --to TIME\n"
    "                   only what lies between, from the start of the recording, such as 1.5s\n"
    "  --csv            every row instead of tables, one table per stream\n"
    "  --json=FILE      as stat writes it, with calls, kernels, events and markers\n"
    "  --html=FILE      one page with plots, for any browser, that needs nothing else\n"
    "  --pftrace=FILE   calls, kernels, metrics and events for ui.perfetto.dev\n"
    "\n"
    "Options of run:\n"
    "  -d DEVICE        a number, an id or a name from 'zeta devices'; default: the first\n"
    "  -m, --metrics    also set ZET_ENABLE_METRICS, for a program that measures\n"
    "  -n, --print      run nothing, print the variables: env $(zeta run -n) PROGRAM\n"
    "\n"
    "Options of stat:\n"
    "  -d DEVICE        as with run\n"
    "  -g GROUP,...     groups of different domains; default: ComputeBasic\n"
    "  --replay-passes  run the program again for groups that cannot be sampled together\n"
    "  -p PERIOD        time between samples, such as 500us; default: 1ms\n"
    "  -o FILE          write the result to FILE.csv or FILE.json instead of the terminal\n"
    "  --json=FILE      also write the result to FILE as JSON\n"
    "  --ip             show where the threads of kernels spend their time, and why they wait;\n"
    "                   without -g only that\n"
    "  --shared         sample the virtual device that other processes use, not a fresh one\n"
    "  -a --for TIME    without a program, for that long, such as 10s\n"
    "\n"
    "Options of trace:\n"
    "  -o FILE          write every call, with its arguments, and what the devices did to\n"
    "                   FILE.json (Chrome) or FILE.pftrace (Perfetto); both open in\n"
    "                   ui.perfetto.dev\n"
    "  --filter GLOB    only functions with such names, 'zeCommandList*'; can be repeated\n"
    "  --limit SIZE     of what each process writes, such as 64M; later calls are lost and\n"
    "                   counted; default: 4G\n"
    "  -d DEVICE        as with run; only decides which driver the program gets\n"
    "  --from FILE      instead of a program: read what ZETA_TRACE=FILE has written; can be\n"
    "                   repeated\n"
    "\n"
    "stat and trace leave the standard output to the program and exit as the program does.\n";

/* Says what is wrong with the command line, if anything, in front of the usage. */
static int refuse(const char *word)
{
    if (word)
        (void)fprintf(stderr, "zeta: unknown command '%s'\n\n", word);
    (void)fputs(usage, stderr);
    (void)fputs(usage_of_options, stderr);
    return ZETA_EXIT_USAGE;
}

static bool asks_for_help(const char *word)
{
    return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
}

static int run(int count, char **arguments)
{
    static const struct {
        const char *name;
        int (*command)(int count, char **arguments);
    } commands[] = {
        {"calc", zeta_calc},
        {"devices", zeta_command_devices},
        {"doctor", zeta_command_doctor},
        {"groups", zeta_command_groups},
        {"plugin", zeta_command_plugin},
        {"record", zeta_record},
        {"report", zeta_report_command},
        {"run", zeta_command_run},
        {"stat", zeta_stat},
        {"trace", zeta_trace},
    };
    const char *word = count > 1 ? arguments[1] : NULL;

    if (!word)
        return refuse(NULL);
    if (strcmp(word, "help") == 0 || asks_for_help(word) ||
        (count > 2 && asks_for_help(arguments[2]))) {
        (void)fputs(usage, stdout);
        (void)fputs(usage_of_options, stdout);
        return ZETA_EXIT_OK;
    }
    for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
        if (strcmp(word, commands[i].name) == 0)
            return commands[i].command(count - 1, arguments + 1);
    }
    if (strcmp(word, "--version") == 0) {
        (void)printf("zeta %s\n", zetaGetVersion());
        return ZETA_EXIT_OK;
    }
    return refuse(word);
}

/*
 * Puts something in the place of standard streams that are closed, so that no file opened later is
 * taken for one. It fails as a closed one does: input cannot be read, output cannot be written; and
 * programs that are run find it closed.
 */
static void occupy_standard_streams(void)
{
    for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; stream++) {
        if (fcntl(stream, F_GETFD) == -1)
            (void)open("/dev/null", (stream == STDIN_FILENO ? O_WRONLY : O_RDONLY) | O_CLOEXEC);
    }
}

int main(int count, char **arguments)
{
    int status = ZETA_EXIT_OK;

    occupy_standard_streams();
    /* Only what characters the terminal shows; numbers stay as programs write them. */
    (void)setlocale(LC_CTYPE, "");
    status = run(count, arguments);
    if (fflush(stdout) != 0 && status == ZETA_EXIT_OK)
        status = zeta_say_failure("the standard output cannot be written");
    return status;
}
