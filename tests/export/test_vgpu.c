/* Exported data of the virtual GPU: groups that only it has. */
#include <stdio.h>
#include <string.h>

#include "tests/export/support.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

#define SLOTS 120u
#define MAX_DEVICES 32u

static int set_up(void **state)
{
    (void)state;
    return zeInit(0) == ZE_RESULT_SUCCESS ? 0 : -1;
}

/** Makes groups of the metrics of all programmables of a device, and checks each of them. */
static uint32_t check_user_groups(ze_driver_handle_t driver, ze_device_handle_t device)
{
    zet_metric_programmable_exp_handle_t programmables[64];
    zet_metric_handle_t metrics[256];
    zet_metric_group_handle_t groups[64];
    struct outcome in_place = outcome_make();
    struct outcome offline = outcome_make();
    uint32_t programmable_count = 64;
    uint32_t metric_count = 0;
    uint32_t group_count = 64;

    EXPECT_OK(zetMetricProgrammableGetExp(device, &programmable_count, programmables));
    for (uint32_t i = 0; i < programmable_count; i++) {
        char name[32];
        uint32_t count = 16;

        (void)snprintf(name, sizeof(name), "Chosen%u", i);
        EXPECT_OK(zetMetricCreateFromProgrammableExp2(programmables[i], 0, NULL, name, "chosen",
                                                      &count, metrics + metric_count));
        metric_count += count;
    }
    EXPECT_OK(zetDeviceCreateMetricGroupsFromMetricsExp(device, metric_count, metrics, "own",
                                                        "chosen", &group_count, groups));
    for (uint32_t i = 0; i < group_count; i++) {
        static uint8_t raw[SLOTS * 4096];
        struct source source;

        assert_true(fill_source(groups[i], driver, &source));
        expect_equal_ways(&source, raw, make_raw(&source, i + 1, SLOTS, raw), &in_place, &offline);
        EXPECT_OK(zetMetricGroupDestroyExp(groups[i]));
    }
    for (uint32_t i = 0; i < metric_count; i++)
        EXPECT_OK(zetMetricDestroyExp(metrics[i]));
    outcome_free(&in_place);
    outcome_free(&offline);
    return group_count;
}

/** The root devices of all drivers; at most capacity. */
static uint32_t list_devices(ze_device_handle_t *devices, uint32_t capacity)
{
    ze_driver_handle_t drivers[8];
    uint32_t driver_count = 8;
    uint32_t used = 0;

    EXPECT_OK(zeDriverGet(&driver_count, drivers));
    for (uint32_t d = 0; d < driver_count; d++) {
        uint32_t count = capacity - used;

        EXPECT_OK(zeDeviceGet(drivers[d], &count, devices + used));
        used += count;
    }
    return used;
}

/* Rule 16.2. */
static void calculate__groups_of_the_application__as_in_place(void **state)
{
    ze_device_handle_t devices[MAX_DEVICES];
    const uint32_t device_count = list_devices(devices, MAX_DEVICES);
    uint32_t checked = 0;

    (void)state;
    for (uint32_t i = 0; i < device_count; i++) {
        uint32_t count = 0;

        if (zetMetricProgrammableGetExp(devices[i], &count, NULL) == ZE_RESULT_SUCCESS && count > 0)
            checked += check_user_groups(driver_of(devices[i]), devices[i]);
    }
    assert_cmp(checked, >, 0);
}

/** The number of the device's groups of tracers, none of which can be exported. */
static uint32_t check_tracer_groups(ze_device_handle_t device)
{
    const uint8_t raw[8] = {0};
    zet_metric_group_handle_t groups[64];
    uint32_t group_count = 64;
    uint32_t found = 0;

    EXPECT_OK(zetMetricGroupGet(device, &group_count, groups));
    for (uint32_t i = 0; i < group_count; i++) {
        zet_metric_group_properties_t properties = {.stype =
                                                        ZET_STRUCTURE_TYPE_METRIC_GROUP_PROPERTIES};
        size_t size = 0;

        EXPECT_OK(zetMetricGroupGetProperties(groups[i], &properties));
        if (properties.samplingType != ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EXP_TRACER_BASED)
            continue;
        found++;
        EXPECT_RESULT(zetMetricGroupGetExportDataExp(groups[i], raw, 0, &size, NULL),
                      ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
        assert_int_equal(size, 0);
    }
    return found;
}

/* Rule 16.5. */
static void export__tracer_groups__are_unsupported(void **state)
{
    ze_device_handle_t devices[MAX_DEVICES];
    const uint32_t device_count = list_devices(devices, MAX_DEVICES);
    uint32_t found = 0;

    (void)state;
    for (uint32_t i = 0; i < device_count; i++)
        found += check_tracer_groups(devices[i]);
    assert_cmp(found, >, 0);
}

SUITE(vgpu)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calculate__groups_of_the_application__as_in_place),
        cmocka_unit_test(export__tracer_groups__are_unsupported),
    };

    return cmocka_run_group_tests(tests, set_up, NULL);
}
