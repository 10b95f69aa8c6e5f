/*
 * Everything that zeta report finds in a recording.
 *
 * The file is read twice, and never kept: first who and what is in it and when work ran on the
 * device, then the values, which need that.
 */
#ifndef ZETA_TOOLS_RECORDING_DATA_H
#define ZETA_TOOLS_RECORDING_DATA_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <zeta/container.h>
#include <zeta/zeta.h>

#include "sdk/tools/zeta/calc/calc.h"
#include "sdk/tools/zeta/profile/ip_profile.h"
#include "sdk/tools/zeta/program/run_folder.h"
#include "sdk/tools/zeta/recording/clock.h"
#include "sdk/tools/zeta/recording/options.h"
#include "sdk/tools/zeta/recording/runs.h"
#include "sdk/tools/zeta/trace/summary.h"
#include "sdk/tools/zeta/trace/writer.h"

enum {
    ZETA_REPORT_MAX_KERNELS = 256, /**< whose metrics are summed up */
    ZETA_REPORT_POINTS = 2048,     /**< of a plot at most */
    ZETA_REPORT_MAX_MARKERS = 10000
};

struct zeta_report_device {
    uint32_t number;
    char name[ZE_MAX_DEVICE_NAME];
    char id[64];
    char device_class[16];
    uint64_t timer_hz;
    uint32_t timestamp_bits;
    struct zeta_report_clock clock;
    struct zeta_report_clock first_clock; /**< as the first CLOCK chunk set it */
    bool has_first_clock;
};

/** Points at most; even, because neighbours are joined. */
enum { ZETA_ENVELOPE_POINTS = 2048 };

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
 * Counts something at a time. False without memory.
 *
 * @width_ns  of the points before any are joined, above 0; only that of the first time counts
 */
bool zeta_envelope_add(struct zeta_envelope *line, uint64_t time_ns, uint64_t width_ns);

void zeta_envelope_finish(struct zeta_envelope *line);

/** How a stream is shown. */
enum zeta_report_kind {
    ZETA_REPORT_ROWS,    /**< metric values over time, or of queries */
    ZETA_REPORT_SAMPLES, /**< of instruction pointers */
    ZETA_REPORT_EVENTS
};

/** One metric of a stream of events. */
struct zeta_report_event_metric {
    struct zeta_exported_metric described;
    uint64_t entries;
    struct zeta_envelope line; /**< entries as they came */
};

struct zeta_report_stream {
    struct zeta_calc_stream calc; /**< not of events */
    enum zeta_report_kind kind;
    uint32_t number;
    uint32_t device; /**< index of the device */
    bool has_device;
    char name[ZET_MAX_METRIC_GROUP_NAME];
    uint32_t record_bytes;
    uint64_t period_ns;
    uint64_t data_bytes;
    bool is_bad;       /**< its data cannot be used; that was printed */
    bool has_time;     /**< its rows have times */
    bool was_placed;   /**< the first row was seen */
    bool has_first;    /**< first_ns is set and waits for a clock */
    uint64_t first_ns; /**< begin of the first row, on the clock of the device */
    uint64_t outside;  /**< rows that are not in the range of time that was asked for */
    uint64_t timeless; /**< rows that are left out because they have no time */

    struct zeta_report_event_metric *events; /**< of events */
    uint32_t event_count;
    uint64_t event_entries;
    uint64_t lost_events;
    zet_metric_entry_exp_t *entries; /**< room for those of one piece */
    uint32_t entry_room;

    struct zeta_sum_line *lines; /**< of rows: one per tile */
    uint64_t idle_rows, shared_rows;
    int32_t marker_index; /**< metric StreamMarker; -1: none */
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
    struct zeta_report_device *devices;
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

    /* Of the second reading. */
    uint32_t only_stream; /**< rows of this one are written; 0: none */
    FILE *rows;
    struct zeta_trace_writer *trace;
    char *lines; /**< room for the lines of a TRACE chunk */
    size_t line_bytes;
    struct zeta_calc_room room;   /**< for exported data of one piece */
    uint32_t orphans;             /**< pieces of streams that are not described */
    uint32_t bad_streams;         /**< whose data cannot be used */
    bool has_no_memory;           /**< something could not be kept */
    uint64_t rows_without_kernel; /**< of kernels beyond ZETA_REPORT_MAX_KERNELS */
};

/** A line of META; false if there is none. The text is cleaned. */
bool zeta_report_meta(const struct zeta_report *report, const char *key, uint32_t index,
                      char *value, size_t bytes);

/** The stream or device of a number in the file; null if it is not described. */
struct zeta_report_stream *zeta_report_find_stream(const struct zeta_report *report,
                                                   uint32_t number);
struct zeta_report_device *zeta_report_find_device(const struct zeta_report *report,
                                                   uint32_t number);

/** The device of a stream; null if it is not described. */
struct zeta_report_device *zeta_report_device_of(const struct zeta_report *report,
                                                 const struct zeta_report_stream *stream);

/** Something was recorded at that time of the host. */
void zeta_report_extend(struct zeta_report *report, int64_t time_ns);

/** Adds a marker. False without memory. */
bool zeta_report_add_marker(struct zeta_report *report, int64_t time_ns, uint64_t value,
                            const char *source);

/** Whether times of the host are in the range that was asked for, both ends of them. */
bool zeta_report_in_range(const struct zeta_report *report, int64_t begin_ns, int64_t end_ns);

/** When a line was, in the time of the host. False for one that has no time, or none that fits. */
bool zeta_report_trace_time(const struct zeta_report *report, const struct zeta_trace_line *line,
                            int64_t *out_begin_ns, int64_t *out_end_ns);

/** First reading: who and what, and when. On failure prints why. */
int zeta_report_index(struct zeta_report *report);

/** Second reading: values. On failure prints why. */
int zeta_report_read(struct zeta_report *report);

void zeta_report_finish(struct zeta_report *report);

#endif
