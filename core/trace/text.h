/*
 * JSON text in a buffer of fixed size, without allocation and without locale.
 *
 * What does not fit is left out and remembered, so that a writer checks once: take a mark, add one
 * member, and go back to the mark if the text was cut.
 */
#ifndef ZETA_CORE_TRACE_TEXT_H
#define ZETA_CORE_TRACE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/** Initialise with {.data = buffer, .size_bytes = sizeof(buffer)}. No terminator is kept. */
struct zeta_trace_text {
    char *data;
    uint32_t size_bytes;
    uint32_t used_bytes;
    bool is_cut; /**< something did not fit */
};

/** Adds bytes as they are. */
static inline void zeta_trace_text_add(struct zeta_trace_text *text, const char *bytes,
                                       size_t count)
{
    if (text->is_cut || count > text->size_bytes - text->used_bytes) {
        text->is_cut = true;
        return;
    }
    memcpy(text->data + text->used_bytes, bytes, count);
    text->used_bytes += (uint32_t)count;
}

/** Adds a string as it is. */
static inline void zeta_trace_text_put(struct zeta_trace_text *text, const char *string)
{
    zeta_trace_text_add(text, string, strlen(string));
}

/** Adds a comma unless an object has just been opened. */
static inline void zeta_trace_text_comma(struct zeta_trace_text *text)
{
    if (text->used_bytes > 0 && text->data[text->used_bytes - 1] != '{')
        zeta_trace_text_put(text, ",");
}

/**
 * If the text was cut, adds a member for that, for which the caller has made room; more can be
 * added then.
 */
void zeta_trace_text_end_cut(struct zeta_trace_text *text);

/** Adds a decimal number. */
void zeta_trace_text_unsigned(struct zeta_trace_text *text, uint64_t value);
void zeta_trace_text_signed(struct zeta_trace_text *text, int64_t value);

/** Adds a number; one that a double cannot hold as it is becomes a string, "UINT64_MAX" too. */
void zeta_trace_text_number(struct zeta_trace_text *text, uint64_t value);

/** Adds a number, or a string when it is none. */
void zeta_trace_text_float(struct zeta_trace_text *text, double value);

/** Adds 0x..., also for 0: without quotes, and as a string. */
void zeta_trace_text_hexadecimal(struct zeta_trace_text *text, uint64_t value);
void zeta_trace_text_bits(struct zeta_trace_text *text, uint64_t value);

/** Adds "0x..." as a string, null for 0. */
void zeta_trace_text_address(struct zeta_trace_text *text, uint64_t value);

/** Adds the start of a string with quotes; bytes that JSON or UTF-8 forbids are escaped. */
void zeta_trace_text_string(struct zeta_trace_text *text, const char *bytes, size_t count);

/** Adds bytes as a string of hexadecimal digits. */
void zeta_trace_text_hex(struct zeta_trace_text *text, const uint8_t *bytes, size_t count);

/** Adds nanoseconds as microseconds with three decimals: the unit of Chrome's format. */
void zeta_trace_text_time(struct zeta_trace_text *text, uint64_t ns);

#endif
