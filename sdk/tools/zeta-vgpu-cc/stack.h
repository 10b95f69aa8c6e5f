/*
 * How much private memory kernels need: the frames of the deepest chain of calls.
 */
#ifndef ZETA_VGPU_CC_STACK_H
#define ZETA_VGPU_CC_STACK_H

#include "program.h"

/**
 * Writes private_bytes into the records of a linked program's kernels. It stays 0, unknown, for a
 * kernel that calls through pointers, into other modules or recursively.
 *
 * Frames come from section .stack_sizes, calls from the program as it was emitted.
 */
void zeta_cc_stack_write(const struct zeta_cc_program *program, struct zeta_cc_buffer *elf);

#endif
