#include "instance.h"

#include <unistd.h>

#include <zeta/plugin_host.h>
#include <zeta/thread.h>

#include "plugins/vgpu/device/vgpu.h"

uint32_t zeta_vgpu_instance_get(struct zeta_vgpu *vgpu, struct zeta_vgpu_instance **out_instance)
{
    const struct zeta_vgpu_description *d = &vgpu->description;
    struct zeta_vgpu_instance *instance = atomic_load(&vgpu->instance);
    enum zeta_vgpu_result result = ZETA_VGPU_OK;
    struct zeta_vgpu_message message;

    if (!instance) {
        const struct zeta_vgpu_instance_desc desc = {
            .name = d->instance,
            .tiles = d->tiles,
            .rows_per_tile = zeta_vgpu_topology_subslices(&d->topology) + 1,
            .wrap_soon_s = d->faults.wrap_soon,
        };

        pthread_mutex_lock(&vgpu->instance_lock);
        instance = atomic_load(&vgpu->instance);
        if (!instance)
            result = zeta_vgpu_instance_attach(&desc, &message, &instance);
        if (result == ZETA_VGPU_OK)
            atomic_store(&vgpu->instance, instance);
        pthread_mutex_unlock(&vgpu->instance_lock);
    }
    if (result == ZETA_VGPU_OK && zeta_vgpu_instance_damaged(instance, &message))
        result = ZETA_VGPU_INVALID_ARGUMENT;
    *out_instance = instance;
    if (result == ZETA_VGPU_OK)
        return ZETA_PLUGIN_SUCCESS;
    return zeta_host_fail(&vgpu->self->host,
                          result == ZETA_VGPU_OUT_OF_MEMORY ? ZETA_PLUGIN_OUT_OF_HOST_MEMORY
                                                            : ZETA_PLUGIN_NOT_AVAILABLE,
                          "%s", message.text);
}

void zeta_vgpu_report_damage(struct zeta_vgpu *vgpu)
{
    struct zeta_vgpu_message message;

    if (zeta_vgpu_instance_damaged(atomic_load(&vgpu->instance), &message) &&
        !atomic_exchange(&vgpu->damage_reported, true))
        zeta_host_log(&vgpu->self->host, ZETA_PLUGIN_LOG_ERROR, "%s", message.text);
}

uint64_t zeta_vgpu_ticks(const struct zeta_vgpu *vgpu, uint32_t tile)
{
    const struct zeta_vgpu_instance *instance = atomic_load(&vgpu->instance);

    if (vgpu->description.clock == ZETA_VGPU_CLOCK_VIRTUAL)
        return zeta_vgpu_ticks_for(&vgpu->description,
                                   atomic_load(&vgpu->work[tile].kernel_clocks) +
                                       atomic_load(&vgpu->work[tile].copy_clocks));
    return zeta_monotonic_ns() / ZETA_VGPU_TICK_NS +
           (instance ? zeta_vgpu_instance_offset(instance) : 0);
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
