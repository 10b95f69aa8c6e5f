/* Work-items, barriers, address spaces, printf; work-group and sub-group functions. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

enum { OUT = 1 << 16, CHECKS = 96 };

static struct rig rig;
static enum clrt_type type;

static int open_file(const char *name)
{
    struct zeta_vgpu_engine_config config = rig_config(2);

    rig_open(&rig, name, &config);
    return 0;
}

static int open_item(void **state)
{
    (void)state;
    return open_file(KERNEL_PREFIX "item");
}

static int open_type(void **state)
{
    char name[64];

    type = *(const enum clrt_type *)*state;
    (void)snprintf(name, sizeof(name), KERNEL_PREFIX "group_%s", clrt_type_names[type]);
    return open_file(name);
}

static int close_rig(void **state)
{
    (void)state;
    rig_close(&rig);
    return 0;
}

/* Launches any shape with input at the begin of the memory and output behind it. */
static void launch(const char *kernel, const uint32_t groups[3], const uint32_t size[3],
                   uint64_t offset)
{
    struct {
        void *in;
        void *out;
        uint32_t n;
    } arguments = {rig.memory, rig.memory + OUT, 0};
    struct zeta_vgpu_launch launch = {
        .arguments = &arguments,
        .group_count = {groups[0], groups[1], groups[2]},
        .group_size = {size[0], size[1], size[2]},
        .global_offset = {offset, 2 * offset, 3 * offset},
    };

    if (rig_launch(&rig, kernel, &launch) != ZETA_VGPU_OK)
        fail_msg("%s: %s", kernel, rig.fault.message.text);
}

static void launch_one(const char *kernel, uint32_t size)
{
    launch(kernel, (const uint32_t[]){1, 1, 1}, (const uint32_t[]){size, 1, 1}, 0);
}

/* Number @d of item @i; dimension 3 does not exist. */
static void check_ids(const uint64_t *item, uint64_t d, uint64_t local, uint64_t group,
                      uint64_t groups, uint64_t size, uint64_t offset)
{
    assert_int_equal(item[d], group * size + local + offset);
    assert_int_equal(item[4 + d], local);
    assert_int_equal(item[8 + d], group);
    assert_int_equal(item[12 + d], offset);
    assert_int_equal(item[16 + d], groups * size);
    assert_int_equal(item[20 + d], size);
    assert_int_equal(item[24 + d], size);
    assert_int_equal(item[28 + d], groups);
}

static void ids__three_dimensions__match_the_grid(void **state)
{
    static const uint32_t groups[3] = {3, 2, 2}, size[3] = {4, 3, 2};
    const uint64_t most = CLRT_SUB_GROUP < 24 ? CLRT_SUB_GROUP : 24;
    const uint64_t *item = (const uint64_t *)(rig.memory + OUT);

    (void)state;
    launch("test_ids", groups, size, 100);
    for (uint64_t z = 0; z < 4; z++) {
        for (uint64_t y = 0; y < 6; y++) {
            for (uint64_t x = 0; x < 12; x++, item += 40) {
                uint64_t linear = (z % 2 * 3 + y % 3) * 4 + x % 4;

                check_ids(item, 0, x % 4, x / 4, 3, 4, 100);
                check_ids(item, 1, y % 3, y / 3, 2, 3, 200);
                check_ids(item, 2, z % 2, z / 2, 2, 2, 300);
                /* The SPIR-V translator answers for what does not exist itself, with zeros. */
                if (strlen(KERNEL_PREFIX) == 0)
                    check_ids(item, 3, 0, 0, 1, 1, 0);
                assert_int_equal(item[32], 3);
                assert_int_equal(item[33], linear);
                /* Sub-groups: sizes of this one and the largest, their number, which, item in it.
                 */
                assert_int_equal(item[34], 2 * most);
                assert_int_equal(item[35], 24 / most);
                assert_int_equal(item[36], 24 / most);
                assert_int_equal(item[37], linear / most);
                assert_int_equal(item[38], linear % most);
            }
        }
    }
}

static void barriers__all_forms__keep_order(void **state)
{
    const uint32_t *out = (const uint32_t *)(rig.memory + OUT);

    (void)state;
    launch_one("test_barriers", 256);
    for (uint32_t i = 0; i < 256; i++)
        assert_int_equal(out[i], (i + 3) % 256 + 3);
}

/* Rule 24.7. */
static void pointers__generic__know_their_memory(void **state)
{
    const uint32_t *out = (const uint32_t *)(rig.memory + OUT);

    (void)state;
    launch_one("test_spaces", 2);
    assert_int_equal(out[0], 1);
    assert_int_equal(out[1], 2);
    assert_int_equal(out[2], 4);
    assert_int_equal(out[4], out[9]);
    assert_int_equal(out[5], out[8]);
    assert_int_equal(out[6], out[9]);
    assert_int_equal(out[10], 1);
}

/* Rule 24.8. */
static void printf__vectors__prints_components(void **state)
{
    static const double reals[] = {1.5, -2.25, 1e10, INFINITY, 0.1, -1e3};
    uint64_t *slots = (uint64_t *)rig.memory;
    const char *expected =
        "1.500000,-2.250000,10000000000.000000,inf|0.100000,-1000.000000|1,-2,3|"
        "a0,a1,a2,a3,a4,a5,a6,a7|0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,255|"
        "-4611686018427387904,7|1.50  ,2.00  |text|-42|%?|%?|0.500000,1.000000,1.500000,2.000000\n";

    (void)state;
    memcpy(slots, reals, sizeof(reals));
    for (uint64_t i = 0; i < 3; i++)
        slots[6 + i] = i == 1 ? UINT64_C(0xfe) : i + 1 + 0x100;
    for (uint64_t i = 0; i < 8; i++)
        slots[9 + i] = 0xffff00a0 + i;
    for (uint64_t i = 0; i < 16; i++)
        slots[17 + i] = i == 15 ? UINT64_MAX : i;
    slots[33] = UINT64_C(0xc000000000000000);
    slots[34] = 7;
    memcpy(&slots[35], (const double[]){1.5, 2}, 16);
    slots[38] = (uint64_t)-42;
    memcpy(&slots[39], (const double[]){0.5, 1, 1.5, 2}, 32);
    launch_one("test_printf", 1);
    assert_string_equal(rig.text, expected);
    /* The length; where it is formatted later, that it fits. */
    assert_int_equal(*(const int32_t *)(rig.memory + OUT),
                     CLRT_SUB_GROUP == 1 ? strlen(expected) : 0);
}

/* A number of the tested type. */
static long double get(const void *array, size_t i)
{
    return clrt_is_real(type) ? clrt_get_real(type, array, i)
                              : (long double)clrt_get_integer(type, array, i);
}

static void put(void *array, size_t i, int value)
{
    if (clrt_is_real(type))
        clrt_put_real(type, array, i, value);
    else
        clrt_put_integer(type, array, i, value);
}

static long double identity(unsigned operation)
{
    if (operation == 0)
        return 0;
    if (clrt_is_real(type))
        return operation == 1 ? (long double)INFINITY : -(long double)INFINITY;
    return (long double)(operation == 1 ? clrt_highest(type) : clrt_lowest(type));
}

static long double combine(unsigned operation, long double a, long double b)
{
    return operation == 0 ? a + b : operation == 1 ? (a < b ? a : b) : (a > b ? a : b);
}

/* Small numbers, so that the sums of halves are exact. */
static int value_of(size_t i)
{
    return (int)(i * 29 % 7) + (i == 5 ? 95 : 0);
}

static void check_collective(const void *out, size_t size, unsigned operation)
{
    long double total = identity(operation);

    for (size_t i = 0; i < size; i++) {
        long double before = total;

        total = combine(operation, total, value_of(i));
        assert_cmp(get(out, (3 * operation + 1) * size + i), ==, total);
        assert_cmp(get(out, (3 * operation + 2) * size + i), ==, before);
    }
    for (size_t i = 0; i < size; i++)
        assert_cmp(get(out, 3 * operation * size + i), ==, total);
}

/* Rule 24.6. */
static void group__collectives__agree(void **state)
{
    static const uint32_t sizes[][3] = {{2, 2, 2}, {8, 4, 2}, {16, 4, 8}, {2, 128, 2}};
    static const uint32_t one[3] = {1, 1, 1};
    const unsigned char *out = rig.memory + OUT;

    (void)state;
    for (unsigned s = 0; s < sizeof(sizes) / sizeof(*sizes); s++) {
        const uint32_t *shape = sizes[s];
        size_t size = (size_t)shape[0] * shape[1] * shape[2];
        size_t chosen[] = {shape[0] - 1, (shape[1] - 1) * (size_t)shape[0] + 1,
                           ((shape[2] - 1) * (size_t)shape[1] + 1) * shape[0]};

        for (size_t i = 0; i < size; i++)
            put(rig.memory, i, value_of(i));
        launch("test_group", one, shape, 0);
        for (unsigned operation = 0; operation < 3; operation++)
            check_collective(out, size, operation);
        for (size_t i = 0; i < size; i++) {
            assert_cmp(get(out, 9 * size + i), ==, 0);
            /* Nothing is above the largest number without a sign, which -1 is. */
            assert_cmp(get(out, 10 * size + i), ==, (clrt_is_real(type) || clrt_lowest(type) != 0));
            assert_cmp(get(out, 11 * size + i), ==, 1);
            assert_cmp(get(out, 12 * size + i), ==, 1);
            for (size_t b = 0; b < 3; b++)
                assert_cmp(get(out, (13 + b) * size + i), ==, value_of(chosen[b]));
        }
    }
}

/* Rule 24.5. */
static void sub_group__of_one__keeps_its_number(void **state)
{
    const unsigned char *out = rig.memory + OUT;
    size_t checks = 0;

    (void)state;
    memset(rig.memory + OUT, 0, CHECKS * 8);
    for (size_t i = 0; i < 8; i++)
        put(rig.memory, i, (int)i + 11);
    launch_one("test_sub_group", 1);
    while (get(out, checks) == 1)
        checks++;
    /* 42 ends the list. */
    assert_cmp(get(out, checks), ==, 42);
    assert_cmp(checks, >=, 12);
    if (type != CLRT_UINT)
        return;
    for (size_t i = 0; i < 5; i++)
        assert_cmp(get(out, 100 + i), ==, (long double)i + 11);
}

#define WITH_ITEM(test) cmocka_unit_test_setup_teardown(test, open_item, close_rig)
#define WITH(test, type) CLRT_TEST(test, open_type, close_rig, type)
#define BOTH(type)                                                                                 \
    WITH(group__collectives__agree, type), WITH(sub_group__of_one__keeps_its_number, type)
#define SUB_GROUP(type) WITH(sub_group__of_one__keeps_its_number, type)

SUITE(group)
{
    const struct CMUnitTest tests[] = {
        WITH_ITEM(ids__three_dimensions__match_the_grid),
        WITH_ITEM(barriers__all_forms__keep_order),
        WITH_ITEM(pointers__generic__know_their_memory),
        WITH_ITEM(printf__vectors__prints_components),
        BOTH(CLRT_INT),
        BOTH(CLRT_UINT),
        BOTH(CLRT_LONG),
        BOTH(CLRT_ULONG),
        BOTH(CLRT_FLOAT),
        BOTH(CLRT_DOUBLE),
        BOTH(CLRT_HALF),
        SUB_GROUP(CLRT_CHAR),
        SUB_GROUP(CLRT_UCHAR),
        SUB_GROUP(CLRT_SHORT),
        SUB_GROUP(CLRT_USHORT),
    };

    if (rig_missing())
        return 77;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
