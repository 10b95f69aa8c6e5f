/*
 * Rows of a group while they are added up and drawn, with the library behind it: values of a group,
 * lines of any number of rows. The group is one of the backend that tests of metrics play.
 */
#include "sdk/tools/zeta/sampling/sampled_group.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness/device/stream_control.h"
#include "tests/metric_api/harness.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

enum { COUNT, SCALED, HALF_OF, END, METRICS };

struct fixture {
    struct zeta_group_entry entry;
    struct zeta_sampled_group group;
    struct zeta_sum_line line;
    uint64_t places; /**< of rows on the line */
};

static int set_up(void **state)
{
    struct fixture *fixture = test_calloc(1, sizeof(*fixture));
    struct zeta_metric_sum_desc desc = {.struct_size = sizeof(desc)};

    EXPECT_OK(zeInit(0));
    fixture->entry.group = find_group(find_device("fake0"), "Basic", TIME_BASED, NULL);
    EXPECT_OK(zetMetricGroupGetProperties(fixture->entry.group, &fixture->entry.properties));
    assert_int_equal(fixture->entry.properties.metricCount, METRICS);
    assert_int_equal(zeta_group_entry_load_metrics(&fixture->entry), 0);
    zeta_sampled_group_init(&fixture->group, &fixture->entry, 1);
    desc.group = fixture->entry.group;
    EXPECT_OK(zetaMetricSumCreate(&desc, &fixture->group.sum));
    fixture->line.most = 8;
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;

    zeta_sum_line_finish(&fixture->line);
    zeta_sampled_group_finish(&fixture->group);
    free(fixture->entry.metrics);
    test_free(fixture);
    return 0;
}

static uint32_t take_row(void *user, const struct zeta_metric_row *row)
{
    struct fixture *fixture = user;

    zeta_sampled_group_add_row(&fixture->group, row);
    assert_true(zeta_sum_line_add(&fixture->line, fixture->group.sum, fixture->places, 10, row));
    fixture->places += 10;
    return 1;
}

/** Adds so many rows; each counts one more than the one before, from first on. */
static void add_rows(struct fixture *fixture, uint32_t count, uint32_t first)
{
    uint8_t raw[2 * FAKE_RECORD_BYTES];
    const struct zeta_metric_data data = {.struct_size = sizeof(data),
                                          .raw = raw,
                                          .raw_size = sizeof(raw),
                                          .each = take_row,
                                          .user = fixture};
    struct fake_record record = {.report_id = 1, .timestamp = 25, .mark = FAKE_MARK};

    for (uint32_t i = 0; i < count; i++) {
        memcpy(raw, &record, sizeof(record));
        record.report_id++;
        record.timestamp += FAKE_TICKS_PER_RECORD;
        record.a[0] += first + i;
        record.a[1] += 2;
        memcpy(raw + FAKE_RECORD_BYTES, &record, sizeof(record));
        EXPECT_OK(zetaMetricSumAdd(fixture->group.sum, &data));
    }
}

static uint64_t value_of_piece(const struct zeta_sum_line *line, uint32_t piece, uint64_t *out_rows)
{
    struct zeta_metric_value value = {.struct_size = sizeof(value)};
    uint32_t count = 1;

    EXPECT_OK(zetaMetricSumGetValues(line->pieces[piece], &count, &value));
    *out_rows = value.rows;
    return value.value.value.ui64;
}

/* Rule 20.8. */
static void settle__rows__gives_values_and_lines(void **state)
{
    struct fixture *fixture = *state;
    const struct zeta_account *accounts = fixture->group.accounts;

    add_rows(fixture, 100, 1);
    assert_int_equal(fixture->group.samples, 100);
    assert_int_equal(zeta_sampled_group_settle(&fixture->group), 0);
    assert_cmp(accounts[COUNT].value.u64, ==, 5050);
    assert_cmp(accounts[COUNT].min.u64, ==, 1);
    assert_cmp(accounts[COUNT].max.u64, ==, 100);
    assert_cmp(accounts[COUNT].last.u64, ==, 100);
    assert_cmp(accounts[HALF_OF].value.f64, ==, 100.0); /* of the sum of all rows */
    assert_cmp(accounts[HALF_OF].max.f64, ==, 1.0);
    assert_int_equal(accounts[COUNT].line.counts[0], 50);
    assert_int_equal(accounts[COUNT].line.counts[1], 25);
    assert_int_equal(accounts[COUNT].line.counts[4], 4);
    assert_cmp(accounts[COUNT].line.values[0][0], ==, 1.5); /* per row, as rows say no time */
    assert_cmp(accounts[HALF_OF].line.values[0][49], ==, 2.0);
    assert_int_equal(accounts[END].line.counts[0], 0);
}

static void settle__no_rows__gives_no_values(void **state)
{
    struct fixture *fixture = *state;

    assert_int_equal(zeta_sampled_group_settle(&fixture->group), 0);
    for (uint32_t m = 0; m < METRICS; m++) {
        assert_int_equal(fixture->group.accounts[m].value.kind, ZETA_NUMBER_NONE);
        assert_int_equal(fixture->group.accounts[m].line.counts[0], 0);
    }
}

/* Rule 16.27. */
static void line__more_rows_than_pieces__joins_neighbours(void **state)
{
    struct fixture *fixture = *state;
    uint64_t all = 0;
    uint64_t rows = 0;

    add_rows(fixture, 1000, 1);
    assert_int_equal(fixture->line.width, 10 * 128);
    assert_int_equal(fixture->line.used, 8);
    for (uint32_t i = 0; i < 8; i++) {
        uint64_t found = 0;

        all += value_of_piece(&fixture->line, i, &found);
        assert_int_equal(found, i < 7 ? 128 : 1000 - 7 * 128);
        rows += found;
    }
    assert_int_equal(rows, 1000);
    assert_int_equal(all, 500500);
}

/* Rule 16.27. */
static void line__hole__stays_empty(void **state)
{
    struct fixture *fixture = *state;
    uint64_t rows = 0;

    fixture->places = 35;
    add_rows(fixture, 1, 7);
    fixture->places = 71;
    add_rows(fixture, 1, 8);
    assert_int_equal(fixture->line.used, 8);
    assert_null(fixture->line.pieces[0]);
    assert_null(fixture->line.pieces[4]);
    assert_int_equal(value_of_piece(&fixture->line, 3, &rows), 7);
    zeta_sum_line_join(&fixture->line);
    assert_int_equal(fixture->line.used, 4);
    assert_int_equal(value_of_piece(&fixture->line, 1, &rows), 7);
    assert_int_equal(value_of_piece(&fixture->line, 3, &rows), 8);
    assert_null(fixture->line.pieces[2]);
}

SUITE(sum_line)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(settle__rows__gives_values_and_lines, set_up, tear_down),
        cmocka_unit_test_setup_teardown(settle__no_rows__gives_no_values, set_up, tear_down),
        cmocka_unit_test_setup_teardown(line__more_rows_than_pieces__joins_neighbours, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(line__hole__stays_empty, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
