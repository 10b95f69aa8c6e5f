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

/* Each group arrives and waits until all have: ends only if they run at the same time. */
void meet(uint32_t *arrived, uint32_t *seen)
{
    if (vgpu_local_id(0) == 0) {
        (void)__atomic_fetch_add(arrived, 1, __ATOMIC_SEQ_CST);
        while (__atomic_load_n(arrived, __ATOMIC_SEQ_CST) < vgpu_group_count(0))
            ;
    }
    vgpu_barrier();
    seen[vgpu_global_id(0)] = __atomic_load_n(arrived, __ATOMIC_SEQ_CST);
}
VGPU_KERNEL(meet, ARG_GLOBAL, ARG_GLOBAL);

/* Waits until a counter has a value, as work on another queue may make it. */
void await(const uint64_t *counter, uint64_t value, uint64_t *seen)
{
    while (__atomic_load_n(counter, __ATOMIC_SEQ_CST) < value)
        ;
    *seen = *counter;
}
VGPU_KERNEL(await, ARG_GLOBAL, ARG_VALUE(uint64_t), ARG_GLOBAL);

/* Adds, so that what ran how often can be seen. */
void add(uint64_t *sum, uint64_t value)
{
    (void)__atomic_fetch_add(sum, value, __ATOMIC_SEQ_CST);
}
VGPU_KERNEL(add, ARG_GLOBAL, ARG_VALUE(uint64_t));

/* One step of a calculation in which the order matters; not atomic on purpose. */
void step(uint64_t *sum, uint64_t value)
{
    *sum = *sum * 3 + value;
}
VGPU_KERNEL(step, ARG_GLOBAL, ARG_VALUE(uint64_t));
