/*
 * What a program that records itself finds in its trace.
 */
#include "recording.h"
#include "support.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/forked.h"
#include "tests/sanitizer.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

/* Rule 19.2. */
static void sink__started__records_calls_until_stopped(void **state)
{
    const struct harness *h = *state;
    struct signal signal = signal_create(h);
    struct recording recording;
    struct json_object *event;

    recording_start(&recording, NULL, 0);
    for (int i = 0; i < 5; i++)
        assert_result(ZE_RESULT_NOT_READY, zeEventQueryStatus(signal.event));
    assert_success(zeEventHostSignal(signal.event));
    recording_stop(&recording);
    assert_success(zeEventQueryStatus(signal.event));

    assert_int_equal(recording_count(&recording, "X", "ze", "zeEventQueryStatus"), 5);
    assert_int_equal(recording_count(&recording, "X", "ze", "zeEventHostSignal"), 1);
    event = recording_find(&recording, "X", "zeEventQueryStatus", 0);
    assert_string_equal(recording_argument(event, "result"), "ZE_RESULT_NOT_READY");
    assert_string_equal(recording_argument(event, "error"), "");
    assert_int_equal((int)recording_number(event, "pid"), getpid());
    assert_int_equal((int)recording_number(event, "tid"), gettid());
    assert_cmp(recording_number(event, "dur"), >=, 0);
    assert_cmp(recording_number(event, "ts"), <=,
               recording_number(recording_find(&recording, "X", "zeEventHostSignal", 0), "ts"));
    assert_int_equal(recording_count(&recording, "M", NULL, "process_name"), 1);
    assert_int_equal(recording_count(&recording, "M", NULL, "thread_name"), 1);
    recording_finish(&recording);
    signal_destroy(&signal);
}

static void reset_event(ze_event_query_status_params_t *params, ze_result_t result, void *event,
                        void **instance_data)
{
    (void)params;
    (void)result;
    (void)instance_data;
    assert_success(zeEventHostReset(event));
}

/* They are the tool's and not the program's, and no listener hears of them. Rule 19.3. */
static void sink__calls_of_callbacks__are_not_recorded(void **state)
{
    const struct harness *h = *state;
    struct signal signal = signal_create(h);
    zet_core_callbacks_t prologues = {.Event = {.pfnQueryStatusCb = reset_event}};
    zet_tracer_exp_handle_t tracer = make_tracer(h, signal.event, &prologues, NULL);
    struct recording recording;

    assert_success(zetTracerExpSetEnabled(tracer, 1));
    recording_start(&recording, NULL, 0);
    assert_result(ZE_RESULT_NOT_READY, zeEventQueryStatus(signal.event));
    recording_stop(&recording);
    assert_success(zetTracerExpDestroy(tracer));
    assert_int_equal(recording_count(&recording, "X", "ze", "zeEventQueryStatus"), 1);
    assert_int_equal(recording_count(&recording, "X", "ze", "zeEventHostReset"), 0);
    recording_finish(&recording);
    signal_destroy(&signal);
}

/* Rule 19.13. */
static void sink__filter__records_only_what_matches(void **state)
{
    const struct harness *h = *state;
    struct signal signal = signal_create(h);
    struct recording recording;
    uint32_t count = 0;

    recording_start(&recording, "zet*,zeEventHost*", 0);
    (void)zeEventQueryStatus(signal.event);
    assert_success(zeEventHostSignal(signal.event));
    assert_success(zeEventHostReset(signal.event));
    (void)zetMetricGroupGet((zet_device_handle_t)h->device, &count, NULL);
    recording_stop(&recording);
    assert_int_equal(recording_count(&recording, "X", "ze", NULL), 2);
    assert_int_equal(recording_count(&recording, "X", "zet", NULL), 1);
    recording_finish(&recording);
    signal_destroy(&signal);
}

/* Rule 19.2. */
static void sink__failing_call__has_its_own_sentence(void **state)
{
    const struct harness *h = *state;
    struct signal signal = signal_create(h);
    const ze_context_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    struct recording recording;
    struct json_object *event;

    skip_in(HARNESS_VALIDATION, "the layer refuses the call before it reaches the library");
    recording_start(&recording, NULL, 0);
    assert_result(ZE_RESULT_ERROR_INVALID_NULL_POINTER, zeContextCreate(h->driver, &desc, NULL));
    assert_result(ZE_RESULT_NOT_READY, zeEventQueryStatus(signal.event));
    recording_stop(&recording);
    event = recording_find(&recording, "X", "zeContextCreate", 0);
    assert_string_equal(recording_argument(event, "result"),
                        "ZE_RESULT_ERROR_INVALID_NULL_POINTER");
    assert_non_null(strstr(recording_argument(event, "error"), "phContext"));
    event = recording_find(&recording, "X", "zeEventQueryStatus", 0);
    assert_string_equal(recording_argument(event, "error"), "");
    recording_finish(&recording);
    signal_destroy(&signal);
}

/* Rule 19.12. */
static void start__wrong_requests__are_refused(void **state)
{
    struct recording recording;
    struct zeta_trace_desc desc = {.struct_size = sizeof(desc), .path = "/tmp/zeta.pftrace"};
    struct zeta_trace_info info = {.struct_size = sizeof(info)};

    (void)state;
    assert_result(ZE_RESULT_ERROR_NOT_AVAILABLE, zetaTraceStop());
    assert_result(ZE_RESULT_ERROR_INVALID_NULL_POINTER, zetaTraceStart(NULL));
    assert_result(ZE_RESULT_ERROR_INVALID_ARGUMENT, zetaTraceStart(&desc));
    assert_non_null(strstr(zetaGetLastError(), "zeta trace"));
    desc.path = NULL;
    assert_result(ZE_RESULT_ERROR_INVALID_NULL_POINTER, zetaTraceStart(&desc));
    desc.struct_size = 3;
    assert_result(ZE_RESULT_ERROR_INVALID_SIZE, zetaTraceStart(&desc));
    desc = (struct zeta_trace_desc){.struct_size = sizeof(desc), .path = "/no/such/folder/t.json"};
    assert_result(ZE_RESULT_ERROR_NOT_AVAILABLE, zetaTraceStart(&desc));
    assert_non_null(strstr(zetaGetLastError(), "/no/such/folder"));

    recording_start(&recording, NULL, 0);
    desc.path = "/tmp/another.json";
    assert_result(ZE_RESULT_ERROR_NOT_AVAILABLE, zetaTraceStart(&desc));
    assert_non_null(strstr(zetaGetLastError(), recording.path));
    recording_stop(&recording);
    recording_finish(&recording);

    assert_result(ZE_RESULT_ERROR_INVALID_NULL_POINTER, zetaTraceGetInfo(NULL));
    info.struct_size = 0;
    assert_result(ZE_RESULT_ERROR_INVALID_SIZE, zetaTraceGetInfo(&info));
}

/* Rule 19.7. */
static void info__while_recording__counts(void **state)
{
    const struct harness *h = *state;
    struct signal signal = signal_create(h);
    struct zeta_trace_info info = {.struct_size = sizeof(info)};
    struct recording recording;

    recording_start(&recording, NULL, 3 * 64 * 1024);
    for (int i = 0; i < 10; i++)
        (void)zeEventQueryStatus(signal.event);
    assert_success(zetaTraceGetInfo(&info));
    assert_int_equal(info.is_on, 1);
    assert_int_equal(info.records, 10);
    assert_int_equal(info.lost, 0);
    assert_string_equal(info.path, recording.path);
    for (int i = 0; i < 5000; i++)
        (void)zeEventQueryStatus(signal.event);
    assert_success(zetaTraceGetInfo(&info));
    assert_cmp(info.lost, >, 0);
    assert_int_equal(info.records + info.lost, 5010);
    assert_cmp(info.bytes, <=, 3 * 64 * 1024);
    recording_stop(&recording);
    assert_int_equal(recording_count(&recording, "X", "ze", NULL), info.records);
    assert_int_equal(recording_count(&recording, "i", "zeta", NULL), 1);
    assert_success(zetaTraceGetInfo(&info));
    assert_int_equal(info.is_on, 0);
    recording_finish(&recording);
    signal_destroy(&signal);
}

/* ---- devices ------------------------------------------------------------------------------- */

/* Rule 19.9. */
static void sink__kernels_and_copies__are_on_the_track_of_their_queue(void **state)
{
    const struct harness *h = *state;
    uint64_t *memory = harness_memory(h, 128);
    ze_kernel_handle_t kernel = harness_add_kernel(h, memory, 1);
    ze_command_queue_handle_t queue = harness_queue(h, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
    ze_command_list_handle_t list = harness_list(h);
    ze_event_pool_handle_t pool = harness_pool(h, ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP, 1);
    ze_event_handle_t done = harness_event(pool, 0);
    struct recording recording;
    struct json_object *first;
    struct json_object *second;
    struct json_object *copy;
    ze_kernel_timestamp_result_t times;

    assert_success(harness_launch(list, kernel, NULL, 0, NULL));
    assert_success(harness_launch(list, kernel, done, 0, NULL));
    assert_success(
        zeCommandListAppendMemoryCopy(list, memory + 8, memory, sizeof(*memory), NULL, 0, NULL));
    recording_start(&recording, "zeCommandQueue*", 0);
    harness_execute(queue, list, NULL);
    assert_success(zeCommandQueueSynchronize(queue, UINT64_MAX));
    assert_int_equal(memory[0], 2);
    assert_int_equal(memory[8], 2);
    /* The application's own event has its times as ever. */
    assert_success(zeEventQueryStatus(done));
    assert_success(zeEventQueryKernelTimestamp(done, &times));
    assert_cmp(times.global.kernelEnd, >, times.global.kernelStart);
    recording_stop(&recording);

    assert_int_equal(recording_count(&recording, "X", "device", NULL), 3);
    first = recording_find(&recording, "X", "add", 0);
    second = recording_find(&recording, "X", "add", 1);
    copy = recording_find(&recording, "X", "copy", 0);
    assert_string_equal(recording_argument(first, "groups"), "1 x 1 x 1");
    assert_string_equal(recording_argument(copy, "bytes"), "8");
    assert_string_equal(recording_text(first, "tid"), recording_text(copy, "tid"));
    assert_string_equal(recording_text(first, "tid"),
                        recording_text(recording_find(&recording, "M", "thread_name", 1), "tid"));
    assert_cmp(recording_number(second, "ts"), >=,
               recording_number(first, "ts") + recording_number(first, "dur") - 0.001);
    assert_cmp(recording_number(copy, "ts"), >=,
               recording_number(second, "ts") + recording_number(second, "dur") - 0.001);
    /* Between the call that started them and the end of the one that waited, but for the clocks. */
    assert_cmp(recording_number(first, "ts") + 1e4, >=,
               recording_number(
                   recording_find(&recording, "X", "zeCommandQueueExecuteCommandLists", 0), "ts"));

    assert_success(zeEventDestroy(done));
    assert_success(zeEventPoolDestroy(pool));
    assert_success(zeCommandListDestroy(list));
    assert_success(zeCommandQueueDestroy(queue));
    assert_success(zeKernelDestroy(kernel));
    assert_success(zeMemFree(h->context, memory));
    recording_finish(&recording);
}

/* Rule 19.9. */
static void sink__immediate_lists__have_tracks_of_their_own(void **state)
{
    const struct harness *h = *state;
    uint64_t *memory = harness_memory(h, 64);
    ze_kernel_handle_t kernel = harness_add_kernel(h, memory, 1);
    ze_command_list_handle_t lists[2];
    struct recording recording;

    recording_start(&recording, "none", 0);
    for (int i = 0; i < 2; i++) {
        lists[i] = harness_immediate(h, ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
        assert_success(harness_launch(lists[i], kernel, NULL, 0, NULL));
    }
    recording_stop(&recording);
    assert_int_equal(recording_count(&recording, "X", "device", "add"), 2);
    assert_string_not_equal(recording_text(recording_find(&recording, "X", "add", 0), "tid"),
                            recording_text(recording_find(&recording, "X", "add", 1), "tid"));
    for (int i = 0; i < 2; i++)
        assert_success(zeCommandListDestroy(lists[i]));
    assert_success(zeKernelDestroy(kernel));
    assert_success(zeMemFree(h->context, memory));
    recording_finish(&recording);
}

/* Work that started under one trace may end under none or another one. Rule 19.10. */
static void sink__stopped_under_a_kernel__work_goes_on(void **state)
{
    const struct harness *h = *state;
    ze_kernel_handle_t kernel = harness_kernel(h, "hold");
    ze_command_list_handle_t list = harness_immediate(h, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
    ze_event_pool_handle_t pool = harness_pool(h, ZE_EVENT_POOL_FLAG_HOST_VISIBLE, 1);
    ze_event_handle_t done = harness_event(pool, 0);
    struct recording recording;

    h->control->hold();
    recording_start(&recording, NULL, 0);
    assert_success(harness_launch(list, kernel, done, 0, NULL));
    harness_wait_holding(h, 1);
    recording_stop(&recording);
    assert_int_equal(recording_count(&recording, "X", "device", NULL), 0);
    h->control->release();
    assert_success(zeEventHostSynchronize(done, UINT64_MAX));
    assert_success(zeCommandListHostSynchronize(list, UINT64_MAX));
    assert_success(zeEventDestroy(done));
    assert_success(zeEventPoolDestroy(pool));
    assert_success(zeCommandListDestroy(list));
    assert_success(zeKernelDestroy(kernel));
    recording_finish(&recording);
}

/* Rule 19.9. */
static void sink__lost_work__loses_the_events_of_the_application(void **state)
{
    const struct harness *h = *state;
    ze_kernel_handle_t kernel = harness_kernel(h, "fault");
    ze_command_list_handle_t list = harness_immediate(h, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
    ze_event_pool_handle_t pool = harness_pool(h, ZE_EVENT_POOL_FLAG_HOST_VISIBLE, 1);
    ze_event_handle_t done = harness_event(pool, 0);
    struct recording recording;

    recording_start(&recording, NULL, 0);
    assert_success(harness_launch(list, kernel, done, 0, NULL));
    assert_result(ZE_RESULT_ERROR_DEVICE_LOST, zeEventHostSynchronize(done, UINT64_MAX));
    recording_stop(&recording);
    assert_int_equal(recording_count(&recording, "X", "device", NULL), 0);
    assert_success(zeEventDestroy(done));
    assert_success(zeEventPoolDestroy(pool));
    assert_success(zeCommandListDestroy(list));
    assert_success(zeKernelDestroy(kernel));
    recording_finish(&recording);
}

/* ---- threads and processes ----------------------------------------------------------------- */

enum { THREADS = 4, CALLS = 3000 };

static void *call_often(void *event)
{
    for (int i = 0; i < CALLS; i++)
        (void)zeEventQueryStatus(event);
    return NULL;
}

static void sink__many_threads__every_call_is_there(void **state)
{
    const struct harness *h = *state;
    struct signal signal = signal_create(h);
    pthread_t threads[THREADS];
    struct recording recording;

    recording_start(&recording, NULL, 0);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, call_often, signal.event), 0);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    recording_stop(&recording);
    assert_int_equal(recording_count(&recording, "X", "ze", "zeEventQueryStatus"), THREADS * CALLS);
    assert_int_equal(recording_count(&recording, "M", NULL, "thread_name"), THREADS);
    recording_finish(&recording);
    signal_destroy(&signal);
}

/* Rule 19.10. */
static void sink__started_and_stopped_under_calls__is_a_document_each_time(void **state)
{
    const struct harness *h = *state;
    struct signal signal = signal_create(h);
    pthread_t threads[THREADS];

    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, call_often, signal.event), 0);
    for (int i = 0; i < 20; i++) {
        struct recording recording;

        recording_start(&recording, NULL, 0);
        (void)zeEventQueryStatus(signal.event);
        assert_success(zetaTraceStop());
        recording_finish(&recording);
    }
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    signal_destroy(&signal);
}

/* Rule 19.10. */
static void sink__stopped_under_a_blocked_call__shows_it_unfinished(void **state)
{
    const struct harness *h = *state;
    struct signal signal = signal_create(h);
    struct recording first;
    struct recording second;
    struct waiter waiter;
    struct json_object *event;

    recording_start(&first, NULL, 0);
    waiter_start(&waiter, signal.event);
    recording_stop(&first);
    event = recording_find(&first, "B", "zeEventHostSynchronize", 0);
    assert_string_equal(recording_argument(event, "timeout"), "UINT64_MAX");
    assert_int_equal((int)recording_number(event, "tid"), (int)waiter.id);

    recording_start(&second, NULL, 0);
    waiter_finish(&waiter);
    recording_stop(&second);
    assert_int_equal(recording_count(&second, "X", "ze", "zeEventHostSignal"), 1);
    assert_int_equal(recording_count(&second, "X", "ze", "zeEventHostSynchronize"), 0);
    assert_int_equal(recording_count(&second, "B", NULL, NULL), 0);
    recording_finish(&first);
    recording_finish(&second);
    signal_destroy(&signal);
}

static int check_child(void)
{
    struct zeta_trace_info info = {.struct_size = sizeof(info)};
    struct recording own;
    uint32_t count = 0;

    if (zetaTraceGetInfo(&info) != ZE_RESULT_SUCCESS || info.is_on)
        return 1;
    recording_start(&own, NULL, 0);
    (void)zeDriverGet(&count, NULL);
    recording_stop(&own);
    if (recording_count(&own, "X", "ze", "zeDriverGet") != 1)
        return 2;
    if ((int)recording_number(recording_find(&own, "X", "zeDriverGet", 0), "pid") != getpid())
        return 3;
    recording_finish(&own);
    return 0;
}

/* Rule 19.11. */
static void sink__forked_child__records_nothing_of_its_own_accord(void **state)
{
    const struct harness *h = *state;
    struct signal signal = signal_create(h);
    struct recording recording;
    int status = -1;

    recording_start(&recording, NULL, 0);
    (void)zeEventQueryStatus(signal.event);
    const pid_t child = fork_child();
    if (child == 0) {
        (void)alarm(600);
        _exit(check_child());
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    (void)zeEventQueryStatus(signal.event);
    recording_stop(&recording);
    assert_int_equal(recording_count(&recording, "X", "ze", NULL), 2);
    recording_finish(&recording);
    signal_destroy(&signal);
}

static char unwatched_path[64];
static _Atomic int unwatched;

/* Begins, ends and begins again; its id, or -1. */
static void *record_unwatched(void *nothing)
{
    const struct zeta_trace_desc desc = {
        .struct_size = sizeof(desc), .path = unwatched_path, .filter = "zeDriver*"};
    uint32_t count = 0;
    ze_result_t result = zetaTraceStart(&desc);

    (void)nothing;
    (void)zeDriverGet(&count, NULL);
    (void)zetaTraceStop();
    (void)unlink(unwatched_path);
    if (result == ZE_RESULT_SUCCESS)
        result = zetaTraceStart(&desc);
    atomic_store_explicit(&unwatched, result == ZE_RESULT_SUCCESS ? gettid() : -1,
                          memory_order_relaxed);
    return NULL;
}

/*
 * The process has one thread when it forks, but what another one did last nobody waited for: no
 * step of the child's beginning may depend on that, and the thread sanitizer sees each.
 Rule 19.11. */
static void sink__started_by_a_thread_that_ended__forked_child_starts_anew(void **state)
{
    pthread_t thread;
    char task[64];
    int tid, status = -1;

    (void)state;
    (void)snprintf(unwatched_path, sizeof(unwatched_path), "/tmp/zeta-unwatched-%d.json", getpid());
    assert_int_equal(pthread_create(&thread, NULL, record_unwatched, NULL), 0);
    assert_int_equal(pthread_detach(thread), 0);
    while ((tid = atomic_load_explicit(&unwatched, memory_order_relaxed)) == 0)
        (void)usleep(1000);
    assert_cmp(tid, >, 0);
    (void)snprintf(task, sizeof(task), "/proc/self/task/%d", tid);
    while (access(task, F_OK) == 0)
        (void)usleep(1000);
    const pid_t child = fork_child();
    if (child == 0) {
        (void)alarm(600);
        _exit(check_child());
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_success(zetaTraceStop());
    (void)unlink(unwatched_path);
}

SUITE(sink)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sink__started__records_calls_until_stopped),
        cmocka_unit_test(sink__calls_of_callbacks__are_not_recorded),
        cmocka_unit_test(sink__filter__records_only_what_matches),
        cmocka_unit_test(sink__failing_call__has_its_own_sentence),
        cmocka_unit_test(start__wrong_requests__are_refused),
        cmocka_unit_test(info__while_recording__counts),
        cmocka_unit_test(sink__kernels_and_copies__are_on_the_track_of_their_queue),
        cmocka_unit_test(sink__immediate_lists__have_tracks_of_their_own),
        cmocka_unit_test(sink__stopped_under_a_kernel__work_goes_on),
        cmocka_unit_test(sink__many_threads__every_call_is_there),
        cmocka_unit_test(sink__started_and_stopped_under_calls__is_a_document_each_time),
        cmocka_unit_test(sink__stopped_under_a_blocked_call__shows_it_unfinished),
        cmocka_unit_test(sink__forked_child__records_nothing_of_its_own_accord),
        cmocka_unit_test(sink__started_by_a_thread_that_ended__forked_child_starts_anew),
        cmocka_unit_test(sink__lost_work__loses_the_events_of_the_application),
    };

    return cmocka_run_group_tests(tests, harness_setup, harness_teardown);
}
