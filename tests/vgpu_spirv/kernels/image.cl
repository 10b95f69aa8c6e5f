kernel void blur(read_only image2d_t in, sampler_t how, global float4 *out)
{
    out[get_global_id(0)] = read_imagef(in, how, (int2)(1, 2));
}
