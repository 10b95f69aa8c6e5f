/*
 * What the engine starts a kernel with: an entry stub that fetches the arguments from their block,
 * and a record in .vgpu.info (vgpu_abi.h).
 */
#ifndef ZETA_SDK_TOOLS_ZETA_VGPU_CC_PROGRAM_ENTRY_H
#define ZETA_SDK_TOOLS_ZETA_VGPU_CC_PROGRAM_ENTRY_H

#include "program.h"

/** Name of the entry stub of a kernel, before the kernel's own. */
#define ZETA_CC_ENTRY_PREFIX "__vgpu_entry."

/** The same for its record. */
#define ZETA_CC_RECORD_PREFIX "__vgpu_info."

/** Adds stub and record of every kernel. False when one cannot be called; the log says why. */
bool zeta_cc_program_add_entries(struct zeta_cc_program *program);

#endif
