/* Who a work-item is, where pointers point, printf. */

/* Thirty numbers per item, in the order of the linear global id. */
kernel void test_ids(global ulong *unused, global ulong *out, uint n)
{
    out += get_global_linear_id() * 40;
    for (uint d = 0; d < 4; d++) {
        out[d] = get_global_id(d);
        out[4 + d] = get_local_id(d);
        out[8 + d] = get_group_id(d);
        out[12 + d] = get_global_offset(d);
        out[16 + d] = get_global_size(d);
        out[20 + d] = get_local_size(d);
        out[24 + d] = get_enqueued_local_size(d);
        out[28 + d] = get_num_groups(d);
    }
    out[32] = get_work_dim();
    out[33] = get_local_linear_id();
    out[34] = get_sub_group_size() + get_max_sub_group_size();
    out[35] = get_num_sub_groups();
    out[36] = get_enqueued_num_sub_groups();
    out[37] = get_sub_group_id();
    out[38] = get_sub_group_local_id();
}

/* Each item passes what it got on to its neighbour, with every form of barrier and fence. */
#define PASS(...)                                                                                  \
    shared[id] = mine;                                                                             \
    mem_fence(CLK_LOCAL_MEM_FENCE);                                                                \
    __VA_ARGS__;                                                                                   \
    mine = shared[(id + 1) % size] + 1;                                                            \
    read_mem_fence(CLK_LOCAL_MEM_FENCE);                                                           \
    write_mem_fence(CLK_LOCAL_MEM_FENCE);                                                          \
    atomic_work_item_fence(CLK_LOCAL_MEM_FENCE, memory_order_acq_rel, memory_scope_work_group);    \
    barrier(CLK_GLOBAL_MEM_FENCE);

kernel void test_barriers(global uint *unused, global uint *out, uint n)
{
    local uint shared[256];
    uint id = get_local_id(0), size = get_local_size(0), mine = id;

    PASS(barrier(CLK_LOCAL_MEM_FENCE))
    PASS(work_group_barrier(CLK_LOCAL_MEM_FENCE))
    PASS(work_group_barrier(CLK_LOCAL_MEM_FENCE, memory_scope_work_group))
    sub_group_barrier(CLK_LOCAL_MEM_FENCE);
    sub_group_barrier(CLK_LOCAL_MEM_FENCE, memory_scope_sub_group);
    out[id] = mine;
}

/* 1 for global, 2 for local, 4 for private. */
uint kind_of(generic int *p)
{
    uint kind = to_global(p) ? 1 : 0;

    kind += to_local(p) ? 2 : 0;
    kind += to_private(p) ? 4 : 0;
    return kind;
}

kernel void test_spaces(global int *in, global uint *out, uint n)
{
    local int shared[4];
    private int own[4];
    generic int *pointers[3] = {in, shared + 3, own + 1};

    for (uint i = 0; i < 3; i++) {
        *pointers[i] = 7;
        out[i] = kind_of(pointers[i]);
        out[4 + i] = get_fence(pointers[i]);
    }
    out[8] = CLK_LOCAL_MEM_FENCE;
    out[9] = CLK_GLOBAL_MEM_FENCE;
    out[10] = to_local(pointers[1]) == shared + 3 && to_global(pointers[0]) == in;
}

/* What a compiler makes of printf: an address of the format, slots, and how many these are. */
int __zeta_printf(ulong format, ulong slots, ulong count);
constant char format[] = "%v4hlf|%v2lf|%v3hhd|%v8hx|%v16hhu|%v2ld|%-6.2v2hlf|%s|%d|%v5d|%v2s|%v4f\n";
constant char text[] = "text";

kernel void test_printf(global ulong *in, global int *out, uint n)
{
    ulong slots[64];

    for (uint i = 0; i < 64; i++)
        slots[i] = in[i];
    slots[37] = (ulong)text;
    out[0] = __zeta_printf((ulong)format, (ulong)slots, 64);
}
