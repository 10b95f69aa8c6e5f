#ifndef ZETA_TESTS_CLRT_CHECK_H
#define ZETA_TESTS_CLRT_CHECK_H

/*
 * Runs the kernels of kernels/forms.h and compares each number of each width with a reference.
 * Numbers of all types are handled as long doubles or 128-bit integers, which hold every one.
 */

#include "tests/vgpu/rig.h"

enum clrt_type {
    CLRT_CHAR,
    CLRT_UCHAR,
    CLRT_SHORT,
    CLRT_USHORT,
    CLRT_INT,
    CLRT_UINT,
    CLRT_LONG,
    CLRT_ULONG,
    CLRT_FLOAT,
    CLRT_DOUBLE,
    CLRT_HALF,
    CLRT_TYPE_COUNT
};

/** An integer of any type; a product of two of them. */
__extension__ typedef __int128 clrt_wide;

/** How a number becomes one of a type with fewer bits. */
enum clrt_rounding { CLRT_NEAREST, CLRT_TO_ZERO, CLRT_UP, CLRT_DOWN };

/** Items of a sub-group, at most. */
#ifndef CLRT_SUB_GROUP
#define CLRT_SUB_GROUP 1
#endif

enum { CLRT_PLANES = 6 };

/** Components of a plane's vectors: 1, 2, 3, 4, 8, 16. */
extern const unsigned clrt_widths[CLRT_PLANES];

extern const char *const clrt_type_names[CLRT_TYPE_COUNT];

/** Each type at its own number. */
extern const enum clrt_type clrt_types[CLRT_TYPE_COUNT];

/** A test of one type; the state at its setup points to the type. */
#define CLRT_TEST(test, setup, teardown, type)                                                     \
    {                                                                                              \
#test " " #type, test, setup, teardown, (void *)(uintptr_t)&clrt_types[type]               \
    }

size_t clrt_size(enum clrt_type type);
int clrt_is_real(enum clrt_type type);
clrt_wide clrt_lowest(enum clrt_type type);
clrt_wide clrt_highest(enum clrt_type type);

/** Number @i of an array; any NaN is a NaN. */
long double clrt_get_real(enum clrt_type type, const void *array, size_t i);
clrt_wide clrt_get_integer(enum clrt_type type, const void *array, size_t i);

/** Stores a number that is one of the type, or the lower bits of an integer. */
void clrt_put_real(enum clrt_type type, void *array, size_t i, long double value);
void clrt_put_integer(enum clrt_type type, void *array, size_t i, clrt_wide value);

/** The number of type @type that @value becomes. */
long double clrt_round(enum clrt_type type, long double value, enum clrt_rounding rounding);

/** The integer of type @type with the lower bits of @value. */
clrt_wide clrt_wrap(enum clrt_type type, clrt_wide value);

/** Distance in units in the last place of @expected; 0 for equal ones, infinity for different
 * kinds. */
long double clrt_ulps(enum clrt_type type, long double result, long double expected);

/** The same, with the distance of the nearest number too, which is up to half a unit. */
long double clrt_error(enum clrt_type type, long double result, long double expected);

/** Fills an array with edge cases, random bits and numbers of usual size; @seed chooses. */
void clrt_fill(enum clrt_type type, void *array, size_t count, uint64_t seed);

/** Fills two arrays so that each edge case meets each. */
void clrt_fill_pairs(enum clrt_type first, void *a, enum clrt_type second, void *b, size_t count,
                     uint64_t seed);

/** Next of a sequence of random numbers. */
uint64_t clrt_random(uint64_t *state);

/** Launches a kernel on @n numbers: n / 16 work-items, parameters (in, out, n). */
void clrt_run(struct rig *rig, const char *kernel, const void *in, void *out, unsigned n);

/** True when a plane has number @i; the last of sixteen is missing in width 3. */
int clrt_has(unsigned plane, size_t i);

#endif
