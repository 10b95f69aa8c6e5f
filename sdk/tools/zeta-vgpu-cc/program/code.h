/*
 * Code of several kernels: what belongs to one kernel lies together, so that an address tells the
 * kernel.
 */
#ifndef ZETA_SDK_TOOLS_ZETA_VGPU_CC_PROGRAM_CODE_H
#define ZETA_SDK_TOOLS_ZETA_VGPU_CC_PROGRAM_CODE_H

#include "program.h"

/**
 * Gives each kernel a section with its function, its entry stub, and the functions that only it
 * calls. Once, when nothing will be optimised any more. What several kernels call stays where it
 * is, which is behind these sections (vgpu.ld).
 */
void zeta_cc_program_place_code(struct zeta_cc_program *program);

#endif
