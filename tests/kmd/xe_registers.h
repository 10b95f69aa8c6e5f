#ifndef ZETA_TESTS_KMD_XE_REGISTERS_H
#define ZETA_TESTS_KMD_XE_REGISTERS_H

#include <stdbool.h>
#include <stdint.h>

/**
 * Whether a configuration may write a register on a GPU whose graphics IP has this version x 100.
 * Source: lists of the kernel for boolean, mux and flex registers (oa-units reference, section 12).
 */
bool kmd_xe_register_allowed(uint32_t graphics, uint32_t address);

#endif
