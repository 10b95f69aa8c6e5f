/* A kernel whose counts follow from its launch; device code, compiled for RV64. */
#include "vgpu.h"

/* Each work-item multiplies so often, waits at one barrier and stores one word. */
void counted(float *out, uint32_t rounds)
{
    float x = 1.0f;

    for (uint32_t i = 0; i < rounds; i++)
        x = x * 1.5f;
    vgpu_barrier();
    out[vgpu_global_id(0)] = x;
}
VGPU_KERNEL(counted, ARG_GLOBAL, ARG_VALUE(uint32_t));
