/* Kernels that spend their time in one known way each; samples have to tell it. */
#include "vgpu.h"

void divide(uint64_t *out, uint64_t rounds);
void chase(uint64_t *next, uint64_t rounds);
void store(uint64_t *out, uint64_t rounds);
void jump(uint64_t *out, uint64_t rounds);
void meet(uint64_t *out, uint64_t rounds);
void crowd(uint64_t *out, uint64_t rounds);
void wander(uint64_t *out, uint64_t rounds);

/* Each division needs the result of the one before. */
void divide(uint64_t *out, uint64_t rounds)
{
    uint64_t value = UINT64_MAX;

    for (uint64_t i = 0; i < rounds; i++)
        __asm__ volatile("divu %0, %0, %1\n\t"
                         "divu %0, %0, %1\n\t"
                         "divu %0, %0, %1\n\t"
                         "divu %0, %0, %1"
                         : "+r"(value)
                         : "r"(rounds));
    out[vgpu_global_id(0)] = value;
}
VGPU_KERNEL(divide, ARG_GLOBAL, ARG_VALUE(uint64_t));

/* Follows pointers. */
void chase(uint64_t *next, uint64_t rounds)
{
    uint64_t at = (uint64_t)next;

    for (uint64_t i = 0; i < rounds; i++)
        __asm__ volatile("ld %0, 0(%0)\n\t"
                         "ld %0, 0(%0)\n\t"
                         "ld %0, 0(%0)\n\t"
                         "ld %0, 0(%0)"
                         : "+r"(at));
    next[0] = at;
}
VGPU_KERNEL(chase, ARG_GLOBAL, ARG_VALUE(uint64_t));

void store(uint64_t *out, uint64_t rounds)
{
    for (uint64_t i = 0; i < rounds; i++)
        __asm__ volatile("sd %1, 0(%0)\n\t"
                         "sd %1, 8(%0)\n\t"
                         "sd %1, 16(%0)\n\t"
                         "sd %1, 24(%0)"
                         :
                         : "r"(out), "r"(i)
                         : "memory");
}
VGPU_KERNEL(store, ARG_GLOBAL, ARG_VALUE(uint64_t));

/* Branches that are all taken. */
void jump(uint64_t *out, uint64_t rounds)
{
    for (uint64_t i = 0; i < rounds; i++)
        __asm__ volatile("beqz zero, 1f\n"
                         "1: beqz zero, 2f\n"
                         "2: beqz zero, 3f\n"
                         "3: beqz zero, 4f\n"
                         "4:");
    out[vgpu_global_id(0)] = rounds;
}
VGPU_KERNEL(jump, ARG_GLOBAL, ARG_VALUE(uint64_t));

/* The first item works, the others wait for it. */
void meet(uint64_t *out, uint64_t rounds)
{
    for (unsigned i = 0; i < 4; i++) {
        if (vgpu_local_id(0) == 0)
            divide(out, rounds);
        vgpu_barrier();
    }
}
VGPU_KERNEL(meet, ARG_GLOBAL, ARG_VALUE(uint64_t));

/* Nothing but instructions that issue: threads of an EU only wait for each other. */
void crowd(uint64_t *out, uint64_t rounds)
{
    uint64_t value = 0;

    for (uint64_t i = 0; i < rounds; i++)
        __asm__ volatile(".rept 64\n\t"
                         "addi %0, %0, 1\n\t"
                         ".endr"
                         : "+r"(value));
    out[vgpu_global_id(0)] = value;
}
VGPU_KERNEL(crowd, ARG_GLOBAL, ARG_VALUE(uint64_t));

/* More code than the instruction cache holds, again and again. */
void wander(uint64_t *out, uint64_t rounds)
{
    uint64_t value = 0;

    /* The loop is too long for a conditional branch. */
    __asm__ volatile("1:\n\t"
                     ".rept 8192\n\t"
                     "addi %0, %0, 1\n\t"
                     ".endr\n\t"
                     "addi %1, %1, -1\n\t"
                     "beqz %1, 2f\n\t"
                     "j 1b\n"
                     "2:"
                     : "+r"(value), "+r"(rounds));
    out[vgpu_global_id(0)] = value;
}
VGPU_KERNEL(wander, ARG_GLOBAL, ARG_VALUE(uint64_t));
