/*
 * Configurations of counters: looked up by uuid, else given to the kernel, which keeps them for
 * everybody until the next boot.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "plugins/intel/kmd/i915.h"
#include "plugins/intel/kmd/i915_uapi.h"
#include "plugins/intel/kmd/kernel.h"

_Static_assert(sizeof(struct zeta_intel_register) == 8, "the kernel takes pairs of 32 bits");

/* Uploads a program, a list of each class: its id, or the negative errno. */
static int64_t upload(const struct zeta_intel_gpu *gpu, const struct zeta_intel_program *program)
{
    struct drm_i915_perf_oa_config config = {
        .n_mux_regs = program->counts[ZETA_INTEL_REGISTER_MUX],
        .n_boolean_regs = program->counts[ZETA_INTEL_REGISTER_BOOLEAN],
        .n_flex_regs = program->counts[ZETA_INTEL_REGISTER_FLEX],
    };
    const struct zeta_intel_register *at = program->registers;

    memcpy(config.uuid, program->uuid, sizeof(config.uuid));
    if (config.n_mux_regs > 0)
        config.mux_regs_ptr = (uintptr_t)at;
    at += config.n_mux_regs;
    if (config.n_boolean_regs > 0)
        config.boolean_regs_ptr = (uintptr_t)at;
    at += config.n_boolean_regs;
    if (config.n_flex_regs > 0)
        config.flex_regs_ptr = (uintptr_t)at;
    return zeta_intel_ioctl(gpu->fd, DRM_IOCTL_I915_PERF_ADD_CONFIG, &config);
}

uint32_t zeta_intel_i915_config_get(struct zeta_intel_gpu *gpu,
                                    const struct zeta_intel_program *program, uint64_t *out_config)
{
    char what[128];
    int64_t id;

    if (zeta_intel_config_find(gpu, program->uuid, out_config))
        return ZETA_PLUGIN_SUCCESS;
    id = upload(gpu, program);
    if (id > 0) {
        *out_config = (uint64_t)id;
        return ZETA_PLUGIN_SUCCESS;
    }
    /* Another process was faster; its configuration is the same one, by the uuid. */
    if (id == -EADDRINUSE && zeta_intel_config_find(gpu, program->uuid, out_config))
        return ZETA_PLUGIN_SUCCESS;
    if (id == -EINVAL)
        return zeta_host_fail(gpu->host, ZETA_PLUGIN_INVALID_ARGUMENT,
                              "%s (%s): the kernel refused the configuration %s with EINVAL: it "
                              "does not let programs write one of its %u registers, or the "
                              "directory %.64s/metrics is missing; a newer kernel may know them",
                              gpu->name, gpu->id, program->uuid, program->count, gpu->card);
    (void)snprintf(what, sizeof(what), "to take the configuration %s of counters", program->uuid);
    return zeta_intel_i915_fail(gpu, id < 0 ? (int)-id : EINVAL, what);
}

void zeta_intel_i915_config_remove(struct zeta_intel_gpu *gpu, uint64_t config)
{
    (void)zeta_intel_ioctl(gpu->fd, DRM_IOCTL_I915_PERF_REMOVE_CONFIG, &config);
}
