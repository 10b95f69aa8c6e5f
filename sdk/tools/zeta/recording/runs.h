/*
 * Work of the device with begin and end, from an API trace, and which of it an interval of
 * time belongs to.
 */
#ifndef ZETA_TOOLS_RECORDING_RUNS_H
#define ZETA_TOOLS_RECORDING_RUNS_H

#include <stdbool.h>
#include <stdint.h>

#include "sdk/tools/zeta/trace/name_table.h"

/** Runs that are kept; of more only their number is known. */
enum { ZETA_REPORT_MAX_RUNS = 1 << 20 };

/** One run of a kernel, or a copy. Times are of the host. */
struct zeta_report_run {
    int64_t begin_ns, end_ns;
    uint32_t name; /**< number in the table of names */
    uint32_t lane; /**< number in the table of lanes: the queue that it ran in */
};

/** A piece of time in which the same runs are under way. */
struct zeta_report_segment {
    int64_t begin_ns; /**< it ends where the next one begins */
    uint32_t name;    /**< ZETA_REPORT_IDLE, ZETA_REPORT_SHARED or that of the only run */
};

#define ZETA_REPORT_IDLE UINT32_MAX
#define ZETA_REPORT_SHARED (UINT32_MAX - 1)

/** All zero bytes: none. */
struct zeta_report_runs {
    struct zeta_name_table names; /**< */
    struct zeta_name_table lanes; /**< "process/track" */
    char **lane_titles;           /**< of lanes; null: none was given */
    uint32_t lane_title_count;
    struct zeta_report_run *runs;
    uint32_t count, room;
    uint64_t left_out;                    /**< beyond ZETA_REPORT_MAX_RUNS */
    struct zeta_report_segment *segments; /**< after zeta_report_runs_sort() */
    uint32_t segment_count;
};

/** Adds a run. False without memory. A run that ends before it begins is taken as empty. */
bool zeta_report_runs_add(struct zeta_report_runs *runs, const char *name, const char *lane,
                          int64_t begin_ns, int64_t end_ns);

/** Gives a lane a title,. False without memory. */
bool zeta_report_runs_name_lane(struct zeta_report_runs *runs, const char *lane, const char *title);

/** Sorts the runs by their begin and makes the segments; nothing is added then. False without
 * memory. */
bool zeta_report_runs_sort(struct zeta_report_runs *runs);

/**
 * The name of the run that is alone while an interval lasts from begin to end; SHARED if several
 * run meanwhile, or one of them for a part of it; IDLE if none does.
 */
uint32_t zeta_report_runs_find(const struct zeta_report_runs *runs, int64_t begin_ns,
                               int64_t end_ns);

void zeta_report_runs_finish(struct zeta_report_runs *runs);

#endif
