/* Markers: their place among the work, who gets them, and what becomes of too many. */
#include <dirent.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "bench.h"
#include "child.h"
#include "kernel_file.h"
#include "tests/sanitizer.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

#define REPORT 256u
#define TIMER_BIT (1u << 19)
#define SWITCH_BIT (1u << 22)
#define MARKER_BIT (1u << 23)
#define FOREVER_NS UINT64_C(80000000000)

/* The longest period has a deadline at each eighth of the clock's range: none for a while. */
static const struct host_setting calm[] = {{"fault.wrap_soon", "85"}, {NULL, NULL}};

/* Counters by their place in a report. */
enum { CLOCKS = 0, RETIRED = 5, ATOMICS = 14, COPIED = 31, GROUPS = 33, KERNELS = 34 };

static uint8_t reports[65536][REPORT];

static struct zeta_plugin_stream *open_stream(struct host *host, struct zeta_plugin_device *device,
                                              const char *unit, uint64_t period_ns, bool switches,
                                              uint64_t *out_token)
{
    const struct zeta_plugin_program_entry entry = {.struct_size = sizeof(entry),
                                                    .select = host_string("switches")};
    struct zeta_plugin_stream_desc desc = {.struct_size = sizeof(desc),
                                           .unit = host_string(unit),
                                           .set = host_string("Test"),
                                           .digest = host_string("0"),
                                           .program = {&entry, switches, sizeof(entry)},
                                           .period_ns = period_ns,
                                           .record_bytes = REPORT,
                                           .token = 12345};
    struct zeta_plugin_stream *stream = NULL;

    if (host->metric->stream_open(host->self, device, &desc, &stream) != ZETA_PLUGIN_SUCCESS)
        fail_msg("stream_open: %s", host_error(host));
    if (out_token)
        *out_token = desc.token;
    return stream;
}

static void close_stream(struct host *host, struct zeta_plugin_stream *stream)
{
    host->metric->stream_close(host->self, stream);
}

static struct zeta_plugin_command marker(const struct bench *bench, const char *unit,
                                         uint64_t value, uint64_t token)
{
    struct zeta_plugin_command command = host_command(ZETA_PLUGIN_COMMAND_MARKER);

    command.u.marker = (struct zeta_plugin_marker){.device = bench->host.device,
                                                   .unit = host_string(unit),
                                                   .value = value,
                                                   .stream_token = token};
    return command;
}

/* Reads all there is, across breaks; gives the number of reports. */
static uint64_t drain(struct host *host, struct zeta_plugin_stream *stream, uint64_t *out_lost)
{
    struct zeta_plugin_read read;
    uint64_t total = 0, got;

    *out_lost = 0;
    while ((got = host_read(host, stream, reports[total], 65536 - total, &read)) > 0) {
        total += got;
        *out_lost += read.lost;
    }
    for (uint64_t i = 1; i < total; i++)
        assert_cmp((int32_t)(report_u32(reports[i], 4) - report_u32(reports[i - 1], 4)), >, 0);
    return total;
}

static bool is_marker(uint64_t i)
{
    return (report_id(reports[i]) & MARKER_BIT) != 0;
}

static uint64_t grew(uint64_t i, uint32_t counter)
{
    return report_counter(reports[i], counter) - report_counter(reports[i - 1], counter);
}

/* Kernels of different sizes between markers: each row has exactly what ran before its end.
 * Rule 12.23. */
static void kernels__between_markers__exact_counts_per_row(void **state)
{
    static const char *const units[] = {"oa", "dispatch"};
    struct bench *bench = *state;

    for (unsigned u = 0; u < 2; u++) {
        uint64_t token = 0, lost;
        struct zeta_plugin_stream *stream =
            open_stream(&bench->host, bench->host.device, units[u], FOREVER_NS, false, &token);
        const struct zeta_plugin_command commands[] = {
            marker(bench, units[u], 11, token),
            bench_count(bench, 3),
            marker(bench, units[u], 0, token),
            marker(bench, units[u], UINT32_MAX, 0),
            bench_count(bench, 5),
            host_copy(bench->counter + 64, bench->counter + 128, 77),
            bench_count(bench, 7),
            marker(bench, units[u], 14, token)};
        static const uint32_t values[] = {11, 0, UINT32_MAX, 14};
        static const uint64_t groups[] = {0, 3, 0, 12}, copied[] = {0, 0, 0, 77};
        static const uint64_t kernels[] = {0, 1, 0, 2};

        assert_cmp(token, !=, 0);
        assert_cmp(token, !=, 12345);
        bench_run(bench, commands, 8);
        /* At once: a read sees each marker that is complete. */
        assert_int_equal(drain(&bench->host, stream, &lost), 5);
        assert_int_equal(lost, 0);
        assert_int_equal(report_id(reports[0]), TIMER_BIT | u);
        for (uint64_t i = 1; i < 5; i++) {
            assert_int_equal(report_id(reports[i]), MARKER_BIT | u);
            assert_int_equal(report_u32(reports[i], 8), values[i - 1]);
            assert_int_equal(grew(i, GROUPS), groups[i - 1]);
            assert_int_equal(grew(i, ATOMICS), 16 * groups[i - 1]);
            assert_int_equal(grew(i, KERNELS), kernels[i - 1]);
            assert_int_equal(grew(i, COPIED), copied[i - 1]);
            assert_int_equal(grew(i, CLOCKS) > 0, kernels[i - 1] > 0);
        }
        close_stream(&bench->host, stream);
    }
}

/* With timer reports between: what lies between two markers adds up to the work between them.
 * Rule 12.23. */
static void timers__at_a_short_period__markers_keep_their_place(void **state)
{
    const uint64_t period_ns = NO_MEMORY_FIGURES ? 1000000 : 81920;
    struct bench *bench = *state;
    struct zeta_plugin_stream *stream =
        open_stream(&bench->host, bench->host.device, "oa", period_ns, false, NULL);
    uint64_t groups = 0, timers = 0, last_groups = 0, lost;
    uint32_t markers = 0;

    for (uint32_t round = 0; round < 300; round++) {
        const struct zeta_plugin_command commands[] = {bench_count(bench, round % 50),
                                                       marker(bench, "oa", round, 0)};
        uint64_t total;

        bench_run(bench, commands, 2);
        total = drain(&bench->host, stream, &lost);
        assert_int_equal(lost, 0);
        for (uint64_t i = 0; i < total; i++) {
            const uint64_t now = report_counter(reports[i], GROUPS);

            groups += round == 0 && i == 0 ? 0 : now - last_groups;
            last_groups = now;
            timers += !is_marker(i);
            if (!is_marker(i))
                continue;
            assert_int_equal(report_u32(reports[i], 8), markers);
            assert_int_equal(groups, markers % 50);
            groups = 0;
            markers++;
        }
        assert_int_equal(markers, round + 1);
    }
    assert_cmp(timers, >, 1);
    close_stream(&bench->host, stream);
}

/* A reader gets the lock although the sampler has more to do than it can: it reads all the time. */
static void shortest_period__reads_all_the_time__each_marker_is_seen(void **state)
{
    /* A sampler that falls behind for ever loses reports; nothing can be said of them. */
    const uint64_t period_ns = NO_MEMORY_FIGURES ? 10000000 : 10240;
    struct bench *bench = *state;
    struct zeta_plugin_stream *stream =
        open_stream(&bench->host, bench->host.device, "oa", period_ns, false, NULL);

    for (uint32_t round = 1; round <= 50; round++) {
        const struct zeta_plugin_command command = marker(bench, "oa", round, 0);
        uint32_t seen = 0;
        uint64_t got;

        bench_run(bench, &command, 1);
        /* One read, unless there is a break because nobody can keep up. */
        for (uint32_t reads = 0; seen != round && reads < 100; reads++) {
            got = host_read(&bench->host, stream, reports, 65536, NULL);
            for (uint64_t i = 0; i < got; i++) {
                if (is_marker(i))
                    seen = report_u32(reports[i], 8);
            }
        }
        assert_int_equal(seen, round);
    }
    close_stream(&bench->host, stream);
}

/* What a program selects of one EU has the totals of the snapshot too. */
static void eu__selected__row_ends_at_the_marker(void **state)
{
    static const char *const program[] = {"B0=counter:InstRetired@eu=0",
                                          "B1=counter:InstRetired@subslice=0", NULL};
    struct bench *bench = *state;
    struct zeta_plugin_stream *stream = NULL;
    uint64_t lost;

    assert_int_equal(host_stream(&bench->host, "oa", FOREVER_NS, 1, program, &stream), 0);
    for (uint32_t round = 1; round <= 3; round++) {
        /* One group of 16 items: on subslice 0, one item on each of its first 16 EUs. */
        const struct zeta_plugin_command commands[] = {
            marker(bench, "oa", 1, 0), bench_count(bench, 1), marker(bench, "oa", 2, 0)};
        uint64_t total;

        bench_run(bench, commands, 3);
        total = drain(&bench->host, stream, &lost);
        assert_int_equal(total, round == 1 ? 3 : 2);
        assert_cmp(report_u32(reports[total - 1], 192), >, report_u32(reports[total - 2], 192));
        assert_int_equal(
            16 * (report_u32(reports[total - 1], 192) - report_u32(reports[total - 2], 192)),
            report_u32(reports[total - 1], 196) - report_u32(reports[total - 2], 196));
    }
    close_stream(&bench->host, stream);
}

/* Rule 12.23. */
static void switches__and_markers__merged_in_the_order_of_time(void **state)
{
    static const uint32_t reasons[] = {SWITCH_BIT, SWITCH_BIT, MARKER_BIT,
                                       MARKER_BIT, SWITCH_BIT, SWITCH_BIT};
    struct bench *bench = *state;
    struct zeta_plugin_stream *stream =
        open_stream(&bench->host, bench->host.device, "oa", FOREVER_NS, true, NULL);
    const struct zeta_plugin_command commands[] = {bench_count(bench, 3), marker(bench, "oa", 1, 0),
                                                   marker(bench, "oa", 2, 0),
                                                   bench_count(bench, 4)};
    uint64_t lost;

    for (unsigned round = 0; round < 50; round++) {
        bench_run(bench, commands, 4);
        assert_int_equal(drain(&bench->host, stream, &lost), round == 0 ? 7 : 6);
        for (unsigned i = 0; i < 6; i++)
            assert_int_equal(report_id(reports[i + (round == 0)]), reasons[i]);
    }
    close_stream(&bench->host, stream);
}

static void token__of_one_stream__seen_there_only(void **state)
{
    struct bench *bench = *state;
    struct host *host = &bench->host;
    uint64_t closed, oa, dispatch, lost;
    struct zeta_plugin_stream *first =
        open_stream(host, host->device, "oa", FOREVER_NS, false, &closed);
    struct zeta_plugin_stream *streams[2];

    close_stream(host, first);
    streams[0] = open_stream(host, host->device, "oa", FOREVER_NS, false, &oa);
    streams[1] = open_stream(host, host->device, "dispatch", FOREVER_NS, false, &dispatch);
    assert_cmp(oa, !=, closed);
    assert_cmp(dispatch, !=, closed);
    assert_cmp(oa, !=, dispatch);
    {
        const struct zeta_plugin_command commands[] = {
            marker(bench, "oa", 1, closed), marker(bench, "oa", 2, dispatch),
            marker(bench, "oa", 3, oa), marker(bench, "dispatch", 4, oa),
            marker(bench, "dispatch", 5, 0)};

        bench_run(bench, commands, 5);
    }
    assert_int_equal(drain(host, streams[0], &lost), 2);
    assert_int_equal(report_u32(reports[1], 8), 3);
    assert_int_equal(drain(host, streams[1], &lost), 2);
    assert_int_equal(report_u32(reports[1], 8), 5);

    /* A stream that was stopped keeps what it had and gets no more. */
    {
        const struct zeta_plugin_command before = marker(bench, "oa", 6, oa);
        const struct zeta_plugin_command after = marker(bench, "oa", 7, oa);

        bench_run(bench, &before, 1);
        host->metric->stream_stop(host->self, streams[0]);
        bench_run(bench, &after, 1);
    }
    assert_int_equal(drain(host, streams[0], &lost), 1);
    assert_int_equal(report_u32(reports[0], 8), 6);
    close_stream(host, streams[0]);
    close_stream(host, streams[1]);
}

static void nobody__who_collects__markers_are_dropped(void **state)
{
    struct bench *bench = *state;
    const struct zeta_plugin_command commands[] = {marker(bench, "oa", 1, 0),
                                                   marker(bench, "dispatch", 1, 77)};
    struct zeta_plugin_stream *stream;
    uint64_t lost;

    bench_run(bench, commands, 2);
    stream = open_stream(&bench->host, bench->host.device, "oa", FOREVER_NS, false, NULL);
    assert_int_equal(drain(&bench->host, stream, &lost), 1);
    assert_int_equal(lost, 0);
    close_stream(&bench->host, stream);
}

static void misuse__unit_or_value__refused_with_the_reason(void **state)
{
    struct bench *bench = *state;
    struct zeta_plugin_command command = marker(bench, "oa", UINT64_C(1) << 32, 0);

    assert_int_equal(host_run(&bench->host, bench->queue, &command, 1),
                     ZETA_PLUGIN_INVALID_ARGUMENT);
    assert_non_null(strstr(host_error(&bench->host), "4294967296"));
    command = marker(bench, "ip", 1, 0);
    assert_int_equal(host_run(&bench->host, bench->queue, &command, 1),
                     ZETA_PLUGIN_INVALID_ARGUMENT);
    command = marker(bench, "ao", 1, 0);
    assert_int_equal(host_run(&bench->host, bench->queue, &command, 1),
                     ZETA_PLUGIN_INVALID_ARGUMENT);
    assert_non_null(strstr(host_error(&bench->host), "'ao'"));
}

static struct zeta_plugin_command *many_markers(struct bench *bench, uint32_t number)
{
    struct zeta_plugin_command *commands = calloc(number, sizeof(*commands));

    assert_non_null(commands);
    for (uint32_t i = 0; i < number; i++)
        commands[i] = marker(bench, "oa", i, 0);
    return commands;
}

/* Far more than the log holds, in one submission: who sets them waits for the sampler.
 * Rule 12.24. */
static void thousands__at_once__none_lost(void **state)
{
    enum { NUMBER = 5000 };
    struct bench *bench = *state;
    struct zeta_plugin_command *commands = many_markers(bench, NUMBER);
    struct zeta_plugin_stream *stream =
        open_stream(&bench->host, bench->host.device, "oa", FOREVER_NS, false, NULL);
    uint64_t lost;

    bench_run(bench, commands, NUMBER);
    assert_int_equal(drain(&bench->host, stream, &lost), NUMBER + 1);
    assert_int_equal(lost, 0);
    for (uint32_t i = 0; i < NUMBER; i++) {
        assert_true(is_marker(i + 1));
        assert_int_equal(report_u32(reports[i + 1], 8), i);
    }
    close_stream(&bench->host, stream);
    free(commands);
}

/* The thread of the process that samples; 0: there is none. */
static pid_t find_sampler(void)
{
    DIR *tasks = opendir("/proc/self/task");
    const struct dirent *task;
    pid_t found = 0;

    assert_non_null(tasks);
    while (found == 0 && (task = readdir(tasks))) {
        char path[300], name[32] = "";
        FILE *file;

        (void)snprintf(path, sizeof(path), "/proc/self/task/%s/comm", task->d_name);
        file = fopen(path, "r");
        if (!file)
            continue;
        if (fgets(name, sizeof(name), file) && strcmp(name, "vgpu-oa\n") == 0)
            found = (pid_t)atoi(task->d_name);
        (void)fclose(file);
    }
    (void)closedir(tasks);
    return found;
}

/* Puts a thread on the processor of the caller, behind all others. */
static void put_behind(pid_t thread)
{
    const struct sched_param none = {0};
    cpu_set_t processor;

    CPU_ZERO(&processor);
    CPU_SET((size_t)sched_getcpu(), &processor);
    assert_int_equal(sched_setaffinity(0, sizeof(processor), &processor), 0);
    assert_int_equal(sched_setaffinity(thread, sizeof(processor), &processor), 0);
    assert_int_equal(sched_setscheduler(thread, SCHED_IDLE, &none), 0);
}

/* Takes a processor away from the sampler for a second of work. */
static void *hold_processor(void *argument)
{
    const pid_t sampler = *(const pid_t *)argument;
    const struct sched_param none = {0};
    struct timespec used = {0};

    put_behind(sampler);
    while (used.tv_sec < 1)
        (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    (void)sched_setscheduler(sampler, SCHED_OTHER, &none);
    return NULL;
}

/* A sampler that is late is not a stopped one: on a busy machine nothing is lost either.
 * Rule 12.24. */
static void thousands__sampler_gets_no_time__none_lost(void **state)
{
    enum { NUMBER = 5000 };
    struct bench *bench = *state;
    struct zeta_plugin_command *commands = many_markers(bench, NUMBER);
    struct zeta_plugin_stream *stream =
        open_stream(&bench->host, bench->host.device, "oa", FOREVER_NS, false, NULL);
    pid_t sampler;
    pthread_t thread;
    uint64_t lost;

    while ((sampler = find_sampler()) == 0) /* it gives itself its name */
        (void)sched_yield();
    assert_int_equal(pthread_create(&thread, NULL, hold_processor, &sampler), 0);
    bench_run(bench, commands, NUMBER);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(drain(&bench->host, stream, &lost), NUMBER + 1);
    assert_int_equal(lost, 0);
    close_stream(&bench->host, stream);
    free(commands);
}

/* Rule 12.24. */
static void ring__too_small__loss_is_told_and_counted(void **state)
{
    static const struct host_setting settings[] = {
        {"fault.full_ring", "10"}, {"fault.wrap_soon", "85"}, {NULL, NULL}};
    struct zeta_plugin_stream *stream;
    struct zeta_plugin_read read;
    struct zeta_plugin_command *commands;
    struct bench bench;

    (void)state;
    bench_open(&bench, settings);
    commands = many_markers(&bench, 100);
    stream = open_stream(&bench.host, bench.host.device, "oa", FOREVER_NS, false, NULL);
    bench_run(&bench, commands, 100);
    assert_int_equal(host_read(&bench.host, stream, reports, 100, &read), 10);
    assert_int_equal(read.broken, 1);
    assert_int_equal(read.lost, 91);
    for (uint32_t i = 0; i < 10; i++)
        assert_int_equal(report_u32(reports[i], 8), 90 + i);
    close_stream(&bench.host, stream);
    bench_close(&bench);
    free(commands);
}

static uint64_t run_virtual(const struct host_setting *settings, uint8_t *out_bytes)
{
    struct zeta_plugin_stream *stream;
    struct bench bench;
    uint64_t total, lost;

    bench_open(&bench, settings);
    stream = open_stream(&bench.host, bench.host.device, "oa", 10240, true, NULL);
    for (uint32_t i = 0; i < 20; i++) {
        const struct zeta_plugin_command commands[] = {
            marker(&bench, "oa", 3 * i, 0), bench_count(&bench, 100 * i),
            marker(&bench, "oa", 1, 0), marker(&bench, "oa", 2, 0), bench_count(&bench, 1)};

        bench_run(&bench, commands, 5);
    }
    total = drain(&bench.host, stream, &lost);
    assert_int_equal(lost, 0);
    memcpy(out_bytes, reports, total * REPORT);
    close_stream(&bench.host, stream);
    bench_close(&bench);
    return total;
}

static void virtual_time__any_number_of_workers__same_bytes(void **state)
{
    static const struct host_setting settings[2][3] = {
        {{"clock", "virtual"}, {"workers", "1"}, {NULL, NULL}},
        {{"clock", "virtual"}, {"workers", "3"}, {NULL, NULL}}};
    uint8_t *bytes[2] = {malloc(1u << 20), malloc(1u << 20)};
    uint64_t totals[2], markers = 0;

    (void)state;
    totals[0] = run_virtual(settings[0], bytes[0]);
    for (uint64_t i = 1, groups = 0; i < totals[0]; i++) {
        groups += grew(i, GROUPS);
        if (!is_marker(i))
            continue;
        assert_int_equal(report_u32(reports[i], 8), markers % 3 == 0 ? markers : markers % 3);
        assert_int_equal(groups,
                         markers % 3 == 1 ? 100 * (markers / 3) : markers > 0 && markers % 3 == 0);
        groups = 0;
        markers++;
    }
    assert_int_equal(markers, 60);
    assert_cmp(totals[0], >, 60 + 80);
    for (unsigned i = 1; i < 4; i++) {
        totals[1] = run_virtual(settings[i % 2], bytes[1]);
        assert_int_equal(totals[0], totals[1]);
        assert_memory_equal(bytes[0], bytes[1], totals[0] * REPORT);
    }
    free(bytes[0]);
    free(bytes[1]);
}

static void tiles__marker_of_the_root__on_each_tile(void **state)
{
    static const struct host_setting settings[] = {
        {"tiles", "2"}, {"fault.wrap_soon", "85"}, {NULL, NULL}};
    struct zeta_plugin_device *devices[3];
    struct zeta_plugin_stream *streams[2];
    uint64_t tokens[2], lost;
    struct bench bench;
    uint32_t found;

    (void)state;
    bench_open(&bench, settings);
    assert_int_equal(bench.host.device_ops->enumerate(bench.host.self, 3, devices, &found), 0);
    for (uint32_t i = 0; i < 2; i++)
        streams[i] = open_stream(&bench.host, devices[1 + i], "oa", FOREVER_NS, false, &tokens[i]);
    {
        struct zeta_plugin_command commands[] = {
            marker(&bench, "oa", 1, 0), marker(&bench, "oa", 2, tokens[1]),
            marker(&bench, "oa", 3, 0), marker(&bench, "oa", 4, 0)};

        commands[2].u.marker.device = devices[1];
        commands[3].u.marker.device = devices[2];
        bench_run(&bench, commands, 4);
    }
    for (uint32_t i = 0; i < 2; i++) {
        assert_int_equal(drain(&bench.host, streams[i], &lost), i == 0 ? 3 : 4);
        assert_int_equal(report_u32(reports[1], 8), 1);
        assert_int_equal(report_u32(reports[2], 8), i == 0 ? 3 : 2);
        if (i == 1)
            assert_int_equal(report_u32(reports[3], 8), 4);
        close_stream(&bench.host, streams[i]);
    }
    bench_close(&bench);
}

/* Other processes -------------------------------------------------------------------------------
 */

/* Sets markers that say how many groups it has run, for ever. */
static void mark_for_ever(const struct child *parent)
{
    struct bench bench;

    bench_open(&bench, calm);
    (void)child_hear(parent->from);
    for (uint32_t i = 0;; i++) {
        const struct zeta_plugin_command commands[] = {bench_count(&bench, 2),
                                                       marker(&bench, "oa", 2 * (i + 1), 0),
                                                       marker(&bench, "oa", 0, 0)};

        bench_run(&bench, commands, 3);
        if (i == 100)
            child_say(parent->to);
    }
}

/* Rule 12.23. */
static void process__killed_while_it_marks__others_go_on(void **state)
{
    enum { CHILDREN = 4 };
    struct child children[CHILDREN];
    struct zeta_plugin_stream *stream;
    struct bench bench;
    uint64_t lost, total, seen = 0;

    (void)state;
    for (unsigned i = 0; i < CHILDREN; i++)
        children[i] = child_start(mark_for_ever);
    bench_open(&bench, calm);
    stream = open_stream(&bench.host, bench.host.device, "oa", FOREVER_NS, false, NULL);
    for (unsigned i = 0; i < CHILDREN; i++) {
        uint64_t before, groups = 0;

        child_say(children[i].to);
        assert_true(child_hear(children[i].from));
        kill(children[i].pid, SIGKILL);
        child_end(&children[i]);
        /* Alone, so each of its rows has its own work only. */
        total = drain(&bench.host, stream, &lost);
        assert_int_equal(lost, 0);
        assert_cmp(total, >=, 100);
        before = report_counter(reports[0], GROUPS);
        for (uint64_t r = i == 0; r < total; r++) {
            const uint32_t value = report_u32(reports[r], 8);

            assert_true(is_marker(r));
            if (value == 0)
                continue;
            groups = report_counter(reports[r], GROUPS);
            if (value > 2)
                assert_int_equal(groups, before + 2);
            before = groups;
            seen++;
        }
    }
    assert_cmp(seen, >=, 4 * 100);
    {
        const struct zeta_plugin_command command = marker(&bench, "oa", 99, 0);

        bench_run(&bench, &command, 1);
        assert_int_equal(drain(&bench.host, stream, &lost), 1);
        assert_int_equal(report_u32(reports[0], 8), 99);
    }
    close_stream(&bench.host, stream);
    bench_close(&bench);
}

/* Has a stream, says so, and when told so reads it and says what it found. */
static void collect(const struct child *parent)
{
    struct zeta_plugin_stream *stream;
    struct bench bench;
    uint64_t found[2];

    bench_open(&bench, calm);
    stream = open_stream(&bench.host, bench.host.device, "oa", FOREVER_NS, false, NULL);
    child_say(parent->to);
    (void)child_hear(parent->from);
    found[0] = drain(&bench.host, stream, &found[1]);
    if (write(parent->to, found, sizeof(found)) != sizeof(found))
        _exit(7);
    close_stream(&bench.host, stream);
    bench_close(&bench);
}

/* Rule 12.24. */
static void holder__stopped__markers_wait_once_and_the_loss_is_counted(void **state)
{
    enum { NUMBER = 3000 };
    struct child child = child_start(collect);
    struct zeta_plugin_command *commands;
    struct bench bench;
    uint64_t found[2];
    int status;

    (void)state;
    bench_open(&bench, calm);
    commands = many_markers(&bench, NUMBER);
    assert_true(child_hear(child.from));
    assert_int_equal(kill(child.pid, SIGSTOP), 0);
    assert_int_equal(waitpid(child.pid, &status, WUNTRACED), child.pid);
    /* Each would wait a fifth of a second. */
    bench_run(&bench, commands, NUMBER);
    assert_int_equal(kill(child.pid, SIGCONT), 0);
    child_say(child.to);
    assert_int_equal(read(child.from, found, sizeof(found)), sizeof(found));
    assert_cmp(found[1], >, 0);
    assert_int_equal(found[0] + found[1], NUMBER + 1);
    assert_int_equal(child_end(&child), 0);
    bench_close(&bench);
    free(commands);
}

/* Dies with the unit in its hands. */
static void hold_and_die(const struct child *parent)
{
    struct bench bench;

    bench_open(&bench, calm);
    (void)open_stream(&bench.host, bench.host.device, "oa", FOREVER_NS, false, NULL);
    child_say(parent->to);
    (void)child_hear(parent->from);
    kill(getpid(), SIGKILL);
}

static void holder__killed__markers_go_nowhere_and_soon(void **state)
{
    enum { NUMBER = 3000 };
    struct child child = child_start(hold_and_die);
    struct zeta_plugin_stream *stream;
    struct zeta_plugin_command *commands;
    struct bench bench;
    uint64_t lost;

    (void)state;
    bench_open(&bench, calm);
    commands = many_markers(&bench, NUMBER);
    assert_true(child_hear(child.from));
    child_say(child.to);
    (void)child_end(&child);
    bench_run(&bench, commands, NUMBER);
    stream = open_stream(&bench.host, bench.host.device, "oa", FOREVER_NS, false, NULL);
    bench_run(&bench, commands, 3);
    assert_int_equal(drain(&bench.host, stream, &lost), 4);
    assert_int_equal(lost, 0);
    close_stream(&bench.host, stream);
    bench_close(&bench);
    free(commands);
}

static int set_up(void **state)
{
    struct bench *bench = calloc(1, sizeof(*bench));

    assert_non_null(bench);
    bench_open(bench, calm);
    *state = bench;
    return 0;
}

#define WITH(test) cmocka_unit_test_setup_teardown(test, set_up, bench_teardown)

SUITE(marker)
{
    const struct CMUnitTest tests[] = {
        /* First, while this process has no threads. */
        cmocka_unit_test_teardown(process__killed_while_it_marks__others_go_on, child_teardown),
        cmocka_unit_test_teardown(holder__stopped__markers_wait_once_and_the_loss_is_counted,
                                  child_teardown),
        cmocka_unit_test_teardown(holder__killed__markers_go_nowhere_and_soon, child_teardown),
        WITH(kernels__between_markers__exact_counts_per_row),
        WITH(timers__at_a_short_period__markers_keep_their_place),
        WITH(shortest_period__reads_all_the_time__each_marker_is_seen),
        WITH(eu__selected__row_ends_at_the_marker),
        WITH(switches__and_markers__merged_in_the_order_of_time),
        WITH(token__of_one_stream__seen_there_only),
        WITH(nobody__who_collects__markers_are_dropped),
        WITH(misuse__unit_or_value__refused_with_the_reason),
        WITH(thousands__at_once__none_lost),
        WITH(thousands__sampler_gets_no_time__none_lost),
        cmocka_unit_test(ring__too_small__loss_is_told_and_counted),
        cmocka_unit_test(virtual_time__any_number_of_workers__same_bytes),
        cmocka_unit_test(tiles__marker_of_the_root__on_each_tile),
    };

    /* Children that were killed do not listen any more. */
    signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
