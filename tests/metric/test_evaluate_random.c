/*
 * Random layouts, expressions and data: the evaluator against the slow reference, in every variant
 * that the processor runs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/formula/describe/describe.h"
#include "core/formula/record/layout.h"
#include "tests/metric/support.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

#define CASES 400
#define MAX_TEXT 65536
#define MAX_RECORDS 150

/** A set file that grows. */
struct text {
    char *data;
    size_t used;
};

/** What was made at random, for the expressions to refer to. */
struct made {
    uint64_t seed;
    struct text text;
    bool is_delta;
    unsigned field_count; /**< f0, f1 ... */
    bool field_float[16], field_delta[16];
    unsigned bank_count; /**< A, B ... */
    unsigned bank_size[4];
    bool bank_float[4], bank_valid[4], bank_delta[4];
    unsigned metric_count; /**< M0, M1 ... so far */
    bool metric_float[24], metric_valid[24];
    bool used_valid; /**< the expression uses something that can be invalid */
};

static const struct reference_symbol symbols[] = {
    {"Small", {ZETA_EXPR_U64, {.u64 = 3}}},
    {"Big", {ZETA_EXPR_U64, {.u64 = UINT64_C(0xfedcba9876543210)}}},
    {"Zero", {ZETA_EXPR_U64, {.u64 = 0}}},
    {"Real", {ZETA_EXPR_F64, {.f64 = 0.37}}},
    {NULL, {0}},
};

static void add(struct made *made, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void add(struct made *made, const char *format, ...)
{
    va_list arguments;
    int length;

    va_start(arguments, format);
    length =
        vsnprintf(made->text.data + made->text.used, MAX_TEXT - made->text.used, format, arguments);
    va_end(arguments);
    assert_cmp(length, >=, 0);
    assert_cmp((size_t)length, <, MAX_TEXT - made->text.used);
    made->text.used += (size_t)length;
}

static unsigned pick(struct made *made, unsigned count)
{
    return count > 0 ? (unsigned)(next_random(&made->seed) >> 33) % count : 0;
}

/** Header fields at random widths and bits, one behind the other; returns the first free bit. */
static unsigned make_header(struct made *made)
{
    unsigned bit = 0;

    add(made, "    header:\n");
    made->field_count = 2 + pick(made, 8);
    for (unsigned i = 0; i < made->field_count; i++) {
        unsigned width = i == 0 ? 64 : 1 + pick(made, 64);

        made->field_float[i] = i > 1 && pick(made, 6) == 0;
        made->field_delta[i] = made->is_delta && i > 0 && pick(made, 2) == 0;
        if (made->field_float[i])
            width = 64;
        if (pick(made, 2) == 0)
            bit = (bit + 31) / 32 * 32;
        if (bit % 8 + width > 64 && pick(made, 2) == 0)
            bit = (bit + 7) / 8 * 8;
        add(made, "      f%u: {at: %u, bit: %u, width: %u%s", i, bit / 8, bit % 8, width,
            made->field_float[i] ? ", type: f64" : "");
        if (made->field_delta[i] && !made->field_float[i] && pick(made, 2) == 0)
            add(made, ", delta: %u", 1 + pick(made, width));
        else if (made->field_delta[i])
            add(made, ", delta: true");
        add(made, "}\n");
        bit += width;
        if (width >= 3 && !made->field_float[i] && pick(made, 3) == 0)
            add(made, "      part%u: {in: f%u, bit: 1, width: %u}\n", i, i,
                1 + pick(made, width - 2));
    }
    return bit;
}

/** A run of counters behind bit; returns the first free bit. */
static unsigned make_run(struct made *made, unsigned bank, unsigned n, unsigned bit)
{
    unsigned kind = pick(made, 6);
    unsigned width = 1 + pick(made, 64);
    unsigned high = 0;
    unsigned stride;

    if (made->bank_float[bank] || kind == 0)
        width = 64;
    else if (kind < 3)
        width = 32;
    if (!made->bank_float[bank] && width < 60 && kind % 2 == 0)
        high = 1 + pick(made, 64 - width < 24 ? 64 - width : 24);
    if (kind < 4)
        bit = (bit + 31) / 32 * 32;
    stride = kind < 4 ? (width + 31) / 32 * 32 : width + pick(made, 3);
    add(made, "        - {n: %u, at: %u, bit: %u, stride_bits: %u, width: %u", n, bit / 8, bit % 8,
        stride, width);
    bit += stride * n;
    if (high > 0) {
        unsigned high_stride = pick(made, 2) == 0 && high <= 8 ? 8 : high + pick(made, 2);

        bit = (bit + 7) / 8 * 8;
        add(made, ", hi: {at: %u, stride_bits: %u, width: %u}", bit / 8, high_stride, high);
        bit += high_stride * n;
    }
    if (made->bank_float[bank])
        add(made, ", type: f64");
    else if (made->is_delta && made->bank_delta[bank] && pick(made, 3) == 0)
        add(made, ", delta: %u", 1 + pick(made, width + high));
    if (made->is_delta && !made->bank_delta[bank])
        add(made, ", delta: false");
    if (made->bank_valid[bank])
        add(made, ", valid: {field: f0, bit: %u, step: 1}", pick(made, 32));
    add(made, "}\n");
    return bit;
}

static void make_layout(struct made *made)
{
    static const char *const baselines[] = {"now(f0) % 7 == 0", "(f1 & 3) == 3 && $Small == 3",
                                            "$Zero != 0"};
    char *record;
    size_t record_at;
    unsigned bit;

    made->is_delta = pick(made, 4) != 0;
    add(made, "layouts:\n  - name: l\n    kind: %s\n", made->is_delta ? "delta" : "sample");
    record_at = made->text.used;
    add(made, "    record: 0000\n");
    bit = make_header(made);
    made->bank_count = 1 + pick(made, 4);
    add(made, "    counters:\n");
    for (unsigned bank = 0; bank < made->bank_count; bank++) {
        made->bank_float[bank] = pick(made, 5) == 0;
        made->bank_valid[bank] = pick(made, 5) == 0;
        made->bank_delta[bank] = pick(made, 5) != 0;
        add(made, "      %c:\n", 'A' + (int)bank);
        for (unsigned run = 1 + pick(made, 2); run > 0; run--) {
            unsigned n = 1 + pick(made, 12);

            bit = make_run(made, bank, n, bit);
            made->bank_size[bank] += n;
        }
    }
    if (pick(made, 2) == 0)
        add(made, "    identity: [f0, f1]\n");
    if (pick(made, 3) == 0)
        add(made, "    baseline: \"%s\"\n", baselines[pick(made, 3)]);
    /* A little room at the end of some records. */
    bit = ((bit + 31) / 32 + pick(made, 4)) * 4;
    record = made->text.data + record_at + strlen("    record: ");
    bit = bit < 32 ? 32 : bit;
    for (unsigned place = 4; place-- > 0 && bit > 0; bit /= 10)
        record[place] = (char)('0' + bit % 10);
    for (unsigned place = 0; record[place] == '0'; place++)
        record[place] = ' ';
}

static void make_expr(struct made *made, bool is_float, unsigned depth);

static void make_field(struct made *made, bool is_float)
{
    static const char *const views[] = {"delta", "now", "before"};
    unsigned i;

    for (unsigned attempt = 0; attempt < 8; attempt++) {
        bool bank = pick(made, 4) != 0;
        bool has_delta;
        unsigned view = pick(made, 4);

        i = pick(made, bank ? made->bank_count : made->field_count);
        if ((bank ? made->bank_float[i] : made->field_float[i]) != is_float)
            continue;
        has_delta = bank ? made->bank_delta[i] : made->field_delta[i];
        if (!made->is_delta)
            view = view < 3 ? 1 : 3;
        else if (view == 0 && !has_delta)
            view = 1;
        if (view < 3)
            add(made, "%s(", views[view]);
        if (bank) {
            add(made, "%c[%u]", 'A' + (int)i, pick(made, made->bank_size[i]));
            made->used_valid = made->used_valid || made->bank_valid[i];
        } else {
            add(made, "f%u", i);
        }
        if (view < 3)
            add(made, ")");
        return;
    }
    add(made, is_float ? "$Real" : "$Small");
}

static void make_literal(struct made *made, bool is_float)
{
    static const char *const integers[] = {"0",          "1",
                                           "2",          "63",
                                           "64",         "100",
                                           "0xffffffff", "4503599627370496",
                                           "1000000000", "18446744073709551615"};
    static const char *const reals[] = {"0.0",   "1.0",    "100.0",  "0.5",
                                        "1e300", "1e-300", "2.5e18", "3."};

    if (is_float)
        add(made, "%s", reals[pick(made, 8)]);
    else
        add(made, "%s", integers[pick(made, 10)]);
}

static void make_leaf(struct made *made, bool is_float)
{
    static const char *const names[] = {"$Small", "$Big", "$Zero"};
    unsigned metric;

    switch (pick(made, 8)) {
    case 0:
        make_literal(made, is_float);
        return;
    case 1:
        add(made, "%s", is_float ? "$Real" : names[pick(made, 3)]);
        return;
    case 2:
        metric = made->metric_count ? pick(made, made->metric_count) : 0;
        if (made->metric_count && made->metric_float[metric] == is_float) {
            add(made, "M%u", metric);
            made->used_valid = made->used_valid || made->metric_valid[metric];
            return;
        }
        make_field(made, is_float);
        return;
    default:
        make_field(made, is_float);
    }
}

static void make_call(struct made *made, const char *name, unsigned count, bool is_float,
                      unsigned depth)
{
    add(made, "%s(", name);
    for (unsigned i = 0; i < count; i++) {
        add(made, "%s", i ? ", " : "");
        make_expr(made, is_float, depth - 1);
    }
    add(made, ")");
}

static void make_expr(struct made *made, bool is_float, unsigned depth)
{
    static const char *const integer_ops[] = {"+",  "-",  "*", "/",  "%", "&",  "|",  "^",  "<<",
                                              ">>", "==", "<", "<=", ">", ">=", "&&", "||", "!="};
    static const char *const compare_ops[] = {"==", "!=", "<", "<=", ">", ">="};
    unsigned kind = pick(made, 16);

    if (depth == 0 || kind < 3) {
        make_leaf(made, is_float);
    } else if (kind == 3) {
        make_call(made, is_float ? "f64" : "u64", 1, pick(made, 2) == 0, depth);
    } else if (kind == 4) {
        make_call(made, pick(made, 2) ? "min" : "max", 2, is_float, depth);
    } else if (kind == 5 && !is_float) {
        make_call(made, "muldiv", 3, false, depth);
    } else if (kind == 6) {
        add(made, "(");
        make_expr(made, false, depth - 1);
        add(made, " ? ");
        make_expr(made, is_float, depth - 1);
        add(made, " : ");
        make_expr(made, is_float, depth - 1);
        add(made, ")");
    } else if (kind == 7) {
        add(made, "%s(", is_float ? "-" : pick(made, 3) == 0 ? "-" : pick(made, 2) ? "~" : "!");
        make_expr(made, is_float, depth - 1);
        add(made, ")");
    } else {
        bool compare = !is_float && kind == 8;
        bool of_floats = is_float || compare;

        add(made, "(");
        make_expr(made, of_floats, depth - 1);
        add(made, " %s ",
            compare    ? compare_ops[pick(made, 6)]
            : is_float ? integer_ops[pick(made, 4)]
                       : integer_ops[pick(made, 18)]);
        make_expr(made, of_floats, depth - 1);
        add(made, ")");
    }
}

static void make_set(struct made *made)
{
    static const char *const types[] = {"u32", "u64", "bool8", "f32", "f64"};
    unsigned count = 1 + pick(made, 24);

    add(made, "sets:\n  - {name: s, description: d, domain: 0, unit: u, layout: l, sampling: "
              "[time],\n     metrics: [\n");
    for (unsigned i = 0; i < count; i++) {
        const char *type;
        size_t type_at;
        bool has_max = pick(made, 3) == 0;

        add(made,
            "      {name: M%u, description: d, type: raw, class: exact, unit: %s, value_type: ", i,
            pick(made, 4) == 0 ? "percent" : "events");
        type_at = made->text.used;
        add(made, "     , value: \"");
        made->used_valid = false;
        made->metric_float[i] = pick(made, 2) == 0;
        make_expr(made, made->metric_float[i], 1 + pick(made, 4));
        made->metric_valid[i] = made->used_valid;
        add(made, "\"");
        if (has_max) {
            add(made, ", max: \"");
            make_expr(made, pick(made, 2) == 0, 2);
            add(made, "\"");
        }
        add(made, "},\n");
        type = types[made->used_valid ? 3 + pick(made, 2) : pick(made, 5)];
        for (size_t letter = 0; letter < 3; letter++)
            made->text.data[type_at + letter] = type[letter];
        made->metric_count = i + 1;
    }
    add(made, "     ]}\n");
}

/** "bool8" has five letters, the other types three: the third place decides which it is. */
static void finish_types(struct made *made)
{
    static const char cut[] = "value_type: boo";

    for (char *at = made->text.data; (at = strstr(at, cut)) != NULL; at++) {
        at[sizeof(cut) - 1] = 'l';
        at[sizeof(cut)] = '8';
    }
}

/** Raw data of several kinds: noise, small steps, repeated records, control slots, padding. */
static size_t make_data(struct made *made, unsigned char *raw, size_t record_bytes)
{
    unsigned slots = pick(made, MAX_RECORDS);
    unsigned mode = pick(made, 3);

    for (unsigned i = 0; i < slots; i++) {
        unsigned char *slot = raw + i * record_bytes;
        struct zeta_slot_control control = {.kind = (enum zeta_slot_kind)(1 + pick(made, 3)),
                                            .value = pick(made, 2),
                                            .lost_records = pick(made, 9)};
        unsigned what = pick(made, 40);

        if (what == 0) {
            zeta_slot_write(&control, slot, record_bytes);
        } else if (what == 1) {
            memset(slot, 0, record_bytes);
        } else if (what < 5 && i > 0) {
            memcpy(slot, slot - record_bytes, record_bytes);
        } else if (mode == 0 || i == 0) {
            for (size_t byte = 0; byte < record_bytes; byte++)
                slot[byte] = (unsigned char)pick(made, 256);
        } else {
            memcpy(slot, slot - record_bytes, record_bytes);
            for (unsigned step = 0; step < 12; step++)
                slot[pick(made, (unsigned)record_bytes)] += (unsigned char)pick(made, 4);
        }
    }
    /* Sometimes a last slot that is not complete. */
    return slots * record_bytes + (pick(made, 2) == 0 ? pick(made, (unsigned)record_bytes) : 0);
}

struct comparison {
    const struct made *made;
    const struct zeta_catalog *catalog;
    const struct zeta_compiled *compiled;
    const unsigned char *raw;
    size_t raw_bytes;
    bool maximum;
    uint32_t tile;
    size_t expected_count;
    bool expected_dropped;
    const zet_typed_value_t *expected;
    zet_typed_value_t *values;
    size_t room;
};

static void compare(void *context)
{
    const struct comparison *c = context;
    struct zeta_evaluation evaluation;
    struct zeta_evaluation rows;
    const zet_metric_group_calculation_type_t type =
        c->maximum ? ZET_METRIC_GROUP_CALCULATION_TYPE_MAX_METRIC_VALUES
                   : ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES;

    memset(c->values, 0xee, c->room * sizeof(*c->values));
    assert_int_equal(zeta_evaluate(c->compiled, type, c->tile, 0, c->raw, c->raw_bytes, c->values,
                                   (uint32_t)c->room, &evaluation),
                     ZE_RESULT_SUCCESS);
    for (size_t i = 0; i < c->expected_count && i < evaluation.value_count; i++) {
        char got[64];
        char expected[64];

        if (same_value(&c->values[i], &c->expected[i]))
            continue;
        print_value(&c->values[i], got, sizeof(got));
        print_value(&c->expected[i], expected, sizeof(expected));
        print_error("%s\n", c->made->text.data);
        fail_msg("%s: row %zu, metric %zu: %s instead of %s", zeta_evaluate_variant(),
                 i / zeta_compiled_metric_count(c->compiled),
                 i % zeta_compiled_metric_count(c->compiled), got, expected);
    }
    if (evaluation.value_count != c->expected_count || evaluation.dropped != c->expected_dropped)
        print_error("%s\n", c->made->text.data);
    assert_int_equal(evaluation.value_count, c->expected_count);
    assert_int_equal(evaluation.dropped, c->expected_dropped);
    assert_true(evaluation.complete);
    assert_int_equal(zeta_evaluate_rows(c->compiled, c->tile, 0, c->raw, c->raw_bytes, &rows),
                     ZE_RESULT_SUCCESS);
    assert_int_equal(rows.row_count * zeta_compiled_metric_count(c->compiled), c->expected_count);
    assert_cmp(zeta_evaluate_count(c->compiled, c->raw_bytes), >=, c->expected_count);
}

/** Compiles the set from its canonical text, which is its own canonical text. */
static struct zeta_compiled *compile_again(const struct zeta_compiled *compiled,
                                           struct zeta_catalog **out_catalog)
{
    static const struct reference_symbol none[] = {{NULL, {0}}};
    struct zeta_text text = {0};
    struct zeta_text again = {0};
    struct zeta_compiled *copy;

    assert_int_equal(zeta_describe_set(compiled, &text), ZE_RESULT_SUCCESS);
    *out_catalog = load_text(zeta_text_get(&text));
    copy = compile_set(*out_catalog, "s", none);
    assert_int_equal(zeta_describe_set(copy, &again), ZE_RESULT_SUCCESS);
    assert_string_equal(zeta_text_get(&text), zeta_text_get(&again));
    zeta_text_finish(&text);
    zeta_text_finish(&again);
    return copy;
}

static void run_case(uint64_t seed)
{
    struct made made = {.seed = seed};
    struct zeta_catalog *catalog;
    struct zeta_catalog *catalog_again;
    struct zeta_compiled *compiled;
    struct zeta_compiled *copy;
    unsigned char *raw;
    zet_typed_value_t *expected;
    size_t raw_bytes;
    size_t room;

    made.text.data = calloc(1, MAX_TEXT);
    assert_non_null(made.text.data);
    add(&made, "format: 1\nsymbols:\n  Small: {value: 3}\n  Big: {from: provider, type: u64}\n"
               "  Zero: {from: provider, type: u64}\n  Real: {value: 0.37}\nunits: {u: {}}\n");
    make_layout(&made);
    make_set(&made);
    finish_types(&made);
    catalog = load_text(made.text.data);
    compiled = compile_set(catalog, "s", symbols);
    copy = compile_again(compiled, &catalog_again);

    raw = malloc(MAX_RECORDS * (size_t)zeta_compiled_record_bytes(compiled));
    assert_non_null(raw);
    raw_bytes = make_data(&made, raw, zeta_compiled_record_bytes(compiled));
    room = zeta_evaluate_count(compiled, raw_bytes) + 1;
    expected = calloc(room * 2, sizeof(*expected));
    assert_non_null(expected);
    for (unsigned i = 0; i < 3; i++) {
        struct comparison c = {&made, catalog, compiled, raw,      raw_bytes,       i == 1,
                               i / 2, 0,       false,    expected, expected + room, room};

        c.expected_count = reference_evaluate(catalog, compiled, symbols, c.maximum, c.tile, raw,
                                              raw_bytes, expected, room, &c.expected_dropped);
        assert_cmp(c.expected_count, <, room);
        for_each_variant(compare, &c);
        c.compiled = copy;
        compare(&c);
    }
    free(expected);
    free(raw);
    zeta_compiled_destroy(copy);
    zeta_catalog_destroy(catalog_again);
    zeta_compiled_destroy(compiled);
    zeta_catalog_destroy(catalog);
    free(made.text.data);
}

/* Rules 14.13, 16.10. */
static void evaluate__random_sets_and_data__as_reference(void **state)
{
    (void)state;
    for (uint64_t i = 1; i <= CASES; i++)
        run_case(i * UINT64_C(0x9e3779b97f4a7c15) + 1);
}

SUITE(evaluate_random)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(evaluate__random_sets_and_data__as_reference),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
