/* Calculation: rows, wraps, breaks, tiles, repeated records, capacity, and edges of arithmetic. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/formula/record/layout.h"
#include "tests/metric/support.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

#define RECORD 64u

/** A delta layout: id, ticks (32 bits), A: 40-bit counters in two parts, W: 64-bit ones. */
static const char set_text[] =
    "format: 1\n"
    "symbols: {Hz: {value: 25000000}}\n"
    "units: {u: {}}\n"
    "layouts:\n"
    "  - name: l\n"
    "    kind: delta\n"
    "    record: 64\n"
    "    header:\n"
    "      id: {at: 0, width: 32}\n"
    "      ticks: {at: 4, width: 32, delta: 32}\n"
    "    counters:\n"
    "      A: [{n: 2, at: 8, stride: 4, width: 32, hi: {at: 16, stride: 1, width: 8}}]\n"
    "      W: [{n: 4, at: 24, stride: 8, width: 64}]\n"
    "      F: [{n: 1, at: 56, width: 64, type: f64}]\n"
    "    identity: [id, ticks]\n"
    "sets:\n"
    "  - name: s\n"
    "    description: d\n"
    "    domain: 0\n"
    "    unit: u\n"
    "    layout: l\n"
    "    sampling: [time]\n"
    "    metrics:\n"
    "      - {name: Ticks, description: d, type: event, value_type: u64, class: exact,\n"
    "         value: ticks, max: $Hz}\n"
    "      - {name: Forty, description: d, type: event, value_type: u64, class: exact,\n"
    "         value: 'A[1]'}\n"
    "      - {name: Begin, description: d, type: timestamp, value_type: u64, class: exact,\n"
    "         value: 'muldiv(now(ticks), 1000000000, $Hz)'}\n"
    "  - name: edges\n"
    "    description: d\n"
    "    domain: 0\n"
    "    unit: u\n"
    "    layout: l\n"
    "    sampling: [time]\n"
    "    metrics:\n"
    "      - {name: Quotient, description: d, type: raw, value_type: u64, class: exact,\n"
    "         value: 'now(W[0]) / now(W[1])'}\n"
    "      - {name: Rest, description: d, type: raw, value_type: u64, class: exact,\n"
    "         value: 'now(W[0]) % now(W[1])'}\n"
    "      - {name: Scaled, description: d, type: raw, value_type: u64, class: exact,\n"
    "         value: 'muldiv(now(W[0]), now(W[1]), now(W[2]))'}\n"
    "      - {name: Whole, description: d, type: raw, value_type: u64, class: exact,\n"
    "         value: 'u64(now(F[0]))'}\n"
    "      - {name: Real, description: d, type: raw, value_type: f64, class: exact,\n"
    "         value: 'f64(now(W[0]))'}\n"
    "      - {name: Narrow, description: d, type: raw, value_type: f32, class: exact,\n"
    "         value: 'now(F[0])'}\n"
    "      - {name: Clamped, description: d, type: raw, value_type: u32, class: exact,\n"
    "         value: 'now(W[0])'}\n"
    "      - {name: Flag, description: d, type: flag, value_type: bool8, class: exact,\n"
    "         value: 'now(F[0])'}\n"
    "      - {name: Percent, description: d, type: ratio, value_type: f32, unit: percent,\n"
    "         class: exact, value: '1.0'}\n"
    "  - name: patterns\n"
    "    description: d\n"
    "    domain: 0\n"
    "    unit: u\n"
    "    layout: l\n"
    "    sampling: [time]\n"
    "    metrics:\n"
    "      - {name: All, description: d, type: raw, value_type: u64, class: exact,\n"
    "         value: 'now(W[0]) / 1'}\n"
    "      - {name: Seventh, description: d, type: raw, value_type: u64, class: exact,\n"
    "         value: 'now(W[0]) / 7'}\n"
    "      - {name: Bit, description: d, type: raw, value_type: u64, class: exact,\n"
    "         value: 'now(W[0]) / 1125899906842623'}\n"
    "      - {name: Time, description: d, type: raw, value_type: u64, class: exact,\n"
    "         value: 'ticks * 1000000000 / 19200000'}\n"
    "      - {name: Fits, description: d, type: raw, value_type: u64, class: exact,\n"
    "         value: 'A[1] * 16000001 / 4000'}\n"
    "      - {name: Overflows, description: d, type: raw, value_type: u64, class: exact,\n"
    "         value: 'A[1] * 1000000000 / 4000'}\n"
    "      - {name: Shifted, description: d, type: raw, value_type: u64, class: exact,\n"
    "         value: '8 * (A[1] << 3)'}\n"
    "      - {name: Gone, description: d, type: raw, value_type: u64, class: exact,\n"
    "         value: '(A[1] << 33) * 2147483648'}\n"
    "      - {name: Sum, description: d, type: raw, value_type: f64, class: exact,\n"
    "         value: 'f64(A[0]) + f64(A[1]) + f64(ticks) + now(F[0])'}\n"
    "      - {name: Share, description: d, type: ratio, value_type: f32, class: exact,\n"
    "         value: 'f64(A[1] * 100) / f64(ticks)'}\n";

static const struct reference_symbol no_symbols[] = {{NULL, {0}}};

struct fixture {
    struct zeta_catalog *catalog;
    struct zeta_compiled *compiled;
    unsigned char *raw;
    size_t used;
    zet_typed_value_t values[4096];
    struct zeta_evaluation result;
};

static void open_fixture(struct fixture *fixture, const char *set)
{
    memset(fixture, 0, sizeof(*fixture));
    fixture->catalog = load_text(set_text);
    fixture->compiled = compile_set(fixture->catalog, set, no_symbols);
    fixture->raw = calloc(4096, RECORD);
    assert_non_null(fixture->raw);
}

static void close_fixture(struct fixture *fixture)
{
    free(fixture->raw);
    zeta_compiled_destroy(fixture->compiled);
    zeta_catalog_destroy(fixture->catalog);
}

static unsigned char *add_slot(struct fixture *fixture)
{
    unsigned char *slot = fixture->raw + fixture->used;

    fixture->used += RECORD;
    memset(slot, 0, RECORD);
    return slot;
}

static void add_record(struct fixture *fixture, uint32_t id, uint32_t ticks, uint64_t forty)
{
    unsigned char *slot = add_slot(fixture);
    uint32_t low = (uint32_t)forty;

    memcpy(slot, &id, 4);
    memcpy(slot + 4, &ticks, 4);
    memcpy(slot + 12, &low, 4);
    slot[17] = (unsigned char)(forty >> 32);
}

static void add_control(struct fixture *fixture, enum zeta_slot_kind kind, uint32_t value,
                        uint64_t lost)
{
    const struct zeta_slot_control control = {kind, value, lost};

    zeta_slot_write(&control, add_slot(fixture), RECORD);
}

static void calculate(struct fixture *fixture, uint32_t tile)
{
    assert_int_equal(
        zeta_evaluate(fixture->compiled, ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES, tile, 0,
                      fixture->raw, fixture->used, fixture->values, 4096, &fixture->result),
        ZE_RESULT_SUCCESS);
}

static uint64_t u64_at(const struct fixture *fixture, uint32_t row, uint32_t metric)
{
    const zet_typed_value_t *value =
        &fixture->values[row * zeta_compiled_metric_count(fixture->compiled) + metric];

    assert_int_equal(value->type, ZET_VALUE_TYPE_UINT64);
    return value->value.ui64;
}

static void evaluate__wraps__differences(void **state)
{
    struct fixture f;

    (void)state;
    open_fixture(&f, "s");
    add_record(&f, 1, UINT32_MAX - 9, UINT64_C(0xfffffffff0));
    add_record(&f, 1, 10, UINT64_C(0x10));        /* both wrapped */
    add_record(&f, 1, 30, UINT64_C(0x100000005)); /* the low word wrapped */
    add_record(&f, 1, 29, UINT64_C(0x100000004)); /* all but one around the circle */
    calculate(&f, 0);
    assert_int_equal(f.result.row_count, 3);
    assert_cmp(u64_at(&f, 0, 0), ==, 20);
    assert_cmp(u64_at(&f, 0, 1), ==, 0x20);
    assert_cmp(u64_at(&f, 0, 2), ==, 400);
    assert_cmp(u64_at(&f, 1, 1), ==, UINT64_C(0xfffffff5));
    assert_cmp(u64_at(&f, 2, 0), ==, UINT32_MAX);
    assert_cmp(u64_at(&f, 2, 1), ==, UINT64_C(0xffffffffff));
    assert_true(f.result.complete);
    assert_false(f.result.dropped);
    close_fixture(&f);
}

static void evaluate__largest_time_stamp__no_overflow(void **state)
{
    struct fixture f;

    (void)state;
    open_fixture(&f, "s");
    add_record(&f, 1, 0, 0);
    add_record(&f, 1, UINT32_MAX, 0);
    calculate(&f, 0);
    assert_cmp(u64_at(&f, 0, 2), ==, UINT64_C(171798691800));
    close_fixture(&f);
}

static void evaluate__nothing_or_one_record__no_rows(void **state)
{
    struct fixture f;

    (void)state;
    open_fixture(&f, "s");
    calculate(&f, 0);
    assert_int_equal(f.result.value_count, 0);
    assert_true(f.result.complete);
    assert_int_equal(zeta_evaluate(f.compiled, ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES, 0,
                                   0, NULL, 0, NULL, 0, &f.result),
                     ZE_RESULT_SUCCESS);
    assert_int_equal(f.result.value_count, 0);
    add_record(&f, 1, 5, 5);
    calculate(&f, 0);
    assert_int_equal(f.result.value_count, 0);
    f.used += RECORD - 1; /* and a piece of the next one */
    calculate(&f, 0);
    assert_int_equal(f.result.value_count, 0);
    close_fixture(&f);
}

/* Rule 11.9. */
static void evaluate__break__no_row_across_it(void **state)
{
    struct fixture f;

    (void)state;
    open_fixture(&f, "s");
    add_record(&f, 1, 10, 0);
    add_record(&f, 1, 20, 0);
    add_control(&f, ZETA_SLOT_BREAK, ZETA_BREAK_OVERFLOW, 12);
    add_record(&f, 1, 90, 0);
    add_record(&f, 1, 95, 0);
    add_control(&f, ZETA_SLOT_BREAK, ZETA_BREAK_LOST, 0);
    calculate(&f, 0);
    assert_int_equal(f.result.row_count, 2);
    assert_cmp(u64_at(&f, 0, 0), ==, 10);
    assert_cmp(u64_at(&f, 1, 0), ==, 5);
    assert_true(f.result.dropped);
    assert_int_equal(f.result.lost_records, 12);
    close_fixture(&f);
}

/* Rule 11.4. */
static void evaluate__padding_and_unknown_control__as_if_not_there(void **state)
{
    struct fixture f;

    (void)state;
    open_fixture(&f, "s");
    (void)add_slot(&f);
    add_record(&f, 1, 10, 0);
    (void)add_slot(&f);
    add_control(&f, (enum zeta_slot_kind)99, 0, 0);
    add_record(&f, 1, 25, 0);
    calculate(&f, 0);
    assert_int_equal(f.result.row_count, 1);
    assert_cmp(u64_at(&f, 0, 0), ==, 15);
    assert_false(f.result.dropped);
    close_fixture(&f);
}

static void evaluate__tiles__a_baseline_each(void **state)
{
    struct fixture f;

    (void)state;
    open_fixture(&f, "s");
    add_control(&f, ZETA_SLOT_TILE, 0, 0);
    add_record(&f, 1, 10, 0);
    add_record(&f, 1, 20, 0);
    add_control(&f, ZETA_SLOT_TILE, 1, 0);
    add_record(&f, 1, 1000, 0);
    add_control(&f, ZETA_SLOT_BREAK, ZETA_BREAK_LOST, 1);
    add_record(&f, 1, 3000, 0);
    add_control(&f, ZETA_SLOT_TILE, 0, 0);
    add_record(&f, 1, 50, 0);
    add_control(&f, ZETA_SLOT_TILE, 1, 0);
    add_record(&f, 1, 3007, 0);
    calculate(&f, 0);
    assert_int_equal(f.result.row_count, 2);
    assert_cmp(u64_at(&f, 1, 0), ==, 30);
    assert_false(f.result.dropped);
    calculate(&f, 1);
    assert_int_equal(f.result.row_count, 1);
    assert_cmp(u64_at(&f, 0, 0), ==, 7);
    assert_true(f.result.dropped);
    calculate(&f, 2);
    assert_int_equal(f.result.row_count, 0);
    close_fixture(&f);
}

static void evaluate__end__next_stream_starts_anew(void **state)
{
    struct fixture f;

    (void)state;
    open_fixture(&f, "s");
    add_record(&f, 1, 10, 0);
    add_record(&f, 1, 20, 0);
    add_control(&f, ZETA_SLOT_END, 0, 0);
    add_record(&f, 1, 500, 0);
    add_record(&f, 1, 501, 0);
    calculate(&f, 0);
    assert_int_equal(f.result.row_count, 2);
    assert_cmp(u64_at(&f, 1, 0), ==, 1);
    assert_false(f.result.dropped);
    close_fixture(&f);
}

/* Rule 14.10. */
static void evaluate__repeated_record__only_a_baseline(void **state)
{
    struct fixture f;

    (void)state;
    open_fixture(&f, "s");
    add_record(&f, 1, 10, 100);
    add_record(&f, 1, 20, 200);
    add_record(&f, 1, 20, 200);
    add_record(&f, 2, 20, 201); /* another id: a row of its own */
    add_record(&f, 1, 30, 300);
    calculate(&f, 0);
    assert_int_equal(f.result.row_count, 3);
    assert_cmp(u64_at(&f, 1, 1), ==, 1);
    assert_cmp(u64_at(&f, 2, 1), ==, 99);
    close_fixture(&f);
}

/** Reads of every size, each beginning with the last record of the one before. Rule 11.4. */
static void evaluate__stream_split_into_reads__same_rows(void **state)
{
    enum { COUNT = 77 };
    struct fixture whole;
    struct fixture split;

    (void)state;
    open_fixture(&whole, "s");
    open_fixture(&split, "s");
    for (uint32_t i = 0; i < COUNT; i++)
        add_record(&whole, 1 + i % 3, 10 + i * i, (uint64_t)i * 12345678901);
    calculate(&whole, 0);
    assert_int_equal(whole.result.row_count, COUNT - 1);
    for (size_t size = 1; size <= COUNT; size++) {
        split.used = 0;
        for (size_t at = 0; at < COUNT; at += size) {
            size_t from = at > 0 ? at - 1 : 0;
            size_t to = at + size < COUNT ? at + size : COUNT;

            memcpy(split.raw + split.used, whole.raw + from * RECORD, (to - from) * RECORD);
            split.used += (to - from) * RECORD;
        }
        calculate(&split, 0);
        assert_int_equal(split.result.value_count, whole.result.value_count);
        assert_memory_equal(split.values, whole.values,
                            whole.result.value_count * sizeof(*whole.values));
    }
    close_fixture(&split);
    close_fixture(&whole);
}

static void evaluate__every_capacity__that_many_values(void **state)
{
    struct fixture f;
    zet_typed_value_t values[301];

    (void)state;
    open_fixture(&f, "s");
    for (uint32_t i = 0; i < 100; i++)
        add_record(&f, 1, 10 + i * 7, i);
    calculate(&f, 0);
    assert_int_equal(f.result.value_count, 297);
    for (uint32_t capacity = 0; capacity <= 300; capacity++) {
        struct zeta_evaluation result;
        uint32_t expected = capacity < 297 ? capacity : 297;

        memset(values, 0xaa, sizeof(values));
        assert_int_equal(zeta_evaluate(f.compiled, ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES,
                                       0, 0, f.raw, f.used, values, capacity, &result),
                         ZE_RESULT_SUCCESS);
        assert_int_equal(result.value_count, expected);
        assert_int_equal(result.row_count, (expected + 2) / 3);
        assert_int_equal(result.complete, capacity >= 297);
        assert_memory_equal(values, f.values, expected * sizeof(*values));
        assert_int_equal(((unsigned char *)&values[expected])[0], 0xaa);
    }
    close_fixture(&f);
}

static void evaluate__raw_data_at_any_address__same_values(void **state)
{
    struct fixture f;
    struct zeta_evaluation result;
    zet_typed_value_t values[300];
    unsigned char *moved = malloc(101 * RECORD);

    (void)state;
    assert_non_null(moved);
    open_fixture(&f, "s");
    for (uint32_t i = 0; i < 100; i++)
        add_record(&f, 1, 10 + i * 7, i);
    calculate(&f, 0);
    for (size_t offset = 1; offset < 16; offset++) {
        memcpy(moved + offset, f.raw, f.used);
        assert_int_equal(zeta_evaluate(f.compiled, ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES,
                                       0, 0, moved + offset, f.used, values, 300, &result),
                         ZE_RESULT_SUCCESS);
        assert_int_equal(result.value_count, f.result.value_count);
        assert_memory_equal(values, f.values, result.value_count * sizeof(*values));
    }
    close_fixture(&f);
    free(moved);
}

/* Rule 14.11. */
static void evaluate__maxima__expression_or_percent_or_value(void **state)
{
    struct fixture f;

    (void)state;
    open_fixture(&f, "s");
    add_record(&f, 1, 10, 5);
    add_record(&f, 1, 20, 25);
    assert_int_equal(zeta_evaluate(f.compiled, ZET_METRIC_GROUP_CALCULATION_TYPE_MAX_METRIC_VALUES,
                                   0, 0, f.raw, f.used, f.values, 10, &f.result),
                     ZE_RESULT_SUCCESS);
    assert_int_equal(f.result.value_count, 3);
    assert_cmp(u64_at(&f, 0, 0), ==, 25000000);
    assert_cmp(u64_at(&f, 0, 1), ==, 20);
    close_fixture(&f);
    open_fixture(&f, "edges");
    add_record(&f, 1, 10, 5);
    add_record(&f, 1, 20, 25);
    assert_int_equal(zeta_evaluate(f.compiled, ZET_METRIC_GROUP_CALCULATION_TYPE_MAX_METRIC_VALUES,
                                   0, 0, f.raw, f.used, f.values, 10, &f.result),
                     ZE_RESULT_SUCCESS);
    assert_cmp(f.values[8].value.fp32, ==, 100.0f);
    close_fixture(&f);
}

static void count__any_size__rounded_down_and_bounded(void **state)
{
    struct fixture f;

    (void)state;
    open_fixture(&f, "s");
    assert_int_equal(zeta_evaluate_count(f.compiled, 0), 0);
    assert_int_equal(zeta_evaluate_count(f.compiled, RECORD - 1), 0);
    assert_int_equal(zeta_evaluate_count(f.compiled, RECORD), 3);
    assert_int_equal(zeta_evaluate_count(f.compiled, 10 * RECORD + 63), 30);
    assert_int_equal(zeta_evaluate_count(f.compiled, SIZE_MAX), UINT32_MAX / 3 * 3);
    close_fixture(&f);
}

/** Numbers around the limits of the fast ways: 2^52, 2^53, 2^64. */
static const uint64_t edge_integers[] = {0,
                                         1,
                                         2,
                                         3,
                                         10,
                                         1000000007,
                                         UINT64_C(1) << 26,
                                         (UINT64_C(1) << 26) + 1,
                                         UINT32_MAX,
                                         UINT64_C(1) << 32,
                                         (UINT64_C(1) << 51) + 1,
                                         (UINT64_C(1) << 52) - 1,
                                         UINT64_C(1) << 52,
                                         (UINT64_C(1) << 52) + 1,
                                         (UINT64_C(1) << 53) - 1,
                                         UINT64_C(1) << 53,
                                         (UINT64_C(1) << 53) + 1,
                                         (UINT64_C(1) << 54) - 1,
                                         (UINT64_C(1) << 63) - 1,
                                         UINT64_C(1) << 63,
                                         (UINT64_C(1) << 63) + 1,
                                         UINT64_MAX - 1,
                                         UINT64_MAX};

static const double edge_doubles[] = {0.0,
                                      -0.0,
                                      0.5,
                                      0.999999,
                                      1.5,
                                      -1.0,
                                      4503599627370495.5,
                                      4503599627370496.0,
                                      4503599627370497.0,
                                      9007199254740991.0,
                                      9007199254740993.0,
                                      9223372036854775808.0,
                                      18446744073709549568.0,
                                      18446744073709551616.0,
                                      1e300,
                                      -1e300,
                                      INFINITY,
                                      -INFINITY,
                                      NAN,
                                      1e-310};

#define EDGES (sizeof(edge_integers) / sizeof(edge_integers[0]))
#define EDGE_DOUBLES (sizeof(edge_doubles) / sizeof(edge_doubles[0]))

static void compare_with_reference(void *context)
{
    struct fixture *f = context;
    zet_typed_value_t *expected = calloc(4096, sizeof(*expected));
    const size_t width = zeta_compiled_metric_count(f->compiled);
    size_t count;
    bool dropped;

    assert_non_null(expected);
    calculate(f, 0);
    count = reference_evaluate(f->catalog, f->compiled, no_symbols, false, 0, f->raw, f->used,
                               expected, 4096, &dropped);
    assert_cmp(count, <=, 4096);
    assert_int_equal(f->result.value_count, count);
    for (size_t i = 0; i < count; i++) {
        char got[64];
        char wanted[64];

        print_value(&f->values[i], got, sizeof(got));
        print_value(&expected[i], wanted, sizeof(wanted));
        if (!same_value(&f->values[i], &expected[i]))
            fail_msg("%s: row %zu, metric %zu: %s instead of %s", zeta_evaluate_variant(),
                     i / width, i % width, got, wanted);
    }
    free(expected);
}

/** Each block holds numbers of one size, so that every way is taken, and all of them. */
static void evaluate__edges_of_arithmetic__as_reference(void **state)
{
    struct fixture f;

    (void)state;
    open_fixture(&f, "edges");
    for (size_t a = 0; a < EDGES; a++) {
        for (size_t c = 0; c < EDGES; c += 3) {
            f.used = 0;
            add_record(&f, 1, 0, 0);
            for (size_t b = 0; b < EDGES; b++) {
                unsigned char *slot = f.raw + f.used;

                add_record(&f, 1, (uint32_t)(b + 1), 0);
                memcpy(slot + 24, &edge_integers[a], 8);
                memcpy(slot + 32, &edge_integers[b], 8);
                memcpy(slot + 40, &edge_integers[c], 8);
                memcpy(slot + 56, &edge_doubles[(a + b) % EDGE_DOUBLES], 8);
            }
            for_each_variant(compare_with_reference, &f);
            /* The same b in each row of a block, so that no other number chooses the way. */
            for (size_t row = 1; row <= EDGES; row++) {
                memcpy(f.raw + row * RECORD + 32, &edge_integers[c], 8);
                memcpy(f.raw + row * RECORD + 40, &edge_integers[(a + c) % EDGES], 8);
                memcpy(f.raw + row * RECORD + 56, &edge_doubles[(a + c) % EDGE_DOUBLES], 8);
            }
            for_each_variant(compare_with_reference, &f);
        }
    }
    close_fixture(&f);
}

/** Dividends around multiples of the constants, of every size; counters and times at random. */
static void evaluate__operations_that_are_simplified__as_reference(void **state)
{
    static const uint64_t divisors[] = {1, 7, 1125899906842623};
    uint64_t seed = 7;
    struct fixture f;

    (void)state;
    open_fixture(&f, "patterns");
    for (unsigned bits = 0; bits < 64; bits++) {
        f.used = 0;
        for (unsigned row = 0; row < 99; row++) {
            uint64_t divisor = divisors[row / 33];
            uint64_t near = (next_random(&seed) >> (63 - bits)) / divisor * divisor + row % 3 - 1;
            unsigned char *slot = f.raw + f.used;

            add_record(&f, 1, (uint32_t)next_random(&seed) >> (bits / 2), next_random(&seed) >> 24);
            memcpy(slot + 24, &near, 8);
            memcpy(slot + 56, &edge_doubles[row % EDGE_DOUBLES], 8);
        }
        for_each_variant(compare_with_reference, &f);
    }
    close_fixture(&f);
}

static void use_variant__unknown_name__refused(void **state)
{
    (void)state;
    assert_false(zeta_evaluate_use_variant("avx1024"));
    assert_true(zeta_evaluate_use_variant("base"));
    assert_string_equal(zeta_evaluate_variant(), "base");
}

SUITE(evaluate)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(evaluate__wraps__differences),
        cmocka_unit_test(evaluate__largest_time_stamp__no_overflow),
        cmocka_unit_test(evaluate__nothing_or_one_record__no_rows),
        cmocka_unit_test(evaluate__break__no_row_across_it),
        cmocka_unit_test(evaluate__padding_and_unknown_control__as_if_not_there),
        cmocka_unit_test(evaluate__tiles__a_baseline_each),
        cmocka_unit_test(evaluate__end__next_stream_starts_anew),
        cmocka_unit_test(evaluate__repeated_record__only_a_baseline),
        cmocka_unit_test(evaluate__stream_split_into_reads__same_rows),
        cmocka_unit_test(evaluate__every_capacity__that_many_values),
        cmocka_unit_test(evaluate__raw_data_at_any_address__same_values),
        cmocka_unit_test(evaluate__maxima__expression_or_percent_or_value),
        cmocka_unit_test(count__any_size__rounded_down_and_bounded),
        cmocka_unit_test(evaluate__edges_of_arithmetic__as_reference),
        cmocka_unit_test(evaluate__operations_that_are_simplified__as_reference),
        cmocka_unit_test(use_variant__unknown_name__refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
