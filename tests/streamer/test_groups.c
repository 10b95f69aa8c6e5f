/* What groups say about themselves, and thousands of objects of them. */
#include <stdlib.h>
#include <string.h>

#include "streaming.h"
#include "tests/sanitizer.h"
#include "tests/support/suite.h"

enum { MOST_GROUPS = 64, MOST = 1500 };

#define MANY (HAVE_THREAD_SANITIZER ? 100u : (uint32_t)MOST)

/** All that can be chained to the properties of a group. */
struct described {
    zet_metric_group_properties_t properties;
    zet_metric_group_type_exp_t type;
    zet_metric_source_id_exp_t source;
    zet_export_dma_buf_exp_properties_t memory;
    struct zeta_group_info info;
};

static void describe(zet_metric_group_handle_t group, struct described *out)
{
    memset(out, 0, sizeof(*out));
    out->memory.stype = ZET_STRUCTURE_TYPE_EXPORT_DMA_EXP_PROPERTIES;
    out->memory.fd = 7;
    out->memory.size = 9;
    out->source.stype = ZET_STRUCTURE_TYPE_METRIC_SOURCE_ID_EXP;
    out->source.pNext = &out->memory;
    out->type.stype = ZET_STRUCTURE_TYPE_METRIC_GROUP_TYPE_EXP;
    out->type.pNext = &out->source;
    out->properties.stype = ZET_STRUCTURE_TYPE_METRIC_GROUP_PROPERTIES;
    out->properties.pNext = &out->type;
    out->info.struct_size = sizeof(out->info);
    EXPECT_OK(zetMetricGroupGetProperties(group, &out->properties));
    EXPECT_OK(zetaMetricGroupGetInfo(group, &out->info));
}

/* Rules 10.16, 10.17. */
static void type_and_source__of_every_group__tell_unit_and_markers(void **state)
{
    static struct described all[MOST_GROUPS];
    const struct bed *bed = *state;
    zet_metric_group_handle_t groups[MOST_GROUPS];
    uint32_t count = MOST_GROUPS, marked = 0;

    EXPECT_OK(zetMetricGroupGet(bed->device, &count, groups));
    assert_in_range(count, 10, MOST_GROUPS - 1);
    for (uint32_t i = 0; i < count; i++) {
        const struct described *group = &all[i];
        bool takes;

        describe(groups[i], &all[i]);
        takes = strcmp(group->info.unit, "oa") == 0 || strcmp(group->info.unit, "dispatch") == 0 ||
                strcmp(group->info.unit, "trace-device") == 0;
        assert_int_equal(group->type.type, ZET_METRIC_GROUP_TYPE_EXP_FLAG_OTHER |
                                               (takes ? ZET_METRIC_GROUP_TYPE_EXP_FLAG_MARKER : 0));
        marked += takes;
        /* There is no memory of reports that another process could map. */
        assert_int_equal(group->memory.fd, -1);
        assert_int_equal(group->memory.size, 0);
        for (uint32_t j = 0; j < i; j++)
            assert_int_equal(group->source.sourceId == all[j].source.sourceId,
                             strcmp(group->info.unit, all[j].info.unit) == 0);
    }
    assert_in_range(marked, 4, count - 1);
}

/** Thousands of queries, metrics and groups live side by side, and are gone afterwards.
 * Rule 10.18. */
static void objects__thousands_of_them__live_side_by_side(void **state)
{
    static zet_metric_query_handle_t queries[MOST];
    static zet_metric_handle_t metrics[MOST];
    static zet_metric_group_handle_t groups[MOST];
    static zet_metric_query_pool_handle_t pools[MOST];
    const struct bed *bed = *state;
    zet_metric_programmable_exp_handle_t programmable;
    zet_metric_query_pool_handle_t pool = bed_pool(bed, bed->dispatch, MANY);
    uint32_t count = 1;

    EXPECT_OK(zetMetricProgrammableGetExp(bed->device, &count, &programmable));
    for (uint32_t i = 0; i < MANY; i++) {
        queries[i] = bed_query(pool, i);
        pools[i] = bed_pool(bed, bed->compute, 1);
        count = 1;
        EXPECT_OK(zetMetricCreateFromProgrammableExp2(programmable, 0, NULL, "Many", "one of many",
                                                      &count, &metrics[i]));
        count = 1;
        EXPECT_OK(zetDeviceCreateMetricGroupsFromMetricsExp(bed->device, 1, &metrics[i], "many",
                                                            "one of many", &count, &groups[i]));
    }
    EXPECT_OK(zetContextActivateMetricGroups(bed->context, bed->device, 1, &groups[MANY - 1]));
    EXPECT_RESULT(zetMetricGroupDestroyExp(groups[MANY - 1]), ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    EXPECT_OK(zetContextActivateMetricGroups(bed->context, bed->device, 0, NULL));
    for (uint32_t i = 0; i < MANY; i++) {
        EXPECT_RESULT(zetDeviceDisableMetricsExp(bed->device),
                      ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
        EXPECT_OK(zetMetricQueryDestroy(queries[i]));
        EXPECT_OK(zetMetricQueryPoolDestroy(pools[i]));
        EXPECT_OK(zetMetricGroupDestroyExp(groups[i]));
        EXPECT_OK(zetMetricDestroyExp(metrics[i]));
    }
    EXPECT_RESULT(zetDeviceDisableMetricsExp(bed->device), ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    EXPECT_OK(zetMetricQueryPoolDestroy(pool));
    EXPECT_OK(zetDeviceDisableMetricsExp(bed->device));
    EXPECT_OK(zetDeviceEnableMetricsExp(bed->device));
}

/** Streams follow each other thousands of times; the unit is free each time. Rule 10.18. */
static void streams__thousands_of_times__each_gives_its_first_rows(void **state)
{
    const struct bed *bed = *state;
    struct streaming stream = streaming_of(bed->device, "ComputeBasic");
    struct streaming *active[] = {&stream};

    streaming_activate(bed, active, 1);
    for (uint32_t i = 0; i < MANY; i++) {
        streaming_open(bed, &stream, 10240, i % 100, NULL);
        (void)streaming_read(&stream, UINT32_MAX, 16);
        streaming_close(&stream);
    }
    EXPECT_OK(zetContextActivateMetricGroups(bed->context, bed->device, 0, NULL));
}

SUITE(groups)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(type_and_source__of_every_group__tell_unit_and_markers),
        cmocka_unit_test(objects__thousands_of_them__live_side_by_side),
        cmocka_unit_test(streams__thousands_of_times__each_gives_its_first_rows),
    };

    return cmocka_run_group_tests(tests, bed_setup, bed_teardown);
}
