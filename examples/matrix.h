/*
 * A product of two square matrices on a device, from loading the kernel to reading the result.
 */
#ifndef ZETA_EXAMPLES_MATRIX_H
#define ZETA_EXAMPLES_MATRIX_H

#include <stdint.h>

#include <level_zero/ze_api.h>

/** The kernel works on tiles of this size; sizes of matrices are multiples of it. */
enum { MATRIX_TILE = 16 };

/**
 * Computes c = a * b for row-major matrices of n x n elements. Ends the program when the device
 * refuses.
 *
 * @kernel_path  native binary or SPIR-V with the kernel "matmul"
 */
void matrix_multiply(ze_context_handle_t context, ze_device_handle_t device,
                     const char *kernel_path, const float *a, const float *b, float *c, uint32_t n);

/** Fills a matrix with small whole numbers, so that every sum is exact in single precision. */
void matrix_fill(float *matrix, uint32_t n, uint32_t seed);

/** The number of elements of c that differ from those of a * b. */
uint64_t matrix_count_wrong(const float *a, const float *b, const float *c, uint32_t n);

#endif
