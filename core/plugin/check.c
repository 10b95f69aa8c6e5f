/*
 * Trying a plugin in a child process, so that a crash or a hang is a result and no accident.
 *
 * The child goes through the same steps as the host and writes after each step what it has reached;
 * the parent reads until the pipe closes or time is up.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <zeta/clock.h>

#include "core/plugin/entry.h"
#include "core/plugin/host.h"
#include "core/plugin/match.h"
#include "core/util/descriptor.h"

/* What the child writes, one record per step. Smaller than a pipe takes in one piece. */
struct message {
    uint32_t state;
    uint32_t final; /* 1: nothing follows */
    char text[2000];
};

static void report(int fd, uint32_t state, bool final, const char *text)
{
    struct message message = {.state = state, .final = final};
    ssize_t written;

    (void)snprintf(message.text, sizeof(message.text), "%s", text);
    written = write(fd, &message, sizeof(message));
    (void)written; /* nobody reads it when this fails */
}

/* The step that begins now: what the parent reports if nothing follows. */
static void begin(int fd, const char *step)
{
    report(fd, ZETA_PLUGIN_STATE_FAILED, false, step);
}

/* Up to the initialised plugin. False: stopped. */
static bool open_plugin(int fd, struct zeta_plugin_host *entry)
{
    zeta_plugin_negotiate_fn negotiate;

    begin(fd, "while its library was loaded");
    if (entry->state != ZETA_PLUGIN_STATE_FOUND || !zeta_check_abi(entry) ||
        !zeta_library_open(entry, &negotiate))
        return false;
    begin(fd, "in zeta_plugin_negotiate");
    if (!zeta_negotiate(entry, negotiate))
        return false;
    begin(fd, "in init");
    if (zeta_entry_init(entry))
        return true;
    zeta_needs_explain(entry);
    return false;
}

static void run_steps(int fd, struct zeta_plugin_host *entry)
{
    struct zeta_machine machine = {0};
    struct zeta_text text = {0};
    struct zeta_text warning = {0};
    struct zeta_text reason = {0};
    bool usable;

    if (entry->state == ZETA_PLUGIN_STATE_FOUND && entry->manifest.unnamed) {
        report(
            fd, ZETA_PLUGIN_STATE_NO_DEVICE, true,
            "The manifest is in order. It has no plugin, and speaks of devices that no other one "
            "names.");
        return;
    }
    usable = open_plugin(fd, entry);
    if (usable) {
        begin(fd, "while its devices were listed");
        usable = zeta_entry_enumerate(entry) || entry->state == ZETA_PLUGIN_STATE_NO_DEVICE;
        if (usable) {
            /* Now, because its strings need not outlive its devices. */
            zeta_text_add(&text, "The plugin %s works: %u device%s", entry->manifest.id,
                          entry->device_count, entry->device_count == 1 ? "" : "s");
            for (uint32_t i = 0; i < entry->device_count; i++)
                zeta_text_add(&text, "%s%.*s", i == 0 ? " (" : ", ",
                              (int)entry->properties[i].id.size, entry->properties[i].id.data);
            zeta_sets_expand(entry, &warning);
            zeta_text_add(&text, "%s, %zu set file%s.", entry->device_count > 0 ? ")" : "",
                          entry->set_files.count, entry->set_files.count == 1 ? "" : "s");
        }
        begin(fd, "in finish");
        entry->finish(entry->backend.self);
    }
    if (!usable) {
        report(fd, entry->state, true, zeta_text_get(&entry->reason));
        return;
    }
    if (warning.length > 0) {
        report(fd, ZETA_PLUGIN_STATE_NOT_LOADABLE, true, zeta_text_get(&warning));
        return;
    }
    if (!zeta_machine_matches(&machine, &entry->manifest, &reason, &entry->has_hardware))
        zeta_text_add(&text, " It would not be opened by itself: %s", zeta_text_get(&reason));
    else if (entry->device_count == 0)
        zeta_text_add(&text,
                      " What its manifest matches is here, and the plugin does not know it.");
    report(fd, entry->active ? ZETA_PLUGIN_STATE_ACTIVE : ZETA_PLUGIN_STATE_NO_DEVICE, true,
           zeta_text_get(&text));
}

static void run_child(int fd, const char *path)
{
    static const int signals[] = {SIGSEGV, SIGBUS,  SIGILL,  SIGFPE, SIGABRT,
                                  SIGTRAP, SIGTERM, SIGPIPE, SIGSYS, SIGALRM};
    const struct rlimit none = {0, 0};
    struct zeta_plugin_host *entry;
    bool no_memory = false;
    sigset_t empty;

    /* Handlers of the application would hide a crash, and its output stream is not ours to use. */
    for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
        (void)signal(signals[i], SIG_DFL);
    (void)sigemptyset(&empty);
    (void)sigprocmask(SIG_SETMASK, &empty, NULL);
    (void)setrlimit(RLIMIT_CORE, &none);
    (void)dup2(STDERR_FILENO, STDOUT_FILENO);
    entry = zeta_discover_file(path, true, true, &no_memory);
    if (!entry) {
        report(fd, ZETA_PLUGIN_STATE_FAILED, true, "There is no memory to read the manifest.");
        return;
    }
    if (*entry->manifest.id)
        (void)zeta_entry_declare_settings(entry);
    run_steps(fd, entry);
}

/* Reads messages until the final one, the end of the pipe or the end of the time. */
static bool collect(int fd, uint64_t limit_ns, struct message *out_last)
{
    uint64_t end_ns = zeta_monotonic_ns() + limit_ns;
    struct message message;

    for (;;) {
        struct pollfd wait = {.fd = fd, .events = POLLIN};
        uint64_t now_ns = zeta_monotonic_ns();
        int ready;
        ssize_t length;

        if (now_ns >= end_ns)
            return false;
        ready = poll(&wait, 1, (int)((end_ns - now_ns) / 1000000) + 1);
        if (ready == 0 || (ready < 0 && errno == EINTR))
            continue;
        length = read(fd, &message, sizeof(message));
        if (length < 0 && errno == EINTR)
            continue;
        if (length != (ssize_t)sizeof(message))
            return true;
        message.text[sizeof(message.text) - 1] = '\0';
        *out_last = message;
        if (message.final)
            return true;
    }
}

/* Waits a little for the child to end by itself, then ends it. False: its status is not known. */
static bool reap(pid_t child, bool in_time, int *out_status)
{
    pid_t done;

    for (int i = 0; in_time && i < 200; i++) {
        done = waitpid(child, out_status, WNOHANG);
        if (done == child)
            return true;
        if (done < 0 && errno != EINTR)
            return false;
        (void)usleep(5000);
    }
    (void)kill(child, SIGKILL);
    do
        done = waitpid(child, out_status, 0);
    while (done < 0 && errno == EINTR);
    return done == child;
}

ze_result_t zeta_check_manifest(const char *path, uint64_t limit_ns, uint32_t *out_state,
                                struct zeta_text *report)
{
    struct message last = {.text = "before it was loaded"};
    int pipe_fds[2];
    bool in_time, is_known;
    int status = 0;
    pid_t child;

    if (zeta_descriptor_pipe(pipe_fds, O_CLOEXEC) != 0)
        return zeta_error(ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY,
                          "No pipe for the check could be made (%s).", strerrordesc_np(errno));
    child = fork();
    if (child == 0) {
        run_child(pipe_fds[1], path);
        _exit(0);
    }
    (void)close(pipe_fds[1]);
    if (child < 0) {
        (void)close(pipe_fds[0]);
        return zeta_error(ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY,
                          "No process for the check could be started (%s).",
                          strerrordesc_np(errno));
    }
    in_time = collect(pipe_fds[0], limit_ns, &last);
    (void)close(pipe_fds[0]);
    is_known = reap(child, in_time, &status);
    *out_state = in_time && last.final ? last.state : ZETA_PLUGIN_STATE_FAILED;
    if (!in_time)
        zeta_text_add(report,
                      "The plugin did not return within %llu ms %s; its process was killed.",
                      (unsigned long long)(limit_ns / 1000000), last.text);
    else if (last.final)
        zeta_text_add(report, "%s", last.text);
    else if (!is_known)
        zeta_text_add(report,
                      "The plugin ended the process %s; how is not known, because this program "
                      "ignores SIGCHLD or waits for all children itself.",
                      last.text);
    else if (WIFSIGNALED(status))
        zeta_text_add(report, "The plugin crashed with signal %d (%s) %s.", WTERMSIG(status),
                      sigdescr_np(WTERMSIG(status)) ? sigdescr_np(WTERMSIG(status)) : "unknown",
                      last.text);
    else
        zeta_text_add(report, "The plugin ended the process with status %d %s.",
                      WIFEXITED(status) ? WEXITSTATUS(status) : -1, last.text);
    return ZE_RESULT_SUCCESS;
}
