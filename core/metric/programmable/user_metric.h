/*
 * Metrics that an application made of programmables.
 */
#ifndef ZETA_CORE_METRIC_PROGRAMMABLE_USER_METRIC_H
#define ZETA_CORE_METRIC_PROGRAMMABLE_USER_METRIC_H

#include <stdint.h>

#include <level_zero/zet_api.h>

#include "core/formula/programmables/recipe.h"
#include "core/formula/sets/set.h"
#include "core/metric/activation/client.h"
#include "core/metric/group/group.h"

struct zeta_metric_entry;
struct zeta_metric_programmable;

/** Belongs to a struct zeta_metric_entry until its last reference is gone. */
struct zeta_user_metric {
    struct zeta_user_part part;
    struct zeta_client client;
    struct zeta_metric_entry *entry;
    const struct zeta_metric_programmable *programmable;
    struct zeta_recipe recipe;
    struct zeta_metric metric; /**< what the API and zeta.h show of it; no expressions */
    uint32_t groups;           /**< that contain it; behind the root's lock */
};

#endif
