/* Common and geometric functions of half, float and double. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

enum { COUNT = 2048, VECTORS = 512 };

typedef long double (*reference_fn)(long double x, long double y, long double z);

#define REFERENCE(name, expression)                                                                \
    static long double name##_reference(long double x, long double y, long double z)               \
    {                                                                                              \
        (void)y;                                                                                   \
        (void)z;                                                                                   \
        return expression;                                                                         \
    }
static const long double pi = 3.14159265358979323846264338327950288L;

REFERENCE(degrees, x * 180 / pi)
REFERENCE(radians, x *pi / 180)
REFERENCE(sign, isnan(x) ? 0 : x == 0 ? x : copysignl(1, x))
REFERENCE(min, y < x ? y : x)
REFERENCE(max, x < y ? y : x)
REFERENCE(step, y < x ? 0 : 1)
REFERENCE(step_scalar, x < y ? 0 : 1)
REFERENCE(clamp, fminl(fmaxl(x, y), z))
REFERENCE(mix, x + (y - x) * z)

static long double smoothstep_reference(long double low, long double high, long double x)
{
    long double t = fminl(fmaxl((x - low) / (high - low), 0), 1);

    return t * t * (3 - 2 * t);
}

static long double smoothstep_scalar_reference(long double x, long double low, long double high)
{
    return smoothstep_reference(low, high, x);
}

/* fmin and fmax go by the number when the other is a NaN; of zeros -0 is the smaller. */
static long double fmin_reference(long double x, long double y, long double z)
{
    (void)z;
    return x == 0 && y == 0 ? (signbit(x) ? x : y) : fminl(x, y);
}

static long double fmax_reference(long double x, long double y, long double z)
{
    (void)z;
    return x == 0 && y == 0 ? (signbit(x) ? y : x) : fmaxl(x, y);
}

struct function {
    const char *name;
    reference_fn reference;
    long double bound;   /* units in the last place */
    unsigned char first; /* operand from which on they are those of the first of sixteen; 9: none */
};

/* Any numbers, NaN left out where it is not defined. */
static const struct function any_numbers[] = {
    {"degrees", degrees_reference, 2, 9},  {"radians", radians_reference, 2, 9},
    {"sign", sign_reference, 0, 9},        {"fmin_scalar", fmin_reference, 0, 1},
    {"fmax_scalar", fmax_reference, 0, 1},
};

/* What is not defined for a NaN, or whose error depends on the size of the operands. */
static const struct function usual_numbers[] = {
    {"min", min_reference, 0, 9},
    {"max", max_reference, 0, 9},
    {"step", step_reference, 0, 9},
    {"clamp", clamp_reference, 0, 9},
    {"min_scalar", min_reference, 0, 1},
    {"max_scalar", max_reference, 0, 1},
    {"step_scalar", step_scalar_reference, 0, 1},
    {"clamp_scalar", clamp_reference, 0, 1},
};

/* Operands from 0 to 1, results off by some units of 1. */
static const struct function fractions[] = {
    {"mix", mix_reference, 2, 9},
    {"mix_scalar", mix_reference, 2, 2},
    {"smoothstep", smoothstep_reference, 16, 9},
    {"smoothstep_scalar", smoothstep_scalar_reference, 16, 1},
};

struct setup {
    struct rig rig;
    enum clrt_type type;
    unsigned char *in, *out;
};

static int open_type(void **state)
{
    static struct setup setup;
    struct zeta_vgpu_engine_config config = rig_config(2);
    char name[32];

    setup.type = *(const enum clrt_type *)*state;
    (void)snprintf(name, sizeof(name), KERNEL_PREFIX "common_%s", clrt_type_names[setup.type]);
    rig_open(&setup.rig, name, &config);
    setup.in = setup.rig.memory;
    setup.out = setup.rig.memory + 3 * COUNT * sizeof(double);
    *state = &setup;
    return 0;
}

static int close_type(void **state)
{
    struct setup *setup = *state;

    rig_close(&setup->rig);
    return 0;
}

static long double operand(const struct setup *setup, const struct function *function, unsigned o,
                           size_t i)
{
    return clrt_get_real(setup->type, setup->in,
                         o * (size_t)COUNT + (o >= function->first ? i / 16 * 16 : i));
}

/* @unit: 0 for units in the last place of the result, else that many. */
static void check_function(struct setup *setup, const struct function *function, long double unit)
{
    char kernel[64];

    (void)snprintf(kernel, sizeof(kernel), "test_%s", function->name);
    clrt_run(&setup->rig, kernel, setup->in, setup->out, COUNT);
    for (size_t k = 0; k < (size_t)CLRT_PLANES * COUNT; k++) {
        size_t i = k % COUNT;
        long double x = operand(setup, function, 0, i), y = operand(setup, function, 1, i);
        long double z = operand(setup, function, 2, i);
        long double expected = function->reference(x, y, z);
        long double result = clrt_get_real(setup->type, setup->out, k);
        long double error =
            unit == 0 ? clrt_ulps(setup->type, result, expected) : fabsl(result - expected) / unit;

        if (clrt_has((unsigned)(k / COUNT), i) && !(error <= function->bound))
            fail_msg("%s of %s, width %u: of %La, %La, %La is %La, expected %La", function->name,
                     clrt_type_names[setup->type], clrt_widths[k / COUNT], x, y, z, result,
                     expected);
    }
}

static void common__any_numbers__within_bounds(void **state)
{
    struct setup *setup = *state;

    clrt_fill_pairs(setup->type, setup->in, setup->type, setup->in + COUNT * clrt_size(setup->type),
                    COUNT, 11);
    for (size_t i = 0; i < sizeof(any_numbers) / sizeof(*any_numbers); i++)
        check_function(setup, &any_numbers[i], 0);
}

/* The second operand is not above the third. */
static void common__usual_numbers__match(void **state)
{
    struct setup *setup = *state;

    clrt_fill(setup->type, setup->in, 3 * (size_t)COUNT, 12);
    for (size_t i = 0; i < 3 * (size_t)COUNT; i++) {
        if (isnan(clrt_get_real(setup->type, setup->in, i)))
            clrt_put_real(setup->type, setup->in, i, 1);
    }
    for (size_t i = COUNT; i < 2 * (size_t)COUNT; i++) {
        long double y = clrt_get_real(setup->type, setup->in, i);
        long double z = clrt_get_real(setup->type, setup->in, i + COUNT);

        if (y <= z)
            continue;
        clrt_put_real(setup->type, setup->in, i, z);
        clrt_put_real(setup->type, setup->in, i + COUNT, y);
    }
    for (size_t i = 0; i < sizeof(usual_numbers) / sizeof(*usual_numbers); i++)
        check_function(setup, &usual_numbers[i], 0);
}

static long double unit_of_one(enum clrt_type type)
{
    return type == CLRT_DOUBLE ? DBL_EPSILON : type == CLRT_FLOAT ? FLT_EPSILON : 0x1p-10L;
}

static void common__fractions__near(void **state)
{
    struct setup *setup = *state;
    uint64_t random = 13;

    for (size_t i = 0; i < 3 * (size_t)COUNT; i++) {
        long double value = (long double)(clrt_random(&random) % 4096) / 4096;

        clrt_put_real(setup->type, setup->in, i, clrt_round(setup->type, value, CLRT_NEAREST));
    }
    check_function(setup, &fractions[0], unit_of_one(setup->type));
    check_function(setup, &fractions[1], unit_of_one(setup->type));
    /* The edges of smoothstep far apart: below 1/4 and above 3/4. */
    for (size_t i = 0; i < (size_t)COUNT; i++) {
        clrt_put_real(setup->type, setup->in, i, (long double)(i % 16) / 64);
        clrt_put_real(setup->type, setup->in, COUNT + i, 1 - (long double)(i % 8) / 32);
    }
    check_function(setup, &fractions[2], unit_of_one(setup->type));
    for (size_t i = 0; i < (size_t)COUNT; i++) {
        clrt_put_real(setup->type, setup->in, i, (long double)(i % 64) / 64);
        clrt_put_real(setup->type, setup->in, COUNT + i, (long double)(i / 16 % 16) / 64);
        clrt_put_real(setup->type, setup->in, 2 * (size_t)COUNT + i,
                      1 - (long double)(i / 16 % 8) / 32);
    }
    check_function(setup, &fractions[3], unit_of_one(setup->type));
}

static void ldexp__scalar_exponent__scales_all(void **state)
{
    struct setup *setup = *state;
    unsigned char *exponents = setup->in + COUNT * clrt_size(setup->type);

    clrt_fill(setup->type, setup->in, COUNT, 14);
    for (size_t i = 0; i < COUNT; i++)
        ((int32_t *)exponents)[i] = (int32_t)(i / 16 * 19) - 1200;
    clrt_run(&setup->rig, "test_ldexp_scalar", setup->in, setup->out, COUNT);
    for (size_t k = 0; k < (size_t)CLRT_PLANES * COUNT; k++) {
        long double x = clrt_get_real(setup->type, setup->in, k % COUNT);
        int n = ((int32_t *)exponents)[k % COUNT / 16 * 16];
        long double expected = clrt_round(setup->type, ldexpl(x, n), CLRT_NEAREST);

        if (clrt_has((unsigned)(k / COUNT), k % COUNT))
            assert_cmp(clrt_ulps(setup->type, clrt_get_real(setup->type, setup->out, k), expected),
                       ==, 0);
    }
}

/* Vectors, some of which are so large or small that squares would not fit. */
static void fill_vectors(struct setup *setup)
{
    static const int exponents[CLRT_TYPE_COUNT][3] = {
        [CLRT_FLOAT] = {0, 126, -130}, [CLRT_DOUBLE] = {0, 1020, -1030}, [CLRT_HALF] = {0, 6, -7}};
    uint64_t random = 15;

    for (size_t i = 0; i < 8 * (size_t)VECTORS; i++) {
        long double value = (long double)(int64_t)clrt_random(&random) / 0x1p62L;
        int exponent = exponents[setup->type][i / 4 % 3];

        clrt_put_real(setup->type, setup->in, i,
                      clrt_round(setup->type, ldexpl(value, exponent), CLRT_NEAREST));
    }
}

static long double component(const struct setup *setup, unsigned width, size_t i, unsigned c)
{
    return clrt_get_real(setup->type, setup->in, i * width + c);
}

/* Errors relative to the size of what is added up. */
static void check_near(const struct setup *setup, const char *what, unsigned width, size_t i,
                       long double result, long double expected, long double size)
{
    long double unit = unit_of_one(setup->type);
    long double smallest = setup->type == CLRT_DOUBLE  ? 0x1p-1074L
                           : setup->type == CLRT_FLOAT ? 0x1p-149L
                                                       : 0x1p-24L;

    if (isinf(result) && clrt_round(setup->type, expected, CLRT_NEAREST) == result)
        return;
    if (!(fabsl(result - expected) <= 4 * unit * size + width * smallest))
        fail_msg("%s of %s, width %u, vector %zu: %La, expected %La", what,
                 clrt_type_names[setup->type], width, i, result, expected);
}

static void check_geometry(const struct setup *setup, unsigned width, size_t i, size_t base)
{
    enum clrt_type type = setup->type;
    long double dot = 0, dot_size = 0, square = 0, between = 0;

    for (unsigned c = 0; c < width; c++) {
        long double a = component(setup, width, i, c);
        long double b = clrt_get_real(type, setup->in, 4 * VECTORS + i * width + c);
        long double difference = clrt_round(type, a - b, CLRT_NEAREST);

        dot += a * b;
        dot_size += fabsl(a * b);
        square += a * a;
        between += difference * difference;
    }
    if (base == 0 && (type != CLRT_DOUBLE || clrt_round(type, dot_size, CLRT_NEAREST) < 0x1p1000L))
        check_near(setup, "dot", width, i, clrt_get_real(type, setup->out, i), dot, dot_size);
    check_near(setup, "length", width, i,
               clrt_get_real(type, setup->out, (base + (base ? 0 : 1)) * VECTORS + i),
               sqrtl(square), sqrtl(square));
    check_near(setup, "distance", width, i,
               clrt_get_real(type, setup->out, (base + (base ? 1 : 2)) * VECTORS + i),
               sqrtl(between), sqrtl(between));
    for (unsigned c = 0; c < width; c++)
        check_near(
            setup, "normalize", width, i,
            clrt_get_real(type, setup->out, (base + (base ? 2 : 3)) * VECTORS + i * width + c),
            square == 0 ? 0 : component(setup, width, i, c) / sqrtl(square), 1);
}

static void geometry__all_widths__near(void **state)
{
    struct setup *setup = *state;

    fill_vectors(setup);
    for (unsigned width = 1; width <= 4; width++) {
        char kernel[32];
        struct {
            const void *in;
            void *out;
            uint32_t n;
        } arguments = {setup->in, setup->out, VECTORS};

        (void)snprintf(kernel, sizeof(kernel), "test_geometry%u", width);
        assert_int_equal(rig_run(&setup->rig, kernel, &arguments, VECTORS / 16, 16), ZETA_VGPU_OK);
        for (size_t i = 0; i < VECTORS; i++) {
            check_geometry(setup, width, i, 0);
            if (setup->type == CLRT_FLOAT)
                check_geometry(setup, width, i, 7);
        }
    }
}

static void cross__three_and_four__perpendicular(void **state)
{
    struct setup *setup = *state;
    enum clrt_type type = setup->type;
    struct {
        const void *in;
        void *out;
        uint32_t n;
    } arguments = {setup->in, setup->out, VECTORS};
    uint64_t random = 16;

    for (size_t i = 0; i < 8 * (size_t)VECTORS; i++)
        clrt_put_real(type, setup->in, i, (long double)(int)(clrt_random(&random) % 33) - 16);
    assert_int_equal(rig_run(&setup->rig, "test_cross", &arguments, VECTORS / 16, 16),
                     ZETA_VGPU_OK);
    for (unsigned width = 3; width <= 4; width++) {
        for (size_t i = 0; i < VECTORS; i++) {
            size_t a = i * width, b = 4 * VECTORS + a, out = width == 4 ? a : 4 * VECTORS + a;

            for (unsigned c = 0; c < 3; c++) {
                size_t d = (c + 1) % 3, e = (c + 2) % 3;

                assert_cmp(clrt_get_real(type, setup->out, out + c), ==,
                           clrt_get_real(type, setup->in, a + d) *
                                   clrt_get_real(type, setup->in, b + e) -
                               clrt_get_real(type, setup->in, a + e) *
                                   clrt_get_real(type, setup->in, b + d));
            }
            if (width == 4)
                assert_cmp(clrt_get_real(type, setup->out, out + 3), ==, 0);
        }
    }
}

#define WITH(test, type) CLRT_TEST(test, open_type, close_type, type)
#define FOR_TYPE(type)                                                                             \
    WITH(common__any_numbers__within_bounds, type), WITH(common__usual_numbers__match, type),      \
        WITH(common__fractions__near, type), WITH(ldexp__scalar_exponent__scales_all, type),       \
        WITH(geometry__all_widths__near, type), WITH(cross__three_and_four__perpendicular, type)

SUITE(common)
{
    const struct CMUnitTest tests[] = {
        FOR_TYPE(CLRT_FLOAT),
        FOR_TYPE(CLRT_DOUBLE),
        FOR_TYPE(CLRT_HALF),
    };

    if (rig_missing())
        return 77;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
