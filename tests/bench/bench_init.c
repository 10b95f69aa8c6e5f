/*
 * How long the first zeInit of a process takes: libzeta with the manifests of Intel's and NVIDIA's
 * GPUs, of which none matches, without a manifest, and the installed loader without a driver; and
 * with the plugin for NVIDIA, without libcuda and with one of our own (tests/cuda), which starts at
 * once. Every sample is a process of its own, because initialisation happens once; opening the
 * library is not part of the time. The library is copied to a tree of its own, where it finds
 * nothing else.
 */
#include <dlfcn.h>
#include <glob.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <zeta/clock.h>

#include "tests/bench/bench.h"
#include "tests/cuda/cuda.h"

#define SAMPLES 41
#define LOADER "libze_loader.so.1"
#define OURS "libzeta.so.0"
#define NVIDIA ZETA_BENCH_DATA "/plugins.d/30-nvidia.yaml"
#define MANIFESTS ZETA_BENCH_DATA "/plugins.d/[23]0-*.yaml"

typedef uint32_t (*init_fn)(uint32_t flags);

static bool find_symbol(void *library, const char *name, void *out_function)
{
    void *symbol = dlsym(library, name);

    memcpy(out_function, &symbol, sizeof(symbol));
    return symbol != NULL;
}

/* The file behind the name that was opened: libze_loader.so.1.8.12. */
static void print_file(init_fn init)
{
    char real[PATH_MAX];
    void *address;
    Dl_info info;
    char *slash;

    memcpy(&address, &init, sizeof(address));
    if (dladdr(address, &info) == 0 || !info.dli_fname || !realpath(info.dli_fname, real))
        return;
    slash = strrchr(real, '/');
    printf(" from %s", slash ? slash + 1 : real);
}

/* The measured process: prints nanoseconds, the result, and the file that was opened. */
static int measure(const char *path)
{
    void *library = dlopen(path, RTLD_NOW);
    uint64_t begin_ns;
    uint64_t end_ns;
    uint32_t result;
    init_fn init;

    if (!library || !find_symbol(library, "zeInit", &init)) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    begin_ns = zeta_monotonic_ns();
    result = init(0);
    end_ns = zeta_monotonic_ns();
    printf("%llu result %u", (unsigned long long)(end_ns - begin_ns), result);
    print_file(init);
    printf("\n");
    return 0;
}

/* One sample; out_rest receives what follows the time. */
static bool sample(const char *path, uint64_t *out_ns, char *out_rest, size_t rest_bytes)
{
    char line[256];
    char command[512];
    FILE *pipe;
    char *end;

    (void)snprintf(command, sizeof(command), "/proc/%d/exe %s", (int)getpid(), path);
    pipe = popen(command, "r");
    if (!pipe)
        return false;
    if (!fgets(line, sizeof(line), pipe))
        line[0] = '\0';
    if (pclose(pipe) != 0 || !line[0])
        return false;
    line[strcspn(line, "\n")] = '\0';
    *out_ns = strtoull(line, &end, 10);
    (void)snprintf(out_rest, rest_bytes, "%s", end);
    return true;
}

static int compare(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left;
    uint64_t b = *(const uint64_t *)right;

    return a < b ? -1 : a > b;
}

/* Median and smallest of many samples. */
static bool run(const char *path, uint64_t *out_median_ns, uint64_t *out_least_ns, char *out_rest,
                size_t rest_bytes)
{
    uint64_t times_ns[SAMPLES];

    for (size_t i = 0; i < SAMPLES; i++) {
        if (!sample(path, &times_ns[i], out_rest, rest_bytes))
            return false;
    }
    qsort(times_ns, SAMPLES, sizeof(times_ns[0]), compare);
    *out_median_ns = times_ns[SAMPLES / 2];
    *out_least_ns = times_ns[0];
    return true;
}

static bool copy_file(const char *from, const char *directory)
{
    const char *name = strrchr(from, '/');
    char command[1024];

    (void)snprintf(command, sizeof(command), "cp -L '%s' '%s/%s'", from, directory, name + 1);
    return system(command) == 0;
}

/* Copies the manifests; how many there are, 0 when one cannot be copied. */
static unsigned copy_manifests(const char *directory)
{
    unsigned count = 0;
    glob_t found;

    if (glob(MANIFESTS, 0, NULL, &found) != 0)
        return 0;
    for (size_t i = 0; i < found.gl_pathc; i++)
        count += copy_file(found.gl_pathv[i], directory);
    count = count == found.gl_pathc ? count : 0;
    globfree(&found);
    return count;
}

static void remove_tree(const char *directory)
{
    char command[256];

    (void)snprintf(command, sizeof(command), "rm -r '%s'", directory);
    if (system(command) != 0)
        fprintf(stderr, "bench_init: %s cannot be removed\n", directory);
}

/* A line of the table; false when it cannot be measured. */
static bool print(const char *path, const char *what)
{
    uint64_t median_ns = 0;
    uint64_t least_ns = 0;
    char rest[256] = "";

    if (!run(path, &median_ns, &least_ns, rest, sizeof(rest)))
        return false;
    printf("  %-36s %.3f ms (least %.3f;%s)\n", what, (double)median_ns / 1e6,
           (double)least_ns / 1e6, rest);
    return fflush(stdout) == 0;
}

/* Ours without a manifest, then with all. */
static bool print_ours(const char *directory)
{
    char library[256];
    char what[64];
    unsigned count;

    (void)snprintf(library, sizeof(library), "%s/" OURS, directory);
    if (!copy_file(ZETA_BUILD_DIR "/lib/" OURS, directory) || !print(library, "no manifest"))
        return false;
    count = copy_manifests(directory);
    (void)snprintf(what, sizeof(what), "%u manifests, none matches", count);
    return count > 0 && print(library, what);
}

/* The plugin for NVIDIA on a machine with the driver's files, without and with its library. */
static bool print_nvidia(void)
{
    struct cuda_machine *machine = cuda_start("gh100");
    char root[PATH_MAX];
    bool measured;

    if (!machine)
        return false;
    (void)snprintf(root, sizeof(root), "%s/root", cuda_folder(machine));
    (void)setenv("ZETA_LOG", "error", 1);
    (void)setenv("ZETA_PLUGIN_PATH", NVIDIA, 1);
    (void)setenv("ZETA_PLUGIN_NVIDIA_ROOT", root, 1);
    (void)setenv("ZETA_PLUGIN_NVIDIA_LIBCUDA", root, 1);
    measured = print(ZETA_BUILD_DIR "/lib/" OURS, "NVIDIA's driver without libcuda");
    (void)setenv("ZETA_PLUGIN_NVIDIA_LIBCUDA", CUDA_LIBRARIES, 1);
    measured = measured && print(ZETA_BUILD_DIR "/lib/" OURS, "NVIDIA's driver, one GPU (fake)");
    cuda_stop(machine);
    return measured;
}

int main(int argc, char **argv)
{
    char directory[] = "/tmp/zeta-bench-XXXXXX";
    bool measured;

    if (argc > 1)
        return measure(argv[1]);
    if (!mkdtemp(directory)) {
        fprintf(stderr, "bench_init: %s cannot be made\n", directory);
        return 1;
    }
    (void)setenv("ZETA_PLUGIN_PATH", directory, 1);
    (void)setenv("ZETA_CONFIG", "none", 1);
    bench_begin("first zeInit of a process: median of 41",
                "manifests, or NVIDIA without libcuda, <= 1 ms; a driver <= cuInit + 10 ms");
    measured = print_ours(directory) && print_nvidia();
    remove_tree(directory);
    if (!measured) {
        fprintf(stderr, "bench_init: libzeta cannot be measured\n");
        return 1;
    }
    if (!print(LOADER, "peer: the loader without a driver"))
        printf("  peer: " LOADER " is not installed\n");
    return 0;
}
