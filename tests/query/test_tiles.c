/* Queries on a root with two tiles: a set of values for each. */
#include <stdlib.h>
#include <string.h>

#include "bed.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

#define VALUES ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES

struct sets {
    zet_metric_group_handle_t group;
    uint32_t metrics;
    zet_typed_value_t values[2 * BED_METRICS];
};

static struct sets sets_of(zet_metric_group_handle_t group, zet_metric_query_handle_t query)
{
    struct sets sets = {.group = group};
    uint8_t raw[4096];
    size_t bytes = 0;
    uint32_t set_count = 0, total = 0, counts[2] = {0};

    EXPECT_OK(zetMetricGet(group, &sets.metrics, NULL));
    EXPECT_OK(zetMetricQueryGetData(query, &bytes, NULL));
    assert_in_range(bytes, 1, sizeof(raw));
    EXPECT_OK(zetMetricQueryGetData(query, &bytes, raw));
    EXPECT_OK(zetMetricGroupCalculateMultipleMetricValuesExp(group, VALUES, bytes, raw, &set_count,
                                                             &total, NULL, NULL));
    assert_int_equal(set_count, 2);
    assert_int_equal(total, 2 * sets.metrics);
    assert_in_range(total, 1, 2 * BED_METRICS);
    EXPECT_OK(zetMetricGroupCalculateMultipleMetricValuesExp(group, VALUES, bytes, raw, &set_count,
                                                             &total, counts, sets.values));
    assert_int_equal(counts[0], sets.metrics);
    assert_int_equal(counts[1], sets.metrics);
    return sets;
}

static uint64_t set_u64(const struct sets *sets, uint32_t tile, const char *metric)
{
    return sets->values[tile * sets->metrics + metric_index(sets->group, metric)].value.ui64;
}

static double set_f32(const struct sets *sets, uint32_t tile, const char *metric)
{
    const uint32_t at = tile * sets->metrics + metric_index(sets->group, metric);

    return (double)sets->values[at].value.fp32;
}

static void two_tiles(const struct bed *bed, ze_device_handle_t tiles[2])
{
    uint32_t count = 2;

    EXPECT_OK(zeDeviceGetSubDevices(bed->device, &count, tiles));
    assert_int_equal(count, 2);
}

/* What a query of the root counts while one tile runs groups of the kernel count. */
static struct sets count_on(const struct bed *bed, ze_device_handle_t tile,
                            zet_metric_group_handle_t group, uint32_t groups)
{
    struct bed on_tile = *bed;
    zet_metric_query_pool_handle_t pool = bed_pool(bed, group, 1);
    zet_metric_query_handle_t query = bed_query(pool, 0);
    uint32_t *counter = bed_memory(bed, 64);
    ze_kernel_handle_t count = bed_count(bed, counter);
    ze_command_list_handle_t list;
    struct sets sets;

    on_tile.device = tile;
    list = bed_immediate(&on_tile, ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
    bed_begin(list, query);
    bed_count_append(list, count, groups);
    bed_end(list, query, NULL);
    sets = sets_of(group, query);
    EXPECT_OK(zeCommandListDestroy(list));
    EXPECT_OK(zeKernelDestroy(count));
    EXPECT_OK(zeMemFree(bed->context, counter));
    bed_pool_drop(pool, &query, 1);
    return sets;
}

/* Rule 12.21. */
static void root_pool__work_on_one_tile__the_other_has_done_nothing(void **state)
{
    const struct bed *bed = *state;
    ze_device_handle_t tiles[2];

    two_tiles(bed, tiles);
    for (uint32_t worker = 0; worker < 2; worker++) {
        const struct sets sets = count_on(bed, tiles[worker], bed->compute, 9);

        assert_int_equal(set_u64(&sets, worker, "GroupsDispatched"), 9);
        assert_int_equal(set_u64(&sets, worker, "KernelsLaunched"), 1);
        assert_cmp(set_f32(&sets, worker, "GpuBusy"), >, 0.0);
        assert_int_equal(set_u64(&sets, !worker, "GroupsDispatched"), 0);
        assert_int_equal(set_u64(&sets, !worker, "InstRetired"), 0);
        assert_cmp(set_f32(&sets, !worker, "GpuBusy"), ==, 0.0);
        assert_int_equal(set_u64(&sets, !worker, "GpuCoreClocks"), 0);
        assert_int_equal(set_u64(&sets, 0, "GpuTime"), set_u64(&sets, 1, "GpuTime"));
    }
}

/* What a set selects is selected on each tile. Rule 12.21. */
static void root_pool__selections__are_those_of_each_tile(void **state)
{
    const struct bed *bed = *state;
    ze_device_handle_t tiles[2];

    two_tiles(bed, tiles);
    for (uint32_t worker = 0; worker < 2; worker++) {
        const struct sets sets = count_on(bed, tiles[worker], bed->dispatch, 6);

        assert_int_equal(set_u64(&sets, worker, "GroupsSubslice0"), 2);
        assert_int_equal(set_u64(&sets, worker, "GroupsSubslice3"), 1);
        assert_int_equal(set_u64(&sets, !worker, "GroupsSubslice0"), 0);
    }
}

SUITE(tiles)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(root_pool__work_on_one_tile__the_other_has_done_nothing),
        cmocka_unit_test(root_pool__selections__are_those_of_each_tile),
    };

    return cmocka_run_group_tests(tests, bed_setup, bed_teardown);
}
