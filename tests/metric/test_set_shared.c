/* What sets have in common: shared metrics, sets on several units, uuids, files all or nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/formula/describe/describe.h"
#include "tests/metric/support.h"
#include "tests/support/suite.h"

#define BASE                                                                                       \
    "format: 1\nunits: {u: {}, v: {}}\nsymbols: {Units: {from: provider, type: u64}}\n"            \
    "layouts:\n"                                                                                   \
    "  - name: wide\n    kind: delta\n    record: 64\n    header: {ticks: {at: 0, width: 32, "     \
    "delta: 32}}\n    counters: {A: [{n: 2, at: 8, stride: 8, width: 64}]}\n"                      \
    "  - name: narrow\n    kind: delta\n    record: 32\n    header: {ticks: {at: 4, width: 32, "   \
    "delta: 32}}\n    counters: {A: [{n: 2, at: 16, stride: 4, width: 32}]}\n"
#define META "description: d, type: raw, value_type: u64, class: exact"
#define SET_OF(name, layout, more, metrics)                                                        \
    "  - {name: " name ", description: d, domain: 0, unit: u, layout: " layout                     \
    ", sampling: [time], " more "metrics: [" metrics "]}\n"
#define SET(name, layout, metrics) SET_OF(name, layout, "", metrics)

/** Findings of one loading, a line each. */
struct findings {
    char text[2048];
};

static void keep(void *context, const struct zeta_diagnostic *diagnostic)
{
    struct findings *findings = context;
    size_t used = strlen(findings->text);
    char line[ZETA_DIAGNOSTIC_BYTES];

    zeta_diagnostic_print(diagnostic, line, sizeof(line));
    (void)snprintf(findings->text + used, sizeof(findings->text) - used, "%s\n", line);
}

/** A linked catalog of BASE and up to two more files, b.yaml and c.yaml. */
static struct zeta_catalog *load(const char *b, const char *c, struct findings *findings)
{
    struct zeta_diagnostics sink = {.report = keep, .context = findings};
    struct zeta_catalog *catalog = zeta_catalog_create();

    assert_non_null(catalog);
    findings->text[0] = '\0';
    (void)zeta_catalog_add_text(catalog, b, strlen(b), "b.yaml", &sink);
    if (c)
        (void)zeta_catalog_add_text(catalog, c, strlen(c), "c.yaml", &sink);
    (void)zeta_catalog_add_text(catalog, BASE, strlen(BASE), "a.yaml", &sink);
    (void)zeta_catalog_link(catalog, &sink);
    return catalog;
}

static struct zeta_catalog *load_good(const char *b, const char *c)
{
    struct findings findings;
    struct zeta_catalog *catalog = load(b, c, &findings);

    assert_string_equal(findings.text, "");
    return catalog;
}

/** The text is refused with exactly these findings and leaves so many sets. */
static void refuse(const char *b, const char *c, const char *expected, uint32_t sets)
{
    struct findings findings;
    struct zeta_catalog *catalog = load(b, c, &findings);

    assert_string_equal(findings.text, expected);
    assert_int_equal(zeta_catalog_set_count(catalog), sets);
    zeta_catalog_destroy(catalog);
}

static const struct reference_symbol two_units[] = {
    {"Units", {ZETA_EXPR_U64, {.u64 = 2}}},
    {NULL, {0}},
};

/** Value of a metric in the row between two records; the first counter counts 5, the second 7. */
static uint64_t value_of(const struct zeta_catalog *catalog, const char *set, const char *metric)
{
    struct zeta_compiled *compiled = compile_set(catalog, set, two_units);
    uint32_t raw[32] = {0};
    const uint32_t words = zeta_compiled_record_bytes(compiled) / 4;
    const bool wide = words == 16;
    zet_typed_value_t values[16];
    struct zeta_evaluation result;
    uint64_t value = UINT64_MAX;

    raw[words + (wide ? 0 : 1)] = 3;
    raw[words + (wide ? 2 : 4)] = 5;
    raw[words + (wide ? 4 : 5)] = 7;
    raw[0] = raw[1] = 1;
    raw[words + (wide ? 0 : 1)] += 1;
    assert_int_equal(zeta_evaluate(compiled, ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES, 0, 0,
                                   raw, (size_t)words * 8, values, 16, &result),
                     ZE_RESULT_SUCCESS);
    assert_int_equal(result.row_count, 1);
    for (uint32_t i = 0; i < zeta_compiled_metric_count(compiled); i++) {
        if (strcmp(zeta_compiled_metric(compiled, i)->name, metric) == 0)
            value = values[i].value.ui64;
    }
    zeta_compiled_destroy(compiled);
    return value;
}

/* Rule 10.13. */
static void shared__in_sets_of_different_layouts__each_its_own_meaning(void **state)
{
    /* Sum refers to a metric that one set defines and the other shares. */
    struct zeta_catalog *catalog =
        load_good("format: 1\nmetrics:\n"
                  "  First: {" META ", value: \"A[0]\"}\n"
                  "  Sum: {" META ", value: \"First + A[1]\", max: \"2 * First\"}\n"
                  "sets:\n" SET("one", "wide", "Sum, First")
                      SET("two", "narrow",
                          "{name: Own, " META ", value: \"1\"}, {name: First, " META
                          ", value: \"100\"}, Sum"),
                  NULL);

    (void)state;
    assert_int_equal(value_of(catalog, "one", "First"), 5);
    assert_int_equal(value_of(catalog, "one", "Sum"), 12);
    assert_int_equal(value_of(catalog, "two", "First"), 100);
    assert_int_equal(value_of(catalog, "two", "Sum"), 107);
    assert_string_equal(zeta_catalog_find_set(catalog, "one")->metrics[0].name, "Sum");
    assert_string_equal(zeta_catalog_find_set(catalog, "two")->metrics[2].name, "Sum");
    zeta_catalog_destroy(catalog);
}

/* Rule 10.13. */
static void shared__of_another_file__found_in_any_order(void **state)
{
    static const char definitions[] = "format: 1\nmetrics:\n  M: {" META ", value: \"A[1]\"}\n";
    static const char sets[] = "format: 1\nsets:\n" SET("s", "wide", "M");

    (void)state;
    for (int order = 0; order < 2; order++) {
        struct zeta_catalog *catalog =
            load_good(order ? sets : definitions, order ? definitions : sets);

        assert_int_equal(value_of(catalog, "s", "M"), 7);
        zeta_catalog_destroy(catalog);
    }
}

static void shared__key_and_name_differ__name_is_the_metrics(void **state)
{
    struct zeta_catalog *catalog =
        load_good("format: 1\nmetrics:\n"
                  "  M-wide: {name: M, " META ", value: \"A[0]\"}\n"
                  "  M-narrow: {name: M, " META ", value: \"A[1]\"}\n"
                  "sets:\n" SET("one", "wide", "M-wide") SET("two", "narrow", "M-narrow"),
                  NULL);

    (void)state;
    assert_int_equal(value_of(catalog, "one", "M"), 5);
    assert_int_equal(value_of(catalog, "two", "M"), 7);
    zeta_catalog_destroy(catalog);
    refuse(
        "format: 1\nmetrics:\n  M-wide: {" META ", value: 1}\n", NULL,
        "b.yaml:3:11: name 'M-wide': letters, digits and underscores are allowed, no comma, dot, "
        "colon or blank, and no digit at the start\n",
        0);
}

/* Rule 10.13. */
static void shared__unused__may_mean_nothing(void **state)
{
    struct zeta_catalog *catalog =
        load_good("format: 1\nmetrics:\n  X: {" META ", value: \"Nowhere[3] + $None\"}\n"
                  "sets:\n" SET("s", "wide", "{name: M, " META ", value: 4}"),
                  NULL);

    (void)state;
    assert_int_equal(value_of(catalog, "s", "M"), 4);
    zeta_catalog_destroy(catalog);
}

static void shared__condition_and_maximum__are_of_each_use(void **state)
{
    struct zeta_catalog *catalog = load_good(
        "format: 1\nmetrics:\n  X: {" META ", when: $Units > 2, value: 1, max: \"A[0]\"}\n"
        "  Y: {" META ", when: $Units > 1, value: 2, max: \"A[1]\"}\n"
        "sets:\n" SET("s", "wide", "X, Y") SET("t", "narrow", "Y, X"),
        NULL);

    (void)state;
    assert_int_equal(value_of(catalog, "s", "X"), UINT64_MAX);
    assert_int_equal(value_of(catalog, "s", "Y"), 2);
    assert_int_equal(value_of(catalog, "t", "Y"), 2);
    zeta_catalog_destroy(catalog);
}

static void shared__unknown_key__error_at_its_use(void **state)
{
    (void)state;
    refuse("format: 1\nsets:\n" SET("bad", "wide", "M")
               SET("good", "wide", "{name: M, " META ", value: 4}"),
           NULL,
           "b.yaml:3:95: unknown shared metric 'M'; such metrics are declared under 'metrics' at "
           "the top of a set file\n",
           1);
}

/* Rule 10.13. */
static void shared__declared_twice__error_names_both_places(void **state)
{
    static const char definition[] = "format: 1\nmetrics:\n  M: {" META ", value: 1}\n";

    (void)state;
    refuse(definition, definition, "c.yaml:3:1: shared metric M is already declared in b.yaml:3\n",
           0);
}

/* Rule 10.13. */
static void shared__wrong_in_a_set__error_names_both_places(void **state)
{
    (void)state;
    refuse("format: 1\nmetrics:\n  M: {" META ", value: \"A[0] + ticks + Other\"}\n",
           "format: 1\nsets:\n" SET("bad", "wide", "M")
               SET("good", "wide", "{name: Other, " META ", value: 4}, M"),
           "b.yaml:3:88: unknown name Other: neither a header field of layout wide nor a metric of "
           "this set\n"
           "c.yaml:3:95: set bad cannot use the shared metric M: see b.yaml:3\n",
           1);
}

static void shared__same_name_twice_in_a_set__refused(void **state)
{
    (void)state;
    refuse("format: 1\nmetrics:\n  M: {" META ", value: 1}\n  N: {name: M, " META ", value: 2}\n"
           "sets:\n" SET("bad", "wide", "M, N") SET("good", "wide", "N"),
           NULL, "b.yaml:6:1: metric M is already declared in b.yaml:6\n", 1);
}

static void shared__in_info_metrics__refused(void **state)
{
    (void)state;
    refuse("format: 1\nmetrics:\n  M: {" META ", value: 1}\n"
           "layouts:\n  - {name: l, kind: sample, record: 64, info: [M]}\n",
           NULL, "b.yaml:5:48: a metric must be a mapping, not a scalar\n", 0);
}

/* Rule 10.14. */
static void also__further_units__same_set_under_other_names(void **state)
{
    struct zeta_catalog *catalog = load_good(
        "format: 1\nmetrics:\n  M: {" META ", value: \"A[1]\"}\n"
        "sets:\n" SET_OF("s", "wide",
                         "uuid: 01234567-89ab-cdef-0123-456789abcdef, when: $Units > 0, "
                         "program: [{select: [x], when: $Units > 1}], "
                         "also: [{name: s_1, unit: v, domain: 2, when: $Units > 1}, "
                         "{name: s_2, unit: v, domain: 1, when: $Units > 2, description: e}], ",
                         "M, {name: N, " META ", value: M + 1}"),
        NULL);
    const struct zeta_set *first = zeta_catalog_find_set(catalog, "s_1");
    const struct zeta_set *second = zeta_catalog_find_set(catalog, "s_2");
    const struct zeta_symbol_lookup lookup = lookup_of(two_units);
    struct zeta_compiled *compiled = NULL;
    const struct zeta_program_entry *entries;

    (void)state;
    assert_int_equal(zeta_catalog_set_count(catalog), 3);
    assert_string_equal(first->unit->name, "v");
    assert_string_equal(first->description, "d");
    assert_string_equal(first->uuid, "01234567-89ab-cdef-0123-456789abcdef");
    assert_int_equal(first->domain, 2);
    assert_int_equal(second->domain, 1);
    assert_string_equal(second->description, "e");
    assert_int_equal(value_of(catalog, "s", "N"), 8);
    assert_int_equal(value_of(catalog, "s_1", "N"), 8);
    /* Both conditions count; the program has its own. */
    assert_int_equal(zeta_set_compile(catalog, second, &lookup, NULL, &compiled),
                     ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
    compiled = compile_set(catalog, "s_1", two_units);
    assert_int_equal(zeta_compiled_program(compiled, &entries), 1);
    zeta_compiled_destroy(compiled);
    zeta_catalog_destroy(catalog);
}

/* Rule 10.14. */
static void also__condition_of_the_set_false__further_unit_has_none(void **state)
{
    struct zeta_catalog *catalog = load_good(
        "format: 1\nsets:\n" SET_OF("s", "wide",
                                    "when: $Units > 2, also: [{name: t, unit: v, domain: "
                                    "1, when: $Units > 1}, {name: r, unit: v, domain: 1}], ",
                                    "{name: N, " META ", value: 1}"),
        NULL);
    const struct zeta_symbol_lookup lookup = lookup_of(two_units);
    static const char *const names[] = {"s", "t", "r"};

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct zeta_compiled *compiled = NULL;

        assert_int_equal(zeta_set_compile(catalog, zeta_catalog_find_set(catalog, names[i]),
                                          &lookup, NULL, &compiled),
                         ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
    }
    zeta_catalog_destroy(catalog);
}

static void also__wrong__refused(void **state)
{
    (void)state;
    refuse("format: 1\nsets:\n" SET_OF("s", "wide", "also: [{name: t, unit: w, domain: 1}], ",
                                       "{name: N, " META ", value: 1}"),
           NULL, "b.yaml:3:106: unknown unit 'w'; units are declared under 'units'\n", 1);
    refuse("format: 1\nsets:\n" SET_OF("s", "wide", "also: [{name: s, unit: v, domain: 1}], ",
                                       "{name: N, " META ", value: 1}"),
           NULL, "b.yaml:3:1: set s is already declared in b.yaml:3\n", 1);
    refuse("format: 1\nsets:\n" SET_OF("s", "wide", "also: [{name: t}], ",
                                       "{name: N, " META ", value: 1}"),
           NULL,
           "b.yaml:3:90: key 'unit' is missing\n"
           "b.yaml:3:90: key 'domain' is missing\n",
           1);
    refuse("format: 1\nsets:\n" SET_OF("s", "wide", "also: 3, ", "{name: N, " META ", value: 1}"),
           NULL, "b.yaml:3:89: also must be a sequence, not a scalar\n", 1);
}

static void uuid__any_other_form__refused(void **state)
{
    static const char *const wrong[] = {"x",
                                        "\"\"",
                                        "[a]",
                                        "01234567-89ab-cdef-0123-456789abcde",
                                        "01234567-89ab-cdef-0123-456789abcdef0",
                                        "01234567-89AB-cdef-0123-456789abcdef",
                                        "01234567-89ab-cdef-0123+456789abcdef",
                                        "0123456-789ab-cdef-0123-456789abcdef",
                                        "g1234567-89ab-cdef-0123-456789abcdef"};

    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        char text[512];

        (void)snprintf(text, sizeof(text),
                       "format: 1\nsets:\n" SET_OF("s", "wide", "uuid: %s, ", ""), wrong[i]);
        refuse(text, NULL,
               "b.yaml:3:89: uuid has 32 digits, 0 to 9 and a to f, in the form "
               "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx\n",
               0);
    }
}

/* A set that somebody copied and changed: what knows programs by uuid would run the first.
 * Rule 12.17. */
static void uuid__of_two_sets__is_of_one_program(void **state)
{
#define WITH_PROGRAM(name, program)                                                                \
    SET_OF(name, "wide", "uuid: 01234567-89ab-cdef-0123-456789abcdef, program: [" program "], ",   \
           "{name: N, " META ", value: 1}")
    static const char first[] =
        "format: 1\nsets:\n" WITH_PROGRAM("good", "{registers: [[16, 1], [20, 2]]}");
    static const char *const others[] = {
        "format: 1\nsets:\n" WITH_PROGRAM("t", "{registers: [[16, 1], [20, 3]]}"),
        "format: 1\nsets:\n" WITH_PROGRAM("t", "{registers: [[16, 1], [24, 2]]}"),
        "format: 1\nsets:\n" WITH_PROGRAM("t", "{registers: [[16, 1]]}"),
        "format: 1\nsets:\n" WITH_PROGRAM("t", "{select: [a]}"),
        "format: 1\nsets:\n" WITH_PROGRAM("t", "")};
    static const char same[] =
        "format: 1\nsets:\n" WITH_PROGRAM("t", "{registers: [[16, 1], [20, 2]]}");
#undef WITH_PROGRAM

    (void)state;
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        refuse(first, others[i],
               "c.yaml:3:1: set t has the uuid of good in b.yaml:3 and another program; give it a "
               "uuid of its own, or none\n",
               1);
    struct zeta_catalog *catalog = load_good(first, same);
    assert_int_equal(zeta_catalog_set_count(catalog), 2);
    zeta_catalog_destroy(catalog);
}

static void describe__shared_also_and_uuid__text_means_the_same(void **state)
{
    static const char uuid[] = "    uuid: 01234567-89ab-cdef-0123-456789abcdef\n";
    struct zeta_catalog *catalog =
        load_good("format: 1\nmetrics:\n  M: {" META ", value: \"A[1] * 3\"}\n"
                  "sets:\n" SET_OF("s", "wide",
                                   "uuid: 01234567-89ab-cdef-0123-456789abcdef, when: $Units > 0, "
                                   "also: [{name: t, unit: v, domain: 1, when: $Units > 1}], ",
                                   "M"),
                  NULL);
    struct zeta_compiled *compiled = compile_set(catalog, "t", two_units);
    struct zeta_text text = {0};
    struct zeta_text again = {0};
    struct zeta_catalog *copy;

    (void)state;
    assert_int_equal(zeta_describe_set(compiled, &text), ZE_RESULT_SUCCESS);
    assert_non_null(strstr(text.data, uuid));
    assert_non_null(strstr(text.data, "    when: \"$Units > 0 && $Units > 1\"\n"));
    copy = load_text(text.data);
    zeta_compiled_destroy(compiled);
    compiled = compile_set(copy, "t", two_units);
    assert_int_equal(zeta_describe_set(compiled, &again), ZE_RESULT_SUCCESS);
    assert_string_equal(text.data, again.data);
    assert_int_equal(value_of(copy, "t", "M"), 21);
    zeta_compiled_destroy(compiled);
    zeta_catalog_destroy(copy);
    zeta_catalog_destroy(catalog);
    free(text.data);
    free(again.data);
}

/* Rule 10.12. */
static void whole__refused_text__leaves_nothing(void **state)
{
    static const char good[] = "format: 1\nmetrics:\n  M: {" META ", value: \"A[0]\"}\n";
    static const char bad[] = "format: 1\nunits: {u: {}}\nsymbols: {Units: {value: 1}}\n"
                              "layouts:\n  - {name: wide, kind: sample, record: 64}\n"
                              "metrics:\n  M: {" META ", value: 1}\n"
                              "parameters: {P: {type: generic, value_type: u32, default: 0, "
                              "values: [{value: 0, description: d}]}}\n"
                              "sets:\n" SET("s", "wide", "M") "  - 7\n";
    static const char sets[] = "format: 1\nsets:\n" SET("s", "wide", "M");
    struct zeta_catalog *catalog = zeta_catalog_create();
    struct zeta_diagnostics sink = {0};

    (void)state;
    assert_int_equal(zeta_catalog_add_whole(catalog, "a", good, strlen(good), &sink), 0);
    assert_int_equal(zeta_catalog_add_whole(catalog, "a", BASE, strlen(BASE), &sink), 0);
    assert_int_equal(sink.count[ZETA_SEVERITY_ERROR], 0);
    assert_int_equal(zeta_catalog_add_whole(catalog, "b", bad, strlen(bad), &sink),
                     ZE_RESULT_ERROR_INVALID_ARGUMENT);
    assert_int_equal(sink.count[ZETA_SEVERITY_ERROR], 1);
    assert_int_equal(zeta_catalog_add_whole(catalog, "/nowhere/at/all.yaml", NULL, 0, &sink),
                     ZE_RESULT_ERROR_INVALID_ARGUMENT);
    assert_int_equal(zeta_catalog_add_whole(catalog, "c", sets, strlen(sets), &sink), 0);
    assert_int_equal(zeta_catalog_link(catalog, NULL), ZE_RESULT_SUCCESS);
    assert_int_equal(value_of(catalog, "s", "M"), 5);
    zeta_catalog_destroy(catalog);
}

static void shared__many_in_many_sets__loaded(void **state)
{
    struct zeta_text text = {0};
    struct findings findings;
    struct zeta_catalog *catalog;

    (void)state;
    zeta_text_add(&text, "format: 1\nmetrics:\n");
    for (unsigned i = 0; i < 1000; i++)
        zeta_text_add(&text, "  M%u: {" META ", value: \"%sA[%u] + %u\"}\n", i,
                      i % 20 ? "M0 * " : "", i & 1, i);
    zeta_text_add(&text, "sets:\n");
    for (unsigned set = 0; set < 50; set++) {
        zeta_text_add(&text,
                      "  - {name: s%u, description: d, domain: 0, unit: u, layout: wide, "
                      "sampling: [time], metrics: [M0",
                      set);
        for (unsigned i = 1; i < 50; i++)
            zeta_text_add(&text, ", M%u", (set * 19 + i) % 1000);
        zeta_text_add(&text, "]}\n");
    }
    assert_false(text.failed);
    catalog = load(text.data, NULL, &findings);
    assert_string_equal(findings.text, "");
    assert_int_equal(zeta_catalog_set_count(catalog), 50);
    assert_int_equal(value_of(catalog, "s0", "M0"), 5);
    zeta_catalog_destroy(catalog);
    free(text.data);
}

/** A megabyte that would take gigabytes: large definitions in many sets, sets on many units. */
static void shared__and_units_without_end__refused(void **state)
{
    struct zeta_text text = {0};
    struct findings findings;
    struct zeta_catalog *catalog;

    (void)state;
    zeta_text_add(&text, "format: 1\nmetrics:\n");
    for (unsigned i = 0; i < 50; i++) {
        zeta_text_add(&text, "  M%u: {" META ", value: \"A[0]", i);
        for (unsigned term = 0; term < 240; term++)
            zeta_text_add(&text, " + A[1]");
        zeta_text_add(&text, "\"}\n");
    }
    zeta_text_add(&text, "sets:\n");
    for (unsigned set = 0; set < 100; set++) {
        zeta_text_add(&text,
                      "  - {name: s%u, description: d, domain: 0, unit: u, layout: wide, "
                      "sampling: [time], also: [",
                      set);
        for (unsigned unit = 0; unit < 50; unit++)
            zeta_text_add(&text, "%s{name: s%u_%u, unit: v, domain: 1}", unit ? ", " : "", set,
                          unit);
        zeta_text_add(&text, "], metrics: [M0");
        for (unsigned i = 1; i < 50; i++)
            zeta_text_add(&text, ", M%u", i);
        zeta_text_add(&text, "]}\n");
    }
    assert_false(text.failed);
    catalog = load(text.data, NULL, &findings);
    if (!strstr(findings.text, "make more than 2000000 metrics and parts of expressions"))
        fail_msg("got \"%s\"", findings.text);
    assert_in_range(zeta_catalog_set_count(catalog), 1, 200);
    zeta_catalog_destroy(catalog);
    free(text.data);
}

SUITE(set_shared)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shared__in_sets_of_different_layouts__each_its_own_meaning),
        cmocka_unit_test(shared__of_another_file__found_in_any_order),
        cmocka_unit_test(shared__key_and_name_differ__name_is_the_metrics),
        cmocka_unit_test(shared__unused__may_mean_nothing),
        cmocka_unit_test(shared__condition_and_maximum__are_of_each_use),
        cmocka_unit_test(shared__unknown_key__error_at_its_use),
        cmocka_unit_test(shared__declared_twice__error_names_both_places),
        cmocka_unit_test(shared__wrong_in_a_set__error_names_both_places),
        cmocka_unit_test(shared__same_name_twice_in_a_set__refused),
        cmocka_unit_test(shared__in_info_metrics__refused),
        cmocka_unit_test(also__further_units__same_set_under_other_names),
        cmocka_unit_test(also__condition_of_the_set_false__further_unit_has_none),
        cmocka_unit_test(also__wrong__refused),
        cmocka_unit_test(uuid__any_other_form__refused),
        cmocka_unit_test(uuid__of_two_sets__is_of_one_program),
        cmocka_unit_test(describe__shared_also_and_uuid__text_means_the_same),
        cmocka_unit_test(whole__refused_text__leaves_nothing),
        cmocka_unit_test(shared__many_in_many_sets__loaded),
        cmocka_unit_test(shared__and_units_without_end__refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
