/* PM sampling: sums, and each of its traps. */

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "tests/cuda/tests/bed.h"

#define MANUAL "{format: 1, time: manual, gpus: [{chip: gh100}]}"

static const char *const light[] = {"TPC.TriageCompute.sm__inst_executed_realtime.sum",
                                    "gpc__cycles_elapsed.max", "gpu__time_duration.sum",
                                    "dram__bytes_read.sum",
                                    "FE_B.TriageCompute.gr__ctas_launched_realtime.sum"};
static const char *const heavy[] = {"TPC.TriageCompute.sm__inst_executed_realtime.sum",
                                    "TPC.TriageCompute.sm__cycles_active.sum",
                                    "TPC.TriageCompute.sm__inst_executed_pipe_fma_realtime.sum",
                                    "TPC.TriageCompute.sm__inst_executed_pipe_alu_realtime.sum"};
enum { LIGHT = 5, HEAVY = 4 };

static void check_sum(void)
{
    enum { TURNS = 20000 };
    struct bed_stream stream;
    struct pm_info info;

    (void)bed_context(0);
    bed_open(&stream, light, LIGHT, &(struct bed_options){.max_samples = 20000});
    bed_fma(TURNS);
    bed_fma(TURNS);
    while (cu.cuStreamQuery(NULL) == CU_NOT_READY) {
        assert_int_equal(bed_decode(&stream, NULL), 0);
        /* The rule that loses nothing: only when no sample is open. */
        bed_info(&stream, &info);
        if (info.populated == info.completed && info.completed == stream.handed)
            bed_initialise(&stream);
    }
    bed_close(&stream);
    assert_true(stream.sums[0] == 2.0 * BED_WARPS * (67.0 * TURNS + 28));
    assert_true(stream.sums[4] == 2.0 * BED_GROUPS);
}

static void sampling__work_meanwhile__sum_is_closed_form(void **state)
{
    (void)state;
    bed_run("gh100", check_sum);
}

static void check_first(void)
{
    struct bed_stream stream;
    uint64_t start;

    (void)bed_context(0);
    bed_open(&stream, light, LIGHT, NULL);
    bed_fma(1000);
    start = cuda_now_ns(bed_machine);
    cuda_advance(bed_machine, 1100000);
    assert_int_equal(bed_decode(&stream, NULL), 0);
    assert_int_equal(stream.samples, 1);
    assert_cmp(stream.end - stream.start, >, 2000000000);          /* long before Start */
    assert_cmp(stream.sums[1], >, 1e9);                            /* cycles since then */
    assert_cmp(stream.sums[2], >, (double)start * 0.9);            /* an absolute time */
    assert_true(stream.sums[0] == BED_WARPS * (67.0 * 1000 + 28)); /* counts are real */
    bed_close(&stream);
}

static void sampling__first_sample__outlier(void **state)
{
    (void)state;
    bed_run(MANUAL, check_first);
}

static uint64_t raw_clock(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC_RAW, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void check_ticks(void)
{
    struct bed_stream stream;
    uint64_t last = 0;
    bool differs = false;

    (void)bed_context(0);
    bed_open(&stream, light, LIGHT, &(struct bed_options){.period_ns = 100000});
    for (int i = 0; i < 50; i++) {
        cuda_advance(bed_machine, 100100);
        assert_int_equal(bed_decode(&stream, NULL), 0);
        if (i > 2 && stream.end > last) {
            assert_int_equal((stream.end - stream.start) % 32, 0);
            assert_cmp(stream.end - stream.start, >=, 99900);
            assert_cmp(stream.end - stream.start, <=, 100100);
            assert_int_equal(stream.start, last);
            differs = differs || stream.end - stream.start != 100000;
        }
        last = stream.end;
    }
    assert_true(differs);
    bed_close(&stream);
}

static void sampling__intervals__multiples_of_32_ns(void **state)
{
    (void)state;
    bed_run(MANUAL, check_ticks);
}

static void check_clock(void)
{
    struct bed_stream stream;
    uint64_t before, after;

    assert_int_equal(cupti.cuptiActivityRegisterTimestampCallback(raw_clock), 0);
    before = raw_clock();
    bed_open(&stream, light, LIGHT, NULL);
    while (stream.samples < 3)
        assert_int_equal(bed_decode(&stream, NULL), 0);
    after = raw_clock();
    assert_cmp(stream.start, >=, before);
    assert_cmp(stream.end, <=, after + 100000);
    bed_close(&stream);
}

static void sampling__clock_of_callback__times_follow(void **state)
{
    (void)state;
    bed_run("gh100", check_clock);
}

static void check_full(void)
{
    struct bed_stream stream;
    struct pm_info info;
    uint64_t last;
    int reason;

    (void)bed_context(0);
    bed_open(&stream, light, LIGHT, &(struct bed_options){.max_samples = 10});
    cuda_advance(bed_machine, 10 * 1000000 + 500000);
    assert_int_equal(bed_decode(&stream, &reason), 0);
    assert_int_equal(reason, 2);
    assert_int_equal(stream.samples, 10);
    last = stream.end;
    cuda_advance(bed_machine, 10 * 1000000);
    assert_int_equal(bed_decode(&stream, &reason), 0);
    assert_int_equal(reason, 1);
    bed_info(&stream, &info);
    assert_int_equal(info.total, 10);
    assert_int_equal(info.completed, 10);
    bed_initialise(&stream);
    cuda_advance(bed_machine, 2 * 1000000);
    assert_int_equal(bed_decode(&stream, &reason), 0);
    assert_int_equal(stream.samples, 12);
    assert_cmp(stream.start, >=, last + 4 * 1000000ull); /* and nobody said so */
    bed_close(&stream);
}

static void sampling__image_full__samples_lost_silently(void **state)
{
    (void)state;
    bed_run(MANUAL, check_full);
}

static void check_after_full(void)
{
    struct bed_stream stream;

    (void)bed_context(0);
    bed_open(&stream, light, LIGHT, &(struct bed_options){.max_samples = 2});
    cuda_advance(bed_machine, 8500000);
    assert_int_equal(bed_decode(&stream, NULL), 0);
    bed_initialise(&stream);
    cuda_advance(bed_machine, 1000000);
    assert_int_equal(bed_decode(&stream, NULL), 0);
    assert_int_equal(stream.samples, 3);
    assert_int_equal(stream.start, 0); /* both */
    assert_int_equal(stream.end, 0);
    bed_close(&stream);
}

static void sampling__behind_full_image__both_times_0(void **state)
{
    (void)state;
    bed_run(MANUAL, check_after_full);
}

static void check_overflow(void)
{
    struct bed_stream stream;
    struct pm_only only = BED_BLOCK(pm_only, object);

    (void)bed_context(0);
    bed_open(&stream, light, LIGHT, &(struct bed_options){.buffer_bytes = 65536});
    cuda_advance(bed_machine, 100000000);
    for (int i = 0; i < 3; i++)
        assert_int_equal(bed_decode(&stream, NULL), 8);
    assert_int_equal(stream.samples, 0);
    bed_stop(&stream);
    only.object = stream.object;
    assert_int_equal(cupti.cuptiPmSamplingStart(&only), 999);
    assert_int_equal(cupti.cuptiPmSamplingDisable(&only), 0);
    bed_open(&stream, light, LIGHT, NULL);
    cuda_advance(bed_machine, 1100000);
    assert_int_equal(bed_decode(&stream, NULL), 0);
    assert_int_equal(stream.samples, 1);
    bed_close(&stream);
}

static void sampling__overflow_keep_oldest__for_ever(void **state)
{
    (void)state;
    bed_run(MANUAL, check_overflow);
}

static void check_keep_latest(void)
{
    struct bed_stream stream;

    bed_open(&stream, light, LIGHT, &(struct bed_options){.buffer_bytes = 65536, .append = 1});
    cuda_advance(bed_machine, 100000000);
    (void)bed_decode(&stream, NULL);
}

static void sampling__overflow_keep_latest__dies(void **state)
{
    (void)state;
    bed_run_dies(MANUAL, check_keep_latest, SIGFPE);
}

/* Under load the newest sample of a heavy set is open; initialising throws it away. */
static void check_open(bool initialises)
{
    struct bed_stream stream;
    struct pm_info info;
    double values[8], whole;
    uint32_t turns = 100000;

    (void)bed_context(0);
    bed_open(&stream, heavy, HEAVY, NULL);
    bed_fma(turns); /* 27 ms */
    while (cu.cuStreamQuery(NULL) == CU_NOT_READY) {
        cuda_advance(bed_machine, 350000);
        assert_int_equal(bed_decode(&stream, NULL), 0);
        bed_info(&stream, &info);
        assert_cmp(info.populated, <=, info.completed + 1);
        if (info.populated == info.completed + 1) {
            bed_evaluate(&stream, info.completed, values);
            assert_false(isfinite(values[0]));
            if (initialises && stream.samples == 5) {
                bed_initialise(&stream);
                initialises = false;
                stream.samples = 6;
            }
        }
    }
    bed_close(&stream);
    whole = BED_WARPS * (67.0 * turns + 28);
    if (stream.samples > 0 && stream.sums[0] == whole)
        return;
    /* One sample is gone, and no more. */
    assert_cmp(stream.sums[0], <, whole);
    assert_cmp(stream.sums[0], >, whole * (1 - 1.1 / 27));
}

static void check_open_kept(void)
{
    check_open(false);
}

static void check_open_thrown_away(void)
{
    check_open(true);
}

static void sampling__newest_open__initialising_loses_it(void **state)
{
    (void)state;
    bed_run(MANUAL, check_open_kept);
    bed_run(MANUAL, check_open_thrown_away);
}

static void check_slow(void)
{
    struct bed_stream stream;
    uint64_t before;

    bed_open(&stream, light, LIGHT, NULL);
    cuda_advance(bed_machine, 5500000);
    before = raw_clock();
    assert_int_equal(bed_decode(&stream, NULL), 0);
    assert_int_equal(stream.samples, 5);
    assert_cmp(raw_clock() - before, >=, 5 * 2000000);
    bed_close(&stream);
}

static void sampling__slow_decode__takes_its_time(void **state)
{
    (void)state;
    bed_run("{format: 1, time: manual, decode_ns: 2000000, gpus: [{chip: gh100}]}", check_slow);
}

static void check_order(void)
{
    struct bed_stream stream = {.names = light, .count = LIGHT};
    struct only_head initialize = BED_BLOCK(only_head, head);
    struct pm_enable enable = BED_BLOCK(pm_enable, object);
    struct pm_config config = BED_BLOCK(pm_config, append);
    struct pm_data_size size = BED_BLOCK(pm_data_size, bytes);
    struct pm_only only = BED_BLOCK(pm_only, object);
    struct pm_image image = BED_BLOCK(pm_image, image);

    assert_int_equal(cu.cuInit(0), CU_OK);
    assert_int_equal(cupti.cuptiPmSamplingEnable(&enable), 15);
    assert_int_equal(cupti.cuptiProfilerInitialize(&initialize), 0);
    assert_int_equal(bed_configure(&stream, "GH100", 1, light, LIGHT, NULL), 0);
    /* Strict sizes: neither larger than known nor smaller than its members. */
    enable.head.size++;
    assert_int_equal(cupti.cuptiPmSamplingEnable(&enable), 1);
    enable.head.size -= 2;
    assert_int_equal(cupti.cuptiPmSamplingEnable(&enable), 1);
    enable.head.size++;
    enable.head.priv = &enable;
    assert_int_equal(cupti.cuptiPmSamplingEnable(&enable), 1);
    enable.head.priv = NULL;
    assert_int_equal(cupti.cuptiPmSamplingEnable(&enable), 0);
    assert_int_equal(cupti.cuptiPmSamplingEnable(&enable), 7); /* one of each process */
    config.object = size.object = only.object = image.object = enable.object;
    size.names = (const char **)light;
    size.count = LIGHT;
    size.max_samples = 16;
    assert_int_equal(cupti.cuptiPmSamplingStart(&only), 7);
    assert_int_equal(cupti.cuptiPmSamplingGetCounterDataSize(&size), 7);
    config.config = stream.config;
    config.config_bytes = stream.config_bytes;
    config.trigger = 1;
    config.interval = 1000000;
    assert_int_equal(cupti.cuptiPmSamplingSetConfig(&config), 1); /* a buffer of 0 bytes */
    config.buffer_bytes = 1 << 20;
    config.interval = 1;
    assert_int_equal(cupti.cuptiPmSamplingSetConfig(&config), 1);
    config.interval = 1ull << 32;
    assert_int_equal(cupti.cuptiPmSamplingSetConfig(&config), 1);
    config.interval = 60000000000; /* cut */
    assert_int_equal(cupti.cuptiPmSamplingSetConfig(&config), 0);
    assert_int_equal(cupti.cuptiPmSamplingGetCounterDataSize(&size), 0);
    image.bytes = size.bytes;
    image.image = malloc(size.bytes);
    assert_int_equal(cupti.cuptiPmSamplingCounterDataImageInitialize(&image), 0);
    /* Another question for a size spoils the image that exists. */
    size.max_samples = 17;
    assert_int_equal(cupti.cuptiPmSamplingGetCounterDataSize(&size), 0);
    assert_int_equal(cupti.cuptiPmSamplingCounterDataImageInitialize(&image), 999);
    assert_int_equal(cupti.cuptiPmSamplingStop(&only), 7);
    assert_int_equal(cupti.cuptiPmSamplingDisable(&only), 0);
    assert_int_equal(cupti.cuptiPmSamplingDisable(&only), 1);
    free(image.image);
}

static void sampling__order_and_sizes__strict(void **state)
{
    (void)state;
    bed_run("gh100", check_order);
}

static void check_deinitialise(void)
{
    struct only_head head = BED_BLOCK(only_head, head);

    assert_int_equal(cupti.cuptiProfilerInitialize(&head), 0);
    assert_int_equal(cupti.cuptiProfilerInitialize(&head), 0);
    assert_int_equal(cupti.cuptiProfilerDeInitialize(&head), 0);
    (void)cupti.cuptiProfilerDeInitialize(&head);
}

static void profiler__deinitialised_twice__crashes(void **state)
{
    (void)state;
#if defined(__x86_64__) || defined(__i386__)
    bed_run_dies("gh100", check_deinitialise, SIGILL);
#else
    bed_run_dies("gh100", check_deinitialise, SIGTRAP);
#endif
}

static void check_links(void)
{
    static const char *const names[] = {"nvlrx__bytes.sum", "gpu__time_duration.sum"};
    struct bed_stream stream;

    bed_open(&stream, names, 2, NULL);
    cuda_advance(bed_machine, 50000000);
    assert_int_equal(bed_decode(&stream, NULL), 0);
    assert_int_equal(stream.samples, 0);
}

static void check_mig(void)
{
    static const char *const names[] = {"dram__bytes_read.sum",
                                        "TPC.TriageCompute.sm__cycles_active.sum"};
    struct bed_stream stream;

    bed_open(&stream, names, 2, NULL);
    cuda_advance(bed_machine, 1500000);
    assert_int_equal(bed_decode(&stream, NULL), 0);
    assert_int_equal(stream.samples, 1);
    assert_true(isnan(stream.sums[0]));
    assert_true(stream.sums[1] == 0);
    bed_close(&stream);
}

static void sampling__what_is_absent__nan_or_nothing(void **state)
{
    (void)state;
    bed_run(MANUAL, check_links);
    bed_run("{format: 1, time: manual, gpus: [{chip: gh100, instances: 2}]}", check_mig);
}

SUITE(sampling)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(profiler__deinitialised_twice__crashes),
        cmocka_unit_test(sampling__behind_full_image__both_times_0),
        cmocka_unit_test(sampling__clock_of_callback__times_follow),
        cmocka_unit_test(sampling__first_sample__outlier),
        cmocka_unit_test(sampling__image_full__samples_lost_silently),
        cmocka_unit_test(sampling__intervals__multiples_of_32_ns),
        cmocka_unit_test(sampling__newest_open__initialising_loses_it),
        cmocka_unit_test(sampling__order_and_sizes__strict),
        cmocka_unit_test(sampling__overflow_keep_latest__dies),
        cmocka_unit_test(sampling__overflow_keep_oldest__for_ever),
        cmocka_unit_test(sampling__slow_decode__takes_its_time),
        cmocka_unit_test(sampling__what_is_absent__nan_or_nothing),
        cmocka_unit_test(sampling__work_meanwhile__sum_is_closed_form),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
