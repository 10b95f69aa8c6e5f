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

static bool asks_for_help(const char *word)
{
    return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
}

/** The manual of a command; of all of them, shortly, without one. */
static int help(const char *command)
{
    if (!command || asks_for_help(command))
        zeta_help_print(stdout);
    else if (!zeta_help_print_command(command, stdout))
        return zeta_print_usage_error("unknown command '%s'", command);
    return ZETA_EXIT_OK;
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
        {"selftest", zeta_selftest_command},
        {"stat", zeta_stat},
        {"trace", zeta_trace},
    };
    const char *word = count > 1 ? arguments[1] : NULL;
    const char *replayed = getenv("ZETA_REPLAY");

    if (!word) {
        zeta_help_print(stderr);
        return ZETA_EXIT_USAGE;
    }
    if (strcmp(word, "help") == 0 || asks_for_help(word))
        return help(count > 2 ? arguments[2] : NULL);
    if (count > 2 && asks_for_help(arguments[2]))
        return help(word);
    for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
        if (strcmp(word, commands[i].name) == 0) {
            zeta_message_set_command(word);
            /* The recording that is shown as a device is an input of every command. */
            if (replayed && zeta_output_protect(replayed) != ZETA_EXIT_OK)
                return ZETA_EXIT_FAILED;
            return commands[i].command(count - 1, arguments + 1);
        }
    }
    if (strcmp(word, "--version") == 0) {
        (void)printf("zeta %s\n", zetaGetVersion());
        return ZETA_EXIT_OK;
    }
    return zeta_print_usage_error("unknown command '%s'", word);
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
