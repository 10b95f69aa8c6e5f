/* Counters that applications combine: metrics, passes, groups. */

#include <stdio.h>
#include <string.h>

#include "tests/nvidia/bed.h"
#include "tests/support/compare.h"

enum { COUNTERS = 47, ROLLUPS = 4 };

/* A metric of a programmable by its place, with a rollup. */
static zet_metric_handle_t make_metric(zet_metric_programmable_exp_handle_t programmable,
                                       uint32_t number, uint32_t rollup)
{
    zet_metric_programmable_param_value_exp_t value = {.value.ui32 = rollup};
    zet_metric_handle_t metric = NULL;
    uint32_t count = 1;
    char name[32];

    (void)snprintf(name, sizeof(name), "Metric%u", number);
    EXPECT_OK(zetMetricCreateFromProgrammableExp2(programmable, 1, &value, name, "of a test",
                                                  &count, &metric));
    return metric;
}

static void check_groups(void)
{
    zet_metric_programmable_exp_handle_t programmables[COUNTERS + 1];
    zet_metric_programmable_exp_properties_t properties = {
        .stype = ZET_STRUCTURE_TYPE_METRIC_PROGRAMMABLE_EXP_PROPERTIES};
    zet_metric_handle_t metrics[COUNTERS];
    zet_metric_group_handle_t groups[COUNTERS];
    ze_device_handle_t device = bed_device();
    uint32_t count = COUNTERS + 1, group_count = 0, metric_count = 0, all = 0;

    EXPECT_OK(zetMetricProgrammableGetExp(device, &count, programmables));
    assert_int_equal(count, COUNTERS);
    for (uint32_t i = 0; i < COUNTERS; i++) {
        EXPECT_OK(zetMetricProgrammableGetPropertiesExp(programmables[i], &properties));
        assert_int_equal(properties.parameterCount, 1);
        metrics[i] = make_metric(programmables[i], i, i % ROLLUPS);
    }
    /* More than one group holds: by passes, because slots alone would allow three. */
    EXPECT_OK(zetDeviceCreateMetricGroupsFromMetricsExp(device, COUNTERS, metrics, "Made",
                                                        "of a test", &group_count, NULL));
    assert_cmp(group_count, >=, 3);
    EXPECT_OK(zetDeviceCreateMetricGroupsFromMetricsExp(device, COUNTERS, metrics, "Made",
                                                        "of a test", &group_count, groups));
    for (uint32_t i = 0; i < group_count; i++) {
        struct zeta_group_passes passes = {.struct_size = sizeof(passes)};

        EXPECT_OK(zetaMetricGroupGetPasses(groups[i], &passes));
        assert_int_equal(passes.count, 1);
        metric_count = 0;
        EXPECT_OK(zetMetricGet(groups[i], &metric_count, NULL));
        all += metric_count;
        EXPECT_OK(zetMetricGroupDestroyExp(groups[i]));
    }
    assert_cmp(all, >=, COUNTERS);
    for (uint32_t i = 0; i < COUNTERS; i++)
        EXPECT_OK(zetMetricDestroyExp(metrics[i]));
}

static void programmables__all__packed_by_passes(void **state)
{
    (void)state;
    bed_run("gh100", check_groups);
}

/* The first one is the GPU's time: what a group of it says of an interval is the interval's length.
 */
static void check_values(void)
{
    static zet_typed_value_t values[4096];
    static uint8_t raw[512 * 256];
    zet_metric_programmable_exp_handle_t programmable = NULL;
    zet_metric_streamer_desc_t desc = {.stype = ZET_STRUCTURE_TYPE_METRIC_STREAMER_DESC,
                                       .notifyEveryNReports = 1,
                                       .samplingPeriod = 1000000};
    ze_device_handle_t device = bed_device();
    ze_context_handle_t context = make_context(device);
    zet_metric_streamer_handle_t streamer = NULL;
    zet_metric_group_handle_t group = NULL;
    zet_metric_handle_t metric;
    uint32_t count = 1, group_count = 1, value_count = 4096, per_row = 0;
    size_t bytes = 0;

    EXPECT_OK(zetMetricProgrammableGetExp(device, &count, &programmable));
    metric = make_metric(programmable, 0, 0);
    EXPECT_OK(zetDeviceCreateMetricGroupsFromMetricsExp(device, 1, &metric, "Made", "of a test",
                                                        &group_count, &group));
    EXPECT_OK(zetMetricGet(group, &per_row, NULL));
    EXPECT_OK(zetContextActivateMetricGroups(context, device, 1, &group));
    EXPECT_OK(zetMetricStreamerOpen(context, device, group, &desc, NULL, &streamer));
    while (bytes < (size_t)512 * 3) {
        bytes = sizeof(raw);
        EXPECT_OK(zetMetricStreamerReadData(streamer, UINT32_MAX, &bytes, raw));
        if (bytes < (size_t)512 * 3)
            sleep_ms(10);
    }
    EXPECT_OK(zetMetricGroupCalculateMetricValues(
        group, ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES, bytes, raw, &value_count, values));
    assert_cmp(value_count, >=, 2 * per_row);
    for (uint32_t row = 0; row < value_count / per_row; row++) {
        const double measured = values[row * per_row].value.fp64;
        const double length =
            (double)values[row * per_row + metric_index(group, "GpuTime")].value.ui64;

        assert_true(measured > 0.99 * length && measured < 1.01 * length);
    }
    EXPECT_OK(zetMetricStreamerClose(streamer));
    EXPECT_OK(zetContextActivateMetricGroups(context, device, 0, NULL));
    EXPECT_OK(zetMetricGroupDestroyExp(group));
    EXPECT_OK(zetMetricDestroyExp(metric));
    EXPECT_OK(zeContextDestroy(context));
}

static void programmables__stream__values_of_the_counter(void **state)
{
    (void)state;
    bed_run("gh100", check_values);
}

static void check_none(void)
{
    uint32_t count = 0;

    EXPECT_OK(zetMetricProgrammableGetExp(bed_device(), &count, NULL));
    assert_int_equal(count, 0);
}

static void programmables__other_chip__none(void **state)
{
    (void)state;
    bed_run("ga100", check_none);
}

SUITE(programmables)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(programmables__all__packed_by_passes),
        cmocka_unit_test(programmables__stream__values_of_the_counter),
        cmocka_unit_test(programmables__other_chip__none),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
