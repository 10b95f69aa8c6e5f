#include "sdk/tools/zeta-gdbserver/packet/text.h"

#include <string.h>

int zeta_gdb_digit(char digit)
{
    if (digit >= '0' && digit <= '9')
        return digit - '0';
    if (digit >= 'a' && digit <= 'f')
        return digit - 'a' + 10;
    if (digit >= 'A' && digit <= 'F')
        return digit - 'A' + 10;
    return -1;
}

bool zeta_gdb_take(struct zeta_gdb_text *text, const char *characters)
{
    const size_t size = strlen(characters);

    if ((size_t)(text->end - text->at) < size || memcmp(text->at, characters, size) != 0)
        return false;
    text->at += size;
    return true;
}

bool zeta_gdb_take_number(struct zeta_gdb_text *text, uint64_t *out_number)
{
    const char *at = text->at;
    uint64_t number = 0;

    for (; at < text->end && zeta_gdb_digit(*at) >= 0; at++) {
        if (at - text->at == 16)
            return false;
        number = number << 4 | (uint64_t)zeta_gdb_digit(*at);
    }
    if (at == text->at)
        return false;
    text->at = at;
    *out_number = number;
    return true;
}

bool zeta_gdb_take_bytes(struct zeta_gdb_text *text, void *out_bytes, size_t size)
{
    uint8_t *const bytes = out_bytes;

    if ((size_t)(text->end - text->at) / 2 < size)
        return false;
    for (size_t i = 0; i < size; i++) {
        const int high = zeta_gdb_digit(text->at[2 * i]);
        const int low = zeta_gdb_digit(text->at[2 * i + 1]);

        if (high < 0 || low < 0)
            return false;
        bytes[i] = (uint8_t)(high * 16 + low);
    }
    text->at += 2 * size;
    return true;
}

/* A number of a process or a thread. */
static bool take_id(struct zeta_gdb_text *text, int64_t *out_id)
{
    struct zeta_gdb_text rest = *text;
    uint64_t number;

    if (zeta_gdb_take(text, "-1")) {
        *out_id = ZETA_GDB_ALL;
        return true;
    }
    if (!zeta_gdb_take_number(&rest, &number) || number > UINT32_MAX)
        return false;
    *text = rest;
    *out_id = (int64_t)number;
    return true;
}

bool zeta_gdb_take_thread(struct zeta_gdb_text *text, struct zeta_gdb_thread_id *out_thread)
{
    struct zeta_gdb_thread_id id = {.process = ZETA_GDB_ANY, .thread = ZETA_GDB_ALL};
    struct zeta_gdb_text rest = *text;

    if (zeta_gdb_take(&rest, "p")) {
        if (!take_id(&rest, &id.process))
            return false;
        if (zeta_gdb_take(&rest, ".") && !take_id(&rest, &id.thread))
            return false;
    } else if (!take_id(&rest, &id.thread)) {
        return false;
    }
    *text = rest;
    *out_thread = id;
    return true;
}

struct zeta_gdb_text zeta_gdb_take_field(struct zeta_gdb_text *text, char separator)
{
    const size_t left = (size_t)(text->end - text->at);
    const char *const found = left > 0 ? memchr(text->at, separator, left) : NULL;
    const struct zeta_gdb_text field = {text->at, found ? found : text->end};

    text->at = found ? found + 1 : text->end;
    return field;
}

void zeta_gdb_put_bytes(FILE *answer, const void *bytes, size_t size)
{
    static const char digits[] = "0123456789abcdef";
    const uint8_t *const all = bytes;

    for (size_t i = 0; i < size; i++) {
        (void)putc(digits[all[i] >> 4], answer);
        (void)putc(digits[all[i] & 15], answer);
    }
}
