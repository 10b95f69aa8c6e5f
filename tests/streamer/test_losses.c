/*
 * A slow reader of a small ring: what was read and what was lost is what was written. The reports
 * of a timer lie a period apart, so the clock says how many were written.
 */
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "streaming.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

/** Steps of sleeping and reading, the way a slow program does. */
static void read_slowly(struct streaming *stream)
{
    static const size_t rooms[] = {4096, 3, 2, 50, 199, 200, 201, 7, 64};
    static const uint32_t most[] = {UINT32_MAX, 1, 30, UINT32_MAX, 100};

    for (uint32_t i = 0; i < 60; i++) {
        if (i % 3 == 0)
            sleep_ms(i % 4 * 3);
        (void)streaming_read(stream, most[i % 5], rooms[i % 9]);
    }
    streaming_catch_up(stream);
}

/** All threads stand still for longer than the ring holds, also the one that samples. */
static void read_after_a_stop(struct streaming *stream)
{
    const pid_t self = getpid(), child = fork();

    assert_cmp(child, >=, 0);
    if (child == 0) {
        /* More than once: the first one may come before the stop. */
        while (getppid() == self) {
            sleep_ms(30);
            (void)kill(self, SIGCONT);
        }
        _exit(0);
    }
    (void)raise(SIGSTOP);
    (void)kill(child, SIGKILL);
    assert_int_equal(waitpid(child, NULL, 0), child);
    streaming_catch_up(stream);
}

static void lose_some(const struct bed *bed, uint32_t notify, ze_event_handle_t event,
                      void (*read)(struct streaming *stream))
{
    struct streaming stream = streaming_of(bed->device, "ComputeBasic");
    struct streaming *active[] = {&stream};
    struct zeta_stream_info before;

    streaming_activate(bed, active, 1);
    streaming_open(bed, &stream, 10240, notify, event);
    before = streaming_begin_at_a_deadline(&stream);
    /* How soon it is too slow depends on who else uses the processors. */
    for (int reads = 0; streaming_info(&stream).lost == before.lost; reads++) {
        assert_cmp(reads, <, 1000);
        read(&stream);
    }
    streaming_expect_all_told(&stream, &before);
    streaming_close(&stream);
}

/* Rule 11.10. */
static void slow_reader__ring_of_the_backend__given_and_lost_are_all(void **state)
{
    lose_some(*state, 0, NULL, read_slowly);
}

/* Rule 11.10. */
static void slow_reader__ring_of_the_core__given_and_lost_are_all(void **state)
{
    const struct bed *bed = *state;
    struct test_event event = make_event(bed->context);

    lose_some(bed, 20, event.event, read_slowly);
    destroy_event(&event);
}

/* Rule 11.10. */
static void stopped_process__sampler_is_late__given_and_lost_are_all(void **state)
{
    lose_some(*state, 0, NULL, read_after_a_stop);
}

SUITE(losses)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slow_reader__ring_of_the_backend__given_and_lost_are_all),
        cmocka_unit_test(slow_reader__ring_of_the_core__given_and_lost_are_all),
        cmocka_unit_test(stopped_process__sampler_is_late__given_and_lost_are_all),
    };

    return cmocka_run_group_tests(tests, bed_setup, bed_teardown);
}
