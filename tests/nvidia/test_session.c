/*
 * Sessions of PM sampling on a machine whose time a test lets pass: the rule of decoding, and that
 * no trap of the vendor's library is stepped on.
 */

#include <string.h>
#include <unistd.h>

#include "plugins/nvidia/sampling/intervals.h"
#include "plugins/nvidia/sampling/session.h"
#include "plugins/nvidia/sampling/stream.h"
#include "tests/cuda/tests/bed.h"
#include "tests/nvidia/parts.h"

#define MANUAL "{format: 1, time: manual, gpus: [{chip: gh100}]}"
#define MS UINT64_C(1000000)
#define US UINT64_C(1000)

/* Names whose newest sample is open at some decodes, and at each under load. */
static const char *light[] = {"sm__inst_executed_realtime.sum", "sm__cycles_elapsed.sum",
                              "FE_B.TriageCompute.gr__ctas_launched_realtime.sum"};
static const char *heavy[] = {"TPC.TriageCompute.sm__inst_executed_realtime.sum",
                              "TPC.TriageCompute.sm__cycles_active.sum",
                              "TPC.TriageCompute.sm__inst_executed_pipe_fma_realtime.sum",
                              "TPC.TriageCompute.sm__inst_executed_pipe_alu_realtime.sum"};
enum { LIGHT = 3, HEAVY = 4, TURNS = 20000, LAUNCHES = 30 };

#define FMA_INSTRUCTIONS (BED_WARPS * (67.0 * TURNS + 28))

/* A session, what it gave, and the library that it calls. */
struct run {
    struct nvidia_cupti cupti;
    struct nvidia_config config;
    struct nvidia_session_options options;
    struct nvidia_session *session;
    struct nvidia_program program;
    struct nvidia_intervals intervals;
    uint64_t records, breaks, lost, overflows;
    uint64_t first_ns, last_ns;
    double sums[4];
};

static int (*real_decode)(struct nvidia_pm_decode *block);
static int (*real_set_config)(struct nvidia_pm_config *block);
static uint64_t full_images, open_samples;

/* What must never happen: an image that becomes full, or a buffer that keeps the latest. */
static int watched_decode(struct nvidia_pm_decode *block)
{
    const int result = real_decode(block);
    struct nvidia_pm_info info = {.image = block->image, .bytes = block->bytes};

    if (result == 0)
        assert_int_equal(nvidia_cupti_pm_info(parts_cupti(), &info), 0);
    open_samples += info.populated > info.completed;
    full_images += block->stop_reason == NVIDIA_STOP_IMAGE_FULL;
    return result;
}

static int watched_set_config(struct nvidia_pm_config *block)
{
    assert_int_equal(block->append, 0);
    return real_set_config(block);
}

static uint64_t machine_ns(void)
{
    return cuda_now_ns(bed_machine);
}

static void take(void *context, const struct nvidia_sample *sample)
{
    struct run *run = context;
    struct nvidia_interval record;
    struct nvidia_interval_break interruption;

    if (!nvidia_intervals_add(&run->intervals, sample, &record, &interruption))
        return;
    run->breaks += interruption.is_broken;
    run->lost += interruption.lost;
    run->overflows += interruption.reason == ZETA_PLUGIN_BREAK_OVERFLOW;
    if (run->records++ == 0)
        run->first_ns = record.start_ns;
    run->last_ns = record.end_ns;
    for (size_t i = 0; i < run->config.count; i++)
        run->sums[i] += sample->values[i];
}

static void make_run(struct run *run, const char **names, size_t count, uint64_t period_ns)
{
    size_t wrong;

    memset(run, 0, sizeof(*run));
    full_images = open_samples = 0;
    run->cupti = *parts_cupti();
    real_decode = run->cupti.cuptiPmSamplingDecodeData;
    real_set_config = run->cupti.cuptiPmSamplingSetConfig;
    run->cupti.cuptiPmSamplingDecodeData = watched_decode;
    run->cupti.cuptiPmSamplingSetConfig = watched_set_config;
    (void)bed_context(0);
    assert_int_equal(cupti.cuptiActivityRegisterTimestampCallback(machine_ns), 0);
    assert_int_equal(nvidia_config_make(&run->cupti, NVIDIA_PM_SAMPLING, "GH100", names, count,
                                        &run->config, &wrong),
                     0);
    assert_int_equal(run->config.passes, 1);
    run->program.count = (uint32_t)count;
    for (uint32_t i = 0; i < count; i++)
        run->program.fields[i] = i;
    run->intervals = (struct nvidia_intervals){.program = &run->program, .period_ns = period_ns};
    run->options = (struct nvidia_session_options){.config = &run->config,
                                                   .period_ns = period_ns,
                                                   .image_bytes = 1, /* the least */
                                                   .buffer_bytes = 64u << 20,
                                                   .now_ns = machine_ns};
}

static void fetch(struct run *run)
{
    const struct nvidia_taker taker = {take, run};

    assert_int_equal(nvidia_session_fetch(run->session, &taker), 0);
}

/* Lets time pass in steps, fetching after each. */
static void pass(struct run *run, uint64_t ns, uint64_t step_ns)
{
    for (uint64_t passed = 0; passed < ns; passed += step_ns) {
        cuda_advance(bed_machine, step_ns);
        fetch(run);
    }
}

/* Opens, and waits until the first sample, which is never handed out, is over. */
static void open_run(struct run *run)
{
    assert_int_equal(nvidia_session_open(&run->options, &run->session), 0);
    cuda_advance(bed_machine, run->options.period_ns + 100);
    fetch(run);
    assert_int_equal(run->records, 0);
}

/* Stops, and expects all that was there of the time since the first record. */
static void stop_run(struct run *run)
{
    const struct nvidia_taker taker = {take, run};

    nvidia_session_stop(run->session, &taker);
    assert_int_equal(full_images, 0);
}

static void close_run(struct run *run)
{
    nvidia_session_close(run->session);
    nvidia_config_finish(&run->config);
}

/* Launches of the loop, with decodes all the while; sums and times without a gap. */
static void check_sums(const char **names, size_t count, uint64_t period_ns)
{
    const uint64_t step_ns = 10 * period_ns;
    struct run run;

    make_run(&run, names, count, period_ns);
    open_run(&run);
    assert_true(nvidia_session_fetch_ns(run.session, 0) > 0);
    cuda_advance(bed_machine, period_ns / 2); /* decodes are in the middle of a sample */
    for (int i = 0; i < LAUNCHES; i++)
        bed_fma(TURNS);
    while (cu.cuStreamQuery(NULL) != CU_OK)
        pass(&run, step_ns, step_ns);
    pass(&run, 1100 * period_ns, step_ns);
    stop_run(&run);
    assert_int_equal(run.lost, 0);
    assert_int_equal(run.breaks, 0);
    assert_true(run.sums[0] == LAUNCHES * FMA_INSTRUCTIONS);
    assert_cmp(open_samples, >, 0);
    assert_true(nvidia_session_counts(run.session).samples >= run.records);
    /* The image was initialised on the way, and that cost nothing. */
    assert_cmp(nvidia_session_counts(run.session).initialised, >, 2);
    assert_int_equal(nvidia_session_counts(run.session).forced, 0);
    assert_int_equal(nvidia_session_counts(run.session).begun_anew, 0);
    close_run(&run);
}

static void check_sums_1ms(void)
{
    check_sums(light, LIGHT, MS);
}

static void check_sums_200us(void)
{
    check_sums(light, LIGHT, 200 * US);
}

static void check_sums_100us(void)
{
    check_sums(light, LIGHT, 100 * US);
}

static void sums__decoded_while_kernels_run__are_closed_forms(void **state)
{
    (void)state;
    bed_run(MANUAL, check_sums_1ms);
    bed_run(MANUAL, check_sums_200us);
    bed_run(MANUAL, check_sums_100us);
}

/* A sample is open at each decode, so the image has to be initialised at a cost: one each. */
static void check_forced(void)
{
    struct nvidia_session_counts counts;
    uint64_t totals[CUDA_COUNTS];
    struct run run;

    make_run(&run, heavy, HEAVY, 100 * US);
    open_run(&run);
    for (int i = 0; i < 30; i++)
        bed_fma(TURNS);
    cuda_advance(bed_machine, 50 * US); /* decodes are in the middle of a sample */
    while (cu.cuStreamQuery(NULL) != CU_OK)
        pass(&run, 1, 5 * MS);
    stop_run(&run);
    counts = nvidia_session_counts(run.session);
    assert_cmp(counts.forced, >, 2);
    assert_int_equal(run.lost, counts.forced);
    assert_int_equal(run.breaks, counts.forced);
    assert_int_equal(run.overflows, 0);
    /* What is missing are counts of the lost ones, and nothing else: cycles say which share. */
    cuda_totals(bed_machine, 0, totals);
    assert_true(run.sums[0] < (double)totals[CUDA_INST]);
    assert_true(run.sums[0] >
                (double)totals[CUDA_INST] * (1 - 2.0 * (double)run.lost / (double)run.records));
    close_run(&run);
}

static void heavy_set__image_runs_out__loses_marked_samples_alone(void **state)
{
    (void)state;
    bed_run(MANUAL, check_forced);
}

/* A library that notices images which it did not initialise itself, and forgets what it decodes. */
static int (*real_initialise)(struct nvidia_data_image *block);
static uint64_t initialised, forgotten;
static bool is_fresh;

static int counted_initialise(struct nvidia_data_image *block)
{
    initialised++;
    is_fresh = true;
    return real_initialise(block);
}

static int forgetful_decode(struct nvidia_pm_decode *block)
{
    struct nvidia_pm_info info = {.image = block->image, .bytes = block->bytes};
    struct nvidia_data_image image = {
        .object = block->object, .bytes = block->bytes, .image = block->image};
    const bool was_fresh = is_fresh;
    int result;

    assert_int_equal(nvidia_cupti_pm_info(parts_cupti(), &info), 0);
    result = real_decode(block);
    is_fresh = result == 0 && info.populated == 0 && !was_fresh;
    if (!is_fresh)
        return result;
    forgotten++;
    return nvidia_cupti_pm_data_initialize(parts_cupti(), &image);
}

/* One that writes somewhere else in the image, too. */
static int scribbling_decode(struct nvidia_pm_decode *block)
{
    const int result = real_decode(block);

    block->image[block->bytes - 1] = 1;
    return result;
}

/* Two seconds of a session with such a decode; how often CUPTI initialised the image. */
static uint64_t count_initialised(int (*decode)(struct nvidia_pm_decode *block), struct run *run)
{
    initialised = forgotten = 0;
    make_run(run, light, LIGHT, MS);
    real_initialise = run->cupti.cuptiPmSamplingCounterDataImageInitialize;
    run->cupti.cuptiPmSamplingCounterDataImageInitialize = counted_initialise;
    if (decode)
        run->cupti.cuptiPmSamplingDecodeData = decode;
    open_run(run);
    bed_fma(TURNS);
    pass(run, 2000 * MS, 20 * MS);
    stop_run(run);
    assert_cmp(nvidia_session_counts(run->session).initialised, >, 5);
    close_run(run);
    return initialised;
}

static void check_returns(void)
{
    struct run run;

    assert_int_equal(count_initialised(NULL, &run), 1);
    assert_int_equal(run.lost + run.breaks, 0);
    assert_true(run.sums[0] == FMA_INSTRUCTIONS);
    assert_cmp(count_initialised(scribbling_decode, &run), >, 5);
    assert_int_equal(run.lost + run.breaks, 0);
    assert_cmp(count_initialised(forgetful_decode, &run), >, 5);
    assert_int_equal(forgotten, 1);
    assert_int_equal(run.breaks, 1);
    assert_cmp(run.lost, >=, 20);
    assert_cmp(run.lost, <=, 22);
}

static void image__comes_back__unless_it_would_not_be_the_same(void **state)
{
    (void)state;
    bed_run("{format: 1, time: manual, fills_images: true, gpus: [{chip: gh100}]}", check_returns);
}

/* As often as readers wait for something, within bounds, and no less than the image needs. */
static void check_fetches(void)
{
    static const struct {
        uint64_t period_ns;
        uint32_t wanted;
        uint64_t image_bytes, fetch_ns;
    } cases[] = {
        {MS, 0, 64 << 20, 50 * MS},
        {MS, 1, 64 << 20, 20 * MS},
        {MS, 30, 64 << 20, 30 * MS},
        {MS, UINT32_MAX, 64 << 20, 50 * MS},
        {200 * US, 0, 256 << 20, 20 * MS},
        {2 * MS, 0, 64 << 20, 100 * MS},
        {1000 * MS, 1, 64 << 20, 100 * MS},
        {30 * MS, 1, 64 << 20, 30 * MS},
        {MS, 0, 1, 21 * MS},
        {100 * US, 0, 1, 2100 * US},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct run run;

        make_run(&run, light, LIGHT, cases[i].period_ns);
        run.options.image_bytes = cases[i].image_bytes;
        open_run(&run);
        assert_int_equal(nvidia_session_fetch_ns(run.session, cases[i].wanted), cases[i].fetch_ns);
        stop_run(&run);
        close_run(&run);
    }
}

static void fetches__readers_wait_for_some__are_as_often(void **state)
{
    (void)state;
    bed_run(MANUAL, check_fetches);
}

static void check_first(void)
{
    struct run run;

    make_run(&run, light, LIGHT, MS);
    assert_int_equal(nvidia_session_open(&run.options, &run.session), 0);
    bed_fma(1000); /* counted in the first sample, which is not handed out */
    cuda_advance(bed_machine, MS + MS / 10);
    fetch(&run);
    cuda_advance(bed_machine, MS);
    fetch(&run);
    assert_int_equal(run.records, 1);
    assert_true(run.last_ns - run.first_ns < 2 * MS);
    stop_run(&run);
    assert_true(run.sums[0] == 0);
    assert_int_equal(run.breaks, 0);
    close_run(&run);
}

static void first_sample__long_before_start__is_not_handed_out(void **state)
{
    (void)state;
    bed_run(MANUAL, check_first);
}

/* The hardware buffer overflows: keep oldest, a new session, a break with the time's records. */
static void check_overflow(void)
{
    struct run run;

    make_run(&run, light, LIGHT, MS);
    run.options.buffer_bytes = 1u << 20;
    open_run(&run);
    pass(&run, 20 * MS, MS);
    assert_cmp(run.records, >, 15);
    cuda_advance(bed_machine, 300 * MS);
    run.options.now_ns = machine_ns;
    fetch(&run); /* nothing comes of it but the new session */
    pass(&run, 20 * MS, MS);
    assert_int_equal(nvidia_session_counts(run.session).begun_anew, 1);
    assert_int_equal(run.breaks, 1);
    assert_int_equal(run.overflows, 1);
    assert_cmp(run.lost, >=, 300);
    assert_cmp(run.lost, <=, 303);
    /* Records and losses are the time. */
    assert_int_equal((run.last_ns - run.first_ns + MS / 2) / MS, run.records + run.lost);
    stop_run(&run);
    close_run(&run);
}

static void hardware_buffer__overflows__new_session_behind_a_break(void **state)
{
    (void)state;
    bed_run(MANUAL, check_overflow);
}

/* A fetch that comes so late that even an empty image might become full is not made. */
static void check_late(void)
{
    struct run run;

    make_run(&run, light, LIGHT, 100 * US);
    open_run(&run);
    pass(&run, 20 * MS, 5 * MS);
    cuda_advance(bed_machine, 200 * MS);
    fetch(&run);
    pass(&run, 20 * MS, 5 * MS);
    assert_int_equal(nvidia_session_counts(run.session).begun_anew, 1);
    assert_int_equal(run.overflows, 1);
    assert_cmp(run.lost, >=, 2000);
    assert_cmp(run.lost, <=, 2052);
    stop_run(&run);
    close_run(&run);
}

static void fetch__very_late__never_fills_the_image(void **state)
{
    (void)state;
    bed_run(MANUAL, check_late);
}

/* A decode fails once: the session goes on behind a break. */
static void check_once(void)
{
    struct run run;

    make_run(&run, light, LIGHT, MS);
    open_run(&run);
    pass(&run, 5 * MS, MS);
    assert_true(cuda_fault(bed_machine, "cuptiPmSamplingDecodeData=999@1"));
    pass(&run, 10 * MS, MS);
    assert_true(cuda_fault(bed_machine, "cuptiProfilerHostEvaluateToGpuValues=1@1"));
    pass(&run, 10 * MS, MS);
    assert_true(cuda_fault(bed_machine, "cuptiPmSamplingDecodeData=13@1"));
    assert_true(cuda_fault(bed_machine, "cuptiPmSamplingDecodeData=12@2"));
    pass(&run, 10 * MS, MS);
    assert_int_equal(run.breaks, 2);
    assert_int_equal(run.overflows, 0);
    assert_int_equal(nvidia_session_counts(run.session).begun_anew, 2);
    stop_run(&run);
    close_run(&run);
}

static void decode__fails_once__goes_on_behind_a_break(void **state)
{
    (void)state;
    bed_run(MANUAL, check_once);
}

/* The GPU is gone: every call fails. */
static void check_gone(void)
{
    struct run run;
    const struct nvidia_taker taker = {take, &run};
    int result = 0;

    make_run(&run, light, LIGHT, MS);
    open_run(&run);
    assert_true(cuda_fault(bed_machine, "cuptiPm*=999@1+"));
    for (int i = 0; i < 10 && result == 0; i++)
        result = nvidia_session_fetch(run.session, &taker);
    assert_int_equal(result, 999);
    assert_int_equal(nvidia_session_fetch(run.session, &taker), 999);
    nvidia_session_stop(run.session, &taker);
    close_run(&run);
    cuda_no_faults(bed_machine);
}

static void session__gpu_is_gone__is_over(void **state)
{
    (void)state;
    bed_run(MANUAL, check_gone);
}

/* Each call of the way in fails: nothing is left, and the counters are free. */
static void check_refusals(void)
{
    static const char *const calls[] = {
        "cuptiPmSamplingEnable", "cuptiPmSamplingSetConfig", "cuptiPmSamplingGetCounterDataSize",
        "cuptiPmSamplingCounterDataImageInitialize", "cuptiPmSamplingStart"};
    static const int results[] = {35, 26, 7, 27, 8, 999, 1};
    char fault[128];
    struct run run;

    make_run(&run, light, LIGHT, MS);
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        for (size_t k = 0; k < sizeof(results) / sizeof(results[0]); k++) {
            (void)snprintf(fault, sizeof(fault), "%s=%d@1", calls[i], results[k]);
            assert_true(cuda_fault(bed_machine, fault));
            assert_int_equal(nvidia_session_open(&run.options, &run.session), results[k]);
            cuda_no_faults(bed_machine);
        }
    }
    open_run(&run);
    stop_run(&run);
    close_run(&run);
}

static void open__each_call_refused__leaves_nothing(void **state)
{
    (void)state;
    bed_run(MANUAL, check_refusals);
}

static void check_tail(void)
{
    struct run run;
    uint64_t records;

    make_run(&run, light, LIGHT, MS);
    open_run(&run);
    bed_fma(TURNS);
    cuda_advance(bed_machine, 7 * MS + 300 * US);
    while (cu.cuStreamQuery(NULL) != CU_OK)
        pass(&run, MS, MS);
    records = run.records;
    cuda_advance(bed_machine, 5 * MS);
    stop_run(&run);
    assert_cmp(run.records, >=, records + 5);
    assert_true(run.sums[0] == FMA_INSTRUCTIONS);
    /* Given up: another session begins, and a second stop does nothing. */
    stop_run(&run);
    close_run(&run);
    make_run(&run, light, LIGHT, MS);
    open_run(&run);
    close_run(&run); /* without stop */
    make_run(&run, light, LIGHT, MS);
    open_run(&run);
    stop_run(&run);
    close_run(&run);
}

static void stop__samples_left__hands_them_out(void **state)
{
    (void)state;
    bed_run(MANUAL, check_tail);
}

static void check_nan(void)
{
    static const char *names[] = {"sm__inst_executed_realtime.sum", "dram__bytes_read.sum"};
    struct run run;

    make_run(&run, names, 2, MS);
    open_run(&run);
    pass(&run, 10 * MS, MS);
    assert_cmp(nvidia_session_counts(run.session).samples, >, 5);
    assert_int_equal(run.records, 0); /* a count is NaN, so there is no record */
    stop_run(&run);
    close_run(&run);
}

static void counts__not_to_be_had__no_record(void **state)
{
    (void)state;
    bed_run("{format: 1, time: manual, gpus: [{chip: gh100, instances: 2}]}", check_nan);
}

static void check_links(void)
{
    static const char *names[] = {"nvlrx__bytes.sum"};
    struct run run;

    make_run(&run, names, 1, MS);
    open_run(&run);
    pass(&run, 100 * MS, 10 * MS);
    assert_int_equal(run.records, 0);
    assert_int_equal(nvidia_session_counts(run.session).begun_anew, 0);
    stop_run(&run);
    close_run(&run);
}

static void links__absent__nothing_completes(void **state)
{
    (void)state;
    bed_run(MANUAL, check_links);
}

/* Names that need two passes, that the chip lacks, that have no rollup. */
static void check_config(void)
{
    const char *two[] = {"sm__inst_executed.sum", "sm__warps_launched.sum"};
    const char *unknown[] = {"sm__cycles_elapsed.sum", "sm__no_such.sum", "x.sum"};
    const char *bare[] = {"sm__cycles_elapsed"};
    struct nvidia_config config;
    size_t wrong = 9;

    assert_int_equal(
        nvidia_config_make(parts_cupti(), NVIDIA_PM_SAMPLING, "GH100", two, 2, &config, &wrong), 0);
    assert_int_equal(config.passes, 2);
    nvidia_config_finish(&config);
    assert_int_equal(
        nvidia_config_make(parts_cupti(), NVIDIA_PM_SAMPLING, "GH100", unknown, 3, &config, &wrong),
        NVIDIA_CUPTI_INVALID_METRIC_NAME);
    assert_int_equal(wrong, 1);
    nvidia_config_finish(&config);
    assert_int_equal(
        nvidia_config_make(parts_cupti(), NVIDIA_PM_SAMPLING, "GH100", bare, 1, &config, &wrong),
        NVIDIA_CUPTI_INVALID_METRIC_NAME);
    assert_int_equal(wrong, 0);
    nvidia_config_finish(&config);
    assert_int_equal(
        nvidia_config_make(parts_cupti(), NVIDIA_PM_SAMPLING, "GX999", light, 1, &config, &wrong),
        NVIDIA_CUPTI_INVALID_CHIP_NAME);
    nvidia_config_finish(&config);
    assert_true(cuda_fault(bed_machine, "cuptiProfilerHostGetConfigImage=8@1"));
    assert_int_equal(
        nvidia_config_make(parts_cupti(), NVIDIA_PM_SAMPLING, "GH100", light, 1, &config, &wrong),
        NVIDIA_CUPTI_OUT_OF_MEMORY);
    nvidia_config_finish(&config);
    nvidia_config_finish(&config);
}

static void config__passes_and_wrong_names__are_told(void **state)
{
    (void)state;
    bed_run(MANUAL, check_config);
}

/* Blocks of a later version: everything works with the sizes of 13.0. */
static void sums__larger_blocks__same(void **state)
{
    (void)state;
    bed_run("{format: 1, time: manual, growth: 16, gpus: [{chip: gh100}]}", check_sums_1ms);
}

/*
 * Any order of work, pauses, late fetches and failures: records and losses together are the time,
 * no image is ever full, and no count appears twice.
 */
static void check_random(const char **names, size_t count, uint32_t seed)
{
    static const char *const faults[] = {
        "cuptiPmSamplingDecodeData=999@1", "cuptiPmSamplingDecodeData=8@2",
        "cuptiPmSamplingDecodeData=13@1", "cuptiPmSamplingCounterDataGetSampleInfo=1@3",
        "cuptiProfilerHostEvaluateToGpuValues=17@5"};
    struct run run;
    uint64_t totals[CUDA_COUNTS], periods;

    make_run(&run, names, count, 100 * US);
    open_run(&run);
    for (int i = 0; i < 200; i++) {
        seed = seed * 1664525u + 1013904223u;
        switch (seed >> 28) {
        case 0:
        case 1:
        case 2:
            bed_fma(1000 + (seed >> 8) % 20000);
            break;
        case 3:
            assert_true(cuda_fault(bed_machine, faults[(seed >> 8) % 5]));
            break;
        case 4: /* far too late */
            cuda_advance(bed_machine, (seed >> 8) % 200 * MS);
            break;
        default:
            break;
        }
        pass(&run, 1, 1 + (seed >> 4) % (10 * MS));
    }
    cuda_no_faults(bed_machine);
    pass(&run, 50 * MS, MS);
    assert_cmp(nvidia_session_counts(run.session).begun_anew, >, 0);
    assert_cmp(run.records, >, 200);
    periods = (run.last_ns - run.first_ns + 50 * US) / (100 * US);
    /* A loss is counted in whole periods, so each may be wrong by half of one. */
    assert_cmp(run.records + run.lost, <=, periods + run.breaks);
    assert_cmp(run.records + run.lost + run.breaks, >=, periods);
    cuda_totals(bed_machine, 0, totals);
    assert_true(run.sums[0] <= (double)totals[CUDA_INST]);
    assert_true(run.intervals.sequence == run.records + run.lost);
    stop_run(&run);
    close_run(&run);
}

static uint32_t random_seed;

static void check_random_light(void)
{
    check_random(light, LIGHT, random_seed);
}

static void check_random_heavy(void)
{
    check_random(heavy, HEAVY, random_seed);
}

static void session__random_life__records_and_losses_are_the_time(void **state)
{
    (void)state;
    for (random_seed = 1; random_seed <= 8; random_seed++) {
        bed_run(MANUAL, check_random_light);
        bed_run(MANUAL, check_random_heavy);
    }
}

/* ---- periods ------------------------------------------------------------------------------ */

/* CUPTI takes 32 bits, cuts what is above without a word and refuses 0 and 1: it gets none of them.
 */
static void check_periods(void)
{
    static const struct {
        uint64_t wanted_ns, used_ns;
    } cases[] = {
        {0, 100 * US},
        {1, 100 * US},
        {MS, MS},
        {UINT32_MAX, UINT32_MAX / 32 * 32},
        {UINT64_C(1) << 32, UINT32_MAX / 32 * 32},
        {(UINT64_C(1) << 32) + 1, UINT32_MAX / 32 * 32},
        {UINT64_C(60000000000), UINT32_MAX / 32 * 32},
        {UINT64_MAX, UINT32_MAX / 32 * 32},
    };
    const struct zeta_plugin_program_entry entry = {
        .struct_size = sizeof(entry), .select = zeta_string("C0=sm__inst_executed_realtime.sum")};
    struct zeta_plugin_device *device = parts_device();

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct zeta_plugin_stream_desc desc = {
            .struct_size = sizeof(desc),
            .set = zeta_string("Periods"),
            .program = {.data = &entry, .count = 1, .stride = sizeof(entry)},
            .record_bytes = NVIDIA_RECORD_BYTES,
            .period_ns = cases[i].wanted_ns};
        struct zeta_plugin_stream *stream = NULL;

        assert_int_equal(nvidia_sampling_open(device, &desc, &stream), ZETA_PLUGIN_SUCCESS);
        assert_int_equal(desc.period_ns, cases[i].used_ns);
        stream->close(stream);
    }
}

static void period__any__brought_into_what_cupti_takes(void **state)
{
    (void)state;
    bed_run("gh100", check_periods);
}

SUITE(session)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums__decoded_while_kernels_run__are_closed_forms),
        cmocka_unit_test(heavy_set__image_runs_out__loses_marked_samples_alone),
        cmocka_unit_test(image__comes_back__unless_it_would_not_be_the_same),
        cmocka_unit_test(fetches__readers_wait_for_some__are_as_often),
        cmocka_unit_test(first_sample__long_before_start__is_not_handed_out),
        cmocka_unit_test(hardware_buffer__overflows__new_session_behind_a_break),
        cmocka_unit_test(fetch__very_late__never_fills_the_image),
        cmocka_unit_test(decode__fails_once__goes_on_behind_a_break),
        cmocka_unit_test(session__gpu_is_gone__is_over),
        cmocka_unit_test(open__each_call_refused__leaves_nothing),
        cmocka_unit_test(stop__samples_left__hands_them_out),
        cmocka_unit_test(counts__not_to_be_had__no_record),
        cmocka_unit_test(links__absent__nothing_completes),
        cmocka_unit_test(config__passes_and_wrong_names__are_told),
        cmocka_unit_test(sums__larger_blocks__same),
        cmocka_unit_test(session__random_life__records_and_losses_are_the_time),
        cmocka_unit_test(period__any__brought_into_what_cupti_takes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
