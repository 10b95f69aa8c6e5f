/*
 * How long the first zeInit of a process takes: libzeta with ten manifests of which none matches,
 * and the installed loader without a driver. Every sample is a process of its own, because
 * initialisation happens once; opening the library is not part of the time.
 */
#include <dlfcn.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tests/bench/bench.h"

#define SAMPLES 41
#define MANIFESTS 10
#define LOADER "libze_loader.so.1"
#define OURS ZETA_BUILD_DIR "/lib/libzeta.so.0"

typedef uint32_t (*init_fn)(uint32_t flags);

static uint64_t now_ns(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

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
    begin_ns = now_ns();
    result = init(0);
    end_ns = now_ns();
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

static bool write_manifests(const char *directory)
{
    char path[256];

    for (int i = 0; i < MANIFESTS; i++) {
        FILE *file;

        (void)snprintf(path, sizeof(path), "%s/%02d-bench%d.yaml", directory, 10 + i, i);
        file = fopen(path, "w");
        if (!file)
            return false;
        fprintf(file,
                "format: \"1.0\"\nid: bench%d\nclass: hardware\nlibrary: libzeta-bench%d.so\n"
                "abi: {min: 1, max: 1}\nversion: 0.3.0\nlicense: MIT\n"
                "provides: [metric.stream, metric.query, metric.programmable]\nmatches:\n"
                "  - {pci: {vendor: 0xfff%d, device: [0x64a0, 0xe20b, 0xe20c]}, drm_driver: [xe]}\n"
                "needs:\n  devices: [\"/dev/dri/renderD*\"]\n"
                "  any_of: [CAP_PERFMON, CAP_SYS_ADMIN]\n"
                "metrics: [\"bench/*.yaml\"]\nsettings:\n  default_period_ns: 1000000\n",
                i, i, i);
        if (fclose(file) != 0)
            return false;
    }
    return true;
}

static void remove_manifests(const char *directory)
{
    char path[256];

    for (int i = 0; i < MANIFESTS; i++) {
        (void)snprintf(path, sizeof(path), "%s/%02d-bench%d.yaml", directory, 10 + i, i);
        (void)unlink(path);
    }
    (void)rmdir(directory);
}

int main(int argc, char **argv)
{
    char directory[] = "/tmp/zeta-bench-XXXXXX";
    uint64_t median_ns = 0;
    uint64_t least_ns = 0;
    char rest[256] = "";
    bool measured;

    if (argc > 1)
        return measure(argv[1]);
    if (!mkdtemp(directory) || !write_manifests(directory)) {
        fprintf(stderr, "bench_init: %s cannot be written\n", directory);
        return 1;
    }
    (void)setenv("ZETA_PLUGIN_PATH", directory, 1);
    (void)setenv("ZETA_CONFIG", "none", 1);
    measured = run(OURS, &median_ns, &least_ns, rest, sizeof(rest));
    remove_manifests(directory);
    if (!measured) {
        fprintf(stderr, "bench_init: %s cannot be measured\n", OURS);
        return 1;
    }
    bench_begin("first zeInit of a process, 10 manifests, none matches: median", "<= 1 ms");
    printf("  libzeta %.3f ms (least %.3f;%s)", (double)median_ns / 1e6, (double)least_ns / 1e6,
           rest);
    if (run(LOADER, &median_ns, &least_ns, rest, sizeof(rest)))
        printf("; peer: zeInit of the loader without a driver %.3f ms "
               "(least %.3f;%s)\n",
               (double)median_ns / 1e6, (double)least_ns / 1e6, rest);
    else
        printf("; peer: " LOADER " is not installed\n");
    return 0;
}
