/* What bench_debug lets a debugger look at; device code, compiled for RV64 without optimisation. */
#include "vgpu.h"

/* Tells that it runs, and does so until somebody writes 0. */
void spin(uint32_t *flag)
{
    volatile uint32_t *word = flag;

    if (vgpu_global_id(0) == 0)
        word[1] = 1;
    while (word[0] != 0)
        ;
}
VGPU_KERNEL(spin, ARG_GLOBAL);

__attribute__((noinline)) int mark(int id)
{
    int result = id * 3;

    return result;
}

/* Comes by mark() once. */
void each(uint32_t *numbers)
{
    int id = (int)vgpu_global_id(0);

    vgpu_atomic_add(numbers + mark(id) % 64, 1);
}
VGPU_KERNEL(each, ARG_GLOBAL);

void work(uint32_t *numbers)
{
    uint32_t sum = (uint32_t)vgpu_global_id(0);

    for (uint32_t i = 0; i < 5000; i++)
        sum = sum * 1664525 + 1013904223;
    numbers[64 + vgpu_global_id(0) % 64] = sum;
}
VGPU_KERNEL(work, ARG_GLOBAL);
