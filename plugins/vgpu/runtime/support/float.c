/*
 * Floating point functions that LLVM calls for operations without an instruction, such as the
 * remainder, under their C names.
 */
#include "../vgpu.h"

#define UNIT1(name, function)                                                                      \
    double name(double x);                                                                         \
    float name##f(float x);                                                                        \
    double name(double x)                                                                          \
    {                                                                                              \
        return vgpu_math64(function, x, 0);                                                        \
    }                                                                                              \
    float name##f(float x)                                                                         \
    {                                                                                              \
        return vgpu_math(function, x, 0);                                                          \
    }

#define UNIT2(name, function)                                                                      \
    double name(double x, double y);                                                               \
    float name##f(float x, float y);                                                               \
    double name(double x, double y)                                                                \
    {                                                                                              \
        return vgpu_math64(function, x, y);                                                        \
    }                                                                                              \
    float name##f(float x, float y)                                                                \
    {                                                                                              \
        return vgpu_math(function, x, y);                                                          \
    }

UNIT1(ceil, VGPU_MATH_CEIL)
UNIT1(floor, VGPU_MATH_FLOOR)
UNIT1(round, VGPU_MATH_ROUND)
UNIT1(trunc, VGPU_MATH_TRUNC)
UNIT1(cos, VGPU_MATH_COS)
UNIT1(exp, VGPU_MATH_EXP)
UNIT1(exp2, VGPU_MATH_EXP2)
UNIT1(log, VGPU_MATH_LOG)
UNIT1(log2, VGPU_MATH_LOG2)
UNIT1(log10, VGPU_MATH_LOG10)
UNIT1(sin, VGPU_MATH_SIN)
UNIT2(fmod, VGPU_MATH_FMOD)
UNIT2(pow, VGPU_MATH_POW)

/* To a whole number by way of an integer, to nearest even; the sign is kept for zeros. */
#define NEAREST(name, type, mnemonic, size, copy_sign, limit)                                      \
    type name(type x);                                                                             \
    type name(type x)                                                                              \
    {                                                                                              \
        long whole;                                                                                \
                                                                                                   \
        if (!(size(x) < (limit)))                                                                  \
            return x;                                                                              \
        __asm__(mnemonic " %0, %1, rne" : "=r"(whole) : "f"(x));                                   \
        return copy_sign((type)whole, x);                                                          \
    }
#define NEAREST_BOTH(name)                                                                         \
    NEAREST(name, double, "fcvt.l.d", __builtin_fabs, __builtin_copysign, 0x1p52)                  \
    NEAREST(name##f, float, "fcvt.l.s", __builtin_fabsf, __builtin_copysignf, 0x1p23f)
NEAREST_BOTH(rint)
NEAREST_BOTH(nearbyint)
NEAREST_BOTH(roundeven)
