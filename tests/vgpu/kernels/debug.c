/* Kernels for debuggers. What is stopped at is written in assembler, so that each place is known.
 */
#include "vgpu.h"

void count_up(uint64_t *counters, const uint32_t *stop);
void walk(uint64_t *out);
void meet(uint32_t *out);
void touch(uint32_t *data, uint32_t *scratch);
void circle(void);

/* Counts until the host sets the flag. */
void count_up(uint64_t *counters, const uint32_t *stop)
{
    volatile uint64_t *counter = counters + vgpu_global_id(0);

    while (__atomic_load_n(stop, __ATOMIC_RELAXED) == 0)
        *counter = *counter + 1;
}
VGPU_KERNEL(count_up, ARG_GLOBAL, ARG_GLOBAL);

/* Writes 3. */
void walk_at(uint64_t *out);
__asm__(".text\n.balign 4\n.globl walk_at\n.type walk_at, @function\nwalk_at:\n"
        "    li t0, 1\n"
        "    addi t0, t0, 1\n"
        "    addi t0, t0, 1\n" /* 8: t0 is 2 */
        "    sd t0, 0(a0)\n"
        "    ret\n");

void walk(uint64_t *out)
{
    walk_at(out + vgpu_global_id(0));
}
VGPU_KERNEL(walk, ARG_GLOBAL);

/* Writes 1 before a barrier and 2 behind it. */
void meet_at(uint32_t *out);
__asm__(".text\n.balign 4\n.globl meet_at\n.type meet_at, @function\nmeet_at:\n"
        "    li t0, 1\n"
        "    sw t0, 0(a0)\n"
        "    li a7, 1\n"
        "    ecall\n" /* 12: the barrier */
        "    li t0, 2\n"
        "    sw t0, 0(a0)\n"
        "    ret\n");

void meet(uint32_t *out)
{
    meet_at(out + vgpu_global_id(0));
}
VGPU_KERNEL(meet, ARG_GLOBAL);

/* Accesses of each kind, 64 bytes apart: load, store, atomic, SC; local memory; the stack. */
void touch_at(uint32_t *data, uint32_t *scratch);
__asm__(".text\n.balign 4\n.globl touch_at\n.type touch_at, @function\ntouch_at:\n"
        "    lw t0, 0(a0)\n"
        "    sw t0, 64(a0)\n"
        "    addi t1, a0, 128\n"
        "    amoadd.w t0, t0, (t1)\n" /* 12 */
        "    addi t1, a0, 192\n"
        "    lr.w t0, (t1)\n"
        "    sc.w t0, t0, (t1)\n" /* 24 */
        "    sw t0, 4(a1)\n"      /* 28 */
        "    sd t0, -8(sp)\n"     /* 32 */
        "    ret\n");

void touch(uint32_t *data, uint32_t *scratch)
{
    touch_at(data, scratch);
}
VGPU_KERNEL(touch, ARG_GLOBAL, ARG_LOCAL);

/* Goes in a circle of one jump until somebody writes another instruction there. */
void circle_at(void);
__asm__(".text\n.balign 4\n.globl circle_at\n.type circle_at, @function\ncircle_at:\n"
        "    j circle_at\n"
        "    ret\n");

void circle(void)
{
    circle_at();
}
VGPU_KERNEL(circle);
