/*
 * Choosing between the old and the new form of a call at compile time. Not for programs themselves.
 */
#ifndef ZETA_COMPAT_SELECT_H
#define ZETA_COMPAT_SELECT_H

#include <level_zero/zet_api.h>

/*
 * By the number of arguments. The list of arguments is followed by the functions for the greatest
 * number of arguments, for one less, and so on, and by something that is never chosen:
 *
 *   #define zetFoo(...) ZETA_COMPAT_PICK_2(__VA_ARGS__, zetFoo, old_foo, 0)(__VA_ARGS__)
 *
 * calls the function zetFoo with two arguments and old_foo with one.
 */
#define ZETA_COMPAT_PICK_2(a, b, chosen, ...) chosen
#define ZETA_COMPAT_PICK_5(a, b, c, d, e, chosen, ...) chosen
#define ZETA_COMPAT_PICK_6(a, b, c, d, e, f, chosen, ...) chosen

/*
 * By the type of a pointer to a struct: `old` for pointers to the struct `type`, the function
 * `name` for all others. In C++ a function `old` with an overload for the struct of 1.17 does this.
 */
#if defined(__cplusplus)
#define ZETA_COMPAT_BY_STRUCT(pointer, type, old, name) old
#else
#define ZETA_COMPAT_BY_STRUCT(pointer, type, old, name)                                            \
    _Generic((pointer), struct type * : old, const struct type * : old, default : name)
#endif

#endif
