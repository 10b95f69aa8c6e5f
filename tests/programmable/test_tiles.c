/* Programmable metrics of a device with two tiles: split by tile, of a tile on its root. */
#include <stdlib.h>
#include <string.h>

#include "tests/programmable/bed.h"
#include "tests/support/suite.h"

enum { BY_TILE = 1, BY_EU = 4, TILES = 2, CAPACITY = 1 << 20 };

/** Beds of the tiles, beside that of the root. */
static struct bed tiles[TILES];

static int set_up(void **state)
{
    const struct bed *root;
    ze_device_handle_t devices[TILES];
    uint32_t count = TILES;

    if (bed_setup(state) != 0)
        return -1;
    root = *state;
    EXPECT_OK(zeDeviceGetSubDevices(root->device, &count, devices));
    assert_int_equal(count, TILES);
    for (uint32_t i = 0; i < TILES; i++) {
        tiles[i] = *root;
        bed_open(&tiles[i], devices[i]);
    }
    return 0;
}

static int tear_down(void **state)
{
    for (uint32_t i = 0; i < TILES; i++)
        bed_close(&tiles[i]);
    return bed_teardown(state);
}

/** Streams a group of the root while tile 1 works; adds up each u64 metric in each set. */
static void stream_root(const struct bed *root, zet_metric_group_handle_t group, uint32_t metrics,
                        uint64_t sums[TILES][MAX_METRICS])
{
    zet_metric_streamer_desc_t desc = {.stype = ZET_STRUCTURE_TYPE_METRIC_STREAMER_DESC,
                                       .samplingPeriod = 1000000};
    zet_metric_streamer_handle_t streamer = NULL;
    uint8_t *raw = malloc(CAPACITY);
    uint32_t counts[TILES] = {0};
    uint32_t sets = 0;
    uint32_t total = 0;
    uint32_t all = 0;
    zet_typed_value_t *values;
    const zet_typed_value_t *value;
    size_t used = 0;

    assert_non_null(raw);
    EXPECT_OK(zetContextActivateMetricGroups(root->context, root->device, 1, &group));
    EXPECT_OK(zetMetricStreamerOpen(root->context, root->device, group, &desc, NULL, &streamer));
    bed_work(&tiles[1]);
    for (int more = 0; more < 4;) {
        size_t bytes = CAPACITY - used;

        EXPECT_OK(zetMetricStreamerReadData(streamer, UINT32_MAX, &bytes, raw + used));
        used += bytes;
        more += bytes > 0;
        sleep_ms(5);
    }
    EXPECT_OK(zetMetricStreamerClose(streamer));
    EXPECT_OK(zetContextActivateMetricGroups(root->context, root->device, 0, NULL));
    EXPECT_OK(zetMetricGet(group, &all, NULL));
    EXPECT_OK(zetMetricGroupCalculateMultipleMetricValuesExp(
        group, ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES, used, raw, &sets, &total, NULL,
        NULL));
    assert_int_equal(sets, TILES);
    values = calloc(total, sizeof(*values));
    assert_non_null(values);
    EXPECT_OK(zetMetricGroupCalculateMultipleMetricValuesExp(
        group, ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES, used, raw, &sets, &total, counts,
        values));
    memset(sums, 0, TILES * sizeof(*sums));
    value = values;
    for (uint32_t set = 0; set < TILES; set++) {
        for (uint32_t row = 0; row < counts[set] / all; row++, value += all) {
            for (uint32_t m = 0; m < metrics; m++)
                sums[set][m] += value[m].value.ui64;
        }
    }
    free(values);
    free(raw);
}

/* Rule 15.13. */
static void a_root__split_by_tile__counts_each_in_its_set(void **state)
{
    const struct bed *root = *state;
    const uint32_t scope = BY_TILE;
    zet_metric_handle_t metrics[TILES];
    zet_metric_group_handle_t group = NULL;
    uint64_t sums[TILES][MAX_METRICS];

    assert_int_equal(bed_make(root, "ThreadsDispatched", TIME_BASED, 1, &scope, metrics), TILES);
    assert_int_equal(bed_pack(root, TILES, metrics, &group), 1);
    stream_root(root, group, TILES, sums);
    assert_int_equal(sums[0][0], 0);
    assert_int_equal(sums[0][1], 0);
    assert_int_equal(sums[1][0], 0);
    assert_int_equal(sums[1][1], BED_THREADS);
    bed_drop(1, &group, TILES, metrics);
}

/* Rule 15.13. */
static void metrics_of_tiles__on_their_root__count_their_tile(void **state)
{
    const struct bed *root = *state;
    zet_metric_handle_t metrics[TILES];
    zet_metric_group_handle_t group = NULL;
    uint64_t sums[TILES][MAX_METRICS];

    for (uint32_t i = 0; i < TILES; i++)
        (void)bed_make(&tiles[i], "ThreadsDispatched", TIME_BASED, 0, NULL, &metrics[i]);
    assert_int_equal(bed_pack(root, TILES, metrics, &group), 1);
    stream_root(root, group, TILES, sums);
    assert_int_equal(sums[0][0], 0);
    assert_int_equal(sums[1][0], 0);
    assert_int_equal(sums[1][1], BED_THREADS);
    bed_drop(1, &group, TILES, metrics);
}

static void eus__of_a_root__are_counted_on_each_tile(void **state)
{
    const struct bed *root = *state;
    const uint32_t scope = BY_EU;
    zet_metric_handle_t metrics[BED_EUS];
    zet_metric_group_handle_t groups[MAX_GROUPS];
    uint64_t sums[TILES][MAX_METRICS];

    assert_int_equal(bed_make(root, "ThreadsDispatched", TIME_BASED, 1, &scope, metrics), BED_EUS);
    assert_int_equal(bed_pack(root, BED_EUS, metrics, groups), BED_EUS / 16);
    stream_root(root, groups[0], 16, sums);
    for (uint32_t i = 0; i < 16; i++) {
        assert_int_equal(sums[0][i], 0);
        assert_int_equal(sums[1][i], BED_THREADS / BED_EUS);
    }
    bed_drop(BED_EUS / 16, groups, BED_EUS, metrics);
}

/** What is split by tile takes a counter only on its tile, so twice as many fit. Rule 15.13. */
static void splitting__by_tile__takes_no_counter_of_the_others(void **state)
{
    const struct bed *root = *state;
    const uint32_t scope = BY_EU;
    zet_metric_handle_t metrics[2 * BED_EUS];
    zet_metric_handle_t mixed[32];
    zet_metric_group_handle_t group = NULL;

    for (uint32_t i = 0; i < TILES; i++) {
        assert_int_equal(bed_make(&tiles[i], "FpOps", TIME_BASED, 1, &scope, metrics + i * BED_EUS),
                         BED_EUS);
        memcpy(mixed + 16 * i, metrics + i * BED_EUS, 16 * sizeof(zet_metric_handle_t));
    }
    assert_int_equal(bed_pack(root, 32, mixed, &group), 1);
    bed_drop(1, &group, 2 * BED_EUS, metrics);
}

static void metrics__of_a_root_or_another_tile__do_not_fit_a_tile(void **state)
{
    const struct bed *root = *state;
    zet_metric_handle_t of_root = NULL;
    zet_metric_handle_t of_tile = NULL;
    zet_metric_group_handle_t group = NULL;
    uint32_t count = 1;

    (void)bed_make(root, "InstRetired", TIME_BASED, 0, NULL, &of_root);
    (void)bed_make(&tiles[0], "InstRetired", TIME_BASED, 0, NULL, &of_tile);
    EXPECT_OK(zetMetricGroupCreateExp(tiles[1].device, "g", "d", TIME_BASED, &group));
    EXPECT_RESULT(zetMetricGroupAddMetricExp(group, of_root, NULL, NULL),
                  ZE_RESULT_ERROR_INVALID_ARGUMENT);
    EXPECT_RESULT(zetMetricGroupAddMetricExp(group, of_tile, NULL, NULL),
                  ZE_RESULT_ERROR_INVALID_ARGUMENT);
    EXPECT_RESULT(zetDeviceCreateMetricGroupsFromMetricsExp(tiles[1].device, 1, &of_tile, "p", "d",
                                                            &count, &group),
                  ZE_RESULT_ERROR_INVALID_ARGUMENT);
    EXPECT_OK(zetMetricGroupDestroyExp(group));
    EXPECT_OK(zetMetricDestroyExp(of_root));
    EXPECT_OK(zetMetricDestroyExp(of_tile));
}

/* Rules 3.10, 15.15. */
static void concurrent_groups__of_another_device__are_refused(void **state)
{
    const struct bed *root = *state;
    zet_metric_group_handle_t group = find_group(tiles[0].device, "ComputeBasic", TIME_BASED, NULL);
    zet_metric_group_handle_t own = find_group(root->device, "ComputeBasic", TIME_BASED, NULL);
    zet_metric_group_handle_t groups[2] = {own, group};
    uint32_t counts[2] = {7, 7};
    uint32_t passes = 7;

    EXPECT_RESULT(zetDeviceGetConcurrentMetricGroupsExp(root->device, 2, groups, counts, &passes),
                  ZE_RESULT_ERROR_INVALID_ARGUMENT);
    assert_ptr_equal(groups[0], own);
    assert_ptr_equal(groups[1], group);
    assert_int_equal(counts[0], 7);
    assert_int_equal(counts[1], 7);
    assert_int_equal(passes, 7);
}

static void disabling__of_a_root__waits_for_metrics_of_its_tiles(void **state)
{
    const struct bed *root = *state;
    zet_metric_handle_t metric = NULL;

    (void)bed_make(&tiles[1], "InstRetired", TIME_BASED, 0, NULL, &metric);
    EXPECT_RESULT(zetDeviceDisableMetricsExp(root->device), ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    EXPECT_OK(zetDeviceDisableMetricsExp(tiles[0].device));
    EXPECT_OK(zetDeviceEnableMetricsExp(tiles[0].device));
    EXPECT_OK(zetMetricDestroyExp(metric));
}

SUITE(tiles)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_root__split_by_tile__counts_each_in_its_set),
        cmocka_unit_test(metrics_of_tiles__on_their_root__count_their_tile),
        cmocka_unit_test(eus__of_a_root__are_counted_on_each_tile),
        cmocka_unit_test(splitting__by_tile__takes_no_counter_of_the_others),
        cmocka_unit_test(metrics__of_a_root_or_another_tile__do_not_fit_a_tile),
        cmocka_unit_test(concurrent_groups__of_another_device__are_refused),
        cmocka_unit_test(disabling__of_a_root__waits_for_metrics_of_its_tiles),
    };

    return cmocka_run_group_tests_name("programmable.tiles", tests, set_up, tear_down);
}
