/* Programs that a backend cannot count in one pass: what is said of them, and groups refused. */
#include <string.h>

#include "tests/harness/control.h"
#include "tests/harness/device/stream_control.h"
#include "tests/metric_api/harness.h"
#include "tests/support/suite.h"
#include "zeta/zeta.h"

#define REFUSED ZE_RESULT_ERROR_INVALID_ARGUMENT

static const struct stream_control *control;

static int set_up(void **state)
{
    (void)state;
    if (zeInit(ZE_INIT_FLAG_GPU_ONLY) != ZE_RESULT_SUCCESS)
        return -1;
    (void)find_group(find_device("fake0"), "Basic", TIME_BASED, NULL);
    control = harness_control("stream_control");
    return control ? 0 : -1;
}

static int clean_up(void **state)
{
    (void)state;
    control->reset();
    return 0;
}

/** A metric of one of the two programmables, which counts one of four things. */
static zet_metric_handle_t make_metric_of(ze_device_handle_t device, uint32_t index, uint32_t which)
{
    static const char *const names[2][4] = {{"A", "B", "C", "D"}, {"WideA", "WideB"}};
    zet_metric_programmable_param_value_exp_t value = {.value.ui64 = 0};
    zet_metric_programmable_exp_handle_t programmables[2] = {NULL, NULL};
    zet_metric_handle_t metric = NULL;
    uint32_t count = 2;

    value.value.ui32 = which;
    EXPECT_OK(zetMetricProgrammableGetExp(device, &count, programmables));
    count = 1;
    EXPECT_OK(zetMetricCreateFromProgrammableExp2(
        programmables[index], 1, &value, names[index][which], "of a test", &count, &metric));
    return metric;
}

/** One that is one entry of a program. */
static zet_metric_handle_t make_metric(ze_device_handle_t device, uint32_t which)
{
    return make_metric_of(device, 0, which);
}

/** One that is two. */
static zet_metric_handle_t make_wide(ze_device_handle_t device, uint32_t which)
{
    return make_metric_of(device, 1, which);
}

static zet_metric_group_handle_t open_group(ze_device_handle_t device)
{
    zet_metric_group_handle_t group = NULL;

    EXPECT_OK(zetMetricGroupCreateExp(device, "Mine", "of a test", TIME_BASED, &group));
    return group;
}

static void add(zet_metric_group_handle_t group, zet_metric_handle_t metric)
{
    EXPECT_OK(zetMetricGroupAddMetricExp(group, metric, NULL, NULL));
}

static uint32_t metric_count(zet_metric_group_handle_t group)
{
    uint32_t count = 0;

    EXPECT_OK(zetMetricGet(group, &count, NULL));
    return count;
}

static struct zeta_group_passes passes_of(const char *device, const char *group,
                                          zet_metric_group_sampling_type_flags_t sampling)
{
    struct zeta_group_passes passes = {.struct_size = sizeof(passes)};

    EXPECT_OK(
        zetaMetricGroupGetPasses(find_group(find_device(device), group, sampling, NULL), &passes));
    return passes;
}

/* Rule 15.17. */
static void passes__of_predefined_groups__those_of_the_backend(void **state)
{
    struct zeta_group_passes passes = passes_of("fake0", "Basic", TIME_BASED);

    (void)state;
    assert_int_equal(passes.count, 1);
    assert_string_equal(passes.reason, "");
    control->passes(2, NULL, NULL);
    passes = passes_of("fake0", "Basic", TIME_BASED);
    assert_int_equal(passes.count, 3); /* of its five entries */
    assert_string_equal(passes.reason, FAKE_STREAM_REASON);
    passes = passes_of("fake0", "Basic", EVENT_BASED);
    assert_int_equal(passes.count, 3);
    assert_string_equal(passes.reason, FAKE_QUERY_REASON);
    passes = passes_of("fake1", "Basic", TIME_BASED);
    assert_int_equal(passes.count, 3);
    assert_int_equal(passes_of("fake0", "Other", TIME_BASED).count, 1);
    control->passes(UINT32_MAX, NULL, NULL);
    assert_int_equal(passes_of("fake0", "Basic", TIME_BASED).count, 0);
    /* A backend that is never asked. */
    assert_int_equal(passes_of("bare0", "Basic", TIME_BASED).count, 1);
}

static void passes__bad_arguments__refused(void **state)
{
    struct zeta_group_passes passes = {.struct_size = sizeof(passes)};

    (void)state;
    EXPECT_RESULT(zetaMetricGroupGetPasses(NULL, &passes), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    EXPECT_RESULT(
        zetaMetricGroupGetPasses(find_group(find_device("fake0"), "Basic", TIME_BASED, NULL), NULL),
        ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    passes = (struct zeta_group_passes){.struct_size = offsetof(struct zeta_group_passes, reason)};
    control->passes(2, NULL, NULL);
    EXPECT_OK(zetaMetricGroupGetPasses(find_group(find_device("fake0"), "Basic", TIME_BASED, NULL),
                                       &passes));
    assert_int_equal(passes.count, 3);
    assert_int_equal(passes.reason[0], 0);
}

/* Rule 15.17. */
static void close__more_than_one_pass__refused_with_the_number(void **state)
{
    static const char *const devices[] = {"fake0", "fake1"};

    (void)state;
    for (int i = 0; i < 2; i++) {
        ze_device_handle_t device = find_device(devices[i]);
        ze_context_handle_t context = make_context(device);
        zet_metric_handle_t first = make_metric(find_device(i ? "fake1.0" : "fake0"), 0);
        zet_metric_handle_t second = make_metric(find_device(i ? "fake1.0" : "fake0"), 1);
        zet_metric_group_handle_t group = open_group(device);

        control->passes(1, NULL, NULL);
        add(group, first);
        add(group, second);
        EXPECT_RESULT(zetMetricGroupCloseExp(group), REFUSED);
        expect_sentence("group Mine needs 2 passes on device fake");
        expect_sentence(FAKE_STREAM_REASON);
        EXPECT_RESULT(zetContextActivateMetricGroups(context, device, 1, &group),
                      ZE_RESULT_NOT_READY);
        EXPECT_OK(zetMetricGroupRemoveMetricExp(group, second));
        EXPECT_OK(zetMetricGroupCloseExp(group));
        control->passes(UINT32_MAX, NULL, NULL);
        EXPECT_OK(zetMetricGroupCloseExp(group)); /* it is closed */
        add(group, second);
        EXPECT_RESULT(zetMetricGroupCloseExp(group), REFUSED);
        expect_sentence("group Mine cannot be counted on device fake");
        control->passes(2, NULL, NULL);
        EXPECT_OK(zetMetricGroupCloseExp(group));
        EXPECT_OK(zetContextActivateMetricGroups(context, device, 1, &group));
        EXPECT_OK(zetContextActivateMetricGroups(context, device, 0, NULL));
        EXPECT_OK(zetMetricGroupDestroyExp(group));
        EXPECT_OK(zetMetricDestroyExp(first));
        EXPECT_OK(zetMetricDestroyExp(second));
        EXPECT_OK(zeContextDestroy(context));
    }
}

/** Makes groups of metrics, and expects so many; they are destroyed again. */
static void expect_groups(ze_device_handle_t device, uint32_t count, zet_metric_handle_t *metrics,
                          uint32_t expected)
{
    zet_metric_group_handle_t groups[8] = {NULL};
    uint32_t group_count = 0;

    EXPECT_OK(zetDeviceCreateMetricGroupsFromMetricsExp(device, count, metrics, "Made", "of a test",
                                                        &group_count, NULL));
    assert_int_equal(group_count, expected);
    EXPECT_OK(zetDeviceCreateMetricGroupsFromMetricsExp(device, count, metrics, "Made", "of a test",
                                                        &group_count, groups));
    assert_int_equal(group_count, expected);
    for (uint32_t i = 0; i < group_count; i++)
        EXPECT_OK(zetMetricGroupDestroyExp(groups[i]));
}

static void destroy_metrics(zet_metric_handle_t *metrics, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        EXPECT_OK(zetMetricDestroyExp(metrics[i])); /* in no group any more */
}

/* Rule 15.17. */
static void create_from_metrics__several_passes__as_many_groups(void **state)
{
    static const char *const devices[] = {"fake0", "fake1"};

    (void)state;
    for (int i = 0; i < 2; i++) {
        ze_device_handle_t device = find_device(devices[i]);
        zet_metric_handle_t metrics[4];

        for (uint32_t j = 0; j < 4; j++)
            metrics[j] = make_metric(device, j);
        expect_groups(device, 4, metrics, 1);
        control->passes(3, NULL, NULL);
        expect_groups(device, 4, metrics, 2);
        control->passes(2, NULL, NULL);
        expect_groups(device, 4, metrics, 2);
        control->passes(1, NULL, NULL);
        expect_groups(device, 4, metrics, 4);
        control->passes(0, NULL, NULL);
        expect_groups(device, 4, metrics, 1);
        destroy_metrics(metrics, 4);
    }
}

/* Each is in the first group that it fits: A and B, WideA, WideB. Fewer have to be looked for.
 * Rule 15.17. */
static void create_from_metrics__unlucky_order__still_the_fewest_groups(void **state)
{
    ze_device_handle_t device = find_device("fake0");
    zet_metric_handle_t metrics[] = {make_metric(device, 0), make_metric(device, 1),
                                     make_wide(device, 0), make_wide(device, 1)};

    (void)state;
    control->passes(3, NULL, NULL);
    expect_groups(device, 4, metrics, 2);
    destroy_metrics(metrics, 4);
}

/* Rule 15.17. */
static void create_from_metrics__no_room_for_the_groups__nothing_left(void **state)
{
    ze_device_handle_t device = find_device("fake0");
    zet_metric_handle_t metrics[] = {make_metric(device, 0), make_metric(device, 1)};
    zet_metric_group_handle_t group = NULL;
    uint32_t count = 1;

    (void)state;
    control->passes(1, NULL, NULL);
    EXPECT_RESULT(zetDeviceCreateMetricGroupsFromMetricsExp(device, 2, metrics, "Made", "of a test",
                                                            &count, &group),
                  REFUSED);
    expect_sentence("2 groups are needed, and there is room for 1 handles");
    assert_null(group);
    assert_int_equal(count, 1);
    destroy_metrics(metrics, 2);
}

/* Rule 15.17. */
static void create_from_metrics__one_never_counts_in_a_pass__refused_by_name(void **state)
{
    ze_device_handle_t device = find_device("fake0");
    zet_metric_handle_t metrics[] = {make_metric(device, 0), make_wide(device, 0)};
    uint32_t count = 0;

    (void)state;
    control->passes(1, NULL, NULL);
    EXPECT_RESULT(zetDeviceCreateMetricGroupsFromMetricsExp(device, 2, metrics, "Made", "of a test",
                                                            &count, NULL),
                  REFUSED);
    expect_sentence("metric WideA needs 2 passes on device fake0, and a group has one");
    expect_sentence(FAKE_STREAM_REASON);
    control->passes(UINT32_MAX, NULL, NULL);
    EXPECT_RESULT(zetDeviceCreateMetricGroupsFromMetricsExp(device, 2, metrics, "Made", "of a test",
                                                            &count, NULL),
                  REFUSED);
    expect_sentence("metric A cannot be counted on device fake0");
    destroy_metrics(metrics, 2);
}

/** Takes more programs as time goes on, or fewer. */
struct mood {
    uint32_t asked;
    uint32_t until;
    uint32_t then;
};

static void change_mind(void *context)
{
    struct mood *mood = context;

    if (++mood->asked == mood->until)
        control->passes(mood->then, NULL, NULL);
}

/* What was packed by other answers is refused when its group is closed. Rule 15.17. */
static void create_from_metrics__answers_change__refused_and_nothing_left(void **state)
{
    ze_device_handle_t device = find_device("fake0");
    zet_metric_handle_t metrics[] = {make_metric(device, 0), make_metric(device, 1)};
    zet_metric_group_handle_t groups[2] = {NULL};
    struct mood mood = {.until = 1, .then = 1};
    uint32_t count = 1;

    (void)state;
    control->passes(2, change_mind, &mood);
    EXPECT_RESULT(zetDeviceCreateMetricGroupsFromMetricsExp(device, 2, metrics, "Made", "of a test",
                                                            &count, groups),
                  REFUSED);
    expect_sentence("group Made_1 needs 2 passes");
    assert_null(groups[0]);
    destroy_metrics(metrics, 2);
}

/* A backend that takes milliseconds is not asked thousands of times. */
static void create_from_metrics__many_metrics__few_questions(void **state)
{
    ze_device_handle_t device = find_device("fake0");
    zet_metric_handle_t metrics[8];
    struct mood mood = {.until = 0};
    uint32_t count = 0;

    (void)state;
    for (uint32_t i = 0; i < 8; i++)
        metrics[i] = make_metric_of(device, i % 2 && i < 4, i < 4 ? i / 2 : i % 4);
    control->passes(0, change_mind, &mood);
    EXPECT_OK(zetDeviceCreateMetricGroupsFromMetricsExp(device, 8, metrics, "Made", "of a test",
                                                        &count, NULL));
    assert_int_equal(mood.asked, 1);
    control->passes(3, change_mind, &mood);
    EXPECT_OK(zetDeviceCreateMetricGroupsFromMetricsExp(device, 8, metrics, "Made", "of a test",
                                                        &count, NULL));
    assert_int_equal(count, 3); /* eight entries of six things */
    assert_true(mood.asked < 200);
    destroy_metrics(metrics, 8);
}

struct change {
    zet_metric_group_handle_t group;
    zet_metric_handle_t metric;
    uint32_t asked;
};

static void change_once(void *context)
{
    struct change *change = context;

    if (change->asked++ == 0)
        add(change->group, change->metric);
}

/* The backend is asked without locks, so the group may change meanwhile; what is closed is what it
 * was asked about. Rule 15.17. */
static void close__group_changes_meanwhile__asked_again(void **state)
{
    ze_device_handle_t device = find_device("fake0");
    zet_metric_handle_t first = make_metric(device, 0);
    struct change change = {.group = open_group(device), .metric = make_metric(device, 1)};

    (void)state;
    add(change.group, first);
    control->passes(1, change_once, &change);
    EXPECT_RESULT(zetMetricGroupCloseExp(change.group), REFUSED);
    expect_sentence("needs 2 passes");
    assert_int_equal(change.asked, 2);
    EXPECT_OK(zetMetricGroupRemoveMetricExp(change.group, change.metric));
    change.asked = 0;
    control->passes(0, change_once, &change);
    EXPECT_OK(zetMetricGroupCloseExp(change.group));
    assert_int_equal(change.asked, 2);
    assert_int_equal(metric_count(change.group), 3); /* and QueryBeginTime */
    EXPECT_OK(zetMetricGroupDestroyExp(change.group));
    EXPECT_OK(zetMetricDestroyExp(first));
    EXPECT_OK(zetMetricDestroyExp(change.metric));
}

SUITE(passes)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(passes__of_predefined_groups__those_of_the_backend, clean_up),
        cmocka_unit_test_teardown(passes__bad_arguments__refused, clean_up),
        cmocka_unit_test_teardown(close__more_than_one_pass__refused_with_the_number, clean_up),
        cmocka_unit_test_teardown(create_from_metrics__several_passes__as_many_groups, clean_up),
        cmocka_unit_test_teardown(create_from_metrics__unlucky_order__still_the_fewest_groups,
                                  clean_up),
        cmocka_unit_test_teardown(create_from_metrics__no_room_for_the_groups__nothing_left,
                                  clean_up),
        cmocka_unit_test_teardown(create_from_metrics__one_never_counts_in_a_pass__refused_by_name,
                                  clean_up),
        cmocka_unit_test_teardown(create_from_metrics__answers_change__refused_and_nothing_left,
                                  clean_up),
        cmocka_unit_test_teardown(create_from_metrics__many_metrics__few_questions, clean_up),
        cmocka_unit_test_teardown(close__group_changes_meanwhile__asked_again, clean_up),
    };

    return cmocka_run_group_tests_name("metric.passes", tests, set_up, NULL);
}
