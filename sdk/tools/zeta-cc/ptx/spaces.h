/*
 * Address spaces: front ends number them as SPIR does, NVPTX in its own way. What LLVM offers for
 * it is in C++ only (version 15).
 */
#ifndef ZETA_SDK_TOOLS_ZETA_CC_PTX_SPACES_H
#define ZETA_SDK_TOOLS_ZETA_CC_PTX_SPACES_H

#include <llvm-c/Core.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Makes pointers to constants (2) those to global memory (1), because an argument may be either,
 * and generic pointers (4) those without a space (0), in all types, constants and instructions of a
 * module.
 */
void zeta_cc_ptx_map_spaces(LLVMModuleRef module);

#ifdef __cplusplus
}
#endif

#endif
