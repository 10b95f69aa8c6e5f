/*
 * Shared local memory of several kernels: variables that no kernel uses together lie at the same
 * addresses, so that a kernel needs room for its own only.
 */
#ifndef ZETA_SDK_TOOLS_ZETA_VGPU_CC_PROGRAM_LOCAL_H
#define ZETA_SDK_TOOLS_ZETA_VGPU_CC_PROGRAM_LOCAL_H

#include "program.h"

/**
 * Gives all variables in address space 3 their places in one variable, and notes how much each
 * kernel needs. Once, when nothing will be optimised any more. Their names stay as aliases.
 *
 * Programs with kernels in C, whose local variables are ordinary ones in a section, stay as they
 * are.
 */
void zeta_cc_program_overlay_locals(struct zeta_cc_program *program);

#endif
