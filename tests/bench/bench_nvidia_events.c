/*
 * The tracer for NVIDIA GPUs while a thread of the program launches empty kernels by the driver's
 * own interface: kernels in a row without and with it, 100 000 a second for some seconds, what
 * turning it off takes, and how old an event is when it can be read. A kernel without an event is
 * lost, so what is lost is known without asking anybody.
 *
 * On the fake CUDA what is measured is ours; with ZETA_TEST_NVIDIA=device it is CUPTI's as well.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>

#include "plugins/nvidia/activity/event.h"
#include "tests/bench/bench.h"
#include "tests/bench/bench_cuda.h"
#include "tests/bench/bench_ze.h"

enum {
    ROUNDS = 5,
    IN_A_ROW = 100000,
    PACED_PER_S = 100000,
    PACED_S = 5,
    FLUSHED = 10000,
    SINGLE = 10,
    READ_BYTES = 1 << 20
};

/* A tracer, and the thread that reads it. */
struct reader {
    ze_device_handle_t device;
    ze_context_handle_t context;
    zet_metric_tracer_exp_handle_t tracer;
    pthread_t thread;
    atomic_bool is_over;
    atomic_uint_fast64_t kernels; /* that were read */
    double read_s, cpu_s;         /* when the newest was; what the thread cost */
};

/* ---- the tracer ----------------------------------------------------------------------------- */

static void open_tracer(struct reader *reader)
{
    const ze_context_desc_t context_desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    zet_metric_tracer_exp_desc_t desc = {.stype = ZET_STRUCTURE_TYPE_METRIC_TRACER_EXP_DESC};
    zet_metric_group_handle_t group;
    ze_driver_handle_t driver = NULL;
    uint32_t count = 1;

    (void)setenv("ZET_ENABLE_METRICS", "1", 1);
    (void)setenv("ZETA_METRIC_TRACER_GROUPS", "1", 1);
    BENCH_CHECK(zeInit(ZE_INIT_FLAG_GPU_ONLY));
    BENCH_CHECK(zeDriverGet(&count, &driver));
    count = 1;
    BENCH_CHECK(zeDeviceGet(driver, &count, &reader->device));
    BENCH_CHECK(zeContextCreate(driver, &context_desc, &reader->context));
    group = bench_find_group(reader->device, "Events",
                             ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EXP_TRACER_BASED);
    BENCH_CHECK(zetContextActivateMetricGroups(reader->context, reader->device, 1, &group));
    BENCH_CHECK(zetMetricTracerCreateExp(reader->context, reader->device, 1, &group, &desc, NULL,
                                         &reader->tracer));
}

/* Reads what there is, and counts its kernels; false when there is nothing. */
static bool read_some(struct reader *reader)
{
    static _Alignas(8) uint8_t raw[READ_BYTES];
    struct nvidia_event event;
    size_t bytes = sizeof(raw);
    const ze_result_t result = zetMetricTracerReadDataExp(reader->tracer, &bytes, raw);
    uint64_t kernels = 0;

    if (result != ZE_RESULT_WARNING_DROPPED_DATA && result != ZE_RESULT_NOT_READY)
        BENCH_CHECK(result);
    for (size_t at = 0; at < bytes; at += sizeof(event)) {
        memcpy(&event, raw + at, sizeof(event));
        kernels += event.type == NVIDIA_EVENT_KERNEL;
    }
    if (kernels > 0)
        reader->read_s = bench_seconds(CLOCK_MONOTONIC);
    (void)atomic_fetch_add(&reader->kernels, kernels);
    return bytes > 0;
}

static void *read_all(void *argument)
{
    struct reader *reader = argument;

    while (!atomic_load(&reader->is_over)) {
        if (!read_some(reader))
            (void)usleep(5000);
    }
    reader->cpu_s = bench_seconds(CLOCK_THREAD_CPUTIME_ID);
    return NULL;
}

static void enable(struct reader *reader)
{
    atomic_store(&reader->is_over, false);
    atomic_store(&reader->kernels, 0);
    BENCH_CHECK(zetMetricTracerEnableExp(reader->tracer, 1));
    if (pthread_create(&reader->thread, NULL, read_all, reader) != 0)
        exit(1);
}

/* Turns it off and reads the rest; the seconds that turning it off took. */
static double disable(struct reader *reader)
{
    const double begin = bench_seconds(CLOCK_MONOTONIC);
    double elapsed;

    BENCH_CHECK(zetMetricTracerDisableExp(reader->tracer, 1));
    elapsed = bench_seconds(CLOCK_MONOTONIC) - begin;
    atomic_store(&reader->is_over, true);
    (void)pthread_join(reader->thread, NULL);
    while (read_some(reader))
        continue;
    return elapsed;
}

static void print_events(const struct reader *reader, uint64_t launched)
{
    const uint64_t kernels = atomic_load(&reader->kernels);

    (void)printf(", %" PRIu64 " of %" PRIu64 " kernels have an event, %" PRIu64 " lost\n", kernels,
                 launched, launched > kernels ? launched - kernels : 0);
}

/* ---- measurements --------------------------------------------------------------------------- */

/* Microseconds of a launch in a row. */
static double row_us(const struct bench_cuda *cuda)
{
    const double begin = bench_seconds(CLOCK_MONOTONIC);

    bench_cuda_launch(cuda, IN_A_ROW);
    bench_cuda_wait(cuda);
    return (bench_seconds(CLOCK_MONOTONIC) - begin) * 1e6 / IN_A_ROW;
}

static void measure_rows(const struct bench_cuda *cuda, struct reader *reader)
{
    struct bench_rounds without = {0}, with = {0};
    uint64_t kernels = 0;

    for (unsigned round = 0; round < ROUNDS; round++) {
        bench_add(&without, row_us(cuda));
        enable(reader);
        bench_add(&with, row_us(cuda));
        (void)disable(reader);
        kernels += atomic_load(&reader->kernels);
    }
    (void)printf("  launches in a row, without the tracer     %8.2f us (median %.2f)\n",
                 bench_least(&without), bench_median(&without));
    (void)printf("  launches in a row, traced                 %8.2f us (median %.2f), %.0f "
                 "kernels/s",
                 bench_least(&with), bench_median(&with), 1e6 / bench_median(&with));
    atomic_store(&reader->kernels, kernels);
    print_events(reader, (uint64_t)ROUNDS * IN_A_ROW);
}

/* So many kernels a second, a hundredth of a second's at a time. */
static void measure_paced(const struct bench_cuda *cuda, struct reader *reader)
{
    enum { SLICES = 100 };
    double begin, elapsed, cpu;

    enable(reader);
    begin = bench_seconds(CLOCK_MONOTONIC);
    cpu = bench_seconds(CLOCK_PROCESS_CPUTIME_ID) - bench_seconds(CLOCK_THREAD_CPUTIME_ID);
    for (unsigned slice = 1; slice <= PACED_S * SLICES; slice++) {
        const double due = begin + (double)slice / SLICES;

        bench_cuda_launch(cuda, PACED_PER_S / SLICES);
        while (bench_seconds(CLOCK_MONOTONIC) < due)
            (void)usleep(200);
    }
    bench_cuda_wait(cuda);
    elapsed = bench_seconds(CLOCK_MONOTONIC) - begin;
    (void)disable(reader);
    cpu = bench_seconds(CLOCK_PROCESS_CPUTIME_ID) - bench_seconds(CLOCK_THREAD_CPUTIME_ID) - cpu;
    (void)printf("  %d kernels/s wanted for %d s            %8.0f kernels/s", PACED_PER_S, PACED_S,
                 (double)PACED_S * PACED_PER_S / elapsed);
    print_events(reader, (uint64_t)PACED_S * PACED_PER_S);
    (void)printf(
        "  of that, other threads than the program's %8.1f %% of a core, %.1f %% in reads\n",
        100 * cpu / elapsed, 100 * reader->cpu_s / elapsed);
}

/* By Level Zero, whose plugin has threads that wait for the work beside that which launches. */
static void measure_level_zero(struct reader *reader)
{
    const ze_module_desc_t module_desc = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                                          .format = ZE_MODULE_FORMAT_NATIVE,
                                          .inputSize = sizeof(bench_cuda_kernels) - 1,
                                          .pInputModule = (const uint8_t *)bench_cuda_kernels};
    const ze_kernel_desc_t kernel_desc = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC,
                                          .pKernelName = "empty"};
    const ze_command_queue_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                          .mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS};
    const ze_group_count_t one = {1, 1, 1};
    ze_command_list_handle_t list = NULL;
    ze_module_handle_t module = NULL;
    ze_kernel_handle_t kernel = NULL;
    double begin;

    BENCH_CHECK(zeModuleCreate(reader->context, reader->device, &module_desc, &module, NULL));
    BENCH_CHECK(zeKernelCreate(module, &kernel_desc, &kernel));
    BENCH_CHECK(zeKernelSetGroupSize(kernel, 1, 1, 1));
    BENCH_CHECK(zeCommandListCreateImmediate(reader->context, reader->device, &desc, &list));
    enable(reader);
    begin = bench_seconds(CLOCK_MONOTONIC);
    for (unsigned i = 0; i < IN_A_ROW; i++)
        BENCH_CHECK(zeCommandListAppendLaunchKernel(list, kernel, &one, NULL, 0, NULL));
    BENCH_CHECK(zeCommandListHostSynchronize(list, UINT64_MAX));
    (void)printf("  launches in a row by Level Zero, traced   %8.2f us",
                 (bench_seconds(CLOCK_MONOTONIC) - begin) * 1e6 / IN_A_ROW);
    (void)disable(reader);
    print_events(reader, IN_A_ROW);
    BENCH_CHECK(zeCommandListDestroy(list));
    BENCH_CHECK(zeKernelDestroy(kernel));
    BENCH_CHECK(zeModuleDestroy(module));
}

/* Nothing that has ended is missing behind the call that turns it off. */
static void measure_disable(const struct bench_cuda *cuda, struct reader *reader)
{
    struct bench_rounds rounds = {0};
    uint64_t kernels = 0;

    for (unsigned round = 0; round < ROUNDS; round++) {
        enable(reader);
        bench_cuda_launch(cuda, FLUSHED);
        bench_cuda_wait(cuda);
        bench_add(&rounds, disable(reader) * 1e3);
        kernels += atomic_load(&reader->kernels);
    }
    (void)printf("  turning it off behind %d kernels       %8.2f ms (median %.2f)", FLUSHED,
                 bench_least(&rounds), bench_median(&rounds));
    atomic_store(&reader->kernels, kernels);
    print_events(reader, (uint64_t)ROUNDS * FLUSHED);
}

/* From the end of a kernel that is alone until its event was read. */
static void measure_age(const struct bench_cuda *cuda, struct reader *reader)
{
    struct bench_rounds rounds = {0};

    enable(reader);
    for (unsigned i = 0; i < SINGLE; i++) {
        double end;

        bench_cuda_launch(cuda, 1);
        bench_cuda_wait(cuda);
        end = bench_seconds(CLOCK_MONOTONIC);
        while (atomic_load(&reader->kernels) <= i && bench_seconds(CLOCK_MONOTONIC) < end + 1)
            (void)usleep(1000);
        bench_add(&rounds, (bench_seconds(CLOCK_MONOTONIC) - end) * 1e3);
    }
    (void)disable(reader);
    (void)printf("  from the end of a kernel to its event     %8.0f to %.0f ms (median %.0f)",
                 bench_least(&rounds), bench_most(&rounds), bench_median(&rounds));
    print_events(reader, SINGLE);
}

int main(void)
{
    struct cuda_machine *machine = bench_cuda_machine();
    static struct reader reader;

    (void)setvbuf(stdout, NULL, _IOLBF, 0); /* a driver that hangs takes no figure with it */
    bench_begin(machine ? "events of an empty kernel on the fake CUDA"
                        : "events of an empty kernel on NVIDIA's driver",
                "100 000 kernels/s without loss (on hardware)");
    open_tracer(&reader);
    const struct bench_cuda cuda = bench_cuda_open(machine);

    measure_rows(&cuda, &reader);
    measure_level_zero(&reader);
    measure_paced(&cuda, &reader);
    measure_disable(&cuda, &reader);
    measure_age(&cuda, &reader);
    BENCH_CHECK(zetMetricTracerDestroyExp(reader.tracer));
    if (machine)
        cuda_stop(machine);
    return 0;
}
