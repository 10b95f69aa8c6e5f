/* vload, vstore, group copies and shuffles of all types; halves in memory with all modes. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "tests/support/suite.h"

enum { PLANE = 64, COUNT = 1024, OUT = 1 << 17 };

struct setup {
    struct rig rig;
    enum clrt_type type;
    size_t size;
    unsigned char *in, *out;
};

static struct setup setup;

static int open_file(const char *name)
{
    struct zeta_vgpu_engine_config config = rig_config(2);

    rig_open(&setup.rig, name, &config);
    setup.in = setup.rig.memory;
    setup.out = setup.rig.memory + OUT;
    return 0;
}

static int open_type(void **state)
{
    char name[64];

    setup.type = *(const enum clrt_type *)*state;
    setup.size = clrt_size(setup.type);
    (void)snprintf(name, sizeof(name), KERNEL_PREFIX "memory_%s", clrt_type_names[setup.type]);
    return open_file(name);
}

static int open_half(void **state)
{
    (void)state;
    return open_file(KERNEL_PREFIX "half");
}

static int close_rig(void **state)
{
    (void)state;
    rig_close(&setup.rig);
    return 0;
}

static void run(const char *kernel, uint32_t groups, uint32_t size)
{
    struct {
        const void *in;
        void *out;
        uint32_t n;
    } arguments = {setup.in, setup.out, COUNT};

    if (rig_run(&setup.rig, kernel, &arguments, groups, size) != ZETA_VGPU_OK)
        fail_msg("%s: %s", kernel, setup.rig.fault.message.text);
}

/* Moves 48 of 64 elements from place 1 to place 3 and touches no other. */
static void check_moved(const char *kernel)
{
    static const unsigned widths[] = {2, 3, 4, 8, 16};

    memset(setup.out, 0, 5 * PLANE * setup.size);
    run(kernel, 1, 1);
    for (unsigned plane = 0; plane < 5; plane++) {
        const unsigned char *out = setup.out + plane * PLANE * setup.size;

        for (size_t i = 0; i < PLANE * setup.size; i++) {
            int inside = i >= 3 * setup.size && i < 51 * setup.size;
            unsigned char expected = inside ? setup.in[i - 2 * setup.size] : 0;

            if (out[i] != expected)
                fail_msg("%s of %s, width %u, byte %zu: %u, expected %u", kernel,
                         clrt_type_names[setup.type], widths[plane], i, out[i], expected);
        }
    }
}

static void vload_vstore__all_spaces__move(void **state)
{
    uint64_t random = 20;

    (void)state;
    for (size_t i = 0; i < PLANE * setup.size; i++)
        setup.in[i] = (unsigned char)clrt_random(&random);
    check_moved("test_global");
    check_moved("test_generic");
    check_moved("test_private");
    check_moved("test_local");
    for (size_t i = 0; i < PLANE; i++) {
        if (clrt_is_real(setup.type))
            clrt_put_real(setup.type, setup.in, i, (long double)i);
        else
            clrt_put_integer(setup.type, setup.in, i, (clrt_wide)i);
    }
    check_moved("test_constant");
}

/* Vectors of three: the fourth part of their room is not defined. */
static void check_copied(unsigned plane, unsigned stored, unsigned width)
{
    const unsigned char *out = setup.out + plane * 2 * PLANE * setup.size;
    size_t vectors = PLANE / stored;

    for (size_t v = 0; v < vectors; v++) {
        size_t bytes = width * setup.size, room = stored * setup.size;

        assert_memory_equal(out + v * room, setup.in + v * room, bytes);
        /* Every other one went, and came back to every other place. */
        if (v % 2 == 0)
            assert_memory_equal(out + (vectors + v) * room, setup.in + v * room, bytes);
        else
            for (size_t i = 0; i < bytes; i++)
                assert_int_equal(out[(vectors + v) * room + i], 0xee);
    }
}

static void async_copy__groups_of_any_size__complete(void **state)
{
    static const uint32_t sizes[] = {1, 16, 100};
    uint64_t random = 21;

    (void)state;
    for (size_t i = 0; i < PLANE * setup.size; i++)
        setup.in[i] = (unsigned char)clrt_random(&random);
    for (unsigned s = 0; s < 3; s++) {
        memset(setup.out, 0xee, 12 * PLANE * setup.size);
        run("test_copy", 1, sizes[s]);
        check_copied(0, 1, 1);
        check_copied(1, 2, 2);
        check_copied(2, 4, 3);
        check_copied(3, 4, 4);
        check_copied(4, 8, 8);
        check_copied(5, 16, 16);
    }
}

static void shuffle__all_widths__choose(void **state)
{
    static const unsigned widths[] = {2, 4, 8, 16};
    uint64_t random = 22;

    (void)state;
    for (unsigned round = 0; round < 8; round++) {
        for (size_t i = 0; i < 48 * setup.size; i++)
            setup.in[i] = (unsigned char)clrt_random(&random);
        run("test_shuffle", 1, 1);
        for (unsigned k = 0; k < 16; k++) {
            unsigned from = widths[k / 4], to = widths[k % 4];
            const unsigned char *out = setup.out + k * 32 * setup.size;

            for (unsigned i = 0; i < to; i++) {
                size_t mask = setup.in[(32 + i) * setup.size];
                size_t two = mask % (2 * from) < from ? mask % from : 16 + mask % from;

                assert_memory_equal(out + i * setup.size, setup.in + mask % from * setup.size,
                                    setup.size);
                assert_memory_equal(out + (16 + i) * setup.size, setup.in + two * setup.size,
                                    setup.size);
            }
        }
    }
}

/* True when plane @plane of twelve has number @i: the aligned form of width 3 has gaps. */
static int has_half(unsigned plane, size_t i)
{
    return plane < 6 ? clrt_has(plane, i) : plane != 8 || i % 4 != 3;
}

static void check_loaded(const char *kernel, const uint16_t *from, size_t repeat)
{
    memset(setup.out, 0, 12 * COUNT * sizeof(float));
    run(kernel, COUNT / 16, 1);
    for (size_t k = 0; k < 12 * (size_t)COUNT; k++) {
        long double expected = clrt_get_real(CLRT_HALF, from, k % COUNT % repeat);

        if (has_half((unsigned)(k / COUNT), k % COUNT) &&
            clrt_ulps(CLRT_FLOAT, (long double)((const float *)setup.out)[k], expected) != 0)
            fail_msg("%s, plane %zu, number %zu: %a, expected %La", kernel, k / COUNT, k % COUNT,
                     (double)((const float *)setup.out)[k], expected);
    }
}

static void vload_half__every_half__exact(void **state)
{
    static const uint16_t table[16] = {0x0000, 0x8000, 0x0001, 0x8001, 0x03ff, 0x0400,
                                       0x3c00, 0xbc00, 0x3555, 0x7bff, 0xfbff, 0x7c00,
                                       0xfc00, 0x7e00, 0x4248, 0x1400};
    uint16_t *in = (uint16_t *)setup.in;

    (void)state;
    for (unsigned part = 0; part < 65536 / COUNT; part++) {
        for (unsigned i = 0; i < COUNT; i++)
            in[i] = (uint16_t)(part * COUNT + i);
        check_loaded("test_load_global", in, COUNT);
        if (part % 8 != 0)
            continue;
        check_loaded("test_load_generic", in, COUNT);
        check_loaded("test_load_private", in, COUNT);
        check_loaded("test_load_local", in, COUNT);
    }
    check_loaded("test_load_constant", table, 16);
}

static void check_stored(const char *kernel, enum clrt_type from, enum clrt_rounding rounding)
{
    run(kernel, COUNT / 16, 1);
    for (size_t k = 0; k < 12 * (size_t)COUNT; k++) {
        long double x = clrt_get_real(from, setup.in, k % COUNT);
        long double result = clrt_get_real(CLRT_HALF, setup.out, k);

        if (has_half((unsigned)(k / COUNT), k % COUNT) &&
            clrt_ulps(CLRT_HALF, result, clrt_round(CLRT_HALF, x, rounding)) != 0)
            fail_msg("%s, plane %zu: %La becomes %La", kernel, k / COUNT, x, result);
    }
}

/* Numbers near the middle between two halves, of all sizes that halves have and some more. */
static void fill_halfway(enum clrt_type type, uint64_t seed)
{
    uint64_t random = seed;

    clrt_fill(type, setup.in, COUNT, seed);
    for (size_t i = 64; i < COUNT; i++) {
        long double half = (long double)(clrt_random(&random) % 4096) + 0.5L;
        long double more = (long double)((int)(clrt_random(&random) % 3) - 1) * 0x1p-11L;
        long double value = ldexpl(half + more, (int)(clrt_random(&random) % 34) - 28);

        clrt_put_real(type, setup.in, i, i % 2 ? -value : value);
    }
}

static void vstore_half__all_modes__round(void **state)
{
    static const struct {
        const char *suffix;
        enum clrt_rounding rounding;
    } modes[] = {{"", CLRT_NEAREST},
                 {"_rte", CLRT_NEAREST},
                 {"_rtz", CLRT_TO_ZERO},
                 {"_rtp", CLRT_UP},
                 {"_rtn", CLRT_DOWN}};
    char kernel[64];

    (void)state;
    for (unsigned round = 0; round < 4; round++) {
        for (unsigned m = 0; m < 5; m++) {
            fill_halfway(CLRT_FLOAT, 23 + round);
            (void)snprintf(kernel, sizeof(kernel), "test_store_float%s", modes[m].suffix);
            check_stored(kernel, CLRT_FLOAT, modes[m].rounding);
            fill_halfway(CLRT_DOUBLE, 27 + round);
            (void)snprintf(kernel, sizeof(kernel), "test_store_double%s", modes[m].suffix);
            check_stored(kernel, CLRT_DOUBLE, modes[m].rounding);
        }
    }
    fill_halfway(CLRT_FLOAT, 31);
    check_stored("test_store_generic", CLRT_FLOAT, CLRT_NEAREST);
    check_stored("test_store_private", CLRT_FLOAT, CLRT_NEAREST);
    check_stored("test_store_local", CLRT_FLOAT, CLRT_NEAREST);
}

#define WITH(test, type) CLRT_TEST(test, open_type, close_rig, type)
#define FOR_TYPE(type)                                                                             \
    WITH(vload_vstore__all_spaces__move, type),                                                    \
        WITH(async_copy__groups_of_any_size__complete, type),                                      \
        WITH(shuffle__all_widths__choose, type)
#define WITH_HALF(test) cmocka_unit_test_setup_teardown(test, open_half, close_rig)

SUITE(memory)
{
    const struct CMUnitTest tests[] = {
        FOR_TYPE(CLRT_CHAR),
        FOR_TYPE(CLRT_UCHAR),
        FOR_TYPE(CLRT_SHORT),
        FOR_TYPE(CLRT_USHORT),
        FOR_TYPE(CLRT_INT),
        FOR_TYPE(CLRT_UINT),
        FOR_TYPE(CLRT_LONG),
        FOR_TYPE(CLRT_ULONG),
        FOR_TYPE(CLRT_FLOAT),
        FOR_TYPE(CLRT_DOUBLE),
        FOR_TYPE(CLRT_HALF),
        WITH_HALF(vload_half__every_half__exact),
        WITH_HALF(vstore_half__all_modes__round),
    };

    if (rig_missing())
        return 77;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
