/*
 * Queries of NVIDIA GPUs: the first one, a begin and an end in an open session, results, and the
 * begin behind them, beside the same calls of CUPTI made bare, in one process and in turn. Then the
 * same of each other set.
 *
 * On the fake CUPTI what is compared is what we add; with ZETA_TEST_NVIDIA=device on the GPU.
 */
#include "plugins/nvidia/sampling/config.h"
#include "tests/bench/bench.h"
#include "tests/bench/bench_cuda.h"
#include "tests/bench/bench_ze.h"

enum { ROUNDS = 5, SET_ROUNDS = 2, RANGES = 64, PAIRS = RANGES - 4, MOST_BYTES = 4096 };

/* Queries of ComputeBasic on a GH100. */
static const char *names[] = {"gpu__time_duration.sum",
                              "gpc__cycles_elapsed.max",
                              "sm__cycles_elapsed.sum",
                              "sys__cycles_elapsed.sum",
                              "sm__cycles_active.sum",
                              "sm__inst_executed.sum",
                              "SM_A.TriageCompute.sm__thread_inst_executed_pred_on_realtime.sum",
                              "sm__inst_executed_pipe_fma.sum",
                              "SM_A.TriageCompute.sm__inst_executed_pipe_xu_realtime.sum",
                              "SM_A.TriageCompute.sm__inst_executed_pipe_uniform_realtime.sum",
                              "sm__warps_active_realtime.sum",
                              "sm__ctas_launched.sum",
                              "gr__cycles_active.sum",
                              "lts__t_sectors.sum",
                              "dram__bytes_read.sum",
                              "dram__bytes_write.sum",
                              "dram__cycles_elapsed.sum"};
enum { NAMES = sizeof(names) / sizeof(names[0]) };

/* What is measured of either, in microseconds. */
struct figures {
    struct bench_rounds first, pair, results, restart, close;
};

static double now_us(void)
{
    return bench_seconds(CLOCK_MONOTONIC) * 1e6;
}

/* ---- CUPTI ---------------------------------------------------------------------------------- */

static void ignore(struct zeta_plugin_host *host, uint32_t level, struct zeta_plugin_string text)
{
    (void)host;
    (void)level;
    (void)text;
}

/* The libraries of tests/cuda where the process uses them. */
static uint32_t look_up(struct zeta_plugin_host *host, struct zeta_plugin_string name,
                        struct zeta_plugin_string *out_value)
{
    const char *folder = getenv("ZETA_PLUGIN_NVIDIA_LIBCUPTI");

    (void)host;
    if (!folder || !zeta_string_is(name, "libcupti"))
        return ZETA_PLUGIN_NOT_AVAILABLE;
    *out_value = zeta_string(folder);
    return ZETA_PLUGIN_SUCCESS;
}

static const struct zeta_plugin_host_ops ops = {
    .struct_size = sizeof(ops), .log = ignore, .fail = ignore, .setting = look_up};

static void open_cupti(struct nvidia_cupti *cupti)
{
    const struct zeta_host host = {.ops = &ops, .id = "nvidia", .data_dir = ""};
    struct nvidia_plain initialize = {0};

    if (!nvidia_cupti_open(cupti, &host, "")) {
        (void)fprintf(stderr, "bench_nvidia_query: %s\n", cupti->lib.problem);
        exit(1);
    }
    bench_cuda_must(nvidia_cupti_initialize(cupti, &initialize), "cuptiProfilerInitialize");
}

struct bare {
    const struct nvidia_cupti *cupti;
    struct nvidia_config config;
    struct nvidia_object object;
    struct nvidia_data_image image;
    char names[RANGES][12]; /* ranges of one name would be one */
};

/* From nothing to the first range. */
static void open_bare(struct bare *bare, void *context)
{
    struct nvidia_range_enable enable = {.context = context};
    struct nvidia_range_data_size size = {
        .names = names, .count = NAMES, .most_ranges = RANGES, .most_nodes = RANGES};
    struct nvidia_range_config config = {.range = 2, /* of the user */
                                         .replay = 3,
                                         .most_ranges = RANGES,
                                         .levels = 1,
                                         .least_level = 1,
                                         .target_level = 1};
    size_t wrong;

    bench_cuda_must(nvidia_config_make(bare->cupti, NVIDIA_RANGE_PROFILER, "GH100", names, NAMES,
                                       &bare->config, &wrong),
                    "the configuration");
    bench_cuda_must(nvidia_cupti_range_enable(bare->cupti, &enable), "cuptiRangeProfilerEnable");
    bare->object.object = bare->image.object = size.object = config.object = enable.object;
    bench_cuda_must(nvidia_cupti_range_data_size(bare->cupti, &size), "the size of the data");
    bare->image.bytes = config.data_bytes = size.bytes;
    bare->image.image = config.data = calloc(1, size.bytes);
    if (!bare->image.image)
        exit(1);
    config.config_bytes = bare->config.image_bytes;
    config.config = bare->config.image;
    bench_cuda_must(nvidia_cupti_range_data_initialize(bare->cupti, &bare->image), "initialising");
    bench_cuda_must(nvidia_cupti_range_set_config(bare->cupti, &config), "the configuration");
    bench_cuda_must(nvidia_cupti_range_start(bare->cupti, &bare->object), "starting");
}

static void push(struct bare *bare, int number)
{
    struct nvidia_range_push block = {.object = bare->object.object, .name = bare->names[number]};

    (void)snprintf(bare->names[number], sizeof(bare->names[number]), "%d", number);
    bench_cuda_must(nvidia_cupti_range_push(bare->cupti, &block), "cuptiRangeProfilerPushRange");
}

static void pop(struct bare *bare)
{
    bench_cuda_must(nvidia_cupti_range_pop(bare->cupti, &bare->object),
                    "cuptiRangeProfilerPopRange");
}

static void fetch_bare(struct bare *bare)
{
    struct nvidia_range_stop stop = {.object = bare->object.object};
    struct nvidia_range_decode decode = {.object = bare->object.object};
    struct nvidia_range_count info = {.image = bare->image.image, .bytes = bare->image.bytes};
    double values[NAMES];

    bench_cuda_must(nvidia_cupti_range_stop(bare->cupti, &stop), "cuptiRangeProfilerStop");
    bench_cuda_must(nvidia_cupti_range_decode(bare->cupti, &decode), "decoding");
    bench_cuda_must(nvidia_cupti_range_count(bare->cupti, &info), "asking");
    bench_cuda_must(info.ranges == PAIRS + 1 ? 0 : 1, "the number of ranges");
    for (size_t i = 0; i < info.ranges; i++) {
        struct nvidia_range_info range = {
            .image = bare->image.image, .bytes = bare->image.bytes, .index = i, .delimiter = "/"};

        bench_cuda_must(nvidia_cupti_range_info(bare->cupti, &range), "asking for a range");
        bench_cuda_must(
            nvidia_config_evaluate(&bare->config, bare->image.image, bare->image.bytes, i, values),
            "evaluating");
    }
    bench_cuda_must(nvidia_cupti_range_data_initialize(bare->cupti, &bare->image), "initialising");
}

static void close_bare(struct bare *bare)
{
    struct nvidia_range_stop stop = {.object = bare->object.object};

    bench_cuda_must(nvidia_cupti_range_stop(bare->cupti, &stop), "cuptiRangeProfilerStop");
    bench_cuda_must(nvidia_cupti_range_disable(bare->cupti, &bare->object), "disabling");
    nvidia_config_finish(&bare->config);
    free(bare->image.image);
}

static void measure_bare(const struct nvidia_cupti *cupti, void *context, struct figures *figures)
{
    struct bare bare = {.cupti = cupti};
    double at = now_us();

    open_bare(&bare, context);
    push(&bare, 0);
    bench_add(&figures->first, now_us() - at);
    pop(&bare);
    at = now_us();
    for (int i = 1; i <= PAIRS; i++) {
        push(&bare, i);
        pop(&bare);
    }
    bench_add(&figures->pair, (now_us() - at) / PAIRS);
    at = now_us();
    fetch_bare(&bare);
    bench_add(&figures->results, now_us() - at);
    at = now_us();
    bench_cuda_must(nvidia_cupti_range_start(cupti, &bare.object), "starting");
    push(&bare, 0);
    bench_add(&figures->restart, now_us() - at);
    pop(&bare);
    at = now_us();
    close_bare(&bare);
    bench_add(&figures->close, now_us() - at);
}

/* ---- Level Zero ----------------------------------------------------------------------------- */

struct ours {
    ze_context_handle_t context;
    ze_device_handle_t device;
    ze_command_list_handle_t list; /* immediate, synchronous */
};

static struct ours open_ours(void)
{
    const ze_context_desc_t context_desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    const ze_command_queue_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                          .mode = ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS};
    ze_driver_handle_t driver = NULL;
    struct ours ours = {0};
    uint32_t count = 1;

    (void)setenv("ZET_ENABLE_METRICS", "1", 1);
    BENCH_CHECK(zeInit(ZE_INIT_FLAG_GPU_ONLY));
    BENCH_CHECK(zeDriverGet(&count, &driver));
    count = 1;
    BENCH_CHECK(zeDeviceGet(driver, &count, &ours.device));
    BENCH_CHECK(zeContextCreate(driver, &context_desc, &ours.context));
    BENCH_CHECK(zeCommandListCreateImmediate(ours.context, ours.device, &desc, &ours.list));
    return ours;
}

static void begin(const struct ours *ours, zet_metric_query_handle_t query)
{
    BENCH_CHECK(zetCommandListAppendMetricQueryBegin(ours->list, query));
}

static void end(const struct ours *ours, zet_metric_query_handle_t query)
{
    BENCH_CHECK(zetCommandListAppendMetricQueryEnd(ours->list, query, NULL, 0, NULL));
}

static void get(zet_metric_query_handle_t query)
{
    uint8_t raw[MOST_BYTES];
    size_t bytes = sizeof(raw);

    BENCH_CHECK(zetMetricQueryGetData(query, &bytes, raw));
}

static void measure_ours(const struct ours *ours, const char *set, struct figures *figures)
{
    const zet_metric_query_pool_desc_t desc = {.stype = ZET_STRUCTURE_TYPE_METRIC_QUERY_POOL_DESC,
                                               .type = ZET_METRIC_QUERY_POOL_TYPE_PERFORMANCE,
                                               .count = RANGES};
    zet_metric_query_handle_t queries[RANGES];
    zet_metric_group_handle_t group =
        bench_find_group(ours->device, set, ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EVENT_BASED);
    zet_metric_query_pool_handle_t pool = NULL;
    double at;

    BENCH_CHECK(zetContextActivateMetricGroups(ours->context, ours->device, 1, &group));
    BENCH_CHECK(zetMetricQueryPoolCreate(ours->context, ours->device, group, &desc, &pool));
    for (uint32_t i = 0; i < RANGES; i++)
        BENCH_CHECK(zetMetricQueryCreate(pool, i, &queries[i]));
    at = now_us();
    begin(ours, queries[0]);
    bench_add(&figures->first, now_us() - at);
    end(ours, queries[0]);
    at = now_us();
    for (int i = 1; i <= PAIRS; i++) {
        begin(ours, queries[i]);
        end(ours, queries[i]);
    }
    bench_add(&figures->pair, (now_us() - at) / PAIRS);
    at = now_us();
    for (int i = 0; i <= PAIRS; i++)
        get(queries[i]);
    bench_add(&figures->results, now_us() - at);
    at = now_us();
    begin(ours, queries[0]);
    bench_add(&figures->restart, now_us() - at);
    end(ours, queries[0]);
    for (uint32_t i = 0; i < RANGES; i++)
        BENCH_CHECK(zetMetricQueryDestroy(queries[i]));
    at = now_us();
    BENCH_CHECK(zetMetricQueryPoolDestroy(pool));
    bench_add(&figures->close, now_us() - at);
    BENCH_CHECK(zetContextActivateMetricGroups(ours->context, ours->device, 0, NULL));
}

static void print(const char *what, const struct bench_rounds *ours,
                  const struct bench_rounds *bare)
{
    (void)printf("  %-30s %10.2f us (%.2f), CUPTI alone %10.2f us (%.2f): %+.2f us (%+.2f)\n", what,
                 bench_least(ours), bench_median(ours), bench_least(bare), bench_median(bare),
                 bench_least(ours) - bench_least(bare), bench_median(ours) - bench_median(bare));
}

static void print_sets(const struct ours *ours)
{
    static const char *const sets[] = {"ComputeFull", "MemoryRange", "Flops", "TensorInstructions",
                                       "TensorOpsBf16"};

    for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++) {
        struct figures figures = {0};

        for (int round = 0; round < SET_ROUNDS; round++)
            measure_ours(ours, sets[i], &figures);
        (void)printf("  %-20s first %.2f us, pair %.2f us, results %.2f us, begin behind them %.2f "
                     "us, end %.2f us\n",
                     sets[i], bench_least(&figures.first), bench_least(&figures.pair),
                     bench_least(&figures.results), bench_least(&figures.restart),
                     bench_least(&figures.close));
    }
}

int main(void)
{
    struct cuda_machine *machine = bench_cuda_machine();
    struct figures mine = {0}, bare = {0};
    struct nvidia_cupti cupti;
    void *context = NULL, *library;
    int (*current)(void **);

    bench_begin(machine ? "queries of ComputeBasic on the fake CUPTI"
                        : "queries of ComputeBasic on NVIDIA's CUPTI",
                "a pair <= 20 us, the first <= 5 ms beside CUPTI's calls");
    (void)bench_cuda_open(machine);
    library = dlopen(machine ? CUDA_LIBRARIES "/libcuda.so.1" : "libcuda.so.1", RTLD_NOW);
    *(void **)&current = bench_cuda_find(library, "cuCtxGetCurrent");
    bench_cuda_must(current(&context), "cuCtxGetCurrent");
    const struct ours ours = open_ours();

    open_cupti(&cupti);
    for (int round = 0; round < ROUNDS; round++) {
        measure_bare(&cupti, context, &bare);
        measure_ours(&ours, "ComputeBasic", &mine);
    }
    print("first begin", &mine.first, &bare.first);
    print("begin and end in a session", &mine.pair, &bare.pair);
    print("results of 61 queries", &mine.results, &bare.results);
    print("begin behind results", &mine.restart, &bare.restart);
    print("end of the session", &mine.close, &bare.close);
    print_sets(&ours);
    (void)fflush(stdout);
    if (machine)
        cuda_stop(machine);
    return 0;
}
