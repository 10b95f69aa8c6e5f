/* The notification event: a level in both directions, the reactor behind it. */
#include <pthread.h>
#include <stdatomic.h>

#include "tests/metric_api/stream_bed.h"
#include "tests/support/suite.h"

static int set_up(void **state)
{
    (void)state;
    return zeInit(0) == ZE_RESULT_SUCCESS ? 0 : -1;
}

struct open_stream {
    struct stream_bed bed;
    struct test_event event;
    zet_metric_group_handle_t group;
    zet_metric_streamer_handle_t streamer;
};

static struct open_stream open_on(const char *device, uint32_t notify)
{
    struct open_stream made = {.bed = bed_make(device)};

    made.event = make_event(made.bed.context);
    made.group = bed_activate(&made.bed, "Basic");
    made.streamer = bed_open(&made.bed, made.group, notify, made.event.event);
    return made;
}

static void end(struct open_stream *made)
{
    EXPECT_OK(zetMetricStreamerClose(made->streamer));
    destroy_event(&made->event);
    bed_free(&made->bed);
}

static const char *const devices[] = {"fake0", "bare0"};

/* 31: level-triggered. Rule 11.14. */
static void event__level__rises_with_n_and_falls_with_reads(void **state)
{
    (void)state;
    for (int d = 0; d < 2; d++) {
        struct open_stream made = open_on(devices[d], 5);
        struct slot slots[32];

        EXPECT_RESULT(zeEventQueryStatus(made.event.event), ZE_RESULT_NOT_READY);
        made.bed.control->push(devices[d], "u0", 4);
        /* The first record and these four: only four are new. */
        EXPECT_RESULT(zeEventHostSynchronize(made.event.event, 20000000), ZE_RESULT_NOT_READY);
        made.bed.control->push(devices[d], "u0", 1);
        expect_event(made.event.event, ZE_RESULT_SUCCESS);
        EXPECT_OK(zeEventQueryStatus(made.event.event));
        /* A read that leaves five keeps the level. */
        made.bed.control->push(devices[d], "u0", 2);
        assert_int_equal(bed_read(made.streamer, 2, 32, ZE_RESULT_SUCCESS, slots), 3);
        expect_event(made.event.event, ZE_RESULT_SUCCESS);
        /* A read that goes below ends it at once, without a reset. */
        assert_int_equal(bed_read(made.streamer, 1, 32, ZE_RESULT_SUCCESS, slots), 2);
        EXPECT_RESULT(zeEventQueryStatus(made.event.event), ZE_RESULT_NOT_READY);
        made.bed.control->push(devices[d], "u0", 1);
        expect_event(made.event.event, ZE_RESULT_SUCCESS);
        assert_int_equal(bed_read(made.streamer, UINT32_MAX, 32, ZE_RESULT_SUCCESS, slots), 6);
        EXPECT_RESULT(zeEventQueryStatus(made.event.event), ZE_RESULT_NOT_READY);
        end(&made);
    }
}

static void event__where_the_backend_tells_what_it_holds__status_is_exact_at_once(void **state)
{
    struct open_stream made = open_on("fake0", 5);
    struct slot slots[32];

    (void)state;
    for (int i = 0; i < 50; i++) {
        made.bed.control->push("fake0", "u0", 5);
        EXPECT_OK(zeEventQueryStatus(made.event.event));
        assert_int_equal(bed_read(made.streamer, 1, 32, ZE_RESULT_SUCCESS, slots), 2);
        EXPECT_RESULT(zeEventQueryStatus(made.event.event), ZE_RESULT_NOT_READY);
        assert_int_equal(bed_read(made.streamer, UINT32_MAX, 32, ZE_RESULT_SUCCESS, slots), 5);
    }
    end(&made);
}

static void event__first_record_comes_late__does_not_count(void **state)
{
    (void)state;
    for (int d = 0; d < 2; d++) {
        struct stream_bed bed = bed_make(devices[d]);
        struct open_stream made = {.bed = bed};

        bed.control->first_at_open(false);
        made.event = make_event(bed.context);
        made.group = bed_activate(&bed, "Basic");
        made.streamer = bed_open(&bed, made.group, 2, made.event.event);
        bed.control->push(devices[d], "u0", 2);
        EXPECT_RESULT(zeEventHostSynchronize(made.event.event, 20000000), ZE_RESULT_NOT_READY);
        bed.control->push(devices[d], "u0", 1);
        expect_event(made.event.event, ZE_RESULT_SUCCESS);
        end(&made);
    }
}

/* Rule 11.14. */
static void event__host_reset_and_signal__have_no_lasting_effect(void **state)
{
    (void)state;
    for (int d = 0; d < 2; d++) {
        struct open_stream made = open_on(devices[d], 2);
        struct slot slots[8];

        EXPECT_OK(zeEventHostSignal(made.event.event)); /* 38 */
        EXPECT_RESULT(zeEventQueryStatus(made.event.event), ZE_RESULT_NOT_READY);
        made.bed.control->push(devices[d], "u0", 2);
        expect_event(made.event.event, ZE_RESULT_SUCCESS);
        EXPECT_OK(zeEventHostReset(made.event.event));
        EXPECT_OK(zeEventQueryStatus(made.event.event));
        EXPECT_OK(zeEventHostSynchronize(made.event.event, 0));
        assert_int_equal(bed_read(made.streamer, UINT32_MAX, 8, ZE_RESULT_SUCCESS, slots), 3);
        EXPECT_RESULT(zeEventQueryStatus(made.event.event), ZE_RESULT_NOT_READY);
        end(&made);
    }
}

struct waiter {
    ze_event_handle_t event;
    uint64_t timeout_ns;
    _Atomic bool done;
    ze_result_t result;
};

static void *wait_for_event(void *context)
{
    struct waiter *waiter = context;

    waiter->result = zeEventHostSynchronize(waiter->event, waiter->timeout_ns);
    atomic_store(&waiter->done, true);
    return NULL;
}

/** Someone who sleeps is woken when the level rises, also with records left from before. */
static void event__waiting_thread__wakes_when_n_are_there(void **state)
{
    (void)state;
    for (int d = 0; d < 2; d++) {
        struct open_stream made = open_on(devices[d], 10);
        struct slot slots[64];

        for (int round = 0; round < 20; round++) {
            struct waiter waiter = {.event = made.event.event, .timeout_ns = UINT64_MAX};
            pthread_t thread;

            assert_int_equal(pthread_create(&thread, NULL, wait_for_event, &waiter), 0);
            made.bed.control->push(devices[d], "u0", 9);
            sleep_ms(3);
            assert_false(atomic_load(&waiter.done));
            made.bed.control->push(devices[d], "u0", 1);
            assert_int_equal(pthread_join(thread, NULL), 0);
            EXPECT_OK(waiter.result);
            /* Alternately everything is read, or some stay. */
            (void)bed_read(made.streamer, round % 2 ? UINT32_MAX : 10, 64, ZE_RESULT_SUCCESS,
                           slots);
        }
        end(&made);
    }
}

/* 31: waits use time-outs of 50 us and 10 ms. */
static void event__wait_without_records__ends_with_not_ready(void **state)
{
    struct open_stream made = open_on("fake0", 10);

    (void)state;
    EXPECT_RESULT(zeEventHostSynchronize(made.event.event, 0), ZE_RESULT_NOT_READY);
    EXPECT_RESULT(zeEventHostSynchronize(made.event.event, 50000), ZE_RESULT_NOT_READY);
    EXPECT_RESULT(zeEventHostSynchronize(made.event.event, 10000000), ZE_RESULT_NOT_READY);
    end(&made);
}

/* 33: close while another thread waits. */
static void close__another_thread_waits__wait_ends_with_its_time(void **state)
{
    (void)state;
    for (int d = 0; d < 2; d++) {
        struct open_stream made = open_on(devices[d], 10);
        struct waiter waiter = {.event = made.event.event, .timeout_ns = 50000000};
        pthread_t thread;

        assert_int_equal(pthread_create(&thread, NULL, wait_for_event, &waiter), 0);
        sleep_ms(5);
        EXPECT_OK(zetMetricStreamerClose(made.streamer));
        assert_int_equal(pthread_join(thread, NULL), 0);
        EXPECT_RESULT(waiter.result, ZE_RESULT_NOT_READY);
        EXPECT_RESULT(zeEventQueryStatus(made.event.event), ZE_RESULT_NOT_READY);
        EXPECT_OK(zeEventHostSignal(made.event.event)); /* an ordinary event again */
        EXPECT_OK(zeEventQueryStatus(made.event.event));
        destroy_event(&made.event);
        bed_free(&made.bed);
    }
}

/* Rule 11.17. */
static void event_destroyed__stream_open__goes_on_without_notification(void **state)
{
    (void)state;
    for (int d = 0; d < 2; d++) {
        struct open_stream made = open_on(devices[d], 2);
        struct slot slots[8];

        destroy_event(&made.event);
        made.bed.control->push(devices[d], "u0", 4);
        sleep_ms(20);
        expect_records(slots, bed_read(made.streamer, UINT32_MAX, 8, ZE_RESULT_SUCCESS, slots), 0,
                       4);
        EXPECT_OK(zetMetricStreamerClose(made.streamer));
        bed_free(&made.bed);
    }
}

/** Who waits for reports of a lost device gets to the read that says so. Rule 11.20. */
static void event__device_lost__wakes_the_reader(void **state)
{
    struct open_stream made = open_on("bare0", 10);
    struct slot slots[8];

    (void)state;
    made.bed.control->fail_reads("bare0", "u0", ZE_RESULT_ERROR_DEVICE_LOST);
    EXPECT_OK(zeEventHostSynchronize(made.event.event, UINT64_MAX));
    (void)bed_read(made.streamer, UINT32_MAX, 8, ZE_RESULT_ERROR_DEVICE_LOST, slots);
    end(&made);
}

/** With N = 0 the event is left alone. Rule 11.1. */
static void event__n_is_zero__is_not_bound(void **state)
{
    struct open_stream made = open_on("fake0", 0);

    (void)state;
    made.bed.control->push("fake0", "u0", 100);
    EXPECT_RESULT(zeEventQueryStatus(made.event.event), ZE_RESULT_NOT_READY);
    EXPECT_OK(zeEventHostSignal(made.event.event));
    EXPECT_OK(zeEventQueryStatus(made.event.event));
    assert_int_equal(count_threads("zeta-reactor"), 0);
    end(&made);
}

static void reactor__streams_with_events__runs_as_long_as_they_are_open(void **state)
{
    struct stream_bed bed = bed_make("fake0");
    struct test_event events[2] = {make_event(bed.context), make_event(bed.context)};
    zet_metric_group_handle_t groups[2] = {find_group(bed.device, "Basic", TIME_BASED, NULL),
                                           find_group(bed.device, "Second", TIME_BASED, NULL)};
    zet_metric_streamer_handle_t streamers[3];

    (void)state;
    EXPECT_OK(zetContextActivateMetricGroups(bed.context, bed.device, 2, groups));
    streamers[0] = bed_open(&bed, groups[0], 10, NULL);
    assert_int_equal(count_threads("zeta-reactor"), 0);
    EXPECT_OK(zetMetricStreamerClose(streamers[0]));
    streamers[0] = bed_open(&bed, groups[0], 10, events[0].event);
    streamers[1] = bed_open(&bed, groups[1], 10, events[1].event);
    assert_int_equal(count_threads("zeta-reactor"), 1);
    EXPECT_OK(zetMetricStreamerClose(streamers[0]));
    assert_int_equal(count_threads("zeta-reactor"), 1);
    EXPECT_OK(zetMetricStreamerClose(streamers[1]));
    /* The kernel may show a thread for a moment after it was joined. */
    for (int i = 0; i < 5000 && count_threads("zeta-reactor") > 0; i++)
        sleep_ms(1);
    assert_int_equal(count_threads("zeta-reactor"), 0);
    destroy_event(&events[0]);
    destroy_event(&events[1]);
    bed_free(&bed);
}

/** A backend with a small ring, or one that cannot tell, gets a ring of the core in front. */
static void ring__backend_ring_too_small__the_core_keeps_the_records(void **state)
{
    struct stream_bed bed = bed_make("fake0");
    struct test_event event = make_event(bed.context);
    zet_metric_group_handle_t group = bed_activate(&bed, "Basic");
    zet_metric_streamer_handle_t streamer;
    struct slot slots[512];
    size_t size = 0;

    (void)state;
    bed.control->ring(64);
    streamer = bed_open(&bed, group, 300, event.event);
    assert_int_equal(bed.control->counts("fake0", "u0").ring_records, 65536);
    EXPECT_OK(zetMetricStreamerReadData(streamer, UINT32_MAX, &size, NULL));
    assert_int_equal(size, 4096 * FAKE_RECORD_BYTES);
    for (int i = 0; i < 10; i++) {
        const uint32_t reads = bed.control->counts("fake0", "u0").reads;

        bed.control->push("fake0", "u0", 30);
        /* However busy the machine: two pushes fit the small ring, three do not. */
        for (int ms = 0; ms < 20000 && bed.control->counts("fake0", "u0").reads == reads; ms++)
            sleep_ms(1);
    }
    expect_event(event.event, ZE_RESULT_SUCCESS);
    expect_records(slots, bed_read(streamer, UINT32_MAX, 512, ZE_RESULT_SUCCESS, slots), 0, 300);
    EXPECT_OK(zetMetricStreamerClose(streamer));
    destroy_event(&event);
    bed_free(&bed);
}

SUITE(event)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(event__level__rises_with_n_and_falls_with_reads),
        cmocka_unit_test(event__where_the_backend_tells_what_it_holds__status_is_exact_at_once),
        cmocka_unit_test(event__first_record_comes_late__does_not_count),
        cmocka_unit_test(event__host_reset_and_signal__have_no_lasting_effect),
        cmocka_unit_test(event__waiting_thread__wakes_when_n_are_there),
        cmocka_unit_test(event__wait_without_records__ends_with_not_ready),
        cmocka_unit_test(close__another_thread_waits__wait_ends_with_its_time),
        cmocka_unit_test(event_destroyed__stream_open__goes_on_without_notification),
        cmocka_unit_test(event__device_lost__wakes_the_reader),
        cmocka_unit_test(event__n_is_zero__is_not_bound),
        cmocka_unit_test(reactor__streams_with_events__runs_as_long_as_they_are_open),
        cmocka_unit_test(ring__backend_ring_too_small__the_core_keeps_the_records),
    };

    return cmocka_run_group_tests(tests, set_up, NULL);
}
