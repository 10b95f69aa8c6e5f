/*
 * Tracers of a recording. The records of a tracer are replayed as they are in the file, those of
 * enabling and disabling too: this file makes no records.
 */
#include <stdlib.h>
#include <string.h>

#include "plugins/replay/plugin.h"

struct zeta_plugin_tracer {
    struct zeta_replay_playback *playback;
    _Atomic bool is_on;
};

static bool wants_unit(const struct zeta_plugin_tracer_desc *desc, const char *unit)
{
    for (uint64_t i = 0; i < desc->units.count; i++) {
        const struct zeta_plugin_string *wanted =
            (const void *)((const char *)desc->units.data + i * desc->units.stride);

        if (wanted->size == strlen(unit) && memcmp(wanted->data, unit, (size_t)wanted->size) == 0)
            return true;
    }
    return false;
}

/* Everything that was traced of the wanted units. Several tracers may have run at the same time. */
static bool find_tracers(const struct zeta_plugin_device *device,
                         const struct zeta_plugin_tracer_desc *desc,
                         struct zeta_replay_request *request)
{
    const struct zeta_replay_recording *recording = request->recording;

    request->is_mixed = true;
    for (uint32_t i = 0; i < recording->stream_count; i++) {
        const struct zeta_replay_stream *stream = &recording->streams[i];
        uint32_t set, tile;

        if (!stream->is_tracer || !zeta_replay_stream_is_of(stream, device, &set, &tile) ||
            !wants_unit(desc, recording->sets[set].unit) ||
            request->stream_count >= ZETA_REPLAY_JOINED)
            continue;
        request->set = &recording->sets[set];
        request->streams[request->stream_count].number = stream->number;
        request->streams[request->stream_count++].tile = tile;
    }
    return request->stream_count > 0;
}

static uint32_t tracer_open(struct zeta_plugin *self, struct zeta_plugin_device *device,
                            struct zeta_plugin_tracer_desc *desc,
                            struct zeta_plugin_tracer **out_tracer)
{
    struct zeta_replay_request request = {.recording = self->replay->recording};
    struct zeta_plugin_tracer *tracer;
    uint32_t result, capacity;

    if (!find_tracers(device, desc, &request))
        return zeta_host_fail(&self->host, ZETA_PLUGIN_NOT_AVAILABLE,
                              "the recording %.200s has no events of these groups on %s",
                              request.recording->path, device->id);
    if (desc->record_bytes != request.set->record_bytes)
        return zeta_host_fail(&self->host, ZETA_PLUGIN_INVALID_ARGUMENT,
                              "the recorded events of %s have %u bytes, the group expects %u",
                              request.set->name, request.set->record_bytes, desc->record_bytes);
    tracer = calloc(1, sizeof(*tracer));
    if (!tracer)
        return ZETA_PLUGIN_OUT_OF_HOST_MEMORY;
    capacity = zeta_replay_capacity(desc->ring_bytes / desc->record_bytes,
                                    desc->notify_bytes / desc->record_bytes, desc->record_bytes);
    result = zeta_replay_playback_open(self, device, &request, capacity, &tracer->playback);
    if (result == ZETA_PLUGIN_SUCCESS) {
        result = zeta_replay_playback_take_units(tracer->playback, &desc->units);
        if (result != ZETA_PLUGIN_SUCCESS)
            zeta_replay_playback_close(tracer->playback);
    }
    if (result != ZETA_PLUGIN_SUCCESS) {
        free(tracer);
        return result;
    }
    desc->ring_bytes = (uint64_t)capacity * desc->record_bytes;
    desc->keeps = 1;
    *out_tracer = tracer;
    return ZETA_PLUGIN_SUCCESS;
}

/* There is no hardware to wait for: synchronous or not, it takes effect at once. */
static uint32_t tracer_enable(struct zeta_plugin *self, struct zeta_plugin_tracer *tracer,
                              uint32_t synchronous)
{
    (void)self;
    (void)synchronous;
    if (!atomic_exchange(&tracer->is_on, true))
        zeta_replay_buffer_start(&tracer->playback->buffer);
    zeta_replay_playback_report_problem(tracer->playback);
    return ZETA_PLUGIN_SUCCESS;
}

static uint32_t tracer_disable(struct zeta_plugin *self, struct zeta_plugin_tracer *tracer,
                               uint32_t synchronous)
{
    (void)self;
    (void)synchronous;
    if (atomic_exchange(&tracer->is_on, false))
        zeta_replay_buffer_stop(&tracer->playback->buffer);
    return ZETA_PLUGIN_SUCCESS;
}

static uint32_t tracer_state(struct zeta_plugin *self, struct zeta_plugin_tracer *tracer)
{
    (void)self;
    return atomic_load(&tracer->is_on) ? ZETA_PLUGIN_TRACER_ON : ZETA_PLUGIN_TRACER_OFF;
}

static uint32_t tracer_read(struct zeta_plugin *self, struct zeta_plugin_tracer *tracer,
                            void *buffer, uint64_t capacity_bytes,
                            struct zeta_plugin_read *out_read)
{
    (void)self;
    zeta_replay_buffer_read(&tracer->playback->buffer, buffer, capacity_bytes, out_read);
    zeta_replay_playback_report_problem(tracer->playback);
    return ZETA_PLUGIN_SUCCESS;
}

static uint64_t tracer_pending(struct zeta_plugin *self, struct zeta_plugin_tracer *tracer)
{
    const struct zeta_replay_buffer *buffer = &tracer->playback->buffer;

    (void)self;
    return zeta_replay_buffer_pending(buffer) * buffer->record_bytes;
}

static uint32_t tracer_ended(struct zeta_plugin *self, struct zeta_plugin_tracer *tracer)
{
    (void)self;
    return zeta_replay_buffer_ended(&tracer->playback->buffer);
}

static void tracer_close(struct zeta_plugin *self, struct zeta_plugin_tracer *tracer)
{
    (void)self;
    if (!tracer)
        return;
    zeta_replay_playback_close(tracer->playback);
    free(tracer);
}

const struct zeta_plugin_tracer_ops zeta_replay_tracer_ops = {
    .struct_size = sizeof(struct zeta_plugin_tracer_ops),
    .open = tracer_open,
    .enable = tracer_enable,
    .disable = tracer_disable,
    .state = tracer_state,
    .read = tracer_read,
    .pending = tracer_pending,
    .close = tracer_close,
    .ended = tracer_ended,
};
