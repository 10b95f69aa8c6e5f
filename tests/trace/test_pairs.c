/*
 * API tracers and threads: pairs of callbacks, and who waits for whom. Calls are held inside
 * zeEventHostSynchronize() while another thread changes the tracer. A rule that is broken shows as
 * a failed check, or as a wait without end, which the alarm in main() ends.
 *
 * Rule 18.19.
 */
#include "support.h"

#include <unistd.h>

#include "tests/sanitizer.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

#define CALLERS 4

/* ---- a call that is under way -------------------------------------------------------------- */

/* Rule 18.2. */
static void enable__while_a_call_is_under_way__gives_no_epilogue(void **state)
{
    const struct harness *h = *state;
    struct witness early = {0};
    struct witness late = {0};
    struct signal signal = signal_create(h);
    zet_tracer_exp_handle_t first = counting_tracer(h, &early);
    zet_tracer_exp_handle_t second = counting_tracer(h, &late);
    struct waiter waiter;

    /* Nobody listens when the call begins. */
    waiter_start(&waiter, signal.event);
    assert_success(zetTracerExpSetEnabled(first, 1));
    waiter_finish(&waiter);
    assert_int_equal(early.prologues, 0);
    assert_int_equal(early.epilogues, 0);

    /* Somebody else listens. */
    assert_success(zeEventHostReset(signal.event));
    waiter_start(&waiter, signal.event);
    assert_int_equal(early.prologues, 1);
    assert_success(zetTracerExpSetEnabled(second, 1));
    waiter_finish(&waiter);
    assert_int_equal(early.epilogues, 1);
    assert_int_equal(late.prologues, 0);
    assert_int_equal(late.epilogues, 0);
    assert_success(zetTracerExpDestroy(second));
    assert_success(zetTracerExpDestroy(first));
    signal_destroy(&signal);
}

/* Rules 18.2, 18.11. */
static void disable__while_a_call_is_under_way__the_epilogue_still_comes(void **state)
{
    const struct harness *h = *state;
    struct witness witness = {0};
    struct signal signal = signal_create(h);
    zet_tracer_exp_handle_t tracer = counting_tracer(h, &witness);
    struct waiter waiter;

    assert_success(zetTracerExpSetEnabled(tracer, 1));
    waiter_start(&waiter, signal.event);
    assert_int_equal(witness.prologues, 1);
    /* Returns although the call does not: the event is signalled by this very thread. */
    assert_success(zetTracerExpSetEnabled(tracer, 0));
    assert_int_equal(witness.epilogues, 0);
    assert_result(ZE_RESULT_NOT_READY, zeEventQueryStatus(signal.event));
    assert_int_equal(witness.prologues, 1);
    waiter_finish(&waiter);
    assert_int_equal(witness.epilogues, 1);
    assert_int_equal(witness.strangers, 0);
    assert_success(zetTracerExpDestroy(tracer));
    signal_destroy(&signal);
}

static void wrong_epilogue(ze_event_host_synchronize_params_t *params, ze_result_t result,
                           void *user, void **instance)
{
    (void)params;
    (void)result;
    (void)instance;
    atomic_fetch_add(&((struct witness *)user)->strangers, 1);
}

/* Rule 18.3. */
static void callbacks__changed_while_a_call_is_under_way__it_ends_with_its_own(void **state)
{
    const struct harness *h = *state;
    struct witness witness = {0};
    struct signal signal = signal_create(h);
    zet_tracer_exp_handle_t tracer = counting_tracer(h, &witness);
    zet_core_callbacks_t wrong = {.Event = {.pfnHostSynchronizeCb = wrong_epilogue}};
    struct waiter waiter;

    assert_success(zetTracerExpSetEnabled(tracer, 1));
    waiter_start(&waiter, signal.event);
    assert_success(zetTracerExpSetEnabled(tracer, 0));
    assert_success(zetTracerExpSetEpilogues(tracer, &wrong));
    assert_success(zetTracerExpSetEnabled(tracer, 1));
    waiter_finish(&waiter);
    assert_int_equal(witness.epilogues, 1);
    assert_int_equal(witness.strangers, 0);
    assert_success(zeEventHostSynchronize(signal.event, 0));
    assert_int_equal(witness.epilogues, 1);
    assert_int_equal(witness.strangers, 1);
    assert_success(zetTracerExpDestroy(tracer));
    signal_destroy(&signal);
}

struct destroyer {
    pthread_t thread;
    zet_tracer_exp_handle_t tracer;
    const struct witness *witness;
    ze_result_t result;
    uint32_t epilogues; /* when destroy returned */
    atomic_bool done;
};

static void *destroy_tracer(void *argument)
{
    struct destroyer *destroyer = argument;

    destroyer->result = zetTracerExpDestroy(destroyer->tracer);
    destroyer->epilogues = atomic_load(&destroyer->witness->epilogues);
    atomic_store(&destroyer->done, true);
    return NULL;
}

/* Rule 18.12. */
static void destroy__while_a_call_is_under_way__waits_for_its_epilogue(void **state)
{
    const struct harness *h = *state;

    for (int disabled_first = 0; disabled_first < 2; disabled_first++) {
        struct witness witness = {0};
        struct signal signal = signal_create(h);
        struct destroyer destroyer = {.tracer = counting_tracer(h, &witness), .witness = &witness};
        struct waiter waiter;

        assert_success(zetTracerExpSetEnabled(destroyer.tracer, 1));
        waiter_start(&waiter, signal.event);
        if (disabled_first)
            assert_success(zetTracerExpSetEnabled(destroyer.tracer, 0));
        assert_int_equal(pthread_create(&destroyer.thread, NULL, destroy_tracer, &destroyer), 0);
        pause_ms(50);
        assert_false(atomic_load(&destroyer.done));
        /* Meanwhile the tracer sees no new call, and its handle is refused. */
        assert_result(ZE_RESULT_NOT_READY, zeEventQueryStatus(signal.event));
        assert_int_equal(witness.prologues, 1);
        waiter_finish(&waiter);
        assert_int_equal(pthread_join(destroyer.thread, NULL), 0);
        assert_int_equal(destroyer.result, ZE_RESULT_SUCCESS);
        assert_int_equal(destroyer.epilogues, 1);
        signal_destroy(&signal);
    }
}

/* ---- many calls ---------------------------------------------------------------------------- */

struct callers {
    pthread_t threads[CALLERS];
    ze_event_handle_t event;
    atomic_bool stop;
    _Atomic uint32_t running;
    _Atomic uint64_t calls;
};

static void *call_all_the_time(void *argument)
{
    struct callers *callers = argument;

    atomic_fetch_add(&callers->running, 1);
    while (!atomic_load_explicit(&callers->stop, memory_order_relaxed)) {
        (void)zeEventQueryStatus(callers->event);
        atomic_fetch_add_explicit(&callers->calls, 1, memory_order_relaxed);
    }
    return NULL;
}

static void callers_start(struct callers *callers, ze_event_handle_t event)
{
    *callers = (struct callers){.event = event};
    for (int i = 0; i < CALLERS; i++)
        assert_int_equal(pthread_create(&callers->threads[i], NULL, call_all_the_time, callers), 0);
    while (atomic_load(&callers->running) < CALLERS)
        pause_ms(1);
}

static void callers_stop(struct callers *callers)
{
    atomic_store(&callers->stop, true);
    for (int i = 0; i < CALLERS; i++)
        assert_int_equal(pthread_join(callers->threads[i], NULL), 0);
}

/* Waits until the callers made that many more calls, or for a second. */
static void callers_go_on(struct callers *callers, uint64_t calls)
{
    uint64_t before = atomic_load(&callers->calls);

    for (int i = 0; i < 1000 && atomic_load(&callers->calls) < before + calls; i++)
        pause_ms(1);
}

/* Rule 18.12. */
static void tracer__destroyed_during_calls__is_not_used_afterwards(void **state)
{
    const struct harness *h = *state;
    struct signal signal = signal_create(h);
    struct callers callers;
    uint64_t seen = 0;

    callers_start(&callers, signal.event);
    for (int i = 0; i < 150; i++) {
        struct witness *witness = calloc(1, sizeof(*witness));
        assert_non_null(witness);
        zet_tracer_exp_handle_t tracer = counting_tracer(h, witness);

        assert_success(zetTracerExpSetEnabled(tracer, 1));
        if (i % 10 == 0)
            callers_go_on(&callers, 100);
        assert_success(zetTracerExpDestroy(tracer));
        assert_int_equal(witness->prologues, witness->epilogues);
        assert_int_equal(witness->strangers, 0);
        seen += witness->prologues;
        memset(witness, 0x5a, sizeof(*witness));
        free(witness);
    }
    callers_stop(&callers);
    assert_cmp(seen, >, 0);
    signal_destroy(&signal);
}

/* A thread with a tracer of its own, which it turns on and off. */
struct toggler {
    pthread_t thread;
    const struct harness *h;
    struct witness witness;
    zet_tracer_exp_handle_t tracer;
    bool failed;
};

static void *toggle(void *argument)
{
    struct toggler *toggler = argument;

    for (int i = 0; i < 100; i++) {
        if (zetTracerExpSetEnabled(toggler->tracer, 1) != ZE_RESULT_SUCCESS ||
            zetTracerExpSetEnabled(toggler->tracer, 0) != ZE_RESULT_SUCCESS)
            toggler->failed = true;
    }
    if (zetTracerExpSetEnabled(toggler->tracer, 1) != ZE_RESULT_SUCCESS)
        toggler->failed = true;
    return NULL;
}

/* Rule 18.2. */
static void tracers__toggled_by_threads_during_calls__always_pair(void **state)
{
    enum { TOGGLERS = 3 };
    const struct harness *h = *state;
    struct signal signal = signal_create(h);
    struct toggler togglers[TOGGLERS];
    struct callers callers;

    callers_start(&callers, signal.event);
    for (int i = 0; i < TOGGLERS; i++) {
        togglers[i] = (struct toggler){.h = h};
        togglers[i].tracer = counting_tracer(h, &togglers[i].witness);
        assert_int_equal(pthread_create(&togglers[i].thread, NULL, toggle, &togglers[i]), 0);
    }
    for (int i = 0; i < TOGGLERS; i++)
        assert_int_equal(pthread_join(togglers[i].thread, NULL), 0);
    /* All of them end enabled: they hear every call. */
    uint32_t before = togglers[0].witness.prologues;
    callers_go_on(&callers, 1000);
    assert_cmp(togglers[0].witness.prologues, >, before);
    callers_stop(&callers);
    for (int i = 0; i < TOGGLERS; i++) {
        assert_false(togglers[i].failed);
        assert_success(zetTracerExpDestroy(togglers[i].tracer));
        assert_int_equal(togglers[i].witness.prologues, togglers[i].witness.epilogues);
        assert_int_equal(togglers[i].witness.strangers, 0);
    }
    signal_destroy(&signal);
}

static void *query_once(void *event)
{
    (void)zeEventQueryStatus(event);
    return NULL;
}

/* Threads of the process that came after the tracer, and their ends. Rule 18.4. */
static void tracer__sees_the_calls_of_every_thread(void **state)
{
    enum { THREADS = 300 };
    const struct harness *h = *state;
    struct witness witness = {0};
    struct signal signal = signal_create(h);
    zet_tracer_exp_handle_t tracer = counting_tracer(h, &witness);

    assert_success(zetTracerExpSetEnabled(tracer, 1));
    for (uint32_t i = 1; i <= THREADS; i++) {
        pthread_t thread;

        assert_int_equal(pthread_create(&thread, NULL, query_once, signal.event), 0);
        assert_int_equal(pthread_join(thread, NULL), 0);
        assert_int_equal(witness.prologues, i);
        assert_int_equal(witness.epilogues, i);
    }
    assert_success(zetTracerExpDestroy(tracer));
    signal_destroy(&signal);
}

/* Callbacks that call the API from several threads on objects that the calls use too. */
struct asker {
    struct witness witness;
    ze_event_handle_t event;
};

static void query_inside(ze_event_query_status_params_t *params, ze_result_t result, void *user,
                         void **instance)
{
    struct asker *asker = user;

    (void)params;
    (void)result;
    (void)instance;
    atomic_fetch_add(&asker->witness.prologues, 1);
    (void)zeEventQueryStatus(asker->event);
    (void)zeEventHostSynchronize(asker->event, 0);
}

/* Rule 18.6. */
static void callbacks__that_call_the_api_in_threads__are_never_nested(void **state)
{
    const struct harness *h = *state;
    struct witness waits = {0};
    struct signal signal = signal_create(h);
    struct asker asker = {.event = signal.event};
    zet_core_callbacks_t table = {.Event = {.pfnQueryStatusCb = query_inside}};
    zet_tracer_exp_handle_t tracer = make_tracer(h, &asker, &table, NULL);
    zet_tracer_exp_handle_t other = counting_tracer(h, &waits);
    struct callers callers;

    assert_success(zetTracerExpSetEnabled(tracer, 1));
    callers_start(&callers, signal.event);
    callers_go_on(&callers, 1000);
    callers_stop(&callers);
    assert_int_equal(asker.witness.prologues, callers.calls);
    /* The other tracer hears of calls, but of no wait: those are made inside callbacks. */
    zet_core_callbacks_t only_waits = {
        .Event = {.pfnHostSynchronizeCb = counting_prologues.Event.pfnHostSynchronizeCb}};
    zet_core_callbacks_t nothing = {0};
    assert_success(zetTracerExpSetPrologues(other, &only_waits));
    assert_success(zetTracerExpSetEpilogues(other, &nothing));
    assert_success(zetTracerExpSetEnabled(other, 1));
    callers_start(&callers, signal.event);
    callers_go_on(&callers, 1000);
    callers_stop(&callers);
    assert_int_equal(waits.prologues, 0);
    assert_success(zetTracerExpDestroy(other));
    assert_success(zetTracerExpDestroy(tracer));
    signal_destroy(&signal);
}

SUITE(pairs)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(enable__while_a_call_is_under_way__gives_no_epilogue),
        cmocka_unit_test(disable__while_a_call_is_under_way__the_epilogue_still_comes),
        cmocka_unit_test(callbacks__changed_while_a_call_is_under_way__it_ends_with_its_own),
        cmocka_unit_test(destroy__while_a_call_is_under_way__waits_for_its_epilogue),
        cmocka_unit_test(tracer__destroyed_during_calls__is_not_used_afterwards),
        cmocka_unit_test(tracers__toggled_by_threads_during_calls__always_pair),
        cmocka_unit_test(tracer__sees_the_calls_of_every_thread),
        cmocka_unit_test(callbacks__that_call_the_api_in_threads__are_never_nested),
    };

    (void)alarm(600);
    return cmocka_run_group_tests(tests, harness_setup, harness_teardown);
}
