/*
 * Each work-item counts until somebody says that it is enough, and leaves its count. Nobody but a
 * debugger does.
 */
#include "vgpu.h"

void count(const volatile uint32_t *enough, uint64_t *counts);

void count(const volatile uint32_t *enough, uint64_t *counts)
{
    uint64_t rounds = 0;

    do
        rounds++;
    while (*enough == 0);
    counts[vgpu_global_id(0)] = rounds;
}
VGPU_KERNEL(count, ARG_GLOBAL, ARG_GLOBAL);
