/*
 * What is done to SPIR-V before the translator sees it: is it a module for us at all, and the
 * values of its specialization constants. Source of numbers: SPIR-V specification 1.4,
 * sections 2.3, 3.
 */
#ifndef ZETA_SDK_TOOLS_ZETA_VGPU_CC_FRONT_END_SPIRV_H
#define ZETA_SDK_TOOLS_ZETA_VGPU_CC_FRONT_END_SPIRV_H

#include <stdbool.h>
#include <stddef.h>

#include "sdk/tools/zeta-vgpu-cc/request/options.h"

/**
 * True for a well-formed stream of instructions of a module for OpenCL with 64-bit addresses.
 *
 * @words  the module; 4-byte aligned, count words
 *
 * Otherwise the log names the problem. What the instructions mean is the translator's affair.
 */
bool zeta_cc_spirv_check(const uint32_t *words, size_t count, struct zeta_cc_buffer *log);

/**
 * Writes the values of constants into a module that was checked. False when one does not exist or
 * has another size; the log lists those that exist.
 */
bool zeta_cc_spirv_specialize(uint32_t *words, size_t count,
                              const struct zeta_cc_constant *constants, size_t constant_count,
                              struct zeta_cc_buffer *log);

#endif
