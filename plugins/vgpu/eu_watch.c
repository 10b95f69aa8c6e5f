#include "eu_watch.h"

#include "plugin.h"
#include "tile.h"

void zeta_vgpu_eu_watch_init(struct zeta_vgpu_eu_watch *watch)
{
    pthread_mutex_init(&watch->lock, NULL);
}

void zeta_vgpu_eu_watch_finish(struct zeta_vgpu_eu_watch *watch)
{
    pthread_mutex_destroy(&watch->lock);
}

/* Lets the engine count, or not any more. */
static void count(struct zeta_vgpu_tile *tile, bool on)
{
    if (atomic_exchange(&tile->eu_watch.counts, on) != on)
        zeta_vgpu_engine_count_eus(tile->engine, on);
}

/* True if the caller is to publish what is wished for; what was read is in bounds. */
static bool is_ours(const struct zeta_vgpu_tile *tile, const struct zeta_vgpu_eu_wish *wish,
                    uint32_t subslice)
{
    const struct zeta_vgpu_topology *topology = &tile->vgpu->description.topology;
    const uint32_t eus = zeta_vgpu_topology_subslices(topology) * topology->eus_per_subslice;
    bool modelled;

    if (wish->eu >= eus || !zeta_vgpu_counter_has_eus(wish->counter))
        return false;
    modelled = zeta_vgpu_counter_is_modelled(wish->counter);
    if (subslice == ZETA_VGPU_EU_WATCH_ALL)
        return true;
    if (subslice == ZETA_VGPU_EU_WATCH_MODELLED)
        return modelled;
    return !modelled && wish->eu / topology->eus_per_subslice == subslice;
}

/*
 * A place of a wish belongs to another subslice, and so to another thread, with the next wish.
 * Whoever still has the old one sees with the lock that it is over, and does not write over the new
 * one.
 */
static void publish_unit_locked(struct zeta_vgpu_tile *tile, uint32_t subslice, uint32_t unit,
                                uint64_t number)
{
    struct zeta_vgpu_instance *instance = atomic_load(&tile->vgpu->instance);

    for (uint32_t i = 0; i < ZETA_VGPU_EU_WISHES; i++) {
        struct zeta_vgpu_eu_wish wish;
        uint64_t value;

        if (!zeta_vgpu_instance_eu_wish(instance, tile->index, unit, i, number, &wish) ||
            !is_ours(tile, &wish, subslice))
            continue;
        value = zeta_vgpu_engine_eu_counter(tile->engine, wish.eu, wish.counter);
        if (tile->eu_watch.seen[unit][i].number != number) {
            tile->eu_watch.seen[unit][i].base = value;
            tile->eu_watch.seen[unit][i].number = number;
        }
        zeta_vgpu_instance_publish_eu(instance, tile->index, unit, i, number,
                                      value - tile->eu_watch.seen[unit][i].base);
    }
}

void zeta_vgpu_eu_watch_publish(struct zeta_vgpu_tile *tile, uint32_t subslice)
{
    const struct zeta_vgpu_instance *instance = atomic_load(&tile->vgpu->instance);

    for (uint32_t unit = 0; unit < ZETA_VGPU_EU_UNITS; unit++) {
        const uint64_t number = zeta_vgpu_instance_eu_wish_number(instance, tile->index, unit);

        if (number == 0)
            continue;
        count(tile, true);
        pthread_mutex_lock(&tile->eu_watch.lock);
        publish_unit_locked(tile, subslice, unit, number);
        pthread_mutex_unlock(&tile->eu_watch.lock);
    }
}

void zeta_vgpu_eu_watch_begin(struct zeta_vgpu_tile *tile)
{
    const struct zeta_vgpu_instance *instance = atomic_load(&tile->vgpu->instance);
    bool wanted = false;

    for (uint32_t unit = 0; unit < ZETA_VGPU_EU_UNITS; unit++)
        wanted |= zeta_vgpu_instance_eu_wish_number(instance, tile->index, unit) != 0;
    count(tile, wanted);
    if (wanted)
        zeta_vgpu_eu_watch_publish(tile, ZETA_VGPU_EU_WATCH_ALL);
}
