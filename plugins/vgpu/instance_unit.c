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
