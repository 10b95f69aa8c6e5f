/*
 * The table of zeta trace: how often each function was called and how long that took.
 */
#ifndef ZETA_TOOLS_TRACE_SUMMARY_H
#define ZETA_TOOLS_TRACE_SUMMARY_H

#include <stdio.h>

#include "sdk/tools/zeta/trace/line.h"
#include "sdk/tools/zeta/trace/name_table.h"

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

/** Counts a line of a trace. False when memory is exhausted. */
bool zeta_trace_summary_add(struct zeta_trace_summary *summary, const struct zeta_trace_line *line);

/** Prints the tables. */
void zeta_trace_summary_print(const struct zeta_trace_summary *summary, FILE *stream);

/** Frees what was counted. */
void zeta_trace_summary_finish(struct zeta_trace_summary *summary);

#endif
