/*
 * Math functions on scalars, in float, double and half; math_vector.cl makes the vectors.
 *
 * The device provides what the UNIT macros name. What is composed of several steps is computed in
 * double here: the float function is the double one rounded. Halves are computed as singles. Bounds of OpenCL C 2.0, section 7.4, are kept with room to spare.
 */
#include "builtin.h"

/* The form without a suffix for float and half from the one for double. */
#define NARROW1(name)                                                                              \
    float OVERLOAD name(float x) { return (float)name((double)x); }                                \
    half OVERLOAD name(half x) { return (half)name((float)x); }
#define NARROW2(name)                                                                              \
    float OVERLOAD name(float x, float y) { return (float)name((double)x, (double)y); }            \
    half OVERLOAD name(half x, half y) { return (half)name((float)x, (float)y); }

/* What the device provides. */
#define UNIT1(name)                                                                                \
    float __zeta_float_##name(float x);                                                            \
    double __zeta_double_##name(double x);                                                         \
    float OVERLOAD name(float x) { return __zeta_float_##name(x); }                                \
    double OVERLOAD name(double x) { return __zeta_double_##name(x); }                             \
    half OVERLOAD name(half x) { return (half)name((float)x); }
#define UNIT2(name)                                                                                \
    float __zeta_float_##name(float x, float y);                                                   \
    double __zeta_double_##name(double x, double y);                                               \
    float OVERLOAD name(float x, float y) { return __zeta_float_##name(x, y); }                    \
    double OVERLOAD name(double x, double y) { return __zeta_double_##name(x, y); }                \
    half OVERLOAD name(half x, half y) { return (half)name((float)x, (float)y); }

UNIT1(acos)
UNIT1(acosh)
UNIT1(asin)
UNIT1(asinh)
UNIT1(atan)
UNIT1(atanh)
UNIT1(cbrt)
UNIT1(cos)
UNIT1(cosh)
UNIT1(erf)
UNIT1(erfc)
UNIT1(exp)
UNIT1(exp2)
UNIT1(exp10)
UNIT1(expm1)
UNIT1(lgamma)
UNIT1(log)
UNIT1(log2)
UNIT1(log10)
UNIT1(log1p)
UNIT1(sin)
UNIT1(sinh)
UNIT1(tan)
UNIT1(tanh)
UNIT1(tgamma)
UNIT1(ceil)
UNIT1(floor)
UNIT1(rint)
UNIT1(round)
UNIT1(trunc)
UNIT2(atan2)
UNIT2(fmod)
UNIT2(hypot)
UNIT2(pow)
UNIT2(remainder)

/* What the instructions offer. */

/* mad is two operations, as counters show them; a compiler that may contract makes one of it. */
#define INSTRUCTIONS(T, suffix)                                                                    \
    T OVERLOAD fabs(T x) { return __builtin_fabs##suffix(x); }                                     \
    T OVERLOAD copysign(T x, T y) { return __builtin_copysign##suffix(x, y); }                     \
    T OVERLOAD fmax(T x, T y) { return __builtin_fmax##suffix(x, y); }                             \
    T OVERLOAD fmin(T x, T y) { return __builtin_fmin##suffix(x, y); }                             \
    T OVERLOAD fma(T a, T b, T c) { return __builtin_fma##suffix(a, b, c); }                       \
    T OVERLOAD mad(T a, T b, T c) { return a * b + c; }                                            \
    T OVERLOAD sqrt(T x) { return __builtin_sqrt##suffix(x); }                                     \
    T OVERLOAD rsqrt(T x) { return 1 / __builtin_sqrt##suffix(x); }
INSTRUCTIONS(float, f)
INSTRUCTIONS(double, )

half OVERLOAD fabs(half x)
{
    return as_half((ushort)(as_ushort(x) & 0x7fff));
}

half OVERLOAD copysign(half x, half y)
{
    return as_half((ushort)((as_ushort(x) & 0x7fff) | (as_ushort(y) & 0x8000)));
}

half OVERLOAD fmax(half x, half y)
{
    return (half)fmax((float)x, (float)y);
}

half OVERLOAD fmin(half x, half y)
{
    return (half)fmin((float)x, (float)y);
}

/*
 * The product of two halves is exact in a double, their sum with the third may not be. Rounding it
 * to odd, that is, setting the last bit when something was lost, keeps the second rounding right.
 */
half OVERLOAD fma(half a, half b, half c)
{
    double product = (double)a * (double)b;
    double sum = product + (double)c;
    double rest = sum - product;
    double lost = (product - (sum - rest)) + ((double)c - rest);

    if (lost != 0 && isfinite(sum) && !(as_long(sum) & 1))
        sum = as_double(as_long(sum) + ((lost > 0) == (sum > 0) ? 1 : -1));
    return (half)sum;
}

half OVERLOAD mad(half a, half b, half c)
{
    return fma(a, b, c);
}

half OVERLOAD sqrt(half x)
{
    return (half)sqrt((float)x);
}

half OVERLOAD rsqrt(half x)
{
    return (half)rsqrt((float)x);
}

/* Compositions. */

/* The multiple of pi is reduced exactly; the rest lies in [-1/2, 1/2]. */
double OVERLOAD sinpi(double x)
{
    double turn = x - 2 * rint(x / 2);
    double size = fabs(turn) > 0.5 ? 1 - fabs(turn) : fabs(turn);
    double value = size > 0.25 ? cos(M_PI * (0.5 - size)) : sin(M_PI * size);

    return copysign(value, turn == 0 || size == 0 ? x : turn);
}

double OVERLOAD cospi(double x)
{
    double turn = fabs(x - 2 * rint(x / 2));
    double size = turn > 0.5 ? 1 - turn : turn;
    double value = size > 0.25 ? sin(M_PI * (0.5 - size)) : cos(M_PI * size);

    return turn > 0.5 ? -value : value;
}

/* Poles and zeros alternate their signs as sine and cosine do. */
double OVERLOAD tanpi(double x)
{
    double turn = x - 2 * rint(x / 2);

    if (turn == 0)
        return copysign(0.0, x);
    if (fabs(turn) == 1)
        return copysign(0.0, -x);
    return sinpi(turn) / cospi(turn);
}

double OVERLOAD acospi(double x)
{
    return acos(x) * M_1_PI;
}

double OVERLOAD asinpi(double x)
{
    return asin(x) * M_1_PI;
}

double OVERLOAD atanpi(double x)
{
    return atan(x) * M_1_PI;
}

double OVERLOAD atan2pi(double y, double x)
{
    return atan2(y, x) * M_1_PI;
}

NARROW1(sinpi)
NARROW1(cospi)
NARROW1(tanpi)
NARROW1(acospi)
NARROW1(asinpi)
NARROW1(atanpi)
NARROW2(atan2pi)

/* Powers: pow takes more operands for defined than powr does. */

#define POWER(T)                                                                                   \
    T OVERLOAD powr(T x, T y)                                                                      \
    {                                                                                              \
        if (x < 0 || isnan(x) || isnan(y) || (x == 0 && y == 0) || (isinf(x) && y == 0) ||         \
            (x == 1 && isinf(y)))                                                                  \
            return (T)NAN;                                                                         \
        return pow(fabs(x), y);                                                                    \
    }
POWER(float)
POWER(double)

half OVERLOAD powr(half x, half y)
{
    return (half)powr((float)x, (float)y);
}

double OVERLOAD pown(double x, int n)
{
    return pow(x, (double)n);
}

/* An exponent need not fit a float, so the function for float is no function of two floats. */
float OVERLOAD pown(float x, int n)
{
    return (float)pow((double)x, (double)n);
}

half OVERLOAD pown(half x, int n)
{
    return (half)pown((float)x, n);
}

double __zeta_double_rootn(double x, int n);
double OVERLOAD rootn(double x, int n)
{
    return __zeta_double_rootn(x, n);
}

float OVERLOAD rootn(float x, int n)
{
    return (float)rootn((double)x, n);
}

half OVERLOAD rootn(half x, int n)
{
    return (half)rootn((float)x, n);
}

/* Numbers by their bits. */

/*
 * T: the type, I and U: integers as wide, bits of the exponent from position `low`, its bias, and
 * the number that lifts a denormal into the normal range. A zero or denormal has no exponent bits.
 */
#define BY_BITS(T, I, U, low, bias, lift, lift_exponent)                                           \
    static I exponent_of_##T(T x)                                                                  \
    {                                                                                              \
        I lifted = 0;                                                                              \
        if (as_##U(x) << 1 >> (low + 1) == 0) {                                                    \
            x *= lift;                                                                             \
            lifted = lift_exponent;                                                                \
        }                                                                                          \
        return (I)((as_##U(x) << 1 >> (low + 1)) - bias - lifted);                                 \
    }                                                                                              \
    int OVERLOAD ilogb(T x)                                                                        \
    {                                                                                              \
        if (x == 0)                                                                                \
            return FP_ILOGB0;                                                                      \
        if (isnan(x))                                                                              \
            return FP_ILOGBNAN;                                                                    \
        return isinf(x) ? INT_MAX : (int)exponent_of_##T(x);                                       \
    }                                                                                              \
    T OVERLOAD logb(T x)                                                                           \
    {                                                                                              \
        if (x == 0)                                                                                \
            return -(T)INFINITY;                                                                   \
        return isfinite(x) ? (T)exponent_of_##T(x) : x * x;                                        \
    }                                                                                              \
    T OVERLOAD nextafter(T x, T y)                                                                 \
    {                                                                                              \
        if (isnan(x) || isnan(y))                                                                  \
            return x + y;                                                                          \
        if (x == y)                                                                                \
            return y;                                                                              \
        if (x == 0)                                                                                \
            return copysign(as_##T((U)1), y);                                                      \
        return as_##T((U)(as_##U(x) + ((x < y) == (x > 0) ? 1 : -1)));                             \
    }                                                                                              \
    T OVERLOAD frexp(T x, private int *exponent)                                                   \
    {                                                                                              \
        I e;                                                                                       \
        *exponent = 0;                                                                             \
        if (x == 0 || !isfinite(x))                                                                \
            return x;                                                                              \
        e = exponent_of_##T(x);                                                                    \
        *exponent = (int)e + 1;                                                                    \
        return ldexp(x, -(int)e - 1);                                                              \
    }
BY_BITS(float, int, uint, 23, 127, 0x1p32f, 32)
BY_BITS(double, long, ulong, 52, 1023, 0x1p64, 64)

/* Every half is a normal float. */

int OVERLOAD ilogb(half x)
{
    return ilogb((float)x);
}

half OVERLOAD logb(half x)
{
    return (half)logb((float)x);
}

half OVERLOAD frexp(half x, private int *exponent)
{
    return (half)frexp((float)x, exponent);
}

half OVERLOAD nextafter(half x, half y)
{
    if (isnan((float)x) || isnan((float)y))
        return (half)NAN;
    if ((float)x == (float)y)
        return y;
    if ((float)x == 0)
        return copysign(as_half((ushort)1), y);
    return as_half((ushort)(as_ushort(x) + (((float)x < (float)y) == ((float)x > 0) ? 1 : -1)));
}

/*
 * Two factors would do for any result, but only the last multiplication may round: those before it make a number no
 * smaller than the last one needs. `most` and `least` are the exponents of normal factors, `step` is one with the bits
 * of the fraction to spare.
 */
#define LDEXP(T, U, most, least, step, bits)                                                       \
    T OVERLOAD ldexp(T x, int n)                                                                   \
    {                                                                                              \
        for (int i = 0; i < 2 && n > most; i++, n -= most)                                         \
            x *= as_##T((U)(2 * most) << bits);                                                    \
        for (int i = 0; i < 2 && n < least; i++, n += step)                                        \
            x *= as_##T((U)(most - step) << bits);                                                 \
        n = n > most ? most : n < least ? least : n;                                               \
        return x * as_##T((U)(n + most) << bits);                                                  \
    }
LDEXP(float, uint, 127, -126, 102, 23)
LDEXP(double, ulong, 1023, -1022, 969, 52)

half OVERLOAD ldexp(half x, int n)
{
    return (half)ldexp((float)x, n > 100 ? 100 : n < -100 ? -100 : n);
}

#define SMALL(T, below_one)                                                                        \
    T OVERLOAD fdim(T x, T y) { return x > y ? x - y : isnan(x) || isnan(y) ? (T)NAN : (T)0; }     \
    T OVERLOAD maxmag(T x, T y)                                                                    \
    {                                                                                              \
        return fabs(x) > fabs(y) ? x : fabs(y) > fabs(x) ? y : fmax(x, y);                         \
    }                                                                                              \
    T OVERLOAD minmag(T x, T y)                                                                    \
    {                                                                                              \
        return fabs(x) < fabs(y) ? x : fabs(y) < fabs(x) ? y : fmin(x, y);                         \
    }                                                                                              \
    T OVERLOAD modf(T x, private T *whole)                                                         \
    {                                                                                              \
        *whole = trunc(x);                                                                         \
        return copysign(isinf(x) ? (T)0 : x - *whole, x);                                          \
    }                                                                                              \
    T OVERLOAD fract(T x, private T *whole)                                                        \
    {                                                                                              \
        *whole = floor(x);                                                                         \
        if (isinf(x))                                                                              \
            return copysign((T)0, x);                                                              \
        return isnan(x) ? x : copysign(fmin(x - *whole, (T)below_one), x == 0 ? x : (T)1);         \
    }                                                                                              \
    T OVERLOAD sincos(T x, private T *cosine)                                                      \
    {                                                                                              \
        *cosine = cos(x);                                                                          \
        return sin(x);                                                                             \
    }                                                                                              \
    T OVERLOAD lgamma_r(T x, private int *sign)                                                    \
    {                                                                                              \
        T whole = floor(x);                                                                        \
        *sign = x < 0 && whole != x && whole != (T)2 * floor(whole * (T)0.5) ? -1 : 1;             \
        if (x == 0 && signbit(x))                                                                  \
            *sign = -1;                                                                            \
        return lgamma(x);                                                                          \
    }
SMALL(float, 0x1.fffffep-1f)
SMALL(double, 0x1.fffffffffffffp-1)
SMALL(half, 0x1.ffcp-1f)

/*
 * The quotient's lower seven bits: both operands are reduced to less than 128 times the divisor,
 * where the division is exact enough to round.
 */
double OVERLOAD remquo(double x, double y, private int *quotient)
{
    double rest = remainder(x, y);
    double size = fabs(x), unit = fabs(y);
    int whole;

    *quotient = 0;
    if (isnan(rest) || isinf(y))
        return rest;
    if (unit < 0x1p1000)
        size = fmod(size, 128 * unit);
    whole = (int)rint((size - remainder(size, unit)) / unit) & 127;
    *quotient = signbit(x) == signbit(y) ? whole : -whole;
    return rest;
}

float OVERLOAD remquo(float x, float y, private int *quotient)
{
    return (float)remquo((double)x, (double)y, quotient);
}

half OVERLOAD remquo(half x, half y, private int *quotient)
{
    return (half)remquo((float)x, (float)y, quotient);
}

/* A NaN with a message in its lower bits. */

float OVERLOAD nan(uint message)
{
    return as_float(0x7fc00000 | (message & 0x3fffff));
}

double OVERLOAD nan(ulong message)
{
    return as_double(0x7ff8000000000000 | (message & 0x7ffffffffffff));
}

half OVERLOAD nan(ushort message)
{
    return as_half((ushort)(0x7e00 | (message & 0x1ff)));
}

/* Fast forms need not be less accurate. */
#define SAME1(name)                                                                                \
    float OVERLOAD native_##name(float x) { return name(x); }                                      \
    float OVERLOAD half_##name(float x) { return name(x); }
SAME1(cos)
SAME1(exp)
SAME1(exp2)
SAME1(exp10)
SAME1(log)
SAME1(log2)
SAME1(log10)
SAME1(rsqrt)
SAME1(sin)
SAME1(sqrt)
SAME1(tan)

#define FAST(prefix)                                                                               \
    float OVERLOAD prefix##_divide(float x, float y) { return x / y; }                             \
    float OVERLOAD prefix##_recip(float x) { return 1 / x; }                                       \
    float OVERLOAD prefix##_powr(float x, float y) { return powr(x, y); }
FAST(native)
FAST(half)
