/*
 * Counters: closed formulas of the matrix product, independence of the number of workers, and the
 * way they are published.
 */
#include "rig.h"

#include <math.h>
#include <string.h>

#include <zeta/thread.h>

#include "tests/support/compare.h"
#include "tests/support/suite.h"

enum {
    SIZE = 96, /* of the matrices */
    SUBSLICES = 4
};

/* Every subslice's counters at the end. */
struct totals {
    uint64_t rows[SUBSLICES][ZETA_VGPU_COUNTER_COUNT];
};

/* What came through the callbacks. */
struct observer {
    struct totals last;
    bool fell; /* a counter went down */
    uint32_t epochs;
    uint64_t digest;    /* of all values in order */
    bool overfull;      /* an epoch had a larger share of the clock than there is */
    bool mixed;         /* one had counts of other instructions than its clocks */
    uint64_t slice_ns;  /* how often to publish, 0: any time */
    uint64_t clock_mhz; /* of a device that is no faster, 0: any */
    uint64_t begin_ns;  /* of the launch */
    uint32_t paced;     /* epochs, of which so many lasted longer than their execution */
    uint32_t lasting;
    uint64_t resume_ns; /* up to which the clock's time is taken */
    bool early;         /* more clocks were published than there had been time for */
};

/* What all subslices added to a counter. */
static uint64_t added(const struct totals *before, const struct totals *after,
                      enum zeta_vgpu_counter counter)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < SUBSLICES; i++)
        sum += after->rows[i][counter] - before->rows[i][counter];
    return sum;
}

static void check_epoch(struct observer *observer, const struct totals *before,
                        const struct totals *after)
{
    const uint64_t active = added(before, after, ZETA_VGPU_EU_ACTIVE_CLOCKS);
    struct zeta_vgpu_topology shape;
    uint64_t eu_clocks;

    zeta_vgpu_topology_default(&shape);
    eu_clocks =
        added(before, after, ZETA_VGPU_GPU_CORE_CLOCKS) * SUBSLICES * shape.eus_per_subslice;
    /* Of an epoch that lasts each count is rounded on its own. */
    observer->overfull |=
        active > eu_clocks ||
        active + added(before, after, ZETA_VGPU_EU_STALL_CLOCKS) > eu_clocks + SUBSLICES ||
        added(before, after, ZETA_VGPU_THREAD_CLOCKS) > eu_clocks * shape.threads_per_eu;
    /* An EU is active in a clock for each instruction. */
    observer->mixed |= active != added(before, after, ZETA_VGPU_INST_RETIRED);
}

static void observe(void *user, const uint64_t (*totals)[ZETA_VGPU_COUNTER_COUNT],
                    struct zeta_vgpu_part part)
{
    struct observer *observer = user;
    struct totals now;

    (void)part;
    memcpy(&now, totals, sizeof(now));
    for (uint32_t s = 0; s < SUBSLICES; s++) {
        for (unsigned i = 0; i < ZETA_VGPU_COUNTER_COUNT; i++) {
            observer->fell |= now.rows[s][i] < observer->last.rows[s][i];
            observer->digest = (observer->digest ^ now.rows[s][i]) * UINT64_C(1099511628211);
        }
    }
    check_epoch(observer, &observer->last, &now);
    if (observer->clock_mhz != 0)
        observer->early |= now.rows[0][ZETA_VGPU_GPU_CORE_CLOCKS] * 1000 / observer->clock_mhz >
                           zeta_monotonic_ns() - observer->begin_ns;
    observer->last = now;
    observer->epochs++;
}

/* As an owner that somebody looks at, with a clock of its own. */
static void pace(void *user, const struct zeta_vgpu_epoch *epoch, struct zeta_vgpu_pace *wanted)
{
    struct observer *observer = user;

    wanted->slice_ns = observer->slice_ns;
    if (epoch->clocks == 0)
        observer->begin_ns = epoch->begin_ns;
    if (observer->clock_mhz == 0)
        return;
    if (observer->resume_ns < epoch->begin_ns)
        observer->resume_ns = epoch->begin_ns;
    observer->resume_ns += epoch->clocks * 1000 / observer->clock_mhz;
    wanted->resume_ns = observer->resume_ns;
    observer->paced += epoch->clocks > 0;
    observer->lasting += epoch->clocks > 0 && observer->resume_ns > epoch->end_ns;
}

static void multiply(struct rig *rig)
{
    float *a = (float *)rig->memory, *b = a + SIZE * SIZE, *c = b + SIZE * SIZE;
    struct {
        void *a, *b, *c;
        uint32_t n;
    } arguments = {a, b, c, SIZE};
    struct zeta_vgpu_launch launch = {
        .arguments = &arguments,
        .group_count = {SIZE / 16, SIZE / 16, 1},
        .group_size = {16, 16, 1},
    };

    for (unsigned i = 0; i < SIZE * SIZE; i++) {
        a[i] = (float)(i % 13) - 6;
        b[i] = (float)(i % 7) * 0.25f;
    }
    assert_int_equal(rig_launch(rig, "matmul", &launch), ZETA_VGPU_OK);
    for (unsigned row = 0; row < SIZE; row++) {
        for (unsigned column = 0; column < SIZE; column++) {
            float sum = 0;

            for (unsigned k = 0; k < SIZE; k++)
                sum += a[row * SIZE + k] * b[k * SIZE + column];
            assert_cmp(c[row * SIZE + column], ==, sum);
        }
    }
}

static void collect(const struct rig *rig, struct totals *out)
{
    for (uint32_t i = 0; i < SUBSLICES; i++)
        zeta_vgpu_engine_counters(rig->engine, i, out->rows[i]);
}

static void matmul__closed_formulas__hold(void **state)
{
    const uint64_t n = SIZE, cube = n * n * n;
    struct zeta_vgpu_engine_config config = rig_config(1);
    struct rig rig;

    (void)state;
    rig_open(&rig, "test-matmul", &config);
    multiply(&rig);
    assert_int_equal(rig_counter(&rig, ZETA_VGPU_FP_OPS), 2 * cube);
    assert_int_equal(rig_counter(&rig, ZETA_VGPU_INST_FP32), 2 * cube);
    assert_int_equal(rig_counter(&rig, ZETA_VGPU_INST_FP64), 0);
    assert_int_equal(rig_counter(&rig, ZETA_VGPU_BARRIER_MESSAGES), cube / 8);
    assert_int_equal(rig_counter(&rig, ZETA_VGPU_SLM_READ_BYTES), 4 * 2 * cube);
    assert_int_equal(rig_counter(&rig, ZETA_VGPU_SLM_WRITE_BYTES), 4 * 2 * cube / 16);
    assert_int_equal(rig_counter(&rig, ZETA_VGPU_GLOBAL_WRITE_BYTES), 4 * n * n);
    assert_int_equal(rig_counter(&rig, ZETA_VGPU_GROUPS_DISPATCHED), (n / 16) * (n / 16));
    assert_int_equal(rig_counter(&rig, ZETA_VGPU_THREADS_DISPATCHED), n * n);
    assert_int_equal(rig_counter(&rig, ZETA_VGPU_KERNELS_LAUNCHED), 1);
    assert_int_equal(rig_counter(&rig, ZETA_VGPU_INST_ATOMIC), 0);
    assert_int_equal(rig_counter(&rig, ZETA_VGPU_COPY_BYTES), 0);
    rig_close(&rig);
}

/* Relations between counters that hold for every kernel. */
static void matmul__related_counters__agree(void **state)
{
    struct zeta_vgpu_engine_config config = rig_config(2);
    uint64_t c[ZETA_VGPU_COUNTER_COUNT];
    struct rig rig;

    (void)state;
    rig_open(&rig, "test-matmul", &config);
    multiply(&rig);
    for (unsigned i = 0; i < ZETA_VGPU_COUNTER_COUNT; i++)
        c[i] = rig_counter(&rig, (enum zeta_vgpu_counter)i);
    assert_cmp(c[ZETA_VGPU_INST_RETIRED], >,
               c[ZETA_VGPU_INST_INT] + c[ZETA_VGPU_INST_FP32] + c[ZETA_VGPU_INST_BRANCH]);
    assert_cmp(c[ZETA_VGPU_INST_BRANCH_TAKEN], <=, c[ZETA_VGPU_INST_BRANCH]);
    /* L1 lines come from L3 or memory; all loads and stores are 4 or 8 bytes. */
    assert_int_equal(c[ZETA_VGPU_L1_MISSES], c[ZETA_VGPU_L3_HITS] + c[ZETA_VGPU_L3_MISSES]);
    assert_int_equal(c[ZETA_VGPU_GPU_MEMORY_READ_BYTES], 64 * c[ZETA_VGPU_L3_MISSES]);
    assert_cmp(c[ZETA_VGPU_L3_MISSES], >=, 3 * SIZE * SIZE * 4 / 64);
    assert_cmp(4 * (c[ZETA_VGPU_L1_HITS] + c[ZETA_VGPU_L1_MISSES]), <=,
               c[ZETA_VGPU_GLOBAL_READ_BYTES] + c[ZETA_VGPU_GLOBAL_WRITE_BYTES]);
    assert_cmp(c[ZETA_VGPU_INST_CACHE_MISSES], >=, SUBSLICES);
    /* Clocks */
    assert_int_equal(c[ZETA_VGPU_GPU_CORE_CLOCKS], c[ZETA_VGPU_BUSY_CLOCKS]);
    assert_int_equal(c[ZETA_VGPU_EU_ACTIVE_CLOCKS], c[ZETA_VGPU_INST_RETIRED]);
    assert_cmp(c[ZETA_VGPU_EU_ACTIVE_CLOCKS] + c[ZETA_VGPU_EU_STALL_CLOCKS], <=,
               c[ZETA_VGPU_GPU_CORE_CLOCKS] * SUBSLICES * 32);
    assert_cmp(c[ZETA_VGPU_THREAD_CLOCKS], <=, c[ZETA_VGPU_GPU_CORE_CLOCKS] * SUBSLICES * 512);
    rig_close(&rig);
}

/* Runs kernels of all kinds and returns every counter of every subslice. */
static void run_all(uint32_t workers, uint32_t slice, struct totals *out_matmul,
                    struct totals *out_mixed)
{
    struct zeta_vgpu_engine_config config = rig_config(workers);
    struct rig rig;
    void *arguments[1];

    config.slice = slice;
    rig_open(&rig, "test-matmul", &config);
    multiply(&rig);
    multiply(&rig);
    collect(&rig, out_matmul);
    rig_close(&rig);
    rig_open(&rig, "basic", &config);
    arguments[0] = rig.memory;
    assert_int_equal(rig_run(&rig, "mixed", arguments, 61, 64), ZETA_VGPU_OK);
    collect(&rig, out_mixed);
    rig_close(&rig);
}

/* Rule 21.11. */
static void counters__one_to_four_workers__are_equal(void **state)
{
    struct totals matmul, mixed;

    (void)state;
    run_all(1, 0, &matmul, &mixed);
    assert_cmp(mixed.rows[0][ZETA_VGPU_INST_ATOMIC], >, 0);
    for (uint32_t workers = 2; workers <= 4; workers++) {
        struct totals other_matmul, other_mixed;

        run_all(workers, 0, &other_matmul, &other_mixed);
        assert_memory_equal(&matmul, &other_matmul, sizeof(matmul));
        assert_memory_equal(&mixed, &other_mixed, sizeof(mixed));
    }
}

/* What was executed does not depend on how it was cut into slices. */
static void counters__any_slice__exact_ones_are_equal(void **state)
{
    static const uint32_t slices[] = {1, 17, 128, 1024};
    struct totals matmul, mixed;

    (void)state;
    run_all(1, 0, &matmul, &mixed);
    for (unsigned i = 0; i < 4; i++) {
        struct totals other_matmul, other_mixed;

        run_all(1, slices[i], &other_matmul, &other_mixed);
        for (unsigned s = 0; s < SUBSLICES; s++) {
            for (unsigned c = ZETA_VGPU_INST_RETIRED; c <= ZETA_VGPU_BARRIER_MESSAGES; c++) {
                assert_int_equal(matmul.rows[s][c], other_matmul.rows[s][c]);
                assert_int_equal(mixed.rows[s][c], other_mixed.rows[s][c]);
            }
            for (unsigned c = ZETA_VGPU_GLOBAL_READ_BYTES; c <= ZETA_VGPU_SLM_WRITE_BYTES; c++) {
                assert_int_equal(matmul.rows[s][c], other_matmul.rows[s][c]);
                assert_int_equal(mixed.rows[s][c], other_mixed.rows[s][c]);
            }
        }
    }
}

/* The matrix product in host time at a pace; returns what was published. */
static struct observer run_at_pace(uint64_t slice_ns, uint64_t clock_mhz, struct totals *out_end)
{
    struct observer observer = {.slice_ns = slice_ns, .clock_mhz = clock_mhz};
    struct zeta_vgpu_engine_config config = rig_config(2);
    struct rig rig;

    config.callbacks.user = &observer;
    config.callbacks.publish = observe;
    config.callbacks.pace = pace;
    rig_open(&rig, "test-matmul", &config);
    multiply(&rig);
    collect(&rig, out_end);
    assert_memory_equal(&observer.last, out_end, sizeof(*out_end));
    assert_false(observer.fell);
    assert_false(observer.overfull);
    assert_false(observer.early);
    rig_close(&rig);
    return observer;
}

/* Rule 21.10. */
static void publish__while_running__epochs_are_whole_and_end_complete(void **state)
{
    struct totals end;
    struct observer observer = run_at_pace(0, 0, &end);

    (void)state;
    assert_false(observer.mixed);
    assert_cmp(observer.epochs, >, 3);
}

static double eu_active(const struct totals *end)
{
    static const struct totals nothing;

    return (double)added(&nothing, end, ZETA_VGPU_EU_ACTIVE_CLOCKS) /
           (double)added(&nothing, end, ZETA_VGPU_GPU_CORE_CLOCKS) / SUBSLICES / 32;
}

/* No epoch is as short as that, so the shortest are taken: 1024 instructions instead of 16384.
 * Rule 21.10. */
static void pace__short_epochs__more_of_them_and_the_same_shares(void **state)
{
    struct totals usual, brief;
    const struct observer few = run_at_pace(0, 0, &usual), many = run_at_pace(1, 0, &brief);

    (void)state;
    assert_cmp(many.epochs, >, 8 * few.epochs);
    assert_cmp(fabs(eu_active(&usual) - eu_active(&brief)), <, 0.03);
    for (unsigned s = 0; s < SUBSLICES; s++) {
        for (unsigned c = ZETA_VGPU_INST_RETIRED; c <= ZETA_VGPU_BARRIER_MESSAGES; c++)
            assert_int_equal(usual.rows[s][c], brief.rows[s][c]);
    }
}

/*
 * An epoch takes some 500 clocks: half a millisecond at this clock, if the host is faster. It is
 * told in slices, of which a busy host may let only the first and the last happen.
 Rule 21.10. */
static void pace__slow_clock__counts_come_in_slices_of_its_time(void **state)
{
    struct totals end;
    const struct observer sliced = run_at_pace(50000, 1, &end);

    (void)state;
    assert_cmp(sliced.paced, >, 3);
    assert_cmp(sliced.epochs, >=, sliced.paced + sliced.lasting);
    assert_cmp(zeta_monotonic_ns(), >=, sliced.resume_ns);
}

/* As an owner whose clock is taken by others when a launch begins. */
static void pace_behind_others(void *user, const struct zeta_vgpu_epoch *epoch,
                               struct zeta_vgpu_pace *wanted)
{
    struct observer *observer = user;

    wanted->slice_ns = 100000;
    if (epoch->clocks != 0)
        return;
    wanted->resume_ns = epoch->end_ns + 1000000;
    observer->paced++;
}

/* Rule 21.10. */
static void pace__wait_before_a_launch__counts_of_the_last_one_stay(void **state)
{
    struct observer observer = {0};
    struct zeta_vgpu_engine_config config = rig_config(2);
    struct rig rig;

    (void)state;
    config.callbacks.user = &observer;
    config.callbacks.publish = observe;
    config.callbacks.pace = pace_behind_others;
    rig_open(&rig, "test-matmul", &config);
    multiply(&rig);
    multiply(&rig);
    assert_int_equal(observer.paced, 2);
    assert_false(observer.fell);
    rig_close(&rig);
}

static void publish__modelled_time__same_sequence_for_any_workers(void **state)
{
    uint64_t digest = 0;
    uint32_t epochs = 0;

    (void)state;
    for (uint32_t workers = 1; workers <= 3; workers++) {
        struct observer observer = {.digest = UINT64_C(14695981039346656037), .slice_ns = 1};
        struct zeta_vgpu_engine_config config = rig_config(workers);
        struct totals end;
        struct rig rig;

        config.time = ZETA_VGPU_TIME_MODELLED;
        config.callbacks.user = &observer;
        config.callbacks.publish = observe;
        config.callbacks.pace = pace;
        rig_open(&rig, "test-matmul", &config);
        multiply(&rig);
        collect(&rig, &end);
        assert_memory_equal(&observer.last, &end, sizeof(end));
        assert_false(observer.fell);
        assert_false(observer.overfull);
        assert_false(observer.mixed);
        if (workers == 1) {
            digest = observer.digest;
            epochs = observer.epochs;
        }
        assert_cmp(epochs, >, 3);
        /* Short ones, also while each subslice has hundreds of threads. */
        assert_cmp((uint64_t)epochs * SUBSLICES * 30000, >,
                   rig_counter(&rig, ZETA_VGPU_INST_RETIRED));
        assert_int_equal(observer.epochs, epochs);
        assert_cmp(observer.digest, ==, digest);
        rig_close(&rig);
    }
}

static void config__nonsense__is_refused(void **state)
{
    struct zeta_vgpu_space *space = zeta_vgpu_space_create();
    struct zeta_vgpu_engine_config config = rig_config(1);
    struct zeta_vgpu_message message;
    struct zeta_vgpu_engine *engine = NULL;

    (void)state;
    config.topology.eus_per_subslice = 65;
    assert_int_equal(zeta_vgpu_engine_create(&config, space, &message, &engine),
                     ZETA_VGPU_INVALID_ARGUMENT);
    assert_string_equal(message.text, "EUs per subslice is 65, it must be from 1 to 64");
    config = rig_config(1);
    config.topology.l1_bytes = 3000;
    assert_int_equal(zeta_vgpu_engine_create(&config, space, &message, &engine),
                     ZETA_VGPU_INVALID_ARGUMENT);
    assert_non_null(strstr(message.text, "power of two"));
    config = rig_config(1);
    config.topology.stack_bytes = 5000;
    assert_int_equal(zeta_vgpu_engine_create(&config, space, NULL, &engine),
                     ZETA_VGPU_INVALID_ARGUMENT);
    assert_null(engine);
    zeta_vgpu_space_destroy(space);
}

SUITE(engine_counters)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matmul__closed_formulas__hold),
        cmocka_unit_test(matmul__related_counters__agree),
        cmocka_unit_test(counters__one_to_four_workers__are_equal),
        cmocka_unit_test(counters__any_slice__exact_ones_are_equal),
        cmocka_unit_test(publish__while_running__epochs_are_whole_and_end_complete),
        cmocka_unit_test(pace__short_epochs__more_of_them_and_the_same_shares),
        cmocka_unit_test(pace__slow_clock__counts_come_in_slices_of_its_time),
        cmocka_unit_test(pace__wait_before_a_launch__counts_of_the_last_one_stay),
        cmocka_unit_test(publish__modelled_time__same_sequence_for_any_workers),
        cmocka_unit_test(config__nonsense__is_refused),
    };

    if (rig_missing())
        return 77;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
