/* Markers in streams: rows with exact counts, of both units, and streams and queries at once. */
#include <stdlib.h>
#include <string.h>

#include "bed.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

#define RAW_BYTES (8u << 20)

struct streams {
    zet_metric_group_handle_t groups[2];
    zet_metric_streamer_handle_t streamers[2];
};

static struct streams open_streams(const struct bed *bed, uint32_t period_ns)
{
    struct streams made = {.groups = {find_group(bed->device, "ComputeBasic", TIME_BASED, NULL),
                                      find_group(bed->device, "ThreadDispatch", TIME_BASED, NULL)}};

    EXPECT_OK(zetContextActivateMetricGroups(bed->context, bed->device, 2, made.groups));
    for (int i = 0; i < 2; i++) {
        zet_metric_streamer_desc_t desc = {.stype = ZET_STRUCTURE_TYPE_METRIC_STREAMER_DESC,
                                           .notifyEveryNReports = 1,
                                           .samplingPeriod = period_ns};

        EXPECT_OK(zetMetricStreamerOpen(bed->context, bed->device, made.groups[i], &desc, NULL,
                                        &made.streamers[i]));
    }
    return made;
}

static void close_streams(const struct bed *bed, struct streams *streams)
{
    const zet_metric_group_handle_t before[] = {bed->compute, bed->dispatch};
    zet_metric_group_handle_t groups[2];

    memcpy(groups, before, sizeof(groups));
    for (int i = 0; i < 2; i++)
        EXPECT_OK(zetMetricStreamerClose(streams->streamers[i]));
    EXPECT_OK(zetContextActivateMetricGroups(bed->context, bed->device, 2, groups));
}

/* Rows of all that a stream has, in a new array; out_count is the number of metrics of a row. */
static zet_typed_value_t *read_rows(const struct streams *streams, int which, uint32_t *out_rows,
                                    uint32_t *out_count)
{
    const zet_metric_group_calculation_type_t type =
        ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES;
    uint8_t *raw = malloc(RAW_BYTES);
    zet_typed_value_t *values;
    size_t size = RAW_BYTES;
    uint32_t count = 0;

    assert_non_null(raw);
    /* One read gives all that is complete; another one would find new reports, and so on. */
    EXPECT_OK(zetMetricStreamerReadData(streams->streamers[which], UINT32_MAX, &size, raw));
    EXPECT_OK(zetMetricGet(streams->groups[which], out_count, NULL));
    EXPECT_OK(
        zetMetricGroupCalculateMetricValues(streams->groups[which], type, size, raw, &count, NULL));
    values = calloc(count, sizeof(*values));
    assert_non_null(values);
    EXPECT_OK(zetMetricGroupCalculateMetricValues(streams->groups[which], type, size, raw, &count,
                                                  values));
    *out_rows = count / *out_count;
    free(raw);
    return values;
}

static uint64_t value_of(const struct streams *streams, int which, const zet_typed_value_t *row,
                         const char *metric)
{
    const zet_typed_value_t *value = &row[metric_index(streams->groups[which], metric)];

    return value->type == ZET_VALUE_TYPE_UINT32 ? value->value.ui32 : value->value.ui64;
}

/* Adds up a metric over rows until each marker; rows behind the last marker are left. */
static void expect_markers(const struct streams *streams, int which, const uint32_t *markers,
                           const uint64_t *groups, uint32_t number)
{
    uint32_t rows = 0, metrics = 0, found = 0;
    zet_typed_value_t *values = read_rows(streams, which, &rows, &metrics);
    uint64_t sum = 0, last_time = 0;

    for (uint32_t r = 0; r < rows; r++) {
        const zet_typed_value_t *row = values + (size_t)r * metrics;
        const uint64_t marker = value_of(streams, which, row, "StreamMarker");
        const uint64_t reason = value_of(streams, which, row, "ReportReason");
        const uint64_t time = value_of(streams, which, row, "QueryBeginTime");

        /* The clock may start anew, with a report at time 0. */
        assert_true(r == 0 || time > last_time || last_time - time > UINT32_MAX);
        last_time = time;
        assert_cmp(value_of(streams, which, row, "GpuTime"), >, 0);
        assert_cmp(value_of(streams, which, row, "AvgGpuCoreFrequencyMHz"), <=, 1000);
        sum += value_of(streams, which, row, "GroupsDispatched");
        if (!(reason & 16)) {
            assert_int_equal(marker, 0);
            continue;
        }
        assert_cmp(found, <, number);
        assert_int_equal(marker, markers[found]);
        assert_int_equal(sum, groups[found]);
        sum = 0;
        found++;
    }
    assert_int_equal(found, number);
    free(values);
}

/* Rule 12.23. */
static void streamer__markers_between_kernels__exact_counts_per_row(void **state)
{
    static const uint32_t periods[] = {1000000, 1000000000};
    static const uint32_t markers[] = {7, UINT32_MAX, 1, 2};
    static const uint64_t groups[] = {3, 0, 12, 4};
    const struct bed *bed = *state;
    uint32_t *counter = bed_memory(bed, 64);
    ze_kernel_handle_t count = bed_count(bed, counter);

    for (int p = 0; p < 2; p++) {
        struct streams streams = open_streams(bed, periods[p]);

        for (int which = 0; which < 2; which++) {
            ze_command_list_handle_t list = bed_immediate(bed, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
            uint32_t rows, metrics, sum = 0;

            /* Behind all work that came before. */
            EXPECT_OK(zetCommandListAppendMetricStreamerMarker(list, streams.streamers[which], 9));
            EXPECT_OK(zeCommandListHostSynchronize(list, UINT64_MAX));
            free(read_rows(&streams, which, &rows, &metrics));
            for (uint32_t m = 0; m < 4; m++) {
                for (; groups[m] > 0 && sum < groups[m]; sum += 1)
                    bed_count_append(list, count, 1);
                sum = 0;
                EXPECT_OK(zetCommandListAppendMetricStreamerMarker(list, streams.streamers[which],
                                                                   markers[m]));
            }
            EXPECT_OK(zeCommandListHostSynchronize(list, UINT64_MAX));
            /* At once: what is complete is read. */
            expect_markers(&streams, which, markers, groups, 4);
            EXPECT_OK(zeCommandListDestroy(list));
        }
        close_streams(bed, &streams);
    }
    EXPECT_OK(zeKernelDestroy(count));
    EXPECT_OK(zeMemFree(bed->context, counter));
}

/* A list that is executed again marks again; thousands in one list are all there. Rule 12.24. */
static void list__of_thousands_of_markers__all_there_each_time(void **state)
{
    enum { NUMBER = 3000 };
    const struct bed *bed = *state;
    struct streams streams = open_streams(bed, 1000000000);
    ze_command_queue_handle_t queue = bed_queue(bed);
    ze_command_list_handle_t list = bed_list(bed);
    uint32_t *markers = calloc(NUMBER, sizeof(*markers));
    uint64_t *groups = calloc(NUMBER, sizeof(*groups));

    assert_true(markers && groups);
    for (uint32_t i = 0; i < NUMBER; i++) {
        markers[i] = i + 1;
        EXPECT_OK(zetCommandListAppendMetricStreamerMarker(list, streams.streamers[0], i + 1));
    }
    EXPECT_OK(zeCommandListClose(list));
    for (int run = 0; run < 2; run++) {
        bed_run(queue, list);
        expect_markers(&streams, 0, markers, groups, NUMBER);
    }
    free(markers);
    free(groups);
    EXPECT_OK(zeCommandListDestroy(list));
    EXPECT_OK(zeCommandQueueDestroy(queue));
    close_streams(bed, &streams);
}

/* The stream sees what the queries see, when nobody else works. */
static void stream__and_queries_at_once__the_same_sums(void **state)
{
    enum { LAUNCHES = 60 };
    const struct bed *bed = *state;
    struct streams streams = open_streams(bed, 1000000);
    const zet_metric_group_handle_t wanted[] = {bed->compute, streams.groups[1]};
    ze_command_list_handle_t list = bed_immediate(bed, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
    uint32_t *counter = bed_memory(bed, 64);
    ze_kernel_handle_t count = bed_count(bed, counter);
    zet_metric_query_pool_handle_t pool = bed_pool(bed, bed->compute, LAUNCHES);
    zet_metric_query_handle_t queries[LAUNCHES];
    uint64_t by_queries = 0, by_rows = 0, retired = 0, retired_rows = 0;
    zet_metric_group_handle_t active[2];
    zet_typed_value_t *values;
    uint32_t rows, metrics;

    /* Group and query form of one unit share its domain, so the query takes the other unit. */
    EXPECT_OK(zetMetricStreamerClose(streams.streamers[0]));
    memcpy(active, wanted, sizeof(active));
    EXPECT_OK(zetContextActivateMetricGroups(bed->context, bed->device, 2, active));
    for (uint32_t i = 0; i < LAUNCHES; i++) {
        queries[i] = bed_query(pool, i);
        bed_begin(list, queries[i]);
        bed_count_append(list, count, i);
        bed_end(list, queries[i], NULL);
    }
    EXPECT_OK(zetCommandListAppendMetricStreamerMarker(list, streams.streamers[1], 1));
    EXPECT_OK(zeCommandListHostSynchronize(list, UINT64_MAX));
    for (uint32_t i = 0; i < LAUNCHES; i++) {
        struct bed_row row = bed_result(bed->compute, queries[i]);

        by_queries += bed_u64(&row, "GroupsDispatched");
        retired += bed_u64(&row, "ThreadsDispatched");
    }
    values = read_rows(&streams, 1, &rows, &metrics);
    for (uint32_t r = 0; r < rows; r++) {
        by_rows += value_of(&streams, 1, values + (size_t)r * metrics, "GroupsDispatched");
        retired_rows += value_of(&streams, 1, values + (size_t)r * metrics, "ThreadsDispatched");
    }
    free(values);
    assert_int_equal(by_rows, by_queries);
    assert_int_equal(by_rows, LAUNCHES * (LAUNCHES - 1) / 2);
    assert_int_equal(retired_rows, retired);
    bed_pool_drop(pool, queries, LAUNCHES);
    EXPECT_OK(zeKernelDestroy(count));
    EXPECT_OK(zeMemFree(bed->context, counter));
    EXPECT_OK(zeCommandListDestroy(list));
    EXPECT_OK(zetMetricStreamerClose(streams.streamers[1]));
    active[1] = bed->dispatch;
    EXPECT_OK(zetContextActivateMetricGroups(bed->context, bed->device, 2, active));
}

/* A marker for a group reaches who collects from its unit, and nobody else. */
static void group__marker_of_its_unit__seen_by_its_stream(void **state)
{
    static const uint32_t markers[] = {5};
    static const uint64_t groups[] = {0};
    const struct bed *bed = *state;
    struct streams streams = open_streams(bed, 1000000000);
    ze_command_list_handle_t list = bed_immediate(bed, ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);

    EXPECT_OK(zetCommandListAppendMarkerExp(list, streams.groups[0], 5));
    expect_markers(&streams, 0, markers, groups, 1);
    expect_markers(&streams, 1, markers, groups, 0);
    EXPECT_OK(zetCommandListAppendMarkerExp(list, streams.groups[1], 5));
    expect_markers(&streams, 1, markers, groups, 1);
    expect_markers(&streams, 0, markers, groups, 0);
    EXPECT_OK(zeCommandListDestroy(list));
    close_streams(bed, &streams);
}

SUITE(markers)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(streamer__markers_between_kernels__exact_counts_per_row),
        cmocka_unit_test(list__of_thousands_of_markers__all_there_each_time),
        cmocka_unit_test(stream__and_queries_at_once__the_same_sums),
        cmocka_unit_test(group__marker_of_its_unit__seen_by_its_stream),
    };

    return cmocka_run_group_tests(tests, bed_setup, bed_teardown);
}
