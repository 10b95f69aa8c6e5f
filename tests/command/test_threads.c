/* Many threads of the application at once; meant for the thread sanitizer too. */
#include "harness.h"
#include "tests/support/suite.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#define THREADS 4
#define ROUNDS 100

struct job {
    const struct harness *h;
    ze_command_queue_handle_t queue;
    uint64_t *sum;
    ze_result_t worst;
};

static void note(struct job *job, ze_result_t result)
{
    if (result != ZE_RESULT_SUCCESS)
        job->worst = result;
}

/* Each thread has a list of its own and shares the queue. */
static void *execute_many(void *argument)
{
    struct job *job = argument;
    ze_kernel_handle_t kernel = harness_add_kernel(job->h, job->sum, 1);
    ze_command_list_handle_t list = harness_list(job->h);

    note(job, harness_launch(list, kernel, NULL, 0, NULL));
    note(job, zeCommandListClose(list));
    for (int i = 0; i < ROUNDS; i++)
        note(job, zeCommandQueueExecuteCommandLists(job->queue, 1, &list, NULL));
    note(job, zeCommandQueueSynchronize(job->queue, UINT64_MAX));
    note(job, zeCommandListDestroy(list));
    note(job, zeKernelDestroy(kernel));
    return NULL;
}

static void queue__shared_by_threads__runs_everything_once(void **state)
{
    const struct harness *h = *state;
    uint64_t *sum = harness_memory(h, 8);
    ze_command_queue_handle_t queue = harness_queue(h, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
    pthread_t threads[THREADS];
    struct job jobs[THREADS];

    for (int i = 0; i < THREADS; i++) {
        jobs[i] = (struct job){.h = h, .queue = queue, .sum = sum};
        assert_int_equal(pthread_create(&threads[i], NULL, execute_many, &jobs[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_int_equal(jobs[i].worst, ZE_RESULT_SUCCESS);
    }
    assert_int_equal(*sum, THREADS * ROUNDS);
    assert_success(zeCommandQueueDestroy(queue));
    assert_success(zeMemFree(h->context, sum));
}

/* Everything is made, used and destroyed by each thread. */
static void *churn(void *argument)
{
    struct job *job = argument;

    for (int i = 0; i < 20; i++) {
        uint64_t *sum = harness_memory(job->h, 8);
        ze_kernel_handle_t kernel = harness_add_kernel(job->h, sum, 2);
        ze_event_pool_handle_t pool = harness_pool(job->h, ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP, 1);
        ze_event_handle_t event = harness_event(pool, 0);
        ze_command_list_handle_t list =
            harness_immediate(job->h, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
        ze_kernel_timestamp_result_t times;

        for (int n = 0; n < 5; n++)
            note(job, harness_launch(list, kernel, n == 4 ? event : NULL, 0, NULL));
        note(job, zeKernelDestroy(kernel));
        note(job, zeEventHostSynchronize(event, UINT64_MAX));
        note(job, zeEventQueryKernelTimestamp(event, &times));
        if (*sum != 10)
            job->worst = ZE_RESULT_ERROR_UNKNOWN;
        note(job, zeCommandListDestroy(list));
        note(job, zeEventDestroy(event));
        note(job, zeEventPoolDestroy(pool));
        note(job, zeMemFree(job->h->context, sum));
    }
    return NULL;
}

static void objects__made_and_destroyed_by_threads__leave_nothing(void **state)
{
    const struct harness *h = *state;
    pthread_t threads[THREADS];
    struct job jobs[THREADS];

    for (int i = 0; i < THREADS; i++) {
        jobs[i] = (struct job){.h = h};
        assert_int_equal(pthread_create(&threads[i], NULL, churn, &jobs[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_int_equal(jobs[i].worst, ZE_RESULT_SUCCESS);
    }
    assert_int_equal(h->control->live_kernels(), 0);
    assert_int_equal(h->control->live_memory(), 0);
}

/* What two threads destroy at the same time. */
struct twice {
    ze_result_t (*destroy)(void *handle);
    void *handle;
    _Atomic unsigned *ready;
    ze_result_t result;
};

static ze_result_t destroy_list(void *handle)
{
    return zeCommandListDestroy(handle);
}

static ze_result_t destroy_queue(void *handle)
{
    return zeCommandQueueDestroy(handle);
}

static void *destroy_it(void *argument)
{
    struct twice *twice = argument;

    /* Turning until both are there brings them closer together than waking up would. */
    atomic_fetch_add(twice->ready, 1);
    while (atomic_load(twice->ready) < 2)
        (void)sched_yield();
    twice->result = twice->destroy(twice->handle);
    return NULL;
}

/* One of them succeeds, and the other one learns that there is nothing any more. */
static void destroy_twice(ze_result_t (*destroy)(void *handle), void *handle)
{
    _Atomic unsigned ready = 0;
    pthread_t other;
    struct twice ours = {.destroy = destroy, .handle = handle, .ready = &ready};
    struct twice theirs = ours;

    assert_int_equal(pthread_create(&other, NULL, destroy_it, &theirs), 0);
    (void)destroy_it(&ours);
    assert_int_equal(pthread_join(other, NULL), 0);
    assert_int_equal(ours.result ^ theirs.result, ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
}

/* Rule 8.7. */
static void lists_and_queues__destroyed_by_two_threads__one_succeeds(void **state)
{
    const struct harness *h = *state;

    skip_in(HARNESS_VALIDATION | HARNESS_READS_HANDLES, "the loader looks at the handle later");
    for (int i = 0; i < 10 * ROUNDS; i++) {
        destroy_twice(destroy_list, harness_immediate(h, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS));
        destroy_twice(destroy_list, harness_list(h));
        destroy_twice(destroy_queue, harness_queue(h, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS));
    }
}

/* Some threads make and end queues while others wait for the queues that there are. */
static void *make_queues(void *argument)
{
    struct job *job = argument;

    for (int i = 0; i < ROUNDS; i++) {
        note(job,
             zeCommandListDestroy(harness_immediate(job->h, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS)));
        note(job, zeCommandQueueDestroy(harness_queue(job->h, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS)));
    }
    return NULL;
}

static void *wait_for_all(void *argument)
{
    struct job *job = argument;

    for (int i = 0; i < ROUNDS; i++)
        note(job, zeDeviceSynchronize(job->h->device));
    return NULL;
}

static void device__waited_for_while_queues_are_made__sees_whole_ones(void **state)
{
    const struct harness *h = *state;
    pthread_t threads[THREADS];
    struct job jobs[THREADS];

    for (int i = 0; i < THREADS; i++) {
        jobs[i] = (struct job){.h = h};
        assert_int_equal(
            pthread_create(&threads[i], NULL, i % 2 ? make_queues : wait_for_all, &jobs[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_int_equal(jobs[i].worst, ZE_RESULT_SUCCESS);
    }
}

/* Two lists hand a token to each other; two host threads look at the events all the time. */
static atomic_bool stop;

static void *poll_event(void *event)
{
    while (!atomic_load(&stop))
        (void)zeEventQueryStatus(event);
    return NULL;
}

static void ping_pong__while_others_poll__ends(void **state)
{
    const struct harness *h = *state;
    ze_event_pool_handle_t pool = harness_pool(h, 0, 2);
    ze_event_handle_t ping = harness_event(pool, 0);
    ze_event_handle_t pong = harness_event(pool, 1);
    ze_command_list_handle_t left = harness_immediate(h, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
    ze_command_list_handle_t right = harness_immediate(h, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
    pthread_t pollers[2];

    atomic_store(&stop, false);
    assert_int_equal(pthread_create(&pollers[0], NULL, poll_event, ping), 0);
    assert_int_equal(pthread_create(&pollers[1], NULL, poll_event, pong), 0);
    for (int i = 0; i < ROUNDS; i++) {
        assert_success(zeCommandListAppendWaitOnEvents(right, 1, &ping));
        assert_success(zeCommandListAppendEventReset(right, ping));
        assert_success(zeCommandListAppendSignalEvent(right, pong));
        assert_success(zeCommandListAppendSignalEvent(left, ping));
        assert_success(zeCommandListAppendWaitOnEvents(left, 1, &pong));
        assert_success(zeCommandListAppendEventReset(left, pong));
    }
    assert_success(zeCommandListHostSynchronize(left, UINT64_MAX));
    assert_success(zeCommandListHostSynchronize(right, UINT64_MAX));
    atomic_store(&stop, true);
    assert_int_equal(pthread_join(pollers[0], NULL), 0);
    assert_int_equal(pthread_join(pollers[1], NULL), 0);
    assert_success(zeCommandListDestroy(left));
    assert_success(zeCommandListDestroy(right));
    assert_success(zeEventDestroy(ping));
    assert_success(zeEventDestroy(pong));
    assert_success(zeEventPoolDestroy(pool));
}

SUITE(threads)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(queue__shared_by_threads__runs_everything_once),
        cmocka_unit_test(objects__made_and_destroyed_by_threads__leave_nothing),
        cmocka_unit_test(lists_and_queues__destroyed_by_two_threads__one_succeeds),
        cmocka_unit_test(device__waited_for_while_queues_are_made__sees_whole_ones),
        cmocka_unit_test(ping_pong__while_others_poll__ends),
    };

    return cmocka_run_group_tests(tests, harness_setup, harness_teardown);
}
