#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "plugins/vgpu/machine/cache.h"
#include "tests/support/suite.h"

enum {
    L1_BYTES = 8192, /* 16 sets of 8 ways */
    SETS = 16,
    LINE = 64
};

static void l1__ninth_line_of_a_set__replaces_the_oldest(void **state)
{
    struct zeta_vgpu_l1 l1;

    (void)state;
    assert_true(zeta_vgpu_l1_init(&l1, L1_BYTES));
    for (uint64_t i = 1; i <= 8; i++)
        zeta_vgpu_l1_access(&l1, i * SETS * LINE, false);
    assert_int_equal(l1.misses, 8);
    /* The first is used again, so the second is the oldest. */
    zeta_vgpu_l1_access(&l1, 1 * SETS * LINE + 63, false);
    assert_int_equal(l1.misses, 8);
    zeta_vgpu_l1_access(&l1, 9 * SETS * LINE, false);
    assert_int_equal(l1.misses, 9);
    zeta_vgpu_l1_access(&l1, 1 * SETS * LINE, false);
    assert_int_equal(l1.misses, 9);
    zeta_vgpu_l1_access(&l1, 2 * SETS * LINE, false);
    assert_int_equal(l1.misses, 10);
    zeta_vgpu_l1_finish(&l1);
}

static void l1__dirty_lines__are_written_back(void **state)
{
    struct zeta_vgpu_l1 l1;

    (void)state;
    assert_true(zeta_vgpu_l1_init(&l1, L1_BYTES));
    l1.eu = 5;
    zeta_vgpu_l1_access(&l1, 1 * SETS * LINE, false);
    zeta_vgpu_l1_access(&l1, 1 * SETS * LINE, true);
    assert_int_equal(l1.misses, 1);
    for (uint64_t i = 2; i <= 9; i++)
        zeta_vgpu_l1_access(&l1, i * SETS * LINE, false);
    /* 9 fills, and the write-back before the last of them. */
    assert_int_equal(l1.log.count, 10);
    assert_int_equal(l1.log.entries[0], (uint64_t)1 * SETS << 8 | 5 << 1);
    assert_int_equal(l1.log.entries[8], (uint64_t)1 * SETS << 8 | 5 << 1 | 1);
    zeta_vgpu_l1_access(&l1, 3 * SETS * LINE, true);
    zeta_vgpu_l1_flush(&l1);
    assert_int_equal(l1.log.count, 11);
    assert_int_equal(l1.log.entries[10], (uint64_t)3 * SETS << 8 | 5 << 1 | 1);
    zeta_vgpu_l1_access(&l1, 3 * SETS * LINE, false);
    assert_int_equal(l1.misses, 10);
    zeta_vgpu_l1_finish(&l1);
}

static void tlb__pages__count_once_while_they_fit(void **state)
{
    struct zeta_vgpu_l1 l1;

    (void)state;
    assert_true(zeta_vgpu_l1_init(&l1, L1_BYTES));
    for (uint64_t line = 0; line < 128; line++)
        zeta_vgpu_l1_access(&l1, 0x10000 + line * LINE, false);
    assert_int_equal(l1.misses, 128);
    assert_int_equal(l1.tlb_misses, 2);
    zeta_vgpu_l1_finish(&l1);
}

static void l3__write_back__fills_nothing_and_is_evicted_later(void **state)
{
    struct zeta_vgpu_l3 l3;
    struct zeta_vgpu_l3_result result;

    (void)state;
    assert_true(zeta_vgpu_l3_init(&l3, 16384)); /* 16 sets of 16 ways */
    result = zeta_vgpu_l3_access(&l3, 16, true);
    assert_false(result.hit);
    assert_false(result.fill);
    assert_true(zeta_vgpu_l3_access(&l3, 16, false).hit);
    for (uint64_t i = 2; i <= 16; i++) {
        result = zeta_vgpu_l3_access(&l3, i * 16, false);
        assert_true(result.fill);
        assert_false(result.eviction);
    }
    result = zeta_vgpu_l3_access(&l3, 17 * 16, false);
    assert_true(result.eviction);
    assert_false(zeta_vgpu_l3_access(&l3, 18 * 16, false).eviction);
    zeta_vgpu_l3_finish(&l3);
}

static void icache__blocks__miss_per_line(void **state)
{
    struct zeta_vgpu_icache icache = {0};

    (void)state;
    assert_true(zeta_vgpu_icache_reset(&icache, 10000));
    assert_int_equal(zeta_vgpu_icache_fill(&icache, 0, 16), 1);
    assert_int_equal(zeta_vgpu_icache_fill(&icache, 15, 2), 1);
    assert_int_equal(zeta_vgpu_icache_fill(&icache, 8, 40), 1);
    assert_int_equal(icache.present[8], 1);
    assert_int_equal(icache.present[9], 0);
    /* 256 lines later the same slot is used: everything has to be looked at again. */
    assert_int_equal(zeta_vgpu_icache_fill(&icache, 4096, 1), 1);
    assert_int_equal(icache.present[8], 0);
    assert_int_equal(icache.present[4096], 1);
    assert_int_equal(zeta_vgpu_icache_fill(&icache, 8, 40), 1);
    zeta_vgpu_icache_finish(&icache);
}

SUITE(cache)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(l1__ninth_line_of_a_set__replaces_the_oldest),
        cmocka_unit_test(l1__dirty_lines__are_written_back),
        cmocka_unit_test(tlb__pages__count_once_while_they_fit),
        cmocka_unit_test(l3__write_back__fills_nothing_and_is_evicted_later),
        cmocka_unit_test(icache__blocks__miss_per_line),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
