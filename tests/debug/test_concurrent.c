/* Threads of the debugger: one waits for events, others interrupt, resume and detach. */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "debugging.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

#define ROUNDS 300u

struct reader {
    const struct debugging *debugging;
    atomic_uint stopped; /* answers so far */
    atomic_uint unavailable;
    ze_result_t last;
};

/* Reads until the session is gone; everything else is counted by the test's own thread. */
static void *read_events(void *context)
{
    struct reader *reader = context;
    zet_debug_event_t event;

    while ((reader->last = zetDebugReadEvent(reader->debugging->session, UINT64_MAX, &event)) ==
           ZE_RESULT_SUCCESS) {
        if (event.type == ZET_DEBUG_EVENT_TYPE_THREAD_STOPPED)
            atomic_fetch_add(&reader->stopped, 1);
        else if (event.type == ZET_DEBUG_EVENT_TYPE_THREAD_UNAVAILABLE)
            atomic_fetch_add(&reader->unavailable, 1);
    }
    return NULL;
}

static void wait_for(const atomic_uint *value, uint32_t wanted)
{
    while (atomic_load(value) < wanted)
        sched_yield();
}

/* Rule 27.14. */
static void read__beside_interrupts__one_answer_each(void **state)
{
    struct debugging d = debugging_start("debug0");
    struct reader reader = {.debugging = &d};
    pthread_t thread;

    (void)state;
    d.control->run(0xff, 0);
    assert_int_equal(pthread_create(&thread, NULL, read_events, &reader), 0);
    for (uint32_t i = 0; i < ROUNDS; i++) {
        EXPECT_OK(zetDebugInterrupt(d.session, all_threads));
        wait_for(&reader.stopped, i + 1);
        EXPECT_OK(zetDebugResume(d.session, all_threads));
    }
    assert_int_equal(reader.unavailable, 0);
    d.control->end();
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(reader.last, ZE_RESULT_ERROR_DEVICE_LOST);
    assert_int_equal(reader.stopped, ROUNDS);
    debugging_end(&d);
}

/* Rule 27.14. */
static void detach__while_another_thread_waits__ends_its_call(void **state)
{
    (void)state;
    for (unsigned i = 0; i < ROUNDS; i++) {
        struct debugging d = debugging_start("debug0");
        struct reader reader = {.debugging = &d};
        pthread_t thread;

        assert_int_equal(pthread_create(&thread, NULL, read_events, &reader), 0);
        if (i % 2 == 0)
            sched_yield();
        debugging_end(&d);
        assert_int_equal(pthread_join(thread, NULL), 0);
        assert_int_equal(reader.last, ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    }
}

static void *interrupt_and_resume(void *context)
{
    const struct debugging *d = context;

    for (uint32_t i = 0; i < ROUNDS; i++) {
        (void)zetDebugInterrupt(d->session, thread_at(i % 8));
        (void)zetDebugResume(d->session, all_threads);
    }
    return NULL;
}

/* Calls of one session never reach the backend at the same time. */
static void calls__of_several_threads__serialised(void **state)
{
    struct debugging d = debugging_start("debug1");
    struct reader reader = {.debugging = &d};
    pthread_t threads[4];

    (void)state;
    d.control->run(0xff, 0);
    assert_int_equal(pthread_create(&threads[3], NULL, read_events, &reader), 0);
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, interrupt_and_resume, &d), 0);
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    debugging_end(&d);
    assert_int_equal(pthread_join(threads[3], NULL), 0);
    assert_int_equal(d.control->counts().overlaps, 0);
}

SUITE(concurrent)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(read__beside_interrupts__one_answer_each),
        cmocka_unit_test(detach__while_another_thread_waits__ends_its_call),
        cmocka_unit_test(calls__of_several_threads__serialised),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
