/*
 * One line of a trace that libzeta wrote: a JSON object with the members of Chrome's format.
 *
 * Traces of programs that ended in the middle of things hold lines that are cut; nothing is
 * believed but what is a whole object.
 */
#ifndef ZETA_TOOLS_TRACE_LINE_H
#define ZETA_TOOLS_TRACE_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** A piece of the text; not terminated. */
struct zeta_slice {
    const char *data;
    size_t size;
};

struct zeta_trace_line {
    struct zeta_slice text; /**< the object */
    char phase;             /**< 'X', 'B', 'M' or 'i'; 0 if it has none */
    uint64_t pid;
    uint64_t tid;
    uint64_t begin_ns;
    uint64_t duration_ns;
    struct zeta_slice category;  /**< in JSON's spelling, without quotes */
    struct zeta_slice name;      /**< likewise */
    struct zeta_slice arguments; /**< the object; size 0: none */
};

/** A value inside an object. */
enum zeta_json_kind {
    ZETA_JSON_STRING, /**< text is what is between the quotes, in JSON's spelling */
    ZETA_JSON_NUMBER,
    ZETA_JSON_WORD, /**< true, false or null */
    ZETA_JSON_OBJECT,
    ZETA_JSON_ARRAY
};

struct zeta_json_value {
    enum zeta_json_kind kind;
    struct zeta_slice text; /**< of objects and arrays with their brackets */
};

/** Members of an object or elements of an array, one after the other. */
struct zeta_json_walk {
    const char *at;
    const char *end;
    bool is_object;
};

/**
 * Reads the object at the start of a text. False if there is no whole one. The slices point into
 * the text.
 */
bool zeta_trace_line_read(const char *text, size_t size, struct zeta_trace_line *out_line);

/** Starts at an object or array that was read as a whole before. */
struct zeta_json_walk zeta_json_walk_begin(struct zeta_slice container);

/** The next value, with its name in an object; false at the end. */
bool zeta_json_walk_next(struct zeta_json_walk *walk, struct zeta_slice *out_name,
                         struct zeta_json_value *out_value);

/** Finds a member of an object that was read as a whole before. */
bool zeta_json_find(struct zeta_slice object, const char *name, struct zeta_json_value *out_value);

/**
 * Writes the characters that a string in JSON's spelling stands for, with a terminator; what does
 * not fit is left out. Characters that cannot be are given as '?'. Gives the size.
 */
size_t zeta_json_unescape(struct zeta_slice text, char *out_text, size_t size_bytes);

static inline bool zeta_slice_is(struct zeta_slice slice, const char *text)
{
    size_t i = 0;

    while (i < slice.size && text[i] != '\0' && slice.data[i] == text[i])
        i++;
    return i == slice.size && text[i] == '\0';
}

#endif
