/*
 * Streams of the virtual GPU for tests: from a group to the values of all that was read.
 */
#ifndef ZETA_TESTS_STREAMER_STREAMING_H
#define ZETA_TESTS_STREAMER_STREAMING_H

#include "tests/query/bed.h"
#include "zeta/zeta.h"

/** Nanoseconds after which the 34-bit clock of the virtual GPU starts anew. */
#define STREAMING_WRAP_NS (UINT64_C(40) << 34)

struct streaming {
    ze_device_handle_t device;
    zet_metric_group_handle_t group;
    zet_metric_streamer_handle_t streamer;
    uint32_t period_ns; /**< in use */
    uint32_t notify;    /**< in use */
    uint32_t metrics;   /**< of the group */
    uint32_t record_bytes;

    uint8_t *raw; /**< of all reads */
    size_t raw_bytes, raw_capacity;
    uint32_t warnings; /**< reads that said that data was dropped */

    zet_typed_value_t *values; /**< of all of raw, after streaming_calculate() */
    uint32_t rows;
};

/** The group of a name that is sampled over time, not opened yet. */
struct streaming streaming_of(ze_device_handle_t device, const char *group);

/** Makes exactly these groups active on their device. */
void streaming_activate(const struct bed *bed, struct streaming *const *streams, uint32_t count);

/** Opens a stream of an active group; event may be NULL. */
void streaming_open(const struct bed *bed, struct streaming *stream, uint32_t period_ns,
                    uint32_t notify, ze_event_handle_t event);

/** One read into room for so many slots, behind all that was read. Returns the bytes that came. */
size_t streaming_read(struct streaming *stream, uint32_t max_reports, size_t slots);

/** Reads until a report of a time after this call is there, and nothing waits any more. */
void streaming_catch_up(struct streaming *stream);

/** What the library says of the stream. */
struct zeta_stream_info streaming_info(const struct streaming *stream);

/** Reads until the report of a deadline is there, which is all of raw then; what was said there. */
struct zeta_stream_info streaming_begin_at_a_deadline(struct streaming *stream);

/**
 * Goes through raw, which begins at a deadline: what was given and what was lost, as the breaks
 * say, are the deadlines since; the library counts the same since before; each row is of one
 * period.
 */
void streaming_expect_all_told(struct streaming *stream, const struct zeta_stream_info *before);

/** Calculates all of raw, for a device without tiles; a warning is right if reads gave some. */
void streaming_calculate(struct streaming *stream);

/** A value of a row. */
const zet_typed_value_t *streaming_value(const struct streaming *stream, uint32_t row,
                                         const char *metric);

/** Sum over all rows of a metric of type UINT64. */
uint64_t streaming_sum(const struct streaming *stream, const char *metric);

/** Closes the stream and frees what was read. */
void streaming_close(struct streaming *stream);

/** The time of a report as QueryBeginTime has it. */
uint64_t streaming_report_ns(const uint8_t *report);

/** The device clock as QueryBeginTime has it. */
uint64_t streaming_now_ns(ze_device_handle_t device);

/** Time from a to b on the clock that starts anew; b is not before a. */
uint64_t streaming_between_ns(uint64_t a_ns, uint64_t b_ns);

#endif
