#pragma OPENCL EXTENSION cl_khr_fp16 : enable

kernel void half_sums(global half *a, global half4 *b, global float *out, half c)
{
    size_t i = get_global_id(0);

    out[i] = (float)(a[i] * c);
    b[i] = b[i] + (half4)(a[i]);
}
