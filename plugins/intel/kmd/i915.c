/*
 * The driver i915: the table, its clock, and configurations of counters, which the kernel keeps for
 * everybody until the next boot.
 */
#include "plugins/intel/kmd/i915.h"

#include <string.h>

#include <zeta/clock.h>

#include "plugins/intel/kmd/kernel.h"

/* The clocks are read together so often, and the closest pair counts. */
#define CLOCK_READS 3

static uint32_t read_clock(struct zeta_intel_gpu *gpu, uint32_t tile,
                           struct zeta_plugin_clock *out_clock)
{
    uint64_t best_ns = UINT64_MAX;

    (void)tile; /* GPUs of i915 have one */
    for (int i = 0; i < CLOCK_READS; i++) {
        struct drm_i915_reg_read question = {.offset =
                                                 ZETA_I915_RENDER_TIMESTAMP | I915_REG_READ_8B_WA};
        const uint64_t before_ns = zeta_monotonic_ns();
        const int error = zeta_intel_ioctl(gpu->fd, DRM_IOCTL_I915_REG_READ, &question);
        const uint64_t after_ns = zeta_monotonic_ns();

        if (error < 0)
            return zeta_intel_fail(gpu, "to read its clock", -error);
        if (after_ns - before_ns >= best_ns)
            continue;
        best_ns = after_ns - before_ns;
        out_clock->device_ticks = question.val & ((UINT64_C(1) << ZETA_I915_TIMESTAMP_BITS) - 1);
        out_clock->host_ns = before_ns + best_ns / 2;
        out_clock->error_ns = (best_ns + 1) / 2;
        out_clock->raw = 0;
    }
    return ZETA_PLUGIN_SUCCESS;
}

_Static_assert(sizeof(struct zeta_intel_register) == 8, "the kernel takes pairs of 32 bits");

/* A list of each class. */
static int64_t config_add(struct zeta_intel_gpu *gpu, const struct zeta_intel_program *program)
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

static void config_remove(struct zeta_intel_gpu *gpu, uint64_t config)
{
    (void)zeta_intel_ioctl(gpu->fd, DRM_IOCTL_I915_PERF_REMOVE_CONFIG, &config);
}

const struct zeta_intel_kmd zeta_intel_i915 = {
    .driver = "i915",
    .sysctl = "dev.i915.perf_stream_paranoid",
    .stream_names = {"i915_perf"}, /* it has no units for EU stalls */
    .probe = zeta_intel_i915_probe,
    .clock = read_clock,
    .config_add = config_add,
    .config_remove = config_remove,
    .stream_open = zeta_intel_i915_stream_open,
    .stream_read = zeta_intel_i915_stream_read,
    .stream_close = zeta_intel_i915_stream_close,
    .min_period_ns = zeta_intel_i915_min_period_ns,
};
