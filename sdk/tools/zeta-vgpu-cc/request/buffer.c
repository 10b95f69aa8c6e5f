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

static void take_word(struct zeta_cc_words *words, char *word)
{
    char **list = realloc(words->list, (words->count + 2) * sizeof(*list));

    if (!list || !word) {
        no_memory();
        return;
    }
    list[words->count++] = word;
    list[words->count] = NULL;
    words->list = list;
}

void zeta_cc_words_add(struct zeta_cc_words *words, const char *word)
{
    take_word(words, strdup(word));
}

void zeta_cc_words_print(struct zeta_cc_words *words, const char *format, ...)
{
    struct zeta_cc_buffer buffer = {0};
    va_list arguments;

    va_start(arguments, format);
    add_formatted(&buffer, format, arguments);
    va_end(arguments);
    take_word(words, buffer.bytes ? buffer.bytes : strdup(""));
}

void zeta_cc_words_append(struct zeta_cc_words *words, const struct zeta_cc_words *more)
{
    for (size_t i = 0; i < more->count; i++)
        zeta_cc_words_add(words, more->list[i]);
}

bool zeta_cc_words_have(const struct zeta_cc_words *words, const char *word)
{
    for (size_t i = 0; i < words->count; i++) {
        if (strcmp(words->list[i], word) == 0)
            return true;
    }
    return false;
}

void zeta_cc_words_finish(struct zeta_cc_words *words)
{
    for (size_t i = 0; i < words->count; i++)
        free(words->list[i]);
    free(words->list);
    *words = (struct zeta_cc_words){0};
}
