/* Odd but legal OpenCL C, a kernel for each oddity. Results are rows of one item each, or said so. */

/* Constants of the program that point to each other, and into an array. */
struct link {
    constant struct link *next;
    constant int *value;
    short weight;
};
constant int values[5] = {11, 22, 33, 44, 55};
constant struct link last = {0, &values[4], 5};
constant struct link links[2] = {{&last, values + 3, 3}, {&last, &values[1], 7}};
constant struct link first = {&links[1], &values[1], 2};
constant struct link *constant entries[2] = {&first, links};

kernel void test_constants(global const uint *in, global int *out, uint n)
{
    const size_t id = get_global_id(0);
    int sum = 0;

    for (constant struct link *at = entries[in[id] % 2]; at; at = at->next)
        sum = sum * 3 + at->value[-(int)(id % 2)] * at->weight;
    out[id] = sum;
}

/* Padding, vectors of three, which take the room of four, and packed structs. */
struct padded {
    char tag;
    double wide;
    float3 place;
    uchar3 color;
    short last;
};
struct __attribute__((packed)) tight {
    char tag;
    ulong wide;
    short last;
};

kernel void test_structs(global const uint *in, global int *out, uint n)
{
    const size_t id = get_global_id(0);
    private struct padded own[3];
    private struct tight tight[3];
    int sum = 0;

    for (uint i = 0; i < 3; i++) {
        own[i] = (struct padded){(char)i, id * 0.5, (float3)(id, i, 3), (uchar3)(id, 250, i), (short)-i};
        tight[i] = (struct tight){(char)(id + i), id << 33 | i, (short)(id - 7)};
    }
    for (uint i = 0; i < 3; i++) {
        const uint k = (in[id] + i) % 3;

        sum = sum * 7 + own[k].tag + (int)(own[k].wide * 2) + (int)own[k].place.x + (int)own[k].place.y +
              own[k].color.s1 + own[k].color.s2 + own[k].last;
        sum += (int)(tight[k].wide >> 33) + (int)tight[k].wide + tight[k].last + tight[k].tag;
    }
    out[id] = sum + (int)sizeof(struct padded) * 1000 + (int)sizeof(struct tight) * 100000;
}

/* Dense and sparse switches. */
kernel void test_switches(global const uint *in, global int *out, uint n)
{
    const size_t id = get_global_id(0);
    const uint x = in[id];
    int result = 0;

    switch (x % 12) {
    case 0: result = 17; break;
    case 1: result = -3; break;
    case 2: result = 99;
    case 3: result += 4; break;
    case 4: case 5: case 6: result = (int)x; break;
    case 7: result = 1 << 30; break;
    case 8: return;
    case 9: result = -1; break;
    default: result = 5;
    }
    switch ((ulong)x << 35) {
    case 0x800000000ul: result += 1; break;
    case 0x1000000000ul: result += 2; break;
    case 0xfffffff800000000ul: result += 3; break;
    case 0x2800000000ul: result += 4; break;
    }
    out[id] = result;
}

/* Structs in arrays in local memory, and generic pointers kept there, of three kinds of memory. */
struct cell {
    generic int *to;
    char3 small;
    int own;
};
global int shared_by_all = 1000;

kernel void test_pointers(global int *in, global int *out, uint n)
{
    local struct cell cells[64];
    local int numbers[64];
    const uint id = (uint)get_local_id(0), size = (uint)get_local_size(0);
    local struct cell *mine = &cells[id];

    numbers[id] = (int)id * 3;
    mine->to = id % 3 == 0 ? (generic int *)&in[id] : id % 3 == 1 ? (generic int *)&numbers[size - 1 - id]
                                                                   : (generic int *)&mine->own;
    mine->small = (char3)(id, -1, 2);
    mine->own = (int)id - 100;
    barrier(CLK_LOCAL_MEM_FENCE);
    {
        local struct cell *other = &cells[(id + 1) % size];
        generic int *generic *slot = (generic int *generic *)&other->to;

        out[id] = **slot + other->small.s0 + other->small.s1 + shared_by_all;
    }
}

/* The address of a variable in local memory in an initializer, and of parts of others. */
kernel void test_addresses(global const uint *in, global int *out, uint n)
{
    local int a[8], b;
    const size_t id = get_local_id(0);
    local int *const places[3] = {&b, a + 2, &a[7]};
    struct {
        local int *first;
        private int *second;
        generic int *third;
    } set = {&a[5], 0, &b};
    private int own[4] = {1, 2, 3, (int)id};

    set.second = &own[3];
    if (id == 0) {
        for (int i = 0; i < 8; i++)
            a[i] = i * 10;
        b = 77;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    out[id] = *places[in[id] % 3] + *set.first + *set.second + *set.third + (int)(places[2] - places[1]) * 10000;
}

/* Shifts, divisions and remainders of 64 bits, with counts that are known and not. */
kernel void test_wide(global const uint *in, global long *out, uint n)
{
    const size_t id = get_global_id(0);
    const long a = (long)((ulong)in[id] * 0x9e3779b97f4a7c15ul), b = (long)(int)(in[id] * 77u) | 1;
    const ulong u = (ulong)a, v = (ulong)b;
    const uint count = in[id];

    out += id * 12;
    out[0] = a << (count & 63);
    out[1] = a >> (count & 63);
    out[2] = (long)(u >> (count & 63));
    out[3] = a << 32 | (long)(u >> 32);
    out[4] = a / b;
    out[5] = a % b;
    out[6] = (long)(u / v);
    out[7] = (long)(u % v);
    out[8] = a / 10 + a % 1000000007;
    out[9] = (long)(u / 3 + u % 4294967311ul);
    out[10] = (long)(u * v);
    out[11] = (long)((short)a << (count & 15)) + (char)(a >> 7);
}

/* Volatile numbers in each memory: every access takes place. */
kernel void test_volatile(global volatile uint *in, global int *out, uint n)
{
    volatile private uint own[2] = {3, 4};
    volatile local uint shared[64];
    const size_t id = get_local_id(0);

    shared[id] = in[id];
    shared[id] = shared[id] + own[0];
    own[1] = own[1] * own[1] + shared[id];
    out[id] = (int)(own[1] + in[id]);
}

/* A kernel that is called, with local memory of its own, by one that has some too. */
kernel void test_callee(global const uint *in, global int *out, uint n)
{
    local uint left[64];
    const size_t id = get_local_id(0);

    left[id] = in[id] + n;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[id] = (int)left[get_local_size(0) - 1 - id];
}

kernel void test_caller(global const uint *in, global int *out, uint n)
{
    local uint right[64];
    const size_t id = get_local_id(0);

    right[id] = in[id] * 2;
    test_callee(in, out, n + 1);
    barrier(CLK_LOCAL_MEM_FENCE);
    out[id] += (int)right[(id + 1) % get_local_size(0)];
}

/* Structs by value, in and out, some of them large, of functions that are not inlined. */
struct large {
    int numbers[24];
    long3 wide;
    char tail;
};

__attribute__((noinline)) static struct large turn(struct large x, int by, struct padded p)
{
    struct large y = x;

    for (int i = 0; i < 24; i++)
        y.numbers[i] = x.numbers[(i + by) % 24];
    y.wide = x.wide.zxy + p.last;
    y.tail = (char)(x.tail + p.tag);
    x.numbers[0] = -1;
    return y;
}

kernel void test_by_value(global const uint *in, global int *out, uint n)
{
    const size_t id = get_global_id(0);
    struct large x;
    struct padded p = {.tag = 3, .last = (short)-id};
    uint sum = 0;

    for (uint i = 0; i < 24; i++)
        x.numbers[i] = (int)(in[id] * i);
    x.wide = (long3)(1, 1l << 40, id);
    x.tail = (char)id;
    x = turn(turn(x, 5, p), (int)(in[id] % 24), p);
    for (int i = 0; i < 24; i++)
        sum = sum * 5 + (uint)x.numbers[i];
    out[id] = (int)sum + (int)x.wide.x + (int)(x.wide.y >> 8) + (int)(x.wide.z >> 20) + x.tail;
}

/* Sixteen kilobytes for each item, of bytes and of vectors, at places that are not known before. */
kernel void test_large_private(global const uint *in, global int *out, uint n)
{
    private uchar bytes[8192];
    private float4 vectors[512];
    const size_t id = get_global_id(0);
    uint at = in[id], sum = 0;

    for (uint i = 0; i < 8192; i++)
        bytes[i] = (uchar)(i * 7 + id);
    for (uint i = 0; i < 512; i++)
        vectors[i] = (float4)(i, id, 1, 2);
    for (uint i = 0; i < 50; i++) {
        at = at * 1664525u + 1013904223u;
        bytes[at >> 19] ^= (uchar)at;
        vectors[at >> 23].y += 1;
        sum = sum * 31 + bytes[at >> 8 & 8191] + (uint)vectors[at >> 11 & 511].y;
    }
    out[id] = (int)sum;
}
