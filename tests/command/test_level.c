/* Events that show a level: what a metric stream needs of its notification event. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <cmocka.h>

#include "core/event/event.h"
#include "tests/support/suite.h"

/* A condition, and whether somebody may still look at it. */
struct level {
    atomic_bool high;
    atomic_bool gone;
    atomic_uint late_looks;
};

static bool look(void *context)
{
    struct level *level = context;

    if (atomic_load(&level->gone))
        atomic_fetch_add(&level->late_looks, 1);
    return atomic_load(&level->high);
}

struct fixture {
    ze_context_handle_t context;
    ze_event_pool_handle_t pool;
    ze_event_handle_t handle;
    struct zeta_event *event;
};

static struct fixture fixture;

static int setup(void **state)
{
    const ze_context_desc_t context_desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    const ze_event_pool_desc_t pool_desc = {.count = 1};
    const ze_event_desc_t desc = {.index = 0};
    ze_driver_handle_t driver = NULL;
    uint32_t count = 1;

    assert_int_equal(zeInit(0), ZE_RESULT_SUCCESS);
    assert_int_equal(zeDriverGet(&count, &driver), ZE_RESULT_SUCCESS);
    assert_int_equal(zeContextCreate(driver, &context_desc, &fixture.context), ZE_RESULT_SUCCESS);
    assert_int_equal(zeEventPoolCreate(fixture.context, &pool_desc, 0, NULL, &fixture.pool),
                     ZE_RESULT_SUCCESS);
    assert_int_equal(zeEventCreate(fixture.pool, &desc, &fixture.handle), ZE_RESULT_SUCCESS);
    fixture.event = (struct zeta_event *)fixture.handle;
    *state = &fixture;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    (void)zeEventDestroy(fixture.handle);
    assert_int_equal(zeEventPoolDestroy(fixture.pool), ZE_RESULT_SUCCESS);
    assert_int_equal(zeContextDestroy(fixture.context), ZE_RESULT_SUCCESS);
    return 0;
}

static void bound__level_changes__status_follows_in_both_directions(void **state)
{
    const struct fixture *f = *state;
    struct level level = {0};

    assert_true(zeta_event_bind(f->event, look, &level));
    assert_int_equal(zeEventQueryStatus(f->handle), ZE_RESULT_NOT_READY);
    atomic_store(&level.high, true);
    assert_int_equal(zeEventQueryStatus(f->handle), ZE_RESULT_SUCCESS);
    assert_int_equal(zeEventHostSynchronize(f->handle, UINT64_MAX), ZE_RESULT_SUCCESS);
    /* A reset has no lasting effect while the level is high. */
    assert_int_equal(zeEventHostReset(f->handle), ZE_RESULT_SUCCESS);
    assert_int_equal(zeEventQueryStatus(f->handle), ZE_RESULT_SUCCESS);
    atomic_store(&level.high, false);
    assert_int_equal(zeEventQueryStatus(f->handle), ZE_RESULT_NOT_READY);
    assert_int_equal(zeEventHostSynchronize(f->handle, 50000), ZE_RESULT_NOT_READY);
    zeta_event_unbind(f->event, &level);
    assert_int_equal(zeEventHostSignal(f->handle), ZE_RESULT_SUCCESS);
    assert_int_equal(zeEventQueryStatus(f->handle), ZE_RESULT_SUCCESS);
}

static void bound__twice__the_later_one_shows(void **state)
{
    const struct fixture *f = *state;
    struct level first = {0};
    struct level second = {0};

    assert_true(zeta_event_bind(f->event, look, &first));
    assert_true(zeta_event_bind(f->event, look, &second));
    atomic_store(&first.high, true);
    assert_int_equal(zeEventQueryStatus(f->handle), ZE_RESULT_NOT_READY);
    zeta_event_unbind(f->event, &first);
    atomic_store(&second.high, true);
    assert_int_equal(zeEventQueryStatus(f->handle), ZE_RESULT_SUCCESS);
    zeta_event_unbind(f->event, &second);
    assert_int_equal(zeEventQueryStatus(f->handle), ZE_RESULT_NOT_READY);
}

static void bound__event_destroyed__unbind_still_works(void **state)
{
    const struct fixture *f = *state;
    struct level level = {0};

    assert_true(zeta_event_bind(f->event, look, &level));
    assert_int_equal(zeEventDestroy(f->handle), ZE_RESULT_SUCCESS);
    assert_int_equal(zeEventQueryStatus(f->handle), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    zeta_event_notify(f->event);
    zeta_event_unbind(f->event, &level);
    assert_false(zeta_event_bind(f->event, look, &level));
}

static void *raise_level(void *argument)
{
    struct level *level = argument;
    const struct timespec pause = {.tv_nsec = 20000000};

    nanosleep(&pause, NULL);
    atomic_store(&level->high, true);
    zeta_event_notify(fixture.event);
    return NULL;
}

static void wait__level_rises__wakes(void **state)
{
    const struct fixture *f = *state;
    struct level level = {0};
    pthread_t thread;

    assert_true(zeta_event_bind(f->event, look, &level));
    assert_int_equal(pthread_create(&thread, NULL, raise_level, &level), 0);
    assert_int_equal(zeEventHostSynchronize(f->handle, UINT64_MAX), ZE_RESULT_SUCCESS);
    assert_int_equal(pthread_join(thread, NULL), 0);
    zeta_event_unbind(f->event, &level);
}

static atomic_bool stop;

static void *poll_all_the_time(void *argument)
{
    (void)argument;
    while (!atomic_load(&stop))
        (void)zeEventQueryStatus(fixture.handle);
    return NULL;
}

static void unbind__while_others_poll__nobody_looks_afterwards(void **state)
{
    const struct fixture *f = *state;
    static struct level levels[200];
    pthread_t threads[2];
    unsigned int late = 0;

    atomic_store(&stop, false);
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, poll_all_the_time, NULL), 0);
    for (int i = 0; i < 200; i++) {
        assert_true(zeta_event_bind(f->event, look, &levels[i]));
        zeta_event_unbind(f->event, &levels[i]);
        atomic_store(&levels[i].gone, true);
    }
    atomic_store(&stop, true);
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    for (int i = 0; i < 200; i++)
        late += atomic_load(&levels[i].late_looks);
    assert_int_equal(late, 0);
}

SUITE(level)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(bound__level_changes__status_follows_in_both_directions,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(bound__twice__the_later_one_shows, setup, teardown),
        cmocka_unit_test_setup_teardown(bound__event_destroyed__unbind_still_works, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(wait__level_rises__wakes, setup, teardown),
        cmocka_unit_test_setup_teardown(unbind__while_others_poll__nobody_looks_afterwards, setup,
                                        teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
