/* Something to measure; device code, compiled for RV64. */
#include "vgpu.h"

/* Counts for a while and stores the sum. */
void work(uint32_t *sums, uint32_t rounds)
{
    uint32_t sum = (uint32_t)vgpu_global_id(0);

    for (uint32_t i = 0; i < rounds; i++)
        sum = sum * 1664525 + 1013904223;
    sums[vgpu_global_id(0)] = sum;
}
VGPU_KERNEL(work, ARG_GLOBAL, ARG_VALUE(uint32_t));
