#ifndef ZETA_TESTS_VGPU_QEMU_H
#define ZETA_TESTS_VGPU_QEMU_H

#include <stdbool.h>
#include <stddef.h>

/**
 * Runs a static RISC-V program under qemu-riscv64 with @input as its standard input.
 *
 * @out_output  what it wrote, to be freed; NULL when that could not be had
 * False when the program failed or could not be run. The test must have QEMU_PROGRAM defined.
 */
bool qemu_run(const char *program, const void *input, size_t input_bytes, void **out_output,
              size_t *out_output_bytes);

#endif
