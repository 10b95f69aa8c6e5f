/*
 * The command line of zeta trace.
 */
#ifndef ZETA_TOOLS_TRACE_OPTIONS_H
#define ZETA_TOOLS_TRACE_OPTIONS_H

#include <stdint.h>

#include "sdk/tools/zeta/trace/writer.h"

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
