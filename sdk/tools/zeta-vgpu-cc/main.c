/*
 * zeta-vgpu-cc: the compiler of the virtual GPU. As a command see --help; with --serve it answers
 * one request of the plugin.
 */
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"

/* The folder of the program's data: from <prefix>/libexec/zeta/<program> to <prefix>/share. */
static bool find_data(struct zeta_cc_buffer *out_folder)
{
    char path[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);

    if (length <= 0)
        return false;
    path[length] = '\0';
    for (int i = 0; i < 3; i++) {
        char *slash = strrchr(path, '/');

        if (!slash)
            return false;
        *slash = '\0';
    }
    zeta_cc_buffer_print(out_folder, "%s/%s", path, ZETA_CC_DATA);
    return true;
}

int main(int count, char **arguments)
{
    struct zeta_cc_paths paths = {
        .clang = ZETA_CC_CLANG, .translator = ZETA_CC_TRANSLATOR, .linker = ZETA_CC_LINKER};
    struct zeta_cc_buffer data = {0};
    struct zeta_cc_command command;
    int status;

    (void)signal(SIGCHLD, SIG_DFL); /* ignored it would take exit statuses away */
    if (!find_data(&data)) {
        (void)fputs("zeta-vgpu-cc: does not find its own file; is /proc mounted?\n", stderr);
        return ZETA_CC_EXIT_FAILED;
    }
    paths.data = data.bytes;
    if (count == 2 && strcmp(arguments[1], "--serve") == 0) {
        (void)signal(SIGPIPE, SIG_IGN);
        status = zeta_cc_serve(&paths);
    } else {
        status = zeta_cc_command_read(&command, count - 1, arguments + 1);
        if (status == ZETA_CC_EXIT_OK)
            status = zeta_cc_command_run(&command, &paths);
        zeta_cc_command_finish(&command);
    }
    zeta_cc_buffer_finish(&data);
    return status;
}
