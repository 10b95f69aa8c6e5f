#include "core/metric/group/group_hold.h"

#include "core/metric/device/device_metrics.h"
#include "core/metric/programmable/user_group.h"

/** Copies what a change of the group would replace. */
static void take_view(struct zeta_group_hold *hold)
{
    struct zeta_metric_group *group = hold->group;
    struct zeta_device_metrics *root = zeta_metrics_root(group->metrics);

    (void)pthread_mutex_lock(&root->lock);
    group->user->held++;
    hold->own.device = group->device;
    hold->own.metrics = group->metrics;
    hold->own.properties = group->properties;
    hold->own.set = group->set;
    hold->own.origin = group->origin;
    hold->own.compiled = group->compiled;
    hold->own.compiled_count = group->compiled_count;
    hold->own.source_id = group->source_id;
    hold->own.user = group->user;
    (void)pthread_mutex_unlock(&root->lock);
}

ze_result_t zeta_group_hold(const void *handle, const char *function, const char *parameter,
                            struct zeta_group_hold *out_hold)
{
    struct zeta_metric_group *group = (struct zeta_metric_group *)(uintptr_t)handle;

    *out_hold = (struct zeta_group_hold){0};
    if (!group->user) {
        out_hold->group = group;
        out_hold->view = group;
        return ZE_RESULT_SUCCESS;
    }
    if (!zeta_object_pin(group, ZETA_KIND_METRIC_GROUP))
        return zeta_object_explain(group, ZETA_KIND_METRIC_GROUP, function, parameter);
    out_hold->group = group;
    out_hold->view = &out_hold->own;
    take_view(out_hold);
    return ZE_RESULT_SUCCESS;
}

void zeta_group_let_go(struct zeta_group_hold *hold)
{
    struct zeta_metric_group *group = hold->group;
    struct zeta_device_metrics *root;

    hold->group = NULL;
    if (!group || !group->user)
        return;
    root = zeta_metrics_root(group->metrics);
    (void)pthread_mutex_lock(&root->lock);
    group->user->held--;
    (void)pthread_mutex_unlock(&root->lock);
    zeta_object_unpin(group);
}
