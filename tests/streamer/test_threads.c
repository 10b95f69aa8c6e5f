/*
 * Threads that do everything with the metrics of one device at the same time. Whatever they meet,
 * results are those that the rules allow, and afterwards nothing is left in use. For sanitizers.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "streaming.h"
#include "tests/sanitizer.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

enum { RAW_BYTES = 1 << 16, MOST_RESULTS = 6 };

#define ROUNDS (HAVE_THREAD_SANITIZER ? 150u : 1000u)
#define TRACER_BASED ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EXP_TRACER_BASED
#define IN_USE ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE
#define GONE ZE_RESULT_ERROR_INVALID_NULL_HANDLE
#define OFF ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE
#define DROPPED ZE_RESULT_WARNING_DROPPED_DATA

/** What the threads share. They note results; only what cannot fail is asserted in them. */
struct shared {
    const struct bed *bed;
    zet_metric_group_handle_t compute, memory, dispatch, query, events;
    zet_metric_programmable_exp_handle_t programmable;
    _Atomic(zet_metric_streamer_handle_t) streamer; /**< that anybody may use and close */
    _Atomic bool stop;
    _Atomic uint32_t wrong;
    _Atomic ze_result_t first_wrong;
    _Atomic uint32_t done; /**< calls that did something */
};

/** Notes a result that is none of these (up to ZE_RESULT_FORCE_UINT32). */
static bool note(struct shared *shared, ze_result_t got, const ze_result_t allowed[MOST_RESULTS])
{
    for (uint32_t i = 0; i < MOST_RESULTS && allowed[i] != ZE_RESULT_FORCE_UINT32; i++) {
        if (got == allowed[i]) {
            atomic_fetch_add(&shared->done, got == ZE_RESULT_SUCCESS);
            return got == ZE_RESULT_SUCCESS;
        }
    }
    if (atomic_fetch_add(&shared->wrong, 1) == 0)
        atomic_store(&shared->first_wrong, got);
    return false;
}

#define ALLOW(...) ((const ze_result_t[MOST_RESULTS]){__VA_ARGS__, ZE_RESULT_FORCE_UINT32})

static void *activate(void *argument)
{
    struct shared *shared = argument;
    const struct bed *bed = shared->bed;

    for (uint32_t i = 0; !atomic_load(&shared->stop); i++) {
        zet_metric_group_handle_t groups[3] = {i % 5 == 4 ? shared->memory : shared->compute,
                                               i % 3 == 2 ? shared->query : shared->dispatch,
                                               shared->events};

        (void)note(shared,
                   zetContextActivateMetricGroups(bed->context, bed->device, 1 + i % 3, groups),
                   ALLOW(ZE_RESULT_SUCCESS, IN_USE, OFF));
        if (i % 7 == 6)
            (void)note(shared, zetContextActivateMetricGroups(bed->context, bed->device, 0, NULL),
                       ALLOW(ZE_RESULT_SUCCESS));
        if (i % 11 == 10)
            (void)note(shared, zetDeviceDisableMetricsExp(bed->device),
                       ALLOW(ZE_RESULT_SUCCESS, IN_USE));
        (void)note(shared, zetDeviceEnableMetricsExp(bed->device), ALLOW(ZE_RESULT_SUCCESS));
    }
    return NULL;
}

static void *open_and_close(void *argument)
{
    struct shared *shared = argument;
    const struct bed *bed = shared->bed;

    for (uint32_t i = 0; i < ROUNDS; i++) {
        zet_metric_streamer_desc_t desc = {.stype = ZET_STRUCTURE_TYPE_METRIC_STREAMER_DESC,
                                           .notifyEveryNReports = 10,
                                           .samplingPeriod = 50000};
        zet_metric_streamer_handle_t made = NULL, before;
        ze_context_handle_t context = make_context(bed->device);

        if (note(shared,
                 zetMetricStreamerOpen(context, bed->device,
                                       i % 2 ? shared->compute : shared->dispatch, &desc, NULL,
                                       &made),
                 ALLOW(ZE_RESULT_SUCCESS, ZE_RESULT_NOT_READY, IN_USE))) {
            before = atomic_exchange(&shared->streamer, made);
            if (before)
                (void)note(shared, zetMetricStreamerClose(before), ALLOW(ZE_RESULT_SUCCESS, GONE));
        }
        (void)note(shared, zeContextDestroy(context), ALLOW(ZE_RESULT_SUCCESS));
    }
    return NULL;
}

static void *read_and_calculate(void *argument)
{
    struct shared *shared = argument;
    uint8_t *raw = malloc(RAW_BYTES);
    zet_typed_value_t *values = calloc(RAW_BYTES / 4, sizeof(*values));

    for (uint32_t i = 0; raw && values && !atomic_load(&shared->stop); i++) {
        zet_metric_streamer_handle_t streamer = atomic_load(&shared->streamer);
        uint32_t count = RAW_BYTES / 4;
        size_t size = RAW_BYTES;

        if (!streamer)
            continue;
        if (i % 50 == 49)
            (void)note(shared, zetMetricStreamerClose(streamer), ALLOW(ZE_RESULT_SUCCESS, GONE));
        else if (note(shared, zetMetricStreamerReadData(streamer, UINT32_MAX, &size, raw),
                      ALLOW(ZE_RESULT_SUCCESS, DROPPED, GONE)) &&
                 size > 0)
            (void)note(shared,
                       zetMetricGroupCalculateMetricValues(
                           shared->compute, ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES, size,
                           raw, &count, values),
                       ALLOW(ZE_RESULT_SUCCESS, DROPPED));
    }
    free(values);
    free(raw);
    return NULL;
}

static void *query_and_mark(void *argument)
{
    struct shared *shared = argument;
    const struct bed *bed = shared->bed;
    ze_command_list_handle_t list = bed_immediate(bed, ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
    uint32_t *counter = bed_memory(bed, 64);
    ze_kernel_handle_t kernel = bed_count(bed, counter);

    for (uint32_t i = 0; i < ROUNDS; i++) {
        zet_metric_query_pool_handle_t pool = bed_pool(bed, shared->query, 4);
        zet_metric_query_handle_t query = bed_query(pool, i % 4);
        uint8_t raw[4096];
        size_t size = sizeof(raw);

        if (note(shared, zetCommandListAppendMetricQueryBegin(list, query),
                 ALLOW(ZE_RESULT_SUCCESS, ZE_RESULT_NOT_READY))) {
            bed_count_append(list, kernel, 2);
            bed_end(list, query, NULL);
            (void)note(shared, zetMetricQueryGetData(query, &size, raw), ALLOW(ZE_RESULT_SUCCESS));
        }
        (void)note(shared, zetCommandListAppendMarkerExp(list, shared->compute, i),
                   ALLOW(ZE_RESULT_SUCCESS));
        bed_pool_drop(pool, &query, 1);
    }
    EXPECT_OK(zeKernelDestroy(kernel));
    EXPECT_OK(zeCommandListDestroy(list));
    EXPECT_OK(zeMemFree(bed->context, counter));
    return NULL;
}

static void *trace(void *argument)
{
    struct shared *shared = argument;
    const struct bed *bed = shared->bed;
    uint8_t *raw = malloc(RAW_BYTES);

    for (uint32_t i = 0; raw && i < ROUNDS; i++) {
        zet_metric_tracer_exp_desc_t desc = {.stype = ZET_STRUCTURE_TYPE_METRIC_TRACER_EXP_DESC};
        zet_metric_tracer_exp_handle_t tracer = NULL;
        size_t size = RAW_BYTES;

        if (!note(shared,
                  zetMetricTracerCreateExp(bed->context, bed->device, 1, &shared->events, &desc,
                                           NULL, &tracer),
                  ALLOW(ZE_RESULT_SUCCESS, ZE_RESULT_NOT_READY)))
            continue;
        (void)note(shared, zetMetricTracerEnableExp(tracer, i % 2),
                   ALLOW(ZE_RESULT_SUCCESS, ZE_RESULT_NOT_READY));
        (void)note(shared, zetMetricTracerReadDataExp(tracer, &size, raw),
                   ALLOW(ZE_RESULT_SUCCESS, ZE_RESULT_NOT_READY, DROPPED));
        (void)note(shared, zetMetricTracerDisableExp(tracer, i % 2), ALLOW(ZE_RESULT_SUCCESS));
        (void)note(shared, zetMetricTracerDestroyExp(tracer), ALLOW(ZE_RESULT_SUCCESS));
    }
    free(raw);
    return NULL;
}

static void *make_own(void *argument)
{
    struct shared *shared = argument;
    const struct bed *bed = shared->bed;

    for (uint32_t i = 0; i < ROUNDS; i++) {
        zet_metric_handle_t metric = NULL;
        zet_metric_group_handle_t group = NULL;
        uint32_t count = 1;

        if (!note(shared,
                  zetMetricCreateFromProgrammableExp2(shared->programmable, 0, NULL, "Own", "own",
                                                      &count, &metric),
                  ALLOW(ZE_RESULT_SUCCESS)))
            continue;
        count = 1;
        if (note(shared,
                 zetDeviceCreateMetricGroupsFromMetricsExp(bed->device, 1, &metric, "own", "own",
                                                           &count, &group),
                 ALLOW(ZE_RESULT_SUCCESS))) {
            (void)note(shared, zetContextActivateMetricGroups(bed->context, bed->device, 1, &group),
                       ALLOW(ZE_RESULT_SUCCESS, IN_USE, OFF));
            while (zetMetricGroupDestroyExp(group) == IN_USE)
                (void)zetContextActivateMetricGroups(bed->context, bed->device, 0, NULL);
        }
        (void)note(shared, zetMetricDestroyExp(metric), ALLOW(ZE_RESULT_SUCCESS));
    }
    return NULL;
}

static void everything__from_several_threads__keeps_the_rules(void **state)
{
    static void *(*const bounded[])(void *) = {open_and_close, query_and_mark, trace, make_own};
    static void *(*const endless[])(void *) = {activate, read_and_calculate};
    static struct shared shared;
    const struct bed *bed = *state;
    pthread_t first[4], second[2];
    uint32_t count = 1;

    shared.bed = bed;
    shared.compute = find_group(bed->device, "ComputeBasic", TIME_BASED, NULL);
    shared.memory = find_group(bed->device, "MemoryProfile", TIME_BASED, NULL);
    shared.dispatch = find_group(bed->device, "ThreadDispatch", TIME_BASED, NULL);
    shared.query = find_group(bed->device, "ThreadDispatch", EVENT_BASED, NULL);
    shared.events = find_group(bed->device, "KernelEvents", TRACER_BASED, NULL);
    EXPECT_OK(zetMetricProgrammableGetExp(bed->device, &count, &shared.programmable));
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&first[i], NULL, bounded[i], &shared), 0);
    for (uint32_t i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&second[i], NULL, endless[i], &shared), 0);
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(pthread_join(first[i], NULL), 0);
    atomic_store(&shared.stop, true);
    for (uint32_t i = 0; i < 2; i++)
        assert_int_equal(pthread_join(second[i], NULL), 0);
    if (atomic_load(&shared.wrong) > 0)
        fail_msg("%u results that no rule allows, the first is 0x%08x", atomic_load(&shared.wrong),
                 (unsigned)atomic_load(&shared.first_wrong));
    assert_cmp(atomic_load(&shared.done), >, 10 * ROUNDS);
    EXPECT_OK(zetContextActivateMetricGroups(bed->context, bed->device, 0, NULL));
    (void)zetMetricStreamerClose(atomic_load(&shared.streamer));
    EXPECT_OK(zetDeviceDisableMetricsExp(bed->device)); /* nothing is left in use */
    EXPECT_OK(zetDeviceEnableMetricsExp(bed->device));
}

SUITE(threads)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything__from_several_threads__keeps_the_rules),
    };

    return cmocka_run_group_tests(tests, bed_setup, bed_teardown);
}
