#include <zeta/kernel_print.h>

#include <stdio.h>
#include <string.h>

#include <zeta/c_locale.h>

enum { SPEC_BYTES = 32 };

struct printer {
    const struct zeta_print_source *source;
    struct zeta_print_text *text;
    uint64_t next; /* slot */
    uint64_t bad_address;
    char format[ZETA_PRINT_FORMAT_BYTES + 1];
};

static bool read_memory(struct printer *printer, uint64_t address, void *out, size_t size)
{
    if (printer->source->read(printer->source->user, address, out, size))
        return true;
    printer->bad_address = address;
    return false;
}

/* A terminated string of at most that length. */
static bool read_string(struct printer *printer, uint64_t address, size_t limit, char *out)
{
    size_t length = 0;

    for (; length < limit; length++) {
        if (!read_memory(printer, address + length, &out[length], 1))
            return false;
        if (out[length] == '\0')
            return true;
    }
    out[length] = '\0';
    return true;
}

/* The next slot; none once they are used up. */
static bool read_slot(struct printer *printer, uint64_t *out, bool *out_is_there)
{
    const uint64_t index = printer->next;

    *out = 0;
    *out_is_there = index < printer->source->slot_count;
    if (!*out_is_there)
        return true;
    printer->next++;
    return read_memory(printer, printer->source->slots + index * sizeof(*out), out, sizeof(*out));
}

static void put(struct printer *printer, const char *text, size_t length)
{
    struct zeta_print_text *out = printer->text;
    const size_t room = sizeof(out->bytes) - out->size_bytes;

    if (length > room)
        length = room;
    memcpy(out->bytes + out->size_bytes, text, length);
    out->size_bytes += length;
}

/* Widths and precisions that are arguments. */
static bool read_widths(struct printer *printer, struct zeta_print_conversion *conversion)
{
    bool is_there;
    uint64_t slot;

    if (conversion->has_width_slot) {
        if (!read_slot(printer, &slot, &is_there))
            return false;
        conversion->width = zeta_print_width(slot);
    }
    if (conversion->has_precision_slot) {
        if (!read_slot(printer, &slot, &is_there))
            return false;
        conversion->precision = zeta_print_width(slot);
    }
    return true;
}

/* A format for the host's printf, with the given length. */
static void make_spec(const struct zeta_print_conversion *conversion, const char *length,
                      char spec[SPEC_BYTES])
{
    (void)snprintf(spec, SPEC_BYTES, "%%%s*%s%s%c", conversion->flags,
                   conversion->precision >= 0 ? ".*" : "", length, conversion->letter);
}

/* The formats below are made by make_spec from checked parts. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"

#define FORMAT(printer, conversion, spec, value)                                                   \
    do {                                                                                           \
        char text_[2 * ZETA_PRINT_MOST_WIDTH + 512];                                               \
        int length_ =                                                                              \
            (conversion)->precision >= 0                                                           \
                ? zeta_c_snprintf(text_, sizeof(text_), spec, (conversion)->width,                 \
                                  (conversion)->precision, value)                                  \
                : zeta_c_snprintf(text_, sizeof(text_), spec, (conversion)->width, value);         \
        if (length_ > 0)                                                                           \
            put(printer, text_,                                                                    \
                (size_t)length_ < sizeof(text_) ? (size_t)length_ : sizeof(text_) - 1);            \
    } while (0)

static void print_integer(struct printer *printer, const struct zeta_print_conversion *conversion,
                          uint64_t slot)
{
    const bool is_signed = conversion->letter == 'd' || conversion->letter == 'i';
    char spec[SPEC_BYTES];

    if (conversion->length == 'H')
        slot = is_signed ? (uint64_t)(int64_t)(int8_t)slot : (uint8_t)slot;
    else if (conversion->length == 'h')
        slot = is_signed ? (uint64_t)(int64_t)(int16_t)slot : (uint16_t)slot;
    else if (conversion->length == 0)
        slot = is_signed ? (uint64_t)(int64_t)(int32_t)slot : (uint32_t)slot;
    make_spec(conversion, "ll", spec);
    if (is_signed)
        FORMAT(printer, conversion, spec, (long long)slot);
    else
        FORMAT(printer, conversion, spec, (unsigned long long)slot);
}

/* False when it cannot be read. */
static bool print_string(struct printer *printer, const struct zeta_print_conversion *conversion,
                         uint64_t address)
{
    char text[ZETA_PRINT_STRING_BYTES + 1];
    char spec[SPEC_BYTES];

    if (!read_string(printer, address, zeta_print_string_limit(conversion), text))
        return false;
    make_spec(conversion, "", spec);
    if (conversion->width != 0)
        FORMAT(printer, conversion, spec, text);
    else
        put(printer, text, strlen(text));
    return true;
}

/* Prints a slot; false when a string cannot be read. */
static bool print_value(struct printer *printer, const struct zeta_print_conversion *conversion,
                        uint64_t slot)
{
    char spec[SPEC_BYTES];
    double real;

    if (zeta_print_is_one_of(conversion->letter, "diuoxX")) {
        print_integer(printer, conversion, slot);
        return true;
    }
    if (conversion->letter == 's')
        return print_string(printer, conversion, slot);
    make_spec(conversion, "", spec);
    if (conversion->letter == 'p') {
        FORMAT(printer, conversion, spec, (void *)(uintptr_t)slot);
    } else if (conversion->letter == 'c') {
        FORMAT(printer, conversion, spec, (int)(unsigned char)slot);
    } else {
        memcpy(&real, &slot, sizeof(real));
        FORMAT(printer, conversion, spec, real);
    }
    return true;
}

#pragma GCC diagnostic pop

/* Components of a vector have a slot each and are printed with commas between them. */
static bool print_conversion(struct printer *printer,
                             const struct zeta_print_conversion *conversion)
{
    bool is_there;
    uint64_t slot;

    for (unsigned i = 0; i < conversion->components; i++) {
        if (i > 0)
            put(printer, ",", 1);
        if (!read_slot(printer, &slot, &is_there))
            return false;
        if (!is_there)
            put(printer, "%?", 2);
        else if (!print_value(printer, conversion, slot))
            return false;
    }
    return true;
}

bool zeta_print_format(const struct zeta_print_source *source, struct zeta_print_text *out_text,
                       uint64_t *out_bad_address)
{
    struct zeta_print_conversion conversion;
    struct printer printer; /* the format is large, and not all of it is written */
    const char *at = printer.format;
    bool is_good;

    printer.source = source;
    printer.text = out_text;
    printer.next = 0;
    out_text->size_bytes = 0;
    is_good = read_string(&printer, source->format, ZETA_PRINT_FORMAT_BYTES, printer.format);
    while (is_good && *at != '\0') {
        const size_t plain = strcspn(at, "%");

        put(&printer, at, plain);
        at += plain;
        if (*at == '\0')
            break;
        at = zeta_print_read_conversion(at + 1, &conversion);
        is_good = read_widths(&printer, &conversion);
        if (is_good && zeta_print_takes_values(&conversion))
            is_good = print_conversion(&printer, &conversion);
        else if (conversion.letter == '%')
            put(&printer, "%", 1);
        else
            /* Nothing that could be printed; %n among them, as kernels do not write that way. */
            put(&printer, "%?", 2);
    }
    if (!is_good)
        *out_bad_address = printer.bad_address;
    return is_good;
}

/* ---- records ---- */

/* Addresses are places in the record. */
struct record {
    const char *bytes;
    size_t size;
};

static bool read_record(const void *user, uint64_t address, void *out, size_t size)
{
    const struct record *record = user;

    if (address > record->size || size > record->size - address)
        return false;
    memcpy(out, record->bytes + address, size);
    return true;
}

bool zeta_print_records(const void *records, size_t size_bytes,
                        void (*write)(void *user, const char *text, size_t size_bytes), void *user,
                        size_t *out_bad_byte)
{
    struct zeta_print_record head;
    struct zeta_print_text text;
    uint64_t bad_address;

    for (size_t at = 0; size_bytes - at >= sizeof(head); at += head.size_bytes) {
        struct record record = {(const char *)records + at, size_bytes - at};
        struct zeta_print_source source = {.read = read_record, .user = &record};

        memcpy(&head, record.bytes, sizeof(head));
        if (head.size_bytes == 0)
            return true;
        *out_bad_byte = at;
        source.slots = sizeof(head);
        source.slot_count = head.slot_count;
        source.format = sizeof(head) + head.slot_count * sizeof(uint64_t);
        if (head.size_bytes < sizeof(head) || head.size_bytes % 8 != 0 ||
            head.size_bytes > record.size)
            return false;
        record.size = head.size_bytes;
        if (!zeta_print_format(&source, &text, &bad_address))
            return false;
        write(user, text.bytes, text.size_bytes);
    }
    return true;
}
