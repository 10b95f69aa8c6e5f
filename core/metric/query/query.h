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

#include "core/capture/turn.h"
#include "core/object/object.h"
#include "core/queue/use.h"

struct zeta_backend;
struct zeta_device;
struct zeta_device_metrics;
struct zeta_metric_group;
struct zeta_metric_query;
struct zeta_plugin_query_pool;

/** One place of a pool. */
struct zeta_query_place {
    _Atomic(struct zeta_metric_query *) query; /**< who has it, NULL: free */
    struct zeta_use use;                       /**< by submissions, whoever has it */
    _Atomic bool had_query; /**< one that was destroyed, and may have left a result */
};

struct zeta_query_pool {
    struct zeta_object object;
    struct zeta_query_pool *next; /**< in the root device's list; behind its lock */
    struct zeta_device *device;
    struct zeta_metric_group *group;
    struct zeta_backend *backend;
    struct zeta_plugin_query_pool *plugin_pool;
    struct zeta_query_place *places;
    uint32_t count;
    zet_metric_query_pool_type_t type;
    uint32_t record_bytes;
    uint32_t collect_count; /**< records that the backend writes: one per tile that it has */
    _Atomic uint32_t taken; /**< places with a query */
    struct zeta_use use;    /**< of all places */
    struct zeta_turn turn;  /**< for calls of the backend that change the pool */
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

/**
 * Waits a little for submissions with queries of groups that an activation would drop: work whose
 * events are signalled is over but for the report. Holds no lock.
 */
void zeta_query_settle(struct zeta_device_metrics *metrics, uint32_t count,
                       struct zeta_metric_group *const *groups);

/**
 * HANDLE_OBJECT_IN_USE if activating these groups would drop one with a query in a submission that
 * has not ended. The caller holds the lock of the root's metrics.
 */
ze_result_t zeta_query_check_kept_locked(const struct zeta_device_metrics *metrics, uint32_t count,
                                         struct zeta_metric_group *const *groups);

/** HANDLE_OBJECT_IN_USE if a pool of the device or of its tiles lives. As above. */
ze_result_t zeta_query_check_unused_locked(const struct zeta_device_metrics *metrics);

#endif
