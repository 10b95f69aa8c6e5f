/* Comparisons, tests of bits and selections. Scalars are true as 1, components of vectors as -1. */
#include "builtin.h"

#define COMPARE(name, T, V, expression)                                                            \
    int OVERLOAD name(T x, T y) { return expression; }                                             \
    VECTOR_COMPARE(name, T##2, V##2, expression)                                                   \
    VECTOR_COMPARE(name, T##3, V##3, expression)                                                   \
    VECTOR_COMPARE(name, T##4, V##4, expression)                                                   \
    VECTOR_COMPARE(name, T##8, V##8, expression)                                                   \
    VECTOR_COMPARE(name, T##16, V##16, expression)
#define VECTOR_COMPARE(name, T, V, expression)                                                     \
    V OVERLOAD name(T x, T y) { return expression; }

#define COMPARISONS(T, V)                                                                          \
    COMPARE(isequal, T, V, x == y)                                                                 \
    COMPARE(isnotequal, T, V, x != y)                                                              \
    COMPARE(isgreater, T, V, x > y)                                                                \
    COMPARE(isgreaterequal, T, V, x >= y)                                                          \
    COMPARE(isless, T, V, x < y)                                                                   \
    COMPARE(islessequal, T, V, x <= y)                                                             \
    COMPARE(islessgreater, T, V, (x < y) || (x > y))                                               \
    COMPARE(isordered, T, V, (x == x) && (y == y))                                                 \
    COMPARE(isunordered, T, V, (x != x) || (y != y))
COMPARISONS(float, int)
COMPARISONS(double, long)
COMPARISONS(half, short)

/* Classes, by the bits without the sign. */
#define TEST(name, T, I, expression)                                                               \
    int OVERLOAD name(T x)                                                                         \
    {                                                                                              \
        I all = as_##I(x), size = all & HIGHEST_##I;                                               \
        (void)size;                                                                                \
        return expression;                                                                         \
    }                                                                                              \
    VECTOR_TEST(name, T##2, I##2, I, expression)                                                   \
    VECTOR_TEST(name, T##3, I##3, I, expression)                                                   \
    VECTOR_TEST(name, T##4, I##4, I, expression)                                                   \
    VECTOR_TEST(name, T##8, I##8, I, expression)                                                   \
    VECTOR_TEST(name, T##16, I##16, I, expression)
#define VECTOR_TEST(name, V, IV, I, expression)                                                    \
    IV OVERLOAD name(V x)                                                                          \
    {                                                                                              \
        IV all = as_##IV(x), size = all & (IV)(HIGHEST_##I);                                       \
        (void)size;                                                                                \
        return expression;                                                                         \
    }
#define HIGHEST_short ((short)SHRT_MAX)
#define HIGHEST_int INT_MAX
#define HIGHEST_long LONG_MAX

#define TESTS(T, I, infinite, least)                                                               \
    TEST(isfinite, T, I, size < (I)infinite)                                                       \
    TEST(isinf, T, I, size == (I)infinite)                                                         \
    TEST(isnan, T, I, size > (I)infinite)                                                          \
    TEST(isnormal, T, I, size < (I)infinite && size >= (I)least)                                   \
    TEST(signbit, T, I, all < (I)0)
TESTS(float, int, 0x7f800000, 0x00800000)
TESTS(double, long, 0x7ff0000000000000, 0x0010000000000000)
TESTS(half, short, 0x7c00, 0x0400)

/* The sign bits of all components together. */
#define ANY_ALL_HALVES(T, half_T)                                                                  \
    int OVERLOAD any(T x) { return any((half_T)(x.lo | x.hi)); }                                   \
    int OVERLOAD all(T x) { return all((half_T)(x.lo & x.hi)); }
#define ANY_ALL(T)                                                                                 \
    int OVERLOAD any(T x) { return x < 0; }                                                        \
    int OVERLOAD all(T x) { return x < 0; }                                                        \
    ANY_ALL_HALVES(T##2, T)                                                                           \
    int OVERLOAD any(T##3 x) { return any((T)(x.s0 | x.s1 | x.s2)); }                              \
    int OVERLOAD all(T##3 x) { return all((T)(x.s0 & x.s1 & x.s2)); }                              \
    ANY_ALL_HALVES(T##4, T##2)                                                                           \
    ANY_ALL_HALVES(T##8, T##4)                                                                           \
    ANY_ALL_HALVES(T##16, T##8)
EACH_SIGNED(ANY_ALL)

/*
 * Scalars select by any bit, vectors by the sign bit of each component, as the conditional operator
 * does; so both are one expression.
 */
#define SELECT(T, M)                                                                               \
    T OVERLOAD select(T a, T b, M c) { return c ? b : a; }
#define SELECTS(T, M)                                                                              \
    SELECT(T, M)                                                                                   \
    SELECT(T##2, M##2)                                                                             \
    SELECT(T##3, M##3)                                                                             \
    SELECT(T##4, M##4)                                                                             \
    SELECT(T##8, M##8)                                                                             \
    SELECT(T##16, M##16)
SELECTS(char, char)
SELECTS(char, uchar)
SELECTS(uchar, char)
SELECTS(uchar, uchar)
SELECTS(short, short)
SELECTS(short, ushort)
SELECTS(ushort, short)
SELECTS(ushort, ushort)
SELECTS(half, short)
SELECTS(half, ushort)
SELECTS(int, int)
SELECTS(int, uint)
SELECTS(uint, int)
SELECTS(uint, uint)
SELECTS(float, int)
SELECTS(float, uint)
SELECTS(long, long)
SELECTS(long, ulong)
SELECTS(ulong, long)
SELECTS(ulong, ulong)
SELECTS(double, long)
SELECTS(double, ulong)

#define BITSELECT(T) T OVERLOAD bitselect(T a, T b, T c) { return (a & ~c) | (b & c); }
#define BITSELECTS(T) EACH_WIDTH(BITSELECT, T)
EACH_INTEGER(BITSELECTS)

#define BITSELECT_REAL(T, I)                                                                       \
    T OVERLOAD bitselect(T a, T b, T c) { return as_##T(bitselect(as_##I(a), as_##I(b), as_##I(c))); }
#define BITSELECTS_REAL(T, I)                                                                      \
    BITSELECT_REAL(T, I)                                                                           \
    BITSELECT_REAL(T##2, I##2)                                                                     \
    BITSELECT_REAL(T##3, I##3)                                                                     \
    BITSELECT_REAL(T##4, I##4)                                                                     \
    BITSELECT_REAL(T##8, I##8)                                                                     \
    BITSELECT_REAL(T##16, I##16)
BITSELECTS_REAL(float, uint)
BITSELECTS_REAL(double, ulong)
BITSELECTS_REAL(half, ushort)
