/*
 * The driver i915: the table, and the clock.
 */
#include "i915.h"

const struct zeta_intel_kmd zeta_intel_i915 = {
    .driver = "i915",
    .probe = zeta_intel_i915_probe,
};
