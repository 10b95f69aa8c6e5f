/* GPUs behind the xe driver: what the library says of them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <zeta/zeta.h>

#include "tests/intel/stream_bed.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

/* Fused as told, so that nothing here depends on what the emulated kernel thinks is usual. */
static const struct kmd_config machine_config = {
    .device_count = 5,
    .devices =
        {
            {.platform = "lnl", .driver = "xe", .slices = 2, .subslices = 4, .eus = 8},
            {.platform = "bmg", .driver = "xe", .slices = 5, .subslices = 4, .eus = 8},
            {.platform = "ptl", .driver = "xe", .slices = 2, .subslices = 6, .eus = 8},
            {.platform = "pvc", .driver = "xe", .tiles = 2},
            {.platform = "dg2-g10", .driver = "xe"},
        },
    .is_privileged = true,
    .is_paranoid = true,
};

static struct kmd_machine *machine;

static int setup(void **state)
{
    (void)state;
    machine = bed_start(&machine_config);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    kmd_stop(machine);
    return 0;
}

static ze_device_properties_t properties_of(ze_device_handle_t device)
{
    ze_device_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2};

    EXPECT_OK(zeDeviceGetProperties(device, &properties));
    return properties;
}

static uint32_t tiles_of(ze_device_handle_t device)
{
    uint32_t count = 0;

    EXPECT_OK(zeDeviceGetSubDevices(device, &count, NULL));
    return count;
}

static void device__of_xe2_and_xe3__has_the_topology_of_the_masks(void **state)
{
    static const struct {
        const char *name;
        uint32_t slices, subslices, eus, threads;
    } wanted[] = {
        {"Intel Lunar Lake", 2, 4, 8, 8},
        {"Intel Battlemage", 5, 4, 8, 8},
        {"Intel Panther Lake", 2, 6, 8, 10},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
        const ze_device_properties_t found = properties_of(find_device(wanted[i].name));

        assert_int_equal(found.vendorId, 0x8086);
        assert_int_equal(found.numSlices, wanted[i].slices);
        assert_int_equal(found.numSubslicesPerSlice, wanted[i].subslices);
        assert_int_equal(found.numEUsPerSubslice, wanted[i].eus);
        assert_int_equal(found.numThreadsPerEU, wanted[i].threads);
        assert_int_equal(found.timerResolution, 19200000);
        assert_int_equal(found.timestampValidBits, 56);
        assert_cmp(found.coreClockRate, >, 0);
        assert_int_equal(tiles_of(find_device(wanted[i].name)), 0);
    }
}

static void device__with_tiles__has_a_sub_device_for_each(void **state)
{
    const ze_device_handle_t root = find_device("Intel Ponte Vecchio");
    const ze_device_properties_t whole = properties_of(root);
    ze_device_handle_t tiles[4];
    uint32_t count = 4;

    (void)state;
    EXPECT_OK(zeDeviceGetSubDevices(root, &count, tiles));
    assert_int_equal(count, 2);
    for (uint32_t i = 0; i < count; i++) {
        const ze_device_properties_t tile = properties_of(tiles[i]);

        assert_cmp((tile.flags & ZE_DEVICE_PROPERTY_FLAG_SUBDEVICE), !=, 0);
        assert_int_equal(tile.subdeviceId, i);
        assert_int_equal(tile.numSlices * 2, whole.numSlices);
        assert_int_equal(tile.numSubslicesPerSlice, whole.numSubslicesPerSlice);
        assert_memory_not_equal(tile.uuid.id, whole.uuid.id, sizeof(whole.uuid.id));
    }
    assert_cmp((whole.flags & ZE_DEVICE_PROPERTY_FLAG_SUBDEVICE), ==, 0);
}

static void groups__of_each_device__are_those_of_its_units(void **state)
{
    static const struct {
        const char *name;
        bool has_media, has_stalls;
    } wanted[] = {
        {"Intel Lunar Lake", true, true},      {"Intel Battlemage", true, true},
        {"Intel Panther Lake", true, true},    {"Intel Ponte Vecchio", false, true},
        {"Intel Alchemist G10", false, false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
        const ze_device_handle_t device = find_device(wanted[i].name);

        assert_cmp(bed_group_count(device, "TestOa"), >, 0);
        assert_int_equal(bed_group_count(device, "MediaSet1") > 0, wanted[i].has_media);
        assert_int_equal(bed_group_count(device, "EuStallSampling"), wanted[i].has_stalls);
    }
}

/* Rule 26.18. */
static void groups__of_media_and_stalls__have_domains_of_their_own(void **state)
{
    const ze_device_handle_t device = find_device("Intel Battlemage");
    zet_metric_group_properties_t render, media1, media2, stalls;

    (void)state;
    (void)find_group(device, "RenderBasic", TIME_BASED, &render);
    (void)find_group(device, "MediaSet1", TIME_BASED, &media1);
    (void)find_group(device, "MediaSet2", TIME_BASED, &media2);
    (void)find_group(device, "EuStallSampling", TIME_BASED, &stalls);
    assert_int_equal(render.domain, 0);
    assert_int_not_equal(media1.domain, media2.domain);
    assert_int_not_equal(media1.domain, render.domain);
    assert_int_not_equal(media2.domain, render.domain);
    assert_int_not_equal(stalls.domain, media1.domain);
    assert_int_not_equal(stalls.domain, media2.domain);
    assert_int_not_equal(stalls.domain, render.domain);
}

static void periods__of_units__are_those_of_their_clocks(void **state)
{
    const ze_device_handle_t device = find_device("Intel Battlemage");
    struct zeta_group_info info = {.struct_size = sizeof(info)};

    (void)state;
    EXPECT_OK(zetaMetricGroupGetInfo(find_group(device, "TestOa", TIME_BASED, NULL), &info));
    assert_string_equal(info.unit, "oa");
    assert_int_equal(info.record_bytes, 576);
    assert_int_equal(info.min_period_ns, 105); /* 2 ticks of 19.2 MHz, rounded up */
    EXPECT_OK(zetaMetricGroupGetInfo(find_group(device, "MediaSet1", TIME_BASED, NULL), &info));
    assert_string_equal(info.unit, "oam1");
    assert_int_equal(info.record_bytes, 128);
    EXPECT_OK(
        zetaMetricGroupGetInfo(find_group(device, "EuStallSampling", TIME_BASED, NULL), &info));
    assert_string_equal(info.unit, "eu-stall");
    assert_int_equal(info.record_bytes, 64);
    assert_cmp(info.min_period_ns, >, 0);
    /* Rates are 251 cycles times 1 to 7. */
    assert_in_range(info.max_period_ns, info.min_period_ns * 7 - 7, info.min_period_ns * 7);
}

/* The two clocks of a device, and the host's before and after they were asked for. */
struct reading {
    double before_ns, after_ns;
    uint64_t host_ns, ticks;
};

static double now_ns(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static struct reading read_clocks(ze_device_handle_t device)
{
    struct reading reading = {.before_ns = now_ns()};

    EXPECT_OK(zeDeviceGetGlobalTimestamps(device, &reading.host_ns, &reading.ticks));
    reading.after_ns = now_ns();
    return reading;
}

static void clock__of_each_device__runs_with_the_host(void **state)
{
    static const char *const names[] = {"Intel Lunar Lake", "Intel Panther Lake",
                                        "Intel Ponte Vecchio", "Intel Alchemist G10"};

    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const ze_device_handle_t device = find_device(names[i]);
        const double hz = (double)properties_of(device).timerResolution;
        const struct reading first = read_clocks(device);

        sleep_ms(50);
        const struct reading second = read_clocks(device);
        /* Clocks of the host are steered apart: a thousandth at most, also of a long pause. */
        const double tolerance_ns = 1e5 + (double)(second.after_ns - first.before_ns) / 1000;
        const double shortest_ns = second.before_ns - first.after_ns - tolerance_ns;
        const double longest_ns = second.after_ns - first.before_ns + tolerance_ns;
        const double device_ns = (double)(second.ticks - first.ticks) / hz * 1e9;
        const double host_ns = (double)(second.host_ns - first.host_ns);

        assert_cmp(device_ns, >, shortest_ns);
        assert_cmp(device_ns, <, longest_ns);
        assert_cmp(host_ns, >, shortest_ns);
        assert_cmp(host_ns, <, longest_ns);
    }
}

static void clock__of_dg2__is_that_of_the_reports(void **state)
{
    /* Its command streamers tick at half the rate of its OA unit. */
    (void)state;
    assert_int_equal(properties_of(find_device("Intel Alchemist G10")).timerResolution, 25000000);
}

SUITE(xe_devices)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(device__of_xe2_and_xe3__has_the_topology_of_the_masks),
        cmocka_unit_test(device__with_tiles__has_a_sub_device_for_each),
        cmocka_unit_test(groups__of_each_device__are_those_of_its_units),
        cmocka_unit_test(groups__of_media_and_stalls__have_domains_of_their_own),
        cmocka_unit_test(periods__of_units__are_those_of_their_clocks),
        cmocka_unit_test(clock__of_each_device__runs_with_the_host),
        cmocka_unit_test(clock__of_dg2__is_that_of_the_reports),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
