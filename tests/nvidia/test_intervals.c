/* Records of samples, and what was lost between them. */

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "plugins/nvidia/sampling/intervals.h"
#include "tests/support/suite.h"

enum { PERIOD = 1000000, FIRST = 5000000 };

static struct nvidia_program program = {.count = 1};
static struct nvidia_intervals intervals;
static struct nvidia_interval record;
static struct nvidia_interval_break interruption;

static int set_up(void **state)
{
    (void)state;
    intervals = (struct nvidia_intervals){.program = &program, .period_ns = PERIOD};
    return 0;
}

static bool add(uint64_t start_ns, uint64_t end_ns, double value)
{
    const struct nvidia_sample sample = {.start_ns = start_ns, .end_ns = end_ns, .values = &value};

    return nvidia_intervals_add(&intervals, &sample, &record, &interruption);
}

static void expect(bool is_broken, uint64_t lost, uint64_t sequence)
{
    assert_int_equal(interruption.is_broken, is_broken);
    assert_true(interruption.lost == lost);
    assert_true(record.sequence == sequence);
    assert_int_equal(record.flags, is_broken ? NVIDIA_BEHIND_LOSS : 0);
    assert_int_equal(interruption.reason,
                     is_broken ? ZETA_PLUGIN_BREAK_LOST : ZETA_PLUGIN_BREAK_NONE);
}

static void samples__that_touch__are_records(void **state)
{
    (void)state;
    assert_true(add(FIRST, FIRST + PERIOD, 7));
    expect(false, 0, 0);
    assert_true(record.counts[0] == 7 && record.start_ns == FIRST);
    /* The clock may step a little at a calibration. */
    assert_true(add(FIRST + PERIOD + 200, FIRST + 2 * PERIOD + 200, 8));
    expect(false, 0, 1);
    assert_true(add(FIRST + 2 * PERIOD - 200, FIRST + 3 * PERIOD, 9));
    expect(false, 0, 2);
    /* Behind Stop: a shorter one, then one without length, which is nothing. */
    assert_true(add(FIRST + 3 * PERIOD, FIRST + 3 * PERIOD + 5, 1));
    expect(false, 0, 3);
    assert_false(add(FIRST + 3 * PERIOD + 5, FIRST + 3 * PERIOD + 5, 0));
    assert_false(intervals.is_behind_loss);
}

static void gap__of_more_than_half_a_period__is_a_break_with_a_count(void **state)
{
    (void)state;
    assert_true(add(FIRST, FIRST + PERIOD, 1));
    assert_true(add(FIRST + PERIOD + PERIOD / 2, FIRST + 2 * PERIOD, 1));
    expect(false, 0, 1);
    assert_true(add(FIRST + 5 * PERIOD, FIRST + 6 * PERIOD, 1));
    expect(true, 3, 5);
    assert_true(add(FIRST + 6 * PERIOD, FIRST + 7 * PERIOD, 1));
    expect(false, 0, 6);
}

/* Each of them becomes no record; the next good one tells how many are missing. */
static void samples__of_no_use__are_lost(void **state)
{
    static const struct {
        uint64_t start_ns, end_ns;
        double value;
    } bad[] = {
        {FIRST + PERIOD, FIRST + 2 * PERIOD, NAN},
        {FIRST + PERIOD, FIRST + 2 * PERIOD, -1},
        {FIRST + PERIOD, FIRST + 2 * PERIOD, INFINITY},
        {0, 0, 4},
        {FIRST + 2 * PERIOD, FIRST + PERIOD, 4},
        {FIRST - PERIOD, FIRST + PERIOD, 4},
        {FIRST, FIRST + 2 * PERIOD, 4},
    };

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        (void)set_up(state);
        assert_true(add(FIRST, FIRST + PERIOD, 1));
        assert_false(add(bad[i].start_ns, bad[i].end_ns, bad[i].value));
        assert_true(add(FIRST + 2 * PERIOD, FIRST + 3 * PERIOD, 1));
        expect(true, 1, 2);
    }
}

static void first_samples__of_no_use__are_lost_in_an_unknown_number(void **state)
{
    (void)state;
    assert_false(add(FIRST, FIRST + PERIOD, NAN));
    assert_true(add(FIRST + PERIOD, FIRST + 2 * PERIOD, 1));
    expect(true, 0, 0);
}

static void sample__behind_a_loss_of_the_session__is_a_break(void **state)
{
    const double value = 1;
    struct nvidia_sample sample = {.start_ns = FIRST + 2 * PERIOD,
                                   .end_ns = FIRST + 3 * PERIOD,
                                   .values = &value,
                                   .is_behind_loss = true};

    (void)state;
    assert_true(add(FIRST, FIRST + PERIOD, 1));
    assert_true(nvidia_intervals_add(&intervals, &sample, &record, &interruption));
    expect(true, 1, 2);
    sample.start_ns += 170 * (uint64_t)PERIOD;
    sample.end_ns += 170 * (uint64_t)PERIOD;
    sample.is_behind_overflow = true;
    assert_true(nvidia_intervals_add(&intervals, &sample, &record, &interruption));
    assert_int_equal(interruption.reason, ZETA_PLUGIN_BREAK_OVERFLOW);
    assert_true(interruption.lost == 169);
    assert_true(record.sequence == 172);
}

/* Nobody sees a time twice, even if the clock was set back. */
static void times__before_the_last_one__give_no_record(void **state)
{
    (void)state;
    assert_true(add(FIRST, FIRST + PERIOD, 1));
    for (uint64_t i = 4; i > 0; i--)
        assert_false(add(FIRST - i * PERIOD, FIRST - (i - 1) * PERIOD, 1));
    assert_true(add(FIRST + PERIOD, FIRST + 2 * PERIOD, 1));
    expect(true, 0, 1);
}

SUITE(intervals)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(samples__that_touch__are_records, set_up),
        cmocka_unit_test_setup(gap__of_more_than_half_a_period__is_a_break_with_a_count, set_up),
        cmocka_unit_test_setup(samples__of_no_use__are_lost, set_up),
        cmocka_unit_test_setup(first_samples__of_no_use__are_lost_in_an_unknown_number, set_up),
        cmocka_unit_test_setup(sample__behind_a_loss_of_the_session__is_a_break, set_up),
        cmocka_unit_test_setup(times__before_the_last_one__give_no_record, set_up),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
