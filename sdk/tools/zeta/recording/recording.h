/*
 * Everything that zeta report and zeta calc find in a recording, which is read chunk by chunk and
 * never kept. report reads it twice: first who and what is in it and when work ran on the device,
 * then the values, which need that.
 */
#ifndef ZETA_TOOLS_RECORDING_RECORDING_H
#define ZETA_TOOLS_RECORDING_RECORDING_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <zeta/container.h>
#include <zeta/zeta.h>

#include "sdk/tools/zeta/command_line/options.h"
#include "sdk/tools/zeta/inventory/inventory.h"
#include "sdk/tools/zeta/profile/profile.h"
#include "sdk/tools/zeta/program/program.h"
#include "sdk/tools/zeta/sampling/sampled_group.h"
#include "sdk/tools/zeta/trace/line.h"

struct zeta_report_options {
    const char *path;
    bool is_per_kernel;
    bool has_csv;
    struct zeta_json_option json;
    const char *html_path;
    const char *pftrace_path;
    bool has_range;
    uint64_t from_ns, to_ns; /**< from the start of the recording */
};

/**
 * Reads the arguments that follow "zeta report", arguments[0] being "report". Prints what is
 * wrong; then gives ZETA_EXIT_USAGE.
 */
int zeta_report_options_init(struct zeta_report_options *options, int count, char **arguments);

/**
 * Times of a report lie between this and its negative, 73 years: recordings of strangers may hold
 * anything, and the distance of any two, a row's length added, has to fit.
 */
#define ZETA_REPORT_TIME_MAX (INT64_MAX / 4)

/** All zero bytes: nothing is known, and the clock of the device is taken for that of the host. */
struct zeta_report_clock {
    uint64_t hz;
    uint64_t wrap_ns;   /**< time stamps start again from 0 here; 0: never */
    bool is_known;      /**< a CLOCK chunk was seen */
    bool is_set;        /**< the two times below are */
    uint64_t device_ns; /**< at one instant, modulo the wrap */
    int64_t host_ns;
};

/** Prepares for a timer of so many ticks per second and valid bits. */
void zeta_report_clock_init(struct zeta_report_clock *clock, uint64_t hz, uint32_t bits);

/** Takes the payload of a CLOCK chunk. False if it is none. */
bool zeta_report_clock_take(struct zeta_report_clock *clock, const void *payload, uint64_t bytes);

/**
 * The time of the host at an instant of the device, less than half a wrap from the chunk that was
 * taken last. Without any chunk the instant itself, followed over wraps. Cut to
 * ZETA_REPORT_TIME_MAX.
 */
int64_t zeta_report_clock_host(struct zeta_report_clock *clock, uint64_t device_ns);

enum {
    ZETA_REPORT_MAX_RUNS = 1 << 20, /**< that are kept; of more only their number is known */
    ZETA_REPORT_MAX_KERNELS = 256,  /**< whose metrics are summed up */
    ZETA_REPORT_MAX_MARKERS = 10000,
    ZETA_REPORT_MAX_NAMES = 4096, /**< of ids in one metric of events */
    ZETA_REPORT_POINTS = 2048     /**< of a plot at most; even, because neighbours are joined */
};

/** One run of a kernel, or a copy. Times are of the host. */
struct zeta_report_run {
    int64_t begin_ns, end_ns;
    uint32_t name; /**< number in the table of names */
    uint32_t lane; /**< number in the table of lanes: the queue that it ran in */
    bool is_event; /**< an event of a tracer told of it, not a line of the trace */
};

/** A piece of time in which the same runs are under way. */
struct zeta_report_segment {
    int64_t begin_ns; /**< it ends where the next one begins */
    uint32_t name;    /**< ZETA_REPORT_IDLE, ZETA_REPORT_SHARED or that of the only run */
    int32_t change;   /**< while they are made: a run begins (1) or ends (-1) */
};

#define ZETA_REPORT_IDLE UINT32_MAX
#define ZETA_REPORT_SHARED (UINT32_MAX - 1)

/** All zero bytes: none. */
struct zeta_report_runs {
    struct zeta_name_table names; /**< of runs */
    struct zeta_name_table lanes; /**< "process/track" */
    char **lane_titles;           /**< of lanes; null: none was given */
    uint32_t lane_title_count;
    struct zeta_report_run *runs;
    uint32_t count, room;
    bool has_events;                      /**< some are of events */
    uint64_t left_out;                    /**< beyond ZETA_REPORT_MAX_RUNS */
    struct zeta_report_segment *segments; /**< after zeta_report_runs_sort() */
    uint32_t segment_count;
};

/** Adds a run. One that ends before it begins is taken as empty. */
void zeta_report_runs_add(struct zeta_report_runs *runs, const char *name, const char *lane,
                          int64_t begin_ns, int64_t end_ns, bool is_event);

/** Gives a lane a title. */
void zeta_report_runs_name_lane(struct zeta_report_runs *runs, const char *lane, const char *title);

/**
 * Sorts the runs by their begin and makes the segments, after the last was added. Where events tell
 * of runs, those of the trace are the same work once more, and are left out.
 */
void zeta_report_runs_sort(struct zeta_report_runs *runs);

/**
 * The name of the run that is alone while an interval lasts from begin to end; SHARED if several
 * run meanwhile, or one of them for a part of it; IDLE if none does.
 */
uint32_t zeta_report_runs_find(const struct zeta_report_runs *runs, int64_t begin_ns,
                               int64_t end_ns);

void zeta_report_runs_finish(struct zeta_report_runs *runs);

/**
 * The first point begins at time 0. When something lies behind the last, neighbours are joined and
 * each point covers twice as long. All zero bytes is an empty line.
 */
struct zeta_envelope {
    uint64_t *points;
    uint32_t used;     /**< up to the last that is not 0 */
    uint64_t width_ns; /**< of a point */
};

/**
 * Counts something at a time. width_ns: of the points before any are joined, above 0; only that of
 * the first time counts.
 */
void zeta_envelope_add(struct zeta_envelope *line, uint64_t time_ns, uint64_t width_ns);

void zeta_envelope_finish(struct zeta_envelope *line);

struct zeta_report_device {
    uint32_t number;
    struct zeta_device_entry entry; /**< as far as the file describes it */
    char id[64];
    char device_class[16];
    struct zeta_report_clock clock;
    struct zeta_report_clock first_clock; /**< as the first CLOCK chunk set it */
    bool has_first_clock;
};

/** How a stream is shown. */
enum zeta_report_kind {
    ZETA_REPORT_ROWS,    /**< metric values over time, or of queries */
    ZETA_REPORT_SAMPLES, /**< of instruction pointers */
    ZETA_REPORT_EVENTS
};

/** An id in entries of a metric, and its name. */
struct zeta_report_event_name {
    uint64_t id;
    uint64_t entries;
    char *text; /**< null: it has no name */
};

/** One metric of a stream of events. */
struct zeta_report_event_metric {
    struct zeta_exported_metric described;
    uint64_t entries;
    bool has_names; /**< its values are ids */
    /** With names: metrics of the same beginning that say how long what is named ran (NAMETime) and
     *  in which queue (NAMEStream); -1: there is none. */
    int32_t time_index, stream_index;
    struct zeta_report_event_name
        *names; /**< by id; of more than ZETA_REPORT_MAX_NAMES the first */
    uint32_t name_count, name_room;
    struct zeta_envelope line; /**< entries as they came */
};

struct zeta_report_stream {
    uint32_t number;
    enum zeta_report_kind kind;
    char name[ZET_MAX_METRIC_GROUP_NAME];
    struct zeta_report_device *device; /**< null: not described */
    uint32_t record_bytes;
    uint64_t period_ns;
    uint64_t data_bytes;
    bool is_bad;       /**< its data cannot be used; that was printed */
    uint64_t outside;  /**< rows that are not in the range of time that was asked for */
    uint64_t timeless; /**< rows that are left out because they have no time */

    /* Of rows and samples, once the file had data of it: is_open. */
    bool is_open;
    struct zeta_group_entry entry;
    struct zeta_sampled_group group;
    uint32_t skip_left;          /**< records that are left out at the start */
    bool has_time;               /**< its rows have times */
    bool was_placed;             /**< the first row was seen */
    bool has_first;              /**< first_ns is set and waits for a clock */
    uint64_t first_ns;           /**< begin of the first row, on the clock of the device */
    struct zeta_sum_line *lines; /**< one per tile */
    uint64_t idle_rows, shared_rows;
    int32_t marker_index; /**< metric StreamMarker; -1: none */

    /* Of events. */
    struct zeta_report_event_metric *events;
    uint32_t event_count;
    uint64_t event_entries;
    uint64_t lost_events;
    zet_metric_entry_exp_t *entries; /**< room for those of one piece */
    uint32_t entry_room;
};

/** What the device did while one kernel ran, and nothing else. */
struct zeta_report_kernel {
    uint32_t name; /**< of the runs' table */
    uint64_t count;
    uint64_t total_ns, min_ns, max_ns;
    struct zeta_sampled_group **groups; /**< per stream; null: no rows */
};

/** Something that was marked. */
struct zeta_report_marker {
    int64_t time_ns; /**< of the host */
    uint64_t value;
    const char *source; /**< constant */
};

struct zeta_report {
    struct zeta_report_options options;

    bool is_cut;
    uint64_t damaged;
    char damage[512]; /**< what the first of them was */
    struct zeta_chunk_cut lost;
    uint64_t file_bytes;

    struct zeta_lines meta; /**< of all META chunks */
    struct zeta_report_device **devices;
    uint32_t device_count;
    struct zeta_report_stream **streams;
    uint32_t stream_count;
    uint32_t clock_count;
    uint32_t module_count;
    struct zeta_run_folder module_folder; /**< with the images, as ZETA_MODULE_DUMP makes one */

    bool has_trace;
    bool has_trace_clock;     /**< times of the trace can be placed on the clock of the host */
    int64_t raw_offset_ns;    /**< from the clock of the trace to that of the host */
    int64_t begin_ns, end_ns; /**< of the host: the first and the last thing that was recorded */
    bool has_begin;

    struct zeta_report_runs runs;
    struct zeta_report_kernel *kernels; /**< by name of the runs' table; null: not asked for */
    uint32_t kernel_count;
    uint32_t kernels_with_groups;
    struct zeta_trace_summary summary;
    struct zeta_report_marker *markers;
    uint32_t marker_count;
    uint64_t markers_left_out;
    struct zeta_ip_profile profile;
    const struct zeta_report_stream *profile_stream; /**< null: there is no profile */

    uint8_t *data; /**< room for exported data of one piece */
    size_t data_bytes;

    /* Of the second reading. */
    uint32_t only_stream; /**< rows of this one are written; 0: none */
    FILE *rows;
    struct zeta_trace_writer *trace;
    char *lines; /**< room for the lines of a TRACE chunk */
    size_t line_bytes;
    uint32_t orphans;             /**< pieces of streams that are not described */
    uint32_t bad_streams;         /**< whose data cannot be used */
    uint64_t rows_without_kernel; /**< of kernels beyond ZETA_REPORT_MAX_KERNELS */
};

/** Takes one chunk. On failure it printed why, and the reading ends. */
typedef int (*zeta_report_take)(void *user, struct zeta_recording_reader *reader,
                                const struct zeta_recording_chunk *chunk);

/**
 * Gives every chunk that is whole, and notes how the file is. is_strict: a damage is a failure,
 * else it is counted. On failure prints why.
 */
int zeta_report_walk(struct zeta_report *report, bool is_strict, zeta_report_take take, void *user);

/** Takes the DEVICE or STREAM that a chunk describes, if it does. */
void zeta_report_describe(struct zeta_report *report, const struct zeta_recording_chunk *chunk);

/** First reading: who and what, and when. On failure prints why. */
int zeta_report_index(struct zeta_report *report);

/** Second reading: values. On failure prints why. */
int zeta_report_read(struct zeta_report *report);

void zeta_report_finish(struct zeta_report *report);

/** A line of META; false if there is none. The text is cleaned. */
bool zeta_report_meta(const struct zeta_report *report, const char *key, uint32_t index,
                      char *value, size_t bytes);

/** The stream of a number in the file; null if it is not described. */
struct zeta_report_stream *zeta_report_find_stream(const struct zeta_report *report,
                                                   uint32_t number);

/** The device of a stream; one without a name if it is not described. */
const struct zeta_device_entry *zeta_report_device_of(const struct zeta_report_stream *stream);

/** Something was recorded at that time of the host. */
void zeta_report_extend(struct zeta_report *report, int64_t time_ns);

/** Adds a marker. */
void zeta_report_add_marker(struct zeta_report *report, int64_t time_ns, uint64_t value,
                            const char *source);

/** Whether times of the host are in the range that was asked for, both ends of them. */
bool zeta_report_in_range(const struct zeta_report *report, int64_t begin_ns, int64_t end_ns);

/** When a line was, in the time of the host. False for one that has no time, or none that fits. */
bool zeta_report_trace_time(const struct zeta_report *report, const struct zeta_trace_line *line,
                            int64_t *out_begin_ns, int64_t *out_end_ns);

/**
 * Makes exported data of the piece that was read last, and reads the group and the metrics of its
 * stream from the first one. is_maximum: values are the greatest possible ones. On failure prints
 * why.
 */
int zeta_report_stream_open(struct zeta_report *report, struct zeta_report_stream *stream,
                            struct zeta_recording_reader *reader,
                            const struct zeta_recording_chunk *chunk, bool is_maximum);

/**
 * Calculates a piece of an open stream. each() sees each row and gives 1 to add it to the sum of
 * the group, 0 to leave it out. On failure prints why.
 */
int zeta_report_stream_add(struct zeta_report_stream *stream,
                           const struct zeta_recording_chunk *chunk,
                           uint32_t (*each)(void *user, const struct zeta_metric_row *row),
                           void *user);

/** First reading: notes who the stream is and when it began. */
void zeta_report_stream_index(struct zeta_report *report, struct zeta_recording_reader *reader,
                              const struct zeta_recording_chunk *chunk);

/** Second reading: calculates or decodes a piece. */
void zeta_report_stream_read(struct zeta_report *report, struct zeta_recording_reader *reader,
                             const struct zeta_recording_chunk *chunk);

/** Writes the first line of the rows of a stream: some columns, then its metrics. */
void zeta_report_stream_write_head(const struct zeta_report_stream *stream, const char *columns,
                                   FILE *rows);

/** Writes the rest of a line: the values of a row. */
void zeta_report_row_write(const struct zeta_metric_row *row, FILE *rows);

void zeta_report_stream_finish(struct zeta_report_stream *stream);

/** Counts the runs in the range, by name. */
void zeta_report_kernels_init(struct zeta_report *report);

/**
 * Adds a row, which lasts from times_ns[0] to [1] of the host, to the kernel that it lies inside
 * of; others are counted as shared or idle.
 */
void zeta_report_kernels_add_row(struct zeta_report *report, struct zeta_report_stream *stream,
                                 const int64_t times_ns[2], const struct zeta_metric_row *row);

/** Calculates what is shown, once all rows are there. On failure prints why. */
int zeta_report_kernels_settle(struct zeta_report *report);

/** Kernels by their time, longest first. The caller frees the list. */
const struct zeta_report_kernel **zeta_report_kernels_sorted(const struct zeta_report *report);

/** The name of a kernel, as people write it. */
void zeta_report_kernel_name(const struct zeta_report *report, uint32_t name, char *text,
                             size_t bytes);

void zeta_report_kernels_finish(struct zeta_report *report);

/**
 * Adds the module of a MODULE chunk, which may be any bytes, as number.elf to a folder; none: one
 * is made, for zeta_run_folder_remove(). A chunk that describes no module is passed over. On
 * failure prints why.
 */
int zeta_report_modules_add(struct zeta_run_folder *folder, uint32_t number, const void *payload,
                            uint64_t bytes);

/** Writes the names of the tracks, once before everything else. */
void zeta_report_counters_begin(struct zeta_report *report);

#endif
