/*
 * The few things that LLVM offers in C++ only (version 15):
 * - the operations of a debug expression, and those of a variable's attachments;
 * - dso_local; demangling; options of a target machine beyond its creation; the scope of an atomic
 * operation, and its order, where LLVMSetOrdering() takes all but loads for stores.
 */
#ifndef ZETA_SDK_TOOLS_ZETA_CC_PROGRAM_LLVM_MORE_H
#define ZETA_SDK_TOOLS_ZETA_CC_PROGRAM_LLVM_MORE_H

#include <stdbool.h>
#include <stdint.h>

#include <llvm-c/Core.h>
#include <llvm-c/TargetMachine.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Sets whether a symbol is the one of this file, whatever other files define. What is not is
 * reached through tables.
 */
void zeta_cc_set_local(LLVMValueRef global, bool is_local);

/**
 * Removes from all debug expressions what debuggers cannot read: address space changes
 * (DW_OP_constu n, DW_OP_swap, DW_OP_xderef), which mean nothing on a machine with one space. And
 * from variables without a name, which string literals have behind SPIR-V, all of it: gdb 13 does
 * not survive them.
 */
void zeta_cc_repair_debug(LLVMModuleRef module);

/** Moves the debug information of variable @from to the place @offset bytes into variable @to. */
void zeta_cc_move_debug(LLVMValueRef from, LLVMValueRef to, uint64_t offset);

/**
 * Sets how to contract, and what an object file shall have: DWARF 4, stack sizes, the ABI.
 *
 * @abi  null: no object file is made
 */
void zeta_cc_machine_options(LLVMTargetMachineRef machine, bool contract, const char *abi);

/** Takes the order from an operation that reads and writes: it is monotonic then. */
void zeta_cc_relax(LLVMValueRef atomic_rmw);

/** Whether an atomic operation that reads and writes is for all devices and the host. */
bool zeta_cc_is_of_system(LLVMValueRef atomic);

/** The declaration behind a mangled name, to be freed; null when it is not mangled. */
char *zeta_cc_demangle(const char *name);

#ifdef __cplusplus
}
#endif

#endif
