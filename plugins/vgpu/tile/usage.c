#include "tile.h"

#include <stdlib.h>
#include <string.h>

#include "plugins/vgpu/device/vgpu.h"

struct zeta_vgpu_usage *zeta_vgpu_usage_create(struct zeta_vgpu_tile *tile)
{
    struct zeta_vgpu_usage *usage = calloc(1, sizeof(*usage));

    if (!usage)
        return NULL;
    atomic_init(&usage->references, 1);
    usage->tile = tile;
    usage->rows = tile->rows;
    usage->totals = calloc(tile->rows, sizeof(*usage->totals));
    usage->before = calloc(tile->rows, sizeof(*usage->before));
    if (usage->totals && usage->before)
        return usage;
    zeta_vgpu_usage_unref(usage);
    return NULL;
}

void zeta_vgpu_usage_end(struct zeta_vgpu_usage *usage)
{
    if (usage)
        atomic_store(&usage->ended, true);
}

void zeta_vgpu_usage_unref(struct zeta_vgpu_usage *usage)
{
    if (!usage || atomic_fetch_sub(&usage->references, 1) > 1)
        return;
    free(usage->totals);
    free(usage->before);
    free(usage->eu_totals);
    free(usage->eu_before);
    free(usage);
}

static uint32_t eu_count(const struct zeta_vgpu_usage *usage)
{
    const struct zeta_vgpu_topology *topology = &usage->tile->vgpu->description.topology;

    return zeta_vgpu_topology_subslices(topology) * topology->eus_per_subslice;
}

bool zeta_vgpu_usage_count_eus(struct zeta_vgpu_usage *usage, bool on)
{
    if (!usage->eu_totals)
        usage->eu_totals = calloc(eu_count(usage), sizeof(*usage->eu_totals));
    if (!usage->eu_before)
        usage->eu_before = calloc(eu_count(usage), sizeof(*usage->eu_before));
    if (!usage->eu_totals || !usage->eu_before)
        return false;
    if (on)
        atomic_fetch_add(&usage->open_eus, 1);
    else
        atomic_fetch_sub(&usage->open_eus, 1);
    zeta_vgpu_engine_count_eus(usage->tile->engine, on);
    return true;
}

/* The counters of all EUs of an engine: as they are, or what came since. */
static void read_eus(struct zeta_vgpu_usage *usage, const struct zeta_vgpu_engine *engine,
                     bool at_end)
{
    for (uint32_t eu = 0; eu < eu_count(usage); eu++) {
        for (uint32_t i = 0; i < ZETA_VGPU_COUNTER_COUNT; i++) {
            const uint64_t value = zeta_vgpu_engine_eu_counter(engine, eu, i);

            if (at_end)
                usage->eu_totals[eu][i] += value - usage->eu_before[eu][i];
            usage->eu_before[eu][i] = value;
        }
    }
}

void zeta_vgpu_usage_launch_begin(struct zeta_vgpu_usage *usage,
                                  const struct zeta_vgpu_engine *engine)
{
    for (uint32_t row = 0; row < usage->rows - 1; row++)
        zeta_vgpu_engine_counters(engine, row, usage->before[row]);
    if (atomic_load(&usage->open_eus) > 0)
        read_eus(usage, engine, false);
}

void zeta_vgpu_usage_launch_end(struct zeta_vgpu_usage *usage,
                                const struct zeta_vgpu_engine *engine)
{
    uint64_t after[ZETA_VGPU_COUNTER_COUNT];

    for (uint32_t row = 0; row < usage->rows - 1; row++) {
        zeta_vgpu_engine_counters(engine, row, after);
        for (uint32_t i = 0; i < ZETA_VGPU_COUNTER_COUNT; i++)
            usage->totals[row][i] += after[i] - usage->before[row][i];
    }
    if (atomic_load(&usage->open_eus) > 0)
        read_eus(usage, engine, true);
    usage->commands++;
}

uint64_t zeta_vgpu_usage_core_clocks(const struct zeta_vgpu_usage *usage)
{
    uint64_t clocks = 0;

    for (uint32_t row = 0; row < usage->rows; row++)
        clocks += usage->totals[row][ZETA_VGPU_GPU_CORE_CLOCKS];
    return clocks;
}

void zeta_vgpu_usage_mark(const struct zeta_vgpu_usage *usage,
                          struct zeta_vgpu_usage_mark *out_mark)
{
    memset(out_mark, 0, sizeof(*out_mark));
    out_mark->ticks = zeta_vgpu_ticks(usage->tile->vgpu, usage->tile->index);
    out_mark->core_clocks = zeta_vgpu_usage_core_clocks(usage);
    out_mark->commands = usage->commands;
    out_mark->tile_commands = zeta_vgpu_tile_commands(usage->tile, &out_mark->others);
}
