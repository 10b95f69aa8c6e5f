/* Never ends by itself; counts its rounds. */
#include "vgpu.h"

static void endless(volatile uint32_t *rounds)
{
    for (;;)
        ++*rounds;
}
VGPU_KERNEL(endless, ARG_GLOBAL);
