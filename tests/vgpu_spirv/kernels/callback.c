/* Calls functions of other modules by the address that the host gives. */
#include "vgpu.h"

void call_it(int32_t *out, int32_t (*function)(int32_t));
void call_in_barrier(int32_t *out, int32_t (*first)(int32_t), int32_t (*second)(int32_t));
int32_t negate(int32_t value);

int32_t negate(int32_t value)
{
    return -value;
}

void call_it(int32_t *out, int32_t (*function)(int32_t))
{
    size_t i = vgpu_global_id(0);

    out[i] = function((int32_t)i);
}
VGPU_KERNEL(call_it, ARG_GLOBAL, ARG_VALUE(void *));

/* Items of one group are in different images at the same time. */
void call_in_barrier(int32_t *out, int32_t (*first)(int32_t), int32_t (*second)(int32_t))
{
    size_t i = vgpu_global_id(0);

    for (int32_t k = 0; k < 20; k++) {
        out[i] += i % 2 ? first((int32_t)i + k) : second((int32_t)i + k);
        vgpu_barrier();
    }
}
VGPU_KERNEL(call_in_barrier, ARG_GLOBAL, ARG_VALUE(void *), ARG_VALUE(void *));
