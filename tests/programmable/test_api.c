/* Results of every function of programmables, and the life of what they make. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/programmable/bed.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

#define BAD_HANDLE ZE_RESULT_ERROR_INVALID_NULL_HANDLE
#define BAD_POINTER ZE_RESULT_ERROR_INVALID_NULL_POINTER
#define BAD_ARGUMENT ZE_RESULT_ERROR_INVALID_ARGUMENT
#define IN_USE ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE

enum { WHOLE, BY_TILE, BY_SLICE, BY_SUBSLICE, BY_EU };

/** A handle that is none, where it is safe to pass one. */
static void *garbage(void)
{
    static uint64_t words[64];

    return words;
}

static zet_metric_programmable_exp_handle_t inst(const struct bed *bed)
{
    return bed_find(bed, "InstRetired", TIME_BASED);
}

static zet_metric_handle_t make_one(const struct bed *bed, const char *name)
{
    zet_metric_handle_t metric = NULL;

    assert_int_equal(bed_make(bed, name, TIME_BASED, 0, NULL, &metric), 1);
    return metric;
}

static zet_metric_group_handle_t open_group(const struct bed *bed)
{
    zet_metric_group_handle_t group = NULL;

    EXPECT_OK(zetMetricGroupCreateExp(bed->device, "mine", "of a test", TIME_BASED, &group));
    return group;
}

static ze_result_t activate(const struct bed *bed, zet_metric_group_handle_t group)
{
    return zetContextActivateMetricGroups(bed->context, bed->device, group ? 1 : 0,
                                          group ? &group : NULL);
}

static uint32_t metric_count(zet_metric_group_handle_t group)
{
    uint32_t count = 0;

    EXPECT_OK(zetMetricGet(group, &count, NULL));
    return count;
}

/* Programmables --------------------------------------------------------------------------------
 */

/* Rule 15.1. */
static void programmables__are_listed__time_based_first(void **state)
{
    const struct bed *bed = *state;
    zet_metric_programmable_exp_handle_t all[MAX_METRICS];
    uint32_t available = 0;
    uint32_t count = MAX_METRICS;
    bool events = false;

    EXPECT_OK(zetMetricProgrammableGetExp(bed->device, &available, NULL));
    assert_cmp(available, >, 20);
    EXPECT_OK(zetMetricProgrammableGetExp(bed->device, &count, all));
    assert_int_equal(count, available);
    for (uint32_t i = 0; i < count; i++) {
        zet_metric_programmable_exp_properties_t properties = {
            .stype = ZET_STRUCTURE_TYPE_METRIC_PROGRAMMABLE_EXP_PROPERTIES};

        EXPECT_OK(zetMetricProgrammableGetPropertiesExp(all[i], &properties));
        assert_true(properties.samplingType == TIME_BASED ||
                    properties.samplingType == EVENT_BASED);
        assert_cmp(properties.parameterCount, >=, 1);
        assert_cmp(properties.tierNumber, >=, 1);
        assert_cmp(properties.tierNumber, <=, 4);
        assert_cmp(properties.name[0], !=, '\0');
        assert_cmp(properties.description[0], !=, '\0');
        events |= properties.samplingType == EVENT_BASED;
        assert_true(!events || properties.samplingType == EVENT_BASED);
    }
    assert_true(events);
    count = 3;
    EXPECT_OK(zetMetricProgrammableGetExp(bed->device, &count, all));
    assert_int_equal(count, 3);
    EXPECT_RESULT(zetMetricProgrammableGetExp(NULL, &count, all), BAD_HANDLE);
    EXPECT_RESULT(zetMetricProgrammableGetExp(bed->device, NULL, all), BAD_POINTER);
}

/* Rule 15.1. */
static void parameters__are_described__with_their_values(void **state)
{
    const struct bed *bed = *state;
    zet_metric_programmable_exp_handle_t all[MAX_METRICS];
    uint32_t count = MAX_METRICS;

    EXPECT_OK(zetMetricProgrammableGetExp(bed->device, &count, all));
    for (uint32_t i = 0; i < count; i++) {
        zet_metric_programmable_param_info_exp_t info[8] = {{0}};
        uint32_t parameters = 8;

        EXPECT_OK(zetMetricProgrammableGetParamInfoExp(all[i], &parameters, info));
        for (uint32_t p = 0; p < parameters; p++) {
            zet_metric_programmable_param_value_info_exp_t values[64] = {{0}};
            uint32_t value_count = 64;

            /* Older tools do not know the type, and look at the first ten only. */
            assert_true(i >= 10 || info[p].type != ZET_METRIC_PROGRAMMABLE_PARAM_TYPE_EXP_GENERIC);
            EXPECT_OK(zetMetricProgrammableGetParamValueInfoExp(all[i], p, &value_count, values));
            assert_int_equal(value_count, info[p].valueInfoCount);
            assert_cmp(value_count, >=, 1);
            for (uint32_t v = 0; v < value_count; v++)
                assert_cmp(values[v].description[0], !=, '\0');
            assert_cmp(info[p].name[0], !=, '\0');
        }
    }
}

static void descriptions__of_parameters__follow_the_rules_of_counts(void **state)
{
    const struct bed *bed = *state;
    zet_metric_programmable_param_info_exp_t info[8];
    zet_metric_programmable_param_value_info_exp_t values[8];
    uint32_t count = 1;

    EXPECT_OK(zetMetricProgrammableGetParamInfoExp(inst(bed), &count, info));
    assert_int_equal(count, 1);
    EXPECT_RESULT(zetMetricProgrammableGetParamInfoExp(NULL, &count, info), BAD_HANDLE);
    EXPECT_RESULT(zetMetricProgrammableGetParamInfoExp(inst(bed), NULL, info), BAD_POINTER);
    EXPECT_RESULT(zetMetricProgrammableGetParamInfoExp(inst(bed), &count, NULL), BAD_POINTER);
    EXPECT_RESULT(zetMetricProgrammableGetPropertiesExp(NULL, NULL), BAD_HANDLE);
    EXPECT_RESULT(zetMetricProgrammableGetPropertiesExp(inst(bed), NULL), BAD_POINTER);
    count = 1;
    EXPECT_OK(zetMetricProgrammableGetParamValueInfoExp(inst(bed), 0, &count, values));
    assert_int_equal(count, 1);
    EXPECT_RESULT(zetMetricProgrammableGetParamValueInfoExp(inst(bed), 3, &count, values),
                  BAD_ARGUMENT);
    EXPECT_RESULT(zetMetricProgrammableGetParamValueInfoExp(NULL, 0, &count, values), BAD_HANDLE);
    EXPECT_RESULT(zetMetricProgrammableGetParamValueInfoExp(inst(bed), 0, NULL, values),
                  BAD_POINTER);
    EXPECT_RESULT(zetMetricProgrammableGetParamValueInfoExp(inst(bed), 0, &count, NULL),
                  BAD_POINTER);
}

/* Metrics --------------------------------------------------------------------------------------
 */

/* Rule 15.3. */
static void disaggregation__gives_metrics__with_suffixes(void **state)
{
    const struct bed *bed = *state;
    zet_metric_programmable_param_value_exp_t scope = {.value.ui32 = BY_SUBSLICE};
    zet_metric_handle_t metrics[BED_SUBSLICES + 1];
    uint32_t count = 0;

    EXPECT_OK(zetMetricCreateFromProgrammableExp2(inst(bed), 1, &scope, "inst", "d", &count, NULL));
    assert_int_equal(count, BED_SUBSLICES);
    count = 2;
    EXPECT_OK(
        zetMetricCreateFromProgrammableExp2(inst(bed), 1, &scope, "inst", "d", &count, metrics));
    assert_int_equal(count, 2);
    bed_drop(0, NULL, 2, metrics);
    count = BED_SUBSLICES + 1;
    EXPECT_OK(
        zetMetricCreateFromProgrammableExp(inst(bed), &scope, 1, "inst", "d", &count, metrics));
    assert_int_equal(count, BED_SUBSLICES);
    for (uint32_t i = 0; i < count; i++) {
        zet_metric_properties_t properties = {.stype = ZET_STRUCTURE_TYPE_METRIC_PROPERTIES};
        char wanted[32];

        (void)snprintf(wanted, sizeof(wanted), "inst_Subslice%u", i);
        EXPECT_OK(zetMetricGetProperties(metrics[i], &properties));
        assert_string_equal(properties.name, wanted);
        assert_string_equal(properties.description, "d");
        assert_string_equal(properties.resultUnits, "instructions");
        assert_int_equal(properties.resultType, ZET_VALUE_TYPE_UINT64);
    }
    bed_drop(0, NULL, count, metrics);
}

/* Rule 15.2. */
static void creation__with_bad_values__says_what_is_allowed(void **state)
{
    const struct bed *bed = *state;
    zet_metric_programmable_param_value_exp_t values[4] = {{.value.ui32 = 77}};
    zet_metric_handle_t metric = NULL;
    uint32_t count = 1;
    char name[ZET_MAX_METRIC_NAME + 1];

#define CREATE(from, number, values, name, text)                                                   \
    zetMetricCreateFromProgrammableExp2(from, number, values, name, text, &count, &metric)
#define CREATE_OLD(from, values, number, name, text)                                               \
    zetMetricCreateFromProgrammableExp(from, values, number, name, text, &count, &metric)
    EXPECT_RESULT(CREATE(inst(bed), 1, values, "n", "d"), BAD_ARGUMENT);
    expect_sentence("cannot be 77; allowed: 0 (The whole device.), 1 (");
    values[0].value.ui32 = WHOLE;
    EXPECT_RESULT(CREATE(inst(bed), 4, values, "n", "d"), BAD_ARGUMENT);
    expect_sentence("has 3 parameters, but 4 values");
    EXPECT_RESULT(CREATE(inst(bed), 0, NULL, "", "d"), BAD_ARGUMENT);
    memset(name, 'n', sizeof(name));
    name[sizeof(name) - 1] = '\0';
    EXPECT_RESULT(CREATE(inst(bed), 0, NULL, name, "d"), BAD_ARGUMENT);
    EXPECT_RESULT(CREATE(inst(bed), 0, NULL, "n", name), BAD_ARGUMENT);
    EXPECT_RESULT(CREATE(NULL, 0, NULL, "n", "d"), BAD_HANDLE);
    EXPECT_RESULT(CREATE(inst(bed), 1, NULL, "n", "d"), BAD_POINTER);
    EXPECT_RESULT(CREATE(inst(bed), 0, NULL, NULL, "d"), BAD_POINTER);
    EXPECT_RESULT(CREATE(inst(bed), 0, NULL, "n", NULL), BAD_POINTER);
    EXPECT_RESULT(zetMetricCreateFromProgrammableExp2(inst(bed), 0, NULL, "n", "d", NULL, &metric),
                  BAD_POINTER);
    EXPECT_RESULT(CREATE_OLD(inst(bed), NULL, 1, "n", "d"), BAD_POINTER);
    EXPECT_RESULT(CREATE_OLD(inst(bed), NULL, 0, NULL, "d"), BAD_POINTER);
    EXPECT_RESULT(CREATE_OLD(inst(bed), NULL, 0, "n", NULL), BAD_POINTER);
    EXPECT_RESULT(CREATE_OLD(NULL, NULL, 0, "n", "d"), BAD_HANDLE);
    EXPECT_RESULT(CREATE_OLD(inst(bed), values, 4, "n", "d"), BAD_ARGUMENT);
    expect_sentence("has 3 parameters, but 4 values");
#undef CREATE
#undef CREATE_OLD
    assert_null(metric);
    assert_int_equal(count, 1);
}

/* Rule 15.2. */
static void missing_values__are_the_defaults(void **state)
{
    const struct bed *bed = *state;
    zet_metric_properties_t properties = {.stype = ZET_STRUCTURE_TYPE_METRIC_PROPERTIES};
    zet_metric_handle_t metric = make_one(bed, "EuActive");

    EXPECT_OK(zetMetricGetProperties(metric, &properties));
    assert_string_equal(properties.resultUnits, "percent");
    EXPECT_OK(zetMetricDestroyExp(metric));
}

/* Rule 15.10. */
static void destroying__a_metric__is_refused_while_a_group_holds_it(void **state)
{
    const struct bed *bed = *state;
    zet_metric_handle_t metric = make_one(bed, "InstRetired");
    zet_metric_group_handle_t group = open_group(bed);
    zet_metric_handle_t predefined = NULL;
    uint32_t count = 1;

    EXPECT_OK(zetMetricGroupAddMetricExp(group, metric, NULL, NULL));
    EXPECT_RESULT(zetMetricDestroyExp(metric), IN_USE);
    EXPECT_OK(zetMetricGroupDestroyExp(group));
    EXPECT_OK(zetMetricDestroyExp(metric)); /* it survived its group */
    EXPECT_OK(zetMetricGet(find_group(bed->device, "ComputeBasic", TIME_BASED, NULL), &count,
                           &predefined));
    EXPECT_RESULT(zetMetricDestroyExp(predefined), BAD_ARGUMENT);
    EXPECT_RESULT(zetMetricDestroyExp(NULL), BAD_HANDLE);
    skip_in(HARNESS_READS_HANDLES, "the loader reads the memory behind handles");
    EXPECT_RESULT(zetMetricDestroyExp(metric), BAD_HANDLE);
    EXPECT_RESULT(zetMetricDestroyExp(garbage()), BAD_HANDLE);
}

/* Groups from metrics --------------------------------------------------------------------------
 */

/* Rule 15.4. */
static void packing__takes_as_few_groups_as_counters_allow(void **state)
{
    const struct bed *bed = *state;
    const uint32_t scope = BY_EU;
    zet_metric_handle_t metrics[MAX_METRICS];
    zet_metric_group_handle_t groups[MAX_GROUPS];
    const uint32_t count = bed_make(bed, "InstRetired", TIME_BASED, 1, &scope, metrics);
    uint32_t needed = 0;

    assert_int_equal(count, BED_EUS);
    EXPECT_OK(zetDeviceCreateMetricGroupsFromMetricsExp(bed->device, count, metrics, "eus", "d",
                                                        &needed, NULL));
    assert_int_equal(needed, BED_EUS / 16);
    needed = BED_EUS / 16 - 1;
    EXPECT_RESULT(zetDeviceCreateMetricGroupsFromMetricsExp(bed->device, count, metrics, "eus", "d",
                                                            &needed, groups),
                  BAD_ARGUMENT);
    needed = MAX_GROUPS;
    EXPECT_OK(zetDeviceCreateMetricGroupsFromMetricsExp(bed->device, count, metrics, "eus", "d",
                                                        &needed, groups));
    assert_int_equal(needed, BED_EUS / 16);
    bed_drop(needed, groups, count, metrics);
}

/* Rule 15.4. */
static void equal_counters__share_a_slot(void **state)
{
    const struct bed *bed = *state;
    const uint32_t scope = BY_SUBSLICE;
    zet_metric_handle_t metrics[20 * BED_SUBSLICES];
    zet_metric_group_handle_t groups[MAX_GROUPS];

    /* Twenty times the same four counters. */
    for (uint32_t i = 0; i < 20; i++)
        (void)bed_make(bed, "FpOps", TIME_BASED, 1, &scope, metrics + i * BED_SUBSLICES);
    assert_int_equal(bed_pack(bed, 20 * BED_SUBSLICES, metrics, groups), 1);
    bed_drop(1, groups, 20 * BED_SUBSLICES, metrics);
}

/* Rule 15.5. */
static void packed_groups__are_ready_and_not_enumerated(void **state)
{
    const struct bed *bed = *state;
    zet_metric_handle_t metric = make_one(bed, "InstRetired");
    zet_metric_group_type_exp_t type = {.stype = ZET_STRUCTURE_TYPE_METRIC_GROUP_TYPE_EXP};
    zet_metric_group_properties_t properties = {.stype = ZET_STRUCTURE_TYPE_METRIC_GROUP_PROPERTIES,
                                                .pNext = &type};
    zet_metric_handle_t first = NULL;
    zet_metric_group_handle_t all[MAX_GROUPS];
    zet_metric_group_handle_t group = NULL;
    uint32_t count = MAX_GROUPS;

    assert_int_equal(bed_pack(bed, 1, &metric, &group), 1);
    EXPECT_OK(zetMetricGroupGetProperties(group, &properties));
    assert_string_equal(properties.name, "bed_1");
    assert_int_equal(properties.samplingType, TIME_BASED);
    assert_cmp((type.type & ZET_METRIC_GROUP_TYPE_EXP_FLAG_USER_CREATED), !=, 0);
    EXPECT_OK(zetMetricGroupGet(bed->device, &count, all));
    for (uint32_t i = 0; i < count; i++)
        assert_ptr_not_equal(all[i], group);
    count = 1;
    EXPECT_OK(zetMetricGet(group, &count, &first));
    assert_ptr_equal(first, metric);
    (void)metric_index(group, "GpuTime");
    (void)metric_index(group, "QueryBeginTime");
    EXPECT_OK(activate(bed, group));
    EXPECT_RESULT(zetMetricGroupDestroyExp(group), IN_USE);
    EXPECT_OK(activate(bed, NULL));
    bed_drop(1, &group, 1, &metric);
}

static void packing__of_bad_input__is_refused(void **state)
{
    const struct bed *bed = *state;
    zet_metric_handle_t metric = make_one(bed, "InstRetired");
    zet_metric_handle_t none = NULL;
    zet_metric_handle_t predefined = NULL;
    zet_metric_group_handle_t group = NULL;
    char prefix[ZET_MAX_METRIC_GROUP_NAME_PREFIX_EXP + 1];
    uint32_t count = 1;

    EXPECT_OK(zetMetricGet(find_group(bed->device, "ComputeBasic", TIME_BASED, NULL), &count,
                           &predefined));
    memset(prefix, 'p', sizeof(prefix));
    prefix[sizeof(prefix) - 1] = '\0';
#define PACK(device, n, metrics, prefix, text, counts)                                             \
    zetDeviceCreateMetricGroupsFromMetricsExp(device, n, metrics, prefix, text, counts, &group)
    EXPECT_RESULT(PACK(NULL, 1, &metric, "p", "d", &count), BAD_HANDLE);
    EXPECT_RESULT(PACK(bed->device, 1, NULL, "p", "d", &count), BAD_POINTER);
    EXPECT_RESULT(PACK(bed->device, 1, &none, "p", "d", &count), BAD_HANDLE);
    EXPECT_RESULT(PACK(bed->device, 1, &metric, NULL, "d", &count), BAD_POINTER);
    EXPECT_RESULT(PACK(bed->device, 1, &metric, "p", NULL, &count), BAD_POINTER);
    EXPECT_RESULT(PACK(bed->device, 1, &metric, "p", "d", NULL), BAD_POINTER);
    EXPECT_RESULT(PACK(bed->device, 0, &metric, "p", "d", &count), BAD_ARGUMENT);
    EXPECT_RESULT(PACK(bed->device, 1, &metric, prefix, "d", &count), BAD_ARGUMENT);
    EXPECT_RESULT(PACK(bed->device, 1, &predefined, "p", "d", &count), BAD_ARGUMENT);
#undef PACK
    assert_null(group);
    EXPECT_OK(zetMetricDestroyExp(metric));
}

/* Groups step by step --------------------------------------------------------------------------
 */

/* Rule 15.6. */
static void creation_of_groups__with_bad_input__is_refused(void **state)
{
    const struct bed *bed = *state;
    zet_metric_group_handle_t group = NULL;
    char name[ZET_MAX_METRIC_GROUP_NAME + 1];

    memset(name, 'n', sizeof(name));
    name[sizeof(name) - 1] = '\0';
    EXPECT_RESULT(zetMetricGroupCreateExp(NULL, "n", "d", TIME_BASED, &group), BAD_HANDLE);
    EXPECT_RESULT(zetMetricGroupCreateExp(bed->device, NULL, "d", TIME_BASED, &group), BAD_POINTER);
    EXPECT_RESULT(zetMetricGroupCreateExp(bed->device, "n", NULL, TIME_BASED, &group), BAD_POINTER);
    EXPECT_RESULT(zetMetricGroupCreateExp(bed->device, "n", "d", TIME_BASED, NULL), BAD_POINTER);
    EXPECT_RESULT(zetMetricGroupCreateExp(bed->device, "n", "d", 8, &group),
                  ZE_RESULT_ERROR_INVALID_ENUMERATION);
    EXPECT_RESULT(zetMetricGroupCreateExp(bed->device, "n", "d", TIME_BASED | EVENT_BASED, &group),
                  BAD_ARGUMENT);
    EXPECT_RESULT(zetMetricGroupCreateExp(bed->device, "n", "d",
                                          ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EXP_TRACER_BASED,
                                          &group),
                  ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
    EXPECT_RESULT(zetMetricGroupCreateExp(bed->device, name, "d", TIME_BASED, &group),
                  BAD_ARGUMENT);
    assert_null(group);
}

/* Rule 15.6. */
static void a_group__is_filled_closed_and_used(void **state)
{
    const struct bed *bed = *state;
    zet_metric_handle_t one = make_one(bed, "InstRetired");
    zet_metric_handle_t two = make_one(bed, "FpOps");
    zet_metric_group_handle_t group = open_group(bed);

    assert_int_equal(metric_count(group), 0);
    EXPECT_OK(zetMetricGroupAddMetricExp(group, one, NULL, NULL));
    EXPECT_OK(zetMetricGroupAddMetricExp(group, one, NULL, NULL)); /* kept once */
    EXPECT_OK(zetMetricGroupAddMetricExp(group, two, NULL, NULL));
    assert_int_equal(metric_count(group), 2);
    EXPECT_RESULT(activate(bed, group), ZE_RESULT_NOT_READY);
    EXPECT_OK(zetMetricGroupCloseExp(group));
    EXPECT_OK(zetMetricGroupCloseExp(group));
    assert_cmp(metric_count(group), >, 2);
    EXPECT_OK(activate(bed, group));
    EXPECT_RESULT(zetMetricGroupAddMetricExp(group, two, NULL, NULL), IN_USE);
    EXPECT_RESULT(zetMetricGroupRemoveMetricExp(group, two), IN_USE);
    EXPECT_RESULT(zetMetricGroupCloseExp(group), IN_USE);
    EXPECT_RESULT(zetMetricGroupDestroyExp(group), IN_USE);
    EXPECT_OK(activate(bed, NULL));
    EXPECT_OK(zetMetricGroupRemoveMetricExp(group, one));
    EXPECT_RESULT(zetMetricGroupRemoveMetricExp(group, one), BAD_ARGUMENT);
    EXPECT_RESULT(activate(bed, group), ZE_RESULT_NOT_READY);
    EXPECT_OK(zetMetricGroupCloseExp(group));
    EXPECT_OK(activate(bed, group));
    EXPECT_OK(activate(bed, NULL));
    EXPECT_OK(zetMetricGroupDestroyExp(group));
    EXPECT_OK(zetMetricDestroyExp(one));
    EXPECT_OK(zetMetricDestroyExp(two));
}

/* Rule 15.10. */
static void predefined_groups_and_metrics__cannot_be_changed(void **state)
{
    const struct bed *bed = *state;
    zet_metric_group_handle_t basic = find_group(bed->device, "ComputeBasic", TIME_BASED, NULL);
    zet_metric_group_handle_t group = open_group(bed);
    zet_metric_handle_t metric = make_one(bed, "InstRetired");
    zet_metric_handle_t predefined = NULL;
    uint32_t count = 1;

    EXPECT_OK(zetMetricGet(basic, &count, &predefined));
    EXPECT_RESULT(zetMetricGroupAddMetricExp(basic, metric, NULL, NULL), BAD_ARGUMENT);
    EXPECT_RESULT(zetMetricGroupAddMetricExp(group, predefined, NULL, NULL), BAD_ARGUMENT);
    EXPECT_RESULT(zetMetricGroupRemoveMetricExp(basic, predefined), BAD_ARGUMENT);
    EXPECT_RESULT(zetMetricGroupRemoveMetricExp(group, predefined), BAD_ARGUMENT);
    EXPECT_RESULT(zetMetricGroupCloseExp(basic), BAD_ARGUMENT);
    EXPECT_RESULT(zetMetricGroupDestroyExp(basic), BAD_ARGUMENT);
    EXPECT_RESULT(zetMetricGroupAddMetricExp(NULL, metric, NULL, NULL), BAD_HANDLE);
    EXPECT_RESULT(zetMetricGroupAddMetricExp(group, NULL, NULL, NULL), BAD_HANDLE);
    EXPECT_RESULT(zetMetricGroupRemoveMetricExp(NULL, metric), BAD_HANDLE);
    EXPECT_RESULT(zetMetricGroupRemoveMetricExp(group, NULL), BAD_HANDLE);
    EXPECT_RESULT(zetMetricGroupCloseExp(NULL), BAD_HANDLE);
    EXPECT_RESULT(zetMetricGroupDestroyExp(NULL), BAD_HANDLE);
    bed_drop(1, &group, 1, &metric);
}

/* Rule 15.7. */
static void metrics_that_do_not_fit__leave_a_sentence(void **state)
{
    const struct bed *bed = *state;
    const uint32_t scope = BY_EU;
    zet_metric_handle_t eus[BED_EUS];
    zet_metric_handle_t other = make_one(bed, "GroupsDispatched");
    zet_metric_handle_t event = NULL;
    zet_metric_group_handle_t group = open_group(bed);
    char text[512] = "";
    char few[8];
    size_t needed = 0;
    size_t size = sizeof(text);

    (void)bed_make(bed, "InstRetired", TIME_BASED, 1, &scope, eus);
    (void)bed_make(bed, "InstRetired", EVENT_BASED, 0, NULL, &event);
    for (uint32_t i = 0; i < 16; i++)
        EXPECT_OK(zetMetricGroupAddMetricExp(group, eus[i], &needed, NULL));
    assert_int_equal(needed, 0); /* only failures have a sentence */
    EXPECT_RESULT(zetMetricGroupAddMetricExp(group, eus[16], &needed, NULL), BAD_ARGUMENT);
    assert_cmp(needed, >, 1);
    EXPECT_RESULT(zetMetricGroupAddMetricExp(group, eus[16], &size, text), BAD_ARGUMENT);
    assert_int_equal(size, needed);
    assert_int_equal(strlen(text) + 1, needed);
    assert_non_null(strstr(text, "17 counters of unit oa, which has 16"));
    size = sizeof(few);
    EXPECT_RESULT(zetMetricGroupAddMetricExp(group, eus[16], &size, few), BAD_ARGUMENT);
    assert_int_equal(size, sizeof(few));
    assert_memory_equal(few, text, sizeof(few) - 1);
    assert_int_equal(few[sizeof(few) - 1], '\0');
    size = sizeof(few); /* without room a size only asks, whatever it is */
    EXPECT_RESULT(zetMetricGroupAddMetricExp(group, eus[16], &size, NULL), BAD_ARGUMENT);
    assert_int_equal(size, needed);
    memset(text, 'x', sizeof(text));
    size = 0;
    EXPECT_RESULT(zetMetricGroupAddMetricExp(group, eus[16], &size, text), BAD_ARGUMENT);
    assert_int_equal(size, needed);
    EXPECT_RESULT(zetMetricGroupAddMetricExp(group, eus[16], NULL, text), BAD_ARGUMENT);
    assert_int_equal(text[0], 'x');
    EXPECT_RESULT(zetMetricGroupAddMetricExp(group, eus[16], &size, text), BAD_ARGUMENT);
    assert_int_equal(strlen(text) + 1, needed);
    assert_int_equal(text[needed], 'x');
    size = sizeof(text);
    EXPECT_RESULT(zetMetricGroupAddMetricExp(group, other, &size, text), BAD_ARGUMENT);
    assert_non_null(strstr(text, "several sources"));
    size = sizeof(text);
    EXPECT_RESULT(zetMetricGroupAddMetricExp(group, event, &size, text), BAD_ARGUMENT);
    assert_non_null(strstr(text, "sampled by event"));
    assert_int_equal(metric_count(group), 16);
    EXPECT_OK(zetMetricGroupDestroyExp(group));
    EXPECT_OK(zetMetricDestroyExp(other));
    EXPECT_OK(zetMetricDestroyExp(event));
    bed_drop(0, NULL, BED_EUS, eus);
}

/* Rule 15.8. */
static void a_stream__of_a_destroyed_group__can_be_closed(void **state)
{
    const struct bed *bed = *state;
    zet_metric_handle_t metric = make_one(bed, "InstRetired");
    zet_metric_streamer_desc_t desc = {.stype = ZET_STRUCTURE_TYPE_METRIC_STREAMER_DESC,
                                       .samplingPeriod = 1000000};
    zet_metric_streamer_handle_t streamer = NULL;
    zet_metric_group_handle_t group = NULL;
    uint8_t raw[8192];
    size_t bytes = sizeof(raw);

    (void)bed_pack(bed, 1, &metric, &group);
    EXPECT_OK(activate(bed, group));
    EXPECT_OK(zetMetricStreamerOpen(bed->context, bed->device, group, &desc, NULL, &streamer));
    EXPECT_OK(activate(bed, NULL)); /* stops the stream */
    bed_drop(1, &group, 1, &metric);
    EXPECT_OK(zetMetricStreamerReadData(streamer, UINT32_MAX, &bytes, raw));
    EXPECT_OK(zetMetricStreamerClose(streamer));
}

/* Rule 15.8. */
static void a_pool__keeps_its_group_from_changes(void **state)
{
    const struct bed *bed = *state;
    const zet_metric_query_pool_desc_t desc = {.stype = ZET_STRUCTURE_TYPE_METRIC_QUERY_POOL_DESC,
                                               .type = ZET_METRIC_QUERY_POOL_TYPE_PERFORMANCE,
                                               .count = 1};
    zet_metric_query_pool_handle_t pool = NULL;
    zet_metric_group_handle_t group = NULL;
    zet_metric_handle_t metrics[2];

    (void)bed_make(bed, "InstRetired", EVENT_BASED, 0, NULL, &metrics[0]);
    (void)bed_make(bed, "FpOps", EVENT_BASED, 0, NULL, &metrics[1]);
    (void)bed_pack(bed, 1, metrics, &group);
    EXPECT_OK(zetMetricQueryPoolCreate(bed->context, bed->device, group, &desc, &pool));
    EXPECT_RESULT(zetMetricGroupAddMetricExp(group, metrics[1], NULL, NULL), IN_USE);
    EXPECT_RESULT(zetMetricGroupRemoveMetricExp(group, metrics[0]), IN_USE);
    EXPECT_OK(zetMetricGroupDestroyExp(group)); /* the pool still has it */
    EXPECT_OK(zetMetricQueryPoolDestroy(pool));
    bed_drop(0, NULL, 2, metrics);
}

/* Rule 15.11. */
static void disabling__waits_for_metrics_and_groups(void **state)
{
    const struct bed *bed = *state;
    zet_metric_handle_t metric = make_one(bed, "InstRetired");
    zet_metric_group_handle_t group = NULL;

    EXPECT_RESULT(zetDeviceDisableMetricsExp(bed->device), IN_USE);
    expect_sentence("zetMetricDestroyExp");
    (void)bed_pack(bed, 1, &metric, &group);
    EXPECT_RESULT(zetDeviceDisableMetricsExp(bed->device), IN_USE);
    expect_sentence("zetMetricGroupDestroyExp");
    bed_drop(1, &group, 1, &metric);
    EXPECT_OK(zetDeviceDisableMetricsExp(bed->device));
    EXPECT_OK(zetDeviceEnableMetricsExp(bed->device));
}

static void extensions__are_listed(void **state)
{
    const struct bed *bed = *state;
    ze_driver_extension_properties_t all[128];
    uint32_t count = 128;
    uint32_t found = 0;

    EXPECT_OK(zeDriverGetExtensionProperties(bed->driver, &count, all));
    for (uint32_t i = 0; i < count; i++)
        found += strcmp(all[i].name, ZET_PROGRAMMABLE_METRICS_EXP_NAME) == 0 ||
                 strcmp(all[i].name, ZET_CONCURRENT_METRIC_GROUPS_EXP_NAME) == 0;
    assert_int_equal(found, 2);
}

SUITE(api)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(programmables__are_listed__time_based_first),
        cmocka_unit_test(parameters__are_described__with_their_values),
        cmocka_unit_test(descriptions__of_parameters__follow_the_rules_of_counts),
        cmocka_unit_test(disaggregation__gives_metrics__with_suffixes),
        cmocka_unit_test(creation__with_bad_values__says_what_is_allowed),
        cmocka_unit_test(missing_values__are_the_defaults),
        cmocka_unit_test(destroying__a_metric__is_refused_while_a_group_holds_it),
        cmocka_unit_test(packing__takes_as_few_groups_as_counters_allow),
        cmocka_unit_test(equal_counters__share_a_slot),
        cmocka_unit_test(packed_groups__are_ready_and_not_enumerated),
        cmocka_unit_test(packing__of_bad_input__is_refused),
        cmocka_unit_test(creation_of_groups__with_bad_input__is_refused),
        cmocka_unit_test(a_group__is_filled_closed_and_used),
        cmocka_unit_test(predefined_groups_and_metrics__cannot_be_changed),
        cmocka_unit_test(metrics_that_do_not_fit__leave_a_sentence),
        cmocka_unit_test(a_stream__of_a_destroyed_group__can_be_closed),
        cmocka_unit_test(a_pool__keeps_its_group_from_changes),
        cmocka_unit_test(disabling__waits_for_metrics_and_groups),
        cmocka_unit_test(extensions__are_listed),
    };

    return cmocka_run_group_tests_name("programmable.api", tests, bed_setup, bed_teardown);
}
