/*
 * Whether metrics are enabled: by the environment for all devices, or by calls for one device.
 *
 * Enabling is remembered: what was enumerated once stays valid. Disabling only refuses activation
 * until the next enable.
 */
#ifndef ZETA_CORE_METRIC_DEVICE_ENABLE_H
#define ZETA_CORE_METRIC_DEVICE_ENABLE_H

#include <stdbool.h>

#include <level_zero/ze_api.h>

struct zeta_device;
struct zeta_device_metrics;

/** True if metrics of the device were enabled at any time in this process. Any thread. */
bool zeta_metric_was_enabled(struct zeta_device_metrics *metrics);

/** DEPENDENCY_UNAVAILABLE with a sentence if they never were. Any thread. */
ze_result_t zeta_metric_check_was_enabled(struct zeta_device_metrics *metrics);

/**
 * SUCCESS if groups of the device may be activated now, on a root also those of its tiles; else
 * DEPENDENCY_UNAVAILABLE with a sentence that says how to enable them. Any thread.
 */
ze_result_t zeta_metric_check_enabled(struct zeta_device_metrics *metrics);

#endif
