/* zeta-gdbserver: GDB's remote protocol for kernels. */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <zeta/c_locale.h>
#include <zeta/zeta.h>

#include "sdk/tools/zeta-gdbserver/server/server.h"

enum { EXIT_USAGE = 2, EXIT_NOT_FOUND = 127 };

/* How often a program is tried that has not come so far yet. */
#define ATTACH_PERIOD_MS 1

static const char manual[] =
    "Usage: zeta-gdbserver [OPTION]... [HOST]:PORT -- PROGRAM [ARGUMENT]...\n"
    "       zeta-gdbserver [OPTION]... [HOST]:PORT --attach PID\n"
    "\n"
    "Lets GDB debug the kernels that a program runs. For example:\n"
    "\n"
    "  zeta-gdbserver :2345 -- ./program\n"
    "  gdb-multiarch -ex 'target remote :2345'\n"
    "\n"
    "  [HOST]:PORT   where GDB connects; without a HOST from this machine only. Port 0\n"
    "                takes any that is free. \"-\" instead: GDB started the server and\n"
    "                talks with it over standard input and output.\n"
    "  --attach PID  debugs a program that runs, and was started with\n"
    "                ZET_ENABLE_PROGRAM_DEBUGGING=1\n"
    "  --device D    which device: its number or id as \"zeta devices\" shows them;\n"
    "                else the first that can be debugged\n"
    "  --once        ends with the first connection\n"
    "  --help, --version\n"
    "\n"
    "Who can connect can do to the program what you can: there is no password. The\n"
    "program waits at its first module until GDB lets it go on.\n"
    "Exits as the program does; with 1 when it cannot be debugged. A signal that ends\n"
    "the server ends the program that it started, too.\n";

struct options {
    const char *device; /* null: the first that can be debugged */
    const char *address;
    char **program; /* null: pid */
    uint32_t pid;
    bool is_once;
};

static int fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

static int fail(const char *format, ...)
{
    va_list arguments;

    (void)fputs("zeta-gdbserver: ", stderr);
    va_start(arguments, format);
    (void)zeta_c_vfprintf(stderr, format, arguments);
    va_end(arguments);
    (void)fputc('\n', stderr);
    return EXIT_FAILURE;
}

static int fail_usage(const char *what, const char *sentence)
{
    (void)fail("%s%s", what, sentence);
    (void)fputs("\"zeta-gdbserver --help\" explains it\n", stderr);
    return EXIT_USAGE;
}

/* Device --------------------------------------------------------------------------------------- */

static bool can_attach(ze_device_handle_t device)
{
    zet_device_debug_properties_t properties = {.stype =
                                                    ZET_STRUCTURE_TYPE_DEVICE_DEBUG_PROPERTIES};

    return zetDeviceGetDebugProperties(device, &properties) == ZE_RESULT_SUCCESS &&
           (properties.flags & ZET_DEVICE_DEBUG_PROPERTY_FLAG_ATTACH) != 0;
}

/* Whether a device is the one that is wanted, by its number or id. */
static bool is_wanted(ze_device_handle_t device, uint32_t number, const char *wanted)
{
    struct zeta_device_info info = {.struct_size = sizeof(info)};
    char text[16];

    if (!wanted)
        return can_attach(device);
    (void)snprintf(text, sizeof(text), "%" PRIu32, number);
    return strcmp(text, wanted) == 0 ||
           (zetaDeviceGetInfo(device, &info) == ZE_RESULT_SUCCESS && strcmp(info.id, wanted) == 0);
}

static int find_device(const char *wanted, ze_device_handle_t *out_device)
{
    ze_init_driver_type_desc_t types = {.stype = ZE_STRUCTURE_TYPE_INIT_DRIVER_TYPE_DESC,
                                        .flags = UINT32_MAX};
    ze_driver_handle_t drivers[16];
    uint32_t driver_count = sizeof(drivers) / sizeof(drivers[0]), number = 0;

    if (zeInitDrivers(&driver_count, drivers, &types) != ZE_RESULT_SUCCESS)
        return fail("the library cannot start: %s", zetaGetLastError());
    for (uint32_t i = 0; i < driver_count; i++) {
        ze_device_handle_t devices[64];
        uint32_t count = sizeof(devices) / sizeof(devices[0]);

        if (zeDeviceGet(drivers[i], &count, devices) != ZE_RESULT_SUCCESS)
            return fail("the devices cannot be listed: %s", zetaGetLastError());
        for (uint32_t k = 0; k < count; k++, number++)
            if (is_wanted(devices[k], number, wanted)) {
                *out_device = devices[k];
                return EXIT_SUCCESS;
            }
    }
    if (wanted)
        return fail("there is no device \"%s\"; \"zeta devices\" lists them", wanted);
    return fail("no device here can be debugged; \"zeta doctor\" says why");
}

/* Signals -------------------------------------------------------------------------------------- */

/*
 * A signal that ends programs is to leave nothing behind. The program is killed at once, so that
 * nothing waits for it, even if it is stopped; the server then ends as it always does, and at last
 * by the signal. A second one ends it as it stands.
 */
static volatile sig_atomic_t end_signal;     /* 0: none came */
static volatile sig_atomic_t killed_program; /* 0: none is to be killed */
static volatile sig_atomic_t has_let_go;     /* nothing is left to be done */
static int end_descriptor = -1;              /* can be read once a signal came */

static void on_end_signal(int number)
{
    const uint64_t one = 1;
    const int error = errno;

    end_signal = number;
    if (killed_program > 0)
        (void)kill(killed_program, SIGKILL);
    (void)!write(end_descriptor, &one, sizeof(one));
    if (has_let_go)
        (void)raise(number); /* which does what it does by default, behind this function */
    errno = error;
}

static int catch_signals(void)
{
    static const int signals[] = {SIGHUP, SIGINT, SIGTERM};
    const struct sigaction action = {.sa_handler = on_end_signal, .sa_flags = SA_RESETHAND};
    struct sigaction before;

    end_descriptor = eventfd(0, EFD_CLOEXEC);
    if (end_descriptor < 0)
        return fail("there is no descriptor for signals: %s", strerror(errno));
    for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
        if (sigaction(signals[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            (void)sigaction(signals[i], &action, NULL);
    return EXIT_SUCCESS;
}

/* Program -------------------------------------------------------------------------------------- */

/*
 * The program waits in zeInit until this process has attached to the device. With is_stdio its
 * streams are not those of the connection.
 */
static int start_program(char **arguments, bool is_stdio, ze_device_handle_t device,
                         pid_t *out_child)
{
    struct zeta_device_info info = {.struct_size = sizeof(info)};
    posix_spawn_file_actions_t actions;
    char wait[64];
    int error;

    (void)posix_spawn_file_actions_init(&actions);
    if (is_stdio) {
        (void)posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
        (void)posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
    }
    (void)setenv("ZET_ENABLE_PROGRAM_DEBUGGING", "1", 1);
    if (zetaDeviceGetInfo(device, &info) == ZE_RESULT_SUCCESS) {
        (void)snprintf(wait, sizeof(wait), "%d:%s", (int)getpid(), info.id);
        (void)setenv("ZETA_DEBUG_WAIT", wait, 1);
    }
    error = posix_spawnp(out_child, arguments[0], &actions, NULL, arguments, environ);
    (void)posix_spawn_file_actions_destroy(&actions);
    if (error == 0) {
        killed_program = *out_child;
        return EXIT_SUCCESS;
    }
    (void)fail("\"%s\" cannot be run: %s", arguments[0], strerror(error));
    return EXIT_NOT_FOUND;
}

static int exit_code(int wait_status)
{
    return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

/* Tries until the program has come so far that it can be debugged. Says what it waits for, if it
 * is not what it started itself. */
static int attach(struct zeta_gdb_process *process, ze_device_handle_t device, uint32_t pid,
                  pid_t child)
{
    struct pollfd ending = {.fd = end_descriptor, .events = POLLIN};

    for (bool is_first = true;; is_first = false) {
        const ze_result_t result = zeta_gdb_process_attach(process, device, pid);
        siginfo_t about = {0};

        if (result == ZE_RESULT_SUCCESS)
            return EXIT_SUCCESS;
        if (child && waitid(P_PID, (id_t)child, &about, WEXITED | WNOHANG | WNOWAIT) == 0 &&
            about.si_pid == child)
            return fail("the program ended and did not use the device");
        if (result != ZE_RESULT_NOT_READY)
            return fail("process %" PRIu32 " cannot be debugged: %s", pid, process->failure);
        if (is_first && !child)
            (void)fail("waiting: %s", process->failure);
        (void)poll(&ending, 1, ATTACH_PERIOD_MS);
        if (end_signal != 0)
            return EXIT_FAILURE;
    }
}

/* Connections ---------------------------------------------------------------------------------- */

/* "[HOST]:PORT"; HOST may be in brackets. */
static int listen_at(const char *address, int *out_listener)
{
    const char *const colon = strrchr(address, ':');
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE};
    struct addrinfo *found = NULL;
    struct sockaddr_storage bound = {0};
    socklen_t size = sizeof(bound);
    char host[256] = "127.0.0.1", port[16] = "";
    size_t length = colon ? (size_t)(colon - address) : 0;
    const int on = 1;
    int listener, error;

    if (!colon || length >= sizeof(host))
        return fail_usage(address, " is no [HOST]:PORT");
    if (length > 1 && address[0] == '[' && address[length - 1] == ']') {
        address++;
        length -= 2;
    }
    if (length > 0)
        (void)snprintf(host, sizeof(host), "%.*s", (int)length, address);
    error = getaddrinfo(host, colon + 1, &hints, &found);
    if (error != 0)
        return fail("\"%s\" port \"%s\" is no address: %s", host, colon + 1, gai_strerror(error));
    listener = socket(found->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (listener >= 0)
        (void)setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (listener < 0 || bind(listener, found->ai_addr, found->ai_addrlen) != 0 ||
        listen(listener, 1) != 0 || getsockname(listener, (struct sockaddr *)&bound, &size) != 0) {
        error = errno;
        freeaddrinfo(found);
        if (listener >= 0)
            (void)close(listener);
        return fail("GDB cannot connect at %s port %s: %s", host, colon + 1, strerror(error));
    }
    freeaddrinfo(found);
    (void)getnameinfo((struct sockaddr *)&bound, size, NULL, 0, port, sizeof(port), NI_NUMERICSERV);
    (void)fprintf(stderr, "Listening on port %s\n", port);
    *out_listener = listener;
    return EXIT_SUCCESS;
}

/* The next connection; -1: there is none, or the server is to end. */
static int accept_next(int listener)
{
    struct pollfd polled[] = {{.fd = listener, .events = POLLIN},
                              {.fd = end_descriptor, .events = POLLIN}};
    const int on = 1;
    int connection;

    do {
        (void)poll(polled, 2, -1);
        if (end_signal != 0)
            return -1;
        connection = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    } while (connection < 0 && (errno == EINTR || errno == EAGAIN || errno == ECONNABORTED));
    if (connection < 0) {
        (void)fail("connections cannot be accepted: %s", strerror(errno));
        return -1;
    }
    (void)setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    /* GDB's machine may vanish. */
    (void)setsockopt(connection, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
    return connection;
}

/* Serves one connection after the other, until the last has ended. */
static enum zeta_gdb_end serve_all(const struct options *options, struct zeta_gdb_process *process,
                                   int listener, pid_t child)
{
    enum zeta_gdb_end end = ZETA_GDB_END_CLOSED;
    bool is_last = false;

    while (end == ZETA_GDB_END_CLOSED && !is_last) {
        struct zeta_gdb_server server = {.process = process,
                                         .in = STDIN_FILENO,
                                         .out = STDOUT_FILENO,
                                         .stop = end_descriptor,
                                         .child = child};

        is_last = options->is_once || listener < 0;
        if (listener >= 0)
            server.in = server.out = accept_next(listener);
        if (server.in < 0)
            return ZETA_GDB_END_NONE;
        end = zeta_gdb_server_run(&server);
        if (listener >= 0)
            (void)close(server.in);
    }
    return end;
}

static int serve(const struct options *options, struct zeta_gdb_process *process, int listener,
                 pid_t child)
{
    const enum zeta_gdb_end end = serve_all(options, process, listener, child);
    const bool has_code = end == ZETA_GDB_END_EXITED || end == ZETA_GDB_END_DETACHED;
    int status = 0;

    /* Detaching lets threads go on, and who kills the program wants none of them to. */
    if (end == ZETA_GDB_END_KILLED || (!has_code && child))
        (void)kill(child ? child : (pid_t)options->pid, SIGKILL);
    zeta_gdb_process_detach(process);
    has_let_go = 1;
    killed_program = 0;
    /* GDB does not wait for a server that it started. */
    if (child && (end != ZETA_GDB_END_DETACHED || listener >= 0) &&
        waitpid(child, &status, 0) == child && has_code)
        return exit_code(status);
    return end == ZETA_GDB_END_NONE ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* Command line --------------------------------------------------------------------------------- */

static int read_options(int argc, char **argv, struct options *options)
{
    static const struct option known[] = {
        {"attach", required_argument, NULL, 'a'}, {"device", required_argument, NULL, 'd'},
        {"once", no_argument, NULL, 'o'},         {"help", no_argument, NULL, 'h'},
        {"version", no_argument, NULL, 'v'},      {NULL, 0, NULL, 0}};
    unsigned long pid;
    char *end = NULL;
    int option;

    while ((option = getopt_long(argc, argv, ":h", known, NULL)) != -1) {
        switch (option) {
        case 'a':
            errno = 0;
            pid = strtoul(optarg, &end, 10);
            if (errno != 0 || *end || pid == 0 || pid > INT32_MAX)
                return fail_usage(optarg, " is no process");
            options->pid = (uint32_t)pid;
            break;
        case 'd':
            options->device = optarg;
            break;
        case 'o':
            options->is_once = true;
            break;
        case 'h':
            (void)fputs(manual, stdout);
            exit(EXIT_SUCCESS);
        case 'v':
            (void)printf("zeta-gdbserver %s\n", zetaGetVersion());
            exit(EXIT_SUCCESS);
        case ':':
            return fail_usage(argv[optind - 1], " needs a value");
        default:
            return fail_usage(argv[optind - 1], " is no option");
        }
    }
    /* What stands before "--" and is no option stands behind it now. */
    if (optind < argc)
        options->address = argv[optind++];
    if (!options->address)
        return fail_usage("", "where GDB connects, [HOST]:PORT, is missing");
    if (optind < argc)
        options->program = argv + optind;
    if (!options->program == !options->pid)
        return fail_usage("", "it needs either -- PROGRAM or --attach PID");
    return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
    struct options options = {0};
    struct zeta_gdb_process process = {0};
    ze_device_handle_t device = NULL;
    pid_t child = 0;
    int listener = -1, status = read_options(argc, argv, &options);

    if (status != EXIT_SUCCESS)
        return status;
    status = find_device(options.device, &device);
    if (status == EXIT_SUCCESS && strcmp(options.address, "-") != 0)
        status = listen_at(options.address, &listener);
    if (status == EXIT_SUCCESS)
        status = catch_signals();
    if (status == EXIT_SUCCESS && options.program)
        status = start_program(options.program, listener < 0, device, &child);
    (void)signal(SIGPIPE, SIG_IGN); /* of this process, not of the program */
    if (status == EXIT_SUCCESS) {
        status = attach(&process, device, child ? (uint32_t)child : options.pid, child);
        if (status == EXIT_SUCCESS)
            status = serve(&options, &process, listener, child);
        else if (child)
            (void)kill(child, SIGTERM);
    }
    if (listener >= 0)
        (void)close(listener);
    if (end_signal != 0)
        (void)raise(end_signal);
    return status;
}
