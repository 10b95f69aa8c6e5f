/*
 * Tracers of a recording. What a tracer gave is given again, with the records that tell when it was
 * enabled and disabled: they were recorded like all others, and none is made here.
 */
#include <stdlib.h>
#include <string.h>

#include "plugins/replay/plugin.h"

struct zeta_plugin_tracer {
    struct zeta_replay_player *player;
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

/* All that was traced of the wanted units. Tracers of several units ran side by side. */
static bool find_tracers(const struct zeta_plugin_device *device,
                         const struct zeta_plugin_tracer_desc *desc, struct zeta_replay_wish *wish)
{
    const struct zeta_replay_recording *recording = wish->recording;

    wish->is_mixed = true;
    for (uint32_t i = 0; i < recording->source_count; i++) {
        const struct zeta_replay_source *source = &recording->sources[i];
        uint32_t set, tile;

        if (!source->is_tracer || !zeta_replay_source_is_of(source, device, &set, &tile) ||
            !wants_unit(desc, recording->sets[set].unit) ||
            wish->source_count >= ZETA_REPLAY_JOINED)
            continue;
        wish->set = &recording->sets[set];
        wish->sources[wish->source_count].number = source->number;
        wish->sources[wish->source_count++].tile = tile;
    }
    return wish->source_count > 0;
}

static uint32_t tracer_open(struct zeta_plugin *self, struct zeta_plugin_device *device,
                            struct zeta_plugin_tracer_desc *desc,
                            struct zeta_plugin_tracer **out_tracer)
{
    struct zeta_replay_wish wish = {.recording = self->replay->recording};
    struct zeta_plugin_tracer *tracer;
    uint32_t result, capacity;

    if (!find_tracers(device, desc, &wish))
        return zeta_host_fail(&self->host, ZETA_PLUGIN_NOT_AVAILABLE,
                              "the recording %.200s has no events of these groups on %s",
                              wish.recording->path, device->id);
    if (desc->record_bytes != wish.set->record_bytes)
        return zeta_host_fail(&self->host, ZETA_PLUGIN_INVALID_ARGUMENT,
                              "the recorded events of %s have %u bytes, and the group says %u",
                              wish.set->name, wish.set->record_bytes, desc->record_bytes);
    tracer = calloc(1, sizeof(*tracer));
    if (!tracer)
        return ZETA_PLUGIN_OUT_OF_HOST_MEMORY;
    capacity = zeta_replay_capacity(desc->ring_bytes / desc->record_bytes,
                                    desc->notify_bytes / desc->record_bytes, desc->record_bytes);
    result = zeta_replay_player_open(self, device, &wish, capacity, &tracer->player);
    if (result == ZETA_PLUGIN_SUCCESS) {
        result = zeta_replay_player_take_units(tracer->player, &desc->units);
        if (result != ZETA_PLUGIN_SUCCESS)
            zeta_replay_player_close(tracer->player);
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

/* Nothing has to be told to hardware, so both ways take effect at once. */
static uint32_t tracer_enable(struct zeta_plugin *self, struct zeta_plugin_tracer *tracer,
                              uint32_t synchronous)
{
    (void)self;
    (void)synchronous;
    if (!atomic_exchange(&tracer->is_on, true))
        zeta_replay_reel_start(&tracer->player->reel);
    zeta_replay_player_tell(tracer->player);
    return ZETA_PLUGIN_SUCCESS;
}

static uint32_t tracer_disable(struct zeta_plugin *self, struct zeta_plugin_tracer *tracer,
                               uint32_t synchronous)
{
    (void)self;
    (void)synchronous;
    if (atomic_exchange(&tracer->is_on, false))
        zeta_replay_reel_stop(&tracer->player->reel);
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
    zeta_replay_reel_read(&tracer->player->reel, buffer, capacity_bytes, out_read);
    zeta_replay_player_tell(tracer->player);
    return ZETA_PLUGIN_SUCCESS;
}

static uint64_t tracer_pending(struct zeta_plugin *self, struct zeta_plugin_tracer *tracer)
{
    const struct zeta_replay_reel *reel = &tracer->player->reel;

    (void)self;
    return zeta_replay_reel_pending(reel) * reel->record_bytes;
}

static uint32_t tracer_ended(struct zeta_plugin *self, struct zeta_plugin_tracer *tracer)
{
    (void)self;
    return zeta_replay_reel_ended(&tracer->player->reel);
}

static void tracer_close(struct zeta_plugin *self, struct zeta_plugin_tracer *tracer)
{
    (void)self;
    if (!tracer)
        return;
    zeta_replay_player_close(tracer->player);
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
