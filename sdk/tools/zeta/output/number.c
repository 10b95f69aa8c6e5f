#include "sdk/tools/zeta/output/number.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
