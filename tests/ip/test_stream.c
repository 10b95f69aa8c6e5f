/* Streams of instruction-pointer samples through the plugin, also between processes. */
#include <inttypes.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "plugins/vgpu/engine/engine.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"
#include "tests/vgpu_plugin/child.h"
#include "tests/vgpu_plugin/host.h"
#include "tests/vgpu_plugin/kernel_file.h"

enum { RECORD_BYTES = 128, MAX_RECORDS = 65536, ITEMS = 32 };

/* The shortest period, so that small kernels have many samples. */
#define PERIOD_NS 10240u

static const char instance_base[] = "ip-test";

/* A plugin with the kernels. */
struct bed {
    struct host host;
    struct zeta_plugin_module *module;
    struct zeta_plugin_queue *queue;
    void *memory;
    uint64_t begin, end; /* of the code */
};

/* What a stream said. */
struct sums {
    uint64_t total, records, lost, outside;
    uint32_t breaks;
    uint32_t pid; /* of the last record */
    uint64_t stalls[ZETA_VGPU_STALL_COUNT];
};

static void bed_open(struct bed *bed, const struct host_setting *settings)
{
    memset(bed, 0, sizeof(*bed));
    host_open(&bed->host, settings);
    bed->module = kernel_file_load(&bed->host);
    bed->queue = host_queue(&bed->host, 0);
    bed->memory = host_allocate(&bed->host, 1 << 16);
    assert_int_equal(
        bed->host.compute->module_code(bed->host.self, bed->module, &bed->begin, &bed->end),
        ZETA_PLUGIN_SUCCESS);
    assert_cmp(bed->begin, <, bed->end);
}

static void bed_close(struct bed *bed)
{
    bed->host.compute->queue_destroy(bed->host.self, bed->queue);
    bed->host.compute->module_destroy(bed->host.self, bed->module);
    host_close(&bed->host);
}

static void run(struct bed *bed, const char *name, uint64_t rounds, uint32_t groups, uint32_t items)
{
    struct zeta_plugin_kernel *kernel = kernel_create(&bed->host, bed->module, name);
    const struct {
        void *memory;
        uint64_t rounds;
    } arguments = {bed->memory, rounds};
    struct zeta_plugin_command command = kernel_launch(kernel, &arguments, groups, items);

    assert_int_equal(host_run(&bed->host, bed->queue, &command, 1), ZETA_PLUGIN_SUCCESS);
    bed->host.compute->kernel_destroy(bed->host.self, kernel);
}

static uint32_t open_with(struct host *host, struct zeta_plugin_device *device,
                          struct zeta_plugin_stream_desc *desc,
                          struct zeta_plugin_stream **out_stream)
{
    desc->struct_size = sizeof(*desc);
    desc->unit = host_string("ip");
    desc->set = host_string("EuStallSampling");
    desc->digest = host_string("0");
    if (desc->record_bytes == 0)
        desc->record_bytes = RECORD_BYTES;
    if (desc->period_ns == 0)
        desc->period_ns = PERIOD_NS;
    return host->metric->stream_open(host->self, device, desc, out_stream);
}

static struct zeta_plugin_stream *open_stream(struct host *host, struct zeta_plugin_device *device)
{
    struct zeta_plugin_stream_desc desc = {.struct_size = sizeof(desc)};
    struct zeta_plugin_stream *stream = NULL;

    if (open_with(host, device, &desc, &stream) != ZETA_PLUGIN_SUCCESS)
        fail_msg("stream_open: %s", host_error(host));
    assert_int_equal(desc.period_ns, PERIOD_NS);
    return stream;
}

static uint64_t word(const uint8_t *record, size_t at)
{
    uint64_t value;

    memcpy(&value, record + at, sizeof(value));
    return value;
}

static void add_record(const struct bed *bed, const uint8_t *record, struct sums *sums)
{
    const uint64_t address = word(record, 0);
    uint64_t total = 0;

    for (unsigned i = 0; i < ZETA_VGPU_STALL_COUNT; i++) {
        sums->stalls[i] += word(record, 16 + 8 * i);
        total += word(record, 16 + 8 * i);
    }
    assert_cmp(total, >, 0);
    assert_int_equal(word(record, 96) | word(record, 104) | word(record, 112) | word(record, 120),
                     0);
    sums->pid = (uint32_t)word(record, 8);
    sums->total += total;
    sums->records++;
    if (address < bed->begin || address >= bed->end)
        sums->outside += total;
}

/* Everything that is there now. */
static void read_all(struct bed *bed, struct zeta_plugin_stream *stream, struct sums *sums)
{
    uint8_t *buffer = malloc((size_t)MAX_RECORDS * RECORD_BYTES);
    struct zeta_plugin_read read = {.struct_size = sizeof(read)};

    assert_non_null(buffer);
    do {
        assert_int_equal(bed->host.metric->stream_read(bed->host.self, stream, buffer,
                                                       (uint64_t)MAX_RECORDS * RECORD_BYTES, &read),
                         ZETA_PLUGIN_SUCCESS);
        assert_int_equal(read.bytes % RECORD_BYTES, 0);
        for (uint64_t at = 0; at < read.bytes; at += RECORD_BYTES)
            add_record(bed, buffer + at, sums);
        sums->breaks += read.broken;
        sums->lost += read.lost;
    } while (read.bytes > 0);
    free(buffer);
}

static int set_up(void **state)
{
    char name[64];

    (void)state;
    /* The end of a talk with a child that was killed. */
    (void)signal(SIGPIPE, SIG_IGN);
    snprintf(name, sizeof(name), "%s-%ld", instance_base, (long)getpid());
    return setenv("ZETA_VGPU_INSTANCE", name, 1);
}

static void stream__kernel__tells_where_it_is_and_what_it_does(void **state)
{
    struct bed bed;
    struct sums sums = {0};
    struct zeta_plugin_stream *stream;

    (void)state;
    bed_open(&bed, NULL);
    stream = open_stream(&bed.host, bed.host.device);
    run(&bed, "divide", 20000, 1, ITEMS);
    read_all(&bed, stream, &sums);
    assert_int_equal(sums.outside, 0);
    assert_int_equal(sums.pid, (uint32_t)getpid());
    /* 88 clocks a round; see test_sampler.c. */
    assert_in_range(sums.total, UINT64_C(20000) * ITEMS * 88 / PERIOD_NS * 80 / 100,
                    UINT64_C(20000) * ITEMS * 88 / PERIOD_NS * 120 / 100);
    assert_cmp(sums.stalls[ZETA_VGPU_STALL_PIPE] * 100, >=, sums.total * 80);
    assert_int_equal(sums.breaks, 0);
    /* More than one row of an instruction is normal, but not one for each sample. */
    assert_cmp(sums.records, <, sums.total);
    bed.host.metric->stream_close(bed.host.self, stream);
    bed_close(&bed);
}

static void stream__no_kernel__has_no_record(void **state)
{
    struct bed bed;
    struct sums sums = {0};
    struct zeta_plugin_stream *stream;

    (void)state;
    bed_open(&bed, NULL);
    run(&bed, "divide", 2000, 1, ITEMS);
    stream = open_stream(&bed.host, bed.host.device);
    host_sleep_ms(5);
    read_all(&bed, stream, &sums);
    assert_int_equal(sums.records, 0);
    assert_int_equal(bed.host.metric->stream_pending(bed.host.self, stream), 0);
    bed.host.metric->stream_close(bed.host.self, stream);
    bed_close(&bed);
}

static void stream__stopped__keeps_what_was_before_and_adds_nothing(void **state)
{
    struct bed bed;
    struct sums sums = {0};
    struct zeta_plugin_stream *stream;

    (void)state;
    bed_open(&bed, NULL);
    stream = open_stream(&bed.host, bed.host.device);
    run(&bed, "divide", 5000, 1, ITEMS);
    bed.host.metric->stream_stop(bed.host.self, stream);
    run(&bed, "store", 5000, 1, ITEMS);
    read_all(&bed, stream, &sums);
    assert_cmp(sums.total, >, 0);
    assert_int_equal(sums.stalls[ZETA_VGPU_STALL_SEND], 0);
    bed.host.metric->stream_close(bed.host.self, stream);
    bed_close(&bed);
}

static void open__second_or_wrong__is_refused(void **state)
{
    struct zeta_plugin_program_entry entry = {.struct_size = sizeof(entry),
                                              .select = host_string("switches")};
    struct zeta_plugin_stream_desc desc = {.record_bytes = 256};
    struct zeta_plugin_stream *stream, *second = NULL;
    uint32_t pid = 0;
    struct bed bed;

    (void)state;
    bed_open(&bed, NULL);
    assert_int_equal(open_with(&bed.host, bed.host.device, &desc, &second),
                     ZETA_PLUGIN_INVALID_ARGUMENT);
    assert_non_null(strstr(host_error(&bed.host), "128"));
    desc = (struct zeta_plugin_stream_desc){.program = {&entry, 1, sizeof(entry)}};
    assert_int_equal(open_with(&bed.host, bed.host.device, &desc, &second),
                     ZETA_PLUGIN_INVALID_ARGUMENT);
    assert_non_null(strstr(host_error(&bed.host), "program"));
    stream = open_stream(&bed.host, bed.host.device);
    desc = (struct zeta_plugin_stream_desc){.period_ns = PERIOD_NS};
    assert_int_equal(open_with(&bed.host, bed.host.device, &desc, &second),
                     ZETA_PLUGIN_HANDLE_OBJECT_IN_USE);
    assert_int_equal(
        bed.host.metric->holder(bed.host.self, bed.host.device, host_string("ip"), &pid),
        ZETA_PLUGIN_SUCCESS);
    assert_int_equal(pid, (uint32_t)getpid());
    bed.host.metric->stream_close(bed.host.self, stream);
    stream = open_stream(&bed.host, bed.host.device);
    bed.host.metric->stream_close(bed.host.self, stream);
    bed_close(&bed);
}

/* Bytes of a stream over fixed work, addresses as distances from the begin of the code. */
static uint64_t virtual_bytes(uint8_t **out_bytes)
{
    static const struct host_setting settings[] = {{"clock", "virtual"}, {NULL, NULL}};
    struct zeta_plugin_read read = {.struct_size = sizeof(read)};
    struct zeta_plugin_stream *stream;
    struct bed bed;

    bed_open(&bed, settings);
    stream = open_stream(&bed.host, bed.host.device);
    for (unsigned i = 0; i < 3; i++) {
        run(&bed, "divide", 5000, 8, ITEMS);
        run(&bed, "store", 2000, 4, ITEMS);
    }
    *out_bytes = calloc(MAX_RECORDS, RECORD_BYTES);
    assert_non_null(*out_bytes);
    assert_int_equal(bed.host.metric->stream_read(bed.host.self, stream, *out_bytes,
                                                  (uint64_t)MAX_RECORDS * RECORD_BYTES, &read),
                     ZETA_PLUGIN_SUCCESS);
    for (uint64_t at = 0; at < read.bytes; at += RECORD_BYTES) {
        const uint64_t distance = word(*out_bytes + at, 0) - bed.begin;

        assert_cmp(distance, <, bed.end - bed.begin);
        memcpy(*out_bytes + at, &distance, sizeof(distance));
    }
    bed.host.metric->stream_close(bed.host.self, stream);
    bed_close(&bed);
    return read.bytes;
}

static void stream__virtual_clock__repeats_to_the_byte(void **state)
{
    uint8_t *first, *second;
    uint64_t size = virtual_bytes(&first);

    (void)state;
    assert_cmp(size, >, (uint64_t)RECORD_BYTES * 10);
    assert_int_equal(virtual_bytes(&second), size);
    assert_memory_equal(first, second, size);
    free(first);
    free(second);
}

/* Rule 11.23. */
static void ring__full_or_with_faults__tells_how_many_records_are_missing(void **state)
{
    static const struct host_setting losing[] = {{"fault.lost_reports", "2"}, {NULL, NULL}};
    static const struct host_setting full[] = {{"fault.full_ring", "2"}, {NULL, NULL}};
    struct sums whole = {0}, some = {0};
    struct zeta_plugin_stream *stream;
    struct bed bed;

    (void)state;
    bed_open(&bed, losing);
    stream = open_stream(&bed.host, bed.host.device);
    run(&bed, "divide", 20000, 1, ITEMS);
    read_all(&bed, stream, &whole);
    /* Every second one. */
    assert_cmp(whole.breaks, >, 0);
    assert_in_range(whole.lost, whole.records - 1, whole.records + 1);
    bed.host.metric->stream_close(bed.host.self, stream);
    bed_close(&bed);

    bed_open(&bed, full);
    stream = open_stream(&bed.host, bed.host.device);
    run(&bed, "divide", 20000, 1, ITEMS);
    bed.host.metric->stream_stop(bed.host.self, stream);
    read_all(&bed, stream, &some);
    assert_int_equal(some.records, 2);
    assert_cmp(some.lost, >, 0);
    bed.host.metric->stream_close(bed.host.self, stream);
    bed_close(&bed);
}

static void close__while_kernels_run__disturbs_nobody(void **state)
{
    struct zeta_plugin_kernel *kernel;
    struct zeta_plugin_command command;
    struct host_work work;
    struct bed bed;

    (void)state;
    bed_open(&bed, NULL);
    kernel = kernel_create(&bed.host, bed.module, "divide");
    const struct {
        void *memory;
        uint64_t rounds;
    } arguments = {bed.memory, 10000};
    command = kernel_launch(kernel, &arguments, 4, ITEMS);
    for (unsigned i = 0; i < 10; i++) {
        struct zeta_plugin_stream *stream;

        assert_int_equal(host_submit(&bed.host, bed.queue, &command, 1, &work),
                         ZETA_PLUGIN_SUCCESS);
        stream = open_stream(&bed.host, bed.host.device);
        host_sleep_ms(i % 3);
        bed.host.metric->stream_close(bed.host.self, stream);
        assert_int_equal(host_wait(&work), ZETA_PLUGIN_SUCCESS);
    }
    bed.host.compute->kernel_destroy(bed.host.self, kernel);
    bed_close(&bed);
}

/* The root sums up its tiles; a tile has samples of its own work only. */
static void tiles__root_and_tile__see_what_is_theirs(void **state)
{
    static const struct host_setting settings[] = {{"tiles", "2"}, {NULL, NULL}};
    struct zeta_plugin_device *devices[3] = {NULL};
    struct zeta_plugin_stream *stream;
    struct sums root = {0}, first = {0}, second = {0};
    struct sums *const sums[3] = {&root, &first, &second};
    uint32_t count = 0;
    struct bed bed;

    (void)state;
    bed_open(&bed, settings);
    assert_int_equal(bed.host.device_ops->enumerate(bed.host.self, 3, devices, &count), 0);
    assert_int_equal(count, 3);
    for (unsigned i = 0; i < 3; i++) {
        stream = open_stream(&bed.host, devices[i]);
        /* A root runs its kernels on the first tile. */
        run(&bed, "divide", 10000, 1, ITEMS);
        read_all(&bed, stream, sums[i]);
        bed.host.metric->stream_close(bed.host.self, stream);
    }
    assert_cmp(root.total, >, 100);
    assert_int_equal(root.total, first.total);
    assert_int_equal(second.total, 0);
    bed_close(&bed);
}

/* Runs a kernel when it is told to. */
static void child_runs(const struct child *parent)
{
    struct bed bed;

    bed_open(&bed, NULL);
    child_say(parent->to);
    while (child_hear(parent->from)) {
        run(&bed, "divide", 10000, 1, ITEMS);
        child_say(parent->to);
    }
    bed_close(&bed);
}

static void child_runs_for_ever(const struct child *parent)
{
    struct bed bed;

    bed_open(&bed, NULL);
    child_say(parent->to);
    for (;;)
        run(&bed, "divide", 10000, 4, ITEMS);
}

static void child_samples(const struct child *parent)
{
    struct bed bed;

    bed_open(&bed, NULL);
    (void)open_stream(&bed.host, bed.host.device);
    child_say(parent->to);
    (void)child_hear(parent->from);
}

/* Rule 11.23. */
static void processes__another_works__is_seen_with_its_id(void **state)
{
    struct child child = child_start(child_runs);
    struct zeta_plugin_stream *stream;
    struct sums sums = {0};
    struct bed bed;

    (void)state;
    bed_open(&bed, NULL);
    stream = open_stream(&bed.host, bed.host.device);
    assert_true(child_hear(child.from));
    child_say(child.to);
    assert_true(child_hear(child.from));
    read_all(&bed, stream, &sums);
    assert_cmp(sums.total, >, 100);
    assert_int_equal(sums.pid, (uint32_t)child.pid);
    assert_int_equal(sums.breaks, 0);
    bed.host.metric->stream_close(bed.host.self, stream);
    bed_close(&bed);
    assert_int_equal(child_end(&child), 0);
}

/* Rule 11.23. */
static void processes__worker_killed__the_stream_goes_on(void **state)
{
    struct child child = child_start(child_runs_for_ever);
    struct zeta_plugin_stream *stream;
    struct sums before = {0}, after = {0};
    struct bed bed;

    (void)state;
    bed_open(&bed, NULL);
    assert_true(child_hear(child.from));
    stream = open_stream(&bed.host, bed.host.device);
    for (unsigned i = 0; i < 2000 && before.total < 100; i++) {
        host_sleep_ms(5);
        read_all(&bed, stream, &before);
    }
    assert_cmp(before.total, >=, 100);
    kill(child.pid, SIGKILL);
    (void)child_end(&child);
    read_all(&bed, stream, &before);
    run(&bed, "divide", 10000, 1, ITEMS);
    read_all(&bed, stream, &after);
    assert_cmp(after.total, >, 100);
    assert_int_equal(after.pid, (uint32_t)getpid());
    bed.host.metric->stream_close(bed.host.self, stream);
    bed_close(&bed);
}

static void processes__reader_killed__gives_way_to_the_next(void **state)
{
    struct child child = child_start(child_samples);
    struct zeta_plugin_stream_desc desc = {.period_ns = PERIOD_NS};
    struct zeta_plugin_stream *stream = NULL;
    struct sums sums = {0};
    struct bed bed;

    (void)state;
    assert_true(child_hear(child.from));
    bed_open(&bed, NULL);
    assert_int_equal(open_with(&bed.host, bed.host.device, &desc, &stream),
                     ZETA_PLUGIN_NOT_AVAILABLE);
    run(&bed, "divide", 10000, 1, ITEMS);
    kill(child.pid, SIGKILL);
    (void)child_end(&child);
    run(&bed, "divide", 10000, 1, ITEMS);
    stream = open_stream(&bed.host, bed.host.device);
    run(&bed, "divide", 10000, 1, ITEMS);
    read_all(&bed, stream, &sums);
    /* Only what was asked for: the last of the three. */
    assert_in_range(sums.total, UINT64_C(10000) * ITEMS * 88 / PERIOD_NS * 75 / 100,
                    UINT64_C(10000) * ITEMS * 88 / PERIOD_NS * 125 / 100);
    bed.host.metric->stream_close(bed.host.self, stream);
    bed_close(&bed);
}

SUITE(stream)
{
    const struct CMUnitTest tests[] = {
        /* Children first: they are started before this process has threads. */
        cmocka_unit_test_teardown(processes__another_works__is_seen_with_its_id, child_teardown),
        cmocka_unit_test_teardown(processes__worker_killed__the_stream_goes_on, child_teardown),
        cmocka_unit_test_teardown(processes__reader_killed__gives_way_to_the_next, child_teardown),
        cmocka_unit_test(stream__kernel__tells_where_it_is_and_what_it_does),
        cmocka_unit_test(stream__no_kernel__has_no_record),
        cmocka_unit_test(stream__stopped__keeps_what_was_before_and_adds_nothing),
        cmocka_unit_test(open__second_or_wrong__is_refused),
        cmocka_unit_test(stream__virtual_clock__repeats_to_the_byte),
        cmocka_unit_test(ring__full_or_with_faults__tells_how_many_records_are_missing),
        cmocka_unit_test(close__while_kernels_run__disturbs_nobody),
        cmocka_unit_test(tiles__root_and_tile__see_what_is_theirs),
    };

    return cmocka_run_group_tests_name("ip stream", tests, set_up, NULL);
}
