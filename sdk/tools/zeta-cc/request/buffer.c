#include "buffer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <zeta/c_locale.h>

static _Noreturn void no_memory(void)
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

void *zeta_cc_reallocate(void *memory, size_t count, size_t size)
{
    memory = reallocarray(memory, count, size);
    if (!memory)
        no_memory();
    return memory;
}

void zeta_cc_buffer_add(struct zeta_cc_buffer *buffer, const void *bytes, size_t size)
{
    size_t needed = buffer->size + size + 1;

    if (size == 0)
        return;
    if (needed > buffer->room) {
        buffer->room = buffer->room ? buffer->room : 256;
        while (buffer->room < needed)
            buffer->room *= 2;
        buffer->bytes = zeta_cc_reallocate(buffer->bytes, buffer->room, 1);
    }
    memcpy(buffer->bytes + buffer->size, bytes, size);
    buffer->size += size;
    buffer->bytes[buffer->size] = '\0';
}

static void __attribute__((format(printf, 2, 0)))
add_formatted(struct zeta_cc_buffer *buffer, const char *format, va_list arguments)
{
    char *text = NULL;
    int length = zeta_c_vasprintf(&text, format, arguments);

    if (length < 0)
        no_memory();
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

bool zeta_cc_buffer_read(struct zeta_cc_buffer *buffer, int file)
{
    char part[65536];

    for (;;) {
        ssize_t got = read(file, part, sizeof(part));

        if (got > 0)
            zeta_cc_buffer_add(buffer, part, (size_t)got);
        else if (got == 0 || errno != EINTR)
            return got == 0;
    }
}

bool zeta_cc_write(int file, const void *bytes, size_t size)
{
    const char *at = bytes;

    while (size > 0) {
        ssize_t written = write(file, at, size);

        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return false;
        at += written;
        size -= (size_t)written;
    }
    return true;
}

void zeta_cc_buffer_finish(struct zeta_cc_buffer *buffer)
{
    free(buffer->bytes);
    *buffer = (struct zeta_cc_buffer){0};
}

static void take_string(struct zeta_cc_strings *strings, char *string)
{
    if (!string)
        no_memory();
    strings->list = zeta_cc_reallocate(strings->list, strings->count + 2, sizeof(*strings->list));
    strings->list[strings->count++] = string;
    strings->list[strings->count] = NULL;
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

void zeta_cc_strings_split(struct zeta_cc_strings *strings, const char *words)
{
    for (;;) {
        size_t length = strcspn(words, " ");

        take_string(strings, strndup(words, length));
        if (words[length] == '\0')
            return;
        words += length + 1;
    }
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
