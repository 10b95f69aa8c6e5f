#include "sdk/tools/zeta/recording/text.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <zeta/c_locale.h>

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

void zeta_report_clean(char *text, size_t size)
{
    for (size_t at = 0; at < size;) {
        const size_t bytes = character((const unsigned char *)text + at, size - at);

        if (bytes == 0)
            text[at] = '?';
        at += bytes > 0 ? bytes : 1;
    }
}

void zeta_report_csv_text(FILE *file, const char *text)
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

void zeta_report_json_text(FILE *file, const char *text)
{
    (void)fputc('"', file);
    for (; *text; text++) {
        const unsigned char byte = (unsigned char)*text;

        if (byte < 0x20 || strchr("\"\\<>&'", *text))
            (void)fprintf(file, "\\u%04x", byte);
        else
            (void)fputc(*text, file);
    }
    (void)fputc('"', file);
}

void zeta_report_json_number(FILE *file, double value)
{
    if (isfinite(value))
        (void)zeta_c_fprintf(file, "%.6g", value);
    else
        (void)fputs("null", file);
}

void zeta_report_json_exact(FILE *file, struct zeta_number number)
{
    char text[ZETA_NUMBER_TEXT_BYTES];

    zeta_number_format_exact(number, text);
    (void)fputs(text[0] && isfinite(zeta_number_as_double(number)) ? text : "null", file);
}
