/* Pools: creating and destroying them, and what they mean for activation. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/device/device.h"
#include "core/formula/compile/compile.h"
#include "core/formula/sets/query_form.h"
#include "core/formula/sets/set.h"
#include "core/metric/device/activate.h"
#include "core/metric/device/device_metrics.h"
#include "core/metric/group/group.h"
#include "core/metric/query/query.h"
#include "core/metric/stream/stream_priv.h"
#include "core/plugin/host.h"
#include "core/util/cleanup.h"
#include "core/util/error.h"
#include "zeta_impl.h"

/* Activation ------------------------------------------------------------------------------------
 */

/** A pool in use whose group is active and would not be any more; NULL if there is none. */
static const struct zeta_query_pool *find_dropped_locked(const struct zeta_device_metrics *metrics,
                                                         uint32_t count,
                                                         struct zeta_metric_group *const *groups)
{
    const struct zeta_query_pool *pool = (metrics->parent ? metrics->parent : metrics)->pools;

    for (; pool; pool = pool->next) {
        if (zeta_use_is(&pool->use) && zeta_metric_group_is_active_locked(pool->group) &&
            zeta_activation_drops_locked(metrics, count, groups, pool->group))
            return pool;
    }
    return NULL;
}

void zeta_query_settle(struct zeta_device_metrics *metrics, uint32_t count,
                       struct zeta_metric_group *const *groups)
{
    struct zeta_device_metrics *root = zeta_metrics_root(metrics);
    const struct timespec step = {.tv_nsec = 1000000};

    for (int i = 0; i < 500; i++) {
        bool busy;

        (void)pthread_mutex_lock(&root->lock);
        busy = find_dropped_locked(metrics, count, groups) != NULL;
        (void)pthread_mutex_unlock(&root->lock);
        if (!busy)
            return;
        (void)nanosleep(&step, NULL);
    }
}

ze_result_t zeta_query_check_kept_locked(const struct zeta_device_metrics *metrics, uint32_t count,
                                         struct zeta_metric_group *const *groups)
{
    const struct zeta_query_pool *pool = find_dropped_locked(metrics, count, groups);

    if (!pool)
        return ZE_RESULT_SUCCESS;
    return zeta_error(ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE,
                      "work with queries of %s on %s has not ended, and the groups to activate do "
                      "not contain that group; wait for the work first",
                      zeta_metric_group_name(pool->group), pool->device->backend->id);
}

ze_result_t zeta_query_check_unused_locked(const struct zeta_device_metrics *metrics)
{
    const struct zeta_query_pool *pool = (metrics->parent ? metrics->parent : metrics)->pools;

    for (; pool; pool = pool->next) {
        /* One whose handle is gone is in no one's way while lists only name its queries. */
        if (zeta_metrics_overlap(pool->device, metrics->device) &&
            (zeta_object_is(pool, ZETA_KIND_METRIC_QUERY_POOL) || zeta_use_is(&pool->use)))
            return zeta_error(ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE,
                              "a query pool of %s on %s is not destroyed yet",
                              zeta_metric_group_name(pool->group), pool->device->backend->id);
    }
    return ZE_RESULT_SUCCESS;
}

/** From now on nobody can change the group. */
static void enlist(struct zeta_query_pool *pool)
{
    struct zeta_device_metrics *root = zeta_metrics_root(pool->group->metrics);

    (void)pthread_mutex_lock(&root->lock);
    pool->next = root->pools;
    root->pools = pool;
    (void)pthread_mutex_unlock(&root->lock);
}

static void delist(struct zeta_query_pool *pool)
{
    struct zeta_device_metrics *root = zeta_metrics_root(pool->group->metrics);
    struct zeta_query_pool **link;

    (void)pthread_mutex_lock(&root->lock);
    for (link = &root->pools; *link && *link != pool; link = &(*link)->next)
        ;
    if (*link)
        *link = pool->next;
    (void)pthread_mutex_unlock(&root->lock);
}

/* Creating --------------------------------------------------------------------------------------
 */

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

/** Tiles that the backend knows on a device, of which this process may see fewer; at least 1. */
static uint32_t count_records(const struct zeta_device *device)
{
    size_t count = 0;
    const struct zeta_backend_device *all = zeta_plugin_host_devices(&count);
    uint32_t tiles = 0;

    for (size_t i = 0; i < count && device->tile_count > 0; i++)
        tiles += all[i].parent != SIZE_MAX && &all[all[i].parent] == device->backend;
    return tiles > 0 ? tiles : 1;
}

/** The fields of a unit's record as a query record holds them. */
static struct zeta_plugin_query_field *list_fields(const struct zeta_layout *layout,
                                                   uint32_t *out_count)
{
    struct zeta_plugin_query_field *fields =
        calloc(zeta_query_form_field_count(layout) + 1, sizeof(*fields));
    uint32_t count = 0;

    for (uint32_t i = 0; fields && i < layout->field_count; i++) {
        const struct zeta_field *from = &layout->fields[i];

        if (from->part_of != ZETA_FIELD_NONE)
            continue;
        fields[count++] = (struct zeta_plugin_query_field){
            .struct_size = sizeof(*fields),
            .name = {.data = from->name, .size = strlen(from->name)},
            .index = from->index,
            .low_bit = from->low_bit,
            .low_width = from->low_width,
            .high_bit = from->high_bit,
            .high_width = from->high_width,
            .delta_bits = from->delta_bits,
            .is_float = from->is_float,
        };
    }
    *out_count = count;
    return fields;
}

/** Lets the backend make its side of the pool. */
static ze_result_t open_pool(struct zeta_query_pool *pool)
{
    const struct zeta_provider *provider =
        &pool->device->backend->providers[ZETA_GROUP_METRIC_QUERY];
    const struct zeta_set *set = pool->group->set;
    const struct zeta_layout *layout = set->query_of->layout;
    struct zeta_stream_program program;
    uint32_t field_count = 0;
    ZETA_CLEANUP(zeta_freep)
    struct zeta_plugin_query_field *fields = list_fields(layout, &field_count);
    ze_result_t result = fields ? zeta_stream_program_make(pool->group->compiled[0], &program)
                                : ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;

    if (result != ZE_RESULT_SUCCESS)
        return result;
    const struct zeta_plugin_query_desc desc = {
        .struct_size = sizeof(desc),
        .unit = {.data = set->unit->name, .size = strlen(set->unit->name)},
        .set = {.data = set->name, .size = strlen(set->name)},
        .program = program.array,
        .digest = program.digest,
        .uuid = program.uuid,
        .count = pool->count,
        .report_bytes = layout->record_bytes,
        .record_bytes = pool->record_bytes,
        .fields = {.data = fields, .count = field_count, .stride = sizeof(*fields)},
    };
    uint32_t code = provider->backend->metric.query_pool_create(
        provider->backend->self, provider->device, &desc, &pool->plugin_pool);
    zeta_stream_program_free(&program);
    if (code == ZETA_PLUGIN_SUCCESS)
        return ZE_RESULT_SUCCESS;
    pool->plugin_pool = NULL;
    return zeta_backend_result(provider->backend, code, "creating a query pool");
}

/** The backend goes first: of more queries than there is memory for, no page is touched here. */
static ze_result_t fill_pool(struct zeta_query_pool *pool)
{
    ze_result_t result;

    pool->backend = pool->device->backend->providers[ZETA_GROUP_METRIC_QUERY].backend;
    pool->record_bytes = zeta_compiled_record_bytes(pool->group->compiled[0]);
    pool->collect_count = count_records(pool->device);
    result = open_pool(pool);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    pool->places = calloc(pool->count, sizeof(*pool->places));
    if (!pool->places)
        return zeta_error(ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, "no memory for %u queries",
                          pool->count);
    for (uint32_t i = 0; i < pool->count; i++)
        pool->places[i].use.whole = &pool->use;
    return ZE_RESULT_SUCCESS;
}

static void finish_pool(void *object)
{
    struct zeta_query_pool *pool = object;

    /* Not before: a list that still names its queries may run, and keeps the group active. */
    delist(pool);
    if (pool->plugin_pool)
        pool->backend->metric.query_pool_destroy(pool->backend->self, pool->plugin_pool);
    free(pool->places);
    zeta_turn_finish(&pool->turn);
    zeta_object_unpin(pool->group);
}

static void finish_query(void *object)
{
    zeta_object_unpin(((struct zeta_metric_query *)object)->pool);
}

ZETA_OBJECT_FINISHER(ZETA_KIND_METRIC_QUERY_POOL, finish_pool)
ZETA_OBJECT_FINISHER(ZETA_KIND_METRIC_QUERY, finish_query)

/** As the entry point; the group is pinned. */
static ze_result_t create_pool(const struct zeta_context *context, struct zeta_device *device,
                               struct zeta_metric_group *group,
                               const zet_metric_query_pool_desc_t *desc,
                               struct zeta_query_pool **out_pool)
{
    struct zeta_query_pool *pool;
    void *made = NULL;
    ze_result_t result = zeta_object_create(ZETA_KIND_METRIC_QUERY_POOL, sizeof(*pool), &made);

    if (result != ZE_RESULT_SUCCESS)
        return result;
    pool = made;
    pool->device = device;
    pool->group = group;
    zeta_object_pin_more(group); /* an application's group can be destroyed */
    pool->count = desc->count;
    pool->type = desc->type;
    zeta_turn_init(&pool->turn);
    enlist(pool);
    result = check_create(context, device, group, desc);
    if (result == ZE_RESULT_SUCCESS)
        result = fill_pool(pool);
    if (result == ZE_RESULT_SUCCESS)
        *out_pool = pool;
    else if (zeta_object_retire(pool))
        zeta_object_unpin(pool);
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
    if (!zeta_object_retire(pool))
        return zeta_object_explain(pool, ZETA_KIND_METRIC_QUERY_POOL, "zetMetricQueryPoolDestroy",
                                   "hMetricQueryPool");
    zeta_object_unpin(pool);
    return ZE_RESULT_SUCCESS;
}
