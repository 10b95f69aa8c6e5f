/* Activation and deactivation, and what they mean for streams. */
#include "tests/metric_api/stream_bed.h"
#include "tests/support/suite.h"
#include "zeta/zeta.h"

static int set_up(void **state)
{
    (void)state;
    return zeInit(0) == ZE_RESULT_SUCCESS ? 0 : -1;
}

static ze_result_t try_open(struct stream_bed *bed, zet_metric_group_handle_t group)
{
    zet_metric_streamer_desc_t desc = {.notifyEveryNReports = 10, .samplingPeriod = 100000};
    zet_metric_streamer_handle_t streamer = NULL;
    ze_result_t result =
        zetMetricStreamerOpen(bed->context, bed->device, group, &desc, NULL, &streamer);

    if (result == ZE_RESULT_SUCCESS)
        EXPECT_OK(zetMetricStreamerClose(streamer));
    else
        assert_null(streamer);
    return result;
}

/* Rule 10.10. */
static void open__group_not_active__is_not_ready(void **state)
{
    struct stream_bed bed = bed_make("fake0");
    zet_metric_group_handle_t basic = find_group(bed.device, "Basic", TIME_BASED, NULL);

    (void)state;
    EXPECT_RESULT(try_open(&bed, basic), ZE_RESULT_NOT_READY);
    (void)bed_activate(&bed, "Other");
    EXPECT_RESULT(try_open(&bed, basic), ZE_RESULT_NOT_READY);
    (void)bed_activate(&bed, "Basic");
    EXPECT_OK(try_open(&bed, basic));
    /* 27: activation reserves nothing; opening does. */
    assert_int_equal(bed.control->counts("fake0", "u0").opens, 1);
    bed_free(&bed);
}

/* Rule 10.7. */
static void activate__two_groups_of_a_domain__is_invalid_and_changes_nothing(void **state)
{
    struct stream_bed bed = bed_make("fake0");
    zet_metric_group_handle_t groups[2] = {bed_activate(&bed, "Basic"), NULL};

    (void)state;
    groups[1] = find_group(bed.device, "Other", TIME_BASED, NULL);
    EXPECT_RESULT(zetContextActivateMetricGroups(bed.context, bed.device, 2, groups),
                  ZE_RESULT_ERROR_INVALID_ARGUMENT);
    expect_sentence("Basic");
    expect_sentence("Other");
    groups[1] = find_group(bed.device, "Basic", EVENT_BASED, NULL);
    EXPECT_RESULT(zetContextActivateMetricGroups(bed.context, bed.device, 2, groups),
                  ZE_RESULT_ERROR_INVALID_ARGUMENT);
    groups[1] = groups[0];
    EXPECT_RESULT(zetContextActivateMetricGroups(bed.context, bed.device, 2, groups),
                  ZE_RESULT_ERROR_INVALID_ARGUMENT);
    EXPECT_OK(try_open(&bed, groups[0]));
    bed_free(&bed);
}

static void activate__groups_of_two_domains__both_can_be_streamed(void **state)
{
    struct stream_bed bed = bed_make("fake0");
    zet_metric_group_handle_t groups[2] = {find_group(bed.device, "Second", TIME_BASED, NULL),
                                           find_group(bed.device, "Basic", TIME_BASED, NULL)};
    zet_metric_streamer_handle_t streamers[2];

    (void)state;
    EXPECT_OK(zetContextActivateMetricGroups(bed.context, bed.device, 2, groups));
    streamers[0] = bed_open(&bed, groups[0], 10, NULL);
    streamers[1] = bed_open(&bed, groups[1], 10, NULL);
    EXPECT_OK(zetMetricStreamerClose(streamers[0]));
    EXPECT_OK(zetMetricStreamerClose(streamers[1]));
    bed_free(&bed);
}

static void activate__foreign_group_or_null_array__is_refused(void **state)
{
    struct stream_bed bed = bed_make("fake0");
    zet_metric_group_handle_t other = find_group(find_device("fake1"), "Basic", TIME_BASED, NULL);
    zet_metric_group_handle_t bad = (zet_metric_group_handle_t)bed.device;

    (void)state;
    EXPECT_RESULT(zetContextActivateMetricGroups(bed.context, bed.device, 1, &other),
                  ZE_RESULT_ERROR_INVALID_ARGUMENT);
    EXPECT_RESULT(zetContextActivateMetricGroups(bed.context, bed.device, 1, NULL),
                  ZE_RESULT_ERROR_INVALID_SIZE);
    EXPECT_RESULT(zetContextActivateMetricGroups(bed.context, bed.device, 1, &bad),
                  ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    bed_free(&bed);
}

static void activate__null__documented_results(void **state)
{
    skip_in(HARNESS_READS_HANDLES, "the loader looks behind handles");
    ze_device_handle_t device = find_device("fake0");
    ze_context_handle_t context = make_context(device);
    zet_metric_group_handle_t group = find_group(device, "Basic", TIME_BASED, NULL);

    (void)state;
    EXPECT_RESULT(zetContextActivateMetricGroups(NULL, device, 1, &group),
                  ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    EXPECT_RESULT(zetContextActivateMetricGroups(context, NULL, 1, &group),
                  ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    EXPECT_OK(zeContextDestroy(context));
}

/* Rule 10.6. */
static void activate__another_set__replaces_the_first(void **state)
{
    struct stream_bed bed = bed_make("fake0");
    zet_metric_group_handle_t basic = bed_activate(&bed, "Basic");
    zet_metric_group_handle_t second = bed_activate(&bed, "Second");

    (void)state;
    EXPECT_RESULT(try_open(&bed, basic), ZE_RESULT_NOT_READY);
    EXPECT_OK(try_open(&bed, second));
    bed_free(&bed);
}

/* 27: activation belongs to the device, whichever context was used, and outlives the context.
 * Rule 10.5. */
static void activate__other_context_and_context_destroyed__stays_active(void **state)
{
    struct stream_bed bed = bed_make("fake0");
    ze_context_handle_t second = make_context(bed.device);
    zet_metric_group_handle_t basic = find_group(bed.device, "Basic", TIME_BASED, NULL);

    (void)state;
    EXPECT_OK(zetContextActivateMetricGroups(second, bed.device, 1, &basic));
    EXPECT_OK(zeContextDestroy(second));
    EXPECT_OK(try_open(&bed, basic));
    bed_free(&bed);
}

/* Rule 10.6. */
static void activate__would_drop_a_group_with_a_stream__is_in_use_and_changes_nothing(void **state)
{
    struct stream_bed bed = bed_make("fake0");
    ze_context_handle_t second = make_context(bed.device);
    zet_metric_group_handle_t basic = bed_activate(&bed, "Basic");
    zet_metric_group_handle_t other = find_group(bed.device, "Other", TIME_BASED, NULL);
    zet_metric_group_handle_t both[2] = {find_group(bed.device, "Second", TIME_BASED, NULL), basic};
    zet_metric_streamer_handle_t streamer = bed_open(&bed, basic, 10, NULL);
    struct slot slots[8];

    (void)state;
    EXPECT_RESULT(zetContextActivateMetricGroups(bed.context, bed.device, 1, &other),
                  ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    expect_sentence("Basic");
    EXPECT_RESULT(zetContextActivateMetricGroups(second, bed.device, 1, &other),
                  ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    EXPECT_RESULT(zetContextActivateMetricGroups(bed.context, bed.device, 1, both),
                  ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    assert_true(bed.control->is_running("fake0", "u0"));
    EXPECT_RESULT(try_open(&bed, both[0]), ZE_RESULT_NOT_READY);
    /* A set that keeps the group is fine, and so is the same one again. */
    EXPECT_OK(zetContextActivateMetricGroups(bed.context, bed.device, 2, both));
    EXPECT_OK(try_open(&bed, both[0]));
    EXPECT_OK(zetContextActivateMetricGroups(second, bed.device, 1, &basic));
    bed.control->push("fake0", "u0", 3);
    assert_int_equal(bed_read(streamer, UINT32_MAX, 8, ZE_RESULT_SUCCESS, slots), 4);
    EXPECT_OK(zetMetricStreamerClose(streamer));
    EXPECT_OK(zetContextActivateMetricGroups(bed.context, bed.device, 1, &other));
    EXPECT_OK(zeContextDestroy(second));
    bed_free(&bed);
}

static void activate__one_of_two_streams_would_lose_its_group__is_in_use(void **state)
{
    struct stream_bed bed = bed_make("fake0");
    zet_metric_group_handle_t groups[2] = {find_group(bed.device, "Basic", TIME_BASED, NULL),
                                           find_group(bed.device, "Second", TIME_BASED, NULL)};
    zet_metric_streamer_handle_t streamers[2];

    (void)state;
    EXPECT_OK(zetContextActivateMetricGroups(bed.context, bed.device, 2, groups));
    for (int i = 0; i < 2; i++)
        streamers[i] = bed_open(&bed, groups[i], 10, NULL);
    for (int i = 0; i < 2; i++) {
        EXPECT_RESULT(zetContextActivateMetricGroups(bed.context, bed.device, 1, &groups[i]),
                      ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    }
    EXPECT_OK(zetMetricStreamerClose(streamers[0]));
    EXPECT_OK(zetContextActivateMetricGroups(bed.context, bed.device, 1, &groups[1]));
    EXPECT_OK(zetMetricStreamerClose(streamers[1]));
    bed_free(&bed);
}

/** Deactivates while a stream with unread records is open. */
static void expect_stop(const char *device, bool notify)
{
    struct stream_bed bed = bed_make(device);
    zet_metric_group_handle_t basic = bed_activate(&bed, "Basic");
    struct test_event event = make_event(bed.context);
    zet_metric_streamer_handle_t streamer = bed_open(&bed, basic, 3, notify ? event.event : NULL);
    zet_metric_streamer_handle_t second;
    struct slot slots[16];

    bed.control->push(device, "u0", 4);
    EXPECT_OK(zetContextActivateMetricGroups(bed.context, bed.device, 0, &basic)); /* 4 */
    assert_false(bed.control->is_running(device, "u0"));
    if (notify)
        expect_event(event.event, ZE_RESULT_SUCCESS);
    /* The unit is free at once: another stream can be opened beside the stopped one. */
    (void)bed_activate(&bed, "Basic");
    second = bed_open(&bed, basic, 3, NULL);
    expect_records(slots, bed_read(streamer, 2, 16, ZE_RESULT_SUCCESS, slots), 0, 2);
    expect_records(slots, bed_read(streamer, UINT32_MAX, 16, ZE_RESULT_SUCCESS, slots), 2, 4);
    assert_int_equal(bed_read(streamer, UINT32_MAX, 16, ZE_RESULT_SUCCESS, slots), 0);
    if (notify)
        expect_event(event.event, ZE_RESULT_NOT_READY);
    EXPECT_OK(zetMetricStreamerClose(streamer));
    assert_true(bed.control->is_running(device, "u0"));
    EXPECT_OK(zetMetricStreamerClose(second));
    destroy_event(&event);
    bed_free(&bed);
}

/* Rule 10.8. */
static void deactivate__stream_open__stops_it_and_keeps_what_it_collected(void **state)
{
    const struct stream_control *control = harness_control("stream_control");

    (void)state;
    expect_stop("fake0", false);
    expect_stop("fake0", true);
    assert_int_equal(control->counts("fake0", "u0").stops, 1);
}

static void deactivate__backend_that_cannot_stop__is_emptied_and_closed(void **state)
{
    const struct stream_control *control = harness_control("stream_control");

    (void)state;
    expect_stop("bare0", false);
    expect_stop("bare0", true);
    assert_int_equal(control->counts("bare0", "u0").closes, 2);
}

/* Rule 10.10. */
static void open__second_stream_of_the_unit__is_in_use(void **state)
{
    struct stream_bed bed = bed_make("fake0");
    zet_metric_group_handle_t basic = bed_activate(&bed, "Basic");
    zet_metric_streamer_handle_t streamer = bed_open(&bed, basic, 10, NULL);

    (void)state;
    EXPECT_RESULT(try_open(&bed, basic), ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    expect_sentence("u0");
    assert_int_equal(bed.control->counts("fake0", "u0").opens, 1);
    EXPECT_OK(zetMetricStreamerClose(streamer));
    EXPECT_OK(try_open(&bed, basic));
    bed_free(&bed);
}

/* Rule 10.10. */
static void open__unit_held_by_another_process__is_not_available_with_its_pid(void **state)
{
    struct stream_bed bed = bed_make("fake0");
    zet_metric_group_handle_t basic = bed_activate(&bed, "Basic");
    struct zeta_group_info info = {.struct_size = sizeof(info)};

    (void)state;
    bed.control->refuse("fake0", "u0", 0x70010001, 4242);
    EXPECT_RESULT(try_open(&bed, basic), ZE_RESULT_ERROR_NOT_AVAILABLE);
    expect_sentence("4242");
    EXPECT_OK(zetaMetricGroupGetInfo(basic, &info));
    assert_int_equal(info.holder_pid, 4242);
    bed.control->refuse("fake0", "u0", 0, 0);
    EXPECT_OK(try_open(&bed, basic));
    bed_free(&bed);
}

static void open__backend_refuses__gives_its_result_and_names_the_plugin(void **state)
{
    struct stream_bed bed = bed_make("fake0");
    zet_metric_group_handle_t basic = bed_activate(&bed, "Basic");

    (void)state;
    bed.control->refuse("fake0", "u0", 0x70010000, 0);
    EXPECT_RESULT(try_open(&bed, basic), ZE_RESULT_ERROR_INSUFFICIENT_PERMISSIONS);
    expect_sentence("fake-full");
    bed.control->refuse("fake0", "u0", 0, 0);
    EXPECT_OK(try_open(&bed, basic));
    bed_free(&bed);
}

static void open__arguments_that_do_not_fit__are_refused(void **state)
{
    struct stream_bed bed = bed_make("fake0");
    zet_metric_group_handle_t basic = bed_activate(&bed, "Basic");
    zet_metric_group_handle_t event_based = find_group(bed.device, "Basic", EVENT_BASED, NULL);
    zet_metric_group_handle_t foreign = find_group(find_device("fake1"), "Basic", TIME_BASED, NULL);
    zet_metric_streamer_desc_t desc = {.notifyEveryNReports = 77, .samplingPeriod = 88};
    ze_event_pool_desc_t pool_desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, .count = 1};
    ze_event_desc_t event_desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_DESC};
    zet_metric_streamer_handle_t streamer = NULL;
    ze_event_pool_handle_t pool;
    ze_event_handle_t event;

    (void)state;
    EXPECT_RESULT(try_open(&bed, event_based), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    EXPECT_RESULT(try_open(&bed, foreign), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    EXPECT_OK(zeEventPoolCreate(bed.context, &pool_desc, 0, NULL, &pool));
    EXPECT_OK(zeEventCreate(pool, &event_desc, &event));
    EXPECT_RESULT(zetMetricStreamerOpen(bed.context, bed.device, basic, &desc, event, &streamer),
                  ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT);
    /* Outputs stay as they were. */
    assert_null(streamer);
    assert_int_equal(desc.notifyEveryNReports, 77);
    assert_int_equal(desc.samplingPeriod, 88);
    EXPECT_RESULT(zetMetricStreamerOpen(bed.context, bed.device, basic, NULL, NULL, &streamer),
                  ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    EXPECT_RESULT(zetMetricStreamerOpen(bed.context, bed.device, basic, &desc, NULL, NULL),
                  ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    EXPECT_OK(zeEventDestroy(event));
    /* The programming guide's example: no flag, but an event of host scope. */
    event_desc.wait = ZE_EVENT_SCOPE_FLAG_HOST;
    EXPECT_OK(zeEventCreate(pool, &event_desc, &event));
    EXPECT_OK(zetMetricStreamerOpen(bed.context, bed.device, basic, &desc, event, &streamer));
    bed.control->push("fake0", "u0", 77);
    EXPECT_OK(zeEventHostSynchronize(event, UINT64_MAX));
    EXPECT_OK(zetMetricStreamerClose(streamer));
    EXPECT_OK(zeEventDestroy(event));
    EXPECT_OK(zeEventPoolDestroy(pool));
    bed_free(&bed);
}

/* Rule 11.17. */
static void context_destroy__stream_open__stream_goes_on(void **state)
{
    struct stream_bed bed = bed_make("fake0");
    ze_context_handle_t other = make_context(bed.device);
    zet_metric_group_handle_t basic = bed_activate(&bed, "Basic");
    zet_metric_streamer_desc_t desc = {.notifyEveryNReports = 10, .samplingPeriod = 100000};
    zet_metric_streamer_handle_t streamer;
    struct slot slots[8];

    (void)state;
    EXPECT_OK(zetMetricStreamerOpen(other, bed.device, basic, &desc, NULL, &streamer));
    EXPECT_OK(zeContextDestroy(other)); /* 33: without deactivation, without close */
    bed.control->push("fake0", "u0", 2);
    expect_records(slots, bed_read(streamer, UINT32_MAX, 8, ZE_RESULT_SUCCESS, slots), 0, 2);
    EXPECT_OK(zetMetricStreamerClose(streamer));
    EXPECT_RESULT(zetMetricStreamerClose(streamer), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    bed_free(&bed);
}

SUITE(activate)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(open__group_not_active__is_not_ready),
        cmocka_unit_test(activate__two_groups_of_a_domain__is_invalid_and_changes_nothing),
        cmocka_unit_test(activate__groups_of_two_domains__both_can_be_streamed),
        cmocka_unit_test(activate__foreign_group_or_null_array__is_refused),
        cmocka_unit_test(activate__null__documented_results),
        cmocka_unit_test(activate__another_set__replaces_the_first),
        cmocka_unit_test(activate__other_context_and_context_destroyed__stays_active),
        cmocka_unit_test(activate__would_drop_a_group_with_a_stream__is_in_use_and_changes_nothing),
        cmocka_unit_test(activate__one_of_two_streams_would_lose_its_group__is_in_use),
        cmocka_unit_test(deactivate__stream_open__stops_it_and_keeps_what_it_collected),
        cmocka_unit_test(deactivate__backend_that_cannot_stop__is_emptied_and_closed),
        cmocka_unit_test(open__second_stream_of_the_unit__is_in_use),
        cmocka_unit_test(open__unit_held_by_another_process__is_not_available_with_its_pid),
        cmocka_unit_test(open__backend_refuses__gives_its_result_and_names_the_plugin),
        cmocka_unit_test(open__arguments_that_do_not_fit__are_refused),
        cmocka_unit_test(context_destroy__stream_open__stream_goes_on),
    };

    return cmocka_run_group_tests(tests, set_up, NULL);
}
