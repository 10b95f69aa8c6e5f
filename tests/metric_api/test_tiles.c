/* A root with two tiles: streams of both, activation of one and the other. */
#include <stdlib.h>
#include <string.h>

#include "tests/metric_api/stream_bed.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"
#include "zeta/zeta.h"

static int set_up(void **state)
{
    (void)state;
    return zeInit(0) == ZE_RESULT_SUCCESS ? 0 : -1;
}

static const char *const tiles[] = {"fake1.0", "fake1.1"};

static void push_both(struct stream_bed *bed, uint32_t count)
{
    bed->control->push(tiles[0], "u0", count);
    bed->control->push(tiles[1], "u0", count);
}

/** What a read of a root gave, per tile. */
struct parts {
    uint32_t first[2];
    uint32_t last[2];
    uint32_t records[2];
    uint32_t breaks[2];
    bool any[2];
};

/** Takes slots apart; each tile's records are consecutive. */
static struct parts take_apart(const struct slot *slots, uint32_t count)
{
    struct parts parts = {0};
    uint32_t tile = UINT32_MAX;

    for (uint32_t i = 0; i < count; i++) {
        if (slots[i].form == SLOT_TILE) {
            tile = slots[i].number;
            assert_cmp(tile, <, 2);
            continue;
        }
        assert_cmp(tile, <, 2); /* nothing before the first TILE slot */
        if (slots[i].form == SLOT_BREAK) {
            parts.breaks[tile]++;
            continue;
        }
        assert_int_equal(slots[i].form, SLOT_RECORD);
        if (!parts.any[tile])
            parts.first[tile] = slots[i].number;
        parts.any[tile] = true;
        parts.last[tile] = slots[i].number;
        parts.records[tile]++;
    }
    return parts;
}

/* Rule 11.18. */
static void read__root__gives_all_tiles_with_their_index(void **state)
{
    struct stream_bed bed = bed_make("fake1");
    zet_metric_streamer_handle_t streamer = bed_open(&bed, bed_activate(&bed, "Basic"), 10, NULL);
    struct slot slots[64];
    struct parts parts;

    (void)state;
    assert_true(bed.control->is_running(tiles[0], "u0"));
    assert_true(bed.control->is_running(tiles[1], "u0"));
    assert_int_equal(bed_read(streamer, UINT32_MAX, 64, ZE_RESULT_SUCCESS, slots), 0);
    push_both(&bed, 3);
    assert_int_equal(bed_read(streamer, UINT32_MAX, 64, ZE_RESULT_SUCCESS, slots), 10);
    parts = take_apart(slots, 10);
    for (int t = 0; t < 2; t++) {
        assert_int_equal(parts.first[t], 0);
        assert_int_equal(parts.last[t], 3);
        assert_int_equal(parts.records[t], 4);
    }
    assert_int_equal(bed_read(streamer, UINT32_MAX, 64, ZE_RESULT_SUCCESS, slots), 0);
    push_both(&bed, 1);
    parts = take_apart(slots, bed_read(streamer, UINT32_MAX, 64, ZE_RESULT_SUCCESS, slots));
    assert_int_equal(parts.first[1], 3);
    assert_int_equal(parts.last[1], 4);
    EXPECT_OK(zetMetricStreamerClose(streamer));
    assert_false(bed.control->is_running(tiles[0], "u0"));
    assert_false(bed.control->is_running(tiles[1], "u0"));
    bed_free(&bed);
}

/* Rules 11.18, 11.19. */
static void read__one_tile_is_ahead__both_are_given_to_the_same_instant(void **state)
{
    struct stream_bed bed = bed_make("fake1");
    zet_metric_streamer_handle_t streamer = bed_open(&bed, bed_activate(&bed, "Basic"), 10, NULL);
    struct slot slots[64];
    struct parts parts;

    (void)state;
    bed.control->push(tiles[0], "u0", 8);
    bed.control->push(tiles[1], "u0", 5);
    parts = take_apart(slots, bed_read(streamer, UINT32_MAX, 64, ZE_RESULT_SUCCESS, slots));
    assert_int_equal(parts.last[0], 5);
    assert_int_equal(parts.last[1], 5);
    /* Tile 1 has nothing new: what tile 0 has waits for it. */
    assert_int_equal(bed_read(streamer, UINT32_MAX, 64, ZE_RESULT_SUCCESS, slots), 0);
    bed.control->push(tiles[1], "u0", 3);
    parts = take_apart(slots, bed_read(streamer, UINT32_MAX, 64, ZE_RESULT_SUCCESS, slots));
    assert_int_equal(parts.first[0], 5);
    assert_int_equal(parts.last[0], 8);
    assert_int_equal(parts.last[1], 8);
    /* Once stopped there is nothing to wait for. */
    bed.control->push(tiles[0], "u0", 2);
    EXPECT_OK(zetContextActivateMetricGroups(bed.context, bed.device, 0, NULL));
    parts = take_apart(slots, bed_read(streamer, UINT32_MAX, 64, ZE_RESULT_SUCCESS, slots));
    assert_int_equal(parts.last[0], 10);
    assert_false(parts.any[1]);
    EXPECT_OK(zetMetricStreamerClose(streamer));
    bed_free(&bed);
}

/** However much room there is: a tile that gives nothing does not hold up the others. Rule 11.19.
 */
static void read__one_tile_is_silent__the_other_is_given_before_its_ring_is_full(void **state)
{
    enum { PUSHED = 2100, ROOM = 2 * (PUSHED + 4) };
    struct stream_bed bed = bed_make("fake1");
    zet_metric_streamer_handle_t streamer = bed_open(&bed, bed_activate(&bed, "Basic"), 10, NULL);
    struct slot *slots = calloc(ROOM, sizeof(*slots));
    struct parts parts;

    (void)state;
    assert_non_null(slots);
    push_both(&bed, 1);
    (void)bed_read(streamer, UINT32_MAX, ROOM, ZE_RESULT_SUCCESS, slots);
    bed.control->push(tiles[0], "u0", PUSHED - 100);
    assert_int_equal(bed_read(streamer, UINT32_MAX, ROOM, ZE_RESULT_SUCCESS, slots), 0);
    bed.control->push(tiles[0], "u0", 100);
    parts = take_apart(slots, bed_read(streamer, UINT32_MAX, ROOM, ZE_RESULT_SUCCESS, slots));
    assert_int_equal(parts.last[0], PUSHED + 1);
    assert_false(parts.any[1]);
    free(slots);
    EXPECT_OK(zetMetricStreamerClose(streamer));
    bed_free(&bed);
}

/** What tiles give waits for a late reader like what a device without tiles gives. Rule 11.9. */
static void read__late__tiles_lose_nothing_that_the_backend_holds(void **state)
{
    enum { PUSHED = 60000, ROOM = 2 * (PUSHED + 3) };
    struct stream_bed bed = bed_make("fake1");
    zet_metric_streamer_handle_t streamer = bed_open(&bed, bed_activate(&bed, "Basic"), 10, NULL);
    struct slot *slots = calloc(ROOM, sizeof(*slots));
    struct parts parts;

    (void)state;
    assert_non_null(slots);
    push_both(&bed, PUSHED);
    parts = take_apart(slots, bed_read(streamer, UINT32_MAX, ROOM, ZE_RESULT_SUCCESS, slots));
    for (int t = 0; t < 2; t++) {
        assert_int_equal(parts.breaks[t], 0);
        assert_int_equal(parts.first[t], 0);
        assert_int_equal(parts.last[t], PUSHED);
        assert_int_equal(parts.records[t], PUSHED + 1);
    }
    free(slots);
    EXPECT_OK(zetMetricStreamerClose(streamer));
    bed_free(&bed);
}

static void read__little_room__tiles_share_it_and_nothing_is_lost(void **state)
{
    (void)state;
    for (uint32_t room = 2; room <= 12; room++) {
        struct stream_bed bed = bed_make("fake1");
        zet_metric_streamer_handle_t streamer =
            bed_open(&bed, bed_activate(&bed, "Basic"), 10, NULL);
        uint32_t seen[2] = {0, 0}; /* number of the last record given */
        struct slot slots[16];

        push_both(&bed, 10);
        for (int reads = 0; reads < 60; reads++) {
            struct parts parts =
                take_apart(slots, bed_read(streamer, UINT32_MAX, room, ZE_RESULT_SUCCESS, slots));

            for (int t = 0; t < 2; t++) {
                if (!parts.any[t])
                    continue;
                assert_true(parts.first[t] == seen[t] || parts.first[t] == seen[t] + 1);
                assert_cmp(parts.last[t], >, seen[t]);
                seen[t] = parts.last[t];
            }
        }
        assert_int_equal(seen[0], 10);
        assert_int_equal(seen[1], 10);
        EXPECT_OK(zetMetricStreamerClose(streamer));
        bed_free(&bed);
    }
}

static void read__one_slot__is_invalid_size_with_what_is_needed(void **state)
{
    struct stream_bed bed = bed_make("fake1");
    zet_metric_streamer_handle_t streamer = bed_open(&bed, bed_activate(&bed, "Basic"), 10, NULL);
    uint8_t buffer[FAKE_RECORD_BYTES];
    size_t size = sizeof(buffer);

    (void)state;
    push_both(&bed, 2);
    EXPECT_RESULT(zetMetricStreamerReadData(streamer, UINT32_MAX, &size, buffer),
                  ZE_RESULT_ERROR_INVALID_SIZE);
    assert_int_equal(size, 2 * FAKE_RECORD_BYTES);
    EXPECT_OK(zetMetricStreamerClose(streamer));
    bed_free(&bed);
}

static void read__max_report_count__is_the_sum_over_tiles(void **state)
{
    struct stream_bed bed = bed_make("fake1");
    zet_metric_streamer_handle_t streamer = bed_open(&bed, bed_activate(&bed, "Basic"), 10, NULL);
    struct slot slots[64];
    struct parts parts;

    (void)state;
    push_both(&bed, 10);
    parts = take_apart(slots, bed_read(streamer, 6, 64, ZE_RESULT_SUCCESS, slots));
    assert_int_equal(parts.last[0], 3);
    assert_int_equal(parts.last[1], 3);
    parts = take_apart(slots, bed_read(streamer, 1, 64, ZE_RESULT_SUCCESS, slots));
    assert_int_equal(
        (parts.any[0] ? parts.records[0] - 1 : 0) + (parts.any[1] ? parts.records[1] - 1 : 0), 1);
    EXPECT_OK(zetMetricStreamerClose(streamer));
    bed_free(&bed);
}

static void read__break_of_one_tile__does_not_touch_the_other(void **state)
{
    struct stream_bed bed = bed_make("fake1");
    zet_metric_streamer_handle_t streamer = bed_open(&bed, bed_activate(&bed, "Basic"), 10, NULL);
    struct slot slots[64];
    struct parts parts;

    (void)state;
    push_both(&bed, 2);
    bed.control->gap(tiles[1], "u0", 2, 2);
    bed.control->push(tiles[1], "u0", 1);
    bed.control->push(tiles[0], "u0", 3);
    parts = take_apart(slots,
                       bed_read(streamer, UINT32_MAX, 64, ZE_RESULT_WARNING_DROPPED_DATA, slots));
    assert_int_equal(parts.breaks[0], 0);
    assert_int_equal(parts.breaks[1], 1);
    assert_int_equal(parts.last[0], 5);
    assert_int_equal(parts.last[1], 5);
    EXPECT_OK(zetMetricStreamerClose(streamer));
    bed_free(&bed);
}

/* Rule 11.19. */
static void event__root__counts_the_records_of_all_tiles(void **state)
{
    struct stream_bed bed = bed_make("fake1");
    struct test_event event = make_event(bed.context);
    zet_metric_streamer_handle_t streamer =
        bed_open(&bed, bed_activate(&bed, "Basic"), 6, event.event);
    struct slot slots[64];

    (void)state;
    push_both(&bed, 2);
    EXPECT_RESULT(zeEventHostSynchronize(event.event, 20000000), ZE_RESULT_NOT_READY);
    push_both(&bed, 1);
    EXPECT_OK(zeEventHostSynchronize(event.event, UINT64_MAX));
    assert_int_equal(bed_read(streamer, UINT32_MAX, 64, ZE_RESULT_SUCCESS, slots), 10);
    EXPECT_RESULT(zeEventQueryStatus(event.event), ZE_RESULT_NOT_READY);
    EXPECT_OK(zetMetricStreamerClose(streamer));
    destroy_event(&event);
    bed_free(&bed);
}

static void open__a_tile_refuses__nothing_stays_open(void **state)
{
    struct stream_bed bed = bed_make("fake1");
    zet_metric_group_handle_t group = bed_activate(&bed, "Basic");
    zet_metric_streamer_desc_t desc = {.notifyEveryNReports = 5, .samplingPeriod = 100000};
    zet_metric_streamer_handle_t streamer = NULL;

    (void)state;
    bed.control->refuse(tiles[1], "u0", 0x70010001, 77);
    EXPECT_RESULT(zetMetricStreamerOpen(bed.context, bed.device, group, &desc, NULL, &streamer),
                  ZE_RESULT_ERROR_NOT_AVAILABLE);
    expect_sentence("77");
    assert_false(bed.control->is_running(tiles[0], "u0"));
    bed.control->refuse(tiles[1], "u0", 0, 0);
    EXPECT_OK(zetMetricStreamerOpen(bed.context, bed.device, group, &desc, NULL, &streamer));
    EXPECT_OK(zetMetricStreamerClose(streamer));
    bed_free(&bed);
}

/* Rule 10.9. */
static void activate__root__covers_its_tiles(void **state)
{
    struct stream_bed root = bed_make("fake1");
    struct stream_bed tile = bed_make(tiles[0]);
    zet_metric_group_handle_t root_group = bed_activate(&root, "Basic");
    zet_metric_group_handle_t tile_group = find_group(tile.device, "Basic", TIME_BASED, NULL);
    zet_metric_group_handle_t tile_other = find_group(tile.device, "Other", TIME_BASED, NULL);
    zet_metric_group_handle_t root_other = find_group(root.device, "Other", TIME_BASED, NULL);
    zet_metric_streamer_desc_t desc = {.notifyEveryNReports = 5, .samplingPeriod = 100000};
    zet_metric_streamer_handle_t streamer = bed_open(&tile, tile_group, 5, NULL);
    zet_metric_streamer_handle_t second = NULL;
    struct slot slots[8];

    (void)state;
    /* A stream of the root needs the unit of the tile. */
    EXPECT_RESULT(
        zetMetricStreamerOpen(root.context, root.device, root_group, &desc, NULL, &second),
        ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    assert_int_equal(tile.control->counts(tiles[0], "u0").opens, 1); /* nobody was asked */
    /* Neither the root nor the tile may take the group away. */
    EXPECT_RESULT(zetContextActivateMetricGroups(root.context, root.device, 1, &root_other),
                  ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    EXPECT_RESULT(zetContextActivateMetricGroups(tile.context, tile.device, 1, &tile_other),
                  ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    expect_sentence("root");
    /* Ending the tile's own activation changes nothing: the root's holds. */
    EXPECT_OK(zetContextActivateMetricGroups(tile.context, tile.device, 0, NULL));
    assert_true(tile.control->is_running(tiles[0], "u0"));
    tile.control->push(tiles[0], "u0", 1);
    expect_records(slots, bed_read(streamer, UINT32_MAX, 8, ZE_RESULT_SUCCESS, slots), 0, 1);
    /* The root's deactivation ends it. */
    EXPECT_OK(zetContextActivateMetricGroups(root.context, root.device, 0, NULL));
    assert_false(tile.control->is_running(tiles[0], "u0"));
    EXPECT_OK(zetMetricStreamerClose(streamer));
    bed_free(&tile);
    bed_free(&root);
}

/* Rule 10.9. */
static void activate__tile__is_ended_and_replaced_by_its_root(void **state)
{
    struct stream_bed root = bed_make("fake1");
    struct stream_bed tile = bed_make(tiles[1]);
    zet_metric_group_handle_t tile_group = bed_activate(&tile, "Other");
    zet_metric_streamer_desc_t desc = {.notifyEveryNReports = 5, .samplingPeriod = 100000};
    zet_metric_streamer_handle_t streamer = NULL;
    zet_metric_group_handle_t root_group = find_group(root.device, "Other", TIME_BASED, NULL);

    (void)state;
    EXPECT_RESULT(
        zetMetricStreamerOpen(root.context, root.device, root_group, &desc, NULL, &streamer),
        ZE_RESULT_NOT_READY); /* a tile does not activate its root */
    (void)bed_activate(&root, "Basic");
    EXPECT_RESULT(
        zetMetricStreamerOpen(tile.context, tile.device, tile_group, &desc, NULL, &streamer),
        ZE_RESULT_NOT_READY);
    EXPECT_OK(zetContextActivateMetricGroups(root.context, root.device, 0, NULL));
    tile_group = bed_activate(&tile, "Other");
    streamer = bed_open(&tile, tile_group, 5, NULL);
    EXPECT_OK(zetContextActivateMetricGroups(root.context, root.device, 0, NULL));
    assert_false(tile.control->is_running(tiles[1], "u0"));
    EXPECT_OK(zetMetricStreamerClose(streamer));
    bed_free(&tile);
    bed_free(&root);
}

/* Rule 14.8. */
static void calculate__root__needs_the_function_for_several_sets(void **state)
{
    struct stream_bed bed = bed_make("fake1");
    zet_metric_group_handle_t group = bed_activate(&bed, "Basic");
    zet_metric_streamer_handle_t streamer = bed_open(&bed, group, 10, NULL);
    const zet_metric_group_calculation_type_t type =
        ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES;
    uint8_t raw[64 * FAKE_RECORD_BYTES];
    zet_typed_value_t values[128];
    uint32_t counts[4] = {99, 99, 99, 99};
    size_t size = sizeof(raw);
    uint32_t sets = 0;
    uint32_t total = 0;

    (void)state;
    push_both(&bed, 3);
    bed.control->gap(tiles[1], "u0", 1, 2);
    bed.control->push(tiles[1], "u0", 2);
    bed.control->push(tiles[0], "u0", 3);
    EXPECT_RESULT(zetMetricStreamerReadData(streamer, UINT32_MAX, &size, raw),
                  ZE_RESULT_WARNING_DROPPED_DATA);
    EXPECT_RESULT(zetMetricGroupCalculateMetricValues(group, type, size, raw, &total, NULL),
                  ZE_RESULT_ERROR_INVALID_ARGUMENT);
    expect_sentence("zetMetricGroupCalculateMultipleMetricValuesExp");
    EXPECT_OK(zetMetricGroupCalculateMultipleMetricValuesExp(group, type, size, raw, &sets, &total,
                                                             NULL, NULL));
    assert_int_equal(sets, 2);
    assert_int_equal(total, size / FAKE_RECORD_BYTES * 4);
    sets = 4;
    EXPECT_RESULT(zetMetricGroupCalculateMultipleMetricValuesExp(group, type, size, raw, &sets,
                                                                 &total, counts, values),
                  ZE_RESULT_WARNING_DROPPED_DATA);
    assert_int_equal(sets, 2);
    assert_int_equal(counts[0], 6 * 4);
    assert_int_equal(counts[1], 4 * 4); /* no row crosses the break */
    assert_int_equal(counts[2], 99);
    assert_int_equal(total, 10 * 4);
    for (uint32_t row = 0; row < 10; row++) {
        assert_int_equal(values[row * 4].value.ui64, 1);
        assert_int_equal(values[row * 4 + 1].value.ui64, 2);
    }
    /* Also a tile without a row has its set. */
    sets = 2;
    total = 128;
    EXPECT_OK(zetMetricGroupCalculateMultipleMetricValuesExp(group, type, 3 * FAKE_RECORD_BYTES,
                                                             raw, &sets, &total, counts, values));
    assert_int_equal(sets, 2);
    assert_int_equal(counts[0], 4);
    assert_int_equal(counts[1], 0);
    EXPECT_OK(zetMetricStreamerClose(streamer));
    bed_free(&bed);
}

SUITE(tiles)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(read__root__gives_all_tiles_with_their_index),
        cmocka_unit_test(read__one_tile_is_ahead__both_are_given_to_the_same_instant),
        cmocka_unit_test(read__one_tile_is_silent__the_other_is_given_before_its_ring_is_full),
        cmocka_unit_test(read__late__tiles_lose_nothing_that_the_backend_holds),
        cmocka_unit_test(read__little_room__tiles_share_it_and_nothing_is_lost),
        cmocka_unit_test(read__one_slot__is_invalid_size_with_what_is_needed),
        cmocka_unit_test(read__max_report_count__is_the_sum_over_tiles),
        cmocka_unit_test(read__break_of_one_tile__does_not_touch_the_other),
        cmocka_unit_test(event__root__counts_the_records_of_all_tiles),
        cmocka_unit_test(open__a_tile_refuses__nothing_stays_open),
        cmocka_unit_test(activate__root__covers_its_tiles),
        cmocka_unit_test(activate__tile__is_ended_and_replaced_by_its_root),
        cmocka_unit_test(calculate__root__needs_the_function_for_several_sets),
    };

    return cmocka_run_group_tests(tests, set_up, NULL);
}
