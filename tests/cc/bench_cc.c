/*
 * Time from a small SPIR-V module to a kernel file: zeta-vgpu-cc --serve, as the plugin starts it,
 * beside the same by the programs of LLVM one after the other (llvm-spirv, clang, ld.lld).
 */
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/bench/bench.h"
#include <zeta/compiler/protocol.h>

enum { ROUNDS = 21 };

extern char **environ;

static double now_ms(void)
{
    struct timespec time;

    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

/* Runs a program with files as its standard streams; ends the benchmark when it fails. */
static void run(char *const *words, const char *input, const char *output)
{
    posix_spawn_file_actions_t actions;
    pid_t child;
    int status;

    if (posix_spawn_file_actions_init(&actions) != 0 ||
        posix_spawn_file_actions_addopen(&actions, 0, input, O_RDONLY, 0) != 0 ||
        posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY | O_CREAT | O_TRUNC, 0600) !=
            0 ||
        posix_spawn(&child, words[0], &actions, NULL, words, environ) != 0 ||
        waitpid(child, &status, 0) != child || status != 0) {
        (void)fprintf(stderr, "bench_cc: %s failed\n", words[0]);
        exit(EXIT_FAILURE);
    }
    (void)posix_spawn_file_actions_destroy(&actions);
}

static void write_request(const char *module, const char *path)
{
    static char bytes[1 << 20];
    FILE *file = fopen(module, "rb");
    size_t size = file ? fread(bytes, 1, sizeof(bytes), file) : 0;
    const struct zeta_compile_request header = {ZETA_COMPILE_REQUEST_MAGIC, ZETA_COMPILE_VERSION,
                                                ZETA_COMPILE_SPIRV, 1};
    const struct zeta_compile_image image = {size, 0, 0};

    if (file)
        (void)fclose(file);
    file = fopen(path, "wb");
    if (size == 0 || !file || fwrite(&header, sizeof(header), 1, file) != 1 ||
        fwrite(&image, sizeof(image), 1, file) != 1 || fwrite(bytes, 1, size, file) != size ||
        fclose(file) != 0) {
        (void)fprintf(stderr, "bench_cc: %s cannot be made from %s\n", path, module);
        exit(EXIT_FAILURE);
    }
}

static int compare(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;

    return (a > b) - (a < b);
}

static void report(const char *what, double *times)
{
    qsort(times, ROUNDS, sizeof(*times), compare);
    printf("  %-34s median %6.1f ms   fastest %6.1f ms\n", what, times[ROUNDS / 2], times[0]);
}

static void bench(const char *folder, const char *name)
{
    static char compiler[] = COMPILER, serve[] = "--serve", translator[] = TRANSLATOR,
                reverse[] = "-r", o[] = "-o", clang[] = CLANG, linker[] = LINKER,
                target[] = "--target=x86_64-unknown-linux-gnu", pic[] = "-fPIC", x[] = "-x",
                ir[] = "ir", opt[] = "-O2", c[] = "-c", shared[] = "-shared",
                lazy[] = "--unresolved-symbols=ignore-all", quiet[] = "-w";
    char module[512], request[512], bitcode[512], object[512], image[512];
    char *const ours[] = {compiler, serve, NULL};
    char *const translate[] = {translator, reverse, module, o, bitcode, NULL};
    char *const compile[] = {clang, target, pic, quiet, opt, c, x, ir, bitcode, o, object, NULL};
    char *const link[] = {linker, shared, lazy, object, o, image, NULL};
    double own_times[ROUNDS], peer_times[ROUNDS];
    struct stat about;

    (void)snprintf(module, sizeof(module), "%s/%s.spv", KERNELS, name);
    (void)snprintf(request, sizeof(request), "%s/request", folder);
    (void)snprintf(bitcode, sizeof(bitcode), "%s/module.bc", folder);
    (void)snprintf(object, sizeof(object), "%s/module.o", folder);
    (void)snprintf(image, sizeof(image), "%s/module.elf", folder);
    write_request(module, request);
    for (int i = 0; i < ROUNDS; i++) {
        double begin = now_ms();
        double middle;

        run(ours, request, image);
        middle = now_ms();
        run(translate, "/dev/null", "/dev/null");
        run(compile, "/dev/null", "/dev/null");
        run(link, "/dev/null", "/dev/null");
        peer_times[i] = now_ms() - middle;
        own_times[i] = middle - begin;
    }
    printf("%s.spv (%ld bytes):\n", name, stat(module, &about) == 0 ? (long)about.st_size : 0);
    report("zeta-vgpu-cc --serve", own_times);
    report("llvm-spirv, clang, ld.lld", peer_times);
    (void)unlink(request);
    (void)unlink(bitcode);
    (void)unlink(object);
    (void)unlink(image);
}

int main(void)
{
    static const char *const names[] = {"small", "memory", "data"};
    char folder[] = "/tmp/zeta-bench-cc-XXXXXX";

    if (!mkdtemp(folder))
        return EXIT_FAILURE;
    bench_begin("from a SPIR-V module to a kernel file", NULL);
    /*
     * The peer compiles for the host, as clang alone cannot for RV64 (test_traps.c says why), and
     * without runtime library and entries: it has less to do.
     */
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        bench(folder, names[i]);
    (void)rmdir(folder);
    return EXIT_SUCCESS;
}
