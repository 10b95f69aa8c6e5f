/*
 * Bytes and lists of strings that grow. A compiler that gets no memory cannot go on: it reports
 * that on the standard error and ends, which callers take for a crash.
 */
#ifndef ZETA_SDK_TOOLS_ZETA_CC_REQUEST_BUFFER_H
#define ZETA_SDK_TOOLS_ZETA_CC_REQUEST_BUFFER_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

/** Bytes that grow at the end. All zero is an empty one. */
struct zeta_cc_buffer {
    char *bytes; /**< null when empty; a terminator follows the last byte */
    size_t size;
    size_t room;
};

/** Adds size bytes. */
void zeta_cc_buffer_add(struct zeta_cc_buffer *buffer, const void *bytes, size_t size);

/** Adds text as printf does. */
void __attribute__((format(printf, 2, 3)))
zeta_cc_buffer_print(struct zeta_cc_buffer *buffer, const char *format, ...);

/** Adds a line of text. */
void __attribute__((format(printf, 2, 3)))
zeta_cc_buffer_line(struct zeta_cc_buffer *buffer, const char *format, ...);

/** Adds what is left of a file; false with errno. */
bool zeta_cc_buffer_read(struct zeta_cc_buffer *buffer, int file);

/** Writes all bytes to a file; false with errno. */
bool zeta_cc_write(int file, const void *bytes, size_t size);

/** Frees the bytes and leaves it empty. */
void zeta_cc_buffer_finish(struct zeta_cc_buffer *buffer);

/** Words of a command line; all zero is an empty list. */
struct zeta_cc_strings {
    char **list; /**< null-terminated when there is a string; each owned */
    size_t count;
};

/** Adds a copy of a string. */
void zeta_cc_strings_add(struct zeta_cc_strings *strings, const char *string);

/** Adds a string made as printf does. */
void __attribute__((format(printf, 2, 3)))
zeta_cc_strings_print(struct zeta_cc_strings *strings, const char *format, ...);

/** Adds the words of a text, which has one blank between them. */
void zeta_cc_strings_split(struct zeta_cc_strings *strings, const char *words);

/** True when the string is in the list. */
bool zeta_cc_strings_have(const struct zeta_cc_strings *strings, const char *string);

/** Frees the strings. */
void zeta_cc_strings_finish(struct zeta_cc_strings *strings);

/** Memory that is there: count x size bytes of zero. */
void *zeta_cc_allocate(size_t count, size_t size);

/** As reallocarray(). */
void *zeta_cc_reallocate(void *memory, size_t count, size_t size);

#endif
