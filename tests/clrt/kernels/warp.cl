/* Functions of sub-groups of 32 items; results are planes as long as the group. */
#pragma OPENCL EXTENSION cl_khr_subgroups : enable

kernel void test_warp(global const int *in, global int *out, uint n)
{
    const uint id = (uint)get_local_linear_id(), size = (uint)get_local_size(0);
    const int x = in[id];
    uint plane = 0;

#define PUT(value) out[plane++ * size + id] = (int)(value)
    PUT(get_sub_group_size());
    PUT(get_max_sub_group_size());
    PUT(get_num_sub_groups());
    PUT(get_sub_group_id());
    PUT(get_sub_group_local_id());
    PUT(sub_group_reduce_add(x));
    PUT(sub_group_scan_inclusive_add(x));
    PUT(sub_group_scan_exclusive_add(x));
    PUT(sub_group_reduce_min(x));
    PUT(sub_group_reduce_max(x));
    PUT(sub_group_scan_exclusive_max(x));
    PUT(sub_group_broadcast(x, 3));
    PUT(sub_group_all(x > -1000));
    PUT(sub_group_all(x > 0));
    PUT(sub_group_any(x > 90));
    PUT(sub_group_reduce_add((long)x << 33) >> 33);
    PUT(sub_group_reduce_add((float)x));
    PUT(sub_group_reduce_add((double)x));
}
