/*
 * The files that zeta trace writes: one event after the other, however long the trace is.
 */
#ifndef ZETA_TOOLS_TRACE_WRITER_H
#define ZETA_TOOLS_TRACE_WRITER_H

#include <stdbool.h>
#include <stdio.h>

#include "sdk/tools/zeta/trace/line.h"
#include "sdk/tools/zeta/trace/summary.h"

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

/**
 * Adds the lines of a trace to a file and to a summary. writer: null for no file. Lines that were
 * cut are counted. False when memory is exhausted.
 */
bool zeta_trace_merge(struct zeta_trace_reader *reader, struct zeta_trace_writer *writer,
                      struct zeta_trace_summary *summary);

#endif
