/*
 * Rows of a group as they come: time that no row covers, wraps, the last instant reached.
 */
#include "sdk/tools/zeta/sampling/sampled_group.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <zeta/slot.h>

#include "fake_group.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

#define WRAP_NS UINT64_C(171798691840)

struct fixture {
    struct fake_group fake;
    struct zeta_sampled_group group;
};

static int set_up(void **state)
{
    struct fixture *fixture = test_calloc(1, sizeof(*fixture));

    fake_group_init(&fixture->fake);
    zeta_sampled_group_init(&fixture->group, &fixture->fake.entry, 1);
    fixture->group.period_ns = 1000;
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;

    zeta_sampled_group_finish(&fixture->group);
    test_free(fixture);
    return 0;
}

static void rows__in_sequence__are_counted(void **state)
{
    struct fixture *fixture = *state;
    struct zeta_sampled_group *group = &fixture->group;

    fake_group_add(group, 0, 5000, 1000);
    fake_group_add(group, 0, 8000, 3000);
    assert_cmp(group->samples, ==, 2);
    assert_cmp(group->losses.lost_ns, ==, 0);
}

/* Rule 20.8. */
static void lost_time__gap_between_rows__is_counted(void **state)
{
    struct fixture *fixture = *state;
    struct zeta_sampled_group *group = &fixture->group;

    fake_group_add(group, 0, 5000, 1000);
    fake_group_add(group, 0, 9000, 1000);
    assert_cmp(group->losses.lost_ns, ==, 3000);
}

static void lost_time__rounding__is_none(void **state)
{
    struct fixture *fixture = *state;
    struct zeta_sampled_group *group = &fixture->group;

    fake_group_add(group, 0, 5000, 1000);
    fake_group_add(group, 0, 6040, 1000);
    fake_group_add(group, 0, 7000, 1000);
    assert_cmp(group->losses.lost_ns, ==, 0);
}

static void lost_time__clock_wraps__goes_on(void **state)
{
    struct fixture *fixture = *state;
    struct zeta_sampled_group *group = &fixture->group;

    assert_cmp(group->wrap_ns, ==, WRAP_NS);
    fake_group_add(group, 0, WRAP_NS - 500, 1000);
    fake_group_add(group, 0, 500, 1000);
    assert_cmp(group->losses.lost_ns, ==, 0);
    fake_group_add(group, 0, 3500, 1000);
    assert_cmp(group->losses.lost_ns, ==, 2000);
}

/* Reports at 6000 and 7000 are missing in the first gap; the second is less than a period.
 * Rule 20.9. */
static void lost__nobody_counted__is_reckoned_from_gap_and_period(void **state)
{
    struct fixture *fixture = *state;
    struct zeta_sampled_group *group = &fixture->group;

    fake_group_add(group, 0, 5000, 1000);
    assert_cmp(zeta_sampled_group_lost(group), ==, 0);
    fake_group_add(group, 0, 9000, 1000);
    group->losses.breaks = group->losses.uncounted = 1;
    assert_cmp(zeta_sampled_group_lost(group), ==, 2);
    fake_group_add(group, 0, 10700, 1000);
    assert_cmp(zeta_sampled_group_lost(group), ==, 3);
}

/* A slot of 64 bytes that says how many are missing. */
static void put_break(uint8_t *slot, uint64_t lost)
{
    static const uint8_t magic[ZETA_SLOT_MAGIC_BYTES] = ZETA_SLOT_MAGIC;

    memcpy(slot, magic, sizeof(magic));
    slot[16] = ZETA_SLOT_BREAK;
    memcpy(slot + 24, &lost, sizeof(lost));
}

static void lost__told_in_each_break__is_that_whatever_times_say(void **state)
{
    struct fixture *fixture = *state;
    struct zeta_sampled_group *group = &fixture->group;
    uint8_t raw[4 * 64] = {[64] = 1}; /* padding, a record */

    put_break(raw + 2 * 64, 7);
    put_break(raw + 3 * 64, 2);
    assert_cmp(zeta_sampled_group_take_slots(group, raw, sizeof(raw), 64), ==, 1);
    fake_group_add(group, 0, 5000, 1000);
    fake_group_add(group, 0, 105000, 1000);
    assert_cmp(group->losses.breaks, ==, 2);
    assert_cmp(zeta_sampled_group_lost(group), ==, 9);
    put_break(raw + 3 * 64, 0);
    assert_cmp(zeta_sampled_group_take_slots(group, raw + 3 * 64, 64, 64), ==, 0);
    assert_cmp(zeta_sampled_group_lost(group), ==, 98);
    zeta_sampled_group_forget_losses(group);
    assert_cmp(zeta_sampled_group_lost(group), ==, 0);
    assert_cmp(group->losses.lost_ns, ==, 0);
    fake_group_add(group, 0, 5000, 1000); /* the same rows, once more */
    assert_cmp(zeta_sampled_group_lost(group), ==, 0);
}

static void lost__interrupted_for_an_unknown_time__is_one_each(void **state)
{
    struct fixture *fixture = *state;

    fixture->group.losses.breaks = fixture->group.losses.uncounted = 3;
    assert_cmp(zeta_sampled_group_lost(&fixture->group), ==, 3);
}

/* One gap between rows, and one from the last row to the end of the run. */
static void lost__stream_that_failed__adds_to_other_gaps(void **state)
{
    struct fixture *fixture = *state;
    struct zeta_sampled_group *group = &fixture->group;

    fake_group_add(group, 0, 5000, 1000);
    fake_group_add(group, 0, 9000, 1000);
    group->losses.breaks = group->losses.uncounted = 1;
    zeta_sampled_group_end_at(group, WRAP_NS + 20000);
    assert_cmp(group->losses.breaks, ==, 2);
    assert_cmp(group->losses.lost_ns, ==, 3000 + 11000);
    assert_cmp(zeta_sampled_group_lost(group), ==, 2 + 11);
}

/* Rows that somebody leaves out have been there. */
static void rows__passed_over__keep_losses_and_count_in_no_figure(void **state)
{
    struct fixture *fixture = *state;
    struct zeta_sampled_group *group = &fixture->group;

    fake_group_add(group, 0, 5000, 1000);
    fake_group_pass(group, 0, 6000, 1000);
    fake_group_pass(group, 0, 9000, 1000);
    fake_group_add(group, 0, 10000, 1000);
    assert_cmp(group->samples, ==, 2);
    assert_cmp(group->losses.lost_ns, ==, 2000);
    assert_cmp(zeta_sampled_group_lost(group), ==, 1);
}

/* A record says how often a thread was seen at its instruction, for each reason. Rule 20.10. */
static void rows__of_stall_records__count_their_samples(void **state)
{
    enum { VALUES = 4 };
    struct zeta_metric_entry metrics[VALUES] = {0};
    struct zeta_group_entry entry = {.properties.metricCount = VALUES, .metrics = metrics};
    struct zeta_sampled_group group;
    const uint8_t has_value[VALUES] = {1, 1, 1, 1};
    const zet_typed_value_t rows[2][VALUES] = {{{.type = ZET_VALUE_TYPE_UINT64, .value.ui64 = 4096},
                                                {.type = ZET_VALUE_TYPE_UINT64, .value.ui64 = 3},
                                                {.type = ZET_VALUE_TYPE_UINT64, .value.ui64 = 0},
                                                {.type = ZET_VALUE_TYPE_UINT64, .value.ui64 = 2}},
                                               {{.type = ZET_VALUE_TYPE_UINT64, .value.ui64 = 8192},
                                                {.type = ZET_VALUE_TYPE_UINT64, .value.ui64 = 1},
                                                {.type = ZET_VALUE_TYPE_UINT64, .value.ui64 = 1},
                                                {.type = ZET_VALUE_TYPE_UINT64, .value.ui64 = 1}}};

    (void)state;
    (void)strcpy(entry.properties.name, "EuStallSampling");
    zeta_sampled_group_init(&group, &entry, 1);
    for (uint32_t i = 0; i < 2; i++) {
        const struct zeta_metric_row row = {
            .metric_count = VALUES, .values = rows[i], .has_value = has_value};

        zeta_sampled_group_add_row(&group, &row);
    }
    assert_cmp(group.samples, ==, 8);
    zeta_sampled_group_finish(&group);
}

static void reaches__before_and_after_the_last_row__differs(void **state)
{
    struct fixture *fixture = *state;
    struct zeta_sampled_group *group = &fixture->group;

    assert_false(zeta_sampled_group_reaches(group, 0, 0));
    fake_group_add(group, 0, 5000, 1000);
    assert_true(zeta_sampled_group_reaches(group, 4999, 0));
    assert_true(zeta_sampled_group_reaches(group, 5000, 0));
    assert_false(zeta_sampled_group_reaches(group, 5001, 0));
    assert_true(zeta_sampled_group_reaches(group, 5001, 1));
    assert_false(zeta_sampled_group_reaches(group, 5002, 1));
    /* Just before the wrap is long past, seen from just after it. */
    assert_true(zeta_sampled_group_reaches(group, 10, 20));
    assert_true(zeta_sampled_group_reaches(group, WRAP_NS - 10, 0));
    /* The clock may not be masked. */
    assert_false(zeta_sampled_group_reaches(group, WRAP_NS + 5001, 0));
}

static void reaches__several_tiles__waits_for_all(void **state)
{
    struct fixture *fixture = *state;
    struct zeta_sampled_group group;

    zeta_sampled_group_init(&group, &fixture->fake.entry, 2);
    group.period_ns = 1000;
    fake_group_add(&group, 0, 5000, 1000);
    assert_false(zeta_sampled_group_reaches(&group, 4500, 0));
    fake_group_add(&group, 1, 5000, 1000);
    assert_true(zeta_sampled_group_reaches(&group, 4500, 0));
    assert_cmp(group.losses.lost_ns, ==, 0);
    zeta_sampled_group_finish(&group);
}

SUITE(sampled_group)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(rows__in_sequence__are_counted, set_up, tear_down),
        cmocka_unit_test_setup_teardown(lost_time__gap_between_rows__is_counted, set_up, tear_down),
        cmocka_unit_test_setup_teardown(lost_time__rounding__is_none, set_up, tear_down),
        cmocka_unit_test_setup_teardown(lost_time__clock_wraps__goes_on, set_up, tear_down),
        cmocka_unit_test_setup_teardown(lost__nobody_counted__is_reckoned_from_gap_and_period,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(lost__told_in_each_break__is_that_whatever_times_say,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(lost__interrupted_for_an_unknown_time__is_one_each, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(lost__stream_that_failed__adds_to_other_gaps, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(rows__passed_over__keep_losses_and_count_in_no_figure,
                                        set_up, tear_down),
        cmocka_unit_test(rows__of_stall_records__count_their_samples),
        cmocka_unit_test_setup_teardown(reaches__before_and_after_the_last_row__differs, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(reaches__several_tiles__waits_for_all, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
