/* Conversions to TO from every type, with every mode, saturated where TO is an integer. */
#include "forms.h"

#define JOIN_(a, b, c) a##b##c
#define JOIN(a, b, c) JOIN_(a, b, c)
#define OVERLOAD __attribute__((overloadable))

#define ONE(from, suffix, w)                                                                       \
    static JOIN(TO, w, ) OVERLOAD changed##suffix(from##w x)                                       \
    {                                                                                              \
        return JOIN(JOIN(convert_, TO, w), suffix, )(x);                                           \
    }
#define CONVERSION(from, suffix)                                                                   \
    ONE(from, suffix, )                                                                            \
    ONE(from, suffix, 2)                                                                           \
    ONE(from, suffix, 3)                                                                           \
    ONE(from, suffix, 4)                                                                           \
    ONE(from, suffix, 8)                                                                           \
    ONE(from, suffix, 16)                                                                          \
    KERNEL(test_##from##suffix, TO, from, from, from, changed##suffix(x))
#define MODES(from, sat)                                                                           \
    CONVERSION(from, sat)                                                                          \
    CONVERSION(from, sat##_rte)                                                                    \
    CONVERSION(from, sat##_rtz)                                                                    \
    CONVERSION(from, sat##_rtp)                                                                    \
    CONVERSION(from, sat##_rtn)
#ifdef SATURATED
#define ALL(from) MODES(from, ) MODES(from, _sat)
#else
#define ALL(from) MODES(from, )
#endif

ALL(char)
ALL(uchar)
ALL(short)
ALL(ushort)
ALL(int)
ALL(uint)
ALL(long)
ALL(ulong)
ALL(float)
ALL(double)
ALL(half)
