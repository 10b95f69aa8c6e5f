/* Creating metric tracers: which groups, events and levels they take. */
#include <string.h>

#include "tests/metric_tracer/trace_bed.h"
#include "tests/support/suite.h"
#include "zeta/zeta.h"

static int set_up(void **state)
{
    (void)state;
    return zeInit(0) == ZE_RESULT_SUCCESS ? 0 : -1;
}

/** Tries to create a tracer; nothing may be left behind. */
static ze_result_t try_create(struct trace_bed *bed, uint32_t count,
                              zet_metric_group_handle_t *groups, ze_event_handle_t event)
{
    zet_metric_tracer_exp_desc_t desc = {.stype = ZET_STRUCTURE_TYPE_METRIC_TRACER_EXP_DESC,
                                         .notifyEveryNBytes = 77};
    zet_metric_tracer_exp_handle_t tracer = NULL;
    ze_result_t result =
        zetMetricTracerCreateExp(bed->context, bed->device, count, groups, &desc, event, &tracer);

    assert_null(tracer);
    assert_int_equal(desc.notifyEveryNBytes, 77);
    return result;
}

/* Rule 13.1. */
static void create__groups_listed__traced_ones_come_last(void **state)
{
    static const char *const names[] = {"KernelSource", "KernelEvents", "CopyEvents", "CopyAgain",
                                        "OtherEvents"};
    ze_device_handle_t device = find_device("trace0");
    zet_metric_group_handle_t groups[8];
    uint32_t count = 8;

    (void)state;
    EXPECT_OK(zetMetricGroupGet(device, &count, groups));
    assert_int_equal(count, 5);
    for (uint32_t i = 0; i < count; i++) {
        zet_metric_group_properties_t properties = {.stype =
                                                        ZET_STRUCTURE_TYPE_METRIC_GROUP_PROPERTIES};

        EXPECT_OK(zetMetricGroupGetProperties(groups[i], &properties));
        assert_string_equal(properties.name, names[i]);
        assert_int_equal(properties.samplingType, i == 0 ? TIME_BASED : TRACER_BASED);
    }
}

static void create__root_with_tiles__lacks_groups_whose_records_name_no_tile(void **state)
{
    zet_metric_group_handle_t groups[8];
    uint32_t count = 8;

    (void)state;
    EXPECT_OK(zetMetricGroupGet(find_device("trace1"), &count, groups));
    assert_int_equal(count, 4);
    count = 8;
    EXPECT_OK(zetMetricGroupGet(find_device("trace1.0"), &count, groups));
    assert_int_equal(count, 5);
}

/** What tools show of a traced group: its source and records, and no sampling period. */
static void create__info_of_a_traced_group__has_no_period(void **state)
{
    struct zeta_group_info info = {.struct_size = sizeof(info)};
    ze_device_handle_t device = find_device("trace0");

    (void)state;
    EXPECT_OK(
        zetaMetricGroupGetInfo(find_group(device, "KernelEvents", TRACER_BASED, NULL), &info));
    assert_string_equal(info.unit, "kernels");
    assert_int_equal(info.record_bytes, TRACE_RECORD_BYTES);
    assert_int_equal(info.max_period_ns, 0);
    EXPECT_OK(zetaMetricGroupGetInfo(find_group(device, "KernelSource", TIME_BASED, NULL), &info));
    assert_int_equal(info.max_period_ns, 1000000);
}

/* Rule 12.16. */
static void create__note_of_a_unit__is_said_with_all_its_groups(void **state)
{
    struct zeta_group_info info = {.struct_size = sizeof(info)};
    ze_device_handle_t device = find_device("trace0");

    (void)state;
    EXPECT_OK(
        zetaMetricGroupGetInfo(find_group(device, "KernelEvents", TRACER_BASED, NULL), &info));
    assert_string_equal(info.stream_note, TRACE_NOTE);
    assert_string_equal(info.query_note, "");
    assert_int_equal(info.own_process, 1);
    EXPECT_OK(zetaMetricGroupGetInfo(find_group(device, "KernelSource", TIME_BASED, NULL), &info));
    assert_string_equal(info.stream_note, TRACE_NOTE);
    EXPECT_OK(zetaMetricGroupGetInfo(find_group(device, "CopyEvents", TRACER_BASED, NULL), &info));
    assert_string_equal(info.stream_note, "");
    assert_int_equal(info.own_process, 0);
}

/* Rule 13.2. */
static void create__two_groups__backend_gets_both_sources(void **state)
{
    struct trace_bed bed = bed_make("trace0");

    (void)state;
    bed_activate(&bed, "KernelEvents", "CopyEvents");
    (void)bed_create(&bed, 96, NULL);
    assert_int_equal(bed.control->counts("trace0").units, 2);
    assert_int_equal(bed.control->counts("trace0").enables, 0);
    assert_true(bed.control->is_held("trace0", "copies"));
    bed_free(&bed);
}

/* Rule 13.2. */
static void create__inactive_group__is_not_ready(void **state)
{
    struct trace_bed bed = bed_make("trace0");
    zet_metric_group_handle_t groups[2];

    (void)state;
    bed_activate(&bed, "KernelEvents", NULL);
    groups[0] = bed.groups[0];
    groups[1] = find_group(bed.device, "CopyEvents", TRACER_BASED, NULL);
    EXPECT_RESULT(try_create(&bed, 2, groups, NULL), ZE_RESULT_NOT_READY);
    expect_sentence("CopyEvents is not active");
    assert_int_equal(bed.control->counts("trace0").opens, 0);
    bed_free(&bed);
}

/* Rule 13.2. */
static void create__group_of_another_kind__is_refused(void **state)
{
    struct trace_bed bed = bed_make("trace0");
    zet_metric_group_handle_t group = find_group(bed.device, "KernelSource", TIME_BASED, NULL);

    (void)state;
    EXPECT_OK(zetContextActivateMetricGroups(bed.context, bed.device, 1, &group));
    EXPECT_RESULT(try_create(&bed, 1, &group, NULL), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    expect_sentence("not tracer-based");
    bed_free(&bed);
}

/* Rule 13.2. */
static void create__group_of_another_device__is_refused(void **state)
{
    struct trace_bed bed = bed_make("trace0");
    zet_metric_group_handle_t group =
        find_group(find_device("trace1.0"), "KernelEvents", TRACER_BASED, NULL);

    (void)state;
    EXPECT_RESULT(try_create(&bed, 1, &group, NULL), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    expect_sentence("belongs to device trace1.0");
    bed_free(&bed);
}

/* Rule 13.2. */
static void create__groups_of_one_domain__are_refused(void **state)
{
    struct trace_bed bed = bed_make("trace0");
    zet_metric_group_handle_t groups[2] = {find_group(bed.device, "CopyEvents", TRACER_BASED, NULL),
                                           find_group(bed.device, "CopyAgain", TRACER_BASED, NULL)};

    (void)state;
    EXPECT_RESULT(try_create(&bed, 2, groups, NULL), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    expect_sentence("share domain 1");
    groups[1] = groups[0];
    EXPECT_RESULT(try_create(&bed, 2, groups, NULL), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    bed_free(&bed);
}

/* Rule 13.2. */
static void create__groups_with_different_records__are_refused(void **state)
{
    struct trace_bed bed = bed_make("trace0");

    (void)state;
    bed_activate(&bed, "KernelEvents", "OtherEvents");
    EXPECT_RESULT(try_create(&bed, 2, bed.groups, NULL), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    expect_sentence("records of different forms");
    bed_free(&bed);
}

static void create__no_group__is_refused(void **state)
{
    struct trace_bed bed = bed_make("trace0");

    (void)state;
    bed_activate(&bed, "KernelEvents", NULL);
    EXPECT_RESULT(try_create(&bed, 0, bed.groups, NULL), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    bed_free(&bed);
}

static void create__null_parameters__are_told_apart(void **state)
{
    struct trace_bed bed = bed_make("trace0");
    zet_metric_tracer_exp_desc_t desc = {.stype = ZET_STRUCTURE_TYPE_METRIC_TRACER_EXP_DESC};
    zet_metric_tracer_exp_handle_t tracer = NULL;
    zet_metric_group_handle_t none = NULL;

    (void)state;
    bed_activate(&bed, "KernelEvents", NULL);
    EXPECT_RESULT(zetMetricTracerCreateExp(NULL, bed.device, 1, bed.groups, &desc, NULL, &tracer),
                  ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    EXPECT_RESULT(zetMetricTracerCreateExp(bed.context, NULL, 1, bed.groups, &desc, NULL, &tracer),
                  ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    EXPECT_RESULT(zetMetricTracerCreateExp(bed.context, bed.device, 1, NULL, &desc, NULL, &tracer),
                  ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    EXPECT_RESULT(
        zetMetricTracerCreateExp(bed.context, bed.device, 1, bed.groups, NULL, NULL, &tracer),
        ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    EXPECT_RESULT(
        zetMetricTracerCreateExp(bed.context, bed.device, 1, bed.groups, &desc, NULL, NULL),
        ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    EXPECT_RESULT(zetMetricTracerCreateExp(bed.context, bed.device, 1, &none, &desc, NULL, &tracer),
                  ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    EXPECT_RESULT(zetMetricTracerCreateExp(bed.context, bed.device, 1, bed.groups, &desc,
                                           (ze_event_handle_t)bed.context, &tracer),
                  ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    EXPECT_RESULT(zetMetricTracerDestroyExp(NULL), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    EXPECT_RESULT(zetMetricTracerEnableExp(NULL, 1), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    EXPECT_RESULT(zetMetricTracerDisableExp(NULL, 1), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    bed_free(&bed);
}

static void create__event_that_the_host_cannot_see__is_refused(void **state)
{
    struct trace_bed bed = bed_make("trace0");
    ze_event_pool_desc_t pool_desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, .count = 1};
    ze_event_desc_t event_desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_DESC};
    ze_event_pool_handle_t pool = NULL;
    ze_event_handle_t event = NULL;

    (void)state;
    bed_activate(&bed, "KernelEvents", NULL);
    EXPECT_OK(zeEventPoolCreate(bed.context, &pool_desc, 0, NULL, &pool));
    EXPECT_OK(zeEventCreate(pool, &event_desc, &event));
    EXPECT_RESULT(try_create(&bed, 1, bed.groups, event),
                  ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT);
    EXPECT_OK(zeEventDestroy(event));
    EXPECT_OK(zeEventPoolDestroy(pool));
    bed_free(&bed);
}

/** What was asked for, and what was written back: whole records, or a few of them. Rule 13.4. */
static void create__levels__are_whole_records_or_replaced(void **state)
{
    static const uint32_t levels[][2] = {{0, 512},           {1, 32},           {32, 32},
                                         {33, 64},           {512, 512},        {1000, 1024},
                                         {1 << 20, 1 << 20}, {UINT32_MAX, 512}, {1u << 31, 512}};
    struct trace_bed bed = bed_make("trace0");

    (void)state;
    bed_activate(&bed, "KernelEvents", NULL);
    for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++) {
        assert_int_equal(bed_create(&bed, levels[i][0], NULL), levels[i][1]);
        EXPECT_OK(zetMetricTracerDestroyExp(bed.tracer));
    }
    bed.tracer = NULL;
    bed_free(&bed);
}

/** A backend with less room than was wanted would never reach the level. Rule 13.4. */
static void create__level_above_the_ring__is_replaced(void **state)
{
    struct trace_bed bed = bed_make("trace0");
    struct test_event event = make_event(bed.context);

    (void)state;
    bed.control->ring(4096);
    bed_activate(&bed, "KernelEvents", NULL);
    assert_int_equal(bed_create(&bed, 8192, event.event), 512);
    assert_int_equal(bed.control->counts("trace0").opens, 2);
    assert_int_equal(bed.control->counts("trace0").closes, 1);
    assert_int_equal(bed.control->counts("trace0").notify_bytes, 512);
    EXPECT_OK(zetMetricTracerDestroyExp(bed.tracer));
    bed.tracer = NULL;
    destroy_event(&event);
    bed_free(&bed);
}

/* Rule 13.3. */
static void create__backend_refuses__its_sentence_is_kept(void **state)
{
    struct trace_bed bed = bed_make("trace0");

    (void)state;
    bed_activate(&bed, "KernelEvents", NULL);
    bed.control->refuse_open("trace0", ZE_RESULT_ERROR_NOT_AVAILABLE,
                             "the source kernels is in use by process 4711");
    EXPECT_RESULT(try_create(&bed, 1, bed.groups, NULL), ZE_RESULT_ERROR_NOT_AVAILABLE);
    expect_sentence("process 4711");
    bed.control->refuse_open("trace0", 0, NULL);
    (void)bed_create(&bed, 0, NULL);
    bed_free(&bed);
}

/* Rule 13.3. */
static void create__second_on_a_group_in_use__is_refused(void **state)
{
    struct trace_bed bed = bed_make("trace0");

    (void)state;
    bed_activate(&bed, "KernelEvents", "CopyEvents");
    bed.group_count = 1;
    (void)bed_create(&bed, 0, NULL);
    EXPECT_RESULT(try_create(&bed, 1, bed.groups, NULL), ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    expect_sentence("source kernels");
    EXPECT_RESULT(try_create(&bed, 2, bed.groups, NULL), ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    bed_free(&bed);
}

static void create__other_group_beside__both_live(void **state)
{
    struct trace_bed bed = bed_make("trace0");
    zet_metric_tracer_exp_desc_t desc = {.stype = ZET_STRUCTURE_TYPE_METRIC_TRACER_EXP_DESC};
    zet_metric_tracer_exp_handle_t other = NULL;

    (void)state;
    bed_activate(&bed, "KernelEvents", "CopyEvents");
    bed.group_count = 1;
    (void)bed_create(&bed, 0, NULL);
    EXPECT_OK(
        zetMetricTracerCreateExp(bed.context, bed.device, 1, &bed.groups[1], &desc, NULL, &other));
    EXPECT_OK(zetMetricTracerDestroyExp(other));
    EXPECT_RESULT(zetMetricTracerDestroyExp(other), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    bed_free(&bed);
}

SUITE(create)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(create__groups_listed__traced_ones_come_last),
        cmocka_unit_test(create__root_with_tiles__lacks_groups_whose_records_name_no_tile),
        cmocka_unit_test(create__info_of_a_traced_group__has_no_period),
        cmocka_unit_test(create__note_of_a_unit__is_said_with_all_its_groups),
        cmocka_unit_test(create__two_groups__backend_gets_both_sources),
        cmocka_unit_test(create__inactive_group__is_not_ready),
        cmocka_unit_test(create__group_of_another_kind__is_refused),
        cmocka_unit_test(create__group_of_another_device__is_refused),
        cmocka_unit_test(create__groups_of_one_domain__are_refused),
        cmocka_unit_test(create__groups_with_different_records__are_refused),
        cmocka_unit_test(create__no_group__is_refused),
        cmocka_unit_test(create__null_parameters__are_told_apart),
        cmocka_unit_test(create__event_that_the_host_cannot_see__is_refused),
        cmocka_unit_test(create__levels__are_whole_records_or_replaced),
        cmocka_unit_test(create__level_above_the_ring__is_replaced),
        cmocka_unit_test(create__backend_refuses__its_sentence_is_kept),
        cmocka_unit_test(create__second_on_a_group_in_use__is_refused),
        cmocka_unit_test(create__other_group_beside__both_live),
    };

    return cmocka_run_group_tests(tests, set_up, NULL);
}
