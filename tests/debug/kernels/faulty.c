/* Kernels that leave core dumps; device code, compiled for RV64. */
#include "vgpu.h"

/* As with -O0: each variable is in memory all the time. */
#ifdef __clang__
#define PLAIN __attribute__((noinline, optnone))
#else
#define PLAIN __attribute__((noinline, optimize("O0")))
#endif

#define GROUP_ITEMS 16

struct arguments {
    uint32_t arrived;
    uint32_t wanted;    /* work-items that have to be there before one faults */
    uint32_t group;     /* of that one, whose local id is 5 */
    uint32_t released;  /* stays 0 */
    uint64_t target;    /* where it writes */
    uint64_t function;  /* store() of another module */
    uint32_t values[8]; /* for those who look */
};

VGPU_LOCAL uint32_t table[GROUP_ITEMS];

uint32_t answer = 42;

void faulty(struct arguments *arguments);
void give_up(struct arguments *arguments);
void illegal(struct arguments *arguments);
void elsewhere(struct arguments *arguments);
PLAIN uint32_t store(struct arguments *arguments, uint32_t id);

PLAIN uint32_t store(struct arguments *arguments, uint32_t id)
{
    uint32_t squares[4];
    double half = id * 0.5;

    for (uint32_t i = 0; i < 4; i++)
        squares[i] = 100 + i * i;
    *(volatile uint32_t *)arguments->target = squares[id % 4]; /* the fault */
    return (uint32_t)half;
}

/* All work-items are there when one faults: its group waits at a barrier, others spin. */
void faulty(struct arguments *arguments)
{
    const uint32_t id = (uint32_t)vgpu_local_id(0), group = (uint32_t)vgpu_group_id(0);

    table[id] = group * 0x1000 + id;
    vgpu_barrier();
    vgpu_atomic_add(&arguments->arrived, 1);
    if (group == arguments->group && id == 5) {
        while (vgpu_atomic_add(&arguments->arrived, 0) < arguments->wanted)
            ;
        /* Threads take turns, so the others of the group come to the barrier meanwhile. */
        for (volatile int turns = 0; turns < 4096; turns++)
            ;
        store(arguments, id);
    }
    while (group != arguments->group && vgpu_atomic_add(&arguments->released, 0) == 0)
        ;
    vgpu_barrier();
}
VGPU_KERNEL_SIZED(faulty, GROUP_ITEMS, 1, 1, ARG_GLOBAL);

void give_up(struct arguments *arguments)
{
    (void)arguments;
    vgpu_abort("nothing works");
}
VGPU_KERNEL(give_up, ARG_GLOBAL);

void illegal(struct arguments *arguments)
{
    (void)arguments;
    __asm__ volatile(".word 0xffffffff");
}
VGPU_KERNEL(illegal, ARG_GLOBAL);

PLAIN void elsewhere(struct arguments *arguments)
{
    uint32_t (*function)(struct arguments *, uint32_t) =
        (uint32_t(*)(struct arguments *, uint32_t))arguments->function;

    arguments->values[7] = function(arguments, 5);
}
VGPU_KERNEL(elsewhere, ARG_GLOBAL);
