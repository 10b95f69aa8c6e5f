#include "tile.h"

#include "plugins/vgpu/device/vgpu.h"

/* Lets the engine count, or not any more. */
static void count(struct zeta_vgpu_tile *tile, bool on)
{
    if (atomic_exchange(&tile->eu_watch.counts, on) != on)
        zeta_vgpu_engine_count_eus(tile->engine, on);
}

/* True if the request, which somebody wrote into shared memory, can be fulfilled. */
static bool is_known(const struct zeta_vgpu_tile *tile, const struct zeta_vgpu_eu_request *request)
{
    const struct zeta_vgpu_topology *topology = &tile->vgpu->description.topology;
    const uint32_t eus = zeta_vgpu_topology_subslices(topology) * topology->eus_per_subslice;

    return request->eu < eus && zeta_vgpu_counter_has_eus(request->counter);
}

static void publish_unit(struct zeta_vgpu_tile *tile, uint32_t unit, uint64_t number,
                         struct zeta_vgpu_part part)
{
    struct zeta_vgpu_instance *instance = atomic_load(&tile->vgpu->instance);

    for (uint32_t i = 0; i < ZETA_VGPU_EU_REQUESTS; i++) {
        struct zeta_vgpu_eu_seen *seen = &tile->eu_watch.seen[unit][i];
        struct zeta_vgpu_eu_request request;
        uint64_t value;

        if (!zeta_vgpu_instance_eu_request(instance, tile->index, unit, i, number, &request) ||
            !is_known(tile, &request))
            continue;
        value = zeta_vgpu_engine_eu_counter(tile->engine, request.eu, request.counter);
        if (seen->number != number)
            *seen = (struct zeta_vgpu_eu_seen){.number = number, .base = value, .whole = value};
        zeta_vgpu_instance_publish_eu(instance, tile->index, unit, i, number,
                                      seen->whole - seen->base +
                                          zeta_vgpu_part_of(value - seen->whole, part));
        if (part.taken >= part.of)
            seen->whole = value;
    }
}

void zeta_vgpu_eu_watch_publish(struct zeta_vgpu_tile *tile, struct zeta_vgpu_part part)
{
    const struct zeta_vgpu_instance *instance = atomic_load(&tile->vgpu->instance);

    for (uint32_t unit = 0; unit < ZETA_VGPU_EU_UNITS; unit++) {
        const uint64_t number = zeta_vgpu_instance_eu_request_number(instance, tile->index, unit);

        if (number == 0)
            continue;
        count(tile, true);
        publish_unit(tile, unit, number, part);
    }
}

void zeta_vgpu_eu_watch_begin(struct zeta_vgpu_tile *tile)
{
    const struct zeta_vgpu_instance *instance = atomic_load(&tile->vgpu->instance);
    bool wanted = false;

    for (uint32_t unit = 0; unit < ZETA_VGPU_EU_UNITS; unit++)
        wanted |= zeta_vgpu_instance_eu_request_number(instance, tile->index, unit) != 0;
    count(tile, wanted);
    if (wanted)
        zeta_vgpu_eu_watch_publish(tile, (struct zeta_vgpu_part){1, 1});
}
