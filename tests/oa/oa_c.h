/*
 * Equations as igt-gpu-tools' generated C calculates them, by C's own conversions: an F operator on
 * two integers is calculated in integers modulo 2^64, then becomes a double; a U operator with a
 * double is calculated in double, then cut off. (Described, and in our files, operands are
 * converted first: core/formula/README.md, oa_rpn.h.)
 */
#ifndef ZETA_TESTS_OA_OA_C_H
#define ZETA_TESTS_OA_OA_C_H

#include <stdint.h>

#include "tests/oa/oa_rpn.h"

/** What an equation is calculated from. */
struct oa_c_input {
    const struct oa_set *set;
    const struct oa_format *format;
    oa_symbol_fn symbol;
    const void *device;
    const unsigned char *earlier, *later; /**< reports */
    uint32_t time_divisor;                /**< of the ticks between them */
};

/** The value of a counter of the set. */
struct oa_number oa_c_value(const struct oa_c_input *input, uint32_t counter);

#endif
