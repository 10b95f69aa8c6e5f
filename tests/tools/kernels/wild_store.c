/* Stores to an address that no allocation has. */
#include "vgpu.h"

static void wild_store(void)
{
    volatile uint32_t *nowhere = (volatile uint32_t *)16;

    *nowhere = 1;
}
VGPU_KERNEL(wild_store);
