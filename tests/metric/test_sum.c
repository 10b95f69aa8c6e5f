/*
 * Values over many rows: formulas over what all rows counted, rows without a denominator, tiles,
 * breaks, states, fields that are no counts, and integers above 64 bits.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/formula/evaluate/sum.h"
#include "core/formula/record/layout.h"
#include "tests/metric/support.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"
#include "zeta/query_record.h"

#define RECORD 64u
#define MOST 16u /* metrics */

#define METRIC(name, type, value_type, value)                                                      \
    "      - {name: " name ", description: d, type: " type ", value_type: " value_type             \
    ", class: exact, value: '" value "'}\n"
#define SET(name, layout, sampling)                                                                \
    "  - name: " name "\n"                                                                         \
    "    description: d\n"                                                                         \
    "    domain: 0\n"                                                                              \
    "    unit: u\n"                                                                                \
    "    layout: " layout "\n"                                                                     \
    "    sampling: " sampling "\n"                                                                 \
    "    metrics:\n"

static const char set_text[] =
    "format: 1\n"
    "symbols: {Hz: {value: 25000000}, Cores: {type: u64, from: provider}}\n"
    "units: {u: {}}\n"
    "layouts:\n"
    "  - name: l\n"
    "    kind: delta\n"
    "    record: 64\n"
    "    header:\n"
    "      flags: {at: 0, width: 32}\n"
    "      ticks: {at: 4, width: 32, delta: 32}\n"
    "    counters:\n"
    "      A: [{n: 3, at: 8, stride: 4, width: 32}]\n"
    "      V: [{n: 1, at: 20, width: 32, valid: {field: flags, bit: 1}}]\n"
    "      W: [{n: 4, at: 24, stride: 8, width: 64}]\n"
    "      F: [{n: 1, at: 56, width: 64, type: f64}]\n"
    "    identity: [ticks]\n"
    "sets:\n" SET("cache", "l", "[time, event]") METRIC("GpuTime", "duration", "u64",
                                                        "muldiv(ticks, 1000000000, $Hz)")
        METRIC("Hits", "event", "u32", "A[0]") METRIC("Misses", "event", "u64", "A[1]") METRIC(
            "HitRate", "ratio", "f32",
            "f64(100 * Hits) / f64(Hits + Misses)") METRIC("Whole", "throughput", "u64",
                                                           "Hits * 1000 / Misses")
            METRIC("Time", "timestamp", "u64", "muldiv(now(ticks), 1000000000, $Hz)") METRIC(
                "Gauge", "event", "u64",
                "now(flags)") METRIC("Any", "ratio", "bool8",
                                     "Misses") METRIC("Chosen", "ratio", "f64",
                                                      "Misses > 0 ? f64(Hits) / f64(Misses) : -1.0")
                METRIC("Scaled", "ratio", "u64", "muldiv(Hits, 1000, Misses)") METRIC(
                    "Rest", "event", "u64", "Hits % Misses") SET("wide", "l", "[time]")
                    METRIC("Share", "ratio", "f64", "f64(W[0] * 100) / f64(W[1])") METRIC(
                        "Parts", "ratio", "f64",
                        "f64((W[0] * 100 - W[1] * 50) << 2) / f64(W[1] / 4)")
                        METRIC("Back", "event", "u64", "A[0] + (-A[1])") METRIC(
                            "Order", "ratio", "u64", "max(W[0] * 100, W[1]) / (W[1] + ~W[1] + 2)")
                            METRIC("Sum", "event", "u64", "W[0] * 100") SET(
                                "ends",
                                "l",
                                "[time]") METRIC("Span", "duration", "u64",
                                                 "now(ticks) - before(ticks)")
                                METRIC("Real", "event", "f64", "F[0] * 2.0") SET(
                                    "validity",
                                    "l",
                                    "[time]") METRIC("Valid", "ratio", "f32",
                                                     "f64(V[0]) / f64(A[0])")
                                    METRIC("Always", "event", "u64", "A[0]") SET(
                                        "cores", "l",
                                        "[time]") METRIC("Active", "ratio", "f64",
                                                         "f64(100 * A[0]) / f64(A[1] * $Cores)")
                                        METRIC("PerCore", "event", "u64", "A[0] / $Cores") METRIC(
                                            "Percent",
                                            "ratio", "f64",
                                            "Active * 1.0 / 100.0")
                                            METRIC("Busy", "ratio", "f64",
                                                   "A[1] == 0 ? 0.0 : f64(100 * A[0]) / f64(A[1])");

static const char sample_text[] =
    "format: 1\n"
    "units: {u: {}}\n"
    "layouts:\n"
    "  - name: p\n"
    "    kind: sample\n"
    "    record: 64\n"
    "    header:\n"
    "      id: {at: 0, width: 32}\n"
    "      begin: {at: 8, width: 64}\n"
    "      end: {at: 16, width: 64}\n"
    "    counters:\n"
    "      C: [{n: 2, at: 24, stride: 8, width: 64}]\n"
    "      R: [{n: 1, at: 40, width: 64, type: f64}]\n"
    "sets:\n" SET("intervals", "p", "[time, event]")
        METRIC("GpuTime", "duration", "u64", "end - begin") METRIC("Work", "event", "u64", "C[0]")
            METRIC("Rate", "throughput", "f64", "f64(C[0]) / f64(GpuTime)")
                METRIC("Energy", "event", "f64", "R[0]") METRIC("Id", "ip", "u64", "id")
                    METRIC("Share", "ratio", "f64", "100.0 * R[0]")
                        METRIC("Level", "throughput", "u64", "C[1]")
                            METRIC("Any", "ratio", "bool8", "C[1] > 0");

enum { GPU_TIME, HITS, MISSES, HIT_RATE, WHOLE, TIME, GAUGE, ANY, CHOSEN, SCALED, REST };

struct fixture {
    struct zeta_catalog *catalog;
    struct zeta_compiled *compiled[2];
    struct zeta_sum_plan *plans[2];
    uint32_t tile_count;
    struct zeta_sum sum;
    struct zeta_sum_value values[MOST];
    unsigned char *raw;
    size_t used;
    uint32_t counts[3]; /**< A, as they run */
    uint32_t ticks;
};

static void plan_tile(struct fixture *f, uint32_t tile, const char *set, uint64_t cores)
{
    const struct reference_symbol symbols[] = {{"Cores", {.type = ZETA_EXPR_U64, .u.u64 = cores}},
                                               {NULL, {0}}};

    f->compiled[tile] = compile_set(f->catalog, set, symbols);
    assert_int_equal(zeta_sum_plan_create(f->compiled[tile], false, &f->plans[tile]),
                     ZE_RESULT_SUCCESS);
}

static void open_fixture(struct fixture *f, const char *set)
{
    memset(f, 0, sizeof(*f));
    f->catalog = load_text(strcmp(set, "intervals") == 0 ? sample_text : set_text);
    plan_tile(f, 0, set, 8);
    f->tile_count = 1;
    f->ticks = 1000; /* a slot of zeros would be padding */
    assert_true(zeta_sum_init(&f->sum, f->plans, 1));
    f->raw = calloc(4096, RECORD);
    assert_non_null(f->raw);
}

static void close_fixture(struct fixture *f)
{
    free(f->raw);
    zeta_sum_finish(&f->sum);
    for (uint32_t i = 0; i < f->tile_count; i++) {
        zeta_sum_plan_destroy(f->plans[i]);
        zeta_compiled_destroy(f->compiled[i]);
    }
    zeta_catalog_destroy(f->catalog);
}

static unsigned char *add_slot(struct fixture *f)
{
    unsigned char *slot = f->raw + f->used;

    f->used += RECORD;
    return slot;
}

static void add_control(struct fixture *f, enum zeta_slot_kind kind, uint32_t value)
{
    const struct zeta_slot_control control = {kind, value, 0};

    zeta_slot_write(&control, add_slot(f), RECORD);
}

/** A report some ticks later, with so much more in A[0] and A[1]. */
static unsigned char *add_report(struct fixture *f, uint32_t ticks, uint32_t a0, uint32_t a1)
{
    unsigned char *slot = add_slot(f);

    f->ticks += ticks;
    f->counts[0] += a0;
    f->counts[1] += a1;
    memcpy(slot + 4, &f->ticks, 4);
    memcpy(slot + 8, f->counts, sizeof(f->counts));
    return slot;
}

static void add_row(void *user, const struct zeta_sum_row *row)
{
    zeta_sum_add(user, row);
}

static void add_data(struct fixture *f)
{
    for (uint32_t i = 0; i < f->tile_count; i++)
        assert_int_equal(zeta_sum_walk(f->plans[i], i, 0, f->raw, f->used, add_row, &f->sum),
                         ZE_RESULT_SUCCESS);
    f->used = 0;
}

static void calculate(struct fixture *f)
{
    assert_true(zeta_sum_values(&f->sum, f->values));
}

static uint64_t u64_of(const struct fixture *f, uint32_t metric)
{
    assert_true(f->values[metric].has_value);
    assert_int_equal(f->values[metric].value.type, ZET_VALUE_TYPE_UINT64);
    return f->values[metric].value.value.ui64;
}

static double f64_of(const struct fixture *f, uint32_t metric)
{
    assert_true(f->values[metric].has_value);
    assert_int_equal(f->values[metric].value.type, ZET_VALUE_TYPE_FLOAT64);
    return f->values[metric].value.value.fp64;
}

/* Short rows with many accesses, long ones with few, and rows without any. Rule 14.3. */
static void value__ratio__is_formula_over_all_counts(void **state)
{
    struct fixture f;

    (void)state;
    open_fixture(&f, "cache");
    add_report(&f, 0, 0, 0);
    add_report(&f, 1, 970, 30);
    add_report(&f, 1000000, 0, 0);
    add_report(&f, 5000, 0, 1);
    add_report(&f, 10, 9, 0);
    add_data(&f);
    calculate(&f);
    assert_cmp(u64_of(&f, GPU_TIME), ==, 40 * UINT64_C(1005011));
    assert_cmp(u64_of(&f, HITS), ==, 979);
    assert_cmp(u64_of(&f, MISSES), ==, 31);
    assert_cmp(f64_of(&f, HIT_RATE), ==, 97900.0 / 1010.0);
    assert_cmp(u64_of(&f, WHOLE), ==, 979000 / 31);
    assert_cmp(u64_of(&f, SCALED), ==, 979000 / 31);
    assert_cmp(u64_of(&f, REST), ==, 979 % 31);
    assert_cmp(f64_of(&f, CHOSEN), ==, 979.0 / 31.0);
    assert_cmp(u64_of(&f, TIME), ==, 40 * UINT64_C(1006011));
    assert_true(f.values[ANY].has_value && f.values[ANY].value.value.b8);
    close_fixture(&f);
}

/* Rule 14.4. */
static void rows__without_denominator__count_in_no_bound(void **state)
{
    struct fixture f;

    (void)state;
    open_fixture(&f, "cache");
    add_report(&f, 0, 0, 0);
    add_report(&f, 10, 30, 10); /* 75 % */
    add_report(&f, 10, 0, 0);   /* nothing */
    add_report(&f, 10, 10, 30); /* 25 % */
    add_report(&f, 10, 0, 0);
    add_data(&f);
    assert_int_equal(f.sum.counts[HIT_RATE].rows, 2);
    assert_cmp(f.sum.counts[HIT_RATE].min.value.fp32, ==, 25.0F);
    assert_cmp(f.sum.counts[HIT_RATE].max.value.fp32, ==, 75.0F);
    assert_cmp(f.sum.counts[HIT_RATE].last.value.fp32, ==, 25.0F);
    assert_int_equal(f.sum.counts[HITS].rows, 4);
    assert_cmp(f.sum.counts[HITS].min.value.ui32, ==, 0);
    assert_int_equal(f.sum.counts[CHOSEN].rows, 4); /* the formula says what else it is */
    assert_cmp(f.sum.counts[CHOSEN].min.value.fp64, ==, -1.0);
    assert_int_equal(f.sum.counts[WHOLE].rows, 2);
    assert_int_equal(f.sum.counts[SCALED].rows, 2);
    assert_int_equal(f.sum.counts[REST].rows, 2);
    close_fixture(&f);
}

/* Rule 14.4. */
static void value__nothing_to_divide_by__is_none(void **state)
{
    struct fixture f;

    (void)state;
    open_fixture(&f, "cache");
    calculate(&f);
    assert_false(f.values[GPU_TIME].has_value); /* no rows */
    add_report(&f, 0, 0, 0);
    add_report(&f, 10, 0, 0);
    add_report(&f, 10, 0, 0);
    add_data(&f);
    calculate(&f);
    assert_cmp(u64_of(&f, HITS), ==, 0);
    assert_false(f.values[HIT_RATE].has_value);
    assert_false(f.values[WHOLE].has_value);
    assert_cmp(f64_of(&f, CHOSEN), ==, -1.0);
    close_fixture(&f);
}

/* Rule 14.3. */
static void value__in_pieces_and_over_breaks__is_that_of_the_rows(void **state)
{
    struct fixture f;

    (void)state;
    open_fixture(&f, "cache");
    add_report(&f, 0, 0, 0);
    add_report(&f, 10, 4, 1);
    add_data(&f);
    add_report(&f, 0, 0, 0); /* a read begins with the last record of the read before */
    add_report(&f, 10, 6, 1);
    add_control(&f, ZETA_SLOT_BREAK, ZETA_BREAK_LOST);
    add_report(&f, 100000, 1000, 1000);
    add_report(&f, 10, 6, 2);
    add_data(&f);
    calculate(&f);
    assert_cmp(u64_of(&f, HITS), ==, 16);
    assert_cmp(f64_of(&f, HIT_RATE), ==, 80.0);
    assert_cmp(u64_of(&f, GPU_TIME), ==, 30 * 40);
    close_fixture(&f);
}

/* Rule 14.5. */
static void value__sum_of_small_counters__does_not_wrap(void **state)
{
    struct fixture f;

    (void)state;
    open_fixture(&f, "cache");
    add_report(&f, 0, 0, 0);
    for (uint32_t i = 0; i < 10; i++)
        add_report(&f, 1, 4000000000U, 1);
    add_data(&f);
    calculate(&f);
    assert_cmp(u64_of(&f, HITS), ==, UINT64_C(40000000000)); /* of a u32 metric */
    assert_cmp(u64_of(&f, WHOLE), ==, UINT64_C(4000000000000));
    close_fixture(&f);
}

/* Rule 14.5. */
static void value__products_of_sums__have_128_bits(void **state)
{
    const uint64_t step[2] = {UINT64_C(1) << 60, UINT64_C(1) << 61};
    struct fixture f;

    (void)state;
    open_fixture(&f, "wide");
    for (uint64_t i = 0; i < 4; i++) {
        const uint64_t words[2] = {i * step[0], i * step[1]};

        memcpy(add_report(&f, 1, 2, 5) + 24, words, sizeof(words));
    }
    add_data(&f);
    calculate(&f);
    assert_cmp(f64_of(&f, 0), ==, 50.0);
    assert_cmp(f64_of(&f, 1), ==, 0.0);
    assert_cmp(u64_of(&f, 2), ==, (uint64_t)-9); /* as in a row */
    assert_cmp(u64_of(&f, 3), ==, UINT64_MAX);
    assert_cmp(u64_of(&f, 4), ==, UINT64_MAX);
    close_fixture(&f);
}

/* Rule 14.3. */
static void value__fields_that_are_no_counts__have_first_and_last(void **state)
{
    struct fixture f;

    (void)state;
    open_fixture(&f, "ends");
    for (uint32_t i = 1; i < 5; i++) {
        const double real = 0.5 * i;

        memcpy(add_report(&f, 10 * i, 0, 0) + 56, &real, sizeof(real));
    }
    add_data(&f);
    calculate(&f);
    assert_cmp(u64_of(&f, 0), ==, 90);  /* 100 - 10 */
    assert_cmp(f64_of(&f, 1), ==, 3.0); /* 2 * (2.0 - 0.5) */
    close_fixture(&f);
}

/* Rule 14.4. */
static void value__field_not_measured__its_rows_count_nowhere(void **state)
{
    struct fixture f;

    (void)state;
    open_fixture(&f, "validity");
    for (uint32_t i = 0; i < 6; i++) {
        const uint32_t flags = i < 3 ? 2 : 0;
        const uint32_t count = i * 10;
        unsigned char *report = add_report(&f, 10, 40, 0);

        memcpy(report, &flags, 4);
        memcpy(report + 20, &count, 4);
    }
    add_data(&f);
    calculate(&f);
    assert_int_equal(f.sum.counts[0].rows, 2);
    assert_cmp(f64_of(&f, 0), ==, 0.25); /* 20 of 80, and not of 200 */
    assert_cmp(u64_of(&f, 1), ==, 200);
    close_fixture(&f);
}

/* The fixture with two tiles, of two and of four cores. */
static void open_tiles(struct fixture *f)
{
    open_fixture(f, "cores");
    zeta_sum_finish(&f->sum);
    zeta_sum_plan_destroy(f->plans[0]);
    zeta_compiled_destroy(f->compiled[0]);
    f->tile_count = 2;
    plan_tile(f, 0, "cores", 2);
    plan_tile(f, 1, "cores", 4);
    assert_true(zeta_sum_plan_fits(f->plans[0], f->plans[1]));
    assert_true(zeta_sum_init(&f->sum, f->plans, 2));
}

/* A condition is of what all tiles counted: of the second alone here, for the first one slept. */
static void value__condition_on_a_sleeping_tile__is_asked_of_the_sums(void **state)
{
    struct fixture f;

    (void)state;
    open_tiles(&f);
    add_report(&f, 1, 0, 0);
    add_report(&f, 1, 0, 0);
    add_control(&f, ZETA_SLOT_TILE, 1);
    add_report(&f, 1, 0, 0);
    add_report(&f, 1, 500, 1000);
    add_data(&f);
    calculate(&f);
    assert_cmp(fabs(f64_of(&f, 3) - 50.0), <, 1e-9);
    close_fixture(&f);
}

/* Two cores that are busy all the time, and four that are idle half of it: 4 of 6. Rule 14.6. */
static void value__tiles_of_different_size__amounts_are_added_before_divisions(void **state)
{
    struct fixture f;

    (void)state;
    open_tiles(&f);
    add_report(&f, 1, 0, 0);
    add_report(&f, 1, 2000, 1000);
    add_control(&f, ZETA_SLOT_TILE, 1);
    add_report(&f, 1, 0, 0);
    add_report(&f, 1, 2000, 1000);
    add_data(&f);
    calculate(&f);
    assert_cmp(fabs(f64_of(&f, 0) - 100.0 * 4000 / 6000), <, 1e-9);
    assert_cmp(u64_of(&f, 1), ==, 1000 + 500);
    assert_cmp(fabs(f64_of(&f, 2) - 4.0 / 6.0), <, 1e-9);
    close_fixture(&f);
}

/* Rule 14.3. */
static void value__samples__every_number_is_added(void **state)
{
    struct fixture f;

    (void)state;
    open_fixture(&f, "intervals");
    for (uint64_t i = 1; i < 4; i++) {
        const uint64_t words[4] = {1000 * i, 1000 * i + 10 * i, i, 4 * i};
        const double real = 0.25 * (double)i;
        unsigned char *sample = add_slot(&f);

        memset(sample, 0, RECORD);
        sample[0] = (unsigned char)i;
        memcpy(sample + 8, words, sizeof(words));
        memcpy(sample + 40, &real, sizeof(real));
    }
    add_data(&f);
    calculate(&f);
    assert_cmp(u64_of(&f, 0), ==, 60);
    assert_cmp(u64_of(&f, 1), ==, 6);
    assert_cmp(f64_of(&f, 2), ==, 0.1);
    assert_cmp(f64_of(&f, 3), ==, 1.5);
    assert_cmp(u64_of(&f, 4), ==, 3);
    assert_cmp(f64_of(&f, 5), ==, 50.0);
    assert_cmp(u64_of(&f, 6), ==, 8);
    assert_true(f.values[7].value.value.b8);
    close_fixture(&f);
}

/** The same for the query form of a set. */
static void open_queries(struct fixture *f, const char *set)
{
    struct zeta_compiled *compiled = NULL;

    open_fixture(f, set);
    assert_int_equal(zeta_set_compile_query(f->catalog, zeta_catalog_find_set(f->catalog, set),
                                            NULL, NULL, &compiled),
                     ZE_RESULT_SUCCESS);
    zeta_sum_finish(&f->sum);
    zeta_sum_plan_destroy(f->plans[0]);
    zeta_compiled_destroy(f->compiled[0]);
    f->compiled[0] = compiled;
    assert_int_equal(zeta_sum_plan_create(compiled, false, &f->plans[0]), ZE_RESULT_SUCCESS);
    assert_true(zeta_sum_init(&f->sum, f->plans, 1));
}

/* Rule 14.3. */
static void value__queries_of_samples__every_number_is_added(void **state)
{
    struct {
        struct zeta_query_record head;
        uint64_t id, begin, end, work[2];
        double energy;
    } queries[2] = {0};
    struct fixture f;

    (void)state;
    open_queries(&f, "intervals");
    for (uint32_t i = 0; i < 2; i++) {
        queries[i].head.size_bytes = sizeof(queries[i]);
        queries[i].begin = 1000 * (i + 1);
        queries[i].end = 1000 * (i + 1) + 10 * (i + 1);
        queries[i].work[0] = i + 1;
        queries[i].energy = 0.25;
    }
    memcpy(f.raw, queries, sizeof(queries));
    f.used = sizeof(queries);
    add_data(&f);
    calculate(&f);
    assert_cmp(u64_of(&f, 0), ==, 30);
    assert_cmp(u64_of(&f, 1), ==, 3);
    assert_cmp(f64_of(&f, 2), ==, 0.1);
    assert_cmp(f64_of(&f, 3), ==, 0.5);
    close_fixture(&f);
}

/* Rule 14.3. */
static void value__query_records__are_added(void **state)
{
    struct {
        struct zeta_query_record head;
        uint64_t field[2 + 3 + 1 + 4 + 1];
    } queries[3] = {0};
    struct fixture f;

    (void)state;
    open_queries(&f, "cache");
    for (uint32_t i = 0; i < 3; i++) {
        queries[i].head.size_bytes = sizeof(queries[i]);
        queries[i].head.begin_ticks = 100 * (i + 1);
        queries[i].head.end_ticks = 100 * (i + 1) + 7;
        queries[i].field[0] = i + 1; /* flags */
        queries[i].field[1] = 7;     /* ticks */
        queries[i].field[2] = UINT64_C(3) << 40;
        queries[i].field[3] = i == 0 ? UINT64_C(3) << 40 : 0;
    }
    memcpy(f.raw, queries, sizeof(queries));
    f.used = sizeof(queries);
    add_data(&f);
    calculate(&f);
    assert_cmp(u64_of(&f, GPU_TIME), ==, 21 * 40);
    assert_cmp(u64_of(&f, HITS), ==, UINT64_C(9) << 40);
    assert_cmp(f64_of(&f, HIT_RATE), ==, 75.0);
    assert_cmp(u64_of(&f, TIME), ==, 300 * 40); /* the last began then */
    assert_cmp(u64_of(&f, GAUGE), ==, 3);
    close_fixture(&f);
}

static void merge__two_sums__as_if_it_were_one(void **state)
{
    struct zeta_sum parts[2];
    struct fixture f;

    (void)state;
    open_fixture(&f, "cache");
    for (uint32_t i = 0; i < 2; i++) {
        assert_true(zeta_sum_init(&parts[i], f.plans, 1));
        add_report(&f, 5, 0, 0);
        add_report(&f, 10, 10 * (i + 1), i);
        assert_int_equal(zeta_sum_walk(f.plans[0], 0, 0, f.raw, f.used, add_row, &parts[i]),
                         ZE_RESULT_SUCCESS);
        f.used = 0;
    }
    zeta_sum_merge(&f.sum, &parts[0]);
    zeta_sum_merge(&f.sum, &parts[1]);
    calculate(&f);
    assert_cmp(u64_of(&f, HITS), ==, 30);
    assert_cmp(f64_of(&f, HIT_RATE), ==, 3000.0 / 31.0);
    assert_cmp(u64_of(&f, TIME), ==, 1030 * 40);
    assert_int_equal(f.sum.counts[HIT_RATE].rows, 2);
    assert_cmp(f.sum.counts[HITS].min.value.ui32, ==, 10);
    assert_cmp(f.sum.counts[HITS].max.value.ui32, ==, 20);
    zeta_sum_finish(&parts[0]);
    zeta_sum_finish(&parts[1]);
    close_fixture(&f);
}

static void rows__of_every_variant__are_those_of_calculation(void *context)
{
    struct fixture *f = context;
    zet_typed_value_t values[64 * MOST];
    struct zeta_evaluation found;

    zeta_sum_finish(&f->sum);
    assert_true(zeta_sum_init(&f->sum, f->plans, 1));
    assert_int_equal(zeta_evaluate(f->compiled[0], ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES,
                                   0, 0, f->raw, f->used, values, 64 * MOST, &found),
                     ZE_RESULT_SUCCESS);
    assert_int_equal(zeta_sum_walk(f->plans[0], 0, 0, f->raw, f->used, add_row, &f->sum),
                     ZE_RESULT_SUCCESS);
    calculate(f);
    assert_int_equal(f->sum.counts[HITS].rows, found.row_count);
    for (uint32_t m = 0; m < zeta_compiled_metric_count(f->compiled[0]); m++)
        assert_true(
            f->sum.counts[m].rows < found.row_count ||
            same_value(
                &f->sum.counts[m].last,
                &values[found.value_count - zeta_compiled_metric_count(f->compiled[0]) + m]));
    assert_cmp(u64_of(f, HITS), ==, 1770);
}

static void rows__all_variants__give_the_same(void **state)
{
    struct fixture f;

    (void)state;
    open_fixture(&f, "cache");
    for (uint32_t i = 0; i < 60; i++)
        add_report(&f, 10, i, i % 3 ? 7 : 0);
    for_each_variant(rows__of_every_variant__are_those_of_calculation, &f);
    close_fixture(&f);
}

SUITE(sum)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(value__ratio__is_formula_over_all_counts),
        cmocka_unit_test(rows__without_denominator__count_in_no_bound),
        cmocka_unit_test(value__nothing_to_divide_by__is_none),
        cmocka_unit_test(value__in_pieces_and_over_breaks__is_that_of_the_rows),
        cmocka_unit_test(value__sum_of_small_counters__does_not_wrap),
        cmocka_unit_test(value__products_of_sums__have_128_bits),
        cmocka_unit_test(value__fields_that_are_no_counts__have_first_and_last),
        cmocka_unit_test(value__field_not_measured__its_rows_count_nowhere),
        cmocka_unit_test(value__tiles_of_different_size__amounts_are_added_before_divisions),
        cmocka_unit_test(value__condition_on_a_sleeping_tile__is_asked_of_the_sums),
        cmocka_unit_test(value__samples__every_number_is_added),
        cmocka_unit_test(value__queries_of_samples__every_number_is_added),
        cmocka_unit_test(value__query_records__are_added),
        cmocka_unit_test(merge__two_sums__as_if_it_were_one),
        cmocka_unit_test(rows__all_variants__give_the_same),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
