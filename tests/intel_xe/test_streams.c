/*
 * Streams of OA units behind the xe driver, at a time that only the test moves: every report can be
 * foretold.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <zeta/plugin_metric.h>
#include <zeta/zeta.h>

#include "tests/intel/stream_bed.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

#define BMG_TEST_OA "9ec392a7-4c77-4253-a28a-85240821e82c"
#define BMG_MEDIA_SET1 "eecad08f-ddb6-40cb-9abb-dbbdafd0c47a"
#define PVC_TEST_OA "339a376a-4696-4e0d-812a-5fd13b0e1aa8"

enum { BMG, PVC };

static const struct kmd_config machine_config = {
    .device_count = 2,
    .devices = {{.platform = "bmg", .driver = "xe", .slices = 5, .subslices = 4, .eus = 8},
                {.platform = "pvc", .driver = "xe", .tiles = 2}},
    .is_privileged = true,
    .is_paranoid = true,
    .is_manual = true,
    .first_ticks = 1000000,
};

static struct kmd_machine *machine;
static ze_device_handle_t bmg;

static int setup(void **state)
{
    (void)state;
    machine = bed_start(&machine_config);
    bmg = find_device("Intel Battlemage");
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    kmd_stop(machine);
    return 0;
}

/* ---- what reports hold ---------------------------------------------------------------------- */

/* True if all counters of a PEC64u64 report are what the machine's functions say. */
static bool is_pec64(const uint8_t *report, uint32_t unit, const char *uuid)
{
    const uint64_t ticks = bed_get(report, 8, 7);

    if (bed_get(report, 24, 8) != kmd_counter(machine, BMG, unit, uuid, KMD_BANK_CLOCK, 0, ticks))
        return false;
    for (uint32_t n = 0; n < 64; n++) {
        if (bed_get(report, 32 + 8 * n, 8) !=
            kmd_counter(machine, BMG, unit, uuid, KMD_BANK_PEC, n, ticks))
            return false;
    }
    return true;
}

/* The same of a MPEC8u32 report; counters are cut to 32 bits. */
static bool is_mpec8(const uint8_t *report, uint32_t unit, const char *uuid)
{
    const uint64_t ticks = bed_get(report, 8, 7);

    for (uint32_t n = 0; n < 8; n++) {
        if (bed_get(report, 32 + 4 * n, 4) !=
                (uint32_t)kmd_counter(machine, BMG, unit, uuid, KMD_BANK_PEC, n, ticks) ||
            bed_get(report, 64 + 4 * n, 4) !=
                (uint32_t)kmd_counter(machine, BMG, unit, uuid, KMD_BANK_B, n, ticks) ||
            bed_get(report, 96 + 4 * n, 4) !=
                (uint32_t)kmd_counter(machine, BMG, unit, uuid, KMD_BANK_C, n, ticks))
            return false;
    }
    return true;
}

/* B and C of a report of Ponte Vecchio, whose time stamp has 32 bits. */
static bool is_pvc(const uint8_t *report, uint32_t unit)
{
    const uint64_t ticks = bed_get(report, 4, 4);

    for (uint32_t n = 0; n < 8; n++) {
        if (bed_get(report, 192 + 4 * n, 4) !=
                (uint32_t)kmd_counter(machine, PVC, unit, PVC_TEST_OA, KMD_BANK_B, n, ticks) ||
            bed_get(report, 224 + 4 * n, 4) !=
                (uint32_t)kmd_counter(machine, PVC, unit, PVC_TEST_OA, KMD_BANK_C, n, ticks))
            return false;
    }
    return bed_get(report, 16, 4) ==
           (uint32_t)kmd_counter(machine, PVC, unit, PVC_TEST_OA, KMD_BANK_A, 0, ticks);
}

static void stream__of_oag__gives_every_counter_bit_exact(void **state)
{
    struct bed_stream source = bed_stream_of(bmg, "TestOa");
    uint32_t count;

    (void)state;
    bed_stream_start(&source);
    assert_int_equal(source.period_ns, 106667); /* 2048 ticks */
    kmd_advance(machine, 20000000);
    EXPECT_OK(bed_stream_drain(&source));
    count = bed_record_count(&source);
    assert_in_range(count, 180, 190);
    for (uint32_t i = 0; i < count; i++) {
        const uint8_t *report = bed_record(&source, i);

        assert_true(is_pec64(report, 0, BMG_TEST_OA));
        if (i > 0)
            assert_int_equal(bed_get(report, 8, 7) - bed_get(bed_record(&source, i - 1), 8, 7),
                             2048);
    }
    assert_int_equal(source.warnings, 0);
    bed_close(&source);
}

static void values__of_test_oa__are_what_its_equations_say(void **state)
{
    struct bed_stream source = bed_stream_of(bmg, "TestOa");
    struct bed_rows rows;
    const uint8_t *first, *second;
    uint64_t clocks;

    (void)state;
    bed_stream_start(&source);
    kmd_advance(machine, 5000000);
    EXPECT_OK(bed_stream_drain(&source));
    rows = bed_calculate(&source);
    assert_int_equal(rows.rows, bed_record_count(&source) - 1);
    for (uint32_t row = 0; row < rows.rows; row++) {
        first = bed_record(&source, row);
        second = bed_record(&source, row + 1);
        clocks = bed_get(second, 24, 8) - bed_get(first, 24, 8);
        assert_cmp(clocks, >, 0);
        assert_int_equal(bed_row_value(&source, &rows, row, "GpuTime").ui64, 106666);
        assert_int_equal(bed_row_value(&source, &rows, row, "GpuCoreClocks").ui64, clocks);
        assert_int_equal(bed_row_value(&source, &rows, row, "TEST_EVENT1_CYCLES").ui64,
                         bed_get(second, 32 + 8 * 2, 8) - bed_get(first, 32 + 8 * 2, 8));
        assert_int_equal(bed_row_value(&source, &rows, row, "TEST_EVENT1_CYCLES_XECORE3").ui64,
                         bed_get(second, 32 + 8 * 6, 8) - bed_get(first, 32 + 8 * 6, 8));
        assert_int_equal(bed_row_value(&source, &rows, row, "TEST_EVENT2_CYCLES").ui64,
                         bed_get(second, 32 + 8 * 35, 8) - bed_get(first, 32 + 8 * 35, 8));
    }
    bed_rows_free(&rows);
    bed_close(&source);
}

/* Of the test signals one stays down, one is up in every clock, others in each second or third. */
static void values__of_test_oa_of_pvc__are_parts_of_the_clocks(void **state)
{
    ze_device_handle_t tiles[2];
    struct bed_stream source;
    struct bed_rows rows;
    uint32_t count = 2;

    (void)state;
    EXPECT_OK(zeDeviceGetSubDevices(find_device("Intel Ponte Vecchio"), &count, tiles));
    source = bed_stream_of(tiles[0], "TestOa");
    bed_stream_start(&source);
    kmd_advance(machine, 5000000);
    EXPECT_OK(bed_stream_drain(&source));
    rows = bed_calculate(&source);
    assert_cmp(rows.rows, >, 40);
    for (uint32_t row = 0; row < rows.rows; row++) {
        const uint64_t clocks = bed_row_value(&source, &rows, row, "GpuCoreClocks").ui64;

        assert_cmp(clocks, >, 1000);
        assert_int_equal(bed_row_value(&source, &rows, row, "Counter0").ui64, 0);
        assert_int_equal(bed_row_value(&source, &rows, row, "Counter1").ui64, clocks);
        assert_in_range(bed_row_value(&source, &rows, row, "Counter3").ui64, clocks / 2 - 1,
                        clocks / 2 + 1);
        assert_in_range(bed_row_value(&source, &rows, row, "Counter4").ui64, clocks / 3 - 1,
                        clocks / 3 + 1);
        assert_int_equal(bed_row_value(&source, &rows, row, "Counter8").ui64, 1);
    }
    bed_rows_free(&rows);
    bed_close(&source);
}

/* ---- several units -------------------------------------------------------------------------- */

/* The unit whose counters the first report of a media set holds. */
static uint32_t find_media_unit(const struct bed_stream *source, const char *uuid)
{
    for (uint32_t unit = 0; unit < 8; unit++) {
        if (is_mpec8(bed_record(source, 0), unit, uuid))
            return unit;
    }
    fail_msg("no unit has the counters of the first report");
    return 0;
}

/* Rule 26.18. */
static void streams__of_oag_and_oam__run_side_by_side(void **state)
{
    struct bed_stream render = bed_stream_of(bmg, "TestOa");
    struct bed_stream media = bed_stream_of(bmg, "MediaSet1");
    struct bed_stream other = bed_stream_of(bmg, "MediaSet2");
    struct bed_stream *const all[] = {&render, &media, &other};
    uint32_t unit;

    (void)state;
    other.period_ns = 1000000;
    bed_streams_activate(all, 3);
    for (uint32_t i = 0; i < 3; i++)
        bed_stream_open(all[i]);
    assert_int_equal(kmd_statistic(machine, BMG, KMD_STAT_STREAMS_OPEN), 3);
    kmd_advance(machine, 10000000);
    for (uint32_t i = 0; i < 3; i++)
        EXPECT_OK(bed_stream_drain(all[i]));
    assert_in_range(bed_record_count(&render), 90, 95);
    assert_in_range(bed_record_count(&media), 90, 95);
    assert_in_range(bed_record_count(&other), 8, 12);
    unit = find_media_unit(&media, BMG_MEDIA_SET1);
    for (uint32_t i = 0; i < bed_record_count(&media); i++)
        assert_true(is_mpec8(bed_record(&media, i), unit, BMG_MEDIA_SET1));
    for (uint32_t i = 0; i < bed_record_count(&render); i++)
        assert_true(is_pec64(bed_record(&render, i), 0, BMG_TEST_OA));
    for (uint32_t i = 3; i-- > 0;)
        bed_close(all[i]);
    assert_int_equal(kmd_statistic(machine, BMG, KMD_STAT_STREAMS_OPEN), 0);
}

/* Rule 26.18. */
static void streams__of_both_tiles__have_counters_of_their_own_unit(void **state)
{
    ze_device_handle_t tiles[2];
    struct bed_stream sources[2];
    uint32_t count = 2;

    (void)state;
    EXPECT_OK(zeDeviceGetSubDevices(find_device("Intel Ponte Vecchio"), &count, tiles));
    for (uint32_t i = 0; i < 2; i++) {
        sources[i] = bed_stream_of(tiles[i], "TestOa");
        bed_stream_start(&sources[i]);
    }
    kmd_advance(machine, 5000000);
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t unit = 0;

        EXPECT_OK(bed_stream_drain(&sources[i]));
        assert_cmp(bed_record_count(&sources[i]), >, 40);
        while (unit < 8 && !is_pvc(bed_record(&sources[i], 0), unit))
            unit++;
        assert_cmp(unit, <, 8);
        for (uint32_t k = 0; k < bed_record_count(&sources[i]); k++)
            assert_true(is_pvc(bed_record(&sources[i], k), unit));
        bed_close(&sources[i]);
    }
}

/* Rule 26.18. */
static void stream__of_a_root_with_tiles__has_the_reports_of_both(void **state)
{
    struct bed_stream source = bed_stream_of(find_device("Intel Ponte Vecchio"), "TestOa");

    (void)state;
    bed_stream_start(&source);
    assert_int_equal(kmd_statistic(machine, PVC, KMD_STAT_STREAMS_OPEN), 2);
    kmd_advance(machine, 5000000);
    EXPECT_OK(bed_stream_drain(&source));
    assert_cmp(bed_record_count(&source), >, 80);
    bed_close(&source);
    assert_int_equal(kmd_statistic(machine, PVC, KMD_STAT_STREAMS_OPEN), 0);
}

static void descriptors__of_nodes_and_streams__are_closed_by_exec(void **state)
{
    struct bed_stream source = bed_stream_of(bmg, "TestOa");
    DIR *folder = opendir("/proc/self/fd");
    const struct dirent *entry;
    uint32_t found = 0;

    (void)state;
    assert_non_null(folder);
    bed_stream_start(&source);
    while ((entry = readdir(folder))) {
        char link[512];
        const ssize_t length = readlinkat(dirfd(folder), entry->d_name, link, sizeof(link) - 1);

        link[length > 0 ? length : 0] = '\0';
        if (strncmp(link, "/dev/dri/", 9) != 0 && strcmp(link, "anon_inode:[xe_oa]") != 0)
            continue;
        assert_cmp((fcntl(atoi(entry->d_name), F_GETFD) & FD_CLOEXEC), !=, 0);
        if (link[0] == 'a')
            assert_cmp((fcntl(atoi(entry->d_name), F_GETFL) & O_NONBLOCK), !=, 0);
        found++;
    }
    assert_int_equal(found, 3); /* two nodes and the stream */
    (void)closedir(folder);
    bed_close(&source);
}

static uint32_t count_descriptors(void)
{
    DIR *folder = opendir("/proc/self/fd");
    uint32_t count = 0;

    assert_non_null(folder);
    while (readdir(folder))
        count++;
    (void)closedir(folder);
    return count;
}

static void streams__opened_and_refused_often__leave_nothing(void **state)
{
    static const char *const groups[] = {"TestOa", "EuStallSampling", "MediaSet1"};
    const uint64_t bad_calls = kmd_statistic(machine, BMG, KMD_STAT_BAD_CALLS);
    uint32_t before = 0;

    (void)state;
    for (uint32_t i = 0; i < 60; i++) {
        struct bed_stream source = bed_stream_of(bmg, groups[i % 3]);

        if (i == 6)
            before = count_descriptors();
        bed_stream_start(&source);
        kmd_advance(machine, 1000000);
        EXPECT_OK(bed_stream_drain(&source));
        EXPECT_OK(zetMetricStreamerClose(source.streamer));
        source.streamer = NULL;
        kmd_fault(machine, BMG, KMD_FAULT_OPEN_ERRNO, i % 2 ? EBUSY : ENOMEM);
        assert_int_not_equal(bed_stream_try_open(&source), ZE_RESULT_SUCCESS);
        kmd_fault(machine, BMG, KMD_FAULT_OPEN_ERRNO, 0);
        bed_stream_open(&source);
        bed_close(&source);
    }
    assert_int_equal(count_descriptors(), before);
    assert_int_equal(kmd_statistic(machine, BMG, KMD_STAT_STREAMS_OPEN), 0);
    assert_int_equal(kmd_statistic(machine, BMG, KMD_STAT_BAD_CALLS), bad_calls);
}

/* What a root could not have as a whole it gives back in parts. */
static void stream__of_a_root__with_a_tile_in_use__is_refused_and_leaves_the_other(void **state)
{
    const ze_device_handle_t root = find_device("Intel Ponte Vecchio");
    struct bed_stream whole = bed_stream_of(root, "TestOa"), sources[2];
    ze_device_handle_t tiles[2];
    uint32_t count = 2;

    (void)state;
    EXPECT_OK(zeDeviceGetSubDevices(root, &count, tiles));
    for (uint32_t i = 0; i < 2; i++)
        sources[i] = bed_stream_of(tiles[i], "TestOa");
    bed_stream_start(&sources[1]);
    whole.context = make_context(root);
    EXPECT_OK(zetContextActivateMetricGroups(whole.context, root, 1, &whole.group));
    assert_int_not_equal(bed_stream_try_open(&whole), ZE_RESULT_SUCCESS);
    assert_int_equal(kmd_statistic(machine, PVC, KMD_STAT_STREAMS_OPEN), 1);
    bed_stream_start(&sources[0]);
    kmd_advance(machine, 5000000);
    for (uint32_t i = 0; i < 2; i++) {
        EXPECT_OK(bed_stream_drain(&sources[i]));
        assert_cmp(bed_record_count(&sources[i]), >, 10);
        bed_close(&sources[i]);
    }
    bed_stream_open(&whole);
    bed_close(&whole);
    assert_int_equal(kmd_statistic(machine, PVC, KMD_STAT_STREAMS_OPEN), 0);
}

/* ---- configurations and buffers ------------------------------------------------------------- */

static void config__opened_again__is_not_uploaded_twice(void **state)
{
    struct bed_stream source = bed_stream_of(bmg, "VectorEngineStalls");
    const uint64_t before = kmd_statistic(machine, BMG, KMD_STAT_CONFIGS_ADDED);

    (void)state;
    bed_stream_start(&source);
    bed_close(&source);
    assert_int_equal(kmd_statistic(machine, BMG, KMD_STAT_CONFIGS_ADDED), before + 1);
    source = bed_stream_of(bmg, "VectorEngineStalls");
    bed_stream_start(&source);
    bed_close(&source);
    assert_int_equal(kmd_statistic(machine, BMG, KMD_STAT_CONFIGS_ADDED), before + 1);
    assert_int_equal(kmd_statistic(machine, BMG, KMD_STAT_BAD_CALLS), 0);
}

static void buffer__for_many_reports__is_as_large_as_they_need(void **state)
{
    struct zeta_stream_info info = {.struct_size = sizeof(info)};
    struct bed_stream source = bed_stream_of(bmg, "TestOa");

    (void)state;
    source.notify = 32768;
    bed_stream_start(&source);
    assert_int_equal(source.notify, 32768);
    EXPECT_OK(zetaMetricStreamerGetInfo(source.streamer, &info));
    assert_cmp(info.ring_records, >=, 32768);
    bed_close(&source);
}

static void period__any_request__is_the_nearest_exponent(void **state)
{
    static const struct {
        uint32_t wanted_ns, used_ns;
    } cases[] = {{1, 105}, {1000000, 853334}, {1300000, 1706667}, {UINT32_MAX, 3495253334}};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct bed_stream source = bed_stream_of(bmg, "TestOa");

        source.period_ns = cases[i].wanted_ns;
        bed_stream_start(&source);
        assert_int_equal(source.period_ns, cases[i].used_ns);
        bed_close(&source);
    }
}

/* ---- losses --------------------------------------------------------------------------------- */

/* Breaks the stream of TestOa in the middle: as many rows as pairs of neighbours are left. */
static void expect_break(enum kmd_fault fault, uint64_t value, uint32_t reason)
{
    struct bed_stream source = bed_stream_of(bmg, "TestOa");
    struct bed_rows rows;

    bed_stream_start(&source);
    kmd_advance(machine, 2000000);
    EXPECT_OK(bed_stream_drain(&source));
    assert_int_equal(source.warnings, 0);
    kmd_advance(machine, 1000000); /* of these reports none is lost, and none is read yet */
    kmd_fault(machine, BMG, fault, value);
    kmd_advance(machine, 3000000);
    EXPECT_OK(bed_stream_drain(&source));
    kmd_advance(machine, 2000000);
    EXPECT_OK(bed_stream_drain(&source));
    assert_int_equal(bed_break_count(&source, reason), 1);
    assert_cmp(source.warnings, >, 0);
    rows = bed_calculate(&source);
    assert_int_equal(rows.rows, bed_record_count(&source) - 2);
    for (uint32_t row = 0; row < rows.rows; row++)
        assert_int_equal(bed_row_value(&source, &rows, row, "GpuTime").ui64, 106666);
    bed_rows_free(&rows);
    bed_close(&source);
}

/* Rows of all tiles of a root, each of which must last one period. */
static void expect_rows_of_tiles(const struct bed_stream *source, uint32_t tiles,
                                 uint64_t wanted_ns)
{
    uint32_t sets = 0, values = 0, metric = metric_index(source->group, "GpuTime"), from = 0;
    const zet_metric_group_calculation_type_t type =
        ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES;
    zet_typed_value_t *found;
    uint32_t counts[4];

    EXPECT_OK(zetMetricGroupCalculateMultipleMetricValuesExp(
        source->group, type, source->bytes, source->raw, &sets, &values, NULL, NULL));
    assert_int_equal(sets, tiles);
    found = calloc(values, sizeof(*found));
    assert_non_null(found);
    assert_in_set(zetMetricGroupCalculateMultipleMetricValuesExp(source->group, type, source->bytes,
                                                                 source->raw, &sets, &values,
                                                                 counts, found),
                  ((const uintmax_t[]){ZE_RESULT_SUCCESS, ZE_RESULT_WARNING_DROPPED_DATA}), 2);
    for (uint32_t t = 0; t < tiles; t++) {
        const uint32_t rows = counts[t] / source->properties.metricCount;

        assert_cmp(rows, >, 20);
        for (uint32_t row = 0; row < rows; row++)
            assert_int_equal(found[from + row * source->properties.metricCount + metric].value.ui64,
                             wanted_ns);
        from += counts[t];
    }
    free(found);
}

/* No row reaches across what one tile or the other lost. */
static void losses__of_tiles__are_breaks_of_their_own(void **state)
{
    struct bed_stream source = bed_stream_of(find_device("Intel Ponte Vecchio"), "TestOa");

    (void)state;
    bed_stream_start(&source);
    for (uint32_t i = 0; i < 4; i++) {
        kmd_advance(machine, 2000000);
        EXPECT_OK(bed_stream_drain(&source));
        kmd_advance(machine, 500000);
        kmd_fault(machine, PVC, KMD_FAULT_LOSE_REPORTS, 1 + 2 * i);
        kmd_advance(machine, 1000000);
        EXPECT_OK(bed_stream_drain(&source));
    }
    kmd_advance(machine, 2000000);
    EXPECT_OK(bed_stream_drain(&source));
    assert_in_range(bed_break_count(&source, ZETA_PLUGIN_BREAK_LOST), 4, 8);
    assert_cmp(source.warnings, >, 0);
    expect_rows_of_tiles(&source, 2, source.period_ns);
    bed_close(&source);
}

/* Rule 26.17. */
static void loss__of_reports__is_a_break(void **state)
{
    (void)state;
    expect_break(KMD_FAULT_LOSE_REPORTS, 5, ZETA_PLUGIN_BREAK_LOST);
}

/* Rule 26.17. */
static void loss__of_the_buffer__is_a_break(void **state)
{
    (void)state;
    expect_break(KMD_FAULT_LOSE_BUFFER, 1, ZETA_PLUGIN_BREAK_OVERFLOW);
}

/* Counters come around all the time, and triggers are no reports of the timer. Rule 26.17. */
static void status__of_overflowing_counters__is_no_break(void **state)
{
    struct bed_stream source = bed_stream_of(bmg, "TestOa");
    struct bed_rows rows;

    (void)state;
    bed_stream_start(&source);
    for (uint32_t i = 0; i < 4; i++) {
        kmd_advance(machine, 2000000);
        kmd_fault(machine, BMG, KMD_FAULT_STATUS, i < 2 ? 4 : 4 | 8);
        kmd_advance(machine, 1000000);
        EXPECT_OK(bed_stream_drain(&source));
    }
    assert_int_equal(source.warnings, 0);
    rows = bed_calculate(&source);
    assert_int_equal(rows.rows, bed_record_count(&source) - 1);
    for (uint32_t row = 0; row < rows.rows; row++)
        assert_int_equal(bed_row_value(&source, &rows, row, "GpuTime").ui64, 106666);
    bed_rows_free(&rows);
    bed_close(&source);
}

/* Rule 26.17. */
static void reset__of_the_gpu__is_a_break(void **state)
{
    (void)state;
    /* Far from 0, so that what follows is behind. */
    kmd_advance(machine, 10000000000);
    expect_break(KMD_FAULT_RESET, 0, ZETA_PLUGIN_BREAK_RESET);
}

static void reads__short_and_in_vain__lose_nothing(void **state)
{
    struct bed_stream source = bed_stream_of(bmg, "TestOa");
    uint32_t count;

    (void)state;
    bed_stream_start(&source);
    kmd_fault(machine, BMG, KMD_FAULT_SHORT_READS, 3);
    kmd_fault(machine, BMG, KMD_FAULT_FALSE_POLL, 2);
    EXPECT_OK(bed_stream_drain(&source));
    assert_int_equal(bed_record_count(&source), 0);
    kmd_advance(machine, 5000000);
    EXPECT_OK(bed_stream_drain(&source));
    kmd_fault(machine, BMG, KMD_FAULT_SHORT_READS, 0);
    kmd_advance(machine, 5000000);
    EXPECT_OK(bed_stream_drain(&source));
    count = bed_record_count(&source);
    assert_in_range(count, 90, 95);
    for (uint32_t i = 1; i < count; i++)
        assert_int_equal(bed_get(bed_record(&source, i), 8, 7) -
                             bed_get(bed_record(&source, i - 1), 8, 7),
                         2048);
    assert_int_equal(source.warnings, 0);
    bed_close(&source);
}

static void switches__of_contexts__are_further_reports(void **state)
{
    struct bed_stream source = bed_stream_of(bmg, "TestOa");
    uint32_t switches = 0;
    struct bed_rows rows;

    (void)state;
    bed_stream_start(&source);
    kmd_fault(machine, BMG, KMD_FAULT_CONTEXT_SWITCH, 4);
    kmd_advance(machine, 2000000);
    EXPECT_OK(bed_stream_drain(&source));
    rows = bed_calculate(&source);
    for (uint32_t row = 0; row < rows.rows; row++)
        switches += bed_row_value(&source, &rows, row, "ReportReason").ui32 == 8;
    assert_int_equal(switches, 4);
    assert_int_equal(rows.rows, bed_record_count(&source) - 1);
    bed_rows_free(&rows);
    bed_close(&source);
}

/* The last: nothing of the device works afterwards. */
static void unplug__during_a_stream__is_a_lost_device(void **state)
{
    struct bed_stream source = bed_stream_of(bmg, "TestOa");
    struct bed_stream later = bed_stream_of(bmg, "RenderBasic");
    const struct bed_stream tile = bed_stream_of(find_device("Intel Ponte Vecchio"), "TestOa");

    (void)state;
    bed_stream_start(&source);
    kmd_advance(machine, 1000000);
    EXPECT_OK(bed_stream_drain(&source));
    kmd_fault(machine, BMG, KMD_FAULT_UNPLUG, 1);
    EXPECT_RESULT(bed_stream_drain(&source), ZE_RESULT_ERROR_DEVICE_LOST);
    expect_sentence("ENODEV");
    EXPECT_RESULT(zeDeviceGetStatus(bmg), ZE_RESULT_ERROR_DEVICE_LOST);
    bed_close(&source);
    bed_streams_activate(&(struct bed_stream *){&later}, 1);
    EXPECT_RESULT(bed_stream_try_open(&later), ZE_RESULT_ERROR_DEVICE_LOST);
    bed_close(&later);
    EXPECT_OK(zeDeviceGetStatus(tile.device));
}

SUITE(xe_streams)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stream__of_oag__gives_every_counter_bit_exact),
        cmocka_unit_test(values__of_test_oa__are_what_its_equations_say),
        cmocka_unit_test(values__of_test_oa_of_pvc__are_parts_of_the_clocks),
        cmocka_unit_test(streams__of_oag_and_oam__run_side_by_side),
        cmocka_unit_test(descriptors__of_nodes_and_streams__are_closed_by_exec),
        cmocka_unit_test(streams__opened_and_refused_often__leave_nothing),
        cmocka_unit_test(stream__of_a_root__with_a_tile_in_use__is_refused_and_leaves_the_other),
        cmocka_unit_test(streams__of_both_tiles__have_counters_of_their_own_unit),
        cmocka_unit_test(stream__of_a_root_with_tiles__has_the_reports_of_both),
        cmocka_unit_test(config__opened_again__is_not_uploaded_twice),
        cmocka_unit_test(buffer__for_many_reports__is_as_large_as_they_need),
        cmocka_unit_test(period__any_request__is_the_nearest_exponent),
        cmocka_unit_test(losses__of_tiles__are_breaks_of_their_own),
        cmocka_unit_test(loss__of_reports__is_a_break),
        cmocka_unit_test(loss__of_the_buffer__is_a_break),
        cmocka_unit_test(status__of_overflowing_counters__is_no_break),
        cmocka_unit_test(reads__short_and_in_vain__lose_nothing),
        cmocka_unit_test(switches__of_contexts__are_further_reports),
        cmocka_unit_test(reset__of_the_gpu__is_a_break),
        cmocka_unit_test(unplug__during_a_stream__is_a_lost_device),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
