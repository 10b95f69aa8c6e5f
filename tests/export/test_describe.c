/* The canonical text of sets: it means what the set means, and equal sets have equal texts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/formula/describe/describe.h"
#include "tests/metric/support.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

#define HEAD                                                                                       \
    "format: 1\nunits: {u: {}}\nsymbols: {Hz: {value: 25}, Half: {value: 0.5}, Unused: {value: "   \
    "1}}\n"
#define LAYOUT                                                                                     \
    "layouts:\n  - name: l\n    kind: delta\n    record: 128\n    header:\n"                       \
    "      id: {at: 0, width: 32}\n      ticks: {at: 4, width: 32, delta: 24}\n"                   \
    "      low: {in: id, bit: 3, width: 5}\n"
#define SET(metrics)                                                                               \
    "sets:\n  - name: s\n    description: d\n    domain: 0\n    unit: u\n    layout: l\n"          \
    "    sampling: [time]\n    metrics:\n" metrics
#define METRIC(value)                                                                              \
    "      - {name: M, description: d, type: raw, value_type: u64, class: exact, value: \"" value  \
    "\"}\n"

static const struct reference_symbol none[] = {{NULL, {0}}};

static char *describe(const struct zeta_compiled *compiled)
{
    struct zeta_text text = {0};

    assert_int_equal(zeta_describe_set(compiled, &text), ZE_RESULT_SUCCESS);
    return text.data;
}

static char *describe_text(const char *text)
{
    struct zeta_catalog *catalog = load_text(text);
    struct zeta_compiled *compiled = compile_set(catalog, "s", none);
    char *description = describe(compiled);

    zeta_compiled_destroy(compiled);
    zeta_catalog_destroy(catalog);
    return description;
}

static void describe__expressions__least_parentheses(void **state)
{
    static const struct {
        const char *written;
        const char *canonical;
    } cases[] = {
        {"((A[0]))", "A[0]"},
        {"(A[0] + A[1]) + A[2]", "A[0] + A[1] + A[2]"},
        {"A[0] + (A[1] + A[2])", "A[0] + (A[1] + A[2])"},
        {"A[0] - (A[1] - A[2])", "A[0] - (A[1] - A[2])"},
        {"(A[0] * A[1]) + A[2]", "A[0] * A[1] + A[2]"},
        {"A[0] * (A[1] + A[2])", "A[0] * (A[1] + A[2])"},
        {"(A[0] & 1) == 1", "(A[0] & 1) == 1"},
        {"A[0] & (1 == 1)", "A[0] & 1 == 1"},
        {"-(-A[0])", "--A[0]"},
        {"~(A[0] + 1)", "~(A[0] + 1)"},
        {"!(A[0])", "!A[0]"},
        {"(A[0] ? 1 : 2) ? 3 : (A[1] ? 4 : 5)", "(A[0] ? 1 : 2) ? 3 : A[1] ? 4 : 5"},
        {"(A[0] ? 1 : 2) + 1", "(A[0] ? 1 : 2) + 1"},
        {"muldiv((A[0]), (1 + 2), $Hz)", "muldiv(A[0], 1 + 2, $Hz)"},
        {"min(A[0], (max(1, 2)))", "min(A[0], max(1, 2))"},
        {"u64(f64(A[0]) * $Half * 1e3)", "u64(f64(A[0]) * $Half * 1000.0)"},
        {"u64(f64(A[0]) / 1e300 + 0.1)",
         "u64(f64(A[0]) / 1.0000000000000001e+300 + 0.10000000000000001)"},
        {"delta(A[0]) + now(A[1]) + before(A[2])", "A[0] + now(A[1]) + before(A[2])"},
        {"delta(ticks) + now(id) + now(low)", "ticks + id + low"},
        {"0xff << 3 >> 1", "255 << 3 >> 1"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[2048];
        char expected[256];
        char *description;

        (void)snprintf(text, sizeof(text),
                       HEAD LAYOUT "    counters: {A: [{n: 3, at: 8, stride: 4, width: 32}]}\n" SET(
                           METRIC("%s")),
                       cases[i].written);
        description = describe_text(text);
        (void)snprintf(expected, sizeof(expected), "        value: \"%s\"\n", cases[i].canonical);
        if (!strstr(description, expected))
            fail_msg("%s is written as\n%s", cases[i].written, description);
        free(description);
    }
}

/* Rule 16.10. */
static void describe__same_meaning__same_text_and_digest(void **state)
{
    static const char *const same[] = {
        HEAD LAYOUT
        "    counters: {A: [{n: 6, at: 8, stride: 4, width: 32}]}\n" SET(METRIC("A[5] + $Hz")),
        /* Runs in pieces, keys in another order, other quotes, comments, a default written out. */
        "# a file\nformat: 1\n" SET(
            "      - value: '(A[5] + ($Hz))'\n        class: exact\n        value_type: u64\n"
            "        type: raw\n        tier: 1\n        component: ''\n        unit: ''\n"
            "        description: d\n        name: M\n") LAYOUT
        "    counters:\n      A:\n        - {n: 2, at: 8, stride_bits: 32, width: 32, delta: "
        "true}\n"
        "        - {n: 1, at: 16, width: 32}\n        - {n: 3, at: 20, stride: 4, width: 32,\n"
        "           delta: 32, type: uint}\n"
        "units: {u: {description: ''}}\nsymbols: {Hz: {value: 0x19}}\n",
    };
    char *first = describe_text(same[0]);
    char *second = describe_text(same[1]);
    char *other = describe_text(
        HEAD LAYOUT
        "    counters: {A: [{n: 6, at: 8, stride: 4, width: 32}]}\n" SET(METRIC("A[4] + $Hz")));

    (void)state;
    assert_string_equal(first, second);
    assert_cmp(zeta_describe_digest(first, strlen(first)), ==,
               zeta_describe_digest(second, strlen(second)));
    assert_cmp(zeta_describe_digest(first, strlen(first)), !=,
               zeta_describe_digest(other, strlen(other)));
    assert_non_null(strstr(first, "{n: 6, at: 8, stride_bits: 32, width: 32, delta: 32}"));
    assert_null(strstr(first, "Unused"));
    free(first);
    free(second);
    free(other);
}

static void describe__awkward_texts__come_back(void **state)
{
    char *first = describe_text(HEAD LAYOUT "    counters: {A: [{n: 1, at: 8, width: 32}]}\n" SET(
        "      - {name: M, description: \" \\\"a\\\" \\\\ #: "
        "\xc3\xa9\\L\\P\\N\\uFEFF, 'x' \", type: raw, value_type: u64, "
        "class: exact, unit: \"%\", value: 1}\n"));
    char *second = describe_text(first);

    (void)state;
    assert_string_equal(first, second);
    assert_non_null(strstr(first, "\\\"a\\\" \\\\ #: \xc3\xa9\\L\\P\\N\\uFEFF, 'x' \""));
    free(first);
    free(second);
}

static void describe__programs_and_conditions__are_kept(void **state)
{
    char *first = describe_text(
        "format: 1\nunits: {u: {registers: [16, [32, 64]]}}\nsymbols: {Hz: {value: 25}}\n" LAYOUT
        "    counters: {A: [{n: 1, at: 8, width: 32}]}\n    baseline: \"low == 3\"\n"
        "    identity: [id, ticks]\n"
        "sets:\n  - name: s\n    description: d\n    domain: 7\n    unit: u\n    layout: l\n"
        "    sampling: [time]\n    when: $Hz > 1\n    program:\n"
        "      - {select: []}\n"
        "      - {select: ['A0=\"x\"', b], when: $Hz == 25}\n      - registers: [[16, 0xff], [33, "
        "1]]\n"
        "    metrics:\n" METRIC("1"));
    char *second = describe_text(first);

    (void)state;
    assert_string_equal(first, second);
    assert_non_null(strstr(first, "registers: [[16, 16], [32, 64]]"));
    assert_non_null(
        strstr(first, "- select: [\"A0=\\\"x\\\"\", \"b\"]\n        when: \"$Hz == 25\""));
    assert_non_null(strstr(first, "- registers: [[16, 255], [33, 1]]"));
    assert_non_null(strstr(first, "    when: \"$Hz > 1\"\n"));
    assert_non_null(strstr(first, "baseline: \"low == 3\""));
    assert_non_null(strstr(first, "low: {in: id, bit: 3, width: 5}"));
    free(first);
    free(second);
}

static bool give_infinity(void *context, const char *name, struct zeta_number *out_value)
{
    (void)context;
    (void)name;
    *out_value = (struct zeta_number){.type = ZETA_EXPR_F64, .u.f64 = 1e308 * 10};
    return true;
}

static void describe__symbol_that_no_text_can_say__is_refused(void **state)
{
    struct zeta_catalog *catalog =
        load_text("format: 1\nunits: {u: {}}\nsymbols: {I: {from: provider, type: f64}}\n" LAYOUT
                  "    counters: {A: [{n: 1, at: 8, width: 32}]}\n" SET(METRIC("u64($I)")));
    const struct zeta_symbol_lookup lookup = {.find = give_infinity};
    struct zeta_compiled *compiled = NULL;
    struct zeta_text text = {0};

    (void)state;
    assert_int_equal(
        zeta_set_compile(catalog, zeta_catalog_set(catalog, 0), &lookup, NULL, &compiled),
        ZE_RESULT_SUCCESS);
    assert_int_equal(zeta_describe_set(compiled, &text), ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
    assert_non_null(strstr(zeta_error_describe(), "$I"));
    zeta_text_finish(&text);
    zeta_compiled_destroy(compiled);
    zeta_catalog_destroy(catalog);
}

/* Shipped sets ----------------------------------------------------------------------------------
 */

static bool give_symbol(void *context, const char *name, struct zeta_number *out_value)
{
    (void)context;
    *out_value = (struct zeta_number){.type = ZETA_EXPR_U64, .u.u64 = 3 + strlen(name)};
    return true;
}

static void check_shipped(const struct zeta_catalog *catalog, const struct zeta_set *set,
                          bool query)
{
    const struct zeta_symbol_lookup lookup = {.find = give_symbol};
    struct zeta_diagnostics sink = {0};
    struct zeta_compiled *compiled = NULL;
    struct zeta_description *description = NULL;
    char *text;
    char *again;
    ze_result_t result = (query ? zeta_set_compile_query : zeta_set_compile)(catalog, set, &lookup,
                                                                             &sink, &compiled);

    if (result == ZE_RESULT_ERROR_UNSUPPORTED_FEATURE)
        return;
    assert_int_equal(result, ZE_RESULT_SUCCESS);
    text = describe(compiled);
    if (zeta_description_get(text, strlen(text),
                             query ? ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EVENT_BASED
                             : set->layout->kind == ZETA_LAYOUT_EVENT
                                 ? ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EXP_TRACER_BASED
                                 : ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_TIME_BASED,
                             &description) != ZE_RESULT_SUCCESS)
        fail_msg("%s: %s\n%s", set->name, zeta_error_describe(), text);
    again = describe(zeta_description_compiled(description));
    assert_string_equal(text, again);
    assert_int_equal(zeta_compiled_metric_count(compiled),
                     zeta_compiled_metric_count(zeta_description_compiled(description)));
    zeta_description_release(description);
    zeta_compiled_destroy(compiled);
    free(text);
    free(again);
}

/* Rule 16.10. */
static void describe__shipped_sets__come_back(void **state)
{
    struct zeta_catalog *catalog = zeta_catalog_create();
    struct zeta_diagnostics sink = {0};
    char command[512];
    char path[512];
    uint32_t files = 0;
    FILE *list;

    (void)state;
    (void)snprintf(command, sizeof(command), "ls %s/plugins/*/metrics/*.yaml", ZETA_SOURCE_DIR);
    list = popen(command, "r");
    assert_non_null(list);
    while (fgets(path, sizeof(path), list)) {
        path[strcspn(path, "\n")] = '\0';
        assert_int_equal(zeta_catalog_add_file(catalog, path, &sink), ZE_RESULT_SUCCESS);
        files++;
    }
    (void)pclose(list);
    assert_cmp(files, >=, 3);
    assert_int_equal(zeta_catalog_link(catalog, &sink), ZE_RESULT_SUCCESS);
    assert_cmp(zeta_catalog_set_count(catalog), >=, 4);
    for (uint32_t i = 0; i < zeta_catalog_set_count(catalog); i++) {
        const struct zeta_set *set = zeta_catalog_set(catalog, i);

        if (set->sampling & ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_TIME_BASED)
            check_shipped(catalog, set, false);
        if (set->sampling & ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EVENT_BASED)
            check_shipped(catalog, set, true);
    }
    zeta_catalog_destroy(catalog);
}

/* Descriptions that are kept --------------------------------------------------------------------
 */

static void get_set(uint32_t number, struct zeta_description **out_description)
{
    char text[2048];

    (void)snprintf(text, sizeof(text),
                   HEAD LAYOUT
                   "    counters: {A: [{n: 3, at: 8, stride: 4, width: 32}]}\n" SET(METRIC("%u")),
                   number);
    assert_int_equal(zeta_description_get(text, strlen(text),
                                          ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_TIME_BASED,
                                          out_description),
                     ZE_RESULT_SUCCESS);
}

/* Rule 16.10. */
static void descriptions__many__are_kept_up_to_a_bound(void **state)
{
    struct zeta_description *used[ZETA_DESCRIPTION_KEPT + 5];
    struct zeta_description *again;

    (void)state;
    for (uint32_t i = 0; i < 3 * ZETA_DESCRIPTION_KEPT; i++) {
        get_set(i, &used[0]);
        zeta_description_release(used[0]);
    }
    assert_int_equal(zeta_description_count(), ZETA_DESCRIPTION_KEPT);
    /* The one that was used last is still there, as the same object. */
    get_set(3 * ZETA_DESCRIPTION_KEPT - 1, &again);
    assert_ptr_equal(again, used[0]);
    zeta_description_release(again);
    /* Those in use stay, however many they are. */
    for (uint32_t i = 0; i < ZETA_DESCRIPTION_KEPT + 5; i++)
        get_set(1000 + i, &used[i]);
    assert_int_equal(zeta_description_count(), ZETA_DESCRIPTION_KEPT + 5);
    for (uint32_t i = 0; i < ZETA_DESCRIPTION_KEPT + 5; i++) {
        assert_int_equal(zeta_compiled_metric_count(zeta_description_compiled(used[i])), 1);
        zeta_description_release(used[i]);
    }
    assert_int_equal(zeta_description_count(), ZETA_DESCRIPTION_KEPT);
}

/* Rule 16.8. */
static void descriptions__not_in_order__are_refused_with_the_reason(void **state)
{
    static const char *const bad[] = {
        "",
        "- 1",
        "format: 9\n",
        "format: 1\n",
        HEAD LAYOUT
        "    counters: {A: [{n: 3, at: 8, stride: 4, width: 32}]}\n" SET(METRIC("A[3]")),
        HEAD LAYOUT "    counters: {A: [{n: 3, at: 8, stride: 4, width: 32}]}\n" SET(METRIC(
            "1")) "  - name: t\n    description: d\n    domain: 0\n    unit: u\n    layout: l\n"
                  "    sampling: [time]\n    metrics:\n" METRIC("2")};
    static const char newer[] =
        HEAD LAYOUT "    counters: {A: [{n: 3, at: 8, stride: 4, width: 32}]}\n" SET(
            METRIC("1")) "    meaning: another\n";
    struct zeta_description *description = NULL;

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_int_equal(zeta_description_get(bad[i], strlen(bad[i]),
                                              ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_TIME_BASED,
                                              &description),
                         ZE_RESULT_ERROR_INVALID_ARGUMENT);
        assert_non_null(strstr(zeta_error_describe(), "description"));
    }
    /* A key that this version does not know may change what the values are. */
    assert_int_equal(zeta_description_get(newer, strlen(newer),
                                          ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_TIME_BASED,
                                          &description),
                     ZE_RESULT_ERROR_UNSUPPORTED_VERSION);
    assert_null(description);
}

SUITE(describe)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(describe__expressions__least_parentheses),
        cmocka_unit_test(describe__same_meaning__same_text_and_digest),
        cmocka_unit_test(describe__awkward_texts__come_back),
        cmocka_unit_test(describe__programs_and_conditions__are_kept),
        cmocka_unit_test(describe__symbol_that_no_text_can_say__is_refused),
        cmocka_unit_test(describe__shipped_sets__come_back),
        cmocka_unit_test(descriptions__many__are_kept_up_to_a_bound),
        cmocka_unit_test(descriptions__not_in_order__are_refused_with_the_reason),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
