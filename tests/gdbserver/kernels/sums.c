/* The kernels of sums.cl in C, and one with an instruction that does not exist. */
#include "vgpu.h"

struct pair {
    int left, right;
};

__attribute__((noinline)) int square(int value)
{
    int result = value * value;

    return result;
}

/* Each number becomes the square of its place in the group, and that of the place opposite. */
void sums(int *numbers, int count)
{
    VGPU_LOCAL int part[8];
    int item = (int)vgpu_local_id(0);
    struct pair pair;

    part[item] = square(item);
    vgpu_barrier();
    pair.left = part[item];
    pair.right = part[7 - item];
    if (item < count)
        numbers[vgpu_global_id(0)] = pair.left + pair.right;
}
VGPU_KERNEL(sums, ARG_GLOBAL, ARG_VALUE(int));

void spin(int *numbers, int count)
{
    volatile int *word = numbers;

    word[0] = 77;
    while (word[1] != 0)
        word[2] = count;
}
VGPU_KERNEL(spin, ARG_GLOBAL, ARG_VALUE(int));

void fault(int *numbers, int count)
{
    volatile int *nowhere = (volatile int *)0x12345678;

    numbers[0] = count;
    *nowhere = 1;
}
VGPU_KERNEL(fault, ARG_GLOBAL, ARG_VALUE(int));

void illegal(int *numbers, int count)
{
    numbers[0] = count;
    __asm__ volatile(".word 0xffffffff");
}
VGPU_KERNEL(illegal, ARG_GLOBAL, ARG_VALUE(int));

__attribute__((noinline)) int mark(int id)
{
    int result = id * 3;

    return result;
}

void each(int *numbers, int count)
{
    int id = (int)vgpu_global_id(0);

    vgpu_atomic_add((uint32_t *)numbers + mark(id) / 3 % count, 1);
}
VGPU_KERNEL(each, ARG_GLOBAL, ARG_VALUE(int));
