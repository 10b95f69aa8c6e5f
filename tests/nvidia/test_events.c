/*
 * Events through the API, of a program that computes by Level Zero, and the groups that run beside
 * each other: counters of the hardware, those of GPM, events.
 */

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <zeta/clock.h>

#include "plugins/nvidia/activity/event.h"
#include "tests/nvidia/computing.h"
#include "tests/nvidia/streaming.h"
#include "tests/support/compare.h"
#include "tests/tracer/tracing.h"

#define MS 1000000u

/* ---- tracing ------------------------------------------------------------------------------ */

static struct tracing trace(const struct computing *c)
{
    zet_metric_group_handle_t group = find_group(c->device, "Events", TRACER_BASED, NULL);

    EXPECT_OK(zetContextActivateMetricGroups(c->context, c->device, 1, &group));
    return tracing_open(c->context, c->device, 1, &group);
}

/* Disables it, and decodes all that is left to be read. */
static void finish(struct tracing *tracing)
{
    tracing_disable(tracing);
    tracing_read(tracing);
    tracing_decode(tracing);
}

/* The text of a value that is a name. */
static const char *name_of(const struct tracing *tracing, const zet_metric_entry_exp_t *entry)
{
    static char name[256];
    size_t size = 0;

    EXPECT_OK(zetaMetricTracerGetName(tracing->tracer, entry->value.ui64, &size, NULL));
    assert_cmp(size, <=, sizeof(name));
    if (size > 1) {
        size_t less = size - 1;

        EXPECT_RESULT(zetaMetricTracerGetName(tracing->tracer, entry->value.ui64, &less, name),
                      ZE_RESULT_ERROR_INVALID_SIZE);
        assert_int_equal(less, size);
    }
    EXPECT_OK(zetaMetricTracerGetName(tracing->tracer, entry->value.ui64, &size, name));
    assert_int_equal(strlen(name) + 1, size);
    return name;
}

/* How many entries of a metric whose values are names have this one. */
static uint32_t count_named(const struct tracing *tracing, const char *metric, const char *name)
{
    const uint32_t all = tracing_count(tracing, metric);
    uint32_t count = 0;

    for (uint32_t i = 0; i < all; i++)
        count += strcmp(name_of(tracing, tracing_entry(tracing, metric, i)), name) == 0;
    return count;
}

/* In order of time, which is that of the end of what happened. */
static void expect_order(const struct tracing *tracing)
{
    for (uint32_t i = 1; i < tracing->entry_count; i++)
        assert_cmp(tracing->entries[i].timeStamp, >=, tracing->entries[i - 1].timeStamp);
}

/* ---- kinds, names, sizes ------------------------------------------------------------------ */

static void check_kinds(void)
{
    enum { BYTES = 4096 };
    static uint32_t words[BYTES / sizeof(uint32_t)];
    const struct computing c = computing_open("api.ptx");
    struct tracing tracing = trace(&c);
    void *memory = computing_memory(&c, ZE_MEMORY_TYPE_DEVICE, BYTES, 0);
    void *other = computing_memory(&c, ZE_MEMORY_TYPE_DEVICE, BYTES, 0);
    void *host = computing_memory(&c, ZE_MEMORY_TYPE_HOST, BYTES, 0);
    ze_kernel_handle_t kernel = computing_kernel(&c, "ids");
    const ze_group_count_t groups = {3, 2, 1};
    const uint32_t zero = 0;
    size_t size = 0;

    EXPECT_OK(zeKernelSetGroupSize(kernel, 4, 2, 1));
    EXPECT_OK(zeKernelSetArgumentValue(kernel, 0, sizeof(memory), &memory));
    computing_launch(&c, "store", 1, memory, 1); /* before it is on: no event */
    tracing_enable(&tracing);
    EXPECT_OK(zeCommandListAppendLaunchKernel(c.list, kernel, &groups, NULL, 0, NULL));
    computing_launch(&c, "add", 5, memory, 7);
    EXPECT_OK(zeCommandListAppendMemoryFill(c.list, memory, &zero, sizeof(zero), BYTES / 2, NULL, 0,
                                            NULL));
    EXPECT_OK(zeCommandListAppendMemoryCopy(c.list, memory, host, BYTES, NULL, 0, NULL));
    EXPECT_OK(zeCommandListAppendMemoryCopy(c.list, other, memory, BYTES / 4, NULL, 0, NULL));
    EXPECT_OK(zeCommandListAppendMemoryCopy(c.list, host, memory, BYTES / 8, NULL, 0, NULL));
    EXPECT_OK(zeCommandListAppendMemoryCopy(c.list, memory, words, BYTES / 16, NULL, 0, NULL));
    finish(&tracing);
    computing_launch(&c, "store", 1, memory, 1); /* nor when it is off */

    assert_false(tracing.dropped);
    assert_int_equal(tracing.sets, 1);
    expect_order(&tracing);
    assert_int_equal(tracing_count(&tracing, "Kernel"), 2);
    assert_string_equal(name_of(&tracing, tracing_entry(&tracing, "Kernel", 0)), "ids");
    assert_string_equal(name_of(&tracing, tracing_entry(&tracing, "Kernel", 1)), "add");
    assert_int_equal(tracing_entry(&tracing, "KernelGridX", 0)->value.ui32, 3);
    assert_int_equal(tracing_entry(&tracing, "KernelGridY", 0)->value.ui32, 2);
    assert_int_equal(tracing_entry(&tracing, "KernelGridZ", 0)->value.ui32, 1);
    assert_int_equal(tracing_entry(&tracing, "KernelBlockX", 0)->value.ui32, 4);
    assert_int_equal(tracing_entry(&tracing, "KernelBlockY", 0)->value.ui32, 2);
    assert_int_equal(tracing_entry(&tracing, "KernelBlockZ", 0)->value.ui32, 1);
    assert_int_equal(tracing_sum(&tracing, "KernelGridX"), 3 + 5);
    assert_int_not_equal(tracing_entry(&tracing, "KernelCorrelation", 0)->value.ui32, 0);
    assert_int_not_equal(tracing_entry(&tracing, "KernelCorrelation", 0)->value.ui32,
                         tracing_entry(&tracing, "KernelCorrelation", 1)->value.ui32);
    assert_int_equal(count_named(&tracing, "Fill", "fill"), 1);
    assert_int_equal(tracing_sum(&tracing, "FillBytes"), BYTES / 2);
    assert_int_equal(count_named(&tracing, "Copy", "copy device to device"), 1);
    assert_int_equal(count_named(&tracing, "Copy", "copy device to host"), 1);
    assert_cmp(count_named(&tracing, "Copy", "copy host to device"), >=, 2);
    assert_int_equal(tracing_sum(&tracing, "CopyBytes"),
                     BYTES + BYTES / 4 + BYTES / 8 + BYTES / 16);
    assert_cmp(tracing_count(&tracing, "Synchronize"), >, 0);
    EXPECT_RESULT(zetaMetricTracerGetName(tracing.tracer, 0, &size, NULL),
                  ZE_RESULT_ERROR_NOT_AVAILABLE);
    EXPECT_RESULT(zetaMetricTracerGetName(tracing.tracer, UINT64_MAX, &size, NULL),
                  ZE_RESULT_ERROR_NOT_AVAILABLE);
    tracing_end(&tracing);
    EXPECT_OK(zeKernelDestroy(kernel));
    computing_close(&c);
}

static void events__of_each_kind__names_and_sizes(void **state)
{
    (void)state;
    bed_run("gh100", check_kinds);
}

/* ---- times -------------------------------------------------------------------------------- */

/* How long after a moment a timestamp was, which has 34 bits. */
static uint64_t behind(uint64_t timestamp, uint64_t moment_ns)
{
    return (timestamp - moment_ns) & ((UINT64_C(1) << 34) - 1);
}

/*
 * The host waits for each launch. So whatever says when a kernel ran, it says a time between two
 * moments of the host.
 */
static void check_times(void)
{
    enum { LAUNCHES = 20 };
    const struct computing c = computing_open("api.ptx");
    struct tracing tracing = trace(&c);
    ze_kernel_handle_t kernel = computing_kernel(&c, "ids");
    void *memory = computing_memory(&c, ZE_MEMORY_TYPE_DEVICE, 4096, 0);
    const ze_group_count_t one = {1, 1, 1};
    const ze_event_pool_desc_t pool_desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC,
                                            .flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE |
                                                     ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP,
                                            .count = LAUNCHES};
    ze_kernel_timestamp_result_t times[LAUNCHES];
    ze_event_pool_handle_t pool = NULL;
    ze_event_handle_t event = NULL;
    uint64_t before_ns[LAUNCHES], after_ns[LAUNCHES];

    EXPECT_OK(zeEventPoolCreate(c.context, &pool_desc, 0, NULL, &pool));
    EXPECT_OK(zeKernelSetArgumentValue(kernel, 0, sizeof(memory), &memory));
    tracing_enable(&tracing);
    for (uint32_t i = 0; i < LAUNCHES; i++) {
        const ze_event_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_DESC, .index = i};

        EXPECT_OK(zeEventCreate(pool, &desc, &event));
        before_ns[i] = zeta_clock_raw_ns();
        EXPECT_OK(zeCommandListAppendLaunchKernel(c.list, kernel, &one, event, 0, NULL));
        after_ns[i] = zeta_clock_raw_ns();
        EXPECT_OK(zeEventQueryKernelTimestamp(event, &times[i]));
        EXPECT_OK(zeEventDestroy(event));
    }
    finish(&tracing);
    assert_false(tracing.dropped);
    expect_order(&tracing);
    assert_int_equal(tracing_count(&tracing, "Kernel"), LAUNCHES);
    for (uint32_t i = 0; i < LAUNCHES; i++) {
        const uint64_t end_ns = tracing_entry(&tracing, "KernelTime", i)->timeStamp;
        const uint64_t start_ns = end_ns - tracing_entry(&tracing, "KernelTime", i)->value.ui64;

        assert_cmp(start_ns, >=, before_ns[i]);
        assert_cmp(end_ns, >=, start_ns);
        assert_cmp(end_ns, <=, after_ns[i]);
        assert_cmp(behind(times[i].global.kernelStart, before_ns[i]), <=,
                   behind(times[i].global.kernelEnd, before_ns[i]));
        assert_cmp(behind(times[i].global.kernelEnd, before_ns[i]), <=, after_ns[i] - before_ns[i]);
    }
    tracing_end(&tracing);
    EXPECT_OK(zeEventPoolDestroy(pool));
    EXPECT_OK(zeKernelDestroy(kernel));
    computing_close(&c);
}

static void times__of_events_and_timestamps__are_of_one_clock(void **state)
{
    (void)state;
    bed_run("gh100", check_times);
}

/* ---- losses ------------------------------------------------------------------------------- */

/* More than the ring has room for, and nobody reads. What is lost and what is read are all. */
static void check_losses(void)
{
    enum { RING = (32 << 20) / NVIDIA_EVENT_BYTES, LAUNCHES = RING + 4000 };
    const struct computing c = computing_open("api.ptx");
    zet_metric_group_handle_t groups[2] = {find_group(c.device, "Events", TRACER_BASED, NULL),
                                           find_group(c.device, "EventTracer", TIME_BASED, NULL)};
    struct stream status = stream_beside(c.context, c.device, "EventTracer", 1000 * MS);
    ze_command_list_handle_t list = computing_list(&c, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
    ze_kernel_handle_t kernel = computing_kernel(&c, "ids");
    void *memory = computing_memory(&c, ZE_MEMORY_TYPE_DEVICE, 4096, 0);
    const ze_group_count_t one = {1, 1, 1};
    struct tracing tracing;
    uint32_t found;
    double lost;

    EXPECT_OK(zetContextActivateMetricGroups(c.context, c.device, 2, groups));
    EXPECT_OK(stream_open(&status, NULL));
    tracing = tracing_open(c.context, c.device, 1, groups);
    EXPECT_OK(zeKernelSetArgumentValue(kernel, 0, sizeof(memory), &memory));
    tracing_enable(&tracing);
    for (uint32_t i = 0; i < LAUNCHES; i++)
        EXPECT_OK(zeCommandListAppendLaunchKernel(list, kernel, &one, NULL, 0, NULL));
    EXPECT_OK(zeCommandListHostSynchronize(list, UINT64_MAX));
    tracing_disable(&tracing);
    stream_wait_now(&status);
    tracing_read(&tracing);
    tracing_decode(&tracing);
    assert_true(tracing.dropped);
    expect_order(&tracing);
    /* The newest are there, and the record that it was turned off, which is no entry. */
    found = tracing_count(&tracing, "Kernel") + tracing_count(&tracing, "Synchronize");
    assert_int_equal(found, RING - 1);
    lost = stream_sum(&status, "EventsLost");
    assert_true(lost >= 4000 + 1);
    assert_true(stream_sum(&status, "EventsWritten") == lost + RING);
    assert_int_equal(tracing_sum(&tracing, "CopyBytes"), 0);

    /* A reader that comes by loses nothing. */
    tracing.raw_bytes = 0;
    tracing.dropped = false;
    tracing_enable(&tracing);
    for (uint32_t i = 0; i < 100; i++) {
        EXPECT_OK(zeCommandListAppendLaunchKernel(list, kernel, &one, NULL, 0, NULL));
        tracing_read(&tracing);
    }
    EXPECT_OK(zeCommandListHostSynchronize(list, UINT64_MAX));
    finish(&tracing);
    assert_false(tracing.dropped);
    assert_int_equal(tracing_count(&tracing, "Kernel"), 100);
    tracing_close(&tracing);
    stream_close(&status);
    EXPECT_OK(zetContextActivateMetricGroups(c.context, c.device, 0, NULL));
    EXPECT_OK(zeCommandListDestroy(list));
    EXPECT_OK(zeKernelDestroy(kernel));
    computing_close(&c);
}

static void events__never_read__losses_are_counted(void **state)
{
    (void)state;
    bed_run("gh100", check_losses);
}

/* A queue that is never idle keeps its events until they are complete, and none of them is lost. */
static void check_busy_queue(void)
{
    enum { FLUSHES = 10 /* some more than the time that events are held back for */ };
    const struct computing c = computing_open("api.ptx");
    struct tracing tracing = trace(&c);
    ze_command_list_handle_t busy = computing_list(&c, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
    ze_kernel_handle_t store = computing_kernel(&c, "store"),
                       wait = computing_kernel(&c, "wait_for");
    uint64_t *numbers = computing_memory(&c, ZE_MEMORY_TYPE_SHARED, 256, 0), value = 1, calls;
    uint64_t *gate = &numbers[0], *seen = &numbers[1], *target = &numbers[2];
    const ze_group_count_t one = {1, 1, 1};

    memset(numbers, 0, 256);
    tracing_enable(&tracing);
    EXPECT_OK(zeKernelSetArgumentValue(store, 0, sizeof(target), &target));
    EXPECT_OK(zeKernelSetArgumentValue(store, 1, sizeof(value), &value));
    EXPECT_OK(zeCommandListAppendLaunchKernel(busy, store, &one, NULL, 0, NULL));
    EXPECT_OK(zeKernelSetArgumentValue(wait, 0, sizeof(gate), &gate));
    EXPECT_OK(zeKernelSetArgumentValue(wait, 1, sizeof(seen), &seen));
    EXPECT_OK(zeCommandListAppendLaunchKernel(busy, wait, &one, NULL, 0, NULL));
    while (__atomic_load_n(seen, __ATOMIC_SEQ_CST) == 0)
        (void)usleep(100);
    computing_launch(&c, "add", 1, &numbers[3], 1); /* on a queue that is idle behind it */
    calls = cuda_calls(bed_machine, "cuptiActivityFlushAll");
    while (cuda_calls(bed_machine, "cuptiActivityFlushAll") < calls + FLUSHES)
        (void)usleep(1000);
    __atomic_store_n(gate, 1, __ATOMIC_SEQ_CST);
    EXPECT_OK(zeCommandListHostSynchronize(busy, UINT64_MAX));
    finish(&tracing);
    assert_false(tracing.dropped);
    expect_order(&tracing);
    assert_int_equal(tracing_count(&tracing, "Kernel"), 3);
    tracing_end(&tracing);
    EXPECT_OK(zeKernelDestroy(store));
    EXPECT_OK(zeKernelDestroy(wait));
    EXPECT_OK(zeCommandListDestroy(busy));
    computing_close(&c);
}

static void events__of_a_busy_queue__are_not_late(void **state)
{
    (void)state;
    bed_run("gh100", check_busy_queue);
}

/* ---- side by side ------------------------------------------------------------------------- */

static void check_passes(void)
{
    static const struct {
        const char *names[4];
        uint32_t passes;
    } cases[] = {
        {{"ComputeBasic", "Gpm", "EventTracer"}, 1},
        {{"ComputeBasic", "Gpm"}, 1},
        {{"ComputeBasic", "Occupancy"}, 2},
        {{"ComputeBasic", "Gpm", "Occupancy", "EventTracer"}, 2},
    };
    const ze_device_handle_t device = bed_device();

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const ze_context_handle_t context = make_context(device);
        zet_metric_group_handle_t groups[4], wrong[2];
        uint32_t counts[4], passes = 0, count = 0, at = 0;

        for (; count < 4 && cases[i].names[count]; count++)
            groups[count] = find_group(device, cases[i].names[count], TIME_BASED, NULL);
        EXPECT_OK(zetDeviceGetConcurrentMetricGroupsExp(device, count, groups, counts, &passes));
        assert_int_equal(passes, cases[i].passes);
        for (uint32_t pass = 0; pass < passes; at += counts[pass++])
            EXPECT_OK(zetContextActivateMetricGroups(context, device, counts[pass], groups + at));
        assert_int_equal(at, count);
        EXPECT_OK(zetContextActivateMetricGroups(context, device, 0, NULL));
        wrong[0] = find_group(device, "ComputeBasic", TIME_BASED, NULL);
        wrong[1] = find_group(device, "Occupancy", TIME_BASED, NULL);
        EXPECT_RESULT(zetContextActivateMetricGroups(context, device, 2, wrong),
                      ZE_RESULT_ERROR_INVALID_ARGUMENT);
        EXPECT_OK(zeContextDestroy(context));
    }
}

static void groups__of_domains__one_pass_for_each_of_domain_0(void **state)
{
    (void)state;
    bed_run("gh100", check_passes);
}

/* Two streams and a tracer while kernels run: each has what it has alone. */
static void check_beside(void)
{
    enum { LAUNCHES = 50 };
    const struct computing c = computing_open("api.ptx");
    void *memory = computing_memory(&c, ZE_MEMORY_TYPE_DEVICE, 4096, 0);
    struct stream basic = stream_beside(c.context, c.device, "ComputeBasic", MS);
    struct stream gpm = stream_beside(c.context, c.device, "Gpm", 100 * MS);
    zet_metric_group_handle_t groups[3] = {find_group(c.device, "Events", TRACER_BASED, NULL),
                                           basic.group, gpm.group};
    struct tracing tracing;

    EXPECT_OK(zetContextActivateMetricGroups(c.context, c.device, 3, groups));
    EXPECT_OK(stream_open(&gpm, NULL));
    assert_int_equal(gpm.period_ns, 100 * MS);
    tracing = tracing_open(c.context, c.device, 1, groups);
    tracing_enable(&tracing); /* before the stream of counters, and again behind it */
    computing_launch(&c, "add", 1, memory, 1);
    tracing_disable(&tracing);
    EXPECT_OK(stream_open(&basic, NULL));
    stream_wait(&basic, 2);
    tracing_enable(&tracing);
    for (uint32_t i = 0; i < LAUNCHES; i++)
        computing_launch(&c, "add", 2, memory, 1);
    stream_wait(&gpm, 3);
    stream_wait(&basic, 100);
    finish(&tracing);
    assert_false(tracing.dropped);
    assert_int_equal(tracing_count(&tracing, "Kernel"), 1 + LAUNCHES);
    if (!basic.is_broken) /* else this machine was too busy for it, and it says so */
        assert_true(stream_sum(&basic, "GroupsLaunched") == 2.0 * LAUNCHES);
    assert_false(gpm.is_broken);
    assert_true(stream_sum(&gpm, "GpuTime") > 0);
    tracing_close(&tracing);
    stream_close(&basic);
    stream_close(&gpm);
    EXPECT_OK(zetContextActivateMetricGroups(c.context, c.device, 0, NULL));
    computing_close(&c);
}

static void streams__of_each_domain_and_a_tracer__side_by_side(void **state)
{
    (void)state;
    bed_run("gh100", check_beside);
}

SUITE(events)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events__of_each_kind__names_and_sizes),
        cmocka_unit_test(times__of_events_and_timestamps__are_of_one_clock),
        cmocka_unit_test(events__never_read__losses_are_counted),
        cmocka_unit_test(events__of_a_busy_queue__are_not_late),
        cmocka_unit_test(groups__of_domains__one_pass_for_each_of_domain_0),
        cmocka_unit_test(streams__of_each_domain_and_a_tracer__side_by_side),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
