/* Pools: creating and destroying them. */
#include <stdlib.h>

#include "core/device/device.h"
#include "core/formula/sets/set.h"
#include "core/metric/device/device_metrics.h"
#include "core/metric/group/group.h"
#include "core/metric/query/query.h"
#include "core/util/error.h"
#include "zeta_impl.h"

static ze_result_t check_create(const struct zeta_context *context,
                                const struct zeta_device *device,
                                const struct zeta_metric_group *group,
                                const zet_metric_query_pool_desc_t *desc)
{
    ze_result_t result = zeta_context_check_device(context, device);

    if (result == ZE_RESULT_SUCCESS)
        result = zeta_metric_group_check_device(group, device);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (!group->set->query_of)
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "group %s is not event-based and cannot be queried; another group of the "
                          "same name may be",
                          zeta_metric_group_name(group));
    if (desc->count == 0)
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "a query pool of %s needs at least one query",
                          zeta_metric_group_name(group));
    return ZE_RESULT_SUCCESS;
}

static void finish_pool(void *object)
{
    struct zeta_query_pool *pool = object;

    /* Not before: a list that still names its queries may run, and keeps the group active. */
    zeta_client_release(zeta_metrics_root(pool->group->metrics), &pool->client);
    zeta_query_source_close(&pool->source);
    (void)pthread_mutex_destroy(&pool->source.lock);
    free(pool->places);
    zeta_object_unpin(pool->group);
}

ZETA_OBJECT_FINISHER(ZETA_KIND_METRIC_QUERY_POOL, finish_pool)

/** As the entry point; the group is pinned. */
static ze_result_t create_pool(const struct zeta_context *context, struct zeta_device *device,
                               struct zeta_metric_group *group,
                               const zet_metric_query_pool_desc_t *desc,
                               struct zeta_query_pool **out_pool)
{
    struct zeta_device_metrics *root = zeta_metrics_root(group->metrics);
    struct zeta_query_pool *pool;
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
                                        .name = zeta_metric_group_name(group),
                                        .device = device,
                                        .groups = &pool->group,
                                        .group_count = 1,
                                        .handle = pool,
                                        .use = &pool->use};
    /* From now on nobody can change the group. */
    (void)pthread_mutex_lock(&root->lock);
    zeta_client_add_locked(root, &pool->client);
    (void)pthread_mutex_unlock(&root->lock);
    result = check_create(context, device, group, desc);
    if (result != ZE_RESULT_SUCCESS)
        goto discard;
    /* The backend first: of more queries than there is memory for, no page is touched here. */
    result =
        zeta_query_source_open(&pool->source, device->backend, group->compiled[0], desc->count);
    if (result != ZE_RESULT_SUCCESS)
        goto discard;
    pool->places = calloc(pool->count, sizeof(*pool->places));
    if (!pool->places) {
        result =
            zeta_error(ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, "no memory for %u queries", pool->count);
        goto discard;
    }
    for (uint32_t i = 0; i < pool->count; i++)
        pool->places[i].use.whole = &pool->use;
    *out_pool = pool;
    return ZE_RESULT_SUCCESS;

discard:
    zeta_object_discard(pool);
    return result;
}

ze_result_t ZE_APICALL impl_zetMetricQueryPoolCreate(
    zet_context_handle_t hContext, zet_device_handle_t hDevice,
    zet_metric_group_handle_t hMetricGroup, const zet_metric_query_pool_desc_t *desc,
    zet_metric_query_pool_handle_t *phMetricQueryPool)
{
    struct zeta_metric_group *group = (struct zeta_metric_group *)hMetricGroup;
    struct zeta_query_pool *pool = NULL;
    ze_result_t result;

    if (!zeta_object_pin(group, ZETA_KIND_METRIC_GROUP))
        return zeta_object_explain(group, ZETA_KIND_METRIC_GROUP, "zetMetricQueryPoolCreate",
                                   "hMetricGroup");
    result = create_pool((const struct zeta_context *)hContext, (struct zeta_device *)hDevice,
                         group, desc, &pool);
    zeta_object_unpin(group);
    if (result == ZE_RESULT_SUCCESS)
        *phMetricQueryPool = (zet_metric_query_pool_handle_t)pool;
    return result;
}

ze_result_t ZE_APICALL
impl_zetMetricQueryPoolDestroy(zet_metric_query_pool_handle_t hMetricQueryPool)
{
    struct zeta_query_pool *pool = (struct zeta_query_pool *)hMetricQueryPool;
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
