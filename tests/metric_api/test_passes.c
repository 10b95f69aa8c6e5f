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

/** A metric that counts thing 0 or 1: one entry of a program. */
static zet_metric_handle_t make_metric(ze_device_handle_t device, uint32_t which)
{
    zet_metric_programmable_param_value_exp_t value = {.value.ui64 = 0};
    zet_metric_programmable_exp_handle_t programmable = NULL;
    zet_metric_handle_t metric = NULL;
    uint32_t count = 1;

    value.value.ui32 = which;
    EXPECT_OK(zetMetricProgrammableGetExp(device, &count, &programmable));
    count = 1;
    EXPECT_OK(zetMetricCreateFromProgrammableExp2(programmable, 1, &value, which ? "B" : "A",
                                                  "of a test", &count, &metric));
    return metric;
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

/* Rule 15.17. */
static void create_from_metrics__more_than_one_pass__refused_and_nothing_left(void **state)
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
    expect_sentence("group Made_1 needs 2 passes");
    assert_null(group);
    control->passes(2, NULL, NULL);
    EXPECT_OK(zetDeviceCreateMetricGroupsFromMetricsExp(device, 2, metrics, "Made", "of a test",
                                                        &count, &group));
    EXPECT_OK(zetMetricGroupDestroyExp(group));
    for (int i = 0; i < 2; i++)
        EXPECT_OK(zetMetricDestroyExp(metrics[i])); /* in no group any more */
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
        cmocka_unit_test_teardown(create_from_metrics__more_than_one_pass__refused_and_nothing_left,
                                  clean_up),
        cmocka_unit_test_teardown(close__group_changes_meanwhile__asked_again, clean_up),
    };

    return cmocka_run_group_tests_name("metric.passes", tests, set_up, NULL);
}
