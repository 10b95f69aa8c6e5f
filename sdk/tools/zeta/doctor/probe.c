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
    /* A recorder that the environment asks for is meant for the program of the user. */
    static const char *const dropped[] = {"ZETA_TRACE", NULL};
    char **variables = zeta_environment_copy(environ, dropped, NULL, 0);
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

#define PROBE_PATH "/libexec/zeta/zeta-probe"

static bool replace(char **text, const char *value)
{
    free(*text);
    *text = strdup(value);
    return *text != NULL;
}

static bool add_device(struct zeta_doctor_probe *probe, const char *value)
{
    char **devices = realloc(probe->devices, (probe->device_count + 1) * sizeof(*devices));
    const char *name = strchr(value, ' ');

    if (!devices)
        return false;
    probe->devices = devices;
    devices[probe->device_count] = strdup(name ? name + 1 : value);
    if (!devices[probe->device_count])
        return false;
    probe->device_count++;
    return true;
}

/* One line; unknown words are passed over. */
static bool take(struct zeta_doctor_probe *probe, char *line, bool *out_is_end)
{
    const struct {
        const char *word;
        char **text;
    } texts[] = {{"step", &probe->step},
                 {"library", &probe->library},
                 {"version", &probe->version},
                 {"zeta", &probe->zeta},
                 {"error", &probe->error}};
    char *value = strchr(line, ' ');

    if (value)
        *value++ = '\0';
    else
        value = line + strlen(line);
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        if (strcmp(line, texts[i].word) == 0)
            return replace(texts[i].text, value);
    }
    if (strcmp(line, "device") == 0)
        return add_device(probe, value);
    if (strcmp(line, "init") == 0) {
        probe->has_init = true;
        probe->init = (uint32_t)strtoul(value, NULL, 16);
    }
    if (strcmp(line, "end") == 0)
        *out_is_end = true;
    return true;
}

/* "libze_loader.so.1.8.0" -> "1.8.0": a loader that knows no driver does not report it. */
static bool guess_version(struct zeta_doctor_probe *probe)
{
    const char *suffix = probe->library ? strstr(probe->library, ".so.") : NULL;

    if (probe->version || !suffix)
        return true;
    return replace(&probe->version, suffix + strlen(".so."));
}

static void judge(struct zeta_doctor_probe *probe, const struct zeta_doctor_answer *answer,
                  bool is_end)
{
    if (answer->hung)
        probe->outcome = ZETA_DOCTOR_HUNG;
    else if (WIFSIGNALED(answer->wait_status))
        probe->outcome = ZETA_DOCTOR_CRASHED;
    else if (is_end)
        probe->outcome = ZETA_DOCTOR_WORKED;
    else if (probe->error && !probe->library && strstr(probe->error, "No such file"))
        probe->outcome = ZETA_DOCTOR_ABSENT;
    else
        probe->outcome = ZETA_DOCTOR_REFUSED;
}

static bool explain(struct zeta_doctor_probe *probe, const struct zeta_doctor_answer *answer,
                    uint64_t patience_ns)
{
    const char *step = probe->step ? probe->step : "starting";
    char patience[ZETA_DURATION_TEXT_BYTES];
    char *sentence = NULL;
    int length = 0;

    zeta_duration_format(patience_ns, patience);
    if (probe->outcome == ZETA_DOCTOR_HUNG)
        length =
            asprintf(&sentence, "it does not return within %s from this step: %s", patience, step);
    else if (probe->outcome == ZETA_DOCTOR_CRASHED)
        length = asprintf(&sentence, "it crashes (%s) at this step: %s",
                          strsignal(WTERMSIG(answer->wait_status)), step);
    else if (probe->outcome == ZETA_DOCTOR_REFUSED && !probe->error)
        length = asprintf(&sentence, "the process ends with exit status %d at this step: %s",
                          WEXITSTATUS(answer->wait_status), step);
    else
        return true;
    if (length < 0)
        return false;
    free(probe->error);
    probe->error = sentence;
    return true;
}

static bool read_answer(struct zeta_doctor_probe *probe, struct zeta_doctor_answer *answer,
                        const char *program, uint64_t patience_ns)
{
    bool is_end = false;
    char *rest = NULL;

    if (answer->start_error) {
        probe->outcome = ZETA_DOCTOR_UNTRIED;
        if (asprintf(&probe->error, "cannot run %s: %s", program, strerror(answer->start_error)) >=
            0)
            return true;
        probe->error = NULL;
        return false;
    }
    for (char *line = strtok_r(answer->output, "\n", &rest); line;
         line = strtok_r(NULL, "\n", &rest)) {
        if (!take(probe, line, &is_end))
            return false;
    }
    judge(probe, answer, is_end);
    return explain(probe, answer, patience_ns);
}

bool zeta_doctor_probe_library(const struct zeta_doctor *doctor, const char *driver_path,
                               struct zeta_doctor_probe *out_probe)
{
    char loader[] = "loader";
    char driver[] = "driver";
    struct zeta_doctor_answer answer = {0};
    char *path = NULL;
    char *copy = driver_path ? strdup(driver_path) : NULL;
    bool is_well = false;

    *out_probe = (struct zeta_doctor_probe){0};
    if ((copy || !driver_path) && asprintf(&path, "%s" PROBE_PATH, doctor->root) >= 0) {
        char *arguments[] = {path, copy ? driver : loader, copy, NULL};

        is_well = zeta_doctor_run(arguments, -1, STDOUT_FILENO, doctor->patience_ns, &answer) &&
                  read_answer(out_probe, &answer, path, doctor->patience_ns) &&
                  (copy || guess_version(out_probe));
        free(path);
    }
    free(answer.output);
    free(copy);
    return is_well;
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
