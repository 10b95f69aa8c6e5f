/* The range profiler: exact counts of ranges, and what it refuses. */

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/cuda/tests/bed.h"

static const char *const names[] = {"sm__inst_executed.sum", "sm__warps_launched.sum",
                                    "gpu__time_duration.sum", "gpc__cycles_elapsed.max"};
static const char *const flops[] = {"smsp__sass_thread_inst_executed_op_ffma_pred_on.sum",
                                    "smsp__sass_thread_inst_executed_op_fadd_pred_on.sum"};

enum { NAMES = 4, FLOPS = 2 };

struct session {
    struct bed_stream stream; /* host, configuration and image */
    struct range_config config;
    struct pm_only only;
};

/* Up to SetConfig, whose result it returns. */
static int configure(struct session *session, void *context, const char *const *texts, size_t count,
                     size_t ranges, int range, int replay)
{
    struct only_head head = BED_BLOCK(only_head, head);
    struct range_enable enable = BED_BLOCK(range_enable, object);
    struct range_data_size size = BED_BLOCK(range_data_size, bytes);
    struct pm_image image = BED_BLOCK(pm_image, image);

    *session = (struct session){.stream = {.names = texts, .count = count},
                                .config = BED_BLOCK(range_config, target_level),
                                .only = BED_BLOCK(pm_only, object)};
    assert_int_equal(cupti.cuptiProfilerInitialize(&head), 0);
    assert_int_equal(bed_configure(&session->stream, "GH100", 0, texts, count, NULL), 0);
    enable.context = context;
    assert_int_equal(cupti.cuptiRangeProfilerEnable(&enable), 0);
    assert_int_equal(cupti.cuptiRangeProfilerEnable(&enable), 7);
    session->config.object = session->only.object = size.object = image.object = enable.object;
    size.names = (const char **)texts;
    size.count = count;
    size.max_ranges = ranges;
    size.max_nodes = (uint32_t)ranges;
    assert_int_equal(cupti.cuptiRangeProfilerGetCounterDataSize(&size), 0);
    session->stream.image_bytes = image.bytes = size.bytes;
    session->stream.image = image.image = calloc(1, size.bytes);
    assert_non_null(image.image);
    assert_int_equal(cupti.cuptiRangeProfilerCounterDataImageInitialize(&image), 0);
    session->config.config = session->stream.config;
    session->config.config_bytes = session->stream.config_bytes;
    session->config.data = session->stream.image;
    session->config.data_bytes = session->stream.image_bytes;
    session->config.range = range;
    session->config.replay = replay;
    session->config.max_ranges = ranges;
    session->config.levels = session->config.min_level = session->config.target_level = 1;
    return cupti.cuptiRangeProfilerSetConfig(&session->config);
}

static int push(struct session *session, const char *name)
{
    struct range_push block = BED_BLOCK(range_push, name);

    block.object = session->only.object;
    block.name = name;
    return cupti.cuptiRangeProfilerPushRange(&block);
}

static bool stop(struct session *session)
{
    struct range_stop block = BED_BLOCK(range_stop, all_passes_done);

    block.object = session->only.object;
    assert_int_equal(cupti.cuptiRangeProfilerStop(&block), 0);
    return block.all_passes_done;
}

/* Ranges that a decode gives. */
static size_t decode(struct session *session)
{
    struct range_decode block = BED_BLOCK(range_decode, dropped);
    struct range_info info = BED_BLOCK(range_info, ranges);

    block.object = session->only.object;
    assert_int_equal(cupti.cuptiRangeProfilerDecodeData(&block), 0);
    assert_int_equal(block.dropped, 0);
    info.image = session->stream.image;
    info.bytes = session->stream.image_bytes;
    assert_int_equal(cupti.cuptiRangeProfilerGetCounterDataInfo(&info), 0);
    return info.ranges;
}

static const char *name_of(struct session *session, size_t index)
{
    struct range_name block = BED_BLOCK(range_name, name);

    block.image = session->stream.image;
    block.bytes = session->stream.image_bytes;
    block.index = index;
    block.delimiter = "/";
    assert_int_equal(cupti.cuptiRangeProfilerCounterDataGetRangeInfo(&block), 0);
    return block.name;
}

static void check_ranges(void)
{
    struct session session;
    double values[NAMES];

    assert_int_equal(configure(&session, bed_context(0), names, NAMES, 3, 2, 3), 0);
    assert_int_equal(push(&session, "early"), 7);
    assert_int_equal(cupti.cuptiRangeProfilerStart(&session.only), 0);
    assert_int_equal(cupti.cuptiRangeProfilerStart(&session.only), 7);
    bed_fma(50); /* of no range */
    for (int i = 0; i < 4; i++) {
        char name[16];

        (void)snprintf(name, sizeof(name), "r%d", i);
        assert_int_equal(push(&session, name), 0);
        assert_int_equal(push(&session, "nested"), 7);
        for (int k = 0; k < i; k++)
            bed_fma(100);
        assert_int_equal(cupti.cuptiRangeProfilerPopRange(&session.only), 0);
        assert_int_equal(cupti.cuptiRangeProfilerPopRange(&session.only), 7);
    }
    assert_int_equal(decode(&session), 0); /* before Stop nothing, harmlessly */
    assert_true(stop(&session));
    assert_int_equal(decode(&session), 3); /* the fourth vanished */
    for (size_t i = 0; i < 3; i++) {
        bed_evaluate(&session.stream, i, values);
        assert_true(values[0] == (double)i * BED_WARPS * 6728.0);
        assert_true(values[1] == (double)i * BED_WARPS);
        assert_cmp(values[2], >=, 8999);
    }
    assert_string_equal(name_of(&session, 2), "r2");

    /* Again in the same session. */
    assert_int_equal(cupti.cuptiRangeProfilerStart(&session.only), 0);
    assert_int_equal(push(&session, "again"), 0);
    bed_fma(10);
    assert_int_equal(cupti.cuptiRangeProfilerPopRange(&session.only), 0);
    assert_true(stop(&session));
    assert_int_equal(decode(&session), 1);
    bed_evaluate(&session.stream, 0, values);
    assert_true(values[0] == BED_WARPS * 698.0);
    assert_int_equal(cupti.cuptiRangeProfilerDisable(&session.only), 0);
    assert_int_equal(cupti.cuptiRangeProfilerDisable(&session.only), 1);
}

static void range__user_ranges__exact_and_separate(void **state)
{
    (void)state;
    bed_run("gh100", check_ranges);
}

static void check_flops(void)
{
    struct session session;
    double values[FLOPS];

    assert_int_equal(configure(&session, bed_context(0), flops, FLOPS, 1, 2, 3), 0);
    assert_int_equal(cupti.cuptiRangeProfilerStart(&session.only), 0);
    assert_int_equal(push(&session, "flops"), 0);
    bed_fma(100);
    assert_int_equal(cupti.cuptiRangeProfilerPopRange(&session.only), 0);
    assert_true(stop(&session));
    assert_int_equal(decode(&session), 1);
    bed_evaluate(&session.stream, 0, values);
    assert_true(values[0] == BED_THREADS * 6400.0);
    assert_true(values[1] == BED_THREADS * 14.0);
    assert_int_equal(cupti.cuptiRangeProfilerDisable(&session.only), 0);
}

static void range__instrumented_counts__closed_form(void **state)
{
    (void)state;
    bed_run("gh100", check_flops);
}

static void check_auto(void)
{
    static const char *const two_passes[] = {"sm__inst_executed.sum",
                                             "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum"};
    struct session session;
    double values[2];

    assert_int_equal(configure(&session, bed_context(0), names, NAMES, 8, 1, 2), 0);
    assert_int_equal(cupti.cuptiRangeProfilerStart(&session.only), 0);
    bed_fma(1);
    bed_fma(2);
    assert_true(stop(&session));
    assert_int_equal(decode(&session), 2);
    assert_string_equal(name_of(&session, 0), "0");
    assert_string_equal(name_of(&session, 1), "1");
    assert_int_equal(cupti.cuptiRangeProfilerDisable(&session.only), 0);

    /* Two passes: the work once more. */
    assert_int_equal(configure(&session, bed_context(0), two_passes, 2, 1, 2, 3), 0);
    for (int pass = 0; pass < 2; pass++) {
        assert_int_equal(cupti.cuptiRangeProfilerStart(&session.only), 0);
        assert_int_equal(push(&session, "twice"), 0);
        bed_fma(5);
        assert_int_equal(cupti.cuptiRangeProfilerPopRange(&session.only), 0);
        assert_int_equal(stop(&session), pass == 1);
        assert_int_equal(decode(&session), pass);
    }
    bed_evaluate(&session.stream, 0, values);
    assert_true(values[0] == BED_WARPS * (67 * 5 + 28.0));
    assert_int_equal(cupti.cuptiRangeProfilerDisable(&session.only), 0);

    /* Ranges of the user and replay of kernels do not go together. */
    assert_int_equal(configure(&session, bed_context(0), names, NAMES, 8, 2, 2), 7);
    assert_int_equal(cupti.cuptiRangeProfilerDisable(&session.only), 0);
}

static void range__auto_and_passes__as_configured(void **state)
{
    (void)state;
    bed_run("gh100", check_auto);
}

static void check_beside(void)
{
    struct session session;
    struct bed_stream stream;
    struct pm_config config = BED_BLOCK(pm_config, append);
    struct pm_enable enable = BED_BLOCK(pm_enable, object);

    assert_int_equal(configure(&session, bed_context(0), names, NAMES, 8, 2, 3), 0);
    bed_open(&stream, names + 2, 2, NULL);
    assert_int_equal(cupti.cuptiRangeProfilerStart(&session.only), 26);
    bed_close(&stream);
    assert_int_equal(cupti.cuptiRangeProfilerStart(&session.only), 0);
    assert_int_equal(bed_configure(&stream, "GH100", 1, names + 2, 2, NULL), 0);
    assert_int_equal(cupti.cuptiPmSamplingEnable(&enable), 0);
    config.object = enable.object;
    config.config = stream.config;
    config.config_bytes = stream.config_bytes;
    config.buffer_bytes = 1 << 20;
    config.interval = 1000000;
    config.trigger = 1;
    assert_int_equal(cupti.cuptiPmSamplingSetConfig(&config), 26);
    assert_true(stop(&session));
    assert_int_equal(cupti.cuptiRangeProfilerDisable(&session.only), 0);
    assert_int_equal(cupti.cuptiPmSamplingSetConfig(&config), 0);
}

static void range__beside_stream__busy_in_both_directions(void **state)
{
    (void)state;
    bed_run("gh100", check_beside);
}

static struct session shared;
static void *shared_context;
static atomic_bool last_is_open;

enum { PUSHES = 100 };

static void *work_beside(void *argument)
{
    void *stream, *function;

    (void)argument;
    assert_int_equal(cu.cuCtxSetCurrent(shared_context), CU_OK);
    function = bed_function("empty");
    assert_int_equal(cu.cuStreamCreateWithPriority(&stream, 1, 0), CU_OK);
    for (int i = 0; i < PUSHES - 1; i++)
        bed_launch(function, 1, 32, stream, NULL);
    /* All of them may have come between a pop and a push. */
    while (!atomic_load(&last_is_open))
        (void)sched_yield();
    bed_launch(function, 1, 32, stream, NULL);
    assert_int_equal(cu.cuStreamSynchronize(stream), CU_OK);
    return NULL;
}

static void check_threads(void)
{
    pthread_t thread;
    double values[NAMES], sum = 0;
    size_t count;

    shared_context = bed_context(0);
    assert_int_equal(configure(&shared, shared_context, names, NAMES, PUSHES, 2, 3), 0);
    assert_int_equal(cupti.cuptiRangeProfilerStart(&shared.only), 0);
    assert_int_equal(push(&shared, "all"), 0);
    atomic_store(&last_is_open, false);
    assert_int_equal(pthread_create(&thread, NULL, work_beside, NULL), 0);
    for (int i = 0; i < PUSHES - 1; i++) {
        assert_int_equal(cupti.cuptiRangeProfilerPopRange(&shared.only), 0);
        assert_int_equal(push(&shared, "more"), 0);
    }
    atomic_store(&last_is_open, true);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(cupti.cuptiRangeProfilerPopRange(&shared.only), 0);
    assert_true(stop(&shared));
    count = decode(&shared);
    assert_int_equal(count, PUSHES);
    for (size_t i = 0; i < count; i++) {
        bed_evaluate(&shared.stream, i, values);
        sum += values[1];
    }
    /* Between a pop and a push a launch may fall out. */
    assert_cmp(sum, <=, PUSHES);
    assert_cmp(sum, >, 0);
    assert_int_equal(cupti.cuptiRangeProfilerDisable(&shared.only), 0);
}

static void range__launches_of_other_threads__counted_once(void **state)
{
    (void)state;
    bed_run("gh100", check_threads);
}

SUITE(range)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(range__auto_and_passes__as_configured),
        cmocka_unit_test(range__beside_stream__busy_in_both_directions),
        cmocka_unit_test(range__instrumented_counts__closed_form),
        cmocka_unit_test(range__launches_of_other_threads__counted_once),
        cmocka_unit_test(range__user_ranges__exact_and_separate),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
