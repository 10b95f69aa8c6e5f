/* Tracers as users of groups and units: what they forbid others, and what others do to them. */
#include <string.h>

#include "core/device/device.h"
#include "core/formula/sets/set.h"
#include "core/metric/device/activate.h"
#include "core/metric/device/device_metrics.h"
#include "core/metric/group/group.h"
#include "core/metric/tracer/tracer.h"
#include "core/plugin/host.h"
#include "core/util/error.h"

static const struct zeta_metric_group *shared_unit(const struct zeta_tracer *a,
                                                   const struct zeta_tracer *b)
{
    for (uint32_t i = 0; i < a->group_count; i++) {
        for (uint32_t j = 0; j < b->group_count; j++) {
            if (strcmp(a->groups[i]->set->unit->name, b->groups[j]->set->unit->name) == 0)
                return a->groups[i];
        }
    }
    return NULL;
}

static const struct zeta_metric_group *inactive_group_locked(const struct zeta_tracer *tracer)
{
    for (uint32_t i = 0; i < tracer->group_count; i++) {
        if (!zeta_metric_group_is_active_locked(tracer->groups[i]))
            return tracer->groups[i];
    }
    return NULL;
}

ze_result_t zeta_tracer_reserve_locked(struct zeta_device_metrics *root, struct zeta_tracer *tracer)
{
    const struct zeta_metric_group *group = inactive_group_locked(tracer);

    if (group)
        return zeta_error(ZE_RESULT_NOT_READY,
                          "group %s is not active; activate it with zetContextActivateMetricGroups",
                          zeta_metric_group_name(group));
    for (const struct zeta_tracer *other = root->tracers; other; other = other->next) {
        if (other->hold == ZETA_TRACER_STOPPED ||
            !zeta_metrics_overlap(other->device, tracer->device))
            continue;
        group = shared_unit(tracer, other);
        if (group)
            return zeta_error(ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE,
                              "this process has a tracer of %s, which uses the same source %s; "
                              "destroy it first",
                              other->label, group->set->unit->name);
    }
    tracer->hold = ZETA_TRACER_OPENING;
    tracer->next = root->tracers;
    root->tracers = tracer;
    return ZE_RESULT_SUCCESS;
}

bool zeta_tracer_settle(struct zeta_device_metrics *root, struct zeta_tracer *tracer)
{
    bool stop;

    (void)pthread_mutex_lock(&root->lock);
    stop = tracer->stop_wanted;
    tracer->hold = stop ? ZETA_TRACER_STOPPED : ZETA_TRACER_OPEN;
    (void)pthread_mutex_unlock(&root->lock);
    return stop;
}

void zeta_tracer_release(struct zeta_device_metrics *root, struct zeta_tracer *tracer)
{
    struct zeta_tracer **link;

    (void)pthread_mutex_lock(&root->lock);
    for (link = &root->tracers; *link && *link != tracer; link = &(*link)->next)
        ;
    if (*link)
        *link = tracer->next;
    while (tracer->borrowed > 0)
        (void)pthread_cond_wait(&root->changed, &root->lock);
    (void)pthread_mutex_unlock(&root->lock);
}

ze_result_t zeta_tracers_check_kept_locked(const struct zeta_device_metrics *metrics,
                                           uint32_t count, struct zeta_metric_group *const *groups)
{
    const struct zeta_device_metrics *root = metrics->parent ? metrics->parent : metrics;

    for (const struct zeta_tracer *tracer = root->tracers; tracer; tracer = tracer->next) {
        if (tracer->hold == ZETA_TRACER_STOPPED)
            continue;
        for (uint32_t i = 0; i < tracer->group_count; i++) {
            if (zeta_activation_drops_locked(metrics, count, groups, tracer->groups[i]))
                return zeta_error(ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE,
                                  "a tracer of %s exists, and the groups to activate do not "
                                  "contain %s; destroy the tracer first",
                                  tracer->label, zeta_metric_group_name(tracer->groups[i]));
        }
    }
    return ZE_RESULT_SUCCESS;
}

/** A tracer that lost a group and still holds its units; it is borrowed. NULL: none left. */
static struct zeta_tracer *borrow_inactive_locked(struct zeta_device_metrics *root)
{
    for (struct zeta_tracer *tracer = root->tracers; tracer; tracer = tracer->next) {
        if (!inactive_group_locked(tracer))
            continue;
        if (tracer->hold == ZETA_TRACER_OPENING)
            tracer->stop_wanted = true; /* whoever opens it stops it */
        if (tracer->hold != ZETA_TRACER_OPEN)
            continue;
        tracer->hold = ZETA_TRACER_STOPPED;
        tracer->borrowed++;
        return tracer;
    }
    return NULL;
}

void zeta_tracers_stop_inactive_locked(struct zeta_device_metrics *root)
{
    struct zeta_tracer *tracer;

    while ((tracer = borrow_inactive_locked(root)) != NULL) {
        (void)pthread_mutex_unlock(&root->lock);
        zeta_tracer_stop(tracer);
        (void)pthread_mutex_lock(&root->lock);
        tracer->borrowed--;
        (void)pthread_cond_broadcast(&root->changed);
    }
}

ze_result_t zeta_tracers_check_unused_locked(const struct zeta_device_metrics *metrics)
{
    const struct zeta_device_metrics *root = metrics->parent ? metrics->parent : metrics;

    for (const struct zeta_tracer *tracer = root->tracers; tracer; tracer = tracer->next) {
        if (zeta_metrics_overlap(tracer->device, metrics->device))
            return zeta_error(ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE,
                              "a tracer of %s is not destroyed yet", tracer->label);
    }
    return ZE_RESULT_SUCCESS;
}
