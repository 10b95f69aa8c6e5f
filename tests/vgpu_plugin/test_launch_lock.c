/*
 * Which launch is next. One launch has the engine until all others are known to wait, so nothing
 * depends on time.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <cmocka.h>

#include "plugins/vgpu/tile/tile.h"
#include "tests/support/suite.h"

#define LAUNCHES 6u

struct bed {
    pthread_mutex_t lock;
    struct zeta_vgpu_launch_lock launch_lock;
    const struct launch *ran[LAUNCHES];
    uint32_t count;
};

struct launch {
    struct bed *bed;
    enum zeta_vgpu_priority priority;
    atomic_bool interrupt;
    bool had_engine;
    pthread_t thread;
};

static int setup(void **state)
{
    static struct bed bed;

    bed.count = 0;
    pthread_mutex_init(&bed.lock, NULL);
    bed.launch_lock = (struct zeta_vgpu_launch_lock){.taken = false};
    pthread_cond_init(&bed.launch_lock.changed, NULL);
    *state = &bed;
    return 0;
}

static int teardown(void **state)
{
    struct bed *bed = *state;

    pthread_cond_destroy(&bed->launch_lock.changed);
    pthread_mutex_destroy(&bed->lock);
    return 0;
}

static void *run(void *argument)
{
    struct launch *launch = argument;
    struct bed *bed = launch->bed;

    pthread_mutex_lock(&bed->lock);
    launch->had_engine = zeta_vgpu_launch_lock_acquire_locked(&bed->launch_lock, &bed->lock,
                                                              &launch->interrupt, launch->priority);
    if (launch->had_engine) {
        bed->ran[bed->count++] = launch;
        zeta_vgpu_launch_lock_release_locked(&bed->launch_lock);
    }
    pthread_mutex_unlock(&bed->lock);
    return NULL;
}

static uint32_t waiting(struct bed *bed, enum zeta_vgpu_priority priority)
{
    pthread_mutex_lock(&bed->lock);
    uint32_t count = bed->launch_lock.waiting[priority];
    pthread_mutex_unlock(&bed->lock);
    return count;
}

/* Starts a launch and comes back when it waits. */
static void start(struct bed *bed, struct launch *launch, enum zeta_vgpu_priority priority)
{
    const struct timespec step = {.tv_nsec = 100000};
    uint32_t before = waiting(bed, priority);

    launch->bed = bed;
    launch->priority = priority;
    assert_int_equal(pthread_create(&launch->thread, NULL, run, launch), 0);
    while (waiting(bed, priority) == before)
        (void)nanosleep(&step, NULL);
}

static void hold(struct bed *bed)
{
    static const atomic_bool never;

    pthread_mutex_lock(&bed->lock);
    assert_true(zeta_vgpu_launch_lock_acquire_locked(&bed->launch_lock, &bed->lock, &never,
                                                     ZETA_VGPU_PRIORITY_LOW));
    pthread_mutex_unlock(&bed->lock);
}

static void release(struct bed *bed)
{
    pthread_mutex_lock(&bed->lock);
    zeta_vgpu_launch_lock_release_locked(&bed->launch_lock);
    pthread_mutex_unlock(&bed->lock);
}

/* Rule 7.23. */
static void launches__several_wait__the_best_priority_comes_first(void **state)
{
    static const enum zeta_vgpu_priority ranks[LAUNCHES] = {
        ZETA_VGPU_PRIORITY_LOW,    ZETA_VGPU_PRIORITY_LOW,  ZETA_VGPU_PRIORITY_NORMAL,
        ZETA_VGPU_PRIORITY_NORMAL, ZETA_VGPU_PRIORITY_HIGH, ZETA_VGPU_PRIORITY_HIGH};
    struct bed *bed = *state;
    struct launch launches[LAUNCHES] = {0};

    hold(bed);
    for (uint32_t i = 0; i < LAUNCHES; i++)
        start(bed, &launches[i], ranks[i]);
    assert_int_equal(bed->count, 0);
    release(bed);
    for (uint32_t i = 0; i < LAUNCHES; i++)
        assert_int_equal(pthread_join(launches[i].thread, NULL), 0);
    assert_int_equal(bed->count, LAUNCHES);
    for (uint32_t i = 0; i < LAUNCHES; i++)
        assert_int_equal(bed->ran[i]->priority, ranks[LAUNCHES - 1 - i]);
}

/* Rule 7.23. */
static void launches__the_best_is_interrupted__the_others_go_on(void **state)
{
    struct bed *bed = *state;
    struct launch high = {0};
    struct launch low = {0};

    hold(bed);
    start(bed, &low, ZETA_VGPU_PRIORITY_LOW);
    start(bed, &high, ZETA_VGPU_PRIORITY_HIGH);
    atomic_store(&high.interrupt, true);
    pthread_mutex_lock(&bed->lock);
    pthread_cond_broadcast(&bed->launch_lock.changed);
    pthread_mutex_unlock(&bed->lock);
    assert_int_equal(pthread_join(high.thread, NULL), 0);
    assert_false(high.had_engine);
    assert_int_equal(bed->count, 0);
    release(bed);
    assert_int_equal(pthread_join(low.thread, NULL), 0);
    assert_true(low.had_engine);
    assert_ptr_equal(bed->ran[0], &low);
}

SUITE(launch_lock)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(launches__several_wait__the_best_priority_comes_first,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(launches__the_best_is_interrupted__the_others_go_on, setup,
                                        teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
