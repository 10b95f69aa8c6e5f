/*
 * Handles in a child of fork(): the parent's are known as such, new ones work, no lock is taken
 * over, also when another thread holds one at the moment of the fork.
 */
#include "core/object/object.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/util/error.h"
#include "tests/sanitizer.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

struct thing {
    struct zeta_object object;
    uint64_t payload;
};

static struct thing *create(void)
{
    void *object = NULL;

    if (zeta_object_create(ZETA_KIND_EVENT, sizeof(struct thing), &object) != ZE_RESULT_SUCCESS)
        return NULL;
    return object;
}

/* Runs in the child; gives the number of the step that went wrong, 0 if none. */
static int child_steps(const struct thing *parents)
{
    struct thing *own;

    if (zeta_object_is(parents, ZETA_KIND_EVENT) || zeta_object_pin(parents, ZETA_KIND_EVENT))
        return 1;
    if (zeta_object_explain(parents, ZETA_KIND_EVENT, "f", "p") != ZE_RESULT_ERROR_UNINITIALIZED)
        return 2;
    if (zeta_object_init() != ZE_RESULT_SUCCESS)
        return 3;
    if (zeta_object_is(parents, ZETA_KIND_EVENT))
        return 4;
    if (zeta_object_explain(parents, ZETA_KIND_EVENT, "f", "p") != ZE_RESULT_ERROR_UNINITIALIZED ||
        !strstr(zeta_error_describe(), "fork"))
        return 5;
    own = create();
    if (!own || !zeta_object_is(own, ZETA_KIND_EVENT) || own->payload != 0)
        return 6;
    if (!zeta_object_retire(own))
        return 7;
    zeta_object_unpin(own);
    return zeta_object_is(own, ZETA_KIND_EVENT) ? 8 : 0;
}

static int run_in_child(int (*steps)(const struct thing *), const struct thing *thing)
{
    int status = 0;
    pid_t child = fork();

    assert_cmp(child, >=, 0);
    if (child == 0) {
        (void)alarm(600); /* a dead-lock ends as a signal */
        _exit(steps(thing));
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void fork__child__starts_anew(void **state)
{
    struct thing *thing = create();

    (void)state;
    assert_int_equal(run_in_child(child_steps, thing), 0);
    assert_true(zeta_object_is(thing, ZETA_KIND_EVENT));
}

static int grandchild_steps(const struct thing *parents)
{
    struct thing *own;

    if (zeta_object_init() != ZE_RESULT_SUCCESS)
        return 20;
    own = create();
    if (run_in_child(child_steps, own) != 0)
        return 21;
    return run_in_child(child_steps, parents);
}

/* Rule 1.5. */
static void fork__grandchild__knows_handles_of_both_ancestors(void **state)
{
    (void)state;
    assert_int_equal(run_in_child(grandchild_steps, create()), 0);
}

/* A child with little address space still gets handles, from a smaller range. */
static int limited_steps(const struct thing *parents)
{
    const struct rlimit limit = {UINT64_C(42) << 30, UINT64_C(42) << 30};

    /* The parent's range of 32 GiB is inherited and counts, so 10 GiB are left. */
    if (setrlimit(RLIMIT_AS, &limit) != 0)
        return 30;
    return child_steps(parents);
}

static void fork__address_space_limited__uses_a_smaller_range(void **state)
{
    (void)state;
    if (HAVE_ADDRESS_SANITIZER || HAVE_THREAD_SANITIZER) {
        print_message("skipped: sanitizers need all of the address space\n");
        skip();
    }
    assert_int_equal(run_in_child(limited_steps, create()), 0);
}

static atomic_bool stop;

static void *churn(void *context)
{
    (void)context;
    while (!atomic_load(&stop)) {
        struct thing *thing = create();

        if (thing && zeta_object_retire(thing))
            zeta_object_unpin(thing);
    }
    return NULL;
}

static void fork__while_other_thread_creates__child_does_not_dead_lock(void **state)
{
    struct thing *thing = create();
    pthread_t thread;

    (void)state;
    assert_int_equal(pthread_create(&thread, NULL, churn, NULL), 0);
    for (int i = 0; i < 50; i++)
        assert_int_equal(run_in_child(child_steps, thing), 0);
    atomic_store(&stop, true);
    assert_int_equal(pthread_join(thread, NULL), 0);
}

SUITE(fork)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fork__child__starts_anew),
        cmocka_unit_test(fork__grandchild__knows_handles_of_both_ancestors),
        cmocka_unit_test(fork__address_space_limited__uses_a_smaller_range),
        cmocka_unit_test(fork__while_other_thread_creates__child_does_not_dead_lock),
    };

    if (zeta_object_init() != ZE_RESULT_SUCCESS)
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
