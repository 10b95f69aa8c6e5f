/* Sets compiled for query records: what each view means, and what cannot be asked of a query. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/formula/sets/query_form.h"
#include "tests/metric/support.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"
#include "zeta/query_record.h"

#define LAYOUT                                                                                     \
    "format: 1\n"                                                                                  \
    "units: {u: {}}\n"                                                                             \
    "layouts:\n"                                                                                   \
    "  - name: l\n"                                                                                \
    "    kind: delta\n"                                                                            \
    "    record: 96\n"                                                                             \
    "    header:\n"                                                                                \
    "      flags: {at: 0, width: 32}\n"                                                            \
    "      reason: {in: flags, bit: 4, width: 6}\n"                                                \
    "      ticks: {at: 4, width: 24, delta: 24}\n"                                                 \
    "      work: {at: 8, width: 32, delta: 32}\n"                                                  \
    "      low: {in: work, bit: 0, width: 8}\n"                                                    \
    "      energy: {at: 16, width: 64, type: f64, delta: true}\n"                                  \
    "    counters:\n"                                                                              \
    "      A:\n"                                                                                   \
    "        - {n: 2, at: 24, stride: 4, width: 32, hi: {at: 40, stride: 1, width: 8}}\n"          \
    "      V:\n"                                                                                   \
    "        - {n: 2, at: 48, stride: 4, width: 32, valid: {field: flags, bit: 0, step: 1}}\n"     \
    "    identity: [flags, ticks]\n"                                                               \
    "    baseline: (flags & 0x80000000) != 0\n"                                                    \
    "sets:\n"

#define SET(name, sampling)                                                                        \
    "  - name: " name "\n"                                                                         \
    "    description: d\n"                                                                         \
    "    domain: 0\n"                                                                              \
    "    unit: u\n"                                                                                \
    "    layout: l\n"                                                                              \
    "    sampling: " sampling "\n"                                                                 \
    "    metrics:\n"

#define METRIC(name, type, value_type, value)                                                      \
    "      - {name: " name ", description: d, type: " type ", value_type: " value_type             \
    ", class: exact, value: '" value "'}\n"

/* Fields of the record of that layout: views have no place of their own. */
enum { FLAGS, TICKS, WORK, ENERGY, A0, A1, V0, V1, FIELDS };

#define RECORD_BYTES (sizeof(struct zeta_query_record) + 8 * FIELDS)

struct record {
    struct zeta_query_record head;
    uint64_t field[FIELDS];
};

static struct record make_record(uint32_t tile)
{
    struct record record = {.head = {.size_bytes = RECORD_BYTES,
                                     .tile = tile,
                                     .begin_ticks = UINT64_C(0x5000001),
                                     .end_ticks = UINT64_C(0x6000009)},
                            .field = {[FLAGS] = 0x83,
                                      [TICKS] = UINT64_C(0x1000008),
                                      [WORK] = UINT64_C(0x123456789ab),
                                      [A0] = UINT64_C(1) << 50,
                                      [A1] = 7,
                                      [V0] = 11,
                                      [V1] = 12}};
    const double energy = 2.5;

    memcpy(&record.field[ENERGY], &energy, sizeof(energy));
    return record;
}

static struct zeta_compiled *compile_query(const struct zeta_catalog *catalog, const char *name)
{
    const struct zeta_set *set = zeta_catalog_find_set(catalog, name);
    struct zeta_compiled *compiled = NULL;

    assert_non_null(set);
    assert_int_equal(zeta_set_compile_query(catalog, set, NULL, NULL, &compiled),
                     ZE_RESULT_SUCCESS);
    return compiled;
}

static uint32_t evaluate(const struct zeta_compiled *compiled, uint32_t tile, const void *raw,
                         size_t bytes, zet_typed_value_t *values)
{
    struct zeta_evaluation found;

    assert_int_equal(zeta_evaluate(compiled, ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES, tile,
                                   0, raw, bytes, values, 256, &found),
                     ZE_RESULT_SUCCESS);
    assert_true(found.complete);
    return found.value_count;
}

static const char views[] = LAYOUT SET("s", "[time, event]") METRIC("Sum", "event", "u64", "A[0]")
    METRIC("Ticks", "event", "u64", "ticks") METRIC("Work", "event", "u64", "delta(work)")
        METRIC("Reason", "flag", "u32", "reason") METRIC("Energy", "event", "f64", "energy")
            METRIC("First", "raw", "u64", "before(ticks)")
                METRIC("Last", "raw", "u64", "now(ticks)")
                    METRIC("Begin", "timestamp", "u64", "now(ticks) * 10")
                        METRIC("Length", "duration", "u64", "Begin - Begin + now(ticks)")
                            METRIC("Valid", "raw", "f64", "f64(V[0])");

/* Rule 12.2. */
static void evaluate__every_view__what_the_record_says(void **state)
{
    struct zeta_catalog *catalog = load_text(views);
    struct zeta_compiled *compiled = compile_query(catalog, "s");
    const struct record record = make_record(0);
    zet_typed_value_t values[256];

    (void)state;
    assert_int_equal(zeta_compiled_record_bytes(compiled), RECORD_BYTES);
    assert_int_equal(zeta_compiled_metric_count(compiled), 10);
    assert_int_equal(zeta_evaluate_count(compiled, sizeof(record)), 10);
    assert_int_equal(evaluate(compiled, 0, &record, sizeof(record), values), 10);
    assert_int_equal(values[0].value.ui64, UINT64_C(1) << 50);
    assert_int_equal(values[1].value.ui64, UINT64_C(0x1000008));
    assert_int_equal(values[2].value.ui64, UINT64_C(0x123456789ab));
    assert_int_equal(values[3].value.ui32, 0x83 >> 4);
    assert_cmp(values[4].value.fp64, ==, 2.5);
    assert_int_equal(values[5].value.ui64, 0x1);
    assert_int_equal(values[6].value.ui64, 0x9);
    assert_int_equal(values[7].value.ui64, 10);
    assert_int_equal(values[8].value.ui64, 0x9);
    assert_cmp(values[9].value.fp64, ==, 11.0);
    zeta_compiled_destroy(compiled);
    zeta_catalog_destroy(catalog);
}

static void evaluate__bit_says_not_measured__nan(void **state)
{
    struct zeta_catalog *catalog = load_text(views);
    struct zeta_compiled *compiled = compile_query(catalog, "s");
    struct record record = make_record(0);
    zet_typed_value_t values[256];

    (void)state;
    record.field[FLAGS] = 0x2;
    assert_int_equal(evaluate(compiled, 0, &record, sizeof(record), values), 10);
    assert_true(isnan(values[9].value.fp64));
    zeta_compiled_destroy(compiled);
    zeta_catalog_destroy(catalog);
}

/* Neither baselines nor identities: what would be skipped in a stream is a row of its own here.
 * Rule 12.2. */
static void evaluate__equal_records_and_baselines__a_row_each(void **state)
{
    struct zeta_catalog *catalog = load_text(views);
    struct zeta_compiled *compiled = compile_query(catalog, "s");
    struct record records[40];
    zet_typed_value_t *values = calloc(1024, sizeof(*values));
    struct zeta_evaluation found;

    (void)state;
    for (uint32_t i = 0; i < 40; i++) {
        records[i] = make_record(0);
        records[i].field[FLAGS] = UINT64_C(0x80000001);
        records[i].field[A0] = i;
    }
    assert_int_equal(zeta_evaluate(compiled, ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES, 0, 0,
                                   records, sizeof(records) - 1, values, 1024, &found),
                     ZE_RESULT_SUCCESS);
    assert_int_equal(found.value_count, 390);
    for (uint32_t i = 0; i < 39; i++)
        assert_int_equal(values[i * 10].value.ui64, i);
    free(values);
    zeta_compiled_destroy(compiled);
    zeta_catalog_destroy(catalog);
}

/* Rule 12.2. */
static void evaluate__records_of_tiles_and_of_other_sizes__only_those_wanted(void **state)
{
    struct zeta_catalog *catalog = load_text(views);
    struct zeta_compiled *compiled = compile_query(catalog, "s");
    struct record records[4] = {make_record(0), make_record(1), make_record(1), make_record(0)};
    zet_typed_value_t values[256];
    struct zeta_evaluation found;

    (void)state;
    records[1].field[A0] = 5;
    records[3].head.size_bytes--;
    assert_int_equal(evaluate(compiled, 0, records, sizeof(records), values), 10);
    assert_int_equal(evaluate(compiled, 1, records, sizeof(records), values), 20);
    assert_int_equal(values[0].value.ui64, 5);
    assert_int_equal(evaluate(compiled, 2, records, sizeof(records), values), 0);
    assert_int_equal(zeta_evaluate_rows(compiled, 1, 0, records, sizeof(records), &found),
                     ZE_RESULT_SUCCESS);
    assert_int_equal(found.row_count, 2);
    memset(records, 0, sizeof(records));
    assert_int_equal(evaluate(compiled, 0, records, sizeof(records), values), 0);
    zeta_compiled_destroy(compiled);
    zeta_catalog_destroy(catalog);
}

/** Links a text and gives the first finding; the catalog stays usable. */
static struct zeta_catalog *link_text(const char *text, struct zeta_diagnostics *sink)
{
    struct zeta_catalog *catalog = zeta_catalog_create();

    assert_int_equal(zeta_catalog_add_text(catalog, text, strlen(text), "f.yaml", sink),
                     ZE_RESULT_SUCCESS);
    assert_int_equal(zeta_catalog_link(catalog, sink), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    return catalog;
}

/* Rule 12.1. */
static void link__values_of_running_counts__no_event_sampling(void **state)
{
    static const struct {
        const char *value;
        const char *finding;
    } cases[] = {
        {"now(A[0])", "s: no event sampling, because a query record has no now(A): it holds the "
                      "difference of that field"},
        {"before(work)", "s: no event sampling, because a query record has no before(work): only "
                         "the clock of the layout has a begin"},
        {"before(flags)", "s: no event sampling, because a query record has no before(flags): only "
                          "the clock of the layout has a begin"},
        {"low", "s: no event sampling, because a query record has no now(low): it holds the "
                "difference of that field"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct zeta_diagnostics sink = {0};
        struct zeta_catalog *catalog;
        char text[4096];
        const struct zeta_set *set;

        (void)snprintf(text, sizeof(text),
                       "%s      - {name: M, description: d, type: raw, "
                       "value_type: u64, class: exact, value: '%s'}\n",
                       LAYOUT SET("s", "[time, event]"), cases[i].value);
        catalog = link_text(text, &sink);
        assert_non_null(strstr(sink.first_error, cases[i].finding));
        assert_non_null(strstr(sink.first_error, "f.yaml:29:"));
        set = zeta_catalog_find_set(catalog, "s");
        assert_non_null(set);
        assert_int_equal(set->sampling, ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_TIME_BASED);
        zeta_catalog_destroy(catalog);
    }
}

/* Rule 12.1. */
static void link__only_event_sampling__set_is_left_out(void **state)
{
    static const char text[] = LAYOUT SET("s", "[event]") METRIC("M", "raw", "u64", "now(work)");
    struct zeta_diagnostics sink = {0};
    struct zeta_catalog *catalog = link_text(text, &sink);

    (void)state;
    assert_null(zeta_catalog_find_set(catalog, "s"));
    zeta_catalog_destroy(catalog);
}

/* What each record of the unit says is what a query record says, in whole words. Rule 12.2. */
static void evaluate__layout_of_samples__values_as_they_are(void **state)
{
    static const char text[] =
        "format: 1\n"
        "units: {u: {}}\n"
        "layouts:\n"
        "  - name: l\n"
        "    kind: sample\n"
        "    record: 64\n"
        "    header:\n"
        "      start: {at: 0, width: 64}\n"
        "      timestamp: {at: 8, width: 64}\n"
        "      flags: {at: 16, width: 32}\n"
        "      first: {in: flags, bit: 1, width: 1}\n"
        "      known: {at: 20, width: 32}\n"
        "    counters:\n"
        "      C: [{n: 2, at: 24, stride: 8, width: 64}]\n"
        "      F: [{n: 2, at: 40, stride: 8, width: 64, type: f64,\n"
        "           valid: {field: known, bit: 0, step: 1}}]\n"
        "    info:\n"
        "      - {name: QueryBeginTime, description: d, type: timestamp, value_type: u64,\n"
        "         class: exact, value: now(timestamp)}\n"
        "sets:\n" SET("s", "[time, event]")
            METRIC("GpuTime", "duration", "u64", "timestamp - start")
                METRIC("Count", "event", "u64", "C[0] + C[1]")
                    METRIC("Flag", "flag", "u32", "first")
                        METRIC("Share", "ratio", "f64", "F[0] * 2.0")
                            METRIC("Absent", "ratio", "f64", "F[1]");
    struct {
        struct zeta_query_record head;
        uint64_t start, timestamp, flags, known, count[2];
        double share[2];
    } record = {.head = {.size_bytes = sizeof(record), .begin_ticks = 500, .end_ticks = 1000},
                .start = 640,
                .timestamp = 1000,
                .flags = 2,
                .known = 1,
                .count = {UINT64_C(1) << 50, 5},
                .share = {1.25, 7.0}};
    struct zeta_catalog *catalog = load_text(text);
    struct zeta_compiled *compiled = compile_query(catalog, "s");
    zet_typed_value_t values[256];

    (void)state;
    assert_int_equal(zeta_compiled_record_bytes(compiled), sizeof(record));
    assert_int_equal(evaluate(compiled, 0, &record, sizeof(record), values), 6);
    assert_int_equal(values[0].value.ui64, 360);
    assert_int_equal(values[1].value.ui64, (UINT64_C(1) << 50) + 5);
    assert_int_equal(values[2].value.ui32, 1);
    assert_cmp(values[3].value.fp64, ==, 2.5);
    assert_true(isnan(values[4].value.fp64));
    assert_int_equal(values[5].value.ui64, 500);
    zeta_compiled_destroy(compiled);
    zeta_catalog_destroy(catalog);
}

/* Rule 12.1. */
static void check__events__no_query_form(void **state)
{
    static const char text[] =
        "format: 1\n"
        "units: {u: {}}\n"
        "layouts:\n"
        "  - name: l\n"
        "    kind: event\n"
        "    record: 32\n"
        "    header: {type: {at: 0, width: 16}, ticks: {at: 8, width: 64}}\n"
        "    events: {thing: 1}\n"
        "sets:\n" SET("s", "[tracer]") "      - {name: M, description: d, type: raw, value_type: "
                                       "u64, class: exact,\n"
                                       "         events: [thing], value: ticks}\n";
    struct zeta_diagnostics sink = {0};
    struct zeta_catalog *catalog = load_text(text);

    (void)state;
    assert_false(zeta_query_form_check(zeta_catalog_find_set(catalog, "s"), &sink));
    assert_non_null(
        strstr(sink.first_error, "set s: no event sampling, because its layout is of kind event"));
    zeta_catalog_destroy(catalog);
}

static void compile__maximum__of_the_expression_or_100(void **state)
{
    static const char text[] = LAYOUT SET(
        "s",
        "[event]") "      - {name: P, description: d, type: ratio, value_type: f32, unit: "
                   "percent,\n"
                   "         class: exact, value: 'f64(A[1])'}\n"
                   "      - {name: M, description: d, type: raw, value_type: u64, class: exact,\n"
                   "         value: 'A[1]', max: 'A[1] * 3'}\n";
    struct zeta_catalog *catalog = load_text(text);
    struct zeta_compiled *compiled = compile_query(catalog, "s");
    const struct record record = make_record(0);
    zet_typed_value_t values[2];
    struct zeta_evaluation found;

    (void)state;
    assert_int_equal(zeta_evaluate(compiled, ZET_METRIC_GROUP_CALCULATION_TYPE_MAX_METRIC_VALUES, 0,
                                   0, &record, sizeof(record), values, 2, &found),
                     ZE_RESULT_SUCCESS);
    assert_int_equal(found.value_count, 2);
    assert_cmp(values[0].value.fp32, ==, 100.0f);
    assert_int_equal(values[1].value.ui64, 21);
    zeta_compiled_destroy(compiled);
    zeta_catalog_destroy(catalog);
}

SUITE(query_form)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(evaluate__every_view__what_the_record_says),
        cmocka_unit_test(evaluate__bit_says_not_measured__nan),
        cmocka_unit_test(evaluate__equal_records_and_baselines__a_row_each),
        cmocka_unit_test(evaluate__records_of_tiles_and_of_other_sizes__only_those_wanted),
        cmocka_unit_test(link__values_of_running_counts__no_event_sampling),
        cmocka_unit_test(link__only_event_sampling__set_is_left_out),
        cmocka_unit_test(evaluate__layout_of_samples__values_as_they_are),
        cmocka_unit_test(check__events__no_query_form),
        cmocka_unit_test(compile__maximum__of_the_expression_or_100),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
