/*
 * Tracers for tests: from groups to entries by name.
 */
#ifndef ZETA_TESTS_TRACER_TRACING_H
#define ZETA_TESTS_TRACER_TRACING_H

#include "tests/metric_api/harness.h"

struct bed; /* tests/query/bed.h */

#define TRACER_BASED ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EXP_TRACER_BASED

#define TRACING_METRICS 64u

/** Nanoseconds after which the 34-bit clock of the virtual GPU starts anew. */
#define TRACING_WRAP_NS (UINT64_C(40) << 34)

struct tracing {
    ze_context_handle_t context;
    ze_device_handle_t device;
    zet_metric_group_handle_t groups[2];
    zet_metric_tracer_exp_handle_t tracer;
    zet_metric_decoder_exp_handle_t decoder;
    uint32_t metric_count;
    zet_metric_handle_t metrics[TRACING_METRICS];
    char names[TRACING_METRICS][ZET_MAX_METRIC_NAME];

    uint8_t *raw; /**< of all reads */
    size_t raw_bytes, raw_capacity;
    bool dropped; /**< some read said so */

    zet_metric_entry_exp_t *entries; /**< of all of raw, after tracing_decode() */
    uint32_t entry_count;
    uint32_t sets;
    uint32_t per_set[8];
};

/**
 * Activates KernelEvents and DeviceEvents of a virtual GPU (NULL: that of the bed), creates a
 * tracer and its decoder.
 */
struct tracing tracing_begin(const struct bed *bed, ze_device_handle_t device);

/** Destroys all of it, and deactivates. */
void tracing_end(struct tracing *tracing);

/** Creates a tracer of one or two groups of any device, which are active, and its decoder. */
struct tracing tracing_open(ze_context_handle_t context, ze_device_handle_t device, uint32_t count,
                            zet_metric_group_handle_t *groups);

/** Destroys all of it. */
void tracing_close(struct tracing *tracing);

void tracing_enable(struct tracing *tracing);
void tracing_disable(struct tracing *tracing);

/** Reads until nothing is left, whether the tracer is on or off. */
void tracing_read(struct tracing *tracing);

/** Decodes all that was read, in one call. */
void tracing_decode(struct tracing *tracing);

/** Number of entries of a metric. */
uint32_t tracing_count(const struct tracing *tracing, const char *metric);

/** Entry of a metric by its position among those; fails the test if there is none. */
const zet_metric_entry_exp_t *tracing_entry(const struct tracing *tracing, const char *metric,
                                            uint32_t position);

/** Sum of the values of all entries of a metric, whose type is UINT32 or UINT64. */
uint64_t tracing_sum(const struct tracing *tracing, const char *metric);

/** True if b is not before a on the clock that starts anew. */
bool tracing_in_order(uint64_t a_ns, uint64_t b_ns);

#endif
