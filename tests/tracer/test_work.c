/* Events of known work: counts by closed formulas, values, order and times. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/query/bed.h"
#include "tests/support/suite.h"
#include "tracing.h"

#define TICK_NS 40u

/* What one list did, as the host knows it. */
struct product {
    struct bed_matmul matmul;
    ze_kernel_timestamp_result_t kernel, copy; /* of the events of both commands */
};

static ze_event_handle_t timed_event(const struct bed *bed, ze_event_pool_handle_t *out_pool)
{
    const ze_event_pool_desc_t pool = {.stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC,
                                       .flags = ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP |
                                                ZE_EVENT_POOL_FLAG_HOST_VISIBLE,
                                       .count = 1};
    const ze_event_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_DESC};
    ze_event_handle_t event = NULL;

    EXPECT_OK(zeEventPoolCreate(bed->context, &pool, 0, NULL, out_pool));
    EXPECT_OK(zeEventCreate(*out_pool, &desc, &event));
    return event;
}

/* A matrix product and a copy of its result, each with an event that has times. */
static void run_product(const struct bed *bed, struct product *product, uint32_t n)
{
    ze_command_list_handle_t list = bed_list(bed);
    ze_command_queue_handle_t queue = bed_queue(bed);
    const ze_group_count_t groups = {n / 16, n / 16, 1};
    ze_event_pool_handle_t pools[2];
    ze_event_handle_t events[2] = {timed_event(bed, &pools[0]), timed_event(bed, &pools[1])};

    product->matmul = bed_matmul_make(bed, n);
    EXPECT_OK(
        zeCommandListAppendLaunchKernel(list, product->matmul.kernel, &groups, events[0], 0, NULL));
    EXPECT_OK(zeCommandListAppendBarrier(list, NULL, 0, NULL));
    EXPECT_OK(zeCommandListAppendMemoryCopy(list, product->matmul.memory,
                                            product->matmul.memory + 2 * n * n,
                                            sizeof(float) * n * n, events[1], 0, NULL));
    EXPECT_OK(zeCommandListClose(list));
    bed_run(queue, list);
    EXPECT_OK(zeEventQueryKernelTimestamp(events[0], &product->kernel));
    EXPECT_OK(zeEventQueryKernelTimestamp(events[1], &product->copy));
    for (int i = 0; i < 2; i++) {
        EXPECT_OK(zeEventDestroy(events[i]));
        EXPECT_OK(zeEventPoolDestroy(pools[i]));
    }
    EXPECT_OK(zeCommandListDestroy(list));
    EXPECT_OK(zeCommandQueueDestroy(queue));
}

static uint64_t time_of(const struct tracing *tracing, const char *metric)
{
    return tracing_entry(tracing, metric, 0)->timeStamp;
}

/* A span of entries lies in the span of an event. */
static void expect_within(const struct tracing *tracing, const char *first, const char *last,
                          const ze_kernel_timestamp_result_t *event)
{
    const uint64_t begin = event->global.kernelStart * TICK_NS;
    const uint64_t end = event->global.kernelEnd * TICK_NS;

    assert_true(tracing_in_order(begin, time_of(tracing, first)));
    assert_true(tracing_in_order(time_of(tracing, first), time_of(tracing, last)));
    assert_true(tracing_in_order(time_of(tracing, last), end));
}

/* Rules 22.2, 22.3. */
static void product__all_events__closed_formulas_and_times_hold(void **state)
{
    enum { N = 64, GROUPS = N / 16 * (N / 16) };
    const struct bed *bed = *state;
    struct tracing tracing = tracing_begin(bed, NULL);
    bool seen[GROUPS] = {false};
    struct product product;

    tracing_enable(&tracing);
    run_product(bed, &product, N);
    tracing_disable(&tracing);
    tracing_read(&tracing);
    tracing_decode(&tracing);
    assert_false(tracing.dropped);
    assert_int_equal(tracing.sets, 1);

    assert_int_equal(tracing_count(&tracing, "KernelBegin"), 1);
    assert_int_equal(tracing_count(&tracing, "KernelEnd"), 1);
    assert_int_equal(tracing_sum(&tracing, "KernelBeginGroups"), GROUPS);
    assert_int_equal(tracing_sum(&tracing, "KernelBeginItems"), 256);
    assert_int_equal(tracing_count(&tracing, "GroupBegin"), GROUPS);
    assert_int_equal(tracing_count(&tracing, "GroupEnd"), GROUPS);
    for (uint32_t i = 0; i < GROUPS; i++) {
        const uint32_t x = tracing_entry(&tracing, "GroupEndX", i)->value.ui32;
        const uint32_t y = tracing_entry(&tracing, "GroupEndY", i)->value.ui32;

        assert_in_range(x, 0, N / 16 - 1);
        assert_in_range(y, 0, N / 16 - 1);
        assert_false(seen[y * (N / 16) + x]);
        seen[y * (N / 16) + x] = true;
        assert_int_equal(tracing_entry(&tracing, "GroupBegin", i)->value.ui64,
                         tracing_entry(&tracing, "KernelBegin", 0)->value.ui64);
    }
    /* Each group goes through N / 16 tiles with two barriers each, of 256 work-items. */
    assert_int_equal(tracing_count(&tracing, "Barrier"), GROUPS * 2 * N / 16);
    assert_int_equal(tracing_sum(&tracing, "BarrierItems"), (uint64_t)N * N * N / 8);
    assert_int_equal(tracing_count(&tracing, "CopyBegin"), 1);
    assert_int_equal(tracing_sum(&tracing, "CopyBegin"), sizeof(float) * N * N);
    assert_int_equal(tracing_sum(&tracing, "CopyEnd"), sizeof(float) * N * N);
    assert_int_equal(tracing_entry(&tracing, "CopyBeginTarget", 0)->value.ui64,
                     (uint64_t)(uintptr_t)product.matmul.memory);
    assert_int_equal(tracing_entry(&tracing, "WorkProcess", 0)->value.ui32, getpid());
    assert_int_equal(tracing_count(&tracing, "Fault"), 0);
    expect_within(&tracing, "KernelBegin", "KernelEnd", &product.kernel);
    expect_within(&tracing, "GroupBegin", "GroupEnd", &product.kernel);
    expect_within(&tracing, "CopyBegin", "CopyEnd", &product.copy);
    bed_matmul_drop(bed, &product.matmul);
    tracing_end(&tracing);
}

/* Rule 22.11. */
static void markers__between_kernels__lie_where_they_were_set(void **state)
{
    static const uint32_t values[] = {1, UINT32_MAX, 0x9abcdef0};
    const struct bed *bed = *state;
    struct tracing tracing = tracing_begin(bed, NULL);
    ze_command_list_handle_t list = bed_immediate(bed, ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
    uint32_t *counter = bed_memory(bed, 64);
    ze_kernel_handle_t count = bed_count(bed, counter);
    uint64_t last;

    tracing_enable(&tracing);
    for (unsigned i = 0; i < 3; i++) {
        bed_count_append(list, count, 5);
        EXPECT_OK(zetCommandListAppendMarkerExp(list, tracing.groups[1], values[i]));
    }
    tracing_disable(&tracing);
    tracing_read(&tracing);
    tracing_decode(&tracing);
    assert_int_equal(tracing_count(&tracing, "Marker"), 3);
    assert_int_equal(tracing_count(&tracing, "KernelEnd"), 3);
    last = time_of(&tracing, "KernelBegin");
    for (uint32_t i = 0; i < 3; i++) {
        const zet_metric_entry_exp_t *end = tracing_entry(&tracing, "KernelEnd", i);
        const zet_metric_entry_exp_t *marker = tracing_entry(&tracing, "Marker", i);

        assert_int_equal(marker->value.ui64, values[i]);
        assert_int_equal(tracing_entry(&tracing, "MarkerStream", i)->value.ui64, 0);
        assert_true(tracing_in_order(last, end->timeStamp));
        assert_true(tracing_in_order(end->timeStamp, marker->timeStamp));
        last = marker->timeStamp;
    }
    EXPECT_OK(zeKernelDestroy(count));
    EXPECT_OK(zeMemFree(bed->context, counter));
    EXPECT_OK(zeCommandListDestroy(list));
    tracing_end(&tracing);
}

/* Rule 22.12. */
static void fault__wild_kernel__is_an_event_with_address_and_reason(void **state)
{
    const struct bed *bed = *state;
    struct tracing tracing = tracing_begin(bed, NULL);
    ze_command_queue_handle_t queue = bed_queue(bed);
    ze_command_list_handle_t list = bed_list(bed);
    ze_kernel_handle_t wild = bed_kernel(bed, "wild");
    const ze_group_count_t one = {1, 1, 1};

    EXPECT_OK(zeKernelSetGroupSize(wild, 1, 1, 1));
    EXPECT_OK(zeCommandListAppendLaunchKernel(list, wild, &one, NULL, 0, NULL));
    EXPECT_OK(zeCommandListClose(list));
    tracing_enable(&tracing);
    EXPECT_OK(zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL));
    EXPECT_RESULT(zeCommandQueueSynchronize(queue, UINT64_MAX), ZE_RESULT_ERROR_DEVICE_LOST);
    EXPECT_OK(zeCommandQueueDestroy(queue));
    tracing_disable(&tracing);
    tracing_read(&tracing);
    tracing_decode(&tracing);
    assert_int_equal(tracing_count(&tracing, "Fault"), 1);
    assert_int_equal(tracing_entry(&tracing, "Fault", 0)->value.ui64, 16);
    assert_int_equal(tracing_entry(&tracing, "FaultReason", 0)->value.ui32, 4);
    assert_int_equal(tracing_entry(&tracing, "FaultKernel", 0)->value.ui64,
                     tracing_entry(&tracing, "KernelBegin", 0)->value.ui64);
    assert_int_not_equal(tracing_entry(&tracing, "FaultIp", 0)->value.ui64, 0);
    EXPECT_OK(zeCommandListDestroy(list));
    EXPECT_OK(zeKernelDestroy(wild));
    tracing_end(&tracing);
}

/* Rule 22.5. */
static void kernel__tracer_off_in_its_middle__no_event_of_its_rest(void **state)
{
    const struct bed *bed = *state;
    struct tracing tracing = tracing_begin(bed, NULL);
    ze_command_queue_handle_t queue = bed_queue(bed);
    ze_command_list_handle_t list = bed_list(bed);
    ze_kernel_handle_t rest = bed_kernel(bed, "rest");
    _Atomic uint32_t *flag = bed_memory(bed, 64);
    const ze_group_count_t one = {1, 1, 1};

    EXPECT_OK(zeKernelSetGroupSize(rest, 16, 1, 1));
    EXPECT_OK(zeKernelSetArgumentValue(rest, 0, sizeof(flag), (const void *)&flag));
    EXPECT_OK(zeCommandListAppendLaunchKernel(list, rest, &one, NULL, 0, NULL));
    EXPECT_OK(zeCommandListClose(list));
    EXPECT_OK(zetMetricTracerEnableExp(tracing.tracer, 0));
    EXPECT_OK(zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL));
    while (atomic_load(flag) == 0)
        sleep_ms(1);
    EXPECT_OK(zetMetricTracerDisableExp(tracing.tracer, 0));
    atomic_store(flag, 0);
    EXPECT_OK(zeCommandQueueSynchronize(queue, UINT64_MAX));
    tracing_read(&tracing);
    tracing_decode(&tracing);
    /* Four of its eight barriers, and not its end. */
    assert_int_equal(tracing_count(&tracing, "Barrier"), 4);
    assert_int_equal(tracing_sum(&tracing, "BarrierItems"), 4 * 16);
    assert_int_equal(tracing_count(&tracing, "KernelBegin"), 1);
    assert_int_equal(tracing_count(&tracing, "KernelEnd"), 0);
    EXPECT_OK(zeCommandListDestroy(list));
    EXPECT_OK(zeCommandQueueDestroy(queue));
    EXPECT_OK(zeKernelDestroy(rest));
    EXPECT_OK(zeMemFree(bed->context, (void *)flag));
    tracing_end(&tracing);
}

/* Rule 22.1. */
static void groups__of_a_source__first_is_time_based_and_events_are_listed(void **state)
{
    const struct bed *bed = *state;
    zet_metric_group_properties_t status[2], traced[2];
    uint32_t first = UINT32_MAX, count = 64;
    zet_metric_group_handle_t groups[64];

    find_group(bed->device, "KernelTracer", TIME_BASED, &status[0]);
    find_group(bed->device, "DeviceTracer", TIME_BASED, &status[1]);
    find_group(bed->device, "KernelEvents", TRACER_BASED, &traced[0]);
    find_group(bed->device, "DeviceEvents", TRACER_BASED, &traced[1]);
    for (int i = 0; i < 2; i++)
        assert_int_equal(status[i].domain, traced[i].domain);
    assert_int_not_equal(traced[0].domain, traced[1].domain);
    /* The first tracer group is that of kernels and work-groups. */
    EXPECT_OK(zetMetricGroupGet(bed->device, &count, groups));
    for (uint32_t i = 0; i < count && first == UINT32_MAX; i++) {
        zet_metric_group_properties_t properties = {0};

        EXPECT_OK(zetMetricGroupGetProperties(groups[i], &properties));
        if (properties.samplingType != TRACER_BASED)
            continue;
        first = i;
        assert_string_equal(properties.name, "KernelEvents");
    }
    assert_int_not_equal(first, UINT32_MAX);
}

SUITE(work)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(groups__of_a_source__first_is_time_based_and_events_are_listed),
        cmocka_unit_test(product__all_events__closed_formulas_and_times_hold),
        cmocka_unit_test(markers__between_kernels__lie_where_they_were_set),
        cmocka_unit_test(fault__wild_kernel__is_an_event_with_address_and_reason),
        cmocka_unit_test(kernel__tracer_off_in_its_middle__no_event_of_its_rest),
    };

    return cmocka_run_group_tests(tests, bed_setup, bed_teardown);
}
