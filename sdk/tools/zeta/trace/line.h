/*
 * Lines of a trace that libzeta wrote: each is a JSON object with the members of Chrome's format.
 *
 * Traces of programs that ended in the middle of things hold lines that are cut; nothing is
 * believed but what is a whole object.
 */
#ifndef ZETA_TOOLS_TRACE_LINE_H
#define ZETA_TOOLS_TRACE_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <json-c/json.h>

/** All zero bytes: none was read. Texts are valid until the next line is read into it. */
struct zeta_trace_line {
    const char *text; /**< the object, not terminated */
    size_t size;
    char phase; /**< 'X', 'B', 'M', 'C' or 'i'; 0 if it has none */
    uint64_t pid;
    uint64_t tid;
    uint64_t begin_ns;
    uint64_t duration_ns;
    const char *category;          /**< "": none */
    const char *name;              /**< "": none */
    struct json_object *arguments; /**< null: none */
    struct json_object *object;    /**< owned: what the members above belong to */
    struct json_tokener *tokener;  /**< owned */
};

/**
 * Reads the object at the start of a text. False if there is no whole one in its first line, or
 * without memory. zeta_trace_line_finish ends it either way.
 */
bool zeta_trace_line_read(const char *text, size_t size, struct zeta_trace_line *line);

/** An argument as text; null if there is none. */
const char *zeta_trace_line_argument(const struct zeta_trace_line *line, const char *name);

void zeta_trace_line_finish(struct zeta_trace_line *line);

/** Reading a trace, also one that is not complete. */
struct zeta_trace_reader {
    const char *data;
    size_t size;
    size_t at;
    size_t dropped;   /**< the system may take back the pages up to here; they are in the file */
    uint64_t lines;   /**< that were read */
    uint64_t damaged; /**< lines that were cut */
    bool is_mapped;
};

/** Opens a file. On failure prints why. */
int zeta_trace_reader_open(struct zeta_trace_reader *reader, const char *path);

/** Reads from memory, which stays the caller's. */
void zeta_trace_reader_init(struct zeta_trace_reader *reader, const char *data, size_t size);

/** Reads the next line; false at the end. */
bool zeta_trace_reader_next(struct zeta_trace_reader *reader, struct zeta_trace_line *line);

/** Closes the file, if one was opened. */
void zeta_trace_reader_close(struct zeta_trace_reader *reader);

#endif
