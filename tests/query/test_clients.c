/*
 * Queries as existing programs use them: pools of the sizes that they have, begin and end inserted
 * around every launch by callbacks of API tracing, events that are looked at at once.
 */
#include <stdlib.h>
#include <string.h>

#include "bed.h"
#include "tests/support/suite.h"

/* One pool for a thousand launches, and for each launch an event with its number. */
static void pool__of_the_sizes_in_use__one_query_is_one_report(void **state)
{
    static const uint32_t sizes[] = {1, 1000, 1024};
    const struct bed *bed = *state;
    ze_command_queue_handle_t queue = bed_queue(bed);
    uint32_t *counter = bed_memory(bed, 64);
    ze_kernel_handle_t count = bed_count(bed, counter);

    for (size_t s = 0; s < 3; s++) {
        const ze_event_pool_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC,
                                           .flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE,
                                           .count = sizes[s]};
        zet_metric_query_pool_handle_t pool = bed_pool(bed, bed->compute, sizes[s]);
        zet_metric_query_handle_t *queries = calloc(sizes[s], sizeof(*queries));
        ze_event_handle_t *events = calloc(sizes[s], sizeof(ze_event_handle_t));
        ze_command_list_handle_t list = bed_list(bed);
        ze_event_pool_handle_t event_pool = NULL;

        EXPECT_OK(zeEventPoolCreate(bed->context, &desc, 0, NULL, &event_pool));
        for (uint32_t i = 0; i < sizes[s]; i++) {
            const ze_event_desc_t event = {.stype = ZE_STRUCTURE_TYPE_EVENT_DESC,
                                           .index = i,
                                           .signal = ZE_EVENT_SCOPE_FLAG_HOST,
                                           .wait = ZE_EVENT_SCOPE_FLAG_HOST};

            EXPECT_OK(zeEventCreate(event_pool, &event, &events[i]));
            queries[i] = bed_query(pool, i);
            EXPECT_RESULT(zeEventQueryStatus(events[i]), ZE_RESULT_NOT_READY);
            bed_begin(list, queries[i]);
            bed_count_append(list, count, 1 + i % 5);
            bed_end(list, queries[i], events[i]);
        }
        EXPECT_OK(zeCommandListClose(list));
        bed_run(queue, list);
        for (uint32_t i = 0; i < sizes[s]; i++) {
            struct bed_row row;

            EXPECT_OK(zeEventQueryStatus(events[i]));
            row = bed_result(bed->compute, queries[i]);
            assert_int_equal(bed_u64(&row, "GroupsDispatched"), 1 + i % 5);
            EXPECT_OK(zeEventHostReset(events[i]));
            EXPECT_RESULT(zeEventQueryStatus(events[i]), ZE_RESULT_NOT_READY);
            EXPECT_OK(zeEventDestroy(events[i]));
        }
        EXPECT_OK(zeCommandListDestroy(list));
        EXPECT_OK(zeEventPoolDestroy(event_pool));
        bed_pool_drop(pool, queries, sizes[s]);
        free(queries);
        free(events);
    }
    EXPECT_OK(zeKernelDestroy(count));
    EXPECT_OK(zeMemFree(bed->context, counter));
    EXPECT_OK(zeCommandQueueDestroy(queue));
}

static void pools__hundreds_of_one_query__all_have_their_result(void **state)
{
    enum { POOLS = 400 };
    const struct bed *bed = *state;
    ze_command_list_handle_t list = bed_immediate(bed, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
    uint32_t *counter = bed_memory(bed, 64);
    ze_kernel_handle_t count = bed_count(bed, counter);
    zet_metric_query_pool_handle_t pools[POOLS];
    zet_metric_query_handle_t queries[POOLS];

    for (uint32_t i = 0; i < POOLS; i++) {
        pools[i] = bed_pool(bed, i % 2 ? bed->compute : bed->dispatch, 1);
        queries[i] = bed_query(pools[i], 0);
        bed_begin(list, queries[i]);
        bed_count_append(list, count, i % 9);
        bed_end(list, queries[i], NULL);
    }
    EXPECT_OK(zeCommandListHostSynchronize(list, UINT64_MAX));
    for (uint32_t i = 0; i < POOLS; i++) {
        struct bed_row row = bed_result(i % 2 ? bed->compute : bed->dispatch, queries[i]);

        assert_int_equal(bed_u64(&row, "GroupsDispatched"), i % 9);
        bed_pool_drop(pools[i], &queries[i], 1);
    }
    EXPECT_OK(zeKernelDestroy(count));
    EXPECT_OK(zeMemFree(bed->context, counter));
    EXPECT_OK(zeCommandListDestroy(list));
}

/* Thousands in flight: many lists, all submitted before anybody waits, executed twice. */
static void thousands__in_flight_over_many_lists__none_is_mixed_up(void **state)
{
    enum { LISTS = 16, EACH = 250 };
    const struct bed *bed = *state;
    ze_command_queue_handle_t queue = bed_queue(bed);
    uint32_t *counter = bed_memory(bed, 64);
    ze_kernel_handle_t count = bed_count(bed, counter);
    zet_metric_query_pool_handle_t pool = bed_pool(bed, bed->dispatch, LISTS * EACH);
    zet_metric_query_handle_t *queries = calloc(LISTS * EACH, sizeof(*queries));
    ze_command_list_handle_t lists[LISTS];

    assert_non_null(queries);
    for (uint32_t l = 0; l < LISTS; l++) {
        lists[l] = bed_list(bed);
        for (uint32_t i = l * EACH; i < (l + 1) * EACH; i++) {
            queries[i] = bed_query(pool, i);
            bed_begin(lists[l], queries[i]);
            bed_count_append(lists[l], count, i % 7);
            bed_end(lists[l], queries[i], NULL);
        }
        EXPECT_OK(zeCommandListClose(lists[l]));
    }
    for (int run = 0; run < 2; run++) {
        EXPECT_OK(zeCommandQueueExecuteCommandLists(queue, LISTS, lists, NULL));
        EXPECT_OK(zeCommandQueueSynchronize(queue, UINT64_MAX));
        for (uint32_t i = 0; i < LISTS * EACH; i += 37) {
            struct bed_row row = bed_result(bed->dispatch, queries[i]);

            assert_int_equal(bed_u64(&row, "GroupsDispatched"), i % 7);
            assert_int_equal(bed_u64(&row, "KernelsLaunched"), 1);
            EXPECT_OK(zetMetricQueryReset(queries[i]));
        }
    }
    for (uint32_t l = 0; l < LISTS; l++)
        EXPECT_OK(zeCommandListDestroy(lists[l]));
    bed_pool_drop(pool, queries, LISTS * EACH);
    free(queries);
    EXPECT_OK(zeKernelDestroy(count));
    EXPECT_OK(zeMemFree(bed->context, counter));
    EXPECT_OK(zeCommandQueueDestroy(queue));
}

/* A profiler inside of the process: callbacks around each launch and copy. */
struct profiler {
    const struct bed *bed;
    zet_metric_query_pool_handle_t pool;
    zet_metric_query_handle_t queries[64];
    uint32_t used;
};

static void begin(struct profiler *profiler, ze_command_list_handle_t list)
{
    profiler->queries[profiler->used] = bed_query(profiler->pool, profiler->used);
    bed_begin(list, profiler->queries[profiler->used]);
}

static void end(struct profiler *profiler, ze_command_list_handle_t list, ze_result_t result)
{
    assert_int_equal(result, ZE_RESULT_SUCCESS);
    bed_end(list, profiler->queries[profiler->used], NULL);
    profiler->used++;
}

static void before_launch(ze_command_list_append_launch_kernel_params_t *params, ze_result_t result,
                          void *user, void **instance)
{
    (void)result;
    (void)instance;
    begin(user, *params->phCommandList);
}

static void after_launch(ze_command_list_append_launch_kernel_params_t *params, ze_result_t result,
                         void *user, void **instance)
{
    (void)instance;
    end(user, *params->phCommandList, result);
}

static void before_copy(ze_command_list_append_memory_copy_params_t *params, ze_result_t result,
                        void *user, void **instance)
{
    (void)result;
    (void)instance;
    begin(user, *params->phCommandList);
}

static void after_copy(ze_command_list_append_memory_copy_params_t *params, ze_result_t result,
                       void *user, void **instance)
{
    (void)instance;
    end(user, *params->phCommandList, result);
}

static zet_tracer_exp_handle_t start_tracer(struct profiler *profiler)
{
    const zet_tracer_exp_desc_t desc = {.stype = ZET_STRUCTURE_TYPE_TRACER_EXP_DESC,
                                        .pUserData = profiler};
    zet_core_callbacks_t before = {.CommandList = {.pfnAppendLaunchKernelCb = before_launch,
                                                   .pfnAppendMemoryCopyCb = before_copy}};
    zet_core_callbacks_t after = {.CommandList = {.pfnAppendLaunchKernelCb = after_launch,
                                                  .pfnAppendMemoryCopyCb = after_copy}};
    zet_tracer_exp_handle_t tracer = NULL;

    EXPECT_OK(zetTracerExpCreate(profiler->bed->context, &desc, &tracer));
    EXPECT_OK(zetTracerExpSetPrologues(tracer, &before));
    EXPECT_OK(zetTracerExpSetEpilogues(tracer, &after));
    EXPECT_OK(zetTracerExpSetEnabled(tracer, 1));
    return tracer;
}

static void profile_lists(const struct bed *bed)
{
    struct profiler profiler = {.bed = bed, .pool = bed_pool(bed, bed->compute, 64)};
    ze_command_queue_handle_t queue = bed_queue(bed);
    ze_command_list_handle_t lists[2] = {bed_list(bed),
                                         bed_immediate(bed, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS)};
    uint32_t *counter = bed_memory(bed, 4096);
    ze_kernel_handle_t count = bed_count(bed, counter);
    zet_tracer_exp_handle_t tracer;

    tracer = start_tracer(&profiler);
    for (int l = 0; l < 2; l++) {
        for (uint32_t i = 0; i < 10; i++)
            bed_count_append(lists[l], count, i);
        EXPECT_OK(zeCommandListAppendMemoryCopy(lists[l], counter + 64, counter + 128, 100, NULL, 0,
                                                NULL));
    }
    EXPECT_OK(zetTracerExpSetEnabled(tracer, 0));
    EXPECT_OK(zetTracerExpDestroy(tracer));
    EXPECT_OK(zeCommandListClose(lists[0]));
    bed_run(queue, lists[0]);
    EXPECT_OK(zeCommandListHostSynchronize(lists[1], UINT64_MAX));

    assert_int_equal(profiler.used, 22);
    for (uint32_t i = 0; i < 22; i++) {
        struct bed_row row = bed_result(bed->compute, profiler.queries[i]);
        const bool copied = i % 11 == 10;

        assert_int_equal(bed_u64(&row, "KernelsLaunched"), !copied);
        assert_int_equal(bed_u64(&row, "GroupsDispatched"), copied ? 0 : i % 11);
        assert_int_equal(bed_u64(&row, "CopyBytes"), copied ? 100 : 0);
    }
    bed_pool_drop(profiler.pool, profiler.queries, 22);
    for (int l = 0; l < 2; l++)
        EXPECT_OK(zeCommandListDestroy(lists[l]));
    EXPECT_OK(zeKernelDestroy(count));
    EXPECT_OK(zeMemFree(bed->context, counter));
    EXPECT_OK(zeCommandQueueDestroy(queue));
}

/* Rule 12.22. */
static void callbacks__around_each_command__queries_in_every_kind_of_list(void **state)
{
    skip_in(HARNESS_WRAPPED, "callbacks get handles of the library, not those of the loader");
    profile_lists(*state);
}

/* A completion event is signalled, and the result there, when the wait for the work returns.
 * Rule 12.22. */
static void event__of_an_end__signalled_when_synchronize_returns(void **state)
{
    const struct bed *bed = *state;
    ze_command_list_handle_t list = bed_immediate(bed, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
    uint32_t *counter = bed_memory(bed, 64);
    ze_kernel_handle_t count = bed_count(bed, counter);
    zet_metric_query_pool_handle_t pool = bed_pool(bed, bed->compute, 1);
    zet_metric_query_handle_t query = bed_query(pool, 0);
    struct test_event done = make_event(bed->context);

    for (uint32_t i = 0; i < 300; i++) {
        struct bed_row row;

        bed_begin(list, query);
        bed_count_append(list, count, i % 20);
        bed_end(list, query, done.event);
        if (i % 2)
            EXPECT_OK(zeEventHostSynchronize(done.event, UINT64_MAX));
        else
            EXPECT_OK(zeCommandListHostSynchronize(list, UINT64_MAX));
        EXPECT_OK(zeEventQueryStatus(done.event));
        row = bed_result(bed->compute, query);
        assert_int_equal(bed_u64(&row, "GroupsDispatched"), i % 20);
        EXPECT_OK(zeEventHostReset(done.event));
        if (i % 3 == 0)
            EXPECT_OK(zetMetricQueryReset(query));
    }
    destroy_event(&done);
    bed_pool_drop(pool, &query, 1);
    EXPECT_OK(zeKernelDestroy(count));
    EXPECT_OK(zeMemFree(bed->context, counter));
    EXPECT_OK(zeCommandListDestroy(list));
}

SUITE(clients)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pool__of_the_sizes_in_use__one_query_is_one_report),
        cmocka_unit_test(pools__hundreds_of_one_query__all_have_their_result),
        cmocka_unit_test(thousands__in_flight_over_many_lists__none_is_mixed_up),
        cmocka_unit_test(callbacks__around_each_command__queries_in_every_kind_of_list),
        cmocka_unit_test(event__of_an_end__signalled_when_synchronize_returns),
    };

    return cmocka_run_group_tests(tests, bed_setup, bed_teardown);
}
