/*
 * What OpenCL C has no words for: the device calls and conversions with a rounding mode. Compiled
 * for riscv64, so functions take and return 64-bit integers and floating point only: the rest of
 * the library is compiled for spir64, which does not extend narrow integers in calls.
 */
#include "../vgpu.h"

#define INLINE __attribute__((always_inline))

INLINE const struct vgpu_thread *__vgpu_thread(void)
{
    return vgpu_thread();
}

INLINE void __zeta_barrier(void)
{
    vgpu_barrier();
}

/** printf with one 8-byte slot per value; returns the length. */
INLINE int __zeta_printf(unsigned long format, unsigned long slots, unsigned long count)
{
    register unsigned long length __asm__("a0") = format;
    register unsigned long values __asm__("a1") = slots;
    register unsigned long values_count __asm__("a2") = count;
    register long number __asm__("a7") = VGPU_CALL_PRINTF_SLOTS;

    __asm__ volatile("ecall"
                     : "+r"(length)
                     : "r"(values), "r"(values_count), "r"(number)
                     : "memory");
    return (int)length;
}

/*
 * Local memory of functions that all items of a group call together. It is in the address space of
 * local variables, so that zeta-vgpu-cc places it as it does those: only for kernels that use it.
 */
static __attribute__((address_space(3), section(".bss.slm"))) unsigned long group_row[512];

INLINE unsigned long *__zeta_group_row(void)
{
    return (unsigned long *)group_row;
}

/*
 * Extended math: enum vgpu_math, on float and on double. The unit computes singles in double and
 * rounds once.
 */

static INLINE float math32(long function, float a, float b)
{
    register float x __asm__("fa0") = a;
    register float y __asm__("fa1") = b;
    register long number __asm__("a7") = VGPU_CALL_MATH32 + function;

    __asm__("ecall" : "+f"(x) : "f"(y), "r"(number));
    return x;
}

static INLINE double math64(long function, double a, double b)
{
    register double x __asm__("fa0") = a;
    register double y __asm__("fa1") = b;
    register long number __asm__("a7") = VGPU_CALL_MATH64 + function;

    __asm__("ecall" : "+f"(x) : "f"(y), "r"(number));
    return x;
}

#define UNIT1(name, function)                                                                      \
    INLINE float __zeta_float_##name(float x)                                                      \
    {                                                                                              \
        return math32(function, x, 0);                                                             \
    }                                                                                              \
    INLINE double __zeta_double_##name(double x)                                                   \
    {                                                                                              \
        return math64(function, x, 0);                                                             \
    }
#define UNIT2(name, function)                                                                      \
    INLINE float __zeta_float_##name(float x, float y)                                             \
    {                                                                                              \
        return math32(function, x, y);                                                             \
    }                                                                                              \
    INLINE double __zeta_double_##name(double x, double y)                                         \
    {                                                                                              \
        return math64(function, x, y);                                                             \
    }

UNIT1(acos, VGPU_MATH_ACOS)
UNIT1(acosh, VGPU_MATH_ACOSH)
UNIT1(asin, VGPU_MATH_ASIN)
UNIT1(asinh, VGPU_MATH_ASINH)
UNIT1(atan, VGPU_MATH_ATAN)
UNIT1(atanh, VGPU_MATH_ATANH)
UNIT1(cbrt, VGPU_MATH_CBRT)
UNIT1(cos, VGPU_MATH_COS)
UNIT1(cosh, VGPU_MATH_COSH)
UNIT1(erf, VGPU_MATH_ERF)
UNIT1(erfc, VGPU_MATH_ERFC)
UNIT1(exp, VGPU_MATH_EXP)
UNIT1(exp2, VGPU_MATH_EXP2)
UNIT1(exp10, VGPU_MATH_EXP10)
UNIT1(expm1, VGPU_MATH_EXPM1)
UNIT1(lgamma, VGPU_MATH_LGAMMA)
UNIT1(log, VGPU_MATH_LOG)
UNIT1(log2, VGPU_MATH_LOG2)
UNIT1(log10, VGPU_MATH_LOG10)
UNIT1(log1p, VGPU_MATH_LOG1P)
UNIT1(sin, VGPU_MATH_SIN)
UNIT1(sinh, VGPU_MATH_SINH)
UNIT1(tan, VGPU_MATH_TAN)
UNIT1(tanh, VGPU_MATH_TANH)
UNIT1(tgamma, VGPU_MATH_TGAMMA)
UNIT2(atan2, VGPU_MATH_ATAN2)
UNIT2(fmod, VGPU_MATH_FMOD)
UNIT2(hypot, VGPU_MATH_HYPOT)
UNIT2(pow, VGPU_MATH_POW)
UNIT2(remainder, VGPU_MATH_REMAINDER)

INLINE double __zeta_double_rootn(double x, int n)
{
    return math64(VGPU_MATH_ROOTN, x, (double)n);
}

INLINE long __zeta_multiply_high(long a, long b)
{
    return (long)(((__int128)a * b) >> 64);
}

INLINE unsigned long __zeta_multiply_high_unsigned(unsigned long a, unsigned long b)
{
    return (unsigned long)(((unsigned __int128)a * b) >> 64);
}

/*
 * Conversions with a rounding mode: to nearest even, to zero, up, down, and to nearest away from
 * zero. To integers they saturate, and take a NaN for the largest one.
 */
#define CONVERT(name, mode, rounding, instruction, to, out, from, in)                              \
    INLINE to __zeta_##name##_##mode(from value)                                                   \
    {                                                                                              \
        to result;                                                                                 \
                                                                                                   \
        __asm__(instruction " %0, %1, " rounding : out(result) : in(value));                       \
        return result;                                                                             \
    }
#define CONVERT_MODES(name, ...)                                                                   \
    CONVERT(name, rte, "rne", __VA_ARGS__)                                                         \
    CONVERT(name, rtz, "rtz", __VA_ARGS__)                                                         \
    CONVERT(name, rtp, "rup", __VA_ARGS__)                                                         \
    CONVERT(name, rtn, "rdn", __VA_ARGS__)                                                         \
    CONVERT(name, away, "rmm", __VA_ARGS__)

CONVERT_MODES(float_to_long, "fcvt.l.s", long, "=r", float, "f")
CONVERT_MODES(double_to_long, "fcvt.l.d", long, "=r", double, "f")
CONVERT_MODES(float_to_ulong, "fcvt.lu.s", unsigned long, "=r", float, "f")
CONVERT_MODES(double_to_ulong, "fcvt.lu.d", unsigned long, "=r", double, "f")
CONVERT_MODES(long_to_float, "fcvt.s.l", float, "=f", long, "r")
CONVERT_MODES(long_to_double, "fcvt.d.l", double, "=f", long, "r")
CONVERT_MODES(ulong_to_float, "fcvt.s.lu", float, "=f", unsigned long, "r")
CONVERT_MODES(ulong_to_double, "fcvt.d.lu", double, "=f", unsigned long, "r")
CONVERT_MODES(double_to_float, "fcvt.s.d", float, "=f", double, "f")

/* Whole numbers: by way of an integer where there is a fraction. The sign is kept for zeros. */
#define WHOLE(name, type, mode, limit, suffix)                                                     \
    INLINE type __zeta_##type##_##name(type x)                                                     \
    {                                                                                              \
        return __builtin_fabs##suffix(x) < limit                                                   \
                   ? __builtin_copysign##suffix((type)__zeta_##type##_to_long_##mode(x), x)        \
                   : x;                                                                            \
    }
#define WHOLES(name, mode)                                                                         \
    WHOLE(name, float, mode, 0x1p23f, f)                                                           \
    WHOLE(name, double, mode, 0x1p52, )
WHOLES(ceil, rtp)
WHOLES(floor, rtn)
WHOLES(rint, rte)
WHOLES(round, away)
WHOLES(trunc, rtz)
