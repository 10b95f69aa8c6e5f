#ifndef ZETA_SDK_LIB_OPENCL_HALF_BITS_H
#define ZETA_SDK_LIB_OPENCL_HALF_BITS_H

/*
 * Halves by their bits, for the OpenCL library and for what code generation calls. Plain C, that
 * OpenCL C understands too.
 */

#include <stdint.h>

enum half_rounding { HALF_NEAREST, HALF_TO_ZERO, HALF_AWAY };

/*
 * The half for a double, both as bits. A double has 42 more bits of fraction than a half. They are
 * cut off; how much that was, against half of the last place, decides whether one is added.
 * Denormal halves have fewer bits, so more is cut off. A carry moves on into the exponent, up to
 * infinity.
 */
static inline uint16_t half_from_double(uint64_t bits, enum half_rounding rounding)
{
    uint16_t sign = (uint16_t)(bits >> 48 & 0x8000);
    uint64_t size = bits & INT64_MAX;
    int exponent = (int)(size >> 52) - 1023;
    uint64_t fraction = (bits & 0xfffffffffffff) | 0x10000000000000;
    unsigned cut = exponent >= -14 ? 42 : exponent < -26 ? 54 : (unsigned)(28 - exponent);
    uint64_t rest = size == 0 ? 0 : fraction & (((uint64_t)1 << cut) - 1);
    uint64_t tie = (uint64_t)1 << (cut - 1);
    uint16_t result;

    if (size > 0x7ff0000000000000)
        return (uint16_t)(sign | 0x7e00 | (bits >> 42 & 0x1ff));
    if (size == 0x7ff0000000000000)
        return (uint16_t)(sign | 0x7c00);
    if (exponent > 15)
        return (uint16_t)(sign | (rounding == HALF_TO_ZERO ? 0x7bff : 0x7c00));
    result = (uint16_t)(fraction >> cut);
    if (exponent >= -14)
        result = (uint16_t)(result + ((exponent + 14) << 10));
    if (rounding == HALF_AWAY && rest != 0)
        result++;
    if (rounding == HALF_NEAREST && (rest > tie || (rest == tie && (result & 1))))
        result++;
    return (uint16_t)(sign | result);
}

/*
 * Bits of the float for a half. The exponent and fraction moved to where a float has them make a
 * number that is 2^112 too small; denormals need the multiplication by that in numbers.
 */
static inline uint32_t float_from_half(uint16_t bits)
{
    union {
        uint32_t bits;
        float value;
    } number;
    uint32_t sign = (uint32_t)(bits & 0x8000) << 16;
    uint32_t size = (uint32_t)(bits & 0x7fff) << 13;

    if (size >= 0x0f800000)
        return sign | 0x7f800000 | (size & 0x7fffff);
    number.bits = size;
    number.value *= 0x1p112f;
    return sign | number.bits;
}

#endif
