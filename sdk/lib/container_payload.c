/*
 * Payloads of lines and of numbers, and checksums.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if defined(__x86_64__)
#include <nmmintrin.h>
#endif

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

void zeta_chunk_name_write(const struct zeta_chunk_name *name, unsigned char *out_head)
{
    put_u64(out_head, name->id);
    put_u32(out_head + 8, name->bytes);
}

bool zeta_chunk_name_read(const void *payload, size_t bytes, size_t *at,
                          struct zeta_chunk_name *out_name)
{
    const unsigned char *head = (const unsigned char *)payload + *at;
    const size_t left = bytes - *at;

    if (left < ZETA_CHUNK_NAME_BYTES || get_u32(head + 8) > left - ZETA_CHUNK_NAME_BYTES)
        return false;
    *out_name = (struct zeta_chunk_name){get_u64(head), (const char *)head + ZETA_CHUNK_NAME_BYTES,
                                         get_u32(head + 8)};
    *at += ZETA_CHUNK_NAME_BYTES + out_name->bytes;
    return true;
}

/* ---- CRC-32C ---- */

/** The polynomial 0x1EDC6F41 with its bits in reverse order. */
#define POLYNOMIAL UINT32_C(0x82f63b78)
/** Bytes that are taken together. */
#define SLICES 8u

static uint32_t tables[SLICES][256];
static pthread_once_t tables_once = PTHREAD_ONCE_INIT;

/** tables[k][b]: what byte b does to the checksum when k bytes follow it. */
static void make_tables(void)
{
    for (uint32_t byte = 0; byte < 256; byte++) {
        uint32_t state = byte;

        for (int bit = 0; bit < 8; bit++)
            state = state >> 1 ^ (state & 1 ? POLYNOMIAL : 0);
        tables[0][byte] = state;
    }
    for (uint32_t slice = 1; slice < SLICES; slice++) {
        for (uint32_t byte = 0; byte < 256; byte++) {
            uint32_t before = tables[slice - 1][byte];

            tables[slice][byte] = before >> 8 ^ tables[0][before & 0xff];
        }
    }
}

uint32_t zeta_crc32c_tables(uint32_t state, const unsigned char *bytes, size_t count)
{
    (void)pthread_once(&tables_once, make_tables);
    for (; count >= SLICES; count -= SLICES, bytes += SLICES) {
        const uint32_t low = state ^ get_u32(bytes);
        const uint32_t high = get_u32(bytes + 4);

        state = tables[7][low & 0xff] ^ tables[6][low >> 8 & 0xff] ^ tables[5][low >> 16 & 0xff] ^
                tables[4][low >> 24] ^ tables[3][high & 0xff] ^ tables[2][high >> 8 & 0xff] ^
                tables[1][high >> 16 & 0xff] ^ tables[0][high >> 24];
    }
    for (; count > 0; count--, bytes++)
        state = state >> 8 ^ tables[0][(state ^ *bytes) & 0xff];
    return state;
}

#if defined(__x86_64__)
/* The same with the instruction. */
__attribute__((target("sse4.2"))) static uint32_t
with_sse42(uint32_t state, const unsigned char *bytes, size_t count)
{
    uint64_t wide = state;

    for (; count >= 8; count -= 8, bytes += 8) {
        uint64_t word;

        memcpy(&word, bytes, sizeof(word));
        wide = _mm_crc32_u64(wide, word);
    }
    state = (uint32_t)wide;
    for (; count > 0; count--, bytes++)
        state = _mm_crc32_u8(state, *bytes);
    return state;
}
#endif

uint32_t zeta_crc32c(uint32_t crc, const void *data, size_t bytes)
{
    if (bytes == 0)
        return crc;
#if defined(__x86_64__)
    if (__builtin_cpu_supports("sse4.2"))
        return ~with_sse42(~crc, data, bytes);
#endif
    return ~zeta_crc32c_tables(~crc, data, bytes);
}
