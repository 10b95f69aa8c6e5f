#include "core/capture/capture.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/capture/reactor.h"
#include "core/plugin/host.h"
#include "core/util/error.h"

/** How often to poll where a descriptor reports the level: only a second chance. */
#define SECOND_CHANCE_NS UINT64_C(10000000)

static const char *noun(const struct zeta_capture *capture)
{
    return capture->is_tracer ? "tracer" : "stream";
}

ze_result_t zeta_capture_create(bool is_tracer, uint32_t source_count,
                                struct zeta_capture **out_capture)
{
    struct zeta_capture *capture =
        calloc(1, sizeof(*capture) + source_count * sizeof(*capture->sources));

    if (!capture)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    capture->is_tracer = is_tracer;
    capture->source_count = source_count;
    for (uint32_t i = 0; i < source_count; i++) {
        capture->sources[i].tile = i;
        capture->sources[i].is_tracer = is_tracer;
    }
    (void)pthread_mutex_init(&capture->lock, NULL);
    *out_capture = capture;
    return ZE_RESULT_SUCCESS;
}

/** Takes the lock; false if the capture was closed meanwhile. */
static bool lock(struct zeta_capture *capture)
{
    (void)pthread_mutex_lock(&capture->lock);
    if (!capture->closed)
        return true;
    (void)pthread_mutex_unlock(&capture->lock);
    return false;
}

static void unlock(struct zeta_capture *capture)
{
    (void)pthread_mutex_unlock(&capture->lock);
}

static ze_result_t closed_error(const struct zeta_capture *capture)
{
    return zeta_error(ZE_RESULT_ERROR_INVALID_NULL_HANDLE, "another thread closed the %s of %s",
                      noun(capture), capture->label);
}

/* Notification --------------------------------------------------------------------------------- */

/** True when no tile will ever have a new record: what is recorded has an end. */
static bool has_ended(const struct zeta_capture *capture)
{
    for (uint32_t i = 0; i < capture->source_count; i++) {
        if (!zeta_source_ended(&capture->sources[i]))
            return false;
    }
    return true;
}

/** A source that will not be read again; the descriptor of a lost device is always ready. */
static const struct zeta_source *find_failed(const struct zeta_capture *capture)
{
    for (uint32_t i = 0; i < capture->source_count; i++) {
        if (atomic_load_explicit(&capture->sources[i].error, memory_order_relaxed) != 0)
            return &capture->sources[i];
    }
    return NULL;
}

/**
 * The level that the event shows. An error counts as reached, so that a program that waits for
 * reports of a lost device gets to the read that reports it; and so does the end of what is
 * recorded, where fewer reports than were asked for, or none, are left.
 */
static bool level_reached(void *context)
{
    const struct zeta_capture *capture = context;
    uint64_t unread = 0;

    for (uint32_t i = 0; i < capture->source_count; i++)
        unread += zeta_source_unread(&capture->sources[i]);
    return unread >= capture->notify_records || find_failed(capture) || has_ended(capture);
}

/** Watches the descriptor again if it fired; one of several callers does it. */
static void rearm(struct zeta_capture *capture)
{
    if (capture->watch && atomic_exchange(&capture->disarmed, false))
        zeta_reactor_rearm(capture->watch);
}

static void fill(struct zeta_capture *capture)
{
    for (uint32_t i = 0; i < capture->source_count; i++)
        zeta_source_fill(&capture->sources[i]);
}

/**
 * The reactor reports that something may have come. It never waits for a reader: one that is busy
 * empties the backend itself, and the interval brings us back.
 */
static void watch_ready(void *context, bool readable)
{
    struct zeta_capture *capture = context;

    if (readable)
        atomic_store(&capture->disarmed, true);
    if (pthread_mutex_trylock(&capture->lock) == 0) {
        fill(capture);
        if (capture->sources[0].ring && !find_failed(capture))
            rearm(capture);
        unlock(capture);
    }
    if (level_reached(capture))
        capture->bound.notify(capture->bound.event);
    else if (!readable)
        rearm(capture); /* it fired while a read took the records away, or too early */
}

static bool bind(struct zeta_capture *capture, const struct zeta_capture_event *event)
{
    capture->bound = *event;
    if (event->event && event->bind(event->event, level_reached, capture))
        return true;
    capture->bound.event = NULL; /* the application destroyed it meanwhile */
    return false;
}

static void end_notification(struct zeta_capture *capture)
{
    zeta_reactor_remove(capture->watch);
    capture->watch = NULL;
    if (capture->bound.event)
        capture->bound.unbind(capture->bound.event, capture);
    capture->bound.event = NULL;
}

ze_result_t zeta_capture_watch(struct zeta_capture *capture, const struct zeta_capture_event *event)
{
    const struct zeta_source *only = &capture->sources[0];
    struct zeta_backend *backend = only->provider->backend;
    int fd = -1;

    if (!bind(capture, event))
        return ZE_RESULT_SUCCESS;
    if (capture->source_count == 1)
        fd = only->is_tracer ? backend->tracer.descriptor(backend->self, only->handle)
                             : backend->metric.stream_descriptor(backend->self, only->handle);
    return zeta_reactor_add(fd < 0 ? -1 : fd,
                            fd >= 0 && !only->ring ? SECOND_CHANCE_NS : capture->poll_ns,
                            watch_ready, capture, &capture->watch);
}

/* Enabling and disabling tracers --------------------------------------------------------------- */

/**
 * Switches the first count sources of a tracer. Off: all of them, also after one that fails, whose
 * result it gives.
 */
static ze_result_t switch_sources(struct zeta_capture *capture, uint32_t count, bool on,
                                  bool synchronous, uint32_t *out_done)
{
    ze_result_t result = ZE_RESULT_SUCCESS;

    *out_done = 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct zeta_source *source = &capture->sources[i];
        struct zeta_backend *backend = source->provider->backend;
        uint32_t code;
        char what[256];

        if (!source->handle || !source->is_tracer)
            continue;
        code = (on ? backend->tracer.enable
                   : backend->tracer.disable)(backend->self, source->handle, synchronous ? 1 : 0);
        if (code == ZETA_PLUGIN_SUCCESS) {
            *out_done = i + 1;
            continue;
        }
        (void)snprintf(what, sizeof(what), "%s the tracer of %s", on ? "enabling" : "disabling",
                       capture->label);
        if (result == ZE_RESULT_SUCCESS)
            result = zeta_backend_result(backend, code, what);
        if (on)
            return result;
    }
    return result;
}

ze_result_t zeta_capture_enable(struct zeta_capture *capture, bool on, bool synchronous)
{
    ze_result_t result;
    uint32_t done;

    if (!lock(capture))
        return closed_error(capture);
    if (on && atomic_load(&capture->stopped)) {
        result = zeta_error(ZE_RESULT_NOT_READY,
                            "a group of the tracer of %s was deactivated, which ended the tracer; "
                            "activate the groups and create another one",
                            capture->label);
    } else {
        result = switch_sources(capture, capture->source_count, on, synchronous, &done);
        if (result == ZE_RESULT_SUCCESS)
            capture->enabled = on;
        else if (on && !capture->enabled)
            (void)switch_sources(capture, done, false, false, &done);
    }
    unlock(capture);
    return result;
}

/** What all sources together do: on as soon as all are, off as soon as all are. */
static uint32_t current_state(const struct zeta_capture *capture)
{
    uint32_t state = ZETA_PLUGIN_TRACER_OFF;

    if (!capture->is_tracer)
        return ZETA_PLUGIN_TRACER_ON;
    for (uint32_t i = 0; i < capture->source_count; i++) {
        const struct zeta_source *source = &capture->sources[i];
        struct zeta_backend *backend = source->provider->backend;
        uint32_t one;

        if (!source->handle)
            continue;
        one = backend->tracer.state(backend->self, source->handle);
        if (one == ZETA_PLUGIN_TRACER_STARTING)
            return one;
        if (one != ZETA_PLUGIN_TRACER_OFF)
            state = one;
    }
    return state;
}

/* Reading -------------------------------------------------------------------------------------- */

static ze_result_t too_small(const struct zeta_capture *capture, uint64_t slots, size_t *size_bytes)
{
    size_t given = *size_bytes;

    *size_bytes = (size_t)slots * capture->record_bytes;
    return zeta_error(ZE_RESULT_ERROR_INVALID_SIZE,
                      "the next record of %s needs %zu bytes with the control slots before it, and "
                      "the buffer has %zu",
                      capture->label, *size_bytes, given);
}

/** Turns what a read found into its result and the totals. */
static ze_result_t finish_read(struct zeta_capture *capture, const struct zeta_cursor *cursor,
                               const uint8_t *data, bool may_have_more, size_t *size_bytes)
{
    const struct zeta_source *failed = find_failed(capture);
    char what[256];

    if (cursor->new_records > 0) {
        *size_bytes = (size_t)(cursor->at - data);
        capture->totals.records += cursor->new_records;
        capture->totals.lost_records += cursor->lost_records;
        capture->totals.breaks += cursor->breaks;
        capture->totals.bytes += *size_bytes;
        return cursor->breaks > 0 ? ZE_RESULT_WARNING_DROPPED_DATA : ZE_RESULT_SUCCESS;
    }
    if (cursor->needed_slots > 0)
        return too_small(capture, cursor->needed_slots, size_bytes);
    if (failed) {
        (void)snprintf(what, sizeof(what), "reading the %s of %s", noun(capture), capture->label);
        return zeta_backend_result(failed->provider->backend, atomic_load(&failed->error), what);
    }
    *size_bytes = 0;
    return may_have_more ? ZE_RESULT_SUCCESS : ZE_RESULT_NOT_READY;
}

ze_result_t zeta_capture_read(struct zeta_capture *capture, uint32_t max_records,
                              size_t *size_bytes, uint8_t *data)
{
    struct zeta_cursor cursor = {.at = data,
                                 .record_bytes = capture->record_bytes,
                                 .slots_left = *size_bytes / capture->record_bytes,
                                 .new_left = max_records == UINT32_MAX ? UINT64_MAX : max_records};
    ze_result_t result;
    uint32_t state;

    if (cursor.slots_left == 0)
        return too_small(capture, 1, size_bytes);
    if (!lock(capture))
        return closed_error(capture);
    /* Before the data: what is off then has no more than this read finds. */
    state = current_state(capture);
    if (state == ZETA_PLUGIN_TRACER_STARTING) {
        *size_bytes = 0;
        result = ZE_RESULT_NOT_READY;
    } else {
        fill(capture);
        if (capture->source_count == 1)
            zeta_source_read(&capture->sources[0], &cursor, false);
        else if (capture->is_tracer)
            zeta_tiles_read_merged(capture, &cursor);
        else
            zeta_tiles_read_aligned(capture, &cursor);
        result = finish_read(capture, &cursor, data, state != ZETA_PLUGIN_TRACER_OFF, size_bytes);
    }
    rearm(capture);
    unlock(capture);
    return result;
}

/** What a backend wrote to the sink. */
struct named {
    bool was_written;
    char *text; /**< NULL: no memory */
};

static void keep_name(void *context, struct zeta_plugin_string name, struct zeta_plugin_string text)
{
    struct named *named = context;

    (void)name;
    if (named->was_written)
        return;
    named->was_written = true;
    named->text = strndup(text.data ? text.data : "", text.data ? (size_t)text.size : 0);
}

ze_result_t zeta_capture_name(struct zeta_capture *capture, uint64_t id, char **out_name)
{
    struct named named = {0};
    const struct zeta_plugin_text_sink sink = {.context = &named, .write = keep_name};
    const struct zeta_backend *backend = capture->sources[0].provider->backend;
    uint32_t code = ZETA_PLUGIN_NOT_AVAILABLE;

    if (!lock(capture))
        return closed_error(capture);
    /* Ids of tiles are different ones. */
    for (uint32_t i = 0; i < capture->source_count && code == ZETA_PLUGIN_NOT_AVAILABLE; i++) {
        const struct zeta_source *source = &capture->sources[i];

        backend = source->provider->backend;
        if (source->handle)
            code = backend->tracer.name(backend->self, source->handle, id, &sink);
    }
    unlock(capture);
    if (code == ZETA_PLUGIN_SUCCESS && named.was_written) {
        *out_name = named.text;
        return named.text ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    free(named.text);
    if (code == ZETA_PLUGIN_SUCCESS || code == ZETA_PLUGIN_NOT_AVAILABLE)
        return zeta_error(ZE_RESULT_ERROR_NOT_AVAILABLE, "%s has no name for %" PRIu64,
                          capture->label, id);
    return zeta_backend_result(backend, code, "reading a name");
}

bool zeta_capture_totals(struct zeta_capture *capture, struct zeta_capture_totals *out_totals)
{
    if (!lock(capture))
        return false;
    *out_totals = capture->totals;
    out_totals->ended = has_ended(capture);
    unlock(capture);
    return true;
}

/* Ending --------------------------------------------------------------------------------------- */

void zeta_capture_stop(struct zeta_capture *capture)
{
    struct zeta_capture_event event;
    uint32_t switched;
    bool closes = false;

    if (!lock(capture))
        return;
    event = capture->bound;
    for (uint32_t i = 0; i < capture->source_count; i++)
        closes |= capture->sources[i].handle && !capture->sources[i].stops;
    /* Neither the reactor nor a query of the event may meet a source without its backend. */
    if (closes)
        end_notification(capture);
    (void)switch_sources(capture, capture->source_count, false, true, &switched);
    for (uint32_t i = 0; i < capture->source_count; i++) {
        if (zeta_source_stop(&capture->sources[i]) != ZE_RESULT_SUCCESS)
            atomic_store(&capture->sources[i].error, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY);
    }
    capture->enabled = false;
    atomic_store(&capture->stopped, true);
    if (closes)
        (void)bind(capture, &event);
    if (capture->bound.event)
        capture->bound.notify(capture->bound.event);
    unlock(capture);
}

void zeta_capture_abandon(struct zeta_capture *capture)
{
    end_notification(capture);
    for (uint32_t i = 0; i < capture->source_count; i++)
        zeta_source_close(&capture->sources[i]);
}

ze_result_t zeta_capture_close(struct zeta_capture *capture)
{
    ze_result_t result = ZE_RESULT_SUCCESS;

    if (!lock(capture))
        return closed_error(capture);
    if (capture->enabled)
        result = zeta_error(ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE,
                            "the tracer of %s is enabled; call zetMetricTracerDisableExp first",
                            capture->label);
    capture->closed = result == ZE_RESULT_SUCCESS;
    unlock(capture);
    if (result == ZE_RESULT_SUCCESS)
        zeta_capture_abandon(capture);
    return result;
}

void zeta_capture_destroy(struct zeta_capture *capture)
{
    if (!capture)
        return;
    (void)pthread_mutex_destroy(&capture->lock);
    free(capture);
}
