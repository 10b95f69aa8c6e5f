#ifndef ZETA_PLUGINS_VGPU_MACHINE_HART_H
#define ZETA_PLUGINS_VGPU_MACHINE_HART_H

/* A hart: its registers, and the instructions that it executes. */

#include <stdint.h>

/** A decoded instruction, with the sums over itself and the rest of its basic block. */
struct zeta_rv64_insn {
    uint8_t op; /**< enum rv64_op */
    uint8_t rd; /**< 0..32; 32 takes writes to x0 */
    uint8_t rs1;
    uint8_t rs2;
    /**
     * Immediate. Branch, jal: distance in instructions. Rounded floating point: rs3 in bits
     * 0..7, rounding mode in bits 8..15. CSR: number. BRANCH_OUT, JAL_OUT: distance in bytes.
     */
    int32_t imm;
    uint64_t low;     /**< 16 bits each from bit 0 up: retired, int, fp32, fp64 */
    uint64_t high;    /**< flops, branches, memory instructions, latency */
    uint32_t index;   /**< of this instruction */
    uint8_t unsplit;  /**< op that SPLIT replaced */
    uint8_t original; /**< op of the instruction word itself */
};

/** A hart's registers. f registers hold NaN-boxed singles. */
struct zeta_rv64_hart {
    uint64_t x[33]; /**< x[0] stays 0; x[32] takes the writes to x0 */
    uint64_t f[32];
    uint64_t pc;
    uint8_t fflags; /**< NV 16, DZ 8, OF 4, UF 2, NX 1 */
    uint8_t frm;
    uint8_t reserved_bytes; /**< of the load reservation, 0: none */
    uint64_t reserved_address;
    uint64_t reserved_value;
};

#endif
