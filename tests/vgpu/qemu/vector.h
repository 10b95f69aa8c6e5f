#ifndef ZETA_TESTS_VGPU_QEMU_VECTOR_H
#define ZETA_TESTS_VGPU_QEMU_VECTOR_H

/*
 * One instruction with all registers before (and, in the answer, after) it. The same layout and
 * the same addresses are used by the test and by the program that runs under qemu-riscv64.
 */

#include <stdint.h>

/* Where the memory that vectors access lies; low, as sanitizers keep higher addresses. */
#define VECTOR_SCRATCH UINT64_C(0x50000000)
#define VECTOR_SCRATCH_MIDDLE (VECTOR_SCRATCH + 2048)
/* The page with the code, and the instruction in it. The one behind it adds 1 to x30. */
#define VECTOR_CODE UINT64_C(0x50100000)
#define VECTOR_PC (VECTOR_CODE + 2048)

enum {
    VECTOR_PAGE_BYTES = 4096,
    VECTOR_MEMORY_BYTES = 64, /* from VECTOR_SCRATCH_MIDDLE - 32 */
    VECTOR_REGISTERS = 31     /* x31 belongs to the harness */
};

struct vector {
    uint64_t x[32];
    uint64_t f[32];
    uint64_t fcsr;
    uint64_t saved_sp; /* of the harness */
    uint8_t memory[VECTOR_MEMORY_BYTES];
    uint32_t word;
    uint32_t reserved;
};

#endif
