/*
 * The kernels of tests/command/kernels and tests/device/kernels in OpenCL C: with ZETA_TEST_KERNELS
 * those tests run on any device that takes SPIR-V.
 */
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable

kernel void matrix(global const float *left, global const float *right, global float *product, int size)
{
    const size_t column = get_global_id(0);
    const size_t row = get_global_id(1);
    float sum = 0;

    for (int k = 0; k < size; k++)
        sum += left[row * size + k] * right[(size_t)k * size + column];
    product[row * size + column] = sum;
}

kernel void reverse(global uint *numbers, local uint *copy)
{
    const size_t id = get_local_id(0);

    copy[id] = numbers[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    numbers[get_global_id(0)] = copy[get_local_size(0) - 1 - id];
}

kernel void ids(global uint *target)
{
    target[get_global_id(0)] = (uint)get_global_id(0);
}

/* Stores where it must not. */
kernel void wild(void)
{
    *(volatile global uint *)16 = 1;
}

kernel void meet(volatile global uint *arrived, global uint *seen)
{
    if (get_local_id(0) == 0) {
        (void)atomic_inc(arrived);
        while (*arrived < get_num_groups(0))
            ;
    }
    barrier(CLK_GLOBAL_MEM_FENCE);
    seen[get_global_id(0)] = *arrived;
}

kernel void await(volatile global ulong *counter, ulong value, global ulong *seen)
{
    while (*counter < value)
        ;
    *seen = *counter;
}

kernel void add(volatile global ulong *sum, ulong value)
{
    (void)atom_add(sum, value);
}

/* Not atomic on purpose. */
kernel void step(global ulong *sum, ulong value)
{
    *sum = *sum * 3 + value;
}

kernel void store(global ulong *target, ulong value)
{
    target[get_global_id(0)] = value;
}

kernel void load(global const ulong *source, global ulong *target)
{
    target[get_global_id(0)] = source[get_global_id(0)];
}

kernel void wait_for(volatile global ulong *gate, volatile global ulong *target)
{
    while (*gate == 0)
        *target = 1;
    *target = *gate;
}
