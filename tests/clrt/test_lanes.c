/*
 * Functions of sub-groups in flow that is not uniform, and in sub-groups that are not full: what
 * each item gets is computed here from the items that are at the same place. Holds for sub-groups
 * of any size, CLRT_SUB_GROUP.
 */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "lists.h"
#include "tests/support/suite.h"

enum { OUT = 1 << 16, GROUPS = 3, MOST_ITEMS = 128 * GROUPS, SIZE = CLRT_SUB_GROUP };

static struct rig rig;
static enum clrt_type type;

static int open_type(void **state)
{
    struct zeta_vgpu_engine_config config = rig_config(2);
    char name[64];

    type = *(const enum clrt_type *)*state;
    (void)snprintf(name, sizeof(name), KERNEL_PREFIX "lanes_%s", clrt_type_names[type]);
    rig_open(&rig, name, &config);
    return 0;
}

static int close_rig(void **state)
{
    (void)state;
    rig_close(&rig);
    return 0;
}

static long double get(const void *array, size_t i)
{
    return clrt_is_real(type) ? clrt_get_real(type, array, i)
                              : (long double)clrt_get_integer(type, array, i);
}

static void put(size_t i, int value)
{
    if (clrt_is_real(type))
        clrt_put_real(type, rig.memory, i, value);
    else
        clrt_put_integer(type, rig.memory, i, value);
}

/* What a number becomes in the type: those here are exact in each one, or wrap. */
static long double as_type(clrt_wide value)
{
    return (long double)(clrt_is_real(type) ? value : clrt_wrap(type, value));
}

/* A launch, and the numbers of its items: small ones, and ones and twos for products. */
struct launch {
    int group_size;
    uint32_t first_branch; /* bit by item of a sub-group */
    int x[MOST_ITEMS], y[MOST_ITEMS];
};

/* The sub-group of an item: those from @first on that are at the same place. */
struct lanes {
    int first, size;
    bool here[SIZE];
};

static bool is_in_first_branch(const struct launch *launch, int lane)
{
    return launch->first_branch >> lane & 1;
}

/* Whether another item of the sub-group is where item @me is; each place once. */
static bool is_beside(const struct launch *launch, int place, int first, int me, int lane)
{
    const int item = first + lane;
    const bool is_first = is_in_first_branch(launch, lane);

    switch (place) {
    case 1:
        return is_first;
    case 2:
        return is_first && launch->x[item] > 2;
    case 3:
        return is_first && launch->x[item] <= 2;
    case 4:
        return !is_first;
    case 5:
        return lane % 3 >= me % 3; /* in the last turn of this item */
    default:
        return true;
    }
}

static struct lanes find_lanes(const struct launch *launch, int place, int item)
{
    const int begin = item / launch->group_size * launch->group_size;
    const int first = begin + (item - begin) / SIZE * SIZE;
    const int end = begin + launch->group_size;
    struct lanes lanes = {first, end - first < SIZE ? end - first : SIZE, {false}};

    for (int lane = 0; lane < lanes.size; lane++)
        lanes.here[lane] = is_beside(launch, place, first, item - first, lane);
    return lanes;
}

static bool is_there(const struct lanes *lanes, int lane)
{
    return lane >= 0 && lane < lanes->size && lanes->here[lane];
}

/* In the order of kernels/lanes.cl. */
static void expect_together(const struct launch *launch, const struct lanes *lanes, int me,
                            long double out[LANES_TOGETHER])
{
    const int *x = launch->x + lanes->first, *y = launch->y + lanes->first;
    const int cluster = me / LANES_CLUSTER * LANES_CLUSTER;
    clrt_wide count = 0, sum = 0, upto = 0, before = 0, product = 1, nearby = 0;
    clrt_wide above = 0, above_upto = 0, above_before = 0, all_bits = -1, some_bits = 0,
              odd_bits = 0;
    int least = x[me], most = x[me], lowest = -1, highest = 0;
    bool all = true, any = false, are_equal = true;

    for (int i = 0; i < lanes->size; i++) {
        if (!lanes->here[i])
            continue;
        lowest = lowest < 0 ? i : lowest;
        highest = i;
        count++;
        sum += x[i];
        upto += i <= me ? x[i] : 0;
        before += i < me ? x[i] : 0;
        product *= y[i];
        nearby += i >= cluster && i < cluster + LANES_CLUSTER ? x[i] : 0;
        least = x[i] < least ? x[i] : least;
        most = i <= me && x[i] > most ? x[i] : most;
        all = all && x[i] > 1;
        any = any || x[i] > 5;
        are_equal = are_equal && y[i] == y[lowest];
        above += x[i] > 3;
        above_upto += i <= me && x[i] > 3;
        above_before += i < me && x[i] > 3;
        all_bits &= x[i];
        some_bits |= i <= me ? x[i] : 0;
        odd_bits ^= i < me ? x[i] : 0;
    }
    const clrt_wide expected[LANES_TOGETHER] = {
        count,
        sum,
        upto,
        before,
        least,
        most,
        product,
        nearby,
        x[lowest],
        x[highest],
        is_there(lanes, me ^ 1) ? x[me ^ 1] : 0,
        is_there(lanes, me - 1) ? x[me - 1] : 0,
        is_there(lanes, me + 2) ? x[me + 2] : 0,
        all,
        any,
        are_equal,
        me == lowest,
        above,
        above_upto,
        above_before,
        x[me] > 3,
        all_bits,
        some_bits,
        odd_bits,
    };

    for (int i = 0; i < LANES_TOGETHER; i++)
        out[i] = as_type(expected[i]);
}

static void expect_all(const struct launch *launch, const struct lanes *lanes, int me,
                       long double out[LANES_ALL])
{
    const int *x = launch->x + lanes->first, *y = launch->y + lanes->first;
    const int full = launch->group_size < SIZE ? launch->group_size : SIZE, step = 3 % full;
    const int to = me + step, from = me + full - step;
    const int to_lane = to < full ? to : to - full, from_lane = from < full ? from : from - full;
    clrt_wide sum = 0, upto = 0;
    int least = x[0], most = x[0];
    bool all = true, any = false;

    for (int i = 0; i < lanes->size; i++) {
        sum += x[i];
        upto += i <= me ? x[i] : 0;
        least = x[i] < least ? x[i] : least;
        most = x[i] > most ? x[i] : most;
        all = all && x[i] > 1;
        any = any || x[i] > 5;
    }
    const clrt_wide expected[LANES_ALL] = {
        lanes->size,
        sum,
        upto,
        upto - x[me],
        least,
        most,
        x[lanes->size / 2],
        x[lanes->size - 1 - me],
        (me ^ 2) < lanes->size ? x[me ^ 2] : 0,
        to_lane >= lanes->size ? 0 : (to < full ? x : y)[to_lane],
        from_lane >= lanes->size ? 0 : (me >= step ? x : y)[from_lane],
        all,
        any,
    };

    for (int i = 0; i < LANES_ALL; i++)
        out[i] = as_type(expected[i]);
}

static void check_item(const struct launch *launch, int place, int item)
{
    const size_t count = (size_t)launch->group_size * GROUPS;
    const struct lanes lanes = find_lanes(launch, place < 0 ? 0 : place, item);
    const int me = item - lanes.first;
    const int planes = place < 0 ? LANES_ALL : LANES_TOGETHER;
    const size_t begin = place < 0 ? 0 : LANES_ALL + (size_t)place * LANES_TOGETHER;
    long double expected[LANES_TOGETHER];

    if (!lanes.here[me])
        return;
    if (place < 0)
        expect_all(launch, &lanes, me, expected);
    else
        expect_together(launch, &lanes, me, expected);
    for (int i = 0; i < planes; i++) {
        const long double result =
            get(rig.memory + OUT, (begin + (size_t)i) * count + (size_t)item);

        if (i >= LANES_TOGETHER - 3 && clrt_is_real(type))
            return; /* no bits */
        if (result != expected[i])
            fail_msg(
                "groups of %d, first branch %08x, place %d, item %d, plane %d: %Lg, expected %Lg",
                launch->group_size, launch->first_branch, place, item, i, result, expected[i]);
    }
}

static void run(struct launch *launch)
{
    const int count = launch->group_size * GROUPS;
    struct {
        void *in;
        void *out;
        uint32_t n;
    } arguments = {rig.memory, rig.memory + OUT, launch->first_branch};

    for (int i = 0; i < count; i++) {
        launch->x[i] = i * 29 % 7;
        launch->y[i] = i % 5 == 0 ? 2 : 1;
        put((size_t)i, launch->x[i]);
        put((size_t)count + (size_t)i, launch->y[i]);
    }
    if (rig_run(&rig, "test_lanes", &arguments, GROUPS, (uint32_t)launch->group_size) !=
        ZETA_VGPU_OK)
        fail_msg("%s", rig.fault.message.text);
    for (int place = -1; place < 6; place++) {
        for (int i = 0; i < count; i++)
            check_item(launch, place, i);
    }
}

static void lanes__some_are_elsewhere__take_part_where_they_are(void **state)
{
    static const int sizes[] = {1, 32, 33, 70, 128};
    static const uint32_t branches[] = {0xffffffff, 0x55555555, 0x80000001, 0x0000fff0};
    static struct launch launch;

    (void)state;
    for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
        for (size_t b = 0; b < sizeof(branches) / sizeof(branches[0]); b++) {
            launch.group_size = sizes[s];
            launch.first_branch = branches[b];
            run(&launch);
        }
    }
}

#define WITH(type)                                                                                 \
    CLRT_TEST(lanes__some_are_elsewhere__take_part_where_they_are, open_type, close_rig, type)

SUITE(lanes)
{
    const struct CMUnitTest tests[] = {
        WITH(CLRT_CHAR), WITH(CLRT_UCHAR), WITH(CLRT_SHORT),  WITH(CLRT_USHORT),
        WITH(CLRT_INT),  WITH(CLRT_UINT),  WITH(CLRT_LONG),   WITH(CLRT_ULONG),
        WITH(CLRT_HALF), WITH(CLRT_FLOAT), WITH(CLRT_DOUBLE),
    };

    if (rig_missing())
        return 77;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
