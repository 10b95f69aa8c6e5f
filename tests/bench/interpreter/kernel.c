#include "vgpu.h"

#include "work.h"

void integer(uint64_t *memory, uint64_t rounds, uint64_t *out);
void floating(float *memory, uint64_t rounds, float *out);

void integer(uint64_t *memory, uint64_t rounds, uint64_t *out)
{
    *out = work_integer(memory, rounds);
}
VGPU_KERNEL(integer, ARG_GLOBAL, ARG_VALUE(uint64_t), ARG_GLOBAL);

void floating(float *memory, uint64_t rounds, float *out)
{
    *out = work_float(memory, rounds);
}
VGPU_KERNEL(floating, ARG_GLOBAL, ARG_VALUE(uint64_t), ARG_GLOBAL);
