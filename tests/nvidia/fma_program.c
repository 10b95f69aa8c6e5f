/*
 * fma_program LAUNCHES SIZE [PAUSE_US [KERNEL]]: a program of CUDA that knows nothing of Zeta. It
 * launches a kernel whose counts are known (known.h), waits for it, and prints for the usual one,
 * fma_loop, how many instructions its warps execute with the compiler of the first measurements.
 * With a pause it waits for each launch, and rests that long behind it.
 */
#include <dlfcn.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/nvidia/known.h"

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

int main(int argc, char **argv)
{
    int (*cuInit)(unsigned), (*cuDevicePrimaryCtxRetain)(void **, int), (*cuCtxSetCurrent)(void *);
    int (*cuModuleLoadDataEx)(void **, const void *, unsigned, int *, void **);
    int (*cuModuleGetFunction)(void **, void *, const char *);
    int (*cuMemAlloc)(uint64_t *, size_t);
    int (*cuLaunchKernel)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                          unsigned, void *, void **, void **);
    int (*cuStreamSynchronize)(void *), (*cuModuleUnload)(void *);
    const struct known_kernel *known = known_find(argc == 5 ? argv[4] : "fma_loop");
    uint64_t values[KNOWN_MOST_ARGUMENTS];
    void *arguments[KNOWN_MOST_ARGUMENTS], *context, *module, *function;
    uint32_t launches, size, pause_us, groups;
    char *text;

    if (argc < 3 || argc > 5 || !known) {
        (void)fputs(
            "usage: fma_program LAUNCHES SIZE [PAUSE_US [KERNEL]]; kernels are in known.c\n",
            stderr);
        return 1;
    }
    launches = (uint32_t)strtoul(argv[1], NULL, 10);
    size = (uint32_t)strtoul(argv[2], NULL, 10);
    pause_us = argc > 3 ? (uint32_t)strtoul(argv[3], NULL, 10) : 0;
    groups = known_groups(known, size);
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
    text = known_read(known);
    if (!text)
        return 1;
    check("cuInit", cuInit(0));
    check("cuDevicePrimaryCtxRetain", cuDevicePrimaryCtxRetain(&context, 0));
    check("cuCtxSetCurrent", cuCtxSetCurrent(context));
    check("cuModuleLoadDataEx", cuModuleLoadDataEx(&module, text, 0, NULL, NULL));
    check("cuModuleGetFunction", cuModuleGetFunction(&function, module, known->name));
    for (uint32_t i = 0; i < known->argument_count; i++) {
        const struct known_argument *argument = &known->arguments[i];

        values[i] = argument->kind == KNOWN_SIZE ? size : argument->bits;
        arguments[i] = &values[i];
        if (argument->kind == KNOWN_MEMORY)
            check("cuMemAlloc",
                  cuMemAlloc(&values[i], (size_t)groups * KNOWN_GROUP * known->memory_bytes));
    }
    for (uint32_t i = 0; i < launches; i++) {
        check("cuLaunchKernel",
              cuLaunchKernel(function, groups, 1, 1, KNOWN_GROUP, 1, 1, 0, NULL, arguments, NULL));
        if (pause_us > 0) {
            check("cuStreamSynchronize", cuStreamSynchronize(NULL));
            (void)usleep(pause_us);
        }
    }
    check("cuStreamSynchronize", cuStreamSynchronize(NULL));
    check("cuModuleUnload", cuModuleUnload(module));
    if (argc < 5)
        (void)printf("%" PRIu64 " instructions\n",
                     launches * (uint64_t)groups * KNOWN_GROUP / 32 * (67 * (uint64_t)size + 28));
    free(text);
    return 0;
}
