/* Fields of bits, reversed bits and packed dot products. */
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "tests/support/suite.h"

enum { COUNT = 2048 };

struct setup {
    struct rig rig;
    enum clrt_type type;
    unsigned bits;
    unsigned char *in, *out;
    uint32_t *fields; /* the third operands: a begin and a length per sixteen numbers */
};

static int open_type(void **state)
{
    static struct setup setup;
    struct zeta_vgpu_engine_config config = rig_config(2);
    uint64_t random = 40;
    size_t bytes;
    char name[64];

    setup.type = *(const enum clrt_type *)*state;
    setup.bits = 8 * (unsigned)clrt_size(setup.type);
    (void)snprintf(name, sizeof(name), KERNEL_PREFIX "bits_%s", clrt_type_names[setup.type]);
    rig_open(&setup.rig, name, &config);
    setup.in = setup.rig.memory;
    setup.out = setup.rig.memory + (1 << 18);
    bytes = COUNT * clrt_size(setup.type);
    clrt_fill_pairs(setup.type, setup.in, setup.type, setup.in + bytes, COUNT, 41);
    setup.fields = (uint32_t *)(setup.in + 2 * bytes);
    for (size_t i = 0; i < COUNT; i++)
        setup.fields[i] = (uint32_t)clrt_random(&random);
    *state = &setup;
    return 0;
}

static int close_type(void **state)
{
    struct setup *setup = *state;

    rig_close(&setup->rig);
    return 0;
}

/* The bits of number @i without a sign. */
static uint64_t operand(const struct setup *setup, size_t i)
{
    uint64_t value = (uint64_t)clrt_get_integer(setup->type, setup->in, i);

    return setup->bits == 64 ? value : value & ((UINT64_C(1) << setup->bits) - 1);
}

static uint64_t low_bits(unsigned count)
{
    return count == 64 ? UINT64_MAX : (UINT64_C(1) << count) - 1;
}

enum function { INSERT, EXTRACT_SIGNED, EXTRACT_UNSIGNED, REVERSE };

static uint64_t reference(const struct setup *setup, enum function function, size_t i)
{
    unsigned begin = setup->fields[i / 16 * 16] % setup->bits;
    unsigned length = setup->fields[i / 16 * 16 + 1] % (setup->bits + 1 - begin);
    uint64_t x = operand(setup, i), y = operand(setup, COUNT + i), field = x >> begin;
    uint64_t mask = low_bits(length) << begin, reversed = 0;

    switch (function) {
    case INSERT:
        return (x & ~mask) | (y << begin & mask);
    case EXTRACT_SIGNED:
        field &= low_bits(length);
        return length > 0 && field >> (length - 1) & 1 ? field | ~low_bits(length) : field;
    case EXTRACT_UNSIGNED:
        return field & low_bits(length);
    default:
        for (unsigned bit = 0; bit < setup->bits; bit++)
            reversed |= (x >> bit & 1) << (setup->bits - 1 - bit);
        return reversed;
    }
}

static void fields__all_widths__match(void **state)
{
    static const char *const kernels[] = {"test_bitfield_insert", "test_bitfield_extract_signed",
                                          "test_bitfield_extract_unsigned", "test_bit_reverse"};
    struct setup *setup = *state;

    for (unsigned f = 0; f < 4; f++) {
        clrt_run(&setup->rig, kernels[f], setup->in, setup->out, COUNT);
        for (size_t k = 0; k < (size_t)CLRT_PLANES * COUNT; k++) {
            clrt_wide expected =
                clrt_wrap(setup->type, (clrt_wide)reference(setup, (enum function)f, k % COUNT));

            if (clrt_has((unsigned)(k / COUNT), k % COUNT) &&
                clrt_get_integer(setup->type, setup->out, k) != expected)
                fail_msg("%s of %s, width %u, number %zu: %llx, expected %llx", kernels[f],
                         clrt_type_names[setup->type], clrt_widths[k / COUNT], k % COUNT,
                         (unsigned long long)clrt_get_integer(setup->type, setup->out, k),
                         (unsigned long long)expected);
        }
    }
}

static int64_t dot(uint32_t a, uint32_t b, int a_signed, int b_signed)
{
    int64_t sum = 0;

    for (unsigned byte = 0; byte < 4; byte++) {
        uint8_t x = (uint8_t)(a >> 8 * byte), y = (uint8_t)(b >> 8 * byte);

        sum += (int64_t)(a_signed ? (int8_t)x : x) * (b_signed ? (int8_t)y : y);
    }
    return sum;
}

static int64_t clamp(int64_t x, int64_t low, int64_t high)
{
    return x < low ? low : x > high ? high : x;
}

static void dot__packed_bytes__sums(void **state)
{
    struct setup *setup = *state;
    const uint32_t *in = (const uint32_t *)setup->in, *out = (const uint32_t *)setup->out;
    struct {
        const void *in;
        void *out;
        uint32_t n;
    } arguments = {setup->in, setup->out, COUNT};

    assert_int_equal(rig_run(&setup->rig, "test_dot", &arguments, COUNT / 64, 64), ZETA_VGPU_OK);
    for (size_t i = 0; i < COUNT; i++) {
        uint32_t a = in[i], b = in[COUNT + i], c = in[2 * COUNT + i];
        const int64_t expected[8] = {
            dot(a, b, 0, 0),
            dot(a, b, 1, 1),
            dot(a, b, 0, 1),
            dot(a, b, 1, 0),
            clamp(dot(a, b, 0, 0) + c, 0, UINT32_MAX),
            clamp(dot(a, b, 1, 1) + (int32_t)c, INT32_MIN, INT32_MAX),
            clamp(dot(a, b, 0, 1) + (int32_t)c, INT32_MIN, INT32_MAX),
            dot(a, b, 1, 0),
        };

        for (unsigned f = 0; f < 8; f++)
            assert_int_equal(out[f * COUNT + i], (uint32_t)expected[f]);
    }
}

#define WITH(test, type) CLRT_TEST(test, open_type, close_type, type)

SUITE(bits)
{
    const struct CMUnitTest tests[] = {
        WITH(fields__all_widths__match, CLRT_CHAR),  WITH(fields__all_widths__match, CLRT_UCHAR),
        WITH(fields__all_widths__match, CLRT_SHORT), WITH(fields__all_widths__match, CLRT_USHORT),
        WITH(fields__all_widths__match, CLRT_INT),   WITH(fields__all_widths__match, CLRT_UINT),
        WITH(fields__all_widths__match, CLRT_LONG),  WITH(fields__all_widths__match, CLRT_ULONG),
        WITH(dot__packed_bytes__sums, CLRT_UINT),
    };

    if (rig_missing())
        return 77;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
