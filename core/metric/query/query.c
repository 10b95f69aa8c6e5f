/* Queries: places of a pool, and their results. */
#include "core/metric/query/query.h"

#include <stdlib.h>
#include <string.h>

#include "core/device/device.h"
#include "core/metric/device/device_metrics.h"
#include "core/plugin/host.h"
#include "core/util/cleanup.h"
#include "core/util/error.h"
#include "zeta/query_record.h"
#include "zeta_impl.h"

/** Takes a place for a query that nobody has seen yet; false if another one has it. */
static bool take_place(struct zeta_query_pool *pool, struct zeta_metric_query *query)
{
    struct zeta_metric_query *none = NULL;

    if (!atomic_compare_exchange_strong(&pool->places[query->index].query, &none, query))
        return false;
    atomic_fetch_add(&pool->taken, 1);
    return true;
}

/**
 * A new query has no result, whatever the one before it in its place had. Work that a list of that
 * one is doing counts for the new one.
 */
static ze_result_t forget_before(struct zeta_query_pool *pool, uint32_t index)
{
    struct zeta_query_place *place = &pool->places[index];

    if (!atomic_load(&place->had_query) || zeta_use_is(&place->use))
        return ZE_RESULT_SUCCESS;
    return zeta_query_source_reset(&pool->source, index);
}

/** Gives the place up and the object that nobody knows. */
static void abandon(struct zeta_query_pool *pool, struct zeta_metric_query *query, bool has_place)
{
    if (has_place) {
        atomic_fetch_sub(&pool->taken, 1);
        atomic_store(&pool->places[query->index].query, NULL);
    }
    zeta_object_discard(query);
}

static void finish_query(void *object)
{
    zeta_object_unpin(((struct zeta_metric_query *)object)->pool);
}

ZETA_OBJECT_FINISHER(ZETA_KIND_METRIC_QUERY, finish_query)

static ze_result_t create_query(struct zeta_query_pool *pool, uint32_t index,
                                struct zeta_metric_query **out_query)
{
    struct zeta_metric_query *query;
    void *made = NULL;
    ze_result_t result = zeta_object_create(ZETA_KIND_METRIC_QUERY, sizeof(*query), &made);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    query = made;
    query->pool = pool;
    query->index = index;
    zeta_object_pin_more(pool);
    if (!take_place(pool, query)) {
        abandon(pool, query, false);
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "place %u of the pool has a query already; destroy that first", index);
    }
    result = forget_before(pool, index);
    if (result != ZE_RESULT_SUCCESS) {
        abandon(pool, query, true);
        return result;
    }
    *out_query = query;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL impl_zetMetricQueryCreate(zet_metric_query_pool_handle_t hMetricQueryPool,
                                                 uint32_t index,
                                                 zet_metric_query_handle_t *phMetricQuery)
{
    struct zeta_query_pool *pool = (struct zeta_query_pool *)hMetricQueryPool;
    struct zeta_metric_query *query = NULL;
    ze_result_t result;

    if (!zeta_object_pin(pool, ZETA_KIND_METRIC_QUERY_POOL))
        return zeta_object_explain(pool, ZETA_KIND_METRIC_QUERY_POOL, "zetMetricQueryCreate",
                                   "hMetricQueryPool");
    if (index < pool->count)
        result = create_query(pool, index, &query);
    else
        result = zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                            "index %u is not below %u, the number of queries of the pool", index,
                            pool->count);
    zeta_object_unpin(pool);
    if (result == ZE_RESULT_SUCCESS)
        *phMetricQuery = (zet_metric_query_handle_t)query;
    return result;
}

static ze_result_t destroy_query(struct zeta_metric_query *query)
{
    struct zeta_query_place *place = zeta_query_place_of(query);

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

ze_result_t ZE_APICALL impl_zetMetricQueryDestroy(zet_metric_query_handle_t hMetricQuery)
{
    struct zeta_metric_query *query = (struct zeta_metric_query *)hMetricQuery;
    ze_result_t result;

    if (!zeta_object_pin(query, ZETA_KIND_METRIC_QUERY))
        return zeta_object_explain(query, ZETA_KIND_METRIC_QUERY, "zetMetricQueryDestroy",
                                   "hMetricQuery");
    result = destroy_query(query);
    zeta_object_unpin(query);
    return result;
}

static ze_result_t reset_query(const struct zeta_metric_query *query)
{
    if (!zeta_use_wait(&zeta_query_place_of(query)->use))
        return zeta_error(ZE_RESULT_NOT_READY,
                          "work with query %u has not ended; wait for it before the reset",
                          query->index);
    return zeta_query_source_reset(&query->pool->source, query->index);
}

ze_result_t ZE_APICALL impl_zetMetricQueryReset(zet_metric_query_handle_t hMetricQuery)
{
    struct zeta_metric_query *query = (struct zeta_metric_query *)hMetricQuery;
    ze_result_t result;

    if (!zeta_object_pin(query, ZETA_KIND_METRIC_QUERY))
        return zeta_object_explain(query, ZETA_KIND_METRIC_QUERY, "zetMetricQueryReset",
                                   "hMetricQuery");
    result = reset_query(query);
    zeta_object_unpin(query);
    return result;
}

/* Results ---------------------------------------------------------------------------------------
 */

static ze_result_t explain(const struct zeta_metric_query *query, uint32_t code)
{
    const struct zeta_query_pool *pool = query->pool;

    if (code != ZETA_PLUGIN_NOT_READY)
        return zeta_backend_result(pool->source.provider->backend, code, "reading a query");
    /* Work that was lost will never give a result. */
    if (zeta_device_status(pool->client.device) == ZE_RESULT_ERROR_DEVICE_LOST)
        return zeta_device_fault(pool->client.device, ZE_RESULT_ERROR_DEVICE_LOST);
    return zeta_error(ZE_RESULT_NOT_READY, "query %u has no result: its end has not run",
                      query->index);
}

/** Copies the first count records: of the tiles that this process sees, as it numbers them. */
static ze_result_t read_records(const struct zeta_metric_query *query, uint32_t count,
                                uint8_t *data)
{
    const struct zeta_query_source *source = &query->pool->source;
    const struct zeta_device *device = query->pool->client.device;
    const size_t record_bytes = source->record_bytes;
    ZETA_CLEANUP(zeta_freep) uint8_t *all = malloc(source->record_count * record_bytes);
    uint32_t code;

    if (!all)
        return zeta_error(ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, "no memory for a query record");
    code = zeta_query_source_collect(source, query->index, all);
    if (code != ZETA_PLUGIN_SUCCESS)
        return explain(query, code);
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

static ze_result_t get_data(const struct zeta_metric_query *query, size_t *size_bytes,
                            uint8_t *data)
{
    const size_t record_bytes = query->pool->source.record_bytes;
    const uint32_t available = zeta_metrics_tile_count(query->pool->client.device);
    const size_t given = *size_bytes;
    uint32_t count = available;
    ze_result_t result;

    if (given == 0 || !data) {
        *size_bytes = available * record_bytes;
        return ZE_RESULT_SUCCESS;
    }
    if (given / record_bytes < count)
        count = (uint32_t)(given / record_bytes);
    if (count == 0) {
        *size_bytes = available * record_bytes;
        return zeta_error(ZE_RESULT_ERROR_INVALID_SIZE,
                          "the result of a query has %zu bytes for each of %u tiles, and the "
                          "buffer %zu",
                          record_bytes, available, given);
    }
    result = read_records(query, count, data);
    if (result == ZE_RESULT_SUCCESS)
        *size_bytes = count * record_bytes;
    return result;
}

ze_result_t ZE_APICALL impl_zetMetricQueryGetData(zet_metric_query_handle_t hMetricQuery,
                                                  size_t *pRawDataSize, uint8_t *pRawData)
{
    struct zeta_metric_query *query = (struct zeta_metric_query *)hMetricQuery;
    ze_result_t result;

    if (!zeta_object_pin(query, ZETA_KIND_METRIC_QUERY))
        return zeta_object_explain(query, ZETA_KIND_METRIC_QUERY, "zetMetricQueryGetData",
                                   "hMetricQuery");
    result = get_data(query, pRawDataSize, pRawData);
    zeta_object_unpin(query);
    return result;
}
