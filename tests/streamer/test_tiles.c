/* Streams of a root with two tiles and of the tiles: a set of values for each, to the last count.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "streaming.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"
#include "zeta/slot.h"

#define VALUES ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES

static ze_device_handle_t tile_of(const struct bed *bed, uint32_t index)
{
    ze_device_handle_t tiles[2];
    uint32_t count = 2;

    EXPECT_OK(zeDeviceGetSubDevices(bed->device, &count, tiles));
    assert_int_equal(count, 2);
    return tiles[index];
}

/** The same bed for another device. */
static struct bed bed_on(const struct bed *bed, ze_device_handle_t device)
{
    struct bed other = *bed;

    other.device = device;
    return other;
}

/** Launches groups on a device, so many times; marks each for a stream unless it is NULL. */
static void work(const struct bed *bed, uint32_t launches, uint32_t groups,
                 zet_metric_streamer_handle_t marked)
{
    uint32_t *counter = bed_memory(bed, 64);
    ze_kernel_handle_t count = bed_count(bed, counter);
    ze_command_list_handle_t list = bed_immediate(bed, ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);

    for (uint32_t i = 0; i < launches; i++) {
        bed_count_append(list, count, groups);
        if (marked)
            EXPECT_OK(zetCommandListAppendMetricStreamerMarker(list, marked, i + 1));
    }
    EXPECT_OK(zeCommandListDestroy(list));
    EXPECT_OK(zeKernelDestroy(count));
    EXPECT_OK(zeMemFree(bed->context, counter));
}

/** The rows of both tiles. */
struct sets {
    const struct streaming *stream;
    uint32_t rows[2];
    zet_typed_value_t *values, *of[2];
};

static struct sets calculate_sets(const struct streaming *stream)
{
    struct sets sets = {.stream = stream};
    uint32_t set_count = 0, total = 0, counts[2] = {0};

    EXPECT_RESULT(zetMetricGroupCalculateMetricValues(stream->group, VALUES, stream->raw_bytes,
                                                      stream->raw, &total, NULL),
                  ZE_RESULT_ERROR_INVALID_ARGUMENT);
    EXPECT_OK(zetMetricGroupCalculateMultipleMetricValuesExp(
        stream->group, VALUES, stream->raw_bytes, stream->raw, &set_count, &total, NULL, NULL));
    assert_int_equal(set_count, 2);
    assert_int_equal(total, stream->raw_bytes / stream->record_bytes * stream->metrics);
    sets.values = calloc(total, sizeof(*sets.values));
    assert_non_null(sets.values);
    EXPECT_OK(zetMetricGroupCalculateMultipleMetricValuesExp(
        stream->group, VALUES, stream->raw_bytes, stream->raw, &set_count, &total, counts,
        sets.values));
    assert_int_equal(total, counts[0] + counts[1]);
    for (uint32_t t = 0; t < 2; t++) {
        assert_int_equal(counts[t] % stream->metrics, 0);
        sets.rows[t] = counts[t] / stream->metrics;
    }
    sets.of[0] = sets.values;
    sets.of[1] = sets.values + counts[0];
    return sets;
}

static uint64_t value_of(const struct sets *sets, uint32_t tile, uint32_t row, const char *metric)
{
    const uint32_t index = metric_index(sets->stream->group, metric);

    return sets->of[tile][(size_t)row * sets->stream->metrics + index].value.ui64;
}

static uint64_t sum_of(const struct sets *sets, uint32_t tile, const char *metric)
{
    uint64_t sum = 0;

    for (uint32_t row = 0; row < sets->rows[tile]; row++)
        sum += value_of(sets, tile, row, metric);
    return sum;
}

/** Rows from a time on: the tiles of a root are opened one after the other. */
static uint32_t rows_since(const struct sets *sets, uint32_t tile, uint64_t then_ns)
{
    uint32_t rows = 0;

    for (uint32_t row = 0; row < sets->rows[tile]; row++)
        rows += streaming_between_ns(then_ns, value_of(sets, tile, row, "QueryBeginTime")) <
                STREAMING_WRAP_NS / 2;
    return rows;
}

/** True if a report of each tile is of a time after then. */
static bool has_all_since(const struct streaming *stream, uint64_t then_ns)
{
    static const uint8_t magic[] = ZETA_SLOT_MAGIC;
    bool later[2] = {false, false};
    uint32_t tile = 0;

    for (size_t at = 0; at < stream->raw_bytes; at += stream->record_bytes) {
        const uint8_t *slot = stream->raw + at;
        uint32_t value;

        memcpy(&value, slot + 20, sizeof(value));
        if (memcmp(slot, magic, ZETA_SLOT_MAGIC_BYTES) == 0)
            tile = value;
        else
            later[tile] |=
                streaming_between_ns(then_ns, streaming_report_ns(slot)) < STREAMING_WRAP_NS / 2;
    }
    return later[0] && later[1];
}

/** Reads a root until everything of before the call is there. */
static void catch_up(struct streaming *stream)
{
    const uint64_t now = streaming_now_ns(stream->device);

    while (!has_all_since(stream, now)) {
        if (streaming_read(stream, UINT32_MAX, 4096) == 0)
            sleep_ms(1);
    }
}

/* Rule 14.9. */
static void root__work_and_markers_on_tiles__are_in_their_sets(void **state)
{
    const struct bed *bed = *state;
    const struct bed on[2] = {bed_on(bed, tile_of(bed, 0)), bed_on(bed, tile_of(bed, 1))};
    struct streaming stream = streaming_of(bed->device, "ComputeBasic");
    struct streaming *active[] = {&stream};
    uint32_t markers[2] = {0};
    uint64_t first;
    struct sets sets;

    streaming_activate(bed, active, 1);
    streaming_open(bed, &stream, 1000000, 0, NULL);
    work(&on[0], 3, 9, NULL);
    work(&on[1], 20, 17, stream.streamer);
    catch_up(&stream);
    sets = calculate_sets(&stream);
    assert_int_equal(sum_of(&sets, 0, "KernelsLaunched"), 3);
    assert_int_equal(sum_of(&sets, 0, "InstAtomic"), 3 * 9 * 16);
    assert_int_equal(sum_of(&sets, 1, "KernelsLaunched"), 20);
    assert_int_equal(sum_of(&sets, 1, "InstAtomic"), 20 * 17 * 16);
    first = value_of(&sets, 1, 0, "QueryBeginTime");
    for (uint32_t t = 0; t < 2; t++) {
        for (uint32_t row = 0; row < sets.rows[t]; row++) {
            if (value_of(&sets, t, row, "StreamMarker") != 0)
                markers[t]++;
        }
    }
    assert_int_equal(markers[0], 0);
    assert_int_equal(markers[1], 20);
    /* Sets of different lengths: a marker is one row more on its tile. */
    assert_int_equal(rows_since(&sets, 1, first) - rows_since(&sets, 0, first), 20);
    free(sets.values);
    streaming_close(&stream);
}

/* Rule 14.9. */
static void root__one_tile_alone__its_set_is_empty_but_there(void **state)
{
    const struct bed *bed = *state;
    struct streaming stream = streaming_of(bed->device, "ComputeBasic");
    struct streaming *active[] = {&stream};
    uint32_t set_count = 0, total = 0, counts[2] = {7, 7};
    zet_typed_value_t *values;

    streaming_activate(bed, active, 1);
    streaming_open(bed, &stream, 1000000, 0, NULL);
    catch_up(&stream);
    /* Up to where the second tile begins in the first read. */
    for (size_t at = stream.record_bytes; at < stream.raw_bytes; at += stream.record_bytes) {
        if (memcmp(stream.raw + at, stream.raw, 16) == 0) {
            stream.raw_bytes = at;
            break;
        }
    }
    EXPECT_OK(zetMetricGroupCalculateMultipleMetricValuesExp(
        stream.group, VALUES, stream.raw_bytes, stream.raw, &set_count, &total, NULL, NULL));
    assert_int_equal(set_count, 2);
    values = calloc(total, sizeof(*values));
    assert_non_null(values);
    EXPECT_OK(zetMetricGroupCalculateMultipleMetricValuesExp(
        stream.group, VALUES, stream.raw_bytes, stream.raw, &set_count, &total, counts, values));
    assert_int_equal(set_count, 2);
    assert_cmp((counts[0] == 0), !=, (counts[1] == 0));
    assert_int_equal(counts[0] + counts[1], total);
    free(values);
    streaming_close(&stream);
}

/* Rule 11.19. */
static void root__event__counts_the_reports_of_both(void **state)
{
    const struct bed *bed = *state;
    struct streaming stream = streaming_of(bed->device, "ThreadDispatch");
    struct streaming *active[] = {&stream};
    struct test_event event = make_event(bed->context);
    struct zeta_stream_info info = {.struct_size = sizeof(info)};

    streaming_activate(bed, active, 1);
    streaming_open(bed, &stream, 500000, 20, event.event);
    while (info.records < 200) {
        const uint64_t before = info.records;

        EXPECT_OK(zeEventHostSynchronize(event.event, UINT64_MAX));
        (void)streaming_read(&stream, UINT32_MAX, 4096);
        EXPECT_OK(zetaMetricStreamerGetInfo(stream.streamer, &info));
        /* Both tiles up to one instant: what a tile is ahead of the other comes later. */
        if (info.records == before)
            sleep_ms(1);
    }
    assert_int_equal(stream.warnings, 0);
    streaming_close(&stream);
    destroy_event(&event);
}

struct worker {
    const struct bed *bed;
    struct bed on;
    struct streaming stream;
    uint32_t launches;
};

/* Only what cannot fail the test is done in threads; the numbers are looked at behind them. */
static void *stream_one_tile(void *argument)
{
    struct worker *worker = argument;

    for (uint32_t i = 0; i < worker->launches; i++) {
        work(&worker->on, 1, 5, NULL);
        (void)streaming_read(&worker->stream, UINT32_MAX, 4096);
    }
    streaming_catch_up(&worker->stream);
    return NULL;
}

/* Rule 11.19. */
static void tiles__streams_of_two_threads__each_counts_its_tile(void **state)
{
    const struct bed *bed = *state;
    struct worker workers[2];
    pthread_t threads[2];

    for (uint32_t t = 0; t < 2; t++) {
        struct streaming *active[] = {&workers[t].stream};

        workers[t] = (struct worker){.bed = bed, .launches = t == 0 ? 40 : 25};
        workers[t].on = bed_on(bed, tile_of(bed, t));
        workers[t].stream = streaming_of(workers[t].on.device, "ComputeBasic");
        streaming_activate(bed, active, 1);
        streaming_open(bed, &workers[t].stream, t == 0 ? 200000 : 1000000, 0, NULL);
    }
    for (uint32_t t = 0; t < 2; t++)
        assert_int_equal(pthread_create(&threads[t], NULL, stream_one_tile, &workers[t]), 0);
    for (uint32_t t = 0; t < 2; t++)
        assert_int_equal(pthread_join(threads[t], NULL), 0);
    for (uint32_t t = 0; t < 2; t++) {
        streaming_calculate(&workers[t].stream);
        assert_int_equal(streaming_sum(&workers[t].stream, "KernelsLaunched"), workers[t].launches);
        assert_int_equal(streaming_sum(&workers[t].stream, "InstAtomic"),
                         workers[t].launches * 5 * 16);
        streaming_close(&workers[t].stream);
    }
    EXPECT_OK(zetContextActivateMetricGroups(bed->context, bed->device, 0, NULL));
}

/** The root needs the unit of each tile, so it and one of them exclude each other. Rule 11.19. */
static void units__of_root_and_tile__exclude_each_other(void **state)
{
    const struct bed *bed = *state;
    zet_metric_streamer_desc_t desc = {.stype = ZET_STRUCTURE_TYPE_METRIC_STREAMER_DESC,
                                       .samplingPeriod = 1000000};
    struct streaming root = streaming_of(bed->device, "ComputeBasic");
    struct streaming tile = streaming_of(tile_of(bed, 1), "ComputeBasic");
    struct streaming other = streaming_of(tile_of(bed, 0), "ThreadDispatch");
    struct streaming *active[] = {&root};
    zet_metric_streamer_handle_t none = NULL;

    streaming_activate(bed, active, 1);
    /* What is active on the root is active on its tiles. */
    streaming_open(bed, &tile, 1000000, 0, NULL);
    EXPECT_RESULT(zetMetricStreamerOpen(bed->context, root.device, root.group, &desc, NULL, &none),
                  ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    EXPECT_RESULT(
        zetMetricStreamerOpen(bed->context, other.device, other.group, &desc, NULL, &none),
        ZE_RESULT_NOT_READY);
    streaming_close(&tile);
    streaming_open(bed, &root, 1000000, 0, NULL);
    EXPECT_RESULT(zetMetricStreamerOpen(bed->context, tile.device, tile.group, &desc, NULL, &none),
                  ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    EXPECT_OK(zetContextActivateMetricGroups(bed->context, other.device, 1, &other.group));
    streaming_open(bed, &other, 1000000, 0, NULL);
    streaming_close(&other);
    streaming_close(&root);
    EXPECT_OK(zetContextActivateMetricGroups(bed->context, bed->device, 0, NULL));
}

/** Root and tiles have the same groups in the same order, each its own handles. Rule 10.16. */
static void groups__of_root_and_tiles__are_alike(void **state)
{
    const struct bed *bed = *state;
    zet_metric_group_handle_t of_root[64], of_tile[64];

    for (uint32_t t = 0; t < 2; t++) {
        uint32_t roots = 64, tiles = 64;

        EXPECT_OK(zetMetricGroupGet(bed->device, &roots, of_root));
        EXPECT_OK(zetMetricGroupGet(tile_of(bed, t), &tiles, of_tile));
        assert_int_equal(roots, tiles);
        for (uint32_t i = 0; i < roots; i++) {
            zet_metric_source_id_exp_t source[2] = {
                {.stype = ZET_STRUCTURE_TYPE_METRIC_SOURCE_ID_EXP},
                {.stype = ZET_STRUCTURE_TYPE_METRIC_SOURCE_ID_EXP}};
            zet_metric_group_properties_t a = {.pNext = &source[0]}, b = {.pNext = &source[1]};

            EXPECT_OK(zetMetricGroupGetProperties(of_root[i], &a));
            EXPECT_OK(zetMetricGroupGetProperties(of_tile[i], &b));
            assert_string_equal(a.name, b.name);
            assert_int_equal(a.samplingType, b.samplingType);
            assert_int_equal(a.domain, b.domain);
            assert_int_equal(a.metricCount, b.metricCount);
            assert_int_equal(source[0].sourceId, source[1].sourceId);
            assert_ptr_not_equal(of_root[i], of_tile[i]);
        }
    }
}

SUITE(tiles)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(root__work_and_markers_on_tiles__are_in_their_sets),
        cmocka_unit_test(root__one_tile_alone__its_set_is_empty_but_there),
        cmocka_unit_test(root__event__counts_the_reports_of_both),
        cmocka_unit_test(tiles__streams_of_two_threads__each_counts_its_tile),
        cmocka_unit_test(units__of_root_and_tile__exclude_each_other),
        cmocka_unit_test(groups__of_root_and_tiles__are_alike),
    };

    return cmocka_run_group_tests(tests, bed_setup, bed_teardown);
}
