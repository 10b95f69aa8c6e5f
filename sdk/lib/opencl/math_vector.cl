/* Vector forms of the math functions, and forms that store through other than private pointers. */
#include "builtin.h"

#define ALL1(T, name) VECTOR1(name, T, T)
#define ALL2(T, name) VECTOR2(name, T, T, T)
#define ALL3(T, name) VECTOR3(name, T, T, T, T)
#define UNARY(name) EACH_REAL(ALL1, name)
#define BINARY(name) EACH_REAL(ALL2, name)
#define TERNARY(name) EACH_REAL(ALL3, name)

UNARY(acos)
UNARY(acosh)
UNARY(acospi)
UNARY(asin)
UNARY(asinh)
UNARY(asinpi)
UNARY(atan)
UNARY(atanh)
UNARY(atanpi)
UNARY(cbrt)
UNARY(ceil)
UNARY(cos)
UNARY(cosh)
UNARY(cospi)
UNARY(erf)
UNARY(erfc)
UNARY(exp)
UNARY(exp2)
UNARY(exp10)
UNARY(expm1)
UNARY(fabs)
UNARY(floor)
UNARY(lgamma)
UNARY(log)
UNARY(log2)
UNARY(log10)
UNARY(log1p)
UNARY(logb)
UNARY(rint)
UNARY(round)
UNARY(rsqrt)
UNARY(sin)
UNARY(sinh)
UNARY(sinpi)
UNARY(sqrt)
UNARY(tan)
UNARY(tanh)
UNARY(tanpi)
UNARY(tgamma)
UNARY(trunc)

BINARY(atan2)
BINARY(atan2pi)
BINARY(copysign)
BINARY(fdim)
BINARY(fmax)
BINARY(fmin)
BINARY(fmod)
BINARY(hypot)
BINARY(maxmag)
BINARY(minmag)
BINARY(nextafter)
BINARY(pow)
BINARY(powr)
BINARY(remainder)

TERNARY(fma)
TERNARY(mad)

/* A scalar as the second operand. */
#define SPREAD(V, T, name) SPREAD_LAST(name, V, V, T)
#define SPREAD_EACH(T, name) EACH_VECTOR(SPREAD, T, T, name)
EACH_REAL(SPREAD_EACH, fmax)
EACH_REAL(SPREAD_EACH, fmin)

/* Functions that take or give integers. */
#define EXPONENTS(T)                                                                               \
    VECTOR1(ilogb, int, T)                                                                         \
    VECTOR2(ldexp, T, T, int)                                                                      \
    VECTOR2(pown, T, T, int)                                                                       \
    VECTOR2(rootn, T, T, int)                                                                      \
    SPREAD_LAST(ldexp, T##2, int2, int)                                                            \
    SPREAD_LAST(ldexp, T##3, int3, int)                                                            \
    SPREAD_LAST(ldexp, T##4, int4, int)                                                            \
    SPREAD_LAST(ldexp, T##8, int8, int)                                                            \
    SPREAD_LAST(ldexp, T##16, int16, int)
EACH_REAL(EXPONENTS)

VECTOR1(nan, float, uint)
VECTOR1(nan, double, ulong)
VECTOR1(nan, half, ushort)

/* Fast forms exist for float only. */
#define FAST1(name)                                                                                \
    VECTOR1(native_##name, float, float)                                                           \
    VECTOR1(half_##name, float, float)
#define FAST2(name)                                                                                \
    VECTOR2(native_##name, float, float, float)                                                    \
    VECTOR2(half_##name, float, float, float)
FAST1(cos)
FAST1(exp)
FAST1(exp2)
FAST1(exp10)
FAST1(log)
FAST1(log2)
FAST1(log10)
FAST1(recip)
FAST1(rsqrt)
FAST1(sin)
FAST1(sqrt)
FAST1(tan)
FAST2(divide)
FAST2(powr)

/* A second result of type P, by vectors in private memory first. */
#define POINTER1_HALVES(name, T, P, half_P)                                                        \
    T OVERLOAD name(T x, private P *second)                                                        \
    {                                                                                              \
        half_P low, high;                                                                          \
        T result = (T)(name(x.lo, &low), name(x.hi, &high));                                       \
        *second = (P)(low, high);                                                                  \
        return result;                                                                             \
    }
#define POINTER1_ELSEWHERE(T, P, name, space)                                                      \
    T OVERLOAD name(T x, space P *second)                                                          \
    {                                                                                              \
        private P value;                                                                           \
        T result = name(x, &value);                                                                \
        *second = value;                                                                           \
        return result;                                                                             \
    }
#define POINTER1_SPACE(name, T, P, space)                                                          \
    POINTER1_ELSEWHERE(T, P, name, space)                                                          \
    POINTER1_ELSEWHERE(T##2, P##2, name, space)                                                    \
    POINTER1_ELSEWHERE(T##3, P##3, name, space)                                                    \
    POINTER1_ELSEWHERE(T##4, P##4, name, space)                                                    \
    POINTER1_ELSEWHERE(T##8, P##8, name, space)                                                    \
    POINTER1_ELSEWHERE(T##16, P##16, name, space)
#define POINTER1(name, T, P)                                                                       \
    T OVERLOAD name(T x, private P *second);                                                       \
    POINTER1_HALVES(name, T##2, P##2, P)                                                           \
    T##3 OVERLOAD name(T##3 x, private P##3 *second)                                               \
    {                                                                                              \
        P a, b, c;                                                                                 \
        T##3 result = (T##3)(name(x.s0, &a), name(x.s1, &b), name(x.s2, &c));                      \
        *second = (P##3)(a, b, c);                                                                 \
        return result;                                                                             \
    }                                                                                              \
    POINTER1_HALVES(name, T##4, P##4, P##2)                                                        \
    POINTER1_HALVES(name, T##8, P##8, P##4)                                                        \
    POINTER1_HALVES(name, T##16, P##16, P##8)                                                      \
    POINTER1_SPACE(name, T, P, global)                                                             \
    POINTER1_SPACE(name, T, P, local)                                                              \
    POINTER1_SPACE(name, T, P, generic)
#define POINTERS1(T)                                                                               \
    POINTER1(fract, T, T)                                                                          \
    POINTER1(modf, T, T)                                                                           \
    POINTER1(sincos, T, T)                                                                         \
    POINTER1(frexp, T, int)                                                                        \
    POINTER1(lgamma_r, T, int)
EACH_REAL(POINTERS1)

/* The same for remquo, which has two operands. */
#define REMQUO_HALVES(T, P, half_P)                                                                \
    T OVERLOAD remquo(T x, T y, private P *quotient)                                               \
    {                                                                                              \
        half_P low, high;                                                                          \
        T result = (T)(remquo(x.lo, y.lo, &low), remquo(x.hi, y.hi, &high));                       \
        *quotient = (P)(low, high);                                                                \
        return result;                                                                             \
    }
#define REMQUO_ELSEWHERE(T, P, space)                                                              \
    T OVERLOAD remquo(T x, T y, space P *quotient)                                                 \
    {                                                                                              \
        private P value;                                                                           \
        T result = remquo(x, y, &value);                                                           \
        *quotient = value;                                                                         \
        return result;                                                                             \
    }
#define REMQUO_SPACE(T, space)                                                                     \
    REMQUO_ELSEWHERE(T, int, space)                                                                \
    REMQUO_ELSEWHERE(T##2, int2, space)                                                            \
    REMQUO_ELSEWHERE(T##3, int3, space)                                                            \
    REMQUO_ELSEWHERE(T##4, int4, space)                                                            \
    REMQUO_ELSEWHERE(T##8, int8, space)                                                            \
    REMQUO_ELSEWHERE(T##16, int16, space)
#define REMQUO(T)                                                                                  \
    T OVERLOAD remquo(T x, T y, private int *quotient);                                            \
    REMQUO_HALVES(T##2, int2, int)                                                                 \
    T##3 OVERLOAD remquo(T##3 x, T##3 y, private int3 *quotient)                                   \
    {                                                                                              \
        int a, b, c;                                                                               \
        T##3 result =                                                                              \
            (T##3)(remquo(x.s0, y.s0, &a), remquo(x.s1, y.s1, &b), remquo(x.s2, y.s2, &c));        \
        *quotient = (int3)(a, b, c);                                                               \
        return result;                                                                             \
    }                                                                                              \
    REMQUO_HALVES(T##4, int4, int2)                                                                \
    REMQUO_HALVES(T##8, int8, int4)                                                                \
    REMQUO_HALVES(T##16, int16, int8)                                                              \
    REMQUO_SPACE(T, global)                                                                        \
    REMQUO_SPACE(T, local)                                                                         \
    REMQUO_SPACE(T, generic)
EACH_REAL(REMQUO)
