/* Integer functions. */
#include "builtin.h"

/* What a type is called when it is unsigned, twice as wide, and how many bits it has. */
#define UNSIGNED_char uchar
#define UNSIGNED_uchar uchar
#define UNSIGNED_short ushort
#define UNSIGNED_ushort ushort
#define UNSIGNED_int uint
#define UNSIGNED_uint uint
#define UNSIGNED_long ulong
#define UNSIGNED_ulong ulong
#define UNSIGNED(T) UNSIGNED_##T

#define BITS(T) ((int)sizeof(T) * 8)
#define LOWEST(T) ((T)-1 < (T)0 ? (T)((ulong)1 << (BITS(T) - 1)) : (T)0)
#define HIGHEST(T) ((T)~LOWEST(T))

#define SCALAR_COMMON(T)                                                                           \
    T OVERLOAD max(T a, T b) { return a > b ? a : b; }                                             \
    T OVERLOAD min(T a, T b) { return a < b ? a : b; }                                             \
    T OVERLOAD clamp(T x, T low, T high) { return min(max(x, low), high); }                        \
    T OVERLOAD add_sat(T a, T b)                                                                   \
    {                                                                                              \
        T sum;                                                                                     \
        if (!__builtin_add_overflow(a, b, &sum))                                                   \
            return sum;                                                                            \
        return b < (T)0 ? LOWEST(T) : HIGHEST(T);                                                  \
    }                                                                                              \
    T OVERLOAD sub_sat(T a, T b)                                                                   \
    {                                                                                              \
        T difference;                                                                              \
        if (!__builtin_sub_overflow(a, b, &difference))                                            \
            return difference;                                                                     \
        return LOWEST(T) < (T)0 && b < (T)0 ? HIGHEST(T) : LOWEST(T);                              \
    }                                                                                              \
    T OVERLOAD hadd(T a, T b) { return (T)((a & b) + ((a ^ b) >> 1)); }                            \
    T OVERLOAD rhadd(T a, T b) { return (T)((a | b) - ((a ^ b) >> 1)); }                           \
    T OVERLOAD rotate(T x, T count)                                                                \
    {                                                                                              \
        UNSIGNED(T) bits = (UNSIGNED(T))x;                                                         \
        uint n = (uint)count & (BITS(T) - 1);                                                      \
        return (T)(bits << n | bits >> ((BITS(T) - n) & (BITS(T) - 1)));                           \
    }                                                                                              \
    T OVERLOAD clz(T x)                                                                            \
    {                                                                                              \
        ulong bits = (UNSIGNED(T))x;                                                               \
        return x == 0 ? (T)BITS(T) : (T)(__builtin_clzl(bits) - (64 - BITS(T)));                   \
    }                                                                                              \
    T OVERLOAD ctz(T x)                                                                            \
    {                                                                                              \
        return x == 0 ? (T)BITS(T) : (T)__builtin_ctzl((ulong)(UNSIGNED(T))x);                     \
    }                                                                                              \
    T OVERLOAD popcount(T x) { return (T)__builtin_popcountl((ulong)(UNSIGNED(T))x); }             \
    T OVERLOAD mad_hi(T a, T b, T c) { return (T)(mul_hi(a, b) + c); }

/* The absolute value of the lowest number is one more than the highest. */
#define SCALAR_ABS(T)                                                                              \
    UNSIGNED(T) OVERLOAD abs(T x)                                                                  \
    {                                                                                              \
        return x < (T)0 ? (UNSIGNED(T))(0 - (UNSIGNED(T))x) : (UNSIGNED(T))x;                      \
    }                                                                                              \
    UNSIGNED(T) OVERLOAD abs_diff(T a, T b)                                                        \
    {                                                                                              \
        return a > b ? (UNSIGNED(T))((UNSIGNED(T))a - (UNSIGNED(T))b)                              \
                     : (UNSIGNED(T))((UNSIGNED(T))b - (UNSIGNED(T))a);                             \
    }

#define MUL_HI_NARROW(T)                                                                           \
    T OVERLOAD mul_hi(T a, T b) { return (T)(((long)a * (long)b) >> BITS(T)); }
MUL_HI_NARROW(char)
MUL_HI_NARROW(uchar)
MUL_HI_NARROW(short)
MUL_HI_NARROW(ushort)
MUL_HI_NARROW(int)

uint OVERLOAD mul_hi(uint a, uint b)
{
    return (uint)(((ulong)a * b) >> 32);
}

long OVERLOAD mul_hi(long a, long b)
{
    return __zeta_multiply_high(a, b);
}

ulong OVERLOAD mul_hi(ulong a, ulong b)
{
    return __zeta_multiply_high_unsigned(a, b);
}

/* Of narrow types the sum of a product and a third number fits a long. */
#define MAD_SAT_NARROW(T)                                                                          \
    T OVERLOAD mad_sat(T a, T b, T c)                                                              \
    {                                                                                              \
        return (T)clamp((long)a * (long)b + (long)c, (long)LOWEST(T), (long)HIGHEST(T));           \
    }

EACH_INTEGER(SCALAR_COMMON)
EACH_INTEGER(SCALAR_ABS)

MAD_SAT_NARROW(char)
MAD_SAT_NARROW(uchar)
MAD_SAT_NARROW(short)
MAD_SAT_NARROW(ushort)
MAD_SAT_NARROW(int)

uint OVERLOAD mad_sat(uint a, uint b, uint c)
{
    return (uint)min((ulong)a * b + c, (ulong)UINT_MAX);
}

/* A number of 128 bits, of which the upper half must be the extension of the lower one. */

long OVERLOAD mad_sat(long a, long b, long c)
{
    ulong product = (ulong)a * (ulong)b;
    ulong low = product + (ulong)c;
    long high = mul_hi(a, b) + (c >> 63) + (low < product);

    if (high == (long)low >> 63)
        return (long)low;
    return high < 0 ? LONG_MIN : LONG_MAX;
}

ulong OVERLOAD mad_sat(ulong a, ulong b, ulong c)
{
    ulong low = a * b + c;
    ulong high = mul_hi(a, b) + (low < c);

    return high == 0 ? low : ULONG_MAX;
}

/* The operands of these are 24 bits wide; what other bits do is open, so no instruction is spent. */
int OVERLOAD mul24(int a, int b)
{
    return a * b;
}

uint OVERLOAD mul24(uint a, uint b)
{
    return a * b;
}

int OVERLOAD mad24(int a, int b, int c)
{
    return a * b + c;
}

uint OVERLOAD mad24(uint a, uint b, uint c)
{
    return a * b + c;
}

#define UPSAMPLE(wide, T, low)                                                                     \
    wide OVERLOAD upsample(T high, low bits)                                                       \
    {                                                                                              \
        return (wide)((UNSIGNED(wide))high << BITS(T) | bits);                                     \
    }                                                                                              \
    VECTOR2(upsample, wide, T, low)
UPSAMPLE(short, char, uchar)
UPSAMPLE(ushort, uchar, uchar)
UPSAMPLE(int, short, ushort)
UPSAMPLE(uint, ushort, ushort)
UPSAMPLE(long, int, uint)
UPSAMPLE(ulong, uint, uint)

/* Vector forms. */

#define VECTORS(T, U)                                                                              \
    VECTOR1(abs, U, T)                                                                             \
    VECTOR1(clz, T, T)                                                                             \
    VECTOR1(ctz, T, T)                                                                             \
    VECTOR1(popcount, T, T)                                                                        \
    VECTOR2(abs_diff, U, T, T)                                                                     \
    VECTOR2(max, T, T, T)                                                                          \
    VECTOR2(min, T, T, T)                                                                          \
    VECTOR2(add_sat, T, T, T)                                                                      \
    VECTOR2(sub_sat, T, T, T)                                                                      \
    VECTOR2(hadd, T, T, T)                                                                         \
    VECTOR2(rhadd, T, T, T)                                                                        \
    VECTOR2(rotate, T, T, T)                                                                       \
    VECTOR2(mul_hi, T, T, T)                                                                       \
    VECTOR3(clamp, T, T, T, T)                                                                     \
    VECTOR3(mad_hi, T, T, T, T)                                                                    \
    VECTOR3(mad_sat, T, T, T, T)                                                                   \
    EACH_VECTOR(SPREAD_CLAMP, T, T)
#define SPREAD_CLAMP(V, T)                                                                         \
    V OVERLOAD max(V a, T b) { return max(a, (V)(b)); }                                            \
    V OVERLOAD min(V a, T b) { return min(a, (V)(b)); }                                            \
    V OVERLOAD clamp(V x, T low, T high) { return clamp(x, (V)(low), (V)(high)); }
VECTORS(char, uchar)
VECTORS(uchar, uchar)
VECTORS(short, ushort)
VECTORS(ushort, ushort)
VECTORS(int, uint)
VECTORS(uint, uint)
VECTORS(long, ulong)
VECTORS(ulong, ulong)

#define VECTORS24(T)                                                                               \
    VECTOR2(mul24, T, T, T)                                                                        \
    VECTOR3(mad24, T, T, T, T)
VECTORS24(int)
VECTORS24(uint)
