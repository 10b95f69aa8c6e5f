/* Kernels of the tests of memory; device code, compiled for RV64. */
#include "vgpu.h"

/* Stores the value. */
void store(uint64_t *target, uint64_t value)
{
    target[vgpu_global_id(0)] = value;
}
VGPU_KERNEL(store, ARG_GLOBAL, ARG_VALUE(uint64_t));

/* Copies a number. */
void load(const uint64_t *source, uint64_t *target)
{
    target[vgpu_global_id(0)] = source[vgpu_global_id(0)];
}
VGPU_KERNEL(load, ARG_GLOBAL, ARG_GLOBAL);

/* Copies the number in *gate, again and again, until it is not 0. */
void wait_for(uint64_t *gate, uint64_t *target)
{
    while (*(volatile uint64_t *)gate == 0)
        *(volatile uint64_t *)target = 1;
    *target = *gate;
}
VGPU_KERNEL(wait_for, ARG_GLOBAL, ARG_GLOBAL);
