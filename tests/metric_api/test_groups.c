/* Enumeration of groups and metrics, and their properties. */
#include <stdio.h>
#include <string.h>

#include "tests/harness/device/stream_control.h"
#include "tests/metric_api/harness.h"
#include "tests/support/suite.h"
#include "zeta/zeta.h"

/* Requirement numbers are those of the client requirements that this project keeps. */

static int set_up(void **state)
{
    (void)state;
    return zeInit(0) == ZE_RESULT_SUCCESS ? 0 : -1;
}

static void names_of(ze_device_handle_t device, char names[][64], uint32_t *count)
{
    zet_metric_group_handle_t groups[32];

    EXPECT_OK(zetMetricGroupGet(device, count, groups));
    for (uint32_t i = 0; i < *count; i++) {
        zet_metric_group_properties_t properties;

        memset(&properties, 0xab, sizeof(properties));
        properties.pNext = NULL;
        EXPECT_OK(zetMetricGroupGetProperties(groups[i], &properties));
        (void)snprintf(names[i], 64, "%.40s/%u/%u", properties.name, properties.samplingType,
                       properties.domain);
    }
}

/* 21, 26: a set is one group per sampling type; order: time-based, samples, the others.
 * Rule 10.4. */
static void group_get__order__time_based_first_and_equal_each_time(void **state)
{
    static const char *const wanted[] = {
        "Basic/2/0",   "Other/2/0",   "UserSet/2/0",    "Second/2/1",
        "Runtime/2/1", "Samples/2/2", "OnlyEvents/1/0", "Basic/1/0",
    };
    char names[32][64];
    uint32_t count = 32;

    (void)state;
    for (int round = 0; round < 2; round++) {
        count = 32;
        names_of(find_device("fake0"), names, &count);
        assert_int_equal(count, 8);
        for (uint32_t i = 0; i < count; i++)
            assert_string_equal(names[i], wanted[i]);
    }
}

static void group_get__backend_without_queries__has_no_event_based_groups(void **state)
{
    char names[32][64];
    uint32_t count = 32;

    (void)state;
    names_of(find_device("bare0"), names, &count);
    assert_int_equal(count, 5);
    for (uint32_t i = 0; i < count; i++)
        assert_non_null(strstr(names[i], "/2/"));
}

/* Rule 3.8. */
static void group_get__counts__follow_the_two_call_rule(void **state)
{
    ze_device_handle_t device = find_device("fake0");
    zet_metric_group_handle_t groups[16];
    zet_metric_group_handle_t again[16];
    uint32_t count = 0;

    (void)state;
    EXPECT_OK(zetMetricGroupGet(device, &count, NULL));
    assert_int_equal(count, 8);
    count = 5;
    EXPECT_OK(zetMetricGroupGet(device, &count, NULL));
    assert_int_equal(count, 8);
    memset(groups, 0, sizeof(groups));
    count = 3;
    EXPECT_OK(zetMetricGroupGet(device, &count, groups));
    assert_int_equal(count, 3);
    assert_non_null(groups[2]);
    assert_null(groups[3]);
    count = 16;
    EXPECT_OK(zetMetricGroupGet(device, &count, again));
    assert_int_equal(count, 8);
    assert_ptr_equal(groups[0], again[0]);
    count = 0;
    EXPECT_OK(zetMetricGroupGet(device, &count, groups));
    assert_int_equal(count, 8);
    EXPECT_RESULT(zetMetricGroupGet(NULL, &count, NULL), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    EXPECT_RESULT(zetMetricGroupGet(device, NULL, NULL), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
}

static void group_get__root_and_tiles__have_groups_of_their_own(void **state)
{
    static const char *const devices[] = {"fake1", "fake1.0", "fake1.1"};
    char first[32][64];
    char names[32][64];

    (void)state;
    for (int d = 0; d < 3; d++) {
        uint32_t count = 32;

        names_of(find_device(devices[d]), d == 0 ? first : names, &count);
        assert_int_equal(count, 8);
        for (uint32_t i = 0; d > 0 && i < count; i++)
            assert_string_equal(names[i], first[i]);
    }
    assert_ptr_not_equal(find_group(find_device("fake1"), "Basic", TIME_BASED, NULL),
                         find_group(find_device("fake1.0"), "Basic", TIME_BASED, NULL));
}

/* 3: programs leave stype 0; only pNext decides whether a chain is there. Rules 3.6, 10.17. */
static void group_properties__stype_zero_with_a_chain__is_served(void **state)
{
    zet_metric_group_handle_t group = find_group(find_device("fake0"), "Second", TIME_BASED, NULL);
    zet_export_dma_buf_exp_properties_t dma = {
        .stype = ZET_STRUCTURE_TYPE_EXPORT_DMA_EXP_PROPERTIES, .fd = 7, .size = 9};
    zet_metric_source_id_exp_t source = {
        .stype = ZET_STRUCTURE_TYPE_METRIC_SOURCE_ID_EXP, .pNext = &dma, .sourceId = 99};
    zet_metric_group_type_exp_t type = {
        .stype = ZET_STRUCTURE_TYPE_METRIC_GROUP_TYPE_EXP, .pNext = &source, .type = 0x55};
    /* 19: both members are never zero. */
    zet_metric_global_timestamps_resolution_exp_t resolution = {
        .stype = ZET_STRUCTURE_TYPE_METRIC_GLOBAL_TIMESTAMPS_RESOLUTION_EXP, .pNext = &type};
    zet_metric_group_properties_t properties = {.stype = (zet_structure_type_t)0,
                                                .pNext = &resolution};

    (void)state;
    EXPECT_OK(zetMetricGroupGetProperties(group, &properties));
    assert_int_equal(properties.stype, 0);
    assert_ptr_equal(properties.pNext, &resolution);
    assert_string_equal(properties.name, "Second");
    assert_string_equal(properties.description, "Of another unit");
    assert_int_equal(properties.metricCount, 2);
    assert_int_equal(resolution.timerResolution, 25000000);
    assert_int_equal(resolution.timestampValidBits, 32);
    assert_int_equal(type.type, ZET_METRIC_GROUP_TYPE_EXP_FLAG_OTHER);
    assert_int_equal(source.sourceId, 1);
    assert_int_equal(dma.fd, -1);
    assert_int_equal(dma.size, 0);
}

/* 1: pNext may be anything that was on the stack. Rule 3.5. */
static void group_properties__garbage_in_pnext__is_not_followed(void **state)
{
    zet_metric_group_handle_t group = find_group(find_device("fake0"), "Basic", TIME_BASED, NULL);
    static const uint64_t values[] = {
        1, 8, 0xdeadbeef, 0x8000000000000000u, 0x00007fffffffff00u, 0xffffffffffffffffu};

    (void)state;
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        zet_metric_group_properties_t properties = {.stype = (zet_structure_type_t)0x7e57};

        properties.pNext = (void *)(uintptr_t)values[i];
        EXPECT_OK(zetMetricGroupGetProperties(group, &properties));
        assert_string_equal(properties.name, "Basic");
    }
}

static void group_properties__same_unit__same_source(void **state)
{
    static const char *const names[] = {"Basic", "Other", "Second", "Samples"};
    uint32_t ids[4];

    (void)state;
    for (int i = 0; i < 4; i++) {
        zet_metric_source_id_exp_t source = {.stype = ZET_STRUCTURE_TYPE_METRIC_SOURCE_ID_EXP};
        zet_metric_group_properties_t properties = {.pNext = &source};

        EXPECT_OK(zetMetricGroupGetProperties(
            find_group(find_device("fake0"), names[i], TIME_BASED, NULL), &properties));
        ids[i] = source.sourceId;
    }
    assert_int_equal(ids[0], ids[1]);
    assert_int_not_equal(ids[0], ids[2]);
    assert_int_not_equal(ids[2], ids[3]);
}

static void metric_get__basic__has_its_metrics_and_those_of_the_layout(void **state)
{
    static const char *const wanted[] = {"Count", "Scaled", "HalfOf", "QueryBeginTime"};
    zet_metric_group_handle_t group = find_group(find_device("fake0"), "Basic", TIME_BASED, NULL);
    zet_metric_handle_t metrics[8];
    uint32_t count = 0;

    (void)state;
    EXPECT_OK(zetMetricGet(group, &count, NULL));
    assert_int_equal(count, 4);
    count = 8;
    EXPECT_OK(zetMetricGet(group, &count, metrics));
    assert_int_equal(count, 4);
    for (uint32_t i = 0; i < count; i++) {
        zet_export_dma_buf_exp_properties_t dma = {
            .stype = ZET_STRUCTURE_TYPE_EXPORT_DMA_EXP_PROPERTIES, .fd = 7, .size = 9};
        zet_metric_properties_t properties;

        memset(&properties, 0xab, sizeof(properties));
        properties.pNext = i == 0 ? &dma : NULL;
        EXPECT_OK(zetMetricGetProperties(metrics[i], &properties));
        assert_string_equal(properties.name, wanted[i]);
        if (i == 0) {
            assert_int_equal(dma.fd, -1);
            assert_int_equal(dma.size, 0);
        }
    }
}

static void metric_properties__all_members__are_those_of_the_set(void **state)
{
    zet_metric_group_handle_t group = find_group(find_device("fake0"), "Basic", TIME_BASED, NULL);
    zet_metric_handle_t metrics[4];
    zet_metric_properties_t properties = {.stype = ZET_STRUCTURE_TYPE_METRIC_PROPERTIES};
    uint32_t count = 4;

    (void)state;
    EXPECT_OK(zetMetricGet(group, &count, metrics));
    EXPECT_OK(zetMetricGetProperties(metrics[0], &properties));
    assert_string_equal(properties.description, "Records");
    assert_string_equal(properties.component, "Fake");
    assert_string_equal(properties.resultUnits, "records");
    assert_int_equal(properties.tierNumber, 2);
    assert_int_equal(properties.metricType, ZET_METRIC_TYPE_EVENT);
    assert_int_equal(properties.resultType, ZET_VALUE_TYPE_UINT64);
    EXPECT_OK(zetMetricGetProperties(metrics[2], &properties));
    assert_int_equal(properties.metricType, ZET_METRIC_TYPE_RATIO);
    assert_int_equal(properties.resultType, ZET_VALUE_TYPE_FLOAT32);
}

static void global_timestamps__both_kinds__are_masked_ticks_or_host_time(void **state)
{
    zet_metric_group_handle_t group = find_group(find_device("fake0"), "Basic", TIME_BASED, NULL);
    uint64_t global = 0;
    uint64_t metric = 0;

    (void)state;
    EXPECT_OK(zetMetricGroupGetGlobalTimestampsExp(group, 0, &global, &metric));
    assert_int_equal(global, 1000);
    assert_int_equal(metric, 1000);
    EXPECT_OK(zetMetricGroupGetGlobalTimestampsExp(group, 1, &global, &metric));
    assert_int_equal(global, 5000000);
    assert_int_equal(metric, 1000);
}

static void getters__null__documented_results(void **state)
{
    skip_in(HARNESS_READS_HANDLES, "the loader looks behind handles");
    zet_metric_group_handle_t group = find_group(find_device("fake0"), "Basic", TIME_BASED, NULL);
    zet_metric_group_properties_t group_properties = {0};
    zet_metric_properties_t properties = {0};
    zet_metric_handle_t metric = NULL;
    uint32_t count = 1;
    uint64_t time = 77;

    (void)state;
    EXPECT_OK(zetMetricGet(group, &count, &metric));
    EXPECT_RESULT(zetMetricGroupGetProperties(NULL, &group_properties),
                  ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    EXPECT_RESULT(zetMetricGroupGetProperties(group, NULL), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    EXPECT_RESULT(zetMetricGet(NULL, &count, &metric), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    EXPECT_RESULT(zetMetricGet(group, NULL, &metric), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    EXPECT_RESULT(zetMetricGetProperties(NULL, &properties), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    EXPECT_RESULT(zetMetricGetProperties(metric, NULL), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    EXPECT_RESULT(zetMetricGroupGetGlobalTimestampsExp(NULL, 0, &time, &time),
                  ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    EXPECT_RESULT(zetMetricGroupGetGlobalTimestampsExp(group, 0, NULL, &time),
                  ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    EXPECT_RESULT(zetMetricGroupGetGlobalTimestampsExp(group, 0, &time, NULL),
                  ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    assert_int_equal(time, 77);
}

static void zeta_group_info__periods__are_those_of_the_program(void **state)
{
    struct zeta_group_info info = {.struct_size = sizeof(info)};

    (void)state;
    EXPECT_OK(
        zetaMetricGroupGetInfo(find_group(find_device("fake0"), "Basic", TIME_BASED, NULL), &info));
    assert_int_equal(info.min_period_ns, 10000);
    EXPECT_OK(
        zetaMetricGroupGetInfo(find_group(find_device("fake0"), "Other", TIME_BASED, NULL), &info));
    assert_int_equal(info.min_period_ns, 20000);
}

static void zeta_group_info__fills_what_fits(void **state)
{
    zet_metric_group_handle_t group = find_group(find_device("fake0"), "Basic", TIME_BASED, NULL);
    struct zeta_group_info info = {.struct_size = sizeof(info)};
    struct zeta_group_info small = {.struct_size = offsetof(struct zeta_group_info, unit)};

    (void)state;
    EXPECT_OK(zetaMetricGroupGetInfo(group, &info));
    assert_string_equal(info.plugin, "fake-full");
    assert_string_equal(info.unit, "u0");
    assert_non_null(strstr(info.origin, "sets.yaml:"));
    assert_int_equal(info.min_period_ns, 10000);
    assert_int_equal(info.max_period_ns, 1000000000);
    assert_int_equal(info.holder_pid, 0);
    assert_int_equal(info.record_bytes, 64);
    assert_int_equal(info.struct_size, sizeof(info));
    EXPECT_OK(zetaMetricGroupGetInfo(group, &small));
    assert_string_equal(small.plugin, "fake-full");
    assert_null(small.unit);
    EXPECT_OK(zetaMetricGroupGetInfo(find_group(find_device("fake0"), "UserSet", TIME_BASED, NULL),
                                     &info));
    assert_non_null(strstr(info.origin, "user.yaml:"));
    EXPECT_OK(zetaMetricGroupGetInfo(find_group(find_device("fake0"), "Runtime", TIME_BASED, NULL),
                                     &info));
    assert_non_null(strstr(info.origin, "fake-full:...000"));
    assert_non_null(strstr(info.origin, "000/runtime.yaml:3"));
    EXPECT_RESULT(zetaMetricGroupGetInfo(NULL, &info), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    EXPECT_RESULT(zetaMetricGroupGetInfo(group, NULL), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
}

static void zeta_metric_info__says_the_class(void **state)
{
    static const uint32_t wanted[] = {ZETA_METRIC_CLASS_EXACT, ZETA_METRIC_CLASS_MODELLED};
    zet_metric_handle_t metrics[4];
    uint32_t count = 4;

    (void)state;
    EXPECT_OK(
        zetMetricGet(find_group(find_device("fake0"), "Basic", TIME_BASED, NULL), &count, metrics));
    for (int i = 0; i < 2; i++) {
        struct zeta_metric_info info = {.struct_size = sizeof(info), .metric_class = 77};

        EXPECT_OK(zetaMetricGetInfo(metrics[i], &info));
        assert_int_equal(info.metric_class, wanted[i]);
    }
}

/* Rule 10.20. */
static void device_info__backend_lacks_sets__says_why_once_groups_were_listed(void **state)
{
    static const char *const devices[] = {"fake0", "fake1", "fake1.1"};
    struct zeta_device_info info = {.struct_size = sizeof(info)};
    uint32_t count = 0;

    (void)state;
    for (int i = 0; i < 3; i++) {
        ze_device_handle_t device = find_device(devices[i]);

        EXPECT_OK(zetMetricGroupGet(device, &count, NULL));
        EXPECT_OK(zetaDeviceGetInfo(device, &info));
        assert_string_equal(info.metric_note, FAKE_SETS_NOTE);
    }
    EXPECT_OK(zetMetricGroupGet(find_device("bare0"), &count, NULL));
    EXPECT_OK(zetaDeviceGetInfo(find_device("bare0"), &info));
    assert_string_equal(info.metric_note, "");
}

SUITE(groups)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(device_info__backend_lacks_sets__says_why_once_groups_were_listed),
        cmocka_unit_test(group_get__order__time_based_first_and_equal_each_time),
        cmocka_unit_test(group_get__backend_without_queries__has_no_event_based_groups),
        cmocka_unit_test(group_get__counts__follow_the_two_call_rule),
        cmocka_unit_test(group_get__root_and_tiles__have_groups_of_their_own),
        cmocka_unit_test(group_properties__stype_zero_with_a_chain__is_served),
        cmocka_unit_test(group_properties__garbage_in_pnext__is_not_followed),
        cmocka_unit_test(group_properties__same_unit__same_source),
        cmocka_unit_test(metric_get__basic__has_its_metrics_and_those_of_the_layout),
        cmocka_unit_test(metric_properties__all_members__are_those_of_the_set),
        cmocka_unit_test(global_timestamps__both_kinds__are_masked_ticks_or_host_time),
        cmocka_unit_test(getters__null__documented_results),
        cmocka_unit_test(zeta_group_info__periods__are_those_of_the_program),
        cmocka_unit_test(zeta_group_info__fills_what_fits),
        cmocka_unit_test(zeta_metric_info__says_the_class),
    };

    return cmocka_run_group_tests(tests, set_up, NULL);
}
