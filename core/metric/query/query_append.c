/* Begin and end of queries in command lists. */
#include "core/device/device.h"
#include "core/list/list.h"
#include "core/metric/activation/active.h"
#include "core/metric/device/device_metrics.h"
#include "core/metric/group/group.h"
#include "core/metric/query/query.h"
#include "core/plugin/host.h"
#include "core/util/error.h"
#include "zeta_impl.h"

/** Queues of the pool's device and of its tiles can be measured. */
static ze_result_t check_list(const struct zeta_command_list *list,
                              const struct zeta_query_pool *pool)
{
    const struct zeta_device *device = list->device;

    if (device != pool->client.device && device->parent != pool->client.device)
        return zeta_error(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "the query pool was created for device %s and the command list for %s",
                          pool->client.device->backend->id, device->backend->id);
    return zeta_list_check_metrics(list);
}

static ze_result_t check_active(const struct zeta_metric_group *group)
{
    struct zeta_device_metrics *root = zeta_metrics_root(group->metrics);
    bool active;

    (void)pthread_mutex_lock(&root->lock);
    active = zeta_group_is_active_locked(group);
    (void)pthread_mutex_unlock(&root->lock);
    if (active)
        return ZE_RESULT_SUCCESS;
    return zeta_error(ZE_RESULT_NOT_READY,
                      "group %s is not active; call zetContextActivateMetricGroups before queries "
                      "of it begin",
                      zeta_metric_group_name(group));
}

static ze_result_t add_point(struct zeta_append *append, uint32_t type,
                             struct zeta_metric_query *query,
                             struct zeta_plugin_command **out_command)
{
    ze_result_t result = zeta_append_add(append, type, out_command);

    if (result == ZE_RESULT_SUCCESS)
        result = zeta_command_buffer_pin(append->buffer, query, ZETA_KIND_METRIC_QUERY);
    if (result == ZE_RESULT_SUCCESS)
        result = zeta_command_buffer_use(append->buffer, &zeta_query_place_of(query)->use);
    if (result == ZE_RESULT_SUCCESS)
        (*out_command)->u.query = (struct zeta_plugin_query_point){.pool = query->pool->source.pool,
                                                                   .index = query->index};
    return result;
}

/** As the entry point; the query is pinned. */
static ze_result_t append_begin(struct zeta_command_list *list, struct zeta_metric_query *query)
{
    const bool skips = query->pool->type == ZET_METRIC_QUERY_POOL_TYPE_EXECUTION;
    const struct zeta_query_place *place = zeta_query_place_of(query);
    struct zeta_plugin_command *command = NULL;
    struct zeta_append append;
    ze_result_t result = check_list(list, query->pool);

    if (result == ZE_RESULT_SUCCESS)
        result = check_active(query->pool->group);
    if (result == ZE_RESULT_SUCCESS)
        result = zeta_append_begin(&append, list);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    result = add_point(&append, ZETA_PLUGIN_COMMAND_QUERY_BEGIN, query, &command);
    result = zeta_append_end(&append, result);
    if (result == ZE_RESULT_SUCCESS && skips)
        zeta_list_skip_begin(list, place);
    return result;
}

ze_result_t ZE_APICALL impl_zetCommandListAppendMetricQueryBegin(
    zet_command_list_handle_t hCommandList, zet_metric_query_handle_t hMetricQuery)
{
    struct zeta_metric_query *query = (struct zeta_metric_query *)hMetricQuery;
    ze_result_t result;

    if (!zeta_object_pin(query, ZETA_KIND_METRIC_QUERY))
        return zeta_object_explain(query, ZETA_KIND_METRIC_QUERY,
                                   "zetCommandListAppendMetricQueryBegin", "hMetricQuery");
    result = append_begin((struct zeta_command_list *)hCommandList, query);
    zeta_object_unpin(query);
    return result;
}

/** As the entry point; the query is pinned. */
static ze_result_t append_end(struct zeta_command_list *list, struct zeta_metric_query *query,
                              ze_event_handle_t signal, uint32_t wait_count,
                              ze_event_handle_t *waits)
{
    const struct zeta_query_place *place = zeta_query_place_of(query);
    struct zeta_plugin_command *command = NULL;
    struct zeta_append append;
    ze_result_t result = check_list(list, query->pool);

    if (result == ZE_RESULT_SUCCESS)
        result = zeta_append_begin(&append, list);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    result = add_point(&append, ZETA_PLUGIN_COMMAND_QUERY_END, query, &command);
    if (result == ZE_RESULT_SUCCESS)
        result = zeta_append_events(&append, command, signal, wait_count, waits);
    result = zeta_append_end(&append, result);
    if (result == ZE_RESULT_SUCCESS)
        zeta_list_skip_end(list, place);
    return result;
}

ze_result_t ZE_APICALL impl_zetCommandListAppendMetricQueryEnd(
    zet_command_list_handle_t hCommandList, zet_metric_query_handle_t hMetricQuery,
    ze_event_handle_t hSignalEvent, uint32_t numWaitEvents, ze_event_handle_t *phWaitEvents)
{
    struct zeta_metric_query *query = (struct zeta_metric_query *)hMetricQuery;
    ze_result_t result;

    if (!zeta_object_pin(query, ZETA_KIND_METRIC_QUERY))
        return zeta_object_explain(query, ZETA_KIND_METRIC_QUERY,
                                   "zetCommandListAppendMetricQueryEnd", "hMetricQuery");
    result = append_end((struct zeta_command_list *)hCommandList, query, hSignalEvent,
                        numWaitEvents, phWaitEvents);
    zeta_object_unpin(query);
    return result;
}

/* Results are read through the backend, which sees to their order; a barrier is all that is left.
 */
ze_result_t ZE_APICALL
impl_zetCommandListAppendMetricMemoryBarrier(zet_command_list_handle_t hCommandList)
{
    return impl_zeCommandListAppendBarrier(hCommandList, NULL, 0, NULL);
}
