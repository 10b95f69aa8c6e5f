#ifndef ZETA_PLUGINS_VGPU_SAMPLING_QUERY_H
#define ZETA_PLUGINS_VGPU_SAMPLING_QUERY_H

/*
 * Queries: what the work of one queue between a begin and an end counted, on each tile of a device,
 * as records of zeta/query_record.h. Pools live beside streams and need no unit.
 */

#include <zeta/plugin.h>

struct zeta_vgpu;
struct zeta_vgpu_meter;

/* Operations of struct zeta_plugin_metric_ops with the same names. */
uint32_t zeta_vgpu_query_pool_create(struct zeta_plugin *self, struct zeta_plugin_device *device,
                                     const struct zeta_plugin_query_desc *desc,
                                     struct zeta_plugin_query_pool **out_pool);
void zeta_vgpu_query_pool_destroy(struct zeta_plugin *self, struct zeta_plugin_query_pool *pool);
uint32_t zeta_vgpu_query_reset(struct zeta_plugin *self, struct zeta_plugin_query_pool *pool,
                               uint32_t index);
uint32_t zeta_vgpu_query_collect(struct zeta_plugin *self, struct zeta_plugin_query_pool *pool,
                                 uint32_t index, void *records);

/**
 * QUERY_BEGIN on the queue of a meter, which counts for the query from now on. Begun again, a query
 * forgets what it was. INVALID_ARGUMENT for an index that the pool does not have.
 */
uint32_t zeta_vgpu_query_begin(const struct zeta_plugin_query_point *point,
                               struct zeta_vgpu_meter *meter);

/**
 * QUERY_END on the queue of a meter (NULL: no query was ever begun there). context is the queue's
 * id in reports. INVALID_ARGUMENT when the query is not open on that queue.
 */
uint32_t zeta_vgpu_query_end(const struct zeta_plugin_query_point *point,
                             struct zeta_vgpu_meter *meter, uint32_t context);

/** Destroys the pools that the host left behind. */
void zeta_vgpu_queries_abandon(struct zeta_vgpu *vgpu);

#endif
