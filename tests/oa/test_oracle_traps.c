/*
 * What libi915_perf does otherwise than the hardware, the descriptions or we, each shown to be
 * exactly so. test_oracle.c relies on this where it compares the rest.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/intel_data/data.h"
#include "tests/metric/support.h"
#include "tests/oa/oa_match.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

/** Visits the platform as fused in each way, with its committed sets. */
static void visit(const char *file, enum oa_view view, void (*check)(const struct oa_match *match))
{
    const struct oa_line *line = oa_line_find(file);
    struct zeta_catalog *catalog;

    assert_non_null(line);
    catalog = data_device_catalog(line->device_id);
    oa_match_each(line, catalog, view, check);
    zeta_catalog_destroy(catalog);
}

/* Two reports --------------------------------------------------------------------------------
 */

/** Two reports of 256 bytes behind record headers: 40000 ticks, 1000000 clocks, counters at work.
 */
static unsigned char records[2][OA_ORACLE_RECORD_HEADER + 256];

static void make_records(const struct oa_match *match)
{
    const struct oa_format *format = match->device.platform->format;

    memset(records, 0, sizeof(records));
    for (uint32_t i = 0; i < 2; i++) {
        unsigned char *report = records[i] + OA_ORACLE_RECORD_HEADER;

        report[0] = (unsigned char)(i + 1);
        for (uint32_t r = 0; r < format->run_count; r++) {
            const struct oa_run *run = &format->runs[r];
            const uint64_t step = run->bank == OA_GPU_TIME    ? 40000
                                  : run->bank == OA_GPU_CLOCK ? 1000000
                                                              : 7654321;

            for (uint32_t index = 0; index < run->count; index++)
                oa_report_set(run, index, report, 1000 + i * step);
        }
    }
}

/** Our values of the two reports; the caller frees them. */
static zet_typed_value_t *our_values(const struct oa_pair *pair)
{
    const uint32_t count = zeta_compiled_metric_count(pair->compiled);
    zet_typed_value_t *values = calloc(count, sizeof(*values));
    unsigned char reports[2 * 256];
    struct zeta_evaluation result;

    assert_non_null(values);
    make_records(pair->match);
    for (uint32_t i = 0; i < 2; i++)
        memcpy(reports + (size_t)i * 256, records[i] + OA_ORACLE_RECORD_HEADER, 256);
    assert_int_equal(zeta_evaluate(pair->compiled, ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES,
                                   0, 0, reports, sizeof(reports), values, count, &result),
                     ZE_RESULT_SUCCESS);
    assert_int_equal(result.row_count, 1);
    return values;
}

static struct oa_oracle_value their_value(const struct oa_pair *pair,
                                          struct oa_oracle_device *oracle, const char *name)
{
    const struct oa_oracle_counter *counter = oa_pair_counter(pair, name);
    struct oa_oracle_deltas deltas;

    assert_non_null(counter);
    oa_oracle_accumulate(oracle, pair->theirs, records[0], records[1], &deltas);
    return oa_oracle_read(oracle, pair->theirs, counter, &deltas);
}

/* Time ---------------------------------------------------------------------------------------
 */

static void check_halved(const struct oa_pair *pair)
{
    const uint32_t time = oa_pair_metric(pair, "GpuTime");
    const uint32_t frequency = oa_pair_metric(pair, "AvgGpuCoreFrequency");
    struct oa_oracle_shape shape = pair->match->shape;
    zet_typed_value_t *ours = our_values(pair);
    struct oa_oracle_device *oracle;

    shape.timestamp_hz *= 2;
    oracle = oa_oracle_open(&shape);
    assert_non_null(oracle);
    assert_int_equal(ours[time].value.ui64, 1600000);
    assert_int_equal(their_value(pair, pair->match->oracle, "GpuTime").u, 1600000);
    assert_int_equal(their_value(pair, oracle, "GpuTime").u, 800000);
    assert_int_equal(ours[frequency].value.ui64, 625000000);
    assert_int_equal(their_value(pair, oracle, "AvgGpuCoreFrequency").u, 1250000000);
    oa_oracle_close(oracle);
    free(ours);
}

static void check_halved_of_match(const struct oa_match *match)
{
    oa_pair_each(match, check_halved);
}

/** The kernel gives the OA unit's frequency, the library halves the ticks for the other one. */
static void time__of_alchemist_with_the_frequency_of_the_unit__half(void **state)
{
    (void)state;
    visit("acmgt1", OA_VIEW_LIBRARY, check_halved_of_match);
}

/* Threads ------------------------------------------------------------------------------------
 */

static uint32_t occupancies;

static void check_occupancy(const struct oa_pair *pair)
{
    const uint32_t index = oa_pair_metric(pair, "XveThreadOccupancy");
    zet_typed_value_t *ours;
    double theirs;

    if (index == UINT32_MAX)
        return;
    ours = our_values(pair);
    theirs = their_value(pair, pair->match->oracle, "XveThreadOccupancy").f;
    assert_cmp(ours[index].value.fp32, >, 0);
    assert_cmp(fabs(theirs / (double)ours[index].value.fp32 - 8.0 / 7.0), <, 1e-3);
    occupancies++;
    free(ours);
}

static void check_threads_of_match(const struct oa_match *match)
{
    assert_int_equal(oa_oracle_threads(match->oracle), 7);
    assert_int_equal(oa_match_symbol(match, "EuThreadsCount"), 8);
    oa_pair_each(match, check_occupancy);
}

static void threads__of_meteor_lake__seven_of_eight(void **state)
{
    (void)state;
    occupancies = 0;
    visit("mtlgt3", OA_VIEW_TRUE, check_threads_of_match);
    assert_cmp(occupancies, >, 0);
}

/* Slices -------------------------------------------------------------------------------------
 */

static uint32_t apart;

/** The library looks at slice 0 for a core of slice 2. */
static void check_slice_two(const struct oa_pair *pair)
{
    const uint32_t *subslices = pair->match->shape.subslices;
    const bool is_there = subslices[0] >> 8 & 1; /* slices of four cores, counted through */
    const bool ours = oa_pair_metric(pair, "Sampler20Busy") != UINT32_MAX;
    const bool theirs = oa_pair_counter(pair, "Sampler20Busy") != NULL;

    if (strcmp(pair->set->name, "RenderBasic") != 0)
        return;
    assert_int_equal(ours, is_there);
    assert_int_equal(theirs, subslices[0] & 1);
    apart += ours != theirs;
}

static void check_slices_of_match(const struct oa_match *match)
{
    oa_pair_each(match, check_slice_two);
}

static void availability__of_a_core_of_slice_two__looked_up_in_slice_zero(void **state)
{
    (void)state;
    apart = 0;
    visit("acmgt2", OA_VIEW_TRUE, check_slices_of_match);
    assert_cmp(apart, >, 0);
}

/* Averages -----------------------------------------------------------------------------------
 */

static uint32_t fractions;

/**
 * Of an average over ports, that it is a fraction of 1, and of a port, that it is a percentage. All
 * ports are equally busy. With the four ports of G12 the sum is divided by eight.
 */
static void check_fraction(const struct oa_pair *pair)
{
    const double divisor = strcmp(pair->match->line->file, "acmgt2") == 0 ? 200 : 100;
    double theirs, port;

    if (!oa_pair_counter(pair, "GPU_MEMORY_ACTIVE"))
        return;
    assert_int_equal(oa_pair_metric(pair, "GPU_MEMORY_ACTIVE"), UINT32_MAX);
    make_records(pair->match);
    theirs = their_value(pair, pair->match->oracle, "GPU_MEMORY_ACTIVE").f;
    port = their_value(pair, pair->match->oracle, "GPU_MEMORY_ACTIVE_SQIDI0").f;
    assert_cmp(port, >, 0);
    assert_cmp(fabs(theirs - port / divisor), <, 1e-6 * port);
    fractions++;
}

static void check_fractions_of_match(const struct oa_match *match)
{
    oa_pair_each(match, check_fraction);
}

static void averages__over_memory_ports__fractions(void **state)
{
    (void)state;
    fractions = 0;
    visit("acmgt3", OA_VIEW_LIBRARY, check_fractions_of_match);
    visit("acmgt2", OA_VIEW_LIBRARY, check_fractions_of_match);
    assert_cmp(fractions, >, 0);
}

/* Reasons ------------------------------------------------------------------------------------
 */

/** Our reason of a report with that id, from the info metric of a set. */
static uint32_t our_reason(const struct oa_pair *pair, const unsigned char *id)
{
    const uint32_t index = oa_pair_metric(pair, "ReportReason");
    unsigned char reports[2 * 256] = {0};
    zet_typed_value_t values[256];
    struct zeta_evaluation result;

    assert_cmp(index, <, 256);
    memcpy(reports + 256, id, 4);
    reports[4] = 1;
    assert_int_equal(zeta_evaluate(pair->compiled, ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES,
                                   0, 0, reports, sizeof(reports), values, 256, &result),
                     ZE_RESULT_SUCCESS);
    return values[index].value.ui32;
}

static void check_reasons(const struct oa_pair *pair)
{
    static const char *const words[] = {"timer",          "trigger1",      "trigger2",
                                        "context-switch", "go-transition", "clock-ratio-change",
                                        "mmio-trigger"};
    const bool has_marker_bit = pair->match->line->is_flat;
    const bool is_gen12 = pair->match->device.platform->eus == 16;
    uint64_t seed = 7;

    if (strcmp(pair->set->name, "TestOa") != 0)
        return;
    for (uint32_t i = 0; i < 256; i++) {
        const uint32_t id =
            (uint32_t)(next_random(&seed) >> 32) & (i % 4 ? 0x03f80000u : UINT32_MAX);
        unsigned char record[OA_ORACLE_RECORD_HEADER + 256] = {0};
        const char *theirs;
        uint32_t reason, bit = 0;

        memcpy(record + OA_ORACLE_RECORD_HEADER, &id, sizeof(id));
        reason = our_reason(pair, record + OA_ORACLE_RECORD_HEADER);
        theirs = oa_oracle_reason(pair->match->oracle, record);
        while (bit < 7 && !(reason >> bit & 1))
            bit++;
        if (bit < 7)
            assert_string_equal(theirs, words[bit]);
        /* Up to Gen12LP bit 25 belongs to a frequency; the library takes it for a marker's. */
        else if (is_gen12 && !has_marker_bit && (id >> 25 & 1))
            assert_string_equal(theirs, "mmio-trigger");
        else
            assert_string_equal(theirs, "unknown");
    }
}

static void check_reasons_of_match(const struct oa_match *match)
{
    oa_pair_each(match, check_reasons);
}

static void reasons__of_each_generation__first_one_in_words(void **state)
{
    static const char *const files[] = {"sklgt2", "icl", "tglgt2", "adl", "acmgt3", "mtlgt3"};

    (void)state;
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
        visit(files[i], OA_VIEW_LIBRARY, check_reasons_of_match);
}

/* Devices ------------------------------------------------------------------------------------
 */

/** Whether the library, for that device, has every set that we count with on the OA unit. */
static void check_device(const struct data_generation *generation,
                         const struct zeta_intel_platform *platform, uint32_t device_id,
                         uint32_t *known)
{
    const struct oa_oracle_shape shape = {device_id, 9, 12000000, 300000000, 1000000000,
                                          1,         6, 8,        {63}};
    struct oa_oracle_device *oracle = oa_oracle_open(&shape);
    struct zeta_catalog *catalog;

    if (!oracle)
        return;
    catalog = data_catalog(generation, platform);
    for (uint32_t i = 0; i < zeta_catalog_set_count(catalog); i++) {
        const struct zeta_set *set = zeta_catalog_set(catalog, i);

        if (set->domain == 0 && !oa_oracle_find(oracle, set->uuid))
            fail_msg("%s: for device %#06x the library has no set %s", platform->id, device_id,
                     set->name);
    }
    zeta_catalog_destroy(catalog);
    oa_oracle_close(oracle);
    ++*known;
}

/** Which sets a device gets: one that the library knows gets the same ones from us. */
static void devices__every_id_that_the_library_knows__have_the_same_sets(void **state)
{
    uint32_t count = 0, known = 0;
    struct data_generation *generations = data_read(&count);

    (void)state;
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t k = 0; k < generations[i].platforms.count; k++) {
            const struct zeta_intel_platform *platform = &generations[i].platforms.items[k];

            for (uint32_t d = 0; d < platform->pci_count; d++)
                check_device(&generations[i], platform, platform->pci[d], &known);
        }
    }
    data_free(generations, count);
    assert_cmp(known, >, 150);
}

SUITE(oracle_traps)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(time__of_alchemist_with_the_frequency_of_the_unit__half),
        cmocka_unit_test(threads__of_meteor_lake__seven_of_eight),
        cmocka_unit_test(availability__of_a_core_of_slice_two__looked_up_in_slice_zero),
        cmocka_unit_test(averages__over_memory_ports__fractions),
        cmocka_unit_test(reasons__of_each_generation__first_one_in_words),
        cmocka_unit_test(devices__every_id_that_the_library_knows__have_the_same_sets),
    };
    const char *problem = oa_oracle_load();

    if (problem) {
        (void)printf("skipped: %s\n", problem);
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
