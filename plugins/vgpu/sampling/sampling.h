#ifndef ZETA_PLUGINS_VGPU_SAMPLING_SAMPLING_H
#define ZETA_PLUGINS_VGPU_SAMPLING_SAMPLING_H

/*
 * The OA units: two per tile, "oa" and "dispatch", each of which one stream in one process can
 * have. A stream writes a report when it is opened, then one each period, for the work of every
 * process on the instance.
 *
 * In wall time a thread of the stream writes at absolute deadlines. Deadlines that it missed are
 * written later with their nominal times and the same totals. In virtual time the work of this
 * process drives its streams, so their bytes repeat exactly.
 */

#include <zeta/plugin.h>

struct zeta_vgpu;
struct zeta_vgpu_tile;
struct zeta_vgpu_usage;

/** Writes what is due in the streams of virtual time of a tile. Any thread. */
void zeta_vgpu_streams_advance(struct zeta_vgpu_tile *tile);

/** Number of the unit with that name; else INVALID_ARGUMENT and a sentence that names the units. */
uint32_t zeta_vgpu_oa_find_unit(const struct zeta_plugin *self, struct zeta_plugin_string name,
                                uint32_t *out_unit);

/** Closes the streams that the host left behind. */
void zeta_vgpu_streams_abandon(struct zeta_vgpu *vgpu);

/** Its operations of queries are those below. */
extern const struct zeta_plugin_metric_ops zeta_vgpu_metric_ops;

/*
 * Queries: what the work of one queue between a begin and an end counted, on each tile of a device,
 * as records of zeta/query_record.h. Pools need no unit.
 */

uint32_t zeta_vgpu_query_pool_create(struct zeta_plugin *self, struct zeta_plugin_device *device,
                                     const struct zeta_plugin_query_desc *desc,
                                     struct zeta_plugin_query_pool **out_pool);
void zeta_vgpu_query_pool_destroy(struct zeta_plugin *self, struct zeta_plugin_query_pool *pool);
uint32_t zeta_vgpu_query_reset(struct zeta_plugin *self, struct zeta_plugin_query_pool *pool,
                               uint32_t index);
uint32_t zeta_vgpu_query_collect(struct zeta_plugin *self, struct zeta_plugin_query_pool *pool,
                                 uint32_t index, void *records);

/**
 * QUERY_BEGIN on the queue of a usage, which counts for the query from now on. Begun again, a query
 * forgets what it was. INVALID_ARGUMENT for an index that the pool does not have.
 */
uint32_t zeta_vgpu_query_begin(const struct zeta_plugin_query_point *point,
                               struct zeta_vgpu_usage *usage);

/**
 * QUERY_END on the queue of a usage (NULL: no query was ever begun there). context is the queue's
 * id in reports. INVALID_ARGUMENT when the query is not open on that queue.
 */
uint32_t zeta_vgpu_query_end(const struct zeta_plugin_query_point *point,
                             struct zeta_vgpu_usage *usage, uint32_t context);

/** Destroys the pools that the host left behind. */
void zeta_vgpu_queries_abandon(struct zeta_vgpu *vgpu);

#endif
