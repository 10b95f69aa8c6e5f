/* What GDB is asked about in the sessions, which know the numbers of some lines: the same in
 * sums.c. */

struct pair {
    int left, right;
};

__attribute__((noinline)) int square(int value)
{
    int result = value * value;

    return result;
}

/* Each number becomes the square of its place in the group, and that of the place opposite. */
kernel void sums(global int *numbers, int count)
{
    local int part[8];
    int item = get_local_id(0);
    struct pair pair;

    part[item] = square(item);
    barrier(CLK_LOCAL_MEM_FENCE);
    pair.left = part[item];
    pair.right = part[7 - item];
    if (item < count)
        numbers[get_global_id(0)] = pair.left + pair.right;
}

/* Runs until somebody writes 0 into numbers[1]. */
kernel void spin(global int *numbers, int count)
{
    volatile global int *word = numbers;

    word[0] = 77;
    while (word[1] != 0)
        word[2] = count;
}

/* Writes where nothing is. */
kernel void fault(global int *numbers, int count)
{
    volatile global int *nowhere = (volatile global int *)0x12345678;

    numbers[0] = count;
    *nowhere = 1;
}

__attribute__((noinline)) int mark(int id)
{
    int result = id * 3;

    return result;
}

/* Counts itself in a number that it shares with other work-items. */
kernel void each(global int *numbers, int count)
{
    int id = get_global_id(0);

    atomic_inc(numbers + mark(id) / 3 % count);
}
