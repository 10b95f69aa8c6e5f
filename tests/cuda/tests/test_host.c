/* The host side: chips, names, passes, properties, values. */

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/cuda/tests/bed.h"

/* ComputeBasic as a stream takes it, and what a query has beside. */
static const char *const compute_basic[] = {
    "gpu__time_duration.sum",
    "gpc__cycles_elapsed.max",
    "sm__cycles_elapsed.sum",
    "sys__cycles_elapsed.sum",
    "TPC.TriageCompute.sm__cycles_active.sum",
    "TPC.TriageCompute.sm__inst_executed_realtime.sum",
    "SM_A.TriageCompute.sm__thread_inst_executed_pred_on_realtime.sum",
    "TPC.TriageCompute.sm__inst_executed_pipe_fma_realtime.sum",
    "SM_A.TriageCompute.sm__inst_executed_pipe_xu_realtime.sum",
    "SM_A.TriageCompute.sm__inst_executed_pipe_uniform_realtime.sum",
    "sm__warps_active_realtime.sum",
    "FE_B.TriageCompute.gr__ctas_launched_realtime.sum",
    "gr__compute_cycles_active.sum",
    "dram__bytes_read.sum",
    "dram__bytes_write.sum",
    "dram__cycles_elapsed.sum",
    "lts__t_sectors.sum"};
static const char *const portable[] = {
    "gpu__time_duration.sum",        "gpc__cycles_elapsed.max",        "sm__cycles_elapsed.sum",
    "sm__cycles_active.sum",         "sm__inst_executed_realtime.sum", "dram__bytes_read.sum",
    "dram__bytes_write.sum",         "dram__cycles_elapsed.sum",       "lts__t_sectors.sum",
    "gr__compute_cycles_active.sum", "gr__dispatch_count.sum"};

enum { BASIC = 17, PORTABLE = 11 };

static size_t passes(const char *chip, int type, const char *const *names, size_t count)
{
    struct bed_stream stream = {0};
    size_t result = 0;

    assert_int_equal(bed_configure(&stream, chip, type, names, count, &result), 0);
    free(stream.config);
    return result;
}

static size_t passes_of(const char *name)
{
    return passes("GH100", 1, &name, 1);
}

static void check_passes(void)
{
    static const char *const sass[] = {"smsp__sass_thread_inst_executed_op_ffma_pred_on.sum",
                                       "smsp__sass_thread_inst_executed_op_fadd_pred_on.sum",
                                       "gpu__time_duration.sum"};
    static const char *const launched[] = {"sm__warps_launched.sum",
                                           "sm__inst_executed_realtime.sum"};

    assert_int_equal(passes("GH100", 1, compute_basic, BASIC), 1);
    assert_int_equal(passes("GH100", 1, portable, PORTABLE), 1);
    assert_int_equal(passes("GA100", 1, portable, PORTABLE), 1);
    assert_int_equal(passes("AD102", 1, portable, PORTABLE), 1);
    assert_int_equal(passes("TU102", 1, portable, PORTABLE), 2);
    assert_int_equal(passes_of("sm__throughput.avg.pct_of_peak_sustained_elapsed"), 19);
    assert_int_equal(passes_of("lts__throughput.avg.pct_of_peak_sustained_elapsed"), 4);
    assert_int_equal(passes_of("sm__inst_executed_pipe_tensor.sum"), 2);
    assert_int_equal(passes_of("sm__inst_executed_pipe_tensor.avg"), 2);
    assert_int_equal(passes_of("sm__warps_launched.sum"), 1);
    assert_int_equal(passes("GH100", 1, launched, 2), 2);
    /* Instrumented ones are a pass of their own. */
    assert_int_equal(passes("GH100", 0, sass, 2), 1);
    assert_int_equal(passes("GH100", 0, sass, 3), 2);
}

static void config__sets__passes_as_measured(void **state)
{
    (void)state;
    bed_run("gh100", check_passes);
}

static int add(const char *chip, int type, const char *name)
{
    struct bed_stream stream = {0};

    return bed_configure(&stream, chip, type, &name, 1, NULL);
}

static void check_names(void)
{
    static const uint8_t availability[1] = {0};
    struct host_initialize initialize = BED_BLOCK(host_initialize, host);
    struct host_add_metrics metrics = BED_BLOCK(host_add_metrics, count);
    const char *pcie = "pcie__read_bytes.sum";

    assert_int_equal(add("GH100", 1, "gpc__cycles_elapsed"), 1); /* a bare name */
    assert_int_equal(add("GH100", 1, "gpc__cycles_elapsed.average"), 1);
    assert_int_equal(add("GH100", 1, "gpc__cycles_elapsed.sum "), 1);
    assert_int_equal(add("GH100", 1, "gpc__cycles_elapsed.sum.nothing"), 1);
    assert_int_equal(add("GH100", 1, "gpc__cycles_elapsed.sum.per_second"), 0);
    assert_int_equal(add("GH100", 1, "nonsense.sum"), 1);
    assert_int_equal(add("GH100", 1, "lts__throughput.avg"), 1);
    assert_int_equal(add("GH100", 1, "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum"), 1);
    assert_int_equal(add("GA100", 1, compute_basic[4]), 1); /* names differ between chips */
    assert_int_equal(add("GB202", 1, "dram__bytes_read.sum"), 1);
    assert_int_equal(add("GB202", 1, "fbpa__dram_read_bytes.sum"), 0);
    assert_int_equal(add("GH999", 1, pcie), 46);
    assert_int_equal(add("GV100", 1, "gpc__cycles_elapsed.sum"), 27);
    assert_int_equal(add("GH100", 1, pcie), 0);
    /* With an availability image device-level counters cannot be added. */
    initialize.type = 1;
    initialize.chip = "GH100";
    initialize.availability = availability;
    assert_int_equal(cupti.cuptiProfilerHostInitialize(&initialize), 0);
    metrics.host = initialize.host;
    metrics.names = &pcie;
    metrics.count = 1;
    assert_int_equal(cupti.cuptiProfilerHostConfigAddMetrics(&metrics), 999);
    bed_expect_refusal();
}

static void names__wrong_ones__results(void **state)
{
    (void)state;
    bed_run("gh100", check_names);
}

static void check_lists(void)
{
    struct host_chips chips = BED_BLOCK(host_chips, names);
    struct host_initialize initialize = BED_BLOCK(host_initialize, host);
    struct host_base_metrics base = BED_BLOCK(host_base_metrics, count);
    struct host_sub_metrics sub = BED_BLOCK(host_sub_metrics, names);
    struct host_properties properties = BED_BLOCK(host_properties, kind);

    assert_int_equal(cupti.cuptiProfilerHostGetSupportedChips(&chips), 0);
    assert_int_equal(chips.count, 30);
    initialize.type = 1;
    initialize.chip = "GH100";
    assert_int_equal(cupti.cuptiProfilerHostInitialize(&initialize), 0);
    base.host = sub.host = properties.host = initialize.host;
    assert_int_equal(cupti.cuptiProfilerHostGetBaseMetrics(&base), 0);
    assert_cmp(base.count, >, 40);
    for (size_t i = 0; i < base.count; i++) {
        properties.name = base.names[i];
        assert_int_equal(cupti.cuptiProfilerHostGetMetricProperties(&properties), 0);
        assert_int_equal(properties.kind, 0);
        assert_true(properties.unit[0] != '\0');
    }
    sub.name = base.names[0];
    assert_int_equal(cupti.cuptiProfilerHostGetSubMetrics(&sub), 0);
    assert_int_equal(sub.count, 44);
    assert_string_equal(sub.names[0], ".avg");
    sub.kind = 1;
    assert_int_equal(cupti.cuptiProfilerHostGetSubMetrics(&sub), 1);
    sub.name = "LTS.TriageCompute.lts__average_t_sector_hit_rate_realtime";
    assert_int_equal(cupti.cuptiProfilerHostGetSubMetrics(&sub), 0);
    assert_int_equal(sub.count, 3);
    assert_string_equal(sub.names[0], ".max_rate");
    sub.kind = 2;
    sub.name = "nonsense";
    assert_int_equal(cupti.cuptiProfilerHostGetSubMetrics(&sub), 17);
    sub.name = "sm__throughput";
    assert_int_equal(cupti.cuptiProfilerHostGetSubMetrics(&sub), 0);
    assert_int_equal(sub.count, 8);
    properties.name = "nonsense";
    assert_int_equal(cupti.cuptiProfilerHostGetMetricProperties(&properties), 17);
}

static void lists__of_h100__counts_and_properties(void **state)
{
    (void)state;
    bed_run("gh100", check_lists);
}

static void check_values(void)
{
    static const char *const names[] = {
        "gpc__cycles_elapsed.sum",
        "gpc__cycles_elapsed.avg",
        "dram__cycles_elapsed.sum",
        "dram__cycles_elapsed.avg",
        "dram__bytes_read.sum.peak_sustained",
        "TPC.TriageCompute.sm__inst_executed_realtime.sum",
        "TPC.TriageCompute.sm__inst_executed_realtime.avg.pct_of_peak_sustained_elapsed",
        "LTS.TriageCompute.lts__average_t_sector_hit_rate_realtime.pct"};
    struct bed_stream stream;
    struct host_evaluate evaluate = BED_BLOCK(host_evaluate, values);
    const char *other = "sm__cycles_elapsed.sum";
    double values[8];

    (void)bed_context(0);
    bed_open(&stream, names, 8, NULL);
    cuda_advance(bed_machine, 1000000);
    bed_fma(1000);
    cuda_advance(bed_machine, 1200000);
    assert_int_equal(bed_decode(&stream, NULL), 0);
    assert_int_equal(stream.samples, 2);
    bed_evaluate(&stream, 1, values);
    assert_true(values[0] == 8 * values[1]);  /* GPCs */
    assert_true(values[2] == 40 * values[3]); /* channels */
    assert_true(values[4] == 1280);
    assert_true(values[5] == BED_WARPS * 67028.0);
    assert_true(fabs(values[6] - 100 * values[5] / 132 / 4 / values[1]) < 1e-9);
    assert_true(values[7] == 0);
    evaluate.host = stream.host;
    evaluate.image = stream.image;
    evaluate.bytes = stream.image_bytes;
    evaluate.names = &other;
    evaluate.count = 1;
    evaluate.values = values;
    assert_int_equal(cupti.cuptiProfilerHostEvaluateToGpuValues(&evaluate), 17);
    evaluate.index = 2;
    assert_int_equal(cupti.cuptiProfilerHostEvaluateToGpuValues(&evaluate), 1);
    bed_close(&stream);
}

static void values__forms_of_counters__arithmetic(void **state)
{
    (void)state;
    bed_run("{format: 1, time: manual, gpus: [{chip: gh100}]}", check_values);
}

SUITE(host)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(config__sets__passes_as_measured),
        cmocka_unit_test(lists__of_h100__counts_and_properties),
        cmocka_unit_test(names__wrong_ones__results),
        cmocka_unit_test(values__forms_of_counters__arithmetic),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
