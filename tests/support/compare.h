/*
 * assert_cmp(a, <=, b): fails with the expression and both values, for integers, floating point and
 * pointers to data. What cmocka compares itself (assert_int_equal, assert_string_equal) does so
 * too.
 */
#ifndef ZETA_TESTS_SUPPORT_COMPARE_H
#define ZETA_TESTS_SUPPORT_COMPARE_H

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

/** A value as text. */
struct compare_text {
    char text[48];
};

static inline struct compare_text compare_signed(intmax_t value)
{
    struct compare_text text;

    (void)snprintf(text.text, sizeof(text.text), "%" PRIdMAX, value);
    return text;
}

static inline struct compare_text compare_unsigned(uintmax_t value)
{
    struct compare_text text;

    (void)snprintf(text.text, sizeof(text.text), "%" PRIuMAX " (0x%" PRIxMAX ")", value, value);
    return text;
}

static inline struct compare_text compare_real(long double value)
{
    struct compare_text text;

    (void)snprintf(text.text, sizeof(text.text), "%.21Lg", value);
    return text;
}

static inline struct compare_text compare_pointer(const void *value)
{
    struct compare_text text;

    (void)snprintf(text.text, sizeof(text.text), "%p", value);
    return text;
}

#define COMPARE_TEXT(value)                                                                        \
    _Generic((value), float                                                                        \
             : compare_real, double                                                                \
             : compare_real, long double                                                           \
             : compare_real, char                                                                  \
             : compare_signed, signed char                                                         \
             : compare_signed, short                                                               \
             : compare_signed, int                                                                 \
             : compare_signed, long                                                                \
             : compare_signed, long long                                                           \
             : compare_signed, _Bool                                                               \
             : compare_unsigned, unsigned char                                                     \
             : compare_unsigned, unsigned short                                                    \
             : compare_unsigned, unsigned int                                                      \
             : compare_unsigned, unsigned long                                                     \
             : compare_unsigned, unsigned long long                                                \
             : compare_unsigned, default                                                           \
             : compare_pointer)(value)                                                             \
        .text

/** The operands are evaluated once more when the comparison fails. */
#define assert_cmp(a, op, b)                                                                       \
    do {                                                                                           \
        if (!((a)op(b))) {                                                                         \
            print_error("%s: %s and %s\n", #a " " #op " " #b, COMPARE_TEXT(a), COMPARE_TEXT(b));   \
            _fail(__FILE__, __LINE__);                                                             \
        }                                                                                          \
    } while (0)

#endif
