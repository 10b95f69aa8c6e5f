/* Halves by their bits, for devices that have no instructions for them. */
#include "builtin.h"
#include "half_bits.h"

#define TO_HALF(mode, rounding)                                                                    \
    ushort __zeta_double_to_half_##mode(double x)                                                  \
    {                                                                                              \
        return half_from_double(as_ulong(x), rounding);                                            \
    }                                                                                              \
    ushort __zeta_float_to_half_##mode(float x)                                                    \
    {                                                                                              \
        return __zeta_double_to_half_##mode((double)x);                                            \
    }
TO_HALF(rte, HALF_NEAREST)
TO_HALF(rtz, HALF_TO_ZERO)
TO_HALF(rtp, x > 0 ? HALF_AWAY : HALF_TO_ZERO)
TO_HALF(rtn, x < 0 ? HALF_AWAY : HALF_TO_ZERO)

float __zeta_half_to_float(ushort bits)
{
    return as_float(float_from_half(bits));
}
