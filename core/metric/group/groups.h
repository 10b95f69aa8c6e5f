/*
 * The groups of a device, which are loaded when they are first asked for.
 */
#ifndef ZETA_CORE_METRIC_GROUP_GROUPS_H
#define ZETA_CORE_METRIC_GROUP_GROUPS_H

#include <stdbool.h>
#include <stdint.h>

#include <level_zero/ze_api.h>

struct zeta_device;
struct zeta_device_metrics;

/**
 * Loads the device's sets and makes its groups, once.
 * Errors: OUT_OF_HOST_MEMORY; another call tries again then. Sets that are not in order are left
 * out and logged.
 */
ze_result_t zeta_groups_load(struct zeta_device_metrics *metrics);

/**
 * What every enumeration of a device's metrics begins with: they were enabled once, and are loaded.
 * Errors: those of zeta_groups_load(), DEPENDENCY_UNAVAILABLE with a sentence.
 *
 * @count  becomes 0 if metrics of the device were never enabled: there is nothing to see
 */
ze_result_t zeta_groups_enumerate(struct zeta_device *device, uint32_t *count,
                                  struct zeta_device_metrics **out_metrics);

/** False if the backend gave a reason why the unit has no queries. Any thread. */
bool zeta_unit_has_queries(const struct zeta_device_metrics *metrics, const char *unit);

#endif
