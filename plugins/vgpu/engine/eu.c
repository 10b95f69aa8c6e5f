/*
 * Counters of single EUs. They are counted only while somebody wants them: around each quantum of a
 * hart the counters of its subslice are compared, and what came is its EU's.
 */
#include <string.h>

#include "engine_priv.h"

bool zeta_vgpu_counter_has_eus(enum zeta_vgpu_counter counter)
{
    switch (counter) {
    case ZETA_VGPU_GPU_CORE_CLOCKS:
    case ZETA_VGPU_BUSY_CLOCKS:
    case ZETA_VGPU_L3_HITS:
    case ZETA_VGPU_L3_MISSES:
    case ZETA_VGPU_GPU_MEMORY_READ_BYTES:
    case ZETA_VGPU_GPU_MEMORY_WRITE_BYTES:
    case ZETA_VGPU_COPY_BYTES:
    case ZETA_VGPU_GROUPS_DISPATCHED:
    case ZETA_VGPU_KERNELS_LAUNCHED:
    case ZETA_VGPU_DEBUG_HALT_CYCLES:
        return false;
    default:
        return counter < ZETA_VGPU_COUNTER_COUNT;
    }
}

/* Those that follow from the cycle model, epoch by epoch. */
static bool is_modelled(enum zeta_vgpu_counter counter)
{
    return counter == ZETA_VGPU_EU_ACTIVE_CLOCKS || counter == ZETA_VGPU_EU_STALL_CLOCKS ||
           counter == ZETA_VGPU_THREAD_CLOCKS;
}

void zeta_vgpu_engine_count_eus(struct zeta_vgpu_engine *engine, bool on)
{
    if (on)
        atomic_fetch_add(&engine->eu_users, 1);
    else
        atomic_fetch_sub(&engine->eu_users, 1);
}

uint64_t zeta_vgpu_engine_eu_counter(const struct zeta_vgpu_engine *engine, uint32_t eu,
                                     enum zeta_vgpu_counter counter)
{
    const uint32_t eus = engine->config.topology.eus_per_subslice;

    return atomic_load_explicit(&engine->subslices[eu / eus].eu_counters[eu % eus][counter],
                                memory_order_relaxed);
}

void zeta_vgpu_eu_quantum_begin(struct subslice *subslice, uint64_t before[ZETA_VGPU_COUNTER_COUNT])
{
    memcpy(before, subslice->counters, sizeof(subslice->counters));
    before[ZETA_VGPU_TLB_MISSES] = subslice->l1.tlb_misses;
}

void zeta_vgpu_eu_quantum_end(struct subslice *subslice, uint32_t eu,
                              const uint64_t before[ZETA_VGPU_COUNTER_COUNT])
{
    for (uint32_t i = 0; i < ZETA_VGPU_COUNTER_COUNT; i++) {
        /* Harts of other EUs may have waited for this one; release_barrier() knows whose it is. */
        if (i != ZETA_VGPU_BARRIER_STALL_CYCLES && i != ZETA_VGPU_TLB_MISSES && !is_modelled(i) &&
            subslice->counters[i] != before[i])
            zeta_vgpu_eu_add(subslice, eu, i, subslice->counters[i] - before[i]);
    }
    zeta_vgpu_eu_add(subslice, eu, ZETA_VGPU_TLB_MISSES,
                     subslice->l1.tlb_misses - before[ZETA_VGPU_TLB_MISSES]);
}

void zeta_vgpu_eu_replayed(struct subslice *subslice, const struct epoch *epoch, uint64_t time)
{
    const uint32_t eus = subslice->engine->config.topology.eus_per_subslice;

    for (uint32_t eu = 0; eu < eus; eu++) {
        zeta_vgpu_eu_add(subslice, eu, ZETA_VGPU_EU_ACTIVE_CLOCKS, epoch->issue[eu]);
        zeta_vgpu_eu_add(subslice, eu, ZETA_VGPU_THREAD_CLOCKS, epoch->threads[eu] * time);
        if (epoch->threads[eu] > 0)
            zeta_vgpu_eu_add(subslice, eu, ZETA_VGPU_EU_STALL_CLOCKS, time - epoch->issue[eu]);
    }
}
