/*
 * Time lines: what is drawn of values, and which level fits.
 */
#include "sdk/tools/zeta/sampling/sampled_group.h"
#include "tests/support/suite.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Values of one level. */
static void fill(struct zeta_sparkline *line, unsigned level, const double *values, uint32_t count)
{
    line->counts[level] = count;
    memcpy(line->values[level], values, count * sizeof(*values));
}

static void draw__nothing__is_empty(void **state)
{
    const struct zeta_sparkline line = {0};
    char text[ZETA_SPARKLINE_TEXT_BYTES];

    (void)state;
    assert_int_equal(zeta_sparkline_draw(&line, 10, text), 0);
    assert_string_equal(text, "");
}

static void draw__ramp__uses_every_block(void **state)
{
    struct zeta_sparkline line = {0};
    char text[ZETA_SPARKLINE_TEXT_BYTES];

    (void)state;
    fill(&line, 0, (const double[]){0, 1, 2, 3, 4, 5, 6, 7}, 8);
    assert_int_equal(zeta_sparkline_draw(&line, 20, text), 8);
    assert_string_equal(text, "▁▂▃▄▅▆▇█");
}

static void draw__fewer_columns_than_values__takes_the_level_that_fits(void **state)
{
    struct zeta_sparkline line = {0};
    char text[ZETA_SPARKLINE_TEXT_BYTES];

    (void)state;
    fill(&line, 0, (const double[]){0, 0, 0, 0, 7, 7, 7, 7}, 8);
    fill(&line, 1, (const double[]){0, 0, 7, 7}, 4);
    fill(&line, 2, (const double[]){0, 7}, 2);
    assert_int_equal(zeta_sparkline_draw(&line, 8, text), 8);
    assert_int_equal(zeta_sparkline_draw(&line, 7, text), 4);
    assert_string_equal(text, "▁▁██");
    assert_int_equal(zeta_sparkline_draw(&line, 3, text), 2);
    assert_string_equal(text, "▁█");
}

static void draw__all_zero__is_flat(void **state)
{
    struct zeta_sparkline line = {0};
    char text[ZETA_SPARKLINE_TEXT_BYTES];

    (void)state;
    fill(&line, 0, (const double[]){0, 0}, 2);
    (void)zeta_sparkline_draw(&line, 20, text);
    assert_string_equal(text, "▁▁");
}

static void draw__no_value__is_blank(void **state)
{
    struct zeta_sparkline line = {0};
    char text[ZETA_SPARKLINE_TEXT_BYTES];

    (void)state;
    fill(&line, 0, (const double[]){5, NAN, 5}, 3);
    (void)zeta_sparkline_draw(&line, 20, text);
    assert_string_equal(text, "█ █");
}

SUITE(sparkline)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(draw__nothing__is_empty),
        cmocka_unit_test(draw__ramp__uses_every_block),
        cmocka_unit_test(draw__fewer_columns_than_values__takes_the_level_that_fits),
        cmocka_unit_test(draw__all_zero__is_flat),
        cmocka_unit_test(draw__no_value__is_blank),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
