#include "run.h"
#include "tests/support/compare.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NAME_BYTES = 512, NAMES = 8, MAX_WORDS = 32 };

extern char **environ;

static char folder[NAME_BYTES];

struct stream {
    int file;
    char *bytes;
    size_t size;
};

static void grow(struct stream *stream)
{
    char part[16384];
    ssize_t got = read(stream->file, part, sizeof(part));

    if (got <= 0) {
        (void)close(stream->file);
        stream->file = -1;
        return;
    }
    stream->bytes = realloc(stream->bytes, stream->size + (size_t)got + 1);
    assert_non_null(stream->bytes);
    memcpy(stream->bytes + stream->size, part, (size_t)got);
    stream->size += (size_t)got;
    stream->bytes[stream->size] = '\0';
}

/* Writes and reads at once: nobody waits for the other. */
static void exchange(int input, const char *bytes, size_t size, struct stream streams[2])
{
    while (streams[0].file >= 0 || streams[1].file >= 0) {
        struct pollfd polled[3] = {
            {streams[0].file, POLLIN, 0}, {streams[1].file, POLLIN, 0}, {input, POLLOUT, 0}};

        assert_true(poll(polled, 3, -1) > 0 || errno == EINTR);
        for (int i = 0; i < 2; i++) {
            if (streams[i].file >= 0 && polled[i].revents)
                grow(&streams[i]);
        }
        if (input >= 0 && polled[2].revents) {
            size_t part = size < 4096 ? size : 4096;
            ssize_t written = part ? write(input, bytes, part) : 0;

            if (written > 0) {
                bytes += written;
                size -= (size_t)written;
            }
            if (size == 0 || written <= 0) {
                (void)close(input);
                input = -1;
            }
        }
    }
    if (input >= 0)
        (void)close(input);
}

void run_program(struct run_result *result, char *const *words, const void *input, size_t size)
{
    posix_spawn_file_actions_t actions;
    struct stream streams[2] = {0};
    int in[2], out[2], err[2];
    pid_t child;

    (void)signal(SIGPIPE, SIG_IGN);
    assert_int_equal(pipe2(in, O_CLOEXEC), 0);
    assert_int_equal(pipe2(out, O_CLOEXEC), 0);
    assert_int_equal(pipe2(err, O_CLOEXEC), 0);
    assert_int_equal(posix_spawn_file_actions_init(&actions), 0);
    assert_int_equal(posix_spawn_file_actions_adddup2(&actions, in[0], 0), 0);
    assert_int_equal(posix_spawn_file_actions_adddup2(&actions, out[1], 1), 0);
    assert_int_equal(posix_spawn_file_actions_adddup2(&actions, err[1], 2), 0);
    assert_int_equal(posix_spawn(&child, words[0], &actions, NULL, words, environ), 0);
    (void)posix_spawn_file_actions_destroy(&actions);
    (void)close(in[0]);
    (void)close(out[1]);
    (void)close(err[1]);
    streams[0].file = out[0];
    streams[1].file = err[0];
    exchange(in[1], input, size, streams);
    assert_int_equal(waitpid(child, &result->status, 0), child);
    result->output = streams[0].bytes ? streams[0].bytes : strdup("");
    result->output_size = streams[0].size;
    result->messages = streams[1].bytes ? streams[1].bytes : strdup("");
}

void run_finish(struct run_result *result)
{
    free(result->output);
    free(result->messages);
    *result = (struct run_result){0};
}

int run_exit(const struct run_result *result)
{
    return WIFEXITED(result->status) ? WEXITSTATUS(result->status) : -1;
}

const char *run_folder(void)
{
    if (!folder[0]) {
        (void)snprintf(folder, sizeof(folder), "/tmp/zeta-cc-test-XXXXXX");
        assert_non_null(mkdtemp(folder));
    }
    return folder;
}

const char *run_path(const char *name)
{
    static char paths[NAMES][NAME_BYTES + 128];
    static unsigned next;
    char *path = paths[next++ % NAMES];

    (void)snprintf(path, NAME_BYTES + 128, "%s/%s", run_folder(), name);
    return path;
}

const char *run_file(const char *name, const char *text)
{
    const char *path = run_path(name);
    FILE *file = fopen(path, "wb");

    assert_non_null(file);
    assert_cmp(fputs(text, file), >=, 0);
    assert_int_equal(fclose(file), 0);
    return path;
}

int run_clean(void **state)
{
    DIR *directory = folder[0] ? opendir(folder) : NULL;
    struct dirent *entry;

    (void)state;
    while (directory && (entry = readdir(directory)) != NULL) {
        if (entry->d_name[0] != '.')
            (void)unlink(run_path(entry->d_name));
    }
    if (directory)
        (void)closedir(directory);
    if (folder[0])
        (void)rmdir(folder);
    folder[0] = '\0';
    return 0;
}

int run_compiler(struct run_result *result, ...)
{
    static char program[] = COMPILER;
    char *words[MAX_WORDS] = {program};
    va_list arguments;
    int count = 1;

    va_start(arguments, result);
    while (count < MAX_WORDS - 1 && (words[count] = va_arg(arguments, char *)) != NULL)
        count++;
    va_end(arguments);
    run_program(result, words, NULL, 0);
    return run_exit(result);
}
