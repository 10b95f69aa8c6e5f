/*
 * Which kernels can come by a variable or a function.
 */
#ifndef ZETA_SDK_TOOLS_ZETA_VGPU_CC_PROGRAM_USERS_H
#define ZETA_SDK_TOOLS_ZETA_VGPU_CC_PROGRAM_USERS_H

#include <stdbool.h>

#include "program.h"

/**
 * Marks the kernels that can come by a value: they or what they call use it, its address, or what
 * holds its address. Functions that other modules can call count as called by all kernels.
 *
 * @used_by  one per kernel of the program; set where it does, else left alone
 */
void zeta_cc_mark_users(const struct zeta_cc_program *program, LLVMValueRef value, bool *used_by);

#endif
