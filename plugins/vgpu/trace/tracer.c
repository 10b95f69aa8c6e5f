/*
 * Tracers. A thread of the tracer polls the shared rings every millisecond while it is on, and
 * so do reads and synchronous calls; whoever does has the tracer's lock.
 *
 * On and off are marks at a time: events belong to the tracer if the last mark before them is
 * "on". So it does not matter when writers see the word that asks them for events, and what was
 * under way at a mark is sorted out by its time.
 */
#include "trace.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <zeta/plugin_host.h>
#include <zeta/thread.h>

#include "merge.h"
#include "plugins/vgpu/device/vgpu.h"

#define POLL_NS 1000000

/* Capacities in records: 16 MiB unless another is wanted, at most 256 MiB. */
#define RING_DEFAULT 262144u
#define RING_MAX 4194304u

/* Marks that wait to be merged. */
#define MARKS 16u

struct mark {
    enum zeta_vgpu_event_type type;      /* ENABLED or DISABLED */
    uint64_t ticks[ZETA_VGPU_MAX_TILES]; /* by tile of the device */
};

struct zeta_plugin_tracer {
    struct zeta_vgpu *vgpu;
    struct zeta_vgpu_instance *instance;
    uint32_t first_tile, tile_count;
    uint32_t units_taken; /* places whose unit is ours */
    LIST_ENTRY(zeta_plugin_tracer) entry;

    pthread_mutex_t lock; /* guards the rest, but for the state, and the ring, which has its own */
    pthread_cond_t wake;
    pthread_t thread;
    bool running, stopping;
    bool on; /* events are asked for */
    struct mark marks[MARKS];
    uint32_t mark_count;
    _Atomic uint32_t state; /* ZETA_PLUGIN_TRACER_* */
    struct zeta_vgpu_merge merge;
};

static const struct {
    const char *name;
    enum zeta_vgpu_unit unit;
} sources[ZETA_VGPU_SOURCES] = {
    [ZETA_VGPU_SOURCE_WORK] = {"trace-work", ZETA_VGPU_UNIT_TRACE_WORK},
    [ZETA_VGPU_SOURCE_DEVICE] = {"trace-device", ZETA_VGPU_UNIT_TRACE_DEVICE},
};

static uint64_t tile_ticks(const struct zeta_plugin_tracer *tracer, uint32_t tile)
{
    return zeta_vgpu_ticks(tracer->vgpu, tile);
}

static bool reached(const struct zeta_plugin_tracer *tracer, const struct mark *mark,
                    uint64_t until)
{
    for (uint32_t t = 0; t < tracer->tile_count; t++) {
        if (mark->ticks[tracer->first_tile + t] > until)
            return false;
    }
    return true;
}

/* Merges up to the oldest mark, and then keeps events, or drops them. */
static void pass_mark_locked(struct zeta_plugin_tracer *tracer)
{
    const struct mark *mark = &tracer->marks[0];
    const bool ends = mark->type == ZETA_VGPU_EVENT_TYPE_DISABLED;

    /* What has the very time of a mark happened before it ended, or after it began. */
    zeta_vgpu_merge_take(&tracer->merge, mark->ticks, ends);
    if (ends)
        zeta_vgpu_merge_losses(&tracer->merge);
    tracer->merge.keeping = !ends;
    for (uint32_t t = tracer->first_tile; t < tracer->first_tile + tracer->tile_count; t++)
        zeta_vgpu_merge_put(&tracer->merge, t, mark->type, mark->ticks[t]);
    tracer->mark_count--;
    memmove(tracer->marks, tracer->marks + 1, tracer->mark_count * sizeof(tracer->marks[0]));
}

/* Hands on what is there and cannot be preceded by anything any more. */
static void pass_locked(struct zeta_plugin_tracer *tracer)
{
    const bool is_wall = tracer->vgpu->description.clock == ZETA_VGPU_CLOCK_WALL;
    uint64_t limits[ZETA_VGPU_MAX_TILES] = {0};
    uint64_t until;

    for (uint32_t t = tracer->first_tile; t < tracer->first_tile + tracer->tile_count; t++)
        limits[t] = tile_ticks(tracer, t);
    until = zeta_vgpu_merge_poll(&tracer->merge, limits[tracer->first_tile]);
    while (tracer->mark_count > 0 && reached(tracer, &tracer->marks[0], until))
        pass_mark_locked(tracer);
    if (tracer->mark_count == 0) {
        for (uint32_t t = 0; t < ZETA_VGPU_MAX_TILES; t++)
            limits[t] = limits[t] < until ? limits[t] : until;
        /* Virtual time pauses: more events may come that have the present time. */
        zeta_vgpu_merge_take(&tracer->merge, limits, is_wall);
        atomic_store(&tracer->state, tracer->on ? ZETA_PLUGIN_TRACER_ON : ZETA_PLUGIN_TRACER_OFF);
    }
    zeta_vgpu_merge_flush(&tracer->merge);
}

/* Merges until no mark waits; who stopped in the middle of an event is not waited for for ever. */
static void pass_all_locked(struct zeta_plugin_tracer *tracer)
{
    const struct timespec pause = {.tv_nsec = 20000};

    pass_locked(tracer);
    while (tracer->mark_count > 0) {
        nanosleep(&pause, NULL);
        pass_locked(tracer);
    }
}

static void watch_locked(struct zeta_plugin_tracer *tracer, bool on)
{
    tracer->on = on;
    for (uint32_t i = 0; i < tracer->merge.place_count; i++) {
        const struct zeta_vgpu_merge_place *place = &tracer->merge.places[i];

        zeta_vgpu_instance_watch(tracer->instance, place->tile, place->source, on);
    }
}

static void mark_locked(struct zeta_plugin_tracer *tracer, enum zeta_vgpu_event_type type)
{
    struct mark *mark;

    if (tracer->mark_count == MARKS)
        pass_all_locked(tracer);
    mark = &tracer->marks[tracer->mark_count++];
    mark->type = type;
    for (uint32_t t = tracer->first_tile; t < tracer->first_tile + tracer->tile_count; t++)
        mark->ticks[t] = tile_ticks(tracer, t);
}

static uint32_t tracer_enable(struct zeta_plugin *self, struct zeta_plugin_tracer *tracer,
                              uint32_t synchronous)
{
    (void)self;
    pthread_mutex_lock(&tracer->lock);
    if (!tracer->on) {
        /* Losses that no event carried belong to the time before. */
        pass_locked(tracer);
        zeta_vgpu_merge_losses(&tracer->merge);
        mark_locked(tracer, ZETA_VGPU_EVENT_TYPE_ENABLED);
        watch_locked(tracer, true);
        atomic_store(&tracer->state, ZETA_PLUGIN_TRACER_STARTING);
    }
    if (synchronous)
        atomic_store(&tracer->state, ZETA_PLUGIN_TRACER_ON);
    pthread_cond_signal(&tracer->wake);
    pthread_mutex_unlock(&tracer->lock);
    return ZETA_PLUGIN_SUCCESS;
}

static uint32_t tracer_disable(struct zeta_plugin *self, struct zeta_plugin_tracer *tracer,
                               uint32_t synchronous)
{
    /* Virtual time pauses while nothing runs, so only now is it known what came before. */
    const bool at_once =
        synchronous != 0 || tracer->vgpu->description.clock == ZETA_VGPU_CLOCK_VIRTUAL;

    (void)self;
    pthread_mutex_lock(&tracer->lock);
    if (tracer->on) {
        watch_locked(tracer, false);
        mark_locked(tracer, ZETA_VGPU_EVENT_TYPE_DISABLED);
        atomic_store(&tracer->state, ZETA_PLUGIN_TRACER_STOPPING);
    }
    if (at_once)
        pass_all_locked(tracer);
    pthread_cond_signal(&tracer->wake);
    pthread_mutex_unlock(&tracer->lock);
    return ZETA_PLUGIN_SUCCESS;
}

static uint32_t tracer_state(struct zeta_plugin *self, struct zeta_plugin_tracer *tracer)
{
    (void)self;
    return atomic_load(&tracer->state);
}

static uint32_t tracer_read(struct zeta_plugin *self, struct zeta_plugin_tracer *tracer,
                            void *buffer, uint64_t capacity_bytes,
                            struct zeta_plugin_read *out_read)
{
    (void)self;
    pthread_mutex_lock(&tracer->lock);
    if (tracer->on || tracer->mark_count > 0)
        pass_locked(tracer);
    pthread_mutex_unlock(&tracer->lock);
    zeta_vgpu_ring_read(&tracer->merge.ring, buffer, capacity_bytes, out_read);
    return ZETA_PLUGIN_SUCCESS;
}

static uint64_t tracer_pending(struct zeta_plugin *self, struct zeta_plugin_tracer *tracer)
{
    (void)self;
    return zeta_vgpu_ring_pending(&tracer->merge.ring) * ZETA_VGPU_EVENT_BYTES;
}

static int32_t tracer_descriptor(struct zeta_plugin *self, struct zeta_plugin_tracer *tracer)
{
    (void)self;
    return tracer->merge.ring.notify.descriptor;
}

/* Waits for the next poll, or until there is something to do. */
static void wait_locked(struct zeta_plugin_tracer *tracer)
{
    struct timespec until;

    if (!tracer->on && tracer->mark_count == 0) {
        pthread_cond_wait(&tracer->wake, &tracer->lock);
        return;
    }
    if (zeta_vgpu_merge_is_behind(&tracer->merge)) {
        pthread_mutex_unlock(&tracer->lock);
        pthread_mutex_lock(&tracer->lock);
        return;
    }
    until = zeta_clock_timespec(zeta_monotonic_ns() + POLL_NS);
    pthread_cond_timedwait(&tracer->wake, &tracer->lock, &until);
}

static void *tracer_main(void *argument)
{
    struct zeta_plugin_tracer *tracer = argument;

    pthread_mutex_lock(&tracer->lock);
    while (!tracer->stopping) {
        wait_locked(tracer);
        if (tracer->on || tracer->mark_count > 0)
            pass_locked(tracer);
        zeta_vgpu_report_damage(tracer->vgpu);
    }
    pthread_mutex_unlock(&tracer->lock);
    return NULL;
}

static void stop_thread(struct zeta_plugin_tracer *tracer)
{
    if (!tracer->running)
        return;
    pthread_mutex_lock(&tracer->lock);
    tracer->stopping = true;
    pthread_cond_signal(&tracer->wake);
    pthread_mutex_unlock(&tracer->lock);
    pthread_join(tracer->thread, NULL);
    tracer->running = false;
}

static struct zeta_plugin_tracer *create_tracer(const struct zeta_plugin_device *device)
{
    struct zeta_plugin_tracer *tracer = calloc(1, sizeof(*tracer));

    if (!tracer)
        return NULL;
    pthread_mutex_init(&tracer->lock, NULL);
    zeta_condition_init(&tracer->wake);
    tracer->vgpu = device->vgpu;
    tracer->first_tile = device->first_tile;
    tracer->tile_count = device->tile_count;
    tracer->merge.vgpu = device->vgpu;
    tracer->merge.file.descriptor = -1;
    return tracer;
}

static void destroy_tracer(struct zeta_plugin_tracer *tracer)
{
    if (!tracer)
        return;
    stop_thread(tracer);
    while (tracer->units_taken > 0) {
        const struct zeta_vgpu_merge_place *place = &tracer->merge.places[--tracer->units_taken];

        zeta_vgpu_instance_end_trace(tracer->instance, place->tile, place->source);
        zeta_vgpu_instance_release_unit(tracer->instance, place->tile, sources[place->source].unit);
    }
    zeta_vgpu_trace_file_destroy(&tracer->merge.file);
    zeta_vgpu_ring_finish(&tracer->merge.ring);
    pthread_cond_destroy(&tracer->wake);
    pthread_mutex_destroy(&tracer->lock);
    free(tracer);
}

static uint32_t find_source(const struct zeta_plugin *self, struct zeta_plugin_string name,
                            uint32_t *out_source)
{
    for (uint32_t i = 0; i < ZETA_VGPU_SOURCES; i++) {
        if (zeta_string_is(name, sources[i].name)) {
            *out_source = i;
            return ZETA_PLUGIN_SUCCESS;
        }
    }
    return zeta_host_fail(&self->host, ZETA_PLUGIN_INVALID_ARGUMENT,
                          "%s has no source of events '%.*s'; its sources are trace-work and "
                          "trace-device",
                          self->vgpu->description.id, name.size < 80 ? (int)name.size : 80,
                          name.data ? name.data : "");
}

/* Makes the list of tiles and sources that are traced. */
static uint32_t choose_places(const struct zeta_plugin *self, struct zeta_plugin_tracer *tracer,
                              const struct zeta_plugin_array *units)
{
    struct zeta_vgpu_merge *merge = &tracer->merge;
    const char *at = units->data;
    uint32_t chosen = 0;

    if (units->count == 0)
        return zeta_host_fail(&self->host, ZETA_PLUGIN_INVALID_ARGUMENT,
                              "a tracer of %s needs a source of events",
                              self->vgpu->description.id);
    for (uint64_t i = 0; i < units->count; i++, at += units->stride) {
        struct zeta_plugin_string name;
        uint32_t source = 0, result;

        memcpy(&name, at, sizeof(name));
        result = find_source(self, name, &source);
        if (result != ZETA_PLUGIN_SUCCESS)
            return result;
        if ((chosen & 1u << source) != 0)
            return zeta_host_fail(&self->host, ZETA_PLUGIN_INVALID_ARGUMENT,
                                  "source %s of %s is given twice", sources[source].name,
                                  self->vgpu->description.id);
        chosen |= 1u << source;
        for (uint32_t t = 0; t < tracer->tile_count; t++)
            merge->places[merge->place_count++] =
                (struct zeta_vgpu_merge_place){.tile = tracer->first_tile + t, .source = source};
    }
    return ZETA_PLUGIN_SUCCESS;
}

static uint32_t take_units(struct zeta_plugin_tracer *tracer)
{
    const struct zeta_vgpu_merge *merge = &tracer->merge;

    while (tracer->units_taken < merge->place_count) {
        const struct zeta_vgpu_merge_place *place = &merge->places[tracer->units_taken];
        const uint32_t holder = zeta_vgpu_instance_take_unit(tracer->instance, place->tile,
                                                             sources[place->source].unit, false);

        if (holder != 0)
            return zeta_vgpu_refuse_unit(tracer->vgpu, "tracer on", sources[place->source].name,
                                         tracer->vgpu->description.id, holder);
        tracer->units_taken++;
    }
    return ZETA_PLUGIN_SUCCESS;
}

/* Makes the file of the tracer and publishes where it is. */
static uint32_t offer_places(const struct zeta_plugin *self, struct zeta_plugin_tracer *tracer)
{
    struct zeta_vgpu_merge *merge = &tracer->merge;
    const uint64_t number = zeta_vgpu_instance_trace_number(tracer->instance);
    struct zeta_vgpu_message message;

    merge->instance = tracer->instance;
    if (number == 0)
        return zeta_vgpu_refuse_unit(tracer->vgpu, "tracer on",
                                     sources[merge->places[0].source].name,
                                     tracer->vgpu->description.id, ZETA_VGPU_NO_PROCESS);
    if (!zeta_vgpu_trace_file_create(&merge->file, number, merge->place_count, &message))
        return zeta_host_fail(&self->host, ZETA_PLUGIN_OUT_OF_HOST_MEMORY, "%s: %s",
                              self->vgpu->description.id, message.text);
    for (uint32_t i = 0; i < merge->place_count; i++) {
        struct zeta_vgpu_merge_place *place = &merge->places[i];
        const struct zeta_vgpu_trace_place offer = {.number = number,
                                                    .pid = (uint32_t)getpid(),
                                                    .descriptor = (uint32_t)merge->file.descriptor,
                                                    .index = i};

        place->missed =
            zeta_vgpu_instance_missed_events(tracer->instance, place->tile, place->source);
        zeta_vgpu_instance_offer_trace(tracer->instance, place->tile, place->source, &offer);
    }
    return ZETA_PLUGIN_SUCCESS;
}

static uint32_t check_desc(const struct zeta_plugin *self, const struct zeta_plugin_device *device,
                           const struct zeta_plugin_tracer_desc *desc)
{
    if (desc->record_bytes != ZETA_VGPU_EVENT_BYTES)
        return zeta_host_fail(&self->host, ZETA_PLUGIN_INVALID_ARGUMENT,
                              "events of %s have %u bytes, and the set says %u", device->id,
                              ZETA_VGPU_EVENT_BYTES, desc->record_bytes);
    if (self->vgpu->description.faults.permission != 0)
        return zeta_host_fail(&self->host, ZETA_PLUGIN_INSUFFICIENT_PERMISSIONS,
                              "tracers of %s are not permitted: its setting fault.permission is 1",
                              device->id);
    return ZETA_PLUGIN_SUCCESS;
}

static uint32_t tracer_open(struct zeta_plugin *self, struct zeta_plugin_device *device,
                            struct zeta_plugin_tracer_desc *desc,
                            struct zeta_plugin_tracer **out_tracer)
{
    const uint32_t capacity = zeta_vgpu_ring_capacity(
        desc->ring_bytes ? desc->ring_bytes / ZETA_VGPU_EVENT_BYTES : RING_DEFAULT,
        desc->notify_bytes / ZETA_VGPU_EVENT_BYTES, RING_MAX,
        self->vgpu->description.faults.full_ring);
    const uint64_t notify =
        (desc->notify_bytes + ZETA_VGPU_EVENT_BYTES - 1) / ZETA_VGPU_EVENT_BYTES;
    struct zeta_vgpu *vgpu = self->vgpu;
    struct zeta_plugin_tracer *tracer;
    uint32_t result = check_desc(self, device, desc);

    if (result != ZETA_PLUGIN_SUCCESS)
        return result;
    tracer = create_tracer(device);
    if (!tracer)
        return ZETA_PLUGIN_OUT_OF_HOST_MEMORY;
    result = choose_places(self, tracer, &desc->units);
    if (result != ZETA_PLUGIN_SUCCESS)
        goto destroy;
    result = zeta_vgpu_instance_get(vgpu, &tracer->instance);
    if (result != ZETA_PLUGIN_SUCCESS)
        goto destroy;
    if (!zeta_vgpu_ring_init(&tracer->merge.ring, capacity, ZETA_VGPU_EVENT_BYTES,
                             notify < capacity ? notify : capacity)) {
        result = ZETA_PLUGIN_OUT_OF_HOST_MEMORY;
        goto destroy;
    }
    result = take_units(tracer);
    if (result != ZETA_PLUGIN_SUCCESS)
        goto destroy;
    result = offer_places(self, tracer);
    if (result != ZETA_PLUGIN_SUCCESS)
        goto destroy;
    if (zeta_thread_start(&tracer->thread, tracer_main, tracer, "vgpu-tracer") != 0) {
        result = zeta_host_fail(&self->host, ZETA_PLUGIN_OUT_OF_HOST_MEMORY,
                                "no thread can be started to trace %s", vgpu->description.id);
        goto destroy;
    }
    tracer->running = true;
    desc->ring_bytes = (uint64_t)capacity * ZETA_VGPU_EVENT_BYTES;
    pthread_mutex_lock(&vgpu->objects_lock);
    LIST_INSERT_HEAD(&vgpu->open_tracers, tracer, entry);
    pthread_mutex_unlock(&vgpu->objects_lock);
    *out_tracer = tracer;
    return ZETA_PLUGIN_SUCCESS;

destroy:
    destroy_tracer(tracer);
    return result;
}

static void tracer_close(struct zeta_plugin *self, struct zeta_plugin_tracer *tracer)
{
    (void)self;
    if (!tracer)
        return;
    pthread_mutex_lock(&tracer->vgpu->objects_lock);
    LIST_REMOVE(tracer, entry);
    pthread_mutex_unlock(&tracer->vgpu->objects_lock);
    destroy_tracer(tracer);
}

void zeta_vgpu_tracers_abandon(struct zeta_vgpu *vgpu)
{
    while (!LIST_EMPTY(&vgpu->open_tracers))
        tracer_close(vgpu->self, LIST_FIRST(&vgpu->open_tracers));
}

void zeta_vgpu_tracers_forget(struct zeta_vgpu *vgpu)
{
    struct zeta_plugin_tracer *tracer;

    /* Who holds a copy of the descriptor keeps the rings of a dead parent. */
    LIST_FOREACH (tracer, &vgpu->open_tracers, entry)
        zeta_vgpu_trace_file_destroy(&tracer->merge.file);
}

const struct zeta_plugin_tracer_ops zeta_vgpu_tracer_ops = {
    .struct_size = sizeof(struct zeta_plugin_tracer_ops),
    .open = tracer_open,
    .enable = tracer_enable,
    .disable = tracer_disable,
    .state = tracer_state,
    .read = tracer_read,
    .pending = tracer_pending,
    .descriptor = tracer_descriptor,
    .close = tracer_close,
};
