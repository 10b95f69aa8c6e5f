/* Tracers and work in different processes; what is left when one of them dies, stops or goes mad.
 */
#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/sanitizer.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"
#include "trace_bed.h"

#define TYPE(name) ZETA_VGPU_EVENT_TYPE_##name

/* A child that does a piece of work each time it is told to. */
static void child_works(const struct child *parent)
{
    struct bed_work work;
    struct host host;

    host_open(&host, NULL);
    bed_work_begin(&work, &host);
    child_say(parent->to);
    while (child_hear(parent->from)) {
        bed_tiny_groups(&work, 100);
        child_say(parent->to);
    }
}

/* Rule 22.4. */
static void two_processes__both_work__events_of_both_in_order(void **state)
{
    struct child children[2] = {child_start(child_works), child_start(child_works)};
    struct bed_events events = {.items = NULL};
    struct zeta_plugin_tracer *tracer;
    uint64_t of_child[2] = {0, 0};
    struct host host;

    (void)state;
    host_open(&host, NULL);
    for (unsigned i = 0; i < 2; i++)
        assert_true(child_hear(children[i].from));
    tracer = bed_open(&host, WORK, NULL);
    bed_enable(&host, tracer);
    for (unsigned round = 0; round < 10; round++) {
        for (unsigned i = 0; i < 2; i++)
            child_say(children[i].to);
        for (unsigned i = 0; i < 2; i++)
            assert_true(child_hear(children[i].from));
    }
    bed_disable(&host, tracer);
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(child_end(&children[i]), 0);
    bed_read(&host, tracer, &events);
    assert_int_equal(events.lost, 0);
    assert_int_equal(events.count, 2 + 2 * 10 * (2 + 200));
    for (uint64_t i = 1; i < events.count - 1; i++) {
        for (unsigned c = 0; c < 2; c++)
            of_child[c] += events.items[i].process == (uint32_t)children[c].pid;
    }
    assert_int_equal(of_child[0], 10 * 202);
    assert_int_equal(of_child[1], 10 * 202);
    bed_forget(&events);
    bed_ops(&host)->close(host.self, tracer);
    host_close(&host);
}

/* Works without end until it is killed. */
static void child_works_on(const struct child *parent)
{
    struct bed_work work;
    struct host host;

    host_open(&host, NULL);
    bed_work_begin(&work, &host);
    child_say(parent->to);
    for (;;)
        bed_matmul(&work, 32);
}

/* Rule 22.9. */
static void writers__killed_at_any_moment__others_go_on(void **state)
{
    enum { CHILDREN = 8 };
    struct child children[CHILDREN];
    struct bed_events events = {.items = NULL};
    struct zeta_plugin_tracer *tracer;
    struct host host;

    (void)state;
    for (unsigned i = 0; i < CHILDREN; i++)
        children[i] = child_start(child_works_on);
    for (unsigned i = 0; i < CHILDREN; i++)
        assert_true(child_hear(children[i].from));
    host_open(&host, NULL);
    tracer = bed_open(&host, WORK, DEVICE);
    bed_enable(&host, tracer);
    do {
        host_sleep_ms(1);
        bed_read(&host, tracer, &events);
    } while (bed_count(&events, TYPE(GROUP_BEGIN)) == 0);
    for (unsigned i = 0; i < CHILDREN; i++) {
        int status;

        host_sleep_ms(5 + i % 4);
        kill(children[i].pid, SIGKILL);
        status = child_end(&children[i]);
        assert_true(WIFSIGNALED(status));
        assert_cmp(WTERMSIG(status), ==, SIGKILL);
        bed_read(&host, tracer, &events);
    }
    bed_disable(&host, tracer);
    bed_read(&host, tracer, &events);
    assert_int_equal(events.lost, 0);
    assert_int_equal(events.items[events.count - 1].type, TYPE(DISABLED));

    /* Who takes the slot of a dead process goes on in its ring. */
    events.count = 0;
    bed_enable(&host, tracer);
    {
        struct bed_work work;

        bed_work_begin(&work, &host);
        bed_tiny_groups(&work, 20);
        bed_work_end(&work);
    }
    bed_disable(&host, tracer);
    bed_read(&host, tracer, &events);
    assert_int_equal(events.lost, 0);
    assert_int_equal(events.count, 2 + 2 + 40);
    bed_forget(&events);
    bed_ops(&host)->close(host.self, tracer);
    host_close(&host);
}

/* A tracer that is on and never read. */
static void child_traces(const struct child *parent)
{
    struct host host;

    host_open(&host, NULL);
    bed_enable(&host, bed_open(&host, WORK, DEVICE));
    child_say(parent->to);
    (void)child_hear(parent->from);
}

/* Rule 22.9. */
static void holder__killed__named_before_and_replaced_after(void **state)
{
    struct child child = child_start(child_traces);
    struct bed_events events = {.items = NULL};
    struct zeta_plugin_tracer *tracer = NULL;
    struct bed_work work;
    struct host host;
    uint32_t pid = 0;
    char text[32];

    (void)state;
    host_open(&host, NULL);
    bed_work_begin(&work, &host);
    assert_true(child_hear(child.from));
    bed_tiny_groups(&work, 100);
    assert_int_equal(bed_try_open(&host, DEVICE, NULL, 0, &tracer), ZETA_PLUGIN_NOT_AVAILABLE);
    snprintf(text, sizeof(text), "process %d ", (int)child.pid);
    assert_non_null(strstr(host_error(&host), text));
    assert_int_equal(host.metric->holder(host.self, host.device, host_string("trace-device"), &pid),
                     0);
    assert_int_equal(pid, child.pid);
    kill(child.pid, SIGKILL);
    assert_true(WIFSIGNALED(child_end(&child)));
    /* Its rings are still written to, and fill up, which harms nobody. */
    bed_tiny_groups(&work, 80000);
    tracer = bed_open(&host, WORK, DEVICE);
    bed_tiny_groups(&work, 10);
    bed_enable(&host, tracer);
    bed_tiny_groups(&work, 10);
    bed_disable(&host, tracer);
    bed_read(&host, tracer, &events);
    assert_int_equal(events.count, 2 + 2 + 20);
    assert_int_equal(events.lost, 0);
    bed_end(&host, &work, tracer, &events);
}

/* Traces until it is told to stop, and says how it went by its exit status. */
static void child_counts(const struct child *parent)
{
    struct bed_events events = {.items = NULL};
    struct zeta_plugin_tracer *tracer;
    struct host host;

    host_open(&host, NULL);
    tracer = bed_open(&host, WORK, NULL);
    bed_enable(&host, tracer);
    child_say(parent->to);
    (void)child_hear(parent->from);
    bed_disable(&host, tracer);
    bed_read(&host, tracer, &events);
    _exit(events.lost == 0 ? 1 : events.count + events.lost == 2 + 2 + 2 * 100000 ? 0 : 2);
}

/* Rule 22.7. */
static void reader__stopped_too_long__losses_are_counted(void **state)
{
    struct child child = child_start(child_counts);
    struct bed_work work;
    struct host host;
    int status;

    (void)state;
    host_open(&host, NULL);
    bed_work_begin(&work, &host);
    assert_true(child_hear(child.from));
    kill(child.pid, SIGSTOP);
    bed_tiny_groups(&work, 100000); /* twice as many events, and a ring has 131072 */
    kill(child.pid, SIGCONT);
    child_say(child.to);
    status = child_end(&child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    bed_work_end(&work);
    host_close(&host);
}

/* A value of a report of a status group: words written, lost, waiting and capacity. */
static void read_status(struct host *host, struct zeta_plugin_stream *stream, uint32_t out[4])
{
    static uint8_t reports[4096][256];
    const uint64_t count = host_read_past_now(host, stream, reports, 4096);

    for (unsigned i = 0; i < 4; i++)
        out[i] = report_u32(reports[count - 1], 192 + 4 * i);
}

/* Rule 22.8. */
static void status__tracer_of_another_process__is_counted(void **state)
{
    static const char *const program[] = {"B0=events:written@work", "B1=events:lost@work",
                                          "B2=events:waiting@work", "B3=events:capacity@work",
                                          NULL};
    struct child child = child_start(child_traces);
    struct zeta_plugin_stream *stream;
    uint32_t before[4], after[4];
    struct bed_work work;
    struct host host;

    (void)state;
    host_open(&host, NULL);
    bed_work_begin(&work, &host);
    assert_true(child_hear(child.from));
    assert_int_equal(host_stream(&host, "trace-work-status", 1310720, 1, program, &stream), 0);
    /* The first event is that the other process traces. */
    do
        read_status(&host, stream, before);
    while (before[0] == 0);
    assert_int_equal(before[3], 262144);
    bed_tiny_groups(&work, 500);
    for (unsigned ms = 0; ms < 20000; ms += 20) {
        read_status(&host, stream, after);
        if (after[0] - before[0] >= 1002)
            break;
        host_sleep_ms(20);
    }
    assert_int_equal(after[0] - before[0], 2 + 2 * 500);
    assert_int_equal(after[1] - before[1], 0);
    assert_int_equal(after[2] - before[2], 2 + 2 * 500);
    kill(child.pid, SIGKILL);
    (void)child_end(&child);
    /* Somebody sees that it is dead; what was counted stays. */
    for (unsigned ms = 0; ms < 20000 && after[3] != 0; ms += 20) {
        host_sleep_ms(20);
        read_status(&host, stream, after);
    }
    assert_int_equal(after[3], 0);
    assert_int_equal(after[2], 0);
    assert_int_equal(after[0] - before[0], 2 + 2 * 500);
    host.metric->stream_close(host.self, stream);
    bed_work_end(&work);
    host_close(&host);
}

/* Rule 22.10. */
static void fork__tracer_open__child_begins_anew_and_parent_goes_on(void **state)
{
    struct bed_events events = {.items = NULL};
    struct zeta_plugin_tracer *tracer;
    struct bed_work work;
    struct host host;
    pid_t pid;
    int status;

    (void)state;
    if (NO_FORK_OF_BUSY_THREADS) {
        print_message("skipped: the sanitizers do not follow a fork of a process with threads\n");
        skip();
    }
    tracer = bed_begin(&host, NULL, &work, WORK, NULL);
    bed_enable(&host, tracer);
    bed_tiny_groups(&work, 10);
    pid = fork();
    assert_cmp(pid, >=, 0);
    if (pid == 0) {
        struct bed_work own;
        uint32_t count = 0;

        alarm(600);
        if (host.device_ops->child_after_fork(host.self) != ZETA_PLUGIN_SUCCESS ||
            host.device_ops->enumerate(host.self, 1, &host.device, &count) != ZETA_PLUGIN_SUCCESS)
            _exit(1);
        bed_work_begin(&own, &host);
        bed_tiny_groups(&own, 20);
        _exit(bed_try_open(&host, WORK, NULL, 0, &tracer) == ZETA_PLUGIN_NOT_AVAILABLE ? 0 : 2);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    bed_tiny_groups(&work, 10);
    bed_disable(&host, tracer);
    bed_read(&host, tracer, &events);
    assert_int_equal(events.lost, 0);
    assert_int_equal(events.count, 2 + 3 * 2 + 2 * (10 + 20 + 10));
    bed_end(&host, &work, tracer, &events);
}

/* The descriptor of the file of the only tracer of this process. */
static int find_file(void)
{
    int found = -1;

    for (int descriptor = 0; descriptor < 256 && found < 0; descriptor++) {
        char path[48], target[64] = "";

        snprintf(path, sizeof(path), "/proc/self/fd/%d", descriptor);
        if (readlink(path, target, sizeof(target) - 1) > 0 && strstr(target, "zeta-vgpu-trace"))
            found = descriptor;
    }
    assert_cmp(found, >=, 0);
    return found;
}

/* Rule 22.9. */
static void file__overwritten_while_in_use__no_crash_and_the_next_is_whole(void **state)
{
    struct bed_events events = {.items = NULL};
    struct zeta_plugin_tracer *tracer;
    struct zeta_plugin_read read = {.struct_size = sizeof(read)};
    static uint8_t rubbish[65536], buffer[65536];
    struct bed_work work;
    struct host host;
    uint64_t seed = 1;

    (void)state;
    tracer = bed_begin(&host, NULL, &work, WORK, DEVICE);
    assert_int_not_equal(ftruncate(find_file(), 0), 0); /* it is sealed */
    bed_enable(&host, tracer);
    bed_tiny_groups(&work, 10);
    for (unsigned round = 0; round < 30; round++) {
        for (size_t i = 0; i < sizeof(rubbish); i++) {
            seed = seed * UINT64_C(6364136223846793005) + 1;
            rubbish[i] = round % 3 == 0 ? 0xff : (uint8_t)(seed >> 56);
        }
        /* The ring of this process in the first place: its header and the first events. */
        assert_cmp(pwrite(find_file(), rubbish, round % 2 ? 4096 : sizeof(rubbish), 4096), >, 0);
        bed_tiny_groups(&work, 200);
        for (unsigned i = 0; i < 3; i++)
            assert_int_equal(bed_ops(&host)->read(host.self, tracer, buffer, sizeof(buffer), &read),
                             0);
    }
    bed_disable(&host, tracer);
    bed_ops(&host)->close(host.self, tracer);

    tracer = bed_open(&host, WORK, DEVICE);
    bed_enable(&host, tracer);
    bed_tiny_groups(&work, 10);
    bed_disable(&host, tracer);
    bed_read(&host, tracer, &events);
    assert_int_equal(events.count, 2 + 2 + 20);
    bed_end(&host, &work, tracer, &events);
}

static unsigned count_entries(const char *path)
{
    DIR *listing = opendir(path);
    unsigned count = 0;

    assert_non_null(listing);
    while (readdir(listing))
        count++;
    closedir(listing);
    return count;
}

static void open_and_close__many_times__nothing_left(void **state)
{
    unsigned descriptors = 0, threads = 0;
    struct bed_work work;
    struct host host;

    (void)state;
    host_open(&host, NULL);
    bed_work_begin(&work, &host);
    for (unsigned i = 0; i < 50; i++) {
        struct zeta_plugin_tracer *tracer = bed_open(&host, WORK, DEVICE);

        bed_enable(&host, tracer);
        bed_matmul(&work, 16);
        bed_ops(&host)->close(host.self, tracer);
        bed_matmul(&work, 16); /* gives up its rings */
        if (i == 0) {
            descriptors = count_entries("/proc/self/fd");
            threads = count_entries("/proc/self/task");
        }
    }
    assert_int_equal(count_entries("/proc/self/fd"), descriptors);
    assert_int_equal(count_entries("/proc/self/task"), threads);
    bed_work_end(&work);
    host_close(&host);
}

SUITE(processes)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(two_processes__both_work__events_of_both_in_order,
                                  child_teardown),
        cmocka_unit_test_teardown(writers__killed_at_any_moment__others_go_on, child_teardown),
        cmocka_unit_test_teardown(holder__killed__named_before_and_replaced_after, child_teardown),
        cmocka_unit_test_teardown(reader__stopped_too_long__losses_are_counted, child_teardown),
        cmocka_unit_test_teardown(status__tracer_of_another_process__is_counted, child_teardown),
        cmocka_unit_test(fork__tracer_open__child_begins_anew_and_parent_goes_on),
        cmocka_unit_test(file__overwritten_while_in_use__no_crash_and_the_next_is_whole),
        cmocka_unit_test(open_and_close__many_times__nothing_left),
    };

    signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
