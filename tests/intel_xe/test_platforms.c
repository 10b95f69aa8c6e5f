/*
 * Every platform that xe counts on, in a process of its own each: what it shows, that the kernel
 * takes all of its sets, and what TestOa counts where its counters have a known meaning.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zeta/zeta.h>

#include "tests/intel/stream_bed.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

static const struct {
    const char *preset, *name, *manifest;
    uint32_t timer_hz, report_bytes;
} platforms[] = {
    {"tgl-gt1", "Tiger Lake", "intel-gen12lp", 19200000, 256},
    {"tgl-gt2", "Tiger Lake", "intel-gen12lp", 19200000, 256},
    {"rkl", "Rocket Lake", "intel-gen12lp", 19200000, 256},
    {"dg1", "DG1", "intel-gen12lp", 19200000, 256},
    {"adl", "Alder Lake", "intel-gen12lp", 19200000, 256},
    {"dg2-g10", "Alchemist G10", "intel-xehpg", 25000000, 256},
    {"dg2-g11", "Alchemist G11", "intel-xehpg", 25000000, 256},
    {"dg2-g12", "Alchemist G12", "intel-xehpg", 25000000, 256},
    {"mtl-gt2", "Meteor Lake", "intel-mtl-arl", 38400000, 256},
    {"mtl-gt3", "Meteor Lake", "intel-mtl-arl", 38400000, 256},
    {"arl", "Arrow Lake", "intel-mtl-arl", 38400000, 256},
    {"pvc", "Ponte Vecchio", "intel-xehpc", 0, 256},
    {"lnl", "Lunar Lake", "intel-xe2", 19200000, 576},
    {"bmg", "Battlemage", "intel-xe2", 19200000, 576},
    {"ptl", "Panther Lake", "intel-xe3", 19200000, 576},
};

/* The last have a set TestOa of another kind. */
enum { PLATFORMS = sizeof(platforms) / sizeof(platforms[0]), WITHOUT_B_AND_C = 3 };

/* One tile of those that have several, so that a device is what is streamed. */
static ze_device_handle_t start(const char *preset)
{
    struct kmd_config config = bed_config(preset, "xe");

    config.devices[0].tiles = 1;
    config.devices[0].max_mhz = 1200;
    (void)bed_start(&config);
    return bed_device();
}

static uint32_t index_of(const char *preset)
{
    uint32_t index = 0;

    while (strcmp(platforms[index].preset, preset) != 0)
        index++;
    return index;
}

static void preset__of_xe__is_a_device_that_samples(void **state)
{
    const uint32_t index = index_of(*state);
    ze_device_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2};
    struct zeta_device_info info = {.struct_size = sizeof(info)};
    const ze_device_handle_t device = start(*state);
    struct bed_stream source;

    EXPECT_OK(zeDeviceGetProperties(device, &properties));
    assert_non_null(strstr(properties.name, platforms[index].name));
    assert_int_equal(properties.vendorId, 0x8086);
    assert_cmp(properties.numSlices, >, 0);
    assert_cmp(properties.numSubslicesPerSlice, >, 0);
    assert_cmp(properties.numEUsPerSubslice, >, 0);
    assert_cmp(properties.numThreadsPerEU, >=, 7);
    assert_int_equal(properties.coreClockRate, 1200);
    if (platforms[index].timer_hz != 0)
        assert_int_equal(properties.timerResolution, platforms[index].timer_hz);
    EXPECT_OK(zetaDeviceGetInfo(device, &info));
    assert_string_equal(info.stream, platforms[index].manifest);
    source = bed_stream_of(device, "TestOa");
    assert_int_equal(source.record_bytes, platforms[index].report_bytes);
    bed_stream_start(&source);
    kmd_advance(bed_machine(), 5000000);
    EXPECT_OK(bed_stream_drain(&source));
    assert_cmp(bed_record_count(&source), >, 20);
    assert_int_equal(source.warnings, 0);
    bed_close(&source);
    assert_int_equal(kmd_statistic(bed_machine(), 0, KMD_STAT_BAD_CALLS), 0);
}

/* Opens and closes the stream of a group; fails with its name and the reason. */
static void try_group(ze_context_handle_t context, ze_device_handle_t device,
                      zet_metric_group_handle_t group, const char *name)
{
    zet_metric_streamer_desc_t desc = {.stype = ZET_STRUCTURE_TYPE_METRIC_STREAMER_DESC,
                                       .samplingPeriod = 1000000};
    zet_metric_streamer_handle_t streamer = NULL;

    EXPECT_OK(zetContextActivateMetricGroups(context, device, 1, &group));
    if (zetMetricStreamerOpen(context, device, group, &desc, NULL, &streamer) != ZE_RESULT_SUCCESS)
        fail_msg("%s: %s", name, zetaGetLastError());
    EXPECT_OK(zetMetricStreamerClose(streamer));
    EXPECT_OK(zetContextActivateMetricGroups(context, device, 0, NULL));
}

static void sets__of_each_platform__are_taken_by_xe(void **state)
{
    static zet_metric_group_handle_t groups[4096];
    const ze_device_handle_t device = start(*state);
    const ze_context_handle_t context = make_context(device);
    uint32_t count = 4096, opened = 0;

    EXPECT_OK(zetMetricGroupGet(device, &count, groups));
    for (uint32_t i = 0; i < count; i++) {
        zet_metric_group_properties_t properties = {.stype =
                                                        ZET_STRUCTURE_TYPE_METRIC_GROUP_PROPERTIES};

        EXPECT_OK(zetMetricGroupGetProperties(groups[i], &properties));
        if ((properties.samplingType & TIME_BASED) == 0)
            continue;
        try_group(context, device, groups[i], properties.name);
        opened++;
    }
    print_message("%s on xe: %u time-based groups opened\n", (const char *)*state, opened);
    assert_cmp(opened, >=, 2);
    assert_int_equal(kmd_statistic(bed_machine(), 0, KMD_STAT_BAD_CALLS), 0);
    EXPECT_OK(zeContextDestroy(context));
}

static void test_oa__of_platforms_before_xe2__counts_parts_of_the_clock(void **state)
{
    struct bed_stream source = bed_stream_of(start(*state), "TestOa");
    struct bed_rows rows;

    source.period_ns = 1000000;
    bed_stream_start(&source);
    kmd_advance(bed_machine(), 10000000);
    EXPECT_OK(bed_stream_drain(&source));
    rows = bed_calculate(&source);
    assert_cmp(rows.rows, >=, 4);
    for (uint32_t row = 0; row < rows.rows; row++) {
        const uint64_t clocks = bed_row_value(&source, &rows, row, "GpuCoreClocks").ui64;
        const uint64_t ns = bed_row_value(&source, &rows, row, "GpuTime").ui64;

        assert_in_range(ns, source.period_ns - 100, source.period_ns + 100);
        assert_in_range(clocks, ns * 12 / 10 - 200, ns * 12 / 10 + 200);
        assert_int_equal(bed_row_value(&source, &rows, row, "Counter0").ui64, 0);
        assert_int_equal(bed_row_value(&source, &rows, row, "Counter1").ui64, clocks);
        assert_in_range(bed_row_value(&source, &rows, row, "Counter3").ui64, clocks / 2 - 1,
                        clocks / 2 + 1);
        assert_in_range(bed_row_value(&source, &rows, row, "Counter4").ui64, clocks / 3 - 1,
                        clocks / 3 + 1);
    }
    bed_rows_free(&rows);
    bed_close(&source);
}

/* ---- TestOa of Xe2 and Xe3 ------------------------------------------------------------------ */

/* The set in public descriptions, by its uuid; cores and slices that the device is made with. */
static const struct test_oa {
    const char *preset, *uuid;
    uint32_t slices, per_slice;
} test_oas[] = {
    {"lnl", "24c33f2c-f8d9-40d9-b2db-64e863b4d625", 2, 4},
    {"bmg", "9ec392a7-4c77-4253-a28a-85240821e82c", 5, 3},
    {"ptl", "cf90eca9-c696-4e2c-8f48-0574b1745a58", 2, 6},
};

/* What a counter of the unit went on by between the reports of a row. */
static uint64_t passed(const struct test_oa *set, enum kmd_bank bank, uint32_t index,
                       const uint64_t ticks[2])
{
    return kmd_counter(bed_machine(), 0, 0, set->uuid, bank, index, ticks[1]) -
           kmd_counter(bed_machine(), 0, 0, set->uuid, bank, index, ticks[0]);
}

/* The counter of a core: the set has them in three runs, of the cores 0 to 3, 4 to 14, and above.
 */
static uint32_t counter_of_core(uint32_t core)
{
    if (core < 4)
        return 3 + core;
    return core < 15 ? 17 + core : core - 8;
}

static void expect_share(double found, uint64_t part, uint64_t whole)
{
    const double wanted = 100.0 * (double)part / (double)whole;

    assert_cmp(found, >, wanted * 0.999999 - 1e-9);
    assert_cmp(found, <, wanted * 1.000001 + 1e-9);
}

/* A bit of the flat mask for each core that is there; the cores of a slice are the next ones. */
static uint64_t cores_of(const struct test_oa *set, uint32_t slice_bits)
{
    uint64_t mask = 0;

    for (uint32_t s = 0; s < set->slices; s++)
        mask |= ((UINT64_C(1) << set->per_slice) - 1) << s * slice_bits;
    return mask;
}

static void expect_row(const struct test_oa *set, const struct bed_stream *source,
                       const struct bed_rows *rows, uint32_t row, uint64_t cores)
{
    const uint64_t ticks[2] = {bed_get(bed_record(source, row), 8, 8),
                               bed_get(bed_record(source, row + 1), 8, 8)};
    const uint64_t clocks = passed(set, KMD_BANK_CLOCK, 0, ticks);
    const uint64_t event1 = passed(set, KMD_BANK_PEC, 2, ticks);
    const uint64_t event2 = passed(set, KMD_BANK_PEC, 35, ticks);
    char name[64];

    assert_int_equal(bed_row_value(source, rows, row, "GpuTime").ui64,
                     (ticks[1] - ticks[0]) * 1000000000u / 19200000u);
    assert_int_equal(bed_row_value(source, rows, row, "GpuCoreClocks").ui64, clocks);
    assert_int_equal(bed_row_value(source, rows, row, "IA_VERTEX").ui64,
                     passed(set, KMD_BANK_PEC, 33, ticks));
    assert_int_equal(bed_row_value(source, rows, row, "GPGPU_THREADGROUP_COUNT").ui64,
                     passed(set, KMD_BANK_PEC, 0, ticks));
    assert_int_equal(bed_row_value(source, rows, row, "ASYNC_GPGPU_THREADGROUP_COUNT").ui64,
                     passed(set, KMD_BANK_PEC, 1, ticks));
    expect_share(bed_row_value(source, rows, row, "GPU_BUSY").fp32,
                 passed(set, KMD_BANK_PEC, 32, ticks), clocks);
    assert_int_equal(bed_row_value(source, rows, row, "TEST_EVENT1_CYCLES").ui64, event1);
    assert_int_equal(bed_row_value(source, rows, row, "TEST_EVENT2_CYCLES").ui64, event2);
    expect_share(bed_row_value(source, rows, row, "TEST_EVENT1").fp32,
                 event1 / (set->slices * set->per_slice), clocks);
    expect_share(bed_row_value(source, rows, row, "TEST_EVENT2").fp32, event2 / set->slices,
                 clocks);
    for (uint32_t core = 0; core < 28; core++) {
        if ((cores >> core & 1) == 0)
            continue;
        (void)snprintf(name, sizeof(name), "TEST_EVENT1_CYCLES_XECORE%u", core);
        assert_int_equal(bed_row_value(source, rows, row, name).ui64,
                         passed(set, KMD_BANK_PEC, counter_of_core(core), ticks));
    }
}

/* Metrics of the set for a core each. */
static uint32_t count_core_metrics(const struct bed_stream *source)
{
    zet_metric_handle_t metrics[128];
    uint32_t count = 128, found = 0;

    EXPECT_OK(zetMetricGet(source->group, &count, metrics));
    for (uint32_t i = 0; i < count; i++) {
        zet_metric_properties_t properties = {.stype = ZET_STRUCTURE_TYPE_METRIC_PROPERTIES};

        EXPECT_OK(zetMetricGetProperties(metrics[i], &properties));
        found += strncmp(properties.name, "TEST_EVENT1_CYCLES_XECORE", 25) == 0;
    }
    return found;
}

static void test_oa__of_xe2_and_xe3__counts_what_its_equations_say(void **state)
{
    struct kmd_config config = bed_config(*state, "xe");
    const struct test_oa *set = test_oas;
    struct bed_stream source;
    struct bed_rows rows;

    while (strcmp(set->preset, *state) != 0)
        set++;
    config.devices[0].slices = set->slices;
    config.devices[0].subslices = set->per_slice;
    (void)bed_start(&config);
    source = bed_stream_of(bed_device(), "TestOa");
    assert_int_equal(count_core_metrics(&source), set->slices * set->per_slice);
    bed_stream_start(&source);
    kmd_advance(bed_machine(), 5000000);
    EXPECT_OK(bed_stream_drain(&source));
    rows = bed_calculate(&source);
    assert_cmp(rows.rows, >=, 20);
    for (uint32_t row = 0; row < rows.rows; row++)
        expect_row(set, &source, &rows, row, cores_of(set, strcmp(*state, "ptl") == 0 ? 6 : 4));
    bed_rows_free(&rows);
    bed_close(&source);
}

SUITE_WITH_ARGUMENTS(xe_platforms, argc, argv)
{
    static const char *all[PLATFORMS + 1], *old[PLATFORMS - WITHOUT_B_AND_C + 1];
    static const char *wide[WITHOUT_B_AND_C + 1];
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(preset__of_xe__is_a_device_that_samples, (void *)all),
        cmocka_unit_test_prestate(sets__of_each_platform__are_taken_by_xe, (void *)all),
        cmocka_unit_test_prestate(test_oa__of_platforms_before_xe2__counts_parts_of_the_clock,
                                  (void *)old),
        cmocka_unit_test_prestate(test_oa__of_xe2_and_xe3__counts_what_its_equations_say,
                                  (void *)wide),
    };

    for (uint32_t i = 0; i < PLATFORMS; i++)
        all[i] = platforms[i].preset;
    for (uint32_t i = 0; i < WITHOUT_B_AND_C; i++)
        wide[i] = test_oas[i].preset;
    memcpy(old, all, (PLATFORMS - WITHOUT_B_AND_C) * sizeof(all[0]));
    return bed_main(argc, argv, tests, sizeof(tests) / sizeof(tests[0]));
}
