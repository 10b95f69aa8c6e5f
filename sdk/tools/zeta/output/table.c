#include "sdk/tools/zeta/output/table.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <zeta/c_locale.h>

#include "sdk/tools/zeta/output/text.h"

/* Characters of a text, or bytes if it is none in the character set of the terminal. */
static int characters(const char *text)
{
    const size_t count = mbstowcs(NULL, text, 0);

    return (int)(count == (size_t)-1 ? strlen(text) : count);
}

/* At least that wide, with the title. */
static int least_width(const struct zeta_table_column *column)
{
    const int title = characters(column->title);

    return title > column->least ? title : column->least;
}

static const char *cell(const struct zeta_table *table, uint32_t row, uint32_t column)
{
    const char *text = table->cells[(size_t)row * table->column_count + column];

    return text ? text : "";
}

void zeta_table_set(struct zeta_table *table, uint32_t row, uint32_t column, const char *format,
                    ...)
{
    const size_t width = table->column_count;
    char *text = NULL;
    va_list arguments;
    int length;

    while (row >= table->row_count) {
        const size_t used = table->row_count * width;
        char **cells = table->row_count & (table->row_count - 1)
                           ? table->cells
                           : realloc(table->cells, (2 * used + width) * sizeof(*cells));

        if (!cells)
            return;
        table->cells = cells;
        memset(cells + used, 0, width * sizeof(*cells));
        table->row_count++;
    }
    va_start(arguments, format);
    length = zeta_c_vasprintf(&text, format, arguments);
    va_end(arguments);
    if (length < 0)
        return;
    zeta_text_clean(text, (size_t)length);
    free(table->cells[row * width + column]);
    table->cells[row * width + column] = text;
    if (table->widths[column] == 0)
        table->widths[column] = least_width(&table->columns[column]);
    length = characters(text);
    if (length > table->widths[column])
        table->widths[column] = length;
}

int zeta_table_width(const struct zeta_table *table)
{
    int width = 0;

    for (uint32_t i = 0; i < table->column_count; i++) {
        if (table->widths[i] > 0)
            width += table->columns[i].gap + table->widths[i];
    }
    return width;
}

/* row UINT32_MAX: the titles */
static void print_line(const struct zeta_table *table, uint32_t row, FILE *stream)
{
    int blanks = 0; /* that are due before the next character */

    for (uint32_t i = 0; i < table->column_count; i++) {
        const char *text = row == UINT32_MAX ? table->columns[i].title : cell(table, row, i);
        const int width = table->row_count ? table->widths[i] : least_width(&table->columns[i]);
        const int rest = width - characters(text);

        if (width == 0)
            continue;
        blanks += table->columns[i].gap + (table->columns[i].is_right ? rest : 0);
        if (*text) {
            (void)fprintf(stream, "%*s%s", blanks, "", text);
            blanks = 0;
        }
        blanks += table->columns[i].is_right ? 0 : rest;
    }
}

void zeta_table_print_head(const struct zeta_table *table, FILE *stream)
{
    print_line(table, UINT32_MAX, stream);
    (void)fputc('\n', stream);
}

void zeta_table_print_row(const struct zeta_table *table, uint32_t row, FILE *stream)
{
    print_line(table, row, stream);
    (void)fputc('\n', stream);
}

void zeta_table_finish(struct zeta_table *table, FILE *stream)
{
    zeta_table_print_head(table, stream);
    for (uint32_t row = 0; row < table->row_count; row++)
        zeta_table_print_row(table, row, stream);
    zeta_table_free(table);
}

void zeta_table_free(struct zeta_table *table)
{
    for (size_t i = 0; i < (size_t)table->row_count * table->column_count; i++)
        free(table->cells[i]);
    free(table->cells);
    *table = (struct zeta_table){.columns = table->columns, .column_count = table->column_count};
}
