#include "instance.h"

#include <unistd.h>

#include "instance_layout.h"

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

bool zeta_vgpu_instance_switches_wanted(const struct zeta_vgpu_instance *instance, uint32_t tile)
{
    const struct zeta_vgpu_holder *holders = instance->segment->holders[tile];

    for (uint32_t unit = 0; unit < ZETA_VGPU_UNITS; unit++) {
        if (atomic_load_explicit(&holders[unit].pid, memory_order_relaxed) != 0 &&
            atomic_load_explicit(&holders[unit].wants_switches, memory_order_relaxed) != 0)
            return true;
    }
    return false;
}

void zeta_vgpu_instance_log_switch(struct zeta_vgpu_instance *instance, uint32_t tile,
                                   uint64_t context, uint64_t (*clock)(void *), void *clock_context)
{
    struct zeta_vgpu_switch_log *log = &instance->segment->logs[tile];
    uint64_t totals[ZETA_VGPU_TILE_ROWS][ZETA_VGPU_COUNTER_COUNT];
    struct zeta_vgpu_log_entry *entry;
    uint64_t position;

    if (!zeta_vgpu_instance_lock(instance))
        return;
    if (zeta_vgpu_instance_totals(instance, tile, totals)) {
        position = atomic_load(&log->head);
        entry = &log->entries[position % ZETA_VGPU_LOG_SIZE];
        /* Invalid while it is written; who dies here leaves an entry that nobody takes. */
        atomic_store(&entry->number, 0);
        atomic_store(&entry->ticks, clock(clock_context));
        atomic_store(&entry->context, context);
        for (uint32_t r = 0; r < instance->rows_per_tile; r++) {
            for (uint32_t i = 0; i < ZETA_VGPU_COUNTER_COUNT; i++)
                atomic_store_explicit(&entry->totals[r][i], totals[r][i], memory_order_release);
        }
        atomic_store(&entry->number, position + 1);
        atomic_store(&log->head, position + 1);
    }
    zeta_vgpu_instance_unlock(instance);
}

uint64_t zeta_vgpu_instance_switch_head(const struct zeta_vgpu_instance *instance, uint32_t tile)
{
    return atomic_load(&instance->segment->logs[tile].head);
}

static bool read_entry(const struct zeta_vgpu_instance *instance,
                       const struct zeta_vgpu_log_entry *entry, uint64_t number,
                       struct zeta_vgpu_switch *out_switch)
{
    if (atomic_load(&entry->number) != number)
        return false;
    out_switch->ticks = atomic_load(&entry->ticks);
    out_switch->context = atomic_load(&entry->context);
    for (uint32_t r = 0; r < instance->rows_per_tile; r++) {
        for (uint32_t i = 0; i < ZETA_VGPU_COUNTER_COUNT; i++)
            out_switch->totals[r][i] =
                atomic_load_explicit(&entry->totals[r][i], memory_order_acquire);
    }
    return atomic_load(&entry->number) == number;
}

bool zeta_vgpu_instance_next_switch(const struct zeta_vgpu_instance *instance, uint32_t tile,
                                    uint64_t *cursor, struct zeta_vgpu_switch *out_switch)
{
    const struct zeta_vgpu_switch_log *log = &instance->segment->logs[tile];
    uint64_t head = atomic_load(&log->head);

    if (*cursor > head)
        *cursor = head;
    if (head - *cursor > ZETA_VGPU_LOG_SIZE)
        *cursor = head - ZETA_VGPU_LOG_SIZE;
    while (*cursor < head) {
        const struct zeta_vgpu_log_entry *entry = &log->entries[*cursor % ZETA_VGPU_LOG_SIZE];

        (*cursor)++;
        if (read_entry(instance, entry, *cursor, out_switch))
            return true;
    }
    return false;
}
