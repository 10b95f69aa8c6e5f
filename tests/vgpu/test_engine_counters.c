/*
 * Counters: closed formulas of the matrix product, independence of the number of workers, and the
 * way they are published.
 */
#include "rig.h"

#include <string.h>

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
    uint64_t publications;
    bool fell[SUBSLICES]; /* a counter went down */
    uint32_t epochs;
    uint64_t digest;         /* of all values in order */
    struct totals epoch_end; /* of the last epoch */
    bool overfull;           /* an epoch had a larger share of the clock than there is */
};

static void observe(void *user, uint32_t subslice, const uint64_t counters[ZETA_VGPU_COUNTER_COUNT])
{
    struct observer *observer = user;
    uint64_t *row = observer->last.rows[subslice];

    for (unsigned i = 0; i < ZETA_VGPU_COUNTER_COUNT; i++) {
        observer->fell[subslice] |= counters[i] < row[i];
        row[i] = counters[i];
    }
    __atomic_fetch_add(&observer->publications, 1, __ATOMIC_RELAXED);
}

static void observe_in_order(void *user, uint32_t subslice,
                             const uint64_t counters[ZETA_VGPU_COUNTER_COUNT])
{
    struct observer *observer = user;

    observe(user, subslice, counters);
    for (unsigned i = 0; i < ZETA_VGPU_COUNTER_COUNT; i++)
        observer->digest = (observer->digest ^ counters[i]) * UINT64_C(1099511628211);
}

/* What all subslices added to a counter since the last epoch. */
static uint64_t added(const struct observer *observer, enum zeta_vgpu_counter counter)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < SUBSLICES; i++)
        sum += observer->last.rows[i][counter] - observer->epoch_end.rows[i][counter];
    return sum;
}

static void count_epoch(void *user, uint64_t core_clocks)
{
    struct observer *observer = user;
    struct zeta_vgpu_topology shape;
    uint64_t eu_clocks;

    zeta_vgpu_topology_default(&shape);
    eu_clocks = added(observer, ZETA_VGPU_GPU_CORE_CLOCKS) * SUBSLICES * shape.eus_per_subslice;
    observer->overfull |=
        added(observer, ZETA_VGPU_EU_ACTIVE_CLOCKS) + added(observer, ZETA_VGPU_EU_STALL_CLOCKS) >
        eu_clocks;
    observer->overfull |=
        added(observer, ZETA_VGPU_THREAD_CLOCKS) > eu_clocks * shape.threads_per_eu;
    observer->epoch_end = observer->last;
    observer->epochs++;
    observer->digest = (observer->digest ^ core_clocks) * UINT64_C(1099511628211);
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
            assert_true(c[row * SIZE + column] == sum);
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
    assert_true(c[ZETA_VGPU_INST_RETIRED] >
                c[ZETA_VGPU_INST_INT] + c[ZETA_VGPU_INST_FP32] + c[ZETA_VGPU_INST_BRANCH]);
    assert_true(c[ZETA_VGPU_INST_BRANCH_TAKEN] <= c[ZETA_VGPU_INST_BRANCH]);
    /* L1 lines come from L3 or memory; all loads and stores are 4 or 8 bytes. */
    assert_int_equal(c[ZETA_VGPU_L1_MISSES], c[ZETA_VGPU_L3_HITS] + c[ZETA_VGPU_L3_MISSES]);
    assert_int_equal(c[ZETA_VGPU_GPU_MEMORY_READ_BYTES], 64 * c[ZETA_VGPU_L3_MISSES]);
    assert_true(c[ZETA_VGPU_L3_MISSES] >= 3 * SIZE * SIZE * 4 / 64);
    assert_true(4 * (c[ZETA_VGPU_L1_HITS] + c[ZETA_VGPU_L1_MISSES]) <=
                c[ZETA_VGPU_GLOBAL_READ_BYTES] + c[ZETA_VGPU_GLOBAL_WRITE_BYTES]);
    assert_true(c[ZETA_VGPU_INST_CACHE_MISSES] >= SUBSLICES);
    /* Clocks */
    assert_int_equal(c[ZETA_VGPU_GPU_CORE_CLOCKS], c[ZETA_VGPU_BUSY_CLOCKS]);
    assert_int_equal(c[ZETA_VGPU_EU_ACTIVE_CLOCKS], c[ZETA_VGPU_INST_RETIRED]);
    assert_true(c[ZETA_VGPU_EU_ACTIVE_CLOCKS] + c[ZETA_VGPU_EU_STALL_CLOCKS] <=
                c[ZETA_VGPU_GPU_CORE_CLOCKS] * SUBSLICES * 32);
    assert_true(c[ZETA_VGPU_THREAD_CLOCKS] <= c[ZETA_VGPU_GPU_CORE_CLOCKS] * SUBSLICES * 512);
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

static void counters__one_to_four_workers__are_equal(void **state)
{
    struct totals matmul, mixed;

    (void)state;
    run_all(1, 0, &matmul, &mixed);
    assert_true(mixed.rows[0][ZETA_VGPU_INST_ATOMIC] > 0);
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

static void publish__while_running__never_falls_and_ends_complete(void **state)
{
    struct observer observer = {.publications = 0};
    struct zeta_vgpu_engine_config config = rig_config(2);
    struct totals end;
    struct rig rig;

    (void)state;
    config.callbacks.user = &observer;
    config.callbacks.publish = observe;
    rig_open(&rig, "test-matmul", &config);
    multiply(&rig);
    collect(&rig, &end);
    assert_memory_equal(&observer.last, &end, sizeof(end));
    for (uint32_t i = 0; i < SUBSLICES; i++)
        assert_false(observer.fell[i]);
    /* Work of about 6000 instructions between two. */
    assert_true(observer.publications > rig_counter(&rig, ZETA_VGPU_INST_RETIRED) / 10000);
    rig_close(&rig);
}

static void publish__epochs__same_sequence_for_any_workers(void **state)
{
    uint64_t digest = 0;
    uint32_t epochs = 0;

    (void)state;
    for (uint32_t workers = 1; workers <= 3; workers++) {
        struct observer observer = {.digest = UINT64_C(14695981039346656037)};
        struct zeta_vgpu_engine_config config = rig_config(workers);
        struct totals end;
        struct rig rig;

        config.publish = ZETA_VGPU_PUBLISH_EPOCH;
        config.callbacks.user = &observer;
        config.callbacks.publish = observe_in_order;
        config.callbacks.epoch = count_epoch;
        rig_open(&rig, "test-matmul", &config);
        multiply(&rig);
        collect(&rig, &end);
        assert_memory_equal(&observer.last, &end, sizeof(end));
        for (uint32_t i = 0; i < SUBSLICES; i++)
            assert_false(observer.fell[i]);
        assert_int_equal(observer.publications, (uint64_t)observer.epochs * SUBSLICES);
        assert_false(observer.overfull);
        if (workers == 1) {
            digest = observer.digest;
            epochs = observer.epochs;
        }
        assert_true(epochs > 3);
        /* Short ones, also while each subslice has hundreds of threads. */
        assert_true((uint64_t)epochs * SUBSLICES * 30000 >
                    rig_counter(&rig, ZETA_VGPU_INST_RETIRED));
        assert_int_equal(observer.epochs, epochs);
        assert_true(observer.digest == digest);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matmul__closed_formulas__hold),
        cmocka_unit_test(matmul__related_counters__agree),
        cmocka_unit_test(counters__one_to_four_workers__are_equal),
        cmocka_unit_test(counters__any_slice__exact_ones_are_equal),
        cmocka_unit_test(publish__while_running__never_falls_and_ends_complete),
        cmocka_unit_test(publish__epochs__same_sequence_for_any_workers),
        cmocka_unit_test(config__nonsense__is_refused),
    };

    if (rig_missing())
        return 77;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
