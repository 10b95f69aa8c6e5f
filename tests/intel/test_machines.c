/*
 * Machines with several GPUs: each is there with its own counters, and one that is broken takes
 * none of the others along.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zeta/zeta.h>

#include "tests/intel/stream_bed.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

static uint8_t data[1 << 20];

/* Two of one generation on i915, one of another on each driver; PCI addresses rise with the index.
 */
static struct kmd_config mixed_machine(void)
{
    struct kmd_config config = bed_config("tgl-gt2", "i915");

    config.device_count = 4;
    config.devices[1] = config.devices[0];
    config.devices[2] = (struct kmd_device){.platform = "dg2-g10", .driver = "i915"};
    config.devices[3] = (struct kmd_device){.platform = "dg2-g10", .driver = "xe"};
    return config;
}

static uint32_t pci_of(ze_device_handle_t device)
{
    ze_pci_ext_properties_t pci = {.stype = ZE_STRUCTURE_TYPE_PCI_EXT_PROPERTIES};

    EXPECT_OK(zeDevicePciGetPropertiesExt(device, &pci));
    return pci.address.bus << 8 | pci.address.device;
}

static void
devices__of_two_generations_and_drivers__come_in_order_with_names_of_their_own(void **state)
{
    const struct kmd_config config = mixed_machine();
    ze_device_properties_t properties[4];
    ze_device_handle_t devices[4];

    (void)state;
    (void)bed_start(&config);
    root_devices(4, devices);
    for (uint32_t i = 0; i < 4; i++) {
        properties[i] = (ze_device_properties_t){.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES};
        EXPECT_OK(zeDeviceGetProperties(devices[i], &properties[i]));
        assert_non_null(strstr(properties[i].name, i < 2 ? "Tiger Lake" : "Alchemist"));
        for (uint32_t k = 0; k < i; k++)
            assert_memory_not_equal(properties[i].uuid.id, properties[k].uuid.id,
                                    sizeof(properties[i].uuid.id));
        if (i > 0)
            assert_cmp(pci_of(devices[i]), >, pci_of(devices[i - 1]));
    }
}

/* All at once, each with the counters of its own unit. Rule 26.35. */
static void streams__of_all_devices__have_their_own_reports(void **state)
{
    const struct kmd_config config = mixed_machine();
    struct bed_stream streams[4];
    ze_device_handle_t devices[4];
    uint32_t slots;

    (void)state;
    (void)bed_start(&config);
    root_devices(4, devices);
    for (uint32_t i = 0; i < 4; i++)
        streams[i] = bed_open(devices[i], "RenderBasic", 1000000);
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(kmd_statistic(bed_machine(), i, KMD_STAT_STREAMS_OPEN), 1);
        slots = bed_collect(&streams[i], 5, data, sizeof(data));
        assert_cmp(slots, >=, 5);
    }
    for (uint32_t i = 0; i < 4; i++) {
        bed_close(&streams[i]);
        assert_int_equal(kmd_statistic(bed_machine(), i, KMD_STAT_STREAMS_OPENED), 1);
        assert_int_equal(kmd_statistic(bed_machine(), i, KMD_STAT_BAD_CALLS), 0);
    }
}

static void mask__of_affinity__leaves_those_that_it_names(void **state)
{
    const struct kmd_config config = mixed_machine();
    ze_device_handle_t devices[2];
    struct bed_stream stream;

    (void)state;
    (void)setenv("ZE_AFFINITY_MASK", "1,3", 1);
    (void)bed_start(&config);
    root_devices(2, devices);
    stream = bed_open(devices[1], "TestOa", 1000000);
    assert_int_equal(kmd_statistic(bed_machine(), 3, KMD_STAT_STREAMS_OPEN), 1);
    bed_close(&stream);
    stream = bed_open(devices[0], "TestOa", 1000000);
    assert_int_equal(kmd_statistic(bed_machine(), 1, KMD_STAT_STREAMS_OPEN), 1);
    bed_close(&stream);
}

/* What is wrong with one is said beside the plugin that works with the others. Rule 26.35. */
static void device__that_is_gone__takes_no_other_along(void **state)
{
    const struct kmd_config config = mixed_machine();
    ze_device_handle_t devices[3];
    const char *reason = "";

    (void)state;
    (void)bed_start_machine(&config);
    kmd_fault(bed_machine(), 0, KMD_FAULT_UNPLUG, 1);
    EXPECT_OK(zeInit(0));
    assert_int_equal(plugin_state("intel-gen12lp", &reason), ZETA_PLUGIN_STATE_ACTIVE);
    assert_non_null(strstr(reason, "0000:00:02.0"));
    root_devices(3, devices);
    for (uint32_t i = 0; i < 3; i++) {
        struct bed_stream stream = bed_open(devices[i], "TestOa", 1000000);

        bed_close(&stream);
    }
}

SUITE_WITH_ARGUMENTS(machines, argc, argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            devices__of_two_generations_and_drivers__come_in_order_with_names_of_their_own),
        cmocka_unit_test(streams__of_all_devices__have_their_own_reports),
        cmocka_unit_test(mask__of_affinity__leaves_those_that_it_names),
        cmocka_unit_test(device__that_is_gone__takes_no_other_along),
    };

    return bed_main(argc, argv, tests, sizeof(tests) / sizeof(tests[0]));
}
