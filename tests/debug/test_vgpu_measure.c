/* Measuring on the virtual GPU while a debugger holds what runs there. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "debuggee.h"
#include "tests/support/compare.h"
#include "tests/support/suite.h"

#define TRACER_BASED ZET_METRIC_GROUP_SAMPLING_TYPE_FLAG_EXP_TRACER_BASED

enum { ITEMS = 8 };

/* Whole-device sampling in this process, which is the debugger. */
struct sampling {
    ze_context_handle_t context;
    ze_device_handle_t device;
    zet_metric_group_handle_t group;
    zet_metric_streamer_handle_t streamer;
    uint32_t metrics, time, clocks, halted;
};

static struct sampling sampling_start(void)
{
    zet_metric_streamer_desc_t desc = {.stype = ZET_STRUCTURE_TYPE_METRIC_STREAMER_DESC,
                                       .notifyEveryNReports = 1000,
                                       .samplingPeriod = 500000};
    zet_metric_group_properties_t properties = {.stype =
                                                    ZET_STRUCTURE_TYPE_METRIC_GROUP_PROPERTIES};
    struct sampling s = {.device = debugger_device()};

    s.context = make_context(s.device);
    s.group = find_group(s.device, "ThreadDispatch", TIME_BASED, &properties);
    s.metrics = properties.metricCount;
    s.time = metric_index(s.group, "GpuTime");
    s.clocks = metric_index(s.group, "GpuCoreClocks");
    s.halted = metric_index(s.group, "DebugHaltCycles");
    EXPECT_OK(zetContextActivateMetricGroups(s.context, s.device, 1, &s.group));
    EXPECT_OK(zetMetricStreamerOpen(s.context, s.device, s.group, &desc, NULL, &s.streamer));
    return s;
}

static void sampling_end(struct sampling *s)
{
    EXPECT_OK(zetMetricStreamerClose(s->streamer));
    EXPECT_OK(zetContextActivateMetricGroups(s->context, s->device, 0, NULL));
    EXPECT_OK(zeContextDestroy(s->context));
}

/* Reads rows until so many in succession are like the wanted one. */
static void await_rows(const struct sampling *s, unsigned wanted,
                       bool (*fits)(uint64_t clocks, uint64_t halted))
{
    static uint8_t raw[1 << 20];
    unsigned found = 0;

    while (found < wanted) {
        zet_typed_value_t *values;
        size_t size = sizeof(raw);
        uint32_t count = 0;

        EXPECT_OK(zetMetricStreamerReadData(s->streamer, UINT32_MAX, &size, raw));
        if (size == 0)
            continue;
        EXPECT_OK(zetMetricGroupCalculateMetricValues(
            s->group, ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES, size, raw, &count, NULL));
        values = calloc(count + 1, sizeof(*values));
        EXPECT_OK(zetMetricGroupCalculateMetricValues(
            s->group, ZET_METRIC_GROUP_CALCULATION_TYPE_METRIC_VALUES, size, raw, &count, values));
        for (uint32_t i = 0; found < wanted && i + s->metrics <= count; i += s->metrics) {
            const uint64_t clocks = values[i + s->clocks].value.ui64;
            const uint64_t halted = values[i + s->halted].value.ui64;

            /* No thread is stopped for longer than the clock runs. */
            assert_cmp(halted, <=, clocks * ITEMS);
            assert_cmp(values[i + s->time].value.ui64, >, 0);
            found = fits(clocks, halted) ? found + 1 : 0;
        }
        free(values);
    }
}

static bool runs_freely(uint64_t clocks, uint64_t halted)
{
    return clocks > 0 && halted == 0;
}

static bool runs_beside_a_stopped_thread(uint64_t clocks, uint64_t halted)
{
    return clocks > 0 && halted > 0;
}

static bool stands_still(uint64_t clocks, uint64_t halted)
{
    return clocks == 0 && halted == 0;
}

/* Rule 27.24. */
static void stream__threads_held__clock_is_that_of_the_others(void **state)
{
    struct bench b = bench_start(0);
    struct sampling s = sampling_start();
    zet_debug_event_t event;
    ze_device_thread_t thread;

    (void)state;
    (void)debuggee_do(&b.debuggee, DEBUGGEE_LAUNCH, DEBUGGEE_SPIN | (uint64_t)ITEMS << 32);
    await_rows(&s, 3, runs_freely);
    interrupt(&b);
    await_rows(&s, 10, stands_still);
    thread = find_stopped(&b);
    EXPECT_OK(zetDebugResume(b.session, everything));
    await_rows(&s, 3, runs_freely);
    EXPECT_OK(zetDebugInterrupt(b.session, thread));
    event = debugger_expect(b.session, ZET_DEBUG_EVENT_TYPE_THREAD_STOPPED);
    assert_memory_equal(&event.info.thread.thread, &thread, sizeof(thread));
    await_rows(&s, 3, runs_beside_a_stopped_thread);
    EXPECT_OK(zetDebugResume(b.session, thread));
    await_rows(&s, 3, runs_freely);
    end_spin(&b);
    bench_end(&b);
    sampling_end(&s);
}

/* ---- in the process whose threads are held -------------------------------------------------- */

static void expect_query(ze_context_handle_t context, ze_device_handle_t device,
                         zet_metric_group_handle_t group, void *memory)
{
    const ze_command_queue_desc_t queue = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                           .mode = ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS};
    const zet_metric_query_pool_desc_t desc = {.stype = ZET_STRUCTURE_TYPE_METRIC_QUERY_POOL_DESC,
                                               .type = ZET_METRIC_QUERY_POOL_TYPE_PERFORMANCE,
                                               .count = 1};
    zet_metric_query_pool_handle_t pool;
    zet_metric_query_handle_t query;
    ze_command_list_handle_t list;
    ze_event_handle_t none = NULL; /* an older validation layer wants an array also for no events */
    size_t size = 0;

    EXPECT_OK(zetMetricQueryPoolCreate(context, device, group, &desc, &pool));
    EXPECT_OK(zetMetricQueryCreate(pool, 0, &query));
    EXPECT_OK(zeCommandListCreateImmediate(context, device, &queue, &list));
    EXPECT_OK(zetCommandListAppendMetricQueryBegin(list, query));
    EXPECT_OK(
        zeCommandListAppendMemoryCopy(list, memory, (char *)memory + 2048, 2048, NULL, 0, NULL));
    EXPECT_OK(zetCommandListAppendMetricQueryEnd(list, query, NULL, 0, &none));
    EXPECT_OK(zetMetricQueryGetData(query, &size, NULL));
    assert_cmp(size, >, 0);
    EXPECT_OK(zeCommandListDestroy(list));
    EXPECT_OK(zetMetricQueryDestroy(query));
    EXPECT_OK(zetMetricQueryPoolDestroy(pool));
}

/* The copy of a query is an event of the tracer. */
static void expect_events(zet_metric_tracer_exp_handle_t tracer)
{
    static uint8_t raw[65536];
    size_t size = 0;

    while (size == 0) {
        ze_result_t result;

        size = sizeof(raw);
        result = zetMetricTracerReadDataExp(tracer, &size, raw);
        if (result != ZE_RESULT_NOT_READY)
            EXPECT_RESULT(result, ZE_RESULT_SUCCESS);
        else
            size = 0;
    }
}

static void count_call(ze_mem_alloc_host_params_t *params, ze_result_t result, void *user,
                       void **instance)
{
    (void)params;
    (void)result;
    (void)instance;
    atomic_fetch_add((atomic_uint *)user, 1);
}

static void expect_traced_calls(ze_context_handle_t context)
{
    const ze_host_mem_alloc_desc_t host = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
    atomic_uint calls = 0;
    const zet_tracer_exp_desc_t desc = {.stype = ZET_STRUCTURE_TYPE_TRACER_EXP_DESC,
                                        .pUserData = &calls};
    zet_core_callbacks_t callbacks;
    zet_tracer_exp_handle_t tracer;
    void *memory;

    memset(&callbacks, 0, sizeof(callbacks));
    callbacks.Mem.pfnAllocHostCb = count_call;
    EXPECT_OK(zetTracerExpCreate(context, &desc, &tracer));
    EXPECT_OK(zetTracerExpSetPrologues(tracer, &callbacks));
    EXPECT_OK(zetTracerExpSetEpilogues(tracer, &callbacks));
    EXPECT_OK(zetTracerExpSetEnabled(tracer, 1));
    EXPECT_OK(zeMemAllocHost(context, &host, 64, 64, &memory));
    EXPECT_OK(zetTracerExpSetEnabled(tracer, 0));
    EXPECT_OK(zetTracerExpDestroy(tracer));
    EXPECT_OK(zeMemFree(context, memory));
    assert_int_equal(atomic_load(&calls), 2);
}

static uint64_t measure(ze_context_handle_t context, ze_device_handle_t device)
{
    const ze_device_mem_alloc_desc_t memory_desc = {.stype =
                                                        ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
    zet_metric_tracer_exp_desc_t desc = {.stype = ZET_STRUCTURE_TYPE_METRIC_TRACER_EXP_DESC};
    zet_metric_group_handle_t groups[2] = {find_group(device, "ThreadDispatch", EVENT_BASED, NULL),
                                           find_group(device, "DeviceEvents", TRACER_BASED, NULL)};
    zet_metric_tracer_exp_handle_t tracer;
    void *memory;

    EXPECT_OK(zeMemAllocDevice(context, &memory_desc, 4096, 64, device, &memory));
    EXPECT_OK(zetContextActivateMetricGroups(context, device, 2, groups));
    EXPECT_OK(zetMetricTracerCreateExp(context, device, 1, &groups[1], &desc, NULL, &tracer));
    EXPECT_OK(zetMetricTracerEnableExp(tracer, 1));
    expect_query(context, device, groups[0], memory);
    expect_events(tracer);
    expect_traced_calls(context);
    EXPECT_OK(zetMetricTracerDisableExp(tracer, 1));
    EXPECT_OK(zetMetricTracerDestroyExp(tracer));
    EXPECT_OK(zetContextActivateMetricGroups(context, device, 0, NULL));
    EXPECT_OK(zeMemFree(context, memory));
    return 1;
}

/* Rule 27.24. Queries, tracers and API tracing of a process do not wait for its threads that are
 * held. */
static void process__threads_held__measures_on(void **state)
{
    struct bench b = bench_start(0);

    (void)state;
    spin(&b);
    interrupt(&b);
    assert_int_equal(debuggee_do(&b.debuggee, DEBUGGEE_CALL, (uintptr_t)measure), 1);
    EXPECT_OK(zetDebugResume(b.session, everything));
    end_spin(&b);
    bench_end(&b);
}

SUITE(vgpu_measure)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(process__threads_held__measures_on),
        /* Has threads, which the thread sanitizer wants no child of. */
        cmocka_unit_test(stream__threads_held__clock_is_that_of_the_others),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
