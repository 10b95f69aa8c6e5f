/* Counters that applications combine: metrics, passes, groups. */

#include <stdio.h>
#include <string.h>

#include "tests/nvidia/computing.h"
#include "tests/support/compare.h"

/* Without links of NVLink. Those for streams come first; five of them no query has. */
enum { COUNTERS = 58, QUERY_COUNTERS = COUNTERS - 5, ALL = COUNTERS + QUERY_COUNTERS, ROLLUPS = 4 };

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

/* A programmable by name and sampling type; NULL: there is none. Fails if there are two. */
static zet_metric_programmable_exp_handle_t
find(const zet_metric_programmable_exp_handle_t *programmables, uint32_t count, const char *name,
     uint32_t sampling, zet_metric_programmable_exp_properties_t *out_properties)
{
    zet_metric_programmable_exp_handle_t found = NULL;

    for (uint32_t i = 0; i < count; i++) {
        zet_metric_programmable_exp_properties_t properties = {
            .stype = ZET_STRUCTURE_TYPE_METRIC_PROGRAMMABLE_EXP_PROPERTIES};

        EXPECT_OK(zetMetricProgrammableGetPropertiesExp(programmables[i], &properties));
        if (strcmp(properties.name, name) != 0 || properties.samplingType != sampling)
            continue;
        assert_null(found);
        found = programmables[i];
        if (out_properties)
            *out_properties = properties;
    }
    return found;
}

static void check_packing(ze_device_handle_t device,
                          const zet_metric_programmable_exp_handle_t *programmables, uint32_t count)
{
    zet_metric_programmable_exp_properties_t properties = {
        .stype = ZET_STRUCTURE_TYPE_METRIC_PROGRAMMABLE_EXP_PROPERTIES};
    zet_metric_handle_t metrics[COUNTERS];
    zet_metric_group_handle_t groups[COUNTERS];
    uint32_t group_count = 0, metric_count = 0, all = 0;
    uint64_t asked;

    for (uint32_t i = 0; i < count; i++) {
        EXPECT_OK(zetMetricProgrammableGetPropertiesExp(programmables[i], &properties));
        assert_int_equal(properties.parameterCount, 1);
        metrics[i] = make_metric(programmables[i], i, i % ROLLUPS);
    }
    /* More than one group holds: by passes, because slots alone would allow three. */
    EXPECT_OK(zetDeviceCreateMetricGroupsFromMetricsExp(device, count, metrics, "Made", "of a test",
                                                        &group_count, NULL));
    assert_cmp(group_count, >=, 3);
    /* CUPTI was asked all that there is to ask. */
    asked = bed_is_real() ? 0 : cuda_calls(bed_machine, "cuptiProfilerHostInitialize");
    EXPECT_OK(zetDeviceCreateMetricGroupsFromMetricsExp(device, count, metrics, "Made", "of a test",
                                                        &group_count, groups));
    if (!bed_is_real())
        assert_int_equal(cuda_calls(bed_machine, "cuptiProfilerHostInitialize"), asked);
    for (uint32_t i = 0; i < group_count; i++) {
        struct zeta_group_passes passes = {.struct_size = sizeof(passes)};

        EXPECT_OK(zetaMetricGroupGetPasses(groups[i], &passes));
        assert_int_equal(passes.count, 1);
        metric_count = 0;
        EXPECT_OK(zetMetricGet(groups[i], &metric_count, NULL));
        all += metric_count;
        EXPECT_OK(zetMetricGroupDestroyExp(groups[i]));
    }
    assert_cmp(all, >=, count);
    for (uint32_t i = 0; i < count; i++)
        EXPECT_OK(zetMetricDestroyExp(metrics[i]));
}

static void check_groups(void)
{
    zet_metric_programmable_exp_handle_t programmables[ALL + 1];
    ze_device_handle_t device = bed_device();
    uint32_t count = ALL + 1;

    EXPECT_OK(zetMetricProgrammableGetExp(device, &count, programmables));
    assert_int_equal(count, ALL);
    check_packing(device, programmables, COUNTERS);
    check_packing(device, programmables + COUNTERS, QUERY_COUNTERS);
}

static void programmables__all__packed_by_passes(void **state)
{
    (void)state;
    bed_run_anywhere(check_groups);
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
    bed_run_anywhere(check_values);
}

/* What a kernel counts in a query of a group that was made. */
static void check_query(void)
{
    enum { GROUPS = 20, GROUP = 64, TURNS = 3 };
    zet_metric_programmable_exp_handle_t programmables[ALL];
    const struct computing c = computing_open("kernels.ptx");
    const zet_metric_query_pool_desc_t desc = {.stype = ZET_STRUCTURE_TYPE_METRIC_QUERY_POOL_DESC,
                                               .count = 1};
    const ze_group_count_t launched = {GROUPS, 1, 1};
    ze_kernel_handle_t kernel = computing_kernel(&c, "fma_loop");
    void *memory = computing_memory(&c, ZE_MEMORY_TYPE_DEVICE, GROUPS * GROUP * sizeof(float), 0);
    zet_metric_query_pool_handle_t pool = NULL;
    zet_metric_query_handle_t query = NULL;
    zet_metric_group_handle_t group = NULL;
    zet_metric_handle_t metrics[2];
    zet_typed_value_t values[64];
    ze_event_handle_t none = NULL;
    uint8_t raw[4096];
    size_t bytes = sizeof(raw);
    uint32_t count = ALL, group_count = 1, value_count = 64;
    const uint32_t turns = TURNS, zero = 0;

    EXPECT_OK(zetMetricProgrammableGetExp(c.device, &count, programmables));
    metrics[0] =
        make_metric(find(programmables, count, "sm__ctas_launched", EVENT_BASED, NULL), 0, 0);
    metrics[1] =
        make_metric(find(programmables, count, "sm__warps_launched", EVENT_BASED, NULL), 1, 0);
    EXPECT_OK(zetDeviceCreateMetricGroupsFromMetricsExp(c.device, 2, metrics, "Made", "of a test",
                                                        &group_count, &group));
    assert_int_equal(group_count, 1);
    EXPECT_OK(zetContextActivateMetricGroups(c.context, c.device, 1, &group));
    EXPECT_OK(zetMetricQueryPoolCreate(c.context, c.device, group, &desc, &pool));
    EXPECT_OK(zetMetricQueryCreate(pool, 0, &query));
    EXPECT_OK(zeKernelSetGroupSize(kernel, GROUP, 1, 1));
    EXPECT_OK(zeKernelSetArgumentValue(kernel, 0, sizeof(memory), &memory));
    EXPECT_OK(zeKernelSetArgumentValue(kernel, 1, sizeof(turns), &turns));
    for (uint32_t i = 2; i < 4; i++)
        EXPECT_OK(zeKernelSetArgumentValue(kernel, i, sizeof(zero), &zero));
    EXPECT_OK(zetCommandListAppendMetricQueryBegin(c.list, query));
    EXPECT_OK(zeCommandListAppendLaunchKernel(c.list, kernel, &launched, NULL, 0, NULL));
    EXPECT_OK(zetCommandListAppendMetricQueryEnd(c.list, query, NULL, 0, &none));
    EXPECT_OK(zetMetricQueryGetData(query, &bytes, raw));
    EXPECT_OK(zetMetricGroupCalculateMetricValues(
        group, ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES, bytes, raw, &value_count, values));
    assert_true(values[metric_index(group, "Metric0")].value.fp64 == GROUPS);
    assert_true(values[metric_index(group, "Metric1")].value.fp64 == GROUPS * GROUP / 32.0);
    EXPECT_OK(zetMetricQueryDestroy(query));
    EXPECT_OK(zetMetricQueryPoolDestroy(pool));
    EXPECT_OK(zetContextActivateMetricGroups(c.context, c.device, 0, NULL));
    EXPECT_OK(zetMetricGroupDestroyExp(group));
    EXPECT_OK(zeKernelDestroy(kernel));
    computing_close(&c);
}

static void programmables__query__counts_of_a_kernel(void **state)
{
    (void)state;
    bed_run_anywhere(check_query);
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

/* ---- all counters ------------------------------------------------------------------------- */

enum { MOST = 512 };

static uint32_t get_all(ze_device_handle_t device,
                        zet_metric_programmable_exp_handle_t programmables[MOST])
{
    uint32_t count = MOST;

    EXPECT_OK(zetMetricProgrammableGetExp(device, &count, programmables));
    assert_cmp(count, <, MOST);
    return count;
}

/* Behind the curated ones come the others, each once; groups of them are checked as ever. */
static void check_all(void)
{
    zet_metric_programmable_exp_handle_t programmables[MOST];
    zet_metric_programmable_exp_properties_t properties;
    zet_metric_group_handle_t groups[2];
    zet_metric_handle_t metric;
    ze_device_handle_t device;
    uint32_t count, group_count = 2;

    bed_set("sets", "all");
    device = bed_device();
    count = get_all(device, programmables);
    assert_cmp(count, >, ALL);
    EXPECT_OK(zetMetricProgrammableGetPropertiesExp(programmables[0], &properties));
    assert_string_equal(properties.name, "gpu__time_duration");
    assert_non_null(find(programmables, count, "sm__inst_executed", TIME_BASED, &properties));
    assert_string_equal(properties.description, "Instructions that warps executed.");
    assert_non_null(find(programmables, count, "TPC_TriageCompute_sm__inst_executed_realtime",
                         TIME_BASED, &properties));
    assert_non_null(
        find(programmables, count, "sm__warps_active_realtime", TIME_BASED, &properties));
    assert_string_equal(properties.description, "a metric of the fake CUPTI");
    assert_string_equal(properties.component, "SM");
    assert_null(find(programmables, count, "nvlrx__bytes", TIME_BASED, &properties));
    /* What only queries count, and only streams. */
    assert_non_null(find(programmables, count, "smsp__sass_thread_inst_executed_op_ffma_pred_on",
                         EVENT_BASED, &properties));
    assert_null(find(programmables, count, "smsp__sass_thread_inst_executed_op_ffma_pred_on",
                     TIME_BASED, &properties));
    assert_null(find(programmables, count, "gr__dispatch_count", EVENT_BASED, &properties));

    metric = make_metric(
        find(programmables, count, "sm__warps_active_realtime", TIME_BASED, &properties), 1, 0);
    EXPECT_OK(zetDeviceCreateMetricGroupsFromMetricsExp(device, 1, &metric, "Made", "of a test",
                                                        &group_count, groups));
    assert_int_equal(group_count, 1);
    EXPECT_OK(zetMetricGroupDestroyExp(groups[0]));
    EXPECT_OK(zetMetricDestroyExp(metric));

    /* Two passes alone: no group can count it. */
    metric = make_metric(
        find(programmables, count, "sm__inst_executed_pipe_tensor", TIME_BASED, &properties), 2, 0);
    group_count = 2;
    EXPECT_RESULT(zetDeviceCreateMetricGroupsFromMetricsExp(device, 1, &metric, "Made", "of a test",
                                                            &group_count, groups),
                  ZE_RESULT_ERROR_INVALID_ARGUMENT);
    expect_sentence("2 passes");
    EXPECT_OK(zetMetricDestroyExp(metric));
}

static void check_all_with_links(void)
{
    zet_metric_programmable_exp_handle_t programmables[MOST];
    zet_metric_programmable_exp_properties_t properties;
    uint32_t count;

    bed_set("sets", "all");
    count = get_all(bed_device(), programmables);
    assert_non_null(find(programmables, count, "nvlrx__bytes", TIME_BASED, &properties));
}

static void check_all_of_other(void)
{
    zet_metric_programmable_exp_handle_t programmables[MOST];
    zet_metric_programmable_exp_properties_t properties;
    uint32_t count;

    bed_set("sets", "all");
    count = get_all(bed_device(), programmables);
    assert_non_null(find(programmables, count, "sm__cycles_active", TIME_BASED, &properties));
    assert_null(find(programmables, count, "sm__warps_active_realtime", TIME_BASED,
                     &properties)); /* of GH100 alone */
}

/* A word that is no value of the setting, and a CUPTI that does not list: the curated ones. */
static void check_curated(void)
{
    uint32_t count = 0;

    bed_set("sets", "al");
    EXPECT_OK(zetMetricProgrammableGetExp(bed_device(), &count, NULL));
    assert_int_equal(count, ALL);
}

static void check_silent(void)
{
    uint32_t count = 0;

    bed_set("sets", "all");
    assert_true(cuda_fault(bed_machine, "cuptiProfilerHostGetBaseMetrics=999@1+"));
    EXPECT_OK(zetMetricProgrammableGetExp(bed_device(), &count, NULL));
    assert_int_equal(count, ALL);
}

static void all__by_the_setting__are_those_of_the_chip(void **state)
{
    (void)state;
    bed_run("gh100", check_all);
    bed_run("{format: 1, gpus: [{chip: gh100, has_links: true}]}", check_all_with_links);
    bed_run("ga100", check_all_of_other);
}

static void all__not_to_be_had__curated_ones_stay(void **state)
{
    (void)state;
    bed_run("gh100", check_curated);
    bed_run("gh100", check_silent);
}

SUITE(programmables)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(programmables__all__packed_by_passes),
        cmocka_unit_test(programmables__stream__values_of_the_counter),
        cmocka_unit_test(programmables__query__counts_of_a_kernel),
        cmocka_unit_test(programmables__other_chip__none),
        cmocka_unit_test(all__by_the_setting__are_those_of_the_chip),
        cmocka_unit_test(all__not_to_be_had__curated_ones_stay),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
