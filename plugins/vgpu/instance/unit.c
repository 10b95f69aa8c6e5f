#include "instance_priv.h"

#include <unistd.h>

#include <zeta/plugin_host.h>
#include <zeta/thread.h>

#include "plugins/vgpu/device/vgpu.h"

/* How often processes that execute check that samplers are alive. */
#define POLL_NS UINT64_C(100000000)

/* Whatever somebody wrote into shared memory, nobody samples more often, ... */
#define PERIOD_LEAST_NS UINT64_C(1000)

/* ... and nobody took more time of the clock than that. */
#define TAKEN_MOST_NS UINT64_C(1000000000)

/* Forgets what came with a unit: its periods, its markers, its counters of EUs. */
static void set_holder_locked(struct zeta_vgpu_instance *instance, uint32_t tile, uint32_t unit,
                              uint32_t pid, bool wants_switches)
{
    struct zeta_vgpu_holder *holder = &instance->segment->holders[tile][unit];

    if (unit < ZETA_VGPU_EU_UNITS)
        atomic_store(&instance->segment->eu_wanted[tile][unit].number, 0);
    atomic_store(&holder->wants_switches, wants_switches);
    atomic_store(&holder->period_ns, 0);
    atomic_store(&holder->token, 0);
    atomic_store(&holder->start_time, instance->start_time);
    atomic_store(&holder->pid, pid);
}

uint32_t zeta_vgpu_instance_take_unit(struct zeta_vgpu_instance *instance, uint32_t tile,
                                      uint32_t unit, bool wants_switches)
{
    uint32_t pid;

    if (!zeta_vgpu_instance_lock(instance))
        return ZETA_VGPU_NO_PROCESS;
    pid = zeta_vgpu_instance_unit_holder(instance, tile, unit);
    if (pid == 0)
        set_holder_locked(instance, tile, unit, (uint32_t)getpid(), wants_switches);
    zeta_vgpu_instance_unlock(instance);
    return pid;
}

void zeta_vgpu_instance_release_unit(struct zeta_vgpu_instance *instance, uint32_t tile,
                                     uint32_t unit)
{
    if (!zeta_vgpu_instance_lock(instance))
        return;
    set_holder_locked(instance, tile, unit, 0, false);
    zeta_vgpu_instance_unlock(instance);
}

uint32_t zeta_vgpu_instance_unit_holder(const struct zeta_vgpu_instance *instance, uint32_t tile,
                                        uint32_t unit)
{
    const struct zeta_vgpu_holder *holder = &instance->segment->holders[tile][unit];
    uint32_t pid = atomic_load(&holder->pid);

    return pid != 0 && zeta_vgpu_process_alive(pid, atomic_load(&holder->start_time)) ? pid : 0;
}

uint32_t zeta_vgpu_refuse_unit(const struct zeta_vgpu *vgpu, const char *what, const char *unit,
                               const char *device, uint32_t holder)
{
    const struct zeta_host *host = &vgpu->self->host;
    struct zeta_vgpu_message message;

    if (zeta_vgpu_instance_damaged(atomic_load(&vgpu->instance), &message))
        return zeta_host_fail(host, ZETA_PLUGIN_NOT_AVAILABLE, "%s: %s", device, message.text);
    if (holder == (uint32_t)getpid())
        return zeta_host_fail(host, ZETA_PLUGIN_HANDLE_OBJECT_IN_USE,
                              "this process has a %s %s of %s already", what, unit, device);
    return zeta_host_fail(host, ZETA_PLUGIN_NOT_AVAILABLE,
                          "process %u has a %s %s of %s (instance '%s')", holder, what, unit,
                          device, vgpu->description.instance);
}

void zeta_vgpu_instance_request_period(struct zeta_vgpu_instance *instance, uint32_t tile,
                                       uint32_t unit, uint64_t period_ns)
{
    atomic_store(&instance->segment->holders[tile][unit].period_ns, period_ns);
}

void zeta_vgpu_instance_reap_units(struct zeta_vgpu_instance *instance)
{
    for (uint32_t i = 0; i < instance->tiles * ZETA_VGPU_UNITS; i++) {
        const uint32_t tile = i / ZETA_VGPU_UNITS, unit = i % ZETA_VGPU_UNITS;
        const bool is_source = unit >= ZETA_VGPU_UNIT_TRACE_WORK;
        const enum zeta_vgpu_source source = is_source ? unit - ZETA_VGPU_UNIT_TRACE_WORK : 0;
        const struct zeta_vgpu_trace *trace = &instance->segment->traces[tile].sources[source];
        _Atomic uint64_t *period_ns = &instance->segment->holders[tile][unit].period_ns;
        const bool is_used =
            atomic_load(period_ns) != 0 || (is_source && atomic_load(&trace->number) != 0);

        if (!is_used || zeta_vgpu_instance_unit_holder(instance, tile, unit) != 0)
            continue;
        atomic_store(period_ns, 0);
        if (is_source)
            zeta_vgpu_instance_end_trace(instance, tile, source);
    }
}

uint64_t zeta_vgpu_instance_period(struct zeta_vgpu_instance *instance, uint32_t tile)
{
    const struct zeta_vgpu_holder *holders = instance->segment->holders[tile];
    uint64_t shortest = UINT64_MAX, now;

    for (uint32_t unit = 0; unit < ZETA_VGPU_UNITS; unit++) {
        const uint64_t period =
            atomic_load_explicit(&holders[unit].period_ns, memory_order_relaxed);

        if (period != 0 && period < shortest)
            shortest = period;
    }
    if (shortest == UINT64_MAX)
        return 0;
    now = zeta_monotonic_ns();
    if (now - atomic_load(&instance->checked_ns) >= POLL_NS) {
        atomic_store(&instance->checked_ns, now);
        zeta_vgpu_instance_reap(instance);
    }
    return shortest < PERIOD_LEAST_NS ? PERIOD_LEAST_NS : shortest;
}

uint64_t zeta_vgpu_instance_take_time(struct zeta_vgpu_instance *instance, uint32_t tile,
                                      uint64_t begin_ns, uint64_t time_ns)
{
    _Atomic uint64_t *at = &instance->segment->taken_ns[tile];
    uint64_t taken = atomic_load(at), end;

    do {
        const bool follows = taken > begin_ns && taken - begin_ns < TAKEN_MOST_NS;

        end = (follows ? taken : begin_ns) + time_ns;
    } while (!atomic_compare_exchange_weak(at, &taken, end));
    return end;
}

struct zeta_vgpu_tile_traces *zeta_vgpu_instance_traces(const struct zeta_vgpu_instance *instance,
                                                        uint32_t tile)
{
    return &instance->segment->traces[tile];
}

void zeta_vgpu_instance_end_trace(struct zeta_vgpu_instance *instance, uint32_t tile,
                                  enum zeta_vgpu_source source)
{
    struct zeta_vgpu_tile_traces *traces = &instance->segment->traces[tile];
    struct zeta_vgpu_trace *trace = &traces->sources[source];

    atomic_fetch_and(&traces->watched, ~(UINT32_C(1) << source));
    atomic_store(&trace->number, 0);
    atomic_store(&trace->waiting, 0);
    atomic_store(&trace->capacity, 0);
}
