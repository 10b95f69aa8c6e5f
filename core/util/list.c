#include "core/util/list.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zeta/c_locale.h>

bool zeta_list_add(struct zeta_list *list, void *item)
{
    if (list->count == list->capacity) {
        size_t capacity = list->capacity ? 2 * list->capacity : 8;
        void **items;

        if (capacity > SIZE_MAX / sizeof(*items))
            return false;
        items = realloc(list->items, capacity * sizeof(*items));
        if (!items)
            return false;
        list->items = items;
        list->capacity = capacity;
    }
    list->items[list->count++] = item;
    return true;
}

void zeta_list_finish(struct zeta_list *list)
{
    free(list->items);
    *list = (struct zeta_list){0};
}

/* Makes room for length more bytes and a terminator. */
static bool make_room(struct zeta_text *text, size_t length)
{
    size_t capacity = text->capacity ? text->capacity : 64;
    char *data;

    if (text->failed || length >= SIZE_MAX / 4 - text->length) {
        text->failed = true;
        return false;
    }
    while (capacity <= text->length + length)
        capacity *= 2;
    if (capacity == text->capacity)
        return true;
    data = realloc(text->data, capacity);
    if (!data) {
        text->failed = true;
        return false;
    }
    text->data = data;
    text->capacity = capacity;
    return true;
}

void zeta_text_append(struct zeta_text *text, const char *bytes, size_t length)
{
    if (!make_room(text, length))
        return;
    if (length > 0)
        memcpy(text->data + text->length, bytes, length);
    text->length += length;
    text->data[text->length] = '\0';
}

void zeta_text_add(struct zeta_text *text, const char *format, ...)
{
    va_list arguments;
    int length;

    va_start(arguments, format);
    length = zeta_c_vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (length < 0 || !make_room(text, (size_t)length))
        return;
    va_start(arguments, format);
    (void)zeta_c_vsnprintf(text->data + text->length, text->capacity - text->length, format,
                           arguments);
    va_end(arguments);
    text->length += (size_t)length;
}

const char *zeta_text_get(const struct zeta_text *text)
{
    return text->data ? text->data : "";
}

void zeta_text_finish(struct zeta_text *text)
{
    free(text->data);
    *text = (struct zeta_text){0};
}
