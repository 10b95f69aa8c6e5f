/* The functions that code generation calls: blocks of memory, 128-bit integers, halves, reals. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "tests/support/suite.h"

enum { OUT = 1 << 18 };

static struct rig rig;

static int open_rig(void **state)
{
    struct zeta_vgpu_engine_config config = rig_config(1);

    (void)state;
    rig_open(&rig, "support", &config);
    return 0;
}

static int close_rig(void **state)
{
    (void)state;
    rig_close(&rig);
    return 0;
}

static void run(const char *kernel, uint32_t n)
{
    struct {
        void *in;
        void *out;
        uint32_t n;
    } arguments = {rig.memory, rig.memory + OUT, n};

    if (rig_run(&rig, kernel, &arguments, 1, 1) != ZETA_VGPU_OK)
        fail_msg("%s: %s", kernel, rig.fault.message.text);
}

static void blocks__any_length_and_alignment__move(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 64; i++)
        rig.memory[i] = (unsigned char)(200 - i);
    for (uint32_t distance = 0; distance < 9; distance++) {
        memset(rig.memory + OUT, 0, 40 * 256);
        run("test_blocks", distance);
        for (unsigned length = 0; length < 40; length++) {
            const unsigned char *row = rig.memory + OUT + length * 256;
            unsigned char expected[256] = {0};

            memcpy(expected + distance, rig.memory + 3, length);
            memset(expected + 64 + distance, (int)length + 1, length);
            for (unsigned i = 0; i < 48; i++)
                expected[128 + i] = expected[192 + i] = (unsigned char)i;
            memmove(expected + 128 + distance, expected + 128, length);
            memmove(expected + 192, expected + 192 + distance, length);
            memset(expected + 60, 1, 3);
            assert_memory_equal(row, expected, sizeof(expected));
        }
    }
}

__extension__ typedef unsigned __int128 uwide;

/* Numbers of every length, and those at the ends. */
static clrt_wide some_wide(uint64_t *random)
{
    uwide bits = (uwide)clrt_random(random) << 64 | clrt_random(random);
    unsigned kind = (unsigned)(clrt_random(random) % 8);
    clrt_wide value = (clrt_wide)(bits >> clrt_random(random) % 128);

    if (kind == 0)
        return -(clrt_wide)(clrt_random(random) % 3);
    if (kind == 1)
        return (clrt_wide)((uwide)1 << 127);
    return kind < 5 ? value : -value;
}

static void wide__random_pairs__match(void **state)
{
    enum { PAIRS = 2000 };
    static clrt_wide pairs[2 * PAIRS];
    uint64_t random = 50;

    (void)state;
    for (unsigned i = 0; i < 2 * PAIRS; i++)
        pairs[i] = some_wide(&random);
    memcpy(rig.memory, pairs, sizeof(pairs));
    run("test_wide", PAIRS);
    for (unsigned i = 0; i < PAIRS; i++) {
        clrt_wide a = pairs[2 * i], b = pairs[2 * i + 1], out[12], product;
        int divides = b != 0 && !(b == -1 && a == (clrt_wide)((uwide)1 << 127));
        int count = (int)((uwide)b & 127);

        memcpy(out, rig.memory + OUT + i * sizeof(out), sizeof(out));
        assert_true(out[8] == __builtin_mul_overflow(a, b, &product));
        assert_true(out[0] == product && out[9] == product);
        assert_true(out[1] == (divides ? a / b : 0));
        assert_true(out[2] == (divides ? a % b : 0));
        assert_true(out[3] == (b == 0 ? 0 : (clrt_wide)((uwide)a / (uwide)b)));
        assert_true(out[4] == (b == 0 ? 0 : (clrt_wide)((uwide)a % (uwide)b)));
        assert_true(out[5] == (clrt_wide)((uwide)a << count));
        assert_true(out[6] == a >> count);
        assert_true(out[7] == (clrt_wide)((uwide)a >> count));
    }
}

static void halves__edges_and_random__round_once(void **state)
{
    enum { COUNT = 4096 };
    double *in = (double *)rig.memory;
    const uint16_t *out = (const uint16_t *)(rig.memory + OUT);
    uint64_t random = 51;

    (void)state;
    clrt_fill(CLRT_DOUBLE, in, COUNT, 52);
    for (unsigned i = 100; i < COUNT; i++) {
        double half_way = (double)(clrt_random(&random) % 4096) + 0.5;

        in[i] = ldexp(half_way + (double)(clrt_random(&random) % 3) * 0x1p-40,
                      (int)(clrt_random(&random) % 32) - 27);
    }
    run("test_halves", COUNT);
    for (unsigned i = 0; i < COUNT; i++) {
        long double expected = clrt_round(CLRT_HALF, (long double)in[i], CLRT_NEAREST);
        long double single = clrt_round(CLRT_HALF, (long double)(float)in[i], CLRT_NEAREST);
        long double back = (long double)((const float *)(out + 2 * COUNT))[i];

        assert_true(clrt_ulps(CLRT_HALF, clrt_get_real(CLRT_HALF, out, i), expected) == 0);
        assert_true(clrt_ulps(CLRT_HALF, clrt_get_real(CLRT_HALF, out, COUNT + i), single) == 0);
        assert_true(clrt_ulps(CLRT_HALF, back, expected) == 0);
    }
}

static double roundeven_reference(double x)
{
    return rint(x);
}

/* Large angles are reduced as long doubles. */
static double sin_reference(double x)
{
    return fabs(x) < 0x1p27 ? sin(x) : (double)sinl((long double)x);
}

static double cos_reference(double x)
{
    return fabs(x) < 0x1p27 ? cos(x) : (double)cosl((long double)x);
}

#define roundeven roundeven_reference
#define sin sin_reference
#define cos cos_reference
#define EACH_REAL(X)                                                                               \
    X(ceil)                                                                                        \
    X(floor)                                                                                       \
    X(round)                                                                                       \
    X(trunc)                                                                                       \
    X(cos)                                                                                         \
    X(exp)                                                                                         \
    X(exp2)                                                                                        \
    X(log)                                                                                         \
    X(log2)                                                                                        \
    X(log10)                                                                                       \
    X(sin)                                                                                         \
    X(rint)                                                                                        \
    X(nearbyint)                                                                                   \
    X(roundeven)

/* The unit computes both on the host, singles as doubles that are rounded. */
static void check_row(const double *out, unsigned i, double expected, double single)
{
    assert_true(clrt_ulps(CLRT_DOUBLE, (long double)out[0], (long double)expected) == 0);
    assert_true(clrt_ulps(CLRT_FLOAT, (long double)out[i], (long double)(float)single) == 0);
}

static void reals__all_functions__match(void **state)
{
    enum { COUNT = 256 };
    const double *in = (const double *)rig.memory, *out = (const double *)(rig.memory + OUT);

    (void)state;
    clrt_fill(CLRT_DOUBLE, rig.memory, COUNT, 53);
    run("test_reals", COUNT);
    for (unsigned i = 0; i < COUNT; i++) {
        double x = in[i], y = in[COUNT - 1 - i], a = (double)(float)x, b = (double)(float)y;
        const double *row = out + i;

#define CHECK(name)                                                                                \
    check_row(row, COUNT, name(x), name(a));                                                       \
    row += 2 * COUNT;
        EACH_REAL(CHECK)
        check_row(row, COUNT, fmod(x, y), fmod(a, b));
        check_row(row + 2 * COUNT, COUNT, pow(x, y), pow(a, b));
    }
}

#define WITH(test) cmocka_unit_test_setup_teardown(test, open_rig, close_rig)

SUITE(support)
{
    const struct CMUnitTest tests[] = {
        WITH(blocks__any_length_and_alignment__move),
        WITH(wide__random_pairs__match),
        WITH(halves__edges_and_random__round_once),
        WITH(reals__all_functions__match),
    };

    if (rig_missing())
        return 77;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
