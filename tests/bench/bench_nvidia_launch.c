/*
 * Launches of an empty kernel through the plugin for NVIDIA, beside the same calls of the driver's
 * own interface, in one process and in turn: the way of one, and 100 000 in a row.
 *
 * On the fake CUDA what is compared is what we add; with ZETA_TEST_NVIDIA=device on the GPU.
 */
#include "tests/bench/bench.h"
#include "tests/bench/bench_cuda.h"
#include "tests/bench/bench_ze.h"

#define ROUNDS 7u
#define LAUNCHES 2000u
#define IN_A_ROW 100000u

/* ---------------------------------------------------------------- the driver */

/* Microseconds of a launch, waited for one by one or after the last one. */
static double raw_us(const struct bench_cuda *raw, unsigned count, bool waits_for_each)
{
    const double begin = bench_seconds(CLOCK_MONOTONIC);

    for (unsigned i = 0; i < count; i++) {
        bench_cuda_launch(raw, 1);
        if (waits_for_each)
            bench_cuda_wait(raw);
    }
    bench_cuda_wait(raw);
    return (bench_seconds(CLOCK_MONOTONIC) - begin) * 1e6 / count;
}

/* ---------------------------------------------------------------- Level Zero */

struct ours {
    ze_command_list_handle_t synchronous, asynchronous, regular;
    ze_command_queue_handle_t queue;
    ze_event_handle_t event;
    ze_kernel_handle_t kernel;
};

static struct ours open_ours(void)
{
    const ze_context_desc_t context_desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    const ze_module_desc_t module_desc = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                                          .format = ZE_MODULE_FORMAT_NATIVE,
                                          .inputSize = sizeof(bench_cuda_kernels) - 1,
                                          .pInputModule = (const uint8_t *)bench_cuda_kernels};
    const ze_kernel_desc_t kernel_desc = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC,
                                          .pKernelName = "empty"};
    ze_command_queue_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                    .mode = ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS};
    const ze_command_list_desc_t list_desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC};
    const ze_event_pool_desc_t pool_desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC,
                                            .flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE,
                                            .count = 1};
    const ze_event_desc_t event_desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_DESC};
    ze_driver_handle_t driver = NULL;
    ze_device_handle_t device = NULL;
    ze_context_handle_t context = NULL;
    ze_event_pool_handle_t pool = NULL;
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
    BENCH_CHECK(zeCommandQueueCreate(context, device, &desc, &ours.queue));
    BENCH_CHECK(zeCommandListCreate(context, device, &list_desc, &ours.regular));
    BENCH_CHECK(zeEventPoolCreate(context, &pool_desc, 0, NULL, &pool));
    BENCH_CHECK(zeEventCreate(pool, &event_desc, &ours.event));
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

/* Append, execute, synchronise: a list is recorded for each launch. */
static double execute_us(const struct ours *ours)
{
    const ze_group_count_t one = {1, 1, 1};
    const double begin = bench_seconds(CLOCK_MONOTONIC);
    ze_command_list_handle_t list = ours->regular;

    for (unsigned i = 0; i < LAUNCHES; i++) {
        BENCH_CHECK(zeCommandListAppendLaunchKernel(list, ours->kernel, &one, NULL, 0, NULL));
        BENCH_CHECK(zeCommandListClose(list));
        BENCH_CHECK(zeCommandQueueExecuteCommandLists(ours->queue, 1, &list, NULL));
        BENCH_CHECK(zeCommandQueueSynchronize(ours->queue, UINT64_MAX));
        BENCH_CHECK(zeCommandListReset(list));
    }
    return (bench_seconds(CLOCK_MONOTONIC) - begin) * 1e6 / LAUNCHES;
}

/* A launch that signals an event, which the host waits for. */
static double event_us(const struct ours *ours)
{
    const ze_group_count_t one = {1, 1, 1};
    const double begin = bench_seconds(CLOCK_MONOTONIC);

    for (unsigned i = 0; i < LAUNCHES; i++) {
        BENCH_CHECK(zeCommandListAppendLaunchKernel(ours->asynchronous, ours->kernel, &one,
                                                    ours->event, 0, NULL));
        BENCH_CHECK(zeEventHostSynchronize(ours->event, UINT64_MAX));
        BENCH_CHECK(zeEventHostReset(ours->event));
    }
    return (bench_seconds(CLOCK_MONOTONIC) - begin) * 1e6 / LAUNCHES;
}

/* A row of launches, also in processor time of all threads: little of that is the load's. */
static double row_us(const struct bench_cuda *raw, const struct ours *ours,
                     struct bench_rounds *rounds)
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
    struct cuda_machine *machine = bench_cuda_machine();
    struct bench_rounds raw_one = {0}, ours_one = {0}, ours_waited = {0};
    struct bench_rounds ours_executed = {0}, ours_event = {0};
    struct bench_rounds raw_row = {0}, ours_row = {0}, raw_work = {0}, ours_work = {0};

    bench_begin(machine ? "launches of an empty kernel on the fake CUDA"
                        : "launches of an empty kernel on NVIDIA's driver",
                "one within 5 us of the driver's calls; 100 000 in a row within 20 % of them");
    const struct bench_cuda raw = bench_cuda_open(machine);
    const struct ours ours = open_ours();

    for (unsigned round = 0; round < ROUNDS; round++) {
        bench_add(&raw_one, raw_us(&raw, LAUNCHES, true));
        bench_add(&ours_one, ours_us(&ours, ours.synchronous, LAUNCHES, false));
        bench_add(&ours_waited, ours_us(&ours, ours.asynchronous, LAUNCHES, true));
        bench_add(&ours_executed, execute_us(&ours));
        bench_add(&ours_event, event_us(&ours));
        bench_add(&raw_row, row_us(&raw, NULL, &raw_work));
        bench_add(&ours_row, row_us(NULL, &ours, &ours_work));
    }
    print("peer: cuLaunchKernel, cuStreamSynchronize", &raw_one);
    print("immediate synchronous list", &ours_one);
    print("immediate list, host synchronize", &ours_waited);
    print("regular list: append, execute, synchronize", &ours_executed);
    print("immediate list, event synchronize", &ours_event);
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
