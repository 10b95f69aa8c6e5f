/*
 * How much memory kernels need: private, which is the frames of the deepest chain of calls, and
 * shared local. Both are known too late to be written by LLVM.
 */
#ifndef ZETA_SDK_TOOLS_ZETA_VGPU_CC_LINK_NEEDS_H
#define ZETA_SDK_TOOLS_ZETA_VGPU_CC_LINK_NEEDS_H

#include "sdk/tools/zeta-vgpu-cc/program/program.h"

/**
 * Writes the needs into the records of a linked program's kernels. Private memory stays 0, unknown,
 * for a kernel that calls through pointers, into other modules or recursively.
 *
 * Frames come from section .stack_sizes, calls from the program as it was emitted.
 */
void zeta_cc_needs_write(const struct zeta_cc_program *program, struct zeta_cc_buffer *elf);

#endif
