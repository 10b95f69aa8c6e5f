/* The reactor: thread life, arming, intervals, removal against running calls, fork. */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/capture/reactor.h"
#include "tests/forked.h"
#include "tests/sanitizer.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

struct seen {
    _Atomic uint32_t readable;
    _Atomic uint32_t interval;
    _Atomic uint32_t inside;
    _Atomic uint32_t slow_ms;
    char thread_name[16];
    sigset_t blocked;
};

static void sleep_ms(unsigned ms)
{
    struct timespec time = {.tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000};

    (void)nanosleep(&time, NULL);
}

static void note(void *context, bool readable)
{
    struct seen *seen = context;

    atomic_fetch_add(&seen->inside, 1);
    (void)pthread_getname_np(pthread_self(), seen->thread_name, sizeof(seen->thread_name));
    (void)pthread_sigmask(SIG_BLOCK, NULL, &seen->blocked);
    if (atomic_load(&seen->slow_ms) > 0)
        sleep_ms(atomic_load(&seen->slow_ms));
    atomic_fetch_add(readable ? &seen->readable : &seen->interval, 1);
    atomic_fetch_sub(&seen->inside, 1);
}

/** Waits up to two seconds for a counter to reach a value. */
static void wait_for(_Atomic uint32_t *counter, uint32_t value)
{
    for (int i = 0; i < 2000 && atomic_load(counter) < value; i++)
        sleep_ms(1);
    assert_cmp(atomic_load(counter), >=, value);
}

static void set_readable(int fd)
{
    const uint64_t one = 1;

    assert_int_equal(write(fd, &one, sizeof(one)), sizeof(one));
}

static void reactor__readable_descriptor__calls_once_per_arming(void **state)
{
    struct seen seen = {0};
    struct zeta_watch *watch = NULL;
    int fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);

    (void)state;
    assert_int_equal(zeta_reactor_add(fd, 0, note, &seen, &watch), ZE_RESULT_SUCCESS);
    assert_int_equal(zeta_reactor_watch_count(), 1);
    sleep_ms(5);
    assert_int_equal(atomic_load(&seen.readable), 0);
    set_readable(fd);
    wait_for(&seen.readable, 1);
    sleep_ms(10); /* still readable, but disarmed */
    assert_int_equal(atomic_load(&seen.readable), 1);
    zeta_reactor_rearm(watch);
    wait_for(&seen.readable, 2);
    zeta_reactor_remove(watch);
    assert_int_equal(zeta_reactor_watch_count(), 0);
    assert_int_equal(atomic_load(&seen.interval), 0);
    (void)close(fd);
}

static void reactor__its_thread__is_named_and_blocks_signals(void **state)
{
    struct seen seen = {0};
    struct zeta_watch *watch = NULL;

    (void)state;
    assert_int_equal(zeta_reactor_add(-1, 1000000, note, &seen, &watch), ZE_RESULT_SUCCESS);
    wait_for(&seen.interval, 3);
    zeta_reactor_remove(watch);
    assert_string_equal(seen.thread_name, "zeta-reactor");
    assert_true(sigismember(&seen.blocked, SIGINT));
    assert_true(sigismember(&seen.blocked, SIGPROF));
    assert_true(sigismember(&seen.blocked, SIGCHLD));
}

static void reactor__remove_while_ready_runs__waits_for_it(void **state)
{
    struct seen seen = {0};
    struct zeta_watch *watch = NULL;

    (void)state;
    atomic_store(&seen.slow_ms, 30);
    assert_int_equal(zeta_reactor_add(-1, 1000000, note, &seen, &watch), ZE_RESULT_SUCCESS);
    wait_for(&seen.inside, 1);
    zeta_reactor_remove(watch);
    assert_int_equal(atomic_load(&seen.inside), 0);
    assert_int_equal(atomic_load(&seen.interval), 1);
    sleep_ms(10);
    assert_int_equal(atomic_load(&seen.interval), 1);
}

static void reactor__descriptor_that_cannot_be_polled__is_an_error_with_nothing_left(void **state)
{
    struct seen seen = {0};
    struct zeta_watch *watch = NULL;
    FILE *file = tmpfile();

    (void)state;
    assert_non_null(file);
    assert_int_equal(zeta_reactor_add(fileno(file), 1000000, note, &seen, &watch),
                     ZE_RESULT_ERROR_UNKNOWN);
    assert_null(watch);
    assert_int_equal(zeta_reactor_watch_count(), 0);
    zeta_reactor_remove(NULL);
    (void)fclose(file);
}

static void *add_and_remove(void *context)
{
    struct seen *seen = context;

    for (int i = 0; i < 200; i++) {
        struct zeta_watch *watch = NULL;
        int fd = eventfd(1, EFD_NONBLOCK | EFD_CLOEXEC);

        if (zeta_reactor_add(fd, 100000, note, seen, &watch) == ZE_RESULT_SUCCESS) {
            zeta_reactor_rearm(watch);
            zeta_reactor_remove(watch);
        }
        (void)close(fd);
    }
    return NULL;
}

static void reactor__threads_that_add_and_remove__leave_nothing(void **state)
{
    static struct seen seen[4];
    pthread_t threads[4];

    (void)state;
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, add_and_remove, &seen[i]), 0);
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_int_equal(zeta_reactor_watch_count(), 0);
}

static void reactor__child_of_fork__has_its_own(void **state)
{
    struct seen seen = {0};
    struct zeta_watch *watch = NULL;
    int status = 0;
    pid_t child;

    (void)state;
    if (NO_THREADS_AFTER_FORK) {
        print_message("skipped: the thread sanitizer does not follow forked children\n");
        skip();
    }
    assert_int_equal(zeta_reactor_add(-1, 1000000, note, &seen, &watch), ZE_RESULT_SUCCESS);
    wait_for(&seen.interval, 1);
    child = fork_child();
    if (child == 0) {
        struct seen mine = {0};
        struct zeta_watch *other = NULL;
        int good = zeta_reactor_watch_count() == 0 &&
                   zeta_reactor_add(-1, 1000000, note, &mine, &other) == ZE_RESULT_SUCCESS;

        for (int i = 0; i < 2000 && atomic_load(&mine.interval) == 0; i++)
            sleep_ms(1);
        good = good && atomic_load(&mine.interval) > 0;
        zeta_reactor_remove(other);
        _exit(good ? 0 : 1);
    }
    assert_cmp(child, >, 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    wait_for(&seen.interval, atomic_load(&seen.interval) + 2);
    zeta_reactor_remove(watch);
}

SUITE(reactor)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reactor__readable_descriptor__calls_once_per_arming),
        cmocka_unit_test(reactor__its_thread__is_named_and_blocks_signals),
        cmocka_unit_test(reactor__remove_while_ready_runs__waits_for_it),
        cmocka_unit_test(reactor__descriptor_that_cannot_be_polled__is_an_error_with_nothing_left),
        cmocka_unit_test(reactor__threads_that_add_and_remove__leave_nothing),
        cmocka_unit_test(reactor__child_of_fork__has_its_own),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
