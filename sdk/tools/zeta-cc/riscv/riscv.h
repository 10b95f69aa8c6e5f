/*
 * Programs for RV64, which the virtual GPU executes.
 */
#ifndef ZETA_SDK_TOOLS_ZETA_CC_RISCV_RISCV_H
#define ZETA_SDK_TOOLS_ZETA_CC_RISCV_RISCV_H

#include "sdk/tools/zeta-cc/program/program.h"

/* Functions that give bool write into the log why it is false. */

/* ---- entry.c: what the engine starts a kernel with (vgpu_abi.h) ---- */

/** Names of the entry stub of a kernel and of its record, before the kernel's own. */
#define ZETA_CC_ENTRY_PREFIX "__vgpu_entry."
#define ZETA_CC_RECORD_PREFIX "__vgpu_info."

/** Adds for every kernel a stub that fetches the arguments from their block, and a record. */
bool zeta_cc_program_add_entries(struct zeta_cc_program *program);

/** The entry stub of a kernel; null when it has none. */
LLVMValueRef zeta_cc_entry_stub(const struct zeta_cc_program *program, const char *kernel);

/* ---- place.c: places in the address space, once nothing will be optimised any more ---- */

/**
 * Gives each kernel a section with its function, its entry stub, and the functions that only it
 * calls, so that an address identifies the kernel. What several kernels call stays where it is,
 * which is behind these sections (vgpu.ld).
 */
void zeta_cc_program_place_code(struct zeta_cc_program *program);

/**
 * Gives all variables in address space 3 their places in one variable, and notes how much each
 * kernel needs: variables that no kernel uses together lie at the same addresses. Their names stay
 * as aliases.
 *
 * Programs with kernels in C, whose local variables are ordinary ones in a section, stay as they
 * are.
 */
void zeta_cc_program_overlay_locals(struct zeta_cc_program *program);

/* ---- link.c ---- */

/**
 * Links the object of a program with the rest of the runtime library, and writes how much private
 * and shared local memory its kernels need into their records.
 */
enum zeta_compile_status zeta_cc_link(const struct zeta_cc_program *program,
                                      const struct zeta_cc_paths *paths,
                                      const struct zeta_cc_buffer *object,
                                      struct zeta_cc_buffer *out_elf);

#endif
