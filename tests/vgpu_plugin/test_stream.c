/* OA units: reports, periods, rings, programs, faults, virtual time. */
#include <math.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "../sanitizer.h"
#include "host.h"
#include "kernel_file.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

#define REPORT 256u
#define TICK_NS 40u
#define TIMER_BIT (1u << 19)
#define SWITCH_BIT (1u << 22)

/* Counters by their place in the report. */
enum {
    CLOCKS = 0,
    BUSY_CLOCKS = 1,
    EU_ACTIVE = 2,
    RETIRED = 5,
    FP32 = 7,
    BARRIERS = 16,
    STORED = 19,
    COPIED = 31,
    GROUPS = 33,
    KERNELS = 34
};

static uint8_t reports[16384][REPORT];

static int setup(void **state)
{
    struct host *host = calloc(1, sizeof(*host));

    host_open(host, NULL);
    *state = host;
    return 0;
}

static int teardown(void **state)
{
    struct host *host = *state;

    host_close(host);
    free(host);
    return 0;
}

static struct zeta_plugin_stream *open_stream(struct host *host, const char *unit,
                                              uint64_t period_ns, uint64_t notify_records,
                                              const char *const *selections)
{
    struct zeta_plugin_stream *stream = NULL;

    if (host_stream(host, unit, period_ns, notify_records, selections, &stream) != 0)
        fail_msg("stream_open: %s", host_error(host));
    return stream;
}

static void close_stream(struct host *host, struct zeta_plugin_stream *stream)
{
    host->metric->stream_close(host->self, stream);
}

static uint64_t device_ticks(struct host *host)
{
    struct zeta_plugin_clock clock = {.struct_size = sizeof(clock)};

    assert_int_equal(host->device_ops->clock(host->self, host->device, &clock), 0);
    return clock.device_ticks;
}

/* Reads until no report is left, across breaks; gives the number of reports. */
static uint64_t drain(struct host *host, struct zeta_plugin_stream *stream, uint64_t *out_lost)
{
    struct zeta_plugin_read read;
    uint64_t count = 0, got;

    *out_lost = 0;
    while ((got = host_read(host, stream, reports[count], 16384 - count, &read)) > 0) {
        count += got;
        *out_lost += read.lost;
    }
    return count;
}

static void open__first_report__at_once_and_of_now(void **state)
{
    struct host *host = *state;
    const uint64_t before = device_ticks(host);
    struct zeta_plugin_stream *stream = open_stream(host, "oa", 1000000000, 1, NULL);

    assert_cmp(host->metric->stream_pending(host->self, stream), >=, 1);
    assert_int_equal(host_read(host, stream, reports, 1, NULL), 1);
    assert_int_equal(report_id(reports[0]), TIMER_BIT);
    assert_cmp((uint32_t)(report_u32(reports[0], 4) - (uint32_t)before), <, 25000000);
    /* The next one comes with a period of its own. */
    assert_cmp(host_read(host, stream, reports, 16, NULL), <=, 2);
    close_stream(host, stream);
}

static void open__any_period__nearest_power_of_two_ticks(void **state)
{
    static const uint64_t cases[][2] = {{0, 10240},           {10000, 10240},
                                        {50000, 40960},       {100000, 81920},
                                        {500000, 655360},     {1000000, 1310720},
                                        {10000000, 10485760}, {UINT64_MAX, UINT64_C(40) << 31}};
    struct host *host = *state;
    struct zeta_plugin_limits limits = {.struct_size = sizeof(limits)};

    assert_int_equal(host->metric->limits(host->self, host->device, host_string("oa"), &limits), 0);
    assert_int_equal(limits.min_period_ns, 10240);
    for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct zeta_plugin_stream_desc desc = {.struct_size = sizeof(desc),
                                               .unit = host_string("dispatch"),
                                               .period_ns = cases[i][0],
                                               .record_bytes = REPORT};
        struct zeta_plugin_stream *stream;

        assert_int_equal(host->metric->stream_open(host->self, host->device, &desc, &stream), 0);
        assert_int_equal(desc.period_ns, cases[i][1]);
        assert_int_equal(desc.ring_records, 65536);
        close_stream(host, stream);
    }
}

/* Rule 21.8. */
static void idle__timer_reports__exact_times_and_no_clocks(void **state)
{
    struct host *host = *state;
    struct zeta_plugin_stream *stream = open_stream(host, "oa", 1310720, 1, NULL);
    uint64_t count, lost;

    assert_true(host_pending(host, stream, 40));
    count = drain(host, stream, &lost);
    assert_int_equal(lost, 0);
    for (uint64_t i = 1; i < count; i++) {
        const uint32_t ticks = report_u32(reports[i], 4) - report_u32(reports[i - 1], 4);

        assert_int_equal(report_id(reports[i]), TIMER_BIT);
        assert_int_equal(report_u32(reports[i], 4) % 32768, 0);
        assert_true(i == 1 ? ticks <= 32768 : ticks == 32768);
        assert_int_equal((uint32_t)report_counter(reports[i], CLOCKS), report_u32(reports[i], 12));
        for (uint32_t c = CLOCKS; c < 36; c++)
            assert_int_equal(report_counter(reports[i], c), report_counter(reports[0], c));
    }
    close_stream(host, stream);
}

/* Runs matmul of size x size; the numbers do not matter. */
static void run_matmul(struct host *host, struct zeta_plugin_module *module,
                       struct zeta_plugin_queue *queue, uint32_t size)
{
    float *memory = host_allocate(host, 3 * size * size * sizeof(float));
    struct zeta_plugin_kernel *kernel = kernel_create(host, module, "matmul");
    struct {
        void *left, *right, *product;
        uint32_t size, unused;
    } arguments = {memory, memory + size * size, memory + 2 * size * size, size, 0};
    struct zeta_plugin_command command = kernel_launch(kernel, &arguments, size / 16, 16);

    command.u.launch.group_count[1] = size / 16;
    command.u.launch.group_size[1] = 16;
    assert_int_equal(host_run(host, queue, &command, 1), ZETA_PLUGIN_SUCCESS);
    host->compute->kernel_destroy(host->self, kernel);
    assert_int_equal(host->compute->memory_free(host->self, memory), ZETA_PLUGIN_SUCCESS);
}

static void counts__matmul_and_copy__closed_formulas_hold(void **state)
{
    enum { SIZE = 64 };
    struct host *host = *state;
    struct zeta_plugin_module *module = kernel_file_load(host);
    struct zeta_plugin_queue *queue = host_queue(host, 0);
    struct zeta_plugin_stream *stream = open_stream(host, "oa", 5242880, 1, NULL);
    struct zeta_plugin_command copy = host_copy(host_allocate(host, 100000), reports, 100000);
    uint64_t count;

    run_matmul(host, module, queue, SIZE);
    assert_int_equal(host_run(host, queue, &copy, 1), ZETA_PLUGIN_SUCCESS);
    count = host_read_past_now(host, stream, reports, 16384);
#define GREW(counter)                                                                              \
    (report_counter(reports[count - 1], counter) - report_counter(reports[0], counter))
    assert_int_equal(GREW(FP32), 2 * SIZE * SIZE * SIZE);
    assert_int_equal(GREW(BARRIERS), SIZE * SIZE * SIZE / 8);
    assert_int_equal(GREW(STORED), 4 * SIZE * SIZE);
    assert_int_equal(GREW(GROUPS), SIZE / 16 * SIZE / 16);
    assert_int_equal(GREW(KERNELS), 1);
    assert_int_equal(GREW(COPIED), 100000);
    assert_cmp(GREW(RETIRED), >, GREW(FP32));
    assert_cmp(GREW(BUSY_CLOCKS), >, 0);
    assert_int_equal(GREW(CLOCKS), GREW(BUSY_CLOCKS));
    for (uint64_t i = 1; i < count; i++) {
        for (uint32_t c = 0; c < 36; c++)
            assert_cmp(report_counter(reports[i], c), >=, report_counter(reports[i - 1], c));
    }
    close_stream(host, stream);
    host->compute->queue_destroy(host->self, queue);
    host->compute->module_destroy(host->self, module);
}

static uint64_t row_of(uint64_t i, uint32_t counter)
{
    return report_counter(reports[i], counter) - report_counter(reports[i - 1], counter);
}

static uint64_t row_ticks(uint64_t i)
{
    return report_u32(reports[i], 4) - report_u32(reports[i - 1], 4);
}

/*
 * One thread, which is executed faster than a thread of the device runs; copies, which come in
 * large pieces; and many threads. All of it counts, and no row has more clocks than its time has.
 Rule 21.9. */
static void frequency__any_work_and_period__never_above_the_nominal_one(void **state)
{
    static const struct host_setting settings[2][2] = {{{"clock", "wall"}, {NULL, NULL}},
                                                       {{"clock", "virtual"}, {NULL, NULL}}};
    static const uint64_t periods_ns[] = {10240, 81920, 1310720};

    (void)state;
    for (unsigned i = 0; i < 6; i++) {
        struct {
            void *out;
            uint32_t rounds, unused;
        } arguments = {NULL, 50000, 0};
        struct zeta_plugin_command commands[2];
        struct zeta_plugin_module *module;
        struct zeta_plugin_kernel *spin;
        struct zeta_plugin_stream *stream;
        struct zeta_plugin_queue *queue;
        struct host host;
        uint64_t count, lost;

        host_open(&host, settings[i / 3]);
        module = kernel_file_load(&host);
        spin = kernel_create(&host, module, "spin");
        queue = host_queue(&host, 0);
        arguments.out = host_allocate(&host, 64);
        commands[0] = kernel_launch(spin, &arguments, 1, 1);
        commands[1] =
            host_copy(host_allocate(&host, 8u << 20), host_allocate(&host, 8u << 20), 8u << 20);
        stream = open_stream(&host, "oa", periods_ns[i % 3], 1, NULL);
        assert_int_equal(host_run(&host, queue, commands, 2), ZETA_PLUGIN_SUCCESS);
        run_matmul(&host, module, queue, 64);
        count =
            i < 3 ? host_read_past_now(&host, stream, reports, 16384) : drain(&host, stream, &lost);
        for (uint64_t r = 1; r < count; r++) {
            assert_cmp(row_of(r, CLOCKS), <=, row_ticks(r) * 40);
            assert_cmp(row_of(r, EU_ACTIVE), <=, row_of(r, CLOCKS) * 128);
        }
        /* On a busy host the last work may come some rows later. */
        for (unsigned tries = 0; i < 3 && tries < 100 && GREW(KERNELS) < 2; tries++)
            count = 1 + host_read_past_now(&host, stream, reports[1], 16383);
        if (i < 3) {
            assert_int_equal(GREW(COPIED), 8u << 20);
            assert_int_equal(GREW(KERNELS), 2);
        }
        close_stream(&host, stream);
        host.compute->queue_destroy(host.self, queue);
        host.compute->kernel_destroy(host.self, spin);
        host.compute->module_destroy(host.self, module);
        host_close(&host);
    }
}

static double seconds_of(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Means of EuActive over rows: each as much as the others, by time, and by clocks. */
struct means {
    double by_row, by_time, by_clocks;
    uint64_t rows;
};

/* Of the rows in which EUs worked but the first and the last, where other things happen too. */
static struct means means_of(uint64_t first, uint64_t end)
{
    struct means means = {0};
    double time = 0, clocks = 0;

    while (first < end && row_of(first, EU_ACTIVE) == 0)
        first++;
    while (end > first && row_of(end - 1, EU_ACTIVE) == 0)
        end--;
    for (uint64_t i = first + 1; i + 1 < end; i++) {
        const double row_clocks = (double)row_of(i, CLOCKS);
        const double share =
            row_clocks > 0 ? 100 * (double)row_of(i, EU_ACTIVE) / row_clocks / 128 : 0;

        if (row_clocks <= 0)
            continue;
        means.rows++;
        means.by_row += share;
        means.by_time += share * (double)row_ticks(i);
        means.by_clocks += share * row_clocks;
        time += (double)row_ticks(i);
        clocks += row_clocks;
    }
    means.by_row /= (double)means.rows;
    means.by_time /= time;
    means.by_clocks /= clocks;
    return means;
}

/* Samples products; false if other programs had so much of the processor that rows say little. */
static bool sample_products(struct host *host, struct zeta_plugin_module *module,
                            struct zeta_plugin_queue *queue, uint64_t period_ns,
                            struct means *out_means)
{
    struct zeta_plugin_stream *stream = open_stream(host, "oa", period_ns, 1, NULL);
    double wall = -seconds_of(CLOCK_MONOTONIC), used = -seconds_of(CLOCK_PROCESS_CPUTIME_ID);

    for (unsigned n = 0; n < 4; n++)
        run_matmul(host, module, queue, 128);
    wall += seconds_of(CLOCK_MONOTONIC);
    used += seconds_of(CLOCK_PROCESS_CPUTIME_ID);
    *out_means = means_of(1, host_read_past_now(host, stream, reports, 16384));
    close_stream(host, stream);
    print_message("%6.0f us: EuActive %.2f by row, %.2f by time, %.2f by clocks; %.0f %% of a "
                  "processor\n",
                  (double)period_ns / 1e3, out_means->by_row, out_means->by_time,
                  out_means->by_clocks, 100 * used / wall);
    return used >= 0.95 * wall && out_means->rows >= 5;
}

/*
 * A row holds what was executed in its time, so rows of 100 us are some points apart on a slow or
 * busy host. Counts without their clocks pull the means apart by tens of points, in each run.
 * Rule 21.10.
 */
static void shares__at_short_and_long_periods__any_mean_is_the_same(void **state)
{
    static const uint64_t periods_ns[] = {100000, 1000000, 10000000};
    static const struct host_setting settings[] = {{"workers", "1"}, {NULL, NULL}};
    struct zeta_plugin_module *module;
    struct zeta_plugin_queue *queue;
    struct host host;
    unsigned agreed = 0, differed = 0;

    (void)state;
    if (HAVE_ADDRESS_SANITIZER || HAVE_THREAD_SANITIZER) {
        print_message("not compared: a sanitizer makes slices longer than short periods\n");
        skip();
    }
    host_open(&host, settings);
    module = kernel_file_load(&host);
    queue = host_queue(&host, 0);
    run_matmul(&host, module, queue, 128);
    for (unsigned i = 0; i < 3; i++) {
        bool is_same = false;
        unsigned judged = 0;

        for (unsigned attempt = 0; attempt < 12 && judged < 6 && !is_same; attempt++) {
            struct means means;

            if (!sample_products(&host, module, queue, periods_ns[i], &means))
                continue;
            judged++;
            is_same = fabs(means.by_row - means.by_clocks) < 10 &&
                      fabs(means.by_time - means.by_clocks) < 10;
        }
        agreed += is_same;
        differed += judged == 6 && !is_same;
    }
    host.compute->queue_destroy(host.self, queue);
    host.compute->module_destroy(host.self, module);
    host_close(&host);
    assert_int_equal(differed, 0);
    if (agreed == 0) {
        print_message("not compared: other programs had the processor\n");
        skip();
    }
}

static bool readable(struct host *host, struct zeta_plugin_stream *stream, int timeout_ms)
{
    struct pollfd poll_fd = {.fd = host->metric->stream_descriptor(host->self, stream),
                             .events = POLLIN};

    assert_cmp(poll_fd.fd, >=, 0);
    return poll(&poll_fd, 1, timeout_ms) == 1;
}

/* Readable if and only if so many reports are pending, whatever came between two questions. */
static bool expect_level(struct host *host, struct zeta_plugin_stream *stream, uint64_t reports_min)
{
    const uint64_t before = host->metric->stream_pending(host->self, stream);
    const bool is_readable = readable(host, stream, 0);

    if (is_readable)
        assert_cmp(host->metric->stream_pending(host->self, stream), >=, reports_min);
    else
        assert_cmp(before, <, reports_min);
    return is_readable;
}

static void descriptor__n_pending__level_in_both_directions(void **state)
{
    struct host *host = *state;
    struct zeta_plugin_stream *stream = open_stream(host, "oa", 1310720, 50, NULL);
    bool is_readable = expect_level(host, stream, 50);

    assert_true(readable(host, stream, 20000));
    assert_true(expect_level(host, stream, 50));
    /* A busy host may find 50 more at once. */
    for (uint32_t i = 0; i < 100 && (i == 0 || is_readable); i++) {
        assert_int_equal(host_read(host, stream, reports, 45, NULL), 45);
        is_readable = expect_level(host, stream, 50);
    }
    assert_false(is_readable);
    assert_true(readable(host, stream, 20000));
    close_stream(host, stream);
}

/* The notification comes, and counters grow, while one kernel runs on and on. */
static void descriptor__endless_kernel__readable_while_it_runs(void **state)
{
    struct host *host = *state;
    struct zeta_plugin_module *module = kernel_file_load(host);
    struct zeta_plugin_kernel *kernel = kernel_create(host, module, "endless");
    struct zeta_plugin_queue *queue = host_queue(host, 0);
    _Atomic uint32_t *flag = host_allocate(host, 64);
    struct zeta_plugin_command command = kernel_launch(kernel, &flag, 8, 64);
    struct zeta_plugin_stream *stream;
    struct host_work work;
    uint64_t count, lost, all = 0;

    assert_int_equal(host_submit(host, queue, &command, 1, &work), ZETA_PLUGIN_SUCCESS);
    kernel_wait_for(flag);
    stream = open_stream(host, "oa", 1310720, 50, NULL);
    assert_true(readable(host, stream, 20000));
    assert_int_equal(work.done, 0);
    count = drain(host, stream, &lost);
    assert_cmp(report_counter(reports[count - 1], RETIRED), >,
               report_counter(reports[0], RETIRED) + 100000);
    assert_cmp(report_u32(reports[count - 1], 8), !=, 0);
    /* Whatever came in a row came with its clocks, and percentages stay below 100. */
    for (uint64_t i = 1; i < count; i++) {
        const uint64_t clocks =
            report_counter(reports[i], CLOCKS) - report_counter(reports[i - 1], CLOCKS);

        all += clocks;
        assert_int_equal(clocks > 0, report_counter(reports[i], RETIRED) >
                                         report_counter(reports[i - 1], RETIRED));
        assert_int_equal(report_counter(reports[i], BUSY_CLOCKS) -
                             report_counter(reports[i - 1], BUSY_CLOCKS),
                         clocks);
        assert_cmp(report_counter(reports[i], EU_ACTIVE) -
                       report_counter(reports[i - 1], EU_ACTIVE),
                   <=, clocks * 128);
    }
    assert_cmp(all, >, 0);
    host->compute->queue_destroy(host->self, queue);
    close_stream(host, stream);
    host->compute->kernel_destroy(host->self, kernel);
    host->compute->module_destroy(host->self, module);
}

static void ring__full__oldest_go_and_are_counted(void **state)
{
    static const struct host_setting settings[] = {{"fault.full_ring", "16"}, {NULL, NULL}};
    static const char *const program[] = {"C1=reports", NULL};
    struct zeta_plugin_read read;
    struct zeta_plugin_stream *stream;
    struct host host;
    uint64_t lost = 0;
    uint32_t next = 1;

    (void)state;
    host_open(&host, settings);
    stream = open_stream(&host, "oa", 81920, 1, program);
    for (unsigned round = 0; round < 20 || (lost == 0 && round < 2000); round++) {
        host_sleep_ms(round % 2 ? 4 : 1);
        /* Every report is read or counted as lost, exactly. */
        for (uint64_t got = 1, i; got > 0;) {
            got = host_read(&host, stream, reports, 7, &read);
            if (read.broken) {
                assert_int_equal(read.reason, ZETA_PLUGIN_BREAK_OVERFLOW);
                assert_cmp(read.lost, >, 0);
            }
            lost += read.lost;
            next += (uint32_t)read.lost;
            for (i = 0; i < got; i++)
                assert_int_equal(report_u32(reports[i], 224 + 4), next++);
        }
    }
    assert_cmp(lost, >, 0);
    close_stream(&host, stream);
    host_close(&host);
}

static void fault_lost_reports__every_nth__break_before_the_next(void **state)
{
    static const struct host_setting settings[] = {{"fault.lost_reports", "5"}, {NULL, NULL}};
    static const char *const program[] = {"C1=reports", NULL};
    struct zeta_plugin_read read;
    struct zeta_plugin_stream *stream;
    struct host host;
    uint32_t next = 1;

    (void)state;
    host_open(&host, settings);
    stream = open_stream(&host, "oa", 655360, 1, program);
    assert_true(host_pending(&host, stream, 30));
    for (uint64_t got = 1; got > 0;) {
        got = host_read(&host, stream, reports, 100, &read);
        assert_cmp(got, <=, 4);
        /* A read may also end because nothing more was there; only the fifths are missing. */
        assert_int_equal(read.broken, got > 0 && next % 5 == 0);
        if (read.broken) {
            assert_int_equal(read.reason, ZETA_PLUGIN_BREAK_LOST);
            assert_int_equal(read.lost, 1);
            assert_int_equal(next % 5, 0);
        }
        next += (uint32_t)read.lost;
        for (uint64_t i = 0; i < got; i++)
            assert_int_equal(report_u32(reports[i], 224 + 4), next++);
    }
    close_stream(&host, stream);
    host_close(&host);
}

static void program__each_selection__counts_what_it_says(void **state)
{
    static const char *const program[] = {"B0=counter:InstRetired",
                                          "B1=counter:GroupsDispatched@subslice=0",
                                          "B2=counter:GroupsDispatched@subslice=3",
                                          "B3=counter:GroupsDispatched@slice=1",
                                          "C0=ticks/4",
                                          "C1=reports",
                                          "C2=constant:305419896",
                                          NULL};
    struct host *host = *state;
    struct zeta_plugin_module *module = kernel_file_load(host);
    struct zeta_plugin_kernel *kernel = kernel_create(host, module, "count");
    struct zeta_plugin_queue *queue = host_queue(host, 0);
    uint32_t *counter = host_allocate(host, 64);
    struct zeta_plugin_command command = kernel_launch(kernel, &counter, 10, 16);
    struct zeta_plugin_stream *stream = open_stream(host, "oa", 5242880, 1, program);
    uint64_t count;

    assert_int_equal(host_run(host, queue, &command, 1), ZETA_PLUGIN_SUCCESS);
    count = host_read_past_now(host, stream, reports, 16384);
#define SELECTED(offset) (report_u32(reports[count - 1], offset) - report_u32(reports[0], offset))
    assert_int_equal(SELECTED(192), (uint32_t)GREW(RETIRED));
    /* Group i runs on subslice i mod 4: 10 groups are 3, 3, 2, 2. */
    assert_int_equal(SELECTED(196), 3);
    assert_int_equal(SELECTED(200), 2);
    assert_int_equal(SELECTED(204), 4);
    for (uint64_t i = 0; i < count; i++) {
        assert_int_equal(report_u32(reports[i], 224) & 0x3fffffff, report_u32(reports[i], 4) / 4);
        assert_int_equal(report_u32(reports[i], 228), i + 1);
        assert_int_equal(report_u32(reports[i], 232), (uint32_t)(i + 1) * 305419896u);
        assert_int_equal(report_u32(reports[i], 236), 0);
    }
    close_stream(host, stream);
    host->compute->queue_destroy(host->self, queue);
    host->compute->kernel_destroy(host->self, kernel);
    host->compute->module_destroy(host->self, module);
}

static void program__bad_selections__refused_by_name(void **state)
{
    static const char *const bad[] = {"B8=counter:InstRetired",
                                      "B0=counter:Nothing",
                                      "B0=counter:L1Hits@slice=2",
                                      "B0=counter:L1Hits@subslice=4",
                                      "B0=counter:L1Hits@eu=128",
                                      "B0=events:written",
                                      "B0=events:kept@work",
                                      "B0=events:lost@oa",
                                      "C0=ticks/0",
                                      "C0=constant:",
                                      "C0=constant:4294967296",
                                      "D0=reports",
                                      "B0=",
                                      "B0=reports2",
                                      "C0=ticks/-1"};
    static const char *const twice[] = {"B0=reports", "B0=reports", NULL};
    struct host *host = *state;
    struct zeta_plugin_stream *stream;

    for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        const char *const program[] = {bad[i], NULL};

        assert_int_equal(host_stream(host, "oa", 1000000, 1, program, &stream),
                         ZETA_PLUGIN_INVALID_ARGUMENT);
        assert_non_null(strstr(host_error(host), bad[i]));
    }
    assert_int_equal(host_stream(host, "oa", 1000000, 1, twice, &stream),
                     ZETA_PLUGIN_INVALID_ARGUMENT);
}

static void units__two_of_them__exclusive_each(void **state)
{
    struct host *host = *state;
    struct zeta_plugin_stream *first = open_stream(host, "oa", 1000000, 1, NULL);
    struct zeta_plugin_stream *second = open_stream(host, "dispatch", 1000000, 1, NULL);
    struct zeta_plugin_stream *third;
    uint32_t pid = 0;

    assert_int_equal(host_stream(host, "oa", 1000000, 1, NULL, &third),
                     ZETA_PLUGIN_HANDLE_OBJECT_IN_USE);
    assert_int_equal(host_stream(host, "other", 1000000, 1, NULL, &third),
                     ZETA_PLUGIN_INVALID_ARGUMENT);
    assert_int_equal(host->metric->holder(host->self, host->device, host_string("oa"), &pid), 0);
    assert_cmp(pid, !=, 0);
    host_read(host, second, reports, 1, NULL);
    assert_int_equal(report_id(reports[0]), TIMER_BIT | 1);
    /* A stopped stream gives up its unit and keeps its reports. */
    assert_true(host_pending(host, first, 3));
    host->metric->stream_stop(host->self, first);
    host_sleep_ms(5);
    pid = (uint32_t)host->metric->stream_pending(host->self, first);
    third = open_stream(host, "oa", 1000000, 1, NULL);
    assert_int_equal(host_read(host, first, reports, 16384, NULL), pid);
    close_stream(host, third);
    close_stream(host, second);
    close_stream(host, first);
    assert_int_equal(host->metric->holder(host->self, host->device, host_string("oa"), &pid), 0);
    assert_int_equal(pid, 0);
}

static void fault_permission__open__refused_with_the_reason(void **state)
{
    static const struct host_setting settings[] = {{"fault.permission", "1"}, {NULL, NULL}};
    struct zeta_plugin_stream *stream;
    struct host host;

    (void)state;
    host_open(&host, settings);
    assert_int_equal(host_stream(&host, "oa", 1000000, 1, NULL, &stream),
                     ZETA_PLUGIN_INSUFFICIENT_PERMISSIONS);
    assert_non_null(strstr(host_error(&host), "fault.permission"));
    host_close(&host);
}

/* Of a time stamp. */
#define TICKS ((UINT64_C(1) << 34) - 1)

static void fault_wrap_soon__timestamp_wraps__no_gap(void **state)
{
    static const struct host_setting settings[] = {{"fault.wrap_soon", "1"}, {NULL, NULL}};
    struct zeta_plugin_stream *stream;
    struct host host;
    uint64_t count;
    unsigned wraps = 0;

    (void)state;
    host_open(&host, settings);
    stream = open_stream(&host, "oa", 1310720, 1, NULL);
    assert_cmp((device_ticks(&host) & TICKS), >, TICKS - 30000000);
    while ((device_ticks(&host) & TICKS) > TICKS / 2)
        host_sleep_ms(5);
    count = host_read_past_now(&host, stream, reports, 16384);
    for (uint64_t i = 2; i < count; i++) {
        const uint64_t before = report_ticks(reports[i - 1]), now = report_ticks(reports[i]);

        assert_int_equal((now - before) & TICKS, 32768);
        wraps += now < before;
    }
    assert_int_equal(wraps, 1);
    /* One clock: the device's value wrapped as well and is close to the last report. */
    assert_cmp(((device_ticks(&host) - report_ticks(reports[count - 1])) & TICKS), <, 25000000);
    close_stream(&host, stream);
    host_close(&host);
}

static void switches__selected__a_report_each_with_its_totals(void **state)
{
    static const char *const program[] = {"switches", NULL};
    struct host *host = *state;
    struct zeta_plugin_module *module = kernel_file_load(host);
    struct zeta_plugin_kernel *kernel = kernel_create(host, module, "count");
    struct zeta_plugin_queue *queue = host_queue(host, 0);
    uint32_t *counter = host_allocate(host, 64);
    struct zeta_plugin_command command = kernel_launch(kernel, &counter, 10, 16);
    struct zeta_plugin_stream *stream = open_stream(host, "oa", 10000000, 1, program);
    uint64_t count;
    unsigned switches = 0;

    for (unsigned i = 0; i < 5; i++)
        assert_int_equal(host_run(host, queue, &command, 1), ZETA_PLUGIN_SUCCESS);
    count = host_read_past_now(host, stream, reports, 16384);
    for (uint64_t i = 1; i < count; i++) {
        assert_cmp((int32_t)(report_u32(reports[i], 4) - report_u32(reports[i - 1], 4)), >, 0);
        if (report_id(reports[i]) != SWITCH_BIT)
            continue;
        /* In turn: the context begins, with the work before it; it ends, with its own. */
        assert_int_equal(report_u32(reports[i], 8) != 0, switches % 2 == 0);
        switches++;
        assert_int_equal(report_counter(reports[i], KERNELS) - report_counter(reports[0], KERNELS),
                         switches / 2);
    }
    assert_int_equal(switches, 10);
    close_stream(host, stream);
    host->compute->queue_destroy(host->self, queue);
    host->compute->kernel_destroy(host->self, kernel);
    host->compute->module_destroy(host->self, module);
}

/* One run in virtual time: gives the reports and their number. */
static uint64_t run_virtual(const struct host_setting *settings, uint8_t *out_bytes)
{
    struct zeta_plugin_module *module;
    struct zeta_plugin_stream *stream;
    struct zeta_plugin_queue *queue;
    struct zeta_plugin_command copy;
    struct host host;
    uint64_t count, lost;

    host_open(&host, settings);
    module = kernel_file_load(&host);
    queue = host_queue(&host, 0);
    stream = open_stream(&host, "oa", 10240, 1, NULL);
    copy = host_copy(host_allocate(&host, 16u << 20), host_allocate(&host, 16u << 20), 16u << 20);
    run_matmul(&host, module, queue, 64);
    assert_int_equal(host_run(&host, queue, &copy, 1), ZETA_PLUGIN_SUCCESS);
    run_matmul(&host, module, queue, 32);
    count = drain(&host, stream, &lost);
    assert_int_equal(lost, 0);
    memcpy(out_bytes, reports, count * REPORT);
    close_stream(&host, stream);
    host.compute->queue_destroy(host.self, queue);
    host.compute->module_destroy(host.self, module);
    host_close(&host);
    return count;
}

/* Rule 21.12. */
static void virtual_time__any_number_of_workers__same_bytes(void **state)
{
    static const struct host_setting settings[2][3] = {
        {{"clock", "virtual"}, {"workers", "1"}, {NULL, NULL}},
        {{"clock", "virtual"}, {"workers", "3"}, {NULL, NULL}}};
    uint8_t *bytes[2] = {malloc(sizeof(reports)), malloc(sizeof(reports))};
    uint64_t counts[2];

    (void)state;
    counts[0] = run_virtual(settings[0], bytes[0]);
    assert_cmp(counts[0], >, 16);
    assert_cmp(report_counter(bytes[0] + (counts[0] - 1) * REPORT, FP32), >, 0);
    for (unsigned i = 0; i < 4; i++) {
        counts[1] = run_virtual(settings[i % 2], bytes[1]);
        assert_int_equal(counts[0], counts[1]);
        assert_memory_equal(bytes[0], bytes[1], counts[0] * REPORT);
    }
    free(bytes[0]);
    free(bytes[1]);
}

/* A reader beside the writer, at the shortest period: each report is whole, or told as lost. */
static void shortest_period__concurrent_reads__every_report_whole(void **state)
{
    static const char *const program[] = {"C1=reports", NULL};
    struct host *host = *state;
    struct zeta_plugin_stream *stream = open_stream(host, "oa", 10240, 1, program);
    struct zeta_plugin_read read;
    uint32_t next = 1;

    /* Half of what 200 ms hold takes longer where a sanitizer or others slow the writer down. */
    for (unsigned round = 0; round < 100 || next <= 200 * 97 / 2; round++) {
        uint64_t got = host_read(host, stream, reports, 16384, &read);

        /* A host so busy that nobody reads for long. */
        if (read.broken)
            assert_int_equal(read.reason, ZETA_PLUGIN_BREAK_OVERFLOW);
        next += (uint32_t)read.lost;
        for (uint64_t i = 0; i < got; i++) {
            assert_int_equal(report_id(reports[i]), TIMER_BIT);
            assert_int_equal(report_u32(reports[i], 228), next++);
        }
        host_sleep_ms(2);
    }
    close_stream(host, stream);
}

#define WITH(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

SUITE(stream)
{
    const struct CMUnitTest tests[] = {
        WITH(open__first_report__at_once_and_of_now),
        WITH(open__any_period__nearest_power_of_two_ticks),
        WITH(idle__timer_reports__exact_times_and_no_clocks),
        WITH(counts__matmul_and_copy__closed_formulas_hold),
        cmocka_unit_test(frequency__any_work_and_period__never_above_the_nominal_one),
        cmocka_unit_test(shares__at_short_and_long_periods__any_mean_is_the_same),
        WITH(descriptor__n_pending__level_in_both_directions),
        WITH(descriptor__endless_kernel__readable_while_it_runs),
        cmocka_unit_test(ring__full__oldest_go_and_are_counted),
        cmocka_unit_test(fault_lost_reports__every_nth__break_before_the_next),
        WITH(program__each_selection__counts_what_it_says),
        WITH(program__bad_selections__refused_by_name),
        WITH(units__two_of_them__exclusive_each),
        cmocka_unit_test(fault_permission__open__refused_with_the_reason),
        cmocka_unit_test(fault_wrap_soon__timestamp_wraps__no_gap),
        WITH(switches__selected__a_report_each_with_its_totals),
        cmocka_unit_test(virtual_time__any_number_of_workers__same_bytes),
        WITH(shortest_period__concurrent_reads__every_report_whole),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
