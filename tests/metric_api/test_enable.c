/* Enabling metrics by calls, in a process where the environment does not enable them. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "tests/metric_api/harness.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

static int set_up(void **state)
{
    (void)state;
    return zeInit(0) == ZE_RESULT_SUCCESS ? 0 : -1;
}

/* The tests of this file run in this order in one process: never enabled, enabled, disabled. */

/* Rule 10.1. */
static void group_get__never_enabled__is_dependency_unavailable_with_count_zero(void **state)
{
    zet_metric_group_handle_t groups[4];
    uint32_t count = 4;

    (void)state;
    EXPECT_RESULT(zetMetricGroupGet(find_device("fake0"), &count, groups),
                  ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE);
    assert_int_equal(count, 0);
    expect_sentence("ZET_ENABLE_METRICS");
    expect_sentence("zetDeviceEnableMetricsExp");
}

/* Rule 3.10. */
static void programmable_get__never_enabled__is_dependency_unavailable_with_count_zero(void **state)
{
    zet_metric_programmable_exp_handle_t programmables[4];
    uint32_t count = 4;

    (void)state;
    EXPECT_RESULT(zetMetricProgrammableGetExp(find_device("fake0"), &count, programmables),
                  ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE);
    assert_int_equal(count, 0);
    expect_sentence("zetDeviceEnableMetricsExp");
}

static void enable_and_disable__null__documented_results(void **state)
{
    (void)state;
    EXPECT_RESULT(zetDeviceEnableMetricsExp(NULL), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    EXPECT_RESULT(zetDeviceDisableMetricsExp(NULL), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
}

static void deactivate__never_enabled__succeeds(void **state)
{
    ze_device_handle_t device = find_device("fake0");
    ze_context_handle_t context = make_context(device);
    zet_metric_group_handle_t none[1] = {NULL};

    (void)state;
    EXPECT_OK(zetContextActivateMetricGroups(context, device, 0, NULL));
    EXPECT_OK(zetContextActivateMetricGroups(context, device, 0, none)); /* 4 */
    EXPECT_OK(zeContextDestroy(context));
}

static void disable__never_enabled__succeeds_and_enables_nothing(void **state)
{
    uint32_t count = 1;

    (void)state;
    EXPECT_OK(zetDeviceDisableMetricsExp(find_device("fake0")));
    EXPECT_RESULT(zetMetricGroupGet(find_device("fake0"), &count, NULL),
                  ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE);
}

/* Rule 10.1. */
static void enable__tile__does_not_enable_its_root(void **state)
{
    uint32_t count = 0;

    (void)state;
    EXPECT_OK(zetDeviceEnableMetricsExp(find_device("fake1.1")));
    EXPECT_OK(zetMetricGroupGet(find_device("fake1.1"), &count, NULL));
    EXPECT_RESULT(zetMetricGroupGet(find_device("fake1"), &count, NULL),
                  ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE);
    EXPECT_RESULT(zetMetricGroupGet(find_device("fake1.0"), &count, NULL),
                  ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE);
}

/* Rule 10.1. */
static void enable__root__enables_its_tiles(void **state)
{
    uint32_t count = 0;

    (void)state;
    EXPECT_OK(zetDeviceEnableMetricsExp(find_device("fake1")));
    EXPECT_OK(zetDeviceEnableMetricsExp(find_device("fake1")));
    EXPECT_OK(zetMetricGroupGet(find_device("fake1.0"), &count, NULL));
    assert_cmp(count, >, 0);
    EXPECT_RESULT(zetMetricGroupGet(find_device("fake0"), &count, NULL),
                  ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE);
}

/* Rule 10.2. */
static void disable__then_activate__is_refused_until_enabled_again(void **state)
{
    ze_device_handle_t device = find_device("fake0");
    ze_context_handle_t context = make_context(device);
    zet_metric_group_properties_t properties = {0};
    zet_metric_group_handle_t group;

    (void)state;
    EXPECT_OK(zetDeviceEnableMetricsExp(device));
    group = find_group(device, "Basic", TIME_BASED, NULL);
    EXPECT_OK(zetDeviceDisableMetricsExp(device));
    assert_ptr_equal(find_group(device, "Basic", TIME_BASED, NULL), group);
    EXPECT_OK(zetMetricGroupGetProperties(group, &properties));
    EXPECT_RESULT(zetContextActivateMetricGroups(context, device, 1, &group),
                  ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE);
    EXPECT_OK(zetDeviceEnableMetricsExp(device));
    EXPECT_OK(zetContextActivateMetricGroups(context, device, 1, &group));
    EXPECT_OK(zetContextActivateMetricGroups(context, device, 0, NULL));
    EXPECT_OK(zeContextDestroy(context));
}

/* Rule 10.2. */
static void disable__group_active_or_stream_open__is_in_use(void **state)
{
    ze_device_handle_t device = find_device("fake0");
    ze_context_handle_t context = make_context(device);
    zet_metric_group_handle_t group = find_group(device, "Basic", TIME_BASED, NULL);
    zet_metric_streamer_desc_t desc = {.notifyEveryNReports = 10, .samplingPeriod = 100000};
    zet_metric_streamer_handle_t streamer;

    (void)state;
    EXPECT_OK(zetContextActivateMetricGroups(context, device, 1, &group));
    EXPECT_RESULT(zetDeviceDisableMetricsExp(device), ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    EXPECT_OK(zetMetricStreamerOpen(context, device, group, &desc, NULL, &streamer));
    EXPECT_OK(zetContextActivateMetricGroups(context, device, 0, NULL));
    EXPECT_RESULT(zetDeviceDisableMetricsExp(device), ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    expect_sentence("stream");
    EXPECT_OK(zetMetricStreamerClose(streamer));
    EXPECT_OK(zetDeviceDisableMetricsExp(device));
    EXPECT_OK(zetDeviceEnableMetricsExp(device));
    EXPECT_OK(zeContextDestroy(context));
}

/* Rule 10.3. */
static void disable__tile_in_use__root_is_in_use(void **state)
{
    ze_device_handle_t root = find_device("fake1");
    ze_device_handle_t tile = find_device("fake1.0");
    ze_context_handle_t context = make_context(root);
    zet_metric_group_handle_t group = find_group(tile, "Basic", TIME_BASED, NULL);

    (void)state;
    EXPECT_OK(zetContextActivateMetricGroups(context, tile, 1, &group));
    EXPECT_RESULT(zetDeviceDisableMetricsExp(root), ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    EXPECT_OK(zetContextActivateMetricGroups(context, tile, 0, NULL));
    EXPECT_OK(zetDeviceDisableMetricsExp(root));
    EXPECT_RESULT(zetContextActivateMetricGroups(context, tile, 1, &group),
                  ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE);
    EXPECT_OK(zetDeviceEnableMetricsExp(root));
    EXPECT_OK(zeContextDestroy(context));
}

/* What is active on a root is active on its tiles, so a tile cannot lose its metrics alone.
 * Rule 10.3. */
static void disable__root_in_use__tile_is_in_use(void **state)
{
    ze_device_handle_t root = find_device("fake1");
    ze_device_handle_t tile = find_device("fake1.0");
    ze_context_handle_t context = make_context(root);
    zet_metric_group_handle_t group = find_group(root, "Basic", TIME_BASED, NULL);
    zet_metric_streamer_desc_t desc = {.notifyEveryNReports = 10, .samplingPeriod = 100000};
    zet_metric_streamer_handle_t streamer;

    (void)state;
    EXPECT_OK(zetContextActivateMetricGroups(context, root, 1, &group));
    EXPECT_RESULT(zetDeviceDisableMetricsExp(tile), ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    expect_sentence("fake1 are active");
    EXPECT_OK(zetMetricStreamerOpen(context, root, group, &desc, NULL, &streamer));
    EXPECT_OK(zetContextActivateMetricGroups(context, root, 0, NULL));
    EXPECT_RESULT(zetDeviceDisableMetricsExp(tile), ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    expect_sentence("stream");
    EXPECT_OK(zetMetricStreamerClose(streamer));
    EXPECT_OK(zetDeviceDisableMetricsExp(tile));
    EXPECT_OK(zetDeviceEnableMetricsExp(tile));
    EXPECT_OK(zeContextDestroy(context));
}

/* Rule 10.3. */
static void disable__one_tile__is_refused_to_its_root_too(void **state)
{
    ze_device_handle_t root = find_device("fake1");
    ze_device_handle_t tile = find_device("fake1.1");
    ze_context_handle_t context = make_context(root);
    zet_metric_group_handle_t whole = find_group(root, "Basic", TIME_BASED, NULL);
    zet_metric_group_handle_t other = find_group(find_device("fake1.0"), "Basic", TIME_BASED, NULL);

    (void)state;
    EXPECT_OK(zetDeviceDisableMetricsExp(tile));
    EXPECT_RESULT(zetContextActivateMetricGroups(context, root, 1, &whole),
                  ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE);
    expect_sentence("fake1.1");
    EXPECT_OK(zetContextActivateMetricGroups(context, find_device("fake1.0"), 1, &other));
    EXPECT_OK(zetContextActivateMetricGroups(context, root, 0, NULL));
    EXPECT_OK(zetDeviceEnableMetricsExp(root));
    EXPECT_OK(zetContextActivateMetricGroups(context, root, 1, &whole));
    EXPECT_OK(zetContextActivateMetricGroups(context, root, 0, NULL));
    EXPECT_OK(zeContextDestroy(context));
}

/** Activates and deactivates a group until it is told to end. */
struct toggling {
    ze_device_handle_t device;
    ze_context_handle_t context;
    zet_metric_group_handle_t group;
    atomic_uint activations;
    atomic_bool end;
};

static void *toggle(void *argument)
{
    struct toggling *t = argument;

    while (!atomic_load(&t->end)) {
        if (zetContextActivateMetricGroups(t->context, t->device, 1, &t->group) !=
            ZE_RESULT_SUCCESS)
            continue;
        atomic_fetch_add(&t->activations, 1);
        (void)zetContextActivateMetricGroups(t->context, t->device, 0, NULL);
    }
    return NULL;
}

/* Rule 10.3. */
static void disable__while_another_thread_activates__nothing_becomes_active(void **state)
{
    struct toggling t = {.device = find_device("fake0")};
    uint32_t disabled = 0, active = 0;
    pthread_t thread;

    (void)state;
    EXPECT_OK(zetDeviceEnableMetricsExp(t.device));
    t.context = make_context(t.device);
    t.group = find_group(t.device, "Basic", TIME_BASED, NULL);
    assert_int_equal(pthread_create(&thread, NULL, toggle, &t), 0);
    while (disabled < 20000 || atomic_load(&t.activations) < 20000) {
        if (zetDeviceDisableMetricsExp(t.device) != ZE_RESULT_SUCCESS)
            continue;
        disabled++;
        /* An activation that came through now would make this one fail. */
        for (int i = 0; i < 20; i++)
            active += zetDeviceDisableMetricsExp(t.device) != ZE_RESULT_SUCCESS;
        EXPECT_OK(zetDeviceEnableMetricsExp(t.device));
    }
    atomic_store(&t.end, true);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(active, 0);
    EXPECT_OK(zeContextDestroy(t.context));
}

/* 7: programs set the variable inside the process; zeDriverGet reads it again. Must be last.
 * Rule 1.8. */
static void environment__set_late__is_read_by_the_next_driver_get(void **state)
{
    ze_device_handle_t device = find_device("bare0");
    uint32_t drivers = 0;
    uint32_t count = 0;

    (void)state;
    assert_int_equal(setenv("ZET_ENABLE_METRICS", "1", 1), 0);
    EXPECT_RESULT(zetMetricGroupGet(device, &count, NULL), ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE);
    EXPECT_OK(zeDriverGet(&drivers, NULL));
    /* Enabled once is enabled, whatever becomes of the variable. */
    assert_int_equal(setenv("ZET_ENABLE_METRICS", "0", 1), 0);
    EXPECT_OK(zeDriverGet(&drivers, NULL));
    EXPECT_OK(zetMetricGroupGet(device, &count, NULL));
    assert_cmp(count, >, 0);
}

SUITE(enable)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(group_get__never_enabled__is_dependency_unavailable_with_count_zero),
        cmocka_unit_test(
            programmable_get__never_enabled__is_dependency_unavailable_with_count_zero),
        cmocka_unit_test(enable_and_disable__null__documented_results),
        cmocka_unit_test(deactivate__never_enabled__succeeds),
        cmocka_unit_test(disable__never_enabled__succeeds_and_enables_nothing),
        cmocka_unit_test(enable__tile__does_not_enable_its_root),
        cmocka_unit_test(enable__root__enables_its_tiles),
        cmocka_unit_test(disable__then_activate__is_refused_until_enabled_again),
        cmocka_unit_test(disable__group_active_or_stream_open__is_in_use),
        cmocka_unit_test(disable__tile_in_use__root_is_in_use),
        cmocka_unit_test(disable__root_in_use__tile_is_in_use),
        cmocka_unit_test(disable__one_tile__is_refused_to_its_root_too),
        cmocka_unit_test(disable__while_another_thread_activates__nothing_becomes_active),
        cmocka_unit_test(environment__set_late__is_read_by_the_next_driver_get),
    };

    return cmocka_run_group_tests(tests, set_up, NULL);
}
