/* Samples of instruction pointers as the engine takes them. */
#include "tests/support/compare.h"
#include "tests/support/suite.h"
#include "tests/vgpu/rig.h"

#include <stdlib.h>
#include <string.h>

enum { SUBSLICES = 4, ITEMS = 32 };

/* What came through the callbacks. */
struct seen {
    struct rig rig;
    uint64_t interval;
    uint64_t session;
    uint64_t stalls[ZETA_VGPU_STALL_COUNT];
    uint64_t total;
    uint64_t outside; /* of the code of the image */
    uint64_t lost;
    uint64_t digest; /* of all samples in order */
};

static uint64_t sampling(void *user, uint64_t *out_session)
{
    const struct seen *seen = user;

    *out_session = __atomic_load_n(&seen->session, __ATOMIC_RELAXED);
    return __atomic_load_n(&seen->interval, __ATOMIC_RELAXED);
}

static void sampled(void *user, const struct zeta_vgpu_ip_sample *samples, uint32_t count,
                    uint64_t lost)
{
    struct seen *seen = user;
    uint64_t begin, end;

    zeta_vgpu_image_text(seen->rig.image, &begin, &end);
    seen->lost += lost;
    for (uint32_t i = 0; i < count; i++) {
        const struct zeta_vgpu_ip_sample *sample = &samples[i];

        assert_cmp(sample->stall, <, ZETA_VGPU_STALL_COUNT);
        assert_cmp(sample->count, >, 0);
        seen->stalls[sample->stall] += sample->count;
        seen->total += sample->count;
        if (sample->address < begin || sample->address >= end || sample->address % 4 != 0)
            seen->outside += sample->count;
        seen->digest = (seen->digest ^ (sample->address - begin)) * UINT64_C(1099511628211);
        seen->digest =
            (seen->digest ^ (sample->stall << 24 | sample->count)) * UINT64_C(1099511628211);
    }
}

static struct seen *open_seen(const char *file, uint32_t workers, uint64_t interval)
{
    struct zeta_vgpu_engine_config config = rig_config(workers);
    struct seen *seen = calloc(1, sizeof(*seen));

    assert_non_null(seen);
    seen->interval = interval;
    seen->session = 1;
    config.time = ZETA_VGPU_TIME_MODELLED;
    config.callbacks.user = seen;
    config.callbacks.sampling = sampling;
    config.callbacks.sampled = sampled;
    rig_open(&seen->rig, file, &config);
    return seen;
}

static void close_seen(struct seen *seen)
{
    assert_int_equal(seen->outside, 0);
    assert_int_equal(seen->lost, 0);
    rig_close(&seen->rig);
    free(seen);
}

static void run(struct seen *seen, const char *kernel, uint64_t rounds, uint32_t groups,
                uint32_t items)
{
    const struct {
        void *memory;
        uint64_t rounds;
    } arguments = {seen->rig.memory, rounds};

    assert_int_equal(rig_run(&seen->rig, kernel, &arguments, groups, items), ZETA_VGPU_OK);
}

/* Percent of the samples. */
static uint64_t share(const struct seen *seen, enum zeta_vgpu_stall stall)
{
    if (seen->total == 0)
        fail_msg("no samples");
    return seen->total ? 100 * seen->stalls[stall] / seen->total : 0;
}

/* A kernel's samples have to be what it does, and hardly anything else. */
static void expect_share(const char *kernel, uint64_t rounds, uint32_t items,
                         enum zeta_vgpu_stall stall, uint64_t least)
{
    struct seen *seen = open_seen("stalls", 1, 1280);

    /* A ring of pointers, each in a line of its own, for who follows them. */
    for (uint64_t i = 0; i < RIG_MEMORY_BYTES / 64; i++) {
        const uint64_t next =
            (uint64_t)(uintptr_t)seen->rig.memory + (i + 1) * 64 % RIG_MEMORY_BYTES;

        memcpy(seen->rig.memory + i * 64, &next, sizeof(next));
    }
    run(seen, kernel, rounds, 1, items);
    assert_cmp(seen->total, >, 100);
    if (share(seen, stall) < least)
        fail_msg("%s: %u %% of %u samples", kernel, (unsigned)share(seen, stall),
                 (unsigned)seen->total);
    close_seen(seen);
}

/* Rule 11.22. */
static void stalls__kernels_of_one_kind__are_told(void **state)
{
    (void)state;
    /* Of 21 clocks of a division 20 are its latency, of 3 of a taken branch 2 ... */
    expect_share("divide", 500, ITEMS, ZETA_VGPU_STALL_PIPE, 80);
    expect_share("chase", 2000, 1, ZETA_VGPU_STALL_SBID, 90);
    expect_share("store", 500, ITEMS, ZETA_VGPU_STALL_SEND, 80);
    expect_share("jump", 3000, ITEMS, ZETA_VGPU_STALL_CONTROL, 50);
    expect_share("meet", 200, ITEMS, ZETA_VGPU_STALL_SYNC, 85);
    expect_share("crowd", 20, 512, ZETA_VGPU_STALL_DIST, 75);
    expect_share("wander", 8, 1, ZETA_VGPU_STALL_FETCH, 70);
}

static void stalls__one_thread_that_issues__is_active(void **state)
{
    struct seen *seen = open_seen("stalls", 1, 1280);

    (void)state;
    run(seen, "crowd", 200, 1, ITEMS);
    assert_cmp(share(seen, ZETA_VGPU_STALL_ACTIVE), >=, 90);
    assert_int_equal(seen->stalls[ZETA_VGPU_STALL_DIST], 0);
    assert_int_equal(seen->stalls[ZETA_VGPU_STALL_SYNC], 0);
    assert_int_equal(seen->stalls[ZETA_VGPU_STALL_OTHER], 0);
    close_seen(seen);
}

/* divide: 32 threads, per round 4 x 21 clocks, and 2 instructions and a taken branch for the loop.
 Rule 11.22. */
static void samples__known_work__are_as_many_as_its_clocks(void **state)
{
    static const uint64_t intervals[] = {160, 640, 1280, 10240};
    const uint64_t rounds = 2000;
    const uint64_t clocks = ITEMS * rounds * (4 * 21 + 4);

    (void)state;
    for (unsigned i = 0; i < sizeof(intervals) / sizeof(intervals[0]); i++) {
        struct seen *seen = open_seen("stalls", 1, intervals[i]);
        uint64_t expected = clocks / intervals[i];

        run(seen, "divide", rounds, 1, ITEMS);
        assert_in_range(seen->total, expected * 85 / 100, expected * 115 / 100);
        close_seen(seen);
    }
}

/* Every clock is sampled, which is more than an epoch's log holds. */
static void samples__more_than_fit__are_counted_as_lost(void **state)
{
    const uint64_t rounds = 2000;
    const uint64_t clocks = ITEMS * rounds * (4 * 21 + 4);
    struct seen *seen = open_seen("stalls", 1, 1);

    (void)state;
    run(seen, "divide", rounds, 1, ITEMS);
    assert_cmp(seen->lost, >, 0);
    assert_in_range(seen->total + seen->lost, clocks, clocks * 101 / 100);
    seen->lost = 0;
    close_seen(seen);
}

struct totals {
    uint64_t rows[SUBSLICES][ZETA_VGPU_COUNTER_COUNT];
};

static void multiply(struct seen *seen, struct totals *out_totals)
{
    enum { SIZE = 32 };
    float *a = (float *)seen->rig.memory, *b = a + SIZE * SIZE, *c = b + SIZE * SIZE;
    const struct {
        void *a, *b, *c;
        uint32_t n;
    } arguments = {a, b, c, SIZE};
    struct zeta_vgpu_launch launch = {
        .arguments = &arguments,
        .group_count = {SIZE / 16, SIZE / 16, 1},
        .group_size = {16, 16, 1},
    };

    for (unsigned i = 0; i < SIZE * SIZE; i++) {
        a[i] = (float)(i % 13);
        b[i] = (float)(i % 7);
    }
    assert_int_equal(rig_launch(&seen->rig, "matmul", &launch), ZETA_VGPU_OK);
    for (uint32_t i = 0; i < SUBSLICES; i++)
        zeta_vgpu_engine_counters(seen->rig.engine, i, out_totals->rows[i]);
}

/* Rule 11.22. */
static void sampling__of_any_interval__changes_no_counter(void **state)
{
    static const uint64_t intervals[] = {160, 1280, 10240, 40960};
    struct totals without = {0};
    struct seen *seen = open_seen("ip-matmul", 1, 0);

    (void)state;
    multiply(seen, &without);
    assert_int_equal(seen->total, 0);
    close_seen(seen);
    for (unsigned i = 0; i < sizeof(intervals) / sizeof(intervals[0]); i++) {
        struct totals with = {0};

        seen = open_seen("ip-matmul", 1, intervals[i]);
        multiply(seen, &with);
        for (unsigned s = 0; s < SUBSLICES; s++) {
            for (unsigned c = 0; c < ZETA_VGPU_COUNTER_COUNT; c++)
                assert_int_equal(with.rows[s][c], without.rows[s][c]);
        }
        assert_cmp(seen->total, >, 0);
        close_seen(seen);
    }
}

static void samples__of_the_same_work__are_the_same_for_any_number_of_workers(void **state)
{
    uint64_t digest = 0;

    (void)state;
    for (uint32_t workers = 1; workers <= 4; workers++) {
        struct seen *seen = open_seen("ip-matmul", workers, 1280);
        struct totals totals;

        multiply(seen, &totals);
        assert_cmp(seen->total, >, 100);
        if (workers > 1)
            assert_int_equal(seen->digest, digest);
        digest = seen->digest;
        close_seen(seen);
    }
}

static void session__another__begins_anew(void **state)
{
    struct seen *seen = open_seen("stalls", 1, 1280);
    uint64_t first;

    (void)state;
    run(seen, "divide", 500, 1, ITEMS);
    first = seen->digest;
    seen->digest = 0;
    seen->session++;
    run(seen, "divide", 500, 1, ITEMS);
    assert_int_equal(seen->digest, first);
    seen->digest = 0;
    run(seen, "divide", 500, 1, ITEMS);
    assert_int_not_equal(seen->digest, first);
    seen->interval = 0;
    seen->total = 0;
    run(seen, "divide", 500, 1, ITEMS);
    assert_int_equal(seen->total, 0);
    close_seen(seen);
}

SUITE(sampler)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stalls__kernels_of_one_kind__are_told),
        cmocka_unit_test(stalls__one_thread_that_issues__is_active),
        cmocka_unit_test(samples__known_work__are_as_many_as_its_clocks),
        cmocka_unit_test(samples__more_than_fit__are_counted_as_lost),
        cmocka_unit_test(sampling__of_any_interval__changes_no_counter),
        cmocka_unit_test(samples__of_the_same_work__are_the_same_for_any_number_of_workers),
        cmocka_unit_test(session__another__begins_anew),
    };

    if (rig_missing() != 0)
        return rig_missing();
    return cmocka_run_group_tests_name("ip sampler", tests, NULL, NULL);
}
