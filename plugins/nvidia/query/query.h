#ifndef ZETA_PLUGINS_NVIDIA_QUERY_QUERY_H
#define ZETA_PLUGINS_NVIDIA_QUERY_QUERY_H

/*
 * Queries: what the work of this process on a GPU counted between two points of a queue, by the
 * range profiler of CUPTI.
 *
 *   queue --BEGIN, END, on the host--> query --> a range of the session of the device
 *   query_collect() --> all ranges of the session at once --> records
 *
 * One session counts for all pools with the same metrics. It has the counters of the GPU from the
 * first begin until the last of these pools goes, or until a pool with other metrics begins a query
 * while none is open. CUPTI has one range at a time, so queries neither nest nor overlap.
 */

#include "plugins/nvidia/gpu/nvidia.h"

/** Prepares queries of all devices; nothing is opened. */
void nvidia_queries_init(struct nvidia *nvidia);

/** Gives up the counters. The contexts are still there. */
void nvidia_queries_finish(struct nvidia *nvidia);

/** Fills no_queries and query_note of the limits of the unit perfmon. */
void nvidia_query_limits(struct zeta_plugin_device *device, struct zeta_plugin_limits *out_limits);

/* query_pool_create() to query_collect() of struct zeta_plugin_metric_ops. */
uint32_t nvidia_query_pool_create(struct zeta_plugin *self, struct zeta_plugin_device *device,
                                  const struct zeta_plugin_query_desc *desc,
                                  struct zeta_plugin_query_pool **out_pool);
void nvidia_query_pool_destroy(struct zeta_plugin *self, struct zeta_plugin_query_pool *pool);
uint32_t nvidia_query_reset(struct zeta_plugin *self, struct zeta_plugin_query_pool *pool,
                            uint32_t index);
uint32_t nvidia_query_collect(struct zeta_plugin *self, struct zeta_plugin_query_pool *pool,
                              uint32_t index, void *records);

/** Why a query could not begin or end: a sentence without the device. */
struct nvidia_query_failure {
    char text[512];
};

/**
 * A QUERY_BEGIN or QUERY_END runs now: what came before it in its queue is complete, and the
 * context of the device is current. Any thread. The first begin takes CUPTI some 200 ms.
 * Errors: HANDLE_OBJECT_IN_USE for a begin while another query is open, NOT_AVAILABLE if that
 * counts something else or a stream or another process has the counters, INVALID_ARGUMENT for an
 * end without a begin, and what CUPTI gives.
 *
 * @queue  stands for the queue, for nvidia_query_abandon()
 */
uint32_t nvidia_query_begin(const struct zeta_plugin_query_point *point, const void *queue,
                            struct nvidia_query_failure *out_failure);
uint32_t nvidia_query_end(const struct zeta_plugin_query_point *point,
                          struct nvidia_query_failure *out_failure);

/** Gives up the query that a queue has open, if any: its end will not run. Any thread. */
void nvidia_query_abandon(struct zeta_plugin_device *device, const void *queue);

#endif
