/*
 * What queries and markers cost: a begin and an end around an empty kernel, how long their results
 * take, and markers one by one.
 *
 * No other driver runs without a GPU, so the figure beside them is the same list without them.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <level_zero/ze_api.h>
#include <level_zero/zet_api.h>

#define ROUNDS 7u
#define LAUNCHES 1000u
#define MARKERS 300u /* fewer than a log holds, so that none waits */

static void check(ze_result_t result, const char *what)
{
    if (result == ZE_RESULT_SUCCESS)
        return;
    (void)fprintf(stderr, "bench_query: %s: 0x%x\n", what, (unsigned)result);
    exit(1);
}

#define CHECK(call) check((call), #call)

static double now_us(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec * 1e-3;
}

struct gpu {
    ze_device_handle_t device;
    ze_context_handle_t context;
    ze_module_handle_t module;
    ze_command_queue_handle_t queue;
    ze_kernel_handle_t kernel;
    zet_metric_group_handle_t queried, streamed; /* both of ComputeBasic */
};

static zet_metric_group_handle_t find_group(ze_device_handle_t device, uint32_t sampling)
{
    zet_metric_group_handle_t groups[64];
    uint32_t count = 64;

    CHECK(zetMetricGroupGet(device, &count, groups));
    for (uint32_t i = 0; i < count; i++) {
        zet_metric_group_properties_t properties = {.stype =
                                                        ZET_STRUCTURE_TYPE_METRIC_GROUP_PROPERTIES};

        CHECK(zetMetricGroupGetProperties(groups[i], &properties));
        if (strcmp(properties.name, "ComputeBasic") == 0 && properties.samplingType == sampling)
            return groups[i];
    }
    (void)fprintf(stderr, "bench_query: the device has no group ComputeBasic\n");
    exit(1);
}

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
    (void)setenv("ZET_ENABLE_METRICS", "1", 1);
    CHECK(zeInit(ZE_INIT_FLAG_GPU_ONLY));
    CHECK(zeDriverGet(&count, &driver));
    count = 1;
    CHECK(zeDeviceGet(driver, &count, &gpu.device));
    CHECK(zeContextCreate(driver, &context, &gpu.context));
    CHECK(zeModuleCreate(gpu.context, gpu.device, &module, &gpu.module, NULL));
    CHECK(zeKernelCreate(gpu.module, &kernel, &gpu.kernel));
    CHECK(zeCommandQueueCreate(gpu.context, gpu.device, &queue, &gpu.queue));
    gpu.queried = find_group(gpu.device, ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EVENT_BASED);
    gpu.streamed = find_group(gpu.device, ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_TIME_BASED);
    return gpu;
}

static ze_command_list_handle_t make_list(const struct gpu *gpu)
{
    const ze_command_list_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC};
    ze_command_list_handle_t list = NULL;

    CHECK(zeCommandListCreate(gpu->context, gpu->device, &desc, &list));
    return list;
}

static void append_kernel(const struct gpu *gpu, ze_command_list_handle_t list)
{
    const ze_group_count_t one = {1, 1, 1};

    CHECK(zeCommandListAppendLaunchKernel(list, gpu->kernel, &one, NULL, 0, NULL));
}

static double run_us(const struct gpu *gpu, ze_command_list_handle_t list)
{
    const double begin = now_us();

    CHECK(zeCommandQueueExecuteCommandLists(gpu->queue, 1, &list, NULL));
    CHECK(zeCommandQueueSynchronize(gpu->queue, UINT64_MAX));
    return now_us() - begin;
}

/* Best times of one execution of two lists, in turn, because others use the machine too. */
static void time_us(const struct gpu *gpu, ze_command_list_handle_t lists[2], double out_us[2])
{
    out_us[0] = out_us[1] = 1e18;
    for (unsigned i = 0; i < 2; i++)
        CHECK(zeCommandListClose(lists[i]));
    for (unsigned round = 0; round < 2 * ROUNDS; round++) {
        const double us = run_us(gpu, lists[round % 2]);

        out_us[round % 2] = us < out_us[round % 2] ? us : out_us[round % 2];
    }
    for (unsigned i = 0; i < 2; i++)
        CHECK(zeCommandListDestroy(lists[i]));
}

/* Time of reading and calculating one result. */
static double read_us(const struct gpu *gpu, zet_metric_query_handle_t *queries)
{
    const zet_metric_group_calculation_type_t type =
        ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES;
    zet_typed_value_t values[64];
    uint8_t raw[4096];
    double begin = now_us();

    for (unsigned i = 0; i < LAUNCHES; i++) {
        uint32_t count = 64;
        size_t bytes = sizeof(raw);

        CHECK(zetMetricQueryGetData(queries[i], &bytes, raw));
        CHECK(zetMetricGroupCalculateMetricValues(gpu->queried, type, bytes, raw, &count, values));
    }
    return (now_us() - begin) / LAUNCHES;
}

static void measure_queries(const struct gpu *gpu)
{
    const zet_metric_query_pool_desc_t desc = {.stype = ZET_STRUCTURE_TYPE_METRIC_QUERY_POOL_DESC,
                                               .count = LAUNCHES};
    static zet_metric_query_handle_t queries[LAUNCHES];
    zet_metric_group_handle_t group = gpu->queried;
    zet_metric_query_pool_handle_t pool = NULL;
    ze_command_list_handle_t lists[2] = {make_list(gpu), make_list(gpu)};
    double us[2];

    CHECK(zetContextActivateMetricGroups(gpu->context, gpu->device, 1, &group));
    CHECK(zetMetricQueryPoolCreate(gpu->context, gpu->device, gpu->queried, &desc, &pool));
    for (unsigned i = 0; i < LAUNCHES; i++) {
        append_kernel(gpu, lists[0]);
        CHECK(zetMetricQueryCreate(pool, i, &queries[i]));
        CHECK(zetCommandListAppendMetricQueryBegin(lists[1], queries[i]));
        append_kernel(gpu, lists[1]);
        CHECK(zetCommandListAppendMetricQueryEnd(lists[1], queries[i], NULL, 0, NULL));
    }
    time_us(gpu, lists, us);
    (void)printf("queries: %u in a list, each around an empty kernel (best of %u rounds)\n",
                 LAUNCHES, ROUNDS);
    (void)printf("  kernel %.2f us, with begin and end %.2f us: a pair costs %.2f us\n",
                 us[0] / LAUNCHES, us[1] / LAUNCHES, (us[1] - us[0]) / LAUNCHES);
    (void)printf("  reading and calculating a result %.2f us\n", read_us(gpu, queries));
    for (unsigned i = 0; i < LAUNCHES; i++)
        CHECK(zetMetricQueryDestroy(queries[i]));
    CHECK(zetMetricQueryPoolDestroy(pool));
}

static void measure_markers(const struct gpu *gpu)
{
    zet_metric_streamer_desc_t desc = {.stype = ZET_STRUCTURE_TYPE_METRIC_STREAMER_DESC,
                                       .notifyEveryNReports = 1,
                                       .samplingPeriod = 1000000};
    zet_metric_group_handle_t group = gpu->streamed;
    zet_metric_streamer_handle_t streamer = NULL;
    ze_command_list_handle_t lists[2] = {make_list(gpu), make_list(gpu)};
    double us[2];

    CHECK(zetContextActivateMetricGroups(gpu->context, gpu->device, 1, &group));
    CHECK(zetMetricStreamerOpen(gpu->context, gpu->device, group, &desc, NULL, &streamer));
    for (unsigned i = 0; i < MARKERS; i++) {
        append_kernel(gpu, lists[0]);
        append_kernel(gpu, lists[1]);
        CHECK(zetCommandListAppendMetricStreamerMarker(lists[1], streamer, i));
    }
    time_us(gpu, lists, us);
    (void)printf("markers: kernel beside a stream %.2f us, a marker behind it costs %.2f us\n",
                 us[0] / MARKERS, (us[1] - us[0]) / MARKERS);
    CHECK(zetMetricStreamerClose(streamer));
    CHECK(zetContextActivateMetricGroups(gpu->context, gpu->device, 0, NULL));
}

int main(void)
{
    const struct gpu gpu = open_gpu();

    measure_queries(&gpu);
    measure_markers(&gpu);
    CHECK(zeCommandQueueDestroy(gpu.queue));
    CHECK(zeKernelDestroy(gpu.kernel));
    CHECK(zeModuleDestroy(gpu.module));
    CHECK(zeContextDestroy(gpu.context));
    return 0;
}
