/*
 * Sources of different levels in one program: each calls what it means, and all find the same
 * contexts. On the library with default contexts and on the older one without (fake.h).
 *
 * Rule 25.1.
 */
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "levels.h"

enum { THREADS = 8 };

static ze_context_handle_t context_91(unsigned device)
{
    fake_reset();
    assert_int_equal(level_91_open(fake_device(device)), ZE_RESULT_SUCCESS);
    return seen.context;
}

static ze_context_handle_t context_100(unsigned device)
{
    fake_reset();
    assert_int_equal(level_100_open(fake_device(device)), ZE_RESULT_SUCCESS);
    return seen.context;
}

static void levels__in_one_program__keep_their_meaning(void **state)
{
    (void)state;
    (void)context_91(0);
    assert_string_equal(seen.function, "zetMetricStreamerOpen");
    assert_int_equal(seen.values[0], 1);
    assert_int_equal(seen.values[1], 2);
    (void)context_100(0);
    assert_string_equal(seen.function, "zetMetricStreamerOpen");
    assert_int_equal(seen.values[0], 3);
    assert_int_equal(seen.values[1], 4);
    assert_int_equal(level_proposal_enable(fake_handle(1)), ZE_RESULT_SUCCESS);
    assert_string_equal(seen.function, "zetMetricTracerEnableExp");
}

/* Rule 25.1. */
static void contexts__in_all_sources__are_the_same_for_a_driver(void **state)
{
    const ze_context_handle_t first = context_91(0);
    const ze_context_handle_t second = context_91(4);

    (void)state;
    assert_non_null(first);
    assert_non_null(second);
    assert_ptr_not_equal(first, second);
    for (unsigned i = 0; i < 4; i++) {
        assert_ptr_equal(context_91(i), first);
        assert_ptr_equal(context_100(i), first);
    }
    assert_ptr_equal(context_100(4), second);
#ifdef FAKE_WITHOUT_DEFAULT_CONTEXT
    assert_int_equal(fake_contexts_created, 2);
#else
    assert_int_equal(fake_contexts_created, 0);
    assert_ptr_equal(first, fake_default_context(0));
#endif
}

static void *find_context(void *out)
{
    return level_91_find_context(fake_device(0), out) == ZE_RESULT_SUCCESS ? out : NULL;
}

static void contexts__asked_for_by_many_threads__are_the_same(void **state)
{
    ze_context_handle_t found[THREADS] = {NULL};
    pthread_t threads[THREADS];

    (void)state;
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, find_context, &found[i]), 0);
    for (int i = 0; i < THREADS; i++) {
        void *answer = NULL;

        assert_int_equal(pthread_join(threads[i], &answer), 0);
        assert_ptr_equal(answer, &found[i]);
        assert_ptr_equal(found[i], found[0]);
    }
    assert_ptr_equal(context_100(0), found[0]);
#ifdef FAKE_WITHOUT_DEFAULT_CONTEXT
    assert_int_equal(fake_contexts_created, 1);
#endif
}

/* A context of the parent means nothing in a child, so the child makes one of its own.
 * Rule 25.1. */
static void contexts__in_a_child__are_not_those_of_the_parent(void **state)
{
    const ze_context_handle_t before = context_91(0);
    int status = -1;
    pid_t child;

    (void)state;
    child = fork();
    if (child == 0) {
        const ze_context_handle_t after = context_91(0);

#ifdef FAKE_WITHOUT_DEFAULT_CONTEXT
        _exit(after && after != before && context_100(1) == after ? 0 : 1);
#else
        _exit(after == before ? 0 : 1);
#endif
    }
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_ptr_equal(context_91(0), before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(contexts__asked_for_by_many_threads__are_the_same), /* first: creates */
        cmocka_unit_test(levels__in_one_program__keep_their_meaning),
        cmocka_unit_test(contexts__in_all_sources__are_the_same_for_a_driver),
        cmocka_unit_test(contexts__in_a_child__are_not_those_of_the_parent),
    };

    return cmocka_run_group_tests_name("levels", tests, NULL, NULL);
}
