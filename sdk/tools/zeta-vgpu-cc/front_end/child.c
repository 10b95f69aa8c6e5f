#include "front_end.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* A file without a name, open at its begin; -1 when there is none. */
static int memory_file(const char *name, const void *bytes, size_t size)
{
    int file = memfd_create(name, MFD_CLOEXEC);

    if (file < 0)
        return -1;
    if (!zeta_cc_write(file, bytes, size)) {
        (void)close(file);
        return -1;
    }
    (void)lseek(file, 0, SEEK_SET);
    return file;
}

/*
 * Nothing that the caller set changes how modules are compiled. Signals are as after login: the
 * caller may have blocked or ignored some.
 */
static int spawn(struct zeta_cc_child *child, const struct zeta_cc_strings *arguments)
{
    static char locale[] = "LC_ALL=C", path[] = "PATH=/usr/bin:/bin";
    char *const environment[] = {locale, path, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t signals;
    int error;

    if (posix_spawn_file_actions_init(&actions) != 0)
        return ENOMEM;
    if (posix_spawnattr_init(&attributes) != 0) {
        (void)posix_spawn_file_actions_destroy(&actions);
        return ENOMEM;
    }
    (void)sigemptyset(&signals);
    (void)posix_spawnattr_setsigmask(&attributes, &signals);
    (void)sigfillset(&signals);
    (void)posix_spawnattr_setsigdefault(&attributes, &signals);
    (void)posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    error = posix_spawn_file_actions_adddup2(&actions, child->input, STDIN_FILENO);
    if (error == 0)
        error = posix_spawn_file_actions_adddup2(&actions, child->output, STDOUT_FILENO);
    if (error == 0)
        error = posix_spawn_file_actions_adddup2(&actions, child->messages, STDERR_FILENO);
    if (error == 0)
        error = posix_spawn(&child->process, arguments->list[0], &actions, &attributes,
                            arguments->list, environment);
    (void)posix_spawn_file_actions_destroy(&actions);
    (void)posix_spawnattr_destroy(&attributes);
    return error;
}

void zeta_cc_child_start(struct zeta_cc_child *child, const struct zeta_cc_strings *arguments,
                         const void *input, size_t size)
{
    struct rlimit limit;

    *child = (struct zeta_cc_child){.input = memory_file("input", input, size),
                                    .output = memory_file("output", NULL, 0),
                                    .messages = memory_file("messages", NULL, 0)};
    if (child->input < 0 || child->output < 0 || child->messages < 0)
        child->error = errno ? errno : ENOMEM;
    else
        child->error = spawn(child, arguments);
    if (child->error != 0) {
        child->process = 0;
        return;
    }
    /*
     * A few wrong bits of a module make a translator ask for all the memory of the machine. It
     * cannot have the limit before it starts, but takes longer than this to load its libraries.
     */
    if (prlimit(child->process, RLIMIT_AS, NULL, &limit) == 0 &&
        limit.rlim_cur > ZETA_CC_CHILD_MEMORY_BYTES) {
        limit.rlim_cur = ZETA_CC_CHILD_MEMORY_BYTES;
        (void)prlimit(child->process, RLIMIT_AS, &limit, NULL);
    }
}

enum zeta_cc_child_end zeta_cc_child_end(struct zeta_cc_child *child,
                                         struct zeta_cc_buffer *out_output,
                                         struct zeta_cc_buffer *out_messages)
{
    const int files[] = {child->input, child->output, child->messages};
    enum zeta_cc_child_end end = ZETA_CC_CHILD_MISSING;

    if (child->process > 0) {
        while (waitpid(child->process, &child->status, 0) < 0 && errno == EINTR)
            continue;
        end = !WIFEXITED(child->status)         ? ZETA_CC_CHILD_CRASHED
              : WEXITSTATUS(child->status) == 0 ? ZETA_CC_CHILD_FINE
                                                : ZETA_CC_CHILD_FAILED;
        /* The child wrote through the same position. */
        (void)lseek(child->output, 0, SEEK_SET);
        (void)lseek(child->messages, 0, SEEK_SET);
        (void)zeta_cc_buffer_read(out_output, child->output);
        (void)zeta_cc_buffer_read(out_messages, child->messages);
    }
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        if (files[i] >= 0)
            (void)close(files[i]);
    }
    child->process = 0;
    return end;
}
