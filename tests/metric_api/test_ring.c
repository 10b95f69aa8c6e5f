/* The ring of records: order, wrap-around, drops and the breaks they leave. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/capture/ring.h"
#include "core/formula/record/layout.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

#define RECORD_BYTES 8u

/** Pushes records that hold the numbers first, first + 1 ... */
static void push(struct zeta_ring *ring, uint64_t first, uint32_t count)
{
    uint64_t records[64];

    assert_cmp(count, <=, 64);
    for (uint32_t i = 0; i < count; i++)
        records[i] = first + i;
    zeta_ring_push(ring, records, count);
}

static void expect_pop(struct zeta_ring *ring, uint64_t first, uint32_t count)
{
    uint64_t records[64];

    assert_cmp(count, <=, 64);
    assert_cmp(zeta_ring_count(ring), >=, count);
    zeta_ring_pop(ring, records, count);
    for (uint32_t i = 0; i < count; i++)
        assert_int_equal(records[i], first + i);
}

static void ring__push_and_pop_around_the_end__keeps_order(void **state)
{
    struct zeta_ring *ring = zeta_ring_create(RECORD_BYTES, 7);

    (void)state;
    assert_non_null(ring);
    for (uint64_t n = 0; n < 100; n += 5) {
        push(ring, n, 5);
        assert_int_equal(zeta_ring_first_break(ring).reason, 0);
        assert_int_equal(zeta_ring_run(ring, 100), 5);
        expect_pop(ring, n, 5);
    }
    assert_int_equal(zeta_ring_count(ring), 0);
    assert_int_equal(zeta_ring_run(ring, 100), 0);
    zeta_ring_destroy(ring);
}

static void ring__more_than_fits__drops_oldest_and_tells_how_many(void **state)
{
    struct zeta_ring *ring = zeta_ring_create(RECORD_BYTES, 8);
    struct zeta_break gap;

    (void)state;
    push(ring, 0, 6);
    push(ring, 6, 5);
    assert_int_equal(zeta_ring_count(ring), 8);
    gap = zeta_ring_first_break(ring);
    assert_int_equal(gap.reason, ZETA_BREAK_OVERFLOW);
    assert_int_equal(gap.lost_records, 3);
    assert_int_equal(zeta_ring_run(ring, 100), 8);
    expect_pop(ring, 3, 8);
    zeta_ring_destroy(ring);
}

static void ring__one_push_larger_than_the_ring__keeps_newest(void **state)
{
    struct zeta_ring *ring = zeta_ring_create(RECORD_BYTES, 8);

    (void)state;
    push(ring, 0, 3);
    push(ring, 3, 30);
    assert_int_equal(zeta_ring_count(ring), 8);
    assert_int_equal(zeta_ring_first_break(ring).lost_records, 25);
    expect_pop(ring, 25, 8);
    zeta_ring_destroy(ring);
}

static void ring__break_inside__ends_the_run_before_it(void **state)
{
    const struct zeta_break lost = {.reason = ZETA_BREAK_LOST, .lost_records = 4};
    struct zeta_ring *ring = zeta_ring_create(RECORD_BYTES, 16);

    (void)state;
    push(ring, 0, 3);
    zeta_ring_break(ring, &lost);
    push(ring, 7, 2);
    assert_int_equal(zeta_ring_first_break(ring).reason, 0);
    assert_int_equal(zeta_ring_run(ring, 2), 2);
    assert_int_equal(zeta_ring_run(ring, 100), 3);
    expect_pop(ring, 0, 3);
    assert_int_equal(zeta_ring_first_break(ring).reason, ZETA_BREAK_LOST);
    assert_int_equal(zeta_ring_first_break(ring).lost_records, 4);
    assert_int_equal(zeta_ring_run(ring, 100), 2);
    expect_pop(ring, 7, 2);
    zeta_ring_destroy(ring);
}

static void ring__break_among_dropped_records__adds_to_the_loss(void **state)
{
    const struct zeta_break lost = {.reason = ZETA_BREAK_LOST, .lost_records = 10};
    struct zeta_ring *ring = zeta_ring_create(RECORD_BYTES, 4);

    (void)state;
    push(ring, 0, 1);
    zeta_ring_break(ring, &lost);
    push(ring, 11, 3);
    push(ring, 14, 2); /* drops 0 and 11, with the break before 11 */
    assert_int_equal(zeta_ring_first_break(ring).lost_records, 12);
    assert_int_equal(zeta_ring_first_break(ring).reason, ZETA_BREAK_OVERFLOW);
    expect_pop(ring, 12, 4);
    zeta_ring_destroy(ring);
}

static void ring__two_breaks_without_records_between__become_one(void **state)
{
    const struct zeta_break lost = {.reason = ZETA_BREAK_LOST, .lost_records = 2};
    const struct zeta_break reset = {.reason = ZETA_BREAK_RESET, .lost_records = 0};
    struct zeta_ring *ring = zeta_ring_create(RECORD_BYTES, 4);

    (void)state;
    zeta_ring_break(ring, &lost);
    zeta_ring_break(ring, &reset);
    push(ring, 0, 1);
    assert_int_equal(zeta_ring_first_break(ring).reason, ZETA_BREAK_RESET);
    assert_int_equal(zeta_ring_first_break(ring).lost_records, 2);
    zeta_ring_destroy(ring);
}

SUITE(ring)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ring__push_and_pop_around_the_end__keeps_order),
        cmocka_unit_test(ring__more_than_fits__drops_oldest_and_tells_how_many),
        cmocka_unit_test(ring__one_push_larger_than_the_ring__keeps_newest),
        cmocka_unit_test(ring__break_inside__ends_the_run_before_it),
        cmocka_unit_test(ring__break_among_dropped_records__adds_to_the_loss),
        cmocka_unit_test(ring__two_breaks_without_records_between__become_one),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
