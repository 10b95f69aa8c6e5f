/* Graphs: what is recorded does not run, and runs as often as it is appended afterwards. */
#include "harness.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#define EXECUTIONS 250 /* of each thread */

/* Rules 9.3, 9.7. */
static void graph__recorded_once__runs_each_time_it_is_appended(void **state)
{
    skip_in(HARNESS_VALIDATION, "the layer is older than the flag for lists in order");
    const struct harness *h = *state;
    uint64_t *sum = harness_memory(h, 16);
    uint64_t value = 5;
    ze_kernel_handle_t add = harness_add_kernel(h, sum, value);
    ze_command_list_handle_t list = harness_in_order(h);
    ze_command_list_handle_t primary = NULL;
    ze_event_pool_handle_t pool = harness_pool(h, 0, 2);
    ze_event_handle_t start = harness_event(pool, 0);
    ze_event_handle_t end = harness_event(pool, 1);
    ze_graph_handle_t graph = NULL;
    ze_graph_handle_t same = NULL;
    ze_executable_graph_handle_t executable = NULL;

    assert_result(ZE_RESULT_QUERY_FALSE, zeCommandListIsGraphCaptureEnabledExt(list));
    assert_result(ZE_RESULT_ERROR_COMMAND_LIST_NOT_CAPTURING,
                  zeCommandListEndGraphCaptureExt(list, NULL, &graph));
    assert_success(zeCommandListBeginGraphCaptureExt(list, NULL));
    assert_result(ZE_RESULT_QUERY_TRUE, zeCommandListIsGraphCaptureEnabledExt(list));
    assert_success(harness_launch(list, add, NULL, 0, NULL));
    assert_success(zeCommandListAppendMemoryCopy(list, sum + 1, sum, 8, NULL, 0, NULL));
    /* Arguments are those of the append, and failed appends leave nothing behind. */
    value = 1000;
    assert_success(zeKernelSetArgumentValue(add, 1, sizeof(value), &value));
    assert_result(ZE_RESULT_ERROR_INVALID_SIZE, zeCommandListAppendBarrier(list, NULL, 1, NULL));
    assert_result(ZE_RESULT_ERROR_GRAPH_CAPTURE_UNSUPPORTED,
                  zeCommandListHostSynchronize(list, UINT64_MAX));
    assert_result(ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE, zeCommandListDestroy(list));
    assert_success(zeCommandListGetGraphExt(list, &same));
    assert_result(ZE_RESULT_ERROR_INVALID_ARGUMENT, zeGraphInstantiateExt(same, NULL, &executable));
    assert_success(zeCommandListEndGraphCaptureExt(list, NULL, &graph));
    assert_ptr_equal(graph, same);
    assert_result(ZE_RESULT_QUERY_FALSE, zeGraphIsEmptyExt(graph));
    assert_success(zeGraphGetPrimaryCommandListExt(graph, &primary));
    assert_ptr_equal(primary, list);
    assert_success(zeCommandListHostSynchronize(list, UINT64_MAX));
    assert_int_equal(*sum, 0);

    assert_success(zeGraphInstantiateExt(graph, NULL, &executable));
    assert_success(zeExecutableGraphGetSourceGraphExt(executable, &same));
    assert_ptr_equal(graph, same);
    assert_result(ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE, zeGraphDestroyExt(graph));
    assert_success(zeCommandListAppendGraphExt(list, executable, NULL, end, 1, &start));
    assert_result(ZE_RESULT_NOT_READY, zeEventHostSynchronize(end, 10000000));
    assert_int_equal(*sum, 0);
    assert_success(zeEventHostSignal(start));
    assert_success(zeEventHostSynchronize(end, UINT64_MAX));
    assert_int_equal(sum[1], 5);
    for (int i = 0; i < 10; i++)
        assert_success(zeCommandListAppendGraphExt(list, executable, NULL, NULL, 0, NULL));
    /* Executions on their way keep what they need. */
    assert_success(zeExecutableGraphDestroyExt(executable));
    assert_success(zeKernelDestroy(add));
    assert_success(zeGraphDestroyExt(graph));
    assert_success(zeCommandListHostSynchronize(list, UINT64_MAX));
    assert_int_equal(sum[1], 55);
    assert_success(zeCommandListAppendBarrier(list, NULL, 0, NULL));
    assert_success(zeCommandListDestroy(list));
    assert_int_equal(h->control->live_kernels(), 0);
    assert_success(zeEventDestroy(start));
    assert_success(zeEventDestroy(end));
    assert_success(zeEventPoolDestroy(pool));
    assert_success(zeMemFree(h->context, sum));
}

static void *await_primary(void *graph)
{
    ze_command_list_handle_t primary = NULL;

    while (zeGraphGetPrimaryCommandListExt(graph, &primary) != ZE_RESULT_SUCCESS)
        (void)sched_yield();
    return primary;
}

static void graph__asked_while_its_recording_begins__has_no_list_or_that(void **state)
{
    skip_in(HARNESS_VALIDATION, "the layer is older than the flag for lists in order");
    const struct harness *h = *state;
    ze_command_list_handle_t list = harness_in_order(h);

    for (int i = 0; i < 20; i++) {
        ze_graph_handle_t graph = NULL;
        void *primary = NULL;
        pthread_t thread;

        assert_success(zeGraphCreateExt(h->context, NULL, &graph));
        assert_int_equal(pthread_create(&thread, NULL, await_primary, graph), 0);
        assert_success(zeCommandListBeginCaptureIntoGraphExt(list, graph, NULL));
        assert_int_equal(pthread_join(thread, &primary), 0);
        assert_ptr_equal(primary, list);
        assert_success(zeCommandListEndGraphCaptureExt(list, NULL, &graph));
        assert_success(zeGraphDestroyExt(graph));
    }
    assert_success(zeCommandListDestroy(list));
}

/* Executions of one graph on two lists never overlap: a lost addition would show it. Rule 9.7. */
static void graph__executed_on_two_lists__takes_turns(void **state)
{
    skip_in(HARNESS_VALIDATION, "the layer is older than the flag for lists in order");
    const struct harness *h = *state;
    uint64_t *sum = harness_memory(h, 8);
    ze_kernel_handle_t add = harness_add_kernel(h, sum, 1);
    ze_command_list_handle_t lists[2] = {harness_in_order(h), harness_in_order(h)};
    ze_graph_handle_t graph = NULL;
    ze_executable_graph_handle_t executable = NULL;

    assert_success(zeCommandListBeginGraphCaptureExt(lists[0], NULL));
    for (int i = 0; i < 5; i++)
        assert_success(harness_launch(lists[0], add, NULL, 0, NULL));
    assert_success(zeCommandListEndGraphCaptureExt(lists[0], NULL, &graph));
    assert_success(zeGraphInstantiateExt(graph, NULL, &executable));
    for (int i = 0; i < 100; i++)
        assert_success(zeCommandListAppendGraphExt(lists[i % 2], executable, NULL, NULL, 0, NULL));
    for (int i = 0; i < 2; i++)
        assert_success(zeCommandListHostSynchronize(lists[i], UINT64_MAX));
    assert_int_equal(*sum, 500);
    for (int i = 0; i < 2; i++)
        assert_success(zeCommandListDestroy(lists[i]));
    assert_success(zeExecutableGraphDestroyExt(executable));
    assert_success(zeGraphDestroyExt(graph));
    assert_success(zeKernelDestroy(add));
    assert_success(zeMemFree(h->context, sum));
}

struct inside {
    atomic_uint now;
    atomic_uint most;
    atomic_uint entered;
};

static void ZE_CALLBACK_CONV enter(void *context)
{
    struct inside *inside = context;
    unsigned now = atomic_fetch_add(&inside->now, 1) + 1;

    atomic_fetch_add(&inside->entered, 1);
    if (now > atomic_load(&inside->most))
        atomic_store(&inside->most, now);
    (void)usleep(20);
}

static void ZE_CALLBACK_CONV leave(void *context)
{
    atomic_fetch_sub(&((struct inside *)context)->now, 1);
}

struct executor {
    ze_executable_graph_handle_t executable;
    ze_command_list_handle_t list;
    ze_result_t worst;
};

static void *execute_often(void *argument)
{
    struct executor *e = argument;

    for (int i = 0; i < EXECUTIONS; i++) {
        ze_result_t result =
            zeCommandListAppendGraphExt(e->list, e->executable, NULL, NULL, 0, NULL);

        e->worst = result == ZE_RESULT_SUCCESS ? e->worst : result;
    }
    return NULL;
}

/* What is between the two functions of an execution never is while another execution is there.
 * Rule 9.7. */
static void graph__appended_by_threads_at_once__takes_turns(void **state)
{
    skip_in(HARNESS_VALIDATION, "the layer is older than the flag for lists in order");
    const struct harness *h = *state;
    struct inside inside = {0};
    ze_command_list_handle_t list = harness_in_order(h);
    ze_graph_handle_t graph = NULL;
    ze_executable_graph_handle_t executable = NULL;
    struct executor executors[4];
    pthread_t threads[4];

    assert_success(zeCommandListBeginGraphCaptureExt(list, NULL));
    assert_success(zeCommandListAppendHostFunction(list, enter, &inside, NULL, NULL, 0, NULL));
    /* Enough to submit that submissions of several threads meet. */
    for (int i = 0; i < 1000; i++)
        assert_success(zeCommandListAppendBarrier(list, NULL, 0, NULL));
    assert_success(zeCommandListAppendHostFunction(list, leave, &inside, NULL, NULL, 0, NULL));
    assert_success(zeCommandListEndGraphCaptureExt(list, NULL, &graph));
    assert_success(zeGraphInstantiateExt(graph, NULL, &executable));
    for (int i = 0; i < 4; i++) {
        executors[i] = (struct executor){.executable = executable, .list = harness_in_order(h)};
        assert_int_equal(pthread_create(&threads[i], NULL, execute_often, &executors[i]), 0);
    }
    for (int i = 0; i < 4; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_success(executors[i].worst);
        assert_success(zeCommandListHostSynchronize(executors[i].list, UINT64_MAX));
        assert_success(zeCommandListDestroy(executors[i].list));
    }
    assert_int_equal(inside.entered, 4 * EXECUTIONS);
    assert_int_equal(inside.most, 1);
    assert_success(zeExecutableGraphDestroyExt(executable));
    assert_success(zeGraphDestroyExt(graph));
    assert_success(zeCommandListDestroy(list));
}

static ze_event_handle_t counted(const struct harness *h, ze_event_counter_based_flags_t flags)
{
    const ze_event_counter_based_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_COUNTER_BASED_DESC,
                                                .flags = flags};
    ze_event_handle_t event = NULL;

    assert_success(zeEventCounterBasedCreate(h->context, h->device, &desc, &event));
    return event;
}

/* Rule 9.6. */
static void counted_event__of_a_graph__is_refused_outside_unless_external(void **state)
{
    skip_in(HARNESS_VALIDATION, "the layer is older than the flag for lists in order");
    const struct harness *h = *state;
    const ze_event_counter_based_flags_t in_order_flag =
        ZE_EVENT_COUNTER_BASED_FLAG_IMMEDIATE | ZE_EVENT_COUNTER_BASED_FLAG_NON_IMMEDIATE;
    ze_event_handle_t internal = counted(h, in_order_flag);
    ze_event_handle_t external =
        counted(h, in_order_flag | ZE_EVENT_COUNTER_BASED_FLAG_GRAPH_EXTERNAL);
    ze_command_list_handle_t list = harness_in_order(h);
    ze_command_list_handle_t other = harness_in_order(h);
    ze_command_list_handle_t regular = harness_list(h);
    ze_graph_handle_t graph = NULL;

    assert_success(zeCommandListBeginGraphCaptureExt(list, NULL));
    assert_success(zeCommandListAppendSignalEvent(list, internal));
    assert_success(zeCommandListAppendSignalEvent(list, external));
    assert_success(zeCommandListAppendSignalEvent(list, internal));
    assert_result(ZE_RESULT_ERROR_GRAPH_INTERNAL_EVENT,
                  zeCommandListAppendSignalEvent(other, internal));
    assert_result(ZE_RESULT_ERROR_GRAPH_INTERNAL_EVENT,
                  zeCommandListAppendWaitOnEvents(regular, 1, &internal));
    assert_non_null(strstr(harness_sentence(h), "GRAPH_EXTERNAL"));
    assert_success(zeCommandListAppendWaitOnEvents(regular, 1, &external));
    assert_result(ZE_RESULT_QUERY_FALSE, zeCommandListIsGraphCaptureEnabledExt(other));
    assert_success(zeCommandListEndGraphCaptureExt(list, NULL, &graph));
    /* Afterwards it is free again. */
    assert_success(zeCommandListAppendSignalEvent(other, internal));
    assert_success(zeEventHostSynchronize(internal, UINT64_MAX));
    assert_success(zeCommandListAppendWaitOnEvents(regular, 1, &internal));
    assert_success(zeGraphDestroyExt(graph));
    assert_success(zeCommandListDestroy(list));
    assert_success(zeCommandListDestroy(other));
    assert_success(zeCommandListDestroy(regular));
    assert_success(zeEventDestroy(internal));
    assert_success(zeEventDestroy(external));
}

/* Afterwards another list is to signal the event, later than ever. Rule 9.6. */
static void counted_event__used_again_after_the_recording__is_another_one(void **state)
{
    skip_in(HARNESS_VALIDATION, "the layer is older than the flag for lists in order");
    const struct harness *h = *state;
    uint64_t *sum = harness_memory(h, 8);
    ze_kernel_handle_t add = harness_add_kernel(h, sum, 1);
    ze_event_handle_t internal = counted(h, ZE_EVENT_COUNTER_BASED_FLAG_IMMEDIATE |
                                                ZE_EVENT_COUNTER_BASED_FLAG_DEVICE_TIMESTAMP);
    ze_event_pool_handle_t pool = harness_pool(h, 0, 1);
    ze_event_handle_t later = harness_event(pool, 0);
    ze_kernel_timestamp_result_t *times = harness_memory(h, sizeof(*times));
    ze_command_list_handle_t list = harness_in_order(h);
    ze_command_list_handle_t child = harness_in_order(h);
    ze_command_list_handle_t other = harness_in_order(h);
    ze_executable_graph_handle_t executable = NULL;
    ze_graph_handle_t graph = NULL;

    assert_success(zeCommandListBeginGraphCaptureExt(list, NULL));
    assert_success(harness_launch(list, add, internal, 0, NULL));
    assert_success(harness_launch(child, add, internal, 1, &internal));
    assert_success(harness_launch(list, add, NULL, 1, &internal));
    assert_success(
        zeCommandListAppendQueryKernelTimestamps(list, 1, &internal, times, NULL, NULL, 0, NULL));
    assert_success(zeCommandListEndGraphCaptureExt(list, NULL, &graph));
    assert_success(zeGraphInstantiateExt(graph, NULL, &executable));
    assert_success(zeCommandListAppendBarrier(other, internal, 1, &later));
    for (uint64_t i = 1; i <= 3; i++) {
        assert_success(zeCommandListAppendGraphExt(list, executable, NULL, NULL, 0, NULL));
        assert_success(zeCommandListHostSynchronize(list, UINT64_MAX));
        assert_int_equal(*sum, 3 * i);
        assert_cmp(times->global.kernelEnd, >, times->global.kernelStart);
        memset(times, 0, sizeof(*times));
    }
    assert_result(ZE_RESULT_NOT_READY, zeEventQueryStatus(internal));
    assert_success(zeEventHostSignal(later));
    assert_success(zeEventHostSynchronize(internal, UINT64_MAX));
    assert_success(zeExecutableGraphDestroyExt(executable));
    assert_success(zeGraphDestroyExt(graph));
    assert_success(zeCommandListDestroy(list));
    assert_success(zeCommandListDestroy(child));
    assert_success(zeCommandListHostSynchronize(other, UINT64_MAX));
    assert_success(zeCommandListDestroy(other));
    assert_success(zeEventDestroy(internal));
    assert_success(zeEventDestroy(later));
    assert_success(zeEventPoolDestroy(pool));
    assert_success(zeKernelDestroy(add));
    assert_success(zeMemFree(h->context, times));
    assert_success(zeMemFree(h->context, sum));
}

/* Two lists and the events by which the second leaves the first and joins it again. */
struct forked {
    uint64_t *sum;
    ze_kernel_handle_t add;
    ze_event_pool_handle_t pool;
    ze_event_handle_t fork;
    ze_event_handle_t join;
    ze_command_list_handle_t list;
    ze_command_list_handle_t child;
};

static void open_forked(const struct harness *h, struct forked *f)
{
    f->sum = harness_memory(h, 8);
    f->add = harness_add_kernel(h, f->sum, 1);
    f->pool = harness_pool(h, 0, 2);
    f->fork = harness_event(f->pool, 0);
    f->join = harness_event(f->pool, 1);
    f->list = harness_in_order(h);
    f->child = harness_in_order(h);
}

static void close_forked(const struct harness *h, const struct forked *f)
{
    assert_success(zeCommandListDestroy(f->list));
    assert_success(zeCommandListDestroy(f->child));
    assert_success(zeKernelDestroy(f->add));
    assert_success(zeEventDestroy(f->fork));
    assert_success(zeEventDestroy(f->join));
    assert_success(zeEventPoolDestroy(f->pool));
    assert_success(zeMemFree(h->context, f->sum));
}

/* Records a launch on the list and two on its child, which is joined. */
static void record_forked(const struct forked *f, ze_graph_handle_t graph)
{
    assert_success(zeCommandListBeginCaptureIntoGraphExt(f->list, graph, NULL));
    assert_success(harness_launch(f->list, f->add, f->fork, 0, NULL));
    assert_result(ZE_RESULT_ERROR_GRAPH_CAPTURE_UNSUPPORTED,
                  zeEventHostSynchronize(f->fork, UINT64_MAX));
    assert_success(harness_launch(f->child, f->add, NULL, 1, &(ze_event_handle_t){f->fork}));
    assert_result(ZE_RESULT_QUERY_TRUE, zeCommandListIsGraphCaptureEnabledExt(f->child));
    assert_success(harness_launch(f->child, f->add, f->join, 0, NULL));
    assert_result(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                  zeCommandListEndGraphCaptureExt(f->child, NULL, &graph));
    assert_success(zeCommandListAppendWaitOnEvents(f->list, 1, &(ze_event_handle_t){f->join}));
    assert_success(zeCommandListAppendEventReset(f->list, f->fork));
    assert_success(zeCommandListAppendEventReset(f->list, f->join));
    assert_success(zeCommandListEndGraphCaptureExt(f->list, NULL, &graph));
    assert_result(ZE_RESULT_QUERY_FALSE, zeCommandListIsGraphCaptureEnabledExt(f->child));
}

/* Rule 9.4. */
static void fork__another_list_waits_for_the_graph__records_until_it_is_joined(void **state)
{
    skip_in(HARNESS_VALIDATION, "the layer is older than the flag for lists in order");
    const struct harness *h = *state;
    struct forked f;
    ze_graph_handle_t graph = NULL;
    ze_executable_graph_handle_t executable = NULL;

    open_forked(h, &f);
    assert_success(zeGraphCreateExt(h->context, NULL, &graph));
    assert_result(ZE_RESULT_QUERY_TRUE, zeGraphIsEmptyExt(graph));
    record_forked(&f, graph);
    assert_int_equal(*f.sum, 0);
    assert_success(zeGraphInstantiateExt(graph, NULL, &executable));
    for (uint64_t i = 1; i <= 3; i++) {
        assert_success(zeCommandListAppendGraphExt(f.list, executable, NULL, NULL, 0, NULL));
        assert_success(zeCommandListHostSynchronize(f.list, UINT64_MAX));
        assert_int_equal(*f.sum, 3 * i);
    }
    assert_success(zeExecutableGraphDestroyExt(executable));
    assert_result(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                  zeCommandListBeginCaptureIntoGraphExt(f.list, graph, NULL));
    assert_success(zeGraphDestroyExt(graph));
    close_forked(h, &f);
}

/* Rule 9.4. */
static void fork__waits_for_another_recording__is_refused(void **state)
{
    skip_in(HARNESS_VALIDATION, "the layer is older than the flag for lists in order");
    const struct harness *h = *state;
    struct forked f;
    ze_graph_handle_t graph = NULL;

    open_forked(h, &f);
    assert_success(zeCommandListBeginGraphCaptureExt(f.list, NULL));
    assert_success(harness_launch(f.list, f.add, f.fork, 0, NULL));
    assert_success(zeCommandListBeginGraphCaptureExt(f.child, NULL));
    assert_result(ZE_RESULT_ERROR_GRAPH_CAPTURE_MERGE_ATTEMPT,
                  zeCommandListAppendWaitOnEvents(f.child, 1, &f.fork));
    assert_success(zeCommandListEndGraphCaptureExt(f.list, NULL, &graph));
    assert_success(zeGraphDestroyExt(graph));
    assert_success(zeCommandListEndGraphCaptureExt(f.child, NULL, &graph));
    assert_result(ZE_RESULT_QUERY_TRUE, zeGraphIsEmptyExt(graph));
    assert_success(zeGraphDestroyExt(graph));
    close_forked(h, &f);
}

/* Rule 9.4. */
static void fork__never_joined__makes_the_graph_invalid(void **state)
{
    skip_in(HARNESS_VALIDATION, "the layer is older than the flag for lists in order");
    const struct harness *h = *state;
    struct forked f;
    ze_graph_handle_t graph = NULL;
    ze_executable_graph_handle_t executable = NULL;

    open_forked(h, &f);
    assert_success(zeGraphCreateExt(h->context, NULL, &graph));
    assert_success(zeCommandListBeginCaptureIntoGraphExt(f.list, graph, NULL));
    assert_success(zeCommandListAppendSignalEvent(f.list, f.fork));
    assert_success(harness_launch(f.child, f.add, f.join, 1, &f.fork));
    assert_result(ZE_RESULT_ERROR_GRAPH_UNJOINED_FORKS,
                  zeCommandListEndGraphCaptureExt(f.list, NULL, &graph));
    assert_result(ZE_RESULT_ERROR_INVALID_GRAPH, zeGraphIsEmptyExt(graph));
    assert_result(ZE_RESULT_ERROR_INVALID_GRAPH, zeGraphInstantiateExt(graph, NULL, &executable));
    /* The lists go on as before. */
    assert_success(harness_launch(f.child, f.add, NULL, 0, NULL));
    assert_success(zeCommandListHostSynchronize(f.child, UINT64_MAX));
    assert_int_equal(*f.sum, 1);
    assert_success(zeGraphDestroyExt(graph));
    close_forked(h, &f);
}

/* Rule 9.5. */
static void begin__lists_that_cannot_record__are_refused(void **state)
{
    skip_in(HARNESS_VALIDATION, "the layer is older than the flag for lists in order");
    const struct harness *h = *state;
    ze_command_list_handle_t regular = harness_list(h);
    ze_command_list_handle_t synchronous = harness_immediate(h, ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
    ze_command_list_handle_t list = harness_in_order(h);
    ze_executable_graph_handle_t executable = NULL;
    ze_graph_handle_t graph = NULL;

    assert_result(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                  zeCommandListBeginGraphCaptureExt(regular, NULL));
    assert_result(ZE_RESULT_ERROR_GRAPH_CAPTURE_UNSUPPORTED,
                  zeCommandListBeginGraphCaptureExt(synchronous, NULL));
    assert_success(zeCommandListBeginGraphCaptureExt(list, NULL));
    assert_result(ZE_RESULT_ERROR_GRAPH_CAPTURE_UNSUPPORTED,
                  zeCommandListBeginGraphCaptureExt(list, NULL));
    assert_success(zeCommandListClose(regular));
    assert_result(ZE_RESULT_ERROR_GRAPH_CAPTURE_UNSUPPORTED,
                  zeCommandListImmediateAppendCommandListsExp(list, 1, &regular, NULL, 0, NULL));
    assert_success(zeCommandListEndGraphCaptureExt(list, NULL, &graph));
    assert_success(zeGraphInstantiateExt(graph, NULL, &executable));
    assert_result(ZE_RESULT_ERROR_INVALID_COMMAND_LIST_TYPE,
                  zeCommandListAppendGraphExt(regular, executable, NULL, NULL, 0, NULL));
    assert_success(zeCommandListAppendGraphExt(synchronous, executable, NULL, NULL, 0, NULL));
    assert_success(zeExecutableGraphDestroyExt(executable));
    assert_success(zeGraphDestroyExt(graph));
    assert_result(ZE_RESULT_ERROR_INVALID_NULL_HANDLE, zeGraphDestroyExt(graph));
    assert_success(zeCommandListDestroy(list));
    assert_success(zeCommandListDestroy(regular));
    assert_success(zeCommandListDestroy(synchronous));
}

static void ZE_CALLBACK_CONV count(void *context)
{
    ++*(int *)context;
}

static void dump_and_callbacks__of_a_graph__tell_about_it(void **state)
{
    skip_in(HARNESS_VALIDATION, "the layer is older than the flag for lists in order");
    const struct harness *h = *state;
    const ze_record_replay_graph_ext_dump_desc_t simple = {
        .stype = ZE_STRUCTURE_TYPE_RECORD_REPLAY_GRAPH_EXT_DUMP_DESC,
        .mode = ZE_RECORD_REPLAY_GRAPH_EXT_DUMP_MODE_SIMPLE};
    uint64_t *sum = harness_memory(h, 8);
    ze_kernel_handle_t add = harness_add_kernel(h, sum, 0x1234);
    ze_command_list_handle_t list = harness_in_order(h);
    ze_graph_handle_t graph = NULL;
    char path[] = "/tmp/zeta-graph-XXXXXX";
    char text[4096] = {0};
    int calls = 0;
    int fd = mkstemp(path);

    assert_cmp(fd, >=, 0);
    assert_success(zeCommandListBeginGraphCaptureExt(list, NULL));
    assert_success(harness_launch(list, add, NULL, 0, NULL));
    assert_success(zeCommandListAppendBarrier(list, NULL, 0, NULL));
    assert_success(zeKernelDestroy(add));
    assert_success(zeCommandListEndGraphCaptureExt(list, NULL, &graph));
    assert_success(zeGraphDumpContentsExt(graph, path, NULL));
    assert_cmp(read(fd, text, sizeof(text) - 1), >, 0);
    assert_non_null(strstr(text, "digraph"));
    assert_non_null(strstr(text, "launch add"));
    assert_non_null(strstr(text, "0x0000000000001234"));
    assert_non_null(strstr(text, "c0 -> c1"));
    assert_success(zeGraphDumpContentsExt(graph, path, &simple));
    memset(text, 0, sizeof(text));
    assert_cmp(pread(fd, text, sizeof(text) - 1, 0), >, 0);
    assert_null(strstr(text, "1234"));
    assert_result(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                  zeGraphDumpContentsExt(graph, "/nowhere/at/all", NULL));
    for (int i = 0; i < 3; i++)
        assert_success(zeGraphSetDestructionCallbackExt(graph, count, &calls, NULL));
    assert_success(zeGraphDestroyExt(graph));
    assert_int_equal(calls, 3);
    (void)close(fd);
    (void)unlink(path);
    assert_success(zeCommandListDestroy(list));
    assert_success(zeMemFree(h->context, sum));
}

SUITE(graph)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(graph__recorded_once__runs_each_time_it_is_appended),
        cmocka_unit_test(graph__asked_while_its_recording_begins__has_no_list_or_that),
        cmocka_unit_test(graph__executed_on_two_lists__takes_turns),
        cmocka_unit_test(graph__appended_by_threads_at_once__takes_turns),
        cmocka_unit_test(counted_event__of_a_graph__is_refused_outside_unless_external),
        cmocka_unit_test(counted_event__used_again_after_the_recording__is_another_one),
        cmocka_unit_test(fork__another_list_waits_for_the_graph__records_until_it_is_joined),
        cmocka_unit_test(fork__waits_for_another_recording__is_refused),
        cmocka_unit_test(fork__never_joined__makes_the_graph_invalid),
        cmocka_unit_test(begin__lists_that_cannot_record__are_refused),
        cmocka_unit_test(dump_and_callbacks__of_a_graph__tell_about_it),
    };

    return cmocka_run_group_tests(tests, harness_setup, harness_teardown);
}
