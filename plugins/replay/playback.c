/*
 * Sets, streams and tracers of a recording, and the units that they use. The rule is that of
 * hardware: a process has one stream of a unit. Other processes open the file independently.
 *
 * The records of a tracer are replayed as they are in the file, those of enabling and disabling
 * too: this file makes no records.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plugins/replay/plugin.h"
#include "plugins/replay/recording/buffer.h"

/* Records of a buffer unless more are wanted, and the most bytes that it has. */
#define RECORDS_MIN 4096u
#define BYTES_MAX (UINT64_C(32) << 20)

/* An open stream, or a tracer of several units: the host's handle of both. */
struct zeta_plugin_stream {
    struct zeta_plugin_stream *next;
    struct zeta_plugin_device *device;
    struct zeta_replay_buffer buffer;
    char units[8][ZETA_REPLAY_NAME_BYTES];
    uint32_t unit_count;
    _Atomic bool is_on;       /* of a tracer */
    bool is_stopped;          /* its units are free again; guarded by the lock */
    bool is_problem_reported; /* the problem with the file, to the log */
};

static struct zeta_plugin_stream *of_tracer(struct zeta_plugin_tracer *tracer)
{
    return (struct zeta_plugin_stream *)tracer;
}

/* True if a list of strings has that text. */
static bool has_string(const struct zeta_plugin_array *strings, const char *text)
{
    for (uint64_t i = 0; i < strings->count; i++) {
        const struct zeta_plugin_string *string =
            (const void *)((const char *)strings->data + i * strings->stride);

        if (zeta_string_is(*string, text))
            return true;
    }
    return false;
}

/*
 * True if the records of a stream belong to a device: recorded there, or on its root.
 * *out_set: index of the set; *out_tile: the tile whose records belong to it, UINT32_MAX: all.
 */
static bool is_of(const struct zeta_replay_stream *stream, const struct zeta_plugin_device *device,
                  uint32_t *out_set, uint32_t *out_tile)
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

/* ---- what there is -------------------------------------------------------------------------- */

/* True if a set belongs to a device: something was recorded with it there, or nothing anywhere. */
static bool is_set_of(const struct zeta_replay_recording *recording, uint32_t set,
                      const struct zeta_plugin_device *device)
{
    bool is_used = false;

    for (uint32_t i = 0; i < recording->stream_count; i++) {
        const struct zeta_replay_stream *stream = &recording->streams[i];
        uint32_t own, tile;

        if (is_of(stream, device, &own, &tile) && own == set)
            return true;
        for (uint32_t t = 0; t < stream->tiles; t++)
            is_used = is_used || stream->sets[t] == set;
    }
    return !is_used;
}

static uint32_t get_sets(struct zeta_plugin *self, struct zeta_plugin_device *device,
                         const struct zeta_plugin_text_sink *sink)
{
    const struct zeta_replay_recording *recording = self->replay->recording;
    struct zeta_replay_seen seen = {.names = NULL};
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

static uint32_t limits(struct zeta_plugin *self, struct zeta_plugin_device *device,
                       struct zeta_plugin_string unit, struct zeta_plugin_limits *out_limits)
{
    const struct zeta_replay_recording *recording = self->replay->recording;
    bool found = false;

    for (uint32_t i = 0; i < recording->stream_count; i++) {
        const struct zeta_replay_stream *stream = &recording->streams[i];
        uint32_t set, tile;

        if (stream->is_tracer || !is_of(stream, device, &set, &tile) ||
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

/* ---- opening and closing -------------------------------------------------------------------- */

/* The playback that uses one of the units of this one now; a device and its tiles share them. */
static const struct zeta_plugin_stream *user_locked(const struct zeta_plugin_stream *playback)
{
    const struct zeta_plugin_device *own = playback->device;
    const struct zeta_plugin_stream *other = own->replay->playbacks;

    for (; other; other = other->next) {
        if (other->is_stopped ||
            (other->device != own && other->device->recorded->parent != own->index &&
             own->recorded->parent != other->device->index))
            continue;
        for (uint32_t i = 0; i < other->unit_count; i++) {
            for (uint32_t k = 0; k < playback->unit_count; k++) {
                if (strcmp(other->units[i], playback->units[k]) == 0)
                    return other;
            }
        }
    }
    return NULL;
}

/* Closes a playback, also one that is not in the list. */
static void close_playback(struct zeta_plugin_stream *playback)
{
    struct zeta_replay *replay = playback->device->replay;
    struct zeta_plugin_stream **at = &replay->playbacks;

    (void)pthread_mutex_lock(&replay->lock);
    while (*at && *at != playback)
        at = &(*at)->next;
    if (*at)
        *at = playback->next;
    (void)pthread_mutex_unlock(&replay->lock);
    zeta_replay_buffer_finish(&playback->buffer);
    free(playback);
}

void zeta_replay_playbacks_close(struct zeta_replay *replay)
{
    while (replay->playbacks)
        close_playback(replay->playbacks);
}

/* Logs the problem with the file, if there is one, once. */
static void report_problem(struct zeta_plugin_stream *playback)
{
    const char *problem = zeta_replay_source_problem(playback->buffer.source);

    if (playback->is_problem_reported || problem[0] == '\0')
        return;
    playback->is_problem_reported = true;
    zeta_host_log(&playback->device->replay->self->host, ZETA_PLUGIN_LOG_WARN, "%s: %s",
                  playback->device->replay->recording->path, problem);
}

static uint64_t distance(uint64_t a, uint64_t b)
{
    return a > b ? a - b : b - a;
}

/* What the host wants of a buffer. */
struct capacity {
    uint64_t records; /* 0: any number */
    uint64_t notify;  /* it waits for so many records */
    uint32_t record_bytes;
};

/*
 * Opens what the request names, stopped, and takes the units. HANDLE_OBJECT_IN_USE when this
 * process uses one of them.
 */
static uint32_t open_playback(struct zeta_plugin *self, struct zeta_plugin_device *device,
                              const struct zeta_replay_request *request,
                              const struct zeta_plugin_array *units, const struct capacity *wanted,
                              struct zeta_plugin_stream **out_playback)
{
    struct zeta_replay *replay = self->replay;
    const uint64_t limit = BYTES_MAX / request->set->record_bytes;
    uint64_t records = wanted->notify < limit ? 2 * wanted->notify : limit;
    struct zeta_replay_problem problem = {""};
    struct zeta_plugin_stream *playback;
    struct zeta_replay_source *source;
    bool is_free;

    if (wanted->record_bytes != request->set->record_bytes)
        return zeta_host_fail(&self->host, ZETA_PLUGIN_INVALID_ARGUMENT,
                              "the recorded records of %s have %u bytes, the set expects %u",
                              request->set->name, request->set->record_bytes, wanted->record_bytes);
    /* The wanted number, but at least twice the level of notification. */
    if (records < RECORDS_MIN)
        records = RECORDS_MIN;
    if (wanted->records != 0 && wanted->records < records && wanted->records >= 2)
        records = wanted->records;
    if (records > limit)
        records = limit;

    playback = calloc(1, sizeof(*playback));
    if (!playback)
        return ZETA_PLUGIN_OUT_OF_HOST_MEMORY;
    source = zeta_replay_source_open(request, &problem);
    if (!source) {
        free(playback);
        return zeta_host_fail(&self->host, ZETA_PLUGIN_NOT_AVAILABLE, "%s: %.400s", device->id,
                              problem.text);
    }
    if (!zeta_replay_buffer_init(&playback->buffer, source, request->set, (uint32_t)records)) {
        free(playback);
        return ZETA_PLUGIN_OUT_OF_HOST_MEMORY;
    }
    playback->device = device;
    playback->buffer.is_paced = replay->is_paced;
    playback->buffer.hz = device->recorded->metric_hz;
    for (uint64_t i = 0; i < units->count && playback->unit_count < 8; i++) {
        const struct zeta_plugin_string *unit =
            (const void *)((const char *)units->data + i * units->stride);

        (void)snprintf(playback->units[playback->unit_count++], ZETA_REPLAY_NAME_BYTES, "%.*s",
                       unit->size < ZETA_REPLAY_NAME_BYTES ? (int)unit->size
                                                           : (int)ZETA_REPLAY_NAME_BYTES - 1,
                       unit->data);
    }
    (void)pthread_mutex_lock(&replay->lock);
    is_free = !user_locked(playback);
    if (is_free) {
        playback->next = replay->playbacks;
        replay->playbacks = playback;
    }
    (void)pthread_mutex_unlock(&replay->lock);
    if (!is_free) {
        (void)zeta_host_fail(&self->host, ZETA_PLUGIN_HANDLE_OBJECT_IN_USE,
                             "this process has a stream on unit %s of %s already",
                             playback->units[0], device->id);
        close_playback(playback);
        return ZETA_PLUGIN_HANDLE_OBJECT_IN_USE;
    }
    *out_playback = playback;
    return ZETA_PLUGIN_SUCCESS;
}

/*
 * Finds what was recorded on a device: the streams of the named set with the period nearest to the
 * wanted one, in the order of the file; or everything that was traced of the named units, because
 * several tracers may have run at the same time (request->is_mixed).
 *
 * @io_period_ns  of streams: wanted, then found
 */
static bool find_recorded(const struct zeta_plugin_device *device,
                          const struct zeta_plugin_array *names,
                          struct zeta_replay_request *request, uint64_t *io_period_ns)
{
    const struct zeta_replay_recording *recording = request->recording;
    const uint64_t wanted_ns = *io_period_ns;

    for (uint32_t i = 0; i < recording->stream_count; i++) {
        const struct zeta_replay_stream *stream = &recording->streams[i];
        uint32_t set, tile;

        if (stream->is_tracer != request->is_mixed || !is_of(stream, device, &set, &tile) ||
            !has_string(names,
                        request->is_mixed ? recording->sets[set].unit : recording->sets[set].name))
            continue;
        if (request->stream_count == 0 ||
            (!request->is_mixed &&
             distance(stream->period_ns, wanted_ns) < distance(*io_period_ns, wanted_ns))) {
            *io_period_ns = stream->period_ns;
            request->stream_count = 0;
        }
        if ((!request->is_mixed && stream->period_ns != *io_period_ns) ||
            request->stream_count >= ZETA_REPLAY_JOINED)
            continue;
        if (request->stream_count == 0 || request->is_mixed)
            request->set = &recording->sets[set];
        request->streams[request->stream_count].number = stream->number;
        request->streams[request->stream_count++].tile = tile;
    }
    return request->stream_count > 0;
}

/* ---- streams -------------------------------------------------------------------------------- */

static uint32_t stream_open(struct zeta_plugin *self, struct zeta_plugin_device *device,
                            struct zeta_plugin_stream_desc *desc,
                            struct zeta_plugin_stream **out_stream)
{
    const struct zeta_replay_recording *recording = self->replay->recording;
    struct zeta_replay_request request = {.recording = recording};
    const struct zeta_plugin_array sets = {&desc->set, 1, sizeof(desc->set)};
    const struct zeta_plugin_array units = {&desc->unit, 1, sizeof(desc->unit)};
    const struct capacity wanted = {desc->ring_records, desc->notify_records, desc->record_bytes};
    uint64_t period_ns = desc->period_ns;
    char list[300] = "none";
    size_t used = 0;
    uint32_t result;

    if (!find_recorded(device, &sets, &request, &period_ns)) {
        for (uint32_t i = 0; i < recording->stream_count && used + 1 < sizeof(list); i++) {
            uint32_t set, tile;

            if (!recording->streams[i].is_tracer &&
                is_of(&recording->streams[i], device, &set, &tile))
                used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s",
                                         used > 0 ? ", " : "", recording->sets[set].name);
        }
        return zeta_host_fail(&self->host, ZETA_PLUGIN_NOT_AVAILABLE,
                              "the recording %.200s has no data of %.*s on %s; sampled there: %s",
                              recording->path, zeta_string_shown(desc->set), desc->set.data,
                              device->id, list);
    }
    result = open_playback(self, device, &request, &units, &wanted, out_stream);
    if (result != ZETA_PLUGIN_SUCCESS)
        return result;
    (*out_stream)->buffer.period_ns = period_ns;
    zeta_replay_buffer_start(&(*out_stream)->buffer);
    report_problem(*out_stream);
    if (period_ns != 0)
        desc->period_ns = period_ns;
    desc->ring_records = (*out_stream)->buffer.capacity;
    desc->keeps = 1;
    return ZETA_PLUGIN_SUCCESS;
}

static uint32_t stream_read(struct zeta_plugin *self, struct zeta_plugin_stream *stream,
                            void *buffer, uint64_t capacity_bytes,
                            struct zeta_plugin_read *out_read)
{
    (void)self;
    zeta_replay_buffer_read(&stream->buffer, buffer, capacity_bytes, out_read);
    report_problem(stream);
    return ZETA_PLUGIN_SUCCESS;
}

static uint64_t stream_pending(struct zeta_plugin *self, struct zeta_plugin_stream *stream)
{
    (void)self;
    return zeta_replay_buffer_pending(&stream->buffer);
}

static uint32_t stream_ended(struct zeta_plugin *self, struct zeta_plugin_stream *stream)
{
    (void)self;
    return zeta_replay_buffer_ended(&stream->buffer);
}

/* Releases the unit; records that are due can still be read. */
static void stream_stop(struct zeta_plugin *self, struct zeta_plugin_stream *stream)
{
    zeta_replay_buffer_stop(&stream->buffer);
    (void)pthread_mutex_lock(&self->replay->lock);
    stream->is_stopped = true;
    (void)pthread_mutex_unlock(&self->replay->lock);
}

static void stream_close(struct zeta_plugin *self, struct zeta_plugin_stream *stream)
{
    (void)self;
    if (stream)
        close_playback(stream);
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

/* ---- tracers -------------------------------------------------------------------------------- */

static uint32_t tracer_open(struct zeta_plugin *self, struct zeta_plugin_device *device,
                            struct zeta_plugin_tracer_desc *desc,
                            struct zeta_plugin_tracer **out_tracer)
{
    struct zeta_replay_request request = {.recording = self->replay->recording, .is_mixed = true};
    const struct capacity wanted = {desc->ring_bytes / desc->record_bytes,
                                    desc->notify_bytes / desc->record_bytes, desc->record_bytes};
    struct zeta_plugin_stream *playback;
    uint64_t unused = 0;
    uint32_t result;

    if (!find_recorded(device, &desc->units, &request, &unused))
        return zeta_host_fail(&self->host, ZETA_PLUGIN_NOT_AVAILABLE,
                              "the recording %.200s has no events of these groups on %s",
                              request.recording->path, device->id);
    result = open_playback(self, device, &request, &desc->units, &wanted, &playback);
    if (result != ZETA_PLUGIN_SUCCESS)
        return result;
    desc->ring_bytes = (uint64_t)playback->buffer.capacity * desc->record_bytes;
    desc->keeps = 1;
    *out_tracer = (struct zeta_plugin_tracer *)playback;
    return ZETA_PLUGIN_SUCCESS;
}

/* There is no hardware to wait for: synchronous or not, it takes effect at once. */
static uint32_t tracer_enable(struct zeta_plugin *self, struct zeta_plugin_tracer *tracer,
                              uint32_t synchronous)
{
    (void)self;
    (void)synchronous;
    if (!atomic_exchange(&of_tracer(tracer)->is_on, true))
        zeta_replay_buffer_start(&of_tracer(tracer)->buffer);
    report_problem(of_tracer(tracer));
    return ZETA_PLUGIN_SUCCESS;
}

static uint32_t tracer_disable(struct zeta_plugin *self, struct zeta_plugin_tracer *tracer,
                               uint32_t synchronous)
{
    (void)self;
    (void)synchronous;
    if (atomic_exchange(&of_tracer(tracer)->is_on, false))
        zeta_replay_buffer_stop(&of_tracer(tracer)->buffer);
    return ZETA_PLUGIN_SUCCESS;
}

static uint32_t tracer_state(struct zeta_plugin *self, struct zeta_plugin_tracer *tracer)
{
    (void)self;
    return atomic_load(&of_tracer(tracer)->is_on) ? ZETA_PLUGIN_TRACER_ON : ZETA_PLUGIN_TRACER_OFF;
}

static uint32_t tracer_read(struct zeta_plugin *self, struct zeta_plugin_tracer *tracer,
                            void *buffer, uint64_t capacity_bytes,
                            struct zeta_plugin_read *out_read)
{
    return stream_read(self, of_tracer(tracer), buffer, capacity_bytes, out_read);
}

static uint64_t tracer_pending(struct zeta_plugin *self, struct zeta_plugin_tracer *tracer)
{
    return stream_pending(self, of_tracer(tracer)) * of_tracer(tracer)->buffer.record_bytes;
}

static uint32_t tracer_ended(struct zeta_plugin *self, struct zeta_plugin_tracer *tracer)
{
    return stream_ended(self, of_tracer(tracer));
}

static uint32_t tracer_name(struct zeta_plugin *self, struct zeta_plugin_tracer *tracer,
                            uint64_t id, const struct zeta_plugin_text_sink *sink)
{
    struct zeta_plugin_string name;

    (void)self;
    if (!zeta_replay_source_name(of_tracer(tracer)->buffer.source, id, &name))
        return ZETA_PLUGIN_NOT_AVAILABLE;
    sink->write(sink->context, zeta_string(""), name);
    return ZETA_PLUGIN_SUCCESS;
}

static void tracer_close(struct zeta_plugin *self, struct zeta_plugin_tracer *tracer)
{
    stream_close(self, of_tracer(tracer));
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
    .name = tracer_name,
};
