/* Barriers where flow is not plain. Each item takes what its neighbour left, so none may be early. */
#define PASS                                                                                       \
    shared[id] = mine;                                                                             \
    barrier(CLK_LOCAL_MEM_FENCE);                                                                  \
    mine = shared[(id + 1) % size] + 1;                                                            \
    barrier(CLK_LOCAL_MEM_FENCE);

#define BEGIN                                                                                      \
    local uint shared[256];                                                                        \
    const uint id = (uint)get_local_id(0), size = (uint)get_local_size(0);                         \
    const uint group = (uint)get_group_id(0);                                                      \
    uint mine = in[get_global_id(0)];

/* A loop with other trips in each group, and a way on and a way out that all take together. */
kernel void test_trips(global const uint *in, global uint *out, uint n)
{
    BEGIN
    for (uint i = 0; i <= group * 3 % 7; i++) {
        PASS
        if ((group + i) % 3 == 0)
            continue;
        PASS
        if (i == n)
            break;
        for (uint k = 0; k < i % 3; k++) {
            PASS
        }
    }
    out[get_global_id(0)] = mine;
}

/* Items come to the barrier by different ways, some after long loops. */
kernel void test_behind_branches(global const uint *in, global uint *out, uint n)
{
    BEGIN
    for (uint turn = 0; turn < n; turn++) {
        if (id % 3 == 0) {
            for (uint k = 0; k < id + turn; k++)
                mine = mine * 5 + k;
        } else if (id % 3 == 1) {
            mine ^= turn;
        }
        PASS
        for (uint k = 0; k < 40; k++) {
            if (k == id % 37)
                break;
            mine += k;
        }
        PASS
    }
    out[get_global_id(0)] = mine;
}

/* Barriers in functions and branches: groups take one or the other. */
__attribute__((noinline)) static uint pass(local uint *shared, uint id, uint size, uint mine)
{
    PASS
    return mine;
}

kernel void test_functions(global const uint *in, global uint *out, uint n)
{
    BEGIN
    if (group % 2 == 0) {
        mine = pass(shared, id, size, mine);
        mine += 100;
    } else if (group % 3 == 0) {
        PASS
        mine += 1000;
    } else {
        mine = pass(shared, id, size, mine * 3);
        PASS
    }
    switch (group % 4) {
    case 0:
        mine = pass(shared, id, size, mine);
        /* fall through */
    case 1:
        PASS
        break;
    default:
        mine += 7;
    }
    out[get_global_id(0)] = mine;
}

/* Items from n on leave; those that stay go on by themselves. OpenCL C leaves this open. */
kernel void test_early_return(global const uint *in, global uint *out, uint n)
{
    BEGIN
    if (id >= n) {
        out[get_global_id(0)] = mine + 5;
        return;
    }
    for (uint turn = 0; turn < 4; turn++) {
        shared[id] = mine;
        barrier(CLK_LOCAL_MEM_FENCE);
        mine = shared[(id + 1) % n] + 1;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    out[get_global_id(0)] = mine;
}
