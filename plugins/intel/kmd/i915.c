/*
 * The driver i915: the table, its clock, what its errors mean, and configurations of counters,
 * which the kernel keeps for everybody until the next boot.
 */
#include "plugins/intel/kmd/i915.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <zeta/clock.h>

#include "plugins/intel/kmd/i915_uapi.h"
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
            return zeta_intel_i915_fail(gpu, -error, "to read its clock");
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

uint32_t zeta_intel_i915_fail(struct zeta_intel_gpu *gpu, int error, const char *what)
{
    const struct zeta_intel_errno_text why = zeta_intel_errno(error);
    uint32_t result = ZETA_PLUGIN_UNKNOWN;
    const char *advice = "see the kernel's log (dmesg)";

    if (error == EACCES || error == EPERM)
        return zeta_intel_fail_permission(gpu, what, error, "dev.i915.perf_stream_paranoid");
    if (error == ENODEV) {
        atomic_store(&gpu->is_lost, true);
        result = ZETA_PLUGIN_DEVICE_LOST;
        advice = "the GPU or its driver was removed";
    } else if (error == ENOMEM) {
        result = ZETA_PLUGIN_OUT_OF_HOST_MEMORY;
        advice = "the kernel has no memory for its buffer of 16 MiB";
    } else if (error == EMFILE || error == ENFILE) {
        result = ZETA_PLUGIN_NOT_AVAILABLE;
        advice = "too many files are open (ulimit -n)";
    } else if (error == ZETA_INTEL_ENOTSUPP) {
        result = ZETA_PLUGIN_NOT_AVAILABLE;
        advice = "it has no OA unit for this GPU, as in guests that have a part of one";
    }
    return zeta_host_fail(gpu->host, result, "%s (%s): i915 was asked %s and answered %s: %s",
                          gpu->name, gpu->id, what, why.text, advice);
}

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

static uint32_t config_get(struct zeta_intel_gpu *gpu, const struct zeta_intel_program *program,
                           uint64_t *out_config)
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

static void config_remove(struct zeta_intel_gpu *gpu, uint64_t config)
{
    (void)zeta_intel_ioctl(gpu->fd, DRM_IOCTL_I915_PERF_REMOVE_CONFIG, &config);
}

static bool counts_on(const struct zeta_intel_platform *platform)
{
    return platform->has_i915;
}

static bool find_format(const struct zeta_intel_format *format, uint32_t *out_number)
{
    *out_number = format->i915;
    return format->i915 != 0;
}

static const char *stream_name(const struct zeta_intel_unit *unit)
{
    (void)unit;
    return "i915_perf";
}

const struct zeta_intel_kmd zeta_intel_i915 = {
    .driver = "i915",
    .probe = zeta_intel_i915_probe,
    .clock = read_clock,
    .config_get = config_get,
    .config_remove = config_remove,
    .stream_open = zeta_intel_i915_stream_open,
    .stream_read = zeta_intel_i915_stream_read,
    .stream_close = zeta_intel_i915_stream_close,
    .min_period_ns = zeta_intel_i915_min_period_ns,
    .counts_on = counts_on,
    .format = find_format,
    .stream_name = stream_name,
};
