/*
 * Streamers: the handles of streams.
 */
#ifndef ZETA_CORE_METRIC_STREAM_STREAMER_H
#define ZETA_CORE_METRIC_STREAM_STREAMER_H

#include <level_zero/ze_api.h>

#include "core/object/object.h"

struct zeta_device;
struct zeta_event;
struct zeta_context;
struct zeta_stream;

/** The object behind zet_metric_streamer_handle_t. */
struct zeta_metric_streamer {
    struct zeta_object object;
    struct zeta_stream *stream;         /**< freed with the last pin */
    const struct zeta_context *context; /**< only to compare, not pinned */
};

/**
 * Checks the notification event of a stream or tracer; NULL is fine. The host has to be able to see
 * it: its pool says so, or its own scope (the example of the programming guide has a pool without
 * the flag and an event of host scope). INVALID_SYNCHRONIZATION_OBJECT else.
 */
ze_result_t zeta_metric_check_event(const struct zeta_event *event,
                                    const struct zeta_device *device);

#endif
