/*
 * Adding up reports for queries of Intel GPUs, in nanoseconds per report of each format, beside the
 * accumulation of libi915_perf of intel-gpu-tools where it knows the format, and for
 * A32u40_A4u32_B8_C8 a loop that is written for this one.
 *
 * As many reports as a read has room for, again and again. The library gives the differences of two
 * reports, which are added to nothing, and leaves it to others to see resets and sleep: less work.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "plugins/intel/query/totals.h"
#include "tests/bench/bench.h"
#include "tests/intel_data/data.h"
#include "tests/oa/oa_match.h"

enum { READ_BYTES = 131072, MOST_REPORTS = 2048, HEADER = OA_ORACLE_RECORD_HEADER, ROUNDS = 15 };

#define ROUND_S 0.005
#define WRITTEN_FORMAT "a32u40-a4u32-b8-c8"

/** A device whose sets have the format. */
static const struct format {
    const char *layout;
    uint32_t device_id;
    const char *file; /**< the device in tests/oa; NULL: the library does not know the format */
} formats[] = {
    {"hsw-a45-b8-c8", 0x0412, "hsw"},          {WRITTEN_FORMAT, 0x9a49, "tglgt2"},
    {"a24u40-a14u32-b8-c8", 0x56a0, "acmgt3"}, {"pec64u64", 0xe20b, NULL},
    {"mpec8u32-b8-c8", 0xe20b, NULL},
};

static struct bench {
    const struct format *format;
    const char *uuid; /**< of a set that has it */
    struct zeta_plugin_query_field *fields;
    uint32_t field_count, report_bytes, report_count;
    struct zeta_intel_totals totals;
    const struct oa_oracle_device *device; /**< of the library */
    const struct oa_oracle_set *set;
    uint8_t reports[READ_BYTES + ZETA_INTEL_REPORT_SLACK];
    uint8_t records[READ_BYTES + MOST_REPORTS * HEADER]; /**< the same as the library wants them */
    uint64_t sums[512];
} bench;

/* ---- reports ------------------------------------------------------------------------------ */

/* Counters that advance, each at a rate of its own. All begin and end with a byte. */
static void make_report(uint32_t index, uint8_t *report)
{
    for (uint32_t i = 0; i < bench.field_count; i++) {
        const struct zeta_plugin_query_field *field = &bench.fields[i];
        const uint64_t value = (uint64_t)(index + 1) * (i * 4099 + 50000);
        const uint64_t high = value >> field->low_width % 64;

        if (field->delta_bits == 0)
            continue;
        memcpy(report + field->low_bit / 8, &value, field->low_width / 8);
        memcpy(report + field->high_bit / 8, &high, field->high_width / 8);
    }
}

static void make_reports(void)
{
    memset(bench.reports, 0, sizeof(bench.reports));
    for (uint32_t r = 0; r < bench.report_count; r++) {
        uint8_t *report = bench.reports + (size_t)r * bench.report_bytes;

        make_report(r, report);
        memcpy(bench.records + (size_t)r * (bench.report_bytes + HEADER) + HEADER, report,
               bench.report_bytes);
    }
}

/* ---- the three programs ------------------------------------------------------------------- */

static void add_described(void)
{
    zeta_intel_totals_break(&bench.totals);
    (void)zeta_intel_totals_add(&bench.totals, bench.reports, bench.report_count, 0, UINT64_MAX);
}

static void add_theirs(void)
{
    const size_t bytes = bench.report_bytes + HEADER;
    struct oa_oracle_deltas deltas;

    for (uint32_t r = 1; r < bench.report_count; r++)
        oa_oracle_accumulate(bench.device, bench.set, bench.records + (r - 1) * bytes,
                             bench.records + r * bytes, &deltas);
}

static uint32_t word_at(const uint8_t *report, uint32_t at)
{
    uint32_t word;

    memcpy(&word, report + at, sizeof(word));
    return word;
}

static void add_one(const uint8_t *restrict before, const uint8_t *restrict now,
                    uint64_t *restrict sums)
{
    sums[1] += (uint32_t)(word_at(now, 4) - word_at(before, 4));
    sums[3] += (uint32_t)(word_at(now, 12) - word_at(before, 12));
    for (uint32_t a = 0; a < 32; a++) {
        const uint64_t late = word_at(now, 16 + 4 * a) | (uint64_t)now[160 + a] << 32;
        const uint64_t early = word_at(before, 16 + 4 * a) | (uint64_t)before[160 + a] << 32;

        sums[4 + a] += (late - early) & 0xffffffffff;
    }
    for (uint32_t a = 32; a < 36; a++)
        sums[4 + a] += (uint32_t)(word_at(now, 16 + 4 * a) - word_at(before, 16 + 4 * a));
    for (uint32_t i = 0; i < 16; i++)
        sums[40 + i] += (uint32_t)(word_at(now, 192 + 4 * i) - word_at(before, 192 + 4 * i));
}

static void add_written(void)
{
    for (uint32_t r = 1; r < bench.report_count; r++)
        add_one(bench.reports + (size_t)(r - 1) * bench.report_bytes,
                bench.reports + (size_t)r * bench.report_bytes, bench.sums);
}

/* ---- measuring ---------------------------------------------------------------------------- */

/** Nanoseconds per report of processor time. */
static double measure(void (*run)(void))
{
    const double begin = bench_seconds(CLOCK_THREAD_CPUTIME_ID);
    uint64_t calls = 0;
    double elapsed;

    do {
        run();
        calls++;
        elapsed = bench_seconds(CLOCK_THREAD_CPUTIME_ID) - begin;
    } while (elapsed < ROUND_S);
    return elapsed * 1e9 / (double)calls / bench.report_count;
}

static void print_figure(const struct bench_rounds *rounds)
{
    if (rounds->count == 0)
        (void)printf("  %14s", "-");
    else
        (void)printf("  %6.1f (%5.1f)", bench_least(rounds), bench_median(rounds));
}

/** The loop and the description give the same. */
static void check_written(void)
{
    uint64_t *values = calloc(bench.field_count, sizeof(*values));

    assert_non_null(values);
    memset(bench.sums, 0, sizeof(bench.sums));
    memset(bench.totals.sums, 0, bench.field_count * sizeof(*values));
    add_described();
    add_written();
    zeta_intel_totals_copy(&bench.totals, values);
    for (uint32_t i = 4; i < bench.field_count; i++)
        assert_int_equal(values[i], bench.sums[i]);
    free(values);
}

static void bench_format(void)
{
    const bool has_loop = strcmp(bench.format->layout, WRITTEN_FORMAT) == 0;
    struct bench_rounds described = {0}, theirs = {0}, written = {0};

    if (has_loop)
        check_written();
    for (int i = 0; i < ROUNDS; i++) {
        bench_add(&described, measure(add_described));
        if (bench.set)
            bench_add(&theirs, measure(add_theirs));
        if (has_loop)
            bench_add(&written, measure(add_written));
    }
    (void)printf("  %-20s %5u %6u", bench.format->layout, (unsigned)bench.report_bytes,
                 (unsigned)bench.totals.run_count);
    print_figure(&described);
    print_figure(&theirs);
    print_figure(&written);
    (void)printf("\n");
    (void)fflush(stdout);
}

/* ---- formats ------------------------------------------------------------------------------ */

static void bench_match(const struct oa_match *match)
{
    if (match->device.fusing != &match->device.platform->fusings[0])
        return;
    bench.device = match->oracle;
    bench.set = oa_oracle_find(match->oracle, bench.uuid);
    assert_non_null(bench.set);
    bench_format();
}

static const struct zeta_set *find_set(const struct zeta_catalog *catalog, const char *layout)
{
    for (uint32_t i = 0; i < zeta_catalog_set_count(catalog); i++) {
        const struct zeta_set *set = zeta_catalog_set(catalog, i);

        if (strcmp(set->layout->name, layout) == 0)
            return set;
    }
    fail_msg("no set has the format %s", layout);
    return NULL;
}

static void open_format(const struct format *format, bool has_library)
{
    const struct oa_line *line = format->file ? oa_line_find(format->file) : NULL;
    struct zeta_catalog *catalog = data_device_catalog(format->device_id);
    const struct zeta_set *set = find_set(catalog, format->layout);
    struct zeta_plugin_array fields;

    bench.format = format;
    bench.uuid = set->uuid;
    bench.device = NULL;
    bench.set = NULL;
    bench.fields = data_query_fields(set->layout, &bench.field_count);
    bench.report_bytes = set->layout->record_bytes;
    bench.report_count = READ_BYTES / bench.report_bytes;
    fields = (struct zeta_plugin_array){bench.fields, bench.field_count, sizeof(*bench.fields)};
    make_reports();
    assert_int_equal(zeta_intel_totals_init(&bench.totals, &fields, bench.report_bytes, 0x1ff),
                     ZETA_PLUGIN_SUCCESS);
    if (line && has_library)
        oa_match_each(line, catalog, OA_VIEW_TRUE, bench_match);
    else
        bench_format();
    zeta_intel_totals_finish(&bench.totals);
    free(bench.fields);
    zeta_catalog_destroy(catalog);
}

int main(void)
{
    const char *missing = oa_oracle_load();

    bench_begin(
        "adding up reports for queries, advancing counters: nanoseconds per report, best of "
        "15 rounds (median)",
        WRITTEN_FORMAT " <= 30 ns");
    if (missing)
        (void)printf("  no peer: %s\n", missing);
    (void)printf("  %-20s %5s %6s  %14s  %14s  %14s\n", "format", "bytes", "runs", "by description",
                 "libi915_perf", "loop for this");
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
        open_format(&formats[i], !missing);
    return 0;
}
