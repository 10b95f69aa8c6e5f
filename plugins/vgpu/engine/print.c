/*
 * printf of kernels. The variable arguments of an RV64 function lie in 8-byte slots, one each,
 * and float is promoted to double; components of vectors have a slot each too. So the host formats
 * conversion by conversion from the slots, and never trusts a pointer or a length that the kernel
 * gave.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zeta/c_locale.h>

#include "engine_priv.h"

enum {
    MAX_TEXT_BYTES = 16384,  /* of one printf; the rest is cut off */
    MAX_STRING_BYTES = 4096, /* of a %s */
    MAX_WIDTH = 1024,
    SPEC_BYTES = 32
};

struct printer {
    const struct zeta_rv64_memory *memory;
    uint64_t format;
    uint64_t slots;
    uint64_t bad_address;
    size_t used;
    char text[MAX_TEXT_BYTES];
};

/* One conversion, such as %-8.3lf or %v4hlf. */
struct conversion {
    char flags[8];
    int width;
    int precision;       /* -1: none */
    unsigned components; /* of a vector, 1 for others */
    char length;         /* 'H' for hh, 'h', 'l', or 0 for int, also of hl */
    char letter;
};

static bool read_char(struct printer *printer, char *out)
{
    const char *host = zeta_rv64_memory_peek(printer->memory, printer->format, 1);

    if (!host) {
        printer->bad_address = printer->format;
        return false;
    }
    printer->format++;
    *out = *host;
    return true;
}

static bool read_slot(struct printer *printer, uint64_t *out)
{
    const void *host = zeta_rv64_memory_peek(printer->memory, printer->slots, sizeof(*out));

    if (!host) {
        printer->bad_address = printer->slots;
        return false;
    }
    memcpy(out, host, sizeof(*out));
    printer->slots += sizeof(*out);
    return true;
}

static void put(struct printer *printer, const char *text, size_t length)
{
    size_t room = sizeof(printer->text) - printer->used;

    if (length > room)
        length = room;
    memcpy(printer->text + printer->used, text, length);
    printer->used += length;
}

/* A number or an asterisk; @c is the first character and becomes the one behind. */
static bool read_number(struct printer *printer, char *c, int *out)
{
    uint64_t slot;

    *out = 0;
    if (*c == '*') {
        if (!read_slot(printer, &slot))
            return false;
        *out = (int32_t)slot < -MAX_WIDTH  ? -MAX_WIDTH
               : (int32_t)slot > MAX_WIDTH ? MAX_WIDTH
                                           : (int32_t)slot;
        return read_char(printer, c);
    }
    while (isdigit((unsigned char)*c)) {
        *out = *out * 10 + (*c - '0');
        if (*out > MAX_WIDTH)
            *out = MAX_WIDTH;
        if (!read_char(printer, c))
            return false;
    }
    return true;
}

/* The number behind a v; 0 when no vector has that many components. */
static bool read_components(struct printer *printer, char *c, unsigned *out)
{
    int count;

    *out = 0;
    if (*c == '*')
        return true;
    if (!read_number(printer, c, &count))
        return false;
    *out =
        count == 2 || count == 3 || count == 4 || count == 8 || count == 16 ? (unsigned)count : 0;
    return true;
}

/* What follows the percent sign. */
static bool read_conversion(struct printer *printer, struct conversion *out)
{
    size_t flags = 0;
    char c;

    memset(out, 0, sizeof(*out));
    out->precision = -1;
    out->components = 1;
    if (!read_char(printer, &c))
        return false;
    while (c != '\0' && strchr("-+ #0", c)) {
        if (flags < 5 && !strchr(out->flags, c))
            out->flags[flags++] = c;
        if (!read_char(printer, &c))
            return false;
    }
    if (!read_number(printer, &c, &out->width))
        return false;
    if (c == '.' && (!read_char(printer, &c) || !read_number(printer, &c, &out->precision)))
        return false;
    if (c == 'v' && (!read_char(printer, &c) || !read_components(printer, &c, &out->components)))
        return false;
    while (c != '\0' && strchr("hlLqjzt", c)) {
        if (c == 'h')
            out->length = out->length == 'h' ? 'H' : 'h';
        else
            out->length = out->length == 'h' ? 0 : 'l';
        if (!read_char(printer, &c))
            return false;
    }
    out->letter = c;
    return true;
}

/* A format for the host's printf, with the given length and letter. */
static void make_spec(const struct conversion *conversion, const char *type, char spec[SPEC_BYTES])
{
    (void)snprintf(spec, SPEC_BYTES, "%%%s*%s%s", conversion->flags,
                   conversion->precision >= 0 ? ".*" : "", type);
}

/* The formats below are made by make_spec from checked parts. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"

#define FORMAT(printer, conversion, spec, value)                                                   \
    do {                                                                                           \
        char text_[2 * MAX_WIDTH + 512];                                                           \
        int length_ =                                                                              \
            (conversion)->precision >= 0                                                           \
                ? zeta_c_snprintf(text_, sizeof(text_), spec, (conversion)->width,                 \
                                  (conversion)->precision, value)                                  \
                : zeta_c_snprintf(text_, sizeof(text_), spec, (conversion)->width, value);         \
        if (length_ > 0)                                                                           \
            put(printer, text_,                                                                    \
                (size_t)length_ < sizeof(text_) ? (size_t)length_ : sizeof(text_) - 1);            \
    } while (0)

static void print_integer(struct printer *printer, const struct conversion *conversion,
                          uint64_t value)
{
    bool is_signed = conversion->letter == 'd' || conversion->letter == 'i';
    char type[4] = {'l', 'l', conversion->letter, '\0'};
    char spec[SPEC_BYTES];

    if (conversion->length == 'H')
        value = is_signed ? (uint64_t)(int64_t)(int8_t)value : (uint8_t)value;
    else if (conversion->length == 'h')
        value = is_signed ? (uint64_t)(int64_t)(int16_t)value : (uint16_t)value;
    else if (conversion->length == 0)
        value = is_signed ? (uint64_t)(int64_t)(int32_t)value : (uint32_t)value;
    make_spec(conversion, type, spec);
    if (is_signed)
        FORMAT(printer, conversion, spec, (long long)value);
    else
        FORMAT(printer, conversion, spec, (unsigned long long)value);
}

static void print_double(struct printer *printer, const struct conversion *conversion,
                         uint64_t slot)
{
    char type[2] = {conversion->letter, '\0'};
    char spec[SPEC_BYTES];
    double value;

    memcpy(&value, &slot, sizeof(value));
    make_spec(conversion, type, spec);
    FORMAT(printer, conversion, spec, value);
}

static bool print_string(struct printer *printer, const struct conversion *conversion,
                         uint64_t address)
{
    char text[MAX_STRING_BYTES + 1];
    char spec[SPEC_BYTES];
    size_t limit = conversion->precision >= 0 ? (size_t)conversion->precision : MAX_STRING_BYTES;
    size_t length = 0;

    while (length < limit) {
        const char *host = zeta_rv64_memory_peek(printer->memory, address + length, 1);

        if (!host) {
            printer->bad_address = address + length;
            return false;
        }
        if (*host == '\0')
            break;
        text[length++] = *host;
    }
    text[length] = '\0';
    make_spec(conversion, "s", spec);
    if (conversion->width > 0 || conversion->width < 0)
        FORMAT(printer, conversion, spec, text);
    else
        put(printer, text, length);
    return true;
}

static void print_other(struct printer *printer, const struct conversion *conversion, uint64_t slot)
{
    char spec[SPEC_BYTES];

    if (conversion->letter == 'p') {
        make_spec(conversion, "p", spec);
        FORMAT(printer, conversion, spec, (void *)(uintptr_t)slot);
    } else {
        make_spec(conversion, "c", spec);
        FORMAT(printer, conversion, spec, (int)(unsigned char)slot);
    }
}

#pragma GCC diagnostic pop

static bool print_value(struct printer *printer, const struct conversion *conversion)
{
    uint64_t slot;

    if (!read_slot(printer, &slot))
        return false;
    if (strchr("diuoxX", conversion->letter))
        print_integer(printer, conversion, slot);
    else if (conversion->letter == 's')
        return print_string(printer, conversion, slot);
    else if (conversion->letter == 'p' || conversion->letter == 'c')
        print_other(printer, conversion, slot);
    else
        print_double(printer, conversion, slot);
    return true;
}

/* Components of a vector have a slot each and are printed with commas between them. */
static bool print_conversion(struct printer *printer)
{
    struct conversion conversion;

    if (!read_conversion(printer, &conversion))
        return false;
    if (conversion.letter == '%') {
        put(printer, "%", 1);
        return true;
    }
    if (conversion.letter == '\0' || conversion.components == 0 ||
        !strchr(conversion.components > 1 ? "diuoxXfFeEgGaA" : "diuoxXfFeEgGaAspc",
                conversion.letter)) {
        /* Nothing that could be printed; %n among them, as kernels do not write that way. */
        put(printer, "%?", 2);
        return true;
    }
    for (unsigned i = 0; i < conversion.components; i++) {
        if (i > 0)
            put(printer, ",", 1);
        if (!print_value(printer, &conversion))
            return false;
    }
    return true;
}

static bool print_all(struct printer *printer)
{
    for (;;) {
        char c;

        if (!read_char(printer, &c))
            return false;
        if (c == '\0')
            return true;
        if (c != '%')
            put(printer, &c, 1);
        else if (!print_conversion(printer))
            return false;
    }
}

bool zeta_vgpu_print(struct subslice *subslice, uint64_t format, uint64_t slots,
                     uint64_t *out_length, uint64_t *out_address)
{
    struct zeta_vgpu_engine *engine = subslice->engine;
    const struct zeta_vgpu_callbacks *callbacks = &engine->config.callbacks;
    struct printer printer;
    bool fine;

    printer.memory = &subslice->memory;
    printer.format = format;
    printer.slots = slots;
    printer.used = 0;
    fine = print_all(&printer);
    if (!fine) {
        *out_address = printer.bad_address;
        return false;
    }
    *out_length = printer.used;
    if (callbacks->print) {
        pthread_mutex_lock(&engine->print_lock);
        callbacks->print(callbacks->user, printer.text, printer.used);
        pthread_mutex_unlock(&engine->print_lock);
    }
    return true;
}
