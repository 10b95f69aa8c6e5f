/*
 * What OpenCL C has no words for on NVIDIA's GPUs: conversions with a rounding mode, the barrier of
 * a group, and the math of libclc, whose functions have `__clc_` before their names here. Compiled
 * for nvptx64, so functions take and return scalars only: the rest of the library is compiled for
 * spir64.
 */
#define INLINE __attribute__((always_inline))

INLINE void __zeta_barrier(void)
{
    __syncthreads();
}

/* Shared memory of functions that all items of a group call together: 512 elements of 8 bytes. */
static __attribute__((address_space(3))) unsigned long group_row[512];

INLINE unsigned long *__zeta_group_row(void)
{
    return (unsigned long *)group_row;
}

/* Which memory a generic address belongs to. */

INLINE int __zeta_is_global(unsigned long address)
{
    return __nvvm_isspacep_global((const void *)address);
}

INLINE int __zeta_is_local(unsigned long address)
{
    return __nvvm_isspacep_shared((const void *)address);
}

INLINE int __zeta_is_private(unsigned long address)
{
    return __nvvm_isspacep_local((const void *)address);
}

/* Warps: the items of the mask call together, and get what lane @lane calls with. */

INLINE unsigned __zeta_lane(void)
{
    return (unsigned)__nvvm_read_ptx_sreg_laneid();
}

INLINE unsigned __zeta_active(void)
{
    unsigned mask;

    __asm__ volatile("activemask.b32 %0;" : "=r"(mask));
    return mask;
}

INLINE unsigned __zeta_shuffle(unsigned mask, unsigned value, unsigned lane)
{
    return (unsigned)__nvvm_shfl_sync_idx_i32(mask, (int)value, (int)lane, 31);
}

INLINE unsigned __zeta_ballot(unsigned mask, unsigned predicate)
{
    return __nvvm_vote_ballot_sync(mask, predicate != 0);
}

INLINE void __zeta_warp_barrier(unsigned mask)
{
    __nvvm_bar_warp_sync(mask);
}

INLINE long __zeta_multiply_high(long a, long b)
{
    return __nvvm_mulhi_ll(a, b);
}

INLINE unsigned long __zeta_multiply_high_unsigned(unsigned long a, unsigned long b)
{
    return __nvvm_mulhi_ull(a, b);
}

/*
 * Conversions by instructions: of the intrinsic functions LLVM takes some for conversions that may
 * do anything out of range, where instructions saturate.
 */
#define CONVERT(name, mode, instruction, to, out, from, in)                                        \
    INLINE to __zeta_##name##_##mode(from x)                                                       \
    {                                                                                              \
        to result;                                                                                 \
                                                                                                   \
        __asm__(instruction " %0, %1;" : "=" out(result) : in(x));                                 \
        return result;                                                                             \
    }
#define TO_INTEGER(name, types, to, from, in)                                                      \
    CONVERT(name, rte, "cvt.rni." types, to, "l", from, in)                                        \
    CONVERT(name, rtz, "cvt.rzi." types, to, "l", from, in)                                        \
    CONVERT(name, rtp, "cvt.rpi." types, to, "l", from, in)                                        \
    CONVERT(name, rtn, "cvt.rmi." types, to, "l", from, in)
#define TO_REAL(name, types, to, out, from, in)                                                    \
    CONVERT(name, rtz, "cvt.rz." types, to, out, from, in)                                         \
    CONVERT(name, rtp, "cvt.rp." types, to, out, from, in)                                         \
    CONVERT(name, rtn, "cvt.rm." types, to, out, from, in)
TO_INTEGER(float_to_long, "s64.f32", long, float, "f")
TO_INTEGER(double_to_long, "s64.f64", long, double, "d")
TO_INTEGER(float_to_ulong, "u64.f32", unsigned long, float, "f")
TO_INTEGER(double_to_ulong, "u64.f64", unsigned long, double, "d")
TO_REAL(long_to_float, "f32.s64", float, "f", long, "l")
TO_REAL(long_to_double, "f64.s64", double, "d", long, "l")
TO_REAL(ulong_to_float, "f32.u64", float, "f", unsigned long, "l")
TO_REAL(ulong_to_double, "f64.u64", double, "d", unsigned long, "l")
TO_REAL(double_to_float, "f32.f64", float, "f", double, "d")

/* Halves, by their bits. */
#define TO_HALF(from, types, in)                                                                   \
    CONVERT(from##_to_half, rte, "cvt.rn." types, unsigned short, "h", from, in)                   \
    CONVERT(from##_to_half, rtz, "cvt.rz." types, unsigned short, "h", from, in)                   \
    CONVERT(from##_to_half, rtp, "cvt.rp." types, unsigned short, "h", from, in)                   \
    CONVERT(from##_to_half, rtn, "cvt.rm." types, unsigned short, "h", from, in)
TO_HALF(float, "f16.f32", "f")
TO_HALF(double, "f16.f64", "d")

INLINE float __zeta_half_to_float(unsigned short bits)
{
    float value;

    __asm__("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
    return value;
}

/* Whole numbers: an instruction each, but for the one that rounds halves away from zero. */
#define WHOLE(name)                                                                                \
    INLINE float __zeta_float_##name(float x)                                                      \
    {                                                                                              \
        return __builtin_##name##f(x);                                                             \
    }                                                                                              \
    INLINE double __zeta_double_##name(double x)                                                   \
    {                                                                                              \
        return __builtin_##name(x);                                                                \
    }
WHOLE(ceil)
WHOLE(floor)
WHOLE(rint)
WHOLE(round)
WHOLE(trunc)

/*
 * ---- libclc ----
 *
 * The functions for float of libclc have no denormal numbers, so singles are computed in double and
 * rounded once. Its odd functions lose the sign of zero.
 */

#define UNIT1(length, name, value)                                                                 \
    double clc_##name(double) __asm__("__clc_" #length #name "d");                                 \
    INLINE double __zeta_double_##name(double x)                                                   \
    {                                                                                              \
        return value;                                                                              \
    }                                                                                              \
    INLINE float __zeta_float_##name(float x)                                                      \
    {                                                                                              \
        return (float)__zeta_double_##name(x);                                                     \
    }
#define PLAIN(length, name) UNIT1(length, name, clc_##name(x))
#define ODD(length, name) UNIT1(length, name, x == 0 ? x : clc_##name(x))
#define UNIT2(length, name)                                                                        \
    double clc_##name(double, double) __asm__("__clc_" #length #name "dd");                        \
    INLINE double __zeta_double_##name(double x, double y)                                         \
    {                                                                                              \
        return clc_##name(x, y);                                                                   \
    }                                                                                              \
    INLINE float __zeta_float_##name(float x, float y)                                             \
    {                                                                                              \
        return (float)clc_##name(x, y);                                                            \
    }

PLAIN(4, acos)
PLAIN(5, acosh)
ODD(4, asin)
ODD(5, asinh)
ODD(4, atan)
ODD(5, atanh)
ODD(4, cbrt)
PLAIN(3, cos)
PLAIN(4, cosh)
ODD(3, erf)
PLAIN(4, erfc)
PLAIN(3, exp)
PLAIN(4, exp2)
PLAIN(5, exp10)
ODD(5, expm1)
UNIT1(6, lgamma, __builtin_isinf(x) ? x *x : clc_lgamma(x))
PLAIN(3, log)
PLAIN(4, log2)
PLAIN(5, log10)
ODD(5, log1p)
ODD(3, sin)
ODD(4, sinh)
ODD(3, tan)
ODD(4, tanh)
UNIT2(5, atan2)
UNIT2(4, fmod)
UNIT2(5, hypot)
UNIT2(3, pow)
UNIT2(9, remainder)

double clc_rootn(double, int) __asm__("__clc_5rootndi");
INLINE double __zeta_double_rootn(double x, int n)
{
    return clc_rootn(x, n);
}

/*
 * The gamma function, which libclc computes as the exponential of its logarithm, some hundred
 * places off. Small operands come to 1 + t, t in [-1/2, 1/2], by exact steps; there a series gives
 * the reciprocal. Large ones take Stirling's series, as a product of two powers that do not
 * overflow, and negative ones its reflection.
 */
double sinpi(double) __asm__("_Z5sinpid");

static double gamma_near_one(double t)
{
    static const double terms[] = {0x1.11d065bfaf067p-37,  0x1.cae7675c18607p-34,
                                   -0x1.44b4cedca388fp-30, 0x1.57bc3fc384334p-28,
                                   0x1.a44b7ba22d629p-28,  -0x1.b9986666c225dp-23,
                                   0x1.302509dbc0de3p-20,  -0x1.4fad41fc34fbbp-20,
                                   -0x1.51ce8af47eabep-16, 0x1.0c8a78cd9f9d2p-13,
                                   -0x1.c364fe6f1563dp-13, -0x1.317112ce3a2a8p-10,
                                   0x1.d919c527f60b2p-8,   -0x1.3b4af28483e21p-7,
                                   -0x1.59af103c34092p-5,  0x1.5512320b43fbep-3,
                                   -0x1.5815e8fa27048p-5,  -0x1.4fcf4026afa2ep-1,
                                   0x1.2788cfc6fb619p-1,   1};
    double sum = 0;

    for (int i = 0; i < (int)(sizeof(terms) / sizeof(terms[0])); i++)
        sum = sum * t + terms[i];
    return 1 / sum;
}

static double gamma_small(double x)
{
    double product = 1, divisor = 1;

    for (; x > 1.5; product *= x)
        x -= 1;
    for (; x < 0.5; x += 1)
        divisor *= x;
    return product * gamma_near_one(x - 1) / divisor;
}

static double gamma_large(double x)
{
    const double root = 2.5066282746310005, pi = 3.141592653589793;
    const double size = __builtin_fabs(x), y = 1 / size, yy = y * y;
    const double rest =
        y * (1.0 / 12 - yy * (1.0 / 360 - yy * (1.0 / 1260 - yy * (1.0 / 1680 - yy / 1188))));
    const double power = clc_pow(size, 0.5 * size - 0.25);
    const double other = power * (clc_exp(-size) * (clc_exp(rest) * root));

    return x > 0 ? other * power : pi / (size * sinpi(x)) / other / power;
}

INLINE double __zeta_double_tgamma(double x)
{
    const double whole = __builtin_floor(x);

    if (__builtin_fabs(x) < 0x1p-60)
        return 1 / x;
    if (x < 0 && x == whole)
        return __builtin_nan("");
    if (x < -184)
        return whole * 0.5 == __builtin_floor(whole * 0.5) ? 0.0 : -0.0;
    if (!(x < 172))
        return x * 0x1p1023;
    return __builtin_fabs(x) < 20 ? gamma_small(x) : gamma_large(x);
}

INLINE float __zeta_float_tgamma(float x)
{
    return (float)__zeta_double_tgamma(x);
}
