/*
 * Launches of an empty kernel through the plugin for NVIDIA, beside the same calls of the driver's
 * own interface, in one process and in turn: the way of one, and 100 000 in a row.
 *
 * On the fake CUDA what is compared is what we add; with ZETA_TEST_NVIDIA=device on the GPU.
 */
#include <dlfcn.h>
#include <limits.h>
#include <stdbool.h>

#include "tests/bench/bench.h"
#include "tests/bench/bench_ze.h"
#include "tests/cuda/cuda.h"

#define ROUNDS 7u
#define LAUNCHES 2000u
#define IN_A_ROW 100000u

static const char kernels[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
                              ".visible .entry empty()\n{\n    ret;\n}\n";

/* ---------------------------------------------------------------- the driver */

struct raw {
    int (*launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                  void *, void **, void **);
    int (*synchronize)(void *);
    void *function, *stream;
};

static void *look_up(void *library, const char *name)
{
    void *symbol = library ? dlsym(library, name) : NULL;

    if (!symbol) {
        (void)fprintf(stderr, "bench_nvidia_launch: %s: %s\n", name, dlerror());
        exit(1);
    }
    return symbol;
}

static void must(int result, const char *what)
{
    if (result == 0)
        return;
    (void)fprintf(stderr, "bench_nvidia_launch: %s: result %d\n", what, result);
    exit(1);
}

static struct raw open_raw(const char *library_path)
{
    void *library = dlopen(library_path, RTLD_NOW | RTLD_LOCAL);
    int (*init)(unsigned), (*get)(int *, int), (*retain)(void **, int), (*current)(void *);
    int (*load)(void **, const void *), (*find)(void **, void *, const char *);
    int (*create)(void **, unsigned);
    void *context = NULL, *module = NULL;
    struct raw raw = {0};
    int device = 0;

    *(void **)&init = look_up(library, "cuInit");
    *(void **)&get = look_up(library, "cuDeviceGet");
    *(void **)&retain = look_up(library, "cuDevicePrimaryCtxRetain");
    *(void **)&current = look_up(library, "cuCtxSetCurrent");
    *(void **)&load = look_up(library, "cuModuleLoadData");
    *(void **)&find = look_up(library, "cuModuleGetFunction");
    *(void **)&create = look_up(library, "cuStreamCreate");
    *(void **)&raw.launch = look_up(library, "cuLaunchKernel");
    *(void **)&raw.synchronize = look_up(library, "cuStreamSynchronize");
    must(init(0), "cuInit");
    must(get(&device, 0), "cuDeviceGet");
    must(retain(&context, device), "cuDevicePrimaryCtxRetain");
    must(current(context), "cuCtxSetCurrent");
    must(load(&module, kernels), "cuModuleLoadData");
    must(find(&raw.function, module, "empty"), "cuModuleGetFunction");
    must(create(&raw.stream, 1), "cuStreamCreate");
    return raw;
}

/* Microseconds of a launch, waited for one by one or after the last one. */
static double raw_us(const struct raw *raw, unsigned count, bool waits_for_each)
{
    const double begin = bench_seconds(CLOCK_MONOTONIC);

    for (unsigned i = 0; i < count; i++) {
        must(raw->launch(raw->function, 1, 1, 1, 1, 1, 1, 0, raw->stream, NULL, NULL),
             "cuLaunchKernel");
        if (waits_for_each)
            must(raw->synchronize(raw->stream), "cuStreamSynchronize");
    }
    must(raw->synchronize(raw->stream), "cuStreamSynchronize");
    return (bench_seconds(CLOCK_MONOTONIC) - begin) * 1e6 / count;
}

/* ---------------------------------------------------------------- Level Zero */

struct ours {
    ze_command_list_handle_t synchronous, asynchronous;
    ze_kernel_handle_t kernel;
};

static struct ours open_ours(void)
{
    const ze_context_desc_t context_desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    const ze_module_desc_t module_desc = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                                          .format = ZE_MODULE_FORMAT_NATIVE,
                                          .inputSize = sizeof(kernels) - 1,
                                          .pInputModule = (const uint8_t *)kernels};
    const ze_kernel_desc_t kernel_desc = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC,
                                          .pKernelName = "empty"};
    ze_command_queue_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                    .mode = ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS};
    ze_driver_handle_t driver = NULL;
    ze_device_handle_t device = NULL;
    ze_context_handle_t context = NULL;
    ze_module_handle_t module = NULL;
    struct ours ours = {0};
    uint32_t count = 1;

    BENCH_CHECK(zeInit(ZE_INIT_FLAG_GPU_ONLY));
    BENCH_CHECK(zeDriverGet(&count, &driver));
    count = 1;
    BENCH_CHECK(zeDeviceGet(driver, &count, &device));
    BENCH_CHECK(zeContextCreate(driver, &context_desc, &context));
    BENCH_CHECK(zeModuleCreate(context, device, &module_desc, &module, NULL));
    BENCH_CHECK(zeKernelCreate(module, &kernel_desc, &ours.kernel));
    BENCH_CHECK(zeKernelSetGroupSize(ours.kernel, 1, 1, 1));
    BENCH_CHECK(zeCommandListCreateImmediate(context, device, &desc, &ours.synchronous));
    desc.mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS;
    BENCH_CHECK(zeCommandListCreateImmediate(context, device, &desc, &ours.asynchronous));
    return ours;
}

static double ours_us(const struct ours *ours, ze_command_list_handle_t list, unsigned count,
                      bool waits_for_each)
{
    const ze_group_count_t one = {1, 1, 1};
    const double begin = bench_seconds(CLOCK_MONOTONIC);

    for (unsigned i = 0; i < count; i++) {
        BENCH_CHECK(zeCommandListAppendLaunchKernel(list, ours->kernel, &one, NULL, 0, NULL));
        if (waits_for_each)
            BENCH_CHECK(zeCommandListHostSynchronize(list, UINT64_MAX));
    }
    BENCH_CHECK(zeCommandListHostSynchronize(list, UINT64_MAX));
    return (bench_seconds(CLOCK_MONOTONIC) - begin) * 1e6 / count;
}

/* The same in processor time of all threads, ours and the driver's: little of it is the load's. */
static double row_us(const struct raw *raw, const struct ours *ours, struct bench_rounds *rounds)
{
    const double begin = bench_seconds(CLOCK_PROCESS_CPUTIME_ID);
    const double us =
        raw ? raw_us(raw, IN_A_ROW, false) : ours_us(ours, ours->asynchronous, IN_A_ROW, false);

    bench_add(rounds, (bench_seconds(CLOCK_PROCESS_CPUTIME_ID) - begin) * 1e6 / IN_A_ROW);
    return us;
}

static void print(const char *what, const struct bench_rounds *rounds)
{
    (void)printf("  %-44s %8.2f us (median %.2f)\n", what, bench_least(rounds),
                 bench_median(rounds));
}

int main(void)
{
    const char *wanted = getenv("ZETA_TEST_NVIDIA");
    const bool on_device = wanted && strcmp(wanted, "device") == 0;
    struct bench_rounds raw_one = {0}, ours_one = {0}, ours_waited = {0};
    struct bench_rounds raw_row = {0}, ours_row = {0}, raw_work = {0}, ours_work = {0};
    struct cuda_machine *machine = on_device ? NULL : cuda_start("gh100");
    char root[PATH_MAX];

    if (!on_device && !machine)
        return 1;
    (void)setenv("ZETA_PLUGIN_PATH", ZETA_BUILD_DIR "/share/zeta", 0);
    (void)setenv("ZETA_PLUGINS_SELECT", "nvidia", 1);
    (void)setenv("ZETA_CONFIG", "none", 0);
    if (machine) {
        (void)snprintf(root, sizeof(root), "%.3000s/root", cuda_folder(machine));
        (void)setenv("ZETA_PLUGIN_NVIDIA_ROOT", root, 1);
        (void)setenv("ZETA_PLUGIN_NVIDIA_LIBCUDA", CUDA_LIBRARIES, 1);
    }
    bench_begin(on_device ? "launches of an empty kernel on NVIDIA's driver"
                          : "launches of an empty kernel on the fake CUDA",
                "one within 5 us of the driver's calls; 100 000 in a row within 20 % of them");
    const struct raw raw = open_raw(on_device ? "libcuda.so.1" : CUDA_LIBRARIES "/libcuda.so.1");
    const struct ours ours = open_ours();

    for (unsigned round = 0; round < ROUNDS; round++) {
        bench_add(&raw_one, raw_us(&raw, LAUNCHES, true));
        bench_add(&ours_one, ours_us(&ours, ours.synchronous, LAUNCHES, false));
        bench_add(&ours_waited, ours_us(&ours, ours.asynchronous, LAUNCHES, true));
        bench_add(&raw_row, row_us(&raw, NULL, &raw_work));
        bench_add(&ours_row, row_us(NULL, &ours, &ours_work));
    }
    print("peer: cuLaunchKernel, cuStreamSynchronize", &raw_one);
    print("immediate synchronous list", &ours_one);
    print("immediate list, host synchronize", &ours_waited);
    print("peer: cuLaunchKernel, 100 000 in a row", &raw_row);
    print("immediate list, 100 000 in a row", &ours_row);
    print("peer: processor time of all threads", &raw_work);
    print("processor time of all threads", &ours_work);
    (void)printf("  in a row: %.0f %% of the driver's\n",
                 100 * bench_least(&ours_row) / bench_least(&raw_row));
    (void)fflush(stdout);
    if (machine)
        cuda_stop(machine);
    return 0;
}
