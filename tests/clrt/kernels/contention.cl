/* Many work-items of many groups at few addresses; `n` is how often each of them comes. */
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable

/*
 * Everybody draws a number from each of four counters: of all, of the group, in 32 bits and in 64.
 * The group's last numbers follow.
 */
kernel void test_draw(global uint *counters, global uint *out, uint n)
{
    local uint mine;
    local ulong mine_wide;
    volatile global ulong *wide = (volatile global ulong *)(counters + 2);
    const size_t count = get_global_size(0) * n, at = get_global_id(0) * n;

    if (get_local_id(0) == 0) {
        mine = 0;
        mine_wide = 1ul << 40;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = 0; i < n; i++) {
        out[at + i] = atomic_inc(counters);
        out[count + at + i] = (uint)(atom_add(wide, 1ul << 32) >> 32);
        out[2 * count + at + i] = atomic_inc(&mine);
        out[3 * count + at + i] = (uint)(atom_inc(&mine_wide) - (1ul << 40));
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0) {
        atomic_add(counters + 1, mine);
        atom_add(wide + 1, mine_wide - (1ul << 40));
    }
}

/* What is left of all numbers, in local memory of the group and then in global memory. */
kernel void test_gather(global int *cells, global int *out, uint n)
{
    local int least, most, all, some, odd;
    local long least_wide, most_wide, odd_wide;
    const int id = (int)get_global_id(0), x = id * 1103515245 + 12345;
    global long *wide = (global long *)(cells + 8);

    if (get_local_id(0) == 0) {
        least = INT_MAX, most = INT_MIN, all = -1, some = 0, odd = 0;
        least_wide = LONG_MAX, most_wide = LONG_MIN, odd_wide = 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_min(&least, x);
    atomic_max(&most, x);
    atomic_and(&all, ~(1 << (id % 29)));
    atomic_or(&some, 1 << (id % 31));
    atomic_xor(&odd, x);
    atom_min(&least_wide, (long)x << 20);
    atom_max(&most_wide, (long)x << 20);
    atom_xor(&odd_wide, (long)x << 20);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) != 0)
        return;
    atomic_min(cells, least);
    atomic_max(cells + 1, most);
    atomic_and(cells + 2, all);
    atomic_or(cells + 3, some);
    atomic_xor(cells + 4, odd);
    atom_min(wide, least_wide);
    atom_max(wide + 1, most_wide);
    atom_xor(wide + 2, odd_wide);
}

/* Sums of floating point by comparing and exchanging bits: what is found is what was expected. */
kernel void test_add_up(global uint *cells, global uint *out, uint n)
{
    volatile global atomic_uint *single = (volatile global atomic_uint *)cells;
    volatile global atomic_ulong *wide = (volatile global atomic_ulong *)(cells + 2);

    for (uint i = 0; i < n; i++) {
        uint seen = atomic_load_explicit(single, memory_order_relaxed);
        ulong seen_wide = atomic_load_explicit(wide, memory_order_relaxed);

        while (!atomic_compare_exchange_weak_explicit(single, &seen, as_uint(as_float(seen) + 1.0f),
                                                      memory_order_relaxed, memory_order_relaxed,
                                                      memory_scope_device))
            ;
        while (!atomic_compare_exchange_strong(wide, &seen_wide,
                                               as_ulong(as_double(seen_wide) + 0.5)))
            ;
    }
}

/* A lock: what is behind it is no atomic, so the orders have to carry it from item to item. */
#define LOCKED(lock, scope, data, size)                                                            \
    for (bool is_done = false; !is_done;) {                                                        \
        if (atomic_exchange_explicit(lock, 1, memory_order_acquire, scope) == 0) {                 \
            for (uint k = 0; k < size; k++)                                                        \
                data[k] += k + 1;                                                                  \
            atomic_store_explicit(lock, 0, memory_order_release, scope);                           \
            is_done = true;                                                                        \
        }                                                                                          \
    }
kernel void test_lock(global uint *cells, global uint *out, uint n)
{
    local atomic_uint lock;
    local uint data[8];
    volatile global atomic_uint *global_lock = (volatile global atomic_uint *)cells;
    const uint id = (uint)get_local_id(0);

    if (id == 0)
        atomic_init(&lock, 0);
    if (id < 8)
        data[id] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = 0; i < n; i++)
        LOCKED(&lock, memory_scope_work_group, data, 8)
    LOCKED(global_lock, memory_scope_device, (cells + 8), 8)
    barrier(CLK_LOCAL_MEM_FENCE);
    if (id < 8)
        out[get_group_id(0) * 8 + id] = data[id];
}

/* Groups leave sums; the last one that comes, whichever it is, sees all of them. */
kernel void test_last_group(global uint *cells, global uint *out, uint n)
{
    local uint is_last, sum;
    volatile global atomic_uint *arrived = (volatile global atomic_uint *)cells;
    const uint id = (uint)get_local_id(0), groups = (uint)get_num_groups(0);

    for (uint turn = 0; turn < n; turn++) {
        global uint *row = out + turn * groups;

        if (id == 0) {
            row[get_group_id(0)] = (uint)get_group_id(0) + turn + 1;
            is_last = atomic_fetch_add_explicit(arrived + turn, 1, memory_order_acq_rel,
                                                memory_scope_device) == groups - 1;
            sum = 0;
        }
        work_group_barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
        if (is_last) {
            for (uint i = id; i < groups; i += (uint)get_local_size(0))
                atomic_add(&sum, row[i]);
        }
        work_group_barrier(CLK_LOCAL_MEM_FENCE);
        if (is_last && id == 0)
            cells[64 + turn] = sum;
        work_group_barrier(CLK_LOCAL_MEM_FENCE);
    }
}
