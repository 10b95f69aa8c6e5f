/* fork() while streams are open and the reactor runs. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/forked.h"
#include "tests/metric_api/stream_bed.h"
#include "tests/sanitizer.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"
#include "zeta/zeta.h"

static int set_up(void **state)
{
    (void)state;
    return zeInit(0) == ZE_RESULT_SUCCESS ? 0 : -1;
}

/** Says where a child failed: cmocka's assertions belong to the parent. */
#define CHILD_CHECK(condition)                                                                     \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            (void)fprintf(stderr, "child, line %d: %s is false (%s)\n", __LINE__, #condition,      \
                          zetaGetLastError());                                                     \
            _exit(1);                                                                              \
        }                                                                                          \
    } while (0)

static const struct stream_control *control;

/** The child's device: the only driver without compute, the first device named so. */
static ze_device_handle_t child_device(const char *name)
{
    ze_device_handle_t device = look_for_device(name);

    CHILD_CHECK(device != NULL);
    return device;
}

/** Enumerates, streams with an event, and calculates, all anew. */
static void stream_in_child(void)
{
    ze_device_handle_t device = child_device("fake0");
    ze_context_handle_t context = make_context(device);
    zet_metric_group_handle_t group = find_group(device, "Basic", TIME_BASED, NULL);
    struct test_event event = make_event(context);
    zet_metric_streamer_desc_t desc = {.notifyEveryNReports = 3, .samplingPeriod = 100000};
    zet_metric_streamer_handle_t streamer = NULL;
    uint8_t raw[8 * FAKE_RECORD_BYTES];
    zet_typed_value_t values[32];
    size_t size = sizeof(raw);
    uint32_t count = 32;

    CHILD_CHECK(zetContextActivateMetricGroups(context, device, 1, &group) == ZE_RESULT_SUCCESS);
    CHILD_CHECK(zetMetricStreamerOpen(context, device, group, &desc, event.event, &streamer) ==
                ZE_RESULT_SUCCESS);
    CHILD_CHECK(count_threads("zeta-reactor") == 1);
    control->push("fake0", "u0", 3);
    CHILD_CHECK(zeEventHostSynchronize(event.event, UINT64_MAX) == ZE_RESULT_SUCCESS);
    CHILD_CHECK(zetMetricStreamerReadData(streamer, UINT32_MAX, &size, raw) == ZE_RESULT_SUCCESS);
    CHILD_CHECK(size == 4 * FAKE_RECORD_BYTES);
    CHILD_CHECK(
        zetMetricGroupCalculateMetricValues(group, ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES,
                                            size, raw, &count, values) == ZE_RESULT_SUCCESS);
    CHILD_CHECK(count == 12);
    CHILD_CHECK(zetMetricStreamerClose(streamer) == ZE_RESULT_SUCCESS);
}

/** What the child does with what it inherited. */
static void use_inherited(struct stream_bed *bed, zet_metric_group_handle_t group,
                          zet_metric_streamer_handle_t streamer)
{
    zet_metric_group_properties_t properties = {0};
    uint8_t raw[FAKE_RECORD_BYTES];
    size_t size = sizeof(raw);
    uint32_t count = 0;

    CHILD_CHECK(count_threads("zeta-reactor") == 0);
    CHILD_CHECK(zetMetricStreamerReadData(streamer, 1, &size, raw) ==
                ZE_RESULT_ERROR_UNINITIALIZED);
    CHILD_CHECK(zetMetricStreamerClose(streamer) == ZE_RESULT_ERROR_UNINITIALIZED);
    CHILD_CHECK(zetMetricGroupGetProperties(group, &properties) == ZE_RESULT_ERROR_UNINITIALIZED);
    CHILD_CHECK(zetMetricGroupGet(bed->device, &count, NULL) == ZE_RESULT_ERROR_UNINITIALIZED);
    CHILD_CHECK(zetContextActivateMetricGroups(bed->context, bed->device, 0, NULL) ==
                ZE_RESULT_ERROR_UNINITIALIZED);
}

static void expect_good_child(pid_t child)
{
    int status = 0;

    assert_cmp(child, >, 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

/* Rule 1.6. */
static void fork__stream_open__child_starts_anew_and_parent_goes_on(void **state)
{
    struct stream_bed bed = bed_make("fake0");
    struct test_event event = make_event(bed.context);
    zet_metric_group_handle_t group = bed_activate(&bed, "Basic");
    zet_metric_streamer_handle_t streamer = bed_open(&bed, group, 3, event.event);
    struct slot slots[16];
    pid_t child;

    (void)state;
    control = bed.control;
    bed.control->push("fake0", "u0", 2);
    child = fork_child();
    if (child == 0) {
        use_inherited(&bed, group, streamer);
        stream_in_child();
        _exit(0);
    }
    expect_good_child(child);
    bed.control->push("fake0", "u0", 2);
    EXPECT_OK(zeEventHostSynchronize(event.event, UINT64_MAX));
    expect_records(slots, bed_read(streamer, UINT32_MAX, 16, ZE_RESULT_SUCCESS, slots), 0, 4);
    EXPECT_OK(zetMetricStreamerClose(streamer));
    destroy_event(&event);
    bed_free(&bed);
}

struct busy {
    zet_metric_streamer_handle_t streamer;
    ze_event_handle_t event;
    const struct stream_control *control;
    _Atomic bool stop;
};

static void *keep_busy(void *context)
{
    struct busy *busy = context;
    uint8_t raw[64 * FAKE_RECORD_BYTES];

    while (!atomic_load(&busy->stop)) {
        size_t size = sizeof(raw);

        (void)zetMetricStreamerReadData(busy->streamer, UINT32_MAX, &size, raw);
        (void)zeEventQueryStatus(busy->event);
    }
    return NULL;
}

/** Locks of the parent may be held by other threads when it forks: the child touches none. */
static void fork__other_threads_are_inside_the_library__child_works(void **state)
{
    struct stream_bed bed = bed_make("bare0");
    struct test_event event = make_event(bed.context);
    zet_metric_group_handle_t group = bed_activate(&bed, "Basic");
    struct busy busy = {.streamer = bed_open(&bed, group, 3, event.event),
                        .event = event.event,
                        .control = bed.control};
    pthread_t threads[2];

    (void)state;
    control = bed.control;
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, keep_busy, &busy), 0);
    for (int round = 0; round < 10; round++) {
        const pid_t child = fork_child();

        if (child == 0) {
            alarm(600); /* a child that hangs ends */
            stream_in_child();
            _exit(0);
        }
        expect_good_child(child);
    }
    atomic_store(&busy.stop, true);
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    EXPECT_OK(zetMetricStreamerClose(busy.streamer));
    destroy_event(&event);
    bed_free(&bed);
}

SUITE(fork)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fork__stream_open__child_starts_anew_and_parent_goes_on),
        cmocka_unit_test(fork__other_threads_are_inside_the_library__child_works),
    };

    if (NO_FORK_OF_BUSY_THREADS) {
        (void)fprintf(stderr, "skipped: the sanitizers do not follow a fork of busy threads\n");
        return 77;
    }
    return cmocka_run_group_tests(tests, set_up, NULL);
}
