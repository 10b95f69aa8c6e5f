/*
 * The evaluator in nanoseconds per report, beside straight-line C made from the same set: every set
 * that is calculated, from reports and from query records.
 *
 * 4096 reports per call, always into the same buffers, one core. Two kinds of data: counters that
 * advance as in a running program, and random bytes. Values of both programs are compared before
 * anything is measured.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/formula/evaluate/evaluate.h"
#include "core/formula/sets/set.h"
#include "tests/bench/bench.h"
#include "tests/bench/bench_sets.h"
#include "tests/bench/straight.h"

#define REPORTS 4096u
/** The only record of running counters here, as fill_reports() writes it. */
#define REPORT 256u
#define ROUNDS 7
#define ROUND_S 0.02
#define VARIANTS 3u

static const char *const variants[VARIANTS] = {"avx512", "avx2", "base"};

static uint64_t next_random(uint64_t *seed)
{
    *seed ^= *seed >> 12;
    *seed ^= *seed << 25;
    *seed ^= *seed >> 27;
    return *seed * UINT64_C(2685821657736338717);
}

static void put_u32(unsigned char *report, size_t at, uint64_t value)
{
    uint32_t low = (uint32_t)value;

    memcpy(report + at, &low, sizeof(low));
}

/** Reports of a running program, one per millisecond. */
static void fill_reports(unsigned char *raw)
{
    uint64_t counters[36] = {0};
    uint64_t words[16] = {0};
    uint64_t seed = 1;
    uint64_t ticks = 12345;
    uint64_t clocks = 99;

    memset(raw, 0, (size_t)REPORTS * REPORT);
    for (uint32_t r = 0; r < REPORTS; r++) {
        unsigned char *report = raw + (size_t)r * REPORT;

        put_u32(report, 0, 1u << 19);
        put_u32(report, 4, ticks += 25000);
        put_u32(report, 12, clocks += 1000000 + next_random(&seed) % 1000);
        for (uint32_t i = 0; i < 36; i++) {
            counters[i] += i == 0 ? 1000000 : next_random(&seed) % 40000000;
            put_u32(report, i < 32 ? 16 + 4 * i : 144 + 4 * (i - 32), counters[i]);
            if (i < 32)
                report[160 + i] = (unsigned char)(counters[i] >> 32);
        }
        for (uint32_t i = 0; i < 16; i++)
            put_u32(report, 192 + 4 * i, words[i] += next_random(&seed) % 1000000);
    }
}

/** Records that stand alone: numbers of any size that work gives in a moment. */
static void fill_records(unsigned char *raw, size_t bytes)
{
    uint64_t seed = 3;

    for (size_t i = 0; i + 8 <= bytes; i += 8) {
        const uint64_t number = next_random(&seed) % 1000000;

        memcpy(raw + i, &number, sizeof(number));
    }
}

static void fill_random(unsigned char *raw, size_t bytes)
{
    uint64_t seed = 2;

    for (size_t i = 0; i < bytes; i++)
        raw[i] = (unsigned char)(next_random(&seed) >> 32);
}

struct bench {
    const struct zeta_compiled *compiled;
    const struct straight_peer *straight;
    unsigned char *raw;
    size_t raw_bytes;
    zet_typed_value_t *values;
    zet_typed_value_t *straight_values;
    uint32_t capacity;
};

/** What makes a record of random bytes a query record. */
static void put_query_heads(const struct bench *bench)
{
    const size_t record = zeta_compiled_record_bytes(bench->compiled);

    for (size_t at = 0; at < bench->raw_bytes; at += record) {
        put_u32(bench->raw, at, record);
        put_u32(bench->raw, at + 4, 0);
    }
}

static void fill(const struct bench *bench, bool is_query, bool is_random)
{
    const struct zeta_layout *layout = zeta_compiled_set(bench->compiled)->layout;

    if (is_random)
        fill_random(bench->raw, bench->raw_bytes);
    else if (layout->kind == ZETA_LAYOUT_DELTA)
        fill_reports(bench->raw);
    else
        fill_records(bench->raw, bench->raw_bytes);
    if (is_query)
        put_query_heads(bench);
}

static size_t run_ours(const struct bench *bench)
{
    struct zeta_evaluation result = {0};

    (void)zeta_evaluate(bench->compiled, ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES, 0, 0,
                        bench->raw, bench->raw_bytes, bench->values, bench->capacity, &result);
    return (size_t)result.row_count;
}

static size_t run_straight(const struct bench *bench)
{
    return bench->straight->run(bench->raw, bench->raw_bytes, bench->straight_values);
}

/** Nanoseconds per report of processor time, so that other programs on the machine disturb less. */
static double measure(const struct bench *bench, size_t (*run)(const struct bench *bench))
{
    const double begin = bench_seconds(CLOCK_THREAD_CPUTIME_ID);
    uint64_t calls = 0;
    double elapsed;

    do {
        (void)run(bench);
        calls++;
        elapsed = bench_seconds(CLOCK_THREAD_CPUTIME_ID) - begin;
    } while (elapsed < ROUND_S);
    return elapsed * 1e9 / (double)calls / REPORTS;
}

/** Compares type and payload; the bytes between them are nobody's. */
static bool same_values(const struct bench *bench)
{
    const uint32_t metrics = zeta_compiled_metric_count(bench->compiled);
    const char *name = bench->straight->name;
    const size_t rows = run_ours(bench);

    if (rows < REPORTS - 1 || run_straight(bench) != rows) {
        (void)fprintf(stderr, "%s: %zu rows of %u reports, or not the peer's\n", name, rows,
                      REPORTS);
        return false;
    }
    for (size_t i = 0; i < rows * metrics; i++) {
        const zet_typed_value_t *ours = &bench->values[i];
        const zet_typed_value_t *straight = &bench->straight_values[i];

        if (ours->type != straight->type || ours->value.ui64 != straight->value.ui64) {
            (void)fprintf(stderr, "%s: row %zu: %s differs\n", name, i / metrics,
                          zeta_compiled_metric(bench->compiled, (uint32_t)(i % metrics))->name);
            return false;
        }
    }
    return true;
}

static void print_figure(const struct bench_rounds *rounds)
{
    if (rounds->count == 0)
        (void)printf("  %13s", "-");
    else
        (void)printf("  %6.1f (%4.0f)", bench_least(rounds), bench_median(rounds));
}

static bool bench_data(const struct bench *bench, bool is_query, bool is_random)
{
    struct bench_rounds ours[VARIANTS] = {0};
    struct bench_rounds straight = {0};

    fill(bench, is_query, is_random);
    memset(bench->values, 0, bench->capacity * sizeof(*bench->values));
    memset(bench->straight_values, 0, bench->capacity * sizeof(*bench->values));
    if (!same_values(bench))
        return false;
    for (int round = 0; round < ROUNDS; round++) {
        for (size_t i = 0; i < VARIANTS; i++) {
            if (zeta_evaluate_use_variant(variants[i]))
                bench_add(&ours[i], measure(bench, run_ours));
        }
        bench_add(&straight, measure(bench, run_straight));
    }
    (void)printf("  %-16s %-8s %-7s %4u %5u", bench->straight->name,
                 is_query ? "queries" : "reports", is_random ? "random" : "usual",
                 zeta_compiled_metric_count(bench->compiled),
                 zeta_compiled_record_bytes(bench->compiled));
    for (size_t i = 0; i < VARIANTS; i++)
        print_figure(&ours[i]);
    print_figure(&straight);
    (void)printf("\n");
    (void)fflush(stdout);
    return true;
}

static bool bench_set(const struct bench_set *set, const struct straight_peer *straight)
{
    const size_t values = (size_t)REPORTS * zeta_compiled_metric_count(set->compiled);
    struct bench bench = {
        .compiled = set->compiled,
        .straight = straight,
        .raw_bytes = (size_t)REPORTS * zeta_compiled_record_bytes(set->compiled),
        .capacity = (uint32_t)values,
    };
    const bool is_delta = zeta_compiled_set(set->compiled)->layout->kind == ZETA_LAYOUT_DELTA;
    bool good = false;

    bench.raw = malloc(bench.raw_bytes);
    bench.values = malloc(values * sizeof(*bench.values));
    bench.straight_values = malloc(values * sizeof(*bench.values));
    if (is_delta && zeta_compiled_record_bytes(set->compiled) != REPORT)
        (void)fprintf(stderr, "%s: not a record of %u bytes\n", straight->name, REPORT);
    else if (bench.raw && bench.values && bench.straight_values)
        good = bench_data(&bench, set->is_query, false) && bench_data(&bench, set->is_query, true);
    free(bench.raw);
    free(bench.values);
    free(bench.straight_values);
    return good;
}

int main(void)
{
    static struct bench_sets sets;
    bool good = bench_sets_open(&sets) && sets.count == straight_peer_count;

    bench_begin(
        "evaluator: nanoseconds per report, best of 7 rounds (median), beside straight-line C",
        "RenderBasic from reports <= 50 ns with AVX2 or better");
    (void)printf("  %-16s %-8s %-7s %4s %5s  %13s  %13s  %13s  %13s\n", "set", "from", "data",
                 "vals", "bytes", variants[0], variants[1], variants[2], "straight C");
    for (uint32_t i = 0; good && i < sets.count; i++)
        good = bench_set(&sets.items[i], &straight_peers[i]);
    bench_sets_close(&sets);
    return good ? 0 : 1;
}
