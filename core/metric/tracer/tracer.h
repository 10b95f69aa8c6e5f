/*
 * A metric tracer: events of some groups of one device, as the application collects them.
 *
 * It has a source per tile (one on a device without tiles), each with a tracer of a backend, and
 * perhaps an event that shows the level "at least N unread bytes".
 *
 *   off --enable--> (starting) --> on --disable--> (stopping) --> off
 *
 * What was collected stays readable in every state. Calls for one tracer are serialised by a turn
 * (turn.h).
 */
#ifndef ZETA_CORE_METRIC_TRACER_TRACER_H
#define ZETA_CORE_METRIC_TRACER_TRACER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <level_zero/zet_api.h>

#include "core/capture/source.h"
#include "core/capture/turn.h"
#include "core/object/object.h"

struct zeta_device;
struct zeta_device_metrics;
struct zeta_event;
struct zeta_layout;
struct zeta_metric_group;
struct zeta_watch;

/** Bytes of a ring that a backend is asked for; half of it is the largest notification level. */
#define ZETA_TRACER_RING_BYTES (UINT32_C(32) << 20)
/** Where a level that was not said, or is absurd, comes to: whole records below this. */
#define ZETA_TRACER_NOTIFY_BYTES 512u

/** Where a tracer stands as a holder of its units. Behind the lock of the device's metrics. */
enum zeta_tracer_hold {
    ZETA_TRACER_OPENING, /**< the backend is being asked */
    ZETA_TRACER_OPEN,
    ZETA_TRACER_STOPPED /**< deactivated: the units are free, what was collected is readable */
};

struct zeta_tracer {
    struct zeta_tracer *next; /**< in the root device's list; behind its lock */
    enum zeta_tracer_hold hold;
    bool stop_wanted;  /**< deactivated while it was opening */
    uint32_t borrowed; /**< threads that use it after they let go of the list's lock */

    struct zeta_device *device;
    struct zeta_metric_group **groups;
    uint32_t group_count;
    const struct zeta_layout *layout; /**< of all groups */
    char label[192];                  /**< "KernelEvents on vgpu0", for messages */
    uint32_t record_bytes;
    uint32_t notify_bytes; /**< N: whole records */
    uint32_t source_count;
    struct zeta_source *sources;

    struct zeta_turn turn;
    bool enabled; /**< what was asked for last; in one's turn */

    struct zeta_event *event; /**< bound, NULL if none */
    struct zeta_watch *watch; /**< NULL without an event */
    _Atomic bool disarmed;    /**< the watched descriptor fired and waits for a read */
    _Atomic bool stopped;     /**< no record comes any more */
};

/** The object behind zet_metric_tracer_exp_handle_t. */
struct zeta_metric_tracer {
    struct zeta_object object;
    struct zeta_tracer *tracer; /**< freed with the last pin */
};

/** What to open. */
struct zeta_tracer_request {
    struct zeta_device *device;
    struct zeta_metric_group *const *groups; /**< at least one, of one layout; copied */
    uint32_t group_count;
    struct zeta_event *event; /**< NULL: no notification */
    uint32_t notify_bytes;    /**< in and out */
};

/**
 * Makes a tracer that is not open yet, so that it can be put in the list that guards its units.
 * Ownership: freed with zeta_tracer_destroy(). Errors: OUT_OF_HOST_MEMORY.
 */
ze_result_t zeta_tracer_create(const struct zeta_tracer_request *request,
                               struct zeta_tracer **out_tracer);

/**
 * Opens the backend's tracers, rings and notification. It is off then.
 * Errors: those of the backend; OUT_OF_HOST_MEMORY. Nothing stays open then.
 */
ze_result_t zeta_tracer_open(struct zeta_tracer *tracer, struct zeta_tracer_request *request);

/**
 * Starts or ends collecting. Doing it again is fine.
 * Errors: NOT_READY if the tracer was stopped by deactivation (enabling only); those of the
 * backend; INVALID_NULL_HANDLE if the tracer was destroyed meanwhile.
 */
ze_result_t zeta_tracer_enable(struct zeta_tracer *tracer, bool synchronous);
ze_result_t zeta_tracer_disable(struct zeta_tracer *tracer, bool synchronous);

/**
 * Reads whole records.
 *
 * Errors: WARNING_DROPPED_DATA with data that holds a BREAK; NOT_READY with size 0 while an
 * asynchronous enable has no effect yet, and when the tracer is off and drained; INVALID_SIZE, with
 * the size needed, if not even one record fits; INVALID_NULL_HANDLE as above; what the backend says
 * once nothing is left to read.
 */
ze_result_t zeta_tracer_read(struct zeta_tracer *tracer, size_t *size_bytes, uint8_t *data);

/** Gives up the units; what was collected stays readable. */
void zeta_tracer_stop(struct zeta_tracer *tracer);

/**
 * Ends the tracer if it is not enabled: HANDLE_OBJECT_IN_USE else. Reads that wait, and a second
 * close, get INVALID_NULL_HANDLE.
 */
ze_result_t zeta_tracer_close(struct zeta_tracer *tracer);

/** Frees a closed tracer, or one that was never opened. NULL is allowed. */
void zeta_tracer_destroy(struct zeta_tracer *tracer);

/** Reads a tracer with several sources: all of them in the order of time (tracer_tiles.c). */
void zeta_tracer_read_tiles(struct zeta_tracer *tracer, struct zeta_cursor *cursor);

/* Tracers as users of groups (tracer_use.c); the lock is that of the root device's metrics. */

/**
 * Puts the tracer into the list, if its groups are active and its units free.
 * Errors: NOT_READY, HANDLE_OBJECT_IN_USE.
 */
ze_result_t zeta_tracer_reserve_locked(struct zeta_device_metrics *root,
                                       struct zeta_tracer *tracer);

/** Ends the opening; true if a group was deactivated meanwhile and the tracer has to stop. */
bool zeta_tracer_settle(struct zeta_device_metrics *root, struct zeta_tracer *tracer);

/** Takes the tracer out of the list; nobody uses it through the list afterwards. */
void zeta_tracer_release(struct zeta_device_metrics *root, struct zeta_tracer *tracer);

/** HANDLE_OBJECT_IN_USE if activating these groups instead would take one away from a tracer. */
ze_result_t zeta_tracers_check_kept_locked(const struct zeta_device_metrics *metrics,
                                           uint32_t count, struct zeta_metric_group *const *groups);

/** Stops tracers of groups that are not active any more. Takes the lock away meanwhile. */
void zeta_tracers_stop_inactive_locked(struct zeta_device_metrics *root);

/** HANDLE_OBJECT_IN_USE if a tracer of the device or of its tiles lives. */
ze_result_t zeta_tracers_check_unused_locked(const struct zeta_device_metrics *metrics);

#endif
