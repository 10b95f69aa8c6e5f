/*
 * Which functions are tested, for the kernels and for the tests that check them.
 *
 * MATH1, MATH2, MATH3: X(name, bound of float, bound of double), in units in the last place as in
 * section 7.4 of the OpenCL C 2.0 specification; 0: the result must be the correctly rounded one.
 */
#define MATH1(X)                                                                                   \
    X(acos, 4, 4)                                                                                  \
    X(acosh, 4, 4)                                                                                 \
    X(acospi, 5, 5)                                                                                \
    X(asin, 4, 4)                                                                                  \
    X(asinh, 4, 4)                                                                                 \
    X(asinpi, 5, 5)                                                                                \
    X(atan, 5, 5)                                                                                  \
    X(atanh, 5, 5)                                                                                 \
    X(atanpi, 5, 5)                                                                                \
    X(cbrt, 2, 2)                                                                                  \
    X(ceil, 0, 0)                                                                                  \
    X(cos, 4, 4)                                                                                   \
    X(cosh, 4, 4)                                                                                  \
    X(cospi, 4, 4)                                                                                 \
    X(erf, 16, 16)                                                                                 \
    X(erfc, 16, 16)                                                                                \
    X(exp, 3, 3)                                                                                   \
    X(exp2, 3, 3)                                                                                  \
    X(exp10, 3, 3)                                                                                 \
    X(expm1, 3, 3)                                                                                 \
    X(fabs, 0, 0)                                                                                  \
    X(floor, 0, 0)                                                                                 \
    X(log, 3, 3)                                                                                   \
    X(log2, 3, 3)                                                                                  \
    X(log10, 3, 3)                                                                                 \
    X(log1p, 2, 2)                                                                                 \
    X(logb, 0, 0)                                                                                  \
    X(rint, 0, 0)                                                                                  \
    X(round, 0, 0)                                                                                 \
    X(rsqrt, 2, 2)                                                                                 \
    X(sin, 4, 4)                                                                                   \
    X(sinh, 4, 4)                                                                                  \
    X(sinpi, 4, 4)                                                                                 \
    X(sqrt, 0, 0)                                                                                  \
    X(tan, 5, 5)                                                                                   \
    X(tanh, 5, 5)                                                                                  \
    X(tanpi, 6, 6)                                                                                 \
    X(tgamma, 16, 16)                                                                              \
    X(trunc, 0, 0)

/* Bounds of lgamma are open; near its zeros only the absolute error can be small. */
#define MATH1_OPEN(X) X(lgamma, 16, 16)

#define MATH2(X)                                                                                   \
    X(atan2, 6, 6)                                                                                 \
    X(atan2pi, 6, 6)                                                                               \
    X(copysign, 0, 0)                                                                              \
    X(fdim, 0, 0)                                                                                  \
    X(fmax, 0, 0)                                                                                  \
    X(fmin, 0, 0)                                                                                  \
    X(fmod, 0, 0)                                                                                  \
    X(hypot, 4, 4)                                                                                 \
    X(maxmag, 0, 0)                                                                                \
    X(minmag, 0, 0)                                                                                \
    X(nextafter, 0, 0)                                                                             \
    X(pow, 16, 16)                                                                                 \
    X(powr, 16, 16)                                                                                \
    X(remainder, 0, 0)

/* What operators compute; division of floats is correctly rounded here. */
#define OPERATORS(X)                                                                               \
    X(plus, +)                                                                                     \
    X(minus, -)                                                                                    \
    X(times, *)                                                                                    \
    X(over, /)

/* The second operand is an int. */
#define MATH_INT(X)                                                                                \
    X(ldexp, 0, 0)                                                                                 \
    X(pown, 16, 16)                                                                                \
    X(rootn, 16, 16)

#define MATH3(X)                                                                                   \
    X(fma, 0, 0)                                                                                   \
    X(mad, 0, 0)

/* These exist for float only; the second bound is that of half_. */
#define FAST1(X)                                                                                   \
    X(cos)                                                                                         \
    X(exp)                                                                                         \
    X(exp2)                                                                                        \
    X(exp10)                                                                                       \
    X(log)                                                                                         \
    X(log2)                                                                                        \
    X(log10)                                                                                       \
    X(recip)                                                                                       \
    X(rsqrt)                                                                                       \
    X(sin)                                                                                         \
    X(sqrt)                                                                                        \
    X(tan)
#define FAST2(X)                                                                                   \
    X(divide)                                                                                      \
    X(powr)

/* Functions with a second result through a pointer: X(name, type of the second) */
#define MATH_POINTER(X)                                                                            \
    X(fract, REAL)                                                                                 \
    X(modf, REAL)                                                                                  \
    X(sincos, REAL)                                                                                \
    X(frexp, int)                                                                                  \
    X(lgamma_r, int)                                                                               \
    X(remquo, int)

#define COMMON1(X)                                                                                 \
    X(degrees, 2, 2)                                                                               \
    X(radians, 2, 2)                                                                               \
    X(sign, 0, 0)
#define COMMON2(X)                                                                                 \
    X(min, 0, 0)                                                                                   \
    X(max, 0, 0)                                                                                   \
    X(step, 0, 0)

#define COMPARISONS(X)                                                                             \
    X(isequal)                                                                                     \
    X(isnotequal)                                                                                  \
    X(isgreater)                                                                                   \
    X(isgreaterequal)                                                                              \
    X(isless)                                                                                      \
    X(islessequal)                                                                                 \
    X(islessgreater)                                                                               \
    X(isordered)                                                                                   \
    X(isunordered)
#define CLASSES(X)                                                                                 \
    X(isfinite)                                                                                    \
    X(isinf)                                                                                       \
    X(isnan)                                                                                       \
    X(isnormal)                                                                                    \
    X(signbit)

/* Integer functions of one, two and three operands of one type. */
#define INTEGER1(X)                                                                                \
    X(abs)                                                                                         \
    X(clz)                                                                                         \
    X(ctz)                                                                                         \
    X(popcount)
#define INTEGER2(X)                                                                                \
    X(abs_diff)                                                                                    \
    X(add_sat)                                                                                     \
    X(sub_sat)                                                                                     \
    X(hadd)                                                                                        \
    X(rhadd)                                                                                       \
    X(max)                                                                                         \
    X(min)                                                                                         \
    X(mul_hi)                                                                                      \
    X(rotate)
#define INTEGER3(X)                                                                                \
    X(clamp)                                                                                       \
    X(mad_hi)                                                                                      \
    X(mad_sat)

/* Kernels of lanes.cl: items of a cluster; planes of what all items of a sub-group call, and of
 * what those call that come to a place together. */
#define LANES_CLUSTER 4
#define LANES_ALL 13
#define LANES_TOGETHER 24
