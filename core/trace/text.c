#include "core/trace/text.h"

#include <math.h>
#include <stdio.h>

#include <zeta/c_locale.h>

static const char digits[] = "0123456789abcdef";

void zeta_trace_text_end_cut(struct zeta_trace_text *text)
{
    if (!text->is_cut)
        return;
    text->is_cut = false;
    zeta_trace_text_comma(text);
    zeta_trace_text_put(text, "\"...\":\"\"");
}

void zeta_trace_text_unsigned(struct zeta_trace_text *text, uint64_t value)
{
    char buffer[20];
    size_t at = sizeof(buffer);

    do {
        buffer[--at] = digits[value % 10];
        value /= 10;
    } while (value > 0);
    zeta_trace_text_add(text, buffer + at, sizeof(buffer) - at);
}

void zeta_trace_text_signed(struct zeta_trace_text *text, int64_t value)
{
    if (value < 0)
        zeta_trace_text_put(text, "-");
    zeta_trace_text_unsigned(text, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

void zeta_trace_text_number(struct zeta_trace_text *text, uint64_t value)
{
    const bool is_exact = value <= UINT64_C(1) << 53;

    if (value == UINT64_MAX) {
        zeta_trace_text_put(text, "\"UINT64_MAX\"");
        return;
    }
    zeta_trace_text_put(text, is_exact ? "" : "\"");
    zeta_trace_text_unsigned(text, value);
    zeta_trace_text_put(text, is_exact ? "" : "\"");
}

void zeta_trace_text_float(struct zeta_trace_text *text, double value)
{
    char buffer[48];
    int bytes;

    if (!isfinite(value)) {
        zeta_trace_text_put(text, isnan(value) ? "\"NaN\"" : value > 0 ? "\"inf\"" : "\"-inf\"");
        return;
    }
    bytes = zeta_c_snprintf(buffer, sizeof(buffer), "%.9g", value);
    zeta_trace_text_add(text, buffer, (size_t)bytes);
}

void zeta_trace_text_hexadecimal(struct zeta_trace_text *text, uint64_t value)
{
    char buffer[18];
    size_t at = sizeof(buffer);

    do {
        buffer[--at] = digits[value & 15];
        value >>= 4;
    } while (value > 0);
    buffer[--at] = 'x';
    buffer[--at] = '0';
    zeta_trace_text_add(text, buffer + at, sizeof(buffer) - at);
}

void zeta_trace_text_bits(struct zeta_trace_text *text, uint64_t value)
{
    zeta_trace_text_put(text, "\"");
    zeta_trace_text_hexadecimal(text, value);
    zeta_trace_text_put(text, "\"");
}

void zeta_trace_text_address(struct zeta_trace_text *text, uint64_t value)
{
    if (value == 0)
        zeta_trace_text_put(text, "null");
    else
        zeta_trace_text_bits(text, value);
}

/* Bytes of the well-formed UTF-8 character at the start; 0 if there is none. */
static size_t character_bytes(const uint8_t *at, size_t count)
{
    const uint8_t lead = at[0];
    size_t bytes = lead < 0x80 ? 1 : lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    uint8_t low = 0x80;
    uint8_t high = 0xbf;

    if (bytes == 0 || lead > 0xf4 || bytes > count)
        return 0;
    if (lead == 0xe0)
        low = 0xa0;
    else if (lead == 0xed)
        high = 0x9f;
    else if (lead == 0xf0)
        low = 0x90;
    else if (lead == 0xf4)
        high = 0x8f;
    for (size_t i = 1; i < bytes; i++) {
        if (at[i] < low || at[i] > high)
            return 0;
        low = 0x80;
        high = 0xbf;
    }
    return bytes;
}

void zeta_trace_text_string(struct zeta_trace_text *text, const char *bytes, size_t count)
{
    const uint8_t *at = (const uint8_t *)bytes;
    const uint8_t *end = at + count;

    zeta_trace_text_put(text, "\"");
    while (at < end) {
        const size_t length = character_bytes(at, (size_t)(end - at));

        if (length == 0 || *at < 0x20 || *at == 0x7f) {
            const char escape[6] = {'\\', 'u', '0', '0', digits[*at >> 4], digits[*at & 15]};

            zeta_trace_text_add(text, escape, sizeof(escape));
            at++;
            continue;
        }
        if (*at == '"' || *at == '\\')
            zeta_trace_text_put(text, "\\");
        zeta_trace_text_add(text, (const char *)at, length);
        at += length;
    }
    zeta_trace_text_put(text, "\"");
}

void zeta_trace_text_hex(struct zeta_trace_text *text, const uint8_t *bytes, size_t count)
{
    zeta_trace_text_put(text, "\"");
    for (size_t i = 0; i < count; i++) {
        const char pair[2] = {digits[bytes[i] >> 4], digits[bytes[i] & 15]};

        zeta_trace_text_add(text, pair, sizeof(pair));
    }
    zeta_trace_text_put(text, "\"");
}

void zeta_trace_text_time(struct zeta_trace_text *text, uint64_t ns)
{
    const char decimals[4] = {'.', digits[ns / 100 % 10], digits[ns / 10 % 10], digits[ns % 10]};

    zeta_trace_text_unsigned(text, ns / 1000);
    zeta_trace_text_add(text, decimals, sizeof(decimals));
}
