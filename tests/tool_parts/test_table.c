/*
 * Tables: widths, alignment, columns that nothing is in.
 */
#include "sdk/tools/zeta/output/text.h"
#include "tests/support/suite.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static const struct zeta_table_column columns[] = {
    {.title = "Name"},
    {.title = "Count", .gap = 2, .least = 6, .is_right = true},
    {.title = "Unit", .gap = 1},
};

/* What is printed of a table, which is freed. */
static void assert_printed(struct zeta_table *table, const char *expected)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *stream = open_memstream(&text, &bytes);

    zeta_table_finish(table, stream);
    assert_int_equal(fclose(stream), 0);
    assert_string_equal(text, expected);
    free(text);
}

static void table__cells__make_columns_as_wide_as_needed(void **state)
{
    struct zeta_table table = {.columns = columns, .column_count = 3};

    (void)state;
    zeta_table_set(&table, 0, 0, "%s", "reads");
    zeta_table_set(&table, 0, 1, "%d", 5);
    zeta_table_set(&table, 0, 2, "%s", "bytes");
    zeta_table_set(&table, 1, 0, "%s", "w");
    zeta_table_set(&table, 1, 1, "%.1f", 12345678.5);
    assert_int_equal(zeta_table_width(&table), 5 + 2 + 10 + 1 + 5);
    assert_printed(&table, "Name        Count Unit\n"
                           "reads           5 bytes\n"
                           "w      12345678.5\n");
}

static void table__column_without_cells__is_left_out(void **state)
{
    struct zeta_table table = {.columns = columns, .column_count = 3};

    (void)state;
    zeta_table_set(&table, 0, 0, "%s", "a");
    zeta_table_set(&table, 0, 2, "%s", "ns");
    assert_printed(&table, "Name Unit\na    ns\n");
}

static void table__no_rows__has_titles(void **state)
{
    struct zeta_table table = {.columns = columns, .column_count = 3};

    (void)state;
    assert_printed(&table, "Name   Count Unit\n");
}

static void table__many_rows_in_any_order__keep_their_cells(void **state)
{
    struct zeta_table table = {.columns = columns, .column_count = 1};

    (void)state;
    zeta_table_set(&table, 4, 0, "%s", "last");
    zeta_table_set(&table, 0, 0, "%s", "old");
    zeta_table_set(&table, 0, 0, "%s", "new");
    assert_printed(&table, "Name\nnew\n\n\n\nlast\n");
}

static void table__control_characters__do_not_reach_a_terminal(void **state)
{
    struct zeta_table table = {.columns = columns, .column_count = 1};

    (void)state;
    zeta_table_set(&table, 0, 0, "%s", "\x1b[31mred\n");
    assert_printed(&table, "Name\n?[31mred?\n");
}

SUITE(table)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(table__cells__make_columns_as_wide_as_needed),
        cmocka_unit_test(table__column_without_cells__is_left_out),
        cmocka_unit_test(table__no_rows__has_titles),
        cmocka_unit_test(table__many_rows_in_any_order__keep_their_cells),
        cmocka_unit_test(table__control_characters__do_not_reach_a_terminal),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
