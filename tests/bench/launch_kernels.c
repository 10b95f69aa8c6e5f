/* Kernel of bench_launch: nothing at all. */
#include "vgpu.h"

void empty(void)
{
}
VGPU_KERNEL(empty);
