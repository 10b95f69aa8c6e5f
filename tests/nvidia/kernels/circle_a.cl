/* Needs circle_b.cl, which needs this one. */
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable

ulong same(ulong x);

ulong one(void)
{
    return 1;
}

kernel void add(volatile global ulong *sum, ulong value)
{
    (void)atom_add(sum, same(value));
}
