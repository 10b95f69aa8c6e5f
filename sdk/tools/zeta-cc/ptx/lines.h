/*
 * Lines of the source in PTX. What LLVM offers for it is in C++ only (version 15).
 */
#ifndef ZETA_SDK_TOOLS_ZETA_CC_PTX_LINES_H
#define ZETA_SDK_TOOLS_ZETA_CC_PTX_LINES_H

#include <llvm-c/Core.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Keeps of the debug information what becomes .file and .loc, and takes all else away: sections of
 * it have names that PTX does not allow, and variables would change the code.
 */
void zeta_cc_ptx_keep_lines(LLVMModuleRef module);

/** Makes the function of the source that @from is the one of @to, into which it will be inlined. */
void zeta_cc_ptx_move_lines(LLVMValueRef from, LLVMValueRef to);

#ifdef __cplusplus
}
#endif

#endif
