/*
 * Payloads of lines and of numbers.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "container_priv.h"

/** Makes room for more bytes and a terminator. */
static bool reserve(struct zeta_lines *lines, size_t more)
{
    size_t capacity = lines->capacity ? lines->capacity : 256;
    char *text;

    if (lines->no_memory)
        return false;
    while (capacity - lines->bytes <= more)
        capacity *= 2;
    if (capacity == lines->capacity)
        return true;
    text = realloc(lines->text, capacity);
    if (!text) {
        lines->no_memory = true;
        return false;
    }
    lines->text = text;
    lines->capacity = capacity;
    return true;
}

void zeta_lines_add(struct zeta_lines *lines, const char *key, const char *value)
{
    const size_t key_bytes = strlen(key);
    char *at;

    /* Each byte of the value may become two. */
    if (!reserve(lines, key_bytes + 2 * strlen(value) + 3))
        return;
    at = lines->text + lines->bytes;
    memcpy(at, key, key_bytes);
    at += key_bytes;
    *at++ = ':';
    *at++ = ' ';
    for (; *value; value++) {
        if (*value == '\n' || *value == '\r' || *value == '\\')
            *at++ = '\\';
        *at++ = (char)(*value == '\n' ? 'n' : *value == '\r' ? 'r' : *value);
    }
    *at++ = '\n';
    *at = '\0';
    lines->bytes = (size_t)(at - lines->text);
}

void zeta_lines_add_u64(struct zeta_lines *lines, const char *key, uint64_t value)
{
    char digits[24];

    (void)snprintf(digits, sizeof(digits), "%" PRIu64, value);
    zeta_lines_add(lines, key, digits);
}

void zeta_lines_finish(struct zeta_lines *lines)
{
    free(lines->text);
    *lines = (struct zeta_lines){0};
}

/** Undoes the escapes of a value, as far as there is room for it and a terminator. */
static void unescape(const char *text, size_t bytes, char *value, size_t value_bytes)
{
    size_t done = 0;

    for (size_t i = 0; i < bytes && done + 1 < value_bytes; i++) {
        char c = text[i];

        if (c == '\\' && i + 1 < bytes) {
            c = text[++i];
            c = (char)(c == 'n' ? '\n' : c == 'r' ? '\r' : c);
        }
        value[done++] = c;
    }
    if (value_bytes > 0)
        value[done] = '\0';
}

bool zeta_lines_find(const void *text, size_t bytes, const char *key, uint32_t index, char *value,
                     size_t value_bytes)
{
    const size_t key_bytes = strlen(key);
    const char *at = text;

    while (bytes > 0) {
        const char *end = memchr(at, '\n', bytes);
        const size_t line = end ? (size_t)(end - at) : bytes;
        const size_t step = end ? line + 1 : line;

        if (line >= key_bytes + 2 && memcmp(at, key, key_bytes) == 0 && at[key_bytes] == ':' &&
            at[key_bytes + 1] == ' ' && index-- == 0) {
            unescape(at + key_bytes + 2, line - key_bytes - 2, value, value_bytes);
            return true;
        }
        at += step;
        bytes -= step;
    }
    return false;
}

uint64_t zeta_lines_find_u64(const void *text, size_t bytes, const char *key, uint64_t fallback)
{
    char value[24];
    uint64_t number = 0;

    if (!zeta_lines_find(text, bytes, key, 0, value, sizeof(value)) || value[0] == '\0')
        return fallback;
    for (const char *at = value; *at; at++) {
        const unsigned digit = (unsigned)(*at - '0');

        if (digit > 9 || number > (UINT64_MAX - digit) / 10)
            return fallback;
        number = number * 10 + digit;
    }
    return number;
}

static void write_numbers(uint64_t a, uint64_t b, uint64_t c, unsigned char *out_payload)
{
    put_u64(out_payload, a);
    put_u64(out_payload + 8, b);
    put_u64(out_payload + 16, c);
}

void zeta_chunk_clock_write(const struct zeta_chunk_clock *clock, unsigned char *out_payload)
{
    write_numbers(clock->device_ticks, clock->host_ns, clock->error_ns, out_payload);
}

bool zeta_chunk_clock_read(const void *payload, size_t bytes, struct zeta_chunk_clock *out_clock)
{
    const unsigned char *at = payload;

    if (bytes < ZETA_CHUNK_NUMBERS_BYTES)
        return false;
    *out_clock = (struct zeta_chunk_clock){get_u64(at), get_u64(at + 8), get_u64(at + 16)};
    return true;
}

void zeta_chunk_cut_write(const struct zeta_chunk_cut *cut, unsigned char *out_payload)
{
    write_numbers(cut->chunks, cut->bytes, cut->times, out_payload);
}

bool zeta_chunk_cut_read(const void *payload, size_t bytes, struct zeta_chunk_cut *out_cut)
{
    const unsigned char *at = payload;

    if (bytes < ZETA_CHUNK_NUMBERS_BYTES)
        return false;
    *out_cut = (struct zeta_chunk_cut){get_u64(at), get_u64(at + 8), get_u64(at + 16)};
    return true;
}
