/* Vectors. Rule 23.1. */
#include "corpus.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

#include <math.h>
#include <string.h>

typedef float float4 __attribute__((vector_size(16)));
typedef float float8 __attribute__((vector_size(32)));
typedef float float16 __attribute__((vector_size(64)));
typedef uint32_t uint4 __attribute__((vector_size(16)));

static void axpy4(struct rig *rig)
{
    float *y = (float *)rig->memory, *x = y + 64;
    float before[64];
    float a = 1.7f;

    for (int i = 0; i < 64; i++) {
        before[i] = y[i] = (float)i * 0.3f;
        x[i] = (float)(64 - i) / 7;
    }
    CORPUS_RUN(rig, "axpy4", 2, 8, &y, &x, &a);
    for (int i = 0; i < 64; i++) {
        volatile float product = a * x[i];

        assert_cmp(y[i], ==, product + before[i]);
    }
}

static void swizzle(struct rig *rig)
{
    int32_t *out = (int32_t *)rig->memory, *in = out + 32;

    for (int i = 0; i < 32; i++)
        in[i] = i * 11;
    CORPUS_RUN(rig, "swizzle", 1, 8, &out, &in);
    for (int i = 0; i < 8; i++) {
        const int32_t *v = in + (size_t)i * 4;
        const int32_t expected[4] = {v[3], v[2] + v[0], v[0], v[2]};

        assert_memory_equal(out + (size_t)i * 4, expected, sizeof(expected));
    }
}

static void three(struct rig *rig)
{
    int16_t *out = (int16_t *)rig->memory;
    const int16_t a[4] = {1, 2, 3, 99}, b[4] = {10, -20, 30000, 99};
    const int16_t expected[7] = {21, -38, -5533, -5533, -38, 21, 8};

    CORPUS_RUN(rig, "three", 1, 1, &out, a, b);
    assert_memory_equal(out, expected, sizeof(expected));
}

static void compare(struct rig *rig)
{
    int32_t *out = (int32_t *)rig->memory;
    const float4 a = {1, 2, 3, NAN}, b = {1, 3, 2, 4};
    const int32_t expected[16] = {0, -1, 0, 0, 1, -2, 3, 4, 1, 0, 0, 0, -1, 0, 0, 0};

    CORPUS_RUN(rig, "compare", 1, 1, &out, &a, &b);
    assert_memory_equal(out, expected, sizeof(expected));
}

static void wide(struct rig *rig)
{
    float *data = (float *)rig->memory;
    float16 factor;

    for (int i = 0; i < 16; i++)
        factor[i] = (float)i;
    for (int i = 0; i < 64; i++)
        data[i] = (float)(i >> 4) + 1;
    CORPUS_RUN(rig, "wide", 1, 4, &data, &factor);
    for (int i = 0; i < 64; i++)
        assert_cmp(data[i], ==, (float)(((i >> 4) + 1) * (i & 15)) + 1);
}

static void converts(struct rig *rig)
{
    uint8_t *bytes = rig->memory;
    int32_t *ints = (int32_t *)(rig->memory + 64);
    float *floats = (float *)(rig->memory + 128);
    const float given[8] = {-5.5f, 2.5f, 3.5f, 300.7f, 254.9f, 0.49f, -0.5f, 1e5f};
    const uint8_t expected[8] = {0, 2, 3, 255, 254, 0, 0, 255};

    memcpy(floats, given, sizeof(given));
    CORPUS_RUN(rig, "converts", 1, 2, &bytes, &ints, &floats);
    assert_memory_equal(bytes, expected, sizeof(expected));
    for (int i = 0; i < 8; i++) {
        assert_int_equal(ints[i], (int32_t)rintf(given[i]));
        assert_cmp(floats[i], ==, rintf(given[i]) + 1.0f);
    }
}

static void geometry(struct rig *rig)
{
    float *out = (float *)rig->memory;
    const float4 a = {1, 2, 3, 4}, b = {5, 6, 7, 8}, c = {1, 0, 0, 0}, d = {0, 1, 0, 0};
    const float expected[6] = {70, 5, 0, 0, 1, 0};

    CORPUS_RUN(rig, "geometry", 1, 1, &out, &a, &b, &c, &d);
    for (int i = 0; i < 6; i++)
        assert_cmp(fabsf(out[i] - expected[i]), <, 1e-5f);
}

static void reduce16(struct rig *rig)
{
    int32_t *out = (int32_t *)rig->memory, *in = out + 16;

    for (int i = 0; i < 64; i++)
        in[i] = i * i;
    CORPUS_RUN(rig, "reduce16", 1, 4, &out, &in);
    for (int i = 0; i < 4; i++) {
        int32_t sum = 0;

        for (int k = 0; k < 16; k++)
            sum += in[i * 16 + k];
        assert_int_equal(out[i], sum);
    }
}

static void indexed(struct rig *rig)
{
    float *out = (float *)rig->memory;
    float8 v;
    int32_t index = 5;

    for (int i = 0; i < 8; i++)
        v[i] = (float)i * 2;
    CORPUS_RUN(rig, "indexed", 1, 1, &out, &v, &index);
    assert_cmp(out[0], ==, 10);
    for (int i = 0; i < 8; i++)
        assert_cmp(out[1 + i], ==, (i == index ? 99.0f : v[i]));
}

static void shuffles(struct rig *rig)
{
    uint32_t *out = (uint32_t *)rig->memory;
    const uint4 a = {1, 2, 3, 4}, b = {5, 6, 7, 8};
    const uint32_t expected[8] = {4, 3, 2, 1, 1, 5, 2, 6};

    CORPUS_RUN(rig, "shuffles", 1, 1, &out, &a, &b);
    assert_memory_equal(out, expected, sizeof(expected));
}

SUITE(corpus_vectors)
{
    static const struct corpus_case cases[] = {
        CORPUS_CASE(axpy4),   CORPUS_CASE(swizzle),  CORPUS_CASE(three),    CORPUS_CASE(compare),
        CORPUS_CASE(wide),    CORPUS_CASE(converts), CORPUS_CASE(geometry), CORPUS_CASE(reduce16),
        CORPUS_CASE(indexed), CORPUS_CASE(shuffles),
    };

    return corpus_main("vectors", cases, sizeof(cases) / sizeof(cases[0]));
}
