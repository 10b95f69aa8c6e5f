#include <stdio.h>

#include "core/device/device.h"
#include "core/metric/export/recording.h"
#include "core/plugin/host.h"

static void add_identity(const struct zeta_device *device, struct zeta_lines *lines)
{
    const struct zeta_plugin_device_properties *properties = &device->backend->properties;
    char uuid[2 * sizeof(properties->uuid) + 1];

    for (size_t i = 0; i < sizeof(properties->uuid); i++)
        (void)snprintf(uuid + 2 * i, 3, "%02x", properties->uuid[i]);
    zeta_lines_add(lines, "name", device->name);
    zeta_lines_add(lines, "id", device->backend->id);
    zeta_lines_add(lines, "class",
                   zeta_device_class_name(device->backend->identity.backend->device_class));
    zeta_lines_add(lines, "uuid", uuid);
    zeta_lines_add_u64(lines, "vendor", properties->vendor_id);
    zeta_lines_add_u64(lines, "device", properties->device_id);
    zeta_lines_add_u64(lines, "revision", properties->revision);
}

void zeta_recording_describe_device(const struct zeta_device *device, uint32_t parent,
                                    struct zeta_lines *lines)
{
    const struct zeta_plugin_device_properties *properties = &device->backend->properties;

    add_identity(device, lines);
    if (parent != 0) {
        zeta_lines_add_u64(lines, "parent", parent);
        zeta_lines_add_u64(lines, "tile", device->tile);
    }
    zeta_lines_add_u64(lines, "timer-hz", properties->timer_hz);
    zeta_lines_add_u64(lines, "timestamp-bits", properties->timestamp_valid_bits);
    zeta_lines_add_u64(lines, "kernel-timestamp-bits", properties->kernel_timestamp_valid_bits);
    zeta_lines_add_u64(lines, "core-clock-mhz", properties->core_clock_mhz);
    zeta_lines_add_u64(lines, "slices", properties->slices);
    zeta_lines_add_u64(lines, "subslices-per-slice", properties->subslices_per_slice);
    zeta_lines_add_u64(lines, "eus-per-subslice", properties->eus_per_subslice);
    zeta_lines_add_u64(lines, "threads-per-eu", properties->threads_per_eu);
    zeta_lines_add_u64(lines, "simd-width", properties->simd_width);
}
