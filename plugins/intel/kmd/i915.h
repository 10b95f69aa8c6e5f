#ifndef ZETA_PLUGINS_INTEL_KMD_I915_H
#define ZETA_PLUGINS_INTEL_KMD_I915_H

/*
 * The parts of the table of i915, each in the file of its name.
 */

#include "plugins/intel/kmd/kmd.h"

/** Revisions of the perf interface that brought something that is used here. */
enum {
    ZETA_INTEL_I915_POLL_PERIOD = 5,  /**< how often the kernel looks for reports */
    ZETA_INTEL_I915_ENGINE = 6,       /**< the unit is chosen by an engine */
    ZETA_INTEL_I915_MEDIA_ENGINES = 7 /**< units of media engines */
};

uint32_t zeta_intel_i915_probe(struct zeta_intel_gpu *gpu);
uint32_t zeta_intel_i915_clock(struct zeta_intel_gpu *gpu, uint32_t tile,
                               struct zeta_plugin_clock *out_clock);
uint32_t zeta_intel_i915_config_get(struct zeta_intel_gpu *gpu,
                                    const struct zeta_intel_program *program, uint64_t *out_config);
void zeta_intel_i915_config_remove(struct zeta_intel_gpu *gpu, uint64_t config);
uint32_t zeta_intel_i915_stream_open(struct zeta_intel_gpu *gpu,
                                     const struct zeta_intel_stream_request *request,
                                     struct zeta_intel_kernel_stream **out_stream);
uint32_t zeta_intel_i915_stream_read(struct zeta_intel_kernel_stream *stream, void *buffer,
                                     uint64_t capacity_bytes, struct zeta_plugin_read *out_read);
void zeta_intel_i915_stream_close(struct zeta_intel_kernel_stream *stream);

uint64_t zeta_intel_i915_min_period_ns(const struct zeta_intel_unit *unit, bool for_everybody);

/** Revision of the perf interface; 0: the kernel has none. */
uint32_t zeta_intel_i915_perf_revision(const struct zeta_intel_gpu *gpu);

/**
 * Turns the kernel's answer to a call about perf into a result with a sentence.
 *
 * @error  errno, positive
 * @what   what was asked: "to open a stream of the unit oa"
 */
uint32_t zeta_intel_i915_fail(struct zeta_intel_gpu *gpu, int error, const char *what);

#endif
