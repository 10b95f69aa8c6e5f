/*
 * printf of kernels, for backends: formats as OpenCL C has them, values in slots of 8 bytes, and
 * the records by which a device passes them to the host. Static helper (library zeta_kernel_print).
 *
 * A slot holds an integer extended, a real number of any width as double, or an address; vectors
 * have a slot for each component. The order of slots is that of the arguments.
 *
 * The first half is for devices too: it needs no library.
 */
#ifndef ZETA_KERNEL_PRINT_H
#define ZETA_KERNEL_PRINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Limits, in bytes: what is longer is cut off. Widths and precisions are at most the last one. */
enum {
    ZETA_PRINT_TEXT_BYTES = 16384, /**< the text of one call */
    ZETA_PRINT_FORMAT_BYTES = 16384,
    ZETA_PRINT_STRING_BYTES = 4096, /**< of a %s */
    ZETA_PRINT_MOST_WIDTH = 1024
};

/* ---- formats ---- */

/** One conversion, such as %-8.3lf or %v4hlf. */
struct zeta_print_conversion {
    char flags[8];
    int width;
    int precision;           /**< -1: none */
    bool has_width_slot;     /**< an asterisk: a slot before the values */
    bool has_precision_slot; /**< likewise, behind that of the width */
    unsigned components;     /**< of a vector, 1 for others; 0: no vector has that many */
    char length;             /**< 'H' for hh, 'h', 'l', or 0 for int, also of hl */
    char letter;
};

static inline bool zeta_print_is_one_of(char c, const char *list)
{
    while (*list != '\0' && *list != c)
        list++;
    return *list != '\0';
}

/** A width or precision out of a slot. */
static inline int zeta_print_width(uint64_t slot)
{
    const int32_t value = (int32_t)slot;

    return value < -ZETA_PRINT_MOST_WIDTH  ? -ZETA_PRINT_MOST_WIDTH
           : value > ZETA_PRINT_MOST_WIDTH ? ZETA_PRINT_MOST_WIDTH
                                           : value;
}

static inline const char *zeta_print_read_digits(const char *at, int *out)
{
    for (*out = 0; *at >= '0' && *at <= '9'; at++) {
        *out = *out * 10 + (*at - '0');
        if (*out > ZETA_PRINT_MOST_WIDTH)
            *out = ZETA_PRINT_MOST_WIDTH;
    }
    return at;
}

/** Reads what follows a percent sign; gives what is behind it. A letter of 0: the format ends. */
static inline const char *zeta_print_read_conversion(const char *at,
                                                     struct zeta_print_conversion *out)
{
    size_t flags = 0;
    int count = 0;

    for (size_t i = 0; i < sizeof(out->flags); i++)
        out->flags[i] = '\0';
    out->width = 0;
    out->precision = -1;
    out->has_precision_slot = false;
    out->components = 1;
    out->length = 0;
    for (; zeta_print_is_one_of(*at, "-+ #0"); at++) {
        if (flags < 5 && !zeta_print_is_one_of(*at, out->flags))
            out->flags[flags++] = *at;
    }
    out->has_width_slot = *at == '*';
    at = out->has_width_slot ? at + 1 : zeta_print_read_digits(at, &out->width);
    if (*at == '.') {
        out->has_precision_slot = *++at == '*';
        at = out->has_precision_slot ? at + 1 : zeta_print_read_digits(at, &out->precision);
    }
    if (*at == 'v') {
        at = zeta_print_read_digits(at + 1, &count);
        out->components = count == 2 || count == 3 || count == 4 || count == 8 || count == 16
                              ? (unsigned)count
                              : 0;
    }
    for (; zeta_print_is_one_of(*at, "hlLqjzt"); at++) {
        if (*at == 'h')
            out->length = out->length == 'h' ? 'H' : 'h';
        else
            out->length = out->length == 'h' ? 0 : 'l';
    }
    out->letter = *at;
    return *at != '\0' ? at + 1 : at;
}

/** Whether the conversion takes values. Others print "%?", or the percent sign of %%. */
static inline bool zeta_print_takes_values(const struct zeta_print_conversion *conversion)
{
    return conversion->components > 0 &&
           zeta_print_is_one_of(conversion->letter, conversion->components > 1
                                                        ? "diuoxXfFeEgGaA"
                                                        : "diuoxXfFeEgGaAspc");
}

/** How many characters of a string are printed at most. */
static inline size_t zeta_print_string_limit(const struct zeta_print_conversion *conversion)
{
    return conversion->precision >= 0 ? (size_t)conversion->precision
                                      : (size_t)ZETA_PRINT_STRING_BYTES;
}

/* ---- what a device writes ---- */

/**
 * The begin of a buffer; records follow. The host sets room_bytes and clears the rest before a
 * launch. A call of printf takes its place by adding to used_bytes. If that is beyond the room, the
 * call is lost and counted; when there is room for a head, that of an empty record says where the
 * records end.
 */
struct zeta_print_buffer {
    uint64_t room_bytes; /**< behind this head; a multiple of 8 */
    uint64_t used_bytes; /**< may be more than there is room for */
    uint64_t lost_count;
};

/**
 * A call of printf: this head, its slots, the format with a terminator, and the strings of %s, each
 * with a terminator. The slot of a string is its place in the record, in bytes from its begin.
 */
struct zeta_print_record {
    uint32_t size_bytes; /**< a multiple of 8; 0: no record follows */
    uint32_t slot_count;
};

/* ---- the host ---- */

/** Where a call of printf has its format, values and strings. */
struct zeta_print_source {
    /** Reads bytes; false if they cannot be read. */
    bool (*read)(const void *user, uint64_t address, void *out, size_t size_bytes);
    const void *user;
    uint64_t format, slots; /**< addresses, for read() */
    uint64_t slot_count;    /**< values that are not there print "%?"; UINT64_MAX: not known */
};

/** What is printed; not terminated. */
struct zeta_print_text {
    size_t size_bytes;
    char bytes[ZETA_PRINT_TEXT_BYTES];
};

/**
 * Formats one call. False if something cannot be read, with the address. Nothing that a kernel
 * wrote is trusted. Any thread.
 */
bool zeta_print_format(const struct zeta_print_source *source, struct zeta_print_text *out_text,
                       uint64_t *out_bad_address);

/**
 * Formats the records of a buffer in their order, and gives each text to @write. Any bytes.
 *
 * @size_bytes  of the records: those in use, and no more than there is room for
 * @return  false if a record makes no sense; those before it were written. out_bad_byte says where
 */
bool zeta_print_records(const void *records, size_t size_bytes,
                        void (*write)(void *user, const char *text, size_t size_bytes), void *user,
                        size_t *out_bad_byte);

#ifdef __cplusplus
}
#endif

#endif
