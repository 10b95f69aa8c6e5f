#include "meter.h"

#include <stdlib.h>
#include <string.h>

#include "plugin.h"
#include "tile.h"

struct zeta_vgpu_meter *zeta_vgpu_meter_create(struct zeta_vgpu_tile *tile)
{
    struct zeta_vgpu_meter *meter = calloc(1, sizeof(*meter));

    if (!meter)
        return NULL;
    atomic_init(&meter->references, 1);
    meter->tile = tile;
    meter->rows = tile->rows;
    meter->totals = calloc(tile->rows, sizeof(*meter->totals));
    meter->before = calloc(tile->rows, sizeof(*meter->before));
    if (meter->totals && meter->before)
        return meter;
    zeta_vgpu_meter_unref(meter);
    return NULL;
}

void zeta_vgpu_meter_end(struct zeta_vgpu_meter *meter)
{
    if (meter)
        atomic_store(&meter->ended, true);
}

void zeta_vgpu_meter_ref(struct zeta_vgpu_meter *meter)
{
    atomic_fetch_add(&meter->references, 1);
}

void zeta_vgpu_meter_unref(struct zeta_vgpu_meter *meter)
{
    if (!meter || atomic_fetch_sub(&meter->references, 1) > 1)
        return;
    free(meter->totals);
    free(meter->before);
    free(meter->eu_totals);
    free(meter->eu_before);
    free(meter);
}

static uint64_t ticks_of(const struct zeta_vgpu_meter *meter)
{
    return zeta_vgpu_ticks(meter->tile->vgpu, meter->tile);
}

static void command_ended(struct zeta_vgpu_meter *meter)
{
    meter->commands++;
    meter->busy_ticks += ticks_of(meter) - meter->since_ticks;
}

static uint32_t eu_count(const struct zeta_vgpu_meter *meter)
{
    const struct zeta_vgpu_topology *topology = &meter->tile->vgpu->description.topology;

    return zeta_vgpu_topology_subslices(topology) * topology->eus_per_subslice;
}

bool zeta_vgpu_meter_count_eus(struct zeta_vgpu_meter *meter, bool on)
{
    if (!meter->eu_totals)
        meter->eu_totals = calloc(eu_count(meter), sizeof(*meter->eu_totals));
    if (!meter->eu_before)
        meter->eu_before = calloc(eu_count(meter), sizeof(*meter->eu_before));
    if (!meter->eu_totals || !meter->eu_before)
        return false;
    if (on)
        atomic_fetch_add(&meter->open_eus, 1);
    else
        atomic_fetch_sub(&meter->open_eus, 1);
    zeta_vgpu_engine_count_eus(meter->tile->engine, on);
    return true;
}

/* The counters of all EUs of an engine: as they are, or what came since. */
static void look_at_eus(struct zeta_vgpu_meter *meter, const struct zeta_vgpu_engine *engine,
                        bool at_end)
{
    for (uint32_t eu = 0; eu < eu_count(meter); eu++) {
        for (uint32_t i = 0; i < ZETA_VGPU_COUNTER_COUNT; i++) {
            const uint64_t value = zeta_vgpu_engine_eu_counter(engine, eu, i);

            if (at_end)
                meter->eu_totals[eu][i] += value - meter->eu_before[eu][i];
            meter->eu_before[eu][i] = value;
        }
    }
}

void zeta_vgpu_meter_launch_begin(struct zeta_vgpu_meter *meter,
                                  const struct zeta_vgpu_engine *engine)
{
    meter->since_ticks = ticks_of(meter);
    for (uint32_t row = 0; row < meter->rows - 1; row++)
        zeta_vgpu_engine_counters(engine, row, meter->before[row]);
    if (atomic_load(&meter->open_eus) > 0)
        look_at_eus(meter, engine, false);
}

void zeta_vgpu_meter_launch_end(struct zeta_vgpu_meter *meter,
                                const struct zeta_vgpu_engine *engine)
{
    uint64_t after[ZETA_VGPU_COUNTER_COUNT];

    for (uint32_t row = 0; row < meter->rows - 1; row++) {
        zeta_vgpu_engine_counters(engine, row, after);
        for (uint32_t i = 0; i < ZETA_VGPU_COUNTER_COUNT; i++)
            meter->totals[row][i] += after[i] - meter->before[row][i];
    }
    if (atomic_load(&meter->open_eus) > 0)
        look_at_eus(meter, engine, true);
    command_ended(meter);
}

void zeta_vgpu_meter_copy_begin(struct zeta_vgpu_meter *meter)
{
    meter->since_ticks = ticks_of(meter);
}

void zeta_vgpu_meter_copy_end(struct zeta_vgpu_meter *meter,
                              const uint64_t added[ZETA_VGPU_COUNTER_COUNT])
{
    for (uint32_t i = 0; i < ZETA_VGPU_COUNTER_COUNT; i++)
        meter->totals[meter->rows - 1][i] += added[i];
    command_ended(meter);
}

void zeta_vgpu_meter_mark(const struct zeta_vgpu_meter *meter,
                          struct zeta_vgpu_meter_mark *out_mark)
{
    memset(out_mark, 0, sizeof(*out_mark));
    out_mark->ticks = ticks_of(meter);
    out_mark->busy_ticks = meter->busy_ticks;
    for (uint32_t row = 0; row < meter->rows; row++)
        out_mark->core_clocks += meter->totals[row][ZETA_VGPU_GPU_CORE_CLOCKS];
    out_mark->tile_clocks = zeta_vgpu_tile_clocks(meter->tile);
    out_mark->commands = meter->commands;
    out_mark->tile_commands = zeta_vgpu_tile_commands(meter->tile, &out_mark->others);
}

static uint64_t above(uint64_t value, uint64_t part)
{
    return value > part ? value - part : 0;
}

uint64_t zeta_vgpu_meter_idle_clocks(const struct zeta_vgpu_meter *meter,
                                     const struct zeta_vgpu_meter_mark *begin,
                                     const struct zeta_vgpu_meter_mark *end)
{
    const struct zeta_vgpu_description *d = &meter->tile->vgpu->description;
    const uint64_t nominal_mhz = d->core_clock_mhz;
    const uint64_t own = end->core_clocks - begin->core_clocks;
    const uint64_t time = end->ticks - begin->ticks;
    uint64_t idle;

    /* Virtual time is the modelled clocks of all queues, so other queues' clocks are idle ones. */
    if (d->clock == ZETA_VGPU_CLOCK_VIRTUAL)
        idle = above(end->tile_clocks - begin->tile_clocks, own);
    else
        idle = above(time, end->busy_ticks - begin->busy_ticks) * ZETA_VGPU_TICK_NS * nominal_mhz /
               1000;
    if (own + idle == 0)
        idle = time * ZETA_VGPU_TICK_NS * nominal_mhz / 1000;
    return own + idle == 0 ? 1 : idle;
}

bool zeta_vgpu_meter_split(const struct zeta_vgpu_meter_mark *begin,
                           const struct zeta_vgpu_meter_mark *end)
{
    return begin->others ||
           end->tile_commands - begin->tile_commands != end->commands - begin->commands;
}
