/* The counter behind counter based events: values, slots, and values that lost theirs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>
#include <pthread.h>

#include "core/event/counter.h"
#include "tests/support/suite.h"

static struct zeta_counter *create(struct zeta_counter_memory *memory)
{
    struct zeta_counter *counter = NULL;

    assert_int_equal(zeta_counter_create(memory, &counter), ZE_RESULT_SUCCESS);
    return counter;
}

static void take__values_in_any_order__each_has_its_own_state(void **state)
{
    struct zeta_counter *counter = create(NULL);
    uint64_t first = zeta_counter_take(counter);
    uint64_t second = zeta_counter_take(counter);

    (void)state;
    assert_int_equal(first, 1);
    assert_int_equal(second, 2);
    assert_int_equal(zeta_counter_state(counter, 1), ZETA_SIGNAL_OFF);
    zeta_counter_reach(counter, 2, 10, 20);
    assert_int_equal(zeta_counter_state(counter, 1), ZETA_SIGNAL_OFF);
    assert_int_equal(zeta_counter_state(counter, 2), ZETA_SIGNAL_ON);
    assert_int_equal(zeta_counter_state(counter, 3), ZETA_SIGNAL_OFF);
    zeta_counter_lose(counter, 1);
    assert_int_equal(zeta_counter_state(counter, 1), ZETA_SIGNAL_LOST);
    assert_int_equal(zeta_counter_slot_of(counter, 2)->times.begin_ticks, 10);
    assert_int_equal(zeta_counter_slot_of(counter, 2)->times.end_ticks, 20);
    zeta_counter_destroy(counter);
}

static void reserve__before_the_work__is_what_the_work_takes(void **state)
{
    struct zeta_counter *counter = create(NULL);

    (void)state;
    zeta_counter_reserve(counter);
    zeta_counter_reserve(counter);
    assert_int_equal(counter->core->issued, 1);
    assert_int_equal(zeta_counter_take(counter), 1);
    assert_int_equal(zeta_counter_take(counter), 2);
    zeta_counter_destroy(counter);
}

/* However many wait at the same time: each is reached when it is reached, and not before. */
static void own_counter__many_values_wait__each_is_exact(void **state)
{
    struct zeta_counter *counter = create(NULL);
    enum { MANY = 1000 };

    (void)state;
    for (uint64_t i = 1; i <= MANY; i++)
        assert_int_equal(zeta_counter_take(counter), i);
    for (uint64_t i = 1; i <= MANY; i++)
        assert_int_equal(zeta_counter_state(counter, i), ZETA_SIGNAL_OFF);
    assert_int_equal(zeta_counter_state(counter, MANY + 1), ZETA_SIGNAL_OFF);
    for (uint64_t i = 1; i <= MANY; i += 2)
        zeta_counter_reach(counter, i, i, i + 1);
    for (uint64_t i = 1; i <= MANY; i++)
        assert_int_equal(zeta_counter_state(counter, i), i % 2 ? ZETA_SIGNAL_ON : ZETA_SIGNAL_OFF);
    for (uint64_t i = 2; i <= MANY; i += 2)
        zeta_counter_reach(counter, i, i, i + 1);
    /* Those that lose their slot now were reached long ago. */
    for (uint64_t i = 0; i < 5 * MANY; i++)
        zeta_counter_reach(counter, zeta_counter_take(counter), 1, 2);
    for (uint64_t i = 1; i <= 6 * MANY; i++)
        assert_int_equal(zeta_counter_state(counter, i), ZETA_SIGNAL_ON);
    assert_int_equal(counter->core->overdue, 0);
    zeta_counter_destroy(counter);
}

static void shared_counter__more_wait_than_it_has_slots__is_late_and_never_early(void **state)
{
    struct zeta_counter_memory *memory = calloc(1, sizeof(*memory));
    struct zeta_counter *counter = create(memory);
    struct zeta_counter *other = create(memory);
    const uint64_t late = zeta_counter_take(counter);
    const uint64_t last = 3 * ZETA_COUNTER_SHARED_SLOTS;

    (void)state;
    for (uint64_t i = 2; i <= last; i++)
        zeta_counter_reach(counter, zeta_counter_take(other), i, i + 1);
    /* Its slot is gone, and it was not reached: so no value without a slot counts. */
    assert_int_equal(zeta_counter_state(other, late), ZETA_SIGNAL_OFF);
    assert_int_equal(zeta_counter_state(other, 2), ZETA_SIGNAL_OFF);
    assert_int_equal(zeta_counter_state(other, last), ZETA_SIGNAL_ON);
    assert_null(zeta_counter_slot_of(counter, late));
    zeta_counter_reach(counter, late, 1, 2);
    assert_int_equal(zeta_counter_state(other, late), ZETA_SIGNAL_ON);
    assert_int_equal(zeta_counter_state(other, 2), ZETA_SIGNAL_ON);
    zeta_counter_destroy(counter);
    zeta_counter_destroy(other);
    free(memory);
}

enum { THREADS = 4, ROUNDS = 20000, BEHIND = 5 };

/* Reaches its values out of order, some of them after they lost their slot. */
static void *take_and_reach(void *argument)
{
    struct zeta_counter *counter = argument;
    uint64_t held[BEHIND] = {0};

    for (uint64_t i = 0; i < ROUNDS; i++) {
        uint64_t *place = &held[i % BEHIND];

        if (*place)
            zeta_counter_reach(counter, *place, 1, 2);
        *place = zeta_counter_take(counter);
    }
    for (int i = 0; i < BEHIND; i++) {
        if (zeta_counter_state(counter, held[i]) != ZETA_SIGNAL_OFF)
            return argument; /* nobody else reaches it */
        zeta_counter_reach(counter, held[i], 1, 2);
    }
    return NULL;
}

static void counter__many_threads__ends_with_everything_reached(void **state)
{
    struct zeta_counter *counter = create(NULL);
    pthread_t threads[THREADS];

    (void)state;
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, take_and_reach, counter), 0);
    for (int i = 0; i < THREADS; i++) {
        void *wrong = NULL;

        assert_int_equal(pthread_join(threads[i], &wrong), 0);
        assert_null(wrong);
    }
    assert_int_equal(counter->core->issued, THREADS * ROUNDS);
    assert_int_equal(counter->core->overdue, 0);
    for (uint64_t value = 1; value <= THREADS * ROUNDS; value++)
        assert_int_equal(zeta_counter_state(counter, value), ZETA_SIGNAL_ON);
    zeta_counter_destroy(counter);
}

static void *take_and_reach_all(void *argument)
{
    struct zeta_counter *counter = argument;

    for (int i = 0; i < 100 * ROUNDS; i++)
        zeta_counter_reach(counter, zeta_counter_take(counter), 1, 2);
    return NULL;
}

/* Nobody would wake who looks while another value is given out and sees none. */
static void own_counter__reached_value__stays_so_while_others_are_given_out(void **state)
{
    struct zeta_counter *counter = create(NULL);
    pthread_t thread;
    bool stays = true;

    (void)state;
    zeta_counter_reach(counter, zeta_counter_take(counter), 1, 2);
    assert_int_equal(pthread_create(&thread, NULL, take_and_reach_all, counter), 0);
    while (stays && zeta_counter_newest(counter) < 100 * ROUNDS)
        stays = zeta_counter_state(counter, 1) == ZETA_SIGNAL_ON;
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_true(stays);
    zeta_counter_destroy(counter);
}

SUITE(counter)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(take__values_in_any_order__each_has_its_own_state),
        cmocka_unit_test(reserve__before_the_work__is_what_the_work_takes),
        cmocka_unit_test(own_counter__many_values_wait__each_is_exact),
        cmocka_unit_test(shared_counter__more_wait_than_it_has_slots__is_late_and_never_early),
        cmocka_unit_test(counter__many_threads__ends_with_everything_reached),
        cmocka_unit_test(own_counter__reached_value__stays_so_while_others_are_given_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
