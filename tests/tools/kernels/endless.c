/* Never ends by itself. */
#include "vgpu.h"

static void endless(void)
{
    for (;;)
        __asm__ volatile("");
}
VGPU_KERNEL(endless);
