/* Atomics while many work-items of many groups are at few addresses, and what orders carry. */
#include <limits.h>
#include <string.h>

#include "check.h"
#include "tests/support/suite.h"

enum { GROUPS = 64, GROUP_SIZE = 100, ITEMS = GROUPS * GROUP_SIZE, OUT = 1 << 12 };

static struct rig rig;

static int open_rig(void **state)
{
    struct zeta_vgpu_engine_config config = rig_config(4);

    (void)state;
    rig_open(&rig, KERNEL_PREFIX "contention", &config);
    return 0;
}

static int close_rig(void **state)
{
    (void)state;
    rig_close(&rig);
    return 0;
}

static uint32_t *out(void)
{
    return (uint32_t *)(void *)(rig.memory + OUT);
}

static void launch(const char *kernel, uint32_t n)
{
    struct {
        void *in;
        void *out;
        uint32_t n;
    } arguments = {rig.memory, rig.memory + OUT, n};

    if (rig_run(&rig, kernel, &arguments, GROUPS, GROUP_SIZE) != ZETA_VGPU_OK)
        fail_msg("%s: %s", kernel, rig.fault.message.text);
}

/* Each of the numbers from 0 on once. */
static void check_drawn(const uint32_t *drawn, uint32_t count, const char *counter)
{
    static unsigned char seen[8 * ITEMS];

    memset(seen, 0, sizeof(seen));
    for (uint32_t i = 0; i < count; i++) {
        if (drawn[i] >= count || seen[drawn[i]]++)
            fail_msg("counter %s: %u was drawn %s", counter, drawn[i],
                     drawn[i] >= count ? "out of range" : "twice");
    }
}

/* Rule 24.9. */
static void counters__of_all_and_of_groups__give_each_number_once(void **state)
{
    enum { TURNS = 8 };
    const uint32_t *cells = (const uint32_t *)(const void *)rig.memory;
    const uint64_t *wide = (const uint64_t *)(const void *)rig.memory;
    const uint32_t count = ITEMS * TURNS;

    (void)state;
    launch("test_draw", TURNS);
    check_drawn(out(), count, "of all");
    check_drawn(out() + count, count, "of all, 64 bits");
    for (uint32_t group = 0; group < GROUPS; group++) {
        const uint32_t *first = out() + 2 * count + group * GROUP_SIZE * TURNS;

        check_drawn(first, GROUP_SIZE * TURNS, "of the group");
        check_drawn(first + count, GROUP_SIZE * TURNS, "of the group, 64 bits");
    }
    assert_int_equal(cells[0], count);
    assert_int_equal(cells[1], count);
    assert_int_equal(wide[1], (uint64_t)count << 32);
    assert_int_equal(wide[2], count);
}

static void gathering__local_then_global__finds_all(void **state)
{
    int32_t *cells = (int32_t *)(void *)rig.memory;
    int64_t *wide = (int64_t *)(void *)(rig.memory + 32);
    int32_t least = INT32_MAX, most = INT32_MIN, odd = 0;

    (void)state;
    cells[0] = INT32_MAX;
    cells[1] = INT32_MIN;
    cells[2] = -1;
    wide[0] = INT64_MAX;
    wide[1] = INT64_MIN;
    for (uint32_t i = 0; i < ITEMS; i++) {
        const int32_t x = (int32_t)(i * 1103515245u + 12345u);

        least = x < least ? x : least;
        most = x > most ? x : most;
        odd ^= x;
    }
    launch("test_gather", 0);
    assert_int_equal(cells[0], least);
    assert_int_equal(cells[1], most);
    assert_int_equal(cells[2], (int32_t) ~((1u << 29) - 1));
    assert_int_equal(cells[3], INT32_MAX);
    assert_int_equal(cells[4], odd);
    assert_int_equal(wide[0], (int64_t)least * (1 << 20));
    assert_int_equal(wide[1], (int64_t)most * (1 << 20));
    assert_int_equal(wide[2], (int64_t)odd * (1 << 20));
}

static void compare_exchange__of_all_items__loses_no_sum(void **state)
{
    enum { TURNS = 4 };
    float single;
    double wide;

    (void)state;
    launch("test_add_up", TURNS);
    memcpy(&single, rig.memory, sizeof(single));
    memcpy(&wide, rig.memory + 8, sizeof(wide));
    assert_true(single == (float)(ITEMS * TURNS));
    assert_true(wide == 0.5 * ITEMS * TURNS);
}

static void lock__acquired_and_released__guards_plain_numbers(void **state)
{
    enum { TURNS = 4 };
    const uint32_t *cells = (const uint32_t *)(const void *)rig.memory;

    (void)state;
    launch("test_lock", TURNS);
    for (uint32_t k = 0; k < 8; k++) {
        assert_int_equal(cells[8 + k], ITEMS * (k + 1));
        for (uint32_t group = 0; group < GROUPS; group++)
            assert_int_equal(out()[group * 8 + k], GROUP_SIZE * TURNS * (k + 1));
    }
}

static void last_group__that_arrives__sees_what_all_left(void **state)
{
    enum { TURNS = 40 };
    const uint32_t *cells = (const uint32_t *)(const void *)rig.memory;

    (void)state;
    launch("test_last_group", TURNS);
    for (uint32_t turn = 0; turn < TURNS; turn++)
        assert_int_equal(cells[64 + turn], GROUPS * (GROUPS - 1) / 2 + GROUPS * (turn + 1));
}

#define WITH(test) cmocka_unit_test_setup_teardown(test, open_rig, close_rig)

SUITE(contention)
{
    const struct CMUnitTest tests[] = {
        WITH(counters__of_all_and_of_groups__give_each_number_once),
        WITH(gathering__local_then_global__finds_all),
        WITH(compare_exchange__of_all_items__loses_no_sum),
        WITH(lock__acquired_and_released__guards_plain_numbers),
        WITH(last_group__that_arrives__sees_what_all_left),
    };

    if (rig_missing())
        return 77;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
