/*
 * Handles used by many threads at once: each object has one owner, each race one winner.
 * Meant for the thread sanitizer as well.
 */
#include "core/object/object.h"
#include "tests/support/suite.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#define THREADS 4
#define ROUNDS 20000u

struct thing {
    struct zeta_object object;
    _Atomic uint64_t owner;
};

static _Atomic uint64_t finished;
static _Atomic uint64_t errors;
static _Atomic(struct thing *) shared;
static atomic_bool stop;

static void count_finish(void *object)
{
    struct thing *thing = object;

    atomic_store(&thing->owner, 0);
    atomic_fetch_add(&finished, 1);
}

static void *churn(void *context)
{
    uint64_t me = (uint64_t)(uintptr_t)context;

    for (uint32_t i = 0; i < ROUNDS; i++) {
        void *object = NULL;
        struct thing *thing;

        if (zeta_object_create(ZETA_KIND_EVENT, sizeof(*thing), &object) != ZE_RESULT_SUCCESS) {
            atomic_fetch_add(&errors, 1);
            continue;
        }
        thing = object;
        /* The slot is ours alone: nobody else may have written an owner. */
        if (atomic_exchange(&thing->owner, me) != 0 || !zeta_object_pin(thing, ZETA_KIND_EVENT) ||
            !zeta_object_retire(thing) || atomic_load(&thing->owner) != me)
            atomic_fetch_add(&errors, 1);
        zeta_object_unpin(thing);
        zeta_object_unpin(thing);
    }
    return NULL;
}

static void run_threads(void *(*run)(void *context))
{
    pthread_t threads[THREADS];

    for (size_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, run, (void *)(uintptr_t)(i + 1)), 0);
    for (size_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
}

static void churn__four_threads__gives_each_slot_to_one(void **state)
{
    (void)state;
    atomic_store(&finished, 0);
    run_threads(churn);
    assert_int_equal(atomic_load(&errors), 0);
    assert_int_equal(atomic_load(&finished), THREADS * ROUNDS);
}

static void *pin_shared(void *context)
{
    (void)context;
    while (!atomic_load(&stop)) {
        struct thing *thing = atomic_load(&shared);

        if (thing && zeta_object_pin(thing, ZETA_KIND_EVENT)) {
            /* While pinned the finisher cannot have run. */
            if (atomic_load(&thing->owner) != 7)
                atomic_fetch_add(&errors, 1);
            zeta_object_unpin(thing);
        }
    }
    return NULL;
}

static void pin__while_others_destroy__never_sees_a_finished_object(void **state)
{
    pthread_t threads[2];

    (void)state;
    atomic_store(&finished, 0);
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, pin_shared, NULL), 0);
    for (uint32_t i = 0; i < ROUNDS; i++) {
        void *object = NULL;

        assert_int_equal(zeta_object_create(ZETA_KIND_EVENT, sizeof(struct thing), &object),
                         ZE_RESULT_SUCCESS);
        atomic_store(&((struct thing *)object)->owner, 7);
        atomic_store(&shared, object);
        assert_true(zeta_object_retire(object));
        zeta_object_unpin(object);
    }
    atomic_store(&stop, true);
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_int_equal(atomic_load(&errors), 0);
    assert_int_equal(atomic_load(&finished), ROUNDS);
}

static _Atomic uint32_t winners;

static void *race_retire(void *context)
{
    (void)context;
    if (zeta_object_retire(atomic_load(&shared)))
        atomic_fetch_add(&winners, 1);
    return NULL;
}

static void retire__raced__has_one_winner(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 200; i++) {
        void *object = NULL;

        assert_int_equal(zeta_object_create(ZETA_KIND_FENCE, sizeof(struct thing), &object),
                         ZE_RESULT_SUCCESS);
        atomic_store(&shared, object);
        atomic_store(&winners, 0);
        run_threads(race_retire);
        assert_int_equal(atomic_load(&winners), 1);
        zeta_object_unpin(object);
    }
}

SUITE(threads)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(churn__four_threads__gives_each_slot_to_one),
        cmocka_unit_test(pin__while_others_destroy__never_sees_a_finished_object),
        cmocka_unit_test(retire__raced__has_one_winner),
    };

    if (zeta_object_init() != ZE_RESULT_SUCCESS)
        return 1;
    zeta_object_set_finisher(ZETA_KIND_EVENT, count_finish);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
