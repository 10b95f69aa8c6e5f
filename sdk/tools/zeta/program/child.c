#include "sdk/tools/zeta/program/child.h"

#include <errno.h>
#include <poll.h>
#include <spawn.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "sdk/tools/zeta/output/message.h"

static const int ending_signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

int zeta_child_init(struct zeta_child *child)
{
    sigset_t mask;

    *child = (struct zeta_child){.signal_fd = -1};
    (void)sigemptyset(&mask);
    (void)sigaddset(&mask, SIGCHLD);
    for (size_t i = 0; i < sizeof(ending_signals) / sizeof(ending_signals[0]); i++)
        (void)sigaddset(&mask, ending_signals[i]);
    /* Ignored SIGCHLD would take the exit status away; neither a closed stderr nor a file that may
     * not grow must end us: the call that fails is enough. */
    (void)signal(SIGCHLD, SIG_DFL);
    (void)signal(SIGPIPE, SIG_IGN);
    (void)signal(SIGXFSZ, SIG_IGN);
    if (sigprocmask(SIG_BLOCK, &mask, &child->mask_before) != 0)
        return zeta_print_failure("cannot block signals: %s", strerror(errno));
    child->signal_fd = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
    if (child->signal_fd < 0)
        return zeta_print_failure("cannot watch signals: %s", strerror(errno));
    return ZETA_EXIT_OK;
}

void zeta_child_finish(struct zeta_child *child)
{
    if (child->signal_fd >= 0)
        (void)close(child->signal_fd);
    child->signal_fd = -1;
}

int zeta_child_explain(const char *program, int error)
{
    if (error == ENOENT || error == ENOTDIR) {
        (void)zeta_print_failure("cannot run %s: there is no such program%s", program,
                                 strchr(program, '/') ? "" : " along PATH");
        return ZETA_EXIT_NOT_FOUND;
    }
    (void)zeta_print_failure("cannot run %s: %s", program, strerror(error));
    return ZETA_EXIT_NOT_EXECUTABLE;
}

int zeta_child_start(struct zeta_child *child, char **arguments, char **environment)
{
    posix_spawnattr_t attributes;
    sigset_t defaults;
    int error = 0;

    (void)sigemptyset(&defaults);
    (void)sigaddset(&defaults, SIGPIPE);
    (void)sigaddset(&defaults, SIGXFSZ);
    error = posix_spawnattr_init(&attributes);
    if (error)
        return zeta_print_failure("cannot run %s: %s", arguments[0], strerror(error));
    (void)posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    (void)posix_spawnattr_setsigmask(&attributes, &child->mask_before);
    (void)posix_spawnattr_setsigdefault(&attributes, &defaults);
    error = posix_spawnp(&child->pid, arguments[0], NULL, &attributes, arguments, environment);
    (void)posix_spawnattr_destroy(&attributes);
    if (!error)
        return ZETA_EXIT_OK;

    child->pid = 0;
    return zeta_child_explain(arguments[0], error);
}

static void reap(struct zeta_child *child)
{
    if (child->pid == 0 || child->has_ended)
        return;
    if (waitpid(child->pid, &child->wait_status, WNOHANG) == child->pid)
        child->has_ended = true;
}

/*
 * Ctrl-C reaches every process of the terminal's foreground group, so the program has it already;
 * what was sent to this process alone is passed on. Who asks again wants more than a polite word.
 */
static void ask_to_end(struct zeta_child *child, const struct signalfd_siginfo *info)
{
    int number = (int)info->ssi_signo;
    const bool from_terminal = info->ssi_code == SI_KERNEL;

    child->interrupts++;
    child->last_interrupt = number;
    if (child->pid == 0 || child->has_ended)
        return;
    if (child->interrupts == 1 && from_terminal)
        return;
    if (child->interrupts == 2)
        number = SIGTERM;
    else if (child->interrupts > 2)
        number = SIGKILL;
    (void)kill(child->pid, number);
}

static void take_signals(struct zeta_child *child)
{
    struct signalfd_siginfo info;

    while (read(child->signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
        if (info.ssi_signo != SIGCHLD)
            ask_to_end(child, &info);
    }
    reap(child);
}

void zeta_child_wait(struct zeta_child *child, uint64_t timeout_ns)
{
    struct pollfd poll_fd = {.fd = child->signal_fd, .events = POLLIN};
    const struct timespec timeout = {.tv_sec = (time_t)(timeout_ns / 1000000000),
                                     .tv_nsec = (long)(timeout_ns % 1000000000)};

    if (ppoll(&poll_fd, 1, &timeout, NULL) > 0)
        take_signals(child);
}

void zeta_child_again(struct zeta_child *child)
{
    child->pid = 0;
    child->has_ended = false;
    child->wait_status = 0;
}

int zeta_child_exit_code(const struct zeta_child *child)
{
    if (WIFEXITED(child->wait_status))
        return WEXITSTATUS(child->wait_status);
    if (WIFSIGNALED(child->wait_status))
        return ZETA_EXIT_SIGNAL + WTERMSIG(child->wait_status);
    return ZETA_EXIT_FAILED;
}
