/* Compiled sets: what exists on a device, what is folded and shared, and what is missing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "core/formula/compile/program.h"
#include "tests/metric/support.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

#define HEAD                                                                                       \
    "format: 1\n"                                                                                  \
    "symbols: {Cores: {from: provider, type: u64}, Clock: {from: provider, type: f64},\n"          \
    "          Four: {value: 4}}\n"                                                                \
    "units: {u: {}}\n"                                                                             \
    "layouts:\n"                                                                                   \
    "  - name: l\n"                                                                                \
    "    kind: delta\n"                                                                            \
    "    record: 64\n"                                                                             \
    "    header: {id: {at: 0, width: 32}, ticks: {at: 4, width: 32, delta: 32}}\n"                 \
    "    counters: {A: [{n: 8, at: 8, stride: 4, width: 32}]}\n"                                   \
    "    info:\n"                                                                                  \
    "      - {name: Id, description: d, type: raw, value_type: u32, class: exact, value: id}\n"    \
    "sets:\n"                                                                                      \
    "  - name: s\n"                                                                                \
    "    description: d\n"                                                                         \
    "    domain: 0\n"                                                                              \
    "    unit: u\n"                                                                                \
    "    layout: l\n"                                                                              \
    "    sampling: [time, event]\n"

#define METRIC(name, rest)                                                                         \
    "      - {name: " name ", description: d, type: raw, value_type: u64, class: exact, " rest "}" \
    "\n"

static const struct reference_symbol two_cores[] = {
    {"Cores", {ZETA_EXPR_U64, {.u64 = 2}}},
    {"Clock", {ZETA_EXPR_F64, {.f64 = 1.5}}},
    {NULL, {0}},
};

/* Rule 10.11. */
static void compile__conditions__only_what_exists(void **state)
{
    static const char text[] = HEAD "    program:\n"
                                    "      - {select: [always]}\n"
                                    "      - {select: [two, also], when: $Cores >= 2}\n"
                                    "      - {select: [many], when: $Cores > $Four}\n"
                                    "      - {registers: [[1, 2]], when: $Clock > 1.0}\n"
                                    "    metrics:\n" METRIC("One", "value: 'A[0]'")
                                        METRIC("Gone", "value: 'A[1]', when: $Cores > 2")
                                            METRIC("Follows", "value: Gone + 1")
                                                METRIC("Three", "value: One, when: $Cores == 2");
    struct zeta_catalog *catalog = load_text(text);
    struct zeta_compiled *compiled = compile_set(catalog, "s", two_cores);
    const struct zeta_program_entry *entries;

    (void)state;
    assert_int_equal(zeta_compiled_metric_count(compiled), 3);
    assert_string_equal(zeta_compiled_metric(compiled, 0)->name, "One");
    assert_string_equal(zeta_compiled_metric(compiled, 1)->name, "Three");
    assert_string_equal(zeta_compiled_metric(compiled, 2)->name, "Id");
    assert_true(zeta_compiled_metric(compiled, 2)->is_info);
    assert_int_equal(zeta_compiled_program(compiled, &entries), 4);
    assert_string_equal(entries[0].select, "always");
    assert_string_equal(entries[2].select, "also");
    assert_null(entries[3].select);
    assert_int_equal(entries[3].value, 2);
    assert_int_equal(zeta_compiled_record_bytes(compiled), 64);
    zeta_compiled_destroy(compiled);
    zeta_catalog_destroy(catalog);
}

static void compile__equal_parts__computed_once(void **state)
{
    static const char text[] = HEAD "    metrics:\n" METRIC("P", "value: '(A[0] + A[1]) * 3'")
        METRIC("Q", "value: '(A[1] + A[0]) * 3'")
            METRIC("R", "value: '($Cores * 3 + 1) * (A[0] + A[1])'")
                METRIC("S", "value: '-(-(7)) == 7 ? A[0] : A[7]'")
                    METRIC("T", "value: 'muldiv(A[0], 1000000000, 25000000)'")
                        METRIC("U", "value: 'A[0] * 40'");
    struct zeta_catalog *catalog = load_text(text);
    struct zeta_compiled *compiled = compile_set(catalog, "s", two_cores);
    const struct zeta_program *program = &zeta_compiled_programs(compiled)->values;

    (void)state;
    /* Loads of A[0], A[1] and id, the sum, two products, A[0] * 40, the conversion of Id. */
    assert_int_equal(program->op_count, 8);
    assert_int_equal(program->outputs[0].column, program->outputs[1].column);
    assert_int_equal(program->outputs[4].column, program->outputs[5].column);
    /* 3, 7 and 40; words 0 to 3 hold id, A[0] and A[1]. */
    assert_int_equal(program->constant_count, 3);
    assert_int_equal(program->chunk_count, 1);
    zeta_compiled_destroy(compiled);
    zeta_catalog_destroy(catalog);
}

static void compile__symbol_missing__named(void **state)
{
    static const char text[] = HEAD "    metrics:\n" METRIC("One", "value: 'A[0] * $Cores'");
    static const struct reference_symbol none[] = {{NULL, {0}}};
    struct zeta_catalog *catalog = load_text(text);
    struct zeta_symbol_lookup lookup = lookup_of(none);
    struct zeta_compiled *compiled = NULL;
    struct zeta_diagnostics sink = {0};

    (void)state;
    assert_int_equal(
        zeta_set_compile(catalog, zeta_catalog_set(catalog, 0), &lookup, &sink, &compiled),
        ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE);
    assert_null(compiled);
    assert_string_equal(sink.first_error,
                        "test.yaml:21:94: set s: the device provides no value of $Cores");
    assert_int_equal(zeta_set_compile(catalog, zeta_catalog_set(catalog, 0), NULL, NULL, &compiled),
                     ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE);
    zeta_catalog_destroy(catalog);
}

static void compile__condition_of_the_set_false__not_supported(void **state)
{
    static const char text[] = HEAD "    when: $Cores > 5\n"
                                    "    metrics:\n" METRIC("One", "value: 'A[0]'");
    struct zeta_catalog *catalog = load_text(text);
    struct zeta_symbol_lookup lookup = lookup_of(two_cores);
    struct zeta_diagnostics sink = {0};
    struct zeta_compiled *compiled = NULL;

    (void)state;
    assert_int_equal(
        zeta_set_compile(catalog, zeta_catalog_set(catalog, 0), &lookup, &sink, &compiled),
        ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
    assert_null(compiled);
    /* Many devices lack parts that others of their platform have: that is no mistake. */
    assert_int_equal(sink.count[ZETA_SEVERITY_WARNING], 0);
    assert_int_equal(sink.count[ZETA_SEVERITY_NOTE], 1);
    zeta_catalog_destroy(catalog);
}

static void compile__symbols__converted_and_readable(void **state)
{
    static const struct reference_symbol other_types[] = {
        {"Cores", {ZETA_EXPR_F64, {.f64 = 2.9}}},
        {"Clock", {ZETA_EXPR_U64, {.u64 = 3}}},
        {NULL, {0}},
    };
    static const char text[] = HEAD "    metrics:\n" METRIC("One", "value: 'A[0]'");
    struct zeta_catalog *catalog = load_text(text);
    struct zeta_compiled *compiled = compile_set(catalog, "s", other_types);
    struct zeta_number number;

    (void)state;
    assert_true(zeta_compiled_symbol(compiled, "Cores", &number));
    assert_int_equal(number.type, ZETA_EXPR_U64);
    assert_int_equal(number.u.u64, 2);
    assert_true(zeta_compiled_symbol(compiled, "Clock", &number));
    assert_cmp(number.u.f64, ==, 3.0);
    assert_true(zeta_compiled_symbol(compiled, "Four", &number));
    assert_int_equal(number.u.u64, 4);
    assert_false(zeta_compiled_symbol(compiled, "Five", &number));
    zeta_compiled_destroy(compiled);
    zeta_catalog_destroy(catalog);
}

#define RATES(sampling)                                                                            \
    "format: 1\n"                                                                                  \
    "symbols: {Cores: {from: provider, type: u64}}\n"                                              \
    "units: {u: {}}\n"                                                                             \
    "layouts:\n"                                                                                   \
    "  - name: l\n"                                                                                \
    "    kind: delta\n"                                                                            \
    "    record: 64\n"                                                                             \
    "    header: {ticks: {at: 4, width: 32, delta: 32, rate: 1000000}}\n"                          \
    "    counters:\n"                                                                              \
    "      N: [{n: 2, at: 8, stride: 4, width: 32, rate: 1000000000 * $Cores}]\n"                  \
    "      W: [{n: 1, at: 16, width: 32, hi: {at: 24, width: 8}, rate: 1000000000 * $Cores}]\n"    \
    "      B: [{n: 1, at: 28, width: 20, rate: 1000000}]\n"                                        \
    "      U: [{n: 1, at: 32, width: 16}]\n"                                                       \
    "      F: [{n: 1, at: 40, width: 32, rate: 0 * $Cores}]\n"                                     \
    "sets:\n"                                                                                      \
    "  - {name: s, description: d, domain: 0, unit: u, layout: l, sampling: [" sampling "],\n"     \
    "     metrics: [{name: M, description: d, type: raw, value_type: u64, class: exact, "

/* What bounds the time between records is known of the fields that are read as differences.
 * Rule 11.2. */
static void compile__rates_of_what_is_read__bound_the_period(void **state)
{
    static const struct {
        const char *text;
        uint64_t longest_ns; /* three quarters of 2^width / rate */
    } sets[] = {
        {RATES("time, event") "value: 'N[1]'}]}\n", 1610612736},
        {RATES("time") "value: 'W[0] * 3 + now(N[1])'}]}\n", 412316860416},
        {RATES("time, event") "value: 'W[0] + N[0]'}]}\n", 1610612736},
        {RATES("time, event") "value: 'B[0] + N[0]'}]}\n", 786432000},
        {RATES("time, event") "value: 'W[0]', max: 'N[0]'}]}\n", 1610612736},
        {RATES(
             "time, event") "value: 'W[0]'}, {name: G, description: d, type: raw, value_type: u64, "
                            "class: exact, value: 'N[0]', when: $Cores > 5}]}\n",
         412316860416},
        {RATES("time, event") "value: ticks}]}\n", UINT64_C(3221225472000)},
        {RATES("time") "value: now(ticks)}]}\n", 0},
        {RATES("time, event") "value: 'U[0] + F[0]'}]}\n", 0},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++) {
        struct zeta_catalog *catalog = load_text(sets[i].text);
        struct zeta_compiled *compiled = compile_set(catalog, "s", two_cores);
        struct zeta_symbol_lookup lookup = lookup_of(two_cores);

        assert_int_equal(zeta_compiled_longest_ns(compiled), sets[i].longest_ns);
        zeta_compiled_destroy(compiled);
        /* Query records have differences of 64 bits. */
        if (strstr(sets[i].text, "now(") == NULL) {
            assert_int_equal(zeta_set_compile_query(catalog, zeta_catalog_set(catalog, 0), &lookup,
                                                    NULL, &compiled),
                             ZE_RESULT_SUCCESS);
            assert_int_equal(zeta_compiled_longest_ns(compiled), 0);
            zeta_compiled_destroy(compiled);
        }
        zeta_catalog_destroy(catalog);
    }
}

static void compile__rate_of_a_missing_symbol__named(void **state)
{
    static const struct reference_symbol none[] = {{NULL, {0}}};
    struct zeta_catalog *catalog = load_text(RATES("time, event") "value: 'N[0]'}]}\n");
    struct zeta_symbol_lookup lookup = lookup_of(none);
    struct zeta_compiled *compiled = NULL;
    struct zeta_diagnostics sink = {0};

    (void)state;
    assert_int_equal(
        zeta_set_compile(catalog, zeta_catalog_set(catalog, 0), &lookup, &sink, &compiled),
        ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE);
    assert_non_null(strstr(sink.first_error, "set s: the device provides no value of $Cores"));
    zeta_catalog_destroy(catalog);
}

SUITE(compile)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(compile__conditions__only_what_exists),
        cmocka_unit_test(compile__equal_parts__computed_once),
        cmocka_unit_test(compile__symbol_missing__named),
        cmocka_unit_test(compile__condition_of_the_set_false__not_supported),
        cmocka_unit_test(compile__symbols__converted_and_readable),
        cmocka_unit_test(compile__rates_of_what_is_read__bound_the_period),
        cmocka_unit_test(compile__rate_of_a_missing_symbol__named),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
