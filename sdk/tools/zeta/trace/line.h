/*
 * Lines of a trace that libzeta wrote, each a JSON object with the members of Chrome's format; what
 * is counted of them, and the files they are written to.
 *
 * Traces of programs that were killed have lines that are cut: only whole objects count.
 */
#ifndef ZETA_TOOLS_TRACE_LINE_H
#define ZETA_TOOLS_TRACE_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <json-c/json.h>

/** All zero bytes is an empty table. */
struct zeta_name_table {
    char **names; /**< by number; terminated */
    uint32_t count;
    struct lh_table *numbers; /**< by name */
};

/** Finds or adds a string; true if it is new. */
bool zeta_name_table_get(struct zeta_name_table *table, const char *name, uint32_t *out_number);

/** Frees the table and its strings. */
void zeta_name_table_finish(struct zeta_name_table *table);

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

/** Calls of one function, or pieces of work of one name. */
struct zeta_trace_account {
    const char *name; /**< of the table of names */
    uint64_t count;
    uint64_t total_ns;
    uint64_t min_ns;
    uint64_t max_ns;
    uint64_t errors; /**< calls whose result was an error */
};

struct zeta_trace_accounts {
    struct zeta_name_table names;
    struct zeta_trace_account *accounts; /**< by the number of the name */
    uint64_t count;
    uint64_t total_ns;
};

/** A call that had not returned when its process ended, or the trace did. */
struct zeta_trace_open_call {
    char name[96];
    uint64_t pid;
    uint64_t tid;
};

enum { ZETA_TRACE_OPEN_CALLS_MAX = 8 };

/** All zero bytes is an empty summary. */
struct zeta_trace_summary {
    struct zeta_trace_accounts calls;
    struct zeta_trace_accounts work;                                   /**< of devices */
    struct zeta_trace_open_call open_calls[ZETA_TRACE_OPEN_CALLS_MAX]; /**< the first of them */
    uint64_t open_call_count;
    struct zeta_name_table processes; /**< by id */
    uint64_t lost;
    uint64_t damaged;
};

/** Counts a line of a trace. */
void zeta_trace_summary_add(struct zeta_trace_summary *summary, const struct zeta_trace_line *line);

/** Prints the tables. */
void zeta_trace_summary_print(const struct zeta_trace_summary *summary, FILE *stream);

/** Frees what was counted. */
void zeta_trace_summary_finish(struct zeta_trace_summary *summary);

struct zeta_trace_writer;

/** A format. Errors of the file stay in it. */
struct zeta_trace_format {
    const char *suffix; /**< of file names, with the point */
    void (*begin)(struct zeta_trace_writer *writer);
    void (*add)(struct zeta_trace_writer *writer, const struct zeta_trace_line *line);
    void (*end)(struct zeta_trace_writer *writer);
};

struct zeta_trace_writer {
    const struct zeta_trace_format *format;
    FILE *file;  /**< not the writer's */
    void *state; /**< of the format */
};

/** Chrome's JSON. */
extern const struct zeta_trace_format zeta_trace_chrome;

/** Perfetto's protobuf; null if this command was built without libprotobuf-c. */
extern const struct zeta_trace_format *const zeta_trace_perfetto;

/**
 * Adds the lines of a trace to a file and to a summary. writer: null for no file. Lines that were
 * cut are counted.
 */
void zeta_trace_merge(struct zeta_trace_reader *reader, struct zeta_trace_writer *writer,
                      struct zeta_trace_summary *summary);

struct zeta_trace_options {
    const char *device;                     /**< null: the first one */
    const char *output_path;                /**< null: only the table */
    const struct zeta_trace_format *format; /**< of the output */
    char *filter;                           /**< owned; globs with commas between; null: all */
    const char *limit;                      /**< of each process's file; null: the usual one */
    char **inputs;                          /**< owned; --from: files to read instead of a run */
    uint32_t input_count;
    char **program; /**< null-terminated arguments; null with --from */
};

/**
 * Reads the arguments that follow "zeta trace", arguments[0] being "trace". Prints what is wrong;
 * then gives ZETA_EXIT_USAGE. zeta_trace_options_finish ends it either way.
 */
int zeta_trace_options_init(struct zeta_trace_options *options, int count, char **arguments);

/** Frees what reading made. */
void zeta_trace_options_finish(struct zeta_trace_options *options);

#endif
