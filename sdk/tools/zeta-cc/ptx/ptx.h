/*
 * Programs for NVIDIA's GPUs: PTX, which the driver compiles for the one at hand.
 *
 * Kernels are told in comments before the text, one line each, which the plugin reads:
 *
 *     //zeta kernel NAME arguments pvlooob group 16,16,1 attributes reqd_work_group_size(16,16,1)
 *
 * A letter for each parameter of the entry: p an address; v a value; l local memory, a parameter of
 * 8 bytes, the offset in dynamic shared memory. Behind these come parameters that the program does
 * not set: o a part of the offset of the launch, three of 4 bytes; b the buffer of printf, an
 * address (zeta/kernel_print.h). The group is that which the kernel requires.
 *
 * Of modules that may be linked, more lines tell
 *
 *     //zeta import NAME              what another module has to define
 *     //zeta export NAME              what others may use
 *     //zeta variable N NAME OWN w    a variable of unit N, and its name in the text; w: others
 * have to use this one, as it is written to, else c
 */
#ifndef ZETA_SDK_TOOLS_ZETA_CC_PTX_PTX_H
#define ZETA_SDK_TOOLS_ZETA_CC_PTX_PTX_H

#include "sdk/tools/zeta-cc/program/program.h"

/** Address spaces of NVPTX that differ from those of front ends. */
enum { ZETA_CC_PTX_GENERIC = 0, ZETA_CC_PTX_GLOBAL = 1, ZETA_CC_PTX_SHARED = 3 };

/** What the library asks for the offset of a launch, and for the buffer of printf. */
#define ZETA_CC_PTX_OFFSET "__zeta_global_offset"
#define ZETA_CC_PTX_PRINT "__zeta_print_buffer"

/* ---- kernel.c ---- */

/**
 * Makes an entry of each kernel: what it gets for local memory is an offset in dynamic shared
 * memory, and those that ask for the offset of a launch or for the buffer of printf get these as
 * arguments. The lines about them become the notes of the program. False with a line in the log for
 * kernels that PTX cannot have.
 */
bool zeta_cc_ptx_add_entries(struct zeta_cc_program *program);

/** Gives the calls of what the library asks, all of which are in entries now, the arguments. */
void zeta_cc_ptx_lower_hidden(struct zeta_cc_program *program);

/* ---- symbols.c ---- */

/**
 * Tells imports, exports and variables where modules may be linked. False with a line in the log
 * for imports where there must be none.
 */
bool zeta_cc_ptx_tell_symbols(struct zeta_cc_program *program);

/** Tells the variable with that name of the program, if it is one of those, and its name in PTX. */
void zeta_cc_ptx_tell_variable(struct zeta_cc_program *program, const char *name, const char *own);

/* ---- atomics.c ---- */

/** Makes fences of the orders of atomic operations; optimised already. */
void zeta_cc_ptx_lower_orders(struct zeta_cc_program *program);

/* ---- rotate.c ---- */

/** Makes shifts of rotations of 64 bits; optimised already. */
void zeta_cc_ptx_lower_rotations(struct zeta_cc_program *program);

/* ---- calls.c ---- */

/** A list of functions; all zero is an empty one. */
struct zeta_cc_ptx_functions {
    LLVMValueRef *list;
    size_t count;
};

void zeta_cc_ptx_functions_add(struct zeta_cc_ptx_functions *functions, LLVMValueRef function);
bool zeta_cc_ptx_functions_have(const struct zeta_cc_ptx_functions *functions,
                                LLVMValueRef function);
void zeta_cc_ptx_functions_finish(struct zeta_cc_ptx_functions *functions);

/** Refuses recursion and calls through pointers, for which nobody knows the stack. */
bool zeta_cc_ptx_check_calls(struct zeta_cc_program *program);

/** Adds the function of a name, and all that call it, directly or by others. No recursion. */
void zeta_cc_ptx_find_askers(const struct zeta_cc_program *program, const char *name,
                             struct zeta_cc_ptx_functions *out_askers);

#endif
