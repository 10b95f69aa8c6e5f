/*
 * Collectors: what is behind streamers and metric tracers, a capture and the groups that it
 * collects.
 */
#ifndef ZETA_CORE_METRIC_STREAM_COLLECTOR_H
#define ZETA_CORE_METRIC_STREAM_COLLECTOR_H

#include <stdint.h>

#include <level_zero/ze_api.h>

#include "core/capture/capture.h"
#include "core/metric/activation/client.h"
#include "core/object/object.h"

struct zeta_context;
struct zeta_device;
struct zeta_device_metrics;
struct zeta_event;
struct zeta_metric_group;

/** The object behind zet_metric_streamer_handle_t and zet_metric_tracer_exp_handle_t. */
struct zeta_collector {
    struct zeta_object object;
    struct zeta_client client; /**< with the device and the groups, which are pinned */
    struct zeta_capture *capture;
    struct zeta_device_metrics *root;   /**< whose list the client is in */
    const struct zeta_context *context; /**< only to compare, not pinned */
};

/**
 * Checks the device and the notification event. The host has to be able to see the event: its pool
 * has the flag for that, or its own scope (the example of the programming guide has a pool without
 * the flag and an event of host scope). Errors: INVALID_ARGUMENT, INVALID_SYNCHRONIZATION_OBJECT.
 */
ze_result_t zeta_collector_check(const struct zeta_context *context,
                                 const struct zeta_device *device, const struct zeta_event *event);

/** How a capture notifies an event; NULL: there is no notification. */
struct zeta_capture_event zeta_collector_event(struct zeta_event *event);

/**
 * Makes a collector and reserves the units of its groups. Its capture is opened then, and
 * zeta_collector_opened() called with the result.
 *
 * @kind    ZETA_KIND_METRIC_STREAMER or ZETA_KIND_METRIC_TRACER
 * @groups  pinned, at least one; copied
 *
 * Errors: NOT_READY if a group is not active; HANDLE_OBJECT_IN_USE if a unit is used;
 * OUT_OF_HOST_MEMORY.
 */
ze_result_t zeta_collector_create(enum zeta_kind kind, const struct zeta_context *context,
                                  struct zeta_device *device,
                                  struct zeta_metric_group *const *groups, uint32_t group_count,
                                  struct zeta_collector **out_collector);

/** Ends the opening; after a failure the collector is gone. Gives the result back. */
ze_result_t zeta_collector_opened(struct zeta_collector *collector, ze_result_t result);

#endif
