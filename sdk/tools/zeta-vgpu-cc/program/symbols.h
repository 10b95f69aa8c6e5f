/*
 * What a program needs and does not have: builtins that the virtual GPU lacks are errors with
 * words, everything else is an import from another module.
 */
#ifndef ZETA_SDK_TOOLS_ZETA_VGPU_CC_PROGRAM_SYMBOLS_H
#define ZETA_SDK_TOOLS_ZETA_VGPU_CC_PROGRAM_SYMBOLS_H

#include "program.h"

/**
 * Refuses kernels that the virtual GPU cannot start: image, sampler, pipe and queue arguments, and
 * sub-groups of more than one item. Before conventions are changed.
 */
bool zeta_cc_program_check_kernels(struct zeta_cc_program *program);

/**
 * Collects the imports, once the runtime library is linked. False when a builtin is missing; the
 * log names it and a kernel that needs it.
 *
 * @runtime  path of the runtime library
 */
bool zeta_cc_program_check_symbols(struct zeta_cc_program *program, const char *runtime);

#endif
