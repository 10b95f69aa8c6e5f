/*
 * Whether metrics are enabled: by the environment for all devices, or by calls for one device.
 *
 * Enabling is remembered: what was enumerated once stays valid. Disabling only refuses activation
 * until the next enable.
 */
#ifndef ZETA_CORE_METRIC_ENABLE_H
#define ZETA_CORE_METRIC_ENABLE_H

#include <stdbool.h>

struct zeta_device;

/**
 * Reads ZET_ENABLE_METRICS as it is now; once seen on, metrics stay enabled in this process. To be
 * called by zeInit, zeInitDrivers and zeDriverGet after the settings were loaded, because programs
 * set the variable late and the loader lets only some of these calls through. Any thread.
 */
void zeta_metric_read_environment(void);

/** True if metrics of the device were enabled at any time in this process. Any thread. */
bool zeta_metric_was_enabled(struct zeta_device *device);

/** True if groups of the device may be activated now. Any thread. */
bool zeta_metric_is_enabled(struct zeta_device *device);

#endif
