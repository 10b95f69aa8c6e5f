/* A kernel that does nothing: what is measured is the way to it. */
#include "vgpu.h"

void nothing(uint32_t *unused)
{
    (void)unused;
}
VGPU_KERNEL(nothing, ARG_GLOBAL);
