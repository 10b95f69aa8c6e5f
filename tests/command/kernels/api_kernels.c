/* Kernels of the API tests; device code, compiled for RV64. */
#include "vgpu.h"

/* Product of square matrices, one work-item for each element, any size. */
void matrix(const float *left, const float *right, float *product, int size)
{
    const size_t column = vgpu_global_id(0);
    const size_t row = vgpu_global_id(1);
    float sum = 0;

    for (int k = 0; k < size; k++)
        sum += left[row * size + k] * right[(size_t)k * size + column];
    product[row * size + column] = sum;
}
VGPU_KERNEL(matrix, ARG_GLOBAL, ARG_GLOBAL, ARG_GLOBAL, ARG_VALUE(int));

/* Turns the numbers of a group around by way of local memory. */
void reverse(uint32_t *numbers, uint32_t *local)
{
    const size_t id = vgpu_local_id(0);
    const size_t size = vgpu_local_size(0);

    local[id] = numbers[vgpu_global_id(0)];
    vgpu_barrier();
    numbers[vgpu_global_id(0)] = local[size - 1 - id];
}
VGPU_KERNEL(reverse, ARG_GLOBAL, ARG_LOCAL);

/* Stores its global id there. */
void ids(uint32_t *target)
{
    target[vgpu_global_id(0)] = (uint32_t)vgpu_global_id(0);
}
VGPU_KERNEL(ids, ARG_GLOBAL);

/* Stores where it must not. */
void wild(void)
{
    *(volatile uint32_t *)16 = 1;
}
VGPU_KERNEL(wild);
