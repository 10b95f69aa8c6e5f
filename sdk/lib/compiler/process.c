/*
 * The process of the compiler. It belongs to an application that may collect the status of any
 * child, ignore SIGCHLD, have closed its standard streams, or use signals for purposes of its own;
 * so nothing here depends on how the process ends, and no signal reaches the application except
 * the one about a child.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <zeta/descriptor.h>
#include <zeta/thread.h>

#include "compiler_priv.h"

enum {
    NOISE_BYTES = 8192,    /* kept of the standard error of the program */
    PIECE_BYTES = 1 << 16, /* read at a time, at first */
    END_WAIT_MS = 2000     /* for a program to end after its answer */
};

/* The channels; they are the standard streams of the program. */
enum { REQUEST, ANSWER, NOISE, CHANNELS };

struct process {
    pid_t pid;
    int ends[CHANNELS]; /* ours; -1: closed */
    int64_t deadline_ms;
    const struct zeta_compiler_bytes *to_send;
    size_t sent;
    struct zeta_compiler_bytes received;
    size_t room;
    char text[NOISE_BYTES + 1]; /* the begin of its standard error */
    size_t text_bytes;
    int status; /* of waitpid */
    bool ended; /* status is known */
    bool known; /* nobody else has collected it */
};

static int64_t now_ms(void)
{
    return (int64_t)(zeta_monotonic_ns() / 1000000);
}

static void close_end(int *end)
{
    if (*end >= 0)
        (void)close(*end);
    *end = -1;
}

/* ---------------------------------------------------------------- start */

/*
 * Opens the channels, and gives the ends of the program. The request goes through a socket: writing
 * to one whose reader is gone can do without SIGPIPE.
 */
static bool open_ends(int ours[CHANNELS], int theirs[CHANNELS])
{
    bool fine = true;

    for (int i = 0; i < CHANNELS; i++) {
        int pair[2] = {-1, -1};

        if (i == REQUEST)
            fine &= socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0;
        else
            fine &= pipe2(pair, O_CLOEXEC) == 0;
        pair[0] = zeta_descriptor_raise(pair[0]);
        pair[1] = zeta_descriptor_raise(pair[1]);
        ours[i] = pair[i == REQUEST];
        theirs[i] = pair[i != REQUEST];
        fine = fine && pair[0] >= 0 && pair[1] >= 0 && fcntl(ours[i], F_SETFL, O_NONBLOCK) == 0;
    }
    return fine;
}

/*
 * Starts the program with its ends and no other descriptors, default signals, none blocked, and in
 * a group of its own, so that keys do not reach it. Gives an errno.
 */
static int spawn(const char *path, const int theirs[CHANNELS], pid_t *out_pid)
{
    char serve[] = "--serve", search[] = "PATH=/usr/local/bin:/usr/bin:/bin", locale[] = "LC_ALL=C";
    char temporary[1024] = "TMPDIR=/tmp";
    char *const arguments[] = {(char *)(uintptr_t)path, serve, NULL};
    char *const environment[] = {search, locale, temporary, NULL};
    const char *wanted = secure_getenv("TMPDIR");
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, all;
    int error = ENOMEM; /* all that can happen to such arguments */

    if (wanted && wanted[0] == '/' && strlen(wanted) < sizeof(temporary) - 8)
        (void)snprintf(temporary, sizeof(temporary), "TMPDIR=%s", wanted);
    sigemptyset(&none);
    sigfillset(&all);
    if (posix_spawn_file_actions_init(&actions) != 0)
        return error;
    if (posix_spawnattr_init(&attributes) != 0)
        goto destroy_actions;
    if (posix_spawn_file_actions_adddup2(&actions, theirs[REQUEST], 0) == 0 &&
        posix_spawn_file_actions_adddup2(&actions, theirs[ANSWER], 1) == 0 &&
        posix_spawn_file_actions_adddup2(&actions, theirs[NOISE], 2) == 0 &&
        posix_spawn_file_actions_addclosefrom_np(&actions, 3) == 0 &&
        posix_spawn_file_actions_addchdir_np(&actions, "/") == 0 &&
        posix_spawnattr_setsigmask(&attributes, &none) == 0 &&
        posix_spawnattr_setsigdefault(&attributes, &all) == 0 &&
        posix_spawnattr_setpgroup(&attributes, 0) == 0 &&
        posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
                                                  POSIX_SPAWN_SETPGROUP) == 0)
        error = posix_spawn(out_pid, path, &actions, &attributes, arguments, environment);
    posix_spawnattr_destroy(&attributes);

destroy_actions:
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

/* ---------------------------------------------------------------- talk */

static void send_some(struct process *process)
{
    while (process->sent < process->to_send->size) {
        ssize_t put = send(process->ends[REQUEST], process->to_send->data + process->sent,
                           process->to_send->size - process->sent, MSG_NOSIGNAL);

        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0 && errno == EAGAIN)
            return;
        if (put < 0)
            break; /* it does not listen; its answer has the reason */
        process->sent += (size_t)put;
    }
    close_end(&process->ends[REQUEST]);
}

/* What is there of the answer; closes the end when there is no more. False without memory. */
static bool read_some(struct process *process)
{
    ssize_t got;

    if (process->received.size == process->room) {
        size_t room = process->room ? process->room * 2 : PIECE_BYTES;
        uint8_t *grown = realloc(process->received.data, room);

        if (!grown)
            return false;
        process->received.data = grown;
        process->room = room;
    }
    got = read(process->ends[ANSWER], process->received.data + process->received.size,
               process->room - process->received.size);
    if (got > 0)
        process->received.size += (size_t)got;
    else if (got == 0 || (errno != EAGAIN && errno != EINTR))
        close_end(&process->ends[ANSWER]);
    return true;
}

/* What is there of the standard error; only its begin is kept. */
static void read_noise(struct process *process)
{
    char rest[1024];
    size_t room = NOISE_BYTES - process->text_bytes;
    ssize_t got = room > 0 ? read(process->ends[NOISE], process->text + process->text_bytes, room)
                           : read(process->ends[NOISE], rest, sizeof(rest));

    if (got > 0 && room > 0)
        process->text_bytes += (size_t)got;
    else if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR))
        close_end(&process->ends[NOISE]);
}

/* Waits until something can be sent or read. False after the time-out. */
static bool wait_for_news(struct process *process)
{
    struct pollfd ends[3] = {{.fd = process->ends[ANSWER], .events = POLLIN},
                             {.fd = process->ends[REQUEST], .events = POLLOUT},
                             {.fd = process->ends[NOISE], .events = POLLIN}};
    int64_t left = process->deadline_ms - now_ms();

    if (left <= 0)
        return false;
    if (poll(ends, 3, left < 1000 ? (int)left : 1000) < 0)
        return errno == EINTR || errno == EAGAIN;
    if (ends[1].revents)
        send_some(process);
    if (ends[2].revents)
        read_noise(process);
    return true;
}

/* ---------------------------------------------------------------- end */

/* True when the process is there and its number is still its own. */
static bool is_running(struct process *process)
{
    pid_t pid;

    if (process->ended)
        return false;
    do
        pid = waitpid(process->pid, &process->status, WNOHANG);
    while (pid < 0 && errno == EINTR);
    process->ended = pid != 0;
    process->known = pid == process->pid;
    return !process->ended;
}

/* A process whose number somebody else has collected is no more ours to signal. */
static void kill_process(struct process *process)
{
    if (!is_running(process))
        return;
    (void)kill(-process->pid, SIGKILL);
    (void)kill(process->pid, SIGKILL);
}

/* Waits for the end of the process, and enforces it and that of what it started. */
static void end_process(struct process *process)
{
    const struct timespec pause = {.tv_nsec = 1000000};
    const int64_t limit_ms = now_ms() + END_WAIT_MS;

    while (process->ends[ANSWER] >= 0 && now_ms() < limit_ms) {
        struct pollfd end = {.fd = process->ends[ANSWER], .events = POLLIN};

        /* The end of its output is the end of the process, or nearly so. */
        if (poll(&end, 1, 20) > 0 || !is_running(process))
            break;
    }
    while (is_running(process) && now_ms() < limit_ms)
        nanosleep(&pause, NULL);
    kill_process(process);
    /* A process that not even this ends at once is left to the system. */
    for (int i = 0; i < END_WAIT_MS && is_running(process); i++)
        nanosleep(&pause, NULL);
}

/* ---------------------------------------------------------------- messages */

static char *failure(const struct process *process, const char *path, const char *what)
{
    char ending[96] = "", *text;

    if (process->known && WIFSIGNALED(process->status))
        (void)snprintf(ending, sizeof(ending), " (ended by signal %d, %s)",
                       WTERMSIG(process->status), strsignal(WTERMSIG(process->status)));
    else if (process->known && WIFEXITED(process->status) && WEXITSTATUS(process->status) != 0)
        (void)snprintf(ending, sizeof(ending), " (exit status %d)", WEXITSTATUS(process->status));
    return asprintf(&text, "the compiler %s failed: %s%s.\n%s%s%s", path, what, ending,
                    process->text_bytes > 0 ? "Its messages:\n" : "", process->text,
                    process->text_bytes > 0 ? "\n" : "") < 0
               ? NULL
               : text;
}

/*
 * Talks until the answer is whole; else gives what is wrong. That the process has ended is noticed
 * in two ways: a child that the application forked may hold the other end of the answer open.
 */
static const char *converse(struct process *process)
{
    const char *why = NULL;
    bool gone = false;

    for (;;) {
        size_t before = process->received.size;

        if (!read_some(process))
            return "there is no memory for its answer";
        if (process->received.size != before) {
            switch (zeta_compiler_answer(process->received.data, process->received.size, &why)) {
            case ZETA_COMPILER_ANSWER_WHOLE:
                return NULL;
            case ZETA_COMPILER_ANSWER_WRONG:
                return why;
            default:
                gone = false;
                continue;
            }
        }
        if (process->ends[ANSWER] < 0 || gone)
            return process->received.size > 0 ? "it stopped in the middle of its answer"
                                              : "it ended without an answer";
        gone = !is_running(process);
        if (!gone && !wait_for_news(process))
            return "it took too long and was killed";
    }
}

bool zeta_compiler_run(const char *path, const struct zeta_compiler_bytes *request,
                       uint32_t patience_s, struct zeta_compiler_bytes *out_answer, char **out_log)
{
    struct process *process = calloc(1, sizeof(*process));
    const char *wrong = NULL;
    int theirs[CHANNELS];
    size_t before;
    int error;

    *out_log = NULL;
    if (!process)
        return false;
    process->to_send = request;
    error = open_ends(process->ends, theirs) ? spawn(path, theirs, &process->pid) : errno;
    for (int i = 0; i < CHANNELS; i++)
        close_end(&theirs[i]);
    if (error != 0) {
        if (asprintf(out_log, "the compiler %s cannot be started: %s.\n", path, strerror(error)) <
            0)
            *out_log = NULL;
        goto out;
    }
    process->deadline_ms = now_ms() + (int64_t)patience_s * 1000;
    wrong = converse(process);
    close_end(&process->ends[REQUEST]);
    if (wrong && process->ends[ANSWER] >= 0) {
        close_end(&process->ends[ANSWER]);
        kill_process(process);
    }
    end_process(process);
    if (!wrong) {
        *out_answer = process->received;
        goto out;
    }
    do {
        before = process->text_bytes;
        if (process->ends[NOISE] >= 0 && before < NOISE_BYTES)
            read_noise(process);
    } while (process->text_bytes > before);
    *out_log = failure(process, path, wrong);
    free(process->received.data);

out:
    for (int i = 0; i < CHANNELS; i++)
        close_end(&process->ends[i]);
    free(process);
    return error == 0 && !wrong;
}
