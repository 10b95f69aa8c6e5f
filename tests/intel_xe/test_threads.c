/*
 * Two units of one GPU and two tiles of another, each read by a thread of its own while others ask
 * for the clock: for the thread sanitizer.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tests/intel/stream_bed.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

enum { ROUNDS = 60, READERS = 4 };

static const struct kmd_config machine_config = {
    .device_count = 2,
    .devices = {{.platform = "bmg", .driver = "xe"},
                {.platform = "pvc", .driver = "xe", .tiles = 2}},
    .is_privileged = true,
    .is_paranoid = true,
};

struct reader {
    pthread_t thread;
    struct bed_stream source;
    ze_result_t result;
};

static atomic_bool is_over;

static void *read_all(void *context)
{
    struct reader *reader = context;

    for (int i = 0; i < ROUNDS && reader->result == ZE_RESULT_SUCCESS; i++) {
        reader->result = bed_stream_read(&reader->source);
        sleep_ms(5);
    }
    return NULL;
}

static void *read_clocks(void *context)
{
    ze_device_handle_t *devices = context;

    while (!atomic_load(&is_over)) {
        for (int i = 0; i < 3; i++) {
            uint64_t host_ns, ticks;

            if (zeDeviceGetGlobalTimestamps(devices[i], &host_ns, &ticks) != ZE_RESULT_SUCCESS)
                return context;
        }
        sleep_ms(1);
    }
    return NULL;
}

static void units__read_by_threads__give_reports_in_order(void **state)
{
    const ze_device_handle_t bmg = find_device("Intel Battlemage");
    ze_device_handle_t devices[3] = {bmg, NULL, NULL};
    struct reader readers[READERS] = {0};
    struct bed_stream *both[2];
    uint32_t count = 2;
    pthread_t clock;
    void *failed;

    (void)state;
    EXPECT_OK(zeDeviceGetSubDevices(find_device("Intel Ponte Vecchio"), &count, devices + 1));
    readers[0].source = bed_stream_of(bmg, "TestOa");
    readers[1].source = bed_stream_of(bmg, "MediaSet1");
    readers[2].source = bed_stream_of(devices[1], "TestOa");
    readers[3].source = bed_stream_of(devices[2], "TestOa");
    both[0] = &readers[0].source;
    both[1] = &readers[1].source;
    bed_streams_activate(both, 2);
    bed_streams_activate(&(struct bed_stream *){&readers[2].source}, 1);
    bed_streams_activate(&(struct bed_stream *){&readers[3].source}, 1);
    for (int i = 0; i < READERS; i++) {
        readers[i].source.chunk_bytes = 1 << 16;
        readers[i].source.period_ns = 1000000;
        bed_stream_open(&readers[i].source);
    }
    assert_int_equal(pthread_create(&clock, NULL, read_clocks, devices), 0);
    for (int i = 0; i < READERS; i++)
        assert_int_equal(pthread_create(&readers[i].thread, NULL, read_all, &readers[i]), 0);
    for (int i = 0; i < READERS; i++)
        assert_int_equal(pthread_join(readers[i].thread, NULL), 0);
    atomic_store(&is_over, true);
    assert_int_equal(pthread_join(clock, &failed), 0);
    assert_null(failed);
    for (int i = 0; i < 2; i++) {
        const struct bed_stream *source = &readers[i].source;
        uint64_t last = 0;

        EXPECT_OK(readers[i].result);
        assert_cmp(bed_record_count(source), >, 100);
        /* Every slot but those that the library says: a repeated report has the time of its first.
         */
        for (size_t at = 0; at < source->bytes; at += source->record_bytes) {
            const uint64_t ticks = bed_get(source->raw + at, 8, 7);

            if (source->warnings == 0)
                assert_cmp(ticks, >=, last);
            last = ticks;
        }
    }
    for (int i = 2; i < READERS; i++) {
        EXPECT_OK(readers[i].result);
        assert_cmp(bed_record_count(&readers[i].source), >, 100);
    }
    for (int i = READERS; i-- > 0;)
        bed_close(&readers[i].source);
}

/* The kernel wakes the library when so many reports are there. */
static void event__of_each_kind_of_unit__is_signalled_when_enough_came(void **state)
{
    static const struct {
        const char *group;
        uint32_t period_ns, notify;
    } cases[] = {{"TestOa", 1000000, 40}, {"MediaSet1", 1000000, 40}, {"EuStallSampling", 251, 64}};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct bed_stream source = bed_stream_of(find_device("Intel Battlemage"), cases[i].group);
        struct test_event event;

        source.period_ns = cases[i].period_ns;
        source.notify = cases[i].notify;
        bed_streams_activate(&(struct bed_stream *){&source}, 1);
        event = make_event(source.context);
        source.event = event.event;
        bed_stream_open(&source);
        assert_int_equal(source.notify, cases[i].notify);
        /* Enough may be there at once on a busy machine; what counts is that they are then. */
        EXPECT_OK(zeEventHostSynchronize(event.event, UINT64_MAX));
        EXPECT_OK(bed_stream_read(&source));
        assert_cmp(bed_record_count(&source), >=, cases[i].notify);
        destroy_event(&event);
        bed_close(&source);
    }
}

static uint64_t cpu_ns(void)
{
    struct timespec used = {0};

    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return (uint64_t)used.tv_sec * 1000000000u + (uint64_t)used.tv_nsec;
}

/* Whoever waits for reports is told, and nobody asks a stream again and again that cannot answer.
 Rule 26.16. */
static void event__of_a_gpu_that_is_unplugged__is_signalled_and_rests(void **state)
{
    struct bed_stream source = bed_stream_of(find_device("Intel Battlemage"), "TestOa");
    struct test_event event;
    uint64_t used_ns;

    source.period_ns = 1000000;
    source.notify = 20000;
    bed_streams_activate(&(struct bed_stream *){&source}, 1);
    event = make_event(source.context);
    source.event = event.event;
    bed_stream_open(&source);
    kmd_fault(*state, 0, KMD_FAULT_UNPLUG, 1);
    EXPECT_OK(zeEventHostSynchronize(event.event, UINT64_MAX));
    used_ns = cpu_ns();
    (void)usleep(400000);
    assert_cmp(cpu_ns() - used_ns, <, 200000000);
    EXPECT_RESULT(bed_stream_drain(&source), ZE_RESULT_ERROR_DEVICE_LOST);
    destroy_event(&event);
    bed_close(&source);
}

static int setup(void **state)
{
    *state = bed_start(&machine_config);
    return 0;
}

static int teardown(void **state)
{
    kmd_stop(*state);
    return 0;
}

SUITE(xe_threads)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(units__read_by_threads__give_reports_in_order),
        cmocka_unit_test(event__of_each_kind_of_unit__is_signalled_when_enough_came),
        cmocka_unit_test(event__of_a_gpu_that_is_unplugged__is_signalled_and_rests),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
