/*
 * A capture: records of one device in time, collected by streams or tracers of its backend.
 *
 *   backend --> source --> reads            without an event; and with one, if the backend reports
 *                                           what it has and its ring is large enough
 *   backend --> source's ring --> reads     else: the reactor fills the ring
 *
 * It has a source per tile (one on a device without tiles), totals, and perhaps an event that shows
 * the level "at least N unread records". Streams and tracers differ in how they are opened
 * (open.c), in how the records of several tiles are put in order (tiles.c), and in that
 * a tracer is switched on and off.
 *
 * One thread at a time uses a capture: a call takes its lock, also while it calls the backend. The
 * lock is that of this one object; nothing that a backend may call takes it, and the reactor only
 * tries to.
 */
#ifndef ZETA_CORE_CAPTURE_CAPTURE_H
#define ZETA_CORE_CAPTURE_CAPTURE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <level_zero/ze_api.h>

#include "core/capture/source.h"

struct zeta_compiled;
struct zeta_event;
struct zeta_field;
struct zeta_layout;
struct zeta_plugin_string;
struct zeta_watch;

/** Who shows the level of a capture. The functions are those of events (core/event/event.h). */
struct zeta_capture_event {
    struct zeta_event *event; /**< NULL: nobody */
    bool (*bind)(struct zeta_event *event, bool (*level)(void *context), void *context);
    void (*unbind)(struct zeta_event *event, const void *context);
    void (*notify)(struct zeta_event *event);
};

/** What was given to the application. */
struct zeta_capture_totals {
    uint64_t records;
    uint64_t lost_records;
    uint64_t breaks;
    uint64_t bytes;
    bool ended; /**< no record will ever be added */
};

struct zeta_capture {
    bool is_tracer;                 /**< else a stream */
    char label[192];                /**< "ComputeBasic on vgpu0", for messages */
    const struct zeta_field *clock; /**< record field that orders tiles in time, NULL if none */
    uint32_t record_bytes;
    uint64_t notify_records; /**< N, 0: no notification */
    uint64_t poll_ns;        /**< how often to poll a backend whose level is not watched */
    uint64_t period_ns;      /**< of a stream */
    uint64_t ring_records;   /**< of a stream: capacity, for size queries */

    pthread_mutex_t lock; /**< of what follows, and of the sources */
    bool closed;
    bool enabled;          /**< of a tracer: what was asked for last */
    uint32_t first_source; /**< that the next read of a stream begins with */
    struct zeta_capture_totals totals;

    struct zeta_capture_event bound; /**< its event is NULL without notification */
    struct zeta_watch *watch;        /**< NULL without an event */
    _Atomic bool disarmed;           /**< the watched descriptor fired and waits for a read */
    _Atomic bool stopped;            /**< no record comes any more */

    uint32_t source_count;
    struct zeta_source sources[]; /**< one per tile, or one */
};

/**
 * Makes a capture that is not open yet; the caller sets the provider of each source. Freed with
 * zeta_capture_destroy(). Errors: OUT_OF_HOST_MEMORY.
 */
ze_result_t zeta_capture_create(bool is_tracer, uint32_t source_count,
                                struct zeta_capture **out_capture);

/** Binds the event and registers with the reactor. Errors: OUT_OF_HOST_MEMORY, UNKNOWN. */
ze_result_t zeta_capture_watch(struct zeta_capture *capture,
                               const struct zeta_capture_event *event);

/**
 * Starts or ends the collecting of a tracer. Errors: NOT_READY if it was stopped (enabling only);
 * those of the backend; INVALID_NULL_HANDLE if the capture was closed meanwhile.
 */
ze_result_t zeta_capture_enable(struct zeta_capture *capture, bool on, bool synchronous);

/**
 * Reads whole slots, at most max_records new records. Errors: WARNING_DROPPED_DATA with data that
 * holds a BREAK; INVALID_SIZE, with the size needed, if not even one record fits;
 * INVALID_NULL_HANDLE if the capture was closed meanwhile; what the backend reports once nothing is
 * left to read. Of a tracer NOT_READY with size 0 while an asynchronous enable has no effect yet,
 * and when it is off and drained.
 */
ze_result_t zeta_capture_read(struct zeta_capture *capture, uint32_t max_records,
                              size_t *size_bytes, uint8_t *data);

/**
 * Asks the backend of a tracer for the name of an id, which the caller frees. Errors: NOT_AVAILABLE
 * if it has none, INVALID_NULL_HANDLE if the capture was closed meanwhile, OUT_OF_HOST_MEMORY,
 * those of the backend.
 */
ze_result_t zeta_capture_name(struct zeta_capture *capture, uint64_t id, char **out_name);

/** Reads the totals; false if the capture was closed meanwhile. */
bool zeta_capture_totals(struct zeta_capture *capture, struct zeta_capture_totals *out_totals);

/** Gives up the units; what was collected stays readable. */
void zeta_capture_stop(struct zeta_capture *capture);

/**
 * Ends notification and closes the backend's side; later calls get INVALID_NULL_HANDLE. Errors:
 * HANDLE_OBJECT_IN_USE for a tracer that is enabled; nothing changes.
 */
ze_result_t zeta_capture_close(struct zeta_capture *capture);

/** Ends notification and closes the sources of a capture that could not be opened. */
void zeta_capture_abandon(struct zeta_capture *capture);

/** Frees a closed capture, or one that was never opened. NULL is allowed. */
void zeta_capture_destroy(struct zeta_capture *capture);

/* Streams (open.c): reports that a backend takes with a fixed period. */

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

/** Narrows the periods to those of a set's unit in which no counter that the set reads wraps. */
void zeta_stream_narrow_periods(const struct zeta_provider *provider,
                                const struct zeta_compiled *compiled,
                                struct zeta_stream_periods *periods);

/**
 * Opens the backend's streams with the nearest period that they have, rings, notification. Errors:
 * those of the backend; NOT_AVAILABLE names the process that uses the unit; OUT_OF_HOST_MEMORY.
 */
ze_result_t zeta_stream_open(struct zeta_capture *capture, struct zeta_stream_request *request);

/** Largest size that a read of max_records needs: never 0, at most ZETA_STREAM_MAX_BYTES. */
size_t zeta_stream_read_bytes(const struct zeta_capture *capture, uint32_t max_records);

/*
 * Tracers (open.c): events that a backend collects as they happen. What was collected stays
 * readable in every state:
 *
 *   off --enable--> (starting) --> on --disable--> (stopping) --> off
 */

/** What to open. */
struct zeta_tracer_request {
    const struct zeta_layout *layout;       /**< of all records */
    const struct zeta_plugin_string *units; /**< that are traced, at least one */
    uint32_t unit_count;
    struct zeta_capture_event event;
    uint32_t notify_bytes; /**< in and out */
};

/** Opens the backend's tracers, rings, notification. Errors: the backend's, OUT_OF_HOST_MEMORY. */
ze_result_t zeta_tracer_open(struct zeta_capture *capture, struct zeta_tracer_request *request);

/* Several tiles (tiles.c): the rings are filled, the lock is held. */

/** Reads all tiles up to one instant, each in its part with a TILE slot. */
void zeta_tiles_read_aligned(struct zeta_capture *capture, struct zeta_cursor *cursor);

/** Reads the records of all tiles in the order of time. */
void zeta_tiles_read_merged(struct zeta_capture *capture, struct zeta_cursor *cursor);

#endif
