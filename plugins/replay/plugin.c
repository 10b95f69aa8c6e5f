#include "plugins/replay/plugin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zeta/clock.h>

#define PLUGIN_VERSION "0.1.0"

static uint32_t read_pace(const struct zeta_plugin *self, bool *out_is_paced)
{
    char pace[32] = "fast";

    (void)zeta_host_setting(&self->host, "pace", pace, sizeof(pace));
    *out_is_paced = strcmp(pace, "recorded") == 0;
    if (*out_is_paced || strcmp(pace, "fast") == 0)
        return ZETA_PLUGIN_SUCCESS;
    return zeta_host_fail(&self->host, ZETA_PLUGIN_INVALID_ARGUMENT,
                          "the setting plugins.%s.pace is fast or recorded, not \"%s\"",
                          self->host.id, pace);
}

/* Loads the file; data of other plugins lie beside this one's. */
static uint32_t load(struct zeta_replay *replay, const char *file)
{
    const struct zeta_plugin *self = replay->self;
    struct zeta_replay_problem problem = {""};
    char *share = NULL;

    if (self->host.data_dir[0] != '\0' && asprintf(&share, "%s/..", self->host.data_dir) < 0)
        return ZETA_PLUGIN_OUT_OF_HOST_MEMORY;
    replay->recording = zeta_replay_recording_load(file, share, &problem);
    free(share);
    if (!replay->recording)
        return zeta_host_fail(&self->host, ZETA_PLUGIN_NOT_AVAILABLE, "%s", problem.text);
    return zeta_replay_devices_init(replay) ? ZETA_PLUGIN_SUCCESS : ZETA_PLUGIN_OUT_OF_HOST_MEMORY;
}

static void destroy(struct zeta_replay *replay)
{
    if (!replay)
        return;
    while (replay->playbacks)
        zeta_replay_playback_close(replay->playbacks);
    zeta_replay_recording_free(replay->recording);
    free(replay->devices);
    (void)pthread_mutex_destroy(&replay->lock);
    free(replay);
}

static uint32_t create(struct zeta_plugin *self, const char *file, struct zeta_replay **out_replay)
{
    struct zeta_replay *replay = calloc(1, sizeof(*replay));
    uint32_t result;

    if (!replay)
        return ZETA_PLUGIN_OUT_OF_HOST_MEMORY;
    replay->self = self;
    (void)pthread_mutex_init(&replay->lock, NULL);
    result = read_pace(self, &replay->is_paced);
    if (result == ZETA_PLUGIN_SUCCESS)
        result = load(replay, file);
    if (result != ZETA_PLUGIN_SUCCESS) {
        destroy(replay);
        return result;
    }
    replay->start_ns = zeta_monotonic_ns();
    *out_replay = replay;
    return ZETA_PLUGIN_SUCCESS;
}

static uint32_t plugin_init(struct zeta_plugin *self)
{
    const struct zeta_replay_recording *recording;
    char file[8192];
    uint32_t result;

    if (self->replay || !zeta_host_setting(&self->host, "file", file, sizeof(file)) ||
        file[0] == '\0')
        return ZETA_PLUGIN_SUCCESS;
    result = create(self, file, &self->replay);
    if (result != ZETA_PLUGIN_SUCCESS)
        return result;
    recording = self->replay->recording;
    zeta_host_log(&self->host, ZETA_PLUGIN_LOG_INFO, "%s: %u devices, %u sets, %u streams, %s",
                  recording->path, recording->device_count, recording->set_count,
                  recording->stream_count, recording->note);
    return ZETA_PLUGIN_SUCCESS;
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
    .enumerate = zeta_replay_enumerate,
    .properties = zeta_replay_properties,
    .clock = zeta_replay_clock,
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
