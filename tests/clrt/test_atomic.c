/*
 * Atomics of all types, on global and local memory, in all their forms.
 *
 * Whatever the order in which work-items come to a number, each finds what another one left. So
 * what they found, with the last number, is what they left, with the first one.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

enum { ITEMS = 256, CELLS = 8 };

/* SPIR-V has no comparison and exchange of floating point: those kernels never were SPIR-V. */
#ifndef HAS_REAL_ATOMICS
#define HAS_REAL_ATOMICS (strlen(KERNEL_PREFIX) == 0)
#endif

struct setup {
    struct rig rig;
    enum clrt_type type;
    unsigned char *in, *out;
    unsigned char before[CELLS * 8]; /* the numbers that are changed, before the launch */
};

static int open_type(void **state)
{
    static struct setup setup;
    struct zeta_vgpu_engine_config config = rig_config(2);
    char name[64];

    setup.type = *(const enum clrt_type *)*state;
    (void)snprintf(name, sizeof(name), KERNEL_PREFIX "atomic_%s", clrt_type_names[setup.type]);
    rig_open(&setup.rig, name, &config);
    setup.in = setup.rig.memory;
    setup.out = setup.rig.memory + (1 << 16);
    *state = &setup;
    return 0;
}

static int close_type(void **state)
{
    struct setup *setup = *state;

    rig_close(&setup->rig);
    return 0;
}

static int is_word(enum clrt_type type)
{
    return type == CLRT_INT || type == CLRT_UINT;
}

/* Numbers are compared by their bits; sums of floating point are exact for these small ones. */
static void put(struct setup *setup, size_t i, int value)
{
    if (clrt_is_real(setup->type))
        clrt_put_real(setup->type, setup->in, i, value);
    else
        clrt_put_integer(setup->type, setup->in, i, value);
}

static long double get(const struct setup *setup, const void *array, size_t i)
{
    return clrt_is_real(setup->type) ? clrt_get_real(setup->type, array, i)
                                     : (long double)clrt_get_integer(setup->type, array, i);
}

static void launch(struct setup *setup, const char *kernel, uint32_t groups, uint32_t group_size)
{
    struct {
        void *in;
        void *out;
        uint32_t n;
    } arguments = {setup->in, setup->out, 0};

    if (rig_run(&setup->rig, kernel, &arguments, groups, group_size) != ZETA_VGPU_OK)
        fail_msg("%s: %s", kernel, setup->rig.fault.message.text);
}

static void prepare(struct setup *setup)
{
    static const int first[CELLS] = {5, 1000000, 0x7fffff, 3, 77, 90, 40, 12};

    for (size_t i = 0; i < CELLS; i++)
        put(setup, i, first[i]);
    for (size_t i = 0; i < ITEMS; i++)
        put(setup, CELLS + i, (int)(i * 37 % 101) + 17);
    memcpy(setup->before, setup->in, CELLS * clrt_size(setup->type));
}

enum operation { ADD, SUB, AND, OR, XOR, MIN, MAX, STEP, EXCHANGE };

static clrt_wide apply(enum operation operation, size_t item, clrt_wide old, clrt_wide mine)
{
    switch (operation) {
    case ADD:
        return old + mine;
    case SUB:
        return old - mine;
    case AND:
        return old & mine;
    case OR:
        return old | mine;
    case XOR:
        return old ^ mine;
    case MIN:
        return old < mine ? old : mine;
    case MAX:
        return old > mine ? old : mine;
    case STEP:
        return item % 2 ? old + 1 : old - 1;
    default:
        return mine;
    }
}

static int compare_numbers(const void *a, const void *b)
{
    long double x = *(const long double *)a, y = *(const long double *)b;

    return x < y ? -1 : x > y;
}

/* Cell @cell was changed by all; what they found is in row @row of the results. */
static void check_chain(struct setup *setup, const char *kernel, enum operation operation,
                        size_t cell, size_t row)
{
    static long double found[ITEMS + 1], left[ITEMS + 1];

    for (size_t i = 0; i < ITEMS; i++) {
        found[i] = get(setup, setup->out, row * ITEMS + i);
        left[i] = (long double)apply(operation, i, (clrt_wide)found[i],
                                     (clrt_wide)get(setup, setup->in, CELLS + i));
        if (!clrt_is_real(setup->type))
            left[i] = (long double)clrt_wrap(setup->type, (clrt_wide)left[i]);
    }
    found[ITEMS] = get(setup, setup->in, cell);
    left[ITEMS] = get(setup, setup->before, cell);
    qsort(found, ITEMS + 1, sizeof(*found), compare_numbers);
    qsort(left, ITEMS + 1, sizeof(*left), compare_numbers);
    for (size_t i = 0; i <= ITEMS; i++) {
        if (found[i] != left[i])
            fail_msg("%s of %s, cell %zu: found %Lg, left %Lg", kernel,
                     clrt_type_names[setup->type], cell, found[i], left[i]);
    }
}

static void check_all_operations(struct setup *setup, const char *kernel, uint32_t groups)
{
    prepare(setup);
    launch(setup, kernel, groups, ITEMS / groups);
    for (size_t cell = 0; cell < CELLS; cell++)
        check_chain(setup, kernel, (enum operation)cell, cell, cell);
}

/* Rule 24.9. */
static void fetch__all_forms__loses_nothing(void **state)
{
    struct setup *setup = *state;

    if (clrt_is_real(setup->type))
        skip();
    check_all_operations(setup, "test_atom_global", 4);
    check_all_operations(setup, "test_atom_local", 1);
    if (is_word(setup->type)) {
        check_all_operations(setup, "test_atomic_global", 4);
        check_all_operations(setup, "test_atomic_local", 1);
    }
    check_all_operations(setup, "test_fetch", 4);
    check_all_operations(setup, "test_fetch_order", 4);
    check_all_operations(setup, "test_fetch_scope", 4);
}

/* Numbers of floating point are whole ones here, so sums are exact. */
static void fetch__floating_point__loses_nothing(void **state)
{
    static const enum operation operations[] = {ADD, SUB, MIN, MAX, ADD, SUB};
    struct setup *setup = *state;

    if (!clrt_is_real(setup->type))
        skip();
    prepare(setup);
    launch(setup, "test_fetch_real", 4, ITEMS / 4);
    for (size_t cell = 0; cell < 6; cell++)
        check_chain(setup, "test_fetch_real", operations[cell], cell, cell);
}

static long double sum_of_items(struct setup *setup)
{
    long double sum = 0;

    for (size_t i = 0; i < ITEMS; i++)
        sum += get(setup, setup->in, CELLS + i);
    return sum;
}

/* Rule 24.9. */
static void exchange__all_forms__loses_nothing(void **state)
{
    struct setup *setup = *state;

    prepare(setup);
    launch(setup, "test_exchange", 4, ITEMS / 4);
    for (size_t cell = 0; cell < 3; cell++)
        check_chain(setup, "test_exchange", EXCHANGE, cell, cell);
    for (size_t cell = 3; cell < 7; cell++)
        assert_cmp(get(setup, setup->in, cell), ==,
                   get(setup, setup->before, cell) + sum_of_items(setup));
    /* A comparison that succeeds leaves what was expected alone. */
    assert_cmp(get(setup, setup->in, 7), ==, get(setup, setup->before, 7));
}

static void load_store__all_forms__see_each_other(void **state)
{
    static const int expected[] = {5, 6, 7, 8, 0, 9, 1, 2};
    struct setup *setup = *state;

    prepare(setup);
    launch(setup, "test_load_store", 1, 1);
    for (size_t i = 0; i < 8; i++)
        assert_cmp(get(setup, setup->out, i), ==, expected[i]);
}

static size_t count_zeros(struct setup *setup, size_t row)
{
    size_t zeros = 0;

    for (size_t i = 0; i < ITEMS; i++)
        zeros += get(setup, setup->out, row * ITEMS + i) == 0;
    return zeros;
}

static void classic_exchange__and_flags__one_wins(void **state)
{
    struct setup *setup = *state;

    if (clrt_is_real(setup->type))
        skip();
    prepare(setup);
    put(setup, 2, 0);
    put(setup, 5, 0);
    launch(setup, "test_classic_exchange", 1, ITEMS);
    check_chain(setup, "test_classic_exchange", EXCHANGE, 0, 0);
    assert_cmp(get(setup, setup->in, 3), ==, get(setup, setup->before, 3) + sum_of_items(setup));
    if (!is_word(setup->type))
        return;
    check_chain(setup, "test_classic_exchange", EXCHANGE, 1, 1);
    assert_cmp(get(setup, setup->in, 4), ==, get(setup, setup->before, 4) + sum_of_items(setup));
    for (size_t row = 2; row < 5; row++)
        assert_int_equal(count_zeros(setup, row), 1);
    assert_cmp(get(setup, setup->in, 2), ==, 1);
    assert_cmp(get(setup, setup->in, 5), ==, 0);
}

#define WITH(test, type) CLRT_TEST(test, open_type, close_type, type)
#define FOR_TYPE(type)                                                                             \
    WITH(fetch__all_forms__loses_nothing, type), WITH(fetch__floating_point__loses_nothing, type), \
        WITH(exchange__all_forms__loses_nothing, type),                                            \
        WITH(load_store__all_forms__see_each_other, type),                                         \
        WITH(classic_exchange__and_flags__one_wins, type)

SUITE(atomic)
{
    const struct CMUnitTest integers[] = {
        FOR_TYPE(CLRT_INT),
        FOR_TYPE(CLRT_UINT),
        FOR_TYPE(CLRT_LONG),
        FOR_TYPE(CLRT_ULONG),
    };
    const struct CMUnitTest reals[] = {
        FOR_TYPE(CLRT_FLOAT),
        FOR_TYPE(CLRT_DOUBLE),
    };
    int failed;

    if (rig_missing())
        return 77;
    failed = cmocka_run_group_tests(integers, NULL, NULL);
    if (HAS_REAL_ATOMICS)
        failed += cmocka_run_group_tests(reals, NULL, NULL);
    return failed;
}
