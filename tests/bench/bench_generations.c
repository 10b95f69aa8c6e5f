/*
 * The evaluator on what the Intel plugin ships: RenderBasic of one platform of each generation
 * (ComputeBasic where there is no rendering) in nanoseconds per report, beside libi915_perf of
 * intel-gpu-tools on the same reports where it knows the platform.
 *
 * 4096 reports per call, always into the same buffer, one core. Two kinds of data: counters that
 * advance, and random bytes. Ours are typed values in a buffer; the library accumulates each pair
 * of reports and calls a function for every counter, whose results nobody keeps: less work. That
 * both give the same values is what unit.oa.oracle tests.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include <cmocka.h>

#include "core/formula/evaluate/evaluate.h"
#include "tests/bench/bench.h"
#include "tests/intel_data/data.h"
#include "tests/oa/oa_match.h"
#include "tests/oa/oa_sequence.h"

#define REPORTS 4096u
#define COUNTERS 256u
#define ROUNDS 7
#define ROUND_S 0.02
#define VARIANTS 3u

static const char *const variants[VARIANTS] = {"avx512", "avx2", "base"};

/** One platform of each generation; file is its name in the tests of tests/oa. */
static const struct generation {
    const char *name, *file;
    uint32_t device_id; /**< 0: the one that the library's platform has */
    const char *set;
} generations[] = {
    {"haswell", "hsw", 0, "RenderBasic"},     {"gen8", "bdw", 0, "RenderBasic"},
    {"gen9", "sklgt2", 0, "RenderBasic"},     {"gen10", "cnl", 0, "RenderBasic"},
    {"gen11", "icl", 0, "RenderBasic"},       {"gen12lp", "tglgt2", 0, "RenderBasic"},
    {"xehpg", "acmgt3", 0, "RenderBasic"},    {"mtl-arl", "mtlgt3", 0, "RenderBasic"},
    {"xehpc", "pvc", 0x0bd5, "ComputeBasic"}, {"xe2", "bmg", 0xe20b, "RenderBasic"},
    {"xe3", "ptl", 0xb080, "RenderBasic"},
};

struct bench {
    const struct generation *generation;
    struct oa_match match; /**< its oracle is NULL where the library does not know the platform */
    const struct oa_format *format;
    struct zeta_compiled *compiled;
    const struct oa_oracle_set *theirs;
    struct oa_oracle_function functions[COUNTERS]; /**< of their set */
    uint32_t function_count;
    unsigned char *reports;
    unsigned char *records; /**< the same reports, each behind the header that the library wants */
    zet_typed_value_t *values;
    uint32_t capacity;
};

static bool find_symbol(void *context, const char *name, struct zeta_number *out_value)
{
    *out_value = (struct zeta_number){ZETA_EXPR_U64, {.u64 = oa_match_symbol(context, name)}};
    return true;
}

/* ---- the two programs ---------------------------------------------------------------------- */

static void run_ours(const struct bench *bench)
{
    struct zeta_evaluation result = {0};

    (void)zeta_evaluate(bench->compiled, ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES, 0, 0,
                        bench->reports, (size_t)REPORTS * bench->format->report_bytes,
                        bench->values, bench->capacity, &result);
    if (result.row_count < REPORTS - 2)
        fail_msg("%s: %u rows of %u reports", bench->generation->name, (unsigned)result.row_count,
                 REPORTS);
}

static const unsigned char *record_at(const struct bench *bench, uint32_t index)
{
    return bench->records + (size_t)index * (bench->format->report_bytes + OA_ORACLE_RECORD_HEADER);
}

static void accumulate(const struct bench *bench)
{
    struct oa_oracle_deltas deltas;

    for (uint32_t i = 1; i < REPORTS; i++)
        oa_oracle_accumulate(bench->match.oracle, bench->theirs, record_at(bench, i - 1),
                             record_at(bench, i), &deltas);
}

/** Where their results go, so that they are calculated. */
static volatile struct {
    uint64_t integer;
    double number;
} kept;

/** As its own tools do: the deltas, then the function of every counter. */
static void run_theirs(const struct bench *bench)
{
    struct oa_oracle_deltas deltas;

    for (uint32_t i = 1; i < REPORTS; i++) {
        oa_oracle_accumulate(bench->match.oracle, bench->theirs, record_at(bench, i - 1),
                             record_at(bench, i), &deltas);
        for (uint32_t c = 0; c < bench->function_count; c++) {
            const struct oa_oracle_function *function = &bench->functions[c];

            if (function->u64)
                kept.integer = function->u64(bench->match.oracle, bench->theirs, deltas.deltas);
            else
                kept.number = function->f64(bench->match.oracle, bench->theirs, deltas.deltas);
        }
    }
}

/* ---- measuring ----------------------------------------------------------------------------- */

/** Nanoseconds per report of processor time, so that other programs on the machine disturb less. */
static double measure(const struct bench *bench, void (*run)(const struct bench *bench))
{
    const double begin = bench_seconds(CLOCK_THREAD_CPUTIME_ID);
    uint64_t calls = 0;
    double elapsed;

    do {
        run(bench);
        calls++;
        elapsed = bench_seconds(CLOCK_THREAD_CPUTIME_ID) - begin;
    } while (elapsed < ROUND_S);
    return elapsed * 1e9 / (double)calls / REPORTS;
}

static void print_figure(const struct bench_rounds *rounds)
{
    if (rounds->count == 0)
        (void)printf("  %13s", "-");
    else
        (void)printf("  %6.1f (%4.0f)", bench_least(rounds), bench_median(rounds));
}

static void bench_data(const struct bench *bench, oa_sequence_fn fill, const char *data)
{
    const uint32_t bytes = bench->format->report_bytes;
    struct bench_rounds ours[VARIANTS] = {0};
    struct bench_rounds theirs = {0}, alone = {0};
    uint64_t seed = 1;

    fill(bench->format, bench->reports, REPORTS, &seed);
    for (uint32_t i = 0; i < REPORTS; i++)
        memcpy((unsigned char *)record_at(bench, i) + OA_ORACLE_RECORD_HEADER,
               bench->reports + (size_t)i * bytes, bytes);
    for (int round = 0; round < ROUNDS; round++) {
        for (size_t i = 0; i < VARIANTS; i++) {
            if (zeta_evaluate_use_variant(variants[i]))
                bench_add(&ours[i], measure(bench, run_ours));
        }
        if (bench->theirs) {
            bench_add(&theirs, measure(bench, run_theirs));
            bench_add(&alone, measure(bench, accumulate));
        }
    }
    (void)printf("  %-8s %-12s %-9s %5u %5u", bench->generation->name, bench->generation->set, data,
                 bytes, zeta_compiled_metric_count(bench->compiled));
    for (size_t i = 0; i < VARIANTS; i++)
        print_figure(&ours[i]);
    print_figure(&theirs);
    print_figure(&alone);
    if (bench->theirs)
        (void)printf(" %5u", bench->function_count);
    (void)printf("\n");
    (void)fflush(stdout);
}

static void bench_set(struct bench *bench, const struct zeta_set *set)
{
    const struct zeta_symbol_lookup lookup = {.find = find_symbol, .context = &bench->match};
    const size_t record_bytes = bench->format->report_bytes + OA_ORACLE_RECORD_HEADER;
    struct zeta_diagnostics sink = {0};

    if (zeta_set_compile(bench->match.catalog, set, &lookup, &sink, &bench->compiled) !=
        ZE_RESULT_SUCCESS)
        fail_msg("%s", sink.first_error);
    assert_int_equal(zeta_compiled_record_bytes(bench->compiled), bench->format->report_bytes);
    bench->capacity = REPORTS * zeta_compiled_metric_count(bench->compiled);
    bench->reports = calloc(REPORTS, bench->format->report_bytes);
    bench->records = calloc(REPORTS, record_bytes);
    bench->values = calloc(bench->capacity, sizeof(*bench->values));
    assert_true(bench->reports && bench->records && bench->values);
    bench_data(bench, oa_sequence_advancing, "advancing");
    bench_data(bench, oa_sequence_random, "random");
    zeta_compiled_destroy(bench->compiled);
    free(bench->reports);
    free(bench->records);
    free(bench->values);
}

static void find_theirs(struct bench *bench, const char *uuid)
{
    bench->theirs = oa_oracle_find(bench->match.oracle, uuid);
    assert_non_null(bench->theirs);
    bench->function_count = oa_oracle_counter_count(bench->theirs);
    assert_true(bench->function_count <= COUNTERS);
    for (uint32_t i = 0; i < bench->function_count; i++)
        bench->functions[i] = oa_oracle_function(oa_oracle_counter(bench->theirs, i));
}

/** The platform's set; fused in the first way that tests/oa knows, which is the full one. */
static void bench_platform(struct bench *bench)
{
    const struct zeta_catalog *catalog = bench->match.catalog;

    for (uint32_t i = 0; i < zeta_catalog_set_count(catalog); i++) {
        const struct zeta_set *set = zeta_catalog_set(catalog, i);

        if (strcmp(set->name, bench->generation->set) != 0)
            continue;
        if (bench->match.oracle)
            find_theirs(bench, set->uuid);
        bench_set(bench, set);
        return;
    }
    fail_msg("%s has no set %s", bench->generation->name, bench->generation->set);
}

static const struct generation *current;

static void bench_match(const struct oa_match *match)
{
    struct bench bench = {
        .generation = current, .match = *match, .format = match->device.platform->format};

    if (match->device.fusing == &match->device.platform->fusings[0])
        bench_platform(&bench);
}

static void bench_generation(bool has_library)
{
    const struct oa_line *line = oa_line_find(current->file);
    const uint32_t device_id = line ? line->device_id : current->device_id;
    struct zeta_catalog *catalog = data_device_catalog(device_id);
    const struct oa_platform *platform = oa_platform_find(current->file);
    static const struct oa_line unknown = {0};
    const struct oa_match alone = {.line = line ? line : &unknown,
                                   .device = {platform, &platform->fusings[0]},
                                   .catalog = catalog};

    if (line && has_library)
        oa_match_each(line, catalog, OA_VIEW_TRUE, bench_match);
    else
        bench_match(&alone);
    zeta_catalog_destroy(catalog);
}

int main(void)
{
    /* What tests/oa gives ends the program when something is wrong: no test is running. */
    const char *missing = oa_oracle_load();

    bench_begin("evaluator: nanoseconds per report of Intel's generations, best of 7 rounds "
                "(median), beside libi915_perf (untyped values that nobody keeps)",
                "Tiger Lake <= 50 ns with AVX2 or better");
    if (missing)
        (void)printf("  no peer: %s\n", missing);
    (void)printf("  %-8s %-12s %-9s %5s %5s  %13s  %13s  %13s  %13s  %13s  %s\n", "", "set", "data",
                 "bytes", "vals", variants[0], variants[1], variants[2], "libi915_perf",
                 "accumulate", "vals");
    for (size_t i = 0; i < sizeof(generations) / sizeof(generations[0]); i++) {
        current = &generations[i];
        bench_generation(!missing);
    }
    return 0;
}
