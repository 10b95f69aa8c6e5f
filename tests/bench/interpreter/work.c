/*
 * Two loops of the kind that kernels consist of. Compiled once for RV64: the same object is
 * linked into a kernel file and into a program for qemu-riscv64.
 */
#include "work.h"

/* Shifts, a multiplication, loads, stores and a branch that is hard to predict. */
uint64_t work_integer(uint64_t *memory, uint64_t rounds)
{
    uint64_t state = 88172645463325252, sum = 0;

    for (uint64_t i = 0; i < rounds; i++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        memory[state & 1023] += state * 31;
        sum += memory[i & 1023];
        if (sum & 1)
            sum ^= i;
    }
    return sum;
}

/* Multiplications and additions in single precision on a small array. */
float work_float(float *memory, uint64_t rounds)
{
    float sum = 0, x = 1;

    for (uint64_t i = 0; i < rounds; i++) {
        float value = memory[i & 1023];

        x = x * 0.999f + 0.25f;
        sum += value * x;
        memory[(i * 7) & 1023] = value * 0.5f + sum * 0.001f;
    }
    return sum;
}
