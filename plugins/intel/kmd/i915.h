#ifndef ZETA_PLUGINS_INTEL_KMD_I915_H
#define ZETA_PLUGINS_INTEL_KMD_I915_H

/*
 * What the files of i915's side share. First the kernel's interface: what libdrm's header has,
 * checked, and what it does not have yet (it is of 2022 in Debian 12). Source of both: the kernel's
 * include/uapi/drm/i915_drm.h.
 */

#include <stddef.h>
#include <stdint.h>

#include <i915_drm.h>

#include "plugins/intel/kmd/kmd.h"

/** Ticks per second of the OA unit's clock. */
#define ZETA_I915_PARAM_OA_TIMESTAMP_FREQUENCY 57

/** Properties of perf revision 6: the engine whose unit is meant. */
#define ZETA_I915_PROP_OA_ENGINE_CLASS 9
#define ZETA_I915_PROP_OA_ENGINE_INSTANCE 10

/** The register of the render engine's clock. */
#define ZETA_I915_RENDER_TIMESTAMP 0x2358u
/** Bits that it counts with. */
#define ZETA_I915_TIMESTAMP_BITS 36u

_Static_assert(DRM_IOCTL_I915_GETPARAM == 0xc0106446, "number of GETPARAM");
_Static_assert(DRM_IOCTL_I915_REG_READ == 0xc0106471, "number of REG_READ");
_Static_assert(DRM_IOCTL_I915_PERF_OPEN == 0x40106476, "number of PERF_OPEN");
_Static_assert(DRM_IOCTL_I915_PERF_ADD_CONFIG == 0x40486477, "number of PERF_ADD_CONFIG");
_Static_assert(DRM_IOCTL_I915_PERF_REMOVE_CONFIG == 0x40086478, "number of PERF_REMOVE_CONFIG");
_Static_assert(DRM_IOCTL_I915_QUERY == 0xc0106479, "number of QUERY");
_Static_assert(sizeof(struct drm_i915_perf_open_param) == 16, "size of the open parameters");
_Static_assert(offsetof(struct drm_i915_perf_open_param, properties_ptr) == 8, "its pairs");
_Static_assert(sizeof(struct drm_i915_perf_record_header) == 8, "size of a record's header");
_Static_assert(offsetof(struct drm_i915_perf_record_header, size) == 6, "size in that header");
_Static_assert(sizeof(struct drm_i915_perf_oa_config) == 72, "size of a configuration");
_Static_assert(offsetof(struct drm_i915_perf_oa_config, mux_regs_ptr) == 48, "its registers");
_Static_assert(sizeof(struct drm_i915_query_item) == 24, "size of a query");
_Static_assert(sizeof(struct drm_i915_engine_info) == 56, "size of an engine");
_Static_assert(offsetof(struct drm_i915_query_engine_info, engines) == 16, "the engines");
_Static_assert(sizeof(struct drm_i915_memory_region_info) == 88, "size of a memory");
_Static_assert(offsetof(struct drm_i915_query_memory_regions, regions) == 16, "the memories");
_Static_assert(DRM_I915_PERF_PROP_POLL_OA_PERIOD == 8, "last property of libdrm's header");

/** Revisions of the perf interface that brought something that is used here. */
enum {
    ZETA_INTEL_I915_POLL_PERIOD = 5,  /**< how often the kernel polls for reports */
    ZETA_INTEL_I915_ENGINE = 6,       /**< the unit is chosen by an engine */
    ZETA_INTEL_I915_MEDIA_ENGINES = 7 /**< units of media engines */
};

/** Revision of the perf interface; 0: the kernel has none. */
uint32_t zeta_intel_i915_perf_revision(const struct zeta_intel_gpu *gpu);

/** Records that were read and not given yet, each behind a header of 8 bytes. */
struct zeta_intel_i915_records {
    const uint8_t *at;
    size_t bytes;          /**< from there on */
    uint32_t report_bytes; /**< of a report; its record is longer by the header */
    uint32_t reason;       /**< ZETA_PLUGIN_BREAK_*: a lost buffer that no report came after yet */
    bool has_loss;         /**< reports were lost; the caller clears it */
};

/**
 * Copies reports, as many as there is room for, and stops before a lost buffer that follows a
 * report. The record of lost reports comes before reports that were written earlier than the loss,
 * so it stops nothing.
 *
 * @capacity_bytes  room at out_reports
 * @read            bytes are added to; has the break before its first report too
 * False, with what came before, if the rest is no sequence of records; it is dropped then.
 */
bool zeta_intel_i915_records_take(struct zeta_intel_i915_records *records, void *out_reports,
                                  uint64_t capacity_bytes, struct zeta_plugin_read *read);

/* Members of the table, each in the file of its name. */
uint32_t zeta_intel_i915_probe(struct zeta_intel_gpu *gpu);
uint32_t zeta_intel_i915_stream_open(struct zeta_intel_gpu *gpu,
                                     const struct zeta_intel_stream_request *request,
                                     struct zeta_intel_kernel_stream **out_stream);
uint32_t zeta_intel_i915_stream_read(struct zeta_intel_kernel_stream *stream, void *buffer,
                                     uint64_t capacity_bytes, struct zeta_plugin_read *out_read);
void zeta_intel_i915_stream_close(struct zeta_intel_kernel_stream *stream);
uint64_t zeta_intel_i915_min_period_ns(const struct zeta_intel_unit *unit, bool for_everybody);

#endif
