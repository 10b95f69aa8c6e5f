/* What tests do to a machine: time, misbehaviour, questions. */

#include <stdatomic.h>
#include <string.h>

#include "tests/kmd/machine/machine.h"

/* Calls a function for each open stream of a GPU. The lock is held. */
static void each_stream(struct kmd_gpu *gpu,
                        void (*function)(struct kmd_gpu *gpu, struct kmd_unit *unit,
                                         uint64_t value),
                        uint64_t value)
{
    for (uint32_t i = 0; i < gpu->unit_count; i++) {
        if (gpu->units[i].stream.is_open && kmd_stream_is_alive(gpu, &gpu->units[i]))
            function(gpu, &gpu->units[i], value);
    }
}

static void tick(struct kmd_gpu *gpu, struct kmd_unit *unit, uint64_t value)
{
    (void)value;
    kmd_stream_tick(gpu, unit);
}

void kmd_advance(struct kmd_machine *machine, uint64_t ns)
{
    struct kmd_shared *shared = kmd_machine_shared(machine);

    /* Nobody sees the time that has come before the kernel has looked at its reports. */
    for (uint32_t i = 0; i < shared->gpu_count; i++)
        kmd_lock(&shared->gpus[i]);
    (void)atomic_fetch_add(&shared->manual_ns, ns);
    for (uint32_t i = 0; i < shared->gpu_count; i++)
        each_stream(&shared->gpus[i], tick, 0);
    for (uint32_t i = shared->gpu_count; i > 0; i--)
        kmd_unlock(&shared->gpus[i - 1]);
}

static void set_read_errno(struct kmd_gpu *gpu, struct kmd_unit *unit, uint64_t value)
{
    (void)gpu;
    unit->stream.read_errno = (uint32_t)value;
}

static void add_lost(struct kmd_gpu *gpu, struct kmd_unit *unit, uint64_t value)
{
    if (unit->stream.lose == 0)
        unit->stream.lose_tick = kmd_unit_ticks(gpu, unit, kmd_now_ns());
    unit->stream.lose += value;
}

static void lose_buffer(struct kmd_gpu *gpu, struct kmd_unit *unit, uint64_t value)
{
    if (unit->stream.enabled)
        kmd_ring_overflow(unit, kmd_unit_ticks(gpu, unit, kmd_now_ns()), value);
    /* Of OA: a ring that overflows has reports. Of EU stalls nobody is woken by a drop. */
    if (unit->kind != KMD_UNIT_EU_STALL)
        kmd_stream_set_readable(gpu, unit, -1, true);
}

static void set_short_reads(struct kmd_gpu *gpu, struct kmd_unit *unit, uint64_t value)
{
    (void)gpu;
    unit->stream.short_reads = value;
}

static void add_false_polls(struct kmd_gpu *gpu, struct kmd_unit *unit, uint64_t value)
{
    unit->stream.false_polls += value;
    kmd_stream_set_readable(gpu, unit, -1, true);
}

static void wake(struct kmd_gpu *gpu, struct kmd_unit *unit, uint64_t value)
{
    (void)value;
    kmd_stream_set_readable(gpu, unit, -1, true);
}

static void restart(struct kmd_gpu *gpu, struct kmd_unit *unit, uint64_t value)
{
    (void)value;
    if (unit->stream.enabled)
        kmd_ring_start(gpu, unit);
}

static void add_switches(struct kmd_gpu *gpu, struct kmd_unit *unit, uint64_t value)
{
    kmd_ring_add_switches(gpu, unit, value);
}

static void raise_status(struct kmd_gpu *gpu, struct kmd_unit *unit, uint64_t value)
{
    if (gpu->is_xe && unit->kind != KMD_UNIT_EU_STALL)
        unit->stream.losses |= (uint32_t)value & (KMD_LOST_COUNTS | KMD_LOST_TRIGGERS);
}

static bool has_streams(struct kmd_gpu *gpu)
{
    for (uint32_t i = 0; i < gpu->unit_count; i++) {
        if (gpu->units[i].stream.is_open && kmd_stream_is_alive(gpu, &gpu->units[i]))
            return true;
    }
    return false;
}

static void set_idle(struct kmd_gpu *gpu, bool is_idle)
{
    const uint64_t now = kmd_now_ns();
    const bool was_idle =
        gpu->idle_count > 0 && gpu->idles[gpu->idle_count - 1].to_ns == UINT64_MAX;

    if (is_idle == was_idle)
        return;
    if (was_idle) {
        gpu->idles[gpu->idle_count - 1].to_ns = now;
        return;
    }
    if (gpu->idle_count == KMD_IDLES) {
        memmove(&gpu->idles[0], &gpu->idles[1], sizeof(gpu->idles) - sizeof(gpu->idles[0]));
        gpu->idle_count--;
    }
    gpu->idles[gpu->idle_count].from_ns = now;
    gpu->idles[gpu->idle_count].to_ns = UINT64_MAX;
    gpu->idle_count++;
}

static void reset(struct kmd_gpu *gpu)
{
    gpu->clock.from_ns = kmd_now_ns();
    gpu->clock.first_ticks = 0;
    gpu->idle_count = 0;
    each_stream(gpu, restart, 0);
}

static void unplug(struct kmd_gpu *gpu)
{
    atomic_store(&gpu->is_unplugged, true);
    each_stream(gpu, wake, 0);
}

/* For the stream that comes when there is none. */
static void keep_or_do(struct kmd_gpu *gpu, uint64_t *kept, uint64_t value,
                       void (*function)(struct kmd_gpu *gpu, struct kmd_unit *unit, uint64_t value))
{
    if (has_streams(gpu))
        each_stream(gpu, function, value);
    else
        *kept += value;
}

static void do_fault(struct kmd_gpu *gpu, enum kmd_fault fault, uint64_t value)
{
    switch (fault) {
    case KMD_FAULT_OPEN_ERRNO:
        gpu->open_errno = (uint32_t)value;
        break;
    case KMD_FAULT_READ_ERRNO:
        each_stream(gpu, set_read_errno, value);
        break;
    case KMD_FAULT_LOSE_REPORTS:
        keep_or_do(gpu, &gpu->fault_lose, value, add_lost);
        break;
    case KMD_FAULT_LOSE_BUFFER:
        each_stream(gpu, lose_buffer, value);
        break;
    case KMD_FAULT_SHORT_READS:
        gpu->fault_short_reads = value;
        each_stream(gpu, set_short_reads, value);
        break;
    case KMD_FAULT_FALSE_POLL:
        each_stream(gpu, add_false_polls, value);
        break;
    case KMD_FAULT_RESET:
        reset(gpu);
        break;
    case KMD_FAULT_UNPLUG:
        unplug(gpu);
        break;
    case KMD_FAULT_IDLE:
        set_idle(gpu, value != 0);
        break;
    case KMD_FAULT_CONTEXT_SWITCH:
        keep_or_do(gpu, &gpu->fault_switches, value, add_switches);
        break;
    case KMD_FAULT_STATUS:
        each_stream(gpu, raise_status, value);
        break;
    }
}

void kmd_fault(struct kmd_machine *machine, uint32_t device, enum kmd_fault fault, uint64_t value)
{
    struct kmd_shared *shared = kmd_machine_shared(machine);

    if (device >= shared->gpu_count)
        return;
    kmd_lock(&shared->gpus[device]);
    do_fault(&shared->gpus[device], fault, value);
    kmd_unlock(&shared->gpus[device]);
}

static uint64_t count_open_locked(struct kmd_gpu *gpu)
{
    uint64_t count = 0;

    for (uint32_t i = 0; i < gpu->unit_count; i++)
        count += gpu->units[i].stream.is_open && kmd_stream_is_alive(gpu, &gpu->units[i]);
    return count;
}

static uint64_t count_waiting_locked(struct kmd_gpu *gpu)
{
    uint64_t count = 0;

    for (uint32_t i = 0; i < gpu->unit_count; i++) {
        struct kmd_unit *unit = &gpu->units[i];

        if (unit->kind != KMD_UNIT_EU_STALL && unit->stream.is_open && unit->stream.enabled)
            count += kmd_ring_available(gpu, unit);
    }
    return count;
}

uint64_t kmd_statistic(const struct kmd_machine *machine, uint32_t device,
                       enum kmd_statistic statistic)
{
    struct kmd_shared *shared = kmd_machine_shared(machine);
    struct kmd_gpu *gpu;
    uint64_t value;

    if (device >= shared->gpu_count)
        return 0;
    gpu = &shared->gpus[device];
    kmd_lock(gpu);
    if (statistic == KMD_STAT_STREAMS_OPEN)
        value = count_open_locked(gpu);
    else if (statistic == KMD_STAT_REPORTS_WAITING)
        value = count_waiting_locked(gpu);
    else
        value = gpu->statistics[statistic];
    kmd_unlock(gpu);
    return value;
}
