/*
 * Reading a trace that libzeta wrote, also one that is not complete.
 */
#ifndef ZETA_TOOLS_TRACE_READER_H
#define ZETA_TOOLS_TRACE_READER_H

#include "sdk/tools/zeta/trace/line.h"

struct zeta_trace_reader {
    const char *data;
    size_t size;
    size_t at;
    size_t dropped;   /**< the system may take back the pages up to here; they are in the file */
    uint64_t damaged; /**< lines that were cut */
    bool is_mapped;
};

/** Opens a file. On failure prints why. */
int zeta_trace_reader_open(struct zeta_trace_reader *reader, const char *path);

/** Reads from memory, which stays the caller's. */
void zeta_trace_reader_init(struct zeta_trace_reader *reader, const char *data, size_t size);

/** The next line; false at the end. Its slices are valid until the reader is closed. */
bool zeta_trace_reader_next(struct zeta_trace_reader *reader, struct zeta_trace_line *out_line);

/** Closes the file, if one was opened. */
void zeta_trace_reader_close(struct zeta_trace_reader *reader);

#endif
