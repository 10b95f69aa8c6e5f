/* Several processes on one machine: fork, dup, exec, and ends without a goodbye. */

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/kmd/tests/bed.h"
#include "tests/sanitizer.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

enum { EXPONENT = 10, RECORD = 264, PERIOD_NS = 106667 };

static long try_open(int node, long set)
{
    const uint64_t properties[][2] = {
        {BED_SAMPLE, 1}, {BED_SET, (uint64_t)set}, {BED_FORMAT, 10}, {BED_EXPONENT, EXPONENT}};

    return bed_open(node, BED_NONBLOCK, properties, 4);
}

/* Waits for a child; its exit status. */
static int wait_for(pid_t child)
{
    int status = 0;

    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void dup__unit__free_when_the_last_is_closed(void **state)
{
    struct kmd_machine *machine = bed_start("tgl-gt2");
    const int node = bed_node();
    const long set = bed_add(node, BED_UUID);
    const int stream = (int)try_open(node, set);
    const int other = dup(stream);
    uint8_t data[RECORD];

    (void)state;
    (void)close(stream);
    assert_int_equal(try_open(node, set), -EBUSY);
    kmd_advance(machine, PERIOD_NS);
    assert_true(bed_polls(other, 0));
    assert_int_equal(bed_read(other, data, sizeof(data)), RECORD);
    assert_int_equal(dup2(node, other), other);
    assert_int_equal(kmd_statistic(machine, 0, KMD_STAT_STREAMS_OPEN), 0);
    (void)close(other);
    assert_cmp(try_open(node, set), >=, 0);
    kmd_stop(machine);
    (void)close(node);
}

static void fork__stream__shared_with_the_child(void **state)
{
    struct kmd_machine *machine = bed_start("tgl-gt2");
    const int node = bed_node();
    const long set = bed_add(node, BED_UUID);
    const int stream = (int)try_open(node, set);
    uint32_t data[66];
    pid_t child;

    (void)state;
    kmd_advance(machine, 2ull * PERIOD_NS);
    child = fork();
    if (child == 0) {
        const bool good = bed_read(stream, data, sizeof(data)) == RECORD && data[3] == 2048 &&
                          try_open(node, set) == -EBUSY;
        _exit(good ? 0 : 1);
    }
    assert_int_equal(wait_for(child), 0);
    /* The child took the first report. */
    assert_int_equal(bed_read(stream, data, sizeof(data)), RECORD);
    assert_int_equal(data[3], 4096);
    (void)close(stream);
    (void)close(node);
    kmd_stop(machine);
}

static void fork__other_process__has_unit_until_it_dies(void **state)
{
    struct kmd_machine *machine = bed_start("tgl-gt2");
    const int node = bed_node();
    const long set = bed_add(node, BED_UUID);
    int ready[2];
    pid_t child;
    char byte;

    (void)state;
    assert_int_equal(pipe(ready), 0);
    child = fork();
    if (child == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        byte = try_open(node, set) >= 0;
        (void)!write(ready[1], &byte, 1);
        (void)pause();
        _exit(0);
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    assert_int_equal(byte, 1);
    assert_int_equal(try_open(node, set), -EBUSY);
    assert_int_equal(kmd_statistic(machine, 0, KMD_STAT_STREAMS_OPEN), 1);
    assert_int_equal(kill(child, SIGKILL), 0);
    (void)wait_for(child);
    assert_cmp(try_open(node, set), >=, 0);
    kmd_stop(machine);
    (void)close(node);
    (void)close(ready[0]);
    (void)close(ready[1]);
}

/* Real time, in a child of fork: it has a timer thread of its own. */
static void fork__stream_in_child__becomes_readable(void **state)
{
    const struct kmd_config config = {
        .device_count = 1, .devices = {{.platform = "tgl-gt2"}}, .is_privileged = true};
    struct kmd_machine *machine;
    int node;
    long set;
    int first;
    pid_t child;

    (void)state;
    if (NO_THREADS_AFTER_FORK)
        skip();
    machine = bed_start_config(&config);
    node = bed_node();
    set = bed_add(node, BED_UUID);
    first = (int)try_open(node, set);
    (void)close(first);
    child = fork();
    if (child == 0) {
        const int stream = (int)try_open(node, set);

        _exit(stream >= 0 && bed_polls(stream, -1) && bed_polls(stream, -1) ? 0 : 1);
    }
    assert_int_equal(wait_for(child), 0);
    (void)close(node);
    kmd_stop(machine);
}

/* Runs this program once more, as a client that was started on the machine: see the end. */
static pid_t start_self(const char *role, int fd)
{
    char number[16];
    const pid_t child = fork();

    if (child == 0) {
        (void)snprintf(number, sizeof(number), "%d", fd);
        (void)execl("/proc/self/exe", "kmd", "process", role, number, (char *)NULL);
        _exit(99);
    }
    return child;
}

static void exec__inherited_stream__works_and_holds_the_unit(void **state)
{
    struct kmd_machine *machine = bed_start("tgl-gt2");
    const int node = bed_node();
    const long set = bed_add(node, BED_UUID);
    const int stream = (int)try_open(node, set);

    (void)state;
    kmd_advance(machine, PERIOD_NS);
    assert_int_equal(wait_for(start_self("reader", stream)), 0);
    (void)close(stream);
    (void)close(node);
    kmd_stop(machine);
}

static void exec__close_on_exec__stream_is_gone(void **state)
{
    struct kmd_machine *machine = bed_start("tgl-gt2");
    const int node = bed_node();
    const long set = bed_add(node, BED_UUID);
    const int stream = bed_stream(node, set, 10, EXPONENT);

    (void)state;
    assert_int_equal(fcntl(stream, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
    assert_int_equal(wait_for(start_self("closed", stream)), 0);
    (void)close(stream);
    (void)close(node);
    kmd_stop(machine);
}

/*
 * A program that has the machine built in under kmd-run, which preloads it: one of the two answers.
 * Both would wait for each other at a stream that has nothing more.
 */
static void exec__preloaded_and_built_in__one_machine(void **state)
{
    struct kmd_machine *machine = bed_start("tgl-gt2");
    const int node = bed_node();
    const long set = bed_add(node, BED_UUID);
    const int stream = (int)try_open(node, set);

    (void)state;
    kmd_advance(machine, PERIOD_NS);
    (void)setenv("LD_PRELOAD", KMD_PRELOAD, 1);
    (void)setenv("ASAN_OPTIONS", "verify_asan_link_order=0", 1);
    const pid_t child = start_self("drainer", stream);
    (void)unsetenv("LD_PRELOAD");
    (void)unsetenv("ASAN_OPTIONS");
    assert_int_equal(wait_for(child), 0);
    (void)close(stream);
    (void)close(node);
    kmd_stop(machine);
}

/* Configurations of one process are seen by another; the machine is found by the variable. */
static void exec__other_process__sees_configurations(void **state)
{
    struct kmd_machine *machine = bed_start("tgl-gt2");
    const int node = bed_node();

    (void)state;
    assert_int_equal(wait_for(start_self("adder", 0)), 0);
    assert_int_equal(access("/sys/class/drm/card0/metrics/" BED_UUID "/id", R_OK), 0);
    assert_int_equal(bed_add(node, BED_UUID), -EADDRINUSE);
    (void)close(node);
    kmd_stop(machine);
}

/* A child with a machine, the folder of which is told. It waits for a signal, or for our end. */
static pid_t start_owner(char *out_folder, size_t bytes)
{
    int ends[2];
    pid_t child;

    assert_int_equal(pipe(ends), 0);
    child = fork();
    if (child == 0) {
        struct kmd_machine *machine = bed_start("tgl-gt2");
        const char *folder = kmd_folder(machine);

        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        (void)!write(ends[1], folder, strlen(folder) + 1);
        (void)pause();
        _exit(0);
    }
    assert_cmp(read(ends[0], out_folder, bytes), >, 0);
    (void)close(ends[0]);
    (void)close(ends[1]);
    return child;
}

/* In a folder of its own: the next machine may be that of any other program. */
static void machine__of_a_killed_process__is_removed_by_the_next(void **state)
{
    char dead[PATH_MAX], alive[PATH_MAX], folder[] = "/tmp/kmd-process-XXXXXX";
    pid_t first, second;

    (void)state;
    assert_non_null(mkdtemp(folder));
    assert_int_equal(setenv("TMPDIR", folder, 1), 0);
    first = start_owner(dead, sizeof(dead));
    second = start_owner(alive, sizeof(alive));
    assert_int_equal(kill(first, SIGKILL), 0);
    (void)wait_for(first);
    assert_int_equal(access(dead, F_OK), 0);
    kmd_stop(bed_start("tgl-gt2"));
    assert_int_equal(access(dead, F_OK), -1);
    assert_int_equal(access(alive, F_OK), 0);
    assert_int_equal(kill(second, SIGKILL), 0);
    (void)wait_for(second);
    kmd_stop(bed_start("tgl-gt2"));
    assert_int_equal(access(alive, F_OK), -1);
    (void)unsetenv("TMPDIR");
    assert_int_equal(rmdir(folder), 0);
}

static int run_role(const char *role, int fd)
{
    uint8_t data[RECORD];
    struct stat status;

    if (strcmp(role, "reader") == 0)
        return bed_read(fd, data, sizeof(data)) == RECORD ? 0 : 1;
    if (strcmp(role, "drainer") == 0)
        return bed_read(fd, data, sizeof(data)) == RECORD &&
                       bed_read(fd, data, sizeof(data)) == -EAGAIN
                   ? 0
                   : 1;
    if (strcmp(role, "closed") == 0)
        return fstat(fd, &status) != 0 && errno == EBADF ? 0 : 1;
    return bed_add(open("/dev/dri/card0", O_RDWR), BED_UUID) == 2 ? 0 : 1;
}

SUITE_WITH_ARGUMENTS(process, count, arguments)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dup__unit__free_when_the_last_is_closed),
        cmocka_unit_test(fork__stream__shared_with_the_child),
        cmocka_unit_test(fork__other_process__has_unit_until_it_dies),
        cmocka_unit_test(fork__stream_in_child__becomes_readable),
        cmocka_unit_test(exec__inherited_stream__works_and_holds_the_unit),
        cmocka_unit_test(exec__close_on_exec__stream_is_gone),
        cmocka_unit_test(exec__preloaded_and_built_in__one_machine),
        cmocka_unit_test(exec__other_process__sees_configurations),
        cmocka_unit_test(machine__of_a_killed_process__is_removed_by_the_next),
    };

    if (count == 3)
        return run_role(arguments[1], (int)strtol(arguments[2], NULL, 10));
    return cmocka_run_group_tests(tests, NULL, NULL);
}
