#include "sdk/tools/zeta/doctor/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <zeta/clock.h>

enum { MOST_OUTPUT_BYTES = 1 << 20 };

static int64_t now_ms(void)
{
    return (int64_t)(zeta_monotonic_ns() / 1000000);
}

/* A recorder that the environment asks for is meant for the program of the user. */
static char **quiet_environment(void)
{
    size_t count = 0;
    char **variables;
    char **end;

    while (environ[count])
        count++;
    end = variables = calloc(count + 1, sizeof(*variables));
    for (size_t i = 0; variables && i < count; i++) {
        if (strncmp(environ[i], "ZETA_TRACE=", strlen("ZETA_TRACE=")) != 0)
            *end++ = environ[i];
    }
    return variables;
}

static int start(char **arguments, char **variables, int input, int stream, int fd, pid_t *out_pid)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int error = posix_spawn_file_actions_init(&actions);

    if (error)
        return error;
    error = posix_spawnattr_init(&attributes);
    if (error) {
        (void)posix_spawn_file_actions_destroy(&actions);
        return error;
    }
    /* Its own group: what it starts goes with it. */
    (void)posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    if (input < 0)
        (void)posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    else
        (void)posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
    (void)posix_spawn_file_actions_addopen(&actions,
                                           stream == STDOUT_FILENO ? STDERR_FILENO : STDOUT_FILENO,
                                           "/dev/null", O_WRONLY, 0);
    (void)posix_spawn_file_actions_adddup2(&actions, fd, stream);
    error = posix_spawn(out_pid, arguments[0], &actions, &attributes, arguments, variables);
    (void)posix_spawnattr_destroy(&attributes);
    (void)posix_spawn_file_actions_destroy(&actions);
    return error;
}

/* Until the other end is closed or the time is over; true when it was closed. */
static bool collect(int fd, int64_t end_ms, struct zeta_doctor_answer *answer)
{
    for (;;) {
        struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
        const int64_t left = end_ms - now_ms();
        const size_t room = MOST_OUTPUT_BYTES - answer->output_size;
        ssize_t got;

        if (left <= 0 || room == 0)
            return false;
        if (poll(&poll_fd, 1, (int)left) <= 0)
            continue;
        got = read(fd, answer->output + answer->output_size, room);
        if (got == 0)
            return true;
        if (got > 0)
            answer->output_size += (size_t)got;
        else if (errno != EINTR)
            return true;
    }
}

/* What closed its output may still not end. */
static void end(pid_t pid, bool is_done, int64_t end_ms, struct zeta_doctor_answer *answer)
{
    while (is_done && waitpid(pid, &answer->wait_status, WNOHANG) == 0) {
        const struct timespec pause = {.tv_nsec = 2000000};

        is_done = now_ms() < end_ms;
        (void)nanosleep(&pause, NULL);
    }
    if (is_done)
        return;
    answer->hung = true;
    (void)kill(-pid, SIGKILL);
    (void)waitpid(pid, &answer->wait_status, 0);
}

bool zeta_doctor_run(char **arguments, int input, int stream, uint64_t patience_ns,
                     struct zeta_doctor_answer *out_answer)
{
    const int64_t end_ms = now_ms() + (int64_t)(patience_ns / 1000000);
    char **variables = quiet_environment();
    int ends[2] = {-1, -1};
    pid_t pid = 0;
    bool is_ready;

    *out_answer = (struct zeta_doctor_answer){0};
    (void)signal(SIGCHLD, SIG_DFL); /* ignored it would take the exit status away */
    out_answer->output = calloc(1, MOST_OUTPUT_BYTES + 1);
    is_ready = variables && out_answer->output && pipe2(ends, O_CLOEXEC) == 0;
    if (is_ready) {
        out_answer->start_error = start(arguments, variables, input, stream, ends[1], &pid);
        (void)close(ends[1]);
        if (!out_answer->start_error)
            end(pid, collect(ends[0], end_ms, out_answer), end_ms, out_answer);
        (void)close(ends[0]);
    }
    free(variables);
    return is_ready;
}
