/* Kernels that the fake CUDA knows by their names and parameters, for the way from SPIR-V. */

kernel void store(global ulong *target, ulong value)
{
    target[get_global_id(0)] = value;
}

/* How far the second local argument is from the first, in bytes. */
kernel __attribute__((reqd_work_group_size(4, 1, 1))) void
parts(global ulong *target, local ulong *a, local ulong *b)
{
    a[get_local_id(0)] = 1;
    b[get_local_id(0)] = 2;
    barrier(CLK_LOCAL_MEM_FENCE);
    target[get_group_id(0)] = (ulong)((local char *)b - (local char *)a) + a[0] - b[0] + 1;
}

kernel void ids(global uint *target)
{
    target[get_global_id(0)] = (uint)get_global_id(0);
}

kernel void origin(global ulong *target)
{
    for (uint i = 0; i < 3; i++)
        target[i] = get_global_offset(i);
}
