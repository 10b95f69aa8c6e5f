/* Groups that a backend can or cannot count together. */
#include "tests/harness/control.h"
#include "tests/harness/device/stream_control.h"
#include "tests/metric_api/harness.h"
#include "tests/support/suite.h"

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

/** Passes that three groups of three units need; checks that they can be activated. */
static uint32_t count_passes(const char *name)
{
    static const char *const names[] = {"Basic", "Second", "Samples"};
    ze_device_handle_t device = find_device(name);
    ze_context_handle_t context = make_context(device);
    zet_metric_group_handle_t groups[3];
    uint32_t counts[3] = {0};
    uint32_t passes = 0;
    uint32_t at = 0;

    for (uint32_t i = 0; i < 3; i++)
        groups[i] = find_group(device, names[i], TIME_BASED, NULL);
    EXPECT_OK(zetDeviceGetConcurrentMetricGroupsExp(device, 3, groups, counts, &passes));
    for (uint32_t i = 0; i < passes; i++) {
        EXPECT_OK(zetContextActivateMetricGroups(context, device, counts[i], groups + at));
        at += counts[i];
    }
    assert_int_equal(at, 3);
    EXPECT_OK(zetContextActivateMetricGroups(context, device, 0, NULL));
    EXPECT_OK(zeContextDestroy(context));
    return passes;
}

static void backend__that_allows_all__needs_one_pass(void **state)
{
    (void)state;
    control->reset();
    assert_int_equal(count_passes("fake0"), 1);
    assert_int_equal(count_passes("fake1"), 1);
}

/* Rule 15.15. */
static void backend__with_a_limit__needs_more_passes(void **state)
{
    (void)state;
    control->reset();
    control->together(2);
    assert_int_equal(count_passes("fake0"), 2);
    assert_int_equal(count_passes("fake1"), 2); /* asked for each of its tiles */
    control->together(1);
    assert_int_equal(count_passes("fake0"), 3);
    control->reset();
}

SUITE(concurrent)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(backend__that_allows_all__needs_one_pass),
        cmocka_unit_test(backend__with_a_limit__needs_more_passes),
    };

    return cmocka_run_group_tests_name("metric.concurrent", tests, set_up, NULL);
}
