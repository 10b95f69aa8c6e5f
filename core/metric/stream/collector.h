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

struct zeta_collector {
    struct zeta_client client;
    struct zeta_capture *capture;
    struct zeta_device_metrics *root;   /**< whose list the client is in */
    struct zeta_metric_group *groups[]; /**< pinned; client.group_count of them */
};

/** The object behind zet_metric_streamer_handle_t and zet_metric_tracer_exp_handle_t. */
struct zeta_collector_handle {
    struct zeta_object object;
    struct zeta_collector *collector;   /**< freed with the last reference */
    const struct zeta_context *context; /**< only to compare, not pinned */
};

/** What to collect. */
struct zeta_collector_request {
    const struct zeta_context *context;
    struct zeta_device *device;
    struct zeta_metric_group *const *groups; /**< pinned, at least one; copied */
    uint32_t group_count;
    struct zeta_event *event; /**< NULL: no notification */
    /** Opens the capture: zeta_stream_open() or zeta_tracer_open(). */
    ze_result_t (*open)(struct zeta_collector *collector, const struct zeta_capture_event *event,
                        void *context);
    void *open_context;
};

/**
 * Checks the device and the notification event. The host has to be able to see the event: its pool
 * has the flag for that, or its own scope (the example of the programming guide has a pool without
 * the flag and an event of host scope). Errors: INVALID_ARGUMENT, INVALID_SYNCHRONIZATION_OBJECT.
 */
ze_result_t zeta_collector_check(const struct zeta_collector_request *request);

/**
 * Makes a collector and its handle, reserves the units of its groups and opens it.
 *
 * @kind  ZETA_KIND_METRIC_STREAMER or ZETA_KIND_METRIC_TRACER
 *
 * Errors: NOT_READY if a group is not active; HANDLE_OBJECT_IN_USE if a unit is used; those of
 * open(); OUT_OF_HOST_MEMORY.
 */
ze_result_t zeta_collector_open(enum zeta_kind kind, const struct zeta_collector_request *request,
                                struct zeta_collector_handle **out_handle);

/** Takes a closed collector out of the list: its units are free. */
void zeta_collector_release(struct zeta_collector *collector);

#endif
