/* Queries from several threads and contexts at once; for the thread sanitizer. */
#include <pthread.h>
#include <stdatomic.h>

#include "tests/query_api/query_bed.h"
#include "tests/support/suite.h"

#define THREADS 4
#define ROUNDS 40
#define QUERIES 8

struct worker {
    const struct harness *h;
    pthread_t thread;
    uint32_t number;
    uint32_t wrong; /**< results that were not what was expected */
};

static void note(struct worker *worker, bool good)
{
    worker->wrong += !good;
}

static bool ok(ze_result_t result)
{
    return result == ZE_RESULT_SUCCESS;
}

/** One query of a thread's own pool, on its own list; its own kernel says how much is counted. */
static void measure(struct worker *worker, ze_command_list_handle_t list,
                    zet_metric_query_handle_t query, ze_kernel_handle_t add,
                    zet_metric_group_handle_t group, uint64_t value)
{
    uint8_t raw[1024];
    size_t bytes = sizeof(raw);
    zet_typed_value_t values[32];
    uint32_t count = 32;

    note(worker, ok(zetCommandListAppendMetricQueryBegin(list, query)));
    note(worker, ok(harness_launch(list, add, NULL, 0, NULL)));
    note(worker, ok(query_bed_append_end(list, query, NULL)));
    note(worker, ok(zeCommandListHostSynchronize(list, UINT64_MAX)));
    note(worker, ok(zetMetricQueryGetData(query, &bytes, raw)));
    note(worker,
         ok(zetMetricGroupCalculateMetricValues(
             group, ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES, bytes, raw, &count, values)));
    note(worker, values[0].value.ui64 == 1 && values[1].value.ui64 == value);
    note(worker, ok(zetMetricQueryReset(query)));
}

static void *own_pools(void *context)
{
    struct worker *worker = context;
    const ze_context_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    struct harness own = *worker->h;
    zet_metric_group_handle_t group = query_bed_group(&own, "Work", EVENT_BASED);
    uint64_t *target;
    ze_kernel_handle_t add;

    note(worker, ok(zeContextCreate(own.driver, &desc, &own.context)));
    target = harness_memory(worker->h, sizeof(*target));
    add = harness_add_kernel(worker->h, target, worker->number + 10);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        zet_metric_query_pool_handle_t pool = query_bed_pool(&own, QUERIES);
        ze_command_list_handle_t list =
            harness_immediate(worker->h, round % 2 ? ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS
                                                   : ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
        zet_metric_query_handle_t query = query_bed_query(pool, round % QUERIES);

        measure(worker, list, query, add, group, worker->number + 10);
        note(worker, ok(zeCommandListDestroy(list)));
        query_bed_drop(pool, &query, 1);
    }
    note(worker, ok(zeKernelDestroy(add)));
    note(worker, ok(zeMemFree(worker->h->context, target)));
    note(worker, ok(zeContextDestroy(own.context)));
    return NULL;
}

static void run(const struct harness *h, void *(*function)(void *), struct worker *workers)
{
    for (uint32_t i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){.h = h, .number = i};
        assert_int_equal(pthread_create(&workers[i].thread, NULL, function, &workers[i]), 0);
    }
    for (uint32_t i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
        assert_int_equal(workers[i].wrong, 0);
    }
}

static void threads__pools_and_contexts_of_their_own__exact_values(void **state)
{
    struct worker workers[THREADS];

    run(*state, own_pools, workers);
}

static zet_metric_query_pool_handle_t shared_pool;
static _Atomic uint32_t made[QUERIES];

/** All threads want the same places: one at a time gets each. */
static void *same_places(void *context)
{
    struct worker *worker = context;

    for (uint32_t round = 0; round < ROUNDS * 20; round++) {
        uint32_t index = (round + worker->number) % QUERIES;
        zet_metric_query_handle_t query = NULL;
        ze_result_t result = zetMetricQueryCreate(shared_pool, index, &query);

        if (result == ZE_RESULT_ERROR_INVALID_ARGUMENT)
            continue;
        note(worker, ok(result));
        note(worker, atomic_fetch_add(&made[index], 1) == 0);
        note(worker, ok(zetMetricQueryReset(query)));
        atomic_fetch_sub(&made[index], 1);
        note(worker, ok(zetMetricQueryDestroy(query)));
    }
    return NULL;
}

/* Rule 12.5. */
static void threads__same_places_of_a_pool__one_at_a_time(void **state)
{
    const struct harness *h = *state;
    struct worker workers[THREADS];

    shared_pool = query_bed_pool(h, QUERIES);
    run(h, same_places, workers);
    assert_success(zetMetricQueryPoolDestroy(shared_pool));
}

static zet_metric_query_handle_t shared_query;
static atomic_bool over;

/** GetData may be called beside everything: it sees no result or a whole one. */
static void *read_shared(void *context)
{
    struct worker *worker = context;
    zet_metric_group_handle_t group = query_bed_group(worker->h, "Work", EVENT_BASED);

    while (!atomic_load(&over)) {
        zet_typed_value_t values[32];
        uint8_t raw[1024];
        size_t bytes = sizeof(raw);
        uint32_t count = 32;
        ze_result_t result = zetMetricQueryGetData(shared_query, &bytes, raw);

        if (result == ZE_RESULT_NOT_READY)
            continue;
        note(worker, ok(result));
        note(worker, ok(zetMetricGroupCalculateMetricValues(
                         group, ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES, bytes, raw, &count,
                         values)));
        note(worker, values[1].value.ui64 == 3 * values[0].value.ui64);
    }
    return NULL;
}

/* Rule 12.10. */
static void threads__read_while_it_runs_again__nothing_or_all(void **state)
{
    const struct harness *h = *state;
    zet_metric_query_pool_handle_t pool = query_bed_pool(h, 1);
    ze_command_list_handle_t list = harness_immediate(h, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
    uint64_t *target = harness_memory(h, sizeof(*target));
    ze_kernel_handle_t add = harness_add_kernel(h, target, 3);
    struct worker workers[2];

    shared_query = query_bed_query(pool, 0);
    atomic_store(&over, false);
    for (uint32_t i = 0; i < 2; i++) {
        workers[i] = (struct worker){.h = h, .number = i};
        assert_int_equal(pthread_create(&workers[i].thread, NULL, read_shared, &workers[i]), 0);
    }
    for (uint32_t round = 0; round < ROUNDS; round++) {
        assert_success(zetCommandListAppendMetricQueryBegin(list, shared_query));
        for (uint32_t i = 0; i <= round % 4; i++)
            assert_success(harness_launch(list, add, NULL, 0, NULL));
        assert_success(query_bed_append_end(list, shared_query, NULL));
        assert_success(zeCommandListHostSynchronize(list, UINT64_MAX));
    }
    atomic_store(&over, true);
    for (uint32_t i = 0; i < 2; i++) {
        assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
        assert_int_equal(workers[i].wrong, 0);
    }
    assert_success(zeCommandListDestroy(list));
    query_bed_drop(pool, &shared_query, 1);
    assert_success(zeKernelDestroy(add));
    assert_success(zeMemFree(h->context, target));
}

/** Activates this and that; what a query needs is dropped only when nothing is in flight. */
static void *activate(void *context)
{
    struct worker *worker = context;
    const struct harness *h = worker->h;
    zet_metric_group_handle_t groups[2] = {query_bed_group(h, "Work", EVENT_BASED),
                                           query_bed_group(h, "Plain", EVENT_BASED)};

    for (uint32_t i = 0; !atomic_load(&over); i++) {
        ze_result_t result =
            zetContextActivateMetricGroups(h->context, h->device, 1, &groups[i % 2]);

        note(worker, ok(result) || result == ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    }
    return NULL;
}

static void threads__activation_beside_queries__results_or_not_ready(void **state)
{
    const struct harness *h = *state;
    zet_metric_query_pool_handle_t pool = query_bed_pool(h, 1);
    zet_metric_query_handle_t query = query_bed_query(pool, 0);
    ze_command_list_handle_t list = harness_immediate(h, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
    struct worker worker = {.h = h};
    uint32_t measured = 0;

    atomic_store(&over, false);
    assert_int_equal(pthread_create(&worker.thread, NULL, activate, &worker), 0);
    for (uint32_t round = 0; measured < ROUNDS && round < 1000000; round++) {
        ze_result_t result = zetCommandListAppendMetricQueryBegin(list, query);

        if (result == ZE_RESULT_NOT_READY)
            continue;
        assert_int_equal(result, ZE_RESULT_SUCCESS);
        assert_success(query_bed_append_end(list, query, NULL));
        assert_success(zeCommandListHostSynchronize(list, UINT64_MAX));
        assert_int_equal(query_bed_value(h, query, "Launches"), 0);
        measured++;
    }
    atomic_store(&over, true);
    assert_int_equal(pthread_join(worker.thread, NULL), 0);
    assert_int_equal(worker.wrong, 0);
    assert_int_equal(measured, ROUNDS);
    assert_success(zeCommandListDestroy(list));
    query_bed_drop(pool, &query, 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, query_bed_begin, query_bed_end)

SUITE(query_race)
{
    const struct CMUnitTest tests[] = {
        TEST(threads__pools_and_contexts_of_their_own__exact_values),
        TEST(threads__same_places_of_a_pool__one_at_a_time),
        TEST(threads__read_while_it_runs_again__nothing_or_all),
        TEST(threads__activation_beside_queries__results_or_not_ready),
    };

    return cmocka_run_group_tests(tests, query_bed_setup, query_bed_teardown);
}
