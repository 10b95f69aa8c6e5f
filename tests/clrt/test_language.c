/* Odd but legal OpenCL C (kernels/language.cl), against the same in C. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "tests/support/suite.h"

enum { ITEMS = 64, OUT = 1 << 12 };

static struct rig rig;

static int open_rig(void **state)
{
    struct zeta_vgpu_engine_config config = rig_config(2);

    (void)state;
    rig_open(&rig, KERNEL_PREFIX "language", &config);
    return 0;
}

static int close_rig(void **state)
{
    (void)state;
    rig_close(&rig);
    return 0;
}

static uint32_t *in(void)
{
    return (uint32_t *)(void *)rig.memory;
}

/* Runs one group of all items; gives its results. */
static const int32_t *run(const char *kernel, uint32_t n)
{
    struct {
        void *in;
        void *out;
        uint32_t n;
    } arguments = {rig.memory, rig.memory + OUT, n};

    for (uint32_t i = 0; i < ITEMS; i++)
        in()[i] = i * 2654435761u ^ i >> 2;
    in()[9] = UINT32_MAX;
    in()[10] = 0;
    if (rig_run(&rig, kernel, &arguments, 1, ITEMS) != ZETA_VGPU_OK)
        fail_msg("%s: %s", kernel, rig.fault.message.text);
    return (const int32_t *)(const void *)(rig.memory + OUT);
}

static void check(const char *kernel, int32_t (*expect)(uint32_t id, uint32_t x), uint32_t n)
{
    const int32_t *out = run(kernel, n);

    for (uint32_t id = 0; id < ITEMS; id++) {
        const int32_t expected = expect(id, in()[id]);

        if (out[id] != expected)
            fail_msg("%s, item %u: %d, expected %d", kernel, id, out[id], expected);
    }
}

/* Sums wrap, as they do in OpenCL C on these devices. */
static int32_t wrap(uint64_t value)
{
    return (int32_t)(uint32_t)value;
}

struct link {
    const struct link *next;
    const int32_t *value;
    int16_t weight;
};

static int32_t expect_constants(uint32_t id, uint32_t x)
{
    static const int32_t values[] = {11, 22, 33, 44, 55};
    static const struct link last = {NULL, &values[4], 5};
    static const struct link links[] = {{&last, values + 3, 3}, {&last, &values[1], 7}};
    static const struct link first = {&links[1], &values[1], 2};
    int32_t sum = 0;

    for (const struct link *at = x % 2 ? links : &first; at; at = at->next)
        sum = sum * 3 + at->value[-(int32_t)(id % 2)] * at->weight;
    return sum;
}

static void constants__that_point_to_each_other__are_found(void **state)
{
    (void)state;
    check("test_constants", expect_constants, 0);
}

static int32_t expect_structs(uint32_t id, uint32_t x)
{
    int32_t sum = 0;

    for (uint32_t i = 0; i < 3; i++) {
        const int32_t k = (int32_t)((x + i) % 3), item = (int32_t)id;

        sum = wrap((uint64_t)(int64_t)sum * 7) + k + item + item + k + 250 + k - k;
        sum += item + k + (item - 7) + (item + k);
    }
    return sum + 48 * 1000 + 11 * 100000;
}

static void structs__padded_and_packed__keep_their_parts(void **state)
{
    (void)state;
    check("test_structs", expect_structs, 0);
}

static int32_t expect_switches(uint32_t id, uint32_t x)
{
    static const int32_t results[] = {17, -3, 103, 4, 0, 0, 0, 1 << 30, 0, -1, 5, 5};
    const uint32_t which = x % 12;
    int32_t result = which >= 4 && which <= 6 ? wrap(x) : results[which];

    (void)id;
    if (which == 8)
        return -123;
    switch (x & 0x1fffffff) {
    case 1:
        return result + 1;
    case 2:
        return result + 2;
    case 0x1fffffff:
        return result + 3;
    case 5:
        return result + 4;
    default:
        return result;
    }
}

static void switches__dense_and_sparse__find_their_case(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < ITEMS; i++)
        memcpy(rig.memory + OUT + 4 * i, &(const int32_t){-123}, 4);
    check("test_switches", expect_switches, 0);
}

static int32_t expect_pointers(uint32_t id, uint32_t x)
{
    const uint32_t other = (id + 1) % ITEMS;
    const int32_t value = other % 3 == 0   ? wrap(in()[other])
                          : other % 3 == 1 ? (int32_t)(ITEMS - 1 - other) * 3
                                           : (int32_t)other - 100;

    (void)x;
    return wrap((uint64_t)((int64_t)value + (int64_t)other - 1 + 1000));
}

static void pointers__in_local_memory__lead_to_each_kind_of_memory(void **state)
{
    (void)state;
    check("test_pointers", expect_pointers, 0);
}

static int32_t expect_addresses(uint32_t id, uint32_t x)
{
    static const int32_t places[] = {77, 20, 70};

    return places[x % 3] + 50 + (int32_t)id + 77 + 5 * 10000;
}

static void addresses__of_local_memory_in_initializers__are_right(void **state)
{
    (void)state;
    check("test_addresses", expect_addresses, 0);
}

static void wide__shifts_and_divisions__match(void **state)
{
    const int64_t *out = (const int64_t *)(const void *)run("test_wide", 0);

    (void)state;
    for (uint32_t id = 0; id < ITEMS; id++, out += 12) {
        const uint32_t count = in()[id];
        const uint64_t u = count * UINT64_C(0x9e3779b97f4a7c15);
        const int64_t a = (int64_t)u, b = (int32_t)(count * 77u) | 1;
        const uint64_t v = (uint64_t)b;
        const int64_t expected[12] = {
            (int64_t)(u << (count & 63)),
            a >> (count & 63),
            (int64_t)(u >> (count & 63)),
            (int64_t)(u << 32 | u >> 32),
            a / b,
            a % b,
            (int64_t)(u / v),
            (int64_t)(u % v),
            a / 10 + a % 1000000007,
            (int64_t)(u / 3 + u % UINT64_C(4294967311)),
            (int64_t)(u * v),
            (int64_t)((uint64_t)(int64_t)(int16_t)u << (count & 15)) + (int8_t)(u >> 7),
        };

        for (int i = 0; i < 12; i++) {
            if (out[i] != expected[i])
                fail_msg("item %u, operation %d: %lld, expected %lld", id, i, (long long)out[i],
                         (long long)expected[i]);
        }
    }
}

static int32_t expect_volatile(uint32_t id, uint32_t x)
{
    (void)id;
    return wrap((uint64_t)16 + x + 3 + x);
}

static void volatile__in_each_memory__is_read_and_written(void **state)
{
    (void)state;
    check("test_volatile", expect_volatile, 0);
}

static int32_t expect_caller(uint32_t id, uint32_t x)
{
    (void)x;
    return wrap((uint64_t)in()[ITEMS - 1 - id] + 42 + 2 * (uint64_t)in()[(id + 1) % ITEMS]);
}

static void kernel__called_by_a_kernel__has_its_own_local_memory(void **state)
{
    (void)state;
    check("test_caller", expect_caller, 41);
}

struct large {
    int32_t numbers[24];
    int64_t wide[3];
    int8_t tail;
};

static struct large turn(struct large x, uint32_t by, int32_t tag, int16_t last)
{
    struct large y;

    for (uint32_t i = 0; i < 24; i++)
        y.numbers[i] = x.numbers[(i + by) % 24];
    for (uint32_t i = 0; i < 3; i++)
        y.wide[i] = x.wide[(i + 2) % 3] + last;
    y.tail = (int8_t)(x.tail + tag);
    return y;
}

static int32_t expect_by_value(uint32_t id, uint32_t x)
{
    struct large s = {.wide = {1, INT64_C(1) << 40, id}, .tail = (int8_t)id};
    uint32_t sum = 0;

    for (uint32_t i = 0; i < 24; i++)
        s.numbers[i] = wrap((uint64_t)x * i);
    s = turn(s, 5, 3, (int16_t) - (int32_t)id);
    s = turn(s, x % 24, 3, (int16_t) - (int32_t)id);
    for (uint32_t i = 0; i < 24; i++)
        sum = sum * 5 + (uint32_t)s.numbers[i];
    return wrap((uint64_t)((int64_t)sum + (int32_t)s.wide[0] + (int32_t)(s.wide[1] >> 8) +
                           (int32_t)(s.wide[2] >> 20) + s.tail));
}

static void structs__by_value__come_and_go_whole(void **state)
{
    (void)state;
    check("test_by_value", expect_by_value, 0);
}

static int32_t expect_large_private(uint32_t id, uint32_t x)
{
    static uint8_t bytes[8192];
    static uint32_t counts[512];
    uint32_t at = x, sum = 0;

    for (uint32_t i = 0; i < 8192; i++)
        bytes[i] = (uint8_t)(i * 7 + id);
    for (uint32_t i = 0; i < 512; i++)
        counts[i] = id;
    for (uint32_t i = 0; i < 50; i++) {
        at = at * 1664525u + 1013904223u;
        bytes[at >> 19] ^= (uint8_t)at;
        counts[at >> 23]++;
        sum = sum * 31 + bytes[at >> 8 & 8191] + counts[at >> 11 & 511];
    }
    return wrap(sum);
}

static void private_memory__of_16_KiB__is_each_items_own(void **state)
{
    (void)state;
    check("test_large_private", expect_large_private, 0);
}

#define WITH(test) cmocka_unit_test_setup_teardown(test, open_rig, close_rig)

SUITE(language)
{
    const struct CMUnitTest tests[] = {
        WITH(constants__that_point_to_each_other__are_found),
        WITH(structs__padded_and_packed__keep_their_parts),
        WITH(switches__dense_and_sparse__find_their_case),
        WITH(pointers__in_local_memory__lead_to_each_kind_of_memory),
        WITH(addresses__of_local_memory_in_initializers__are_right),
        WITH(wide__shifts_and_divisions__match),
        WITH(volatile__in_each_memory__is_read_and_written),
        WITH(kernel__called_by_a_kernel__has_its_own_local_memory),
        WITH(structs__by_value__come_and_go_whole),
        WITH(private_memory__of_16_KiB__is_each_items_own),
    };

    if (rig_missing())
        return 77;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
