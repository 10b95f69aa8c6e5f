/* Shared local memory, barriers, atomics, address spaces, groups. Rules 23.1, 23.2. */
#include "corpus.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

#include <string.h>

static int32_t *numbers(struct rig *rig)
{
    return (int32_t *)rig->memory;
}

static void reverse_group(struct rig *rig)
{
    int32_t *data = numbers(rig);
    uint32_t local = 32 * 4;

    for (int i = 0; i < 128; i++)
        data[i] = i;
    CORPUS_RUN(rig, "reverse_group", 4, 32, &data, &local);
    for (int i = 0; i < 128; i++)
        assert_int_equal(data[i], i / 32 * 32 + 31 - i % 32);
}

static void sum_group(struct rig *rig)
{
    int32_t *out = numbers(rig), *in = out + 16;

    for (int i = 0; i < 1024; i++)
        in[i] = i * 3 - 500;
    CORPUS_RUN(rig, "sum_group", 4, 256, &out, &in);
    for (int group = 0; group < 4; group++) {
        int32_t sum = 0;

        for (int i = 0; i < 256; i++)
            sum += in[group * 256 + i];
        assert_int_equal(out[group], sum);
    }
}

static void shared_flag(struct rig *rig)
{
    int32_t *out = numbers(rig);

    CORPUS_RUN(rig, "shared_flag", 3, 16, &out);
    for (int i = 0; i < 48; i++)
        assert_int_equal(out[i], 77);
}

static void shared_once(struct rig *rig)
{
    int32_t *out = numbers(rig);

    CORPUS_RUN(rig, "shared_once", 8, 64, &out);
    for (int i = 0; i < 512; i++)
        assert_int_equal(out[i], 1234);
}

static void two_locals(struct rig *rig)
{
    int32_t *out = numbers(rig);
    uint32_t first = 20 * 4, second = 20 * 2;

    CORPUS_RUN(rig, "two_locals", 2, 20, &out, &first, &second);
    for (int i = 0; i < 40; i++)
        assert_int_equal(out[i], (i % 20 + 1) % 20 + 100 + (i % 20 + 2) % 20 + 3);
}

static void histogram(struct rig *rig)
{
    uint32_t *bins = (uint32_t *)rig->memory;
    uint8_t *in = rig->memory + 256;
    uint32_t expected[16] = {0};

    for (int i = 0; i < 1024; i++) {
        in[i] = (uint8_t)(i * 37 + i / 13);
        expected[in[i] & 15]++;
    }
    CORPUS_RUN(rig, "histogram", 8, 128, &bins, &in);
    assert_memory_equal(bins, expected, sizeof(expected));
}

static void old_atomics(struct rig *rig)
{
    int32_t *v = numbers(rig);
    const int32_t given[11] = {0, 0, 0, 0, 5, 5, -1, 0, 0, 0, 0};

    memcpy(v, given, sizeof(given));
    CORPUS_RUN(rig, "old_atomics", 2, 32, &v);
    assert_int_equal(v[0], 192);
    assert_int_equal(v[1], -128);
    assert_int_equal(v[2], 64);
    assert_int_equal(v[3], -64);
    assert_int_equal(v[4], -63);
    assert_int_equal(v[5], 63);
    assert_int_equal(v[6], 0);
    assert_int_equal(v[7], -1);
    assert_int_equal(v[8], 0);
    assert_in_range(v[9], 1, 64);
    assert_int_equal(v[10], 9);
}

static void new_atomics(struct rig *rig)
{
    int32_t *a = numbers(rig);
    uint32_t *b = (uint32_t *)(rig->memory + 64);
    int64_t *c = (int64_t *)(rig->memory + 128);
    float *d = (float *)(rig->memory + 192);
    int32_t *old = (int32_t *)(rig->memory + 256);

    CORPUS_RUN(rig, "new_atomics", 2, 25, &a, &b, &c, &d, &old);
    assert_int_equal(a[0], 50);
    assert_int_equal(a[1], -50);
    assert_int_equal(a[2], 100);
    assert_int_equal(a[3], 17);
    assert_int_equal(old[0], 17);
    assert_int_equal(*b, 49);
    assert_int_equal(*c, 50 * INT64_C(0x100000000));
    assert_cmp(*d, ==, 2.5f);
}

static void lock_free_list(struct rig *rig)
{
    int32_t *head = numbers(rig), *next = head + 16;
    uint8_t seen[256] = {0};
    int count = 0;

    *head = -1;
    CORPUS_RUN(rig, "lock_free_list", 4, 64, &head, &next);
    for (int32_t at = *head; at >= 0; at = next[at], count++) {
        assert_cmp(at, <, 256);
        assert_true(!seen[at]);
        seen[at] = 1;
    }
    assert_int_equal(count, 256);
}

static void generic_pointers(struct rig *rig)
{
    int32_t *out = numbers(rig);
    uint32_t local = 4;

    CORPUS_RUN(rig, "generic_pointers", 1, 9, &out, &local);
    for (int i = 0; i < 9; i++)
        assert_int_equal(out[1 + i], i % 3 == 0 ? 41 : i % 3 == 1 ? 11 : 21);
}

static void copy_async(struct rig *rig)
{
    int32_t *out = numbers(rig), *in = out + 64;
    uint32_t local = 32 * 4;

    for (int i = 0; i < 32; i++)
        in[i] = i * 5;
    CORPUS_RUN(rig, "copy_async", 1, 32, &out, &in, &local);
    for (int i = 0; i < 32; i++)
        assert_int_equal(out[i], i * 10);
}

static void groups(struct rig *rig)
{
    int32_t *out = numbers(rig);

    CORPUS_RUN(rig, "groups", 1, 10, &out);
    for (int i = 0; i < 10; i++) {
        assert_int_equal(out[i * 4 + 0], 45);
        assert_int_equal(out[i * 4 + 1], i * (i - 1) / 2);
        assert_int_equal(out[i * 4 + 2], 30);
        assert_int_equal(out[i * 4 + 3], 3);
    }
}

static void sub_groups(struct rig *rig)
{
    uint32_t *out = (uint32_t *)rig->memory;

    CORPUS_RUN(rig, "sub_groups", 2, 6, &out);
    for (uint32_t i = 0; i < 12; i++) {
        const uint32_t expected[4] = {1, 6, i % 6, i + 3};

        assert_memory_equal(out + (size_t)i * 4, expected, sizeof(expected));
    }
}

static void product(struct rig *rig)
{
    enum { N = 24 };
    const uint32_t grid[3] = {N / 8, N / 8, 1}, size[3] = {8, 8, 1};
    float *a = (float *)rig->memory, *b = a + N * N, *c = b + N * N;
    int32_t n = N;
    const void *const values[] = {&a, &b, &c, &n, NULL};
    uint64_t before = rig_counter(rig, ZETA_VGPU_INST_FP32);

    for (int i = 0; i < N * N; i++) {
        a[i] = (float)(i % 7) - 3;
        b[i] = (float)(i % 5) * 0.5f;
    }
    corpus_run_3d(rig, "product", grid, size, values);
    for (int y = 0; y < N; y++) {
        for (int x = 0; x < N; x++) {
            float sum = 0;

            for (int k = 0; k < N; k++)
                sum += a[y * N + k] * b[k * N + x];
            assert_cmp(c[y * N + x], ==, sum);
        }
    }
    /* Multiply and add stay two instructions. */
    assert_int_equal(rig_counter(rig, ZETA_VGPU_INST_FP32) - before, 2 * N * N * N);
    assert_int_equal(zeta_vgpu_image_find_kernel(rig->image, "product")->required_group_size[1], 8);
}

SUITE(corpus_memory)
{
    static const struct corpus_case cases[] = {
        CORPUS_CASE(reverse_group),    CORPUS_CASE(sum_group),   CORPUS_CASE(shared_flag),
        CORPUS_CASE(shared_once),      CORPUS_CASE(two_locals),  CORPUS_CASE(histogram),
        CORPUS_CASE(old_atomics),      CORPUS_CASE(new_atomics), CORPUS_CASE(lock_free_list),
        CORPUS_CASE(generic_pointers), CORPUS_CASE(copy_async),  CORPUS_CASE(groups),
        CORPUS_CASE(sub_groups),       CORPUS_CASE(product),
    };

    return corpus_main("memory", cases, sizeof(cases) / sizeof(cases[0]));
}
