/*
 * What benchmarks of NVIDIA GPUs share: the fake GPU or the one that is there, and an empty kernel
 * that is launched by the driver's own interface.
 */
#ifndef ZETA_TESTS_BENCH_BENCH_CUDA_H
#define ZETA_TESTS_BENCH_BENCH_CUDA_H

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>

#include "tests/bench/bench.h"
#include "tests/cuda/cuda.h"

/** A module with the kernel `empty`. */
static const char bench_cuda_kernels[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
                                         ".visible .entry empty()\n{\n    ret;\n}\n";

/**
 * Lets this process see a fake H100 with the libraries of tests/cuda, or, with
 * ZETA_TEST_NVIDIA=device, the GPU that is there (NULL), and no other plugin. Before the first call
 * of the library; cuda_stop() ends the machine.
 */
static inline struct cuda_machine *bench_cuda_machine(void)
{
    static const char *const settings[] = {"LIBCUDA", "LIBCUPTI", "LIBNVIDIA_ML"};
    const char *wanted = getenv("ZETA_TEST_NVIDIA");
    struct cuda_machine *machine;
    char text[PATH_MAX];

    (void)setenv("ZETA_PLUGIN_PATH", ZETA_BUILD_DIR "/share/zeta", 0);
    (void)setenv("ZETA_PLUGINS_SELECT", "nvidia", 1);
    (void)setenv("ZETA_CONFIG", "none", 0);
    if (wanted && strcmp(wanted, "device") == 0)
        return NULL;
    machine = cuda_start("gh100");
    if (!machine)
        exit(1);
    (void)snprintf(text, sizeof(text), "%.3000s/root", cuda_folder(machine));
    (void)setenv("ZETA_PLUGIN_NVIDIA_ROOT", text, 1);
    for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) {
        (void)snprintf(text, sizeof(text), "ZETA_PLUGIN_NVIDIA_%s", settings[i]);
        (void)setenv(text, CUDA_LIBRARIES, 1);
    }
    return machine;
}

/** Calls of the driver, and a stream for them. */
struct bench_cuda {
    int (*launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                  void *, void **, void **);
    int (*synchronize)(void *);
    int (*load)(void **, const void *);
    int (*unload)(void *);
    void *function, *stream;
};

static inline void bench_cuda_must(int result, const char *what)
{
    if (result == 0)
        return;
    (void)fprintf(stderr, "%s: %s: result %d\n", program_invocation_short_name, what, result);
    exit(1);
}

static inline void *bench_cuda_find(void *library, const char *name)
{
    void *symbol = library ? dlsym(library, name) : NULL;

    if (symbol)
        return symbol;
    (void)fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, name, dlerror());
    exit(1);
}

/** Opens the driver of the machine (NULL: the one that is there) and makes kernel and stream. */
static inline struct bench_cuda bench_cuda_open(const struct cuda_machine *machine)
{
    void *library =
        dlopen(machine ? CUDA_LIBRARIES "/libcuda.so.1" : "libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    int (*init)(unsigned), (*get)(int *, int), (*retain)(void **, int), (*current)(void *);
    int (*find)(void **, void *, const char *), (*create)(void **, unsigned);
    void *context = NULL, *module = NULL;
    struct bench_cuda cuda = {0};
    int device = 0;

    *(void **)&init = bench_cuda_find(library, "cuInit");
    *(void **)&get = bench_cuda_find(library, "cuDeviceGet");
    *(void **)&retain = bench_cuda_find(library, "cuDevicePrimaryCtxRetain");
    *(void **)&current = bench_cuda_find(library, "cuCtxSetCurrent");
    *(void **)&cuda.load = bench_cuda_find(library, "cuModuleLoadData");
    *(void **)&cuda.unload = bench_cuda_find(library, "cuModuleUnload");
    *(void **)&find = bench_cuda_find(library, "cuModuleGetFunction");
    *(void **)&create = bench_cuda_find(library, "cuStreamCreate");
    *(void **)&cuda.launch = bench_cuda_find(library, "cuLaunchKernel");
    *(void **)&cuda.synchronize = bench_cuda_find(library, "cuStreamSynchronize");
    bench_cuda_must(init(0), "cuInit");
    bench_cuda_must(get(&device, 0), "cuDeviceGet");
    bench_cuda_must(retain(&context, device), "cuDevicePrimaryCtxRetain");
    bench_cuda_must(current(context), "cuCtxSetCurrent");
    bench_cuda_must(cuda.load(&module, bench_cuda_kernels), "cuModuleLoadData");
    bench_cuda_must(find(&cuda.function, module, "empty"), "cuModuleGetFunction");
    bench_cuda_must(create(&cuda.stream, 1), "cuStreamCreate");
    return cuda;
}

/** Launches the empty kernel so many times in a row. */
static inline void bench_cuda_launch(const struct bench_cuda *cuda, unsigned count)
{
    while (count-- > 0)
        bench_cuda_must(cuda->launch(cuda->function, 1, 1, 1, 1, 1, 1, 0, cuda->stream, NULL, NULL),
                        "cuLaunchKernel");
}

static inline void bench_cuda_wait(const struct bench_cuda *cuda)
{
    bench_cuda_must(cuda->synchronize(cuda->stream), "cuStreamSynchronize");
}

#endif
