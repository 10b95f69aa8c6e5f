/* A kernel in OpenCL C that leaves a core dump: work-item 7 of group 2 reads far away. */
struct entry {
    int key;
    float weight;
};

float weigh(__global const struct entry *entries, __local float *sums, int id)
{
    float parts[3] = {1.0f, 2.0f, entries[id].weight};
    int where = entries[id].key;

    return parts[id % 3] + sums[where]; /* the fault */
}

__kernel void histogram(__global struct entry *entries, __global float *out)
{
    __local float sums[64];
    int id = get_local_id(0);

    sums[id] = id * 2.0f;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_group_id(0) == 2 && id == 7)
        entries[id].key = 1 << 28;
    out[get_global_id(0)] = weigh(entries, sums, id);
}
