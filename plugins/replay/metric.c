/*
 * Sets and streams of a recording.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zeta/plugin_host.h>

#include "plugins/replay/plugin.h"
#include "plugins/replay/recording/set_text.h"

/* ---- what there is ------------------------------------------------------------------------ */

static bool is_used(const struct zeta_replay_recording *recording, uint32_t set)
{
    for (uint32_t i = 0; i < recording->stream_count; i++) {
        for (uint32_t t = 0; t < recording->streams[i].tiles; t++) {
            if (recording->streams[i].sets[t] == set)
                return true;
        }
    }
    return false;
}

/* True if a set belongs to a device: something was recorded with it there, or nothing anywhere. */
static bool is_set_of(const struct zeta_replay_recording *recording, uint32_t set,
                      const struct zeta_plugin_device *device)
{
    uint32_t own, tile;

    for (uint32_t i = 0; i < recording->stream_count; i++) {
        if (zeta_replay_stream_is_of(&recording->streams[i], device, &own, &tile) && own == set)
            return true;
    }
    return !is_used(recording, set);
}

static uint32_t get_sets(struct zeta_plugin *self, struct zeta_plugin_device *device,
                         const struct zeta_plugin_text_sink *sink)
{
    const struct zeta_replay_recording *recording = self->replay->recording;
    struct zeta_replay_seen seen = {NULL, 0};
    struct zeta_replay_problem problem;

    for (uint32_t i = 0; i < recording->set_count; i++) {
        if (is_set_of(recording, i, device) &&
            !zeta_replay_set_write(&recording->sets[i], &seen, sink, &problem))
            zeta_host_log(&self->host, ZETA_PLUGIN_LOG_WARN, "%s: %s", recording->path,
                          problem.text);
    }
    zeta_replay_seen_finish(&seen);
    return ZETA_PLUGIN_SUCCESS;
}

/* Sets of containers include the numbers of their device; those of other files do not. */
static uint32_t symbols(struct zeta_plugin *self, struct zeta_plugin_device *device,
                        struct zeta_plugin_array *out_symbols)
{
    (void)self;
    out_symbols->data = device->recorded->symbols;
    out_symbols->count = device->recorded->symbol_count;
    out_symbols->stride = sizeof(struct zeta_plugin_symbol);
    return ZETA_PLUGIN_SUCCESS;
}

/* What was sampled on a device, for messages: "ComputeBasic, ThreadDispatch". */
static void list_recorded(const struct zeta_plugin_device *device, bool tracers, char *out_text,
                          size_t bytes)
{
    const struct zeta_replay_recording *recording = device->replay->recording;
    size_t used = 0;

    (void)snprintf(out_text, bytes, "none");
    for (uint32_t i = 0; i < recording->stream_count && used + 1 < bytes; i++) {
        uint32_t set, tile;
        int added;

        if (recording->streams[i].is_tracer != tracers ||
            !zeta_replay_stream_is_of(&recording->streams[i], device, &set, &tile))
            continue;
        added = snprintf(out_text + used, bytes - used, "%s%s", used > 0 ? ", " : "",
                         recording->sets[set].name);
        used += added > 0 ? (size_t)added : 0;
    }
}

static uint32_t limits(struct zeta_plugin *self, struct zeta_plugin_device *device,
                       struct zeta_plugin_string unit, struct zeta_plugin_limits *out_limits)
{
    const struct zeta_replay_recording *recording = self->replay->recording;
    bool found = false;

    for (uint32_t i = 0; i < recording->stream_count; i++) {
        const struct zeta_replay_stream *stream = &recording->streams[i];
        uint32_t set, tile;

        if (stream->is_tracer || !zeta_replay_stream_is_of(stream, device, &set, &tile) ||
            !zeta_string_is(unit, recording->sets[set].unit))
            continue;
        if (!found || stream->period_ns < out_limits->min_period_ns)
            out_limits->min_period_ns = stream->period_ns;
        if (!found || stream->period_ns > out_limits->max_period_ns)
            out_limits->max_period_ns = stream->period_ns;
        found = true;
    }
    if (found)
        return ZETA_PLUGIN_SUCCESS;
    return zeta_host_fail(&self->host, ZETA_PLUGIN_NOT_AVAILABLE,
                          "nothing was sampled with unit %.*s of %s in this recording",
                          zeta_string_shown(unit), unit.data, device->id);
}

/* ---- streams ------------------------------------------------------------------------------ */

static uint64_t distance(uint64_t a, uint64_t b)
{
    return a > b ? a - b : b - a;
}

/*
 * The streams of a set that were recorded with the period nearest to the wanted one, in the order
 * of the file. Several of them follow each other: a unit has one stream at a time.
 */
static bool find_streams(const struct zeta_plugin_device *device, struct zeta_plugin_string name,
                         uint64_t period_ns, struct zeta_replay_request *request,
                         uint64_t *out_period_ns)
{
    const struct zeta_replay_recording *recording = request->recording;

    for (uint32_t i = 0; i < recording->stream_count; i++) {
        const struct zeta_replay_stream *stream = &recording->streams[i];
        uint32_t set, tile;

        if (stream->is_tracer || !zeta_replay_stream_is_of(stream, device, &set, &tile) ||
            !zeta_string_is(name, recording->sets[set].name))
            continue;
        if (request->stream_count == 0 ||
            distance(stream->period_ns, period_ns) < distance(*out_period_ns, period_ns)) {
            *out_period_ns = stream->period_ns;
            request->stream_count = 0;
            request->set = &recording->sets[set];
        }
        if (stream->period_ns != *out_period_ns || request->stream_count >= ZETA_REPLAY_JOINED)
            continue;
        request->streams[request->stream_count].number = stream->number;
        request->streams[request->stream_count++].tile = tile;
    }
    return request->stream_count > 0;
}

static uint32_t refuse_set(const struct zeta_plugin *self, const struct zeta_plugin_device *device,
                           struct zeta_plugin_string set)
{
    char list[300];

    list_recorded(device, false, list, sizeof(list));
    return zeta_host_fail(&self->host, ZETA_PLUGIN_NOT_AVAILABLE,
                          "the recording %.200s has no data of %.*s on %s; sampled there: %s",
                          self->replay->recording->path, zeta_string_shown(set), set.data,
                          device->id, list);
}

static uint32_t stream_open(struct zeta_plugin *self, struct zeta_plugin_device *device,
                            struct zeta_plugin_stream_desc *desc,
                            struct zeta_plugin_stream **out_stream)
{
    struct zeta_replay_request request = {.recording = self->replay->recording};
    const struct zeta_plugin_array units = {&desc->unit, 1, sizeof(desc->unit)};
    struct zeta_replay_playback *playback;
    uint64_t period_ns = 0;
    uint32_t result, capacity;

    if (!find_streams(device, desc->set, desc->period_ns, &request, &period_ns))
        return refuse_set(self, device, desc->set);
    if (desc->record_bytes != request.set->record_bytes)
        return zeta_host_fail(&self->host, ZETA_PLUGIN_INVALID_ARGUMENT,
                              "the recorded reports of %s have %u bytes, the set expects %u",
                              request.set->name, request.set->record_bytes, desc->record_bytes);
    capacity = zeta_replay_capacity(desc->ring_records, desc->notify_records, desc->record_bytes);
    result = zeta_replay_playback_open(self, device, &request, capacity, &playback);
    if (result != ZETA_PLUGIN_SUCCESS)
        return result;
    result = zeta_replay_playback_take_units(playback, &units);
    if (result != ZETA_PLUGIN_SUCCESS) {
        zeta_replay_playback_close(playback);
        return result;
    }
    playback->buffer.period_ns = period_ns;
    zeta_replay_buffer_start(&playback->buffer);
    zeta_replay_playback_report_problem(playback);
    if (period_ns != 0)
        desc->period_ns = period_ns;
    desc->ring_records = capacity;
    desc->keeps = 1;
    *out_stream = (struct zeta_plugin_stream *)playback;
    return ZETA_PLUGIN_SUCCESS;
}

static uint32_t stream_read(struct zeta_plugin *self, struct zeta_plugin_stream *stream,
                            void *buffer, uint64_t capacity_bytes,
                            struct zeta_plugin_read *out_read)
{
    struct zeta_replay_playback *playback = (struct zeta_replay_playback *)stream;

    (void)self;
    zeta_replay_buffer_read(&playback->buffer, buffer, capacity_bytes, out_read);
    zeta_replay_playback_report_problem(playback);
    return ZETA_PLUGIN_SUCCESS;
}

static uint64_t stream_pending(struct zeta_plugin *self, struct zeta_plugin_stream *stream)
{
    (void)self;
    return zeta_replay_buffer_pending(&((struct zeta_replay_playback *)stream)->buffer);
}

static uint32_t stream_ended(struct zeta_plugin *self, struct zeta_plugin_stream *stream)
{
    (void)self;
    return zeta_replay_buffer_ended(&((struct zeta_replay_playback *)stream)->buffer);
}

static void stream_stop(struct zeta_plugin *self, struct zeta_plugin_stream *stream)
{
    (void)self;
    zeta_replay_playback_stop((struct zeta_replay_playback *)stream);
}

static void stream_close(struct zeta_plugin *self, struct zeta_plugin_stream *stream)
{
    (void)self;
    if (stream)
        zeta_replay_playback_close((struct zeta_replay_playback *)stream);
}

const struct zeta_plugin_metric_ops zeta_replay_metric_ops = {
    .struct_size = sizeof(struct zeta_plugin_metric_ops),
    .get_sets = get_sets,
    .symbols = symbols,
    .limits = limits,
    .stream_open = stream_open,
    .stream_read = stream_read,
    .stream_pending = stream_pending,
    .stream_stop = stream_stop,
    .stream_close = stream_close,
    .stream_ended = stream_ended,
};
