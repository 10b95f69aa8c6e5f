/* Barriers in loops, branches and functions, against the same steps on the host. */
#include <string.h>

#include "check.h"
#include "tests/support/suite.h"

enum { GROUPS = 12, OUT = 1 << 16, MOST = 256 };

static struct rig rig;

static int open_rig(void **state)
{
    struct zeta_vgpu_engine_config config = rig_config(2);

    (void)state;
    rig_open(&rig, KERNEL_PREFIX "flow", &config);
    return 0;
}

static int close_rig(void **state)
{
    (void)state;
    rig_close(&rig);
    return 0;
}

/* What the items of one group have. */
static uint32_t mine[MOST];

static void pass(uint32_t size)
{
    uint32_t shared[MOST];

    memcpy(shared, mine, sizeof(shared));
    for (uint32_t i = 0; i < size; i++)
        mine[i] = shared[(i + 1) % size] + 1;
}

/* The kernels, one group at a time. */

static void trips(uint32_t group, uint32_t size, uint32_t n)
{
    for (uint32_t i = 0; i <= group * 3 % 7; i++) {
        pass(size);
        if ((group + i) % 3 == 0)
            continue;
        pass(size);
        if (i == n)
            break;
        for (uint32_t k = 0; k < i % 3; k++)
            pass(size);
    }
}

static void behind_branches(uint32_t group, uint32_t size, uint32_t n)
{
    (void)group;
    for (uint32_t turn = 0; turn < n; turn++) {
        for (uint32_t i = 0; i < size; i++) {
            for (uint32_t k = 0; i % 3 == 0 && k < i + turn; k++)
                mine[i] = mine[i] * 5 + k;
            mine[i] ^= i % 3 == 1 ? turn : 0;
        }
        pass(size);
        for (uint32_t i = 0; i < size; i++) {
            for (uint32_t k = 0; k < 40 && k != i % 37; k++)
                mine[i] += k;
        }
        pass(size);
    }
}

static void change(uint32_t size, uint32_t factor, uint32_t summand)
{
    for (uint32_t i = 0; i < size; i++)
        mine[i] = mine[i] * factor + summand;
}

static void functions(uint32_t group, uint32_t size, uint32_t n)
{
    (void)n;
    if (group % 2 == 0 || group % 3 == 0) {
        pass(size);
        change(size, 1, group % 2 == 0 ? 100 : 1000);
    } else {
        change(size, 3, 0);
        pass(size);
        pass(size);
    }
    if (group % 4 == 0)
        pass(size);
    if (group % 4 < 2)
        pass(size);
    else
        change(size, 1, 7);
}

static void early_return(uint32_t group, uint32_t size, uint32_t n)
{
    (void)group;
    for (uint32_t turn = 0; turn < 4; turn++)
        pass(n);
    for (uint32_t i = n; i < size; i++)
        mine[i] += 5;
}

static void check(const char *kernel, void (*expect)(uint32_t, uint32_t, uint32_t), uint32_t size,
                  uint32_t n)
{
    uint32_t *in = (uint32_t *)(void *)rig.memory;
    const uint32_t *out = (const uint32_t *)(const void *)(rig.memory + OUT);
    struct {
        void *in;
        void *out;
        uint32_t n;
    } arguments = {rig.memory, rig.memory + OUT, n};

    for (uint32_t i = 0; i < GROUPS * size; i++)
        in[i] = i * 2654435761u >> 8;
    if (rig_run(&rig, kernel, &arguments, GROUPS, size) != ZETA_VGPU_OK)
        fail_msg("%s: %s", kernel, rig.fault.message.text);
    for (uint32_t group = 0; group < GROUPS; group++) {
        memcpy(mine, in + group * size, size * sizeof(*mine));
        expect(group, size, n);
        for (uint32_t i = 0; i < size; i++) {
            if (out[group * size + i] != mine[i])
                fail_msg("%s, groups of %u, group %u, item %u: %u, expected %u", kernel, size,
                         group, i, out[group * size + i], mine[i]);
        }
    }
}

static const uint32_t sizes[] = {1, 31, 64, 97, 256};

static void barriers__in_loops_of_groups__hold(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        check("test_trips", trips, sizes[i], 4);
        check("test_trips", trips, sizes[i], 100);
    }
}

static void barriers__behind_branches__hold(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
        check("test_behind_branches", behind_branches, sizes[i], 5);
}

static void barriers__in_functions_and_branches_of_groups__hold(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
        check("test_functions", functions, sizes[i], 0);
}

/* Rules 24.10, 28.13. */
static void barriers__some_items_ended__hold_for_the_others(void **state)
{
    (void)state;
    check("test_early_return", early_return, 97, 97);
    check("test_early_return", early_return, 97, 64);
    check("test_early_return", early_return, 97, 50);
    check("test_early_return", early_return, 97, 1);
}

#define WITH(test) cmocka_unit_test_setup_teardown(test, open_rig, close_rig)

SUITE(flow)
{
    const struct CMUnitTest tests[] = {
        WITH(barriers__in_loops_of_groups__hold),
        WITH(barriers__behind_branches__hold),
        WITH(barriers__in_functions_and_branches_of_groups__hold),
        WITH(barriers__some_items_ended__hold_for_the_others),
    };

    if (rig_missing())
        return 77;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
