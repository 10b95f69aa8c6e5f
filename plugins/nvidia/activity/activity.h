#ifndef ZETA_PLUGINS_NVIDIA_ACTIVITY_ACTIVITY_H
#define ZETA_PLUGINS_NVIDIA_ACTIVITY_ACTIVITY_H

/*
 * The tracer: what this process lets a GPU do, from CUPTI's activity records.
 *
 *     CUPTI's thread --complete()--> collect.c: event.c, names.c --> window of each tracer
 *     pump's thread of a tracer, 20 times a second: dropped records, window --> ring --> read
 *
 * CUPTI knows one user of its activity interface in a process, and no device there: collect.c is
 * that user for the tracers of all devices. It collects while one of them is on. Records of work
 * that ended come at the latest with the next flush, 20 times a second; so what ended a quarter of
 * a second ago has nothing earlier behind it. When a tracer is turned off everything is flushed.
 */

#include <zeta/record_ring.h>

#include "plugins/nvidia/activity/event.h"
#include "plugins/nvidia/gpu/nvidia.h"

/** The counting units, as set files call them. */
#define NVIDIA_ACTIVITY_UNIT "activity"
#define NVIDIA_ACTIVITY_STATUS_UNIT "activity-status"

/** Periods of the status. */
#define NVIDIA_ACTIVITY_PERIOD_MIN_NS UINT64_C(1000000)
#define NVIDIA_ACTIVITY_PERIOD_MAX_NS UINT64_C(60000000000)

/**
 * Fills the limits of both units; of activity only the notes count. UNSUPPORTED_FEATURE with a
 * sentence without CUPTI. Any thread.
 */
uint32_t nvidia_activity_limits(struct zeta_plugin_device *device,
                                struct zeta_plugin_limits *out_limits);

extern const struct zeta_plugin_tracer_ops nvidia_tracer_ops;

/* ---- how the tracer keeps up (status.c) ----------------------------------------------------- */

/**
 * As stream_open() of zeta/plugin_metric.h, for the unit activity-status: records (struct
 * nvidia_interval) about the tracer of the device. The program does not count.
 */
uint32_t nvidia_activity_status_open(struct zeta_plugin_device *device,
                                     struct zeta_plugin_stream_desc *desc,
                                     struct zeta_plugin_stream **out_stream);

/** What the tracers of a device did so far, and what the one that is open holds. */
struct nvidia_activity_counts {
    uint64_t written, lost; /**< events, since the process began */
    uint64_t waiting;       /**< to be read, or held back */
    uint64_t capacity;      /**< of the ring; 0: no tracer is open */
};

struct nvidia_activity_counts nvidia_activity_counts(struct zeta_plugin_device *device);

#endif
