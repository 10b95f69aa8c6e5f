/* The least number of classes, against a search through all solutions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/metric/activation/partition.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

#define MAX 7u

/** Things with a set of counters each; a class has room for so many different ones. */
struct bins {
    uint32_t counters[MAX]; /**< bits */
    uint32_t room;
    uint64_t questions;
};

static bool fit(void *context, const uint32_t *members, uint32_t count)
{
    struct bins *bins = context;
    uint32_t all = 0;

    bins->questions++;
    for (uint32_t i = 0; i < count; i++)
        all |= bins->counters[members[i]];
    return (uint32_t)__builtin_popcount(all) <= bins->room;
}

/** The least number of classes among all ways to sort the things from thing on. */
static uint32_t try_all(const struct bins *bins, uint32_t count, uint32_t thing, uint32_t *classes,
                        uint32_t used)
{
    uint32_t best = UINT32_MAX;

    if (thing == count)
        return used;
    for (uint32_t c = 0; c <= used; c++) {
        const uint32_t before = c < used ? classes[c] : 0;
        uint32_t found;

        classes[c] = before | bins->counters[thing];
        if ((uint32_t)__builtin_popcount(classes[c]) <= bins->room) {
            found = try_all(bins, count, thing + 1, classes, used + (c == used));
            best = found < best ? found : best;
        }
        classes[c] = before;
    }
    return best;
}

static void check_classes(struct bins *bins, uint32_t count, const uint32_t *class_of,
                          uint32_t class_count)
{
    for (uint32_t c = 0; c < class_count; c++) {
        uint32_t members[MAX];
        uint32_t member_count = 0;

        for (uint32_t i = 0; i < count; i++) {
            assert_cmp(class_of[i], <, class_count);
            if (class_of[i] == c)
                members[member_count++] = i;
        }
        assert_cmp(member_count, >, 0);
        assert_true(fit(bins, members, member_count));
    }
}

/* Rule 15.4. */
static void random_things__are_sorted__into_the_fewest_classes(void **state)
{
    uint32_t seed = 1;

    (void)state;
    for (int round = 0; round < 2000; round++) {
        struct bins bins = {.room = 2 + (uint32_t)round % 3};
        const uint32_t count = 1 + (uint32_t)round % MAX;
        struct zeta_partition_request request = {.count = count, .fits = fit, .context = &bins};
        uint32_t class_of[MAX];
        uint32_t class_count = 0;
        uint32_t classes[MAX + 1] = {0};

        for (uint32_t i = 0; i < count; i++) {
            seed = seed * 1664525u + 1013904223u;
            /* One or two of six counters, so that things share some. */
            bins.counters[i] = 1u << (seed >> 8) % 6 | 1u << (seed >> 16) % 6;
        }
        assert_int_equal(zeta_partition(&request, class_of, &class_count), ZE_RESULT_SUCCESS);
        check_classes(&bins, count, class_of, class_count);
        assert_int_equal(class_count, try_all(&bins, count, 0, classes, 0));
    }
}

/** Takes a pair whose sum is even: first fit alone would do badly with an unlucky order. */
static bool fit_sizes(void *context, const uint32_t *members, uint32_t count)
{
    const uint32_t *sizes = context;
    uint32_t sum = 0;

    for (uint32_t i = 0; i < count; i++)
        sum += sizes[members[i]];
    return sum <= 10;
}

static void sizes__in_an_unlucky_order__still_take_the_least(void **state)
{
    uint32_t sizes[] = {4, 4, 4, 6, 6, 6};
    const struct zeta_partition_request request = {
        .count = 6, .least = 3, .fits = fit_sizes, .context = sizes};
    uint32_t class_of[6];
    uint32_t class_count = 0;

    (void)state;
    assert_int_equal(zeta_partition(&request, class_of, &class_count), ZE_RESULT_SUCCESS);
    assert_int_equal(class_count, 3);
}

static bool fit_sixteen(void *context, const uint32_t *members, uint32_t count)
{
    (void)members;
    ++*(uint64_t *)context;
    return count <= 16;
}

static void many_things__with_a_known_bound__are_sorted_at_once(void **state)
{
    enum { MANY = 1024 };
    static uint32_t class_of[MANY];
    uint64_t questions = 0;
    const struct zeta_partition_request request = {
        .count = MANY, .least = MANY / 16, .fits = fit_sixteen, .context = &questions};
    uint32_t class_count = 0;

    (void)state;
    assert_int_equal(zeta_partition(&request, class_of, &class_count), ZE_RESULT_SUCCESS);
    assert_int_equal(class_count, MANY / 16);
    assert_cmp(questions, <, 100000);
}

/* First fit finds four classes here; the search has to be short. */
static void a_budget__of_few_questions__is_kept(void **state)
{
    struct bins bins = {.counters = {1, 2, 4, 8, 16, 32, 1 | 2}, .room = 2};
    struct zeta_partition_request request = {
        .count = MAX, .budget = 3, .fits = fit, .context = &bins};
    uint32_t class_of[MAX];
    uint32_t class_count = 0;
    uint64_t few;

    (void)state;
    assert_int_equal(zeta_partition(&request, class_of, &class_count), ZE_RESULT_SUCCESS);
    few = bins.questions;
    check_classes(&bins, MAX, class_of, class_count);
    bins.questions = 0;
    request.budget = 0;
    assert_int_equal(zeta_partition(&request, class_of, &class_count), ZE_RESULT_SUCCESS);
    assert_cmp(few, <=, MAX * (MAX - 1) / 2 + 3);
    assert_cmp(bins.questions, >, few);
}

static void nothing__has_no_classes(void **state)
{
    const struct zeta_partition_request request = {.fits = fit_sixteen};
    uint32_t class_count = 7;

    (void)state;
    assert_int_equal(zeta_partition(&request, NULL, &class_count), ZE_RESULT_SUCCESS);
    assert_int_equal(class_count, 0);
}

SUITE(partition)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_things__are_sorted__into_the_fewest_classes),
        cmocka_unit_test(sizes__in_an_unlucky_order__still_take_the_least),
        cmocka_unit_test(many_things__with_a_known_bound__are_sorted_at_once),
        cmocka_unit_test(a_budget__of_few_questions__is_kept),
        cmocka_unit_test(nothing__has_no_classes),
    };

    return cmocka_run_group_tests_name("metric.partition", tests, NULL, NULL);
}
