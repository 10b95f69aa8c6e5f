/* Integer functions of all types and widths; those of one 8-bit operand or two for all values. */
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "tests/support/suite.h"

enum { COUNT = 4096, LARGE = 65536 };

typedef clrt_wide (*reference_fn)(enum clrt_type type, clrt_wide x, clrt_wide y, clrt_wide z);

static unsigned bits_of(enum clrt_type type)
{
    return 8 * (unsigned)clrt_size(type);
}

/* The bits of a number as one without a sign. */
static clrt_wide plain(enum clrt_type type, clrt_wide x)
{
    return x & (((clrt_wide)1 << bits_of(type)) - 1);
}

static clrt_wide saturate(enum clrt_type type, clrt_wide x)
{
    clrt_wide low = clrt_lowest(type), high = clrt_highest(type);

    return x < low ? low : x > high ? high : x;
}

/*
 * A product may have 128 bits without a sign, one more than the type has room for; its upper half
 * is put together from halves.
 */
static clrt_wide high_product(enum clrt_type type, clrt_wide x, clrt_wide y)
{
    clrt_wide half = (clrt_wide)1 << (bits_of(type) / 2);
    clrt_wide low = plain(type, x) % half, high = (x - low) / half;
    clrt_wide carry = low * y;

    /* x * y = high * half * y + carry; divided by half twice, rounded down. */
    carry = carry >> (bits_of(type) / 2);
    return (high * y + carry) >> (bits_of(type) / 2);
}

#define REFERENCE(name, expression)                                                                \
    static clrt_wide name##_reference(enum clrt_type type, clrt_wide x, clrt_wide y, clrt_wide z)  \
    {                                                                                              \
        (void)type;                                                                                \
        (void)x;                                                                                   \
        (void)y;                                                                                   \
        (void)z;                                                                                   \
        return expression;                                                                         \
    }
REFERENCE(abs, x < 0 ? -x : x)
REFERENCE(abs_diff, x > y ? x - y : y - x)
REFERENCE(add_sat, saturate(type, x + y))
REFERENCE(sub_sat, saturate(type, x - y))
REFERENCE(hadd, (x + y) >> 1)
REFERENCE(rhadd, (x + y + 1) >> 1)
REFERENCE(max, x > y ? x : y)
REFERENCE(min, x < y ? x : y)
REFERENCE(clamp, x<y ? y : x> z ? z : x)
REFERENCE(mul_hi, high_product(type, x, y))
REFERENCE(mad_hi, high_product(type, x, y) + z)
REFERENCE(bitselect, (x & ~z) | (y & z))
REFERENCE(mul24, x *y)
REFERENCE(mad24, x *y + z)
REFERENCE(clamp_ordered, clamp_reference(type, x, y < z ? y : z, y < z ? z : y))

static clrt_wide clz_reference(enum clrt_type type, clrt_wide x, clrt_wide y, clrt_wide z)
{
    unsigned count = 0;

    (void)y;
    (void)z;
    while (count < bits_of(type) && !(plain(type, x) >> (bits_of(type) - 1 - count) & 1))
        count++;
    return count;
}

static clrt_wide ctz_reference(enum clrt_type type, clrt_wide x, clrt_wide y, clrt_wide z)
{
    unsigned count = 0;

    (void)y;
    (void)z;
    while (count < bits_of(type) && !(plain(type, x) >> count & 1))
        count++;
    return count;
}

static clrt_wide popcount_reference(enum clrt_type type, clrt_wide x, clrt_wide y, clrt_wide z)
{
    unsigned count = 0;

    (void)y;
    (void)z;
    for (unsigned i = 0; i < bits_of(type); i++)
        count += (unsigned)(plain(type, x) >> i & 1);
    return count;
}

static clrt_wide rotate_reference(enum clrt_type type, clrt_wide x, clrt_wide y, clrt_wide z)
{
    unsigned n = (unsigned)(y & (bits_of(type) - 1));
    clrt_wide bits = plain(type, x);

    (void)z;
    return n == 0 ? bits : bits << n | bits >> (bits_of(type) - n);
}

/* Whether the product leaves the type is decided by its upper half. */
static clrt_wide mad_sat_reference(enum clrt_type type, clrt_wide x, clrt_wide y, clrt_wide z)
{
    clrt_wide high = high_product(type, x, y);
    uint64_t product = (uint64_t)x * (uint64_t)y;
    clrt_wide low = plain(type, product);

    if (bits_of(type) < 64)
        return saturate(type, x * y + z);
    low += z;
    high += low >> 64;
    low = plain(type, low);
    if (clrt_lowest(type) == 0)
        return high > 0 ? clrt_highest(type) : low;
    if (high == (low >> 63 ? -1 : 0))
        return low;
    return high < 0 ? clrt_lowest(type) : clrt_highest(type);
}

static clrt_wide upsample_reference(enum clrt_type type, clrt_wide x, clrt_wide y, clrt_wide z)
{
    (void)z;
    return x * ((clrt_wide)1 << bits_of(type)) + plain(type, y);
}

enum operands { ONE = 1, TWO, THREE };

struct function {
    const char *name;
    reference_fn reference;
    enum operands operands;
    int unsigned_result;
    int spread; /* the second and third operand are those of the first of sixteen */
};

#define F(name, operands)                                                                          \
    {                                                                                              \
#name, name##_reference, operands, 0, 0                                                    \
    }
static const struct function functions[] = {
    {"abs", abs_reference, ONE, 1, 0},
    F(clz, ONE),
    F(ctz, ONE),
    F(popcount, ONE),
    {"abs_diff", abs_diff_reference, TWO, 1, 0},
    F(add_sat, TWO),
    F(sub_sat, TWO),
    F(hadd, TWO),
    F(rhadd, TWO),
    F(max, TWO),
    F(min, TWO),
    F(mul_hi, TWO),
    F(rotate, TWO),
    F(mad_hi, THREE),
    F(mad_sat, THREE),
    F(bitselect, THREE),
    {"max_scalar", max_reference, TWO, 0, 1},
    {"min_scalar", min_reference, TWO, 0, 1},
    {"clamp_scalar", clamp_ordered_reference, THREE, 0, 1},
};
static const struct function clamp_function = F(clamp, THREE);
static const struct function functions24[] = {F(mul24, TWO), F(mad24, THREE)};
static const struct function upsample_function = F(upsample, TWO);

struct setup {
    struct rig rig;
    enum clrt_type type;
};

static int open_type(void **state)
{
    static struct setup setup;
    struct zeta_vgpu_engine_config config = rig_config(2);
    char name[32];

    setup.type = *(const enum clrt_type *)*state;
    (void)snprintf(name, sizeof(name), KERNEL_PREFIX "integer_%s", clrt_type_names[setup.type]);
    rig_open(&setup.rig, name, &config);
    *state = &setup;
    return 0;
}

static int close_type(void **state)
{
    struct setup *setup = *state;

    rig_close(&setup->rig);
    return 0;
}

/* The operands are in the rig's memory, @n of each. */
static void check_function(struct setup *setup, const struct function *function,
                           enum clrt_type result_type, unsigned n)
{
    const unsigned char *in = setup->rig.memory;
    unsigned char *out = setup->rig.memory + 4 * n * clrt_size(setup->type);
    char kernel[64];

    (void)snprintf(kernel, sizeof(kernel), "test_%s", function->name);
    clrt_run(&setup->rig, kernel, in, out, n);
    for (size_t k = 0; k < (size_t)CLRT_PLANES * n; k++) {
        size_t i = k % n, other = function->spread ? i / 16 * 16 : i;
        clrt_wide x = clrt_get_integer(setup->type, in, i);
        clrt_wide y = clrt_get_integer(setup->type, in, n + other);
        clrt_wide z = clrt_get_integer(setup->type, in, 2 * (size_t)n + other);
        clrt_wide expected = clrt_wrap(result_type, function->reference(setup->type, x, y, z));
        clrt_wide result = clrt_get_integer(result_type, out, k);

        if (clrt_has((unsigned)(k / n), i) && result != expected)
            fail_msg("%s of %s, width %u, number %zu: of %lld, %lld, %lld is %lld, expected %lld",
                     function->name, clrt_type_names[setup->type], clrt_widths[k / n], i,
                     (long long)x, (long long)y, (long long)z, (long long)result,
                     (long long)expected);
    }
}

static void fill(struct setup *setup, uint64_t seed)
{
    size_t bytes = COUNT * clrt_size(setup->type);

    clrt_fill_pairs(setup->type, setup->rig.memory, setup->type, setup->rig.memory + bytes, COUNT,
                    seed);
    clrt_fill_pairs(setup->type, setup->rig.memory + 2 * bytes, setup->type,
                    setup->rig.memory + 3 * bytes, COUNT, seed + 1);
    /* Each third operand with many of the pairs of the others, not always with the same. */
    for (size_t i = 0; i < COUNT; i++) {
        size_t from = i * 37 % COUNT;

        clrt_put_integer(
            setup->type, setup->rig.memory, 3 * (size_t)COUNT + i,
            clrt_get_integer(setup->type, setup->rig.memory, 2 * (size_t)COUNT + from));
    }
    memmove(setup->rig.memory + 2 * bytes, setup->rig.memory + 3 * bytes, bytes);
}

static enum clrt_type unsigned_of(enum clrt_type type)
{
    return type | 1;
}

static void functions__all_widths__match(void **state)
{
    struct setup *setup = *state;

    for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++) {
        fill(setup, 10 + i);
        check_function(setup, &functions[i],
                       functions[i].unsigned_result ? unsigned_of(setup->type) : setup->type,
                       COUNT);
    }
}

/* The upper bound must not be below the lower one. */
static void clamp__all_widths__matches(void **state)
{
    struct setup *setup = *state;
    enum clrt_type type = setup->type;
    unsigned char *memory = setup->rig.memory;

    fill(setup, 30);
    for (size_t i = COUNT; i < 2 * (size_t)COUNT; i++) {
        clrt_wide low = clrt_get_integer(type, memory, i);
        clrt_wide high = clrt_get_integer(type, memory, i + COUNT);

        clrt_put_integer(type, memory, i, low < high ? low : high);
        clrt_put_integer(type, memory, i + COUNT, low < high ? high : low);
    }
    check_function(setup, &clamp_function, type, COUNT);
}

static void upsample__all_widths__joins(void **state)
{
    struct setup *setup = *state;

    if (clrt_size(setup->type) == 8)
        skip();
    fill(setup, 31);
    check_function(setup, &upsample_function, setup->type + 2, COUNT);
}

/* Operands beyond 24 bits are not defined. */
static void mul24__all_widths__multiplies(void **state)
{
    struct setup *setup = *state;
    unsigned char *memory = setup->rig.memory;

    if (clrt_size(setup->type) != 4)
        skip();
    fill(setup, 32);
    for (size_t i = 0; i < 2 * (size_t)COUNT; i++) {
        clrt_wide bits = clrt_get_integer(setup->type, memory, i) & 0xffffff;

        if (setup->type == CLRT_INT && bits >= 0x800000)
            bits -= 0x1000000;
        clrt_put_integer(setup->type, memory, i, bits);
    }
    check_function(setup, &functions24[0], setup->type, COUNT);
    check_function(setup, &functions24[1], setup->type, COUNT);
}

/* Scalars select by any bit, components by the highest one. */
static void check_select(struct setup *setup, const char *kernel)
{
    enum clrt_type type = setup->type;
    const unsigned char *in = setup->rig.memory;
    unsigned char *out = setup->rig.memory + 4 * COUNT * clrt_size(type);

    clrt_run(&setup->rig, kernel, in, out, COUNT);
    for (size_t k = 0; k < (size_t)CLRT_PLANES * COUNT; k++) {
        size_t i = k % COUNT;
        clrt_wide mask = plain(type, clrt_get_integer(type, in, 2 * (size_t)COUNT + i));
        int second = k < COUNT ? mask != 0 : mask >> (bits_of(type) - 1) != 0;

        if (clrt_has((unsigned)(k / COUNT), i) &&
            clrt_get_integer(type, out, k) != clrt_get_integer(type, in, second ? COUNT + i : i))
            fail_msg("%s of %s, plane %zu, number %zu", kernel, clrt_type_names[type], k / COUNT,
                     i);
    }
}

static void select__all_widths__chooses(void **state)
{
    struct setup *setup = *state;

    fill(setup, 33);
    check_select(setup, "test_select");
    check_select(setup, "test_select_unsigned");
}

/* The answer for the vector that number @i of a plane is part of. */
static int answer_of(enum clrt_type type, const unsigned char *in, unsigned width, size_t i,
                     int all)
{
    size_t first = i / 16 * 16 + i % 16 / width * width;
    int any_is = 0, all_are = 1;

    for (size_t k = first; k < first + width; k++) {
        clrt_wide x = clrt_get_integer(type, in, k), y = clrt_get_integer(type, in, COUNT + k);
        clrt_wide z = clrt_get_integer(type, in, 2 * (size_t)COUNT + k);

        any_is |= (x & y & z) < 0;
        all_are &= (x | y | z) < 0;
    }
    return all ? all_are : any_is;
}

static void any_all__all_widths__look_at_signs(void **state)
{
    struct setup *setup = *state;
    enum clrt_type type = setup->type;
    const unsigned char *in = setup->rig.memory;
    unsigned char *out = setup->rig.memory + 4 * COUNT * clrt_size(type);
    unsigned seen[2][CLRT_PLANES][2] = {{{0}}};

    if (clrt_lowest(type) == 0)
        skip();
    fill(setup, 34);
    for (int all = 0; all < 2; all++) {
        clrt_run(&setup->rig, all ? "test_all" : "test_any", in, out, COUNT);
        for (size_t k = 0; k < (size_t)CLRT_PLANES * COUNT; k++) {
            unsigned plane = (unsigned)(k / COUNT);
            int expected;

            if (!clrt_has(plane, k % COUNT))
                continue;
            expected = answer_of(type, in, clrt_widths[plane], k % COUNT, all);
            seen[all][plane][expected]++;
            assert_int_equal(clrt_get_integer(type, out, k), expected);
        }
        for (unsigned plane = 0; plane < CLRT_PLANES; plane++)
            assert_true(seen[all][plane][0] > 0 && seen[all][plane][1] > 0);
    }
}

/* Every pair of two 8-bit numbers, a part of them per launch. */
static void functions__all_pairs_of_bytes__match(void **state)
{
    struct setup *setup = *state;
    enum { PART = 16384 };

    if (clrt_size(setup->type) != 1)
        skip();
    for (unsigned part = 0; part < LARGE / PART; part++) {
        for (unsigned i = 0; i < PART; i++) {
            setup->rig.memory[i] = (unsigned char)((part * PART + i) >> 8);
            setup->rig.memory[PART + i] = (unsigned char)i;
            setup->rig.memory[2 * PART + i] = (unsigned char)(i * 7 + part);
        }
        for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++)
            check_function(setup, &functions[i],
                           functions[i].unsigned_result ? unsigned_of(setup->type) : setup->type,
                           PART);
    }
}

#define WITH(test, type) CLRT_TEST(test, open_type, close_type, type)
#define FOR_TYPE(type)                                                                             \
    WITH(functions__all_widths__match, type), WITH(clamp__all_widths__matches, type),              \
        WITH(upsample__all_widths__joins, type), WITH(mul24__all_widths__multiplies, type),        \
        WITH(select__all_widths__chooses, type), WITH(any_all__all_widths__look_at_signs, type),   \
        WITH(functions__all_pairs_of_bytes__match, type)

SUITE(integer)
{
    const struct CMUnitTest tests[] = {
        FOR_TYPE(CLRT_CHAR), FOR_TYPE(CLRT_UCHAR), FOR_TYPE(CLRT_SHORT), FOR_TYPE(CLRT_USHORT),
        FOR_TYPE(CLRT_INT),  FOR_TYPE(CLRT_UINT),  FOR_TYPE(CLRT_LONG),  FOR_TYPE(CLRT_ULONG),
    };

    if (rig_missing())
        return 77;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
