/* What queries count: formulas, sums, times, and what happens when work fails. */
#include <stdlib.h>
#include <string.h>

#include "bed.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

/* Rule 12.19. */
static void matmul__in_every_kind_of_list__closed_formulas_hold(void **state)
{
    const struct bed *bed = *state;

    for (uint32_t n = 16; n <= 64; n *= 2) {
        for (int kind = 0; kind < 3; kind++) {
            ze_command_queue_handle_t queue = bed_queue(bed);
            ze_command_list_handle_t list =
                kind == 0 ? bed_list(bed)
                          : bed_immediate(bed, kind == 1 ? ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS
                                                         : ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
            struct bed_matmul matmul = bed_matmul_make(bed, n);
            zet_metric_query_pool_handle_t pool = bed_pool(bed, bed->compute, 1);
            zet_metric_query_handle_t query = bed_query(pool, 0);
            struct bed_row row;

            bed_matmul_append(list, &matmul);
            bed_begin(list, query);
            bed_matmul_append(list, &matmul);
            bed_end(list, query, NULL);
            bed_matmul_append(list, &matmul);
            if (kind == 0) {
                EXPECT_OK(zeCommandListClose(list));
                bed_run(queue, list);
            } else {
                EXPECT_OK(zeCommandListHostSynchronize(list, UINT64_MAX));
            }
            row = bed_result(bed->compute, query);
            bed_expect_matmul(&row, n);
            bed_pool_drop(pool, &query, 1);
            bed_matmul_drop(bed, &matmul);
            EXPECT_OK(zeCommandListDestroy(list));
            EXPECT_OK(zeCommandQueueDestroy(queue));
        }
    }
}

static void share_is_percent(const struct bed_row *row, const char *metric)
{
    const double share = bed_f32(row, metric);

    if (share < 0.0 || share > 100.0)
        fail_msg("%s is %f", metric, share);
}

/* Rule 12.19. */
static void clocks__around_work_and_nothing__make_sense(void **state)
{
    static const char *const shares[] = {"GpuBusy",  "XVE_ACTIVE", "XVE_STALL",
                                         "EuActive", "EuStall",    "EuThreadOccupancy"};
    const struct bed *bed = *state;
    ze_command_list_handle_t list = bed_immediate(bed, ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
    struct bed_matmul matmul = bed_matmul_make(bed, 64);
    zet_metric_query_pool_handle_t pool = bed_pool(bed, bed->compute, 2);
    zet_metric_query_handle_t queries[] = {bed_query(pool, 0), bed_query(pool, 1)};
    struct bed_row rows[2];

    bed_begin(list, queries[0]);
    bed_matmul_append(list, &matmul);
    bed_end(list, queries[0], NULL);
    bed_begin(list, queries[1]);
    bed_end(list, queries[1], NULL);
    for (int i = 0; i < 2; i++) {
        rows[i] = bed_result(bed->compute, queries[i]);
        assert_cmp(bed_u64(&rows[i], "GpuTime"), >, 0);
        assert_int_equal(bed_u64(&rows[i], "AvgGpuCoreFrequencyMHz"),
                         bed_u64(&rows[i], "GpuCoreClocks") * 1000 / bed_u64(&rows[i], "GpuTime"));
        assert_cmp(bed_u64(&rows[i], "AvgGpuCoreFrequencyMHz"), <=, 1000);
        assert_int_equal(bed_u64(&rows[i], "ReportReason"), 0);
        assert_cmp(bed_u64(&rows[i], "ContextId"), !=, 0);
        assert_int_equal(bed_u64(&rows[i], "StreamMarker"), 0);
        for (size_t s = 0; s < sizeof(shares) / sizeof(shares[0]); s++)
            share_is_percent(&rows[i], shares[s]);
    }
    assert_cmp(bed_u64(&rows[0], "GpuCoreClocks"), >, 0);
    assert_cmp(bed_f32(&rows[0], "GpuBusy"), ==, 100.0);
    assert_cmp(bed_f32(&rows[0], "XVE_ACTIVE"), >, 0.0);
    /* Of an idle queue only the time goes on. */
    assert_int_equal(bed_u64(&rows[1], "GpuCoreClocks"), 0);
    assert_cmp(bed_f32(&rows[1], "GpuBusy"), ==, 0.0);
    assert_int_equal(bed_u64(&rows[1], "KernelsLaunched"), 0);
    bed_pool_drop(pool, queries, 2);
    bed_matmul_drop(bed, &matmul);
    EXPECT_OK(zeCommandListDestroy(list));
}

static void times__of_a_query__enclose_those_of_the_kernel(void **state)
{
    const struct bed *bed = *state;
    const ze_event_pool_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC,
                                       .flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE |
                                                ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP,
                                       .count = 1};
    const ze_event_desc_t event_desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_DESC};
    ze_command_list_handle_t list = bed_immediate(bed, ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
    struct bed_matmul matmul = bed_matmul_make(bed, 32);
    const ze_group_count_t groups = {2, 2, 1};
    zet_metric_query_pool_handle_t pool = bed_pool(bed, bed->compute, 1);
    zet_metric_query_handle_t query = bed_query(pool, 0);
    ze_kernel_timestamp_result_t times;
    ze_event_pool_handle_t events = NULL;
    ze_event_handle_t event = NULL;
    struct bed_row row;
    uint64_t begin_ticks, end_ticks;

    EXPECT_OK(zeEventPoolCreate(bed->context, &desc, 0, NULL, &events));
    EXPECT_OK(zeEventCreate(events, &event_desc, &event));
    bed_begin(list, query);
    EXPECT_OK(zeCommandListAppendLaunchKernel(list, matmul.kernel, &groups, event, 0, NULL));
    bed_end(list, query, NULL);
    EXPECT_OK(zeEventQueryKernelTimestamp(event, &times));
    row = bed_result(bed->compute, query);
    /* 25 MHz; all three are the same clock, cut to 34 bits. */
    begin_ticks = bed_u64(&row, "QueryBeginTime") / 40;
    end_ticks = begin_ticks + bed_u64(&row, "GpuTime") / 40;
    assert_cmp((uint32_t)(times.global.kernelStart - begin_ticks), <, 25000000);
    assert_cmp((uint32_t)(end_ticks - times.global.kernelEnd), <, 25000000);
    EXPECT_OK(zeEventDestroy(event));
    EXPECT_OK(zeEventPoolDestroy(events));
    bed_pool_drop(pool, &query, 1);
    bed_matmul_drop(bed, &matmul);
    EXPECT_OK(zeCommandListDestroy(list));
}

/* Rule 12.19. */
static void launches__one_query_each__add_up_to_the_one_around_all(void **state)
{
    enum { LAUNCHES = 50 };
    const struct bed *bed = *state;
    ze_command_queue_handle_t queue = bed_queue(bed);
    ze_command_list_handle_t list = bed_list(bed);
    uint32_t *counter = bed_memory(bed, 4096);
    ze_kernel_handle_t count = bed_count(bed, counter);
    zet_metric_query_pool_handle_t pool = bed_pool(bed, bed->compute, LAUNCHES + 1);
    zet_metric_query_handle_t queries[LAUNCHES + 1];
    uint64_t sums[BED_EXACT] = {0}, one[BED_EXACT], all[BED_EXACT];
    struct bed_row row;

    for (uint32_t i = 0; i <= LAUNCHES; i++)
        queries[i] = bed_query(pool, i);
    bed_begin(list, queries[LAUNCHES]);
    for (uint32_t i = 0; i < LAUNCHES; i++) {
        bed_begin(list, queries[i]);
        bed_count_append(list, count, i);
        if (i % 3 == 0)
            EXPECT_OK(zeCommandListAppendMemoryCopy(list, counter + 64, counter + 128, 4 * i, NULL,
                                                    0, NULL));
        EXPECT_OK(zetCommandListAppendMetricMemoryBarrier(list));
        bed_end(list, queries[i], NULL);
    }
    bed_end(list, queries[LAUNCHES], NULL);
    EXPECT_OK(zeCommandListClose(list));
    for (int run = 0; run < 3; run++) {
        memset(sums, 0, sizeof(sums));
        bed_run(queue, list);
        for (uint32_t i = 0; i < LAUNCHES; i++) {
            row = bed_result(bed->compute, queries[i]);
            bed_exact(&row, one);
            assert_int_equal(bed_u64(&row, "GroupsDispatched"), i);
            assert_int_equal(bed_u64(&row, "InstAtomic"), 16 * i);
            assert_int_equal(bed_u64(&row, "CopyBytes"), i % 3 == 0 ? 4 * i : 0);
            for (uint32_t e = 0; e < BED_EXACT; e++)
                sums[e] += one[e];
        }
        row = bed_result(bed->compute, queries[LAUNCHES]);
        bed_exact(&row, all);
        assert_memory_equal(sums, all, sizeof(all));
    }
    bed_pool_drop(pool, queries, LAUNCHES + 1);
    EXPECT_OK(zeKernelDestroy(count));
    EXPECT_OK(zeMemFree(bed->context, counter));
    EXPECT_OK(zeCommandListDestroy(list));
    EXPECT_OK(zeCommandQueueDestroy(queue));
}

static void groups__of_both_units__count_the_same_work(void **state)
{
    const struct bed *bed = *state;
    ze_command_list_handle_t list = bed_immediate(bed, ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
    uint32_t *counter = bed_memory(bed, 64);
    ze_kernel_handle_t count = bed_count(bed, counter);
    zet_metric_query_pool_handle_t pools[2] = {bed_pool(bed, bed->compute, 1),
                                               bed_pool(bed, bed->dispatch, 1)};
    zet_metric_query_handle_t queries[2] = {bed_query(pools[0], 0), bed_query(pools[1], 0)};
    struct bed_row rows[2];
    uint64_t by_subslice = 0;

    bed_begin(list, queries[0]);
    bed_begin(list, queries[1]);
    bed_count_append(list, count, 11);
    bed_end(list, queries[1], NULL);
    bed_end(list, queries[0], NULL);
    rows[0] = bed_result(bed->compute, queries[0]);
    rows[1] = bed_result(bed->dispatch, queries[1]);
    for (int i = 0; i < 2; i++)
        assert_int_equal(bed_u64(&rows[i], "GroupsDispatched"), 11);
    /* Groups go to the 4 subslices in turn; this is what the program of the set selects. */
    for (uint32_t s = 0; s < 4; s++) {
        char name[] = "GroupsSubslice0";

        name[sizeof(name) - 2] = (char)('0' + s);
        assert_int_equal(bed_u64(&rows[1], name), s < 3 ? 3 : 2);
        by_subslice += bed_u64(&rows[1], name);
    }
    assert_int_equal(by_subslice, 11);
    for (int i = 0; i < 2; i++)
        bed_pool_drop(pools[i], &queries[i], 1);
    EXPECT_OK(zeKernelDestroy(count));
    EXPECT_OK(zeMemFree(bed->context, counter));
    EXPECT_OK(zeCommandListDestroy(list));
}

static void begin_and_end__in_lists_of_one_queue__count_what_ran_between(void **state)
{
    const struct bed *bed = *state;
    ze_command_queue_handle_t queue = bed_queue(bed);
    ze_command_list_handle_t lists[3] = {bed_list(bed), bed_list(bed), bed_list(bed)};
    uint32_t *counter = bed_memory(bed, 64);
    ze_kernel_handle_t count = bed_count(bed, counter);
    zet_metric_query_pool_handle_t pool = bed_pool(bed, bed->compute, 1);
    zet_metric_query_handle_t query = bed_query(pool, 0);
    struct bed_row row;
    size_t bytes = 0;

    bed_begin(lists[0], query);
    bed_count_append(lists[1], count, 3);
    bed_end(lists[2], query, NULL);
    for (int i = 0; i < 3; i++)
        EXPECT_OK(zeCommandListClose(lists[i]));
    bed_run(queue, lists[0]);
    EXPECT_OK(zetMetricQueryGetData(query, &bytes, NULL));
    {
        uint8_t *raw = malloc(bytes);

        EXPECT_RESULT(zetMetricQueryGetData(query, &bytes, raw), ZE_RESULT_NOT_READY);
        free(raw);
    }
    for (int i = 0; i < 10; i++)
        bed_run(queue, lists[1]);
    bed_run(queue, lists[2]);
    row = bed_result(bed->compute, query);
    assert_int_equal(bed_u64(&row, "KernelsLaunched"), 10);
    assert_int_equal(bed_u64(&row, "GroupsDispatched"), 30);
    EXPECT_OK(zetMetricQueryReset(query));
    bed_pool_drop(pool, &query, 1);
    for (int i = 0; i < 3; i++)
        EXPECT_OK(zeCommandListDestroy(lists[i]));
    EXPECT_OK(zeKernelDestroy(count));
    EXPECT_OK(zeMemFree(bed->context, counter));
    EXPECT_OK(zeCommandQueueDestroy(queue));
}

/* A kernel that faults inside of a query: the query says so, and is whole again after a reset.
 * Rule 12.20. */
static void fault__inside__query_is_lost_until_it_is_reset(void **state)
{
    const struct bed *bed = *state;
    const ze_group_count_t one = {1, 1, 1};
    ze_command_queue_handle_t queue = bed_queue(bed);
    ze_command_list_handle_t list = bed_list(bed), good = bed_list(bed);
    uint32_t *counter = bed_memory(bed, 64);
    ze_kernel_handle_t wild = bed_kernel(bed, "wild"), count = bed_count(bed, counter);
    zet_metric_query_pool_handle_t pool = bed_pool(bed, bed->compute, 1);
    zet_metric_query_handle_t query = bed_query(pool, 0);
    struct bed_row row;
    uint8_t raw[1024];
    size_t bytes = sizeof(raw);

    EXPECT_OK(zeKernelSetGroupSize(wild, 1, 1, 1));
    bed_begin(list, query);
    EXPECT_OK(zeCommandListAppendLaunchKernel(list, wild, &one, NULL, 0, NULL));
    bed_end(list, query, NULL);
    EXPECT_OK(zeCommandListClose(list));
    EXPECT_OK(zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL));
    EXPECT_RESULT(zeCommandQueueSynchronize(queue, UINT64_MAX), ZE_RESULT_ERROR_DEVICE_LOST);
    EXPECT_RESULT(zetMetricQueryGetData(query, &bytes, raw), ZE_RESULT_ERROR_DEVICE_LOST);
    EXPECT_OK(zeCommandQueueDestroy(queue));

    queue = bed_queue(bed);
    EXPECT_OK(zetMetricQueryReset(query));
    bed_begin(good, query);
    bed_count_append(good, count, 2);
    bed_end(good, query, NULL);
    EXPECT_OK(zeCommandListClose(good));
    bed_run(queue, good);
    row = bed_result(bed->compute, query);
    assert_int_equal(bed_u64(&row, "GroupsDispatched"), 2);
    bed_pool_drop(pool, &query, 1);
    EXPECT_OK(zeKernelDestroy(wild));
    EXPECT_OK(zeKernelDestroy(count));
    EXPECT_OK(zeMemFree(bed->context, counter));
    EXPECT_OK(zeCommandListDestroy(list));
    EXPECT_OK(zeCommandListDestroy(good));
    EXPECT_OK(zeCommandQueueDestroy(queue));
}

SUITE(work)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matmul__in_every_kind_of_list__closed_formulas_hold),
        cmocka_unit_test(clocks__around_work_and_nothing__make_sense),
        cmocka_unit_test(times__of_a_query__enclose_those_of_the_kernel),
        cmocka_unit_test(launches__one_query_each__add_up_to_the_one_around_all),
        cmocka_unit_test(groups__of_both_units__count_the_same_work),
        cmocka_unit_test(begin_and_end__in_lists_of_one_queue__count_what_ran_between),
        cmocka_unit_test(fault__inside__query_is_lost_until_it_is_reset),
    };

    return cmocka_run_group_tests(tests, bed_setup, bed_teardown);
}
