/* Integer functions for T; U is its unsigned form, WIDE and LOW are for upsample. */
#include "../lists.h"
#include "forms.h"

UNARY(abs, U, T)
UNARY(clz, T, T)
UNARY(ctz, T, T)
UNARY(popcount, T, T)
BINARY(abs_diff, U, T, T)
BINARY(add_sat, T, T, T)
BINARY(sub_sat, T, T, T)
BINARY(hadd, T, T, T)
BINARY(rhadd, T, T, T)
BINARY(max, T, T, T)
BINARY(min, T, T, T)
BINARY(mul_hi, T, T, T)
BINARY(rotate, T, T, T)
TERNARY(clamp, T, T, T, T)
TERNARY(mad_hi, T, T, T, T)
TERNARY(mad_sat, T, T, T, T)

/* Scalar operands: the same one for all of a work-item's numbers. */
KERNEL(test_max_scalar, T, T, T, T, max(x, b[0]))
KERNEL(test_min_scalar, T, T, T, T, min(x, b[0]))
KERNEL(test_clamp_scalar, T, T, T, T, clamp(x, min(b[0], c[0]), max(b[0], c[0])))

TERNARY(bitselect, T, T, T, T)
TERNARY(select, T, T, T, T)
KERNEL(test_select_unsigned, T, T, T, U, select(x, y, z))

#ifdef SIGNED
/* The operand has the type of the numbers, also where an expression has another one. */
#define ANSWER(name, operands)                                                                     \
    ({                                                                                             \
        __typeof__(x) all_operands = operands;                                                     \
        name(all_operands);                                                                        \
    })
/* Operands with few and with many sign bits; the answer for all components. */
KERNEL(test_any, T, T, T, T, (x & (T)0) + (T)ANSWER(any, x & y & z))
KERNEL(test_all, T, T, T, T, (x & (T)0) + (T)ANSWER(all, x | y | z))
#endif
#ifdef WIDE
BINARY(upsample, WIDE, T, U)
#endif
#ifdef HAS_24
BINARY(mul24, T, T, T)
TERNARY(mad24, T, T, T, T)
#endif
