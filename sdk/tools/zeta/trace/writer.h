/*
 * The files that zeta trace writes: one event after the other, however long the trace is.
 */
#ifndef ZETA_TOOLS_TRACE_WRITER_H
#define ZETA_TOOLS_TRACE_WRITER_H

#include <stdbool.h>
#include <stdio.h>

#include "sdk/tools/zeta/trace/line.h"

struct zeta_trace_writer;

/** A format. Each function gives false when memory is exhausted; errors of the file stay in it. */
struct zeta_trace_format {
    const char *suffix; /**< of file names, with the point */
    bool (*begin)(struct zeta_trace_writer *writer);
    bool (*add)(struct zeta_trace_writer *writer, const struct zeta_trace_line *line);
    bool (*end)(struct zeta_trace_writer *writer);
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

#endif
