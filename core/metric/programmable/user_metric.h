/*
 * Metrics that an application made of programmables.
 */
#ifndef ZETA_CORE_METRIC_PROGRAMMABLE_USER_METRIC_H
#define ZETA_CORE_METRIC_PROGRAMMABLE_USER_METRIC_H

#include <stdint.h>

#include <level_zero/zet_api.h>

#include "core/formula/programmables/recipe.h"
#include "core/formula/sets/set.h"

struct zeta_device_metrics;
struct zeta_metric_entry;
struct zeta_metric_programmable;

/** Hangs off a struct zeta_metric_entry; lives until its last pin is gone. */
struct zeta_user_metric {
    struct zeta_user_metric *next; /**< of the root device; behind its lock */
    struct zeta_metric_entry *entry;
    const struct zeta_metric_programmable *programmable;
    struct zeta_recipe recipe;
    struct zeta_metric metric; /**< what the API and zeta.h say about it; no expressions */
    zet_metric_properties_t properties;
    uint32_t groups; /**< that hold it; behind the root's lock */
};

/** Frees what hangs off a metric whose last pin is gone. */
void zeta_user_metric_finish(struct zeta_user_metric *metric);

/**
 * HANDLE_OBJECT_IN_USE with a sentence while a metric or a group that the application made of the
 * device or one of its tiles lives. The caller holds the root's lock.
 */
ze_result_t zeta_user_check_unused_locked(const struct zeta_device_metrics *metrics);

#endif
