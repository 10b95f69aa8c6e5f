/*
 * PM sampling of NVIDIA GPUs on the fake CUPTI: what a sample costs from the decode to the ring,
 * and how much of that is ours. The peer is a bare loop of the same calls of CUPTI. Time is let
 * pass by hand, a hundred samples at a time, while a kernel runs.
 *
 * What CUPTI itself costs is another matter on hardware: tens of microseconds a sample.
 */
#include <dlfcn.h>

#include <zeta/record_ring.h>

#include "plugins/nvidia/sampling/intervals.h"
#include "plugins/nvidia/sampling/session.h"
#include "tests/bench/bench.h"
#include "tests/cuda/cuda.h"

#define PERIOD_NS UINT64_C(1000000)
enum { SAMPLES = 100, FETCHES = 200, ROUNDS = 7 };

/* The counters of ComputeBasic. */
static const char *names[] = {"gpu__time_duration.sum",
                              "gpc__cycles_elapsed.max",
                              "sm__cycles_elapsed.sum",
                              "sys__cycles_elapsed.sum",
                              "TPC.TriageCompute.sm__cycles_active.sum",
                              "TPC.TriageCompute.sm__inst_executed_realtime.sum",
                              "SM_A.TriageCompute.sm__thread_inst_executed_pred_on_realtime.sum",
                              "TPC.TriageCompute.sm__inst_executed_pipe_fma_realtime.sum",
                              "SM_A.TriageCompute.sm__inst_executed_pipe_xu_realtime.sum",
                              "SM_A.TriageCompute.sm__inst_executed_pipe_uniform_realtime.sum",
                              "sm__warps_active_realtime.sum",
                              "FE_B.TriageCompute.gr__ctas_launched_realtime.sum",
                              "gr__compute_cycles_active.sum",
                              "dram__bytes_read.sum",
                              "dram__bytes_write.sum",
                              "dram__cycles_elapsed.sum",
                              "lts__t_sectors.sum"};
enum { NAMES = sizeof(names) / sizeof(names[0]) };

static struct cuda_machine *machine;
static struct nvidia_program program;
static struct nvidia_intervals intervals;
static struct zeta_record_ring *ring;
static uint64_t records;

static uint64_t machine_ns(void)
{
    return cuda_now_ns(machine);
}

static void ignore(struct zeta_plugin_host *host, uint32_t level, struct zeta_plugin_string text)
{
    (void)host;
    (void)level;
    (void)text;
}

static uint32_t look_up(struct zeta_plugin_host *host, struct zeta_plugin_string name,
                        struct zeta_plugin_string *out_value)
{
    (void)host;
    if (!zeta_string_is(name, "libcupti"))
        return ZETA_PLUGIN_NOT_AVAILABLE;
    *out_value = zeta_string(CUDA_LIBRARIES);
    return ZETA_PLUGIN_SUCCESS;
}

static const struct zeta_plugin_host_ops ops = {
    .struct_size = sizeof(ops), .log = ignore, .fail = ignore, .setting = look_up};

/* As a stream takes samples. */
static void take(void *context, const struct nvidia_sample *sample)
{
    struct nvidia_interval record = {0};
    struct nvidia_interval_break interruption;

    (void)context;
    if (nvidia_intervals_add(&intervals, sample, &record, &interruption) &&
        zeta_record_ring_push(ring, &record, 1) == 0)
        records++;
}

static void check(int result, const char *what)
{
    if (result == 0)
        return;
    (void)fprintf(stderr, "%s gives %d\n", what, result);
    exit(1);
}

/* Microseconds of the processor for a sample of ours. */
static double measure_ours(struct nvidia_session *session)
{
    static uint8_t buffer[2 * SAMPLES * NVIDIA_RECORD_BYTES];
    const struct nvidia_taker taker = {take, NULL};
    const uint64_t before = records;
    double seconds = 0;

    for (int i = 0; i < FETCHES; i++) {
        struct zeta_plugin_read read = {.struct_size = sizeof(read)};
        double begin;

        cuda_advance(machine, SAMPLES * PERIOD_NS);
        begin = bench_seconds(CLOCK_THREAD_CPUTIME_ID);
        check(nvidia_session_fetch(session, &taker), "fetching");
        seconds += bench_seconds(CLOCK_THREAD_CPUTIME_ID) - begin;
        zeta_record_ring_read(ring, buffer, sizeof(buffer), &read);
    }
    return seconds * 1e6 / (double)(records - before);
}

/* The bare calls, on a session of their own. */
struct bare {
    const struct nvidia_config *config;
    void *object;
    uint8_t *image;
    size_t image_bytes;
};

static void open_bare(struct bare *bare)
{
    const struct nvidia_cupti *cupti = bare->config->cupti;
    struct nvidia_pm_enable enable = {0};
    struct nvidia_pm_config config = {.config_bytes = bare->config->image_bytes,
                                      .config = bare->config->image,
                                      .buffer_bytes = 64u << 20,
                                      .interval = PERIOD_NS,
                                      .trigger = NVIDIA_TRIGGER_NS};
    struct nvidia_pm_data_size size = {
        .names = bare->config->names, .count = bare->config->count, .most_samples = 4 * SAMPLES};
    struct nvidia_object object;

    check(nvidia_cupti_pm_enable(cupti, &enable), "cuptiPmSamplingEnable");
    bare->object = config.object = size.object = object.object = enable.object;
    check(nvidia_cupti_pm_set_config(cupti, &config), "cuptiPmSamplingSetConfig");
    check(nvidia_cupti_pm_data_size(cupti, &size), "cuptiPmSamplingGetCounterDataSize");
    bare->image_bytes = size.bytes;
    bare->image = calloc(1, size.bytes);
    if (!bare->image)
        exit(1);
    struct nvidia_data_image image = {
        .object = bare->object, .bytes = bare->image_bytes, .image = bare->image};
    check(nvidia_cupti_pm_data_initialize(cupti, &image), "initialising");
    check(nvidia_cupti_pm_start(cupti, &object), "cuptiPmSamplingStart");
}

static double measure_bare(const struct bare *bare)
{
    const struct nvidia_cupti *cupti = bare->config->cupti;
    struct nvidia_data_image image = {
        .object = bare->object, .bytes = bare->image_bytes, .image = bare->image};
    double seconds = 0, values[NAMES];
    uint64_t samples = 0;

    for (int i = 0; i < FETCHES; i++) {
        struct nvidia_pm_decode decode = {
            .object = bare->object, .image = bare->image, .bytes = bare->image_bytes};
        struct nvidia_pm_info info = {.image = bare->image, .bytes = bare->image_bytes};
        double begin;

        cuda_advance(machine, SAMPLES * PERIOD_NS);
        begin = bench_seconds(CLOCK_THREAD_CPUTIME_ID);
        check(nvidia_cupti_pm_data_initialize(cupti, &image), "initialising");
        check(nvidia_cupti_pm_decode(cupti, &decode), "decoding");
        check(nvidia_cupti_pm_info(cupti, &info), "asking");
        for (size_t s = 0; s < info.completed; s++) {
            struct nvidia_pm_sample_info sample = {.object = bare->object,
                                                   .image = bare->image,
                                                   .bytes = bare->image_bytes,
                                                   .index = s};

            check(nvidia_cupti_pm_sample_info(cupti, &sample), "asking for a sample");
            check(nvidia_config_evaluate(bare->config, bare->image, bare->image_bytes, s, values),
                  "evaluating");
        }
        seconds += bench_seconds(CLOCK_THREAD_CPUTIME_ID) - begin;
        samples += info.completed;
    }
    return seconds * 1e6 / (double)samples;
}

static void close_bare(struct bare *bare)
{
    struct nvidia_object object = {.object = bare->object};

    check(nvidia_cupti_pm_stop(bare->config->cupti, &object), "cuptiPmSamplingStop");
    check(nvidia_cupti_pm_disable(bare->config->cupti, &object), "cuptiPmSamplingDisable");
    free(bare->image);
}

static void start(struct nvidia_cupti *cupti, struct nvidia_config *config)
{
    const struct zeta_host host = {.ops = &ops, .id = "nvidia", .data_dir = ""};
    struct nvidia_plain initialize = {0};
    void *driver;
    int (*init)(unsigned);
    size_t wrong;

    machine = cuda_start("{format: 1, time: manual, fills_images: true, gpus: [{chip: gh100}]}");
    driver = dlopen(CUDA_LIBRARIES "/libcuda.so.1", RTLD_NOW);
    if (!machine || !driver || !nvidia_cupti_open(cupti, &host, "")) {
        (void)fprintf(stderr, "%s\n", cupti->lib.problem);
        exit(1);
    }
    *(void **)&init = dlsym(driver, "cuInit");
    check(init(0), "cuInit");
    check(cupti->cuptiActivityRegisterTimestampCallback(machine_ns), "the callback");
    check(nvidia_cupti_initialize(cupti, &initialize), "cuptiProfilerInitialize");
    check(nvidia_config_make(cupti, NVIDIA_PM_SAMPLING, "GH100", names, NAMES, config, &wrong),
          "the configuration");
}

int main(void)
{
    struct nvidia_cupti cupti;
    struct nvidia_config config;
    struct nvidia_session_options options = {.config = &config,
                                             .period_ns = PERIOD_NS,
                                             .image_bytes = 128u << 20,
                                             .buffer_bytes = 64u << 20,
                                             .now_ns = machine_ns};
    struct bench_rounds ours = {0}, peer = {0};

    bench_begin("PM sampling of NVIDIA GPUs, 17 counters, fake CUPTI",
                "<= 16 % of a core at 1 kHz on hardware: ours beside CUPTI's calls");
    start(&cupti, &config);
    program.count = NAMES;
    for (uint32_t i = 0; i < NAMES; i++)
        program.fields[i] = i;
    ring = zeta_record_ring_create(4 * SAMPLES, NVIDIA_RECORD_BYTES, 0);
    if (!ring)
        return 1;
    for (int round = 0; round < ROUNDS; round++) {
        struct bare bare = {.config = &config};
        struct nvidia_session *session;

        intervals = (struct nvidia_intervals){.program = &program, .period_ns = PERIOD_NS};
        check(nvidia_session_open(&options, &session), "opening a session");
        bench_add(&ours, measure_ours(session));
        nvidia_session_close(session);
        open_bare(&bare);
        bench_add(&peer, measure_bare(&bare));
        close_bare(&bare);
    }
    (void)printf("  %-44s %7.3f (%.3f) us a sample\n", "from decode to ring", bench_least(&ours),
                 bench_median(&ours));
    (void)printf("  %-44s %7.3f (%.3f) us a sample\n", "peer: bare loop of CUPTI's calls",
                 bench_least(&peer), bench_median(&peer));
    (void)printf("  %-44s %7.3f us a sample, %.2f %% of a core at 1 kHz\n", "ours",
                 bench_median(&ours) - bench_median(&peer),
                 (bench_median(&ours) - bench_median(&peer)) / 10);
    zeta_record_ring_destroy(ring);
    nvidia_config_finish(&config);
    cuda_stop(machine);
    return 0;
}
