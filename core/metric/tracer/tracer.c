#include "core/metric/tracer/tracer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/capture/reactor.h"
#include "core/device/device.h"
#include "core/event/event.h"
#include "core/formula/record/layout.h"
#include "core/formula/sets/set.h"
#include "core/metric/group/group.h"
#include "core/plugin/host.h"
#include "core/util/error.h"

/** How often to look for data where no descriptor tells, and where one does: a second chance. */
#define POLL_NS UINT64_C(1000000)
#define SECOND_CHANCE_NS UINT64_C(10000000)

/* Notification ----------------------------------------------------------------------------------
 */

/**
 * The level that the event shows. An error counts as reached, so that who waits gets to it, and so
 * does the end of what is recorded.
 */
static bool level_reached(void *context)
{
    const struct zeta_tracer *tracer = context;
    uint64_t unread = 0;
    bool ended = true;

    for (uint32_t i = 0; i < tracer->source_count; i++) {
        const struct zeta_source *source = &tracer->sources[i];

        if (atomic_load_explicit(&source->error, memory_order_relaxed) != 0)
            return true;
        unread += zeta_source_unread(source);
        ended = ended && zeta_source_ended(source);
    }
    return ended || unread * tracer->record_bytes >= tracer->notify_bytes;
}

/** Watches the descriptor again if it fired; one of several callers does it. */
static void rearm(struct zeta_tracer *tracer)
{
    if (tracer->watch && atomic_exchange(&tracer->disarmed, false))
        zeta_reactor_rearm(tracer->watch);
}

/** The reactor says that something may have come. It never waits for a reader. */
static void watch_ready(void *context, bool readable)
{
    struct zeta_tracer *tracer = context;

    if (readable)
        atomic_store(&tracer->disarmed, true);
    if (zeta_turn_take(&tracer->turn, false)) {
        for (uint32_t i = 0; i < tracer->source_count; i++)
            (void)zeta_source_fill(&tracer->sources[i]);
        zeta_turn_give(&tracer->turn);
    }
    if (level_reached(tracer))
        zeta_event_notify(tracer->event);
    else
        rearm(tracer); /* a read took the records away, or it fired too early */
}

static ze_result_t start_notification(struct zeta_tracer *tracer, struct zeta_event *event)
{
    const struct zeta_source *source = &tracer->sources[0];
    const struct zeta_backend *backend = source->backend;
    ze_result_t result;
    int fd = -1;

    tracer->event = event;
    if (!zeta_event_bind(event, level_reached, tracer)) {
        tracer->event = NULL;
        return ZE_RESULT_SUCCESS; /* destroyed meanwhile: goes on without notification */
    }
    if (tracer->source_count == 1)
        fd = backend->tracer.descriptor(backend->self, source->tracer);
    result = zeta_reactor_add(fd < 0 ? -1 : fd, fd < 0 ? POLL_NS : SECOND_CHANCE_NS, watch_ready,
                              tracer, &tracer->watch);
    if (result != ZE_RESULT_SUCCESS) {
        tracer->watch = NULL;
        zeta_event_unbind(event, tracer);
        tracer->event = NULL;
    }
    return result;
}

static void end_notification(struct zeta_tracer *tracer)
{
    zeta_reactor_remove(tracer->watch);
    tracer->watch = NULL;
    if (tracer->event)
        zeta_event_unbind(tracer->event, tracer);
    tracer->event = NULL;
}

/* Opening ---------------------------------------------------------------------------------------
 */

ze_result_t zeta_tracer_create(const struct zeta_tracer_request *request,
                               struct zeta_tracer **out_tracer)
{
    const size_t groups_bytes = request->group_count * sizeof(struct zeta_metric_group *);
    const uint32_t tiles = request->device->tile_count;
    struct zeta_tracer *tracer = calloc(1, sizeof(*tracer));

    if (!tracer)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    zeta_turn_init(&tracer->turn);
    tracer->source_count = tiles > 0 ? tiles : 1;
    tracer->sources = calloc(tracer->source_count, sizeof(*tracer->sources));
    tracer->groups = malloc(groups_bytes);
    if (!tracer->sources || !tracer->groups) {
        zeta_tracer_destroy(tracer);
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    memcpy(tracer->groups, request->groups, groups_bytes);
    tracer->group_count = request->group_count;
    tracer->device = request->device;
    tracer->layout = tracer->groups[0]->set->layout;
    tracer->record_bytes = tracer->layout->record_bytes;
    (void)snprintf(tracer->label, sizeof(tracer->label), "%.90s%s on %.80s",
                   zeta_metric_group_name(tracer->groups[0]),
                   tracer->group_count > 1 ? " and others" : "", request->device->backend->id);
    *out_tracer = tracer;
    return ZE_RESULT_SUCCESS;
}

/** Whole records; what was not said, or exceeds the limit, comes to a few of them. */
static uint32_t round_level(const struct zeta_tracer *tracer, uint32_t bytes, uint64_t limit)
{
    const uint64_t record = tracer->record_bytes;
    const uint64_t rounded = (bytes + record - 1) / record * record;

    if (rounded == 0 || rounded > limit)
        return (uint32_t)(ZETA_TRACER_NOTIFY_BYTES / record * record);
    return (uint32_t)rounded;
}

static ze_result_t open_source(struct zeta_tracer *tracer, uint32_t index, bool notify)
{
    const struct zeta_device *device = tracer->device;
    const struct zeta_provider *provider;
    struct zeta_source *source = &tracer->sources[index];
    struct zeta_plugin_string *units = calloc(tracer->group_count, sizeof(*units));
    struct zeta_plugin_tracer_desc desc = {
        .struct_size = sizeof(desc),
        .units = {.data = units, .count = tracer->group_count, .stride = sizeof(*units)},
        .record_bytes = tracer->record_bytes,
        .notify_bytes = notify ? tracer->notify_bytes : 0,
        .ring_bytes = ZETA_TRACER_RING_BYTES,
    };
    ze_result_t result;

    if (!units)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    for (uint32_t i = 0; i < tracer->group_count; i++) {
        const char *name = tracer->groups[i]->set->unit->name;

        units[i] = (struct zeta_plugin_string){.data = name, .size = strlen(name)};
    }
    if (device->tile_count > 0)
        device = device->tiles[index];
    provider = &device->backend->providers[ZETA_GROUP_METRIC_TRACER];
    source->backend = provider->backend;
    source->label = tracer->label;
    source->tile = index;
    result = zeta_source_open_tracer(source, provider->device, &desc);
    free(units);
    return result;
}

static void close_sources(struct zeta_tracer *tracer)
{
    for (uint32_t i = 0; i < tracer->source_count; i++)
        zeta_source_close(&tracer->sources[i]);
}

static ze_result_t open_sources(struct zeta_tracer *tracer, bool notify)
{
    for (uint32_t i = 0; i < tracer->source_count; i++) {
        struct zeta_source *source = &tracer->sources[i];
        ze_result_t result = open_source(tracer, i, notify);

        if (result != ZE_RESULT_SUCCESS)
            return result;
        /* Tiles wait here, where the earliest record of each can be looked at. */
        if (tracer->source_count > 1)
            result = zeta_source_add_ring(source, source->backend_ring);
        if (result != ZE_RESULT_SUCCESS)
            return result;
    }
    return ZE_RESULT_SUCCESS;
}

/** Bytes that all rings hold together. */
static uint64_t ring_bytes(const struct zeta_tracer *tracer)
{
    uint64_t bytes = 0;

    for (uint32_t i = 0; i < tracer->source_count; i++)
        bytes += (uint64_t)tracer->sources[i].backend_ring * tracer->record_bytes;
    return bytes;
}

static ze_result_t open_all(struct zeta_tracer *tracer, struct zeta_event *event)
{
    ze_result_t result = open_sources(tracer, event != NULL);

    if (result == ZE_RESULT_SUCCESS && ring_bytes(tracer) < tracer->notify_bytes) {
        /* The backend has less room than was asked for, and would never reach the level. */
        close_sources(tracer);
        tracer->notify_bytes = round_level(tracer, 0, 0);
        result = open_sources(tracer, event != NULL);
    }
    if (result == ZE_RESULT_SUCCESS && event)
        result = start_notification(tracer, event);
    return result;
}

ze_result_t zeta_tracer_open(struct zeta_tracer *tracer, struct zeta_tracer_request *request)
{
    ze_result_t result;

    tracer->notify_bytes = round_level(tracer, request->notify_bytes, ZETA_TRACER_RING_BYTES / 2);
    result = open_all(tracer, request->event);
    if (result != ZE_RESULT_SUCCESS) {
        close_sources(tracer);
        return result;
    }
    request->notify_bytes = tracer->notify_bytes;
    return ZE_RESULT_SUCCESS;
}

/* Enabling and disabling ------------------------------------------------------------------------
 */

static ze_result_t closed_error(const struct zeta_tracer *tracer)
{
    return zeta_error(ZE_RESULT_ERROR_INVALID_NULL_HANDLE,
                      "the tracer of %s was destroyed by another thread", tracer->label);
}

/** Tells the first count sources; all of them, also after one that fails, whose result it gives. */
static ze_result_t switch_sources(struct zeta_tracer *tracer, uint32_t count, bool on,
                                  bool synchronous, uint32_t *out_done)
{
    ze_result_t result = ZE_RESULT_SUCCESS;

    *out_done = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct zeta_source *source = &tracer->sources[i];
        const struct zeta_plugin_tracer_ops *ops = &source->backend->tracer;
        uint32_t code;
        char what[256];

        if (!source->tracer)
            continue;
        code = (on ? ops->enable : ops->disable)(source->backend->self, source->tracer,
                                                 synchronous ? 1 : 0);
        if (code == ZETA_PLUGIN_SUCCESS) {
            *out_done = i + 1;
            continue;
        }
        (void)snprintf(what, sizeof(what), "%s the tracer of %s", on ? "enabling" : "disabling",
                       tracer->label);
        if (result == ZE_RESULT_SUCCESS)
            result = zeta_backend_result(source->backend, code, what);
        if (on)
            return result;
    }
    return result;
}

ze_result_t zeta_tracer_enable(struct zeta_tracer *tracer, bool synchronous)
{
    ze_result_t result;
    uint32_t done;
    uint32_t undone;

    if (!zeta_turn_take(&tracer->turn, true))
        return closed_error(tracer);
    if (atomic_load(&tracer->stopped)) {
        zeta_turn_give(&tracer->turn);
        return zeta_error(ZE_RESULT_NOT_READY,
                          "a group of the tracer of %s was deactivated, which ended the tracer; "
                          "activate the groups and create another one",
                          tracer->label);
    }
    result = switch_sources(tracer, tracer->source_count, true, synchronous, &done);
    if (result == ZE_RESULT_SUCCESS)
        tracer->enabled = true;
    else if (!tracer->enabled)
        (void)switch_sources(tracer, done, false, false, &undone);
    zeta_turn_give(&tracer->turn);
    return result;
}

ze_result_t zeta_tracer_disable(struct zeta_tracer *tracer, bool synchronous)
{
    ze_result_t result;
    uint32_t done;

    if (!zeta_turn_take(&tracer->turn, true))
        return closed_error(tracer);
    result = switch_sources(tracer, tracer->source_count, false, synchronous, &done);
    if (result == ZE_RESULT_SUCCESS)
        tracer->enabled = false;
    zeta_turn_give(&tracer->turn);
    return result;
}

/** What all sources together do: on as soon as all are, off as soon as all are. */
static uint32_t current_state(const struct zeta_tracer *tracer)
{
    uint32_t state = ZETA_PLUGIN_TRACER_OFF;

    for (uint32_t i = 0; i < tracer->source_count; i++) {
        const struct zeta_source *source = &tracer->sources[i];
        uint32_t one;

        if (!source->tracer)
            continue;
        one = source->backend->tracer.state(source->backend->self, source->tracer);
        if (one == ZETA_PLUGIN_TRACER_STARTING)
            return one;
        if (one != ZETA_PLUGIN_TRACER_OFF)
            state = one;
    }
    return state;
}

/* Reading ---------------------------------------------------------------------------------------
 */

/** Why no more records will come, if so. */
static ze_result_t first_error(const struct zeta_tracer *tracer)
{
    char what[256];

    for (uint32_t i = 0; i < tracer->source_count; i++) {
        const struct zeta_source *source = &tracer->sources[i];
        uint32_t error = atomic_load(&source->error);

        if (error == 0)
            continue;
        (void)snprintf(what, sizeof(what), "reading the tracer of %s", tracer->label);
        return zeta_backend_result(source->backend, error, what);
    }
    return ZE_RESULT_SUCCESS;
}

static ze_result_t too_small(const struct zeta_tracer *tracer, uint64_t slots, size_t *size_bytes)
{
    const size_t given = *size_bytes;

    *size_bytes = (size_t)slots * tracer->record_bytes;
    return zeta_error(ZE_RESULT_ERROR_INVALID_SIZE,
                      "the next record of %s needs %zu bytes with what has to stand before it, and "
                      "the buffer has %zu",
                      tracer->label, *size_bytes, given);
}

static ze_result_t finish_read(struct zeta_tracer *tracer, const struct zeta_cursor *cursor,
                               const uint8_t *data, uint32_t state, size_t *size_bytes)
{
    ze_result_t result;

    if (cursor->new_records > 0) {
        *size_bytes = (size_t)(cursor->at - data);
        return cursor->breaks > 0 ? ZE_RESULT_WARNING_DROPPED_DATA : ZE_RESULT_SUCCESS;
    }
    if (cursor->needed_slots > 0)
        return too_small(tracer, cursor->needed_slots, size_bytes);
    result = first_error(tracer);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    *size_bytes = 0;
    return state == ZETA_PLUGIN_TRACER_OFF ? ZE_RESULT_NOT_READY : ZE_RESULT_SUCCESS;
}

static ze_result_t read_in_turn(struct zeta_tracer *tracer, size_t *size_bytes, uint8_t *data)
{
    struct zeta_cursor cursor = {.at = data,
                                 .record_bytes = tracer->record_bytes,
                                 .slots_left = *size_bytes / tracer->record_bytes,
                                 .new_left = UINT64_MAX};
    /* Before the data: what is off then has no more than this read finds. */
    const uint32_t state = current_state(tracer);

    if (state == ZETA_PLUGIN_TRACER_STARTING) {
        *size_bytes = 0;
        return ZE_RESULT_NOT_READY;
    }
    for (uint32_t i = 0; i < tracer->source_count; i++)
        (void)zeta_source_fill(&tracer->sources[i]);
    if (tracer->source_count == 1)
        zeta_source_read(&tracer->sources[0], &cursor, false);
    else
        zeta_tracer_read_tiles(tracer, &cursor);
    return finish_read(tracer, &cursor, data, state, size_bytes);
}

ze_result_t zeta_tracer_read(struct zeta_tracer *tracer, size_t *size_bytes, uint8_t *data)
{
    ze_result_t result;

    if (*size_bytes < tracer->record_bytes)
        return too_small(tracer, 1, size_bytes);
    if (!zeta_turn_take(&tracer->turn, true))
        return closed_error(tracer);
    result = read_in_turn(tracer, size_bytes, data);
    rearm(tracer);
    zeta_turn_give(&tracer->turn);
    return result;
}

/* Ending ----------------------------------------------------------------------------------------
 */

void zeta_tracer_stop(struct zeta_tracer *tracer)
{
    struct zeta_event *event;
    uint32_t done;

    if (!zeta_turn_take(&tracer->turn, true))
        return;
    event = tracer->event;
    /* Neither the reactor nor a query of the event may meet a closed tracer of the backend. */
    end_notification(tracer);
    (void)switch_sources(tracer, tracer->source_count, false, true, &done);
    for (uint32_t i = 0; i < tracer->source_count; i++) {
        struct zeta_source *source = &tracer->sources[i];

        if (zeta_source_stop(source) != ZE_RESULT_SUCCESS)
            atomic_store(&source->error, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY);
    }
    tracer->enabled = false;
    atomic_store(&tracer->stopped, true);
    if (event && zeta_event_bind(event, level_reached, tracer)) {
        tracer->event = event;
        zeta_event_notify(event);
    }
    zeta_turn_give(&tracer->turn);
}

ze_result_t zeta_tracer_close(struct zeta_tracer *tracer)
{
    if (!zeta_turn_take(&tracer->turn, true))
        return closed_error(tracer);
    if (tracer->enabled) {
        zeta_turn_give(&tracer->turn);
        return zeta_error(ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE,
                          "the tracer of %s is enabled; call zetMetricTracerDisableExp first",
                          tracer->label);
    }
    zeta_turn_give_last(&tracer->turn);
    end_notification(tracer);
    close_sources(tracer);
    return ZE_RESULT_SUCCESS;
}

void zeta_tracer_destroy(struct zeta_tracer *tracer)
{
    if (!tracer)
        return;
    zeta_turn_finish(&tracer->turn);
    free(tracer->sources);
    free(tracer->groups);
    free(tracer);
}
