#include "instance_priv.h"

static struct zeta_vgpu_trace *trace_of(const struct zeta_vgpu_instance *instance, uint32_t tile,
                                        enum zeta_vgpu_source source)
{
    return &instance->segment->traces[tile].sources[source];
}

const _Atomic uint32_t *zeta_vgpu_instance_watched(const struct zeta_vgpu_instance *instance,
                                                   uint32_t tile)
{
    return &instance->segment->traces[tile].watched;
}

uint64_t zeta_vgpu_instance_trace_number(struct zeta_vgpu_instance *instance)
{
    uint64_t number = 0;

    if (!zeta_vgpu_instance_lock(instance))
        return 0;
    while (number == 0)
        number = atomic_fetch_add(&instance->segment->trace_numbers, 1) + 1;
    zeta_vgpu_instance_unlock(instance);
    return number;
}

void zeta_vgpu_instance_offer_trace(struct zeta_vgpu_instance *instance, uint32_t tile,
                                    enum zeta_vgpu_source source,
                                    const struct zeta_vgpu_trace_place *place)
{
    struct zeta_vgpu_trace *trace = trace_of(instance, tile, source);

    atomic_store(&trace->number, 0);
    atomic_store(&trace->writers, 0);
    atomic_store(&trace->pid, place->pid);
    atomic_store(&trace->descriptor, place->descriptor);
    atomic_store(&trace->index, place->index);
    atomic_store(&trace->number, place->number);
}

void zeta_vgpu_instance_watch(struct zeta_vgpu_instance *instance, uint32_t tile,
                              enum zeta_vgpu_source source, bool on)
{
    _Atomic uint32_t *watched = &instance->segment->traces[tile].watched;

    if (on)
        atomic_fetch_or(watched, UINT32_C(1) << source);
    else
        atomic_fetch_and(watched, ~(UINT32_C(1) << source));
}

void zeta_vgpu_instance_end_trace(struct zeta_vgpu_instance *instance, uint32_t tile,
                                  enum zeta_vgpu_source source)
{
    struct zeta_vgpu_trace *trace = trace_of(instance, tile, source);

    zeta_vgpu_instance_watch(instance, tile, source, false);
    atomic_store(&trace->number, 0);
    atomic_store(&trace->waiting, 0);
    atomic_store(&trace->capacity, 0);
}

void zeta_vgpu_instance_reap_traces(struct zeta_vgpu_instance *instance)
{
    static const enum zeta_vgpu_unit units[ZETA_VGPU_SOURCES] = {ZETA_VGPU_UNIT_TRACE_WORK,
                                                                 ZETA_VGPU_UNIT_TRACE_DEVICE};

    for (uint32_t tile = 0; tile < instance->tiles; tile++) {
        for (uint32_t source = 0; source < ZETA_VGPU_SOURCES; source++) {
            if (zeta_vgpu_instance_trace(instance, tile, source) != 0 &&
                zeta_vgpu_instance_unit_holder(instance, tile, units[source]) == 0)
                zeta_vgpu_instance_end_trace(instance, tile, source);
        }
    }
}

uint64_t zeta_vgpu_instance_trace(const struct zeta_vgpu_instance *instance, uint32_t tile,
                                  enum zeta_vgpu_source source)
{
    return atomic_load_explicit(&trace_of(instance, tile, source)->number, memory_order_acquire);
}

bool zeta_vgpu_instance_find_trace(const struct zeta_vgpu_instance *instance, uint32_t tile,
                                   enum zeta_vgpu_source source,
                                   struct zeta_vgpu_trace_place *out_place)
{
    const struct zeta_vgpu_trace *trace = trace_of(instance, tile, source);

    out_place->number = atomic_load(&trace->number);
    out_place->pid = atomic_load(&trace->pid);
    out_place->descriptor = atomic_load(&trace->descriptor);
    out_place->index = atomic_load(&trace->index);
    return out_place->number != 0 && atomic_load(&trace->number) == out_place->number;
}

void zeta_vgpu_instance_join_trace(struct zeta_vgpu_instance *instance, uint32_t tile,
                                   enum zeta_vgpu_source source)
{
    const uint32_t slot = zeta_vgpu_instance_slot(instance);

    if (slot != 0)
        atomic_fetch_or(&trace_of(instance, tile, source)->writers, UINT64_C(1) << (slot - 1));
}

uint64_t zeta_vgpu_instance_trace_writers(const struct zeta_vgpu_instance *instance, uint32_t tile,
                                          enum zeta_vgpu_source source)
{
    return atomic_load(&trace_of(instance, tile, source)->writers);
}

bool zeta_vgpu_instance_slot_alive(const struct zeta_vgpu_instance *instance, uint32_t slot)
{
    const struct zeta_vgpu_attached *attached = &instance->segment->attached[slot];

    return zeta_vgpu_process_alive(atomic_load(&attached->pid), atomic_load(&attached->start_time));
}

void zeta_vgpu_instance_miss_event(struct zeta_vgpu_instance *instance, uint32_t tile,
                                   enum zeta_vgpu_source source)
{
    atomic_fetch_add(&trace_of(instance, tile, source)->missed, 1);
}

uint64_t zeta_vgpu_instance_missed_events(const struct zeta_vgpu_instance *instance, uint32_t tile,
                                          enum zeta_vgpu_source source)
{
    return atomic_load_explicit(&trace_of(instance, tile, source)->missed, memory_order_relaxed);
}

void zeta_vgpu_instance_count_events(struct zeta_vgpu_instance *instance, uint32_t tile,
                                     enum zeta_vgpu_source source,
                                     const struct zeta_vgpu_event_counts *more)
{
    struct zeta_vgpu_trace *trace = trace_of(instance, tile, source);

    atomic_fetch_add(&trace->lost, more->lost);
    atomic_fetch_add(&trace->written, more->written);
    atomic_store(&trace->waiting, more->waiting);
    atomic_store(&trace->capacity, more->capacity);
}

void zeta_vgpu_instance_event_counts(const struct zeta_vgpu_instance *instance, uint32_t tile,
                                     enum zeta_vgpu_source source,
                                     struct zeta_vgpu_event_counts *out_counts)
{
    const struct zeta_vgpu_trace *trace = trace_of(instance, tile, source);

    out_counts->written = atomic_load(&trace->written);
    out_counts->lost = atomic_load(&trace->lost);
    out_counts->waiting = atomic_load(&trace->waiting);
    out_counts->capacity = atomic_load(&trace->capacity);
}
