/*
 * What the tests of metric tracers have in common: a device of the fake backend, tracers on it, raw
 * data, and entries.
 */
#ifndef ZETA_TESTS_METRIC_TRACER_TRACE_BED_H
#define ZETA_TESTS_METRIC_TRACER_TRACE_BED_H

#include "tests/harness/control.h"
#include "tests/harness/device/tracer_control.h"
#include "tests/metric_api/harness.h"

#define TRACER_BASED ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EXP_TRACER_BASED
#define BED_MAX_BYTES 65536u
/** Less than the library wants, so that opening is quick where memory is checked. */
#define BED_RING_BYTES (1u << 20)

struct trace_bed {
    const char *name;
    ze_device_handle_t device;
    ze_context_handle_t context;
    const struct trace_control *control;
    zet_metric_group_handle_t groups[4];
    uint32_t group_count;
    zet_metric_tracer_exp_handle_t tracer;
    uint8_t raw[BED_MAX_BYTES]; /**< of all reads, one after the other */
    size_t raw_bytes;
};

/** The device, fresh, with nothing active. To be ended with bed_free(). */
struct trace_bed bed_make(const char *device);

/** Destroys the tracer if there is one, deactivates, and checks what the backend saw. */
void bed_free(struct trace_bed *bed);

/** Activates the groups of these names (second may be NULL). */
void bed_activate(struct trace_bed *bed, const char *first, const char *second);

/** Creates a tracer of the active groups; the level that was written back. */
uint32_t bed_create(struct trace_bed *bed, uint32_t notify_bytes, ze_event_handle_t event);

/** Activates KernelEvents, creates a tracer and enables it. */
void bed_start(struct trace_bed *bed);

/** Reads once into a buffer of that size, and expects a result; bytes that came. */
size_t bed_read(struct trace_bed *bed, size_t buffer_bytes, ze_result_t wanted);

/** Record of a position in the data read so far. */
struct trace_record bed_record(const struct trace_bed *bed, size_t index);

/** Bytes of as many records. */
static inline size_t bytes_of(size_t records)
{
    return records * TRACE_RECORD_BYTES;
}

/** Nanoseconds of an event by its number. */
uint64_t time_of_event(uint64_t id);

/** A decoder with its metrics. */
struct trace_decoder {
    zet_metric_decoder_exp_handle_t handle;
    zet_metric_handle_t metrics[16];
    uint32_t count;
};

struct trace_decoder bed_decoder(const struct trace_bed *bed);

/** Position of a metric of that name among those of the decoder. */
uint32_t decoder_metric(const struct trace_decoder *decoder, const char *name);

/** Entries that one call gave. */
struct trace_entries {
    zet_metric_entry_exp_t entries[256];
    uint32_t count;
    uint32_t sets;
    uint32_t per_set[4];
    size_t consumed;
};

/** Decodes with room for so many entries; all metrics. */
struct trace_entries decode_some(const struct trace_decoder *decoder, const uint8_t *raw,
                                 size_t raw_bytes, uint32_t room);

#endif
