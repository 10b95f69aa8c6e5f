#include "buffer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zeta/c_locale.h>

static void no_memory(void)
{
    (void)fputs("zeta-vgpu-cc: no memory\n", stderr);
    exit(EXIT_FAILURE);
}

void *zeta_cc_allocate(size_t count, size_t size)
{
    void *memory = calloc(count ? count : 1, size ? size : 1);

    if (!memory)
        no_memory();
    return memory;
}

/* Makes room for size more bytes and a terminator. */
static void reserve(struct zeta_cc_buffer *buffer, size_t size)
{
    size_t needed = buffer->size + size + 1;
    size_t room = buffer->room ? buffer->room : 256;
    char *bytes;

    if (needed <= buffer->room)
        return;
    while (room < needed)
        room *= 2;
    bytes = realloc(buffer->bytes, room);
    if (!bytes) {
        no_memory();
        return;
    }
    buffer->bytes = bytes;
    buffer->room = room;
}

void zeta_cc_buffer_add(struct zeta_cc_buffer *buffer, const void *bytes, size_t size)
{
    if (size == 0)
        return;
    reserve(buffer, size);
    memcpy(buffer->bytes + buffer->size, bytes, size);
    buffer->size += size;
    buffer->bytes[buffer->size] = '\0';
}

static void __attribute__((format(printf, 2, 0)))
add_formatted(struct zeta_cc_buffer *buffer, const char *format, va_list arguments)
{
    char *text = NULL;
    int length = zeta_c_vasprintf(&text, format, arguments);

    if (length < 0) {
        no_memory();
        return;
    }
    zeta_cc_buffer_add(buffer, text, (size_t)length);
    free(text);
}

void zeta_cc_buffer_print(struct zeta_cc_buffer *buffer, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    add_formatted(buffer, format, arguments);
    va_end(arguments);
}

void zeta_cc_buffer_line(struct zeta_cc_buffer *buffer, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    add_formatted(buffer, format, arguments);
    va_end(arguments);
    zeta_cc_buffer_add(buffer, "\n", 1);
}

void zeta_cc_buffer_finish(struct zeta_cc_buffer *buffer)
{
    free(buffer->bytes);
    *buffer = (struct zeta_cc_buffer){0};
}

static void take_string(struct zeta_cc_strings *strings, char *string)
{
    char **list = realloc(strings->list, (strings->count + 2) * sizeof(*list));

    if (!list || !string) {
        no_memory();
        return;
    }
    list[strings->count++] = string;
    list[strings->count] = NULL;
    strings->list = list;
}

void zeta_cc_strings_add(struct zeta_cc_strings *strings, const char *string)
{
    take_string(strings, strdup(string));
}

void zeta_cc_strings_print(struct zeta_cc_strings *strings, const char *format, ...)
{
    struct zeta_cc_buffer buffer = {0};
    va_list arguments;

    va_start(arguments, format);
    add_formatted(&buffer, format, arguments);
    va_end(arguments);
    take_string(strings, buffer.bytes ? buffer.bytes : strdup(""));
}

void zeta_cc_strings_append(struct zeta_cc_strings *strings, const struct zeta_cc_strings *more)
{
    for (size_t i = 0; i < more->count; i++)
        zeta_cc_strings_add(strings, more->list[i]);
}

bool zeta_cc_strings_have(const struct zeta_cc_strings *strings, const char *string)
{
    for (size_t i = 0; i < strings->count; i++) {
        if (strcmp(strings->list[i], string) == 0)
            return true;
    }
    return false;
}

void zeta_cc_strings_finish(struct zeta_cc_strings *strings)
{
    for (size_t i = 0; i < strings->count; i++)
        free(strings->list[i]);
    free(strings->list);
    *strings = (struct zeta_cc_strings){0};
}
