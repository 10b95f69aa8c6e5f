/*
 * Query pools and queries.
 *
 * A pool belongs to an event-based group of a device; the backend counts for its places what begin
 * and end in the queues of that device enclose. A query is the handle of one place. Command lists
 * pin the queries that they name, and queries their pool, so what was recorded can be executed
 * after the handles are gone; a destroyed query's place can be taken by the next one, and a list
 * that still names the old one counts for that place.
 */
#ifndef ZETA_CORE_METRIC_QUERY_QUERY_H
#define ZETA_CORE_METRIC_QUERY_QUERY_H

#include <stdatomic.h>
#include <stdint.h>

#include <level_zero/zet_api.h>

#include "core/capture/query.h"
#include "core/metric/activation/client.h"
#include "core/object/object.h"
#include "core/queue/use.h"

struct zeta_metric_group;
struct zeta_metric_query;

/** One place of a pool. */
struct zeta_query_place {
    _Atomic(struct zeta_metric_query *) query; /**< who has it, NULL: free */
    struct zeta_use use;                       /**< by submissions, whoever has it */
    _Atomic bool had_query; /**< one that was destroyed, and may have left a result */
};

struct zeta_query_pool {
    struct zeta_object object;
    struct zeta_client client;
    struct zeta_metric_group *group;
    struct zeta_query_source source; /**< the backend's side */
    struct zeta_query_place *places;
    uint32_t count;
    zet_metric_query_pool_type_t type;
    _Atomic uint32_t taken; /**< places with a query */
    struct zeta_use use;    /**< of all places */
};

struct zeta_metric_query {
    struct zeta_object object;
    struct zeta_query_pool *pool; /**< pinned */
    uint32_t index;
};

/** The place of a query. */
static inline struct zeta_query_place *zeta_query_place_of(const struct zeta_metric_query *query)
{
    return &query->pool->places[query->index];
}

#endif
