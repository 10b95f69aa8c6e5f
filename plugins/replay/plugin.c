#include "plugins/replay/plugin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zeta/clock.h>

#define PLUGIN_VERSION "0.1.0"

/* ---- devices: what they were, under names of their own -------------------------------------- */

static bool make_devices(struct zeta_replay *replay)
{
    /* The device that was recorded may be there as well, and is another one. */
    static const char mark[16] = "zeta recording.";
    const uint32_t count = replay->recording->device_count;
    uint32_t roots = 0;

    replay->devices = calloc(count, sizeof(*replay->devices));
    if (!replay->devices)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        const struct zeta_replay_device *recorded = &replay->recording->devices[i];
        struct zeta_plugin_device *device = &replay->devices[i];

        device->replay = replay;
        device->recorded = recorded;
        device->index = i;
        if (recorded->parent == UINT32_MAX) {
            device->root = roots++;
            (void)snprintf(device->id, sizeof(device->id), "replay%u", device->root);
        } else {
            device->root = replay->devices[recorded->parent].root;
            (void)snprintf(device->id, sizeof(device->id), "replay%u.%u", device->root,
                           recorded->tile);
        }
        for (uint32_t k = 0; k < 16; k++)
            device->uuid[k] = recorded->uuid[k] ^ (uint8_t)mark[k];
        (void)snprintf(device->name, sizeof(device->name), "%.200s (recording)", recorded->name);
    }
    return true;
}

static uint32_t device_enumerate(struct zeta_plugin *self, uint32_t capacity,
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

static uint32_t device_properties(struct zeta_plugin *self, struct zeta_plugin_device *device,
                                  struct zeta_plugin_device_properties *out_properties)
{
    const struct zeta_replay_device *recorded = device->recorded;
    const struct zeta_plugin_device_properties properties = {
        .struct_size = out_properties->struct_size,
        .name = zeta_string(device->name),
        .id = zeta_string(device->id),
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
static uint32_t device_clock(struct zeta_plugin *self, struct zeta_plugin_device *device,
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

/* ---- the plugin object ---------------------------------------------------------------------- */

static void destroy(struct zeta_replay *replay)
{
    if (!replay)
        return;
    zeta_replay_playbacks_close(replay);
    zeta_replay_recording_free(replay->recording);
    free(replay->devices);
    (void)pthread_mutex_destroy(&replay->lock);
    free(replay);
}

static uint32_t plugin_init(struct zeta_plugin *self)
{
    struct zeta_replay_problem problem = {""};
    struct zeta_replay *replay;
    const struct zeta_replay_recording *recording;
    char file[8192], pace[32] = "fast", *share = NULL;
    uint32_t result = ZETA_PLUGIN_OUT_OF_HOST_MEMORY;

    if (self->replay || !zeta_host_setting(&self->host, "file", file, sizeof(file)) ||
        file[0] == '\0')
        return ZETA_PLUGIN_SUCCESS;
    (void)zeta_host_setting(&self->host, "pace", pace, sizeof(pace));
    if (strcmp(pace, "recorded") != 0 && strcmp(pace, "fast") != 0)
        return zeta_host_fail(&self->host, ZETA_PLUGIN_INVALID_ARGUMENT,
                              "the setting plugins.%s.pace is fast or recorded, not \"%s\"",
                              self->host.id, pace);
    replay = calloc(1, sizeof(*replay));
    if (!replay)
        return ZETA_PLUGIN_OUT_OF_HOST_MEMORY;
    replay->self = self;
    replay->is_paced = strcmp(pace, "recorded") == 0;
    (void)pthread_mutex_init(&replay->lock, NULL);
    /* Data of other plugins are beside this one's. */
    if (self->host.data_dir[0] != '\0' && asprintf(&share, "%s/..", self->host.data_dir) < 0)
        goto destroy;
    replay->recording = zeta_replay_recording_load(file, share, &problem);
    free(share);
    if (!replay->recording) {
        result = zeta_host_fail(&self->host, ZETA_PLUGIN_NOT_AVAILABLE, "%s", problem.text);
        goto destroy;
    }
    if (!make_devices(replay))
        goto destroy;
    replay->start_ns = zeta_monotonic_ns();
    self->replay = replay;
    recording = replay->recording;
    zeta_host_log(&self->host, ZETA_PLUGIN_LOG_INFO, "%s: %u devices, %u sets, %u streams, %s",
                  recording->path, recording->device_count, recording->set_count,
                  recording->stream_count, recording->note);
    return ZETA_PLUGIN_SUCCESS;

destroy:
    destroy(replay);
    return result;
}

static void plugin_finish(struct zeta_plugin *self)
{
    destroy(self->replay);
    self->replay = NULL;
}

/*
 * What was loaded does not change, so the child goes on with it. The playbacks belong to
 * the parent: their files stay open. Another thread may have held the lock, so it is made anew.
 */
static uint32_t plugin_child_after_fork(struct zeta_plugin *self)
{
    if (!self->replay)
        return ZETA_PLUGIN_SUCCESS;
    self->replay->playbacks = NULL;
    return pthread_mutex_init(&self->replay->lock, NULL) == 0 ? ZETA_PLUGIN_SUCCESS
                                                              : ZETA_PLUGIN_OUT_OF_HOST_MEMORY;
}

static const struct zeta_plugin_device_ops device_ops = {
    .struct_size = sizeof(struct zeta_plugin_device_ops),
    .enumerate = device_enumerate,
    .properties = device_properties,
    .clock = device_clock,
    .child_after_fork = plugin_child_after_fork,
};

static const struct zeta_plugin_ops plugin_ops = {
    .struct_size = sizeof(struct zeta_plugin_ops),
    .init = plugin_init,
    .finish = plugin_finish,
    .device = &device_ops,
    .metric = &zeta_replay_metric_ops,
    .tracer = &zeta_replay_tracer_ops,
};

uint32_t zeta_plugin_negotiate(const struct zeta_plugin_offer *offer,
                               struct zeta_plugin_answer *out_answer)
{
    return zeta_host_negotiate(offer, &plugin_ops, PLUGIN_VERSION, sizeof(struct zeta_plugin),
                               out_answer);
}
