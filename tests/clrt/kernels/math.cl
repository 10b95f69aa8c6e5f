/* Math functions for REAL: float, double or half. */
#include "../lists.h"
#include "forms.h"

#define X(name, ...) UNARY(name, REAL, REAL)
MATH1(X)
MATH1_OPEN(X)
#undef X
#define X(name, ...) BINARY(name, REAL, REAL, REAL)
MATH2(X)
#undef X
#define X(name, operator) KERNEL(test_##name, REAL, REAL, REAL, REAL, x operator y)
OPERATORS(X)
#undef X
#define X(name, ...) BINARY(name, REAL, REAL, int)
MATH_INT(X)
#undef X
#define X(name, ...) TERNARY(name, REAL, REAL, REAL, REAL)
MATH3(X)
#undef X

KERNEL(test_ilogb, int, REAL, REAL, REAL, ilogb(x))

POINTER(fract, REAL, REAL, fract(x, &second))
POINTER(modf, REAL, REAL, modf(x, &second))
POINTER(sincos, REAL, REAL, sincos(x, &second))
POINTER(frexp, REAL, int, frexp(x, &second))
POINTER(lgamma_r, REAL, int, lgamma_r(x, &second))
POINTER(remquo, REAL, int, remquo(x, y, &second))

#ifdef FAST
#define X(name) UNARY(native_##name, REAL, REAL) UNARY(half_##name, REAL, REAL)
FAST1(X)
#undef X
#define X(name) BINARY(native_##name, REAL, REAL, REAL) BINARY(half_##name, REAL, REAL, REAL)
FAST2(X)
#undef X
#endif
