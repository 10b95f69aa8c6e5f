/* What queries give: values, sizes, and in which kinds of lists they work. */
#include "tests/query_api/query_bed.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

struct bed {
    const struct harness *h;
    zet_metric_group_handle_t group;
    zet_metric_query_pool_handle_t pool;
    zet_metric_query_handle_t queries[4];
    ze_kernel_handle_t add;
    uint64_t *target;
};

static struct bed make_bed(void **state)
{
    const struct harness *h = *state;
    struct bed bed = {.h = h, .group = query_bed_group(h, "Work", EVENT_BASED)};

    bed.pool = query_bed_pool(h, 4);
    for (uint32_t i = 0; i < 4; i++)
        bed.queries[i] = query_bed_query(bed.pool, i);
    bed.target = harness_memory(h, sizeof(*bed.target));
    bed.add = harness_add_kernel(h, bed.target, 5);
    return bed;
}

static void drop_bed(struct bed *bed)
{
    query_bed_drop(bed->pool, bed->queries, 4);
    assert_success(zeKernelDestroy(bed->add));
    assert_success(zeMemFree(bed->h->context, bed->target));
}

static void expect_work(const struct bed *bed, uint32_t query, uint64_t launches, uint64_t added)
{
    assert_int_equal(query_bed_value(bed->h, bed->queries[query], "Launches"), launches);
    assert_int_equal(query_bed_value(bed->h, bed->queries[query], "Added"), added);
}

static void values__work_before_between_and_after__only_between_counts(void **state)
{
    struct bed bed = make_bed(state);
    ze_command_list_handle_t list = harness_list(bed.h);
    uint64_t source = 1;

    assert_success(harness_launch(list, bed.add, NULL, 0, NULL));
    assert_success(zetCommandListAppendMetricQueryBegin(list, bed.queries[0]));
    assert_success(harness_launch(list, bed.add, NULL, 0, NULL));
    assert_success(harness_launch(list, bed.add, NULL, 0, NULL));
    assert_success(
        zeCommandListAppendMemoryCopy(list, bed.target, &source, sizeof(source), NULL, 0, NULL));
    assert_success(query_bed_append_end(list, bed.queries[0], NULL));
    assert_success(harness_launch(list, bed.add, NULL, 0, NULL));
    query_bed_run(bed.h, list);
    expect_work(&bed, 0, 2, 10);
    assert_int_equal(query_bed_value(bed.h, bed.queries[0], "Copies"), 1);
    assert_int_equal(query_bed_value(bed.h, bed.queries[0], "Bytes"), 8);
    assert_int_equal(query_bed_value(bed.h, bed.queries[0], "Busy"), 1);
    assert_success(zeCommandListDestroy(list));
    drop_bed(&bed);
}

/* Rule 12.2. */
static void values__difference_above_32_bits__all_of_it(void **state)
{
    struct bed bed = make_bed(state);
    ze_kernel_handle_t large = harness_add_kernel(bed.h, bed.target, UINT64_C(1) << 40);
    ze_command_list_handle_t list = harness_list(bed.h);

    query_bed_append(bed.h, list, bed.queries[1], large);
    query_bed_run(bed.h, list);
    expect_work(&bed, 1, 1, UINT64_C(1) << 40);
    assert_success(zeCommandListDestroy(list));
    assert_success(zeKernelDestroy(large));
    drop_bed(&bed);
}

/* Three clocks are one; a time stamp says when the query began, cut to the bits of the clock.
 * Rule 12.3. */
static void values__clock__begin_and_end_of_the_query(void **state)
{
    struct bed bed = make_bed(state);
    ze_command_list_handle_t list = harness_list(bed.h);
    uint64_t before;
    uint64_t after;
    uint64_t host;
    uint64_t first;
    uint64_t last;

    assert_success(zeDeviceGetGlobalTimestamps(bed.h->device, &host, &before));
    query_bed_append(bed.h, list, bed.queries[0], bed.add);
    query_bed_run(bed.h, list);
    assert_success(zeDeviceGetGlobalTimestamps(bed.h->device, &host, &after));
    first = query_bed_value(bed.h, bed.queries[0], "FirstTick");
    last = query_bed_value(bed.h, bed.queries[0], "LastTick");
    assert_cmp(((first - before) & UINT32_MAX), <=, ((after - before) & UINT32_MAX));
    assert_cmp(((last - before) & UINT32_MAX), <=, ((after - before) & UINT32_MAX) + 1);
    assert_cmp(((last - first) & UINT32_MAX), >=, 1);
    assert_cmp(first, <=, UINT32_MAX);
    assert_cmp(last, <=, UINT32_MAX);
    assert_int_equal(query_bed_value(bed.h, bed.queries[0], "QueryBeginTime"), first * 40);
    assert_int_equal(query_bed_value(bed.h, bed.queries[0], "GpuTime"),
                     ((last - first) & UINT32_MAX) * 40);
    assert_success(zeCommandListDestroy(list));
    drop_bed(&bed);
}

/* Rule 12.2. */
static void values__set_of_samples__those_of_the_whole_query(void **state)
{
    const struct harness *h = *state;
    const zet_metric_group_handle_t group = query_bed_group(h, "Intervals", EVENT_BASED);
    zet_metric_query_pool_handle_t pool;
    zet_metric_query_handle_t query;
    uint64_t *target = harness_memory(h, sizeof(*target));
    ze_kernel_handle_t large = harness_add_kernel(h, target, UINT64_C(1) << 40);
    ze_command_list_handle_t list = harness_list(h);
    uint8_t raw[1024];
    size_t bytes = sizeof(raw);

    query_bed_activate(h, NULL);
    query_bed_activate(h, group);
    pool = query_bed_pool_of(h, "Intervals", PERFORMANCE, 1);
    query = query_bed_query(pool, 0);
    query_bed_append(h, list, query, large);
    query_bed_run(h, list);
    assert_success(zetMetricQueryGetData(query, &bytes, raw));
    assert_int_equal(bytes, 48 + 8 * 6);
    assert_int_equal(query_bed_value_in(group, raw, bytes, 0, "Launches"), 1);
    assert_int_equal(query_bed_value_in(group, raw, bytes, 0, "Added"), UINT64_C(1) << 40);
    assert_cmp(query_bed_value_in(group, raw, bytes, 0, "QueryBeginTime"), <,
               query_bed_value_in(group, raw, bytes, 0, "LastTick") * 40);
    assert_success(zeCommandListDestroy(list));
    assert_success(zeKernelDestroy(large));
    assert_success(zeMemFree(h->context, target));
    query_bed_drop(pool, &query, 1);
}

/* Rule 12.2. */
static void calculate__one_query__as_many_values_as_metrics(void **state)
{
    struct bed bed = make_bed(state);
    zet_metric_group_properties_t properties = {.stype =
                                                    ZET_STRUCTURE_TYPE_METRIC_GROUP_PROPERTIES};
    ze_command_list_handle_t list = harness_list(bed.h);
    zet_typed_value_t values[32];
    uint8_t raw[1024];
    size_t bytes = 0;
    uint32_t count = 0;
    uint32_t sets = 0;
    uint32_t set_count[2] = {0};

    query_bed_append(bed.h, list, bed.queries[0], bed.add);
    query_bed_run(bed.h, list);
    assert_success(zetMetricGroupGetProperties(bed.group, &properties));
    assert_success(zetMetricQueryGetData(bed.queries[0], &bytes, NULL));
    assert_in_range(bytes, 1, sizeof(raw));
    assert_success(zetMetricQueryGetData(bed.queries[0], &bytes, raw));
    assert_success(zetMetricGroupCalculateMetricValues(
        bed.group, ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES, bytes, raw, &count, NULL));
    assert_int_equal(count, properties.metricCount);
    assert_success(zetMetricGroupCalculateMetricValues(
        bed.group, ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES, bytes, raw, &count, values));
    assert_int_equal(count, properties.metricCount);
    assert_int_equal(values[0].type, ZET_VALUE_TYPE_UINT64);
    assert_int_equal(values[0].value.ui64, 1);

    count = 0;
    assert_success(zetMetricGroupCalculateMultipleMetricValuesExp(
        bed.group, ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES, bytes, raw, &sets, &count, NULL,
        NULL));
    assert_int_equal(sets, 1);
    assert_int_equal(count, properties.metricCount);
    assert_success(zetMetricGroupCalculateMultipleMetricValuesExp(
        bed.group, ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES, bytes, raw, &sets, &count,
        set_count, values));
    assert_int_equal(set_count[0], properties.metricCount);
    assert_success(zeCommandListDestroy(list));
    drop_bed(&bed);
}

/* Rule 12.2. */
static void calculate__several_queries_in_one_piece__a_row_each(void **state)
{
    struct bed bed = make_bed(state);
    ze_command_list_handle_t list = harness_list(bed.h);
    zet_typed_value_t values[128];
    uint8_t raw[4096];
    size_t used = 0;
    uint32_t count = 128;

    for (uint32_t i = 0; i < 4; i++) {
        assert_success(zetCommandListAppendMetricQueryBegin(list, bed.queries[i]));
        for (uint32_t k = 0; k <= i; k++)
            assert_success(harness_launch(list, bed.add, NULL, 0, NULL));
        assert_success(query_bed_append_end(list, bed.queries[i], NULL));
    }
    query_bed_run(bed.h, list);
    for (uint32_t i = 0; i < 4; i++) {
        size_t bytes = sizeof(raw) - used;

        assert_success(zetMetricQueryGetData(bed.queries[i], &bytes, raw + used));
        used += bytes;
    }
    assert_success(zetMetricGroupCalculateMetricValues(
        bed.group, ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES, used + 7, raw, &count, values));
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(values[i * (count / 4)].value.ui64, i + 1);
    assert_success(zeCommandListDestroy(list));
    drop_bed(&bed);
}

/* Rule 12.2. */
static void calculate__maximum_values__percent_is_100(void **state)
{
    struct bed bed = make_bed(state);
    ze_command_list_handle_t list = harness_list(bed.h);
    zet_typed_value_t values[32];
    uint8_t raw[1024];
    size_t bytes = sizeof(raw);
    uint32_t count = 32;

    query_bed_append(bed.h, list, bed.queries[0], bed.add);
    query_bed_run(bed.h, list);
    assert_success(zetMetricQueryGetData(bed.queries[0], &bytes, raw));
    assert_success(zetMetricGroupCalculateMetricValues(
        bed.group, ZET_METRIC_GROUP_CALCULATION_TYPE_MAX_METRIC_VALUES, bytes, raw, &count,
        values));
    assert_int_equal(values[0].value.ui64, 1);
    assert_cmp(values[4].value.fp32, ==, 100.0f);
    assert_success(zeCommandListDestroy(list));
    drop_bed(&bed);
}

/* Rule 12.10. */
static void get_data__sizes__whole_records(void **state)
{
    struct bed bed = make_bed(state);
    ze_command_list_handle_t list = harness_list(bed.h);
    uint8_t raw[4096];
    size_t needed = 0;
    size_t bytes;

    assert_success(zetMetricQueryGetData(bed.queries[0], &needed, NULL));
    assert_cmp(needed, >, 0);
    assert_cmp(needed, <, sizeof(raw));
    query_bed_append(bed.h, list, bed.queries[0], bed.add);
    query_bed_run(bed.h, list);

    bytes = needed - 1;
    assert_result(ZE_RESULT_ERROR_INVALID_SIZE, zetMetricQueryGetData(bed.queries[0], &bytes, raw));
    assert_int_equal(bytes, needed);
    assert_success(zetMetricQueryGetData(bed.queries[0], &bytes, raw));
    assert_int_equal(bytes, needed);
    bytes = sizeof(raw);
    memset(raw, 0xee, sizeof(raw));
    assert_success(zetMetricQueryGetData(bed.queries[0], &bytes, raw));
    assert_int_equal(bytes, needed);
    for (size_t i = needed; i < sizeof(raw); i++)
        assert_int_equal(raw[i], 0xee);
    bytes = 0;
    assert_success(zetMetricQueryGetData(bed.queries[0], &bytes, raw));
    assert_int_equal(bytes, needed);
    bytes = 1;
    assert_success(zetMetricQueryGetData(bed.queries[0], &bytes, NULL));
    assert_int_equal(bytes, needed);
    assert_success(zeCommandListDestroy(list));
    drop_bed(&bed);
}

static void get_data__null_or_bad__documented_results(void **state)
{
    struct bed bed = make_bed(state);
    size_t bytes = 0;

    if ((harness_mode() & HARNESS_READS_HANDLES) == 0) {
        assert_result(ZE_RESULT_ERROR_INVALID_NULL_HANDLE,
                      zetMetricQueryGetData(NULL, &bytes, NULL));
        assert_result(ZE_RESULT_ERROR_INVALID_NULL_POINTER,
                      zetMetricQueryGetData(bed.queries[0], NULL, NULL));
    }
    drop_bed(&bed);
}

/* Rule 12.10. */
static void get_data__no_result__not_ready_and_size_untouched(void **state)
{
    struct bed bed = make_bed(state);
    ze_command_list_handle_t list = harness_list(bed.h);
    uint8_t raw[1024];
    size_t bytes = sizeof(raw);

    assert_result(ZE_RESULT_NOT_READY, zetMetricQueryGetData(bed.queries[0], &bytes, raw));
    query_bed_append(bed.h, list, bed.queries[0], bed.add); /* recorded, never executed */
    assert_result(ZE_RESULT_NOT_READY, zetMetricQueryGetData(bed.queries[0], &bytes, raw));
    assert_int_equal(bytes, sizeof(raw));
    query_bed_run(bed.h, list);
    assert_success(zetMetricQueryGetData(bed.queries[0], &bytes, raw));
    assert_success(zetMetricQueryReset(bed.queries[0]));
    assert_result(ZE_RESULT_NOT_READY, zetMetricQueryGetData(bed.queries[0], &bytes, raw));
    assert_success(zeCommandListDestroy(list));
    drop_bed(&bed);
}

/* Rule 12.5. */
static void get_data__new_query_in_a_used_place__not_ready(void **state)
{
    struct bed bed = make_bed(state);
    ze_command_list_handle_t list = harness_list(bed.h);
    uint8_t raw[1024];
    size_t bytes = sizeof(raw);

    query_bed_append(bed.h, list, bed.queries[0], bed.add);
    query_bed_run(bed.h, list);
    expect_work(&bed, 0, 1, 5);
    assert_success(zetMetricQueryDestroy(bed.queries[0]));
    bed.queries[0] = query_bed_query(bed.pool, 0);
    assert_result(ZE_RESULT_NOT_READY, zetMetricQueryGetData(bed.queries[0], &bytes, raw));
    assert_success(zeCommandListDestroy(list));
    drop_bed(&bed);
}

/* Rule 12.10. */
static void get_data__between_begin_and_end__not_ready(void **state)
{
    struct bed bed = make_bed(state);
    ze_kernel_handle_t hold = harness_kernel(bed.h, "hold");
    ze_command_list_handle_t list = harness_immediate(bed.h, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
    uint8_t raw[1024];
    size_t bytes = sizeof(raw);

    query_bed_append(bed.h, list, bed.queries[0], hold);
    harness_wait_holding(bed.h, 1);
    assert_result(ZE_RESULT_NOT_READY, zetMetricQueryGetData(bed.queries[0], &bytes, raw));
    bed.h->control->release();
    assert_success(zeCommandListHostSynchronize(list, UINT64_MAX));
    expect_work(&bed, 0, 1, 0);
    assert_success(zeCommandListDestroy(list));
    assert_success(zeKernelDestroy(hold));
    drop_bed(&bed);
}

static void get_data__backend_fails__its_result(void **state)
{
    struct bed bed = make_bed(state);
    uint8_t raw[1024];
    size_t bytes = sizeof(raw);

    bed.h->control->refuse_queries(ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
    assert_result(ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY,
                  zetMetricQueryGetData(bed.queries[0], &bytes, raw));
    bed.h->control->refuse_queries(0);
    drop_bed(&bed);
}

/* Rule 12.10. */
static void get_data__work_was_lost__device_lost(void **state)
{
    struct bed bed = make_bed(state);
    ze_kernel_handle_t fault = harness_kernel(bed.h, "fault");
    ze_command_queue_handle_t queue = harness_queue(bed.h, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
    ze_command_list_handle_t list = harness_list(bed.h);
    uint8_t raw[1024];
    size_t bytes = sizeof(raw);

    query_bed_append(bed.h, list, bed.queries[0], fault);
    harness_execute(queue, list, NULL);
    assert_result(ZE_RESULT_ERROR_DEVICE_LOST, zeCommandQueueSynchronize(queue, UINT64_MAX));
    assert_result(ZE_RESULT_ERROR_DEVICE_LOST, zetMetricQueryGetData(bed.queries[0], &bytes, raw));
    assert_success(zeCommandQueueDestroy(queue));
    assert_success(zeCommandListDestroy(list));
    assert_result(ZE_RESULT_NOT_READY, zetMetricQueryGetData(bed.queries[0], &bytes, raw));
    assert_success(zeKernelDestroy(fault));
    drop_bed(&bed);
}

/* Rule 12.8. */
static void lists__executed_again__result_of_the_last_time(void **state)
{
    struct bed bed = make_bed(state);
    ze_command_queue_handle_t queue = harness_queue(bed.h, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
    ze_command_list_handle_t list = harness_list(bed.h);
    uint64_t time = 0;

    query_bed_append(bed.h, list, bed.queries[0], bed.add);
    assert_success(zeCommandListClose(list));
    for (int i = 0; i < 5; i++) {
        uint64_t began;

        assert_success(zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL));
        assert_success(zeCommandQueueSynchronize(queue, UINT64_MAX));
        expect_work(&bed, 0, 1, 5);
        began = query_bed_value(bed.h, bed.queries[0], "FirstTick");
        assert_true(i == 0 || ((began - time) & UINT32_MAX) < UINT32_MAX / 2);
        time = began;
    }
    assert_success(zeCommandQueueDestroy(queue));
    assert_success(zeCommandListDestroy(list));
    drop_bed(&bed);
}

/* Rule 12.8. */
static void lists__begin_and_end_in_two_of_one_queue__work_of_all_between(void **state)
{
    struct bed bed = make_bed(state);
    ze_command_queue_handle_t queue = harness_queue(bed.h, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
    ze_command_list_handle_t lists[3];

    for (int i = 0; i < 3; i++)
        lists[i] = harness_list(bed.h);
    assert_success(zetCommandListAppendMetricQueryBegin(lists[0], bed.queries[0]));
    for (int i = 0; i < 3; i++)
        assert_success(harness_launch(lists[i], bed.add, NULL, 0, NULL));
    assert_success(query_bed_append_end(lists[2], bed.queries[0], NULL));
    for (int i = 0; i < 3; i++)
        assert_success(zeCommandListClose(lists[i]));
    assert_success(zeCommandQueueExecuteCommandLists(queue, 3, lists, NULL));
    assert_success(zeCommandQueueSynchronize(queue, UINT64_MAX));
    expect_work(&bed, 0, 3, 15);
    assert_success(zeCommandQueueDestroy(queue));
    for (int i = 0; i < 3; i++)
        assert_success(zeCommandListDestroy(lists[i]));
    drop_bed(&bed);
}

static void lists__immediate_in_both_modes__same_values(void **state)
{
    struct bed bed = make_bed(state);
    const ze_command_queue_mode_t modes[2] = {ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS,
                                              ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS};

    for (uint32_t i = 0; i < 2; i++) {
        ze_command_list_handle_t list = harness_immediate(bed.h, modes[i]);

        query_bed_append(bed.h, list, bed.queries[i], bed.add);
        assert_success(zetCommandListAppendMetricMemoryBarrier(list));
        assert_success(zeCommandListHostSynchronize(list, UINT64_MAX));
        expect_work(&bed, i, 1, 5);
        assert_success(zeCommandListDestroy(list));
    }
    drop_bed(&bed);
}

static void lists__queues_at_the_same_time__each_has_its_own_work(void **state)
{
    struct bed bed = make_bed(state);
    uint64_t *targets = harness_memory(bed.h, 4 * sizeof(*targets));
    ze_command_list_handle_t lists[4];
    ze_kernel_handle_t kernels[4];

    for (uint32_t i = 0; i < 4; i++) {
        kernels[i] = harness_add_kernel(bed.h, &targets[i], 5);
        lists[i] = harness_immediate(bed.h, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
        assert_success(zetCommandListAppendMetricQueryBegin(lists[i], bed.queries[i]));
    }
    for (uint32_t i = 0; i < 4; i++) {
        for (uint32_t k = 0; k <= i; k++)
            assert_success(harness_launch(lists[i], kernels[i], NULL, 0, NULL));
    }
    for (uint32_t i = 0; i < 4; i++) {
        assert_success(query_bed_append_end(lists[i], bed.queries[i], NULL));
        assert_success(zeCommandListHostSynchronize(lists[i], UINT64_MAX));
        expect_work(&bed, i, i + 1, 5 * (i + 1));
        assert_success(zeCommandListDestroy(lists[i]));
        assert_success(zeKernelDestroy(kernels[i]));
    }
    assert_success(zeMemFree(bed.h->context, targets));
    drop_bed(&bed);
}

/* Rule 12.8. */
static void lists__clone__has_the_query_too(void **state)
{
    skip_in(HARNESS_VALIDATION, "the layer is older than the flag for lists that can be cloned");
    struct bed bed = make_bed(state);
    const ze_command_list_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC,
                                         .flags = ZE_COMMAND_LIST_FLAG_EXP_CLONEABLE};
    ze_command_list_handle_t list = NULL;
    ze_command_list_handle_t clone = NULL;
    ze_command_queue_handle_t queue = harness_queue(bed.h, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);

    assert_success(zeCommandListCreate(bed.h->context, bed.h->device, &desc, &list));
    query_bed_append(bed.h, list, bed.queries[0], bed.add);
    assert_success(zeCommandListClose(list));
    assert_success(zeCommandListCreateCloneExp(list, &clone));
    assert_success(zeCommandListDestroy(list));
    assert_success(zeCommandQueueExecuteCommandLists(queue, 1, &clone, NULL));
    assert_success(zeCommandQueueSynchronize(queue, UINT64_MAX));
    expect_work(&bed, 0, 1, 5);
    assert_success(zeCommandQueueDestroy(queue));
    assert_success(zeCommandListDestroy(clone));
    drop_bed(&bed);
}

static void lists__mutable__changes_inside_and_of_the_end_count(void **state)
{
    skip_in(HARNESS_LOADER, "the functions are newer than the loader");
    struct bed bed = make_bed(state);
    const ze_mutable_command_list_exp_desc_t chained = {
        .stype = ZE_STRUCTURE_TYPE_MUTABLE_COMMAND_LIST_EXP_DESC};
    const ze_command_list_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC,
                                         .pNext = &chained};
    const ze_mutable_command_id_exp_desc_t launch = {
        .stype = ZE_STRUCTURE_TYPE_MUTABLE_COMMAND_ID_EXP_DESC,
        .flags = ZE_MUTABLE_COMMAND_EXP_FLAG_KERNEL_ARGUMENTS};
    const ze_mutable_command_id_exp_desc_t end = {
        .stype = ZE_STRUCTURE_TYPE_MUTABLE_COMMAND_ID_EXP_DESC,
        .flags = ZE_MUTABLE_COMMAND_EXP_FLAG_SIGNAL_EVENT};
    uint64_t value = 21;
    ze_mutable_kernel_argument_exp_desc_t argument = {
        .stype = ZE_STRUCTURE_TYPE_MUTABLE_KERNEL_ARGUMENT_EXP_DESC,
        .argIndex = 1,
        .argSize = sizeof(value),
        .pArgValue = &value};
    const ze_mutable_commands_exp_desc_t change = {
        .stype = ZE_STRUCTURE_TYPE_MUTABLE_COMMANDS_EXP_DESC, .pNext = &argument};
    ze_event_pool_handle_t pool = harness_pool(bed.h, ZE_EVENT_POOL_FLAG_HOST_VISIBLE, 2);
    ze_event_handle_t events[2] = {harness_event(pool, 0), harness_event(pool, 1)};
    ze_command_list_handle_t list = NULL;
    uint64_t id = 0;

    assert_success(zeCommandListCreate(bed.h->context, bed.h->device, &desc, &list));
    assert_success(zetCommandListAppendMetricQueryBegin(list, bed.queries[0]));
    assert_success(zeCommandListGetNextCommandIdExp(list, &launch, &argument.commandId));
    assert_success(harness_launch(list, bed.add, NULL, 0, NULL));
    assert_success(zeCommandListGetNextCommandIdExp(list, &end, &id));
    assert_success(query_bed_append_end(list, bed.queries[0], events[0]));
    assert_success(zeCommandListClose(list));
    assert_success(zeCommandListUpdateMutableCommandsExp(list, &change));
    assert_success(zeCommandListUpdateMutableCommandSignalEventExp(list, id, events[1]));
    query_bed_run(bed.h, list);
    expect_work(&bed, 0, 1, 21);
    assert_result(ZE_RESULT_NOT_READY, zeEventQueryStatus(events[0]));
    assert_success(zeEventQueryStatus(events[1]));
    assert_success(zeCommandListDestroy(list));
    for (int i = 0; i < 2; i++)
        assert_success(zeEventDestroy(events[i]));
    assert_success(zeEventPoolDestroy(pool));
    drop_bed(&bed);
}

static void lists__reset__query_can_be_destroyed_with_its_pool(void **state)
{
    struct bed bed = make_bed(state);
    ze_command_list_handle_t list = harness_list(bed.h);

    query_bed_append(bed.h, list, bed.queries[0], bed.add);
    query_bed_run(bed.h, list);
    assert_success(zeCommandListReset(list));
    drop_bed(&bed);
    assert_int_equal(bed.h->control->live_pools(), 0);
    assert_success(zeCommandListDestroy(list));
}

/* Rule 12.8. */
static void graph__recorded_and_executed_twice__result_of_the_last_time(void **state)
{
    skip_in(HARNESS_ANY_LOADER, "graphs are newer than the loader");
    struct bed bed = make_bed(state);
    ze_command_list_handle_t list = harness_immediate(bed.h, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
    ze_graph_handle_t graph = NULL;
    ze_executable_graph_handle_t executable = NULL;
    uint8_t raw[1024];
    size_t bytes = sizeof(raw);

    assert_success(zeCommandListBeginGraphCaptureExt(list, NULL));
    query_bed_append(bed.h, list, bed.queries[0], bed.add);
    assert_success(zeCommandListEndGraphCaptureExt(list, NULL, &graph));
    assert_success(zeGraphInstantiateExt(graph, NULL, &executable));
    assert_result(ZE_RESULT_NOT_READY, zetMetricQueryGetData(bed.queries[0], &bytes, raw));
    for (int i = 0; i < 2; i++) {
        assert_success(zeCommandListAppendGraphExt(list, executable, NULL, NULL, 0, NULL));
        assert_success(zeCommandListHostSynchronize(list, UINT64_MAX));
        expect_work(&bed, 0, 1, 5);
    }
    assert_success(zeExecutableGraphDestroyExt(executable));
    assert_success(zeGraphDestroyExt(graph));
    assert_success(zeCommandListDestroy(list));
    drop_bed(&bed);
}

/* Rule 12.6. */
static void graph__execution_in_flight__query_is_in_use(void **state)
{
    skip_in(HARNESS_ANY_LOADER, "graphs are newer than the loader");
    struct bed bed = make_bed(state);
    ze_kernel_handle_t hold = harness_kernel(bed.h, "hold");
    ze_command_list_handle_t list = harness_immediate(bed.h, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
    ze_graph_handle_t graph = NULL;
    ze_executable_graph_handle_t executable = NULL;

    assert_success(zeCommandListBeginGraphCaptureExt(list, NULL));
    query_bed_append(bed.h, list, bed.queries[0], hold);
    assert_success(zeCommandListEndGraphCaptureExt(list, NULL, &graph));
    assert_success(zeGraphInstantiateExt(graph, NULL, &executable));
    assert_success(zeCommandListAppendGraphExt(list, executable, NULL, NULL, 0, NULL));
    harness_wait_holding(bed.h, 1);
    assert_result(ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE, zetMetricQueryDestroy(bed.queries[0]));
    bed.h->control->release();
    assert_success(zeCommandListHostSynchronize(list, UINT64_MAX));
    assert_success(zeExecutableGraphDestroyExt(executable));
    assert_success(zeGraphDestroyExt(graph));
    assert_success(zeCommandListDestroy(list));
    assert_success(zeKernelDestroy(hold));
    drop_bed(&bed);
}

static void thousand_queries__one_list_and_pool__each_its_launch(void **state)
{
    const struct harness *h = *state;
    enum { COUNT = 1024 };
    zet_metric_query_pool_handle_t pool = query_bed_pool(h, COUNT);
    zet_metric_query_handle_t *queries = calloc(COUNT, sizeof(*queries));
    ze_command_list_handle_t list = harness_list(h);
    uint64_t *target = harness_memory(h, sizeof(*target));
    ze_kernel_handle_t add = harness_add_kernel(h, target, 1);

    for (uint32_t i = 0; i < COUNT; i++) {
        queries[i] = query_bed_query(pool, i);
        query_bed_append(h, list, queries[i], i % 3 ? add : NULL);
    }
    query_bed_run(h, list);
    for (uint32_t i = 0; i < COUNT; i++)
        assert_int_equal(query_bed_value(h, queries[i], "Launches"), i % 3 ? 1 : 0);
    assert_success(zeCommandListDestroy(list));
    query_bed_drop(pool, queries, COUNT);
    assert_success(zeKernelDestroy(add));
    assert_success(zeMemFree(h->context, target));
    free(queries);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, query_bed_begin, query_bed_end)

SUITE(query_data)
{
    const struct CMUnitTest tests[] = {
        TEST(values__work_before_between_and_after__only_between_counts),
        TEST(values__difference_above_32_bits__all_of_it),
        TEST(values__clock__begin_and_end_of_the_query),
        TEST(values__set_of_samples__those_of_the_whole_query),
        TEST(calculate__one_query__as_many_values_as_metrics),
        TEST(calculate__several_queries_in_one_piece__a_row_each),
        TEST(calculate__maximum_values__percent_is_100),
        TEST(get_data__sizes__whole_records),
        TEST(get_data__null_or_bad__documented_results),
        TEST(get_data__no_result__not_ready_and_size_untouched),
        TEST(get_data__new_query_in_a_used_place__not_ready),
        TEST(get_data__between_begin_and_end__not_ready),
        TEST(get_data__backend_fails__its_result),
        TEST(get_data__work_was_lost__device_lost),
        TEST(lists__executed_again__result_of_the_last_time),
        TEST(lists__begin_and_end_in_two_of_one_queue__work_of_all_between),
        TEST(lists__immediate_in_both_modes__same_values),
        TEST(lists__queues_at_the_same_time__each_has_its_own_work),
        TEST(lists__clone__has_the_query_too),
        TEST(lists__mutable__changes_inside_and_of_the_end_count),
        TEST(lists__reset__query_can_be_destroyed_with_its_pool),
        TEST(graph__recorded_and_executed_twice__result_of_the_last_time),
        TEST(graph__execution_in_flight__query_is_in_use),
        TEST(thousand_queries__one_list_and_pool__each_its_launch),
    };

    return cmocka_run_group_tests(tests, query_bed_setup, query_bed_teardown);
}
