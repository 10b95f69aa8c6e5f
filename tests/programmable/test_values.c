/* Values of programmable metrics against closed formulas, by stream and by query. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/programmable/bed.h"
#include "tests/sanitizer.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

enum { WHOLE, BY_TILE, BY_SLICE, BY_SUBSLICE, BY_EU };

typedef struct bed_rows (*measure_fn)(const struct bed *bed, zet_metric_group_handle_t group);

static const struct {
    zet_metric_group_sampling_type_flags_t sampling;
    measure_fn measure;
} ways[] = {{TIME_BASED, bed_stream}, {EVENT_BASED, bed_query}};

#define WAYS (sizeof(ways) / sizeof(ways[0]))

/** Measures the metrics of one choice, in as many passes as they need; fills one sum for each. */
static uint32_t sum_up(const struct bed *bed, size_t way, const char *name, uint32_t scope,
                       uint64_t *out_sums)
{
    zet_metric_handle_t metrics[MAX_METRICS];
    zet_metric_group_handle_t groups[MAX_GROUPS];
    const uint32_t count = bed_make(bed, name, ways[way].sampling, 1, &scope, metrics);
    const uint32_t group_count = bed_pack(bed, count, metrics, groups);
    uint32_t at = 0;

    for (uint32_t i = 0; i < group_count; i++) {
        struct bed_rows rows = ways[way].measure(bed, groups[i]);
        zet_metric_handle_t members[MAX_METRICS];
        uint32_t member_count = MAX_METRICS;

        EXPECT_OK(zetMetricGet(groups[i], &member_count, members));
        for (uint32_t j = 0; j < member_count && at < count && members[j] == metrics[at]; j++)
            out_sums[at++] = bed_sum(&rows, j);
        free(rows.values);
    }
    assert_int_equal(at, count);
    bed_drop(group_count, groups, count, metrics);
    return count;
}

static uint64_t total(const uint64_t *sums, uint32_t count)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < count; i++)
        sum += sums[i];
    return sum;
}

static void counts__of_known_work__are_exact(void **state)
{
    static const struct {
        const char *name;
        uint64_t expected;
    } counts[] = {{"ThreadsDispatched", BED_THREADS},
                  {"BarrierMessages", BED_THREADS},
                  {"FpOps", (uint64_t)BED_THREADS * BED_ROUNDS},
                  {"GroupsDispatched", BED_GROUPS},
                  {"GlobalWrite", BED_THREADS * sizeof(float)}};

    for (size_t way = 0; way < WAYS; way++) {
        for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
            uint64_t sum = 0;

            assert_int_equal(sum_up(*state, way, counts[i].name, WHOLE, &sum), 1);
            assert_int_equal(sum, counts[i].expected);
            assert_int_equal(sum_up(*state, way, counts[i].name, BY_TILE, &sum), 1);
            assert_int_equal(sum, counts[i].expected);
        }
    }
}

/* Rule 15.12. */
static void places__of_the_device__add_up_to_the_whole(void **state)
{
    static const char *const names[] = {"InstRetired", "ThreadsDispatched", "L1Hits", "InstMem"};

    for (size_t way = 0; way < WAYS; way++) {
        for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
            uint64_t whole = 0;
            uint64_t slices[MAX_METRICS];
            uint64_t subslices[MAX_METRICS];

            (void)sum_up(*state, way, names[i], WHOLE, &whole);
            assert_cmp(whole, >, 0);
            assert_int_equal(total(slices, sum_up(*state, way, names[i], BY_SLICE, slices)), whole);
            assert_int_equal(sum_up(*state, way, names[i], BY_SUBSLICE, subslices), BED_SUBSLICES);
            assert_int_equal(total(subslices, BED_SUBSLICES), whole);
        }
    }
}

/* Rule 15.12. */
static void eus__of_a_subslice__add_up_to_it(void **state)
{
    static const char *const names[] = {"InstRetired", "ThreadsDispatched", "BarrierMessages",
                                        "GlobalWrite", "FpOps"};
    const uint32_t eus_each = BED_EUS / BED_SUBSLICES;

    for (size_t way = 0; way < WAYS; way++) {
        for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
            uint64_t subslices[MAX_METRICS];
            uint64_t eus[MAX_METRICS];

            assert_int_equal(sum_up(*state, way, names[i], BY_SUBSLICE, subslices), BED_SUBSLICES);
            assert_int_equal(sum_up(*state, way, names[i], BY_EU, eus), BED_EUS);
            for (uint32_t s = 0; s < BED_SUBSLICES; s++)
                assert_int_equal(total(eus + s * eus_each, eus_each), subslices[s]);
        }
    }
}

static void threads__spread_over_the_eus__are_the_same_number_each(void **state)
{
    for (size_t way = 0; way < WAYS; way++) {
        uint64_t eus[MAX_METRICS];

        assert_int_equal(sum_up(*state, way, "ThreadsDispatched", BY_EU, eus), BED_EUS);
        for (uint32_t i = 0; i < BED_EUS; i++)
            assert_int_equal(eus[i], BED_THREADS / BED_EUS);
    }
}

/** Makes metrics of one programmable with several choices and puts them into one group. */
static struct bed_rows measure_variants(const struct bed *bed, size_t way, const char *name,
                                        uint32_t parameters, uint32_t count, uint32_t choices[][3])
{
    zet_metric_handle_t metrics[8];
    zet_metric_group_handle_t groups[MAX_GROUPS];
    struct bed_rows rows;

    for (uint32_t i = 0; i < count; i++)
        assert_int_equal(
            bed_make(bed, name, ways[way].sampling, parameters, choices[i], &metrics[i]), 1);
    assert_int_equal(bed_pack(bed, count, metrics, groups), 1);
    rows = ways[way].measure(bed, groups[0]);
    bed_drop(1, groups, count, metrics);
    return rows;
}

static double f64(const struct bed_rows *rows, uint32_t row, uint32_t metric)
{
    const zet_typed_value_t *value = &rows->values[row * rows->metrics + metric];

    assert_int_equal(value->type, ZET_VALUE_TYPE_FLOAT64);
    return value->value.fp64;
}

static double u64(const struct bed_rows *rows, uint32_t row, uint32_t metric)
{
    const zet_typed_value_t *value = &rows->values[row * rows->metrics + metric];

    assert_int_equal(value->type, ZET_VALUE_TYPE_UINT64);
    return (double)value->value.ui64;
}

static void assert_near(double got, double wanted)
{
    if (fabs(got - wanted) > 1e-9 * fabs(wanted) + 1e-12)
        fail_msg("%.17g is not %.17g", got, wanted);
}

static void normalization__of_a_count__divides_it(void **state)
{
    /* As it is, per EU, per second, per EU and second. GpuTime is the metric behind them. */
    uint32_t choices[4][3] = {{WHOLE, 0, 0}, {WHOLE, 1, 0}, {WHOLE, 0, 1}, {WHOLE, 1, 1}};

    for (size_t way = 0; way < WAYS; way++) {
        struct bed_rows rows = measure_variants(*state, way, "InstRetired", 3, 4, choices);

        assert_cmp(bed_sum(&rows, 0), >, (uint64_t)BED_THREADS * BED_ROUNDS);
        for (uint32_t i = 0; i < rows.count; i++) {
            const double count = u64(&rows, i, 0);
            const double seconds = u64(&rows, i, 4) / 1e9;

            assert_near(f64(&rows, i, 1), count / BED_EUS);
            assert_near(f64(&rows, i, 2), count / seconds);
            assert_near(f64(&rows, i, 3), count / BED_EUS / seconds);
        }
        free(rows.values);
    }
}

static void units__of_bytes__scale_them(void **state)
{
    uint32_t choices[4][3] = {{WHOLE, 1, 0}, {WHOLE, 64, 0}, {WHOLE, 1024, 0}, {WHOLE, 1048576, 0}};

    for (size_t way = 0; way < WAYS; way++) {
        struct bed_rows rows = measure_variants(*state, way, "GlobalWrite", 3, 4, choices);

        assert_int_equal(bed_sum(&rows, 0), BED_THREADS * sizeof(float));
        for (uint32_t i = 0; i < rows.count; i++) {
            assert_near(f64(&rows, i, 1), u64(&rows, i, 0) / 64);
            assert_near(f64(&rows, i, 2), u64(&rows, i, 0) / 1024);
            assert_near(f64(&rows, i, 3), u64(&rows, i, 0) / 1048576);
        }
        free(rows.values);
    }
}

static void utilization__is_a_part_of_the_clocks(void **state)
{
    uint32_t choices[2][3] = {{WHOLE, 0, 0}, {WHOLE, 1, 0}};

    for (size_t way = 0; way < WAYS; way++) {
        struct bed_rows rows = measure_variants(*state, way, "EuActive", 2, 2, choices);

        assert_cmp(bed_sum(&rows, 0), >, 0);
        for (uint32_t i = 0; i < rows.count; i++) {
            const double percent = f64(&rows, i, 1);

            assert_cmp(percent, >=, 0);
            assert_cmp(percent, <=, 100);
            assert_cmp((percent > 0), ==, (u64(&rows, i, 0) > 0));
        }
        free(rows.values);
    }
}

static void latency__of_barriers__is_waiting_by_arrivals(void **state)
{
    const uint32_t choices[2][2] = {{WHOLE, 0}, {WHOLE, 1}};

    for (size_t way = 0; way < WAYS; way++) {
        zet_metric_handle_t metrics[3];
        zet_metric_group_handle_t group = NULL;
        struct bed_rows rows;

        for (uint32_t i = 0; i < 2; i++)
            (void)bed_make(*state, "BarrierLatency", ways[way].sampling, 2, choices[i],
                           &metrics[i]);
        (void)bed_make(*state, "BarrierMessages", ways[way].sampling, 0, NULL, &metrics[2]);
        assert_int_equal(bed_pack(*state, 3, metrics, &group), 1);
        rows = ways[way].measure(*state, group);
        assert_int_equal(bed_sum(&rows, 2), BED_THREADS);
        for (uint32_t i = 0; i < rows.count; i++) {
            const double messages = u64(&rows, i, 2);

            assert_near(f64(&rows, i, 0), messages > 0 ? u64(&rows, i, 1) / messages : 0);
        }
        free(rows.values);
        bed_drop(1, &group, 3, metrics);
    }
}

static void constants_and_thresholds__are_parameters(void **state)
{
    const struct bed *bed = *state;
    const zet_metric_programmable_param_value_exp_t constant = {.value.ui64 = 305419896};
    const zet_metric_programmable_param_value_exp_t above[2] = {
        {.value.ui32 = WHOLE}, {.value.ui64 = (uint64_t)BED_THREADS * BED_ROUNDS}};
    zet_metric_handle_t metrics[2];
    zet_metric_group_handle_t group = NULL;
    struct bed_rows rows;
    uint32_t count = 1;
    uint32_t seen = 0;

    EXPECT_OK(zetMetricCreateFromProgrammableExp2(
        bed_find(bed, "ReportConstant", TIME_BASED), 1,
        (zet_metric_programmable_param_value_exp_t *)(uintptr_t)&constant, "constant", "", &count,
        &metrics[0]));
    EXPECT_OK(zetMetricCreateFromProgrammableExp2(
        bed_find(bed, "InstAbove", TIME_BASED), 2,
        (zet_metric_programmable_param_value_exp_t *)(uintptr_t)above, "above", "", &count,
        &metrics[1]));
    assert_int_equal(bed_pack(bed, 2, metrics, &group), 1);
    rows = bed_stream(bed, group);
    for (uint32_t i = 0; i < rows.count; i++) {
        assert_int_equal(rows.values[i * rows.metrics].value.ui64, constant.value.ui64);
        assert_int_equal(rows.values[i * rows.metrics + 1].type, ZET_VALUE_TYPE_BOOL8);
        seen += rows.values[i * rows.metrics + 1].value.b8;
    }
    assert_cmp(rows.count, >=, 2);
    assert_cmp(seen, <, rows.count);
    free(rows.values);
    bed_drop(1, &group, 2, metrics);
}

/** Two processes, one after the other, which are gone before the last report. */
static void work_elsewhere(const struct bed *bed)
{
    (void)bed;
    for (int i = 0; i < 2; i++) {
        const pid_t pid = fork();
        int status = -1;

        if (pid == 0) {
            void *state = NULL;

            if (bed_setup(&state) != 0)
                _exit(1);
            bed_work(state);
            _exit(bed_teardown(&state));
        }
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_int_equal(status, 0);
    }
}

/* Rule 15.12. */
static void eus__of_other_processes__are_counted(void **state)
{
    const struct bed *bed = *state;
    const uint32_t scope = BY_EU;
    zet_metric_handle_t metrics[MAX_METRICS];
    zet_metric_group_handle_t groups[MAX_GROUPS];
    struct bed_rows rows;
    uint32_t count;

    /* The thread that samples is busy. */
    if (NO_FORK_OF_BUSY_THREADS)
        skip();
    count = bed_make(bed, "ThreadsDispatched", TIME_BASED, 1, &scope, metrics);
    assert_int_equal(bed_pack(bed, count, metrics, groups), count / 16);
    rows = bed_stream_while(bed, groups[0], work_elsewhere);
    for (uint32_t i = 0; i < 16; i++)
        assert_int_equal(bed_sum(&rows, i), 2 * BED_THREADS / BED_EUS);
    free(rows.values);
    bed_drop(count / 16, groups, count, metrics);
}

static void groups__in_turn__count_anew(void **state)
{
    uint64_t sum = 0;

    for (int i = 0; i < 3; i++) {
        (void)sum_up(*state, 0, "ThreadsDispatched", WHOLE, &sum);
        assert_int_equal(sum, BED_THREADS);
    }
}

SUITE(values)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts__of_known_work__are_exact),
        cmocka_unit_test(places__of_the_device__add_up_to_the_whole),
        cmocka_unit_test(eus__of_a_subslice__add_up_to_it),
        cmocka_unit_test(threads__spread_over_the_eus__are_the_same_number_each),
        cmocka_unit_test(normalization__of_a_count__divides_it),
        cmocka_unit_test(units__of_bytes__scale_them),
        cmocka_unit_test(utilization__is_a_part_of_the_clocks),
        cmocka_unit_test(latency__of_barriers__is_waiting_by_arrivals),
        cmocka_unit_test(constants_and_thresholds__are_parameters),
        cmocka_unit_test(eus__of_other_processes__are_counted),
        cmocka_unit_test(groups__in_turn__count_anew),
    };

    return cmocka_run_group_tests_name("programmable.values", tests, bed_setup, bed_teardown);
}
