/*
 * Whose launch is next. One launch has the turn until all others are known to wait, so nothing
 * depends on time.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <cmocka.h>

#include "plugins/vgpu/tile/tile.h"

#define LAUNCHES 6u

struct bed {
    pthread_mutex_t lock;
    struct zeta_vgpu_turns turns;
    const struct launch *ran[LAUNCHES];
    uint32_t count;
};

struct launch {
    struct bed *bed;
    enum zeta_vgpu_rank rank;
    atomic_bool interrupt;
    bool had_turn;
    pthread_t thread;
};

static int setup(void **state)
{
    static struct bed bed;

    bed.count = 0;
    pthread_mutex_init(&bed.lock, NULL);
    zeta_vgpu_turns_init(&bed.turns);
    *state = &bed;
    return 0;
}

static int teardown(void **state)
{
    struct bed *bed = *state;

    zeta_vgpu_turns_finish(&bed->turns);
    pthread_mutex_destroy(&bed->lock);
    return 0;
}

static void *run(void *argument)
{
    struct launch *launch = argument;
    struct bed *bed = launch->bed;

    pthread_mutex_lock(&bed->lock);
    launch->had_turn =
        zeta_vgpu_turns_take_locked(&bed->turns, &bed->lock, &launch->interrupt, launch->rank);
    if (launch->had_turn) {
        bed->ran[bed->count++] = launch;
        zeta_vgpu_turns_pass_locked(&bed->turns);
    }
    pthread_mutex_unlock(&bed->lock);
    return NULL;
}

static uint32_t waiting(struct bed *bed, enum zeta_vgpu_rank rank)
{
    pthread_mutex_lock(&bed->lock);
    uint32_t count = bed->turns.waiting[rank];
    pthread_mutex_unlock(&bed->lock);
    return count;
}

/* Starts a launch and comes back when it waits. */
static void start(struct bed *bed, struct launch *launch, enum zeta_vgpu_rank rank)
{
    const struct timespec step = {.tv_nsec = 100000};
    uint32_t before = waiting(bed, rank);

    launch->bed = bed;
    launch->rank = rank;
    assert_int_equal(pthread_create(&launch->thread, NULL, run, launch), 0);
    while (waiting(bed, rank) == before)
        (void)nanosleep(&step, NULL);
}

static void hold(struct bed *bed)
{
    static const atomic_bool never;

    pthread_mutex_lock(&bed->lock);
    assert_true(zeta_vgpu_turns_take_locked(&bed->turns, &bed->lock, &never, ZETA_VGPU_RANK_LOW));
    pthread_mutex_unlock(&bed->lock);
}

static void release(struct bed *bed)
{
    pthread_mutex_lock(&bed->lock);
    zeta_vgpu_turns_pass_locked(&bed->turns);
    pthread_mutex_unlock(&bed->lock);
}

static void turns__several_wait__the_best_rank_comes_first(void **state)
{
    static const enum zeta_vgpu_rank ranks[LAUNCHES] = {
        ZETA_VGPU_RANK_LOW,    ZETA_VGPU_RANK_LOW,  ZETA_VGPU_RANK_NORMAL,
        ZETA_VGPU_RANK_NORMAL, ZETA_VGPU_RANK_HIGH, ZETA_VGPU_RANK_HIGH};
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
        assert_int_equal(bed->ran[i]->rank, ranks[LAUNCHES - 1 - i]);
}

static void turns__the_best_is_interrupted__the_others_go_on(void **state)
{
    struct bed *bed = *state;
    struct launch high = {0};
    struct launch low = {0};

    hold(bed);
    start(bed, &low, ZETA_VGPU_RANK_LOW);
    start(bed, &high, ZETA_VGPU_RANK_HIGH);
    atomic_store(&high.interrupt, true);
    pthread_mutex_lock(&bed->lock);
    zeta_vgpu_turns_wake_locked(&bed->turns);
    pthread_mutex_unlock(&bed->lock);
    assert_int_equal(pthread_join(high.thread, NULL), 0);
    assert_false(high.had_turn);
    assert_int_equal(bed->count, 0);
    release(bed);
    assert_int_equal(pthread_join(low.thread, NULL), 0);
    assert_true(low.had_turn);
    assert_ptr_equal(bed->ran[0], &low);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(turns__several_wait__the_best_rank_comes_first, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(turns__the_best_is_interrupted__the_others_go_on, setup,
                                        teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
