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

SUITE(pace)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(period__of_several_and_of_the_dead__the_shortest_alive,
                                  child_teardown),
        cmocka_unit_test(place__none_free_at_first__taken_by_the_next_reap),
        cmocka_unit_test(time__taken_by_several__follows_each_other),
    };

    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
