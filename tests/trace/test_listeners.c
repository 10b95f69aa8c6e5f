/*
 * Lists of listeners and who holds them: many listeners, threads that come and go, writers during
 * calls. The program runs twice, the second time in a process that has no membarrier(2), in which
 * calls order their accesses with fences.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/trace/hazard.h"
#include "core/trace/trace.h"
#include "tests/sanitizer.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

#define CALLERS 4
#define FUNCTION ZETA_FUNCTION_zeEventQueryStatus

/* A listener of one function that counts. */
struct counter {
    struct zeta_trace_listener listener;
    _Atomic uint32_t begins;
    _Atomic uint32_t ends;
    _Atomic uint32_t strangers;
};

static bool wants_one(const struct zeta_trace_listener *listener, enum zeta_function function)
{
    (void)listener;
    return function == FUNCTION;
}

static void count_begin(struct zeta_trace_listener *listener, enum zeta_function function,
                        void *arguments, void **slot)
{
    struct counter *counter = (struct counter *)listener;

    (void)arguments;
    if (function != FUNCTION || *slot)
        atomic_fetch_add(&counter->strangers, 1);
    *slot = counter;
    atomic_fetch_add_explicit(&counter->begins, 1, memory_order_relaxed);
}

static void count_end(struct zeta_trace_listener *listener, enum zeta_function function,
                      void *arguments, ze_result_t result, void **slot)
{
    struct counter *counter = (struct counter *)listener;

    (void)arguments;
    (void)result;
    if (function != FUNCTION || *slot != counter)
        atomic_fetch_add(&counter->strangers, 1);
    atomic_fetch_add_explicit(&counter->ends, 1, memory_order_relaxed);
}

static struct counter *make_counter(void)
{
    struct counter *counter = calloc(1, sizeof(*counter));

    assert_non_null(counter);
    counter->listener =
        (struct zeta_trace_listener){.wants = wants_one, .begin = count_begin, .end = count_end};
    return counter;
}

/* What an entry does. */
static bool call(void)
{
    struct zeta_trace_call traced;

    if (!zeta_trace_wanted(FUNCTION) || !zeta_trace_begin(&traced, FUNCTION, NULL))
        return false;
    zeta_trace_end(&traced, ZE_RESULT_SUCCESS);
    return true;
}

static void listeners__any_number__come_and_go_in_any_order(void **state)
{
    enum { MANY = 50 };
    struct counter *counters[MANY];

    (void)state;
    for (uint32_t i = 0; i < MANY; i++) {
        counters[i] = make_counter();
        assert_int_equal(zeta_trace_add(&counters[i]->listener), ZE_RESULT_SUCCESS);
        assert_true(call());
    }
    /* Every third leaves, then comes back, then all leave. */
    for (uint32_t i = 0; i < MANY; i += 3)
        zeta_trace_remove(&counters[i]->listener);
    assert_true(call());
    for (uint32_t i = 0; i < MANY; i++)
        assert_int_equal(counters[i]->begins, MANY - i + (i % 3 != 0));
    for (uint32_t i = 0; i < MANY; i += 3)
        assert_int_equal(zeta_trace_add(&counters[i]->listener), ZE_RESULT_SUCCESS);
    for (uint32_t i = 0; i < MANY; i++)
        zeta_trace_remove(&counters[(i * 7) % MANY]->listener);
    assert_false(zeta_trace_wanted(FUNCTION));
    assert_false(call());
    for (uint32_t i = 0; i < MANY; i++) {
        assert_int_equal(counters[i]->begins, counters[i]->ends);
        assert_int_equal(counters[i]->strangers, 0);
        assert_true(zeta_trace_is_idle(&counters[i]->listener));
        free(counters[i]);
    }
}

/* A call that runs code of the application, which calls again: both are traced. */
static void calls__one_inside_another__both_keep_their_lists(void **state)
{
    struct counter *first = make_counter();
    struct counter *second = make_counter();
    struct zeta_trace_call outer;

    (void)state;
    assert_int_equal(zeta_trace_add(&first->listener), ZE_RESULT_SUCCESS);
    assert_true(zeta_trace_begin(&outer, FUNCTION, NULL));
    assert_true(call());
    assert_int_equal(first->begins, 2);
    assert_int_equal(first->ends, 1);
    zeta_trace_remove(&first->listener);
    assert_false(zeta_trace_is_idle(&first->listener));
    assert_int_equal(zeta_trace_add(&second->listener), ZE_RESULT_SUCCESS);
    assert_true(call());
    assert_false(zeta_trace_is_idle(&first->listener));
    zeta_trace_end(&outer, ZE_RESULT_SUCCESS);
    assert_int_equal(first->ends, 2);
    assert_int_equal(second->begins, 1);
    assert_int_equal(second->ends, 1);
    assert_true(zeta_trace_is_idle(&first->listener));
    zeta_trace_wait(&first->listener);
    zeta_trace_remove(&second->listener);
    free(first);
    free(second);
}

/* ---- writers during calls ------------------------------------------------------------------ */

static atomic_bool stop;
static _Atomic uint64_t calls;

static void *call_all_the_time(void *argument)
{
    (void)argument;
    while (!atomic_load_explicit(&stop, memory_order_relaxed)) {
        (void)call();
        atomic_fetch_add_explicit(&calls, 1, memory_order_relaxed);
    }
    return NULL;
}

/* Freed as soon as it is idle, so a call that still had it would read freed memory. */
static uint64_t come_and_go(int rounds)
{
    uint64_t heard = 0;

    for (int i = 0; i < rounds; i++) {
        struct counter *counter = make_counter();

        if (zeta_trace_add(&counter->listener) != ZE_RESULT_SUCCESS)
            abort();
        for (int n = 0; i % 64 == 0 && n < 100000 && atomic_load(&counter->begins) == 0; n++)
            (void)sched_yield();
        zeta_trace_remove(&counter->listener);
        zeta_trace_wait(&counter->listener);
        if (atomic_load(&counter->begins) != atomic_load(&counter->ends) ||
            atomic_load(&counter->strangers) != 0)
            abort();
        heard += atomic_load(&counter->begins);
        memset(counter, 0x5a, sizeof(*counter));
        free(counter);
    }
    return heard;
}

static void *come_and_go_in_a_thread(void *heard)
{
    *(uint64_t *)heard = come_and_go(1500);
    return NULL;
}

static void listeners__freed_during_calls__are_not_used_afterwards(void **state)
{
    pthread_t callers[CALLERS];
    pthread_t writers[2];
    uint64_t heard[2] = {0};

    (void)state;
    atomic_store(&stop, false);
    atomic_store(&calls, 0);
    for (int i = 0; i < CALLERS; i++)
        assert_int_equal(pthread_create(&callers[i], NULL, call_all_the_time, NULL), 0);
    while (atomic_load(&calls) < CALLERS)
        (void)sched_yield();
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&writers[i], NULL, come_and_go_in_a_thread, &heard[i]), 0);
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_join(writers[i], NULL), 0);
    atomic_store(&stop, true);
    for (int i = 0; i < CALLERS; i++)
        assert_int_equal(pthread_join(callers[i], NULL), 0);
    assert_cmp(heard[0] + heard[1], >, 0);
    assert_false(zeta_trace_wanted(FUNCTION));
}

/* ---- the order of holding and looking ------------------------------------------------------ */

/* What a pointer leads to, one after another; dead once nobody can have it any more. */
static struct node {
    atomic_bool dead;
} nodes[100000];

static const void *_Atomic node_pointer;
static _Atomic uint64_t dead_seen;

static void *hold_all_the_time(void *argument)
{
    struct zeta_hazard *hazard = zeta_hazard_claim();

    (void)argument;
    if (!hazard)
        abort();
    while (!atomic_load_explicit(&stop, memory_order_relaxed)) {
        const struct node *node = zeta_hazard_acquire(hazard, &node_pointer);

        for (int i = 0; i < 20; i++) {
            if (atomic_load_explicit(&node->dead, memory_order_relaxed))
                atomic_fetch_add(&dead_seen, 1);
        }
        zeta_hazard_clear(hazard);
    }
    zeta_hazard_release(hazard);
    return NULL;
}

static void replace_the_pointer_all_the_time(void)
{
    pthread_t threads[2];

    atomic_store(&stop, false);
    atomic_store(&node_pointer, &nodes[0]);
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, hold_all_the_time, NULL), 0);
    for (size_t i = 1; i < sizeof(nodes) / sizeof(nodes[0]); i++) {
        atomic_store(&node_pointer, &nodes[i]);
        zeta_hazard_barrier();
        if (!zeta_hazard_protects(&nodes[i - 1]))
            atomic_store_explicit(&nodes[i - 1].dead, true, memory_order_relaxed);
    }
    atomic_store(&stop, true);
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
}

/* Nothing is allocated or locked here, so calls and the writer meet within nanoseconds. */
static void pointer__replaced_all_the_time__nobody_gets_what_is_dead(void **state)
{
    (void)state;
    zeta_hazard_barrier_init();
    /* Without a system call for each replacement there is time for more of them. */
    int rounds = atomic_load(&zeta_hazard_fenced) && !HAVE_THREAD_SANITIZER ? 30 : 1;
    for (; rounds > 0; rounds--) {
        memset(nodes, 0, sizeof(nodes));
        replace_the_pointer_all_the_time();
        assert_int_equal(atomic_load(&dead_seen), 0);
    }
}

/* ---- threads that end ---------------------------------------------------------------------- */

static void *claim_and_end(void *out_holder)
{
    *(struct zeta_hazard **)out_holder = zeta_hazard_claim();
    return NULL;
}

/* Nothing runs when a thread ends, and its hazard pointer is found all the same. */
static void holders__of_threads_that_ended__are_used_again(void **state)
{
    enum { THREADS = 2000 };
    struct zeta_hazard *seen[THREADS];
    unsigned different = 0;

    (void)state;
    for (unsigned i = 0; i < THREADS; i++) {
        struct zeta_hazard *hazard = NULL;
        pthread_t thread;
        unsigned n = 0;

        assert_int_equal(pthread_create(&thread, NULL, claim_and_end, &hazard), 0);
        assert_int_equal(pthread_join(thread, NULL), 0);
        assert_non_null(hazard);
        while (n < different && seen[n] != hazard)
            n++;
        if (n == different)
            seen[different++] = hazard;
    }
    assert_cmp(different, <, 200);
}

static void *claim_hold_and_end(void *list)
{
    static const void *_Atomic pointer;
    struct zeta_hazard *hazard = zeta_hazard_claim();

    atomic_store(&pointer, list);
    return (void *)zeta_hazard_acquire(hazard, &pointer);
}

/* A thread that was joined is known to the kernel for a moment longer. */
static void assert_held_no_more(const void *list)
{
    for (unsigned i = 0; i < 10000 && zeta_hazard_protects(list); i++)
        (void)usleep(1000);
    assert_false(zeta_hazard_protects(list));
}

/* A thread that ends inside a callback never comes back to its call: nobody waits for it.
 * Rule 18.18. */
static void holder__thread_ended_inside_a_call__holds_nothing(void **state)
{
    static char list;
    void *held = NULL;
    pthread_t thread;

    (void)state;
    assert_int_equal(pthread_create(&thread, NULL, claim_hold_and_end, &list), 0);
    assert_int_equal(pthread_join(thread, &held), 0);
    assert_ptr_equal(held, &list);
    assert_held_no_more(&list);
}

/* Also when there were so many that their hazard pointers were freed, and nobody has taken them
 * again. Rule 18.18. */
static void holders__many_threads_ended_inside_calls__hold_nothing(void **state)
{
    enum { THREADS = 200 };
    static char list;

    (void)state;
    for (unsigned i = 0; i < THREADS; i++) {
        void *held = NULL;
        pthread_t thread;

        assert_int_equal(pthread_create(&thread, NULL, claim_hold_and_end, &list), 0);
        assert_int_equal(pthread_join(thread, &held), 0);
        assert_ptr_equal(held, &list);
        assert_held_no_more(&list);
    }
}

static void ordering__is_the_one_that_the_kernel_allows(void **state)
{
    struct counter *counter = make_counter();

    (void)state;
    assert_int_equal(zeta_trace_add(&counter->listener), ZE_RESULT_SUCCESS);
    assert_int_equal(atomic_load(&zeta_hazard_fenced), getenv("WITHOUT_MEMBARRIER") != NULL);
    zeta_trace_remove(&counter->listener);
    free(counter);
}

/* From now on membarrier(2) gives ENOSYS. */
static int take_membarrier_away(void)
{
    struct sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog filter = {.len = sizeof(rules) / sizeof(rules[0]), .filter = rules};

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return -1;
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);
}

/* The kernel takes it back while listeners are there. */
static void ordering__changes_under_way__goes_on_with_fences(void **state)
{
    pthread_t callers[CALLERS];
    struct counter *counter = make_counter();

    (void)state;
    atomic_store(&stop, false);
    for (int i = 0; i < CALLERS; i++)
        assert_int_equal(pthread_create(&callers[i], NULL, call_all_the_time, NULL), 0);
    assert_int_equal(zeta_trace_add(&counter->listener), ZE_RESULT_SUCCESS);
    if (take_membarrier_away() != 0)
        print_message("no seccomp here: membarrier stays\n");
    (void)come_and_go(200);
    zeta_trace_remove(&counter->listener);
    zeta_trace_wait(&counter->listener);
    assert_int_equal(counter->begins, counter->ends);
    atomic_store(&stop, true);
    for (int i = 0; i < CALLERS; i++)
        assert_int_equal(pthread_join(callers[i], NULL), 0);
    free(counter);
}

/* The library is unloaded: a call under way ends as it began, later ones tell nobody. */
static void close__listeners_there__later_calls_tell_nobody(void **state)
{
    static const void *volatile list; /* a library that goes frees nothing */
    struct counter *counter = make_counter();
    struct zeta_trace_call under_way;

    (void)state;
    assert_int_equal(zeta_trace_add(&counter->listener), ZE_RESULT_SUCCESS);
    list = atomic_load(&zeta_trace_points[FUNCTION]);
    assert_non_null(list);
    assert_true(zeta_trace_begin(&under_way, FUNCTION, NULL));
    zeta_trace_close();
    assert_false(call());
    zeta_trace_end(&under_way, ZE_RESULT_SUCCESS);
    assert_int_equal(counter->begins, 1);
    assert_int_equal(counter->ends, 1);
    free(counter);
}

SUITE(listeners)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ordering__is_the_one_that_the_kernel_allows),
        cmocka_unit_test(listeners__any_number__come_and_go_in_any_order),
        cmocka_unit_test(calls__one_inside_another__both_keep_their_lists),
        cmocka_unit_test(listeners__freed_during_calls__are_not_used_afterwards),
        cmocka_unit_test(pointer__replaced_all_the_time__nobody_gets_what_is_dead),
        cmocka_unit_test(holders__of_threads_that_ended__are_used_again),
        cmocka_unit_test(holder__thread_ended_inside_a_call__holds_nothing),
        cmocka_unit_test(holders__many_threads_ended_inside_calls__hold_nothing),
        cmocka_unit_test(ordering__changes_under_way__goes_on_with_fences),
        cmocka_unit_test(close__listeners_there__later_calls_tell_nobody),
    };

    (void)alarm(600);
    if (getenv("WITHOUT_MEMBARRIER") && take_membarrier_away() != 0) {
        print_message("skipped: no filter of system calls can be installed here\n");
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
