/* Kernels that are debugged; device code, compiled for RV64. */
#include "vgpu.h"

/* Tells that it runs, and does so until somebody writes 0. */
void spin(uint32_t *flag)
{
    vgpu_atomic_exchange(flag, 1);
    while (vgpu_atomic_add(flag, 0))
        ;
}
VGPU_KERNEL(spin, ARG_GLOBAL);

/* Where tests put a breakpoint: its first instruction. */
__attribute__((noinline, visibility("default"))) uint32_t touched(uint32_t *numbers, uint32_t index)
{
    __asm__ volatile("" ::: "memory");
    return numbers[index];
}

/* Adds up what each work-item has put into local memory; numbers[0] is the sum. */
void local(uint32_t *numbers)
{
    VGPU_LOCAL uint32_t table[16];
    const size_t id = vgpu_local_id(0);

    table[id] = 0x1000 + (uint32_t)id;
    vgpu_barrier();
    if (id == 3)
        vgpu_atomic_add(numbers, touched(table, 5));
}
VGPU_KERNEL_SIZED(local, 16, 1, 1, ARG_GLOBAL);

/* All meet at a barrier; the first one comes when somebody has written 0. */
void meet(uint32_t *flag)
{
    if (vgpu_local_id(0) == 0) {
        vgpu_atomic_exchange(flag, 1);
        while (vgpu_atomic_add(flag, 0))
            ;
    }
    vgpu_barrier();
}
VGPU_KERNEL_SIZED(meet, 16, 1, 1, ARG_GLOBAL);

/* Writes where nothing is. */
void fault(uint32_t *unused)
{
    (void)unused;
    *(volatile uint32_t *)0x12345678 = 1;
}
VGPU_KERNEL(fault, ARG_GLOBAL);
