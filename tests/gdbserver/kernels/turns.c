/* For non-stop: each work-item counts in a number of its own, until somebody writes 0 into
 * numbers[1]. */
#include "vgpu.h"

enum { COUNTERS = 16 };

__attribute__((noinline)) int arrive(int item)
{
    return item;
}

/* Each item adds to numbers[COUNTERS + item]; the first two also arrive, once in each round. */
void turns(int *numbers, int count)
{
    volatile int *word = numbers;
    int item = (int)vgpu_global_id(0);

    while (word[1] != 0) {
        word[COUNTERS + item]++;
        if (item < 2)
            word[2 + item] += arrive(item) - item + (count > 0);
    }
}
VGPU_KERNEL(turns, ARG_GLOBAL, ARG_VALUE(int));
