/* Kernels for the commands of zeta-gdb.py. Sessions know the numbers of their lines. */

/* Called by grid, so that a variable of the kernel is in an older frame; until it is let go. */
__attribute__((noinline)) int weigh(int value, __global volatile int *numbers)
{
    while (numbers[0] == 0)
        ;
    return 2 * value;
}

__kernel void grid(__global volatile int *numbers, int count)
{
    int weight = 100 * (int)get_group_id(0) + 10 * (int)get_local_id(1) + (int)get_local_id(0);

    numbers[count - 1] = weigh(weight, numbers) + weight;
}

/* Work-item 5 of each group skips the barrier, and waits for what the others do behind it. */
__kernel void deadlock(__global volatile int *numbers, int count)
{
    if (get_local_id(0) == 5) {
        while (numbers[0] == 0)
            numbers[1] = count;
        return;
    }
    barrier(CLK_GLOBAL_MEM_FENCE);
    numbers[0] = count;
}

/* Two work-items end, two barriers meet, and two come late. */
__kernel void uneven(__global volatile int *numbers, int count)
{
    int id = (int)get_local_id(0);

    if (id < 2)
        return;
    if (id == 3)
        barrier(CLK_GLOBAL_MEM_FENCE);
    else if (id > 4)
        barrier(CLK_GLOBAL_MEM_FENCE);
    else
        while (numbers[0] == 0)
            numbers[1] = count;
    numbers[id] = count;
}

/* The last work-item takes another way in the third turn. */
__kernel void diverge(__global volatile int *numbers, int count)
{
    int id = (int)get_local_id(0);

    __attribute__((opencl_unroll_hint(1))) for (int i = 0; i < 4; i++) {
        if (numbers[i] + (id == (int)get_local_size(0) - 1) == 3) {
            numbers[20 + id] = i;
            numbers[30 + id] = i;
        } else {
            numbers[40 + id] = count;
        }
    }
}

__constant int fixed[4] = {1, 2, 3, 4};

/* Accesses that fail, one in each work-item. */
__kernel void fail(__global volatile int *numbers, int count)
{
    __local volatile int table[16];
    __private volatile int own[4];
    int id = (int)get_local_id(0);

    table[id] = own[id & 3] = count;
    if (id == 1)
        *(volatile __global int *)(ulong)(count & 4) = 7;
    else if (id == 2)
        table[100 * count] = 1;
    else if (id == 3)
        numbers[0] = ((volatile __global int *)0x123456789000)[3];
    else if (id == 4)
        own[-100 * count] = 1;
    else if (id == 5)
        *(volatile __global int *)(ulong)&fixed[count & 3] = 1;
    else if (id == 6)
        atomic_inc((volatile __global int *)((volatile __global char *)numbers + 1));
    numbers[30 + id] = own[id & 3];
}

/* Each group has its number in local memory, and the last one fails while the others are there. */
__kernel void shared(__global volatile int *numbers, int count)
{
    __local volatile int table[2];
    int group = (int)get_group_id(0);

    table[get_local_id(0)] = 10 * (group + 1);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (group == 2)
        *(volatile __global int *)(ulong)(count & 4) = table[0];
    while (numbers[0] == 0)
        numbers[1] = table[1];
}
