/* Structs, arguments of every kind, variables of the program, printf. Rules 23.1, 23.4. */
#include "corpus.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

#include <string.h>

struct point {
    float x, y;
    char tag;
};

static void move(struct rig *rig)
{
    struct point *points = (struct point *)rig->memory;
    const struct point by = {1.5f, -2, 'x'};

    for (int i = 0; i < 10; i++)
        points[i] = (struct point){(float)i, (float)-i, 'a'};
    CORPUS_RUN(rig, "move", 1, 10, &points, &by);
    for (int i = 0; i < 10; i++) {
        assert_cmp(points[i].x, ==, (float)i + 1.5f);
        assert_cmp(points[i].y, ==, (float)-i - 2);
        assert_int_equal(points[i].tag, 'x');
    }
}

struct mixed {
    char a;
    double b;
    short c;
    float d[4] __attribute__((aligned(16)));
};

static void mixes(struct rig *rig)
{
    struct mixed *out = (struct mixed *)rig->memory;
    const struct mixed in = {'q', 2.25, -7, {1, 2, 3, 0}};

    CORPUS_RUN(rig, "mixes", 1, 4, &out, &in);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(out[i].a, 'q');
        assert_cmp(out[i].b, ==, 2.25 + i);
        assert_int_equal(out[i].c, -7);
        assert_cmp(out[i].d[0], ==, 1);
        assert_cmp(out[i].d[1], ==, 48);
        assert_cmp(out[i].d[2], ==, 3);
    }
}

/* The layout that programs rely on which pack arguments themselves. */
static void all_kinds(struct rig *rig)
{
    static const struct vgpu_argument_info expected[8] = {
        {VGPU_ARGUMENT_VALUE, 40, 0, 0}, {VGPU_ARGUMENT_GLOBAL, 8, 40, 0},
        {VGPU_ARGUMENT_LOCAL, 8, 48, 0}, {VGPU_ARGUMENT_VALUE, 4, 56, 0},
        {VGPU_ARGUMENT_VALUE, 8, 64, 0}, {VGPU_ARGUMENT_VALUE, 16, 80, 0},
        {VGPU_ARGUMENT_VALUE, 1, 96, 0}, {VGPU_ARGUMENT_VALUE, 8, 104, 0}};
    const struct zeta_vgpu_kernel *kernel = zeta_vgpu_image_find_kernel(rig->image, "all_kinds");
    const int32_t s[10] = {10, 11, 12, 13, 14, 15, 16, 17, 18, 19};
    int32_t *g = (int32_t *)rig->memory;
    uint32_t local = 10 * 4;
    float f = 100.5f;
    double d = 1000.5;
    const float v[4] = {1, 2, 3, 10000};
    char c = -3;
    const int16_t w[4] = {1, 2, -5, 0};

    assert_non_null(kernel);
    assert_int_equal(kernel->argument_block_bytes, 112);
    assert_int_equal(kernel->argument_count, 8);
    for (int i = 0; i < 8; i++) {
        assert_int_equal(kernel->arguments[i].kind, expected[i].kind);
        assert_int_equal(kernel->arguments[i].size_bytes, expected[i].size_bytes);
        assert_int_equal(kernel->arguments[i].offset_bytes, expected[i].offset_bytes);
    }
    CORPUS_RUN(rig, "all_kinds", 2, 10, s, &g, &local, &f, &d, v, &c, w);
    for (int i = 0; i < 20; i++)
        assert_int_equal(g[i], s[9 - i % 10] + s[0] + 5 + 100 + 1000 + 10000 - 3 - 5);
}

static void small_arguments(struct rig *rig)
{
    int64_t *out = (int64_t *)rig->memory;
    int8_t a = -100;
    uint8_t b = 200;
    int16_t c = -30000;
    uint16_t d = 60000, h = 0xd640; /* -100 */
    int32_t e = -2000000000;
    uint32_t f = 4000000000u;
    int64_t g = INT64_MIN;

    CORPUS_RUN(rig, "small_arguments", 1, 1, &out, &a, &b, &c, &d, &e, &f, &g, &h);
    assert_int_equal(out[0], a);
    assert_int_equal(out[1], b);
    assert_int_equal(out[2], c);
    assert_int_equal(out[3], d);
    assert_int_equal(out[4], e);
    assert_int_equal(out[5], f);
    assert_int_equal(out[6], g);
    assert_int_equal(out[7], -100);
}

static void unions(struct rig *rig)
{
    uint32_t *out = (uint32_t *)rig->memory;
    float value = 3.5f;

    CORPUS_RUN(rig, "unions", 1, 1, &out, &value);
    assert_int_equal(out[0], 0x40600000);
    assert_int_equal(out[1], 1);
}

static void constants(struct rig *rig)
{
    static const int32_t primes[8] = {2, 3, 5, 7, 11, 13, 17, 19};
    int32_t *out = (int32_t *)rig->memory, *more = out + 16;

    for (int i = 0; i < 16; i++)
        more[i] = 100 + i;
    CORPUS_RUN(rig, "constants", 1, 16, &out, &more);
    for (int i = 0; i < 16; i++)
        assert_int_equal(out[i], primes[i & 7] * (100 + i) + 3);
}

static void program_scope(struct rig *rig)
{
    int32_t *out = (int32_t *)rig->memory;

    CORPUS_RUN(rig, "program_scope", 1, 8, &out);
    for (int i = 0; i < 8; i++)
        assert_int_equal(out[i], 3 + i % 4 + 1);
    CORPUS_RUN(rig, "read_counter", 1, 1, &out);
    assert_int_equal(out[0], 5 + 8);
    CORPUS_RUN(rig, "program_scope", 1, 2, &out);
    CORPUS_RUN(rig, "read_counter", 1, 1, &out);
    assert_int_equal(out[0], 5 + 8 + 2);
}

static void print_scalars(struct rig *rig)
{
    int32_t i = -42;
    uint32_t u = 4000000000u;
    int64_t l = -INT64_C(1234567890123);
    float f = 2.715f;
    char c = 'Z';

    CORPUS_RUN(rig, "print_scalars", 1, 1, &i, &u, &l, &f, &c);
    assert_string_equal(rig->text,
                        "-42 4000000000 -1234567890123 2.71 Z text %|  -42|-42  |ee6b2800\n");
}

static void print_vectors(struct rig *rig)
{
    const float f[4] __attribute__((aligned(16))) = {1.5f, -2, 0, 1e10f};
    const int32_t i[2] = {7, -8};
    const int8_t c[4] = {1, -1, 127, -128};
    const double d[2] __attribute__((aligned(16))) = {0.25, 1e100};

    CORPUS_RUN(rig, "print_vectors", 1, 1, f, i, c, d);
    assert_non_null(strstr(rig->text, "1.500000,-2.000000,0.000000,10000000000.000000 7,-8 "
                                      "1,-1,127,-128 0.2,"));
    assert_non_null(strstr(rig->text, "\n1 1.500000,-2.000000,0.000000 2\n"));
}

static void print_loop(struct rig *rig)
{
    int32_t n = 3;

    CORPUS_RUN(rig, "print_loop", 1, 1, &n);
    assert_string_equal(rig->text, "0:0 1:0 2:0 end\n");
}

struct outer {
    int32_t list[2][3];
    struct outer *next;
};

static void linked(struct rig *rig)
{
    struct outer *first = (struct outer *)rig->memory;
    int32_t *out = (int32_t *)(rig->memory + 4096);

    for (int i = 0; i < 5; i++) {
        for (int k = 0; k < 6; k++)
            first[i].list[k / 3][k % 3] = i * 10 + k;
        first[i].next = i < 4 ? &first[i + 1] : NULL;
    }
    CORPUS_RUN(rig, "linked", 1, 1, &first, &out);
    assert_int_equal(out[0], 5 * 15 + 6 * (0 + 10 + 20 + 30 + 40));
}

static void by_value(struct rig *rig)
{
    int64_t *pairs = (int64_t *)rig->memory;

    for (int i = 0; i < 12; i++)
        pairs[i] = i * INT64_C(10000000000);
    CORPUS_RUN(rig, "by_value", 1, 6, &pairs);
    for (int i = 0; i < 12; i++)
        assert_int_equal(pairs[i], (i ^ 1) * INT64_C(10000000000));
}

static void calls_kernel(struct rig *rig)
{
    int32_t *out = (int32_t *)rig->memory;

    CORPUS_RUN(rig, "calls_kernel", 1, 4, &out);
    CORPUS_RUN(rig, "other_kernel", 1, 4, &out);
    for (int i = 0; i < 4; i++)
        assert_int_equal(out[i], 3);
}

SUITE(corpus_data)
{
    static const struct corpus_case cases[] = {
        CORPUS_CASE(move),          CORPUS_CASE(mixes),           CORPUS_CASE(all_kinds),
        CORPUS_CASE(unions),        CORPUS_CASE(small_arguments), CORPUS_CASE(constants),
        CORPUS_CASE(program_scope), CORPUS_CASE(print_scalars),   CORPUS_CASE(print_vectors),
        CORPUS_CASE(print_loop),    CORPUS_CASE(linked),          CORPUS_CASE(by_value),
        CORPUS_CASE(calls_kernel),
    };

    return corpus_main("data", cases, sizeof(cases) / sizeof(cases[0]));
}
