/*
 * Devices of a recording: what they were, under names of their own.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zeta/clock.h>

#include "plugins/replay/plugin.h"

/* "replay" and its number; a tile has the name of its root and its own number. */
static void make_id(struct zeta_replay *replay, uint32_t index, uint32_t *root_count)
{
    struct zeta_plugin_device *device = &replay->devices[index];
    const uint32_t parent = device->recorded->parent;

    if (parent == UINT32_MAX) {
        device->root = (*root_count)++;
        (void)snprintf(device->id, sizeof(device->id), "replay%u", device->root);
    } else {
        device->root = replay->devices[parent].root;
        (void)snprintf(device->id, sizeof(device->id), "replay%u.%u", device->root,
                       device->recorded->tile);
    }
}

/* The device that was recorded may be there as well, and is another one. */
static void make_uuid(struct zeta_plugin_device *device)
{
    static const char mark[16] = "zeta recording.";

    for (uint32_t i = 0; i < 16; i++)
        device->uuid[i] = device->recorded->uuid[i] ^ (uint8_t)mark[i];
}

bool zeta_replay_devices_init(struct zeta_replay *replay)
{
    const uint32_t count = replay->recording->device_count;
    uint32_t roots = 0;

    replay->devices = calloc(count, sizeof(*replay->devices));
    if (!replay->devices)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        struct zeta_plugin_device *device = &replay->devices[i];

        device->replay = replay;
        device->recorded = &replay->recording->devices[i];
        device->index = i;
        make_id(replay, i, &roots);
        make_uuid(device);
        (void)snprintf(device->name, sizeof(device->name), "%.200s (recording)",
                       device->recorded->name);
    }
    return true;
}

uint32_t zeta_replay_enumerate(struct zeta_plugin *self, uint32_t capacity,
                               struct zeta_plugin_device **out_devices, uint32_t *out_count)
{
    const uint32_t count = self->replay ? self->replay->recording->device_count : 0;

    for (uint32_t i = 0; i < count && i < capacity; i++)
        out_devices[i] = &self->replay->devices[i];
    *out_count = count;
    return ZETA_PLUGIN_SUCCESS;
}

static uint32_t bits_or(uint32_t bits, uint32_t most, uint32_t fallback)
{
    return bits == 0 || bits > most ? fallback : bits;
}

uint32_t zeta_replay_properties(struct zeta_plugin *self, struct zeta_plugin_device *device,
                                struct zeta_plugin_device_properties *out_properties)
{
    const struct zeta_replay_device *recorded = device->recorded;
    const struct zeta_plugin_device_properties properties = {
        .struct_size = out_properties->struct_size,
        .name = {device->name, strlen(device->name)},
        .id = {device->id, strlen(device->id)},
        .type = ZETA_PLUGIN_DEVICE_GPU,
        .parent = recorded->parent,
        .tile = recorded->tile,
        .vendor_id = recorded->vendor_id,
        .device_id = recorded->device_id,
        .revision = recorded->revision,
        .timer_hz = recorded->timer_hz,
        .timestamp_valid_bits = bits_or(recorded->timestamp_valid_bits, 64, 64),
        .kernel_timestamp_valid_bits = bits_or(recorded->kernel_timestamp_valid_bits, 34, 32),
        .core_clock_mhz = recorded->core_clock_mhz,
        .slices = recorded->slices,
        .subslices_per_slice = recorded->subslices_per_slice,
        .eus_per_subslice = recorded->eus_per_subslice,
        .threads_per_eu = recorded->threads_per_eu,
        .simd_width = recorded->simd_width,
    };
    const uint64_t bytes = out_properties->struct_size < sizeof(properties)
                               ? out_properties->struct_size
                               : sizeof(properties);

    (void)self;
    memcpy(out_properties, &properties, (size_t)bytes);
    if (ZETA_PLUGIN_HAS(out_properties, uuid))
        memcpy(out_properties->uuid, device->uuid, sizeof(device->uuid));
    return ZETA_PLUGIN_SUCCESS;
}

/*
 * The clock began where the recording begins when the plugin was initialised, and runs since. It
 * is as exact as the host's, and the timestamps of the records are in its range.
 */
uint32_t zeta_replay_clock(struct zeta_plugin *self, struct zeta_plugin_device *device,
                           struct zeta_plugin_clock *out_clock)
{
    const uint64_t hz = device->recorded->timer_hz;
    const uint64_t now = zeta_monotonic_ns();
    const uint64_t passed = now - self->replay->start_ns;

    out_clock->device_ticks = device->recorded->first_ticks + passed / 1000000000u * hz +
                              (uint64_t)((double)(passed % 1000000000u) * (double)hz / 1e9);
    out_clock->host_ns = now;
    out_clock->error_ns = 0;
    out_clock->raw = 0;
    return ZETA_PLUGIN_SUCCESS;
}
