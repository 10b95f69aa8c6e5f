/* Shared local memory, barriers, atomics, address spaces. */

kernel void reverse_group(global int *data, local int *copy)
{
    size_t n = get_local_size(0);

    copy[get_local_id(0)] = data[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    data[get_global_id(0)] = copy[n - 1 - get_local_id(0)];
}

kernel void sum_group(global int *out, global const int *in)
{
    local int parts[256];
    size_t i = get_local_id(0);

    parts[i] = in[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (size_t step = get_local_size(0) / 2; step > 0; step /= 2) {
        if (i < step)
            parts[i] += parts[i + step];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (i == 0)
        out[get_group_id(0)] = parts[0];
}

/* A shared scalar that an optimiser would like to have in a register of each item. */
kernel void shared_flag(global int *out)
{
    local int flag;

    flag = 5;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 1)
        flag = 77;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = flag;
}

/* Only one value is ever stored, which makes a boolean of the variable. */
kernel void shared_once(global int *out)
{
    local int once;

    if (get_local_id(0) == get_local_size(0) - 1)
        once = 1234;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = once;
}

kernel void two_locals(global int *out, local int *first, local short *second)
{
    local int own[8];

    first[get_local_id(0)] = (int)get_local_id(0);
    second[get_local_id(0)] = (short)(100 + get_local_id(0));
    own[get_local_id(0) & 7] = 3;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] =
        first[(get_local_id(0) + 1) % get_local_size(0)] +
        second[(get_local_id(0) + 2) % get_local_size(0)] + own[get_local_id(0) & 7];
}

kernel void histogram(global uint *bins, global const uchar *in)
{
    local uint counts[16];

    if (get_local_id(0) < 16)
        counts[get_local_id(0)] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_inc(&counts[in[get_global_id(0)] & 15]);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) < 16)
        atomic_add(&bins[get_local_id(0)], counts[get_local_id(0)]);
}

kernel void old_atomics(volatile global int *v)
{
    atomic_add(&v[0], 3);
    atomic_sub(&v[1], 2);
    atomic_inc(&v[2]);
    atomic_dec(&v[3]);
    atomic_min(&v[4], -(int)get_global_id(0));
    atomic_max(&v[5], (int)get_global_id(0));
    atomic_and(&v[6], ~(1 << (get_global_id(0) & 31)));
    atomic_or(&v[7], 1 << (get_global_id(0) & 31));
    atomic_xor(&v[8], 1);
    atomic_cmpxchg(&v[9], 0, (int)get_global_id(0) + 1);
    atomic_xchg(&v[10], 9);
}

kernel void new_atomics(global atomic_int *a, global atomic_uint *b, global atomic_long *c,
                        global atomic_float *d, global int *old)
{
    int expected;

    atomic_fetch_add(&a[0], 1);
    atomic_fetch_sub_explicit(&a[1], 1, memory_order_relaxed);
    atomic_fetch_max_explicit(b, (uint)get_global_id(0), memory_order_acq_rel,
                              memory_scope_device);
    atomic_fetch_add(c, 0x100000000L);
    expected = atomic_load(&a[2]);
    while (!atomic_compare_exchange_weak(&a[2], &expected, expected + 2))
        ;
    atomic_exchange(d, 2.5f);
    if (get_global_id(0) == 0) {
        atomic_store(&a[3], 17);
        old[0] = atomic_load_explicit(&a[3], memory_order_seq_cst);
    }
}

kernel void lock_free_list(global int *head, global int *next)
{
    int mine = (int)get_global_id(0);
    int seen = *(volatile global int *)head;
    int before;

    do {
        before = seen;
        next[mine] = before;
        seen = atomic_cmpxchg(head, before, mine);
    } while (seen != before);
}

int read_any(const int *pointer)
{
    return *pointer + 1;
}

kernel void generic_pointers(global int *out, local int *shared)
{
    int own = 40;
    int *pick = get_local_id(0) % 3 == 0 ? &own : get_local_id(0) % 3 == 1 ? (int *)shared
                                                                         : (int *)out;

    shared[0] = 10;
    out[0] = 20;
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    out[1 + get_local_id(0)] = read_any(pick);
}

kernel void copy_async(global int *out, global const int *in, local int *copy)
{
    event_t event = async_work_group_copy(copy, in, get_local_size(0), 0);

    wait_group_events(1, &event);
    copy[get_local_id(0)] *= 2;
    barrier(CLK_LOCAL_MEM_FENCE);
    event = async_work_group_copy(out, copy, get_local_size(0), 0);
    wait_group_events(1, &event);
}

kernel void groups(global int *out)
{
    int i = (int)get_local_id(0);

    out[i * 4 + 0] = work_group_reduce_add(i);
    out[i * 4 + 1] = work_group_scan_exclusive_add(i);
    out[i * 4 + 2] = work_group_broadcast(i * 10, 3);
    out[i * 4 + 3] = work_group_any(i == 5) + 2 * work_group_all(i < 100);
}

kernel void sub_groups(global uint *out)
{
    size_t i = get_global_id(0);

    out[i * 4 + 0] = get_sub_group_size();
    out[i * 4 + 1] = get_num_sub_groups();
    out[i * 4 + 2] = get_sub_group_id();
    out[i * 4 + 3] = (uint)sub_group_reduce_add((int)i + 3);
}

/* Tiled product, groups of 8 x 8. */
__attribute__((reqd_work_group_size(8, 8, 1))) kernel void
product(global const float *a, global const float *b, global float *c, int n)
{
    local float a_tile[8][8];
    local float b_tile[8][8];
    int x = (int)get_global_id(0), y = (int)get_global_id(1);
    int lx = (int)get_local_id(0), ly = (int)get_local_id(1);
    float sum = 0;

    for (int t = 0; t < n; t += 8) {
        a_tile[ly][lx] = a[y * n + t + lx];
        b_tile[ly][lx] = b[(t + ly) * n + x];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = 0; k < 8; k++)
            sum += a_tile[ly][k] * b_tile[k][lx];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    c[y * n + x] = sum;
}
