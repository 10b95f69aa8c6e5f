/* Comparisons, classes, select and bitselect of half, float and double in all widths. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "lists.h"
#include "tests/support/suite.h"

enum { COUNT = 4096 };

static int is_finite(long double x)
{
    return isfinite(x) != 0;
}

#define RELATION(name, expression)                                                                 \
    static int name##_reference(enum clrt_type type, long double x, long double y)                 \
    {                                                                                              \
        (void)type;                                                                                \
        (void)y;                                                                                   \
        return expression;                                                                         \
    }
RELATION(isequal, x == y)
RELATION(isnotequal, x != y)
RELATION(isgreater, x > y)
RELATION(isgreaterequal, x >= y)
RELATION(isless, x < y)
RELATION(islessequal, x <= y)
RELATION(islessgreater, x<y || x> y)
RELATION(isordered, !isnan(x) && !isnan(y))
RELATION(isunordered, isnan(x) || isnan(y))
RELATION(isfinite, is_finite(x))
RELATION(isinf, isinf(x) != 0)
RELATION(isnan, isnan(x) != 0)
RELATION(isnormal, is_finite(x) && fabsl(x) >= (type == CLRT_DOUBLE  ? 0x1p-1022L
                                                : type == CLRT_FLOAT ? 0x1p-126L
                                                                     : 0x1p-14L))
RELATION(signbit, signbit(x) != 0)

struct relation {
    const char *kernel;
    int (*reference)(enum clrt_type type, long double x, long double y);
};

#define ENTRY(name) {"test_" #name, name##_reference},
static const struct relation relations[] = {COMPARISONS(ENTRY) CLASSES(ENTRY)};

struct setup {
    struct rig rig;
    enum clrt_type type;
    enum clrt_type bits; /* the signed integer of the same size */
};

static int open_type(void **state)
{
    static struct setup setup;
    struct zeta_vgpu_engine_config config = rig_config(2);
    size_t bytes;
    char name[32];

    setup.type = *(const enum clrt_type *)*state;
    setup.bits = setup.type == CLRT_HALF    ? CLRT_SHORT
                 : setup.type == CLRT_FLOAT ? CLRT_INT
                                            : CLRT_LONG;
    (void)snprintf(name, sizeof(name), KERNEL_PREFIX "relational_%s", clrt_type_names[setup.type]);
    rig_open(&setup.rig, name, &config);
    bytes = COUNT * clrt_size(setup.type);
    clrt_fill_pairs(setup.type, setup.rig.memory, setup.type, setup.rig.memory + bytes, COUNT, 8);
    clrt_fill(setup.bits, setup.rig.memory + 2 * bytes, COUNT, 9);
    *state = &setup;
    return 0;
}

static int close_type(void **state)
{
    struct setup *setup = *state;

    rig_close(&setup->rig);
    return 0;
}

static unsigned char *out_of(struct setup *setup)
{
    return setup->rig.memory + 3 * COUNT * sizeof(double);
}

/* True is 1 for scalars and -1 for components. */
static void relation__all_widths__matches(void **state)
{
    struct setup *setup = *state;
    const unsigned char *in = setup->rig.memory;

    for (size_t r = 0; r < sizeof(relations) / sizeof(*relations); r++) {
        clrt_run(&setup->rig, relations[r].kernel, in, out_of(setup), COUNT);
        for (size_t k = 0; k < (size_t)CLRT_PLANES * COUNT; k++) {
            size_t i = k % COUNT;
            long double x = clrt_get_real(setup->type, in, i);
            long double y = clrt_get_real(setup->type, in, COUNT + i);
            int expected = relations[r].reference(setup->type, x, y) * (k < COUNT ? 1 : -1);
            int result = (int)clrt_get_integer(setup->bits, out_of(setup), k);

            if (clrt_has((unsigned)(k / COUNT), i) && result != expected)
                fail_msg("%s of %s, width %u: of %La and %La is %d, expected %d",
                         relations[r].kernel, clrt_type_names[setup->type], clrt_widths[k / COUNT],
                         x, y, result, expected);
        }
    }
}

static clrt_wide selected(struct setup *setup, size_t k)
{
    const unsigned char *in = setup->rig.memory;
    size_t i = k % COUNT;
    clrt_wide mask = clrt_get_integer(setup->bits, in, 2 * (size_t)COUNT + i);
    int second = k < COUNT ? mask != 0 : mask < 0;

    return clrt_get_integer(setup->bits, in, second ? COUNT + i : i);
}

static clrt_wide selected_bits(struct setup *setup, size_t k)
{
    const unsigned char *in = setup->rig.memory;
    size_t i = k % COUNT;
    clrt_wide mask = clrt_get_integer(setup->bits, in, 2 * (size_t)COUNT + i);

    return (clrt_get_integer(setup->bits, in, i) & ~mask) |
           (clrt_get_integer(setup->bits, in, COUNT + i) & mask);
}

static void select__all_widths__chooses(void **state)
{
    static const char *const kernels[] = {"test_select", "test_select_unsigned", "test_bitselect"};
    struct setup *setup = *state;

    for (unsigned s = 0; s < 3; s++) {
        clrt_run(&setup->rig, kernels[s], setup->rig.memory, out_of(setup), COUNT);
        for (size_t k = 0; k < (size_t)CLRT_PLANES * COUNT; k++) {
            clrt_wide expected = s == 2 ? selected_bits(setup, k) : selected(setup, k);

            if (clrt_has((unsigned)(k / COUNT), k % COUNT) &&
                clrt_get_integer(setup->bits, out_of(setup), k) != expected)
                fail_msg("%s of %s, plane %zu, number %zu", kernels[s],
                         clrt_type_names[setup->type], k / COUNT, k % COUNT);
        }
    }
}

#define WITH(test, type) CLRT_TEST(test, open_type, close_type, type)
#define FOR_TYPE(type)                                                                             \
    WITH(relation__all_widths__matches, type), WITH(select__all_widths__chooses, type)

SUITE(relational)
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
