/*
 * The evaluator in nanoseconds per report, beside straight-line C made from the same set.
 *
 * 4096 reports per call, always into the same buffers, one core. Two kinds of data: counters that
 * advance as in a running program (one report per millisecond), and random bytes. Values of both
 * programs are compared before anything is measured.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/metric/evaluate.h"
#include "core/metric/set.h"
#include "tests/bench/straight.h"

#define REPORT 256u
#define REPORTS 4096u
#define MAX_METRICS 64u
/** Each figure is the best of this many measurements of this length. */
#define ROUNDS 7
#define ROUND_NS 60000000u

typedef size_t (*straight_fn)(const unsigned char *raw, size_t raw_bytes,
                              zet_typed_value_t *values);

struct subject {
    const char *name;
    const char *set;
    const char *files[2];
    straight_fn straight;
};

static const struct subject subjects[] = {
    {"ComputeBasic of the virtual GPU",
     "ComputeBasic",
     {ZETA_BENCH_SOURCE "/plugins/vgpu/metrics/layout.yaml",
      ZETA_BENCH_SOURCE "/plugins/vgpu/metrics/oa.yaml"},
     straight_compute_basic},
    {"shape of Tiger Lake RenderBasic",
     "RenderBasic",
     {ZETA_BENCH_SOURCE "/tests/bench/data/render_basic.yaml", NULL},
     straight_render_basic},
};

/** Processor time of this thread, so that other programs on the machine disturb less. */
static uint64_t now_ns(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static uint64_t next_random(uint64_t *seed)
{
    *seed ^= *seed >> 12;
    *seed ^= *seed << 25;
    *seed ^= *seed >> 27;
    return *seed * UINT64_C(2685821657736338717);
}

/** The default device of the virtual GPU. */
static bool find_symbol(void *context, const char *name, struct zeta_number *out_value)
{
    static const struct {
        const char *name;
        uint64_t value;
    } symbols[] = {ZETA_BENCH_SYMBOLS};

    (void)context;
    for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++) {
        if (strcmp(symbols[i].name, name) == 0) {
            *out_value = (struct zeta_number){ZETA_EXPR_U64, {.u64 = symbols[i].value}};
            return true;
        }
    }
    return false;
}

static void put_u32(unsigned char *report, size_t at, uint64_t value)
{
    uint32_t low = (uint32_t)value;

    memcpy(report + at, &low, sizeof(low));
}

static void fill_advancing(unsigned char *raw)
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

static void fill_random(unsigned char *raw)
{
    uint64_t seed = 2;

    for (size_t i = 0; i < (size_t)REPORTS * REPORT; i++)
        raw[i] = (unsigned char)(next_random(&seed) >> 32);
}

struct bench {
    const struct subject *subject;
    struct zeta_compiled *compiled;
    unsigned char *raw;
    zet_typed_value_t *values;
    zet_typed_value_t *straight_values;
    uint32_t capacity;
};

static void run_ours(const struct bench *bench)
{
    struct zeta_evaluation result;

    (void)zeta_evaluate(bench->compiled, ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES, 0,
                        bench->raw, (size_t)REPORTS * REPORT, bench->values, bench->capacity,
                        &result);
}

static void run_straight(const struct bench *bench)
{
    (void)bench->subject->straight(bench->raw, (size_t)REPORTS * REPORT, bench->straight_values);
}

static double measure(const struct bench *bench, void (*run)(const struct bench *bench))
{
    double best = 0;

    for (int round = 0; round < ROUNDS; round++) {
        uint64_t begin = now_ns();
        uint64_t calls = 0;
        uint64_t elapsed;
        double per_report;

        do {
            run(bench);
            calls++;
            elapsed = now_ns() - begin;
        } while (elapsed < ROUND_NS);
        per_report = (double)elapsed / (double)calls / REPORTS;
        if (round == 0 || per_report < best)
            best = per_report;
    }
    return best;
}

/** Compares type and payload; the bytes between them are nobody's. */
static bool same_values(const struct bench *bench)
{
    const uint32_t metrics = zeta_compiled_metric_count(bench->compiled);
    const size_t count = (size_t)(REPORTS - 1) * metrics;

    memset(bench->values, 0, count * sizeof(*bench->values));
    memset(bench->straight_values, 0, count * sizeof(*bench->values));
    run_ours(bench);
    run_straight(bench);
    for (size_t i = 0; i < count; i++) {
        if (bench->values[i].type != bench->straight_values[i].type ||
            bench->values[i].value.ui64 != bench->straight_values[i].value.ui64) {
            (void)fprintf(stderr, "%s: row %zu: %s differs\n", bench->subject->name, i / metrics,
                          zeta_compiled_metric(bench->compiled, (uint32_t)(i % metrics))->name);
            return false;
        }
    }
    return true;
}

static bool bench_data(const struct bench *bench, const char *data)
{
    static const char *const variants[] = {"avx512", "avx2", "base"};
    double straight;

    if (!same_values(bench))
        return false;
    straight = measure(bench, run_straight);
    for (size_t i = 0; i < sizeof(variants) / sizeof(variants[0]); i++) {
        if (!zeta_evaluate_use_variant(variants[i]))
            continue;
        printf("evaluator, %s, %u metrics, %s, %s: %.1f ns per report; straight-line C: %.1f ns\n",
               bench->subject->name, zeta_compiled_metric_count(bench->compiled), data, variants[i],
               measure(bench, run_ours), straight);
        (void)fflush(stdout);
    }
    return true;
}

static bool bench_subject(const struct subject *subject)
{
    struct zeta_catalog *catalog = zeta_catalog_create();
    const struct zeta_symbol_lookup symbols = {find_symbol, NULL};
    struct zeta_diagnostics sink = {0};
    struct bench bench = {.subject = subject};
    const struct zeta_set *set;
    bool good = false;

    for (size_t i = 0; i < 2 && subject->files[i]; i++)
        (void)zeta_catalog_add_file(catalog, subject->files[i], &sink);
    (void)zeta_catalog_link(catalog, &sink);
    set = zeta_catalog_find_set(catalog, subject->set);
    bench.raw = malloc((size_t)REPORTS * REPORT);
    bench.values = malloc((size_t)REPORTS * MAX_METRICS * sizeof(*bench.values));
    bench.straight_values = malloc((size_t)REPORTS * MAX_METRICS * sizeof(*bench.values));
    if (set && bench.raw && bench.values && bench.straight_values &&
        zeta_set_compile(catalog, set, &symbols, &sink, &bench.compiled) == ZE_RESULT_SUCCESS &&
        zeta_compiled_metric_count(bench.compiled) <= MAX_METRICS) {
        bench.capacity = REPORTS * zeta_compiled_metric_count(bench.compiled);
        fill_advancing(bench.raw);
        good = bench_data(&bench, "advancing counters");
        fill_random(bench.raw);
        good = good && bench_data(&bench, "random bytes");
    } else {
        (void)fprintf(stderr, "%s: %s\n", subject->name, sink.first_error);
    }
    free(bench.raw);
    free(bench.values);
    free(bench.straight_values);
    zeta_compiled_destroy(bench.compiled);
    zeta_catalog_destroy(catalog);
    return good;
}

int main(void)
{
    bool good = true;

    for (size_t i = 0; i < sizeof(subjects) / sizeof(subjects[0]); i++)
        good = bench_subject(&subjects[i]) && good;
    return good ? 0 : 1;
}
