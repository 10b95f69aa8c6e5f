/*
 * Open streams and tracers, and the units that they use. The rule is that of hardware: a process
 * has one stream of a unit. Other processes open the file independently.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plugins/replay/plugin.h"

/* Records of a buffer unless more are wanted, and the most bytes that it has. */
#define RECORDS_MIN 4096u
#define BYTES_MAX (UINT64_C(32) << 20)

uint32_t zeta_replay_capacity(uint64_t wanted, uint64_t notify, uint32_t record_bytes)
{
    const uint64_t limit = BYTES_MAX / record_bytes;
    uint64_t records = notify < limit ? 2 * notify : limit;

    if (records < RECORDS_MIN)
        records = RECORDS_MIN;
    if (wanted != 0 && wanted < records && wanted >= 2)
        records = wanted;
    return (uint32_t)(records < limit ? records : limit);
}

bool zeta_replay_stream_is_of(const struct zeta_replay_stream *stream,
                              const struct zeta_plugin_device *device, uint32_t *out_set,
                              uint32_t *out_tile)
{
    const struct zeta_replay_device *recorded = device->recorded;

    *out_tile = UINT32_MAX;
    *out_set = stream->sets[0];
    if (stream->device == device->index)
        return true;
    if (recorded->parent != stream->device || recorded->tile >= stream->tiles)
        return false;
    *out_set = stream->sets[recorded->tile];
    *out_tile = recorded->tile;
    return true;
}

uint32_t zeta_replay_playback_open(struct zeta_plugin *self, struct zeta_plugin_device *device,
                                   const struct zeta_replay_request *request, uint32_t capacity,
                                   struct zeta_replay_playback **out_playback)
{
    const struct zeta_replay *replay = self->replay;
    struct zeta_replay_problem problem = {""};
    struct zeta_replay_playback *playback = calloc(1, sizeof(*playback));
    struct zeta_replay_source *source;

    if (!playback)
        return ZETA_PLUGIN_OUT_OF_HOST_MEMORY;
    source = zeta_replay_source_open(request, &problem);
    if (!source) {
        free(playback);
        return zeta_host_fail(&self->host, ZETA_PLUGIN_NOT_AVAILABLE, "%s: %.400s", device->id,
                              problem.text);
    }
    if (!zeta_replay_buffer_init(&playback->buffer, source, request->set, capacity)) {
        free(playback);
        return ZETA_PLUGIN_OUT_OF_HOST_MEMORY;
    }
    playback->device = device;
    playback->is_stopped = true;
    playback->buffer.is_paced = replay->is_paced;
    playback->buffer.hz = device->recorded->metric_hz;
    *out_playback = playback;
    return ZETA_PLUGIN_SUCCESS;
}

/* A device and its tiles share their units. */
static bool overlap(const struct zeta_plugin_device *a, const struct zeta_plugin_device *b)
{
    return a->index == b->index || a->recorded->parent == b->index ||
           b->recorded->parent == a->index;
}

static bool has_unit(const struct zeta_replay_playback *playback, const char *unit)
{
    for (uint32_t i = 0; i < playback->unit_count; i++) {
        if (strcmp(playback->units[i], unit) == 0)
            return true;
    }
    return false;
}

/* The playback that uses one of the units now. */
static const struct zeta_replay_playback *holder_locked(const struct zeta_replay_playback *playback)
{
    const struct zeta_replay_playback *other = playback->device->replay->playbacks;

    for (; other; other = other->next) {
        for (uint32_t i = 0; i < playback->unit_count; i++) {
            if (!other->is_stopped && overlap(other->device, playback->device) &&
                has_unit(other, playback->units[i]))
                return other;
        }
    }
    return NULL;
}

uint32_t zeta_replay_playback_take_units(struct zeta_replay_playback *playback,
                                         const struct zeta_plugin_array *units)
{
    struct zeta_replay *replay = playback->device->replay;
    bool is_free;

    for (uint64_t i = 0; i < units->count && playback->unit_count < 8; i++) {
        const struct zeta_plugin_string *unit =
            (const void *)((const char *)units->data + i * units->stride);

        (void)snprintf(playback->units[playback->unit_count++], ZETA_REPLAY_NAME_BYTES, "%.*s",
                       unit->size < ZETA_REPLAY_NAME_BYTES ? (int)unit->size
                                                           : (int)ZETA_REPLAY_NAME_BYTES - 1,
                       unit->data);
    }
    (void)pthread_mutex_lock(&replay->lock);
    is_free = !holder_locked(playback);
    if (is_free) {
        playback->is_stopped = false;
        playback->next = replay->playbacks;
        replay->playbacks = playback;
    }
    (void)pthread_mutex_unlock(&replay->lock);
    if (is_free)
        return ZETA_PLUGIN_SUCCESS;
    return zeta_host_fail(&replay->self->host, ZETA_PLUGIN_HANDLE_OBJECT_IN_USE,
                          "this process has a stream on unit %s of %s already", playback->units[0],
                          playback->device->id);
}

void zeta_replay_playback_stop(struct zeta_replay_playback *playback)
{
    struct zeta_replay *replay = playback->device->replay;

    zeta_replay_buffer_stop(&playback->buffer);
    (void)pthread_mutex_lock(&replay->lock);
    playback->is_stopped = true;
    (void)pthread_mutex_unlock(&replay->lock);
}

void zeta_replay_playback_report_problem(struct zeta_replay_playback *playback)
{
    const char *problem = zeta_replay_source_problem(playback->buffer.source);

    if (playback->is_problem_reported || problem[0] == '\0')
        return;
    playback->is_problem_reported = true;
    zeta_host_log(&playback->device->replay->self->host, ZETA_PLUGIN_LOG_WARN, "%s: %s",
                  playback->device->replay->recording->path, problem);
}

void zeta_replay_playback_close(struct zeta_replay_playback *playback)
{
    struct zeta_replay *replay = playback->device->replay;
    struct zeta_replay_playback **at = &replay->playbacks;

    (void)pthread_mutex_lock(&replay->lock);
    while (*at && *at != playback)
        at = &(*at)->next;
    if (*at)
        *at = playback->next;
    (void)pthread_mutex_unlock(&replay->lock);
    zeta_replay_buffer_finish(&playback->buffer);
    free(playback);
}
