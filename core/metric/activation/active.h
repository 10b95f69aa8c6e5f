/*
 * Which groups are active: a property of the device in the process, whoever asked for it.
 *
 * Activation reserves nothing outside the process. What is active on a root is active on its tiles
 * too. Everything here is guarded by the lock of the root's metrics.
 */
#ifndef ZETA_CORE_METRIC_ACTIVATION_ACTIVE_H
#define ZETA_CORE_METRIC_ACTIVATION_ACTIVE_H

#include <stdbool.h>
#include <stdint.h>

struct zeta_device_metrics;
struct zeta_metric_group;

/** True if the group is active, or its twin on the root. */
bool zeta_group_is_active_locked(const struct zeta_metric_group *group);

/** True if any group of the device, of its root or of one of its tiles is active. */
bool zeta_metrics_any_active_locked(const struct zeta_device_metrics *metrics);

/**
 * True if a group in use on the device or one of its tiles would not be active any more after these
 * groups replace the device's active ones.
 *
 * @metrics  whose active groups are to be replaced
 * @used     the group of a stream, tracer or query pool
 */
bool zeta_activation_drops_locked(const struct zeta_device_metrics *metrics, uint32_t count,
                                  struct zeta_metric_group *const *groups,
                                  const struct zeta_metric_group *used);

/**
 * Replaces the active groups of the device, and ends what is active on its tiles.
 *
 * @groups  malloc'ed, owned by metrics from now on; NULL with count 0
 */
void zeta_metrics_set_active_locked(struct zeta_device_metrics *metrics, uint32_t count,
                                    struct zeta_metric_group **groups);

#endif
