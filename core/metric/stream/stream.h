/*
 * A stream: sampling of one group on one device, as the application sees it.
 *
 * It has a source per tile (one on a device without tiles), statistics, and perhaps an event that
 * shows the level "at least N unread records".
 *
 *   backend --> source --> reads            without an event; and with one, if the backend tells
 *                                           what it holds and its ring is large enough
 *   backend --> source's ring --> reads     else: the reactor fills the ring
 *
 * Calls for one stream are serialised by a turn (turn.h), so nothing is locked while a plugin is
 * called.
 */
#ifndef ZETA_CORE_METRIC_STREAM_STREAM_H
#define ZETA_CORE_METRIC_STREAM_STREAM_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <level_zero/zet_api.h>

#include "core/capture/source.h"
#include "core/capture/turn.h"

struct zeta_device;
struct zeta_event;
struct zeta_metric_group;
struct zeta_watch;

/** Bytes that one stream's ring may take; also the most that a size query answers. */
#define ZETA_STREAM_MAX_BYTES (UINT64_C(32) << 20)
/** Records that a ring holds at least. */
#define ZETA_STREAM_MIN_RECORDS 4096u
/** Records that a backend is asked for: seconds of a reader that gets no processor. */
#define ZETA_STREAM_BACKEND_RECORDS 65536u

/** Where a stream stands as a holder of its unit. Behind the lock of the device's metrics. */
enum zeta_stream_state {
    ZETA_STREAM_OPENING, /**< the backend is being asked */
    ZETA_STREAM_OPEN,
    ZETA_STREAM_STOPPED /**< deactivated: the unit is free, what was collected is readable */
};

struct zeta_stream {
    struct zeta_stream *next; /**< in the root device's list; behind its lock */
    enum zeta_stream_state state;
    bool stop_wanted;  /**< deactivated while it was opening */
    uint32_t borrowed; /**< threads that use it after they let go of the list's lock */

    struct zeta_device *device;
    struct zeta_metric_group *group;
    const struct zeta_field *clock; /**< record field that orders tiles in time, NULL if none */
    char label[192];                /**< "ComputeBasic on vgpu0", for messages */
    uint32_t record_bytes;
    uint64_t period_ns;    /**< in use */
    uint32_t notify_count; /**< N, 0: no notification */
    uint64_t ring_records; /**< capacity, for size queries */
    uint32_t source_count;
    struct zeta_source *sources;

    struct zeta_turn turn;

    struct zeta_event *event; /**< bound, NULL if none */
    struct zeta_watch *watch; /**< NULL without an event */
    _Atomic bool disarmed;    /**< the watched descriptor fired and waits for a read */
    _Atomic bool stopped;     /**< no record comes any more */
    uint32_t first_source;    /**< that the next read begins with */

    uint64_t records; /**< statistics, in one's turn */
    uint64_t lost_records;
    uint64_t breaks;
    uint64_t bytes;
};

/** What to open; period and N are in and out. */
struct zeta_stream_request {
    struct zeta_device *device;
    struct zeta_metric_group *group;
    struct zeta_event *event; /**< NULL: no notification */
    uint64_t period_ns;
    uint32_t notify_count;
};

/**
 * Makes a stream that is not open yet, so that it can be put in the list that guards its unit.
 * Ownership: freed with zeta_stream_destroy(). Errors: OUT_OF_HOST_MEMORY.
 */
ze_result_t zeta_stream_create(const struct zeta_stream_request *request,
                               struct zeta_stream **out_stream);

/**
 * The periods that the units of a group's tiles all have and in which nothing that its set reads
 * can come around; 0 and 0 if no backend says any.
 */
void zeta_stream_periods(const struct zeta_device *device, const struct zeta_metric_group *group,
                         uint64_t *out_min_ns, uint64_t *out_max_ns);

/**
 * Opens the backend's streams, the nearest period that they have, rings, notification.
 * Errors: those of the backend; OUT_OF_HOST_MEMORY. Nothing stays open then.
 */
ze_result_t zeta_stream_open(struct zeta_stream *stream, struct zeta_stream_request *request);

/**
 * Reads as zetMetricStreamerReadData does.
 *
 * Errors: WARNING_DROPPED_DATA with data that holds a BREAK; INVALID_SIZE, with the size needed, if
 * not even one record fits; INVALID_NULL_HANDLE if the stream was closed meanwhile; what the
 * backend says once nothing is left to read.
 */
ze_result_t zeta_stream_read(struct zeta_stream *stream, uint32_t max_records, size_t *size_bytes,
                             uint8_t *data);

/** Largest size that a read of max_records needs: never 0, at most ZETA_STREAM_MAX_BYTES. */
size_t zeta_stream_read_bytes(const struct zeta_stream *stream, uint32_t max_records);

/** Gives up the units; what was collected stays readable. */
void zeta_stream_stop(struct zeta_stream *stream);

/**
 * Ends notification and closes the backend's streams. Reads that wait get INVALID_NULL_HANDLE.
 */
void zeta_stream_close(struct zeta_stream *stream);

/** Frees a closed stream, or one that was never opened. NULL is allowed. */
void zeta_stream_destroy(struct zeta_stream *stream);

/** Statistics of a stream. */
struct zeta_stream_totals {
    uint64_t records;
    uint64_t lost_records;
    uint64_t breaks;
    uint64_t bytes;
    bool ended; /**< no record will ever be added */
};

/** Reads the statistics; false if the stream was closed meanwhile. */
bool zeta_stream_totals(struct zeta_stream *stream, struct zeta_stream_totals *out_totals);

#endif
