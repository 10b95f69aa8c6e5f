/*
 * Calls of printf. A variable argument list of RV64 has no simple form for vectors, so each call
 * becomes stores into slots of 8 bytes and a call of the runtime library.
 */
#ifndef ZETA_SDK_TOOLS_ZETA_VGPU_CC_PROGRAM_PRINT_H
#define ZETA_SDK_TOOLS_ZETA_VGPU_CC_PROGRAM_PRINT_H

#include "program.h"

/**
 * Replaces the calls of printf, unless the program defines its own. False when one has an argument
 * that no conversion prints; the log says so.
 *
 * Each scalar and each component of a vector has a slot: floating-point values of any width as
 * double, integers extended, pointers as they are. In OpenCL C printf gives 0, in C the length.
 */
bool zeta_cc_program_lower_print(struct zeta_cc_program *program);

#endif
