/*
 * zeta: looks at GPUs through the Level Zero Tools API.
 */
#include <fcntl.h>
#include <locale.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <zeta/zeta.h>

#include "sdk/tools/zeta/command_line/commands.h"
#include "sdk/tools/zeta/output/file.h"
#include "sdk/tools/zeta/output/message.h"

static const char overview[] =
    "usage: zeta COMMAND\n"
    "\n"
    "See what there is:\n"
    "  devices   every device, and the plugin that provides each part of it\n"
    "  groups    what can be measured on a device: metric groups, their metrics, programmables\n"
    "  plugin    every plugin and its state\n"
    "  doctor    what a program would get, what is wrong, and what repairs it\n"
    "  selftest  whether what a device counts can be true\n"
    "\n"
    "Run a program ...\n"
    "  run       on a device of Zeta, also through the official loader\n"
    "  stat      and show what the device did meanwhile, as a table of metrics\n"
    "  trace     and show which functions it called\n"
    "  record    and keep all of that in a file\n"
    "  debug     and look into its kernels with GDB\n"
    "\n"
    "Read a file:\n"
    "  report    what is in a recording, also of a program that was killed\n"
    "  calc      metric values of exported data or of a recording, without a device\n"
    "\n"
    "'zeta help COMMAND' explains one of them with its options; 'zeta --version' prints the "
    "version.\n";

static const struct command {
    const char *name;
    int (*run)(int count, char **arguments);
    const char *manual;
} commands[] = {
    {"calc", zeta_calc,
     "usage: zeta calc [OPTIONS] FILE\n"
     "\n"
     "Calculates metric values of exported data or of a recording, without a device or plugin.\n"
     "\n"
     "  -g GROUP         only the data of this group\n"
     "  --csv            every row instead of a table; a new head where another group begins\n"
     "  --json[=FILE]    the table as JSON\n"
     "  --max            the greatest possible values instead of the measured ones\n"
     "  --skip N         without the first N reports of each stream\n"
     "  --tile N         only rows of this tile\n"},
    {"debug", zeta_command_debug,
     "usage: zeta debug [OPTIONS] -- PROGRAM\n"
     "       zeta debug [OPTIONS] --pid PID\n"
     "\n"
     "Starts GDB for the kernels that a program runs: breakpoints can be set at once, 'continue'\n"
     "lets the program go on, and Zeta's commands are loaded ('help info kernels'). Quitting GDB\n"
     "ends a program that was started so, which has no input, and leaves one that was not.\n"
     "\n"
     "  -d DEVICE        number, id or name from 'zeta devices'; default: the first that can be\n"
     "                   debugged\n"
     "  --pid PID        a program that runs and has ZET_ENABLE_PROGRAM_DEBUGGING=1\n"
     "  -x FILE          commands for GDB, once it is connected\n"
     "  --batch          end with them\n"
     "  --gdb PROGRAM    default: gdb-multiarch\n"},
    {"devices", zeta_command_devices,
     "usage: zeta devices [--json[=FILE]]\n"
     "\n"
     "Shows every device, the plugin that provides each part of it, its topology and clocks.\n"},
    {"doctor", zeta_command_doctor,
     "usage: zeta doctor [OPTIONS] [-- PROGRAM]\n"
     "\n"
     "Shows what a program would get, what is wrong, and what repairs it. Exits with 1 when\n"
     "something keeps programs from working.\n"
     "\n"
     "  -v               every setting, not only those that are set\n"
     "  --pid PID        whether a debugger can attach to this process, and why not\n"
     "  --wait TIME      wait so long for a driver that hangs; default: 30s\n"
     "  --json[=FILE]    the report as JSON\n"},
    {"groups", zeta_command_groups,
     "usage: zeta groups [-d DEVICE] [-v] [--json[=FILE]]\n"
     "\n"
     "Shows what can be measured on a device: its metric groups, and its programmables, from\n"
     "which programs make metrics of their own.\n"
     "\n"
     "  -d DEVICE        number, id or name from 'zeta devices' (0.1: a tile); default: the first\n"
     "  -v               every metric and parameter too, and where it is described\n"},
    {"plugin", zeta_command_plugin,
     "usage: zeta plugin list [--json[=FILE]]\n"
     "       zeta plugin show ID [--json[=FILE]]\n"
     "       zeta plugin check MANIFEST\n"
     "       zeta plugin path\n"
     "\n"
     "  list             every plugin and its state\n"
     "  show ID          everything about one plugin\n"
     "  check MANIFEST   try a plugin in a process of its own\n"
     "  path             where manifests are searched\n"},
    {"record", zeta_record,
     "usage: zeta record [OPTIONS] -o FILE -- PROGRAM\n"
     "       zeta record [OPTIONS] -o FILE -a\n"
     "\n"
     "Runs a program and keeps samples, events, calls, kernels and clocks. Leaves the standard\n"
     "output to the program and exits as the program does.\n"
     "\n"
     "  -o FILE          new or empty; what was recorded is in it at most a second later\n"
     "  --force          -o may name a file that exists; it is replaced\n"
     "  -g GROUP,...     groups of different domains; default: ComputeBasic\n"
     "  -e GROUP,...     also the events of groups with sampling 'tracer'\n"
     "  -p PERIOD        time between samples, such as 500us; default: 1ms\n"
     "  -d DEVICE        number, id or name from 'zeta devices' (0.1: a tile); default: the first\n"
     "  --no-trace       without the calls of the program and its kernels\n"
     "  --max-size SIZE  of the file, such as 64M; new data replaces the oldest\n"
     "  --shared         sample the virtual device that other processes use, not a fresh one\n"
     "  -a               without a program: everything on the device, until Ctrl-C\n"
     "  --for TIME       with -a: for that long, such as 10s\n"},
    {"report", zeta_report_command,
     "usage: zeta report [OPTIONS] FILE\n"
     "\n"
     "Shows what is in a recording, also one of a program that was killed.\n"
     "\n"
     "  --per-kernel     also what the device did while each kernel ran and no other work did\n"
     "  --from TIME, --to TIME\n"
     "                   only this range, from the start of the recording, such as 1.5s\n"
     "  --csv            every row instead of tables; a new head where another stream begins\n"
     "  --json[=FILE]    as stat writes it, with calls, kernels, events and markers\n"
     "  --html=FILE      one page with plots, for any browser, that needs nothing else\n"
     "  --pftrace=FILE   calls, kernels, metrics and events for ui.perfetto.dev\n"},
    {"run", zeta_command_run,
     "usage: zeta run [OPTIONS] -- PROGRAM\n"
     "\n"
     "Runs a program on a device of Zeta, also one that uses the official loader.\n"
     "\n"
     "  -d DEVICE        a number, an id or a name from 'zeta devices'; default: the first\n"
     "  -m, --metrics    also set ZET_ENABLE_METRICS, for a program that measures\n"
     "  -n, --print      run nothing, print the variables: env $(zeta run -n) PROGRAM\n"},
    {"selftest", zeta_selftest_command,
     "usage: zeta selftest [OPTIONS] [PLUGIN]\n"
     "\n"
     "Checks in a few seconds whether what devices count can be true: clocks run at their\n"
     "stated rate, samples come in time and none is lost, the core clock is possible, the\n"
     "counters of the group TestOa have their proportions, a query gives the time that it\n"
     "encloses. Exits with 1 when something is wrong.\n"
     "\n"
     "  PLUGIN           only devices of this plugin, or of plugins that begin so: intel\n"
     "  -d DEVICE        number, id or name from 'zeta devices' (0.1: a tile); default: all\n"
     "  -p PERIOD        time between samples, such as 500us; default: 1ms\n"
     "  --for TIME       of sampling each group; default: 1s\n"},
    {"stat", zeta_stat,
     "usage: zeta stat [OPTIONS] -- PROGRAM\n"
     "       zeta stat [OPTIONS] -a\n"
     "\n"
     "Samples a device while a program runs and shows what it did meanwhile. Leaves the standard\n"
     "output to the program and exits as the program does.\n"
     "\n"
     "  -g GROUP,...     groups of different domains; default: ComputeBasic\n"
     "  --replay-passes  run the program again for groups that cannot be sampled together\n"
     "  -p PERIOD        time between samples, such as 500us; default: 1ms\n"
     "  -o FILE          write the result to FILE, named .csv or .json, instead of the terminal\n"
     "  --json=FILE      also write the result to FILE as JSON\n"
     "  --ip             show where the threads of kernels spend their time, and why they wait;\n"
     "                   without -g only that\n"
     "  -d DEVICE        number, id or name from 'zeta devices' (0.1: a tile); default: the first\n"
     "  --shared         sample the virtual device that other processes use, not a fresh one\n"
     "  -a               without a program: everything on the device, until Ctrl-C\n"
     "  --for TIME       with -a: for that long, such as 10s\n"},
    {"trace", zeta_trace,
     "usage: zeta trace [OPTIONS] -- PROGRAM\n"
     "       zeta trace [OPTIONS] --from FILE\n"
     "\n"
     "Runs a program and shows which functions it called, and what the devices did. Leaves the\n"
     "standard output to the program and exits as the program does.\n"
     "\n"
     "  -o FILE          write every call, with its arguments, and what the devices did to\n"
     "                   FILE.json (Chrome) or FILE.pftrace (Perfetto); both open in\n"
     "                   ui.perfetto.dev\n"
     "  --filter GLOB    only functions with such names, 'zeCommandList*'; can be repeated\n"
     "  --limit SIZE     of what each process writes, such as 64M; later calls are lost and\n"
     "                   counted; default: 4G\n"
     "  -d DEVICE        a number, an id or a name from 'zeta devices'; only decides which\n"
     "                   driver the program gets\n"
     "  --from FILE      instead of a program: read what ZETA_TRACE=FILE has written; can be\n"
     "                   repeated\n"},
};

static const struct command *find_command(const char *name)
{
    for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
        if (strcmp(commands[i].name, name) == 0)
            return &commands[i];
    }
    return NULL;
}

static bool asks_for_help(const char *word)
{
    return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
}

static int run(int count, char **arguments)
{
    const char *word = count > 1 ? arguments[1] : NULL;
    const char *next = count > 2 ? arguments[2] : NULL;
    const char *replayed = getenv("ZETA_REPLAY");
    const struct command *command;

    if (!word) {
        (void)fputs(overview, stderr);
        return ZETA_EXIT_USAGE;
    }
    if (strcmp(word, "--version") == 0) {
        (void)printf("zeta %s\n", zetaGetVersion());
        return ZETA_EXIT_OK;
    }
    if (strcmp(word, "help") == 0 || asks_for_help(word)) {
        if (!next || asks_for_help(next)) {
            (void)fputs(overview, stdout);
            return ZETA_EXIT_OK;
        }
        word = next;
        next = "--help";
    }
    command = find_command(word);
    if (!command)
        return zeta_print_usage_error("unknown command '%s'", word);
    if (next && asks_for_help(next)) {
        (void)fputs(command->manual, stdout);
        return ZETA_EXIT_OK;
    }
    zeta_message_set_command(word);
    /* The recording that is shown as a device is an input of every command. */
    if (replayed && zeta_output_protect(replayed) != ZETA_EXIT_OK)
        return ZETA_EXIT_FAILED;
    return command->run(count - 1, arguments + 1);
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
        status = zeta_print_failure("cannot write the standard output");
    return status;
}
