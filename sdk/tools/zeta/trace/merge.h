/*
 * Several traces into one: what each process wrote, in a file, and into the table.
 */
#ifndef ZETA_TOOLS_TRACE_MERGE_H
#define ZETA_TOOLS_TRACE_MERGE_H

#include "sdk/tools/zeta/trace/reader.h"
#include "sdk/tools/zeta/trace/summary.h"
#include "sdk/tools/zeta/trace/writer.h"

/**
 * Adds the lines of a trace to a file and to a summary. writer: null for no file. Lines that were
 * cut are counted. False when memory is exhausted.
 */
bool zeta_trace_merge(struct zeta_trace_reader *reader, struct zeta_trace_writer *writer,
                      struct zeta_trace_summary *summary);

#endif
