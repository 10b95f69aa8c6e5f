#ifndef ZETA_PLUGINS_VGPU_DEVICE_H
#define ZETA_PLUGINS_VGPU_DEVICE_H

/*
 * What the host learns about the virtual device.
 */

#include <zeta/plugin.h>

struct zeta_vgpu;

/** Makes the root device and, when there are several, its tiles. */
void zeta_vgpu_devices_init(struct zeta_vgpu *vgpu);

/* Operations of struct zeta_plugin_device_ops with the same names. */
uint32_t zeta_vgpu_device_enumerate(struct zeta_plugin *self, uint32_t capacity,
                                    struct zeta_plugin_device **out_devices, uint32_t *out_count);
uint32_t zeta_vgpu_device_properties(struct zeta_plugin *self, struct zeta_plugin_device *device,
                                     struct zeta_plugin_device_properties *out_properties);
uint32_t zeta_vgpu_device_clock(struct zeta_plugin *self, struct zeta_plugin_device *device,
                                struct zeta_plugin_clock *out_clock);
uint32_t zeta_vgpu_device_status(struct zeta_plugin *self, struct zeta_plugin_device *device);

#endif
