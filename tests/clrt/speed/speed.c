/*
 * clrt-speed OURS OTHER ROUNDS: runs kernels of two folders of PTX in turn on the GPU of this
 * machine, by libcuda alone, and prints a line for each:
 *
 *   KERNEL  best and median of the first in us, its registers, those of the second, equal|DIFFERENT
 *
 * ROUNDS 0: one launch of each, for a profiler; nothing is timed. Exits with 1 if the results of
 * two kernels differ in a bit, with 77 without libcuda or a device.
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 8192, NUMBERS = SIDE * SIDE, PRODUCT = 4096, MOST_ROUNDS = 100, SIDES = 2 };
enum { CU_FUNC_REGISTERS = 4, WARM_UP = 2 };

static const size_t bytes = sizeof(float) * NUMBERS;

/* What is used of libcuda, as its manual declares it. */
static struct {
    int (*cuInit)(unsigned);
    int (*cuDeviceGet)(int *, int);
    int (*cuDevicePrimaryCtxRetain)(void **, int);
    int (*cuCtxSetCurrent)(void *);
    int (*cuCtxSynchronize)(void);
    int (*cuMemAlloc_v2)(uint64_t *, size_t);
    int (*cuMemcpyHtoD_v2)(uint64_t, const void *, size_t);
    int (*cuMemcpyDtoH_v2)(void *, uint64_t, size_t);
    int (*cuMemsetD32_v2)(uint64_t, unsigned, size_t);
    int (*cuModuleLoadData)(void **, const void *);
    int (*cuModuleGetFunction)(void **, void *, const char *);
    int (*cuFuncGetAttribute)(int *, int, void *);
    int (*cuLaunchKernel)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                          unsigned, void *, void **, void **);
    int (*cuEventCreate)(void **, unsigned);
    int (*cuEventRecord)(void *, void *);
    int (*cuEventSynchronize)(void *);
    int (*cuEventElapsedTime)(float *, void *, void *);
    int (*cuGetErrorString)(int, const char **);
} cuda;

static const char *const names[] = {"cuInit",
                                    "cuDeviceGet",
                                    "cuDevicePrimaryCtxRetain",
                                    "cuCtxSetCurrent",
                                    "cuCtxSynchronize",
                                    "cuMemAlloc_v2",
                                    "cuMemcpyHtoD_v2",
                                    "cuMemcpyDtoH_v2",
                                    "cuMemsetD32_v2",
                                    "cuModuleLoadData",
                                    "cuModuleGetFunction",
                                    "cuFuncGetAttribute",
                                    "cuLaunchKernel",
                                    "cuEventCreate",
                                    "cuEventRecord",
                                    "cuEventSynchronize",
                                    "cuEventElapsedTime",
                                    "cuGetErrorString"};

/* Buffers of the GPU: two of random numbers, and what a kernel writes. */
static uint64_t a, b, out;
static const int side = SIDE, product = PRODUCT;
static const unsigned numbers = NUMBERS, turns = 4096;
static const float factor = 0.999F;
static const unsigned no_offset;

/* A kernel, the file that has it, its launch and its arguments. */
static const struct work {
    const char *name;
    const char *file;
    unsigned groups[2];
    unsigned group[2];
    const void *arguments[4];
} works[] = {
    {"matmul", "matmul", {PRODUCT / 16, PRODUCT / 16}, {16, 16}, {&a, &b, &out, &product}},
    {"vector_add", "vector_add", {NUMBERS / 256, 1}, {256, 1}, {&a, &b, &out, &numbers}},
    {"reduce", "speed", {4096, 1}, {256, 1}, {&a, &out, &numbers}},
    {"chains", "speed", {4096, 1}, {256, 1}, {&out, &turns, &factor}},
    {"stencil", "speed", {SIDE / 32, SIDE / 8}, {32, 8}, {&a, &out, &side, &side}},
    {"transpose", "speed", {SIDE / 16, SIDE / 16}, {16, 16}, {&a, &out, &side, &side}},
};

static void check(int error, const char *what)
{
    const char *text = "";

    if (error == 0)
        return;
    (void)cuda.cuGetErrorString(error, &text);
    (void)fprintf(stderr, "clrt-speed: %s: %d, %s\n", what, error, text);
    exit(1);
}

static bool open_library(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    void **slots = (void **)(void *)&cuda;
    void *context = NULL;
    int device = 0;

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        slots[i] = library ? dlsym(library, names[i]) : NULL;
        if (!slots[i])
            return false;
    }
    if (cuda.cuInit(0) != 0 || cuda.cuDeviceGet(&device, 0) != 0)
        return false;
    check(cuda.cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain");
    check(cuda.cuCtxSetCurrent(context), "cuCtxSetCurrent");
    return true;
}

static void *allocate(size_t size)
{
    void *memory = malloc(size);

    if (memory)
        return memory;
    (void)fputs("clrt-speed: no memory\n", stderr);
    exit(1);
}

/* Numbers from 0 to 1 of which sums and products have to be rounded. */
static uint64_t new_buffer(float *numbers_of_host, uint32_t seed)
{
    uint64_t buffer = 0;

    for (size_t i = 0; i < NUMBERS; i++) {
        seed = seed * 1664525 + 1013904223;
        numbers_of_host[i] = (float)(seed >> 8) * 0x1p-24F;
    }
    check(cuda.cuMemAlloc_v2(&buffer, bytes), "cuMemAlloc");
    check(cuda.cuMemcpyHtoD_v2(buffer, numbers_of_host, bytes), "cuMemcpyHtoD");
    return buffer;
}

static void *load(const char *folder, const struct work *work)
{
    char path[1024];
    const size_t room = 1 << 20;
    char *text = allocate(room);
    void *module = NULL, *function = NULL;
    FILE *file;

    (void)snprintf(path, sizeof(path), "%s/%s.ptx", folder, work->file);
    file = fopen(path, "r");
    if (!file) {
        (void)fprintf(stderr, "clrt-speed: %s cannot be opened\n", path);
        exit(1);
    }
    text[fread(text, 1, room - 1, file)] = '\0';
    (void)fclose(file);
    check(cuda.cuModuleLoadData(&module, text), path);
    check(cuda.cuModuleGetFunction(&function, module, work->name), path);
    free(text);
    return function;
}

/* Our kernels take the offset of the launch too; the driver reads what a kernel has. */
static void launch(const struct work *work, void *function)
{
    void *arguments[8];
    size_t count = 0;

    while (count < 4 && work->arguments[count]) {
        arguments[count] = (void *)(uintptr_t)work->arguments[count];
        count++;
    }
    for (unsigned i = 0; i < 3; i++)
        arguments[count++] = (void *)(uintptr_t)&no_offset;
    check(cuda.cuLaunchKernel(function, work->groups[0], work->groups[1], 1, work->group[0],
                              work->group[1], 1, 0, NULL, arguments, NULL),
          work->name);
}

static float time_us(const struct work *work, void *function, void *const events[2])
{
    float ms = 0;

    check(cuda.cuEventRecord(events[0], NULL), "cuEventRecord");
    launch(work, function);
    check(cuda.cuEventRecord(events[1], NULL), "cuEventRecord");
    check(cuda.cuEventSynchronize(events[1]), work->name);
    check(cuda.cuEventElapsedTime(&ms, events[0], events[1]), "cuEventElapsedTime");
    return ms * 1000;
}

static int compare_times(const void *left, const void *right)
{
    const float x = *(const float *)left, y = *(const float *)right;

    return (x > y) - (x < y);
}

/* What a kernel writes over zeroes. */
static void take_result(const struct work *work, void *function, void *result)
{
    check(cuda.cuMemsetD32_v2(out, 0, NUMBERS), "cuMemsetD32");
    launch(work, function);
    check(cuda.cuCtxSynchronize(), work->name);
    check(cuda.cuMemcpyDtoH_v2(result, out, bytes), "cuMemcpyDtoH");
}

/* In turn, so that both see the same clocks; the first rounds are not counted. */
static void measure(const struct work *work, const char *const folders[SIDES], unsigned rounds,
                    void *const results[SIDES])
{
    static float times[SIDES][MOST_ROUNDS];
    void *functions[SIDES], *events[2];
    int registers[SIDES];
    bool is_equal;

    for (unsigned i = 0; i < SIDES; i++) {
        functions[i] = load(folders[i], work);
        check(cuda.cuFuncGetAttribute(&registers[i], CU_FUNC_REGISTERS, functions[i]), work->name);
        check(cuda.cuEventCreate(&events[i], 0), "cuEventCreate");
        take_result(work, functions[i], results[i]);
    }
    is_equal = memcmp(results[0], results[1], bytes) == 0;
    for (unsigned round = 0; rounds > 0 && round < rounds + WARM_UP; round++) {
        for (unsigned i = 0; i < SIDES; i++)
            times[i][round < WARM_UP ? 0 : round - WARM_UP] = time_us(work, functions[i], events);
    }
    (void)printf("%s", work->name);
    for (unsigned i = 0; i < SIDES; i++) {
        qsort(times[i], rounds, sizeof(times[i][0]), compare_times);
        (void)printf(" %.2f %.2f %d", (double)times[i][0], (double)times[i][rounds / 2],
                     registers[i]);
    }
    (void)printf(" %s\n", is_equal ? "equal" : "DIFFERENT");
    (void)fflush(stdout);
}

int main(int argc, char **argv)
{
    const char *const *folders = (const char *const *)argv + 1;
    const unsigned rounds = argc == 4 ? (unsigned)strtoul(argv[3], NULL, 10) : MOST_ROUNDS + 1;
    void *results[SIDES];

    if (rounds > MOST_ROUNDS) {
        (void)fprintf(stderr, "usage: clrt-speed OURS OTHER ROUNDS\nROUNDS is at most %d\n",
                      MOST_ROUNDS);
        return 2;
    }
    if (!open_library()) {
        (void)puts("skipped: no libcuda.so.1, or no device that computes");
        return 77;
    }
    for (unsigned i = 0; i < SIDES; i++)
        results[i] = allocate(bytes);
    a = new_buffer(results[0], 1);
    b = new_buffer(results[0], 2);
    check(cuda.cuMemAlloc_v2(&out, bytes), "cuMemAlloc");
    for (size_t i = 0; i < sizeof(works) / sizeof(works[0]); i++)
        measure(&works[i], folders, rounds, results);
    free(results[0]);
    free(results[1]);
    return 0;
}
