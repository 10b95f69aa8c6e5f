/* Structs, arguments of every kind, variables of the program, printf. */
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

struct point {
    float x, y;
    char tag;
};

struct big {
    int values[10];
};

typedef struct {
    char a;
    double b;
    short c;
    float3 d;
} mixed;

union bits {
    float f;
    uint u;
};

kernel void move(global struct point *points, struct point by)
{
    size_t i = get_global_id(0);
    struct point p = points[i];

    p.x += by.x;
    p.y += by.y;
    p.tag = by.tag;
    points[i] = p;
}

kernel void mixes(global mixed *out, mixed in)
{
    size_t i = get_global_id(0);

    out[i] = in;
    out[i].b += i;
    out[i].d.y = (float)sizeof(mixed);
}

kernel void all_kinds(struct big s, global int *g, local int *l, float f, double d, float4 v, char c,
                      short3 w)
{
    l[get_local_id(0)] = s.values[get_local_id(0)];
    s.values[0] += 5; /* a copy of this item's own */
    barrier(CLK_LOCAL_MEM_FENCE);
    g[get_global_id(0)] = l[9 - get_local_id(0)] + s.values[0] + (int)f + (int)d + (int)v.w + c + w.z;
}

kernel void small_arguments(global long *out, char a, uchar b, short c, ushort d, int e, uint f,
                            long g, half h)
{
    out[0] = a;
    out[1] = b;
    out[2] = c;
    out[3] = d;
    out[4] = e;
    out[5] = f;
    out[6] = g;
    out[7] = (long)(float)h;
}

kernel void unions(global uint *out, float value)
{
    union bits bits;

    bits.f = value;
    out[0] = bits.u;
    bits.u ^= 0x80000000u;
    out[1] = bits.f < 0;
}

constant int primes[8] = {2, 3, 5, 7, 11, 13, 17, 19};
constant float4 unit = (float4)(1.0f, 2.0f, 3.0f, 4.0f);

kernel void constants(global int *out, constant int *more)
{
    size_t i = get_global_id(0);

    out[i] = primes[i & 7] * more[i] + (int)unit.z;
}

global int counter = 5;
global int table[4] = {1, 2, 3, 4};
global int *global pointer = &table[2];

kernel void program_scope(global int *out)
{
    atomic_add(&counter, 1);
    barrier(CLK_GLOBAL_MEM_FENCE);
    out[get_global_id(0)] = *pointer + table[get_global_id(0) & 3];
}

kernel void read_counter(global int *out)
{
    out[0] = counter;
}

kernel void print_scalars(int i, uint u, long l, float f, char c)
{
    printf("%d %u %ld %.2f %c %s %%|%5d|%-5d|%x\n", i, u, l, f, c, "text", i, i, u);
}

kernel void print_vectors(float4 f, int2 i, char4 c, double2 d)
{
    printf("%v4hlf %v2hld %v4hhd %.1v2lf\n", f, i, c, d);
    printf("%d %v3hlf %d\n", 1, f.xyz, 2);
}

kernel void print_loop(int n)
{
    for (int i = 0; i < n; i++)
        printf("%d:%d ", i, printf("")); /* 0 when all went well */
    printf("end\n");
}

struct inner {
    int a[3];
};

struct outer {
    struct inner list[2];
    global struct outer *next;
};

kernel void linked(global struct outer *first, global int *out)
{
    int sum = 0;

    for (global struct outer *each = first; each; each = each->next) {
        for (int i = 0; i < 2; i++)
            for (int k = 0; k < 3; k++)
                sum += each->list[i].a[k];
    }
    out[0] = sum;
}

struct pair {
    long first, second;
};

struct pair swap(struct pair p)
{
    struct pair other = {p.second, p.first};

    return other;
}

kernel void by_value(global struct pair *pairs)
{
    pairs[get_global_id(0)] = swap(pairs[get_global_id(0)]);
}

kernel void other_kernel(global int *out)
{
    out[get_global_id(0)] += 1;
}

/* A kernel is a function too. */
kernel void calls_kernel(global int *out)
{
    other_kernel(out);
    out[get_global_id(0)] *= 2;
}
