/* Comparisons, classes and selections for REAL; I and U are the integers of its size. */
#include "../lists.h"
#include "forms.h"

#define X(name) BINARY(name, I, REAL, REAL)
COMPARISONS(X)
#undef X
#define X(name) UNARY(name, I, REAL)
CLASSES(X)
#undef X

TERNARY(bitselect, REAL, REAL, REAL, REAL)
TERNARY(select, REAL, REAL, REAL, I)
KERNEL(test_select_unsigned, REAL, REAL, REAL, U, select(x, y, z))
