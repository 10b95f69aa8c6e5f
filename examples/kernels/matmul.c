/*
 * Tiled matrix product C = A B of square matrices, row by row, n a multiple of 16.
 *
 * One work-item computes one element of C; a group of 16 x 16 loads tiles of A and B into shared
 * local memory, so that each element is read from global memory n / 16 times instead of n.
 * Per work-item: 2n floating-point operations, n / 8 barriers, 2n + n / 8 accesses to local memory.
 */
#include "vgpu.h"

enum { TILE = 16 };

VGPU_LOCAL float tile_a[TILE][TILE];
VGPU_LOCAL float tile_b[TILE][TILE];

void matmul(const float *a, const float *b, float *c, uint32_t n);

void matmul(const float *a, const float *b, float *c, uint32_t n)
{
    size_t column = vgpu_global_id(0);
    size_t row = vgpu_global_id(1);
    size_t x = vgpu_local_id(0);
    size_t y = vgpu_local_id(1);
    float sum = 0;

    for (uint32_t tile = 0; tile < n; tile += TILE) {
        tile_a[y][x] = a[row * n + tile + x];
        tile_b[y][x] = b[(tile + y) * n + column];
        vgpu_barrier();
        for (unsigned k = 0; k < TILE; k++)
            sum += tile_a[y][k] * tile_b[k][x];
        vgpu_barrier();
    }
    c[row * n + column] = sum;
}

VGPU_KERNEL_SIZED(matmul, TILE, TILE, 1, ARG_GLOBAL, ARG_GLOBAL, ARG_GLOBAL, ARG_VALUE(uint32_t));
