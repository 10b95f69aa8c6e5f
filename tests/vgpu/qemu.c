#include "qemu.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* A nameless temporary file with the given content. */
static FILE *file_with(const void *bytes, size_t size)
{
    FILE *file = tmpfile();

    if (!file)
        return NULL;
    if (fwrite(bytes, 1, size, file) != size || fflush(file) != 0) {
        (void)fclose(file);
        return NULL;
    }
    rewind(file);
    return file;
}

static bool spawn_and_wait(const char *program, FILE *input, FILE *output)
{
    char *arguments[] = {(char *)QEMU_PROGRAM, (char *)program, NULL};
    posix_spawn_file_actions_t actions;
    int status = -1;
    pid_t pid;
    bool started;

    if (posix_spawn_file_actions_init(&actions) != 0)
        return false;
    (void)posix_spawn_file_actions_adddup2(&actions, fileno(input), STDIN_FILENO);
    (void)posix_spawn_file_actions_adddup2(&actions, fileno(output), STDOUT_FILENO);
    started = posix_spawn(&pid, QEMU_PROGRAM, &actions, NULL, arguments, environ) == 0;
    posix_spawn_file_actions_destroy(&actions);
    if (!started || waitpid(pid, &status, 0) != pid)
        return false;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static bool read_back(FILE *file, void **out_bytes, size_t *out_size)
{
    struct stat stat;
    void *bytes;

    if (fstat(fileno(file), &stat) != 0)
        return false;
    bytes = malloc((size_t)stat.st_size + 1);
    if (!bytes)
        return false;
    rewind(file);
    if (fread(bytes, 1, (size_t)stat.st_size, file) != (size_t)stat.st_size) {
        free(bytes);
        return false;
    }
    *out_bytes = bytes;
    *out_size = (size_t)stat.st_size;
    return true;
}

bool qemu_run(const char *program, const void *input, size_t input_bytes, void **out_output,
              size_t *out_output_bytes)
{
    FILE *in = file_with(input, input_bytes);
    FILE *out = tmpfile();
    bool fine = in && out && spawn_and_wait(program, in, out) &&
                read_back(out, out_output, out_output_bytes);

    if (in)
        (void)fclose(in);
    if (out)
        (void)fclose(out);
    return fine;
}
