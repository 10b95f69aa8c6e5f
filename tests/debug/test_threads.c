/* Selectors and masks of threads, compared with a search over all threads. */
#include <stdlib.h>
#include <string.h>

#include "core/debug/threads.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

static const struct zeta_thread_shape shape = {.slices = 3, .subslices = 2, .eus = 5, .threads = 7};

static void count__of_shapes__product_or_0(void **state)
{
    static const struct zeta_thread_shape huge = {1u << 16, 1u << 16, 1, 1}, none = {0, 1, 1, 1};

    (void)state;
    assert_int_equal(zeta_thread_count(&shape), 210);
    assert_int_equal(zeta_thread_count(&huge), 0);
    assert_int_equal(zeta_thread_count(&none), 0);
    assert_int_equal(zeta_thread_words(64), 1);
    assert_int_equal(zeta_thread_words(65), 2);
}

static void number__of_each_thread__is_its_place(void **state)
{
    uint32_t number = 0;

    (void)state;
    for (uint32_t s = 0; s < shape.slices; s++)
        for (uint32_t u = 0; u < shape.subslices; u++)
            for (uint32_t e = 0; e < shape.eus; e++)
                for (uint32_t t = 0; t < shape.threads; t++, number++) {
                    const ze_device_thread_t thread = {s, u, e, t};
                    const ze_device_thread_t back = zeta_thread_at(&shape, number);

                    assert_int_equal(zeta_thread_number(&shape, thread), number);
                    assert_memory_equal(&thread, &back, sizeof(thread));
                }
    assert_int_equal(number, zeta_thread_count(&shape));
}

static void select__every_combination_of_wildcards__what_matches(void **state)
{
    (void)state;
    srand(13);
    for (unsigned round = 0; round < 16 * 50; round++) {
        const unsigned wild = round % 16;
        const ze_device_thread_t selector = {
            wild & 1 ? UINT32_MAX : (uint32_t)rand() % shape.slices,
            wild & 2 ? UINT32_MAX : (uint32_t)rand() % shape.subslices,
            wild & 4 ? UINT32_MAX : (uint32_t)rand() % shape.eus,
            wild & 8 ? UINT32_MAX : (uint32_t)rand() % shape.threads};
        uint64_t mask[4] = {UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX};

        zeta_thread_select(&shape, selector, mask);
        for (uint32_t n = 0; n < 210; n++) {
            const ze_device_thread_t thread = zeta_thread_at(&shape, n);
            const bool matches = (wild & 1 || selector.slice == thread.slice) &&
                                 (wild & 2 || selector.subslice == thread.subslice) &&
                                 (wild & 4 || selector.eu == thread.eu) &&
                                 (wild & 8 || selector.thread == thread.thread);

            assert_int_equal(zeta_thread_in(mask, n), matches);
        }
        assert_int_equal(mask[3] >> (210 - 192), 0);
        assert_int_equal(zeta_thread_scope_of(&shape, selector), wild == 0    ? ZETA_THREAD_ONE
                                                                 : wild == 15 ? ZETA_THREAD_ALL
                                                                              : ZETA_THREAD_SOME);
    }
}

static void scope__field_beyond_the_shape__none(void **state)
{
    static const ze_device_thread_t beyond[] = {{3, 0, 0, 0},
                                                {0, 2, 0, 0},
                                                {0, 0, 5, 0},
                                                {0, 0, 0, 7},
                                                {UINT32_MAX - 1, 0, 0, 0},
                                                {UINT32_MAX, UINT32_MAX, UINT32_MAX, 7}};

    (void)state;
    for (unsigned i = 0; i < sizeof(beyond) / sizeof(beyond[0]); i++)
        assert_int_equal(zeta_thread_scope_of(&shape, beyond[i]), ZETA_THREAD_NONE);
}

SUITE(threads)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(count__of_shapes__product_or_0),
        cmocka_unit_test(number__of_each_thread__is_its_place),
        cmocka_unit_test(select__every_combination_of_wildcards__what_matches),
        cmocka_unit_test(scope__field_beyond_the_shape__none),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
