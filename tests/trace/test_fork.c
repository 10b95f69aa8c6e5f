/* A traced process that forks. */
#include "support.h"

#include <sys/wait.h>
#include <unistd.h>

#include "tests/forked.h"
#include "tests/sanitizer.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

/* Looks for the device anew: the child's own driver, context and event. */
static bool child_start(struct harness *fresh)
{
    const ze_context_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    uint32_t count = 1;

    return zeDriverGet(&count, &fresh->driver) == ZE_RESULT_SUCCESS &&
           zeContextCreate(fresh->driver, &desc, &fresh->context) == ZE_RESULT_SUCCESS;
}

static int check_child(zet_tracer_exp_handle_t inherited, const struct witness *parents)
{
    uint32_t before = parents->prologues;
    struct witness witness = {0};
    const zet_tracer_exp_desc_t desc = {.pUserData = &witness};
    zet_tracer_exp_handle_t tracer = NULL;
    struct harness fresh = {0};

    if (zetTracerExpSetEnabled(inherited, 0) != ZE_RESULT_ERROR_UNINITIALIZED)
        return 1;
    if (!child_start(&fresh))
        return 2;
    struct signal signal = signal_create(&fresh);
    if (zeEventQueryStatus(signal.event) != ZE_RESULT_NOT_READY || parents->prologues != before)
        return 3;
    if (zetTracerExpCreate(fresh.context, &desc, &tracer) != ZE_RESULT_SUCCESS ||
        zetTracerExpSetPrologues(tracer, &counting_prologues) != ZE_RESULT_SUCCESS ||
        zetTracerExpSetEpilogues(tracer, &counting_epilogues) != ZE_RESULT_SUCCESS ||
        zetTracerExpSetEnabled(tracer, 1) != ZE_RESULT_SUCCESS)
        return 4;
    for (int i = 0; i < 100; i++)
        (void)zeEventQueryStatus(signal.event);
    if (witness.prologues != 100 || witness.epilogues != 100 || witness.strangers != 0)
        return 5;
    if (zetTracerExpDestroy(tracer) != ZE_RESULT_SUCCESS)
        return 6;
    (void)zeEventQueryStatus(signal.event);
    if (witness.prologues != 100 || parents->prologues != before)
        return 7;
    return 0;
}

static int status_of(pid_t child)
{
    int status = 0;

    assert_cmp(child, >, 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

/* Rule 18.17. */
static void fork__traced_process__child_has_no_tracer(void **state)
{
    const struct harness *h = *state;
    struct witness witness = {0};
    struct signal signal = signal_create(h);
    zet_tracer_exp_handle_t tracer = counting_tracer(h, &witness);

    assert_success(zetTracerExpSetEnabled(tracer, 1));
    (void)zeEventQueryStatus(signal.event);
    const pid_t child = fork_child();
    if (child == 0) {
        (void)alarm(600);
        _exit(check_child(tracer, &witness));
    }
    assert_int_equal(status_of(child), 0);
    (void)zeEventQueryStatus(signal.event);
    assert_int_equal(witness.prologues, 2);
    assert_int_equal(witness.epilogues, 2);
    assert_success(zetTracerExpDestroy(tracer));
    signal_destroy(&signal);
}

/* While another thread is inside a traced call, and the lock of the writers is often taken. */
static void *toggle(void *tracer)
{
    for (int i = 0; i < 300; i++) {
        (void)zetTracerExpSetEnabled(tracer, 0);
        (void)zetTracerExpSetEnabled(tracer, 1);
    }
    return NULL;
}

/* Rule 18.17. */
static void fork__while_others_trace__child_starts_anew(void **state)
{
    const struct harness *h = *state;
    struct witness witness = {0};
    struct signal signal = signal_create(h);
    zet_tracer_exp_handle_t tracer = counting_tracer(h, &witness);
    struct waiter waiter;
    pthread_t toggler;

    if (NO_FORK_OF_BUSY_THREADS)
        skip();
    assert_success(zetTracerExpSetEnabled(tracer, 1));
    waiter_start(&waiter, signal.event);
    assert_int_equal(pthread_create(&toggler, NULL, toggle, tracer), 0);
    for (int i = 0; i < 20; i++) {
        const pid_t child = fork_child();

        if (child == 0) {
            (void)alarm(600);
            _exit(check_child(tracer, &witness));
        }
        assert_int_equal(status_of(child), 0);
    }
    assert_int_equal(pthread_join(toggler, NULL), 0);
    waiter_finish(&waiter);
    assert_success(zetTracerExpDestroy(tracer));
    assert_int_equal(witness.prologues, witness.epilogues);
    signal_destroy(&signal);
}

/* ---- in a callback ------------------------------------------------------------------------- */

struct forker {
    struct witness witness;
    pid_t child;
};

static void fork_inside(ze_event_query_status_params_t *params, ze_result_t result, void *user,
                        void **instance)
{
    struct forker *forker = user;

    (void)params;
    (void)result;
    forker->witness.prologues++;
    *instance = forker;
    if (forker->witness.prologues == 1)
        forker->child = fork_child();
}

static void after_fork(ze_event_query_status_params_t *params, ze_result_t result, void *user,
                       void **instance)
{
    struct forker *forker = user;

    (void)params;
    if (*instance != forker)
        forker->witness.strangers++;
    forker->witness.result = result;
    forker->witness.epilogues++;
}

/* Both processes come back from the callback; the pair is kept in both. Rule 18.17. */
static void fork__inside_a_prologue__ends_the_call_in_both_processes(void **state)
{
    const struct harness *h = *state;
    struct forker forker = {.child = -1};
    struct signal signal = signal_create(h);
    zet_core_callbacks_t before = {.Event = {.pfnQueryStatusCb = fork_inside}};
    zet_core_callbacks_t after = {.Event = {.pfnQueryStatusCb = after_fork}};
    zet_tracer_exp_handle_t tracer = make_tracer(h, &forker, &before, &after);

    assert_success(zetTracerExpSetEnabled(tracer, 1));
    ze_result_t result = zeEventQueryStatus(signal.event);
    if (forker.child == 0) {
        bool paired = forker.witness.prologues == 1 && forker.witness.epilogues == 1 &&
                      forker.witness.strangers == 0 && result == ZE_RESULT_ERROR_UNINITIALIZED &&
                      forker.witness.result == result;

        (void)alarm(600);
        _exit(paired ? check_child(tracer, &forker.witness) : 20);
    }
    assert_int_equal(result, ZE_RESULT_NOT_READY);
    assert_int_equal(status_of(forker.child), 0);
    assert_int_equal(forker.witness.epilogues, 1);
    assert_success(zetTracerExpDestroy(tracer));
    signal_destroy(&signal);
}

SUITE(fork)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fork__traced_process__child_has_no_tracer),
        cmocka_unit_test(fork__while_others_trace__child_starts_anew),
        cmocka_unit_test(fork__inside_a_prologue__ends_the_call_in_both_processes),
    };

    (void)alarm(600);
    return cmocka_run_group_tests(tests, harness_setup, harness_teardown);
}
