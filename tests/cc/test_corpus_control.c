/* Control flow and integers. Rules 23.1, 23.8. */
#include "corpus.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

#include <stdbool.h>
#include <string.h>

enum { ITEMS = 64 };

static uint32_t *words(struct rig *rig)
{
    return (uint32_t *)rig->memory;
}

static void fill(uint32_t *target, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        target[i] = i * UINT32_C(2654435761) ^ i << 7;
}

static uint32_t bits_of(uint32_t x)
{
    return (uint32_t)__builtin_popcount(x);
}

static void count_bits(struct rig *rig)
{
    uint32_t *out = words(rig), *in = out + ITEMS;

    fill(in, ITEMS);
    CORPUS_RUN(rig, "count_bits", 4, 16, &out, &in);
    for (uint32_t i = 0; i < ITEMS; i++)
        assert_int_equal(out[i], bits_of(in[i]));
}

static void collatz(struct rig *rig)
{
    uint32_t *out = words(rig);

    CORPUS_RUN(rig, "collatz", 4, 16, &out);
    for (uint32_t i = 0; i < ITEMS; i++) {
        uint32_t steps = 0;

        for (uint32_t value = i + 1; value != 1; steps++)
            value = value % 2 ? 3 * value + 1 : value / 2;
        assert_int_equal(out[i], steps);
    }
}

static void choose(struct rig *rig)
{
    int32_t *out = (int32_t *)rig->memory, *in = out + 8;
    const int32_t given[8] = {0, 1, 2, 40, 50, 51, -3, 39};
    const int32_t expected[8] = {100, 207, 1007, 80, 100, -1, 1000, -1};

    memcpy(in, given, sizeof(given));
    for (int i = 0; i < 8; i++)
        out[i] = 1000;
    CORPUS_RUN(rig, "choose", 1, 8, &out, &in);
    assert_memory_equal(out, expected, sizeof(expected));
}

static void skip_and_stop(struct rig *rig)
{
    int32_t *out = (int32_t *)rig->memory;
    int32_t limit = 100;

    CORPUS_RUN(rig, "skip_and_stop", 1, 3, &out, &limit);
    for (int id = 0; id < 3; id++) {
        int sum = 0;

        for (int i = 0; i <= limit; i++)
            sum += i % 3 == id ? 0 : i;
        assert_int_equal(out[id], sum);
    }
}

static int host_gcd(int a, int b)
{
    while (b != 0) {
        int rest = a % b;

        a = b;
        b = rest;
    }
    return a;
}

static void recursion(struct rig *rig)
{
    int32_t *out = (int32_t *)rig->memory;
    int32_t a = 720720;

    CORPUS_RUN(rig, "recursion", 1, 20, &out, &a);
    for (int i = 0; i < 20; i++)
        assert_int_equal(out[i], host_gcd(a, i + 1));
}

static void division(struct rig *rig)
{
    int64_t *out = (int64_t *)rig->memory;
    int64_t a = -INT64_C(123456789012345), b = 1000003;
    uint32_t c = 4000000000u, d = 7;

    CORPUS_RUN(rig, "division", 1, 1, &out, &a, &b, &c, &d);
    assert_int_equal(out[0], a / b);
    assert_int_equal(out[1], a % b);
    assert_int_equal(out[2], c / d);
    assert_int_equal(out[3], c % d);
    assert_int_equal(out[4], -INT64_C(15432098626544)); /* rounded down */
    assert_int_equal(out[5], (int64_t)((uint64_t)a >> 3));
    assert_int_equal(out[6], (int32_t)((uint32_t)a * (uint32_t)b));
    assert_int_equal(out[7], 999996); /* (2^64 + a) * b / 2^64 */
}

static void narrow(struct rig *rig)
{
    int8_t *c = (int8_t *)rig->memory;
    uint8_t *uc = rig->memory + 64;
    int16_t *s = (int16_t *)(rig->memory + 128);
    uint16_t *us = (uint16_t *)(rig->memory + 256);
    int32_t value = 250;

    CORPUS_RUN(rig, "narrow", 1, 40, &c, &uc, &s, &us, &value);
    for (int i = 0; i < 40; i++) {
        assert_int_equal(c[i], (int8_t)(value + i) / 2);
        assert_int_equal(uc[i], (uint8_t)(value + i));
        assert_int_equal(s[i], (int16_t)(value * i));
        assert_int_equal(us[i], (uint16_t)(value * i) / 3);
    }
}

static void builtin_integers(struct rig *rig)
{
    uint32_t *out = words(rig), *in = out + 8 * ITEMS;

    fill(in, ITEMS);
    CORPUS_RUN(rig, "builtin_integers", 2, 32, &out, &in);
    for (uint32_t i = 0; i < ITEMS; i++) {
        uint32_t x = in[i];
        int64_t difference = (int64_t)(int32_t)x - 7;
        const uint32_t expected[8] = {
            bits_of(x),
            x ? (uint32_t)__builtin_clz(x) : 32,
            x << 5 | x >> 27,
            x >= 0x80000000u ? UINT32_MAX : x + 0x80000000u,
            (uint32_t)(((uint64_t)x + 1) / 2),
            (uint32_t)(difference < 0 ? -difference : difference),
            x < 10     ? 10
            : x > 1000 ? 1000
                       : x,
            (x & 0xffff) * 3 + 1,
        };

        assert_memory_equal(out + (size_t)i * 8, expected, sizeof(expected));
    }
}

static void primes(struct rig *rig)
{
    uint8_t *out = rig->memory;
    int32_t n = 100;

    memset(out, 9, 128);
    CORPUS_RUN(rig, "primes", 4, 32, &out, &n);
    for (int i = 0; i < n; i++) {
        bool is_prime = i >= 2;

        for (int d = 2; d < i; d++)
            is_prime &= i % d != 0;
        assert_int_equal(out[i], is_prime);
    }
    assert_int_equal(out[n], 9);
}

static void bubble(struct rig *rig)
{
    int32_t *data = (int32_t *)rig->memory;
    int32_t n = 20;

    fill((uint32_t *)data, 8 * 20);
    CORPUS_RUN(rig, "bubble", 2, 4, &data, &n);
    for (int item = 0; item < 8; item++) {
        for (int i = 0; i + 1 < n; i++)
            assert_cmp(data[item * n + i], <=, data[item * n + i + 1]);
    }
}

static void ids(struct rig *rig)
{
    const uint32_t groups[3] = {3, 2, 2};
    const uint32_t sizes[3] = {4, 2, 1};
    uint64_t *out = (uint64_t *)rig->memory;
    uint64_t *at = out;
    const void *const values[] = {&out, NULL};

    corpus_run_3d(rig, "ids", groups, sizes, values);
    for (uint64_t z = 0; z < 2; z++) {
        for (uint64_t y = 0; y < 4; y++) {
            for (uint64_t x = 0; x < 12; x++, at += 12) {
                const uint64_t expected[12] = {x,
                                               y,
                                               z,
                                               x % 4,
                                               y % 2,
                                               x / 4,
                                               z,
                                               2,
                                               4,
                                               3,
                                               (z * 4 + y) * 12 + x,
                                               y % 2 * 4 + x % 4};

                assert_memory_equal(at, expected, sizeof(expected));
            }
        }
    }
}

static void scratch(struct rig *rig)
{
    int32_t *out = (int32_t *)rig->memory;
    int32_t rounds = 200;

    CORPUS_RUN(rig, "scratch", 2, 8, &out, &rounds);
    for (int item = 0; item < 16; item++) {
        uint32_t table[64];

        for (int i = 0; i < 64; i++)
            table[i] = (uint32_t)(i + item);
        for (int i = 0; i < rounds; i++)
            table[i * 7 & 63] += table[(i * 13 + 5) & 63];
        assert_int_equal((uint32_t)out[item], table[11] + table[42]);
    }
}

static void calls(struct rig *rig)
{
    int32_t *out = (int32_t *)rig->memory;

    CORPUS_RUN(rig, "calls", 1, 10, &out);
    for (int i = 0; i < 10; i++)
        assert_int_equal(out[i], 10 * i + 5);
}

SUITE(corpus_control)
{
    static const struct corpus_case cases[] = {
        CORPUS_CASE(count_bits), CORPUS_CASE(collatz),
        CORPUS_CASE(choose),     CORPUS_CASE(skip_and_stop),
        CORPUS_CASE(recursion),  CORPUS_CASE(division),
        CORPUS_CASE(narrow),     CORPUS_CASE(builtin_integers),
        CORPUS_CASE(primes),     CORPUS_CASE(bubble),
        CORPUS_CASE(ids),        CORPUS_CASE(scratch),
        CORPUS_CASE(calls),
    };

    return corpus_main("control", cases, sizeof(cases) / sizeof(cases[0]));
}
