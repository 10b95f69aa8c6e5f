/*
 * Programmables as objects: one for each sampling type of a programmable that a device has.
 */
#ifndef ZETA_CORE_METRIC_PROGRAMMABLE_PROGRAMMABLE_H
#define ZETA_CORE_METRIC_PROGRAMMABLE_PROGRAMMABLE_H

#include <stdint.h>

#include <level_zero/zet_api.h>

#include "core/object/object.h"

struct zeta_device;
struct zeta_device_metrics;
struct zeta_programmable;

/** Exists until the process ends. */
struct zeta_metric_programmable {
    struct zeta_object object;
    struct zeta_device *device;
    struct zeta_device_metrics *metrics;
    const struct zeta_programmable *model;           /**< on a root: of its first tile */
    zet_metric_group_sampling_type_flags_t sampling; /**< one bit */
    uint32_t source_id;                              /**< as of groups of the same unit */
};

/**
 * Loads the groups of a device and makes its programmables, once.
 * Errors: OUT_OF_HOST_MEMORY; another call tries again then.
 */
ze_result_t zeta_programmables_load(struct zeta_device_metrics *metrics);

#endif
