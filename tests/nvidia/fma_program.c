/*
 * fma_program LAUNCHES TURNS: a program of CUDA that knows nothing of Zeta. It launches the loop
 * whose counts are known, waits for it, and prints how many instructions its warps executed.
 */
#include <dlfcn.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { GROUPS = 528, GROUP = 256, WARPS = GROUPS * GROUP / 32 };

static void *library;

static void *find(const char *name)
{
    void *address = dlsym(library, name);

    if (!address) {
        (void)fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
    return address;
}

/* Ends the program if a call failed. */
static void check(const char *call, int result)
{
    if (result != 0) {
        (void)fprintf(stderr, "%s: %d\n", call, result);
        exit(1);
    }
}

static char *read_text(const char *path)
{
    char *text = calloc(1, 65536);
    FILE *file = fopen(path, "r");

    if (!text || !file || fread(text, 1, 65535, file) == 0) {
        perror(path);
        exit(1);
    }
    (void)fclose(file);
    return text;
}

int main(int argc, char **argv)
{
    int (*cuInit)(unsigned), (*cuDevicePrimaryCtxRetain)(void **, int), (*cuCtxSetCurrent)(void *);
    int (*cuModuleLoadDataEx)(void **, const void *, unsigned, int *, void **);
    int (*cuModuleGetFunction)(void **, void *, const char *);
    int (*cuMemAlloc)(uint64_t *, size_t);
    int (*cuLaunchKernel)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                          unsigned, void *, void **, void **);
    int (*cuStreamSynchronize)(void *), (*cuModuleUnload)(void *);
    uint32_t launches, turns;
    uint64_t memory;
    float a = 0.5f, b = 0.25f;
    void *arguments[] = {&memory, &turns, &a, &b}, *context, *module, *function;
    char *text;

    if (argc != 3) {
        (void)fputs("usage: fma_program LAUNCHES TURNS\n", stderr);
        return 1;
    }
    launches = (uint32_t)strtoul(argv[1], NULL, 10);
    turns = (uint32_t)strtoul(argv[2], NULL, 10);
    library = dlopen("libcuda.so.1", RTLD_NOW);
    if (!library) {
        (void)fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    *(void **)&cuInit = find("cuInit");
    *(void **)&cuDevicePrimaryCtxRetain = find("cuDevicePrimaryCtxRetain");
    *(void **)&cuCtxSetCurrent = find("cuCtxSetCurrent");
    *(void **)&cuModuleLoadDataEx = find("cuModuleLoadDataEx");
    *(void **)&cuModuleGetFunction = find("cuModuleGetFunction");
    *(void **)&cuMemAlloc = find("cuMemAlloc_v2");
    *(void **)&cuLaunchKernel = find("cuLaunchKernel");
    *(void **)&cuStreamSynchronize = find("cuStreamSynchronize");
    *(void **)&cuModuleUnload = find("cuModuleUnload");
    text = read_text(ZETA_SOURCE_DIR "/tests/cuda/kernels/kernels.ptx");
    check("cuInit", cuInit(0));
    check("cuDevicePrimaryCtxRetain", cuDevicePrimaryCtxRetain(&context, 0));
    check("cuCtxSetCurrent", cuCtxSetCurrent(context));
    check("cuModuleLoadDataEx", cuModuleLoadDataEx(&module, text, 0, NULL, NULL));
    check("cuModuleGetFunction", cuModuleGetFunction(&function, module, "fma_loop"));
    check("cuMemAlloc", cuMemAlloc(&memory, (size_t)GROUPS * GROUP * sizeof(float)));
    for (uint32_t i = 0; i < launches; i++)
        check("cuLaunchKernel",
              cuLaunchKernel(function, GROUPS, 1, 1, GROUP, 1, 1, 0, NULL, arguments, NULL));
    check("cuStreamSynchronize", cuStreamSynchronize(NULL));
    check("cuModuleUnload", cuModuleUnload(module));
    (void)printf("%" PRIu64 " instructions\n",
                 launches * (uint64_t)WARPS * (67 * (uint64_t)turns + 28));
    free(text);
    return 0;
}
