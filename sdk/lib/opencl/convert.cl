/*
 * convert_<type>[_sat][_rte|_rtz|_rtp|_rtn]: without a mode to integers rounds to zero, and to
 * floating point to nearest even. Out of range without _sat: the lower bits of the number as a long.
 */
#include "builtin.h"

#define MODES(m, ...)                                                                              \
    m(, ##__VA_ARGS__) m(_rte, ##__VA_ARGS__) m(_rtz, ##__VA_ARGS__) m(_rtp, ##__VA_ARGS__)        \
    m(_rtn, ##__VA_ARGS__)

/* From integers to integers: modes mean nothing. */

#define IS_SIGNED(T) ((T)-1 < (T)1)
#define LOWEST(T) (IS_SIGNED(T) ? (T)((ulong)1 << (sizeof(T) * 8 - 1)) : (T)0)
#define HIGHEST(T) ((T)~LOWEST(T))

/* An unsigned long beyond the longs is the only number that a long does not hold. */
#define SATURATE(to, x)                                                                            \
    (!IS_SIGNED(__typeof__(x)) && (ulong)(x) > LONG_MAX ? ((ulong)HIGHEST(to) < (ulong)(x)         \
                                                           ? HIGHEST(to) : (to)(x))                \
     : (long)(x) < 0 && !IS_SIGNED(to) ? (to)0                                                     \
     : (long)(x) < (long)LOWEST(to) ? LOWEST(to)                                                   \
     : (long)(x) > 0 && (ulong)(x) > (ulong)HIGHEST(to) ? HIGHEST(to) : (to)(x))

#define INTEGER_MODE(mode, to, from)                                                               \
    to OVERLOAD convert_##to##mode(from x) { return (to)x; }                                       \
    to OVERLOAD convert_##to##_sat##mode(from x) { return SATURATE(to, x); }
#define FROM_INTEGER(from, to) MODES(INTEGER_MODE, to, from)
EACH_INTEGER(FROM_INTEGER, char)
EACH_INTEGER(FROM_INTEGER, uchar)
EACH_INTEGER(FROM_INTEGER, short)
EACH_INTEGER(FROM_INTEGER, ushort)
EACH_INTEGER(FROM_INTEGER, int)
EACH_INTEGER(FROM_INTEGER, uint)
EACH_INTEGER(FROM_INTEGER, long)
EACH_INTEGER(FROM_INTEGER, ulong)

/* From floating point to integers. NaN saturates to 0. */

#define REAL_TO_INTEGER(mode, rounding, to, from)                                                  \
    to OVERLOAD convert_##to##mode(from x)                                                         \
    {                                                                                              \
        return sizeof(to) == 8 && !IS_SIGNED(to) ? (to)__zeta_##from##_to_ulong##rounding(x)       \
                                                 : (to)__zeta_##from##_to_long##rounding(x);       \
    }                                                                                              \
    to OVERLOAD convert_##to##_sat##mode(from x)                                                   \
    {                                                                                              \
        if (isnan(x))                                                                              \
            return 0;                                                                              \
        if (sizeof(to) == 8)                                                                       \
            return convert_##to##mode(x);                                                          \
        return SATURATE(to, __zeta_##from##_to_long##rounding(x));                                 \
    }
#define INTEGER_FROM_REAL(to, from)                                                                \
    REAL_TO_INTEGER(, _rtz, to, from)                                                              \
    REAL_TO_INTEGER(_rte, _rte, to, from)                                                          \
    REAL_TO_INTEGER(_rtz, _rtz, to, from)                                                          \
    REAL_TO_INTEGER(_rtp, _rtp, to, from)                                                          \
    REAL_TO_INTEGER(_rtn, _rtn, to, from)
#define HALF_TO_INTEGER(mode, to)                                                                  \
    to OVERLOAD convert_##to##mode(half x) { return convert_##to##mode((float)x); }                \
    to OVERLOAD convert_##to##_sat##mode(half x) { return convert_##to##_sat##mode((float)x); }
#define INTEGER_FROM_REALS(to)                                                                     \
    INTEGER_FROM_REAL(to, float)                                                                   \
    INTEGER_FROM_REAL(to, double)                                                                  \
    MODES(HALF_TO_INTEGER, to)

/* To float and double: a cast rounds to nearest even. */

#define REAL_FROM_CAST(mode, to, from)                                                             \
    to OVERLOAD convert_##to##mode(from x) { return (to)x; }
#define REAL_FROM_INTEGER(to, from, as, mode)                                                      \
    to OVERLOAD convert_##to##mode(from x) { return __zeta_##as##_to_##to##mode(x); }
#define REAL_FROM_INTEGERS_OF(from, to, as)                                                        \
    REAL_FROM_CAST(, to, from)                                                                     \
    REAL_FROM_CAST(_rte, to, from)                                                                 \
    REAL_FROM_INTEGER(to, from, as, _rtz)                                                          \
    REAL_FROM_INTEGER(to, from, as, _rtp)                                                          \
    REAL_FROM_INTEGER(to, from, as, _rtn)
#define REAL_FROM_INTEGERS(to)                                                                     \
    EACH_SIGNED(REAL_FROM_INTEGERS_OF, to, long)                                                   \
    EACH_UNSIGNED(REAL_FROM_INTEGERS_OF, to, ulong)

/*
 * To half: by bits. A double holds every integer that is not far beyond the largest half, and of
 * those the mode decides between that and infinity.
 */
#define HALF_FROM(from, as, mode, rounding)                                                        \
    half OVERLOAD convert_half##mode(from x)                                                       \
    {                                                                                              \
        return as_half(__zeta_##as##_to_half##rounding((as)x));                                    \
    }
#define HALF_FROM_ALL(from, as)                                                                    \
    HALF_FROM(from, as, , _rte)                                                                    \
    HALF_FROM(from, as, _rte, _rte)                                                                \
    HALF_FROM(from, as, _rtz, _rtz)                                                                \
    HALF_FROM(from, as, _rtp, _rtp)                                                                \
    HALF_FROM(from, as, _rtn, _rtn)
#define HALF_FROM_HALF(mode)                                                                       \
    half OVERLOAD convert_half##mode(half x) { return x; }

EACH_INTEGER(INTEGER_FROM_REALS)
REAL_FROM_INTEGERS(float)
REAL_FROM_INTEGERS(double)
MODES(REAL_FROM_CAST, float, half)
MODES(REAL_FROM_CAST, float, float)
MODES(REAL_FROM_CAST, double, half)
MODES(REAL_FROM_CAST, double, float)
MODES(REAL_FROM_CAST, double, double)
REAL_FROM_CAST(, float, double)
REAL_FROM_CAST(_rte, float, double)
REAL_FROM_INTEGER(float, double, double, _rtz)
REAL_FROM_INTEGER(float, double, double, _rtp)
REAL_FROM_INTEGER(float, double, double, _rtn)
EACH_INTEGER(HALF_FROM_ALL, double)
HALF_FROM_ALL(float, float)
HALF_FROM_ALL(double, double)
MODES(HALF_FROM_HALF)
