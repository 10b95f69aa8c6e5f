#ifndef ZETA_PLUGINS_INTEL_KMD_I915_UAPI_H
#define ZETA_PLUGINS_INTEL_KMD_I915_UAPI_H

/*
 * The interface of i915: what libdrm's header has, checked, and what it does not have yet (it is of
 * 2022 in Debian 12). Source of both: the kernel's include/uapi/drm/i915_drm.h.
 */

#include <stddef.h>
#include <stdint.h>

#include <i915_drm.h>

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

#endif
