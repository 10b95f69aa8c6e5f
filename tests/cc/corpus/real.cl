/* Floating point in three widths. */
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

kernel void arithmetic(global float *out, float a, float b)
{
    out[0] = a + b;
    out[1] = a - b;
    out[2] = a * b;
    out[3] = a / b;
    out[4] = sqrt(a);
    out[5] = fma(a, b, 1.0f);
    out[6] = fabs(-a);
    out[7] = fmin(a, b);
    out[8] = copysign(a, -1.0f);
    out[9] = mad(a, b, a);
    out[10] = a * b + a;
    out[11] = fmod(a, b);
}

kernel void rounding(global float *out, global const float *in)
{
    size_t i = get_global_id(0);

    out[i * 6 + 0] = floor(in[i]);
    out[i * 6 + 1] = ceil(in[i]);
    out[i * 6 + 2] = round(in[i]);
    out[i * 6 + 3] = trunc(in[i]);
    out[i * 6 + 4] = rint(in[i]);
    out[i * 6 + 5] = (float)(int)in[i];
}

kernel void transcendent(global float *out, float x)
{
    out[0] = exp(x);
    out[1] = log(x);
    out[2] = sin(x);
    out[3] = cos(x);
    out[4] = pow(x, 2.5f);
    out[5] = native_exp(x);
    out[6] = rsqrt(x);
    out[7] = exp2(x);
    out[8] = atan2(x, 2.0f);
}

kernel void doubles(global double *out, double a, double b)
{
    out[0] = a / b;
    out[1] = sqrt(a);
    out[2] = pow(a, b);
    out[3] = (double)(float)a;
    out[4] = floor(-a);
    out[5] = fmax(a, b);
}

kernel void halves(global half *out, global const half *in, global float *wide)
{
    size_t i = get_global_id(0);
    half x = in[i];

    out[i] = x * (half)2.0f + (half)0.5f;
    wide[i] = vload_half(i, in);
    vstore_half_rtz(wide[i] * 1.001f, i + get_global_size(0), out);
}

kernel void classes(global int *out, global const float *in)
{
    size_t i = get_global_id(0);

    out[i] = isnan(in[i]) | isinf(in[i]) << 1 | isfinite(in[i]) << 2 | signbit(in[i]) << 3 |
             isnormal(in[i]) << 4;
}

kernel void pieces(global float *out, global int *exponents, float x)
{
    int exponent;
    float whole;
    float cosine;

    out[0] = frexp(x, &exponent);
    exponents[0] = exponent;
    out[1] = modf(x, &whole);
    out[2] = whole;
    out[3] = sincos(x, &cosine);
    out[4] = cosine;
    out[5] = ldexp(x, 3);
    exponents[1] = ilogb(x);
}

kernel void mandelbrot(global uchar *out, int width, int height, int limit)
{
    int px = (int)get_global_id(0), py = (int)get_global_id(1);
    float cx = -2.0f + 3.0f * (float)px / (float)width;
    float cy = -1.0f + 2.0f * (float)py / (float)height;
    float x = 0, y = 0;
    int n = 0;

    for (; n < limit && x * x + y * y < 4.0f; n++) {
        float t = x * x - y * y + cx;

        y = 2.0f * x * y + cy;
        x = t;
    }
    out[py * width + px] = (uchar)n;
}

kernel void conversions(global long *out, float f, double d, long l)
{
    out[0] = convert_int_sat(f * 1e30f);
    out[1] = convert_uint_sat(-f);
    out[2] = convert_long_rtp(d);
    out[3] = convert_int_rtn(-f);
    out[4] = (long)convert_float_rtz(l);
    out[5] = as_int(f);
    out[6] = as_long(d);
}
