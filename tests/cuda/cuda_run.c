/* Runs a program on a machine with NVIDIA GPUs of our own: cuda-run --gpu gh100 -- PROGRAM */

#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <zeta/yaml.h>

#include "tests/cuda/machine/machine.h"

enum { BAD_USAGE = 2, NOT_STARTED = 127 };

static const char usage[] =
    "usage: cuda-run [OPTION]... -- PROGRAM [ARGUMENT]...\n"
    "\n"
    "Runs a program that finds a driver with NVIDIA GPUs (one gh100 unless told otherwise).\n"
    "\n"
    "  --gpu CHIP          a GPU; may be repeated\n"
    "  --machine FILE      a description of all (YAML, as tests/cuda/README.md says)\n"
    "  --no-permission     counters are for administrators\n"
    "  --without LIBRARY   driver, cupti, perf or nvml: it is not installed\n"
    "  --old-cupti         that of CUDA 12.4, without PM sampling and ranges\n"
    "  --fault TEXT        FUNCTION=RESULT|crash|hang|delay:US[@N[+]] (cuda.h)\n"
    "  --list              print the chips\n";

struct run {
    char description[4096];
    const char *machine_file;
    const char *faults[CUDA_FAULTS];
    uint32_t fault_count;
    bool has_no_permission, has_old_cupti;
    const char *without;
};

static bool add_gpu(struct run *run, const char *chip)
{
    const size_t length = strlen(run->description);

    if (!cuda_chip_find(chip) || length + strlen(chip) + 32 > sizeof(run->description)) {
        (void)fprintf(stderr, "cuda-run: no chip \"%s\"; --list prints them\n", chip);
        return false;
    }
    (void)snprintf(run->description + length, sizeof(run->description) - length, "{chip: %s}, ",
                   chip);
    return true;
}

/* -1: go on; else the exit status. */
static int parse(struct run *run, int count, char **arguments)
{
    static const struct option options[] = {{"gpu", required_argument, NULL, 'g'},
                                            {"machine", required_argument, NULL, 'm'},
                                            {"no-permission", no_argument, NULL, 'p'},
                                            {"without", required_argument, NULL, 'w'},
                                            {"old-cupti", no_argument, NULL, 'o'},
                                            {"fault", required_argument, NULL, 'F'},
                                            {"list", no_argument, NULL, 'l'},
                                            {"help", no_argument, NULL, 'h'},
                                            {NULL, 0, NULL, 0}};

    for (;;) {
        switch (getopt_long(count, arguments, "+h", options, NULL)) {
        case -1:
            return -1;
        case 'g':
            if (!add_gpu(run, optarg))
                return BAD_USAGE;
            break;
        case 'm':
            run->machine_file = optarg;
            break;
        case 'p':
            run->has_no_permission = true;
            break;
        case 'o':
            run->has_old_cupti = true;
            break;
        case 'w':
            run->without = optarg;
            break;
        case 'F':
            if (run->fault_count == CUDA_FAULTS)
                return BAD_USAGE;
            run->faults[run->fault_count++] = optarg;
            break;
        case 'l':
            for (const char *const *name = cuda_chip_names(); *name; name++)
                (void)puts(*name);
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

static struct cuda_machine *start(const struct run *run)
{
    char text[sizeof(run->description) + 128];
    struct zeta_yaml_error error;
    struct cuda_machine *machine;
    char *content;
    size_t length;

    if (!run->machine_file) {
        (void)snprintf(text, sizeof(text), "{format: 1, cupti: %d, permits: %s, gpus: [%s]}",
                       run->has_old_cupti ? 22 : 130001, run->has_no_permission ? "false" : "true",
                       run->description[0] ? run->description : "{chip: gh100}");
        return cuda_start(text);
    }
    content = zeta_yaml_read_text(run->machine_file, NULL, &length, &error);
    if (!content) {
        (void)fprintf(stderr, "cuda-run: %s: %s\n", run->machine_file, error.text);
        return NULL;
    }
    content = realloc(content, length + 1);
    if (!content)
        return NULL;
    content[length] = '\0';
    machine = cuda_start(content);
    free(content);
    return machine;
}

/* A folder with links to the libraries that are installed, before all others. */
static bool set_libraries(const struct cuda_machine *machine, const struct run *run)
{
    const struct {
        const char *word, *file;
    } libraries[] = {{"driver", "libcuda.so.1"},
                     {"cupti", run->has_old_cupti ? "libcupti.so.12" : "libcupti.so.13"},
                     {"perf", "libnvperf_host.so"},
                     {"nvml", "libnvidia-ml.so.1"}};
    const char *before = getenv("LD_LIBRARY_PATH");
    char from[4096], to[4096];

    for (size_t i = 0; i < sizeof(libraries) / sizeof(libraries[0]); i++) {
        if (run->without && strcmp(run->without, libraries[i].word) == 0)
            continue;
        (void)snprintf(from, sizeof(from), "%s/%s", CUDA_LIBRARIES, libraries[i].file);
        (void)snprintf(to, sizeof(to), "%.4000s/%s", cuda_folder(machine), libraries[i].file);
        if (symlink(from, to) != 0)
            return false;
    }
    (void)snprintf(to, sizeof(to), "%.2000s%s%.2000s", cuda_folder(machine), before ? ":" : "",
                   before ? before : "");
    return setenv("LD_LIBRARY_PATH", to, 1) == 0;
}

/* For programs of Zeta: its plugin takes these libraries and files, and nothing of the machine. */
static bool set_plugin(const struct cuda_machine *machine)
{
    static const char *const libraries[] = {"LIBCUDA", "LIBCUPTI", "LIBNVIDIA_ML"};
    char name[64], root[4096];
    bool is_set;

    (void)snprintf(root, sizeof(root), "%.4000s/root", cuda_folder(machine));
    is_set = setenv("ZETA_PLUGIN_NVIDIA_ROOT", root, 1) == 0;
    for (size_t i = 0; i < sizeof(libraries) / sizeof(libraries[0]); i++) {
        (void)snprintf(name, sizeof(name), "ZETA_PLUGIN_NVIDIA_%s", libraries[i]);
        is_set = setenv(name, cuda_folder(machine), 1) == 0 && is_set;
    }
    return is_set;
}

static int run_program(char **arguments)
{
    int status = 0;
    const pid_t child = fork();

    if (child < 0) {
        perror("cuda-run: fork");
        return NOT_STARTED;
    }
    if (child == 0) {
        (void)execvp(arguments[0], arguments);
        (void)fprintf(stderr, "cuda-run: %s: %s\n", arguments[0], strerror(errno));
        _exit(NOT_STARTED);
    }
    /* Keys at the terminal are for the program; the machine goes when it has gone. */
    (void)signal(SIGINT, SIG_IGN);
    (void)signal(SIGQUIT, SIG_IGN);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int main(int count, char **arguments)
{
    struct run run = {0};
    struct cuda_machine *machine;
    int status = parse(&run, count, arguments);

    if (status >= 0)
        return status;
    if (optind == count) {
        (void)fputs(usage, stderr);
        return BAD_USAGE;
    }
    machine = start(&run);
    if (!machine)
        return BAD_USAGE;
    status = BAD_USAGE;
    for (uint32_t i = 0; i < run.fault_count; i++) {
        if (!cuda_fault(machine, run.faults[i])) {
            (void)fprintf(stderr, "cuda-run: --fault %s: not of the form that --help shows\n",
                          run.faults[i]);
            goto end;
        }
    }
    if (set_libraries(machine, &run) && set_plugin(machine))
        status = run_program(arguments + optind);
end:
    cuda_stop(machine);
    return status;
}
