#include "tile.h"

#include <stdlib.h>
#include <string.h>

#include "plugins/vgpu/device/vgpu.h"

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

void zeta_vgpu_meter_command_ended(struct zeta_vgpu_meter *meter)
{
    meter->commands++;
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
    zeta_vgpu_meter_command_ended(meter);
}

void zeta_vgpu_meter_copied(struct zeta_vgpu_meter *meter,
                            const uint64_t added[ZETA_VGPU_COUNTER_COUNT])
{
    for (uint32_t i = 0; i < ZETA_VGPU_COUNTER_COUNT; i++)
        meter->totals[meter->rows - 1][i] += added[i];
}

uint64_t zeta_vgpu_meter_core_clocks(const struct zeta_vgpu_meter *meter)
{
    uint64_t clocks = 0;

    for (uint32_t row = 0; row < meter->rows; row++)
        clocks += meter->totals[row][ZETA_VGPU_GPU_CORE_CLOCKS];
    return clocks;
}

void zeta_vgpu_meter_mark(const struct zeta_vgpu_meter *meter,
                          struct zeta_vgpu_meter_mark *out_mark)
{
    memset(out_mark, 0, sizeof(*out_mark));
    out_mark->ticks = zeta_vgpu_ticks(meter->tile->vgpu, meter->tile->index);
    out_mark->core_clocks = zeta_vgpu_meter_core_clocks(meter);
    out_mark->commands = meter->commands;
    out_mark->tile_commands = zeta_vgpu_tile_commands(meter->tile, &out_mark->others);
}

bool zeta_vgpu_meter_split(const struct zeta_vgpu_meter_mark *begin,
                           const struct zeta_vgpu_meter_mark *end)
{
    return begin->others ||
           end->tile_commands - begin->tile_commands != end->commands - begin->commands;
}
