/*
 * Using a group during one call although another thread may change or destroy it.
 *
 * Predefined groups never change. One that an application made has a new set after each change, and
 * ends with its last pin; so a call takes a view of it, which stays as it is until it is let go.
 */
#ifndef ZETA_CORE_METRIC_GROUP_GROUP_HOLD_H
#define ZETA_CORE_METRIC_GROUP_GROUP_HOLD_H

#include "core/metric/group/group.h"

struct zeta_group_hold {
    struct zeta_metric_group *group;      /**< the object; NULL: nothing is held */
    const struct zeta_metric_group *view; /**< what to look at; without metrics (entries) */
    struct zeta_metric_group own;         /**< the view of a group that an application made */
};

/**
 * Holds a group for a call. Any thread, without the lock of the root's metrics.
 * Errors: those of zeta_object_explain() for a group that was destroyed; nothing is held then.
 *
 * @function, @parameter  for the sentence
 */
ze_result_t zeta_group_hold(const void *handle, const char *function, const char *parameter,
                            struct zeta_group_hold *out_hold);

/** Lets go of a group, perhaps as the last one. What holds nothing is allowed. */
void zeta_group_let_go(struct zeta_group_hold *hold);

#endif
