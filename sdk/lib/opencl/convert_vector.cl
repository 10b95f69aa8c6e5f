/* Vector forms of all conversions. */
#include "builtin.h"

#define VECTOR(suffix, to, from)                                                                   \
    to OVERLOAD convert_##to##suffix(from x);                                                      \
    VECTOR_HALVES(suffix, to##2, to, from##2)                                                      \
    to##3 OVERLOAD convert_##to##3##suffix(from##3 x)                                              \
    {                                                                                              \
        return (to##3)(convert_##to##suffix(x.s0), convert_##to##suffix(x.s1),                     \
                       convert_##to##suffix(x.s2));                                                \
    }                                                                                              \
    VECTOR_HALVES(suffix, to##4, to##2, from##4)                                                   \
    VECTOR_HALVES(suffix, to##8, to##4, from##8)                                                   \
    VECTOR_HALVES(suffix, to##16, to##8, from##16)
#define VECTOR_HALVES(suffix, to, half_to, from)                                                   \
    to OVERLOAD convert_##to##suffix(from x)                                                       \
    {                                                                                              \
        return (to)(convert_##half_to##suffix(x.lo), convert_##half_to##suffix(x.hi));             \
    }

#define TO_REAL(from, to)                                                                          \
    VECTOR(, to, from)                                                                             \
    VECTOR(_rte, to, from)                                                                         \
    VECTOR(_rtz, to, from)                                                                         \
    VECTOR(_rtp, to, from)                                                                         \
    VECTOR(_rtn, to, from)
#define TO_INTEGER(from, to)                                                                       \
    TO_REAL(from, to)                                                                              \
    VECTOR(_sat, to, from)                                                                         \
    VECTOR(_sat_rte, to, from)                                                                     \
    VECTOR(_sat_rtz, to, from)                                                                     \
    VECTOR(_sat_rtp, to, from)                                                                     \
    VECTOR(_sat_rtn, to, from)

EACH_TYPE(TO_INTEGER, char)
EACH_TYPE(TO_INTEGER, uchar)
EACH_TYPE(TO_INTEGER, short)
EACH_TYPE(TO_INTEGER, ushort)
EACH_TYPE(TO_INTEGER, int)
EACH_TYPE(TO_INTEGER, uint)
EACH_TYPE(TO_INTEGER, long)
EACH_TYPE(TO_INTEGER, ulong)
EACH_TYPE(TO_REAL, float)
EACH_TYPE(TO_REAL, double)
EACH_TYPE(TO_REAL, half)
