#include "instance_priv.h"

#include <unistd.h>

#include <zeta/thread.h>

/* How often processes that execute check that samplers are alive. */
#define POLL_NS UINT64_C(100000000)

/* Whatever somebody wrote into shared memory, nobody samples more often, ... */
#define PERIOD_LEAST_NS UINT64_C(1000)

/* ... and nobody took more time of the clock than that. */
#define TAKEN_MOST_NS UINT64_C(1000000000)

uint32_t zeta_vgpu_instance_take_unit(struct zeta_vgpu_instance *instance, uint32_t tile,
                                      uint32_t unit, bool wants_switches)
{
    struct zeta_vgpu_holder *holder = &instance->segment->holders[tile][unit];
    uint32_t pid;

    if (!zeta_vgpu_instance_lock(instance))
        return ZETA_VGPU_NO_PROCESS;
    pid = atomic_load(&holder->pid);
    if (pid != 0 && !zeta_vgpu_process_alive(pid, atomic_load(&holder->start_time)))
        pid = 0;
    if (pid == 0) {
        atomic_store(&holder->wants_switches, wants_switches);
        atomic_store(&holder->period_ns, 0);
        atomic_store(&holder->token, 0);
        atomic_store(&holder->start_time, instance->start_time);
        atomic_store(&holder->pid, (uint32_t)getpid());
    }
    zeta_vgpu_instance_unlock(instance);
    return pid;
}

void zeta_vgpu_instance_release_unit(struct zeta_vgpu_instance *instance, uint32_t tile,
                                     uint32_t unit)
{
    struct zeta_vgpu_holder *holder = &instance->segment->holders[tile][unit];

    if (!zeta_vgpu_instance_lock(instance))
        return;
    atomic_store(&holder->wants_switches, 0);
    atomic_store(&holder->period_ns, 0);
    atomic_store(&holder->token, 0);
    atomic_store(&holder->pid, 0);
    zeta_vgpu_instance_unlock(instance);
}

uint32_t zeta_vgpu_instance_unit_holder(const struct zeta_vgpu_instance *instance, uint32_t tile,
                                        uint32_t unit)
{
    const struct zeta_vgpu_holder *holder = &instance->segment->holders[tile][unit];
    uint32_t pid = atomic_load(&holder->pid);

    return pid != 0 && zeta_vgpu_process_alive(pid, atomic_load(&holder->start_time)) ? pid : 0;
}

void zeta_vgpu_instance_request_period(struct zeta_vgpu_instance *instance, uint32_t tile,
                                       uint32_t unit, uint64_t period_ns)
{
    atomic_store(&instance->segment->holders[tile][unit].period_ns, period_ns);
}

void zeta_vgpu_instance_reap_periods(struct zeta_vgpu_instance *instance)
{
    for (uint32_t i = 0; i < instance->tiles * ZETA_VGPU_UNITS; i++) {
        struct zeta_vgpu_holder *holder =
            &instance->segment->holders[i / ZETA_VGPU_UNITS][i % ZETA_VGPU_UNITS];

        if (atomic_load(&holder->period_ns) != 0 &&
            !zeta_vgpu_process_alive(atomic_load(&holder->pid), atomic_load(&holder->start_time)))
            atomic_store(&holder->period_ns, 0);
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
