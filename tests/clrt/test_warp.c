/* Sub-groups of 32 items, whose last one has fewer: for devices that have such. */
#include <limits.h>

#include "check.h"
#include "tests/support/suite.h"

enum { ITEMS = 70, WARP = 32, OUT = 1 << 16 };

static struct rig rig;

static int open_warp(void **state)
{
    struct zeta_vgpu_engine_config config = rig_config(2);

    (void)state;
    rig_open(&rig, KERNEL_PREFIX "warp", &config);
    return 0;
}

static int close_warp(void **state)
{
    (void)state;
    rig_close(&rig);
    return 0;
}

static void warp__last_one_has_fewer_items__counts_those(void **state)
{
    int *in = (int *)(void *)rig.memory;
    const int *out = (const int *)(const void *)(rig.memory + OUT);
    struct {
        void *in;
        void *out;
        uint32_t n;
    } arguments = {in, rig.memory + OUT, 0};

    (void)state;
    for (int i = 0; i < ITEMS; i++)
        in[i] = i * 37 % 101 - 7;
    assert_int_equal(rig_run(&rig, "test_warp", &arguments, 1, ITEMS), ZETA_VGPU_OK);
    for (int i = 0; i < ITEMS; i++) {
        const int first = i / WARP * WARP, end = first + WARP < ITEMS ? first + WARP : ITEMS;
        int sum = 0, before = 0, least = INT_MAX, most = INT_MIN, most_before = INT_MIN;
        int all = 1, any = 0, plane = 0;

        for (int k = first; k < end; k++) {
            sum += in[k];
            before += k < i ? in[k] : 0;
            least = in[k] < least ? in[k] : least;
            most = in[k] > most ? in[k] : most;
            most_before = k < i && in[k] > most_before ? in[k] : most_before;
            all = all && in[k] > 0;
            any = any || in[k] > 90;
        }
        const int expected[] = {end - first,
                                WARP,
                                (ITEMS + WARP - 1) / WARP,
                                i / WARP,
                                i % WARP,
                                sum,
                                before + in[i],
                                before,
                                least,
                                most,
                                most_before,
                                in[first + 3],
                                1,
                                all,
                                any,
                                sum,
                                sum,
                                sum};
        for (; plane < (int)(sizeof(expected) / sizeof(expected[0])); plane++) {
            if (out[plane * ITEMS + i] != expected[plane])
                fail_msg("item %d, plane %d: %d, expected %d", i, plane, out[plane * ITEMS + i],
                         expected[plane]);
        }
    }
}

SUITE(warp)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(
        warp__last_one_has_fewer_items__counts_those, open_warp, close_warp)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
