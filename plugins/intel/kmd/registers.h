#ifndef ZETA_PLUGINS_INTEL_KMD_REGISTERS_H
#define ZETA_PLUGINS_INTEL_KMD_REGISTERS_H

/*
 * Which registers a program may write. The kernels refuse all others, and so does the plugin, with
 * a sentence that names the register.
 */

#include <stdint.h>

/** What a register belongs to; a kernel that takes lists takes one of each. */
enum zeta_intel_register_class {
    ZETA_INTEL_REGISTER_MUX,     /**< wires events to counters */
    ZETA_INTEL_REGISTER_BOOLEAN, /**< of the OA unit: its boolean counters, filters, triggers */
    ZETA_INTEL_REGISTER_FLEX,    /**< selects what the counters of EUs count */
    ZETA_INTEL_REGISTER_REFUSED
};

/**
 * Class of a register on a platform with this version of the graphics IP, x 100.
 *
 * Source: the allow lists of the kernel's i915_perf.c and xe_oa.c.
 */
enum zeta_intel_register_class zeta_intel_register_classify(uint32_t graphics, uint32_t address);

#endif
