/* Math functions in half, float and double, each width, against the host's long double. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "lists.h"
#include "tests/support/suite.h"

enum { COUNT = 4096 };

/* References that the host's library lacks. */

static const long double pi = 3.14159265358979323846264338327950288L;

/* Reduced exactly to one turn around zero. */
static long double sinpi_reference(long double x)
{
    long double turn = remainderl(x, 2);

    if (turn == 0 || fabsl(turn) == 1)
        return copysignl(0, x);
    return fabsl(turn) > 0.5L ? sinl(pi * copysignl(1 - fabsl(turn), turn)) : sinl(pi * turn);
}

static long double cospi_reference(long double x)
{
    long double turn = fabsl(remainderl(x, 2));

    return turn == 0.5L ? 0 : turn > 0.25L ? sinl(pi * (0.5L - turn)) : cosl(pi * turn);
}

static long double tanpi_reference(long double x)
{
    long double turn = remainderl(x, 2);

    return fabsl(turn) == 1 ? copysignl(0, -x) : sinpi_reference(x) / cospi_reference(x);
}

/* Of two zeros the positive one is the larger. */
static long double fmax_reference(long double x, long double y)
{
    return x == 0 && y == 0 ? (signbit(x) ? y : x) : fmaxl(x, y);
}

static long double fmin_reference(long double x, long double y)
{
    return x == 0 && y == 0 ? (signbit(x) ? x : y) : fminl(x, y);
}

static long double maxmag_reference(long double x, long double y)
{
    return fabsl(x) > fabsl(y) ? x : fabsl(y) > fabsl(x) ? y : fmax_reference(x, y);
}

static long double minmag_reference(long double x, long double y)
{
    return fabsl(x) < fabsl(y) ? x : fabsl(y) < fabsl(x) ? y : fmin_reference(x, y);
}

static long double powr_reference(long double x, long double y)
{
    if (isnan(x) || isnan(y) || x < 0 || (y == 0 && (x == 0 || isinf(x))) || (x == 1 && isinf(y)))
        return (long double)NAN;
    return powl(fabsl(x), y);
}

static long double rootn_reference(long double x, long double n)
{
    int even = fmodl(n, 2) == 0;

    if (n == 0 || (x < 0 && even))
        return (long double)NAN;
    return even ? powl(fabsl(x), 1 / n) : copysignl(powl(fabsl(x), 1 / n), x);
}

static long double ldexp_reference(long double x, long double n)
{
    return ldexpl(x, n > 10000 ? 10000 : n < -10000 ? -10000 : (int)n);
}

/* Steps of the tested type, not of the long double. */
static enum clrt_type stepping;

static long double nextafter_reference(long double x, long double y)
{
    long double next;

    if (isnan(x) || isnan(y))
        return (long double)NAN;
    if (x == y)
        return y;
    next = clrt_round(stepping, nextafterl(x, y), y > x ? CLRT_UP : CLRT_DOWN);
    return next == 0 ? copysignl(0, x) : next;
}

#define REFERENCE1(name, expression)                                                               \
    static long double name##_reference(long double x)                                             \
    {                                                                                              \
        return expression;                                                                         \
    }
#define REFERENCE2(name, expression)                                                               \
    static long double name##_reference(long double x, long double y)                              \
    {                                                                                              \
        return expression;                                                                         \
    }
REFERENCE1(acos, acosl(x))
REFERENCE1(acosh, acoshl(x))
REFERENCE1(acospi, acosl(x) / pi)
REFERENCE1(asin, asinl(x))
REFERENCE1(asinh, asinhl(x))
REFERENCE1(asinpi, asinl(x) / pi)
REFERENCE1(atan, atanl(x))
REFERENCE1(atanh, atanhl(x))
REFERENCE1(atanpi, atanl(x) / pi)
REFERENCE1(cbrt, cbrtl(x))
REFERENCE1(ceil, ceill(x))
REFERENCE1(cos, cosl(x))
REFERENCE1(cosh, coshl(x))
REFERENCE1(erf, erfl(x))
REFERENCE1(erfc, erfcl(x))
REFERENCE1(exp, expl(x))
REFERENCE1(exp2, exp2l(x))
REFERENCE1(exp10, exp10l(x))
REFERENCE1(expm1, expm1l(x))
REFERENCE1(fabs, fabsl(x))
REFERENCE1(floor, floorl(x))
REFERENCE1(lgamma, lgammal(x))
REFERENCE1(log, logl(x))
REFERENCE1(log2, log2l(x))
REFERENCE1(log10, log10l(x))
REFERENCE1(log1p, log1pl(x))
REFERENCE1(logb, logbl(x))
REFERENCE1(recip, 1 / x)
REFERENCE1(rint, rintl(x))
REFERENCE1(round, roundl(x))
REFERENCE1(rsqrt, 1 / sqrtl(x))
REFERENCE1(sin, sinl(x))
REFERENCE1(sinh, sinhl(x))
REFERENCE1(sqrt, sqrtl(x))
REFERENCE1(tan, tanl(x))
REFERENCE1(tanh, tanhl(x))
REFERENCE1(tgamma, tgammal(x))
REFERENCE1(trunc, truncl(x))
REFERENCE2(atan2, atan2l(x, y))
REFERENCE2(atan2pi, atan2l(x, y) / pi)
REFERENCE2(copysign, copysignl(x, y))
REFERENCE2(divide, x / y)
REFERENCE2(fdim, fdiml(x, y))
REFERENCE2(fmod, fmodl(x, y))
REFERENCE2(hypot, hypotl(x, y))
REFERENCE2(plus, x + y)
REFERENCE2(minus, x - y)
REFERENCE2(times, x *y)
REFERENCE2(over, x / y)
REFERENCE2(pow, powl(x, y))
REFERENCE2(pown, powl(x, y))
REFERENCE2(remainder, remainderl(x, y))

struct function {
    const char *name;
    long double (*unary)(long double x);
    long double (*binary)(long double x, long double y);
    long double bounds[2]; /* float, double; half is computed as float and rounded */
};

#define UNARY(name, single, wide) {#name, name##_reference, NULL, {single, wide}},
#define BINARY(name, single, wide) {#name, NULL, name##_reference, {single, wide}},
static const struct function unary[] = {MATH1(UNARY)};
static const struct function binary[] = {MATH2(BINARY)};
#define OPERATOR(name, sign) {#name, NULL, name##_reference, {0, 0}},
static const struct function operators[] = {OPERATORS(OPERATOR)};
static const struct function with_int[] = {MATH_INT(BINARY)};
#define NATIVE1(name) {"native_" #name, name##_reference, NULL, {8192, 0}},
#define HALF1(name) {"half_" #name, name##_reference, NULL, {8192, 0}},
#define NATIVE2(name) {"native_" #name, NULL, name##_reference, {8192, 0}},
#define HALF2(name) {"half_" #name, NULL, name##_reference, {8192, 0}},
static const struct function fast[] = {FAST1(NATIVE1) FAST1(HALF1) FAST2(NATIVE2) FAST2(HALF2)};

struct setup {
    struct rig rig;
    enum clrt_type type;
    long double worst; /* of the last function */
    unsigned wrong;    /* numbers out of bounds, of the last function */
};

static int open_math(void **state)
{
    static struct setup setup;
    enum clrt_type type = *(const enum clrt_type *)*state;
    struct zeta_vgpu_engine_config config = rig_config(2);
    char name[32];

    (void)snprintf(name, sizeof(name), KERNEL_PREFIX "math_%s", clrt_type_names[type]);
    rig_open(&setup.rig, name, &config);
    setup.type = type;
    *state = &setup;
    return 0;
}

static int close_math(void **state)
{
    struct setup *setup = *state;

    rig_close(&setup->rig);
    return 0;
}

/*
 * A bound of 0 stands for the correctly rounded result. The reference is rounded itself, so close
 * to the middle between two numbers both of them are.
 */
static long double bound_of(const struct setup *setup, const struct function *function,
                            long double expected)
{
    long double bound = function->bounds[setup->type == CLRT_DOUBLE];

    if (bound == 0 && clrt_round(setup->type, expected, CLRT_NEAREST) != expected)
        return 0.5L + 0x1p-10L;
    return setup->type == CLRT_HALF && bound > 1 ? 1 : bound;
}

static void check_number(struct setup *setup, const struct function *function, unsigned plane,
                         size_t i, long double result, long double expected, long double x,
                         long double y)
{
    long double error = clrt_ulps(setup->type, result, expected);
    long double exact = clrt_error(setup->type, result, expected);

    if (exact > setup->worst)
        setup->worst = exact;
    if (error > bound_of(setup, function, expected) && setup->wrong++ == 0)
        print_error(
            "%s of %s, width %u, number %zu: of %La and %La is %La, expected %La, off by %Lg\n",
            function->name, clrt_type_names[setup->type], clrt_widths[plane], i, x, y, result,
            expected, error);
}

/* Runs a function on what is in the rig's memory; the second operands have type @second. */
static void check_function(struct setup *setup, const struct function *function,
                           enum clrt_type second)
{
    enum clrt_type type = setup->type;
    const char *in = (const char *)setup->rig.memory;
    char *out = (char *)setup->rig.memory + 3 * COUNT * sizeof(double);
    char kernel[64];

    stepping = type;
    (void)snprintf(kernel, sizeof(kernel), "test_%s", function->name);
    clrt_run(&setup->rig, kernel, in, out, COUNT);
    for (size_t i = 0; i < COUNT; i++) {
        const char *b = in + COUNT * clrt_size(type);
        long double x = clrt_get_real(type, in, i);
        long double y = clrt_is_real(second) ? clrt_get_real(second, b, i)
                                             : (long double)clrt_get_integer(second, b, i);
        long double expected = function->unary ? function->unary(x) : function->binary(x, y);

        for (unsigned plane = 0; plane < CLRT_PLANES; plane++) {
            if (clrt_has(plane, i))
                check_number(setup, function, plane, i, clrt_get_real(type, out, plane * COUNT + i),
                             expected, x, y);
        }
    }
}

/* How often numbers are drawn: CLRT_ROUNDS, for devices that are fast. */
static uint64_t round_count(void)
{
    const char *text = getenv("CLRT_ROUNDS");
    const long count = text ? strtol(text, NULL, 10) : 1;

    return count > 0 ? (uint64_t)count : 1;
}

/* Checks functions with edges and random numbers, and tells the worst errors: ulps.sh makes tables.
 */
static void check_functions(struct setup *setup, const struct function *functions, size_t count,
                            enum clrt_type second, uint64_t seed)
{
    const uint64_t rounds = round_count();
    unsigned wrong = 0;

    for (size_t i = 0; i < count; i++) {
        const long double bound = functions[i].bounds[setup->type == CLRT_DOUBLE];

        setup->worst = 0;
        setup->wrong = 0;
        for (uint64_t round = 0; round < rounds; round++) {
            unsigned char *in = setup->rig.memory;

            if (functions[i].unary)
                clrt_fill(setup->type, in, COUNT, seed + 1000 * round);
            else
                clrt_fill_pairs(setup->type, in, second, in + COUNT * clrt_size(setup->type), COUNT,
                                seed + 1000 * round);
            check_function(setup, &functions[i], second);
        }
        print_message("ulp %s %s %.3Lf %Lg\n", functions[i].name, clrt_type_names[setup->type],
                      setup->worst, setup->type == CLRT_HALF && bound > 1 ? 1 : bound);
        wrong += setup->wrong;
    }
    assert_int_equal(wrong, 0);
}

/* Rule 24.1. */
static void unary__all_widths__within_bounds(void **state)
{
    struct setup *setup = *state;

    check_functions(setup, unary, sizeof(unary) / sizeof(*unary), setup->type, 1);
}

static void fill_two(struct setup *setup, enum clrt_type second)
{
    clrt_fill_pairs(setup->type, setup->rig.memory, second,
                    setup->rig.memory + COUNT * clrt_size(setup->type), COUNT, 2);
}

/* Rule 24.1. */
static void binary__all_widths__within_bounds(void **state)
{
    struct setup *setup = *state;

    check_functions(setup, binary, sizeof(binary) / sizeof(*binary), setup->type, 2);
}

/* Every number is a multiple of the least one, so rests are zero or small, and zeros have a sign.
 */
static void rests__of_denormal_divisors__keep_the_sign(void **state)
{
    struct setup *setup = *state;
    enum clrt_type type = setup->type;
    unsigned char *divisors = setup->rig.memory + COUNT * clrt_size(type);

    clrt_fill(type, setup->rig.memory, COUNT, 8);
    for (size_t i = 0; i < COUNT; i++)
        clrt_put_integer(type, divisors, i, (clrt_wide)1 << i % 8);
    setup->wrong = 0;
    for (size_t i = 0; i < sizeof(binary) / sizeof(*binary); i++) {
        if (strcmp(binary[i].name, "remainder") == 0 || strcmp(binary[i].name, "fmod") == 0)
            check_function(setup, &binary[i], type);
    }
    assert_int_equal(setup->wrong, 0);
}

/* Rule 24.3. Each is rounded once, and denormals are numbers. */
static void operators__all_widths__round_once(void **state)
{
    struct setup *setup = *state;

    check_functions(setup, operators, sizeof(operators) / sizeof(*operators), setup->type, 6);
}

/* Rule 24.1. */
static void exponent__all_widths__within_bounds(void **state)
{
    struct setup *setup = *state;

    check_functions(setup, with_int, sizeof(with_int) / sizeof(*with_int), CLRT_INT, 2);
}

/* Rule 24.1. */
static void fast__float__within_8192(void **state)
{
    struct setup *setup = *state;

    if (setup->type != CLRT_FLOAT)
        skip();
    check_functions(setup, fast, sizeof(fast) / sizeof(*fast), setup->type, 2);
}

/* The exact sum with its rounding error needs more than a long double: double uses the host's fma.
 */
static long double fma_reference(enum clrt_type type, long double x, long double y, long double z)
{
    if (type == CLRT_DOUBLE)
        return (long double)fma((double)x, (double)y, (double)z);
    if (type == CLRT_FLOAT)
        return (long double)fmaf((float)x, (float)y, (float)z);
    return fmal(x, y, z);
}

static long double multiply_add(enum clrt_type type, long double x, long double y, long double z)
{
    volatile float single = (float)x * (float)y;
    volatile double product = (double)x * (double)y;

    if (type == CLRT_DOUBLE)
        return (long double)(product + (double)z);
    if (type == CLRT_FLOAT)
        return (long double)(single + (float)z);
    return clrt_round(type, clrt_round(type, x * y, CLRT_NEAREST) + z, CLRT_NEAREST);
}

/* fma rounds once; mad may round once or twice. */
static void check_multiply_add(struct setup *setup, const char *kernel, int may_round_twice)
{
    enum clrt_type type = setup->type;
    size_t bytes = COUNT * clrt_size(type);
    const unsigned char *in = setup->rig.memory;
    unsigned char *out = setup->rig.memory + 3 * COUNT * sizeof(double);

    clrt_run(&setup->rig, kernel, in, out, COUNT);
    for (size_t i = 0; i < (size_t)CLRT_PLANES * COUNT; i++) {
        long double x = clrt_get_real(type, in, i % COUNT);
        long double y = clrt_get_real(type, in + bytes, i % COUNT);
        long double z = clrt_get_real(type, in + 2 * bytes, i % COUNT);
        long double result = clrt_get_real(type, out, i), expected = fma_reference(type, x, y, z);

        if (!clrt_has((unsigned)(i / COUNT), i % COUNT) || clrt_ulps(type, result, expected) == 0)
            continue;
        if (!may_round_twice || clrt_ulps(type, result, multiply_add(type, x, y, z)) != 0)
            fail_msg("%s, number %zu: %La, expected %La", kernel, i, result, expected);
    }
}

/* Rule 24.2. */
static void fma__all_widths__rounds_once(void **state)
{
    struct setup *setup = *state;

    fill_two(setup, setup->type);
    clrt_fill(setup->type, setup->rig.memory + 2 * COUNT * clrt_size(setup->type), COUNT, 3);
    check_multiply_add(setup, "test_fma", 0);
    check_multiply_add(setup, "test_mad", 1);
}

static void lgamma__all_widths__is_near(void **state)
{
    struct setup *setup = *state;
    enum clrt_type type = setup->type;
    const unsigned char *in = setup->rig.memory;
    unsigned char *out = setup->rig.memory + 3 * COUNT * sizeof(double);
    long double unit = type == CLRT_DOUBLE ? 0x1p-46L : type == CLRT_FLOAT ? 0x1p-19L : 0x1p-9L;

    clrt_fill(type, setup->rig.memory, COUNT, 4);
    clrt_run(&setup->rig, "test_lgamma", in, out, COUNT);
    for (size_t i = 0; i < (size_t)CLRT_PLANES * COUNT; i++) {
        long double x = clrt_get_real(type, in, i % COUNT);
        long double expected = lgamma_reference(x);
        long double result = clrt_get_real(type, out, i);

        if (clrt_has((unsigned)(i / COUNT), i % COUNT) && clrt_ulps(type, result, expected) > 16 &&
            !(fabsl(result - expected) < unit))
            fail_msg("lgamma(%La) is %La, expected %La", x, result, expected);
    }
}

static void ilogb__all_widths__is_the_exponent(void **state)
{
    struct setup *setup = *state;
    const unsigned char *in = setup->rig.memory;
    unsigned char *out = setup->rig.memory + 3 * COUNT * sizeof(double);

    clrt_fill(setup->type, setup->rig.memory, COUNT, 5);
    clrt_run(&setup->rig, "test_ilogb", in, out, COUNT);
    for (size_t i = 0; i < (size_t)CLRT_PLANES * COUNT; i++) {
        long double x = clrt_get_real(setup->type, in, i % COUNT);
        int32_t expected = x == 0 ? INT32_MIN : isnan(x) || isinf(x) ? INT32_MAX : ilogbl(x);
        int32_t result = ((const int32_t *)out)[i];

        /* FP_ILOGB0 is the lowest int or one more, FP_ILOGBNAN one of the ends. */
        if (x == 0 && result == -INT32_MAX)
            continue;
        if (clrt_has((unsigned)(i / COUNT), i % COUNT) && result != expected)
            fail_msg("ilogb(%La) is %d, expected %d", x, result, expected);
    }
}

/* The second results, by kernel: what is expected of both. */
struct pair {
    long double first, second;
};

static struct pair fract_pair(enum clrt_type type, long double x, long double y)
{
    long double whole = floorl(x);
    long double below_one = clrt_round(type, nextafterl(1, 0), CLRT_TO_ZERO);

    (void)y;
    if (isinf(x))
        return (struct pair){copysignl(0, x), x};
    if (x == 0 || isnan(x))
        return (struct pair){x, x};
    return (struct pair){fminl(x - whole, below_one), whole};
}

static struct pair modf_pair(enum clrt_type type, long double x, long double y)
{
    long double whole, fraction = modfl(x, &whole);

    (void)type;
    (void)y;
    return (struct pair){fraction, whole};
}

static struct pair sincos_pair(enum clrt_type type, long double x, long double y)
{
    (void)type;
    (void)y;
    return (struct pair){sinl(x), cosl(x)};
}

static struct pair frexp_pair(enum clrt_type type, long double x, long double y)
{
    int exponent = 0;
    long double fraction = x == 0 || !isfinite(x) ? x : frexpl(x, &exponent);

    (void)type;
    (void)y;
    return (struct pair){fraction, exponent};
}

static struct pair lgamma_r_pair(enum clrt_type type, long double x, long double y)
{
    int sign = 1;
    long double logarithm = lgammal_r(x, &sign);

    (void)type;
    (void)y;
    if (isnan(x) || (x < 0 && x == floorl(x)))
        sign = 1;
    return (struct pair){logarithm, sign};
}

/* The quotient bit by bit: the operands' sizes are reduced to less than 256 divisors first. */
static struct pair remquo_pair(enum clrt_type type, long double x, long double y)
{
    long double rest = remainderl(x, y);
    long double size = fabsl(x), unit = fabsl(y);
    int quotient = 0;

    (void)type;
    if (isnan(rest))
        return (struct pair){rest, 0};
    if (isfinite(unit)) {
        size = fmodl(size, 256 * unit);
        for (int bit = 128; bit > 0; bit /= 2) {
            if (size < bit * unit)
                continue;
            size -= bit * unit;
            quotient += bit;
        }
        if (size > unit / 2 || (size == unit / 2 && quotient % 2))
            quotient++;
    }
    quotient &= 127;
    return (struct pair){rest, !signbit(x) == !signbit(y) ? quotient : -quotient};
}

struct pointer_function {
    const char *name;
    struct pair (*reference)(enum clrt_type type, long double x, long double y);
    int second_is_int;
    long double bound;
};

static void check_pointer(struct setup *setup, const struct pointer_function *function)
{
    enum clrt_type type = setup->type;
    size_t bytes = COUNT * clrt_size(type);
    const unsigned char *in = setup->rig.memory;
    unsigned char *out = setup->rig.memory + 3 * COUNT * sizeof(double);
    const unsigned char *seconds = out + CLRT_PLANES * bytes;
    char kernel[64];

    (void)snprintf(kernel, sizeof(kernel), "test_%s", function->name);
    clrt_run(&setup->rig, kernel, in, out, COUNT);
    for (size_t i = 0; i < (size_t)CLRT_PLANES * COUNT; i++) {
        long double x = clrt_get_real(type, in, i % COUNT);
        long double y = clrt_get_real(type, in + bytes, i % COUNT);
        struct pair expected = function->reference(type, x, y);
        long double first = clrt_get_real(type, out, i);
        long double second = function->second_is_int ? (long double)((const int32_t *)seconds)[i]
                                                     : clrt_get_real(type, seconds, i);
        int fine = function->second_is_int
                       ? second == expected.second
                       : clrt_ulps(type, second, expected.second) <= function->bound;

        if (clrt_has((unsigned)(i / COUNT), i % COUNT) &&
            (!fine || clrt_ulps(type, first, expected.first) > function->bound))
            fail_msg("%s of %s, number %zu: of %La and %La is %La and %La, expected %La and %La",
                     function->name, clrt_type_names[type], i, x, y, first, second, expected.first,
                     expected.second);
    }
}

static void pointers__all_widths__give_both_results(void **state)
{
    static const struct pointer_function functions[] = {
        {"fract", fract_pair, 0, 0},          {"modf", modf_pair, 0, 0},
        {"sincos", sincos_pair, 0, 4},        {"frexp", frexp_pair, 1, 0},
        {"lgamma_r", lgamma_r_pair, 1, 1e9L}, {"remquo", remquo_pair, 1, 0},
    };
    struct setup *setup = *state;

    fill_two(setup, setup->type);
    for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++)
        check_pointer(setup, &functions[i]);
}

#define FOR_TYPE(type)                                                                             \
    WITH(unary__all_widths__within_bounds, type), WITH(binary__all_widths__within_bounds, type),   \
        WITH(rests__of_denormal_divisors__keep_the_sign, type),                                    \
        WITH(operators__all_widths__round_once, type),                                             \
        WITH(exponent__all_widths__within_bounds, type), WITH(fast__float__within_8192, type),     \
        WITH(fma__all_widths__rounds_once, type), WITH(lgamma__all_widths__is_near, type),         \
        WITH(ilogb__all_widths__is_the_exponent, type),                                            \
        WITH(pointers__all_widths__give_both_results, type)
#define WITH(test, type) CLRT_TEST(test, open_math, close_math, type)

SUITE(math)
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
