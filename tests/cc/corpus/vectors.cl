/* Vectors: arithmetic, swizzles, loads and stores, comparisons, conversions. */

kernel void axpy4(global float4 *y, global const float4 *x, float a)
{
    size_t i = get_global_id(0);

    y[i] = a * x[i] + y[i];
}

kernel void swizzle(global int4 *out, global const int4 *in)
{
    size_t i = get_global_id(0);
    int4 v = in[i];

    out[i].xy = v.wz;
    out[i].hi = v.even;
    out[i].s1 += v.x;
}

kernel void three(global short *out, short3 a, short3 b)
{
    short3 sum = a + b * (short)2;

    vstore3(sum, 0, out);
    vstore3(sum.zyx, 1, out);
    out[6] = (short)sizeof(short3);
}

kernel void compare(global int *out, float4 a, float4 b)
{
    int4 less = a < b;
    int4 picked = select((int4)(1, 2, 3, 4), (int4)(-1, -2, -3, -4), less);

    vstore4(less, 0, out);
    vstore4(picked, 1, out);
    out[8] = any(less);
    out[9] = all(less);
    vstore4(isequal(a, b), 3, out);
}

kernel void wide(global float16 *data, float16 factor)
{
    size_t i = get_global_id(0);

    data[i] = data[i] * factor + (float16)(1.0f);
}

kernel void converts(global uchar4 *bytes, global int4 *ints, global float4 *floats)
{
    size_t i = get_global_id(0);
    float4 f = floats[i];

    bytes[i] = convert_uchar4_sat(f);
    ints[i] = convert_int4_rte(f);
    floats[i] = convert_float4(ints[i]) + as_float4((uint4)(0x3f800000u));
}

kernel void geometry(global float *out, float4 a, float4 b, float3 c, float3 d)
{
    out[0] = dot(a, b);
    out[1] = length((float2)(3.0f, 4.0f));
    vstore3(cross(c, d), 0, out + 2);
    out[5] = distance(a, a);
}

kernel void reduce16(global int *out, global const int16 *in)
{
    int16 v = in[get_global_id(0)];
    int8 a = v.lo + v.hi;
    int4 b = a.odd + a.even;
    int2 c = b.lo + b.hi;

    out[get_global_id(0)] = c.x + c.y;
}

kernel void indexed(global float *out, float8 v, int index)
{
    float parts[8];

    vstore8(v, 0, parts);
    out[0] = parts[index];
    v[index] = 99.0f;
    vstore8(v, 0, out + 1);
}

kernel void shuffles(global uint *out, uint4 a, uint4 b)
{
    vstore4(shuffle(a, (uint4)(3, 2, 1, 0)), 0, out);
    vstore4(shuffle2(a, b, (uint4)(0, 4, 1, 5)), 1, out);
}
