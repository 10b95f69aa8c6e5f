/* Which groups can be collected together. */
#include <stdlib.h>
#include <string.h>

#include "tests/programmable/bed.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

/* Rule 15.15. */
static void groups_of_one_domain__need_a_pass_each(void **state)
{
    const struct bed *bed = *state;
    zet_metric_group_handle_t oa = find_group(bed->device, "ComputeBasic", TIME_BASED, NULL);
    zet_metric_group_handle_t memory = find_group(bed->device, "MemoryProfile", TIME_BASED, NULL);
    zet_metric_group_handle_t dispatch =
        find_group(bed->device, "ThreadDispatch", TIME_BASED, NULL);
    zet_metric_group_handle_t groups[3] = {oa, memory, dispatch};
    uint32_t counts[3] = {0};
    uint32_t passes = 99;

    EXPECT_OK(zetDeviceGetConcurrentMetricGroupsExp(bed->device, 3, groups, counts, &passes));
    assert_int_equal(passes, 2);
    assert_int_equal(counts[0] + counts[1], 3);
    assert_ptr_equal(groups[0], oa);
    assert_ptr_equal(groups[1], dispatch);
    assert_ptr_equal(groups[2], memory);
}

/* Rule 15.15. */
static void without_counts__only_the_number_is_given(void **state)
{
    const struct bed *bed = *state;
    zet_metric_group_handle_t oa = find_group(bed->device, "ComputeBasic", TIME_BASED, NULL);
    zet_metric_group_handle_t memory = find_group(bed->device, "MemoryProfile", TIME_BASED, NULL);
    zet_metric_group_handle_t groups[2] = {memory, oa};
    uint32_t passes = 0; /* not a capacity */

    EXPECT_OK(zetDeviceGetConcurrentMetricGroupsExp(bed->device, 2, groups, NULL, &passes));
    assert_int_equal(passes, 2);
    assert_ptr_equal(groups[0], memory);
}

/* Rule 15.15. */
static void each_set__can_be_activated(void **state)
{
    const struct bed *bed = *state;
    zet_metric_group_handle_t groups[MAX_GROUPS];
    uint32_t counts[MAX_GROUPS];
    uint32_t count = MAX_GROUPS;
    uint32_t passes = 0;
    uint32_t at = 0;

    EXPECT_OK(zetMetricGroupGet(bed->device, &count, groups));
    EXPECT_OK(zetDeviceGetConcurrentMetricGroupsExp(bed->device, count, groups, counts, &passes));
    assert_cmp(passes, >, 0);
    assert_cmp(passes, <, count);
    for (uint32_t i = 0; i < passes; i++) {
        assert_cmp(counts[i], >, 0);
        EXPECT_OK(
            zetContextActivateMetricGroups(bed->context, bed->device, counts[i], groups + at));
        at += counts[i];
    }
    assert_int_equal(at, count);
    EXPECT_OK(zetContextActivateMetricGroups(bed->context, bed->device, 0, NULL));
}

static void user_groups__are_sorted_like_others(void **state)
{
    const struct bed *bed = *state;
    zet_metric_handle_t metrics[2];
    zet_metric_group_handle_t made[2];
    zet_metric_group_handle_t groups[3];
    uint32_t counts[3];
    uint32_t passes = 0;

    (void)bed_make(bed, "InstRetired", TIME_BASED, 0, NULL, &metrics[0]);
    (void)bed_make(bed, "GroupsDispatched", TIME_BASED, 0, NULL, &metrics[1]);
    /* Two units: two groups, which run side by side. */
    assert_int_equal(bed_pack(bed, 2, metrics, made), 2);
    groups[0] = made[0];
    groups[1] = find_group(bed->device, "ComputeBasic", TIME_BASED, NULL);
    groups[2] = made[1];
    EXPECT_OK(zetDeviceGetConcurrentMetricGroupsExp(bed->device, 3, groups, counts, &passes));
    assert_int_equal(passes, 2);
    bed_drop(2, made, 2, metrics);
}

static void bad_input__is_refused(void **state)
{
    const struct bed *bed = *state;
    zet_metric_group_handle_t group = find_group(bed->device, "ComputeBasic", TIME_BASED, NULL);
    zet_metric_group_handle_t none = NULL;
    uint32_t counts[1];
    uint32_t passes = 5;

    EXPECT_RESULT(zetDeviceGetConcurrentMetricGroupsExp(NULL, 1, &group, counts, &passes),
                  ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    EXPECT_RESULT(zetDeviceGetConcurrentMetricGroupsExp(bed->device, 1, NULL, counts, &passes),
                  ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    EXPECT_RESULT(zetDeviceGetConcurrentMetricGroupsExp(bed->device, 1, &group, counts, NULL),
                  ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    EXPECT_RESULT(zetDeviceGetConcurrentMetricGroupsExp(bed->device, 1, &none, counts, &passes),
                  ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    assert_int_equal(passes, 5);
    EXPECT_OK(zetDeviceGetConcurrentMetricGroupsExp(bed->device, 0, &group, counts, &passes));
    assert_int_equal(passes, 0);
}

SUITE(concurrent)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(groups_of_one_domain__need_a_pass_each),
        cmocka_unit_test(without_counts__only_the_number_is_given),
        cmocka_unit_test(each_set__can_be_activated),
        cmocka_unit_test(user_groups__are_sorted_like_others),
        cmocka_unit_test(bad_input__is_refused),
    };

    return cmocka_run_group_tests_name("programmable.concurrent", tests, bed_setup, bed_teardown);
}
