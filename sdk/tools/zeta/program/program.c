#include "sdk/tools/zeta/program/program.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/file.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <zeta/clock.h>
#include <zeta/zeta.h>

#include "sdk/tools/zeta/command_line/commands.h"
#include "sdk/tools/zeta/command_line/options.h"
#include "sdk/tools/zeta/inventory/inventory.h"
#include "sdk/tools/zeta/output/message.h"

#define SUFFIX "XXXXXX"

/* Tries, as another process may remove a folder that has no lock yet. */
enum { TRIES = 100 };

const char *zeta_run_folder_place(void)
{
    const char *place = getenv("XDG_RUNTIME_DIR");

    if (!place || !*place)
        place = getenv("TMPDIR");
    return place && *place ? place : "/tmp";
}

/* A folder of this user alone, locked; -1 if it is none, or another process has the lock. */
static int lock_folder(int parent, const char *name)
{
    const int folder =
        openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    struct stat about;

    if (folder >= 0 && fstat(folder, &about) == 0 && about.st_uid == geteuid() &&
        (about.st_mode & 077) == 0 && flock(folder, LOCK_EX | LOCK_NB) == 0)
        return folder;
    if (folder >= 0)
        (void)close(folder);
    return -1;
}

/* The folders hold nothing but files. */
static void remove_files(int folder)
{
    const int again = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *listing = again >= 0 ? fdopendir(again) : NULL;
    const struct dirent *entry;

    while (listing && (entry = readdir(listing)) != NULL)
        (void)unlinkat(folder, entry->d_name, 0);
    if (listing)
        (void)closedir(listing);
    else if (again >= 0)
        (void)close(again);
}

/* Removes what killed runs left: folders with names that mkdtemp made of ours, without a lock. */
static void sweep(const char *parent, const char *kind)
{
    char *beginning = zeta_format("zeta-%s-", kind);
    const size_t length = strlen(beginning);
    DIR *listing = opendir(parent);
    const struct dirent *entry;

    while (listing && (entry = readdir(listing)) != NULL) {
        int folder = -1;

        if (strncmp(entry->d_name, beginning, length) == 0 &&
            strlen(entry->d_name) == length + strlen(SUFFIX))
            folder = lock_folder(dirfd(listing), entry->d_name);
        if (folder < 0)
            continue;
        remove_files(folder);
        (void)unlinkat(dirfd(listing), entry->d_name, AT_REMOVEDIR);
        (void)close(folder);
    }
    if (listing)
        (void)closedir(listing);
    free(beginning);
}

int zeta_run_folder_make(struct zeta_run_folder *folder, const char *parent, const char *kind)
{
    struct stat about;

    sweep(parent, kind);
    /* Until it has its lock a new folder looks like one that was left. */
    for (int i = 0; i < TRIES; i++) {
        *folder = (struct zeta_run_folder){.path = zeta_format("%s/zeta-%s-" SUFFIX, parent, kind),
                                           .lock = -1};
        if (!mkdtemp(folder->path))
            break;
        folder->lock = lock_folder(AT_FDCWD, folder->path);
        if (folder->lock >= 0 && stat(folder->path, &about) == 0)
            return ZETA_EXIT_OK;
        zeta_run_folder_finish(folder);
        errno = EAGAIN;
    }
    (void)zeta_print_failure("cannot make a folder in %s: %s", parent, strerror(errno));
    zeta_run_folder_finish(folder);
    return ZETA_EXIT_FAILED;
}

void zeta_run_folder_keep(struct zeta_run_folder *folder)
{
    char *kept = NULL;
    char *slash = strrchr(folder->path, '/');

    if (asprintf(&kept, "%.*s/zeta-kept-%s", (int)(slash - folder->path), folder->path,
                 folder->path + strlen(folder->path) - strlen(SUFFIX)) < 0)
        return;
    if (rename(folder->path, kept) == 0) {
        free(folder->path);
        folder->path = kept;
    } else {
        free(kept);
    }
}

void zeta_run_folder_remove(struct zeta_run_folder *folder)
{
    if (folder->path && folder->lock >= 0) {
        remove_files(folder->lock);
        (void)rmdir(folder->path);
    }
    zeta_run_folder_finish(folder);
}

void zeta_run_folder_finish(struct zeta_run_folder *folder)
{
    if (folder->path && folder->lock >= 0)
        (void)close(folder->lock);
    free(folder->path);
    *folder = (struct zeta_run_folder){0};
}

#define INSTANCE_VARIABLE "ZETA_VGPU_INSTANCE"
#define DRIVERS_VARIABLE "ZE_ENABLE_ALT_DRIVERS"
#define MODULES_VARIABLE "ZETA_MODULE_DUMP"

static bool is_variable(const char *text, const char *name)
{
    const size_t length = strlen(name);

    return strncmp(text, name, length) == 0 && text[length] == '=';
}

char **zeta_environment_copy(char **variables, const char *const *dropped, char **added,
                             size_t added_count)
{
    size_t count = 0;
    char **copy;
    char **end;

    while (variables[count])
        count++;
    end = copy = zeta_allocate(count + added_count + 1, sizeof(*copy));
    for (size_t i = 0; i < count; i++) {
        size_t d = 0;

        while (dropped[d] && !is_variable(variables[i], dropped[d]))
            d++;
        if (!dropped[d])
            *end++ = variables[i];
    }
    for (size_t i = 0; i < added_count; i++) {
        if (added[i])
            *end++ = added[i];
    }
    return copy;
}

int zeta_environment_init(struct zeta_environment *environment, bool is_shared)
{
    static const char *const none[] = {NULL};

    *environment = (struct zeta_environment){0};
    environment->before = zeta_environment_copy(environ, none, NULL, 0);
    if (is_shared)
        return ZETA_EXIT_OK;

    /* The time too: a process id comes back. */
    environment->instance = zeta_format(INSTANCE_VARIABLE "=stat-%ld-%" PRIx64, (long)getpid(),
                                        zeta_clock_ns(CLOCK_REALTIME));
    if (setenv(INSTANCE_VARIABLE, strchr(environment->instance, '=') + 1, 1) != 0)
        return zeta_print_failure("cannot set " INSTANCE_VARIABLE ": %s", strerror(errno));
    return ZETA_EXIT_OK;
}

bool zeta_environment_can_name(const char *library_path)
{
    return strpbrk(library_path, ", \t\n") == NULL;
}

/* Makes "ZE_ENABLE_ALT_DRIVERS=<this libzeta>". */
static int name_driver(struct zeta_environment *environment)
{
    Dl_info info = {0};
    char *path = NULL;
    int status = ZETA_EXIT_OK;

    if (dladdr((const void *)(uintptr_t)&zetaGetVersion, &info) == 0 || !info.dli_fname)
        return zeta_print_failure("cannot find the path of the loaded libzeta");
    path = realpath(info.dli_fname, NULL);
    if (!path)
        return zeta_print_failure("cannot resolve the path of libzeta, %s: %s", info.dli_fname,
                                  strerror(errno));
    if (!zeta_environment_can_name(path))
        status = zeta_print_failure("cannot give the program this driver: " DRIVERS_VARIABLE
                                    " cannot name '%s', which has a comma or a blank; install Zeta "
                                    "in a path without them, or set the variable yourself",
                                    path);
    else
        environment->drivers = zeta_format(DRIVERS_VARIABLE "=%s", path);
    free(path);
    return status;
}

int zeta_environment_build(struct zeta_environment *environment, bool is_ours)
{
    const char *dropped[] = {NULL, NULL, NULL};
    char *added[3] = {NULL};
    size_t count = 0;

    /* Which instance this process has is not read from its variables then: both would differ. */
    if (is_ours && environment->instance && getauxval(AT_SECURE) != 0)
        return zeta_print_failure(
            "cannot share a virtual GPU with the program: this zeta has more rights than its user "
            "(setcap, setuid); use a zeta without them, the virtual GPU needs none");
    if (is_ours && environment->instance) {
        dropped[count] = INSTANCE_VARIABLE;
        added[count++] = environment->instance;
    }
    if (is_ours && environment->modules) {
        dropped[count] = MODULES_VARIABLE;
        added[count++] = environment->modules;
    }
    for (char **variable = environment->before; is_ours && *variable; variable++) {
        if (!is_variable(*variable, DRIVERS_VARIABLE))
            continue;
        zeta_print_note(DRIVERS_VARIABLE
                        " is '%s'; a program that uses the loader gets that driver",
                        strchr(*variable, '=') + 1);
        is_ours = false;
    }
    if (is_ours && name_driver(environment) != ZETA_EXIT_OK)
        return ZETA_EXIT_FAILED;
    added[count++] = environment->drivers;
    environment->variables = zeta_environment_copy(environment->before, dropped, added, count);
    return ZETA_EXIT_OK;
}

int zeta_environment_want_modules(struct zeta_environment *environment, bool has_program)
{
    const char *named = getenv(MODULES_VARIABLE);

    if (!named || !*named) {
        if (!has_program)
            return ZETA_EXIT_OK;
        if (zeta_run_folder_make(&environment->folder, zeta_run_folder_place(), "stat") !=
            ZETA_EXIT_OK)
            return ZETA_EXIT_FAILED;
        named = environment->folder.path;
    }
    environment->modules = zeta_format(MODULES_VARIABLE "=%s", named);
    return ZETA_EXIT_OK;
}

const char *zeta_environment_modules(const struct zeta_environment *environment)
{
    return environment->modules ? strchr(environment->modules, '=') + 1 : NULL;
}

void zeta_environment_finish(struct zeta_environment *environment)
{
    free(environment->before);
    free(environment->variables);
    free(environment->instance);
    free(environment->drivers);
    zeta_run_folder_remove(&environment->folder);
    free(environment->modules);
    *environment = (struct zeta_environment){0};
}

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
        (void)zeta_print_failure("cannot run %s: no such program%s", program,
                                 strchr(program, '/') ? "" : " in PATH");
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

void zeta_child_wait(struct zeta_child *child, uint64_t timeout_ns)
{
    struct pollfd poll_fd = {.fd = child->signal_fd, .events = POLLIN};
    const struct timespec timeout = {.tv_sec = (time_t)(timeout_ns / 1000000000),
                                     .tv_nsec = (long)(timeout_ns % 1000000000)};
    struct signalfd_siginfo info;

    if (ppoll(&poll_fd, 1, &timeout, NULL) <= 0)
        return;
    while (read(child->signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
        if (info.ssi_signo != SIGCHLD)
            ask_to_end(child, &info);
    }
    if (child->pid != 0 && !child->has_ended)
        child->has_ended = waitpid(child->pid, &child->wait_status, WNOHANG) == child->pid;
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

#define METRICS_VARIABLE "ZET_ENABLE_METRICS"

/* As it is where a shell takes it as it is, else between quotes, for eval. */
static void print_variable(const char *variable)
{
    const char *value = strchr(variable, '=') + 1;
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "/._-+:@%,";

    (void)printf("%.*s", (int)(value - variable), variable);
    if (value[strspn(value, plain)] == '\0') {
        (void)puts(value);
        return;
    }
    (void)putchar('\'');
    for (; *value; value++) {
        if (*value == '\'')
            (void)fputs("'\\''", stdout);
        else
            (void)putchar(*value);
    }
    (void)puts("'");
}

int zeta_command_run(int count, char **arguments)
{
    const char *device = NULL;
    bool wants_metrics = false, only_prints = false;
    const struct zeta_option table[] = {
        {"device", 'd', ZETA_OPTION_TEXT, (void *)&device, NULL},
        {"metrics", 'm', ZETA_OPTION_FLAG, &wants_metrics, NULL},
        {"print", 'n', ZETA_OPTION_FLAG, &only_prints, NULL},
    };
    struct zeta_environment environment = {0};
    bool is_ours = false;
    int first = 0;
    int status =
        zeta_options_read(table, sizeof(table) / sizeof(table[0]), true, count, arguments, &first);

    if (status != ZETA_EXIT_OK)
        return status;
    if (first == count && !only_prints)
        return zeta_print_usage_error(
            "run needs a program after --, or -n to print the variables that it sets");
    if (wants_metrics && setenv(METRICS_VARIABLE, "1", 1) != 0)
        return zeta_print_failure("cannot set " METRICS_VARIABLE ": %s", strerror(errno));
    status = zeta_environment_init(&environment, true);
    /* What the search for the device calls is not what the program does. */
    (void)unsetenv("ZETA_TRACE");
    if (status == ZETA_EXIT_OK)
        status = zeta_device_list_find_compute(device, &is_ours);
    if (status == ZETA_EXIT_OK)
        status = zeta_environment_build(&environment, is_ours);
    if (status == ZETA_EXIT_OK && !only_prints) {
        /* A program that can be started is what this process is then. */
        if (fflush(stdout) != 0)
            status = zeta_print_failure("cannot write the standard output");
        else if (execvpe(arguments[first], &arguments[first], environment.variables) != 0)
            status = zeta_child_explain(arguments[first], errno);
    } else if (status == ZETA_EXIT_OK) {
        if (wants_metrics)
            print_variable(METRICS_VARIABLE "=1");
        if (environment.drivers)
            print_variable(environment.drivers);
        else if (!is_ours)
            zeta_print_note("Zeta runs no kernels on this device, so programs need no variable of "
                            "the loader");
    }
    zeta_environment_finish(&environment);
    return status;
}
