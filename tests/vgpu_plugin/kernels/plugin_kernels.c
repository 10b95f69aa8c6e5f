/* Kernels of the plugin's tests; device code, compiled for RV64. */
#include "vgpu.h"

#define TILE 16

/* Product of square matrices whose size is a multiple of 16; groups of 16 x 16. */
void matmul(const float *left, const float *right, float *product, uint32_t size)
{
    VGPU_LOCAL float left_tile[TILE][TILE];
    VGPU_LOCAL float right_tile[TILE][TILE];
    const size_t x = vgpu_local_id(0), y = vgpu_local_id(1);
    const size_t column = vgpu_global_id(0), row = vgpu_global_id(1);
    float sum = 0;

    for (uint32_t at = 0; at < size; at += TILE) {
        left_tile[y][x] = left[row * size + at + x];
        right_tile[y][x] = right[(at + y) * size + column];
        vgpu_barrier();
        for (int k = 0; k < TILE; k++) {
            const float factor = left_tile[y][k] * right_tile[k][x];

            sum += factor;
        }
        vgpu_barrier();
    }
    product[row * size + column] = sum;
}
VGPU_KERNEL_SIZED(matmul, TILE, TILE, 1, ARG_GLOBAL, ARG_GLOBAL, ARG_GLOBAL, ARG_VALUE(uint32_t));

/* Adds one to a counter from each work-item. */
void count(uint32_t *counter)
{
    vgpu_atomic_add(counter, 1);
}
VGPU_KERNEL(count, ARG_GLOBAL);

/* Turns a group's numbers around by way of local memory whose size the launch says. */
void reverse(uint32_t *numbers, uint32_t *local)
{
    const size_t id = vgpu_local_id(0), size = vgpu_local_size(0);

    local[id] = numbers[vgpu_global_id(0)];
    vgpu_barrier();
    numbers[vgpu_global_id(0)] = local[size - 1 - id];
}
VGPU_KERNEL(reverse, ARG_GLOBAL, ARG_LOCAL);

/* Runs until somebody stops the device; tells that it began. */
void endless(uint32_t *flag)
{
    vgpu_atomic_exchange(flag, 1);
    while (vgpu_atomic_add(flag, 0))
        ;
}
VGPU_KERNEL(endless, ARG_GLOBAL);

/* Four barriers, a rest that begins with 1 in *flag and ends with 0, and four barriers more. */
void rest(uint32_t *flag)
{
    for (int i = 0; i < 4; i++)
        vgpu_barrier();
    if (vgpu_global_id(0) == 0) {
        vgpu_atomic_exchange(flag, 1);
        while (vgpu_atomic_add(flag, 0))
            ;
    }
    for (int i = 0; i < 4; i++)
        vgpu_barrier();
}
VGPU_KERNEL(rest, ARG_GLOBAL);

/* Does a fixed amount of work per item. */
void spin(uint32_t *out, uint32_t rounds)
{
    uint32_t x = (uint32_t)vgpu_global_id(0);

    for (uint32_t i = 0; i < rounds; i++)
        x = x * 1664525u + 1013904223u;
    out[vgpu_global_id(0)] = x;
}
VGPU_KERNEL(spin, ARG_GLOBAL, ARG_VALUE(uint32_t));

/* Writes where the launch says. */
void store(uint32_t *target)
{
    *target = 42;
}
VGPU_KERNEL(store, ARG_GLOBAL);

/* Writes where it must not, without being told. */
void wild(void)
{
    *(volatile uint32_t *)16 = 1;
}
VGPU_KERNEL(wild);

uint32_t answer = 42;

void print(uint32_t number)
{
    vgpu_printf("number %u of group %u, answer %u\n", number, (unsigned)vgpu_group_id(0), answer);
}
VGPU_KERNEL(print, ARG_VALUE(uint32_t));
