/*
 * What devices did, in the trace: when each kernel, copy and fill ran, on a track of its queue.
 *
 * While a trace is written, a submission is handed to the backend as a copy of its commands in
 * which each of them signals something: an address with its lowest bit set, which is ours, and
 * leads to the event that the application wanted signalled, if any. So the backend reports times
 * for all of them, and neither it nor a recorded list has to know.
 */
#ifndef ZETA_CORE_EVENT_ACTIVITY_H
#define ZETA_CORE_EVENT_ACTIVITY_H

#include <stdatomic.h>
#include <stdint.h>

#include <zeta/plugin.h>

struct zeta_device;
struct zeta_trace_activity;

/** The track of a queue. All zero bytes is one that nothing was recorded on. */
struct zeta_trace_track {
    _Atomic uint32_t number;      /**< from 1; 0: none yet */
    _Atomic uint32_t generation;  /**< of the trace that has its name */
    _Atomic uint64_t last_end_ns; /**< nothing on the track begins before */
};

/** Whose commands are watched. The pointers are valid until the activity is destroyed. */
struct zeta_trace_queue {
    struct zeta_device *device;
    struct zeta_trace_track *track;
    uint32_t ordinal; /**< queue group */
    uint32_t index;   /**< queue in the group */
};

/**
 * Watches commands if a trace is written.
 *
 * @commands      array of struct zeta_plugin_command; changed to the copy to hand over
 * @out_activity  to destroy when the submission is over; null: nothing is watched
 *
 * When there is no memory the commands go unwatched, and count as lost. Any thread.
 */
void zeta_trace_activity_watch(const struct zeta_trace_queue *queue,
                               struct zeta_plugin_array *commands,
                               struct zeta_trace_activity **out_activity);

/** Frees a copy. Null is allowed. */
void zeta_trace_activity_destroy(struct zeta_trace_activity *activity);

/** zeta_trace_activity_event() for an address of ours. */
struct zeta_plugin_event *zeta_trace_activity_record(struct zeta_plugin_event *event,
                                                     const struct zeta_plugin_times *times);

/**
 * The event of the application behind what a backend signals, null if it wanted none. Records the
 * command; times null: it did not run. Any thread.
 */
static inline struct zeta_plugin_event *
zeta_trace_activity_event(struct zeta_plugin_event *event, const struct zeta_plugin_times *times)
{
    return (uintptr_t)event & 1 ? zeta_trace_activity_record(event, times) : event;
}

#endif
