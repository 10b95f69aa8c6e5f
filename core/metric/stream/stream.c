#include "core/metric/stream/stream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/capture/reactor.h"
#include "core/device/device.h"
#include "core/event/event.h"
#include "core/formula/compile/compile.h"
#include "core/formula/sets/set.h"
#include "core/metric/group/group.h"
#include "core/metric/stream/stream_priv.h"
#include "core/plugin/host.h"
#include "core/util/error.h"

/* Notification ----------------------------------------------------------------------------------
 */

/** True when no tile will ever have a new record: what is recorded has an end. */
static bool has_ended(const struct zeta_stream *stream)
{
    for (uint32_t i = 0; i < stream->source_count; i++) {
        if (!zeta_source_ended(&stream->sources[i]))
            return false;
    }
    return true;
}

/** True when a source will not be read again; the descriptor of a lost device is always ready. */
static bool has_failed(const struct zeta_stream *stream)
{
    for (uint32_t i = 0; i < stream->source_count; i++) {
        if (atomic_load_explicit(&stream->sources[i].error, memory_order_relaxed) != 0)
            return true;
    }
    return false;
}

/**
 * The level that the event shows. An error counts as reached, so that a program that waits for
 * reports of a lost device gets to the read that tells it; and so does the end of what is recorded,
 * where fewer reports than were asked for, or none, are left.
 */
static bool level_reached(void *context)
{
    const struct zeta_stream *stream = context;
    uint64_t unread = 0;

    for (uint32_t i = 0; i < stream->source_count; i++)
        unread += zeta_source_unread(&stream->sources[i]);
    return unread >= stream->notify_count || has_failed(stream) || has_ended(stream);
}

/** Watches the descriptor again if it fired; one of several callers does it. */
static void rearm(struct zeta_stream *stream)
{
    if (stream->watch && atomic_exchange(&stream->disarmed, false))
        zeta_reactor_rearm(stream->watch);
}

/**
 * The reactor says that something may have come. It never waits for a reader: one that is busy
 * empties the backend itself, and the interval brings us back.
 */
static void watch_ready(void *context, bool readable)
{
    struct zeta_stream *stream = context;

    if (readable)
        atomic_store(&stream->disarmed, true);
    if (zeta_turn_take(&stream->turn, false)) {
        for (uint32_t i = 0; i < stream->source_count; i++)
            (void)zeta_source_fill(&stream->sources[i]);
        if (stream->sources[0].ring && !has_failed(stream))
            rearm(stream);
        zeta_turn_give(&stream->turn);
    }
    if (level_reached(stream))
        zeta_event_notify(stream->event);
    else if (!readable)
        rearm(stream); /* it fired while a read took the records away, or too early */
}

/**
 * How often to look. With a descriptor of a backend whose ring is large enough that is only a
 * second chance; else a quarter of the time that it takes to reach N or to fill the backend's ring.
 */
static uint64_t watch_interval_ns(const struct zeta_stream *stream, int fd)
{
    const struct zeta_source *source = &stream->sources[0];
    const uint64_t min_ns = 100000;
    const uint64_t max_ns = 10000000;
    uint64_t records = stream->notify_count;
    uint64_t quarter_ns;

    if (!source->ring && fd >= 0)
        return max_ns;
    if (source->ring && source->backend_ring < records)
        records = source->backend_ring;
    quarter_ns = stream->period_ns * records / 4;
    return quarter_ns < min_ns ? min_ns : quarter_ns > max_ns ? max_ns : quarter_ns;
}

static ze_result_t start_notification(struct zeta_stream *stream, struct zeta_event *event)
{
    const struct zeta_source *source = &stream->sources[0];
    ze_result_t result;
    int fd = -1;

    stream->event = event;
    if (!zeta_event_bind(event, level_reached, stream)) {
        stream->event = NULL;
        return ZE_RESULT_SUCCESS; /* destroyed meanwhile: goes on without notification */
    }
    if (stream->source_count == 1)
        fd = source->backend->metric.stream_descriptor(source->backend->self, source->stream);
    result = zeta_reactor_add(fd < 0 ? -1 : fd, watch_interval_ns(stream, fd), watch_ready, stream,
                              &stream->watch);
    if (result != ZE_RESULT_SUCCESS) {
        stream->watch = NULL;
        zeta_event_unbind(event, stream);
        stream->event = NULL;
    }
    return result;
}

static void end_notification(struct zeta_stream *stream)
{
    zeta_reactor_remove(stream->watch);
    stream->watch = NULL;
    if (stream->event)
        zeta_event_unbind(stream->event, stream);
    stream->event = NULL;
}

/* Opening ---------------------------------------------------------------------------------------
 */

ze_result_t zeta_stream_create(const struct zeta_stream_request *request,
                               struct zeta_stream **out_stream)
{
    struct zeta_stream *stream = calloc(1, sizeof(*stream));
    struct zeta_metric_group *group = request->group;
    uint32_t tiles = request->device->tile_count;

    if (!stream)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    stream->source_count = tiles > 0 ? tiles : 1;
    stream->sources = calloc(stream->source_count, sizeof(*stream->sources));
    if (!stream->sources) {
        free(stream);
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    stream->device = request->device;
    stream->group = group;
    stream->record_bytes = zeta_compiled_record_bytes(group->compiled[0]);
    stream->clock = zeta_stream_clock(group->set->layout);
    (void)snprintf(stream->label, sizeof(stream->label), "%.90s on %.90s",
                   zeta_metric_group_name(group), request->device->backend->id);
    zeta_turn_init(&stream->turn);
    zeta_object_pin_more(group); /* an application's group can be destroyed */
    *out_stream = stream;
    return ZE_RESULT_SUCCESS;
}

/** The nearest period that every tile's unit supports, as far as the backends say. */
static uint64_t nearest_period(const struct zeta_stream *stream, uint64_t period_ns)
{
    uint64_t min_ns, max_ns;

    zeta_stream_periods(stream->device, stream->group, &min_ns, &max_ns);
    if (max_ns != 0 && period_ns > max_ns)
        period_ns = max_ns;
    return period_ns < min_ns ? min_ns : period_ns;
}

/** Opens the stream of one tile; period in and out. */
static ze_result_t open_source(struct zeta_stream *stream, uint32_t index, uint64_t ring_records)
{
    const struct zeta_provider *provider = zeta_stream_provider(stream->device, index);
    const struct zeta_set *set = stream->group->set;
    struct zeta_source *source = &stream->sources[index];
    struct zeta_stream_program program;
    struct zeta_plugin_stream_desc desc = {
        .struct_size = sizeof(desc),
        .unit = {.data = set->unit->name, .size = strlen(set->unit->name)},
        .set = {.data = set->name, .size = strlen(set->name)},
        .period_ns = stream->period_ns,
        .max_period_ns = zeta_stream_longest_ns(stream->group, index),
        .notify_records = stream->notify_count,
        .ring_records = ring_records,
        .record_bytes = stream->record_bytes,
    };
    ze_result_t result = zeta_stream_program_make(stream->group->compiled[index], &program);

    if (result != ZE_RESULT_SUCCESS)
        return result;
    desc.program = program.array;
    desc.digest = program.digest;
    desc.uuid = program.uuid;
    source->backend = provider->backend;
    source->label = stream->label;
    source->tile = index;
    source->delta = set->layout->kind == ZETA_LAYOUT_DELTA;
    result = zeta_source_open(source, provider->device, &desc);
    zeta_stream_program_free(&program);
    source->token = desc.token;
    if (result == ZE_RESULT_SUCCESS && desc.period_ns != 0)
        stream->period_ns = desc.period_ns;
    return result;
}

/**
 * Chooses where records wait. Tiles always wait here, because they are read up to one instant;
 * with an event the backend's ring serves if its level is known and it is large enough.
 */
static ze_result_t choose_rings(struct zeta_stream *stream, bool notify, uint64_t ring_records)
{
    const struct zeta_source *only = &stream->sources[0];
    bool enough = only->watches_pending && only->backend_ring >= ring_records;

    if (stream->source_count == 1 && (!notify || enough)) {
        stream->ring_records = only->backend_ring;
        return ZE_RESULT_SUCCESS;
    }
    stream->ring_records = ring_records;
    for (uint32_t i = 0; i < stream->source_count; i++) {
        ze_result_t result = zeta_source_add_ring(&stream->sources[i], (uint32_t)ring_records);

        if (result != ZE_RESULT_SUCCESS)
            return result;
    }
    return ZE_RESULT_SUCCESS;
}

static void close_sources(struct zeta_stream *stream)
{
    for (uint32_t i = 0; i < stream->source_count; i++)
        zeta_source_close(&stream->sources[i]);
}

static ze_result_t open_all(struct zeta_stream *stream, struct zeta_event *event)
{
    uint64_t limit = ZETA_STREAM_MAX_BYTES / stream->record_bytes;
    uint64_t ring_records = 2 * (uint64_t)stream->notify_count;
    ze_result_t result;

    if (ring_records < ZETA_STREAM_MIN_RECORDS)
        ring_records = ZETA_STREAM_MIN_RECORDS;
    if (ring_records > limit)
        ring_records = limit;
    uint64_t backend_records =
        ring_records > ZETA_STREAM_BACKEND_RECORDS ? ring_records : ZETA_STREAM_BACKEND_RECORDS;
    if (backend_records > limit)
        backend_records = limit;
    for (uint32_t i = 0; i < stream->source_count; i++) {
        result = open_source(stream, i, backend_records);
        if (result != ZE_RESULT_SUCCESS)
            return result;
    }
    result = choose_rings(stream, event != NULL, ring_records);
    if (result != ZE_RESULT_SUCCESS || !event)
        return result;
    return start_notification(stream, event);
}

ze_result_t zeta_stream_open(struct zeta_stream *stream, struct zeta_stream_request *request)
{
    uint64_t limit = ZETA_STREAM_MAX_BYTES / stream->record_bytes;
    ze_result_t result;

    stream->notify_count = request->notify_count < limit ? request->notify_count : (uint32_t)limit;
    stream->period_ns = nearest_period(stream, request->period_ns);
    result = open_all(stream, stream->notify_count > 0 ? request->event : NULL);
    if (result != ZE_RESULT_SUCCESS) {
        end_notification(stream);
        close_sources(stream);
        return result;
    }
    request->period_ns = stream->period_ns;
    request->notify_count = stream->notify_count;
    return ZE_RESULT_SUCCESS;
}

/* Reading ---------------------------------------------------------------------------------------
 */

size_t zeta_stream_read_bytes(const struct zeta_stream *stream, uint32_t max_records)
{
    uint64_t limit = ZETA_STREAM_MAX_BYTES / stream->record_bytes;
    uint64_t records = stream->ring_records;

    if (records > max_records)
        records = max_records;
    if (records > limit)
        records = limit;
    if (records == 0)
        records = 1;
    return (size_t)(records * stream->record_bytes);
}

static ze_result_t first_error(const struct zeta_stream *stream)
{
    char what[256];

    for (uint32_t i = 0; i < stream->source_count; i++) {
        const struct zeta_source *source = &stream->sources[i];
        uint32_t error = atomic_load(&source->error);

        if (error == 0)
            continue;
        (void)snprintf(what, sizeof(what), "reading the stream of %s", stream->label);
        return zeta_backend_result(source->backend, error, what);
    }
    return ZE_RESULT_SUCCESS;
}

/** Turns what a read found into its result and the statistics. */
static ze_result_t finish_read(struct zeta_stream *stream, const struct zeta_cursor *cursor,
                               const uint8_t *data, size_t *size_bytes)
{
    size_t bytes = (size_t)(cursor->at - data);
    ze_result_t result;

    if (cursor->new_records == 0 && cursor->needed_slots > 0) {
        size_t needed = (size_t)cursor->needed_slots * stream->record_bytes;
        size_t given = *size_bytes;

        *size_bytes = needed;
        return zeta_error(ZE_RESULT_ERROR_INVALID_SIZE,
                          "the next report of %s needs %zu bytes with what has to stand before it, "
                          "and the buffer has %zu",
                          stream->label, needed, given);
    }
    if (cursor->new_records == 0) {
        result = first_error(stream);
        if (result == ZE_RESULT_SUCCESS)
            *size_bytes = 0;
        return result;
    }
    stream->records += cursor->new_records;
    stream->lost_records += cursor->lost_records;
    stream->breaks += cursor->breaks;
    stream->bytes += bytes;
    *size_bytes = bytes;
    return cursor->breaks > 0 ? ZE_RESULT_WARNING_DROPPED_DATA : ZE_RESULT_SUCCESS;
}

static ze_result_t closed_error(const struct zeta_stream *stream)
{
    return zeta_error(ZE_RESULT_ERROR_INVALID_NULL_HANDLE,
                      "the stream of %s was closed by another thread", stream->label);
}

ze_result_t zeta_stream_read(struct zeta_stream *stream, uint32_t max_records, size_t *size_bytes,
                             uint8_t *data)
{
    struct zeta_cursor cursor = {.at = data,
                                 .record_bytes = stream->record_bytes,
                                 .slots_left = *size_bytes / stream->record_bytes,
                                 .new_left = max_records == UINT32_MAX ? UINT64_MAX : max_records};
    ze_result_t result;

    if (cursor.slots_left == 0) {
        size_t given = *size_bytes;

        *size_bytes = stream->record_bytes;
        return zeta_error(ZE_RESULT_ERROR_INVALID_SIZE,
                          "a report of %s has %u bytes and the buffer %zu", stream->label,
                          stream->record_bytes, given);
    }
    if (!zeta_turn_take(&stream->turn, true))
        return closed_error(stream);
    for (uint32_t i = 0; i < stream->source_count; i++)
        (void)zeta_source_fill(&stream->sources[i]);
    if (stream->source_count == 1)
        zeta_source_read(&stream->sources[0], &cursor, false);
    else
        zeta_stream_read_tiles(stream, &cursor);
    result = finish_read(stream, &cursor, data, size_bytes);
    rearm(stream);
    zeta_turn_give(&stream->turn);
    return result;
}

/* Ending ----------------------------------------------------------------------------------------
 */

void zeta_stream_stop(struct zeta_stream *stream)
{
    struct zeta_event *event;
    bool closes = false;

    if (!zeta_turn_take(&stream->turn, true))
        return;
    for (uint32_t i = 0; i < stream->source_count; i++)
        closes |= zeta_source_stop_closes(&stream->sources[i]);
    event = stream->event;
    if (closes) {
        /* Neither the reactor nor a query of the event may meet a closed backend stream. */
        end_notification(stream);
    }
    for (uint32_t i = 0; i < stream->source_count; i++) {
        struct zeta_source *source = &stream->sources[i];

        if (zeta_source_stop(source) != ZE_RESULT_SUCCESS)
            atomic_store(&source->error, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY);
    }
    atomic_store(&stream->stopped, true);
    if (closes && event && zeta_event_bind(event, level_reached, stream))
        stream->event = event;
    if (stream->event)
        zeta_event_notify(stream->event);
    zeta_turn_give(&stream->turn);
}

void zeta_stream_close(struct zeta_stream *stream)
{
    zeta_turn_close(&stream->turn);
    end_notification(stream);
    close_sources(stream);
}

void zeta_stream_destroy(struct zeta_stream *stream)
{
    if (!stream)
        return;
    zeta_turn_finish(&stream->turn);
    zeta_object_unpin(stream->group);
    free(stream->sources);
    free(stream);
}

bool zeta_stream_totals(struct zeta_stream *stream, struct zeta_stream_totals *out_totals)
{
    if (!zeta_turn_take(&stream->turn, true))
        return false;
    *out_totals = (struct zeta_stream_totals){.records = stream->records,
                                              .lost_records = stream->lost_records,
                                              .breaks = stream->breaks,
                                              .bytes = stream->bytes,
                                              .ended = has_ended(stream)};
    zeta_turn_give(&stream->turn);
    return true;
}
