#include "sdk/tools/zeta/output/text.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <langinfo.h>
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <zeta/c_locale.h>

enum { SHORT_WIDTH = 7 };

struct zeta_number zeta_number_none(void)
{
    return (struct zeta_number){.kind = ZETA_NUMBER_NONE};
}

struct zeta_number zeta_number_u64(uint64_t value)
{
    return (struct zeta_number){.kind = ZETA_NUMBER_U64, .u64 = value};
}

struct zeta_number zeta_number_f64(double value)
{
    if (isnan(value))
        return zeta_number_none();
    return (struct zeta_number){.kind = ZETA_NUMBER_F64, .f64 = value};
}

struct zeta_number zeta_number_from_value(const zet_typed_value_t *value)
{
    switch ((int)value->type) {
    case ZET_VALUE_TYPE_UINT64:
        return zeta_number_u64(value->value.ui64);
    case ZET_VALUE_TYPE_FLOAT32:
        return zeta_number_f64(value->value.fp32);
    case ZET_VALUE_TYPE_FLOAT64:
        return zeta_number_f64(value->value.fp64);
    case ZET_VALUE_TYPE_BOOL8:
        return zeta_number_u64(value->value.b8 != 0);
    case ZET_VALUE_TYPE_UINT32:
        return zeta_number_u64(value->value.ui32);
    case ZET_VALUE_TYPE_UINT16:
        return zeta_number_u64(value->value.ui32 & 0xffff);
    case ZET_VALUE_TYPE_UINT8:
        return zeta_number_u64(value->value.ui32 & 0xff);
    default:
        return zeta_number_none();
    }
}

struct zeta_number zeta_number_from_row(const struct zeta_metric_row *row, uint32_t metric)
{
    return row->has_value[metric] ? zeta_number_from_value(&row->values[metric])
                                  : zeta_number_none();
}

double zeta_number_as_double(struct zeta_number number)
{
    switch (number.kind) {
    case ZETA_NUMBER_U64:
        return (double)number.u64;
    case ZETA_NUMBER_F64:
        return number.f64;
    default:
        return 0.0;
    }
}

void zeta_number_format(struct zeta_number number, unsigned width, char *out_text)
{
    int length = 0;
    int digits = 0;

    switch (number.kind) {
    case ZETA_NUMBER_U64:
        length = snprintf(out_text, ZETA_NUMBER_TEXT_BYTES, "%" PRIu64, number.u64);
        break;
    case ZETA_NUMBER_F64:
        /* %f of a huge value would not fit in the text at all. */
        if (fabs(number.f64) >= 1e15)
            length = ZETA_NUMBER_TEXT_BYTES;
        else if (number.f64 != 0.0 && fabs(number.f64) < 0.01)
            length = zeta_c_snprintf(out_text, ZETA_NUMBER_TEXT_BYTES, "%.2g", number.f64);
        else
            length = zeta_c_snprintf(out_text, ZETA_NUMBER_TEXT_BYTES, "%.2f", number.f64);
        break;
    default:
        length = snprintf(out_text, ZETA_NUMBER_TEXT_BYTES, "n/a");
        break;
    }
    if (length <= (int)width)
        return;
    /* A sign is rare and an exponent has four characters, five above 1e99. */
    digits = width < 22 ? (int)width - 6 : 16;
    (void)zeta_c_snprintf(out_text, ZETA_NUMBER_TEXT_BYTES, "%.*g", digits,
                          zeta_number_as_double(number));
}

void zeta_number_format_short(struct zeta_number number, char *out_text)
{
    static const char letters[] = "kMGTPE";
    double value = zeta_number_as_double(number);
    size_t letter = 0;

    zeta_number_format(number, ZETA_NUMBER_TEXT_BYTES - 1, out_text);
    if (strlen(out_text) <= SHORT_WIDTH)
        return;
    value /= 1000.0;
    /* 999.95 would be rounded to 1000.0, one digit too many. */
    while (fabs(value) >= 999.95 && letters[letter + 1]) {
        value /= 1000.0;
        letter++;
    }
    (void)zeta_c_snprintf(out_text, ZETA_NUMBER_TEXT_BYTES, "%.*f%c",
                          fabs(value) < 10.0 ? 3 : (fabs(value) < 100.0 ? 2 : 1), value,
                          letters[letter]);
    if (strlen(out_text) > SHORT_WIDTH)
        (void)zeta_c_snprintf(out_text, ZETA_NUMBER_TEXT_BYTES, "%.0e",
                              zeta_number_as_double(number));
}

void zeta_number_format_exact(struct zeta_number number, char *out_text)
{
    out_text[0] = '\0';
    if (number.kind == ZETA_NUMBER_U64)
        (void)snprintf(out_text, ZETA_NUMBER_TEXT_BYTES, "%" PRIu64, number.u64);
    else if (number.kind == ZETA_NUMBER_F64)
        (void)zeta_c_snprintf(out_text, ZETA_NUMBER_TEXT_BYTES, "%.17g", number.f64);
}

/* ---- times ------------------------------------------------------------------------------ */

struct unit {
    const char *name;
    double ns;
};

/* Largest first, so that the first one that fits is the one to print. Minutes are only read. */
static const struct unit units[] = {
    {"min", 60e9}, {"s", 1e9}, {"ms", 1e6}, {"us", 1e3}, {"ns", 1.0},
};

bool zeta_duration_parse(const char *text, uint64_t *out_ns)
{
    char *end = NULL;
    double number = 0.0;

    /* strtod also takes signs, blanks, "inf", "nan" and hexadecimal numbers. */
    if (!isdigit((unsigned char)text[0]) || strpbrk(text, "xX"))
        return false;
    errno = 0;
    number = zeta_c_strtod(text, &end);
    if (errno || end == text)
        return false;
    while (*end == ' ')
        end++;
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        const double duration_ns = number * units[i].ns + 0.5;

        if (strcmp(end, units[i].name) != 0)
            continue;
        if (duration_ns < 1.0 || duration_ns >= 18e18)
            return false;
        *out_ns = (uint64_t)duration_ns;
        return true;
    }
    return false;
}

void zeta_duration_format(uint64_t duration_ns, char *out_text)
{
    const struct unit *unit = &units[1];
    char number[ZETA_DURATION_TEXT_BYTES];
    size_t length = 0;

    while (unit->ns > 1.0 && (double)duration_ns < unit->ns)
        unit++;
    (void)zeta_c_snprintf(number, sizeof(number), "%.3f", (double)duration_ns / unit->ns);
    length = strlen(number);
    while (number[length - 1] == '0')
        length--;
    if (number[length - 1] == '.')
        length--;
    (void)snprintf(out_text, ZETA_DURATION_TEXT_BYTES, "%.*s %s", (int)length, number, unit->name);
}

enum { DEFAULT_COLUMNS = 80 };

unsigned zeta_terminal_columns(FILE *stream)
{
    struct winsize size = {0};
    const int fd = fileno(stream);

    if (isatty(fd) != 1)
        return 0;
    if (ioctl(fd, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
        return DEFAULT_COLUMNS;
    return size.ws_col;
}

bool zeta_terminal_has_utf8(void)
{
    return strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

void zeta_terminal_write_folded(FILE *stream, const char *text, unsigned indent, unsigned columns)
{
    size_t used = 0;

    while (*text) {
        const size_t length = strcspn(text, " \n");

        if (used > 0 && columns > 0 && used + 1 + length > columns) {
            (void)fputc('\n', stream);
            used = 0;
        }
        if (used == 0) {
            (void)fprintf(stream, "%*s", (int)indent, "");
            used = indent;
        } else {
            (void)fputc(' ', stream);
            used++;
        }
        (void)fprintf(stream, "%.*s", (int)length, text);
        used += length;
        text += length;
        text += strspn(text, " \n");
    }
    (void)fputc('\n', stream);
}

/* Bytes of the character at the start of a text; 0 if it is none, or is a control character. */
static size_t character(const unsigned char *text, size_t size)
{
    static const struct {
        unsigned char mask, head;
        uint32_t least; /* shorter forms are not allowed */
    } forms[] = {{0xe0, 0xc0, 0xa0}, {0xf0, 0xe0, 0x800}, {0xf8, 0xf0, 0x10000}};

    if (text[0] < 0x80)
        return text[0] >= 0x20 && text[0] != 0x7f;
    for (size_t f = 0; f < sizeof(forms) / sizeof(forms[0]); f++) {
        uint32_t code = text[0] & (unsigned)(~forms[f].mask & 0xff);
        size_t at = 1;

        if ((text[0] & forms[f].mask) != forms[f].head)
            continue;
        for (; at < f + 2 && at < size && (text[at] & 0xc0) == 0x80; at++)
            code = code << 6 | (text[at] & 0x3f);
        if (at < f + 2 || code < forms[f].least || code > 0x10ffff ||
            (code >= 0xd800 && code < 0xe000) || code == 0x2028 || code == 0x2029)
            return 0;
        return at;
    }
    return 0;
}

void zeta_text_clean(char *text, size_t size)
{
    for (size_t at = 0; at < size;) {
        const size_t bytes = character((const unsigned char *)text + at, size - at);

        if (bytes == 0)
            text[at] = '?';
        at += bytes > 0 ? bytes : 1;
    }
}

void zeta_text_write_csv(FILE *file, const char *text)
{
    const bool is_formula = text[0] != '\0' && strchr("=+-@\t\r", text[0]);
    const bool is_quoted = strpbrk(text, ",\"\r\n") != NULL;

    if (is_quoted)
        (void)fputc('"', file);
    if (is_formula)
        (void)fputc('\'', file);
    for (; *text; text++) {
        if (*text == '"')
            (void)fputc('"', file);
        (void)fputc(*text, file);
    }
    if (is_quoted)
        (void)fputc('"', file);
}

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
