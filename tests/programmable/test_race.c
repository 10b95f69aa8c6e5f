/* Calls that use an application's group while another thread changes, closes or destroys it. */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include <zeta/zeta.h>

#include "tests/programmable/bed.h"
#include "tests/support/suite.h"

enum { ROUNDS = 400 };

/** The group that one thread changes and the others use. */
struct shared {
    const struct bed *bed;
    zet_metric_group_sampling_type_flags_t sampling;
    zet_metric_handle_t metrics[2];
    _Atomic(zet_metric_group_handle_t) group;
    atomic_bool over;
    _Atomic uint32_t wrong;   /**< results that no rule knows */
    _Atomic uint32_t changes; /**< that succeeded */
};

static void note(struct shared *shared, ze_result_t result)
{
    switch (result) {
    case ZE_RESULT_SUCCESS:
    case ZE_RESULT_NOT_READY:
    case ZE_RESULT_ERROR_INVALID_NULL_HANDLE:
    case ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE:
        break;
    default:
        atomic_fetch_add(&shared->wrong, 1);
    }
}

/** Raw data of zeros: nothing in it, but every call has to look at the group's set. */
static void calculate(struct shared *shared, zet_metric_group_handle_t group)
{
    static const uint8_t raw[4 * 512];
    zet_typed_value_t values[64];
    uint8_t export[65536];
    uint32_t count = 64;
    uint32_t sets = 1;
    uint32_t of_set[1];
    size_t bytes = sizeof(export);

    note(shared,
         zetMetricGroupCalculateMetricValues(group, ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES,
                                             0, raw, &count, values));
    count = 64;
    note(shared, zetMetricGroupCalculateMultipleMetricValuesExp(
                     group, ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES, 0, raw, &sets, &count,
                     of_set, values));
    note(shared, zetMetricGroupGetExportDataExp(group, raw, 0, &bytes, export));
}

static void look(struct shared *shared, zet_metric_group_handle_t group)
{
    zet_metric_group_type_exp_t type = {.stype = ZET_STRUCTURE_TYPE_METRIC_GROUP_TYPE_EXP};
    zet_metric_group_properties_t properties = {.stype = ZET_STRUCTURE_TYPE_METRIC_GROUP_PROPERTIES,
                                                .pNext = &type};
    struct zeta_group_info info = {.struct_size = sizeof(info)};
    zet_metric_handle_t metrics[64];
    zet_metric_group_handle_t groups[1] = {group};
    uint32_t count = 0;
    uint32_t passes = 0;

    note(shared, zetMetricGroupGetProperties(group, &properties));
    note(shared, zetMetricGet(group, &count, NULL));
    if (count > 64)
        count = 64;
    note(shared, zetMetricGet(group, &count, metrics));
    for (uint32_t i = 0; i < count && i < 64; i++) {
        zet_metric_properties_t metric = {.stype = ZET_STRUCTURE_TYPE_METRIC_PROPERTIES};
        struct zeta_metric_info metric_info = {.struct_size = sizeof(metric_info)};

        note(shared, zetMetricGetProperties(metrics[i], &metric));
        note(shared, zetaMetricGetInfo(metrics[i], &metric_info));
    }
    note(shared, zetaMetricGroupGetInfo(group, &info));
    note(shared,
         zetDeviceGetConcurrentMetricGroupsExp(shared->bed->device, 1, groups, NULL, &passes));
}

static void pool(struct shared *shared, zet_metric_group_handle_t group)
{
    const zet_metric_query_pool_desc_t desc = {.stype = ZET_STRUCTURE_TYPE_METRIC_QUERY_POOL_DESC,
                                               .type = ZET_METRIC_QUERY_POOL_TYPE_PERFORMANCE,
                                               .count = 1};
    zet_metric_query_pool_handle_t made = NULL;
    ze_result_t result;

    if (shared->sampling != EVENT_BASED)
        return;
    result =
        zetMetricQueryPoolCreate(shared->bed->context, shared->bed->device, group, &desc, &made);
    note(shared, result);
    if (result == ZE_RESULT_SUCCESS)
        note(shared, zetMetricQueryPoolDestroy(made));
}

static void *use(void *context)
{
    struct shared *shared = context;

    while (!atomic_load(&shared->over)) {
        zet_metric_group_handle_t group = atomic_load(&shared->group);

        look(shared, group);
        calculate(shared, group);
        pool(shared, group);
    }
    return NULL;
}

static zet_metric_group_handle_t make_group(const struct shared *shared)
{
    zet_metric_group_handle_t group = NULL;

    EXPECT_OK(zetMetricGroupCreateExp(shared->bed->device, "Raced", "d", shared->sampling, &group));
    return group;
}

/** A metric that ends right after it left the group, while others still describe it. */
static void add_for_a_moment(struct shared *shared, zet_metric_group_handle_t group)
{
    zet_metric_handle_t metric = NULL;
    ze_result_t result;

    (void)bed_make(shared->bed, "L1Hits", shared->sampling, 0, NULL, &metric);
    result = zetMetricGroupAddMetricExp(group, metric, NULL, NULL);
    note(shared, result);
    if (result == ZE_RESULT_SUCCESS)
        while (zetMetricGroupRemoveMetricExp(group, metric) == ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE)
            ;
    EXPECT_OK(zetMetricDestroyExp(metric));
}

/**
 * Adds and removes metrics, closes now and then, and replaces the group after some rounds. Goes on
 * until a change fell between the uses.
 */
static void change(struct shared *shared)
{
    for (uint32_t i = 0; i < ROUNDS || atomic_load(&shared->changes) == 0; i++) {
        zet_metric_group_handle_t group = atomic_load(&shared->group);
        zet_metric_handle_t metric = shared->metrics[i % 2];
        ze_result_t result;

        add_for_a_moment(shared, group);
        result = zetMetricGroupAddMetricExp(group, metric, NULL, NULL);
        note(shared, result);
        if (result != ZE_RESULT_SUCCESS)
            continue;
        atomic_fetch_add(&shared->changes, 1);
        if (i % 16 == 0)
            note(shared, zetMetricGroupCloseExp(group));
        if (i % 2)
            while (zetMetricGroupRemoveMetricExp(group, metric) ==
                   ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE)
                ;
        if (i % 8 == 7) {
            atomic_store(&shared->group, make_group(shared));
            EXPECT_OK(zetMetricGroupDestroyExp(group));
        }
    }
}

static void race(const struct bed *bed, zet_metric_group_sampling_type_flags_t sampling)
{
    struct shared shared = {.bed = bed, .sampling = sampling};
    pthread_t threads[2];

    (void)bed_make(bed, "InstRetired", sampling, 0, NULL, &shared.metrics[0]);
    (void)bed_make(bed, "FpOps", sampling, 0, NULL, &shared.metrics[1]);
    atomic_store(&shared.group, make_group(&shared));
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, use, &shared), 0);
    change(&shared);
    atomic_store(&shared.over, true);
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_int_equal(shared.wrong, 0);
    EXPECT_OK(zetMetricGroupDestroyExp(shared.group));
    bed_drop(0, NULL, 2, shared.metrics);
}

/* Rule 15.9. */
static void streamed_group__changed_while_it_is_used__old_or_new(void **state)
{
    race(*state, TIME_BASED);
}

/* Rule 15.9. */
static void queried_group__changed_while_it_is_used__old_or_new(void **state)
{
    race(*state, EVENT_BASED);
}

SUITE(race)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(streamed_group__changed_while_it_is_used__old_or_new),
        cmocka_unit_test(queried_group__changed_while_it_is_used__old_or_new),
    };

    return cmocka_run_group_tests(tests, bed_setup, bed_teardown);
}
