/* Conversions between all pairs of types, with all modes, saturated or not, in all widths. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "tests/support/suite.h"

enum { COUNT = 1024 };

struct mode {
    const char *suffix;
    enum clrt_rounding to_integer, to_real;
};

static const struct mode modes[] = {
    {"", CLRT_TO_ZERO, CLRT_NEAREST},     {"_rte", CLRT_NEAREST, CLRT_NEAREST},
    {"_rtz", CLRT_TO_ZERO, CLRT_TO_ZERO}, {"_rtp", CLRT_UP, CLRT_UP},
    {"_rtn", CLRT_DOWN, CLRT_DOWN},
};

struct setup {
    struct rig rig;
    enum clrt_type to;
};

static int open_to(void **state)
{
    static struct setup setup;
    struct zeta_vgpu_engine_config config = rig_config(2);
    char name[32];

    setup.to = *(const enum clrt_type *)*state;
    (void)snprintf(name, sizeof(name), KERNEL_PREFIX "convert_%s", clrt_type_names[setup.to]);
    rig_open(&setup.rig, name, &config);
    *state = &setup;
    return 0;
}

static int close_to(void **state)
{
    struct setup *setup = *state;

    rig_close(&setup->rig);
    return 0;
}

static long double whole(long double x, enum clrt_rounding rounding)
{
    if (rounding == CLRT_UP)
        return ceill(x);
    if (rounding == CLRT_DOWN)
        return floorl(x);
    return rounding == CLRT_TO_ZERO ? truncl(x) : rintl(x);
}

/* False when any result is right. */
static int to_integer(enum clrt_type to, enum clrt_type from, const void *in, size_t i,
                      const struct mode *mode, int saturated, clrt_wide *out)
{
    clrt_wide low = clrt_lowest(to), high = clrt_highest(to), x;

    if (clrt_is_real(from)) {
        long double value = whole(clrt_get_real(from, in, i), mode->to_integer);

        if (isnan(value)) {
            *out = 0;
            return saturated;
        }
        x = value > 0x1p100L    ? (clrt_wide)1 << 100
            : value < -0x1p100L ? -((clrt_wide)1 << 100)
                                : (clrt_wide)value;
        *out = x < low ? low : x > high ? high : x;
        return saturated || *out == x;
    }
    x = clrt_get_integer(from, in, i);
    *out = !saturated ? clrt_wrap(to, x) : x < low ? low : x > high ? high : x;
    return 1;
}

static void check_integer(struct setup *setup, enum clrt_type from, const char *kernel,
                          const struct mode *mode, int saturated, const unsigned char *out)
{
    for (size_t k = 0; k < (size_t)CLRT_PLANES * COUNT; k++) {
        size_t i = k % COUNT;
        clrt_wide expected, result = clrt_get_integer(setup->to, out, k);

        if (!clrt_has((unsigned)(k / COUNT), i) ||
            !to_integer(setup->to, from, setup->rig.memory, i, mode, saturated, &expected))
            continue;
        if (result != expected)
            fail_msg("%s to %s, width %u, number %zu: %lld, expected %lld", kernel,
                     clrt_type_names[setup->to], clrt_widths[k / COUNT], i, (long long)result,
                     (long long)expected);
    }
}

static void check_real(struct setup *setup, enum clrt_type from, const char *kernel,
                       const struct mode *mode, const unsigned char *out)
{
    for (size_t k = 0; k < (size_t)CLRT_PLANES * COUNT; k++) {
        size_t i = k % COUNT;
        long double x = clrt_is_real(from)
                            ? clrt_get_real(from, setup->rig.memory, i)
                            : (long double)clrt_get_integer(from, setup->rig.memory, i);
        long double expected = clrt_round(setup->to, x, mode->to_real);
        long double result = clrt_get_real(setup->to, out, k);

        if (clrt_has((unsigned)(k / COUNT), i) && clrt_ulps(setup->to, result, expected) != 0)
            fail_msg("%s to %s, width %u: of %La is %La, expected %La", kernel,
                     clrt_type_names[setup->to], clrt_widths[k / COUNT], x, result, expected);
    }
}

static void check_conversion(struct setup *setup, enum clrt_type from, const struct mode *mode,
                             int saturated)
{
    unsigned char *out = setup->rig.memory + COUNT * sizeof(double) * 3;
    char kernel[64];

    (void)snprintf(kernel, sizeof(kernel), "test_%s%s%s", clrt_type_names[from],
                   saturated ? "_sat" : "", mode->suffix);
    clrt_run(&setup->rig, kernel, setup->rig.memory, out, COUNT);
    if (clrt_is_real(setup->to))
        check_real(setup, from, kernel, mode, out);
    else
        check_integer(setup, from, kernel, mode, saturated, out);
}

/* Numbers whose fraction decides, of which random ones have few. */
static void fill(enum clrt_type from, enum clrt_type to, void *memory)
{
    uint64_t state = 7;

    clrt_fill(from, memory, COUNT, 6);
    if (!clrt_is_real(from))
        return;
    for (size_t i = COUNT / 2; i < COUNT; i++) {
        int magnitude =
            (int)(clrt_random(&state) % (8 * (clrt_is_real(to) ? 2 : clrt_size(to)) + 2));
        long double quarter = (long double)(int64_t)(clrt_random(&state) >> 3) / 0x1p60L;
        long double value = ldexpl(quarter, magnitude) * (i % 2 ? -1 : 1);

        if (i % 4 < 2)
            value = floorl(value) + 0.5L;
        clrt_put_real(from, memory, i, clrt_round(from, value, CLRT_NEAREST));
    }
}

/* Rule 24.3. */
static void conversion__all_sources_and_modes__rounds(void **state)
{
    struct setup *setup = *state;

    for (enum clrt_type from = 0; from < CLRT_TYPE_COUNT; from++) {
        fill(from, setup->to, setup->rig.memory);
        for (size_t i = 0; i < sizeof(modes) / sizeof(*modes); i++) {
            check_conversion(setup, from, &modes[i], 0);
            if (!clrt_is_real(setup->to))
                check_conversion(setup, from, &modes[i], 1);
        }
    }
}

/* All 8-bit numbers, and all halves in parts. Rule 24.3. */
static void conversion__every_small_number__rounds(void **state)
{
    struct setup *setup = *state;
    static const enum clrt_type small[] = {CLRT_CHAR, CLRT_UCHAR, CLRT_HALF};

    for (unsigned s = 0; s < 3; s++) {
        unsigned parts = clrt_size(small[s]) == 1 ? 1 : 65536 / COUNT;

        for (unsigned part = 0; part < parts; part++) {
            for (unsigned i = 0; i < COUNT; i++)
                clrt_put_integer(small[s], setup->rig.memory, i, (clrt_wide)part * COUNT + i);
            check_conversion(setup, small[s], &modes[1 + part % 4], 0);
            if (!clrt_is_real(setup->to))
                check_conversion(setup, small[s], &modes[part % 5], 1);
        }
    }
}

#define WITH(test, type) CLRT_TEST(test, open_to, close_to, type)
#define TO(type)                                                                                   \
    WITH(conversion__all_sources_and_modes__rounds, type),                                         \
        WITH(conversion__every_small_number__rounds, type)

SUITE(convert)
{
    const struct CMUnitTest tests[] = {
        TO(CLRT_CHAR),  TO(CLRT_UCHAR),  TO(CLRT_SHORT), TO(CLRT_USHORT),
        TO(CLRT_INT),   TO(CLRT_UINT),   TO(CLRT_LONG),  TO(CLRT_ULONG),
        TO(CLRT_FLOAT), TO(CLRT_DOUBLE), TO(CLRT_HALF),
    };

    if (rig_missing())
        return 77;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
