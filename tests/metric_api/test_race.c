/* Threads that read, ask, deactivate and close at the same time. For the thread sanitizer. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "tests/metric_api/stream_bed.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

static int set_up(void **state)
{
    (void)state;
    return zeInit(0) == ZE_RESULT_SUCCESS ? 0 : -1;
}

struct lister {
    ze_device_handle_t device;
    zet_metric_group_handle_t groups[16];
    uint32_t count;
    ze_result_t result;
};

static void *list_groups(void *context)
{
    struct lister *lister = context;

    lister->count = 16;
    lister->result = zetMetricGroupGet(lister->device, &lister->count, lister->groups);
    return NULL;
}

/** The sets are read once, whoever asks first. Must be the first test of this program. */
static void group_get__several_threads_ask_first__all_get_the_same(void **state)
{
    struct lister listers[6];
    pthread_t threads[6];

    (void)state;
    for (int i = 0; i < 6; i++)
        listers[i].device = find_device(i % 2 ? "fake1" : "fake1.0");
    for (int i = 0; i < 6; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, list_groups, &listers[i]), 0);
    for (int i = 0; i < 6; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    for (int i = 0; i < 6; i++) {
        EXPECT_OK(listers[i].result);
        assert_int_equal(listers[i].count, 8);
        assert_memory_equal(listers[i].groups, listers[i % 2].groups,
                            8 * sizeof(zet_metric_group_handle_t));
    }
}

/** What the threads of a test share. No assertions inside threads: they only note. */
struct shared {
    const struct stream_control *control;
    const char *device_name;
    ze_device_handle_t device;
    ze_context_handle_t context;
    ze_event_handle_t event;
    zet_metric_group_handle_t group;
    zet_metric_streamer_handle_t streamer;
    _Atomic bool stop;
    _Atomic uint32_t wrong; /**< results that may not be */
    _Atomic uint64_t records;
    _Atomic uint64_t lost;
};

static void *produce(void *context)
{
    struct shared *shared = context;

    for (int i = 0; i < 400; i++) {
        shared->control->push(shared->device_name, "u0", 5);
        if (i % 50 == 49)
            shared->control->gap(shared->device_name, "u0", 2, 2);
        if (i % 20 == 0)
            sleep_ms(1);
    }
    return NULL;
}

static bool is_expected(ze_result_t result)
{
    return result == ZE_RESULT_SUCCESS || result == ZE_RESULT_WARNING_DROPPED_DATA ||
           result == ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
}

/** Counts the new records of what a read gave: those after the first that repeat nothing. */
static void count_records(struct shared *shared, const uint8_t *data, size_t size)
{
    uint32_t records = 0;
    bool starts_with_record = true;

    for (size_t at = 0; at < size; at += FAKE_RECORD_BYTES) {
        struct fake_record record;
        uint64_t lost;

        memcpy(&record, data + at, sizeof(record));
        if (record.timestamp == record.report_id * FAKE_TICKS_PER_RECORD) {
            records++;
            continue;
        }
        memcpy(&lost, data + at + 24, sizeof(lost));
        atomic_fetch_add(&shared->lost, lost);
        if (at == 0)
            starts_with_record = false;
    }
    /* Every read has room for more than one slot, so it starts with the baseline or a BREAK. */
    if (size > 0 && starts_with_record)
        records--;
    atomic_fetch_add(&shared->records, records);
}

static void *read_all(void *context)
{
    struct shared *shared = context;
    uint8_t *buffer = malloc(64 * FAKE_RECORD_BYTES);

    while (!atomic_load(&shared->stop)) {
        size_t size = 64 * FAKE_RECORD_BYTES;
        ze_result_t result = zetMetricStreamerReadData(shared->streamer, UINT32_MAX, &size, buffer);

        if (!is_expected(result))
            atomic_fetch_add(&shared->wrong, 1);
        if (result == ZE_RESULT_ERROR_INVALID_NULL_HANDLE)
            break;
        if (is_expected(result))
            count_records(shared, buffer, size);
    }
    free(buffer);
    return NULL;
}

static void *poll_event(void *context)
{
    struct shared *shared = context;

    while (!atomic_load(&shared->stop)) {
        ze_result_t result = zeEventQueryStatus(shared->event);

        if (result != ZE_RESULT_SUCCESS && result != ZE_RESULT_NOT_READY)
            atomic_fetch_add(&shared->wrong, 1);
        result = zeEventHostSynchronize(shared->event, 50000);
        if (result != ZE_RESULT_SUCCESS && result != ZE_RESULT_NOT_READY)
            atomic_fetch_add(&shared->wrong, 1);
        if (zeEventHostReset(shared->event) != ZE_RESULT_SUCCESS)
            atomic_fetch_add(&shared->wrong, 1);
    }
    return NULL;
}

static struct shared share(struct stream_bed *bed, struct test_event *event)
{
    struct shared shared = {.control = bed->control,
                            .device_name = bed->name,
                            .device = bed->device,
                            .context = bed->context,
                            .event = event->event};

    shared.group = bed_activate(bed, "Basic");
    shared.streamer = bed_open(bed, shared.group, 20, event->event);
    return shared;
}

static const char *const names[] = {"fake0", "bare0"};

static void readers_and_pollers__nothing_is_lost_or_given_twice(void **state)
{
    (void)state;
    for (int d = 0; d < 2; d++) {
        struct stream_bed bed = bed_make(names[d]);
        struct test_event event = make_event(bed.context);
        struct shared shared = share(&bed, &event);
        pthread_t threads[5];

        assert_int_equal(pthread_create(&threads[0], NULL, produce, &shared), 0);
        assert_int_equal(pthread_create(&threads[1], NULL, read_all, &shared), 0);
        assert_int_equal(pthread_create(&threads[2], NULL, read_all, &shared), 0);
        assert_int_equal(pthread_create(&threads[3], NULL, poll_event, &shared), 0);
        assert_int_equal(pthread_create(&threads[4], NULL, poll_event, &shared), 0);
        assert_int_equal(pthread_join(threads[0], NULL), 0);
        for (int i = 0; i < 2000 && atomic_load(&shared.records) < 2000; i++)
            sleep_ms(1);
        atomic_store(&shared.stop, true);
        for (int i = 1; i < 5; i++)
            assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_int_equal(atomic_load(&shared.wrong), 0);
        assert_int_equal(atomic_load(&shared.records), 2000);
        /* The break after the last record was never seen: nothing came after it. */
        assert_int_equal(atomic_load(&shared.lost), 7 * 2);
        EXPECT_OK(zetMetricStreamerClose(shared.streamer));
        destroy_event(&event);
        bed_free(&bed);
    }
}

static void close__while_others_read_poll_and_produce__is_clean(void **state)
{
    (void)state;
    for (int round = 0; round < 12; round++) {
        struct stream_bed bed = bed_make(names[round % 2]);
        struct test_event event = make_event(bed.context);
        struct shared shared = share(&bed, &event);
        pthread_t threads[4];

        assert_int_equal(pthread_create(&threads[0], NULL, produce, &shared), 0);
        assert_int_equal(pthread_create(&threads[1], NULL, read_all, &shared), 0);
        assert_int_equal(pthread_create(&threads[2], NULL, read_all, &shared), 0);
        assert_int_equal(pthread_create(&threads[3], NULL, poll_event, &shared), 0);
        sleep_ms((unsigned)round % 4);
        EXPECT_OK(zetMetricStreamerClose(shared.streamer));
        assert_false(bed.control->is_running(bed.name, "u0"));
        atomic_store(&shared.stop, true);
        for (int i = 0; i < 4; i++)
            assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_int_equal(atomic_load(&shared.wrong), 0);
        destroy_event(&event);
        bed_free(&bed);
    }
}

static void *close_it(void *context)
{
    struct shared *shared = context;
    ze_result_t result = zetMetricStreamerClose(shared->streamer);

    if (result == ZE_RESULT_SUCCESS)
        atomic_fetch_add(&shared->records, 1);
    else if (result != ZE_RESULT_ERROR_INVALID_NULL_HANDLE)
        atomic_fetch_add(&shared->wrong, 1);
    return NULL;
}

static void close__two_threads__exactly_one_succeeds(void **state)
{
    (void)state;
    for (int round = 0; round < 50; round++) {
        struct stream_bed bed = bed_make("fake0");
        struct test_event event = make_event(bed.context);
        struct shared shared = share(&bed, &event);
        pthread_t threads[2];

        for (int i = 0; i < 2; i++)
            assert_int_equal(pthread_create(&threads[i], NULL, close_it, &shared), 0);
        for (int i = 0; i < 2; i++)
            assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_int_equal(atomic_load(&shared.records), 1);
        assert_int_equal(atomic_load(&shared.wrong), 0);
        destroy_event(&event);
        bed_free(&bed);
    }
}

static void *deactivate_it(void *context)
{
    struct shared *shared = context;

    if (zetContextActivateMetricGroups(shared->context, shared->device, 0, NULL) !=
        ZE_RESULT_SUCCESS)
        atomic_fetch_add(&shared->wrong, 1);
    return NULL;
}

static void deactivate_and_close__at_the_same_time__free_the_unit(void **state)
{
    (void)state;
    for (int round = 0; round < 60; round++) {
        struct stream_bed bed = bed_make(names[round % 2]);
        struct test_event event = make_event(bed.context);
        struct shared shared = share(&bed, &event);
        pthread_t threads[4];

        assert_int_equal(pthread_create(&threads[0], NULL, deactivate_it, &shared), 0);
        assert_int_equal(pthread_create(&threads[1], NULL, close_it, &shared), 0);
        assert_int_equal(pthread_create(&threads[2], NULL, read_all, &shared), 0);
        assert_int_equal(pthread_create(&threads[3], NULL, poll_event, &shared), 0);
        assert_int_equal(pthread_join(threads[0], NULL), 0);
        assert_int_equal(pthread_join(threads[1], NULL), 0);
        atomic_store(&shared.stop, true);
        assert_int_equal(pthread_join(threads[2], NULL), 0);
        assert_int_equal(pthread_join(threads[3], NULL), 0);
        assert_int_equal(atomic_load(&shared.wrong), 0);
        assert_false(bed.control->is_running(bed.name, "u0"));
        destroy_event(&event);
        bed_free(&bed);
    }
}

struct opener {
    struct shared *shared;
    zet_metric_streamer_handle_t streamer;
};

static void *open_it(void *context)
{
    struct opener *opener = context;
    struct shared *shared = opener->shared;
    zet_metric_streamer_desc_t desc = {.notifyEveryNReports = 5, .samplingPeriod = 100000};
    ze_result_t result = zetMetricStreamerOpen(shared->context, shared->device, shared->group,
                                               &desc, shared->event, &opener->streamer);

    if (result == ZE_RESULT_SUCCESS)
        atomic_fetch_add(&shared->records, 1);
    else if (result != ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE && result != ZE_RESULT_NOT_READY)
        atomic_fetch_add(&shared->wrong, 1);
    return NULL;
}

static void open__two_threads_and_a_deactivation__at_most_one_holds_the_unit(void **state)
{
    (void)state;
    for (int round = 0; round < 60; round++) {
        struct stream_bed bed = bed_make(names[round % 2]);
        struct test_event event = make_event(bed.context);
        struct shared shared = share(&bed, &event);
        struct opener openers[2] = {{.shared = &shared}, {.shared = &shared}};
        pthread_t threads[3];

        EXPECT_OK(zetMetricStreamerClose(shared.streamer));
        for (int i = 0; i < 2; i++)
            assert_int_equal(pthread_create(&threads[i], NULL, open_it, &openers[i]), 0);
        assert_int_equal(pthread_create(&threads[2], NULL, deactivate_it, &shared), 0);
        for (int i = 0; i < 3; i++)
            assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_int_equal(atomic_load(&shared.wrong), 0);
        assert_cmp(atomic_load(&shared.records), <=, 1);
        /* Whoever came first: an open stream of an inactive group does not sample. */
        assert_false(bed.control->is_running(bed.name, "u0"));
        for (int i = 0; i < 2; i++) {
            if (openers[i].streamer)
                EXPECT_OK(zetMetricStreamerClose(openers[i].streamer));
        }
        destroy_event(&event);
        bed_free(&bed);
    }
}

SUITE(race)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(group_get__several_threads_ask_first__all_get_the_same),
        cmocka_unit_test(readers_and_pollers__nothing_is_lost_or_given_twice),
        cmocka_unit_test(close__while_others_read_poll_and_produce__is_clean),
        cmocka_unit_test(close__two_threads__exactly_one_succeeds),
        cmocka_unit_test(deactivate_and_close__at_the_same_time__free_the_unit),
        cmocka_unit_test(open__two_threads_and_a_deactivation__at_most_one_holds_the_unit),
    };

    return cmocka_run_group_tests(tests, set_up, NULL);
}
