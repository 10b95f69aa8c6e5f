/* What who samples wants of those who execute, and the one clock that these share. */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include <zeta/thread.h>

#include "child.h"
#include "plugins/vgpu/instance/instance_priv.h"
#include "plugins/vgpu/tile/tile.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

static char directory[] = "/tmp/zeta-pace-XXXXXX";

static int make_directory(void **state)
{
    (void)state;
    signal(SIGPIPE, SIG_IGN);
    return mkdtemp(directory) ? 0 : -1;
}

static int remove_directory(void **state)
{
    (void)state;
    return rmdir(directory);
}

static struct zeta_vgpu_instance *attach(void)
{
    const struct zeta_vgpu_instance_desc desc = {
        .directory = directory, .name = "pace", .tiles = 2, .rows_per_tile = 5};
    struct zeta_vgpu_instance *instance = NULL;
    struct zeta_vgpu_message message;

    if (zeta_vgpu_instance_attach(&desc, &message, &instance) != ZETA_VGPU_OK)
        fail_msg("%s", message.text);
    return instance;
}

static void sample(struct zeta_vgpu_instance *instance, uint32_t unit, uint64_t period_ns)
{
    assert_int_equal(zeta_vgpu_instance_take_unit(instance, 1, unit, false), 0);
    zeta_vgpu_instance_request_period(instance, 1, unit, period_ns);
}

/* A child that samples often, until it is killed. */
static void child_samples(const struct child *parent)
{
    sample(attach(), ZETA_VGPU_UNIT_OA, 10240);
    child_say(parent->to);
    (void)child_hear(parent->from);
}

/* Rule 21.10. */
static void period__of_several_and_of_the_dead__the_shortest_alive(void **state)
{
    struct child child = child_start(child_samples);
    struct zeta_vgpu_instance *instance = attach();

    (void)state;
    assert_true(child_hear(child.from));
    assert_int_equal(zeta_vgpu_instance_period(instance, 0), 0);
    assert_int_equal(zeta_vgpu_instance_period(instance, 1), 10240);
    sample(instance, ZETA_VGPU_UNIT_DISPATCH, 1310720);
    assert_int_equal(zeta_vgpu_instance_period(instance, 1), 10240);
    kill(child.pid, SIGKILL);
    (void)child_end(&child);
    zeta_vgpu_instance_reap(instance);
    assert_int_equal(zeta_vgpu_instance_period(instance, 1), 1310720);
    zeta_vgpu_instance_release_unit(instance, 1, ZETA_VGPU_UNIT_DISPATCH);
    assert_int_equal(zeta_vgpu_instance_period(instance, 1), 0);
    zeta_vgpu_instance_detach(instance);
}

/* Time that one took is not there for another. What lies far ahead was written by none of us.
 * Rule 21.9. */
static void time__taken_by_several__follows_each_other(void **state)
{
    struct zeta_vgpu_instance *instance = attach(), *other = attach();
    const uint64_t begin = zeta_monotonic_ns();

    (void)state;
    assert_int_equal(zeta_vgpu_instance_take_time(instance, 0, begin, 1000), begin + 1000);
    assert_int_equal(zeta_vgpu_instance_take_time(other, 0, begin + 200, 500), begin + 1500);
    assert_int_equal(zeta_vgpu_instance_take_time(other, 1, begin + 200, 500), begin + 700);
    assert_int_equal(zeta_vgpu_instance_take_time(instance, 0, begin + 9000, 1), begin + 9001);
    atomic_store(&instance->segment->taken_ns[0], UINT64_MAX / 2);
    assert_int_equal(zeta_vgpu_instance_take_time(other, 0, begin, 3), begin + 3);
    zeta_vgpu_instance_detach(other);
    zeta_vgpu_instance_detach(instance);
}

/* The file that names processes who have the memory is full of others, and those end. */
static void place__none_free_at_first__taken_by_the_next_reap(void **state)
{
    const struct zeta_vgpu_instance_desc desc = {
        .directory = directory, .name = "pace", .tiles = 2, .rows_per_tile = 5};
    struct zeta_vgpu_instance *instance = attach(), *other = NULL;
    struct zeta_vgpu_message message;
    uint64_t places[64][2] = {{0}}; /* behind three words */
    int file = open(instance->path, O_WRONLY | O_CLOEXEC);

    (void)state;
    assert_int_equal(pwrite(file, places, sizeof(places), 24), sizeof(places));
    close(file);
    assert_int_equal(zeta_vgpu_instance_attach(&desc, &message, &other),
                     ZETA_VGPU_INVALID_ARGUMENT);
    zeta_vgpu_instance_reap(instance);
    other = attach();
    zeta_vgpu_instance_detach(other);
    zeta_vgpu_instance_detach(instance);
}

/* An epoch of 50 000 instructions, as fast as all of them but for its share of a processor. */
static uint64_t lasts(struct zeta_vgpu_speed *speed, uint64_t took_ns, uint64_t clocks)
{
    const struct zeta_vgpu_epoch epoch = {
        .begin_ns = 5000, .end_ns = 5000 + took_ns, .clocks = clocks, .instructions = 50000};

    return zeta_vgpu_speed_add(speed, &epoch);
}

/* Rule 21.10. */
static void speed__clocks_of_epochs_differ__they_last_in_proportion(void **state)
{
    struct zeta_vgpu_speed speed = {0};

    (void)state;
    for (int i = 0; i < 1000; i++)
        (void)lasts(&speed, 100000, i % 2 == 0 ? 1000 : 3000);
    assert_in_range(lasts(&speed, 100000, 1000), 48000, 52000);
    assert_in_range(lasts(&speed, 100000, 3000), 144000, 156000);
    /* Nothing lasts for ever. */
    assert_int_equal(lasts(&speed, 100000, 1000000), 1600000);
}

/* A machine may have no processor for one, and the first of a process is slow. Rule 21.10. */
static void speed__first_epoch_was_held_up__others_do_not_last_for_it(void **state)
{
    (void)state;
    for (uint64_t held_up_ns = 100000; held_up_ns <= 60000000000; held_up_ns *= 10) {
        struct zeta_vgpu_speed speed = {0};

        (void)lasts(&speed, held_up_ns, 1000);
        for (int i = 0; i < 100; i++)
            assert_in_range(lasts(&speed, 100000, 1000), 95000, 105000);
    }
}

static void speed__epochs_are_held_up__those_that_are_not_last_as_before(void **state)
{
    struct zeta_vgpu_speed speed = {0};

    (void)state;
    for (int i = 0; i < 1000; i++) {
        const bool held_up = i % 3 == 2;
        const uint64_t lasts_ns = lasts(&speed, held_up ? 60000000000 : 100000, 1000);

        assert_cmp(lasts_ns, <, 200000);
    }
    /* Another kernel may be slower for good. */
    for (int i = 0; i < 16; i++)
        (void)lasts(&speed, 1000000, 1000);
    assert_in_range(lasts(&speed, 1000000, 1000), 950000, 1050000);
}

SUITE(pace)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(period__of_several_and_of_the_dead__the_shortest_alive,
                                  child_teardown),
        cmocka_unit_test(place__none_free_at_first__taken_by_the_next_reap),
        cmocka_unit_test(time__taken_by_several__follows_each_other),
        cmocka_unit_test(speed__clocks_of_epochs_differ__they_last_in_proportion),
        cmocka_unit_test(speed__first_epoch_was_held_up__others_do_not_last_for_it),
        cmocka_unit_test(speed__epochs_are_held_up__those_that_are_not_last_as_before),
    };

    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
