/* Streams of all units of the virtual GPU at once, with the work of this process. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "streaming.h"
#include "tests/sanitizer.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

enum { COMPUTE, DISPATCH, WORK_STATUS, DEVICE_STATUS, SAMPLES, UNITS };

static const char *const names[UNITS] = {
    [COMPUTE] = "ComputeBasic",       [DISPATCH] = "ThreadDispatch", [WORK_STATUS] = "KernelTracer",
    [DEVICE_STATUS] = "DeviceTracer", [SAMPLES] = "EuStallSampling",
};

static void make_all(const struct bed *bed, struct streaming streams[UNITS])
{
    struct streaming *all[UNITS];

    for (uint32_t i = 0; i < UNITS; i++) {
        streams[i] = streaming_of(bed->device, names[i]);
        all[i] = &streams[i];
    }
    streaming_activate(bed, all, UNITS);
}

static void work(const struct bed *bed, uint32_t launches, uint32_t groups)
{
    uint32_t *counter = bed_memory(bed, 64);
    ze_kernel_handle_t count = bed_count(bed, counter);
    ze_command_list_handle_t list = bed_immediate(bed, ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);

    for (uint32_t i = 0; i < launches; i++)
        bed_count_append(list, count, groups);
    assert_int_equal(*counter, launches * groups * 16);
    EXPECT_OK(zeCommandListDestroy(list));
    EXPECT_OK(zeKernelDestroy(count));
    EXPECT_OK(zeMemFree(bed->context, counter));
}

/* Rule 11.13. */
static void units__all_at_once__each_counts_the_work(void **state)
{
    const struct bed *bed = *state;
    struct streaming streams[UNITS];

    make_all(bed, streams);
    for (uint32_t i = 0; i < UNITS; i++)
        streaming_open(bed, &streams[i], 1000000, 10, NULL);
    work(bed, 20, 9);
    for (uint32_t i = 0; i < SAMPLES; i++) {
        streaming_catch_up(&streams[i]);
        streaming_calculate(&streams[i]);
        assert_cmp(streams[i].rows, >, 0);
        assert_int_equal(streams[i].warnings, 0);
    }
    assert_int_equal(streaming_sum(&streams[COMPUTE], "InstAtomic"), 20 * 9 * 16);
    assert_int_equal(streaming_sum(&streams[COMPUTE], "KernelsLaunched"), 20);
    assert_int_equal(streaming_sum(&streams[DISPATCH], "GroupsDispatched"), 20 * 9);
    assert_int_equal(streaming_sum(&streams[DISPATCH], "ThreadsDispatched"), 20 * 9 * 16);
    assert_int_equal(streaming_sum(&streams[WORK_STATUS], "EventsWritten"), 0);
    for (uint32_t i = 0; i < UNITS; i++)
        streaming_close(&streams[i]);
}

/** Whether N reports are there is told alike by events that are waited for and polled.
 * Rule 11.13. */
static void units__all_at_once__events_tell_of_each(void **state)
{
    const struct bed *bed = *state;
    struct test_event events[UNITS];
    struct streaming streams[UNITS];

    make_all(bed, streams);
    for (uint32_t i = 0; i < SAMPLES; i++) {
        events[i] = make_event(bed->context);
        streaming_open(bed, &streams[i], 200000, 5 + i, events[i].event);
        assert_int_equal(streams[i].notify, 5 + i);
    }
    for (uint32_t round = 0; round < 20; round++) {
        for (uint32_t i = 0; i < SAMPLES; i++) {
            const size_t before = streams[i].raw_bytes;

            if (round % 2 == 0)
                EXPECT_OK(zeEventHostSynchronize(events[i].event, UINT64_MAX));
            while (zeEventQueryStatus(events[i].event) != ZE_RESULT_SUCCESS)
                sleep_ms(1);
            (void)streaming_read(&streams[i], UINT32_MAX, 4096);
            /* At least N new reports, and the one that is repeated. */
            assert_cmp(streams[i].raw_bytes - before, >=,
                       (size_t)(5 + i) * streams[i].record_bytes);
        }
    }
    for (uint32_t i = 0; i < SAMPLES; i++) {
        assert_int_equal(streams[i].warnings, 0);
        streaming_close(&streams[i]);
        destroy_event(&events[i]);
    }
}

/* 28: all values that programs use; 29, 30: sizes. */
static void open__any_period_and_count__serves_from_one_record_on(void **state)
{
    static const uint32_t periods[] = {50000, 100000, 200000, 400000, 500000, 1000000, 10000000};
    static const uint32_t counts[] = {0, 1, 20, 1024, 32768, 65536, UINT32_MAX};
    const struct bed *bed = *state;
    struct streaming stream = streaming_of(bed->device, "ComputeBasic");
    struct streaming *active[] = {&stream};
    struct test_event event = make_event(bed->context);

    streaming_activate(bed, active, 1);
    for (uint32_t p = 0; p < 7; p++) {
        for (uint32_t c = 0; c < 7; c++) {
            size_t size = 0, most = 0;

            streaming_open(bed, &stream, periods[p], counts[c], event.event);
            assert_in_range(stream.period_ns, periods[p] / 3 * 2, periods[p] / 3 * 4 + 4);
            if (counts[c] <= 65536)
                assert_int_equal(stream.notify, counts[c]);
            else
                assert_in_range(stream.notify, 65536, 32u << 20);
            EXPECT_OK(zetMetricStreamerReadData(stream.streamer, UINT32_MAX, &most, NULL));
            assert_in_range(most, stream.record_bytes, 32u << 20);
            EXPECT_OK(zetMetricStreamerReadData(stream.streamer, 7, &size, NULL));
            assert_int_equal(size, (size_t)7 * stream.record_bytes);
            assert_in_range(stream.record_bytes, 1, 1024);
            assert_int_equal(stream.record_bytes & (stream.record_bytes - 1), 0);
            if (counts[c] == 1)
                EXPECT_OK(zeEventHostSynchronize(event.event, UINT64_MAX));
            streaming_close(&stream);
        }
    }
    destroy_event(&event);
}

static void read__room_for_one_report__gives_one_after_the_other(void **state)
{
    const struct bed *bed = *state;
    struct streaming stream = streaming_of(bed->device, "ComputeBasic");
    struct streaming *active[] = {&stream};
    uint8_t small[256];
    size_t size = 255;

    streaming_activate(bed, active, 1);
    streaming_open(bed, &stream, 100000, 0, NULL);
    sleep_ms(5);
    memset(small, 0x5a, sizeof(small));
    EXPECT_RESULT(zetMetricStreamerReadData(stream.streamer, UINT32_MAX, &size, small),
                  ZE_RESULT_ERROR_INVALID_SIZE);
    assert_int_equal(size, 256);
    for (uint32_t i = 0; i < sizeof(small); i++)
        assert_int_equal(small[i], 0x5a);
    for (uint32_t reports = 0; reports < 40;) {
        const size_t got = streaming_read(&stream, UINT32_MAX, 1);

        reports += got > 0;
        if (got == 0)
            sleep_ms(1);
    }
    streaming_calculate(&stream);
    /* One behind the other: no report is missing, none comes twice. */
    assert_in_range(stream.rows, 39, 40);
    for (uint32_t row = 1; row < stream.rows; row++)
        assert_int_equal(streaming_value(&stream, row, "GpuTime")->value.ui64, stream.period_ns);
    streaming_close(&stream);
}

/** maxReportCount bounds the new reports of a read. */
static void read__max_report_count__bounds_what_is_new(void **state)
{
    const struct bed *bed = *state;
    struct streaming stream = streaming_of(bed->device, "ComputeBasic");
    struct streaming *active[] = {&stream};
    struct zeta_stream_info begin, info;
    uint64_t before;

    streaming_activate(bed, active, 1);
    streaming_open(bed, &stream, 500000, 0, NULL);
    begin = streaming_begin_at_a_deadline(&stream);
    info = begin;
    before = begin.records;
    sleep_ms(20);
    /* As many as come, on a host that lets nobody sample for a while. */
    for (uint32_t most = 1; most < 60 || info.records <= 60; most++) {
        (void)streaming_read(&stream, most, 4096);
        info = streaming_info(&stream);
        assert_cmp(info.records - before, <=, most);
        before = info.records;
    }
    streaming_expect_all_told(&stream, &begin);
    streaming_close(&stream);
}

/** The highest rate: each deadline has its report, or a machine that stood still has lost it. */
static void read__shortest_period__every_deadline_is_given_or_lost(void **state)
{
    const struct bed *bed = *state;
    struct streaming stream = streaming_of(bed->device, "ThreadDispatch");
    struct streaming *active[] = {&stream};
    struct zeta_stream_info before;

    streaming_activate(bed, active, 1);
    streaming_open(bed, &stream, 10000, 0, NULL);
    assert_int_equal(stream.period_ns, 10240);
    before = streaming_begin_at_a_deadline(&stream);
    /* So many take longer where a sanitizer or others slow the sampler down. */
    for (uint32_t i = 0; i < 50 || stream.raw_bytes <= (size_t)10000 * stream.record_bytes; i++) {
        sleep_ms(10);
        (void)streaming_read(&stream, UINT32_MAX, 65536);
    }
    streaming_expect_all_told(&stream, &before);
    streaming_close(&stream);
}

/* 16, 32: a process samples what another one runs, to the last count. Rule 11.13. */
static void units__work_of_another_process__is_counted(void **state)
{
    const struct bed *bed = *state;
    struct streaming stream = streaming_of(bed->device, "ThreadDispatch");
    struct streaming *active[] = {&stream};
    int status = -1;
    pid_t child;

    if (NO_FORK_OF_BUSY_THREADS)
        skip();
    streaming_activate(bed, active, 1);
    streaming_open(bed, &stream, 500000, 0, NULL);
    child = fork();
    if (child == 0) {
        void *own = NULL;

        (void)bed_setup(&own);
        work(own, 7, 11);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    work(bed, 1, 3);
    streaming_catch_up(&stream);
    streaming_calculate(&stream);
    assert_int_equal(streaming_sum(&stream, "KernelsLaunched"), 8);
    assert_int_equal(streaming_sum(&stream, "GroupsDispatched"), 7 * 11 + 3);
    streaming_close(&stream);
}

/* 33: what closes a stream while others use it. */
struct reader {
    zet_metric_streamer_handle_t streamer;
    ze_event_handle_t event; /**< NULL: reads, else waits */
    uint32_t calls;
    ze_result_t last;
};

static void *use_until_closed(void *argument)
{
    static _Thread_local uint8_t raw[1 << 16];
    struct reader *reader = argument;

    for (;;) {
        size_t size = sizeof(raw);

        if (reader->event)
            (void)zeEventHostSynchronize(reader->event, 1000000);
        reader->last = zetMetricStreamerReadData(reader->streamer, UINT32_MAX, &size, raw);
        if (reader->last != ZE_RESULT_SUCCESS && reader->last != ZE_RESULT_WARNING_DROPPED_DATA)
            return NULL;
        reader->calls++;
    }
}

/* Rule 11.13. */
static void close__while_others_read_and_wait__ends_them(void **state)
{
    const struct bed *bed = *state;
    struct test_event event = make_event(bed->context);

    for (uint32_t round = 0; round < 12; round++) {
        struct streaming stream = streaming_of(bed->device, "ComputeBasic");
        struct streaming *active[] = {&stream};
        struct reader readers[3];
        pthread_t threads[3];

        streaming_activate(bed, active, 1);
        streaming_open(bed, &stream, 20000, 10, event.event);
        for (uint32_t i = 0; i < 3; i++) {
            readers[i] =
                (struct reader){.streamer = stream.streamer, .event = i == 0 ? NULL : event.event};
            assert_int_equal(pthread_create(&threads[i], NULL, use_until_closed, &readers[i]), 0);
        }
        sleep_ms(round % 5);
        if (round % 4 == 3) /* deactivated first: reads go on until the close */
            EXPECT_OK(zetContextActivateMetricGroups(bed->context, bed->device, 0, NULL));
        streaming_close(&stream);
        for (uint32_t i = 0; i < 3; i++) {
            assert_int_equal(pthread_join(threads[i], NULL), 0);
            assert_int_equal(readers[i].last, ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
        }
    }
    destroy_event(&event);
}

SUITE(units)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(units__all_at_once__each_counts_the_work),
        cmocka_unit_test(units__all_at_once__events_tell_of_each),
        cmocka_unit_test(open__any_period_and_count__serves_from_one_record_on),
        cmocka_unit_test(read__room_for_one_report__gives_one_after_the_other),
        cmocka_unit_test(read__max_report_count__bounds_what_is_new),
        cmocka_unit_test(read__shortest_period__every_deadline_is_given_or_lost),
        cmocka_unit_test(units__work_of_another_process__is_counted),
        cmocka_unit_test(close__while_others_read_and_wait__ends_them),
    };

    return cmocka_run_group_tests(tests, bed_setup, bed_teardown);
}
