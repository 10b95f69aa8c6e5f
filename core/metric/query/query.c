/*
 * Query pools and queries.
 *
 * A pool belongs to an event-based group of a device; the backend counts for its places what begin
 * and end in the queues of that device enclose. A query is the handle of one place. Command lists
 * pin the queries that they name, and queries their pool, so what was recorded can be executed
 * after the handles are gone; a destroyed query's place can be taken by the next one, and a list
 * that still names the old one counts for that place.
 */
#include <stdlib.h>
#include <string.h>

#include "core/capture/unit.h"
#include "core/device/device.h"
#include "core/formula/sets/set.h"
#include "core/list/list.h"
#include "core/metric/activation/client.h"
#include "core/metric/device/device_metrics.h"
#include "core/metric/group/group.h"
#include "core/plugin/host.h"
#include "core/queue/command_buffer.h"
#include "core/util/cleanup.h"
#include "core/util/error.h"
#include "zeta/query_record.h"
#include "zeta_impl.h"

/** One place of a pool. */
struct place {
    _Atomic(struct query *) query; /**< who has it, NULL: free */
    struct zeta_use use;           /**< by submissions, whoever has it */
    _Atomic bool had_query;        /**< one that was destroyed, and may have left a result */
};

/** The object behind zet_metric_query_pool_handle_t. */
struct pool {
    struct zeta_object object;
    struct zeta_client client;
    struct zeta_metric_group *group;
    struct zeta_query_source source; /**< the backend's side */
    struct place *places;
    uint32_t count;
    zet_metric_query_pool_type_t type;
    _Atomic uint32_t taken; /**< places with a query */
    struct zeta_use use;    /**< of all places */
};

/** The object behind zet_metric_query_handle_t. */
struct query {
    struct zeta_object object;
    struct pool *pool; /**< pinned */
    uint32_t index;
};

static struct place *place_of(const struct query *query)
{
    return &query->pool->places[query->index];
}

/* Pools ---------------------------------------------------------------------------------------- */

static void finish_pool(void *object)
{
    struct pool *pool = object;

    /* Not before: a list that still names its queries may run, and keeps the group active. */
    zeta_client_release(zeta_metrics_root(pool->group->metrics), &pool->client);
    if (pool->source.pool)
        pool->source.provider->backend->metric.query_pool_destroy(
            pool->source.provider->backend->self, pool->source.pool);
    (void)pthread_mutex_destroy(&pool->source.lock);
    free(pool->places);
    zeta_object_unpin(pool->group);
}

ZETA_OBJECT_FINISHER(ZETA_KIND_METRIC_QUERY_POOL, finish_pool)

ze_result_t ZE_APICALL impl_zetMetricQueryPoolCreate(
    zet_context_handle_t hContext, zet_device_handle_t hDevice,
    zet_metric_group_handle_t hMetricGroup, const zet_metric_query_pool_desc_t *desc,
    zet_metric_query_pool_handle_t *phMetricQueryPool)
{
    struct zeta_device *device = (struct zeta_device *)hDevice;
    struct zeta_metric_group *group = (struct zeta_metric_group *)hMetricGroup;
    struct zeta_device_metrics *root = zeta_metrics_root(group->metrics);
    struct pool *pool;
    void *made = NULL;
    ze_result_t result = zeta_object_create(ZETA_KIND_METRIC_QUERY_POOL, sizeof(*pool), &made);

    if (result != ZE_RESULT_SUCCESS)
        return result;
    pool = made;
    pool->group = group;
    zeta_object_pin_more(group); /* an application's group can be destroyed */
    pool->count = desc->count;
    pool->type = desc->type;
    (void)pthread_mutex_init(&pool->source.lock, NULL);
    pool->client = (struct zeta_client){.kind = ZETA_CLIENT_QUERY_POOL,
                                        .name = group->properties->name,
                                        .device = device,
                                        .groups = &pool->group,
                                        .group_count = 1,
                                        .handle = pool,
                                        .use = &pool->use};
    /* From now on nobody can change the group. */
    (void)pthread_mutex_lock(&root->lock);
    zeta_client_add_locked(root, &pool->client);
    (void)pthread_mutex_unlock(&root->lock);
    result = zeta_context_check_device((const struct zeta_context *)hContext, device);
    if (result == ZE_RESULT_SUCCESS)
        result = zeta_metric_group_check_device(group, device);
    if (result == ZE_RESULT_SUCCESS && !group->set->query_of)
        result = zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                            "group %s is not event-based and cannot be queried; another group of "
                            "the same name may be",
                            group->properties->name);
    if (result == ZE_RESULT_SUCCESS && desc->count == 0)
        result = zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                            "a query pool of %s needs at least one query", group->properties->name);
    /* The backend first: of more queries than there is memory for, no page is touched here. */
    if (result == ZE_RESULT_SUCCESS)
        result =
            zeta_query_source_open(&pool->source, device->backend, group->compiled[0], desc->count);
    if (result == ZE_RESULT_SUCCESS) {
        pool->places = calloc(pool->count, sizeof(*pool->places));
        if (!pool->places)
            result = zeta_error(ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, "no memory for %u queries",
                                pool->count);
    }
    if (result != ZE_RESULT_SUCCESS) {
        zeta_object_discard(pool);
        return result;
    }
    for (uint32_t i = 0; i < pool->count; i++)
        pool->places[i].use.whole = &pool->use;
    *phMetricQueryPool = (zet_metric_query_pool_handle_t)pool;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL
impl_zetMetricQueryPoolDestroy(zet_metric_query_pool_handle_t hMetricQueryPool)
{
    struct pool *pool = (struct pool *)hMetricQueryPool;
    uint32_t taken = atomic_load(&pool->taken);

    if (taken > 0)
        return zeta_error(ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE,
                          "%u queries of the pool are not destroyed yet", taken);
    if (!zeta_use_wait(&pool->use))
        return zeta_error(ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE,
                          "work with queries of the pool has not ended; wait for it first");
    return zeta_object_destroy(pool, ZETA_KIND_METRIC_QUERY_POOL, "zetMetricQueryPoolDestroy",
                               "hMetricQueryPool");
}

/* Queries -------------------------------------------------------------------------------------- */

static void finish_query(void *object)
{
    zeta_object_unpin(((struct query *)object)->pool);
}

ZETA_OBJECT_FINISHER(ZETA_KIND_METRIC_QUERY, finish_query)

ze_result_t ZE_APICALL impl_zetMetricQueryCreate(zet_metric_query_pool_handle_t hMetricQueryPool,
                                                 uint32_t index,
                                                 zet_metric_query_handle_t *phMetricQuery)
{
    struct pool *pool = (struct pool *)hMetricQueryPool;
    struct query *none = NULL;
    struct query *query;
    struct place *place;
    void *made = NULL;
    ze_result_t result;

    if (index >= pool->count)
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "index %u is not below %u, the number of queries of the pool", index,
                          pool->count);
    result = zeta_object_create(ZETA_KIND_METRIC_QUERY, sizeof(*query), &made);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    place = &pool->places[index];
    query = made;
    query->pool = pool;
    query->index = index;
    zeta_object_pin_more(pool);
    if (!atomic_compare_exchange_strong(&place->query, &none, query)) {
        zeta_object_discard(query);
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "place %u of the pool has a query already; destroy that first", index);
    }
    atomic_fetch_add(&pool->taken, 1);
    /*
     * A new query has no result, whatever the one before it in its place had. Work that a list of
     * that one is doing counts for the new one.
     */
    if (atomic_load(&place->had_query) && !zeta_use_is(&place->use))
        result = zeta_query_source_reset(&pool->source, index);
    if (result != ZE_RESULT_SUCCESS) {
        atomic_fetch_sub(&pool->taken, 1);
        atomic_store(&place->query, NULL);
        zeta_object_discard(query);
        return result;
    }
    *phMetricQuery = (zet_metric_query_handle_t)query;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL impl_zetMetricQueryDestroy(zet_metric_query_handle_t hMetricQuery)
{
    struct query *query = (struct query *)hMetricQuery;
    struct place *place = place_of(query);

    if (!zeta_use_wait(&place->use))
        return zeta_error(ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE,
                          "work with query %u has not ended; wait for it first", query->index);
    if (!zeta_object_retire(query))
        return zeta_object_explain(query, ZETA_KIND_METRIC_QUERY, "zetMetricQueryDestroy",
                                   "hMetricQuery");
    atomic_fetch_sub(&query->pool->taken, 1);
    atomic_store(&place->had_query, true);
    atomic_store(&place->query, NULL);
    zeta_object_unpin(query);
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL impl_zetMetricQueryReset(zet_metric_query_handle_t hMetricQuery)
{
    const struct query *query = (const struct query *)hMetricQuery;

    if (!zeta_use_wait(&place_of(query)->use))
        return zeta_error(ZE_RESULT_NOT_READY,
                          "work with query %u has not ended; wait for it before the reset",
                          query->index);
    return zeta_query_source_reset(&query->pool->source, query->index);
}

/* Begin and end in command lists --------------------------------------------------------------- */

/** Queues of the pool's device and of its tiles can be measured. */
static ze_result_t check_list(const struct zeta_command_list *list, const struct pool *pool)
{
    const struct zeta_device *device = list->device;

    if (device != pool->client.device && device->parent != pool->client.device)
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "the query pool was created for device %s and the command list for %s",
                          pool->client.device->backend->id, device->backend->id);
    return zeta_list_check_metrics(list);
}

static ze_result_t append_point(struct zeta_command_list *list, struct query *query, uint32_t type,
                                ze_event_handle_t signal, uint32_t wait_count,
                                ze_event_handle_t *waits)
{
    const struct zeta_plugin_command command = {
        .type = type, .u.query = {.pool = query->pool->source.pool, .index = query->index}};
    struct zeta_append append;
    ze_result_t result = zeta_append_begin(&append, list);

    if (result != ZE_RESULT_SUCCESS)
        return result;
    result = zeta_command_buffer_pin(append.buffer, query, ZETA_KIND_METRIC_QUERY);
    if (result == ZE_RESULT_SUCCESS)
        result = zeta_command_buffer_use(append.buffer, &place_of(query)->use);
    if (result == ZE_RESULT_SUCCESS)
        result = zeta_append_put(&append, &command, signal, wait_count, waits);
    return zeta_append_end(&append, result);
}

ze_result_t ZE_APICALL impl_zetCommandListAppendMetricQueryBegin(
    zet_command_list_handle_t hCommandList, zet_metric_query_handle_t hMetricQuery)
{
    struct zeta_command_list *list = (struct zeta_command_list *)hCommandList;
    struct query *query = (struct query *)hMetricQuery;
    const struct zeta_metric_group *group = query->pool->group;
    struct zeta_device_metrics *root = zeta_metrics_root(group->metrics);
    ze_result_t result = check_list(list, query->pool);

    if (result != ZE_RESULT_SUCCESS)
        return result;
    (void)pthread_mutex_lock(&root->lock);
    bool active = zeta_group_is_active_locked(group);
    (void)pthread_mutex_unlock(&root->lock);
    if (!active)
        return zeta_error(ZE_RESULT_NOT_READY,
                          "group %s is not active; call zetContextActivateMetricGroups before "
                          "queries of it begin",
                          group->properties->name);
    result = append_point(list, query, ZETA_PLUGIN_COMMAND_QUERY_BEGIN, NULL, 0, NULL);
    if (result == ZE_RESULT_SUCCESS && query->pool->type == ZET_METRIC_QUERY_POOL_TYPE_EXECUTION)
        zeta_list_skip_begin(list, place_of(query));
    return result;
}

ze_result_t ZE_APICALL impl_zetCommandListAppendMetricQueryEnd(
    zet_command_list_handle_t hCommandList, zet_metric_query_handle_t hMetricQuery,
    ze_event_handle_t hSignalEvent, uint32_t numWaitEvents, ze_event_handle_t *phWaitEvents)
{
    struct zeta_command_list *list = (struct zeta_command_list *)hCommandList;
    struct query *query = (struct query *)hMetricQuery;
    ze_result_t result = check_list(list, query->pool);

    if (result == ZE_RESULT_SUCCESS)
        result = append_point(list, query, ZETA_PLUGIN_COMMAND_QUERY_END, hSignalEvent,
                              numWaitEvents, phWaitEvents);
    if (result == ZE_RESULT_SUCCESS)
        zeta_list_skip_end(list, place_of(query));
    return result;
}

/* Results are read through the backend, which sees to their order; a barrier is all that is left.
 */
ze_result_t ZE_APICALL
impl_zetCommandListAppendMetricMemoryBarrier(zet_command_list_handle_t hCommandList)
{
    return impl_zeCommandListAppendBarrier(hCommandList, NULL, 0, NULL);
}

/* Results -------------------------------------------------------------------------------------- */

/** Copies the first count records: of the tiles that this process sees, as it numbers them. */
static ze_result_t read_records(const struct query *query, uint32_t count, uint8_t *data)
{
    const struct zeta_query_source *source = &query->pool->source;
    struct zeta_device *device = query->pool->client.device;
    const size_t record_bytes = source->record_bytes;
    ZETA_CLEANUP(zeta_freep) uint8_t *all = malloc(source->record_count * record_bytes);
    struct zeta_backend *backend = source->provider->backend;
    uint32_t code;

    if (!all)
        return zeta_error(ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, "no memory for a query record");
    code = backend->metric.query_collect(backend->self, source->pool, query->index, all);
    /* Work that was lost will never give a result. */
    if (code == ZETA_PLUGIN_NOT_READY && zeta_device_status(device) == ZE_RESULT_ERROR_DEVICE_LOST)
        return zeta_device_fault(device, ZE_RESULT_ERROR_DEVICE_LOST);
    if (code == ZETA_PLUGIN_NOT_READY)
        return zeta_error(ZE_RESULT_NOT_READY, "query %u has no result: its end has not run",
                          query->index);
    if (code != ZETA_PLUGIN_SUCCESS)
        return zeta_backend_result(backend, code, "reading a query");
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t tile = device->tile_count > 0 ? device->tiles[i]->backend->tile : 0;
        uint8_t *target = data + i * record_bytes;
        struct zeta_query_record head;

        memcpy(target, all + (tile < source->record_count ? tile : 0) * record_bytes, record_bytes);
        memcpy(&head, target, sizeof(head));
        head.size_bytes = source->record_bytes;
        head.tile = i;
        memcpy(target, &head, sizeof(head));
    }
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL impl_zetMetricQueryGetData(zet_metric_query_handle_t hMetricQuery,
                                                  size_t *pRawDataSize, uint8_t *pRawData)
{
    const struct query *query = (const struct query *)hMetricQuery;
    const size_t record_bytes = query->pool->source.record_bytes;
    const uint32_t tiles = zeta_metrics_tile_count(query->pool->client.device);
    const size_t given = *pRawDataSize;
    const uint32_t count = given / record_bytes < tiles ? (uint32_t)(given / record_bytes) : tiles;
    ze_result_t result;

    if (given == 0 || !pRawData || count == 0)
        *pRawDataSize = tiles * record_bytes;
    if (given == 0 || !pRawData)
        return ZE_RESULT_SUCCESS;
    if (count == 0)
        return zeta_error(ZE_RESULT_ERROR_INVALID_SIZE,
                          "the result of a query has %zu bytes for each of %u tiles, and the "
                          "buffer %zu",
                          record_bytes, tiles, given);
    result = read_records(query, count, pRawData);
    if (result == ZE_RESULT_SUCCESS)
        *pRawDataSize = count * record_bytes;
    return result;
}
