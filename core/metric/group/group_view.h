/*
 * Using a group during one call although another thread may change or destroy it.
 *
 * Predefined groups never change. One that an application made has a new set after each change, and
 * ends with its last reference; so a call takes a view of it, which stays as it is until it is
 * released.
 */
#ifndef ZETA_CORE_METRIC_GROUP_GROUP_VIEW_H
#define ZETA_CORE_METRIC_GROUP_GROUP_VIEW_H

#include "core/metric/group/group.h"

struct zeta_group_view {
    struct zeta_metric_group *object;      /**< NULL: none is viewed */
    const struct zeta_metric_group *group; /**< what to read; without metrics (entries) */
    struct zeta_metric_group copy;         /**< of a group that an application made */
};

/**
 * Takes a view of a group for a call. Any thread, without the lock of the root's metrics.
 * Errors: those of zeta_object_explain() for a group that was destroyed; there is no view then.
 *
 * @function, @parameter  for the sentence
 */
ze_result_t zeta_group_view_acquire(const void *handle, const char *function, const char *parameter,
                                    struct zeta_group_view *out_view);

/** Releases a view. One of no group is allowed. */
void zeta_group_view_release(struct zeta_group_view *view);

#endif
