/*
 * Opening captures as streams: reports that a backend takes with a fixed period.
 */
#ifndef ZETA_CORE_CAPTURE_STREAM_H
#define ZETA_CORE_CAPTURE_STREAM_H

#include <stdint.h>

#include "core/capture/capture.h"

struct zeta_compiled;

/** Bytes that one stream's ring may take; also the most that a size query answers. */
#define ZETA_STREAM_MAX_BYTES (UINT64_C(32) << 20)

/** What to open; period and N are in and out. */
struct zeta_stream_request {
    struct zeta_compiled *const *compiled; /**< the set, one per source */
    struct zeta_capture_event event;
    uint64_t period_ns;
    uint32_t notify_count;
};

/** The periods that units have: 0 and 0 as long as no backend gave any. */
struct zeta_stream_periods {
    uint64_t min_ns;
    uint64_t max_ns;
};

/**
 * Narrows the periods to those that the unit of a set has, and in which no counter that the set
 * reads wraps.
 */
void zeta_stream_narrow_periods(const struct zeta_provider *provider,
                                const struct zeta_compiled *compiled,
                                struct zeta_stream_periods *periods);

/**
 * Opens the backend's streams with the nearest period that they have, rings, notification.
 * Errors: those of the backend; NOT_AVAILABLE names the process that uses the unit;
 * OUT_OF_HOST_MEMORY. Nothing stays open then.
 */
ze_result_t zeta_stream_open(struct zeta_capture *capture, struct zeta_stream_request *request);

/** Largest size that a read of max_records needs: never 0, at most ZETA_STREAM_MAX_BYTES. */
size_t zeta_stream_read_bytes(const struct zeta_capture *capture, uint32_t max_records);

#endif
