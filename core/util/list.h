/*
 * Growing arrays of pointers, and text that grows.
 */
#ifndef ZETA_CORE_UTIL_LIST_H
#define ZETA_CORE_UTIL_LIST_H

#include <stdbool.h>
#include <stddef.h>

#include "core/util/error.h"

/** An array of pointers. All zero bytes is an empty one. */
struct zeta_list {
    void **items;
    size_t count;
    size_t capacity;
};

/** Adds an item at the end; false when memory is exhausted, and the list is as before. */
bool zeta_list_add(struct zeta_list *list, void *item);

/** Frees the array, not what its items point to, and leaves an empty list. */
void zeta_list_finish(struct zeta_list *list);

/** Text that grows. All zero bytes is an empty one. */
struct zeta_text {
    char *data; /**< terminated, NULL while nothing was added */
    size_t length;
    size_t capacity;
    bool failed; /**< memory was exhausted; what is there is a beginning */
};

/** Adds formatted text. A failure is remembered, so a caller looks once, at the end. */
void zeta_text_add(struct zeta_text *text, const char *format, ...) ZETA_PRINTF(2, 3);

/** Adds length bytes. */
void zeta_text_append(struct zeta_text *text, const char *bytes, size_t length);

/** The text, "" while nothing was added. */
const char *zeta_text_get(const struct zeta_text *text);

/** Frees the text and leaves an empty one; for ZETA_CLEANUP. */
void zeta_text_finish(struct zeta_text *text);

#endif
