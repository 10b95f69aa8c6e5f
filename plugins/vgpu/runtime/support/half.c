/*
 * Conversions of halves under the names that LLVM calls. A half travels in the lower bits of an
 * integer register.
 */
#include "sdk/lib/opencl/half_bits.h"

float __extendhfsf2(uint16_t bits);
uint16_t __truncsfhf2(float value);
uint16_t __truncdfhf2(double value);

float __extendhfsf2(uint16_t bits)
{
    union {
        uint32_t bits;
        float value;
    } number = {float_from_half(bits)};

    return number.value;
}

uint16_t __truncdfhf2(double value)
{
    union {
        double value;
        uint64_t bits;
    } number = {value};

    return half_from_double(number.bits, HALF_NEAREST);
}

uint16_t __truncsfhf2(float value)
{
    return __truncdfhf2((double)value);
}
