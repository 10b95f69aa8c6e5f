/* Floating point. Basic operations are exact; functions are within a few units of the last place.
 *
 * Rule 23.1.
 */
#include "corpus.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

#include <float.h>
#include <math.h>
#include <string.h>

static void assert_near(double value, double expected, double relative)
{
    if (!(fabs(value - expected) <= relative * fabs(expected) + 1e-30))
        fail_msg("%.9g is not %.9g", value, expected);
}

static void arithmetic(struct rig *rig)
{
    float *out = (float *)rig->memory;
    float a = 7.3f, b = 2.9f;
    volatile float product = a * b;
    const float expected[12] = {a + b, a - b, product, a / b,       sqrtf(a),    fmaf(a, b, 1.0f),
                                a,     b,     -a,      product + a, product + a, fmodf(a, b)};

    CORPUS_RUN(rig, "arithmetic", 1, 1, &out, &a, &b);
    for (int i = 0; i < 12; i++) {
        if (out[i] != expected[i])
            fail_msg("%d: %a is not %a", i, (double)out[i], (double)expected[i]);
    }
}

static void rounding(struct rig *rig)
{
    const float given[8] = {0.5f, -0.5f, 1.5f, -2.5f, 2.4999998f, 1e10f, -7.999f, 3.0f};
    float *out = (float *)rig->memory, *in = out + 64;

    memcpy(in, given, sizeof(given));
    in[5] = 100000.5f;
    CORPUS_RUN(rig, "rounding", 1, 8, &out, &in);
    for (int i = 0; i < 8; i++) {
        const float expected[6] = {floorf(in[i]), ceilf(in[i]), roundf(in[i]),
                                   truncf(in[i]), rintf(in[i]), (float)(int)in[i]};

        for (int k = 0; k < 6; k++)
            assert_cmp(out[i * 6 + k], ==, expected[k]);
    }
}

static void transcendent(struct rig *rig)
{
    float *out = (float *)rig->memory;
    float x = 1.37f;
    const double expected[9] = {exp((double)x),      log((double)x),      sin((double)x),
                                cos((double)x),      pow((double)x, 2.5), exp((double)x),
                                1 / sqrt((double)x), exp2((double)x),     atan2((double)x, 2)};

    CORPUS_RUN(rig, "transcendent", 1, 1, &out, &x);
    for (int i = 0; i < 9; i++)
        assert_near((double)out[i], expected[i], 4 * (double)FLT_EPSILON);
}

static void doubles(struct rig *rig)
{
    double *out = (double *)rig->memory;
    double a = 10.1, b = 3.3;

    CORPUS_RUN(rig, "doubles", 1, 1, &out, &a, &b);
    assert_cmp(out[0], ==, a / b);
    assert_cmp(out[1], ==, sqrt(a));
    assert_near(out[2], pow(a, b), 4 * DBL_EPSILON);
    assert_cmp(out[3], ==, (double)(float)a);
    assert_cmp(out[4], ==, -11);
    assert_cmp(out[5], ==, a);
}

static void halves(struct rig *rig)
{
    /* 1, -2.5, the smallest subnormal, the largest */
    const uint16_t given[4] = {0x3c00, 0xc100, 0x0001, 0x7bff};
    const float wide_expected[4] = {1, -2.5f, 0x1p-24f, 65504};
    /* x * 2 + 0.5; then x * 1.001 towards zero */
    const uint16_t expected[8] = {0x4100, 0xc480, 0x3800, 0x7c00, 0x3c01, 0xc101, 0x0001, 0x7bff};
    uint16_t *out = (uint16_t *)rig->memory, *in = out + 64;
    float *wide = (float *)(rig->memory + 512);

    memcpy(in, given, sizeof(given));
    CORPUS_RUN(rig, "halves", 1, 4, &out, &in, &wide);
    for (int i = 0; i < 4; i++)
        assert_cmp(wide[i], ==, wide_expected[i]);
    assert_memory_equal(out, expected, sizeof(expected));
}

static void classes(struct rig *rig)
{
    const float given[7] = {0, -0.0f, 1, -1e-40f, INFINITY, -INFINITY, NAN};
    const int32_t expected[7] = {4, 12, 20, 12, 2, 10, 1};
    int32_t *out = (int32_t *)rig->memory;
    float *in = (float *)(rig->memory + 256);

    memcpy(in, given, sizeof(given));
    CORPUS_RUN(rig, "classes", 1, 7, &out, &in);
    assert_memory_equal(out, expected, sizeof(expected));
}

static void pieces(struct rig *rig)
{
    float *out = (float *)rig->memory;
    int32_t *exponents = (int32_t *)(rig->memory + 256);
    float x = 13.625f;

    CORPUS_RUN(rig, "pieces", 1, 1, &out, &exponents, &x);
    assert_cmp(out[0], ==, 0.8515625f);
    assert_int_equal(exponents[0], 4);
    assert_cmp(out[1], ==, 0.625f);
    assert_cmp(out[2], ==, 13);
    assert_near((double)out[3], sin(13.625), 4 * (double)FLT_EPSILON);
    assert_near((double)out[4], cos(13.625), 4 * (double)FLT_EPSILON);
    assert_cmp(out[5], ==, 109);
    assert_int_equal(exponents[1], 3);
}

static void mandelbrot(struct rig *rig)
{
    const uint32_t groups[3] = {4, 4, 1}, sizes[3] = {8, 4, 1};
    uint8_t *out = rig->memory;
    int32_t width = 32, height = 16, limit = 60;
    const void *const values[] = {&out, &width, &height, &limit, NULL};

    corpus_run_3d(rig, "mandelbrot", groups, sizes, values);
    for (int py = 0; py < height; py++) {
        for (int px = 0; px < width; px++) {
            volatile float cx = 3.0f * (float)px / (float)width;
            volatile float cy = 2.0f * (float)py / (float)height;
            volatile float x = 0, y = 0, xx = 0, yy = 0, t;
            int n = 0;

            cx = -2.0f + cx;
            cy = -1.0f + cy;
            for (; n < limit && xx + yy < 4.0f; n++) {
                t = xx - yy;
                t = t + cx;
                y = 2.0f * x * y;
                y = y + cy;
                x = t;
                xx = x * x;
                yy = y * y;
            }
            assert_int_equal(out[py * width + px], n);
        }
    }
}

static void conversions(struct rig *rig)
{
    int64_t *out = (int64_t *)rig->memory;
    float f = 1.5f;
    double d = 2.25;
    int64_t l = (1 << 24) + 1;

    CORPUS_RUN(rig, "conversions", 1, 1, &out, &f, &d, &l);
    assert_int_equal(out[0], INT32_MAX);
    assert_int_equal(out[1], 0);
    assert_int_equal(out[2], 3);
    assert_int_equal(out[3], -2);
    assert_int_equal(out[4], 1 << 24);
    assert_int_equal(out[5], 0x3fc00000);
    assert_int_equal(out[6], INT64_C(0x4002000000000000));
}

SUITE(corpus_real)
{
    static const struct corpus_case cases[] = {
        CORPUS_CASE(arithmetic), CORPUS_CASE(rounding),   CORPUS_CASE(transcendent),
        CORPUS_CASE(doubles),    CORPUS_CASE(halves),     CORPUS_CASE(classes),
        CORPUS_CASE(pieces),     CORPUS_CASE(mandelbrot), CORPUS_CASE(conversions),
    };

    return corpus_main("real", cases, sizeof(cases) / sizeof(cases[0]));
}
