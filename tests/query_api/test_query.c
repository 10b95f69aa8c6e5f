/* Query pools and queries as objects: making, destroying, what is refused. */
#include "tests/query_api/query_bed.h"
#include "tests/support/suite.h"

static zet_metric_query_pool_desc_t desc_of(zet_metric_query_pool_type_t type, uint32_t count)
{
    return (zet_metric_query_pool_desc_t){
        .stype = ZET_STRUCTURE_TYPE_METRIC_QUERY_POOL_DESC, .type = type, .count = count};
}

/* Rule 12.1. */
static void groups__device_with_queries__one_per_sampling_type_time_based_first(void **state)
{
    const struct harness *h = *state;
    zet_metric_group_handle_t groups[32];
    uint32_t count = 32;
    uint32_t events = 0;

    assert_success(zetMetricGroupGet(h->device, &count, groups));
    for (uint32_t i = 0; i < count; i++) {
        zet_metric_group_properties_t properties = {.stype =
                                                        ZET_STRUCTURE_TYPE_METRIC_GROUP_PROPERTIES};

        assert_success(zetMetricGroupGetProperties(groups[i], &properties));
        if (properties.samplingType == EVENT_BASED)
            events++;
        else
            assert_int_equal(events, 0);
    }
    assert_int_equal(events, 5);
}

/* Rule 12.4. */
static void pool_create__bad_arguments__refused(void **state)
{
    const struct harness *h = *state;
    struct harness root = query_bed_root(h);
    zet_metric_group_handle_t work = query_bed_group(h, "Work", EVENT_BASED);
    zet_metric_group_handle_t streamed = query_bed_group(h, "Work", TIME_BASED);
    zet_metric_query_pool_desc_t desc = desc_of(PERFORMANCE, 1);
    zet_metric_query_pool_desc_t none = desc_of(PERFORMANCE, 0);
    zet_metric_query_pool_handle_t pool = NULL;

    assert_result(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                  zetMetricQueryPoolCreate(h->context, root.device, work, &desc, &pool));
    assert_result(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                  zetMetricQueryPoolCreate(h->context, h->device, streamed, &desc, &pool));
    assert_result(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                  zetMetricQueryPoolCreate(h->context, h->device, work, &none, &pool));
    assert_null(pool);
}

static void pool_create__null_and_wrong_enum__documented_results(void **state)
{
    skip_in(HARNESS_READS_HANDLES, "the loader looks behind handles");
    const struct harness *h = *state;
    zet_metric_group_handle_t work = query_bed_group(h, "Work", EVENT_BASED);
    zet_metric_query_pool_desc_t desc = desc_of(PERFORMANCE, 1);
    zet_metric_query_pool_desc_t wrong = desc_of((zet_metric_query_pool_type_t)2, 1);
    zet_metric_query_pool_handle_t pool = NULL;

    assert_result(ZE_RESULT_ERROR_INVALID_NULL_HANDLE,
                  zetMetricQueryPoolCreate(NULL, h->device, work, &desc, &pool));
    assert_result(ZE_RESULT_ERROR_INVALID_NULL_HANDLE,
                  zetMetricQueryPoolCreate(h->context, NULL, work, &desc, &pool));
    assert_result(ZE_RESULT_ERROR_INVALID_NULL_HANDLE,
                  zetMetricQueryPoolCreate(h->context, h->device, NULL, &desc, &pool));
    assert_result(ZE_RESULT_ERROR_INVALID_NULL_POINTER,
                  zetMetricQueryPoolCreate(h->context, h->device, work, NULL, &pool));
    assert_result(ZE_RESULT_ERROR_INVALID_NULL_POINTER,
                  zetMetricQueryPoolCreate(h->context, h->device, work, &desc, NULL));
    assert_result(ZE_RESULT_ERROR_INVALID_ENUMERATION,
                  zetMetricQueryPoolCreate(h->context, h->device, work, &wrong, &pool));
    assert_result(ZE_RESULT_ERROR_INVALID_NULL_HANDLE, zetMetricQueryPoolDestroy(NULL));
    assert_null(pool);
}

/* Rule 12.4. */
static void pool_create__backend_refuses__its_result(void **state)
{
    const struct harness *h = *state;
    zet_metric_query_pool_desc_t desc = desc_of(PERFORMANCE, 1);
    zet_metric_query_pool_handle_t pool = NULL;

    h->control->refuse_pools(ZE_RESULT_ERROR_NOT_AVAILABLE);
    assert_result(ZE_RESULT_ERROR_NOT_AVAILABLE,
                  zetMetricQueryPoolCreate(h->context, h->device,
                                           query_bed_group(h, "Work", EVENT_BASED), &desc, &pool));
    assert_null(pool);
    h->control->refuse_pools(0);
    pool = query_bed_pool(h, 1);
    query_bed_drop(pool, NULL, 0);
}

/* Rule 12.4. */
static void pool_create__group_not_active__works(void **state)
{
    const struct harness *h = *state;
    zet_metric_query_pool_handle_t pool;

    query_bed_activate(h, NULL);
    pool = query_bed_pool(h, 3);
    query_bed_drop(pool, NULL, 0);
}

/* Rule 12.4. */
static void pools__many_of_one_group__side_by_side(void **state)
{
    const struct harness *h = *state;
    zet_metric_query_pool_handle_t pools[200];
    zet_metric_query_handle_t queries[200];

    for (uint32_t i = 0; i < 200; i++) {
        pools[i] = query_bed_pool_of(h, "Work", i % 2 ? EXECUTION : PERFORMANCE, 1);
        queries[i] = query_bed_query(pools[i], 0);
    }
    assert_int_equal(h->control->live_pools(), 200);
    for (uint32_t i = 0; i < 200; i++)
        query_bed_drop(pools[i], &queries[i], 1);
    assert_int_equal(h->control->live_pools(), 0);
}

/* Rule 12.4. */
static void pool__context_destroyed__stays_usable(void **state)
{
    skip_in(HARNESS_VALIDATION, "the layer counts what was made in a context");
    const struct harness *h = *state;
    const ze_context_desc_t context = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    struct harness own = *h;
    zet_metric_query_pool_handle_t pool;
    zet_metric_query_handle_t query;
    ze_command_list_handle_t list;

    assert_success(zeContextCreate(h->driver, &context, &own.context));
    pool = query_bed_pool(&own, 2);
    query = query_bed_query(pool, 1);
    assert_success(zeContextDestroy(own.context));
    list = harness_list(h);
    query_bed_append(h, list, query, NULL);
    query_bed_run(h, list);
    assert_int_equal(query_bed_value(h, query, "Launches"), 0);
    assert_success(zeCommandListDestroy(list));
    query_bed_drop(pool, &query, 1);
}

/* Rule 12.5. */
static void pool_destroy__queries_alive__in_use(void **state)
{
    const struct harness *h = *state;
    zet_metric_query_pool_handle_t pool = query_bed_pool(h, 2);
    zet_metric_query_handle_t query = query_bed_query(pool, 1);

    assert_result(ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE, zetMetricQueryPoolDestroy(pool));
    query_bed_drop(pool, &query, 1);
}

/* Rule 12.5. */
static void pool_destroy__list_names_its_query__list_still_runs(void **state)
{
    const struct harness *h = *state;
    zet_metric_query_pool_handle_t pool = query_bed_pool(h, 1);
    zet_metric_query_handle_t query = query_bed_query(pool, 0);
    ze_command_list_handle_t list = harness_list(h);

    query_bed_append(h, list, query, NULL);
    query_bed_drop(pool, &query, 1);
    assert_int_equal(h->control->live_pools(), 1);
    query_bed_run(h, list);
    assert_success(zeCommandListDestroy(list));
    assert_int_equal(h->control->live_pools(), 0);
}

/* Rule 12.5. */
static void query_create__bad_index_or_taken_place__invalid_argument(void **state)
{
    const struct harness *h = *state;
    zet_metric_query_pool_handle_t pool = query_bed_pool(h, 2);
    zet_metric_query_handle_t query = query_bed_query(pool, 1);
    zet_metric_query_handle_t second = NULL;

    assert_result(ZE_RESULT_ERROR_INVALID_ARGUMENT, zetMetricQueryCreate(pool, 2, &second));
    assert_result(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                  zetMetricQueryCreate(pool, UINT32_MAX, &second));
    assert_result(ZE_RESULT_ERROR_INVALID_ARGUMENT, zetMetricQueryCreate(pool, 1, &second));
    assert_null(second);
    assert_success(zetMetricQueryDestroy(query));
    assert_success(zetMetricQueryCreate(pool, 1, &second));
    query_bed_drop(pool, &second, 1);
}

static void query_create__null__documented_results(void **state)
{
    skip_in(HARNESS_READS_HANDLES, "the loader looks behind handles");
    const struct harness *h = *state;
    zet_metric_query_pool_handle_t pool = query_bed_pool(h, 1);
    zet_metric_query_handle_t query = NULL;

    assert_result(ZE_RESULT_ERROR_INVALID_NULL_HANDLE, zetMetricQueryCreate(NULL, 0, &query));
    assert_result(ZE_RESULT_ERROR_INVALID_NULL_POINTER, zetMetricQueryCreate(pool, 0, NULL));
    assert_result(ZE_RESULT_ERROR_INVALID_NULL_HANDLE, zetMetricQueryDestroy(NULL));
    assert_result(ZE_RESULT_ERROR_INVALID_NULL_HANDLE, zetMetricQueryReset(NULL));
    query_bed_drop(pool, NULL, 0);
}

static void handles__destroyed__refused_everywhere(void **state)
{
    skip_in(HARNESS_READS_HANDLES | HARNESS_VALIDATION, "a loader looks behind the handle");
    const struct harness *h = *state;
    zet_metric_query_pool_handle_t pool = query_bed_pool(h, 1);
    zet_metric_query_handle_t query = query_bed_query(pool, 0);
    zet_metric_query_handle_t made = NULL;
    ze_command_list_handle_t list = harness_list(h);
    size_t bytes = 0;

    query_bed_drop(pool, &query, 1);
    assert_result(ZE_RESULT_ERROR_INVALID_NULL_HANDLE, zetMetricQueryCreate(pool, 0, &made));
    assert_result(ZE_RESULT_ERROR_INVALID_NULL_HANDLE, zetMetricQueryPoolDestroy(pool));
    assert_result(ZE_RESULT_ERROR_INVALID_NULL_HANDLE, zetMetricQueryDestroy(query));
    assert_result(ZE_RESULT_ERROR_INVALID_NULL_HANDLE, zetMetricQueryReset(query));
    assert_result(ZE_RESULT_ERROR_INVALID_NULL_HANDLE, zetMetricQueryGetData(query, &bytes, NULL));
    assert_result(ZE_RESULT_ERROR_INVALID_NULL_HANDLE,
                  zetCommandListAppendMetricQueryBegin(list, query));
    assert_result(ZE_RESULT_ERROR_INVALID_NULL_HANDLE, query_bed_append_end(list, query, NULL));
    assert_success(zeCommandListDestroy(list));
}

static void reset__backend_fails__its_result(void **state)
{
    const struct harness *h = *state;
    zet_metric_query_pool_handle_t pool = query_bed_pool(h, 1);
    zet_metric_query_handle_t query = query_bed_query(pool, 0);

    h->control->refuse_queries(ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY);
    assert_result(ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, zetMetricQueryReset(query));
    h->control->refuse_queries(0);
    assert_success(zetMetricQueryReset(query));
    query_bed_drop(pool, &query, 1);
}

/* What still runs is in use; work whose last event is signalled is over but for the report.
 * Rule 12.6. */
static void in_flight__reset_and_destroy__wait_for_the_work(void **state)
{
    const struct harness *h = *state;
    zet_metric_query_pool_handle_t pool = query_bed_pool(h, 1);
    zet_metric_query_handle_t query = query_bed_query(pool, 0);
    ze_kernel_handle_t hold = harness_kernel(h, "hold");
    ze_command_list_handle_t list = harness_immediate(h, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);

    query_bed_append(h, list, query, hold);
    harness_wait_holding(h, 1);
    assert_result(ZE_RESULT_NOT_READY, zetMetricQueryReset(query));
    assert_result(ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE, zetMetricQueryDestroy(query));
    h->control->release();
    assert_success(zeCommandListHostSynchronize(list, UINT64_MAX));
    assert_success(zetMetricQueryReset(query));
    query_bed_drop(pool, &query, 1);
    assert_success(zeCommandListDestroy(list));
    assert_success(zeKernelDestroy(hold));
}

/* Rule 12.6. */
static void in_flight__report_comes_late__reset_and_destroy_work(void **state)
{
    const struct harness *h = *state;
    ze_event_pool_handle_t events = harness_pool(h, ZE_EVENT_POOL_FLAG_HOST_VISIBLE, 1);
    ze_event_handle_t event = harness_event(events, 0);
    zet_metric_query_pool_handle_t pool = query_bed_pool(h, 1);
    zet_metric_query_handle_t query = query_bed_query(pool, 0);
    ze_command_list_handle_t list = harness_immediate(h, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);

    h->control->set_late(800);
    assert_success(zetCommandListAppendMetricQueryBegin(list, query));
    assert_success(query_bed_append_end(list, query, event));
    assert_success(zeEventHostSynchronize(event, UINT64_MAX));
    assert_int_equal(query_bed_value(h, query, "Launches"), 0);
    assert_success(zetMetricQueryReset(query));
    query_bed_drop(pool, &query, 1);
    h->control->set_late(0);
    assert_success(zeCommandListHostSynchronize(list, UINT64_MAX));
    assert_success(zeCommandListDestroy(list));
    assert_success(zeEventDestroy(event));
    assert_success(zeEventPoolDestroy(events));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, query_bed_begin, query_bed_end)

SUITE(query)
{
    const struct CMUnitTest tests[] = {
        TEST(groups__device_with_queries__one_per_sampling_type_time_based_first),
        TEST(pool_create__bad_arguments__refused),
        TEST(pool_create__null_and_wrong_enum__documented_results),
        TEST(pool_create__backend_refuses__its_result),
        TEST(pool_create__group_not_active__works),
        TEST(pools__many_of_one_group__side_by_side),
        TEST(pool__context_destroyed__stays_usable),
        TEST(pool_destroy__queries_alive__in_use),
        TEST(pool_destroy__list_names_its_query__list_still_runs),
        TEST(query_create__bad_index_or_taken_place__invalid_argument),
        TEST(query_create__null__documented_results),
        TEST(handles__destroyed__refused_everywhere),
        TEST(reset__backend_fails__its_result),
        TEST(in_flight__reset_and_destroy__wait_for_the_work),
        TEST(in_flight__report_comes_late__reset_and_destroy_work),
    };

    return cmocka_run_group_tests(tests, query_bed_setup, query_bed_teardown);
}
