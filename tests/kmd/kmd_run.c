/* Runs a program on a machine of the emulated kernel: kmd-run --device tgl-gt2 -- lsgpu */

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/kmd/kmd.h"

enum { BAD_USAGE = 2, NOT_STARTED = 127, NAME_BYTES = 64 };

static const char usage[] =
    "usage: kmd-run [--device PLATFORM[:DRIVER]]... [OPTION]... -- PROGRAM [ARGUMENT]...\n"
    "\n"
    "Runs a program that sees emulated Intel GPUs (one tgl-gt2 unless told otherwise).\n"
    "\n"
    "  --device PLATFORM[:DRIVER]  a GPU; DRIVER is i915 or xe\n"
    "  --paranoid                  the sysctls forbid observation without privilege\n"
    "  --unprivileged              the program does not have CAP_PERFMON\n"
    "  --forbidden                 nodes in /dev/dri cannot be opened\n"
    "  --no-oa                     the GPUs are those of a guest, without OA units\n"
    "  --pci ID                    PCI id of the GPUs, for one that nobody knows\n"
    "  --sample-rate HZ            i915's oa_max_sample_rate\n"
    "  --mux FIRST-LAST            registers that programs may write, too: a newer kernel's\n"
    "  --fault NAME[=VALUE][@MS]   misbehaviour of the first GPU, from the start or MS after its\n"
    "                              first stream was opened:\n"
    "                              open-errno, read-errno, lose-reports, lose-buffer, "
    "short-reads,\n"
    "                              false-poll, reset, unplug, idle, context-switch, status "
    "(kmd.h)\n"
    "  --end MS                    asks the program to end (SIGINT) MS after the last fault\n"
    "  --perf-revision N           i915's, 1 to 7\n"
    "  --list                      print the platforms\n";

/* In the order of enum kmd_fault. */
static const char *const fault_names[] = {
    "open-errno", "read-errno", "lose-reports", "lose-buffer",    "short-reads", "false-poll",
    "reset",      "unplug",     "idle",         "context-switch", "status"};

enum { FAULTS = 8, NAMES = sizeof(fault_names) / sizeof(fault_names[0]) };

struct fault {
    uint64_t value;
    uint64_t after_ms; /* since the first stream was opened */
    enum kmd_fault kind;
    bool has_to_wait;
    bool is_done;
};

struct run {
    struct kmd_config config;
    char names[KMD_DEVICES][NAME_BYTES];
    bool has_no_oa;
    uint32_t pci_id; /* 0: those of the platforms */
    uint32_t mux_first, mux_last;
    uint32_t perf_revision; /* 0: those of the platforms */
    struct fault faults[FAULTS];
    uint32_t fault_count;
    bool has_end;
    uint64_t end_ms; /* after the last fault */
};

static bool add_device(struct run *run, const char *text)
{
    struct kmd_device *device = &run->config.devices[run->config.device_count];
    char *name = run->names[run->config.device_count];
    char *colon;

    if (run->config.device_count == KMD_DEVICES || strlen(text) >= NAME_BYTES) {
        (void)fprintf(stderr, "kmd-run: --device %s: at most %d devices with short names\n", text,
                      KMD_DEVICES);
        return false;
    }
    (void)strcpy(name, text);
    colon = strchr(name, ':');
    if (colon) {
        *colon = '\0';
        device->driver = colon + 1;
    }
    device->platform = name;
    run->config.device_count++;
    return true;
}

static bool read_mux(struct run *run, const char *text)
{
    char extra;

    if (sscanf(text, "%" SCNx32 "-%" SCNx32 "%c", &run->mux_first, &run->mux_last, &extra) == 2)
        return true;
    (void)fprintf(stderr, "kmd-run: --mux %s: two addresses, such as 0x14800-0x148fc\n", text);
    return false;
}

static bool add_fault(struct run *run, const char *text)
{
    struct fault *fault = &run->faults[run->fault_count];
    const size_t length = strcspn(text, "=@");
    const char *at = strchr(text, '@');
    size_t kind = 0;

    while (kind < NAMES &&
           (strlen(fault_names[kind]) != length || strncmp(text, fault_names[kind], length) != 0))
        kind++;
    if (kind == NAMES || run->fault_count == FAULTS) {
        (void)fprintf(stderr, "kmd-run: --fault %s: at most %d of those that --help names\n", text,
                      FAULTS);
        return false;
    }
    *fault = (struct fault){.kind = (enum kmd_fault)kind,
                            .value = text[length] == '=' ? strtoull(text + length + 1, NULL, 0) : 1,
                            .after_ms = at ? strtoull(at + 1, NULL, 10) : 0,
                            .has_to_wait = at != NULL};
    run->fault_count++;
    return true;
}

static void list_platforms(void)
{
    for (const char *const *name = kmd_platforms(); *name; name++)
        (void)puts(*name);
}

/* -1: go on; else the exit status. */
static int parse(struct run *run, int count, char **arguments)
{
    static const struct option options[] = {{"device", required_argument, NULL, 'd'},
                                            {"paranoid", no_argument, NULL, 'p'},
                                            {"unprivileged", no_argument, NULL, 'u'},
                                            {"forbidden", no_argument, NULL, 'f'},
                                            {"no-oa", no_argument, NULL, 'n'},
                                            {"pci", required_argument, NULL, 'i'},
                                            {"sample-rate", required_argument, NULL, 's'},
                                            {"mux", required_argument, NULL, 'm'},
                                            {"fault", required_argument, NULL, 'F'},
                                            {"end", required_argument, NULL, 'e'},
                                            {"perf-revision", required_argument, NULL, 'r'},
                                            {"list", no_argument, NULL, 'l'},
                                            {"help", no_argument, NULL, 'h'},
                                            {NULL, 0, NULL, 0}};

    for (;;) {
        switch (getopt_long(count, arguments, "+d:h", options, NULL)) {
        case -1:
            return -1;
        case 'd':
            if (!add_device(run, optarg))
                return BAD_USAGE;
            break;
        case 'p':
            run->config.is_paranoid = true;
            break;
        case 'u':
            run->config.is_privileged = false;
            break;
        case 'f':
            run->config.node_is_forbidden = true;
            break;
        case 'n':
            run->has_no_oa = true;
            break;
        case 'i':
            run->pci_id = (uint32_t)strtoul(optarg, NULL, 16);
            break;
        case 's':
            run->config.max_sample_rate = (uint32_t)strtoul(optarg, NULL, 10);
            break;
        case 'm':
            if (!read_mux(run, optarg))
                return BAD_USAGE;
            break;
        case 'e':
            run->has_end = true;
            run->end_ms = strtoull(optarg, NULL, 0);
            break;
        case 'F':
            if (!add_fault(run, optarg))
                return BAD_USAGE;
            break;
        case 'r':
            run->perf_revision = (uint32_t)strtoul(optarg, NULL, 10);
            break;
        case 'l':
            list_platforms();
            return 0;
        case 'h':
            (void)fputs(usage, stdout);
            return 0;
        default:
            (void)fputs(usage, stderr);
            return BAD_USAGE;
        }
    }
}

/* Before what is preloaded already; sanitizers accept a library before their own only if told. */
static void set_environment(void)
{
    const char *before = getenv("LD_PRELOAD");
    const char *options = getenv("ASAN_OPTIONS");
    char text[4096];

    (void)snprintf(text, sizeof(text), "%s%s%s", KMD_PRELOAD, before ? ":" : "",
                   before ? before : "");
    (void)setenv("LD_PRELOAD", text, 1);
    (void)snprintf(text, sizeof(text), "%s%sverify_asan_link_order=0", options ? options : "",
                   options ? ":" : "");
    (void)setenv("ASAN_OPTIONS", text, 1);
}

static uint64_t now_ms(void)
{
    struct timespec now = {0};

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* Does those whose time has come; true if others are left. first_ms: 0 before the first stream. */
static bool do_faults(struct run *run, struct kmd_machine *machine, uint64_t first_ms)
{
    bool is_left = false;

    for (uint32_t i = 0; i < run->fault_count; i++) {
        struct fault *fault = &run->faults[i];

        if (!fault->is_done &&
            (!fault->has_to_wait || (first_ms > 0 && now_ms() - first_ms >= fault->after_ms))) {
            kmd_fault(machine, 0, fault->kind, fault->value);
            fault->is_done = true;
        }
        is_left = is_left || !fault->is_done;
    }
    return is_left;
}

/* Waits for the program, and lets faults happen meanwhile. */
static int wait_for(pid_t child, struct run *run, struct kmd_machine *machine)
{
    const struct timespec pause = {.tv_nsec = 5000000};
    uint64_t first_ms = 0;
    int status = 0;
    pid_t ended = 0;

    while (do_faults(run, machine, first_ms) && ended == 0) {
        (void)nanosleep(&pause, NULL);
        if (first_ms == 0 && kmd_statistic(machine, 0, KMD_STAT_STREAMS_OPENED) > 0)
            first_ms = now_ms();
        ended = waitpid(child, &status, WNOHANG);
    }
    if (ended == 0 && run->has_end) {
        (void)usleep((useconds_t)run->end_ms * 1000);
        (void)kill(child, SIGINT);
    }
    while (ended == 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    return status;
}

static int run_program(struct run *run, struct kmd_machine *machine, char **arguments)
{
    int status = 0;
    const pid_t child = fork();

    if (child < 0) {
        perror("kmd-run: fork");
        return NOT_STARTED;
    }
    if (child == 0) {
        set_environment();
        (void)execvp(arguments[0], arguments);
        (void)fprintf(stderr, "kmd-run: %s: %s\n", arguments[0], strerror(errno));
        _exit(NOT_STARTED);
    }
    /* Keys at the terminal are for the program; the machine goes when it has gone. */
    (void)signal(SIGINT, SIG_IGN);
    (void)signal(SIGQUIT, SIG_IGN);
    status = wait_for(child, run, machine);
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int main(int count, char **arguments)
{
    struct run run = {.config = {.is_privileged = true}};
    struct kmd_machine *machine;
    int status = parse(&run, count, arguments);

    if (status >= 0)
        return status;
    if (optind == count) {
        (void)fputs(usage, stderr);
        return BAD_USAGE;
    }
    if (run.config.device_count == 0)
        (void)add_device(&run, "tgl-gt2");
    for (uint32_t i = 0; i < run.config.device_count; i++) {
        run.config.devices[i].has_no_oa = run.has_no_oa;
        run.config.devices[i].pci_id = run.pci_id;
        run.config.devices[i].perf_revision = run.perf_revision;
        run.config.devices[i].mux_first = run.mux_first;
        run.config.devices[i].mux_last = run.mux_last;
    }
    machine = kmd_start(&run.config);
    if (!machine)
        return BAD_USAGE;
    (void)do_faults(&run, machine, 0);
    status = run_program(&run, machine, arguments + optind);
    kmd_stop(machine);
    return status;
}
