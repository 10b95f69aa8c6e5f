/*
 * Time lines: any number of rows in a fixed number of buckets, and what is drawn of them.
 */
#include "sparkline.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void draw__nothing__is_empty(void **state)
{
    const struct zeta_sparkline line = {0};
    char text[ZETA_SPARKLINE_TEXT_BYTES];

    (void)state;
    assert_int_equal(zeta_sparkline_draw(&line, 10, text), 0);
    assert_string_equal(text, "");
}

static void draw__ramp__uses_every_level(void **state)
{
    struct zeta_sparkline line = {0};
    char text[ZETA_SPARKLINE_TEXT_BYTES];

    (void)state;
    for (unsigned i = 0; i < 8; i++)
        zeta_sparkline_add(&line, i, 1.0);
    assert_int_equal(zeta_sparkline_draw(&line, 20, text), 8);
    assert_string_equal(text, "▁▂▃▄▅▆▇█");
}

static void draw__fewer_columns_than_buckets__joins_neighbours(void **state)
{
    struct zeta_sparkline line = {0};
    char text[ZETA_SPARKLINE_TEXT_BYTES];

    (void)state;
    for (unsigned i = 0; i < 8; i++)
        zeta_sparkline_add(&line, i < 4 ? 0.0 : 7.0, 1.0);
    assert_int_equal(zeta_sparkline_draw(&line, 2, text), 2);
    assert_string_equal(text, "▁█");
}

static void draw__all_zero__is_flat(void **state)
{
    struct zeta_sparkline line = {0};
    char text[ZETA_SPARKLINE_TEXT_BYTES];

    (void)state;
    zeta_sparkline_add(&line, 0.0, 1.0);
    zeta_sparkline_add(&line, 0.0, 1.0);
    (void)zeta_sparkline_draw(&line, 20, text);
    assert_string_equal(text, "▁▁");
}

static void draw__row_without_value__is_blank(void **state)
{
    struct zeta_sparkline line = {0};
    char text[ZETA_SPARKLINE_TEXT_BYTES];

    (void)state;
    zeta_sparkline_add(&line, 5.0, 1.0);
    zeta_sparkline_add(&line, 0.0, 0.0);
    zeta_sparkline_add(&line, 5.0, 1.0);
    (void)zeta_sparkline_draw(&line, 20, text);
    assert_string_equal(text, "█ █");
}

static void draw__weights__divide(void **state)
{
    struct zeta_sparkline line = {0};
    char text[ZETA_SPARKLINE_TEXT_BYTES];

    (void)state;
    /* The same amount in twice the time is half the height. */
    zeta_sparkline_add(&line, 10.0, 1.0);
    zeta_sparkline_add(&line, 10.0, 2.0);
    (void)zeta_sparkline_draw(&line, 20, text);
    assert_string_equal(text, "█▅");
}

static void add__many_rows__folds_and_keeps_sums(void **state)
{
    struct zeta_sparkline line = {0};
    const unsigned rows = 100000;
    double sum = 0.0;
    double weight = 0.0;

    (void)state;
    for (unsigned i = 0; i < rows; i++)
        zeta_sparkline_add(&line, i, 2.0);
    assert_true(line.used > ZETA_SPARKLINE_BUCKETS / 2);
    assert_true(line.used <= ZETA_SPARKLINE_BUCKETS);
    for (unsigned i = 0; i < line.used; i++) {
        sum += line.buckets[i].sum;
        weight += line.buckets[i].weight;
        /* Every bucket but the last covers the same number of rows. */
        if (i + 1 < line.used)
            assert_true(line.buckets[i].weight == 2.0 * (double)line.rows_per_bucket);
    }
    assert_true(sum == (double)rows * (rows - 1) / 2.0);
    assert_true(weight == 2.0 * rows);
}

static void add__step_in_the_middle__stays_in_the_middle(void **state)
{
    struct zeta_sparkline line = {0};
    char text[ZETA_SPARKLINE_TEXT_BYTES];

    (void)state;
    for (unsigned i = 0; i < 64 * 1024; i++)
        zeta_sparkline_add(&line, i < 32 * 1024 ? 0.0 : 1.0, 1.0);
    assert_int_equal(zeta_sparkline_draw(&line, 4, text), 4);
    assert_string_equal(text, "▁▁██");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(draw__nothing__is_empty),
        cmocka_unit_test(draw__ramp__uses_every_level),
        cmocka_unit_test(draw__fewer_columns_than_buckets__joins_neighbours),
        cmocka_unit_test(draw__all_zero__is_flat),
        cmocka_unit_test(draw__row_without_value__is_blank),
        cmocka_unit_test(draw__weights__divide),
        cmocka_unit_test(add__many_rows__folds_and_keeps_sums),
        cmocka_unit_test(add__step_in_the_middle__stays_in_the_middle),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
