/* Set files that are wrong: each mistake is found, with file, line and reason. Rule 1.22. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/metric/support.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

/** A small file in order; tests replace one of its lines. Lines are counted from 1. */
static const char *const lines[] = {
    /*  1 */ "format: 1",
    /*  2 */ "symbols:",
    /*  3 */ "  Cores: {from: provider, type: u64}",
    /*  4 */ "  Half: {value: 0.5}",
    /*  5 */ "units:",
    /*  6 */ "  oa: {registers: [[0x100, 0x1ff], 0x300]}",
    /*  7 */ "layouts:",
    /*  8 */ "  - name: plain",
    /*  9 */ "    kind: delta",
    /* 10 */ "    record: 64",
    /* 11 */ "    header:",
    /* 12 */ "      id: {at: 0, width: 32}",
    /* 13 */ "      ticks: {at: 4, width: 32, delta: 32}",
    /* 14 */ "    counters:",
    /* 15 */ "      A: [{n: 4, at: 8, stride: 8, width: 64}]",
    /* 16 */ "      V: [{n: 1, at: 40, width: 32, valid: {field: id, bit: 3}}]",
    /* 17 */ "    identity: [id, ticks]",
    /* 18 */ "    info: []",
    /* 19 */ "sets:",
    /* 20 */ "  - name: first",
    /* 21 */ "    description: d",
    /* 22 */ "    domain: 0",
    /* 23 */ "    unit: oa",
    /* 24 */ "    layout: plain",
    /* 25 */ "    sampling: [time]",
    /* 26 */ "    program:",
    /* 27 */ "      - registers: [[0x100, 1], [0x300, 2]]",
    /* 28 */ "      - select: [X=1]",
    /* 29 */ "        when: $Cores > 2",
    /* 30 */ "    metrics:",
    /* 31 */ "      - name: Time",
    /* 32 */ "        description: d",
    /* 33 */ "        type: duration",
    /* 34 */ "        value_type: u64",
    /* 35 */ "        unit: ns",
    /* 36 */ "        class: exact",
    /* 37 */ "        tier: 2",
    /* 38 */ "        value: ticks * 3 + A[1]",
    /* 39 */ "      - name: Rate",
    /* 40 */ "        description: d",
    /* 41 */ "        type: ratio",
    /* 42 */ "        value_type: f32",
    /* 43 */ "        class: modelled",
    /* 44 */ "        value: f64(Time) * $Half",
};

#define LINE_COUNT (sizeof(lines) / sizeof(lines[0]))

static void build(char *text, size_t size, size_t line, const char *replacement)
{
    size_t used = 0;

    for (size_t i = 0; i < LINE_COUNT; i++) {
        const char *content = i + 1 == line ? replacement : lines[i];

        used += (size_t)snprintf(text + used, size - used, "%s\n", content);
        assert_cmp(used, <, size);
    }
}

static void load(const char *text, struct zeta_diagnostics *sink, uint32_t *out_sets)
{
    struct zeta_catalog *catalog = zeta_catalog_create();

    assert_non_null(catalog);
    (void)zeta_catalog_add_text(catalog, text, strlen(text), "f.yaml", sink);
    (void)zeta_catalog_link(catalog, sink);
    *out_sets = zeta_catalog_set_count(catalog);
    zeta_catalog_destroy(catalog);
}

/** Replaces a line and expects this as the first error. */
static void refuse(size_t line, const char *replacement, const char *expected)
{
    struct zeta_diagnostics sink = {0};
    char text[4096];
    uint32_t sets;

    build(text, sizeof(text), line, replacement);
    load(text, &sink, &sets);
    if (strncmp(sink.first_error, expected, strlen(expected)) != 0)
        fail_msg("%s\nexpected \"%s\", got \"%s\"", replacement, expected, sink.first_error);
    assert_int_equal(sets, 0);
}

/** Replaces a line and expects one warning that starts like this, and a usable set. */
struct warning {
    char text[ZETA_DIAGNOSTIC_BYTES];
};

static void keep_warning(void *context, const struct zeta_diagnostic *diagnostic)
{
    struct warning *warning = context;

    assert_int_equal(diagnostic->severity, ZETA_SEVERITY_WARNING);
    zeta_diagnostic_print(diagnostic, warning->text, sizeof(warning->text));
}

static void warn(size_t line, const char *replacement, const char *expected)
{
    struct warning warning = {""};
    struct zeta_diagnostics sink = {.report = keep_warning, .context = &warning};
    char text[4096];
    uint32_t sets;

    build(text, sizeof(text), line, replacement);
    load(text, &sink, &sets);
    assert_string_equal(sink.first_error, "");
    assert_string_equal(warning.text, expected);
    assert_int_equal(sets, 1);
}

static void load__file_in_order__set_as_written(void **state)
{
    struct zeta_catalog *catalog;
    const struct zeta_set *set;
    char text[4096];

    (void)state;
    build(text, sizeof(text), 0, "");
    catalog = load_text(text);
    assert_int_equal(zeta_catalog_set_count(catalog), 1);
    set = zeta_catalog_set(catalog, 0);
    assert_string_equal(set->name, "first");
    assert_string_equal(set->unit->name, "oa");
    assert_string_equal(set->file, "test.yaml");
    assert_int_equal(set->sampling, ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_TIME_BASED);
    assert_int_equal(set->metric_count, 2);
    assert_string_equal(set->metrics[0].unit, "ns");
    assert_string_equal(set->metrics[1].unit, "");
    assert_int_equal(set->metrics[0].tier, 2);
    assert_int_equal(set->metrics[1].value_type, ZET_VALUE_TYPE_FLOAT32);
    assert_int_equal(set->metrics[1].metric_class, ZETA_CLASS_MODELLED);
    assert_int_equal(set->metrics[1].line, 39);
    assert_null(zeta_catalog_find_set(catalog, "second"));
    assert_int_equal(zeta_catalog_symbol_count(catalog), 2);
    zeta_catalog_destroy(catalog);
}

static void load__broken_yaml__line_and_column(void **state)
{
    (void)state;
    refuse(12, "      id: {at: 0, width: 32", "f.yaml:13:");
    refuse(1, "format: 3", "f.yaml:1:9: format 3 is newer than 2");
    refuse(1, "other: 1", "f.yaml:1:1: a set file needs 'format: 2'");
    refuse(1, "format: x", "f.yaml:1:1: a set file needs 'format: 2'");
}

static void load__unknown_keys__warnings(void **state)
{
    (void)state;
    warn(37, "        colour: red", "f.yaml:37:9: unknown key 'colour' is ignored");
    warn(18, "    colour: red", "f.yaml:18:5: unknown key 'colour' is ignored");
    warn(5, "oddities: []\nunits:", "f.yaml:5:1: unknown key 'oddities' is ignored");
}

static void load__layout_that_does_not_fit__refused(void **state)
{
    (void)state;
    refuse(10, "    record: 66", "f.yaml:10:13: record must be a multiple of 4 bytes");
    refuse(10, "    record: 16", "f.yaml:10:13: record must be an integer from 32 to 4096");
    refuse(10, "    record: -5", "f.yaml:10:13: record must be an integer from 32 to 4096");
    refuse(9, "    kind: sum", "f.yaml:9:11: 'sum' is not one of: delta, sample");
    refuse(13, "      ticks: {at: 62, width: 32}",
           "f.yaml:13:14: field ticks[0] lies outside the record of 64 bytes");
    refuse(13, "      ticks: {at: 64, width: 8}",
           "f.yaml:13:19: at must be an integer from 0 to 63");
    refuse(13, "      ticks: {at: 4, width: 65}",
           "f.yaml:13:29: width must be an integer from 1 to 64");
    refuse(13, "      ticks: {at: 3, width: 32}",
           "f.yaml:13:1: field ticks[0] overlaps id[0] of line 12 at byte 3");
    refuse(13, "      ticks: {at: 4, width: 32, delta: 33}",
           "f.yaml:13:40: delta must be an integer from 1 to 32");
    refuse(13, "      ticks: {in: other, bit: 0, width: 4}",
           "f.yaml:13:14: 'other' is no header field declared before");
    refuse(13, "      ticks: {in: id, bit: 30, width: 4}",
           "f.yaml:13:14: field id has only 32 bits");
    refuse(13, "      ti.cks: {at: 4, width: 32}", "f.yaml:13:15: name 'ti.cks': letters");
    refuse(15, "      A: [{n: 8, at: 8, stride: 8, width: 64}]",
           "f.yaml:15:11: field A[7] lies outside the record of 64 bytes");
    refuse(15, "      A: [{n: 8, at: 8, stride: 4, width: 64}]",
           "f.yaml:15:1: field A[1] overlaps A[0] of line 15 at byte 12");
    refuse(15, "      A: [{n: 4, at: 8, width: 64}]",
           "f.yaml:15:11: a run of 4 counters needs a stride");
    refuse(15, "      A: [{n: 1, at: 8, width: 40, hi: {at: 16, width: 32}}]",
           "f.yaml:15:40: both parts together have 72 bits");
    refuse(15, "      A: [{n: 1, at: 8, width: 32, hi: {at: 4, width: 8}}]",
           "f.yaml:15:1: field A[0] overlaps ticks[0] of line 13 at byte 4");
    refuse(15, "      A: [{n: 1, at: 8, width: 32, hi: {at: 60, width: 40}}]",
           "f.yaml:15:40: both parts");
    refuse(15, "      A: [{n: 1, at: 8, width: 32, type: f64}]",
           "f.yaml:15:11: a field of type f64 has width 64");
    refuse(16, "      V: [{n: 1, at: 40, width: 32, valid: {field: nothing, bit: 3}}]",
           "f.yaml:16:44: valid refers to 'nothing'");
    refuse(16,
           "      V: [{n: 3, at: 40, stride: 4, width: 32, valid: {field: id, bit: 30, step: 1}}]",
           "f.yaml:16:11: field id has no bit 32");
    refuse(17, "    identity: [id, A]", "f.yaml:17:20: identity names integer header fields");
    refuse(17, "    baseline: ticks == nothing", "f.yaml:17:24: unknown name nothing");
    refuse(17, "    baseline: before(ticks) == 1", "f.yaml:17:22: a condition on one record");
    refuse(17, "    baseline: f64(now(id))", "f.yaml:17:15: baseline is a condition of type u64");
    refuse(13, "      ticks: {at: 4, width: 32, rate: 5}",
           "f.yaml:13:39: rate belongs to integers with a difference");
    refuse(13, "      ticks: {at: 4, width: 32, delta: 32, rate: 5.0}",
           "f.yaml:13:50: rate has type u64");
    refuse(15, "      A: [{n: 4, at: 8, stride: 8, width: 64, rate: $Half}]",
           "f.yaml:15:53: rate has type u64");
    refuse(15, "      A: [{n: 4, at: 8, stride: 8, width: 64, rate: ticks}]",
           "f.yaml:15:53: unknown name ticks; only $symbols are known here");
    refuse(8, "  - nam: plain", "f.yaml:8:5: key 'name' is missing");
}

static void load__registers_by_class__refused_if_faulty(void **state)
{
    (void)state;
    refuse(6, "  oa: {registers: 5}", "f.yaml:6:19: registers must be a sequence, not a scalar");
    refuse(6, "  oa: {registers: {a: 5}}",
           "f.yaml:6:23: registers must be a sequence, not a scalar");
    refuse(6, "  oa: {registers: {a: {b: [1]}}}",
           "f.yaml:6:23: registers must be a sequence, not a mapping");
    refuse(6, "  oa: {registers: {a b: [0x100]}}", "f.yaml:6:25: name 'a b': letters");
    refuse(6, "  oa: {registers: {\"\": [0x100]}}", "f.yaml:6:20: a key must not be empty");
    refuse(6, "  oa: {registers: {a: [x]}}", "f.yaml:6:24: registers lists addresses and");
    refuse(6, "  oa: {registers: {a: [[2, 1]]}}", "f.yaml:6:24: registers lists addresses and");
    refuse(6, "  oa: {registers: {a: [0x100000000]}}",
           "f.yaml:6:24: registers lists addresses and");
    refuse(6, "  oa: {registers: {a: [0x100], b: [0x200]}}",
           "f.yaml:27:1: register 0x300 is not among those that programs of unit oa may write");
    refuse(6, "  oa: {registers: {}}",
           "f.yaml:27:1: register 0x100 is not among those that programs of unit oa may write");
    refuse(6, "  oa: {registers: {a: [], b: [0x300]}}",
           "f.yaml:27:1: register 0x100 is not among those that programs of unit oa may write");
}

/** Whatever the order and the nesting of the lists. Rule 26.6. */
static void load__register_of_two_classes__refused(void **state)
{
    (void)state;
    refuse(6, "  oa: {registers: {a: [0x100, 0x300], b: [0x300]}}",
           "f.yaml:6:19: register 0x300 is listed as a and as b");
    refuse(6, "  oa: {registers: {a: [[0x100, 0x1ff], 0x300], b: [[0x1fc, 0x203]]}}",
           "f.yaml:6:19: register 0x1fc is listed as a and as b");
    refuse(6, "  oa: {registers: {b: [[0x120, 0x123]], a: [[0x100, 0x3ff]]}}",
           "f.yaml:6:19: register 0x120 is listed as a and as b");
    refuse(6, "  oa: {registers: {a: [[0x100, 0x3ff], [0x100, 0x10f]], b: [[0x200, 0x203]]}}",
           "f.yaml:6:19: register 0x200 is listed as a and as b");
}

static void load__registers_by_class__each_has_its_own(void **state)
{
    struct zeta_catalog *catalog = zeta_catalog_create();
    const struct zeta_unit *unit;
    char text[4096];

    (void)state;
    build(text, sizeof(text), 6,
          "  oa: {registers: {a: [[0x100, 0x1ff], 0x180], b: [], c: [0x300, [0x200, 0x2ff]]}}");
    assert_int_equal(zeta_catalog_add_text(catalog, text, strlen(text), "f.yaml", NULL),
                     ZE_RESULT_SUCCESS);
    assert_int_equal(zeta_catalog_link(catalog, NULL), ZE_RESULT_SUCCESS);
    unit = zeta_catalog_set(catalog, 0)->unit;
    assert_null(zeta_unit_find_range(unit, 0xff));
    assert_string_equal(zeta_unit_find_range(unit, 0x100)->register_class, "a");
    assert_string_equal(zeta_unit_find_range(unit, 0x180)->register_class, "a");
    assert_string_equal(zeta_unit_find_range(unit, 0x1ff)->register_class, "a");
    assert_string_equal(zeta_unit_find_range(unit, 0x200)->register_class, "c");
    assert_string_equal(zeta_unit_find_range(unit, 0x300)->register_class, "c");
    assert_null(zeta_unit_find_range(unit, 0x301));
    zeta_catalog_destroy(catalog);
}

static void load__registers_without_class__have_none(void **state)
{
    struct zeta_catalog *catalog = zeta_catalog_create();
    char text[4096];

    (void)state;
    build(text, sizeof(text), 0, "");
    assert_int_equal(zeta_catalog_add_text(catalog, text, strlen(text), "f.yaml", NULL),
                     ZE_RESULT_SUCCESS);
    assert_int_equal(zeta_catalog_link(catalog, NULL), ZE_RESULT_SUCCESS);
    assert_null(zeta_unit_find_range(zeta_catalog_set(catalog, 0)->unit, 0x300)->register_class);
    zeta_catalog_destroy(catalog);
}

static void load__set_with_faulty_members__refused(void **state)
{
    (void)state;
    refuse(20, "  - name: fir.st", "f.yaml:20:11: name 'fir.st': letters");
    refuse(20, "  - name: fir st", "f.yaml:20:11: name 'fir st': letters");
    refuse(22, "    domain: many", "f.yaml:22:13: domain must be an integer from 0 to 1023");
    refuse(23, "    unit: other", "f.yaml:23:11: unknown unit 'other'");
    refuse(24, "    layout: other", "f.yaml:24:13: unknown or faulty layout 'other'");
    refuse(25, "    sampling: [times]", "f.yaml:25:16: 'times' is not one of: time, event");
    refuse(25, "    sampling: []", "f.yaml:25:15: sampling needs at least one type");
    refuse(27, "      - registers: [[0x100, 1], [0x200, 2]]",
           "f.yaml:27:1: register 0x200 is not among those that programs of unit oa may write");
    refuse(27, "      - registers: [[0x100]]",
           "f.yaml:27:21: a register is written as [address, value]");
    refuse(27, "      - {registers: [], select: []}",
           "f.yaml:27:9: a part of a program has either");
    refuse(29, "        when: $Nothing > 2", "f.yaml:29:15: unknown symbol $Nothing");
    refuse(29, "        when: ticks > 2", "f.yaml:29:15: unknown name ticks; only $symbols");
    refuse(29, "        when: $Half", "f.yaml:29:15: a condition has type u64");
    refuse(30, "    measures:", "f.yaml:20:5: key 'metrics' is missing");
}

static void load__faulty_metric__refused(void **state)
{
    (void)state;
    refuse(31, "      - name: Ti,me", "f.yaml:31:15: name 'Ti,me': letters");
    refuse(31, "      - name: 7up", "f.yaml:31:15: name '7up': letters");
    refuse(31, "      - name: Rate", "f.yaml:39:1: metric Rate is already declared in f.yaml:31");
    refuse(31, "      - name: ticks", "f.yaml:31:1: metric ticks has the name of a header field");
    refuse(32, "", "f.yaml:31:9: key 'description' is missing");
    refuse(33, "        type: length", "f.yaml:33:15: 'length' is not one of: duration, event");
    refuse(34, "        value_type: i32",
           "f.yaml:34:21: 'i32' is not one of: u32, u64, f32, f64, bool8");
    refuse(36, "        class: guessed",
           "f.yaml:36:16: 'guessed' is not one of: exact, simulated, modelled");
    refuse(37, "        tier: 5", "f.yaml:37:15: tier must be an integer from 1 to 4");
    refuse(38, "        value: ticks * 3 + A[4]",
           "f.yaml:38:28: A[4] does not exist, layout plain has 4");
    refuse(38, "        value: ticks * 3 + B[0]", "f.yaml:38:28: layout plain has no counters B");
    refuse(38, "        value: tick", "f.yaml:38:16: unknown name tick");
    refuse(38, "        value: delta(id)", "f.yaml:38:22: field id is not declared with a delta");
    refuse(38, "        value: ticks * 3.5", "f.yaml:38:22: '*' has u64 on its left and f64");
    refuse(38, "        value: (ticks", "f.yaml:38:22: ')' is expected");
    refuse(38, "        value: \"(ticks\"", "f.yaml:38:23: ')' is expected");
    refuse(38, "        value: now(Rate)", "f.yaml:38:20: Rate is a metric, not a field");
    refuse(38, "        value: V[0]",
           "f.yaml:31:1: metric Time uses a field that can be invalid, so its value type");
    refuse(35, "        max: V[0]",
           "f.yaml:31:1: metric Time uses a field that can be invalid, so its value type");
}

static void load__cycles_between_metrics__refused(void **state)
{
    (void)state;
    refuse(38, "        value: u64(Rate)", "f.yaml:44:20: metric Time depends on itself");
    refuse(38, "        value: Time + 1", "f.yaml:38:16: metric Time depends on itself");
}

static void load__chain_of_metrics_too_long__refused(void **state)
{
    struct zeta_diagnostics sink = {0};
    char text[8192];
    size_t used;
    uint32_t sets;

    (void)state;
    build(text, sizeof(text), 0, "");
    used = strlen(text);
    for (int i = 0; i < 20; i++)
        used += (size_t)snprintf(text + used, sizeof(text) - used,
                                 "      - {name: M%d, description: d, type: raw, value_type: u64, "
                                 "class: exact, value: M%d}\n",
                                 i, i + 1);
    (void)snprintf(text + used, sizeof(text) - used,
                   "      - {name: M20, description: d, type: raw, value_type: u64, class: exact, "
                   "value: ticks}\n");
    load(text, &sink, &sets);
    assert_non_null(strstr(sink.first_error, "more than 16 metrics that refer to each other"));
    assert_int_equal(sets, 0);
}

static void load__sample_layout__no_deltas(void **state)
{
    struct zeta_diagnostics sink = {0};
    static const char text[] =
        "format: 1\nunits: {u: {}}\nlayouts:\n  - name: l\n    kind: sample\n    record: 32\n"
        "    header: {ip: {at: 0, width: 64}}\nsets:\n"
        "  - {name: s, description: d, domain: 0, unit: u, layout: l, sampling: [time],\n"
        "     metrics: [{name: M, description: d, type: ip, value_type: u64, class: exact,\n"
        "       value: before(ip)}]}\n";
    uint32_t sets;

    (void)state;
    load(text, &sink, &sets);
    assert_string_equal(sink.first_error,
                        "f.yaml:11:22: layout l has no earlier record, only now(ip)");
}

static void load__several_files__any_order_and_duplicates_found(void **state)
{
    static const char set[] =
        "format: 1\nsets:\n"
        "  - {name: s, description: d, domain: 1, unit: u, layout: l, sampling: [time],\n"
        "     metrics: [{name: M, description: d, type: raw, value_type: u64, class: exact,\n"
        "       value: $N}]}\n";
    static const char rest[] = "format: 1\nsymbols: {N: {value: 4}}\nunits: {u: {}}\nlayouts:\n"
                               "  - {name: l, kind: delta, record: 32}\n";
    struct zeta_catalog *catalog = zeta_catalog_create();
    struct zeta_diagnostics sink = {0};

    (void)state;
    assert_int_equal(zeta_catalog_add_text(catalog, set, strlen(set), "a", &sink), 0);
    assert_int_equal(zeta_catalog_add_text(catalog, rest, strlen(rest), "b", &sink), 0);
    assert_int_equal(zeta_catalog_link(catalog, &sink), ZE_RESULT_SUCCESS);
    assert_int_equal(zeta_catalog_set_count(catalog), 1);
    zeta_catalog_destroy(catalog);

    catalog = zeta_catalog_create();
    (void)zeta_catalog_add_text(catalog, set, strlen(set), "a", &sink);
    (void)zeta_catalog_add_text(catalog, set, strlen(set), "a2", &sink);
    (void)zeta_catalog_add_text(catalog, rest, strlen(rest), "b", &sink);
    assert_int_equal(zeta_catalog_link(catalog, &sink), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    assert_string_equal(sink.first_error, "a2:3:1: set s is already declared in a:3");
    assert_int_equal(zeta_catalog_set_count(catalog), 1);
    zeta_catalog_destroy(catalog);

    sink = (struct zeta_diagnostics){0};
    catalog = zeta_catalog_create();
    (void)zeta_catalog_add_text(catalog, rest, strlen(rest), "b", &sink);
    (void)zeta_catalog_add_text(catalog, rest, strlen(rest), "c", &sink);
    assert_int_equal(zeta_catalog_link(catalog, &sink), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    assert_string_equal(sink.first_error, "c:2:1: symbol N is already declared in b:2");
    assert_int_equal(sink.count[ZETA_SEVERITY_ERROR], 3);
    zeta_catalog_destroy(catalog);
}

static void load__one_faulty_set__others_stay_usable(void **state)
{
    struct zeta_diagnostics sink = {0};
    char text[8192];
    uint32_t sets;

    (void)state;
    build(text, sizeof(text), 0, "");
    (void)snprintf(text + strlen(text), sizeof(text) - strlen(text),
                   "  - {name: second, description: d, domain: 0, unit: oa, layout: plain, "
                   "sampling: [time],\n     metrics: [{name: M, description: d, type: raw, "
                   "value_type: u64, class: exact, value: nothing}]}\n");
    load(text, &sink, &sets);
    assert_int_equal(sets, 1);
    assert_int_equal(sink.count[ZETA_SEVERITY_ERROR], 1);
    assert_non_null(strstr(sink.first_error, "unknown name nothing"));
}

static void add_file__missing__says_so(void **state)
{
    struct zeta_catalog *catalog = zeta_catalog_create();
    struct zeta_diagnostics sink = {0};

    (void)state;
    assert_int_equal(zeta_catalog_add_file(catalog, "/nowhere/at/all.yaml", &sink),
                     ZE_RESULT_ERROR_INVALID_ARGUMENT);
    assert_string_equal(sink.first_error,
                        "/nowhere/at/all.yaml: cannot be opened: No such file or directory");
    assert_int_equal(zeta_catalog_add_text(catalog, "", 0, "e", &sink),
                     ZE_RESULT_ERROR_INVALID_ARGUMENT);
    zeta_catalog_destroy(catalog);
}

SUITE(set_load)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(load__file_in_order__set_as_written),
        cmocka_unit_test(load__broken_yaml__line_and_column),
        cmocka_unit_test(load__unknown_keys__warnings),
        cmocka_unit_test(load__layout_that_does_not_fit__refused),
        cmocka_unit_test(load__registers_by_class__refused_if_faulty),
        cmocka_unit_test(load__register_of_two_classes__refused),
        cmocka_unit_test(load__registers_by_class__each_has_its_own),
        cmocka_unit_test(load__registers_without_class__have_none),
        cmocka_unit_test(load__set_with_faulty_members__refused),
        cmocka_unit_test(load__faulty_metric__refused),
        cmocka_unit_test(load__cycles_between_metrics__refused),
        cmocka_unit_test(load__chain_of_metrics_too_long__refused),
        cmocka_unit_test(load__sample_layout__no_deltas),
        cmocka_unit_test(load__several_files__any_order_and_duplicates_found),
        cmocka_unit_test(load__one_faulty_set__others_stay_usable),
        cmocka_unit_test(add_file__missing__says_so),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
