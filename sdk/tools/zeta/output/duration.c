#include "sdk/tools/zeta/output/duration.h"

#include <ctype.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zeta/c_locale.h>

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
