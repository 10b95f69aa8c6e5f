#ifndef ZETA_TESTS_KMD_I915_H
#define ZETA_TESTS_KMD_I915_H

/* What the files of the i915 driver share. */

#include "tests/kmd/machine/kmd_priv.h"

enum {
    I915_CLASS_RENDER = 0,
    I915_CLASS_VIDEO = 2,
    I915_CLASS_VIDEO_ENHANCE = 3,
    I915_FIRST_CONFIG = 2,   /**< id 1 is the kernel's own */
    I915_NOT_SUPPORTED = 524 /**< the kernel's ENOTSUPP, which errno.h does not have */
};

/** Words of struct kmd_stream.driver. */
enum {
    I915_SAMPLES,     /**< reports are wanted */
    I915_ONE_CONTEXT, /**< foreign contexts are hidden */
    I915_TOLD_LOSS    /**< Haswell: of a lost report; the bit is cleared by a start alone */
};

long kmd_i915_query(struct kmd_call *call, uint64_t argument);
long kmd_i915_perf_open(struct kmd_call *call, uint64_t argument);
long kmd_i915_add_config(struct kmd_call *call, uint64_t argument);
long kmd_i915_remove_config(struct kmd_call *call, uint64_t argument);
/** Payload of query 3. The length of the item, or a negative errno. */
int64_t kmd_i915_query_config(struct kmd_gpu *gpu, uint32_t flags, uint64_t data, int32_t length);

long kmd_i915_stream_ioctl(struct kmd_call *call, unsigned long request, uint64_t argument);
ssize_t kmd_i915_stream_read(struct kmd_call *call, uint64_t buffer, size_t bytes);
bool kmd_i915_stream_look(struct kmd_gpu *gpu, struct kmd_unit *unit);

/** The engine, NULL if there is none. */
const struct kmd_engine *kmd_i915_engine(const struct kmd_gpu *gpu, uint64_t class,
                                         uint64_t instance);
/** Does the GPU have OA at all? */
bool kmd_i915_has_oa(const struct kmd_gpu *gpu);
/** Slices, and subslices of a slice, that are there: masks. */
uint32_t kmd_i915_slice_mask(const struct kmd_gpu *gpu);
uint32_t kmd_i915_subslice_mask(const struct kmd_gpu *gpu);

#endif
