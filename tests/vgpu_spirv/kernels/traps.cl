/* Kernels of which at least one compiler once made something else. */

/* A scalar that the whole group shares, and that must not become a register of each item. */
kernel void shared_scalar(global int *out)
{
    local int shared;

    shared = (int)get_local_id(0);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 1)
        shared = 77;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = shared;
}

struct mixed {
    float first;
    int middle[7];
    double last;
};

/* All kinds of arguments: by value, by address, vectors, of all sizes and alignments. */
kernel void arguments(struct mixed s, global double *out, local int *scratch, float f, double d,
                      float4 v, char c, short3 h)
{
    scratch[0] = 41;
    scratch[1] = scratch[0] + 1;
    out[0] = s.first;
    for (int i = 0; i < 7; i++)
        out[1 + i] = s.middle[i];
    out[8] = s.last;
    out[9] = scratch[1];
    out[10] = f;
    out[11] = d;
    out[12] = v.x;
    out[13] = v.y;
    out[14] = v.z;
    out[15] = v.w;
    out[16] = c;
    out[17] = h.x;
    out[18] = h.y;
    out[19] = h.z;
}

struct mixed __attribute__((noinline)) change(struct mixed s, float4 v)
{
    s.first += v.x * v.w;
    s.middle[3] = (int)v.y;
    s.last *= v.z;
    return s;
}

/* Functions that take and give structs and vectors. */
kernel void calls(global double *out, float4 v)
{
    struct mixed s = {1.5f, {1, 2, 3, 4, 5, 6, 7}, 2.25};

    s = change(s, v);
    s = change(s, v.wzyx);
    out[0] = s.first;
    out[1] = s.middle[3];
    out[2] = s.last;
}

/* Arguments of all scalar sizes between others that are larger. */
typedef int bool_as_int;

kernel void scalars(global long *out, char c, long l, short s, int i, uchar u, ulong big,
                    double2 pair, bool_as_int b)
{
    out[0] = c;
    out[1] = l;
    out[2] = s;
    out[3] = i;
    out[4] = u;
    out[5] = (long)big;
    out[6] = (long)pair.x;
    out[7] = (long)pair.y;
    out[8] = b;
}

kernel void wide(global int16 *in, global int16 *out, global double8 *more)
{
    out[0] = in[0].sfedcba9876543210 + in[1];
    more[0] = convert_double8(in[0].lo) * 0.5;
}

/* Variables of the program, seen by the host. */
global int counter = 5;
global float table[4] = {1.0f, 2.0f, 3.0f, 4.0f};
constant int primes[5] = {2, 3, 5, 7, 11};

kernel void variables(global float *out)
{
    counter += primes[get_global_id(0)];
    out[get_global_id(0)] = table[get_global_id(0) & 3];
}

int __attribute__((noinline)) twice(int x)
{
    return 2 * x + primes[0];
}

kernel __attribute__((reqd_work_group_size(4, 2, 1))) void sized(global int *out)
{
    out[get_global_linear_id()] = (int)get_local_linear_id();
}

kernel __attribute__((vec_type_hint(float4))) __attribute__((work_group_size_hint(8, 1, 1))) void
hinted(global int *out)
{
    out[0] = twice(out[0]);
}

/* Private memory that does not fit into registers. */
kernel void spilling(global float *data, int n)
{
    float rows[64];

    for (int i = 0; i < 64; i++)
        rows[i] = data[i];
    for (int k = 0; k < n; k++)
        for (int i = 0; i < 64; i++)
            rows[i] = rows[(i * 7 + k) & 63] + rows[(i + 1) & 63];
    for (int i = 0; i < 64; i++)
        data[i] = rows[i];
}
