#include "core/metric/group/group_view.h"

#include "core/metric/device/device_metrics.h"

ze_result_t zeta_group_view_acquire(const void *handle, const char *function, const char *parameter,
                                    struct zeta_group_view *out_view)
{
    struct zeta_metric_group *group = (struct zeta_metric_group *)(uintptr_t)handle;
    struct zeta_device_metrics *root;

    *out_view = (struct zeta_group_view){0};
    if (!group->user) {
        out_view->object = group;
        out_view->group = group;
        return ZE_RESULT_SUCCESS;
    }
    if (!zeta_object_pin(group, ZETA_KIND_METRIC_GROUP))
        return zeta_object_explain(group, ZETA_KIND_METRIC_GROUP, function, parameter);
    out_view->object = group;
    out_view->group = &out_view->copy;
    root = zeta_metrics_root(group->metrics);
    (void)pthread_mutex_lock(&root->lock);
    group->views++;
    out_view->copy.device = group->device;
    out_view->copy.metrics = group->metrics;
    out_view->copy.properties = group->properties;
    out_view->copy.set = group->set;
    out_view->copy.origin = group->origin;
    out_view->copy.compiled = group->compiled;
    out_view->copy.compiled_count = group->compiled_count;
    out_view->copy.source_id = group->source_id;
    out_view->copy.user = group->user;
    (void)pthread_mutex_unlock(&root->lock);
    return ZE_RESULT_SUCCESS;
}

void zeta_group_view_release(struct zeta_group_view *view)
{
    struct zeta_metric_group *group = view->object;
    struct zeta_device_metrics *root;

    view->object = NULL;
    if (!group || !group->user)
        return;
    root = zeta_metrics_root(group->metrics);
    (void)pthread_mutex_lock(&root->lock);
    group->views--;
    (void)pthread_mutex_unlock(&root->lock);
    zeta_object_unpin(group);
}
