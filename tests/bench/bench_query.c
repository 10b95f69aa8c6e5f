/*
 * What queries and markers cost: a begin and an end around an empty kernel in lists of 1000 pairs,
 * regular ones that are executed again and immediate ones; how long their results take to collect
 * and to calculate; and markers.
 *
 * No other driver runs without a GPU, so the figure beside them is the same list without them.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/bench/bench.h"
#include "tests/bench/bench_ze.h"

#define ROUNDS 9u
#define LAUNCHES 1000u
#define MARKERS 300u /* fewer than a log holds, so that none waits */
#define MOST_BYTES 4096u
#define MOST_VALUES 64u

static double now_us(void)
{
    return bench_seconds(CLOCK_MONOTONIC) * 1e6;
}

struct gpu {
    ze_device_handle_t device;
    ze_context_handle_t context;
    ze_module_handle_t module;
    ze_command_queue_handle_t queue;
    ze_kernel_handle_t kernel;
    zet_metric_group_handle_t queried, streamed; /* both of ComputeBasic */
};

static struct gpu open_gpu(void)
{
    static uint8_t image[1u << 20];
    const ze_context_desc_t context = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    const ze_command_queue_desc_t queue = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC};
    const ze_kernel_desc_t kernel = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC,
                                     .pKernelName = "empty"};
    ze_module_desc_t module = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                               .format = ZE_MODULE_FORMAT_NATIVE,
                               .pInputModule = image};
    ze_driver_handle_t driver = NULL;
    struct gpu gpu = {0};
    uint32_t count = 1;
    FILE *file = fopen(BENCH_KERNELS, "rb");

    if (!file)
        exit(1);
    module.inputSize = fread(image, 1, sizeof(image), file);
    (void)fclose(file);
    BENCH_CHECK(zeInit(ZE_INIT_FLAG_GPU_ONLY));
    BENCH_CHECK(zeDriverGet(&count, &driver));
    count = 1;
    BENCH_CHECK(zeDeviceGet(driver, &count, &gpu.device));
    BENCH_CHECK(zeContextCreate(driver, &context, &gpu.context));
    BENCH_CHECK(zeModuleCreate(gpu.context, gpu.device, &module, &gpu.module, NULL));
    BENCH_CHECK(zeKernelCreate(gpu.module, &kernel, &gpu.kernel));
    BENCH_CHECK(zeCommandQueueCreate(gpu.context, gpu.device, &queue, &gpu.queue));
    gpu.queried = bench_find_group(gpu.device, "ComputeBasic",
                                   ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EVENT_BASED);
    gpu.streamed = bench_find_group(gpu.device, "ComputeBasic",
                                    ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_TIME_BASED);
    return gpu;
}

static ze_command_list_handle_t make_list(const struct gpu *gpu)
{
    const ze_command_list_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC};
    ze_command_list_handle_t list = NULL;

    BENCH_CHECK(zeCommandListCreate(gpu->context, gpu->device, &desc, &list));
    return list;
}

static void append_kernel(const struct gpu *gpu, ze_command_list_handle_t list)
{
    const ze_group_count_t one = {1, 1, 1};

    BENCH_CHECK(zeCommandListAppendLaunchKernel(list, gpu->kernel, &one, NULL, 0, NULL));
}

static void append_pair(const struct gpu *gpu, ze_command_list_handle_t list,
                        zet_metric_query_handle_t query)
{
    BENCH_CHECK(zetCommandListAppendMetricQueryBegin(list, query));
    append_kernel(gpu, list);
    BENCH_CHECK(zetCommandListAppendMetricQueryEnd(list, query, NULL, 0, NULL));
}

static double run_us(const struct gpu *gpu, ze_command_list_handle_t list)
{
    const double begin = now_us();

    BENCH_CHECK(zeCommandQueueExecuteCommandLists(gpu->queue, 1, &list, NULL));
    BENCH_CHECK(zeCommandQueueSynchronize(gpu->queue, UINT64_MAX));
    return now_us() - begin;
}

/* Times of one execution of two lists, in turn, because others use the machine too. */
static void time_lists(const struct gpu *gpu, ze_command_list_handle_t lists[2],
                       struct bench_rounds rounds[2])
{
    for (unsigned i = 0; i < 2; i++)
        BENCH_CHECK(zeCommandListClose(lists[i]));
    for (unsigned round = 0; round < 2 * ROUNDS; round++)
        bench_add(&rounds[round % 2], run_us(gpu, lists[round % 2]));
    for (unsigned i = 0; i < 2; i++)
        BENCH_CHECK(zeCommandListDestroy(lists[i]));
}

static void print_pair(const char *what, const struct bench_rounds rounds[2], unsigned count)
{
    const double without = bench_least(&rounds[0]), with = bench_least(&rounds[1]);

    (void)printf("  %-26s without %7.0f us (%7.0f), with %7.0f us (%7.0f): %5.2f us each\n", what,
                 without, bench_median(&rounds[0]), with, bench_median(&rounds[1]),
                 (with - without) / count);
    (void)fflush(stdout);
}

static void measure_regular(const struct gpu *gpu, zet_metric_query_handle_t *queries)
{
    ze_command_list_handle_t lists[2] = {make_list(gpu), make_list(gpu)};
    struct bench_rounds rounds[2] = {0};

    for (unsigned i = 0; i < LAUNCHES; i++) {
        append_kernel(gpu, lists[0]);
        append_pair(gpu, lists[1], queries[i]);
    }
    time_lists(gpu, lists, rounds);
    print_pair("regular list, executed", rounds, LAUNCHES);
}

/* Here appending counts too; queries begin anew without a reset. */
static void measure_immediate(const struct gpu *gpu, zet_metric_query_handle_t *queries)
{
    const ze_command_queue_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                          .flags = ZE_COMMAND_QUEUE_FLAG_IN_ORDER,
                                          .mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS};
    struct bench_rounds rounds[2] = {0};
    ze_command_list_handle_t list = NULL;

    BENCH_CHECK(zeCommandListCreateImmediate(gpu->context, gpu->device, &desc, &list));
    for (unsigned round = 0; round < 2 * ROUNDS; round++) {
        const double begin = now_us();

        for (unsigned i = 0; i < LAUNCHES; i++) {
            if (round % 2 == 0)
                append_kernel(gpu, list);
            else
                append_pair(gpu, list, queries[i]);
        }
        BENCH_CHECK(zeCommandListHostSynchronize(list, UINT64_MAX));
        bench_add(&rounds[round % 2], now_us() - begin);
    }
    BENCH_CHECK(zeCommandListDestroy(list));
    print_pair("immediate list, appended", rounds, LAUNCHES);
}

/* Reading and calculating all results, apart; memory in use. */
static void measure_results(const struct gpu *gpu, zet_metric_query_handle_t *queries)
{
    const zet_metric_group_calculation_type_t type =
        ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES;
    static uint8_t raw[LAUNCHES][MOST_BYTES];
    static size_t bytes[LAUNCHES];
    zet_typed_value_t values[MOST_VALUES];
    struct bench_rounds rounds[2] = {0};

    for (unsigned round = 0; round < ROUNDS; round++) {
        double begin = now_us();

        for (unsigned i = 0; i < LAUNCHES; i++) {
            bytes[i] = MOST_BYTES;
            BENCH_CHECK(zetMetricQueryGetData(queries[i], &bytes[i], raw[i]));
        }
        bench_add(&rounds[0], now_us() - begin);
        begin = now_us();
        for (unsigned i = 0; i < LAUNCHES; i++) {
            uint32_t count = MOST_VALUES;

            BENCH_CHECK(zetMetricGroupCalculateMetricValues(gpu->queried, type, bytes[i], raw[i],
                                                            &count, values));
        }
        bench_add(&rounds[1], now_us() - begin);
    }
    (void)printf(
        "  results one by one: collect %.2f us each (%.2f), calculate %.2f us each (%.2f)\n",
        bench_least(&rounds[0]) / LAUNCHES, bench_median(&rounds[0]) / LAUNCHES,
        bench_least(&rounds[1]) / LAUNCHES, bench_median(&rounds[1]) / LAUNCHES);
}

static void measure_queries(const struct gpu *gpu)
{
    const zet_metric_query_pool_desc_t desc = {.stype = ZET_STRUCTURE_TYPE_METRIC_QUERY_POOL_DESC,
                                               .type = ZET_METRIC_QUERY_POOL_TYPE_PERFORMANCE,
                                               .count = LAUNCHES};
    static zet_metric_query_handle_t queries[LAUNCHES];
    zet_metric_group_handle_t group = gpu->queried;
    zet_metric_query_pool_handle_t pool = NULL;

    BENCH_CHECK(zetContextActivateMetricGroups(gpu->context, gpu->device, 1, &group));
    BENCH_CHECK(zetMetricQueryPoolCreate(gpu->context, gpu->device, gpu->queried, &desc, &pool));
    for (unsigned i = 0; i < LAUNCHES; i++)
        BENCH_CHECK(zetMetricQueryCreate(pool, i, &queries[i]));
    measure_regular(gpu, queries);
    measure_immediate(gpu, queries);
    measure_results(gpu, queries);
    for (unsigned i = 0; i < LAUNCHES; i++)
        BENCH_CHECK(zetMetricQueryDestroy(queries[i]));
    BENCH_CHECK(zetMetricQueryPoolDestroy(pool));
}

static void measure_markers(const struct gpu *gpu)
{
    zet_metric_streamer_desc_t desc = {.stype = ZET_STRUCTURE_TYPE_METRIC_STREAMER_DESC,
                                       .notifyEveryNReports = 1,
                                       .samplingPeriod = 1000000};
    zet_metric_group_handle_t group = gpu->streamed;
    zet_metric_streamer_handle_t streamer = NULL;
    ze_command_list_handle_t lists[2] = {make_list(gpu), make_list(gpu)};
    struct bench_rounds rounds[2] = {0};

    BENCH_CHECK(zetContextActivateMetricGroups(gpu->context, gpu->device, 1, &group));
    BENCH_CHECK(zetMetricStreamerOpen(gpu->context, gpu->device, group, &desc, NULL, &streamer));
    for (unsigned i = 0; i < MARKERS; i++) {
        append_kernel(gpu, lists[0]);
        append_kernel(gpu, lists[1]);
        BENCH_CHECK(zetCommandListAppendMetricStreamerMarker(lists[1], streamer, i));
    }
    time_lists(gpu, lists, rounds);
    print_pair("300 markers of a stream", rounds, MARKERS);
    BENCH_CHECK(zetMetricStreamerClose(streamer));
    BENCH_CHECK(zetContextActivateMetricGroups(gpu->context, gpu->device, 0, NULL));
}

int main(void)
{
    struct gpu gpu;

    bench_use_virtual_gpu();
    gpu = open_gpu();
    bench_begin("queries: lists of 1000 empty kernels, each in a query of ComputeBasic; best of 9 "
                "rounds (median)",
                NULL);
    measure_queries(&gpu);
    measure_markers(&gpu);
    BENCH_CHECK(zeCommandQueueDestroy(gpu.queue));
    BENCH_CHECK(zeKernelDestroy(gpu.kernel));
    BENCH_CHECK(zeModuleDestroy(gpu.module));
    BENCH_CHECK(zeContextDestroy(gpu.context));
    return 0;
}
