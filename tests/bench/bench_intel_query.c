/*
 * Adding up reports for queries of Intel GPUs, A32u40_A4u32_B8_C8: any layout by its description,
 * beside a loop that is written for this one.
 */
#include "tests/bench/bench.h"

#include "plugins/intel/totals.h"

enum { REPORTS = 16384, REPORT_BYTES = 256, FIELDS = 56, ROUNDS = 15 };

static uint8_t reports[REPORTS * REPORT_BYTES + ZETA_INTEL_REPORT_SLACK];
static struct zeta_plugin_query_field fields[FIELDS];
static uint64_t sums[FIELDS];

static void describe(uint32_t i, const char *name, uint32_t byte, uint32_t high_byte,
                     uint32_t delta_bits)
{
    fields[i] = (struct zeta_plugin_query_field){
        .struct_size = sizeof(fields[i]),
        .name = {.data = name, .size = strlen(name)},
        .low_bit = byte * 8,
        .low_width = 32,
        .high_bit = high_byte * 8,
        .high_width = high_byte ? 8 : 0,
        .delta_bits = delta_bits,
    };
}

static void describe_all(void)
{
    describe(0, "report_id", 0, 0, 0);
    describe(1, "ticks", 4, 0, 32);
    describe(2, "context_id", 8, 0, 0);
    describe(3, "clocks", 12, 0, 32);
    for (uint32_t a = 0; a < 36; a++)
        describe(4 + a, "A", 16 + 4 * a, a < 32 ? 160 + a : 0, a < 32 ? 40 : 32);
    for (uint32_t i = 0; i < 16; i++)
        describe(40 + i, i < 8 ? "B" : "C", 192 + 4 * i, 0, 32);
}

/* Counters that advance, each at a rate of its own. */
static void make_reports(void)
{
    for (uint64_t r = 0; r < REPORTS; r++) {
        uint8_t *report = reports + r * REPORT_BYTES;

        for (uint32_t word = 1; word < 64; word++) {
            const uint64_t value = (r + 1) * (word * 1021 + 2048);
            const uint32_t low = (uint32_t)value;

            memcpy(report + 4 * (size_t)word, &low, sizeof(low));
        }
        for (uint32_t a = 0; a < 32; a++)
            report[160 + a] = (uint8_t)((r + 1) * ((a + 4) * 1021 + 2048) >> 32);
    }
}

static double add_described(struct zeta_intel_totals *totals)
{
    const double start = bench_seconds(CLOCK_THREAD_CPUTIME_ID);

    (void)zeta_intel_totals_add(totals, reports, REPORTS, totals->ticks, UINT64_MAX);
    return (bench_seconds(CLOCK_THREAD_CPUTIME_ID) - start) * 1e9 / REPORTS;
}

static uint32_t word_at(const uint8_t *report, uint32_t at)
{
    uint32_t word;

    memcpy(&word, report + at, sizeof(word));
    return word;
}

static void add_one(const uint8_t *before, const uint8_t *now)
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

static double add_written(void)
{
    const double start = bench_seconds(CLOCK_THREAD_CPUTIME_ID);

    for (uint32_t r = 1; r < REPORTS; r++)
        add_one(reports + (size_t)(r - 1) * REPORT_BYTES, reports + (size_t)r * REPORT_BYTES);
    return (bench_seconds(CLOCK_THREAD_CPUTIME_ID) - start) * 1e9 / (REPORTS - 1);
}

int main(void)
{
    const struct zeta_plugin_array array = {
        .data = fields, .count = FIELDS, .stride = sizeof(fields[0])};
    struct bench_rounds described = {0}, written = {0};
    uint64_t values[FIELDS];

    describe_all();
    make_reports();
    bench_begin("adding up reports of 256 bytes for queries, advancing counters", NULL);
    for (int i = 0; i < ROUNDS; i++) {
        struct zeta_intel_totals totals;

        if (zeta_intel_totals_init(&totals, &array, REPORT_BYTES, 1200) != ZETA_PLUGIN_SUCCESS)
            return 1;
        memset(sums, 0, sizeof(sums));
        bench_add(&described, add_described(&totals));
        bench_add(&written, add_written());
        zeta_intel_totals_copy(&totals, values);
        zeta_intel_totals_finish(&totals);
        for (uint32_t f = 4; f < FIELDS; f++) {
            if (values[f] != sums[f])
                return 1; /* they do not do the same */
        }
    }
    (void)printf(
        "  by description    %6.1f ns per report (median %.1f), %.2f %% of a core at 10 kHz\n"
        "  for this format   %6.1f ns per report (median %.1f)\n",
        bench_least(&described), bench_median(&described), bench_least(&described) / 1e3,
        bench_least(&written), bench_median(&written));
    return 0;
}
