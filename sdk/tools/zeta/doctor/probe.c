/* Helper programs that may crash or hang, zeta-probe above all, and what its answers mean. */

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <zeta/clock.h>

#include "sdk/tools/zeta/doctor/doctor.h"
#include "sdk/tools/zeta/output/message.h"
#include "sdk/tools/zeta/output/text.h"
#include "sdk/tools/zeta/program/program.h"

enum { MOST_OUTPUT_BYTES = 1 << 20 };

static int64_t now_ms(void)
{
    return (int64_t)(zeta_monotonic_ns() / 1000000);
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
        if (got == 0 || (got < 0 && errno != EINTR))
            return true;
        if (got > 0)
            answer->output_size += (size_t)got;
    }
}

void zeta_doctor_run(char **arguments, int input, int stream, uint64_t patience_ns,
                     struct zeta_doctor_answer *out_answer)
{
    const int64_t end_ms = now_ms() + (int64_t)(patience_ns / 1000000);
    const struct timespec pause = {.tv_nsec = 2000000};
    /* A recorder that the environment asks for is meant for the program of the user. */
    static const char *const dropped[] = {"ZETA_TRACE", NULL};
    char **variables;
    int ends[2];
    pid_t pid = 0;
    bool is_in_time;

    *out_answer = (struct zeta_doctor_answer){.output = zeta_allocate(1, MOST_OUTPUT_BYTES + 1)};
    (void)signal(SIGCHLD, SIG_DFL); /* ignored it would take the exit status away */
    if (pipe2(ends, O_CLOEXEC) != 0) {
        out_answer->start_error = errno;
        return;
    }
    variables = zeta_environment_copy(environ, dropped, NULL, 0);
    out_answer->start_error = start(arguments, variables, input, stream, ends[1], &pid);
    (void)close(ends[1]);
    if (!out_answer->start_error) {
        is_in_time = collect(ends[0], end_ms, out_answer);
        /* What closed its output may still not end. */
        while (is_in_time && waitpid(pid, &out_answer->wait_status, WNOHANG) == 0) {
            is_in_time = now_ms() < end_ms;
            (void)nanosleep(&pause, NULL);
        }
        if (!is_in_time) {
            out_answer->hung = true;
            (void)kill(-pid, SIGKILL);
            (void)waitpid(pid, &out_answer->wait_status, 0);
        }
    }
    (void)close(ends[0]);
    free(variables);
}

/* One line; unknown words are passed over. */
static void take(struct zeta_doctor_probe *probe, char *line, bool *out_is_end)
{
    const struct {
        const char *word;
        char **text;
    } texts[] = {{"step", &probe->step},
                 {"library", &probe->library},
                 {"version", &probe->version},
                 {"zeta", &probe->zeta},
                 {"error", &probe->error}};
    char *value = line + strcspn(line, " ");

    if (*value)
        *value++ = '\0';
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        if (strcmp(line, texts[i].word) == 0) {
            free(*texts[i].text);
            *texts[i].text = zeta_format("%s", value);
        }
    }
    if (strcmp(line, "device") == 0) {
        const char *name = strchr(value, ' ');

        probe->devices =
            zeta_reallocate(probe->devices, probe->device_count + 1, sizeof(*probe->devices));
        probe->devices[probe->device_count++] = zeta_format("%s", name ? name + 1 : value);
    } else if (strcmp(line, "init") == 0) {
        probe->has_init = true;
        probe->init = (uint32_t)strtoul(value, NULL, 16);
    } else if (strcmp(line, "end") == 0) {
        *out_is_end = true;
    }
}

static void read_answer(struct zeta_doctor_probe *probe, struct zeta_doctor_answer *answer,
                        const char *program, uint64_t patience_ns)
{
    const char *step = "starting";
    char *error = NULL;
    bool is_end = false;
    char *rest = NULL;

    if (answer->start_error) {
        probe->outcome = ZETA_DOCTOR_UNTRIED;
        probe->error = zeta_format("cannot run %s: %s", program, strerror(answer->start_error));
        return;
    }
    for (char *line = strtok_r(answer->output, "\n", &rest); line;
         line = strtok_r(NULL, "\n", &rest))
        take(probe, line, &is_end);
    if (probe->step)
        step = probe->step;
    if (answer->hung) {
        char patience[ZETA_DURATION_TEXT_BYTES];

        zeta_duration_format(patience_ns, patience);
        probe->outcome = ZETA_DOCTOR_HUNG;
        error = zeta_format("it does not return within %s from this step: %s", patience, step);
    } else if (WIFSIGNALED(answer->wait_status)) {
        probe->outcome = ZETA_DOCTOR_CRASHED;
        error = zeta_format("it crashes (%s) at this step: %s",
                            strsignal(WTERMSIG(answer->wait_status)), step);
    } else if (is_end) {
        probe->outcome = ZETA_DOCTOR_WORKED;
    } else if (probe->error && !probe->library && strstr(probe->error, "No such file")) {
        probe->outcome = ZETA_DOCTOR_ABSENT;
    } else {
        probe->outcome = ZETA_DOCTOR_REFUSED;
        if (!probe->error)
            error = zeta_format("the process ends with exit status %d at this step: %s",
                                WEXITSTATUS(answer->wait_status), step);
    }
    if (error) {
        free(probe->error);
        probe->error = error;
    }
}

void zeta_doctor_probe_library(const struct zeta_doctor *doctor, const char *driver_path,
                               struct zeta_doctor_probe *out_probe)
{
    char loader[] = "loader";
    char driver[] = "driver";
    char *path = zeta_format("%s/libexec/zeta/zeta-probe", doctor->root);
    char *copy = driver_path ? zeta_format("%s", driver_path) : NULL;
    char *arguments[] = {path, copy ? driver : loader, copy, NULL};
    struct zeta_doctor_answer answer;
    const char *suffix;

    *out_probe = (struct zeta_doctor_probe){0};
    zeta_doctor_run(arguments, -1, STDOUT_FILENO, doctor->patience_ns, &answer);
    read_answer(out_probe, &answer, path, doctor->patience_ns);
    /* "libze_loader.so.1.8.0" -> "1.8.0": a loader that knows no driver does not report it. */
    suffix = !copy && out_probe->library ? strstr(out_probe->library, ".so.") : NULL;
    if (suffix && !out_probe->version)
        out_probe->version = zeta_format("%s", suffix + strlen(".so."));
    free(answer.output);
    free(copy);
    free(path);
}

void zeta_doctor_probe_finish(struct zeta_doctor_probe *probe)
{
    for (size_t i = 0; i < probe->device_count; i++)
        free(probe->devices[i]);
    free(probe->devices);
    free(probe->library);
    free(probe->version);
    free(probe->zeta);
    free(probe->step);
    free(probe->error);
    *probe = (struct zeta_doctor_probe){0};
}
