/*
 * What machines show: every platform of i915, its numbers, its groups, its clock; several at once.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zeta/zeta.h>

#include "tests/intel/stream_bed.h"
#include "tests/sanitizer.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

/* Platforms of i915: what the emulated parts have, as public tables of such GPUs say. */
static const struct {
    const char *preset, *name, *manifest;
    uint32_t slices, subslices, eus, threads;
    uint32_t timer_ns; /* of a tick, rounded down */
} platforms[] = {
    {"hsw-gt1", "Haswell", "intel-haswell", 1, 1, 10, 7, 80},
    {"hsw-gt2", "Haswell", "intel-haswell", 1, 2, 10, 7, 80},
    {"hsw-gt3", "Haswell", "intel-haswell", 2, 2, 10, 7, 80},
    {"bdw", "Broadwell", "intel-gen8", 1, 3, 8, 7, 80},
    {"chv", "Cherryview", "intel-gen8", 1, 2, 8, 7, 80},
    {"skl-gt2", "Skylake", "intel-gen9", 1, 3, 8, 7, 83},
    {"skl-gt3", "Skylake", "intel-gen9", 2, 3, 8, 7, 83},
    {"skl-gt4", "Skylake", "intel-gen9", 3, 3, 8, 7, 83},
    {"bxt", "Apollo Lake", "intel-gen9", 1, 3, 6, 6, 52},
    {"glk", "Gemini Lake", "intel-gen9", 1, 3, 6, 6, 52},
    {"kbl-gt2", "Kaby Lake", "intel-gen9", 1, 3, 8, 7, 83},
    {"kbl-gt3", "Kaby Lake", "intel-gen9", 2, 3, 8, 7, 83},
    {"cfl-gt2", "Coffee Lake", "intel-gen9", 1, 3, 8, 7, 83},
    {"cfl-gt3", "Coffee Lake", "intel-gen9", 2, 3, 8, 7, 83},
    {"cnl", "Cannon Lake", "intel-gen9", 2, 2, 8, 7, 52},
    {"icl", "Ice Lake", "intel-gen11", 1, 8, 8, 7, 83},
    {"ehl", "Elkhart Lake", "intel-gen11", 1, 4, 8, 7, 52},
    {"tgl-gt1", "Tiger Lake", "intel-gen12lp", 1, 2, 16, 7, 52},
    {"tgl-gt2", "Tiger Lake", "intel-gen12lp", 1, 6, 16, 7, 52},
    {"rkl", "Rocket Lake", "intel-gen12lp", 1, 2, 16, 7, 52},
    {"dg1", "DG1", "intel-gen12lp", 1, 6, 16, 7, 52},
    {"adl", "Alder Lake", "intel-gen12lp", 1, 6, 16, 7, 52},
    {"dg2-g10", "Alchemist G10", "intel-xehpg", 8, 4, 16, 8, 40},
    {"dg2-g11", "Alchemist G11", "intel-xehpg", 2, 4, 16, 8, 40},
    {"dg2-g12", "Alchemist G12", "intel-xehpg", 4, 4, 16, 8, 40},
    {"mtl-gt2", "Meteor Lake", "intel-mtl-arl", 1, 4, 16, 8, 26},
    {"mtl-gt3", "Meteor Lake", "intel-mtl-arl", 2, 4, 16, 8, 26},
    {"arl", "Arrow Lake", "intel-mtl-arl", 2, 4, 16, 8, 26},
};

/* Haswell has no set TestOa. */
enum { PLATFORMS = sizeof(platforms) / sizeof(platforms[0]), HASWELLS = 3 };

static void expect_groups(ze_device_handle_t device)
{
    static zet_metric_group_handle_t groups[4096];
    uint32_t count = 4096;

    EXPECT_OK(zetMetricGroupGet(device, &count, groups));
    assert_cmp(count, >=, 5);
    for (uint32_t i = 0; i < count; i++) {
        zet_metric_group_properties_t properties = {.stype =
                                                        ZET_STRUCTURE_TYPE_METRIC_GROUP_PROPERTIES};

        EXPECT_OK(zetMetricGroupGetProperties(groups[i], &properties));
        assert_cmp(properties.metricCount, >=, 2);
    }
}

static void preset__of_i915__is_a_device_that_samples(void **state)
{
    static uint8_t data[1 << 16];
    struct kmd_config config = bed_config(*state, "i915");
    ze_device_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES};
    struct zeta_device_info info = {.struct_size = sizeof(info)};
    ze_device_handle_t device;
    struct bed_stream stream;
    uint32_t index = 0;

    while (strcmp(platforms[index].preset, *state) != 0)
        index++;
    (void)bed_start(&config);
    device = bed_device();
    EXPECT_OK(zeDeviceGetProperties(device, &properties));
    assert_non_null(strstr(properties.name, platforms[index].name));
    assert_int_equal(properties.vendorId, 0x8086);
    assert_int_equal(properties.numSlices, platforms[index].slices);
    assert_int_equal(properties.numSubslicesPerSlice, platforms[index].subslices);
    assert_int_equal(properties.numEUsPerSubslice, platforms[index].eus);
    assert_int_equal(properties.numThreadsPerEU, platforms[index].threads);
    assert_int_equal(properties.timerResolution, platforms[index].timer_ns);
    assert_cmp(properties.coreClockRate, >, 0);
    EXPECT_OK(zetaDeviceGetInfo(device, &info));
    assert_string_equal(info.stream, platforms[index].manifest);
    expect_groups(device);
    stream = bed_open(device, "RenderBasic", 1000000);
    assert_int_equal(stream.record_bytes, 256);
    (void)bed_collect(&stream, 3, data, sizeof(data));
    assert_int_equal(kmd_statistic(bed_machine(), 0, KMD_STAT_REPORTS_LOST), 0);
    bed_close(&stream);
}

/* Values of one row of a group, by name. */
static uint64_t value_of(const struct bed_stream *stream, const zet_typed_value_t *row,
                         const char *name)
{
    return bed_value(&row[metric_index(stream->group, name)]);
}

/* Counters of TestOa count the core clock, or known parts of it, whatever the platform. */
static void test_oa__of_each_platform__counts_parts_of_the_clock(void **state)
{
    static uint8_t data[1 << 16];
    struct kmd_config config = bed_config(*state, "i915");
    struct bed_stream stream;
    zet_typed_value_t *values;
    uint32_t slots, count = 0;

    config.devices[0].max_mhz = 1200;
    (void)bed_start(&config);
    stream = bed_open(bed_device(), "TestOa", 1000000);
    slots = bed_collect(&stream, 6, data, sizeof(data));
    count = (slots - 1) * stream.properties.metricCount;
    values = calloc(count, sizeof(*values));
    assert_non_null(values);
    EXPECT_OK(zetMetricGroupCalculateMetricValues(
        stream.group, ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES,
        (size_t)slots * stream.record_bytes, data, &count, values));
    assert_int_equal(count, (slots - 1) * stream.properties.metricCount);
    for (uint32_t i = 0; i < count; i += stream.properties.metricCount) {
        const uint64_t clocks = value_of(&stream, values + i, "GpuCoreClocks");
        const uint64_t ns = value_of(&stream, values + i, "GpuTime");

        assert_in_range(ns, stream.period_ns - 100, stream.period_ns + 100);
        assert_in_range(clocks, ns * 12 / 10 - 200, ns * 12 / 10 + 200);
        assert_int_equal(value_of(&stream, values + i, "Counter0"), 0);
        assert_int_equal(value_of(&stream, values + i, "Counter1"), clocks);
        assert_int_equal(value_of(&stream, values + i, "Counter2"), clocks);
        assert_in_range(value_of(&stream, values + i, "Counter3"), clocks / 2 - 1, clocks / 2 + 1);
        assert_in_range(value_of(&stream, values + i, "Counter4"), clocks / 3 - 1, clocks / 3 + 1);
        assert_in_range(value_of(&stream, values + i, "Counter6"), clocks / 6 - 1, clocks / 6 + 1);
    }
    free(values);
    bed_close(&stream);
}

/* Opens every set of a platform; how many there are. */
static uint32_t open_sets(const char *preset)
{
    static zet_metric_group_handle_t groups[4096];
    struct kmd_config config = bed_config(preset, "i915");
    uint32_t count = 4096, opened = 0;
    ze_context_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    ze_context_handle_t context;
    ze_device_handle_t device;

    (void)bed_start(&config);
    device = bed_device();
    EXPECT_OK(zeContextCreate(driver_of(device), &desc, &context));
    EXPECT_OK(zetMetricGroupGet(device, &count, groups));
    for (uint32_t i = 0; i < count; i++) {
        zet_metric_group_properties_t properties = {.stype =
                                                        ZET_STRUCTURE_TYPE_METRIC_GROUP_PROPERTIES};
        zet_metric_streamer_desc_t streamer_desc = {
            .stype = ZET_STRUCTURE_TYPE_METRIC_STREAMER_DESC, .samplingPeriod = 1000000};
        zet_metric_streamer_handle_t streamer;

        EXPECT_OK(zetMetricGroupGetProperties(groups[i], &properties));
        if ((properties.samplingType & TIME_BASED) == 0)
            continue;
        EXPECT_OK(zetContextActivateMetricGroups(context, device, 1, &groups[i]));
        if (zetMetricStreamerOpen(context, device, groups[i], &streamer_desc, NULL, &streamer) !=
            ZE_RESULT_SUCCESS)
            fail_msg("%s: %s", properties.name, zetaGetLastError());
        EXPECT_OK(zetMetricStreamerClose(streamer));
        EXPECT_OK(zetContextActivateMetricGroups(context, device, 0, NULL));
        opened++;
    }
    print_message("%s: %u time-based groups opened\n", preset, opened);
    assert_int_equal(kmd_statistic(bed_machine(), 0, KMD_STAT_BAD_CALLS), 0);
    EXPECT_OK(zeContextDestroy(context));
    return opened;
}

/* Every set of a platform can be opened: the kernel takes all of its registers. */
static void sets__of_each_platform__are_taken_by_the_kernel(void **state)
{
    assert_in_range(open_sets(*state), 2, 40);
}

/*
 * Platforms with sets for single blocks and signals. Sets of slices that a GPU lacks do not exist:
 * G11 and G12 have others than their sets are made for.
 */
static const struct {
    const char *preset;
    uint32_t sets;
} all_sets[] = {
    {"dg2-g10", 1043}, {"dg2-g11", 44},  {"dg2-g12", 325},
    {"mtl-gt2", 152},  {"mtl-gt3", 254}, {"arl", 254},
};

enum { ALL_SETS = sizeof(all_sets) / sizeof(all_sets[0]) };

static bool has_all_sets(const char *preset)
{
    for (size_t i = 0; i < ALL_SETS; i++)
        if (strcmp(all_sets[i].preset, preset) == 0)
            return true;
    return false;
}

static void sets__all_of_a_platform__are_taken_by_the_kernel(void **state)
{
    for (size_t i = 0; i < ALL_SETS; i++) {
        if (strcmp(all_sets[i].preset, *state) == 0)
            assert_int_equal(open_sets(*state), all_sets[i].sets);
    }
}

static void device__fused_down__has_the_topology_that_is_left(void **state)
{
    struct kmd_config config = bed_config("skl-gt4", "i915");
    ze_device_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES};

    (void)state;
    config.devices[0].slices = 2;
    config.devices[0].subslices = 3;
    config.devices[0].eus = 6;
    (void)bed_start(&config);
    EXPECT_OK(zeDeviceGetProperties(bed_device(), &properties));
    assert_int_equal(properties.numSlices, 2);
    assert_int_equal(properties.numSubslicesPerSlice, 3);
    assert_int_equal(properties.numEUsPerSubslice, 6);
}

/* Rule 26.8. */
static void device__with_its_own_clock__tells_it(void **state)
{
    struct kmd_config config = bed_config("dg2-g10", "i915");
    ze_device_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2};

    (void)state;
    config.devices[0].min_mhz = 300;
    config.devices[0].max_mhz = 2100;
    config.devices[0].cs_hz = 12500000;
    config.devices[0].oa_hz = 25000000;
    (void)bed_start(&config);
    EXPECT_OK(zeDeviceGetProperties(bed_device(), &properties));
    assert_int_equal(properties.coreClockRate, 2100);
    assert_int_equal(properties.timerResolution, 25000000);
    assert_int_equal(properties.timestampValidBits, 32);
}

/* The device's clock has the ticks of reports: what passes on the machine passes there.
 * Rule 26.8. */
static void clock__of_the_device__runs_with_oa_ticks_and_never_back(void **state)
{
    struct kmd_config config = bed_config(*state, "i915");
    struct kmd_machine *machine;
    ze_device_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2};
    uint64_t host, before, after;
    ze_device_handle_t device;

    /* The command streamer's clock has 36 bits: it wraps a second after the machine starts. */
    config.first_ticks = (UINT64_C(1) << 36) * (strcmp(*state, "dg2-g10") == 0 ? 2 : 1) - 20000000;
    machine = bed_start(&config);
    device = bed_device();
    EXPECT_OK(zeDeviceGetProperties(device, &properties));
    EXPECT_OK(zeDeviceGetGlobalTimestamps(device, &host, &before));
    for (int i = 0; i < 20; i++) {
        kmd_advance(machine, 100000000);
        EXPECT_OK(zeDeviceGetGlobalTimestamps(device, &host, &after));
        assert_in_range(((after - before) & UINT32_MAX), properties.timerResolution / 10 - 4,
                        properties.timerResolution / 10 + 4);
        before = after;
    }
}

static void machine__with_three_gpus__shows_and_samples_all_at_once(void **state)
{
    static uint8_t data[1 << 16];
    struct kmd_config config = bed_config("tgl-gt2", "i915");
    ze_device_handle_t devices[3];
    struct bed_stream streams[3];
    ze_device_properties_t a = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES}, b = a;

    (void)state;
    config.device_count = 3;
    config.devices[1] = (struct kmd_device){.platform = "dg2-g10", .driver = "i915"};
    config.devices[2] = (struct kmd_device){.platform = "dg1", .driver = "i915"};
    (void)bed_start(&config);
    root_devices(3, devices);
    EXPECT_OK(zeDeviceGetProperties(devices[0], &a));
    EXPECT_OK(zeDeviceGetProperties(devices[1], &b));
    assert_memory_not_equal(&a.uuid, &b.uuid, sizeof(a.uuid));
    for (uint32_t i = 0; i < 3; i++)
        streams[i] = bed_open(devices[i], "RenderBasic", 1000000);
    for (uint32_t i = 0; i < 3; i++) {
        (void)bed_collect(&streams[i], 3, data, sizeof(data));
        assert_int_equal(kmd_statistic(bed_machine(), i, KMD_STAT_STREAMS_OPEN), 1);
    }
    for (uint32_t i = 0; i < 3; i++)
        bed_close(&streams[i]);
}

SUITE_WITH_ARGUMENTS(discovery, argc, argv)
{
    static const char *presets[PLATFORMS + 1], *smaller[PLATFORMS + 1], *larger[ALL_SETS + 1];
    static const char *const clocks[] = {"tgl-gt2", "dg2-g10", "hsw-gt2", NULL};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(preset__of_i915__is_a_device_that_samples, (void *)presets),
        cmocka_unit_test_prestate(test_oa__of_each_platform__counts_parts_of_the_clock,
                                  (void *)(presets + HASWELLS)),
        cmocka_unit_test_prestate(sets__of_each_platform__are_taken_by_the_kernel, (void *)smaller),
        cmocka_unit_test_prestate(sets__all_of_a_platform__are_taken_by_the_kernel, (void *)larger),
        cmocka_unit_test(device__fused_down__has_the_topology_that_is_left),
        cmocka_unit_test(device__with_its_own_clock__tells_it),
        cmocka_unit_test_prestate(clock__of_the_device__runs_with_oa_ticks_and_never_back,
                                  (void *)clocks),
        cmocka_unit_test(machine__with_three_gpus__shows_and_samples_all_at_once),
    };

    for (uint32_t i = 0, k = 0; i < PLATFORMS; i++) {
        presets[i] = platforms[i].preset;
        if (!has_all_sets(presets[i]))
            smaller[k++] = presets[i];
    }
    /* The thousand sets of the largest one are many for a sanitizer. */
    for (size_t i = 0, from = HAVE_ADDRESS_SANITIZER || HAVE_THREAD_SANITIZER; from + i < ALL_SETS;
         i++)
        larger[i] = all_sets[from + i].preset;
    return bed_main(argc, argv, tests, sizeof(tests) / sizeof(tests[0]));
}
