/* Streams of emulated GPUs, from their group to all that was read and its values. */
#ifndef ZETA_TESTS_INTEL_STREAM_BED_H
#define ZETA_TESTS_INTEL_STREAM_BED_H

#include "tests/intel/machine_bed.h"

/** Time of a manual machine that passes while something is waited for, and how often. */
enum { BED_STEP_NS = 1000000, BED_STEPS = 20000 };

/** A stream with all that it needs, and what it gave. */
struct bed_stream {
    ze_device_handle_t device;
    ze_context_handle_t context;
    zet_metric_group_handle_t group;
    zet_metric_group_properties_t properties;
    zet_metric_streamer_handle_t streamer;
    ze_event_handle_t event; /**< in: to be signalled; may be NULL */
    uint32_t record_bytes;
    uint32_t period_ns; /**< in: wanted; out: used */
    uint32_t notify;    /**< in: wanted; out: used */
    uint8_t *raw;       /**< of all of bed_stream_read() */
    size_t capacity;    /**< room there */
    size_t bytes;       /**< of it */
    size_t chunk_bytes; /**< of one read */
    uint32_t warnings;  /**< reads that said that data was dropped */
    bool is_sample;     /**< no record is repeated, and two may be equal */
    bool is_shared;     /**< the context is another stream's, which has made the group active */
};

/* ---- opening ------------------------------------------------------------------------------ */

/** Activates a group and opens a stream that tells of each report. */
struct bed_stream bed_open(ze_device_handle_t device, const char *group, uint32_t period_ns);

/** The same, when opening has to fail; the case looks at the sentence next, and ends. */
void bed_open_fails(ze_device_handle_t device, const char *group, uint32_t period_ns,
                    ze_result_t wanted);

/** The group of a name that is sampled over time, not opened yet. */
struct bed_stream bed_stream_of(ze_device_handle_t device, const char *group);

/** Makes the groups of these streams of one device active, all in the context of the first. */
void bed_streams_activate(struct bed_stream *const *streams, uint32_t count);

/** Opens a stream whose group is active. */
ze_result_t bed_stream_try_open(struct bed_stream *stream);
void bed_stream_open(struct bed_stream *stream);

/** Activates and opens one stream. */
void bed_stream_start(struct bed_stream *stream);

/** Closes and deactivates, and drops what was read. */
void bed_close(struct bed_stream *stream);

/** Groups of a device by name; 0: it has none of that name. */
uint32_t bed_group_count(ze_device_handle_t device, const char *name);

/* ---- reading into the case's memory ------------------------------------------------------- */

/** Reads what is there; the bytes. Fails unless the result is the wanted one. */
size_t bed_read(struct bed_stream *stream, uint8_t *data, size_t bytes, ze_result_t wanted);

/**
 * Lets time pass until at least so many reports came, and reads them; the number of slots, of which
 * the first may be the baseline.
 */
uint32_t bed_collect(struct bed_stream *stream, uint32_t reports, uint8_t *data, size_t bytes);

/** A calculated value as a whole number. */
uint64_t bed_value(const zet_typed_value_t *value);

/* ---- reading all into the stream's -------------------------------------------------------- */

/** Reads once, and until nothing is left. The result of the last read that failed, or SUCCESS. */
ze_result_t bed_stream_read(struct bed_stream *stream);
ze_result_t bed_stream_drain(struct bed_stream *stream);

/** Records in the order of time, without repeated ones and what the library says in between. */
uint32_t bed_record_count(const struct bed_stream *stream);
const uint8_t *bed_record(const struct bed_stream *stream, uint32_t index);

/** A number of so many bytes in a record. */
uint64_t bed_get(const uint8_t *record, size_t at, size_t bytes);

/** Breaks of that reason (ZETA_PLUGIN_BREAK_*) in what was read. */
uint32_t bed_break_count(const struct bed_stream *stream, uint32_t reason);

/** Values of everything that was read. */
struct bed_rows {
    zet_typed_value_t *values;
    uint32_t rows, metrics;
};
struct bed_rows bed_calculate(const struct bed_stream *stream);
zet_value_t bed_row_value(const struct bed_stream *stream, const struct bed_rows *rows,
                          uint32_t row, const char *metric);
void bed_rows_free(struct bed_rows *rows);

#endif
