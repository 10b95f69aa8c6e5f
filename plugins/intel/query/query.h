#ifndef ZETA_PLUGINS_INTEL_QUERY_QUERY_H
#define ZETA_PLUGINS_INTEL_QUERY_QUERY_H

/*
 * Queries of a whole GPU: what its counting unit counted between two points of a queue, whoever did
 * the work.
 *
 *   queue --BEGIN, END: a time--> query --waits for a mark--> sampler --kernel stream--> reports
 *
 * A record has the times of the two reports between which it counts: the first ones at or after
 * begin and end, so both are late by a period at most. Where a GPU sleeps, those of begin and end
 * themselves. What the kernel lost in between is not counted; the record has the flags SPLIT and
 * OVERFLOW then, and its field ticks, from which metrics take their time, lacks the gap too.
 */

#include <stdatomic.h>
#include <stdint.h>

#include <zeta/plugin.h>

struct zeta_intel_unit;

/** query_pool_create() to query_collect() of struct zeta_plugin_metric_ops. */
uint32_t zeta_intel_query_pool_create(struct zeta_plugin *self, struct zeta_plugin_device *device,
                                      const struct zeta_plugin_query_desc *desc,
                                      struct zeta_plugin_query_pool **out_pool);
void zeta_intel_query_pool_destroy(struct zeta_plugin *self, struct zeta_plugin_query_pool *pool);
uint32_t zeta_intel_query_reset(struct zeta_plugin *self, struct zeta_plugin_query_pool *pool,
                                uint32_t index);
uint32_t zeta_intel_query_collect(struct zeta_plugin *self, struct zeta_plugin_query_pool *pool,
                                  uint32_t index, void *records);

/** Fills no_queries and query_note of the limits of a unit. */
void zeta_intel_query_limits(const struct zeta_plugin_device *device,
                             const struct zeta_intel_unit *unit,
                             struct zeta_plugin_limits *out_limits);

/** A QUERY_BEGIN or QUERY_END runs now. INVALID_ARGUMENT: an end without a begin. Any thread. */
uint32_t zeta_intel_query_begin(struct zeta_plugin_query_pool *pool, uint32_t index);
uint32_t zeta_intel_query_end(struct zeta_plugin_query_pool *pool, uint32_t index);

/**
 * Waits until a query that was ended has its result, or a reasonable time is over; a result that
 * comes later is not lost. Returns soon once *is_interrupted.
 */
void zeta_intel_query_wait(struct zeta_plugin_query_pool *pool, uint32_t index,
                           const atomic_bool *is_interrupted);

#endif
